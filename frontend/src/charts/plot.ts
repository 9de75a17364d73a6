import uPlot from "uplot";

import { hatch, resolve } from "./colors";
import { structure, type ChartModel } from "./model";
import { PLOT_LEFT, PLOT_RIGHT } from "./markers";
import { NAMES_HEIGHT, paintChanges, paintDots, paintMarkers, paintRanges, paintZone } from "./paint";
import { BYTE_INCREMENTS, STEP_INCREMENTS, tickLabels, TIME_INCREMENTS, yLabels, yText } from "./ticks";

/** The only module that knows the chart library. */

export interface PlotEvents {
  onCursor: (x: number | null) => void;
  onZoom: (x0: number, x1: number) => void;
  onReset: () => void;
}

export interface PlotOptions {
  width: number;
  height: number;
  domain: [number, number];
  /** Write the names of marks into the chart. */
  markNames: boolean;
}

export class Plot {
  private u: uPlot | null = null;
  private built = "";
  private model: ChartModel;
  private options: PlotOptions;

  constructor(
    private readonly root: HTMLElement,
    model: ChartModel,
    options: PlotOptions,
    private readonly events: PlotEvents,
  ) {
    this.model = model;
    this.options = options;
    this.update(model, options);
  }

  /** Shows other data; builds the chart anew only where its structure changed (or `force`, for a new theme). */
  update(model: ChartModel, options: PlotOptions, force = false): void {
    this.model = model;
    const resized = options.width !== this.options.width || options.height !== this.options.height;
    this.options = options;
    const shape = structure(model);
    const data: uPlot.AlignedData = [model.x, ...model.lines.map((line) => line.values)];
    if (!this.u || force || shape !== this.built) {
      this.u?.destroy();
      this.built = shape;
      this.u = new uPlot(this.settings(), data, this.root);
      return;
    }
    if (resized) this.u.setSize({ width: options.width, height: options.height });
    this.u.batch(() => {
      this.u!.setData(data, false);
      this.u!.setScale("x", { min: options.domain[0], max: options.domain[1] });
      const { limits } = model;
      this.u!.setScale("y", { min: limits?.min ?? 0, max: limits?.max ?? 1 });
      this.u!.redraw(true, true);
    });
  }

  /** Puts the crosshair at `x`, or takes it away. */
  showCursor(x: number | null): void {
    const u = this.u;
    if (!u) return;
    const left = x === null ? -10 : u.valToPos(x, "x");
    u.setCursor({ left: left >= 0 && left <= u.over.clientWidth ? left : -10, top: x === null ? -10 : 4 }, false);
  }

  /** Shades `[x0, x1]` as what would be zoomed to, or nothing. */
  showSelection(range: [number, number] | null): void {
    const u = this.u;
    if (!u) return;
    const [a, b] = range ? range.map((x) => u.valToPos(x, "x")).sort((p, q) => p - q) : [0, 0];
    u.setSelect({ left: a!, width: b! - a!, top: 0, height: u.over.clientHeight }, false);
  }

  destroy(): void {
    this.u?.destroy();
    this.u = null;
  }

  private settings(): uPlot.Options {
    const { model, options } = this;
    const text = resolve("--text-2");
    const grid = { stroke: resolve("--grid"), width: 1 };
    const font = "11px system-ui, sans-serif";
    return {
      width: options.width,
      height: options.height,
      padding: [options.markNames ? NAMES_HEIGHT : 8, PLOT_RIGHT, 0, 0],
      legend: { show: false },
      cursor: {
        y: false,
        points: { show: false },
        drag: { x: true, y: false, setScale: false, dist: 4 },
        bind: { dblclick: () => () => (this.events.onReset(), null) },
      },
      scales: {
        x: { time: model.axis === "wall", auto: false, range: () => this.options.domain },
        y: {
          auto: false,
          distr: model.log ? 3 : 1,
          range: () => [this.model.limits?.min ?? 0, this.model.limits?.max ?? 1],
        },
      },
      ms: 1,
      axes: [this.xAxis(text, grid, font), this.yAxis(text, grid, font)],
      series: [{}, ...model.lines.map((line) => this.series(line))],
      bands: model.bands
        .filter((band) => band.lower !== null)
        .map((band) => ({
          series: [band.upper + 1, band.lower! + 1],
          fill: (u) => this.fill(u, band.color, band.opacity, band.hatched),
        })),
      hooks: {
        drawAxes: [(u) => this.behind(u)],
        draw: [(u) => this.before(u)],
        setCursor: [(u) => this.cursorMoved(u)],
        setSelect: [(u) => this.selected(u)],
      },
    };
  }

