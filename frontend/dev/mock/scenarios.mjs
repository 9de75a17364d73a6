// What the development page can show. Each scenario is a log directory as /runs would describe it.
import { makeRows } from "./rows.mjs";

const member = (rows, extra = {}) => ({ rank: 0, writer: 0, end: null, superseded: 0, ...extra, rows });
const single = (run, options, extra) => ({
  run,
  notes: [],
  missing_ranks: [],
  members: [member(() => makeRows(options), extra)],
});

const SLOWER = { from: 7300, kind: "regression", stage: "data_wait", ms: 2.6 };
const NEAR = [
  { kind: "restart", text: "attempt 2 starts", distance_steps: -3 },
  { kind: "environment", text: "num_threads changes from 8 to 4", distance_steps: 0 },
  { kind: "memory", text: "peak resident memory rises by 12 %", distance_steps: null },
];

export const healthy = () =>
  single(
    "resnet50",
    { seed: 1, spikes: { 7777: 630 }, profiled: [6000, 6040], excludedEvery: 2000 },
    { end: "closed" },
  );

export const regression = () =>
  single(
    "resnet50-augment",
    { seed: 2, effects: [{ ...SLOWER, coincidences: NEAR }], profiled: [3000, 3030], excludedEvery: 3000 },
    { end: "closed" },
  );

/** A change of every kind, some of them close together. */
export const changing = () =>
  single("every-kind-of-change", {
    seed: 4,
    effects: [
      { from: 1500, kind: "regression", stage: "forward", ms: 1.6, planned: "batch size 64 → 96", vanishes: "sample" },
      { from: 3000, to: 3200, kind: "transient", stage: "optimizer", ms: 4 },
      { from: 3400, kind: "regression", stage: "data_wait", ms: 0.9, p: 0.004 },
      { from: 3650, kind: "improvement", stage: "*", ms: -0.35 },
      { from: 6000, to: 7500, kind: "ramp", stage: "backward", ms: 1.4, coincidences: NEAR },
      { from: 9000, kind: "tail", stage: "data_wait", ms: 7, often: 0.09 },
      { from: 11700, kind: "regression", stage: "data_wait", ms: 1.2, provisional: true },
    ],
    profiled: [5000, 5040],
  });

/** Many changes close together: more labels than there is room for. */
const crowded = () =>
  single("crowded", {
    seed: 6,
    effects: Array.from({ length: 14 }, (_, i) => ({
      from: 4000 + 60 * i,
      kind: i % 2 ? "improvement" : "regression",
      stage: "forward",
      ms: i % 2 ? -0.8 : 0.8,
    })),
  });

const restarted = () =>
  single(
    "resnet50-preempted",
    {
      seed: 3,
      num: 9000,
      attempts: [
        { at: 3100, pauseMs: 885_000 },
        { at: 6200, pauseMs: 42_000 },
      ],
      missing: [[4000, 4512]],
      profiled: [5000, 5050],
      interrupted: [7400],
      spikes: { 2222: 10_000 },
      scale: 1.15,
    },
    { superseded: 51, counters: { num_rows_lost: 24, num_interrupted: 1 } },
  );

const job = () => ({
  run: "llama-8b/pretrain",
  notes: [],
  missing_ranks: [3],
  members: [0, 1, 2, 4].map((rank) =>
    member(
      () =>
        makeRows({
          seed: 10 + rank,
          num: 5000,
          scale: 40 + (rank === 2 ? 4 : 0),
          allocated: true,
          device: true,
          tokens: 8192,
          leak: 900,
          samples: 8,
        }),
      { rank },
    ),
  ),
  world_size: 5,
});

const writers = () => ({
  run: "shared-directory",
  missing_ranks: [],
  notes: ["3 processes wrote to this run at the same time; they are shown as separate writers."],
  members: [0, 1, 2].map((writer) => member(() => makeRows({ seed: 30 + writer, num: 800 }), { writer })),
});

const manyStages = () =>
  single("many-stages", {
    seed: 8,
    num: 4000,
    stages: Object.fromEntries(Array.from({ length: 26 }, (_, i) => [`block_${i}/attention`, 3 / (i + 1)])),
  });

