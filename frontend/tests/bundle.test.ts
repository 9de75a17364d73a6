// @vitest-environment node
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { gzipSync } from "node:zlib";

import { describe, expect, it } from "vitest";

// @ts-expect-error The build script is plain JavaScript.
import { buildAll, staticDir } from "../scripts/build.mjs";

const FILES = ["index.js", "style.css", "vendor.js"];
const committed = (name: string) => readFileSync(join(staticDir as string, name));

describe("committed bundle", () => {
  it("is what the sources build, byte for byte", async () => {
    const built = (await buildAll({ write: false })) as { path: string; contents: Uint8Array }[];
    expect(built.map((file) => basename(file.path)).sort()).toEqual([...FILES, "vendor.LICENSE.txt"].sort());
    for (const { path, contents } of built) {
      expect(
        Buffer.compare(Buffer.from(contents), committed(basename(path))),
        `${basename(path)}: run npm run build`,
      ).toBe(0);
    }
  });
  it("fits into 250 KB, 70 KB gzipped", () => {
    const sizes = FILES.map(
      (name) => [committed(name).length, gzipSync(committed(name), { level: 9 }).length] as const,
    );
    expect(sizes.reduce((sum, [raw]) => sum + raw, 0)).toBeLessThanOrEqual(250_000);
    expect(sizes.reduce((sum, [, zipped]) => sum + zipped, 0)).toBeLessThanOrEqual(70_000);
  });
  it("asks nothing from another host and holds no path of a machine", () => {
    for (const name of FILES) {
      const text = committed(name)
        .toString("utf8")
        .replace(/https?:\/\/(github\.com\/leeoniya\/uPlot|www\.w3\.org\/\S+)/g, "");
      expect(text.match(/https?:\/\/[^\s"'`)]+/g) ?? [], name).toEqual([]);
      expect(/node_modules|\/home\/|\/root\//.test(text), name).toBe(false);
    }
  });
  it("never turns text into markup and keeps nothing in the browser's storage", () => {
    expect(
      /innerHTML|insertAdjacentHTML|dangerouslySet|localStorage|sessionStorage|\beval\(/.test(
        committed("index.js").toString("utf8"),
      ),
    ).toBe(false);
  });
});
