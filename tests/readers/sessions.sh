#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Makes the sessions that every reader gets: small ones, and with MPROF_SOAK large ones.
set -euo pipefail
bin=$MPROF_BUILD/bin tests=$MPROF_BUILD/tests
rm -rf sessions
mkdir sessions
cd sessions

session() { # NAME [OPTIONS of mprof-run] -- COMMAND…
    local name=$1 options=()
    shift
    while [ "$1" != -- ]; do options+=("$1"); shift; done
    "$bin/mprof-run" -q -o "$name.bin" "${options[@]}" "$@" >"$name.out" 2>&1 || { cat "$name.out"; exit 1; }
    "$bin/mprof-ingest" -o "$name.db" "$name.bin" >"$name.summary"
    rm -rf "$name.bin" "$name.bin.d"
}

session widgets -- "$tests/widgets"
session shop -- "$tests/readers_program"
session sampled --sample=4096 -- "$tests/sampled"
session arena -- "$tests/arena"
session forks -- "$tests/forks" many 3
numbers='WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) SELECT count(DISTINCT i) FROM n'
# shellcheck disable=SC2059 # it is a format
session database -- sqlite3 :memory: "$(printf "$numbers" 300)"
if [ "${MPROF_SOAK:-}" = 1 ]; then
    # shellcheck disable=SC2059
    session large_database -- sqlite3 :memory: "$(printf "$numbers" 200000)"
    session script -- env PYTHONMALLOC=malloc python3 -c 'import json; json.dumps([str(i) for i in range(50000)])'
fi

# Names may hold any byte. Text of SQL: a blob as text.
cp shop.db hostile.db
sqlite3 hostile.db <<'SQL'
UPDATE function SET name = name || ';operator--<&> "x" \y (' || char(9, 10, 13, 27) || '[31m) ' || CAST(x'ff80c3' AS TEXT) || char(8238, 233, 128512) WHERE id % 3 = 0;
UPDATE function SET name = '' WHERE id % 17 = 1;
UPDATE function SET name = substr(name || replace(hex(zeroblob(3000)), '00', 'long'), 1, 8000) WHERE id % 13 = 2;
UPDATE function SET name = 'fn=(7) calls=3 ' || name WHERE id % 11 = 3;
UPDATE function SET linkage_name = CAST(x'01fe22' AS TEXT) || id WHERE id % 4 = 0;
UPDATE source_file SET path = path || char(10) || 'fl=' || CAST(x'c328' AS TEXT) || ';"</title>' WHERE id % 2 = 0;
UPDATE thread SET name = '"; ' || char(0x2028) || '</script>' || CAST(x'f0' AS TEXT);
UPDATE type SET name = name || '{"}' || char(10, 7) || CAST(x'80' AS TEXT) || '''' || ',';
UPDATE module SET path = path || char(10) || ' x', name = name || CAST(x'fe' AS TEXT) WHERE id > 1;
UPDATE meta SET value = 'shop' || char(10) || 'fn="' || CAST(x'ff' AS TEXT) WHERE key IN ('program', 'argv', 'executable');
UPDATE process SET program = 'shop' || char(10) || CAST(x'ff' AS TEXT), argv = '"' || char(9, 10);
SQL
ls ./*.db
