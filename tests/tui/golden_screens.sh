#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Runs every script of tests/tui/screens on a generated session, at the sizes that its first line
# names, and compares the screens with tests/golden/screens. At 80x24 it also compares the layer of
# colours: NAME.80x24.colours.txt has a character for each cell's style. MPROF_REFRESH=1 writes them
# instead. The title line, which names all views, is compared only by the script "frame", and only the
# frame. With a size as its argument it compares the screens of that size alone.
set -eu
ulimit -s 256 # a small stack is enough for every view
export LC_ALL=C.UTF-8 TZ=UTC TERM=xterm-256color HOME=/nonexistent
unset NO_COLOR
scripts=$MPROF_SOURCE/tests/tui/screens
golden=$MPROF_SOURCE/tests/golden/screens
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$MPROF_BUILD/tests/make_session" "$work/session.db" 20000 400 150 4 1
[ -n "${MPROF_REFRESH:-}" ] && mkdir -p "$golden"
failed=0

# Drops the title line of each dump. Only that line, the next and the last of the script "frame"
# stay.
only_view() {
    awk -v frame="$([ "$2" = frame ] && echo 1)" '
        function end() { if (frame && row > 2) print last }
        /^== .* ==$/ { end(); print; row = 0; next }
        { row++; last = $0 }
        frame ? row <= 2 : row > 1 { print }
        END { end() }' "$1" >"$1.part"
    mv "$1.part" "$1"
}

# play NAME SCRIPT SIZE [options]: compares one dump of $session with one golden file.
session=$work/session.db
folder=$scripts
play() {
    local name=$1 script=$2 size=$3
    shift 3
    "$MPROF_BUILD/bin/mprof-tui" --script "$folder/$script.script" --size "$size" "$@" \
        "$session" >"$work/$name.txt" || { echo "$name: the browser failed"; failed=1; return; }
    only_view "$work/$name.txt" "$script"
    if [ -n "${MPROF_REFRESH:-}" ]; then
        cp "$work/$name.txt" "$golden/$name.txt"
    elif ! diff -u "$golden/$name.txt" "$work/$name.txt"; then
        echo "$name: the screen differs (MPROF_REFRESH=1 takes the new one)"
        failed=1
    fi
}

