#!/usr/bin/env bash
# Each option that --help names is in the man page and in the completion file, and the other way
# round; the man pages have no errors.
set -u
failed=0
for program in mprof-run mprof-ctl mprof-ingest mprof-tui; do
    page=$MPROF_SOURCE/docs/man/$program.1
    help=$("$MPROF_BUILD/bin/$program" --help 2>&1) || { echo "$program --help failed"; failed=1; }
    [ -f "$page" ] || { echo "no man page: $page"; failed=1; continue; }
    of() { grep -oE -- '--[a-z][a-z-]+' | sort -u; }
    in_help=$(of <<<"$help")
    in_page=$(sed 's/\\-/-/g; s/^\.B[RI]* *//; s/"//g' "$page" | of)
    difference=$(diff <(echo "$in_help") <(echo "$in_page")) ||
        { echo "$program: --help (<) and man page (>) differ:"; echo "$difference"; failed=1; }
    for option in $in_help; do
        grep -q -- "$option" "$MPROF_SOURCE/docs/completion/$program.bash" 2>/dev/null ||
            { echo "$program: $option is not completed"; failed=1; }
    done
    "$MPROF_BUILD/bin/$program" --version | grep -qE "^$program [0-9]+\.[0-9]+" ||
        { echo "$program --version does not name the program and a version"; failed=1; }
    complaints=$(MANWIDTH=80 LC_ALL=C.UTF-8 man --warnings -l "$page" 2>&1 >/dev/null) || true
    [ -z "$complaints" ] || { echo "$page: $complaints"; failed=1; }
done
exit $failed
