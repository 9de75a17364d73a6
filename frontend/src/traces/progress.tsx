import { count, percent } from "../format/numbers";
import { visible } from "../format/text";
import { isUnderWay, type Reading } from "./desk";

/** How far the reading of a trace is, with what stops it; or why there is nothing to show. */
export function ReadingState({
  reading,
  onCancel,
  onRead,
}: {
  reading: Reading;
  onCancel: () => void;
  onRead: () => void;
}) {
  const { state, progress, num_ahead: ahead, message } = reading;
  if (state === "done") return null;
  if (isUnderWay({ state }))
    return (
      <div class="reading">
        <progress aria-label="Progress of reading the trace" {...(state === "reading" ? { value: progress } : {})} />
        <span>
          <span role="status">
            {state === "reading"
              ? "Reading"
              : ahead
                ? `Waiting for ${count(ahead, "other trace")}`
                : "Starting to read"}
          </span>
          {/* The bar says it to those who listen; a status that changes twice a second would not let them. */}
          {state === "reading" && <span aria-hidden="true">, {percent(progress)}</span>}
        </span>
        <button type="button" class="button" onClick={onCancel}>
          Cancel
        </button>
      </div>
    );
  const words = {
    unread: "Not read yet.",
    cancelled: "Reading was cancelled.",
    refused: message ? `Not read: ${visible(message)}` : "Not read: the file was refused without a reason.",
    failed: `Could not be asked for: ${visible(message ?? "")}`,
  }[state as "unread"];
  return (
    <div class="reading">
      <p class={state === "refused" || state === "failed" ? "warnings" : "note"}>{words}</p>
      <button type="button" class="button" onClick={onRead}>
        {state === "unread" ? "Read" : "Read again"}
      </button>
    </div>
  );
}
