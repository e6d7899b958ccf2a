#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# All reports against SQL and against their schema, on all sessions, hostile names included.
. "$MPROF_SOURCE/tests/end_to_end/common.sh"
sessions=$MPROF_BUILD/tests/readers/sessions
mprof-run -q -o pinned.bin -- "$MPROF_BUILD/tests/graphs/pinned_heap" >pinned.out 2>&1 || fail "recording"
mprof-ingest -q -o pinned.db pinned.bin || fail "ingest"
# Eight tables of 40,000 bytes or a little more, with eight records of 24 bytes, stay from the start.
mprof-run -q -o leaking.bin -- "$MPROF_BUILD/tests/graphs/leaking_requests" >leaking.out 2>&1 || fail "recording"
mprof-ingest -q -o leaking.db leaking.bin || fail "ingest"
tables=$(sqlite3 leaking.db "SELECT sum(size) FROM v_allocation WHERE user = 'load_table(int)'")
[ "$tables" -gt 320000 ] && mprof-report leaks --format json leaking.db | grep -q "\"start_up_bytes\": $tables[,}]" ||
    fail "of the start: $(mprof-report leaks --format json leaking.db | head -n 20)"
# Readings of pages, hostile names included. Those of leaking.db are the recorded ones.
cp "$sessions/hostile.db" . && chmod u+w hostile.db
for session in hostile.db pinned.db; do
    python3 "$MPROF_SOURCE/tests/session/residency_rows.py" "$session" || fail "readings of pages for $session"
done
sqlite3 hostile.db "UPDATE residency_class SET detail = (SELECT name FROM function ORDER BY id DESC LIMIT 1) WHERE class = 'recorder'"
[ "$(sqlite3 leaking.db 'SELECT count(*) > 1 AND min(present) > 0 FROM residency')" = 1 ] || fail "no readings of pages"
cat >budgets.txt <<'EOF'
none: rss | holes_resident <= 0
all: rss at end | rss <= 100G
bytes: live at peak | sum resident >= 1
EOF
mprof-report --check budgets.txt pinned.db >checked.txt
[ $? = 3 ] && grep -q ' exceeded  none ' checked.txt && grep -q ' kept  *all ' checked.txt && grep -q ' kept  *bytes ' checked.txt ||
    fail "budgets of rss: $(cat checked.txt)"
for wrong in 'rss | holes <= 1' 'rss on end | rss <= 1' 'rss at nowhere | rss <= 1' 'rss | rss <= 1s' '| rss <= 1'; do
    echo "x: $wrong" >wrong.txt
    mprof-report --check wrong.txt pinned.db >wrong.out 2>&1
    [ $? = 2 ] && grep -q 'wrong.txt:1:' wrong.out || fail "a budget $wrong: $(cat wrong.out)"
done
for wrong in '--filter all' '--by line' '--by thread'; do
    mprof-report rss $wrong pinned.db >wrong.out 2>&1
    [ $? = 2 ] || fail "rss $wrong: $(cat wrong.out)"
done
python3 "$MPROF_SOURCE/tests/report/reports.py" hostile.db \
    "$sessions"/{arena,forks,sampled,shop}.db pinned.db leaking.db "$sessions/widgets.db" || fail "reports"
