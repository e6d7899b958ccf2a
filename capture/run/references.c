/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/run/references.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "capture/os/clock.h"
#include "capture/run/attach_target.h"
#include "capture/run/reference_words.h"
#include "capture/run/seize.h"
#include "cli/say.h"
#include "schemas/array.h"

#define MIB 1048576.0
#define SPEED 1e9         /* bytes a second, where it cannot be measured */
#define GATHER 0.1        /* seconds that stopped threads wait for one that does not stop */
#define GATHER_AGAIN 0.05 /* seconds that all go on before the next attempt */
#define MEMORY (UINT64_C(96) << 20)
#define PENDING_MOST 8   /* signals that are looked at in one call */
#define VECTOR_FIRST 17u /* DWARF number of xmm0 */

/* The threads of the process, each at its place in seized.threads. */
struct stop {
    struct seized seized;
    bool keep_end; /* somebody else waits for the end of the first thread */
    struct stopped {
        int status; /* as waitpid() gives it; 0: it has not stopped */
        struct user_regs_struct registers;
        struct user_fpregs_struct vectors;
    } * threads;
    size_t capacity;
    double begun; /* monotonic seconds, of the first stop */
};

struct taking {
    const struct client *client;
    pid_t process;
    const struct references_request *request;
    struct references_result *result;
    struct reference_words *words;
    struct stop stop;
    struct clock_pair moment;
    uint64_t number; /* of the snapshot */
    enum trace_references_outcome outcome;
    struct client_chunk chunk;
};

static void pause_for(double seconds)
{
    nanosleep(
        &(struct timespec){(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)},
        NULL);
}

static void note_progress(const struct taking *taking)
{
    if (taking->request->progress)
        atomic_fetch_add((_Atomic uint32_t *)taking->request->progress, 1);
}

/* Notes why the references are not taken. Returns false. */
__attribute__((format(printf, 2, 3))) static bool refuse(struct taking *taking, const char *format,
                                                         ...)
{
    va_list values;
    va_start(values, format);
    vsnprintf(taking->result->why, sizeof(taking->result->why), format, values);
    va_end(values);
    return false;
}

/* ---- reasons not to begin ------------------------------------------------------------------ */

/* True if the trace's first records say that the program ran, or did not record, before. */
static bool began_late(const struct client *client)
{
    static uint8_t chunk[TRACE_CHUNK_SIZE_DEFAULT];
    static struct trace_coding coding;
    const struct trace_chunk_header *header = (const void *)chunk;
    struct trace_record record;
    const uint8_t *at = chunk + TRACE_CHUNK_HEADER_SIZE;
    if (client->header->paused == TRACE_PAUSED_FROM_START)
        return true;
    if (pread(client->descriptor, chunk, sizeof(chunk), (off_t)client_slot_offset(client, 0)) <=
            0 ||
        header->magic != TRACE_CHUNK_MAGIC || header->commit > sizeof(chunk))
        return false;
    trace_coding_reset(&coding, header->base_ticks);
    while (trace_get(&at, chunk + header->commit, &coding, &record) == TRACE_GET_RECORD) {
        if (record.kind == TRACE_EXTENDED && record.extended.payload &&
            (record.extended.type == TRACE_EXT_BEFORE ||
             record.extended.type == TRACE_EXT_RECORDING))
            return true;
        if (record.kind == TRACE_ALLOC || record.kind == TRACE_ALLOC_ATTR)
            return false;
    }
    return false;
}

/* Returns a number of a file of "NAME: NUMBER" or "NAME NUMBER" lines, UINT64_MAX if it has none.
 */
static uint64_t number_in(const char *path, const char *name)
{
    char line[256];
    const size_t length = strlen(name);
    uint64_t number = UINT64_MAX;
    FILE *file = fopen(path, "re");
    while (file && number == UINT64_MAX && fgets(line, sizeof(line), file))
        if (strncmp(line, name, length) == 0)
            number = strtoull(line + length + strspn(line + length, ": \t"), NULL, 10);
    if (file)
        fclose(file);
    return number;
}

