import { describe, expect, it } from "vitest";

import { matches, sharedEnds, shorten } from "../src/format/names";
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
  it("keeps short names whole", () => expect(shorten(names[0]!, sharedEnds(names), 40)).toBe(names[0]));
  it("leaves out what is shared first", () =>
    expect(shorten(names[0]!, sharedEnds(names), 18)).toBe("…lr=0.001,bs=32…"));
  it("leaves out the middle of what differs last", () => {
    const short = shorten(names[0]!, sharedEnds(names), 11);
    expect(short).toBe("…lr=0.…=32…");
    expect(short.length).toBe(11);
  });
  it("never lets prefix and suffix overlap", () => {
    const alike = ["a/a", "a/a/a"];
    const { prefix, suffix } = sharedEnds(alike);
    expect(prefix + suffix).toBeLessThanOrEqual(3);
    expect(sharedEnds(["only"])).toEqual({ prefix: 0, suffix: 0 });
    expect(sharedEnds([])).toEqual({ prefix: 0, suffix: 0 });
  });
  it("does not split what is one character", () =>
    expect([...shorten("🚀".repeat(50), { prefix: 0, suffix: 0 }, 10)].every((c) => c === "🚀" || c === "…")).toBe(
      true,
    ));
  it("keeps 400 similar names apart", () => {
    const sweep = Array.from(
      { length: 400 },
      (_, i) => `experiments/vit-large-patch16/sweep/lr=${[3, 1][i % 2]},bs=${1 << (i % 5)},seed=${i}/version_0`,
    );
    const shared = sharedEnds(sweep);
    expect(new Set(sweep.map((name) => shorten(name, shared, 34))).size).toBe(400);
  });
  it("filters by words in any order", () => {
    expect(matches("lr=0.01,seed=3", "SEED=3 lr")).toBe(true);
    expect(matches("lr=0.01,seed=3", "seed=4")).toBe(false);
    expect(matches("anything", "")).toBe(true);
  });
});
