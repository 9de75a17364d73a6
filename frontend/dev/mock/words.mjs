// /summary and /conditions of the development page.
import { mean, quantile } from "./binning.mjs";
import { FLAGS } from "./rows.mjs";
import { Backend } from "./routes.mjs";

const sum = (values) => values.reduce((a, b) => a + b, 0);

function stats(values, steps) {
  const sorted = [...values].sort((a, b) => a - b);
  const top = values.indexOf(sorted.at(-1));
  return {
    p5: quantile(sorted, 5),
    p25: quantile(sorted, 25),
    p50: quantile(sorted, 50),
    p75: quantile(sorted, 75),
    p95: quantile(sorted, 95),
    p99: quantile(sorted, 99),
    mean: mean(values),
    min: sorted[0] ?? null,
    max: sorted.at(-1) ?? null,
    max_step: top < 0 ? null : String(steps[top]),
    total_ms: sum(values),
  };
}

Backend.prototype.summary = function summary(query) {
  const { run, member, view, binned: b } = this.find(query);
  const used = b.used.map((i) => b.rows[i]);
  const all = b.keep.map((i) => b.rows[i]);
  const steps = used.map((row) => row.step);
  const total = sum(used.map((row) => row.stepMs));
  const labelled = sum(used.flatMap((row) => Object.values(row.stages)));
  const warm = all.filter((row) => row.flags & FLAGS.warmup);
  const excluded = all.filter((row) => row.excludedMs > 0);
  const names = Object.keys(b.rows[0].stages);
  const device = b.rows[0].deviceMs !== null;
  return {
    run,
    member,
    clock: "host",
    range: { axis: query.axis, start: String(b.start), end: String(b.end) },
    step_time_ms: stats(
      used.map((row) => row.stepMs),
      steps,
    ),
    device_step_time_ms: device
      ? stats(
          used.map((row) => row.deviceMs),
          steps,
        )
      : null,
    stages: names
      .map((stage) => {
        const ms = sum(used.map((row) => row.stages[stage]));
        const n = used.length || 1;
        return {
          stage,
          total_ms: ms,
          mean_ms: used.length ? ms / n : null,
          share: labelled ? ms / labelled : null,
          of_step: total ? ms / total : null,
          device_mean_ms: device ? (ms / n) * 0.97 : null,
        };
      })
      .sort((x, y) => y.total_ms - x.total_ms),
    unlabelled: {
      total_ms: total - labelled,
      mean_ms: used.length ? (total - labelled) / used.length : null,
      of_step: total ? (total - labelled) / total : null,
    },
    coverage: total ? labelled / total : null,
    throughput: {
      samples_per_s: total ? (sum(used.map((row) => row.numSamples)) / total) * 1000 : null,
      tokens_per_s: used[0]?.numTokens ? (sum(used.map((row) => row.numTokens)) / total) * 1000 : null,
      definition: "sum of num_samples / sum of step time over the used steps that carry num_samples",
    },
    peaks: Object.keys(b.rows[0].memory).map((column) => {
      const measured = all.filter((row) => row.memory[column] !== null);
      const top = measured.reduce(
        (best, row) => (!best || row.memory[column] > best.memory[column] ? row : best),
        null,
      );
      return {
        column,
        value: top ? Math.round(top.memory[column]) : null,
        step: top ? String(top.step) : null,
        num_measured: measured.length,
        meaning: "peak memory",
      };
    }),
    warmup: { num_steps: warm.length, total_ms: sum(warm.map((row) => row.stepMs)) },
    excluded: { num_steps: excluded.length, total_ms: sum(excluded.map((row) => row.excludedMs)) },
    gc: { num_steps: Math.floor(all.length / 300), total_ms: all.length / 100 },
    num_micro_steps: { min: 1, max: 1, total: all.length },
    counters: view.counters ?? {},
    sample: b.sample,
  };
};

Backend.prototype.conditions = function conditions(query) {
  const { run, member, view } = this.find({ axis: "step", bins: 1, include: [], ...query });
  const { rows, options } = view.data;
  const attempts = Array.from({ length: options.attempts.length + 1 }, (_, n) => {
    const mine = rows.filter((row) => row.attempt === n);
    return {
      attempt: `0${Math.round(mine[0].wall)}-0123abc${n}`,
      started_s: mine[0].wall / 1000,
      first_step: String(mine[0].step),
      last_step: String(mine.at(-1).step),
      num_rows: mine.length,
      num_superseded: n === 0 ? view.superseded : 0,
      end: n === options.attempts.length ? view.end : "exception",
      counters: {},
      environment: {
        tb_stepperf: "0.1.0",
        python: "3.11.2",
        os: "Linux 6.1",
        torch: "2.13.0+cpu",
        device: "cpu",
        device_name: n === 2 ? "AMD EPYC 7B13" : "AMD EPYC 7B12",
        num_devices: 0,
        world_size: 1,
        rank: view.rank,
        num_threads: n === 1 ? 4 : 8,
        deterministic: false,
        autocast: null,
        compile: null,
        batch: ["[32, 3, 224, 224] float32", "[32] int64"],
        clock: "host",
        peak_memory: "sampled",
        peak_memory_note: "read every 5th step: steps are shorter than 5 ms",
        warmup_steps: options.warmup,
        hostname_hash: "9f2c41d0",
        user: { note: "baseline" },
      },
      changes: n === 0 ? [{ step: "400", fields: { batch: ["[16, 3, 224, 224] float32", "[16] int64"] } }] : [],
    };
  });
  return {
    run,
    member,
    attempts,
    definitions: [
      {
        term: "step time",
        text: "host time between two successive step boundaries on a monotonic clock, without the time inside exclude(...)",
      },
      {
        term: "stage",
        text: "exclusive host time: a stage opened inside another pauses the outer one, so stages never overlap",
      },
      { term: "share", text: "stage ÷ sum of the labelled stages" },
      { term: "coverage", text: "sum of the labelled stages ÷ step time" },
      { term: "quantile", text: "nearest rank (inverted_cdf): each is the time of a step that happened" },
    ],
    not_covered: [
      "Device time: this run has host times only. An asynchronous device may still be working when a stage ends.",
      "Time before the first step of an attempt (imports, building the model).",
    ],
  };
};
