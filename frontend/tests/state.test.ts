import { describe, expect, it } from "vitest";

import { addressWindow, readHash, replaceAddress, writeHash } from "../src/host/address";
import { hostSelection } from "../src/host/selection";
import { defaultEntry, isLive, resolveEntries } from "../src/state/catalog";
import { endWords, environmentRows } from "../src/state/environment";
import { fromPairs, toPairs } from "../src/state/url";
import {
  chooseAxis,
  chooseBaseline,
  chooseEffect,
  chooseMember,
  chooseSides,
  cleanPercentiles,
  INITIAL,
  makePrimary,
  MAX_ENTRIES,
  reconcile,
  showOnly,
  toggleInclude,
  toggleOverrule,
  toggleOverlay,
  toggleSide,
  zoomTo,
  type View,
} from "../src/state/view";
import { catalog, read } from "./recorded";

const entry = (run: string, member: string | null = null) => ({ run, member });
const view = (...runs: string[]): View => ({ ...INITIAL, entries: runs.map((run) => entry(run)) });

describe("view", () => {
  it("overlays and takes away, keeping the last one", () => {
    const two = toggleOverlay(view("a"), entry("b"));
    expect(two.entries.map((e) => e.run)).toEqual(["a", "b"]);
    expect(toggleOverlay(two, entry("a")).entries.map((e) => e.run)).toEqual(["b"]);
    expect(toggleOverlay(view("a"), entry("a")).entries).toHaveLength(1);
  });
  it("holds at most eight runs", () => {
    let full = view("0");
    for (let i = 1; i < 20; i++) full = toggleOverlay(full, entry(String(i)));
    expect(full.entries).toHaveLength(MAX_ENTRIES);
  });
  it("keeps the zoom only where the run stays", () => {
    const zoomed = zoomTo(view("a"), { start: "10", end: "20" });
    expect(showOnly(zoomed, entry("a", "1")).range).toEqual({ start: "10", end: "20" });
    expect(showOnly(zoomed, entry("b")).range).toBeNull();
    expect(chooseAxis(zoomed, "wall").range).toBeNull();
    expect(chooseAxis(zoomed, "step")).toBe(zoomed);
  });
  it("zooms to whole steps, also beyond 2^53, at least one wide", () => {
    expect(zoomTo(view("a"), { start: "9007199254740993", end: "9007199254740993" }).range).toEqual({
      start: "9007199254740993",
      end: "9007199254740994",
    });
    expect(zoomTo(view("a"), null).range).toBeNull();
  });
  it("changes the first run and its member", () => {
    expect(makePrimary(view("a", "b", "c"), 2).entries.map((e) => e.run)).toEqual(["c", "a", "b"]);
    expect(chooseMember({ ...INITIAL, entries: [entry("a", "0"), entry("a", "1")] }, "1").entries).toEqual([
      entry("a", "1"),
    ]);
  });
  it("includes flags in a fixed order", () => {
    const both = toggleInclude(toggleInclude(view("a"), "warmup"), "profiled");
    expect(both.include).toEqual(["profiled", "warmup"]);
    expect(toggleInclude(both, "warmup").include).toEqual(["profiled"]);
  });
  it("overrules for one baseline only", () => {
    const both = toggleOverrule(toggleOverrule(view("a", "b", "c"), "b"), "c");
    expect(both.overrule).toEqual(["b", "c"]);
    expect(toggleOverrule(both, "b").overrule).toEqual(["c"]);
    expect(chooseBaseline(both, "b")).toMatchObject({ baselines: ["b"], candidates: [], overrule: [] });
  });
  it("takes runs into one of two sides, at most eight, and empties none", () => {
    const sides = chooseSides({ ...view("a"), overrule: ["x"] }, ["a"], ["a", "b"]);
    expect(sides).toMatchObject({ baselines: ["a"], candidates: ["b"], overrule: [] });
    expect(chooseSides(sides, ["b"], ["b"])).toBe(sides);
    const three = toggleSide(toggleSide(sides, "baselines", "c"), "candidates", "d");
    expect([three.baselines, three.candidates]).toEqual([
      ["a", "c"],
      ["b", "d"],
    ]);
    expect(toggleSide(three, "baselines", "a").baselines).toEqual(["c"]);
    expect(toggleSide(sides, "candidates", "b")).toBe(sides);
    const many = Array.from({ length: 12 }, (_, i) => `run ${i}`);
    expect(chooseSides(sides, ["a"], many).candidates).toHaveLength(8);
  });
  it("tells changes from a limit on that is in (0, 1), and forgets the standard one", () => {
    const lower = chooseEffect(view("a"), "minEffect", 0.1 + 0.2);
    expect(lower.minEffect).toBe(0.3);
    expect(chooseEffect(lower, "minEffect", 0.03).minEffect).toBeNull();
    expect(chooseEffect(lower, "minTailEffect", 0.02)).toMatchObject({ minEffect: 0.3, minTailEffect: 0.02 });
    for (const wrong of [0, 1, -1, NaN, 1e-9]) expect(chooseEffect(lower, "minEffect", wrong)).toBe(lower);
  });
  it("accepts one to nine percentiles", () => {
    expect(cleanPercentiles([95, 5, 5, 50, NaN, 101])).toEqual([5, 50, 95]);
    expect(cleanPercentiles([])).toBeNull();
    expect(cleanPercentiles(Array.from({ length: 10 }, (_, i) => i))).toBeNull();
  });
  it("drops what is gone and falls back", () => {
    const members = new Map([
      ["a", ["0"]],
      ["b", ["0", "1"]],
    ]);
    expect(reconcile(view("gone", "b"), members, entry("a")).entries).toEqual([entry("b")]);
    expect(reconcile(view("gone"), members, entry("a")).entries).toEqual([entry("a")]);
    expect(reconcile({ ...INITIAL, entries: [entry("b", "7")] }, members, null).entries).toEqual([]);
    const same = view("a");
    expect(reconcile(same, members, null)).toBe(same);
  });
});

