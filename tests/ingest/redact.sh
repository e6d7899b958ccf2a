#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# mprof-ingest --redact: a session to give to others. Nothing that identifies user and machine is in
# the file. Functions, types, sizes and the source tree are as they were.
set -u
export PATH="$MPROF_BUILD/bin:/usr/bin:/bin"
rm -rf redact && mkdir redact && cd redact || exit 1
failed=0
complain() { echo "FAILED: $*"; failed=1; }

# A program whose folders, file names and arguments differ from all others.
home="$PWD/home/quentin/secretclient"
mkdir -p "$home/tree/src" "$home/tree/lib" "$home/out of tree"
cat >"$home/tree/src/main.cc" <<'CC'
#include <cstdio>
#include <functional>
#include <memory>
#include "../lib/cache.h"
int main(int count, char **values)
{
    auto make = [](int size) { return new int[size]; };
    std::function<int *(int)> call = make;
    delete[] call(count);
    cache_fill(values[0]);
}
CC
cat >"$home/tree/lib/cache.h" <<'CC'
#include <cstdlib>
#include <vector>
struct Entry { long key, value; };
static std::vector<Entry> *entries;
__attribute__((noinline)) static void cache_fill(const char *)
{
    entries = new std::vector<Entry>;
    for (long i = 0; i < 100; i++)
        entries->push_back({i, i});
}
CC
compilers=0
for compiler in g++ clang++; do
    command -v $compiler >/dev/null || continue
    compilers=$((compilers + 1))
    $compiler -g -O1 -o "$home/out of tree/app" "$home/tree/src/main.cc" || exit 1
    rm -f t.bin
    (cd "$home" && mprof-run --quiet --mmap -o t.bin -- "./out of tree/app" --password=hunter2 quentin) || exit 1
    mv "$home/t.bin" t.bin

    for root in "" "=$home/tree"; do
        mprof-ingest --quiet --force -o plain.db t.bin && mprof-ingest --quiet --force "--redact$root" -o r.db t.bin ||
            complain "$compiler --redact$root"
        # The test can fail: all of it is in the plain session.
        for secret in quentin secretclient hunter2 'out of tree' "$(uname -n)"; do
            grep -qaF "$secret" plain.db || complain "$compiler: $secret is not even in the plain session"
            ! grep -qaF "$secret" r.db || complain "$compiler --redact$root: $(strings r.db | grep -F "$secret" | head -3)"
        done
        for file in src/main.cc lib/cache.h; do
            [ "$(sqlite3 r.db "SELECT count(*) > 0 FROM v_stack WHERE file = '$file' AND line > 0")" = 1 ] ||
                complain "$compiler --redact$root: no frame in $file: $(sqlite3 r.db 'SELECT DISTINCT file FROM v_stack')"
        done
        [ "$(sqlite3 r.db "SELECT group_concat(value, '|') FROM meta WHERE key IN ('argv', 'redacted')")" = "|1" ] ||
            complain "$compiler: argv, or meta does not say that it is redacted"
        sqlite3 r.db "SELECT path FROM module" | grep -qx '/.*/libc\.so\.6' || complain "$compiler: system libraries lost their folders"
        numbers="SELECT function, type, size, count(*), sum(size) FROM v_allocation GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
        cmp -s <(sqlite3 plain.db "$numbers" | sed 's/(lambda at [^)]*)//g') \
            <(sqlite3 r.db "$numbers" | sed 's/(lambda at [^)]*)//g') || complain "$compiler: other allocations"
    done
done
[ $compilers -gt 0 ] || exit 77

# Several traces, one of which cannot be used: its name is in no problem.
head -c 200 t.bin >"$home/quentin.bin"
mprof-ingest --quiet --redact -o both.db t.bin t.bin "$home/quentin.bin" 2>/dev/null || complain "several traces"
[ "$(sqlite3 both.db "SELECT count(*) FROM problem WHERE kind = 'trace left out'")" = 1 ] || complain "no problem is noted"
! grep -qaE 'secretclient|hunter2' both.db || complain "several traces: $(strings both.db | grep -E 'secretclient|hunter2' | head -3)"
mprof-ingest --quiet --redact -o relative.db t.bin "${home#"$PWD"/}/quentin.bin" 2>/dev/null || complain "a relative path"
[ "$(sqlite3 relative.db "SELECT detail LIKE 'quentin.bin%' FROM problem WHERE kind = 'trace left out'")" = 1 ] ||
    complain "a relative path: $(sqlite3 relative.db 'SELECT detail FROM problem')"
mprof-tui --script /dev/null both.db >/dev/null || complain "the browser does not open it"

for other in --bundle --live --rebuild --compress --dump; do
    mprof-ingest --quiet --redact $other -o no.db t.bin 2>err.txt
    [ $? -eq 2 ] && grep -q 'not with --bundle' err.txt || complain "--redact $other: $(cat err.txt)"
done
mprof-ingest --redact=src t.bin 2>err.txt
[ $? -eq 2 ] && grep -q 'absolute path, not src' err.txt || complain "a relative root: $(cat err.txt)"
exit $failed
