import type { Comparison } from "../api/analysis";
import type { Comparisons } from "../state/analyses";
import { align } from "./bins";
import { RUN_COLORS } from "./colors";
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
  const measures = comparisons.flatMap((comparison) => comparison.measures);
  const changes = measures.flatMap(({ change }) => change ?? []);
  const largest = comparisons.map((one) => Math.max(0, ...one.measures.map(({ change }) => Math.abs(change ?? 0))));
  const least = Math.min(...largest.filter((change) => change > 0), Infinity);
  // A run that differs by far more than another one points out of the axis: else nothing could be read of the other.
  const reach = Math.min(1.3 * Math.max(2 * zone, ...largest), Math.max(0.4, Number.isFinite(least) ? 1.3 * least : 0));
  const held = [...changes, ...measures.flatMap(({ low, high }) => [low ?? 0, high ?? 0])].map((value) =>
    Math.min(reach, Math.max(-reach, value)),
  );
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
  const known = candidates.flatMap(({ candidate, data }) =>
    data?.quantiles ? [{ color: RUN_COLORS[candidate.color % RUN_COLORS.length]!, curve: data.quantiles, data }] : [],
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
  const { min, max } = quantileLimits(known.map(({ data }) => data));
  return {
    axis: "percentile",
    origin: 0n,
    x: table.x,
    lines,
    bands,
    dots: [],
    marks: [],
    zone: known[0]!.data.min_effect,
    limits: { min, max, clipped: false },
    log: false,
    unit: "change",
  };
}

function quantileLimits(comparisons: Comparison[]): { min: number; max: number } {
  const zone = Math.max(...comparisons.map((c) => c.min_effect));
  const changes = comparisons.flatMap(({ quantiles }) => quantiles!.change.flatMap((value) => value ?? []));
  const reach = 2 * Math.max(zone, ...changes.map(Math.abs));
  const all = comparisons.flatMap(({ quantiles: q }) => [...q!.low, ...q!.high].flatMap((value) => value ?? []));
  const held = [...changes, ...all].map((value) => Math.min(reach, Math.max(-reach, value)));
  const [min, max] = [Math.min(-1.5 * zone, ...held), Math.max(1.5 * zone, ...held)];
  return { min: min - (max - min) * 0.06, max: max + (max - min) * 0.06 };
}
