/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/run/client.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "capture/run/sandbox.h"
#include "schemas/trace_codec.h"

/* One in this many looks for an answer asks whether the process still maps the trace. */
#define LOOKS_AT_MAPPINGS 64u

static _Atomic uint32_t *shared_word(uint32_t *word)
{
    return (_Atomic uint32_t *)word;
}

static bool is_trace(const struct trace_file_header *header)
{
    return memcmp(header->magic, TRACE_MAGIC, sizeof(header->magic)) == 0 &&
           header->version == TRACE_VERSION && header->chunk_size >= TRACE_CHUNK_SIZE_MIN &&
           header->header_sum == trace_sum(header, offsetof(struct trace_file_header, header_sum));
}

enum client_status client_open(struct client *client, const char *path)
{
    struct stat status;
    *client = (struct client){.descriptor = open(path, O_RDWR | O_CLOEXEC), .writable = true};
    if (client->descriptor < 0 && (errno == EACCES || errno == EROFS)) {
        client->writable = false;
        client->descriptor = open(path, O_RDONLY | O_CLOEXEC);
    }
    if (client->descriptor < 0)
        return CLIENT_ERROR;
    enum client_status result = CLIENT_NOT_TRACE;
    if (fstat(client->descriptor, &status) != 0)
        result = CLIENT_ERROR;
    else if (S_ISREG(status.st_mode) && status.st_size >= (off_t)TRACE_FILE_HEADER_SIZE) {
        void *memory =
            mmap(NULL, TRACE_FILE_HEADER_SIZE, PROT_READ | (client->writable ? PROT_WRITE : 0),
                 MAP_SHARED, client->descriptor, 0);
        client->header = memory == MAP_FAILED ? NULL : memory;
        client->device = status.st_dev;
        client->inode = status.st_ino;
        result = !client->header             ? CLIENT_ERROR
                 : !is_trace(client->header) ? CLIENT_NOT_TRACE
                                             : CLIENT_GOOD;
    }
    if (result != CLIENT_GOOD) {
        int error = errno;
        client_close(client);
        errno = error;
    } else
        client->process = (pid_t)client->header->pid;
    return result;
}

void client_close(struct client *client)
{
    if (client->header)
        munmap(client->header, TRACE_FILE_HEADER_SIZE);
    if (client->descriptor >= 0)
        close(client->descriptor);
    *client = (struct client){.descriptor = -1};
}

/* The files that may be the trace of a process, from /proc/PID/maps: as long as the recorder
 * records, it keeps the header of its trace mapped, shared and writable. */
struct mapped_files {
    FILE *file;
    unsigned long inode;
    char path[PATH_MAX]; /* as the process sees it; " (deleted)" follows if the file was removed */
};

/* Begins the list. False with errno if there is no such process or its mappings may not be read. */
static bool mapped_files_open(struct mapped_files *maps, pid_t process)
{
    char name[64];
    *maps = (struct mapped_files){0};
    snprintf(name, sizeof(name), "/proc/%d/maps", (int)process);
    maps->file = fopen(name, "re");
    return maps->file != NULL;
}

/* Goes to the next file whose beginning is mapped shared and writable. False: no more. */
static bool mapped_files_next(struct mapped_files *maps)
{
    char line[PATH_MAX + 128], permissions[8];
    while (fgets(line, sizeof(line), maps->file)) {
        unsigned long offset;
        int path = 0;
        if (sscanf(line, "%*x-%*x %7s %lx %*s %lu %n", permissions, &offset, &maps->inode, &path) <
                3 ||
            strcmp(permissions, "rw-s") != 0 || offset != 0 || line[path] != '/')
            continue;
        line[strcspn(line, "\n")] = 0;
        snprintf(maps->path, sizeof(maps->path), "%s", line + path);
        return true;
    }
    return false;
}

static void mapped_files_close(struct mapped_files *maps)
{
    fclose(maps->file);
}

/* Returns true if the process has the trace mapped; `unknown` if its mappings may not be read. */
static bool is_mapped(const struct client *client, pid_t process, bool unknown)
{
    struct mapped_files maps;
    struct stat status;
    bool found = false;
    if (!mapped_files_open(&maps, process))
        return unknown;
    /* Some file systems show another inode here than stat does, so compare the path too. */
    while (!found && mapped_files_next(&maps))
        found = maps.inode == client->inode ||
                (stat(maps.path, &status) == 0 && status.st_dev == client->device &&
                 status.st_ino == client->inode);
    mapped_files_close(&maps);
    return found;
}

