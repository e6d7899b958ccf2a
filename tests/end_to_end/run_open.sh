#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# mprof-run --open away from a terminal: record, ingest, print the summary and the session's path.
. "$(dirname "$0")/common.sh"
mprof-run --open -o ls.bin -- ls -lR /usr/include >listing.txt 2>messages.txt
is $? -eq 0 "exit status"
grep -q 'stdio.h' listing.txt || fail "the program's own output is missing"
cat listing.txt messages.txt | grep -q 'ls\.db' || fail "the session's path is not named: $(tail -n 20 listing.txt messages.txt)"
sane ls.db
mprof-run -o ls.bin -- true 2>refused.txt && fail "an existing trace was overwritten"
grep -q 'ls\.bin' refused.txt || fail "the refusal does not name the file"

mprof-run -o status.bin -- sh -c 'exit 7'
is $? -eq 7 "the program's exit status"
mprof-run -o signal.bin -- sh -c 'kill -TERM $$'
is $? -eq 143 "a signal's exit status"
mprof-run -- true && ls mprof.true.*.bin >/dev/null || fail "no trace under the default name"

# A process that executed another program is opened as the program that allocated most.
mprof-run --open -o became.bin -- sh -c 'exec sh -c "exec sqlite3 :memory: \"SELECT 40 + 2\""' >became.txt 2>messages.txt
grep -q '^42$' became.txt || fail "the program's output: $(cat became.txt)"
grep -q '1 process that ran 3 programs' messages.txt || fail "not said: $(cat messages.txt)"
is "$(ask became.db "SELECT value LIKE '%sqlite3' FROM meta WHERE key = 'program'")" -eq 1 "the program that is opened"

# --open --live away from a terminal: the session can be read while the program runs. The program keeps
# its input and output.
mkfifo to from
mprof-run --open --live -o live.bin -- "$MPROF_BUILD/tests/stages" <to >from 2>live.txt &
run=$!
exec 3>to 4<from
echo >&3 && read -r answer <&4
is "$answer" -eq 1 "the program's answer"
until [ "$(sqlite3 -readonly live.db 'SELECT count(*) FROM allocation WHERE size BETWEEN 17 AND 99' 2>/dev/null || echo 0)" -ge 1000 ]; do
    kill -0 $run || fail "mprof-run ended: $(cat live.txt)"
    sleep 0.05
done
is "$(sqlite3 -readonly live.db "SELECT value FROM meta WHERE key = 'unfinished'")" -eq 1 "unfinished while it runs"
exec 3>&-
read -r answer <&4
wait $run
is $? -eq 0 "exit status of --open --live"
grep -q 'makes a session' live.txt && fail "told to make a session that is there: $(cat live.txt)"
[ "$answer" = "$work/live.db" ] || fail "the session is not named: $answer"
sane live.db
is "$(ask live.db "SELECT count(*) FROM meta WHERE key = 'unfinished'")" -eq 0 "finished in the end"
mprof-run --open --live -o live2.bin --session live.db -- true 2>refused.txt && fail "a session was replaced"
grep -q 'live.db: exists already' refused.txt || fail "the refusal: $(cat refused.txt)"
mprof-run --live -o live2.bin -- true 2>refused.txt
is $? -eq 2 "status of --live without --open"
mprof-run --open --live -o live3.bin -- /nonexistent 2>refused.txt && fail "no program, and no error"
[ ! -e live3.db ] || fail "a session of nothing"
