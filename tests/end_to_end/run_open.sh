#!/usr/bin/env bash
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
