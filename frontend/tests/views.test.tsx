import { render } from "preact";
import { describe, expect, it, vi } from "vitest";

import { Client } from "../src/api/client";
import type { Catalog } from "../src/api/types";
import { Page } from "../src/state/page";
import { INITIAL } from "../src/state/view";
import { App } from "../src/views/app";
import { catalog, read, run } from "./recorded";
import { button, entries, NAMES, requests, root, settled, show, text } from "./tab";

// What the chart library draws is tested in a real browser; here it only has to be given the right models.
vi.mock("../src/charts/plot", () => ({
  Plot: class {
    update(): void {}
    showCursor(): void {}
    showSelection(): void {}
    destroy(): void {}
  },
}));

describe("one run", () => {
  it("says in words and numbers what the summary holds", async () => {
    await show(catalog(), entries("resnet50"));
    const { summary } = run("resnet50");
    expect(root.querySelector(".headline")!.textContent).toBe(
      "A typical step takes 9.99 ms; 1 in 20 takes longer than 10.4 ms. Most labelled time is in backward (43 %). " +
        "No change found in 11,950 steps: nothing above 3 % (5 % for slow steps).",
    );
    expect(summary.step_time_ms.max_step).toBe("7777");
    expect(text()).toContain("step 7,777");
    expect(text()).toContain("11,950 of 12,000 steps in view used");
    expect(text()).toContain("Left out: 40 profiled, 10 warm-up");
    expect(text()).toContain("12,000 of 12,000 written steps read");
    expect([...root.querySelectorAll("h2")].map((h) => h.textContent)).toEqual([
      "Showing",
      "Step time",
      "Changes",
      "Stages",
      "Memory",
      "Throughput",
      "Conditions",
    ]);
  });
  it("describes each chart for those who cannot see it, and makes it focusable", async () => {
    await show(catalog(), entries("resnet50"));
    const charts = [...root.querySelectorAll('[role="img"]')];
    expect(charts).toHaveLength(4);
    expect(charts[0]!.getAttribute("aria-label")).toContain(
      "Step time of resnet50: median 9.99 ms, p95 10.4 ms, longest 640 ms at step 7,777.",
    );
    expect(charts.every((chart) => chart.getAttribute("tabindex") === "0")).toBe(true);
  });
  it("warns of what is missing", async () => {
    await show(catalog(), entries("resnet50-preempted"));
    const warnings = [...root.querySelectorAll(".warnings")].at(-1)!.textContent;
    expect(warnings).toContain("512 rows never arrived here");
    expect(warnings).toContain("24 rows could not be written and are lost");
    expect(warnings).toContain("1 step cut by an exception: counted, not sampled");
    expect(text()).toContain("51 steps superseded by a later attempt");
    expect(root.querySelectorAll(".environment .differs").length).toBe(2);
  });
  it("reads values of all charts at one cursor", async () => {
    const page = await show(catalog(), entries("resnet50"));
    page.cursor.value = 7777;
    await settled();
    expect(root.querySelector(".readout")!.textContent).toContain("steps [7,500, 8,000): p5");
    expect(root.querySelector(".readout")!.textContent).toContain("max 640 ms at step 7,777");
    expect([...root.querySelectorAll(".legend .when")].map((when) => when.textContent)).toEqual(
      Array(3).fill("steps [7,500, 8,000)"),
    );
  });
  it("shows a chart's numbers as a table with a link to all of them", async () => {
    await show(catalog(), entries("resnet50"));
    button("Show as table").click();
    await settled();
    const table = root.querySelector("#step-time table")!;
    expect(table.querySelectorAll("tbody tr")).toHaveLength(24);
    expect(table.querySelector("thead")!.textContent).toContain("medianp75p95p99shortestlongest");
    expect(table.querySelector("a")!.getAttribute("href")).toBe(
      "http://host/data/plugin/stepperf/samples?run=resnet50&member=0&format=csv",
    );
  });
});

