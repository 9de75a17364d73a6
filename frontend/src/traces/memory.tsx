import type { MemoryCurve, TraceSummary } from "../api/traces";
import { visible } from "../format/text";
import { bytes, time } from "../format/units";

/** Memory over the time of a trace, and its peak. */
export function Memory({ summary: { memory, info, steps } }: { summary: TraceSummary }) {
  if (!memory.length) return null; // The notes say so.
  return (
    <section>
      <h4>Memory</h4>
      {memory.map((curve) => (
        <Curve key={curve.device} curve={curve} span={info.span_ms} steps={steps.map((step) => step.start_ms)} />
      ))}
    </section>
  );
}

/** What a curve says in words. */
export function curveWords({ device, is_relative: relative, ...peaks }: MemoryCurve): string {
  const at = peaks.peak_at_ms === null ? "" : `, ${time(peaks.peak_at_ms)} after the first event`;
  const reserved = !peaks.peak_reserved_bytes ? "" : `; reserved: at most ${bytes(peaks.peak_reserved_bytes)}`;
  const size = peaks.total_bytes ? ` (${bytes(peaks.total_bytes)})` : "";
  const kind = relative ? "above what was there at the start (totals were not recorded)" : "allocated";
  return `${visible(device)}${size}: at most ${bytes(peaks.peak_allocated_bytes)} ${kind}${at}${reserved}.`;
}

const HEIGHT = 90;
const WIDTH = 1000;

function Curve({ curve, span, steps }: { curve: MemoryCurve; span: number; steps: readonly number[] }) {
  const { at_ms: at, allocated_bytes: height } = curve;
  const low = Math.min(0, ...height);
  const high = Math.max(...height, low + 1);
  const x = (ms: number) => ((ms / Math.max(span, 1e-9)) * WIDTH).toFixed(1);
  const y = (value: number) => (HEIGHT - ((value - low) / (high - low)) * (HEIGHT - 4)).toFixed(1);
  const path = at.map((ms, i) => `${i ? `H${x(ms)}V` : `M${x(ms)} `}${y(height[i]!)}`).join("");
  return (
    <figure class="curve">
      <figcaption>{curveWords(curve)}</figcaption>
      {at.length > 1 && (
        <>
          <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={curveWords(curve)}>
            {steps.map((ms) => (
              <path key={ms} class="step-line" d={`M${x(ms)} 0V${HEIGHT}`} />
            ))}
            <path class="area" d={`${path}V${y(low)}H${x(at[0]!)}Z`} />
            <path class="line" d={path} />
          </svg>
          <div class="curve-axis" aria-hidden="true">
            <span>0 ms</span>
            <span>{steps.length > 0 && "thin lines: steps begin"}</span>
            <span>{time(span)}</span>
          </div>
        </>
      )}
    </figure>
  );
}
