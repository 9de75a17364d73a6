// Builds the modules and the style sheet that TensorBoard serves. The output depends on the sources and the
// lock file alone: CI builds again and compares byte for byte. esbuild bundles; terser makes of that 4 % less, gzipped.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";
import { minify } from "terser";

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

/** uPlot without the kinds of curves that the tab does not draw; what only they use falls away with them. */
const leanUplot = {
  name: "lean-uplot",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^uplot$/ }, () => ({ path: join(root, "node_modules", "uplot", "dist", "uPlot.esm.js") }));
    onLoad({ filter: /uPlot\.esm\.js$/ }, ({ path }) => {
      let contents = readFileSync(path, "utf8");
      for (const unused of [
        "(paths.stepped = stepped);",
        "(paths.bars    = bars);",
        "(paths.spline  = monotoneCubic);",
      ]) {
        if (!contents.includes(unused)) throw new Error(`uPlot has changed: '${unused}' is not there any more`);
        contents = contents.replace(unused, "");
      }
      return { contents };
    });
  },
};

/** What a file like src/vendor.ts passes on: from which module, and the names. */
function passedOn(file) {
  const source = readFileSync(join(root, "src", file), "utf8");
  return [...source.matchAll(/^export \{([^}]*)\} from "([^"]*)"/gm)].map(([, names, from]) => ({ names, from }));
}

/** Answers an import with names that another of our files exports at run time. */
const load = (names, file) => ({ contents: `export { ${names} } from "./${file}";`, resolveDir: root });

/** Lets our modules import preact, signals and uplot as usual and get them, once, from ./vendor.js at run time. */
const fromVendor = {
  name: "from-vendor",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(preact|@preact\/signals|uplot)(\/.*)?$/ }, () => ({ path: "vendor", namespace: "vendor" }));
    onResolve({ filter: /^\.\/(vendor|index)\.js$/ }, ({ path }) => ({ path, external: true }));
    onLoad({ filter: /.*/, namespace: "vendor" }, () =>
      load(
        passedOn("vendor.ts")
          .map(({ names }) => names)
          .join(", "),
        "vendor.js",
      ),
    );
  },
};

/** Lets the modules that come later import what src/shared.ts names as usual and get it from ./index.js at run time. */
const fromIndex = {
  name: "from-index",
  setup({ onResolve, onLoad }) {
    const shared = new Map(passedOn("shared.ts").map(({ names, from }) => [join(root, "src", from), names]));
    onResolve({ filter: /^\.{1,2}\// }, ({ path, resolveDir }) => {
      const module = join(resolveDir, path);
      return shared.has(module) ? { path: module, namespace: "index" } : undefined;
    });
    onLoad({ filter: /.*/, namespace: "index" }, ({ path }) => load(shared.get(path), "index.js"));
  },
};

/** What is imported when it is needed stands in a module of its own, named after its folder. */
const LATER = ["comparison", "traces"];
const later = {
  name: "later",
  setup({ onResolve }) {
    onResolve({ filter: /^\.\.\/\w+\/index$/ }, ({ kind, path }) =>
      kind === "dynamic-import" ? { path: `./${path.split("/")[1]}.js`, external: true } : undefined,
    );
  },
};

const common = {
  absWorkingDir: root,
  bundle: true,
  charset: "utf8",
  format: "esm",
  legalComments: "none",
  minify: true,
  write: false,
  logLevel: "warning",
  tsconfigRaw: "{}", // The options here decide, not those of the type checker.
  target: ["chrome100", "firefox100", "safari15.4"],
};

/** A module and its first line, as small as it gets. */
async function shrink({ path, text }, firstLine) {
  const { code } = await minify(text, { module: true, compress: { passes: 2 }, format: { comments: false } });
  return { path, contents: Buffer.from(`${firstLine}\n${code}\n`) };
}

const SOURCES = "// Built from frontend/src by `npm run build`. Edit the sources, not this file.";

/** A module of ours, which gets what is not ours from vendor.js. */
function ours(name, source, outdir, plugins = []) {
  return build({
    ...common,
    entryPoints: { [name]: source },
    jsx: "transform",
    jsxFactory: "h",
    jsxFragment: "Fragment",
    inject: ["src/jsx.ts"],
    plugins: [fromVendor, later, ...plugins],
    outdir,
  });
}

/** Builds into `outdir`; `write: false` returns the files instead. */
export async function buildAll({ outdir = staticDir, write = true } = {}) {
  const sheets = Object.fromEntries(LATER.map((name) => [name, `src/style/${name}.css`]));
  const [vendor, styles, ...modules] = await Promise.all([
    build({ ...common, entryPoints: { vendor: "src/vendor.ts" }, plugins: [leanUplot], outdir }),
    build({ ...common, entryPoints: { style: "src/style/index.css", ...sheets }, outdir }),
    ours("index", "src/index.tsx", outdir),
    ...LATER.map((name) => ours(name, `src/${name}/index.ts`, outdir, [fromIndex])),
  ]);
  const files = [
    await shrink(vendor.outputFiles[0], "/*! Licences: vendor.LICENSE.txt */"),
    ...(await Promise.all(modules.map(({ outputFiles }) => shrink(outputFiles[0], SOURCES)))),
    ...styles.outputFiles,
    { path: join(outdir, "vendor.LICENSE.txt"), contents: Buffer.from(vendorNotice()) },
  ];
  if (write) for (const { path, contents } of files) writeFileSync(path, contents);
  return files;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildAll();
