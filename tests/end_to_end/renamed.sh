#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Two sessions of a program that was renamed in between: report, filter graphs and browser compare its functions, and
# say under which name. Another program is compared with nothing.
. "$MPROF_SOURCE/tests/end_to_end/common.sh"

# record NAME BINARY: records a copy of the binary under this name.
record() {
    [ "$2" -ef "$1" ] || cp "$2" "$1"
    mprof-run --quiet -o "$1.bin" -- "./$1" >/dev/null || fail "$1 cannot be recorded"
    mprof-ingest --quiet -o "$1.db" "$1.bin" || fail "$1 cannot be ingested"
}
widgets=$MPROF_BUILD/tests/widgets
record tool-1.0 "$widgets"
# Another build: its build-id differs, and it has a version of its own in its name.
head -c 20 /dev/urandom >id
printf '\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0' | cat - id >note
objcopy --update-section .note.gnu.build-id=note "$widgets" tool-2.3 || fail "no other build"
record tool-2.3 tool-2.3
strip -o stripped tool-1.0
record stripped stripped
record renamed stripped
record other-1.0 tool-2.3

rows() { mprof-report diff --format=json --top=all "$@" | jq -c '[.tables.groups.rows[] | select(.change_allocations != 0)] | length'; }
said() { mprof-report diff --format=json "$@" | jq -c '.tables.modules.rows // []'; }
for by in function user line module thread stack; do
    is "$(rows --by=$by --base tool-1.0.db tool-2.3.db)" -eq 0 "changes by $by of a program with another version"
    is "$(rows --by=$by --base stripped.db renamed.db)" -eq 0 "changes by $by of a program with another name"
done
[ "$(said --base tool-1.0.db tool-2.3.db)" = '[{"base_module":"tool-1.0","module":"tool-2.3","same_by":"name without version"}]' ] ||
    fail "said of another version: $(said --base tool-1.0.db tool-2.3.db)"
[ "$(said --base stripped.db renamed.db)" = '[{"base_module":"stripped","module":"renamed","same_by":"build-id"}]' ] ||
    fail "said of another name: $(said --base stripped.db renamed.db)"
is "$(rows --by=module --base tool-1.0.db other-1.0.db)" -gt 0 "changes of another program"
[ "$(said --base tool-1.0.db other-1.0.db)" = '[]' ] || fail "another program is compared as the same"

graph() { mprof-tui --graph "run all - session \"$1.db\" | count" "$2.db" 2>said.txt; }
for pair in 'tool-1.0 tool-2.3' 'stripped renamed'; do
    set -- $pair
    [ "$(graph "$1" "$2")" = 'count: 0' ] || fail "allocations of $2 that $1 has not: $(graph "$1" "$2")"
    grep -q "^mprof-tui: $1 is compared as $2, by its" said.txt || fail "the graph says: $(cat said.txt)"
done
graph tool-1.0 other-1.0 | grep -qx 'count: 0' && fail "another program has the same allocations"

is "$(mprof-export -f csv --filter 'all | join function, module' --base tool-1.0.db tool-2.3.db | wc -l)" -eq 1 "lines of an exported difference"

for format in collapsed pprof; do
    mprof-export -q -f $format --base stripped.db -o difference renamed.db || fail "no difference as $format"
    case $format in pprof) zcat difference >text ;; *) cp difference text ;; esac
    grep -aq 'stripped+0x' text && fail "$format has functions of the base under the old name"
done

printf 'key b b\ndump diff\n' >keys.txt
mprof-tui --view=diff --script=keys.txt --size=160x24 tool-2.3.db tool-1.0.db >screen.txt || fail "no view of the difference"
grep -qE 'tool-(1.0|2.3) is compared as tool-(1.0|2.3)' screen.txt || fail "the view says nothing: $(cat screen.txt)"
grep -qE ' (new|gone) *$' screen.txt && fail "the view shows new rows: $(cat screen.txt)"
exit 0
