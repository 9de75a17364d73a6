// Builds the two modules and the style sheet that TensorBoard serves. The output depends on the sources and the
// lock file alone: CI builds again and compares byte for byte.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
export const staticDir = join(root, "..", "tb_stepperf", "plugin", "static");

const vendorPackages = ["preact", "@preact/signals", "@preact/signals-core", "uplot"];

/** Copyright and licence of what vendor.js contains. All are MIT; the text that they share stands there once. */
function vendorNotice() {
  let terms = "";
  const packages = vendorPackages.map((name) => {
    const folder = join(root, "node_modules", name);
    const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const [, copyright, text] = /^The MIT License \(MIT\)\s+(Copyright[^\n]*)\n(.*)$/s.exec(
      readFileSync(join(folder, "LICENSE"), "utf8"),
    );
    if (terms && text.trim().replace(/\s+/g, " ") !== terms)
      throw new Error(`the licence of ${name} differs from the others: write it out in full`);
    terms = text.trim().replace(/\s+/g, " ");
    return `${name} ${version}: ${copyright}`;
  });
  return `vendor.js contains:\n\n${packages.join("\n")}\n\nThe MIT License (MIT)\n\n${terms}\n`;
}

/** uPlot as its authors ship it: their own minified file is smaller than what a bundler makes of the sources. */
function uplot() {
  const source = readFileSync(join(root, "node_modules", "uplot", "dist", "uPlot.iife.min.js"), "utf8").trim();
  return `${source}\nexport { uPlot as default };`;
}

/** Lets our modules import preact, signals and uplot as usual and get them, once, from ./vendor.js at run time. */
const fromVendor = {
  name: "from-vendor",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(preact|@preact\/signals|uplot)(\/.*)?$/ }, () => ({ path: "vendor", namespace: "vendor" }));
    onResolve({ filter: /^\.\/vendor\.js$/ }, () => ({ path: "./vendor.js", external: true }));
    onLoad({ filter: /.*/, namespace: "vendor" }, () => {
      const source = readFileSync(join(root, "src", "vendor.ts"), "utf8");
      const names = [...source.matchAll(/^export \{([^}]*)\}/gm)].flatMap((match) =>
        match[1].split(",").map((name) => name.trim()),
      );
      return { contents: `export { ${names.join(", ")}, default } from "./vendor.js";`, resolveDir: root };
    });
  },
};

const common = {
  absWorkingDir: root,
  bundle: true,
  charset: "utf8",
  format: "esm",
  legalComments: "none",
  logLevel: "warning",
  tsconfigRaw: "{}", // The options here decide, not those of the type checker.
  target: ["chrome100", "firefox100", "safari15.4"],
};

/** Builds into `outdir`; `write: false` returns the files instead. */
export async function buildAll({ outdir = staticDir, write = true } = {}) {
  const results = await Promise.all([
    build({
      ...common,
      entryPoints: { vendor: "src/vendor.ts" },
      minify: true,
      banner: { js: "/*! Licences: vendor.LICENSE.txt */" },
      footer: { js: uplot() },
      outdir,
      write,
    }),
    build({
      ...common,
      entryPoints: { index: "src/index.tsx" },
      minifySyntax: true, // Names and lines stay: the file can be read, and it fits into the budget.
      jsx: "transform",
      jsxFactory: "h",
      jsxFragment: "Fragment",
      inject: ["src/jsx.ts"],
      banner: { js: "// Built from frontend/src by `npm run build`. Edit the sources, not this file." },
      jsxSideEffects: true, // Only this keeps the output free of a "pure" remark at every element.
      plugins: [fromVendor],
      outdir,
      write,
    }),
    build({ ...common, entryPoints: { style: "src/style/index.css" }, minify: true, outdir, write }),
  ]);
  const notice = { path: join(outdir, "vendor.LICENSE.txt"), contents: Buffer.from(vendorNotice()) };
  if (write) writeFileSync(notice.path, notice.contents);
  return [...results.flatMap((result) => result.outputFiles ?? []), notice];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildAll();
