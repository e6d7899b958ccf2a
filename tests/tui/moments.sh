#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Memory, timeline, diff and overview on recorded C++ programs: the numbers that they show and write
# to files are those of SQL.
. "$MPROF_SOURCE/tests/end_to_end/common.sh"

record() { # PROGRAM: makes PROGRAM.db
    mprof-run --quiet -o "$1.bin" "$MPROF_BUILD/tests/graphs/$1" >out.txt
    mprof-ingest --quiet -o "$1.db" "$1.bin"
}
screen() { # SESSION LINES…: the screens at each "dump"
    local session=$1
    shift
    printf '%s\n' "$@" >keys
    mprof-tui --script keys --size 200x50 "$session" >screen.txt || fail "the browser failed: $*"
}
has() { # WHAT PATTERN
    if grep -qE "$2" screen.txt; then echo "ok: $1"; else
        echo "$1: no line has $2"
        cat screen.txt
        failed=1
    fi
}
same() { # WHAT SQL-FILE FILE
    if [ -s "$2" ] && diff "$2" "$3" >difference.txt; then echo "ok: $1"; else
        echo "$1 differ from those of SQL:"
        head -20 difference.txt
        failed=1
    fi
}
ask() { sqlite3 -separator ',' "$@"; }

record pinned_heap
record undo_history
record kept_gestures

# Every hole, with its size, the last free in it, and the blocks on both sides.
last=$(ask pinned_heap.db "SELECT free_ns FROM allocation ORDER BY free_ns IS NULL, free_ns LIMIT 1
    OFFSET 90")
screen pinned_heap.db 'key 2 g' "type ${last}ns" 'key Enter 3 h' dump 'key :' 'type w holes.csv' 'key Enter' dump
ask pinned_heap.db "WITH live AS (SELECT id, address, address + max(size, 1) AS stop, size >= 131072
        AND address % 4096 = 16 AS mapped FROM allocation
        WHERE alloc_ns <= $last AND (free_ns IS NULL OR free_ns > $last)),
    beside AS (SELECT id, address, mapped, lag(mapped) OVER w AS lower, lag(id) OVER w AS below, lag(stop) OVER w AS reach FROM live
        WINDOW w AS (ORDER BY address)),
    hole AS (SELECT reach AS start, address AS stop, below, id AS above FROM beside
        WHERE address - reach BETWEEN 1024 AND 16777215
            AND NOT (mapped OR lower) AND (reach - 1) >> 26 = address >> 26) -- two heaps of threads may meet there
    SELECT start, stop - start, coalesce((SELECT max(free_ns) FROM allocation a
            WHERE a.free_ns <= $last AND a.address < stop AND a.address + max(a.size, 1) > start),
        'never used'), below, above FROM hole ORDER BY 2 DESC, start" >sql.txt
tail -n +2 holes.csv | tr -d '\r"' >shown.txt
same "the holes" sql.txt shown.txt
has "their number and sum" " $(printf "%'d" "$(wc -l <sql.txt)") holes? of 1.00 KiB or more, "

# The first screen names the moment with the most holes; h goes there and lists the same holes.
screen pinned_heap.db dump 'key 3 h' dump 'key :' 'type w worst.csv' 'key Enter' 'key p' dump
named=$(sed -nE 's/^ . +([0-9.]+ .?i?B) +fragmentation +([0-9,]+ holes?) .* at (.*)$/\2 of 1.00 KiB or more, \1 at \3/p' screen.txt)
[ -n "$named" ] || fail "the first screen names no fragmentation"
has "h lists what the first screen names" "^.* ${named//./\\.}:"
has "the moment with the most holes" ' [0-9.]+ (µs|ms|s), not the peak: most holes of 13 moments'
has "p goes back to the peak" ' 0 holes of 1.00 KiB or more, 0 B at '
is "$(tail -n +2 worst.csv | wc -l)" -eq "$(echo "$named" | cut -d' ' -f1 | tr -d ,)" "lines about holes at that moment"
screen pinned_heap.db 'key 3 p h' dump
has "the peak stays if it was asked for" ' 0 holes of 1.00 KiB or more, 0 B at '
# The use over time tells the numbers of the moment itself, and the list of a hole's blocks leads
# back to the same moment.
screen pinned_heap.db 'key 3 h t' dump 'key t h l' dump 'key Esc' dump
has "the use at that moment" "at ${named##* at } .* in use [0-9.]+ KiB"
has "its holes" "holes $(echo "$named" | sed -E 's/.*, (.*) at .*/\1/')( |\$)"
has "back from the list" "^.* ${named//./\\.}:"
screen pinned_heap.db 'key 2 b' dump 'key b' dump
has "the axis of a rate" '^ *[0-9.,]+[kM]?/s┤'
has "its legend" ' your code, allocations/s$'
has "what has become less" '^ *−[0-9.]+[KM]?┤'
mark=$(ask pinned_heap.db "SELECT ns FROM mark WHERE name = 'idle'")
is "$(tail -n +2 worst.csv | cut -d, -f3 | sort -n | tail -1)" -le "$mark" "the last hole is as old as the mark"

