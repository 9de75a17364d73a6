import { describe, expect, it, vi } from "vitest";

import type { Comparison } from "../src/api/analysis";
import { catalog, comparisons, run } from "./recorded";
import { button, entries, requests, root, routeOf, settled, show, type Answer } from "./tab";

// What the chart library draws is tested in a real browser; here it only has to be given the right models.
vi.mock("../src/charts/plot", () => ({
  Plot: class {
    update(): void {}
    showCursor(): void {}
    showSelection(): void {}
    destroy(): void {}
  },
}));

const panel = () => root.querySelector<HTMLElement>("#changes")!;

describe("comparison.js", () => {
  it("is fetched where two runs are shown; that it does not come is said, with a way to try again", async () => {
    const page = await show(catalog(), entries("resnet50"));
    expect([page.analyses.views.part.value, root.querySelector("#comparison")]).toEqual([null, null]);
    page.analyses.views.failed.value = true;
    vi.spyOn(page.analyses.views, "fetch").mockResolvedValueOnce();
    page.change((view) => ({ ...view, ...entries("resnet50", "tiny") }));
    await settled();
    expect(root.querySelector("#comparison")!.textContent).toContain("comparison.js) could not be loaded");
    button("Try again").click();
    await vi.waitFor(() => expect(root.querySelector("#comparison .compared")).not.toBeNull());
  });
});

describe("smallest change", () => {
  const limits = (route: string) =>
    requests
      .filter((url) => routeOf(url) === route)
      .map(({ searchParams }) => [searchParams.get("min_effect"), searchParams.get("min_tail_effect")]);
  const open = async () => {
    button("Smallest change: 3 % (p95 5 %)").click();
    await settled();
    return [...panel().querySelectorAll<HTMLInputElement>('input[type="number"]')] as [
      HTMLInputElement,
      HTMLInputElement,
    ];
  };
  const enter = async (input: HTMLInputElement, value: string) => {
    input.value = value;
    input.dispatchEvent(new Event("change", { bubbles: true }));
    await settled();
  };
  it("is asked for with markers and comparisons only where it is not the standard one", async () => {
    const page = await show(catalog(), entries("resnet50", "tiny"));
    await settled();
    expect([limits("markers").at(-1), limits("comparison").at(-1)]).toEqual([
      [null, null],
      [null, null],
    ]);
    const [typical, tail] = await open();
    expect([typical.value, tail.value]).toEqual(["3", "5"]);
    await enter(typical, "1.5");
    await enter(tail, "2");
    expect([limits("markers").at(-1), limits("comparison").at(-1)]).toEqual([
      ["0.015", "0.02"],
      ["0.015", "0.02"],
    ]);
    expect(button("Smallest change: 1.5 % (p95 2 %)")).toBeDefined();
    button("Back to 3 % and 5 %").click();
    expect(page.view.value).toMatchObject({ minEffect: null, minTailEffect: null });
  });
  it("refuses what is no limit, and says that it looks again", async () => {
    const page = await show(catalog(), entries("resnet50"));
    const [typical] = await open();
    await enter(typical, "200");
    expect(page.view.value.minEffect).toBeNull();
    typical.value = "1";
    typical.dispatchEvent(new Event("change", { bubbles: true }));
    await Promise.resolve();
    expect(page.view.value.minEffect).toBe(0.01);
    await vi.waitFor(() => expect(limits("markers").at(-1)).toEqual(["0.01", null]));
  });
});

