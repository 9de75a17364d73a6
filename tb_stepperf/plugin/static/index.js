// Built from frontend/src by `npm run build`. Edit the sources, not this file.

// src/index.tsx
import { effect as effect3 } from "./vendor.js";
import { render as renderTree } from "./vendor.js";

// src/api/client.ts
var ApiError = class extends Error {
  constructor(message, code, status, parameter = null) {
    super(message);
    this.code = code;
    this.status = status;
    this.parameter = parameter;
    this.name = "ApiError";
  }
  code;
  status;
  parameter;
};
function routeUrl(base, route, parameters = {}) {
  const url = new URL(`./${route}`, base);
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== null && value !== void 0 && value !== "") url.searchParams.set(name, String(value));
  }
  return url.href;
}
var Client = class {
  constructor(base, fetcher = (url, init) => fetch(url, init)) {
    this.base = base;
    this.fetcher = fetcher;
  }
  base;
  fetcher;
  url(route, parameters = {}) {
    return routeUrl(this.base, route, parameters);
  }
  /**
   * Fetches one route.
   *
   * @throws ApiError with the server's message, or with what to check where there was no usable answer. An aborted
   *   request rejects with the `AbortError` of fetch.
   */
  async get(route, parameters, signal4) {
    let response;
    try {
      response = await this.fetcher(this.url(route, parameters), signal4 ? { signal: signal4 } : {});
    } catch (error2) {
      if (isAbort(error2)) throw error2;
      throw new ApiError("TensorBoard did not answer. Is it still running, and is the network up?", "network", 0);
    }
    let body;
    try {
      body = await response.json();
    } catch (error2) {
      if (isAbort(error2)) throw error2;
      const message = `TensorBoard answered /${route} with status ${response.status} and something that is not JSON.`;
      throw new ApiError(message, "not_json", response.status);
    }
    if (response.ok) return body;
    const { error } = body;
    throw new ApiError(
      error?.message ?? `TensorBoard answered /${route} with status ${response.status}.`,
      error?.code ?? "unknown",
      response.status,
      error?.parameter ?? null
    );
  }
};
function isAbort(error) {
  return error instanceof Error && error.name === "AbortError";
}

