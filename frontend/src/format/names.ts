/** Long run names that are mostly alike: what they share is said once, what tells them apart is always there in full. */

export interface Shared {
  /** Length of what all names begin with, cut back to the last separator. */
  prefix: number;
  /** Length of what all names end with, cut back likewise. */
  suffix: number;
}

/** A separator ends a part of a name; the "-" of "1e-03" does not. */
const isSeparator = (name: string, i: number): boolean =>
  /[/\\_, ]/.test(name[i]!) || (name[i] === "-" && !/\de$/i.test(name.slice(Math.max(0, i - 2), i)));

/** What all names begin and end with, such that something of each remains. */
export function sharedEnds(names: readonly string[]): Shared {
  const [first, ...rest] = names;
  if (first === undefined || rest.length === 0) return { prefix: 0, suffix: 0 };
  let prefix = first.length;
  let suffix = first.length;
  for (const name of rest) {
    let i = 0;
    while (i < prefix && i < name.length && name[i] === first[i]) i += 1;
    prefix = i;
    let j = 0;
    while (j < suffix && j < name.length && name.at(-1 - j) === first.at(-1 - j)) j += 1;
    suffix = j;
  }
  const shortest = Math.min(...names.map((name) => name.length));
  prefix = Math.min(prefix, shortest - 1);
  while (prefix > 0 && !isSeparator(first, prefix - 1)) prefix -= 1;
  suffix = Math.max(0, Math.min(suffix, shortest - prefix - 1));
  while (suffix > 0 && !isSeparator(first, first.length - suffix)) suffix -= 1;
  return { prefix, suffix };
}

/** `name` without what is shared. */
export const core = (name: string, { prefix, suffix }: Shared): string => name.slice(prefix, name.length - suffix);

export interface Group {
  /** What its names have in common, "…" standing for what differs; empty where that is nothing. */
  heading: string;
  shared: Shared;
  /** Indices of its names. */
  members: number[];
}

/** Shorter common parts are no burden, and a heading of their own would be one. */
const LEAST = 4;

/** Groups names by the innermost folder that holds at least two of them, in the order in which they come. */
export function groupNames(names: readonly string[]): Group[] {
  const folders = new Map<string, number[]>();
  let open = names.map((name, index) => ({ index, folder: parent(name) }));
  while (open.length) {
    const counts = new Map<string, number>();
    // The deepest ones first: what finds no companion there climbs up.
    const depth = Math.max(...open.map(({ folder }) => folder.length));
    for (const { folder } of open) counts.set(folder, (counts.get(folder) ?? 0) + 1);
    open = open.filter((one) => {
      if (one.folder.length < depth) return true;
      if (counts.get(one.folder)! < 2 && one.folder !== "") {
        one.folder = parent(one.folder.slice(0, -1));
        return true;
      }
      folders.set(one.folder, [...(folders.get(one.folder) ?? []), one.index]);
      return false;
    });
  }
  return [...folders.values()]
    .map((members) => {
      const sorted = members.toSorted((a, b) => a - b);
      const own = sorted.map((i) => names[i]!);
      const shared = sharedEnds(own);
      const [some = ""] = own;
      const long = own.length > 1 && shared.prefix + shared.suffix >= LEAST;
      const heading = `${some.slice(0, shared.prefix)}…${shared.suffix ? some.slice(-shared.suffix) : ""}`;
      return { heading: long ? heading : "", shared: long ? shared : { prefix: 0, suffix: 0 }, members: sorted };
    })
    .toSorted((a, b) => a.members[0]! - b.members[0]!);
}

/** The folder of a name, with its slash; "" at the top. */
const parent = (name: string): string => name.slice(0, name.lastIndexOf("/") + 1);

/** Names that hold every word of `query`, in any order, without regard to case. */
export function matches(name: string, query: string): boolean {
  const text = name.toLowerCase();
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
