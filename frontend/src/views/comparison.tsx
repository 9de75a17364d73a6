import type { Page } from "../state/page";
import { Panel } from "./panel";

/** Where the comparison stands on the page: there where at least two runs are shown. What shows it is comparison.js. */
export function Comparison({ page }: { page: Page }) {
  const { sides, views } = page.analyses;
  if (!sides.value) return null;
  const there = views.part.value;
  if (there) return <there.Comparison page={page} sides={sides.value} />;
  return (
    <Panel id="comparison" title="Comparison">
      {views.failed.value ? (
        <p class="note">
          What compares runs (comparison.js) could not be loaded.{" "}
          <button type="button" class="link" onClick={() => void views.fetch()}>
            Try again
          </button>
        </p>
      ) : (
        <p class="note" role="status">
          Loading…
        </p>
      )}
    </Panel>
  );
}
