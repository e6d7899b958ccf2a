#!/usr/bin/env bash
# valgrind.sh PROGRAM: allocations, frees and bytes of a real program as valgrind counts them.
#
# Both sides see the same environment, byte for byte as far as it can be: the variables that each
# side adds for itself are given to the other one too, and the recorder is copied to a folder
# whose name makes LD_PRELOAD as long as valgrind's. No difference is tolerated: what differs by
# nature is named in the program's own part below, with the number of times.
set -u
name=$1
valgrind=$(command -v valgrind.bin || command -v valgrind) || exit 77
command -v sqlite3 >/dev/null || exit 77
work=$(mktemp -d /tmp/mprof-oracle-XXXXXX) || exit 1
[ -n "${KEEP:-}" ] || trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
fail() { echo "$*" >&2; exit 1; }

needs() { for program; do [ -x "$program" ] || { echo "skipped: no $program"; exit 77; }; done; }

# ---- the programs: each sets `command`, and `variables` where it needs some -----------------

variables=()
program_ls() {
    needs /usr/bin/ls
    command=(/usr/bin/ls -lR /usr/include)
}
program_sqlite3() {
    needs /usr/bin/sqlite3
    command=(/usr/bin/sqlite3 :memory: "
        CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT, c REAL);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
          INSERT INTO t SELECT i, 'row ' || i, i * 0.5 FROM n;
        CREATE INDEX by_b ON t(b);
        SELECT count(*), sum(c), max(b) FROM t WHERE b LIKE 'row 1%';")
}
program_python3() {
    needs /usr/bin/python3
    variables=(PYTHONMALLOC=malloc PYTHONHASHSEED=0)
    command=(/usr/bin/python3 -B -c 'import json, ast
tree = ast.parse(open(json.__file__).read())
names = {node.id: [node.id] * 10 for node in ast.walk(tree) if isinstance(node, ast.Name)}
print(len(json.dumps(names)), len(json.loads(json.dumps(list(range(5000))))))')
}
program_perl() {
    needs /usr/bin/perl
    variables=(PERL_HASH_SEED=0 PERL_PERTURB_KEYS=0)
    command=(/usr/bin/perl -e 'my %h; for my $i (1 .. 20000) { $h{"key$i"} = [$i, "v" x ($i % 50)]; }
        my @k = sort keys %h; my $s = join(",", map { $h{$_}[1] } @k); $s =~ s/v+/w/g;
        delete $h{$_} for @k[0 .. 9999]; print length($s), "\n";')
}
program_git() {
    needs /usr/bin/git
    variables=(HOME="$work" GIT_CONFIG_NOSYSTEM=1 GIT_PAGER=cat)
    (
        export HOME=$work GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@b.c \
            GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@b.c
        git init -q repository && cd repository || exit 1
        for number in $(seq 60); do
            seq "$number" >"file$((number % 7))"
            git add . && GIT_AUTHOR_DATE="@$((500000000 + number * 1000)) +0000" \
                GIT_COMMITTER_DATE="@$((500000000 + number * 1000)) +0000" \
                git commit -q -m "Change number $number" || exit 1
        done
    ) || fail "cannot make the repository"
    command=(/usr/bin/git -C "$work/repository" log --stat -p)
}
program_cc1() {
    needs /usr/bin/gcc
    local compiler
    compiler=$(gcc -print-prog-name=cc1)
    needs "$compiler"
    {
        echo '#include <stdio.h>'
        echo '#include <stdlib.h>'
        for number in $(seq 40); do
            echo "static int f$number(int *a, int n) { int s = 0; for (int i = 0; i < n; i++)"
            echo "  s += a[i] * $number + (s >> 3); return s; }"
        done
        echo 'int main(int c, char **v) { int a[64]; for (int i = 0; i < 64; i++) a[i] = i * c;'
        echo '  int s = 0;'
        for number in $(seq 40); do echo "  s ^= f$number(a, 64);"; done
        echo '  printf("%d %s\n", s, v[0]); return 0; }'
    } >source.c
    gcc -E source.c -o source.i || fail "cannot preprocess"
    command=("$compiler" -quiet -fpreprocessed -O2 source.i -o source.s)
}

declare -F "program_$name" >/dev/null || fail "unknown program $name"
"program_$name"

# ---- both runs ------------------------------------------------------------------------------

base=(PATH=/usr/bin:/bin LC_ALL=C TZ=UTC "PWD=$work" GLIBCPP_FORCE_NEW=1 GLIBCXX_FORCE_NEW=1
    "${variables[@]}")

# What valgrind puts into LD_PRELOAD decides how long the recorder's path is to be.
preload=$(env -i "${base[@]}" "$valgrind" -q --leak-check=no /usr/bin/env | sed -n 's/^LD_PRELOAD=//p')
library=/lib/libmprof.so
padding=$((${#preload} - ${#work} - 1 - ${#library}))
[ "$padding" -gt 0 ] || fail "valgrind's LD_PRELOAD is too short for $work"
tree=$work/$(printf '%*s' "$padding" '' | tr ' ' x)
mkdir -p "$tree/bin" "$tree/lib"
cp "$MPROF_BUILD/bin/mprof-run" "$tree/bin/" && cp "$MPROF_BUILD/lib/libmprof.so" "$tree/lib/" ||
    fail "nothing built"

env -i "${base[@]}" "$tree/bin/mprof-run" --quiet -o "$work/trace.bin" -- "${command[@]}" \
    >recorded.txt 2>&1 || fail "recording failed: $(tail -3 recorded.txt)"
"$MPROF_BUILD/bin/mprof-ingest" -o session.db trace.bin >ingest.txt 2>&1 ||
    fail "ingest failed: $(tail -3 ingest.txt)"
ask() { sqlite3 session.db "$1"; }
pid=$(ask "SELECT value FROM meta WHERE key = 'pid'")

env -i "${base[@]}" "MPROF_OUTPUT=$work/trace.bin" "MPROF_OPTIONS=root=$pid" "$valgrind" \
    --run-libc-freeres=no --run-cxx-freeres=no --leak-check=no --log-file=valgrind.txt \
    "${command[@]}" >expected.txt 2>&1 || fail "valgrind failed: $(tail -3 expected.txt)"
cmp -s recorded.txt expected.txt || fail "the program itself printed something else when recorded"

# ---- the comparison -------------------------------------------------------------------------

read -r allocations frees bytes < <(sed -n \
    's/.*total heap usage: \([0-9,]*\) allocs, \([0-9,]*\) frees, \([0-9,]*\) bytes.*/\1 \2 \3/p' \
    valgrind.txt | tr -d ,)
[ -n "${bytes:-}" ] || fail "valgrind gave no totals: $(tail -3 valgrind.txt)"
ours=$(ask "SELECT group_concat(value, ' ') FROM (SELECT value FROM meta
    WHERE key IN ('allocations', 'frees', 'bytes_allocated')
    ORDER BY CASE key WHEN 'allocations' THEN 1 WHEN 'frees' THEN 2 ELSE 3 END)")
echo "$name: valgrind $allocations allocations, $frees frees, $bytes bytes; mprof $ours"
[ "$ours" = "$allocations $frees $bytes" ] || fail "$name: the totals differ"

# The table holds them too: every allocation is a row, every free an end.
rows=$(ask "SELECT count(*), count(free_ns), sum(size) FROM allocation" | tr '|' ' ')
[ "$rows" = "$allocations $frees $bytes" ] || fail "$name: the rows say $rows"
odd=$(ask "SELECT group_concat(key || ' ' || value, ', ') FROM meta WHERE value <> 0 AND key IN
    ('dropped_events', 'unmatched_frees', 'double_frees', 'overlaps', 'ambiguous_pairs', 'damaged_bytes')")
[ -z "$odd" ] || fail "$name: odd events: $odd"
