#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# No document has a dead link, and the check finds those that are.
set -u
work=$PWD/links.work
check=$MPROF_SOURCE/packaging/site/links.py
failed=0
complain() { printf '%s\n' "$*"; failed=1; }
rm -rf "$work" && mkdir -p "$work/pages" || exit 1

cd "$work" || exit 1
printf '# Two `words`, and a [link](other.md)\n[a](other.md#a-heading) [b](#two-words-and-a-link)\n```\n[no](link.md)\n```\n' >pages/one.md
printf '# A heading\n# A heading\n[a](../pages/one.md) [b](#a-heading-1) [c](https://example.org/x) `[no](link.md)`\n' >pages/other.md
printf 'pages/one.md\npages/other.md\n' | python3 "$check" >good.txt || complain "living links are called dead: $(cat good.txt)"
grep -qx '6 links, 0 dead' good.txt || complain "6 links are counted as: $(cat good.txt)"
printf '[a](gone.md) [b](other.md#gone) [c](../../out.md) [d](#nothing)\n' >pages/dead.md
echo pages/dead.md | python3 "$check" >dead.txt && complain "dead links are not found"
[ "$(grep -c '^pages/dead.md: dead link' dead.txt)" -eq 4 ] || complain "4 dead links are counted as: $(cat dead.txt)"
printf '<h1 id="top">x</h1><a href="#top">y</a><a href="page.html#bottom">z</a>' >page.html
echo page.html | python3 "$check" >page.txt && complain "a dead link of a page is not found"
grep -qx '2 links, 1 dead' page.txt || complain "the links of a page are counted as: $(cat page.txt)"

cd "$MPROF_SOURCE" || exit 1
. tests/docs/sources.sh
sources '*.md' | python3 "$check" || failed=1
exit $failed
