import { addressWindow, readHash, type Pairs } from "./address";
import { Channel } from "./channel";

/** What the page needs from the application around it. */
export interface Host {
  /** State of the page as found in the address. */
  readState(): Promise<Pairs>;
  onDataReloaded(listener: () => void): void;
  onRunsChanged(listener: () => void): void;
}

/** TensorBoard, over its documented messages; without it, the page's own address and no events. */
export function connect(self: Window): Host {
  const channel = Channel.toParent(self);
  const fromAddress = () => readHash(addressWindow(self).location.hash);
  return {
    async readState() {
      // The address itself is asked first: TensorBoard answers from a copy that it takes only when the hash changes.
      const own = fromAddress();
      if (!channel || Object.keys(own).length) return own;
      try {
        const data = await channel.ask("experimental.GetURLPluginData");
        return typeof data === "object" && data !== null ? (data as Pairs) : own;
      } catch {
        return own; // A parent that does not speak the protocol.
      }
    },
    onDataReloaded: (listener) => channel?.listen("experimental.DataReloaded", listener),
    onRunsChanged: (listener) => channel?.listen("experimental.RunsChanged", listener),
  };
}
