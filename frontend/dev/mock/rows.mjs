// Invented rows of a run, always the same for the same options: the raw material of the development page.

export const FLAGS = { warmup: 1, profiled: 2, excluded: 4, restart: 64, interrupted: 256 };

/** A small generator of uniform numbers in [0, 1). */
export function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

function added({ from, to = Infinity, kind, stage, ms, often = 1 }, name, i, next) {
  if (i < from || (stage !== "*" && stage !== name)) return 0;
  if (kind === "ramp") return ms * Math.min(1, (i - from) / (to - from));
  return i < to && (often === 1 || next() < often) ? ms * (0.85 + 0.3 * next()) : 0;
}

const STAGES = { data_wait: 0.8, forward: 4, backward: 4.2, optimizer: 0.9 };

/**
 * Rows of one member.
 *
 * `effects`: [from, to) rows in which `stage` ("*": each) takes `ms` longer, at once or as a `ramp` up to `to`, or in a
 * share of the rows (`often`); with a `kind`, /markers knows of it. `spikes`: row → ms added. `profiled`:
 * [start, end) rows. `excludedEvery`: every so many rows an evaluation of 2.5 s. `attempts`: rows at which a new
 * attempt begins, with the pause before it in ms. `missing`: [start, end) rows that never arrived.
 */
export function makeRows(options = {}) {
  const o = {
    num: 12000,
    seed: 1,
    baseStep: 0n,
    stride: 1,
    scale: 1,
    noise: 0.05,
    effects: [],
    spikes: {},
    profiled: null,
    excludedEvery: 0,
    attempts: [],
    missing: [],
    warmup: 10,
    stages: STAGES,
    started: 1_700_000_000_000,
    samples: 32,
    leak: 0,
    allocated: false,
    device: false,
    interrupted: [],
    ...options,
  };
  const next = random(o.seed);
  const normal = () => next() + next() + next() + next() - 2;
  const rows = [];
  let wall = o.started;
  let sinceStart = 0;
  let attempt = 0;
  for (let i = 0; i < o.num; i++) {
    const restart = o.attempts.find((a) => a.at === i);
    let flags = 0;
    if (restart) {
      wall += restart.pauseMs;
      sinceStart = 0;
      attempt += 1;
    }
    if (sinceStart === 0) flags |= FLAGS.restart;
    if (sinceStart < o.warmup) flags |= FLAGS.warmup;
    const profiled = o.profiled && i >= o.profiled[0] && i < o.profiled[1];
    if (profiled) flags |= FLAGS.profiled;
    const slow = (sinceStart < o.warmup ? 1 + 40 / (sinceStart + 1) ** 2 : 1) * (profiled ? 1.9 : 1);
    const stages = {};
    let labelled = 0;
    for (const [name, ms] of Object.entries(o.stages)) {
      let value = ms * o.scale * slow * Math.max(0.2, 1 + o.noise * normal() * (name === "data_wait" ? 8 : 1));
      for (const effect of o.effects) value += added(effect, name, i, next);
      stages[name] = value;
      labelled += value;
    }
    if (next() < 0.004) {
      const tail = o.scale * (2 + 6 * next());
      stages.backward = (stages.backward ?? 0) + tail;
      labelled += tail;
    }
    const rest = 0.09 * o.scale * (0.8 + 0.4 * next()) + (o.spikes[i] ?? 0);
    let excluded = 0;
    if (o.excludedEvery && i > 0 && i % o.excludedEvery === 0) {
      excluded = 2500 + 400 * next();
      flags |= FLAGS.excluded;
    }
    if (o.interrupted.includes(i)) flags |= FLAGS.interrupted;
    const step = labelled + rest;
    wall += step + excluded;
    const lost = o.missing.some(([a, b]) => i >= a && i < b);
    if (!lost) {
      const memory = 774 * 2 ** 20 + o.leak * i + 3e6 * next() + (profiled ? 90 * 2 ** 20 : 0);
      rows.push({
        step: o.baseStep + BigInt(i * o.stride),
        wall,
        stepMs: step,
        excludedMs: excluded,
        stages,
        flags,
        attempt,
        deviceMs: o.device ? step * 0.97 : null,
        numSamples: o.samples,
        numTokens: o.tokens ?? null,
        memory: o.allocated
          ? { peak_allocated_bytes: memory * 14, peak_reserved_bytes: memory * 16 + 2 ** 28 }
          : { peak_resident_bytes: i % 5 === 0 ? memory : null },
      });
    }
    sinceStart += 1;
  }
  return { options: o, rows };
}
