import type { AxisName, Mark } from "../api/types";
import type { Limits } from "./limits";

/** What a chart shows: plain data in, so that it can be tested with literals and the library can be replaced. */

export interface Line {
  key: string;
  /** Name of a CSS variable. */
  color: string;
  width: number;
  /** 0 to 1; 0 draws nothing, for curves that only bound a band. */
  opacity: number;
  dash?: number[];
  values: (number | null | undefined)[];
}

export interface Band {
  /** Indices of lines; `lower` null fills down to the axis. */
  upper: number;
  lower: number | null;
  color: string;
  opacity: number;
  hatched?: boolean;
}

/** Marks with positions of their own. Those above the y limit are drawn as triangles at the edge. */
export interface Dots {
  color: string;
  hollow: boolean;
  x: number[];
  y: number[];
  /** Curve that the dots belong to: in a dense chart, dots that touch it are not drawn, the curve shows them. */
  curve: number[] | null;
  /** Texts at the triangles of the largest ones. */
  labels: boolean;
}

export interface ChartModel {
  axis: AxisName | "percentile";
  origin: bigint;
  x: number[];
  lines: Line[];
  bands: Band[];
  dots: Dots[];
  marks: PlacedMark[];
  /** Changes of step time, and whether they are only hinted at. */
  changes?: PlacedChange[];
  faintChanges?: boolean;
  /** Half-height of a shaded zone around 0. */
  zone?: number;
  limits: Limits | null;
  log: boolean;
  /** What the y axis measures; decides ticks and texts. */
  unit: YUnit;
}

/** Milliseconds, bytes, a count per second, a share in [0, 1], a relative change. */
export type YUnit = "ms" | "bytes" | "rate" | "share" | "change";

/** A mark on the page's x axis. */
export interface PlacedMark extends Omit<Mark, "start" | "end"> {
  x0: number;
  x1: number;
}

/** A change of step time on the page's x axis; `x1` is null where it has no end of its own. */
export interface PlacedChange {
  x0: number;
  x1: number | null;
  color: string;
  dashed: boolean;
}

/** What must stay equal for a chart to be updated in place instead of being built anew. */
export function structure(model: ChartModel): string {
  const lines = model.lines.map((l) => [l.key, l.color, l.width, l.opacity, l.dash]);
  const bands = model.bands.map((b) => [b.upper, b.lower, b.color, b.opacity, b.hatched]);
  return JSON.stringify([model.axis, String(model.origin), model.unit, model.log, lines, bands]);
}
