import { useLayoutEffect, useRef } from "preact/hooks";

import type { OperatorDifference, PartDifference, WindowComparison } from "../api/traces";
import { integer, MISSING, percent, significant } from "../format/numbers";
import { visible } from "../format/text";
import { time } from "../format/units";
import { HeadRow, styled } from "../views/parts";
import { isUnderWay, type Comparing, type Desk, type Reading } from "./desk";
import { Grid, type Column } from "./grid";
import { ReadingState } from "./progress";
import { Short } from "./short";
import { PART_NAMES, traceName } from "./words";

/** Two windows side by side: what changed, and in which operators. */
export function Pair({ desk, before, after }: { desk: Desk; before: string; after: string }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    heading.current?.scrollIntoView({ block: "nearest" });
  }, []);
  const now = desk.comparing.value;
  return (
    <article class="trace" id="trace-comparison" aria-labelledby="pair-title">
      <header class="panel-head">
        <h3 id="pair-title" ref={heading} tabIndex={-1}>
          <Name desk={desk} trace={before} /> compared with <Name desk={desk} trace={after} />
        </h3>
        <div class="controls">
          <button type="button" class="button quiet" onClick={() => desk.comparePair(after, before)}>
            Swap
          </button>
          <button type="button" class="button quiet" onClick={() => desk.endComparison()}>
            Hide
          </button>
        </div>
      </header>
      {now && <Sides desk={desk} now={now} />}
      {now?.comparison && <Compared found={now.comparison} />}
    </article>
  );
}

function Name({ desk, trace }: { desk: Desk; trace: string }) {
  const file = desk.file(trace);
  return (
    <button type="button" class="link" onClick={() => desk.open(trace)} title="Show this trace">
      {file ? traceName(file) : "a trace that is not listed"}
    </button>
  );
}

/** How far the two are, as long as there is no comparison. */
function Sides({ desk, now }: { desk: Desk; now: Comparing }) {
  if (now.error !== null)
    return (
      <div class="reading">
        <p class="warnings">Could not be compared: {visible(now.error)}</p>
        <button type="button" class="button" onClick={() => void desk.compare()}>
          Try again
        </button>
      </div>
    );
  if (now.comparison) return null;
  const both: [string, Reading][] = [
    ["Before", now.before],
    ["After", now.after],
  ];
  const stop = () => void desk.cancelPair();
  return (
    <dl class="pair-sides">
      {both.map(([name, reading]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            {reading.state === "done" ? (
              "Read."
            ) : (
              <ReadingState reading={reading} onCancel={stop} onRead={() => void desk.compare()} />
            )}
          </dd>
        </div>
      ))}
      {both.every(([, { state }]) => state === "done") && !both.some(([, one]) => isUnderWay(one)) && (
        <p class="note">Both are read; comparing.</p>
      )}
    </dl>
  );
}

/** "+1.20 ms" or "−40 µs". */
export function signedTime(ms: number | null): string {
  if (ms === null) return MISSING;
  const text = time(Math.abs(ms));
  return ms === 0 || text === "0 ms" ? "0 ms" : `${ms < 0 ? "−" : "+"}${text}`;
}

function Compared({ found }: { found: WindowComparison }) {
  const unit = found.per === "step" ? "a step" : "in the whole trace";
  return (
    <>
      <p class="sentence">{visible(found.sentence)}</p>
      {found.notes.length > 0 && (
        <ul class="notes">
          {found.notes.map((note) => (
            <li key={note}>{visible(note)}</li>
          ))}
        </ul>
      )}
      <Parts found={found} />
      <section aria-labelledby="operators-title">
        <h4 id="operators-title">Operators by their contribution</h4>
        <p class="note">
          Self time {unit} on the {found.basis}; matched by the operator’s name, not by kernels.
        </p>
        <Operators found={found} />
      </section>
    </>
  );
}

