import { core, type Group } from "../format/names";
import { visible } from "../format/text";

/** Keys of the run list, its rows, and which of them are in sight. Pure. */

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

/** A run, or the heading of a group of them. */
export interface PickerRow {
  text: string;
  /** Index among the names; null of a heading. */
  name: number | null;
  /** Place among the runs of the list; of a heading, that of its first run. */
  index: number;
  top: number;
  height: number;
  /** The heading that the run stands under. */
  heading: PickerRow | null;
}

/** Rows for the names that `isFound`; a name that needs more than one line of `width` pixels gets a higher row. */
export function pickerRows(
  names: readonly string[],
  groups: readonly Group[],
  isFound: (name: number) => boolean,
  width: number,
): PickerRow[] {
  const rows: PickerRow[] = [];
  let top = 0;
  let index = 0;
  const add = (text: string, name: number | null, heading: PickerRow | null) => {
    const lines = Math.max(1, Math.ceil(textWidth(text) / width));
    const height = name === null ? 12 + 16 * lines : 14 + 18 * lines;
    const row = { text, name, index, top, height, heading };
    rows.push(row);
    top += height;
    if (name !== null) index += 1;
    return row;
  };
  for (const { heading, shared, members } of groups) {
    const found = members.filter(isFound);
    const head = heading && found.length ? add(visible(heading), null, null) : null;
    for (const name of found) add(visible(core(names[name]!, shared)), name, head);
  }
  return rows;
}

/** Generous estimate in pixels, at the size of the list. */
function textWidth(text: string): number {
  let width = 0;
  for (const character of text) width += character > "\u2e7f" ? 14 : /[A-Z@%mwMW…]/.test(character) ? 10 : 7.2;
  return width;
}

/** The heading of the topmost row, where it is scrolled out of sight. */
export function pinned(rows: readonly PickerRow[], scrollTop: number): PickerRow | null {
  const heading = rows.find((row) => row.top + row.height > scrollTop)?.heading ?? null;
  return heading && heading.top < scrollTop ? heading : null;
}

/** The rows in sight, and a few more. */
export function inSight(rows: readonly PickerRow[], scrollTop: number, height: number): PickerRow[] {
  const spare = 200;
  return rows.filter((row) => row.top + row.height > scrollTop - spare && row.top < scrollTop + height + spare);
}
