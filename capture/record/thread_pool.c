/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/record/thread_pool.h"

#include <errno.h>
#include <sys/syscall.h>
#include <time.h>

#include "capture/os/arch_x86_64.h"
#include "capture/os/clock.h"
#include "capture/os/os.h"
#include "capture/record/state.h"

#define STATES_MAX 65536u
/* How often other threads get a turn to end their events before a restart. */
#define SETTLE_TURNS 100000u

__thread struct thread_self thread_self;

static struct {
    _Atomic(struct thread *) table[STATES_MAX]; /* NULL: another thread is making it */
    _Atomic uint32_t count;
    _Atomic uint32_t next_search; /* the count at which dead threads are searched for */
    /* Low half: index + 1 of the first free state; high half: a tag against reuse (ABA). */
    _Atomic uint64_t free;
    _Atomic uint32_t trace; /* restarts so far */
} pool;

void thread_pool_give(struct thread *thread)
{
    uint64_t head = atomic_load(&pool.free), next;
    atomic_store(&thread->kernel_id, 0);
    do {
        atomic_store_explicit(&thread->next_free, (uint32_t)head, memory_order_relaxed);
        next = ((head >> 32) + 1) << 32 | (thread->index + 1);
    } while (!atomic_compare_exchange_weak(&pool.free, &head, next));
}

static struct thread *pop_free(void)
{
    uint64_t head = atomic_load(&pool.free), next;
    struct thread *thread;
    do {
        if ((uint32_t)head == 0)
            return NULL;
        thread = pool.table[(uint32_t)head - 1];
        /* Another thread may pop and give this state back here: then the exchange fails. */
        next = ((head >> 32) + 1) << 32 |
               atomic_load_explicit(&thread->next_free, memory_order_relaxed);
    } while (!atomic_compare_exchange_weak(&pool.free, &head, next));
    return thread;
}

/* Frees the states of threads that ended without their key destructors (a raw clone, a first event
 * after them). It searches only when the number of states has doubled since the last search. */
static void reclaim_dead(void)
{
    uint32_t count = atomic_load(&pool.count), due = atomic_load(&pool.next_search);
    if (count < due || !atomic_compare_exchange_strong(&pool.next_search, &due, 2 * count + 8))
        return;
    for (uint32_t i = 0; i < count; i++) {
        struct thread *thread = pool.table[i];
        int id = thread ? atomic_load(&thread->kernel_id) : 0;
        if (id && os_call(SYS_tgkill, os_process_id(), id, 0, 0, 0, 0) == -ESRCH &&
            atomic_compare_exchange_strong(&thread->kernel_id, &id, 0))
            thread_pool_give(thread);
    }
}

/* Tells other threads that they do not record alone. While there is one state, no two threads are
 * inside events. The thread that makes the second state tells all that it can find. The maker of
 * the first state either sees the second one counted, or is found. */
static void tell_shared(void)
{
    uint32_t count = atomic_load(&pool.count);
    for (uint32_t i = 0; count > 1 && i < count; i++) {
        struct thread *thread = pool.table[i];
        if (thread && !(thread_flags(thread) & THREAD_SHARED))
            atomic_fetch_or(&thread->flags, THREAD_SHARED);
    }
}

static struct thread *create(void)
{
    size_t own = (sizeof(struct thread) + ARCH_PAGE_SIZE - 1) & ~(size_t)(ARCH_PAGE_SIZE - 1);
    uint8_t *memory = os_map(own + stack_thread_size());
    if (!memory)
        return NULL;
    struct thread *thread = (struct thread *)memory;
    thread->stack = (struct stack_thread *)(memory + own);
    thread->index = atomic_fetch_add(&pool.count, 1);
    if (thread->index >= STATES_MAX) {
        atomic_fetch_sub(&pool.count, 1);
        os_unmap(memory, own + stack_thread_size());
        return NULL;
    }
    pool.table[thread->index] = thread;
    tell_shared();
    return thread;
}

void thread_pool_init(void)
{
    atomic_store(&pool.next_search, 64);
}

struct thread *thread_pool_take(void)
{
    struct thread *thread = pop_free();
    if (!thread) {
        reclaim_dead();
        thread = pop_free();
    }
    return thread ? thread : create();
}

