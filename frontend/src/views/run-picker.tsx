import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";

import type { Run } from "../api/types";
import { RUN_COLORS } from "../charts/colors";
import { integer } from "../format/numbers";
import { groupNames, matches } from "../format/names";
import { visible } from "../format/text";
import { isSelected, type Shown } from "../state/catalog";
import type { Page } from "../state/page";
import { MAX_ENTRIES, showOnly, toggleOverlay } from "../state/view";
import { Name, styled, Swatch } from "./parts";
import { inSight, pickerKey, pickerRows, pinned, type PickerRow } from "./picker-rows";
import { ShownRuns } from "./shown-runs";

const ROW_CHROME_PX = 64;

/** The runs: search, choose one, lay others over it. Draws only the rows in sight, so 400 runs cost as much as 20. */
export function RunPicker({ page }: { page: Page }) {
  const query = useSignal("");
  const active = useSignal(-1);
  const everything = useSignal(false);
  const width = useSignal(280);
  const root = useRef<HTMLElement>(null);
  const runs = page.catalog.state.value.data?.runs ?? [];
  const selection = page.hostSelection.value;
  const selected = useMemo(
    () => (selection ? runs.filter((run) => isSelected(run, selection)) : runs),
    [runs, selection],
  );
  const narrowed = selection !== null && selected.length < runs.length;
  const offered = narrowed && !everything.value ? selected : runs;
  const groups = useMemo(() => groupNames(offered.map((run) => run.run)), [offered]);
  const rows = useMemo(
    () =>
      pickerRows(
        offered.map((run) => run.run),
        groups,
        (i) => matches(offered[i]!.run, query.value),
        Math.max(80, width.value - ROW_CHROME_PX),
      ),
    [offered, groups, query.value, width.value],
  );
  const found = useMemo(() => rows.flatMap(({ name }) => (name === null ? [] : [offered[name]!])), [rows]);
  const shownFirst = page.shown.value[0]?.run.run;

  useEffect(() => {
    const observer = new ResizeObserver(() => (width.value = root.current?.clientWidth ?? 280));
    observer.observe(root.current!);
    return () => observer.disconnect();
  }, []);

  const chosen = active.value < 0 ? found.findIndex((run) => run.run === shownFirst) : active.value;
  const activeIndex = Math.min(Math.max(0, chosen), Math.max(0, found.length - 1));
  const hovered = useSignal<string | null>(null);
  const activeRun = found[activeIndex];

  const onKeyDown = (event: KeyboardEvent) => {
    const action = pickerKey(event, activeIndex, found.length, event.target instanceof HTMLInputElement);
    if (!action) return;
    event.preventDefault();
    if (action.move !== undefined) active.value = action.move;
    if (action.choose && activeRun) page.change((view) => showOnly(view, { run: activeRun.run, member: null }));
    if (action.toggle && activeRun) page.change((view) => toggleOverlay(view, { run: activeRun.run, member: null }));
    if (action.clear) query.value = "";
    if (action.type !== undefined) {
      query.value += action.type;
      root.current?.querySelector("input")?.focus();
    }
  };

  return (
    <aside class="picker" ref={root} aria-label="Runs">
      <ShownRuns page={page} />
      <div class="search" onKeyDown={onKeyDown}>
        <input
          type="search"
          placeholder={`Search ${integer(offered.length)} ${offered.length === 1 ? "run" : "runs"}`}
          aria-label="Search runs"
          aria-controls="run-list"
          value={query.value}
          onInput={(event) => {
            query.value = event.currentTarget.value;
            active.value = 0;
          }}
        />
      </div>
      {narrowed && (
        <p class="note">
          {everything.value ? "All runs. " : `Following ${selection.description}. `}
          <button type="button" class="link" onClick={() => (everything.value = !everything.value)}>
            {everything.value ? `Follow ${selection.description}` : `Show all ${integer(runs.length)}`}
          </button>
        </p>
      )}
      <List
        page={page}
        rows={rows}
        found={found}
        active={activeIndex}
        onKeyDown={onKeyDown}
        onActive={(i) => (active.value = i)}
        onHover={(run) => (hovered.value = run)}
      />
      <p class="full-name" aria-hidden="true">
        {hovered.value !== null
          ? visible(hovered.value)
          : activeRun
            ? visible(activeRun.run)
            : query.value
              ? "No run matches."
              : ""}
      </p>
      <p class="note keys">↑ ↓ move · Enter show · Space overlay</p>
    </aside>
  );
}

