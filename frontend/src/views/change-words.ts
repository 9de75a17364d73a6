import type { Marker } from "../api/analysis";
import { around } from "../charts/markers";
import { stageName } from "../format/changes";
import { integer } from "../format/numbers";
import { list } from "../format/text";
import type { Page } from "../state/page";
import { zoomTo } from "../state/view";

/** Changes in words, and the zoom to one. */

const KINDS: Record<Marker["kind"], string> = {
  regression: "lasting",
  improvement: "lasting",
  transient: "passing",
  ramp: "gradual, then level",
  drift: "slow trend",
  tail: "slow steps",
  variance: "spread",
};

export const kindWords = ({ kind, planned, provisional }: Marker): string =>
  [KINDS[kind] ?? kind, planned === null ? "" : "planned", provisional ? "provisional" : ""].filter(Boolean).join(", ");

/** Which stages make the change: "in data", "all stages alike", "not clear which". */
export function blamedWords({ blamed, attribution }: Marker): string {
  if (blamed.length) return `in ${list(blamed.map((stage) => (stage === null ? "no stage" : stageName(stage))))}`;
  if (!attribution) return "not known";
  return attribution.outcome === "uniform"
    ? "all stages alike"
    : attribution.outcome === "nothing"
      ? "mean unchanged"
      : "not clear which";
}

/** "steps 10 – 4,212" of the half-open range. */
export function stepsWords(range: { start: string; end: string }): string {
  return `steps ${integer(range.start)} – ${integer(BigInt(range.end) - 1n)}`;
}

/** Zooms to around a marker of run `index` of those that were analysed. */
export function zoomToMarker(page: Page, index: number, marker: Marker): void {
  const answer = page.analyses.markers.state.peek().data?.data[index];
  if (!answer || answer.axis !== page.view.peek().axis) return;
  const [start, end] = around(marker, answer).map((x) => String(BigInt(answer.base) + BigInt(x)));
  page.change((view) => zoomTo(view, { start: start!, end: end! }));
  document.getElementById("step-time")?.scrollIntoView({ block: "nearest" });
}