describe("another run", () => {
  it("takes the numbers of the run before away at once", async () => {
    const page = await show(catalog(), entries("resnet50"));
    page.change((view) => ({ ...view, ...entries("tiny") }));
    await new Promise((resolve) => setTimeout(resolve));
    expect(page.summary.value.data?.shown[0]!.label ?? "tiny").toBe("tiny");
    await settled();
    expect(root.querySelector(".eyebrow")!.textContent).toBe("tiny");
    page.change((view) => ({ ...view, ...entries("tiny", "resnet50") }));
    expect(page.summary.value.data).not.toBeNull();
  });
});

describe("zoom", () => {
  it("asks every chart anew for the range, with absolute positions", async () => {
    const page = await show(catalog(), entries("huge-steps"));
    requests.length = 0;
    const [start] = page.domain.value;
    page.zoom(start + 1000.4, start + 2000.2);
    await settled();
    const first = BigInt(run("huge-steps").bands.axis.base);
    const routes = requests.map((url) => url.pathname.split("/").at(-1)).sort();
    expect(routes).toEqual(["bands", "marks", "memory", "stages", "summary", "throughput"]);
    for (const url of requests) {
      expect(url.searchParams.get("start")).toBe(String(first + 1000n));
      expect(url.searchParams.get("end")).toBe(String(first + 2001n));
    }
    expect(text()).toContain("Whole run");
    button("Whole run").click();
    await settled();
    expect(page.view.value.range).toBeNull();
  });
  it("does not zoom beyond the data", async () => {
    const page = await show(catalog(), entries("resnet50"));
    page.zoom(-500, 100);
    expect(page.view.value.range).toEqual({ start: "0", end: "100" });
    page.resetZoom();
    page.zoom(-500, 99_999);
    expect(page.view.value.range).toBeNull();
  });
});

describe("several runs", () => {
  it("compares them in a table and overlays them", async () => {
    const page = await show(catalog(), entries("resnet50", "resnet50-preempted"));
    expect(root.querySelectorAll(".runs-table tbody tr")).toHaveLength(2);
    expect(root.querySelector(".runs-table")!.textContent).toContain("+15 %");
    expect(requests.filter((url) => url.pathname.endsWith("/bands"))).toHaveLength(2);
    root.querySelector<HTMLButtonElement>('[aria-label="Take resnet50 away"]')!.click();
    await settled();
    expect(page.view.value.entries.map((e) => e.run)).toEqual(["resnet50-preempted"]);
  });
  it("lets one choose a rank, and says which are missing", async () => {
    const page = await show(catalog(), entries("llama-8b/pretrain"));
    expect(text()).toContain("Rank 3 of 5 wrote nothing");
    const select = root.querySelector("select")!;
    expect([...select.options].map((option) => option.textContent)).toEqual(["rank 0", "rank 1", "rank 2", "rank 4"]);
    select.value = "2";
    select.dispatchEvent(new Event("change", { bubbles: true }));
    expect(page.view.value.entries).toEqual([{ run: "llama-8b/pretrain", member: "2" }]);
    expect(button("Device clock")).toBeDefined();
  });
});

describe("names from logs", () => {
  it("are text, never markup, and can be chosen", async () => {
    const page = await show(NAMES);
    expect(root.querySelector("img, script, iframe")).toBeNull();
    const shownNames = [...root.querySelectorAll<HTMLElement>(".run .name")].map((element) => element.dataset.name);
    expect(shownNames).toEqual(NAMES.runs.map((one) => one.run));
    for (const { run: name } of NAMES.runs) {
      [...root.querySelectorAll<HTMLElement>(".run")]
        .find((row) => row.querySelector<HTMLElement>(".name")!.dataset.name === name)!
        .click();
      expect(page.view.value.entries).toEqual([{ run: name, member: null }]);
    }
    await settled();
    expect(requests.at(-1)!.searchParams.get("run")).toBe(NAMES.runs.at(-1)!.run);
  });
  it("draw only the rows in sight of many", async () => {
    const [one] = catalog().runs.slice(-1);
    const many = { ...catalog(), runs: Array.from({ length: 400 }, (_, i) => ({ ...one!, run: `tiny-${i}` })) };
    const page = await show(many, {}, () => ({ status: 404, body: read("error") }));
    expect(root.querySelectorAll(".run").length).toBeLessThan(40);
    const list = root.querySelector<HTMLElement>('[role="listbox"]')!;
    const press = (key: string) => list.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    press("Home");
    await settled();
    press("ArrowDown");
    await settled();
    press(" ");
    expect(page.view.value.entries.at(-1)!.run).toBe("tiny-1");
    press("Enter");
    expect(page.view.value.entries.map((e) => e.run)).toEqual(["tiny-1"]);
    press("3");
    await settled();
    expect(root.querySelector<HTMLInputElement>('input[type="search"]')!.value).toBe("3");
  });
});