/* Returns the bytes that the control groups of this process leave, UINT64_MAX without a limit. What
 * they hold of files can be dropped, so it counts as free. */
static uint64_t group_room(void)
{
    char text[4096], path[4096 + 64];
    uint64_t room = UINT64_MAX;
    process_read(getpid(), "cgroup", text, sizeof(text));
    char *group = strstr(text, "0::/");
    if (!group)
        return room;
    group += strlen("0::");
    group[strcspn(group, "\n")] = '\0';
    for (char *end; *group; *end = '\0') {
        snprintf(path, sizeof(path), "/sys/fs/cgroup%s/memory.max", group);
        const uint64_t most = number_in(path, "");
        snprintf(path, sizeof(path), "/sys/fs/cgroup%s/memory.current", group);
        const uint64_t now = number_in(path, "");
        snprintf(path, sizeof(path), "/sys/fs/cgroup%s/memory.stat", group);
        const uint64_t files = number_in(path, "inactive_file");
        /* "max" reads as 0 */
        if (most != UINT64_MAX && most != 0 && now != UINT64_MAX) {
            const uint64_t used = files < now ? now - files : now;
            room = used >= most ? 0 : most - used < room ? most - used : room;
        }
        end = strrchr(group, '/');
    }
    return room;
}

static bool check_memory(struct taking *taking)
{
    const uint64_t free_kib = number_in("/proc/meminfo", "MemAvailable");
    const uint64_t group = group_room();
    if (free_kib != UINT64_MAX && free_kib << 10 < MEMORY)
        return refuse(
            taking, "there are %.0f MiB of memory left, and it may need %.0f; close other programs",
            (double)free_kib / 1024, (double)MEMORY / MIB);
    if (group < MEMORY)
        return refuse(taking,
                      "the control group has %.0f MiB of memory left, and it may need %.0f; raise "
                      "its memory.max",
                      (double)group / MIB, (double)MEMORY / MIB);
    return true;
}

/* Refuses if the stop would last too long, by the speed at which some of the memory is read now. */
static bool check_time(struct taking *taking)
{
    const long kib = process_status_number(taking->process, "status", "RssAnon");
    const long threads = attach_thread_count(taking->process);
    const double speed = reference_words_measure(taking->words);
    const double bytes = kib > 0 ? (double)kib * 1024 : 0;
    const double seconds = bytes / (speed > 0 ? speed : SPEED) + (double)threads * 50e-6;
    if (seconds <= taking->request->stop)
        return true;
    return refuse(taking,
                  "it would stand still for about %.1f s (%.0f MiB, %ld threads); "
                  "--references-stop=%.0f allows that",
                  seconds, bytes / MIB, threads, seconds * 1.5 + 1);
}

/* ---- the stop ------------------------------------------------------------------------------ */

/* Returns true if a signal waits that the thread will take as soon as it goes on. */
static bool has_signal(pid_t thread)
{
    uint64_t blocked;
    siginfo_t signals[PENDING_MOST];
    if (ptrace(PTRACE_GETSIGMASK, thread, sizeof(blocked), &blocked) != 0)
        return true;
    for (unsigned shared = 0; shared < 2; shared++) {
        struct __ptrace_peeksiginfo_args from = {
            .off = 0, .flags = shared ? PTRACE_PEEKSIGINFO_SHARED : 0, .nr = PENDING_MOST};
        long count;
        while ((count = ptrace(PTRACE_PEEKSIGINFO, thread, &from, signals)) > 0) {
            for (long i = 0; i < count; i++)
                if (!(blocked >> (signals[i].si_signo - 1) & 1))
                    return true;
            from.off += (uint64_t)count;
        }
    }
    return false;
}

/* Returns true if a stop ends the call with EINTR, though no handler runs (signal(7)), and the call
 * may be made again. */
