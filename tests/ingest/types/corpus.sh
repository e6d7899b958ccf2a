#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Types of the corpus: small cases that state what they allocate (tests/programs/types/corpus). They
# are built by gcc and clang in several ways, recorded, and judged by corpus.py. With MPROF_SOAK=1
# both compilers build every program with -O0, -O1, -O2, -O3, -Oz, and with -O2 and -O3 with -flto;
# otherwise each program in some of these ways.
set -u
here=$MPROF_SOURCE/tests/programs/types/corpus
command -v clang >/dev/null && command -v clang++ >/dev/null || exit 77
declare -A levels=([gcc]="-O0 -O2 -O3 -O2-flto" [clang]="-O1 -O2 -Oz -O2-flto")
if [ "${MPROF_SOAK:-0}" = 1 ]; then
    levels=([gcc]="-O0 -O1 -O2 -O3 -Oz -O2-flto -O3-flto" [clang]="-O0 -O1 -O2 -O3 -Oz -O2-flto -O3-flto")
fi
failed=0 sessions=()
# try COMPILER LEVEL PROGRAM…: builds, records and ingests.
try() {
    local compiler=$1 level=$2 flags program name build library own
    shift 2
    read -ra flags <<<"-g ${level/-flto/ -flto} -I$MPROF_SOURCE"
    "$compiler" "${flags[@]}" -c -o "corpus-$compiler$level.o" "$here/corpus.c" || { failed=1; return; }
    for program in "$@"; do
        name=${program%.*}-$compiler$level
        build=("$compiler") library=()
        [ "${program##*.}" = cpp ] && build=("${compiler/%gcc/g}++" -std=c++17)
        read -ra own < <(sed -n 's,^/\* flags: \(.*\) \*/$,\1,p' "$here/$program")
        if [ -e "$here/${program%.*}.h" ]; then # a library's classes
            library=("$PWD/lib$name.so")
            "${build[@]}" "${flags[@]}" -g0 -shared -fPIC -DDEFINED -o "${library[0]}" -x c++ \
                "$here/${program%.*}.h" || { failed=1; continue; }
        fi
        "${build[@]}" "${flags[@]}" "${own[@]}" -o "$name" "$here/$program" "corpus-$compiler$level.o" "${library[@]}" &&
            "$MPROF_BUILD/bin/mprof-run" -o "$name.bin" "./$name" 2>"$name.log" &&
            "$MPROF_BUILD/bin/mprof-ingest" --quiet --force -o "$name.db" "$name.bin" ||
            { echo "$name failed"; cat "$name.log"; failed=1; continue; }
        sessions+=("$name" "$name.db")
    done
}
mkdir -p corpus && cd corpus && rm -f -- * || exit 1
for compiler in gcc clang; do
    for level in ${levels[$compiler]}; do
        programs=(arrays.c makers.c structures.c objects.cpp placement.cpp elsewhere.cpp names.cpp)
        case ${MPROF_SOAK:-0}$compiler$level in # these take long to compile
        1*) programs+=(folded.cpp containers.cpp pools.cpp allocators.cpp debug_mode.cpp coroutines.cpp) ;;
        0gcc-O2 | 0gcc-O2-flto | 0clang-O2) programs+=(folded.cpp containers.cpp debug_mode.cpp coroutines.cpp) ;;
        0gcc-O0 | 0clang-Oz) programs+=(pools.cpp allocators.cpp) ;;
        0gcc-O3 | 0clang-O2-flto) programs+=(allocators.cpp) ;;
        esac
        try "$compiler" "$level" "${programs[@]}"
    done
done
python3 "$MPROF_SOURCE/tests/ingest/types/corpus.py" "${sessions[@]}" || failed=1
exit $failed
