import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

import { visible } from "../format/text";

/** Small parts that several views share. */

/** A name from a log: shown as it is, isolated from the direction of the text around it. */
export function Name({ text, children }: { text: string; children?: string }) {
  return (
    <bdi class="name" title={text} data-name={text}>
      {children ?? visible(text)}
    </bdi>
  );
}

/** The row of column titles that begins a table. */
export function HeadRow({ texts }: { texts: readonly string[] }) {
  return (
    <tr>
      {texts.map((text) => (
        <th key={text} scope="col">
          {text}
        </th>
      ))}
    </tr>
  );
}

export function Swatch({ color, hatched = false }: { color: string; hatched?: boolean }) {
  return (
    <span
      class={`swatch ${hatched ? "hatched" : ""}`}
      ref={(element) => element?.style.setProperty("--swatch", `var(${color})`)}
      aria-hidden="true"
    />
  );
}

/** Sets styles that depend on data: attributes of style would need a looser policy than TensorBoard's. */
export const styled =
  (styles: Record<string, string>) =>
  (element: HTMLElement | null): void => {
    for (const [name, value] of Object.entries(styles)) element?.style.setProperty(name, value);
  };

/** The shape of a marker. */
export function Glyph({ look }: { look: { glyph: string; color: string } }) {
  return (
    <span class="shape" ref={styled({ "--swatch": `var(${look.color})` })} aria-hidden="true">
      {look.glyph}
    </span>
  );
}

/** A quantity in [0, 1] of its place, drawn. */
export function Bar({ share, color }: { share: number | null; color: string }) {
  const width = `${Math.min(1, Math.max(0, share ?? 0)) * 100}%`;
  return <span class="bar" ref={styled({ width, "--swatch": `var(${color})` })} aria-hidden="true" />;
}

interface SegmentedProps<T extends string> {
  label: string;
  value: T;
  options: readonly { value: T; text: string; hint?: string }[];
  onChange: (value: T) => void;
}

/** A few choices of which one holds. */
export function Segmented<T extends string>({ label, value, options, onChange }: SegmentedProps<T>) {
  return (
    <div class="segmented" role="group" aria-label={label}>
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          aria-pressed={option.value === value}
          title={option.hint}
          onClick={() => onChange(option.value)}
        >
          {option.text}
        </button>
      ))}
    </div>
  );
}

export function Check({
  checked,
  onChange,
  children,
}: {
  checked: boolean;
  onChange: () => void;
  children: ComponentChildren;
}) {
  return (
    <label class="check">
      <input type="checkbox" checked={checked} onChange={onChange} />
      <span>{children}</span>
    </label>
  );
}

/** A button that opens a small panel below it; Escape and a click elsewhere close it. */
export function Menu({ label, children }: { label: ComponentChildren; children: ComponentChildren }) {
  const open = useSignal(false);
  const root = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!open.value) return;
    const onPointer = (event: Event) => !root.current?.contains(event.target as Node) && (open.value = false);
    document.addEventListener("pointerdown", onPointer);
    return () => document.removeEventListener("pointerdown", onPointer);
  }, [open.value]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || !open.value) return;
    event.stopPropagation();
    open.value = false;
    root.current?.querySelector("button")?.focus();
  };
  return (
    <div class="menu" ref={root} onKeyDown={onKeyDown}>
      <button type="button" class="button" aria-expanded={open.value} onClick={() => (open.value = !open.value)}>
        {label}
        <span class="caret" aria-hidden="true" />
      </button>
      {open.value && <div class="menu-body">{children}</div>}
    </div>
  );
}

/** Lines of code to take over. */
export function Snippet({ text }: { text: string }) {
  return (
    <div class="code">
      <pre>
        <code>{text}</code>
      </pre>
      <Copy text={text} />
    </div>
  );
}

/** A button that copies a text, also where the clipboard's own interface is not allowed. */
function Copy({ text }: { text: string }) {
  const done = useSignal(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      copyBySelection(text);
    }
    done.value = true;
    setTimeout(() => (done.value = false), 2000);
  };
  return (
    <button type="button" class="button" onClick={() => void copy()}>
      {done.value ? "Copied" : "Copy"}
    </button>
  );
}

function copyBySelection(text: string): void {
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}
