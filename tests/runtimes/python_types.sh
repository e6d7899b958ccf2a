#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: python_types.sh VERSION INTERPRETER
# The types of the objects of many_types.py are what Python itself says, however the process ends.
. "$MPROF_SOURCE/tests/runtimes/python_common.sh"
for how in end exit; do
    start=()
    # An interpreter that handles no signal ends in another way. 3.13 then does not say that it ends.
    [ $how = end ] && [ "$version" != 3.13 ] && start=(env --ignore-signal=INT)
    "${start[@]}" mprof-run --quiet --python -o $how.bin -- "$python" -S "$MPROF_SOURCE/tests/runtimes/many_types.py" $how.csv $how || fail "$how: status $?"
    mprof-ingest --quiet -o $how.db $how.bin || fail "ingest"
    python3 "$MPROF_SOURCE/tests/runtimes/types_table.py" $how.db $how.csv "$how" || failed=1
    ask $how.db "SELECT * FROM problem WHERE kind <> 'live_at_exit'"
    is "$(meta $how.db overlaps)" -eq 0 "overlaps"
    is "$(meta $how.db unmatched_frees)" -eq 0 "unmatched frees"
done
exit "$failed"
