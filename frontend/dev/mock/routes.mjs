// The routes of http_api.md over invented rows.
import { bin, mean, quantile, scaled, SCALE } from "./binning.mjs";
import { FLAGS } from "./rows.mjs";

const meaning = {
  peak_resident_bytes:
    "peak resident memory of the process; not every step is read, a value covers the steps since the last",
  peak_allocated_bytes: "peak of the device memory held by tensors, per step",
  peak_reserved_bytes: "peak of the device memory held by the caching allocator, per step",
};

export class RouteError extends Error {
  constructor(status, code, message, parameter = null) {
    super(message);
    Object.assign(this, { status, code, parameter });
  }
}

export class Backend {
  constructor(scenario) {
    this.scenario = scenario;
    this.born = Date.now();
    for (const run of scenario.runs) {
      run.members.forEach((member, i) => {
        member.member = String(i);
        member.label =
          run.members.length > 1 && run.members.every((m) => m.rank === 0)
            ? `writer ${member.writer + 1}`
            : `rank ${member.rank}`;
        Object.defineProperty(member, "data", { get: () => (member.cached ??= member.rows()) });
      });
    }
  }

  runs() {
    const runs = this.scenario.runs.map((run) => ({
      run: run.run,
      world_size: run.world_size ?? 1,
      missing_ranks: run.missing_ranks,
      notes: run.notes,
      members: run.members.map((member) => {
        const { rows } = this.data(member);
        const columns = [
          "step_time_ms",
          ...Object.keys(rows[0].stages).map((s) => `stage/${s}_ms`),
          ...Object.keys(rows[0].memory),
          "num_samples",
        ];
        if (rows[0].deviceMs !== null)
          columns.push("device_step_time_ms", ...Object.keys(rows[0].stages).map((s) => `device_stage/${s}_ms`));
        return {
          member: member.member,
          rank: member.rank,
          writer: member.writer,
          label: member.label,
          tb_run: run.world_size > 1 ? `${run.run}/rank_${member.rank}` : run.run,
          num_steps: rows.length,
          first_step: String(rows[0].step),
          last_step: String(rows.at(-1).step),
          first_wall_time_s: rows[0].wall / 1000,
          last_wall_time_s: rows.at(-1).wall / 1000,
          num_attempts: member.data.options.attempts.length + 1,
          end: member.end,
          columns,
        };
      }),
    }));
    runs.sort((a, b) => (a.run < b.run ? -1 : 1));
    return {
      runs,
      problems: this.scenario.problems ?? [],
      num_runs_without_data: this.scenario.num_runs_without_data ?? 0,
      logdir: "runs",
    };
  }

  /** A live run shows more of its rows as time passes. */
  data(member) {
    if (!this.scenario.live) return member.data;
    const shown = Math.min(member.data.rows.length, 600 + Math.floor((Date.now() - this.born) / 40));
    return { ...member.data, rows: member.data.rows.slice(0, shown) };
  }

  find(query) {
    const run = this.scenario.runs.find((r) => r.run === query.run);
    if (!run)
      throw new RouteError(404, "not_found", `there is no run '${query.run}'; /runs lists what there is`, "run");
    const member = query.member === null ? run.members[0] : run.members.find((m) => m.member === query.member);
    if (!member) throw new RouteError(404, "not_found", `run '${run.run}' has no member '${query.member}'`, "member");
    const view = { ...member, data: this.data(member) };
    return { run: run.run, member: member.member, view, binned: bin(view, query) };
  }

  bands(query) {
    const { run, member, binned: b } = this.find(query);
    const value = (i) => (query.column === "device_step_time_ms" ? b.rows[i].deviceMs : b.rows[i].stepMs);
    const parts = b.bins.map((one) => {
      const used = one.rows.filter(b.isUsed);
      const rest = one.rows.filter((i) => !b.isUsed(i));
      const values = used.map(value).sort((x, y) => x - y);
      const top = used.reduce((best, i) => (best === null || value(i) > value(best) ? i : best), null);
      return { used, rest, values, top };
    });
    return {
      run,
      member,
      column: query.column,
      unit: "ms",
      scale: SCALE,
      clock: query.column.startsWith("device") ? "device" : "host",
      axis: b.axis,
      percentiles: query.percentiles,
      quantiles: query.percentiles.map((p) => parts.map(({ values }) => scaled(quantile(values, p)))),
      min: parts.map(({ values }) => scaled(values[0])),
      max: parts.map(({ values }) => scaled(values.at(-1))),
      max_at: parts.map(({ top }) => (top === null ? null : Number(b.at[top] - b.start))),
      num_steps: parts.map(({ used }) => used.length),
      num_left_out: parts.map(({ rest }) => rest.length),
      left_out_max: parts.map(({ rest }) => (rest.length ? scaled(Math.max(...rest.map(value))) : null)),
      sample: b.sample,
    };
  }

