import { describe, expect, it, vi } from "vitest";

import { Channel } from "../src/host/channel";
import { followTheme, theme } from "../src/host/theme";

/** One end of a channel whose other end is in the test's hands. */
function port() {
  const sent: Record<string, unknown>[] = [];
  const end = {
    onmessage: null as ((event: { data: unknown }) => void) | null,
    postMessage: (text: string) => sent.push(JSON.parse(text) as Record<string, unknown>),
  };
  const channel = new Channel(end as unknown as MessagePort);
  const receive = (message: object) => end.onmessage!({ data: JSON.stringify(message) });
  return { channel, sent, receive };
}

describe("channel to TensorBoard", () => {
  it("matches answers to questions by number", async () => {
    const { channel, sent, receive } = port();
    const [one, two] = [channel.ask("experimental.GetRuns"), channel.ask("experimental.GetURLPluginData")];
    expect(sent.map(({ type, id, isReply }) => [type, id, isReply])).toEqual([
      ["experimental.GetRuns", 0, false],
      ["experimental.GetURLPluginData", 1, false],
    ]);
    receive({ type: "experimental.GetURLPluginData", id: 1, payload: { run: "a" }, error: null, isReply: true });
    receive({ type: "experimental.GetRuns", id: 0, payload: ["a"], error: null, isReply: true });
    expect(await two).toEqual({ run: "a" });
    expect(await one).toEqual(["a"]);
  });
  it("tells listeners and answers with an empty reply", () => {
    const { channel, sent, receive } = port();
    const heard = vi.fn();
    channel.listen("experimental.DataReloaded", heard);
    channel.listen("experimental.DataReloaded", heard);
    receive({ type: "experimental.DataReloaded", id: 7, payload: null, error: null, isReply: false });
    expect(heard).toHaveBeenCalledTimes(2);
    expect(sent).toEqual([{ type: "experimental.DataReloaded", id: 7, payload: null, error: null, isReply: true }]);
  });
  it("rejects on an error and where nobody answers", async () => {
    const { channel, receive } = port();
    const failed = channel.ask("x");
    receive({ type: "x", id: 0, payload: null, error: "no", isReply: true });
    await expect(failed).rejects.toThrow("no");
    await expect(channel.ask("y", 1)).rejects.toThrow("no answer to y within 1 ms");
  });
  it("is not opened where there is no parent", () => expect(Channel.toParent(window as unknown as Window)).toBeNull());
});

describe("theme", () => {
  const preference = (matches: boolean) => ({ matches, addEventListener: vi.fn(), removeEventListener: vi.fn() });

  it("follows the class on TensorBoard's body", async () => {
    const parent = document.implementation.createHTMLDocument();
    const self = { parent: { document: parent }, document, matchMedia: () => preference(true) };
    const stop = followTheme(self as unknown as Window);
    expect(theme.value).toBe("light");
    parent.body.classList.add("dark-mode");
    await vi.waitFor(() => expect(theme.value).toBe("dark"));
    expect(document.documentElement.dataset.theme).toBe("dark");
    stop();
  });
  it("asks the system where TensorBoard cannot be seen", () => {
    const hidden = {
      document,
      matchMedia: () => preference(true),
      get parent() {
        return {
          get document(): Document {
            throw new DOMException("cross-origin");
          },
        };
      },
    };
    followTheme(hidden as unknown as Window)();
    expect(theme.value).toBe("dark");
    const alone: Record<string, unknown> = { document, matchMedia: () => preference(false) };
    alone.parent = alone;
    followTheme(alone as unknown as Window)();
    expect(theme.value).toBe("light");
  });
});
