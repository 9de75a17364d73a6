import { useSignal } from "@preact/signals";

import type { Attempt } from "../api/types";
import { integer } from "../format/numbers";
import { wallTime } from "../format/position";
import { visible } from "../format/text";
import { endWords, environmentRows, text } from "../state/environment";
import type { Page } from "../state/page";
import { Panel } from "./panel";
import { Check, Name } from "./parts";

interface Row {
  label: string;
  attempt: Attempt;
  number: number;
}

const MAX_COLUMNS = 12;

/** Under what conditions all this holds: attempts and their environments, definitions, what is not covered. */
export function Conditions({ page }: { page: Page }) {
  const { data } = page.conditions.value;
  if (!data)
    return (
      <Panel id="conditions" title="Conditions">
        <div class="skeleton" />
      </Panel>
    );
  const all = data.data.flatMap((answer, n) =>
    answer.attempts.map((attempt, i): Row => ({ label: data.shown[n]!.label, attempt, number: i + 1 })),
  );
  const rows = all.slice(-MAX_COLUMNS);
  const several = data.data.length > 1;
  const [first] = data.data;
  return (
    <Panel
      id="conditions"
      title="Conditions"
      note={all.length > rows.length ? `the last ${rows.length} of ${all.length} attempts` : undefined}
    >
      {rows.length === 1 ? <OneAttempt attempt={rows[0]!.attempt} /> : <Attempts rows={rows} several={several} />}
      <Changes rows={rows} several={several} />
      <div class="columns">
        <section>
          <h3>Definitions</h3>
          <dl class="definitions">
            {first?.definitions.map(({ term, text: words }) => (
              <div key={term}>
                <dt>{term}</dt>
                <dd>{words}</dd>
              </div>
            ))}
          </dl>
        </section>
        {first && first.not_covered.length > 0 && (
          <section>
            <h3>Not covered</h3>
            <ul>
              {first.not_covered.map((words) => (
                <li key={words}>{words}</li>
              ))}
            </ul>
          </section>
        )}
      </div>
    </Panel>
  );
}

const FACTS: [string, (attempt: Attempt) => string][] = [
  ["started", (attempt) => wallTime(attempt.started_s * 1000)],
  [
    "steps",
    (attempt) =>
      attempt.first_step === null ? "none" : `${integer(attempt.first_step)} – ${integer(attempt.last_step)}`,
  ],
  [
    "rows",
    (attempt) =>
      integer(attempt.num_rows) + (attempt.num_superseded ? ` (${integer(attempt.num_superseded)} superseded)` : ""),
  ],
  ["end", (attempt) => endWords(attempt.end)],
];

function OneAttempt({ attempt }: { attempt: Attempt }) {
  const facts = FACTS.map(([name, value]) => ({ field: name, values: [value(attempt)] }));
  return (
    <dl class="facts">
      {[...facts, ...environmentRows([attempt.environment])].map(({ field, values }) => (
        <div key={field}>
          <dt>{visible(field)}</dt>
          <dd>{values[0]}</dd>
        </div>
      ))}
    </dl>
  );
}

function Attempts({ rows, several }: { rows: Row[]; several: boolean }) {
  const onlyDifferent = useSignal(false);
  const fields = environmentRows(rows.map(({ attempt }) => attempt.environment));
  const shown = onlyDifferent.value ? fields.filter((field) => field.differs) : fields;
  return (
    <>
      <Check checked={onlyDifferent.value} onChange={() => (onlyDifferent.value = !onlyDifferent.value)}>
        Only what differs between attempts
      </Check>
      <div class="table-scroll flat" tabIndex={0}>
        <table class="environment">
          <caption class="hidden">Attempts and their environments</caption>
          <thead>
            <tr>
              <th scope="col">Attempt</th>
              {rows.map((row) => (
                <th key={row.label + row.attempt.attempt} scope="col">
                  {several && (
                    <>
                      <Name text={row.label} /> ·{" "}
                    </>
                  )}
                  {row.number}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {FACTS.map(([name, value]) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                {rows.map((row, i) => (
                  <td key={i}>{value(row.attempt)}</td>
                ))}
              </tr>
            ))}
            {shown.map(({ field, values, differs }) => (
              <tr key={field} class={differs ? "differs" : ""}>
                <th scope="row">
                  {visible(field)}
                  {differs && <span class="hidden"> (differs)</span>}
                </th>
                {values.map((value, i) => (
                  <td key={i}>{value === "" ? <span class="note">unknown</span> : value}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

function Changes({ rows, several }: { rows: Row[]; several: boolean }) {
  const changes = rows.flatMap((row) => row.attempt.changes.map((change) => ({ ...row, change })));
  if (!changes.length) return null;
  return (
    <>
      <h3>Changes while training</h3>
      <ul>
        {changes.map(({ label, number, change }) => (
          <li key={`${label} ${number} ${change.step}`}>
            {several && (
              <>
                <Name text={label} />,{" "}
              </>
            )}
            {rows.length > 1 && `attempt ${number}, `}from step {integer(change.step)}:{" "}
            {Object.entries(change.fields)
              .map(([field, value]) => `${visible(field)} = ${text(value)}`)
              .join("; ")}
          </li>
        ))}
      </ul>
    </>
  );
}
