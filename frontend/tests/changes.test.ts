import { describe, expect, it } from "vitest";

import type { Marker } from "../src/api/analysis";
import { around, layoutLabels, markerLook, markerText, placeMarkers } from "../src/charts/markers";
import { direction, intervalScale, outsideWords, quantileModel } from "../src/charts/differences";
import type { Shown } from "../src/state/catalog";
import { changeRows, sortChanges, type Order } from "../src/state/change-list";
import { distanceWords, shareWords } from "../src/views/attribution";
import { blamedWords, kindWords, stepsWords } from "../src/views/change-words";
import { sampleWords } from "../src/comparison/details";
import { inSight, pickerRows, pinned } from "../src/views/picker-rows";
import { groupNames } from "../src/format/names";
import { comparisons, everyKind, shown } from "./recorded";

const answer = everyKind();
const of = (step: string): Marker => answer.markers.find((marker) => marker.step === step)!;

describe("looks", () => {
  it("tell kinds apart by shape and text, not by colour alone", () => {
    const looks = ["3400", "3650", "1500", "11700"].map((step) => markerLook(of(step)).glyph);
    expect(looks).toEqual(["▲", "▼", "◆", "~"]);
    expect(answer.markers.map(markerText)).toEqual([
      "+15.9 %",
      "+34.6 % for a while",
      "+7.9 %",
      "−11.3 %",
      "+12.8 % ramp",
      expect.stringMatching(/^\+[\d.]+ % p95$/),
      expect.stringMatching(/^\+[\d.]+ %$/),
    ]);
  });
});

describe("places", () => {
  it("shift to the page's origin; what begins and ends is a stretch", () => {
    const placed = placeMarkers({ ...answer, base: "1000" }, 400n);
    expect(placed.map(({ x0, x1 }) => [x0, x1])).toEqual([
      [2100, null],
      [3600, 3800],
      [4000, null],
      [4250, null],
      [6600, 8100],
      [9600, null],
      [12300, null],
    ]);
    expect(placed.map(({ dashed }) => dashed)).toEqual([false, false, false, false, false, false, true]);
  });
  it("zoom to around a change, with what was before and after, inside the run", () => {
    for (const marker of answer.markers) {
      const [low, high] = around(marker, answer);
      expect(low).toBeGreaterThanOrEqual(0);
      expect(low).toBeLessThan(marker.at);
      expect(high).toBeGreaterThan(marker.end_at ?? marker.at);
      expect(high).toBeLessThanOrEqual(12_000);
    }
    const [low, high] = around(of("6000"), answer);
    expect([low < 5800, high > 7700]).toEqual([true, true]);
  });
});

describe("labels", () => {
  const label = (x: number, width = 60) => ({ x, width, narrow: 20 });
  it("stay in one row where they have room", () =>
    expect(layoutLabels([label(0), label(100)], 500)).toEqual([
      { left: 0, row: 0, short: false },
      { left: 100, row: 0, short: false },
    ]));
  it("climb where they would cover the next one, so that no stem crosses a label", () => {
    const labels = [label(100), label(120), label(140), label(300)];
    const placed = layoutLabels(labels, 500);
    expect(placed.map((place) => place!.row)).toEqual([2, 1, 0, 0]);
    placed.forEach((high, i) =>
      placed.forEach((low, j) => {
        if (high!.row <= low!.row) return;
        const stem = labels[i]!.x;
        expect(stem >= low!.left && stem < low!.left + 60, `stem ${i} through label ${j}`).toBe(false);
      }),
    );
  });
  it("never cover each other, lose their text first, and are left out last", () => {
    const labels = Array.from({ length: 30 }, (_, i) => label(200 + 4 * i));
    const placed = layoutLabels(labels, 500);
    const boxes = placed.flatMap((place, i) =>
      place ? [{ ...place, to: place.left + (place.short ? labels[i]!.narrow : labels[i]!.width) }] : [],
    );
    for (const a of boxes)
      for (const b of boxes)
        if (a !== b && a.row === b.row) expect(a.to <= b.left || b.to <= a.left, JSON.stringify([a, b])).toBe(true);
    expect(boxes.some((box) => box.short)).toBe(true);
    expect(placed).toContain(null);
    expect(Math.max(...boxes.map((box) => box.row))).toBeLessThan(3);
  });
  it("do not leave the chart", () => {
    expect(layoutLabels([label(495)], 500)).toEqual([{ left: 440, row: 0, short: false }]);
    expect(layoutLabels([label(-20)], 500)[0]!.left).toBe(0);
    expect(layoutLabels([], 500)).toEqual([]);
  });
});

