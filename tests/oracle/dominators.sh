#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Dominators and retained sizes, as networkx finds them: of random graphs, and of snapshots of real programs.
set -u
python3 -c 'import networkx' 2>/dev/null || exit 77
. "$MPROF_SOURCE/tests/end_to_end/common.sh"
sessions=()
take() { # NAME PROGRAM…
    local name=$1
    shift
    mprof-run --quiet --references=end -o "$name.bin" -- "$@" >/dev/null || fail "$name is not recorded"
    mprof-ingest --quiet -o "$name.db" "$name.bin" || fail "$name is not ingested"
    sessions+=("$name.db")
}
g++ -g -O2 -o holders "$MPROF_SOURCE/docs/examples/holders.cpp" || fail "the program is not built"
take holders ./holders
take perl perl -e 'my %h = map { $_ => { name => "text $_", all => [1 .. 3] } } 1 .. 1000; $h{5}{self} = \%h'
# networkx takes minutes for this one.
[ "${MPROF_SOAK:-}" != 1 ] || PYTHONMALLOC=malloc take python3 /usr/bin/python3 -c "
import os
kept = [{'name': str(i), 'all': [str(i), i, {}]} for i in range(500)]
kept.append(kept)
os._exit(0)"
python3 "$MPROF_SOURCE/tests/oracle/dominators.py" "$MPROF_BUILD/tests/find_dominators" "${sessions[@]}"
