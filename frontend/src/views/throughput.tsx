import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";

import { look, throughputModel } from "../charts/areas";
import { columnLabel, sentence } from "../format/text";
import { rate } from "../format/units";
import type { Page } from "../state/page";
import { pageMarks } from "./charts-common";
import { LinePanel } from "./line-panel";
import { Name, Segmented } from "./parts";

/** Samples or tokens per second, with the definition under which that holds. */
export function Throughput({ page }: { page: Page }) {
  const chosen = useSignal<string | null>(null);
  const { data } = page.throughput.value;
  const columns = [...new Set(data?.data.flatMap((answer) => answer.series.map(({ column }) => column)))];
  const column = columns.find((name) => name === chosen.value) ?? columns[0];
  const origin = page.origin.value;
  const marks = pageMarks(page);
  const model = useMemo(
    () => (data && column ? throughputModel(data, column, marks, origin) : null),
    [data, page.marks.value.data, column, origin],
  );
  const summaries = page.summary.value.data?.data ?? [];
  const whole = (n: number) => summaries[n]?.throughput[column === "num_tokens" ? "tokens_per_s" : "samples_per_s"];
  return (
    <LinePanel
      page={page}
      id="throughput"
      title="Throughput"
      height={160}
      note={data?.data[0]?.definition}
      loaded={page.throughput.value}
      model={model}
      controls={
        columns.length > 1 && (
          <Segmented
            label="Count"
            value={column!}
            onChange={(name) => (chosen.value = name)}
            options={columns.map((value) => ({ value, text: sentence(columnLabel(value)) }))}
          />
        )
      }
      otherwise="No sample or token counts were given to perf.step(num_samples=…)."
      when="all steps in view"
      summary={`Throughput: ${rate(whole(0), column === "num_tokens" ? "tokens/s" : "samples/s")}.`}
      legend={(answer, n, at) =>
        answer.series
          .filter((series) => series.column === column)
          .map((series) => ({
            key: String(n),
            color: look(data!, n, 0).color,
            text: <Name text={data!.shown[n]!.label} />,
            value: rate(at >= 0 ? series.value[at] : whole(n), series.unit),
          }))
      }
      table={{
        head: (answer) => answer.series.map(({ unit }) => unit),
        cells: (answer, i) => answer.series.map(({ value, unit }) => rate(value[i], unit)),
      }}
    />
  );
}
