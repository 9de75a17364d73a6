/**
 * The guest's side of TensorBoard's message channel: JSON messages over a MessagePort that the guest hands to its
 * parent. A request carries a number and is answered by one message with the same number and `isReply`.
 */
interface Message {
  type: string;
  id: number;
  payload: unknown;
  error: string | null;
  isReply: boolean;
}

type Listener = (payload: unknown) => void;

export class Channel {
  private nextId = 0;
  private readonly waiting = new Map<number, { resolve: (payload: unknown) => void; reject: (error: Error) => void }>();
  private readonly listeners = new Map<string, Listener[]>();

  constructor(private readonly port: MessagePort) {
    port.onmessage = ({ data }: MessageEvent) => this.receive(data);
  }

  /** Opens a channel to the parent window, or returns null where there is no parent. */
  static toParent(self: Window): Channel | null {
    if (self.parent === self) return null;
    const { port1, port2 } = new MessageChannel();
    self.parent.postMessage("experimental.bootstrap", "*", [port2]);
    return new Channel(port1);
  }

  listen(type: string, listener: Listener): void {
    this.listeners.set(type, [...(this.listeners.get(type) ?? []), listener]);
  }

  /** Asks the parent; rejects after `timeoutMs`, because a parent that is not TensorBoard never answers. */
  ask(type: string, timeoutMs = 2000): Promise<unknown> {
    const id = this.nextId++;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.waiting.delete(id);
        reject(new Error(`no answer to ${type} within ${timeoutMs} ms`));
      }, timeoutMs);
      this.waiting.set(id, {
        resolve: (payload) => (clearTimeout(timer), resolve(payload)),
        reject: (error) => (clearTimeout(timer), reject(error)),
      });
      this.send({ type, id, payload: null, error: null, isReply: false });
    });
  }

  private receive(data: unknown): void {
    if (typeof data !== "string") return;
    const message = JSON.parse(data) as Message;
    if (message.isReply) {
      const waiting = this.waiting.get(message.id);
      this.waiting.delete(message.id);
      if (message.error) waiting?.reject(new Error(String(message.error)));
      else waiting?.resolve(message.payload);
      return;
    }
    for (const listener of this.listeners.get(message.type) ?? []) listener(message.payload);
    this.send({ ...message, payload: null, error: null, isReply: true });
  }

  private send(message: Message): void {
    this.port.postMessage(JSON.stringify(message));
  }
}
