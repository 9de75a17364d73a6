import { useSignal } from "@preact/signals";

import type { Markers } from "../api/analysis";
import { markerLook } from "../charts/markers";
import { RUN_COLORS } from "../charts/colors";
import { digits, interval, pWords, signed } from "../format/changes";
import { count, integer } from "../format/numbers";
import { sentence, visible } from "../format/text";
import { time } from "../format/units";
import { changeRows, sortChanges, type ChangeRow, type Order } from "../state/change-list";
import type { Page } from "../state/page";
import { STANDARD_EFFECTS } from "../state/view";
import { Attribution } from "./attribution";
import { blamedWords, kindWords, stepsWords, zoomToMarker } from "./change-words";
import { Panel } from "./panel";
import { Glyph, Name, Swatch } from "./parts";
import { SmallestChange } from "./smallest-change";
import { TailBlocks } from "./tails";
import { MarkerTraces } from "./traces";

/** Changes of step time that are real: a list that zooms, each with where in the step it lies. */
export function Changes({ page }: { page: Page }) {
  const { data, error, loading } = page.analyses.markers.state.value;
  const { minEffect, minTailEffect } = page.view.value;
  const rows = data ? changeRows(data) : [];
  const [first] = data?.data ?? [];
  const several = (data?.data.length ?? 0) > 1;
  const isOutdated =
    first?.min_effect !== (minEffect ?? STANDARD_EFFECTS.minEffect) ||
    first?.min_tail_effect !== (minTailEffect ?? STANDARD_EFFECTS.minTailEffect);
  return (
    <Panel
      id="changes"
      title="Changes"
      note="of the step time, in the whole run"
      controls={<SmallestChange page={page} />}
    >
      {loading && first && isOutdated && (
        <p class="note" role="status">
          Looking again, with the other smallest change…
        </p>
      )}
      {!data ? (
        error ? (
          <p class="note">Changes could not be loaded; the reason stands at the top of the page.</p>
        ) : (
          <p class="note" role="status">
            Looking for changes…
          </p>
        )
      ) : (
        data.data.map((answer, i) => (
          <Status key={i} answer={answer} name={several ? data.shown[i]!.label : null} color={data.shown[i]!.color} />
        ))
      )}
      {rows.length > 0 && <List page={page} rows={rows} several={several} />}
      {data && <TailBlocks {...data} />}
      {first && <p class="note">{first.definition}</p>}
    </Panel>
  );
}

/** How far the analysis of a run is, and that nothing was found where that is so. */
function Status({ answer, name, color }: { answer: Markers; name: string | null; color: number }) {
  const { state, progress, num_ahead: ahead, markers, as_of_step: asOf, num_steps_newer: newer } = answer;
  const computing = state === "computing";
  const older = computing && asOf !== null ? `; until then as of step ${integer(asOf)}` : "";
  const words = computing
    ? (ahead ? `Waiting for ${count(ahead, "other analysis", "other analyses")}` : "Looking for changes") + older
    : markers.length
      ? name && count(markers.length, "change")
      : answer.verdict && visible(answer.verdict);
  const more = !computing && newer ? `${count(newer, "newer step")} not analysed yet` : "";
  if (!words && !more) return null;
  return (
    <p class="analysis" role="status">
      {name !== null && (
        <>
          <Swatch color={RUN_COLORS[color % RUN_COLORS.length]!} />
          <Name text={name} />
        </>
      )}
      {computing && <progress value={progress} aria-label="Progress of the analysis" />}
      <span>
        {[words, more]
          .filter(Boolean)
          .map((text) => sentence(text!).replace(/\.$/, ""))
          .join(". ")}
        .
      </span>
    </p>
  );
}

interface ListProps {
  page: Page;
  rows: ChangeRow[];
  several: boolean;
}