static bool is_ended_by_stop(uint64_t call)
{
    switch (call) {
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
    case SYS_epoll_pwait2:
    case SYS_semop:
    case SYS_semtimedop:
    case SYS_rt_sigtimedwait:
    case SYS_io_getevents:
    case SYS_io_pgetevents:
    case SYS_msgrcv:
    case SYS_msgsnd:
    case SYS_read: /* the others: of sockets with a time limit */
    case SYS_readv:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_recvmmsg:
    case SYS_accept:
    case SYS_accept4:
    case SYS_connect:
    case SYS_write:
    case SYS_writev:
    case SYS_sendto:
    case SYS_sendmsg:
    case SYS_sendmmsg:
        return true;
    default:
        return false;
    }
}

/* Makes a thread that the stop has woken from a call begin that call again. */
static void mend_call(pid_t thread, const struct stopped *stopped)
{
    struct user_regs_struct registers = stopped->registers;
    struct iovec set = {&registers, sizeof(registers)};
    if (stopped->status >> 16 != PTRACE_EVENT_STOP || (int64_t)registers.rax != -EINTR ||
        !is_ended_by_stop(registers.orig_rax) || has_signal(thread))
        return;
    registers.rax = registers.orig_rax;
    registers.rip -= 2; /* to the instruction of the call */
    ptrace(PTRACE_SETREGSET, thread, NT_PRSTATUS, &set);
}

/* Lets all threads go on as they were, untraced. */
static void let_go(struct stop *stop)
{
    for (size_t i = 0; i < stop->seized.count; i++) {
        const pid_t thread = stop->seized.threads[i];
        struct stopped *stopped = &stop->threads[i];
        if (i >= stop->capacity || stopped->status == 0) {
            int status;
            /* It was interrupted, and may stop only now. */
            const enum seized_waited waited =
                ptrace(PTRACE_INTERRUPT, thread, NULL, NULL) != 0
                    ? SEIZED_ENDED
                    : seized_wait(thread, &status, SEIZED_LONG_ROUNDS,
                                  stop->keep_end && thread == stop->seized.process);
            if (waited == SEIZED_STOPPED)
                ptrace(PTRACE_DETACH, thread, NULL, status >> 16 ? 0L : (long)WSTOPSIG(status));
            continue;
        }
        mend_call(thread, stopped);
        ptrace(PTRACE_DETACH, thread, NULL,
               stopped->status >> 16 ? 0L : (long)WSTOPSIG(stopped->status));
    }
}

/* Waits until the threads from `first` on have stopped. Returns the one that has not, 0: all have,
 * -1: there is no memory. */
static pid_t wait_for_all(struct stop *stop, size_t first, double until)
{
    const size_t had = stop->capacity;
    if (!array_grow(&stop->threads, &stop->capacity, stop->seized.count, sizeof(*stop->threads)))
        return -1;
    memset(stop->threads + had, 0, (stop->capacity - had) * sizeof(*stop->threads));
    for (size_t i = first; i < stop->seized.count;) {
        const pid_t thread = stop->seized.threads[i];
        int status;
        const enum seized_waited waited =
            seized_wait(thread, &status, SEIZED_QUICK_ROUNDS + 10,
                        stop->keep_end && thread == stop->seized.process);
        if (waited == SEIZED_LONG) {
            if (run_steer_now() > until)
                return thread;
            continue;
        }
        if (waited == SEIZED_ENDED) {
            seized_remove(&stop->seized, thread); /* the last one has its place now */
            continue;
        }
        stop->threads[i++].status = status;
    }
    return 0;
}

/* Stops all threads, also new ones. Returns as wait_for_all(), or -2 with errno
 * if the process cannot be traced. */
static pid_t stop_once(struct taking *taking)
{
    struct stop *stop = &taking->stop;
    const double until = run_steer_now() + GATHER;
    if (stop->threads)
        memset(stop->threads, 0, stop->capacity * sizeof(*stop->threads));
    for (size_t before = 0;; before = stop->seized.count) {
        const int added = seized_add_new(&stop->seized);
        if (added < 0)
            return -2;
        if (added == 0 && stop->seized.count == before)
            return 0;
        if (before == 0)
            stop->begun = run_steer_now();
        for (size_t i = before; i < stop->seized.count; i++)
            ptrace(PTRACE_INTERRUPT, stop->seized.threads[i], NULL, NULL);
        const pid_t left = wait_for_all(stop, before, until);
        if (left != 0)
            return left;
        note_progress(taking);
    }
}

