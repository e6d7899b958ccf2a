# SPDX-License-Identifier: BSD-2-Clause
# Sourced by tests that record programs: an empty folder to work in, and a few checks.
set -u
export PATH="$MPROF_BUILD/bin:/usr/bin:/bin:$PATH"
work=$PWD/$(basename "$0" .sh).work
rm -rf "$work" && mkdir -p "$work" && cd "$work" || exit 1

fail() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }
ask() { sqlite3 -bail "$1" "$2" || fail "query on $1: $2"; } # SESSION SQL
meta() { ask "$1" "SELECT value FROM meta WHERE key = '$2'"; } # SESSION KEY
# is ACTUAL OP EXPECTED WHAT: an integer comparison that says what it compared.
is() { [ "$1" "$2" "$3" ] || fail "$4: $1 is not $2 $3"; echo "ok: $4: $1 $2 $3"; }

# expect WHAT QUERY ANSWER: asks session.db. A wrong answer counts in $failed, and the test goes on.
# $kind, if set, names the run in front of the message. $normalize changes the answers.
failed=0
expect() {
    local answer
    answer=$(sqlite3 session.db "$2" 2>&1 | ${normalize:-cat})
    [ "$answer" = "$3" ] || { echo "${kind:+$kind: }$1: expected '$3', got '$answer'"; failed=1; }
}

# sane SESSION: checks what must hold in the session of any program.
sane() {
    is "$(meta "$1" events)" -gt 0 "events of $1"
    is "$(ask "$1" 'SELECT count(*) FROM allocation')" -eq "$(meta "$1" allocations)" "rows are allocations"
    is "$(ask "$1" 'SELECT count(*) FROM allocation WHERE free_ns IS NULL')" -eq "$(meta "$1" live_count_end)" "live rows"
    is "$(ask "$1" 'SELECT coalesce(sum(size), 0) FROM allocation WHERE free_ns IS NULL')" -eq "$(meta "$1" live_bytes_end)" "live bytes"
    is "$(ask "$1" 'SELECT coalesce(sum(size), 0) FROM allocation')" -eq "$(meta "$1" bytes_allocated)" "bytes allocated"
    is "$(ask "$1" 'SELECT count(*) FROM allocation WHERE free_ns < alloc_ns')" -eq 0 "frees before their allocation"
    is "$(meta "$1" overlaps)" -eq 0 "overlaps"
    is "$(meta "$1" damaged_bytes)" -eq 0 "damaged bytes"
    is "$(meta "$1" orphaned_stacks)" -eq 0 "orphaned stacks"
}
# well_unwound SESSION: checks that hardly any stack ends early.
well_unwound() {
    local early all
    early=$(ask "$1" "SELECT coalesce(sum(allocations), 0) FROM stack WHERE state <> 'complete'")
    all=$(meta "$1" allocations)
    is $((early * 1000)) -le "$all" "allocations with incomplete stacks, per mille"
}
