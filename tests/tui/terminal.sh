#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Checks what the browser writes to a terminal and reads from it, byte by byte (terminal.py).
. "$MPROF_SOURCE/tests/end_to_end/common.sh"
export HOME=$PWD
"$MPROF_BUILD/tests/make_session" session.db 5000 100 50 2 1 || fail 'no session is made'
python3 "$MPROF_SOURCE/tests/tui/terminal.py" "$MPROF_BUILD/bin/mprof-tui" session.db || failed=1
exit "${failed:-0}"
