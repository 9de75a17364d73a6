import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";

import type { TraceFile, TraceSummary } from "../api/traces";
import { percent } from "../format/numbers";
import { visible } from "../format/text";
import { bytes } from "../format/units";
import { Breakdown } from "./breakdown";
import type { Desk } from "./desk";
import { Memory } from "./memory";
import { stretchOf, type Stretch } from "./perfetto";
import { ReadingState } from "./progress";
import { Short } from "./short";
import { Tables } from "./tables";
import { factWords, fileName, headlineWords, launchWords, reasonWords, stepName, windowWords } from "./words";

/** One trace: what is slow in it and on what that stands, or why it could not be read. */
export function Trace({ desk, trace }: { desk: Desk; trace: string }) {
  const root = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    root.current?.scrollIntoView({ block: "nearest" });
  }, []);
  const file = desk.file(trace);
  const reading = desk.reading(trace).value;
  return (
    <article class="trace" id="trace" ref={root} aria-labelledby="trace-title">
      <header class="panel-head">
        <h3 id="trace-title" tabIndex={-1}>
          {file ? <Short text={fileName(file.file)} length={70} /> : "A trace that is not listed"}
        </h3>
        {file && (
          <p class="note">
            {!desk.page.shown.value.some(({ run }) => run.run === file.run) && (
              <>
                of <Short text={file.run} length={40} />,{" "}
              </>
            )}
            {[windowWords(file.window), reasonWords(file.window)].filter(Boolean).join(", ")}
          </p>
        )}
        <div class="controls">
          {file && reading.state !== "refused" && <Ways desk={desk} file={file} summary={reading.summary} />}
          <button type="button" class="button quiet" onClick={() => desk.close()}>
            Hide
          </button>
        </div>
      </header>
      {file && reading.state !== "refused" && <Handed desk={desk} file={file} />}
      <ReadingState reading={reading} onCancel={() => void desk.cancel(trace)} onRead={() => void desk.read(trace)} />
      {file && reading.summary && <Read desk={desk} file={file} summary={reading.summary} />}
    </article>
  );
}

/** The step that a capture is about, or the first whole one of the trace. */
function stepOfInterest({ steps }: TraceSummary, about: string | null): string | null {
  const whole = steps.filter((step) => step.cut === null);
  const pool = whole.length ? whole : steps;
  const exact = pool.find(({ step }) => step === about);
  return (exact ?? pool[0])?.step ?? null;
}

/** Perfetto, at a step, and the download. */
function Ways({ desk, file, summary }: { desk: Desk; file: TraceFile; summary: TraceSummary | null }) {
  const chosen = useSignal<string | null>(null);
  const steps = summary?.steps ?? [];
  const step = chosen.value ?? (summary && stepOfInterest(summary, file.window?.about_step ?? null)) ?? "";
  const stretch = (): Stretch | null => {
    const slice = steps.find((one) => one.step === step);
    return summary && slice
      ? stretchOf(summary.info.origin_s, slice.start_ms, slice.start_ms + slice.duration_ms)
      : null;
  };
  const open = () =>
    void desk.perfetto.open(desk.list.peek()?.perfetto_url ?? "", {
      trace: file.trace,
      title: `${file.run} ${windowWords(file.window)}`.trim(),
      fileName: fileName(file.file),
      stretch: stretch(),
    });
  return (
    <>
      <button type="button" class="button" onClick={open}>
        Open in Perfetto
      </button>
      {steps.length > 0 && (
        <label class="field">
          at
          <select value={step} onChange={({ currentTarget }) => (chosen.value = currentTarget.value)}>
            {steps.map((one, i) => (
              <option key={i} value={one.step}>
                {stepName({ ...one, cut: null })}
              </option>
            ))}
            <option value="">its beginning</option>
          </select>
        </label>
      )}
      <a class="button" href={desk.fileUrl(file.trace)} download>
        Download
      </a>
    </>
  );
}

/** How handing the trace over to Perfetto went. */
function Handed({ desk, file }: { desk: Desk; file: TraceFile }) {
  const { state, message } = desk.perfetto.state.value?.trace === file.trace ? desk.perfetto.state.value : {};
  if (state === "failed")
    return (
      <p class="warnings" role="alert">
        {visible(message ?? "")}{" "}
        <a href={desk.fileUrl(file.trace)} download>
          Download the trace
        </a>{" "}
        and open the file there, or in another viewer.
      </p>
    );
  const words = {
    opening: "Waiting for Perfetto to answer…",
    fetching: `Perfetto is there; fetching ${bytes(file.num_bytes)}…`,
    done: "Handed over to Perfetto.",
  }[state as "opening"];
  return (
    <p class="note" role="status">
      {words && <b>{words} </b>}Perfetto and the download get only the events, without the file’s other metadata; the
      hand-over stays in this browser, nothing is uploaded.
    </p>
  );
}

function Read({ desk, file, summary }: { desk: Desk; file: TraceFile; summary: TraceSummary }) {
  const launches = launchWords(summary);
  return (
    <>
      <p class="sentence">{headlineWords(summary)}</p>
      <p class="evidence">
        {factWords(summary, file).map((words) => (
          <span key={words}>{words}</span>
        ))}
      </p>
      {summary.info.notes.length > 0 && (
        <ul class="notes" aria-label="Notes on this trace">
          {summary.info.notes.map((note) => (
            <li key={note}>{visible(note)}</li>
          ))}
        </ul>
      )}
      <Findings summary={summary} />
      <Breakdown summary={summary} />
      {launches && (
        <section>
          <h4>Launches</h4>
          <p>{launches}</p>
        </section>
      )}
      <Memory summary={summary} />
      <Tables desk={desk} trace={file.trace} summary={summary} />
    </>
  );
}

/** What may be the cause, first. */
function Findings({ summary: { findings, step_ms: step } }: { summary: TraceSummary }) {
  const whole = step === null ? "trace" : "step";
  return (
    <section aria-labelledby="findings-title">
      <h4 id="findings-title">Findings: candidates, not proven causes</h4>
      {findings.length === 0 ? (
        <p class="note">No rule speaks: no part of the {whole} stands out as a cause that the rules know.</p>
      ) : (
        <ol class="findings">
          {findings.map((finding) => (
            <li key={finding.rule}>
              <p>
                <b>{visible(finding.candidate)}</b>{" "}
                <span class="badge" title={`Part of the ${whole} that is at stake`}>
                  {percent(finding.share)} of the {whole}
                </span>
              </p>
              <dl>
                <dt>Evidence</dt>
                <dd>{visible(finding.evidence)}</dd>
                <dt>Next check</dt>
                <dd>{visible(finding.next_check)}</dd>
                <dt>Limit</dt>
                <dd>{visible(finding.limit)}</dd>
              </dl>
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}