/* Returns the number by which the process knows itself, in its own pid namespace. 0: unknown. */
static long own_number(long process)
{
    char name[64], line[512];
    long number = 0;
    snprintf(name, sizeof(name), "/proc/%ld/status", process);
    FILE *file = fopen(name, "re");
    while (file && number == 0 && fgets(line, sizeof(line), file))
        if (strncmp(line, "NSpid:", 6) == 0)
            number = strtol(strrchr(line, '\t'), NULL, 10);
    if (file)
        fclose(file);
    return number;
}

/* A recorder of another pid namespace has another number here than the trace says. */
pid_t client_recorder_elsewhere(const struct client *client)
{
    DIR *processes = opendir("/proc");
    const struct dirent *entry;
    pid_t found = 0;
    while (processes && !found && (entry = readdir(processes))) {
        const long process = strtol(entry->d_name, NULL, 10);
        if (process > 0 && process != (long)client->header->pid &&
            own_number(process) == (long)client->header->pid &&
            is_mapped(client, (pid_t)process, false))
            found = (pid_t)process;
    }
    if (processes)
        closedir(processes);
    return found;
}

/* Does what client_recorder() does, without a look at the mappings: each takes the kernel up to a
 * microsecond. */
static enum client_status recorder_quickly(const struct client *client)
{
    if (atomic_load(shared_word(&client->header->state)) != TRACE_STATE_RECORDING)
        return CLIENT_FINISHED;
    return kill(client->process, 0) != 0 && errno == ESRCH ? CLIENT_GONE : CLIENT_GOOD;
}

enum client_status client_recorder(const struct client *client)
{
    enum client_status status = recorder_quickly(client);
    return status == CLIENT_GOOD && !is_mapped(client, client->process, true) ? CLIENT_GONE
                                                                              : status;
}

enum client_status client_find_recorder(struct client *client)
{
    const enum client_status status = client_recorder(client);
    if (status == CLIENT_FINISHED || is_mapped(client, client->process, false))
        return status;
    const pid_t elsewhere = client_recorder_elsewhere(client);
    if (elsewhere == 0)
        return status;
    client->process = elsewhere;
    return client_recorder(client);
}

/* Sends every thread that may be writing into the trace to its slow path. */
static void raise_looks(const struct client *client)
{
    const uint32_t look = 1;
    const uint32_t slots = atomic_load(shared_word(&client->header->next_slot));
    for (uint32_t i = 0; i < slots; i++) {
        struct trace_chunk_header chunk;
        off_t at = TRACE_FILE_HEADER_SIZE + (off_t)i * client->header->chunk_size;
        /* A slot that is being reserved may lie past the end of the file. */
        if (pread(client->descriptor, &chunk, sizeof(chunk), at) == (ssize_t)sizeof(chunk) &&
            chunk.magic == TRACE_CHUNK_MAGIC && !(chunk.flags & TRACE_CHUNK_SEALED) &&
            chunk.look == 0)
            (void)!pwrite(client->descriptor, &look, sizeof(look),
                          at + (off_t)offsetof(struct trace_chunk_header, look));
    }
}

enum client_status client_ask(struct client *client, enum trace_request request, const char *name)
{
    struct trace_file_header *header = client->header;
    enum client_status status = client_recorder(client);
    if (status != CLIENT_GOOD)
        return status;
    errno = EACCES;
    if (!client->writable)
        return CLIENT_ERROR;
    if (flock(client->descriptor, LOCK_EX | LOCK_NB) != 0)
        return errno == EWOULDBLOCK ? CLIENT_BUSY : CLIENT_ERROR;
    if (atomic_load(shared_word(&header->control)) == TRACE_CONTROL_TAKEN) {
        flock(client->descriptor, LOCK_UN);
        return CLIENT_BUSY;
    }
    atomic_store(shared_word(&header->control), TRACE_CONTROL_NONE);
    header->request = request;
    header->answer = TRACE_ANSWER_DONE;
    memset(header->request_name, 0, sizeof(header->request_name));
    if (name)
        memcpy(header->request_name, name, strnlen(name, sizeof(header->request_name) - 1));
    atomic_store(shared_word(&header->control), TRACE_CONTROL_ASKED);
    raise_looks(client);
    client->looks = 0;
    return CLIENT_WAITING;
}