  private behind(u: uPlot): void {
    paintRanges(u, this.model.marks);
    if (this.model.zone !== undefined) paintZone(u, this.model.zone);
  }

  private before(u: uPlot): void {
    const { model, options } = this;
    paintMarkers(u, model.marks, options.markNames);
    paintChanges(u, model.changes ?? [], model.faintChanges ?? false);
    paintDots(u, model);
  }

  private series(line: ChartModel["lines"][number]): uPlot.Series {
    const floor = this.model.bands.find((band) => band.lower === null && this.model.lines[band.upper] === line);
    const settings: uPlot.Series = {
      stroke: resolve(line.color, line.opacity),
      width: line.opacity === 0 ? 0 : line.width,
      points: {
        show: line.opacity > 0 ? undefined : false,
        size: 4,
        fill: resolve(line.color, line.opacity),
      } as uPlot.Series.Points,
    };
    if (line.dash) settings.dash = line.dash;
    if (floor) settings.fill = (u) => this.fill(u, floor.color, floor.opacity, floor.hatched);
    return settings;
  }

  private fill(u: uPlot, color: string, opacity: number, hatched = false): CanvasRenderingContext2D["fillStyle"] {
    return hatched
      ? hatch(u.ctx, resolve(color, Math.min(1, opacity + 0.2)), resolve(color, opacity * 0.45))
      : resolve(color, opacity);
  }

  private xAxis(stroke: string, grid: uPlot.Axis.Grid, font: string): uPlot.Axis {
    const { axis, origin } = this.model;
    const common: uPlot.Axis = {
      stroke,
      grid,
      ticks: { ...grid, size: 4 },
      font,
      size: axis === "wall" ? 38 : 26,
      gap: 4,
    };
    const settings: uPlot.Axis = {
      ...common,
      space: (_u, _index, _min, max) =>
        axis === "wall" ? 90 : Math.max(70, tickLabels(axis, origin, [max], 1000)[0]!.length * 7 + 24),
      values: (_u, splits, _index, _space, increment) => tickLabels(axis, origin, splits, increment),
    };
    // The calendar of wall time, with its months and daylight saving, is the library's own.
    return axis === "wall" ? settings : { ...settings, incrs: axis === "relative" ? TIME_INCREMENTS : STEP_INCREMENTS };
  }

  private yAxis(stroke: string, grid: uPlot.Axis.Grid, font: string): uPlot.Axis {
    const axis: uPlot.Axis = {
      stroke,
      grid,
      ticks: { show: false },
      font,
      size: PLOT_LEFT,
      gap: 6,
      space: 34,
      values: (_u, splits, _index, _space, increment) =>
        this.model.log
          ? splits.map((value) => (value === null ? null : yText(this.model.unit, value)))
          : yLabels(this.model.unit, splits, increment),
    };
    if (this.model.unit === "bytes") axis.incrs = BYTE_INCREMENTS;
    return axis;
  }

  private cursorMoved(u: uPlot): void {
    if (!u.cursor.event) return; // Moved by us, not by a person.
    const left = u.cursor.left ?? -1;
    this.events.onCursor(left < 0 ? null : u.posToVal(left, "x"));
  }

  private selected(u: uPlot): void {
    const { left, width } = u.select;
    if (width < 4) return;
    const [x0, x1] = [u.posToVal(left, "x"), u.posToVal(left + width, "x")];
    u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
    this.events.onZoom(x0, x1);
  }
}
