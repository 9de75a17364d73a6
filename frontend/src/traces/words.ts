import type { CaptureWindow, LostWindow, Part, Reason, StepSlice, TraceFile, TraceSummary } from "../api/traces";
import { count, integer, MISSING, percent, significant } from "../format/numbers";
import { wallTime } from "../format/position";
import { list, visible } from "../format/text";
import { bytes, time } from "../format/units";

/** Traces in words. Pure, so that tests can read them. */

const REASONS: Record<Reason, string> = {
  scheduled: "scheduled",
  requested: "on request",
  regression: "the run got slower",
  slow_step: "a single slow step",
  reference: "reference of the healthy run",
  profiler: "a profiler of its own",
};

/** Why a window was recorded: "the run got slower (step 4,150)". */
export function reasonWords(window: Pick<CaptureWindow, "reason" | "about_step"> | null): string {
  if (!window) return "a profiler of its own";
  const about = window.about_step === null ? "" : ` (step ${integer(window.about_step)})`;
  return (REASONS[window.reason] ?? visible(window.reason)) + about;
}

/** One word for a label. */
export const reasonLabel = ({ reason }: Pick<CaptureWindow, "reason">): string =>
  ({ requested: "requested", regression: "slower", slow_step: "slow step", profiler: "plain profiler" })[
    reason as string
  ] ?? visible(reason);

/**
 * "steps 4,200–4,202" of a half-open window; "within steps …" where only the samples tell that a profiler was at work;
 * "" where it is not known.
 */
export function windowWords(window: (Pick<CaptureWindow, "start" | "end"> & { reason?: Reason }) | null): string {
  if (!window || window.start === null) return "";
  const last = window.end === null ? null : BigInt(window.end) - 1n;
  if (last === null || last <= BigInt(window.start)) return `step ${integer(window.start)}`;
  return `${window.reason === "profiler" ? "within " : ""}steps ${integer(window.start)}–${integer(last)}`;
}

/** "steps 5–10 (profiler’s count)", as a trace that was read marks them; "" where it marks none. */
export function markedWords({ steps, info }: Pick<TraceSummary, "steps" | "info">): string {
  const [first, last] = [steps[0], steps.at(-1)];
  if (!first || !last || info.steps_from !== "profiler") return "";
  const words = windowWords({ start: first.step, end: String(BigInt(last.step) + 1n) });
  return info.numbering === "profiler" ? `${words} (profiler’s count)` : words;
}

/** "14.1 ms while profiled, 10.0 ms around it (1.4 ×)". */
export function costWords(window: Pick<CaptureWindow, "profiled_ms" | "unprofiled_ms"> | null): string {
  const { profiled_ms: profiled = null, unprofiled_ms: unprofiled = null } = window ?? {};
  if (profiled === null) return MISSING;
  if (unprofiled === null || unprofiled === 0) return `${time(profiled)} while profiled`;
  return `${time(profiled)} while profiled, ${time(unprofiled)} around it (${ratio(profiled / unprofiled)})`;
}

/** "1.4 ×". */
export const ratio = (value: number): string => `${significant(value, 2)} ×`;

/** A trace in one line: for lists to choose from and for titles. */
export function traceName(file: TraceFile): string {
  const part = file.num_parts > 1 ? `part ${file.part} of ${file.num_parts}` : "";
  const where = windowWords(file.window) || part || fileName(file.file);
  return `${visible(where)} · ${file.window ? reasonLabel(file.window) : "plain profiler"}`;
}

/** Without its directory. */
export const fileName = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

/** The middle of a long text left out; no character is torn apart. */
export function middle(text: string, length: number): string {
  const shown = visible(text);
  const characters = [...shown];
  if (characters.length <= length) return shown;
  const tail = Math.floor((length - 1) * 0.4);
  return `${characters.slice(0, length - 1 - tail).join("")}…${characters.slice(characters.length - tail).join("")}`;
}

