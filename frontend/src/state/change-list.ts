import type { Marker, Markers } from "../api/analysis";
import type { Answers, Shown } from "./catalog";

/** The markers of all shown runs as one list. Pure. */

export interface ChangeRow {
  key: string;
  marker: Marker;
  shown: Shown;
  /** Which of the analysed runs it belongs to. */
  index: number;
}

export const ORDERS = ["step", "size", "kind", "run"] as const;
export type Order = (typeof ORDERS)[number];

export function changeRows({ shown, data }: Answers<Markers>): ChangeRow[] {
  return data.flatMap((answer, index) =>
    answer.markers.map((marker) => ({ key: `${index} ${marker.id}`, marker, shown: shown[index]!, index })),
  );
}

const compare = <T>(a: T, b: T): number => (a < b ? -1 : a > b ? 1 : 0);
const COMPARE: Record<Order, (a: ChangeRow, b: ChangeRow) => number> = {
  step: (a, b) => compare(BigInt(a.marker.step), BigInt(b.marker.step)),
  size: (a, b) => compare(Math.abs(a.marker.change ?? 0), Math.abs(b.marker.change ?? 0)),
  kind: (a, b) => compare(a.marker.kind, b.marker.kind),
  run: (a, b) => compare(a.index, b.index),
};

/** Sorted by `order`; what is equal there by run, then by step. */
export function sortChanges(rows: readonly ChangeRow[], order: Order, descending: boolean): ChangeRow[] {
  const sign = descending ? -1 : 1;
  return rows.toSorted((a, b) => sign * COMPARE[order](a, b) || COMPARE.run(a, b) || COMPARE.step(a, b));
}
