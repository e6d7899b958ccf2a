#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# A program whose debug information asks for more than its size allows. The trace is ingested within
# limits of memory and processor time, and the module's status tells what was given up.
set -u
here=$MPROF_SOURCE/tests/ingest/symbols
command -v gcc objcopy sqlite3 /usr/bin/python3 >/dev/null || exit 77
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
unset DEBUGINFOD_URLS
bad=0
ingest=$MPROF_BUILD/bin/mprof-ingest
hostile() { # SOURCE WAY...
    local source=$1 way status said
    gcc -g -O1 -Wl,--build-id -o program "$here/programs/$source" 2>gcc.txt || { cat gcc.txt; exit 1; }
    cp program whole
    "$MPROF_BUILD/bin/mprof-run" --quiet --force -o trace.bin -- ./program >run.txt || exit 1
    for way in "${@:2}"; do
        cp whole program
        /usr/bin/python3 "$here/hostile.py" "$way" program || exit 1
        # Limits that a runaway hits: 60 s of processor time, 2 GiB of addresses.
        (ulimit -t 60 -v 2097152; "$ingest" --quiet --force -o session.db trace.bin) >out.txt 2>&1
        status=$?
        said=$(sqlite3 session.db "SELECT symbols FROM module WHERE name = 'program'")
        echo "$way: status $status, '$said'"
        [ $status -eq 0 ] || { bad=1; echo "FAILED: $way: $(cat out.txt)"; }
        case $way in
        lines | ranges | units | unions) [[ $said = 'dwarf, in part: '* ]] || { bad=1; echo "FAILED: $way is not told"; } ;;
        bomb) [[ $said = *'it is compressed; unpacked it would take more than 32 times its size' ]] || { bad=1; echo "FAILED: $way is not told"; } ;;
        cut) [[ $said = none* || $said = *'build-id'* ]] || { bad=1; echo "FAILED: $way is not told"; } ;;
        bases) [ "$(sqlite3 session.db "SELECT DISTINCT type FROM v_allocation WHERE size = 40")" = s ] || { bad=1; echo "FAILED: $way: no type"; } ;;
        esac
        rm -f session.db program.*
    done
}
hostile plain.c lines nesting ranges units bomb cut
hostile given.c unions bases

# A FIFO and a device with the name of the debug file: nobody waits for them.
gcc -g -O1 -Wl,--build-id=none -o program "$here/programs/plain.c" && cp program program.debug &&
    objcopy --strip-debug --add-gnu-debuglink=program.debug program && rm program.debug || exit 1
"$MPROF_BUILD/bin/mprof-run" --quiet --force -o trace.bin -- ./program >run.txt || exit 1
for way in 'mkfifo program.debug' 'ln -s /dev/zero program.debug'; do
    $way
    timeout -s KILL 60 "$ingest" --quiet --force -o session.db trace.bin >out.txt 2>&1 || { bad=1; echo "FAILED: $way: $(cat out.txt)"; }
    [[ $(sqlite3 session.db "SELECT symbols FROM module WHERE name = 'program'") = *'a FIFO or a device has the name of its debug file'* ]] ||
        { bad=1; echo "FAILED: $way is not told"; }
    rm -f program.debug session.db
done
# The same for the file that dwz made.
if command -v dwz >/dev/null; then
    gcc -g -O1 -o program "$here/programs/plain.c" && cp program copy && dwz -m common.debug program copy 2>/dev/null &&
        "$MPROF_BUILD/bin/mprof-run" --quiet --force -o trace.bin -- ./program >run.txt && rm common.debug && mkfifo common.debug || exit 1
    timeout -s KILL 60 "$ingest" --quiet --force -o session.db trace.bin >out.txt 2>&1 || { bad=1; echo "FAILED: a FIFO for dwz: $(cat out.txt)"; }
fi
exit $bad
