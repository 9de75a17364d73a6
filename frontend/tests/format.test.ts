import { describe, expect, it } from "vitest";

import { digits, interval, pWords, signed, stageName } from "../src/format/changes";
import { core, groupNames, matches, sharedEnds } from "../src/format/names";
import { count, integer, percent, significant } from "../src/format/numbers";
import { clock, position, span } from "../src/format/position";
import { columnLabel, list, visible } from "../src/format/text";
import { bytes, duration, rate, time } from "../src/format/units";

describe("numbers", () => {
  it("groups thousands, also beyond 2^53", () => {
    expect(integer(1234567)).toBe("1,234,567");
    expect(integer("9007199254740993")).toBe("9,007,199,254,740,993");
    expect(integer(2n ** 63n - 1n)).toBe("9,223,372,036,854,775,807");
    expect(integer(-1200)).toBe("−1,200");
    expect(integer(null)).toBe("–");
    expect(integer(NaN)).toBe("–");
  });
  it("keeps significant digits without exponents", () => {
    expect(significant(9.999)).toBe("10.0");
    expect(significant(1234.5)).toBe("1,235");
    expect(significant(0.01234)).toBe("0.0123");
    expect(significant(-2.5)).toBe("−2.50");
    expect(significant(0)).toBe("0");
    expect(significant(Infinity)).toBe("–");
  });
  it("never rounds a share to nothing or to everything", () => {
    expect(percent(0.41)).toBe("41 %");
    expect(percent(0.001)).toBe("< 1 %");
    expect(percent(0.999)).toBe("> 99 %");
    expect([percent(-0.41), percent(-0.001), percent(-1.2)]).toEqual(["−41 %", "> −1 %", "−120 %"]);
    expect(percent(0)).toBe("0 %");
    expect(percent(1)).toBe("100 %");
    expect(percent(null)).toBe("–");
  });
  it("counts in words", () => {
    expect(count(1, "step")).toBe("1 step");
    expect(count(12000, "step")).toBe("12,000 steps");
  });
});

describe("units", () => {
  it("chooses the unit of a time", () => {
    expect(time(10)).toBe("10.0 ms");
    expect(time(0.64)).toBe("640 µs");
    expect(time(999.96)).toBe("1.00 s");
    expect(time(10_000)).toBe("10.0 s");
    expect(time(245_000)).toBe("4 min 5 s");
    expect(time(0)).toBe("0 ms");
    expect(time(null)).toBe("–");
  });
  it("writes long times in two parts", () => {
    expect(duration(885_000)).toBe("14 min 45 s");
    expect(duration(3_600_000)).toBe("1 h");
    expect(duration(187_200_000)).toBe("2 d 4 h");
    expect(duration(-90_000)).toBe("−1 min 30 s");
  });
  it("uses binary units for memory", () => {
    expect(bytes(812_000_000)).toBe("774 MiB");
    expect(bytes(13 * 2 ** 30)).toBe("13.0 GiB");
    expect(bytes(0)).toBe("0 B");
    expect(bytes(null)).toBe("–");
  });
  it("carries the unit of a rate", () => {
    expect(rate(3168, "samples/s")).toBe("3,168 samples/s");
    expect(rate(1_250_000, "tokens/s")).toBe("1.25 M tokens/s");
    expect(rate(20.04, "samples/s")).toBe("20.0 samples/s");
  });
});

describe("positions", () => {
  it("shows every digit of a step", () => expect(position("step", 9007199254740993n)).toBe("9,007,199,254,740,993"));
  it("writes measured time as a clock", () => {
    expect(clock(4200, 10)).toBe("4.20 s");
    expect(clock(123_500, 100)).toBe("2:03.5 min");
    expect(clock(3_723_000)).toBe("1:02:03");
  });
  it("names bins", () => {
    expect(span("step", 20n, 40n, false)).toBe("steps [20, 40)");
    expect(span("step", 20n, 21n, false)).toBe("step 20");
    expect(span("step", 20n, 40n, true)).toBe("step 20");
    expect(span("relative", 60_000n, 64_000n, false)).toBe("1:00 min – 1:04 min");
  });
});

describe("text from logs", () => {
  it("makes invisible characters visible and leaves the rest alone", () => {
    expect(visible("\u202egnp.exe")).toBe("⟨U+202E⟩gnp.exe");
    expect(visible("tab\there")).toBe("tab␉here");
    expect(visible("new\nline")).toBe("new␊line");
    expect(visible("<img src=x onerror=alert(1)>")).toBe("<img src=x onerror=alert(1)>");
    expect(visible("Episode / total (mean)")).toBe("Episode / total (mean)");
    expect(visible(" lead and trail ")).toBe(" lead and trail ");
    expect(visible("")).toBe("(empty name)");
    expect(visible(" ")).toBe("(1 space)");
  });
  it("lists and labels", () => {
    expect(list(["a", "b", "c"])).toBe("a, b and c");
    expect(columnLabel("peak_resident_bytes")).toBe("peak resident");
    expect(columnLabel("unknown_ms")).toBe("unknown_ms");
  });
});

