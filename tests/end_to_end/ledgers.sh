#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The ledger of RSS on programs of others, at their ends, when they wait to be read: it adds up, agrees with
# the kernel's counter, and leaves at most 1 % without a name.
. "$(dirname "$0")/common.sh"

# adds_up SESSION
adds_up() {
    is "$(ask "$1" "SELECT count(*) FROM residency WHERE reason = 'end'")" -ge 1 "$1: moments at the end"
    is "$(ask "$1" "SELECT count(*) FROM residency r WHERE present <> (SELECT sum(bytes) FROM residency_class c
        WHERE c.residency_id = r.id AND in_rss)")" -eq 0 "$1: moments that do not add up"
    is "$(ask "$1" "SELECT count(*) FROM residency WHERE NOT ns BETWEEN begin_ns AND end_ns")" -eq 0 "$1: moments outside their reading"
    is "$(ask "$1" "SELECT count(*) FROM residency WHERE allocator <> 'glibc' AND present > 4000000")" -eq 0 "$1: moments without the allocator's rules"
    # The kernel counts in batches for each processor: up to 64 pages of each may be missing.
    is "$(ask "$1" "SELECT count(*) FROM residency WHERE reason = 'end' AND
        NOT present BETWEEN min(rss_before, rss_after) - present / 500 - $(nproc) * 262144
                        AND max(rss_before, rss_after) + present / 500 + $(nproc) * 262144")" -eq 0 "$1: moments off the kernel's counter"
    is "$(ask "$1" "SELECT count(*) FROM residency r WHERE reason = 'end' AND present < 100 *
        (SELECT ifnull(sum(bytes), 0) FROM residency_class c WHERE c.residency_id = r.id AND
         (class = 'unattributed' OR (class = 'other_anonymous' AND (detail = '' OR detail GLOB '*[0-9a-f]-[0-9a-f]*'))))")" -eq 0 "$1: moments with more than 1 % of no name"
}
record() { # NAME COMMAND…
    mprof-run --quiet --residency=100ms -o "$1.bin" -- "${@:2}" >"$1.out" 2>&1 || fail "$1: $(cat "$1.out")"
    mprof-ingest --quiet -o "$1.db" "$1.bin" && adds_up "$1.db"
}

# One in 256 chunks of an arena lies as if it were mapped by itself.
cat >chunks.c <<'C'
#include <malloc.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>
static void *fill(void *unused)
{
    for (int i = 0; i < 400; i++)
        memset(malloc(131168), 1, 131168);
    usleep(400000);
    return unused;
}
int main(void)
{
    pthread_t thread;
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    pthread_create(&thread, NULL, fill, NULL);
    return pthread_join(thread, NULL);
}
C
gcc -O1 -o chunks chunks.c || exit 1
record chunks ./chunks
is "$(ask chunks.db "SELECT sum(bytes) * 100 / max(r.present) FROM residency r JOIN residency_class ON residency_id = r.id
    WHERE reason = 'end' AND class = 'live_resident'")" -ge 90 "chunks: per cent live"

