#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The cost of ingest, from trace to session: events per second by the clock and by processor time of
# both threads, memory, and bytes of the session for each allocation. It measures a synthetic trace
# and a real program. Beside the latter runs heaptrack's own analyzer (heaptrack_interpret, then
# heaptrack_print) on a recording of the same program. ALLOCATIONS=n sets the allocations of the
# synthetic trace (10,300,000: 20.5 M events), RUNS=n the number of runs (3). The fastest run of each
# counts, by processor time.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ingest=$MPROF_BUILD/bin/mprof-ingest
runs=${RUNS:-3}

# measure COMMAND...: adds seconds, processor seconds and KiB to $work/times.
measure() { /usr/bin/time -a -f '%e %U %S %M' -o "$work/times" "$@" >/dev/null; }

# row NAME EVENTS BYTES_PER_ALLOCATION: prints the sum of all measures since the last row.
row() {
    awk -v n="$1" -v e="$2" -v b="$3" '{ s += $1; p += $2 + $3; if ($4 > k) k = $4 }
        END { printf "%f | %s | %.1f M | %.2f | %.2f | %.2f | %.2f | %.0f MiB | %s |\n", p, n, e / 1e6, s,
              e / s / 1e6, p, e / p / 1e6, k / 1024, b }' "$work/times" >>"$work/rows"
    rm "$work/times"
}

best() { sort -g "$work/rows" | head -1 | sed 's/^[0-9.]* //'; rm "$work/rows"; }

meta() { sqlite3 "$work/s.db" "SELECT value FROM meta WHERE key = '$1'"; }

ingest_rows() { # NAME TRACE [INDEX]: its line of the table
    for _ in $(seq "$runs"); do
        measure "$ingest" -q --force --index="${3:-none}" -o "$work/s.db" "$2"
        row "$1" "$(meta events)" \
            "$(awk -v b="$(stat -c %s "$work/s.db")" -v r="$(meta rows)" 'BEGIN { printf "%.1f", b / r }')"
    done
    best
}

echo "| | events | seconds | M events/s | processor seconds | M events per processor second | peak memory | session bytes/allocation |"
echo "|---|---|---|---|---|---|---|---|"
"$MPROF_BUILD/tests/synthetic_trace" "$work/t.bin" "${ALLOCATIONS:-10300000}"
ingest_rows 'synthetic' "$work/t.bin"
ingest_rows 'synthetic, index by stack' "$work/t.bin" stack
rm "$work/t.bin" "$work/s.db"

# Blocks of many sizes at one place, 60,000 places that allocate once, and 180,000 stacks with blocks
# of many sizes at each.
here=$MPROF_SOURCE/tests/bench
gcc -O1 -g -o "$work/many_sizes" "$here/many_sizes.c"
python3 "$here/many_sites.py" 300 200 >"$work/many_sites.c"
gcc -O1 -g -fno-var-tracking-assignments -o "$work/many_sites" "$work/many_sites.c"
gcc -O1 -g -o "$work/many_stacks" "$here/many_stacks.c"
for program in many_sizes many_sites many_stacks; do
    "$MPROF_BUILD/bin/mprof-run" --quiet -o "$work/m.bin" -- "$work/$program"
    ingest_rows "$program" "$work/m.bin"
    rm "$work/m.bin"
done

# Sixty short processes of one program: all traces of the folder in one call, then each alone.
mkdir "$work/short"
for i in $(seq 60); do
    "$MPROF_BUILD/bin/mprof-run" --quiet -o "$work/short/$i.bin" -- /usr/bin/python3 -c "print($i)" >/dev/null
done
ingest_rows 'python3, 60 short traces' "$work/short"
for _ in $(seq "$runs"); do
    events=0
    for trace in "$work"/short/*.bin; do
        measure "$ingest" -q --force -o "$work/s.db" "$trace"
        events=$((events + $(meta events)))
    done
    row 'python3, 60 short traces, a call each' "$events" '-'
done
best
rm -r "$work/short"

# About 5 M events with stacks of a real depth. -S -E: python starts alike everywhere.
cat >"$work/program.py" <<'PYTHON'
import json
rows = [{"id": i, "name": "name %d" % i, "tags": ["a", str(i), "c%d" % (i % 7)]} for i in range(40000)]
for _ in range(2):
    assert len(json.loads(json.dumps(rows))) == 40000
PYTHON
program=(/usr/bin/python3 -S "$work/program.py")
export PYTHONMALLOC=malloc PYTHONHASHSEED=0
"$MPROF_BUILD/bin/mprof-run" --quiet -o "$work/p.bin" -- "${program[@]}"
ingest_rows 'python3' "$work/p.bin"
if [ -x /usr/lib/heaptrack/libexec/heaptrack_interpret ]; then
    env LD_PRELOAD=/usr/lib/heaptrack/libheaptrack_preload.so DUMP_HEAPTRACK_OUTPUT="$work/h.raw" \
        "${program[@]}" >/dev/null 2>&1
    events=$(grep -ac '^[+-]' "$work/h.raw")
    for _ in $(seq "$runs"); do
        measure bash -c '/usr/lib/heaptrack/libexec/heaptrack_interpret <"$0" 2>/dev/null | gzip -1 >"$1"' \
            "$work/h.raw" "$work/h.gz"
        measure heaptrack_print -f "$work/h.gz"
        row 'python3, heaptrack_interpret and heaptrack_print' "$events" '-'
    done
    best
else
    echo "(heaptrack is not installed: no comparison)"
fi
