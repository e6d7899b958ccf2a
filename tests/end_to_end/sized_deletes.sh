#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# --sized-delete: blocks deleted with another size than theirs, and no others, with both call sites; built
# by gcc and clang. AddressSanitizer, where it runs, reports the same pairs of sizes. The program runs as
# without the option, also if only a plugin has C++'s library or the program has operators of its own.
set -u
run=$MPROF_BUILD/bin/mprof-run ingest=$MPROF_BUILD/bin/mprof-ingest
rm -rf sized && mkdir sized && cd sized || exit 1
failed=0
complain() { echo "FAILED: $*"; failed=1; }
same() { [ "$2" = "$3" ] || complain "$1: '$2', not '$3'"; }
record() { # NAME PROGRAM OPTION...
    "$run" --quiet --force "${@:3}" -o "$1.bin" -- $2 || complain "$1: status $?"
    "$ingest" --force -o "$1.db" "$1.bin" >"$1.summary" || complain "$1: ingest"
    case $* in *--sample*) return ;; esac # check_session counts whole recordings
    "$MPROF_BUILD/tests/check_session" "$1.db" >/dev/null || complain "$1: check_session"
}
fact() { sqlite3 "$1.db" "SELECT value FROM meta WHERE key = 'wrong_sizes'"; }
pairs() { sqlite3 "$1.db" "SELECT size, stated_size, sum(allocations) FROM v_wrong_size GROUP BY 1, 2" | tr '\n' ' '; }
all='2001|2002|1 2003|2000|1 2048|1920|1 2100|2000|3 '
for build in "g++ -O0 -g" "g++ -O2" "clang++ -O1 -g"; do
    command -v "${build%% *}" >/dev/null || exit 77
    name=$(tr -d ' ' <<<"$build")
    $build -w -fno-builtin -std=c++17 -fsized-deallocation -pthread -o "$name" "$MPROF_SOURCE/tests/programs/sized_deletes.cpp" || exit 1
    record "$name" "./$name" --sized-delete
    same "pairs of $build" "$(pairs "$name")" "$all"
    same "fact of $build" "$(fact "$name")" 6
    same "problems of $build" "$(sqlite3 "$name.db" "SELECT count(*) FROM problem WHERE kind = 'wrong size' AND address IS NOT NULL")" 6
    grep -q '^problems .*6 deletes with a wrong size' "$name.summary" || complain "$build: $(cat "$name.summary")"
    record good "./$name good" --sized-delete
    same "good blocks of $build" "$(fact good)" 0
    # All blocks that an operator with a size frees were compared.
    [ "$("$ingest" --dump good.bin | grep -c ' sized-delete address')" -ge 6 ] || complain "$build: nothing was compared"
done
same "call sites" "$(sqlite3 g++-O0-g.db "SELECT function, free_function FROM v_wrong_size WHERE size = 2001")" 'bad_sized()|bad_sized()'
printf 'dump\n' >look
"$MPROF_BUILD/bin/mprof-tui" --script look --size 120x40 g++-O0-g.db | grep -q '6 blocks were deleted with a wrong size' ||
    complain "the browser says nothing"
record unasked ./g++-O0-g
same "without the option" "$("$ingest" --dump unasked.bin | grep -c sized-delete)/$(fact unasked)" 0/0
record sampled ./g++-O0-g --sized-delete --sample=1
[ "$(fact sampled)" = 6 ] || complain "all blocks in a sample: $(fact sampled)"
record rare ./g++-O0-g --sized-delete --sample=1G
same "no blocks in a sample" "$("$ingest" --dump rare.bin | grep -c sized-delete)/$(fact rare)" 0/0
"$run" --sized-delete --clock=fast -o no.bin -- true 2>/dev/null
same "with --clock=fast" $? 2
"$ingest" --quiet -o both.db g++-O0-g.bin clang++-O1-g.bin || complain "both"
same "of two" "$(pairs both)/$(fact both)" '2001|2002|2 2003|2000|2 2048|1920|2 2100|2000|6 /12'

# A plugin that alone has C++'s library, and a plugin and a program with operators of their own.
cat >own.cpp <<'CXX'
#include <cstdio>
#include <cstdlib>
#include <new>
static char pool[1 << 16];
static std::size_t used;
void *operator new(std::size_t size) { void *block = pool + used; used += (size + 15) / 16 * 16; return block; }
void operator delete(void *) noexcept {}
void operator delete(void *block, std::size_t size) noexcept
{
    if (size != 3000)
        abort();
    static_cast<char *>(block)[0] = 7;
}
struct part { char data[3000]; };
static int works() { part *volatile object = new part; char *at = object->data; at[0] = 1; delete object; return at[0] == 7; }
extern "C" int plugin() { return works(); }
#ifdef PROGRAM
int main() { return works() ? 0 : 1; }
#endif
CXX
cat >plain.cpp <<'CXX'
#include <string>
struct part { std::string text; char data[3000]; };
extern "C" int plugin() { part *volatile object = new part; object->text.assign(500, 'x'); delete object; return 1; }
CXX
cat >host.c <<'C'
#include <dlfcn.h>
int main(int argc, char **argv)
{
    void *handle = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : 0;
    int (*plugin)(void) = handle ? (int (*)(void))dlsym(handle, "plugin") : 0;
    return plugin && plugin() ? 0 : 1;
}
C
g++ -w -O0 -std=c++17 -DPROGRAM -o own own.cpp && g++ -w -O0 -std=c++17 -shared -fPIC -o own.so own.cpp &&
    g++ -w -O0 -std=c++17 -shared -fPIC -o plain.so plain.cpp && gcc -w -o host host.c -ldl || exit 1
