#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# `cmake --install` into an empty folder gives a set that works from there, man pages included.
. "$(dirname "$0")/common.sh"
cmake --install "$MPROF_BUILD" --prefix "$work/usr" >install.txt || fail "install"
for program in mprof-run mprof-ctl mprof-ingest mprof-tui mprof-report mprof-export; do
    [ -x "usr/bin/$program" ] || fail "$program is not installed"
    [ -f "usr/share/man/man1/$program.1" ] || fail "$program.1 is not installed"
    [ -f "usr/share/bash-completion/completions/$program" ] || fail "completion of $program"
done
export PATH="$work/usr/bin:/usr/bin:/bin"
mprof-run --quiet -o ls.bin -- ls / >listing.txt || fail "recording by the installed set"
mprof-ingest -q -o ls.db ls.bin || fail "ingest by the installed set"
sane ls.db
[ -n "$(find usr -name libmprof_sized.so)" ] || fail "libmprof_sized.so is not installed"
[ -n "$(find usr -name mprof_sqlite.so)" ] || fail "mprof_sqlite.so is not installed"
[ -n "$(find usr -name libmprof_operators.so)" ] || fail "libmprof_operators.so is not installed"
cat >linked.c <<'C'
#include <mprof.h>
#include <stdlib.h>
int main(void)
{
    mprof_mark("begin");
    free(malloc(100));
    return 0;
}
C
library=$(dirname "$(find usr -name libmprof.so)")
cc -fno-builtin -Iusr/include -o linked linked.c -L"$library" -lmprof -Wl,-rpath,"$PWD/$library" || fail "linking"
MPROF_OUTPUT=linked.bin ./linked || fail "the linked program"
mprof-ingest -q -o linked.db linked.bin || fail "ingest of the linked program's trace"
is "$(ask linked.db "SELECT count(*) FROM allocation WHERE size = 100")" -eq 1 "the linked program's block"
is "$(ask linked.db "SELECT count(*) FROM mark WHERE name = 'begin'")" -eq 1 "its mark"
