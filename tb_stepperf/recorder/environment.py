"""The conditions under which steps were measured: one record per attempt, and what changes later.

Arguments and environment variables are never recorded, since they hold secrets; the launcher is told from the mere
presence of a variable. torch is asked only if the loop has imported it.
"""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Mapping
from typing import Any

from tb_stepperf._version import __version__
from tb_stepperf.recorder.device import Accelerator
from tb_stepperf.recorder.eventfile import host_hash
from tb_stepperf.recorder.messages import Messages
from tb_stepperf.recorder.rows import StepColumns

_LAUNCHERS = (
    ("TORCHELASTIC_RUN_ID", "torchrun"),
    ("SLURM_JOB_ID", "slurm"),
    ("OMPI_COMM_WORLD_SIZE", "mpi"),
    ("KUBERNETES_SERVICE_HOST", "kubernetes"),
)
_OVERRIDABLE = ("autocast", "compile", "deterministic", "driver", "launcher", "seed")
_MAX_BATCH_CHANGES = 16
_MAX_LEAVES = 8
_MAX_EXACT_INT = 2**53  # what a browser's numbers hold
_DRIVER_FILE = "/proc/driver/nvidia/version"


class Environment:
    """Fields of the environment record, and which of them are still to be written.

    Attributes:
        bucket_names: number (as text) to name of the buckets, recorded beside the conditions.
    """

    def __init__(self, messages: Messages, fields: Mapping[str, Any], user: Mapping[str, Any] | None) -> None:
        self._messages = messages
        self._fields: dict[str, Any] = {**host_facts(), **fields, "user": {}}
        self._written: dict[str, Any] | None = None
        self._step = 0
        self._num_batch_changes = 0
        self._given: set[str] = set()
        self.bucket_names: Mapping[str, str] = {}
        self.update(dict(user or {}), 0)

    def begin_attempt(self) -> None:
        """Makes the next record a whole one again."""
        self._written = None

    @property
    def wants_batches(self) -> bool:
        """Whether the shapes of one more batch would be recorded."""
        return self._num_batch_changes < _MAX_BATCH_CHANGES

    def update(self, fields: Mapping[str, Any], step: int) -> None:
        """Adds what the user knows; `seed`, `compile`, `autocast`… take the place of what was found."""
        known = {name: value for name, value in fields.items() if name in _OVERRIDABLE}
        self._given |= known.keys()
        user = {str(name): value for name, value in fields.items() if name not in _OVERRIDABLE}
        if user:
            known["user"] = {**self._fields["user"], **user}
        self._set(known, step)

    def set(self, fields: Mapping[str, Any], step: int) -> None:
        """Sets fields of the record, except those that the user has given.

        Args:
            fields: name to a value that JSON can hold; anything else is recorded as its text.
            step: the step from which they hold.
        """
        self._set({name: value for name, value in fields.items() if name not in self._given}, step)

    def _set(self, fields: Mapping[str, Any], step: int) -> None:
        changed = {name: as_json(value) for name, value in fields.items()}
        changed = {name: value for name, value in changed.items() if self._fields.get(name) != value}
        if changed:
            self._fields = {**self._fields, **changed}  # one assignment: another thread may read
            self._step = step

    def see_batch(self, batch: Any, step: int) -> None:
        """Records shapes and dtypes of a batch."""
        shapes = batch_shapes(batch)
        if shapes and shapes != self._fields.get("batch"):
            self._num_batch_changes += 1
            self.set({"batch": shapes}, step)

    def see_autocast(self, step: int) -> None:
        """Records whether autocast is on in the calling thread; once seen on, it stays recorded."""
        torch = sys.modules.get("torch")
        if torch is not None and not self._fields.get("autocast"):
            self.set({"autocast": autocast_dtype(torch)}, step)

    def see_memory(self, known: StepColumns, probe: Any) -> None:
        """Records that not every step has a reading of memory, or what the probe has to say of its numbers.

        Args:
            known: of steps at whose boundaries the probe could be read.
            probe: a `MemoryProbe`, None where there is none.
        """
        if probe is None:
            return
        if probe.note is not None:
            self.set({"peak_memory": probe.mode, "peak_memory_note": probe.note}, known.step[0])
        elif self._fields.get("peak_memory") == "per_step" and None in known.memory[1:]:
            note = "read at most every few milliseconds; a value covers the steps since the last"
            self.set({"peak_memory": "sampled", "peak_memory_note": note}, known.step[0])

    def next_record(self) -> dict[str, Any] | None:
        """Returns the record to be written, or None where nothing changed."""
        fields = {**self._fields, **({"buckets": self.bucket_names} if self.bucket_names else {})}
        if self._written is None:
            return {"step": self._step, **fields}
        changed = {name: value for name, value in fields.items() if self._written.get(name) != value}
        return {"step": self._step, **changed} if changed else None

    def mark_written(self, record: Mapping[str, Any]) -> None:
        """Remembers what readers know by now."""
        self._written = {**(self._written or {}), **record}