describe("address", () => {
  it("survives a round trip with every odd name", () => {
    for (const { run } of read<ReturnType<typeof catalog>>("names").runs) {
      const original: View = {
        ...INITIAL,
        entries: [entry(run, "1"), entry(run), entry("b@,c", "x,y@z")],
        axis: "wall",
        range: { start: "-5", end: "9223372036854775807" },
        include: ["warmup"],
        percentiles: [1, 50, 99.9],
        yScale: "log",
        stageMode: "share",
        clock: "device",
        showMax: false,
        showLeftOut: false,
        baselines: [run, "b@,c"],
        candidates: ["d%", "e"],
        overrule: [run, "b@,c"],
        minEffect: 0.015,
        minTailEffect: 0.000001,
      };
      const hash = writeHash("#stepperf", toPairs(original));
      expect(fromPairs(readHash(hash))).toEqual(original);
      expect(hash).not.toMatch(/[\s<>"]/);
    }
  });
  it("writes nothing for the initial view and ignores nonsense", () => {
    expect(toPairs(INITIAL)).toEqual({});
    expect(
      fromPairs({ axis: "upward", start: "x", end: "7", percentiles: "a,b", y: "", include: "all", with: "%E0%A4%A" }),
    ).toEqual(INITIAL);
    expect(fromPairs({ start: "20", end: "10" }).range).toBeNull();
    expect(fromPairs({ effect: "3", taileffect: "0.0", baseline: "", candidates: "," })).toEqual(INITIAL);
    expect(fromPairs({ candidates: "a,a,b" }).candidates).toEqual(["a", "b"]);
  });
  it("leaves TensorBoard's own pairs as they are", () => {
    const hash = writeHash("#stepperf&runSelectionState=e30%3D&p.stepperf.run=old&p.whatif.a=1", { run: "a b" });
    expect(hash).toBe("#stepperf&runSelectionState=e30%3D&p.whatif.a=1&p.stepperf.run=a%20b");
    expect(readHash("#stepperf&p.stepperf.run=%E0%A4%A&p.stepperf.axis=wall")).toEqual({ axis: "wall" });
  });
  it("replaces the address without a new entry in the history", () => {
    const self = window as unknown as Window;
    expect(addressWindow(self)).toBe(self);
    const before = history.length;
    replaceAddress(self, { run: "a" });
    expect(location.hash).toBe("#p.stepperf.run=a");
    expect(history.length).toBe(before);
  });
});

describe("TensorBoard's own selection", () => {
  it("reads the run filter and the older selection", () => {
    expect(hostSelection("", "#stepperf")).toBeNull();
    const filter = hostSelection("?runFilter=lr%3D0.01", "#timeseries")!;
    expect(filter.contains("a/lr=0.01")).toBe(true);
    expect(filter.contains("a/lr=0.1")).toBe(false);
    const older = hostSelection(
      "",
      `#scalars&runSelectionState=${encodeURIComponent(btoa(JSON.stringify({ a: false, b: true })))}`,
    )!;
    expect([older.contains("a"), older.contains("b"), older.contains("new")]).toEqual([false, true, true]);
  });
  it("does not stumble over damaged ones", () => {
    expect(hostSelection("?runFilter=%5B", "")).toBeNull();
    expect(hostSelection("", "#scalars&runSelectionState=%25%25")).toBeNull();
  });
});

describe("catalog", () => {
  it("shows the newest run that is selected", () => {
    const all = catalog();
    const only = { contains: (name: string) => name === "tiny", description: "" };
    expect(defaultEntry(all, only)?.run).toBe("tiny");
    expect(defaultEntry(all, { contains: () => false, description: "" })).toEqual(defaultEntry(all, null));
    expect(defaultEntry(read("empty"), null)).toBeNull();
  });
  it("keeps the colour of an entry while others come and go", () => {
    const all = catalog();
    const two = resolveEntries(view("tiny", "resnet50"), all, []);
    expect(two.map((s) => s.color)).toEqual([0, 1]);
    const one = resolveEntries(view("resnet50"), all, two);
    expect(one[0]!.color).toBe(1);
    expect(resolveEntries(view("resnet50", "many-stages"), all, one).map((s) => s.color)).toEqual([1, 0]);
  });
  it("names the member where a run has several", () => {
    const [rank] = resolveEntries({ ...INITIAL, entries: [entry("llama-8b/pretrain", "2")] }, catalog(), []);
    expect(rank!.label).toBe("llama-8b/pretrain · rank 2");
  });
  it("knows what is live", () => {
    const member = catalog().runs[0]!.members[0]!;
    expect(isLive({ ...member, end: null, last_wall_time_s: 1000 }, 1060)).toBe(true);
    expect(isLive({ ...member, end: null, last_wall_time_s: 1000 }, 9000)).toBe(false);
    expect(isLive({ ...member, end: "closed", last_wall_time_s: 1000 }, 1060)).toBe(false);
  });
});

describe("environments", () => {
  it("marks what differs and flattens what the user added", () => {
    const rows = environmentRows([
      { torch: "2.13", cuda: null, user: { note: "a" }, batch: ["[2]", "[3]"] },
      { torch: "2.13", user: { note: "b" }, deterministic: false },
    ]);
    expect(rows).toEqual([
      { field: "torch", values: ["2.13", "2.13"], differs: false },
      { field: "user.note", values: ["a", "b"], differs: true },
      { field: "batch", values: ["[2], [3]", ""], differs: true },
      { field: "deterministic", values: ["", "no"], differs: true },
    ]);
    expect(endWords("exception")).toBe("ended by an exception");
  });
});
