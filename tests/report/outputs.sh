#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Outputs that cannot be written, sessions that cannot be read, and bad usage: one line, the exit
# status of the man page, and nothing half-written.
. "$MPROF_SOURCE/tests/end_to_end/common.sh"
session=$MPROF_BUILD/tests/readers/sessions/widgets.db

# says STATUS PATTERN COMMAND…: checks the exit status and the message: one line, or with its second
# and third line the place in a text.
says() {
    local wanted=$1 pattern=$2 status=0
    shift 2
    "$@" >out.txt 2>said.txt || status=$?
    [ "$status" = "$wanted" ] || fail "$*: exit status $status, not $wanted: $(cat said.txt)"
    case $(wc -l <said.txt) in
    1 | 3) grep -qE -- "$pattern" said.txt || fail "$*: said $(cat said.txt)" ;;
    *) fail "$*: said more than one line: $(cat said.txt)" ;;
    esac
}
full() { mprof-report "$@" >/dev/full; }
closed() { mprof-report "$@" >&-; }
pipe() { mprof-report "$@" | true; return "${PIPESTATUS[0]}"; }

for report in summary leaks 1988; do
    says 1 '^mprof-report: standard output: cannot be written: No space' full $report "$session"
    says 1 '^mprof-report: standard output: cannot be written: ' closed $report "$session"
done
for format in text csv json markdown; do
    says 1 'cannot be written: No space' full functions --format $format "$session"
done
# More than a pipe holds, so that the writer meets its end. Who ignores the signal gets a message.
mprof-report 1988 -verbose "$MPROF_BUILD/tests/readers/sessions/hostile.db" >long.txt
[ "$(wc -c <long.txt)" -gt 70000 ] || fail "a long report has only $(wc -c <long.txt) bytes"
pipe 1988 -verbose "$MPROF_BUILD/tests/readers/sessions/hostile.db" 2>said.txt && fail "the end of a pipe is not noticed"
[ ! -s said.txt ] || fail "the end of a pipe: said $(cat said.txt)"
says 1 '^mprof-report: standard output: cannot be written: Broken pipe' \
    bash -c 'trap "" PIPE; mprof-report 1988 -verbose "$0" | true; exit "${PIPESTATUS[0]}"' "$MPROF_BUILD/tests/readers/sessions/hostile.db"

echo before >kept.txt
mkdir folder && ln -s kept.txt link
says 1 'folder: is a directory' mprof-report -o folder "$session"
says 1 'link: is a symbolic link' mprof-report -o link "$session"
says 1 '/dev/full: is not a regular file' mprof-report -o /dev/full "$session"
says 1 'no/such/file: cannot be' mprof-report -o no/such/file "$session"
says 1 'no.db' mprof-report -o kept.txt no.db
says 2 'column' mprof-report -o kept.txt --filter 'all | wheer' "$session"
[ "$(cat kept.txt)" = before ] || fail "a report that fails replaced a file"
# A file that a command reads stays, also under another name; so does the report beside the
# verdicts.
cp "$session" read.db && cp "$session" base.db && ln read.db other.db
echo 'some: all | count > 0' >some.budgets && echo 'leak:nobody' >some.supp
cp read.db read.copy && cp some.budgets budgets.copy
for target in read.db ./other.db base.db; do
    says 1 "$target: is a file that this command reads" mprof-report diff --base base.db -o $target read.db
done
says 1 'some.supp: is a file that' mprof-report leaks --suppress some.supp -o some.supp read.db
says 1 'read.db: is a file that' mprof-report 1988 -o read.db read.db
says 1 'some.budgets: is a file that' mprof-report --check some.budgets -o some.budgets read.db
says 1 'read.db: is a file that' mprof-report --check some.budgets --junit read.db read.db
says 1 'both.txt: two outputs' mprof-report --check some.budgets --junit both.txt -o both.txt read.db
grep -q '^Budgets' both.txt || fail "the verdicts are lost"
cmp read.copy read.db && cmp read.copy base.db && cmp budgets.copy some.budgets || fail "a file that is read was replaced"
# A file system of 64 KiB, in a mount namespace of its own.
if unshare -rm true 2>/dev/null; then
    mkdir small
    unshare -rm bash -c 'mount -t tmpfs -o size=64k none small && echo before >small/kept.txt &&
        mprof-report 1988 -verbose -o small/kept.txt "$1" 2>small/said.txt
        echo "$? $(cat small/kept.txt) $(ls small | wc -l) $(cat small/said.txt)"' \
        bash "$MPROF_BUILD/tests/readers/sessions/hostile.db" >small.txt
    grep -qE '^1 before 2 mprof-report: small/kept.txt: cannot be written: No space' small.txt || fail "a small disk: $(cat small.txt)"
