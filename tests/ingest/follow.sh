#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# mprof-ingest --live: the events of a running program can be read while it runs. The session of the
# finished program is the one that a plain run makes of its trace.
set -u
export PATH="$MPROF_BUILD/bin:/usr/bin:/bin:$PATH"
rm -rf live && mkdir live && cd live || exit 1
fail() { echo "FAILED: $*"; exit 1; }
ask() { sqlite3 -readonly -cmd '.timeout 5000' "$1" "$2" 2>/dev/null; } # SESSION SQL
# On a machine that does other work a live session may skip rows, which it counts.
blocks() {
    ask "$1" "SELECT count(*) + ifnull((SELECT value FROM meta WHERE key = 'skipped_allocations'), 0)
        FROM allocation WHERE size BETWEEN 17 AND 99"
}

# until_true WHAT COMMAND…: waits for a condition. The suite's own time limit ends a wait in vain.
until_true() {
    local what=$1
    shift
    until "$@"; do
        kill -0 "$watcher" 2>/dev/null || { "$@" || fail "mprof-ingest has ended before: $what"; return; }
        sleep 0.05
    done
    echo "ok: $what"
}
at_least() { [ "$(blocks "$1")" -ge "$2" ] 2>/dev/null; } # SESSION ROWS

start() { # NAME [COMMAND…]: the program, by another way to it, and its watcher
    run "$@"
    step 1
    watch "$1"
}
run() { # NAME [COMMAND…]
    local name=$1
    shift
    mkfifo "$name.to" "$name.from"
    mprof-run --quiet -o "$name.bin" -- "$@" "$MPROF_BUILD/tests/stages" <"$name.to" >"$name.from" &
    program=$!
    exec 3>"$name.to" 4<"$name.from"
}
watch() { # NAME
    # A background job of a script ignores SIGINT. env restores it.
    env --default-signal=INT mprof-ingest --quiet --live -o "$1.db" "$1.bin" \
        >"$1.txt" 2>&1 3>&- 4<&- &
    watcher=$!
}
step() { # NUMBER
    local answer
    echo >&3
    read -r answer <&4
    [ "$answer" = "$1" ] || fail "step $1 gave '$answer'"
}
is_plain() { # NAME: its session equals that of a plain run, in all tables
    mprof-ingest --quiet -o "$1.plain.db" "$1.bin" || fail "plain ingest of $1"
    sqlite3 "$1.db" .dump >"$1.sql"
    sqlite3 "$1.plain.db" .dump >"$1.plain.sql"
    cmp "$1.sql" "$1.plain.sql" || fail "$1: not the session of a plain run"
    [ "$(ask "$1.db" "SELECT count(*) FROM meta WHERE key = 'unfinished'")" = 0 ] || fail "$1: unfinished"
    [ ! -e "$1.db-wal" ] && [ ! -e "$1.db-shm" ] && [ ! -e "$1.db.part" ] || fail "$1: left: $(ls)"
    echo "ok: $1 is the session of a plain run"
}

# The program's end ends it.
start ends
until_true 'the first step is seen' at_least ends.db 1000
[ "$(ask ends.db "SELECT value FROM meta WHERE key = 'unfinished'")" = 1 ] || fail 'not marked unfinished'
step 2
until_true 'the second step is seen' at_least ends.db 2000
same() { [ "$(ask ends.db "$1")" = "$(ask ends.db "$2")" ] || fail "$1 is not $2"; }
same 'SELECT count(*) FROM allocation' "SELECT value FROM meta WHERE key = 'rows'"
same 'SELECT sum(size) FROM allocation WHERE free_ns IS NULL' "SELECT value FROM meta WHERE key = 'live_bytes_end'"
same 'SELECT sum(live_bytes) FROM stack' "SELECT value FROM meta WHERE key = 'live_bytes_end'"
same 'SELECT sum(allocations) FROM type_total' "SELECT value FROM meta WHERE key = 'allocations'"
same 'SELECT sum(rows) FROM column_chunk WHERE id % 32 = 0' 'SELECT count(*) FROM allocation'
same 'SELECT sum(allocated_bytes) FROM timeline' "SELECT value FROM meta WHERE key = 'bytes_allocated'"
same 'SELECT count(DISTINCT stack_id) FROM stack_frame' 'SELECT count(*) FROM stack WHERE depth > 0'
[ "$(ask ends.db 'PRAGMA integrity_check')" = ok ] || fail 'integrity'
mprof-ingest --live -o ends.db ends.bin 2>refused.txt && fail 'an existing session was replaced'
grep -q 'exists already' refused.txt || fail "the refusal says: $(cat refused.txt)"
# The browser opens it as it is.
mprof-tui --script /dev/null --size 80x24 ends.db >screen.txt || fail 'the browser'
for n in 3 4 5 6 7 8 9; do step $n; done
exec 3>&-
wait $program || fail 'the program'
wait $watcher || fail "mprof-ingest: $(cat ends.txt)"
is_plain ends
[ "$(blocks ends.db)" -eq 9000 ] || fail "blocks: $(blocks ends.db)"

