import type { Attempt, Environment } from "../api/types";

/** Environments of several attempts side by side: one row for each field, and whether the attempts differ in it. */
export interface FieldRow {
  field: string;
  values: string[];
  differs: boolean;
}

export function environmentRows(environments: readonly Environment[]): FieldRow[] {
  const flat = environments.map((environment) => flatten(environment));
  const fields = [...new Set(flat.flatMap((one) => [...one.keys()]))];
  return fields.map((field) => {
    const values = flat.map((one) => one.get(field) ?? "");
    return { field, values, differs: new Set(values).size > 1 };
  });
}

/** Nested objects become dotted fields; null means unknown and is left out. */
function flatten(environment: Environment, prefix = ""): Map<string, string> {
  const result = new Map<string, string>();
  for (const [key, value] of Object.entries(environment)) {
    const field = prefix + key;
    if (value === null || value === undefined || field === "step") continue;
    if (typeof value === "object" && !Array.isArray(value))
      flatten(value as Environment, `${field}.`).forEach((v, k) => result.set(k, v));
    else result.set(field, text(value));
  }
  return result;
}

export function text(value: unknown): string {
  if (Array.isArray(value)) return value.map(text).join(", ");
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "object" && value !== null ? JSON.stringify(value) : String(value);
}

/** Why an attempt ended, in words. */
export function endWords(end: Attempt["end"]): string {
  const known: Record<string, string> = {
    closed: "ended normally",
    exception: "ended by an exception",
    replaced: "replaced by a new count of steps",
  };
  return end === null ? "running, or ended without a word" : (known[end] ?? end);
}
