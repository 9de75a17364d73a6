import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";

import type { Comparison as Answer } from "../api/analysis";
import { Chart } from "../charts/chart";
import { intervalScale, quantileModel, type IntervalScale } from "../charts/differences";
import { RUN_COLORS } from "../charts/colors";
import { interval, signed } from "../format/changes";
import { significant } from "../format/numbers";
import { list, visible } from "../format/text";
import type { Compared, Comparisons } from "../state/analyses";
import type { Page } from "../state/page";
import { chooseBaseline } from "../state/view";
import { Checks, Levels, Samples } from "./comparison-details";
import { Attribution } from "./attribution";
import { Intervals } from "./intervals";
import { Panel } from "./panel";
import { Name, Swatch } from "./parts";

/** Is the candidate slower than the baseline? There where at least two runs are shown. */
export function Comparison({ page }: { page: Page }) {
  const runs = page.analyses.runs.value;
  const baseline = page.analyses.baseline.value;
  const { data, loading } = page.analyses.comparison.state.value;
  if (runs.length < 2 || !baseline) return null;
  const known = data?.candidates.flatMap((one) => one.data ?? []) ?? [];
  const missing = runs.length - 1 - (data?.candidates.length ?? 0);
  return (
    <Panel
      id="comparison"
      title="Comparison with a baseline"
      note="whole runs, without warm-up"
      controls={
        <label class="field">
          Baseline
          <select
            value={baseline.run.run}
            onChange={({ currentTarget: { value } }) => page.change((view) => chooseBaseline(view, value))}
          >
            {runs.map(({ run }) => (
              <option key={run.run} value={run.run}>
                {visible(run.run)}
              </option>
            ))}
          </select>
        </label>
      }
    >
      {known[0] && <Reading first={known[0]} />}
      {[...new Set(known.flatMap((one) => one.spread_note ?? []))].map((note) => (
        <p key={note} class="note">
          {note}
        </p>
      ))}
      {data?.candidates.map((one) => (
        <Candidate key={one.candidate.run.run} page={page} one={one} scale={intervalScale(known)} />
      ))}
      {loading && missing > 0 && (
        <p class="note" role="status">
          Comparing {missing} more {missing === 1 ? "run" : "runs"}…
        </p>
      )}
      {data && <Quantiles data={data} />}
      {known[0] && <p class="note">{known[0].definition}</p>}
    </Panel>
  );
}

/** How to read the intervals. */
function Reading({ first }: { first: Answer }) {
  const limit = (effect: number) => `±${significant(effect * 100, 2).replace(/\.0$/, "")} %`;
  return (
    <p class="note">
      ├ ┤ 95 % interval of the change against the baseline; ▲ slower, ▼ faster, ● not clear or too small. Grey: too
      small to matter ({limit(first.min_effect)}; p95 {limit(first.min_tail_effect)}).
    </p>
  );
}

/** Shape and word of each verdict. */
export const BADGES: Record<string, [shape: string, look: string]> = {
  regression: ["▲", "slower"],
  "tail regression": ["▲", "slower"],
  improvement: ["▼", "faster"],
  same: ["=", "same"],
  "insufficient data": ["?", "unsure"],
  "not comparable": ["≠", "unsure"],
};

function Candidate({ page, one, scale }: { page: Page; one: Compared; scale: IntervalScale }) {
  const { candidate, data, error } = one;
  const name = candidate.run.run;
  const [shape, look] = BADGES[data?.verdict ?? ""] ?? ["?", "unsure"];
  return (
    <article class="compared" aria-label={`${visible(name)} compared`}>
      <h3>
        {data && (
          <span class={`badge ${look}`}>
            {shape} {data.verdict}
          </span>
        )}
        <Swatch color={RUN_COLORS[candidate.color % RUN_COLORS.length]!} />
        <Name text={name} />
      </h3>
      {error && <p class="warnings">Could not be compared: {error.message}</p>}
      {data && (
        <>
          <p class="sentence">{visible(data.sentence)}</p>
          {data.overruled.length > 0 && (
            <p class="warnings">Compared although conditions differ: {list(data.overruled.map(visible))}.</p>
          )}
          {data.needed && <p>{data.needed.text}</p>}
          {data.measures.some(({ change }) => change !== null) && <Intervals comparison={data} scale={scale} />}
          {data.notes.map((note) => (
            <p key={note} class="note">
              {note}
            </p>
          ))}
          <Checks page={page} run={name} comparison={data} />
          {data.levels.length > 0 && <Levels comparison={data} />}
          {data.attribution && (
            <details>
              <summary>Where in the step</summary>
              <Attribution found={data.attribution} sides={["baseline", "candidate"]} />
            </details>
          )}
          <Samples comparison={data} />
        </>
      )}
    </article>
  );
}

/** The whole distribution: by how much each percentile differs. */
function Quantiles({ data }: { data: Comparisons }) {
  const cursor = useSignal<number | null>(null);
  const selection = useSignal<[number, number] | null>(null);
  const model = useMemo(() => quantileModel(data), [data]);
  if (!model) return null;
  const at = cursor.value === null ? null : nearest(model.x, cursor.value);
  const known = data.candidates.flatMap(({ candidate, data: one }) =>
    one?.quantiles ? [{ candidate, curve: one.quantiles }] : [],
  );
  const words = known.map(({ candidate, curve }) => {
    const i = curve.percentiles.indexOf(at ?? 50);
    const range = interval(curve.low[i], curve.high[i]);
    return { candidate, text: `${signed(curve.change[i])}${range && ` (${range})`}` };
  });
  return (
    <section aria-labelledby="quantiles-title" class="quantiles">
      <h3 id="quantiles-title">Difference at each percentile</h3>
      <p class="note">
        p50 is the typical step, p99 the slowest 1 in 100. Above 0: slower than the baseline. Coloured: 95 % interval;
        grey: too small to matter.
      </p>
      <Chart
        model={model}
        domain={[0, 100]}
        height={190}
        stops={model.x}
        cursor={cursor}
        selection={selection}
        onZoom={() => (selection.value = null)}
        onReset={() => (selection.value = null)}
        summary={`Difference of each percentile. At the median: ${list(words.map(({ candidate, text }) => `${visible(candidate.run.run)} ${text}`))}.`}
      />
      <ul class="key" aria-live="polite">
        <li>p{at ?? 50}:</li>
        {words.map(({ candidate, text }) => (
          <li key={candidate.run.run}>
            <Swatch color={RUN_COLORS[candidate.color % RUN_COLORS.length]!} />
            <Name text={candidate.run.run} /> <b>{text}</b>
          </li>
        ))}
      </ul>
    </section>
  );
}

const nearest = (values: readonly number[], x: number): number =>
  values.reduce((best, value) => (Math.abs(value - x) < Math.abs(best - x) ? value : best), values[0]!);