# Ctrl-C ends it while the program runs on.
start interrupted
until_true 'the first step is seen' at_least interrupted.db 1000
# mprof-run, which samples the resident set, is stopped, so that the trace stays as it is now.
kill -STOP $program
kill -INT $watcher
wait $watcher || fail "interrupted: $(cat interrupted.txt)"
mkdir still && cp interrupted.bin still/ || fail 'a copy of the trace'
kill -CONT $program
(cd still && mprof-ingest --quiet interrupted.bin) || fail 'plain ingest of the trace that was interrupted'
for table in $(ask still/interrupted.db "SELECT name FROM sqlite_schema WHERE type = 'table'"); do
    cmp <(ask interrupted.db "SELECT * FROM $table") <(ask still/interrupted.db "SELECT * FROM $table") ||
        fail "interrupted: table $table is not that of a plain run"
done
cmp <(sqlite3 interrupted.db .dump) <(sqlite3 still/interrupted.db .dump) || fail 'interrupted: not the session of a plain run'
[ "$(ask interrupted.db "SELECT count(*) FROM meta WHERE key = 'unfinished'")" = 0 ] || fail 'still unfinished'
[ "$(blocks interrupted.db)" -eq 1000 ] || fail "interrupted: $(blocks interrupted.db) blocks"
step 2
exec 3>&-
wait $program || fail 'the program, whose watcher has gone'

# SIGKILL of the program ends it too. SIGKILL of ingest ends only ingest: the events seen so far
# stay, unfinished.
start killed
until_true 'the first step is seen' at_least killed.db 1000
step 2
kill -KILL $(pgrep -P $program) || fail 'no program to kill'
wait $program
wait $watcher || fail "killed: $(cat killed.txt)"
is_plain killed
exec 3>&-

start orphan
until_true 'the first step is seen' at_least orphan.db 1000
kill -KILL $watcher
wait $watcher 2>/dev/null
[ "$(ask orphan.db "SELECT value FROM meta WHERE key = 'unfinished'")" = 1 ] || fail 'not marked unfinished'
at_least orphan.db 1000 || fail 'what was seen is gone'
exec 3>&-
wait $program
mprof-ingest --quiet --force -o orphan.db orphan.bin || fail 'ingest of the orphan'
is_plain orphan

# A session that cannot keep up counts the freed blocks, and has rows for the live ones.
export MPROF_TEST_LIVE_LAG=1
start lags
until_true 'the first step is seen' at_least lags.db 1000
unset MPROF_TEST_LIVE_LAG
counted() { [ "$(ask lags.db "SELECT value FROM meta WHERE key = 'allocations'")" -ge "$1" ] 2>/dev/null; }
for n in 2 3 4; do step $n; done
until_true 'all steps are counted' counted 4000
ask lags.db "SELECT value FROM meta WHERE key = 'skipped_allocations'" >skipped.txt
[ "$(cat skipped.txt)" -ge 2700 ] || fail "not skipped: $(cat skipped.txt)"
same() { [ "$(ask lags.db "$1")" = "$(ask lags.db "$2")" ] || fail "lagging: $1 is not $2"; }
same "SELECT value FROM meta WHERE key = 'allocations'" "SELECT sum(value) FROM meta WHERE key IN ('rows', 'skipped_allocations')"
same 'SELECT count(*) FROM allocation' "SELECT value FROM meta WHERE key = 'rows'"
same 'SELECT count(*), sum(size) FROM allocation WHERE free_ns IS NULL' \
    "SELECT (SELECT value FROM meta WHERE key = 'live_count_end'), (SELECT value FROM meta WHERE key = 'live_bytes_end')"