  stages(query) {
    const { run, member, binned: b } = this.find(query);
    const names = Object.keys(b.rows[0].stages);
    const factor = query.clock === "device" ? 0.97 : 1;
    const used = b.bins.map((one) => one.rows.filter(b.isUsed));
    const total = (name) => b.used.reduce((sum, i) => sum + b.rows[i].stages[name], 0);
    const ordered = names
      .map((name) => [name, total(name)])
      .sort((x, y) => y[1] - x[1])
      .map(([name]) => name);
    const shown = ordered.slice(0, 20);
    const more = ordered.slice(20);
    const means = (of) => used.map((rows) => scaled(mean(rows.map((i) => of(b.rows[i]) * factor))));
    const stages = shown.map((stage) => ({ stage, mean: means((row) => row.stages[stage]) }));
    if (more.length)
      stages.push({
        stage: `(${more.length} more)`,
        mean: means((row) => more.reduce((s, name) => s + row.stages[name], 0)),
      });
    const labelled = (row) => Object.values(row.stages).reduce((x, y) => x + y, 0);
    return {
      run,
      member,
      unit: "ms",
      scale: SCALE,
      clock: query.clock,
      axis: b.axis,
      stages,
      unlabelled: means((row) => Math.max(0, row.stepMs - labelled(row))),
      step_time: means((row) => row.stepMs),
      num_steps: used.map((rows) => rows.length),
      num_more_stages: more.length,
      sample: b.sample,
    };
  }

  memory(query) {
    const { run, member, binned: b } = this.find(query);
    const columns = Object.keys(b.rows[0].memory).map((column) => {
      const parts = b.bins.map((one) => one.rows.filter((i) => b.rows[i].memory[column] !== null));
      const at = (i) => b.rows[i].memory[column];
      const top = parts.map((rows) => rows.reduce((best, i) => (best === null || at(i) > at(best) ? i : best), null));
      return {
        column,
        meaning: meaning[column],
        max: top.map((i) => (i === null ? null : Math.round(at(i)))),
        min: parts.map((rows) => (rows.length ? Math.round(Math.min(...rows.map(at))) : null)),
        max_at: top.map((i) => (i === null ? null : Number(b.at[i] - b.start))),
        num_measured: parts.map((rows) => rows.length),
      };
    });
    return { run, member, unit: "bytes", axis: b.axis, columns, reason: null, sample: b.sample };
  }

  throughput(query) {
    const { run, member, binned: b } = this.find(query);
    const rate = (of) =>
      b.bins.map((one) => {
        const used = one.rows.filter(b.isUsed);
        const ms = used.reduce((sum, i) => sum + b.rows[i].stepMs, 0);
        return ms ? Math.round((used.reduce((sum, i) => sum + of(b.rows[i]), 0) / ms) * 1e6) / 1e3 : null;
      });
    const series = [{ column: "num_samples", unit: "samples/s", value: rate((row) => row.numSamples) }];
    if (b.rows[0].numTokens)
      series.push({ column: "num_tokens", unit: "tokens/s", value: rate((row) => row.numTokens) });
    return {
      run,
      member,
      axis: b.axis,
      series,
      definition: "sum of num_samples / sum of step time over the used steps that carry num_samples",
      reason: null,
      sample: b.sample,
    };
  }

  marks(query) {
    const { run, member, view, binned: b } = this.find(query);
    const marks = [];
    const at = (i) => Number(b.at[i] - b.start);
    const ranges = (kind, flag, label) => {
      for (let k = 0; k < b.keep.length; k++) {
        if (!(b.rows[b.keep[k]].flags & flag)) continue;
        let end = k;
        while (end + 1 < b.keep.length && b.rows[b.keep[end + 1]].flags & flag) end += 1;
        const to = end + 1 < b.keep.length ? at(b.keep[end + 1]) : at(b.keep[end]) + 1;
        marks.push({ kind, start: at(b.keep[k]), end: to, label: label(end + 1 - k) });
        k = end;
      }
    };
    ranges("warmup", FLAGS.warmup, (n) => `warm-up: ${n} steps`);
    ranges("profiled", FLAGS.profiled, (n) => `torch.profiler was recording: ${n} steps`);
    ranges("excluded", FLAGS.excluded, () => "2.7 s of excluded activity");
    for (let k = 1; k < b.keep.length; k++) {
      const [before, row] = [b.rows[b.keep[k - 1]], b.rows[b.keep[k]]];
      const gap = Number((row.step - before.step) / BigInt(view.data.options.stride)) - 1;
      if (gap > 0)
        marks.push({
          kind: "gap",
          start: at(b.keep[k - 1]) + 1,
          end: at(b.keep[k]),
          label: `${gap} rows never arrived`,
        });
      if (row.attempt > before.attempt) {
        const pause = view.data.options.attempts[row.attempt - 1].pauseMs;
        marks.push({
          kind: "restart",
          start: at(b.keep[k]),
          end: at(b.keep[k]),
          label: `attempt ${row.attempt + 1} starts; pause of ${Math.floor(pause / 60000)} min ${(pause / 1000) % 60} s; 51 steps superseded`,
        });
      }
      if (row.flags & FLAGS.interrupted)
        marks.push({
          kind: "interrupted",
          start: at(b.keep[k]),
          end: at(b.keep[k]),
          label: "the step before was cut by an exception",
        });
    }
    if (view.data.options.attempts.length)
      marks.push({
        kind: "clock_jump",
        start: at(b.keep[Math.floor(b.keep.length * 0.9)]),
        end: at(b.keep[Math.floor(b.keep.length * 0.9)]),
        label: "wall clock jumped +2 h",
      });
    const num_marks = {};
    for (const { kind } of marks) num_marks[kind] = (num_marks[kind] ?? 0) + 1;
    return { run, member, axis: query.axis, base: String(b.start), marks, num_marks, num_left_out: 0 };
  }

  samples(query) {
    const { run, member, binned: b } = this.find(query);
    return {
      run,
      member,
      columns: ["step", "wall_time_s", "step_time_ms"],
      rows: b.keep.map((i) => [String(b.rows[i].step), b.rows[i].wall / 1000, b.rows[i].stepMs]),
    };
  }
}
