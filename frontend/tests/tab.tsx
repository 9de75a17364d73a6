import { render } from "preact";
import { afterEach, beforeEach, expect, vi } from "vitest";

import { Client } from "../src/api/client";
import type { TraceList } from "../src/api/traces";
import type { Catalog } from "../src/api/types";
import { Page } from "../src/state/page";
import { INITIAL, type View } from "../src/state/view";
import { App } from "../src/views/app";
import { comparisons, read, run, traces } from "./recorded";

/** The tab in a document without layout, over recorded answers. Use only in tests that mock charts/plot. */

export let root: HTMLElement;
let stop: (() => void) | undefined;
export const requests: URL[] = [];

beforeEach(() => {
  root = document.createElement("div");
  document.body.append(root);
  requests.length = 0;
});
afterEach(() => {
  stop?.();
  render(null, root);
  root.remove();
});

/** Another answer than the recorded one; undefined leaves it at that. */
export type Answer = (url: URL) => { status?: number; body: unknown } | undefined;

export const NAMES = read<Catalog>("names");
export const NO_TRACES: TraceList = { ...traces().list, traces: [], windows_without_trace: [], problems: [] };
export const routeOf = (url: URL): string => url.pathname.split("/").at(-1)!;

/** The tab over answers by route; recorded runs by default. */
export async function show(runs: Catalog, view: Partial<View> = {}, answer?: Answer): Promise<Page> {
  const client = new Client("http://host/data/plugin/stepperf/index.js", async (text) => {
    const url = new URL(text);
    requests.push(url);
    const route = routeOf(url);
    const recorded = () =>
      route === "traces"
        ? NO_TRACES
        : route === "comparison"
          ? comparisons().same
          : { ...run("resnet50"), ...(runs === NAMES ? {} : run(url.searchParams.get("run")!)) }[route as "bands"];
    const { status = 200, body } = (route === "runs" ? { body: runs } : answer?.(url)) ?? { body: recorded() };
    return new Response(JSON.stringify(body), { status });
  });
  const page = new Page(client, { ...INITIAL, ...view });
  stop = page.start();
  render(<App page={page} />, root);
  await page.refresh();
  await vi.waitFor(() => expect(page.loading.value).toBe(false));
  await new Promise((resolve) => setTimeout(resolve));
  return page;
}

export const text = (): string => root.textContent ?? "";
export const entries = (...runs: string[]): Pick<View, "entries"> => ({
  entries: runs.map((name) => ({ run: name, member: null })),
});
export const button = (label: string): HTMLButtonElement =>
  [...root.querySelectorAll("button")].find((element) => element.textContent === label)!;
export const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));
