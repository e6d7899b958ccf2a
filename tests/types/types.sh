#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# types.sh [PROGRAM…]: types of real programs. Builds them (programs.sh; a default few where none is
# named) from the distribution's source packages by gcc and clang with each of $MPROF_TYPES_FLAGS (-O2,
# -O3 and -O2 with -flto), records each, and prints how many allocation sites have a type and how many of these
# are right by what the source line states (truth.py). Works below $MPROF_TYPES. Status 1 where an
# exact type is wrong or the frames of its own stack contradict it.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck disable=SC2034
work=$MPROF_TYPES bin=$MPROF_BUILD/bin jobs=$(nproc)
[ $# -gt 0 ] || set -- redis lua5.4 sqlite3 gawk jq leveldb ninja-build libjsoncpp
"$here/fetch_sources.sh" "$work" "$@" || exit 1
say() { printf '%s\n' "types: $*" >&2; }

. "$here/programs.sh"

IFS=, read -ra variants <<<"${MPROF_TYPES_FLAGS:--O2,-O3,-O2 -flto}"
tables=()
for package in "$@"; do
    for pair in gcc:g++:gcc-ar clang:clang++:llvm-ar; do
        IFS=: read -r cc cxx ar <<<"$pair"
        for variant in "${variants[@]}"; do
            name=$package-$cc${variant// /} flags="$variant -g"
            if [ ! -f "$work/$name/built" ]; then
                say "building $name"
                rm -rf "${work:?}/$name" && cp -a "$work/src/$package" "$work/$name" &&
                    (cd "$work/$name" && "${package}_build" "$cc" "$cxx" >build.log 2>&1 && touch built) ||
                    { say "$name cannot be built, see $work/$name/build.log"; exit 1; }
            fi
            record=("$bin/mprof-run" -o "$work/$name.bin" --)
            rm -rf "$work/$name".bin "$work/$name".bin.d # what other processes of the run wrote
            (cd "$work/$name" && "${package}_run") 2>"$work/$name.log"
            "$bin/mprof-ingest" --quiet --force -o "$work/$name.db" "$work/$name.bin" ||
                { say "$name was not recorded, see $work/$name.log"; exit 1; }
            tables+=("$name" "$work/$name.db" "$work/$name")
        done
    done
done
exec python3 "$here/truth.py" "${tables[@]}"
