import type { Bands, Clock, Summary, TimeStats } from "../api/types";
import type { Shown } from "../state/catalog";
import type { Bins } from "../charts/bins";
import { count, integer, percent } from "../format/numbers";
import { span } from "../format/position";
import { list, visible } from "../format/text";
import { duration, time } from "../format/units";

/** Numbers as sentences. Pure, so that tests can read them. */

/** "A typical step takes 10.0 ms; 1 in 20 takes longer than 11.0 ms. Most labelled time is in forward (41 %)." */
export function headline(summary: Summary, clock: Clock): string {
  const { p50, p95 } = statsOf(summary, clock);
  if (p50 === null || p95 === null) return noStatistics(summary);
  const typical = `A typical step takes ${time(p50)}; 1 in 20 takes longer than ${time(p95)}.`;
  const [first] = summary.stages;
  if (!first || first.share === null) return `${typical} No stages are labelled.`;
  return `${typical} Most labelled time is in ${visible(first.stage)} (${percent(first.share)}).`;
}

/** Step times on the chosen clock, the host's where the device's were not measured. */
export function statsOf(summary: Summary, clock: Clock): TimeStats {
  return (clock === "device" && summary.device_step_time_ms) || summary.step_time_ms;
}

function noStatistics({ sample }: Summary): string {
  if (sample.num_in_range === 0) return "No step lies in this range.";
  return `All ${count(sample.num_in_range, "step")} in this range are left out of the statistics (${leftOutWords(sample.left_out)}).`;
}

const REASONS: Record<string, string> = {
  warmup: "warm-up",
  profiled: "profiled",
  restart: "first of an attempt",
  not_finite: "without a finite time",
  negative: "with a negative time",
};

/** "10 warm-up, 40 profiled", largest first; empty where nothing was left out. */
export function leftOutWords(leftOut: Record<string, number>): string {
  return Object.entries(leftOut)
    .filter(([, number]) => number > 0)
    .toSorted((a, b) => b[1] - a[1])
    .map(([reason, number]) => `${integer(number)} ${REASONS[reason] ?? reason}`)
    .join(", ");
}

/** On what the numbers stand. */
export function evidence({ sample, warmup, excluded }: Summary): string[] {
  const words = [`${integer(sample.num_used)} of ${count(sample.num_in_range, "step")} in view used`];
  const left = leftOutWords(sample.left_out);
  if (left) words.push(`left out: ${left}`);
  words.push(`${integer(sample.num_read)} of ${integer(sample.num_written)} written steps read`);
  if (warmup.num_steps) words.push(`warm-up: ${count(warmup.num_steps, "step")}, ${duration(warmup.total_ms)}`);
  if (excluded.num_steps)
    words.push(`excluded activity: ${duration(excluded.total_ms)} in ${count(excluded.num_steps, "step")}`);
  if (sample.num_superseded) words.push(`${count(sample.num_superseded, "step")} superseded by a later attempt`);
  return words;
}

const COUNTERS: Record<string, (n: number) => string> = {
  num_rows_lost: (n) => `${count(n, "row")} could not be written and ${n === 1 ? "is" : "are"} lost`,
  num_interrupted: (n) => `${count(n, "step")} cut by an exception: counted, not sampled`,
  num_open_stages: (n) => `${count(n, "stage")} still open at the end of a step and closed there`,
  num_foreign_stages: (n) => `${count(n, "stage")} entered in another thread and not counted`,
  num_not_finite: (n) => `${count(n, "value")} from the loop not finite: shown as not measured`,
  num_invalid: (n) => `${count(n, "call")} with arguments that cannot be used: ignored`,
  num_duplicates: (n) => `${count(n, "duplicate sample")} ignored`,
  num_device_unresolved: (n) => `${count(n, "step")} without device time: events never completed`,
  num_stages_folded: (n) => `${count(n, "stage")} beyond the limit on names, summed under “(more stages)”`,
};

/** What makes the numbers less than the whole truth. */
export function warnings(summary: Summary, { run }: Shown): string[] {
  const words: string[] = [];
  const { num_missing: missing } = summary.sample;
  if (missing)
    words.push(`${count(missing, "row")} never arrived here (gaps in the log): nothing is averaged over them`);
  if (run.missing_ranks.length) {
    const ranks = list(run.missing_ranks.map(String));
    words.push(`${run.missing_ranks.length === 1 ? "Rank" : "Ranks"} ${ranks} of ${run.world_size} wrote nothing`);
  }
  for (const [counter, number] of Object.entries(summary.counters)) {
    if (number > 0) words.push(COUNTERS[counter]?.(number) ?? `${counter}: ${integer(number)}`);
  }
  return [...words, ...run.notes.map((note) => note.replace(/\.$/, ""))];
}

/** The bin under the cursor: "steps [20, 40): median 10.0 ms, p95 11.0 ms, max 640 ms at step 33; 2 left out". */
export function binWords(bands: Bands, bins: Bins, i: number): string {
  const base = BigInt(bands.axis.base);
  const absolute = (value: number) => base + BigInt(Math.round(value));
  const where = span(bands.axis.axis, absolute(bands.axis.start[i]!), absolute(bands.axis.end[i]!), bins.raw);
  const value = (raw: number | null) => time(raw === null ? null : raw * bands.scale);
  const out = bands.num_left_out[i]!;
  if (bands.num_steps[i] === 0)
    return `${where}: ${out ? `${count(out, "step")} left out, up to ${value(bands.left_out_max[i]!)}` : "no steps"}`;
  const at = bands.max_at[i];
  const place =
    at === null || at === undefined
      ? ""
      : ` at ${span(bands.axis.axis, absolute(at), absolute(at), true).replace(/^at /, "")}`;
  const left = out ? `; ${integer(out)} left out` : "";
  if (bins.raw) return `${where}: ${value(bands.max[i]!)}`;
  if (bands.num_steps[i] === 1) return `${where}: ${value(bands.max[i]!)}${place}${left}`;
  const quantiles = bands.percentiles.map(
    (p, k) => `${p === 50 ? "median" : `p${p}`} ${value(bands.quantiles[k]![i]!)}`,
  );
  return `${where}: ${quantiles.join(", ")}, max ${value(bands.max[i]!)}${place}${left}`;
}

/** What a step-time chart shows, for those who cannot see it. */
export function stepTimeSummary(summary: Summary | undefined, label: string): string {
  if (!summary) return `Step time of ${visible(label)}.`;
  const { p50, p95, max, max_step: at } = summary.step_time_ms;
  return `Step time of ${visible(label)}: median ${time(p50)}, p95 ${time(p95)}, longest ${time(max)}${at === null ? "" : ` at step ${integer(at)}`}.`;
}
