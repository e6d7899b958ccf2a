#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: ecl.sh interpreted|compiled
# The objects of known.lisp: types, functions and stacks, threads that overlap, what collections take and leave. All
# types and numbers are those that a library counts without mprof, and what is kept is what the collector marked.
command -v sqlite3 >/dev/null || exit 77
command -v ecl >/dev/null || { echo "skipped: ecl is not installed"; exit 77; }
how=$1
mkdir -p "$how" && cd "$how" || exit 1
. "$MPROF_SOURCE/tests/end_to_end/common.sh"
sources=$MPROF_SOURCE/tests/runtimes
. "$sources/ecl_common.sh"
# Names without anything that Lisp might take for a pattern.
cp "$MPROF_SOURCE/tests/programs/lisp/known.lisp" .
program=known.lisp
if [ "$how" = compiled ]; then
    ecl --norc --eval '(progn (compile-file "known.lisp") (ext:quit 0))' >compile.txt 2>&1 || fail "compile-file: $(tail -3 compile.txt)"
    program=known.fas
fi
cc -O1 -g -shared -fPIC -DGC_NO_THREAD_REDIRECTS -o counts.so "$sources/ecl_counts.c" || exit 1

# The counting library comes first: it must be what ECL calls. The shell does not see the recorder's own LD_PRELOAD.
mprof-run --quiet --ecl -o session.bin -- env ECL_COUNTS=counts.txt ECL_MARKED=marked.txt sh -c \
    'LD_PRELOAD=$PWD/counts.so:$MPROF_BUILD/lib/libmprof.so:$MPROF_BUILD/lib/libmprof_ecl.so exec "$@"' sh ecl --norc --eval "(progn (load \"$program\") (main) (ext:quit 0))" >out.txt 2>&1 ||
    { cat out.txt; fail "status $?"; }
# ECL's trace is one of an executed program; the others are forked children.
mv session.bin.d children.d && mv "$(find children.d -type f -size +500k)" main.bin || fail "no children"
mprof-ingest --quiet -o session.db main.bin || fail "ingest"
mprof-ingest --quiet -o children.db children.d/* || fail "ingest of the children"
sound session.db
sound children.db

# Types, counts and bytes.
awk -F'|' '{ n[$1] += $2; b[$1] += $3 } END { for (t in n) print t "|" n[t] "|" b[t] }' counts.txt | LC_ALL=C sort >counted.txt
ask session.db "SELECT coalesce(t.name, '(none)'), count(*), sum(a.size) FROM allocation a LEFT JOIN type t ON t.id = a.type_id
    WHERE a.arena_id > 0 GROUP BY 1" | LC_ALL=C sort >recorded.txt
is "$(wc -l <counted.txt)" -gt 30 "types that were counted"
diff counted.txt recorded.txt || { echo "types, counts or bytes differ"; failed=1; }
is "$(ask session.db "SELECT count(*) FROM allocation a JOIN type t ON t.id = a.type_id WHERE a.arena_id > 0 AND t.confidence != 'exact'")" -eq 0 "types that are not exact"

# The objects of each function: two where the interpreter adds in two steps.
ask session.db "SELECT user, type, count(*), sum(freed_by = 'collector'), sum(kept), sum(free_ns IS NULL) FROM v_allocation
    WHERE arena_id > 0 GROUP BY 1, 2" >made.txt
made() { awk -F'|' -v f="$1" -v t="$2" -v c="$3" '$1 == f && $2 == t { n = $c } END { print n + 0 }' made.txt; } # FUNCTION TYPE COLUMN
objects() { # FUNCTION TYPE COMPILED INTERPRETED
    local wanted=$3 got
    [ "$how" = compiled ] || wanted=${4:-$3}
    got=$(made "$1" "$2" 3)
    [ "$got" = "$wanted" ] || { echo "$1: $got of $2, not $wanted"; failed=1; }
}
objects MAKE-VECTORS vector 100
objects MAKE-VECTORS 'memory with pointers' 100
objects MAKE-BIRDS instance 200
objects MAKE-POINT instance 300
objects MAKE-DOUBLES double-float 400 800
objects MAKE-BIGNUMS bignum 50
objects MAKE-RATIOS ratio 60 120
objects MAKE-TEXTS string 70
objects MAKE-TABLES hash-table 8
objects MAKE-BITS bit-vector 15
objects MAKE-WEAK weak-pointer 5
objects MAKE-KEPT vector 20
objects MAKE-DROPPED vector 100
objects BUSY vector 202
if [ "$how" = compiled ]; then
    objects MAKE-CONSES cons 1000
    objects MAKE-CLOSURES 'compiled closure' 90
else
    is "$(made MAKE-CONSES cons 3)" -ge 1000 "conses, with those of the interpreter"
    objects MAKE-CLOSURES 'bytecodes closure' 90
fi

# The Lisp functions on the stacks of the blocks of that size, innermost first, up to MAIN.
stack() { # WHAT SIZE WANTED
    local got
    got=$(ask session.db "SELECT DISTINCT (SELECT group_concat(name, ' ') FROM (SELECT f.name FROM stack_frame sf
        JOIN frame fr ON fr.id = sf.frame_id JOIN function f ON f.id = fr.function_id
        WHERE sf.stack_id = a.stack_id AND f.role = 'runtime' ORDER BY sf.depth)) FROM allocation a WHERE a.size = $2" |
        sed 's/ MAIN .*/ MAIN/; s/[A-Z:]*APPLY-METHOD//g')
    # shellcheck disable=SC2053
    [[ $got == $3 ]] || { printf '%s:\n%s\nwanted:\n%s\n' "$1" "$got" "$3"; failed=1; }
}
lambda='LAMBDA '
[ "$how" = interpreted ] || lambda= # a part of the function that has it
stack "a lambda" 48008 "INNERMOST ${lambda}THROUGH-LAMBDA MAIN"
stack "a function that is given" 48088 'INNERMOST *LAMBDA* THROUGH-APPLY MAIN'
stack "a method" 40008 'DESCRIBE-LEGS DESCRIBE-LEGS MAIN'
stack "the method that calls it" 40016 'DESCRIBE-LEGS MAIN'
stack "a deep stack" 56008 "DEEP$(printf ' DEEP%.0s' {1..40}) MAIN"
stack "a throw" 56808 'ESCAPING MAIN'
stack "its cleanup" 56816 'ESCAPING MAIN'
stack "a handler" 56824 'ESCAPING MAIN'
stack "a thread" 64008 'BUSY*'
is "$(ask session.db "SELECT count(DISTINCT thread_id) FROM allocation WHERE size IN (64008, 64016)")" -eq 2 "threads"
is "$(ask session.db "SELECT count(*) FROM (SELECT min(alloc_ns) AS b, max(alloc_ns) AS e FROM allocation WHERE size = 64008) x
    JOIN (SELECT min(alloc_ns) AS b, max(alloc_ns) AS e FROM allocation WHERE size = 64016) y ON x.b < y.e AND y.b < x.e")" -eq 1 "threads that overlap"

