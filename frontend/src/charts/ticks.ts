import { signed } from "../format/changes";
import { integer, percent } from "../format/numbers";
import { clock, wallTime } from "../format/position";
import { byteUnit, bytes, rate, rateUnit, time, timeUnit } from "../format/units";
import type { ChartModel, YUnit } from "./model";

/** Round distances between ticks of the time that has passed, in ms. */
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
export const TIME_INCREMENTS: number[] = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((n) => n * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * MINUTE),
  ...[1, 2, 3, 6, 12].map((n) => n * HOUR),
  ...[1, 2, 5, 10, 20, 50, 100].map((n) => n * DAY),
];

/** Round distances between step numbers: whole, 1-2-5. */
export const STEP_INCREMENTS: number[] = Array.from({ length: 19 }, (_, e) => [1, 2, 5].map((m) => m * 10 ** e)).flat();

/** Round distances in bytes: 1-2-4-8… of each binary unit. */
export const BYTE_INCREMENTS: number[] = Array.from({ length: 51 }, (_, e) => 2 ** e);

/** Texts of ticks at positions relative to `origin`. Wall time is left to the chart's own calendar. */
export function tickLabels(
  axis: ChartModel["axis"],
  origin: bigint,
  splits: readonly number[],
  increment: number,
): string[] {
  if (axis === "percentile") return splits.map((x) => `p${x}`);
  if (axis === "wall")
    return splits.map((x, i) => wallTick(Number(origin) + x, i ? Number(origin) + splits[i - 1]! : null, increment));
  if (axis === "step") return splits.map((x) => integer(origin + BigInt(Math.round(x))));
  return splits.map((x) => clock(Number(origin) + x, increment));
}

/** Local time as fine as the ticks are apart; the date at the first tick and where the day changes. */
function wallTick(ms: number, before: number | null, increment: number): string {
  const date = dateOnly(ms);
  if (increment >= DAY) return date;
  const clockText = wallTime(ms, false).slice(0, increment >= MINUTE ? 5 : 8);
  return before !== null && dateOnly(before) === date ? clockText : `${clockText}\n${date}`;
}

const dateOnly = (ms: number) => wallTime(ms).split(", ")[0]!;

/** One y value with its unit. */
export function yText(unit: YUnit, value: number): string {
  if (unit === "ms") return time(value);
  if (unit === "bytes") return bytes(value);
  if (unit === "change") return signed(value);
  return unit === "share" ? percent(value) : rate(value, "/s").replace(" /s", "/s");
}

/** Texts of y ticks: one unit for all, and just as many decimals as their distance needs. */
export function yLabels(unit: YUnit, splits: readonly (number | null)[], increment: number): (string | null)[] {
  if (unit === "share") return splits.map((value) => (value === null ? null : percent(value)));
  if (unit === "change") return splits.map((value) => signed(value, decimalsOf(increment * 100)));
  const largest = Math.max(...splits.map((value) => Math.abs(value ?? 0)));
  const { name, size } = unit === "ms" ? timeUnit(largest) : unit === "bytes" ? byteUnit(largest) : rateUnit(largest);
  const suffix = unit === "rate" ? `${name ? ` ${name}` : ""}/s` : ` ${name}`;
  const decimals = decimalsOf(increment / size);
  return splits.map((value) => (value === null ? null : fixed(value / size, decimals) + suffix));
}

function fixed(value: number, decimals: number): string {
  const [whole, fraction] = Math.abs(value).toFixed(decimals).split(".");
  return (value < 0 ? "−" : "") + integer(whole) + (fraction ? `.${fraction}` : "");
}

/** Decimals that a number needs, at most three. */
function decimalsOf(value: number): number {
  let decimals = 0;
  while (decimals < 3 && Math.abs(value * 10 ** decimals - Math.round(value * 10 ** decimals)) > 1e-6) decimals += 1;
  return decimals;
}
