import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

export interface PanelProps {
  id: string;
  title: string;
  /** One quiet line beside the title: unit, clock, whose data. */
  note?: ComponentChildren;
  controls?: ComponentChildren;
  /** Makes the table that "Show as table" opens; none where there is nothing to list. */
  table?: (() => ComponentChildren) | null;
  children: ComponentChildren;
}

/** A section of the page with a title, its switches and a table of the same numbers. */
export function Panel({ id, title, note, controls, table, children }: PanelProps) {
  const asTable = useSignal(false);
  return (
    <section class="panel" aria-labelledby={`${id}-title`} id={id}>
      <header class="panel-head">
        <h2 id={`${id}-title`}>{title}</h2>
        {note && <p class="note">{note}</p>}
        <div class="controls">
          {controls}
          {table && (
            <button
              type="button"
              class="button quiet"
              aria-pressed={asTable.value}
              onClick={() => (asTable.value = !asTable.value)}
            >
              {asTable.value ? "Hide table" : "Show as table"}
            </button>
          )}
        </div>
      </header>
      {children}
      {asTable.value && table?.()}
    </section>
  );
}

/** Stands where a chart will be, with its height, so that nothing jumps; says so where the chart did not come. */
export function ChartSkeleton({
  height,
  failed = false,
  onWidth,
}: {
  height: number;
  failed?: boolean;
  onWidth?: (width: number) => void;
}) {
  const root = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    root.current!.style.setProperty("--height", `${height}px`);
    onWidth?.(root.current!.clientWidth || 1000);
  }, []);
  return (
    <div class={failed ? "failed" : "skeleton"} ref={root} role="status" aria-label={failed ? undefined : "Loading"}>
      {failed && "This could not be loaded; the reason stands at the top of the page."}
    </div>
  );
}
