import { render } from "preact";
import { afterEach, describe, expect, it, vi } from "vitest";

import { Client } from "../src/api/client";
import type { Markers } from "../src/api/analysis";
import { Page } from "../src/state/page";
import { INITIAL } from "../src/state/view";
import { App } from "../src/views/app";
import { catalog, everyKind, run } from "./recorded";
import { button, entries, requests, root, routeOf, settled, show, text, type Answer } from "./tab";

// What the chart library draws is tested in a real browser; here it only has to be given the right models.
vi.mock("../src/charts/plot", () => ({
  Plot: class {
    update(): void {}
    showCursor(): void {}
    showSelection(): void {}
    destroy(): void {}
  },
}));
afterEach(() => vi.useRealTimers());

const markers =
  (change: Partial<Markers> = {}): Answer =>
  (url) =>
    routeOf(url) === "markers" ? { body: { ...everyKind(), ...change } } : undefined;
const panel = () => root.querySelector<HTMLElement>("#changes")!;
const changeRows = () => [...panel().querySelectorAll<HTMLElement>("tr.change")];
const details = () => [...panel().querySelectorAll<HTMLElement>('button[aria-label*="Details"]')];

describe("changes of one run", () => {
  it("begin the first sentence, and name the whole run where one is zoomed in", async () => {
    const page = await show(catalog(), entries("resnet50"), markers());
    const headline = () => root.querySelector(".headline")!.textContent!;
    expect(headline()).toMatch(/^Slow steps got slower or more frequent at step 9,000, p95: .+ A typical step takes/);
    page.zoom(100, 200);
    await settled();
    expect(headline()).toMatch(/^Whole run: Slow steps/);
  });
  it("are labelled above the chart, each a button that says all", async () => {
    const page = await show(catalog(), entries("resnet50"), markers());
    const labels = [...root.querySelectorAll<HTMLElement>(".lane-label")];
    expect(labels.map((label) => label.textContent)).toEqual(
      expect.arrayContaining(["◆+15.9 %", "▲+34.6 % for a while", "▼−11.3 %", "▲+12.8 % ramp"]),
    );
    const label = labels.find((one) => one.textContent === "▲+7.9 %")!;
    expect(label.getAttribute("aria-label")).toMatch(
      /^Slower since step 3,400.+95 % interval 7\.1–8\.7 %, p = 0\.004, in data_wait\. Zoom to it\.$/,
    );
    label.click();
    await settled();
    const { start, end } = page.view.value.range!;
    expect([Number(start) < 3400, Number(end) > 3400, Number(end) - Number(start) < 6000]).toEqual([true, true, true]);
    const inSight = [...root.querySelectorAll(".lane-label")].map((one) => one.textContent);
    expect(inSight).toContain("▲+7.9 %");
    expect(inSight).not.toContain("◆+15.9 %");
  });
  it("are listed with size, interval, p-value, stage, kind and standing", async () => {
    await show(catalog(), entries("resnet50"), markers());
    const words = changeRows().map((row) => row.textContent!);
    expect(words).toHaveLength(7);
    expect(words[0]).toContain("+15.9 %(14.7–17.1)9.99 ms → 11.6 ms");
    expect(words[0]).toContain("◆ planned");
    expect(words[2]).toContain("in data_waitp = 0.004lasting");
    expect(words[6]).toContain("~ provisional");
    expect(words[6]).toContain("has yet to confirm it");
  });
  it("sort by their columns, and say so", async () => {
    await show(catalog(), entries("resnet50"), markers());
    const sort = (name: string) =>
      [...panel().querySelectorAll("th button")].find((b) => b.textContent!.startsWith(name));
    (sort("Change") as HTMLElement).click();
    await settled();
    expect(panel().querySelector('[aria-sort="descending"]')!.textContent).toContain("Change");
    const steps = changeRows().map((row) => row.querySelector("td")!.textContent);
    expect(steps.slice(0, 2)).toEqual(["9,000", "3,000"]);
    (sort("Change") as HTMLElement).click();
    await settled();
    expect(panel().querySelector('[aria-sort="ascending"]')!.textContent).toContain("Change");
  });
  it("zoom by click and by keyboard, since the sentence is a button", async () => {
    const page = await show(catalog(), entries("resnet50"), markers());
    const sentence = changeRows()[4]!.querySelector<HTMLButtonElement>("button.link")!;
    expect(sentence.textContent).toMatch(/^Gradually slower from step 6,000 to 7,500/);
    sentence.click();
    expect(Number(page.view.value.range!.start)).toBeLessThan(6000);
    expect(Number(page.view.value.range!.end)).toBeGreaterThan(7500);
  });
  it("open to what makes them, without zooming", async () => {
    const page = await show(catalog(), entries("resnet50"), markers());
    details()[0]!.click();
    await settled();
    expect(page.view.value.range).toBeNull();
    expect(details()[0]!.getAttribute("aria-expanded")).toBe("true");
    const box = panel().querySelector<HTMLElement>(".attribution-box")!;
    expect(box.textContent).toContain("Announced by the training loop: batch size 64 → 96");
    expect(box.textContent).toContain("Vanishes per sample: per sample the change is −0.2 %");
    const [first] = box.querySelectorAll(".parts tbody tr");
    expect(first!.textContent).toMatch(/^forward4\.00 ms5\.59 ms\+1\.59 ms\+1\.53 ms to \+1\.66 ms99 %$/);
    expect([...box.querySelectorAll(".parts th[scope=row]")].map((th) => th.textContent)).toContain("not labelled");
    expect(box.textContent).toContain("Size: steps 0 – 1,499");
    details()[4]!.click();
    await settled();
    expect(panel().querySelectorAll(".attribution-box")).toHaveLength(1);
    expect(panel().textContent).toContain("Near this change (not proven causes)");
    expect(panel().textContent).toContain("attempt 2 starts · 3 steps before");
    details()[3]!.click();
    await settled();
    expect(panel().textContent).toContain("All stages moved alike.");
    details()[6]!.click();
    await settled();
    expect(panel().textContent).toContain("confirms or drops it once it has seen 60 steps");
  });
  it("come with what the slowest steps coincide with, the unexplained share included", async () => {
    await show(catalog(), entries("resnet50"), markers());
    const tails = root.querySelector(".tails")!.textContent;
    expect(tails).toContain("71 % of the slowest 1 %");
    expect(tails).toMatch(/A garbage collection71 %2 %36 ×p < 0\.001/);
    expect(tails).toMatch(/Unexplained: none of the bold ones29 %/);
  });
  it("never become markup", async () => {
    const evil = "<img src=x onerror=alert(1)>";
    const bidi = (text: string) => `${text}\u202e`;
    const all = everyKind();
    const [one] = all.markers;
    Object.assign(one!, { planned: evil, sentence: bidi(evil), blamed: [evil] });
    Object.assign(one!.attribution!, { sentence: evil, coincidences: [{ kind: evil, text: evil, distance_steps: 1 }] });
    one!.attribution!.parts[0]!.stage = evil;
    await show(catalog(), entries("resnet50"), markers({ markers: all.markers, verdict: evil }));
    details()[0]!.click();
    await settled();
    expect(root.querySelector("img")).toBeNull();
    expect(panel().textContent!.split(evil).length).toBeGreaterThan(5);
    expect(text()).not.toContain("\u202e");
  });
});

