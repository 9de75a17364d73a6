/** Long run names that are mostly alike, shortened to what tells them apart. */

export interface Shared {
  /** Length of what all names begin with, cut back to the last separator. */
  prefix: number;
  /** Length of what all names end with, cut back likewise. */
  suffix: number;
}

const SEPARATOR = /[/\\_\-, ]/;

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
  while (prefix > 0 && !SEPARATOR.test(first[prefix - 1]!)) prefix -= 1;
  while (suffix > 0 && !SEPARATOR.test(first.at(-suffix)!)) suffix -= 1;
  const shortest = Math.min(...names.map((name) => name.length));
  return { prefix, suffix: Math.max(0, Math.min(suffix, shortest - prefix)) };
}

/**
 * `name` in at most `length` characters: whole where it fits; else without what all names share; else with its own
 * middle left out. A "…" stands for everything that is left out.
 */
export function shorten(name: string, shared: Shared, length: number): string {
  const characters = [...name];
  if (characters.length <= length) return name;
  const core = name.slice(shared.prefix, name.length - shared.suffix);
  const before = shared.prefix ? "…" : "";
  const after = shared.suffix ? "…" : "";
  const room = Math.max(3, length - before.length - after.length);
  const own = [...core];
  if (own.length <= room) return before + core + after;
  const head = Math.ceil((room - 1) * 0.6);
  const tail = room - 1 - head;
  return `${before}${own.slice(0, head).join("")}…${tail > 0 ? own.slice(-tail).join("") : ""}${after}`;
}

/** Names that hold every word of `query`, in any order, without regard to case. */
export function matches(name: string, query: string): boolean {
  const text = name.toLowerCase();
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
