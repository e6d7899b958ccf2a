#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The tables of 1988: the numbers of their graph against SQL, and the texts against nineteen88.py,
# which reads them back. Golden: the widgets of the paper (MPROF_REFRESH=1 writes them again).
. "$MPROF_SOURCE/tests/end_to_end/common.sh"
sessions=$MPROF_BUILD/tests/readers/sessions
tests=$MPROF_BUILD/tests

record() { # NAME COMMAND…
    mprof-run -q -o "$1.bin" "${@:2}" >"$1.out" 2>&1 || fail "recording $1"
    mprof-ingest -q -o "$1.db" "$1.bin" || fail "ingesting $1"
}
record cycles "$tests/report_cycles"
record script env PYTHONMALLOC=malloc /usr/bin/python3 -S -c 'import re; re.compile("(a|b)*c" * 20)'
for session in cycles.db script.db "$sessions"/*.db; do
    "$tests/check_graph" "$session" >graph.txt || fail "the call graph of $session: $(head -5 graph.txt)"
    echo "$session: $(tail -1 graph.txt)"
    for detail in -verbose -normal -terse; do
        mprof-report 1988 --process all $detail "$session" >tables.txt || fail "tables of $session"
        python3 "$MPROF_SOURCE/tests/report/nineteen88.py" "$session" $detail tables.txt || fail "$detail of $session"
    done
done

# The cycle is one, of the three functions that call each other, and the recursion is none.
mprof-report 1988 -verbose cycles.db >tables.txt || fail "tables of cycles"
[ "$(grep -c '<cycle 1> as a whole' tables.txt)" = 1 ] || fail "one cycle as a whole"
! grep -q '<cycle 2>' tables.txt || fail "a second cycle"
for member in 'even(int)' 'odd(int)' 'either(int)'; do
    grep -qF "$member <cycle 1> [" tables.txt || fail "$member is a member of the cycle"
done
grep -qE '\+[0-9]+ +down\(int\) \[' tables.txt || fail "down() calls itself"
grep -qF '<spontaneous>' tables.txt || fail "begin() begins a thread and is called by main"

golden=$MPROF_SOURCE/tests/golden/report
mprof-report 1988 "$sessions/widgets.db" >widgets.txt || fail "tables of the widgets"
[ -z "${MPROF_REFRESH:-}" ] || cp widgets.txt "$golden/widgets_1988.txt"
diff "$golden/widgets_1988.txt" widgets.txt || fail "the tables of the widgets are others"
grep -qE '^ +204 +10000 +2040000 \(\*\*\) .* widget +$' widgets.txt || fail "the bin of the widgets"
grep -qE '\|\| > main > make_red_widget > make_widget $' widgets.txt || fail "the path of the leak"
mprof-report 1988 -noleaktable "$sessions/widgets.db" | grep -q 'Leaks' && fail "-noleaktable prints leaks"

# The distance of each call site from the start of its function, by the address in the session.
offset() { # FUNCTION
    ask "$sessions/widgets.db" "SELECT DISTINCT fr.pc - f.start_pc FROM stack s JOIN stack_frame sf ON sf.stack_id = s.id
        JOIN frame fr ON fr.id = sf.frame_id JOIN function f ON f.id = fr.function_id
        WHERE s.live_count > 0 AND f.name = '$1'"
}
mprof-report 1988 -offsets "$sessions/widgets.db" >offsets.txt || fail "-offsets"
path="|| > main+$(offset main) > make_red_widget+$(offset make_red_widget) > make_widget+$(offset make_widget) "
grep -qF -- "$path" offsets.txt || fail "-offsets prints no '$path': $(grep -F '||' offsets.txt)"
mprof-report -1988 w.db 2>/dev/null && fail "-1988 is no option"
[ "$(mprof-report 1988 --format json "$sessions/widgets.db" 2>&1)" = \
    "mprof-report: the tables of 1988 are text; mprof-report --help lists the options" ] || fail "1988 as JSON"
exit 0
