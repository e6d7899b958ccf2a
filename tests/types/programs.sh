# SPDX-License-Identifier: BSD-2-Clause
# How each program of types.sh is built (PROGRAM_build CC CXX, with "$flags", in its own copy of the
# sources) and run (PROGRAM_run, with "${record[@]}" in front of what is recorded). "$here" has what
# they work on.
# shellcheck shell=bash disable=SC2154,SC2086

redis_build() { # CC CXX
    make -s -C src -j "$jobs" CC="$1" MALLOC=libc OPTIMIZATION="${flags%% *}" CFLAGS="$flags" LDFLAGS="$flags" redis-server
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
    make -s -C src -j "$jobs" CC="$1" CFLAGS="$flags -DLUA_COMPAT_5_3 -DLUA_USE_LINUX" MYLIBS="-ldl" MYLDFLAGS="-Wl,-E $flags" AR="$ar rcu" RANLIB="$ar s" lua
}
lua5.4_run() { "${record[@]}" src/lua "$here/work.lua" >/dev/null; }
leveldb_build() {
    cmake -S . -B out -DCMAKE_BUILD_TYPE=None -DCMAKE_C_COMPILER="$1" -DCMAKE_CXX_COMPILER="$2" \
        -DCMAKE_CXX_FLAGS="$flags" -DCMAKE_AR="$(command -v "$ar")" -DCMAKE_RANLIB=/bin/true -DCMAKE_CXX_STANDARD=11 -DLEVELDB_BUILD_TESTS=OFF -DLEVELDB_BUILD_BENCHMARKS=OFF \
        -DHAVE_SNAPPY=0 -DHAVE_TCMALLOC=0 -DHAVE_CRC32C=0 >/dev/null &&
        cmake --build out -j "$jobs" >/dev/null &&
        "$2" -std=c++11 $flags -Iinclude "$here/work.cc" out/libleveldb.a -o work -lpthread
}
gawk_build() {
    ./configure CC="$1" CFLAGS="$flags" --disable-nls --disable-extensions --disable-mpfr --without-readline &&
        make -s -j "$jobs" SUBDIRS="support ."
}
gawk_run() { "${record[@]}" ./gawk -f "$here/work.awk" /etc/passwd /etc/group >/dev/null; }
sqlite3_build() {
    ./configure --disable-tcl --disable-readline CC="$1" CFLAGS="$flags" && make -s sqlite3.c shell.c &&
        "$1" $flags -DSQLITE_OMIT_LOOKASIDE -DSQLITE_ENABLE_FTS5 -DSQLITE_ENABLE_RTREE -o work shell.c sqlite3.c -lm -ldl -lpthread
}
sqlite3_run() { rm -f data.db && "${record[@]}" ./work data.db <"$here/work.sql" >/dev/null; }
ninja-build_build() {
    cmake -S . -B out -DCMAKE_BUILD_TYPE=None -DCMAKE_C_COMPILER="$1" -DCMAKE_CXX_COMPILER="$2" \
        -DCMAKE_CXX_FLAGS="$flags" -DCMAKE_AR="$(command -v "$ar")" -DCMAKE_RANLIB=/bin/true -DBUILD_TESTING=OFF >/dev/null && cmake --build out -j "$jobs" --target ninja >/dev/null
}
ninja-build_run() {
    rm -rf data && mkdir data && cp "$here/work.ninja" data/build.ninja && touch data/{a,b,c}.in &&
        "${record[@]}" out/ninja -C data >/dev/null
}
leveldb_run() { rm -rf data && "${record[@]}" ./work data; }

# ---- programs that the rules were not made with ---------------------------------------------

jq_build() { # without its configure script, which wants autoconf
    local has
    has=$(sed -n 's/^#ifdef \(HAVE_[A-Z0-9_]*\)/-D\1/p' src/libm.h | grep -v POW10 | sort -u | tr '\n' ' ')
    sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/"/' -e 's/$/\\n"/' src/builtin.jq >src/builtin.inc
    echo '#define JQ_VERSION "1.6"' >src/version.h
    # shellcheck disable=SC2086
    "$1" $flags -I. -Isrc -D_GNU_SOURCE -DIEEE_8087=1 -DHAVE_TM_TM_GMT_OFF=1 -DHAVE_TIMEGM=1 -DHAVE_STRPTIME=1 \
        -DHAVE_GMTIME_R=1 -DHAVE_MKTIME=1 -DHAVE_GMTIME=1 -DHAVE_LOCALTIME_R -DHAVE_STRFTIME -DHAVE_SETLOCALE \
        -DHAVE_ISATTY -DHAVE_PTHREAD -DHAVE_PTHREAD_KEY_CREATE -DHAVE_ATEXIT -DHAVE_MEMMEM $has -o jq \
        src/{builtin,bytecode,compile,execute,jq_test,jv,jv_alloc,jv_aux,jv_dtoa,jv_file,jv_parse,jv_print,jv_unicode,linker,locfile,util,main,lexer,parser}.c \
        -lm -lpthread
}
jq_run() {
    mkdir -p modules
    echo 'def f(x): x*2; def g: [.[]|tostring];' >modules/m.jq
    printf '{"a":[1,2,{"b":"text","c":[null,true,1.5e10]}],"long":"%0200d"}\n[1,2,3,4,5]\n' 7 >work.json
    "${record[@]}" ./jq -L modules --arg v 1 --argjson w '{"k":[1]}' -f "$here/work.jq" work.json >/dev/null
}
libjsoncpp_build() { "$2" $flags -Iinclude -o work "$here/work_json.cc" src/lib_json/*.cpp; }
libjsoncpp_run() { "${record[@]}" ./work >/dev/null; }
tinyxml2_build() { "$2" $flags -I. -o work "$here/work_xml.cc" tinyxml2.cpp; }
tinyxml2_run() { "${record[@]}" ./work >/dev/null; }
yaml-cpp_build() { "$2" -std=c++11 $flags -Iinclude -Isrc -o work "$here/work_yaml.cc" src/*.cpp src/contrib/*.cpp; }
yaml-cpp_run() { "${record[@]}" ./work >/dev/null; }
libzstd_build() {
    make -s -C programs -j "$jobs" CC="$1" CFLAGS="$flags" HAVE_LZMA=0 HAVE_LZ4=0 HAVE_ZLIB=0 zstd
}
libzstd_run() { "${record[@]}" bash "$here/work_zstd.sh" >/dev/null; }
tmux_build() { ./configure CC="$1" CFLAGS="$flags" --disable-utf8proc && touch cmd-parse.c && make -s -j "$jobs"; }
tmux_run() {
    local server
    "${record[@]}" ./tmux -f /dev/null -L "types$$" -D &
    server=$!
    bash "$here/work_tmux.sh" "./tmux -N -f /dev/null -L types$$" >/dev/null
    wait $server
}