enum client_status client_look(struct client *client, enum trace_answer *answer)
{
    if (atomic_load(shared_word(&client->header->control)) != TRACE_CONTROL_DONE) {
        enum client_status status = ++client->looks % LOOKS_AT_MAPPINGS ? recorder_quickly(client)
                                                                        : client_recorder(client);
        /* Between the two looks the answer may have come and the program ended. */
        if (atomic_load(shared_word(&client->header->control)) != TRACE_CONTROL_DONE) {
            if (status == CLIENT_GOOD)
                return CLIENT_WAITING;
            /* A stop is taken, then finishes the trace, and only then is answered. */
            if (status == CLIENT_FINISHED &&
                atomic_load(shared_word(&client->header->control)) == TRACE_CONTROL_TAKEN &&
                kill(client->process, 0) == 0)
                return CLIENT_WAITING;
            client_withdraw(client);
            return status;
        }
    }
    *answer = client->header->answer;
    atomic_store(shared_word(&client->header->control), TRACE_CONTROL_NONE);
    flock(client->descriptor, LOCK_UN);
    return CLIENT_GOOD;
}

bool client_seal(struct client *client, uint64_t end_ticks, uint64_t end_monotonic_ns)
{
    struct trace_file_header *header = client->header;
    uint32_t asked = TRACE_CONTROL_ASKED, recording = TRACE_STATE_RECORDING;
    if (client_recorder(client) != CLIENT_GOOD)
        return true;
    /* The request of another process stays: that process will find the recording finished. */
    if (flock(client->descriptor, LOCK_EX | LOCK_NB) == 0)
        atomic_compare_exchange_strong(shared_word(&header->control), &asked, TRACE_CONTROL_NONE);
    const bool free = atomic_load(shared_word(&header->control)) != TRACE_CONTROL_TAKEN;
    if (free) {
        header->end_ticks = end_ticks;
        header->end_monotonic_ns = end_monotonic_ns;
        atomic_store(shared_word(&header->sealed), 1);
        atomic_compare_exchange_strong(shared_word(&header->state), &recording, TRACE_STATE_ENDED);
        raise_looks(client);
        flock(client->descriptor, LOCK_UN);
    }
    return free;
}

void client_note_outcome(struct client *client, int status)
{
    struct trace_file_header *header = client->header;
    if (!client->writable || header->state == TRACE_STATE_EXEC || header->rotated != 0)
        return;
    const bool killed = status >= 0 && WIFSIGNALED(status);
    header->outcome_number = (uint32_t)(status < 0 ? 0
                                        : killed   ? WTERMSIG(status)
                                                   : WEXITSTATUS(status));
    atomic_store(shared_word(&header->outcome), status < 0 ? TRACE_OUTCOME_GONE
                                                : killed   ? TRACE_OUTCOME_KILLED
                                                           : TRACE_OUTCOME_EXITED);
}

bool client_withdraw(struct client *client)
{
    uint32_t asked = TRACE_CONTROL_ASKED;
    bool back = atomic_compare_exchange_strong(shared_word(&client->header->control), &asked,
                                               TRACE_CONTROL_NONE);
    flock(client->descriptor, LOCK_UN);
    return back;
}

enum client_status client_find(pid_t process, char *path)
{
    struct mapped_files maps;
    struct client client;
    enum client_status result = CLIENT_NOT_TRACE;
    if (!mapped_files_open(&maps, process))
        return errno == ENOENT ? CLIENT_GONE : CLIENT_ERROR;
    /* After mprof_restart() the header of the previous trace is mapped too. */
    while (result != CLIENT_GOOD && mapped_files_next(&maps)) {
        if (client_open(&client, maps.path) != CLIENT_GOOD)
            continue;
        snprintf(path, PATH_MAX, "%s", maps.path);
        result = client.header->state == TRACE_STATE_RECORDING ? CLIENT_GOOD : CLIENT_FINISHED;
        client_close(&client);
    }
    mapped_files_close(&maps);
    return result;
}

/* The bytes before a payload: kind, type and length. */
#define RECORD_HEAD_MAX 16u
#define PAGE 4096u
#define LAST_PAGE (TRACE_CHUNK_SIZE_DEFAULT - PAGE)

uint64_t client_slot_offset(const struct client *client, uint32_t number)
{
    return TRACE_FILE_HEADER_SIZE + (uint64_t)number * client->header->chunk_size;
}

bool client_free_space(const struct client *client, uint64_t offset, uint64_t size)
{
    if (!run_sandbox_allows(SYS_fallocate) ||
        fallocate(client->descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset,
                  (off_t)size) != 0)
        return false;
    atomic_fetch_add((_Atomic uint64_t *)&client->header->freed_bytes, size);
    return true;
}

