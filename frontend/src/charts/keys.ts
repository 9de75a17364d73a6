/** What a key does to the cursor, the selection and the zoom of a chart. Pure, so that it can be tested. */

export interface KeyState {
  stops: readonly number[];
  domain: readonly [number, number];
  cursor: number | null;
  selection: [number, number] | null;
}

export interface KeyAction {
  cursor?: number | null;
  selection?: [number, number] | null;
  zoom?: [number, number] | "reset";
}

type Key = Pick<KeyboardEvent, "key" | "shiftKey" | "ctrlKey" | "metaKey" | "altKey">;

export function keyAction(event: Key, state: KeyState): KeyAction | null {
  if (event.ctrlKey || event.metaKey || event.altKey) return null;
  const { stops, domain, cursor, selection } = state;
  const visible = stops.filter((x) => x >= domain[0] && x <= domain[1]);
  switch (event.key) {
    case "ArrowLeft":
    case "ArrowRight":
    case "Home":
    case "End":
      return visible.length ? move(event, visible, cursor, selection) : null;
    case "PageUp":
    case "PageDown":
      return visible.length
        ? {
            cursor: visible[step(visible, cursor, (event.key === "PageUp" ? -1 : 1) * Math.ceil(visible.length / 10))]!,
          }
        : null;
    case "Enter":
      return selection ? { zoom: [Math.min(...selection), Math.max(...selection)], selection: null } : null;
    case "+":
    case "=":
      return { zoom: scaleAround(domain, cursor, 0.5) };
    case "-":
    case "_":
      return { zoom: scaleAround(domain, cursor, 2) };
    case "Escape":
      return selection ? { selection: null } : { zoom: "reset", cursor: null };
    default:
      return null;
  }
}

function move(event: Key, visible: number[], cursor: number | null, selection: [number, number] | null): KeyAction {
  const target =
    event.key === "Home"
      ? 0
      : event.key === "End"
        ? visible.length - 1
        : step(visible, cursor, event.key === "ArrowLeft" ? -1 : 1);
  const x = visible[target]!;
  if (!event.shiftKey) return { cursor: x, selection: null };
  return { cursor: x, selection: [selection?.[0] ?? cursor ?? x, x] };
}

function step(visible: number[], cursor: number | null, by: number): number {
  if (cursor === null) return by < 0 ? visible.length - 1 : 0;
  let nearest = 0;
  visible.forEach((x, i) => {
    if (Math.abs(x - cursor) < Math.abs(visible[nearest]! - cursor)) nearest = i;
  });
  return Math.min(visible.length - 1, Math.max(0, nearest + by));
}

/** The domain made `factor` times as wide around the cursor (or its middle). */
export function scaleAround(
  domain: readonly [number, number],
  cursor: number | null,
  factor: number,
): [number, number] {
  const centre = cursor !== null && cursor >= domain[0] && cursor <= domain[1] ? cursor : (domain[0] + domain[1]) / 2;
  return [centre - (centre - domain[0]) * factor, centre + (domain[1] - centre) * factor];
}
