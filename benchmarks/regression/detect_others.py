"""What the suite does not ask: steps that make the run noisier, buckets whose mix changes, unequal evaluations.

PYTHONPATH=. python benchmarks/regression/detect_others.py
"""

from __future__ import annotations

import numpy as np

from tb_stepperf.statistics.changes import Change, find_changes

BUCKET_NOISES = ("equal", "slow", "unequal", "skewed", "unequal skewed", "slow unequal skewed")
"""What differs between buckets besides their level; `slow`: the mix changes evenly over the series, not at once."""


def noisier_step(seed: int) -> tuple[np.ndarray, int]:
    """A step of level of 10–25 %, after which the noise is two to four times larger; step times and the step."""
    rng = np.random.default_rng([seed, 23])
    num_steps = int(rng.integers(200, 500))
    step = int(num_steps * rng.uniform(0.3, 0.7))
    log_ms = rng.uniform(0.008, 0.03) * rng.standard_normal(num_steps)
    log_ms[step:] *= rng.uniform(2.0, 4.0)
    log_ms[step:] += np.log1p(rng.uniform(0.1, 0.25))
    return 100.0 * np.exp(log_ms), step


def mixed_buckets(seed: int, noise: str, planted: str) -> tuple[np.ndarray, np.ndarray, int]:
    """Two to five buckets whose shares change; with `planted` a step of +20 %, `elsewhere` or at the `same` place."""
    rng = np.random.default_rng([seed, 6])
    num_steps, num_buckets = int(rng.choice([400, 1000, 3000])), int(rng.integers(2, 6))
    levels = np.cumsum(rng.uniform(0.05, 0.4, num_buckets))
    turn = int(num_steps * rng.uniform(0.25, 0.75))
    first, second = rng.dirichlet(np.ones(num_buckets)), rng.dirichlet(np.ones(num_buckets))
    early, late = rng.choice(num_buckets, turn, p=first), rng.choice(num_buckets, num_steps - turn, p=second)
    bucket = np.concatenate([early, late])
    if noise.startswith("slow"):
        is_late = rng.random(num_steps) < np.linspace(0.0, 1.0, num_steps)
        late, early = rng.choice(num_buckets, num_steps, p=second), rng.choice(num_buckets, num_steps, p=first)
        bucket = np.where(is_late, late, early)
    sigma = np.full(num_buckets, 10 ** rng.uniform(-2.3, -1.3))
    if "unequal" in noise:
        sigma = sigma * rng.uniform(0.5, 3.0, num_buckets)
    shocks = rng.standard_normal(num_steps)
    if "skewed" in noise:
        shape = rng.uniform(1.5, 8.0, num_buckets)[bucket]
        shocks = (rng.gamma(shape) - shape) / np.sqrt(shape)
    log_ms = levels[bucket] + sigma[bucket] * shocks
    step = turn if planted == "same" else int(num_steps * rng.uniform(0.3, 0.7))
    if planted:
        log_ms[step:] += np.log(1.2)
    return 100.0 * np.exp(log_ms), bucket, step


def evaluations(seed: int) -> np.ndarray:
    """A quiet series with 6–14 slow stretches at equal distances, each of another height."""
    rng = np.random.default_rng([seed, 80])
    every = int(rng.integers(200, 800))
    num_steps = int(every * rng.uniform(6.0, 14.0))
    length = int(rng.integers(10, 60))
    log_ms = 10 ** rng.uniform(-2.3, -1.5) * rng.standard_normal(num_steps)
    for start in range(every, num_steps, every):
        log_ms[start : start + length] += rng.uniform(0.1, 0.5)
    return 100.0 * np.exp(log_ms)


def is_right(changes: tuple[Change, ...], step: int) -> bool:
    """Whether the only marker is a regression at the planted step."""
    return len(changes) == 1 and changes[0].kind == "regression" and abs(changes[0].step - step) <= 20


def main() -> None:
    """Prints one line a question."""
    num_slopes = 0
    for seed in range(500):
        step_time_ms, _ = noisier_step(seed)
        num_slopes += any(change.kind in ("ramp", "drift") for change in find_changes(step_time_ms))
    print(f"500 steps after which the noise is larger: {num_slopes} called a ramp or drift")
    cases = (("equal", "elsewhere"), ("unequal skewed", "elsewhere"), ("equal", "same"))
    num_right = 0
    for noise, planted in cases:
        for seed in range(40):
            step_time_ms, bucket, step = mixed_buckets(seed, noise, planted)
            num_right += is_right(find_changes(step_time_ms, bucket=bucket), step)
    print(f"120 series of buckets whose mix changes, with a step: {num_right} with exactly that marker")
    num_false = 0
    for noise in BUCKET_NOISES:
        for seed in range(40):
            step_time_ms, bucket, _ = mixed_buckets(seed, noise, "")
            num_false += len(find_changes(step_time_ms, bucket=bucket))
    print(f"240 such series without a step: {num_false} markers")
    num_false = sum(len(find_changes(evaluations(seed))) for seed in range(40))
    print(f"40 quiet series with evaluations that are not alike: {num_false} markers")


if __name__ == "__main__":
    main()