for file in "$scripts"/*.script; do
    script=$(basename "$file" .script)
    for size in $(sed -n '1s/^# sizes: //p' "$file"); do
        [ "${1:-$size}" = "$size" ] || continue
        play "$script.$size" "$script" "$size"
    done
done

[ -z "${1:-}" ] || exit $failed

# The colours: the same keys, with the styles of each screen in place of its text.
folder=$work/colours
mkdir "$folder"
for file in "$scripts"/*.script; do
    script=$(basename "$file" .script)
    sed 's/^dump/styles/' "$file" >"$folder/$script.script"
    grep -q '^styles' "$folder/$script.script" || echo styles >>"$folder/$script.script"
    case $(sed -n 1p "$file") in *' 80x24'*) play "$script.80x24.colours" "$script" 80x24 ;; esac
done
for theme in light colour-blind mono; do
    play "theme-$theme.80x24.colours" timeline 80x24 --theme "$theme"
done
folder=$scripts
NO_COLOR=1 play plain-mono.80x24 plain 80x24 --ascii
play tree-ascii.80x24 tree 80x24 --ascii
grep -n '?' "$work/tree-ascii.80x24.txt" | grep -v '? help\|; ? lists' && echo 'tree-ascii: a mark has no ASCII' && failed=1

# RSS far above what is live has no line in the chart: the legend says so.
cp "$work/session.db" "$work/above.db"
sqlite3 "$work/above.db" "UPDATE rss SET bytes = bytes * 10"
printf 'key 2\ndump\n' >"$work/above.script"
for size in 80x24 200x60; do
    "$MPROF_BUILD/bin/mprof-tui" --script "$work/above.script" --size "$size" "$work/above.db" | grep -q '─ RSS, above  *121M' ||
        { echo "above the chart: the legend has another RSS at $size"; failed=1; }
done

# Two sessions beside each other, with other ids for the same names.
"$MPROF_BUILD/tests/make_session" "$work/earlier.db" 15000 300 120 4 7
play two-sessions.80x24 two_sessions 80x24 "$work/earlier.db"
play two-sessions.120x40 two_sessions 120x40 "$work/earlier.db"

# Readings of the pages in memory: the resident set.
cp "$work/session.db" "$work/read.db"
python3 "$MPROF_SOURCE/tests/session/residency_rows.py" "$work/read.db" || failed=1
session=$work/read.db
play rss-read.80x24 rss 80x24
play rss-read.120x40 rss 120x40
session=$work/session.db

# References between blocks: who keeps memory alive.
cp "$work/session.db" "$work/held.db"
python3 "$MPROF_SOURCE/tests/session/reference_rows.py" "$work/held.db" &&
    "$MPROF_BUILD/bin/mprof-ingest" --rebuild "$work/held.db" >/dev/null || failed=1
session=$work/held.db
play retained-held.80x24 retained 80x24
play retained-held.120x40 retained 120x40
"$MPROF_BUILD/tests/make_session" "$work/two.db" 3000 300 60 4 7 &&
    python3 "$MPROF_SOURCE/tests/session/reference_rows.py" "$work/two.db" earlier &&
    "$MPROF_BUILD/bin/mprof-ingest" --rebuild "$work/two.db" >/dev/null || failed=1
session=$work/two.db
play retained-changes.80x24 retained_changes 80x24
play retained-changes-first.80x24 retained_changes_first 80x24
session=$work/session.db

# The same allocations as if they were a sample.
cp "$work/session.db" "$work/sampled.db"
sqlite3 "$work/sampled.db" "DELETE FROM meta WHERE key IN ('sampled', 'sample_interval');
    INSERT INTO meta VALUES ('sampled', 1), ('sample_interval', 65536),
        ('estimated_allocations', 12345678), ('estimated_live_bytes_end', 23456789)"
session=$work/sampled.db
play sampled.80x24 plain 80x24
play sampled.120x40 plain 120x40
play sampled-leaks.80x24 leaks 80x24
# Blocks that the wrong function frees, on the overview.
cp "$work/session.db" "$work/mismatched.db"
sqlite3 "$work/mismatched.db" "INSERT INTO meta VALUES ('mismatched_frees', 9);
    INSERT INTO mismatch SELECT 10, k.id, 0, 'delete[]', 7, 700 FROM kind k WHERE k.name = 'malloc';
    INSERT INTO mismatch SELECT 20, k.id, 0, 'realloc', 2, 200 FROM kind k WHERE k.name = 'malloc'"
session=$work/mismatched.db
play mismatched.80x24 first 80x24
# Hardly any type is known: sizes take the place of types.
cp "$work/session.db" "$work/untyped.db"
sqlite3 "$work/untyped.db" "UPDATE allocation SET type_id = 0" &&
    "$MPROF_BUILD/bin/mprof-ingest" --rebuild "$work/untyped.db" >/dev/null || failed=1
session=$work/untyped.db
play untyped.80x24 untyped 80x24
# Functions that look alike: of one name in two files, and with one short name.
cp "$work/session.db" "$work/alike.db"
sqlite3 "$work/alike.db" "UPDATE function SET name = 'make(int)' WHERE name IN ('render_message', 'format_page');
    UPDATE function SET name = 'void std::string::_M_construct<char*>(char*, char*)' WHERE name = 'find_token';
    UPDATE function SET name = 'void std::string::_M_construct<char const*>(char const*, char const*)'
        WHERE name = 'decode_record';
    UPDATE function SET name = 'void app::Cache::store(int)' WHERE name = 'parse_record';
    UPDATE function SET name = 'void app::Cache::store(long)' WHERE name = 'find_record'"
session=$work/alike.db
play alike.80x24 alike 80x24
play alike.120x40 alike 120x40
# One word for a type that is not known in all files, as in SQL.
for view in 1 2v 6 7 8 2vd; do
    printf 'key %s\n' "${view%v*}" >"$work/unknown.script"
    case $view in *v*) printf 'key v\ntype start end\nkey Enter\n' >>"$work/unknown.script" ;; esac
    case $view in *d) echo 'key d' >>"$work/unknown.script" ;; esac
    printf 'key :\ntype w! %s\nkey Enter\ndump\n' "$work/unknown.csv" >>"$work/unknown.script"
    rm -f "$work/unknown.csv"
    "$MPROF_BUILD/bin/mprof-tui" --script "$work/unknown.script" --size 120x40 "$session" >"$work/unknown.txt" || failed=1
    grep -q '(unknown)' "$work/unknown.csv" || { echo "no (unknown) in the file of: $view"; tail -1 "$work/unknown.txt"; failed=1; }
    python3 - "$work/unknown.csv" "$view" <<'PYTHON' || failed=1
import csv, sys
for row in csv.DictReader(open(sys.argv[1], encoding="utf-8", newline="")):
    for name in ("type", "subject"):
        if row.get(name) in ("unknown", "unknown type"):
            sys.exit(f"{row[name]!r} in {name} of the file of: {sys.argv[2]}")
PYTHON
done
# `w` offers for a row what SQL counts for its function, not for another one of its name.
printf '%s\n' 'key 4 b b C s Home Left w 2' dump >"$work/narrow.script"
"$MPROF_BUILD/bin/mprof-tui" --script "$work/narrow.script" --size 80x24 "$session" >"$work/narrow.txt" || failed=1
counted=$(sqlite3 "$session" "SELECT printf('%,d', count(*)) FROM allocation WHERE arena_id = 0 AND stack_id IN
    (SELECT stack_id FROM stack_frame JOIN frame f ON f.id = frame_id JOIN function n ON n.id = f.function_id
     WHERE n.name = 'make(int)' AND n.line = 53)")
grep -q "where stack in .* $counted of 20,000" "$work/narrow.txt" || {
    echo "make of cache.c:53 is on the stacks of $counted allocations, but w takes:"
    sed -n 3p "$work/narrow.txt"
    failed=1
}
# one_name_each: no two layers of the timeline have one name in a file, nor in the line about a slot.
one_name_each() {
    printf 'key 2 p\ndump\nkey :\ntype w! %s\nkey Enter\n' "$work/slots.csv" >"$work/slots.script"
    "$MPROF_BUILD/bin/mprof-tui" --script "$work/slots.script" --size 160x40 "$session" >"$work/slots.txt" || failed=1
    head -1 "$work/slots.csv" | tr ',' '\n' | sort | uniq -d | grep . && echo 'two columns have one name' && failed=1
    sed -n 's/^ by //p' "$work/slots.txt" | sed -E 's/ [0-9.]+%( *|$)/\n/g' | grep . | sort >"$work/shares.txt"
    grep -q 'make (' "$work/shares.txt" || { echo "no make in the slot: $(cat "$work/shares.txt")"; failed=1; }
    uniq -d "$work/shares.txt" | grep . && echo 'two functions of a slot have one name' && failed=1
    return 0
}
one_name_each
# The same of the list, of a block's page, of leaks, and of a frame on the stack of a leak. The menu names the
# function by its place.
narrows() { # KEYS NUMBER CONDITION: of SQL, on `fn`, which has the id of the function
    local place counted
    printf '%s\n' "key $1" dump "key $2" dump >"$work/narrow.script"
    "$MPROF_BUILD/bin/mprof-tui" --script "$work/narrow.script" --size 120x40 "$session" >"$work/narrow.txt" || failed=1
    place=$(sed -n "s/.*│ $2 [^:]*function[^:]*: .*make.* (\([a-z]*\.c\):\([0-9]*\)).*/\1 \2/p" "$work/narrow.txt" | head -1)
    counted=$(sqlite3 "$session" "WITH fn AS (SELECT n.id FROM function n JOIN source_file s ON s.id = n.source_file_id
            WHERE n.name = 'make(int)' AND n.line = '${place#* }' AND s.path LIKE '%${place% *}')
        SELECT printf('%,d', count(*)) FROM allocation WHERE arena_id = 0 AND $3")
    grep -q " | where stack in .* $counted of 20,000" "$work/narrow.txt" || {
        echo "w after $1: $counted allocations of make in ${place:-?}, but the filter is:"
        sed -n '/^==/,$p' "$work/narrow.txt" | grep '^ ▸' | tail -1
        failed=1
    }
}
on_stack="stack_id IN (SELECT stack_id FROM stack_frame JOIN frame f ON f.id = frame_id
    WHERE f.function_id IN (SELECT id FROM fn))"
