#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Measures what SciTE keeps of a text: its undo history, the room of its buffers, and what clearing
# leaves.
. "$(dirname "$0")/common.sh"
unpack scite
# The archive has three folders, of which unpack() has made one.
if [ ! -d "$source/whole/scite" ]; then
    mkdir -p "$source/whole" && tar -xf "$studies"/down/scite_*.orig.tar.* -C "$source/whole" || fail "not unpacked"
fi
source=$source/whole
build_scite() { # without Lexilla: a plain text has no language
    local how=(GTK3=1 CXX="${CXX:-g++}" CC="${CC:-gcc}" CXXFLAGS="-O2 -g" CFLAGS="-O2 -g")
    make -C scintilla/gtk -j"$jobs" "${how[@]}" && cp scintilla/bin/libscintilla.so scite/bin/ &&
        make -C scite/gtk -j"$jobs" "${how[@]}" ../bin/SciTE
}
build_once build_scite

mkdir home
gcc -shared -fPIC -O2 -I"$MPROF_SOURCE/capture" -o marks.so "$MPROF_SOURCE/tests/studies/scite/marks.c" || fail "marks.so"
# 30 MiB of numbered lines, the same each time.
awk 'BEGIN { for (i = 0; i < 700000; i++) printf "%07d %s\n", i, substr("the quick brown fox jumps over the lazy dog, and then some more", 1, 20 + i * 31 % 44) }' |
    head -c 31457280 >big.txt
export MPROF_STUDY=$work/ HOME=$work/home SciTE_HOME=$work/home NO_AT_BRIDGE=1 GTK_A11Y=none GSETTINGS_BACKEND=memory
timeout 900 xvfb-run -a mprof-run -q --follow=none --free-stacks -o scite.bin -- "$source/scite/bin/SciTE" \
    -ext.lua.startup.script="$MPROF_SOURCE/tests/studies/scite/scenario.lua" \
    -max.file.size=0 -are.you.sure=0 -buffers=5 -session.close.buffers.onexit=0 >said.txt 2>&1 || fail "SciTE: $(tail said.txt)"
grep -q '^closed:' said.txt || fail "not done: $(tail said.txt)"
grep '^[a-z_]*: [0-9]' said.txt
mprof-ingest -q -o scite.db scite.bin || fail "ingest"
sane scite.db

rows() { mprof-export -f csv --filter "$1" scite.db | tail -n +2 | cut -d , -f "${2:-1-3}" | tr -d '"'; } # FILTER [COLUMNS]
total() { rows "live at $1 | sum size" 1; }
mib() { printf '%d.%d' $(($1 >> 20)) $((($1 & 1048575) * 10 >> 20)); }

# In MiB; the last column is in bytes.
row moment all text styles lines "undo copies" "of them 1 MiB" "action vector, bytes" >moments.txt
row --- ---: ---: ---: ---: ---: ---: ---: >>moments.txt
declare -A at
owned() { ask scite.db "SELECT coalesce(sum(size), 0), count(*), coalesce(sum(size >= 1048576), 0) FROM v_allocation, (SELECT ns FROM mark WHERE name = '$1') m
    WHERE alloc_ns <= m.ns AND (free_ns IS NULL OR free_ns > m.ns) AND owner LIKE '%$2' AND \"user\" LIKE '%${3:-}%'" | tr '|' ' '; }
for moment in opened pasted typed undone one_key emptied cleared closed; do
    read -r text _ < <(owned $moment CellBuffer::substance)
    read -r style _ < <(owned $moment CellBuffer::style)
    read -r lines _ < <(owned $moment 'LineVector<int>::starts')
    read -r copies _ large < <(owned $moment Internal::Action)
    read -r vector _ < <(owned $moment Internal::UndoHistory% AppendAction)
    all=$(ask scite.db "SELECT sum(size) FROM allocation, (SELECT ns FROM mark WHERE name = '$moment') m WHERE alloc_ns <= m.ns AND (free_ns IS NULL OR free_ns > m.ns)")
    at[$moment.all]=$all at[$moment.capacity]=$((text + style)) at[$moment.copies]=$copies at[$moment.large]=$large at[$moment.vector]=$vector
    row $moment "$(mib "$all")" "$(mib "$text")" "$(mib "$style")" "$(mib "$lines")" "$(mib "$copies")" "$large" "$vector" >>moments.txt
done
cat moments.txt
on_page scite.md moments.txt

# 30 texts of 1 MiB were pasted, each with a copy for undo. All is undone, one key makes redo impossible,
# and the history is emptied: 29 copies stay until the document closes.
is "${at[pasted.large]}" -eq 30 "copies after pasting"
is "${at[pasted.copies]}" -eq 31457280 "their bytes"
for moment in undone one_key emptied cleared; do
    is "${at[$moment.large]}" -ge 29 "copies of 1 MiB, $moment"
done
is "${at[emptied.large]}" -eq 29 "copies that outlive the emptying"
is "${at[closed.large]}" -eq 0 "copies after closing"
kept=$((at[emptied.capacity] - 2 * 31457281))
echo "text and styles keep room for $(mib $kept) MiB more than they have"
is $((kept >> 20)) -ge 60 "that room, MiB"
is $((kept >> 20)) -le 80 "that room, MiB"
entry=$(sqlite3 scite.db "SELECT DISTINCT size FROM type WHERE name LIKE '%Internal::Action'")
is "${entry:-40}" -eq 40 "bytes of an action"
is "${at[cleared.vector]}" -eq $((12288 * 40)) "bytes of the vector of actions: 12,288 of 40"

# The graphs and queries of the page.
rows outlived_clear 1,2,3 >/dev/null
mprof-export -f csv --filter 'outlived_clear | where bytes >= 1M' -o outlived.csv scite.db || fail "the graph"
is "$(wc -l <outlived.csv)" -eq 2 "functions whose blocks outlived a clear, and a line of names"
grep -q 'Action::Create' outlived.csv || fail "another function: $(cat outlived.csv)"
echo "dump" | mprof-tui --fresh --script - scite.db >screen.txt || fail "the screen"
grep 'outlived a clear.*Action' screen.txt || fail "no finding on the first screen: $(cat screen.txt)"
exit "$failed"
