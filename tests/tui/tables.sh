#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Compares the tables of the browser with SQL on recorded programs: C++ with templates, threads,
# arenas, several processes, a program of the system.
. "$MPROF_SOURCE/tests/end_to_end/common.sh"

check() { # NAME COMMAND…
    local name=$1
    shift
    mprof-run --quiet -o "$name.bin" "$@" >out.txt 2>&1
    mprof-ingest --quiet -o "$name.db" "$name.bin" || fail "$name is not ingested"
    if python3 "$MPROF_SOURCE/tests/tui/tables.py" "$MPROF_BUILD/bin/mprof-tui" "$name.db" >out.txt 2>&1; then
        echo "ok: $name: $(cat out.txt)"
    else
        echo "$name:"
        cut -c 1-300 out.txt
        failed=1
    fi
}
check templates "$MPROF_BUILD/tests/graphs/padded_cells"
check threads "$MPROF_BUILD/tests/graphs/handed_over"
check arenas "$MPROF_BUILD/tests/arena"
check processes sh -c 'ls -l / | sort | tail -1; perl -e "print 1 x 10000"'
check system sqlite3 :memory: "CREATE TABLE t(a, b); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n
    WHERE i < 300) INSERT INTO t SELECT i, hex(randomblob(i)) FROM n; SELECT count(*), max(length(b)) FROM t"

# The whole list is written, not only what is on the screen; one that is too long names the command
# that writes it.
printf 'key 8\nkey :\ntype w! list.csv\nkey Enter\ndump\n' >keys
mprof-tui --script keys --size 200x30 system.db >screen.txt || fail "the browser failed"
rows=$(sqlite3 system.db "SELECT count(*) FROM allocation WHERE arena_id = 0")
[ "$rows" -gt 300 ] && [ "$(wc -l <list.csv)" = $((rows + 1)) ] ||
    { echo "the list has $rows rows: $(wc -l <list.csv)"; failed=1; }
"$MPROF_BUILD/tests/make_session" long.db 60000 40 15 2 1 || fail "no long list"
mprof-tui --script keys --size 200x30 long.db >screen.txt || fail "the browser failed"
export=$(sed -n 's/^ too long for here: \(mprof-export .*\) > FILE *$/\1/p' screen.txt)
[ -n "$export" ] && eval "$export" >list.csv && [ "$(wc -l <list.csv)" -gt 50000 ] ||
    { echo "the list names no command: $(tail -1 screen.txt)"; failed=1; }

# The command has all of a filter, and the process; it is not given if a shell would read it in another way.
sqlite3 long.db "UPDATE process SET first_allocation_id = 1, last_allocation_id = 60000, allocations = 60000 WHERE id = 1"
printf 'key :\ntype process %s\nkey Enter\nkey f\ntype all%s\nkey Enter\nkey 8\nkey :\ntype w! list.csv\nkey Enter\ndump\n' \
    4711 "$(printf ' | where size != %d' 100001 100002 100003 100004 100005 100006 100007)" >keys
mprof-tui --fresh --script keys --size 330x30 long.db >screen.txt || fail "the browser failed"
export=$(sed -n 's/^ too long for here: \(mprof-export .*\) > FILE *$/\1/p' screen.txt)
grep -qE -- "--process 4711[.]1 .*100007' " <<<"$export" &&
    eval "$export" >list.csv && [ "$(wc -l <list.csv)" -gt 50000 ] ||
    { echo "the list names no command for the process: $(tail -1 screen.txt)"; failed=1; }
printf 'key f\ntype all | where function != "%s"\nkey Enter\nkey 8\nkey :\ntype w! list.csv\nkey Enter\ndump\n' "it's" >keys
mprof-tui --fresh --script keys --size 200x30 long.db >screen.txt || fail "the browser failed"
grep -q '^ the list is too long to be written from here: mprof-export --filter writes it *$' screen.txt ||
    { echo "the list names a command that a shell does not read: $(tail -1 screen.txt)"; failed=1; }

# The pane about the type that the view opens with is sorted as its arrow says, also for the unknown.
printf 'key 6\ndump\n' >keys
mprof-tui --script keys --size 100x30 processes.db >screen.txt || fail "the browser failed"
grep -q 'candidates of blocks of unknown type' screen.txt || fail "no block of unknown type is the first"
grep -q 'bytes▼.*would fit' screen.txt || { echo "the arrow of the candidates is wrong"; failed=1; }

# Names that would steer a terminal stay on the screen as text.
sqlite3 templates.db "UPDATE type SET name = name || char(27) || '[31m' || char(10) || char(7);
    UPDATE function SET name = char(27) || ']0;x' || char(7) || name; UPDATE thread SET name = char(13) || char(27) || '[2J'"
sqlite3 templates.db "UPDATE source_file SET path = path || char(27) || '[2J' || char(10)" || fail 'no hostile files'
for view in types leaks sizes lifetimes threads arenas allocations detail source sql functions tree diff; do
    printf 'key :\ntype %s\nkey Enter\ndump\nkey Tab Down\ndump\n%s' "$view" \
        "$(case $view in allocations) printf 'key Enter\ndump\nkey PgDn PgDn\ndump\n' ;;
            source) printf 'key Enter\ndump\n' ;;
            sql) printf 'key g\ntype SELECT path AS "\\33[2J", name FROM source_file, function\nkey Enter\ndump\n' ;; esac)" >keys
    mprof-tui --script keys --size 120x30 templates.db >screen.txt || fail "$view: the browser failed"
    if LC_ALL=C grep -q "$(printf '[\001-\011\013-\037\177]')" screen.txt; then
        echo "$view: a control character is on the screen"
        failed=1
    fi
done
# The first screen goes to the stacks that there are, not to as many as the session claims.
sqlite3 templates.db "UPDATE meta SET value = 1 << 40 WHERE key = 'stacks'"
printf 'dump\n' >keys
(ulimit -t 8; exec mprof-tui --fresh --script keys templates.db) >screen.txt || fail 'a false number of stacks holds up the first screen'
exit "${failed:-0}"
