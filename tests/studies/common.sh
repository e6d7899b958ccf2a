# SPDX-License-Identifier: BSD-2-Clause
# Sourced by the studies of docs/studies: the sources of a Debian package, unpacked once below
# $MPROF_STUDIES. A study runs only with MPROF_SOAK=1.
# shellcheck shell=bash disable=SC2034
[ "${MPROF_SOAK:-}" = 1 ] || exit 77
. "$MPROF_SOURCE/tests/end_to_end/common.sh"
studies=${MPROF_STUDIES:-$MPROF_BUILD-studies}
jobs=$(nproc)

# unpack PACKAGE: sets $source to its sources, as upstream has them.
unpack() {
    "$MPROF_SOURCE/tests/types/fetch_sources.sh" "$studies" "$1" || fail "no sources of $1"
    source=$(cd "$studies/src/$1" && pwd)
}
# build_once COMMAND…: runs it in $source unless it has succeeded there before.
build_once() {
    [ -e "$source/.built" ] || (cd "$source" && "$@" >build.log 2>&1 && touch .built) || fail "not built: $(tail -n 5 "$source/build.log")"
}
# row CELL…: a row of a table of the page.
row() { local cell; printf '|'; for cell in "$@"; do printf ' %s |' "$cell"; done; printf '\n'; }
# on_page PAGE FILE [PERCENT]: each row of a table in FILE is on the page. A row there has the same words, and each
# of its numbers differs by at most so many per cent, 2 unless told.
# Otherwise $failed is 1.
on_page() { python3 "$MPROF_SOURCE/tests/studies/on_page.py" "$MPROF_SOURCE/docs/studies/$1" "$2" "${3:-2}" || { echo "$1 says something else"; failed=1; }; }