record own ./own --sized-delete
record own_plugin "./host ./own.so" --sized-delete
record plain_plugin "./host ./plain.so" --sized-delete
same "of plugins" "$(fact own)/$(fact plain_plugin)" 0/0
# A plugin's constructor waits for a thread that deletes, while the loader holds its lock.
cat >waits.cpp <<'CXX'
#include <thread>
struct part { char data[3000]; };
static void work() { part *volatile object = new part; delete object; }
static struct start { start() { std::thread(work).join(); } } begins;
extern "C" int plugin() { work(); return 1; }
CXX
g++ -w -O0 -std=c++17 -shared -fPIC -pthread -o waits.so waits.cpp &&
    g++ -w -x c++ -pthread -o cxx_host - -ldl <<<"$(echo '#include <dlfcn.h>
#include <string>
std::string *text;
int main(int argc, char **argv)
{
    text = new std::string(600, (char)argc);
    dlsym(RTLD_DEFAULT, "no_such_name");
    delete text;
    if (!dlerror())
        return 3;
    void *handle = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    int (*plugin)() = handle ? (int (*)())dlsym(handle, "plugin") : nullptr;
    return plugin && plugin() ? 0 : 1;
}')" || exit 1
for host in ./host ./cxx_host; do
    timeout 60 "$run" --quiet --sized-delete --force -o waits.bin -- $host ./waits.so 2>notes || complain "$host ends with $?"
    grep -q 'sees nothing' notes && seen=no || seen=yes
    same "$host is of C++" "$seen" "$([ $host = ./host ] && echo no || echo yes)"
done

# Operators new and delete of the program, without those that take a size: its blocks are larger.
cat >rounds.cpp <<'CXX'
#include <cstdlib>
#include <new>
void *operator new(std::size_t size) { return malloc((size + 15) & ~std::size_t(15)); }
void operator delete(void *block) noexcept { free(block); }
struct part { char data[3001]; };
int main() { part *volatile object = new part; delete object; }
CXX
g++ -w -O0 -std=c++17 -o rounds rounds.cpp || exit 1
record rounds ./rounds --sized-delete
same "of the program's own operators" "$(fact rounds)" 0

# A child with a sanitizer runs without all libraries of the recorder, a child in C without the one for
# sizes.
"$run" --quiet --sized-delete --force -o children.bin -- ./cxx_host ./waits.so || complain "cxx_host: $?"
cat >executes.cpp <<'CXX'
#include <string>
#include <unistd.h>
int main(int, char **argv) { delete new std::string(600, 'x'); execv(argv[1], argv + 1); return 9; }
CXX
g++ -w -O0 -o executes executes.cpp && printf '#!/bin/sh\nsed -nz "s/^LD_PRELOAD=//p" /proc/self/environ\n' >prints && chmod +x prints || exit 1
"$run" --quiet --sized-delete --force -o children.bin -- ./executes ./prints | tr -d '\0' >preload || complain "prints: $?"
same "preloaded into a program of C" "$(tr ':' '\n' <preload | sed 's,.*/,,' | tr '\n' ' ')" "libmprof.so"
if echo 'int main() { delete new int; }' | g++ -fsanitize=address -x c++ -o checks - 2>/dev/null && ./checks 2>/dev/null; then
    "$run" --quiet --sized-delete --force -o children.bin -- ./executes ./checks 2>/dev/null || complain "with a sanitizer: $?"
fi

same "live in the plugin" "$(sqlite3 plain_plugin.db "SELECT count(*) FROM allocation WHERE size > 3000 AND size < 3100 AND free_ns IS NULL")" 0

if echo 'int main() {}' | g++ -fsanitize=address -x c++ -o try - 2>/dev/null && ./try 2>/dev/null; then
    g++ -w -fno-builtin -O0 -g -std=c++17 -fsized-deallocation -pthread -fsanitize=address -fsanitize-recover=address \
        -o checked "$MPROF_SOURCE/tests/programs/sized_deletes.cpp" || exit 1
    ASAN_OPTIONS=halt_on_error=0:detect_leaks=0 ./checked 2>asan
    same "AddressSanitizer" "$(awk '/size of the allocated type/ {size = $6} /size of the deallocated type/ {print size "|" $6}' asan |
        sort | uniq -c | awk '{print $2 "|" $1}' | tr '\n' ' ')" "$all"
else
    echo "(AddressSanitizer does not run here: not compared)"
fi
[ $failed -eq 0 ] && echo "sizes of deletes are compared"
exit $failed
