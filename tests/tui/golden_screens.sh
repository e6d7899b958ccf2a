#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Runs every script of tests/tui/screens at two sizes on a generated session, and compares the
# screens with tests/golden/screens. MPROF_REFRESH=1 writes them instead.
set -eu
export LC_ALL=C.UTF-8 TZ=UTC TERM=xterm-256color HOME=/nonexistent
unset NO_COLOR
scripts=$MPROF_SOURCE/tests/tui/screens
golden=$MPROF_SOURCE/tests/golden/screens
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$MPROF_BUILD/tests/make_session" "$work/session.db" 20000 400 150 4 1
[ -n "${MPROF_REFRESH:-}" ] && mkdir -p "$golden"
failed=0

# play NAME SCRIPT SIZE [options]: compares one dump of $session with one golden file.
session=$work/session.db
play() {
    local name=$1 script=$2 size=$3
    shift 3
    "$MPROF_BUILD/bin/mprof-tui" --script "$scripts/$script.script" --size "$size" "$@" \
        "$session" >"$work/$name.txt" || { echo "$name: the browser failed"; failed=1; return; }
    if [ -n "${MPROF_REFRESH:-}" ]; then
        cp "$work/$name.txt" "$golden/$name.txt"
    elif ! diff -u "$golden/$name.txt" "$work/$name.txt"; then
        echo "$name: the screen differs (MPROF_REFRESH=1 takes the new one)"
        failed=1
    fi
}

for script in overview timeline grid functions; do
    play "$script.80x24" "$script" 80x24
    play "$script.120x40" "$script" 120x40
done
for script in filter resize help mouse members; do
    play "$script.80x24" "$script" 80x24
done
play plain.200x60 plain 200x60
play layout.200x60 layout 200x60
NO_COLOR=1 play plain-mono.80x24 plain 80x24 --ascii

# The same allocations as if they were a sample.
cp "$work/session.db" "$work/sampled.db"
sqlite3 "$work/sampled.db" "DELETE FROM meta WHERE key IN ('sampled', 'sample_interval');
    INSERT INTO meta VALUES ('sampled', 1), ('sample_interval', 65536),
        ('estimated_allocations', 12345678), ('estimated_live_bytes_end', 23456789)"
session=$work/sampled.db
play sampled.80x24 plain 80x24
play sampled.120x40 plain 120x40
# Blocks that the wrong function frees, on the overview.
cp "$work/session.db" "$work/mismatched.db"
sqlite3 "$work/mismatched.db" "INSERT INTO meta VALUES ('mismatched_frees', 9);
    INSERT INTO mismatch SELECT 10, k.id, 0, 'delete[]', 7, 700 FROM kind k WHERE k.name = 'malloc';
    INSERT INTO mismatch SELECT 20, k.id, 0, 'realloc', 2, 200 FROM kind k WHERE k.name = 'malloc'"
session=$work/mismatched.db
play mismatched.80x24 first 80x24
session=$work/session.db

# Keys that come together end in the same screen as keys that come one by one.
for keys in '3 ] ] ] Right Down Down + + [ [ n' '2 Left Left + Right L Left - v Right Right' \
    '4 Down Down > Down r PgDn Up Enter' '3 p } Down + Enter Down Down'; do
    printf 'key %s\n' "$keys" >"$work/single"
    printf 'burst %s\n' "$keys" >"$work/burst"
    for way in single burst; do
        "$MPROF_BUILD/bin/mprof-tui" --script "$work/$way" "$work/session.db" >"$work/$way.txt" || failed=1
    done
    diff -u "$work/single.txt" "$work/burst.txt" || { echo "a burst of $keys differs"; failed=1; }
done
exit $failed
