"""Changes whose stages are planted, in stages as real training has them.

Every case draws shares of the stages, noise of each stage (with memory), noise that all stages have in common, stalls
in a random stage, a stage that runs rarely, and sizes; then plants one kind of change.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from pairs_series import _ar

from tb_stepperf.statistics.attribution import UNLABELLED, StageSample

KINDS = ("one stage", "two stages", "unlabelled", "uniform", "compute", "new stage", "nothing", "more work")
STAGES = ("data", "forward", "backward", "optimizer")


@dataclasses.dataclass(frozen=True, eq=False)
class Case:
    """A planted change.

    Attributes:
        before, after: the two sides.
        outcome: "blamed", "uniform" or "nothing".
        culprits: planted parts, the largest change first.
        vanishes_per: "token" where the change is only more work a step.
    """

    before: StageSample
    after: StageSample
    outcome: str
    culprits: tuple[str, ...]
    vanishes_per: str | None


def draw_case(kind: str, seed: int) -> Case:
    """Draws a case of a kind: 200 to 3,000 steps a side, a total change of 2 to 30 %."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    step_ms = float(np.exp(rng.uniform(np.log(5), np.log(2000))))
    shares = dict(zip((*STAGES, UNLABELLED), rng.dirichlet([1.5, 4, 6, 2, 0.7])))
    if kind == "compute":
        # What did not move must be a part of the step that one can see; else the change is uniform in effect.
        shares = {**{name: 0.75 * share for name, share in shares.items()}, "data": 0.75 * shares["data"] + 0.25}
    typical = {name: share * step_ms for name, share in shares.items()}
    noise = {name: float(np.exp(rng.uniform(-5, -2.5))) for name in typical}
    memory = {name: float(rng.choice([0.0, 0.3, 0.7, 0.9])) for name in typical}
    common = float(np.exp(rng.uniform(-6, -3.5)))
    sizes = [int(size) for size in np.exp(rng.uniform(np.log(200), np.log(3000), 2))]
    factors, culprits, outcome = _planted(kind, rng, typical, step_ms)
    stall_rate, rare = rng.uniform(0, 0.01), rng.random() < 0.5
    sides = []
    for num_steps, applied in zip(sizes, ({}, factors)):
        shared = np.exp(_ar(rng, num_steps, 0.7, common))
        parts = {
            name: ms * applied.get(name, 1.0) * shared * np.exp(_ar(rng, num_steps, memory[name], noise[name]))
            for name, ms in typical.items()
        }
        if "checkpoint sync" in applied:
            parts["checkpoint sync"] = applied["checkpoint sync"] * np.exp(_ar(rng, num_steps, 0.3, 0.05))
        victim = rng.choice(STAGES)
        stalls = rng.random(num_steps) < stall_rate
        parts[victim] = parts[victim] + stalls * step_ms * rng.pareto(2.0, num_steps)
        if rare:
            parts["log"] = np.where(np.arange(num_steps) % 50 == 0, 0.2 * step_ms, 0.0)
        tokens = np.full(num_steps, 4096.0) * (applied.get("tokens", 1.0))
        step_time_ms = sum(parts.values())
        stages = {name: series for name, series in parts.items() if name != UNLABELLED}
        sides.append(StageSample(step_time_ms, stages, num_tokens=tokens))
    return Case(*sides, outcome, culprits, "token" if kind == "more work" else None)


def _planted(
    kind: str, rng: np.random.Generator, typical: dict[str, float], step_ms: float
) -> tuple[dict[str, float], tuple[str, ...], str]:
    """Factors of the stages after the change, the culprits and the outcome."""
    total_ms = step_ms * rng.uniform(0.02, 0.3)
    if kind == "nothing":
        return {}, (), "nothing"
    if kind == "uniform":
        factor = 1 + total_ms / step_ms
        return dict.fromkeys(typical, factor), (), "uniform"
    if kind == "more work":
        factor = 1 + total_ms / step_ms
        return {**dict.fromkeys(typical, factor), "tokens": factor}, (), "uniform"
    if kind == "new stage":
        return {"checkpoint sync": total_ms}, ("checkpoint sync",), "blamed"
    if kind == "compute":
        names = ["forward", "backward", "optimizer"]
        whole = sum(typical[name] for name in names)
        # Shares of 15 % of a change and less are not blamed on purpose; such a draw is scored on the others.
        blamed = sorted((n for n in names if typical[n] / whole >= 0.2), key=lambda name: -typical[name])
        small = [n for n in names if typical[n] / whole < 0.2]
        whole = sum(typical[name] for name in blamed)
        factor = 1 + total_ms / whole
        return {name: factor for name in names if name not in small}, tuple(blamed), "blamed"
    if kind == "two stages":
        first, second = rng.choice(STAGES, 2, replace=False)
        part = rng.uniform(0.58, 0.72)
        factors = {first: 1 + part * total_ms / typical[first], second: 1 + (1 - part) * total_ms / typical[second]}
        return factors, (str(first), str(second)), "blamed"
    culprit = UNLABELLED if kind == "unlabelled" else str(rng.choice(STAGES))
    return {culprit: 1 + total_ms / typical[culprit]}, (culprit,), "blamed"
