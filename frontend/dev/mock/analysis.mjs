// /markers and /comparison of the development page: what was planted in the rows, in the shapes of http_api.md.
import { mean, positions, quantile } from "./binning.mjs";
import { FLAGS } from "./rows.mjs";
import { Backend, RouteError } from "./routes.mjs";

const LEFT_OUT = FLAGS.warmup | FLAGS.profiled | FLAGS.restart;
const sorted = (values) => [...values].sort((a, b) => a - b);
const text = (value, digits = 1) => `${value < 0 ? "−" : ""}${Math.abs(value * 100).toFixed(digits)}`;
const plus = (value) => (value > 0 ? "+" : "") + text(value);
const steps = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ",");

/** Mean of each stage, of the rest, and of the step. */
function parts(rows) {
  const names = Object.keys(rows[0]?.stages ?? {});
  const labelled = (row) => Object.values(row.stages).reduce((a, b) => a + b, 0);
  return new Map([
    ...names.map((name) => [name, mean(rows.map((row) => row.stages[name]))]),
    [null, mean(rows.map((row) => row.stepMs - labelled(row)))],
  ]);
}

function attribution(before, after, planted = {}) {
  const [a, b] = [parts(before), parts(after)];
  const total = { before_ms: mean(before.map((r) => r.stepMs)), after_ms: mean(after.map((r) => r.stepMs)) };
  const spread = (value) => Math.abs(value) * 0.03 + total.before_ms * 0.0015;
  const change = total.after_ms - total.before_ms;
  const all = [...a.keys()].map((stage) => {
    const moved = b.get(stage) - a.get(stage);
    const half = spread(moved);
    const share = moved / change;
    return {
      stage,
      before_ms: a.get(stage),
      after_ms: b.get(stage),
      change_ms: moved,
      low_ms: moved - half,
      high_ms: moved + half,
      share,
      share_low: share - half / Math.abs(change),
      share_high: share + half / Math.abs(change),
      clear: Math.abs(moved) > 1.5 * half,
    };
  });
  const blamed = all.filter((part) => part.clear && part.share > 0.2 && part.stage !== null).map(({ stage }) => stage);
  const uniform = planted.stage === "*";
  const where = uniform
    ? "all stages alike"
    : blamed.length
      ? `in ${blamed.join(" and ")}`
      : "not clear in which stage";
  return {
    blamed: uniform ? [] : blamed,
    found: {
      outcome: uniform ? "uniform" : blamed.length ? "blamed" : "unclear",
      sentence: `Steps are ${Math.abs(change).toFixed(2)} ms ${change > 0 ? "slower" : "faster"} (${plus(change / total.before_ms)} %), ${where}.`,
      clock: "host",
      total: {
        ...total,
        change_ms: change,
        low_ms: change - spread(change),
        high_ms: change + spread(change),
        clear: true,
      },
      parts: all,
      vanishes_per: planted.vanishes ?? null,
      per_amount: planted.vanishes ? -0.002 : null,
      coincidences: planted.coincidences ?? [],
      num_before: Math.min(8192, before.length),
      num_after: Math.min(8192, after.length),
    },
    where,
  };
}

const NAMES = {
  regression: "Slower since",
  improvement: "Faster since",
  transient: "Slower from",
  ramp: "Gradually slower from",
};

