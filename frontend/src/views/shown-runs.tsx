import { RUN_COLORS } from "../charts/colors";
import { core, sharedEnds } from "../format/names";
import { visible } from "../format/text";
import type { Shown } from "../state/catalog";
import type { Page } from "../state/page";
import { chooseMember, makePrimary, MAX_ENTRIES, type View } from "../state/view";
import { Name, Swatch } from "./parts";

/** What is shown now, the first one being the one that stages and downloads belong to. */
export function ShownRuns({ page }: { page: Page }) {
  const shown = page.shown.value;
  const [first] = shown;
  const shared = sharedEnds([...new Set(shown.map(({ run }) => run.run))]);
  return (
    <div class="shown">
      <h2>{shown.length > 1 ? `Showing ${shown.length} together` : "Showing"}</h2>
      <ul>
        {shown.map((entry, index) => (
          <li key={JSON.stringify([entry.run.run, entry.member.member])}>
            <button
              type="button"
              class="link"
              disabled={index === 0}
              title={index === 0 ? undefined : "Make this the first run"}
              onClick={() => page.change((view) => makePrimary(view, index))}
            >
              <Swatch color={RUN_COLORS[entry.color % RUN_COLORS.length]!} />
              <Name text={entry.run.run}>
                {(shared.prefix ? "…" : "") + visible(core(entry.run.run, shared)) + (shared.suffix ? "…" : "")}
              </Name>
            </button>
            {index > 0 && entry.run.members.length > 1 && <small>{entry.member.label}</small>}
            {shown.length > 1 && (
              <button
                type="button"
                class="icon"
                aria-label={`Take ${visible(entry.label)} away`}
                onClick={() => page.change((view) => without(view, index))}
              >
                ×
              </button>
            )}
          </li>
        ))}
      </ul>
      {first && first.run.members.length > 1 && <Members page={page} first={first} />}
    </div>
  );
}

const without = (view: View, index: number): View => ({ ...view, entries: view.entries.filter((_, i) => i !== index) });

function Members({ page, first }: { page: Page; first: Shown }) {
  const { members, missing_ranks: missing } = first.run;
  const all = (view: View): View => {
    const own = [first.member, ...members.filter((member) => member !== first.member)];
    return { ...view, entries: own.slice(0, MAX_ENTRIES).map(({ member }) => ({ run: first.run.run, member })) };
  };
  const ranks = members.some((member) => member.rank !== members[0]!.rank);
  return (
    <div class="members">
      <label>
        {ranks ? "Rank" : "Writer"}
        <select
          value={first.member.member}
          onChange={(event) => {
            const { value } = event.currentTarget;
            page.change((view) => chooseMember(view, value));
          }}
        >
          {members.map((member) => (
            <option key={member.member} value={member.member}>
              {member.label}
            </option>
          ))}
        </select>
      </label>
      <button type="button" class="link" onClick={() => page.change(all)}>
        overlay {members.length > MAX_ENTRIES ? `${MAX_ENTRIES} of ${members.length}` : "all"}
      </button>
      {missing.length > 0 && <small class="warn">missing: {missing.join(", ")}</small>}
    </div>
  );
}