def host_facts() -> dict[str, Any]:
    """Returns what is known without torch."""
    return {
        "tb_stepperf": __version__,
        "python": platform.python_version(),
        "os": f"{platform.system()} {platform.release()} {platform.machine()}",
        "hostname_hash": host_hash(),
        "launcher": next((name for variable, name in _LAUNCHERS if variable in os.environ), None),
        "device": "cpu",
        "clock": "host",
    }


def torch_facts(accelerator: Accelerator | None, messages: Messages) -> dict[str, Any]:
    """Returns what torch says of itself and its device; nothing where the loop has not imported torch.

    To be called in the loop's thread: threads have their own number of threads and their own autocast.
    """
    torch = sys.modules.get("torch")
    if torch is None:
        return {}
    facts: dict[str, Any] = {}
    try:
        facts["torch"] = str(torch.__version__)
        facts["cuda"] = torch.version.cuda or (f"rocm {torch.version.hip}" if torch.version.hip else None)
        facts["num_threads"] = torch.get_num_threads()
        facts["deterministic"] = torch.are_deterministic_algorithms_enabled()
        facts["seed"] = torch.initial_seed()
        if accelerator is not None:
            module = accelerator.module
            facts["device"] = accelerator.kind
            facts["driver"] = nvidia_driver() if accelerator.kind == "cuda" else None
            facts["num_devices"] = module.device_count()
            facts["device_name"] = module.get_device_name(accelerator.index)
    except Exception as error:  # other versions of torch may lack any of these
        messages.warn_once("torch", f"not all conditions are recorded: {type(error).__name__}: {error}")
    return facts


def nvidia_driver() -> str | None:
    """Returns the version of the NVIDIA driver, or None where there is none."""
    try:
        with open(_DRIVER_FILE, encoding="utf-8", errors="replace") as file:
            found = re.search(r"\s(\d+\.\d+(?:\.\d+)?)\s", file.readline())
    except OSError:
        return None
    return found.group(1) if found else None


def autocast_dtype(torch: Any) -> str | None:
    """Returns the dtype that autocast uses in this thread, or None where it is off."""
    try:
        for kind in ("cuda", "cpu"):
            if torch.is_autocast_enabled(kind):
                return f"{kind} {str(torch.get_autocast_dtype(kind)).removeprefix('torch.')}"
    except (TypeError, RuntimeError, AttributeError):
        return None  # an older torch asks without a device
    return None


def batch_shapes(batch: Any) -> dict[str, str]:
    """Returns path to `dtype[shape]` for the first arrays in a batch of nested tuples, lists and mappings."""
    shapes: dict[str, str] = {}
    waiting = [("batch", batch)]
    while waiting and len(shapes) < _MAX_LEAVES:
        path, value = waiting.pop(0)
        shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
        if shape is not None and dtype is not None:
            sizes = ", ".join(str(size) for size in shape)
            shapes[path] = f"{str(dtype).removeprefix('torch.')}[{sizes}]"
        elif isinstance(value, Mapping):
            waiting += [(f"{path}.{key}", item) for key, item in list(value.items())[:_MAX_LEAVES]]
        elif isinstance(value, (list, tuple)):
            waiting += [(f"{path}[{at}]", item) for at, item in enumerate(value[:_MAX_LEAVES])]
    return shapes


def as_json(value: Any) -> Any:
    """Returns a value that JSON can hold: plain values as they are, everything else as text."""
    if isinstance(value, int) and abs(value) > _MAX_EXACT_INT:
        return str(value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Mapping):
        return {str(key): as_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_json(item) for item in value]
    try:
        return str(value)[:1000]
    except Exception:  # somebody else's class
        return f"({type(value).__name__})"
