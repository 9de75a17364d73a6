import { useSignal } from "@preact/signals";

import { PARTS, type Part, type TraceSummary } from "../api/traces";
import { count, integer, percent } from "../format/numbers";
import { list } from "../format/text";
import { time } from "../format/units";
import { styled, Swatch } from "../views/parts";
import { PART_NAMES, perWords, sliceWords } from "./words";

/** Where the time of a step goes: a bar for the mean, one for each step. */

const LOOKS: Record<Part, { color: string; hatched?: boolean }> = {
  kernel: { color: "--stage-3" },
  copy: { color: "--stage-5" },
  set: { color: "--stage-6" },
  exposed_communication: { color: "--stage-4", hatched: true },
  runtime: { color: "--stage-10" },
  data_loading: { color: "--stage-2" },
  cpu_operators: { color: "--stage-1" },
  other: { color: "--unlabelled", hatched: true },
};

const AT_FIRST = 12;
const ORDER = PARTS.map((part) => PART_NAMES[part]);

export function Breakdown({ summary }: { summary: TraceSummary }) {
  const all = useSignal(false);
  const { steps, breakdown_ms: mean, step_ms: step, info } = summary;
  const total = mean.reduce((sum, ms) => sum + ms, 0);
  const none = ORDER.filter((_, i) => !mean[i]);
  const longest = Math.max(total, ...steps.map((one) => one.duration_ms), 1e-9);
  const shown = all.value ? steps : steps.slice(0, AT_FIRST);
  const widest = Math.max(11, ...shown.map((one) => `step ${integer(one.step)}`.length));
  return (
    <section aria-labelledby="breakdown-title">
      <h4 id="breakdown-title">Where the time goes</h4>
      <ul class="key part-key">
        {PARTS.map(
          (part, i) =>
            mean[i]! > 0 && (
              <li key={part}>
                <Swatch {...LOOKS[part]} />
                {PART_NAMES[part]} <b>{time(mean[i])}</b> {percent(mean[i]! / total)}
              </li>
            ),
        )}
        {none.length > 0 && <li>none: {list(none)}</li>}
      </ul>
      <div class="slices" ref={styled({ "--name": `${widest * 0.95}ch` })}>
        <Slice name={step === null ? "whole trace" : "mean"} ms={total} parts={mean} longest={longest} strong />
        {shown.map((one, i) => (
          <Slice
            key={i}
            name={`step ${integer(one.step)}`}
            ms={one.duration_ms}
            parts={one.breakdown_ms}
            longest={longest}
            note={one.cut && "may be cut"}
          />
        ))}
      </div>
      {steps.length > AT_FIRST && (
        <button type="button" class="button more" onClick={() => (all.value = !all.value)}>
          {all.value ? "Show fewer steps" : `Show all ${count(steps.length, "step")}`}
        </button>
      )}
      <p class="note">
        Each moment counts for the first part that has an event then, in this order: {list(ORDER)}. So the parts add up
        to the step. {step !== null && `Times above: mean ${perWords(summary)}.`} {communicationWords(summary)}
        {info.devices.length === 0 &&
          summary.device_busy_share === null &&
          " Without a device, operators run on the host."}
      </p>
    </section>
  );
}

function communicationWords({
  communication_ms: all,
  overlapped_ms: hidden,
  num_steps_used: used,
}: TraceSummary): string {
  if (!all) return "";
  return `Communication takes ${time(all)}${used ? " a step" : ""}: ${time(hidden)} of it while other device work runs, ${time(all - hidden)} exposed.`;
}

interface SliceProps {
  name: string;
  ms: number;
  parts: readonly number[];
  longest: number;
  note?: string | null;
  strong?: boolean;
}

function Slice({ name, ms, parts, longest, note, strong = false }: SliceProps) {
  const named = PARTS.map((part, i) => [PART_NAMES[part], parts[i] ?? 0] as const);
  return (
    <div
      class={`slice ${strong ? "strong" : ""} ${note ? "faint" : ""}`}
      role="img"
      aria-label={sliceWords(name, ms, named) + (note ? `; ${note}` : "")}
    >
      <span>{name}</span>
      <span class="slice-bar" title={sliceWords(name, ms, named)}>
        {PARTS.map((part, i) => {
          const { color, hatched } = LOOKS[part];
          const width = `${((parts[i] ?? 0) / longest) * 100}%`;
          return (
            parts[i]! > 0 && (
              <i key={part} class={hatched ? "hatched" : ""} ref={styled({ width, "--swatch": `var(${color})` })} />
            )
          );
        })}
      </span>
      <span>
        {time(ms)} {note && <small>{note}</small>}
      </span>
    </div>
  );
}
