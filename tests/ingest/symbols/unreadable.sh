#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Debug information that is there and cannot be read: sections compressed by zstd, split files that are missing, a .dwp
# alone. The summary, the session and the browser name the program and say what helps. All that
# the elfutils of this machine can read must be read.
. "$MPROF_SOURCE/tests/end_to_end/common.sh"
cat >program.c <<'C'
#include <stdlib.h>
struct node { int number; struct node *next; };
int main(void) { struct node *node = malloc(sizeof(*node)); node->number = 1; return node->next != node; }
C
ingest() { mprof-ingest --force --cache=off -o session.db "$1.bin" >said.txt || fail "$1 cannot be ingested"; }
record() {
    mprof-run --quiet --force -o "$1.bin" -- "./$1" || true
    ingest "$1"
}
# unreadable PROGRAM REASON: what all faces say, unless its types could be read.
unreadable() {
    local type
    type=$(ask session.db "SELECT coalesce(type, '') FROM v_allocation WHERE size = 16")
    [ "$type" = node ] && { echo "$1: this elfutils can read it"; return; }
    local message="$1: debug information cannot be read: $2"
    grep -qE "^debug +$message" said.txt || fail "the summary of $1 says: $(cat said.txt)"
    ask session.db "SELECT detail FROM problem WHERE kind = 'unreadable debug information'" | grep -qE "^$message" ||
        fail "no problem of $1"
    echo dump >script
    mprof-tui --script=script --size=200x30 session.db | grep -qE "! $message" || fail "the overview of $1 is silent"
}

gcc -g -O1 -gsplit-dwarf program.c -o split || fail "split cannot be built"
record split
[ "$(ask session.db "SELECT type FROM v_allocation WHERE size = 16")" = node ] || fail "split debug information is not read"
grep -q '^debug ' said.txt && fail "readable debug information is complained of"
llvm-dwp -e split -o split.dwp || fail "no .dwp"
mkdir away && mv ./*.dwo away
ingest split
unreadable split 'a part of it lies in split\.dwp; install elfutils 0\.191 or newer'
rm split.dwp
ingest split
unreadable split 'a part of it lies in split-program\.dwo; keep the \.dwo files'

gcc -g -O1 program.c -o packed
if objcopy --compress-debug-sections=zstd packed 2>/dev/null; then
    record packed
    unreadable packed 'it is compressed by zstd; install elfutils 0\.189 or newer'
fi
exit 0
