/**
 * The shapes of tb_stepperf/plugin/http_api.md. Numbers that do not exist are null; absolute axis values are decimal
 * strings because a step may be larger than a JavaScript number can hold.
 */

export type AxisName = "step" | "relative" | "wall";
export type FlagName = "warmup" | "profiled" | "restart";
export type Clock = "host" | "device";
export type Numbers = (number | null)[];

export interface Member {
  member: string;
  rank: number;
  writer: number;
  label: string;
  tb_run: string;
  num_steps: number;
  /** null in a member without rows. */
  first_step: string | null;
  last_step: string | null;
  first_wall_time_s: number | null;
  last_wall_time_s: number | null;
  num_attempts: number;
  end: "closed" | "exception" | "replaced" | null;
  columns: string[];
}

export interface Run {
  run: string;
  world_size: number;
  missing_ranks: number[];
  members: Member[];
  notes: string[];
}

export interface Problem {
  run: string | null;
  message: string;
}

export interface Catalog {
  runs: Run[];
  problems: Problem[];
  num_runs_without_data: number;
  logdir: string;
}

export interface Sample {
  num_written: number;
  num_read: number;
  num_missing: number;
  num_superseded: number;
  num_in_range: number;
  num_used: number;
  left_out: Record<string, number>;
}

export interface TimeStats {
  p5: number | null;
  p25: number | null;
  p50: number | null;
  p75: number | null;
  p95: number | null;
  p99: number | null;
  mean: number | null;
  min: number | null;
  max: number | null;
  max_step: string | null;
  total_ms: number | null;
}

export interface StageTotal {
  stage: string;
  total_ms: number | null;
  mean_ms: number | null;
  share: number | null;
  of_step: number | null;
  device_mean_ms: number | null;
}

export interface Peak {
  column: string;
  value: number | null;
  step: string | null;
  num_measured: number;
  meaning: string;
}

export interface Summary {
  run: string;
  member: string;
  clock: Clock;
  range: { axis: AxisName; start: string; end: string };
  step_time_ms: TimeStats;
  device_step_time_ms: TimeStats | null;
  stages: StageTotal[];
  unlabelled: { total_ms: number | null; mean_ms: number | null; of_step: number | null };
  coverage: number | null;
  throughput: { samples_per_s: number | null; tokens_per_s: number | null; definition: string };
  peaks: Peak[];
  warmup: { num_steps: number; total_ms: number | null };
  excluded: { num_steps: number; total_ms: number | null };
  gc: { num_steps: number; total_ms: number | null };
  num_micro_steps: { min: number; max: number; total: number } | null;
  counters: Record<string, number>;
  sample: Sample;
}

/** Bin edges relative to `base`, half-open. */
export interface BinAxis {
  axis: AxisName;
  base: string;
  start: number[];
  end: number[];
}

export interface Bands {
  run: string;
  member: string;
  column: string;
  unit: string;
  scale: number;
  clock: Clock;
  axis: BinAxis;
  percentiles: number[];
  quantiles: Numbers[];
  min: Numbers;
  max: Numbers;
  max_at: Numbers;
  num_steps: number[];
  num_left_out: number[];
  left_out_max: Numbers;
  sample: Sample;
}

export interface Stages {
  run: string;
  member: string;
  unit: string;
  scale: number;
  clock: Clock;
  axis: BinAxis;
  stages: { stage: string; mean: Numbers }[];
  unlabelled: Numbers;
  step_time: Numbers;
  num_steps: number[];
  num_more_stages: number;
  sample: Sample;
}

export interface MemoryColumn {
  column: string;
  meaning: string;
  max: Numbers;
  min: Numbers;
  max_at: Numbers;
  num_measured: number[];
}

export interface Memory {
  run: string;
  member: string;
  unit: string;
  axis: BinAxis;
  columns: MemoryColumn[];
  reason: string | null;
  sample: Sample;
}

export interface Throughput {
  run: string;
  member: string;
  axis: BinAxis;
  series: { column: string; unit: string; value: Numbers }[];
  definition: string;
  reason: string | null;
  sample: Sample;
}

export type MarkKind = "restart" | "warmup" | "profiled" | "excluded" | "gap" | "clock_jump" | "interrupted";

export interface Mark {
  kind: MarkKind;
  start: number;
  end: number;
  label: string;
}

export interface Marks {
  run: string;
  member: string;
  axis: AxisName;
  base: string;
  marks: Mark[];
  num_marks: Record<string, number>;
  num_left_out: number;
}

export type Environment = Record<string, unknown>;

export interface Attempt {
  attempt: string;
  started_s: number;
  first_step: string | null;
  last_step: string | null;
  num_rows: number;
  num_superseded: number;
  end: string | null;
  counters: Record<string, number>;
  environment: Environment;
  changes: { step: string; fields: Environment }[];
}

export interface Conditions {
  run: string;
  member: string;
  attempts: Attempt[];
  definitions: { term: string; text: string }[];
  not_covered: string[];
}

export interface ErrorBody {
  error: { code: string; message: string; parameter: string | null };
}