describe("the list", () => {
  const second = { ...answer, markers: [{ ...of("3400"), step: "9223372036854775807", id: "b", change: null }] };
  const rows = changeRows({ shown: shown("resnet50", "tiny"), data: [answer, second] });
  const steps = (order: Order, descending: boolean) =>
    sortChanges(rows, order, descending).map((row) => row.marker.step);
  it("sorts by step beyond 2^53", () => {
    expect(steps("step", false).at(-1)).toBe("9223372036854775807");
    expect(steps("step", true)[0]).toBe("9223372036854775807");
  });
  it("sorts by size whatever its sign; what has none comes last", () => {
    const sizes = sortChanges(rows, "size", true).map((row) => Math.abs(row.marker.change ?? 0));
    expect(sizes).toEqual(sizes.toSorted((a, b) => b - a));
    expect(steps("size", true).at(-1)).toBe("9223372036854775807");
  });
  it("sorts by kind and run, then by run and step", () => {
    const kinds = sortChanges(rows, "kind", false).map((row) => row.marker.kind);
    expect(kinds).toEqual(kinds.toSorted());
    expect(sortChanges(rows, "run", true)[0]!.shown.label).toBe("tiny");
    expect(new Set(rows.map((row) => row.key)).size).toBe(rows.length);
  });
});

describe("words", () => {
  it("say where, of what kind, over which steps", () => {
    expect(blamedWords(of("3400"))).toBe("in data_wait");
    expect(blamedWords(of("3650"))).toBe("all stages alike");
    expect(blamedWords(of("11700"))).toBe("not known");
    expect(blamedWords({ ...of("3400"), blamed: [null, "a"] })).toBe("in no stage and a");
    expect(kindWords(of("1500"))).toBe("lasting, planned");
    expect(kindWords(of("11700"))).toBe("lasting, provisional");
    expect(stepsWords({ start: "10", end: "4213" })).toBe("steps 10 – 4,212");
    expect([distanceWords(-3), distanceWords(0), distanceWords(1)]).toEqual([
      "3 steps before",
      "at the same step",
      "1 step after",
    ]);
    expect([shareWords(0.97), shareWords(-0.08), shareWords(-0.001), shareWords(null)]).toEqual([
      "97 %",
      "−8 %",
      "0 %",
      "–",
    ]);
  });
  it("say on how many steps a comparison stands", () => {
    const { baseline } = comparisons().regression;
    expect(sampleWords(baseline)).toBe("11,950 of 12,000 steps used (left out: 50 warm-up)");
    expect(sampleWords({ ...baseline, num_warmup: 0, runs: [{ ...baseline.runs[0]!, num_members: 4 }] })).toBe(
      "11,950 of 12,000 steps used; rank 0 of 4",
    );
  });
});

