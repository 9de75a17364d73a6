import type { AxisName } from "../api/types";
import { integer } from "./numbers";

/** Positions on the x axis as text. Absolute positions are BigInt: a step may exceed what a number holds. */

/** "1:02:03", "2:03.5", "4.20 s": a time since the start, as fine as `resolutionMs` asks. */
export function clock(ms: number, resolutionMs = 1000): string {
  const sign = ms < 0 ? "−" : "";
  const total = Math.abs(ms);
  const decimals = resolutionMs >= 1000 ? 0 : Math.min(3, Math.ceil(-Math.log10(resolutionMs / 1000)));
  const seconds = (total / 1000) % 60;
  const minutes = Math.floor(total / 60_000) % 60;
  const hours = Math.floor(total / 3_600_000);
  if (total < 60_000) return `${sign}${seconds.toFixed(decimals)} s`;
  const padded = seconds.toFixed(decimals).padStart(decimals ? 3 + decimals : 2, "0");
  return hours ? `${sign}${hours}:${String(minutes).padStart(2, "0")}:${padded}` : `${sign}${minutes}:${padded} min`;
}

const DATE = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric" });
const TIME = new Intl.DateTimeFormat(undefined, {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hourCycle: "h23",
});

/** Local date and time of the browser; logs hold seconds since the epoch only. */
export function wallTime(ms: number, withDate = true): string {
  const date = new Date(ms);
  if (Number.isNaN(date.getTime())) return "–";
  return withDate ? `${DATE.format(date)}, ${TIME.format(date)}` : TIME.format(date);
}

/** One absolute position. */
export function position(axis: AxisName, value: bigint, resolutionMs = 1): string {
  if (axis === "step") return integer(value);
  if (axis === "relative") return clock(Number(value), resolutionMs);
  return wallTime(Number(value));
}

/** The half-open range of a bin in words: "steps [20, 40)", "step 20", "1:00 min – 1:05 min". */
export function span(axis: AxisName, start: bigint, end: bigint, single: boolean): string {
  if (axis === "step")
    return single || end - start === 1n ? `step ${integer(start)}` : `steps [${integer(start)}, ${integer(end)})`;
  if (axis === "relative") {
    const resolution = Number(end - start) / 4;
    return single
      ? `at ${clock(Number(start))}`
      : `${clock(Number(start), resolution)} – ${clock(Number(end), resolution)}`;
  }
  return single ? wallTime(Number(start)) : `${wallTime(Number(start))} – ${wallTime(Number(end), false)}`;
}
