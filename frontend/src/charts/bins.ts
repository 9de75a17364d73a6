import type { BinAxis, Numbers, Sample } from "../api/types";

/** Bins of an answer placed on the page's x axis: numbers relative to an origin that all charts share. */
export interface Bins {
  start: number[];
  end: number[];
  /** Where the bin is drawn: its row where it holds exactly one, else its middle. */
  x: number[];
  /** Each bin holds exactly one row. */
  raw: boolean;
}

/** A round position below all data; 0 as long as numbers can hold every position exactly. */
export function chooseOrigin(start: bigint, end: bigint): bigint {
  const exact = BigInt(Number.MAX_SAFE_INTEGER);
  if (start >= -exact && end <= exact) return 0n;
  const span = end > start ? end - start : 1n;
  const round = 10n ** BigInt(span.toString().length + 1);
  return (start / round) * round;
}

export function placeBins(axis: BinAxis, sample: Sample, origin: bigint): Bins {
  const shift = Number(BigInt(axis.base) - origin);
  const raw = sample.num_in_range === axis.start.length;
  const start = axis.start.map((value) => value + shift);
  const end = axis.end.map((value) => value + shift);
  return { start, end, raw, x: raw ? start : start.map((value, i) => (value + end[i]!) / 2) };
}

/** Index of the bin that holds `x`, or of the nearest one within reach; -1 where there are none. */
export function binAt({ start, end, x: centres }: Bins, x: number): number {
  if (start.length === 0 || x < start[0]! - width(start, end, 0) || x > end.at(-1)!) return -1;
  let low = 0;
  let high = start.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (start[middle]! <= x) low = middle;
    else high = middle - 1;
  }
  const next = low + 1;
  // Single rows stand at the start of their bin, so the pointer may be nearer to the next one.
  if (next < start.length && Math.abs(centres[next]! - x) < Math.abs(centres[low]! - x) && x >= end[low]!) return next;
  return low;
}

const width = (start: number[], end: number[], i: number) => end[i]! - start[i]!;

/**
 * Empty bins between bins that have a value are bridged where at most `reach` of them follow each other (rows that
 * are simply sparser than bins); a longer row of them stays a gap in the line.
 */
export function bridge(values: Numbers, reach = 2): (number | null | undefined)[] {
  const result: (number | null | undefined)[] = [...values];
  for (let i = 0; i < values.length; i++) {
    if (values[i] !== null) continue;
    let end = i;
    while (end < values.length && values[end] === null) end += 1;
    if (i > 0 && end < values.length && end - i <= reach) result.fill(undefined, i, end);
    i = end;
  }
  return result;
}

export interface Table {
  x: number[];
  columns: (number | null | undefined)[][];
}

/**
 * Brings several tables onto one ascending x. `undefined` marks positions that a table does not have: the line passes
 * through them, while null is a gap.
 */
export function align(tables: readonly Table[]): Table {
  if (tables.length === 1) return tables[0]!;
  const x = [...new Set(tables.flatMap((table) => table.x))].sort((a, b) => a - b);
  const place = new Map(x.map((value, i) => [value, i]));
  const columns = tables.flatMap((table) => {
    const at = table.x.map((value) => place.get(value)!);
    return table.columns.map((column) => {
      const aligned: (number | null | undefined)[] = new Array(x.length).fill(undefined);
      column.forEach((value, i) => (aligned[at[i]!] = value));
      return aligned;
    });
  });
  return { x, columns };
}