// src/host/address.ts
var PREFIX = "p.stepperf.";
function readHash(hash) {
  const pairs = {};
  for (const token of hash.replace(/^#/, "").split("&")) {
    const [key, value] = token.split("=");
    if (key === void 0 || value === void 0) continue;
    try {
      const name = decodeURIComponent(key);
      if (name.startsWith(PREFIX)) pairs[name.slice(PREFIX.length)] = decodeURIComponent(value);
    } catch {
      continue;
    }
  }
  return pairs;
}
function writeHash(hash, pairs) {
  const others = hash.replace(/^#/, "").split("&").filter((token) => token !== "" && !token.startsWith(PREFIX));
  const ours = Object.entries(pairs).map(([key, value]) => `${PREFIX}${key}=${encodeURIComponent(value)}`);
  return `#${[...others, ...ours].join("&")}`;
}
function addressWindow(self) {
  try {
    if (self.parent !== self && typeof self.parent.location.hash === "string") return self.parent;
  } catch {
    return self;
  }
  return self;
}
function replaceAddress(target, pairs) {
  const hash = writeHash(target.location.hash, pairs);
  if (hash === target.location.hash) return;
  target.history.replaceState(target.history.state, "", target.location.pathname + target.location.search + hash);
}

// src/host/selection.ts
function regex(text2) {
  if (!text2) return null;
  try {
    return new RegExp(text2);
  } catch {
    return null;
  }
}
function states(encoded) {
  if (!encoded) return /* @__PURE__ */ new Map();
  try {
    const parsed = JSON.parse(atob(encoded));
    if (typeof parsed !== "object" || parsed === null) return /* @__PURE__ */ new Map();
    return new Map(Object.entries(parsed).filter((entry) => typeof entry[1] === "boolean"));
  } catch {
    return /* @__PURE__ */ new Map();
  }
}
function hostSelection(search, hash) {
  const parameters = new URLSearchParams(hash.replace(/^#/, ""));
  const filterText = new URLSearchParams(search).get("runFilter") ?? parameters.get("regexInput");
  const filter = regex(filterText);
  const chosen = states(parameters.get("runSelectionState") ?? void 0);
  if (!filter && chosen.size === 0) return null;
  const parts = [filter ? `run filter “${filterText}”` : "", chosen.size ? "run selection" : ""].filter(Boolean);
  return {
    contains: (name) => (filter?.test(name) ?? true) && (chosen.get(name) ?? true),
    description: `TensorBoard’s ${parts.join(" and ")}`
  };
}

// src/host/channel.ts
var Channel = class _Channel {
  constructor(port) {
    this.port = port;
    port.onmessage = ({ data }) => this.receive(data);
  }
  port;
  nextId = 0;
  waiting = /* @__PURE__ */ new Map();
  listeners = /* @__PURE__ */ new Map();
  /** Opens a channel to the parent window, or returns null where there is no parent. */
  static toParent(self) {
    if (self.parent === self) return null;
    const { port1, port2 } = new MessageChannel();
    self.parent.postMessage("experimental.bootstrap", "*", [port2]);
    return new _Channel(port1);
  }
  listen(type, listener) {
    this.listeners.set(type, [...this.listeners.get(type) ?? [], listener]);
  }
  /** Asks the parent; rejects after `timeoutMs`, because a parent that is not TensorBoard never answers. */
  ask(type, timeoutMs = 2e3) {
    const id = this.nextId++;
    return new Promise((resolve2, reject) => {
      const timer = setTimeout(() => {
        this.waiting.delete(id);
        reject(new Error(`no answer to ${type} within ${timeoutMs} ms`));
      }, timeoutMs);
      this.waiting.set(id, {
        resolve: (payload) => (clearTimeout(timer), resolve2(payload)),
        reject: (error) => (clearTimeout(timer), reject(error))
      });
      this.send({ type, id, payload: null, error: null, isReply: false });
    });
  }
  receive(data) {
    if (typeof data !== "string") return;
    const message = JSON.parse(data);
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
  send(message) {
    this.port.postMessage(JSON.stringify(message));
  }
};

// src/host/tensorboard.ts
function connect(self) {
  const channel = Channel.toParent(self);
  const fromAddress = () => readHash(addressWindow(self).location.hash);
  return {
    async readState() {
      if (!channel) return fromAddress();
      try {
        const data = await channel.ask("experimental.GetURLPluginData");
        return typeof data === "object" && data !== null ? data : fromAddress();
      } catch {
        return fromAddress();
      }
    },
    onDataReloaded: (listener) => channel?.listen("experimental.DataReloaded", listener),
    onRunsChanged: (listener) => channel?.listen("experimental.RunsChanged", listener)
  };
}

// src/host/theme.ts
import { signal } from "./vendor.js";
var theme = signal("light");
function parentDocument(self) {
  try {
    return self.parent !== self ? self.parent.document : null;
  } catch {
    return null;
  }
}
function followTheme(self) {
  const parent = parentDocument(self);
  const preference = self.matchMedia("(prefers-color-scheme: dark)");
  const apply = () => {
    const dark = parent?.body ? parent.body.classList.contains("dark-mode") : preference.matches;
    self.document.documentElement.dataset.theme = dark ? "dark" : "light";
    theme.value = dark ? "dark" : "light";
  };
  apply();
  if (parent?.body) {
    const observer = new MutationObserver(apply);
    observer.observe(parent.body, { attributes: true, attributeFilter: ["class"] });
    return () => observer.disconnect();
  }
  preference.addEventListener("change", apply);
  return () => preference.removeEventListener("change", apply);
}

// src/state/live.ts
import { effect } from "./vendor.js";
var POLL_MS = 5e3;
function keepFresh(page, host, self) {
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
function isVisible(self) {
  return self.document.visibilityState === "visible" && self.innerHeight > 0;
}

// src/state/page.ts
import { computed, effect as effect2, signal as signal3 } from "./vendor.js";

// src/charts/bins.ts
function chooseOrigin(start, end) {
  const exact = BigInt(Number.MAX_SAFE_INTEGER);
  if (start >= -exact && end <= exact) return 0n;
  const span2 = end > start ? end - start : 1n;
  const round = 10n ** BigInt(span2.toString().length + 1);
  return start / round * round;
}
function placeBins(axis, sample, origin) {
  const shift = Number(BigInt(axis.base) - origin);
  const raw = sample.num_in_range === axis.start.length;
  const start = axis.start.map((value) => value + shift);
  const end = axis.end.map((value) => value + shift);
  return { start, end, raw, x: raw ? start : start.map((value, i) => (value + end[i]) / 2) };
}
function binAt({ start, end, x: centres }, x) {
  if (start.length === 0 || x < start[0] - width(start, end, 0) || x > end.at(-1)) return -1;
  let low = 0;
  let high = start.length - 1;
  while (low < high) {
    const middle = low + high + 1 >> 1;
    if (start[middle] <= x) low = middle;
    else high = middle - 1;
  }
  const next = low + 1;
  if (next < start.length && Math.abs(centres[next] - x) < Math.abs(centres[low] - x) && x >= end[low]) return next;
  return low;
}
var width = (start, end, i) => end[i] - start[i];
function bridge(values, reach = 2) {
  const result = [...values];
  for (let i = 0; i < values.length; i++) {
    if (values[i] !== null) continue;
    let end = i;
    while (end < values.length && values[end] === null) end += 1;
    if (i > 0 && end < values.length && end - i <= reach) result.fill(void 0, i, end);
    i = end;
  }
  return result;
}
function align(tables) {
  if (tables.length === 1) return tables[0];
  const x = [...new Set(tables.flatMap((table) => table.x))].sort((a, b) => a - b);
  const place = new Map(x.map((value, i) => [value, i]));
  const columns = tables.flatMap((table) => {
    const at = table.x.map((value) => place.get(value));
    return table.columns.map((column) => {
      const aligned = new Array(x.length).fill(void 0);
      column.forEach((value, i) => aligned[at[i]] = value);
      return aligned;
    });
  });
  return { x, columns };
}

// src/state/catalog.ts
function memberOf(run, member) {
  return member === null ? run.members[0] : run.members.find((m) => m.member === member);
}
function membersByRun(catalog) {
  return new Map(catalog.runs.map((run) => [run.run, run.members.map((member) => member.member)]));
}
function defaultEntry(catalog, selection) {
  const usable = catalog.runs.filter((run) => run.members.length > 0);
  const selected = selection ? usable.filter((run) => isSelected(run, selection)) : usable;
  const pool = selected.length ? selected : usable;
  const newest = pool.reduce((best, run) => !best || lastWallTime(run) > lastWallTime(best) ? run : best, null);
  return newest ? { run: newest.run, member: null } : null;
}
function isSelected(run, selection) {
  return run.members.some((member) => selection.contains(member.tb_run)) || selection.contains(run.run);
}
var lastWallTime = (run) => Math.max(...run.members.map((member) => member.last_wall_time_s));
function resolveEntries(view, catalog, before) {
  const found = view.entries.flatMap((entry) => {
    const run = catalog.runs.find((r) => r.run === entry.run);
    const member = run && memberOf(run, entry.member);
    return run && member ? [{ run, member }] : [];
  });
  const earlier = new Map(before.map((shown) => [keyOf(shown), shown.color]));
  const taken = new Set(found.map((shown) => earlier.get(keyOf(shown))).filter((color) => color !== void 0));
  return found.map(({ run, member }) => {
    let color = earlier.get(keyOf({ run, member }));
    if (color === void 0) {
      color = 0;
      while (taken.has(color)) color += 1;
      taken.add(color);
    }
    return { run, member, color, label: run.members.length > 1 ? `${run.run} · ${member.label}` : run.run };
  });
}
var keyOf = ({ run, member }) => JSON.stringify([run.run, member.member]);
function versionOf(member) {
  return [member.num_steps, member.last_step, member.num_attempts, member.end].join(":");
}
var LIVE_FOR_S = 15 * 60;
function isLive(member, nowS) {
  return member.end === null && Math.abs(nowS - member.last_wall_time_s) < LIVE_FOR_S;
}

// src/state/resource.ts
import { signal as signal2 } from "./vendor.js";
var Resource = class {
  state = signal2({ data: null, key: null, error: null, loading: false });
  turn = 0;
  wanted = null;
  controller = null;
  /** Fetches unless `key` is what is there or under way. */
  async load(key, fetcher) {
    if (key === this.wanted) return;
    this.wanted = key;
    this.controller?.abort();
    const controller = new AbortController();
    this.controller = controller;
    const turn = ++this.turn;
    this.state.value = { ...this.state.peek(), loading: true };
    try {
      const data = await fetcher(controller.signal);
      if (turn === this.turn) this.state.value = { data, key, error: null, loading: false };
    } catch (error) {
      if (turn !== this.turn || isAbort(error)) return;
      this.wanted = null;
      this.state.value = { ...this.state.peek(), error, loading: false };
    }
  }
  /** Forgets what is there, for a selection to which it says nothing. */
  clear() {
    this.controller?.abort();
    this.turn += 1;
    this.wanted = null;
    this.state.value = { data: null, key: null, error: null, loading: false };
  }
};

// src/state/view.ts
var MAX_ENTRIES = 8;
var STANDARD_PERCENTILES = [5, 25, 50, 75, 95, 99];
var PRESETS = [
  { name: "Spread", percentiles: STANDARD_PERCENTILES },
  { name: "Quartiles", percentiles: [25, 50, 75] },
  { name: "Tail", percentiles: [50, 95, 99, 99.9] },
  { name: "Deciles", percentiles: [10, 20, 30, 40, 50, 60, 70, 80, 90] }
];
var INITIAL = {
  entries: [],
  axis: "step",
  range: null,
  include: [],
  percentiles: STANDARD_PERCENTILES,
  showMax: true,
  showLeftOut: true,
  yScale: "fit",
  stageMode: "stacked",
  clock: "host"
};
var same = (a, b) => a.run === b.run && a.member === b.member;
function showOnly(view, entry) {
  const stays = view.entries.some((e) => e.run === entry.run);
  return { ...view, entries: [entry], range: stays ? view.range : null };
}
function toggleOverlay(view, entry) {
  const without2 = view.entries.filter((e) => e.run !== entry.run);
  if (without2.length < view.entries.length) return without2.length ? { ...view, entries: without2 } : view;
  if (view.entries.length >= MAX_ENTRIES) return view;
  return { ...view, entries: [...view.entries, entry] };
}
function chooseMember(view, member) {
  const [first, ...rest] = view.entries;
  if (!first) return view;
  const next = { ...first, member };
  return { ...view, entries: [next, ...rest.filter((e) => !same(e, next))] };
}
function makePrimary(view, index) {
  const entry = view.entries[index];
  if (!entry) return view;
  return { ...view, entries: [entry, ...view.entries.filter((_, i) => i !== index)] };
}
function chooseAxis(view, axis) {
  return axis === view.axis ? view : { ...view, axis, range: null };
}
function zoomTo(view, range) {
  if (!range) return view.range ? { ...view, range: null } : view;
  const start = BigInt(range.start);
  const end = BigInt(range.end);
  return { ...view, range: { start: String(start), end: String(end > start ? end : start + 1n) } };
}
function toggleInclude(view, flag) {
  const include = view.include.includes(flag) ? view.include.filter((f) => f !== flag) : [...view.include, flag];
  return { ...view, include: include.toSorted() };
}
function cleanPercentiles(values) {
  const usable = [...new Set(values.filter((p) => Number.isFinite(p) && p >= 0 && p <= 100))].toSorted((a, b) => a - b);
  return usable.length > 0 && usable.length <= 9 ? usable : null;
}
function reconcile(view, members, fallback) {
  const kept = view.entries.filter(({ run, member }) => {
    const known = members.get(run);
    return known !== void 0 && (member === null || known.includes(member));
  });
  if (kept.length === view.entries.length && kept.length > 0) return view;
  if (kept.length > 0) return { ...view, entries: kept };
  return { ...view, entries: fallback ? [fallback] : [], range: view.entries.length ? null : view.range };
}

// src/state/page.ts
var Page = class {
  constructor(client, initial) {
    this.client = client;
    this.view = signal3(initial);
  }
  client;
  view;
  cursor = signal3(null);
  selection = signal3(null);
  /** Width of a chart's drawing area in CSS pixels; decides the number of bins. */
  chartWidth = signal3(1e3);
  hostSelection = signal3(null);
  now = signal3(Date.now() / 1e3);
  catalog = new Resource();
  resources = {
    summary: new Resource(),
    bands: new Resource(),
    stages: new Resource(),
    memory: new Resource(),
    throughput: new Resource(),
    marks: new Resource(),
    conditions: new Resource()
  };
  summary = this.resources.summary.state;
  bands = this.resources.bands.state;
  stages = this.resources.stages.state;
  memory = this.resources.memory.state;
  throughput = this.resources.throughput.state;
  marks = this.resources.marks.state;
  conditions = this.resources.conditions.state;
  lastShown = [];
  visit = 0;
  /** The entries of the view that exist. */
  shown = computed(() => {
    const catalog = this.catalog.state.value.data;
    this.lastShown = catalog ? resolveEntries(this.view.value, catalog, this.lastShown) : [];
    return this.lastShown;
  });
  live = computed(() => this.shown.value.some(({ member }) => isLive(member, this.now.value)));
  bins = computed(() => Math.min(2e3, Math.max(100, Math.round(this.chartWidth.value / 100) * 50)));
  /** First and last position of the data that is there, over all entries; null before anything was read. */
  extent = computed(() => {
    const answers = this.bands.value.data?.data.filter((bands) => bands.axis.start.length > 0) ?? [];
    if (!answers.length) return null;
    const starts = answers.map(({ axis }) => BigInt(axis.base) + BigInt(Math.floor(axis.start[0])));
    const ends = answers.map(({ axis }) => BigInt(axis.base) + BigInt(Math.ceil(axis.end.at(-1))));
    return { start: starts.reduce((a, b) => b < a ? b : a), end: ends.reduce((a, b) => b > a ? b : a) };
  });
  /** Position that charts count from. */
  origin = computed(() => {
    const { range } = this.view.value;
    const extent = range ? { start: BigInt(range.start), end: BigInt(range.end) } : this.extent.value;
    return extent ? chooseOrigin(extent.start, extent.end) : 0n;
  });
  /** Ends of the x axis of all charts, relative to the origin. */
  domain = computed(() => {
    const { range } = this.view.value;
    const extent = range ? { start: BigInt(range.start), end: BigInt(range.end) } : this.extent.value;
    if (!extent) return [0, 1];
    const start = Number(extent.start - this.origin.value);
    return [start, Math.max(start + 1, Number(extent.end - this.origin.value))];
  });
  loading = computed(() => Object.values(this.resources).some((resource) => resource.state.value.loading));
  errors = computed(
    () => [this.catalog, ...Object.values(this.resources)].flatMap((resource) => resource.state.value.error ?? [])
  );
  /** Changes the view by one of the functions of view.ts. */
  change(update) {
    const next = update(this.view.peek());
    if (next !== this.view.peek()) this.view.value = next;
  }
  /** Zooms all charts to positions relative to the origin, not beyond the data. */
  zoom(x0, x1) {
    const { range } = this.view.peek();
    const whole = range ? null : this.extent.peek();
    const origin = this.origin.peek();
    let start = origin + BigInt(Math.floor(x0));
    let end = origin + BigInt(Math.ceil(x1));
    if (whole && start <= whole.start && end >= whole.end) return this.resetZoom();
    if (whole) {
      start = start < whole.start ? whole.start : start;
      end = end > whole.end ? whole.end : end;
    }
    this.selection.value = null;
    this.change((view) => zoomTo(view, { start: String(start), end: String(end) }));
  }
  resetZoom() {
    this.selection.value = null;
    this.change((view) => zoomTo(view, null));
  }
  /** Asks what there is; `force` also where the last answer is still fresh. */
  async refresh() {
    this.now.value = Date.now() / 1e3;
    await this.catalog.load(`catalog ${++this.visit}`, (abort) => this.client.get("runs", {}, abort));
  }
  async retry() {
    await this.refresh();
    this.loadAll();
  }
  /** Fetches whenever the view or the data changes. Returns what stops it. */
  start() {
    const stops = [
      effect2(() => {
        const catalog = this.catalog.state.value.data;
        if (!catalog) return;
        const fallback = defaultEntry(catalog, this.hostSelection.value);
        this.change((view) => reconcile(view, membersByRun(catalog), fallback));
      }),
      effect2(() => this.loadAll())
    ];
    return () => stops.forEach((stop) => stop());
  }
  /** Address of a download of the primary entry, for the range that is shown. */
  downloadUrl(route, extra) {
    const [first] = this.shown.value;
    if (!first) return null;
    const parameters = route === "bands" ? { ...this.binned(), ...this.bandParameters(first) } : this.ranged();
    return this.client.url(route, { run: first.run.run, member: first.member.member, ...parameters, ...extra });
  }
  loadAll() {
    const shown = this.shown.value;
    const ranged = this.ranged();
    const binned = this.binned();
    const [primary] = shown;
    if (!primary) {
      for (const resource of Object.values(this.resources)) resource.clear();
      return;
    }
    const { clock: clock2 } = this.view.value;
    const only = [primary];
    this.many("bands", shown, (entry) => ({ ...binned, ...this.bandParameters(entry) }));
    this.many("summary", shown, () => ({ ...ranged, include: binned.include }));
    this.many("marks", only, () => ranged);
    this.many("stages", only, (entry) => ({ ...binned, clock: clock2 === "device" && hasDevice(entry) ? "device" : null }));
    this.many("memory", shown, () => binned);
    this.many("throughput", shown, () => binned);
    this.many("conditions", shown, () => ({}));
  }
  many(name, shown, parameters) {
    const requests = shown.map((entry) => ({ run: entry.run.run, member: entry.member.member, ...parameters(entry) }));
    const key = JSON.stringify([requests, shown.map((entry) => [keyOf(entry), entry.color, versionOf(entry.member)])]);
    const resource = this.resources[name];
    void resource.load(key, async (abort) => ({
      shown,
      data: await Promise.all(requests.map((request) => this.client.get(name, request, abort))).catch((error) => {
        this.refreshAfter(error);
        throw error;
      })
    }));
  }
  /** A run that is gone from the disk answers "not there": the list of runs is out of date then. */
  refreshAfter(error) {
    if (error instanceof ApiError && error.status === 404 && Date.now() / 1e3 - this.now.peek() > 2) void this.refresh();
  }
  ranged() {
    const { axis, range } = this.view.value;
    return { axis: axis === "step" ? null : axis, start: range?.start, end: range?.end };
  }
  binned() {
    return { ...this.ranged(), bins: this.bins.value, include: this.view.value.include.join(",") };
  }
  bandParameters(entry) {
    const { clock: clock2, percentiles } = this.view.value;
    return { column: clock2 === "device" && hasDevice(entry) ? "device_step_time_ms" : null, percentiles: percentiles.join(",") };
  }
};
var hasDevice = ({ member }) => member.columns.includes("device_step_time_ms");

// src/state/url.ts
function toPairs(view) {
  const pairs = {};
  const [first, ...rest] = view.entries;
  if (first) pairs.run = first.run;
  if (first?.member) pairs.member = first.member;
  if (rest.length) pairs.with = rest.map(encodeEntry).join(",");
  if (view.axis !== INITIAL.axis) pairs.axis = view.axis;
  if (view.range) Object.assign(pairs, { start: view.range.start, end: view.range.end });
  if (view.include.length) pairs.include = view.include.join(",");
  if (view.percentiles.join() !== INITIAL.percentiles.join()) pairs.percentiles = view.percentiles.join(",");
  if (view.yScale !== INITIAL.yScale) pairs.y = view.yScale;
  if (view.stageMode !== INITIAL.stageMode) pairs.stages = view.stageMode;
  if (view.clock !== INITIAL.clock) pairs.clock = view.clock;
  const hidden = [view.showMax ? "" : "max", view.showLeftOut ? "" : "leftout"].filter(Boolean);
  if (hidden.length) pairs.hide = hidden.join(",");
  return pairs;
}
function fromPairs(pairs) {
  const entries = [];
  if (pairs.run !== void 0) entries.push({ run: pairs.run, member: pairs.member ?? null });
  for (const text2 of (pairs.with ?? "").split(",").filter(Boolean)) {
    const entry = decodeEntry(text2);
    if (entry && entries.length < MAX_ENTRIES) entries.push(entry);
  }
  const hidden = (pairs.hide ?? "").split(",");
  const percentiles = cleanPercentiles((pairs.percentiles ?? "").split(",").filter(Boolean).map(Number));
  return {
    entries,
    axis: oneOf(pairs.axis, ["step", "relative", "wall"], INITIAL.axis),
    range: decimal(pairs.start) && decimal(pairs.end) && BigInt(pairs.start) < BigInt(pairs.end) ? { start: pairs.start, end: pairs.end } : null,
    include: ["profiled", "restart", "warmup"].filter((flag) => (pairs.include ?? "").split(",").includes(flag)),
    percentiles: percentiles ?? INITIAL.percentiles,
    showMax: !hidden.includes("max"),
    showLeftOut: !hidden.includes("leftout"),
    yScale: oneOf(pairs.y, ["fit", "zero", "log"], INITIAL.yScale),
    stageMode: oneOf(pairs.stages, ["stacked", "lines", "share"], INITIAL.stageMode),
    clock: oneOf(pairs.clock, ["host", "device"], INITIAL.clock)
  };
}
function encodeEntry({ run, member }) {
  return encodeURIComponent(run) + (member === null ? "" : `@${encodeURIComponent(member)}`);
}
function decodeEntry(text2) {
  try {
    const [run = "", member] = text2.split("@").map(decodeURIComponent);
    return { run, member: member ?? null };
  } catch {
    return null;
  }
}
function decimal(text2) {
  return text2 !== void 0 && /^-?\d{1,20}$/.test(text2);
}
function oneOf(text2, allowed, standard) {
  return allowed.find((value) => value === text2) ?? standard;
}

// src/views/conditions.tsx
import { useSignal } from "./vendor.js";

// src/format/numbers.ts
var MISSING = "–";
var exists = (value) => value !== null && value !== void 0 && Number.isFinite(value);
function integer(value) {
  if (value === null || value === void 0) return MISSING;
  const text2 = typeof value === "number" ? exists(value) ? Math.round(value).toFixed(0) : "" : String(value);
  if (!text2) return MISSING;
  const sign = text2.startsWith("-") ? "−" : "";
  return sign + text2.replace("-", "").replace(/\B(?=(\d{3})+$)/g, ",");
}
function significant(value, digits = 3) {
  if (!exists(value)) return MISSING;
  if (value === 0) return "0";
  const magnitude = Math.floor(Math.log10(Math.abs(Number(value.toPrecision(digits)))));
  const decimals = Math.min(12, Math.max(0, digits - 1 - magnitude));
  const [whole = "0", fraction] = Math.abs(value).toFixed(decimals).split(".");
  return (value < 0 ? "−" : "") + integer(whole) + (fraction ? `.${fraction}` : "");
}
function percent(value, decimals = 0) {
  if (!exists(value)) return MISSING;
  const smallest = 10 ** -decimals;
  const scaled = value * 100;
  if (scaled > 0 && scaled < smallest / 2) return `< ${smallest.toFixed(decimals)} %`;
  if (scaled < 100 && scaled >= 100 - smallest / 2) return `> ${(100 - smallest).toFixed(decimals)} %`;
  return `${scaled.toFixed(decimals)} %`;
}
function count(value, one, many = `${one}s`) {
  return `${integer(value)} ${value === 1 ? one : many}`;
}

// src/format/position.ts
function clock(ms, resolutionMs = 1e3) {
  const sign = ms < 0 ? "−" : "";
  const total = Math.abs(ms);
  const decimals = resolutionMs >= 1e3 ? 0 : Math.min(3, Math.ceil(-Math.log10(resolutionMs / 1e3)));
  const seconds = total / 1e3 % 60;
  const minutes = Math.floor(total / 6e4) % 60;
  const hours = Math.floor(total / 36e5);
  if (total < 6e4) return `${sign}${seconds.toFixed(decimals)} s`;
  const padded = seconds.toFixed(decimals).padStart(decimals ? 3 + decimals : 2, "0");
  return hours ? `${sign}${hours}:${String(minutes).padStart(2, "0")}:${padded}` : `${sign}${minutes}:${padded} min`;
}
var DATE = new Intl.DateTimeFormat(void 0, { month: "short", day: "numeric" });
var TIME = new Intl.DateTimeFormat(void 0, { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false });
function wallTime(ms, withDate = true) {
  const date = new Date(ms);
  if (Number.isNaN(date.getTime())) return "–";
  return withDate ? `${DATE.format(date)}, ${TIME.format(date)}` : TIME.format(date);
}
function position(axis, value, resolutionMs = 1) {
  if (axis === "step") return integer(value);
  if (axis === "relative") return clock(Number(value), resolutionMs);
  return wallTime(Number(value));
}
function span(axis, start, end, single) {
  if (axis === "step") return single || end - start === 1n ? `step ${integer(start)}` : `steps [${integer(start)}, ${integer(end)})`;
  if (axis === "relative") {
    const resolution = Number(end - start) / 4;
    return single ? `at ${clock(Number(start))}` : `${clock(Number(start), resolution)} – ${clock(Number(end), resolution)}`;
  }
  return single ? wallTime(Number(start)) : `${wallTime(Number(start))} – ${wallTime(Number(end), false)}`;
}

// src/format/text.ts
var BIDI = /[\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;
var CONTROL = /[\u0000-\u001f\u007f]/g;
function visible(text2) {
  if (text2 === "") return "(empty name)";
  if (text2.trim() === "") return `(${text2.length} ${text2.length === 1 ? "space" : "spaces"})`;
  return text2.replace(CONTROL, (character) => String.fromCharCode(character === "" ? 9249 : 9216 + character.charCodeAt(0))).replace(BIDI, (character) => `⟨U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);
}
function list(items) {
  if (items.length < 2) return items[0] ?? "";
  return `${items.slice(0, -1).join(", ")} and ${items.at(-1)}`;
}
function columnLabel(column) {
  const known = {
    step_time_ms: "step time",
    device_step_time_ms: "step time (device clock)",
    peak_allocated_bytes: "peak allocated",
    peak_reserved_bytes: "peak reserved",
    peak_resident_bytes: "peak resident",
    num_samples: "samples",
    num_tokens: "tokens",
    gc_ms: "garbage collection",
    excluded_ms: "excluded"
  };
  return known[column] ?? visible(column);
}
var sentence = (text2) => text2.charAt(0).toUpperCase() + text2.slice(1);

// src/state/environment.ts
function environmentRows(environments) {
  const flat = environments.map((environment) => flatten(environment));
  const fields = [...new Set(flat.flatMap((one) => [...one.keys()]))];
  return fields.map((field) => {
    const values = flat.map((one) => one.get(field) ?? "");
    return { field, values, differs: new Set(values).size > 1 };
  });
}
function flatten(environment, prefix = "") {
  const result = /* @__PURE__ */ new Map();
  for (const [key, value] of Object.entries(environment)) {
    const field = prefix + key;
    if (value === null || value === void 0 || field === "step") continue;
    if (typeof value === "object" && !Array.isArray(value)) flatten(value, `${field}.`).forEach((v, k) => result.set(k, v));
    else result.set(field, text(value));
  }
  return result;
}
function text(value) {
  if (Array.isArray(value)) return value.map(text).join(", ");
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "object" && value !== null ? JSON.stringify(value) : String(value);
}
function endWords(end) {
  const known = { closed: "ended normally", exception: "ended by an exception", replaced: "replaced by a new count of steps" };
  return end === null ? "running, or ended without a word" : known[end] ?? end;
}

// src/views/panel.tsx
import { useState } from "./vendor.js";
import { jsx, jsxs } from "./vendor.js";
function Panel({ id, title, note, controls, table, children }) {
  const [asTable, setAsTable] = useState(false);
  return /* @__PURE__ */ jsxs("section", { class: "panel", "aria-labelledby": `${id}-title`, id, children: [
    /* @__PURE__ */ jsxs("header", { class: "panel-head", children: [
      /* @__PURE__ */ jsx("h2", { id: `${id}-title`, children: title }),
      note && /* @__PURE__ */ jsx("p", { class: "note", children: note }),
      /* @__PURE__ */ jsxs("div", { class: "controls", children: [
        controls,
        table && /* @__PURE__ */ jsx("button", { type: "button", class: "button quiet", "aria-pressed": asTable, onClick: () => setAsTable(!asTable), children: asTable ? "Hide table" : "Show as table" })
      ] })
    ] }),
    children,
    asTable && table?.()
  ] });
}
function ChartSkeleton({ height }) {
  return /* @__PURE__ */ jsx("div", { class: "skeleton", ref: (element) => element?.style.setProperty("--height", `${height}px`), role: "status", "aria-label": "Loading" });
}

// src/views/parts.tsx
import { useEffect, useRef, useState as useState2 } from "./vendor.js";
import { jsx as jsx2, jsxs as jsxs2 } from "./vendor.js";
function Name({ text: text2, children }) {
  return /* @__PURE__ */ jsx2("bdi", { class: "name", title: text2, "data-name": text2, children: children ?? visible(text2) });
}
function Swatch({ color, hatched = false }) {
  return /* @__PURE__ */ jsx2("span", { class: `swatch ${hatched ? "hatched" : ""}`, ref: (element) => element?.style.setProperty("--swatch", `var(${color})`), "aria-hidden": "true" });
}
function Segmented({ label, value, options, onChange }) {
  return /* @__PURE__ */ jsx2("div", { class: "segmented", role: "group", "aria-label": label, children: options.map((option) => /* @__PURE__ */ jsx2("button", { type: "button", "aria-pressed": option.value === value, title: option.hint, onClick: () => onChange(option.value), children: option.text }, option.value)) });
}
function Check({ checked, onChange, children }) {
  return /* @__PURE__ */ jsxs2("label", { class: "check", children: [
    /* @__PURE__ */ jsx2("input", { type: "checkbox", checked, onChange }),
    /* @__PURE__ */ jsx2("span", { children })
  ] });
}
function Menu({ label, children }) {
  const [open, setOpen] = useState2(false);
  const root = useRef(null);
  useEffect(() => {
    if (!open) return;
    const onPointer = (event) => !root.current?.contains(event.target) && setOpen(false);
    document.addEventListener("pointerdown", onPointer);
    return () => document.removeEventListener("pointerdown", onPointer);
  }, [open]);
  const onKeyDown = (event) => {
    if (event.key !== "Escape" || !open) return;
    event.stopPropagation();
    setOpen(false);
    root.current?.querySelector("button")?.focus();
  };
  return /* @__PURE__ */ jsxs2("div", { class: "menu", ref: root, onKeyDown, children: [
    /* @__PURE__ */ jsxs2("button", { type: "button", class: "button", "aria-expanded": open, onClick: () => setOpen(!open), children: [
      label,
      /* @__PURE__ */ jsx2("span", { class: "caret", "aria-hidden": "true" })
    ] }),
    open && /* @__PURE__ */ jsx2("div", { class: "menu-body", children })
  ] });
}
function Copy({ text: text2, label = "Copy" }) {
  const [done, setDone] = useState2(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text2);
    } catch {
      copyBySelection(text2);
    }
    setDone(true);
    setTimeout(() => setDone(false), 2e3);
  };
  return /* @__PURE__ */ jsx2("button", { type: "button", class: "button", onClick: () => void copy(), children: done ? "Copied" : label });
}
function copyBySelection(text2) {
  const area = document.createElement("textarea");
  area.value = text2;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

// src/views/conditions.tsx
import { Fragment, jsx as jsx3, jsxs as jsxs3 } from "./vendor.js";
var MAX_COLUMNS = 12;
function Conditions({ page }) {
  const { data } = page.conditions.value;
  if (!data) return /* @__PURE__ */ jsx3(Panel, { id: "conditions", title: "Conditions", children: /* @__PURE__ */ jsx3("div", { class: "skeleton" }) });
  const all = data.data.flatMap((answer, n) => answer.attempts.map((attempt, i) => ({ label: data.shown[n].label, attempt, number: i + 1 })));
  const rows = all.slice(-MAX_COLUMNS);
  const several = data.data.length > 1;
  const [first] = data.data;
  return /* @__PURE__ */ jsxs3(Panel, { id: "conditions", title: "Conditions", note: all.length > rows.length ? `the last ${rows.length} of ${all.length} attempts` : void 0, children: [
    /* @__PURE__ */ jsx3(Attempts, { rows, several }),
    /* @__PURE__ */ jsx3(Changes, { rows, several }),
    /* @__PURE__ */ jsxs3("div", { class: "columns", children: [
      /* @__PURE__ */ jsxs3("section", { children: [
        /* @__PURE__ */ jsx3("h3", { children: "Definitions" }),
        /* @__PURE__ */ jsx3("dl", { class: "definitions", children: first?.definitions.map(({ term, text: words3 }) => /* @__PURE__ */ jsxs3("div", { children: [
          /* @__PURE__ */ jsx3("dt", { children: term }),
          /* @__PURE__ */ jsx3("dd", { children: words3 })
        ] }, term)) })
      ] }),
      first && first.not_covered.length > 0 && /* @__PURE__ */ jsxs3("section", { children: [
        /* @__PURE__ */ jsx3("h3", { children: "Not covered" }),
        /* @__PURE__ */ jsx3("ul", { children: first.not_covered.map((words3) => /* @__PURE__ */ jsx3("li", { children: words3 }, words3)) })
      ] })
    ] })
  ] });
}
function Attempts({ rows, several }) {
  const onlyDifferent = useSignal(false);
  const fields = environmentRows(rows.map(({ attempt }) => attempt.environment));
  const shown = onlyDifferent.value ? fields.filter((field) => field.differs) : fields;
  const facts = [
    ["started", ({ attempt }) => wallTime(attempt.started_s * 1e3)],
    ["steps", ({ attempt }) => attempt.first_step === null ? "none" : `${integer(attempt.first_step)} – ${integer(attempt.last_step)}`],
    ["rows", ({ attempt }) => integer(attempt.num_rows) + (attempt.num_superseded ? ` (${integer(attempt.num_superseded)} superseded)` : "")],
    ["end", ({ attempt }) => endWords(attempt.end)]
  ];
  return /* @__PURE__ */ jsxs3(Fragment, { children: [
    rows.length > 1 && /* @__PURE__ */ jsx3(Check, { checked: onlyDifferent.value, onChange: () => onlyDifferent.value = !onlyDifferent.value, children: "Only what differs between attempts" }),
    /* @__PURE__ */ jsx3("div", { class: "table-scroll flat", tabIndex: 0, children: /* @__PURE__ */ jsxs3("table", { class: "environment", children: [
      /* @__PURE__ */ jsx3("caption", { class: "hidden", children: "Attempts and their environments" }),
      /* @__PURE__ */ jsx3("thead", { children: /* @__PURE__ */ jsxs3("tr", { children: [
        /* @__PURE__ */ jsx3("th", { scope: "col", children: rows.length > 1 ? "Attempt" : "Environment" }),
        rows.map((row) => /* @__PURE__ */ jsxs3("th", { scope: "col", children: [
          several && /* @__PURE__ */ jsxs3(Fragment, { children: [
            /* @__PURE__ */ jsx3(Name, { text: row.label }),
            " · "
          ] }),
          rows.length > 1 ? row.number : ""
        ] }, row.label + row.attempt.attempt))
      ] }) }),
      /* @__PURE__ */ jsxs3("tbody", { children: [
        facts.map(([name, value]) => /* @__PURE__ */ jsxs3("tr", { children: [
          /* @__PURE__ */ jsx3("th", { scope: "row", children: name }),
          rows.map((row, i) => /* @__PURE__ */ jsx3("td", { children: value(row) }, i))
        ] }, name)),
        shown.map(({ field, values, differs }) => /* @__PURE__ */ jsxs3("tr", { class: differs ? "differs" : "", children: [
          /* @__PURE__ */ jsxs3("th", { scope: "row", children: [
            visible(field),
            differs && /* @__PURE__ */ jsx3("span", { class: "hidden", children: " (differs)" })
          ] }),
          values.map((value, i) => /* @__PURE__ */ jsx3("td", { children: value === "" ? /* @__PURE__ */ jsx3("span", { class: "note", children: "unknown" }) : value }, i))
        ] }, field))
      ] })
    ] }) })
  ] });
}
function Changes({ rows, several }) {
  const changes = rows.flatMap((row) => row.attempt.changes.map((change) => ({ ...row, change })));
  if (!changes.length) return null;
  return /* @__PURE__ */ jsxs3(Fragment, { children: [
    /* @__PURE__ */ jsx3("h3", { children: "Changes while training" }),
    /* @__PURE__ */ jsx3("ul", { children: changes.map(({ label, number, change }) => /* @__PURE__ */ jsxs3("li", { children: [
      several && /* @__PURE__ */ jsxs3(Fragment, { children: [
        /* @__PURE__ */ jsx3(Name, { text: label }),
        ", "
      ] }),
      rows.length > 1 && `attempt ${number}, `,
      "from step ",
      integer(change.step),
      ": ",
      Object.entries(change.fields).map(([field, value]) => `${visible(field)} = ${text(value)}`).join("; ")
    ] }, `${label} ${number} ${change.step}`)) })
  ] });
}

// src/views/empty.tsx
import { Fragment as Fragment2, jsx as jsx4, jsxs as jsxs4 } from "./vendor.js";
var CODE = `from tb_stepperf import StepPerfWriter

with StepPerfWriter("runs/my_run") as perf:
    for batch in perf.data(loader):
        train_step(batch)
        perf.step(num_samples=len(batch))`;
function Empty({ catalog }) {
  const others = catalog.num_runs_without_data;
  return /* @__PURE__ */ jsxs4("main", { class: "empty", children: [
    /* @__PURE__ */ jsx4("h1", { children: "No step performance data yet" }),
    /* @__PURE__ */ jsxs4("p", { children: [
      "TensorBoard reads ",
      /* @__PURE__ */ jsx4("code", { children: /* @__PURE__ */ jsx4(Name, { text: catalog.logdir }) }),
      others ? ` and found ${count(others, "run")} there, but none that was written with tb_stepperf.` : " and found no run there. A run appears within seconds of its first flush (every 10 s by default)."
    ] }),
    /* @__PURE__ */ jsx4("p", { children: "Add these lines to the training loop:" }),
    /* @__PURE__ */ jsxs4("div", { class: "code", children: [
      /* @__PURE__ */ jsx4("pre", { children: /* @__PURE__ */ jsx4("code", { children: CODE }) }),
      /* @__PURE__ */ jsx4(Copy, { text: CODE })
    ] }),
    /* @__PURE__ */ jsxs4("p", { class: "note", children: [
      "Stages such as ",
      /* @__PURE__ */ jsx4("code", { children: 'with perf.stage("forward"):' }),
      " show where the time goes. This page looks again by itself every few seconds."
    ] }),
    /* @__PURE__ */ jsx4(Problems, { catalog })
  ] });
}
function Problems({ catalog }) {
  if (!catalog.problems.length) return null;
  return /* @__PURE__ */ jsx4("ul", { class: "warnings", "aria-label": "Problems", children: catalog.problems.map(({ run, message }) => /* @__PURE__ */ jsxs4("li", { children: [
    run !== null && /* @__PURE__ */ jsxs4(Fragment2, { children: [
      /* @__PURE__ */ jsx4(Name, { text: run }),
      ": "
    ] }),
    message
  ] }, `${run} ${message}`)) });
}
function ErrorBanner({ errors, onRetry }) {
  if (!errors.length) return null;
  const messages = [...new Set(errors.map((error) => error.message))];
  return /* @__PURE__ */ jsxs4("div", { class: "banner", role: "alert", children: [
    /* @__PURE__ */ jsxs4("div", { children: [
      /* @__PURE__ */ jsx4("b", { children: messages.length === 1 ? "Something could not be loaded." : `${messages.length} things could not be loaded.` }),
      messages.map((message) => /* @__PURE__ */ jsx4("p", { children: message }, message))
    ] }),
    /* @__PURE__ */ jsx4("button", { type: "button", class: "button", onClick: onRetry, children: "Try again" })
  ] });
}

// src/views/memory.tsx
import { useMemo } from "./vendor.js";

// src/format/units.ts
var TIME_UNITS = [
  { name: "µs", size: 1e-3 },
  { name: "ms", size: 1 },
  { name: "s", size: 1e3 }
];
var BYTE_UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"].map((name, i) => ({ name, size: 2 ** (10 * i) }));
var RATE_UNITS = [
  { name: "", size: 1 },
  { name: "k", size: 1e3 },
  { name: "M", size: 1e6 },
  { name: "G", size: 1e9 }
];
function pick(units, value, least = 1) {
  const size = Math.abs(value) / least;
  return units.findLast((unit) => size >= unit.size) ?? units[0];
}
var timeUnit = (ms) => pick(TIME_UNITS, ms);
var byteUnit = (bytes2) => pick(BYTE_UNITS, bytes2);
function time(ms, digits = 3) {
  if (ms === null || ms === void 0 || !Number.isFinite(ms)) return MISSING;
  if (ms === 0) return "0 ms";
  if (Math.abs(ms) >= 12e4) return duration(ms);
  const unit = timeUnit(Number(ms.toPrecision(digits)));
  return `${significant(ms / unit.size, digits)} ${unit.name}`;
}
function duration(ms) {
  if (ms === null || ms === void 0 || !Number.isFinite(ms)) return MISSING;
  if (Math.abs(ms) < 6e4) return time(ms);
  const sign = ms < 0 ? "−" : "";
  const seconds = Math.round(Math.abs(ms) / 1e3);
  const parts = [
    [Math.floor(seconds / 86400), "d"],
    [Math.floor(seconds / 3600) % 24, "h"],
    [Math.floor(seconds / 60) % 60, "min"],
    [seconds % 60, "s"]
  ];
  const first = parts.findIndex(([amount]) => amount > 0);
  const shown = parts.slice(first, first + 2).filter(([amount], i) => i === 0 || amount > 0);
  return sign + shown.map(([amount, unit]) => `${amount} ${unit}`).join(" ");
}
function bytes(value, digits = 3) {
  if (value === null || value === void 0 || !Number.isFinite(value)) return MISSING;
  const unit = byteUnit(value);
  return `${significant(value / unit.size, unit.size === 1 ? 4 : digits)} ${unit.name}`;
}
function rate(value, unit) {
  if (value === null || value === void 0 || !Number.isFinite(value)) return MISSING;
  const prefix = value >= 1e6 ? pick(RATE_UNITS, value) : { name: "", size: 1 };
  const digits = prefix.size === 1 && Math.abs(value) >= 1e3 ? Math.ceil(Math.log10(value + 1)) : 3;
  return `${significant(value / prefix.size, digits)} ${prefix.name ? `${prefix.name} ` : ""}${unit}`;
}

// src/charts/colors.ts
var RUN_COLORS = Array.from({ length: 8 }, (_, i) => `--run-${i + 1}`);
var STAGE_COLORS = Array.from({ length: 10 }, (_, i) => `--stage-${i + 1}`);
var UNLABELLED_COLOR = "--unlabelled";
function resolve(variable, opacity = 1) {
  const value = getComputedStyle(document.documentElement).getPropertyValue(variable).trim() || "#888888";
  return opacity >= 1 ? value : withAlpha(value, opacity);
}
function withAlpha(hex, opacity) {
  const alpha = Math.round(Math.min(1, Math.max(0, opacity)) * 255);
  return `${hex}${alpha.toString(16).padStart(2, "0")}`;
}
function stageColor(index) {
  return { color: STAGE_COLORS[index % STAGE_COLORS.length], hatched: index >= STAGE_COLORS.length };
}
var patterns = /* @__PURE__ */ new Map();
function hatch(context, color, background, gap = 6, slope = 1) {
  const key = [color, background, gap, slope].join();
  if (!patterns.has(key)) patterns.set(key, drawPattern(context, color, background, gap, slope));
  return patterns.get(key) ?? color;
}
function drawPattern(context, color, background, gap, slope) {
  const size = gap * Math.max(1, Math.round(devicePixelRatio));
  const tile = document.createElement("canvas");
  tile.width = tile.height = size;
  const pen = tile.getContext("2d");
  if (!pen) return null;
  if (background) {
    pen.fillStyle = background;
    pen.fillRect(0, 0, size, size);
  }
  pen.strokeStyle = color;
  pen.lineWidth = size / 6;
  for (const shift of [-size, 0, size]) {
    pen.beginPath();
    pen.moveTo(shift, slope > 0 ? size : 0);
    pen.lineTo(shift + size, slope > 0 ? 0 : size);
    pen.stroke();
  }
  return context.createPattern(tile, "repeat");
}

// src/charts/limits.ts
var finite = (values) => values.filter((v) => v !== null && Number.isFinite(v));
function despike(values) {
  return values.map((_, i) => {
    const near = values.slice(Math.max(0, i - 2), i + 3).sort((a, b) => a - b);
    return near[near.length >> 1];
  });
}
function robustLimits(lines, peaks, lows) {
  const curves = lines.map(finite).filter((curve) => curve.length > 0);
  const bottom = finite(lows);
  if (curves.length === 0 || bottom.length === 0) return null;
  const held = Math.max(...curves.map((curve) => max(despike(curve))));
  const usual = Math.max(...curves.map((curve) => curve.toSorted((a, b) => a - b)[Math.floor((curve.length - 1) * 0.97)]));
  const top = Math.max(max(finite(peaks)), ...curves.map(max));
  const level = Math.max(held, usual);
  const clip2 = top > 2 * level;
  const upper = clip2 ? level * 1.25 : top;
  const lower = Math.min(min(bottom), upper);
  const pad = (upper - lower || upper || 1) * 0.06;
  const min0 = lower < 0.35 * upper ? 0 : Math.max(0, lower - pad);
  return { min: min0, max: upper + pad, clipped: clip2 };
}
function fullLimits(values, fromZero) {
  const all = values.map(finite).filter((list2) => list2.length > 0);
  if (all.length === 0) return null;
  const top = Math.max(...all.map(max));
  const low = Math.min(...all.map(min));
  const pad = (top - low || Math.abs(top) || 1) * 0.06;
  return { min: fromZero || low < 0.35 * top ? 0 : low - pad, max: top + pad, clipped: false };
}
function logLimits(values) {
  const positive = values.flatMap((list2) => finite(list2)).filter((v) => v > 0);
  if (positive.length === 0) return null;
  return { min: min(positive) / 1.15, max: max(positive) * 1.15, clipped: false };
}
var max = (values) => values.reduce((a, b) => b > a ? b : a, -Infinity);
var min = (values) => values.reduce((a, b) => b < a ? b : a, Infinity);

// src/charts/bands.ts
var scale = (values, factor) => values.map((value) => value === null ? null : value * factor);
function roles(percentiles) {
  const at = (p) => percentiles.findIndex((other) => Math.abs(other - p) < 1e-9);
  const pairs = [];
  const used = /* @__PURE__ */ new Set();
  percentiles.forEach((p, i) => {
    const mirror = at(100 - p);
    if (p >= 50 || mirror < 0) return;
    pairs.push([i, mirror]);
    used.add(i).add(mirror);
  });
  const median = at(50);
  const singles = percentiles.map((_, i) => i).filter((i) => !used.has(i) && i !== median);
  return { pairs, median: median < 0 ? null : median, singles };
}
var DASHES = [void 0, [6, 3], [2, 3], [8, 3, 2, 3]];
function bandsModel(answers, marks, options) {
  const overlaid = answers.data.length > 1;
  const tables = [];
  const lines = [];
  const bands = [];
  const dots = [];
  const upper = [];
  const lows = [];
  const peaks = [];
  answers.data.forEach((answer, n) => {
    const bins = placeBins(answer.axis, answer.sample, options.origin);
    const color = RUN_COLORS[answers.shown[n].color % RUN_COLORS.length];
    const quantiles = answer.quantiles.map((values) => scale(values, answer.scale));
    const { pairs, median, singles } = roles(answer.percentiles);
    const drawnPairs = overlaid ? pairs.slice(0, 1) : pairs;
    const drawnSingles = overlaid ? median === null ? singles.slice(-1) : [] : singles;
    const columns = [];
    const add = (index, look2) => {
      columns.push(bridge(quantiles[index]));
      lines.push({ key: `${n}:p${answer.percentiles[index]}`, color, values: [], ...look2 });
      return lines.length - 1;
    };
    drawnPairs.forEach(([low, high], depth) => {
      const lower = add(low, { width: 1, opacity: 0 });
      const top = add(high, { width: 1, opacity: 0 });
      const opacity = overlaid ? 0.14 : Math.min(0.34, 0.16 + 0.1 * depth);
      if (!bins.raw) bands.push({ upper: top, lower, color, opacity });
    });
    drawnSingles.forEach((index, i) => add(index, { width: 1, opacity: 0.75, ...DASHES[i] ? { dash: DASHES[i] } : {} }));
    if (median !== null) add(median, { width: 2, opacity: 1 });
    tables.push({ x: bins.x, columns });
    const maxima = scale(answer.max, answer.scale);
    const shift = Number(BigInt(answer.axis.base) - options.origin);
    if (options.showMax && !bins.raw) dots.push(points(color, false, answer.max_at.map((at, i) => at === null ? bins.x[i] : at + shift), maxima));
    else if (bins.raw) dots.push(points(color, false, bins.x, maxima));
    if (options.showLeftOut) dots.push(points("--left-out", true, bins.x, scale(answer.left_out_max, answer.scale)));
    upper.push(...answer.percentiles.flatMap((p, i) => p >= 50 ? [quantiles[i]] : []));
    lows.push(quantiles[0]);
    if (options.showMax) peaks.push(maxima);
  });
  const table = align(tables);
  lines.forEach((line, i) => line.values = table.columns[i]);
  const all = [...upper, ...lows, ...peaks];
  const limits = chooseLimits(all, upper, lows.flat(), peaks.flat(), options);
  const shown = dots.filter((set) => set.x.length > 0);
  return {
    axis: answers.data[0].axis.axis,
    origin: options.origin,
    x: table.x,
    lines,
    bands,
    dots: shown,
    marks,
    limits,
    log: options.yScale === "log" && limits !== null,
    formatY: (value) => time(value),
    incrementsY: null
  };
}
function chooseLimits(all, upper, lows, peaks, { yScale, full }) {
  if (yScale === "log") return logLimits(all);
  const limits = full ? fullLimits(all, yScale === "zero") : robustLimits(upper.length ? upper : [lows], peaks, lows);
  return limits && yScale === "zero" ? { ...limits, min: 0 } : limits;
}
function points(color, hollow, x, y) {
  const kept = y.map((value, i) => [x[i], value]).filter((pair) => pair[1] !== null);
  return { color, hollow, x: kept.map(([at]) => at), y: kept.map(([, value]) => value), labels: !hollow };
}
function placeMarks(marks, origin) {
  if (!marks) return [];
  const shift = Number(BigInt(marks.base) - origin);
  return marks.marks.map(({ start, end, ...mark }) => ({ ...mark, x0: start + shift, x1: end + shift }));
}

// src/charts/ticks.ts
var SECOND = 1e3;
var MINUTE = 60 * SECOND;
var HOUR = 60 * MINUTE;
var DAY = 24 * HOUR;
var TIME_INCREMENTS = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((n) => n * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * MINUTE),
  ...[1, 2, 3, 6, 12].map((n) => n * HOUR),
  ...[1, 2, 5, 10, 20, 50, 100].map((n) => n * DAY)
];
var STEP_INCREMENTS = Array.from({ length: 19 }, (_, e) => [1, 2, 5].map((m) => m * 10 ** e)).flat();
var BYTE_INCREMENTS = Array.from({ length: 51 }, (_, e) => 2 ** e);
function tickLabels(axis, origin, splits, increment) {
  if (axis === "step") return splits.map((x) => integer(origin + BigInt(Math.round(x))));
  return splits.map((x) => clock(Number(origin) + x, increment));
}

// src/charts/areas.ts
function stageSeries(answer) {
  return {
    names: answer.stages.map(({ stage }) => stage),
    means: answer.stages.map(({ mean }) => scale(mean, answer.scale)),
    unlabelled: scale(answer.unlabelled, answer.scale),
    total: scale(answer.step_time, answer.scale)
  };
}
function stack(layers) {
  const sums = [];
  layers.forEach(
    (layer, n) => sums.push(layer.map((value, i) => {
      const below = n ? sums[n - 1][i] : null;
      return value === null && below === null ? null : (value ?? 0) + (below ?? 0);
    }))
  );
  return sums;
}
function stagesModel(answer, mode, marks, origin, full) {
  const bins = placeBins(answer.axis, answer.sample, origin);
  const series = stageSeries(answer);
  const layers = [...series.means, series.unlabelled];
  const colors = [...series.names.map((_, i) => stageColor(i)), { color: UNLABELLED_COLOR, hatched: true }];
  const shares = mode === "share" ? layers.map((layer) => layer.map((value, i) => divide(value, sum(layers, i)))) : layers;
  const curves = mode === "lines" ? shares : stack(shares);
  const lines = curves.map((values, i) => ({
    key: String(i),
    color: colors[i].color,
    width: mode === "lines" ? 1.75 : 1,
    opacity: 1,
    values: bridge(values),
    ...mode === "lines" && colors[i].hatched ? { dash: [5, 3] } : {}
  }));
  const bands = mode === "lines" ? [] : curves.map((_, i) => ({ upper: i, lower: i ? i - 1 : null, color: colors[i].color, opacity: 0.62, hatched: colors[i].hatched }));
  return {
    axis: answer.axis.axis,
    origin,
    x: bins.x,
    lines,
    bands,
    dots: [],
    marks,
    log: false,
    limits: stageLimits(curves, mode, full),
    formatY: mode === "share" ? (value) => percent(value) : (value) => time(value),
    incrementsY: null
  };
}
function stageLimits(curves, mode, full) {
  if (mode === "share") return { min: 0, max: 1, clipped: false };
  if (full) return fullLimits(curves, true);
  const limits = robustLimits(mode === "lines" ? curves : curves.slice(-1), curves.flat(), curves[0] ?? []);
  return limits && { ...limits, min: 0 };
}
var divide = (value, by) => value === null || by === 0 ? null : value / by;
var sum = (layers, i) => layers.reduce((total, layer) => total + (layer[i] ?? 0), 0);
var DASHES2 = [void 0, [7, 3], [2, 3]];
function memoryModel(answers, marks, origin) {
  const curves = answers.data.flatMap(
    (answer, n) => answer.columns.map((column, c) => ({
      x: placeBins(answer.axis, answer.sample, origin).x,
      values: column.max,
      key: `${n}:${column.column}`,
      ...look(answers, n, c)
    }))
  );
  return linesModel(curves, answers.data[0].axis.axis, marks, origin, 64, (value) => bytes(value), BYTE_INCREMENTS);
}
function throughputModel(answers, column, marks, origin) {
  const curves = answers.data.flatMap(
    (answer, n) => answer.series.filter((series) => series.column === column).map((series) => ({
      x: placeBins(answer.axis, answer.sample, origin).x,
      values: series.value,
      key: `${n}:${column}`,
      ...look(answers, n, 0),
      unit: series.unit
    }))
  );
  const unit = curves[0]?.unit ?? "per second";
  return linesModel(curves, answers.data[0].axis.axis, marks, origin, 2, (value) => rate(value, unit), null);
}
function look(answers, n, c) {
  const single = answers.data.length === 1;
  const color = RUN_COLORS[(answers.shown[n].color + (single ? c : 0)) % RUN_COLORS.length];
  const dash = single ? void 0 : DASHES2[c % DASHES2.length];
  return dash ? { color, dash } : { color };
}
function linesModel(curves, axis, marks, origin, reach, formatY, incrementsY) {
  const table = align(curves.length ? curves.map(({ x, values }) => ({ x, columns: [bridge(values, reach)] })) : [{ x: [], columns: [] }]);
  const lines = curves.map(({ key, color, dash }, i) => ({ key, color, ...dash ? { dash } : {}, width: 1.75, opacity: 1, values: table.columns[i] }));
  return { axis, origin, x: table.x, lines, bands: [], dots: [], marks, limits: fullLimits(curves.map((c) => c.values), false), log: false, formatY, incrementsY };
}

// src/charts/chart.tsx
import { useEffect as useEffect2, useLayoutEffect, useRef as useRef2 } from "./vendor.js";

// src/charts/keys.ts
function keyAction(event, state) {
  if (event.ctrlKey || event.metaKey || event.altKey) return null;
  const { stops, domain, cursor, selection } = state;
  const visible2 = stops.filter((x) => x >= domain[0] && x <= domain[1]);
  switch (event.key) {
    case "ArrowLeft":
    case "ArrowRight":
    case "Home":
    case "End":
      return visible2.length ? move(event, visible2, cursor, selection) : null;
    case "PageUp":
    case "PageDown":
      return visible2.length ? { cursor: visible2[step(visible2, cursor, (event.key === "PageUp" ? -1 : 1) * Math.ceil(visible2.length / 10))] } : null;
    case "Enter":
      return selection ? { zoom: [Math.min(...selection), Math.max(...selection)], selection: null } : null;
    case "+":
    case "=":
      return { zoom: scaleAround(domain, cursor, 0.5) };
    case "-":
    case "_":
      return { zoom: scaleAround(domain, cursor, 2) };
    case "Escape":
      return selection ? { selection: null } : { zoom: "reset", cursor: null };
    default:
      return null;
  }
}
function move(event, visible2, cursor, selection) {
  const target = event.key === "Home" ? 0 : event.key === "End" ? visible2.length - 1 : step(visible2, cursor, event.key === "ArrowLeft" ? -1 : 1);
  const x = visible2[target];
  if (!event.shiftKey) return { cursor: x, selection: null };
  return { cursor: x, selection: [selection?.[0] ?? cursor ?? x, x] };
}
function step(visible2, cursor, by) {
  if (cursor === null) return by < 0 ? visible2.length - 1 : 0;
  let nearest = 0;
  visible2.forEach((x, i) => {
    if (Math.abs(x - cursor) < Math.abs(visible2[nearest] - cursor)) nearest = i;
  });
  return Math.min(visible2.length - 1, Math.max(0, nearest + by));
}
function scaleAround(domain, cursor, factor) {
  const centre = cursor !== null && cursor >= domain[0] && cursor <= domain[1] ? cursor : (domain[0] + domain[1]) / 2;
  return [centre - (centre - domain[0]) * factor, centre + (domain[1] - centre) * factor];
}

// src/charts/plot.ts
import uPlot from "./vendor.js";

// src/charts/model.ts
function structure(model) {
  const lines = model.lines.map((l) => [l.key, l.color, l.width, l.opacity, l.dash]);
  const bands = model.bands.map((b) => [b.upper, b.lower, b.color, b.opacity, b.hatched]);
  return JSON.stringify([model.axis, String(model.origin), model.log, lines, bands]);
}

// src/charts/paint.ts
var RANGES = {
  warmup: { color: "--mark-warmup", gap: 8, slope: 1 },
  profiled: { color: "--mark-profiled", gap: 6, slope: -1 },
  excluded: { color: "--mark-excluded", gap: 10, slope: 1 },
  gap: { color: "--mark-gap", gap: 5, slope: -1 }
};
var POINTS = {
  restart: "--mark-restart",
  clock_jump: "--mark-clock",
  interrupted: "--mark-interrupted"
};
var MARK_NAMES = {
  restart: "restart",
  warmup: "warm-up",
  profiled: "profiled",
  excluded: "excluded",
  gap: "missing rows",
  clock_jump: "clock jump",
  interrupted: "interrupted"
};
var MARK_COLORS = Object.fromEntries(
  Object.keys(MARK_NAMES).map((kind) => [kind, RANGES[kind]?.color ?? POINTS[kind]])
);
var isRange = (kind) => kind in RANGES;
function paintRanges(u, marks) {
  const { ctx, bbox } = u;
  ctx.save();
  clip(u);
  for (const mark of marks) {
    const style = RANGES[mark.kind];
    if (!style) continue;
    const x0 = u.valToPos(mark.x0, "x", true);
    const x1 = Math.max(u.valToPos(mark.x1, "x", true), x0 + 2 * devicePixelRatio);
    if (x1 < bbox.left || x0 > bbox.left + bbox.width) continue;
    const color = resolve(style.color);
    ctx.fillStyle = hatch(ctx, withAlpha(color, 0.34), withAlpha(color, 0.1), style.gap, style.slope);
    ctx.fillRect(x0, bbox.top, x1 - x0, bbox.height);
  }
  ctx.restore();
}
function paintMarkers(u, marks, withNames) {
  const { ctx, bbox } = u;
  const ratio2 = devicePixelRatio;
  ctx.save();
  clip(u);
  ctx.font = `${10.5 * ratio2}px system-ui, sans-serif`;
  ctx.textBaseline = "top";
  let free = -Infinity;
  for (const mark of marks.toSorted((a, b) => a.x0 - b.x0)) {
    const at = u.valToPos(mark.x0, "x", true);
    if (at < bbox.left - 1 || at > bbox.left + bbox.width) {
      if (!(mark.x1 > mark.x0 && at < bbox.left && u.valToPos(mark.x1, "x", true) > bbox.left)) continue;
    }
    const color = resolve(MARK_COLORS[mark.kind]);
    if (POINTS[mark.kind]) {
      ctx.strokeStyle = color;
      ctx.lineWidth = 1.5 * ratio2;
      ctx.setLineDash(mark.kind === "restart" ? [] : [4 * ratio2, 3 * ratio2]);
      ctx.beginPath();
      ctx.moveTo(at, bbox.top);
      ctx.lineTo(at, bbox.top + bbox.height);
      ctx.stroke();
    }
    if (!withNames) continue;
    const text2 = MARK_NAMES[mark.kind];
    const left = Math.max(at, bbox.left) + 4 * ratio2;
    const right = left + ctx.measureText(text2).width;
    if (left < free || right > bbox.left + bbox.width) continue;
    halo(ctx, text2, left, bbox.top + 3 * ratio2, resolve("--mark-text"), ratio2);
    free = right + 8 * ratio2;
  }
  ctx.restore();
}
function paintDots(u, model) {
  const { ctx, bbox } = u;
  const ratio2 = devicePixelRatio;
  const top = model.limits?.max ?? Infinity;
  ctx.save();
  clip(u, 8 * ratio2);
  for (const dots of model.dots) {
    const color = resolve(dots.color);
    ctx.strokeStyle = ctx.fillStyle = color;
    ctx.lineWidth = 1.2 * ratio2;
    const over = [];
    dots.x.forEach((x, i) => {
      const y = dots.y[i];
      const px = u.valToPos(x, "x", true);
      if (px < bbox.left - 4 || px > bbox.left + bbox.width + 4) return;
      if (y > top) over.push([px, y]);
      else dot(ctx, px, u.valToPos(y, "y", true), dots, ratio2);
    });
    triangles(u, over, dots, model, color);
  }
  ctx.restore();
}
function dot(ctx, x, y, dots, ratio2) {
  ctx.beginPath();
  ctx.arc(x, y, (dots.hollow ? 2.6 : 1.7) * ratio2, 0, 2 * Math.PI);
  if (dots.hollow) ctx.stroke();
  else ctx.fill();
}
function triangles(u, over, dots, model, color) {
  const { ctx, bbox } = u;
  const ratio2 = devicePixelRatio;
  const size = 4.5 * ratio2;
  const y = bbox.top + 2 * ratio2;
  for (const [x] of over) {
    ctx.beginPath();
    ctx.moveTo(x, y);
    ctx.lineTo(x + size, y + size * 1.5);
    ctx.lineTo(x - size, y + size * 1.5);
    ctx.closePath();
    if (dots.hollow) ctx.stroke();
    else ctx.fill();
  }
  if (!dots.labels) return;
  ctx.font = `600 ${10.5 * ratio2}px system-ui, sans-serif`;
  ctx.textBaseline = "top";
  const taken = [];
  for (const [x, value] of over.toSorted((a, b) => b[1] - a[1])) {
    const text2 = model.formatY(value);
    const width2 = ctx.measureText(text2).width;
    const left = x + size + 2 * ratio2 + width2 > bbox.left + bbox.width ? x - size - 2 * ratio2 - width2 : x + size + 2 * ratio2;
    if (taken.some(([a, b]) => left < b + 6 * ratio2 && left + width2 > a - 6 * ratio2)) continue;
    taken.push([left, left + width2]);
    halo(ctx, text2, left, y + 13 * ratio2, color, ratio2);
    if (taken.length >= 8) break;
  }
}
function halo(ctx, text2, x, y, color, ratio2) {
  ctx.save();
  ctx.setLineDash([]);
  ctx.strokeStyle = resolve("--surface");
  ctx.lineWidth = 3 * ratio2;
  ctx.lineJoin = "round";
  ctx.strokeText(text2, x, y);
  ctx.fillStyle = color;
  ctx.fillText(text2, x, y);
  ctx.restore();
}
function clip({ ctx, bbox }, slack = 0) {
  ctx.beginPath();
  ctx.rect(bbox.left - slack, bbox.top - slack, bbox.width + 2 * slack, bbox.height + 2 * slack);
  ctx.clip();
}

// src/charts/plot.ts
var AXIS_WIDTH = 76;
var Plot = class {
  constructor(root, model, options, events) {
    this.root = root;
    this.events = events;
    this.model = model;
    this.options = options;
    this.update(model, options);
  }
  root;
  events;
  u = null;
  built = "";
  model;
  options;
  /** Shows other data; builds the chart anew only where its structure changed (or `force`, for a new theme). */
  update(model, options, force = false) {
    this.model = model;
    const resized = options.width !== this.options.width || options.height !== this.options.height;
    this.options = options;
    const shape = structure(model);
    const data = [model.x, ...model.lines.map((line) => line.values)];
    if (!this.u || force || shape !== this.built) {
      this.u?.destroy();
      this.built = shape;
      this.u = new uPlot(this.settings(), data, this.root);
      return;
    }
    if (resized) this.u.setSize({ width: options.width, height: options.height });
    this.u.batch(() => {
      this.u.setData(data, false);
      this.u.setScale("x", { min: options.domain[0], max: options.domain[1] });
      const { limits } = model;
      this.u.setScale("y", { min: limits?.min ?? 0, max: limits?.max ?? 1 });
      this.u.redraw(true, true);
    });
  }
  /** Puts the crosshair at `x`, or takes it away. */
  showCursor(x) {
    const u = this.u;
    if (!u) return;
    const left = x === null ? -10 : u.valToPos(x, "x");
    u.setCursor({ left: left >= 0 && left <= u.over.clientWidth ? left : -10, top: x === null ? -10 : 4 }, false);
  }
  /** Shades `[x0, x1]` as what would be zoomed to, or nothing. */
  showSelection(range) {
    const u = this.u;
    if (!u) return;
    const [a, b] = range ? range.map((x) => u.valToPos(x, "x")).sort((p, q) => p - q) : [0, 0];
    u.setSelect({ left: a, width: b - a, top: 0, height: u.over.clientHeight }, false);
  }
  destroy() {
    this.u?.destroy();
    this.u = null;
  }
  settings() {
    const { model, options } = this;
    const text2 = resolve("--text-2");
    const grid = { stroke: resolve("--grid"), width: 1 };
    const font = "11px system-ui, sans-serif";
    return {
      width: options.width,
      height: options.height,
      padding: [6, 10, 0, 0],
      legend: { show: false },
      cursor: {
        y: false,
        points: { show: false },
        drag: { x: true, y: false, setScale: false, dist: 4 },
        bind: { dblclick: () => () => (this.events.onReset(), null) }
      },
      scales: {
        x: { time: model.axis === "wall", auto: false, range: () => this.options.domain },
        y: {
          auto: false,
          distr: model.log ? 3 : 1,
          range: () => [this.model.limits?.min ?? 0, this.model.limits?.max ?? 1]
        }
      },
      ms: 1,
      axes: [this.xAxis(text2, grid, font), this.yAxis(text2, grid, font)],
      series: [{}, ...model.lines.map((line) => this.series(line))],
      bands: model.bands.filter((band) => band.lower !== null).map((band) => ({ series: [band.upper + 1, band.lower + 1], fill: (u) => this.fill(u, band.color, band.opacity, band.hatched) })),
      hooks: {
        drawAxes: [(u) => paintRanges(u, this.model.marks)],
        draw: [(u) => (paintMarkers(u, this.model.marks, this.options.markNames), paintDots(u, this.model))],
        setCursor: [(u) => this.cursorMoved(u)],
        setSelect: [(u) => this.selected(u)]
      }
    };
  }
  series(line) {
    const floor = this.model.bands.find((band) => band.lower === null && this.model.lines[band.upper] === line);
    const settings = {
      stroke: resolve(line.color, line.opacity),
      width: line.opacity === 0 ? 0 : line.width,
      points: { show: line.opacity > 0 ? void 0 : false, size: 4, fill: resolve(line.color, line.opacity) }
    };
    if (line.dash) settings.dash = line.dash;
    if (floor) settings.fill = (u) => this.fill(u, floor.color, floor.opacity, floor.hatched);
    return settings;
  }
  fill(u, color, opacity, hatched = false) {
    return hatched ? hatch(u.ctx, resolve(color, Math.min(1, opacity + 0.2)), resolve(color, opacity * 0.45)) : resolve(color, opacity);
  }
  xAxis(stroke, grid, font) {
    const { axis, origin } = this.model;
    const common = { stroke, grid, ticks: { ...grid, size: 4 }, font, size: axis === "wall" ? 38 : 26, gap: 4 };
    if (axis === "wall") return common;
    return {
      ...common,
      incrs: axis === "step" ? STEP_INCREMENTS : TIME_INCREMENTS,
      space: (_u, _index, _min, max2) => Math.max(70, tickLabels(axis, origin, [max2], 1e3)[0].length * 7 + 24),
      values: (_u, splits, _index, _space, increment) => tickLabels(axis, origin, splits, increment)
    };
  }
  yAxis(stroke, grid, font) {
    const axis = {
      stroke,
      grid,
      ticks: { show: false },
      font,
      size: AXIS_WIDTH,
      gap: 6,
      space: 34,
      values: (_u, splits) => splits.map((value) => value === null ? null : this.model.formatY(value))
    };
    if (this.model.incrementsY && !this.model.log) axis.incrs = this.model.incrementsY;
    return axis;
  }
  cursorMoved(u) {
    if (!u.cursor.event) return;
    const left = u.cursor.left ?? -1;
    this.events.onCursor(left < 0 ? null : u.posToVal(left, "x"));
  }
  selected(u) {
    const { left, width: width2 } = u.select;
    if (width2 < 4) return;
    const [x0, x1] = [u.posToVal(left, "x"), u.posToVal(left + width2, "x")];
    u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
    this.events.onZoom(x0, x1);
  }
};

// src/charts/chart.tsx
import { jsx as jsx5 } from "./vendor.js";
function Chart(props) {
  const root = useRef2(null);
  const plot = useRef2(null);
  const latest = useRef2(props);
  latest.current = props;
  const currentTheme = theme.value;
  const drawnTheme = useRef2(currentTheme);
  useLayoutEffect(() => {
    const element = root.current;
    const draw = () => {
      const { model, domain, height, markNames = false } = latest.current;
      const options = { width: Math.max(200, element.clientWidth), height, domain, markNames };
      if (plot.current) plot.current.update(model, options);
      else
        plot.current = new Plot(element, model, options, {
          onCursor: (x) => latest.current.cursor.value = x,
          onZoom: (x0, x1) => latest.current.onZoom(x0, x1),
          onReset: () => latest.current.onReset()
        });
    };
    draw();
    const observer = new ResizeObserver(() => {
      latest.current.onWidth?.(element.clientWidth);
      draw();
    });
    observer.observe(element);
    const stopCursor = props.cursor.subscribe((x) => plot.current?.showCursor(x));
    const stopSelection = props.selection.subscribe((range) => plot.current?.showSelection(range));
    return () => {
      observer.disconnect();
      stopCursor();
      stopSelection();
      plot.current?.destroy();
      plot.current = null;
    };
  }, []);
  useEffect2(() => {
    const { model, domain, height, markNames = false } = props;
    const options = { width: Math.max(200, root.current.clientWidth), height, domain, markNames };
    plot.current?.update(model, options, drawnTheme.current !== currentTheme);
    drawnTheme.current = currentTheme;
    plot.current?.showCursor(props.cursor.peek());
  }, [props.model, props.domain[0], props.domain[1], props.height, currentTheme]);
  const onKeyDown = (event) => {
    const { stops, domain, cursor, selection, onZoom, onReset } = latest.current;
    const action = keyAction(event, { stops, domain, cursor: cursor.peek(), selection: selection.peek() });
    if (!action) return;
    event.preventDefault();
    if (action.cursor !== void 0) cursor.value = action.cursor;
    if (action.selection !== void 0) selection.value = action.selection;
    if (action.zoom === "reset") onReset();
    else if (action.zoom) onZoom(...action.zoom);
  };
  return /* @__PURE__ */ jsx5(
    "div",
    {
      ref: root,
      class: "chart",
      tabIndex: 0,
      role: "img",
      "aria-label": `${props.summary} Keys: arrows move the cursor, Shift and arrows select, Enter zooms, Escape shows the whole run.`,
      onKeyDown
    }
  );
}

// src/views/charts-common.tsx
import { jsx as jsx6, jsxs as jsxs5 } from "./vendor.js";
function pageMarks(page) {
  const marks = page.marks.value.data?.data[0] ?? null;
  return marks && marks.axis === page.view.value.axis ? placeMarks(marks, page.origin.value) : [];
}
function underCursor(page, answer) {
  const bins = placeBins(answer.axis, answer.sample, page.origin.value);
  const x = page.cursor.value;
  return { bins, at: x === null ? -1 : binAt(bins, x) };
}
function binName(answer, i) {
  const base = BigInt(answer.axis.base);
  const edge = (value) => base + BigInt(Math.round(value));
  return span(answer.axis.axis, edge(answer.axis.start[i]), edge(answer.axis.end[i]), answer.sample.num_in_range === answer.axis.start.length);
}
function PageChart({ page, model, height, summary, stops, markNames = false, reportsWidth = false }) {
  return /* @__PURE__ */ jsx6(
    Chart,
    {
      model,
      domain: page.domain.value,
      height,
      summary,
      stops,
      markNames,
      cursor: page.cursor,
      selection: page.selection,
      onZoom: (x0, x1) => page.zoom(x0, x1),
      onReset: () => page.resetZoom(),
      ...reportsWidth ? { onWidth: (width2) => page.chartWidth.value = width2 } : {}
    }
  );
}
function Legend({ items, when }) {
  return /* @__PURE__ */ jsxs5("div", { class: "legend", children: [
    /* @__PURE__ */ jsx6("span", { class: "when", children: when }),
    /* @__PURE__ */ jsx6("ul", { children: items.map(({ key, color, hatched, text: text2, value }) => /* @__PURE__ */ jsxs5("li", { children: [
      /* @__PURE__ */ jsx6(Swatch, { color, ...hatched ? { hatched } : {} }),
      /* @__PURE__ */ jsx6("span", { class: "legend-text", children: text2 }),
      value !== void 0 && /* @__PURE__ */ jsx6("b", { children: value })
    ] }, key)) })
  ] });
}

// src/views/table.tsx
import { jsx as jsx7, jsxs as jsxs6 } from "./vendor.js";
var CAP = 200;
function DataTable({ caption, head, row, numRows, csv }) {
  const shown = Math.min(numRows, CAP);
  return /* @__PURE__ */ jsx7("div", { class: "table-scroll", tabIndex: 0, children: /* @__PURE__ */ jsxs6("table", { children: [
    /* @__PURE__ */ jsxs6("caption", { children: [
      caption,
      ". ",
      shown < numRows ? `The first ${shown} of ${integer(numRows)} rows; zoom in to see others.` : `${integer(numRows)} rows.`,
      " ",
      csv && /* @__PURE__ */ jsx7("a", { href: csv, download: true, children: "All steps as CSV" })
    ] }),
    /* @__PURE__ */ jsx7("thead", { children: /* @__PURE__ */ jsx7("tr", { children: head.map((text2) => /* @__PURE__ */ jsx7("th", { scope: "col", children: text2 }, text2)) }) }),
    /* @__PURE__ */ jsx7("tbody", { children: Array.from({ length: shown }, (_, i) => {
      const [first, ...cells] = row(i);
      return /* @__PURE__ */ jsxs6("tr", { children: [
        /* @__PURE__ */ jsx7("th", { scope: "row", children: first }),
        cells.map((cell, k) => /* @__PURE__ */ jsx7("td", { children: cell }, k))
      ] }, i);
    }) })
  ] }) });
}

// src/views/memory.tsx
import { Fragment as Fragment3, jsx as jsx8, jsxs as jsxs7 } from "./vendor.js";
var HEIGHT = 180;
function Memory({ page }) {
  const { data } = page.memory.value;
  const [first] = data?.data ?? [];
  const origin = page.origin.value;
  const marks = pageMarks(page);
  const model = useMemo(() => data && memoryModel(data, marks, origin), [data, page.marks.value.data, origin]);
  const measured = data?.data.some((answer) => answer.columns.length > 0) ?? false;
  const meanings = [...new Set(data?.data.flatMap((answer) => answer.columns.map((column) => `${columnLabel(column.column)}: ${column.meaning}`)))];
  return /* @__PURE__ */ jsx8(Panel, { id: "memory", title: "Memory", note: "peaks, every step in view", table: first?.columns.length ? () => /* @__PURE__ */ jsx8(Table, { page, answer: first }) : null, children: !data || !first ? /* @__PURE__ */ jsx8(ChartSkeleton, { height: HEIGHT }) : !measured ? /* @__PURE__ */ jsx8("p", { class: "note", children: first.reason ?? "No memory was measured." }) : /* @__PURE__ */ jsxs7(Fragment3, { children: [
    /* @__PURE__ */ jsx8(PageChart, { page, model, height: HEIGHT, stops: placeBins(first.axis, first.sample, origin).x, summary: words(page) }),
    /* @__PURE__ */ jsx8(MemoryLegend, { page, data }),
    /* @__PURE__ */ jsx8("p", { class: "note", children: meanings.join(" · ") })
  ] }) });
}
function words(page) {
  const peaks = page.summary.value.data?.data[0]?.peaks ?? [];
  return `Memory peaks: ${list(peaks.map((peak) => `${columnLabel(peak.column)} ${bytes(peak.value)}`)) || "not measured"}.`;
}
function MemoryLegend({ page, data }) {
  const summaries = page.summary.value.data?.data ?? [];
  let when = "highest in view";
  const items = data.data.flatMap((answer, n) => {
    const { at } = underCursor(page, answer);
    if (at >= 0 && n === 0) when = binName(answer, at);
    return answer.columns.map((column, c) => {
      const peak = summaries[n]?.peaks.find((one) => one.column === column.column);
      const label = columnLabel(column.column);
      return {
        key: `${n} ${column.column}`,
        color: look(data, n, c).color,
        value: bytes(at >= 0 ? column.max[at] : peak?.value),
        text: data.data.length > 1 ? /* @__PURE__ */ jsxs7(Fragment3, { children: [
          /* @__PURE__ */ jsx8(Name, { text: data.shown[n].label }),
          ": ",
          label
        ] }) : label
      };
    });
  });
  return /* @__PURE__ */ jsx8(Legend, { items, when });
}
function Table({ page, answer }) {
  return /* @__PURE__ */ jsx8(
    DataTable,
    {
      caption: "Memory peaks",
      numRows: answer.axis.start.length,
      csv: page.downloadUrl("samples", { format: "csv" }),
      head: ["Steps", ...answer.columns.flatMap(({ column }) => [`${columnLabel(column)}, highest`, `${columnLabel(column)}, times measured`])],
      row: (i) => [binName(answer, i), ...answer.columns.flatMap((column) => [bytes(column.max[i]), integer(column.num_measured[i])])]
    }
  );
}

// src/views/run-picker.tsx
import { useComputed, useSignal as useSignal2 } from "./vendor.js";
import { useEffect as useEffect3, useLayoutEffect as useLayoutEffect2, useMemo as useMemo2, useRef as useRef3 } from "./vendor.js";

// src/format/names.ts
var SEPARATOR = /[/\\_\-., =]/;
function sharedEnds(names) {
  const [first, ...rest] = names;
  if (first === void 0 || rest.length === 0) return { prefix: 0, suffix: 0 };
  let prefix = first.length;
  let suffix = first.length;
  for (const name of rest) {
    let i = 0;
    while (i < prefix && i < name.length && name[i] === first[i]) i += 1;
    prefix = i;
    let j = 0;
    while (j < suffix && j < name.length && name.at(-1 - j) === first.at(-1 - j)) j += 1;
    suffix = j;
  }
  while (prefix > 0 && !SEPARATOR.test(first[prefix - 1])) prefix -= 1;
  while (prefix > 0 && first[prefix - 1] === "=") {
    prefix -= 1;
    while (prefix > 0 && !SEPARATOR.test(first[prefix - 1])) prefix -= 1;
  }
  while (suffix > 0 && !SEPARATOR.test(first.at(-suffix))) suffix -= 1;
  const shortest = Math.min(...names.map((name) => name.length));
  return { prefix, suffix: Math.max(0, Math.min(suffix, shortest - prefix)) };
}
function shorten(name, shared, length) {
  const characters = [...name];
  if (characters.length <= length) return name;
  const core = name.slice(shared.prefix, name.length - shared.suffix);
  const before = shared.prefix ? "…" : "";
  const after = shared.suffix ? "…" : "";
  const room = Math.max(3, length - before.length - after.length);
  const own = [...core];
  if (own.length <= room) return before + core + after;
  const head = Math.ceil((room - 1) * 0.6);
  const tail = room - 1 - head;
  return `${before}${own.slice(0, head).join("")}…${tail > 0 ? own.slice(-tail).join("") : ""}${after}`;
}
function matches(name, query) {
  const text2 = name.toLowerCase();
  return query.toLowerCase().split(/\s+/).every((word) => text2.includes(word));
}

// src/views/picker-keys.ts
function pickerKey(event, active, total, inSearch) {
  if (event.ctrlKey || event.metaKey || event.altKey) return null;
  const to = (index) => total ? { move: Math.min(total - 1, Math.max(0, index)) } : null;
  switch (event.key) {
    case "ArrowDown":
      return to(active + 1);
    case "ArrowUp":
      return to(active - 1);
    case "PageDown":
      return to(active + 10);
    case "PageUp":
      return to(active - 10);
    case "Home":
      return inSearch ? null : to(0);
    case "End":
      return inSearch ? null : to(total - 1);
    case "Enter":
      return { choose: true };
    case " ":
      return inSearch ? null : { toggle: true };
    case "Escape":
      return { clear: true };
    default:
      return !inSearch && event.key.length === 1 ? { type: event.key } : null;
  }
}
function windowOf(scrollTop, height, rowHeight, total) {
  const spare = 6;
  const from = Math.max(0, Math.min(total, Math.floor(scrollTop / rowHeight)) - spare);
  return [from, Math.min(total, Math.ceil((scrollTop + height) / rowHeight) + spare)];
}

// src/views/shown-runs.tsx
import { jsx as jsx9, jsxs as jsxs8 } from "./vendor.js";
function ShownRuns({ page, perLine, shared }) {
  const shown = page.shown.value;
  const [first] = shown;
  return /* @__PURE__ */ jsxs8("div", { class: "shown", children: [
    /* @__PURE__ */ jsx9("h2", { children: shown.length > 1 ? `Showing ${shown.length} together` : "Showing" }),
    /* @__PURE__ */ jsx9("ul", { children: shown.map((entry, index) => /* @__PURE__ */ jsxs8("li", { children: [
      /* @__PURE__ */ jsxs8("button", { type: "button", class: "link", disabled: index === 0, title: index === 0 ? void 0 : "Make this the first run", onClick: () => page.change((view) => makePrimary(view, index)), children: [
        /* @__PURE__ */ jsx9(Swatch, { color: RUN_COLORS[entry.color % RUN_COLORS.length] }),
        /* @__PURE__ */ jsx9(Name, { text: entry.run.run, children: shorten(visible(entry.run.run), shared, perLine * 2 - 2) })
      ] }),
      index > 0 && entry.run.members.length > 1 && /* @__PURE__ */ jsx9("small", { children: entry.member.label }),
      shown.length > 1 && /* @__PURE__ */ jsx9("button", { type: "button", class: "icon", "aria-label": `Take ${visible(entry.label)} away`, onClick: () => page.change((view) => without(view, index)), children: "×" })
    ] }, JSON.stringify([entry.run.run, entry.member.member]))) }),
    first && first.run.members.length > 1 && /* @__PURE__ */ jsx9(Members, { page, first })
  ] });
}
var without = (view, index) => ({ ...view, entries: view.entries.filter((_, i) => i !== index) });
function Members({ page, first }) {
  const { members, missing_ranks: missing } = first.run;
  const all = (view) => {
    const own = [first.member, ...members.filter((member) => member !== first.member)];
    return { ...view, entries: own.slice(0, MAX_ENTRIES).map(({ member }) => ({ run: first.run.run, member })) };
  };
  const ranks = members.some((member) => member.rank !== members[0].rank);
  return /* @__PURE__ */ jsxs8("div", { class: "members", children: [
    /* @__PURE__ */ jsxs8("label", { children: [
      ranks ? "Rank" : "Writer",
      /* @__PURE__ */ jsx9("select", { value: first.member.member, onChange: (event) => {
        const { value } = event.currentTarget;
        page.change((view) => chooseMember(view, value));
      }, children: members.map((member) => /* @__PURE__ */ jsx9("option", { value: member.member, children: member.label }, member.member)) })
    ] }),
    /* @__PURE__ */ jsxs8("button", { type: "button", class: "link", onClick: () => page.change(all), children: [
      "overlay ",
      members.length > MAX_ENTRIES ? `${MAX_ENTRIES} of ${members.length}` : "all"
    ] }),
    missing.length > 0 && /* @__PURE__ */ jsxs8("small", { class: "warn", children: [
      "missing: ",
      missing.join(", ")
    ] })
  ] });
}

// src/views/run-picker.tsx
import { jsx as jsx10, jsxs as jsxs9 } from "./vendor.js";
var CHARACTER_PX = 6.9;
var ROW_CHROME_PX = 64;
function RunPicker({ page }) {
  const query = useSignal2("");
  const active = useSignal2(0);
  const everything = useSignal2(false);
  const width2 = useSignal2(280);
  const root = useRef3(null);
  const runs = page.catalog.state.value.data?.runs ?? [];
  const selection = page.hostSelection.value;
  const selected = useMemo2(() => selection ? runs.filter((run) => isSelected(run, selection)) : runs, [runs, selection]);
  const narrowed = selection !== null && selected.length < runs.length;
  const offered = narrowed && !everything.value ? selected : runs;
  const found = useMemo2(() => offered.filter((run) => matches(run.run, query.value)), [offered, query.value]);
  const shared = useMemo2(() => sharedEnds(runs.map((run) => run.run)), [runs]);
  const current = useComputed(() => Math.min(active.value, Math.max(0, found.length - 1)));
  useEffect3(() => {
    const observer = new ResizeObserver(() => width2.value = root.current?.clientWidth ?? 280);
    observer.observe(root.current);
    return () => observer.disconnect();
  }, []);
  const perLine = Math.max(10, Math.floor((width2.value - ROW_CHROME_PX) / CHARACTER_PX));
  const long = found.some((run) => visible(run.run).length > perLine);
  const activeIndex = Math.min(current.value, Math.max(0, found.length - 1));
  const activeRun = found[activeIndex];
  const onKeyDown = (event) => {
    const action = pickerKey(event, activeIndex, found.length, event.target instanceof HTMLInputElement);
    if (!action) return;
    event.preventDefault();
    if (action.move !== void 0) active.value = action.move;
    if (action.choose && activeRun) page.change((view) => showOnly(view, { run: activeRun.run, member: null }));
    if (action.toggle && activeRun) page.change((view) => toggleOverlay(view, { run: activeRun.run, member: null }));
    if (action.clear) query.value = "";
    if (action.type !== void 0) {
      query.value += action.type;
      root.current?.querySelector("input")?.focus();
    }
  };
  return /* @__PURE__ */ jsxs9("aside", { class: "picker", ref: root, "aria-label": "Runs", children: [
    /* @__PURE__ */ jsx10(ShownRuns, { page, perLine, shared }),
    /* @__PURE__ */ jsx10("div", { class: "search", onKeyDown, children: /* @__PURE__ */ jsx10(
      "input",
      {
        type: "search",
        placeholder: `Search ${integer(offered.length)} ${offered.length === 1 ? "run" : "runs"}`,
        "aria-label": "Search runs",
        "aria-controls": "run-list",
        value: query.value,
        onInput: (event) => {
          query.value = event.currentTarget.value;
          active.value = 0;
        }
      }
    ) }),
    narrowed && /* @__PURE__ */ jsxs9("p", { class: "note", children: [
      everything.value ? "All runs. " : `Following ${selection.description}. `,
      /* @__PURE__ */ jsx10("button", { type: "button", class: "link", onClick: () => everything.value = !everything.value, children: everything.value ? `Follow ${selection.description}` : `Show all ${integer(runs.length)}` })
    ] }),
    /* @__PURE__ */ jsx10(
      List,
      {
        page,
        found,
        active: activeIndex,
        rowHeight: long ? 46 : 32,
        onKeyDown,
        onActive: (i) => active.value = i,
        label: (run) => shorten(visible(run.run), shared, long ? perLine * 2 - 2 : perLine)
      }
    ),
    /* @__PURE__ */ jsx10("p", { class: "full-name", "aria-hidden": "true", children: activeRun ? visible(activeRun.run) : query.value ? "No run matches." : "" }),
    /* @__PURE__ */ jsxs9("p", { class: "note keys", children: [
      "↑ ↓ move · Enter shows · Space overlays (up to ",
      MAX_ENTRIES,
      ")"
    ] })
  ] });
}
function List({ page, found, active, rowHeight, label, onKeyDown, onActive }) {
  const scroll = useSignal2(0);
  const height = useSignal2(400);
  const box = useRef3(null);
  const inner = useRef3(null);
  useEffect3(() => {
    const observer = new ResizeObserver(() => height.value = box.current?.clientHeight ?? 400);
    observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect2(() => {
    const element = box.current;
    const top = active * rowHeight;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + rowHeight > element.scrollTop + element.clientHeight) element.scrollTop = top + rowHeight - element.clientHeight;
  }, [active, rowHeight]);
  const [from, to] = windowOf(scroll.value, height.value, rowHeight, found.length);
  useLayoutEffect2(() => inner.current?.style.setProperty("--height", `${found.length * rowHeight}px`), [found.length, rowHeight]);
  const shown = page.shown.value;
  return /* @__PURE__ */ jsx10(
    "div",
    {
      class: "run-list",
      id: "run-list",
      ref: box,
      role: "listbox",
      "aria-label": "Runs",
      "aria-multiselectable": "true",
      tabIndex: 0,
      "aria-activedescendant": found.length ? `run-${active}` : void 0,
      onKeyDown,
      onScroll: (event) => scroll.value = event.currentTarget.scrollTop,
      children: /* @__PURE__ */ jsx10("div", { class: "run-list-inner", ref: inner, children: found.slice(from, to).map((run, k) => /* @__PURE__ */ jsx10(Row, { page, run, index: from + k, active: from + k === active, rowHeight, label: label(run), entry: shown.find((s) => s.run.run === run.run), total: found.length, onActive }, run.run)) })
    }
  );
}
function Row({ page, run, index, total, active, rowHeight, label, entry, onActive }) {
  const place = (element) => {
    element?.style.setProperty("--top", `${index * rowHeight}px`);
    element?.style.setProperty("--height", `${rowHeight}px`);
  };
  const only = () => {
    onActive(index);
    page.change((view) => showOnly(view, { run: run.run, member: null }));
  };
  const overlay = (event) => {
    event.stopPropagation();
    onActive(index);
    page.change((view) => toggleOverlay(view, { run: run.run, member: null }));
  };
  const full = !entry && page.shown.value.length >= MAX_ENTRIES;
  return /* @__PURE__ */ jsxs9(
    "div",
    {
      class: `run ${active ? "active" : ""}`,
      id: `run-${index}`,
      role: "option",
      "aria-selected": entry !== void 0,
      "aria-setsize": total,
      "aria-posinset": index + 1,
      "aria-label": visible(run.run),
      ref: place,
      onClick: only,
      onMouseEnter: () => onActive(index),
      children: [
        /* @__PURE__ */ jsx10("button", { type: "button", class: "overlay", tabIndex: -1, disabled: full, "aria-pressed": entry !== void 0, title: entry ? "Take away" : full ? `At most ${MAX_ENTRIES} at once` : "Lay over the others", onClick: overlay, children: entry ? /* @__PURE__ */ jsx10(Swatch, { color: RUN_COLORS[entry.color % RUN_COLORS.length] }) : /* @__PURE__ */ jsx10("span", { class: "empty-swatch" }) }),
        /* @__PURE__ */ jsx10(Name, { text: run.run, children: label }),
        run.members.length > 1 && /* @__PURE__ */ jsxs9("small", { children: [
          run.members.length,
          " ",
          run.members.every((m) => m.rank === 0) ? "writers" : "ranks"
        ] })
      ]
    }
  );
}

// src/views/stages.tsx
import { useSignal as useSignal3 } from "./vendor.js";
import { useMemo as useMemo3 } from "./vendor.js";
import { Fragment as Fragment4, jsx as jsx11, jsxs as jsxs10 } from "./vendor.js";
var HEIGHT2 = 240;
function Stages({ page }) {
  const full = useSignal3(false);
  const { stageMode: mode } = page.view.value;
  const { data } = page.stages.value;
  const [answer] = data?.data ?? [];
  const origin = page.origin.value;
  const marks = pageMarks(page);
  const model = useMemo3(() => answer && stagesModel(answer, mode, marks, origin, full.value), [answer, page.marks.value.data, mode, origin, full.value]);
  const several = page.shown.value.length > 1;
  return /* @__PURE__ */ jsx11(
    Panel,
    {
      id: "stages",
      title: "Stages",
      note: answer && /* @__PURE__ */ jsxs10(Fragment4, { children: [
        several && /* @__PURE__ */ jsxs10(Fragment4, { children: [
          "of ",
          /* @__PURE__ */ jsx11(Name, { text: data.shown[0].label }),
          ", "
        ] }),
        "mean time per step, ",
        answer.clock,
        " clock"
      ] }),
      table: answer?.stages.length ? () => /* @__PURE__ */ jsx11(Table2, { page, answer }) : null,
      controls: /* @__PURE__ */ jsxs10(Fragment4, { children: [
        (model?.limits?.clipped || full.value) && /* @__PURE__ */ jsx11("button", { type: "button", class: "button", onClick: () => full.value = !full.value, children: full.value ? "Cut off spikes" : "Show full range" }),
        /* @__PURE__ */ jsx11(
          Segmented,
          {
            label: "Show stages as",
            value: mode,
            onChange: (stageMode) => page.change((v) => ({ ...v, stageMode })),
            options: [{ value: "stacked", text: "Stacked" }, { value: "lines", text: "Lines" }, { value: "share", text: "Share of step" }]
          }
        )
      ] }),
      children: model && answer ? /* @__PURE__ */ jsxs10(Fragment4, { children: [
        /* @__PURE__ */ jsx11(PageChart, { page, model, height: HEIGHT2, stops: placeBins(answer.axis, answer.sample, origin).x, summary: words2(page.summary.value.data?.data[0]) }),
        answer.stages.length === 0 && /* @__PURE__ */ jsxs10("p", { class: "note", children: [
          "No stage is labelled. ",
          /* @__PURE__ */ jsx11("code", { children: 'with perf.stage("forward"):' }),
          " in the loop shows where the time goes."
        ] }),
        /* @__PURE__ */ jsx11(StageLegend, { page, answer })
      ] }) : /* @__PURE__ */ jsx11(ChartSkeleton, { height: HEIGHT2 })
    }
  );
}
function words2(summary) {
  if (!summary?.stages.length) return "Time per step; no stage is labelled.";
  const parts = summary.stages.slice(0, 5).map((stage) => `${visible(stage.stage)} ${time(stage.mean_ms)}`);
  return `Mean time per step by stage: ${list(parts)}. ${percent(summary.unlabelled.of_step)} of the step is not labelled.`;
}
function StageLegend({ page, answer }) {
  const { at } = underCursor(page, answer);
  const series = stageSeries(answer);
  const summary = page.summary.value.data?.data[0];
  const totals = new Map(summary?.stages.map((stage) => [stage.stage, stage]));
  const item = (key, text2, look2, mean, share) => {
    const total = at >= 0 ? series.total[at] : null;
    const part = at >= 0 ? mean === null || mean === void 0 || !total ? null : mean / total : share;
    return { key, text: text2, ...look2, value: `${time(mean)} · ${percent(part)}` };
  };
  const items = series.names.map((name, i) => {
    const total = totals.get(name);
    return item(`s${name}`, /* @__PURE__ */ jsx11(Name, { text: name }), stageColor(i), at >= 0 ? series.means[i][at] : total?.mean_ms, total?.of_step);
  });
  items.push(item("rest", "not labelled", { color: UNLABELLED_COLOR, hatched: true }, at >= 0 ? series.unlabelled[at] : summary?.unlabelled.mean_ms, summary?.unlabelled.of_step));
  return /* @__PURE__ */ jsx11(Legend, { items, when: at >= 0 ? binName(answer, at) : "all steps in view: mean · share of step" });
}
function Table2({ page, answer }) {
  const series = stageSeries(answer);
  return /* @__PURE__ */ jsx11(
    DataTable,
    {
      caption: "Mean time per step by stage",
      numRows: answer.axis.start.length,
      csv: page.downloadUrl("samples", { format: "csv" }),
      head: ["Steps", ...series.names.map(visible), "not labelled", "step time"],
      row: (i) => [binName(answer, i), ...series.means.map((mean) => time(mean[i])), time(series.unlabelled[i]), time(series.total[i])]
    }
  );
}

// src/views/step-time.tsx
import { useSignal as useSignal4 } from "./vendor.js";
import { useMemo as useMemo4 } from "./vendor.js";

// src/views/words.ts
function headline(summary) {
  const { p50, p95 } = summary.step_time_ms;
  if (p50 === null || p95 === null) return noStatistics(summary);
  const typical = `A typical step takes ${time(p50)}; 1 in 20 takes longer than ${time(p95)}.`;
  const [first] = summary.stages;
  if (!first || first.share === null) return `${typical} No stages are labelled.`;
  return `${typical} Most labelled time is in ${visible(first.stage)} (${percent(first.share)}).`;
}
function noStatistics({ sample }) {
  if (sample.num_in_range === 0) return "No step lies in this range.";
  return `All ${count(sample.num_in_range, "step")} in this range are left out of the statistics (${leftOutWords(sample.left_out)}).`;
}
var REASONS = {
  warmup: "warm-up",
  profiled: "profiled",
  restart: "first of an attempt",
  not_finite: "without a finite time",
  negative: "with a negative time"
};
function leftOutWords(leftOut) {
  return Object.entries(leftOut).filter(([, number]) => number > 0).toSorted((a, b) => b[1] - a[1]).map(([reason, number]) => `${integer(number)} ${REASONS[reason] ?? reason}`).join(", ");
}
function evidence({ sample, warmup, excluded }) {
  const words3 = [`${integer(sample.num_used)} of ${count(sample.num_in_range, "step")} in view used`];
  const left = leftOutWords(sample.left_out);
  if (left) words3.push(`left out: ${left}`);
  words3.push(`${integer(sample.num_read)} of ${integer(sample.num_written)} written steps read`);
  if (warmup.num_steps) words3.push(`warm-up: ${count(warmup.num_steps, "step")}, ${duration(warmup.total_ms)}`);
  if (excluded.num_steps) words3.push(`excluded activity: ${duration(excluded.total_ms)} in ${count(excluded.num_steps, "step")}`);
  if (sample.num_superseded) words3.push(`${count(sample.num_superseded, "step")} superseded by a later attempt`);
  return words3;
}
var COUNTERS = {
  num_rows_lost: (n) => `${count(n, "row")} could not be written and ${n === 1 ? "is" : "are"} lost`,
  num_interrupted: (n) => `${count(n, "step")} cut by an exception: counted, not sampled`,
  num_open_stages: (n) => `${count(n, "stage")} still open at the end of a step and closed there`,
  num_foreign_stages: (n) => `${count(n, "stage")} entered in another thread and not counted`,
  num_not_finite: (n) => `${count(n, "value")} from the loop not finite: shown as not measured`,
  num_invalid: (n) => `${count(n, "call")} with arguments that cannot be used: ignored`,
  num_duplicates: (n) => `${count(n, "duplicate sample")} ignored`,
  num_device_unresolved: (n) => `${count(n, "step")} without device time: events never completed`,
  num_stages_folded: (n) => `${count(n, "stage")} beyond the limit on names, summed under “(more stages)”`
};
function warnings(summary, { run }) {
  const words3 = [];
  const { num_missing: missing } = summary.sample;
  if (missing) words3.push(`${count(missing, "row")} never arrived here (gaps in the log): nothing is averaged over them`);
  if (run.missing_ranks.length) {
    const ranks = list(run.missing_ranks.map(String));
    words3.push(`${run.missing_ranks.length === 1 ? "Rank" : "Ranks"} ${ranks} of ${run.world_size} wrote nothing`);
  }
  for (const [counter, number] of Object.entries(summary.counters)) {
    if (number > 0) words3.push(COUNTERS[counter]?.(number) ?? `${counter}: ${integer(number)}`);
  }
  return [...words3, ...run.notes.map((note) => note.replace(/\.$/, ""))];
}
function binWords(bands, bins, i) {
  const base = BigInt(bands.axis.base);
  const absolute = (value2) => base + BigInt(Math.round(value2));
  const where = span(bands.axis.axis, absolute(bands.axis.start[i]), absolute(bands.axis.end[i]), bins.raw);
  const value = (raw) => time(raw === null ? null : raw * bands.scale);
  const out = bands.num_left_out[i];
  if (bands.num_steps[i] === 0) return `${where}: ${out ? `${count(out, "step")} left out, up to ${value(bands.left_out_max[i])}` : "no steps"}`;
  if (bins.raw) return `${where}: ${value(bands.max[i])}`;
  const quantiles = bands.percentiles.map((p, k) => `${p === 50 ? "median" : `p${p}`} ${value(bands.quantiles[k][i])}`);
  const at = bands.max_at[i];
  const place = at === null || at === void 0 ? "" : ` at ${span(bands.axis.axis, absolute(at), absolute(at), true).replace(/^at /, "")}`;
  const left = out ? `; ${integer(out)} left out` : "";
  return `${where}: ${quantiles.join(", ")}, max ${value(bands.max[i])}${place}${left}`;
}
function stepTimeSummary(summary, label) {
  if (!summary) return `Step time of ${visible(label)}.`;
  const { p50, p95, max: max2, max_step: at } = summary.step_time_ms;
  return `Step time of ${visible(label)}: median ${time(p50)}, p95 ${time(p95)}, longest ${time(max2)}${at === null ? "" : ` at step ${integer(at)}`}.`;
}

// src/views/step-time.tsx
import { Fragment as Fragment5, jsx as jsx12, jsxs as jsxs11 } from "./vendor.js";
var HEIGHT3 = 300;
function StepTime({ page }) {
  const full = useSignal4(false);
  const view = page.view.value;
  const { data } = page.bands.value;
  const marks = pageMarks(page);
  const origin = page.origin.value;
  const model = useMemo4(
    () => data && bandsModel(data, marks, { origin, showMax: view.showMax, showLeftOut: view.showLeftOut, yScale: view.yScale, full: full.value }),
    [data, page.marks.value.data, origin, view.showMax, view.showLeftOut, view.yScale, full.value]
  );
  const [first] = data?.data ?? [];
  const clipped = model?.limits?.clipped ?? false;
  return /* @__PURE__ */ jsxs11(
    Panel,
    {
      id: "step-time",
      title: "Step time",
      note: first && /* @__PURE__ */ jsx12(Clock, { bands: first }),
      table: first ? () => /* @__PURE__ */ jsx12(Table3, { page, bands: first }) : null,
      controls: /* @__PURE__ */ jsxs11(Fragment5, { children: [
        (clipped || full.value) && view.yScale !== "log" && /* @__PURE__ */ jsx12("button", { type: "button", class: "button", onClick: () => full.value = !full.value, children: full.value ? "Cut off spikes" : "Show full range" }),
        /* @__PURE__ */ jsx12(
          Segmented,
          {
            label: "Y axis",
            value: view.yScale,
            onChange: (yScale) => page.change((v) => ({ ...v, yScale })),
            options: [{ value: "fit", text: "Fit" }, { value: "zero", text: "From 0" }, { value: "log", text: "Log" }]
          }
        )
      ] }),
      children: [
        data && /* @__PURE__ */ jsx12(Readout, { page, data }),
        model && first ? /* @__PURE__ */ jsx12(PageChart, { page, model, height: HEIGHT3, markNames: true, reportsWidth: true, stops: placeBins(first.axis, first.sample, origin).x, summary: stepTimeSummary(page.summary.value.data?.data[0], data.shown[0].label) }) : /* @__PURE__ */ jsx12(ChartSkeleton, { height: HEIGHT3 }),
        data && first && /* @__PURE__ */ jsx12(Key, { data, bands: first, page, clipped }),
        /* @__PURE__ */ jsx12(Events, { page })
      ]
    }
  );
}
function Clock({ bands }) {
  return /* @__PURE__ */ jsxs11(Fragment5, { children: [
    bands.clock === "device" ? "device clock" : "host clock",
    ", per step",
    bands.sample.num_in_range === bands.axis.start.length ? ", every step drawn" : `, ${integer(bands.axis.start.length)} bins`
  ] });
}
function Readout({ page, data }) {
  const several = data.data.length > 1;
  const lines = data.data.map((bands) => {
    const { bins, at } = underCursor(page, bands);
    return at < 0 ? null : binWords(bands, bins, at);
  });
  const empty = lines.every((line) => line === null);
  return /* @__PURE__ */ jsx12("div", { class: `readout ${several ? "several" : ""}`, "aria-live": "polite", children: empty ? /* @__PURE__ */ jsx12("span", { class: "note", children: "Move over the chart, or focus it and use the arrow keys, to read values." }) : lines.map((line, n) => /* @__PURE__ */ jsxs11("p", { children: [
    several && /* @__PURE__ */ jsx12(Swatch, { color: RUN_COLORS[data.shown[n].color % RUN_COLORS.length] }),
    line ?? "no steps here"
  ] }, n)) });
}
function Key({ data, bands, page, clipped }) {
  const { showMax, showLeftOut } = page.view.value;
  const leftOut = data.data.some((answer) => answer.num_left_out.some((n) => n > 0));
  const raw = bands.sample.num_in_range === bands.axis.start.length;
  return /* @__PURE__ */ jsxs11("ul", { class: "key", children: [
    data.data.length > 1 ? data.shown.map((entry) => /* @__PURE__ */ jsxs11("li", { children: [
      /* @__PURE__ */ jsx12(Swatch, { color: RUN_COLORS[entry.color % RUN_COLORS.length] }),
      /* @__PURE__ */ jsx12(Name, { text: entry.label })
    ] }, entry.label)) : !raw && /* @__PURE__ */ jsxs11("li", { children: [
      /* @__PURE__ */ jsx12("span", { class: "glyph band", "aria-hidden": "true" }),
      "bands: ",
      bandNames(bands.percentiles)
    ] }),
    /* @__PURE__ */ jsxs11("li", { children: [
      /* @__PURE__ */ jsx12("span", { class: "glyph line", "aria-hidden": "true" }),
      raw ? "step time" : "median"
    ] }),
    showMax && !raw && /* @__PURE__ */ jsxs11("li", { children: [
      /* @__PURE__ */ jsx12("span", { class: "glyph dot", "aria-hidden": "true" }),
      "longest step of the bin"
    ] }),
    clipped && /* @__PURE__ */ jsxs11("li", { children: [
      /* @__PURE__ */ jsx12("span", { class: "glyph triangle", "aria-hidden": "true" }),
      "above the axis, with its value"
    ] }),
    showLeftOut && leftOut && /* @__PURE__ */ jsxs11("li", { children: [
      /* @__PURE__ */ jsx12("span", { class: "glyph ring", "aria-hidden": "true" }),
      "left out of the statistics"
    ] }),
    /* @__PURE__ */ jsx12(MarkKey, { page })
  ] });
}
function bandNames(percentiles) {
  const pairs = percentiles.filter((p) => p < 50 && percentiles.includes(100 - p)).map((p) => `p${p}–p${100 - p}`);
  const singles = percentiles.filter((p) => p !== 50 && !percentiles.includes(100 - p)).map((p) => `p${p}`);
  return [...pairs, ...singles.map((p) => `${p} (thin line)`)].join(", ");
}
function MarkKey({ page }) {
  const counts = page.marks.value.data?.data[0]?.num_marks ?? {};
  return /* @__PURE__ */ jsx12(Fragment5, { children: Object.entries(counts).map(([kind, number]) => /* @__PURE__ */ jsxs11("li", { children: [
    /* @__PURE__ */ jsx12("span", { class: `glyph ${isRange(kind) ? "range" : "marker"}`, ref: (element) => element?.style.setProperty("--swatch", `var(${MARK_COLORS[kind]})`), "aria-hidden": "true" }),
    MARK_NAMES[kind] ?? kind,
    " × ",
    integer(number)
  ] }, kind)) });
}
function Events({ page }) {
  const [marks] = page.marks.value.data?.data ?? [];
  if (!marks?.marks.length) return null;
  const base = BigInt(marks.base);
  const total = Object.values(marks.num_marks).reduce((a, b) => a + b, 0);
  return /* @__PURE__ */ jsxs11("details", { class: "events", children: [
    /* @__PURE__ */ jsxs11("summary", { children: [
      integer(total),
      " ",
      total === 1 ? "event" : "events",
      " in this range"
    ] }),
    /* @__PURE__ */ jsxs11("ul", { children: [
      marks.marks.toSorted((a, b) => a.start - b.start).map((mark) => /* @__PURE__ */ jsxs11("li", { children: [
        /* @__PURE__ */ jsxs11("span", { class: "when", children: [
          marks.axis === "step" ? "step " : "",
          position(marks.axis, base + BigInt(Math.round(mark.start)))
        ] }),
        " ",
        sentence(mark.label)
      ] }, `${mark.kind} ${mark.start} ${mark.label}`)),
      marks.num_left_out > 0 && /* @__PURE__ */ jsxs11("li", { children: [
        "… and ",
        integer(marks.num_left_out),
        " shorter ones."
      ] })
    ] })
  ] });
}
function Table3({ page, bands }) {
  const value = (raw) => time(raw === null || raw === void 0 ? null : raw * bands.scale);
  return /* @__PURE__ */ jsx12(
    DataTable,
    {
      caption: "Step time",
      numRows: bands.axis.start.length,
      csv: page.downloadUrl("samples", { format: "csv" }),
      head: ["Steps", ...bands.percentiles.map((p) => p === 50 ? "median" : `p${p}`), "shortest", "longest", "steps used", "left out"],
      row: (i) => [binName(bands, i), ...bands.quantiles.map((q) => value(q[i])), value(bands.min[i]), value(bands.max[i]), integer(bands.num_steps[i]), integer(bands.num_left_out[i])]
    }
  );
}

// src/views/throughput.tsx
import { useSignal as useSignal5 } from "./vendor.js";
import { useMemo as useMemo5 } from "./vendor.js";
import { Fragment as Fragment6, jsx as jsx13, jsxs as jsxs12 } from "./vendor.js";
var HEIGHT4 = 160;
function Throughput({ page }) {
  const chosen = useSignal5(null);
  const { data } = page.throughput.value;
  const [first] = data?.data ?? [];
  const columns = [...new Set(data?.data.flatMap((answer) => answer.series.map(({ column: column2 }) => column2)))];
  const column = columns.find((name) => name === chosen.value) ?? columns[0];
  const origin = page.origin.value;
  const marks = pageMarks(page);
  const model = useMemo5(() => data && column ? throughputModel(data, column, marks, origin) : null, [data, page.marks.value.data, column, origin]);
  return /* @__PURE__ */ jsx13(
    Panel,
    {
      id: "throughput",
      title: "Throughput",
      note: first?.definition,
      table: first && column ? () => /* @__PURE__ */ jsx13(Table4, { page, answer: first }) : null,
      controls: columns.length > 1 && /* @__PURE__ */ jsx13(Segmented, { label: "Count", value: column, onChange: (name) => chosen.value = name, options: columns.map((value) => ({ value, text: sentence(columnLabel(value)) })) }),
      children: !data || !first ? /* @__PURE__ */ jsx13(ChartSkeleton, { height: HEIGHT4 }) : !model || !column ? /* @__PURE__ */ jsx13("p", { class: "note", children: first.reason ?? "No sample or token counts were given to perf.step(num_samples=…)." }) : /* @__PURE__ */ jsxs12(Fragment6, { children: [
        /* @__PURE__ */ jsx13(PageChart, { page, model, height: HEIGHT4, stops: placeBins(first.axis, first.sample, origin).x, summary: `Throughput in ${first.series.find((s) => s.column === column)?.unit ?? "units per second"}.` }),
        /* @__PURE__ */ jsx13(ThroughputLegend, { page, data, column })
      ] })
    }
  );
}
function ThroughputLegend({ page, data, column }) {
  const summaries = page.summary.value.data?.data ?? [];
  let when = "all steps in view";
  const items = data.data.flatMap((answer, n) => {
    const { at } = underCursor(page, answer);
    if (at >= 0 && n === 0) when = binName(answer, at);
    const series = answer.series.find((one) => one.column === column);
    if (!series) return [];
    const whole = summaries[n]?.throughput[column === "num_tokens" ? "tokens_per_s" : "samples_per_s"];
    return [{ key: String(n), color: look(data, n, 0).color, text: /* @__PURE__ */ jsx13(Name, { text: data.shown[n].label }), value: rate(at >= 0 ? series.value[at] : whole, series.unit) }];
  });
  return /* @__PURE__ */ jsx13(Legend, { items, when });
}
function Table4({ page, answer }) {
  return /* @__PURE__ */ jsx13(
    DataTable,
    {
      caption: "Throughput",
      numRows: answer.axis.start.length,
      csv: page.downloadUrl("samples", { format: "csv" }),
      head: ["Steps", ...answer.series.map(({ unit }) => unit)],
      row: (i) => [binName(answer, i), ...answer.series.map(({ value, unit }) => rate(value[i], unit))]
    }
  );
}

// src/views/toolbar.tsx
import { useSignal as useSignal6 } from "./vendor.js";
import { jsx as jsx14, jsxs as jsxs13 } from "./vendor.js";
var FLAGS = [
  { flag: "warmup", text: "Warm-up steps" },
  { flag: "profiled", text: "Profiled steps" },
  { flag: "restart", text: "First step of each attempt" }
];
function Toolbar({ page }) {
  const view = page.view.value;
  const device = page.shown.value.some(hasDevice);
  return /* @__PURE__ */ jsxs13("div", { class: "toolbar", role: "toolbar", "aria-label": "View", children: [
    /* @__PURE__ */ jsx14(
      Segmented,
      {
        label: "X axis",
        value: view.axis,
        onChange: (axis) => page.change((v) => chooseAxis(v, axis)),
        options: [{ value: "step", text: "Step" }, { value: "relative", text: "Relative time", hint: "Measured time since the first step; pauses between attempts are not in it" }, { value: "wall", text: "Wall time" }]
      }
    ),
    device && /* @__PURE__ */ jsx14(
      Segmented,
      {
        label: "Clock",
        value: view.clock,
        onChange: (clock2) => page.change((v) => ({ ...v, clock: clock2 })),
        options: [{ value: "host", text: "Host clock" }, { value: "device", text: "Device clock" }]
      }
    ),
    /* @__PURE__ */ jsx14(Percentiles, { page }),
    /* @__PURE__ */ jsxs13(Menu, { label: view.include.length ? `Included: ${view.include.length} more` : "Included steps", children: [
      /* @__PURE__ */ jsx14("p", { class: "note", children: "Left out of the statistics unless ticked:" }),
      FLAGS.map(({ flag, text: text2 }) => /* @__PURE__ */ jsx14(Check, { checked: view.include.includes(flag), onChange: () => page.change((v) => toggleInclude(v, flag)), children: text2 }, flag))
    ] }),
    /* @__PURE__ */ jsx14(Zoom, { page }),
    /* @__PURE__ */ jsx14("span", { class: "spacer" }),
    /* @__PURE__ */ jsx14(Freshness, { page }),
    /* @__PURE__ */ jsx14(Downloads, { page })
  ] });
}
function Percentiles({ page }) {
  const view = page.view.value;
  const text2 = useSignal6(null);
  const preset = PRESETS.find(({ percentiles }) => percentiles.join() === view.percentiles.join());
  const parsed = text2.value === null ? null : cleanPercentiles(text2.value.split(/[\s,;]+/).filter(Boolean).map(Number));
  return /* @__PURE__ */ jsxs13(Menu, { label: `Percentiles: ${preset?.name ?? view.percentiles.join(", ")}`, children: [
    /* @__PURE__ */ jsx14("div", { class: "menu-list", children: PRESETS.map(({ name, percentiles }) => /* @__PURE__ */ jsxs13("button", { type: "button", class: "choice", "aria-pressed": preset?.name === name, onClick: () => {
      text2.value = null;
      page.change((v) => ({ ...v, percentiles }));
    }, children: [
      name,
      " ",
      /* @__PURE__ */ jsx14("small", { children: percentiles.join(", ") })
    ] }, name)) }),
    /* @__PURE__ */ jsxs13("label", { class: "field", children: [
      "Own set",
      /* @__PURE__ */ jsx14(
        "input",
        {
          type: "text",
          inputMode: "decimal",
          value: text2.value ?? view.percentiles.join(", "),
          "aria-invalid": text2.value !== null && !parsed,
          onInput: (event) => text2.value = event.currentTarget.value,
          onChange: () => {
            if (parsed) {
              page.change((v) => ({ ...v, percentiles: parsed }));
              text2.value = null;
            }
          }
        }
      )
    ] }),
    /* @__PURE__ */ jsx14("p", { class: "note", children: text2.value !== null && !parsed ? "Up to nine numbers from 0 to 100." : "Pairs such as 5 and 95 become bands." }),
    /* @__PURE__ */ jsx14(Check, { checked: view.showMax, onChange: () => page.change((v) => ({ ...v, showMax: !v.showMax })), children: "Longest step of each bin" }),
    /* @__PURE__ */ jsx14(Check, { checked: view.showLeftOut, onChange: () => page.change((v) => ({ ...v, showLeftOut: !v.showLeftOut })), children: "Steps that were left out" })
  ] });
}
function Zoom({ page }) {
  const { range, axis } = page.view.value;
  if (!range) return /* @__PURE__ */ jsx14("span", { class: "note zoom-hint", children: "Drag in a chart to zoom" });
  const end = BigInt(range.end) - (axis === "step" ? 1n : 0n);
  return /* @__PURE__ */ jsxs13("span", { class: "zoom", children: [
    /* @__PURE__ */ jsxs13("span", { children: [
      axis === "step" ? "Steps " : "",
      position(axis, BigInt(range.start)),
      " – ",
      position(axis, end)
    ] }),
    /* @__PURE__ */ jsx14("button", { type: "button", class: "button", onClick: () => page.resetZoom(), children: "Whole run" })
  ] });
}
function Freshness({ page }) {
  return /* @__PURE__ */ jsxs13("span", { class: "freshness", children: [
    page.live.value && /* @__PURE__ */ jsx14("span", { class: "live", children: "live" }),
    /* @__PURE__ */ jsx14("button", { type: "button", class: "button quiet", onClick: () => void page.retry(), "aria-busy": page.loading.value, children: "Refresh" })
  ] });
}
function Downloads({ page }) {
  const links = [
    { text: "Steps in view as CSV", url: page.downloadUrl("samples", { format: "csv" }), name: "steps.csv" },
    { text: "Steps in view as JSON", url: page.downloadUrl("samples", { format: "json" }), name: "steps.json" },
    { text: "Bins as drawn, JSON", url: page.downloadUrl("bands", {}), name: "bins.json" }
  ];
  return /* @__PURE__ */ jsxs13(Menu, { label: "Download", children: [
    /* @__PURE__ */ jsx14("div", { class: "menu-list", children: links.map(({ text: text2, url, name }) => url && /* @__PURE__ */ jsx14("a", { class: "choice", href: url, download: name, children: text2 }, text2)) }),
    /* @__PURE__ */ jsx14("p", { class: "note", children: "Raw rows with their flags, of the first run shown." })
  ] });
}

// src/views/verdict.tsx
import { Fragment as Fragment7, jsx as jsx15, jsxs as jsxs14 } from "./vendor.js";
function Verdict({ page }) {
  const { data } = page.summary.value;
  const [first] = data?.data ?? [];
  if (!data || !first) return /* @__PURE__ */ jsx15("section", { class: "verdict skeleton", "aria-label": "Loading the summary" });
  return /* @__PURE__ */ jsxs14("section", { class: "verdict", "aria-label": "Summary", children: [
    data.data.length === 1 ? /* @__PURE__ */ jsx15(Single, { summary: first }) : /* @__PURE__ */ jsx15(Several, { shown: data.shown, summaries: data.data, page }),
    /* @__PURE__ */ jsxs14("p", { class: "evidence", children: [
      /* @__PURE__ */ jsx15(RangeWords, { page }),
      data.data.length === 1 && evidence(first).map((words3) => /* @__PURE__ */ jsx15("span", { children: sentence(words3) }, words3))
    ] }),
    /* @__PURE__ */ jsx15(Warnings, { shown: data.shown, summaries: data.data })
  ] });
}
function RangeWords({ page }) {
  const { range, axis } = page.view.value;
  if (!range) return /* @__PURE__ */ jsx15("span", { children: "Whole run" });
  return /* @__PURE__ */ jsxs14("span", { class: "zoomed", children: [
    "Only ",
    axis === "step" ? "steps" : "",
    " ",
    position(axis, BigInt(range.start)),
    " to ",
    position(axis, BigInt(range.end) - (axis === "step" ? 1n : 0n))
  ] });
}
function tiles(summary) {
  const stats = summary.step_time_ms;
  const peak = summary.peaks[0];
  const { samples_per_s: samples, tokens_per_s: tokens } = summary.throughput;
  const speed = samples !== null ? rate(samples, "samples/s") : rate(tokens, "tokens/s");
  return [
    { label: "Median step", value: time(stats.p50), sub: `mean ${time(stats.mean)}` },
    { label: "p95", value: time(stats.p95), sub: ratio(stats.p95, stats.p50) },
    { label: "p99", value: time(stats.p99), sub: ratio(stats.p99, stats.p50) },
    { label: "Longest", value: time(stats.max), sub: stats.max_step === null ? "" : `step ${integer(stats.max_step)}` },
    { label: "Coverage", value: percent(summary.coverage), sub: "of step time labelled" },
    { label: peak ? sentence(columnLabel(peak.column)) : "Peak memory", value: bytes(peak?.value), sub: peak && peak.step !== null ? `step ${integer(peak.step)}` : "not measured" },
    { label: "Throughput", value: speed, sub: samples !== null && tokens !== null ? rate(tokens, "tokens/s") : speed === MISSING ? "no sample counts given" : "of this process" }
  ];
}
function ratio(value, median) {
  return value === null || median === null || median === 0 ? "" : `${(value / median).toFixed(2)} × median`;
}
function Single({ summary }) {
  return /* @__PURE__ */ jsxs14(Fragment7, { children: [
    /* @__PURE__ */ jsx15("p", { class: "headline", children: headline(summary) }),
    /* @__PURE__ */ jsx15("dl", { class: "tiles", children: tiles(summary).map(({ label, value, sub }) => /* @__PURE__ */ jsxs14("div", { children: [
      /* @__PURE__ */ jsx15("dt", { children: label }),
      /* @__PURE__ */ jsxs14("dd", { children: [
        /* @__PURE__ */ jsx15("b", { children: value }),
        /* @__PURE__ */ jsx15("small", { children: sub || " " })
      ] })
    ] }, label)) })
  ] });
}
function Several({ shown, summaries, page }) {
  const median = summaries[0].step_time_ms.p50;
  return /* @__PURE__ */ jsx15("div", { class: "table-scroll flat", children: /* @__PURE__ */ jsxs14("table", { class: "runs-table", children: [
    /* @__PURE__ */ jsx15("caption", { class: "hidden", children: "Summary of each run that is shown" }),
    /* @__PURE__ */ jsx15("thead", { children: /* @__PURE__ */ jsx15("tr", { children: ["Run", "Median", "Against the first", "p95", "p99", "Longest", "Coverage", "Peak memory", "Throughput", "Steps used"].map((text2) => /* @__PURE__ */ jsx15("th", { scope: "col", children: text2 }, text2)) }) }),
    /* @__PURE__ */ jsx15("tbody", { children: summaries.map((summary, i) => {
      const [p50, p95, p99, max2, coverage, peak, speed] = tiles(summary);
      const entry = shown[i];
      return /* @__PURE__ */ jsxs14("tr", { children: [
        /* @__PURE__ */ jsx15("th", { scope: "row", children: /* @__PURE__ */ jsxs14("button", { type: "button", class: "link", onClick: () => page.change((view) => ({ ...view, entries: [view.entries[i], ...view.entries.filter((_, k) => k !== i)] })), title: "Make this the first run", children: [
          /* @__PURE__ */ jsx15(Swatch, { color: RUN_COLORS[entry.color % RUN_COLORS.length] }),
          /* @__PURE__ */ jsx15(Name, { text: entry.label })
        ] }) }),
        /* @__PURE__ */ jsx15("td", { children: p50.value }),
        /* @__PURE__ */ jsx15("td", { children: i === 0 ? MISSING : difference(summary.step_time_ms.p50, median) }),
        /* @__PURE__ */ jsx15("td", { children: p95.value }),
        /* @__PURE__ */ jsx15("td", { children: p99.value }),
        /* @__PURE__ */ jsxs14("td", { children: [
          max2.value,
          " ",
          /* @__PURE__ */ jsx15("small", { children: max2.sub })
        ] }),
        /* @__PURE__ */ jsx15("td", { children: coverage.value }),
        /* @__PURE__ */ jsx15("td", { children: peak.value }),
        /* @__PURE__ */ jsx15("td", { children: speed.value }),
        /* @__PURE__ */ jsxs14("td", { children: [
          integer(summary.sample.num_used),
          " ",
          /* @__PURE__ */ jsxs14("small", { children: [
            "of ",
            integer(summary.sample.num_in_range)
          ] })
        ] })
      ] }, entry.label);
    }) })
  ] }) });
}
function difference(value, reference) {
  if (value === null || reference === null || reference === 0) return MISSING;
  const change = (value / reference - 1) * 100;
  const text2 = Math.abs(change) < 10 ? Math.abs(change).toFixed(1) : Math.abs(change).toFixed(0);
  return `${change < 0 ? "−" : "+"}${text2} %`;
}
function Warnings({ shown, summaries }) {
  const several = summaries.length > 1;
  const all = summaries.flatMap((summary, i) => warnings(summary, shown[i]).map((text2) => ({ text: text2, label: shown[i].label })));
  if (!all.length) return null;
  return /* @__PURE__ */ jsx15("ul", { class: "warnings", "aria-label": "Limits of these numbers", children: all.map(({ text: text2, label }) => /* @__PURE__ */ jsxs14("li", { children: [
    several && /* @__PURE__ */ jsxs14(Fragment7, { children: [
      /* @__PURE__ */ jsx15(Name, { text: label }),
      ": "
    ] }),
    several ? text2 : sentence(text2),
    "."
  ] }, label + text2)) });
}

// src/views/app.tsx
import { Fragment as Fragment8, jsx as jsx16, jsxs as jsxs15 } from "./vendor.js";
function App({ page }) {
  const { data: catalog } = page.catalog.state.value;
  const banner = /* @__PURE__ */ jsx16(ErrorBanner, { errors: page.errors.value, onRetry: () => void page.retry() });
  if (!catalog) {
    return /* @__PURE__ */ jsxs15("main", { class: "content start", children: [
      banner,
      !page.errors.value.length && [90, 300, 240].map((height) => /* @__PURE__ */ jsx16(ChartSkeleton, { height }, height))
    ] });
  }
  if (!catalog.runs.length) return /* @__PURE__ */ jsxs15(Fragment8, { children: [
    banner,
    /* @__PURE__ */ jsx16(Empty, { catalog })
  ] });
  return /* @__PURE__ */ jsxs15("div", { class: "layout", children: [
    /* @__PURE__ */ jsx16(RunPicker, { page }),
    /* @__PURE__ */ jsxs15("main", { class: "content", children: [
      /* @__PURE__ */ jsx16(Toolbar, { page }),
      /* @__PURE__ */ jsx16("div", { class: `progress ${page.loading.value ? "on" : ""}`, "aria-hidden": "true" }),
      banner,
      /* @__PURE__ */ jsx16(Problems, { catalog }),
      /* @__PURE__ */ jsx16(Verdict, { page }),
      /* @__PURE__ */ jsx16(StepTime, { page }),
      /* @__PURE__ */ jsx16(Stages, { page }),
      /* @__PURE__ */ jsx16(Memory, { page }),
      /* @__PURE__ */ jsx16(Throughput, { page }),
      /* @__PURE__ */ jsx16(Conditions, { page })
    ] })
  ] });
}

// src/index.tsx
import { jsx as jsx17 } from "./vendor.js";
async function render() {
  document.documentElement.lang = "en";
  document.title = "Step performance";
  followTheme(window);
  const host = connect(window);
  const [pairs] = await Promise.all([host.readState(), loadStyle(new URL("./style.css", import.meta.url).href)]);
  const page = new Page(new Client(import.meta.url), fromPairs(pairs));
  const address = addressWindow(window);
  const readSelection = () => page.hostSelection.value = address === window ? null : hostSelection(address.location.search, address.location.hash);
  readSelection();
  host.onDataReloaded(readSelection);
  address.addEventListener("hashchange", () => {
    readSelection();
    const next = readHash(address.location.hash);
    if (JSON.stringify(next) !== JSON.stringify(toPairs(page.view.peek())) && Object.keys(next).length) page.view.value = fromPairs(next);
  });
  const root = document.createElement("div");
  root.id = "stepperf";
  document.body.append(root);
  renderTree(/* @__PURE__ */ jsx17(App, { page }), root);
  page.start();
  keepFresh(page, host, window);
  await page.refresh();
  effect3(() => {
    const pairs2 = toPairs(page.view.value);
    if (page.shown.value.length) replaceAddress(address, pairs2);
  });
}
function loadStyle(href) {
  return new Promise((resolve2) => {
    const link = document.createElement("link");
    link.rel = "stylesheet";
    link.href = href;
    link.onload = link.onerror = () => resolve2();
    document.head.append(link);
  });
}
export {
  render
};
