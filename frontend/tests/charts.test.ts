import { describe, expect, it } from "vitest";

import { memoryModel, overall, stack, stagesModel, stageSeries, throughputModel } from "../src/charts/areas";
import { bandsModel, placeMarks, roles, type BandOptions } from "../src/charts/bands";
import { align, binAt, bridge, chooseOrigin, placeBins } from "../src/charts/bins";
import { withAlpha, stageColor } from "../src/charts/colors";
import { keyAction, scaleAround, type KeyState } from "../src/charts/keys";
import { despike, fullLimits, logLimits, robustLimits } from "../src/charts/limits";
import { structure } from "../src/charts/model";
import { tickLabels, yLabels, yText } from "../src/charts/ticks";
import { answers, run } from "./recorded";

const options: BandOptions = { origin: 0n, showMax: true, showLeftOut: true, yScale: "fit", full: false };

describe("bins", () => {
  const sample = { num_in_range: 100 } as never;
  it("draws a bin at its middle and a single row at its place", () => {
    const axis = { axis: "step" as const, base: "100", start: [0, 20], end: [20, 40] };
    expect(placeBins(axis, sample, 0n)).toEqual({ start: [100, 120], end: [120, 140], x: [110, 130], raw: false });
    expect(placeBins(axis, { num_in_range: 2 } as never, 90n)).toEqual({
      start: [10, 30],
      end: [30, 50],
      x: [10, 30],
      raw: true,
    });
  });
  it("counts from 0 as long as numbers are exact, else from a round position", () => {
    expect(chooseOrigin(7n, 12007n)).toBe(0n);
    const start = 2n ** 63n - 400_000n;
    const origin = chooseOrigin(start, start + 300_000n);
    expect(origin % 1_000_000n).toBe(0n);
    expect(start - origin).toBeLessThan(10_000_000n);
  });
  it("keeps neighbouring steps near 2^63 apart", () => {
    const { bands } = run("huge-steps");
    const origin = chooseOrigin(BigInt(bands.axis.base), BigInt(bands.axis.base) + 300_000n);
    const { start } = placeBins(bands.axis, bands.sample, origin);
    expect(BigInt(start[1]! - start[0]!)).toBe(BigInt(bands.axis.start[1]! - bands.axis.start[0]!));
    expect(origin + BigInt(start[0]!)).toBe(BigInt(bands.axis.base));
  });
  it("finds the bin under the cursor", () => {
    const bins = { start: [0, 10, 30], end: [10, 20, 40], x: [5, 15, 35], raw: false };
    expect([0, 9.9, 10, 19, 24, 26, 39, 41, -20].map((x) => binAt(bins, x))).toEqual([0, 0, 1, 1, 1, 2, 2, -1, -1]);
    expect(binAt({ start: [], end: [], x: [], raw: true }, 1)).toBe(-1);
  });
  it("bridges sparse bins and leaves real gaps", () => {
    expect(bridge([1, null, 2, null, null, null, 3])).toEqual([1, undefined, 2, null, null, null, 3]);
    expect(bridge([null, 1, null])).toEqual([null, 1, null]);
  });
  it("brings tables onto one ascending x; foreign positions are no gaps", () => {
    const table = align([
      { x: [0, 10], columns: [[1, null]] },
      { x: [5, 10], columns: [[2, 3]] },
    ]);
    expect(table).toEqual({
      x: [0, 5, 10],
      columns: [
        [1, undefined, null],
        [undefined, 2, 3],
      ],
    });
  });
});

describe("limits", () => {
  const calm = Array.from({ length: 600 }, (_, i) => 10 + (i % 7) / 10);
  it("does not let one spike of 10 s flatten the rest", () => {
    const peaks = calm.map((v, i) => (i === 300 ? 10_000 : v));
    const limits = robustLimits([peaks], peaks, calm)!;
    expect(limits.clipped).toBe(true);
    expect(limits.max).toBeLessThan(15);
    expect(limits.min).toBeGreaterThan(5);
  });
  it("never cuts off a level that lasts, however short its share", () => {
    const late = calm.map((v, i) => (i > 594 ? 500 : v));
    const limits = robustLimits([late], late, calm)!;
    expect(limits.max).toBeGreaterThanOrEqual(500);
  });
  it("shows what every bin reaches now and then, and cuts off only what lies far above", () => {
    const maxima = calm.map((_, i) => (i === 300 ? 10_000 : 16 + (i % 5)));
    const limits = robustLimits([calm], maxima, calm)!;
    expect(limits.clipped).toBe(true);
    expect(limits.max).toBeGreaterThan(20);
    expect(limits.max).toBeLessThan(25);
  });
  it("shows a moderate spike in full", () => {
    const peaks = calm.map((v, i) => (i === 300 ? 18 : v));
    expect(robustLimits([peaks], peaks, calm)).toMatchObject({ clipped: false });
  });
  it("handles nothing, one value and zeros", () => {
    expect(robustLimits([[null]], [null], [null])).toBeNull();
    expect(fullLimits([], true)).toBeNull();
    expect(robustLimits([[0]], [0], [0])!.max).toBeGreaterThan(0);
    expect(logLimits([[0, -1, null]])).toBeNull();
    expect(logLimits([[1, 10]])).toMatchObject({ clipped: false });
  });
  it("takes lone spikes away and keeps steps", () => {
    expect(despike([1, 1, 9, 1, 1])).toEqual([1, 1, 1, 1, 1]);
    expect(despike([1, 1, 1, 9, 9, 9])).toEqual([1, 1, 1, 9, 9, 9]);
  });
});

