/** Colours of charts come from CSS variables, so that a theme is one attribute on the root element. */

export const RUN_COLORS = Array.from({ length: 8 }, (_, i) => `--run-${i + 1}`);
export const STAGE_COLORS = Array.from({ length: 10 }, (_, i) => `--stage-${i + 1}`);

/** How a stage is drawn. */
export interface StageLook {
  color: string;
  hatched: boolean;
}

export const UNLABELLED: StageLook = { color: "--unlabelled", hatched: true };

/** Value of a CSS variable, as text that a canvas understands. */
export function resolve(variable: string, opacity = 1): string {
  const value = getComputedStyle(document.documentElement).getPropertyValue(variable).trim() || "#888888";
  return opacity >= 1 ? value : withAlpha(value, opacity);
}

/** "#rrggbb" with an alpha channel. */
export function withAlpha(hex: string, opacity: number): string {
  const alpha = Math.round(Math.min(1, Math.max(0, opacity)) * 255);
  return `${hex}${alpha.toString(16).padStart(2, "0")}`;
}

/** A colour and whether it is hatched: the eleventh stage gets the first colour again, with a pattern. */
export function stageColor(index: number): StageLook {
  return { color: STAGE_COLORS[index % STAGE_COLORS.length]!, hatched: index >= STAGE_COLORS.length };
}

const patterns = new Map<string, CanvasPattern | null>();

/** Diagonal hatching; `gap` and `slope` make kinds tell apart without colour. */
export function hatch(
  context: CanvasRenderingContext2D,
  color: string,
  background: string | null,
  gap = 6,
  slope: 1 | -1 = 1,
): CanvasPattern | string {
  const key = [color, background, gap, slope].join();
  if (!patterns.has(key)) patterns.set(key, drawPattern(context, color, background, gap, slope));
  return patterns.get(key) ?? color;
}

function drawPattern(
  context: CanvasRenderingContext2D,
  color: string,
  background: string | null,
  gap: number,
  slope: 1 | -1,
): CanvasPattern | null {
  const size = gap * Math.max(1, Math.round(devicePixelRatio));
  const tile = document.createElement("canvas");
  tile.width = tile.height = size;
  const pen = tile.getContext("2d");
  if (!pen) return null;
  if (background) {
    pen.fillStyle = background;
    pen.fillRect(0, 0, size, size);
  }
  pen.strokeStyle = color;
  pen.lineWidth = size / 6;
  for (const shift of [-size, 0, size]) {
    pen.beginPath();
    pen.moveTo(shift, slope > 0 ? size : 0);
    pen.lineTo(shift + size, slope > 0 ? 0 : size);
    pen.stroke();
  }
  return context.createPattern(tile, "repeat");
}
