import { describe, expect, it, vi } from "vitest";

import type { TraceFile, TraceList, TraceSummary } from "../src/api/traces";
import type { Page } from "../src/state/page";
import { catalog, everyKind, traces } from "./recorded";
import { entries, requests, root, routeOf, settled, show, type Answer } from "./tab";

// What the chart library draws is tested in a real browser; here it only has to be given the right models.
vi.mock("../src/charts/plot", () => ({
  Plot: class {
    update(): void {}
    showCursor(): void {}
    showSelection(): void {}
    destroy(): void {}
  },
}));

const recorded = traces();
/** The recorded files as those of a run that is shown. */
const own = (run = "resnet50"): TraceFile[] => recorded.list.traces.map((file) => ({ ...file, run }));
const lost = recorded.list.windows_without_trace.map((one) => ({ ...one, run: "resnet50" }));
const REFUSED = "the JSON breaks off at byte 12";

interface Given {
  list?: Partial<TraceList>;
  summary?: TraceSummary;
  state?: string;
}

/** Answers with these traces; a reading ends at once unless told otherwise. */
function given({ list = {}, summary = recorded.cpu, state = "done" }: Given = {}): Answer {
  return (url) => {
    const route = routeOf(url);
    const progress = (name: string) => ({ trace: url.searchParams.get(name), state, progress: 0.4, num_ahead: 0 });
    const message = state === "refused" ? REFUSED : null;
    if (route === "traces") return { body: { ...recorded.list, traces: own(), windows_without_trace: lost, ...list } };
    if (route === "trace") {
      const cancelled = url.searchParams.get("cancel") ? { state: "cancelled" } : {};
      return { body: { ...progress("trace"), message, summary: state === "done" ? summary : null, ...cancelled } };
    }
    if (route === "trace_comparison")
      return {
        body: {
          before: progress("before"),
          after: progress("after"),
          comparison: state === "done" ? recorded.comparison : null,
        },
      };
    if (route === "markers") return { body: everyKind() };
    return undefined;
  };
}

async function shown(options: Given = {}, runs = ["resnet50"]): Promise<Page> {
  const page = await show(catalog(), entries(...runs), given(options));
  await vi.waitFor(() => expect(page.traces.tools.part.value).not.toBeNull());
  await settled();
  return page;
}

const panel = () => root.querySelector<HTMLElement>("#traces")!;
const rows = (table = "#traces .sorted") => [...root.querySelectorAll<HTMLElement>(`${table} tbody tr`)];
const click = async (element: Element | null | undefined) => {
  (element as HTMLElement).click();
  await settled();
};
const labelled = (start: string) => root.querySelector(`[aria-label^="${start}"]`);
const byText = (words: string, within: ParentNode = root) =>
  [...within.querySelectorAll("button")].find((one) => one.textContent!.trim() === words);
const asked = (route: string) => requests.filter((url) => routeOf(url) === route);

