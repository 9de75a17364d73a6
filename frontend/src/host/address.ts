/**
 * Where the state of the page lives in the address. TensorBoard keeps `#<tab>&<key>=<value>…` and hands keys of the
 * form `p.<plugin>.<key>` to that plugin; its router leaves the hash alone. Outside TensorBoard it is our own hash.
 */

export type Pairs = Record<string, string>;

export const PREFIX = "p.stepperf.";

/** Pairs of a hash that belong to the plugin, decoded. Damaged ones are left out. */
export function readHash(hash: string): Pairs {
  const pairs: Pairs = {};
  for (const token of hash.replace(/^#/, "").split("&")) {
    const [key, value] = token.split("=");
    if (key === undefined || value === undefined) continue;
    try {
      const name = decodeURIComponent(key);
      if (name.startsWith(PREFIX)) pairs[name.slice(PREFIX.length)] = decodeURIComponent(value);
    } catch {
      continue; // A hand-edited address with a lone "%": the rest still counts.
    }
  }
  return pairs;
}

/** The hash with the plugin's pairs replaced; all else, the tab's name included, stays as it is. */
export function writeHash(hash: string, pairs: Pairs): string {
  const others = hash
    .replace(/^#/, "")
    .split("&")
    .filter((token) => token !== "" && !token.startsWith(PREFIX));
  const ours = Object.entries(pairs).map(([key, value]) => `${PREFIX}${key}=${encodeURIComponent(value)}`);
  return `#${[...others, ...ours].join("&")}`;
}

/** The window whose address carries the state: the parent where we may touch it. */
export function addressWindow(self: Window): Window {
  try {
    if (self.parent !== self && typeof self.parent.location.hash === "string") return self.parent;
  } catch {
    return self; // Another origin.
  }
  return self;
}

/** Puts the pairs into the address without a new entry in the history and without waking TensorBoard's router. */
export function replaceAddress(target: Window, pairs: Pairs): void {
  const hash = writeHash(target.location.hash, pairs);
  if (hash === target.location.hash) return;
  target.history.replaceState(target.history.state, "", target.location.pathname + target.location.search + hash);
}