describe("comparison", () => {
  const all = comparisons();
  const [{ run, color }] = shown("tiny") as [Shown];
  const modelOf = (...compared: (typeof all.same)[]) =>
    quantileModel({
      baselines: [run],
      candidates: compared.map((data) => ({ runs: [run], color, data, error: null })),
    });
  it("has an axis that holds the changes and the zone, with round ticks", () => {
    const { min, max, ticks } = intervalScale([all.regression, all.same]);
    expect(min).toBeLessThan(-0.05);
    expect(max).toBeGreaterThan(0.25);
    expect(ticks).toContain(0);
    expect(intervalScale([])).toMatchObject({ ticks: expect.arrayContaining([0]) });
  });
  it("lets a run that differs by far not dwarf the others", () => {
    expect(intervalScale([all.overruled]).max).toBeGreaterThan(1.5);
    expect(intervalScale([all.overruled, all.same]).max).toBeLessThan(0.1);
  });
  it("says slower only of what is sure and large enough; more throughput is faster", () => {
    const [median] = all.regression.measures;
    expect(direction({ ...median!, change: 0.05, low: 0.04, high: 0.06 }, 0.03)).toBe("slower");
    expect(direction({ ...median!, change: 0.05, low: -0.01, high: 0.11 }, 0.03)).toBe("unclear");
    expect(direction({ ...median!, change: 0.02, low: 0.01, high: 0.03 }, 0.03)).toBe("unclear");
    expect(direction({ ...median!, change: -0.05, low: null, high: -0.01 }, 0.03)).toBe("faster");
    expect(direction({ ...median!, measure: "throughput", change: -0.05, low: -0.06, high: -0.04 }, 0.03)).toBe(
      "slower",
    );
    expect(direction({ ...median!, change: null, low: null, high: null }, 0.03)).toBe("unclear");
  });
  it("draws the difference of each percentile with its interval around the zone of no difference", () => {
    const model = modelOf(all.regression, all.refused)!;
    expect(model).toMatchObject({ axis: "percentile", unit: "change", zone: 0.03 });
    expect(model.lines.map((line) => line.key)).toEqual(["0:low", "0:high", "0:change"]);
    expect(model.x).toHaveLength(99);
    expect(model.limits!.min).toBeLessThan(-0.03);
    expect(modelOf(all.refused)).toBeNull();
  });
  const planted = (of: (p: number) => number, room = 0.01): typeof all.same => {
    const { percentiles } = all.same.quantiles!;
    const change = percentiles.map(of);
    const [low, high] = [change.map((value) => value - room), change.map((value) => value + room)];
    return { ...all.same, quantiles: { ...all.same.quantiles!, change, low, high } };
  };
  it("keeps a far percentile from flattening the rest, and says what lies outside", () => {
    const one = planted((p) => (p >= 98 ? 4 : 0.02));
    const { limits, dots } = modelOf(one)!;
    expect(limits).toMatchObject({ clipped: true });
    expect(limits!.max).toBeLessThan(0.1);
    expect(dots).toMatchObject([{ x: [98], y: [4], labels: true }]);
    expect(outsideWords(one.quantiles!, limits!)).toBe("above at p98–p99 (as far as +400 %)");
    const both = planted((p) => (p === 1 ? -0.9 : p === 99 ? 2 : 0));
    expect(outsideWords(both.quantiles!, modelOf(both)!.limits!)).toBe(
      "below at p1 (as far as −90 %); above at p99 (as far as +200 %)",
    );
  });
  it("keeps a far run from flattening the others, and holds it where it is alone", () => {
    const [near, far] = [planted(() => 0.05), planted((p) => 3 + p / 1000)];
    const { limits } = modelOf(far, near)!;
    expect(limits!.max).toBeLessThan(0.2);
    expect(outsideWords(far.quantiles!, limits!)).toBe("above at p1–p99 (as far as +310 %)");
    expect(outsideWords(near.quantiles!, limits!)).toBe("");
    expect(modelOf(far)!.limits!.max).toBeGreaterThan(3.1);
    expect(modelOf(far)!.dots[0]!.x).toEqual([]);
  });
  it("shows a tail that moved by less than that, and cuts intervals that are wider than they tell", () => {
    const tail = planted((p) => (p >= 95 ? 0.3 : 0));
    expect(modelOf(tail)!.limits).toMatchObject({ clipped: false });
    const wide = planted(() => 0.02, 0.5);
    const { limits } = modelOf(wide)!;
    expect(limits!.max).toBeLessThan(0.1);
    expect(outsideWords(wide.quantiles!, limits!)).toBe("ends of the interval at p1–p99");
  });
});

describe("rows of the run list", () => {
  const names = ["debug", "s/net_lr1_x", "s/net_lr2_x", "s/net_lr3_x"];
  const rows = pickerRows(names, groupNames(names), () => true, 200);
  it("stand under a heading with what they share", () => {
    expect(rows.map(({ text, name, index }) => [text, name, index])).toEqual([
      ["debug", 0, 0],
      ["s/net_…_x", null, 1],
      ["lr1", 1, 1],
      ["lr2", 2, 2],
      ["lr3", 3, 3],
    ]);
    for (const [i, row] of rows.entries()) expect(row.top).toBe(i ? rows[i - 1]!.top + rows[i - 1]!.height : 0);
  });
  it("grow where a name needs more lines, instead of cutting it", () => {
    const long = "x".repeat(180);
    const [row] = pickerRows([long], groupNames([long]), () => true, 200);
    expect(row).toMatchObject({ text: long });
    expect(row!.height).toBeGreaterThan(100);
  });
  it("leave out what is not searched for, and headings of nothing", () =>
    expect(pickerRows(names, groupNames(names), (i) => i === 0, 200).map((row) => row.text)).toEqual(["debug"]));
  it("keep their heading in sight", () => {
    expect(pinned(rows, 0)).toBeNull();
    expect(pinned(rows, rows[3]!.top + 1)?.text).toBe("s/net_…_x");
    expect(inSight(rows, 0, 10).length).toBeGreaterThan(1);
    expect(inSight(rows, 5000, 10)).toEqual([]);
  });
});