describe("states of the analysis", () => {
  const nothing = { markers: [], tails: null, verdict: null, verdict_marker: null, as_of_step: null };
  it("computing: charts are there, progress is shown, and it asks again until it is done", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    let done = false;
    const working = { ...nothing, state: "computing", progress: 0.4 } as const;
    const answer: Answer = (url) => (routeOf(url) === "markers" ? markers(done ? {} : working)(url) : undefined);
    const page = new Page(
      new Client("http://host/", async (address) => {
        const url = new URL(address);
        requests.push(url);
        const route = routeOf(url);
        const body = route === "runs" ? catalog() : (answer(url)?.body ?? run("resnet50")[route as "bands"]);
        return new Response(JSON.stringify(body));
      }),
      { ...INITIAL, ...entries("resnet50") },
    );
    const stop = page.start();
    page.chartWidth.value = 1000;
    await page.refresh();
    const asked = () => requests.filter((url) => routeOf(url) === "markers").length;
    await vi.waitFor(() => expect(page.analyses.markers.state.value.data).not.toBeNull());
    expect(page.bands.value.data).not.toBeNull();
    expect(page.loading.value).toBe(false);
    expect(asked()).toBe(1);
    render(<App page={page} />, root);
    expect(root.querySelector("progress")!.value).toBe(0.4);
    expect(panel().textContent).toContain("Looking for changes.");
    expect(root.querySelector(".headline")!.textContent).toContain("Looking for changes…");
    done = true;
    await vi.advanceTimersByTimeAsync(1600);
    await vi.waitFor(() => expect(page.analyses.markers.state.value.data!.data[0]!.state).toBe("done"));
    await vi.advanceTimersByTimeAsync(10_000);
    expect(asked()).toBe(2);
    stop();
  });
  it("computing anew: keeps what it had, and says of which step", async () => {
    await show(catalog(), entries("resnet50"), markers({ state: "computing", progress: 0, num_ahead: 2 }));
    expect(panel().textContent).toContain("Waiting for 2 other analyses; until then as of step 11,999.");
    expect(changeRows()).toHaveLength(7);
  });
  it("nothing found, too few steps, newer steps: in words", async () => {
    await show(catalog(), entries("resnet50"));
    expect(panel().textContent).toContain("No change found in 11,950 steps: nothing above 3 % (5 % for slow steps).");
    expect(panel().querySelector("table.changes")).toBeNull();
  });
  it("too few steps", async () => {
    await show(catalog(), entries("tiny"));
    expect(panel().textContent).toContain("Too few steps for a verdict: 3 of at least 60.");
  });
  it("newer steps: asks again, rarely, until they are analysed", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    let newer = 9;
    const page = new Page(
      new Client("http://host/", async (address) => {
        const url = new URL(address);
        requests.push(url);
        const route = routeOf(url);
        const body =
          route === "runs"
            ? catalog()
            : (markers({ num_steps_newer: newer })(url)?.body ?? run("resnet50")[route as "bands"]);
        return new Response(JSON.stringify(body));
      }),
      { ...INITIAL, ...entries("resnet50") },
    );
    const stop = page.start();
    page.chartWidth.value = 1000;
    await page.refresh();
    const asked = () => requests.filter((url) => routeOf(url) === "markers").length;
    await vi.waitFor(() => expect(page.analyses.markers.state.value.data).not.toBeNull());
    await vi.advanceTimersByTimeAsync(14_000);
    expect(asked()).toBe(1);
    newer = 0;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(asked()).toBe(2);
    stop();
  });
  it("a run that grows: says how many steps are not analysed", async () => {
    await show(catalog(), entries("resnet50"), markers({ num_steps_newer: 120 }));
    expect(panel().textContent).toContain("120 newer steps not analysed yet.");
  });
  it("an error: in the banner, while the charts stay", async () => {
    const message = "the analysis failed";
    await show(catalog(), entries("resnet50"), (url) =>
      routeOf(url) === "markers"
        ? { status: 500, body: { error: { code: "internal", message, parameter: null } } }
        : undefined,
    );
    expect(root.querySelector('[role="alert"]')!.textContent).toContain(message);
    expect(panel().textContent).toContain("could not be loaded");
    expect(root.querySelectorAll('[role="img"]')).toHaveLength(4);
  });
});

