// What invented traces say: a loop on the host, a rank on a device that communicates, a file without steps, a hostile
// one. In the shape of tb_stepperf/traces/summary.py, with step numbers as text.
import { random } from "./rows.mjs";

const LIMIT = "The rule sees one window of a few steps: a candidate, not a proven cause.";
const finding = (rule, share, candidate, evidence, next_check, limit = LIMIT) => ({
  rule,
  candidate,
  evidence,
  next_check,
  limit,
  share,
});
const operator = (name, num_calls, self_host_ms, extra = {}) => ({
  name,
  shapes: null,
  num_calls,
  self_host_ms,
  total_host_ms: self_host_ms * 1.4,
  self_device_ms: 0,
  total_device_ms: 0,
  is_annotation: false,
  ...extra,
});
const sum = (values) => values.reduce((a, b) => a + b, 0);

/** Steps that begin one after the other, the first and the last cut by the window. */
function slices(first, parts, { device = false, seed = 1, cut = true } = {}) {
  const next = random(seed);
  let start = 1.8;
  return parts.map((breakdown, i) => {
    const breakdown_ms = breakdown.map((ms) => ms * (0.97 + 0.06 * next()));
    const duration_ms = sum(breakdown_ms);
    const one = {
      step: String(BigInt(first) + BigInt(i)),
      start_ms: start,
      duration_ms,
      cut: cut && i === 0 ? "start" : cut && i === parts.length - 1 ? "end" : null,
      breakdown_ms,
      device_busy_ms: device ? breakdown_ms[0] + breakdown_ms[1] + breakdown_ms[2] + breakdown_ms[3] : null,
      communication_ms: device ? breakdown_ms[3] + 3.2 : 0,
      overlapped_ms: device ? 3.2 : 0,
      num_kernels: device ? 612 + i : 0,
    };
    start += duration_ms;
    return one;
  });
}

function finish({ info, steps, operators, kernels = [], memory = [], waits = [], launches = null, findings = [] }) {
  const used = steps.filter((step) => step.cut === null);
  const pool = used.length ? used : steps;
  const mean = (key) => (pool.length ? sum(pool.map(key)) / pool.length : 0);
  const device = pool.some((step) => step.device_busy_ms !== null);
  return {
    info: {
      num_bytes: 87_000_000,
      num_events: 240_312,
      span_ms: 4 + sum(steps.map((step) => step.duration_ms)),
      rank: null,
      world_size: null,
      backend: null,
      devices: [],
      steps_from: steps.length ? "profiler" : "none",
      numbering: "training",
      origin_s: 1_700_000_500.25,
      options: [],
      notes: [],
      ...info,
    },
    steps,
    num_steps_used: pool.length,
    step_ms: pool.length ? mean((step) => step.duration_ms) : null,
    breakdown_ms: pool.length ? pool[0].breakdown_ms.map((_, i) => mean((step) => step.breakdown_ms[i])) : info.whole,
    device_busy_share: device ? mean((step) => step.device_busy_ms) / mean((step) => step.duration_ms) : null,
    communication_ms: mean((step) => step.communication_ms),
    overlapped_ms: mean((step) => step.overlapped_ms),
    operators,
    num_operators: operators.length,
    kernels,
    num_kernels: kernels.length,
    memory,
    waits,
    launches,
    findings,
  };
}

const CPU_OPERATORS = [
  ["aten::mkldnn_convolution", 53, 4.1],
  ["aten::addmm", 12, 0.9],
  ["aten::native_batch_norm", 53, 1.1],
  ["aten::add_", 160, 0.42],
  ["aten::threshold_backward", 49, 0.31],
  ["Optimizer.step#SGD.step", 1, 0.28, { is_annotation: true }],
  ["aten::mul_", 161, 0.27],
  ["autograd::engine::evaluate_function: ConvolutionBackward0", 53, 0.12],
  ["aten::empty", 410, 0.2],
  ["aten::copy_", 30, 0.11],
];
const LOADER = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__";

/** A step on the host; `loader` ms of it wait for data. */
export function cpuSummary(first, loader, { seed = 1, findings = true } = {}) {
  const steps = slices(
    first,
    Array.from({ length: 5 }, () => [0, 0, 0, 0, 0, loader, 8.2, 0.9]),
    { seed },
  );
  const used = 3;
  const total = loader + 9.1;
  return finish({
    info: {
      rank: 0,
      notes: [
        "The file holds no device events: nothing ran on a device, or the profiler was not told to record it (activities).",
      ],
    },
    steps,
    operators: [
      operator(LOADER, used, loader * used, { is_annotation: true, total_host_ms: loader * used }),
      ...CPU_OPERATORS.map(([name, calls, ms, extra]) =>
        operator(name, calls * used, ms * used, {
          shapes: name === "aten::addmm" ? "[1000], [64, 2048], [2048, 1000]" : null,
          ...extra,
        }),
      ),
    ],
    waits: steps.slice(0, 4).map((step) => ({
      kind: "data",
      name: LOADER,
      step: step.step,
      start_ms: step.start_ms,
      duration_ms: loader * 0.99,
    })),
    findings: findings
      ? [
          finding(
            "data-pipeline-bound",
            loader / total,
            "The steps wait for data.",
            `Loading takes ${loader.toFixed(1)} ms of ${total.toFixed(1)} ms a step (${((100 * loader) / total).toFixed(0)} %); stage data_wait says 3.2 ms around this window.`,
            "Raise num_workers or prefetch_factor, and see whether the share falls; time the dataset’s __getitem__ alone.",
          ),
          finding(
            "garbage-collection",
            0.04,
            "Garbage collections make single steps longer.",
            "2 of the 200 steps around this window carry a collection of 4.4 ms on average.",
            "Freeze long-lived objects after the first step with gc.freeze(), or collect at fixed steps.",
          ),
        ]
      : [],
  });
}