/* Stops the process. Attempts that take too long are given up, so that the threads that had stopped
 * go on: one that waits for a child of vfork() stops only after that. */
static bool stop_all(struct taking *taking)
{
    const double end = run_steer_now() + taking->request->wait;
    for (;;) {
        const pid_t left = stop_once(taking);
        if (left == 0 && taking->stop.seized.count > 0)
            return true;
        const int error = left == 0 ? ESRCH : errno;
        const char state = left > 0 ? attach_thread_state(taking->process, left) : ' ';
        let_go(&taking->stop);
        seized_free(&taking->stop.seized);
        if (left == -1)
            return refuse(taking, "there is no memory for its threads");
        if (left <= 0 || state == 'X') {
            seized_explain(taking->process, error, taking->result->why,
                           sizeof(taking->result->why));
            return false;
        }
        if (run_steer_now() > end)
            return refuse(taking,
                          "its thread %d cannot be stopped: it waits for a child of vfork, or for "
                          "a device; try again later",
                          (int)left);
        note_progress(taking);
        pause_for(GATHER_AGAIN);
    }
}

static bool read_registers(struct taking *taking)
{
    struct stop *stop = &taking->stop;
    for (size_t i = 0; i < stop->seized.count; i++) {
        struct stopped *stopped = &stop->threads[i];
        struct iovec general = {&stopped->registers, sizeof(stopped->registers)};
        struct iovec vectors = {&stopped->vectors, sizeof(stopped->vectors)};
        if (ptrace(PTRACE_GETREGSET, stop->seized.threads[i], NT_PRSTATUS, &general) != 0 ||
            general.iov_len != sizeof(stopped->registers))
            return refuse(taking, "the registers of its thread %d cannot be read",
                          (int)stop->seized.threads[i]);
        if (ptrace(PTRACE_GETREGSET, stop->seized.threads[i], NT_PRFPREG, &vectors) != 0)
            memset(&stopped->vectors, 0, sizeof(stopped->vectors));
    }
    return true;
}

/* Does all that is done in the stop. False: nothing is known, and `why` says why. */
static bool read_stopped(struct taking *taking)
{
    const struct stop *stop = &taking->stop;
    const struct trace_file_header *header = taking->client->header;
    clock_is_tsc = header->clock == TRACE_CLOCK_TSC;
    taking->moment = clock_read_pair();
    if (header->state != TRACE_STATE_RECORDING)
        return refuse(taking, "the recording has ended by now");
    if (!read_registers(taking))
        return false;
    struct reference_stack *stacks = calloc(stop->seized.count, sizeof(*stacks));
    for (size_t i = 0; stacks && i < stop->seized.count; i++)
        stacks[i] = (struct reference_stack){stop->threads[i].registers.rsp,
                                             stop->threads[i].registers.fs_base};
    const bool good = stacks && reference_maps_read(reference_words_maps(taking->words), stacks,
                                                    stop->seized.count, header->own_ranges,
                                                    header->own_range_count);
    const int error = errno;
    free(stacks);
    if (!good)
        return refuse(taking, "its mappings cannot be read: %s", strerror(error));
    taking->outcome = reference_words_read(taking->words, stop->begun + taking->request->stop,
                                           taking->request->progress);
    return true;
}

/* ---- writing ------------------------------------------------------------------------------- */

/* Puts a record. False: there is no room in the trace. */
static bool put(struct taking *taking, enum trace_extended type, const uint8_t *payload,
                const uint8_t *end)
{
    struct trace_file_header *header = taking->client->header;
    const size_t length = (size_t)(end - payload);
    if (!client_chunk_reserve(&taking->chunk, taking->client, length)) {
        client_chunk_leave(&taking->chunk);
        note_progress(taking);
        const uint32_t sequence =
            atomic_fetch_add((_Atomic uint32_t *)&header->reference_chunks, 1);
        if (!client_chunk_begin_at(&taking->chunk, taking->client, TRACE_THREAD_REFERENCES,
                                   sequence, taking->moment) ||
            !client_chunk_reserve(&taking->chunk, taking->client, length))
            return false;
    }
    client_chunk_put(&taking->chunk, type, payload, length);
    return true;
}

