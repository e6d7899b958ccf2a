/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/record/thread.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "capture/os/arch_x86_64.h"
#include "capture/os/os.h"
#include "capture/record/recorder.h"
#include "capture/record/resident.h"
#include "capture/record/toggle.h"
#include "capture/stack/shadow_stack.h"
#include "capture/trace/file.h"

#define THREAD_MAX 65536u
#define EXTENDED_HEAD_MAX 16u /* kind, type and length of an extended record */

__thread struct thread_local_part thread_local_part;

/* Key destructors run in rounds. The last round is the one that the fewest events follow. (Not
 * under ThreadSanitizer, which does not know a thread in that round any more.) */
#ifndef DESTRUCTOR_ROUNDS
#define DESTRUCTOR_ROUNDS 4u
#endif
/* How often other threads get a turn to end their events before a restart. */
#define SETTLE_TURNS 100000u

static struct {
    _Atomic(struct thread *) table[THREAD_MAX]; /* NULL: another thread is making it */
    _Atomic uint32_t count;
    _Atomic uint32_t numbers;     /* thread numbers given out */
    _Atomic uint32_t next_search; /* the count at which dead threads are searched for */
    /* Low half: index + 1 of the first free state; high half: a tag against reuse (ABA). */
    _Atomic uint64_t free;
    _Atomic uint32_t trace; /* restarts so far */
    uint32_t ways;
    pthread_key_t key;
    bool has_key;
    bool sample_resident;
} threads;

static void thread_push_free(struct thread *thread)
{
    uint64_t head = atomic_load(&threads.free), next;
    atomic_store(&thread->kernel_id, 0);
    do {
        thread->next_free = (uint32_t)head;
        next = ((head >> 32) + 1) << 32 | (thread->index + 1);
    } while (!atomic_compare_exchange_weak(&threads.free, &head, next));
}

static struct thread *thread_pop_free(void)
{
    uint64_t head = atomic_load(&threads.free), next;
    struct thread *thread;
    do {
        if ((uint32_t)head == 0)
            return NULL;
        thread = threads.table[(uint32_t)head - 1];
        next = ((head >> 32) + 1) << 32 | thread->next_free;
    } while (!atomic_compare_exchange_weak(&threads.free, &head, next));
    return thread;
}

/*
 * Frees the states of threads that ended without their key destructors (a raw clone, a first event
 * after them). It searches only when the number of states has doubled since the last search.
 */
static void thread_reclaim_dead(void)
{
    uint32_t count = atomic_load(&threads.count), due = atomic_load(&threads.next_search);
    if (count < due || !atomic_compare_exchange_strong(&threads.next_search, &due, 2 * count + 8))
        return;
    for (uint32_t i = 0; i < count; i++) {
        struct thread *thread = threads.table[i];
        int id = thread ? atomic_load(&thread->kernel_id) : 0;
        if (id && os_call(SYS_tgkill, os_process_id(), id, 0, 0, 0, 0) == -ESRCH &&
            atomic_compare_exchange_strong(&thread->kernel_id, &id, 0))
            thread_push_free(thread);
    }
}

/*
 * Tells other threads that they do not record alone. While there is one state, no two threads are
 * inside events. The thread that makes the second state tells all that it can find. The maker of
 * the first state either sees the second one counted, or is found.
 */
static void thread_tell_shared(void)
{
    uint32_t count = atomic_load(&threads.count);
    for (uint32_t i = 0; count > 1 && i < count; i++) {
        struct thread *thread = threads.table[i];
        if (thread && !(thread_ways(thread) & THREAD_SHARED))
            atomic_fetch_or(&thread->ways, THREAD_SHARED);
    }
}

static struct thread *thread_create(void)
{
    size_t own = (sizeof(struct thread) + ARCH_PAGE_SIZE - 1) & ~(size_t)(ARCH_PAGE_SIZE - 1);
    uint8_t *memory = os_map(own + stack_thread_size());
    if (!memory)
        return NULL;
    struct thread *thread = (struct thread *)memory;
    thread->stack = (struct stack_thread *)(memory + own);
    thread->index = atomic_fetch_add(&threads.count, 1);
    if (thread->index >= THREAD_MAX) {
        atomic_fetch_sub(&threads.count, 1);
        os_unmap(memory, own + stack_thread_size());
        return NULL;
    }
    threads.table[thread->index] = thread;
    thread_tell_shared();
    return thread;
}

