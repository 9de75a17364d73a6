"""Step performance for PyTorch training, in TensorBoard.

`StepPerfWriter` measures every step of a training loop; the TensorBoard plugin of the same distribution shows them.
`measure_step` measures a step function in one call.
Importing this package loads neither torch, tensorboard nor werkzeug: public names are resolved on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tb_stepperf._version import __version__

if TYPE_CHECKING:
    from tb_stepperf.measure import measure_step
    from tb_stepperf.recorder import CaptureRules, StepPerfWriter

__all__ = ["CaptureRules", "StepPerfWriter", "__version__", "measure_step"]


def __getattr__(name: str) -> Any:
    if name in ("CaptureRules", "StepPerfWriter"):
        from tb_stepperf import recorder

        return getattr(recorder, name)
    if name == "measure_step":
        from tb_stepperf.measure import measure_step

        return measure_step
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it offers {', '.join(__all__)}")


def __dir__() -> list[str]:
    return sorted(__all__)
