import { computed, effect, signal } from "@preact/signals";

import { isAbort, type Client, type Parameters } from "../api/client";
import type { Comparison, Markers } from "../api/analysis";
import type { Run } from "../api/types";
import { isForeign, keyOf, versionOf, type Answers, type Shown } from "./catalog";
import { Lazy } from "./lazy";
import { hasDevice, type Page } from "./page";
import { Resource } from "./resource";

/** Runs that are compared as one side, and the index of their colour. */
export interface Candidate {
  runs: readonly Run[];
  color: number;
}

export interface Sides {
  baselines: readonly Run[];
  /** Each is compared by itself. */
  candidates: readonly Candidate[];
  /** Chosen as several runs a side. */
  together: boolean;
}

/** A candidate compared with the baselines, or why it could not be. */
export interface Compared extends Candidate {
  data: Comparison | null;
  error: Error | null;
}

export interface Comparisons {
  baselines: readonly Run[];
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
  /** One entry a run that is shown: comparison is between runs. */
  readonly shownRuns = computed(() => {
    const seen = new Set<string>();
    return this.page.readable.value.filter(({ run }) => !seen.has(run.run) && seen.add(run.run));
  });
  /** The runs that can be compared: the first member of each is what is compared. */
  readonly comparable = computed(() =>
    (this.page.catalog.state.value.data?.runs ?? []).filter(({ members }) => (members[0]?.num_steps ?? 0) > 0),
  );
  /** What is compared with what; null where there is nothing to compare. */
  readonly sides = computed<Sides | null>(() => {
    const { baselines, candidates } = this.page.view.value;
    const shown = this.shownRuns.value;
    const named = (names: readonly string[]) =>
      names.flatMap((name) => this.comparable.value.find(({ run }) => run === name) ?? []);
    const some = named(baselines);
    const others = named(candidates).filter((run) => !some.includes(run));
    if (some.length && others.length) {
      const color = shown.find(({ run }) => candidates.includes(run.run))?.color ?? 1;
      return { baselines: some, candidates: [{ runs: others, color }], together: true };
    }
    const first = shown.find(({ run }) => run.run === baselines[0]) ?? shown[0];
    if (!first || shown.length < 2) return null;
    const rest = shown.filter((entry) => entry !== first).map(({ run, color }) => ({ runs: [run], color }));
    return { baselines: [first.run], candidates: rest, together: false };
  });
  /** What shows a comparison. */
  readonly views = new Lazy("comparison.css", () => import("../comparison/index"));
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
        if (this.sides.value) void this.views.fetch();
      }),
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
    const effects = this.effects();
    const requests = shown.map((entry) => ({
      run: entry.run.run,
      member: entry.member.member,
      axis: axis === "step" ? null : axis,
      clock: clock === "device" && hasDevice(entry) ? "device" : null,
      ...effects,
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
    const sides = this.sides.value;
    if (!sides) return this.comparison.clear();
    const { baselines, candidates } = sides;
    const before = this.comparison.state.peek().data;
    const wanted = candidates.map(({ runs }) => sideKey(runs));
    const stays = ({ runs }: Candidate) => wanted.includes(sideKey(runs));
    if (before && !(sideKey(before.baselines) === sideKey(baselines) && before.candidates.every(stays)))
      this.comparison.clear();
    const all = [...baselines, ...candidates.flatMap(({ runs }) => runs)];
    const device =
      clock === "device" && all.every(({ members }) => members[0]!.columns.includes("device_step_time_ms"));
    const effects = this.effects();
    const requests = candidates.map(({ runs }) => ({
      baseline: baselines.map(({ run }) => run),
      candidate: runs.map(({ run }) => run),
      overrule: overrule.includes(runs[0]!.run) ? 1 : null,
      clock: device ? "device" : null,
      ...effects,
    }));
    // Of a run that grows, 2 % more steps are worth another look.
    const versions = all.map(({ members }) => {
      const { num_steps: steps, num_attempts: attempts, end } = members[0]!;
      return [Math.floor(Math.log(steps + 1) / Math.log(1.02)), attempts, end];
    });
    const colors = candidates.map(({ color }) => color);
    void this.comparison.load(JSON.stringify([requests, versions, colors]), async (abort, partly) => {
      const done: Compared[] = [];
      for (const [i, request] of requests.entries()) {
        const one: Compared = { ...candidates[i]!, data: null, error: null };
        try {
          one.data = await this.client.get<Comparison>("comparison", request, abort);
        } catch (error) {
          if (isAbort(error)) throw error;
          one.error = error as Error;
        }
        done.push(one);
        partly({ baselines, candidates: [...done] });
      }
      return { baselines, candidates: done };
    });
  }

  private effects(): Parameters {
    const { minEffect, minTailEffect } = this.page.view.value;
    return { min_effect: minEffect, min_tail_effect: minTailEffect };
  }
}

/** Which runs make a side, as one text. */
export const sideKey = (runs: readonly Run[]): string => JSON.stringify(runs.map(({ run }) => run));
