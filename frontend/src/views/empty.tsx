import type { Catalog } from "../api/types";
import { count } from "../format/numbers";
import { Name, Snippet } from "./parts";

const CODE = `from tb_stepperf import StepPerfWriter

with StepPerfWriter("runs/my_run") as perf:
    for batch in perf.data(loader):
        train_step(batch)
        perf.step(num_samples=len(batch))`;

/** Nothing to show: why, and what to do. */
export function Empty({ catalog }: { catalog: Catalog }) {
  const others = catalog.num_runs_without_data;
  return (
    <main class="empty">
      <h1>No step performance data yet</h1>
      <p>
        TensorBoard reads{" "}
        <code>
          <Name text={catalog.logdir} />
        </code>
        {others
          ? ` and found ${count(others, "run")} there, but none that was written with tb_stepperf.`
          : " and found no run there. A run appears within seconds of its first flush (every 10 s by default)."}
      </p>
      <p>Add these lines to the training loop:</p>
      <Snippet text={CODE} />
      <p class="note">
        Stages such as <code>with perf.stage("forward"):</code> show where the time goes. This page looks again by
        itself every few seconds.
      </p>
      <Problems catalog={catalog} />
    </main>
  );
}

/** Data that is there and cannot be read, with the way out; many of them are folded. */
export function Problems({ catalog }: { catalog: Catalog }) {
  const { problems } = catalog;
  if (!problems.length) return null;
  const items = (
    <ul aria-label="Problems">
      {problems.map(({ run, message }) => (
        <li key={`${run} ${message}`}>
          {run !== null && (
            <>
              <Name text={run} />:{" "}
            </>
          )}
          {message}
        </li>
      ))}
    </ul>
  );
  if (problems.length <= 3) return <div class="warnings">{items}</div>;
  return (
    <details class="warnings">
      <summary>{count(problems.length, "problem")} in the log directory</summary>
      {items}
    </details>
  );
}

/** What went wrong, in the server's words; the charts below keep what they had. */
export function ErrorBanner({ errors, onRetry }: { errors: readonly Error[]; onRetry: () => void }) {
  if (!errors.length) return null;
  const messages = [...new Set(errors.map((error) => error.message))];
  return (
    <div class="banner" role="alert">
      <div>
        <b>
          {messages.length === 1 ? "Something could not be loaded." : `${messages.length} things could not be loaded.`}
        </b>
        {messages.map((message) => (
          <p key={message}>{message}</p>
        ))}
      </div>
      <button type="button" class="button" onClick={onRetry}>
        Try again
      </button>
    </div>
  );
}
