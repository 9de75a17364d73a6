import { signal, type Signal } from "@preact/signals";

import { isAbort } from "../api/client";

export interface Loaded<T> {
  /** The newest answer; it stays while the next one is under way, and when that fails. */
  data: T | null;
  /** What `data` answers. */
  key: string | null;
  error: Error | null;
  loading: boolean;
}

/**
 * One thing that is fetched again whenever its key changes. A newer request aborts the older one, and an answer that
 * arrives out of turn is dropped.
 */
export class Resource<T> {
  readonly state: Signal<Loaded<T>> = signal({ data: null, key: null, error: null, loading: false });
  private turn = 0;
  private wanted: string | null = null;
  private controller: AbortController | null = null;

  /**
   * Fetches unless `key` is what is there or under way. The fetcher may hand over what it has so far to its second
   * argument.
   */
  async load(key: string, fetcher: (signal: AbortSignal, partly: (data: T) => void) => Promise<T>): Promise<void> {
    if (key === this.wanted) return;
    this.wanted = key;
    this.controller?.abort();
    const controller = new AbortController();
    this.controller = controller;
    const turn = ++this.turn;
    this.state.value = { ...this.state.peek(), loading: true };
    try {
      const data = await fetcher(controller.signal, (part) => {
        if (turn === this.turn) this.state.value = { data: part, key, error: null, loading: true };
      });
      if (turn === this.turn) this.state.value = { data, key, error: null, loading: false };
    } catch (error) {
      if (turn !== this.turn || isAbort(error)) return;
      this.wanted = null;
      this.state.value = { ...this.state.peek(), error: error as Error, loading: false };
    }
  }

  /** Forgets what is there, for a selection to which it says nothing. */
  clear(): void {
    this.controller?.abort();
    this.turn += 1;
    this.wanted = null;
    this.state.value = { data: null, key: null, error: null, loading: false };
  }
}