# A child writes to half of its parent's heap, which it shares until then, and prints what the kernel shares and
# what not. Its own heap lies behind: 10,000,000 bytes are live, and as many free.
cat >forks.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
enum { BLOCKS = 40000, SIZE = 1008, OWN = 1000, OWN_SIZE = 20000 };
static char *blocks[BLOCKS], *own[OWN], buffer[1 << 16];
int main(void)
{
    char line[256], *heap = NULL;
    unsigned long shared = 0, private = 0, kib;
    int status = 0;
    for (int i = 0; i < BLOCKS; i++)
        memset(blocks[i] = malloc(SIZE), 1, SIZE);
    const pid_t child = fork();
    if (child > 0)
        return waitpid(child, &status, 0) < 0 || status != 0;
    free(malloc(10)); /* the trace of the child begins */
    for (int i = 0; i < BLOCKS / 2; i++)
        blocks[i][0] = 2;
    FILE *smaps = fopen("/proc/self/smaps", "r");
    if (!smaps)
        return 1;
    setvbuf(smaps, buffer, _IOFBF, sizeof(buffer));
    while (fgets(line, sizeof(line), smaps)) {
        heap = strstr(line, "[heap]") ? line : strncmp(line, "VmFlags", 7) == 0 ? NULL : heap;
        if (heap && sscanf(line, "Shared_Dirty: %lu", &kib) == 1)
            shared += kib;
        if (heap && sscanf(line, "Private_Dirty: %lu", &kib) == 1)
            private += kib;
    }
    printf("%lu %lu\n", shared << 10, private << 10);
    fflush(stdout);
    for (int i = 0; i < OWN; i++)
        memset(own[i] = malloc(OWN_SIZE), 1, OWN_SIZE);
    for (int i = 0; i < OWN; i += 2)
        free(own[i]);
    usleep(300000);
    return 0;
}
C
gcc -O1 -fno-builtin -o forks forks.c || exit 1
mprof-run --quiet --residency=100ms -o forks.bin ./forks >forks.out || fail "forks: $(cat forks.out)"
mprof-ingest --quiet --process=all -o forks.db forks.bin && adds_up forks.db
read -r shared private <forks.out
# near CLASS DETAIL BYTES
near() {
    bytes=$(ask forks.db "SELECT ifnull(sum(bytes), 0) FROM residency_class WHERE class IN ($1) AND detail LIKE '$2'
        AND residency_id = (SELECT max(id) FROM residency WHERE process_id = 2 AND reason = 'end')")
    is "$((bytes > $3 ? bytes - $3 : $3 - bytes))" -le $(($3 / 100 + 65536)) "forks: $1 $2: $bytes, not $3 bytes"
}
near "'inherited'" "shared %" "$shared"
near "'inherited'" "heap: %" "$private"
near "'live_resident'" % 10000000
near "'holes_resident', 'free_pages'" % 10000000

# An allocator that is linked into the program is known by its messages: by jemalloc's rules the ledger has what jemalloc
# says of itself, pages with blocks and freed pages. Its own data is neither.
jemalloc=$(ls /usr/lib/*/libjemalloc.a 2>/dev/null)
wrap=-Wl$(grep -o -- '--wrap=[A-Za-z_]*' "$MPROF_SOURCE/docs/other-allocators.md" | sed 's/^/,/' | tr -d '\n')
cat >linked.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int mallctl(const char *, void *, size_t *, void *, size_t);
static void *blocks[40000], *large[100];
int main(void)
{
    size_t active = 0, dirty = 0, size = sizeof(active);
    for (int i = 0; i < 100; i++)
        memset(large[i] = malloc(98304), 1, 98304);
    for (int i = 0; i < 40000; i++)
        memset(blocks[i] = malloc(200 + i % 800), 1, 200 + i % 800);
    for (int i = 0; i < 40000; i += 2)
        free(blocks[i]);
    for (int i = 0; i < 100; i += 2)
        free(large[i]);
    mallctl("thread.tcache.flush", NULL, NULL, NULL, 0);
    mallctl("epoch", NULL, NULL, &size, sizeof(size));
    mallctl("stats.active", &active, &size, NULL, 0);
    mallctl("stats.arenas.4096.pdirty", &dirty, &size, NULL, 0);
    printf("%zu %zu\n", active, dirty * 4096);
    usleep(300000);
    return 0;
}
C
if [ -n "$jemalloc" ] && gcc -static -O1 -fno-builtin -o linked linked.c "$MPROF_BUILD/lib/libmprof.a" "$wrap" \
    -Wl,--eh-frame-hdr,--allow-multiple-definition "$jemalloc" -lm -lstdc++ 2>linker.out; then
    mprof-run --quiet --residency=100ms -o linked.bin ./linked >linked.out || fail "linked: $(cat linked.out)"
    mprof-ingest --quiet -o linked.db linked.bin
    is "$(ask linked.db "SELECT count(*) FROM residency WHERE allocator <> 'jemalloc' AND present > 4000000")" -eq 0 "linked: moments without jemalloc's rules"
    # said CLASSES BYTES SLACK
    said() {
        bytes=$(ask linked.db "SELECT ifnull(sum(bytes), 0) FROM residency_class WHERE class IN ($1) AND residency_id = (SELECT max(id) FROM residency)")
        is "$((bytes > $2 ? bytes - $2 : $2 - bytes))" -le $(($2 / 100 + $3)) "linked: $bytes bytes of $1, jemalloc has $2"
    }
    read -r active dirty <linked.out
    said "'live_resident', 'headers', 'holes_resident'" "$active" 1048576 # with its own data
    said "'free_pages'" "$dirty" 65536
fi

record python python3 -c 'rows = [{"number": i, "text": str(i) * 5} for i in range(30000)]; import time; time.sleep(0.2)'
if command -v clang >/dev/null; then
    printf '#include <map>\n#include <string>\nint f(int i) { std::map<int, std::string> m; m[i] = "a"; return (int)m[i].size(); }\n' >source.cpp
    record clang "$(readlink -f "$(command -v clang++ || command -v clang)")" --driver-mode=g++ -O1 -c -o source.o source.cpp
fi
command -v node >/dev/null && record node node -e 'let a = []; for (let i = 0; i < 100000; i++) a.push({ i }); setTimeout(() => a.length, 200)'

# A program in a container has another number there: its own pages are read all the same, and those of nobody else. Where
# this test may make a cgroup, the memory of that stands beside RSS.
cat >box.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(void)
{
    static void *blocks[200];
    for (int i = 0; i < 200; i++)
        memset(blocks[i] = malloc(100000), 1, 100000);
    usleep(300000);
    return printf("%d\n", (int)getpid()) < 0;
}
C
gcc -O1 -fno-builtin -o box box.c || exit 1
if [ "$(unshare --pid --fork --mount-proc sh -c 'echo $$' 2>&1)" = 1 ]; then
    group=$(sed -n 's/.*:memory:/\/memory/p; s/^0:://p' /proc/self/cgroup | head -1)
    group=/sys/fs/cgroup$group/mprof-$$
    mkdir "$group" 2>/dev/null || group=
    # shellcheck disable=SC2016 # the inner shell's words
    sh -c '[ -z "$1" ] || echo $$ >"$1/cgroup.procs"; shift; exec "$@"' sh "$group" mprof-run --quiet --residency=100ms -o box.bin -- \
        unshare --pid --fork --mount-proc ./box >box.out || fail "box: $(cat box.out)"
    mprof-ingest --quiet --process=all -o box.db box.bin
    is "$(cat box.out)" -eq 1 "box: its number inside"
    is "$(ask box.db "SELECT sum(bytes) FROM residency_class WHERE class = 'live_resident' AND residency_id = (SELECT max(r.id)
        FROM residency r JOIN process p ON p.id = process_id WHERE program LIKE '%box' AND reason = 'end')")" -ge 20000000 "box: live"
    is "$(ask box.db "SELECT count(*) FROM rss JOIN process p ON p.id = process_id WHERE program LIKE '%box' AND rss.bytes >
        (SELECT max(present) + 1000000 FROM residency r WHERE r.process_id = p.id)")" -eq 0 "box: samples of RSS that are another process's"
    if [ -n "$group" ]; then
        is "$(ask box.db "SELECT max(cgroup_bytes) FROM residency")" -ge 20000000 "box: memory of the cgroup"
        is "$(ask box.db "SELECT count(*) FROM residency WHERE cgroup_bytes > 1000000000")" -eq 0 "box: memory of another cgroup"
        rmdir "$group"
    fi
fi

# A program that cannot be recorded has no ledger: the session says why.
unrecorded() { # COMPILER REASON
    # shellcheck disable=SC2086 # words
    $1 -O1 -fno-builtin -o alone box.c || fail "$1 makes no program"
    mprof-run --quiet --force -o alone.bin -- sh -c './alone; exit $?' >alone.out 2>&1 || fail "alone: $(cat alone.out)"
    mprof-ingest --quiet --force --process=all -o alone.db alone.bin
    is "$(ask alone.db "SELECT count(*) FROM residency_missing WHERE why = 'the program is not recorded: $2'")" -eq 1 "$1: why there is no ledger"
}
unrecorded 'gcc -static' 'statically linked'
if command -v musl-gcc >/dev/null; then # with the name of uClibc's loader, by which the program is known
    cp /lib/ld-musl-x86_64.so.1 ld-uClibc.so.0
    unrecorded "musl-gcc -Wl,-dynamic-linker,$PWD/ld-uClibc.so.0" 'its C library is neither glibc nor musl'
fi

if command -v go >/dev/null; then
    cat >main.go <<'GO'
package main

// #include <stdlib.h>
import "C"
import "time"

var kept [][]byte

func main() {
	for i := 0; i < 100; i++ {
		kept = append(kept, make([]byte, 100000))
		copy(kept[i], kept[i/2])
		for k := range kept[i] {
			kept[i][k] = 1
		}
		C.malloc(1000)
	}
	time.Sleep(300 * time.Millisecond)
}
GO
    GOCACHE=$PWD/go.cache GOFLAGS=-mod=mod go build -o go.program main.go >go.out 2>&1 || fail "go: $(cat go.out)"
    mprof-run --quiet --residency=100ms -o go.bin ./go.program && mprof-ingest --quiet -o go.db go.bin
    is "$(ask go.db "SELECT max(bytes) FROM residency_class WHERE detail = 'x_cgo_mmap: Go''s heap'")" -ge 10000000 "go: its heap"
    is "$(ask go.db "SELECT count(*) FROM residency r WHERE present > 10000000 AND present < 100 *
        (SELECT ifnull(sum(bytes), 0) FROM residency_class c WHERE c.residency_id = r.id AND (class = 'unattributed' OR
         class = 'other_anonymous' AND detail GLOB '*[0-9a-f]-[0-9a-f]*'))")" -eq 0 "go: moments with more than 1 % of no name"
fi

# PostgreSQL's buffers are shared memory, in all its processes.
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -1)
[ -n "$bin" ] || exit 0
home=$(mktemp -d) user=()
trap 'rm -rf "$home"' EXIT
if [ "$(id -u)" -eq 0 ]; then
    id postgres >/dev/null 2>&1 || exit 0
    chown postgres "$home" && user=(setpriv --reuid postgres --regid "$(id -g postgres)" --clear-groups)
fi
"${user[@]}" "$bin/initdb" -D "$home/data" -A trust -N >initdb.out 2>&1 || fail "initdb: $(cat initdb.out)"
"${user[@]}" env HOME="$home" "$MPROF_BUILD/bin/mprof-run" --quiet --residency=200ms -o "$home/pg.bin" -- "$bin/postgres" -D "$home/data" -k "$home" \
    -c listen_addresses= -c shared_buffers=64MB >postgres.out 2>&1 &
server=$!
for _ in $(seq 600); do [ -S "$home/.s.PGSQL.5432" ] && "$bin/pg_isready" -q -h "$home" && break; sleep 0.1; done
"$bin/psql" -q -h "$home" -U "$(stat -c %U "$home/data")" -d postgres -c 'CREATE TABLE t AS SELECT i, repeat(md5(i::text), 20) AS s FROM generate_series(1, 20000) i' \
    -c 'SELECT sum(length(s)) FROM t' >psql.out 2>&1 || fail "psql: $(cat psql.out postgres.out)"
kill -INT "$(head -1 "$home/data/postmaster.pid")"
wait $server || fail "PostgreSQL: $(cat postgres.out)"
mprof-ingest --quiet --process=all -o postgres.db "$home/pg.bin" && adds_up postgres.db
is "$(ask postgres.db "SELECT max(bytes) FROM residency_class WHERE class = 'other_anonymous' AND detail = 'shared memory'")" -ge 10000000 "postgres: shared buffers"
