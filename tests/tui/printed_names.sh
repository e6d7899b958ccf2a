#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Names from outside reach the terminal only in their printable form, in every line that mprof-run,
# mprof-ingest and mprof-tui print: names of programs, files, graphs and views, and filters.
. "$MPROF_SOURCE/tests/end_to_end/common.sh"
export XDG_CONFIG_HOME=$work/config
evil=$(printf 'e\033]0;x\007v\nil\233m')
tried=0

# try STATUS COMMAND…: runs it, checks the exit status, and that it prints something clean.
try() {
    local status=$1 got
    shift
    "$@" </dev/null >out.txt 2>&1
    got=$?
    tried=$((tried + 1))
    if [ $got -ne "$status" ] || [ ! -s out.txt ] || LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]|(?<![\x80-\xff])[\x80-\x9f]' out.txt; then
        printf '%q ' "$@"
        printf 'ended with %d (not %d) and printed:\n' $got "$status"
        cat -v out.txt
        failed=1
    fi
}

cp "$(type -P ls)" "$evil"
try 0 mprof-run -o "$evil.bin" "./$evil" /
[ -s "$evil.bin" ] || fail 'there is no trace'
try 0 mprof-ingest "$evil.bin"
[ -s "$evil.db" ] || fail 'there is no session'
try 1 mprof-ingest "$evil.bin"
try 1 mprof-ingest "$evil.none"
try 1 mprof-ingest "$evil"
try 2 mprof-ingest "--$evil" "$evil.bin"
try 2 mprof-ingest "--index=$evil" "$evil.bin"
try 127 mprof-run "./$evil.none"
try 2 mprof-run "--$evil" true
try 1 mprof-tui "$evil"
try 1 mprof-tui "$evil.none"
printf 'dump\nkey 8\ndump\nkey 5\ndump\n' >good.script
try 0 mprof-tui --script good.script "$evil.db"
try 2 mprof-tui --script good.script --filter "where $evil" "$evil.db"
try 2 mprof-tui --script good.script --filter "$evil" "$evil.db"
try 1 mprof-tui --script good.script --view "$evil" "$evil.db"
try 0 mprof-tui --script good.script --process "$evil" "$evil.db"
try 2 mprof-tui --script good.script --process "none$evil" "$evil.db"
try 1 mprof-tui --script "$evil.script" "$evil.db"
printf 'key %s\n' "$evil" >"$evil.script"
try 1 mprof-tui --script "$evil.script" "$evil.db"
try 2 mprof-tui --script good.script --size "$evil" "$evil.db"
try 1 mprof-tui --graph "export $evil"
try 1 mprof-tui --graph "import $evil.none"
try 1 mprof-tui --graph "delete $evil"
try 1 mprof-tui --setting "add $evil"
rm "$evil.db"
try 1 mprof-tui --script good.script "$evil.bin"
try 0 mprof-tui --yes --script good.script "$evil.bin"
[ $failed -eq 0 ] && echo "ok: $tried commands print hostile names in their printable form"
exit $failed
