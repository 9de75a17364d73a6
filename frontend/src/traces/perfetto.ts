import { signal } from "@preact/signals";

import type { ErrorBody } from "../api/types";

/**
 * Hands a trace to Perfetto in a window of its own, as Perfetto documents it ("Deep linking to the Perfetto UI"): the
 * window does not queue messages, so "PING" is sent until it answers "PONG", then the file goes over in a message.
 * Nothing is uploaded, and neither side needs the other's permission to fetch.
 */

const PING_MS = 100;
/** Within this time Perfetto must have answered. */
export const LIMIT_MS = 20_000;

/** Nanoseconds as Perfetto counts them. */
export interface Stretch {
  startNs: bigint;
  endNs: bigint;
}

export interface HandOver {
  trace: string;
  state: "opening" | "fetching" | "done" | "failed";
  /** Why it failed, and the way out, in a sentence. */
  message: string | null;
}

export interface Request {
  trace: string;
  title: string;
  fileName: string;
  /** Where the view begins; null: all of it. */
  stretch: Stretch | null;
}

/** What a browser window must be able to do for this; tests give a smaller one. */
export type Opener = Pick<Window, "open" | "addEventListener" | "removeEventListener">;

/** The stretch from `startMs` to `endMs` of a trace whose first event Perfetto shows at `originS`, with some room. */
export function stretchOf(originS: number, startMs: number, endMs: number): Stretch {
  const room = Math.max(0.01, (endMs - startMs) * 0.05);
  const origin = BigInt(Math.round(originS * 1e6)) * 1000n; // As fine as a number of seconds since the epoch is.
  const ns = (ms: number) => origin + BigInt(Math.round(ms * 1e6));
  const start = ns(startMs - room);
  return { startNs: start < 0n ? 0n : start, endNs: ns(endMs + room) };
}

/** Perfetto's address for a stretch; null where `base` is no address of the web. */
export function perfettoAddress(base: string, stretch: Stretch | null): URL | null {
  let address: URL;
  try {
    address = new URL(base);
  } catch {
    return null; // A mistyped flag; the tab says so.
  }
  if (!/^https?:$/.test(address.protocol)) return null;
  if (stretch) address.hash = `!/?visStart=${stretch.startNs}&visEnd=${stretch.endNs}`;
  return address;
}

export class PerfettoDoor {
  readonly state = signal<HandOver | null>(null);
  private current: AbortController | null = null;

  constructor(
    private readonly self: Opener,
    private readonly fileUrl: (trace: string) => string,
    private readonly fetcher: (url: string, signal: AbortSignal) => Promise<Response> = (url, signal) =>
      fetch(url, { signal }),
  ) {}

  /**
   * Opens `base` and hands the trace over. Call it while a click is handled: later on browsers block new windows.
   * How it went stands in `state`; nothing is thrown.
   */
  async open(base: string, { trace, title, fileName, stretch }: Request): Promise<void> {
    this.current?.abort();
    const control = (this.current = new AbortController());
    const tell = (state: HandOver["state"], message: string | null = null) => {
      if (this.current === control) this.state.value = { trace, state, message };
    };
    const address = perfettoAddress(base, stretch);
    if (!address) return tell("failed", `The address of Perfetto, “${base}”, is not one of the web.`);
    const target = this.self.open(address.href, "_blank");
    if (!target)
      return tell("failed", "The browser blocked the new window: allow pop-ups for this page and try again.");
    tell("opening");
    const fetched = this.fetchFile(trace, control.signal).catch((error: Error) => {
      control.abort(error.message);
      return null;
    });
    let problem = await this.answered(target, address, control.signal);
    if (problem === null) tell("fetching");
    const buffer = problem === null ? await fetched : null;
    if (control.signal.aborted) problem = String(control.signal.reason);
    if (problem !== null || buffer === null) {
      target.close();
      return tell("failed", problem);
    }
    target.postMessage({ perfetto: { buffer, title, fileName } }, address.origin, [buffer]);
    tell("done");
  }

  /** Waits for Perfetto's answer: null when it came, else what went wrong. Only that window at that origin is heard. */
  private answered(target: Window, { origin }: URL, signal: AbortSignal): Promise<string | null> {
    return new Promise((resolve) => {
      const started = Date.now();
      const finish = (problem: string | null) => {
        clearInterval(timer);
        this.self.removeEventListener("message", listen);
        resolve(problem);
      };
      const listen = (event: MessageEvent) => {
        if (event.source === target && event.origin === origin && event.data === "PONG") finish(null);
      };
      const timer = setInterval(() => {
        if (target.closed) finish("Perfetto’s window was closed before it had the trace.");
        else if (Date.now() - started > LIMIT_MS)
          finish(`${origin} did not answer within ${LIMIT_MS / 1000} s: this browser may not reach it.`);
        else if (hasLeft(target, origin)) target.postMessage("PING", origin);
      }, PING_MS);
      this.self.addEventListener("message", listen);
      signal.addEventListener("abort", () => finish(String(signal.reason)));
    });
  }

  private async fetchFile(trace: string, signal: AbortSignal): Promise<ArrayBuffer> {
    let response: Response;
    try {
      response = await this.fetcher(this.fileUrl(trace), signal);
      if (response.ok) return await response.arrayBuffer();
    } catch {
      throw new Error("The trace could not be fetched: TensorBoard did not answer, or broke off at a damaged place.");
    }
    const body = (await response.json().catch(() => null)) as ErrorBody | null;
    throw new Error(`The trace could not be fetched: ${body?.error.message ?? `status ${response.status}`}.`);
  }
}

/** Whether a new window is at its address yet: a message before that would be refused, and the browser complain. */
function hasLeft(target: Window, origin: string): boolean {
  try {
    return target.location.origin === origin;
  } catch {
    return true; // Another origin than ours: it is no longer the empty page.
  }
}