static bool put_piece(void *context, const struct trace_references_words *piece)
{
    struct taking *taking = context;
    uint8_t payload[TRACE_EXTENDED_MAX];
    return put(taking, TRACE_EXT_REFERENCES_WORDS, payload,
               trace_put_references_words(payload, taking->number, piece));
}

static bool put_mappings(struct taking *taking)
{
    uint8_t payload[TRACE_EXTENDED_MAX];
    const struct reference_maps *maps = reference_words_maps(taking->words);
    for (size_t i = 0; i < maps->mapping_count; i++) {
        const struct reference_mapping *mapping = &maps->mappings[i];
        const struct trace_references_mapping record = {.number = taking->number,
                                                        .start = mapping->start,
                                                        .end = mapping->end,
                                                        .protection = mapping->protection,
                                                        .kind = mapping->kind,
                                                        .offset = mapping->offset,
                                                        .path = mapping->path,
                                                        .path_length = strlen(mapping->path)};
        if (!put(taking, TRACE_EXT_REFERENCES_MAPPING, payload,
                 trace_put_references_mapping(payload, &record)))
            return false;
    }
    return true;
}

/* Notes a register if it leads into the heap. */
static void add_register(const struct taking *taking, struct trace_references_thread *thread,
                         uint32_t number, uint64_t value)
{
    const uint64_t address = value & ((UINT64_C(1) << 48) - 1);
    if (thread->count < TRACE_REFERENCES_REGISTERS &&
        reference_maps_leads(reference_words_maps(taking->words), address)) {
        thread->registers[thread->count].number = number;
        thread->registers[thread->count++].value = address;
    }
}

static bool put_threads(struct taking *taking)
{
    uint8_t payload[TRACE_EXTENDED_MAX];
    const struct stop *stop = &taking->stop;
    for (size_t i = 0; i < stop->seized.count; i++) {
        const struct user_regs_struct *r = &stop->threads[i].registers;
        const uint64_t general[16] = {r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi,
                                      r->rbp, r->rsp, r->r8,  r->r9,  r->r10, r->r11,
                                      r->r12, r->r13, r->r14, r->r15};
        uint64_t vectors[32];
        struct trace_references_thread thread = {.number = taking->number,
                                                 .tid = (uint64_t)stop->seized.threads[i],
                                                 .stack_pointer = r->rsp,
                                                 .thread_pointer = r->fs_base,
                                                 .instruction = r->rip};
        memcpy(vectors, stop->threads[i].vectors.xmm_space, sizeof(vectors));
        for (uint32_t k = 0; k < 16; k++)
            if (k != 7) /* the stack pointer is there already */
                add_register(taking, &thread, k, general[k]);
        for (uint32_t k = 0; k < 32; k++)
            add_register(taking, &thread, VECTOR_FIRST + k / 2, vectors[k]);
        if (!put(taking, TRACE_EXT_REFERENCES_THREAD, payload,
                 trace_put_references_thread(payload, &thread)))
            return false;
    }
    return true;
}

static bool put_begin(struct taking *taking, bool late)
{
    uint8_t payload[TRACE_EXTENDED_MAX];
    const struct reference_sums sums = reference_words_sums(taking->words);
    const char *name = taking->result->name;
    const struct trace_references record = {
        .number = taking->number,
        .reason = taking->request->reason,
        .flags = late ? TRACE_REFERENCES_PARTIAL : 0u,
        .read = TRACE_REFERENCES_READ_HEAP | TRACE_REFERENCES_READ_DATA |
                TRACE_REFERENCES_READ_STACKS | TRACE_REFERENCES_READ_REGISTERS,
        .swapped = sums.swapped,
        .shared = sums.shared,
        .unreadable = sums.unreadable,
        .name = name,
        .name_length = strlen(name)};
    return put(taking, TRACE_EXT_REFERENCES, payload, trace_put_references(payload, &record));
}

