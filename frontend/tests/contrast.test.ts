import { readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

const css = readFileSync("src/style/theme.css", "utf8");
const [light = "", dark = ""] = css.split('[data-theme="dark"]');
const colors = (block: string) =>
  new Map([...block.matchAll(/--([\w-]+): (#[0-9a-f]{6})/g)].map((m) => [m[1]!, m[2]!]));

/** Contrast of two colours as WCAG defines it. */
function contrast(a: string, b: string): number {
  const luminance = (hex: string) => {
    const [r = 0, g = 0, blue = 0] = [1, 3, 5].map((i) => {
      const value = parseInt(hex.slice(i, i + 2), 16) / 255;
      return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * blue;
  };
  const [high = 0, low = 0] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (high + 0.05) / (low + 0.05);
}

describe.each([
  ["light", colors(light)],
  ["dark", colors(dark)],
])("%s theme", (_, theme) => {
  const pairs: [string, string][] = [
    ...["text", "text-2", "accent"].flatMap((ink) =>
      ["page", "surface", "sunken"].map((ground): [string, string] => [ink, ground]),
    ),
    ["accent", "accent-soft"],
    ["warn", "warn-soft"],
    ["error", "error-soft"],
    ["live", "page"],
    ...[...theme.keys()]
      .filter((name) => /^(change|mark|run)-/.test(name))
      .map((name): [string, string] => [name, "surface"]),
  ];
  it.each(pairs)("%s can be read on %s (WCAG AA)", (ink, ground) => {
    expect(contrast(theme.get(ink)!, theme.get(ground)!)).toBeGreaterThanOrEqual(4.5);
  });
  it("has a visible colour for every stage", () => {
    const stages = [...theme.keys()].filter((name) => name.startsWith("stage-"));
    expect(stages).toHaveLength(10);
    for (const name of stages) expect(contrast(theme.get(name)!, theme.get("surface")!)).toBeGreaterThan(1.5);
  });
});
