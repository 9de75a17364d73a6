// Built from frontend/src by `npm run build`. Edit the sources, not this file.

// vendor:vendor
import { Fragment, h, render, useEffect, useLayoutEffect, useMemo, useRef, computed, effect, signal, useSignal, default as default2 } from "./vendor.js";

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
  let url = new URL(`./${route}`, base);
  for (let [name, value] of Object.entries(parameters))
    value != null && value !== "" && url.searchParams.set(name, String(value));
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
  async get(route, parameters, signal2) {
    let response;
    try {
      response = await this.fetcher(this.url(route, parameters), signal2 ? { signal: signal2 } : {});
    } catch (error2) {
      throw isAbort(error2) ? error2 : new ApiError("TensorBoard did not answer. Is it still running, and is the network up?", "network", 0);
    }
    let body;
    try {
      body = await response.json();
    } catch (error2) {
      if (isAbort(error2)) throw error2;
      let message = `TensorBoard answered /${route} with status ${response.status} and something that is not JSON.`;
      throw new ApiError(message, "not_json", response.status);
    }
    if (response.ok) return body;
    let { error } = body;
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
  let pairs = {};
  for (let token of hash.replace(/^#/, "").split("&")) {
    let [key, value] = token.split("=");
    if (!(key === void 0 || value === void 0))
      try {
        let name = decodeURIComponent(key);
        name.startsWith(PREFIX) && (pairs[name.slice(PREFIX.length)] = decodeURIComponent(value));
      } catch {
        continue;
      }
  }
  return pairs;
}
function writeHash(hash, pairs) {
  let others = hash.replace(/^#/, "").split("&").filter((token) => token !== "" && !token.startsWith(PREFIX)), ours = Object.entries(pairs).map(([key, value]) => `${PREFIX}${key}=${encodeURIComponent(value)}`);
  return `#${[...others, ...ours].join("&")}`;
}
function addressWindow(self) {
  try {
    if (self.parent !== self && typeof self.parent.location.hash == "string") return self.parent;
  } catch {
    return self;
  }
  return self;
}
function replaceAddress(target, pairs) {
  let hash = writeHash(target.location.hash, pairs);
  hash !== target.location.hash && target.history.replaceState(target.history.state, "", target.location.pathname + target.location.search + hash);
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
    let parsed = JSON.parse(atob(encoded));
    return typeof parsed != "object" || parsed === null ? /* @__PURE__ */ new Map() : new Map(Object.entries(parsed).filter((entry) => typeof entry[1] == "boolean"));
  } catch {
    return /* @__PURE__ */ new Map();
  }
}
function hostSelection(search, hash) {
  let parameters = new URLSearchParams(hash.replace(/^#/, "")), filterText = new URLSearchParams(search).get("runFilter") ?? parameters.get("regexInput"), filter = regex(filterText), chosen = states(parameters.get("runSelectionState") ?? void 0);
  if (!filter && chosen.size === 0) return null;
  let parts = [filter ? `run filter “${filterText}”` : "", chosen.size ? "run selection" : ""].filter(Boolean);
  return {
    contains: (name) => (filter?.test(name) ?? !0) && (chosen.get(name) ?? !0),
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
    let { port1, port2 } = new MessageChannel();
    return self.parent.postMessage("experimental.bootstrap", "*", [port2]), new _Channel(port1);
  }
  listen(type, listener) {
    this.listeners.set(type, [...this.listeners.get(type) ?? [], listener]);
  }
  /** Asks the parent; rejects after `timeoutMs`, because a parent that is not TensorBoard never answers. */
  ask(type, timeoutMs = 2e3) {
    let id = this.nextId++;
    return new Promise((resolve2, reject) => {
      let timer = setTimeout(() => {
        this.waiting.delete(id), reject(new Error(`no answer to ${type} within ${timeoutMs} ms`));
      }, timeoutMs);
      this.waiting.set(id, {
        resolve: (payload) => (clearTimeout(timer), resolve2(payload)),
        reject: (error) => (clearTimeout(timer), reject(error))
      }), this.send({ type, id, payload: null, error: null, isReply: !1 });
    });
  }
  receive(data) {
    if (typeof data != "string") return;
    let message = JSON.parse(data);
    if (message.isReply) {
      let waiting = this.waiting.get(message.id);
      this.waiting.delete(message.id), message.error ? waiting?.reject(new Error(String(message.error))) : waiting?.resolve(message.payload);
      return;
    }
    for (let listener of this.listeners.get(message.type) ?? []) listener(message.payload);
    this.send({ ...message, payload: null, error: null, isReply: !0 });
  }
  send(message) {
    this.port.postMessage(JSON.stringify(message));
  }
};

// src/host/tensorboard.ts
function connect(self) {
  let channel = Channel.toParent(self), fromAddress = () => readHash(addressWindow(self).location.hash);
  return {
    async readState() {
      let own = fromAddress();
      if (!channel || Object.keys(own).length) return own;
      try {
        let data = await channel.ask("experimental.GetURLPluginData");
        return typeof data == "object" && data !== null ? data : own;
      } catch {
        return own;
      }
    },
    onDataReloaded: (listener) => channel?.listen("experimental.DataReloaded", listener),
    onRunsChanged: (listener) => channel?.listen("experimental.RunsChanged", listener)
  };
}

// src/host/theme.ts
var theme = signal("light");
function parentDocument(self) {
  try {
    return self.parent !== self ? self.parent.document : null;
  } catch {
    return null;
  }
}
function followTheme(self) {
  let parent = parentDocument(self), preference = self.matchMedia("(prefers-color-scheme: dark)"), apply = () => {
    let dark = parent?.body ? parent.body.classList.contains("dark-mode") : preference.matches;
    self.document.documentElement.dataset.theme = dark ? "dark" : "light", theme.value = dark ? "dark" : "light";
  };
  if (apply(), parent?.body) {
    let observer = new MutationObserver(apply);
    return observer.observe(parent.body, { attributes: !0, attributeFilter: ["class"] }), () => observer.disconnect();
  }
  return preference.addEventListener("change", apply), () => preference.removeEventListener("change", apply);
}

// src/state/live.ts
var POLL_MS = 5e3;
function keepFresh(page, host, self) {
  let refresh = () => {
    page.refresh();
  };
  host.onDataReloaded(refresh), host.onRunsChanged(refresh);
  let timer = 0, stop = effect(() => {
    let waiting = page.catalog.state.value.data?.runs.length === 0;
    self.clearInterval(timer), (page.live.value || waiting) && (timer = self.setInterval(() => isVisible(self) && refresh(), POLL_MS));
  });
  return () => {
    stop(), self.clearInterval(timer);
  };
}
function isVisible(self) {
  return self.document.visibilityState === "visible" && self.innerHeight > 0;
}

// src/charts/bins.ts
function chooseOrigin(start, end) {
  let exact = BigInt(Number.MAX_SAFE_INTEGER);
  if (start >= -exact && end <= exact) return 0n;
  let span2 = end > start ? end - start : 1n, round = 10n ** BigInt(span2.toString().length + 1);
  return start / round * round;
}
function placeBins(axis, sample, origin) {
  let shift = Number(BigInt(axis.base) - origin), raw = sample.num_in_range === axis.start.length, start = axis.start.map((value) => value + shift), end = axis.end.map((value) => value + shift);
  return { start, end, raw, x: raw ? start : start.map((value, i) => (value + end[i]) / 2) };
}
function binAt({ start, end, x: centres }, x) {
  if (start.length === 0 || x < start[0] - width(start, end, 0) || x > end.at(-1)) return -1;
  let low = 0, high = start.length - 1;
  for (; low < high; ) {
    let middle = low + high + 1 >> 1;
    start[middle] <= x ? low = middle : high = middle - 1;
  }
  let next = low + 1;
  return next < start.length && Math.abs(centres[next] - x) < Math.abs(centres[low] - x) && x >= end[low] ? next : low;
}
var width = (start, end, i) => end[i] - start[i];
function bridge(values, reach = 2) {
  let result = [...values];
  for (let i = 0; i < values.length; i++) {
    if (values[i] !== null) continue;
    let end = i;
    for (; end < values.length && values[end] === null; ) end += 1;
    i > 0 && end < values.length && end - i <= reach && result.fill(void 0, i, end), i = end;
  }
  return result;
}
function align(tables) {
  if (tables.length === 1) return tables[0];
  let x = [...new Set(tables.flatMap((table) => table.x))].sort((a, b) => a - b), place = new Map(x.map((value, i) => [value, i])), columns = tables.flatMap((table) => {
    let at = table.x.map((value) => place.get(value));
    return table.columns.map((column) => {
      let aligned = new Array(x.length).fill(void 0);
      return column.forEach((value, i) => aligned[at[i]] = value), aligned;
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
  let usable = catalog.runs.filter((run) => run.members.length > 0), selected = selection ? usable.filter((run) => isSelected(run, selection)) : usable, withSteps = (runs) => runs.filter((run) => run.members.some((member) => member.num_steps > 0)), newest = ([withSteps(selected), withSteps(usable), usable].find((runs) => runs.length > 0) ?? []).reduce(
    (best, run) => !best || lastWallTime(run) > lastWallTime(best) ? run : best,
    null
  );
  return newest ? { run: newest.run, member: null } : null;
}
function isSelected(run, selection) {
  return run.members.some((member) => selection.contains(member.tb_run)) || selection.contains(run.run);
}
var lastWallTime = (run) => Math.max(...run.members.map((member) => member.last_wall_time_s ?? 0));
function resolveEntries(view, catalog, before) {
  let found = view.entries.flatMap((entry) => {
    let run = catalog.runs.find((r) => r.run === entry.run), member = run && memberOf(run, entry.member);
    return run && member ? [{ run, member }] : [];
  }), earlier = new Map(before.map((shown) => [keyOf(shown), shown.color])), taken = new Set(found.map((shown) => earlier.get(keyOf(shown))).filter((color) => color !== void 0));
  return found.map(({ run, member }) => {
    let color = earlier.get(keyOf({ run, member }));
    if (color === void 0) {
      for (color = 0; taken.has(color); ) color += 1;
      taken.add(color);
    }
    return { run, member, color, label: run.members.length > 1 ? `${run.run} · ${member.label}` : run.run };
  });
}
var keyOf = ({ run, member }) => JSON.stringify([run.run, member.member]);
function versionOf(member) {
  return [member.num_steps, member.last_step, member.num_attempts, member.end].join(":");
}
var LIVE_FOR_S = 900;
function isLive(member, nowS) {
  return member.end === null && Math.abs(nowS - (member.last_wall_time_s ?? 0)) < LIVE_FOR_S;
}

// src/state/resource.ts
var Resource = class {
  state = signal({ data: null, key: null, error: null, loading: !1 });
  turn = 0;
  wanted = null;
  controller = null;
  /** Fetches unless `key` is what is there or under way. */
  async load(key, fetcher) {
    if (key === this.wanted) return;
    this.wanted = key, this.controller?.abort();
    let controller = new AbortController();
    this.controller = controller;
    let turn = ++this.turn;
    this.state.value = { ...this.state.peek(), loading: !0 };
    try {
      let data = await fetcher(controller.signal);
      turn === this.turn && (this.state.value = { data, key, error: null, loading: !1 });
    } catch (error) {
      if (turn !== this.turn || isAbort(error)) return;
      this.wanted = null, this.state.value = { ...this.state.peek(), error, loading: !1 };
    }
  }
  /** Forgets what is there, for a selection to which it says nothing. */
  clear() {
    this.controller?.abort(), this.turn += 1, this.wanted = null, this.state.value = { data: null, key: null, error: null, loading: !1 };
  }
};

// src/state/view.ts
var STANDARD_PERCENTILES = [5, 25, 50, 75, 95, 99], PRESETS = [
  { name: "Spread", percentiles: STANDARD_PERCENTILES },
  { name: "Quartiles", percentiles: [25, 50, 75] },
  { name: "Tail", percentiles: [50, 95, 99, 99.9] },
  { name: "Deciles", percentiles: [10, 20, 30, 40, 50, 60, 70, 80, 90] }
], INITIAL = {
  entries: [],
  axis: "step",
  range: null,
  include: [],
  percentiles: STANDARD_PERCENTILES,
  showMax: !0,
  showLeftOut: !0,
  yScale: "fit",
  stageMode: "stacked",
  clock: "host"
}, same = (a, b) => a.run === b.run && a.member === b.member;
function showOnly(view, entry) {
  let stays = view.entries.some((e) => e.run === entry.run);
  return { ...view, entries: [entry], range: stays ? view.range : null };
}
function toggleOverlay(view, entry) {
  let without2 = view.entries.filter((e) => e.run !== entry.run);
  return without2.length < view.entries.length ? without2.length ? { ...view, entries: without2 } : view : view.entries.length >= 8 ? view : { ...view, entries: [...view.entries, entry] };
}
function chooseMember(view, member) {
  let [first, ...rest] = view.entries;
  if (!first) return view;
  let next = { ...first, member };
  return { ...view, entries: [next, ...rest.filter((e) => !same(e, next))] };
}
function makePrimary(view, index) {
  let entry = view.entries[index];
  return entry ? { ...view, entries: [entry, ...view.entries.filter((_, i) => i !== index)] } : view;
}
function chooseAxis(view, axis) {
  return axis === view.axis ? view : { ...view, axis, range: null };
}
function zoomTo(view, range) {
  if (!range) return view.range ? { ...view, range: null } : view;
  let start = BigInt(range.start), end = BigInt(range.end);
  return { ...view, range: { start: String(start), end: String(end > start ? end : start + 1n) } };
}
function toggleInclude(view, flag) {
  let include = view.include.includes(flag) ? view.include.filter((f) => f !== flag) : [...view.include, flag];
  return { ...view, include: include.toSorted() };
}
function cleanPercentiles(values) {
  let usable = [...new Set(values.filter((p) => Number.isFinite(p) && p >= 0 && p <= 100))].toSorted((a, b) => a - b);
  return usable.length > 0 && usable.length <= 9 ? usable : null;
}
function reconcile(view, members, fallback) {
  let kept = view.entries.filter(({ run, member }) => {
    let known = members.get(run);
    return known !== void 0 && (member === null || known.includes(member));
  });
  return kept.length === view.entries.length && kept.length > 0 ? view : kept.length > 0 ? { ...view, entries: kept } : { ...view, entries: fallback ? [fallback] : [], range: view.entries.length ? null : view.range };
}

// src/state/page.ts
var Page = class {
  constructor(client, initial) {
    this.client = client;
    this.view = signal(initial);
  }
  client;
  view;
  cursor = signal(null);
  selection = signal(null);
  /** Width of a chart in CSS pixels, which decides the number of bins; 0 until the page is laid out. */
  chartWidth = signal(0);
  hostSelection = signal(null);
  now = signal(Date.now() / 1e3);
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
    let catalog = this.catalog.state.value.data;
    return this.lastShown = catalog ? resolveEntries(this.view.value, catalog, this.lastShown) : [], this.lastShown;
  });
  /** Of these, the entries that have steps: a run may hold nothing yet, or nothing that can be read. */
  readable = computed(() => this.shown.value.filter(({ member }) => member.num_steps > 0));
  live = computed(() => this.shown.value.some(({ member }) => isLive(member, this.now.value)));
  bins = computed(() => Math.min(2e3, Math.max(100, Math.round(this.chartWidth.value / 100) * 50)));
  /** First and last position of the data that is there, over all entries; null before anything was read. */
  extent = computed(() => {
    let filled = (this.bands.value.data?.data ?? this.stages.value.data?.data ?? []).filter(({ axis }) => axis.start.length > 0 && axis.axis === this.view.value.axis);
    if (!filled.length) return null;
    let starts = filled.map(({ axis }) => BigInt(axis.base) + BigInt(Math.floor(axis.start[0]))), ends = filled.map(({ axis }) => BigInt(axis.base) + BigInt(Math.ceil(axis.end.at(-1))));
    return { start: starts.reduce((a, b) => b < a ? b : a), end: ends.reduce((a, b) => b > a ? b : a) };
  });
  /** What the x axis of all charts shows: the zoom, else everything; the last one until data of a new axis is there. */
  shownExtent = computed(() => {
    let { range } = this.view.value, extent = range ? { start: BigInt(range.start), end: BigInt(range.end) } : this.extent.value;
    return this.lastExtent = extent ?? this.lastExtent;
  });
  lastExtent = { start: 0n, end: 1n };
  /** Position that charts count from. */
  origin = computed(() => chooseOrigin(this.shownExtent.value.start, this.shownExtent.value.end));
  /** Ends of the x axis of all charts, relative to the origin. */
  domain = computed(() => {
    let { start, end } = this.shownExtent.value, first = Number(start - this.origin.value);
    return [first, Math.max(first + 1, Number(end - this.origin.value))];
  });
  axis = computed(() => this.view.value.axis);
  loading = computed(() => Object.values(this.resources).some((resource) => resource.state.value.loading));
  errors = computed(
    () => [this.catalog, ...Object.values(this.resources)].flatMap((resource) => resource.state.value.error ?? [])
  );
  /** Changes the view by one of the functions of view.ts. */
  change(update) {
    let next = update(this.view.peek());
    next !== this.view.peek() && (this.view.value = next);
  }
  /** Zooms all charts to positions relative to the origin, not beyond the data. */
  zoom(x0, x1) {
    let { range } = this.view.peek(), whole = range ? null : this.extent.peek(), origin = this.origin.peek(), start = origin + BigInt(Math.floor(x0)), end = origin + BigInt(Math.ceil(x1));
    if (whole && start <= whole.start && end >= whole.end) return this.resetZoom();
    whole && (start = start < whole.start ? whole.start : start, end = end > whole.end ? whole.end : end), this.selection.value = null, this.change((view) => zoomTo(view, { start: String(start), end: String(end) }));
  }
  resetZoom() {
    this.selection.value = null, this.change((view) => zoomTo(view, null));
  }
  /** Asks what there is; `force` also where the last answer is still fresh. */
  async refresh() {
    this.now.value = Date.now() / 1e3, await this.catalog.load(`catalog ${++this.visit}`, (abort) => this.client.get("runs", {}, abort));
  }
  async retry() {
    await this.refresh(), this.loadAll();
  }
  /** Fetches whenever the view or the data changes. Returns what stops it. */
  start() {
    let stops = [
      effect(() => {
        let catalog = this.catalog.state.value.data;
        if (!catalog) return;
        let fallback = defaultEntry(catalog, this.hostSelection.value);
        this.change((view) => reconcile(view, membersByRun(catalog), fallback));
      }),
      effect(() => this.loadAll()),
      effect(() => {
        this.origin.value, this.axis.value, this.cursor.value = this.selection.value = null;
      })
    ];
    return () => stops.forEach((stop) => stop());
  }
  /** Address of a download of the primary entry, for the range that is shown. */
  downloadUrl(route, extra) {
    let [first] = this.shown.value;
    if (!first) return null;
    let parameters = route === "bands" ? { ...this.binned(), ...this.bandParameters(first) } : this.ranged();
    return this.client.url(route, { run: first.run.run, member: first.member.member, ...parameters, ...extra });
  }
  loadAll() {
    let shown = this.readable.value, ranged = this.ranged(), binned = this.binned(), [primary] = shown;
    if (!primary) {
      for (let resource of Object.values(this.resources)) resource.clear();
      return;
    }
    if (this.chartWidth.value === 0) return;
    let { clock: clock2 } = this.view.value, only = [primary];
    this.many("bands", shown, (entry) => ({ ...binned, ...this.bandParameters(entry) })), this.many("summary", shown, () => ({ ...ranged, include: binned.include })), this.many("marks", only, () => ranged), this.many("stages", only, (entry) => ({
      ...binned,
      clock: clock2 === "device" && hasDevice(entry) ? "device" : null
    })), this.many("memory", shown, () => binned), this.many("throughput", shown, () => binned), this.many("conditions", shown, () => ({}));
  }
  many(name, shown, parameters) {
    let requests = shown.map((entry) => ({ run: entry.run.run, member: entry.member.member, ...parameters(entry) })), key = JSON.stringify([requests, shown.map((entry) => [keyOf(entry), entry.color, versionOf(entry.member)])]);
    this.resources[name].load(key, async (abort) => ({
      shown,
      data: await Promise.all(requests.map((request) => this.client.get(name, request, abort))).catch(
        (error) => {
          throw this.refreshAfter(error), error;
        }
      )
    }));
  }
  /** A run that is gone from the disk answers "not there": the list of runs is out of date then. */
  refreshAfter(error) {
    error instanceof ApiError && error.status === 404 && Date.now() / 1e3 - this.now.peek() > 2 && this.refresh();
  }
  ranged() {
    let { axis, range } = this.view.value;
    return { axis: axis === "step" ? null : axis, start: range?.start, end: range?.end };
  }
  binned() {
    return { ...this.ranged(), bins: this.bins.value, include: this.view.value.include.join(",") };
  }
  bandParameters(entry) {
    let { clock: clock2, percentiles } = this.view.value;
    return {
      column: clock2 === "device" && hasDevice(entry) ? "device_step_time_ms" : null,
      percentiles: percentiles.join(",")
    };
  }
}, hasDevice = ({ member }) => member.columns.includes("device_step_time_ms");

// src/state/url.ts
function toPairs(view) {
  let pairs = {}, [first, ...rest] = view.entries;
  first && (pairs.run = first.run), first?.member && (pairs.member = first.member), rest.length && (pairs.with = rest.map(encodeEntry).join(",")), view.axis !== INITIAL.axis && (pairs.axis = view.axis), view.range && Object.assign(pairs, { start: view.range.start, end: view.range.end }), view.include.length && (pairs.include = view.include.join(",")), view.percentiles.join() !== INITIAL.percentiles.join() && (pairs.percentiles = view.percentiles.join(",")), view.yScale !== INITIAL.yScale && (pairs.y = view.yScale), view.stageMode !== INITIAL.stageMode && (pairs.stages = view.stageMode), view.clock !== INITIAL.clock && (pairs.clock = view.clock);
  let hidden = [view.showMax ? "" : "max", view.showLeftOut ? "" : "leftout"].filter(Boolean);
  return hidden.length && (pairs.hide = hidden.join(",")), pairs;
}
function fromPairs(pairs) {
  let entries = [];
  pairs.run !== void 0 && entries.push({ run: pairs.run, member: pairs.member ?? null });
  for (let text2 of (pairs.with ?? "").split(",").filter(Boolean)) {
    let entry = decodeEntry(text2);
    entry && entries.length < 8 && entries.push(entry);
  }
  let hidden = (pairs.hide ?? "").split(","), percentiles = cleanPercentiles((pairs.percentiles ?? "").split(",").filter(Boolean).map(Number));
  return {
    entries,
    axis: oneOf(pairs.axis, ["step", "relative", "wall"], INITIAL.axis),
    range: decimal(pairs.start) && decimal(pairs.end) && BigInt(pairs.start) < BigInt(pairs.end) ? { start: pairs.start, end: pairs.end } : null,
    include: ["profiled", "restart", "warmup"].filter(
      (flag) => (pairs.include ?? "").split(",").includes(flag)
    ),
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
    let [run = "", member] = text2.split("@").map(decodeURIComponent);
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

// src/format/numbers.ts
var exists = (value) => value != null && Number.isFinite(value);
function integer(value) {
  if (value == null) return "–";
  let text2 = typeof value == "number" ? exists(value) ? Math.round(value).toFixed(0) : "" : String(value);
  return text2 ? (text2.startsWith("-") ? "−" : "") + text2.replace("-", "").replace(/\B(?=(\d{3})+$)/g, ",") : "–";
}
function significant(value, digits = 3) {
  if (!exists(value)) return "–";
  if (value === 0) return "0";
  let magnitude = Math.floor(Math.log10(Math.abs(Number(value.toPrecision(digits))))), decimals = Math.min(12, Math.max(0, digits - 1 - magnitude)), [whole = "0", fraction] = Math.abs(value).toFixed(decimals).split(".");
  return (value < 0 ? "−" : "") + integer(whole) + (fraction ? `.${fraction}` : "");
}
function percent(value, decimals = 0) {
  if (!exists(value)) return "–";
  let smallest = 10 ** -decimals, scaled = value * 100;
  return scaled > 0 && scaled < smallest / 2 ? `< ${smallest.toFixed(decimals)} %` : scaled < 100 && scaled >= 100 - smallest / 2 ? `> ${(100 - smallest).toFixed(decimals)} %` : `${scaled.toFixed(decimals)} %`;
}
function count(value, one, many = `${one}s`) {
  return `${integer(value)} ${value === 1 ? one : many}`;
}

// src/format/position.ts
function clock(ms, resolutionMs = 1e3) {
  let sign = ms < 0 ? "−" : "", total = Math.abs(ms), decimals = resolutionMs >= 1e3 ? 0 : Math.min(3, Math.ceil(-Math.log10(resolutionMs / 1e3))), seconds = total / 1e3 % 60, minutes = Math.floor(total / 6e4) % 60, hours = Math.floor(total / 36e5);
  if (total < 6e4) return `${sign}${seconds.toFixed(decimals)} s`;
  let padded = seconds.toFixed(decimals).padStart(decimals ? 3 + decimals : 2, "0");
  return hours ? `${sign}${hours}:${String(minutes).padStart(2, "0")}:${padded}` : `${sign}${minutes}:${padded} min`;
}
var DATE = new Intl.DateTimeFormat(void 0, { month: "short", day: "numeric" }), TIME = new Intl.DateTimeFormat(void 0, {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hourCycle: "h23"
});
function wallTime(ms, withDate = !0) {
  let date = new Date(ms);
  return Number.isNaN(date.getTime()) ? "–" : withDate ? `${DATE.format(date)}, ${TIME.format(date)}` : TIME.format(date);
}
function position(axis, value, resolutionMs = 1) {
  return axis === "step" ? integer(value) : axis === "relative" ? clock(Number(value), resolutionMs) : wallTime(Number(value));
}
function span(axis, start, end, single) {
  if (axis === "step")
    return single || end - start === 1n ? `step ${integer(start)}` : `steps [${integer(start)}, ${integer(end)})`;
  if (axis === "relative") {
    let resolution = Number(end - start) / 4;
    return single ? `at ${clock(Number(start))}` : `${clock(Number(start), resolution)} – ${clock(Number(end), resolution)}`;
  }
  return single ? wallTime(Number(start)) : `${wallTime(Number(start))} – ${wallTime(Number(end), !1)}`;
}

// src/format/text.ts
var BIDI = /[\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g, CONTROL = /[\u0000-\u001f\u007f]/g;
function visible(text2) {
  return text2 === "" ? "(empty name)" : text2.trim() === "" ? `(${text2.length} ${text2.length === 1 ? "space" : "spaces"})` : text2.replace(
    CONTROL,
    (character) => String.fromCharCode(character.charCodeAt(0) === 127 ? 9249 : 9216 + character.charCodeAt(0))
  ).replace(BIDI, (character) => `⟨U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);
}
function list(items) {
  return items.length < 2 ? items[0] ?? "" : `${items.slice(0, -1).join(", ")} and ${items.at(-1)}`;
}
function columnLabel(column) {
  return {
    step_time_ms: "step time",
    device_step_time_ms: "step time (device clock)",
    peak_allocated_bytes: "peak allocated",
    peak_reserved_bytes: "peak reserved",
    peak_resident_bytes: "peak resident",
    num_samples: "samples",
    num_tokens: "tokens",
    gc_ms: "garbage collection",
    excluded_ms: "excluded"
  }[column] ?? visible(column);
}
var sentence = (text2) => text2.charAt(0).toUpperCase() + text2.slice(1);

// src/state/environment.ts
function environmentRows(environments) {
  let flat = environments.map((environment) => flatten(environment));
  return [...new Set(flat.flatMap((one) => [...one.keys()]))].map((field) => {
    let values = flat.map((one) => one.get(field) ?? "");
    return { field, values, differs: new Set(values).size > 1 };
  });
}
function flatten(environment, prefix = "") {
  let result = /* @__PURE__ */ new Map();
  for (let [key, value] of Object.entries(environment)) {
    let field = prefix + key;
    value == null || field === "step" || (typeof value == "object" && !Array.isArray(value) ? flatten(value, `${field}.`).forEach((v, k) => result.set(k, v)) : result.set(field, text(value)));
  }
  return result;
}
function text(value) {
  return Array.isArray(value) ? value.map(text).join(", ") : typeof value == "boolean" ? value ? "yes" : "no" : typeof value == "object" && value !== null ? JSON.stringify(value) : String(value);
}
function endWords(end) {
  return end === null ? "running, or ended without a word" : {
    closed: "ended normally",
    exception: "ended by an exception",
    replaced: "replaced by a new count of steps"
  }[end] ?? end;
}

// src/views/panel.tsx
function Panel({ id, title, note, controls, table, children }) {
  let asTable = useSignal(!1);
  return h("section", { class: "panel", "aria-labelledby": `${id}-title`, id }, h("header", { class: "panel-head" }, h("h2", { id: `${id}-title` }, title), note && h("p", { class: "note" }, note), h("div", { class: "controls" }, controls, table && h(
    "button",
    {
      type: "button",
      class: "button quiet",
      "aria-pressed": asTable.value,
      onClick: () => asTable.value = !asTable.value
    },
    asTable.value ? "Hide table" : "Show as table"
  ))), children, asTable.value && table?.());
}
function ChartSkeleton({
  height,
  failed = !1,
  onWidth
}) {
  let root = useRef(null);
  return useLayoutEffect(() => {
    root.current.style.setProperty("--height", `${height}px`), onWidth?.(root.current.clientWidth || 1e3);
  }, []), h("div", { class: failed ? "failed" : "skeleton", ref: root, role: "status", "aria-label": failed ? void 0 : "Loading" }, failed && "This could not be loaded; the reason stands at the top of the page.");
}

// src/views/parts.tsx
function Name({ text: text2, children }) {
  return h("bdi", { class: "name", title: text2, "data-name": text2 }, children ?? visible(text2));
}
function Swatch({ color, hatched = !1 }) {
  return h(
    "span",
    {
      class: `swatch ${hatched ? "hatched" : ""}`,
      ref: (element) => element?.style.setProperty("--swatch", `var(${color})`),
      "aria-hidden": "true"
    }
  );
}
function Segmented({ label, value, options, onChange }) {
  return h("div", { class: "segmented", role: "group", "aria-label": label }, options.map((option) => h(
    "button",
    {
      key: option.value,
      type: "button",
      "aria-pressed": option.value === value,
      title: option.hint,
      onClick: () => onChange(option.value)
    },
    option.text
  )));
}
function Check({
  checked,
  onChange,
  children
}) {
  return h("label", { class: "check" }, h("input", { type: "checkbox", checked, onChange }), h("span", null, children));
}
function Menu({ label, children }) {
  let open = useSignal(!1), root = useRef(null);
  return useEffect(() => {
    if (!open.value) return;
    let onPointer = (event) => !root.current?.contains(event.target) && (open.value = !1);
    return document.addEventListener("pointerdown", onPointer), () => document.removeEventListener("pointerdown", onPointer);
  }, [open.value]), h("div", { class: "menu", ref: root, onKeyDown: (event) => {
    event.key !== "Escape" || !open.value || (event.stopPropagation(), open.value = !1, root.current?.querySelector("button")?.focus());
  } }, h("button", { type: "button", class: "button", "aria-expanded": open.value, onClick: () => open.value = !open.value }, label, h("span", { class: "caret", "aria-hidden": "true" })), open.value && h("div", { class: "menu-body" }, children));
}
function Copy({ text: text2, label = "Copy" }) {
  let done = useSignal(!1), copy = async () => {
    try {
      await navigator.clipboard.writeText(text2);
    } catch {
      copyBySelection(text2);
    }
    done.value = !0, setTimeout(() => done.value = !1, 2e3);
  };
  return h("button", { type: "button", class: "button", onClick: () => {
    copy();
  } }, done.value ? "Copied" : label);
}
function copyBySelection(text2) {
  let area = document.createElement("textarea");
  area.value = text2, document.body.append(area), area.select(), document.execCommand("copy"), area.remove();
}

// src/views/conditions.tsx
var MAX_COLUMNS = 12;
function Conditions({ page }) {
  let { data } = page.conditions.value;
  if (!data)
    return h(Panel, { id: "conditions", title: "Conditions" }, h("div", { class: "skeleton" }));
  let all = data.data.flatMap(
    (answer, n) => answer.attempts.map((attempt, i) => ({ label: data.shown[n].label, attempt, number: i + 1 }))
  ), rows = all.slice(-MAX_COLUMNS), several = data.data.length > 1, [first] = data.data;
  return h(
    Panel,
    {
      id: "conditions",
      title: "Conditions",
      note: all.length > rows.length ? `the last ${rows.length} of ${all.length} attempts` : void 0
    },
    rows.length === 1 ? h(OneAttempt, { attempt: rows[0].attempt }) : h(Attempts, { rows, several }),
    h(Changes, { rows, several }),
    h("div", { class: "columns" }, h("section", null, h("h3", null, "Definitions"), h("dl", { class: "definitions" }, first?.definitions.map(({ term, text: words2 }) => h("div", { key: term }, h("dt", null, term), h("dd", null, words2))))), first && first.not_covered.length > 0 && h("section", null, h("h3", null, "Not covered"), h("ul", null, first.not_covered.map((words2) => h("li", { key: words2 }, words2)))))
  );
}
var FACTS = [
  ["started", (attempt) => wallTime(attempt.started_s * 1e3)],
  [
    "steps",
    (attempt) => attempt.first_step === null ? "none" : `${integer(attempt.first_step)} – ${integer(attempt.last_step)}`
  ],
  [
    "rows",
    (attempt) => integer(attempt.num_rows) + (attempt.num_superseded ? ` (${integer(attempt.num_superseded)} superseded)` : "")
  ],
  ["end", (attempt) => endWords(attempt.end)]
];
function OneAttempt({ attempt }) {
  let facts = FACTS.map(([name, value]) => ({ field: name, values: [value(attempt)] }));
  return h("dl", { class: "facts" }, [...facts, ...environmentRows([attempt.environment])].map(({ field, values }) => h("div", { key: field }, h("dt", null, visible(field)), h("dd", null, values[0]))));
}
function Attempts({ rows, several }) {
  let onlyDifferent = useSignal(!1), fields = environmentRows(rows.map(({ attempt }) => attempt.environment)), shown = onlyDifferent.value ? fields.filter((field) => field.differs) : fields;
  return h(Fragment, null, h(Check, { checked: onlyDifferent.value, onChange: () => onlyDifferent.value = !onlyDifferent.value }, "Only what differs between attempts"), h("div", { class: "table-scroll flat", tabIndex: 0 }, h("table", { class: "environment" }, h("caption", { class: "hidden" }, "Attempts and their environments"), h("thead", null, h("tr", null, h("th", { scope: "col" }, "Attempt"), rows.map((row) => h("th", { key: row.label + row.attempt.attempt, scope: "col" }, several && h(Fragment, null, h(Name, { text: row.label }), " ·", " "), row.number)))), h("tbody", null, FACTS.map(([name, value]) => h("tr", { key: name }, h("th", { scope: "row" }, name), rows.map((row, i) => h("td", { key: i }, value(row.attempt))))), shown.map(({ field, values, differs }) => h("tr", { key: field, class: differs ? "differs" : "" }, h("th", { scope: "row" }, visible(field), differs && h("span", { class: "hidden" }, " (differs)")), values.map((value, i) => h("td", { key: i }, value === "" ? h("span", { class: "note" }, "unknown") : value))))))));
}
function Changes({ rows, several }) {
  let changes = rows.flatMap((row) => row.attempt.changes.map((change) => ({ ...row, change })));
  return changes.length ? h(Fragment, null, h("h3", null, "Changes while training"), h("ul", null, changes.map(({ label, number, change }) => h("li", { key: `${label} ${number} ${change.step}` }, several && h(Fragment, null, h(Name, { text: label }), ",", " "), rows.length > 1 && `attempt ${number}, `, "from step ", integer(change.step), ":", " ", Object.entries(change.fields).map(([field, value]) => `${visible(field)} = ${text(value)}`).join("; "))))) : null;
}

// src/views/empty.tsx
var CODE = `from tb_stepperf import StepPerfWriter

with StepPerfWriter("runs/my_run") as perf:
    for batch in perf.data(loader):
        train_step(batch)
        perf.step(num_samples=len(batch))`;
function Empty({ catalog }) {
  let others = catalog.num_runs_without_data;
  return h("main", { class: "empty" }, h("h1", null, "No step performance data yet"), h("p", null, "TensorBoard reads", " ", h("code", null, h(Name, { text: catalog.logdir })), others ? ` and found ${count(others, "run")} there, but none that was written with tb_stepperf.` : " and found no run there. A run appears within seconds of its first flush (every 10 s by default)."), h("p", null, "Add these lines to the training loop:"), h("div", { class: "code" }, h("pre", null, h("code", null, CODE)), h(Copy, { text: CODE })), h("p", { class: "note" }, "Stages such as ", h("code", null, 'with perf.stage("forward"):'), " show where the time goes. This page looks again by itself every few seconds."), h(Problems, { catalog }));
}
function Problems({ catalog }) {
  let { problems } = catalog;
  if (!problems.length) return null;
  let items = h("ul", { "aria-label": "Problems" }, problems.map(({ run, message }) => h("li", { key: `${run} ${message}` }, run !== null && h(Fragment, null, h(Name, { text: run }), ":", " "), message)));
  return problems.length <= 3 ? h("div", { class: "warnings" }, items) : h("details", { class: "warnings" }, h("summary", null, count(problems.length, "problem"), " in the log directory"), items);
}
function ErrorBanner({ errors, onRetry }) {
  if (!errors.length) return null;
  let messages = [...new Set(errors.map((error) => error.message))];
  return h("div", { class: "banner", role: "alert" }, h("div", null, h("b", null, messages.length === 1 ? "Something could not be loaded." : `${messages.length} things could not be loaded.`), messages.map((message) => h("p", { key: message }, message))), h("button", { type: "button", class: "button", onClick: onRetry }, "Try again"));
}

// src/charts/colors.ts
var RUN_COLORS = Array.from({ length: 8 }, (_, i) => `--run-${i + 1}`), STAGE_COLORS = Array.from({ length: 10 }, (_, i) => `--stage-${i + 1}`), UNLABELLED = { color: "--unlabelled", hatched: !0 };
function resolve(variable, opacity = 1) {
  let value = getComputedStyle(document.documentElement).getPropertyValue(variable).trim() || "#888888";
  return opacity >= 1 ? value : withAlpha(value, opacity);
}
function withAlpha(hex, opacity) {
  let alpha = Math.round(Math.min(1, Math.max(0, opacity)) * 255);
  return `${hex}${alpha.toString(16).padStart(2, "0")}`;
}
function stageColor(index) {
  return { color: STAGE_COLORS[index % STAGE_COLORS.length], hatched: index >= STAGE_COLORS.length };
}
var patterns = /* @__PURE__ */ new Map();
function hatch(context, color, background, gap = 6, slope = 1) {
  let key = [color, background, gap, slope].join();
  return patterns.has(key) || patterns.set(key, drawPattern(context, color, background, gap, slope)), patterns.get(key) ?? color;
}
function drawPattern(context, color, background, gap, slope) {
  let size = gap * Math.max(1, Math.round(devicePixelRatio)), tile = document.createElement("canvas");
  tile.width = tile.height = size;
  let pen = tile.getContext("2d");
  if (!pen) return null;
  background && (pen.fillStyle = background, pen.fillRect(0, 0, size, size)), pen.strokeStyle = color, pen.lineWidth = size / 6;
  for (let shift of [-size, 0, size])
    pen.beginPath(), pen.moveTo(shift, slope > 0 ? size : 0), pen.lineTo(shift + size, slope > 0 ? 0 : size), pen.stroke();
  return context.createPattern(tile, "repeat");
}

// src/charts/limits.ts
var finite = (values) => values.filter((v) => v !== null && Number.isFinite(v));
function despike(values) {
  return values.map((_, i) => {
    let near = values.slice(Math.max(0, i - 2), i + 3).sort((a, b) => a - b);
    return near[near.length >> 1];
  });
}
function robustLimits(lines, peaks, lows) {
  let curves = lines.map(finite).filter((curve) => curve.length > 0), bottom = finite(lows);
  if (curves.length === 0 || bottom.length === 0) return null;
  let held = Math.max(...curves.map((curve) => max(despike(curve)))), usual = Math.max(...curves.map(mostly)), top = Math.max(max(finite(peaks)), ...curves.map(max)), curveLevel = Math.max(held, usual), peakLevel = mostly(finite(peaks)), level = peakLevel > curveLevel && peakLevel <= 2 * curveLevel ? peakLevel : curveLevel, clip2 = top > 2 * level, upper = clip2 ? max([level, ...[peaks, ...lines].flatMap(finite).filter((value) => value <= 2 * level)]) : top, lower = Math.min(min(bottom), upper), pad = (upper - lower || upper || 1) * 0.06;
  return { min: lower < 0.35 * upper ? 0 : Math.max(0, lower - pad), max: upper + pad, clipped: clip2 };
}
function fullLimits(values, fromZero) {
  let all = values.map(finite).filter((list2) => list2.length > 0);
  if (all.length === 0) return null;
  let top = Math.max(...all.map(max)), low = Math.min(...all.map(min)), pad = (top - low || Math.abs(top) || 1) * 0.06;
  return { min: fromZero || low < 0.35 * top ? 0 : low - pad, max: top + pad, clipped: !1 };
}
function logLimits(values) {
  let positive = values.flatMap((list2) => finite(list2)).filter((v) => v > 0);
  return positive.length === 0 ? null : { min: min(positive) / 1.15, max: max(positive) * 1.15, clipped: !1 };
}
var mostly = (values) => values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * 0.97)] ?? -1 / 0, max = (values) => values.reduce((a, b) => b > a ? b : a, -1 / 0), min = (values) => values.reduce((a, b) => b < a ? b : a, 1 / 0);

// src/charts/bands.ts
var scale = (values, factor) => values.map((value) => value === null ? null : value * factor);
function roles(percentiles) {
  let at = (p) => percentiles.findIndex((other) => Math.abs(other - p) < 1e-9), pairs = [], used = /* @__PURE__ */ new Set();
  percentiles.forEach((p, i) => {
    let mirror = at(100 - p);
    p >= 50 || mirror < 0 || (pairs.push([i, mirror]), used.add(i).add(mirror));
  });
  let median = at(50), singles = percentiles.map((_, i) => i).filter((i) => !used.has(i) && i !== median);
  return { pairs, median: median < 0 ? null : median, singles };
}
var DASHES = [void 0, [6, 3], [2, 3], [8, 3, 2, 3]];
function bandsModel(answers, marks, options) {
  let overlaid = answers.data.length > 1, tables = [], lines = [], bands = [], dots = [], upper = [], lows = [], peaks = [];
  answers.data.forEach((answer, n) => {
    let bins = placeBins(answer.axis, answer.sample, options.origin), color = RUN_COLORS[answers.shown[n].color % RUN_COLORS.length], quantiles = answer.quantiles.map((values) => scale(values, answer.scale)), { pairs, median, singles } = roles(answer.percentiles), drawnPairs = overlaid ? pairs.slice(0, 1) : pairs, drawnSingles = overlaid ? median === null ? singles.slice(-1) : [] : singles, columns = [], add = (index, look2) => (columns.push(bridge(quantiles[index])), lines.push({ key: `${n}:p${answer.percentiles[index]}`, color, values: [], ...look2 }), lines.length - 1);
    drawnPairs.forEach(([low, high], depth) => {
      let lower = add(low, { width: 1, opacity: 0 }), top = add(high, { width: 1, opacity: 0 }), opacity = overlaid ? 0.14 : Math.min(0.34, 0.16 + 0.1 * depth);
      bins.raw || bands.push({ upper: top, lower, color, opacity });
    }), drawnSingles.forEach(
      (index, i) => add(index, { width: 1, opacity: 0.55, ...DASHES[i % 4] ? { dash: DASHES[i % 4] } : {} })
    ), median !== null && add(median, { width: 2, opacity: 1 }), tables.push({ x: bins.x, columns });
    let maxima = scale(answer.max, answer.scale), shift = Number(BigInt(answer.axis.base) - options.origin), outer = quantiles[pairs[0]?.[1] ?? quantiles.length - 1], maxAt = bins.raw ? bins.x : answer.max_at.map((at, i) => at === null ? bins.x[i] : at + shift);
    (options.showMax || bins.raw) && dots.push(points(color, !1, maxAt, maxima, outer)), options.showLeftOut && dots.push(points("--left-out", !0, bins.x, scale(answer.left_out_max, answer.scale), null)), upper.push(...answer.percentiles.flatMap((p, i) => p >= 50 ? [quantiles[i]] : [])), lows.push(quantiles[0]), options.showMax && peaks.push(maxima);
  });
  let table = align(tables);
  lines.forEach((line, i) => line.values = table.columns[i]);
  let all = [...upper, ...lows, ...peaks], limits = chooseLimits(all, upper, lows.flat(), peaks.flat(), options), shown = dots.filter((set) => set.x.length > 0);
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
    unit: "ms"
  };
}
function chooseLimits(all, upper, lows, peaks, { yScale, full }) {
  if (yScale === "log") return logLimits(all);
  let limits = full ? fullLimits(all, yScale === "zero") : robustLimits(upper.length ? upper : [lows], peaks, lows);
  return limits && yScale === "zero" ? { ...limits, min: 0 } : limits;
}
function points(color, hollow, x, y, curve) {
  let kept = y.flatMap((value, i) => value === null ? [] : [i]);
  return {
    color,
    hollow,
    x: kept.map((i) => x[i]),
    y: kept.map((i) => y[i]),
    curve: curve && kept.map((i) => curve[i] ?? NaN),
    labels: !hollow
  };
}
function placeMarks(marks, origin) {
  if (!marks) return [];
  let shift = Number(BigInt(marks.base) - origin);
  return marks.marks.map(({ start, end, ...mark }) => ({ ...mark, x0: start + shift, x1: end + shift }));
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
function overall(means, numSteps) {
  let sum2 = 0, steps = 0;
  return means.forEach((mean, i) => {
    mean !== null && (sum2 += mean * numSteps[i], steps += numSteps[i]);
  }), steps ? sum2 / steps : null;
}
function stack(layers) {
  let sums = [];
  return layers.forEach(
    (layer, n) => sums.push(
      layer.map((value, i) => {
        let below = n ? sums[n - 1][i] : null;
        return value === null && below === null ? null : (value ?? 0) + (below ?? 0);
      })
    )
  ), sums;
}
function stagesModel(answer, mode, marks, origin, full) {
  let bins = placeBins(answer.axis, answer.sample, origin), series = stageSeries(answer), layers = [...series.means, series.unlabelled], colors = [...series.names.map((_, i) => stageColor(i)), UNLABELLED], shares = mode === "share" ? layers.map((layer) => layer.map((value, i) => divide(value, sum(layers, i)))) : layers, curves = mode === "lines" ? shares : stack(shares), lines = curves.map((values, i) => ({
    key: String(i),
    color: colors[i].color,
    width: mode === "lines" ? 1.75 : 1,
    opacity: 1,
    values: bridge(values),
    ...mode === "lines" && colors[i].hatched ? { dash: [5, 3] } : {}
  })), bands = mode === "lines" ? [] : curves.map((_, i) => ({
    upper: i,
    lower: i ? i - 1 : null,
    color: colors[i].color,
    opacity: 0.62,
    hatched: colors[i].hatched
  }));
  return {
    axis: answer.axis.axis,
    origin,
    x: bins.x,
    lines,
    bands,
    dots: [],
    marks,
    log: !1,
    limits: stageLimits(curves, mode, full),
    unit: mode === "share" ? "share" : "ms"
  };
}
function stageLimits(curves, mode, full) {
  if (mode === "share") return { min: 0, max: 1, clipped: !1 };
  if (full) return fullLimits(curves, !0);
  let limits = robustLimits(mode === "lines" ? curves : curves.slice(-1), curves.flat(), curves[0] ?? []);
  return limits && { ...limits, min: 0 };
}
var divide = (value, by) => value === null || by === 0 ? null : value / by, sum = (layers, i) => layers.reduce((total, layer) => total + (layer[i] ?? 0), 0), DASHES2 = [void 0, [7, 3], [2, 3]];
function memoryModel(answers, marks, origin) {
  let curves = answers.data.flatMap(
    (answer, n) => answer.columns.map((column, c) => ({
      x: placeBins(answer.axis, answer.sample, origin).x,
      values: column.max,
      key: `${n}:${column.column}`,
      ...look(answers, n, c)
    }))
  );
  return linesModel(curves, answers.data[0].axis.axis, marks, origin, 64, "bytes");
}
function throughputModel(answers, column, marks, origin) {
  let curves = answers.data.flatMap(
    (answer, n) => answer.series.filter((series) => series.column === column).map((series) => ({
      x: placeBins(answer.axis, answer.sample, origin).x,
      values: series.value,
      key: `${n}:${column}`,
      ...look(answers, n, 0)
    }))
  );
  return linesModel(curves, answers.data[0].axis.axis, marks, origin, 2, "rate");
}
function look(answers, n, c) {
  let single = answers.data.length === 1, color = RUN_COLORS[(answers.shown[n].color + (single ? c : 0)) % RUN_COLORS.length], dash = single ? void 0 : DASHES2[c % DASHES2.length];
  return dash ? { color, dash } : { color };
}
function linesModel(curves, axis, marks, origin, reach, unit) {
  let table = align(
    curves.length ? curves.map(({ x, values }) => ({ x, columns: [bridge(values, reach)] })) : [{ x: [], columns: [] }]
  ), lines = curves.map(({ key, color, dash }, i) => ({
    key,
    color,
    ...dash ? { dash } : {},
    width: 1.75,
    opacity: 1,
    values: table.columns[i]
  }));
  return {
    axis,
    origin,
    x: table.x,
    lines,
    bands: [],
    dots: [],
    marks,
    limits: fullLimits(
      curves.map((c) => c.values),
      !1
    ),
    log: !1,
    unit
  };
}

// src/format/units.ts
var TIME_UNITS = [
  { name: "µs", size: 1e-3 },
  { name: "ms", size: 1 },
  { name: "s", size: 1e3 }
], BYTE_UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"].map((name, i) => ({ name, size: 2 ** (10 * i) })), RATE_UNITS = [
  { name: "", size: 1 },
  { name: "k", size: 1e3 },
  { name: "M", size: 1e6 },
  { name: "G", size: 1e9 }
];
function pick(units, value, least = 1) {
  let size = Math.abs(value) / least;
  return units.findLast((unit) => size >= unit.size) ?? units[0];
}
var timeUnit = (ms) => pick(TIME_UNITS, ms), byteUnit = (bytes2) => pick(BYTE_UNITS, bytes2), rateUnit = (perSecond) => pick(RATE_UNITS, perSecond, 10);
function time(ms, digits = 3) {
  if (ms == null || !Number.isFinite(ms)) return "–";
  if (ms === 0) return "0 ms";
  if (Math.abs(ms) >= 12e4) return duration(ms);
  let unit = timeUnit(Number(ms.toPrecision(digits)));
  return `${significant(ms / unit.size, digits)} ${unit.name}`;
}
function duration(ms) {
  if (ms == null || !Number.isFinite(ms)) return "–";
  if (Math.abs(ms) < 6e4) return time(ms);
  let sign = ms < 0 ? "−" : "", seconds = Math.round(Math.abs(ms) / 1e3), parts = [
    [Math.floor(seconds / 86400), "d"],
    [Math.floor(seconds / 3600) % 24, "h"],
    [Math.floor(seconds / 60) % 60, "min"],
    [seconds % 60, "s"]
  ], first = parts.findIndex(([amount]) => amount > 0), shown = parts.slice(first, first + 2).filter(([amount], i) => i === 0 || amount > 0);
  return sign + shown.map(([amount, unit]) => `${amount} ${unit}`).join(" ");
}
function bytes(value, digits = 3) {
  if (value == null || !Number.isFinite(value)) return "–";
  let unit = byteUnit(value);
  return `${significant(value / unit.size, unit.size === 1 ? 4 : digits)} ${unit.name}`;
}
function rate(value, unit) {
  if (value == null || !Number.isFinite(value)) return "–";
  let prefix = value >= 1e6 ? pick(RATE_UNITS, value) : { name: "", size: 1 }, digits = prefix.size === 1 && Math.abs(value) >= 1e3 ? Math.ceil(Math.log10(value + 1)) : 3;
  return `${significant(value / prefix.size, digits)} ${prefix.name ? `${prefix.name} ` : ""}${unit}`;
}

// src/charts/keys.ts
function keyAction(event, state) {
  if (event.ctrlKey || event.metaKey || event.altKey) return null;
  let { stops, domain, cursor, selection } = state, visible2 = stops.filter((x) => x >= domain[0] && x <= domain[1]);
  switch (event.key) {
    case "ArrowLeft":
    case "ArrowRight":
    case "Home":
    case "End":
      return visible2.length ? move(event, visible2, cursor, selection) : null;
    case "PageUp":
    case "PageDown":
      return visible2.length ? {
        cursor: visible2[step(visible2, cursor, (event.key === "PageUp" ? -1 : 1) * Math.ceil(visible2.length / 10))]
      } : null;
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
  let target = event.key === "Home" ? 0 : event.key === "End" ? visible2.length - 1 : step(visible2, cursor, event.key === "ArrowLeft" ? -1 : 1), x = visible2[target];
  return event.shiftKey ? { cursor: x, selection: [selection?.[0] ?? cursor ?? x, x] } : { cursor: x, selection: null };
}
function step(visible2, cursor, by) {
  if (cursor === null) return by < 0 ? visible2.length - 1 : 0;
  let nearest = 0;
  return visible2.forEach((x, i) => {
    Math.abs(x - cursor) < Math.abs(visible2[nearest] - cursor) && (nearest = i);
  }), Math.min(visible2.length - 1, Math.max(0, nearest + by));
}
function scaleAround(domain, cursor, factor) {
  let centre = cursor !== null && cursor >= domain[0] && cursor <= domain[1] ? cursor : (domain[0] + domain[1]) / 2;
  return [centre - (centre - domain[0]) * factor, centre + (domain[1] - centre) * factor];
}

// src/charts/model.ts
function structure(model) {
  let lines = model.lines.map((l) => [l.key, l.color, l.width, l.opacity, l.dash]), bands = model.bands.map((b) => [b.upper, b.lower, b.color, b.opacity, b.hatched]);
  return JSON.stringify([model.axis, String(model.origin), model.unit, model.log, lines, bands]);
}

// src/charts/ticks.ts
var SECOND = 1e3, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE, DAY = 24 * HOUR, TIME_INCREMENTS = [
  1,
  2,
  5,
  10,
  20,
  50,
  100,
  200,
  500,
  ...[1, 2, 5, 10, 15, 30].map((n) => n * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * MINUTE),
  ...[1, 2, 3, 6, 12].map((n) => n * HOUR),
  ...[1, 2, 5, 10, 20, 50, 100].map((n) => n * DAY)
], STEP_INCREMENTS = Array.from({ length: 19 }, (_, e) => [1, 2, 5].map((m) => m * 10 ** e)).flat(), BYTE_INCREMENTS = Array.from({ length: 51 }, (_, e) => 2 ** e);
function tickLabels(axis, origin, splits, increment) {
  return axis === "wall" ? splits.map((x, i) => wallTick(Number(origin) + x, i ? Number(origin) + splits[i - 1] : null, increment)) : axis === "step" ? splits.map((x) => integer(origin + BigInt(Math.round(x)))) : splits.map((x) => clock(Number(origin) + x, increment));
}
function wallTick(ms, before, increment) {
  let date = dateOnly(ms);
  if (increment >= DAY) return date;
  let clockText = wallTime(ms, !1).slice(0, increment >= MINUTE ? 5 : 8);
  return before !== null && dateOnly(before) === date ? clockText : `${clockText}
${date}`;
}
var dateOnly = (ms) => wallTime(ms).split(", ")[0];
function yText(unit, value) {
  return unit === "ms" ? time(value) : unit === "bytes" ? bytes(value) : unit === "share" ? percent(value) : rate(value, "/s").replace(" /s", "/s");
}
function yLabels(unit, splits, increment) {
  if (unit === "share") return splits.map((value) => value === null ? null : percent(value));
  let largest = Math.max(...splits.map((value) => Math.abs(value ?? 0))), { name, size } = unit === "ms" ? timeUnit(largest) : unit === "bytes" ? byteUnit(largest) : rateUnit(largest), suffix = unit === "rate" ? `${name ? ` ${name}` : ""}/s` : ` ${name}`, decimals = decimalsOf(increment / size);
  return splits.map((value) => value === null ? null : fixed(value / size, decimals) + suffix);
}
function fixed(value, decimals) {
  let [whole, fraction] = Math.abs(value).toFixed(decimals).split(".");
  return (value < 0 ? "−" : "") + integer(whole) + (fraction ? `.${fraction}` : "");
}
function decimalsOf(value) {
  let decimals = 0;
  for (; decimals < 3 && Math.abs(value * 10 ** decimals - Math.round(value * 10 ** decimals)) > 1e-6; ) decimals += 1;
  return decimals;
}

// src/charts/paint.ts
var RANGES = {
  warmup: { color: "--mark-warmup", gap: 8, slope: 1 },
  profiled: { color: "--mark-profiled", gap: 6, slope: -1 },
  excluded: { color: "--mark-excluded", gap: 10, slope: 1 },
  gap: { color: "--mark-gap", gap: 5, slope: -1 }
}, POINTS = {
  restart: "--mark-restart",
  clock_jump: "--mark-clock",
  interrupted: "--mark-interrupted"
}, MARK_NAMES = {
  restart: "restart",
  warmup: "warm-up",
  profiled: "profiled",
  excluded: "excluded",
  gap: "missing rows",
  clock_jump: "clock jump",
  interrupted: "interrupted"
}, MARK_COLORS = Object.fromEntries(
  Object.keys(MARK_NAMES).map((kind) => [kind, RANGES[kind]?.color ?? POINTS[kind]])
), isRange = (kind) => kind in RANGES;
function paintRanges(u, marks) {
  let { ctx, bbox } = u;
  ctx.save(), clip(u);
  for (let mark of marks) {
    let style = RANGES[mark.kind];
    if (!style) continue;
    let x0 = u.valToPos(mark.x0, "x", !0), x1 = Math.max(u.valToPos(mark.x1, "x", !0), x0 + 2 * devicePixelRatio);
    if (x1 < bbox.left || x0 > bbox.left + bbox.width) continue;
    let color = resolve(style.color);
    ctx.fillStyle = hatch(ctx, withAlpha(color, 0.34), withAlpha(color, 0.1), style.gap, style.slope), ctx.fillRect(x0, bbox.top, x1 - x0, bbox.height);
  }
  ctx.restore();
}
var NAMES_HEIGHT = 16;
function paintMarkers(u, marks, withNames) {
  let { ctx, bbox } = u, ratio2 = devicePixelRatio;
  ctx.save(), ctx.font = `${10.5 * ratio2}px system-ui, sans-serif`, ctx.textAlign = "left", ctx.textBaseline = "top";
  let free = -1 / 0;
  for (let mark of marks.toSorted((a, b) => a.x0 - b.x0)) {
    let at = u.valToPos(mark.x0, "x", !0);
    if ((at < bbox.left - 1 || at > bbox.left + bbox.width) && !(mark.x1 > mark.x0 && at < bbox.left && u.valToPos(mark.x1, "x", !0) > bbox.left))
      continue;
    let color = resolve(MARK_COLORS[mark.kind]);
    if (POINTS[mark.kind] && (ctx.strokeStyle = color, ctx.lineWidth = 1.5 * ratio2, ctx.setLineDash(mark.kind === "restart" ? [] : [4 * ratio2, 3 * ratio2]), ctx.beginPath(), ctx.moveTo(at, bbox.top), ctx.lineTo(at, bbox.top + bbox.height), ctx.stroke()), !withNames) continue;
    let text2 = MARK_NAMES[mark.kind], width2 = ctx.measureText(text2).width, left = Math.min(Math.max(at, bbox.left), bbox.left + bbox.width - width2);
    left < free || (ctx.fillStyle = color, ctx.fillText(text2, left, bbox.top - (NAMES_HEIGHT - 2) * ratio2), free = left + width2 + 10 * ratio2);
  }
  ctx.restore();
}
function paintDots(u, model) {
  let { ctx, bbox } = u, ratio2 = devicePixelRatio, top = model.limits?.max ?? 1 / 0;
  ctx.save(), clip(u, 8 * ratio2);
  for (let dots of model.dots) {
    let color = resolve(dots.color);
    ctx.strokeStyle = ctx.fillStyle = color, ctx.lineWidth = 1.2 * ratio2;
    let over = [], inSight = dots.x.flatMap((x, i) => {
      let px = u.valToPos(x, "x", !0);
      return px < bbox.left - 4 || px > bbox.left + bbox.width + 4 ? [] : [[px, dots.y[i], dots.curve?.[i] ?? NaN]];
    }), dense = inSight.length * 7 * ratio2 > bbox.width;
    for (let [px, y, curve] of inSight) {
      let py = u.valToPos(y, "y", !0);
      y > top ? over.push([px, y]) : dense && u.valToPos(curve, "y", !0) - py < 5 * ratio2 || dot(ctx, px, py, dots, ratio2);
    }
    triangles(u, over, dots, model, color);
  }
  ctx.restore();
}
function dot(ctx, x, y, dots, ratio2) {
  ctx.beginPath(), ctx.arc(x, y, (dots.hollow ? 2.6 : 1.7) * ratio2, 0, 2 * Math.PI), dots.hollow ? ctx.stroke() : ctx.fill();
}
function triangles(u, over, dots, model, color) {
  let { ctx, bbox } = u, ratio2 = devicePixelRatio, size = 4.5 * ratio2, y = bbox.top + 2 * ratio2, crowded = over.length > 40, largest = over.toSorted((a, b) => b[1] - a[1]);
  for (let [x] of crowded ? largest.slice(8) : []) ctx.fillRect(x - ratio2 / 2, y, ratio2, size);
  for (let [x] of crowded ? largest.slice(0, 8) : over)
    ctx.beginPath(), ctx.moveTo(x, y), ctx.lineTo(x + size, y + size * 1.5), ctx.lineTo(x - size, y + size * 1.5), ctx.closePath(), dots.hollow ? ctx.stroke() : ctx.fill();
  if (!dots.labels) return;
  ctx.font = `600 ${10.5 * ratio2}px system-ui, sans-serif`, ctx.textAlign = "left", ctx.textBaseline = "top";
  let taken = [];
  for (let [x, value] of largest.slice(0, 40)) {
    let text2 = yText(model.unit, value), width2 = ctx.measureText(text2).width, left = x + size + 2 * ratio2 + width2 > bbox.left + bbox.width ? x - size - 2 * ratio2 - width2 : x + size + 2 * ratio2;
    if (!taken.some(([a, b]) => left < b + 6 * ratio2 && left + width2 > a - 6 * ratio2) && (taken.push([left, left + width2]), halo(ctx, text2, left, y, color, ratio2), taken.length >= 8))
      break;
  }
}
function halo(ctx, text2, x, y, color, ratio2) {
  ctx.save(), ctx.setLineDash([]), ctx.strokeStyle = resolve("--surface"), ctx.lineWidth = 3 * ratio2, ctx.lineJoin = "round", ctx.strokeText(text2, x, y), ctx.fillStyle = color, ctx.fillText(text2, x, y), ctx.restore();
}
function clip({ ctx, bbox }, slack = 0) {
  ctx.beginPath(), ctx.rect(bbox.left - slack, bbox.top - slack, bbox.width + 2 * slack, bbox.height + 2 * slack), ctx.clip();
}

// src/charts/plot.ts
var AXIS_WIDTH = 70, Plot = class {
  constructor(root, model, options, events) {
    this.root = root;
    this.events = events;
    this.model = model, this.options = options, this.update(model, options);
  }
  root;
  events;
  u = null;
  built = "";
  model;
  options;
  /** Shows other data; builds the chart anew only where its structure changed (or `force`, for a new theme). */
  update(model, options, force = !1) {
    this.model = model;
    let resized = options.width !== this.options.width || options.height !== this.options.height;
    this.options = options;
    let shape = structure(model), data = [model.x, ...model.lines.map((line) => line.values)];
    if (!this.u || force || shape !== this.built) {
      this.u?.destroy(), this.built = shape, this.u = new default2(this.settings(), data, this.root);
      return;
    }
    resized && this.u.setSize({ width: options.width, height: options.height }), this.u.batch(() => {
      this.u.setData(data, !1), this.u.setScale("x", { min: options.domain[0], max: options.domain[1] });
      let { limits } = model;
      this.u.setScale("y", { min: limits?.min ?? 0, max: limits?.max ?? 1 }), this.u.redraw(!0, !0);
    });
  }
  /** Puts the crosshair at `x`, or takes it away. */
  showCursor(x) {
    let u = this.u;
    if (!u) return;
    let left = x === null ? -10 : u.valToPos(x, "x");
    u.setCursor({ left: left >= 0 && left <= u.over.clientWidth ? left : -10, top: x === null ? -10 : 4 }, !1);
  }
  /** Shades `[x0, x1]` as what would be zoomed to, or nothing. */
  showSelection(range) {
    let u = this.u;
    if (!u) return;
    let [a, b] = range ? range.map((x) => u.valToPos(x, "x")).sort((p, q) => p - q) : [0, 0];
    u.setSelect({ left: a, width: b - a, top: 0, height: u.over.clientHeight }, !1);
  }
  destroy() {
    this.u?.destroy(), this.u = null;
  }
  settings() {
    let { model, options } = this, text2 = resolve("--text-2"), grid = { stroke: resolve("--grid"), width: 1 }, font = "11px system-ui, sans-serif";
    return {
      width: options.width,
      height: options.height,
      padding: [options.markNames ? NAMES_HEIGHT : 8, 30, 0, 0],
      legend: { show: !1 },
      cursor: {
        y: !1,
        points: { show: !1 },
        drag: { x: !0, y: !1, setScale: !1, dist: 4 },
        bind: { dblclick: () => () => (this.events.onReset(), null) }
      },
      scales: {
        x: { time: model.axis === "wall", auto: !1, range: () => this.options.domain },
        y: {
          auto: !1,
          distr: model.log ? 3 : 1,
          range: () => [this.model.limits?.min ?? 0, this.model.limits?.max ?? 1]
        }
      },
      ms: 1,
      axes: [this.xAxis(text2, grid, font), this.yAxis(text2, grid, font)],
      series: [{}, ...model.lines.map((line) => this.series(line))],
      bands: model.bands.filter((band) => band.lower !== null).map((band) => ({
        series: [band.upper + 1, band.lower + 1],
        fill: (u) => this.fill(u, band.color, band.opacity, band.hatched)
      })),
      hooks: {
        drawAxes: [(u) => paintRanges(u, this.model.marks)],
        draw: [(u) => (paintMarkers(u, this.model.marks, this.options.markNames), paintDots(u, this.model))],
        setCursor: [(u) => this.cursorMoved(u)],
        setSelect: [(u) => this.selected(u)]
      }
    };
  }
  series(line) {
    let floor = this.model.bands.find((band) => band.lower === null && this.model.lines[band.upper] === line), settings = {
      stroke: resolve(line.color, line.opacity),
      width: line.opacity === 0 ? 0 : line.width,
      points: {
        show: line.opacity > 0 ? void 0 : !1,
        size: 4,
        fill: resolve(line.color, line.opacity)
      }
    };
    return line.dash && (settings.dash = line.dash), floor && (settings.fill = (u) => this.fill(u, floor.color, floor.opacity, floor.hatched)), settings;
  }
  fill(u, color, opacity, hatched = !1) {
    return hatched ? hatch(u.ctx, resolve(color, Math.min(1, opacity + 0.2)), resolve(color, opacity * 0.45)) : resolve(color, opacity);
  }
  xAxis(stroke, grid, font) {
    let { axis, origin } = this.model, settings = {
      ...{
        stroke,
        grid,
        ticks: { ...grid, size: 4 },
        font,
        size: axis === "wall" ? 38 : 26,
        gap: 4
      },
      space: (_u, _index, _min, max2) => axis === "wall" ? 90 : Math.max(70, tickLabels(axis, origin, [max2], 1e3)[0].length * 7 + 24),
      values: (_u, splits, _index, _space, increment) => tickLabels(axis, origin, splits, increment)
    };
    return axis === "wall" ? settings : { ...settings, incrs: axis === "step" ? STEP_INCREMENTS : TIME_INCREMENTS };
  }
  yAxis(stroke, grid, font) {
    let axis = {
      stroke,
      grid,
      ticks: { show: !1 },
      font,
      size: AXIS_WIDTH,
      gap: 6,
      space: 34,
      values: (_u, splits, _index, _space, increment) => this.model.log ? splits.map((value) => value === null ? null : yText(this.model.unit, value)) : yLabels(this.model.unit, splits, increment)
    };
    return this.model.unit === "bytes" && (axis.incrs = BYTE_INCREMENTS), axis;
  }
  cursorMoved(u) {
    if (!u.cursor.event) return;
    let left = u.cursor.left ?? -1;
    this.events.onCursor(left < 0 ? null : u.posToVal(left, "x"));
  }
  selected(u) {
    let { left, width: width2 } = u.select;
    if (width2 < 4) return;
    let [x0, x1] = [u.posToVal(left, "x"), u.posToVal(left + width2, "x")];
    u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, !1), this.events.onZoom(x0, x1);
  }
};

// src/charts/chart.tsx
function Chart(props) {
  let root = useRef(null), plot = useRef(null), latest = useRef(props);
  latest.current = props;
  let currentTheme = theme.value, drawnTheme = useRef(currentTheme);
  useLayoutEffect(() => {
    let element = root.current, draw = () => {
      let { model, domain, height, markNames = !1 } = latest.current, options = { width: Math.max(200, element.clientWidth), height, domain, markNames };
      plot.current ? plot.current.update(model, options) : plot.current = new Plot(element, model, options, {
        onCursor: (x) => latest.current.cursor.value = x,
        onZoom: (x0, x1) => latest.current.onZoom(x0, x1),
        onReset: () => latest.current.onReset()
      });
    };
    draw();
    let observer = new ResizeObserver(() => {
      latest.current.onWidth?.(element.clientWidth), draw();
    });
    observer.observe(element);
    let stopCursor = props.cursor.subscribe((x) => plot.current?.showCursor(x)), stopSelection = props.selection.subscribe((range) => plot.current?.showSelection(range));
    return () => {
      observer.disconnect(), stopCursor(), stopSelection(), plot.current?.destroy(), plot.current = null;
    };
  }, []), useEffect(() => {
    let { model, domain, height, markNames = !1 } = props, options = { width: Math.max(200, root.current.clientWidth), height, domain, markNames };
    plot.current?.update(model, options, drawnTheme.current !== currentTheme), drawnTheme.current = currentTheme, plot.current?.showCursor(props.cursor.peek());
  }, [props.model, props.domain[0], props.domain[1], props.height, currentTheme]);
  let onKeyDown = (event) => {
    let { stops, domain, cursor, selection, onZoom, onReset } = latest.current, action = keyAction(event, { stops, domain, cursor: cursor.peek(), selection: selection.peek() });
    action && (event.preventDefault(), action.cursor !== void 0 && (cursor.value = action.cursor), action.selection !== void 0 && (selection.value = action.selection), action.zoom === "reset" ? onReset() : action.zoom && onZoom(...action.zoom));
  };
  return h(
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
function pageMarks(page) {
  let marks = page.marks.value.data?.data[0] ?? null;
  return marks && marks.axis === page.view.value.axis ? placeMarks(marks, page.origin.value) : [];
}
function underCursor(page, answer) {
  let bins = placeBins(answer.axis, answer.sample, page.origin.value), x = page.cursor.value;
  return { bins, at: x === null ? -1 : binAt(bins, x) };
}
function binName(answer, i) {
  let base = BigInt(answer.axis.base), edge = (value) => base + BigInt(Math.round(value));
  return span(
    answer.axis.axis,
    edge(answer.axis.start[i]),
    edge(answer.axis.end[i]),
    answer.sample.num_in_range === answer.axis.start.length
  );
}
function PageChart({
  page,
  model,
  height,
  summary,
  stops,
  markNames = !1,
  reportsWidth = !1
}) {
  return h(
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
      ...reportsWidth ? {
        onWidth: (width2) => {
          width2 > 0 && (page.chartWidth.value = width2);
        }
      } : {}
    }
  );
}
function FullRange({ full, limits }) {
  return !full.value && !limits?.clipped ? null : h("button", { type: "button", class: "button", onClick: () => full.value = !full.value }, full.value ? "Cut off spikes" : "Show full range");
}
function Legend({ items, when }) {
  return h("div", { class: "legend" }, h("span", { class: "when" }, when), h("ul", { class: items.length > 6 ? "many" : "" }, items.map(({ key, color, hatched, text: text2, value }) => h("li", { key }, h(Swatch, { color, ...hatched ? { hatched } : {} }), h("span", { class: "legend-text" }, text2), value !== void 0 && h("b", null, value)))));
}

// src/views/table.tsx
var CAP = 200;
function DataTable({ page, caption, answer, head, cells }) {
  let numRows = answer.axis.start.length, shown = Math.min(numRows, CAP), csv = page.downloadUrl("samples", { format: "csv" });
  return h("div", { class: "table-scroll", tabIndex: 0 }, h("table", null, h("caption", null, caption, ".", " ", shown < numRows ? `The first ${shown} of ${integer(numRows)} rows; zoom in to see others.` : `${integer(numRows)} rows.`, " ", csv && h("a", { href: csv, download: !0 }, "All steps as CSV")), h("thead", null, h("tr", null, ["Steps", ...head].map((text2) => h("th", { key: text2, scope: "col" }, text2)))), h("tbody", null, Array.from({ length: shown }, (_, i) => h("tr", { key: i }, h("th", { scope: "row" }, binName(answer, i)), cells(i).map((cell, k) => h("td", { key: k }, cell)))))));
}

// src/views/line-panel.tsx
function LinePanel(props) {
  let { page, id, title, height, note, controls, loaded, model, legend, table } = props, [first] = loaded.data?.data ?? [];
  return h(Panel, { id, title, note, controls, table: first && model && (() => h(
    DataTable,
    {
      page,
      caption: title,
      answer: first,
      head: table.head(first),
      cells: (i) => table.cells(first, i)
    }
  )) || null }, first ? model ? h(Fragment, null, h(
    PageChart,
    {
      page,
      model,
      height,
      stops: placeBins(first.axis, first.sample, page.origin.value).x,
      summary: props.summary
    }
  ), h(Values, { page, answers: loaded.data.data, legend, when: props.when }), props.footer) : h("p", { class: "note" }, first.reason ?? props.otherwise) : h(ChartSkeleton, { height, failed: loaded.error !== null }));
}
function Values({
  page,
  answers,
  legend,
  when
}) {
  let bins = answers.map((answer) => underCursor(page, answer).at), items = answers.flatMap((answer, n) => legend(answer, n, bins[n]));
  return h(Legend, { items, when: bins[0] >= 0 ? binName(answers[0], bins[0]) : when });
}

// src/views/memory.tsx
function Memory({ page }) {
  let { data } = page.memory.value, origin = page.origin.value, marks = pageMarks(page), measured = data?.data.some((answer) => answer.columns.length > 0) ?? !1, model = useMemo(
    () => data && measured ? memoryModel(data, marks, origin) : null,
    [data, page.marks.value.data, origin]
  ), summaries = page.summary.value.data?.data ?? [], meanings = [
    ...new Set(
      data?.data.flatMap(
        (answer) => answer.columns.map((column) => `${columnLabel(column.column)}: ${column.meaning}`)
      )
    )
  ], peaks = summaries[0]?.peaks.map((peak) => `${columnLabel(peak.column)} ${bytes(peak.value)}`) ?? [];
  return h(
    LinePanel,
    {
      page,
      id: "memory",
      title: "Memory",
      height: 180,
      note: "peaks, every step in view",
      loaded: page.memory.value,
      model,
      otherwise: "No memory was measured.",
      summary: `Memory peaks: ${list(peaks) || "not measured"}.`,
      when: "highest in view",
      legend: (answer, n, at) => answer.columns.map((column, c) => {
        let label = columnLabel(column.column), highest = summaries[n]?.peaks.find((peak) => peak.column === column.column)?.value;
        return {
          key: `${n} ${column.column}`,
          color: look(data, n, c).color,
          value: bytes(at >= 0 ? column.max[at] : highest),
          text: data.data.length > 1 ? h(Fragment, null, h(Name, { text: data.shown[n].label }), ": ", label) : label
        };
      }),
      table: {
        head: (answer) => answer.columns.flatMap(({ column }) => [
          `${columnLabel(column)}, highest`,
          `${columnLabel(column)}, times measured`
        ]),
        cells: (answer, i) => answer.columns.flatMap((column) => [bytes(column.max[i]), integer(column.num_measured[i])])
      },
      footer: h("p", { class: "note" }, meanings.join(" · "))
    }
  );
}

// src/format/names.ts
var SEPARATOR = /[/\\_\-, ]/;
function sharedEnds(names) {
  let [first, ...rest] = names;
  if (first === void 0 || rest.length === 0) return { prefix: 0, suffix: 0 };
  let prefix = first.length, suffix = first.length;
  for (let name of rest) {
    let i = 0;
    for (; i < prefix && i < name.length && name[i] === first[i]; ) i += 1;
    prefix = i;
    let j = 0;
    for (; j < suffix && j < name.length && name.at(-1 - j) === first.at(-1 - j); ) j += 1;
    suffix = j;
  }
  for (; prefix > 0 && !SEPARATOR.test(first[prefix - 1]); ) prefix -= 1;
  for (; suffix > 0 && !SEPARATOR.test(first.at(-suffix)); ) suffix -= 1;
  let shortest = Math.min(...names.map((name) => name.length));
  return { prefix, suffix: Math.max(0, Math.min(suffix, shortest - prefix)) };
}
function shorten(name, shared, length) {
  if ([...name].length <= length) return name;
  let core = name.slice(shared.prefix, name.length - shared.suffix), before = shared.prefix ? "…" : "", after = shared.suffix ? "…" : "", room = Math.max(3, length - before.length - after.length), own = [...core];
  if (own.length <= room) return before + core + after;
  let head = Math.ceil((room - 1) * 0.6), tail = room - 1 - head;
  return `${before}${own.slice(0, head).join("")}…${tail > 0 ? own.slice(-tail).join("") : ""}${after}`;
}
function matches(name, query) {
  let text2 = name.toLowerCase();
  return query.toLowerCase().split(/\s+/).every((word) => text2.includes(word));
}

// src/views/picker-keys.ts
function pickerKey(event, active, total, inSearch) {
  if (event.ctrlKey || event.metaKey || event.altKey) return null;
  let to = (index) => total ? { move: Math.min(total - 1, Math.max(0, index)) } : null;
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
      return { choose: !0 };
    case " ":
      return inSearch ? null : { toggle: !0 };
    case "Escape":
      return { clear: !0 };
    default:
      return !inSearch && event.key.length === 1 ? { type: event.key } : null;
  }
}
function windowOf(scrollTop, height, rowHeight, total) {
  return [Math.max(0, Math.min(total, Math.floor(scrollTop / rowHeight)) - 6), Math.min(total, Math.ceil((scrollTop + height) / rowHeight) + 6)];
}

// src/views/shown-runs.tsx
function ShownRuns({ page, perLine, shared }) {
  let shown = page.shown.value, [first] = shown;
  return h("div", { class: "shown" }, h("h2", null, shown.length > 1 ? `Showing ${shown.length} together` : "Showing"), h("ul", null, shown.map((entry, index) => h("li", { key: JSON.stringify([entry.run.run, entry.member.member]) }, h(
    "button",
    {
      type: "button",
      class: "link",
      disabled: index === 0,
      title: index === 0 ? void 0 : "Make this the first run",
      onClick: () => page.change((view) => makePrimary(view, index))
    },
    h(Swatch, { color: RUN_COLORS[entry.color % RUN_COLORS.length] }),
    h(Name, { text: entry.run.run }, shorten(visible(entry.run.run), shared, perLine * 2 - 2))
  ), index > 0 && entry.run.members.length > 1 && h("small", null, entry.member.label), shown.length > 1 && h(
    "button",
    {
      type: "button",
      class: "icon",
      "aria-label": `Take ${visible(entry.label)} away`,
      onClick: () => page.change((view) => without(view, index))
    },
    "×"
  )))), first && first.run.members.length > 1 && h(Members, { page, first }));
}
var without = (view, index) => ({ ...view, entries: view.entries.filter((_, i) => i !== index) });
function Members({ page, first }) {
  let { members, missing_ranks: missing } = first.run, all = (view) => {
    let own = [first.member, ...members.filter((member) => member !== first.member)];
    return { ...view, entries: own.slice(0, 8).map(({ member }) => ({ run: first.run.run, member })) };
  }, ranks = members.some((member) => member.rank !== members[0].rank);
  return h("div", { class: "members" }, h("label", null, ranks ? "Rank" : "Writer", h(
    "select",
    {
      value: first.member.member,
      onChange: (event) => {
        let { value } = event.currentTarget;
        page.change((view) => chooseMember(view, value));
      }
    },
    members.map((member) => h("option", { key: member.member, value: member.member }, member.label))
  )), h("button", { type: "button", class: "link", onClick: () => page.change(all) }, "overlay ", members.length > 8 ? `${8} of ${members.length}` : "all"), missing.length > 0 && h("small", { class: "warn" }, "missing: ", missing.join(", ")));
}

// src/views/run-picker.tsx
var CHARACTER_PX = 7.4, ROW_CHROME_PX = 64;
function RunPicker({ page }) {
  let query = useSignal(""), active = useSignal(-1), everything = useSignal(!1), width2 = useSignal(280), root = useRef(null), runs = page.catalog.state.value.data?.runs ?? [], selection = page.hostSelection.value, selected = useMemo(
    () => selection ? runs.filter((run) => isSelected(run, selection)) : runs,
    [runs, selection]
  ), narrowed = selection !== null && selected.length < runs.length, offered = narrowed && !everything.value ? selected : runs, found = useMemo(() => offered.filter((run) => matches(run.run, query.value)), [offered, query.value]), shared = useMemo(() => sharedEnds(runs.map((run) => run.run)), [runs]), shownFirst = page.shown.value[0]?.run.run;
  useEffect(() => {
    let observer = new ResizeObserver(() => width2.value = root.current?.clientWidth ?? 280);
    return observer.observe(root.current), () => observer.disconnect();
  }, []);
  let perLine = Math.max(10, Math.floor((width2.value - ROW_CHROME_PX) / CHARACTER_PX)), long = found.some((run) => visible(run.run).length > perLine), chosen = active.value < 0 ? found.findIndex((run) => run.run === shownFirst) : active.value, activeIndex = Math.min(Math.max(0, chosen), Math.max(0, found.length - 1)), hovered = useSignal(null), activeRun = found[activeIndex], onKeyDown = (event) => {
    let action = pickerKey(event, activeIndex, found.length, event.target instanceof HTMLInputElement);
    action && (event.preventDefault(), action.move !== void 0 && (active.value = action.move), action.choose && activeRun && page.change((view) => showOnly(view, { run: activeRun.run, member: null })), action.toggle && activeRun && page.change((view) => toggleOverlay(view, { run: activeRun.run, member: null })), action.clear && (query.value = ""), action.type !== void 0 && (query.value += action.type, root.current?.querySelector("input")?.focus()));
  };
  return h("aside", { class: "picker", ref: root, "aria-label": "Runs" }, h(ShownRuns, { page, perLine, shared }), h("div", { class: "search", onKeyDown }, h(
    "input",
    {
      type: "search",
      placeholder: `Search ${integer(offered.length)} ${offered.length === 1 ? "run" : "runs"}`,
      "aria-label": "Search runs",
      "aria-controls": "run-list",
      value: query.value,
      onInput: (event) => {
        query.value = event.currentTarget.value, active.value = 0;
      }
    }
  )), narrowed && h("p", { class: "note" }, everything.value ? "All runs. " : `Following ${selection.description}. `, h("button", { type: "button", class: "link", onClick: () => everything.value = !everything.value }, everything.value ? `Follow ${selection.description}` : `Show all ${integer(runs.length)}`)), h(
    List,
    {
      page,
      found,
      active: activeIndex,
      rowHeight: long ? 46 : 32,
      onKeyDown,
      onActive: (i) => active.value = i,
      onHover: (run) => hovered.value = run,
      label: (run) => shorten(visible(run.run), shared, long ? perLine * 2 - 2 : perLine)
    }
  ), h("p", { class: "full-name", "aria-hidden": "true" }, hovered.value !== null ? visible(hovered.value) : activeRun ? visible(activeRun.run) : query.value ? "No run matches." : ""), h("p", { class: "note keys" }, "↑ ↓ move · Enter show · Space overlay"));
}
function List({ page, found, active, rowHeight, label, onKeyDown, onActive, onHover }) {
  let scroll = useSignal(0), height = useSignal(400), box = useRef(null), inner = useRef(null);
  useEffect(() => {
    let observer = new ResizeObserver(() => height.value = box.current?.clientHeight ?? 400);
    return observer.observe(box.current), () => observer.disconnect();
  }, []), useLayoutEffect(() => {
    let element = box.current, top = active * rowHeight;
    top < element.scrollTop ? element.scrollTop = top : top + rowHeight > element.scrollTop + element.clientHeight && (element.scrollTop = top + rowHeight - element.clientHeight);
  }, [active, rowHeight]);
  let [from, to] = windowOf(scroll.value, height.value, rowHeight, found.length);
  useLayoutEffect(
    () => inner.current?.style.setProperty("--height", `${found.length * rowHeight}px`),
    [found.length, rowHeight]
  );
  let shown = page.shown.value;
  return h(
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
      onScroll: (event) => scroll.value = event.currentTarget.scrollTop
    },
    h("div", { class: "run-list-inner", ref: inner }, found.slice(from, to).map((run, k) => h(
      Row,
      {
        key: run.run,
        page,
        run,
        index: from + k,
        active: from + k === active,
        rowHeight,
        label: label(run),
        entry: shown.find((s) => s.run.run === run.run),
        total: found.length,
        onActive,
        onHover
      }
    )))
  );
}
function Row({ page, run, index, total, active, rowHeight, label, entry, onActive, onHover }) {
  let place = (element) => {
    element?.style.setProperty("--top", `${index * rowHeight}px`), element?.style.setProperty("--height", `${rowHeight}px`);
  }, only = () => {
    onActive(index), page.change((view) => showOnly(view, { run: run.run, member: null }));
  }, overlay = (event) => {
    event.stopPropagation(), onActive(index), page.change((view) => toggleOverlay(view, { run: run.run, member: null }));
  }, full = !entry && page.shown.value.length >= 8;
  return h(
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
      onMouseEnter: () => onHover(run.run),
      onMouseLeave: () => onHover(null)
    },
    h(
      "span",
      {
        class: `overlay ${full ? "full" : ""}`,
        "aria-hidden": "true",
        title: entry ? "Take away" : full ? `At most ${8} at once` : "Lay over the others",
        onClick: overlay
      },
      entry ? h(Swatch, { color: RUN_COLORS[entry.color % RUN_COLORS.length] }) : h("span", { class: "empty-swatch" })
    ),
    h(Name, { text: run.run }, label),
    run.members.length > 1 && h("small", null, run.members.length, " ", run.members.every((m) => m.rank === 0) ? "writers" : "ranks")
  );
}

// src/views/stages.tsx
var HEIGHT = 240;
function Stages({ page }) {
  let full = useSignal(!1), { stageMode: mode } = page.view.value, { data } = page.stages.value, [answer] = data?.data ?? [], origin = page.origin.value, marks = pageMarks(page), model = useMemo(
    () => answer && stagesModel(answer, mode, marks, origin, full.value),
    [answer, page.marks.value.data, mode, origin, full.value]
  ), several = page.shown.value.length > 1;
  return h(
    Panel,
    {
      id: "stages",
      title: "Stages",
      note: answer && h(Fragment, null, several && h(Fragment, null, "of ", h(Name, { text: data.shown[0].label }), ",", " "), "mean time per step, ", answer.clock, " clock"),
      table: answer?.stages.length ? () => h(Table, { page, answer }) : null,
      controls: h(Fragment, null, h(FullRange, { full, limits: model?.limits }), h(
        Segmented,
        {
          label: "Show stages as",
          value: mode,
          onChange: (stageMode) => page.change((v) => ({ ...v, stageMode })),
          options: [
            { value: "stacked", text: "Stacked" },
            { value: "lines", text: "Lines" },
            { value: "share", text: "Share of step" }
          ]
        }
      ))
    },
    model && answer ? h(Fragment, null, h(
      PageChart,
      {
        page,
        model,
        height: HEIGHT,
        stops: placeBins(answer.axis, answer.sample, origin).x,
        summary: words(page.summary.value.data?.data[0])
      }
    ), answer.stages.length === 0 && h("p", { class: "note" }, "No stage is labelled. ", h("code", null, 'with perf.stage("forward"):'), " in the loop shows where the time goes."), h(StageLegend, { page, answer })) : h(ChartSkeleton, { height: HEIGHT, failed: page.stages.value.error !== null })
  );
}
function words(summary) {
  if (!summary?.stages.length) return "Time per step; no stage is labelled.";
  let parts = summary.stages.slice(0, 5).map((stage) => `${visible(stage.stage)} ${time(stage.mean_ms)}`);
  return `Mean time per step by stage: ${list(parts)}. ${percent(summary.unlabelled.of_step)} of the step is not labelled.`;
}
function StageLegend({ page, answer }) {
  let { at } = underCursor(page, answer), series = stageSeries(answer), value = (values) => at >= 0 ? values[at] : overall(values, answer.num_steps), step2 = value(series.total), item = (key, text2, look2, values) => {
    let mean = value(values);
    return { key, text: text2, ...look2, value: `${time(mean)} · ${percent(mean === null || !step2 ? null : mean / step2)}` };
  }, items = series.names.map((name, i) => item(`s${name}`, h(Name, { text: name }), stageColor(i), series.means[i]));
  return items.push(item("rest", "not labelled", UNLABELLED, series.unlabelled)), h(Legend, { items, when: at >= 0 ? binName(answer, at) : "all steps in view: mean · share of step" });
}
function Table({ page, answer }) {
  let series = stageSeries(answer);
  return h(
    DataTable,
    {
      page,
      caption: "Mean time per step by stage",
      answer,
      head: [...series.names.map(visible), "not labelled", "step time"],
      cells: (i) => [...series.means, series.unlabelled, series.total].map((mean) => time(mean[i]))
    }
  );
}

// src/views/words.ts
function headline(summary, clock2) {
  let { p50, p95 } = statsOf(summary, clock2);
  if (p50 === null || p95 === null) return noStatistics(summary);
  let typical = `A typical step takes ${time(p50)}; 1 in 20 takes longer than ${time(p95)}.`, [first] = summary.stages;
  return !first || first.share === null ? `${typical} No stages are labelled.` : `${typical} Most labelled time is in ${visible(first.stage)} (${percent(first.share)}).`;
}
function statsOf(summary, clock2) {
  return clock2 === "device" && summary.device_step_time_ms || summary.step_time_ms;
}
function noStatistics({ sample }) {
  return sample.num_in_range === 0 ? "No step lies in this range." : `All ${count(sample.num_in_range, "step")} in this range are left out of the statistics (${leftOutWords(sample.left_out)}).`;
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
  let words2 = [`${integer(sample.num_used)} of ${count(sample.num_in_range, "step")} in view used`], left = leftOutWords(sample.left_out);
  return left && words2.push(`left out: ${left}`), words2.push(`${integer(sample.num_read)} of ${integer(sample.num_written)} written steps read`), warmup.num_steps && words2.push(`warm-up: ${count(warmup.num_steps, "step")}, ${duration(warmup.total_ms)}`), excluded.num_steps && words2.push(`excluded activity: ${duration(excluded.total_ms)} in ${count(excluded.num_steps, "step")}`), sample.num_superseded && words2.push(`${count(sample.num_superseded, "step")} superseded by a later attempt`), words2;
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
  let words2 = [], { num_missing: missing } = summary.sample;
  if (missing && words2.push(`${count(missing, "row")} never arrived here (gaps in the log): nothing is averaged over them`), run.missing_ranks.length) {
    let ranks = list(run.missing_ranks.map(String));
    words2.push(`${run.missing_ranks.length === 1 ? "Rank" : "Ranks"} ${ranks} of ${run.world_size} wrote nothing`);
  }
  for (let [counter, number] of Object.entries(summary.counters))
    number > 0 && words2.push(COUNTERS[counter]?.(number) ?? `${counter}: ${integer(number)}`);
  return [...words2, ...run.notes.map((note) => note.replace(/\.$/, ""))];
}
function binWords(bands, bins, i) {
  let base = BigInt(bands.axis.base), absolute = (value2) => base + BigInt(Math.round(value2)), where = span(bands.axis.axis, absolute(bands.axis.start[i]), absolute(bands.axis.end[i]), bins.raw), value = (raw) => time(raw === null ? null : raw * bands.scale), out = bands.num_left_out[i];
  if (bands.num_steps[i] === 0)
    return `${where}: ${out ? `${count(out, "step")} left out, up to ${value(bands.left_out_max[i])}` : "no steps"}`;
  let at = bands.max_at[i], place = at == null ? "" : ` at ${span(bands.axis.axis, absolute(at), absolute(at), !0).replace(/^at /, "")}`, left = out ? `; ${integer(out)} left out` : "";
  if (bins.raw) return `${where}: ${value(bands.max[i])}`;
  if (bands.num_steps[i] === 1) return `${where}: ${value(bands.max[i])}${place}${left}`;
  let quantiles = bands.percentiles.map(
    (p, k) => `${p === 50 ? "median" : `p${p}`} ${value(bands.quantiles[k][i])}`
  );
  return `${where}: ${quantiles.join(", ")}, max ${value(bands.max[i])}${place}${left}`;
}
function stepTimeSummary(summary, label) {
  if (!summary) return `Step time of ${visible(label)}.`;
  let { p50, p95, max: max2, max_step: at } = summary.step_time_ms;
  return `Step time of ${visible(label)}: median ${time(p50)}, p95 ${time(p95)}, longest ${time(max2)}${at === null ? "" : ` at step ${integer(at)}`}.`;
}

// src/views/step-time.tsx
var HEIGHT2 = 300;
function StepTime({ page }) {
  let full = useSignal(!1), view = page.view.value, { data } = page.bands.value, marks = pageMarks(page), origin = page.origin.value, model = useMemo(
    () => data && bandsModel(data, marks, {
      origin,
      showMax: view.showMax,
      showLeftOut: view.showLeftOut,
      yScale: view.yScale,
      full: full.value
    }),
    [data, page.marks.value.data, origin, view.showMax, view.showLeftOut, view.yScale, full.value]
  ), [first] = data?.data ?? [], clipped = model?.limits?.clipped ?? !1;
  return h(
    Panel,
    {
      id: "step-time",
      title: "Step time",
      note: first && h(Clock, { bands: first }),
      table: first ? () => h(Table2, { page, bands: first }) : null,
      controls: h(Fragment, null, view.yScale !== "log" && h(FullRange, { full, limits: model?.limits }), h(
        Segmented,
        {
          label: "Y axis",
          value: view.yScale,
          onChange: (yScale) => page.change((v) => ({ ...v, yScale })),
          options: [
            { value: "fit", text: "Fit" },
            { value: "zero", text: "From 0" },
            { value: "log", text: "Log" }
          ]
        }
      ))
    },
    data && h(Readout, { page, data }),
    model && first ? h(
      PageChart,
      {
        page,
        model,
        height: HEIGHT2,
        markNames: !0,
        reportsWidth: !0,
        stops: placeBins(first.axis, first.sample, origin).x,
        summary: stepTimeSummary(page.summary.value.data?.data[0], data.shown[0].label)
      }
    ) : h(
      ChartSkeleton,
      {
        height: HEIGHT2,
        onWidth: (width2) => page.chartWidth.value = width2,
        failed: page.bands.value.error !== null
      }
    ),
    data && first && h(Key, { data, bands: first, page, clipped }),
    h(Events, { page })
  );
}
function Clock({ bands }) {
  return h(Fragment, null, bands.clock === "device" ? "device clock" : "host clock", ", per step", bands.sample.num_in_range === bands.axis.start.length ? ", every step drawn" : `, ${integer(bands.axis.start.length)} bins`);
}
function Readout({ page, data }) {
  let several = data.data.length > 1, lines = data.data.map((bands) => {
    let { bins, at } = underCursor(page, bands);
    return at < 0 ? null : binWords(bands, bins, at);
  }), empty = lines.every((line) => line === null);
  return h("div", { class: `readout ${several ? "several" : ""}`, "aria-live": "polite" }, empty ? h("span", { class: "note" }, "Move over a chart to read values, drag to zoom; with the keyboard: arrows, Shift + arrows, Enter.") : lines.map((line, n) => h("p", { key: n }, several && h(Swatch, { color: RUN_COLORS[data.shown[n].color % RUN_COLORS.length] }), line ?? "no steps here")));
}
function Key({ data, bands, page, clipped }) {
  let { showMax, showLeftOut } = page.view.value, leftOut = data.data.some((answer) => answer.num_left_out.some((n) => n > 0)), raw = bands.sample.num_in_range === bands.axis.start.length;
  return h("ul", { class: "key" }, data.data.length > 1 ? data.shown.map((entry) => h("li", { key: entry.label }, h(Swatch, { color: RUN_COLORS[entry.color % RUN_COLORS.length] }), h(Name, { text: entry.label }))) : !raw && h(Curves, { percentiles: bands.percentiles }), h("li", null, h("span", { class: "glyph line", "aria-hidden": "true" }), raw ? "step time" : "median"), showMax && !raw && h("li", null, h("span", { class: "glyph dot", "aria-hidden": "true" }), "longest step, where it stands out"), clipped && h("li", null, h("span", { class: "glyph triangle", "aria-hidden": "true" }), "above the axis, with its value"), showLeftOut && leftOut && h("li", null, h("span", { class: "glyph ring", "aria-hidden": "true" }), "left out of the statistics"), h(MarkKey, { page }));
}
var DASH_NAMES = ["solid", "dashed", "dotted", "dash-dotted"];
function Curves({ percentiles }) {
  let { pairs, singles } = roles(percentiles), name = (index) => `p${percentiles[index]}`;
  return h(Fragment, null, pairs.length > 0 && h("li", null, h("span", { class: "glyph band", "aria-hidden": "true" }), pairs.map(([low, high]) => `${name(low)}–${name(high)}`).join(", ")), singles.length > 0 && h("li", null, h("span", { class: "glyph thin", "aria-hidden": "true" }), singles.map((index, i) => singles.length > 1 ? `${name(index)} ${DASH_NAMES[i % 4]}` : name(index)).join(", ")));
}
function MarkKey({ page }) {
  let counts = page.marks.value.data?.data[0]?.num_marks ?? {};
  return h(Fragment, null, Object.entries(counts).map(([kind, number]) => h("li", { key: kind }, h(
    "span",
    {
      class: `glyph ${isRange(kind) ? "range" : "marker"}`,
      ref: (element) => element?.style.setProperty("--swatch", `var(${MARK_COLORS[kind]})`),
      "aria-hidden": "true"
    }
  ), MARK_NAMES[kind] ?? kind, " × ", integer(number))));
}
function Events({ page }) {
  let [marks] = page.marks.value.data?.data ?? [];
  if (!marks?.marks.length) return null;
  let several = page.shown.value.length > 1, base = BigInt(marks.base), total = Object.values(marks.num_marks).reduce((a, b) => a + b, 0);
  return h("details", { class: "events" }, h("summary", null, integer(total), " ", total === 1 ? "event" : "events", " in this range", several && h(Fragment, null, " ", "of ", h(Name, { text: page.shown.value[0].label }))), h("ul", null, marks.marks.toSorted((a, b) => a.start - b.start).map((mark) => h("li", { key: `${mark.kind} ${mark.start} ${mark.label}` }, h("span", { class: "when" }, marks.axis === "step" ? "step " : "", position(marks.axis, base + BigInt(Math.round(mark.start)))), " ", sentence(mark.label))), marks.num_left_out > 0 && h("li", null, "… and ", integer(marks.num_left_out), " shorter ones.")));
}
function Table2({ page, bands }) {
  let value = (raw) => time(raw == null ? null : raw * bands.scale);
  return h(
    DataTable,
    {
      page,
      caption: "Step time",
      answer: bands,
      head: [
        ...bands.percentiles.map((p) => p === 50 ? "median" : `p${p}`),
        "shortest",
        "longest",
        "steps used",
        "left out"
      ],
      cells: (i) => [
        ...[...bands.quantiles, bands.min, bands.max].map((values) => value(values[i])),
        integer(bands.num_steps[i]),
        integer(bands.num_left_out[i])
      ]
    }
  );
}

// src/views/throughput.tsx
function Throughput({ page }) {
  let chosen = useSignal(null), { data } = page.throughput.value, columns = [...new Set(data?.data.flatMap((answer) => answer.series.map(({ column: column2 }) => column2)))], column = columns.find((name) => name === chosen.value) ?? columns[0], origin = page.origin.value, marks = pageMarks(page), model = useMemo(
    () => data && column ? throughputModel(data, column, marks, origin) : null,
    [data, page.marks.value.data, column, origin]
  ), summaries = page.summary.value.data?.data ?? [], whole = (n) => summaries[n]?.throughput[column === "num_tokens" ? "tokens_per_s" : "samples_per_s"];
  return h(
    LinePanel,
    {
      page,
      id: "throughput",
      title: "Throughput",
      height: 160,
      note: data?.data[0]?.definition,
      loaded: page.throughput.value,
      model,
      controls: columns.length > 1 && h(
        Segmented,
        {
          label: "Count",
          value: column,
          onChange: (name) => chosen.value = name,
          options: columns.map((value) => ({ value, text: sentence(columnLabel(value)) }))
        }
      ),
      otherwise: "No sample or token counts were given to perf.step(num_samples=…).",
      when: "all steps in view",
      summary: `Throughput: ${rate(whole(0), column === "num_tokens" ? "tokens/s" : "samples/s")}.`,
      legend: (answer, n, at) => answer.series.filter((series) => series.column === column).map((series) => ({
        key: String(n),
        color: look(data, n, 0).color,
        text: h(Name, { text: data.shown[n].label }),
        value: rate(at >= 0 ? series.value[at] : whole(n), series.unit)
      })),
      table: {
        head: (answer) => answer.series.map(({ unit }) => unit),
        cells: (answer, i) => answer.series.map(({ value, unit }) => rate(value[i], unit))
      }
    }
  );
}

// src/views/toolbar.tsx
var FLAGS = [
  { flag: "warmup", text: "Warm-up steps" },
  { flag: "profiled", text: "Profiled steps" },
  { flag: "restart", text: "First step of each attempt" }
];
function Toolbar({ page }) {
  let view = page.view.value, device = page.shown.value.some(hasDevice);
  return h("div", { class: "toolbar", role: "toolbar", "aria-label": "View" }, h(
    Segmented,
    {
      label: "X axis",
      value: view.axis,
      onChange: (axis) => page.change((v) => chooseAxis(v, axis)),
      options: [
        { value: "step", text: "Step" },
        {
          value: "relative",
          text: "Relative",
          hint: "Measured time since the first step; pauses between attempts are not in it"
        },
        { value: "wall", text: "Wall time", hint: "Local time of this browser" }
      ]
    }
  ), device && h(
    Segmented,
    {
      label: "Clock",
      value: view.clock,
      onChange: (clock2) => page.change((v) => ({ ...v, clock: clock2 })),
      options: [
        { value: "host", text: "Host clock" },
        { value: "device", text: "Device clock" }
      ]
    }
  ), h(Percentiles, { page }), h(Menu, { label: view.include.length ? `Include: ${view.include.length} more` : "Include" }, h("p", { class: "note" }, "Left out of the statistics unless ticked:"), FLAGS.map(({ flag, text: text2 }) => h(
    Check,
    {
      key: flag,
      checked: view.include.includes(flag),
      onChange: () => page.change((v) => toggleInclude(v, flag))
    },
    text2
  ))), h(Zoom, { page }), h("span", { class: "spacer" }), h(Freshness, { page }), h(Downloads, { page }), h("div", { class: `progress ${page.loading.value ? "on" : ""}`, "aria-hidden": "true" }));
}
function Percentiles({ page }) {
  let view = page.view.value, text2 = useSignal(null), preset = PRESETS.find(({ percentiles }) => percentiles.join() === view.percentiles.join()), parsed = text2.value === null ? null : cleanPercentiles(
    text2.value.split(/[\s,;]+/).filter(Boolean).map(Number)
  );
  return h(Menu, { label: `Percentiles: ${preset?.name ?? view.percentiles.join(", ")}` }, h("div", { class: "menu-list" }, PRESETS.map(({ name, percentiles }) => h(
    "button",
    {
      key: name,
      type: "button",
      class: "choice",
      "aria-pressed": preset?.name === name,
      onClick: () => {
        text2.value = null, page.change((v) => ({ ...v, percentiles }));
      }
    },
    name,
    " ",
    h("small", null, percentiles.join(", "))
  ))), h("label", { class: "field" }, "Own set", h(
    "input",
    {
      type: "text",
      inputMode: "decimal",
      value: text2.value ?? view.percentiles.join(", "),
      "aria-invalid": text2.value !== null && !parsed,
      onInput: (event) => text2.value = event.currentTarget.value,
      onChange: () => {
        parsed && (page.change((v) => ({ ...v, percentiles: parsed })), text2.value = null);
      }
    }
  )), h("p", { class: "note" }, text2.value !== null && !parsed ? "Up to nine numbers from 0 to 100." : "Pairs such as 5 and 95 become bands."), h(Check, { checked: view.showMax, onChange: () => page.change((v) => ({ ...v, showMax: !v.showMax })) }, "Longest step of each bin"), h(Check, { checked: view.showLeftOut, onChange: () => page.change((v) => ({ ...v, showLeftOut: !v.showLeftOut })) }, "Steps that were left out"));
}
function Zoom({ page }) {
  let { range, axis } = page.view.value;
  if (!range) return null;
  let end = BigInt(range.end) - (axis === "step" ? 1n : 0n);
  return h("span", { class: "zoom" }, h("span", null, axis === "step" ? "Steps " : "", position(axis, BigInt(range.start)), " – ", position(axis, end)), h("button", { type: "button", class: "button", onClick: () => page.resetZoom() }, "Whole run"));
}
function Freshness({ page }) {
  return h("span", { class: "freshness" }, page.live.value && h("span", { class: "live" }, "live"), h(
    "button",
    {
      type: "button",
      class: "button quiet refresh",
      onClick: () => {
        page.retry();
      },
      "aria-busy": page.loading.value,
      "aria-label": "Refresh",
      title: "Ask for new data now"
    },
    "↻"
  ));
}
function Downloads({ page }) {
  let links = [
    { text: "Steps in view as CSV", url: page.downloadUrl("samples", { format: "csv" }), name: "steps.csv" },
    { text: "Steps in view as JSON", url: page.downloadUrl("samples", { format: "json" }), name: "steps.json" },
    { text: "Bins as drawn, JSON", url: page.downloadUrl("bands", {}), name: "bins.json" }
  ];
  return h(Menu, { label: "Download" }, h("div", { class: "menu-list" }, links.map(
    ({ text: text2, url, name }) => url && h("a", { key: text2, class: "choice", href: url, download: name }, text2)
  )), h("p", { class: "note" }, "Raw rows with their flags, of the first run shown."));
}

// src/views/verdict.tsx
function Verdict({ page }) {
  let { data } = page.summary.value, [first] = data?.data ?? [];
  return !data || !first ? h("section", { class: "verdict skeleton", "aria-label": "Loading the summary" }) : h("section", { class: "verdict", "aria-label": "Summary" }, data.data.length === 1 ? h(Single, { summary: first, label: data.shown[0].label, clock: page.view.value.clock }) : h(Several, { shown: data.shown, summaries: data.data, page }), h("p", { class: "evidence" }, h(RangeWords, { page }), data.data.length === 1 && evidence(first).map((words2) => h("span", { key: words2 }, sentence(words2)))), h(Warnings, { shown: data.shown, summaries: data.data }));
}
function RangeWords({ page }) {
  let { range, axis } = page.view.value;
  return range ? h("span", { class: "zoomed" }, "Only ", axis === "step" ? "steps" : "", " ", position(axis, BigInt(range.start)), " to", " ", position(axis, BigInt(range.end) - (axis === "step" ? 1n : 0n))) : h("span", null, "Whole run");
}
function tiles(summary, clock2) {
  let stats = statsOf(summary, clock2), peak = summary.peaks[0], { samples_per_s: samples, tokens_per_s: tokens } = summary.throughput, speed = samples !== null ? rate(samples, "samples/s") : rate(tokens, "tokens/s");
  return [
    { label: "Median step", value: time(stats.p50), sub: `mean ${time(stats.mean)}` },
    { label: "p95", value: time(stats.p95), sub: ratio(stats.p95, stats.p50) },
    { label: "p99", value: time(stats.p99), sub: ratio(stats.p99, stats.p50) },
    { label: "Longest", value: time(stats.max), sub: stats.max_step === null ? "" : `step ${integer(stats.max_step)}` },
    { label: "Coverage", value: percent(summary.coverage), sub: "of step labelled" },
    {
      label: peak ? sentence(columnLabel(peak.column)) : "Peak memory",
      value: bytes(peak?.value),
      sub: peak && peak.step !== null ? `step ${integer(peak.step)}` : "not measured"
    },
    {
      label: "Throughput",
      value: speed,
      sub: samples !== null && tokens !== null ? rate(tokens, "tokens/s") : speed === "–" ? "no counts given" : "of this process"
    }
  ];
}
function ratio(value, median) {
  return value === null || median === null || median === 0 ? "" : `${(value / median).toFixed(2)} × median`;
}
function Single({ summary, label, clock: clock2 }) {
  return h(Fragment, null, h("p", { class: "eyebrow" }, h(Name, { text: label }), statsOf(summary, clock2) === summary.device_step_time_ms && ", device clock"), h("p", { class: "headline" }, headline(summary, clock2)), h("dl", { class: "tiles" }, tiles(summary, clock2).map(({ label: label2, value, sub }) => h("div", { key: label2 }, h("dt", null, label2), h("dd", null, h(Value, { text: value }), h("small", null, sub || " "))))));
}
function Value({ text: text2 }) {
  let [, number = text2, unit = ""] = /^(\S+)(\s.*)?$/.exec(text2) ?? [];
  return h("b", null, number, unit && h("span", { class: "unit" }, unit));
}
function Several({ shown, summaries, page }) {
  let { clock: clock2 } = page.view.value, median = statsOf(summaries[0], clock2).p50;
  return h("div", { class: "table-scroll flat" }, h("table", { class: "runs-table" }, h("caption", { class: "hidden" }, "Summary of each run that is shown"), h("thead", null, h("tr", null, ["Run", "Median", "p95", "p99", "Longest", "Coverage", "Peak memory", "Throughput", "Steps used"].map(
    (text2) => h("th", { key: text2, scope: "col" }, text2)
  ))), h("tbody", null, summaries.map((summary, i) => {
    let [p50, p95, p99, max2, coverage, peak, speed] = tiles(summary, clock2), entry = shown[i];
    return h("tr", { key: entry.label }, h("th", { scope: "row" }, h(
      "button",
      {
        type: "button",
        class: "link",
        onClick: () => page.change((view) => makePrimary(view, i)),
        title: "Make this the first run"
      },
      h(Swatch, { color: RUN_COLORS[entry.color % RUN_COLORS.length] }),
      h(Name, { text: entry.label })
    )), h("td", null, p50.value, " ", h("small", null, i === 0 ? "compared with" : difference(statsOf(summary, clock2).p50, median))), h("td", null, p95.value), h("td", null, p99.value), h("td", null, max2.value, " ", h("small", null, max2.sub)), h("td", null, coverage.value), h("td", null, peak.value), h("td", null, speed.value), h("td", null, integer(summary.sample.num_used), " ", h("small", null, "of ", integer(summary.sample.num_in_range))));
  }))));
}
function difference(value, reference) {
  if (value === null || reference === null || reference === 0) return "–";
  let change = (value / reference - 1) * 100, text2 = Math.abs(change) < 10 ? Math.abs(change).toFixed(1) : Math.abs(change).toFixed(0);
  return `${change < 0 ? "−" : "+"}${text2} %`;
}
function Warnings({ shown, summaries }) {
  let several = summaries.length > 1, all = summaries.flatMap(
    (summary, i) => warnings(summary, shown[i]).map((text2) => ({ text: text2, label: shown[i].label }))
  );
  return all.length ? h("ul", { class: "warnings", "aria-label": "Limits of these numbers" }, all.map(({ text: text2, label }) => h("li", { key: label + text2 }, several && h(Fragment, null, h(Name, { text: label }), ":", " "), several ? text2 : sentence(text2), "."))) : null;
}

// src/views/app.tsx
var hasChoice = ({ runs }) => runs.length > 1 || runs.some((run) => run.members.length > 1);
function App({ page }) {
  let { data: catalog } = page.catalog.state.value, banner = h(ErrorBanner, { errors: page.errors.value, onRetry: () => {
    page.retry();
  } });
  return catalog ? catalog.runs.length ? h("div", { class: "layout" }, hasChoice(catalog) && h(RunPicker, { page }), h("main", { class: "content" }, h(Toolbar, { page }), banner, h(Problems, { catalog }), page.readable.value.length ? h(Panels, { page }) : h("p", { class: "failed" }, "No step of this run can be read yet."))) : h(Fragment, null, banner, h(Empty, { catalog })) : h("main", { class: "content start" }, banner, !page.errors.value.length && [90, 300, 240].map((height) => h(ChartSkeleton, { key: height, height })));
}
function Panels({ page }) {
  return h(Fragment, null, h(Verdict, { page }), h(StepTime, { page }), h(Stages, { page }), h(Memory, { page }), h(Throughput, { page }), h(Conditions, { page }));
}

// src/index.tsx
async function render2() {
  document.documentElement.lang = "en", document.title = "Step performance", followTheme(window);
  let host = connect(window), [pairs] = await Promise.all([host.readState(), loadStyle(new URL("./style.css", import.meta.url).href)]), page = new Page(new Client(import.meta.url), fromPairs(pairs)), address = addressWindow(window), readSelection = () => page.hostSelection.value = address === window ? null : hostSelection(address.location.search, address.location.hash);
  readSelection(), host.onDataReloaded(readSelection), address.addEventListener("hashchange", () => {
    readSelection();
    let next = readHash(address.location.hash);
    JSON.stringify(next) !== JSON.stringify(toPairs(page.view.peek())) && Object.keys(next).length && (page.view.value = fromPairs(next));
  });
  let root = document.createElement("div");
  root.id = "stepperf", document.body.append(root), render(h(App, { page }), root), page.start(), keepFresh(page, host, window), await page.refresh(), effect(() => {
    let pairs2 = toPairs(page.view.value);
    page.shown.value.length && replaceAddress(address, pairs2);
  });
}
function loadStyle(href) {
  return new Promise((resolve2) => {
    let link = document.createElement("link");
    link.rel = "stylesheet", link.href = href, link.onload = link.onerror = () => resolve2(), document.head.append(link);
  });
}
export {
  render2 as render
};
