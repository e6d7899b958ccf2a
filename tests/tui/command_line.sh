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
expect 2 'too many sessions named: name one, or two to compare' a.db b.db c.db
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
# Facts that cannot be read are unknown, not good.
cp "$work/session.db" "$work/sums.db"
sqlite3 "$work/sums.db" "INSERT INTO type_total SELECT 0, count(*), 0, 0, 0, 0, 0, 0 FROM allocation;
    INSERT INTO function_total SELECT 1 << 30, 0, count(*), 0, count(*), 0, 0, 0, 0, 0 FROM allocation"
printf 'dump\nkey 2 1\ndump\n' >"$work/twice.script"
expect 0 '! nothing is known of leaks and lifetimes: .*sums.db' --size 200x40 --script "$work/twice.script" "$work/sums.db"
if grep -q 'no storm\|never freed' "$work/out"; then
    echo "unread functions are shown as findings:"
    cat "$work/out"
    failed=1
fi
expect 1 'not a terminal' "$work/session.db"
expect 2 'column 7' --script - --filter 'all | wheer size > 4' "$work/session.db"
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

# A trace in the place of a session.
cp -r "$MPROF_SOURCE/tests/tui/screens" "$work/folder"
expect 1 'folder: is not a session' --script "$work/good.script" "$work/folder"
"$MPROF_BUILD/bin/mprof-run" --quiet -o "$work/true.bin" -- /bin/ls / >/dev/null
expect 1 'true.bin is a trace, not a session: --yes or mprof-ingest makes the session' --script "$work/good.script" "$work/true.bin"
[ ! -e "$work/true.db" ] || { echo 'a session was made without a question'; failed=1; }
expect 0 'Findings|findings|Overview' --yes --script "$work/good.script" "$work/true.bin"
[ -s "$work/true.db" ] || { echo '--yes made no session'; failed=1; }
expect 0 'Findings|findings|Overview' --script "$work/good.script" "$work/true.bin"
expect 1 'true.db exists: --yes replaces it' --live --script "$work/good.script" "$work/true.bin"
expect 1 'true.db is not a trace: --live shows the trace' --live --script "$work/good.script" "$work/true.db"
expect 0 'Overview' --live --yes --script "$work/good.script" "$work/true.bin"
touch -d '2020-01-01' "$work/true.db"
expect 1 'true.db is older than the trace' --script "$work/good.script" "$work/true.bin"
head -c 300 "$work/true.bin" >"$work/$(printf 'cut\033[31m.bin')"
expect 1 'cut.x1b|cut.*033|cut.*1b' --yes --script "$work/good.script" "$work/$(printf 'cut\033[31m.bin')"
! grep -q "$(printf '\033')" "$work/out" || { echo 'an escape sequence in a file name is printed'; failed=1; }

# Saved filters, with the session and without one.
quiet() { # ARGUMENTS…: succeeds and says nothing
    "$tui" "$@" </dev/null >"$work/out" 2>&1 && [ ! -s "$work/out" ] || {
        printf 'mprof-tui %s: said:\n' "$*"
        cat "$work/out"
        failed=1
    }
}
export XDG_CONFIG_HOME=$work/config
printf '# Blocks of 1 KiB and more\nall | where size >= 1K\n' >"$work/big.graph"
expect 0 '^leaks_by_type +shipped ' --graph list
expect 0 '^# Which types' --graph 'export leaks_by_type'
quiet --graph "import $work/big.graph"
expect 0 '^big +your folder +Blocks of 1 KiB' --graph list
expect 1 'stored already' --graph "import $work/big.graph"
quiet --graph "import $work/big.graph" "$work/session.db"
expect 0 '^big +session +Blocks of 1 KiB' --graph list "$work/session.db"
expect 0 '^big +your folder +\(not used\) Blocks' --graph list "$work/session.db"
expect 0 '^all . where size >= 1K' --graph 'export big' "$work/session.db"
cmp -s "$work/out" "$work/big.graph" || { echo 'an exported graph is another one'; failed=1; }
expect 0 '▸ big & leaked' --filter 'big & leaked' --script "$work/good.script" "$work/session.db"
expect 2 'column 1: .*did you mean "big"' --filter 'bigg' --script "$work/good.script" "$work/session.db"
quiet --graph 'delete big' "$work/session.db"
expect 0 '^big +your folder +Blocks' --graph list "$work/session.db"
quiet --graph 'rename big=large'
expect 0 '^large +your folder +Blocks' --graph list
expect 1 'no graph is stored under the name "big"' --graph 'rename big=large'
expect 1 'expected OLD=NEW' --graph 'rename large'
quiet --graph 'rename large=big'
# The step write makes files only here.
sizes=$(sqlite3 "$work/session.db" "SELECT count(DISTINCT size) FROM allocation WHERE arena_id = 0 AND size >= 1024")
(cd "$work" && expect 0 "^groups: $sizes\$" --graph 'run big | join size | write "sizes.csv"' session.db &&
    exit "$failed") || failed=1
