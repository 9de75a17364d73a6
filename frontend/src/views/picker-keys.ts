/** Keys of the run list, and which rows are in sight. Pure. */

export interface PickerAction {
  move?: number;
  choose?: boolean;
  toggle?: boolean;
  clear?: boolean;
  /** A character that belongs into the search field. */
  type?: string;
}

type Key = Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey">;

/** In the search field, a space and letters are text; in the list, a space overlays and letters start a search. */
export function pickerKey(event: Key, active: number, total: number, inSearch: boolean): PickerAction | null {
  if (event.ctrlKey || event.metaKey || event.altKey) return null;
  const to = (index: number): PickerAction | null => (total ? { move: Math.min(total - 1, Math.max(0, index)) } : null);
  switch (event.key) {
    case "ArrowDown":
      return to(active + 1);
    case "ArrowUp":
      return to(active - 1);
    case "PageDown":
      return to(active + 10);
    case "PageUp":
      return to(active - 10);
    case "Home":
      return inSearch ? null : to(0);
    case "End":
      return inSearch ? null : to(total - 1);
    case "Enter":
      return { choose: true };
    case " ":
      return inSearch ? null : { toggle: true };
    case "Escape":
      return { clear: true };
    default:
      return !inSearch && event.key.length === 1 ? { type: event.key } : null;
  }
}

/** First and one past the last row to draw, a few more than are in sight. */
export function windowOf(scrollTop: number, height: number, rowHeight: number, total: number): [number, number] {
  const spare = 6;
  const from = Math.max(0, Math.min(total, Math.floor(scrollTop / rowHeight)) - spare);
  return [from, Math.min(total, Math.ceil((scrollTop + height) / rowHeight) + spare)];
}