/** A planted change as a marker. `place` gives the axis position of a row. */
function marker(effect, all, rows, place) {
  const { from, to = null, kind, planned = null, provisional = false } = effect;
  const edges = [0, ...all.flatMap((e) => [e.from, e.to ?? []].flat()), rows.length].sort((a, b) => a - b);
  const start = effect.start ?? edges.filter((edge) => edge < from).at(-1) ?? 0;
  const settled = kind === "ramp" ? to : from;
  const end = kind === "transient" ? to : edges.find((edge) => edge > settled);
  const used = (a, b) => rows.slice(a, b).filter((row) => !(row.flags & LEFT_OUT));
  const [before, after] = [used(start, from), used(settled, end)];
  const of = (list) => quantile(sorted(list.map((row) => row.stepMs)), kind === "tail" ? 95 : 50);
  const change = of(after) / of(before) - 1;
  const half = 0.004 + Math.abs(change) * 0.05;
  const { found, blamed, where } = attribution(before, after, effect);
  const step = rows[from].step;
  const ends = to === null ? "" : ` to ${steps(rows[to].step)}`;
  const title =
    kind === "tail"
      ? `Slow steps got slower or more frequent at step ${steps(step)}, p95`
      : `${NAMES[kind]} step ${steps(step)}${ends}`;
  const range = (a, b) => ({
    start: String(rows[a].step),
    end: String(rows[b - 1].step + 1n),
    start_at: place(a),
    end_at: place(b - 1) + 1,
  });
  const common = {
    id: `${provisional ? "provisional" : kind}-${step}`,
    kind,
    planned,
    provisional,
    step: String(step),
    end_step: to === null ? null : String(rows[to].step),
    at: place(from),
    end_at: to === null ? null : place(to),
    change,
    measure: kind === "tail" ? "p95" : "typical",
  };
  if (provisional) {
    const unknown = ["change_low", "change_high", "p_value", "before_ms", "after_ms", "before", "after", "attribution"];
    const sentence = `Slower since step ${steps(step)}, as noticed while training: about ${plus(change)} %. The analysis of the whole run has yet to confirm it.`;
    return {
      ...common,
      ...Object.fromEntries(unknown.map((name) => [name, null])),
      num_before: 0,
      num_after: 0,
      blamed: [],
      sentence,
    };
  }
  const size = `${plus(change)} % (${text(change - half)}${change - half < 0 ? " to " : "–"}${text(change + half)})`;
  return {
    ...common,
    change_low: change - half,
    change_high: change + half,
    p_value: effect.p ?? 0,
    before_ms: of(before),
    after_ms: of(after),
    num_before: before.length,
    num_after: after.length,
    before: range(start, from),
    after: range(settled, end),
    blamed,
    sentence: `${title}: ${size}, ${of(before).toFixed(2)} → ${of(after).toFixed(2)} ms, ${where}.${planned ? ` Planned: ${planned}.` : ""}`,
    attribution: found,
  };
}

const DEFINITION =
  "A marker is a change of step time that chance does not explain under the autocorrelation of this run, and that is at least 3 % of the typical step or 5 % of p95. Sizes are relative, with 95 % intervals; p-values are corrected for the number of places searched. Host clock.";

function tails(used) {
  const times = sorted(used.map((row) => row.stepMs));
  const [p50, p99] = [quantile(times, 50), quantile(times, 99)];
  return {
    percentile: 99,
    threshold_ms: p99,
    median_ms: p50,
    num_steps: used.length,
    num_tail: Math.ceil(used.length / 100),
    num_episodes: Math.ceil(used.length / 115),
    unexplained: 0.29,
    sentence: `p99 is ${p99.toFixed(1)} ms (${(p99 / p50).toFixed(1)} × the median); 71 % of the slowest 1 % of steps have a garbage collection, 29 % coincide with nothing that was recorded.`,
    correction: "Fisher's exact test on bursts, one-sided, corrected after Holm for the causes tried.",
    causes: [
      {
        cause: "gc",
        text: "a garbage collection",
        num_tail: 85,
        share_of_tail: 0.71,
        share_of_rest: 0.02,
        enrichment: 35.5,
        p_value: 0,
        p_adjusted: 0,
        explains: true,
      },
      {
        cause: "data",
        text: "a long wait for data",
        num_tail: 6,
        share_of_tail: 0.05,
        share_of_rest: 0.04,
        enrichment: 1.25,
        p_value: 0.3,
        p_adjusted: 0.6,
        explains: false,
      },
    ],
  };
}

