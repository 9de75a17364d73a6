import type { Marker } from "../api/analysis";
import { layoutLabels, markerText, PLOT_LEFT, PLOT_RIGHT, type PlacedMarker } from "../charts/markers";
import { interval, pWords } from "../format/changes";
import { integer } from "../format/numbers";
import { visible } from "../format/text";
import type { Page } from "../state/page";
import { blamedWords, kindWords, zoomToMarker } from "./change-words";
import { pageChanges } from "./charts-common";
import { Glyph, styled } from "./parts";

const ROW = 20;
const CHARACTER = 6.4;

/** Labels of the changes, above the chart that they belong to. */
export function MarkerLane({ page }: { page: Page }) {
  const [first, last] = page.domain.value;
  const width = Math.max(100, page.chartWidth.value - PLOT_LEFT - PLOT_RIGHT);
  const seen = pageChanges(page)
    .filter(({ x0, x1 }) => (x1 === null ? x0 >= first : x1 > first) && x0 < last)
    .toSorted((a, b) => a.x0 - b.x0);
  if (!seen.length) return null;
  const labels = seen.map(({ x0, marker }) => ({
    x: Math.max(0, ((x0 - first) / (last - first)) * width),
    width: 26 + markerText(marker).length * CHARACTER,
    narrow: 22,
  }));
  const places = layoutLabels(labels, width);
  const rows = 1 + Math.max(0, ...places.map((place) => place?.row ?? 0));
  const hidden = places.filter((place) => !place).length;
  return (
    <>
      {hidden > 0 && <p class="note lane-more">{integer(hidden)} more changes here: see the list below or zoom in.</p>}
      <ul class="lane" aria-label="Changes in this range" ref={styled({ height: `${rows * ROW}px` })}>
        {seen.map((placed, i) => {
          const place = places[i];
          return (
            place && (
              <li
                key={placed.marker.id}
                ref={styled({
                  left: `${place.left}px`,
                  bottom: `${place.row * ROW}px`,
                  "--stem": `${place.row * ROW}px`,
                  "--shift": `${labels[i]!.x - place.left}px`,
                  "--swatch": `var(${placed.color})`,
                })}
              >
                <LaneLabel page={page} placed={placed} short={place.short} right={place.left > width * 0.6} />
              </li>
            )
          );
        })}
      </ul>
    </>
  );
}

interface LaneLabelProps {
  page: Page;
  placed: PlacedMarker;
  short: boolean;
  right: boolean;
}

function LaneLabel({ page, placed, short, right }: LaneLabelProps) {
  const { marker } = placed;
  return (
    <>
      <button
        type="button"
        class={`lane-label ${placed.dashed ? "dashed" : ""}`}
        aria-label={`${visible(marker.sentence)} ${facts(marker).join(", ")}. Zoom to it.`}
        onClick={() => zoomToMarker(page, 0, marker)}
      >
        <Glyph look={placed} />
        {!short && markerText(marker)}
      </button>
      <div class={`tip ${right ? "right" : ""}`} aria-hidden="true">
        <b>
          {placed.glyph} {markerText(marker)}
        </b>
        <p>{visible(marker.sentence)}</p>
        <p class="note">{facts(marker).join(" · ")} · click to zoom</p>
      </div>
    </>
  );
}

/** What hovering adds to the label: interval, p, stage, standing. */
function facts(marker: Marker): string[] {
  const range = interval(marker.change_low, marker.change_high);
  return [
    kindWords(marker),
    ...(range ? [`95 % interval ${range} %`] : []),
    ...(marker.p_value === null ? [] : [pWords(marker.p_value)]),
    ...(marker.attribution ? [blamedWords(marker)] : []),
  ];
}
