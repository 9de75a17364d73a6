import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";

import type { Comparison as Answer } from "../api/analysis";
import { Chart } from "../charts/chart";
import { intervalScale, outsideWords, quantileModel, type IntervalScale } from "../charts/differences";
import { RUN_COLORS } from "../charts/colors";
import { interval, signed } from "../format/changes";
import { significant } from "../format/numbers";
import { list, visible } from "../format/text";
import { sideKey, type Compared, type Comparisons, type Sides } from "../state/analyses";
import type { Page } from "../state/page";
import { Attribution } from "../views/attribution";
import { Panel } from "../views/panel";
import { Name, Swatch } from "../views/parts";
import { perCent, SmallestChange } from "../views/smallest-change";
import { Checks, Levels, Samples } from "./details";
import { Intervals } from "./intervals";
import { candidateLabel, SidesControls, SidesEditor } from "./sides";

/** Is the candidate slower than the baseline? */
export function Comparison({ page, sides }: { page: Page; sides: Sides }) {
  const { data, loading } = page.analyses.comparison.state.value;
  const known = data?.candidates.flatMap((one) => one.data ?? []) ?? [];
  const missing = sides.candidates.length - (data?.candidates.length ?? 0);
  const both = sides.together;
  return (
    <Panel
      id="comparison"
      title={both ? "Comparison of several runs a side" : "Comparison with a baseline"}
      note="whole runs, without warm-up"
      controls={
        <>
          <SidesControls page={page} sides={sides} />
          <SmallestChange page={page} />
        </>
      }
    >
      {both && <SidesEditor page={page} sides={sides} />}
      {known[0] && <Reading first={known[0]} />}
      {[...new Set(known.flatMap((one) => one.spread_note ?? []))].map((note) => (
        <p key={note} class="note">
          {note}
        </p>
      ))}
      {data?.candidates.map((one) => (
        <Candidate key={sideKey(one.runs)} page={page} one={one} scale={intervalScale(known)} />
      ))}
      {loading && missing > 0 && (
        <p class="note" role="status">
          {both ? "Comparing both sides…" : `Comparing ${missing} more ${missing === 1 ? "run" : "runs"}…`}
        </p>
      )}
      {data && <Quantiles data={data} />}
      {known[0] && <p class="note">{known[0].definition}</p>}
    </Panel>
  );
}

/** How to read the intervals. */
function Reading({ first }: { first: Answer }) {
  const limit = (effect: number) => `±${perCent(effect)} %`;
  return (
    <p class="note">
      ├ ┤ 95 % interval of the change against the baseline; ▲ slower, ▼ faster, ● not clear or too small. Grey: too
      small to matter ({limit(first.min_effect)}; p95 {limit(first.min_tail_effect)}).
    </p>
  );
}

/** Shape and word of each verdict. */
const BADGES: Record<string, [shape: string, look: string]> = {
  regression: ["▲", "slower"],
  "tail regression": ["▲", "slower"],
  improvement: ["▼", "faster"],
  same: ["=", "same"],
  "insufficient data": ["?", "unsure"],
  "not comparable": ["≠", "unsure"],
};

function Candidate({ page, one, scale }: { page: Page; one: Compared; scale: IntervalScale }) {
  const { runs, data, error } = one;
  const name = candidateLabel(one);
  const [shape, look] = BADGES[data?.verdict ?? ""] ?? ["?", "unsure"];
  return (
    <article class="compared" aria-label={`${name} compared`}>
      <h3>
        {data && (
          <span class={`badge ${look}`}>
            {shape} {data.verdict}
          </span>
        )}
        <Label one={one} />
      </h3>
      {error && <p class="warnings">Could not be compared: {error.message}</p>}
      {data && (
        <>
          <p class="sentence">{visible(data.sentence)}</p>
          {data.overruled.length > 0 && (
            <p class="warnings">Compared although conditions differ: {list(data.overruled.map(visible))}.</p>
          )}
          {data.needed && <p>{data.needed.text}</p>}
          {data.between_run_sd !== null && <Spread comparison={data} sd={data.between_run_sd} />}
          {data.notes.map((note) => (
            <p key={note}>{visible(note)}</p>
          ))}
          {data.measures.some(({ change }) => change !== null) && <Intervals comparison={data} scale={scale} />}
          <Checks page={page} run={runs[0]!.run} comparison={data} />
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

/** Colour and name of what is compared. */
function Label({ one }: { one: Compared }) {
  return (
    <>
      <Swatch color={RUN_COLORS[one.color % RUN_COLORS.length]!} />
      {one.runs.length === 1 ? <Name text={one.runs[0]!.run} /> : candidateLabel(one)}
    </>
  );
}

/** By how much runs of one side differ, which a person could otherwise take for a change. */
function Spread({ comparison, sd }: { comparison: Answer; sd: number }) {
  const { baseline, candidate } = comparison;
  return (
    <p>
      Run-to-run spread: {significant(sd * 100, 2)} % (standard deviation of the mean step of {baseline.num_runs} and{" "}
      {candidate.num_runs} runs about that of their side). The intervals allow for it.
    </p>
  );
}

/** The whole distribution: by how much each percentile differs. */
function Quantiles({ data }: { data: Comparisons }) {
  const cursor = useSignal<number | null>(null);
  const selection = useSignal<[number, number] | null>(null);
  const model = useMemo(() => quantileModel(data), [data]);
  if (!model) return null;
  const at = cursor.value === null ? null : nearest(model.x, cursor.value);
  const known = data.candidates.flatMap((one) => (one.data?.quantiles ? [{ one, curve: one.data.quantiles }] : []));
  const words = known.map(({ one, curve }) => {
    const i = curve.percentiles.indexOf(at ?? 50);
    const range = interval(curve.low[i], curve.high[i]);
    return { one, text: `${signed(curve.change[i])}${range && ` (${range})`}` };
  });
  const outside = known.flatMap(({ one, curve }) => {
    const text = outsideWords(curve, model.limits!);
    return text ? [{ one, text }] : [];
  });
  return (
    <section aria-labelledby="quantiles-title" class="quantiles">
      <h3 id="quantiles-title">Difference at each percentile</h3>
      <p class="note">
        p50 is the typical step, p99 the slowest 1 in 100. Above 0: slower than the baseline. Coloured: 95 % interval;
        grey: too small to matter.
      </p>
      {outside.length > 0 && (
        <ul class="key" aria-label="Outside the chart">
          <li>Outside the chart:</li>
          {outside.map(({ one, text }) => (
            <li key={sideKey(one.runs)}>
              <Label one={one} /> {text}
            </li>
          ))}
        </ul>
      )}
      <Chart
        model={model}
        domain={[0, 100]}
        height={190}
        stops={model.x}
        cursor={cursor}
        selection={selection}
        onZoom={() => (selection.value = null)}
        onReset={() => (selection.value = null)}
        summary={`Difference of each percentile. At the median: ${list(words.map(({ one, text }) => `${candidateLabel(one)} ${text}`))}.`}
      />
      <ul class="key" aria-live="polite">
        <li>p{at ?? 50}:</li>
        {words.map(({ one, text }) => (
          <li key={sideKey(one.runs)}>
            <Label one={one} /> <b>{text}</b>
          </li>
        ))}
      </ul>
    </section>
  );
}

const nearest = (values: readonly number[], x: number): number =>
  values.reduce((best, value) => (Math.abs(value - x) < Math.abs(best - x) ? value : best), values[0]!);
