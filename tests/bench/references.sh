#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# How long mprof-ctl references stops a program with lists of 64-byte blocks, of which each refers to
# another: the shortest of five, and what it writes for each.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/lists.c" <<'C'
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
struct node { struct node *next; char text[40]; };
static struct node *head;
int main(int count, char **arguments)
{
    char byte;
    for (long left = count > 1 ? atol(arguments[1]) : 0; left > 0; left--) {
        struct node *node = malloc(sizeof(*node));
        memset(node->text, 'x', sizeof(node->text));
        node->next = head;
        head = node;
    }
    return write(1, "\n", 1) == 1 && read(0, &byte, 1) == 0 ? 0 : 1;
}
C
"${CC:-cc}" -O1 -o "$work/lists" "$work/lists.c"
printf '%-10s %10s %12s %14s\n' heap 'stop, ms' words 'bytes/word'
for mib in 100 1000; do
    coproc LISTS { "$MPROF_BUILD/bin/mprof-run" -q -o "$work/$mib.bin" "$work/lists" $((mib * 16384)); }
    read -r -u "${LISTS[0]}" _
    shortest= words= before=$(stat -c %s "$work/$mib.bin")
    for _ in 1 2 3 4 5; do
        said=$("$MPROF_BUILD/bin/mprof-ctl" "$work/$mib.bin" references 2>&1)
        words=$(sed 's/.*": \([0-9]*\) words.*/\1/' <<<"$said")
        stop=$(sed 's/.*stood still for \([0-9.]*\) ms.*/\1/' <<<"$said")
        shortest=$(printf '%s\n' "$stop" $shortest | sort -n | head -1)
    done
    bytes=$(($(stat -c %s "$work/$mib.bin") - before))
    printf '%-10s %10s %12s %14s\n' "$mib MiB" "$shortest" "$words" "$(awk "BEGIN { printf \"%.1f\", $bytes / 5 / $words }")"
    input=${LISTS[1]} process=$LISTS_PID
    exec {input}>&-
    wait "$process"
    rm -f "$work/$mib.bin"
done
