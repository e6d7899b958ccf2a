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
record plain basename /a/b
for session in cycles.db script.db plain.db "$sessions"/*.db; do
    "$tests/check_graph" "$session" >graph.txt || fail "the call graph of $session: $(head -5 graph.txt)"
    echo "$session: $(tail -1 graph.txt)"
    for detail in -verbose -normal -terse; do
        mprof-report 1988 --process all $detail "$session" >tables.txt || fail "tables of $session"
        python3 "$MPROF_SOURCE/tests/report/nineteen88.py" "$session" $detail tables.txt || fail "$detail of $session"
    done
done

# The three functions that call each other are a cycle, and the recursion is not.
mprof-report 1988 -verbose cycles.db >tables.txt || fail "tables of cycles"
[ "$(grep -c '<cycle 1> as a whole' tables.txt)" = 1 ] || fail "one cycle as a whole"
! grep -q '<cycle 2>' tables.txt || fail "a second cycle"
for member in 'even(int)' 'odd(int)' 'either(int)'; do
    grep -qF "$member <cycle 1> [" tables.txt || fail "$member is a member of the cycle"
done
grep -qE '\+[0-9]+ +down\(int\) \[' tables.txt || fail "down() calls itself"
grep -qF '<spontaneous>' tables.txt || fail "begin() begins a thread and is called by main"

# Chains begin with main without the names of the start code, and without the name of main: the tables are the same.
bare() { # NAME SESSION CONDITION: a copy in which the functions have no names
    cp "$2" "$1.db"
    ask "$1.db" "UPDATE function SET name = (SELECT m.name FROM module m WHERE m.id = module_id) || printf('+0x%x', start_pc)
        WHERE start_pc IS NOT NULL AND ($3); SELECT 'changed', changes() > 0" | grep -qxF 'changed|1' || fail "$1: no name taken"
    mprof-report 1988 -verbose "$1.db" >"$1.txt" || fail "tables of $1"
}
inner="name IN ('_start', '__libc_start_call_main', 'start_thread', 'clone3', '__clone', 'clone')"
mprof-report 1988 -verbose "$sessions/shop.db" >named.txt || fail "tables of shop"
bare nameless "$sessions/shop.db" "$inner"
cmp named.txt nameless.txt || fail "without names of the start code: $(diff named.txt nameless.txt | head -5)"
bare stripped "$sessions/shop.db" "$inner OR name = 'main'"
sed -E 's/\breaders_program\+0x[0-9a-f]+/main/' stripped.txt | cmp named.txt - || fail "without main: $(diff named.txt stripped.txt | head -5)"
for session in script plain; do
    mprof-report 1988 --process all -verbose $session.db | grep -F '__libc_start' && fail "start code is in the chains of $session"
done

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
# A call in inlined code counts from the start of the function that holds it.
mprof-report 1988 -verbose -offsets "$sessions/shop.db" >offsets.txt || fail "-offsets of inlined code"
held=$(ask "$sessions/shop.db" "SELECT DISTINCT i.name || '+' || (fi.pc - o.start_pc) FROM stack s JOIN frame fi ON fi.id = s.call_site_frame_id
    JOIN function i ON i.id = fi.function_id JOIN frame fo ON fo.pc = fi.pc AND fo.module_id = fi.module_id AND fo.inlined = 0
    JOIN function o ON o.id = fo.function_id WHERE fi.inlined = 1 AND s.live_count > 0 ORDER BY 1 LIMIT 1")
[ -n "$held" ] || fail "shop keeps nothing of inlined code"
grep -qF -- "> $held " offsets.txt || fail "-offsets prints no '$held'"
# It does so if the chain of a script leaves that function out.
cp "$sessions/shop.db" hosted.db
ask hosted.db "UPDATE function SET role = 'evaluator' WHERE id IN (SELECT fo.function_id FROM stack s JOIN frame fi ON fi.id = s.call_site_frame_id
    JOIN frame fo ON fo.pc = fi.pc AND fo.module_id = fi.module_id AND fo.inlined = 0 WHERE fi.inlined = 1 AND s.live_count > 0);
    UPDATE function SET role = 'runtime' WHERE name = 'main'"
mprof-report 1988 -verbose -offsets hosted.db >offsets.txt || fail "-offsets of a script"
grep -F -- "> main:" offsets.txt | grep -qF -- "> $held " || fail "-offsets of a script prints no '$held': $(grep -F '||' offsets.txt)"
mprof-report -1988 w.db 2>/dev/null && fail "-1988 is not an option"
[ "$(mprof-report 1988 --format json "$sessions/widgets.db" 2>&1)" = \
    "mprof-report: the tables of 1988 are text; mprof-report --help lists the options" ] || fail "1988 as JSON"
exit 0