at_site="stack_id IN (SELECT id FROM stack WHERE function_id IN (SELECT id FROM fn))"
narrows '8 / m a k e Enter w' 2 "$at_site"
narrows '8 / m a k e Enter Enter w' 2 "$at_site"
narrows '8 / m a k e Enter Enter / c a c h e . c Enter w' 1 "$on_stack"
narrows '7 / m a k e Enter Tab Up Up w' 3 "$on_stack"
# Functions of one place, as of a header in two modules; then of one module, too, as without debug
# information.
sqlite3 "$work/alike.db" "UPDATE function SET source_file_id = 3, line = 12,
    module_id = 1 + (id = (SELECT max(id) FROM function WHERE name = 'make(int)')) WHERE name = 'make(int)'"
one_name_each
sqlite3 "$work/alike.db" "UPDATE function SET source_file_id = NULL, line = NULL, module_id = 1 WHERE name = 'make(int)'"
one_name_each
# layers_differ FIELDS: no two layers look the same in the legend of the timeline.
layers_differ() {
    printf '%s\n' 'key 2 :' "type stack $1" 'key Enter' dump >"$work/layers.script"
    for size in 80x24 120x40 200x60; do
        "$MPROF_BUILD/bin/mprof-tui" --script "$work/layers.script" --size "$size" "$session" |
            sed -nE 's/.*█ (.*[^ ]) +[0-9.]+[KMG]?( +<?[0-9.]+%)?$/\1/p' >"$work/layers.txt" || failed=1
        [ "$(wc -l <"$work/layers.txt")" -ge 6 ] || { echo "few layers of $1 at $size"; failed=1; }
        sort "$work/layers.txt" | uniq -d | grep . && echo "two layers of $1 look the same at $size" && failed=1
    done
    return 0
}
sqlite3 "$work/alike.db" "UPDATE function SET name = 'void app::Cache::keep(int)' WHERE name = 'decode_cache';
    UPDATE function SET name = 'void app::Cache::keep(long)' WHERE name = 'store_page'"
layers_differ 'function, kind'
session=$work/session.db

# Keys that come together end in the same screen as keys that come one by one.
for keys in '3 ] ] ] Right Down Down + + [ [ n' '2 Left Left + Right L Left - v Right Right' \
    '5 Down Down > Down r PgDn Up Enter' '3 p } Down + Enter Down Down' \
    '8 PgDn PgDn PgDn PgDn PgDn PgDn Enter' '4 Right Down Down w' '5 Down Down Down w' '7 Down Down w' '6 Down y' '7 Down y'; do
    printf 'key %s\n' "$keys" >"$work/single"
    printf 'burst %s\n' "$keys" >"$work/burst"
    for way in single burst; do
        "$MPROF_BUILD/bin/mprof-tui" --script "$work/$way" "$work/session.db" >"$work/$way.txt" || failed=1
    done
    diff -u "$work/single.txt" "$work/burst.txt" || { echo "a burst of $keys differs"; failed=1; }
done
exit $failed