const KERNELS = [
  [
    "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevComm*, unsigned long, ncclWork*)",
    "communication",
    24,
    9.6,
    910,
    "nccl:all_reduce",
  ],
  [
    "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x64x64_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas",
    "kernel",
    96,
    8.1,
    240,
    "aten::mm",
  ],
  [
    "void at::native::vectorized_elementwise_kernel<4, at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, at::native::GeluType)::{lambda()#2}::operator()() const::{lambda()#4}::operator()() const::{lambda(c10::BFloat16)#1}, std::array<char*, 2ul> >(int, at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, at::native::GeluType)::{lambda()#2}::operator()() const::{lambda()#4}::operator()() const::{lambda(c10::BFloat16)#1}, std::array<char*, 2ul>)",
    "kernel",
    48,
    2.4,
    66,
    "aten::gelu",
  ],
  [
    "void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, 128, 128, 4, false, false, cutlass::bfloat16_t, pytorch_flash::Flash_kernel_traits<64, 128, 128, 4, cutlass::bfloat16_t> >, false, false, false, false, false, true, false>(pytorch_flash::Flash_fwd_params)",
    "kernel",
    24,
    3.9,
    190,
    "aten::_flash_attention_forward",
  ],
  ["Memcpy HtoD (Pinned -> Device)", "copy", 4, 0.7, 310, "aten::copy_"],
  ["Memset (Device)", "set", 40, 0.1, 4, null],
];

/** A rank on a device: communication half hidden, many kernels, memory. */
export function gpuSummary(first, num = 6) {
  const steps = slices(
    first,
    Array.from({ length: num }, () => [14.6, 0.6, 0.1, 6.4, 0.9, 0.3, 2.1, 0.6]),
    {
      device: true,
      seed: 9,
    },
  );
  const used = num - 2;
  const span = 4 + sum(steps.map((step) => step.duration_ms));
  const at = Array.from({ length: 240 }, (_, i) => (i * span) / 240);
  const curve = at.map((ms) => {
    const step = steps.findLast((one) => one.start_ms <= ms) ?? steps[0];
    const phase = Math.min(1, Math.max(0, (ms - step.start_ms) / step.duration_ms));
    return Math.round(18e9 + 34e9 * (phase < 0.45 ? phase / 0.45 : 1 - (phase - 0.45) / 0.55));
  });
  return finish({
    info: {
      rank: 3,
      options: ["profile_memory"],
      world_size: 8,
      backend: "nccl",
      devices: ["NVIDIA H100 80GB HBM3"],
      num_bytes: 431_000_000,
      num_events: 456_020,
    },
    steps,
    operators: [
      ["aten::mm", 96, 0.9, 8.1],
      ["nccl:all_reduce", 24, 0.3, 9.6],
      ["aten::_flash_attention_forward", 24, 0.5, 3.9],
      ["aten::gelu", 48, 0.4, 2.4],
      ["aten::copy_", 31, 0.2, 0.7],
      ["aten::layer_norm", 49, 0.6, 0.9],
      ["cudaLaunchKernel", 612, 1.1, 0],
    ].map(([name, calls, host, device]) =>
      operator(name, calls * used, host * used, { self_device_ms: device * used, total_device_ms: device * used }),
    ),
    kernels: KERNELS.map(([name, kind, calls, ms, max_us, op]) => ({
      name,
      kind,
      num_calls: calls * used,
      total_ms: ms * used,
      mean_us: (1000 * ms) / calls,
      max_us,
      operator: op,
    })),
    memory: [
      {
        device: "cuda:0",
        peak_allocated_bytes: Math.max(...curve),
        peak_reserved_bytes: 61e9,
        total_bytes: 85e9,
        peak_at_ms: at[curve.indexOf(Math.max(...curve))],
        at_ms: at,
        allocated_bytes: curve,
        is_relative: false,
      },
    ],
    waits: steps
      .flatMap((step, i) => [
        {
          kind: "synchronisation",
          name: "cudaDeviceSynchronize",
          step: step.step,
          start_ms: step.start_ms + 20,
          duration_ms: 2.6 - i * 0.1,
        },
        {
          kind: "device idle",
          name: i % 2 ? null : "aten::item",
          step: step.step,
          start_ms: step.start_ms + 8,
          duration_ms: 1.2,
        },
      ])
      .slice(0, 10),
    launches: {
      num_kernels_per_step: 612,
      median_kernel_us: 8.4,
      short_share: 0.58,
      num_gaps: 930,
      gap_ms_per_step: 2.2,
      short_gap_share: 0.93,
    },
    findings: [
      finding(
        "communication-not-overlapped",
        0.25,
        "Communication is not hidden behind computation.",
        "Communication takes 9.6 ms a step, of which 6.4 ms (67 %) run while nothing else does.",
        "Look at bucket sizes of DistributedDataParallel, or at what the last layers wait for.",
      ),
      finding(
        "launch-bound",
        0.09,
        "The device waits for many short kernels.",
        "58 % of 612 kernels a step are shorter than 10 µs; gaps between them take 2.2 ms a step.",
        "Try torch.compile or CUDA graphs, and see whether the gaps close.",
      ),
    ],
  });
}

