/** Numbers as text. "–" stands for a value that does not exist. */

export const MISSING = "–";

type Maybe = number | null | undefined;

const exists = (value: Maybe): value is number => value !== null && value !== undefined && Number.isFinite(value);

/** Thousands separated by commas; also for decimal strings beyond 2^53. */
export function integer(value: Maybe | bigint | string): string {
  if (value === null || value === undefined) return MISSING;
  const text = typeof value === "number" ? (exists(value) ? Math.round(value).toFixed(0) : "") : String(value);
  if (!text) return MISSING;
  const sign = text.startsWith("-") ? "−" : "";
  return sign + text.replace("-", "").replace(/\B(?=(\d{3})+$)/g, ",");
}

/** `digits` significant digits, without an exponent and with commas: 1,234 / 12.3 / 0.0123. */
export function significant(value: Maybe, digits = 3): string {
  if (!exists(value)) return MISSING;
  if (value === 0) return "0";
  const magnitude = Math.floor(Math.log10(Math.abs(Number(value.toPrecision(digits)))));
  const decimals = Math.min(12, Math.max(0, digits - 1 - magnitude));
  const [whole = "0", fraction] = Math.abs(value).toFixed(decimals).split(".");
  return (value < 0 ? "−" : "") + integer(whole) + (fraction ? `.${fraction}` : "");
}

/** A share as per cent; small but present shares are never shown as 0 %, nor large ones as all. */
export function percent(value: Maybe, decimals = 0): string {
  if (!exists(value)) return MISSING;
  const smallest = 10 ** -decimals;
  const scaled = value * 100;
  if (scaled < 0 && scaled > -smallest / 2) return `> −${smallest.toFixed(decimals)} %`;
  if (scaled < 0) return `−${(-scaled).toFixed(decimals)} %`;
  if (scaled > 0 && scaled < smallest / 2) return `< ${smallest.toFixed(decimals)} %`;
  if (scaled < 100 && scaled >= 100 - smallest / 2) return `> ${(100 - smallest).toFixed(decimals)} %`;
  return `${scaled.toFixed(decimals)} %`;
}

/** "1 step", "12,000 steps". */
export function count(value: number, one: string, many = `${one}s`): string {
  return `${integer(value)} ${value === 1 ? one : many}`;
}
