#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The session that replaces another one keeps the graphs and settings that the user stored there.
set -u
export PATH="$MPROF_BUILD/bin:/usr/bin:/bin"
rm -rf user_rows && mkdir user_rows && cd user_rows || exit 1
failed=0
complain() { echo "FAILED: $*"; failed=1; }
"$MPROF_BUILD/tests/synthetic_trace" small.bin 2000 3 50 || exit 1

# again WHAT ARGUMENTS...: ingests again into s.db, and complains if a word is said.
again() {
    local what=$1
    shift
    mprof-ingest --quiet --force "$@" -o s.db small.bin >out.txt 2>&1 || complain "$what: $(cat out.txt)"
}
rows() { sqlite3 s.db "SELECT name || '=' || text FROM named_graph; SELECT key || '=' || value FROM setting" | tr '\n' ' '; }
kept() { # WHAT EXPECTED: the rows of s.db, and nothing said
    [ "$(rows)" = "$2" ] || complain "$1: $(rows)"
    [ ! -s out.txt ] || complain "$1: $(cat out.txt)"
    [ "$(sqlite3 s.db 'PRAGMA integrity_check')" = ok ] || complain "$1: damaged"
}

again 'a first session'
kept 'a first session' ''
sqlite3 s.db "INSERT INTO named_graph VALUES ('big', 'all | where size > 1M', 12345);
    INSERT INTO setting VALUES ('hide', 'boost'), ('wrapper', 'take(int)')"
stored='big=all | where size > 1M hide=boost wrapper=take(int) '
again 'one trace'
kept 'one trace' "$stored"
[ "$(sqlite3 s.db 'SELECT changed FROM named_graph')" = 12345 ] || complain 'the time of a change is another one'
again 'two traces' small.bin
kept 'two traces' "$stored"
mprof-ingest --quiet --live --force -o s.db small.bin >out.txt 2>&1 || complain "live: $(cat out.txt)"
kept 'a live session' "$stored"
mprof-ingest --rebuild s.db >out.txt 2>&1 || complain "--rebuild: $(cat out.txt)"
: >out.txt
kept '--rebuild' "$stored"
cp s.db whole.db
again '--redact' --redact
kept '--redact' ''

# A refused or interrupted call leaves the old session.
cp whole.db s.db
mprof-ingest --quiet -o s.db small.bin >out.txt 2>&1 && complain 'replaced without --force'
: >out.txt
kept 'without --force' "$stored"

# Without the tables, or with something else under the name.
sqlite3 s.db 'DROP TABLE named_graph; DROP TABLE setting'
again 'without the tables'
kept 'without the tables' ''
echo 'no session at all, only text that is longer than the sixteen bytes of a magic' >s.db
again 'no session'
kept 'no session' ''
: >s.db
again 'an empty file'
kept 'an empty file' ''
sqlite3 other.db 'CREATE TABLE named_graph(name, text, changed); INSERT INTO named_graph VALUES (1, 2, 3)'
cp other.db s.db
again 'a database of another program'
kept 'a database of another program' ''

# Bounds: names, texts and rows that cannot have been stored stay behind. Nothing in the file runs.
cp whole.db s.db
sqlite3 s.db "INSERT INTO named_graph VALUES (printf('%.65c', 'n'), 'all', 0), ('long', printf('%.70000c', 'x'), 0),
    (x'6162', 'all', 0), ('blob', x'616c6c', 0), ('nul', 'a' || char(0) || 'b', 0), ('', 'all', 0);
    CREATE TRIGGER t AFTER INSERT ON named_graph BEGIN DELETE FROM setting; END;"
again 'rows out of bounds'
kept 'rows out of bounds' "$stored"
cp whole.db s.db
sqlite3 s.db "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000)
    INSERT INTO named_graph SELECT printf('g%05d', i), 'all', 0 FROM n"
again 'many rows'
[ "$(sqlite3 s.db 'SELECT count(*) FROM named_graph')" = 1000 ] || complain "$(sqlite3 s.db 'SELECT count(*) FROM named_graph') of many rows"
cp whole.db s.db
sqlite3 s.db "DROP TABLE named_graph; CREATE VIEW named_graph AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
    SELECT 'x' AS name, 'all' AS text, 0 AS changed FROM n WHERE i < 0"
again 'a view without end'
kept 'a view without end' 'hide=boost wrapper=take(int) '
cp whole.db s.db
sqlite3 s.db "DROP TABLE named_graph; CREATE TABLE named_graph(name, text, more, changed AS (1)); INSERT INTO named_graph VALUES ('a', 'all', 1)"
again 'a table of another form'

# Damage: the new session is made, and a line says what is lost.
pages=$(sqlite3 whole.db "SELECT rootpage FROM sqlite_schema WHERE name IN ('named_graph', 'setting')")
cp whole.db s.db
for page in $pages; do
    dd if=/dev/urandom of=s.db bs=8192 seek=$((page - 1)) count=1 conv=notrunc status=none
done
again 'damaged tables'
grep -q 's.db: graphs and settings that the old session may have had are lost: ' out.txt ||
    complain "damaged tables: $(cat out.txt)"
[ "$(sqlite3 s.db 'SELECT count(*) FROM allocation')" -gt 0 ] || complain 'no rows after damage'
for bytes in 100 4096 8192 20000; do
    head -c $bytes whole.db >s.db
    again "cut at $bytes"
    [ "$(sqlite3 s.db 'PRAGMA integrity_check')" = ok ] || complain "cut at $bytes"
done
ls | grep -q part && complain "left behind: $(ls)"

[ $failed -eq 0 ] && echo 'graphs and settings are carried over'
exit $failed