/* Reserves space in the file. Asks for the limit first: beyond it comes SIGXFSZ. */
static bool reserve_bytes(const struct client *client, uint64_t offset, uint32_t size)
{
    struct rlimit limit;
    return run_sandbox_allows(SYS_fallocate) && getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
           (limit.rlim_cur == RLIM_INFINITY || offset + size <= limit.rlim_cur) &&
           fallocate(client->descriptor, 0, (off_t)offset, size) == 0;
}

bool client_chunk_begin(struct client_chunk *chunk, const struct client *client, uint32_t thread,
                        uint32_t sequence)
{
    clock_is_tsc = client->header->clock == TRACE_CLOCK_TSC;
    return client_chunk_begin_at(chunk, client, thread, sequence, clock_read_pair());
}

bool client_chunk_begin_at(struct client_chunk *chunk, const struct client *client, uint32_t thread,
                           uint32_t sequence, struct clock_pair moment)
{
    struct trace_file_header *file = client->header;
    *chunk = (struct client_chunk){.base = NULL};
    if (file->chunk_size != TRACE_CHUNK_SIZE_DEFAULT)
        return false;
    chunk->slot = atomic_fetch_add((_Atomic uint32_t *)&file->next_slot, 1);
    uint64_t offset = client_slot_offset(client, chunk->slot);
    /* The last page first: the file then never ends within a slot. */
    if (!reserve_bytes(client, offset + LAST_PAGE, PAGE) || !reserve_bytes(client, offset, PAGE))
        return false;
    void *memory = mmap(NULL, TRACE_CHUNK_SIZE_DEFAULT, PROT_READ | PROT_WRITE, MAP_SHARED,
                        client->descriptor, (off_t)offset);
    if (memory == MAP_FAILED)
        return false;
    _Atomic uint32_t *count = (_Atomic uint32_t *)&file->chunk_count;
    uint32_t seen = atomic_load(count);
    while (seen < chunk->slot + 1 && !atomic_compare_exchange_weak(count, &seen, chunk->slot + 1))
        ;
    atomic_fetch_add((_Atomic uint64_t *)&file->freed_bytes, LAST_PAGE - PAGE);
    struct trace_chunk_header *header = memory, whole = {.magic = TRACE_CHUNK_MAGIC,
                                                         .slot = chunk->slot,
                                                         .thread = thread,
                                                         .sequence = sequence,
                                                         .trace_id = file->trace_id,
                                                         .base_ticks = moment.ticks,
                                                         .base_monotonic_ns = moment.monotonic_ns,
                                                         .commit = TRACE_CHUNK_HEADER_SIZE};
    whole.header_sum = (uint32_t)trace_sum(&whole, offsetof(struct trace_chunk_header, header_sum));
    *header = whole;
    atomic_thread_fence(memory_order_release);
    chunk->base = memory;
    chunk->used = TRACE_CHUNK_HEADER_SIZE;
    chunk->reserved = PAGE;
    chunk->ticks = moment.ticks;
    return true;
}

bool client_chunk_reserve(struct client_chunk *chunk, const struct client *client, size_t length)
{
    _Atomic uint64_t *freed = (_Atomic uint64_t *)&client->header->freed_bytes;
    const size_t end = chunk->used + RECORD_HEAD_MAX + length;
    if (!chunk->base || end > TRACE_CHUNK_SIZE_DEFAULT)
        return false;
    if (end <= chunk->reserved || chunk->reserved == LAST_PAGE)
        return true;
    const uint32_t to = end < LAST_PAGE ? (uint32_t)(end + PAGE - 1) / PAGE * PAGE : LAST_PAGE;
    const uint32_t more = to - chunk->reserved;
    atomic_fetch_sub(freed, more);
    if (!reserve_bytes(client, client_slot_offset(client, chunk->slot) + chunk->reserved, more)) {
        atomic_fetch_add(freed, more);
        return false;
    }
    chunk->reserved = to;
    return true;
}

void client_chunk_put(struct client_chunk *chunk, enum trace_extended type, const uint8_t *payload,
                      size_t length)
{
    struct trace_chunk_header *header = (struct trace_chunk_header *)chunk->base;
    uint8_t *end = trace_put_extended(chunk->base + chunk->used, type, payload, length);
    chunk->used = (uint32_t)(end - chunk->base);
    atomic_store_explicit((_Atomic uint32_t *)&header->commit, chunk->used, memory_order_release);
}

