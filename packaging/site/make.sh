#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: make.sh SOURCES OUT
# Makes a site of the documents: a page for each *.md of SOURCES in the same place below OUT, with
# README.md as index.html, and one for each man page. Fails, after a line for each, for dead links.
set -euo pipefail
tools=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
out=$2
cd "$1"
documents=(README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md docs/*.md docs/how/*.md schemas/*.md)
manuals=(docs/man/*.[1-9])
rm -rf "$out"
mkdir -p "$out"
cp "$tools/style.css" "$out/"

page_of() { case $1 in README.md) echo index.html ;; *.md) echo "${1%.md}.html" ;; *) echo "$1.html" ;; esac }

label_of() { case $1 in docs/how/*) echo "how: $(basename "$1" .md)" ;; *) basename "$1" .md ;; esac }

# navigation ROOT: the links to all pages, for a page from which ROOT leads to the site's first one.
navigation() {
    local file
    echo "<nav>"
    for file in "${documents[@]}" "${manuals[@]}"; do
        printf '<a href="%s%s">%s</a> \n' "$1" "$(page_of "$file")" "$(label_of "$file")"
    done
    echo "</nav>"
}

for file in "${documents[@]}"; do
    root=$(dirname "$file" | sed 's,^\.$,,; s,[^/][^/]*,..,g; s,.$,&/,')
    navigation "$root" >"$out/navigation.html"
    mkdir -p "$out/$(dirname "$file")"
    pandoc -f gfm -t html5 --standalone --css "${root}style.css" --lua-filter "$tools/links.lua" \
        --metadata title="mprof" --metadata pagetitle="mprof: $(sed -n 's/^# //p;T;q' "$file")" \
        --include-before-body "$out/navigation.html" -o "$out/$(page_of "$file")" "$file"
done
mkdir -p "$out/docs/man"
for file in "${manuals[@]}"; do
    mandoc -T html -O style=../../style.css,man=%N.%S.html "$file" >"$out/$(page_of "$file")"
done
rm "$out/navigation.html"
# The files that documents lead to and that are no documents themselves.
for file in LICENSE schemas/session.sql docs/examples; do
    mkdir -p "$out/$(dirname "$file")"
    cp -r "$file" "$out/$(dirname "$file")/"
done
cd "$out"
find . -name '*.html' | python3 "$tools/links.py"