describe("changes of several runs", () => {
  it("are one list; only those of the first run stand in the chart", async () => {
    await show(catalog(), entries("resnet50", "tiny"), (url) =>
      url.searchParams.get("run") === "tiny" ? markers()(url) : undefined,
    );
    expect(root.querySelectorAll(".lane-label")).toHaveLength(0);
    expect(changeRows()).toHaveLength(7);
    expect(changeRows()[0]!.querySelector<HTMLElement>(".name")!.dataset.name).toBe("tiny");
    expect([...panel().querySelectorAll(".analysis")].map((line) => line.textContent)).toEqual([
      "resnet50No change found in 11,950 steps: nothing above 3 % (5 % for slow steps).",
      "tiny7 changes.",
    ]);
  });
});

describe("slowest steps of several runs", () => {
  it("stand run by run, each with its numbers", async () => {
    await show(catalog(), entries("resnet50", "tiny", "many-stages"), (url) =>
      url.searchParams.get("run") === "tiny" ? undefined : markers()(url),
    );
    const blocks = [...root.querySelectorAll(".tails article")];
    expect(blocks.map((block) => block.getAttribute("aria-label"))).toEqual(["resnet50", "many-stages"]);
    expect(blocks[1]!.textContent).toMatch(/^ many-stages: p99 is .+Numbers behind this/);
    expect(root.querySelectorAll("#tails-title")).toHaveLength(1);
  });
});

describe("charts that wait", () => {
  it("are place holders until the x axis is known, not axes from 0 to 1", async () => {
    let free: () => void = () => {};
    const bands = new Promise<void>((resolve) => (free = resolve));
    const page = new Page(
      new Client("http://host/", async (address) => {
        const url = new URL(address);
        requests.push(url);
        const route = routeOf(url);
        if (route === "bands" || route === "stages") await bands;
        const body = route === "runs" ? catalog() : run("resnet50")[route as "bands"];
        return new Response(JSON.stringify(body));
      }),
      { ...INITIAL, ...entries("resnet50") },
    );
    const stop = page.start();
    render(<App page={page} />, root);
    await page.refresh();
    await vi.waitFor(() => expect(page.memory.value.data).not.toBeNull());
    await settled();
    expect(root.querySelectorAll('[role="img"]')).toHaveLength(0);
    expect(root.querySelector("#memory .skeleton")).not.toBeNull();
    const markersAsked = () => requests.some((url) => routeOf(url) === "markers");
    expect(markersAsked()).toBe(false);
    free();
    await vi.waitFor(() => expect(root.querySelectorAll('[role="img"]')).toHaveLength(4));
    await vi.waitFor(() => expect(markersAsked()).toBe(true));
    expect(text()).toContain("A typical step takes");
    expect(button("Show as table")).toBeDefined();
    stop();
  });
});
