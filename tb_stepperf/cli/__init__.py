"""The terminal: `stepperf markers` and `stepperf compare`, the verdicts of the tab for people and for CI.

`main` is the entry point and imports nothing that may be missing; `app` holds the commands and the exit codes, `logs`
finds runs, `markers` and `compare` ask `analysis`, `output` prints.
"""
