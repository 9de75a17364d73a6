import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";

import type { Throughput as ThroughputAnswer } from "../api/types";
import { look, throughputModel } from "../charts/areas";
import { placeBins } from "../charts/bins";
import { rate } from "../format/units";
import { columnLabel, sentence } from "../format/text";
import type { Answers } from "../state/catalog";
import type { Page } from "../state/page";
import { binName, Legend, PageChart, pageMarks, underCursor, type LegendItem } from "./charts-common";
import { ChartSkeleton, Panel } from "./panel";
import { Name, Segmented } from "./parts";
import { DataTable } from "./table";

const HEIGHT = 160;

/** Samples or tokens per second, with the definition under which that holds. */
export function Throughput({ page }: { page: Page }) {
  const chosen = useSignal<string | null>(null);
  const { data } = page.throughput.value;
  const [first] = data?.data ?? [];
  const columns = [...new Set(data?.data.flatMap((answer) => answer.series.map(({ column }) => column)))];
  const column = columns.find((name) => name === chosen.value) ?? columns[0];
  const origin = page.origin.value;
  const marks = pageMarks(page);
  const model = useMemo(() => (data && column ? throughputModel(data, column, marks, origin) : null), [data, page.marks.value.data, column, origin]);
  return (
    <Panel
      id="throughput" title="Throughput" note={first?.definition} table={first && column ? () => <Table page={page} answer={first} /> : null}
      controls={columns.length > 1 && <Segmented label="Count" value={column!} onChange={(name) => (chosen.value = name)} options={columns.map((value) => ({ value, text: sentence(columnLabel(value)) }))} />}
    >
      {!data || !first ? (
        <ChartSkeleton height={HEIGHT} failed={page.throughput.value.error !== null} />
      ) : !model || !column ? (
        <p class="note">{first.reason ?? "No sample or token counts were given to perf.step(num_samples=…)."}</p>
      ) : (
        <>
          <PageChart page={page} model={model} height={HEIGHT} stops={placeBins(first.axis, first.sample, origin).x} summary={`Throughput in ${first.series.find((s) => s.column === column)?.unit ?? "units per second"}.`} />
          <ThroughputLegend page={page} data={data} column={column} />
        </>
      )}
    </Panel>
  );
}

function ThroughputLegend({ page, data, column }: { page: Page; data: Answers<ThroughputAnswer>; column: string }) {
  const summaries = page.summary.value.data?.data ?? [];
  let when = "all steps in view";
  const items = data.data.flatMap((answer, n): LegendItem[] => {
    const { at } = underCursor(page, answer);
    if (at >= 0 && n === 0) when = binName(answer, at);
    const series = answer.series.find((one) => one.column === column);
    if (!series) return [];
    const whole = summaries[n]?.throughput[column === "num_tokens" ? "tokens_per_s" : "samples_per_s"];
    return [{ key: String(n), color: look(data, n, 0).color, text: <Name text={data.shown[n]!.label} />, value: rate(at >= 0 ? series.value[at] : whole, series.unit) }];
  });
  return <Legend items={items} when={when} />;
}

function Table({ page, answer }: { page: Page; answer: ThroughputAnswer }) {
  return (
    <DataTable
      caption="Throughput" numRows={answer.axis.start.length} csv={page.downloadUrl("samples", { format: "csv" })}
      head={["Steps", ...answer.series.map(({ unit }) => unit)]} row={(i) => [binName(answer, i), ...answer.series.map(({ value, unit }) => rate(value[i], unit))]}
    />
  );
}
