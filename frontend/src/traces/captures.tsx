import { useSignal } from "@preact/signals";

import type { TraceFile } from "../api/traces";
import { MISSING, count } from "../format/numbers";
import { wallTime } from "../format/position";
import { visible } from "../format/text";
import { bytes, time } from "../format/units";
import { memberOf } from "../state/catalog";
import { isUnderWay, type Desk } from "./desk";
import { Grid, type Column } from "./grid";
import { Short } from "./short";
import { costWords, fileName, lostWords, markedWords, reasonWords, windowWords } from "./words";

/** The captures as a table, a row each, and the windows that left no file. */

export interface Choice {
  desk: Desk;
  files: readonly TraceFile[];
}

/** Rank or writer of a file, in words; "" where the run has one member or the file names none. */
export function memberWords({ page }: Desk, { run, member }: Pick<TraceFile, "run" | "member">): string {
  const known = page.catalog.state.value.data?.runs.find((one) => one.run === run);
  if (member === null || !known || known.members.length < 2) return "";
  return memberOf(known, member)?.label ?? visible(member);
}

const AT_FIRST = 8;

export function Captures({ desk, files }: Choice) {
  const several = new Set(files.map(({ run, member }) => JSON.stringify([run, member]))).size > 1;
  const columns: Column<TraceFile>[] = [
    {
      key: "steps",
      title: "Steps",
      text: true,
      value: ({ window }) => (window?.start ? BigInt(window.start) : null),
      cell: (file) => <Where desk={desk} file={file} />,
    },
    ...(several
      ? [
          {
            key: "run",
            title: "Run",
            text: true,
            value: ({ run, member }: TraceFile) => `${run} ${member ?? ""}`,
            cell: (file: TraceFile) => <Owner desk={desk} {...file} />,
          },
        ]
      : []),
    {
      key: "reason",
      title: "Recorded because",
      text: true,
      value: ({ window }) => window?.reason ?? "~",
      cell: ({ window }) => (
        <>
          {reasonWords(window)}
          {window?.error && <small>{visible(window.error)}</small>}
        </>
      ),
    },
    {
      key: "cost",
      title: "Step while profiled",
      hint: "Median step time inside the window, and of the 200 unprofiled steps on either side; and what starting, stopping and exporting took",
      text: true,
      value: ({ window }) =>
        window?.profiled_ms && window.unprofiled_ms ? window.profiled_ms / window.unprofiled_ms : null,
      cell: ({ window }) => (
        <>
          {costWords(window)}
          {window && window.cost_ms !== null && <small>recording took {time(window.cost_ms)} more</small>}
        </>
      ),
    },
    {
      key: "when",
      title: "When",
      value: ({ modified_s: at }) => at,
      cell: ({ modified_s: at }) => (at ? wallTime(at * 1000) : MISSING),
    },
    { key: "size", title: "Size", value: (file) => file.num_bytes, cell: (file) => bytes(file.num_bytes) },
    { key: "state", title: "", cell: (file) => <Action desk={desk} file={file} /> },
  ];
  return (
    <Grid
      caption="Traces"
      rows={files}
      columns={columns}
      rowKey={(file) => file.trace}
      order={{ key: "when", descending: true }}
      cap={AT_FIRST}
      wrap
      look={({ trace }) => (desk.page.traces.choice.value.open === trace ? "chosen" : "")}
      {...(files.length > AT_FIRST
        ? {
            text: (file: TraceFile) =>
              `${file.file} ${file.run} ${reasonWords(file.window)} ${windowWords(file.window)}`,
            searchLabel: "Search traces",
          }
        : {})}
    />
  );
}

/** The steps of a window as they were recorded, else as the file marks them, once it is read. */
function Where({ desk, file }: { desk: Desk; file: TraceFile }) {
  const { summary } = desk.reading(file.trace).value;
  const words = windowWords(file.window) || (summary ? markedWords(summary) : "");
  const part = file.num_parts > 1 ? `part ${file.part} of ${file.num_parts}` : "";
  return (
    <>
      {words ? <b>{words}</b> : <span>{part || (summary ? "no step marked" : "steps known once it is read")}</span>}
      <small title={file.file}>
        {words && part ? `${part} · ` : ""}
        <Short text={fileName(file.file)} length={34} />
      </small>
    </>
  );
}

function Owner({ desk, run, member }: { desk: Desk; run: string; member: string | null }) {
  const label = memberWords(desk, { run, member });
  return (
    <>
      <Short text={run} length={36} />
      {label && <small>{label}</small>}
    </>
  );
}

/** Reads a trace, shows what was read, and hides it again. */
function Action({ desk, file }: { desk: Desk; file: TraceFile }) {
  const { trace } = file;
  const reading = desk.reading(trace).value;
  const open = desk.page.traces.choice.value.open === trace;
  const state = reading.state === "unread" ? file.reading : reading.state;
  const label = open ? "Hide" : state === "done" ? "Show" : isUnderWay({ state } as typeof reading) ? "Follow" : "Read";
  const words = { queued: "waiting", reading: "reading…", refused: "not readable", cancelled: "cancelled" }[
    state as "queued"
  ];
  return (
    <span class="action">
      {words && <small>{words}</small>}
      <button
        type="button"
        class="button"
        aria-expanded={open}
        aria-label={`${label} the trace ${visible(fileName(file.file))}`}
        onClick={() => (open ? desk.close() : desk.open(trace))}
      >
        {label}
      </button>
    </span>
  );
}

const LOST_AT_FIRST = 3;

/** Captures without a file, each with its reason. */
export function LostWindows({ desk, all }: { desk: Desk; all: boolean }) {
  const more = useSignal(false);
  const shown = new Set(desk.page.shown.value.map(({ run }) => run.run));
  const lost = desk.list.value?.windows_without_trace.filter(({ run }) => all || shown.has(run)) ?? [];
  if (!lost.length) return null;
  return (
    <section aria-labelledby="lost-title">
      <h3 id="lost-title">{count(lost.length, "window")} without a trace</h3>
      <ul class="lost">
        {lost.slice(0, more.value ? lost.length : LOST_AT_FIRST).map((window, i) => (
          <li key={i}>
            <Short text={window.run} length={36} />
            {[memberWords(desk, window), ...(window.text ? [] : [windowWords(window), reasonWords(window)])]
              .filter(Boolean)
              .map((words) => (
                <span key={words} class="note">
                  {" "}
                  · {words}
                </span>
              ))}
            : {lostWords(window)}
          </li>
        ))}
      </ul>
      {lost.length > LOST_AT_FIRST && (
        <button type="button" class="button quiet" onClick={() => (more.value = !more.value)}>
          {more.value ? "Show fewer" : `Show all ${lost.length}`}
        </button>
      )}
    </section>
  );
}
