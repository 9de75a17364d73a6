import { describe, expect, it, vi } from "vitest";

import { Lazy } from "../src/state/lazy";

const sheets = () => [...document.querySelectorAll("link")].map((link) => link.href.split("/").pop());

describe("a part that comes later", () => {
  it("is fetched once, with its style sheet", async () => {
    const load = vi.fn(async () => "part");
    const lazy = new Lazy("once.css", load);
    expect(lazy.part.value).toBeNull();
    await Promise.all([lazy.fetch(), lazy.fetch()]);
    await lazy.fetch();
    expect([lazy.part.value, lazy.failed.value, load.mock.calls.length]).toEqual(["part", false, 1]);
    expect(sheets().filter((name) => name === "once.css")).toHaveLength(1);
  });
  it("that did not come is said and can be fetched again", async () => {
    const load = vi.fn<() => Promise<string>>().mockRejectedValueOnce(new Error("offline")).mockResolvedValue("part");
    const lazy = new Lazy("again.css", load);
    await lazy.fetch();
    expect([lazy.part.value, lazy.failed.value]).toEqual([null, true]);
    await lazy.fetch();
    expect([lazy.part.value, lazy.failed.value]).toEqual(["part", false]);
    expect(sheets().filter((name) => name === "again.css")).toHaveLength(1);
  });
});
