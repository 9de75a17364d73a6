#!/bin/sh
# Runs every benchmark. The writer and the trace reader are measured beside their peers, in an environment of the
# benchmark's own.
set -eu
cd "$(dirname "$0")/.."
if [ ! -e benchmarks/.venv/.installed ] || [ benchmarks/requirements.txt -nt benchmarks/.venv/.installed ]; then
    sh scripts/make_venv.sh benchmarks/.venv
    benchmarks/.venv/bin/pip install --quiet --constraint constraints.txt --editable '.[torch]' --requirement benchmarks/requirements.txt
    touch benchmarks/.venv/.installed
fi
benchmarks/.venv/bin/python -m benchmarks.writer_cost
benchmarks/.venv/bin/python -m benchmarks.trace_reading
.venv/bin/python -m benchmarks.load_speed
.venv/bin/python -m benchmarks.tab_speed
.venv/bin/python -m benchmarks.bands_speed