static void thread_key_destructor(void *value)
{
    struct thread_local_part *self = &thread_local_part;
    uintptr_t round = (uintptr_t)value;
    if (round < DESTRUCTOR_ROUNDS) {
        pthread_setspecific(threads.key, (void *)(round + 1));
        return;
    }
    shadow_stack_end();
    if (!self->thread || self->guard)
        return;
    recorder_take_guard(self, __builtin_frame_address(0));
    atomic_fetch_add(&recorder_page.entering, 1);
    thread_release(recorder_is_at_work());
    atomic_fetch_sub(&recorder_page.entering, 1);
    self->at_leave |= THREAD_FINISHED;
    atomic_signal_fence(memory_order_seq_cst);
    self->guard = NULL;
}

void thread_process_init(void)
{
    threads.has_key = pthread_key_create(&threads.key, thread_key_destructor) == 0;
    atomic_store(&threads.next_search, 64);
}

void thread_process_set_ways(uint32_t ways)
{
    threads.ways = ways;
}

void thread_process_forked(void)
{
    uint32_t count = atomic_load(&threads.count);
    atomic_store(&threads.free, 0);
    atomic_store(&threads.numbers, 0);
    for (uint32_t i = 0; i < count; i++) {
        struct thread *thread = threads.table[i];
        if (!thread)
            continue;
        chunk_forget(&thread->chunk);
        thread->sample = (struct sample){0, 0}; /* does not repeat the parent's draws */
        thread_push_free(thread);
    }
    thread_local_part.thread = NULL;
    thread_local_part.number = 0;
    thread_local_part.at_leave = 0;
    atomic_store(&thread_local_part.dropped, 0);
}

int thread_other_id(void)
{
    const uint32_t count = atomic_load(&threads.count);
    for (uint32_t i = 0; i < count; i++) {
        const struct thread *thread = threads.table[i];
        const int id = thread ? atomic_load(&thread->kernel_id) : 0;
        if (id && id != os_thread_id())
            return id;
    }
    return 0;
}