describe("without a trace", () => {
  it("a folded hint says how to record one, and nothing more is fetched", async () => {
    const page = await show(catalog(), entries("resnet50"));
    await settled();
    const hint = root.querySelector<HTMLDetailsElement>(".no-traces")!;
    expect(hint.open).toBe(false);
    expect(hint.textContent).toContain("No traces here yet");
    expect(hint.textContent).toContain('capture="regression"');
    expect(hint.textContent).toContain("perf.profile(");
    expect(page.traces.tools.part.value).toBeNull();
    expect(asked("traces")).toHaveLength(1);
    expect(asked("trace")).toHaveLength(0);
  });
  it("an answer that fails is said in its place, not above the charts", async () => {
    const error = { code: "internal", message: "the search failed", parameter: null };
    await show(catalog(), entries("resnet50"), (url) =>
      routeOf(url) === "traces" ? { status: 500, body: { error } } : undefined,
    );
    await settled();
    expect(root.querySelector('[role="alert"]')).toBeNull();
    expect(root.querySelector('section[aria-label="Traces"]')!.textContent).toContain("the search failed");
    await click(byText("Try again"));
    expect(asked("traces")).toHaveLength(2);
  });

  it("without any run there are still the traces, before the words on how to have a run", async () => {
    const none = { ...catalog(), runs: [] };
    await show(none, entries(), given());
    await vi.waitFor(() => expect(root.querySelector("#traces")).not.toBeNull());
    expect(rows()).toHaveLength(4);
    expect(panel().textContent).toContain("2 windows without a trace");
    expect(panel().querySelector('[aria-label="Traces of"]')).toBeNull();
    expect(root.textContent).toMatch(/^Traces.+No step performance data yet/s);
    await click(labelled("Read the trace"));
    expect(root.querySelector("article.trace .sentence")).not.toBeNull();
  });
  it("is searched for until the search has ended", async () => {
    let searching = true;
    await show(catalog(), entries("resnet50"), (url) =>
      routeOf(url) === "traces"
        ? { body: { ...recorded.list, traces: [], windows_without_trace: [], state: searching ? "searching" : "done" } }
        : undefined,
    );
    await settled();
    expect(root.querySelector(".no-traces summary")!.textContent).toContain("Looking for traces…");
    searching = false;
    await vi.waitFor(() => expect(root.querySelector(".no-traces summary")!.textContent).toContain("No traces"), 5000);
    expect(asked("traces")).toHaveLength(2);
  });
  it("traces.js that does not come is said, with a way to try again", async () => {
    const page = await show(catalog(), entries("resnet50"));
    page.traces.tools.failed.value = true;
    await settled();
    expect(root.querySelector('section[aria-label="Traces"]')!.textContent).toMatch(/could not be loaded.+Try again$/);
    await click(byText("Try again"));
    await vi.waitFor(() => expect(page.traces.tools.failed.value).toBe(false));
  });
});

describe("the list", () => {
  it("has a row for each capture, and nothing is read until a person asks", async () => {
    await shown();
    const words = rows().map((row) => row.textContent!);
    expect(words).toHaveLength(4);
    expect(words[1]).toMatch(
      /^steps 7,420–7,422.+the run got slower \(step 7,300\)17\.8 ms while profiled, 12\.6 ms around it \(1\.4 ×\)/,
    );
    expect(words[3]).toContain("reference of the healthy run");
    expect(panel().textContent).toContain("2 windows without a trace");
    expect(panel().textContent).toContain("The schedule of this profiler never reached its active steps");
    expect([asked("trace"), asked("trace_comparison")]).toEqual([[], []]);
  });
  it("holds the shown runs, and all on request", async () => {
    await shown({ list: { traces: [...own().slice(0, 1), ...own("tiny")] } });
    expect(rows()).toHaveLength(1);
    await click(byText("All (5)"));
    expect(rows()).toHaveLength(5);
    expect(rows()[0]!.textContent).toContain("tiny");
  });
  it("shows some of very many at a time, and finds the others", async () => {
    const many = Array.from({ length: 300 }, (_, i) => ({
      ...own()[0]!,
      trace: `t${i}`,
      modified_s: i,
      window: { ...own()[0]!.window!, start: String(1000 + i * 10), end: String(1003 + i * 10) },
    }));
    await shown({ list: { traces: many } });
    expect(rows()).toHaveLength(8);
    expect(rows()[0]!.textContent).toContain("steps 3,990–3,992");
    await click(byText("Show 32 more of 292"));
    expect(rows()).toHaveLength(40);
    const search = panel().querySelector<HTMLInputElement>('input[type="search"]')!;
    search.value = "1,230";
    search.dispatchEvent(new Event("input", { bubbles: true }));
    await settled();
    expect(rows()).toHaveLength(1);
    expect(panel().querySelector('.grid-tools [role="status"]')!.textContent).toBe("1 of 300");
  });
  it("marks the captures below the chart", async () => {
    const page = await shown();
    page.chartWidth.value = 1000;
    await settled();
    const captures = [...root.querySelectorAll(".capture")];
    expect(captures.map((one) => one.textContent)).toEqual([
      "reference, trace of steps 300–302",
      "scheduled, trace of steps 3,000–3,029",
      "slower, trace of steps 7,420–7,422",
      "slow step, trace of steps 9,100–9,102",
    ]);
    await click(captures[2]);
    expect(page.traces.choice.value.open).toBe(own()[2]!.trace);
  });
});

