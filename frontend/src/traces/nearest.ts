import type { Marker } from "../api/analysis";
import type { TraceFile } from "../api/traces";
import type { Shown } from "../state/catalog";

/** Which windows lie around a change. Pure. */

export interface Around {
  before: TraceFile | null;
  after: TraceFile | null;
}

/** A file whose window is known. */
interface Placed {
  file: TraceFile;
  start: bigint;
  end: bigint;
}

/** Files of this member; a run of one member owns those that name none. */
export function ofMember({ run, member }: Pick<Shown, "run" | "member">, files: readonly TraceFile[]): TraceFile[] {
  const alone = run.members.length === 1;
  return files.filter(
    (file) => file.run === run.run && (file.member === member.member || (file.member === null && alone)),
  );
}

function placed(files: readonly TraceFile[]): Placed[] {
  return files.flatMap((file) => {
    const { start = null, end = null } = file.window ?? {};
    return start === null || end === null ? [] : [{ file, start: BigInt(start), end: BigInt(end) }];
  });
}

const isReference = ({ file }: Placed): boolean => file.window!.reason === "reference";
const least = (windows: Placed[], key: (one: Placed) => bigint): Placed | null =>
  windows.reduce<Placed | null>((best, one) => (!best || key(one) < key(best) ? one : best), null);

/**
 * The nearest windows before and after a change, among files of its member. One after it begins at its step or later;
 * of a change that ends by itself, before that end. Without a window that ends before it, the reference window is
 * taken: it was recorded while the run was well.
 */
export function nearestWindows(
  marker: Pick<Marker, "step" | "end_step" | "kind">,
  files: readonly TraceFile[],
): Around {
  const step = BigInt(marker.step);
  const end = marker.kind === "transient" && marker.end_step !== null ? BigInt(marker.end_step) : null;
  const all = placed(files);
  const earlier = all.filter((one) => one.end <= step);
  const references = all.filter(isReference);
  const later = all.filter((one) => one.start >= step && !isReference(one) && (end === null || one.start < end));
  const before = least(earlier, (one) => step - one.end) ?? least(references, (one) => one.start);
  const after = least(later, (one) => one.start - step);
  return { before: before?.file ?? null, after: after?.file ?? null };
}

/**
 * What to compare when nobody has chosen: the windows around the first change that has both, else the first window of
 * a member and its last.
 */
export function defaultPair(
  changes: readonly { marker: Pick<Marker, "step" | "end_step" | "kind">; shown: Pick<Shown, "run" | "member"> }[],
  files: readonly TraceFile[],
): Around {
  for (const { marker, shown } of changes) {
    const found = nearestWindows(marker, ofMember(shown, files));
    if (found.before && found.after) return found;
  }
  const first = files.find((file) =>
    files.some((other) => other !== file && other.run === file.run && other.member === file.member),
  );
  const same = first ? files.filter(({ run, member }) => run === first.run && member === first.member) : [];
  return { before: first ?? null, after: same.at(-1) ?? null };
}