describe("states", () => {
  it("without data: why, and what to do", async () => {
    await show(read<Catalog>("empty"));
    expect(text()).toContain("No step performance data yet");
    expect(text()).toContain("found 7 runs there, but none that was written with tb_stepperf");
    expect(root.querySelector("pre")!.textContent).toContain("perf.step(num_samples=len(batch))");
    expect(button("Copy")).toBeDefined();
  });
  it("with data of a newer format: says so", async () => {
    await show({ ...read<Catalog>("empty"), problems: catalog().problems });
    expect(root.querySelector(".warnings")!.textContent).toContain("upgrade tb_stepperf");
  });
  it("with an error: the server's words, the rest stays, and another try", async () => {
    let broken = true;
    const page = await show(catalog(), entries("resnet50"), (url) =>
      broken && url.pathname.endsWith("/bands")
        ? { status: 400, body: read("error") }
        : { body: run("resnet50")[url.pathname.split("/").at(-1) as "bands"] },
    );
    expect(root.querySelector('[role="alert"]')!.textContent).toContain(
      "bins is '9000'; an integer in [1, 2000] is allowed",
    );
    expect(root.querySelector(".headline")).not.toBeNull();
    expect(root.querySelector("#step-time .failed")).not.toBeNull();
    broken = false;
    button("Try again").click();
    await vi.waitFor(() => expect(page.errors.value).toEqual([]));
    await settled();
    expect(root.querySelector('[role="alert"]')).toBeNull();
  });
  it("with a run that holds no step yet: says so and asks for nothing", async () => {
    const runs = catalog();
    Object.assign(runs.runs.find((one) => one.run === "tiny")!.members[0]!, { num_steps: 0, columns: [] });
    await show(runs, entries("tiny"));
    expect(text()).toContain("No step of this run can be read yet.");
    expect(requests.map((url) => url.pathname.split("/").at(-1))).toEqual(["runs"]);
  });
  it("while loading: a place holder of the same height", () => {
    const page = new Page(new Client("http://host/", () => new Promise(() => {})), INITIAL);
    render(<App page={page} />, root);
    expect(root.querySelectorAll(".skeleton").length).toBe(3);
  });
});

describe("new data", () => {
  it("is fetched, while zoom and cursor stay", async () => {
    const runs = catalog();
    const page = await show(runs, { ...entries("resnet50"), range: { start: "100", end: "200" } });
    page.cursor.value = 150;
    requests.length = 0;
    await page.refresh();
    await settled();
    expect(requests.map((url) => url.pathname.split("/").at(-1))).toEqual(["runs"]);
    runs.runs.find((one) => one.run === "resnet50")!.members[0]!.num_steps += 100;
    await page.refresh();
    await settled();
    expect(requests.filter((url) => url.pathname.endsWith("/bands"))).toHaveLength(1);
    expect(page.view.value.range).toEqual({ start: "100", end: "200" });
    expect(page.cursor.value).toBe(150);
  });
  it("drops a run that is gone and shows another", async () => {
    const runs = catalog();
    const page = await show(runs, entries("tiny"));
    runs.runs = runs.runs.filter((one) => one.run !== "tiny");
    await page.refresh();
    expect(page.view.value.entries[0]!.run).not.toBe("tiny");
  });
});