/** Coloured is what matters beside the whole: a fiftieth of the step, either way. */
function moved(change: number, { before_ms: before, after_ms: after }: WindowComparison): string {
  if (Math.abs(change) < 0.02 * Math.max(before ?? 0, after ?? 0) || change === 0) return "";
  return change > 0 ? "slower" : "faster";
}

function Parts({ found }: { found: WindowComparison }) {
  const parts = found.parts.filter((part) => part.before_ms || part.after_ms);
  const longest = Math.max(...parts.flatMap((part) => [part.before_ms, part.after_ms]), 1e-9);
  const row = (name: string, part: Omit<PartDifference, "part">, bars: boolean) => {
    const at = (ms: number) => `${(ms / longest) * 100}%`;
    return (
      <tr key={name}>
        <th scope="row">{name}</th>
        <td class="bars">
          {bars && (
            <div aria-hidden="true">
              <i class="before" ref={styled({ width: at(part.before_ms) })} />
              <i class={moved(part.change_ms, found)} ref={styled({ width: at(part.after_ms) })} />
            </div>
          )}
        </td>
        <td>{time(part.before_ms)}</td>
        <td>{time(part.after_ms)}</td>
        <td>{signedTime(part.change_ms)}</td>
      </tr>
    );
  };
  const { before_ms, after_ms, change_ms } = found;
  return (
    <div class="table-scroll flat">
      <table class="parts">
        <caption class="hidden">Parts of the step before and after</caption>
        <thead>
          <HeadRow texts={["Part of the step", "Before (outline) and after", "Before", "After", "Change"]} />
        </thead>
        <tbody>{parts.map((part) => row(PART_NAMES[part.part] ?? visible(part.part), part, true))}</tbody>
        {before_ms !== null && after_ms !== null && change_ms !== null && (
          <tfoot>
            {row(found.per === "step" ? "whole step" : "whole trace", { before_ms, after_ms, change_ms }, false)}
          </tfoot>
        )}
      </table>
    </div>
  );
}

const number = (value: number | null): string =>
  value === null ? MISSING : Number.isInteger(value) ? integer(value) : significant(value);
const us = (value: number | null): string => (value === null ? MISSING : time(value / 1000));

function Operators({ found }: { found: WindowComparison }) {
  const columns: Column<OperatorDifference>[] = [
    {
      key: "name",
      title: "Operator",
      text: true,
      value: (row) => row.name,
      cell: (row) => (
        <>
          <Short text={row.name} length={36} />
          {row.is_annotation && <small> annotation</small>}
        </>
      ),
    },
    {
      key: "change",
      title: "Contribution",
      hint: "Sorted by its size, whichever its direction",
      value: (row) => Math.abs(row.change_ms),
      cell: (row) => <b class={moved(row.change_ms, found)}>{signedTime(row.change_ms)}</b>,
    },
    { key: "share", title: "Share of the change", value: (row) => row.share, cell: (row) => percent(row.share) },
    {
      key: "time",
      title: `Time ${found.per === "step" ? "a step" : ""}`,
      value: (row) => row.after_ms,
      cell: (row) => `${time(row.before_ms)} → ${time(row.after_ms)}`,
    },
    {
      key: "calls",
      title: `Calls ${found.per === "step" ? "a step" : ""}`,
      value: (row) => row.after_calls,
      cell: (row) => `${number(row.before_calls)} → ${number(row.after_calls)}`,
    },
    {
      key: "mean",
      title: "Mean of a call",
      value: (row) => row.after_mean_us,
      cell: (row) => `${us(row.before_mean_us)} → ${us(row.after_mean_us)}`,
    },
  ];
  return (
    <Grid
      caption="Operators compared"
      rows={found.operators}
      columns={columns}
      rowKey={(row) => JSON.stringify([row.name, row.is_annotation])}
      order={{ key: "change", descending: true }}
      cap={20}
      text={(row) => row.name}
      searchLabel="Search operators"
      total={found.num_operators}
    />
  );
}
