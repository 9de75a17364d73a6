import type { AxisName, Clock, FlagName } from "../api/types";

/** What a person has chosen; everything else follows from it and the data. Changed only by the functions below. */

export interface Entry {
  run: string;
  /** null: the run's first member. */
  member: string | null;
}

export interface Range {
  /** Decimal integers in the unit of the axis, half-open. */
  start: string;
  end: string;
}

export type YScale = "fit" | "zero" | "log";
export type StageMode = "stacked" | "lines" | "share";

export interface View {
  /** The first entry is the primary one; the others are laid over it. */
  entries: readonly Entry[];
  axis: AxisName;
  range: Range | null;
  include: readonly FlagName[];
  percentiles: readonly number[];
  showMax: boolean;
  showLeftOut: boolean;
  yScale: YScale;
  stageMode: StageMode;
  clock: Clock;
  /** Runs that others are compared with; none: the first one that is shown. */
  baselines: readonly string[];
  /** Runs that are compared as one side; none: each other run that is shown, by itself. */
  candidates: readonly string[];
  /** Runs that are compared although conditions differ; the first one stands for its side. */
  overrule: readonly string[];
  /** Smallest relative change of the typical step, and of p95, that is told; null: `STANDARD_EFFECTS`. */
  minEffect: number | null;
  minTailEffect: number | null;
}

export const MAX_ENTRIES = 8;
/** The most runs of one side of a comparison. */
export const MAX_SIDE = 8;
export const STANDARD_EFFECTS = { minEffect: 0.03, minTailEffect: 0.05 } as const;
export type Effect = keyof typeof STANDARD_EFFECTS;
export type SideName = "baselines" | "candidates";
export const STANDARD_PERCENTILES: readonly number[] = [5, 25, 50, 75, 95, 99];
export const PRESETS: { name: string; percentiles: readonly number[] }[] = [
  { name: "Spread", percentiles: STANDARD_PERCENTILES },
  { name: "Quartiles", percentiles: [25, 50, 75] },
  { name: "Tail", percentiles: [50, 95, 99, 99.9] },
  { name: "Deciles", percentiles: [10, 20, 30, 40, 50, 60, 70, 80, 90] },
];

export const INITIAL: View = {
  entries: [],
  axis: "step",
  range: null,
  include: [],
  percentiles: STANDARD_PERCENTILES,
  showMax: true,
  showLeftOut: true,
  yScale: "fit",
  stageMode: "stacked",
  clock: "host",
  baselines: [],
  candidates: [],
  overrule: [],
  minEffect: null,
  minTailEffect: null,
};

const same = (a: Entry, b: Entry) => a.run === b.run && a.member === b.member;

/** One run alone. The range stays only where the run stays: other runs have other ranges. */
export function showOnly(view: View, entry: Entry): View {
  const stays = view.entries.some((e) => e.run === entry.run);
  return { ...view, entries: [entry], range: stays ? view.range : null };
}

/** Lays a run over the others, or takes it away; the last one stays. */
export function toggleOverlay(view: View, entry: Entry): View {
  const without = view.entries.filter((e) => e.run !== entry.run);
  if (without.length < view.entries.length) return without.length ? { ...view, entries: without } : view;
  if (view.entries.length >= MAX_ENTRIES) return view;
  return { ...view, entries: [...view.entries, entry] };
}

/** Shows another member in the place of the primary entry. */
export function chooseMember(view: View, member: string | null): View {
  const [first, ...rest] = view.entries;
  if (!first) return view;
  const next = { ...first, member };
  return { ...view, entries: [next, ...rest.filter((e) => !same(e, next))] };
}

export function makePrimary(view: View, index: number): View {
  const entry = view.entries[index];
  if (!entry) return view;
  return { ...view, entries: [entry, ...view.entries.filter((_, i) => i !== index)] };
}

/** Another axis has other numbers: a range would mean something else there. */
export function chooseAxis(view: View, axis: AxisName): View {
  return axis === view.axis ? view : { ...view, axis, range: null };
}

/** Zooms to `[start, end)`, at least one unit wide; null shows the whole run. */
export function zoomTo(view: View, range: Range | null): View {
  if (!range) return view.range ? { ...view, range: null } : view;
  const start = BigInt(range.start);
  const end = BigInt(range.end);
  return { ...view, range: { start: String(start), end: String(end > start ? end : start + 1n) } };
}

export function toggleInclude(view: View, flag: FlagName): View {
  const include = view.include.includes(flag) ? view.include.filter((f) => f !== flag) : [...view.include, flag];
  return { ...view, include: include.toSorted() };
}

/** Ascending, each once, in [0, 100], at most nine; null where nothing usable remains. */
export function cleanPercentiles(values: readonly number[]): number[] | null {
  const usable = [...new Set(values.filter((p) => Number.isFinite(p) && p >= 0 && p <= 100))].toSorted((a, b) => a - b);
  return usable.length > 0 && usable.length <= 9 ? usable : null;
}

/** One baseline for every other run that is shown. What was overruled meant the sides before. */
export function chooseBaseline(view: View, baseline: string): View {
  return { ...view, baselines: [baseline], candidates: [], overrule: [] };
}

/** Several runs a side, each run on one of them; a side without runs changes nothing. */
export function chooseSides(view: View, baselines: readonly string[], candidates: readonly string[]): View {
  const others = candidates.filter((run) => !baselines.includes(run));
  if (!baselines.length || !others.length) return view;
  return { ...view, baselines: baselines.slice(0, MAX_SIDE), candidates: others.slice(0, MAX_SIDE), overrule: [] };
}

/** Takes a run into a side, or out of it. */
export function toggleSide(view: View, side: SideName, run: string): View {
  const sides = { baselines: view.baselines, candidates: view.candidates };
  const without = sides[side].filter((name) => name !== run);
  sides[side] = without.length < sides[side].length ? without : [...without, run];
  return chooseSides(view, sides.baselines, sides.candidates);
}

/** Sets the smallest change that is told, in (0, 1); the standard one leaves the address. */
export function chooseEffect(view: View, name: Effect, effect: number): View {
  const rounded = Number(effect.toFixed(6));
  if (!(rounded > 0 && rounded < 1)) return view;
  return { ...view, [name]: rounded === STANDARD_EFFECTS[name] ? null : rounded };
}

export function toggleOverrule(view: View, run: string): View {
  const without = view.overrule.filter((name) => name !== run);
  return { ...view, overrule: without.length < view.overrule.length ? without : [...without, run] };
}

/** Drops entries that are no longer there and fills an empty selection with `fallback`. */
export function reconcile(view: View, members: ReadonlyMap<string, readonly string[]>, fallback: Entry | null): View {
  const kept = view.entries.filter(({ run, member }) => {
    const known = members.get(run);
    return known !== undefined && (member === null || known.includes(member));
  });
  if (kept.length === view.entries.length && kept.length > 0) return view;
  if (kept.length > 0) return { ...view, entries: kept };
  return { ...view, entries: fallback ? [fallback] : [], range: view.entries.length ? null : view.range };
}
