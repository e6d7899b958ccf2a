#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Traces of several hosts or boots in one session. Each process knows its machine. The clocks are
# aligned by real time, and the session says so. Blocks that lived on two machines are never added.
set -u
ingest=$MPROF_BUILD/bin/mprof-ingest make=$MPROF_BUILD/tests/machine_traces
rm -rf machines && mkdir machines && cd machines || exit 1
failed=0
complain() { echo "FAILED: $*"; failed=1; }
expect() { # SESSION SQL EXPECTED
    local got
    got=$(sqlite3 "$1" "$2" | tr '\n' ' ')
    [ "$got" = "$3" ] || complain "$1: $2: $got, not $3"
}
t=1700000000000000000
# Two hosts up for different times, at work in the same half of a millisecond; a container on the
# first one; the first one after a reboot; one whose real-time clock was set back in between.
"$make" a.bin alpha boot-1 5000000000 $t 100 1000
"$make" b.bin beta boot-2 9000000 $((t + 300000)) 200 700
"$make" c.bin container boot-1 5000200000 $((t + 200000)) 300 50
"$make" d.bin alpha boot-3 7000 $((t + 900000)) 400 900
"$make" e.bin alpha boot-1 5000600000 $((t - 7000000000)) 500 30

"$ingest" -o two.db b.bin a.bin >out.txt || complain "two"
grep -q '^machines .*2 (hosts or boots): clocks aligned by real time' out.txt || complain "not said: $(cat out.txt)"
expect two.db "SELECT pid, machine, host, boot_id, start_ns FROM process ORDER BY id" "100|1|alpha|boot-1|0 200|2|beta|boot-2|300000 "
expect two.db "SELECT key, value FROM meta WHERE key IN ('machines', 'clock_alignment', 'peak_bytes', 'peak_ns', 'peak_count', 'duration_ns', 'bytes_allocated') ORDER BY key" \
    "bytes_allocated|1700 clock_alignment|real time duration_ns|1400000 machines|2 peak_bytes|1000 peak_count|1 peak_ns|100000 "
expect two.db "SELECT sum(at_peak_bytes), max(peak_bytes) FROM stack" "1000|1000 "
expect two.db "SELECT machine, max(live_bytes), sum(allocated_bytes) FROM v_timeline GROUP BY machine" "1|1000|1000 2|700|700 "
expect two.db "SELECT max(peak_bytes) FROM v_function" "1000 "
"$MPROF_BUILD/bin/mprof-tui" --script /dev/null --size 120x30 two.db >screen.txt 2>&1 || complain "the browser: $(cat screen.txt)"
grep -q '2 machines' screen.txt || complain "the browser does not say it: $(cat screen.txt)"

# Two that began at one moment are still two, no matter which is read first.
"$make" f.bin alpha boot-1 5000000000 $t 100 1000
"$make" g.bin beta boot-2 9000000 $t 200 700
"$ingest" -q -o same.db f.bin g.bin || complain "same moment"
expect same.db "SELECT count(DISTINCT machine), max(start_ns) FROM process" "2|0 "

# One kernel is one machine, no matter how its containers are named, and its monotonic clock counts.
"$ingest" -q -o one.db a.bin c.bin e.bin || complain "one"
expect one.db "SELECT pid, machine, start_ns FROM process ORDER BY id" "100|1|0 300|1|200000 500|1|600000 "
expect one.db "SELECT key, value FROM meta WHERE key IN ('machines', 'clock_alignment', 'peak_bytes') ORDER BY key" \
    "clock_alignment|one clock machines|1 peak_bytes|1080 "
"$ingest" -q -o all.db e.bin d.bin c.bin b.bin a.bin || complain "all"
expect all.db "SELECT pid, machine, start_ns FROM process ORDER BY id" "100|1|0 300|1|200000 200|2|300000 500|1|600000 400|3|900000 "
expect all.db "SELECT value FROM meta WHERE key = 'peak_bytes'" "1080 "
cp all.db rebuilt.db
"$ingest" -q --rebuild rebuilt.db || complain "--rebuild"
cmp -s <(sqlite3 all.db .dump) <(sqlite3 rebuilt.db .dump) || complain "rebuilt, it is another session"

# Without boot ids, the host and the distance of its clocks decide.
"$make" f.bin alpha - 5000000000 $t 600 10
"$make" g.bin alpha - 5000100000 $((t + 100000)) 700 20
"$make" h.bin alpha - 5000100000 $((t + 90000000000)) 800 40
"$ingest" -q -o old.db f.bin g.bin h.bin || complain "old ones"
expect old.db "SELECT pid, machine, start_ns FROM process ORDER BY id" "600|1|0 700|1|100000 800|2|90000000000 "
exit $failed
