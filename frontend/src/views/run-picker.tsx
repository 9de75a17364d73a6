import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";

import type { Run } from "../api/types";
import { RUN_COLORS } from "../charts/colors";
import { integer } from "../format/numbers";
import { matches, sharedEnds, shorten } from "../format/names";
import { visible } from "../format/text";
import { isSelected, type Shown } from "../state/catalog";
import type { Page } from "../state/page";
import { MAX_ENTRIES, showOnly, toggleOverlay } from "../state/view";
import { Name, Swatch } from "./parts";
import { pickerKey, windowOf } from "./picker-keys";
import { ShownRuns } from "./shown-runs";

const CHARACTER_PX = 7.4;
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
  const found = useMemo(() => offered.filter((run) => matches(run.run, query.value)), [offered, query.value]);
  const shared = useMemo(() => sharedEnds(runs.map((run) => run.run)), [runs]);
  const shownFirst = page.shown.value[0]?.run.run;

  useEffect(() => {
    const observer = new ResizeObserver(() => (width.value = root.current?.clientWidth ?? 280));
    observer.observe(root.current!);
    return () => observer.disconnect();
  }, []);

  const perLine = Math.max(10, Math.floor((width.value - ROW_CHROME_PX) / CHARACTER_PX));
  const long = found.some((run) => visible(run.run).length > perLine);
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
      <ShownRuns page={page} perLine={perLine} shared={shared} />
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
        found={found}
        active={activeIndex}
        rowHeight={long ? 46 : 32}
        onKeyDown={onKeyDown}
        onActive={(i) => (active.value = i)}
        onHover={(run) => (hovered.value = run)}
        label={(run) => shorten(visible(run.run), shared, long ? perLine * 2 - 2 : perLine)}
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
  found: Run[];
  active: number;
  rowHeight: number;
  label: (run: Run) => string;
  onKeyDown: (event: KeyboardEvent) => void;
  onActive: (index: number) => void;
  onHover: (run: string | null) => void;
}

function List({ page, found, active, rowHeight, label, onKeyDown, onActive, onHover }: ListProps) {
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
    const top = active * rowHeight;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + rowHeight > element.scrollTop + element.clientHeight)
      element.scrollTop = top + rowHeight - element.clientHeight;
  }, [active, rowHeight]);
  const [from, to] = windowOf(scroll.value, height.value, rowHeight, found.length);
  useLayoutEffect(
    () => inner.current?.style.setProperty("--height", `${found.length * rowHeight}px`),
    [found.length, rowHeight],
  );
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
      <div class="run-list-inner" ref={inner}>
        {found.slice(from, to).map((run, k) => (
          <Row
            key={run.run}
            page={page}
            run={run}
            index={from + k}
            active={from + k === active}
            rowHeight={rowHeight}
            label={label(run)}
            entry={shown.find((s) => s.run.run === run.run)}
            total={found.length}
            onActive={onActive}
            onHover={onHover}
          />
        ))}
      </div>
    </div>
  );
}

interface RowProps {
  page: Page;
  run: Run;
  index: number;
  total: number;
  active: boolean;
  rowHeight: number;
  label: string;
  entry: Shown | undefined;
  onActive: (index: number) => void;
  onHover: (run: string | null) => void;
}

function Row({ page, run, index, total, active, rowHeight, label, entry, onActive, onHover }: RowProps) {
  const place = (element: HTMLElement | null) => {
    element?.style.setProperty("--top", `${index * rowHeight}px`);
    element?.style.setProperty("--height", `${rowHeight}px`);
  };
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
      ref={place}
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
      <Name text={run.run}>{label}</Name>
      {run.members.length > 1 && (
        <small>
          {run.members.length} {run.members.every((m) => m.rank === 0) ? "writers" : "ranks"}
        </small>
      )}
    </div>
  );
}
