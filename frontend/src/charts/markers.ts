import type { Marker, Markers } from "../api/analysis";
import { signed } from "../format/changes";
import type { PlacedChange } from "./model";

/** Markers of changes: their looks, their places, and labels that do not cover each other. Pure. */

/** Room beside the plot area: the y axis, and space for the last tick. */
export const PLOT_LEFT = 70;
export const PLOT_RIGHT = 30;

export interface MarkerLook {
  /** Told apart by shape, not by colour alone. */
  glyph: string;
  color: string;
  name: string;
}

/** ▲ slower, ▼ faster, ◆ planned, ~ provisional. */
export function markerLook({ planned, provisional, change }: Marker): MarkerLook {
  if (provisional)
    return { glyph: "~", color: "--change-provisional", name: "noticed while training, not confirmed yet" };
  if (planned !== null) return { glyph: "◆", color: "--change-planned", name: "planned change" };
  return (change ?? 0) < 0
    ? { glyph: "▼", color: "--change-faster", name: "faster from here" }
    : { glyph: "▲", color: "--change-slower", name: "slower from here" };
}

const SUFFIX: Partial<Record<Marker["kind"], string>> = {
  transient: "for a while",
  ramp: "ramp",
  drift: "drift",
  variance: "spread",
};
const WITH_END: Marker["kind"][] = ["transient", "ramp", "drift", "tail", "variance"];

/** "+12.4 %", "+40.1 % for a while", "+8.0 % p95". */
export function markerText({ kind, change, measure }: Marker): string {
  const suffix = [measure === "typical" ? "" : measure, SUFFIX[kind] ?? ""].filter(Boolean).join(", ");
  return `${signed(change)} ${suffix}`.trim();
}

export interface PlacedMarker extends PlacedChange, MarkerLook {
  marker: Marker;
}

/** Markers on the page's x axis. */
export function placeMarkers(answer: Markers, origin: bigint): PlacedMarker[] {
  const shift = Number(BigInt(answer.base) - origin);
  return answer.markers.map((marker) => ({
    ...markerLook(marker),
    marker,
    x0: marker.at + shift,
    x1: marker.end_at !== null && WITH_END.includes(marker.kind) ? marker.end_at + shift : null,
    dashed: marker.provisional,
  }));
}

/** Positions, relative to the answer's base, that show a change with enough of what was before and after it. */
export function around(marker: Marker, answer: Markers): [number, number] {
  const { at, before, after } = marker;
  const end = Math.max(at, marker.end_at !== null && WITH_END.includes(marker.kind) ? marker.end_at : at);
  const ends = answer.markers.flatMap((other) => other.after?.end_at ?? []);
  const last = ends.length ? Math.max(...ends, end) : null;
  const span = before && after ? after.end_at - before.start_at : (last ?? 2 * at);
  const steps = marker.num_before + marker.num_after || answer.num_steps_analysed || 1;
  const room = Math.max((end - at) / 2, Math.min(span, Math.max(span * 0.06, (span * 200) / steps)), 1);
  const high = Math.ceil(end + room);
  return [Math.max(0, Math.floor(at - room)), last === null ? high : Math.min(high, Math.max(last, end + 1))];
}

export interface Label {
  /** Where the stem stands, in pixels. */
  x: number;
  /** Widths with and without its text. */
  width: number;
  narrow: number;
}

export interface PlacedLabel {
  left: number;
  /** 0 is the lowest row. */
  row: number;
  short: boolean;
}

const GAP = 4;

/**
 * Places labels beside their stems in at most `rows` rows, the last one lowest, so that neither labels nor stems cross.
 * One that finds no row loses its text; one that finds no room at all is null. `labels` are sorted by x.
 */
export function layoutLabels(labels: readonly Label[], width: number, rows = 3): (PlacedLabel | null)[] {
  const result: (PlacedLabel | null)[] = labels.map(() => null);
  const taken: { from: number; to: number; row: number }[] = [];
  for (let i = labels.length - 1; i >= 0; i--) {
    const { x, width: full, narrow } = labels[i]!;
    for (const [size, short] of [
      [full, false],
      [narrow, true],
    ] as const) {
      const left = Math.max(0, Math.min(x, width - size));
      const to = left + size + GAP;
      const below = taken.filter((other) => other.from < to && other.to > left);
      const row = below.length ? Math.max(...below.map((other) => other.row)) + 1 : 0;
      if (row >= rows) continue;
      result[i] = { left, row, short };
      taken.push({ from: left, to, row });
      break;
    }
  }
  return result;
}
