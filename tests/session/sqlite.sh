#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# graph() in the sqlite3 shell: results of filter graphs against plain SQL on the same session, errors,
# warnings, and what is refused.
set -uo pipefail
bin=$MPROF_BUILD/bin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0
complain() { echo "FAILED: $1"; failed=1; }

"$bin/mprof-run" --quiet --free-stacks -o s.bin -- "$MPROF_BUILD/tests/graphs/handed_over" >/dev/null 2>&1
"$bin/mprof-ingest" --quiet -o s.db s.bin || exit 1
ask() { sqlite3 s.db '.nullvalue NULL' ".load $MPROF_BUILD/lib/mprof_sqlite" "$@" 2>&1; }

# The second query is asked without the extension, unless it is a graph.
same() { # WHAT QUERY QUERY
    local by_graph by_tables
    by_graph=$(ask "$2")
    case $3 in
        *graph\(*) by_tables=$(ask "$3") ;;
        *) by_tables=$(sqlite3 s.db '.nullvalue NULL' "$3" 2>&1) ;;
    esac
    [ -n "$by_tables" ] && [ "$by_graph" = "$by_tables" ] && return
    complain "$1 differs:"
    diff <(echo "$by_graph") <(echo "$by_tables") | head -10
}

same 'the groups by function' \
    "SELECT key, key1, key2, allocations, bytes, objects, live_bytes, live_count, min_size, max_size, wasted IS NULL,
            id, value FROM graph('all | join function') ORDER BY key" \
    "SELECT function, function, NULL, count(*), sum(size), sum(count), sum(iif(free_ns IS NULL, size, 0)),
            sum(free_ns IS NULL), min(size), max(size), 0, NULL, NULL
     FROM v_allocation WHERE arena_id = 0 GROUP BY function ORDER BY function"
same 'the groups by stack and size' \
    "SELECT key1, key2, allocations, lower(key) <> '' FROM graph('live at peak | join stack, size') ORDER BY 1, 2" \
    "WITH moment(t) AS (SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'peak_ns')
     SELECT stack_id, size, count(*), 1 FROM allocation, moment WHERE alloc_ns <= t AND ifnull(free_ns > t, 1)
     GROUP BY stack_id, size ORDER BY 1, 2"
# The columns of joined fields are those of allocations.
for fields in 'size, count, kind' 'function, file, line, module' 'type, confidence' 'thread_id, thread' \
    'process_id' 'stack_id' 'free_stack_id, free_thread_id'; do
    join=$(sed 's/_id//g; s/thread, thread/thread/' <<<"$fields")
    same "the groups by $join" \
        "SELECT $fields, allocations, bytes FROM graph('all | join $join') ORDER BY $fields" \
        "SELECT $fields, count(*), sum(size) FROM v_allocation WHERE arena_id = 0 GROUP BY $fields ORDER BY $fields"
done
same 'the groups by arena' \
    "SELECT nullif(arena_id, 0), allocations FROM graph('all | join arena') ORDER BY 1" \
    "SELECT nullif(arena_id, 0), count(*) FROM v_allocation GROUP BY 1 ORDER BY 1"
same 'columns that are not joined' \
    "SELECT DISTINCT size, stack_id, thread FROM graph('all | join type')" 'SELECT NULL, NULL, NULL'
same 'a set of allocations' \
    "SELECT row, id, address, size, count, kind, alignment, arena_id, thread_id, stack_id, type_id, alloc_ns, free_ns,
            free_thread_id, free_stack_id, realloc_of, lifetime_ns, function, file, line, module, type, confidence,
            thread, process_id, key, allocations, value FROM graph('all | where size > 16 | sort id desc')" \
    "SELECT row_number() OVER (ORDER BY id DESC), id, address, size, count, kind, alignment, arena_id, thread_id,
            stack_id, type_id, alloc_ns, free_ns, free_thread_id, free_stack_id, realloc_of, lifetime_ns, function,
            file, line, module, type, confidence, thread, process_id, NULL, NULL, NULL
     FROM v_allocation WHERE size > 16 ORDER BY id DESC"
