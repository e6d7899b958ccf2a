#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# `cmake --install` into an empty folder gives a set that works from there, man pages included.
. "$(dirname "$0")/common.sh"
cmake --install "$MPROF_BUILD" --prefix "$work/usr" >install.txt || fail "install"
for program in mprof-run mprof-ctl mprof-ingest mprof-tui mprof-report mprof-export; do
    [ -x "usr/bin/$program" ] || fail "$program is not installed"
    [ -f "usr/share/man/man1/$program.1" ] || fail "$program.1 is not installed"
    [ -f "usr/share/bash-completion/completions/$program" ] || fail "completion of $program"
    [ -f "usr/share/zsh/site-functions/_$program" ] && [ -f "usr/share/fish/vendor_completions.d/$program.fish" ] || fail "completions of $program"
done
# The documents lead from one to the other as in the sources, and the first page's examples are there.
(cd usr/share/doc/mprof && find . -name '*.md' -printf '%P\n' | python3 "$MPROF_SOURCE/packaging/site/links.py") >links.txt ||
    fail "installed documents: $(cat links.txt)"
for example in calculator.cpp leaking_requests.cpp pace.h budgets/heap.budgets; do
    [ -f "usr/share/doc/mprof/docs/examples/$example" ] || fail "the example $example is not installed"
done
export PATH="$work/usr/bin:/usr/bin:/bin"
mprof-run --quiet -o ls.bin -- ls / >listing.txt || fail "recording by the installed set"
mprof-ingest -q -o ls.db ls.bin || fail "ingest by the installed set"
sane ls.db
[ -f usr/share/metainfo/mprof.metainfo.xml ] || fail "no description of the program is installed"
# The examples of the page about the whole.
sed -n '/^\.SH EXAMPLES/,/^\.fi/{/^\./d; s/\\-/-/g; p}' usr/share/man/man1/mprof.1 >examples.sh
rm -f ls.bin ls.db
bash -euo pipefail examples.sh >examples.txt || fail "an example of mprof.1"
is "$(tail -n 5 examples.txt | grep -c '|[1-9][0-9]*$')" -eq 5 "functions that the examples of mprof.1 list"
# The whole set works from another place, too.
mv usr moved && hash -r
export PATH="$work/moved/bin:/usr/bin:/bin"
mprof-run --quiet -o ls.bin --force -- ls / >listing.txt || fail "recording by the moved set"
library=$(dirname "$(find "$work/moved" -name libmprof.so.0)")
for private in libmprof.so libmprof_sized.so libmprof_operators.so libmprof_python.so libmprof_session.so mprof_sqlite.so; do
    [ -f "$library/mprof/$private" ] || fail "$private is not installed"
done
# No reader of sessions has a second engine in itself.
for program in mprof-tui mprof-report mprof-export; do
    readelf -d "moved/bin/$program" | grep -q 'NEEDED.*libmprof_session\.so' || fail "$program does not need the session library"
    is "$(nm "moved/bin/$program" | grep -c ' T session_open$')" -eq 0 "engines in $program"
done
mprof-report ls.db >report.txt || fail "reporting by the moved set"
# It is only built where the headers of ECL are.
if [ -e "$MPROF_BUILD/lib/libmprof_ecl.so" ] && ! [ -f "$library/mprof/libmprof_ecl.so" ]; then
    fail "libmprof_ecl.so is not installed"
fi
is "$(sqlite3 ls.db ".load $library/mprof/mprof_sqlite" "SELECT allocations FROM graph('all | join kind') LIMIT 1" | wc -l)" -eq 1 "graph() of the moved set"

# The options for a program, as pkg-config and CMake tell them.
cat >linked.c <<'C'
#include <mprof.h>
#include <stdlib.h>
int main(void)
{
    mprof_mark("begin");
    free(malloc(100));
    return 0;
}
C
cat >linked.cpp <<'C'
#include <mprof.h>
#include <define_new.h>
struct Widget { double a, b, c; };
int main() { Widget *widget = new Widget; delete widget; }
C
export PKG_CONFIG_PATH="$library/pkgconfig"
# shellcheck disable=SC2046 # pkg-config prints several words
cc -fno-builtin -o linked linked.c $(pkg-config --cflags --libs mprof) -Wl,-rpath,"$library" || fail "linking by pkg-config"
# shellcheck disable=SC2046
c++ -fno-builtin -o linked_cxx linked.cpp $(pkg-config --cflags --libs mprof) -Wl,-rpath,"$library" || fail "linking C++ by pkg-config"
is "$(pkg-config --modversion mprof | tr -d .)" -eq "$(mprof-run --version | tr -dc 0-9)" "the version"
mkdir project && cat >project/CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.16)
project(linked C CXX)
find_package(mprof 0.1 REQUIRED)
add_compile_options(-fno-builtin)
add_executable(linked_cmake ../linked.c)
target_link_libraries(linked_cmake mprof::mprof)
add_executable(linked_cxx ../linked.cpp)
target_link_libraries(linked_cxx mprof::mprof)
add_executable(linked_static ../linked.c)
target_link_libraries(linked_static -static mprof::static)
CMAKE
cmake -S project -B project/build -DCMAKE_PREFIX_PATH="$work/moved" >cmake.txt 2>&1 && cmake --build project/build >>cmake.txt 2>&1 ||
    fail "a project of CMake: $(tail -5 cmake.txt)"
cp project/build/linked_cmake project/build/linked_static .
for program in linked linked_cmake linked_static; do
    MPROF_OUTPUT=$program.bin ./$program || fail "the program $program"
    mprof-ingest -q -o $program.db $program.bin || fail "ingest of the trace of $program"
    is "$(ask $program.db "SELECT count(*) FROM allocation WHERE size = 100")" -eq 1 "the block of $program"
    is "$(ask $program.db "SELECT count(*) FROM mark WHERE name = 'begin'")" -eq 1 "its mark"
done
for program in ./linked_cxx project/build/linked_cxx; do
    MPROF_OUTPUT=cxx.bin $program && mprof-ingest -q --force -o cxx.db cxx.bin || fail "the program of C++"
    is "$(ask cxx.db "SELECT count(*) FROM v_allocation WHERE type = 'Widget' AND confidence = 'exact'")" -eq 1 "the named type"
    rm cxx.bin
done

# A linked program has one recorder when mprof-run preloads its own.
mprof-run --quiet -o both.bin -- sh -c 'exec ./linked' 2>both.txt && mprof-ingest -q -o both.db both.bin || fail "a linked program under mprof-run: $(cat both.txt)"
is "$(ask both.db "SELECT count(*) FROM allocation WHERE size = 100")" -eq 1 "the block of a linked program"
LD_DEBUG=libs mprof-run --quiet -o once.bin -- ./linked 2>&1 | grep -o 'calling init: .*libmprof\.so.*' | sort -u >inits.txt
is "$(wc -l <inits.txt)" -eq 1 "recorders in a linked program"
