import type { Bands, Marks, Numbers } from "../api/types";
import type { Answers } from "../state/catalog";
import type { YScale } from "../state/view";
import { align, bridge, placeBins, type Table } from "./bins";
import { RUN_COLORS } from "./colors";
import { fullLimits, logLimits, robustLimits, type Limits } from "./limits";
import type { Band, ChartModel, Dots, Line, PlacedMark } from "./model";

export interface BandOptions {
  origin: bigint;
  showMax: boolean;
  showLeftOut: boolean;
  yScale: YScale;
  /** Show everything, spikes included. */
  full: boolean;
}

/** Values of a column in its unit. */
export const scale = (values: Numbers, factor: number): Numbers =>
  values.map((value) => (value === null ? null : value * factor));

/** Splits percentiles into pairs that bound a band (outermost first), the median, and single curves. */
export function roles(percentiles: readonly number[]): {
  pairs: [number, number][];
  median: number | null;
  singles: number[];
} {
  const at = (p: number) => percentiles.findIndex((other) => Math.abs(other - p) < 1e-9);
  const pairs: [number, number][] = [];
  const used = new Set<number>();
  percentiles.forEach((p, i) => {
    const mirror = at(100 - p);
    if (p >= 50 || mirror < 0) return;
    pairs.push([i, mirror]);
    used.add(i).add(mirror);
  });
  const median = at(50);
  const singles = percentiles.map((_, i) => i).filter((i) => !used.has(i) && i !== median);
  return { pairs, median: median < 0 ? null : median, singles };
}

const DASHES: (number[] | undefined)[] = [undefined, [6, 3], [2, 3], [8, 3, 2, 3]];

/** Step times: bands and curves of each run, its maxima and the rows that were left out. */
export function bandsModel(answers: Answers<Bands>, marks: PlacedMark[], options: BandOptions): ChartModel {
  const overlaid = answers.data.length > 1;
  const tables: Table[] = [];
  const lines: Line[] = [];
  const bands: Band[] = [];
  const dots: Dots[] = [];
  const upper: Numbers[] = [];
  const lows: Numbers[] = [];
  const peaks: Numbers[] = [];
  answers.data.forEach((answer, n) => {
    const bins = placeBins(answer.axis, answer.sample, options.origin);
    const color = RUN_COLORS[answers.shown[n]!.color % RUN_COLORS.length]!;
    const quantiles = answer.quantiles.map((values) => scale(values, answer.scale));
    const { pairs, median, singles } = roles(answer.percentiles);
    const drawnPairs = overlaid ? pairs.slice(0, 1) : pairs;
    const drawnSingles = overlaid ? (median === null ? singles.slice(-1) : []) : singles;
    const columns: (number | null | undefined)[][] = [];
    const add = (index: number, look: Pick<Line, "width" | "opacity" | "dash">) => {
      columns.push(bridge(quantiles[index]!));
      lines.push({ key: `${n}:p${answer.percentiles[index]}`, color, values: [], ...look });
      return lines.length - 1;
    };
    drawnPairs.forEach(([low, high], depth) => {
      const lower = add(low, { width: 1, opacity: 0 });
      const top = add(high, { width: 1, opacity: 0 });
      const opacity = overlaid ? 0.14 : Math.min(0.34, 0.16 + 0.1 * depth);
      if (!bins.raw) bands.push({ upper: top, lower, color, opacity });
    });
    drawnSingles.forEach((index, i) =>
      add(index, { width: 1, opacity: 0.55, ...(DASHES[i % 4] ? { dash: DASHES[i % 4]! } : {}) }),
    );
    if (median !== null) add(median, { width: 2, opacity: 1 });
    tables.push({ x: bins.x, columns });
    const maxima = scale(answer.max, answer.scale);
    const shift = Number(BigInt(answer.axis.base) - options.origin);
    const outer = quantiles[pairs[0]?.[1] ?? quantiles.length - 1]!;
    const maxAt = bins.raw ? bins.x : answer.max_at.map((at, i) => (at === null ? bins.x[i]! : at + shift));
    if (options.showMax || bins.raw) dots.push(points(color, false, maxAt, maxima, outer));
    if (options.showLeftOut)
      dots.push(points("--left-out", true, bins.x, scale(answer.left_out_max, answer.scale), null));
    upper.push(...answer.percentiles.flatMap((p, i) => (p >= 50 ? [quantiles[i]!] : [])));
    lows.push(quantiles[0]!);
    if (options.showMax) peaks.push(maxima);
  });
  const table = align(tables);
  lines.forEach((line, i) => (line.values = table.columns[i]!));
  const all = [...upper, ...lows, ...peaks];
  const limits = chooseLimits(all, upper, lows.flat(), peaks.flat(), options);
  const shown = dots.filter((set) => set.x.length > 0);
  return {
    axis: answers.data[0]!.axis.axis,
    origin: options.origin,
    x: table.x,
    lines,
    bands,
    dots: shown,
    marks,
    limits,
    log: options.yScale === "log" && limits !== null,
    unit: "ms",
  };
}

function chooseLimits(
  all: Numbers[],
  upper: Numbers[],
  lows: Numbers,
  peaks: Numbers,
  { yScale, full }: BandOptions,
): Limits | null {
  if (yScale === "log") return logLimits(all);
  const limits = full ? fullLimits(all, yScale === "zero") : robustLimits(upper.length ? upper : [lows], peaks, lows);
  return limits && yScale === "zero" ? { ...limits, min: 0 } : limits;
}

function points(color: string, hollow: boolean, x: readonly number[], y: Numbers, curve: Numbers | null): Dots {
  const kept = y.flatMap((value, i) => (value === null ? [] : [i]));
  return {
    color,
    hollow,
    x: kept.map((i) => x[i]!),
    y: kept.map((i) => y[i]!),
    curve: curve && kept.map((i) => curve[i] ?? NaN),
    labels: !hollow,
  };
}

/** Marks on the page's x axis. */
export function placeMarks(marks: Marks | null, origin: bigint): PlacedMark[] {
  if (!marks) return [];
  const shift = Number(BigInt(marks.base) - origin);
  return marks.marks.map(({ start, end, ...mark }) => ({ ...mark, x0: start + shift, x1: end + shift }));
}
