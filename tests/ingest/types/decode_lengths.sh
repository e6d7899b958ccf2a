#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Zydis knows every instruction of libc, and gives it the length that objdump gives. Left out are
# data between functions, which objdump calls (bad), and the forms of x87 with fwait before them,
# which objdump shows as one instruction.
set -u -o pipefail
command -v objdump >/dev/null || exit 77
libc=/lib/x86_64-linux-gnu/libc.so.6
objdump -d --no-show-raw-insn --section=.text $libc | awk -F'\t' '
    /^ *[0-9a-f]+:\t/ {
        address = $1; gsub(/[ :]/, "", address)
        print address
        if ($2 ~ /\(bad\)|^\.byte|^f(stcw|stsw|save|stenv|init|clex)|^(rex|lock|data16|repz|repnz|cs|ds|es|ss|fs|gs)[.A-Z]* *$/) print "-"
        next
    }
    { print "-" }' | "$MPROF_BUILD/tests/check_decode" $libc
