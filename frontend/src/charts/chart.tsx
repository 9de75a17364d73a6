import type { Signal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";

import { theme } from "../host/theme";
import { keyAction } from "./keys";
import type { ChartModel } from "./model";
import { Plot } from "./plot";

export interface ChartProps {
  model: ChartModel;
  domain: [number, number];
  height: number;
  /** What the chart shows, in a sentence or two, for those who cannot see it. */
  summary: string;
  /** Positions that the keyboard's cursor visits, ascending. */
  stops: readonly number[];
  markNames?: boolean;
  cursor: Signal<number | null>;
  selection: Signal<[number, number] | null>;
  onZoom: (x0: number, x1: number) => void;
  onReset: () => void;
  onWidth?: (width: number) => void;
}

/** A chart: data in, events out. The cursor and the selection are shared with the other charts of the page. */
export function Chart(props: ChartProps) {
  const root = useRef<HTMLDivElement>(null);
  const plot = useRef<Plot | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const currentTheme = theme.value;
  const drawnTheme = useRef(currentTheme);

  useLayoutEffect(() => {
    const element = root.current!;
    const draw = () => {
      const { model, domain, height, markNames = false } = latest.current;
      const options = { width: Math.max(200, element.clientWidth), height, domain, markNames };
      if (plot.current) plot.current.update(model, options);
      else
        plot.current = new Plot(element, model, options, {
          onCursor: (x) => (latest.current.cursor.value = x),
          onZoom: (x0, x1) => latest.current.onZoom(x0, x1),
          onReset: () => latest.current.onReset(),
        });
    };
    draw();
    const observer = new ResizeObserver(() => {
      latest.current.onWidth?.(element.clientWidth);
      draw();
    });
    observer.observe(element);
    const stopCursor = props.cursor.subscribe((x) => plot.current?.showCursor(x));
    const stopSelection = props.selection.subscribe((range) => plot.current?.showSelection(range));
    return () => {
      observer.disconnect();
      stopCursor();
      stopSelection();
      plot.current?.destroy();
      plot.current = null;
    };
  }, []);

  useEffect(() => {
    const { model, domain, height, markNames = false } = props;
    const options = { width: Math.max(200, root.current!.clientWidth), height, domain, markNames };
    plot.current?.update(model, options, drawnTheme.current !== currentTheme);
    drawnTheme.current = currentTheme;
    plot.current?.showCursor(props.cursor.peek());
  }, [props.model, props.domain[0], props.domain[1], props.height, currentTheme]);

  const onKeyDown = (event: KeyboardEvent) => {
    const { stops, domain, cursor, selection, onZoom, onReset } = latest.current;
    const action = keyAction(event, { stops, domain, cursor: cursor.peek(), selection: selection.peek() });
    if (!action) return;
    event.preventDefault();
    if (action.cursor !== undefined) cursor.value = action.cursor;
    if (action.selection !== undefined) selection.value = action.selection;
    if (action.zoom === "reset") onReset();
    else if (action.zoom) onZoom(...action.zoom);
  };

  return (
    <div
      ref={root}
      class="chart"
      tabIndex={0}
      role="img"
      aria-label={`${props.summary} Keys: arrows move the cursor, Shift and arrows select, Enter zooms, Escape shows the whole run.`}
      onKeyDown={onKeyDown}
    />
  );
}