Backend.prototype.markers = function markers(query) {
  const { run, member, view } = this.find({ ...query, bins: 1, include: [], start: null, end: null });
  const { rows, options } = view.data;
  const at = positions(rows, query.axis);
  const place = (i) => Number(at[i] - at[0]);
  const used = rows.filter((row) => !(row.flags & LEFT_OUT));
  const few = used.length < 60;
  const seconds = (Date.now() - this.born) / 1000;
  const progress = this.scenario.slow ? Math.min(1, seconds / this.scenario.slow) : 1;
  const waiting = progress < 1;
  const effects = options.effects.filter(({ kind, from }) => kind && from < rows.length);
  const found = waiting || few ? [] : effects.map((effect) => marker(effect, effects, rows, place));
  const chosen = found.filter(({ planned, provisional }) => planned === null && !provisional).at(-1) ?? null;
  const more = found.length > 1 ? ` ${found.length - 1} more changes.` : "";
  const verdict = waiting
    ? null
    : few
      ? `Too few steps for a verdict: ${used.length} of at least 60.`
      : chosen
        ? chosen.sentence.replace(/, [\d.]+ → [\d.]+ ms/, "") + more
        : `No change found in ${steps(used.length)} steps: nothing above 3 % (5 % for slow steps).`;
  return {
    run,
    member,
    axis: query.axis,
    base: String(at[0]),
    clock: query.clock,
    min_effect: query.minEffect,
    min_tail_effect: query.minTailEffect,
    state: waiting ? "computing" : few ? "insufficient" : "done",
    progress,
    num_ahead: waiting && progress < 0.2 ? 2 : 0,
    num_steps_analysed: waiting ? 0 : used.length,
    as_of_step: waiting ? null : String(rows.at(-1).step),
    num_steps_newer: 0,
    verdict,
    verdict_marker: chosen?.id ?? null,
    markers: found,
    tails: waiting || used.length < 100 ? null : tails(used),
    definition: DEFINITION,
    sample: null,
  };
};

const VERDICTS = { regression: "Slower", improvement: "Faster", "tail regression": "Slow steps got slower" };

