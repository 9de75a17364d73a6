import { useSignal } from "@preact/signals";

import { changeRows } from "../state/change-list";
import type { TraceFile } from "../api/traces";
import { count, integer } from "../format/numbers";
import { visible } from "../format/text";
import { Panel } from "../views/panel";
import { Segmented } from "../views/parts";
import { Captures, LostWindows, memberWords } from "./captures";
import type { Desk } from "./desk";
import { defaultPair } from "./nearest";
import { Pair } from "./pair";
import { Trace } from "./trace";
import { traceName } from "./words";

/** Traces: which there are, what one says, and what differs between two. */
export function Section({ desk }: { desk: Desk }) {
  const all = useSignal(false);
  const { page } = desk;
  const { data: list, error } = page.traces.list.state.value;
  if (!list) return null;
  const shown = new Set(page.shown.value.map(({ run }) => run.run));
  const own = list.traces.filter(({ run }) => shown.has(run));
  const others = list.traces.length - own.length;
  /** Without any run that has steps there are only traces. */
  const every = all.value || !shown.size;
  const files = every ? list.traces : own;
  const { open, before, after } = page.traces.choice.value;
  return (
    <Panel
      id="traces"
      title="Traces"
      note="torch.profiler files; none is read until you ask"
      controls={
        shown.size > 0 &&
        (others > 0 || all.value) && (
          <Segmented
            label="Traces of"
            value={all.value ? "all" : "shown"}
            onChange={(value) => (all.value = value === "all")}
            options={[
              {
                value: "shown",
                text: `Shown ${page.shown.value.length > 1 ? "runs" : "run"} (${integer(own.length)})`,
              },
              { value: "all", text: `All (${integer(list.traces.length)})` },
            ]}
          />
        )
      }
    >
      {list.state === "searching" && (
        <p class="note" role="status">
          Still searching: {count(list.num_files_seen, "file")} seen so far.
        </p>
      )}
      {error && <p class="note">The list could not be read anew: {error.message}</p>}
      <Problems problems={list.problems} />
      {files.length > 0 ? (
        <Captures desk={desk} files={files} />
      ) : (
        <p class="note">
          No trace of {page.shown.value.length > 1 ? "these runs" : "this run"}
          {others > 0 && `; ${count(others, "other trace")} below the log directory`}.
        </p>
      )}
      <LostWindows desk={desk} all={every} />
      {open !== null && <Trace key={open} desk={desk} trace={open} />}
      {files.length > 1 && <Chooser key={JSON.stringify([before, after])} desk={desk} files={files} />}
      {before !== null && after !== null && (
        <Pair key={`${before} ${after}`} desk={desk} before={before} after={after} />
      )}
    </Panel>
  );
}

function Problems({ problems }: { problems: readonly string[] }) {
  if (!problems.length) return null;
  const items = (
    <ul aria-label="Problems while searching for traces">
      {problems.map((problem) => (
        <li key={problem}>{visible(problem)}</li>
      ))}
    </ul>
  );
  if (problems.length <= 2) return <div class="warnings">{items}</div>;
  return (
    <details class="warnings">
      <summary>{count(problems.length, "problem")} while searching for traces</summary>
      {items}
    </details>
  );
}

const MOST_OPTIONS = 300;

/** Which two windows to compare. */
function Chooser({ desk, files }: { desk: Desk; files: readonly TraceFile[] }) {
  const { page } = desk;
  const { data } = page.analyses.markers.state.value;
  const chosen = page.traces.choice.value;
  const standard = defaultPair(data ? changeRows(data) : [], files);
  const before = useSignal<string | null>(chosen.before);
  const after = useSignal<string | null>(chosen.after);
  const first = before.value ?? standard.before?.trace ?? files[0]!.trace;
  const second = after.value ?? standard.after?.trace ?? files.at(-1)!.trace;
  const several = new Set(files.map(({ run, member }) => JSON.stringify([run, member]))).size > 1;
  const options = files.slice(-MOST_OPTIONS);
  for (const trace of [first, second]) {
    const file = desk.file(trace);
    if (file && !options.includes(file)) options.unshift(file);
  }
  const label = (file: TraceFile) =>
    [traceName(file), several ? visible(file.run) : "", several ? memberWords(desk, file) : ""]
      .filter(Boolean)
      .join(" · ");
  return (
    <form
      class="chooser"
      aria-label="Compare two windows"
      onSubmit={(event) => {
        event.preventDefault();
        if (first !== second) desk.comparePair(first, second);
      }}
    >
      <b>Compare two windows</b>
      <Side name="before" value={first} options={options} label={label} onChange={(trace) => (before.value = trace)} />
      <Side name="after" value={second} options={options} label={label} onChange={(trace) => (after.value = trace)} />
      <button type="submit" class="button" disabled={first === second}>
        Compare
      </button>
      {first === second && <span class="note">Choose two different traces.</span>}
    </form>
  );
}

interface SideProps {
  name: string;
  value: string;
  options: readonly TraceFile[];
  label: (file: TraceFile) => string;
  onChange: (trace: string) => void;
}

function Side({ name, value, options, label, onChange }: SideProps) {
  return (
    <label class="field">
      {name}
      <select value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        {options.map((file) => (
          <option key={file.trace} value={file.trace}>
            {label(file)}
          </option>
        ))}
      </select>
    </label>
  );
}