describe("bands", () => {
  it("pairs percentiles around the median", () => {
    expect(roles([5, 25, 50, 75, 95, 99])).toEqual({
      pairs: [
        [0, 4],
        [1, 3],
      ],
      median: 2,
      singles: [5],
    });
    expect(roles([50, 95, 99.9])).toEqual({ pairs: [], median: 0, singles: [1, 2] });
    expect(roles([0.1, 99.9])).toEqual({ pairs: [[0, 1]], median: null, singles: [] });
  });
  it("draws two bands, the median, p99, spikes and what was left out", () => {
    const data = answers("bands", "resnet50");
    const model = bandsModel(data, [], options);
    expect(model.lines.map((line) => line.key)).toEqual(["0:p5", "0:p95", "0:p25", "0:p75", "0:p99", "0:p50"]);
    expect(model.bands.map(({ upper, lower }) => [upper, lower])).toEqual([
      [1, 0],
      [3, 2],
    ]);
    const [maxima, leftOut] = model.dots;
    const worst = Math.max(...maxima!.y);
    expect(worst).toBeCloseTo(run("resnet50").summary.step_time_ms.max!, 3);
    expect(maxima!.x[maxima!.y.indexOf(worst)]).toBe(7777);
    expect(model.limits!.clipped).toBe(true);
    expect(leftOut!.hollow).toBe(true);
    expect(model.x).toEqual([...model.x].sort((a, b) => a - b));
  });
  it("shows everything when asked", () => {
    const model = bandsModel(answers("bands", "resnet50"), [], { ...options, full: true });
    expect(model.limits!.max).toBeGreaterThan(630);
    expect(bandsModel(answers("bands", "resnet50"), [], { ...options, yScale: "zero" }).limits!.min).toBe(0);
    expect(bandsModel(answers("bands", "resnet50"), [], { ...options, yScale: "log" })).toMatchObject({ log: true });
  });
  it("overlays runs of different lengths on one x", () => {
    const model = bandsModel(answers("bands", "resnet50", "resnet50-preempted"), [], options);
    expect(model.bands).toHaveLength(2);
    expect(model.lines).toHaveLength(6);
    expect(model.lines.every((line) => line.values.length === model.x.length)).toBe(true);
    expect(new Set(model.lines.map((line) => line.color)).size).toBe(2);
  });
  it("draws every row of a tiny run", () => {
    const model = bandsModel(answers("bands", "tiny"), [], options);
    expect(model.bands).toEqual([]);
    expect(model.x).toEqual([0, 1, 2, 3, 4]);
  });
  it("places marks", () => {
    const placed = placeMarks({ base: "100", marks: [{ kind: "gap", start: 5, end: 9, label: "" }] } as never, 90n);
    expect(placed).toEqual([{ kind: "gap", x0: 15, x1: 19, label: "" }]);
    expect(placeMarks(null, 0n)).toEqual([]);
  });
});