void client_chunk_leave(struct client_chunk *chunk)
{
    if (!chunk->base)
        return;
    struct trace_chunk_header *header = (struct trace_chunk_header *)chunk->base;
    header->sum =
        trace_sum(chunk->base + TRACE_CHUNK_HEADER_SIZE, chunk->used - TRACE_CHUNK_HEADER_SIZE);
    atomic_store_explicit((_Atomic uint32_t *)&header->flags, TRACE_CHUNK_SEALED | TRACE_CHUNK_LEFT,
                          memory_order_release);
    munmap(chunk->base, TRACE_CHUNK_SIZE_DEFAULT);
    chunk->base = NULL;
}

/* Seconds that a request stays before others may ask, and seconds that they have for it. */
#define ASKED_TIME 0.3
#define REST_TIME 0.02
/* Seconds that the program has to end the recording itself in its next heap call. */
#define SEAL_TIME 0.1

double run_steer_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void run_steer_end(struct run_steer *steer, struct client *client)
{
    if (steer->asked)
        client_withdraw(client);
    steer->asked = false;
}

static void look(struct run_steer *steer, struct client *client, double now)
{
    enum trace_answer answer;
    if (client_look(client, &answer) != CLIENT_WAITING)
        steer->asked = false;
    else if (now > steer->asked_at + ASKED_TIME) {
        run_steer_end(steer, client);
        steer->rest_until = now + REST_TIME;
    }
}

/* Carries out a stop that no heap call has taken. */
static void seal(struct run_steer *steer, struct client *client)
{
    clock_is_tsc = client->header->clock == TRACE_CLOCK_TSC;
    const struct clock_pair end = clock_read_pair();
    if (client_seal(client, end.ticks, end.monotonic_ns))
        steer->asked = false;
}

void run_steer_step(struct run_steer *steer, struct client *client, enum run_wanted wanted,
                    double now)
{
    const struct trace_file_header *header = client->header;
    const bool recording = header->state == TRACE_STATE_RECORDING;
    const bool due = wanted == RUN_WANTED_STOP ||
                     (wanted == RUN_WANTED_RECORD && header->paused == TRACE_PAUSED_FROM_START);
    if (wanted == RUN_WANTED_STOP && steer->stop_at == 0)
        steer->stop_at = now;
    if (steer->asked && steer->asked_for != wanted)
        run_steer_end(steer, client); /* the request is out of date */
    if (steer->asked)
        look(steer, client, now);
    else if (due && recording && now >= steer->rest_until) {
        steer->asked =
            client_ask(client,
                       wanted == RUN_WANTED_STOP ? TRACE_REQUEST_STOP : TRACE_REQUEST_RESUME,
                       NULL) == CLIENT_WAITING;
        steer->asked_for = wanted;
        steer->asked_at = now;
    }
    if (wanted == RUN_WANTED_STOP && recording && client->writable &&
        now > steer->stop_at + SEAL_TIME)
        seal(steer, client);
}

size_t process_read(pid_t process, const char *file, char *text, size_t size)
{
    char path[64 + 256];
    snprintf(path, sizeof(path), "/proc/%d/%s", (int)process, file);
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t length = descriptor < 0 ? -1 : read(descriptor, text, size - 1);
    const int error = errno;
    if (descriptor >= 0)
        close(descriptor);
    text[length < 0 ? 0 : length] = '\0';
    errno = error;
    return length < 0 ? 0 : (size_t)length;
}

long process_status_number(pid_t process, const char *file, const char *name)
{
    char path[64 + 256], text[4096];
    const size_t length = strlen(name);
    size_t kept = 0; /* of a line whose end has not come */
    ssize_t more;
    long number = -1;
    bool inside = false; /* a line of many groups, whose beginning is gone */
    snprintf(path, sizeof(path), "/proc/%d/%s", (int)process, file);
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    while (descriptor >= 0 && number < 0 &&
           (more = read(descriptor, text + kept, sizeof(text) - 1 - kept)) > 0) {
        char *line = text, *end;
        text[kept + (size_t)more] = '\0';
        for (; (end = strchr(line, '\n')) != NULL; line = end + 1, inside = false)
            if (!inside && strncmp(line, name, length) == 0 && line[length] == ':')
                number = strtol(line + length + 1, NULL, 10);
        kept = strlen(line);
        inside = inside || kept == sizeof(text) - 1;
        kept = inside ? 0 : kept;
        memmove(text, line, kept);
    }
    if (descriptor >= 0)
        close(descriptor);
    return number;
}

bool client_is_same_file(const char *one, const char *other)
{
    struct stat first, second;
    return stat(one, &first) == 0 && stat(other, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}
