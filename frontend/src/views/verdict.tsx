import type { Clock, Summary } from "../api/types";
import { keyOf, type Shown } from "../state/catalog";
import type { Page } from "../state/page";
import { makePrimary } from "../state/view";
import { MISSING, integer, percent } from "../format/numbers";
import { position } from "../format/position";
import { columnLabel, sentence, visible } from "../format/text";
import { bytes, rate, time } from "../format/units";
import { RUN_COLORS } from "../charts/colors";
import { HeadRow, Name, Swatch } from "./parts";
import { evidence, headline, statsOf, warnings } from "./words";

/** Is it slow, where, and on what do the numbers stand: a sentence first, then the numbers. */
export function Verdict({ page }: { page: Page }) {
  const { data } = page.summary.value;
  const [first] = data?.data ?? [];
  if (!data || !first) return <section class="verdict skeleton" aria-label="Loading the summary" />;
  return (
    <section class="verdict" aria-label="Summary">
      {data.data.length === 1 ? (
        <Single summary={first} label={data.shown[0]!.label} page={page} />
      ) : (
        <>
          <p class="eyebrow">
            <Name text={data.shown[0]!.label} />
          </p>
          <p class="headline">
            <Headline page={page} summary={first} />
          </p>
          <Several shown={data.shown} summaries={data.data} page={page} />
        </>
      )}
      <p class="evidence">
        <RangeWords page={page} />
        {data.data.length === 1 && evidence(first).map((words) => <span key={words}>{sentence(words)}</span>)}
      </p>
      <Warnings shown={data.shown} summaries={data.data} />
    </section>
  );
}

function RangeWords({ page }: { page: Page }) {
  const { range, axis } = page.view.value;
  if (!range) return <span>Whole run</span>;
  return (
    <span class="zoomed">
      Only {axis === "step" ? "steps" : ""} {position(axis, BigInt(range.start))} to{" "}
      {position(axis, BigInt(range.end) - (axis === "step" ? 1n : 0n))}
    </span>
  );
}

interface Tile {
  label: string;
  value: string;
  sub?: string;
}

export function tiles(summary: Summary, clock: Clock): Tile[] {
  const stats = statsOf(summary, clock);
  const peak = summary.peaks[0];
  const { samples_per_s: samples, tokens_per_s: tokens } = summary.throughput;
  const speed = samples !== null ? rate(samples, "samples/s") : rate(tokens, "tokens/s");
  return [
    { label: "Median step", value: time(stats.p50), sub: `mean ${time(stats.mean)}` },
    { label: "p95", value: time(stats.p95), sub: ratio(stats.p95, stats.p50) },
    { label: "p99", value: time(stats.p99), sub: ratio(stats.p99, stats.p50) },
    { label: "Longest", value: time(stats.max), sub: stats.max_step === null ? "" : `step ${integer(stats.max_step)}` },
    { label: "Coverage", value: percent(summary.coverage), sub: "of step labelled" },
    {
      label: peak ? sentence(columnLabel(peak.column)) : "Peak memory",
      value: bytes(peak?.value),
      sub: peak && peak.step !== null ? `step ${integer(peak.step)}` : "not measured",
    },
    {
      label: "Throughput",
      value: speed,
      sub:
        samples !== null && tokens !== null
          ? rate(tokens, "tokens/s")
          : speed === MISSING
            ? "no counts given"
            : "of this process",
    },
  ];
}

function ratio(value: number | null, median: number | null): string {
  return value === null || median === null || median === 0 ? "" : `${(value / median).toFixed(2)} × median`;
}

/** How long a step takes and, if that changed in the first run, since when, by how much and where: first. */
function Headline({ page, summary }: { page: Page; summary: Summary }) {
  const typical = <span>{headline(summary, page.view.value.clock)}</span>;
  const { data } = page.analyses.markers.state.value;
  const [answer] = data?.data ?? [];
  const [primary] = page.shown.value;
  if (!answer || !primary || keyOf(data!.shown[0]!) !== keyOf(primary)) return typical;
  const whole = page.view.value.range ? "Whole run: " : "";
  if (answer.verdict_marker !== null)
    return (
      <>
        <span class="finding">{whole + visible(answer.verdict ?? "")}</span> {typical}
      </>
    );
  return (
    <>
      {typical} <span class="finding quiet">{answer.verdict ? whole + answer.verdict : "Looking for changes…"}</span>
    </>
  );
}

