#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# python3 with trees of ast and JSON: which Python lines, functions and types of objects hold the memory.
. "$(dirname "$0")/common.sh"
programs=$MPROF_SOURCE/tests/studies/python
export PYTHONHASHSEED=0 PYTHONDONTWRITEBYTECODE=1
# The modules whose text is parsed are compiled already.
/usr/bin/python3 "$programs/tree.py" types.csv 2>/dev/null
mprof-run -q --python -o tree.bin -- /usr/bin/python3 "$programs/tree.py" types.csv || fail "status $?"
mprof-ingest -q -o tree.db tree.bin || fail "ingest"
sane tree.db
python3 "$programs/tables.py" tree.db types.csv >tables.md || fail "tables"
PYTHONMALLOC=malloc /usr/bin/python3 -X tracemalloc "$programs/tree.py" >told.txt || fail "tracemalloc"
{
    echo
    echo "| line | blocks by tracemalloc | bytes by tracemalloc |"
    echo "| --- | ---: | ---: |"
    awk '{ print "| " $1 " | " $2 " | " $3 " |" }' told.txt
} >>tables.md
cat tables.md
on_page python.md tables.md
exit "$failed"
