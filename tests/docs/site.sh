#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The site of the documents in a real browser: site.py follows every link from its first page.
set -u
[ -n "${MPROF_SOAK:-}" ] || { echo "skipped: takes a minute; MPROF_SOAK=1 runs it"; exit 77; }
for program in pandoc mandoc chromium-headless-shell; do
    command -v $program >/dev/null || { echo "skipped: no $program"; exit 77; }
done
work=$PWD/site.work
rm -rf "$work" && mkdir -p "$work" && cd "$work" || exit 1
bash "$MPROF_SOURCE/packaging/site/make.sh" "$MPROF_SOURCE" "$work/site" || exit 1
PYTHONPATH=$MPROF_SOURCE/tests/readers python3 "$MPROF_SOURCE/tests/docs/site.py" site || exit 1
# A site with faults: the browser must see each.
echo '<p id="there"><a href="gone.html">a</a> <a href="#nowhere">b</a> <a href="#there">c</a>' >site/docs/broken.html
sed -i 's,</body>,<a href="docs/broken.html">broken</a></body>,' site/index.html
PYTHONPATH=$MPROF_SOURCE/tests/readers python3 "$MPROF_SOURCE/tests/docs/site.py" site >faults.txt && { echo "a broken site passes"; exit 1; }
for fault in 'gone.html: does not open' 'broken.html#nowhere: no such place' 'broken.html: no style'; do
    grep -qF "$fault" faults.txt || { echo "not found: $fault"; cat faults.txt; exit 1; }
done
