#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# All but the recorder builds for aarch64 by Debian's cross compiler, without a warning. Its unit
# tests pass under qemu-user, and it makes the same sessions and screens as the build of this
# machine. ./dev soak makes the root with compiler and libraries: $MPROF_CROSS_ROOT.
. "$(dirname "$0")/common.sh"
root=${MPROF_CROSS_ROOT:-}
[ -n "$root" ] && [ -x "$root/usr/bin/qemu-aarch64" ] || { echo "skipped: ./dev soak makes a root with a cross compiler"; exit 77; }
[ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null || { echo "skipped: only root can enter another root"; exit 77; }
mkdir -p "$root"/{src,build} build || fail "no places to mount in $root"

# These unit tests take minutes each under an emulator, and their work is the same on each architecture.
left_out=(
    # Compare the engine's answers with those of SQL. Tests of their parts do run: the kernels,
    # scans, columns, groups' shapes and sums.
    test_filters test_queries test_groups test_list test_other_sessions
    # Change byte after byte of a session. The corpora of the fuzzers run.
    test_damage
    # Press keys and follow where they lead. The screens are compared below.
    test_every_key test_steps
)

# within COMMAND: runs it in the root, where /src is the sources and /build the folder "build" here. The
# environment does not go with it: it names programs that the root lacks, and asks for the soak's length.
within() {
    unshare -m bash -c 'mount -t proc none "$1/proc" && mount --bind "$2" "$1/src" && mount --bind "$3" "$1/build" &&
        exec chroot "$1" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 TZ=UTC \
            /bin/bash -euc "$4"' bash "$root" "$MPROF_SOURCE" "$work/build" "cd /build; $1"
}
within "cmake -S /src -B /build -DCMAKE_TOOLCHAIN_FILE=/src/cmake/aarch64.cmake -DMPROF_WERROR=ON
    cmake --build /build -j$(nproc)" >build.txt 2>&1 || fail "building: $(tail -n 30 build.txt)"
for program in mprof-ingest mprof-tui mprof-report mprof-export; do
    readelf -h "build/bin/$program" | grep -q AArch64 || fail "$program is not for aarch64"
done
[ ! -e build/bin/mprof-run ] || fail "there is a recorder"
within "ctest --output-on-failure -L 'unit|faults' -E '^($(IFS='|'; echo "${left_out[*]}"))\$' -j$(nproc)" >unit.txt 2>&1 || fail "unit tests: $(tail -n 60 unit.txt)"
is "$(grep -c ' Passed ' unit.txt)" -ge 80 "unit tests under qemu-user"

# The same traces give the same sessions, and these the same screens.
count=0
for trace in "$MPROF_SOURCE"/tests/golden/trace/*.bin; do
    name=$(basename "$trace" .bin)
    mprof-ingest -q -o "$name.db" "$trace" >/dev/null 2>&1 || continue
    within "qemu-aarch64 bin/mprof-ingest -q -f -o $name.db /src/tests/golden/trace/$name.bin" >ingest.txt 2>&1 || fail "ingest of $name: $(cat ingest.txt)"
    # Only the folder of the sources has another name.
    sqlite3 "$name.db" .dump | sed "s,$MPROF_SOURCE/,/src/,g" >"$name.db.sql"
    sqlite3 "build/$name.db" .dump >"build/$name.db.sql"
    cmp -s "$name.db.sql" "build/$name.db.sql" || fail "$name: $(diff "$name.db.sql" "build/$name.db.sql" | head -n 5)"
    for keys in 1 2 3 4 8; do
        printf 'key %s\ndump\n' $keys >build/keys
        mprof-tui --script build/keys --size 80x24 "$name.db" >here.txt 2>&1 || fail "the browser here on $name"
        within "qemu-aarch64 bin/mprof-tui --script keys --size 80x24 $name.db" >there.txt 2>&1 || fail "the browser on $name: $(cat there.txt)"
        cmp -s here.txt there.txt || fail "$name, view $keys: $(diff here.txt there.txt | head -n 5)"
    done
    count=$((count + 1))
done
is $count -ge 3 "sessions compared"
rm -rf build