same 'SELECT sum(allocations), sum(bytes) FROM type_total' "SELECT sum(allocations), sum(bytes) FROM stack"
same 'SELECT count(*) FROM allocation' 'SELECT sum(rows) FROM column_chunk WHERE id % 32 = 0'
mprof-tui --script /dev/null --size 120x24 lags.db >screen.txt || fail 'the browser of one that lags'
grep -q 'freed allocations are counted without details' screen.txt || fail "nothing said of it: $(cat screen.txt)"
grep -q 'live now' screen.txt && ! grep -qE 'leaked|never freed' screen.txt || fail "live blocks are called leaked: $(cat screen.txt)"
# The title tells how far behind a state is, and whether the program has ended.
title() { # SQL EXPECTED
    sqlite3 late.db "$1" && mprof-tui --script /dev/null --size 120x24 late.db >screen.txt || fail "the browser after $1"
    grep -qF "$2" screen.txt || fail "no '$2': $(head -3 screen.txt)"
}
ask lags.db ".backup late.db"
title "UPDATE meta SET value = 12000000000 WHERE key = 'behind_ns'" '● recording, 12.00 s behind'
title "UPDATE meta SET value = 1 WHERE key = 'program_ended'" '● ended, loading, 12.00 s to go'
exec 3>&-
wait $program && wait $watcher || fail "lags: $(cat lags.txt)"
is_plain lags
[ -z "$(ask lags.db "SELECT key FROM meta WHERE key IN ('skipped_allocations', 'behind_ns', 'program_ended')")" ] || fail 'facts of a live session are left'

# Between the program's end and the finished session, it says that the program has ended.
for try in 1 2 3 4 5 6; do
    start "last$try"
    until_true 'the first step is seen' at_least "last$try.db" 1000
    [ "$(ask "last$try.db" "SELECT value FROM meta WHERE key = 'program_ended'")" = 0 ] || fail 'said to have ended'
    [ -n "$(ask "last$try.db" "SELECT value FROM meta WHERE key = 'behind_ns'")" ] || fail 'not said how far behind'
    python3 - "last$try.db" >ended.txt <<'PYTHON' 3>&- &
import sqlite3, sys, time
before = None
while before != 'none':
    try:
        session = sqlite3.connect('file:%s?mode=ro' % sys.argv[1], uri=True)
        state = dict(session.execute("SELECT key, value FROM meta WHERE key IN ('unfinished', 'program_ended')"))
        session.close()
    except sqlite3.Error:
        continue
    now = 'none' if 'unfinished' not in state else 'ended' if state['program_ended'] else 'recording'
    if now != before:
        print(now, flush=True)
    before = now
    time.sleep(0.005)
PYTHON
    observer=$!
    until [ -s ended.txt ]; do sleep 0.02; done
    exec 3>&-
    wait $program && wait $watcher && wait $observer || fail "last: $(cat "last$try.txt")"
    [ "$(tr '\n' ' ' <ended.txt)" = 'recording ended none ' ] && break
    [ $try -lt 6 ] || fail "never seen that it has ended: $(cat ended.txt)"
done

# It goes on with the program that the first one executes, before it looks or while it does.
start executed env
until_true 'the program that env executes is seen' at_least executed.db 1000
[ "$(ask executed.db "SELECT value FROM meta WHERE key = 'program_ended'")" = 0 ] || fail 'executed: said to have ended'
step 2
until_true 'so is what it does then' at_least executed.db 2000
exec 3>&-
wait $program && wait $watcher || fail "executed: $(cat executed.txt)"
is_plain executed
[ "$(ask executed.db 'SELECT count(*) FROM process')" = 2 ] || fail 'executed: not both programs'

run waits sh -c 'read -r line; [ "$line" = more ] && exec env "$@"' sh
until [ -s waits.bin ]; do sleep 0.02; done
watch waits
until_true 'a shell is seen' test -s waits.db
echo more >&3
step 1
until_true 'the program that it executes is seen' at_least waits.db 1000
exec 3>&-
wait $program && wait $watcher || fail "waits: $(cat waits.txt)"
is_plain waits
[ "$(ask waits.db 'SELECT count(*) FROM process')" = 3 ] || fail 'waits: not all programs'

# It goes on with a child whose parent has ended.
start leaves sh -c 'exec 5<&0; "$@" <&5 3>&- & exit' sh
wait $program || fail 'the parent'
until_true 'the child is seen' at_least leaves.db 1000
step 2
until_true 'so is what it does alone' at_least leaves.db 2000
exec 3>&-
wait $watcher || fail "leaves: $(cat leaves.txt)"
is_plain leaves

# A finished trace is loaded at once. A file that is not a trace is refused.
mprof-ingest --quiet --live -o after.db ends.bin || fail 'a finished trace'
cmp -s <(sqlite3 after.db .dump) ends.sql || fail 'a finished trace gave another session'
mprof-ingest --live -o none.db none.bin 2>refused.txt && fail 'no trace, and no error'
grep -q 'none.bin: cannot be opened' refused.txt || fail "no trace: $(cat refused.txt)"
[ ! -e none.db ] || fail 'a session of nothing'