describe("areas", () => {
  it("stacks, with a missing layer counting as nothing", () => {
    expect(
      stack([
        [1, null, null],
        [2, 3, null],
      ]),
    ).toEqual([
      [1, null, null],
      [3, 3, null],
    ]);
  });
  it("weighs bins by their steps", () => {
    expect(overall([1, 4, null], [1, 3, 5])).toBe(3.25);
    expect(overall([null], [0])).toBeNull();
  });
  it("adds up to the step time, the unlabelled rest included", () => {
    const { stages } = run("resnet50");
    const model = stagesModel(stages, "stacked", [], 0n, false);
    const { total } = stageSeries(stages);
    model.lines.at(-1)!.values.forEach((value, i) => expect(value).toBeCloseTo(total[i]!, 2));
    expect(model.bands[0]).toMatchObject({ upper: 0, lower: null });
    expect(model.bands.at(-1)).toMatchObject({ hatched: true });
  });
  it("gives shares of the step that end at 1", () => {
    const model = stagesModel(run("resnet50").stages, "share", [], 0n, false);
    expect(
      model.lines
        .at(-1)!
        .values.filter((v) => v !== null)
        .every((v) => Math.abs(v! - 1) < 1e-9),
    ).toBe(true);
    expect(model).toMatchObject({ unit: "share", limits: { min: 0, max: 1 } });
  });
  it("draws lines without areas", () =>
    expect(stagesModel(run("resnet50").stages, "lines", [], 0n, false).bands).toEqual([]));
  it("keeps memory and throughput apart by column and run", () => {
    const one = memoryModel(answers("memory", "llama-8b/pretrain"), [], 0n);
    expect(new Set(one.lines.map((line) => line.color)).size).toBe(2);
    const two = memoryModel(answers("memory", "resnet50", "llama-8b/pretrain"), [], 0n);
    expect(two.lines.map((line) => [line.color, line.dash])).toEqual([
      ["--run-1", undefined],
      ["--run-2", undefined],
      ["--run-2", [7, 3]],
    ]);
    expect(throughputModel(answers("throughput", "resnet50"), "num_samples", [], 0n).lines).toHaveLength(1);
    expect(throughputModel(answers("throughput", "resnet50"), "num_tokens", [], 0n).limits).toBeNull();
  });
  it("hatches the colours that come a second time", () => {
    expect(stageColor(0)).toEqual({ color: "--stage-1", hatched: false });
    expect(stageColor(10)).toEqual({ color: "--stage-1", hatched: true });
    expect(withAlpha("#102030", 0.5)).toBe("#10203080");
  });
  it("is rebuilt only when its structure changes", () => {
    const a = bandsModel(answers("bands", "resnet50"), [], options);
    expect(structure(a)).toBe(structure({ ...a, limits: null, x: [] }));
    expect(structure(a)).not.toBe(structure({ ...a, log: true }));
  });
});

describe("ticks", () => {
  it("writes whole steps with every digit", () => {
    expect(tickLabels("step", 9223372036854000000n, [0, 500_000], 1)).toEqual([
      "9,223,372,036,854,000,000",
      "9,223,372,036,854,500,000",
    ]);
    expect(tickLabels("relative", 0n, [0, 90_000], 30_000)).toEqual(["0 s", "1:30 min"]);
  });
  it("uses one unit and as many decimals as needed", () => {
    expect(yLabels("ms", [0, 2.5, 10], 2.5)).toEqual(["0.0 ms", "2.5 ms", "10.0 ms"]);
    expect(yLabels("ms", [0, 1000, 2000], 1000)).toEqual(["0 s", "1 s", "2 s"]);
    expect(yLabels("bytes", [0, 2 ** 29, 2 ** 30], 2 ** 29)).toEqual(["0.0 GiB", "0.5 GiB", "1.0 GiB"]);
    expect(yLabels("rate", [0, 2000, null], 1000)).toEqual(["0/s", "2,000/s", null]);
    expect(yLabels("share", [0, 0.5, 1], 0.5)).toEqual(["0 %", "50 %", "100 %"]);
    expect(yText("rate", 3200)).toBe("3,200/s");
  });
});

describe("keys", () => {
  const state: KeyState = { stops: [0, 10, 20, 30], domain: [0, 40], cursor: 10, selection: null };
  const press = (key: string, shiftKey = false, change: Partial<KeyState> = {}) =>
    keyAction({ key, shiftKey, ctrlKey: false, metaKey: false, altKey: false }, { ...state, ...change });
  it("moves bin by bin and to the ends", () => {
    expect(press("ArrowRight")).toEqual({ cursor: 20, selection: null });
    expect(press("ArrowLeft", false, { cursor: 0 })).toEqual({ cursor: 0, selection: null });
    expect(press("ArrowRight", false, { cursor: null })).toEqual({ cursor: 0, selection: null });
    expect(press("End")).toEqual({ cursor: 30, selection: null });
    expect(press("Home", false, { domain: [5, 40] })).toEqual({ cursor: 10, selection: null });
    expect(press("ArrowRight", false, { stops: [] })).toBeNull();
  });
  it("selects, zooms and resets", () => {
    expect(press("ArrowRight", true)).toEqual({ cursor: 20, selection: [10, 20] });
    expect(press("ArrowLeft", true, { cursor: 20, selection: [30, 20] })).toEqual({ cursor: 10, selection: [30, 10] });
    expect(press("Enter", false, { selection: [30, 10] })).toEqual({ zoom: [10, 30], selection: null });
    expect(press("Enter")).toBeNull();
    expect(press("+")).toEqual({ zoom: [5, 25] });
    expect(press("-", false, { cursor: null })).toEqual({ zoom: [-20, 60] });
    expect(press("Escape")).toEqual({ zoom: "reset", cursor: null });
    expect(press("Escape", false, { selection: [1, 2] })).toEqual({ selection: null });
  });
  it("leaves the browser's own keys alone", () => {
    expect(press("Tab")).toBeNull();
    expect(keyAction({ key: "+", shiftKey: false, ctrlKey: true, metaKey: false, altKey: false }, state)).toBeNull();
    expect(scaleAround([0, 10], 20, 0.5)).toEqual([2.5, 7.5]);
  });
});
