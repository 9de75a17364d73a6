import type { ComponentChildren } from "preact";

import { integer } from "../format/numbers";
import type { Page } from "../state/page";
import { binName, type Binned } from "./charts-common";
import { HeadRow } from "./parts";

const CAP = 200;

export interface TableProps {
  page: Page;
  caption: string;
  answer: Binned;
  head: string[];
  /** Makes the cells of a bin; only those that are shown are asked for. */
  cells: (bin: number) => ComponentChildren[];
}

/** The numbers of a chart as a table, a row for each bin, capped, with a link to every step. */
export function DataTable({ page, caption, answer, head, cells }: TableProps) {
  const numRows = answer.axis.start.length;
  const shown = Math.min(numRows, CAP);
  const csv = page.downloadUrl("samples", { format: "csv" });
  return (
    <div class="table-scroll" tabIndex={0}>
      <table>
        <caption>
          {caption}.{" "}
          {shown < numRows
            ? `The first ${shown} of ${integer(numRows)} rows; zoom in to see others.`
            : `${integer(numRows)} rows.`}{" "}
          {csv && (
            <a href={csv} download>
              All steps as CSV
            </a>
          )}
        </caption>
        <thead>
          <HeadRow texts={["Steps", ...head]} />
        </thead>
        <tbody>
          {Array.from({ length: shown }, (_, i) => (
            <tr key={i}>
              <th scope="row">{binName(answer, i)}</th>
              {cells(i).map((cell, k) => (
                <td key={k}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
