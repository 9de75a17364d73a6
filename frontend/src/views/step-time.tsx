import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";

import type { Bands, Mark } from "../api/types";
import { bandsModel, roles } from "../charts/bands";
import { placeBins } from "../charts/bins";
import { RUN_COLORS } from "../charts/colors";
import { MARK_COLORS, MARK_NAMES, isRange } from "../charts/paint";
import { integer } from "../format/numbers";
import { position } from "../format/position";
import { sentence } from "../format/text";
import { time } from "../format/units";
import type { Answers } from "../state/catalog";
import type { Page } from "../state/page";
import type { YScale } from "../state/view";
import { FullRange, PageChart, pageChanges, pageMarks, underCursor } from "./charts-common";
import { MarkerLane } from "./marker-lane";
import { ChartSkeleton, Panel } from "./panel";
import { Glyph, Name, Segmented, Swatch } from "./parts";
import { DataTable } from "./table";
import { CaptureLane } from "./traces";
import { binWords, stepTimeSummary } from "./words";

const HEIGHT = 300;

/** Step time: bands over steps, every spike, what was left out, and what happened. */
export function StepTime({ page }: { page: Page }) {
  const full = useSignal(false);
  const view = page.view.value;
  const { data } = page.bands.value;
  const marks = pageMarks(page);
  const origin = page.origin.value;
  const model = useMemo(
    () =>
      data &&
      bandsModel(data, marks, {
        origin,
        showMax: view.showMax,
        showLeftOut: view.showLeftOut,
        yScale: view.yScale,
        full: full.value,
      }),
    [data, page.marks.value.data, origin, view.showMax, view.showLeftOut, view.yScale, full.value],
  );
  const [first] = data?.data ?? [];
  const clipped = model?.limits?.clipped ?? false;
  return (
    <Panel
      id="step-time"
      title="Step time"
      note={first && <Clock bands={first} />}
      table={first ? () => <Table page={page} bands={first} /> : null}
      controls={
        <>
          {view.yScale !== "log" && <FullRange full={full} limits={model?.limits} />}
          <Segmented<YScale>
            label="Y axis"
            value={view.yScale}
            onChange={(yScale) => page.change((v) => ({ ...v, yScale }))}
            options={[
              { value: "fit", text: "Fit" },
              { value: "zero", text: "From 0" },
              { value: "log", text: "Log" },
            ]}
          />
        </>
      }
    >
      {data && <Readout page={page} data={data} />}
      {model && <MarkerLane page={page} />}
      {model && first ? (
        <PageChart
          page={page}
          model={model}
          height={HEIGHT}
          markNames
          reportsWidth
          stops={placeBins(first.axis, first.sample, origin).x}
          summary={stepTimeSummary(page.summary.value.data?.data[0], data!.shown[0]!.label)}
        />
      ) : (
        <ChartSkeleton
          height={HEIGHT}
          onWidth={(width) => (page.chartWidth.value = width)}
          failed={page.bands.value.error !== null}
        />
      )}
      {model && <CaptureLane page={page} />}
      {data && first && <Key data={data} bands={first} page={page} clipped={clipped} />}
      <Events page={page} />
    </Panel>
  );
}

function Clock({ bands }: { bands: Bands }) {
  return (
    <>
      {bands.clock === "device" ? "device clock" : "host clock"}, per step
      {bands.sample.num_in_range === bands.axis.start.length
        ? ", every step drawn"
        : `, ${integer(bands.axis.start.length)} bins`}
    </>
  );
}

/** All values of the bin under the cursor; one line for each run. */
function Readout({ page, data }: { page: Page; data: Answers<Bands> }) {
  const several = data.data.length > 1;
  const lines = data.data.map((bands) => {
    const { bins, at } = underCursor(page, bands);
    return at < 0 ? null : binWords(bands, bins, at);
  });
  const empty = lines.every((line) => line === null);
  return (
    <div class={`readout ${several ? "several" : ""}`} aria-live="polite">
      {empty ? (
        <span class="note">
          Move over a chart to read values, drag to zoom; with the keyboard: arrows, Shift + arrows, Enter.
        </span>
      ) : (
        lines.map((line, n) => (
          <p key={n}>
            {several && <Swatch color={RUN_COLORS[data.shown[n]!.color % RUN_COLORS.length]!} />}
            {line ?? "no steps here"}
          </p>
        ))
      )}
    </div>
  );
}

