#!/usr/bin/env bash
# Types of real programs: builds redis, lua, sqlite3, gawk, leveldb and ninja from the distribution's source packages with
# -O2 -g by gcc and clang, records each, and prints how many allocation sites have a type and how
# many of these are right by what the source line states (truth.py). Works below $MPROF_TYPES.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$MPROF_TYPES bin=$MPROF_BUILD/bin jobs=$(nproc)
[ $# -gt 0 ] || set -- redis lua5.4 sqlite3 gawk leveldb ninja-build
"$here/fetch_sources.sh" "$work" "$@" || exit 1
say() { printf '%s\n' "types: $*" >&2; }

redis_build() { # CC CXX
    make -s -C src -j "$jobs" CC="$1" MALLOC=libc OPTIMIZATION=-O2 CFLAGS="-O2 -g" redis-server
}
redis_run() {
    local port=7391 server
    "${record[@]}" src/redis-server --port $port --save '' --daemonize no --dir . >/dev/null &
    server=$!
    for ((i = 0; i < 300; i++)); do redis-cli -p $port ping 2>/dev/null | grep -q PONG && break; sleep 0.1; done
    redis-benchmark -p $port -q -n 2000 -r 500 -t set,get,incr,lpush,lpop,sadd,hset,zadd,lrange,mset >/dev/null
    redis-cli -p $port <<'R' >/dev/null
EVAL "return redis.call('set','k','v')" 0
XADD s * a b
PFADD h a b c
GEOADD g 13.3 38.1 p
CONFIG SET maxmemory-policy allkeys-lru
ACL SETUSER u on >p ~* +@all
MULTI
SET a b
EXEC
SHUTDOWN NOSAVE
R
    redis-cli -p $port shutdown nosave 2>/dev/null
    wait $server
}
lua5.4_build() {
    make -s -C src -j "$jobs" CC="$1" CFLAGS="-O2 -g -DLUA_COMPAT_5_3 -DLUA_USE_LINUX" MYLIBS="-ldl" MYLDFLAGS=-Wl,-E lua
}
lua5.4_run() { "${record[@]}" src/lua "$here/work.lua" >/dev/null; }
leveldb_build() {
    cmake -S . -B out -DCMAKE_BUILD_TYPE=None -DCMAKE_C_COMPILER="$1" -DCMAKE_CXX_COMPILER="$2" \
        -DCMAKE_CXX_FLAGS="-O2 -g" -DCMAKE_CXX_STANDARD=11 -DLEVELDB_BUILD_TESTS=OFF -DLEVELDB_BUILD_BENCHMARKS=OFF \
        -DHAVE_SNAPPY=0 -DHAVE_TCMALLOC=0 -DHAVE_CRC32C=0 >/dev/null &&
        cmake --build out -j "$jobs" >/dev/null &&
        "$2" -std=c++11 -O2 -g -Iinclude "$here/work.cc" out/libleveldb.a -o work -lpthread
}
gawk_build() {
    ./configure CC="$1" CFLAGS="-O2 -g" --disable-nls --disable-extensions --disable-mpfr --without-readline &&
        make -s -j "$jobs" SUBDIRS="support ."
}
gawk_run() { "${record[@]}" ./gawk -f "$here/work.awk" /etc/passwd /etc/group >/dev/null; }
sqlite3_build() {
    ./configure --disable-tcl --disable-readline CC="$1" CFLAGS="-O2 -g" && make -s sqlite3.c shell.c &&
        "$1" -O2 -g -DSQLITE_OMIT_LOOKASIDE -DSQLITE_ENABLE_FTS5 -DSQLITE_ENABLE_RTREE -o work shell.c sqlite3.c -lm -ldl -lpthread
}
sqlite3_run() { rm -f data.db && "${record[@]}" ./work data.db <"$here/work.sql" >/dev/null; }
ninja-build_build() {
    cmake -S . -B out -DCMAKE_BUILD_TYPE=None -DCMAKE_C_COMPILER="$1" -DCMAKE_CXX_COMPILER="$2" \
        -DCMAKE_CXX_FLAGS="-O2 -g" -DBUILD_TESTING=OFF >/dev/null && cmake --build out -j "$jobs" --target ninja >/dev/null
}
ninja-build_run() {
    rm -rf data && mkdir data && cp "$here/work.ninja" data/build.ninja && touch data/{a,b,c}.in &&
        "${record[@]}" out/ninja -C data >/dev/null
}
leveldb_run() { rm -rf data && "${record[@]}" ./work data; }

tables=()
for package in "$@"; do
    for pair in gcc:g++ clang:clang++; do
        name=$package-${pair%%:*}
        if [ ! -f "$work/$name/built" ]; then
            say "building $name"
            rm -rf "${work:?}/$name" && cp -a "$work/src/$package" "$work/$name" &&
                (cd "$work/$name" && "${package}_build" "${pair%%:*}" "${pair##*:}" >build.log 2>&1 && touch built) ||
                { say "$name cannot be built, see $work/$name/build.log"; exit 1; }
        fi
        record=("$bin/mprof-run" -o "$work/$name.bin" --)
        rm -f "$work/$name.bin"
        (cd "$work/$name" && "${package}_run") 2>"$work/$name.log"
        "$bin/mprof-ingest" --quiet --force -o "$work/$name.db" "$work/$name.bin" ||
            { say "$name was not recorded, see $work/$name.log"; exit 1; }
        tables+=("$name" "$work/$name.db" "$work/$name")
    done
done
exec python3 "$here/truth.py" "${tables[@]}"
