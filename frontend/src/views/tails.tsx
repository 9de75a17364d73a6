import type { Markers, Tails } from "../api/analysis";
import { RUN_COLORS } from "../charts/colors";
import { pWords } from "../format/changes";
import { count, percent, significant } from "../format/numbers";
import { sentence, visible } from "../format/text";
import type { Answers } from "../state/catalog";
import { Bar, HeadRow, Name, Swatch } from "./parts";

/** With what the slowest steps of each run coincide. */
export function TailBlocks({ shown, data }: Answers<Markers>) {
  const known = data.flatMap(({ tails }, i) => (tails ? [{ tails, entry: shown[i]! }] : []));
  if (!known.length) return null;
  return (
    <section class="tails" aria-labelledby="tails-title">
      <h3 id="tails-title">What the slowest steps coincide with</h3>
      {known.map(({ tails, entry }) => (
        <article key={entry.label} aria-label={visible(entry.label)}>
          <p>
            {data.length > 1 && (
              <>
                <Swatch color={RUN_COLORS[entry.color % RUN_COLORS.length]!} /> <Name text={entry.label} />:{" "}
              </>
            )}
            {tails.sentence}
          </p>
          {tails.causes.length > 0 && <Numbers tails={tails} />}
        </article>
      ))}
    </section>
  );
}

/** How much each cause explains, and how much nothing does. */
function Numbers({ tails }: { tails: Tails }) {
  return (
    <details>
      <summary>Numbers behind this</summary>
      <div class="table-scroll flat">
        <table class="causes">
          <thead>
            <HeadRow
              texts={["Coincides with", "Of the slow steps", "Of the others", "How much more often", "p-value"]}
            />
          </thead>
          <tbody>
            {tails.causes.map((cause) => (
              <tr key={cause.cause} class={cause.explains ? "clear" : ""}>
                <th scope="row">{sentence(cause.text)}</th>
                <Share share={cause.share_of_tail} color="--accent" />
                <td>{percent(cause.share_of_rest)}</td>
                <td>{cause.enrichment === null ? "–" : `${significant(cause.enrichment, 2)} ×`}</td>
                <td>{pWords(cause.p_adjusted)}</td>
              </tr>
            ))}
            <tr>
              <th scope="row">Unexplained: none of the bold ones</th>
              <Share share={tails.unexplained} color="--unlabelled" />
              <td colSpan={3} />
            </tr>
          </tbody>
        </table>
      </div>
      <p class="note">
        The slowest {Number((100 - tails.percentile).toFixed(3))} %: {count(tails.num_tail, "step")} in{" "}
        {count(tails.num_episodes, "burst")} of {count(tails.num_steps, "step")}. {tails.correction}
      </p>
    </details>
  );
}

function Share({ share, color }: { share: number | null; color: string }) {
  return (
    <td>
      <span class="share">
        <span>{percent(share)}</span>
        <Bar share={share} color={color} />
      </span>
    </td>
  );
}
