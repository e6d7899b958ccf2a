#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# A compiler in Lisp under ECL: the tables of 1988 by type and function, and what a smaller table would save.
. "$(dirname "$0")/common.sh"
programs=$MPROF_SOURCE/tests/programs/lisp
command -v ecl >/dev/null && [ -e "$MPROF_BUILD/lib/libmprof_ecl.so" ] || exit 77
cp "$programs"/compile*.lisp "$programs/programs.scm" .
# A hash table with room for eight labels rather than a thousand.
sed 's/(places (make-hash-table :test .eq))/(places (make-hash-table :test (quote eq) :size 8))/' compiler.lisp >smaller.lisp
cmp -s compiler.lisp smaller.lisp && fail "the hash table is made elsewhere"
for name in compiler smaller; do
    ecl --norc --eval "(progn (compile-file \"$name.lisp\") (ext:quit 0))" >"$name.log" 2>&1 || fail "compile-file: $(tail -3 "$name.log")"
    mprof-run -q --ecl -o $name.bin -- ecl --norc --shell compile_programs.lisp $name.fas programs.scm 100 >$name.txt || fail "status $?"
    mprof-ingest -q -o $name.db $name.bin || fail "ingest"
    [ "$(ask $name.db "SELECT sum(value) FROM meta WHERE key IN ('overlaps', 'unmatched_frees', 'damaged_bytes')")" = 0 ] || fail "$name.db is not sound"
done
cmp compiler.txt smaller.txt || fail "the programs compute something else"
python3 "$MPROF_SOURCE/tests/studies/ecl_tables.py" compiler.db smaller.db >tables.md || fail "tables"
cat tables.md
# When collections happen depends on addresses.
on_page ecl.md tables.md 10
exit "$failed"
