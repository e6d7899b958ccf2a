#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Members that hold references are named as the program states them (tests/programs/holds.cpp): nested records, base
# classes, arrays, unions, and what the nodes of standard containers hold.
set -u
. "$MPROF_SOURCE/tests/end_to_end/common.sh"

# check COMPILER OPTION…: no name differs from what the program states, and at least 95 % of all places have one.
check() {
    local name=holds-${1##*/}${2:-}
    "$@" -g -std=c++17 -o "$name" "$MPROF_SOURCE/tests/programs/holds.cpp" || fail "$name is not built"
    mprof-run --quiet --force --references=end -o "$name.bin" ./"$name" >"$name.txt" || fail "$name is not recorded"
    mprof-ingest --quiet --force -o "$name.db" "$name.bin" || fail "$name is not ingested"
    sqlite3 "$name.db" >"$name.wrong" <<SQL || fail "$name is not compared"
CREATE TEMP TABLE line(text TEXT);
.mode list
.separator "\t"
.import $name.txt line
CREATE TEMP TABLE stated AS SELECT substr(text, 1, instr(text, ' ') - 1) AS place, substr(text, instr(text, ' ') + 1) AS rest FROM line;
CREATE TEMP TABLE found AS SELECT printf('0x%x', a.address + r.from_offset) AS place, printf('0x%x', b.address + r.to_offset) AS leads,
    m.name AS name, a.type_id <> 0 AS typed
  FROM reference r JOIN allocation a ON a.id = r.from_id JOIN allocation b ON b.id = r.to_id
  LEFT JOIN reference_member m ON m.id = r.member_id;
SELECT s.rest || ' is named ' || ifnull(f.name, 'not at all') FROM stated s LEFT JOIN found f USING (place)
  WHERE f.leads IS NOT substr(s.rest, 1, instr(s.rest, ' ') - 1)
    OR f.name IS NOT substr(s.rest, instr(s.rest, ' ') + 1);
SELECT 'only ' || count(name) || ' of ' || count(*) || ' have a name' FROM found HAVING count(name) < 0.95 * count(*);
SELECT 'only ' || count(*) || ' places are stated' FROM stated HAVING count(*) < 50;
SQL
    [ -s "$name.wrong" ] || return 0
    echo "$name:"; cat "$name.wrong"
    failed=1
}

failed=0
for option in -O0 -O2; do
    check g++ $option
done
command -v clang++ >/dev/null && check clang++ -O1
exit $failed
