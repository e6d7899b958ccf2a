#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# function.start_pc of real programs is where `nm` says that the function begins: with debug information,
# with symbols only, with exported symbols only, of inlined functions and of clones, and in a session of
# several processes. Without symbols it is NULL, or the start that the unwind table has.
set -u
run=$MPROF_BUILD/bin/mprof-run ingest=$MPROF_BUILD/bin/mprof-ingest
rm -rf function_starts && mkdir function_starts && cd function_starts || exit 1
failed=0
complain() { echo "FAILED: $*"; failed=1; }

cat >starts.c <<'C'
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
void *kept[16];
static inline __attribute__((always_inline)) void *only_inlined(int size) { return malloc(size); }
/* Inlined below, and called through a pointer. */
static void inlined_too(int at, int size) { kept[at] = malloc(size); }
void (*volatile through)(int, int) = inlined_too;
static __attribute__((noinline)) void leaf(int at) { kept[at] = only_inlined(100 + at); }
__attribute__((noinline)) void outer(int at)
{
    leaf(at);
    inlined_too(at + 1, 5);
    kept[at + 2] = malloc(7);
}
int main(void)
{
    outer(0);
    through(3, 9);
    if (fork() == 0) {
        outer(4);
        through(8, 9);
        _exit(0);
    }
    wait(NULL);
    return 0;
}
C

starts() { # DB: the functions of the program, by name
    sqlite3 "$1" "SELECT f.name, printf('%016x', f.start_pc) FROM function f JOIN module m
        ON m.id = f.module_id WHERE m.path LIKE '%/function_starts/%' AND f.start_pc IS NOT NULL
        ORDER BY 1, 2"
}
record() { # NAME: records and ingests it as NAME.db
    "$run" --quiet -o "$1.bin" -- "./$1" || complain "recording $1"
    "$ingest" -q -o "$1.db" "$1.bin" || complain "ingesting $1"
    starts "$1.db" >"$1.txt"
}
check() { # NAME BINARY_WITH_SYMBOLS FUNCTION…: these have starts, and each start is a symbol of that name
    local name=$1 binary=$2 function
    nm "$binary" | sed -n 's/^\([0-9a-f]*\) [tT] \([^.]*\)\(\..*\)\?$/\2|\1/p' | sort >"$name.nm"
    shift 2
    for function; do
        grep -q "^$function|" "$name.txt" || complain "$name: $function has no start: $(cat "$name.txt")"
    done
    grep -vxFf "$name.nm" "$name.txt" && complain "$name: these are not symbols"
    [ "$(cut -d'|' -f1 "$name.txt" | uniq -d)" = "" ] || complain "$name: a function has two rows"
}

gcc -g -O1 -fno-optimize-sibling-calls -o dwarf starts.c || exit 1
record dwarf
check dwarf dwarf main outer leaf inlined_too
only=$(sqlite3 dwarf.db "SELECT count(*), count(start_pc) FROM function WHERE name = 'only_inlined'")
[ "$only" = "1|0" ] || complain "a function without code of its own: $only"

cp dwarf symtab && strip --strip-debug symtab
record symtab
check symtab dwarf main outer leaf inlined_too

# Only exported symbols, and the starts that the unwind table has.
gcc -O1 -rdynamic -fno-optimize-sibling-calls -o dynsym starts.c && cp dynsym dynsym.full && strip dynsym
record dynsym
named=$(grep -vF 'dynsym+0x' dynsym.txt) && printf '%s\n' "$named" >dynsym.txt
check dynsym dynsym.full main outer

cp dwarf none && strip none
record none
while IFS='|' read -r name start; do
    [ "${name##*+0x}" = "$(printf %x "0x$start")" ] || complain "none: $name begins at $start"
    grep -q "|$start\$" dwarf.nm || complain "none: $start is not a function"
done <none.txt
[ -s none.txt ] || complain "none: the unwind table gives no starts"

# Copies of a function that the compiler made: the lowest one counts.
cat >clones.c <<'C'
#include <stdlib.h>
void *kept[8];
volatile int zero;
static void copied(int at, int size)
{
    if (size == 0)
        return;
    for (int i = 0; i < 2; i++)
        kept[at + i] = malloc((size_t)size + zero);
    kept[at + 2] = calloc((size_t)size + zero, 3);
    kept[at + 1] = realloc(kept[at + 1], (size_t)size + 100);
}
int main(int count, char **names)
{
    (void)names;
    copied(0, count);
    copied(1, count + zero);
    copied(2, count + 2 * zero);
    void (*volatile any)(int, int) = copied;
    any(3, 20);
    return 0;
}
C
gcc -g -O2 -fno-optimize-sibling-calls -o clones clones.c || exit 1
copies=$(nm clones | grep -c ' t copied')
[ "$copies" -ge 1 ] || complain "the compiler left no copy"
record clones
lowest=$(nm clones | sed -n 's/^\([0-9a-f]*\) t copied.*/\1/p' | sort | head -1)
[ "$(sed -n 's/^copied|//p' clones.txt)" = "$lowest" ] ||
    complain "copied begins at $lowest of $copies, not at $(cat clones.txt)"

# The first process has a function only inlined, the second one calls its code.
cat >merged.cpp <<'CPP'
#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>
void *kept[4];
void both(int at) { kept[at] = malloc(10 + at); }
void (*volatile through)(int) = both;
int main()
{
    both(0);
    if (fork() == 0) {
        through(1);
        _exit(0);
    }
    wait(nullptr);
}
CPP
g++ -g -O2 -fno-optimize-sibling-calls -o merged merged.cpp || exit 1
record merged
inlined=$(sqlite3 merged.db "SELECT group_concat(DISTINCT inlined) FROM v_stack WHERE function LIKE 'both(%'")
[ "$inlined" = "1,0" ] || complain "merged: both() is not inlined and called: $inlined"
[ "$(sed -n 's/^both(int)|//p' merged.txt)" = "$(nm merged | sed -n 's/ T _Z4bothi$//p')" ] ||
    complain "merged: $(cat merged.txt)"

[ $failed -eq 0 ] && echo "all starts are those of nm ($copies copies)"
exit $failed