function Key({ data, bands, page, clipped }: { data: Answers<Bands>; bands: Bands; page: Page; clipped: boolean }) {
  const { showMax, showLeftOut } = page.view.value;
  const leftOut = data.data.some((answer) => answer.num_left_out.some((n) => n > 0));
  const raw = bands.sample.num_in_range === bands.axis.start.length;
  return (
    <ul class="key">
      {data.data.length > 1
        ? data.shown.map((entry) => (
            <li key={entry.label}>
              <Swatch color={RUN_COLORS[entry.color % RUN_COLORS.length]!} />
              <Name text={entry.label} />
            </li>
          ))
        : !raw && <Curves percentiles={bands.percentiles} />}
      <li>
        <span class="glyph line" aria-hidden="true" />
        {raw ? "step time" : "median"}
      </li>
      {showMax && !raw && (
        <li>
          <span class="glyph dot" aria-hidden="true" />
          longest step, where it stands out
        </li>
      )}
      {clipped && (
        <li>
          <span class="glyph triangle" aria-hidden="true" />
          above the axis, with its value
        </li>
      )}
      {showLeftOut && leftOut && (
        <li>
          <span class="glyph ring" aria-hidden="true" />
          left out of the statistics
        </li>
      )}
      <MarkKey page={page} />
      <ChangeKey page={page} />
    </ul>
  );
}

const DASH_NAMES = ["solid", "dashed", "dotted", "dash-dotted"];

/** Which percentiles are bands and which are thin lines. */
function Curves({ percentiles }: { percentiles: readonly number[] }) {
  const { pairs, singles } = roles(percentiles);
  const name = (index: number) => `p${percentiles[index]}`;
  return (
    <>
      {pairs.length > 0 && (
        <li>
          <span class="glyph band" aria-hidden="true" />
          {pairs.map(([low, high]) => `${name(low)}–${name(high)}`).join(", ")}
        </li>
      )}
      {singles.length > 0 && (
        <li>
          <span class="glyph thin" aria-hidden="true" />
          {singles
            .map((index, i) => (singles.length > 1 ? `${name(index)} ${DASH_NAMES[i % 4]}` : name(index)))
            .join(", ")}
        </li>
      )}
    </>
  );
}

/** The shapes of the changes that are there. */
function ChangeKey({ page }: { page: Page }) {
  const looks = new Map(pageChanges(page).map((look) => [look.glyph, look]));
  return (
    <>
      {[...looks.values()].map((look) => (
        <li key={look.glyph}>
          <Glyph look={look} />
          {look.name}
        </li>
      ))}
    </>
  );
}

function MarkKey({ page }: { page: Page }) {
  const counts = page.marks.value.data?.data[0]?.num_marks ?? {};
  return (
    <>
      {Object.entries(counts).map(([kind, number]) => (
        <li key={kind}>
          <span
            class={`glyph ${isRange(kind as Mark["kind"]) ? "range" : "marker"}`}
            ref={(element) => element?.style.setProperty("--swatch", `var(${MARK_COLORS[kind as Mark["kind"]]})`)}
            aria-hidden="true"
          />
          {MARK_NAMES[kind as Mark["kind"]] ?? kind} × {integer(number)}
        </li>
      ))}
    </>
  );
}

/** What happened, as a list that can be read. */
function Events({ page }: { page: Page }) {
  const [marks] = page.marks.value.data?.data ?? [];
  if (!marks?.marks.length) return null;
  const several = page.shown.value.length > 1;
  const base = BigInt(marks.base);
  const total = Object.values(marks.num_marks).reduce((a, b) => a + b, 0);
  return (
    <details class="events">
      <summary>
        {integer(total)} {total === 1 ? "event" : "events"} in this range
        {several && (
          <>
            {" "}
            of <Name text={page.shown.value[0]!.label} />
          </>
        )}
      </summary>
      <ul>
        {marks.marks
          .toSorted((a, b) => a.start - b.start)
          .map((mark) => (
            <li key={`${mark.kind} ${mark.start} ${mark.label}`}>
              <span class="when">
                {marks.axis === "step" ? "step " : ""}
                {position(marks.axis, base + BigInt(Math.round(mark.start)))}
              </span>{" "}
              {sentence(mark.label)}
            </li>
          ))}
        {marks.num_left_out > 0 && <li>… and {integer(marks.num_left_out)} shorter ones.</li>}
      </ul>
    </details>
  );
}

function Table({ page, bands }: { page: Page; bands: Bands }) {
  const value = (raw: number | null | undefined) => time(raw === null || raw === undefined ? null : raw * bands.scale);
  return (
    <DataTable
      page={page}
      caption="Step time"
      answer={bands}
      head={[
        ...bands.percentiles.map((p) => (p === 50 ? "median" : `p${p}`)),
        "shortest",
        "longest",
        "steps used",
        "left out",
      ]}
      cells={(i) => [
        ...[...bands.quantiles, bands.min, bands.max].map((values) => value(values[i])),
        integer(bands.num_steps[i]),
        integer(bands.num_left_out[i]),
      ]}
    />
  );
}
