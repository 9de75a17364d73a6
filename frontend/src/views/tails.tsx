import type { Tails } from "../api/analysis";
import { pWords } from "../format/changes";
import { count, percent, significant } from "../format/numbers";
import { sentence } from "../format/text";
import { Bar, HeadRow, Name } from "./parts";

/** With what the slowest steps coincide, and how much of them that does not explain. */
export function TailBlock({ tails, name }: { tails: Tails; name: string | null }) {
  return (
    <section class="tails" aria-labelledby="tails-title">
      <h3 id="tails-title">
        What the slowest steps coincide with
        {name !== null && (
          <>
            {" "}
            in <Name text={name} />
          </>
        )}
      </h3>
      <p>{tails.sentence}</p>
      {tails.causes.length > 0 && (
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
      )}
    </section>
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
