/** The shapes of `/traces`, `/trace` and `/trace_comparison` of tb_stepperf/plugin/http_api.md. */

export type Reason = "scheduled" | "requested" | "regression" | "slow_step" | "reference" | "profiler";
export type WindowState = "written" | "never_active" | "failed" | "skipped";
export type ReadingState = "queued" | "reading" | "done" | "refused" | "cancelled";

/** What the writer recorded of a capture: profiled steps `[start, end)`, null where none was reached. */
export interface CaptureWindow {
  start: string | null;
  end: string | null;
  reason: Reason;
  state: WindowState;
  about_step: string | null;
  cost_ms: number | null;
  error: string | null;
  profiled_ms: number | null;
  unprofiled_ms: number | null;
}

export interface TraceFile {
  trace: string;
  run: string;
  member: string | null;
  file: string;
  worker: string | null;
  num_bytes: number;
  /** 0 where the file system does not say. */
  modified_s: number;
  /** null: a file of a plain profiler. */
  window: CaptureWindow | null;
  reading: ReadingState | "unread";
  num_parts: number;
  part: number;
}

export interface LostWindow extends Pick<CaptureWindow, "start" | "end" | "reason" | "state" | "about_step" | "error"> {
  run: string;
  member: string | null;
  cost_ms: number | null;
  text: string | null;
}

export interface TraceList {
  state: "searching" | "done";
  num_files_seen: number;
  problems: string[];
  traces: TraceFile[];
  windows_without_trace: LostWindow[];
  limits: { memory_mb: number; timeout_s: number };
  perfetto_url: string;
}

/** How far the reading of a file is. */
export interface Progress {
  trace: string;
  state: ReadingState;
  /** In [0, 1]. */
  progress: number;
  num_ahead: number;
  message: string | null;
}

export interface TraceAnswer extends Progress {
  summary: TraceSummary | null;
}

/** Parts of a step in the order of `StepSlice.breakdown_ms`. */
export const PARTS = [
  "kernel",
  "copy",
  "set",
  "exposed_communication",
  "runtime",
  "data_loading",
  "cpu_operators",
  "other",
] as const;
export type Part = (typeof PARTS)[number];

export interface StepSlice {
  step: string;
  /** Relative to the first event of the trace. */
  start_ms: number;
  duration_ms: number;
  /** Where the window may have cut it; such a step is left out of means. */
  cut: "start" | "end" | null;
  breakdown_ms: number[];
  device_busy_ms: number | null;
  communication_ms: number;
  overlapped_ms: number;
  num_kernels: number;
}

export interface OperatorRow {
  name: string;
  shapes: string | null;
  num_calls: number;
  self_host_ms: number;
  total_host_ms: number;
  self_device_ms: number;
  total_device_ms: number;
  is_annotation: boolean;
}

export interface KernelRow {
  name: string;
  kind: string;
  num_calls: number;
  total_ms: number;
  mean_us: number;
  max_us: number;
  operator: string | null;
}

export interface MemoryCurve {
  device: string;
  peak_allocated_bytes: number | null;
  peak_reserved_bytes: number | null;
  peak_at_ms: number | null;
  /** That the device has. */
  total_bytes: number | null;
  at_ms: number[];
  allocated_bytes: number[];
  is_relative: boolean;
}

export interface Wait {
  kind: string;
  name: string | null;
  step: string | null;
  start_ms: number;
  duration_ms: number;
}

export interface Launches {
  num_kernels_per_step: number;
  median_kernel_us: number;
  short_share: number;
  num_gaps: number;
  gap_ms_per_step: number;
  short_gap_share: number;
}

export interface Finding {
  rule: string;
  candidate: string;
  evidence: string;
  next_check: string;
  limit: string;
  share: number;
}

export interface TraceInfo {
  num_bytes: number;
  num_events: number;
  span_ms: number;
  rank: number | null;
  world_size: number | null;
  backend: string | null;
  devices: string[];
  /** Memory of the one that has the least of those that work. */
  device_bytes: number | null;
  steps_from: "profiler" | "optimizer" | "none";
  numbering: "training" | "profiler";
  /** Time stamp of the first event in seconds, as Perfetto shows it. */
  origin_s: number;
  /** Of the profiler that the file says were on, such as `record_shapes`. */
  options: string[];
  notes: string[];
}

export interface TraceSummary {
  info: TraceInfo;
  steps: StepSlice[];
  /** 0 where the file marks no step: then tables are over the whole trace and nothing is per step. */
  num_steps_used: number;
  step_ms: number | null;
  breakdown_ms: number[];
  /** null without device events. */
  device_busy_share: number | null;
  communication_ms: number;
  overlapped_ms: number;
  operators: OperatorRow[];
  num_operators: number;
  kernels: KernelRow[];
  num_kernels: number;
  memory: MemoryCurve[];
  waits: Wait[];
  launches: Launches | null;
  findings: Finding[];
}

export interface PartDifference {
  part: Part;
  before_ms: number;
  after_ms: number;
  change_ms: number;
}

export interface OperatorDifference {
  name: string;
  is_annotation: boolean;
  change_ms: number;
  /** Of the whole change; null where that is nothing. */
  share: number | null;
  before_ms: number;
  after_ms: number;
  /** null where the operator is not there. */
  before_calls: number | null;
  after_calls: number | null;
  before_mean_us: number | null;
  after_mean_us: number | null;
}

export interface WindowComparison {
  basis: "host" | "device";
  per: "step" | "trace";
  before_ms: number | null;
  after_ms: number | null;
  change_ms: number | null;
  parts: PartDifference[];
  operators: OperatorDifference[];
  num_operators: number;
  sentence: string;
  notes: string[];
}

export interface ComparisonAnswer {
  before: Progress;
  after: Progress;
  comparison: WindowComparison | null;
}
