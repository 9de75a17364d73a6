import type { Catalog, Member, Run } from "../api/types";
import type { HostSelection } from "../host/selection";
import type { Entry, View } from "./view";

/** What there is, and how the chosen entries map to it. Pure functions. */

/** An entry whose run and member exist. */
export interface Shown {
  run: Run;
  member: Member;
  /** Index of the colour; it stays with the entry while others come and go. */
  color: number;
  /** Run, and the member where the run has several. */
  label: string;
}

/** Answers for several entries, in their order; `shown` says which. */
export interface Answers<T> {
  shown: Shown[];
  data: T[];
}

export function memberOf(run: Run, member: string | null): Member | undefined {
  return member === null ? run.members[0] : run.members.find((m) => m.member === member);
}

export function membersByRun(catalog: Catalog): Map<string, string[]> {
  return new Map(catalog.runs.map((run) => [run.run, run.members.map((member) => member.member)]));
}

/** The run to show first: of those that TensorBoard's own selection holds, the one that was written last. */
export function defaultEntry(catalog: Catalog, selection: HostSelection | null): Entry | null {
  const usable = catalog.runs.filter((run) => run.members.length > 0);
  const selected = selection ? usable.filter((run) => isSelected(run, selection)) : usable;
  const withSteps = (runs: Run[]) => runs.filter((run) => run.members.some((member) => member.num_steps > 0));
  const pool = [withSteps(selected), withSteps(usable), usable].find((runs) => runs.length > 0) ?? [];
  const newest = pool.reduce<Run | null>(
    (best, run) => (!best || lastWallTime(run) > lastWallTime(best) ? run : best),
    null,
  );
  return newest ? { run: newest.run, member: null } : null;
}

export function isSelected(run: Run, selection: HostSelection): boolean {
  return run.members.some((member) => selection.contains(member.tb_run)) || selection.contains(run.run);
}

export const lastWallTime = (run: Run): number =>
  Math.max(...run.members.map((member) => member.last_wall_time_s ?? 0));

/** Entries that exist, with colours: each keeps the colour that `before` gave it, new ones take the lowest free one. */
export function resolveEntries(view: View, catalog: Catalog, before: readonly Shown[]): Shown[] {
  const found = view.entries.flatMap((entry) => {
    const run = catalog.runs.find((r) => r.run === entry.run);
    const member = run && memberOf(run, entry.member);
    return run && member ? [{ run, member }] : [];
  });
  const earlier = new Map(before.map((shown) => [keyOf(shown), shown.color]));
  const taken = new Set(found.map((shown) => earlier.get(keyOf(shown))).filter((color) => color !== undefined));
  return found.map(({ run, member }) => {
    let color = earlier.get(keyOf({ run, member }));
    if (color === undefined) {
      color = 0;
      while (taken.has(color)) color += 1;
      taken.add(color);
    }
    return { run, member, color, label: run.members.length > 1 ? `${run.run} · ${member.label}` : run.run };
  });
}

export const keyOf = ({ run, member }: Pick<Shown, "run" | "member">): string =>
  JSON.stringify([run.run, member.member]);

/**
 * Numbers stay while newer ones come, but not those of a run that is not chosen any more: are `answers` such?
 */
export const isForeign = (answers: Answers<unknown> | null, primary: Shown): boolean =>
  answers !== null && !answers.shown.some((entry) => keyOf(entry) === keyOf(primary));

/** Changes whenever new data of the member has arrived. */
export function versionOf(member: Member): string {
  return [member.num_steps, member.last_step, member.num_attempts, member.end].join(":");
}

const LIVE_FOR_S = 15 * 60;

/** A member is live while its newest attempt has not ended and wrote lately. */
export function isLive(member: Member, nowS: number): boolean {
  return member.end === null && Math.abs(nowS - (member.last_wall_time_s ?? 0)) < LIVE_FOR_S;
}
