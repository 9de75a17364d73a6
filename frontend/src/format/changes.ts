import { MISSING } from "./numbers";
import { visible } from "./text";

/** Relative changes and what is known about them, as text. */

type Maybe = number | null | undefined;

/** "+12.4 %", "−8.1 %", "0.0 %". */
export function signed(change: Maybe, decimals = 1): string {
  const text = bare(change, decimals);
  return text === MISSING ? text : `${change! > 0 && Number(text) !== 0 ? "+" : ""}${text} %`;
}

function bare(change: Maybe, decimals: number): string {
  if (change === null || change === undefined || !Number.isFinite(change)) return MISSING;
  const text = Math.abs(change * 100).toFixed(decimals);
  return change < 0 && Number(text) !== 0 ? `−${text}` : text;
}

/** The 95 % interval in per cent: "11.8–13.1", "−8.9 to −7.3", "above 4.0" where the data set no limit above. */
export function interval(low: Maybe, high: Maybe): string {
  const none = (value: Maybe) => value === null || value === undefined;
  const decimals = digits(low, high);
  if (none(low) && none(high)) return "";
  if (none(low)) return `below ${bare(high, decimals)}`;
  if (none(high)) return `above ${bare(low, decimals)}`;
  return `${bare(low, decimals)}${low! < 0 ? " to " : "–"}${bare(high, decimals)}`;
}

/** Decimals that the interval bears out. */
export const digits = (low: Maybe, high: Maybe): number =>
  typeof low === "number" && typeof high === "number" && high - low < 0.005 ? 2 : 1;

/** "p < 0.001", "p = 0.02". */
export function pWords(p: Maybe): string {
  if (p === null || p === undefined) return MISSING;
  if (p < 0.001) return "p < 0.001";
  return `p = ${p.toFixed(p < 0.01 ? 3 : 2)}`;
}

/** A stage's name; the time in no stage has none. */
export const stageName = (stage: string | null): string => (stage === null ? "not labelled" : visible(stage));