interface ListProps {
  page: Page;
  rows: PickerRow[];
  found: Run[];
  active: number;
  onKeyDown: (event: KeyboardEvent) => void;
  onActive: (index: number) => void;
  onHover: (run: string | null) => void;
}

function List({ page, rows, found, active, onKeyDown, onActive, onHover }: ListProps) {
  const scroll = useSignal(0);
  const height = useSignal(400);
  const box = useRef<HTMLDivElement>(null);
  const inner = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const observer = new ResizeObserver(() => (height.value = box.current?.clientHeight ?? 400));
    observer.observe(box.current!);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => {
    const element = box.current!;
    // The first run of a group comes with its heading.
    const own = rows.filter((row) => row.index === active);
    const end = (own[0]?.top ?? 0) + own.reduce((sum, row) => sum + row.height, 0);
    // Else the heading, pinned, would cover the run.
    const top = (own[0]?.top ?? 0) - (own[0]?.heading?.height ?? 0);
    if (top < element.scrollTop) element.scrollTop = top;
    else if (end > element.scrollTop + element.clientHeight) element.scrollTop = end - element.clientHeight;
  }, [active, rows]);
  const last = rows.at(-1);
  const pin = pinned(rows, scroll.value);
  useLayoutEffect(() => inner.current?.style.setProperty("--height", `${last ? last.top + last.height : 0}px`), [last]);
  const shown = page.shown.value;
  return (
    <div
      class="run-list"
      id="run-list"
      ref={box}
      role="listbox"
      aria-label="Runs"
      aria-multiselectable="true"
      tabIndex={0}
      aria-activedescendant={found.length ? `run-${active}` : undefined}
      onKeyDown={onKeyDown}
      onScroll={(event) => (scroll.value = event.currentTarget.scrollTop)}
    >
      <div class="run-pinned" aria-hidden="true">
        {pin && (
          <div class="run-group" ref={styled({ "--height": `${pin.height}px` })}>
            {pin.text}
          </div>
        )}
      </div>
      <div class="run-list-inner" ref={inner}>
        {inSight(rows, scroll.value, height.value).map((row) => {
          const run = row.name === null ? null : found[row.index]!;
          return run ? (
            <Row
              key={run.run}
              page={page}
              run={run}
              row={row}
              active={row.index === active}
              entry={shown.find((s) => s.run.run === run.run)}
              total={found.length}
              onActive={onActive}
              onHover={onHover}
            />
          ) : (
            <div key={`heading ${row.index}`} class="run-group" aria-hidden="true" ref={place(row)}>
              {row.text}
            </div>
          );
        })}
      </div>
    </div>
  );
}

interface RowProps {
  page: Page;
  run: Run;
  row: PickerRow;
  total: number;
  active: boolean;
  entry: Shown | undefined;
  onActive: (index: number) => void;
  onHover: (run: string | null) => void;
}

const place = ({ top, height }: PickerRow) => styled({ "--top": `${top}px`, "--height": `${height}px` });

function Row({ page, run, row, total, active, entry, onActive, onHover }: RowProps) {
  const { index } = row;
  const only = () => {
    onActive(index);
    page.change((view) => showOnly(view, { run: run.run, member: null }));
  };
  const overlay = (event: Event) => {
    event.stopPropagation();
    onActive(index);
    page.change((view) => toggleOverlay(view, { run: run.run, member: null }));
  };
  const full = !entry && page.shown.value.length >= MAX_ENTRIES;
  return (
    <div
      class={`run ${active ? "active" : ""}`}
      id={`run-${index}`}
      role="option"
      aria-selected={entry !== undefined}
      aria-setsize={total}
      aria-posinset={index + 1}
      aria-label={visible(run.run)}
      ref={place(row)}
      onClick={only}
      onMouseEnter={() => onHover(run.run)}
      onMouseLeave={() => onHover(null)}
    >
      <span
        class={`overlay ${full ? "full" : ""}`}
        aria-hidden="true"
        title={entry ? "Take away" : full ? `At most ${MAX_ENTRIES} at once` : "Lay over the others"}
        onClick={overlay}
      >
        {entry ? <Swatch color={RUN_COLORS[entry.color % RUN_COLORS.length]!} /> : <span class="empty-swatch" />}
      </span>
      <Name text={run.run}>{row.text}</Name>
      {run.members.length > 1 && (
        <small>
          {run.members.length} {run.members.every((m) => m.rank === 0) ? "writers" : "ranks"}
        </small>
      )}
    </div>
  );
}
