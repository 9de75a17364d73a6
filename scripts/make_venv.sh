#!/bin/sh
# make_venv.sh DIR: a virtual environment from $PYTHON, with a clear word where that cannot work.
set -eu
python=${PYTHON:-python3}
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
    echo "$python is $("$python" --version 2>&1 || echo missing); Python 3.10 or newer is needed." >&2
    echo "Name another one: make PYTHON=python3.12 …" >&2
    exit 1
fi
if [ ! -x "$1/bin/pip" ] && ! "$python" -m venv "$1"; then
    rm -rf "$1"
    echo "$python cannot make virtual environments (on Debian: apt-get install python3-venv)." >&2
    exit 1
fi
