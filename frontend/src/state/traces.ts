import { computed, effect, signal } from "@preact/signals";

import type { Client } from "../api/client";
import type { TraceList } from "../api/traces";
import type { Desk } from "../traces/desk";
import { Lazy } from "./lazy";
import type { Page } from "./page";
import { Resource } from "./resource";
import { NO_CHOICE, type TraceChoice } from "./trace-choice";

const SEARCHING_MS = 1000;
/** The server looks through the directories no more often. */
const AGAIN_MS = 10_000;

/** What shows traces: the code of traces.js, and its state. */
export interface TraceTools {
  views: typeof import("../traces/index");
  desk: Desk;
}

/**
 * Which traces there are. What reads and shows them is fetched once there is one, so that the first view stays small.
 */
export class Traces {
  readonly list = new Resource<TraceList>();
  readonly tools = new Lazy<TraceTools>("traces.css", async () => {
    const views = await import("../traces/index");
    return { views, desk: new views.Desk(this.page, this.client) };
  });
  readonly choice = signal<TraceChoice>(NO_CHOICE);

  private readonly visit = signal(0);
  private readonly listed = computed(() => {
    const { data } = this.list.state.value;
    return data !== null && data.traces.length + data.windows_without_trace.length > 0;
  });
  private lastCatalog: string | null = null;
  private askedAt = -Infinity;

  constructor(
    private readonly page: Page,
    private readonly client: Client,
  ) {}

  start(): () => void {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stops = [
      effect(() => this.load()),
      effect(() => {
        const { data, loading } = this.list.state.value;
        clearTimeout(timer);
        if (!loading && data?.state === "searching") timer = setTimeout(() => (this.visit.value += 1), SEARCHING_MS);
      }),
      effect(() => {
        if (this.listed.value) void this.tools.fetch();
      }),
      () => clearTimeout(timer),
      () => this.tools.part.peek()?.desk.stop(),
    ];
    return () => stops.forEach((stop) => stop());
  }

  /** Asks again for what failed. */
  retry(): void {
    if (this.list.state.peek().error) this.visit.value += 1;
    if (this.tools.failed.peek()) void this.tools.fetch();
  }

  choose(change: Partial<TraceChoice>): void {
    this.choice.value = { ...this.choice.peek(), ...change };
  }

  /**
   * After the charts, or where there is no run at all; again while the server searches, and when the list of runs was
   * read anew, but not too often.
   */
  private load(): void {
    const visit = this.visit.value;
    const { data, key: catalog } = this.page.catalog.state.value;
    const chartsThere = this.page.bands.value.data !== null || this.page.errors.value.length > 0;
    if (data?.runs.length !== 0 && (!chartsThere || !this.page.readable.value.length)) return;
    const now = Date.now();
    if (catalog !== this.lastCatalog && now - this.askedAt >= AGAIN_MS) {
      this.lastCatalog = catalog;
      this.askedAt = now;
    }
    void this.list.load(`${visit} ${this.lastCatalog}`, (abort) => this.client.get<TraceList>("traces", {}, abort));
  }
}
