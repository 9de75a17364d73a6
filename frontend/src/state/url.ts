import type { Pairs } from "../host/address";
import { cleanPercentiles, INITIAL, MAX_ENTRIES, MAX_SIDE, type Entry, type View } from "./view";

/**
 * The view as pairs of the address, only what differs from the initial view:
 * `run`, `member`, `with` (overlaid runs: percent-encoded names, comma-separated, `@` before a member), `axis`,
 * `start`, `end`, `include`, `percentiles`, `y`, `stages`, `clock`, `hide` (`max`, `leftout`), `baseline`,
 * `candidates` and `overrule` (runs, as in `with`), `effect` and `taileffect` (smallest changes, such as 0.02).
 */
export function toPairs(view: View): Pairs {
  const pairs: Pairs = {};
  const [first, ...rest] = view.entries;
  if (first) pairs.run = first.run;
  if (first?.member) pairs.member = first.member;
  if (rest.length) pairs.with = rest.map(encodeEntry).join(",");
  if (view.axis !== INITIAL.axis) pairs.axis = view.axis;
  if (view.range) Object.assign(pairs, { start: view.range.start, end: view.range.end });
  if (view.include.length) pairs.include = view.include.join(",");
  if (view.percentiles.join() !== INITIAL.percentiles.join()) pairs.percentiles = view.percentiles.join(",");
  if (view.yScale !== INITIAL.yScale) pairs.y = view.yScale;
  if (view.stageMode !== INITIAL.stageMode) pairs.stages = view.stageMode;
  if (view.clock !== INITIAL.clock) pairs.clock = view.clock;
  const hidden = [view.showMax ? "" : "max", view.showLeftOut ? "" : "leftout"].filter(Boolean);
  if (hidden.length) pairs.hide = hidden.join(",");
  const runs = { baseline: view.baselines, candidates: view.candidates, overrule: view.overrule };
  for (const [key, names] of Object.entries(runs)) {
    if (names.length) pairs[key] = names.map(encodeURIComponent).join(",");
  }
  if (view.minEffect !== null) pairs.effect = String(view.minEffect);
  if (view.minTailEffect !== null) pairs.taileffect = String(view.minTailEffect);
  return pairs;
}

/** The view that the pairs describe; whatever is malformed keeps its initial value. */
export function fromPairs(pairs: Pairs): View {
  const entries: Entry[] = [];
  if (pairs.run !== undefined) entries.push({ run: pairs.run, member: pairs.member ?? null });
  for (const text of (pairs.with ?? "").split(",").filter(Boolean)) {
    const entry = decodeEntry(text);
    if (entry && entries.length < MAX_ENTRIES) entries.push(entry);
  }
  const hidden = (pairs.hide ?? "").split(",");
  const percentiles = cleanPercentiles((pairs.percentiles ?? "").split(",").filter(Boolean).map(Number));
  return {
    entries,
    axis: oneOf(pairs.axis, ["step", "relative", "wall"], INITIAL.axis),
    range:
      decimal(pairs.start) && decimal(pairs.end) && BigInt(pairs.start!) < BigInt(pairs.end!)
        ? { start: pairs.start!, end: pairs.end! }
        : null,
    include: (["profiled", "restart", "warmup"] as const).filter((flag) =>
      (pairs.include ?? "").split(",").includes(flag),
    ),
    percentiles: percentiles ?? INITIAL.percentiles,
    showMax: !hidden.includes("max"),
    showLeftOut: !hidden.includes("leftout"),
    yScale: oneOf(pairs.y, ["fit", "zero", "log"], INITIAL.yScale),
    stageMode: oneOf(pairs.stages, ["stacked", "lines", "share"], INITIAL.stageMode),
    clock: oneOf(pairs.clock, ["host", "device"], INITIAL.clock),
    baselines: names(pairs.baseline).slice(0, MAX_SIDE),
    candidates: names(pairs.candidates).slice(0, MAX_SIDE),
    overrule: names(pairs.overrule),
    minEffect: fraction(pairs.effect),
    minTailEffect: fraction(pairs.taileffect),
  };
}

function encodeEntry({ run, member }: Entry): string {
  return encodeURIComponent(run) + (member === null ? "" : `@${encodeURIComponent(member)}`);
}

function decodeEntry(text: string): Entry | null {
  try {
    const [run = "", member] = text.split("@").map(decodeURIComponent);
    return { run, member: member ?? null };
  } catch {
    return null; // A damaged address: the other runs still show.
  }
}

/** Runs of a list; each once. */
function names(text = ""): string[] {
  return [...new Set(text.split(",").flatMap((name) => (name ? (decodeEntry(name)?.run ?? []) : [])))];
}

function fraction(text = ""): number | null {
  return /^0?\.\d{1,6}$/.test(text) && Number(text) > 0 ? Number(text) : null;
}

function decimal(text: string | undefined): boolean {
  return text !== undefined && /^-?\d{1,20}$/.test(text);
}

function oneOf<T extends string>(text: string | undefined, allowed: readonly T[], standard: T): T {
  return allowed.find((value) => value === text) ?? standard;
}
