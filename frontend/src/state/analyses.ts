import { computed, effect, signal } from "@preact/signals";

import { isAbort, type Client } from "../api/client";
import type { Comparison, Markers } from "../api/analysis";
import { isForeign, keyOf, versionOf, type Answers, type Shown } from "./catalog";
import { hasDevice, type Page } from "./page";
import { Resource } from "./resource";

/** A run compared with the baseline, or why it could not be. */
export interface Compared {
  candidate: Shown;
  data: Comparison | null;
  error: Error | null;
}

export interface Comparisons {
  baseline: Shown;
  /** As far as they have come. */
  candidates: Compared[];
}

const POLL_MS = 1500;
/** The server looks at newer steps once they are many, or after a minute. */
const NEWER_MS = 15_000;

/** What takes the server longer than a chart: it is asked for once the charts are there, and again while it works. */
export class Analyses {
  readonly markers = new Resource<Answers<Markers>>();
  readonly comparison = new Resource<Comparisons>();
  /** One entry a run: comparison is between runs. */
  readonly runs = computed(() => {
    const seen = new Set<string>();
    return this.page.readable.value.filter(({ run }) => !seen.has(run.run) && seen.add(run.run));
  });
  readonly baseline = computed(() => {
    const wanted = this.page.view.value.baseline;
    return this.runs.value.find(({ run }) => run.run === wanted) ?? this.runs.value[0];
  });
  private readonly visit = signal(0);
  private readonly chartsThere = computed(
    () => this.page.bands.value.data !== null || this.page.errors.value.length > 0,
  );

  constructor(
    private readonly page: Page,
    private readonly client: Client,
  ) {}

  start(): () => void {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stops = [
      effect(() => this.load()),
      effect(() => {
        const { data, loading } = this.markers.state.value;
        clearTimeout(timer);
        if (loading || !data) return;
        const wait = data.data.some(({ state }) => state === "computing")
          ? POLL_MS
          : data.data.some(({ num_steps_newer: newer }) => newer > 0)
            ? NEWER_MS
            : null;
        if (wait !== null) timer = setTimeout(() => (this.visit.value += 1), wait);
      }),
      () => clearTimeout(timer),
    ];
    return () => stops.forEach((stop) => stop());
  }

  /** Asks again for what failed. */
  retry(): void {
    if (this.comparison.state.peek().data?.candidates.some(({ error }) => error)) this.comparison.clear();
    this.load();
  }

  private load(): void {
    const shown = this.page.readable.value;
    if (!shown.length) {
      this.markers.clear();
      this.comparison.clear();
    } else if (this.chartsThere.value) {
      this.loadMarkers(shown);
      this.loadComparison();
    }
  }

  private loadMarkers(shown: Shown[]): void {
    const { axis, clock } = this.page.view.value;
    const requests = shown.map((entry) => ({
      run: entry.run.run,
      member: entry.member.member,
      axis: axis === "step" ? null : axis,
      clock: clock === "device" && hasDevice(entry) ? "device" : null,
    }));
    if (isForeign(this.markers.state.peek().data, shown[0]!)) this.markers.clear();
    const versions = shown.map((entry) => [keyOf(entry), entry.color, versionOf(entry.member)]);
    void this.markers.load(JSON.stringify([requests, versions, this.visit.value]), async (abort) => ({
      shown,
      data: await Promise.all(requests.map((request) => this.client.get<Markers>("markers", request, abort))),
    }));
  }

  /** One after the other: a browser has few connections, and zooming must not wait for them. */
  private loadComparison(): void {
    const { clock, overrule } = this.page.view.value;
    const baseline = this.baseline.value!;
    const candidates = this.runs.value.filter((entry) => entry !== baseline);
    if (!candidates.length) return this.comparison.clear();
    const before = this.comparison.state.peek().data;
    if (before && keyOf(before.baseline) !== keyOf(baseline)) this.comparison.clear();
    const device = clock === "device" && [baseline, ...candidates].every(hasDevice);
    const requests = candidates.map(({ run }) => ({
      baseline: baseline.run.run,
      candidate: run.run,
      overrule: overrule.includes(run.run) ? 1 : null,
      clock: device ? "device" : null,
    }));
    // Of a run that grows, 2 % more steps are worth another look.
    const versions = [baseline, ...candidates].map(({ run, color }) => {
      const { num_steps: steps, num_attempts: attempts, end } = run.members[0]!;
      return [color, Math.floor(Math.log(steps + 1) / Math.log(1.02)), attempts, end];
    });
    void this.comparison.load(JSON.stringify([requests, versions]), async (abort, partly) => {
      const done: Compared[] = [];
      for (const [i, request] of requests.entries()) {
        const one: Compared = { candidate: candidates[i]!, data: null, error: null };
        try {
          one.data = await this.client.get<Comparison>("comparison", request, abort);
        } catch (error) {
          if (isAbort(error)) throw error;
          one.error = error as Error;
        }
        done.push(one);
        partly({ baseline, candidates: [...done] });
      }
      return { baseline, candidates: done };
    });
  }
}
