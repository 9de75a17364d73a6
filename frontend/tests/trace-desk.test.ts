import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { Client } from "../src/api/client";
import type { Progress, TraceAnswer } from "../src/api/traces";
import { Page } from "../src/state/page";
import { INITIAL } from "../src/state/view";
import { Desk } from "../src/traces/desk";
import { traces } from "./recorded";
import { routeOf } from "./tab";

// How reading goes: asked for by a person, polled, cancelled, refused; answers out of turn are dropped.

const { cpu, comparison } = traces();
const answer = (trace: string, state: Progress["state"], extra: Partial<TraceAnswer> = {}): TraceAnswer => ({
  trace,
  state,
  progress: 0,
  num_ahead: 0,
  message: null,
  summary: null,
  ...extra,
});

let asked: string[];
let replies: ((url: URL) => unknown)[];
let page: Page;
let desk: Desk;

beforeEach(() => {
  vi.useFakeTimers();
  [asked, replies] = [[], []];
  const client = new Client("http://host/", (text) => {
    const url = new URL(text);
    asked.push(`${routeOf(url)}${url.search}`);
    const reply = replies.length > 1 ? replies.shift()! : replies[0]!;
    const body = reply(url);
    if (body instanceof Promise) return body as Promise<Response>;
    return Promise.resolve(new Response(JSON.stringify(body)));
  });
  page = new Page(client, INITIAL);
  desk = new Desk(page, client);
});
afterEach(() => {
  desk.stop();
  vi.useRealTimers();
});

const tick = (ms: number) => vi.advanceTimersByTimeAsync(ms);

describe("reading a trace", () => {
  it("begins when it is opened, is polled, and ends", async () => {
    replies = [
      () => answer("a", "queued", { num_ahead: 2 }),
      () => answer("a", "reading", { progress: 0.4 }),
      () => answer("a", "done", { progress: 1, summary: cpu }),
    ];
    expect(desk.reading("a").value.state).toBe("unread");
    expect(asked).toEqual([]);
    desk.open("a");
    expect(page.traces.choice.value.open).toBe("a");
    await tick(0);
    expect(desk.reading("a").value).toMatchObject({ state: "queued", num_ahead: 2 });
    await tick(500);
    expect(desk.reading("a").value).toMatchObject({ state: "reading", progress: 0.4 });
    await tick(500);
    expect(desk.reading("a").value.summary).toEqual(cpu);
    await tick(5000);
    expect(asked).toEqual(["trace?trace=a", "trace?trace=a", "trace?trace=a"]);
    desk.close();
    desk.open("a");
    await tick(1000);
    expect(asked).toHaveLength(3);
  });
  it("is asked for by an address that names it", async () => {
    replies = [() => answer("b", "done", { summary: cpu })];
    page.traces.choose({ open: "b" });
    await tick(0);
    expect(asked).toEqual(["trace?trace=b"]);
  });
  it("can be cancelled and begun anew; an answer on its way counts no more", async () => {
    let free: (found: Response) => void = () => {};
    replies = [
      () => new Promise<Response>((resolve) => (free = resolve)),
      () => answer("a", "cancelled"),
      () => answer("a", "done", { summary: cpu }),
    ];
    desk.open("a");
    await tick(0);
    void desk.cancel("a");
    await tick(0);
    expect(desk.reading("a").value.state).toBe("cancelled");
    free(new Response(JSON.stringify(answer("a", "reading"))));
    await tick(2000);
    expect(desk.reading("a").value.state).toBe("cancelled");
    expect(asked).toEqual(["trace?trace=a", "trace?trace=a&cancel=1"]);
    await desk.read("a");
    expect(desk.reading("a").value.state).toBe("done");
  });
  it("says why a file is refused, and what went wrong on the way", async () => {
    replies = [() => answer("a", "refused", { message: "the file was cut at byte 12." })];
    desk.open("a");
    await tick(5000);
    expect(desk.reading("a").value).toMatchObject({ state: "refused", message: "the file was cut at byte 12." });
    expect(asked).toHaveLength(1);
    replies = [() => Promise.reject(new TypeError("offline"))];
    desk.open("c");
    await tick(5000);
    expect(desk.reading("c").value.state).toBe("failed");
    expect(desk.reading("c").value.message).toMatch(/^TensorBoard did not answer/);
    expect(asked).toHaveLength(2);
  });
  it("stops asking when the page goes", async () => {
    replies = [() => answer("a", "reading")];
    desk.open("a");
    await tick(600);
    const before = asked.length;
    desk.stop();
    await tick(5000);
    expect(asked).toHaveLength(before);
  });
});

describe("comparing two", () => {
  const sides = (before: Progress["state"], after: Progress["state"], found: unknown = null) => ({
    before: answer("a", before),
    after: answer("b", after),
    comparison: found,
  });
  it("reads both and asks until they are compared", async () => {
    replies = [
      () => sides("reading", "queued"),
      () => sides("done", "reading"),
      () => sides("done", "done", comparison),
    ];
    desk.comparePair("a", "b");
    await tick(0);
    expect(desk.comparing.value).toMatchObject({ before: { state: "reading" }, after: { state: "queued" } });
    await tick(1000);
    expect(desk.comparing.value!.comparison).toEqual(comparison);
    await tick(5000);
    expect(asked).toEqual(Array(3).fill("trace_comparison?before=a&after=b"));
  });
  it("ends where one is refused, and can be tried again", async () => {
    replies = [() => sides("done", "refused")];
    desk.comparePair("a", "b");
    await tick(5000);
    expect(asked).toHaveLength(1);
    desk.comparePair("a", "b");
    await tick(0);
    expect(asked).toHaveLength(2);
  });
  it("is cancelled for what is under way", async () => {
    replies = [() => sides("done", "reading"), () => answer("b", "cancelled")];
    desk.comparePair("a", "b");
    await tick(0);
    await desk.cancelPair();
    expect(desk.comparing.value).toMatchObject({ before: { state: "done" }, after: { state: "cancelled" } });
    await tick(5000);
    expect(asked).toEqual(["trace_comparison?before=a&after=b", "trace?trace=b&cancel=1"]);
  });
  it("says what went wrong, and forgets it with the next pair", async () => {
    replies = [() => Promise.reject(new TypeError("offline"))];
    desk.comparePair("a", "b");
    await tick(0);
    expect(desk.comparing.value!.error).toMatch(/did not answer/);
    replies = [() => sides("done", "done", comparison)];
    desk.comparePair("b", "a");
    await tick(0);
    expect(desk.comparing.value).toMatchObject({ error: null, comparison });
    desk.endComparison();
    expect(desk.comparing.value).toBeNull();
  });
});
