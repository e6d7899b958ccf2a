#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Compares the stacks of real programs with libunwind's, by preloading the checker. Programs that are
# not installed are named and left out.
set -u
checker=$MPROF_BUILD/tests/libstack_check_preload.so
report=$(mktemp) work=$(mktemp -d)
trap 'rm -rf "$report" "$work"' EXIT
failed=0

# check NAME LEAST PROGRAM ARGS…: at least LEAST stacks must have been compared.
check() {
    local name=$1 least=$2
    shift 2
    command -v "$1" >/dev/null || { echo "$name: not installed"; return; }
    : >"$report"
    if ! LD_PRELOAD=$checker STACK_CHECK_EVERY=${every:-50} STACK_CHECK_REPORT=$report \
        PYTHONMALLOC=malloc "$@" >"$work/out" 2>"$work/err"; then
        echo "$name: failed"
        tail -40 "$work/err"
        failed=1
    fi
    cat "$report"
    awk -v least="$least" '{ total += $4 } END { exit !(total >= least) }' "$report" ||
        { echo "$name: too few stacks compared, expected at least $least"; failed=1; }
}

cat >"$work/a.py" <<'PY'
import json, re
d = [{"a": i, "b": [str(j) for j in range(i % 7)]} for i in range(2000)]
e = json.loads(json.dumps(d, indent=1))
print(sorted((re.sub("a", "b", str(x)) for x in e), key=lambda x: x[::-1])[:1])
PY
cat >"$work/a.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) { for (int i = 0; i < argc; i++) puts(argv[i]); return 0; }
C
check python3 1000 /usr/bin/python3 "$work/a.py"
check perl 500 perl -e 'my %h; for (1..9000) { $h{$_ % 100} .= join ",", map { $_ * 2 } 1..5 } print scalar keys %h'
every=1 check sqlite3 300 sqlite3 :memory: "create table t(a, b); with recursive x(i) as (select 1 union all select i + 1 from x where i < 9000) insert into t select i, 'abc' || i from x; create index q on t(b); select count(*) from t;"
every=5 check git 10 git --version
every=20 check cc1 500 gcc -O2 -c -o "$work/a.o" "$work/a.c"
exit $failed
