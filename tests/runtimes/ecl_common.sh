# SPDX-License-Identifier: BSD-2-Clause
# Sourced by the tests of ECL.
# shellcheck shell=bash disable=SC2034
[ -e "$MPROF_BUILD/lib/libmprof_ecl.so" ] || { echo "skipped: mprof has no plug-in for ECL"; exit 77; }

# Checks what must hold in the session of any program with ECL.
sound() { # SESSION
    local wrong
    wrong=$(ask "$1" "SELECT key, value FROM meta WHERE key IN ('overlaps', 'unmatched_frees', 'damaged_bytes', 'orphaned_stacks')
        AND CAST(value AS INTEGER) != 0 UNION ALL SELECT kind, detail FROM problem WHERE kind != 'live_at_exit'
        UNION ALL SELECT 'frees before their allocation', count(*) FROM allocation WHERE free_ns < alloc_ns HAVING count(*) > 0")
    [ -z "$wrong" ] || { printf '%s:\n%s\n' "$1" "$wrong"; failed=1; }
}
