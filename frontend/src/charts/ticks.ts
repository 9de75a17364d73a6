import type { AxisName } from "../api/types";
import { clock } from "../format/position";
import { integer } from "../format/numbers";

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
export function tickLabels(axis: Exclude<AxisName, "wall">, origin: bigint, splits: readonly number[], increment: number): string[] {
  if (axis === "step") return splits.map((x) => integer(origin + BigInt(Math.round(x))));
  return splits.map((x) => clock(Number(origin) + x, increment));
}
