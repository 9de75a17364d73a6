import type { ComponentChildren } from "preact";

import { placeBins } from "../charts/bins";
import type { ChartModel } from "../charts/model";
import type { Answers } from "../state/catalog";
import type { Page } from "../state/page";
import { binName, isReady, Legend, PageChart, underCursor, type Binned, type LegendItem } from "./charts-common";
import { ChartSkeleton, Panel } from "./panel";
import { DataTable } from "./table";

interface LineAnswer extends Binned {
  reason: string | null;
}

export interface LinePanelProps<T extends LineAnswer> {
  page: Page;
  id: string;
  title: string;
  height: number;
  note?: ComponentChildren;
  controls?: ComponentChildren;
  loaded: { data: Answers<T> | null; error: Error | null; loading: boolean };
  /** null where nothing was measured. */
  model: ChartModel | null;
  /** Said where nothing was measured and the server gives no reason. */
  otherwise: string;
  summary: string;
  /** Legend of answer `n`; `at` is the bin under the cursor, -1 where there is none. */
  legend: (answer: T, n: number, at: number) => LegendItem[];
  /** What the values of the legend are while there is no cursor. */
  when: string;
  table: { head: (answer: T) => string[]; cells: (answer: T, bin: number) => string[] };
  footer?: ComponentChildren;
}

/** A panel of plain lines, one or more for each run, with values in its legend. */
export function LinePanel<T extends LineAnswer>(props: LinePanelProps<T>) {
  const { page, id, title, height, note, controls, loaded, model, legend, table } = props;
  const [first] = loaded.data?.data ?? [];
  const rows =
    first &&
    model &&
    (() => (
      <DataTable
        page={page}
        caption={title}
        answer={first}
        head={table.head(first)}
        cells={(i) => table.cells(first, i)}
      />
    ));
  return (
    <Panel id={id} title={title} note={note} controls={controls} table={rows || null}>
      {first && !model ? (
        <p class="note">{first.reason ?? props.otherwise}</p>
      ) : !first || !model || !isReady(page, model, loaded.loading) ? (
        <ChartSkeleton height={height} failed={!first && loaded.error !== null} />
      ) : (
        <>
          <PageChart
            page={page}
            model={model}
            height={height}
            stops={placeBins(first.axis, first.sample, page.origin.value).x}
            summary={props.summary}
          />
          <Values page={page} answers={loaded.data!.data} legend={legend} when={props.when} />
          {props.footer}
        </>
      )}
    </Panel>
  );
}

function Values<T extends LineAnswer>({
  page,
  answers,
  legend,
  when,
}: Pick<LinePanelProps<T>, "page" | "legend" | "when"> & { answers: T[] }) {
  const bins = answers.map((answer) => underCursor(page, answer).at);
  const items = answers.flatMap((answer, n) => legend(answer, n, bins[n]!));
  return <Legend items={items} when={bins[0]! >= 0 ? binName(answers[0]!, bins[0]!) : when} />;
}
