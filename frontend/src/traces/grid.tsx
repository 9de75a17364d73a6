import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";

import { matches } from "../format/names";
import { integer } from "../format/numbers";

/** Tables that can be sorted and searched. */

export interface Column<T> {
  key: string;
  title: string;
  /** What the heading means, where that needs saying. */
  hint?: string;
  /** What it is sorted by; null is last in either direction. Columns without it are not sorted. */
  value?: (row: T) => number | bigint | string | null;
  cell: (row: T) => ComponentChildren;
  /** Of text: left-aligned and sorted from a to z first. */
  text?: boolean;
}

export interface Order {
  key: string;
  descending: boolean;
}

/** Sorted by one column; what is equal there keeps its order. */
export function sortRows<T>(rows: readonly T[], columns: readonly Column<T>[], { key, descending }: Order): T[] {
  const value = columns.find((column) => column.key === key)?.value;
  if (!value) return [...rows];
  return rows
    .map((row) => ({ row, by: value(row) }))
    .toSorted((a, b) => {
      if (a.by === null || b.by === null) return Number(a.by === null) - Number(b.by === null);
      const sign = a.by < b.by ? -1 : a.by > b.by ? 1 : 0;
      return descending ? -sign : sign;
    })
    .map(({ row }) => row);
}

interface GridProps<T> {
  /** Names the table for those who cannot see it. */
  caption: string;
  rows: readonly T[];
  columns: readonly Column<T>[];
  rowKey: (row: T) => string;
  order: Order;
  /** Rows that are shown at first, and more each time that is asked for. */
  cap?: number;
  /** Text that a search looks at; without it there is no search. */
  text?: (row: T) => string;
  searchLabel?: string;
  /** Rows before the server summed the least, where that is more. */
  total?: number;
  tools?: ComponentChildren;
  /** Long text in cells goes on in the next line. */
  wrap?: boolean;
  /** Class of a row. */
  look?: (row: T) => string;
}

export function Grid<T>({ cap = 50, tools, text, ...props }: GridProps<T>) {
  const { caption, rows, columns, rowKey, total = rows.length, look } = props;
  const order = useSignal(props.order);
  const query = useSignal("");
  const shown = useSignal(cap);
  const found = text && query.value.trim() ? rows.filter((row) => matches(text(row), query.value.trim())) : rows;
  const visibleRows = sortRows(found, columns, order.value).slice(0, shown.value);
  const hidden = found.length - visibleRows.length;
  const sortBy = ({ key, text: isText = false }: Column<T>) => {
    const { key: current, descending } = order.peek();
    order.value = { key, descending: key === current ? !descending : !isText };
  };
  return (
    <div class="grid">
      {(text || tools) && (
        <div class="grid-tools">
          {text && (
            <label class="field">
              {props.searchLabel ?? "Search"}
              <input
                type="search"
                value={query.value}
                onInput={({ currentTarget }) => (query.value = currentTarget.value)}
              />
            </label>
          )}
          {text && (
            <span class="note" role="status">
              {query.value.trim() ? `${integer(found.length)} of ${integer(total)}` : integer(total)}
            </span>
          )}
          {tools}
        </div>
      )}
      <div class="table-scroll flat">
        <table class={`sorted ${props.wrap ? "wrap" : ""}`}>
          <caption class="hidden">{caption}</caption>
          <thead>
            <tr>
              {columns.map((column) => {
                const by = column.key === order.value.key;
                return (
                  <th
                    key={column.key}
                    scope="col"
                    class={column.text ? "text" : ""}
                    title={column.hint}
                    {...(by ? { "aria-sort": order.value.descending ? "descending" : "ascending" } : {})}
                  >
                    {column.value ? (
                      <button type="button" class="sort" onClick={() => sortBy(column)}>
                        {column.title}
                        <span aria-hidden="true">
                          {by ? (order.value.descending ? "\u00a0↓" : "\u00a0↑") : "\u00a0↕"}
                        </span>
                      </button>
                    ) : (
                      column.title || <span class="hidden">Actions</span>
                    )}
                  </th>
                );
              })}
            </tr>
          </thead>
          <tbody>
            {visibleRows.map((row) => (
              <tr key={rowKey(row)} class={look?.(row) ?? ""}>
                {columns.map((column, i) =>
                  i === 0 ? (
                    <th key={column.key} scope="row" class={column.text ? "text" : ""}>
                      {column.cell(row)}
                    </th>
                  ) : (
                    <td key={column.key} class={column.text ? "text" : ""}>
                      {column.cell(row)}
                    </td>
                  ),
                )}
              </tr>
            ))}
            {visibleRows.length === 0 && (
              <tr>
                <td class="text" colSpan={columns.length}>
                  Nothing found.
                </td>
              </tr>
            )}
          </tbody>
        </table>
      </div>
      {hidden > 0 && (
        <button type="button" class="button more" onClick={() => (shown.value += 4 * cap)}>
          Show {integer(Math.min(hidden, 4 * cap))} more
          {hidden > 4 * cap && ` of ${integer(hidden)}`}
        </button>
      )}
    </div>
  );
}