# The map at moments of the whole run. A play shows one frame after the other, each of them whole.
for session in pinned_heap kept_gestures; do
    if python3 "$MPROF_SOURCE/tests/tui/map.py" "$MPROF_BUILD/bin/mprof-tui" $session.db >out.txt 2>&1; then
        echo "ok: map of $session: $(cat out.txt)"
    else
        echo "map of $session:"
        head -20 out.txt
        failed=1
    fi
done
screen undo_history.db 'key 2 Home 3 ] ] ]' dump 'key Space' dump 'key )' dump 'key Right' dump 'key Space' dump
has "a play" '^ at [0-9.]+ .s playing ×1 · .* a cell'
has "at twice the speed" '^ at [0-9.]+ .s playing ×2 · '
has "its end" '^ stopped'
is "$(grep -cE '^ at [0-9.]+ .*a cell' screen.txt)" -eq 5 "whole frames"
is "$(grep -E '^ at [0-9.]+ .*a cell' screen.txt | cut -d' ' -f2-4 | uniq | wc -l)" -ge 3 "moments of a play"

# The layers of the timeline by two fields, and by the groups of the filter, in its three modes.
check_layers() { # NAME STACK FILTER SQL-OF-THE-NAME SQL-CONDITION: each number of each column of the chart
    local mode=live keys=''
    for mode in live rate net; do
        rm -f slots.csv slots.json
        printf '%s\n' 'key 2' "key :" "type stack $2" 'key Enter' ${keys:+"$keys"} 'key :' 'type w slots.csv' 'key Enter' \
            'key :' 'type w slots.json' 'key Enter' dump >keys
        mprof-tui --script keys --size 90x24 --filter "$3" handed_over.db >screen.txt || fail "the browser failed: $2"
        if python3 "$MPROF_SOURCE/tests/tui/layers.py" handed_over.db slots.csv $mode "$4" "$5" >out.txt; then
            echo "ok: layers by $1, $mode: $(cat out.txt)"
        else
            echo "layers by $1, $mode:"
            cat out.txt
            failed=1
        fi
        grep -qE '": -?[0-9]' slots.json && ! grep -E '": "' slots.json || fail "layers by $1, $mode: no numbers"
        keys="key b${keys:+ b}"
    done
}
record handed_over
type="coalesce(t.name, 'no type')"
check_layers 'type and kind' 'type, kind' all "$type || ' · ' || k.name" 1
check_layers 'large sizes' 'kind,thread' 'all | where size > 100' \
    "k.name || ' · ' || CASE (SELECT count(*) FROM thread o WHERE o.name = r.name) WHEN 1 THEN '' ELSE '#' || r.id || ' ' END || r.name" \
    'a.size > 100'
check_layers 'the groups of a filter' groups 'all | join type | sort bytes desc | top 2' "$type" \
    "$type IN (SELECT coalesce(u.name, 'no type') FROM allocation b LEFT JOIN type u ON u.id = b.type_id
        GROUP BY u.name ORDER BY sum(b.size) DESC LIMIT 2)"
screen handed_over.db 'key 2 :' 'type stack address' 'key Enter' dump 'key :' 'type stack groups' 'key Enter' dump \
    'key G' dump 'key Down Down Enter' dump 'key c Enter' dump 'key c Down Enter' dump
has "a field with too many values" 'address has too many values'
has "no groups" 'the filter makes no groups'
has "the menu" 'stack by'
has "another colouring ends it" '^ coloured by '