const LOST: Record<string, string> = {
  never_active: "The profiler’s schedule never reached its active steps",
  failed: "The profiler failed",
  skipped: "Another profiler was active",
  written: "The file is not there any more",
};

/** Why there is no file, in a sentence; the server's own where it has one. */
export function lostWords({ text, state, error }: LostWindow): string {
  if (text) return visible(text);
  return `${LOST[state] ?? visible(state)}${error ? `: ${visible(error)}` : ""}${error?.endsWith(".") ? "" : "."}`;
}

export const PART_NAMES: Record<Part, string> = {
  kernel: "kernels",
  copy: "copies",
  set: "fills",
  exposed_communication: "exposed communication",
  runtime: "runtime calls",
  data_loading: "data loading",
  cpu_operators: "operators on the host",
  other: "other",
};

/** What one step, or the whole trace, holds. */
export const perWords = ({ num_steps_used: used }: TraceSummary): string => (used ? "per step" : "in the whole trace");

/** The trace in two sentences. */
export function headlineWords(summary: TraceSummary): string {
  const { steps, num_steps_used: used, step_ms: mean, device_busy_share: busy, info } = summary;
  const left = used < steps.length ? ": those that the window may have cut are left out" : "";
  const over = used < steps.length ? `${integer(used)} of ${count(steps.length, "step")}` : count(used, "step");
  const first = used
    ? `A step takes ${time(mean)} on average, over ${over}${left}.`
    : `No step is marked in this trace, which is ${time(info.span_ms)} long; all numbers are of the whole.`;
  const second =
    busy === null
      ? "It holds no device events."
      : `The device works ${percent(busy)} of that time and is idle ${percent(1 - busy)}.`;
  return `${first} ${second}`;
}

/** "64.2 MB of events" and the like, small facts in their order. */
export function factWords({ info }: TraceSummary, file: TraceFile): string[] {
  const rank = info.rank === null ? "" : `rank ${info.rank}${info.world_size === null ? "" : ` of ${info.world_size}`}`;
  return [
    `${count(info.num_events, "event")} in ${time(info.span_ms)}`,
    `${bytes(file.num_bytes)}, ${bytes(info.num_bytes)} unpacked`,
    rank + (info.backend === null ? "" : `${rank && ", "}${visible(info.backend)}`),
    list(info.devices.map(visible)),
    info.options.length ? `recorded with ${list(info.options.map(visible))}` : "",
    info.steps_from === "optimizer" ? "steps inferred from the optimizer’s calls" : "",
    info.steps_from === "profiler" && info.numbering === "profiler" ? "step numbers are the profiler’s own" : "",
    !file.modified_s ? "" : `written ${wallTime(file.modified_s * 1000)}`,
  ].filter(Boolean);
}

/** "step 4,201: 14.1 ms, of which kernels 9.0 ms, other 5.1 ms". */
export function sliceWords(name: string, ms: number, parts: readonly (readonly [string, number])[]): string {
  const words = parts.filter(([, part]) => part > 0).map(([part, value]) => `${part} ${time(value)}`);
  return `${name}: ${time(ms)}${words.length ? `, of which ${list(words)}` : ""}`;
}

export const stepName = ({ step, cut }: Pick<StepSlice, "step" | "cut">): string =>
  `step ${integer(step)}${cut === null ? "" : ` (${cut === "start" ? "its start" : "its end"} may be cut)`}`;

/** "640 kernels a step, …" */
export function launchWords({ launches: found, num_steps_used: used }: TraceSummary): string {
  if (!found) return "";
  const per = used ? "a step" : "in the whole trace";
  return (
    `${count(Math.round(found.num_kernels_per_step), "kernel")} ${per}, the median one ${time(found.median_kernel_us / 1000)}; ` +
    `${percent(found.short_share)} are shorter than 10 µs. The device waits ${time(found.gap_ms_per_step)} ${per} in ` +
    `${count(found.num_gaps, "gap")} between its work, ${percent(found.short_gap_share)} of that in gaps below 1 ms.`
  );
}
