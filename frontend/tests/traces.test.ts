import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { CaptureWindow, TraceFile } from "../src/api/traces";
import { choiceFromPairs, choicePairs, NO_CHOICE } from "../src/state/trace-choice";
import { sortRows, type Column } from "../src/traces/grid";
import { defaultPair, nearestWindows, ofMember } from "../src/traces/nearest";
import { curveWords } from "../src/traces/memory";
import { signedTime } from "../src/traces/pair";
import { LIMIT_MS, perfettoAddress, PerfettoDoor, stretchOf } from "../src/traces/perfetto";
import {
  costWords,
  factWords,
  headlineWords,
  launchWords,
  lostWords,
  markedWords,
  middle,
  reasonWords,
  sliceWords,
  stepName,
  traceName,
  windowWords,
} from "../src/traces/words";
import { catalog, traces } from "./recorded";

const recorded = traces();
const window = (start: number | null, end: number | null, extra: Partial<CaptureWindow> = {}): CaptureWindow => ({
  start: start === null ? null : String(start),
  end: end === null ? null : String(end),
  reason: "scheduled",
  state: "written",
  about_step: null,
  cost_ms: 1,
  error: null,
  profiled_ms: null,
  unprofiled_ms: null,
  ...extra,
});
const file = (trace: string, captured: CaptureWindow | null, extra: Partial<TraceFile> = {}): TraceFile => ({
  ...recorded.list.traces[0]!,
  trace,
  run: "resnet50",
  member: "0",
  window: captured,
  ...extra,
});
const marker = (step: number, extra: { kind?: "regression" | "transient"; end_step?: string | null } = {}) => ({
  step: String(step),
  end_step: null,
  kind: "regression" as const,
  ...extra,
});
const names = ({ before, after }: ReturnType<typeof nearestWindows>) => [before?.trace ?? null, after?.trace ?? null];

describe("windows around a change", () => {
  const files = [
    file("reference", window(100, 103, { reason: "reference" })),
    file("early", window(500, 503)),
    file("near", window(900, 1000)),
    file("across", window(990, 1010)),
    file("at", window(1000, 1003)),
    file("late", window(5000, 5003)),
    file("plain", null),
    file("never", window(null, null, { state: "never_active" })),
  ];
  it("are the nearest that end before it, and begin at it or later", () => {
    expect(names(nearestWindows(marker(1000), files))).toEqual(["near", "at"]);
    expect(names(nearestWindows(marker(1001), files))).toEqual(["near", "late"]);
    expect(names(nearestWindows(marker(999), files))).toEqual(["early", "at"]);
    expect(names(nearestWindows(marker(6000), files))).toEqual(["late", null]);
  });
  it("a reference window counts as before, also where it came later, and never as after", () => {
    expect(names(nearestWindows(marker(50), files))).toEqual(["reference", "early"]);
    expect(names(nearestWindows(marker(50), [files[0]!]))).toEqual(["reference", null]);
  });
  it("of a change that passes, the one after it lies within", () => {
    expect(names(nearestWindows(marker(1001, { kind: "transient", end_step: "1200" }), files))).toEqual(["near", null]);
    expect(names(nearestWindows(marker(1000, { kind: "transient", end_step: "1200" }), files))).toEqual(["near", "at"]);
  });
  it("compares steps that no number can hold", () => {
    const huge = [file("a", { ...window(0, 0), start: "9223372036854775800", end: "9223372036854775803" })];
    expect(names(nearestWindows({ ...marker(0), step: "9223372036854775801" }, huge))).toEqual([null, null]);
    expect(names(nearestWindows({ ...marker(0), step: "9223372036854775800" }, huge))).toEqual([null, "a"]);
  });
  it("belong to the same run and member; a run of one member owns those that name none", () => {
    const run = (name: string) => catalog().runs.find((one) => one.run === name)!;
    const [alone, job] = [run("resnet50"), run("llama-8b/pretrain")];
    const all = [
      file("own", null),
      file("unnamed", null, { member: null }),
      file("rank", null, { run: job.run, member: job.members[1]!.member }),
      file("other", null, { run: job.run, member: null }),
    ];
    const of = (...args: Parameters<typeof ofMember>) => ofMember(...args).map(({ trace }) => trace);
    expect(of({ run: alone, member: alone.members[0]! }, all)).toEqual(["own", "unnamed"]);
    expect(of({ run: job, member: job.members[1]! }, all)).toEqual(["rank"]);
  });
  it("are what is compared at first: those of a change with both, else the first and the last of a member", () => {
    const run = catalog().runs.find((one) => one.run === "resnet50")!;
    const shown = { run, member: run.members[0]! };
    expect(
      names(
        defaultPair(
          [
            { marker: marker(9000), shown },
            { marker: marker(1000), shown },
          ],
          files,
        ),
      ),
    ).toEqual(["near", "at"]);
    expect(names(defaultPair([], [file("other", null, { run: "x" }), files[0]!, files[1]!]))).toEqual([
      "reference",
      "early",
    ]);
    expect(names(defaultPair([], [files[0]!]))).toEqual([null, null]);
  });
});

