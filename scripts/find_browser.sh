#!/bin/sh
# Prints the path of a Chromium for the browser tests; installs one where none is on PATH. Fails loudly, never quietly.
set -eu
find_on_path() {
    for name in chromium chromium-browser google-chrome google-chrome-stable chrome; do
        if command -v "$name"; then return 0; fi
    done
    return 1
}
if find_on_path; then exit 0; fi
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core; } >&2 || true
    if find_on_path; then exit 0; fi
fi
# Without root: the browser that npm ships as a package, unpacked into .cache/.
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$root/.cache/browser"
cd "$root/.cache/browser"
[ -d node_modules/@sparticuz/chromium ] || npm install --no-save --no-audit --no-fund --loglevel=error '@sparticuz/chromium@131.0.1' >&2
node --input-type=commonjs -e '
const chromium = require("@sparticuz/chromium").default ?? require("@sparticuz/chromium");
chromium.executablePath().then((path) => console.log(path));' && exit 0
echo "No Chromium found, and none could be installed. Put chromium on PATH and run again." >&2
exit 1
