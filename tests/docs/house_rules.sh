#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The dependency rules of docs/architecture.md: a folder is a room, dependencies run one way,
# and each foreign library is used in one place.
set -u
cd "$MPROF_SOURCE" || exit 1
. tests/docs/sources.sh
failed=0
complain() { printf 'house rule broken: %s\n%s\n' "$1" "$2"; failed=1; }

# The table of rooms. A file belongs to the row with the longest folder that holds it, and includes
# files of that room and of those that the row allows.
crossed=$(sources '*.c' '*.h' '*.hpp' | grep -v '^tests/' | xargs grep -HnE '^ *# *include "' | awk '
    function room_of(path,    i, best) {
        best = ""
        for (i in allowed) if (index(path, i) == 1 && length(i) > length(best)) best = i
        return best
    }
    FNR == NR {
        if ($0 !~ /^\| `[a-z0-9\/]+` \|/) next
        n = split($0, cells, "|"); gsub(/[` ]/, "", cells[2])
        gsub(/[` ]/, "", cells[n - 1])
        allowed[cells[2]] = "," cells[n - 1] ","
        if (match(allowed[cells[2]], /allroomsof[a-z]+\//)) # "all rooms of `ingest/`"
            inside[cells[2]] = substr(allowed[cells[2]], RSTART + 10, RLENGTH - 10)
        rows++
        next
    }
    {
        file = $0; sub(/:.*/, "", file)
        target = $0; sub(/^[^"]*"/, "", target); sub(/".*/, "", target)
        if (target !~ /\// || file ~ /^capture\/(mprof\.h|cxx\/)/) next # made by the build, or for users
        from = room_of(file); to = room_of(target)
        if (from == "" || to == "") print $0 ": no row of the table"
        else if (from != to && index(allowed[from], "," to ",") == 0 &&
                 !(inside[from] != "" && index(to, inside[from]) == 1)) print $0
    }
    END { if (rows < 20) print "docs/architecture.md: the table of rooms has " rows " rows" }
' docs/architecture.md -)
[ -z "$crossed" ] || complain "a room includes only what docs/architecture.md allows" "$crossed"

outside=$(sources 'capture/*.c' 'capture/*.h' 'ingest/*.c' 'ingest/*.h' | grep -xE '(capture|ingest)/[^/]*' |
    grep -vxE 'capture/mprof\.h|ingest/(main|ingest|processes|progress|stale_outputs|disk_space|(summary|follow)[a-z_]*)\.[ch]')
[ -z "$outside" ] || complain "a file of capture and ingest lies in one of their rooms" "$outside"

# A file and its header count as one. tsort names the files of each circle.
circles=$(sources 'capture/*.c' 'capture/*.h' | xargs grep -HoE '^#include "capture/[a-z0-9_/]+\.h"' |
    sed -E 's/\.[ch]:#include "/ /; s/\.h"$//' | awk '$1 != $2' | LC_ALL=C tsort 2>&1 >/dev/null)
[ -z "$circles" ] || complain "no files of capture include each other in a circle" "$circles"

# A view is a file of tui/view/, or a folder.
crossing=$(sources 'tui/view/*.c' 'tui/view/*.h' | xargs grep -HE '^#include "tui/view/' | awk -F'[:"]' '{
        split($1, from, "[/.]"); split($3, to, "[/.]")
        if (from[3] != to[3] && to[3] != "view" && to[3] != "common") print
    }')
[ -z "$crossing" ] || complain "views do not include each other" "$crossing"

# only PATTERN WHERE: headers that match PATTERN are included only in files that match WHERE.
only() {
    local what=$1 pattern=$2 where=$3 found
    found=$(sources '*.c' '*.h' | grep -v '^tests/' | xargs grep -lE "#include <($pattern)" | grep -vE "$where")
    [ -z "$found" ] || complain "$what is used only in $where" "$found"
}
only curses 'n?curses|ncursesw/|term\.h' '^tui/screen/terminal_curses\.c$'
only libdw 'elfutils/|dwarf\.h|libelf|gelf' '^ingest/(symbols|types)/'
only Zydis 'Zydis/' '^ingest/types/flow/decode\.c$'
only zstd 'zstd' '^(schemas/pack/trace_packed|ingest/trace/import|report/export/parquet)\.c$'
only yajl 'yajl' '^report/output/json\.c$'
only zlib 'zlib\.h' '^(ingest|report/export/pprof\.c$)'
only sqlite3 'sqlite3' '^(ingest/write|session/store|session/sqlite)/'

inner=$(sources '*.c' '*.h' | grep -v '^schemas/pack/' |
    xargs grep -HnE '#include "schemas/pack/|\b(TRACE|trace)_(COLUMN|MODEL|model|predicted|walk)_' | grep -v '/trace_packed\.h"$')
[ -z "$inner" ] || complain "other folders know only trace_packed.h of schemas/pack" "$inner"
inner=$(sources '*.c' '*.h' | grep -vE '^(capture/os/seccomp|tests)/' |
    xargs grep -HnE '#include "capture/os/seccomp/|\b(BPF_[A-Z]+|sock_filter|seccomp_evaluate)\b' | grep -v '/seccomp\.h"$')
[ -z "$inner" ] || complain "other folders know only seccomp.h of capture/os/seccomp" "$inner"

exits=$(grep -nE '(^|[^_a-z])exit\(' -r ingest session tui report --include='*.c' | grep -vE '/(main|mprof[-_][a-z]+)\.c:')
[ -z "$exits" ] || complain "no exit() below main" "$exits"

# The dialect: `!p` and `p` test a pointer, `p != NULL` makes a bool value, sizeof has parentheses. The
# programs that tests record are left out: some are written as foreign programs are.
dialect=$(sources '*.c' '*.h' '*.cpp' '*.hpp' | grep -v '^tests/programs/' | xargs awk '
    {
        code = $0
        gsub(/"([^"\\]|\\.)*"/, "\"\"", code)
        sub(/\/[*\/].*/, "", code)
        if (code ~ /^ *\* /) next
    }
    code ~ /(^|[^A-Za-z0-9_])sizeof +[^ (]/ ||
    code ~ /(^|[^A-Za-z0-9_])(if|while) ?\((.*(&&|\|\|) )?[^()=]*[!=]= NULL/ ||
    code ~ /(^|[^A-Za-z0-9_])(if|while) ?\(.*\)\) [!=]= NULL/ ||
    code ~ /[!=]= NULL \?/ { print FILENAME ":" FNR ": " $0 }')
[ -z "$dialect" ] || complain "pointers are tested by !p and p, sizeof has parentheses" "$dialect"

# The first comment after the tag: in the file, or in the header of its name.
silent=$(sources '*.c' '*.h' | grep -v '^tests/.*programs/' | xargs awk 'FNR == 2 && !/^\/\*/ { print FILENAME }' |
    while read -r file; do [ "$file" != "${file%.c}" ] && [ -e "${file%.c}.h" ] || echo "$file"; done)
[ -z "$silent" ] || complain "each file says what it is" "$silent"

open=$(sources '*.c' '*.h' | grep -vE '^(tests|docs)/|^capture/(cxx/|mprof\.h)' | xargs grep -nE '^ */\*$')
[ -z "$open" ] || complain "a comment begins on the line of its mark" "$open"

twice=$(sources '*.h' | grep -vE '^(tests|docs)/|^capture/(cxx/|mprof\.h)' | xargs grep -LE '^#pragma once$|^#define MPROF_[A-Z0-9_]+_H$')
[ -z "$twice" ] || complain "a header can be included twice: #pragma once" "$twice"

# A statement that is built of pieces while the program runs has a conversion of printf().
shredded=$(sources 'ingest/*.c' 'session/*.c' 'report/*.c' | xargs awk '
    function report() {
        if (begin != "" && lines > 1 && !built) print begin
        begin = ""
    }
    FNR == 1 { report() }
    begin == "" && /"(SELECT|INSERT|UPDATE|DELETE|WITH|CREATE|DROP|PRAGMA) ([^"\\]|\\.)*"( PRI[a-zX0-9]+)?$/ {
        begin = FILENAME ":" FNR ": " $0; lines = 1; built = /%[dsu]|PRI[a-zX0-9]+$/
        next
    }
    begin != "" && /^ *(PRI[a-zX0-9]+ *)?"/ { lines++; built = built || /%[dsu]|%" PRI/; next }
    { report() }
    END { report() }')
[ -z "$shredded" ] || complain "SQL of more than a line lies in a .sql file" "$shredded"

marks=$(sources '*.c' '*.h' '*.hpp' '*.sql' dev | xargs grep -nE '\b(TODO|FIXME|XXX|HACK)\b')
[ -z "$marks" ] || complain "no unfinished marks" "$marks"

# The tag is the first line, or the second after a #! line.
unlicensed=$(sources '*.c' '*.h' '*.cpp' '*.hpp' '*.cc' '*.sh' '*.py' '*.sql' '*.js' '*.cmake' '*CMakeLists.txt' dev .ci/run |
    grep -v '^tests/golden/.*\.sql$' | xargs awk '
    function report() { if (name != "" && !tagged) print name }
    FNR == 1 { report(); name = FILENAME; tagged = 0 }
    /SPDX-License-Identifier: BSD-2-Clause/ { tagged = 1 }
    tagged || !/^#!/ { nextfile }
    END { report() }')
[ -z "$unlicensed" ] || complain "every source file begins with its SPDX tag" "$unlicensed"

large=$(sources | tr '\n' '\0' | xargs -0 stat -c '%s %n' 2>/dev/null | awk '$1 > 256 * 1024')
[ -z "$large" ] || complain "no file is larger than 256 KiB: what can be made is made" "$large"

# The common word, and the subject at a sentence's head (CONTRIBUTING.md, "Words").
texts=('*.c' '*.h' '*.cpp' '*.hpp' '*.sh' '*.py' '*.sql' '*.js' '*.cmake' '*CMakeLists.txt' '*.md' dev 'docs/man/*')
words=$(sources "${texts[@]}" | grep -vx tests/docs/house_rules.sh |
    xargs grep -nEiw 'anew|afresh|thereof|therein|whereof|wherefrom|whence|lest|shall|lets go|none but|is no more'
    sources "${texts[@]}" | xargs grep -nE \
        '((^ *(\*|#|--)|/\*|[.!;]) (Nor|Whether|Whatever|Whoever|Whenever|Wherever|What|Where|Of|Whose|Whom|Tells whether) )' |
        grep -vE '[?:]( \*/)?$|\.md:[0-9]+:(# |\| \[)' # no questions, titles and lists of questions
    sources "${texts[@]}" | grep -vx tests/docs/house_rules.sh |
        xargs grep -nP '\w (?<!here )(is|are|was|were) no (?!longer|more\b|less|fewer|other|one\b|way)')
[ -z "$words" ] || complain "comments and documents use common words" "$words"

# Only paths that end like a source, so that names of programs and of what a build makes are left out.
# The scripts of tests/ name files relative to it, too.
gone=$(sources "${texts[@]}" |
    xargs grep -noE '\b(capture|cli|cmake|docs|ingest|report|schemas|session|tests|tui)/[A-Za-z0-9_/.-]+\.(c|h|hpp|cpp|sh|py|md|sql|map|cmake|h\.3)\b' |
    while IFS=: read -r file line path; do
        [ -e "$path" ] || [ -e "tests/$path" ] || echo "$file:$line: $path"
    done)
[ -z "$gone" ] || complain "a path that a comment or a document names exists" "$gone"

# Cells of a row, but for `\|`; code blocks are no tables.
uneven=$(sources '*.md' | xargs awk '
    /^ *```/ { code = !code }
    FNR == 1 { code = 0; columns = 0 }
    code || !/^\|/ { columns = 0; next }
    { row = $0; gsub(/\\\|/, "", row); cells = gsub(/\|/, "", row) }
    columns && cells != columns { print FILENAME ":" FNR ": " cells - 1 " cells, not " columns - 1 }
    !columns { columns = cells }')
[ -z "$uneven" ] || complain "the rows of a table are as long as its head" "$uneven"

[ $failed -eq 0 ] && echo "house rules kept"
exit $failed
