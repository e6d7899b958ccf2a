#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Keys that make a filter of what is selected take exactly what that counts, by SQL.
. "$MPROF_SOURCE/tests/end_to_end/common.sh"

screen() { # KEYS…: the screens at each "dump"
    printf '%s\n' "$@" >keys
    mprof-tui --script keys --size 140x40 "$session" >screen.txt || fail "the browser failed: $*"
}
has() { # WHAT TEXT: in the last screen
    if tac screen.txt | sed '/^== /q' | grep -qF -- "$2"; then echo "ok: $1"; else
        echo "$1: no line has $2"
        cat screen.txt
        failed=1
    fi
}

mprof-run --quiet -o leaks.bin "$MPROF_BUILD/tests/graphs/leaking_requests" >out.txt
mprof-ingest --quiet -o leaks.db leaks.bin
session=leaks.db
all=$(ask leaks.db "SELECT printf('%,d', count(*)) FROM allocation")

# A filter that makes groups goes on with their allocations.
headers=$(ask leaks.db "SELECT printf('%,d', count(*)) FROM v_allocation WHERE type = 'Header'")
screen 'key f' 'type all | join type' 'key Enter 6 / H e a d e r Enter w' dump
has "w after a join" "all | join type | ungroup | where type == \"Header\""
has "what w takes after a join" "$headers of $all allocations"
screen 'key f' 'type all | join type' 'key Enter 6 / H e a d e r Enter x' dump
has "x after a join" "all | join type | ungroup | where not (type == \"Header\")"
screen 'key f' 'type all | join type' 'key Enter 1 Enter' dump
has "a finding after a join" "1,000 of $all allocations"

# The view of arenas sums up those of the groups' allocations.
mprof-run --quiet -o arenas.bin "$MPROF_BUILD/tests/arena" >out.txt
mprof-ingest --quiet -o arenas.db arenas.bin
session=arenas.db
arena=$(ask arenas.db "SELECT name FROM arena WHERE allocations > 0 ORDER BY bytes DESC LIMIT 1")
screen 'key f' 'type all | join type' 'key Enter :' 'type arenas' 'key Enter' dump
has "the arenas after a join" "$arena"
session=leaks.db

# The overview counts what leaked, and so does its Enter.
leaked=$(ask leaks.db "SELECT printf('%,d', count(*)) FROM allocation WHERE free_ns IS NULL
    AND stack_id NOT IN (SELECT stack_id FROM runtime_stack)")
screen 'key 1' dump
has "what leaked" "leaked in $leaked blocks"
screen 'key 1 Down Enter' dump
has "what Enter on it lists" " ▸ leaked "
has "its number" "$leaked of $all allocations"
screen 'key f' 'type where size != 120' 'key Enter 1 Enter' dump
has "the same under a filter" " ▸ leaked & ( where size != 120 ) "

# A filter for which no findings can be ranked says so.
steps=all
for ((i = 0; i < 300; i++)); do steps+=" | where size > 1"; done
screen 'key f' "type $steps" 'key Enter 1' dump
has "an overview without ranks" "the filter is too long for leaks, growers and other findings by rank"

# Names of any length are filters.
cp leaks.db long.db
for table in function type; do
    ask long.db "UPDATE $table SET name = name || printf('%.*c', 700, 'n')"
done
session=long.db
screen 'key 5 / m a i n Enter w Enter 1' dump
has "w on a function with a long name" 'where stack has "'
has "its number" " of $all allocations"
screen 'key 7 l' dump
has "l on a leak with a long type" "where freed == false and stack "
has "its number" " of $all allocations"
screen 'key 2 v' 'type start end' 'key Enter Enter' dump
has "Enter on a type of the range" 'where alloc_time in '

# A group of many stacks, whose filter is long.
mprof-run --quiet --free-stacks -o stacks.bin "$MPROF_BUILD/tests/many_stacks"
mprof-ingest --quiet -o stacks.db stacks.bin
session=stacks.db
screen 'key 7 l' dump
has "l on a group of many stacks" "where freed == false and stack in ("
has "its number" " 512 of 1,025 allocations"

# The page of a block names who freed it before any stack.
screen 'key 8 Enter' dump
sed -n '/^ freed  /,/^ here before /p' screen.txt | grep -qE '^ freed by +give_back +many_stacks\.c:[0-9]+' ||
    fail "the page does not begin with who freed the block: $(head -12 screen.txt)"

# A frame of the stack of a free is a filter of what was freed there.
screen 'key 8 Enter / g i v e Enter w 1' dump
has "w on the frame of a free" 'where free_stack has "give_back"'
has "its number" " 1 of 1,025 allocations"

# Lines of the overview that count no blocks show by Enter what they count.
follow() { # TEXT: Enter on the finding with it
    local row
    screen 'key 1' dump
    row=$(sed -n '/^ Findings/,/^$/p' screen.txt | grep -nF -- "$1" | head -1 | cut -d: -f1)
    [ -n "$row" ] || fail "no finding has: $1"
    screen "key 1 $(yes Down | head -$((row - 2)) | tr '\n' ' ')Enter" dump
}
g++ -O1 -g -w -fno-builtin -std=c++17 -fsized-deallocation -o mismatched "$MPROF_SOURCE/tests/programs/mismatched.cpp" || fail "mismatched"
mprof-run --quiet --free-stacks -o mismatched.bin ./mismatched >out.txt
mprof-ingest --quiet -o mismatched.db mismatched.bin
session=mismatched.db
follow 'mismatched frees'
has "the mismatches" "SELECT * FROM v_mismatch ORDER BY allocations DESC"
has "all of them" " $(ask mismatched.db "SELECT count(*) FROM v_mismatch") row"
follow 'no debug information for'
has "the modules" "SELECT name, group_concat(DISTINCT symbols) AS symbols"
has "the number of one row" " $(ask mismatched.db "SELECT count(DISTINCT name) FROM module
    WHERE symbols NOT IN ('dwarf', 'runtime') AND id IN (SELECT module_id FROM frame)") row"
# A session keeps the first of many problems, and the line of the overview counts all.
cp mismatched.db many.db
ask many.db "DELETE FROM meta WHERE key = 'double_frees'; INSERT INTO meta(key, value) VALUES ('double_frees', 2000);
    INSERT INTO problem(kind, detail) VALUES ('double free', 'one'), ('double free', 'two')"
session=many.db
follow '2,000 blocks were freed twice'
has "how many problems are kept" "the first 2 are kept"
exit $failed
