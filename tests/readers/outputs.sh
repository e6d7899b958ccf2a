#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Every way in which an export fails gives one line and its exit status, and leaves what was there.
set -uo pipefail
session=sessions/shop.db failed=0
mprof-export() { "$MPROF_BUILD/bin/mprof-export" "$@"; }
work=out/outputs
rm -rf "$work"
mkdir -p "$work"

# says STATUS PATTERN COMMAND…: the command ends so, with one line that matches.
says() {
    local status=$1 pattern=$2 got
    shift 2
    "$@" >/dev/null 2>"$work/said"
    got=$?
    [ $got -eq "$status" ] && [ "$(wc -l <"$work/said")" -eq 1 ] && grep -qE -- "$pattern" "$work/said" && return
    failed=1
    echo "$*: ended with $got, not $status, or said not /$pattern/ but:"
    cat "$work/said"
}
full() { mprof-export "$@" >/dev/full; }

formats='pprof pprof-text collapsed speedscope callgrind massif dhat heaptrack svg firefox chrome csv ndjson'
for format in $formats; do
    says 1 '^mprof-export: standard output: cannot be written: No space' full -f "$format" "$session"
    # Both ways give the same bytes, again and again.
    mprof-export -f "$format" "$session" >"$work/one" && mprof-export -f "$format" -o "$work/two" "$session" &&
        cmp "$work/one" "$work/two" || { echo "$format: -o and standard output differ"; failed=1; }
    echo before >"$work/kept"
    says 2 'column 7' mprof-export -f "$format" --filter 'all | wher' -o "$work/kept" "$session"
    says 1 'no such file|No such file' mprof-export -f "$format" -o "$work/kept" "$work/none.db"
    [ "$(cat "$work/kept")" = before ] || { echo "$format: a failure replaced the file"; failed=1; }
done
# A pipe that nobody reads from the beginning on: SIGPIPE ends the export without a word.
closed() {
    python3 -c 'import os, subprocess, sys
reading, writing = os.pipe()
os.close(reading)
sys.exit(subprocess.call(sys.argv[1:], stdout=writing) % 256)' "$@"
}
closed "$MPROF_BUILD/bin/mprof-export" -f heaptrack "$session" 2>"$work/said"
[ $? -eq 243 ] && [ ! -s "$work/said" ] || { echo "a closed pipe: $(cat "$work/said")"; failed=1; }

# A terminal gets no packed bytes. It shows text.
on_terminal() { script -qec "'$MPROF_BUILD/bin/mprof-export' -f $1 '$session'" "$work/typed" >"$work/said" </dev/null; }
on_terminal pprof
[ $? -eq 2 ] && grep -q 'mprof-export: pprof is not text for a terminal: name a file with -o' "$work/said" ||
    { echo "pprof on a terminal: $(head -c 300 "$work/said")"; failed=1; }
on_terminal csv || { echo "csv on a terminal: $(tail -n 3 "$work/said")"; failed=1; }

# The sessions that a command reads stay.
cp "$session" "$work/read.db"
says 1 'read.db: is a file that this command reads' mprof-export -f csv -o "$work/read.db" "$work/read.db"
says 1 'read.db: is a file that' mprof-export -f collapsed --base "$work/read.db" -o "$work/read.db" "$session"
cmp "$session" "$work/read.db" || { echo "an export replaced its session"; failed=1; }

ln -sf kept "$work/link"
says 1 'is a symbolic link' mprof-export -f csv -o "$work/link" "$session"
says 1 'not a regular file' mprof-export -f csv -o /dev/full "$session"
says 1 'is a directory' mprof-export -f csv -o "$work" "$session"
echo nothing >"$work/text.db"
says 1 'text.db' mprof-export -f csv "$work/text.db"
says 2 'no format' mprof-export "$session"
says 2 '--format needs one of pprof pprof-text .* csv ndjson parquet, not "jpeg"' mprof-export -f jpeg "$session"
says 2 'no session' mprof-export -f csv
says 2 'more than one session' mprof-export -f csv "$session" "$session"
says 2 'has no differences' mprof-export -f massif --base "$session" "$session"
says 2 'shows the whole run' mprof-export -f heaptrack --at peak "$session"
says 2 '^mprof-export: --at, column 1: ' mprof-export -f pprof --at yesterday "$session"
says 2 'leave out --base' mprof-export -f csv --tables "$work/tables" --filter all "$session"
says 2 'works with pprof, parquet and --tables' mprof-export -f csv --label a=b "$session"
says 2 'csv, ndjson and parquet' mprof-export -f svg --tables "$work/tables" "$session"
says 2 'needs site or all' mprof-export -f svg --frames some "$session"
says 2 'as live_bytes' mprof-export -f svg --value weight "$session"
says 2 'needs a number' mprof-export -f chrome --events many "$session"
# Options that would change nothing.
says 2 '^mprof-export: --value works with collapsed and svg, not with pprof;' mprof-export -f pprof --value bytes "$session"
for format in chrome csv ndjson; do
    says 2 "--frames works with .* not with $format" mprof-export -f $format --frames all "$session"
done
says 2 '--pcs works with pprof-text' mprof-export -f pprof --pcs real "$session"
says 2 '--events works with chrome' mprof-export -f firefox --events 5 "$session"
says 2 '--max-events works with firefox' mprof-export -f chrome --max-events 5 "$session"
says 2 'name them with -o' mprof-export -f pprof --window 1s "$session"
says 2 'needs a length' mprof-export -f pprof --window 0s -o "$work/w.gz" "$session"
says 1 'more than 10000 files' mprof-export -f pprof --window 1ns -o "$work/w.gz" "$session"
says 2 '^mprof-export: --filter, column 7: a measure' mprof-export -f csv --filter 'all | count' --base "$session" "$session"
says 1 'leave out --process' mprof-export -f csv --process all --base "$session" "$session"
# A measure is not a selection.
for format in $formats; do
    case $format in csv | ndjson) continue ;; esac
    says 2 '^mprof-export: --filter, column 14: .*a measure' mprof-export -f "$format" --filter 'ä = all; ä | count' "$session"
done
says 1 'cannot be made' mprof-export -f csv --tables "$work/none/tables" "$session"
# Tables that cannot all be written: none has its name, and a folder that was not there is not there.
cramped() (trap '' XFSZ; ulimit -f 4; mprof-export "$@")
mprof-export -f csv --tables "$work/before" "$session" && cp -r "$work/before" "$work/after"
for folder in new after; do
    says 1 'File too large' cramped -f csv --tables "$work/$folder" "$session"
done
says 1 'File too large' cramped -f parquet --tables "$work/lake" "$session"
[ ! -e "$work/lake" ] || { echo "parquet: folders were left"; failed=1; }
[ ! -e "$work/new" ] && diff -r "$work/before" "$work/after" || { echo "tables: some files were left"; failed=1; }
says 2 'nobody' mprof-export -f csv --process nobody "$session"
left=$(find "$work" -name '*.part.*')
[ -z "$left" ] || { echo "left behind: $left"; failed=1; }
exit $failed
