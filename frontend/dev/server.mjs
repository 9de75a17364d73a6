// Development page: the tab in an iframe as TensorBoard would load it, over invented data, without TensorBoard.
// `npm run dev`, then open the printed address. /s/<scenario>/ chooses the data; the strict CSP is TensorBoard's.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { buildAll, staticDir } from "../scripts/build.mjs";
import { answer } from "./mock/answer.mjs";
import { Backend } from "./mock/routes.mjs";
import { SCENARIOS as PLAIN } from "./mock/scenarios.mjs";
import { TRACE_SCENARIOS, traceAnswer } from "./mock/traces.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const port = Number(process.env.PORT ?? 8600);
const SCENARIOS = { ...PLAIN, ...TRACE_SCENARIOS };
const backends = new Map();
const TYPES = { js: "text/javascript", css: "text/css", html: "text/html" };

const script = 'import("./index.js").then((m) => void m.render());';
const entry = `<!DOCTYPE html>
<head><base href="plugin/stepperf/" /></head>
<body><script type="module">${script}</script></body>
`;
const digest = createHash("sha256").update(script).digest("base64");
const csp = `default-src 'self';font-src 'self' data:;img-src 'self' data: blob:;object-src 'none';style-src 'self' data: 'unsafe-inline';connect-src 'self';script-src 'self' 'unsafe-eval' 'sha256-${digest}'`;

function backend(name) {
  if (!backends.has(name)) backends.set(name, new Backend(SCENARIOS[name]()));
  return backends.get(name);
}

function send(response, status, type, body, headers = {}) {
  response.writeHead(status, { "Content-Type": `${type}; charset=utf-8`, "Cache-Control": "no-cache", ...headers });
  response.end(body);
}

createServer(async (request, response) => {
  const url = new URL(request.url, `http://localhost:${port}`);
  const match = /^\/s\/([a-z]+)\/(.*)$/.exec(url.pathname);
  if (!match || !SCENARIOS[match[1]]) {
    const links = Object.keys(SCENARIOS)
      .map((name) => `<li><a href="/s/${name}/">${name}</a>`)
      .join("");
    return send(
      response,
      match ? 404 : 200,
      "text/html",
      `<!doctype html><title>stepperf scenarios</title><ul>${links}</ul>`,
    );
  }
  const [, name, path] = match;
  if (path === "" || path === "host.js")
    return send(response, 200, TYPES[path ? "js" : "html"], readFileSync(join(here, path || "host.html")));
  if (path === "data/plugin_entry.html")
    return send(response, 200, "text/html", entry, { "Content-Security-Policy": csp });
  const route = path.replace("data/plugin/stepperf/", "");
  if (/^\w+\.(js|css)$/.test(route)) {
    if (route === "index.js" && !process.env.NO_BUILD) await buildAll();
    return send(response, 200, TYPES[route.split(".")[1]], readFileSync(join(staticDir, route)));
  }
  if (process.env.DELAY) await new Promise((resolve) => setTimeout(resolve, Number(process.env.DELAY)));
  const { status, body, type } =
    traceAnswer(backend(name), route, url.searchParams) ?? answer(backend(name), route, url.searchParams);
  return send(response, status, type ?? "application/json", body);
}).listen(port, () => console.log(`http://localhost:${port}/`));
