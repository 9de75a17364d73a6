"""The training side: measures steps and writes them, with as little as possible in the training thread.

One way through: `stages.py` and `StepPerfWriter.step` leave stamps and rows in the lists of `loop.py`; `thread.py`
wakes `pipeline.py`, which assembles them (`assemble.py`), gives them device times (`devicerows.py`), forms blocks
(`attempts.py`) and hands them to a sink (`sink.py`, `eventfile.py`). `capture/` leaves traces of torch's profiler
beside them. `lifetime.py` is about how all this ends.
"""

from tb_stepperf.recorder.capture.rules import CaptureRules
from tb_stepperf.recorder.writer import StepPerfWriter

__all__ = ["CaptureRules", "StepPerfWriter"]
