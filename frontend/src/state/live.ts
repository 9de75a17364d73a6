import { effect } from "@preact/signals";

import type { Host } from "../host/tensorboard";
import type { Page } from "./page";

const POLL_MS = 5000;

/** Keeps the page fresh: when TensorBoard says so, and by polling while a shown run is live or nothing is there yet. */
export function keepFresh(page: Page, host: Host, self: Window): () => void {
  const refresh = () => void page.refresh();
  host.onDataReloaded(refresh);
  host.onRunsChanged(refresh);
  let timer = 0;
  const stop = effect(() => {
    const waiting = page.catalog.state.value.data?.runs.length === 0;
    self.clearInterval(timer);
    if (page.live.value || waiting) timer = self.setInterval(() => isVisible(self) && refresh(), POLL_MS);
  });
  return () => {
    stop();
    self.clearInterval(timer);
  };
}

/** TensorBoard hides a tab's frame by giving it no height. */
function isVisible(self: Window): boolean {
  return self.document.visibilityState === "visible" && self.innerHeight > 0;
}
