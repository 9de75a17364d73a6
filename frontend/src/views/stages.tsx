import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";

import type { Numbers, Stages as StagesAnswer, Summary } from "../api/types";
import { overall, stagesModel, stageSeries } from "../charts/areas";
import { placeBins } from "../charts/bins";
import { stageColor, UNLABELLED, type StageLook } from "../charts/colors";
import { percent } from "../format/numbers";
import { list, visible } from "../format/text";
import { time } from "../format/units";
import type { Page } from "../state/page";
import type { StageMode } from "../state/view";
import { binName, FullRange, isReady, Legend, PageChart, pageMarks, underCursor } from "./charts-common";
import type { LegendItem } from "./charts-common";
import { ChartSkeleton, Panel } from "./panel";
import { Name, Segmented } from "./parts";
import { DataTable } from "./table";

const HEIGHT = 240;

/** Where the time goes: mean time per step of each stage, and the rest that no stage covers. */
export function Stages({ page }: { page: Page }) {
  const full = useSignal(false);
  const { stageMode: mode } = page.view.value;
  const { data } = page.stages.value;
  const [answer] = data?.data ?? [];
  const origin = page.origin.value;
  const marks = pageMarks(page);
  const model = useMemo(
    () => answer && stagesModel(answer, mode, marks, origin, full.value),
    [answer, page.marks.value.data, mode, origin, full.value],
  );
  const several = page.shown.value.length > 1;
  return (
    <Panel
      id="stages"
      title="Stages"
      note={
        answer && (
          <>
            {several && (
              <>
                of <Name text={data!.shown[0]!.label} />,{" "}
              </>
            )}
            mean time per step, {answer.clock} clock
          </>
        )
      }
      table={answer?.stages.length ? () => <Table page={page} answer={answer} /> : null}
      controls={
        <>
          <FullRange full={full} limits={model?.limits} />
          <Segmented<StageMode>
            label="Show stages as"
            value={mode}
            onChange={(stageMode) => page.change((v) => ({ ...v, stageMode }))}
            options={[
              { value: "stacked", text: "Stacked" },
              { value: "lines", text: "Lines" },
              { value: "share", text: "Share of step" },
            ]}
          />
        </>
      }
    >
      {model && answer && isReady(page, model, page.stages.value.loading) ? (
        <>
          <PageChart
            page={page}
            model={model}
            height={HEIGHT}
            stops={placeBins(answer.axis, answer.sample, origin).x}
            summary={words(page.summary.value.data?.data[0])}
          />
          {answer.stages.length === 0 && (
            <p class="note">
              No stage is labelled. <code>with perf.stage("forward"):</code> in the loop shows where the time goes.
            </p>
          )}
          <StageLegend page={page} answer={answer} />
        </>
      ) : (
        <ChartSkeleton height={HEIGHT} failed={!answer && page.stages.value.error !== null} />
      )}
    </Panel>
  );
}

function words(summary: Summary | undefined): string {
  if (!summary?.stages.length) return "Time per step; no stage is labelled.";
  const parts = summary.stages.slice(0, 5).map((stage) => `${visible(stage.stage)} ${time(stage.mean_ms)}`);
  return `Mean time per step by stage: ${list(parts)}. ${percent(summary.unlabelled.of_step)} of the step is not labelled.`;
}

function StageLegend({ page, answer }: { page: Page; answer: StagesAnswer }) {
  const { at } = underCursor(page, answer);
  const series = stageSeries(answer);
  const value = (values: Numbers) => (at >= 0 ? values[at]! : overall(values, answer.num_steps));
  const step = value(series.total);
  const item = (key: string, text: LegendItem["text"], look: StageLook, values: Numbers): LegendItem => {
    const mean = value(values);
    return { key, text, ...look, value: `${time(mean)} · ${percent(mean === null || !step ? null : mean / step)}` };
  };
  const items = series.names.map((name, i) => item(`s${name}`, <Name text={name} />, stageColor(i), series.means[i]!));
  items.push(item("rest", "not labelled", UNLABELLED, series.unlabelled));
  return <Legend items={items} when={at >= 0 ? binName(answer, at) : "all steps in view: mean · share of step"} />;
}

function Table({ page, answer }: { page: Page; answer: StagesAnswer }) {
  const series = stageSeries(answer);
  return (
    <DataTable
      page={page}
      caption="Mean time per step by stage"
      answer={answer}
      head={[...series.names.map(visible), "not labelled", "step time"]}
      cells={(i) => [...series.means, series.unlabelled, series.total].map((mean) => time(mean[i]))}
    />
  );
}