describe("one trace", () => {
  it("says headline, notes, findings first, breakdown and tables", async () => {
    const page = await shown();
    await click(labelled("Read the trace"));
    expect(page.traces.choice.value.open).toBe(own()[3]!.trace);
    const article = root.querySelector("article.trace")!;
    expect(article.querySelector(".sentence")!.textContent).toMatch(
      /^A step takes 12\.\d ms on average, over 3 of 5 steps/,
    );
    const order = [...article.querySelectorAll("h4")].map((one) => one.textContent);
    expect(order).toEqual(["Findings: candidates, not proven causes", "Where the time goes", "Tables"]);
    const [finding] = article.querySelectorAll(".findings li");
    expect(finding!.textContent).toMatch(
      /^The steps wait for data\. 27 % of the stepEvidenceLoading takes.+Next checkRaise.+LimitThe rule/,
    );
    const slices = [...article.querySelectorAll(".slice")].map((one) => one.getAttribute("aria-label"));
    expect(slices).toHaveLength(6);
    expect(slices[0]).toMatch(
      /^mean: 12\.\d ms, of which data loading 3\.\d+ ms, operators on the host 8\.\d+ ms and other \d+ µs$/,
    );
    expect(slices[1]).toMatch(/; may be cut$/);
    const operators = rows("article .sorted").map((row) => row.querySelector("th")!.textContent);
    expect(operators[0]).toBe("aten::mkldnn_convolution");
    expect(article.querySelector<HTMLAnchorElement>(".grid-tools a")!.href).toContain(
      `/trace_table?trace=${own()[3]!.trace}&table=operators`,
    );
  });
  it("sorts by keyboard-reachable headings that say their order, and searches", async () => {
    await shown({ summary: recorded.gpu });
    await click(labelled("Read the trace"));
    const article = root.querySelector("article.trace")!;
    const head = () => article.querySelector<HTMLElement>("[aria-sort]")!;
    expect([head().textContent, head().getAttribute("aria-sort")]).toEqual(["Share\u00a0↓", "descending"]);
    await click([...article.querySelectorAll("th button")].find((one) => one.textContent!.startsWith("Operator")));
    expect([head().textContent, head().getAttribute("aria-sort")]).toEqual(["Operator\u00a0↑", "ascending"]);
    const first = () => rows("article .sorted")[0]!.querySelector("th")!.textContent;
    expect(first()).toBe("aten::_flash_attention_forward");
    await click(head().querySelector("button"));
    expect(first()).toBe("nccl:all_reduce");
    const search = article.querySelector<HTMLInputElement>('input[type="search"]')!;
    search.value = "gelu";
    search.dispatchEvent(new Event("input", { bubbles: true }));
    await settled();
    expect(rows("article .sorted")).toHaveLength(1);
    search.value = "nothing of the kind";
    search.dispatchEvent(new Event("input", { bubbles: true }));
    await settled();
    expect(rows("article .sorted")[0]!.textContent).toBe("Nothing found.");
  });
  it("takes operators together, and tells them apart by shape on request", async () => {
    const [mm, ...rest] = recorded.gpu.operators;
    const operators = [...["[2, 3]", "[4, 5]"].map((shapes) => ({ ...mm!, shapes })), ...rest];
    await shown({ summary: { ...recorded.gpu, operators, num_operators: operators.length } });
    await click(labelled("Read the trace"));
    expect(rows("article .sorted")[0]!.textContent).toMatch(/^aten::mm.+192$/);
    await click(root.querySelector('article input[type="checkbox"]'));
    expect(rows("article .sorted").map((row) => row.querySelector("th")!.textContent)).toEqual(
      expect.arrayContaining(["aten::mm[2, 3]", "aten::mm[4, 5]"]),
    );
  });
  it("of a device: kernels, steps, waits, memory, launches and communication", async () => {
    await shown({ summary: recorded.gpu });
    await click(labelled("Read the trace"));
    const article = root.querySelector("article.trace")!;
    expect(article.textContent).toContain("612 kernels a step");
    expect(article.textContent).toMatch(
      /Communication takes 9\.\d+ ms a step: 3\.20 ms of it while other device work runs/,
    );
    expect(article.querySelector(".curve svg")!.getAttribute("aria-label")).toMatch(/^cuda:0 \(79\.2 GiB\): at most/);
    await click(byText("Kernels (6)"));
    const long = recorded.gpu.kernels.map(({ name }) => name).find((name) => name.length > 300)!;
    const cell = [...article.querySelectorAll<HTMLElement>(".name")].find((one) => one.title === long)!;
    expect(cell.textContent!.length).toBeLessThan(120);
    await click(byText("Steps (6)"));
    expect(rows("article .sorted")).toHaveLength(6);
    expect(rows("article .sorted")[0]!.textContent).toMatch(/^step 400 \(its start may be cut\)/);
    await click(byText("Longest waits (10)"));
    expect(rows("article .sorted")[0]!.textContent).toContain("cudaDeviceSynchronize");
    expect(article.textContent).toContain("nothing is recorded there");
  });
  it("of a plain profiler shows its steps in the list, once it is read", async () => {
    const [plain] = own().map((file) => ({ ...file, window: null, num_parts: 1, part: 1, reading: "unread" as const }));
    await shown({ list: { traces: [plain!] } });
    expect(rows()[0]!.textContent).toMatch(/^steps known once it is read/);
    await click(labelled("Read the trace"));
    expect(rows()[0]!.textContent).toMatch(/^steps [\d,]+–[\d,]+/);
  });
  it("without steps says so, and every table has words where it has no rows", async () => {
    await shown({ summary: { ...recorded.stepless, waits: [] } });
    await click(labelled("Read the trace"));
    const article = root.querySelector("article.trace")!;
    expect(article.textContent).toContain("no part of the trace stands out");
    expect(article.textContent).toContain("No step is marked in this trace");
    expect(article.textContent).toContain("No rule speaks");
    expect(article.querySelector(".slice")!.getAttribute("aria-label")).toMatch(/^whole trace: 48\.3 ms/);
    for (const [tab, words] of [
      ["Kernels (0)", "No kernel, copy or fill"],
      ["Steps (0)", "marks no step"],
      ["Longest waits (0)", "No wait was found"],
    ] as const) {
      await click(byText(tab));
      expect(article.querySelector(".tables")!.textContent).toContain(words);
    }
  });
  it("shows progress and can be cancelled; a refusal is a sentence", async () => {
    await shown({ state: "reading" });
    await click(labelled("Read the trace"));
    expect(root.querySelector<HTMLProgressElement>("article progress")!.value).toBe(0.4);
    expect(root.querySelector("article .reading")!.textContent).toContain("Reading, 40 %");
    await click(byText("Cancel"));
    expect(root.querySelector("article .reading")!.textContent).toBe("Reading was cancelled.Read again");
    await shown({ state: "refused" });
    await click(labelled("Read the trace"));
    expect(root.querySelector("article .warnings")!.textContent).toBe(`Not read: ${REFUSED}`);
    expect(byText("Open in Perfetto")).toBeUndefined();
  });
  it("is refetched where the address names it, and said to be gone where it is", async () => {
    const page = await shown();
    page.traces.choose({ open: "feedfeedfeedfeed" });
    await settled();
    expect(root.querySelector("article h3")!.textContent).toBe("A trace that is not listed");
    expect(asked("trace").at(-1)!.searchParams.get("trace")).toBe("feedfeedfeedfeed");
  });
  it("never becomes markup, whatever it is called", async () => {
    const evil = "<img src=x onerror=alert(1)>\u202e";
    const files = own().map((file) => ({ ...file, file: `${evil}/${evil}`, window: { ...file.window!, error: evil } }));
    await shown({
      summary: recorded.hostile,
      list: { traces: files, windows_without_trace: lost.map((one) => ({ ...one, text: evil })), problems: [evil] },
    });
    await click(labelled("Read the trace"));
    for (const tab of ["Kernels (0)", "Steps (5)", "Longest waits (4)"]) await click(byText(tab));
    expect(root.querySelector("#traces img, #traces script")).toBeNull();
    expect(panel().textContent).toContain("<img src=x onerror");
    expect(panel().textContent).not.toContain("\u202e");
  });
});

