#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Measures what a million keys cost redis-server by their type, and what its defragmentation moves.
# redis is built with the jemalloc that it ships, as a library that the recorder can stand in front
# of.
. "$(dirname "$0")/common.sh"
keys=${1:-200000} # of each type

build_redis() {
    local own=$PWD/own_jemalloc
    # redis cleans its own copy whenever its settings change.
    cp -a deps/jemalloc "$own"
    (cd "$own" && ./configure --with-version=5.2.1-0-g0 --with-lg-quantum=3 --disable-cxx CFLAGS="-O2 -g -std=gnu99" &&
        make -j"$jobs" build_lib_shared) || return 1
    # Defragmentation allocates by mallocx(), around the caches of threads, which no recorder of malloc() sees.
    # Here it runs without any cache (MALLOC_CONF below), so that malloc() does the same.
    sed -i 's/ mallocx(size+PREFIX_SIZE, MALLOCX_TCACHE_NONE)/ malloc(size+PREFIX_SIZE)/
        s/ dallocx(ptr, MALLOCX_TCACHE_NONE)/ free(ptr)/' src/zmalloc.c
    make -j"$jobs" -C src MALLOC=libc OPTIMIZATION=-O2 DEBUG=-g redis-server \
        CFLAGS="-DUSE_JEMALLOC -DJEMALLOC_NO_DEMANGLE -I$own/include" LDFLAGS="-L$own/lib -Wl,-rpath,$own/lib" \
        FINAL_LIBS="-lm -ldl -pthread -lrt -ljemalloc"
}
unpack redis
build_once build_redis

socket=$(mktemp -u /tmp/mprof-redis-XXXXXX)
ask_redis() { redis-cli -s "$socket" "$@"; }
info() { ask_redis info memory | tr -d '\r' | sed -n "s/^$1://p"; }
marked() { ask_redis ping >/dev/null & mprof-ctl -q "$pid" mark "$1" || fail "no mark $1"; wait $!; }
# The table of keys grows, and moves its entries to the new one step by step. Waits until the old one is gone.
settled() {
    for _ in $(seq 1200); do
        ask_redis debug htstats 0 | grep -q 'rehashing target' || return 0
        sleep 0.1
    done
    fail "the table of keys does not come to rest"
}
# fill NAME FORMAT: one command for each key, whose number the format takes.
declare -A used
fill() {
    local before
    before=$(info used_memory)
    awk -v n="$keys" -v format="$2\n" 'BEGIN { for (i = 0; i < n; i++) printf format, i, i, i, i }' |
        ask_redis --pipe >fill.txt || fail "no keys of $1: $(cat fill.txt)"
    settled
    marked "$1"
    used[$1]=$(($(info used_memory) - before))
}

MALLOC_CONF=tcache:false mprof-run -q -o redis.bin -- "$source/src/redis-server" --port 0 --unixsocket "$socket" --save '' \
    --appendonly no --loglevel verbose --hz 100 --enable-debug-command local --daemonize no --dir "$work" >redis.log 2>&1 &
server=$!
trap 'ask_redis shutdown nosave >/dev/null 2>&1; rm -f "$socket"' EXIT
for _ in $(seq 600); do ask_redis ping >/dev/null 2>&1 && break; sleep 0.1; done
pid=$(ask_redis info server | tr -d '\r' | sed -n 's/^process_id://p')
[ -n "$pid" ] || fail "redis did not come up: $(cat redis.log)"
marked empty
fill string 'SET s:%d value-of-key-number-%d'
fill hash 'HSET h:%d name n%d place p%d number %d'
fill list 'RPUSH l:%d a%d b%d c%d'
fill set 'SADD t:%d %d 1%d 2%d'
fill zset 'ZADD z:%d 1 a%d 2 b%d 3 c%d'
is "$(ask_redis dbsize)" -eq $((5 * keys)) keys

declare -A state
look() { # MARK: jemalloc's own account, of its arenas as redis counts them, in bytes
    local name
    sleep 1 # redis asks jemalloc ten times a second, and tells what it was told last
    for name in allocated active resident; do state[$1.$name]=$(info allocator_$name); done
}
marked full
look full

# Three of four keys go, so that the pages of jemalloc are mostly holes.
for name in s h l t z; do
    awk -v n="$keys" -v name=$name 'BEGIN { for (i = 0; i < n; i++) if (i % 4) printf "DEL %s:%d\n", name, i }'
