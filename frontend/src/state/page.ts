import { computed, effect, signal, type ReadonlySignal, type Signal } from "@preact/signals";

import { ApiError, type Client, type Parameters } from "../api/client";
import type { Bands, BinAxis, Catalog, Conditions, Marks, Memory, Stages, Summary, Throughput } from "../api/types";
import { chooseOrigin } from "../charts/bins";
import type { HostSelection } from "../host/selection";
import {
  defaultEntry,
  isForeign,
  isLive,
  keyOf,
  membersByRun,
  resolveEntries,
  versionOf,
  type Answers,
  type Shown,
} from "./catalog";
import { Analyses } from "./analyses";
import { Resource, type Loaded } from "./resource";
import { Traces } from "./traces";
import { reconcile, zoomTo, type View } from "./view";

interface Extent {
  start: bigint;
  end: bigint;
}

const NOWHERE: Extent = { start: 0n, end: 1n };

type Many<T> = Signal<Loaded<Answers<T>>>;

/** The state of the page: the view, what there is, and what was fetched for both. */
export class Page {
  readonly view: Signal<View>;
  readonly cursor = signal<number | null>(null);
  readonly selection = signal<[number, number] | null>(null);
  /** Width of a chart in CSS pixels, which decides the number of bins; 0 until the page is laid out. */
  readonly chartWidth = signal(0);
  readonly hostSelection = signal<HostSelection | null>(null);
  readonly now = signal(Date.now() / 1000);

  readonly catalog = new Resource<Catalog>();
  private readonly resources = {
    summary: new Resource<Answers<Summary>>(),
    bands: new Resource<Answers<Bands>>(),
    stages: new Resource<Answers<Stages>>(),
    memory: new Resource<Answers<Memory>>(),
    throughput: new Resource<Answers<Throughput>>(),
    marks: new Resource<Answers<Marks>>(),
    conditions: new Resource<Answers<Conditions>>(),
  };
  readonly summary: Many<Summary> = this.resources.summary.state;
  readonly bands: Many<Bands> = this.resources.bands.state;
  readonly stages: Many<Stages> = this.resources.stages.state;
  readonly memory: Many<Memory> = this.resources.memory.state;
  readonly throughput: Many<Throughput> = this.resources.throughput.state;
  readonly marks: Many<Marks> = this.resources.marks.state;
  readonly conditions: Many<Conditions> = this.resources.conditions.state;
  /** Changes and comparison: they come later than the charts and never hold them up. */
  readonly analyses: Analyses;
  readonly traces: Traces;

  private lastShown: Shown[] = [];
  private visit = 0;

  /** The entries of the view that exist. */
  readonly shown: ReadonlySignal<Shown[]> = computed(() => {
    const catalog = this.catalog.state.value.data;
    this.lastShown = catalog ? resolveEntries(this.view.value, catalog, this.lastShown) : [];
    return this.lastShown;
  });
  /** Of these, the entries that have steps: a run may hold nothing yet, or nothing that can be read. */
  readonly readable = computed(() => this.shown.value.filter(({ member }) => member.num_steps > 0));
  readonly live = computed(() => this.shown.value.some(({ member }) => isLive(member, this.now.value)));
  readonly bins = computed(() => Math.min(2000, Math.max(100, Math.round(this.chartWidth.value / 100) * 50)));

  /** First and last position of the data that is there, over all entries; null before anything was read. */
  readonly extent = computed<Extent | null>(() => {
    const { bands, stages, memory } = this;
    const none = bands.value.error && stages.value.error ? memory : null;
    const answers: { axis: BinAxis }[] = (bands.value.data ?? stages.value.data ?? none?.value.data)?.data ?? [];
    const filled = answers.filter(({ axis }) => axis.start.length > 0 && axis.axis === this.view.value.axis);
    if (!filled.length) return null;
    const starts = filled.map(({ axis }) => BigInt(axis.base) + BigInt(Math.floor(axis.start[0]!)));
    const ends = filled.map(({ axis }) => BigInt(axis.base) + BigInt(Math.ceil(axis.end.at(-1)!)));
    return { start: starts.reduce((a, b) => (b < a ? b : a)), end: ends.reduce((a, b) => (b > a ? b : a)) };
  });
  /** What the x axis of all charts shows: the zoom, else everything; the last one until data of a new axis is there. */
  private readonly shownExtent = computed<Extent>(() => {
    const { range } = this.view.value;
    const extent = range ? { start: BigInt(range.start), end: BigInt(range.end) } : this.extent.value;
    const nothing = !this.bands.value.data && !this.stages.value.data;
    return (this.lastExtent = extent ?? (nothing ? NOWHERE : this.lastExtent));
  });
  private lastExtent = NOWHERE;
  /** The x axis is known: before that a chart would be drawn over nothing. */
  readonly placed = computed(() => this.shownExtent.value !== NOWHERE);
  /** Position that charts count from. */
  readonly origin = computed(() => chooseOrigin(this.shownExtent.value.start, this.shownExtent.value.end));
  /** Ends of the x axis of all charts, relative to the origin. */
  readonly domain = computed<[number, number]>(() => {
    const { start, end } = this.shownExtent.value;
    const first = Number(start - this.origin.value);
    return [first, Math.max(first + 1, Number(end - this.origin.value))];
  });
  private readonly axis = computed(() => this.view.value.axis);
  readonly loading = computed(() => Object.values(this.resources).some((resource) => resource.state.value.loading));
  readonly errors = computed(() =>
    [this.catalog, ...Object.values(this.resources), this.analyses.markers].flatMap(
      (resource) => resource.state.value.error ?? [],
    ),
  );

