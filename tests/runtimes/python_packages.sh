#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: python_packages.sh VERSION INTERPRETER
# The user's frame of what numpy's native code allocates is the line of the script, and the live bytes of each line
# are those of tracemalloc within 1 %.
. "$MPROF_SOURCE/tests/runtimes/python_common.sh"
"$python" -c 'import numpy' 2>/dev/null || { echo "skipped: $python has no numpy"; exit 77; }
export OPENBLAS_NUM_THREADS=1
PYTHONMALLOC=malloc "$python" "$MPROF_SOURCE/tests/runtimes/packages.py" tell >told.txt
mprof-run --quiet --python -o packages.bin -- "$python" "$MPROF_SOURCE/tests/runtimes/packages.py" || fail "status $?"
mprof-ingest --quiet -o packages.db packages.bin || fail "ingest"
ask packages.db "SELECT fr.line, sum(a.size) FROM v_allocation a JOIN stack s ON s.id = a.stack_id
    JOIN frame fr ON fr.id = s.user_frame_id JOIN source_file p ON p.id = fr.source_file_id
    WHERE a.free_ns IS NULL AND p.path LIKE '%/packages.py' GROUP BY fr.line" | tr '|' ' ' >recorded.txt
awk 'NR == FNR { recorded[$1] = $2; next }
    $2 >= 4096 { lines++; if (recorded[$1] < 0.99 * $2 || recorded[$1] > 1.01 * $2) { print "line " $1 ": " $2 " by tracemalloc, " recorded[$1] " here"; bad = 1 } }
    END { exit bad || lines < 8 }' recorded.txt told.txt || fail "the lines of tracemalloc"
is "$(ask packages.db "SELECT count(*) FROM v_allocation WHERE user LIKE '%multiarray%'")" = 0 "blocks of numpy without a line"
exit "$failed"
