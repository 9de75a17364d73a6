import type { Signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";

import type { BinAxis, Sample } from "../api/types";
import { binAt, placeBins, type Bins } from "../charts/bins";
import { Chart } from "../charts/chart";
import { placeMarks } from "../charts/bands";
import type { Limits } from "../charts/limits";
import { placeMarkers, type PlacedMarker } from "../charts/markers";
import type { ChartModel, PlacedMark } from "../charts/model";
import { span } from "../format/position";
import { keyOf } from "../state/catalog";
import type { Page } from "../state/page";
import { Swatch } from "./parts";

/** Marks of the first run, on the page's x axis; only while they belong to the axis that is shown. */
export function pageMarks(page: Page): PlacedMark[] {
  const marks = page.marks.value.data?.data[0] ?? null;
  return marks && marks.axis === page.view.value.axis ? placeMarks(marks, page.origin.value) : [];
}

/** Changes of the first run, on the page's x axis. */
export function pageChanges(page: Page): PlacedMarker[] {
  const { data } = page.analyses.markers.state.value;
  const [answer] = data?.data ?? [];
  const [primary] = page.shown.value;
  const origin = page.origin.value;
  const fits = answer && primary && answer.axis === page.view.value.axis && keyOf(data!.shown[0]!) === keyOf(primary);
  return useMemo(() => (fits ? placeMarkers(answer, origin) : []), [fits && answer, origin]);
}

/** An answer in bins. */
export interface Binned {
  axis: BinAxis;
  sample: Sample;
}

/** The bins of an answer and the one under the cursor, -1 where there is none. */
export function underCursor(page: Page, answer: Binned): { bins: Bins; at: number } {
  const bins = placeBins(answer.axis, answer.sample, page.origin.value);
  const x = page.cursor.value;
  return { bins, at: x === null ? -1 : binAt(bins, x) };
}

/** "steps [20, 40)" of bin `i`. */
export function binName(answer: Binned, i: number): string {
  const base = BigInt(answer.axis.base);
  const edge = (value: number) => base + BigInt(Math.round(value));
  return span(
    answer.axis.axis,
    edge(answer.axis.start[i]!),
    edge(answer.axis.end[i]!),
    answer.sample.num_in_range === answer.axis.start.length,
  );
}

/** Whether a chart has something to draw in the range that is shown; before that, and while it comes, it waits. */
export function isReady(page: Page, model: ChartModel, loading: boolean): boolean {
  const [first, last] = page.domain.value;
  return page.placed.value && (!loading || model.x.some((x) => x >= first && x <= last));
}

interface PageChartProps {
  page: Page;
  model: ChartModel;
  height: number;
  summary: string;
  stops: readonly number[];
  markNames?: boolean;
  reportsWidth?: boolean;
}

/** A chart that shares cursor, selection and zoom with the page. */
export function PageChart({
  page,
  model,
  height,
  summary,
  stops,
  markNames = false,
  reportsWidth = false,
}: PageChartProps) {
  const changes = pageChanges(page);
  const marked = useMemo(() => ({ ...model, changes, faintChanges: !markNames }), [model, changes]);
  return (
    <Chart
      model={marked}
      domain={page.domain.value}
      height={height}
      summary={summary}
      stops={stops}
      markNames={markNames}
      cursor={page.cursor}
      selection={page.selection}
      onZoom={(x0, x1) => page.zoom(x0, x1)}
      onReset={() => page.resetZoom()}
      {...(reportsWidth
        ? {
            onWidth: (width: number) => {
              if (width > 0) page.chartWidth.value = width;
            },
          }
        : {})}
    />
  );
}

/** Shows spikes that the y axis cuts off, and back; there only where something is cut off. */
export function FullRange({ full, limits }: { full: Signal<boolean>; limits: Limits | null | undefined }) {
  if (!full.value && !limits?.clipped) return null;
  return (
    <button type="button" class="button" onClick={() => (full.value = !full.value)}>
      {full.value ? "Cut off spikes" : "Show full range"}
    </button>
  );
}

export interface LegendItem {
  key: string;
  color: string;
  hatched?: boolean;
  text: ComponentChildren;
  value?: string;
}

/** Names of colours, with the value under the cursor or of the whole range. */
export function Legend({ items, when }: { items: readonly LegendItem[]; when: string }) {
  return (
    <div class="legend">
      <span class="when">{when}</span>
      <ul class={items.length > 6 ? "many" : ""}>
        {items.map(({ key, color, hatched, text, value }) => (
          <li key={key}>
            <Swatch color={color} {...(hatched ? { hatched } : {})} />
            <span class="legend-text">{text}</span>
            {value !== undefined && <b>{value}</b>}
          </li>
        ))}
      </ul>
    </div>
  );
}
