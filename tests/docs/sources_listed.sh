#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The checks of the sources see the same files with git and without it.
set -u
cd "$MPROF_SOURCE" || exit 1
. tests/docs/sources.sh
[ -e .git ] && git ls-files >/dev/null 2>&1 || { echo "skipped: no repository"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
complain() { printf '%s\n' "$*"; failed=1; }
mkdir "$work/copy" || exit 1
git ls-files -z | tar -c --null -T - --ignore-failed-read 2>/dev/null | tar -x -C "$work/copy"
# Files that a build leaves are not sources.
mkdir -p "$work/copy/build-clang" && touch "$work/copy/build-clang/made.c" "$work/copy/capture/made.o" || exit 1
for pattern in '*' '*.c' 'ingest/*.c' '*.md' dev; do
    sources "$pattern" | sort >"$work/git"
    (cd "$work/copy" && sources "$pattern") | sort >"$work/find"
    [ -s "$work/git" ] || complain "no file matches $pattern"
    diff "$work/git" "$work/find" || complain "$pattern: git and find list different files"
done
exit $failed