same 'a measure' \
    "SELECT name, value, unit, estimated, standard_error, parts, key, id FROM graph('all | sum size')" \
    "SELECT 'sum size', sum(size), 'bytes', 0, 0.0, NULL, NULL, NULL FROM allocation"
same 'the parts of a growth' \
    "SELECT value, parts ->> 'born', result FROM graph('growth start..end')" \
    "SELECT sum(size), sum(size), 'measure' FROM allocation WHERE free_ns IS NULL"
same 'a text that comes from a table' \
    "SELECT g.allocations FROM (SELECT 'all | join thread' AS t) AS list, graph(list.t) AS g ORDER BY 1" \
    "SELECT allocations FROM thread WHERE allocations > 0 ORDER BY 1"
same 'a join with a table' \
    "SELECT s.id, g.bytes FROM stack s JOIN graph('all | join stack') g ON g.key1 = s.id ORDER BY 1" \
    "SELECT id, bytes FROM stack WHERE allocations > 0 ORDER BY id"

# The views that sum up, each against the rows or the engine.
same 'v_stack_total by function, module and file' \
    "SELECT function, module, file, line, user, sum(allocations), sum(bytes), sum(live_count), sum(live_bytes)
     FROM v_stack_total GROUP BY function, module, file, line, user ORDER BY 1, 2, 3, 4, 5" \
    "SELECT function, module, file, line, user, count(*), sum(size), sum(free_ns IS NULL),
            sum(iif(free_ns IS NULL, size, 0))
     FROM v_allocation WHERE arena_id = 0 GROUP BY function, module, file, line, user ORDER BY 1, 2, 3, 4, 5"
same 'v_user_function' \
    "SELECT function, sum(allocations), sum(bytes), sum(live_bytes), sum(at_peak_bytes) FROM v_user_function
     GROUP BY function ORDER BY 1" \
    "SELECT key1, allocations, bytes, live_bytes, at_peak_bytes FROM graph('all | join user') ORDER BY 1"
for mark in peak end; do
    same "v_live_at_mark at $mark" \
        "SELECT type, owner, sum(bytes), sum(count) FROM v_live_at_mark WHERE mark = '$mark' GROUP BY 1, 2 ORDER BY 1, 2" \
        "SELECT key1, key2, bytes, allocations FROM graph('live at $mark | join type, owner') ORDER BY 1, 2"
done
for span in 'start peak' 'peak end'; do
    set -- $span
    same "v_growth_by_type from $1 to $2" \
        "SELECT total(bytes), total(born_bytes), total(died_bytes) FROM v_growth_by_type
         WHERE since = '$1' AND until = '$2'" \
        "SELECT value + 0.0, (parts ->> 'born') + 0.0, (parts ->> 'died') + 0.0 FROM graph('growth $1..$2')"
done
same 'v_moment' "SELECT mark FROM v_moment WHERE mark IN ('start', 'peak', 'end') ORDER BY ns, mark = 'end'" \
    "VALUES ('start'), ('peak'), ('end')"

