#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Every command in the documents works. Blocks ```sh and ```sql of README.md and docs/*.md run in
# order, each document in a folder of its own, by what an installed user has; a block fails the test
# when any command of it fails. ```sql blocks run on the document's session: `session.db` there. A
# ```text block that follows such a block directly is its answer, in columns, and must be the same;
# MPROF_REFRESH=1 writes the answers. Other ```text and unnamed blocks are not run.
set -u
rm -rf documents documents-home documents-usr
mkdir -p documents documents-home
cmake --install "$MPROF_BUILD" --prefix "$PWD/documents-usr" >documents/install.txt || exit 1
libraries=$(dirname "$(find "$PWD/documents-usr" -name libmprof.so.0)")
export PATH="$PWD/documents-usr/bin:$PATH" PKG_CONFIG_PATH="$libraries/pkgconfig"
# As if the libraries were installed where linker and loader look. No compiler looks for the headers where
# they are: the pages say how it finds them.
export LIBRARY_PATH="$libraries" LD_LIBRARY_PATH="$libraries"
# A rustc of rustup finds its compiler there.
export RUSTUP_HOME="${RUSTUP_HOME:-$HOME/.rustup}"
export EXAMPLES="$PWD/documents-usr/share/doc/mprof/docs/examples" HOME="$PWD/documents-home"
# Mozilla's reader, on a loaded machine, too.
mkdir -p documents/bin
ln -s "$MPROF_SOURCE/tests/readers/profiler_cli.sh" documents/bin/profiler-cli
export PATH="$PWD/documents/bin:$PATH"
failed=0 blocks=0 answers=0

# answer QUERIES: as the page shows it.
answer() {
    local columns=()
    [ ! -e "$1.answer" ] || columns=(-column)
    sqlite3 -bail -header "${columns[@]}" session.db <"$1" >"$1.rows" || { cat "$1.rows"; return 1; }
    sed 's/ *$//' "$1.rows"
}

# refresh DOCUMENT FOLDER: writes the answers into the page.
refresh() {
    python3 - "$1" "$2" <<'PYTHON'
import itertools, os, re, sys
number = itertools.count()
def fresh(block):
    path = f'{sys.argv[2]}/{next(number):03}.sql'
    if not os.path.exists(path + '.answer'):
        return block.group(0)
    return f'```sql\n{block.group(2)}```\n\n```text\n{open(path + ".out").read()}```'
text = open(sys.argv[1]).read()
open(sys.argv[1], 'w').write(re.sub(r'^```(sh|sql)\n(.*?)^```\n(?:\n```text\n(.*?)^```$)?', fresh, text, flags=re.S | re.M))
PYTHON
}
for document in "$MPROF_SOURCE"/README.md "$MPROF_SOURCE"/docs/*.md; do
    name=$(basename "$document" .md)
    mkdir -p "documents/$name"
    python3 - "$document" "documents/$name" <<'PYTHON'
import re, sys
blocks = re.finditer(r'^```(sh|sql)\n(.*?)^```\n(?:\n```text\n(.*?)^```$)?', open(sys.argv[1]).read(), re.S | re.M)
for n, block in enumerate(blocks):
    kind, body, answer = block.groups()
    open(f'{sys.argv[2]}/{n:03}.{kind}', 'w').write(body)
    if kind == 'sql' and answer is not None:
        open(f'{sys.argv[2]}/{n:03}.sql.answer', 'w').write(answer)
PYTHON
    for block in documents/"$name"/[0-9]*.*; do
        case $block in *.sh | *.sql) [ -e "$block" ] || continue ;; *) continue ;; esac
        blocks=$((blocks + 1))
        case $block in
        *.sh) (cd "documents/$name" && bash -euo pipefail "$(basename "$block")") >"$block.out" 2>&1 </dev/null ;;
        *.sql) (cd "documents/$name" && answer "$(basename "$block")") >"$block.out" 2>&1 && [ -s "$block.out" ] ;;
        esac || {
            failed=1
            echo "$document: this block failed:"
            cat "$block"
            echo "--- it printed:"
            tail -n 20 "$block.out"
        }
        [ ! -e "$block.answer" ] || {
            answers=$((answers + 1))
            [ -n "${MPROF_REFRESH:-}" ] || diff "$block.answer" "$block.out" || {
                failed=1
                echo "$document: this query has another answer (>) than the page (<):"
                cat "$block"
            }
        }
    done
    [ -z "${MPROF_REFRESH:-}" ] || refresh "$document" "documents/$name"
done
profiler-cli stop --all >/dev/null 2>&1
echo "$blocks blocks run, $answers answers compared"
# The page of SQL alone has twenty.
[ "$answers" -ge 20 ] || failed=1
[ "$blocks" -gt 0 ] || failed=1
exit $failed
