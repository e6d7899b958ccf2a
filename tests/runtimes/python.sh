#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: python.sh VERSION INTERPRETER
# The Python functions of each kind of stack: calls from C, generators, coroutines, code objects in the
# memory of others, threads with and without the interpreter's lock, forked and executed processes,
# sub-interpreters, signals, the interpreter's end; and the interpreter as a library.
. "$MPROF_SOURCE/tests/runtimes/python_common.sh"
sources=$MPROF_SOURCE/tests/runtimes
cc -O1 -g -shared -fPIC -fno-builtin -I"$MPROF_SOURCE/capture" -o events.so "$sources/events.c" || exit 1
mprof-run --quiet --python -o trace.bin -- "$python" -S "$sources/shapes.py" || fail "status $?"
mv trace.bin.d children.d || fail "no children"
mprof-ingest --quiet -o children.db children.d/* || failed=1
mprof-ingest --quiet -o session.db trace.bin || failed=1

# The stacks of the blocks of that size: how many blocks, and the Python functions, innermost first, as
# NAME:LINE, with EVAL for each evaluator.
stacks() { # SESSION SIZE
    ask "$1" "SELECT count(*), (SELECT group_concat(name, ' ') FROM (SELECT CASE f.role WHEN 'runtime'
        THEN f.name || ':' || fr.line ELSE 'EVAL' END AS name
        FROM stack_frame sf JOIN frame fr ON fr.id = sf.frame_id JOIN function f ON f.id = fr.function_id
        WHERE sf.stack_id = a.stack_id AND f.role IN ('runtime', 'evaluator') ORDER BY sf.depth)) AS names
        FROM allocation a WHERE a.size = $2 GROUP BY 2"
}
line() { grep -nF -- "$1" "$sources/shapes.py" | tail -1 | cut -d: -f1; } # of the text
wants() { # WHAT SESSION SIZE PATTERN
    local got
    got=$(stacks "$2" "$3")
    # shellcheck disable=SC2053
    [[ $got == $4 ]] || { printf '%s:\n%s\nwanted:\n%s\n' "$1" "$got" "$4"; failed=1; }
}
from() { echo "main:$(line "    $1") <module>:$(line 'main()') EVAL"; } # the outer end of a stack
kept="keep:$(line 'kept.append(bytearray(size))')"
compare="call_from_c.<locals>.compare"
outer="EVAL call_from_c:$(line 'libc.qsort(') $(from 'call_from_c()')"
wants "C calls Python, without the lock" session.db 104001 "1|$compare:$(line 'allocate(104001)') $outer"
wants "C calls Python" session.db 104100 "1|$kept $compare:$(line 'keep(104099)') $outer"
wants "a generator" session.db 104101 "1|generator:$(line 'allocate(104101)') EVAL $(from 'for _ in generator()')"
wants "a generator that calls" session.db 104200 "1|$kept generator:$(line 'keep(104199)')* $(from 'for _ in generator()')"
wants "a coroutine" session.db 104300 "1|$kept coroutine:$(line 'keep(104299)') EVAL $(from '    coroutine()')"
wants "a class" session.db 104400 "3|$kept *Made.__init__:$(line 'keep(104399)') EVAL $(from 'Made()')"
wants "its end" session.db 104500 "1|$kept Made.__del__:$(line 'keep(104499)') EVAL $(from 'Made()')"
wants "a Latin name" session.db 104600 "1|$kept größe:$(line 'keep(104599)') $(from 'größe()')"
wants "a Chinese name" session.db 104700 "1|$kept 函数:$(line 'keep(104699)') $(from '函数()')"
wants "a name of other planes" session.db 104800 "1|$kept 𐎀:$(line 'keep(104799)') $(from '𐎀()')"
levels=$(printf " deep:$(line 'return deep(')%.0s" {1..600})
wants "a deep stack" session.db 104801 "1|deep:$(line 'allocate(104801)')$levels $(from 'deep(600)')"
wants "a forked child" children.db 104901 "1|processes:$(line 'allocate(104901)') $(from 'processes()')"
wants "an executed child" children.db 104912 "1|<module>:1 EVAL"
wants "a sub-interpreter" session.db 104922 "1|inner:3 <module>:4 EVAL*"
wants "a signal" session.db 104932 "1|$kept on_signal:$(line 'keep(104931)') EVAL signals:$(line 'raise_signal') $(from 'signals()')"
wants "the end" session.db 104942 "1|$kept at_exit:$(line 'keep(104941)') EVAL"
for i in 0 30 59; do
    outer="EVAL made_texts:$(line 'def made%d') $(from 'made_texts()')"
    wants "text $i" session.db $((105001 + i)) "1|$kept made$i:$((2 + i)) <module>:$((3 + i)) $outer"
    outer="EVAL made_texts:$(line 'def same()') $(from 'made_texts()')"
    wants "text $i of one name" session.db $((106001 + i)) "1|$kept same:$((2 + i)) <module>:63 $outer"
done
for size in 107001 107002; do
    wants "threads without the lock" session.db $size "300|worker:$(line 'allocate(size)') * EVAL"
    wants "threads" session.db $((size + 101)) "300|worker:$(line 'bytearray(size + 100)') * EVAL"
done
is "$(ask session.db "SELECT count(*) FROM (SELECT size, min(alloc_ns) AS b, max(alloc_ns) AS e FROM allocation
    WHERE size IN (107001, 107002) GROUP BY 1) x JOIN (SELECT min(alloc_ns) AS b, max(alloc_ns) AS e FROM allocation
    WHERE size IN (107001, 107002) GROUP BY size) y ON x.b < y.e AND y.b < x.e")" -eq 4 "threads that overlap"
is "$(ask session.db "SELECT count(*) FROM allocation WHERE size = 108001")" -gt 40 "blocks of threads at the end"
is "$(ask session.db "SELECT count(*) FROM allocation WHERE size = 33 AND arena_id > 0")" -gt 0 "blocks of handlers, but for those that interrupt the recorder"
ask session.db "SELECT * FROM problem WHERE kind NOT IN ('dropped', 'live_at_exit')"
is "$(meta session.db overlaps)" -eq 0 "overlaps"
is "$(meta session.db unmatched_frees)" -eq 0 "unmatched frees"

# The interpreter as a library: linked, and loaded later.
library=$(ls "$(dirname "$python")"/../lib/{,x86_64-linux-gnu/}libpython"$version".so 2>/dev/null | head -1)
cc -O1 -g -pthread -rdynamic -o embed "$sources/embed.c" -ldl || exit 1
for how in linked loaded; do
    if [ "$how" = linked ]; then
        cc -O1 -g -pthread -o embed_linked "$sources/embed.c" -Wl,--no-as-needed "$library" -Wl,-rpath,"$(dirname "$library")" -ldl || exit 1
        program=./embed_linked
    else
        program=./embed
    fi
    mprof-run --quiet --python -o $how.bin -- $program "$library" 2>$how.txt || { cat $how.txt; fail "$how: status $?"; }
    mprof-ingest --quiet -o $how.db $how.bin || failed=1
    wants "$how" $how.db 103001 "2|inside:3 <module>:1 EVAL"
    wants "$how: a thread of C" $how.db 103101 "2|inside:3 <module>:1 EVAL"
    wants "$how: between two interpreters" $how.db 103200 "2|"
done
is "$(grep -c 'has no CPython: ' loaded.txt)" -eq 1 "lines for a program without CPython"
is "$(wc -l <linked.txt)" -eq 0 "lines for a program with it"
exit "$failed"