describe("what is chosen", () => {
  it("survives in the address", () => {
    const choice = { open: "5b0c61d2a9f04e17", before: "0a1b2c3d4e5f6071", after: "5b0c61d2a9f04e17" };
    expect(choicePairs(choice)).toEqual({ trace: choice.open, before: choice.before, after: choice.after });
    expect(choiceFromPairs(choicePairs(choice))).toEqual(choice);
    expect(choiceFromPairs(choicePairs(NO_CHOICE))).toEqual(NO_CHOICE);
  });
  it("is dropped where it cannot be an id", () => {
    expect(choiceFromPairs({ trace: "<img>", before: "", after: "x".repeat(65) })).toEqual(NO_CHOICE);
  });
});

describe("words", () => {
  it("say where a window lies and why it is there", () => {
    expect(windowWords(window(4200, 4203))).toBe("steps 4,200–4,202");
    expect(windowWords(window(4200, 4201))).toBe("step 4,200");
    expect(windowWords(window(4200, null))).toBe("step 4,200");
    expect(windowWords(window(null, null))).toBe("");
    expect(windowWords(null)).toBe("");
    const other = window(4200, 4203, { reason: "profiler" });
    expect(windowWords(other)).toBe("within steps 4,200–4,202");
    expect(reasonWords(other)).toBe("a profiler of its own");
    expect(reasonWords(window(1, 2, { reason: "regression", about_step: "4150" }))).toBe(
      "the run got slower (step 4,150)",
    );
    expect(reasonWords(window(1, 2, { reason: "reference" }))).toBe("reference of the healthy run");
    expect(reasonWords(null)).toBe("a profiler of its own");
    expect(reasonWords(window(1, 2, { reason: "<new>" as "requested" }))).toBe("<new>");
    expect(traceName(file("a", window(1, 4, { reason: "slow_step" })))).toBe("steps 1–3 · slow step");
    expect(traceName(file("a", null, { num_parts: 3, part: 2 }))).toBe("part 2 of 3 · plain profiler");
    expect(traceName(file("a", null, { file: "x/y.json" }))).toBe("y.json · plain profiler");
  });
  it("say which steps a file marks", () => {
    const { info, steps } = recorded.cpu;
    const [first] = steps;
    const marked = [
      { ...first!, step: "9007199254740993" },
      ...["1", "9007199254740995"].map((step) => ({ ...first!, step })),
    ];
    expect(markedWords({ info: { ...info, numbering: "profiler" }, steps: marked })).toBe(
      "steps 9,007,199,254,740,993–9,007,199,254,740,995 (profiler’s count)",
    );
    expect(markedWords({ info: { ...info, numbering: "training" }, steps: marked.slice(0, 1) })).toBe(
      "step 9,007,199,254,740,993",
    );
    expect(markedWords(recorded.stepless)).toBe("");
    expect(markedWords({ info: { ...info, steps_from: "optimizer" }, steps })).toBe("");
  });
  it("say what the profiler costs", () => {
    expect(costWords(window(1, 2, { profiled_ms: 14.1, unprofiled_ms: 10 }))).toBe(
      "14.1 ms while profiled, 10.0 ms around it (1.4 ×)",
    );
    expect(costWords(window(1, 2, { profiled_ms: 14.1 }))).toBe("14.1 ms while profiled");
    expect(costWords(window(1, 2))).toBe("–");
    expect(costWords(null)).toBe("–");
  });
  it("say why a window left no file", () => {
    const [never, skipped] = recorded.list.windows_without_trace;
    expect(lostWords(never!)).toMatch(/^The schedule of this profiler never reached/);
    expect(lostWords(skipped!)).toBe("Another profiler was active: another profiler was recording.");
    expect(lostWords({ ...skipped!, state: "failed", error: "disk full." })).toBe("The profiler failed: disk full.");
  });
  it("sum a trace up", () => {
    expect(headlineWords(recorded.gpu)).toMatch(
      /^A step takes 25\.\d ms on average, over 4 of 6 steps: those that the window may have cut are left out\. The device works 8\d % of that time and is idle 1\d %\.$/,
    );
    expect(headlineWords(recorded.stepless)).toBe(
      "No step is marked in this trace, which is 48.3 ms long; all numbers are of the whole. It holds no device events.",
    );
    expect(launchWords(recorded.gpu)).toMatch(
      /^612 kernels a step, the median one 8\.40 µs; 58 % are shorter than 10 µs\./,
    );
    expect(launchWords({ ...recorded.gpu, num_steps_used: 0 })).toMatch(
      /^612 kernels in the whole trace,.+ in the whole trace in /,
    );
    expect(launchWords(recorded.cpu)).toBe("");
    expect(factWords(recorded.gpu, file("a", null))).toEqual(
      expect.arrayContaining([
        "rank 3 of 8, nccl",
        "NVIDIA H100 80GB HBM3",
        expect.stringMatching(/^456,020 events in 1\d\d ms$/),
      ]),
    );
    const [step] = recorded.cpu.steps;
    expect(stepName(step!)).toBe("step 7,419 (its start may be cut)");
    expect(
      sliceWords("step 1", 3, [
        ["kernels", 2],
        ["copies", 0],
        ["other", 1],
      ]),
    ).toBe("step 1: 3.00 ms, of which kernels 2.00 ms and other 1.00 ms");
    expect(curveWords(recorded.gpu.memory[0]!)).toMatch(
      /^cuda:0 \(79\.2 GiB\): at most 48\.\d GiB allocated, .+ after the first event; reserved: at most 56\.8 GiB\.$/,
    );
    expect([signedTime(1.2), signedTime(-0.04), signedTime(0), signedTime(null)]).toEqual([
      "+1.20 ms",
      "−40.0 µs",
      "0 ms",
      "–",
    ]);
  });
  it("shorten in the middle, by characters", () => {
    expect(middle("abcdefghij", 10)).toBe("abcdefghij");
    expect(middle("abcdefghijk", 10)).toBe("abcdef…ijk");
    expect(middle("😀".repeat(30), 6)).toBe("😀😀😀…😀😀");
    expect(middle("\u202eabc", 40)).toBe("⟨U+202E⟩abc");
  });
});