void thread_process_settle(void)
{
    /* After this, each thread has either seen that nothing is recorded now, or is seen here. */
    os_membarrier_all();
    for (unsigned turn = 0; turn < SETTLE_TURNS && atomic_load(&recorder_page.entering); turn++)
        os_yield();
    uint32_t count = atomic_load(&threads.count);
    for (uint32_t i = 0; i < count; i++) {
        const struct thread *thread = threads.table[i];
        const void *guard = NULL;
        if (!thread || !atomic_load(&thread->kernel_id) || thread == thread_local_part.thread)
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

void thread_process_restarted(void)
{
    uint32_t count = atomic_load(&threads.count);
    atomic_fetch_add(&threads.trace, 1);
    for (uint32_t i = 0; i < count; i++) {
        struct thread *thread = threads.table[i];
        if (!thread)
            continue;
        atomic_store(&thread->left_over, true);
        thread->chunk.limit = NULL;
    }
}

/* Leaves the previous trace's chunk, if the state still has it. */
static void thread_come_over(struct thread *thread)
{
    if (!atomic_load_explicit(&thread->left_over, memory_order_relaxed))
        return;
    chunk_leave(&thread->chunk);
    atomic_store(&thread->left_over, false);
    thread->sequence = 0;
    memset(thread->name, 0, sizeof(thread->name));
    thread_local_part.trace = atomic_load(&threads.trace);
}

uint8_t *thread_put_when(const struct thread *thread, uint8_t *payload)
{
    uint64_t now = thread_clock_before(thread), last = thread->chunk.coding.ticks;
    return trace_put_varint(payload, now > last ? now - last : 0);
}

void thread_put_number(struct thread *thread, enum trace_extended type, uint64_t number)
{
    uint8_t *p = thread_extended_begin(thread, 24);
    if (!p)
        return;
    p = thread_put_when(thread, p);
    p = trace_put_varint(p, number);
    thread_extended_end(thread, type, p);
}

/* Writes the record whose payload lies in `scratch`. The room was made before. */
void thread_extended_end(struct thread *thread, enum trace_extended type, const uint8_t *end)
{
    struct chunk *chunk = &thread->chunk;
    if (!recorder_is_own())
        return;
    chunk_commit(chunk, trace_put_extended(chunk->cursor, type, thread->scratch,
                                           (size_t)(end - thread->scratch)));
}

uint8_t *thread_extended_begin(struct thread *thread, size_t size)
{
    if (size > TRACE_EXTENDED_MAX)
        size = TRACE_EXTENDED_MAX;
    if (!thread_make_room(thread, size + EXTENDED_HEAD_MAX))
        return NULL;
    return thread->scratch;
}

/* Reads the kernel's name of the calling thread, at most 15 bytes. If asking for it is forbidden,
 * the name is `known`. */
static void thread_read_name(char name[16], const char known[16])
{
    memset(name, 0, 16);
    if (os_call(SYS_prctl, PR_GET_NAME, (long)name, 0, 0, 0, 0) != 0)
        memcpy(name, known, 16);
}

/* Returns the kernel's id of the calling thread, or 0 if asking for it is forbidden. */
static uint64_t thread_kernel_id(void)
{
    int id = os_thread_id();
    return id > 0 ? (uint64_t)id : 0;
}

static void thread_put_name(struct thread *thread)
{
    uint8_t *p = thread_put_when(thread, thread->scratch);
    p = trace_put_varint(p, thread->number);
    p = trace_put_varint(p, thread_kernel_id());
    p = trace_put_string(p, thread->name, strnlen(thread->name, sizeof(thread->name)));
    thread_extended_end(thread, TRACE_EXT_THREAD, p);
}

#define NAME_RECORD_MAX 80u

void thread_update_name(struct thread *thread)
{
    char name[16];
    thread_read_name(name, thread->name);
    if (memcmp(name, thread->name, sizeof(name)) == 0 ||
        !thread_extended_begin(thread, NAME_RECORD_MAX))
        return;
    memcpy(thread->name, name, sizeof(name));
    thread_put_name(thread);
}

/* Writes the dropped events. The room must be there, because this runs while room is made. */
static void thread_put_dropped(struct thread *thread)
{
    uint32_t dropped = atomic_load(&thread_local_part.dropped);
    if (dropped == 0)
        return;
    uint8_t *p = thread_put_when(thread, thread->scratch);
    p = trace_put_varint(p, dropped);
    p = trace_put_varint(p, TRACE_DROP_REENTRANT);
    thread_extended_end(thread, TRACE_EXT_DROPPED, p);
    atomic_fetch_sub(&thread_local_part.dropped, dropped);
}

/* Writes a clock pair if it is due. The room must be there, as above. It costs the hot path
 * nothing, because the chunk's limit leads here. */
static void thread_put_clock(struct thread *thread)
{
    if (!chunk_clock_is_due(&thread->chunk))
        return;
    struct clock_pair pair = clock_read_pair();
    uint64_t last = thread->chunk.coding.ticks;
    if (pair.ticks >= last) {
        uint8_t *p = trace_put_varint(thread->scratch, pair.ticks - last);
        p = trace_put_varint(p, pair.monotonic_ns);
        thread_extended_end(thread, TRACE_EXT_CLOCK, p);
    }
    chunk_clock_is_done(&thread->chunk);
}

void thread_sample_resident(bool wanted)
{
    threads.sample_resident = wanted;
}

void thread_put_resident(struct thread *thread)
{
    uint64_t bytes = threads.sample_resident ? resident_bytes() : 0;
    if (bytes)
        thread_put_number(thread, TRACE_EXT_RSS, bytes);
}

/* Room for the records that thread_make_room() itself writes. */
#define OWED_RECORDS_MAX 80u

static bool thread_next_chunk(struct thread *thread)
{
    char name[16];
    chunk_leave(&thread->chunk);
    if (!chunk_begin(&thread->chunk, thread->number, thread->sequence))
        return false;
    thread->sequence++;
    thread_put_dropped(thread);
    thread_read_name(name, thread->name);
    if (memcmp(name, thread->name, sizeof(name)) != 0) {
        memcpy(thread->name, name, sizeof(name));
        thread_put_name(thread);
    }
    thread_put_resident(thread);
    toggle_check();
    return true;
}

/* Looks for requests, which recorder_leave() serves when the event is complete. Returns false if
 * another process has ended the recording. */
static bool thread_look_outside(struct thread *thread)
{
    chunk_look_taken(&thread->chunk);
    if (trace_file_is_asked() || atomic_load_explicit(&toggle_asked, memory_order_relaxed))
        thread_local_part.at_leave |= THREAD_ASKED;
    if (!trace_file_is_sealed())
        return true;
    recorder_sealed();
    return false;
}

bool thread_make_room(struct thread *thread, size_t need)
{
    struct chunk *chunk = &thread->chunk;
    if (!recorder_is_own() || !thread_look_outside(thread))
        return false;
    thread_come_over(thread);
    chunk_unseal(chunk);
    if (chunk_space(chunk) >= need + OWED_RECORDS_MAX) {
        thread_put_clock(thread);
        chunk_open_limit(chunk);
        thread_put_dropped(thread);
        return true;
    }
    uint64_t signals = os_block_signals();
    bool begun = thread_next_chunk(thread);
    os_restore_signals(signals);
    return begun;
}

/* Begins records in the chunk that another thread left. */
static void thread_put_switch(struct thread *thread)
{
    struct chunk *chunk = &thread->chunk;
    uint64_t now = clock_before();
    if (now < chunk->coding.ticks)
        now = chunk->coding.ticks;
    uint8_t *p = trace_put_varint(thread->scratch, thread->number);
    p = trace_put_varint(p, thread->sequence++);
    p = trace_put_varint(p, now);
    thread_extended_end(thread, TRACE_EXT_SWITCH, p);
    trace_coding_reset(&chunk->coding, now);
}

static void thread_begin_records(struct thread *thread)
{
    static const char unnamed[16];
    const size_t need = 64 + NAME_RECORD_MAX + OWED_RECORDS_MAX + TRACE_RECORD_MAX;
    memset(thread->name, 0, sizeof(thread->name));
    if (chunk_space(&thread->chunk) < need) {
        thread_read_name(thread->name, unnamed);
        if (thread_make_room(thread, need))
            thread_put_name(thread);
        return;
    }
    chunk_unseal(&thread->chunk);
    chunk_open_limit(&thread->chunk);
    thread_put_switch(thread);
    thread_read_name(thread->name, unnamed);
    if (!(thread_local_part.at_leave & THREAD_FINISHED))
        thread_put_name(thread);
}

struct thread *thread_acquire(void)
{
    struct thread_local_part *self = &thread_local_part;
    if (trace_file_is_sealed()) {
        recorder_sealed();
        return NULL;
    }
    struct thread *thread = thread_pop_free();
    if (!thread) {
        thread_reclaim_dead();
        thread = thread_pop_free();
    }
    if (!thread)
        thread = thread_create();
    if (!thread)
        return NULL;
    if (self->trace != atomic_load(&threads.trace))
        self->number = 0;
    thread_come_over(thread);
    self->trace = atomic_load(&threads.trace);
    if (self->number == 0) {
        self->number = atomic_fetch_add(&threads.numbers, 1) + 1;
        self->sequence = 0;
    }
    thread->owner = self;
    atomic_store(&thread->kernel_id, os_thread_id());
    thread->number = self->number;
    thread->sequence = self->sequence;
    thread->clock_countdown = 0;
    atomic_fetch_and(&thread->ways, THREAD_SHARED);
    atomic_fetch_or(&thread->ways, threads.ways | THREAD_NEW_STACK);
    thread_begin_records(thread);
    self->thread = thread;
    if (threads.has_key && !(self->at_leave & THREAD_FINISHED))
        pthread_setspecific(threads.key, (void *)1);
    return thread;
}

void thread_release(bool ended)
{
    struct thread_local_part *self = &thread_local_part;
    struct thread *thread = self->thread;
    if (!thread)
        return;
    if (ended) {
        thread_update_name(thread);
        thread_put_number(thread, TRACE_EXT_THREAD_END, thread->number);
    }
    self->sequence = thread->sequence;
    self->thread = NULL;
    thread_push_free(thread);
}

void thread_seal_idle(struct thread *thread)
{
    /* Takes all free states off together, so that no thread begins to write in one. */
    uint64_t head = atomic_load(&threads.free);
    while (!atomic_compare_exchange_weak(&threads.free, &head, ((head >> 32) + 1) << 32))
        ;
    for (uint32_t next = (uint32_t)head; next;) {
        struct thread *idle = threads.table[next - 1];
        next = idle->next_free;
        chunk_seal(&idle->chunk);
        thread_push_free(idle);
    }
    if (thread)
        chunk_seal(&thread->chunk);
}
