import type { Attribution as Found, PartChange } from "../api/analysis";
import { signed, stageName } from "../format/changes";
import { count, MISSING, percent } from "../format/numbers";
import { sentence, visible } from "../format/text";
import { time } from "../format/units";
import { styled } from "./parts";

type Part = Omit<PartChange, "share_low" | "share_high">;

/** Which stages make a change: before and after as bars, the contribution, and what lies near without being a cause. */
export function Attribution({ found, sides }: { found: Found; sides: [string, string] }) {
  const parts: Part[] = found.parts.toSorted((a, b) => Math.abs(b.change_ms ?? 0) - Math.abs(a.change_ms ?? 0));
  const total: Part = { ...found.total, stage: null, share: null };
  const longest = Math.max(...parts.flatMap(({ before_ms, after_ms }) => [before_ms ?? 0, after_ms ?? 0]), 1e-9);
  // Three digits of the whole change.
  const decimals = Math.min(6, Math.max(0, 2 - Math.floor(Math.log10(Math.abs(total.change_ms || 1)))));
  return (
    <div class="attribution">
      <p>
        {found.outcome === "uniform" && <b>All stages moved alike. </b>}
        {visible(found.sentence)}
      </p>
      {found.vanishes_per && (
        <p>
          <b>Vanishes per {found.vanishes_per}:</b> per {found.vanishes_per} the change is {signed(found.per_amount)};
          the steps do more work, they are not slower at it.
        </p>
      )}
      <div class="table-scroll flat">
        <table class="parts">
          <caption class="hidden">Mean time of each stage per step</caption>
          <thead>
            <tr>
              <th scope="col">Stage</th>
              <th scope="col" class="bars">
                <i class="before" /> {sides[0]} <i class="after" /> {sides[1]}, ├┤ 95 % interval of the change
              </th>
              <th scope="col">{sentence(sides[0])}</th>
              <th scope="col">{sentence(sides[1])}</th>
              <th scope="col">Contribution</th>
              <th scope="col">Share of the change</th>
            </tr>
          </thead>
          <tbody>
            {parts.map((part) => (
              <Row
                key={JSON.stringify(part.stage)}
                part={part}
                longest={longest}
                decimals={decimals}
                name={stageName(part.stage)}
              />
            ))}
          </tbody>
          <tfoot>
            <Row part={total} longest={0} decimals={decimals} name="whole step" />
          </tfoot>
        </table>
      </div>
      <p class="note">
        Mean time per step, {found.clock} clock. Bold: clearly not 0. Shares may be negative or above 100 % where stages
        move against each other.
      </p>
      {found.coincidences.length > 0 && (
        <>
          <h4>Near this change (not proven causes)</h4>
          <ul>
            {found.coincidences.map(({ text, distance_steps: distance }) => (
              <li key={text + distance}>
                {visible(text)}
                {distance !== null && <span class="note"> · {distanceWords(distance)}</span>}
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}

/** "3 steps before", "at the same step". */
export function distanceWords(steps: number): string {
  if (steps === 0) return "at the same step";
  return `${count(Math.abs(steps), "step")} ${steps < 0 ? "before" : "after"}`;
}

interface RowProps {
  part: Part;
  /** What the longest bar stands for; 0 draws none. */
  longest: number;
  decimals: number;
  name: string;
}

function Row({ part, longest, decimals, name }: RowProps) {
  const { before_ms: before, after_ms: after, change_ms: change, low_ms: low, high_ms: high } = part;
  const at = (ms: number) => `${Math.min(1, Math.max(0, ms / longest)) * 100}%`;
  const moved = part.clear ? ((change ?? 0) > 0 ? "slower" : "faster") : "";
  return (
    <tr class={part.clear ? "clear" : ""}>
      <th scope="row">{name}</th>
      <td class="bars">
        {longest > 0 && before !== null && after !== null && (
          <div aria-hidden="true">
            <i class="before" ref={styled({ width: at(before) })} />
            <i class={`after ${moved}`} ref={styled({ width: at(after) })} />
            {low !== null && high !== null && (
              <i class="whisker" ref={styled({ left: at(before + low), right: `calc(100% - ${at(before + high)})` })} />
            )}
          </div>
        )}
      </td>
      <td>{time(before)}</td>
      <td>{time(after)}</td>
      <td>
        {signedMs(change, decimals)}
        <small>{low !== null && high !== null && `${signedMs(low, decimals)} to ${signedMs(high, decimals)}`}</small>
      </td>
      <td>{longest > 0 && shareWords(part.share)}</td>
    </tr>
  );
}

/** A share of the change: negative where a stage moved against it. */
export function shareWords(share: number | null): string {
  return share !== null && Math.abs(share) < 0.005 ? "0 %" : percent(share);
}

/** "+1.20 ms". One unit and one number of decimals, so that the rows of a column compare. */
function signedMs(ms: number | null, decimals: number): string {
  if (ms === null) return MISSING;
  const text = Math.abs(ms).toFixed(decimals);
  return `${Number(text) === 0 ? "" : ms < 0 ? "−" : "+"}${text} ms`;
}
