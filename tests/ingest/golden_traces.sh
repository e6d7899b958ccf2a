#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The golden traces: the generator still writes the checked-in bytes; worked.bin decodes to
# worked.txt and becomes the session worked.sql; each bad-*.bin gives its bad-*.txt. MPROF_REFRESH=1
# writes the expected files again instead of comparing.
set -u
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
"$ingest" --quiet worked.bin || failed=1
# Addresses of names and versions of programs are left out.
sqlite3 worked.db .dump | grep -v "'ingest_version'" >worked.sql
expect worked.sql
[ "$(sqlite3 worked.db 'PRAGMA application_id; PRAGMA user_version; PRAGMA integrity_check' | tr '\n' ' ')" \
    = "1297109583 1 ok " ] || { failed=1; echo "not marked as a session"; }

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
