#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# A function of the programs that has the name of one in the shared library would never be called:
# the linker takes the library's, and says nothing.
set -eu
rm -rf shared_names && mkdir shared_names && cd shared_names
names() { nm --defined-only -g "$@" 2>/dev/null | awk 'NF == 3 && $2 ~ /[TDBR]/ && $3 !~ /^_/ { print $3 }' | sort -u; }
lib=$MPROF_BUILD/lib
names -D "$lib/libmprof_session.so" >shared.txt
names "$lib"/lib{report_*,tui_*,mprof_cli}.a >programs.txt
for part in shared programs; do
    [ "$(wc -l <$part.txt)" -gt 200 ] || { echo "FAILED: $part.txt has $(wc -l <$part.txt) names"; exit 1; }
done
comm -12 shared.txt programs.txt >both.txt
[ ! -s both.txt ] || { echo "FAILED: defined in the library and in a program:"; cat both.txt; exit 1; }
