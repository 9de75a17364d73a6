"""Step performance for PyTorch training, in TensorBoard.

`StepPerfWriter` measures every step of a training loop; the TensorBoard plugin of the same distribution shows them.
Importing this package loads neither torch, tensorboard nor werkzeug: public names are resolved on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tb_stepperf._version import __version__

if TYPE_CHECKING:
    from tb_stepperf.recorder import StepPerfWriter

__all__ = ["StepPerfWriter", "__version__"]


def __getattr__(name: str) -> Any:
    if name == "StepPerfWriter":
        from tb_stepperf.recorder import StepPerfWriter

        return StepPerfWriter
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it offers {', '.join(__all__)}")


def __dir__() -> list[str]:
    return sorted(__all__)
