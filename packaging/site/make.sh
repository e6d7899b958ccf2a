#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: make.sh SOURCES OUT
# Makes a site of the documents: a page for each *.md of SOURCES in the same place below OUT, with
# README.md as index.html, and one for each man page. Fails, after a line for each, for dead links.
set -euo pipefail
tools=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
out=$2
cd "$1"
documents=(README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md docs/*.md docs/how/*.md docs/studies/*.md schemas/*.md)
manuals=(docs/man/*.[1-9])
rm -rf "$out"
mkdir -p "$out/docs"
cp "$tools/style.css" "$out/"
cp -r docs/screens "$out/docs/"

page_of() { case $1 in README.md) echo index.html ;; *.md) echo "${1%.md}.html" ;; *) echo "$1.html" ;; esac }

label_of() { case $1 in docs/how/*) echo "how: $(basename "$1" .md)" ;; docs/studies/*) echo "study: $(basename "$1" .md)" ;; *) basename "$1" .md ;; esac }

# navigation ROOT: the links to all pages, for a page from which ROOT leads to the site's first one.
navigation() {
    local file
    echo "<nav>"
    for file in "${documents[@]}" "${manuals[@]}"; do
        printf '<a href="%s%s">%s</a> \n' "$1" "$(page_of "$file")" "$(label_of "$file")"
    done
    echo "</nav>"
}

# page TEXT PAGE: makes the page, a path below $out, of a text in Markdown.
page() {
    local root
    root=$(dirname "$2" | sed 's,^\.$,,; s,[^/][^/]*,..,g; s,.$,&/,')
    navigation "$root" >"$out/navigation.html"
    mkdir -p "$out/$(dirname "$2")"
    pandoc -f gfm -t html5 --standalone --css "${root}style.css" --lua-filter "$tools/links.lua" \
        --metadata title="mprof" --metadata pagetitle="mprof: $(sed -n 's/^# //p;T;q' "$1")" \
        --include-before-body "$out/navigation.html" -o "$out/$2" "$1"
}

# listing TITLE FILE...: a text that shows the files.
listing() {
    local file
    echo "# $1"
    for file in "${@:2}"; do
        printf '\n## %s\n\n~~~~~~\n' "$(basename "$file")"
        cat "$file"
        echo '~~~~~~'
    done
}

for file in "${documents[@]}"; do
    page "$file" "$(page_of "$file")"
done
# The files that documents lead to and that are not documents themselves: browsers would load some
# of them down. links.lua leads to these pages.
listing 'A program with budgets' docs/examples/budgets/* >"$out/listing.md"
page "$out/listing.md" docs/examples/budgets/index.html
listing 'The tables of a session' schemas/session.sql >"$out/listing.md"
page "$out/listing.md" schemas/session.sql.html
cp LICENSE "$out/"
mkdir -p "$out/docs/man"
for file in "${manuals[@]}"; do
    mandoc -T html -O style=../../style.css,man=%N.%S.html "$file" >"$out/$(page_of "$file")"
done
rm "$out/navigation.html" "$out/listing.md"
cd "$out"
find . -name '*.html' | python3 "$tools/links.py"
