/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/trace/file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "capture/options/trace_name.h"
#include "capture/os/arch_x86_64.h"
#include "capture/os/message.h"
#include "capture/os/once_per_run.h"
#include "capture/os/os.h"
#include "capture/trace/file_parts.h"
#include "capture/trace/given_file.h"
#include "capture/trace/storage.h"

#define CHUNK_SIZE TRACE_CHUNK_SIZE_DEFAULT
#define NAME_ATTEMPTS 100000u
/* Slots that are taken before the program forbids the trace to grow: 4 MiB. */
#define AHEAD 64u
#define AHEAD_TURNS 10000u
/* The most slots that are taken between two checks of the disk. */
#define DISK_SLOTS 64u

struct trace_file_parts trace_file_parts;
static struct trace_file_parts *const file = &trace_file_parts;

static _Atomic uint32_t file_nothing_asked;
_Atomic(_Atomic uint32_t *) trace_file_control = &file_nothing_asked;

void trace_file_set_header(struct trace_file_header *header)
{
    atomic_store(&file->header, header);
    atomic_store(&trace_file_control,
                 header ? (_Atomic uint32_t *)&header->control : &file_nothing_asked);
}

void trace_file_fill_header(struct trace_file_header *header, uint32_t flags)
{
    struct clock_pair start = clock_read_pair();
    memcpy(header->magic, TRACE_MAGIC, sizeof(header->magic));
    header->version = TRACE_VERSION;
    header->header_size = TRACE_FILE_HEADER_SIZE;
    header->chunk_size = CHUNK_SIZE;
    header->flags = flags;
    header->clock = clock_is_tsc ? TRACE_CLOCK_TSC : TRACE_CLOCK_NANOSECONDS;
    header->architecture = EM_X86_64;
    header->trace_id = file->id;
    header->start_ticks = start.ticks;
    header->start_monotonic_ns = start.monotonic_ns;
    header->start_realtime_ns = clock_nanoseconds(CLOCK_REALTIME);
    header->sample_interval = file->sample_interval;
    header->paused = file->paused;
    header->run = file->run;
    header->pid = (uint32_t)file->owner;
    header->page_size = ARCH_PAGE_SIZE;
    header->header_sum = trace_sum(header, offsetof(struct trace_file_header, header_sum));
}

uint64_t trace_file_new_id(void)
{
    uint64_t number = 0;
    if (os_call(SYS_getrandom, (long)&number, sizeof(number), GRND_NONBLOCK, 0, 0, 0) !=
        (long)sizeof(number))
        number = clock_nanoseconds(CLOCK_REALTIME) * UINT64_C(0x9E3779B97F4A7C15) ^
                 (uint64_t)file->owner << 32;
    return number ? number : 1;
}

/* Makes the folder of the other processes' traces, unless it exists. */
static void make_folder(void)
{
    if (trace_name_folder(file->base, file->path))
        os_call_retry(SYS_mkdir, (long)file->path, 0700, 0, 0);
}

