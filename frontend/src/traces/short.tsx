import { middle } from "./words";

/** A long name from a trace, its middle left out; the whole of it is the title. Always text, never markup. */
export function Short({ text, length = 60 }: { text: string; length?: number }) {
  return (
    <bdi class="name" title={text} data-name={text}>
      {middle(text, length)}
    </bdi>
  );
}
