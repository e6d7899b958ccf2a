#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# ECL in a C program: Lisp functions in its threads and in a forked child, C functions that Lisp calls, and blocks of the
# heap beside those of the collector. And a program without ECL.
command -v sqlite3 >/dev/null || exit 77
[ -e /usr/include/ecl/ecl.h ] || { echo "skipped: the headers of ECL are not installed"; exit 77; }
. "$MPROF_SOURCE/tests/end_to_end/common.sh"
. "$MPROF_SOURCE/tests/runtimes/ecl_common.sh"
cc -O1 -g -pthread -fno-builtin -o embed "$MPROF_SOURCE/tests/runtimes/ecl_embed.c" -lecl -lgc || exit 1
mprof-run --quiet --ecl -o embed.bin -- ./embed 2>lines.txt || { cat lines.txt; fail "status $?"; }
is "$(wc -l <lines.txt)" -eq 0 "lines of mprof"
child=$(echo embed.bin.d/*)
mprof-ingest --quiet -o child.db "$child" || fail "ingest of the child"
mv embed.bin.d children.d
mprof-ingest --quiet -o session.db embed.bin || fail "ingest"
sound session.db
sound child.db

# The functions of Lisp and of the program on the stacks of vectors of N elements, innermost first.
wants() { # WHAT SESSION N WANTED
    local got
    got=$(ask "$2" "SELECT count(*), (SELECT group_concat(name, ' ') FROM (SELECT f.name FROM stack_frame sf
        JOIN frame fr ON fr.id = sf.frame_id JOIN function f ON f.id = fr.function_id
        WHERE sf.stack_id = a.stack_id AND (f.role = 'runtime' OR f.name IN ('called_from_lisp', 'run', 'main')) ORDER BY sf.depth))
        FROM allocation a WHERE a.arena_id > 0 AND a.size = 8 * $3 GROUP BY 2")
    # shellcheck disable=SC2053
    [[ $got == $4 ]] || { printf '%s:\n%s\nwanted:\n%s\n' "$1" "$got" "$4"; failed=1; }
}
wants "the first thread" session.db 3001 '1|INSIDE*main'
wants "a thread of C" session.db 3101 '1|INSIDE*run'
wants "C that Lisp calls" session.db 3201 '1|called_from_lisp *OUTSIDE*main'
wants "a forked child" child.db 3301 '1|INSIDE*main'
is "$(ask session.db "SELECT count(*) FROM v_allocation WHERE size = 8 * 3201 AND user = 'called_from_lisp'")" -eq 1 "the C function is the user's"
is "$(ask session.db "SELECT count(*) FROM allocation WHERE size IN (3901, 3902) AND arena_id = 0")" -eq 2 "blocks of the heap"

# The first screen leads to the objects, and wants no debug information of Lisp functions.
mprof-tui --fresh --script=- --size=100x24 session.db >screen.txt 2>&1 <<<'' || fail "the screen"
grep -q 'blocks are of ECL, not of this heap' screen.txt || { cat screen.txt; failed=1; }
! grep -qF 'for [ECL]' screen.txt || { cat screen.txt; failed=1; }

# A program that loads ECL later, where only it sees the symbols.
cat >late.c <<'C'
#include <dlfcn.h>
int main(int argc, char **argv)
{
    void *library = dlopen("libecl.so.21.2", RTLD_NOW | RTLD_LOCAL);
    return !library || !((int (*)(int, char **))dlsym(library, "cl_boot"))(argc, argv);
}
C
cc -o late late.c -ldl || exit 1
if ./late; then
    mprof-run --quiet --ecl -o late.bin -- ./late 2>lines.txt || fail "status $?"
    mprof-ingest --quiet -o late.db late.bin || fail "ingest"
    sound late.db
    is "$(ask late.db "SELECT count(*) FROM v_allocation WHERE arena_id > 0 AND type = 'symbol'")" -gt 1000 "symbols"
fi

mprof-run --quiet --ecl -o none.bin -- /bin/true 2>lines.txt || fail "status $?"
is "$(grep -c 'ECL' lines.txt)" -eq 1 "lines for a program without ECL"
mprof-ingest --quiet -o none.db none.bin || fail "ingest"
is "$(ask none.db 'SELECT count(*) FROM allocation WHERE arena_id > 0')" -eq 0 "its objects"
exit "$failed"
