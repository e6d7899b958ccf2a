#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# mprof-ingest, mprof-report, mprof-export and the browser's scripts, built with AddressSanitizer and
# UndefinedBehaviorSanitizer: all formats on all sessions of tests/readers, and all golden traces. Only with
# MPROF_SOAK=1: the unit tests run under both in the suite.
[ "${MPROF_SOAK:-}" = 1 ] || exit 77
. "$MPROF_SOURCE/tests/end_to_end/common.sh"
sessions=$MPROF_BUILD/tests/readers/sessions bin=$MPROF_BUILD-asan/bin
cmake -S "$MPROF_SOURCE" -B "$MPROF_BUILD-asan" -DMPROF_SANITIZE=address,undefined -DCMAKE_BUILD_TYPE=Debug >build.txt &&
    cmake --build "$MPROF_BUILD-asan" --target mprof-ingest mprof-report mprof-export mprof-tui >>build.txt 2>&1 || fail "the build: $(tail build.txt)"
export ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
commands=0

# x COMMAND…: runs it. 1 to 3 are its own statuses; a sanitizer has others, or its report.
x() {
    local status=0
    commands=$((commands + 1))
    "$@" >out.txt 2>said.txt || status=$?
    [ $status -le 3 ] && ! grep -qE 'ERROR: [A-Za-z]+Sanitizer|runtime error' said.txt || fail "$*: $status: $(head -40 said.txt)"
}

# traces: ingests and prints every golden trace, good or damaged, and opens views of the session.
traces() {
    local trace view format
    for trace in "$MPROF_SOURCE"/tests/golden/trace/*.bin; do
        rm -f golden.db
        x "$bin/mprof-ingest" --quiet --force --cache=off -o golden.db "$trace"
        x "$bin/mprof-ingest" --dump "$trace"
        [ -e golden.db ] || continue
        for view in overview timeline tree leaks memory arenas; do
            x "$bin/mprof-tui" --fresh --view=$view --script view.keys golden.db
        done
        for format in pprof collapsed massif dhat heaptrack csv; do
            x "$bin/mprof-export" -f $format -o file golden.db
        done
    done
}

# exports SESSION: every format, with all options that change what is read.
exports() {
    local export=$bin/mprof-export format
    for format in pprof pprof-text collapsed speedscope callgrind massif dhat heaptrack svg firefox chrome csv ndjson; do
        x "$export" -f $format --process all -o file "$1"
    done
    for format in pprof pprof-text collapsed speedscope callgrind svg firefox dhat; do
        x "$export" -f $format --process all --frames all -o file "$1"
    done
    for format in pprof collapsed csv ndjson; do
        x "$export" -f $format --base "$sessions/widgets.db" -o file "$1"
        x "$export" -f $format --filter 'live at peak' -o file "$1"
    done
    for format in csv ndjson; do
        x "$export" -f $format --filter 'all | join function, type | sort bytes' -o file "$1"
        x "$export" -f $format --filter 'all | join function' --base "$sessions/shop.db" -o file "$1"
        x "$export" -f $format --filter 'all | count' -o file "$1"
        x "$export" -f $format --tables tables.$format "$1"
    done
    x "$export" -f pprof-text --pcs real -o file "$1"
    x "$export" -f pprof --window 25% -o window.gz "$1"
}

# reports SESSION: every report in every format and by every key, the tables of 1988, and budgets.
reports() {
    local report=$bin/mprof-report name format by
    for name in summary peak leaks functions types lines short-lived sizes fragmentation; do
        for format in text csv json markdown; do
            x "$report" "$name" --process all --top all --format $format "$1"
        done
    done
    for by in user function type line module thread stack; do
        for name in peak leaks short-lived fragmentation "diff --base $sessions/shop.db"; do
            # shellcheck disable=SC2086 # the last one has an option
            x "$report" $name --by $by --format json "$1"
        done
    done
    for name in -verbose -normal -terse -offsets -noleaktable; do
        x "$report" 1988 --process all $name "$1"
    done
    x "$report" leaks --suppress some.supp --format json "$1"
    x "$report" --check some.budgets --base "$sessions/shop.db" --junit verdicts.xml --format json "$1"
    x "$report" --check quote.budgets "$1"
}

printf 'leak:make*\nleak:^main$\n' >some.supp
printf 'my"x: all | count == 0\n' >quote.budgets
cat >some.budgets <<'END'
d = all;
a: d | count == 0
b: all | peak <= 1K
c: all | max lifetime <= 50%
e: live at peak | sum size <= +5%
g: growth start..end < 0
w: all | wheer | count > 1
END
echo 'dump a view' >view.keys
traces
for session in "$sessions"/*.db; do
    # The large ones are many times slower here, and their code is the same.
    case $session in */large_* | */script.db) continue ;; esac
    exports "$session"
    reports "$session"
done
[ $commands -gt 500 ] || fail "only $commands commands"
echo "$commands commands"
exit 0
