#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The producer and consumer of the 1988 paper: checks the session of it by SQL.
command -v sqlite3 >/dev/null || exit 77
. "$MPROF_SOURCE/tests/end_to_end/common.sh"

mprof-run --quiet -o trace.bin -- "$MPROF_BUILD/tests/widgets" || exit 1
mprof-ingest -o session.db trace.bin >/dev/null || exit 1

expect "widgets made" "SELECT count(*), sum(size), min(size), max(size) FROM v_allocation
    WHERE function = 'make_widget'" "10000|2040000|204|204"
expect "nothing else has that size" "SELECT count(*) FROM allocation WHERE size = 204" 10000
expect "each is made through exactly one of the two" "SELECT sum(n) FROM (SELECT count(*) n
    FROM v_stack s JOIN allocation a USING (stack_id)
    WHERE s.depth = 1 AND s.function IN ('make_red_widget', 'make_blue_widget'))" 10000
expect "what is kept is owned by make_red_widget" "SELECT DISTINCT s.function FROM allocation a
    JOIN v_stack s USING (stack_id)
    WHERE a.size = 204 AND a.free_ns IS NULL AND s.depth = 1" make_red_widget
expect "every red widget is kept" "SELECT count(*) FROM allocation a JOIN v_stack s USING (stack_id)
    WHERE s.depth = 1 AND s.function = 'make_red_widget' AND a.free_ns IS NOT NULL" 0
expect "every blue widget is freed" "SELECT count(*) FROM allocation a JOIN v_stack s USING (stack_id)
    WHERE s.depth = 1 AND s.function = 'make_blue_widget' AND a.free_ns IS NULL" 0
expect "some of each" "SELECT count(*) > 1000 AND count(*) < 9000 FROM allocation
    WHERE size = 204 AND free_ns IS NULL" 1
expect "leaks by stack" "SELECT count(*) FROM v_leak WHERE function = 'make_widget'" 1
expect "source of the call site" "SELECT DISTINCT file LIKE '%/tests/programs/widgets.c'
    FROM v_allocation WHERE function = 'make_widget'" 1
expect "function totals" "SELECT self_count, self_bytes, total_count FROM v_function
    WHERE function = 'make_widget'" "10000|2040000|10000"
expect "inclusive totals of main" "SELECT self_count, total_count FROM v_function
    WHERE function = 'main'" "0|10000"
expect "self and live of the red and the blue" "SELECT sum(total_count) FROM v_function
    WHERE function IN ('make_red_widget', 'make_blue_widget')" 10000
exit $failed
