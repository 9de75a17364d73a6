"""One call for a first answer: a step function in, evidence about its speed out.

One way through: `options.py` checks the arguments, `steps.py` runs and times the function with the stages of
`stages.py` and the device of `instruments.py`, `profiling.py` runs it under `torch.profiler`, `figures.py` and
`notes.py` make an `evidence.py` of it all, `table.py` prints that. `log.py` leaves the same in a run for the tab.
"""

from tb_stepperf.measure.evidence import StepEvidence
from tb_stepperf.measure.measure import measure_step

__all__ = ["StepEvidence", "measure_step"]