# Files tell threads and stacks of one name apart by their ids.
for field in thread stack; do
    "$bin/mprof-tui" --graph "run all | join $field | write \"by_$field.csv\"" s.db >/dev/null || complain "no file by $field"
    "$bin/mprof-export" -f csv -o "exported_$field.csv" --filter "all | join $field" s.db || complain "no export by $field"
    ids=$(python3 -c "import csv, sys
written, exported = (list(csv.DictReader(open(path))) for path in sys.argv[1:])
assert [row['${field}_id'] for row in written] == [row['${field}_id'] for row in exported]
print(*sorted(int(row['${field}_id']) for row in written))" "by_$field.csv" "exported_$field.csv")
    wanted=$(sqlite3 s.db "SELECT DISTINCT ${field}_id FROM allocation WHERE arena_id = 0 ORDER BY 1" | paste -sd ' ')
    [ "$ids" = "$wanted" ] || complain "ids of each $field: $ids, not $wanted"
done

says() { # WHAT PATTERN QUERY...
    local what=$1 pattern=$2 answer
    shift 2
    answer=$(ask "$@")
    grep -qE -- "$pattern" <<<"$answer" || complain "$what: $answer"
}
says 'an unknown step' 'column 7: .*frobnicate' "SELECT * FROM graph('all | frobnicate')"
says 'a name that nothing has' '^0\|column [0-9]+: .*nowhere' \
    "SELECT value, warning FROM graph('all | where function == \"nowhere\" | count')"
says 'warnings as rows' '^[0-9]+\|.*nowhere' "SELECT * FROM graph_warning('all | where function == \"nowhere\"')"
says 'warnings in the log' 'graph: column [0-9]+: .*nowhere' '.log stdout' \
    "SELECT count(*) FROM graph('all | where function == \"nowhere\"')"
says 'a graph without a text' 'needs the text' 'SELECT * FROM graph'
says 'null for a text' 'needs the text' 'SELECT * FROM graph(NULL)'
says 'a step that writes' 'column 7: this filter may not write files' "SELECT * FROM graph('all | write \"rows.csv\"')"
says 'a write inside parentheses' 'column 8: this filter may not write files' "SELECT * FROM graph('(all | write \"rows.csv\") | count')"
[ ! -e rows.csv ] || complain 'SQL has written a file'

# A saved filter is seen, and so is one that this connection has stored since.
says 'a graph that was stored in between' '^[1-9][0-9]*$' "SELECT count(*) > 1000000 FROM graph('all')" \
    "INSERT INTO named_graph VALUES ('large', 'all | where size >= 1', 0)" "SELECT count(*) FROM graph('large')"
# The file's own views cannot run graphs behind the user's back.
sqlite3 s.db "CREATE VIEW behind AS SELECT * FROM graph('all')" 2>/dev/null
says 'a view of the file' 'unsafe use' 'SELECT count(*) FROM behind'

sqlite3 other.db 'CREATE TABLE t(i)'
answer=$(sqlite3 other.db ".load $MPROF_BUILD/lib/mprof_sqlite" "SELECT * FROM graph('all')" 2>&1)
grep -q 'is not a session' <<<"$answer" || complain "another database: $answer"
answer=$(sqlite3 :memory: ".load $MPROF_BUILD/lib/mprof_sqlite" "SELECT * FROM graph('all')" 2>&1)
grep -q 'has no file' <<<"$answer" || complain "a database in memory: $answer"

# A session of some allocations, by the commands of the document: its sums are those of the graph.
sed -n '/write "part.db"/,/^```$/p' "$MPROF_SOURCE/docs/session-schema.md" | sed '$d' >cut.sh
grep -q '^mprof-tui --graph' cut.sh || complain "no commands in the document: $(cat cut.sh)"
cp s.db session.db
PATH=$bin:$PATH bash -e cut.sh >out.txt 2>&1 || complain "a session of some allocations: $(cat out.txt)"
whole=$(ask "SELECT (SELECT value FROM graph('live at peak | count')), (SELECT value FROM graph('live at peak | sum size')),
    (SELECT value FROM graph('live at peak | peak')), (SELECT group_concat(key || bytes || live_bytes || at_peak_bytes)
        FROM graph('live at peak | join function | sort function'))")
part=$(sqlite3 part.db "PRAGMA integrity_check; SELECT count(*) || '|' || sum(size) || '|' ||
    (SELECT value FROM meta WHERE key = 'peak_bytes') || '|' || (SELECT group_concat(function || self_bytes || live_bytes || at_peak_bytes)
        FROM (SELECT * FROM v_function WHERE self_count > 0 ORDER BY function)) FROM allocation")
[ "$part" = "ok
$whole" ] || complain "the session of some allocations has other sums: $part, not $whole"
[ "$(sqlite3 part.db 'SELECT count(*) > 0 AND count(*) = max(id) FROM allocation')" = 1 ] || complain 'its ids have gaps'
"$bin/mprof-tui" --filter 'all | where size > 0' --script /dev/null --size 120x24 part.db >out.txt 2>&1 ||
    complain "the browser does not open it: $(cat out.txt)"

# Only the entry point is seen by others: the library must not answer calls of its host.
symbols=$(nm -D --defined-only "$MPROF_BUILD/lib/mprof_sqlite.so" | awk '{ print $3 }')
[ "$symbols" = sqlite3_mprofsqlite_init ] || complain "the extension exports: $symbols"
exit $failed