describe("comparison", () => {
  const compared =
    (pick: (url: URL) => Comparison | undefined): Answer =>
    (url) => {
      const body = routeOf(url) === "comparison" ? pick(url) : undefined;
      return body && { body };
    };
  const box = () => root.querySelector<HTMLElement>("#comparison")!;
  const asked = () => requests.filter((url) => routeOf(url) === "comparison").map((url) => url.searchParams);

  it("is there with two runs, and the first one is the baseline", async () => {
    await show(catalog(), entries("resnet50"));
    expect(box()).toBeNull();
    const page = await show(
      catalog(),
      entries("resnet50", "tiny", "many-stages"),
      compared(() => comparisons().regression),
    );
    await settled();
    expect(asked().map((query) => [query.get("baseline"), query.get("candidate")])).toEqual([
      ["resnet50", "tiny"],
      ["resnet50", "many-stages"],
    ]);
    const select = box().querySelector("select")!;
    select.value = "many-stages";
    select.dispatchEvent(new Event("change", { bubbles: true }));
    expect(page.view.value.baselines).toEqual(["many-stages"]);
    await settled();
    expect(asked().at(-1)!.get("baseline")).toBe("many-stages");
  });
  it("says verdict, changes with intervals, and on what it stands", async () => {
    await show(
      catalog(),
      entries("resnet50", "tiny"),
      compared(() => comparisons().regression),
    );
    await settled();
    expect(box().querySelector(".badge")!.textContent).toMatch(/^▲ .*regression$/);
    expect(box().querySelector(".sentence")!.textContent).toBe(comparisons().regression.sentence);
    expect([...box().querySelectorAll(".intervals tbody th")].map((th) => th.firstChild!.textContent)).toEqual([
      "Median step",
      "p95",
      "Throughput",
    ]);
    expect(box().querySelectorAll(".track .zone")).toHaveLength(3);
    expect(box().textContent).toContain("run-to-run spread is unknown");
    expect(box().textContent).toContain("11,950 of 12,000 steps used (left out: 50 warm-up)");
    expect(box().querySelector('[role="img"]')!.getAttribute("aria-label")).toMatch(/At the median: tiny \+\d/);
  });
  it("refuses what is not comparable field by field, and shows when that is overruled", async () => {
    const page = await show(
      catalog(),
      entries("resnet50", "tiny"),
      compared((url) => comparisons()[url.searchParams.get("overrule") ? "overruled" : "refused"]),
    );
    await settled();
    expect(box().querySelector(".badge")!.textContent).toBe("≠ not comparable");
    expect(box().querySelector("details")!.open).toBe(true);
    expect(box().querySelector(".checks .differs")!.textContent).toBe("devicecpucuda✗ different");
    expect(box().querySelector(".intervals")).toBeNull();
    box().querySelector<HTMLInputElement>('input[type="checkbox"]')!.click();
    await settled();
    expect(page.view.value.overrule).toEqual(["tiny"]);
    expect(box().querySelector(".warnings")!.textContent).toBe("Compared although conditions differ: device.");
    expect(box().querySelector(".intervals")).not.toBeNull();
    expect(box().querySelector<HTMLInputElement>('input[type="checkbox"]')!.checked).toBe(true);
  });
  it("says what would decide where data do not suffice", async () => {
    await show(
      catalog(),
      entries("resnet50", "tiny"),
      compared(() => comparisons().few),
    );
    await settled();
    expect(box().querySelector(".badge")!.textContent).toBe("? insufficient data");
    expect(box().textContent).toContain("About 400 steps");
    expect(box().querySelectorAll(".open-high").length).toBeGreaterThan(0);
  });
  it("keeps the other candidates when one fails", async () => {
    const error = { code: "not_found", message: "there is no run 'tiny'", parameter: "candidate" };
    await show(catalog(), entries("resnet50", "tiny", "many-stages"), (url) =>
      url.searchParams.get("candidate") === "tiny" ? { status: 404, body: { error } } : undefined,
    );
    await settled();
    expect(
      [...box().querySelectorAll("article")].map((one) => one.querySelector(".warnings, .badge")!.textContent),
    ).toEqual(["Could not be compared: there is no run 'tiny'", "= same"]);
  });
  it("takes several runs a side, from all there are, and says how much runs differ", async () => {
    const spread = { ...comparisons().regression, spread_known: true, spread_note: null, between_run_sd: 0.0042 };
    spread.baseline.num_runs = spread.candidate.num_runs = 2;
    const page = await show(
      catalog(),
      entries("resnet50", "tiny"),
      compared((url) => (url.searchParams.getAll("candidate").length > 1 ? spread : comparisons().regression)),
    );
    await settled();
    button("Several runs a side").click();
    await settled();
    expect(page.view.value).toMatchObject({ baselines: ["resnet50"], candidates: ["tiny"] });
    const side = (name: string) => box().querySelector<HTMLElement>(`[role="group"][aria-label="${name}"]`)!;
    const choose = async (name: string, run: string) => {
      side(name).querySelector<HTMLElement>(".menu > button")!.click();
      await settled();
      const rows = [...side(name).querySelectorAll("label")];
      const row = rows.find((label) => label.querySelector<HTMLElement>(".name")!.dataset.name === run)!;
      const input = row.querySelector("input")!;
      const { disabled } = input;
      if (!disabled) input.click();
      await settled();
      side(name).querySelector<HTMLElement>(".menu > button")!.click();
      await settled();
      return disabled;
    };
    expect(await choose("Baselines", "tiny")).toBe(true);
    expect(await choose("Baselines", "resnet50")).toBe(true);
    expect(await choose("Baselines", "many-stages")).toBe(false);
    await choose("Candidates", "huge-steps");
    expect(asked().at(-1)!.getAll("baseline")).toEqual(["resnet50", "many-stages"]);
    expect(asked().at(-1)!.getAll("candidate")).toEqual(["tiny", "huge-steps"]);
    expect(box().querySelector("article h3")!.textContent).toContain("2 candidates together");
    expect(box().textContent).toContain("Run-to-run spread: 0.42 %");
    expect(box().textContent).not.toContain("run-to-run spread is unknown");
    button("Swap sides").click();
    await settled();
    expect(asked().at(-1)!.getAll("baseline")).toEqual(["tiny", "huge-steps"]);
    box().querySelector<HTMLElement>('[aria-label="Take tiny out of the baselines"]')!.click();
    await settled();
    expect(page.view.value.baselines).toEqual(["huge-steps"]);
    expect(document.activeElement).toBe(button("Choose baselines"));
    expect(box().querySelector('[aria-label="Take huge-steps out of the baselines"]')).toBeNull();
    button("Several runs a side").click();
    await settled();
    expect(page.view.value).toMatchObject({ baselines: ["huge-steps"], candidates: [] });
  });
  it("searches among very many runs to take a whole group at once", async () => {
    const [some] = catalog().runs;
    const many = Array.from({ length: 120 }, (_, i) => ({
      ...some!,
      run: `sweep/lr${i % 20}/seed${Math.floor(i / 20)}`,
    }));
    const page = await show({ ...catalog(), runs: many }, entries(many[0]!.run, many[1]!.run), (url) =>
      routeOf(url) === "comparison"
        ? { body: comparisons().regression }
        : { body: run("resnet50")[routeOf(url) as "bands"] },
    );
    await settled();
    button("Several runs a side").click();
    await settled();
    button("Choose baselines").click();
    await settled();
    const search = box().querySelector<HTMLInputElement>('input[type="search"]')!;
    expect(document.activeElement).toBe(search);
    expect(box().querySelectorAll(".side-choice li")).toHaveLength(100);
    expect(box().querySelector(".side-choice")!.textContent).toContain("20 more: search for them.");
    search.value = "lr7/";
    search.dispatchEvent(new Event("input", { bubbles: true }));
    await settled();
    button("Take all 6").click();
    await settled();
    expect(page.view.value.baselines).toHaveLength(7);
    expect(box().querySelector(".side-choice")!.textContent).toContain("7 of at most 8 chosen; 6 runs found.");
    search.value = "";
    search.dispatchEvent(new Event("input", { bubbles: true }));
    await settled();
    const boxes = () => [...box().querySelectorAll<HTMLInputElement>(".side-choice li input")];
    const free = () => boxes().filter(({ checked, disabled }) => !checked && !disabled);
    free()[0]!.click();
    await settled();
    expect(page.view.value.baselines).toHaveLength(8);
    expect(free()).toHaveLength(0);
  });
  it("drops chosen runs that are gone, and says so", async () => {
    await show(catalog(), { ...entries("resnet50"), baselines: ["resnet50"], candidates: ["tiny", "deleted"] });
    await settled();
    expect(asked().at(-1)!.getAll("candidate")).toEqual(["tiny"]);
    expect(box().querySelector(".sides .warnings")!.textContent).toContain("1 chosen run not there");
  });
  it("is between runs: two ranks of one are no comparison", async () => {
    const ranks = ["0", "1"].map((member) => ({ run: "llama-8b/pretrain", member }));
    await show(catalog(), { entries: ranks });
    expect(box()).toBeNull();
  });
});
