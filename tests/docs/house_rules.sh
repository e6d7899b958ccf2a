#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The dependency rules of docs/architecture.md: a folder is a stage, dependencies run one way,
# each foreign library stands behind one door.
set -u
cd "$MPROF_SOURCE" || exit 1
. tests/docs/sources.sh
failed=0
complain() { printf 'house rule broken: %s\n%s\n' "$1" "$2"; failed=1; }

# may STAGE FOLDERS: a stage includes only these folders of ours.
may() {
    local stage=$1 allowed=$2 found
    [ -d "$stage" ] || return
    found=$(grep -rnE '#include "' "$stage" --include='*.c' --include='*.h' --include='*.hpp' |
        grep -vE "#include \"($allowed)/|#include \"mprof(_types)?\.h\"|#include \"session_sql\.h\"")
    [ -z "$found" ] || complain "$stage may include only: $allowed" "$found"
}
may schemas schemas
may cli 'cli|schemas'
may capture 'capture|cli|schemas'
may ingest 'ingest|cli|schemas'
may session 'session|schemas'
may tui 'tui|cli|session'
may report 'report|session'

# only PATTERN WHERE: headers that match PATTERN are included only in files that match WHERE.
only() {
    local what=$1 pattern=$2 where=$3 found
    found=$(sources '*.c' '*.h' | grep -v '^tests/' | xargs grep -lE "#include <($pattern)" | grep -vE "$where")
    [ -z "$found" ] || complain "$what stands only in $where" "$found"
}
only curses 'n?curses|ncursesw/|term\.h' '^tui/terminal_curses\.c$'
only libdw 'elfutils/|dwarf\.h|libelf|gelf' '^ingest/(symbols|types|dwarf|elf)[a-z_]*\.[ch]$'
only zstd 'zstd' '^schemas/trace_packed\.c$'
only sqlite3 'sqlite3' '^(ingest/writer[a-z_]*\.[ch]|session/[a-z_]+\.[ch])$'

long=$(sources '*.c' '*.h' | xargs wc -l | awk '$2 != "total" && $1 > 600')
[ -z "$long" ] || complain "no file is longer than 600 lines" "$long"

exits=$(grep -nE '(^|[^_a-z])exit\(' -r ingest session tui --include='*.c' | grep -vE '/(main|mprof[-_][a-z]+)\.c:')
[ -z "$exits" ] || complain "no exit() below main" "$exits"

marks=$(sources '*.c' '*.h' '*.hpp' '*.sql' dev | xargs grep -nE '\b(TODO|FIXME|XXX|HACK)\b')
[ -z "$marks" ] || complain "no unfinished marks" "$marks"

# The tag is the first line, or the second after a #! line.
unlicensed=$(sources '*.c' '*.h' '*.cpp' '*.hpp' '*.cc' '*.sh' '*.py' '*.sql' '*.cmake' '*CMakeLists.txt' dev .ci/run |
    grep -v '^tests/golden/.*\.sql$' | xargs awk '
    function report() { if (name != "" && !tagged) print name }
    FNR == 1 { report(); name = FILENAME; tagged = 0 }
    /SPDX-License-Identifier: BSD-2-Clause/ { tagged = 1 }
    tagged || !/^#!/ { nextfile }
    END { report() }')
[ -z "$unlicensed" ] || complain "every source file begins with its SPDX tag" "$unlicensed"

large=$(sources | tr '\n' '\0' | xargs -0 stat -c '%s %n' 2>/dev/null | awk '$1 > 256 * 1024')
[ -z "$large" ] || complain "no file is larger than 256 KiB: what can be made is made" "$large"

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
