#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Random bytes and resizes end no browser (random_input.py).
. "$MPROF_SOURCE/tests/end_to_end/common.sh"
export HOME=$PWD
"$MPROF_BUILD/tests/make_session" session.db 5000 100 50 2 1 || fail 'no session is made'
seeds=1
[ -z "${MPROF_SOAK:-}" ] || seeds=$(seq 1 40)
# These have ended the view of memory.
python3 "$MPROF_SOURCE/tests/tui/random_input.py" "$MPROF_BUILD/bin/mprof-tui" session.db memory 106 114 130 || failed=1
for view in overview timeline memory tree functions types leaks allocations; do
    # shellcheck disable=SC2086
    python3 "$MPROF_SOURCE/tests/tui/random_input.py" "$MPROF_BUILD/bin/mprof-tui" session.db $view $seeds || failed=1
done
exit "${failed:-0}"
