#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# mprof.h(3) declares the functions of the header, each as it is, and explains each once. A page for
# each name is installed that leads to it.
set -u
failed=0
complain() { printf '%s\n' "$*"; failed=1; }
header=$MPROF_SOURCE/capture/mprof.h page=$MPROF_SOURCE/docs/man/mprof.h.3
work=$PWD/header_documented.work
rm -rf "$work" && mkdir -p "$work" || exit 1

# Users call the functions that the recorder defines, on one line each.
printf '#include "%s"\n' "$header" | gcc -DMPROF_IMPLEMENTATION -E -P - | tr -s ' \n' ' ' | grep -oE '(void|int|mprof_(arena|runtime|kind)) (set_)?mprof_[a-z_]+\([^;{]*\);' |
    sort >"$work/declared"
sed -n '/^\.SH SYNOPSIS/,/^\.SH DESCRIPTION/s/^\.B \(.*;\)$/\1/p' "$page" | sort >"$work/synopsis"
diff "$work/declared" "$work/synopsis" || complain "the synopsis of $page (>) is not what $header declares (<)"
sed -E 's/^[a-z_]+ ([a-z_]+)\(.*/\1/' "$work/declared" | sort >"$work/names"
[ "$(wc -l <"$work/names")" -ge 15 ] || complain "only $(wc -l <"$work/names") functions found in $header"
# Users can call each of these.
grep -oE '^MPROF_INLINE [a-z_]+ [a-z_]+\(' "$header" | sed -E 's/.* ([a-z_]+)\(/\1/' | sort >"$work/callable"
diff "$work/names" "$work/callable" || complain "$header: what the recorder declares (<) is not what users can call (>)"
sed -n '/^\.TP$/{n;s/^\.B \([a-z_]*\)()$/\1/p}' "$page" | sort >"$work/explained"
diff "$work/names" "$work/explained" || complain "$page explains other functions (>) than $header declares (<), or one twice"
complaints=$(MANWIDTH=80 LC_ALL=C.UTF-8 man --warnings -l "$page" 2>&1 >/dev/null) || true
[ -z "$complaints" ] || complain "$page: $complaints"

cmake --install "$MPROF_BUILD" --prefix "$work/usr" >"$work/install.txt" || complain "cmake --install failed"
while read -r name; do
    MANPATH=$work/usr/share/man MANWIDTH=80 LC_ALL=C.UTF-8 man -P cat 3 "$name" 2>"$work/man.txt" | grep -qE "(void|int|mprof_(arena|runtime|kind)) $name" ||
        complain "man 3 $name shows nothing of $name: $(cat "$work/man.txt")"
done <"$work/names"
exit $failed