done | ask_redis --pipe >fill.txt || fail "not deleted"
settled
ask_redis memory purge >/dev/null
marked deleted
look deleted
ask_redis config set active-defrag-ignore-bytes 1 active-defrag-threshold-lower 1 active-defrag-threshold-upper 2 \
    active-defrag-cycle-min 50 active-defrag-cycle-max 90 activedefrag yes | grep -q OK || fail "no defragmentation"
# One pass over all keys. It begins the next one at once, as long as it is switched on.
for _ in $(seq 3000); do grep -q 'Active defrag done' redis.log && break; sleep 0.1; done
ask_redis config set activedefrag no >/dev/null
grep -q 'Active defrag done' redis.log || fail "defragmentation does not end: $(tail redis.log)"
ask_redis memory purge >/dev/null
marked moved
look moved
ask_redis shutdown nosave >/dev/null 2>&1
wait $server
mprof-ingest -q -o redis.db redis.bin || fail "ingest"
sane redis.db

# value FILTER: the number that the filter gives.
value() { mprof-export -f csv --filter "$1" redis.db | sed -n 2p | cut -d , -f 3; }
# per_key NUMBER: its share of one key, in hundredths.
per_key() { local hundred=$((($1 * 100 + keys / 2) / keys)); printf '%d.%02d' $((hundred / 100)) $((hundred % 100)); }

echo "$keys keys of each type, for one key:"
{
    row type blocks "bytes asked for" "bytes by redis"
    row --- ---: ---: ---:
    last=empty
    for name in string hash list set zset; do
        new=$(($(value "live at $name | sum size") - $(value "live at $last | sum size")))
        row $name "$(per_key $(($(value "live at $name | count") - $(value "live at $last | count"))))" "$(per_key $new)" "$(per_key ${used[$name]})"
        # redis counts what jemalloc rounds up to.
        is ${used[$name]} -ge $new "$name: redis's own count" >&2
        is $((used[$name] * 7)) -le $((new * 10)) "$name: redis's own count, at most 10/7" >&2
        last=$name
    done
} | tee keys.txt
on_page redis.md keys.txt

echo "Of a key of each type, by the types of its blocks:"
{
    row "key: block" blocks bytes
    row --- ---: ---:
    last=empty
    for name in string hash list set zset; do
        mprof-export -f csv --filter "live at $name - (live at $last) | join type | where allocations >= $((keys / 2)) | sort bytes desc" \
            -o types.csv redis.db || fail "types of $name"
        while IFS=, read -r type blocks bytes _; do
            row "$name: $(tr -d '"' <<<"$type")" "$(per_key "$blocks")" "$(per_key "$bytes")"
        done < <(tail -n +2 types.csv)
        last=$name
    done
} | tee types.txt
on_page redis.md types.txt 3

{
    row state "live blocks" "live, MiB" "allocated, MiB" "active, MiB" "resident, MiB" "active by allocated"
    row --- ---: ---: ---: ---: ---: ---:
    for name in full deleted moved; do
        blocks=$(value "live at $name | count") bytes=$(value "live at $name | sum size")
        allocated=${state[$name.allocated]} active=${state[$name.active]}
        # jemalloc holds for the program what it asked for, rounded up to classes of sizes.
        is "$bytes" -le "$allocated" "$name: bytes asked for and allocated" >&2
        is $((bytes * 13)) -ge $((allocated * 10)) "$name: bytes asked for and allocated, at most 1.3" >&2
        ratio=$((active * 100 / allocated))
        [ $name != deleted ] || is $ratio -gt 250 "before the defragmentation, active by allocated in hundredths" >&2
        [ $name != moved ] || is $ratio -lt 160 "after it" >&2
        row $name "$blocks" $((bytes >> 20)) $((allocated >> 20)) $((active >> 20)) $((${state[$name.resident]} >> 20)) \
            $((ratio / 100)).$((ratio / 10 % 10))
    done
} | tee state.txt
on_page redis.md state.txt 10

moved=$(value 'where stack ~ "activeDefragAlloc" | count')
echo "$moved blocks were allocated to move others"
# Half of the blocks of the live keys, and more.
is "$moved" -gt $((keys * 5 / 2)) "moved blocks"
exit $failed
