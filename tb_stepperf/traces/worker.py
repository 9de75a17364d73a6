"""`python -m tb_stepperf.traces.worker`: reads one trace in a process of its own; `process.py` is the other end.

Standard input: a line with a request, `{"path": …, "memory_mb": …, "answer": "summary" or "file"}`; its end means that
nobody waits any more, and ends this process. Standard output, for a summary: lines of JSON, `{"progress": 0.4}`, at
last one of `{"summary": {…}}`, `{"refused": "…"}`, `{"no_memory": true}` and `{"fault": "…"}`. For a file: its bytes; a
refusal is then the last line of standard error, and the exit status is not 0.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import traceback
from collections.abc import Callable
from typing import Any, BinaryIO

NICENESS = 10
_PROGRESS_STEP = 0.01


def main() -> None:
    """Answers the request of standard input."""
    request = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    os.nice(NICENESS)
    limit_memory(request["memory_mb"])
    # Whatever a library prints goes elsewhere, so that it cannot be taken for an answer.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    if request["answer"] == "file":
        status = _answer(lambda: _send_file(request["path"], answers), _send_error)
    else:
        status = _answer(lambda: _send_summary(request["path"], answers), lambda value: _send(answers, value))
    answers.flush()
    sys.stderr.flush()
    os._exit(status)  # without waiting for the thread that watches the parent


def limit_memory(memory_mb: int) -> None:
    """Lets this process have no more than `memory_mb` MiB of memory of its own.

    It is the data segment, anonymous mappings included, that is limited: the address space would also count code and
    what libraries reserve and never use. Python and NumPy take 50 MiB of it before a file is opened. A system that
    does not enforce this limit leaves only the machine's.
    """
    import resource

    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    limit = memory_mb << 20
    if most != resource.RLIM_INFINITY:
        limit = min(limit, most)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, most))


def _answer(work: Callable[[], None], send: Callable[[dict[str, Any]], None]) -> int:
    """Works, sends why that failed if it did, and returns the exit status."""
    from tb_stepperf.errors import TraceError

    try:
        work()
        return 0
    except TraceError as error:
        answer = {"refused": str(error)}
    except MemoryError:
        answer = {"no_memory": True}
    except Exception as error:
        traceback.print_exc()
        answer = {"fault": f"{type(error).__name__}: {error}"}
    send(answer)  # here, where what the work held is free again
    return 1


def _send_summary(path: str, answers: BinaryIO) -> None:
    from tb_stepperf.traces.digest import read_summary
    from tb_stepperf.traces.summary import to_json

    sent = 0.0

    def report(progress: float) -> None:
        nonlocal sent
        if progress >= sent + _PROGRESS_STEP:
            sent = progress
            _send(answers, {"progress": progress})

    summary = read_summary(path, report=report)
    _send(answers, {"summary": to_json(summary)})


def _send_file(path: str, answers: BinaryIO) -> None:
    from tb_stepperf.traces.strip import strip_events

    for chunk in strip_events(path):
        answers.write(chunk)


def _send(answers: BinaryIO, value: dict[str, Any]) -> None:
    answers.write(json.dumps(value).encode("ascii") + b"\n")
    answers.flush()


def _send_error(value: dict[str, Any]) -> None:
    sys.stderr.write(f"\n{json.dumps(value)}\n")


def _end_with_parent() -> None:
    # Not through the buffer of `sys.stdin`, whose lock this thread would still hold when the process ends.
    while os.read(0, 1):
        continue
    os._exit(1)


if __name__ == "__main__":
    main()
