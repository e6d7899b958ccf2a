#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# valgrind.sh PROGRAM: allocations, frees and bytes of a real program as valgrind counts them.
#
# Both sides see the same environment, as far as possible byte for byte: a recorded program does not see
# the recorder's variables, and gets one that is as long as valgrind's LD_PRELOAD. No difference is tolerated. Each program's part below names what differs by
# nature, and how often.
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
by_address_function='' by_address_size=0
hashed_function='' hashed_size=0
wider_module='' wider_begin=0 wider_end=0 wider_from=0 wider_to=0
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
    # Each import asks _thread.get_ident(): the address of the thread's block as an int, which has
    # 28 bytes below 2^30, where valgrind maps libraries, and 32 above. Some builds have
    # no name for the function; python tells where it begins, and its unwinding entry where it ends.
    # (json's check for circles would do the same with id().)
    local place
    place=$(/usr/bin/python3 -c 'if True:
        import _thread, ctypes, os
        at = lambda address: ctypes.c_void_p.from_address(address).value
        code = at(at(id(_thread.get_ident) + 16) + 8)
        path = os.path.realpath("/proc/self/exe")
        base = next(int(line.split("-")[0], 16) for line in open("/proc/self/maps") if path in line)
        with open(path, "rb") as file:
            fixed = file.read(17)[16] == 2  # ET_EXEC
        print("%s %016x" % (path, code if fixed else code - base))') || exit 1
    wider_module=${place% *} wider_begin=$((16#${place##* }))
    wider_end=$((16#$(readelf --debug-dump=frames "$wider_module" 2>/dev/null |
        sed -n "s/.* pc=${place##* }\.\.\([0-9a-f]*\)/\1/p" | head -1))) || fail "no unwinding entry at ${place##* }"
    wider_from=28 wider_to=32
    command=(/usr/bin/python3 -B -c 'import json, ast
tree = ast.parse(open(json.__file__).read())
names = {node.id: [node.id] * 10 for node in ast.walk(tree) if isinstance(node, ast.Name)}
text = json.dumps(names, check_circular=False)
print(len(text), len(json.loads(json.dumps(list(range(5000)), check_circular=False))))')
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
    # gcc's garbage collector keeps a table of pages for each 4 GiB of addresses in which it has
    # any (ggc-page.c). Their number depends on where mmap puts the pages.
    by_address_function=ggc_internal_alloc by_address_size=32768
    # Its hash tables of pointers (13 places at first) are walked in the order of addresses, so
    # the number of short-lived ones depends on addresses too. Each is freed again.
    hashed_function='hash_table<' hashed_size=104
    command=("$compiler" -quiet -fpreprocessed -O2 "$work/source.i" -o /dev/null)
}

declare -F "program_$name" >/dev/null || fail "unknown program $name"
"program_$name"

# Programs look at the folder that they run in (python3 lists it): it stays empty.
mkdir "$work/run"
# there FILE VARIABLES COMMAND...: runs it in that folder, with its output in FILE.
there() { (cd "$work/run" && env -i "${base[@]}" "${@:2}" >"$work/$1" 2>&1); }

# ---- both runs ------------------------------------------------------------------------------

base=(PATH=/usr/bin:/bin LC_ALL=C TZ=UTC "PWD=$work/run" GLIBCPP_FORCE_NEW=1 GLIBCXX_FORCE_NEW=1
    "${variables[@]}")

preload=$(env -i "${base[@]}" "$valgrind" -q --leak-check=no /usr/bin/env | sed -n 's/^LD_PRELOAD=//p')

# An int that holds an address is as large as the address: those of the heap are below 2^30 under
# valgrind, and so they are where the kernel does not choose them by chance.
fixed=(setarch "$(uname -m)" -R)
"${fixed[@]}" true 2>/dev/null || fixed=()
# The first read of a file or folder can change its time of access, which python3 holds as ints: after
# this run the two below see the same times.
there first.txt "${command[@]}" || fail "the program failed by itself: $(tail -3 first.txt)"
there recorded.txt "LD_PRELOAX=$preload" "${fixed[@]}" "$MPROF_BUILD/bin/mprof-run" --quiet -o "$work/trace.bin" -- "${command[@]}" || fail "recording failed: $(tail -3 recorded.txt)"
"$MPROF_BUILD/bin/mprof-ingest" -o session.db trace.bin >ingest.txt 2>&1 ||
    fail "ingest failed: $(tail -3 ingest.txt)"
ask() { sqlite3 session.db "$1"; }
pid=$(ask "SELECT value FROM meta WHERE key = 'pid'")

there expected.txt "$valgrind" \
    --run-libc-freeres=no --run-cxx-freeres=no --leak-check=no --trace-malloc=yes "--log-file=$work/valgrind.txt" \
    "${command[@]}" || fail "valgrind failed: $(tail -3 expected.txt)"
cmp -s recorded.txt expected.txt || fail "the program itself printed something else when recorded"

# ---- the comparison -------------------------------------------------------------------------

read -r allocations frees bytes < <(sed -n \
    's/.*total heap usage: \([0-9,]*\) allocs, \([0-9,]*\) frees, \([0-9,]*\) bytes.*/\1 \2 \3/p' \
    valgrind.txt | tr -d ,)
[ -n "${bytes:-}" ] || fail "valgrind gave no totals: $(tail -3 valgrind.txt)"

# sizes_under_valgrind: prints a line "SIZE COUNT" for each size in its log.
sizes_under_valgrind() {
    awk 'match($2, /^(malloc|calloc|realloc|_Zn[wa]m)\([^)]*\)/) {
            split(substr($2, RSTART, RLENGTH), part, /[(,)]/)
            count[part[1] == "calloc" ? part[2] * part[3] : part[1] == "realloc" ? part[3] + 0 : part[2] + 0]++
        }
        END { for (size in count) print size, count[size] }' valgrind.txt | sort -n
}
# blocks_under_valgrind SIZE: prints the number of blocks of that size.
blocks_under_valgrind() {
    sizes_under_valgrind | awk -v size="$1" '$1 == size { count = $2 } END { print count + 0 }'
}

# The number of calls between a frame and the allocator. Debug information, if it is installed, adds
# the inlined functions.
called="(SELECT count(*) FROM v_stack o WHERE o.stack_id = s.stack_id AND o.depth < s.depth AND NOT o.inlined)"

# Blocks that one function allocates once for each region of addresses. They are counted by name here
# and by size there, and no other block may have that size.
here=0 there=0
if [ -n "$by_address_function" ]; then
    here=$(ask "SELECT count(*) FROM allocation WHERE size = $by_address_size AND stack_id IN (
        SELECT stack_id FROM v_stack WHERE function LIKE '$by_address_function(%')")
    [ "$here" = "$(ask "SELECT count(*) FROM allocation WHERE size = $by_address_size")" ] ||
        fail "$name: others than $by_address_function allocate $by_address_size bytes"
    there=$(blocks_under_valgrind "$by_address_size")
    [ "$here" -gt 0 ] && [ "$there" -gt 0 ] || fail "$name: $by_address_function allocated nothing"
    echo "$name: $by_address_function allocated $there times under valgrind, $here times recorded"
fi
more=$((here - there))

# Blocks of one function that are as many, but have another size because they hold an address.
wider=0
if [ -n "$wider_module" ]; then
    wider=$(ask "SELECT count(*) FROM allocation WHERE size = $wider_to AND stack_id IN (
        SELECT stack_id FROM v_stack s JOIN module m ON m.name = s.module
        WHERE m.path = '$wider_module' AND pc >= $wider_begin AND pc < $wider_end AND $called <= 1)")
    for size in "$wider_from" "$wider_to"; do
        change=$(($(ask "SELECT count(*) FROM allocation WHERE size = $size") - $(blocks_under_valgrind "$size")))
        [ "$change" = "$([ "$size" = "$wider_to" ] && echo "$wider" || echo "-$wider")" ] ||
            fail "$name: one function allocated $wider blocks of $wider_to bytes, but there are $change more of $size"
    done
    echo "$name: one function allocated $wider times $wider_to bytes, $wider_from under valgrind"
fi
# Blocks that one function allocates and frees more or less often, depending on addresses. All other
# sizes must agree one by one.
pairs=0
if [ -n "$hashed_function" ]; then
    made=$(ask "SELECT count(*) FROM allocation WHERE size = $hashed_size AND free_ns IS NOT NULL AND stack_id IN (
        SELECT stack_id FROM v_stack s WHERE function LIKE '$hashed_function%' AND $called <= 1)")
    pairs=$(($(ask "SELECT count(*) FROM allocation WHERE size = $hashed_size") - $(blocks_under_valgrind "$hashed_size")))
    [ "${pairs#-}" -lt "$made" ] || fail "$name: $pairs blocks of $hashed_size bytes, $made by $hashed_function"
    echo "$name: $hashed_function…> made $pairs tables more than under valgrind, of $made"
    differing=$(diff <(ask "SELECT size || ' ' || count(*) FROM allocation GROUP BY size ORDER BY size") \
        <(sizes_under_valgrind) | sed -n 's/^[<>] \([0-9]*\) .*/\1/p' |
        grep -vxE "$hashed_size|$by_address_size" | sort -nu | tr '\n' ' ')
    [ -z "$differing" ] || fail "$name: as many blocks are not on both sides of these sizes: $differing"
fi
want="$((allocations + more + pairs)) $((frees + pairs)) $((bytes + more * by_address_size + pairs * hashed_size + wider * (wider_to - wider_from)))"

ours=$(ask "SELECT group_concat(value, ' ') FROM (SELECT value FROM meta
    WHERE key IN ('allocations', 'frees', 'bytes_allocated')
    ORDER BY CASE key WHEN 'allocations' THEN 1 WHEN 'frees' THEN 2 ELSE 3 END)")
echo "$name: valgrind $allocations allocations, $frees frees, $bytes bytes; mprof $ours"
[ "$ours" = "$want" ] || fail "$name: the totals differ"

# The table holds them too: every allocation is a row, every free an end.
rows=$(ask "SELECT count(*), count(free_ns), sum(size) FROM allocation" | tr '|' ' ')
[ "$rows" = "$want" ] || fail "$name: the rows say $rows"
odd=$(ask "SELECT group_concat(key || ' ' || value, ', ') FROM meta WHERE value <> 0 AND key IN
    ('dropped_events', 'unmatched_frees', 'double_frees', 'overlaps', 'ambiguous_pairs', 'damaged_bytes')")
[ -z "$odd" ] || fail "$name: odd events: $odd"
