import type { Page } from "../state/page";
import { chooseEffect, STANDARD_EFFECTS, type Effect } from "../state/view";
import { Menu } from "./parts";

const FIELDS: [name: Effect, label: string][] = [
  ["minEffect", "Typical step"],
  ["minTailEffect", "Slow steps (p95)"],
];

/** A limit in per cent: "3", "0.5". */
export const perCent = (effect: number): string => String(Number((effect * 100).toPrecision(6)));

/** How large a change must be to be told, for markers and comparisons alike. */
export function SmallestChange({ page }: { page: Page }) {
  const of = (name: Effect) => page.view.value[name] ?? STANDARD_EFFECTS[name];
  const isStandard = FIELDS.every(([name]) => page.view.value[name] === null);
  return (
    <Menu label={`Smallest change: ${perCent(of("minEffect"))} % (p95 ${perCent(of("minTailEffect"))} %)`}>
      <div class="effects">
        <p class="note">
          Smaller changes get no marker, and in a comparison count as the same. A lower limit finds more, and needs more
          steps to be sure.
        </p>
        {FIELDS.map(([name, label]) => (
          <label key={name} class="field">
            {label}
            <input
              type="number"
              min="0.1"
              max="90"
              step="any"
              value={perCent(of(name))}
              onChange={({ currentTarget: input }) => {
                if (input.reportValidity()) page.change((view) => chooseEffect(view, name, input.valueAsNumber / 100));
              }}
            />
            %
          </label>
        ))}
        {!isStandard && (
          <button
            type="button"
            class="link"
            onClick={() => page.change((view) => ({ ...view, minEffect: null, minTailEffect: null }))}
          >
            Back to {perCent(STANDARD_EFFECTS.minEffect)} % and {perCent(STANDARD_EFFECTS.minTailEffect)} %
          </button>
        )}
      </div>
    </Menu>
  );
}