# The growth in a range, typed in nanoseconds.
end=$(ask undo_history.db "SELECT value FROM meta WHERE key = 'duration_ns'")
a=$((end / 4)) b=$((end / 4 * 3))
typed="(SELECT a.size, a.alloc_ns, a.free_ns, coalesce(t.name, '(unknown)') AS type
    FROM allocation a LEFT JOIN type t ON t.id = a.type_id)"
live() { echo "(alloc_ns <= $1 AND (free_ns IS NULL OR free_ns > $1))"; }
screen undo_history.db 'key 2 v' "type ${a}ns ${b}ns" 'key Enter' dump \
    'key :' 'type w types.csv' 'key Enter' 'key Tab :' 'type w users.csv' 'key Enter'
ask undo_history.db "SELECT type, sum(size * (alloc_ns > $a AND alloc_ns <= $b)),
        sum(size * (free_ns > $a AND free_ns <= $b)), sum(size * $(live "$b"))
    FROM $typed WHERE alloc_ns <= $b GROUP BY 1 HAVING sum(alloc_ns > $a) + sum(free_ns > $a AND free_ns <= $b) > 0 ORDER BY 1" >sql.txt
python3 - types.csv <<'END' | LC_ALL=C sort >shown.txt
import csv, sys
for row in list(csv.reader(open(sys.argv[1])))[1:]:
    print(",".join([row[0]] + row[2:]))
END
LC_ALL=C sort -o sql.txt sql.txt
same "the types of a range" sql.txt shown.txt
grep -q '^user,net_bytes,' users.csv || fail "no functions: $(head -3 users.csv)"
has "net, allocated and freed" 'net [+−].* = .* allocated − .* freed'
peak=$(ask undo_history.db "SELECT value FROM meta WHERE key = 'peak_ns'")
screen undo_history.db 'key 2 p' dump
has "the legend is that of the peak itself" "  the peak$"
has "the blocks live at the peak" " in $(printf "%'d" "$(ask undo_history.db \
    "SELECT count(*) FROM allocation WHERE $(live "$peak")")") "

# Two moments beside each other.
screen undo_history.db 'key :' 'type view diff' 'key Enter g' "type ${a}ns ${b}ns" 'key Enter' dump \
    'key :' 'type w diff.csv' 'key Enter'
ask undo_history.db "SELECT type, sum(size * $(live "$a")) AS x,
        sum(size * $(live "$b")) AS y, sum($(live "$a")) AS m, sum($(live "$b")) AS n
    FROM $typed GROUP BY 1 HAVING x <> y OR m <> n" |
    cut -d, -f1-3 | LC_ALL=C sort >sql.txt
python3 - diff.csv <<'END' | LC_ALL=C sort >shown.txt
import csv, sys
for row in csv.DictReader(open(sys.argv[1])):
    print(",".join([row["type"], row["from_bytes"], row["to_bytes"]]))
END
same "the rows of the diff" sql.txt shown.txt

# Enter on a finding lists as many blocks as it counts.
screen undo_history.db dump 'key Enter' dump
has "a history of copies" '^ ▲ .* piles up .* Document|^ ▲ .* piles up '
count=$(grep -m1 -oE '[0-9,]+ blocks?,' screen.txt | grep -oE '^[0-9,]+')
has "Enter on it" " ▸ .* $count of [0-9,]+ allocations"
screen kept_gestures.db dump
has "kept capacity" '^ ▲ .* kept capacity '

# A sample has no holes: blocks that it lacks lie between those that it has.
mprof-run --quiet --sample=512 -o sampled.bin "$MPROF_BUILD/tests/graphs/pinned_heap" >out.txt
mprof-ingest --quiet -o sampled.db sampled.bin
at=$(ask sampled.db "SELECT ns FROM mark WHERE name = 'idle'")
screen sampled.db dump 'key 2 g' "type ${at}ns" 'key Enter 3 h' dump
has "what lies outside of blocks of a sample" 'Outside blocks at (the )?peak +not known'
has "the gaps of a sample" 'a sample: blocks may lie in [0-9,]+ gaps?'
has "the list of them" ' gaps? of 1.00 KiB or more, .*: blocks may lie there'
if grep -qE 'fragmentation|holes? of 1.00 KiB' screen.txt; then
    echo "holes are found in a sample"
    failed=1
fi
exit "${failed:-0}"
