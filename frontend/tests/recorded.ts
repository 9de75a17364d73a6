import { readFileSync } from "node:fs";

import type { Comparison, Markers } from "../src/api/analysis";
import type { TraceList, TraceSummary, WindowComparison } from "../src/api/traces";
import type { Bands, Catalog, Conditions, Marks, Memory, Stages, Summary, Throughput } from "../src/api/types";
import { resolveEntries, type Answers, type Shown } from "../src/state/catalog";
import { INITIAL } from "../src/state/view";

/** Answers that dev/record.mjs wrote. */
export interface RecordedRun {
  summary: Summary;
  bands: Bands;
  stages: Stages;
  memory: Memory;
  throughput: Throughput;
  marks: Marks;
  conditions: Conditions;
  markers: Markers;
}

export function read<T>(name: string): T {
  return JSON.parse(readFileSync(`dev/recorded/${name}.json`, "utf8")) as T;
}

export const catalog = (): Catalog => read<Catalog>("runs");
export const run = (name: string): RecordedRun => read<RecordedRun>(`run ${name.replaceAll("/", "_")}`);

/** One run with a change of every kind. */
export const everyKind = (): Markers => read<Markers>("changes");
/** A healthy run compared with others, by what comes out. */
export const comparisons = (): Record<"regression" | "same" | "refused" | "overruled" | "few", Comparison> =>
  read("comparison");

/** What there is of traces, what some say, and two compared. */
export const traces = (): Record<"cpu" | "gpu" | "stepless" | "hostile", TraceSummary> & {
  list: TraceList;
  comparison: WindowComparison;
} => read("traces");

export function shown(...runs: string[]): Shown[] {
  return resolveEntries({ ...INITIAL, entries: runs.map((name) => ({ run: name, member: null })) }, catalog(), []);
}

export function answers<K extends keyof RecordedRun>(route: K, ...runs: string[]): Answers<RecordedRun[K]> {
  return { shown: shown(...runs), data: runs.map((name) => run(name)[route]) };
}