void thread_pool_after_fork(void)
{
    uint32_t count = atomic_load(&pool.count);
    atomic_store(&pool.free, 0);
    for (uint32_t i = 0; i < count; i++) {
        struct thread *thread = pool.table[i];
        if (!thread)
            continue;
        chunk_forget(&thread->chunk);
        thread_pool_give(thread);
    }
}

int thread_pool_other_id(void)
{
    const uint32_t count = atomic_load(&pool.count);
    for (uint32_t i = 0; i < count; i++) {
        const struct thread *thread = pool.table[i];
        const int id = thread ? atomic_load(&thread->kernel_id) : 0;
        if (id && id != os_thread_id())
            return id;
    }
    return 0;
}

void thread_pool_settle(void)
{
    /* After this, each thread has either seen that nothing is recorded now, or is seen here. */
    os_membarrier_all();
    for (unsigned turn = 0; turn < SETTLE_TURNS && atomic_load(&recorder_page.entering); turn++)
        os_yield();
    uint32_t count = atomic_load(&pool.count);
    for (uint32_t i = 0; i < count; i++) {
        const struct thread *thread = pool.table[i];
        const void *guard = NULL;
        if (!thread || !atomic_load(&thread->kernel_id) || thread == thread_self.thread)
            continue;
        /* A thread may have ended, and its memory may be gone. */
        for (unsigned turn = 0; turn < SETTLE_TURNS; turn++) {
            if (os_copy_memory((uintptr_t)&thread->owner->guard, &guard, sizeof(guard)) !=
                    sizeof(guard) ||
                !guard)
                break;
            os_yield();
        }
    }
}

/* Returns true if the thread that has this state is inside an event. A thread that
 * ended without saying so is not, even if its memory has another use now. */
static bool is_inside(const struct thread *thread)
{
    const void *guard = NULL;
    const int id = atomic_load(&thread->kernel_id);
    if (!id || thread == thread_self.thread)
        return false;
    return os_copy_memory((uintptr_t)&thread->owner->guard, &guard, sizeof(guard)) ==
               sizeof(guard) &&
           guard && os_call(SYS_tgkill, os_process_id(), id, 0, 0, 0, 0) != -ESRCH;
}

bool thread_pool_is_settled(void)
{
    const uint64_t most_ns = UINT64_C(300000000), begin = clock_nanoseconds(CLOCK_MONOTONIC);
    if (!os_membarrier_all())
        return false;
    for (uint32_t i = 0; atomic_load(&recorder_page.entering) || i < atomic_load(&pool.count);) {
        if (atomic_load(&recorder_page.entering) || (pool.table[i] && is_inside(pool.table[i]))) {
            if (clock_nanoseconds(CLOCK_MONOTONIC) - begin > most_ns)
                return false;
            os_yield();
        } else
            i++;
    }
    return true;
}

void thread_pool_leave_chunks(void)
{
    const uint32_t count = atomic_load(&pool.count);
    for (uint32_t i = 0; i < count; i++)
        if (pool.table[i])
            chunk_leave(&pool.table[i]->chunk);
}

const struct thread *thread_pool_next(uint32_t *at)
{
    while (*at < atomic_load(&pool.count)) {
        const struct thread *thread = pool.table[(*at)++];
        if (thread && atomic_load(&thread->kernel_id))
            return thread;
    }
    return NULL;
}

void thread_pool_new_trace(void)
{
    uint32_t count = atomic_load(&pool.count);
    atomic_fetch_add(&pool.trace, 1);
    for (uint32_t i = 0; i < count; i++) {
        struct thread *thread = pool.table[i];
        if (!thread)
            continue;
        atomic_store(&thread->left_over, true);
        thread->chunk.limit = NULL;
    }
}

uint32_t thread_pool_trace(void)
{
    return atomic_load(&pool.trace);
}

void thread_pool_seal(void)
{
    /* Takes all free states off together, so that no thread begins to write in one. */
    uint64_t head = atomic_load(&pool.free);
    while (!atomic_compare_exchange_weak(&pool.free, &head, ((head >> 32) + 1) << 32))
        ;
    for (uint32_t next = (uint32_t)head; next;) {
        struct thread *idle = pool.table[next - 1];
        next = atomic_load_explicit(&idle->next_free, memory_order_relaxed);
        chunk_seal(&idle->chunk);
        thread_pool_give(idle);
    }
}
