"""The console script. It says what to install where the terminal's libraries are missing."""

from __future__ import annotations

import sys

_LIBRARIES = ("click", "rich")


def main() -> int:
    """Runs `stepperf` with the arguments of the process and returns its exit code."""
    try:
        from tb_stepperf.cli.app import run
    except ImportError as error:
        if (error.name or "").split(".")[0] not in _LIBRARIES:
            raise
        sys.stderr.write("stepperf: the terminal commands need two more packages: pip install click rich\n")
        return 2
    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
