import type { Marker } from "../api/analysis";
import type { TraceFile } from "../api/traces";
import type { Shown } from "../state/catalog";
import type { Desk } from "./desk";
import { goTo } from "./go";
import { nearestWindows, ofMember } from "./nearest";
import { windowWords } from "./words";

/** From a change to the windows around it. */
export function MarkerLinks({ desk, marker, shown }: { desk: Desk; marker: Marker; shown: Shown }) {
  const files = ofMember(shown, desk.list.value?.traces ?? []);
  const { before, after } = nearestWindows(marker, files);
  if (!before && !after) return null;
  const show = (file: TraceFile) => {
    desk.open(file.trace);
    goTo("trace");
  };
  const link = (file: TraceFile, where: string) => (
    <button type="button" class="link" onClick={() => show(file)}>
      {windowWords(file.window)} {file.window?.reason === "reference" ? "(reference)" : where}
    </button>
  );
  const compare = () => {
    desk.comparePair(before!.trace, after!.trace);
    goTo("trace-comparison");
  };
  return (
    <span class="marker-traces" onClick={(event) => event.stopPropagation()}>
      Traces: {before ? link(before, "before") : "none before"} · {after ? link(after, "after") : "none after"}
      {before && after && (
        <button type="button" class="button" onClick={compare}>
          Compare the traces before and after
        </button>
      )}
    </span>
  );
}
