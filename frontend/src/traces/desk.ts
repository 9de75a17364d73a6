import { computed, effect, signal, type ReadonlySignal, type Signal } from "@preact/signals";

import type { Client } from "../api/client";
import type { ComparisonAnswer, Progress, TraceAnswer, TraceFile, TraceList, WindowComparison } from "../api/traces";
import type { Page } from "../state/page";
import { PerfettoDoor } from "./perfetto";

const POLL_MS = 500;

/** How far a trace is: as the server says, or not asked for, or not answered. */
export interface Reading extends Omit<TraceAnswer, "state"> {
  state: TraceAnswer["state"] | "unread" | "failed";
}

export interface Comparing {
  before: Reading;
  after: Reading;
  comparison: WindowComparison | null;
  /** The comparison itself was not answered. */
  error: string | null;
}

export const isUnderWay = ({ state }: Pick<Reading, "state">): boolean => state === "queued" || state === "reading";

const unread = (trace: string): Reading => ({
  trace,
  state: "unread",
  progress: 0,
  num_ahead: 0,
  message: null,
  summary: null,
});
const asReading = (progress: Progress): Reading => ({ ...progress, summary: null });

/** Reads traces when a person asks, and only then; what was chosen in the address was asked for. */
export class Desk {
  readonly comparing = signal<Comparing | null>(null);
  readonly perfetto: PerfettoDoor;
  private readonly readings = new Map<string, Signal<Reading>>();
  private readonly timers = new Map<string, ReturnType<typeof setTimeout>>();
  /** Counts the questions about each trace and about the comparison: an answer to an older one is dropped. */
  private readonly turns = new Map<string, number>();
  private readonly stops: (() => void)[];

  readonly list: ReadonlySignal<TraceList | null> = computed(() => this.page.traces.list.state.value.data);
  private readonly chosen = computed(() => this.page.traces.choice.value.open);
  private readonly pair = computed(() => {
    const { before, after } = this.page.traces.choice.value;
    return before !== null && after !== null ? `${before} ${after}` : null;
  });

  constructor(
    readonly page: Page,
    private readonly client: Client,
  ) {
    this.perfetto = new PerfettoDoor(window, (trace) => client.url("trace_file", { trace }));
    this.stops = [
      effect(() => {
        const trace = this.chosen.value;
        if (trace !== null && this.reading(trace).peek().state === "unread") void this.read(trace);
      }),
      effect(() => {
        const pair = this.pair.value;
        this.cease("pair");
        this.comparing.value = null;
        if (pair !== null) void this.compare();
      }),
    ];
  }

  /** Asks nothing more; what the server reads, it goes on reading. */
  stop(): void {
    this.stops.forEach((stop) => stop());
    for (const name of [...this.timers.keys(), ...this.turns.keys()]) this.cease(name);
  }

  file(trace: string | null): TraceFile | null {
    return this.list.value?.traces.find((file) => file.trace === trace) ?? null;
  }

  /** What is known of a trace here. */
  reading(trace: string): Signal<Reading> {
    let found = this.readings.get(trace);
    if (!found) this.readings.set(trace, (found = signal(unread(trace))));
    return found;
  }

  /** Opens a trace below the list; that begins its reading. */
  open(trace: string): void {
    this.page.traces.choose({ open: trace });
    const { state } = this.reading(trace).peek();
    if (state === "cancelled" || state === "failed") void this.read(trace);
  }

  close(): void {
    this.page.traces.choose({ open: null });
  }

  comparePair(before: string, after: string): void {
    const same = this.pair.peek() === `${before} ${after}`;
    this.page.traces.choose({ before, after });
    if (same) void this.compare();
  }

  endComparison(): void {
    this.page.traces.choose({ before: null, after: null });
  }

  async read(trace: string): Promise<void> {
    const state = this.reading(trace);
    if (state.peek().state !== "done") state.value = { ...unread(trace), state: "queued" };
    await this.ask(trace);
  }

  /** Stops the reading at the server, and asking about it. */
  cancel(trace: string): Promise<void> {
    return this.ask(trace, true);
  }

  /** Stops reading for the comparison. */
  async cancelPair(): Promise<void> {
    const now = this.comparing.peek();
    if (!now) return;
    this.cease("pair");
    const stopped = (reading: Reading): Reading => (isUnderWay(reading) ? { ...reading, state: "cancelled" } : reading);
    this.comparing.value = { ...now, before: stopped(now.before), after: stopped(now.after) };
    await Promise.all([now.before, now.after].filter(isUnderWay).map(({ trace }) => this.cancel(trace)));
  }

  tableUrl(trace: string, table: "steps" | "operators" | "kernels" | "waits"): string {
    return this.client.url("trace_table", { trace, table });
  }

  fileUrl(trace: string): string {
    return this.client.url("trace_file", { trace });
  }

  private async ask(trace: string, cancel = false): Promise<void> {
    const state = this.reading(trace);
    const turn = this.take(trace);
    try {
      const answer = await this.client.get<TraceAnswer>("trace", { trace, cancel: cancel ? 1 : null });
      if (turn !== this.turns.get(trace)) return;
      state.value = answer;
      if (isUnderWay(answer)) this.later(trace, () => this.ask(trace));
    } catch (error) {
      if (turn !== this.turns.get(trace)) return;
      state.value = { ...unread(trace), state: "failed", message: (error as Error).message };
    }
  }

  /** Asks about the chosen pair until it is compared, or one of the two cannot be. */
  async compare(): Promise<void> {
    const { before, after } = this.page.traces.choice.peek();
    if (before === null || after === null) return;
    const turn = this.take("pair");
    const queued = (trace: string): Reading => ({ ...unread(trace), state: "queued" });
    const known = this.comparing.peek();
    this.comparing.value =
      known && !known.error ? known : { before: queued(before), after: queued(after), comparison: null, error: null };
    try {
      const answer = await this.client.get<ComparisonAnswer>("trace_comparison", { before, after });
      if (turn !== this.turns.get("pair")) return;
      const sides = { before: asReading(answer.before), after: asReading(answer.after) };
      this.comparing.value = { ...sides, comparison: answer.comparison, error: null };
      const waits = [sides.before, sides.after].some(isUnderWay);
      if (!answer.comparison && waits) this.later("pair", () => this.compare());
    } catch (error) {
      if (turn !== this.turns.get("pair")) return;
      this.comparing.value = { ...this.comparing.peek()!, error: (error as Error).message };
    }
  }

  private later(name: string, ask: () => Promise<void>): void {
    this.timers.set(
      name,
      setTimeout(() => void ask(), POLL_MS),
    );
  }

  private take(name: string): number {
    this.cease(name);
    return this.turns.get(name)!;
  }

  private cease(name: string): void {
    clearTimeout(this.timers.get(name));
    this.turns.set(name, (this.turns.get(name) ?? 0) + 1);
  }
}
