"""The terminal: `stepperf markers`, `stepperf compare` and `stepperf trace` say what the tab says, to people and to CI.

`main` is the entry point and imports nothing that may be missing; `app` holds the commands and the exit codes, `logs`
finds runs, `markers` and `compare` ask `analysis`, `trace` asks `traces`, `output` prints.
"""
