#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: python_lines.sh VERSION INTERPRETER
# The live bytes of each line of known.py at the end are those that tracemalloc tells of the same
# program.
. "$MPROF_SOURCE/tests/runtimes/python_common.sh"
# A class is kept in its bases under its address as an integer, which takes 28 bytes below 1 GiB and
# 32 above. So both runs get the same addresses.
fixed=(setarch "$(uname -m)" -R)
"${fixed[@]}" true 2>/dev/null || { echo "skipped: addresses are not fixed here"; exit 77; }
PYTHONMALLOC=malloc "${fixed[@]}" "$python" -X tracemalloc=1 "$MPROF_SOURCE/tests/runtimes/known.py" tell >told.txt
"${fixed[@]}" mprof-run --quiet --python -o known.bin -- "$python" "$MPROF_SOURCE/tests/runtimes/known.py" || fail "status $?"
mprof-ingest --quiet -o known.db known.bin || fail "ingest"
ask known.db "WITH innermost AS (SELECT sf.stack_id, fr.source_file_id, fr.line, min(sf.depth) FROM stack_frame sf
        JOIN frame fr ON fr.id = sf.frame_id JOIN function f ON f.id = fr.function_id
        WHERE f.role = 'runtime' GROUP BY sf.stack_id)
    SELECT line, count(*), sum(size) FROM allocation a JOIN innermost i USING (stack_id)
    JOIN source_file s ON s.id = i.source_file_id WHERE free_ns IS NULL AND path LIKE '%/known.py'
    AND size % 8 != 0 GROUP BY line ORDER BY line" | tr '|' ' ' >recorded.txt
is "$(wc -l <told.txt)" -ge 8 "lines that tracemalloc tells"
diff told.txt recorded.txt || failed=1
# The paths of 1988 are those of Python functions, with lines.
mprof-report 1988 -verbose -offsets -o tables.txt known.db || failed=1
grep -qE '\|\| > <module>:[0-9]+ > main:[0-9]+ > large:27 $' tables.txt || { grep -F large tables.txt; fail "a path of Python functions with lines"; }
exit "$failed"
