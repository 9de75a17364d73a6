import { effect } from "@preact/signals";
import { render as renderTree } from "preact";

import { Client } from "./api/client";
import { addressWindow, readHash, replaceAddress } from "./host/address";
import { hostSelection } from "./host/selection";
import { loadStyle } from "./host/style";
import { connect } from "./host/tensorboard";
import { followTheme } from "./host/theme";
import { keepFresh } from "./state/live";
import { Page } from "./state/page";
import { choiceFromPairs, choicePairs } from "./state/trace-choice";
import { fromPairs, toPairs } from "./state/url";
import { App } from "./views/app";

export * from "./shared";

/** Called by TensorBoard once, in the frame of the tab. */
export async function render(): Promise<void> {
  document.documentElement.lang = "en";
  document.title = "Step performance";
  followTheme(window);
  const host = connect(window);
  const [pairs] = await Promise.all([host.readState(), loadStyle("style.css")]);
  const page = new Page(new Client(import.meta.url), fromPairs(pairs));
  page.traces.choice.value = choiceFromPairs(pairs);
  const address = addressWindow(window);
  const allPairs = () => ({ ...toPairs(page.view.value), ...choicePairs(page.traces.choice.value) });

  const readSelection = () =>
    (page.hostSelection.value =
      address === window ? null : hostSelection(address.location.search, address.location.hash));
  readSelection();
  host.onDataReloaded(readSelection);
  address.addEventListener("hashchange", () => {
    readSelection();
    const next = readHash(address.location.hash);
    if (JSON.stringify(next) === JSON.stringify(allPairs()) || !Object.keys(next).length) return;
    page.view.value = fromPairs(next);
    page.traces.choice.value = choiceFromPairs(next);
  });

  const root = document.createElement("div");
  root.id = "stepperf";
  document.body.append(root);
  renderTree(<App page={page} />, root);
  page.start();
  keepFresh(page, host, window);
  await page.refresh();
  effect(() => {
    const pairs = allPairs();
    if (page.shown.value.length) replaceAddress(address, pairs);
  });
}
