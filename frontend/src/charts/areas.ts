import type { Memory, Numbers, Stages, Throughput } from "../api/types";
import type { Answers } from "../state/catalog";
import type { StageMode } from "../state/view";
import { align, bridge, placeBins } from "./bins";
import { scale } from "./bands";
import { RUN_COLORS, stageColor, UNLABELLED } from "./colors";
import { fullLimits, robustLimits, type Limits } from "./limits";
import type { Band, ChartModel, Line, PlacedMark, YUnit } from "./model";

/** Mean time per step of each stage and of the unlabelled rest; `total` is the mean step time. */
export interface StageSeries {
  names: string[];
  means: Numbers[];
  unlabelled: Numbers;
  total: Numbers;
}

export function stageSeries(answer: Stages): StageSeries {
  return {
    names: answer.stages.map(({ stage }) => stage),
    means: answer.stages.map(({ mean }) => scale(mean, answer.scale)),
    unlabelled: scale(answer.unlabelled, answer.scale),
    total: scale(answer.step_time, answer.scale),
  };
}

/** Mean over all steps of what `means` gives for each bin of `numSteps` steps; null where no bin has a value. */
export function overall(means: Numbers, numSteps: readonly number[]): number | null {
  let sum = 0;
  let steps = 0;
  means.forEach((mean, i) => {
    if (mean === null) return;
    sum += mean * numSteps[i]!;
    steps += numSteps[i]!;
  });
  return steps ? sum / steps : null;
}

/** Sums of the first 1, 2, … of `layers`; a missing value of one layer counts as nothing where another has one. */
export function stack(layers: readonly Numbers[]): Numbers[] {
  const sums: Numbers[] = [];
  layers.forEach((layer, n) =>
    sums.push(
      layer.map((value, i) => {
        const below = n ? sums[n - 1]![i]! : null;
        return value === null && below === null ? null : (value ?? 0) + (below ?? 0);
      }),
    ),
  );
  return sums;
}

export function stagesModel(
  answer: Stages,
  mode: StageMode,
  marks: PlacedMark[],
  origin: bigint,
  full: boolean,
): ChartModel {
  const bins = placeBins(answer.axis, answer.sample, origin);
  const series = stageSeries(answer);
  const layers = [...series.means, series.unlabelled];
  const colors = [...series.names.map((_, i) => stageColor(i)), UNLABELLED];
  const shares =
    mode === "share" ? layers.map((layer) => layer.map((value, i) => divide(value, sum(layers, i)))) : layers;
  const curves = mode === "lines" ? shares : stack(shares);
  const lines: Line[] = curves.map((values, i) => ({
    key: String(i),
    color: colors[i]!.color,
    width: mode === "lines" ? 1.75 : 1,
    opacity: 1,
    values: bridge(values),
    ...(mode === "lines" && colors[i]!.hatched ? { dash: [5, 3] } : {}),
  }));
  const bands: Band[] =
    mode === "lines"
      ? []
      : curves.map((_, i) => ({
          upper: i,
          lower: i ? i - 1 : null,
          color: colors[i]!.color,
          opacity: 0.62,
          hatched: colors[i]!.hatched,
        }));
  return {
    axis: answer.axis.axis,
    origin,
    x: bins.x,
    lines,
    bands,
    dots: [],
    marks,
    log: false,
    limits: stageLimits(curves, mode, full),
    unit: mode === "share" ? "share" : "ms",
  };
}

function stageLimits(curves: Numbers[], mode: StageMode, full: boolean): Limits | null {
  if (mode === "share") return { min: 0, max: 1, clipped: false };
  if (full) return fullLimits(curves, true);
  const limits = robustLimits(mode === "lines" ? curves : curves.slice(-1), curves.flat(), curves[0] ?? []);
  return limits && { ...limits, min: 0 };
}

const divide = (value: number | null, by: number) => (value === null || by === 0 ? null : value / by);
const sum = (layers: readonly Numbers[], i: number) => layers.reduce((total, layer) => total + (layer[i] ?? 0), 0);

const DASHES: (number[] | undefined)[] = [undefined, [7, 3], [2, 3]];

/** Memory peaks: one line per column and run. With one run the columns have colours, with several the runs have. */
export function memoryModel(answers: Answers<Memory>, marks: PlacedMark[], origin: bigint): ChartModel {
  const curves = answers.data.flatMap((answer, n) =>
    answer.columns.map((column, c) => ({
      x: placeBins(answer.axis, answer.sample, origin).x,
      values: column.max,
      key: `${n}:${column.column}`,
      ...look(answers, n, c),
    })),
  );
  return linesModel(curves, answers.data[0]!.axis.axis, marks, origin, 64, "bytes");
}

export function throughputModel(
  answers: Answers<Throughput>,
  column: string,
  marks: PlacedMark[],
  origin: bigint,
): ChartModel {
  const curves = answers.data.flatMap((answer, n) =>
    answer.series
      .filter((series) => series.column === column)
      .map((series) => ({
        x: placeBins(answer.axis, answer.sample, origin).x,
        values: series.value,
        key: `${n}:${column}`,
        ...look(answers, n, 0),
      })),
  );
  return linesModel(curves, answers.data[0]!.axis.axis, marks, origin, 2, "rate");
}

/** Colour and dash of column `c` of run `n`. */
export function look(answers: Answers<unknown>, n: number, c: number): Pick<Line, "color" | "dash"> {
  const single = answers.data.length === 1;
  const color = RUN_COLORS[(answers.shown[n]!.color + (single ? c : 0)) % RUN_COLORS.length]!;
  const dash = single ? undefined : DASHES[c % DASHES.length];
  return dash ? { color, dash } : { color };
}

interface Curve extends Pick<Line, "color" | "dash" | "key"> {
  x: number[];
  values: Numbers;
}

function linesModel(
  curves: Curve[],
  axis: ChartModel["axis"],
  marks: PlacedMark[],
  origin: bigint,
  reach: number,
  unit: YUnit,
): ChartModel {
  const table = align(
    curves.length ? curves.map(({ x, values }) => ({ x, columns: [bridge(values, reach)] })) : [{ x: [], columns: [] }],
  );
  const lines = curves.map(({ key, color, dash }, i): Line => ({
    key,
    color,
    ...(dash ? { dash } : {}),
    width: 1.75,
    opacity: 1,
    values: table.columns[i]!,
  }));
  return {
    axis,
    origin,
    x: table.x,
    lines,
    bands: [],
    dots: [],
    marks,
    limits: fullLimits(
      curves.map((c) => c.values),
      false,
    ),
    log: false,
    unit,
  };
}