function List({ page, rows, several }: ListProps) {
  const order = useSignal<Order>("step");
  const descending = useSignal(false);
  const open = useSignal<string | null>(null);
  const heads: [string, Order | null][] = [
    ["Step", "step"],
    ["Change", "size"],
    ["What happened", null],
    ["Where", null],
    ["p-value", null],
    ["Kind", "kind"],
    ...(several ? [["Run", "run"] as [string, Order]] : []),
    ["", null],
  ];
  const sortBy = (next: Order) => {
    descending.value = order.value === next ? !descending.value : next === "size";
    order.value = next;
  };
  return (
    <div class="table-scroll flat">
      <table class="changes">
        <caption class="hidden">Changes of the step time</caption>
        <thead>
          <tr>
            {heads.map(([text, by]) => (
              <th
                key={text}
                scope="col"
                {...(by === order.value ? { "aria-sort": descending.value ? "descending" : "ascending" } : {})}
              >
                {by ? (
                  <button type="button" class="sort" onClick={() => sortBy(by)}>
                    {text}
                    <span aria-hidden="true">{by === order.value ? (descending.value ? " ↓" : " ↑") : " ↕"}</span>
                  </button>
                ) : (
                  text || <span class="hidden">Details</span>
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sortChanges(rows, order.value, descending.value).map((row) => {
            const toggle = () => (open.value = open.value === row.key ? null : row.key);
            const isOpen = open.value === row.key;
            return [
              <Row key={row.key} page={page} row={row} several={several} open={isOpen} onToggle={toggle} />,
              isOpen && (
                <tr key={`${row.key} details`} class="details">
                  <td colSpan={heads.length}>
                    <Details row={row} />
                  </td>
                </tr>
              ),
            ];
          })}
        </tbody>
      </table>
    </div>
  );
}

interface RowProps {
  page: Page;
  row: ChangeRow;
  several: boolean;
  open: boolean;
  onToggle: () => void;
}

function Row({ page, row, several, open, onToggle }: RowProps) {
  const { marker, shown, index } = row;
  const look = markerLook(marker);
  const range = interval(marker.change_low, marker.change_high);
  const zoom = () => zoomToMarker(page, index, marker);
  return (
    <tr class="change" onClick={zoom}>
      <td>{integer(marker.step)}</td>
      <td>
        <b>
          <Glyph look={look} />
          <span class="hidden">{look.name} </span>
          {signed(marker.change, digits(marker.change_low, marker.change_high))}
        </b>
        <small>
          {marker.measure !== "typical" && `of ${marker.measure} `}
          {range && `(${range})`}
        </small>
        {marker.before_ms !== null && (
          <small>
            {time(marker.before_ms)} → {time(marker.after_ms)}
          </small>
        )}
      </td>
      <td>
        <button type="button" class="link" title="Zoom to around this change">
          {visible(marker.sentence)}
        </button>
        <MarkerTraces page={page} marker={marker} shown={shown} />
      </td>
      <td>{blamedWords(marker)}</td>
      <td>{pWords(marker.p_value)}</td>
      <td>
        {kindWords({ ...marker, planned: null, provisional: false })}
        {marker.planned !== null && <span class="badge planned">◆ planned</span>}
        {marker.provisional && <span class="badge provisional">~ provisional</span>}
      </td>
      {several && (
        <td>
          <span class="run-cell">
            <Swatch color={RUN_COLORS[shown.color % RUN_COLORS.length]!} />
            <Name text={shown.label} />
          </span>
        </td>
      )}
      <td>
        <button
          type="button"
          class="button"
          aria-expanded={open}
          aria-label={`${open ? "Hide" : "Why?"} Details of the change at step ${integer(marker.step)}`}
          onClick={(event) => {
            event.stopPropagation();
            onToggle();
          }}
        >
          {open ? "Hide" : "Why?"}
        </button>
      </td>
    </tr>
  );
}

function Details({ row: { marker } }: { row: ChangeRow }) {
  const { before, after, attribution, planned, provisional } = marker;
  return (
    <div class="attribution-box">
      {planned !== null && (
        <p>
          Announced by the training loop: <Name text={planned} />
        </p>
      )}
      {attribution ? (
        <Attribution found={attribution} sides={["before", "after"]} />
      ) : (
        <p class="note">
          {provisional
            ? "Noticed by the training process while it ran. The analysis of the whole run confirms or drops it once it has seen 60 steps after it."
            : "Too few steps on one side (20 are needed) to say which stages make the change."}
        </p>
      )}
      {before && after && (
        <p class="note">
          Size: {stepsWords(before)} ({count(marker.num_before, "step")} used) compared with {stepsWords(after)} (
          {count(marker.num_after, "step")} used)
          {attribution &&
            `. Stages: means over ${integer(attribution.num_before)} and ${integer(attribution.num_after)} of these`}
          .
        </p>
      )}
    </div>
  );
}
