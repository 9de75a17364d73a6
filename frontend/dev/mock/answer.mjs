// Parameters of a route, parsed and refused as http_api.md says, and the answer as text.
import { RouteError } from "./routes.mjs";
import "./analysis.mjs";
import "./words.mjs";

const KNOWN = ["run", "member", "axis", "start", "end", "bins", "include", "percentiles", "column", "clock", "format"];
const SIDES = ["baseline", "candidate"];
const JUDGED = ["overrule", "min_effect", "min_tail_effect"];
const CHARTS = ["summary", "bands", "stages", "memory", "throughput", "marks"];
const ROUTES = ["runs", ...CHARTS, "conditions", "samples", "markers", "comparison"];

function parse(parameters) {
  for (const name of parameters.keys())
    if (![...KNOWN, ...SIDES, ...JUDGED].includes(name))
      throw new RouteError(400, "bad_parameter", `unknown parameter '${name}'`, name);
  const get = (name, standard = null) => parameters.get(name) ?? standard;
  const big = (name) => (parameters.has(name) ? BigInt(parameters.get(name)) : null);
  const bins = Number(get("bins", "600"));
  if (!(Number.isInteger(bins) && bins >= 1 && bins <= 2000))
    throw new RouteError(400, "bad_parameter", `bins is '${get("bins")}'; an integer in [1, 2000] is allowed`, "bins");
  return {
    run: get("run"),
    member: get("member"),
    axis: get("axis", "step"),
    start: big("start"),
    end: big("end"),
    bins,
    include: (get("include", "") || "").split(",").filter(Boolean),
    percentiles: get("percentiles", "5,25,50,75,95,99").split(",").map(Number),
    column: get("column", "step_time_ms"),
    clock: get("clock", "host"),
    format: get("format", "json"),
    ...Object.fromEntries(SIDES.map((name) => [name, parameters.getAll(name)])),
    overrule: get("overrule"),
    minEffect: Number(get("min_effect", "0.03")),
    minTailEffect: Number(get("min_tail_effect", "0.05")),
  };
}

export function answer(backend, route, parameters) {
  try {
    if (!ROUTES.includes(route)) throw new RouteError(404, "not_found", `there is no route '/${route}'`);
    if (route === "runs") return { status: 200, body: JSON.stringify(backend.runs()) };
    if (backend.scenario.broken && route === "bands")
      throw new RouteError(
        500,
        "internal",
        "the store could not read tag 'stepperf/0170/000003': connection to the data server was lost",
      );
    const query = parse(parameters);
    const result = backend[route](query);
    if (query.format === "csv") {
      return {
        status: 200,
        type: "text/csv",
        body: [result.columns.join(","), ...result.rows.map((row) => row.join(","))].join("\n"),
      };
    }
    return { status: 200, body: JSON.stringify(result) };
  } catch (error) {
    if (!(error instanceof RouteError)) throw error;
    const { code, message, parameter } = error;
    return { status: error.status, body: JSON.stringify({ error: { code, message, parameter } }) };
  }
}
