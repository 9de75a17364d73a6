/** Text that comes from logs is data: it is shown as it is, with what the eye cannot see made visible. */

const BIDI = /[\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;
// eslint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u001f\u007f]/g;

/** Makes control and direction characters visible, so that two different names never look alike. */
export function visible(text: string): string {
  if (text === "") return "(empty name)";
  if (text.trim() === "") return `(${text.length} ${text.length === 1 ? "space" : "spaces"})`;
  return text
    .replace(CONTROL, (character) =>
      String.fromCharCode(character.charCodeAt(0) === 127 ? 0x2421 : 0x2400 + character.charCodeAt(0)),
    )
    .replace(BIDI, (character) => `⟨U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);
}

/** "a", "a and b", "a, b and c". */
export function list(items: readonly string[]): string {
  if (items.length < 2) return items[0] ?? "";
  return `${items.slice(0, -1).join(", ")} and ${items.at(-1)}`;
}

/** A column name in words: "peak_resident_bytes" → "peak resident memory". */
export function columnLabel(column: string): string {
  const known: Record<string, string> = {
    step_time_ms: "step time",
    device_step_time_ms: "step time (device clock)",
    peak_allocated_bytes: "peak allocated",
    peak_reserved_bytes: "peak reserved",
    peak_resident_bytes: "peak resident",
    num_samples: "samples",
    num_tokens: "tokens",
    gc_ms: "garbage collection",
    excluded_ms: "excluded",
  };
  return known[column] ?? visible(column);
}

/** First letter in upper case. */
export const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
