// @vitest-environment node
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { gzipSync } from "node:zlib";

import { describe, expect, it } from "vitest";

// @ts-expect-error The build script is plain JavaScript.
import { buildAll, staticDir } from "../scripts/build.mjs";

/** What the first view fetches; traces.js comes only where there is a trace. */
const FIRST = ["index.js", "style.css", "vendor.js"];
const FILES = [...FIRST, "traces.js"];
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
  }, 60_000);
  it("fits into 250 KB; gzipped, the first view into 76 KB and traces.js into 25 KB", () => {
    const zipped = (name: string) => gzipSync(committed(name), { level: 9 }).length;
    const sum = (sizes: number[]) => sizes.reduce((total, size) => total + size, 0);
    expect(sum(FILES.map((name) => committed(name).length))).toBeLessThanOrEqual(250_000);
    expect(sum(FIRST.map(zipped))).toBeLessThanOrEqual(76_000);
    expect(zipped("traces.js")).toBeLessThanOrEqual(25_000);
  });
  it("fetches traces.js only when it is needed, beside itself, and traces.js shares the vendor module", () => {
    expect(committed("index.js").toString("utf8")).toContain('import("./traces.js")');
    expect(committed("traces.js").toString("utf8")).toMatch(/from"\.\/vendor\.js"/);
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
    for (const name of ["index.js", "traces.js"]) {
      const text = committed(name).toString("utf8");
      expect(/innerHTML|insertAdjacentHTML|dangerouslySet|localStorage|sessionStorage|\beval\(/.test(text), name).toBe(
        false,
      );
    }
  });
});
