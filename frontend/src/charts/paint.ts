import type uPlot from "uplot";

import type { MarkKind } from "../api/types";
import { hatch, resolve, withAlpha } from "./colors";
import { yText } from "./ticks";
import type { ChartModel, Dots, PlacedChange, PlacedMark } from "./model";

/** What uPlot does not draw: shaded ranges, vertical markers, dots with positions of their own, clipped values. */

const RANGES: Partial<Record<MarkKind, { color: string; gap: number; slope: 1 | -1 }>> = {
  warmup: { color: "--mark-warmup", gap: 8, slope: 1 },
  profiled: { color: "--mark-profiled", gap: 6, slope: -1 },
  excluded: { color: "--mark-excluded", gap: 10, slope: 1 },
  gap: { color: "--mark-gap", gap: 5, slope: -1 },
};
const POINTS: Partial<Record<MarkKind, string>> = {
  restart: "--mark-restart",
  clock_jump: "--mark-clock",
  interrupted: "--mark-interrupted",
};
export const MARK_NAMES: Record<MarkKind, string> = {
  restart: "restart",
  warmup: "warm-up",
  profiled: "profiled",
  excluded: "excluded",
  gap: "missing rows",
  clock_jump: "clock jump",
  interrupted: "interrupted",
};
export const MARK_COLORS: Record<MarkKind, string> = Object.fromEntries(
  Object.keys(MARK_NAMES).map((kind) => [kind, RANGES[kind as MarkKind]?.color ?? POINTS[kind as MarkKind]!]),
) as Record<MarkKind, string>;
export const isRange = (kind: MarkKind): boolean => kind in RANGES;

/** Ranges lie behind the data. */
export function paintRanges(u: uPlot, marks: readonly PlacedMark[]): void {
  const { ctx, bbox } = u;
  ctx.save();
  clip(u);
  for (const mark of marks) {
    const style = RANGES[mark.kind];
    if (!style) continue;
    const x0 = u.valToPos(mark.x0, "x", true);
    const x1 = Math.max(u.valToPos(mark.x1, "x", true), x0 + 2 * devicePixelRatio);
    if (x1 < bbox.left || x0 > bbox.left + bbox.width) continue;
    const color = resolve(style.color);
    ctx.fillStyle = hatch(ctx, withAlpha(color, 0.34), withAlpha(color, 0.1), style.gap, style.slope);
    ctx.fillRect(x0, bbox.top, x1 - x0, bbox.height);
  }
  ctx.restore();
}

/** Changes: a line where each begins, and for those that end the stretch up to there. */
export function paintChanges(u: uPlot, changes: readonly PlacedChange[], faint: boolean): void {
  const { ctx, bbox } = u;
  const ratio = devicePixelRatio;
  ctx.save();
  clip(u);
  for (const { x0, x1, color, dashed } of changes) {
    const from = u.valToPos(x0, "x", true);
    const to = x1 === null ? null : u.valToPos(x1, "x", true);
    ctx.strokeStyle = resolve(color, faint ? 0.4 : 1);
    ctx.lineWidth = (faint ? 1 : 2) * ratio;
    ctx.setLineDash(dashed ? [5 * ratio, 4 * ratio] : []);
    ctx.beginPath();
    for (const at of to === null ? [from] : [from, to]) {
      ctx.moveTo(at, bbox.top);
      ctx.lineTo(at, bbox.top + bbox.height);
    }
    ctx.stroke();
    if (to === null) continue;
    ctx.fillStyle = resolve(color, faint ? 0.05 : 0.1);
    ctx.fillRect(from, bbox.top, to - from, bbox.height);
  }
  ctx.restore();
}

/** The zone around 0 that is too small to matter, and the line of no change. */
export function paintZone(u: uPlot, zone: number): void {
  const { ctx, bbox } = u;
  const [top, middle, bottom] = [zone, 0, -zone].map((y) => u.valToPos(y, "y", true));
  ctx.save();
  clip(u);
  ctx.fillStyle = resolve("--text-2", 0.13);
  ctx.fillRect(bbox.left, top!, bbox.width, bottom! - top!);
  ctx.fillStyle = resolve("--text-2");
  ctx.fillRect(bbox.left, middle!, bbox.width, devicePixelRatio);
  ctx.restore();
}

/** Room above a chart for the names of its marks. */
export const NAMES_HEIGHT = 16;

/** Markers lie above the data, their names above the chart; a name that would touch its neighbour is left out. */
export function paintMarkers(u: uPlot, marks: readonly PlacedMark[], withNames: boolean): void {
  const { ctx, bbox } = u;
  const ratio = devicePixelRatio;
  ctx.save();
  ctx.font = `${10.5 * ratio}px system-ui, sans-serif`;
  ctx.textAlign = "left";
  ctx.textBaseline = "top";
  let free = -Infinity;
  for (const mark of marks.toSorted((a, b) => a.x0 - b.x0)) {
    const at = u.valToPos(mark.x0, "x", true);
    if (at < bbox.left - 1 || at > bbox.left + bbox.width) {
      if (!(mark.x1 > mark.x0 && at < bbox.left && u.valToPos(mark.x1, "x", true) > bbox.left)) continue;
    }
    const color = resolve(MARK_COLORS[mark.kind]);
    if (POINTS[mark.kind]) {
      ctx.strokeStyle = color;
      ctx.lineWidth = 1.5 * ratio;
      ctx.setLineDash(mark.kind === "restart" ? [] : [4 * ratio, 3 * ratio]);
      ctx.beginPath();
      ctx.moveTo(at, bbox.top);
      ctx.lineTo(at, bbox.top + bbox.height);
      ctx.stroke();
    }
    if (!withNames) continue;
    const text = MARK_NAMES[mark.kind];
    const width = ctx.measureText(text).width;
    const left = Math.min(Math.max(at, bbox.left), bbox.left + bbox.width - width);
    if (left < free) continue;
    ctx.fillStyle = color;
    ctx.fillText(text, left, bbox.top - (NAMES_HEIGHT - 2) * ratio);
    free = left + width + 10 * ratio;
  }
  ctx.restore();
}

