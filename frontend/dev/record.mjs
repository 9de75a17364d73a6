// Writes answers of the invented back end to dev/recorded/: what the unit tests read, and the shapes of http_api.md
// for the eye. Run it again after a change to dev/mock/; the result depends on nothing else.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { answer } from "./mock/answer.mjs";
import { Backend } from "./mock/routes.mjs";
import { SCENARIOS } from "./mock/scenarios.mjs";
import { compared, cpuSummary, gpuSummary, hostile, stepless } from "./mock/trace-summaries.mjs";
import { TRACE_SCENARIOS, traceAnswer } from "./mock/traces.mjs";

const folder = join(dirname(fileURLToPath(import.meta.url)), "recorded");
mkdirSync(folder, { recursive: true });

const ROUTES = ["summary", "bands", "stages", "memory", "throughput", "marks", "conditions", "markers"];
const BINNED = ["bands", "stages", "memory", "throughput"];

function write(name, value) {
  writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(value)}\n`);
}

const all = new Backend(SCENARIOS.overlay());
const ask = (route, parameters) => JSON.parse(answer(all, route, new URLSearchParams(parameters)).body);

write("runs", ask("runs", {}));
write("empty", JSON.parse(answer(new Backend(SCENARIOS.empty()), "runs", new URLSearchParams()).body));
write("names", JSON.parse(answer(new Backend(SCENARIOS.names()), "runs", new URLSearchParams()).body));
write("error", ask("bands", { run: "resnet50", bins: "9000" }));
const others = new Backend(SCENARIOS.compare());
const comparison = (candidate, extra) =>
  JSON.parse(answer(others, "comparison", new URLSearchParams({ baseline: "resnet50", candidate, ...extra })).body);
write("comparison", {
  regression: comparison("resnet50-augment"),
  same: comparison("resnet50-again"),
  refused: comparison("resnet50-gpu"),
  overruled: comparison("resnet50-gpu", { overrule: "1" }),
  few: comparison("resnet50-short"),
});
const traced = { scenario: TRACE_SCENARIOS.traces() };
const [before, after] = [cpuSummary(2999n, 0.9, { seed: 4 }), cpuSummary(7419n, 3.4, { seed: 5 })];
write("traces", {
  list: JSON.parse(traceAnswer(traced, "traces", new URLSearchParams()).body),
  cpu: after,
  gpu: gpuSummary(400n),
  stepless: stepless(),
  hostile: hostile(),
  comparison: compared(before, after),
});
const changes = new Backend(SCENARIOS.changes());
write("changes", JSON.parse(answer(changes, "markers", new URLSearchParams({ run: "every-kind-of-change" })).body));
for (const run of ["resnet50", "resnet50-preempted", "tiny", "huge-steps", "llama-8b/pretrain"]) {
  const answers = ROUTES.map((route) => [
    route,
    ask(route, { run, ...(BINNED.includes(route) ? { bins: "24" } : {}) }),
  ]);
  write(`run ${run.replaceAll("/", "_")}`, Object.fromEntries(answers));
}
