// What the development page can show. Each scenario is a log directory as /runs would describe it.
import { makeRows } from "./rows.mjs";

const member = (rows, extra = {}) => ({ rank: 0, writer: 0, end: null, superseded: 0, ...extra, rows });
const single = (run, options, extra) => ({
  run,
  notes: [],
  missing_ranks: [],
  members: [member(() => makeRows(options), extra)],
});

export const healthy = () =>
  single(
    "resnet50",
    { seed: 1, spikes: { 7777: 630 }, profiled: [6000, 6040], excludedEvery: 2000 },
    { end: "closed" },
  );

export const regression = () =>
  single(
    "resnet50-augment",
    { seed: 2, slowFrom: 7300, slowBy: 2.6, profiled: [3000, 3030], excludedEvery: 3000 },
    { end: "closed" },
  );

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

export const SCENARIOS = {
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
