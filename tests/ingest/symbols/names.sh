#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Names by symbol alone, compared with nm: a program without DWARF, one with only the dynamic table,
# libraries of the system; the linkage table; a stripped program; a separate debug file.
set -u
here=$MPROF_SOURCE/tests/ingest/symbols
symbolize=$MPROF_BUILD/tests/symbolize
command -v g++ nm objdump objcopy strip /usr/bin/python3 >/dev/null || exit 77
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
bad=0
fail() { echo "$*"; bad=1; }
names() { /usr/bin/python3 "$here/compare_nm.py" "$symbolize" "$@" || bad=1; }
# first_name FILE ADDRESS [OPTIONS]: prints the name and writes the status into $work/status
first_name() { echo "$2" | "$symbolize" "${@:3}" "$1" 2>"$work/status" | sed -n 2p; }
expect() { [ "$1" = "$2" ] || fail "expected '$2', got '$1' ($3)"; }

(cd "$here/programs" && g++ -O2 -w -o "$work/symtab" shapes.cpp second.cpp) || exit 1
names "$work/symtab"
(cd "$here/programs" && g++ -O2 -w -rdynamic -s -o "$work/dynsym" shapes.cpp second.cpp) || exit 1
names "$work/dynsym" --dynamic
strip -g -o "$work/libmprof.so" "$MPROF_BUILD/lib/libmprof.so"
names "$work/libmprof.so"

# Among aliases the global name without underscores wins. An IFUNC has its public name.
(cd "$here/programs" && gcc -O2 -o "$work/plain" plain.c) || exit 1
at=$(nm "$work/plain" | awk '$3 == "visible_length" {print $1}')
expect "$(first_name "$work/plain" "$at")" visible_length "aliases"
expect "$(cat "$work/status")" symtab "status"

# Entries of the linkage table.
objdump -d -j .plt -j .plt.sec -j .plt.got "$work/plain" 2>/dev/null |
    sed -n 's/^\([0-9a-f]*\) <\([^*+]*@plt\)>:$/\1 \2/p' >"$work/plt"
[ -s "$work/plt" ] || fail "objdump shows no linkage table"
while read -r at name; do
    expect "$(first_name "$work/plain" "$at")" "$name" "linkage table"
done <"$work/plt"

# Without any symbol, the whole function has one name: the module and where the function begins.
read -r start size < <(nm -S "$work/plain" | awk '$4 == "visible_length" {print $1, $2}')
strip -o "$work/stripped" "$work/plain"
want=$(printf 'stripped+0x%x' "0x$start")
for offset in 0 1 $((0x$size - 1)); do
    expect "$(first_name "$work/stripped" "$(printf '%x' $((0x$start + offset)))")" "$want" "stripped"
done

# Inlined functions without a linkage name: the name tells what they lie in. With gcc it comes from
# its own debug information and from a split one; with clang the linkage names tell it.
qualified() { # SOURCE COMPILER FLAGS NAME...: the function of each call of malloc, inlined or not
    local source=$1 compiler=$2 flags=$3 name at
    shift 3
    # shellcheck disable=SC2086
    (cd "$work" && $compiler -O2 $flags -w -o qualified "$here/programs/$source") || { fail "$compiler $flags"; return; }
    for at in $(objdump -d "$work/qualified" | awk '/(call|jmp).*<malloc@plt>/ {sub(":", "", $1); print $1}'); do
        first_name "$work/qualified" "$at"
    done | sort -u >"$work/qualified.txt"
    for name in "$@"; do
        grep -qxF "$name" "$work/qualified.txt" || fail "$compiler $flags: no '$name' in $(cat "$work/qualified.txt")"
    done
    [ "$(wc -l <"$work/qualified.txt")" -eq $# ] || fail "$compiler $flags: $(cat "$work/qualified.txt")"
}
for flags in -g "-g -gdwarf-4" "-g -gsplit-dwarf"; do
    qualified qualified.cpp g++ "$flags" "shop::fill(int)::{lambda}::operator()" "shop::fill(int)::Local::grab" \
        "shop::(anonymous namespace)::hidden"
done
# A function that is inlined and also has code of its own has one name in both places. Names that
# clang's line tables alone leave out are not made up.
for flags in -g -g1 "-g -gsplit-dwarf"; do
    qualified partly.cpp g++ "$flags" "shop::grab(int)"
done
if command -v clang++ >/dev/null; then
    qualified qualified.cpp clang++ -g "shop::fill(int)::\$_0::operator()(int) const" \
        "shop::fill(int)::Local::grab(int)" "shop::(anonymous namespace)::hidden(int)"
    qualified partly.cpp clang++ -g "shop::grab(int)"
    qualified partly.cpp clang++ -gline-tables-only "shop::grab(int)" grab
fi

# A separate debug file by .gnu_debuglink, and by build-id under --debug-dir.
(cd "$here/programs" && gcc -O2 -g -Wl,--build-id -o "$work/whole" plain.c) || exit 1
at=$(nm "$work/whole" | awk '$3 == "main" {print $1}')
want=$(echo "$at" | "$symbolize" "$work/whole" 2>/dev/null)
mkdir -p "$work/link/.debug" "$work/debug"
objcopy --only-keep-debug "$work/whole" "$work/link/.debug/whole.debug"
strip -o "$work/link/whole" "$work/whole"
(cd "$work/link/.debug" && objcopy --add-gnu-debuglink=whole.debug ../whole) || bad=1
expect "$(echo "$at" | "$symbolize" "$work/link/whole" 2>"$work/status")" "$want" ".gnu_debuglink"
expect "$(cat "$work/status")" dwarf "status of .gnu_debuglink"
id=$(readelf -n "$work/whole" | sed -n 's/.*Build ID: //p')
mkdir -p "$work/debug/.build-id/${id:0:2}"
cp "$work/link/.debug/whole.debug" "$work/debug/.build-id/${id:0:2}/${id:2}.debug"
strip -o "$work/bare" "$work/whole"
expect "$(echo "$at" | "$symbolize" --debug-dir "$work/debug" "$work/bare" 2>"$work/status")" \
    "$want" "--debug-dir"
expect "$(cat "$work/status")" dwarf "status of --debug-dir"
# The same with its common parts in a file of their own, as in Debian's debug packages.
if command -v dwz >/dev/null; then
    cp "$work/whole" "$work/copy" && cp "$work/whole" "$work/copy2"
    (cd "$work" && dwz -m "$work/common.debug" copy copy2 2>/dev/null) &&
        expect "$(echo "$at" | "$symbolize" "$work/copy" 2>/dev/null)" "$want" ".gnu_debugaltlink"
fi
exit $bad