function Single({ summary, label, page }: { summary: Summary; label: string; page: Page }) {
  const { clock } = page.view.value;
  return (
    <>
      <p class="eyebrow">
        <Name text={label} />
        {statsOf(summary, clock) === summary.device_step_time_ms && ", device clock"}
      </p>
      <p class="headline">
        <Headline page={page} summary={summary} />
      </p>
      <dl class="tiles">
        {tiles(summary, clock).map(({ label, value, sub }) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>
              <Value text={value} />
              <small>{sub || "\u00a0"}</small>
            </dd>
          </div>
        ))}
      </dl>
    </>
  );
}

/** A number with its unit in smaller type. */
function Value({ text }: { text: string }) {
  const [, number = text, unit = ""] = /^(\S+)(\s.*)?$/.exec(text) ?? [];
  return (
    <b>
      {number}
      {unit && <span class="unit">{unit}</span>}
    </b>
  );
}

function Several({ shown, summaries, page }: { shown: Shown[]; summaries: Summary[]; page: Page }) {
  const { clock } = page.view.value;
  const median = statsOf(summaries[0]!, clock).p50;
  return (
    <div class="table-scroll flat">
      <table class="runs-table">
        <caption class="hidden">Summary of each run that is shown</caption>
        <thead>
          <HeadRow
            texts={["Run", "Median", "p95", "p99", "Longest", "Coverage", "Peak memory", "Throughput", "Steps used"]}
          />
        </thead>
        <tbody>
          {summaries.map((summary, i) => {
            const [p50, p95, p99, max, coverage, peak, speed] = tiles(summary, clock);
            const entry = shown[i]!;
            return (
              <tr key={entry.label}>
                <th scope="row">
                  <button
                    type="button"
                    class="link"
                    onClick={() => page.change((view) => makePrimary(view, i))}
                    title="Make this the first run"
                  >
                    <Swatch color={RUN_COLORS[entry.color % RUN_COLORS.length]!} />
                    <Name text={entry.label} />
                  </button>
                </th>
                <td>
                  {p50!.value}{" "}
                  <small>{i === 0 ? "compared with" : difference(statsOf(summary, clock).p50, median)}</small>
                </td>
                <td>{p95!.value}</td>
                <td>{p99!.value}</td>
                <td>
                  {max!.value} <small>{max!.sub}</small>
                </td>
                <td>{coverage!.value}</td>
                <td>{peak!.value}</td>
                <td>{speed!.value}</td>
                <td>
                  {integer(summary.sample.num_used)} <small>of {integer(summary.sample.num_in_range)}</small>
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

/** Difference of two medians as per cent: "+26 %". */
export function difference(value: number | null, reference: number | null): string {
  if (value === null || reference === null || reference === 0) return MISSING;
  const change = (value / reference - 1) * 100;
  const text = Math.abs(change) < 10 ? Math.abs(change).toFixed(1) : Math.abs(change).toFixed(0);
  return `${change < 0 ? "−" : "+"}${text} %`;
}

function Warnings({ shown, summaries }: { shown: Shown[]; summaries: Summary[] }) {
  const several = summaries.length > 1;
  const all = summaries.flatMap((summary, i) =>
    warnings(summary, shown[i]!).map((text) => ({ text, label: shown[i]!.label })),
  );
  if (!all.length) return null;
  return (
    <ul class="warnings" aria-label="Limits of these numbers">
      {all.map(({ text, label }) => (
        <li key={label + text}>
          {several && (
            <>
              <Name text={label} />:{" "}
            </>
          )}
          {several ? text : sentence(text)}.
        </li>
      ))}
    </ul>
  );
}
