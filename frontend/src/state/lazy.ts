import { signal } from "@preact/signals";

import { loadStyle } from "../host/style";

/** A part of the tab whose code is fetched when it is needed, so that the first view stays small. */
export class Lazy<T> {
  /** The part, once it is there. */
  readonly part = signal<T | null>(null);
  /** It did not come; `fetch` tries again. */
  readonly failed = signal(false);
  private asked: Promise<void> | null = null;
  private styled: Promise<void> | null = null;

  /**
   * @param style - its style sheet.
   * @param load - imports the module and makes of it what the page needs.
   */
  constructor(
    private readonly style: string,
    private readonly load: () => Promise<T>,
  ) {}

  /** Fetches it, once. */
  fetch(): Promise<void> {
    return (this.asked ??= this.tryToLoad());
  }

  private async tryToLoad(): Promise<void> {
    try {
      const [part] = await Promise.all([this.load(), (this.styled ??= loadStyle(this.style))]);
      this.part.value = part;
      this.failed.value = false;
    } catch {
      this.asked = null;
      this.failed.value = true; // Said in the panel, which offers to try again.
    }
  }
}