/* Writes the snapshot. False: there is no room for all of it. */
static bool write_all(struct taking *taking, bool late)
{
    struct references_result *result = taking->result;
    const struct reference_sums sums = reference_words_sums(taking->words);
    struct trace_references_end last;
    uint8_t payload[TRACE_EXTENDED_MAX];
    taking->number =
        atomic_fetch_add((_Atomic uint32_t *)&taking->client->header->references, 1) + 1;
    if (taking->request->name && *taking->request->name)
        snprintf(result->name, sizeof(result->name), "%s", taking->request->name);
    else
        snprintf(result->name, sizeof(result->name), "references %" PRIu64, taking->number);
    bool good = put_begin(taking, late);
    if (good && taking->outcome == TRACE_REFERENCES_COMPLETE) {
        good = put_mappings(taking) && put_threads(taking) &&
               reference_words_each(taking->words, put_piece, taking);
        if (!good)
            taking->outcome = TRACE_REFERENCES_NO_ROOM;
    }
    result->words = sums.words;
    result->bytes = sums.bytes;
    result->left_out = sums.swapped + sums.unreadable;
    last = (struct trace_references_end){.number = taking->number,
                                         .words = sums.words,
                                         .bytes = sums.bytes,
                                         .stopped_ns = (uint64_t)(result->stopped * 1e9),
                                         .outcome = taking->outcome,
                                         .threads = result->threads};
    good =
        put(taking, TRACE_EXT_REFERENCES_END, payload, trace_put_references_end(payload, &last)) &&
        good;
    client_chunk_leave(&taking->chunk);
    return good;
}

/* ---- the whole ----------------------------------------------------------------------------- */

/* Waits for its turn: one process at a time takes references of a trace. */
static bool lock(struct taking *taking, double until)
{
    while (flock(taking->client->descriptor, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK)
            return refuse(taking, "the trace cannot be locked: %s", strerror(errno));
        if (run_steer_now() > until)
            return refuse(taking, "another request is pending; try again");
        note_progress(taking);
        pause_for(0.001);
    }
    return true;
}

/* Writes the folder of the trace, where there is room for it. */
static void folder_of(const char *path, char *folder, size_t size)
{
    const char *slash = strrchr(path, '/');
    if (slash)
        snprintf(folder, size, "%.*s", slash > path ? (int)(slash - path) : 1, path);
    else
        snprintf(folder, size, ".");
}

/* Returns true if the process lives and does not record into the trace any more. */
static bool has_executed(const struct taking *taking)
{
    return taking->process == (pid_t)taking->client->header->pid &&
           client_recorder(taking->client) != CLIENT_GOOD &&
           !seized_has_ended(taking->process, taking->process);
}

/* Explains an outcome that is not complete. */
static bool explain(struct taking *taking)
{
    static const char *const texts[] = {
        [TRACE_REFERENCES_ENDED] = "the process ended before all was read",
        [TRACE_REFERENCES_NO_ROOM] = "there is no room for them on the disk of the trace",
        [TRACE_REFERENCES_TOO_LONG] =
            "it would have stood still for longer than --references-stop allows",
        [TRACE_REFERENCES_NO_MEMORY] =
            "there is no memory, or no room for a temporary file beside the trace",
        [TRACE_REFERENCES_UNREADABLE] = "its memory cannot be read",
    };
    return refuse(taking, "%s", texts[taking->outcome]);
}

