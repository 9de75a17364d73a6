import { describe, expect, it, vi } from "vitest";

import { ApiError, Client, routeUrl, type Fetch } from "../src/api/client";
import { Resource } from "../src/state/resource";
import { read } from "./recorded";

const json = (body: unknown, status = 200) => new Response(JSON.stringify(body), { status });

describe("addresses", () => {
  it("stay below the module, behind any prefix", () => {
    const base = "http://host/user/me/proxy/6107/data/plugin/stepperf/index.js";
    expect(routeUrl(base, "runs")).toBe("http://host/user/me/proxy/6107/data/plugin/stepperf/runs");
    expect(routeUrl(base, "bands", { run: "a&b=c?d#e/100% \u{1F680}", bins: 20, start: null, include: "" })).toBe(
      "http://host/user/me/proxy/6107/data/plugin/stepperf/bands?run=a%26b%3Dc%3Fd%23e%2F100%25+%F0%9F%9A%80&bins=20",
    );
    expect(routeUrl("http://host/index.js", "comparison", { baseline: ["a", "b&c"], candidate: ["d"] })).toBe(
      "http://host/comparison?baseline=a&baseline=b%26c&candidate=d",
    );
  });
});

describe("client", () => {
  const client = (fetcher: Fetch) => new Client("http://host/data/plugin/stepperf/index.js", fetcher);
  it("returns the data", async () => {
    expect(await client(async () => json({ runs: [] })).get("runs", {})).toEqual({ runs: [] });
  });
  it("passes on the server's words", async () => {
    const failed = client(async () => json(read("error"), 400)).get("bands", {});
    await expect(failed).rejects.toMatchObject({
      message: "bins is '9000'; an integer in [1, 2000] is allowed",
      code: "bad_parameter",
      status: 400,
      parameter: "bins",
    });
    await expect(failed).rejects.toBeInstanceOf(ApiError);
  });
  it("says what to check where there is no answer", async () => {
    await expect(
      client(async () => {
        throw new TypeError("Failed to fetch");
      }).get("runs", {}),
    ).rejects.toThrow("TensorBoard did not answer");
    await expect(client(async () => new Response("<html>", { status: 502 })).get("runs", {})).rejects.toThrow(
      "status 502 and something that is not JSON",
    );
    await expect(client(async () => json({}, 503)).get("runs", {})).rejects.toThrow("status 503");
  });
});

describe("resource", () => {
  function deferred<T>() {
    let resolve!: (value: T) => void;
    let reject!: (error: Error) => void;
    const promise = new Promise<T>((yes, no) => ([resolve, reject] = [yes, no]));
    return { promise, resolve, reject };
  }

  it("drops an answer that arrives after a newer one, and aborts its request", async () => {
    const resource = new Resource<string>();
    const [slow, fast] = [deferred<string>(), deferred<string>()];
    let aborted = false;
    const first = resource.load(
      "a",
      (signal) => (signal.addEventListener("abort", () => (aborted = true)), slow.promise),
    );
    const second = resource.load("b", () => fast.promise);
    fast.resolve("new");
    await second;
    slow.resolve("old");
    await first;
    expect(aborted).toBe(true);
    expect(resource.state.value).toEqual({ data: "new", key: "b", error: null, loading: false });
  });
  it("does not ask twice for the same", async () => {
    const resource = new Resource<string>();
    const fetcher = vi.fn(async () => "x");
    await resource.load("a", fetcher);
    await resource.load("a", fetcher);
    expect(fetcher).toHaveBeenCalledTimes(1);
  });
  it("keeps what it had when the next answer fails, and asks again when told to", async () => {
    const resource = new Resource<string>();
    await resource.load("a", async () => "old");
    await resource.load("b", async () => {
      throw new Error("broken");
    });
    expect(resource.state.value).toMatchObject({ data: "old", key: "a", loading: false, error: new Error("broken") });
    await resource.load("b", async () => "new");
    expect(resource.state.value).toEqual({ data: "new", key: "b", error: null, loading: false });
  });
  it("stays silent about aborted requests and forgets when cleared", async () => {
    const resource = new Resource<string>();
    await resource.load("a", async () => {
      throw Object.assign(new Error("stop"), { name: "AbortError" });
    });
    expect(resource.state.value.error).toBeNull();
    resource.clear();
    expect(resource.state.value).toEqual({ data: null, key: null, error: null, loading: false });
  });
});
