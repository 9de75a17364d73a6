// /traces, /trace, /trace_comparison, /trace_table and /trace_file of the development page.
import { changing, healthy, regression } from "./scenarios.mjs";
import { compared, cpuSummary, gpuSummary, hostile, stepless } from "./trace-summaries.mjs";

const window = (start, end, reason, extra = {}) => ({
  start: String(start),
  end: String(end),
  reason,
  state: "written",
  about_step: null,
  cost_ms: 840,
  error: null,
  profiled_ms: 14.1,
  unprofiled_ms: 10,
  ...extra,
});

let serial = 0;
const file = (run, captured, summary, extra = {}) => {
  serial += 1;
  const id = (0x5b0c61d2 + serial * 7919).toString(16).padStart(16, "0");
  return {
    trace: id,
    run,
    member: "0",
    file: `${run}/rank_0.1f2e3d4c5b6a_${serial}.${1_700_000_000 + serial}.pt.trace.json.gz`,
    worker: `rank_0-1f2e3d4c5b6a_${4711}`,
    num_bytes: 4_300_000 + serial * 131_000,
    modified_s: 1_700_000_000 + serial * 37,
    window: captured,
    reading: "unread",
    num_parts: 1,
    part: 1,
    summary,
    ms: 2500,
    ...extra,
  };
};

const lost = (run, state, reason, text, extra = {}) => ({
  run,
  member: "0",
  start: null,
  end: null,
  reason,
  state,
  about_step: null,
  cost_ms: 0,
  error: null,
  text,
  ...extra,
});

const REFUSED = "the JSON breaks off at byte 1,048,576 of 1,048,576: the file was cut, probably while it was written.";

const slower = () => [
  file("resnet50-augment", window(300, 303, "reference"), () => cpuSummary(299n, 0.8, { seed: 3, findings: false })),
  file("resnet50-augment", window(3000, 3030, "scheduled"), () => cpuSummary(2999n, 0.9, { seed: 4 })),
  file(
    "resnet50-augment",
    window(7420, 7423, "regression", { about_step: "7300", profiled_ms: 17.8, unprofiled_ms: 12.6 }),
    () => cpuSummary(7419n, 3.4, { seed: 5 }),
  ),
  file("resnet50-augment", window(9100, 9103, "slow_step", { about_step: "9088" }), null, { refused: REFUSED }),
];

const SCENES = {
  traces: () => ({
    scenario: { runs: [regression(), healthy()] },
    traces: slower(),
    lost: [
      lost(
        "resnet50-augment",
        "never_active",
        "scheduled",
        "The schedule of this profiler never reached its active steps: the run ended at step 11,999, the window would have begun at step 20,000.",
      ),
      lost("resnet50-augment", "skipped", "regression", null, {
        about_step: "7300",
        error: "another profiler was recording",
      }),
    ],
  }),
  onetrace: () => ({
    scenario: { runs: [healthy()] },
    traces: [file("resnet50", window(6000, 6040, "scheduled"), () => cpuSummary(6000n, 1))],
  }),
  gputrace: () => ({
    scenario: { runs: [changing()] },
    traces: [
      file("every-kind-of-change", window(400, 406, "reference"), () => gpuSummary(400n)),
      file("every-kind-of-change", window(3050, 3053, "slow_step", { about_step: "3000" }), () => gpuSummary(3050n, 3)),
      file("every-kind-of-change", window(3500, 3520, "regression", { about_step: "3400" }), () =>
        gpuSummary(3500n, 20),
      ),
      file("every-kind-of-change", null, stepless, { member: null, num_parts: 2, part: 1 }),
      file("every-kind-of-change", null, hostile, {
        member: null,
        num_parts: 2,
        part: 2,
        file: `every-kind-of-change/<b>bold</b>\u202e${"very-long-".repeat(20)}.pt.trace.json`,
      }),
      file("every-kind-of-change", window(9050, 9053, "requested"), () => gpuSummary(9050n), { ms: 60_000 }),
    ],
  }),
  manytraces: () => ({
    scenario: { runs: [healthy(), regression()] },
    traces: Array.from({ length: 300 }, (_, i) =>
      file(
        i % 3 ? "resnet50" : "resnet50-augment",
        window(30 + i * 38, 33 + i * 38, ["scheduled", "regression", "slow_step", "requested"][i % 4]),
        () => cpuSummary(BigInt(30 + i * 38), 1 + i / 100),
      ),
    ),
    lost: Array.from({ length: 12 }, (_, i) =>
      lost("resnet50", "failed", "requested", null, { error: `disk full (${i})` }),
    ),
    problems: [
      "At most 2,000 traces are listed, the newest; 412 older ones are left out.",
      "The directory 'old/locked' could not be read: permission denied.",
      "The directory 'b' could not be read: permission denied.",
    ],
  }),
  foreigntraces: () => ({
    scenario: { runs: [healthy()] },
    traces: [file("other/place", null, stepless, { member: null })],
  }),
  searching: () => ({ scenario: { runs: [healthy()] }, traces: [], searching: true }),
};

