#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The screens in README.md, docs/tour.md and docs/first-five-minutes.md are those of the browser, after
# the keys that the pages give. MPROF_REFRESH=1 writes them. See screens.py.
. "$MPROF_SOURCE/tests/end_to_end/common.sh"
command -v tmux >/dev/null || exit 77
export LC_ALL=C.UTF-8 TZ=UTC TERM=xterm-256color HOME=$work XDG_STATE_HOME=$work/state
unset NO_COLOR TMUX XDG_CONFIG_HOME
# The hint of a first run is not part of the screens.
mkdir -p state/mprof && touch state/mprof/browsed
for program in leaking_requests kept_gestures undo_history pinned_heap resident_set; do
    g++ -g -O2 -I"$MPROF_SOURCE/capture" -o $program "$MPROF_SOURCE/docs/examples/$program.cpp" || exit 1
done
g++ -g -O2 -o calculator "$MPROF_SOURCE/docs/examples/calculator.cpp" || exit 1
# At random places a heap may lie over a border of 64 MiB, where a gap does not count as a hole.
setarch -R true 2>/dev/null && fixed=(setarch -R) || fixed=()
for program in leaking_requests kept_gestures undo_history pinned_heap resident_set calculator; do
    free_stacks=()
    [ $program != calculator ] || free_stacks=(--free-stacks)
    "${fixed[@]}" mprof-run --quiet "${free_stacks[@]}" -o $program.bin "./$program" >$program.out || fail "$program is not recorded"
    mprof-ingest --quiet -o $program.db $program.bin || fail "$program is not ingested"
done
# The pictures are of a program in Python, if this mprof knows the interpreter.
if /usr/bin/python3 -c 'import json' 2>/dev/null &&
    mprof-run --quiet --python -o orders.bin /usr/bin/python3 "$MPROF_SOURCE/docs/examples/orders.py" >orders.out 2>&1 &&
    [ -s orders.bin ] && ! grep -q 'no Python functions' orders.out; then
    mprof-ingest --quiet -o orders.db orders.bin || fail 'the program in Python is not ingested'
fi
python3 "$MPROF_SOURCE/tests/docs/screens.py" "$work" "$MPROF_SOURCE"/README.md \
    "$MPROF_SOURCE"/docs/{tour,first-five-minutes}.md