/** A file of a plain profiler that marks no step. */
export function stepless() {
  return finish({
    info: {
      span_ms: 48.3,
      num_events: 1_204,
      num_bytes: 310_000,
      whole: [0, 0, 0, 0, 0.4, 0, 39.1, 8.8],
      notes: [
        "No step is marked: call the profiler’s step() at the end of each iteration, or use perf.profile(…).",
        "3 events had a negative duration; they are taken as 0.",
      ],
    },
    steps: [],
    operators: CPU_OPERATORS.map(([name, calls, ms, extra]) => operator(name, calls, ms * 4, extra)),
  });
}

/** Names that would be markup, or turn the line around, and numbers that do not exist. */
export function hostile() {
  const one = cpuSummary(9_007_199_254_740_995n, 2, { findings: true });
  const evil = '<img src=x onerror="alert(1)">';
  one.info.notes = [`repaired: ${evil}`];
  one.operators[0].name = evil + "\u202e" + "A".repeat(4000);
  one.operators[1] = { ...one.operators[1], name: "</script><script>alert(2)</script>", shapes: evil };
  one.waits[0].name = evil;
  one.findings[0] = { ...one.findings[0], candidate: evil, evidence: evil, next_check: evil, limit: evil };
  one.memory = [
    {
      device: evil,
      peak_allocated_bytes: 3_000_000,
      peak_reserved_bytes: null,
      total_bytes: null,
      peak_at_ms: null,
      at_ms: [0, 2, 9],
      allocated_bytes: [0, 3_000_000, -400_000],
      is_relative: true,
    },
  ];
  return one;
}

/** The difference of two summaries, as /trace_comparison says it. */
export function compared(before, after) {
  const PARTS = ["kernel", "copy", "set", "exposed_communication", "runtime", "data_loading", "cpu_operators", "other"];
  const per = (summary) => Math.max(1, summary.num_steps_used);
  const device = before.device_busy_share !== null && after.device_busy_share !== null;
  const key = device ? "self_device_ms" : "self_host_ms";
  const change_ms = (after.step_ms ?? 0) - (before.step_ms ?? 0);
  const names = [...new Set([...before.operators, ...after.operators].map(({ name }) => name))];
  const operators = names
    .map((name) => {
      const [a, b] = [before, after].map((one) => one.operators.find((row) => row.name === name));
      const ms = (row, one) => (row ? row[key] / per(one) : 0);
      const calls = (row, one) => (row ? row.num_calls / per(one) : null);
      const mean = (row) => (row ? (1000 * row[key]) / row.num_calls : null);
      const change = ms(b, after) - ms(a, before);
      return {
        name,
        is_annotation: (a ?? b).is_annotation,
        change_ms: change,
        share: change_ms ? change / change_ms : null,
        before_ms: ms(a, before),
        after_ms: ms(b, after),
        before_calls: calls(a, before),
        after_calls: calls(b, after),
        before_mean_us: mean(a),
        after_mean_us: mean(b),
      };
    })
    .sort((x, y) => Math.abs(y.change_ms) - Math.abs(x.change_ms));
  const [top] = operators;
  return {
    basis: device ? "device" : "host",
    per: before.step_ms && after.step_ms ? "step" : "trace",
    before_ms: before.step_ms,
    after_ms: after.step_ms,
    change_ms,
    parts: PARTS.map((part, i) => ({
      part,
      before_ms: before.breakdown_ms[i],
      after_ms: after.breakdown_ms[i],
      change_ms: after.breakdown_ms[i] - before.breakdown_ms[i],
    })),
    operators,
    num_operators: operators.length,
    sentence: `Steps take ${change_ms.toFixed(1)} ms more in the later window (${before.step_ms?.toFixed(1)} → ${after.step_ms?.toFixed(1)} ms); ${top.name} makes ${(100 * (top.share ?? 0)).toFixed(0)} % of that.`,
    notes: [],
  };
}