fi
mprof-report -o kept.txt "$session" || fail "a regular file is replaced"
grep -q '^program ' kept.txt || fail "the report is in the file"
ls ./*.part.* 2>/dev/null && fail "parts are left"

echo "not a session" >text.db
says 1 'text.db' mprof-report text.db
head -c 20000 "$session" >cut.db
says 1 'cut.db' mprof-report cut.db
says 2 'no session named' mprof-report
says 2 'no session named' mprof-report leaks
says 2 'there is no report "leeks"; the reports are: summary peak leaks functions' mprof-report leeks "$session"
says 2 'more than one report and one session' mprof-report leaks a b
says 2 '--format is text, csv, json, markdown, html, github or sarif, not xml' mprof-report --format xml "$session"
says 2 '--by is user' mprof-report peak --by size "$session"
says 2 'there is no report' mprof-report peek "$session"
says 2 'types has its own way to group' mprof-report types --by user "$session"
says 2 '^mprof-report: --check has its own way to group' mprof-report --check x --by type "$session"
mprof-report -o - "$session" >out.txt && [ ! -e ./- ] && grep -q '^program ' out.txt || fail "-o - is not standard output"
says 2 '--top needs a number' mprof-report --top 0 "$session"
says 2 'are for the report 1988' mprof-report -verbose "$session"
says 2 '--junit only works with --check' mprof-report --junit x "$session"
says 2 '--check takes the place' mprof-report leaks --check x "$session"
says 2 '^mprof-report: --at, line 1, column 1: expected a time' mprof-report --at 'peak + nothing' "$session"
says 2 '^mprof-report: --filter, line 2, column 9: expected a field.*"x"' mprof-report --filter $'all\n| where x > 1' "$session"
says 2 '^mprof-report: --filter, line 1, column 7: .*a measure' mprof-report --filter 'all | count' "$session"
says 2 'no process' mprof-report --process 1 "$session"
says 2 'no process' mprof-report --check some.budgets --process 1 "$session"
grep -qE '^ +\^$' said.txt && fail "a mark without a text"
says 2 'diff needs --base SESSION' mprof-report diff "$session"
says 2 '--base is for diff, retained, --check and --format html' mprof-report --base "$session" "$session"
says 1 'no.db' mprof-report diff --base no.db "$session"
says 2 '--suppress is for the report leaks and --format html' mprof-report --suppress x "$session"
says 1 'no.supp: the suppressions cannot be read' mprof-report leaks --suppress no.supp "$session"
printf 'leak:a\nnonsense\n' >bad.supp
says 2 "bad.supp:2: no suppression: 'nonsense'; a line is leak:PATTERN" mprof-report leaks --suppress bad.supp "$session"
# The mark is below the place.
mprof-report --filter $'all # \n' "$session" 2>said.txt
sed -n 2,3p said.txt | cmp -s - <(printf '  all # \n      ^\n') || fail "the mark: $(cat said.txt)"
# Groups stand for their allocations; a filter limits all numbers.
is "$(mprof-report --format json --filter 'all | join type | where bytes > 1' "$session" | jq .facts.allocations)" -eq 10000 "groups"
is "$(mprof-report --format json --filter 'a = all | where size == 204; a | where freed == true' "$session" | jq .facts.leaked_count)" -eq 0 "freed blocks leak"
is "$(mprof-report --format json --filter 'x = all | where type != "a;b"; x' peak "$session" | jq .facts.allocations)" -eq "$(meta "$session" peak_count)" "a string with ;"
# The duration of a process is its own.
forks=$MPROF_BUILD/tests/readers/sessions/forks.db
while IFS='|' read -r pid own; do
    is "$(mprof-report --format json --process "$pid" "$forks" | jq .facts.duration_ns)" -eq "$own" "duration of $pid"
done < <(sqlite3 "$forks" "SELECT pid, end_ns - start_ns FROM process WHERE start_ns > 0")
[ -n "${own+set}" ] || fail "no process began after the session"
# Only a sample has an interval.
! mprof-report "$session" | grep -q 'sampled one in' || fail "a whole recording has an interval"
mprof-report "$MPROF_BUILD/tests/readers/sessions/sampled.db" | grep -qE '^sampled one in +4,096 bytes' || fail "the interval of a sample"
mprof-export -f collapsed -o sampled.txt "$MPROF_BUILD/tests/readers/sessions/sampled.db" 2>&1 | grep -q 'sums are estimates' || fail "an export of a sample does not say so"
said=$(mprof-export --quiet -f collapsed -o quiet.txt "$MPROF_BUILD/tests/readers/sessions/sampled.db" 2>&1) && [ -z "$said" ] && cmp sampled.txt quiet.txt || fail "a quiet export: $said"
exit 0
