import { useMemo } from "preact/hooks";

import type { Memory as MemoryAnswer } from "../api/types";
import { look, memoryModel } from "../charts/areas";
import { placeBins } from "../charts/bins";
import { integer } from "../format/numbers";
import { columnLabel, list } from "../format/text";
import { bytes } from "../format/units";
import type { Answers } from "../state/catalog";
import type { Page } from "../state/page";
import { binName, Legend, PageChart, pageMarks, underCursor, type LegendItem } from "./charts-common";
import { ChartSkeleton, Panel } from "./panel";
import { Name } from "./parts";
import { DataTable } from "./table";

const HEIGHT = 180;

/** Memory peaks. All steps count here, warm-up and profiled ones included: a peak is a peak. */
export function Memory({ page }: { page: Page }) {
  const { data } = page.memory.value;
  const [first] = data?.data ?? [];
  const origin = page.origin.value;
  const marks = pageMarks(page);
  const model = useMemo(() => data && memoryModel(data, marks, origin), [data, page.marks.value.data, origin]);
  const measured = data?.data.some((answer) => answer.columns.length > 0) ?? false;
  const meanings = [...new Set(data?.data.flatMap((answer) => answer.columns.map((column) => `${columnLabel(column.column)}: ${column.meaning}`)))];
  return (
    <Panel id="memory" title="Memory" note="peaks, every step in view" table={first?.columns.length ? () => <Table page={page} answer={first} /> : null}>
      {!data || !first ? (
        <ChartSkeleton height={HEIGHT} failed={page.memory.value.error !== null} />
      ) : !measured ? (
        <p class="note">{first.reason ?? "No memory was measured."}</p>
      ) : (
        <>
          <PageChart page={page} model={model!} height={HEIGHT} stops={placeBins(first.axis, first.sample, origin).x} summary={words(page)} />
          <MemoryLegend page={page} data={data} />
          <p class="note">{meanings.join(" · ")}</p>
        </>
      )}
    </Panel>
  );
}

function words(page: Page): string {
  const peaks = page.summary.value.data?.data[0]?.peaks ?? [];
  return `Memory peaks: ${list(peaks.map((peak) => `${columnLabel(peak.column)} ${bytes(peak.value)}`)) || "not measured"}.`;
}

function MemoryLegend({ page, data }: { page: Page; data: Answers<MemoryAnswer> }) {
  const summaries = page.summary.value.data?.data ?? [];
  let when = "highest in view";
  const items = data.data.flatMap((answer, n): LegendItem[] => {
    const { at } = underCursor(page, answer);
    if (at >= 0 && n === 0) when = binName(answer, at);
    return answer.columns.map((column, c) => {
      const peak = summaries[n]?.peaks.find((one) => one.column === column.column);
      const label = columnLabel(column.column);
      return {
        key: `${n} ${column.column}`, color: look(data, n, c).color, value: bytes(at >= 0 ? column.max[at] : peak?.value),
        text: data.data.length > 1 ? <><Name text={data.shown[n]!.label} />: {label}</> : label,
      };
    });
  });
  return <Legend items={items} when={when} />;
}

function Table({ page, answer }: { page: Page; answer: MemoryAnswer }) {
  return (
    <DataTable
      caption="Memory peaks" numRows={answer.axis.start.length} csv={page.downloadUrl("samples", { format: "csv" })}
      head={["Steps", ...answer.columns.flatMap(({ column }) => [`${columnLabel(column)}, highest`, `${columnLabel(column)}, times measured`])]}
      row={(i) => [binName(answer, i), ...answer.columns.flatMap((column) => [bytes(column.max[i]), integer(column.num_measured[i])])]}
    />
  );
}
