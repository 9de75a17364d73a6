import { describe, expect, it } from "vitest";

import { placeBins } from "../src/charts/bins";
import { difference } from "../src/views/verdict";
import { binWords, evidence, headline, leftOutWords, stepTimeSummary, warnings } from "../src/views/words";
import { run, shown } from "./recorded";

describe("verdict", () => {
  const { summary } = run("resnet50");
  it("uses the device clock where it is chosen and measured", () => {
    const both = run("llama-8b/pretrain").summary;
    expect(headline(both, "host")).toContain("A typical step takes 400 ms");
    expect(headline(both, "device")).toContain("A typical step takes 388 ms");
    expect(headline(summary, "device")).toBe(headline(summary, "host"));
  });
  it("says why there is nothing to say", () => {
    const none = { ...summary, step_time_ms: { ...summary.step_time_ms, p50: null, p95: null } };
    expect(headline({ ...none, sample: { ...summary.sample, num_in_range: 0 } }, "host")).toBe(
      "No step lies in this range.",
    );
    const leftOut = { ...summary.sample, num_in_range: 10, num_used: 0, left_out: { warmup: 10, profiled: 0 } };
    expect(headline({ ...none, sample: leftOut }, "host")).toBe(
      "All 10 steps in this range are left out of the statistics (10 warm-up).",
    );
    expect(headline({ ...summary, stages: [] }, "host")).toContain("No stages are labelled.");
  });
  it("lists what was left out, the most first", () => {
    expect(leftOutWords({ warmup: 10, profiled: 40, restart: 0, not_finite: 1 })).toBe(
      "40 profiled, 10 warm-up, 1 without a finite time",
    );
    expect(leftOutWords({})).toBe("");
    expect(evidence(summary)).toContain("warm-up: 10 steps, 717 ms");
  });
  it("names ranks, counters and notes, also counters it does not know", () => {
    const [entry] = shown("resnet50");
    const words = warnings(
      { ...summary, counters: { num_rows_lost: 1, num_new: 3, num_interrupted: 0 } },
      { ...entry!, run: { ...entry!.run, world_size: 4, missing_ranks: [1, 3], notes: ["2 processes wrote here."] } },
    );
    expect(words).toEqual([
      "Ranks 1 and 3 of 4 wrote nothing",
      "1 row could not be written and is lost",
      "num_new: 3",
      "2 processes wrote here",
    ]);
  });
  it("compares medians", () => {
    expect([difference(12.6, 10), difference(9.9, 10), difference(null, 10), difference(1, 0)]).toEqual([
      "+26 %",
      "−1.0 %",
      "–",
      "–",
    ]);
  });
});

describe("the bin under the cursor", () => {
  const words = (name: string, i: number) => {
    const { bands } = run(name);
    return binWords(bands, placeBins(bands.axis, bands.sample, 0n), i);
  };
  it("gives all values and what was left out", () => {
    expect(words("resnet50", 0)).toMatch(
      /^steps \[0, 500\): p5 .+, p25 .+, median .+, p75 .+, p95 .+, p99 .+, max .+ at step [\d,]+; 10 left out$/,
    );
  });
  it("gives one value for one step", () => expect(words("tiny", 2)).toMatch(/^step 2: [\d.]+ ms$/));
  it("says when all is left out or nothing is there", () => {
    expect(words("tiny", 0)).toMatch(/^step 0: 1 step left out, up to [\d.]+ ms$/);
    expect(words("resnet50-preempted", 11)).toBe("steps [4,125, 4,500): no steps");
  });
  it("keeps every digit of a huge step", () =>
    expect(words("huge-steps", 1)).toContain("steps [9,223,372,036,854,388,"));
});

it("describes a chart without a summary", () => expect(stepTimeSummary(undefined, "a")).toBe("Step time of a."));
