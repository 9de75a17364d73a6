import { useSignal } from "@preact/signals";

import type { FlagName } from "../api/types";
import { position } from "../format/position";
import { hasDevice, type Page } from "../state/page";
import { chooseAxis, cleanPercentiles, PRESETS, toggleInclude } from "../state/view";
import { Check, Menu, Segmented } from "./parts";

const FLAGS: { flag: FlagName; text: string }[] = [
  { flag: "warmup", text: "Warm-up steps" },
  { flag: "profiled", text: "Profiled steps" },
  { flag: "restart", text: "First step of each attempt" },
];

/** What holds for the whole page: axis, percentiles, which steps count, the zoom, downloads. */
export function Toolbar({ page }: { page: Page }) {
  const view = page.view.value;
  const device = page.shown.value.some(hasDevice);
  return (
    <div class="toolbar" role="toolbar" aria-label="View">
      <Segmented
        label="X axis"
        value={view.axis}
        onChange={(axis) => page.change((v) => chooseAxis(v, axis))}
        options={[
          { value: "step", text: "Step" },
          {
            value: "relative",
            text: "Relative",
            hint: "Measured time since the first step; pauses between attempts are not in it",
          },
          { value: "wall", text: "Wall time", hint: "Local time of this browser" },
        ]}
      />
      {device && (
        <Segmented
          label="Clock"
          value={view.clock}
          onChange={(clock) => page.change((v) => ({ ...v, clock }))}
          options={[
            { value: "host", text: "Host clock" },
            { value: "device", text: "Device clock" },
          ]}
        />
      )}
      <Percentiles page={page} />
      <Menu label={view.include.length ? `Include: ${view.include.length} more` : "Include"}>
        <p class="note">Left out of the statistics unless ticked:</p>
        {FLAGS.map(({ flag, text }) => (
          <Check
            key={flag}
            checked={view.include.includes(flag)}
            onChange={() => page.change((v) => toggleInclude(v, flag))}
          >
            {text}
          </Check>
        ))}
      </Menu>
      <Zoom page={page} />
      <span class="spacer" />
      <Freshness page={page} />
      <Downloads page={page} />
      <div class={`progress ${page.loading.value ? "on" : ""}`} aria-hidden="true" />
    </div>
  );
}

function Percentiles({ page }: { page: Page }) {
  const view = page.view.value;
  const text = useSignal<string | null>(null);
  const preset = PRESETS.find(({ percentiles }) => percentiles.join() === view.percentiles.join());
  const parsed =
    text.value === null
      ? null
      : cleanPercentiles(
          text.value
            .split(/[\s,;]+/)
            .filter(Boolean)
            .map(Number),
        );
  return (
    <Menu label={`Percentiles: ${preset?.name ?? view.percentiles.join(", ")}`}>
      <div class="menu-list">
        {PRESETS.map(({ name, percentiles }) => (
          <button
            key={name}
            type="button"
            class="choice"
            aria-pressed={preset?.name === name}
            onClick={() => {
              text.value = null;
              page.change((v) => ({ ...v, percentiles }));
            }}
          >
            {name} <small>{percentiles.join(", ")}</small>
          </button>
        ))}
      </div>
      <label class="field">
        Own set
        <input
          type="text"
          inputMode="decimal"
          value={text.value ?? view.percentiles.join(", ")}
          aria-invalid={text.value !== null && !parsed}
          onInput={(event) => (text.value = event.currentTarget.value)}
          onChange={() => {
            if (parsed) {
              page.change((v) => ({ ...v, percentiles: parsed }));
              text.value = null;
            }
          }}
        />
      </label>
      <p class="note">
        {text.value !== null && !parsed ? "Up to nine numbers from 0 to 100." : "Pairs such as 5 and 95 become bands."}
      </p>
      <Check checked={view.showMax} onChange={() => page.change((v) => ({ ...v, showMax: !v.showMax }))}>
        Longest step of each bin
      </Check>
      <Check checked={view.showLeftOut} onChange={() => page.change((v) => ({ ...v, showLeftOut: !v.showLeftOut }))}>
        Steps that were left out
      </Check>
    </Menu>
  );
}

function Zoom({ page }: { page: Page }) {
  const { range, axis } = page.view.value;
  if (!range) return null;
  const end = BigInt(range.end) - (axis === "step" ? 1n : 0n);
  return (
    <span class="zoom">
      <span>
        {axis === "step" ? "Steps " : ""}
        {position(axis, BigInt(range.start))} – {position(axis, end)}
      </span>
      <button type="button" class="button" onClick={() => page.resetZoom()}>
        Whole run
      </button>
    </span>
  );
}

function Freshness({ page }: { page: Page }) {
  return (
    <span class="freshness">
      {page.live.value && <span class="live">live</span>}
      <button
        type="button"
        class="button quiet refresh"
        onClick={() => void page.retry()}
        aria-busy={page.loading.value}
        aria-label="Refresh"
        title="Ask for new data now"
      >
        ↻
      </button>
    </span>
  );
}

function Downloads({ page }: { page: Page }) {
  const links = [
    { text: "Steps in view as CSV", url: page.downloadUrl("samples", { format: "csv" }), name: "steps.csv" },
    { text: "Steps in view as JSON", url: page.downloadUrl("samples", { format: "json" }), name: "steps.json" },
    { text: "Bins as drawn, JSON", url: page.downloadUrl("bands", {}), name: "bins.json" },
  ];
  return (
    <Menu label="Download">
      <div class="menu-list">
        {links.map(
          ({ text, url, name }) =>
            url && (
              <a key={text} class="choice" href={url} download={name}>
                {text}
              </a>
            ),
        )}
      </div>
      <p class="note">Raw rows with their flags, of the first run shown.</p>
    </Menu>
  );
}
