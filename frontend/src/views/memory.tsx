import { useMemo } from "preact/hooks";

import { look, memoryModel } from "../charts/areas";
import { integer } from "../format/numbers";
import { columnLabel, list } from "../format/text";
import { bytes } from "../format/units";
import type { Page } from "../state/page";
import { pageMarks } from "./charts-common";
import { LinePanel } from "./line-panel";
import { Name } from "./parts";

/** Memory peaks. All steps count here, warm-up and profiled ones included: a peak is a peak. */
export function Memory({ page }: { page: Page }) {
  const { data } = page.memory.value;
  const origin = page.origin.value;
  const marks = pageMarks(page);
  const measured = data?.data.some((answer) => answer.columns.length > 0) ?? false;
  const model = useMemo(
    () => (data && measured ? memoryModel(data, marks, origin) : null),
    [data, page.marks.value.data, origin],
  );
  const summaries = page.summary.value.data?.data ?? [];
  const meanings = [
    ...new Set(
      data?.data.flatMap((answer) =>
        answer.columns.map((column) => `${columnLabel(column.column)}: ${column.meaning}`),
      ),
    ),
  ];
  const peaks = summaries[0]?.peaks.map((peak) => `${columnLabel(peak.column)} ${bytes(peak.value)}`) ?? [];
  return (
    <LinePanel
      page={page}
      id="memory"
      title="Memory"
      height={180}
      note="peaks, every step in view"
      loaded={page.memory.value}
      model={model}
      otherwise="No memory was measured."
      summary={`Memory peaks: ${list(peaks) || "not measured"}.`}
      when="highest in view"
      legend={(answer, n, at) =>
        answer.columns.map((column, c) => {
          const label = columnLabel(column.column);
          const highest = summaries[n]?.peaks.find((peak) => peak.column === column.column)?.value;
          return {
            key: `${n} ${column.column}`,
            color: look(data!, n, c).color,
            value: bytes(at >= 0 ? column.max[at] : highest),
            text:
              data!.data.length > 1 ? (
                <>
                  <Name text={data!.shown[n]!.label} />: {label}
                </>
              ) : (
                label
              ),
          };
        })
      }
      table={{
        head: (answer) =>
          answer.columns.flatMap(({ column }) => [
            `${columnLabel(column)}, highest`,
            `${columnLabel(column)}, times measured`,
          ]),
        cells: (answer, i) =>
          answer.columns.flatMap((column) => [bytes(column.max[i]), integer(column.num_measured[i])]),
      }}
      footer={<p class="note">{meanings.join(" · ")}</p>}
    />
  );
}