Backend.prototype.comparison = function comparison(query) {
  const side = (names) => {
    const runs = names.map((name) => {
      const run = this.scenario.runs.find((one) => one.run === name);
      if (!run) throw new RouteError(404, "not_found", `there is no run '${name}'; /runs lists what there is`, "run");
      const { rows } = this.data(run.members[0]);
      return { run, rows, used: rows.filter((row) => !(row.flags & LEFT_OUT)) };
    });
    const [rows, used] = [runs.flatMap((one) => one.rows), runs.flatMap((one) => one.used)];
    return { run: runs[0].run, runs, rows, used, times: sorted(used.map((row) => row.stepMs)) };
  };
  const [a, b] = [side(query.baseline), side(query.candidate)];
  const differ = (a.run.device ?? "cpu") !== (b.run.device ?? "cpu");
  const few = Math.min(a.used.length, b.used.length) < 60;
  const refused = differ && query.overrule !== "1";
  const wide = few ? 0.4 : 0.012;
  const measure = (name, unit, of, scale = 1) => {
    const [baseline, candidate] = [of(a), of(b)];
    const change = refused ? null : candidate / baseline - 1;
    const [low, high] = [change - wide * scale, few ? null : change + wide * scale];
    const known = {
      change,
      low: few && name === "p95" ? null : low,
      high,
      p_value: few ? 0.4 : Math.abs(change) > wide ? 0.0001 : 0.6,
    };
    return {
      measure: name,
      unit,
      baseline,
      candidate,
      ...(refused ? { change: null, low: null, high: null, p_value: null } : known),
      text: refused
        ? "not compared"
        : `${plus(change)} % (${few ? `above ${text(low)}` : `${text(low)} to ${text(high)}`})`,
    };
  };
  const throughput = ({ used }) =>
    (used.reduce((s, row) => s + row.numSamples, 0) / used.reduce((s, row) => s + row.stepMs, 0)) * 1000;
  const measures = [
    measure("median", "ms", ({ times }) => quantile(times, 50)),
    measure("p95", "ms", ({ times }) => quantile(times, 95), 2),
    measure("mean", "ms", ({ used }) => mean(used.map((row) => row.stepMs))),
    measure("throughput", "samples/s", throughput),
  ];
  const [median] = measures;
  const verdict = refused
    ? "not comparable"
    : few
      ? "insufficient data"
      : median.change > query.minEffect
        ? "regression"
        : median.change < -query.minEffect
          ? "improvement"
          : measures[1].change > query.minTailEffect
            ? "tail regression"
            : "same";
  const word = VERDICTS[verdict];
  const sentence = refused
    ? "Not comparable: the device differs (cpu, cuda)."
    : few
      ? `Not enough data for a verdict: median step time ${median.text}.`
      : word
        ? `${word}: median step time ${median.text}, ${median.baseline.toFixed(2)} ms → ${median.candidate.toFixed(2)} ms.`
        : `The same: median step time ${median.text} lies within ±3 %.`;
  const field = (name, x, y) => ({
    field: name,
    baseline: x === null ? [] : [x],
    candidate: y === null ? [] : [y],
    status: x === null || y === null ? "unknown" : x === y ? "same" : refused ? "different" : "overruled",
  });
  const percentiles = Array.from({ length: 99 }, (_, i) => i + 1);
  const difference = (p) => quantile(b.times, p) / quantile(a.times, p) - 1;
  const room = (p) => 0.008 + 0.03 * (Math.abs(p - 50) / 50) ** 4;
  const sample = (one) => ({
    runs: one.runs.map(({ run, used }) => ({
      run: run.run,
      member: "0",
      label: "rank 0",
      num_members: run.members.length,
      num_used: used.length,
      sample: null,
    })),
    num_runs: one.runs.length,
    num_given: one.rows.length,
    num_used: one.used.length,
    num_warmup: one.rows.length - one.used.length,
    num_unusable: 0,
    num_outside: 0,
  });
  const spreadKnown = Math.min(a.runs.length, b.runs.length) > 1;
  return {
    clock: "host",
    min_effect: query.minEffect,
    min_tail_effect: query.minTailEffect,
    verdict,
    sentence,
    decided_by: "median",
    measures,
    conditions: [
      field("device", a.run.device ?? "cpu", b.run.device ?? "cpu"),
      field("world size", "1", "1"),
      field("batch shape", "[32, 3, 224, 224]", "[32, 3, 224, 224]"),
      field("dtype", "float32", "float32"),
      field("model size", null, null),
      field("clock", "host", "host"),
    ],
    overruled: differ && !refused ? ["device"] : [],
    spread_known: spreadKnown,
    between_run_sd: spreadKnown ? 0.004 : null,
    spread_note: spreadKnown
      ? null
      : "The intervals hold for these runs only: run-to-run spread is unknown without several runs a side.",
    needed: few ? { num_steps: 400, num_runs: null, text: "About 400 steps on the shorter side would decide." } : null,
    level_basis: null,
    levels: [],
    quantiles:
      refused || few
        ? null
        : {
            percentiles,
            change: percentiles.map(difference),
            low: percentiles.map((p) => (p < 3 ? null : difference(p) - room(p))),
            high: percentiles.map((p) => (p > 97 ? null : difference(p) + room(p))),
            baseline_ms: percentiles.map((p) => quantile(a.times, p)),
            candidate_ms: percentiles.map((p) => quantile(b.times, p)),
          },
    attribution: refused || few ? null : attribution(a.used, b.used).found,
    baseline: sample(a),
    candidate: sample(b),
    notes: [],
    definition:
      "Steps without warm-up of whole runs; intervals hold under the autocorrelation of each run. Same means: surely within ±3 %.",
  };
};
