#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Exit status and messages of mprof-tui: 2 for bad usage, 1 for bad input, each with one clear
# line; scripts that cannot be read name their line; the manual page is well formed.
set -u
export LC_ALL=C.UTF-8 TZ=UTC
tui=$MPROF_BUILD/bin/mprof-tui
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$MPROF_BUILD/tests/make_session" "$work/session.db" 2000 100 50 2 1 || exit 1
failed=0

# expect STATUS PATTERN ARGUMENTS…: checks the exit status and the message.
expect() {
    local status=$1 pattern=$2
    shift 2
    "$tui" "$@" </dev/null >"$work/out" 2>&1
    local got=$?
    if [ $got -ne "$status" ] || ! grep -qE -- "$pattern" "$work/out"; then
        printf 'mprof-tui %s: exit %d (not %d), said:\n' "$*" $got "$status"
        cat "$work/out"
        failed=1
    fi
}

expect 2 'no session named'
expect 2 'more than one session' a.db b.db
expect 2 "no option --nonsense; mprof-tui --help" --nonsense a.db
expect 2 'as in 80x24' --script - --size 80 a.db
expect 2 'works with --script' --size 80x24 "$work/session.db"
expect 0 "^ +--filter=TEXT" --help
expect 0 '^mprof-tui [0-9]' --version
expect 1 'no/such.db' no/such.db
echo "not a session" >"$work/text.db"
expect 1 'text.db' --script - "$work/text.db"
head -c 20000 "$work/session.db" >"$work/cut.db"
expect 1 'cut.db' --script - "$work/cut.db"
expect 1 'not a terminal' "$work/session.db"
expect 1 'column 7' --script - --filter 'all | wheer size > 4' "$work/session.db"
expect 1 'no view is called' --script - --view nowhere "$work/session.db"
expect 1 'No such file' --script "$work/none.script" "$work/session.db"
printf 'key 2\nkey Nonsense\n' >"$work/bad.script"
expect 1 'bad.script:2: no key is called "Nonsense"' --script "$work/bad.script" "$work/session.db"
printf 'dance\n' >"$work/bad.script"
expect 1 'bad.script:1: unknown command "dance"' --script "$work/bad.script" "$work/session.db"
printf 'resize 80\n' >"$work/bad.script"
expect 1 'bad.script:1: expected a size' --script "$work/bad.script" "$work/session.db"
printf 'dump\n' >"$work/good.script"
expect 0 'leaked .* allocations' --filter leaked --script "$work/good.script" "$work/session.db"
expect 0 '▸ all | where' --view functions --filter 'all | where size > 100' --script "$work/good.script" "$work/session.db"

"$tui" --man >"$work/page.1"
cmp -s "$work/page.1" "$MPROF_SOURCE/docs/man/mprof-tui.1" || {
    echo "docs/man/mprof-tui.1 is not what mprof-tui --man writes; run: mprof-tui --man > docs/man/mprof-tui.1"
    failed=1
}
if command -v man >/dev/null; then
    MANROFFSEQ='' man --warnings -E UTF-8 -l -Tutf8 "$work/page.1" 2>&1 >/dev/null | grep . && failed=1
fi
exit $failed