# Collections. Objects that main() drops are reclaimed, except those that a register or an old place
# on the stack may still hold.
is "$(ask session.db 'SELECT count(*) FROM collection')" -gt 0 "collections"
is "$(made MAKE-DROPPED vector 4)" -ge 90 "dropped vectors that were collected"
is "$(made MAKE-KEPT vector 5)" -eq 20 "vectors that were kept"
is "$(made MAKE-LATE vector 5)" -eq 0 "kept vectors after the last collection"
is "$(made MAKE-LATE vector 6)" -eq 10 "vectors that no collection has seen"
sqlite3 session.db 'CREATE TABLE marked(address INTEGER PRIMARY KEY)' '.import marked.txt marked' || fail "the marked objects"
ask session.db "SELECT v.kept, ifnull(v.freed_by, '-'), m.address IS NOT NULL, count(*)
    FROM v_allocation v LEFT JOIN marked m ON m.address = v.address JOIN (SELECT max(begin_ns) AS ns FROM collection) last
    WHERE v.arena_id > 0 AND v.alloc_ns < last.ns AND (v.free_ns IS NULL OR v.free_ns >= last.ns) GROUP BY 1, 2, 3" >there.txt
cat there.txt # when the last collection began: kept, freed by, marked, objects. It may find nothing to take.
is "$(sed -n 's/^1|-|1|//p' there.txt)" -gt 1000 "objects that are kept, and marked"
is "$(grep -cvE '^(1\|-\|1|0\|collector\|0|0\|program\|[01])\|' there.txt)" -eq 0 "others"

# Threads that get what other threads made before the last of many collections.
for clock in exact fast; do
    GC_FREE_SPACE_DIVISOR=12 mprof-run --quiet --ecl --clock=$clock -o $clock.bin -- ecl --norc --shell "$MPROF_SOURCE/tests/programs/lisp/threads.lisp" &&
        mprof-ingest -q -o $clock.db $clock.bin || fail "threads with clock=$clock"
    sound $clock.db
    is "$(ask $clock.db 'SELECT count(*) FROM collection')" -gt 5 "collections among threads with clock=$clock"
done

# The plug-in maps memory for its own tables, 16 MiB first. That is not the program's.
mprof-run --quiet --ecl --mmap -o maps.bin -- ecl --norc --eval '(ext:quit 0)' && mprof-ingest -q -o maps.db maps.bin || fail "a recording with mappings"
is "$(ask maps.db 'SELECT count(*) FROM v_region')" -gt 0 "mappings of the program"
is "$(ask maps.db 'SELECT count(*) FROM v_region WHERE mapped_file IS NULL AND size = 1 << 24')" -eq 0 "mappings of the plug-in"
# A sample: its blocks stand for about as many bytes as there were, and the collector takes most of them.
mprof-run --quiet --ecl --sample=4K -o sample.bin -- ecl --norc --eval "(progn (load \"$program\") (main) (ext:quit 0))" >out.txt 2>&1 ||
    { cat out.txt; fail "status $?"; }
mv sample.bin.d sample_children.d
mprof-ingest --quiet -o sample.db sample.bin || fail "ingest of the sample"
sound sample.db
whole=$(awk -F'|' '{ n += $3 } END { print n }' counted.txt)
estimate=$(ask sample.db "SELECT size FROM allocation WHERE arena_id > 0" | awk '{ n += $1 / (1 - exp(-$1 / 4096)) } END { printf "%d", n }')
is "$estimate" -gt $((whole * 88 / 100)) "bytes by the sample"
is "$estimate" -lt $((whole * 112 / 100)) "bytes by the sample"
taken=$(ask sample.db "SELECT count(*) FROM allocation WHERE arena_id > 0")
is "$(ask sample.db "SELECT count(*) FROM v_allocation WHERE arena_id > 0 AND freed_by = 'collector'")" -gt $((taken / 2)) "collected blocks of $taken"
exit "$failed"
