#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Blocks that the language's runtime keeps to the end are named as such and are not leaks. A C++
# program that frees everything it allocates has none, with each C++ library and linked in each way.
# Blocks that the program itself leaves are leaks, even if they have the same size, were made before
# main, or by a stream's callback.
set -u
rm -rf runtime_blocks && mkdir runtime_blocks && cd runtime_blocks || exit 1
failed=0
complain() { echo "FAILED: $*"; failed=1; }

cat >clean.cpp <<'CPP'
#include <clocale>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>
int main()
{
    setlocale(LC_ALL, "C.UTF-8");
    std::vector<std::string> words(100, std::string(50, 'x'));
    std::cout << words.size() << std::endl;
    printf("%zu\n", words.size());
    try {
        throw std::string(100, 'y');
    } catch (const std::string &) {
    }
    return 0;
}
CPP
cat >leaks.cpp <<'CPP'
#include <cstdio>
#include <cstdlib>
static void *volatile before_main = malloc(POOL); // as large as the emergency pool
static ssize_t take(void *, const char *, size_t size)
{
    static void *volatile kept = malloc(333);
    return kept ? (ssize_t)size : -1;
}
int main()
{
    cookie_io_functions_t functions = {nullptr, take, nullptr, nullptr};
    FILE *stream = fopencookie(nullptr, "w", functions);
    fputs("text", stream);
    fclose(stream);
    void *volatile lost = malloc(4096);
    return lost == nullptr || before_main == nullptr;
}
CPP

record() { # PROGRAM
    "$MPROF_BUILD/bin/mprof-run" --quiet --force -o "$1.bin" -- "./$1" >/dev/null &&
        "$MPROF_BUILD/bin/mprof-ingest" --quiet --force -o "$1.db" "$1.bin" ||
        complain "$1: no session"
    "$MPROF_BUILD/tests/check_session" "$1.db" || complain "$1: check_session"
}

clean() { # PROGRAM KIND...: no leak, and the runtime's blocks are of these kinds
    local program=$1 leaks kinds
    shift
    record "$program"
    leaks=$(sqlite3 "$program.db" "SELECT live_bytes, function FROM v_leak")
    [ -z "$leaks" ] || complain "$program leaks: $leaks"
    kinds=$(sqlite3 "$program.db" "SELECT DISTINCT kind FROM v_runtime WHERE live_count > 0 ORDER BY 1" | tr '\n' ' ')
    for kind in "$@"; do
        case $kinds in *"$kind"*) ;; *) complain "$program: no '$kind' among: $kinds" ;; esac
    done
}

g++ -O1 -g -o dynamic clean.cpp && clean dynamic 'C++ exceptions' stdio
# On most machines libraries have no debug information. Then neither libstdc++ nor the loader has names
# for the functions that make the pool. Only root can hide what this machine has.
if unshare -m true 2>/dev/null; then
    unshare -m bash -c '[ ! -d /usr/lib/debug ] || mount -t tmpfs none /usr/lib/debug
        XDG_CACHE_HOME=/dev/null exec "$0/bin/mprof-ingest" --quiet -o bare.db dynamic.bin' "$MPROF_BUILD" ||
        complain "bare: no session"
    [ "$(sqlite3 bare.db "SELECT count(*) FROM v_stack WHERE function IN ('call_init', '_dl_init')")" -eq 0 ] ||
        complain "bare: the loader has names, so this tests nothing"
    [ "$(sqlite3 bare.db "SELECT count(*) FROM v_leak; SELECT kind FROM v_runtime WHERE live_bytes > 70000")" = '0
C++ exceptions' ] || complain "bare leaks: $(sqlite3 bare.db 'SELECT live_bytes, function FROM v_leak')"
fi
g++ -O1 -static-libstdc++ -static-libgcc -o within clean.cpp && clean within 'C++ exceptions' stdio
if clang++ -stdlib=libc++ -O1 -o libcxx clean.cpp 2>/dev/null; then
    clean libcxx stdio
else
    echo "(libc++ is not installed: not tried)"
fi

# The pool has 72,704 bytes in libstdc++ 12, 73,728 in 14.
pool=$(sqlite3 within.db "SELECT live_bytes FROM v_runtime WHERE kind = 'C++ exceptions'")
g++ -O1 -g -DPOOL="$pool" -o leaks leaks.cpp && record leaks
found=$(sqlite3 leaks.db "SELECT live_bytes FROM v_leak ORDER BY 1" | tr '\n' ' ')
[ "$found" = "333 4096 $pool " ] || complain "leaks: $found"
[ "$(sqlite3 leaks.db "SELECT live_bytes FROM v_runtime WHERE kind = 'C++ exceptions'")" = "$pool" ] ||
    complain "leaks: the pool"
# A program whose name begins like the dynamic linker's is not the linker.
cp leaks ld-leaks && record ld-leaks
found=$(sqlite3 ld-leaks.db "SELECT live_bytes FROM v_leak ORDER BY 1" | tr '\n' ' ')
[ "$found" = "333 4096 $pool " ] || complain "ld-leaks: $found"
[ $failed -eq 0 ] && echo "runtime blocks are not leaks"
exit $failed
