#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# redis-server (jemalloc inside, no frame pointers) under a bounded loopback load.
. "$(dirname "$0")/common.sh"
command -v redis-server >/dev/null && command -v redis-benchmark >/dev/null || exit 77

# The path of a socket has at most 107 bytes, which $work may exceed.
sockets=$(mktemp -d)
trap 'rm -rf "$sockets"' EXIT
socket=$sockets/s
mprof-run -o redis.bin -- redis-server --port 0 --unixsocket "$socket" --save '' --appendonly no \
    --daemonize no --logfile redis.log --dir "$work" &
server=$!
for _ in $(seq 2000); do redis-cli -s "$socket" ping >/dev/null 2>&1 && break; sleep 0.05; done
redis-cli -s "$socket" ping | grep -q PONG || fail "redis did not come up: $(cat redis.log)"
redis-benchmark -s "$socket" -q -n 5000 -c 10 -r 5000 -d 100 -t set,get,lpush,sadd,hset >benchmark.txt || fail "benchmark"
keys=$(redis-cli -s "$socket" dbsize | tr -dc 0-9)
used=$(redis-cli -s "$socket" info memory | sed -n 's/^used_memory:\([0-9]*\).*/\1/p')
redis-cli -s "$socket" shutdown nosave >/dev/null 2>&1
wait $server
is $? -eq 0 "redis's exit status"

mprof-ingest -o redis.db redis.bin || fail "ingest"
sane redis.db
well_unwound redis.db
is "$(meta redis.db threads)" -ge 4 "threads"
is "$keys" -gt 1000 "keys"
# The server counts usable sizes. The session has the sizes asked for, which are a little less.
peak=$(meta redis.db peak_bytes)
echo "peak $peak bytes by the session, used_memory $used by redis"
is "$peak" -le $((used * 11 / 10)) "peak against used_memory"
is "$peak" -ge $((used * 6 / 10)) "peak against used_memory"
# Each key is an entry of the main dictionary: a block of dictAddRaw (redis 8: dictInsertAtPosition), live at the peak.
is "$(ask redis.db "SELECT sum(st.at_peak_count) FROM stack st JOIN function f ON f.id = st.function_id WHERE f.name IN ('dictAddRaw', 'dictInsertAtPosition')")" -ge "$keys" "dictionary entries"
mprof-tui --script /dev/null --size 80x24 redis.db >screen.txt || fail "the browser"
grep -q redis-server screen.txt || fail "the browser does not name the program"