describe("run names", () => {
  const names = ["sweep/lr=0.001,bs=32/v0", "sweep/lr=0.003,bs=32/v0", "sweep/lr=0.01,bs=64/v0"];
  it("finds what all names share, at separators", () => {
    const shared = sharedEnds(names);
    expect(names[0]!.slice(0, shared.prefix)).toBe("sweep/");
    expect(names[0]!.slice(-shared.suffix)).toBe("/v0");
  });
  it("shows what differs in full, however long", () =>
    expect(names.map((name) => core(name, sharedEnds(names)))).toEqual([
      "lr=0.001,bs=32",
      "lr=0.003,bs=32",
      "lr=0.01,bs=64",
    ]));
  it("always leaves something of each name, and does not cut numbers apart", () => {
    const alike = ["a/a", "a/a/a", "a_", "a_b"];
    for (const pair of [alike.slice(0, 2), alike.slice(2), ["x", "x"]])
      for (const name of pair) expect(core(name, sharedEnds(pair)), name).not.toBe("");
    expect(sharedEnds(["only"])).toEqual({ prefix: 0, suffix: 0 });
    expect(sharedEnds([])).toEqual({ prefix: 0, suffix: 0 });
    const rates = ["net_lr1e-01_bs64", "net_lr1e-03_bs64"];
    expect(rates.map((name) => core(name, sharedEnds(rates)))).toEqual(["lr1e-01", "lr1e-03"]);
  });
  it("groups a sweep under what its names have in common", () => {
    const sweep = Array.from(
      { length: 400 },
      (_, i) => `sweep/resnet50_imagenet_lr1e-0${i % 4}_bs64_seed${String(i).padStart(3, "0")}_cosine_warmup5_amp`,
    );
    const all = ["baseline", ...sweep, "z/1", "z/2"];
    const groups = groupNames(all);
    expect(groups.map(({ heading, members }) => [heading, members.length])).toEqual([
      ["", 1],
      ["sweep/resnet50_imagenet_…_cosine_warmup5_amp", 400],
      ["", 2],
    ]);
    const [, long] = groups;
    const labels = long!.members.map((i) => core(all[i]!, long!.shared));
    expect(labels[35]).toBe("lr1e-03_bs64_seed035");
    expect(new Set(labels).size).toBe(400);
  });
  it("groups runs whose folders differ under the folder that holds them all", () => {
    const sweep = ["1", "2", "3"].map((seed) => `exp/vit/lr=0.1,seed=${seed}/version_0`);
    const [group, ...others] = groupNames(sweep);
    expect(group!.heading).toBe("exp/vit/lr=0.1,…/version_0");
    expect(sweep.map((name) => core(name, group!.shared))).toEqual(["seed=1", "seed=2", "seed=3"]);
    expect(others).toEqual([]);
    expect(groupNames([])).toEqual([]);
  });
  it("filters by words in any order", () => {
    expect(matches("lr=0.01,seed=3", "SEED=3 lr")).toBe(true);
    expect(matches("lr=0.01,seed=3", "seed=4")).toBe(false);
    expect(matches("anything", "")).toBe(true);
  });
});

describe("changes", () => {
  it("carry a sign and as many digits as their interval bears out", () => {
    expect([signed(0.124), signed(-0.081), signed(0), signed(-0.0001), signed(null), signed(0.5, 0)]).toEqual([
      "+12.4 %",
      "−8.1 %",
      "0.0 %",
      "0.0 %",
      "–",
      "+50 %",
    ]);
    expect(interval(0.118, 0.131)).toBe("11.8–13.1");
    expect(interval(-0.089, -0.073)).toBe("−8.9 to −7.3");
    expect(interval(0.1288, 0.1311)).toBe("12.88–13.11");
    expect([interval(0.04, null), interval(null, 0.04), interval(null, null)]).toEqual(["above 4.0", "below 4.0", ""]);
    expect([digits(0.1, 0.2), digits(0.1, 0.101), digits(null, 1)]).toEqual([1, 2, 1]);
  });
  it("have p-values in words", () =>
    expect([pWords(0), pWords(0.00099), pWords(0.0042), pWords(0.031), pWords(null)]).toEqual([
      "p < 0.001",
      "p < 0.001",
      "p = 0.004",
      "p = 0.03",
      "–",
    ]));
  it("name the time in no stage", () => expect([stageName(null), stageName("a\tb")]).toEqual(["not labelled", "a␉b"]));
});
