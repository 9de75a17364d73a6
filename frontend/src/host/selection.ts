/**
 * TensorBoard has no message about which runs are selected. What its dashboards keep in the address can be read: the
 * run filter of the newer ones (`?runFilter=<regex>`) and the selection of the older ones
 * (`#…&runSelectionState=<base64 of {run: boolean}>&regexInput=<regex>`).
 */
export interface HostSelection {
  /** Says whether TensorBoard's own selection contains the run called `name`. */
  contains(name: string): boolean;
  /** In words, for the page: "run filter 'lr=0.01'". */
  description: string;
}

function regex(text: string | null | undefined): RegExp | null {
  if (!text) return null;
  try {
    return new RegExp(text);
  } catch {
    return null; // TensorBoard shows the mistake in its own field.
  }
}

function states(encoded: string | undefined): Map<string, boolean> {
  if (!encoded) return new Map();
  try {
    const parsed = JSON.parse(atob(encoded)) as unknown;
    if (typeof parsed !== "object" || parsed === null) return new Map();
    return new Map(Object.entries(parsed).filter((entry): entry is [string, boolean] => typeof entry[1] === "boolean"));
  } catch {
    return new Map(); // Not ours to repair: without it every run counts as selected.
  }
}

/** Reads TensorBoard's selection from its address; null where it has none. */
export function hostSelection(search: string, hash: string): HostSelection | null {
  const parameters = new URLSearchParams(hash.replace(/^#/, ""));
  const filterText = new URLSearchParams(search).get("runFilter") ?? parameters.get("regexInput");
  const filter = regex(filterText);
  const chosen = states(parameters.get("runSelectionState") ?? undefined);
  if (!filter && chosen.size === 0) return null;
  const parts = [filter ? `run filter “${filterText}”` : "", chosen.size ? "run selection" : ""].filter(Boolean);
  return {
    contains: (name) => (filter?.test(name) ?? true) && (chosen.get(name) ?? true),
    description: `TensorBoard’s ${parts.join(" and ")}`,
  };
}
