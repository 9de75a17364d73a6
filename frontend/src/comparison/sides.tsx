import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";

import type { Run } from "../api/types";
import { RUN_COLORS } from "../charts/colors";
import { count, integer } from "../format/numbers";
import { matches } from "../format/names";
import { visible } from "../format/text";
import type { Candidate, Sides } from "../state/analyses";
import type { Page } from "../state/page";
import { chooseBaseline, chooseSides, MAX_SIDE, toggleSide, type SideName } from "../state/view";
import { Menu, Name, Swatch } from "../views/parts";

/** More rows than a person scrolls through; a search finds the others. */
const MAX_ROWS = 100;

/** What is compared, in a word: one run by its name, several by their number. */
export const candidateLabel = ({ runs }: Candidate): string =>
  runs.length === 1 ? visible(runs[0]!.run) : `${runs.length} candidates together`;

/** One baseline to choose, and the switch to several runs a side. */
export function SidesControls({ page, sides }: { page: Page; sides: Sides }) {
  const { baselines, candidates, together } = sides;
  const first = baselines[0]!.run;
  const others = candidates.flatMap(({ runs }) => runs.map(({ run }) => run));
  return (
    <>
      {together ? (
        <button
          type="button"
          class="button quiet"
          onClick={() => page.change((view) => chooseSides(view, view.candidates, view.baselines))}
        >
          Swap sides
        </button>
      ) : (
        <label class="field">
          Baseline
          <select
            value={first}
            onChange={({ currentTarget: { value } }) => page.change((view) => chooseBaseline(view, value))}
          >
            {page.analyses.shownRuns.value.map(({ run }) => (
              <option key={run.run} value={run.run}>
                {visible(run.run)}
              </option>
            ))}
          </select>
        </label>
      )}
      <button
        type="button"
        class="button quiet"
        aria-pressed={together}
        onClick={() =>
          page.change((view) => (together ? chooseBaseline(view, first) : chooseSides(view, [first], others)))
        }
      >
        Several runs a side
      </button>
    </>
  );
}

/** The runs of both sides, where each may have several. */
export function SidesEditor({ page, sides }: { page: Page; sides: Sides }) {
  const [one] = sides.candidates;
  const { baselines, candidates } = page.view.value;
  const gone = baselines.length + candidates.length - sides.baselines.length - one!.runs.length;
  return (
    <div class="sides">
      <SideRow page={page} side="baselines" runs={sides.baselines} others={one!.runs} />
      <SideRow page={page} side="candidates" runs={one!.runs} others={sides.baselines} />
      {gone > 0 && <p class="warnings">{count(gone, "chosen run")} not there, or without a step: compared without.</p>}
      <p class="note">
        Two starts of the same training differ a little. Two runs on each side (or three on one) measure that spread, so
        that the intervals hold for such runs in general; with one run a side they hold for these two only. The first
        member of each run is compared; runs need not be shown in the charts.
      </p>
    </div>
  );
}

interface SideProps {
  page: Page;
  side: SideName;
  runs: readonly Run[];
  /** Those of the other side. */
  others: readonly Run[];
}

function SideRow({ page, side, runs, others }: SideProps) {
  const title = side === "baselines" ? "Baselines" : "Candidates";
  const shown = page.shown.value;
  return (
    <div class="side" role="group" aria-label={title}>
      <b>{title}</b>
      <ul>
        {runs.map(({ run }) => {
          const entry = shown.find((one) => one.run.run === run);
          return (
            <li key={run}>
              {entry && <Swatch color={RUN_COLORS[entry.color % RUN_COLORS.length]!} />}
              <Name text={run} />
              {runs.length > 1 && (
                <button
                  type="button"
                  class="icon"
                  aria-label={`Take ${visible(run)} out of the ${side}`}
                  onClick={({ currentTarget }) => {
                    // This button goes with the run: the keyboard goes on beside it.
                    currentTarget.closest("ul")!.querySelector<HTMLElement>(".menu > button")!.focus();
                    page.change((view) => toggleSide(view, side, run));
                  }}
                >
                  ×
                </button>
              )}
            </li>
          );
        })}
        <li>
          <Menu label={`Choose ${side}`}>
            <Choice page={page} side={side} runs={runs} others={others} />
          </Menu>
        </li>
      </ul>
    </div>
  );
}

/** All runs there are, to be searched and ticked. */
function Choice({ page, side, runs, others }: SideProps) {
  const query = useSignal("");
  const search = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => search.current?.focus(), []);
  const has = (list: readonly Run[], run: Run) => list.some((one) => one.run === run.run);
  // The runs chosen when the list was opened come first; they stay in their place while others are ticked.
  const chosen = useRef(runs).current;
  const found = page.analyses.comparable.value
    .filter(({ run }) => matches(run, query.value))
    .toSorted((a, b) => Number(has(chosen, b)) - Number(has(chosen, a)));
  const free = MAX_SIDE - runs.length;
  const more = found.filter((run) => !has(runs, run) && !has(others, run));
  const takeAll = () => page.change((view) => more.reduce((next, { run }) => toggleSide(next, side, run), view));
  return (
    <div class="side-choice">
      <input
        type="search"
        ref={search}
        placeholder="Search runs"
        aria-label={`Search runs for the ${side}`}
        value={query.value}
        onInput={({ currentTarget: { value } }) => (query.value = value)}
      />
      <p class="note" role="status">
        {integer(runs.length)} of at most {MAX_SIDE} chosen
        {query.value && `; ${count(found.length, "run")} found`}.{" "}
        {query.value && more.length > 1 && more.length <= free && (
          <button type="button" class="link" onClick={takeAll}>
            Take all {more.length}
          </button>
        )}
      </p>
      <ul>
        {found.slice(0, MAX_ROWS).map((run) => {
          const isOther = has(others, run);
          const checked = has(runs, run);
          return (
            <li key={run.run}>
              <label class="check">
                <input
                  type="checkbox"
                  checked={checked}
                  disabled={isOther || (checked ? runs.length < 2 : free < 1)}
                  onChange={() => page.change((view) => toggleSide(view, side, run.run))}
                />
                <Name text={run.run} />
                {isOther && <small>{side === "baselines" ? "candidate" : "baseline"}</small>}
              </label>
            </li>
          );
        })}
      </ul>
      {found.length > MAX_ROWS && <p class="note">{integer(found.length - MAX_ROWS)} more: search for them.</p>}
    </div>
  );
}
