import type { Marker } from "../api/analysis";
import type { Shown } from "../state/catalog";
import type { Page } from "../state/page";
import { Snippet } from "./parts";

/** Where traces stand on the page. What shows them comes with traces.js, once there is one. */

const CODE = `perf = StepPerfWriter("runs/my_run", capture="regression")  # by itself, when steps get slower

with perf.profile(schedule=torch.profiler.schedule(wait=100, warmup=1, active=3)):  # when you say so
    train(perf)  # the loop that calls perf.step()`;

/** The panel: the traces, or how to record one. */
export function Traces({ page }: { page: Page }) {
  const { traces } = page;
  const tools = traces.tools.part.value;
  const { data, error } = traces.list.state.value;
  if (tools) return <tools.views.Section desk={tools.desk} />;
  const problem = error?.message ?? (traces.tools.failed.value && "What shows traces (traces.js) could not be loaded.");
  if (problem)
    return (
      <section class="panel" aria-label="Traces">
        <p class="note">
          Traces: {problem}{" "}
          <button type="button" class="link" onClick={() => traces.retry()}>
            Try again
          </button>
        </p>
      </section>
    );
  if (!data || data.traces.length || data.windows_without_trace.length) return null;
  return (
    <details class="panel no-traces">
      <summary>
        {data.state === "searching" ? "Looking for traces…" : "No traces here yet."} How to record one with
        torch.profiler
      </summary>
      <p>
        A trace says where inside the step the time goes. Either of these leaves one in the run’s directory; files of{" "}
        <code>tensorboard_trace_handler</code> below the log directory are found too.
      </p>
      <Snippet text={CODE} />
      {data.problems.map((text) => (
        <p key={text} class="note">
          {text}
        </p>
      ))}
    </details>
  );
}

/** The windows around a change, where there are some. */
export function MarkerTraces({ page, marker, shown }: { page: Page; marker: Marker; shown: Shown }) {
  const tools = page.traces.tools.part.value;
  return tools && <tools.views.MarkerLinks desk={tools.desk} marker={marker} shown={shown} />;
}

/** Captures of the first run below its chart. */
export function CaptureLane({ page }: { page: Page }) {
  const tools = page.traces.tools.part.value;
  return tools && <tools.views.Lane desk={tools.desk} />;
}
