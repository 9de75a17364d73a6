import type { ComparedSide, Comparison, ConditionCheck } from "../api/analysis";
import { digits, interval, pWords, signed } from "../format/changes";
import { count, integer, percent } from "../format/numbers";
import { sentence, visible } from "../format/text";
import { time } from "../format/units";
import type { Page } from "../state/page";
import { toggleOverrule } from "../state/view";
import { Check, HeadRow } from "../views/parts";

const STATUS: Record<ConditionCheck["status"], string> = {
  same: "✓ same",
  different: "✗ different",
  unknown: "? not recorded",
  overruled: "! differs, overruled",
};

/** May the two be compared: field by field, and the switch that overrules it. */
export function Checks({ page, run, comparison }: { page: Page; run: string; comparison: Comparison }) {
  const { conditions, verdict, overruled } = comparison;
  const number = (status: ConditionCheck["status"]) => conditions.filter((check) => check.status === status).length;
  const counts = (["different", "overruled", "unknown", "same"] as const)
    .filter(number)
    .map((status) => `${number(status)} ${STATUS[status].slice(2)}`);
  const refused = verdict === "not comparable";
  const rank = { different: 0, overruled: 1, unknown: 2, same: 3 };
  const rows = conditions.toSorted((a, b) => rank[a.status] - rank[b.status]);
  return (
    <>
      {(refused || overruled.length > 0) && (
        <Check checked={!refused} onChange={() => page.change((view) => toggleOverrule(view, run))}>
          Compare anyway
        </Check>
      )}
      <details open={refused}>
        <summary>Conditions: {counts.join(", ")}</summary>
        <div class="table-scroll flat">
          <table class="environment checks">
            <caption class="hidden">Conditions of both sides</caption>
            <thead>
              <HeadRow texts={["Condition", "Baseline", "Candidate", "Status"]} />
            </thead>
            <tbody>
              {rows.map(({ field, baseline, candidate, status }) => (
                <tr key={field} class={status === "different" || status === "overruled" ? "differs" : ""}>
                  <th scope="row">{visible(field)}</th>
                  <td>{values(baseline)}</td>
                  <td>{values(candidate)}</td>
                  <td>{STATUS[status]}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </>
  );
}

const values = (texts: string[]): string => texts.map(visible).join(", ") || "–";

/** Steps compared with their own kind. */
export function Levels({ comparison: { levels, level_basis: basis } }: { comparison: Comparison }) {
  return (
    <details>
      <summary>
        {count(levels.length, "level")} compared with their own kind (by {basis?.replace("num_", "")})
      </summary>
      <div class="table-scroll flat">
        <table>
          <thead>
            <HeadRow texts={["Level", "Change", "Baseline", "Candidate", "p-value", "Steps", "Share"]} />
          </thead>
          <tbody>
            {levels.map((level) => (
              <tr key={level.label}>
                <th scope="row">{visible(level.label)}</th>
                <td>
                  {signed(level.change, digits(level.low, level.high))}{" "}
                  <small>({interval(level.low, level.high)})</small>
                </td>
                <td>{time(level.baseline_ms)}</td>
                <td>{time(level.candidate_ms)}</td>
                <td>{pWords(level.p_value)}</td>
                <td>
                  {integer(level.num_baseline)} / {integer(level.num_candidate)}
                </td>
                <td>{percent(level.share)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

/** On which steps the comparison stands. */
export function Samples({ comparison }: { comparison: Comparison }) {
  return (
    <p class="note">
      Baseline: {sampleWords(comparison.baseline)}. Candidate: {sampleWords(comparison.candidate)}.{" "}
      {sentence(comparison.clock)} clock.
    </p>
  );
}

/** "11,950 of 11,990 steps used (40 warm-up)". */
export function sampleWords(side: ComparedSide): string {
  const left: [number, string][] = [
    [side.num_warmup, "warm-up"],
    [side.num_unusable, "unusable"],
    [side.num_outside, "not in the other run"],
  ];
  const reasons = left.filter(([n]) => n > 0).map(([n, why]) => `${integer(n)} ${why}`);
  const more = side.runs.filter((run) => run.num_members > 1);
  return [
    `${integer(side.num_used)} of ${count(side.num_given, "step")} used`,
    reasons.length ? ` (left out: ${reasons.join(", ")})` : "",
    ...more.map((run) => `; ${visible(run.label)} of ${run.num_members}`),
  ].join("");
}