  constructor(
    private readonly client: Client,
    initial: View,
  ) {
    this.view = signal(initial);
    this.analyses = new Analyses(this, client);
    this.traces = new Traces(this, client);
  }

  /** Changes the view by one of the functions of view.ts. */
  change(update: (view: View) => View): void {
    const next = update(this.view.peek());
    if (next !== this.view.peek()) this.view.value = next;
  }

  /** Zooms all charts to positions relative to the origin, not beyond the data. */
  zoom(x0: number, x1: number): void {
    const { range } = this.view.peek();
    const whole = range ? null : this.extent.peek();
    const origin = this.origin.peek();
    let start = origin + BigInt(Math.floor(x0));
    let end = origin + BigInt(Math.ceil(x1));
    if (whole && start <= whole.start && end >= whole.end) return this.resetZoom();
    if (whole) {
      start = start < whole.start ? whole.start : start;
      end = end > whole.end ? whole.end : end;
    }
    this.selection.value = null;
    this.change((view) => zoomTo(view, { start: String(start), end: String(end) }));
  }

  resetZoom(): void {
    this.selection.value = null;
    this.change((view) => zoomTo(view, null));
  }

  /** Asks what there is; `force` also where the last answer is still fresh. */
  async refresh(): Promise<void> {
    this.now.value = Date.now() / 1000;
    await this.catalog.load(`catalog ${++this.visit}`, (abort) => this.client.get<Catalog>("runs", {}, abort));
  }

  async retry(): Promise<void> {
    await this.refresh();
    this.loadAll();
    this.analyses.retry();
    this.traces.retry();
  }

  /** Fetches whenever the view or the data changes. Returns what stops it. */
  start(): () => void {
    const stops = [
      effect(() => {
        const catalog = this.catalog.state.value.data;
        if (!catalog) return;
        const fallback = defaultEntry(catalog, this.hostSelection.value);
        this.change((view) => reconcile(view, membersByRun(catalog), fallback));
      }),
      effect(() => this.loadAll()),
      this.analyses.start(),
      this.traces.start(),
      effect(() => {
        // Positions count from the origin along the axis: with another one they mean nothing.
        void [this.origin.value, this.axis.value];
        this.cursor.value = this.selection.value = null;
      }),
    ];
    return () => stops.forEach((stop) => stop());
  }

  /** Address of a download of the primary entry, for the range that is shown. */
  downloadUrl(route: "samples" | "bands", extra: Parameters): string | null {
    const [first] = this.shown.value;
    if (!first) return null;
    const parameters = route === "bands" ? { ...this.binned(), ...this.bandParameters(first) } : this.ranged();
    return this.client.url(route, { run: first.run.run, member: first.member.member, ...parameters, ...extra });
  }

  private loadAll(): void {
    const shown = this.readable.value;
    const ranged = this.ranged();
    const binned = this.binned();
    const [primary] = shown;
    if (!primary) {
      for (const resource of Object.values(this.resources)) resource.clear();
      return;
    }
    if (this.chartWidth.value === 0) return;
    const { clock } = this.view.value;
    const only = [primary];
    this.many("bands", shown, (entry) => ({ ...binned, ...this.bandParameters(entry) }));
    this.many("summary", shown, () => ({ ...ranged, include: binned.include }));
    this.many("marks", only, () => ranged);
    this.many("stages", only, (entry) => ({
      ...binned,
      clock: clock === "device" && hasDevice(entry) ? "device" : null,
    }));
    this.many("memory", shown, () => binned);
    this.many("throughput", shown, () => binned);
    this.many("conditions", shown, () => ({}));
  }

  private many(name: keyof Page["resources"], shown: Shown[], parameters: (entry: Shown) => Parameters): void {
    const requests = shown.map((entry) => ({ run: entry.run.run, member: entry.member.member, ...parameters(entry) }));
    const key = JSON.stringify([requests, shown.map((entry) => [keyOf(entry), entry.color, versionOf(entry.member)])]);
    const resource = this.resources[name] as Resource<Answers<unknown>>;
    if (isForeign(resource.state.peek().data, shown[0]!)) resource.clear();
    void resource.load(key, async (abort) => ({
      shown,
      data: await Promise.all(requests.map((request) => this.client.get(name, request, abort))).catch(
        (error: unknown) => {
          this.refreshAfter(error);
          throw error;
        },
      ),
    }));
  }

  /** A run that is gone from the disk answers "not there": the list of runs is out of date then. */
  private refreshAfter(error: unknown): void {
    if (error instanceof ApiError && error.status === 404 && Date.now() / 1000 - this.now.peek() > 2)
      void this.refresh();
  }

  private ranged(): Parameters {
    const { axis, range } = this.view.value;
    return { axis: axis === "step" ? null : axis, start: range?.start, end: range?.end };
  }

  private binned(): Parameters {
    return { ...this.ranged(), bins: this.bins.value, include: this.view.value.include.join(",") };
  }

  private bandParameters(entry: Shown): Parameters {
    const { clock, percentiles } = this.view.value;
    return {
      column: clock === "device" && hasDevice(entry) ? "device_step_time_ms" : null,
      percentiles: percentiles.join(","),
    };
  }
}

export const hasDevice = ({ member }: Shown): boolean => member.columns.includes("device_step_time_ms");
