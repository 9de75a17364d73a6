import type { Numbers } from "../api/types";

/**
 * Limits of the y axis. A lone spike must not flatten everything else, and a level that lasts must never be cut off.
 */
export interface Limits {
  min: number;
  max: number;
  /** Something lies above `max`. */
  clipped: boolean;
}

const finite = (values: Numbers): number[] => values.filter((v): v is number => v !== null && Number.isFinite(v));

/** Running median over five values: what stays of a line when lone spikes are taken away. */
export function despike(values: readonly number[]): number[] {
  return values.map((_, i) => {
    const near = values.slice(Math.max(0, i - 2), i + 3).sort((a, b) => a - b);
    return near[near.length >> 1]!;
  });
}

/**
 * Limits that show `lines` (percentile curves) well, given that `peaks` (maxima) may be far above.
 *
 * The limit is the level that the curves hold (after taking lone spikes away) and their 97th percentile, plus a margin.
 * What the maxima usually reach counts too where that is at most twice as high. Whatever lies within twice that level
 * is shown; what lies above is cut off.
 */
export function robustLimits(lines: readonly Numbers[], peaks: Numbers, lows: Numbers): Limits | null {
  const curves = lines.map(finite).filter((curve) => curve.length > 0);
  const bottom = finite(lows);
  if (curves.length === 0 || bottom.length === 0) return null;
  const held = Math.max(...curves.map((curve) => max(despike(curve))));
  const usual = Math.max(...curves.map(mostly));
  const top = Math.max(max(finite(peaks)), ...curves.map(max));
  const curveLevel = Math.max(held, usual);
  const peakLevel = mostly(finite(peaks));
  const level = peakLevel > curveLevel && peakLevel <= 2 * curveLevel ? peakLevel : curveLevel;
  const clip = top > 2 * level;
  const upper = clip ? max([level, ...[peaks, ...lines].flatMap(finite).filter((value) => value <= 2 * level)]) : top;
  const lower = Math.min(min(bottom), upper);
  const pad = (upper - lower || upper || 1) * 0.06;
  const min0 = lower < 0.35 * upper ? 0 : Math.max(0, lower - pad);
  return { min: min0, max: upper + pad, clipped: clip };
}

/** Limits that hold everything, from 0 or fitted. */
export function fullLimits(values: readonly Numbers[], fromZero: boolean): Limits | null {
  const all = values.map(finite).filter((list) => list.length > 0);
  if (all.length === 0) return null;
  const top = Math.max(...all.map(max));
  const low = Math.min(...all.map(min));
  const pad = (top - low || Math.abs(top) || 1) * 0.06;
  return { min: fromZero || low < 0.35 * top ? 0 : low - pad, max: top + pad, clipped: false };
}

/** Limits for a logarithmic axis: whole room for everything above 0. */
export function logLimits(values: readonly Numbers[]): Limits | null {
  const positive = values.flatMap((list) => finite(list)).filter((v) => v > 0);
  if (positive.length === 0) return null;
  return { min: min(positive) / 1.15, max: max(positive) * 1.15, clipped: false };
}

/** The 97th percentile; −∞ of nothing. */
const mostly = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * 0.97)] ?? -Infinity;
const max = (values: readonly number[]): number => values.reduce((a, b) => (b > a ? b : a), -Infinity);
const min = (values: readonly number[]): number => values.reduce((a, b) => (b < a ? b : a), Infinity);
