import { MISSING, significant } from "./numbers";

/** Times are milliseconds, memory is bytes; each text carries its unit. */

type Maybe = number | null | undefined;

interface Unit {
  name: string;
  size: number;
}

const TIME_UNITS: Unit[] = [
  { name: "µs", size: 1e-3 },
  { name: "ms", size: 1 },
  { name: "s", size: 1e3 },
];
const BYTE_UNITS: Unit[] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"].map((name, i) => ({ name, size: 2 ** (10 * i) }));
const RATE_UNITS: Unit[] = [
  { name: "", size: 1 },
  { name: "k", size: 1e3 },
  { name: "M", size: 1e6 },
  { name: "G", size: 1e9 },
];

/** The largest unit in which `value` is at least 1 (or `least` of it), the smallest unit otherwise. */
function pick(units: Unit[], value: number, least = 1): Unit {
  const size = Math.abs(value) / least;
  return units.findLast((unit) => size >= unit.size) ?? units[0]!;
}

export const timeUnit = (ms: number): Unit => pick(TIME_UNITS, ms);
export const byteUnit = (bytes: number): Unit => pick(BYTE_UNITS, bytes);
export const rateUnit = (perSecond: number): Unit => pick(RATE_UNITS, perSecond, 10);

/** "10.0 ms", "640 µs", "12.3 s", "4 min 5 s". */
export function time(ms: Maybe, digits = 3): string {
  if (ms === null || ms === undefined || !Number.isFinite(ms)) return MISSING;
  if (ms === 0) return "0 ms";
  if (Math.abs(ms) >= 120_000) return duration(ms);
  const unit = timeUnit(Number(ms.toPrecision(digits)));
  return `${significant(ms / unit.size, digits)} ${unit.name}`;
}

/** A long time in its two largest parts: "14 min 45 s", "3 h 12 min", "2 d 4 h". */
export function duration(ms: Maybe): string {
  if (ms === null || ms === undefined || !Number.isFinite(ms)) return MISSING;
  if (Math.abs(ms) < 60_000) return time(ms);
  const sign = ms < 0 ? "−" : "";
  const seconds = Math.round(Math.abs(ms) / 1000);
  const parts: [number, string][] = [
    [Math.floor(seconds / 86_400), "d"],
    [Math.floor(seconds / 3_600) % 24, "h"],
    [Math.floor(seconds / 60) % 60, "min"],
    [seconds % 60, "s"],
  ];
  const first = parts.findIndex(([amount]) => amount > 0);
  const shown = parts.slice(first, first + 2).filter(([amount], i) => i === 0 || amount > 0);
  return sign + shown.map(([amount, unit]) => `${amount} ${unit}`).join(" ");
}

/** "812 MB" would be ambiguous: binary units, "774 MiB". */
export function bytes(value: Maybe, digits = 3): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return MISSING;
  const unit = byteUnit(value);
  return `${significant(value / unit.size, unit.size === 1 ? 4 : digits)} ${unit.name}`;
}

/** "3,168 samples/s", "1.25 M tokens/s". */
export function rate(value: Maybe, unit: string): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return MISSING;
  const prefix = value >= 1e6 ? pick(RATE_UNITS, value) : { name: "", size: 1 };
  const digits = prefix.size === 1 && Math.abs(value) >= 1000 ? Math.ceil(Math.log10(value + 1)) : 3;
  return `${significant(value / prefix.size, digits)} ${prefix.name ? `${prefix.name} ` : ""}${unit}`;
}
