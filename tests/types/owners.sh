#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The owners of blocks, against what the programs' own text says: built with and without optimization, and
# across units, by gcc and clang. Prints for each how many allocations have the right owner, its class alone,
# a wrong owner, or none. A wrong owner that is called exact fails, and so does a program that is known less
# well than it was.
#
#   owners.sh [OUT]    with OUT, or MPROF_SOAK=1: all programs; prints the table of docs/types.md into OUT too
set -u
rm -rf owners && mkdir owners && cd owners || exit 1
programs=$MPROF_SOURCE/tests/programs/owners
export XDG_CACHE_HOME=$PWD/cache

# The owner by FUNCTION on the stack; the innermost such function counts. A - is nobody.
truth() { # PROGRAM SOURCE
    if [ "$1" = editor ]; then
        cat <<'END'
Document::rename	Document::name
Document::count	Document
Document::mark	Document::marks
History::add	History
GapBuffer<char>::fill	CellBuffer::style
CellBuffer::insert	CellBuffer::text
Document::insert	Document::lines
remember	recent
END
    else
        sed -nE 's/.*owner ([A-Za-z_:]+): ([A-Za-z_:-]+) .*/\1\t\2/p' "$2"
    fi
}

measure() { # PROGRAM RIGHT COMPILER FLAGS...: at least RIGHT percent are right
    local program=$1 least=$2 compiler=$3 result name source standard=-std=c++17
    shift 3
    command -v "$compiler" >/dev/null || return
    name="$program, $compiler $*"
    source=$programs/$program.cpp
    [ -e "$source" ] || { source=$programs/$program.c standard=-std=gnu11; }
    case " $* " in
    *" -shared "*) # with the program in a library
        "$compiler" $standard -g "$@" -fPIC -Dmain=program "$source" -o library.so &&
            "$compiler" -x c++ - -x none library.so -Wl,-rpath,"$PWD" -o "$program" <<<'int program(int, char **); int main(int c, char **v) { return program(c, v); }' ;;
    *) "$compiler" $standard -g "$@" "$source" -o "$program" ;;
    esac || { echo "FAILED: $name: not built"; return; }
    { "$MPROF_BUILD/bin/mprof-run" --quiet --force -o p.bin -- "./$program" >/dev/null &&
        "$MPROF_BUILD/bin/mprof-ingest" --quiet --force -o p.db p.bin; } ||
        { echo "FAILED: $name: no session"; return; }
    truth "$program" "$source" >truth.tsv
    result=$(sqlite3 p.db <<'SQL'
.mode tabs
CREATE TEMP TABLE truth(function TEXT, owner TEXT);
.import truth.tsv truth
CREATE TEMP TABLE known AS
  SELECT st.id AS stack, st.allocations AS n, coalesce(o.name, '-') AS owner,
    coalesce(o.confidence, 'unknown') AS confidence,
    (SELECT t.owner FROM v_stack v JOIN truth t ON v.function = t.function
        OR v.function LIKE t.function || '(%' OR v.function LIKE '% ' || t.function || '(%'
        OR v.function LIKE t.function || '::%' WHERE v.stack_id = st.id ORDER BY v.depth LIMIT 1)
      AS truth,
    (SELECT group_concat(v.function, ' ') FROM v_stack v WHERE v.stack_id = st.id) AS frames
  FROM stack st LEFT JOIN owner o ON o.id = st.owner_id WHERE st.allocations > 0;
-- History::add makes a copy for a local action, which the container then takes.
UPDATE known SET truth = owner WHERE truth = 'History' AND frames NOT LIKE '%vector<Action%'
  AND owner IN ('History', 'Action::copy');
UPDATE known SET truth = 'History::actions' WHERE truth = 'History' AND frames LIKE '%vector<Action%';
-- remember() makes a string that the container then takes.
UPDATE known SET truth = '-' WHERE truth = 'recent' AND frames NOT LIKE '%vector<%' AND owner = '-';
-- A vector in a map's node is not a member; the map's nodes are.
UPDATE known SET truth = 'Shop' WHERE truth = 'Shop::by_number' AND frames NOT LIKE '%\_Rb\_tree%' ESCAPE '\';
UPDATE known SET truth = 'Document' WHERE truth = 'Document::marks' AND frames LIKE '%to_string%';
-- The C library's own, for the destructors and the memory of a thread's variables.
DELETE FROM known WHERE truth IS NULL OR frames LIKE '%\_\_cxa\_thread\_atexit%' ESCAPE '\'
  OR frames LIKE '%\_\_tls\_get\_addr%' ESCAPE '\';
ALTER TABLE known ADD COLUMN verdict TEXT;
UPDATE known SET verdict = CASE WHEN owner = replace(truth, '[abi:cxx11]', '')
      OR replace(owner, '[abi:cxx11]', '') = truth THEN 'right'
    WHEN owner = '-' THEN 'unknown'
    WHEN truth LIKE owner || '::%' THEN 'class'
    -- The template that the member is an object of.
    WHEN truth IN ('CellBuffer::text', 'CellBuffer::style') AND owner LIKE 'GapBuffer<char>%' THEN 'class'
    WHEN truth IN ('Shop::stack', 'Shop::spare') AND owner LIKE 'Stack<short>%' THEN 'class'
    -- The class whose function it is.
    WHEN frames LIKE '%' || owner || '::%' AND owner NOT LIKE '%::%' THEN 'class' ELSE 'wrong' END;
.mode list
SELECT coalesce(sum(n) FILTER (WHERE verdict = 'right' AND confidence = 'exact'), 0),
  coalesce(sum(n) FILTER (WHERE verdict = 'right' AND confidence <> 'exact'), 0),
  coalesce(sum(n) FILTER (WHERE verdict = 'class' AND confidence = 'exact'), 0),
  coalesce(sum(n) FILTER (WHERE verdict = 'class' AND confidence <> 'exact'), 0),
  coalesce(sum(n) FILTER (WHERE verdict = 'wrong' AND confidence = 'exact'), 0),
  coalesce(sum(n) FILTER (WHERE verdict = 'wrong' AND confidence <> 'exact'), 0),
  coalesce(sum(n) FILTER (WHERE verdict = 'unknown'), 0),
  coalesce(count(*) FILTER (WHERE verdict = 'right') * 100 / count(*), 0),
  count(*) FROM known;
SELECT 'wrong: ' || owner || ' (' || confidence || '), not ' || truth || ': ' || substr(frames, 1, 300)
  FROM known WHERE verdict = 'wrong';
.mode list
SELECT 'detail: ' || verdict || ' ' || confidence || ' ' || owner || ' for ' || truth FROM known WHERE verdict <> 'right' AND '$OWNERS_DETAIL' <> '';
SQL
)
    IFS='|' read -r right_exact right_inferred class_exact class_inferred wrong_exact wrong_inferred unknown \
        percent stacks <<<"$(head -1 <<<"$result")"
    echo "| $name | $right_exact | $right_inferred | $class_exact | $class_inferred | $wrong_inferred | $unknown | $percent % of $stacks |"
    tail -n +2 <<<"$result" | grep -E 'wrong' 
    [ -z "${OWNERS_DETAIL:-}" ] || tail -n +2 <<<"$result" | grep detail
    [ "$wrong_exact" = 0 ] || { echo "FAILED: $name: a wrong owner is called exact"; }
    [ "$percent" -ge "$least" ] || { echo "FAILED: $name: fewer are right than $least %"; }
}