describe("two windows", () => {
  it("are offered from a change, and what changed is shown by part and operator", async () => {
    const list = { traces: own().map((file) => ({ ...file })) };
    const page = await shown({ list });
    const offers = [...root.querySelectorAll<HTMLElement>(".marker-traces")].map((one) => one.textContent);
    expect(offers).toContain(
      "Traces: steps 300–302 (reference) · steps 3,000–3,029 afterCompare the traces before and after",
    );
    await click(byText("Compare the traces before and after"));
    expect(page.view.value.range).toBeNull();
    expect(page.traces.choice.value).toMatchObject({ before: own()[0]!.trace, after: own()[1]!.trace });
    const box = root.querySelector("#trace-comparison")!;
    expect(box.querySelector("h3")!.textContent).toBe(
      "steps 300–302 · reference compared with steps 3,000–3,029 · scheduled",
    );
    expect(box.querySelector(".sentence")!.textContent).toBe(recorded.comparison.sentence);
    expect([...box.querySelectorAll(".parts tbody th")].map((one) => one.textContent)).toEqual([
      "data loading",
      "operators on the host",
      "other",
    ]);
    expect(rows("#trace-comparison .sorted")[0]!.textContent).toMatch(
      /^enumerate\(DataLoader\).+annotation\+2\.50 ms> 99 %900 µs → 3\.40 ms1 → 1/,
    );
  });
  it("are chosen, swapped and put away by hand", async () => {
    const page = await shown();
    const [before, after] = panel().querySelectorAll<HTMLSelectElement>(".chooser select");
    after!.value = before!.value;
    after!.dispatchEvent(new Event("change", { bubbles: true }));
    await settled();
    expect(byText("Compare")!.disabled).toBe(true);
    after!.value = own()[3]!.trace;
    after!.dispatchEvent(new Event("change", { bubbles: true }));
    await settled();
    panel()
      .querySelector("form")!
      .dispatchEvent(new Event("submit", { bubbles: true, cancelable: true }));
    await settled();
    expect(asked("trace_comparison")[0]!.searchParams.get("after")).toBe(own()[3]!.trace);
    await click(byText("Swap"));
    expect(page.traces.choice.value.before).toBe(own()[3]!.trace);
    await click(byText("Hide", root.querySelector("#trace-comparison")!));
    expect(root.querySelector("#trace-comparison")).toBeNull();
    expect(page.traces.choice.value).toEqual({ open: null, before: null, after: null });
  });
  it("show how far both are, and can be cancelled", async () => {
    await shown({ state: "reading" });
    await click(byText("Compare the traces before and after"));
    const box = root.querySelector("#trace-comparison")!;
    expect(box.querySelectorAll("progress")).toHaveLength(2);
    await click(byText("Cancel", box));
    expect(box.querySelectorAll("progress")).toHaveLength(0);
    expect(asked("trace").filter((url) => url.searchParams.get("cancel") === "1")).toHaveLength(2);
  });
});

describe("Perfetto", () => {
  it("is opened at a step, and where that fails the download stands beside the reason", async () => {
    const open = vi.spyOn(window, "open").mockReturnValue(null);
    await shown();
    await click(labelled("Read the trace"));
    const article = root.querySelector("article.trace")!;
    expect(article.textContent).toContain("nothing is uploaded");
    await click(byText("Open in Perfetto"));
    expect(open.mock.calls[0]![0]).toMatch(
      /^https:\/\/ui\.perfetto\.dev\/#!\/\?visStart=17000005002\d+&visEnd=17000005002\d+$/,
    );
    const alert = article.querySelector('[role="alert"]')!;
    expect(alert.textContent).toMatch(
      /^The browser blocked the new window.+Download the trace and open the file there/,
    );
    expect(alert.querySelector("a")!.href).toContain(`/trace_file?trace=${own()[3]!.trace}`);
    open.mockRestore();
  });
});
