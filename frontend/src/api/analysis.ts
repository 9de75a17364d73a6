/** The shapes of `/markers` and `/comparison` of tb_stepperf/plugin/http_api.md. */

import type { AxisName, Clock, Numbers, Sample } from "./types";

export type ChangeKind = "regression" | "improvement" | "transient" | "ramp" | "drift" | "tail" | "variance";

/** Steps `[start, end)`, and where they lie on the axis. */
export interface StepRange {
  start: string;
  end: string;
  start_at: number;
  end_at: number;
}

export interface PartChange {
  /** null: the time in no stage. */
  stage: string | null;
  before_ms: number | null;
  after_ms: number | null;
  change_ms: number | null;
  low_ms: number | null;
  high_ms: number | null;
  share: number | null;
  share_low: number | null;
  share_high: number | null;
  clear: boolean;
}

export interface Attribution {
  outcome: "blamed" | "uniform" | "unclear" | "nothing";
  sentence: string;
  clock: Clock;
  total: Pick<PartChange, "before_ms" | "after_ms" | "change_ms" | "low_ms" | "high_ms" | "clear">;
  parts: PartChange[];
  vanishes_per: "token" | "sample" | null;
  per_amount: number | null;
  coincidences: { kind: string; text: string; distance_steps: number | null }[];
  num_before: number;
  num_after: number;
}

export interface Marker {
  id: string;
  kind: ChangeKind;
  /** What was announced near the step, else null. */
  planned: string | null;
  provisional: boolean;
  step: string;
  end_step: string | null;
  at: number;
  end_at: number | null;
  change: number | null;
  change_low: number | null;
  change_high: number | null;
  p_value: number | null;
  measure: "typical" | "p90" | "p95" | "p99";
  before_ms: number | null;
  after_ms: number | null;
  num_before: number;
  num_after: number;
  before: StepRange | null;
  after: StepRange | null;
  blamed: (string | null)[];
  sentence: string;
  attribution: Attribution | null;
}

export interface TailCause {
  cause: string;
  text: string;
  num_tail: number;
  share_of_tail: number | null;
  share_of_rest: number | null;
  enrichment: number | null;
  p_value: number | null;
  p_adjusted: number | null;
  explains: boolean;
}

export interface Tails {
  percentile: number;
  threshold_ms: number | null;
  median_ms: number | null;
  num_steps: number;
  num_tail: number;
  num_episodes: number;
  unexplained: number | null;
  sentence: string;
  correction: string;
  causes: TailCause[];
}

export interface Markers {
  run: string;
  member: string;
  axis: AxisName;
  base: string;
  clock: Clock;
  min_effect: number;
  min_tail_effect: number;
  state: "computing" | "done" | "insufficient";
  progress: number;
  num_ahead: number;
  num_steps_analysed: number;
  as_of_step: string | null;
  num_steps_newer: number;
  verdict: string | null;
  verdict_marker: string | null;
  markers: Marker[];
  tails: Tails | null;
  definition: string;
  sample: Sample | null;
}

export type Verdict =
  "regression" | "improvement" | "tail regression" | "same" | "insufficient data" | "not comparable";

export interface Measure {
  measure: "median" | "p95" | "mean" | "throughput";
  unit: string;
  baseline: number | null;
  candidate: number | null;
  change: number | null;
  low: number | null;
  high: number | null;
  p_value: number | null;
  text: string;
}

export interface ConditionCheck {
  field: string;
  baseline: string[];
  candidate: string[];
  status: "same" | "different" | "unknown" | "overruled";
}

export interface LevelChange {
  label: string;
  change: number | null;
  low: number | null;
  high: number | null;
  p_value: number | null;
  baseline_ms: number | null;
  candidate_ms: number | null;
  num_baseline: number;
  num_candidate: number;
  share: number | null;
}

export interface QuantileDifference {
  percentiles: number[];
  change: Numbers;
  low: Numbers;
  high: Numbers;
  baseline_ms: Numbers;
  candidate_ms: Numbers;
}

export interface ComparedSide {
  runs: { run: string; member: string; label: string; num_members: number; num_used: number; sample: Sample }[];
  num_runs: number;
  num_given: number;
  num_used: number;
  num_warmup: number;
  num_unusable: number;
  num_outside: number;
}

export interface Comparison {
  clock: Clock;
  min_effect: number;
  min_tail_effect: number;
  verdict: Verdict;
  sentence: string;
  decided_by: string | null;
  measures: Measure[];
  conditions: ConditionCheck[];
  overruled: string[];
  spread_known: boolean;
  between_run_sd: number | null;
  spread_note: string | null;
  needed: { num_steps: number | null; num_runs: number | null; text: string } | null;
  level_basis: string | null;
  levels: LevelChange[];
  quantiles: QuantileDifference | null;
  attribution: Attribution | null;
  baseline: ComparedSide;
  candidate: ComparedSide;
  notes: string[];
  definition: string;
}