[ "$(wc -l <"$work/sizes.csv")" = $((sizes + 1)) ] || { echo 'sizes.csv has other rows'; failed=1; }
expect 1 'sizes.csv": write never replaces' --graph "run all | write \"$work/sizes.csv\"" "$work/session.db"
expect 0 "^sum size: [0-9]+ bytes$" --graph 'run leaked | sum size' "$work/session.db"
expect 2 '^mprof-tui: --graph run, column 7: .*did you mean "where"' --graph 'run all | wheer' "$work/session.db"
expect 2 'may not write files' --filter "all | write \"$work/no.csv\"" --script "$work/good.script" "$work/session.db"
expect 2 'no session named' --graph 'run all'
# A session of some allocations; one that is interrupted leaves nothing.
expect 0 '^allocations: ' --graph "run live | write \"$work/part.db\"" "$work/session.db"
expect 1 'part.db": write never replaces' --graph "run live | write \"$work/part.db\"" "$work/session.db"
same=$(printf '%s\n' "$work/session.db live" "$work/part.db all" | while read -r path set; do
    "$tui" --graph "run $set" "$path"
done | sort -u | wc -l)
[ "$same" = 2 ] || { echo "part.db has not the same allocations"; failed=1; }
printf 'key :\ntype w %s\nkey Enter\ndump\n' "$work/browsed.db" >"$work/writes.script"
expect 0 'browsed.db written' --filter live --size 300x24 --script "$work/writes.script" "$work/session.db"
[ "$("$tui" --graph 'run all' "$work/browsed.db")" = "$("$tui" --graph 'run all' "$work/part.db")" ] ||
    { echo 'the browser writes another session'; failed=1; }
mkdir "$work/slow" && cp "$tui" "$work/slow/mprof-tui"
printf '#!/bin/sh\ntouch "%s"\nexec sleep 600\n' "$work/slow/started" >"$work/slow/mprof-ingest"
chmod +x "$work/slow/mprof-ingest"
LD_LIBRARY_PATH=$MPROF_BUILD/lib "$work/slow/mprof-tui" --graph "run live | write \"$work/slow/part.db\"" "$work/session.db" >/dev/null 2>&1 &
until [ -e "$work/slow/started" ] || ! kill -0 $!; do sleep 0.02; done
kill -TERM $!
wait $!
[ $? = 143 ] || { echo 'a writing that is ended does not end by the signal'; failed=1; }
[ "$(echo "$work"/slow/*)" = "$work/slow/mprof-ingest $work/slow/mprof-tui $work/slow/started" ] ||
    { echo "a writing that is ended leaves $(ls "$work/slow")"; failed=1; }
printf 'big | write "%s"' "$work/stored.json" >"$work/stores.graph"
quiet --graph "import $work/stores.graph"
expect 1 'a saved filter may not write' --graph 'run stores' "$work/session.db"
[ ! -e "$work/stored.json" ] || { echo 'a saved filter wrote a file'; failed=1; }
expect 0 '^allocations: ' --graph 'run-all stores' "$work/session.db"
[ -s "$work/stored.json" ] || { echo 'a saved filter that may write wrote no file'; failed=1; }
quiet --graph 'delete stores'
quiet --graph 'delete big'
expect 1 'no graph is stored under the name "big"' --graph 'delete big'
expect 1 'ships with the program' --graph 'delete leaks_by_type'
expect 1 'cannot be a graph.s name' --graph 'export ../x'
printf 'all | wheer' >"$work/wrong.graph"
expect 1 'wrong.graph, column 7: ' --graph "import $work/wrong.graph"
expect 2 'one task with graphs or settings at a time' --graph list --graph 'delete big'
quiet --setting 'add hide boost'
quiet --setting 'add wrapper take(unsigned long)' "$work/session.db"
expect 0 '^wrapper  session +take\(unsigned long\)' --setting list "$work/session.db"
expect 0 '^hide +your folder +boost' --setting list "$work/session.db"
quiet --setting 'delete wrapper take(unsigned long)' "$work/session.db"
expect 1 'the session has no setting "wrapper take' --setting 'delete wrapper take(unsigned long)' "$work/session.db"
quiet --setting 'delete hide boost'
quiet --setting list
expect 1 'expected hide, show, wrapper or source' --setting 'add conceal boost'
expect 1 'one line' --setting 'add hide '
# A wrapper moves the call site to its caller.
inner=$(sqlite3 "$work/session.db" "SELECT f.name FROM stack s JOIN function f ON f.id = s.function_id JOIN
    allocation a ON a.stack_id = s.id WHERE s.depth > 5 GROUP BY 1 ORDER BY count(*) DESC LIMIT 1")
of_inner() { "$tui" --filter "where function == \"$inner\"" --script "$work/good.script" "$work/session.db" | grep -o '[0-9,]* of [0-9,]* allocations'; }
before=$(of_inner)
quiet --setting "add wrapper $inner" "$work/session.db"
[ "$(of_inner)" != "$before" ] || { echo "the wrapper $inner is a call site still: $before"; failed=1; }
quiet --setting "delete wrapper $inner" "$work/session.db"
[ "$(of_inner)" = "$before" ] || { echo "a setting that was deleted holds still: $(of_inner), not $before"; failed=1; }
sqlite3 "$work/session.db" "INSERT INTO meta VALUES ('unfinished', 1)"
expect 0 'still being recorded; the graph is stored in your folder' --graph "import $work/big.graph" "$work/session.db"
sqlite3 "$work/session.db" "DELETE FROM meta WHERE key = 'unfinished'"

"$tui" --man >"$work/page.1"
cmp -s "$work/page.1" "$MPROF_SOURCE/docs/man/mprof-tui.1" || {
    echo "docs/man/mprof-tui.1 is not what mprof-tui --man writes; run: mprof-tui --man > docs/man/mprof-tui.1"
    failed=1
}
if command -v man >/dev/null; then
    MANROFFSEQ='' man --warnings -E UTF-8 -l -Tutf8 "$work/page.1" 2>&1 >/dev/null | grep . && failed=1
fi
exit $failed
