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
#include <sys/wait.h>
#include <unistd.h>

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
    }
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

/*
 * The files that may be the trace of a process, from /proc/PID/maps: as long as the recorder
 * records, it keeps the header of its trace mapped, shared and writable.
 */
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

/* Returns true if the process has the trace mapped. `unknown`: the answer if its mappings may not
 * be read. */
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
    return kill((pid_t)client->header->pid, 0) != 0 && errno == ESRCH ? CLIENT_GONE : CLIENT_GOOD;
}

enum client_status client_recorder(const struct client *client)
{
    enum client_status status = recorder_quickly(client);
    return status == CLIENT_GOOD && !is_mapped(client, (pid_t)client->header->pid, true)
               ? CLIENT_GONE
               : status;
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
        /* The request may have been answered and the program may have ended between the two
         * looks. */
        if (atomic_load(shared_word(&client->header->control)) != TRACE_CONTROL_DONE) {
            if (status == CLIENT_GOOD)
                return CLIENT_WAITING;
            /* A stop is taken, then finishes the trace, and only then is answered. */
            if (status == CLIENT_FINISHED &&
                atomic_load(shared_word(&client->header->control)) == TRACE_CONTROL_TAKEN &&
                kill((pid_t)client->header->pid, 0) == 0)
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
