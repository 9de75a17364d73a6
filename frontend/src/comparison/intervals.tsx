import type { Comparison, Measure } from "../api/analysis";
import { direction, type IntervalScale } from "../charts/differences";
import { digits, interval, pWords, signed } from "../format/changes";
import { rate, time } from "../format/units";
import { styled } from "../views/parts";

const NAMES: Record<Measure["measure"], string> = {
  median: "Median step",
  p95: "p95",
  mean: "Mean step",
  throughput: "Throughput",
};
const MARKS = { slower: "▲", faster: "▼", unclear: "●" };

/** Changes with their 95 % intervals on an axis that all candidates share; what is too small to matter is shaded. */
export function Intervals({ comparison, scale }: { comparison: Comparison; scale: IntervalScale }) {
  const at = (value: number) => `${Math.min(1, Math.max(0, (value - scale.min) / (scale.max - scale.min))) * 100}%`;
  const shown = comparison.measures.filter(({ measure }) => measure !== "mean" || comparison.decided_by === "mean");
  return (
    <div class="table-scroll flat">
      <table class="intervals">
        <caption class="hidden">Changes against the baseline</caption>
        <thead>
          <tr>
            <th scope="col">Measure</th>
            <th scope="col" class="track">
              <span class="hidden">Interval, drawn</span>
              <div aria-hidden="true">
                {scale.ticks.map((tick) => (
                  <span key={tick} ref={styled({ left: at(tick) })}>
                    {signed(tick, 0)}
                  </span>
                ))}
              </div>
            </th>
            <th scope="col">Change (95 % interval)</th>
            <th scope="col">Baseline → candidate</th>
            <th scope="col">p-value</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((measure) => (
            <Row key={measure.measure} measure={measure} comparison={comparison} scale={scale} at={at} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface RowProps {
  measure: Measure;
  comparison: Comparison;
  scale: IntervalScale;
  at: (value: number) => string;
}

function Row({ measure, comparison, scale, at }: RowProps) {
  const { measure: name, change, low, high, unit } = measure;
  const zone = name === "p95" ? comparison.min_tail_effect : comparison.min_effect;
  const way = direction(measure, zone);
  const value = (number: number | null) => (unit === "ms" ? time(number, 4) : rate(number, unit));
  return (
    <tr>
      <th scope="row">
        {NAMES[name]}
        <small>{name === "throughput" ? "more is faster" : "more is slower"}</small>
      </th>
      <td class="track">
        <div class={way} aria-hidden="true">
          <i class="zone" ref={styled({ left: at(-zone), right: `calc(100% - ${at(zone)})` })} />
          <i class="zero" ref={styled({ left: at(0) })} />
          {change !== null && (
            <>
              <i
                class={`reach ${low === null ? "open-low" : ""} ${high === null ? "open-high" : ""}`}
                ref={styled({
                  left: low === null ? "0" : at(low),
                  right: high === null ? "0" : `calc(100% - ${at(high)})`,
                })}
              />
              <b ref={styled({ left: at(change) })}>
                {change < scale.min && "◂"}
                {MARKS[way]}
                {change > scale.max && "▸"}
              </b>
            </>
          )}
        </div>
      </td>
      <td>
        {change === null
          ? measure.text
          : `${signed(change, digits(low, high))} (${interval(low, high) || "no interval"})`}
      </td>
      <td>
        {value(measure.baseline)} → {value(measure.candidate)}
      </td>
      <td>{pWords(measure.p_value)}</td>
    </tr>
  );
}