static bool take_locked(struct taking *taking, bool late)
{
    const struct trace_file_header *header = taking->client->header;
    char folder[PATH_MAX];
    folder_of(taking->request->path, folder, sizeof(folder));
    taking->words = reference_words_open(taking->process, folder, taking->client->inode);
    if (!taking->words) {
        if (errno == EACCES || errno == EPERM)
            seized_explain(taking->process, EPERM, taking->result->why,
                           sizeof(taking->result->why));
        else
            refuse(taking, "its page map cannot be read: %s", strerror(errno));
        return false;
    }
    if (!reference_maps_read(reference_words_maps(taking->words), NULL, 0, header->own_ranges,
                             header->own_range_count))
        return refuse(taking, "its mappings cannot be read: %s", strerror(errno));
    note_progress(taking);
    if (!check_memory(taking) || !check_time(taking) || !stop_all(taking))
        return false;
    const bool known = read_stopped(taking);
    taking->result->threads = taking->stop.seized.count;
    let_go(&taking->stop);
    taking->result->stopped = run_steer_now() - taking->stop.begun;
    note_progress(taking);
    if (!known)
        return false;
    if (taking->outcome == TRACE_REFERENCES_COMPLETE && has_executed(taking))
        return refuse(taking, "it runs another program now");
    const bool whole = write_all(taking, late);
    note_progress(taking);
    return whole && taking->outcome == TRACE_REFERENCES_COMPLETE ? true : explain(taking);
}

bool references_take(const struct client *client, pid_t process,
                     const struct references_request *request, struct references_result *result)
{
    struct taking taking = {.client = client,
                            .process = process,
                            .request = request,
                            .result = result,
                            .stop.seized.process = process};
    *result = (struct references_result){0};
    const bool late = began_late(client);
    if (client->header->sample_interval != 0)
        return refuse(&taking, "only a sample of its blocks is recorded; record it without "
                               "--sample");
    if (late && !request->partial)
        return refuse(&taking, "recording began later than the program, so many blocks are not "
                               "known; --partial takes them all the same");
    if (!client->writable)
        return refuse(&taking, "its trace may not be written");
    if (!lock(&taking, run_steer_now() + request->wait))
        return false;
    /* The program's own child is waited for by this process, elsewhere. */
    taking.stop.keep_end = process_status_number(process, "status", "PPid") == (long)getpid();
    const bool taken = take_locked(&taking, late);
    flock(client->descriptor, LOCK_UN);
    if (taking.words)
        reference_words_close(taking.words);
    seized_free(&taking.stop.seized);
    free(taking.stop.threads);
    return taken;
}

/* ---- mprof-run ----------------------------------------------------------------------------- */

#define INTERVAL 5 /* ms between looks for a process that waits */
#define WAIT 0.5   /* seconds for threads that cannot be stopped at once */
#define LINES 8u   /* that say what was taken: a build may start thousands of programs */

bool run_references_parse(struct run_references *references, const char *text)
{
    char *end;
    if (strcmp(text, "end") == 0)
        return references->at_end = true;
    if (strcmp(text, "SIGUSR1") == 0 || strcmp(text, "SIGUSR2") == 0) {
        references->signal = text[6] == '1' ? SIGUSR1 : SIGUSR2;
        return true;
    }
    if (strncmp(text, "mark:", 5) == 0 && text[5]) {
        references->mark = text + 5;
        return true;
    }
    const double number = strtod(text, &end);
    const double unit = strcmp(end, "ms") == 0  ? 1e-3
                        : strcmp(end, "s") == 0 ? 1
                        : strcmp(end, "m") == 0 ? 60
                        : strcmp(end, "h") == 0 ? 3600
                                                : 0;
    references->after = number * unit;
    return *text >= '0' && *text <= '9' && references->after > 0 && references->after < 1e9;
}

bool run_references_wanted(const struct run_references *references)
{
    return references->at_end || references->signal || references->mark || references->after > 0;
}

struct run_step {
    struct run_references *references;
    bool all; /* of all traces, not only of those that wait */
    enum trace_references_reason reason;
    const char *name; /* NULL: as the reason says */
};

static void take_for_run(const struct run_step *step, const struct client *client, const char *path,
                         enum trace_references_reason reason)
{
    static struct references_result result;
    struct run_references *references = step->references;
    const pid_t process = client_recorder(client) == CLIENT_GONE ? client_recorder_elsewhere(client)
                                                                 : (pid_t)client->header->pid;
    if (process == 0)
        return;
    const char *names[] = {[TRACE_REFERENCES_AT_END] = "end of program",
                           [TRACE_REFERENCES_MARK] = references->mark,
                           [TRACE_REFERENCES_TIME] = NULL};
    const struct references_request request = {.path = path,
                                               .name = step->name ? step->name
                                                       : reason < sizeof(names) / sizeof(*names)
                                                           ? names[reason]
                                                           : NULL,
                                               .reason = reason,
                                               .partial = references->partial,
                                               .stop = references->stop,
                                               .wait = WAIT,
                                               .progress = &client->header->take_progress};
    if (!references_take(client, process, &request, &result))
        say("mprof-run", "process %d: its references are not taken: %s", (int)process, result.why);
    else if (!references->quiet && references->said < LINES)
        references_say("mprof-run", process, &result);
    if (!references->quiet && ++references->said == LINES)
        say("mprof-run", "no more lines about references, except those that are not taken");
}

