#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The golden traces: the generator still writes the checked-in bytes; worked.bin decodes to
# worked.txt and becomes a session with the rows of worked.sql; references.bin decodes to
# references.txt and has no problem; each bad-*.bin gives its bad-*.txt.
# MPROF_REFRESH=1 writes the expected files again instead of comparing.
set -u
ulimit -s 256 # a small stack is enough
golden=$MPROF_SOURCE/tests/golden/trace ingest=$MPROF_BUILD/bin/mprof-ingest
rm -rf golden && mkdir golden && cd golden || exit 1
failed=0

expect() { # FILE: it equals the golden one of the same name
    [ -z "${MPROF_REFRESH:-}" ] || cp "$1" "$golden/$1"
    diff -u "$golden/$1" "$1" || { failed=1; echo "^ $1 differs from tests/golden/trace/$1"; }
}

"$MPROF_BUILD/tests/generate_traces" . || exit 1
for trace in *.bin; do
    [ -z "${MPROF_REFRESH:-}" ] || cp "$trace" "$golden/$trace"
    cmp "$trace" "$golden/$trace" || failed=1
done

"$ingest" --dump worked.bin >worked.txt || failed=1
expect worked.txt
"$ingest" --dump=time worked.bin >worked-by-time.txt || failed=1
expect worked-by-time.txt
"$ingest" --dump references.bin >references.txt || failed=1
expect references.txt
"$ingest" --quiet worked.bin || failed=1
# The rows that the trace makes. `kind` is the same in every session. A slot without events repeats
# what was live before it, so only slots with events are shown.
sqlite3 worked.db .dump | sed -n '/^INSERT INTO /{/^INSERT INTO \(kind\|timeline\) /d;/.\(ingest\|user_code\)_version./d;p}' >worked.sql
sqlite3 worked.db '.mode insert timeline' \
    'SELECT * FROM timeline WHERE slot = 0 OR allocated_count + freed_count > 0' >>worked.sql
expect worked.sql
[ "$(sqlite3 worked.db "SELECT count(*), max(slot), (SELECT count(*) FROM timeline t
        JOIN timeline before ON before.slot = t.slot - 1
        WHERE t.allocated_count + t.freed_count = 0 AND t.live_bytes = before.live_bytes
            AND t.live_count = before.live_count AND t.peak_bytes = before.live_bytes
            AND t.allocated_bytes + t.freed_bytes = 0) FROM timeline")" = '1001|1000|984' ] ||
    { failed=1; echo "slots without events"; }
[ "$(sqlite3 worked.db 'PRAGMA application_id; PRAGMA user_version; PRAGMA integrity_check' | tr '\n' ' ')" \
    = "1297109583 3 ok " ] || { failed=1; echo "not marked as a session"; }

"$ingest" --quiet references.bin &&
    [ "$(sqlite3 references.db 'SELECT count(*) FROM problem; SELECT count(*) FROM thread')" = "0
1" ] || { failed=1; echo "references.bin"; }

for trace in bad-*.bin; do
    name=${trace%.bin}
    {
        "$ingest" --quiet "$trace"
        echo "exit status $?"
        [ ! -e "$name.db" ] || sqlite3 "$name.db" "SELECT kind, byte_offset, thread_id, detail FROM problem;
            SELECT key, value FROM meta WHERE key IN ('damaged_bytes', 'missing_chunks', 'orphaned_stacks', 'rows');"
    } >"$name.txt" 2>&1
    [ ! -e "$name.db.part" ] || { failed=1; echo "$name.db.part was left behind"; }
    expect "$name.txt"
done
exit $failed
