"""The door that TensorBoard opens. It must not be able to fail.

TensorBoard imports this module without a guard, so it imports nothing but the standard library and TensorBoard's
plugin base; everything of ours is imported inside `load`, where a failure costs the tab and nothing else.
"""

from __future__ import annotations

import argparse
import logging
import re
from collections.abc import Callable
from typing import Any

from tensorboard.plugins import base_plugin

PLUGIN_NAME = "stepperf"
"""The same as `tb_stepperf.blocks.PLUGIN_NAME`, which is not imported here; a test compares them."""

DEFAULT_CACHE_MB = 1024
MIN_CACHE_MB = 64
DEFAULT_TRACE_MEMORY_MB = 1024
MIN_TRACE_MEMORY_MB = 256
DEFAULT_TRACE_TIMEOUT_S = 300
DEFAULT_PERFETTO_URL = "https://ui.perfetto.dev"

_WEB_ADDRESS = re.compile(r"https?://[^\s/?#@]+(/[^\s]*)?")

logger = logging.getLogger("tensorboard")


class StepPerfLoader(base_plugin.TBLoader):
    """Loads the Step Performance tab; the entry point `tensorboard_plugins: stepperf`."""

    def define_flags(self, parser: argparse.ArgumentParser) -> None:
        """Adds `--stepperf_cache_mb`, the limits for reading traces and the address of Perfetto."""
        group = parser.add_argument_group("step performance plugin")
        try:
            for name, options in _FLAGS.items():
                group.add_argument(f"--{name}", **options)
        except argparse.ArgumentError as error:
            logger.warning("stepperf: the flag is already defined, perhaps tb_stepperf is installed twice: %s", error)

    def fix_flags(self, flags: Any) -> None:
        """Asks TensorBoard to keep every block of ours; by default it keeps a random 10 of a plugin's tensors.

        A value that a user gave stays. The flag may be missing or None where TensorBoard is embedded.
        """
        samples = getattr(flags, "samples_per_plugin", None)
        if samples is None or samples == "":
            flags.samples_per_plugin = {PLUGIN_NAME: 0}
        elif isinstance(samples, dict):
            samples.setdefault(PLUGIN_NAME, 0)
        else:
            logger.warning(
                "stepperf: --samples_per_plugin is %r, not the dictionary that TensorBoard makes of it; "
                "blocks may be thinned, and the tab then says how many steps are missing",
                samples,
            )

    def load(self, context: base_plugin.TBContext) -> base_plugin.TBPlugin | None:
        """Returns the plugin, or None (no tab, TensorBoard unharmed) with a warning where it cannot be made."""
        try:
            from tb_stepperf.plugin.plugin import StepPerfPlugin

            if context.data_provider is None:
                logger.warning("stepperf: TensorBoard runs without a data provider; there is no Step Performance tab")
                return None
            return StepPerfPlugin(context)
        except Exception:
            logger.warning(
                "stepperf: the Step Performance tab could not be loaded; TensorBoard goes on without it", exc_info=True
            )
            return None


def _at_least(minimum: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        value = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
        if value < minimum:
            raise argparse.ArgumentTypeError(f"{text!r}; an integer of at least {minimum} is allowed")
        return value

    return parse


def _web_address(text: str) -> str:
    if not _WEB_ADDRESS.fullmatch(text):
        raise argparse.ArgumentTypeError(f"{text!r}; an address that begins with https:// or http:// is allowed")
    return text


_FLAGS: dict[str, dict[str, Any]] = {
    "stepperf_cache_mb": {
        "metavar": "MB",
        "type": _at_least(MIN_CACHE_MB),
        "default": DEFAULT_CACHE_MB,
        "help": (
            "Most memory, in MiB, for step samples that the Step Performance tab keeps between requests. What "
            "does not fit is read again when it is asked for: slower, never less. A step of ten columns takes "
            "about 60 bytes; while a request is answered, the steps that it looks at come once more on top. "
            f"At least {MIN_CACHE_MB}. (default: %(default)s)"
        ),
    },
    "stepperf_trace_memory_mb": {
        "metavar": "MB",
        "type": _at_least(MIN_TRACE_MEMORY_MB),
        "default": DEFAULT_TRACE_MEMORY_MB,
        "help": (
            "Most memory, in MiB, that the process may take which reads a torch.profiler trace for the Step "
            "Performance tab; only one trace is read at a time. A trace that needs more is refused with a sentence. "
            f"At least {MIN_TRACE_MEMORY_MB}. (default: %(default)s)"
        ),
    },
    "stepperf_trace_timeout_s": {
        "metavar": "SECONDS",
        "type": _at_least(1),
        "default": DEFAULT_TRACE_TIMEOUT_S,
        "help": "Most time, in seconds, for reading one torch.profiler trace. (default: %(default)s)",
    },
    "stepperf_perfetto_url": {
        "metavar": "URL",
        "type": _web_address,
        "default": DEFAULT_PERFETTO_URL,
        "help": (
            "Address of the Perfetto that the Step Performance tab opens traces in, for a copy of your own. The "
            "browser hands the trace over; it is not uploaded. (default: %(default)s)"
        ),
    },
}
