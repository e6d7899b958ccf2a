#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Every instruction of real code has the length that objdump gives. Left out are data between
# functions, which objdump calls (bad), and the forms of x87 with fwait before them, which objdump
# shows as one instruction.
set -u
command -v objdump >/dev/null || exit 77
failed=0
check() {
    objdump -d --no-show-raw-insn --section=.text "$1" | awk -F'\t' '
        /^ *[0-9a-f]+:\t/ {
            address = $1; gsub(/[ :]/, "", address)
            print address
            if ($2 ~ /\(bad\)|^\.byte|^f(stcw|stsw|save|stenv|init|clex)|^(rex|lock|data16|repz|repnz|cs|ds|es|ss|fs|gs)[.A-Z]* *$/) print "-"
            next
        }
        { print "-" }' | "$MPROF_BUILD/tests/check_decode" "$1" | sed "s|^|$(basename "$1"): |"
    [ "${PIPESTATUS[2]}" -eq 0 ] || failed=1
}
check /lib/x86_64-linux-gnu/libc.so.6
check /lib/x86_64-linux-gnu/libm.so.6
check "$(readlink -f /lib/x86_64-linux-gnu/libstdc++.so.6)"
check "$(readlink -f "$(command -v bash)")"
exit $failed
