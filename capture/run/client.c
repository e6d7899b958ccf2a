/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/run/client.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/run/client_maps.h"
#include "schemas/trace_codec.h"

/* One in this many looks for an answer asks whether the process still maps the trace. */
#define LOOKS_AT_MAPPINGS 64u

static _Atomic uint32_t *outside_word(uint32_t *word)
{
    return (_Atomic uint32_t *)word;
}

static bool outside_is_trace(const struct trace_file_header *header)
{
    return memcmp(header->magic, TRACE_MAGIC, sizeof(header->magic)) == 0 &&
           header->version == TRACE_VERSION && header->chunk_size >= TRACE_CHUNK_SIZE_MIN &&
           header->header_sum == trace_sum(header, offsetof(struct trace_file_header, header_sum));
}

enum outside_status outside_open(struct outside *outside, const char *path)
{
    struct stat status;
    *outside = (struct outside){.descriptor = open(path, O_RDWR | O_CLOEXEC), .writable = true};
    if (outside->descriptor < 0 && (errno == EACCES || errno == EROFS)) {
        outside->writable = false;
        outside->descriptor = open(path, O_RDONLY | O_CLOEXEC);
    }
    if (outside->descriptor < 0)
        return OUTSIDE_ERROR;
    enum outside_status result = OUTSIDE_NOT_TRACE;
    if (fstat(outside->descriptor, &status) != 0)
        result = OUTSIDE_ERROR;
    else if (S_ISREG(status.st_mode) && status.st_size >= (off_t)TRACE_FILE_HEADER_SIZE) {
        void *memory =
            mmap(NULL, TRACE_FILE_HEADER_SIZE, PROT_READ | (outside->writable ? PROT_WRITE : 0),
                 MAP_SHARED, outside->descriptor, 0);
        outside->header = memory == MAP_FAILED ? NULL : memory;
        outside->device = status.st_dev;
        outside->inode = status.st_ino;
        result = !outside->header                     ? OUTSIDE_ERROR
                 : !outside_is_trace(outside->header) ? OUTSIDE_NOT_TRACE
                                                      : OUTSIDE_GOOD;
    }
    if (result != OUTSIDE_GOOD) {
        int error = errno;
        outside_close(outside);
        errno = error;
    }
    return result;
}

void outside_close(struct outside *outside)
{
    if (outside->header)
        munmap(outside->header, TRACE_FILE_HEADER_SIZE);
    if (outside->descriptor >= 0)
        close(outside->descriptor);
    *outside = (struct outside){.descriptor = -1};
}

/* Tells whether the process may have the trace mapped. False only if its mappings may be read and
 * the trace is not one of them. */
static bool outside_may_be_mapped(const struct outside *outside, pid_t process)
{
    struct outside_maps maps;
    struct stat status;
    bool found = false;
    if (!outside_maps_open(&maps, process))
        return true;
    /* Some file systems show another inode here than stat does, so compare the path too. */
    while (!found && outside_maps_next(&maps))
        found = maps.inode == outside->inode ||
                (stat(maps.path, &status) == 0 && status.st_dev == outside->device &&
                 status.st_ino == outside->inode);
    outside_maps_close(&maps);
    return found;
}

/* Does what outside_recorder() does, without a look at the mappings: each takes the kernel up to a
 * microsecond. */
static enum outside_status outside_recorder_quickly(const struct outside *outside)
{
    if (atomic_load(outside_word(&outside->header->state)) != TRACE_STATE_RECORDING)
        return OUTSIDE_FINISHED;
    return kill((pid_t)outside->header->pid, 0) != 0 && errno == ESRCH ? OUTSIDE_GONE
                                                                       : OUTSIDE_GOOD;
}

enum outside_status outside_recorder(const struct outside *outside)
{
    enum outside_status status = outside_recorder_quickly(outside);
    return status == OUTSIDE_GOOD && !outside_may_be_mapped(outside, (pid_t)outside->header->pid)
               ? OUTSIDE_GONE
               : status;
}

/* Sends every thread that may be writing into the trace to its slow path. */
static void outside_raise_looks(const struct outside *outside)
{
    const uint32_t look = 1;
    const uint32_t slots = atomic_load(outside_word(&outside->header->next_slot));
    for (uint32_t i = 0; i < slots; i++) {
        struct trace_chunk_header chunk;
        off_t at = TRACE_FILE_HEADER_SIZE + (off_t)i * outside->header->chunk_size;
        /* A slot that is being reserved may lie past the end of the file. */
        if (pread(outside->descriptor, &chunk, sizeof(chunk), at) == (ssize_t)sizeof(chunk) &&
            chunk.magic == TRACE_CHUNK_MAGIC && !(chunk.flags & TRACE_CHUNK_SEALED) &&
            chunk.look == 0)
            (void)!pwrite(outside->descriptor, &look, sizeof(look),
                          at + (off_t)offsetof(struct trace_chunk_header, look));
    }
}