/** Dots, and triangles with values for those above the limit; of relative changes, also for those below. */
export function paintDots(u: uPlot, model: ChartModel): void {
  const { ctx, bbox } = u;
  const ratio = devicePixelRatio;
  const top = model.limits?.max ?? Infinity;
  const bottom = model.unit === "change" ? (model.limits?.min ?? -Infinity) : -Infinity;
  ctx.save();
  clip(u, 8 * ratio);
  for (const dots of model.dots) {
    const color = resolve(dots.color);
    ctx.strokeStyle = ctx.fillStyle = color;
    ctx.lineWidth = 1.2 * ratio;
    const over: [number, number][] = [];
    const under: [number, number][] = [];
    const inSight = dots.x.flatMap((x, i): [number, number, number][] => {
      const px = u.valToPos(x, "x", true);
      return px < bbox.left - 4 || px > bbox.left + bbox.width + 4 ? [] : [[px, dots.y[i]!, dots.curve?.[i] ?? NaN]];
    });
    const dense = inSight.length * 7 * ratio > bbox.width;
    for (const [px, y, curve] of inSight) {
      const py = u.valToPos(y, "y", true);
      if (y > top) over.push([px, y]);
      else if (y < bottom) under.push([px, y]);
      else if (!(dense && u.valToPos(curve, "y", true) - py < 5 * ratio)) dot(ctx, px, py, dots, ratio);
    }
    triangles(u, over, dots, model, color, 1);
    triangles(u, under, dots, model, color, -1);
  }
  ctx.restore();
}

function dot(ctx: CanvasRenderingContext2D, x: number, y: number, dots: Dots, ratio: number): void {
  ctx.beginPath();
  ctx.arc(x, y, (dots.hollow ? 2.6 : 1.7) * ratio, 0, 2 * Math.PI);
  if (dots.hollow) ctx.stroke();
  else ctx.fill();
}

/** `up` is 1 at the upper edge, -1 at the lower one. */
function triangles(u: uPlot, over: [number, number][], dots: Dots, model: ChartModel, color: string, up: 1 | -1): void {
  const { ctx, bbox } = u;
  const ratio = devicePixelRatio;
  const size = 4.5 * ratio;
  const y = up > 0 ? bbox.top + 2 * ratio : bbox.top + bbox.height - 2 * ratio;
  // Where very many lie above the axis, strokes stand for all but the largest.
  const crowded = over.length > 40;
  const largest = over.toSorted((a, b) => up * (b[1] - a[1]));
  for (const [x] of crowded ? largest.slice(8) : []) ctx.fillRect(x - ratio / 2, y, ratio, up * size);
  for (const [x] of crowded ? largest.slice(0, 8) : over) {
    ctx.beginPath();
    ctx.moveTo(x, y);
    ctx.lineTo(x + size, y + up * size * 1.5);
    ctx.lineTo(x - size, y + up * size * 1.5);
    ctx.closePath();
    if (dots.hollow) ctx.stroke();
    else ctx.fill();
  }
  if (!dots.labels) return;
  ctx.font = `600 ${10.5 * ratio}px system-ui, sans-serif`;
  ctx.textAlign = "left";
  ctx.textBaseline = up > 0 ? "top" : "bottom";
  const taken: [number, number][] = [];
  for (const [x, value] of largest.slice(0, 40)) {
    const text = yText(model.unit, value);
    const width = ctx.measureText(text).width;
    const left =
      x + size + 2 * ratio + width > bbox.left + bbox.width ? x - size - 2 * ratio - width : x + size + 2 * ratio;
    if (taken.some(([a, b]) => left < b + 6 * ratio && left + width > a - 6 * ratio)) continue;
    taken.push([left, left + width]);
    halo(ctx, text, left, y, color, ratio);
    if (taken.length >= 8) break;
  }
}

function halo(ctx: CanvasRenderingContext2D, text: string, x: number, y: number, color: string, ratio: number): void {
  ctx.save();
  ctx.setLineDash([]);
  ctx.strokeStyle = resolve("--surface");
  ctx.lineWidth = 3 * ratio;
  ctx.lineJoin = "round";
  ctx.strokeText(text, x, y);
  ctx.fillStyle = color;
  ctx.fillText(text, x, y);
  ctx.restore();
}

function clip({ ctx, bbox }: uPlot, slack = 0): void {
  ctx.beginPath();
  ctx.rect(bbox.left - slack, bbox.top - slack, bbox.width + 2 * slack, bbox.height + 2 * slack);
  ctx.clip();
}
