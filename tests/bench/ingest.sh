#!/usr/bin/env bash
# Events per second from trace to session, processor time of both threads, session bytes per
# allocation and memory, for a synthetic trace. ALLOCATIONS=n for other than 5,000,000, RUNS=n for
# other than 3.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
allocations=${ALLOCATIONS:-5000000}
"$MPROF_BUILD/tests/synthetic_trace" "$work/t.bin" "$allocations"
echo "| indexes | events | seconds | M events/s | user seconds | peak memory | session bytes/allocation |"
echo "|---|---|---|---|---|---|---|"
for index in none stack; do
    for _ in $(seq "${RUNS:-3}"); do
        /usr/bin/time -f '%e %U %M' -o "$work/time" \
            "$MPROF_BUILD/bin/mprof-ingest" -q --force --index=$index -o "$work/s.db" "$work/t.bin"
        read -r seconds user kilobytes <"$work/time"
        events=$(sqlite3 "$work/s.db" "SELECT value FROM meta WHERE key = 'events'")
        rows=$(sqlite3 "$work/s.db" "SELECT value FROM meta WHERE key = 'allocations'")
        bytes=$(stat -c %s "$work/s.db")
        awk -v i=$index -v e="$events" -v s="$seconds" -v u="$user" -v k="$kilobytes" -v b="$bytes" -v r="$rows" \
            'BEGIN { printf "| %s | %.1f M | %.2f | %.2f | %.2f | %.0f MiB | %.1f |\n", i, e / 1e6, s, e / s / 1e6, u, k / 1024, b / r }'
    done
done
