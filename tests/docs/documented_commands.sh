#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Every command in the documents works. Blocks ```sh and ```sql of README.md and docs/*.md run in
# order, each document in a folder of its own, by what an installed user has; a block fails the test
# when any command of it fails. ```sql blocks run on the document's session: `session.db` there.
# ```text and unnamed blocks are not run.
set -u
rm -rf documents documents-home documents-usr
mkdir -p documents documents-home
cmake --install "$MPROF_BUILD" --prefix "$PWD/documents-usr" >documents/install.txt || exit 1
libraries=$(dirname "$(find "$PWD/documents-usr" -name libmprof.so.0)")
export PATH="$PWD/documents-usr/bin:$PATH" PKG_CONFIG_PATH="$libraries/pkgconfig"
# As if it were installed where compiler and loader look.
export LIBRARY_PATH="$libraries" LD_LIBRARY_PATH="$libraries:$libraries/mprof"
export C_INCLUDE_PATH="$PWD/documents-usr/include/mprof" CPLUS_INCLUDE_PATH="$PWD/documents-usr/include/mprof"
# The examples lie in the sources alone.
export SOURCE="$MPROF_SOURCE" HOME="$PWD/documents-home"
failed=0 blocks=0
for document in "$MPROF_SOURCE"/README.md "$MPROF_SOURCE"/docs/*.md; do
    name=$(basename "$document" .md)
    mkdir -p "documents/$name"
    python3 - "$document" "documents/$name" <<'PYTHON'
import re, sys
text = open(sys.argv[1]).read()
for n, (kind, body) in enumerate(re.findall(r'^```(sh|sql)\n(.*?)^```', text, re.S | re.M)):
    open(f'{sys.argv[2]}/{n:03}.{kind}', 'w').write(body)
PYTHON
    for block in documents/"$name"/[0-9]*.*; do
        [ -e "$block" ] || continue
        blocks=$((blocks + 1))
        case $block in
        *.sh) (cd "documents/$name" && bash -euo pipefail "$(basename "$block")") >"$block.out" 2>&1 </dev/null ;;
        *.sql) sqlite3 -bail -header "documents/$name/session.db" <"$block" >"$block.out" 2>&1 && [ -s "$block.out" ] ;;
        esac || {
            failed=1
            echo "$document: this block failed:"
            cat "$block"
            echo "--- it printed:"
            tail -n 20 "$block.out"
        }
    done
done
echo "$blocks blocks run"
[ "$blocks" -gt 0 ] || failed=1
exit $failed
