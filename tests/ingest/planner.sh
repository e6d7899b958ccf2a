#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# How SQLite joins stacks and allocations in a session of a million rows with the index by stack, by the
# statistics that ingest writes: by the index for a function and a stack, and in one pass for conditions on
# sizes and times. v_allocation begins with the allocations: by the index for a stack, otherwise in one pass.
# The plan depends on the statistics only, so there are no rows. It is read from the program that runs: the
# pages of the index occur in it, or not.
set -u
failed=0
statistics=$MPROF_SOURCE/ingest/write/sql/statistics.sql

# session FACTOR: SQL of a session with FACTOR instead of 64 in the statistics.
session() {
    cat "$MPROF_SOURCE/schemas/session.sql"
    cat <<'SQL'
CREATE INDEX allocation_stack ON allocation(stack_id, type_id);
WITH n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 19999)
  INSERT INTO stack(id, depth, function_id, state) SELECT i, 1, 1 + i % 3000, 'complete' FROM n;
WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
  INSERT INTO function(id, name, module_id) SELECT i, 'f' || i, 1 FROM n;
INSERT INTO allocation(id, whole_address, size, count, kind, alignment, arena_id, thread_id, stack_id, type_id,
  alloc_ns) VALUES (1000000, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0);
SQL
    sed "s/stat \* 64/stat * $1/" "$statistics"
    echo "ANALYZE sqlite_schema;" # reads them again
}

# plans: a line for each condition of standard input: "index" or "pass", and the condition.
plans() {
    while read -r condition; do
        root=$(sqlite3 planner.db "SELECT rootpage FROM sqlite_schema WHERE name = 'allocation_stack'")
        [[ $condition == s.* || $condition == a.* ]] && from='stack s JOIN allocation a ON a.stack_id = s.id' || from=v_allocation
        sqlite3 -cmd '.explain off' planner.db "EXPLAIN SELECT count(*), max(size) FROM $from WHERE $condition" |
            awk -F'|' -v root="$root" -v condition="$condition" '$2 == "OpenRead" && $4 == root { found = 1 }
                END { print (found ? "index " : "pass ") condition }'
    done
}

cat >planner.expected <<'TEXT'
pass size > 1
pass a.size > 1
pass a.alloc_ns BETWEEN 5 AND 9
pass thread = 'worker'
pass function LIKE 'png%'
pass function = 'png_malloc'
index s.function_id = 5
index s.function_id = 5 AND size > 1
index stack_id = 5
TEXT
make() { rm -f planner.db && session "$1" | sqlite3 planner.db; }
make 64
cut -d' ' -f2- planner.expected | plans >planner.plans
diff planner.expected planner.plans || failed=1
# With the true number, conditions on sizes would follow the index.
make 1
[ "$(echo 'a.size > 1' | plans)" = 'index a.size > 1' ] || { echo "FAILED: the factor changes nothing"; failed=1; }

# A join over all frames of all stacks goes over them once, not once for each of a few functions.
rm -f planner.db
{ cat "$MPROF_SOURCE/schemas/session.sql"; cat <<'SQL'; } | sqlite3 planner.db
ANALYZE sqlite_schema;
INSERT INTO sqlite_stat1 VALUES('stack_run', 'stack_run', '2328790 4 1'), ('stack_node', NULL, '1236930'),
  ('function', 'function_name', '7 1');
SQL
plan=$(sqlite3 planner.db 'EXPLAIN QUERY PLAN SELECT function, count(DISTINCT stack_id) FROM v_stack GROUP BY function')
[[ $plan == *'SCAN r'* && $plan != *'SCAN f '* ]] || { echo "FAILED: all frames, by function: $plan"; failed=1; }
exit $failed
