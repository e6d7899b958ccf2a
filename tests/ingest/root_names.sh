#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Roots have names: variables of modules and of threads, registers, mappings by the function that made them. The stacks that
# the C library keeps of threads that have ended, and the recorder's own memory, are no roots.
set -u
. "$MPROF_SOURCE/tests/end_to_end/common.sh"

cat >roots.cpp <<'CPP'
#include <cstdlib>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>
static void *volatile in_data;
static thread_local long before[3];
static thread_local void *volatile of_thread;
static thread_local struct { long number; void *volatile second; } more;
static pthread_barrier_t begun;
static void *ends(void *)
{
    of_thread = std::malloc(1100);
    before[2] = reinterpret_cast<long>(of_thread);
    return nullptr;
}
static void *stays(void *)
{
    register void *block __asm__("r12") = std::malloc(1200);
    of_thread = std::malloc(1300);
    more.second = std::malloc(1400);
    pthread_barrier_wait(&begun);
    for (;;)
        __asm__ volatile("pause" : "+r"(block));
}
__attribute__((noinline)) static void make_pool()
{
    void *pool = mmap(nullptr, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    static_cast<void **>(pool)[5] = std::malloc(1500);
}
int main()
{
    pthread_t thread, others[3];
    pthread_barrier_init(&begun, nullptr, 2);
    pthread_create(&thread, nullptr, stays, nullptr);
    pthread_barrier_wait(&begun);
    for (pthread_t &other : others)
        pthread_create(&other, nullptr, ends, nullptr);
    for (pthread_t other : others)
        pthread_join(other, nullptr);
    in_data = std::malloc(1600);
    of_thread = std::malloc(1700);
    make_pool();
    usleep(10000); /* until the other thread is back in its loop */
    return 0;
}
CPP
g++ -g -O1 -o roots roots.cpp || fail "the program is not built"
mprof-run --quiet --mmap --references=end -o roots.bin ./roots || fail "it is not recorded"
mprof-ingest --quiet -o session.db roots.bin || fail "it is not ingested"
# Old words on stacks may lead to the same blocks.
roots_of() {
    printf "SELECT group_concat(kind || ' ' || name, ', ') FROM (SELECT DISTINCT r.kind, r.name
      FROM reference x JOIN root r ON r.id = -x.from_id JOIN allocation a ON a.id = x.to_id WHERE a.size = %s AND r.kind <> 'stack' ORDER BY 1, 2)" "$1"
}
expect "what ended threads held" "$(roots_of 1100)" ""
expect "what ended threads held is unreachable" "SELECT count(*) FROM v_unreachable WHERE size = 1100" 3
expect "their control blocks hold what the next threads take over" "SELECT count(*) > 0, sum(reachability = 'unreachable') FROM v_retained WHERE size <> 1100" "1|0"
expect "a register" "$(roots_of 1200)" "register r12 of roots"
expect "a variable of a thread" "$(roots_of 1300)" "thread-local of_thread"
expect "a variable of a thread that is a record" "$(roots_of 1400)" "thread-local more"
expect "a variable" "$(roots_of 1600)" "data in_data"
expect "a variable of the first thread" "$(roots_of 1700)" "thread-local of_thread"
expect "threads of variables" "SELECT count(DISTINCT tid) FROM root WHERE name = 'of_thread'" 2
expect "all mappings" "SELECT group_concat(substr(name, 1, instr(name, ' KiB') - 1)) FROM root WHERE kind = 'mapping'" "make_pool(): 64"
exit $failed
