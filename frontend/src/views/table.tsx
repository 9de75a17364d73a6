import type { ComponentChildren } from "preact";

import { integer } from "../format/numbers";

const CAP = 200;

export interface TableProps {
  caption: string;
  head: string[];
  /** Makes the cells of a row; only those that are shown are asked for. */
  row: (index: number) => ComponentChildren[];
  numRows: number;
  /** Where everything can be had. */
  csv: string | null;
}

/** The numbers of a chart as a table, capped, with a link to all of them. */
export function DataTable({ caption, head, row, numRows, csv }: TableProps) {
  const shown = Math.min(numRows, CAP);
  return (
    <div class="table-scroll" tabIndex={0}>
      <table>
        <caption>
          {caption}. {shown < numRows ? `The first ${shown} of ${integer(numRows)} rows; zoom in to see others.` : `${integer(numRows)} rows.`}{" "}
          {csv && (
            <a href={csv} download>
              All steps as CSV
            </a>
          )}
        </caption>
        <thead>
          <tr>{head.map((text) => <th key={text} scope="col">{text}</th>)}</tr>
        </thead>
        <tbody>
          {Array.from({ length: shown }, (_, i) => {
            const [first, ...cells] = row(i);
            return (
              <tr key={i}>
                <th scope="row">{first}</th>
                {cells.map((cell, k) => <td key={k}>{cell}</td>)}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
