#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Runs random filter graphs by the session library and by SQL (reference.py), on synthetic and recorded
# sessions: stacks of frees, threads, custom allocators, several processes, a sample, another session, stored
# graphs. With MPROF_SOAK=1 for an hour, with other seeds each time.
set -euo pipefail
bin=$MPROF_BUILD/bin
tests=$MPROF_BUILD/tests
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CONFIG_HOME=$work/config

record() { # NAME OPTIONS -- COMMAND...
    local name=$1
    shift
    "$bin/mprof-run" -o "$work/$name.bin" "$@" >"$work/$name.out" 2>&1
    "$bin/mprof-ingest" -o "$work/$name.db" "$work/$name.bin" >"$work/$name.summary"
}

compare() { # COUNT SEED
    local session
    for session in "$work"/*.db; do
        printf '%s: ' "$(basename "$session" .db)"
        python3 "$MPROF_SOURCE/tests/session/reference.py" "$tests/print_graph" "$session" "$1" "$2" \
            "$work/copies/$(basename "$session")"
    done
}

"$tests/make_session" "$work/synthetic.db" 2000 120 60 4 3
"$tests/make_session" "$work/deep.db" 700 300 20 2 9
record frees --free-stacks -- /usr/bin/python3 -S -c 'print([str(i) * 40 for i in range(300)])'
record sample --sample=256 -- /usr/bin/python3 -S -c 'print(len([str({i: [i] * 20}) for i in range(4000)]))'
record processes -- sh -c 'ls -l / | sort | tail -1; perl -e "print 1 x 10000"'
record arenas -- "$tests/arena"
record threads --free-stacks -- "$tests/graphs/handed_over"
"$tests/make_session" "$work/held.db" 3000 300 60 4 7
python3 "$MPROF_SOURCE/tests/session/reference_rows.py" "$work/held.db" earlier
"$bin/mprof-ingest" --rebuild "$work/held.db" >"$work/held.summary"
record references --references=end -- /usr/bin/python3 -S -c 'print(len([[str(i)] * 3 for i in range(300)]))'
for session in "$work"/*.db; do
    python3 "$MPROF_SOURCE/tests/session/residency_rows.py" "$session"
done
mkdir "$work/copies"
cp "$work"/*.db "$work/copies"
if [ -z "${MPROF_SOAK:-}" ]; then
    compare 40 1
    exit
fi
seed=$((EPOCHSECONDS % 100000))
while [ "$SECONDS" -lt 3600 ]; do
    compare 500 "$((seed++))"
done
