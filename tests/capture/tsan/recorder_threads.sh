#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The recorder's threads under ThreadSanitizer: no report, and each trace loads.
set -u
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
export TSAN_OPTIONS="suppressions=$MPROF_SOURCE/tests/capture/tsan/suppressions.txt exitcode=66"
failed=0
for options in "" clock=fast,free-stacks unwind=off sample=1K "start=allocs>2000,stop=live>100M"; do
    rm -rf trace.bin*
    # If each allocation takes a stack, all threads meet in the runtime's frames().
    case $options in "" | clock=*) meet=meet ;; *) meet= ;; esac
    MPROF_OPTIONS=$options MPROF_OUTPUT=$work/trace.bin \
        "$MPROF_BUILD/tests/recorder_threads" "${1:-150}" $meet >out 2>err
    status=$?
    [ $status -eq 0 ] && grep -q ran out || { echo "$options: ended with $status"; head -60 err; failed=1; }
    # The traces of forked children lie in trace.bin.d and are taken too.
    "$MPROF_BUILD/bin/mprof-ingest" --quiet --force --sysroot "$work/none" -o session.db trace.bin ||
        { echo "$options: the run does not load"; failed=1; }
    damaged=$(sqlite3 session.db "SELECT value FROM meta WHERE key = 'damaged_bytes'")
    [ -z "$meet" ] || [ "$(sqlite3 session.db "SELECT count(*) > 10 FROM function WHERE role = 'runtime'")" = 1 ] ||
        { echo "$options: no functions of the runtime"; failed=1; }
    [ "$damaged" = 0 ] || { echo "$options: $damaged bytes are damaged"; failed=1; }
done
exit $failed
