import type { TraceFile } from "../api/traces";
import { layoutLabels, PLOT_LEFT, PLOT_RIGHT } from "../charts/markers";
import { integer } from "../format/numbers";
import { styled } from "../views/parts";
import type { Desk } from "./desk";
import { goTo } from "./go";
import { ofMember } from "./nearest";
import { costWords, reasonLabel, reasonWords, windowWords } from "./words";

const CHARACTER = 6.2;
const NARROW = 10;

interface Placed {
  file: TraceFile;
  x0: number;
}

/** Captures of the first run below the chart, each where its window begins. Windows are in steps: so is the axis. */
export function Lane({ desk }: { desk: Desk }) {
  const { page } = desk;
  const [primary] = page.shown.value;
  const [first, last] = page.domain.value;
  if (!primary || page.view.value.axis !== "step") return null;
  const origin = page.origin.value;
  const seen = ofMember(primary, desk.list.value?.traces ?? [])
    .flatMap((file): Placed[] => (file.window?.start ? [{ file, x0: Number(BigInt(file.window.start) - origin) }] : []))
    .filter(({ x0 }) => x0 >= first && x0 < last)
    .toSorted((a, b) => a.x0 - b.x0);
  if (!seen.length) return null;
  const width = Math.max(100, page.chartWidth.value - PLOT_LEFT - PLOT_RIGHT);
  const labels = seen.map(({ file, x0 }) => ({
    x: ((x0 - first) / (last - first)) * width,
    width: 12 + reasonLabel(file.window!).length * CHARACTER,
    narrow: NARROW,
  }));
  const places = layoutLabels(labels, width, 1);
  const hidden = places.filter((place) => !place).length;
  const { open } = page.traces.choice.value;
  return (
    <>
      <ul class="captures" aria-label="Traces in this range">
        {seen.map(
          ({ file }, i) =>
            places[i] && (
              <li
                key={file.trace}
                ref={styled({ left: `${places[i].left}px`, "--shift": `${labels[i]!.x - places[i].left}px` })}
              >
                <button
                  type="button"
                  class={`capture ${places[i].short ? "short" : ""}`}
                  aria-pressed={open === file.trace}
                  title={`Trace of ${windowWords(file.window)}: ${reasonWords(file.window)}. ${costWords(file.window)}. Click to show it.`}
                  onClick={() => {
                    desk.open(file.trace);
                    goTo("trace");
                  }}
                >
                  <span class={places[i].short ? "hidden" : ""}>
                    {reasonLabel(file.window!)}
                    <span class="hidden">, trace of {windowWords(file.window)}</span>
                  </span>
                </button>
              </li>
            ),
        )}
      </ul>
      {hidden > 0 && <p class="note lane-more">{integer(hidden)} more traces here: see the list below or zoom in.</p>}
    </>
  );
}
