import type { Comparison, QuantileDifference } from "../api/analysis";
import type { Numbers } from "../api/types";
import { signed } from "../format/changes";
import type { Comparisons } from "../state/analyses";
import { align } from "./bins";
import { RUN_COLORS } from "./colors";
import type { Limits } from "./limits";
import type { Band, ChartModel, Line } from "./model";

/** Comparisons as models: the common axis of their intervals, and the difference of each percentile. Pure. */

export interface IntervalScale {
  min: number;
  max: number;
  ticks: number[];
}

/** An axis that holds every change, the zone of what is too small, and intervals as far as they do not dwarf these. */
export function intervalScale(comparisons: readonly Comparison[]): IntervalScale {
  const zone = Math.max(0.01, ...comparisons.map((c) => Math.max(c.min_effect, c.min_tail_effect)));
  const largest = comparisons.map((one) => Math.max(0, ...one.measures.map(({ change }) => Math.abs(change ?? 0))));
  const least = Math.min(...largest.filter((change) => change > 0), Infinity);
  // A run that differs by far more than another one points out of the axis: else nothing could be read of the other.
  const allowed = Math.max(0.4, Number.isFinite(least) ? 1.3 * least : 0);
  const near = comparisons.flatMap(({ measures }) => measures.filter(({ change }) => Math.abs(change ?? 0) <= allowed));
  const changes = near.flatMap(({ change }) => change ?? []);
  const reach = Math.min(allowed, 1.3 * Math.max(2 * zone, ...changes.map(Math.abs)));
  const ends = near.flatMap(({ low, high }) => [low ?? 0, high ?? 0]);
  const held = [...changes, ...ends.map((value) => Math.min(reach, Math.max(-reach, value)))];
  const [low, high] = [Math.min(-1.3 * zone, ...held), Math.max(1.3 * zone, ...held)];
  const pad = (high - low) * 0.05;
  const [min, max] = [low - pad, high + pad];
  const step = roundStep((max - min) / 5);
  const ticks: number[] = [];
  for (let n = Math.ceil(min / step); n * step <= max; n++) ticks.push(n * step);
  return { min, max, ticks };
}

/** The next of 1, 2, 5 × 10ⁿ. */
function roundStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((m) => m * power).find((step) => step >= least * 0.999)!;
}

export type Direction = "slower" | "faster" | "unclear";

/** Whether a measure surely moved by as much as matters; more throughput is faster. */
export function direction(measure: Comparison["measures"][number], zone: number): Direction {
  const { change, low, high } = measure;
  if (change === null || Math.abs(change) < zone) return "unclear";
  const up = low !== null && low > 0;
  const down = high !== null && high < 0;
  if (!up && !down) return "unclear";
  return up === (measure.measure !== "throughput") ? "slower" : "faster";
}

/** The change of each percentile of every candidate, with its interval; null where there is none. */
export function quantileModel({ candidates }: Comparisons): ChartModel | null {
  const known = candidates.flatMap(({ color, data }) =>
    data?.quantiles ? [{ color: RUN_COLORS[color % RUN_COLORS.length]!, curve: data.quantiles, data }] : [],
  );
  if (!known.length) return null;
  const table = align(
    known.map(({ curve }) => ({ x: curve.percentiles, columns: [curve.low, curve.high, curve.change] })),
  );
  const lines: Line[] = [];
  const bands: Band[] = [];
  known.forEach(({ color }, n) => {
    bands.push({ upper: 3 * n + 1, lower: 3 * n, color, opacity: known.length > 2 ? 0.12 : 0.22 });
    ["low", "high", "change"].forEach((name, k) =>
      lines.push({
        key: `${n}:${name}`,
        color,
        width: k === 2 ? 2 : 1,
        opacity: k === 2 ? 1 : 0,
        values: table.columns[3 * n + k]!,
      }),
    );
  });
  const limits = quantileLimits(known.map(({ data }) => data));
  return {
    axis: "percentile",
    origin: 0n,
    x: table.x,
    lines,
    bands,
    dots: known.map(({ color, curve }) => ({
      color,
      hollow: false,
      ...extremes(curve, limits),
      curve: null,
      labels: true,
    })),
    marks: [],
    zone: known[0]!.data.min_effect,
    limits,
    log: false,
    unit: "change",
  };
}

/**
 * An axis that holds the curves as far as none dwarfs the others: up to ±40 %, or three times what the nearest of the
 * curves typically reaches. Intervals have as much room as the changes within need, twice.
 */
function quantileLimits(comparisons: Comparison[]): Limits {
  const zone = Math.max(...comparisons.map((c) => c.min_effect));
  const curves = comparisons.map(({ quantiles }) => quantiles!.change.flatMap((value) => value ?? []));
  const typical = curves.map((curve) => median(curve.map(Math.abs)));
  const allowed = Math.max(0.4, 4 * zone, 3 * Math.min(...typical));
  const inside = curves.flat().filter((value) => Math.abs(value) <= allowed);
  const reach = Math.min(allowed, 2 * Math.max(zone, ...inside.map(Math.abs)));
  const ends = comparisons.flatMap(({ quantiles: q }) => [...q!.low, ...q!.high].flatMap((value) => value ?? []));
  const held = [...inside, ...ends.map((value) => Math.min(reach, Math.max(-reach, value)))];
  const [low, high] = [Math.min(-1.5 * zone, ...held), Math.max(1.5 * zone, ...held)];
  const pad = (high - low) * 0.06;
  const [min, max] = [low - pad, high + pad];
  return { min, max, clipped: [...curves.flat(), ...ends].some((value) => value < min || value > max) };
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

/** Neighbouring percentiles on which a curve lies outside the axis, and its value furthest away there. */
interface Outside {
  from: number;
  to: number;
  at: number;
  value: number;
}

function stretches({ percentiles }: QuantileDifference, values: Numbers, { min, max }: Limits): Outside[] {
  const found: Outside[] = [];
  let before = 0;
  values.forEach((value, i) => {
    const side = value === null ? 0 : value > max ? 1 : value < min ? -1 : 0;
    const at = percentiles[i]!;
    const last = found.at(-1);
    if (side && last && side === before) {
      last.to = at;
      if (Math.abs(value!) > Math.abs(last.value)) Object.assign(last, { at, value });
    } else if (side) found.push({ from: at, to: at, at, value: value! });
    before = side;
  });
  return found;
}

function extremes(curve: QuantileDifference, limits: Limits): { x: number[]; y: number[] } {
  const found = stretches(curve, curve.change, limits);
  return { x: found.map(({ at }) => at), y: found.map(({ value }) => value) };
}

/** What of a curve and its interval lies outside the axis: "above at p95–p99 (as far as +412 %)"; "" of nothing. */
export function outsideWords(curve: QuantileDifference, limits: Limits): string {
  const range = ({ from, to }: Outside) => (from === to ? `p${from}` : `p${from}–p${to}`);
  const far = stretches(curve, curve.change, limits).map(
    (one) => `${one.value > 0 ? "above" : "below"} at ${range(one)} (as far as ${signed(one.value, 0)})`,
  );
  const wide = [curve.low, curve.high].flatMap((ends) => stretches(curve, ends, limits)).map(range);
  const intervals = wide.length && !far.length ? [`ends of the interval at ${[...new Set(wide)].join(", ")}`] : [];
  return [...far, ...intervals].join("; ");
}