enum outside_status outside_ask(struct outside *outside, enum trace_request request,
                                const char *name)
{
    struct trace_file_header *header = outside->header;
    enum outside_status status = outside_recorder(outside);
    if (status != OUTSIDE_GOOD)
        return status;
    errno = EACCES;
    if (!outside->writable)
        return OUTSIDE_ERROR;
    if (flock(outside->descriptor, LOCK_EX | LOCK_NB) != 0)
        return errno == EWOULDBLOCK ? OUTSIDE_BUSY : OUTSIDE_ERROR;
    if (atomic_load(outside_word(&header->control)) == TRACE_CONTROL_TAKEN) {
        flock(outside->descriptor, LOCK_UN);
        return OUTSIDE_BUSY;
    }
    atomic_store(outside_word(&header->control), TRACE_CONTROL_NONE);
    header->request = request;
    header->answer = TRACE_ANSWER_DONE;
    memset(header->request_name, 0, sizeof(header->request_name));
    if (name)
        memcpy(header->request_name, name, strnlen(name, sizeof(header->request_name) - 1));
    atomic_store(outside_word(&header->control), TRACE_CONTROL_ASKED);
    outside_raise_looks(outside);
    outside->looks = 0;
    return OUTSIDE_WAITING;
}

enum outside_status outside_look(struct outside *outside, enum trace_answer *answer)
{
    if (atomic_load(outside_word(&outside->header->control)) != TRACE_CONTROL_DONE) {
        enum outside_status status = ++outside->looks % LOOKS_AT_MAPPINGS
                                         ? outside_recorder_quickly(outside)
                                         : outside_recorder(outside);
        /* The request may have been answered and the program may have ended between the two
         * looks. */
        if (atomic_load(outside_word(&outside->header->control)) != TRACE_CONTROL_DONE) {
            if (status == OUTSIDE_GOOD)
                return OUTSIDE_WAITING;
            /* A stop is taken, then finishes the trace, and only then is answered. */
            if (status == OUTSIDE_FINISHED &&
                atomic_load(outside_word(&outside->header->control)) == TRACE_CONTROL_TAKEN &&
                kill((pid_t)outside->header->pid, 0) == 0)
                return OUTSIDE_WAITING;
            outside_withdraw(outside);
            return status;
        }
    }
    *answer = outside->header->answer;
    atomic_store(outside_word(&outside->header->control), TRACE_CONTROL_NONE);
    flock(outside->descriptor, LOCK_UN);
    return OUTSIDE_GOOD;
}

bool outside_seal(struct outside *outside, uint64_t end_ticks, uint64_t end_monotonic_ns)
{
    struct trace_file_header *header = outside->header;
    uint32_t asked = TRACE_CONTROL_ASKED, recording = TRACE_STATE_RECORDING;
    if (outside_recorder(outside) != OUTSIDE_GOOD)
        return true;
    /* The request of another process stays: that process will find the recording finished. */
    if (flock(outside->descriptor, LOCK_EX | LOCK_NB) == 0)
        atomic_compare_exchange_strong(outside_word(&header->control), &asked, TRACE_CONTROL_NONE);
    const bool free = atomic_load(outside_word(&header->control)) != TRACE_CONTROL_TAKEN;
    if (free) {
        header->end_ticks = end_ticks;
        header->end_monotonic_ns = end_monotonic_ns;
        atomic_store(outside_word(&header->sealed), 1);
        atomic_compare_exchange_strong(outside_word(&header->state), &recording, TRACE_STATE_ENDED);
        outside_raise_looks(outside);
        flock(outside->descriptor, LOCK_UN);
    }
    return free;
}

bool outside_withdraw(struct outside *outside)
{
    uint32_t asked = TRACE_CONTROL_ASKED;
    bool back = atomic_compare_exchange_strong(outside_word(&outside->header->control), &asked,
                                               TRACE_CONTROL_NONE);
    flock(outside->descriptor, LOCK_UN);
    return back;
}

enum outside_status outside_find(pid_t process, char *path)
{
    struct outside_maps maps;
    struct outside outside;
    enum outside_status result = OUTSIDE_NOT_TRACE;
    if (!outside_maps_open(&maps, process))
        return errno == ENOENT ? OUTSIDE_GONE : OUTSIDE_ERROR;
    /* After mprof_restart() the header of the previous trace is mapped too. */
    while (result != OUTSIDE_GOOD && outside_maps_next(&maps)) {
        if (outside_open(&outside, maps.path) != OUTSIDE_GOOD)
            continue;
        snprintf(path, PATH_MAX, "%s", maps.path);
        result = outside.header->state == TRACE_STATE_RECORDING ? OUTSIDE_GOOD : OUTSIDE_FINISHED;
        outside_close(&outside);
    }
    outside_maps_close(&maps);
    return result;
}
