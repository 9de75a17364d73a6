"""Trains one run of the demo: the loop that a reader of the README would write, with causes to plant."""

from __future__ import annotations

import argparse
import dataclasses
import io
import pathlib
import time

import torch
from torch.utils.data import DataLoader
from torch.utils.tensorboard import SummaryWriter

from demo.corpus import NUM_CHARACTERS, Windows, load_sources
from demo.model import CharTransformer
from demo.network import PretendNetwork
from tb_stepperf import StepPerfWriter

LENGTH, BATCH_SIZE = 48, 4
PROGRESS_INTERVAL_S = 2.0


@dataclasses.dataclass(frozen=True)
class Plan:
    """One training run; a cause that is None (or 0) is not planted.

    Attributes:
        num_steps: optimizer steps.
        max_seconds: stop earlier after this long.
        slow_data_at: from this step on, the dataset fetches its files from slow storage again and again.
        long_windows_at: from this step on, sequences are twice as long.
        growing_cache_at: from this step on, features of every batch are kept and never dropped: memory grows.
        checkpoint_every: save the model every so many steps.
    """

    num_steps: int
    max_seconds: float = float("inf")
    slow_data_at: int | None = None
    long_windows_at: int | None = None
    growing_cache_at: int | None = None
    checkpoint_every: int = 0


@dataclasses.dataclass(frozen=True)
class Result:
    """What came of a run.

    Attributes:
        num_steps: optimizer steps taken.
        loss: mean loss of the last 50 steps, nats a character (a uniform guess has 4.85).
    """

    num_steps: int
    loss: float


def train(logdir: str | pathlib.Path, plan: Plan, *, seed: int = 0) -> Result:
    """Trains as `plan` says and leaves step samples, the loss and traces in `logdir`.

    Progress goes to standard output, a line every two seconds.
    """
    torch.manual_seed(seed)
    torch.set_num_threads(1)  # the loader's worker has the other core
    windows = Windows(
        load_sources(),
        num_batches=plan.num_steps,
        batch_size=BATCH_SIZE,
        length=LENGTH,
        slow_data_at=plan.slow_data_at,
        long_windows_at=plan.long_windows_at,
    )
    loader = DataLoader(windows, batch_size=None, num_workers=1)
    model = CharTransformer(NUM_CHARACTERS, max_length=2 * LENGTH)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    network = PretendNetwork(model)
    losses: list[float] = []
    cache: list[torch.Tensor] = []
    started_s = shown_s = time.monotonic()

    with (
        SummaryWriter(str(logdir)) as writer,
        StepPerfWriter(
            summary_writer=writer, capture="regression", flush_interval_s=2.0, user={"demo": str(plan)}
        ) as perf,
    ):
        for step, batch in enumerate(perf.data(loader)):
            with perf.stage("forward"):
                loss = model(batch)
            with perf.stage("backward"):
                loss.backward()
            with perf.stage("communication"):
                network.all_reduce()
            with perf.stage("optimizer"):
                optimizer.step()
                optimizer.zero_grad()
            losses.append(loss.item())
            if plan.growing_cache_at is not None and step >= plan.growing_cache_at:
                cache.append(torch.randn(BATCH_SIZE, LENGTH, 256))
            if plan.checkpoint_every and step % plan.checkpoint_every == plan.checkpoint_every - 1:
                with perf.stage("checkpoint"):
                    torch.save(model.state_dict(), io.BytesIO())
            perf.step(num_samples=len(batch), num_tokens=batch.numel())
            if step % 10 == 0:
                writer.add_scalar("loss", losses[-1], step)
            now_s = time.monotonic()
            if now_s - shown_s >= PROGRESS_INTERVAL_S:
                shown_s = now_s
                print(f"  step {step + 1:5d} of {plan.num_steps}   loss {_mean(losses):.3f}", flush=True)
            if now_s - started_s >= plan.max_seconds:
                break
    return Result(num_steps=len(losses), loss=_mean(losses))


def _mean(losses: list[float]) -> float:
    recent = losses[-50:]
    return sum(recent) / len(recent) if recent else float("nan")


def main() -> None:
    """Trains one run with the causes that the command line plants."""
    parser = argparse.ArgumentParser(prog="python -m demo.train", description=main.__doc__)
    parser.add_argument("logdir")
    parser.add_argument("--steps", type=int, default=1000, help="optimizer steps (default 1000)")
    parser.add_argument("--slow-data-at", type=int, metavar="STEP", help="slower storage from this step on")
    parser.add_argument("--long-windows-at", type=int, metavar="STEP", help="sequences twice as long from this step on")
    parser.add_argument("--growing-cache-at", type=int, metavar="STEP", help="memory grows from this step on")
    parser.add_argument("--checkpoint-every", type=int, default=0, metavar="N", help="save the model every N steps")
    options = parser.parse_args()
    result = train(
        options.logdir,
        Plan(
            num_steps=options.steps,
            slow_data_at=options.slow_data_at,
            long_windows_at=options.long_windows_at,
            growing_cache_at=options.growing_cache_at,
            checkpoint_every=options.checkpoint_every,
        ),
    )
    print(f"loss {result.loss:.3f} nats a character (a uniform guess has 4.85)")


if __name__ == "__main__":
    main()