describe("sorting", () => {
  const rows = [
    { n: 2, t: "b" },
    { n: null, t: "a" },
    { n: 10, t: "c" },
    { n: 2, t: "d" },
  ];
  const columns: Column<(typeof rows)[number]>[] = [
    { key: "n", title: "n", value: (row) => row.n, cell: (row) => row.n },
    { key: "t", title: "t", value: (row) => row.t, cell: (row) => row.t },
    { key: "none", title: "", cell: () => "" },
  ];
  const sorted = (key: string, descending: boolean) => sortRows(rows, columns, { key, descending }).map(({ t }) => t);
  it("orders numbers as numbers, keeps the order of equals, and puts what is missing last either way", () => {
    expect(sorted("n", false)).toEqual(["b", "d", "c", "a"]);
    expect(sorted("n", true)).toEqual(["c", "b", "d", "a"]);
    expect(sorted("t", true)).toEqual(["d", "c", "b", "a"]);
    expect(sorted("none", true)).toEqual(["b", "a", "c", "d"]);
  });
});

describe("Perfetto", () => {
  const ORIGIN = "https://ui.perfetto.dev";
  const request = { trace: "t1", title: "resnet50 steps 1–3", fileName: "a.json.gz", stretch: null };
  let listeners: ((event: MessageEvent) => void)[];
  let sent: { message: unknown; origin: string; transfer: unknown }[];
  let opened: string[];
  let target: Window & { closed: boolean };
  const bytes = new ArrayBuffer(8);
  const response = (body: BodyInit, status = 200) => Promise.resolve(new Response(body, { status }));

  beforeEach(() => {
    vi.useFakeTimers();
    [listeners, sent, opened] = [[], [], []];
    target = {
      closed: false,
      close: vi.fn(),
      location: { origin: ORIGIN },
      postMessage: (message: unknown, origin: string, transfer: unknown) =>
        void sent.push({ message, origin, transfer }),
    } as unknown as typeof target;
  });
  afterEach(() => vi.useRealTimers());

  const door = (options: { blocked?: boolean; fetcher?: (url: string) => Promise<Response> } = {}) =>
    new PerfettoDoor(
      {
        open: (address: string) => (opened.push(address), options.blocked ? null : target),
        addEventListener: (_: string, listener: never) => void listeners.push(listener),
        removeEventListener: (_: string, listener: never) =>
          void (listeners = listeners.filter((one) => one !== listener)),
      } as unknown as Window,
      (trace) => `http://host/trace_file?trace=${trace}`,
      options.fetcher ?? (() => response(bytes)),
    );
  const say = (data: unknown, origin = ORIGIN, source: unknown = target) =>
    listeners.forEach((listener) => listener({ data, origin, source } as MessageEvent));

  it("pings at its exact origin until it answers, then hands the file over, once", async () => {
    const one = door();
    const done = one.open(`${ORIGIN}/`, request);
    expect(opened).toEqual([`${ORIGIN}/`]);
    await vi.advanceTimersByTimeAsync(250);
    expect(sent.map(({ message, origin }) => [message, origin])).toEqual([
      ["PING", ORIGIN],
      ["PING", ORIGIN],
    ]);
    expect(one.state.value).toEqual({ trace: "t1", state: "opening", message: null });
    say("PONG");
    say("PONG");
    await done;
    const posts = sent.filter(({ message }) => message !== "PING");
    expect(posts).toHaveLength(1);
    const { perfetto } = posts[0]!.message as { perfetto: Record<string, unknown> };
    expect([perfetto.title, perfetto.fileName, posts[0]!.origin]).toEqual([request.title, "a.json.gz", ORIGIN]);
    expect((perfetto.buffer as ArrayBuffer).byteLength).toBe(8);
    expect(posts[0]!.transfer).toEqual([perfetto.buffer]);
    expect(one.state.value!.state).toBe("done");
    expect(listeners).toHaveLength(0);
    expect(vi.getTimerCount()).toBe(0);
  });
  it("says nothing to a window that has not left the empty page yet", async () => {
    Object.assign(target, { location: { origin: "null" } });
    void door().open(ORIGIN, request);
    await vi.advanceTimersByTimeAsync(1000);
    expect(sent).toEqual([]);
    Object.defineProperty(target, "location", {
      get: () => {
        throw new DOMException("cross-origin");
      },
    });
    await vi.advanceTimersByTimeAsync(100);
    expect(sent).toHaveLength(1);
  });
  it("hears only that window, at that origin, with that word", async () => {
    const one = door();
    void one.open(ORIGIN, request);
    say("PONG", "https://evil.example");
    say("PONG", ORIGIN, {});
    say({ perfetto: 1 });
    await vi.advanceTimersByTimeAsync(300);
    expect(one.state.value!.state).toBe("opening");
    expect(sent.every(({ message }) => message === "PING")).toBe(true);
  });
  it("gives up after a while, and closes the window", async () => {
    const one = door();
    void one.open(ORIGIN, request);
    await vi.advanceTimersByTimeAsync(LIMIT_MS + 200);
    expect(one.state.value).toEqual({
      trace: "t1",
      state: "failed",
      message: `${ORIGIN} did not answer within 20 s: this browser may not reach it.`,
    });
    expect(target.close).toHaveBeenCalled();
    expect(listeners).toHaveLength(0);
  });
  it("says so where the browser blocks the window, where a person closes it, and where the file does not come", async () => {
    const blocked = door({ blocked: true });
    await blocked.open(ORIGIN, request);
    expect(blocked.state.value!.message).toMatch(/^The browser blocked the new window/);
    const closed = door();
    void closed.open(ORIGIN, request);
    target.closed = true;
    await vi.advanceTimersByTimeAsync(200);
    expect(closed.state.value!.message).toMatch(/was closed before/);
    target.closed = false;
    const missing = door({ fetcher: () => response("", 404) });
    await missing.open(ORIGIN, request);
    expect(missing.state.value).toMatchObject({ state: "failed", message: expect.stringMatching(/: status 404\.$/) });
    const offline = door({ fetcher: () => Promise.reject(new TypeError("network")) });
    await offline.open(ORIGIN, request);
    expect(offline.state.value!.message).toMatch(/TensorBoard did not answer/);
  });
  it("waits for a large file after the answer; a newer request ends an older one", async () => {
    const free: ((found: Response) => void)[] = [];
    const one = door({ fetcher: () => new Promise((resolve) => free.push(resolve)) });
    const first = one.open(ORIGIN, request);
    say("PONG");
    await vi.advanceTimersByTimeAsync(60_000);
    expect(one.state.value!.state).toBe("fetching");
    const second = one.open(ORIGIN, { ...request, trace: "t2" });
    say("PONG");
    free.forEach((resolve) => resolve(new Response(bytes)));
    await Promise.all([first, second]);
    expect(one.state.value).toMatchObject({ trace: "t2", state: "done" });
    expect(sent.filter(({ message }) => message !== "PING")).toHaveLength(1);
  });
  it("opens at a stretch of time, in nanoseconds, and refuses addresses that are none of the web", async () => {
    const stretch = stretchOf(1_700_000_500.25, 100, 120);
    expect(stretch).toEqual({ startNs: 1_700_000_500_349_000_000n, endNs: 1_700_000_500_371_000_000n });
    expect(stretchOf(0, 0, 1).startNs).toBe(0n);
    expect(perfettoAddress("https://own.host/perfetto/", stretch)!.href).toBe(
      "https://own.host/perfetto/#!/?visStart=1700000500349000000&visEnd=1700000500371000000",
    );
    expect(perfettoAddress("javascript:alert(1)", null)).toBeNull();
    expect(perfettoAddress("ui.perfetto.dev", null)).toBeNull();
    const wrong = door();
    await wrong.open("nothing", request);
    expect(opened).toEqual([]);
    expect(wrong.state.value!.state).toBe("failed");
  });
});