const names = [
  "<img src=x onerror=alert(1)>",
  "a&b=c?d#e",
  "100% sure",
  "ru\u010dka-\u5b9f\u9a13-\u{1F680}",
  "\u202egnp.exe",
  "..hidden",
  " lead and trail ",
  "x".repeat(180),
  "quote'\"`",
  "tab\there",
  "new\nline",
  "%2e%2e%2f",
  "CON",
  "a,b@c~d",
];
const oddNames = () =>
  names.map((run, i) =>
    single(run, {
      seed: 50 + i,
      num: 400,
      stages: { "<b>bold</b>": 2, "\u524d\u5411": 3, "a/b/c": 1, "": 0.4, " ": 0.2, "Episode / total (mean)": 0.9 },
    }),
  );

const sweep = () => {
  const runs = [];
  for (const lr of ["0.0003", "0.001", "0.003", "0.01"])
    for (const bs of [32, 64, 128, 256, 512])
      for (const wd of ["0.0", "0.01", "0.05", "0.1"])
        for (const seed of [1, 2, 3, 4, 5])
          runs.push(
            single(
              `experiments/2024-11-vit-large-patch16-imagenet21k/sweep-optimizer/lr=${lr},batch_size=${bs},weight_decay=${wd},seed=${seed}/version_0`,
              { seed: runs.length + 100, num: 1200, scale: 0.5 + bs / 256 },
            ),
          );
  return runs;
};

/** Names that differ in the middle only. */
const longNames = () => {
  const runs = [];
  for (let i = 0; i < 400; i++) {
    const lr = ["1e-01", "3e-02", "1e-02", "1e-03"][i % 4];
    const bs = [64, 128, 256][i % 3];
    const seed = String(i).padStart(3, "0");
    runs.push(
      single(`sweep/resnet50_imagenet_lr${lr}_bs${bs}_seed${seed}_cosine_warmup5_amp`, { seed: i + 1, num: 300 }),
    );
  }
  return [...runs, single("baseline/resnet50", { seed: 900, num: 300 }), single("debug", { seed: 901, num: 300 })];
};

const compared = () => [
  healthy(),
  regression(),
  single("resnet50-slower", { seed: 80, effects: [{ from: 0, stage: "backward", ms: 0.7 }] }, { end: "closed" }),
  single("resnet50-again", { seed: 77 }, { end: "closed" }),
  { ...single("resnet50-gpu", { seed: 78, scale: 0.4 }, { end: "closed" }), device: "cuda" },
  single("resnet50-short", { seed: 79, num: 60 }),
];

export const SCENARIOS = {
  changes: () => ({ runs: [changing()] }),
  crowded: () => ({ runs: [crowded()] }),
  computing: () => ({ runs: [regression()], slow: 12 }),
  compare: () => ({ runs: compared() }),
  longnames: () => ({ runs: longNames() }),
  healthy: () => ({ runs: [healthy()] }),
  regression: () => ({ runs: [regression()] }),
  overlay: () => ({
    runs: [
      healthy(),
      regression(),
      restarted(),
      job(),
      writers(),
      manyStages(),
      single("tiny", { num: 5, warmup: 2 }),
      single("huge-steps", { num: 3000, baseStep: 2n ** 63n - 400_000n, stride: 100 }),
    ],
    problems: [
      { run: "old", message: "written in block format 2, this tb_stepperf reads up to 1: upgrade tb_stepperf" },
    ],
    num_runs_without_data: 4,
  }),
  restart: () => ({ runs: [restarted()] }),
  job: () => ({ runs: [job()] }),
  tiny: () => ({ runs: [single("tiny", { num: 5, warmup: 2 })] }),
  empty: () => ({ runs: [], num_runs_without_data: 7 }),
  problem: () => ({
    runs: [],
    problems: [
      { run: "old", message: "written in block format 2, this tb_stepperf reads up to 1: upgrade tb_stepperf" },
    ],
  }),
  names: () => ({ runs: oddNames() }),
  sweep: () => ({ runs: sweep() }),
  million: () => ({
    runs: [
      single(
        "one-million-steps",
        { num: 1_000_000, profiled: [400_000, 400_200], spikes: { 77_777: 10_000 }, excludedEvery: 100_000 },
        { end: "closed" },
      ),
    ],
  }),
  live: () => ({ runs: [single("live", { num: 3000, started: Date.now() - 40_000 })], live: true }),
  broken: () => ({ runs: [healthy()], broken: true }),
};