/* Opens the first name that is free. Returns the descriptor, or a negative errno. */
static int open_free_name(bool beside)
{
    bool made = false, in_folder = true;
    for (unsigned attempt = beside; attempt < NAME_ATTEMPTS;) {
        if (!trace_name_attempt(file->base, file->owner, attempt, in_folder, file->path))
            return -ENAMETOOLONG;
        long result = os_call_retry(SYS_openat, AT_FDCWD, (long)file->path,
                                    O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (result == -EEXIST) {
            attempt++;
            continue;
        }
        if (result != -ENOENT || attempt == 0 || !in_folder)
            return (int)result;
        /* There is no folder. If none can be made either, the name lies beside the base. */
        if (made)
            in_folder = false;
        else
            make_folder();
        made = true;
    }
    return -EEXIST;
}

static bool is_disk(long error)
{
    return error == -ENOSPC || error == -EDQUOT;
}

/* Returns the meaning of an error that its number does not tell a user, "" for others. */
static const char *meaning(long error)
{
    switch (error) {
    case -ENOENT:
        return ", no such folder";
    case -EACCES:
    case -EPERM:
        return ", not allowed";
    case -EROFS:
        return ", the file system is read-only";
    case -EMFILE:
        return ", too many open files";
    default:
        return "";
    }
}

/* Returns true if mprof-run may be able to make a file that this process could not make. */
static bool may_be_given(long error)
{
    return error == -EACCES || error == -EPERM || error == -ENOENT || error == -EROFS;
}

static bool refuse(const char *what, long error)
{
    char digits[24];
    digits[sizeof(digits) - 1] = 0;
    if (is_disk(error)) {
        if (once_per_run(file->base, file->root))
            message_line(error == -ENOSPC ? "the disk is full" : "the disk quota is used up",
                         ": nothing is recorded into ", file->path,
                         ". Name another place with MPROF_OUTPUT or mprof-run -o.", NULL);
        return false;
    }
    message_line(what, " ", file->path, ": error ",
                 os_decimal(digits + sizeof(digits) - 1, (uint64_t)-error), meaning(error),
                 file->maker_ended ? ", and mprof-run, which would have made it, has ended" : "",
                 "; nothing is recorded. Name another place with MPROF_OUTPUT or mprof-run -o.",
                 NULL);
    return false;
}

/*
 * Returns true if something that is not a regular file has the base's name: a FIFO, a device, a
 * directory. It does not open the file, because opening a FIFO waits and opening a device may do
 * anything.
 */
static bool base_is_irregular(void)
{
    struct stat about;
    long descriptor = os_call_retry(SYS_openat, AT_FDCWD, (long)file->base, O_PATH | O_CLOEXEC, 0);
    if (descriptor < 0)
        return false;
    bool irregular = os_status((int)descriptor, &about) == 0 && !S_ISREG(about.st_mode);
    os_close((int)descriptor);
    return irregular;
}

/* Reads the header of the trace with the base's name. Returns false if there is no such trace. */
static bool read_base(struct trace_file_header *header)
{
    int descriptor = base_is_irregular() ? -1 : os_open_read(file->base);
    if (descriptor < 0)
        return false;
    bool whole = os_read(descriptor, header, sizeof(*header)) == (long)sizeof(*header);
    os_close(descriptor);
    return whole && memcmp(header->magic, TRACE_MAGIC, sizeof(header->magic)) == 0;
}

/* Returns the process of the trace with the base's name, or 0 if there is no such trace. */
static int base_process(void)
{
    struct trace_file_header header;
    return read_base(&header) ? (int)header.pid : 0;
}

/*
 * Returns true if a process that still runs uses the base's name: our own program executed again,
 * or a child of one that records. Users then expect a name beside it.
 */
static bool base_is_in_use(void)
{
    int process = base_process();
    return process > 0 && os_call(SYS_kill, process, 0, 0, 0, 0, 0) != -ESRCH;
}

bool trace_file_is_of_this_process(const char *path)
{
    return path && *path && trace_name_base(path, file->base) && base_process() == os_process_id();
}

bool trace_file_of_run(const char *path, enum trace_run *run)
{
    struct trace_file_header header;
    if (!path || !*path || !trace_name_base(path, file->base) || !read_base(&header))
        return false;
    *run = (enum trace_run)header.run;
    return true;
}

void trace_file_set_run(enum trace_run run)
{
    file->run = run;
}

void trace_file_set_limits(uint64_t bytes, struct disk_space_limit min_free)
{
    file->limit = bytes;
    file->min_free = min_free;
}

void trace_file_set_root(uint32_t process)
{
    file->root = process;
}

void trace_file_set_sampling(uint64_t mean)
{
    file->sample_interval = mean;
}

bool trace_file_create(const char *path, bool beside, bool announce, uint32_t flags)
{
    file->owner = os_process_id();
    file->id = trace_file_new_id();
    atomic_store(&file->stopped, false);
    if ((path || !file->base[0]) && !trace_name_base(path, file->base))
        return refuse("cannot name the trace in the working directory", -ENAMETOOLONG);
    if (base_is_irregular()) {
        message_line(file->base,
                     " is not a regular file: nothing is recorded. Name another place with "
                     "MPROF_OUTPUT or mprof-run -o.",
                     NULL);
        return false;
    }
    int descriptor = open_free_name(beside);
    if (may_be_given(descriptor)) {
        const int given = given_file_ask(file->given_path);
        file->maker_ended = given == -ECONNREFUSED;
        if (given >= 0) {
            descriptor = given;
            memcpy(file->path, file->given_path, sizeof(file->path));
        }
    }
    if (descriptor < 0)
        return refuse("cannot create the trace", descriptor);
    void *memory = NULL;
    int error = trace_storage_begin(descriptor, file->path);
    if (!error)
        error = trace_storage_take(0, TRACE_FILE_HEADER_SIZE, TRACE_FILE_HEADER_SIZE, &memory);
    struct trace_file_header *header = memory;
    if (!header) {
        trace_storage_end();
        /* Nobody wants the empty file that this call made. */
        os_call_retry(SYS_unlink, (long)file->path, 0, 0, 0);
        return refuse("cannot reserve space for the trace", error ? error : -ENOMEM);
    }
    trace_file_fill_header(header, flags);
    atomic_store(&file->disk_due, 0);
    trace_file_set_header(header);
    if (announce && strcmp(file->base, file->path) != 0 && !base_is_in_use())
        message_line(file->base, " exists: recording into ", file->path, NULL);
    return true;
}

const char *trace_file_base(const char *path)
{
    return !path || trace_name_base(path, file->base) ? file->base : "";
}

void trace_file_count_unnamed(void)
{
    struct trace_file_header *header = atomic_load(&file->header);
    if (header)
        atomic_fetch_add((_Atomic uint32_t *)&header->unnamed, 1);
}

const char *trace_file_path(void)
{
    return file->path;
}

bool trace_file_is_open(void)
{
    return atomic_load_explicit(&file->header, memory_order_relaxed) != NULL;
}

bool trace_file_is_stopped(void)
{
    return atomic_load(&file->stopped);
}

uint64_t trace_file_id(void)
{
    return file->id;
}

bool trace_file_is_own(void)
{
    int process = os_process_id();
    return process == file->owner || (process == -EPERM && os_is_confined());
}

/* Says once why recording stops, and for a reason of the disk once in a run. Later events are only
 * counted. `number` is a text between the two halves of the reason, or "". */
static void stop_for(struct trace_file_header *header, int error, const char *why,
                     const char *number, const char *rest)
{
    if (atomic_exchange(&file->stopped, true))
        return;
    header->stop_errno = -error;
    header->state = is_disk(error)    ? TRACE_STATE_DISK_FULL
                    : error == -EFBIG ? TRACE_STATE_LIMIT
                                      : TRACE_STATE_ERROR;
    if (!is_disk(error) || once_per_run(file->base, file->root))
        message_line(why, number, rest, ": recording stops, ", file->path,
                     " contains the events so far; the program goes on", NULL);
}

static void stop(struct trace_file_header *header, int error)
{
    char digits[24];
    digits[sizeof(digits) - 1] = 0;
    const char *number = os_decimal(digits + sizeof(digits) - 1, (uint64_t)-error);
    if (error == -ENOSPC)
        stop_for(header, error, "the disk is full", "", "");
    else if (error == -EDQUOT)
        stop_for(header, error, "the disk quota is used up", "", "");
    else if (error == -EFBIG)
        stop_for(header, error, "the file size limit (ulimit -f) is reached", "", "");
    else if (error == -EPERM && os_is_confined())
        stop_for(header, error, "the program's own seccomp filter prevents the trace from growing",
                 "", "");
    else
        stop_for(header, error, "the trace cannot grow (error ", number, ")");
}

/* Stops because the trace has reached its limit of bytes. */
static void stop_at_limit(struct trace_file_header *header)
{
    char text[DISK_SPACE_TEXT];
    stop_for(header, -EFBIG, "the trace has reached the ", disk_space_text(file->limit, text),
             " that --max-size allows");
}

/*
 * Returns true if the disk has too little space left for slot `number`, and if so, says that. It
 * checks before each slot if little space is left, and now and then if much is left.
 */
static bool stop_before_full(struct trace_file_header *header, uint32_t number)
{
    struct disk_space space;
    char text[DISK_SPACE_TEXT];
    const int descriptor = trace_storage_descriptor();
    if (number < atomic_load(&file->disk_due) || !trace_storage_has(descriptor) ||
        !disk_space_look(descriptor, file->min_free, &space))
        return false;
    if (space.available < space.must_stay_free + CHUNK_SIZE) {
        stop_for(header, -ENOSPC, "less than ", disk_space_text(space.must_stay_free, text),
                 " is free on the disk (see --min-free)");
        return true;
    }
    const uint64_t slots = (space.available - space.must_stay_free) / CHUNK_SIZE / 4;
    atomic_store(&file->disk_due, number + (uint32_t)(slots < DISK_SLOTS ? slots : DISK_SLOTS));
    return false;
}

void trace_file_stop(const char *why)
{
    struct trace_file_header *header = atomic_load(&file->header);
    if (header)
        stop_for(header, -EPERM, why, "", "");
}

bool trace_file_may_grow(bool (*allows)(long number, const uint64_t arguments[6]))
{
    const uint64_t descriptor = (uint64_t)trace_storage_descriptor();
    const struct {
        long number;
        uint64_t arguments[6];
    } calls[] = {
        {SYS_fstat, {descriptor}},
        {SYS_prlimit64, {0, RLIMIT_FSIZE}},
        {SYS_fallocate, {descriptor, 0, TRACE_FILE_HEADER_SIZE, CHUNK_SIZE}},
        {SYS_mmap, {0, CHUNK_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, CHUNK_SIZE}},
    };
    for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
        if (!allows(calls[i].number, calls[i].arguments))
            return false;
    return true;
}

/* Reserves slots ahead. If that fails, recording ends with the chunks that exist. */
static void reserve_ahead(struct trace_file_header *header)
{
    const uint64_t size = (uint64_t)AHEAD * CHUNK_SIZE;
    uint32_t first = atomic_fetch_add((_Atomic uint32_t *)&header->next_slot, AHEAD);
    uint64_t offset = TRACE_FILE_HEADER_SIZE + (uint64_t)first * CHUNK_SIZE;
    struct disk_space space;
    void *memory;
    if ((file->limit && offset + size > file->limit) ||
        (disk_space_look(trace_storage_descriptor(), file->min_free, &space) &&
         space.available < space.must_stay_free + size) ||
        trace_storage_take(offset, size, size, &memory) != 0)
        return;
    file->ahead.first = first;
    file->ahead.memory = memory;
    atomic_store(&file->ahead.taken, 0);
    atomic_store(&file->ahead.count, AHEAD);
}

void trace_file_reserve_ahead(void)
{
    struct trace_file_header *header = atomic_load(&file->header);
    if (!header || atomic_load(&file->stopped))
        return;
    uint32_t state = AHEAD_NOT;
    if (atomic_compare_exchange_strong(&file->ahead.state, &state, AHEAD_UNDER_WAY)) {
        reserve_ahead(header);
        atomic_store(&file->ahead.state, AHEAD_DONE);
    }
    /* Waits, because the filter of a thread that did not would forbid the other one's calls. */
    for (unsigned turn = 0;
         turn < AHEAD_TURNS && atomic_load(&file->ahead.state) == AHEAD_UNDER_WAY; turn++)
        os_yield();
}

/* Raises the count of used slots to include slot `number`. */
static void count_slot(struct trace_file_header *header, uint32_t number)
{
    _Atomic uint32_t *count = (_Atomic uint32_t *)&header->chunk_count;
    uint32_t seen = atomic_load(count);
    while (seen < number + 1 && !atomic_compare_exchange_weak(count, &seen, number + 1))
        ;
}

/* Takes a slot that was reserved ahead. Returns NULL if there is none. */
static uint8_t *take_ahead(struct trace_file_header *header, uint32_t *number)
{
    uint32_t count = atomic_load(&file->ahead.count), place = atomic_load(&file->ahead.taken);
    while (place < count && !atomic_compare_exchange_weak(&file->ahead.taken, &place, place + 1))
        ;
    if (place >= count)
        return NULL;
    *number = file->ahead.first + place;
    count_slot(header, *number);
    return file->ahead.memory + (size_t)place * CHUNK_SIZE;
}

void trace_file_leave_ahead(void)
{
    atomic_store(&file->ahead.count, 0);
    atomic_store(&file->ahead.state, AHEAD_NOT);
}

/* Filling the memory at once costs one call instead of a fault for each page. Kernels before 5.14
 * do not know this call, and then the faults fill it. */
static void populate(uint8_t *memory, uint64_t size)
{
    os_call(SYS_madvise, (long)memory, (long)size, 23 /* MADV_POPULATE_WRITE */, 0, 0, 0);
}

/* Returns the bytes of a slot that are not reserved at first. The last page always is. */
static uint64_t left_out(uint32_t reserved)
{
    return reserved < CHUNK_SIZE ? CHUNK_SIZE - ARCH_PAGE_SIZE - reserved : 0;
}

uint8_t *trace_file_take_slot(uint32_t *slot, uint32_t *reserved)
{
    struct trace_file_header *header = atomic_load(&file->header);
    const uint32_t first = *reserved;
    if (!header || atomic_load(&file->stopped))
        return NULL;
    *reserved = CHUNK_SIZE;
    uint8_t *ahead = os_is_confined() ? take_ahead(header, slot) : NULL;
    if (ahead)
        return ahead;
    uint32_t number = atomic_fetch_add((_Atomic uint32_t *)&header->next_slot, 1);
    uint64_t offset = TRACE_FILE_HEADER_SIZE + (uint64_t)number * CHUNK_SIZE;
    const uint64_t end = offset + CHUNK_SIZE;
    const uint64_t freed = atomic_load((_Atomic uint64_t *)&header->freed_bytes);
    void *memory = NULL;
    if (file->limit && end > freed && end - freed > file->limit) {
        stop_at_limit(header);
        return NULL;
    }
    if (stop_before_full(header, number))
        return NULL;
    int error = trace_storage_take(offset, CHUNK_SIZE, first, &memory);
    if (error == -EPERM && os_is_confined()) /* the filter came after the check above */
        ahead = take_ahead(header, slot);
    if (error) {
        if (!ahead)
            stop(header, error);
        return ahead;
    }
    /* After a restart that did not wait for this thread, the descriptor may already be that of the
     * new trace. */
    if (atomic_load(&file->header) != header) {
        os_unmap(memory, CHUNK_SIZE);
        return NULL;
    }
    *reserved = first;
    populate(memory, first);
    atomic_fetch_add((_Atomic uint64_t *)&header->freed_bytes, left_out(first));
    count_slot(header, number);
    *slot = number;
    return memory;
}

bool trace_file_grow_slot(uint8_t *memory, uint32_t slot, uint32_t from, uint32_t to)
{
    struct trace_file_header *header = atomic_load(&file->header);
    const uint64_t more = left_out(from) - left_out(to), at = (uint64_t)slot * CHUNK_SIZE;
    if (!header || atomic_load(&file->stopped))
        return false;
    if (file->limit) {
        const uint64_t slots = atomic_load((_Atomic uint32_t *)&header->next_slot);
        const uint64_t freed = atomic_load((_Atomic uint64_t *)&header->freed_bytes);
        if (TRACE_FILE_HEADER_SIZE + slots * CHUNK_SIZE + more > freed + file->limit)
            return false;
    }
    if (more > 0 && trace_storage_grow(TRACE_FILE_HEADER_SIZE + at + from, more) != 0)
        return false;
    populate(memory + from, more);
    atomic_fetch_sub((_Atomic uint64_t *)&header->freed_bytes, more);
    return true;
}

void trace_file_release_slot(uint8_t *memory)
{
    os_unmap(memory, CHUNK_SIZE);
}

void trace_file_count_dropped(uint64_t events)
{
    struct trace_file_header *header = atomic_load_explicit(&file->header, memory_order_relaxed);
    if (header)
        atomic_fetch_add_explicit((_Atomic uint64_t *)&header->dropped_events, events,
                                  memory_order_relaxed);
}

bool trace_file_is_sealed(void)
{
    struct trace_file_header *header = atomic_load_explicit(&file->header, memory_order_relaxed);
    return header && atomic_load((_Atomic uint32_t *)&header->sealed) != 0;
}

bool trace_file_take_request(struct trace_asked *asked)
{
    struct trace_file_header *header = atomic_load(&file->header);
    uint32_t from = TRACE_CONTROL_ASKED;
    if (!header || !atomic_compare_exchange_strong((_Atomic uint32_t *)&header->control, &from,
                                                   TRACE_CONTROL_TAKEN))
        return false;
    asked->request = header->request;
    memcpy(asked->name, header->request_name, sizeof(asked->name));
    asked->name[sizeof(asked->name) - 1] = 0;
    return true;
}

void trace_file_answer(enum trace_answer answer)
{
    struct trace_file_header *header = atomic_load(&file->header);
    if (!header)
        return;
    header->answer = answer;
    atomic_store((_Atomic uint32_t *)&header->control, TRACE_CONTROL_DONE);
}

void trace_file_set_paused(enum trace_paused paused)
{
    struct trace_file_header *header = atomic_load(&file->header);
    file->paused = paused;
    if (header)
        atomic_store((_Atomic uint32_t *)&header->paused, paused);
}

void trace_file_end(enum trace_state state, struct clock_pair end)
{
    struct trace_file_header *header = atomic_load(&file->header);
    if (!header || atomic_load(&file->stopped) || trace_file_is_sealed())
        return;
    header->end_ticks = end.ticks;
    header->end_monotonic_ns = end.monotonic_ns;
    atomic_store((_Atomic uint32_t *)&header->state, state);
}

void trace_file_leave(void)
{
    trace_file_set_header(NULL);
    trace_file_leave_ahead();
    trace_storage_end();
}

void trace_file_forget(void)
{
    struct trace_file_header *header = atomic_load(&file->header);
    trace_file_leave();
    if (header)
        os_unmap(header, TRACE_FILE_HEADER_SIZE);
}
