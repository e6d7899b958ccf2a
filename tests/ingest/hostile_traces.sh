#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Traces of at most 4 MB that ask for much: ingest takes at most 600 MiB and 20 s of processor time, says what it left
# out, and the session can be read and browsed.
set -u
rm -rf hostile_traces && mkdir hostile_traces && cd hostile_traces || exit 1
export XDG_CACHE_HOME=$PWD/cache
failed=0
complain() { echo "FAILED: $*"; failed=1; }

# hostile WHAT COUNT: makes WHAT.db.
hostile() {
    "$MPROF_BUILD/tests/hostile_traces" "$1" "$2" "$1.bin" || exit 1
    [ "$(stat -c %s "$1.bin")" -le 4194304 ] || complain "$1: the trace is too large"
    kilobytes=$(ulimit -t 20 && python3 - "$MPROF_BUILD/bin/mprof-ingest" "$1.bin" <<'PYTHON'
import resource, subprocess, sys
subprocess.run([sys.argv[1], '--quiet', sys.argv[2]], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
PYTHON
    ) || { complain "$1: ingest failed"; return; }
    [ "$kilobytes" -le 614400 ] || complain "$1: ingest took $kilobytes KiB"
    (ulimit -t 20 && "$MPROF_BUILD/bin/mprof-report" summary "$1.db" >"$1.txt") || complain "$1: the session cannot be read"
}
# views WHAT: opens the views whose work grows with the depth of stacks.
views() {
    local view
    for view in overview tree leaks; do
        echo "dump $view" >"$1.keys"
        (ulimit -t 20 && ulimit -v 1500000 && "$MPROF_BUILD/bin/mprof-tui" --fresh --view=$view --script "$1.keys" "$1.db" >"$1.txt") ||
            complain "$1: the view $view cannot be opened"
    done
}
# outputs WHAT: reports and exports whose work or memory grew with the depth of all stacks together. Formats that hold each
# stack as a whole are endless here: they write as they read.
outputs() {
    local bytes=10000000 format
    for format in callgrind firefox heaptrack massif svg; do
        (ulimit -t 20 && ulimit -v 800000 && "$MPROF_BUILD/bin/mprof-export" --format=$format "$1.db" >out) ||
            complain "$1: no export $format"
    done
    for format in collapsed dhat pprof-text speedscope; do
        [ "$(ulimit -t 20 && ulimit -v 800000 && "$MPROF_BUILD/bin/mprof-export" --format=$format "$1.db" | head -c $bytes | wc -c)" = $bytes ] ||
            complain "$1: no export $format"
    done
    (ulimit -t 20 && ulimit -v 800000 && "$MPROF_BUILD/bin/mprof-report" 1988 "$1.db" >out) || complain "$1: no report 1988"
    [ "$(ulimit -t 20 && ulimit -v 800000 && "$MPROF_BUILD/bin/mprof-report" peak --by=stack --top=all "$1.db" | head -c $bytes | wc -c)" = $bytes ] ||
        complain "$1: no report of the peak"
    (ulimit -t 20 && ulimit -v 800000 && "$MPROF_BUILD/bin/mprof-report" diff --by=stack --base="$1.db" "$1.db" >out) ||
        complain "$1: no difference by stacks"
}
# has WHAT SQL RESULT
has() {
    local got
    got=$(sqlite3 "$1.db" "$2")
    [ "$got" = "$3" ] || complain "$1: $2 gives $got"
}

hostile arenas 150000
has arenas 'SELECT count(*) FROM arena' 150000
hostile parents 100000
has parents 'SELECT count(*) FROM allocation WHERE free_ns IS NULL' 0
has parents "SELECT count(*) > 0 FROM problem WHERE detail = 'its arena lies in more than 1000 others'" 1
hostile mappings 200000
has mappings 'SELECT count(*), min(address), max(mapping) FROM region' '200000|8192|200000'
hostile protections 100000
has protections "SELECT count(*) > 0 FROM problem WHERE detail GLOB 'a change of protection over too many*'" 1
has protections 'SELECT count(*) < 1100000 FROM region' 1
hostile sizes 70000
has sizes "SELECT bytes FROM rss" 4096
has sizes "SELECT value = 1 << 62 FROM meta WHERE key = 'bytes_allocated'" 1
# Deep and broad trees.
hostile staircase 60000
views staircase
outputs staircase
hostile comb 40000
views comb
hostile broad 40000
views broad
hostile twins 60000
has twins "SELECT count(DISTINCT symbols), min(symbols) GLOB 'none*' FROM module" '1|0'
hostile paths 20000
has paths "SELECT count(*) FROM module WHERE symbols = 'none: it is the file of 8 other modules'" 19992
# Fewer descriptors than modules.
mkdir copies && for i in {1..300}; do cp /bin/true copies/"$i" || exit 1; done
ulimit -n 200
hostile modules 300
has modules 'SELECT count(*) FROM module' 300
exit $failed