export const TRACE_SCENARIOS = Object.fromEntries(
  Object.entries(SCENES).map(([name, make]) => [
    name,
    () => {
      const { scenario, ...traces } = make();
      return { ...scenario, traces };
    },
  ]),
);

/** How far the reading of a file has come since it was first asked for. */
function progress(one) {
  const { trace } = one;
  const gone = one.asked ? Date.now() - one.asked : 0;
  const state = one.cancelled
    ? "cancelled"
    : gone < 600
      ? "queued"
      : gone < 600 + one.ms
        ? "reading"
        : one.refused
          ? "refused"
          : "done";
  return {
    trace,
    state,
    progress: state === "done" ? 1 : Math.min(1, Math.max(0, (gone - 600) / one.ms)),
    num_ahead: state === "queued" ? 1 : 0,
    message: state === "refused" ? one.refused : null,
  };
}

function ask(one) {
  if (!one.asked || one.cancelled) Object.assign(one, { asked: Date.now(), cancelled: false });
  return progress(one);
}

/** The answer to one of these routes; undefined where it is another. */
export function traceAnswer({ scenario }, route, parameters) {
  const { traces = [], lost: windows = [], problems = [], searching = false } = scenario.traces ?? {};
  const find = (name) => traces.find(({ trace }) => trace === parameters.get(name));
  const json = (body, status = 200) => ({ status, body: JSON.stringify(body) });
  const missing = () =>
    json(
      {
        error: {
          code: "not_found",
          message: "there is no such trace; /traces lists what there is",
          parameter: "trace",
        },
      },
      404,
    );
  if (route === "traces")
    return json({
      state: searching ? "searching" : "done",
      num_files_seen: 1234,
      problems,
      traces: traces.map((one) => {
        const { summary: _, ms: __, asked, cancelled: ___, refused: ____, ...rest } = one;
        return { ...rest, reading: asked ? progress(one).state : "unread" };
      }),
      windows_without_trace: windows,
      limits: { memory_mb: 1024, timeout_s: 300 },
      perfetto_url: scenario.perfetto ?? "https://ui.perfetto.dev",
    });
  if (route === "trace") {
    const one = find("trace");
    if (!one) return missing();
    if (parameters.get("cancel")) one.cancelled = true;
    const now = parameters.get("cancel") ? progress(one) : ask(one);
    return json({ ...now, summary: now.state === "done" ? one.summary() : null });
  }
  if (route === "trace_comparison") {
    const [before, after] = [find("before"), find("after")];
    if (!before || !after) return missing();
    const [a, b] = [ask(before), ask(after)];
    const both = a.state === "done" && b.state === "done";
    return json({ before: a, after: b, comparison: both ? compared(before.summary(), after.summary()) : null });
  }
  if (route === "trace_table") return { status: 200, type: "text/csv", body: "name,num_calls\r\naten::mm,1\r\n" };
  if (route === "trace_file") return { status: 200, type: "application/gzip", body: '{"traceEvents": []}' };
  return undefined;
}
