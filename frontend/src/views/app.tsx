import type { Catalog } from "../api/types";
import type { Page } from "../state/page";
import { Changes } from "./changes";
import { Comparison } from "./comparison";
import { Conditions } from "./conditions";
import { Empty, ErrorBanner, Problems } from "./empty";
import { Memory } from "./memory";
import { ChartSkeleton } from "./panel";
import { RunPicker } from "./run-picker";
import { Stages } from "./stages";
import { StepTime } from "./step-time";
import { Throughput } from "./throughput";
import { Toolbar } from "./toolbar";
import { Traces } from "./traces";
import { Verdict } from "./verdict";

/** One run of one process needs no list to choose from. */
const hasChoice = ({ runs }: Catalog): boolean => runs.length > 1 || runs.some((run) => run.members.length > 1);

/** The whole tab. */
export function App({ page }: { page: Page }) {
  const { data: catalog } = page.catalog.state.value;
  const banner = <ErrorBanner errors={page.errors.value} onRetry={() => void page.retry()} />;
  if (!catalog) {
    return (
      <main class="content start">
        {banner}
        {!page.errors.value.length && [90, 300, 240].map((height) => <ChartSkeleton key={height} height={height} />)}
      </main>
    );
  }
  if (!catalog.runs.length)
    return (
      <>
        {banner}
        {page.traces.tools.part.value && (
          <div class="content">
            <Traces page={page} />
          </div>
        )}
        <Empty catalog={catalog} />
      </>
    );
  return (
    <div class="layout">
      {hasChoice(catalog) && <RunPicker page={page} />}
      <main class="content">
        <Toolbar page={page} />
        {banner}
        <Problems catalog={catalog} />
        {page.readable.value.length ? (
          <Panels page={page} />
        ) : (
          <p class="failed">No step of this run can be read yet.</p>
        )}
      </main>
    </div>
  );
}

function Panels({ page }: { page: Page }) {
  return (
    <>
      <Verdict page={page} />
      <StepTime page={page} />
      <Changes page={page} />
      <Comparison page={page} />
      <Traces page={page} />
      <Stages page={page} />
      <Memory page={page} />
      <Throughput page={page} />
      <Conditions page={page} />
    </>
  );
}
