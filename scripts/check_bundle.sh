#!/bin/sh
# The committed bundle must equal a fresh build: builds beside it and compares byte by byte.
set -eu
cd "$(dirname "$0")/.."
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
(cd frontend && npm run --silent build -- --outdir="$fresh")
if ! diff -rq "$fresh" tb_stepperf/plugin/static; then
    echo "tb_stepperf/plugin/static is not what frontend/ builds. Run 'make build' and commit the result." >&2
    exit 1
fi
echo "bundle is fresh"
