// The statistics of the development page: slow, simple, and in the exact shapes of http_api.md.
import { FLAGS } from "./rows.mjs";

const LEFT_OUT = ["warmup", "profiled", "restart"];

/** Nearest-rank quantile of ascending `values`; null where there are none. */
export function quantile(values, percentile) {
  if (!values.length) return null;
  return values[Math.max(0, Math.ceil((percentile / 100) * values.length) - 1)];
}

/** Axis positions of the rows as BigInt, ascending. */
export function positions(rows, axis) {
  if (axis === "step") return rows.map((row) => row.step);
  if (axis === "wall") return rows.map((row) => BigInt(Math.round(row.wall)));
  let sum = 0;
  return rows.map((row) => BigInt(Math.round((sum += row.stepMs + row.excludedMs) - row.stepMs - row.excludedMs)));
}

/** Rows of the asked range, split into bins. */
export function bin(member, query) {
  const { rows, options } = member.data;
  const at = positions(rows, query.axis);
  const first = at[0] ?? 0n;
  const last = at.at(-1) ?? 0n;
  const start = query.start ?? first;
  const end = query.end ?? last + 1n;
  const keep = [];
  for (let i = 0; i < rows.length; i++) if (at[i] >= start && at[i] < end) keep.push(i);
  const bins = [];
  if (keep.length <= query.bins) {
    keep.forEach((i, k) => {
      const from = Number(at[i] - start);
      const to =
        k + 1 < keep.length
          ? Number(at[keep[k + 1]] - start)
          : from + (k > 0 ? Math.min(options.stride, Number(at[i] - at[keep[k - 1]])) : 1);
      bins.push({ start: from, end: Math.max(to, from + 1), rows: [i] });
    });
  } else {
    const width = Number(end - start) / query.bins;
    for (let b = 0; b < query.bins; b++)
      bins.push({ start: Math.round(b * width), end: Math.round((b + 1) * width), rows: [] });
    for (const i of keep) bins[Math.min(query.bins - 1, Math.floor(Number(at[i] - start) / width))].rows.push(i);
  }
  const leftOut = { warmup: 0, profiled: 0, restart: 0, not_finite: 0, negative: 0 };
  const why = (row) => LEFT_OUT.find((flag) => row.flags & FLAGS[flag] && !query.include.includes(flag));
  const used = [];
  for (const i of keep) {
    const reason = why(rows[i]);
    if (reason) leftOut[reason] += 1;
    else used.push(i);
  }
  const superseded = member.superseded;
  const written = options.num + superseded;
  const missing = options.missing.reduce((sum, [a, b]) => sum + b - a, 0);
  return {
    rows,
    at,
    start,
    end,
    keep,
    used,
    bins,
    isUsed: (i) => !why(rows[i]),
    axis: { axis: query.axis, base: String(start), start: bins.map((b) => b.start), end: bins.map((b) => b.end) },
    sample: {
      num_written: written,
      num_read: written - missing,
      num_missing: missing,
      num_superseded: superseded,
      num_in_range: keep.length,
      num_used: used.length,
      left_out: leftOut,
    },
  };
}

export const SCALE = 0.0001;
export const scaled = (value) => (value === null || value === undefined ? null : Math.round(value / SCALE));
export const mean = (values) => (values.length ? values.reduce((a, b) => a + b, 0) / values.length : null);
