// @vitest-environment node
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { gzipSync } from "node:zlib";

import { describe, expect, it } from "vitest";

// @ts-expect-error The build script is plain JavaScript.
import { buildAll, staticDir } from "../scripts/build.mjs";

/** What the first view fetches. */
const FIRST = ["index.js", "style.css", "vendor.js"];
/** What comes when it is needed: where two runs are shown, or where there is a trace. */
const LATER = ["comparison.js", "comparison.css", "traces.js", "traces.css"];
const FILES = [...FIRST, ...LATER];
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
  it("fits into 250 KB; gzipped, the first view into 70 KB and what comes later into 25 KB", () => {
    const zipped = (name: string) => gzipSync(committed(name), { level: 9 }).length;
    const sum = (sizes: number[]) => sizes.reduce((total, size) => total + size, 0);
    expect(sum(FILES.map((name) => committed(name).length))).toBeLessThanOrEqual(250_000);
    expect(sum(FIRST.map(zipped))).toBeLessThanOrEqual(70_000);
    expect(sum(LATER.map(zipped))).toBeLessThanOrEqual(25_000);
  });
  it.each(["comparison.js", "traces.js"])("fetches %s only when it is needed; it shares what is there", (name) => {
    expect(committed("index.js").toString("utf8")).toContain(`import("./${name}")`);
    expect(committed(name).toString("utf8")).toMatch(/from"\.\/vendor\.js"/);
    expect(committed(name).toString("utf8")).toMatch(/from"\.\/index\.js"/);
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
    for (const name of ["index.js", "comparison.js", "traces.js"]) {
      const text = committed(name).toString("utf8");
      expect(/innerHTML|insertAdjacentHTML|dangerouslySet|localStorage|sessionStorage|\beval\(/.test(text), name).toBe(
        false,
      );
    }
  });
});
