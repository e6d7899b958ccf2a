#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Without a mounted /proc, a program is recorded with its name and its functions all the same.
. "$(dirname "$0")/common.sh"
hidden() { unshare -rm bash -c 'mount -t tmpfs none /proc && exec "$@"' bash "$@"; }
hidden true 2>/dev/null || { echo "skipped: /proc cannot be hidden here"; exit 77; }
hidden test ! -e /proc/self || fail "/proc is not hidden"

# check TRACE PROGRAM: the session names the program and its functions.
check() {
    mprof-ingest -q -f -o "$1.db" "$1" || fail "ingest of $1"
    [ "$(meta "$1.db" program)" = "$2" ] || fail "$1: the program is called '$(meta "$1.db" program)', not $2"
    is "$(ask "$1.db" "SELECT count(*) FROM v_stack WHERE function = 'main' AND module = 'program'")" -gt 0 "frames of main"
}

cp "$MPROF_BUILD/tests/widgets" program || fail "no program"
hidden mprof-run --quiet -o whole.bin -- "$work/program" >whole.txt 2>&1 || fail "recording by a whole path: $(cat whole.txt)"
check whole.bin "$work/program"
hidden mprof-run --quiet -o relative.bin -- ./program >relative.txt 2>&1 || fail "recording by a relative path: $(cat relative.txt)"
check relative.bin "$work/./program"
# A script's name is not that of the program that runs it.
printf '#!%s\n' "$work/program" >script && chmod +x script
hidden mprof-run --quiet -o script.bin -- ./script >script.txt 2>&1 || fail "recording a script: $(cat script.txt)"
mprof-ingest -q -o script.db script.bin || fail "ingest of a script's trace"
[ "$(meta script.db program)" != "$work/./script" ] || fail "a script is taken for the program"

# A process that runs cannot be attached to. It is not taken for one that does not exist.
hidden mprof-run --pid $$ >attached.txt 2>&1 && fail "attached without /proc"
grep -q "process $$: its folder in /proc cannot be read; mount /proc" attached.txt || fail "no reason: $(cat attached.txt)"