all() {
    echo '| program | right, exact | right, inferred | class, exact | class, inferred | wrong, inferred | unknown | stacks right |'
    echo '|---|---|---|---|---|---|---|---|'
    measure editor 80 g++ -O0
    measure editor 80 g++ -O2
    measure editor 60 clang++ -O2 -flto
    measure holders 80 g++ -O0
    measure holders 80 g++ -O2
    measure holders 75 clang++ -O2
    measure fields 95 gcc -O0
    measure fields 95 gcc -O2
    measure fields 95 clang -O0
    measure fields 95 clang -O2
    measure members 90 g++ -O0
    measure members 90 g++ -O2
    measure members 90 clang++ -O2
    measure members 90 g++ -O2 -shared
    [ -n "${MPROF_SOAK:-}${1:-}" ] || return
    measure editor 50 g++ -O2 -flto
    measure editor 75 clang++ -O0
    measure editor 85 clang++ -O2
    measure fields 95 gcc -O1
    measure fields 85 gcc -O2 -flto
    measure members 90 g++ -O1
    measure members 90 clang++ -O0
    measure members 90 clang++ -O2 -shared -ftls-model=initial-exec
    measure members 60 g++ -O2 -flto
    measure holders 65 g++ -O2 -flto
    measure holders 80 clang++ -O0
    measure holders 50 clang++ -O2 -flto
}
all "${1:-}" | tee "${1:-/dev/null}" >table.md
cat table.md
! grep -q '^FAILED' table.md
