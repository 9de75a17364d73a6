"""Every error that tb_stepperf raises on purpose.

::

    StepPerfError
    ├── ConfigError      (also ValueError)  a constructor argument cannot be used
    ├── FormatError      (also ValueError)  bytes that are not in the block format
    │   └── NewerFormatError                written by a newer version than this reader
    ├── ArgumentError    (also ValueError)  a value given to a pure function is out of range
    ├── TraceError       (also ValueError)  a file that cannot be read as a torch.profiler trace
    ├── MeasureError     (also RuntimeError)  a step function that cannot be measured
    └── RequestError     (also ValueError)  an HTTP parameter is missing, unknown or malformed
        ├── NotFoundError                   a well-formed request names something that is not there
        └── BusyError                       a well-formed request that can be answered later

Messages say the value seen, what is allowed, and the way out. The writer raises only `ConfigError`, and only while
it is constructed; afterwards it warns once and counts, because a measuring tool must never end a training.
"""


class StepPerfError(Exception):
    """Base of every error that tb_stepperf raises on purpose."""


class ConfigError(StepPerfError, ValueError):
    """A constructor argument cannot be used."""


class FormatError(StepPerfError, ValueError):
    """Bytes that should be a block, an environment record or their metadata, and are not."""


class NewerFormatError(FormatError):
    """Data in a format version that is newer than this reader knows; the way out is to upgrade the reader."""


class ArgumentError(StepPerfError, ValueError):
    """A value given to a pure function (statistics) is out of its range."""


class TraceError(StepPerfError, ValueError):
    """A file that cannot be read as a torch.profiler trace: foreign, damaged, or beyond a limit.

    The message is one sentence for people, with the position or the reason and, where there is one, the way out.
    """


class MeasureError(StepPerfError, RuntimeError):
    """A step function that was called to be measured and raised, or gave back work that is yet to be done.

    The message says in which phase and repetition; what the function raised is the cause (`__cause__`).
    """


class RequestError(StepPerfError, ValueError):
    """An HTTP parameter is missing, unknown or malformed.

    Attributes:
        parameter: name of the offending parameter, or None where the request as a whole is meant.
    """

    def __init__(self, message: str, parameter: "str | None" = None) -> None:
        super().__init__(message)
        self.parameter = parameter


class NotFoundError(RequestError):
    """A well-formed request that names a run, a rank or a column that is not there."""


class BusyError(RequestError):
    """A well-formed request for which there is no capacity now; the way out is to ask again."""