static void step_trace(void *context, const struct client *client, const char *path)
{
    const struct run_step *step = context;
    struct trace_file_header *header = client->header;
    uint32_t asked = TRACE_TAKE_ASKED;
    if (atomic_compare_exchange_strong((_Atomic uint32_t *)&header->take, &asked,
                                       TRACE_TAKE_TAKEN)) {
        const enum trace_references_reason reason =
            (enum trace_references_reason)header->take_reason;
        /* The recorder asks at the end, too, if marks are all that is wanted. */
        if (reason != TRACE_REFERENCES_AT_END || step->references->at_end)
            take_for_run(step, client, path, reason);
        uint32_t taken = TRACE_TAKE_TAKEN; /* the process may wait no longer */
        atomic_compare_exchange_strong((_Atomic uint32_t *)&header->take, &taken, TRACE_TAKE_DONE);
    } else if (step->all && !header->unrecorded && header->state == TRACE_STATE_RECORDING) {
        take_for_run(step, client, path, step->reason);
    }
}

/* Finds what is due now. Returns false if there is nothing to look for. */
static bool find_due(struct run_references *references, unsigned signals, struct run_step *step)
{
    const double now = run_steer_now();
    *step = (struct run_step){.references = references};
    if (references->began_at == 0)
        references->began_at = now;
    if (references->signal && signals != references->signals_used) {
        references->signals_used = signals;
        step->all = true;
        step->reason = TRACE_REFERENCES_SIGNAL;
    } else if (references->after > 0 && !references->taken_after &&
               now >= references->began_at + references->after) {
        references->taken_after = true;
        step->all = true;
        step->reason = TRACE_REFERENCES_TIME;
    }
    return step->all || references->at_end || references->mark;
}

/* Returns the milliseconds until the next look, or -1 for never. */
static int next_look(const struct run_references *references)
{
    const double left = references->began_at + references->after - run_steer_now();
    if (references->at_end || references->mark)
        return INTERVAL;
    if (references->after > 0 && !references->taken_after)
        return left > 0 ? (int)(left * 1e3) + 1 : 0;
    return references->signal ? RUN_STEER_INTERVAL : -1;
}

int run_references_step(struct run_references *references, struct run_follow *follow,
                        unsigned signals)
{
    struct run_step step;
    if (find_due(references, signals, &step))
        run_follow_each(follow, step_trace, &step);
    return next_look(references);
}

int run_references_step_attached(struct run_references *references, const struct client *client,
                                 const char *path)
{
    struct run_step step;
    if (find_due(references, 0, &step))
        step_trace(&step, client, path);
    return next_look(references);
}

void run_references_end_attached(struct run_references *references, const struct client *client,
                                 const char *path)
{
    const struct run_step step = {.references = references,
                                  .all = true,
                                  .reason = TRACE_REFERENCES_AT_END,
                                  .name = "end of recording"};
    if (references->at_end)
        step_trace((void *)&step, client, path);
}

void references_say(const char *program, pid_t process, const struct references_result *result)
{
    char left[64] = "";
    if (result->left_out > 0)
        snprintf(left, sizeof(left), ", %.1f MiB were not in memory and are not read",
                 (double)result->left_out / MIB);
    say(program,
        "process %d: references \"%s\": %" PRIu64 " words of %.1f MiB lead into its heap%s; it "
        "stood still for %.1f ms",
        (int)process, result->name, result->words, (double)result->bytes / MIB, left,
        result->stopped * 1e3);
}
