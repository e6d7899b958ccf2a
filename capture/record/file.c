/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/record/file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>

#include "capture/os/arch_x86_64.h"
#include "capture/os/message.h"
#include "capture/os/options.h"
#include "capture/os/os.h"
#include "capture/os/seccomp/seccomp.h"
#include "capture/record/storage.h"

static char socket_name[OPTIONS_FILES];

void given_file_set_socket(const char *name)
{
    memcpy(socket_name, name, strnlen(name, sizeof(socket_name) - 1));
}

/* Returns true if root has bound the socket at the other end. */
static bool is_of_root(int connection)
{
    struct ucred peer = {.uid = 1};
    socklen_t size = sizeof(peer);
    return os_call(SYS_getsockopt, connection, SOL_SOCKET, SO_PEERCRED, (long)&peer, (long)&size,
                   0) == 0 &&
           peer.uid == 0;
}

/* Connects the socket. Returns 0 or a negative errno. */
static int reach(int connection)
{
    const struct timeval most = {1, 0};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    /* The first byte is zero: the name is in no file system. */
    const size_t length = strnlen(socket_name, sizeof(socket_name));
    memcpy(address.sun_path + 1, TRACE_FILES_SOCKET, sizeof(TRACE_FILES_SOCKET) - 1);
    memcpy(address.sun_path + sizeof(TRACE_FILES_SOCKET), socket_name, length);
    const size_t size =
        offsetof(struct sockaddr_un, sun_path) + sizeof(TRACE_FILES_SOCKET) + length;
    os_call(SYS_setsockopt, connection, SOL_SOCKET, SO_SNDTIMEO, (long)&most, sizeof(most), 0);
    os_call(SYS_setsockopt, connection, SOL_SOCKET, SO_RCVTIMEO, (long)&most, sizeof(most), 0);
    const long result = os_call_retry(SYS_connect, connection, (long)&address, (long)size, 0);
    return result < 0 ? (int)result : is_of_root(connection) ? 0 : -EACCES;
}

/* Takes the answer. Returns the descriptor or a negative errno. */
static int take(int connection, char path[TRACE_NAME_SIZE])
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec text = {path, TRACE_NAME_SIZE - 1};
    struct msghdr message = {.msg_iov = &text,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof(control)};
    struct stat status;
    int descriptor;
    const long length = os_call_retry(SYS_recvmsg, connection, (long)&message, MSG_CMSG_CLOEXEC, 0);
    if (length <= 0)
        return length < 0 ? (int)length : -EACCES;
    path[length] = 0;
    if (message.msg_controllen < sizeof(struct cmsghdr) ||
        control.header.cmsg_level != SOL_SOCKET || control.header.cmsg_type != SCM_RIGHTS ||
        control.header.cmsg_len != CMSG_LEN(sizeof(int)))
        return -EACCES;
    memcpy(&descriptor, CMSG_DATA(&control.header), sizeof(descriptor));
    if (os_status(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_size == 0)
        return descriptor;
    os_close(descriptor);
    return -EACCES;
}

/* Returns true if the program is under a filter, as far as its root folder has a /proc. */
static bool is_filtered(void)
{
    const int status = os_open_read("/proc/self/status");
    const bool filtered = os_is_confined() || (status >= 0 && seccomp_is_on_by(status));
    if (status >= 0)
        os_close(status);
    return filtered;
}

/* Returns the descriptor of a new, empty file and stores its path, or returns a negative errno:
 * -ENOTSUP if there is no socket to ask or a filter of system calls is on, -ECONNREFUSED if
 * mprof-run has ended. Waits at most two seconds. Uses raw system calls only. */
static int given_file_ask(char path[TRACE_NAME_SIZE])
{
    if (!socket_name[0] || is_filtered())
        return -ENOTSUP;
    const int connection =
        (int)os_call(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, 0, 0, 0);
    if (connection < 0)
        return connection;
    const int error = reach(connection);
    const int result = error ? error : take(connection, path);
    os_close(connection);
    return result;
}

/* Lets only one process of a run report what they all meet, such as a full disk. The first one
 * notes in the header of the first trace of the run that it did (trace-format.md, `told`). */

/* Returns true if the trace belongs to this run. One of the same name may be left from another. */
static bool is_of_run(const struct trace_file_header *header, uint32_t root)
{
    return memcmp(header->magic, TRACE_MAGIC, sizeof(header->magic)) == 0 && header->pid == root;
}

static bool take_turn(int descriptor, uint32_t root)
{
    struct stat status;
    if (os_status(descriptor, &status) != 0 || !S_ISREG(status.st_mode) ||
        status.st_size < (off_t)TRACE_FILE_HEADER_SIZE)
        return true;
    long result = os_call(SYS_mmap, 0, TRACE_FILE_HEADER_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
                          descriptor, 0);
    if (result < 0 && result > -4096)
        return true;
    struct trace_file_header *header = (struct trace_file_header *)result;
    bool first =
        !is_of_run(header, root) || atomic_exchange((_Atomic uint32_t *)&header->told, 1) == 0;
    os_unmap(header, TRACE_FILE_HEADER_SIZE);
    return first;
}

/* Returns true if the calling process has to report it. `base` is the path of the first trace of
 * the run, `root` the process that this trace is of (0: there is no run). If that process could
 * make no trace, it said so itself. Uses raw system calls only. */
static bool once_per_run(const char *base, uint32_t root)
{
    if (root == 0)
        return true;
    long descriptor = os_call_retry(SYS_openat, AT_FDCWD, (long)base,
                                    O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
    if (descriptor == -ENOENT)
        return root == (uint32_t)os_process_id();
    if (descriptor < 0)
        return true;
    bool first = take_turn((int)descriptor, root);
    os_close((int)descriptor);
    return first;
}

#define CHUNK_SIZE TRACE_CHUNK_SIZE_DEFAULT
#define NAME_ATTEMPTS 100000u
/* Slots that are taken before the program forbids the trace to grow: 4 MiB. */
#define AHEAD 64u
#define AHEAD_TURNS 10000u
/* The most slots that are taken between two checks of the disk. */
#define DISK_SLOTS 64u

enum trace_file_ahead { AHEAD_NOT, AHEAD_UNDER_WAY, AHEAD_DONE };

static struct {
    _Atomic(struct trace_file_header *) header;
    int owner;
    uint64_t id;
    _Atomic bool stopped;
    uint64_t limit; /* bytes, 0: none */
    struct disk_space_limit min_free;
    _Atomic uint32_t disk_due; /* number of the slot before which the disk is checked */
    uint32_t root;             /* process of the run's first trace; 0: there is no run */
    uint64_t sample_interval;
    uint32_t observer;       /* of references */
    _Atomic uint32_t paused; /* several threads may set it at once */
    uint32_t run;
    struct {
        _Atomic uint32_t state; /* enum trace_file_ahead */
        _Atomic uint32_t count, taken;
        uint32_t first;
        uint8_t *memory;
    } ahead;
    char base[TRACE_NAME_SIZE];
    char path[TRACE_NAME_SIZE];
    char given_path[TRACE_NAME_SIZE]; /* of the file that mprof-run has made */
    bool maker_ended;                 /* mprof-run could not be asked: it has ended */
} file;

static _Atomic uint32_t file_nothing_asked;
_Atomic(_Atomic uint32_t *) trace_file_control = &file_nothing_asked;

/* Makes this header that of the trace; NULL: there is no trace. */
static void trace_file_set_header(struct trace_file_header *header)
{
    atomic_store(&file.header, header);
    atomic_store(&trace_file_control,
                 header ? (_Atomic uint32_t *)&header->control : &file_nothing_asked);
}

/* Fills the header of a trace that begins now and has the id file.id. */
static void trace_file_fill_header(struct trace_file_header *header, uint32_t flags)
{
    struct clock_pair start = clock_read_pair();
    memcpy(header->magic, TRACE_MAGIC, sizeof(header->magic));
    header->version = TRACE_VERSION;
    header->header_size = TRACE_FILE_HEADER_SIZE;
    header->chunk_size = CHUNK_SIZE;
    header->flags = flags;
    header->clock = clock_is_tsc ? TRACE_CLOCK_TSC : TRACE_CLOCK_NANOSECONDS;
    header->architecture = EM_X86_64;
    header->trace_id = file.id;
    header->start_ticks = start.ticks;
    header->start_monotonic_ns = start.monotonic_ns;
    header->start_realtime_ns = clock_nanoseconds(CLOCK_REALTIME);
    header->sample_interval = file.sample_interval;
    header->paused = file.paused;
    header->run = file.run;
    header->observer = file.observer;
    header->own_ranges = (uint64_t)(uintptr_t)own_ranges_list(&header->own_range_count);
    header->pid = (uint32_t)file.owner;
    header->page_size = ARCH_PAGE_SIZE;
    header->header_sum = trace_sum(header, offsetof(struct trace_file_header, header_sum));
}

/* Returns a random number that is not 0. */
static uint64_t trace_file_new_id(void)
{
    uint64_t number = 0;
    if (os_call(SYS_getrandom, (long)&number, sizeof(number), GRND_NONBLOCK, 0, 0, 0) !=
        (long)sizeof(number))
        number = clock_nanoseconds(CLOCK_REALTIME) * UINT64_C(0x9E3779B97F4A7C15) ^
                 (uint64_t)file.owner << 32;
    return number ? number : 1;
}

/* Makes the folder of the other processes' traces, unless it exists. */
static void make_folder(void)
{
    if (trace_name_folder(file.base, file.path))
        os_call_retry(SYS_mkdir, (long)file.path, 0700, 0, 0);
}

/* Opens the first name that is free. Returns the descriptor, or a negative errno. */
static int open_free_name(bool beside)
{
    bool made = false, in_folder = true;
    for (unsigned attempt = beside; attempt < NAME_ATTEMPTS;) {
        if (!trace_name_attempt(file.base, file.owner, attempt, in_folder, file.path))
            return -ENAMETOOLONG;
        long result = os_call_retry(SYS_openat, AT_FDCWD, (long)file.path,
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
    if (is_disk(error)) {
        if (once_per_run(file.base, file.root))
            message_line(error == -ENOSPC ? "the disk is full" : "the disk quota is used up",
                         ": nothing is recorded into ", file.path,
                         ". Name another place with MPROF_OUTPUT or mprof-run -o.", NULL);
        return false;
    }
    message_line(what, " ", file.path, ": error ", OS_DECIMAL((uint64_t)-error), meaning(error),
                 file.maker_ended ? ", and mprof-run, which would have made it, has ended" : "",
                 "; nothing is recorded. Name another place with MPROF_OUTPUT or mprof-run -o.",
                 NULL);
    return false;
}

/* Returns true if something that is not a regular file has the base's name: a FIFO, a device, a
 * directory. Opens nothing: a FIFO would wait, and a device may do anything. */
static bool base_is_irregular(void)
{
    struct stat about;
    long descriptor = os_call_retry(SYS_openat, AT_FDCWD, (long)file.base, O_PATH | O_CLOEXEC, 0);
    if (descriptor < 0)
        return false;
    bool irregular = os_status((int)descriptor, &about) == 0 && !S_ISREG(about.st_mode);
    os_close((int)descriptor);
    return irregular;
}

/* Reads the header of the trace with the base's name. Returns false if there is no such trace. */
static bool read_base(struct trace_file_header *header)
{
    int descriptor = base_is_irregular() ? -1 : os_open_read(file.base);
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

/* Returns true if a process that still runs uses the base's name: our own program executed again,
 * or a child of one that records. Users then expect a name beside it. */
static bool base_is_in_use(void)
{
    int process = base_process();
    return process > 0 && os_call(SYS_kill, process, 0, 0, 0, 0, 0) != -ESRCH;
}

bool trace_file_is_of_this_process(const char *path)
{
    return path && *path && trace_name_base(path, file.base) && base_process() == os_process_id();
}

bool trace_file_of_run(const char *path, enum trace_run *run)
{
    struct trace_file_header header;
    if (!path || !*path || !trace_name_base(path, file.base) || !read_base(&header))
        return false;
    *run = (enum trace_run)header.run;
    return true;
}

void trace_file_set_run(enum trace_run run)
{
    file.run = run;
}

void trace_file_set_limits(uint64_t bytes, struct disk_space_limit min_free)
{
    file.limit = bytes;
    file.min_free = min_free;
}

void trace_file_set_root(uint32_t process)
{
    file.root = process;
}

void trace_file_set_sampling(uint64_t mean)
{
    file.sample_interval = mean;
}

void trace_file_set_observer(uint32_t process)
{
    file.observer = process;
}

bool trace_file_create(const char *path, bool beside, bool announce, uint32_t flags)
{
    file.owner = os_process_id();
    file.id = trace_file_new_id();
    atomic_store(&file.stopped, false);
    if ((path || !file.base[0]) && !trace_name_base(path, file.base))
        return refuse("cannot name the trace in the working directory", -ENAMETOOLONG);
    if (base_is_irregular()) {
        message_line(file.base,
                     " is not a regular file: nothing is recorded. Name another place with "
                     "MPROF_OUTPUT or mprof-run -o.",
                     NULL);
        return false;
    }
    int descriptor = open_free_name(beside);
    if (may_be_given(descriptor)) {
        const int given = given_file_ask(file.given_path);
        file.maker_ended = given == -ECONNREFUSED;
        if (given >= 0) {
            descriptor = given;
            memcpy(file.path, file.given_path, sizeof(file.path));
        }
    }
    if (descriptor < 0)
        return refuse("cannot create the trace", descriptor);
    void *memory = NULL;
    int error = trace_storage_begin(descriptor, file.path);
    if (!error)
        error = trace_storage_take(0, TRACE_FILE_HEADER_SIZE, TRACE_FILE_HEADER_SIZE, &memory);
    struct trace_file_header *header = memory;
    if (!header) {
        trace_storage_end();
        /* Nobody wants the empty file that this call made. */
        os_call_retry(SYS_unlink, (long)file.path, 0, 0, 0);
        return refuse("cannot reserve space for the trace", error ? error : -ENOMEM);
    }
    trace_file_fill_header(header, flags);
    atomic_store(&file.disk_due, 0);
    trace_file_set_header(header);
    if (announce && strcmp(file.base, file.path) != 0 && !base_is_in_use())
        message_line(file.base, " exists: recording into ", file.path, NULL);
    return true;
}

const char *trace_file_base(const char *path)
{
    return !path || trace_name_base(path, file.base) ? file.base : "";
}

void trace_file_count_unnamed(void)
{
    struct trace_file_header *header = atomic_load(&file.header);
    if (header)
        atomic_fetch_add((_Atomic uint32_t *)&header->unnamed, 1);
}

const char *trace_file_path(void)
{
    return file.path;
}

bool trace_file_is_open(void)
{
    return atomic_load_explicit(&file.header, memory_order_relaxed) != NULL;
}

bool trace_file_is_stopped(void)
{
    return atomic_load(&file.stopped);
}

uint64_t trace_file_id(void)
{
    return file.id;
}

bool trace_file_is_own(void)
{
    int process = os_process_id();
    return process == file.owner || (process == -EPERM && os_is_confined());
}

/* Says once why recording stops, and for a reason of the disk once in a run. Later events are only
 * counted. `number` is a text between the two halves of the reason, or "". */
static void stop_for(struct trace_file_header *header, int error, const char *why,
                     const char *number, const char *rest)
{
    if (atomic_exchange(&file.stopped, true))
        return;
    header->stop_errno = -error;
    header->state = is_disk(error)    ? TRACE_STATE_DISK_FULL
                    : error == -EFBIG ? TRACE_STATE_LIMIT
                                      : TRACE_STATE_ERROR;
    if (!is_disk(error) || once_per_run(file.base, file.root))
        message_line(why, number, rest, ": recording stops, ", file.path,
                     " contains the events so far; the program goes on", NULL);
}

static void stop(struct trace_file_header *header, int error)
{
    const char *number = OS_DECIMAL((uint64_t)-error);
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
    stop_for(header, -EFBIG, "the trace has reached the ", disk_space_text(file.limit, text),
             " that --max-size allows");
}

/* Returns true if the disk has too little space left for slot `number`, and if so, says that. It
 * checks before each slot if little space is left, and now and then if much is left. */
static bool stop_before_full(struct trace_file_header *header, uint32_t number)
{
    struct disk_space space;
    char text[DISK_SPACE_TEXT];
    const int descriptor = trace_storage_descriptor();
    if (number < atomic_load(&file.disk_due) || !trace_storage_has(descriptor) ||
        !disk_space_look(descriptor, file.min_free, &space))
        return false;
    if (space.available < space.must_stay_free + CHUNK_SIZE) {
        stop_for(header, -ENOSPC, "less than ", disk_space_text(space.must_stay_free, text),
                 " is free on the disk (see --min-free)");
        return true;
    }
    const uint64_t slots = (space.available - space.must_stay_free) / CHUNK_SIZE / 4;
    atomic_store(&file.disk_due, number + (uint32_t)(slots < DISK_SLOTS ? slots : DISK_SLOTS));
    return false;
}

void trace_file_stop(const char *why)
{
    struct trace_file_header *header = atomic_load(&file.header);
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
    if ((file.limit && offset + size > file.limit) ||
        (disk_space_look(trace_storage_descriptor(), file.min_free, &space) &&
         space.available < space.must_stay_free + size) ||
        trace_storage_take(offset, size, size, &memory) != 0)
        return;
    file.ahead.first = first;
    file.ahead.memory = memory;
    atomic_store(&file.ahead.taken, 0);
    atomic_store(&file.ahead.count, AHEAD);
}

void trace_file_reserve_ahead(void)
{
    struct trace_file_header *header = atomic_load(&file.header);
    if (!header || atomic_load(&file.stopped))
        return;
    uint32_t state = AHEAD_NOT;
    if (atomic_compare_exchange_strong(&file.ahead.state, &state, AHEAD_UNDER_WAY)) {
        reserve_ahead(header);
        atomic_store(&file.ahead.state, AHEAD_DONE);
    }
    /* Waits, because the filter of a thread that did not would forbid the other one's calls. */
    for (unsigned turn = 0; turn < AHEAD_TURNS && atomic_load(&file.ahead.state) == AHEAD_UNDER_WAY;
         turn++)
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
    uint32_t count = atomic_load(&file.ahead.count), place = atomic_load(&file.ahead.taken);
    while (place < count && !atomic_compare_exchange_weak(&file.ahead.taken, &place, place + 1))
        ;
    if (place >= count)
        return NULL;
    *number = file.ahead.first + place;
    count_slot(header, *number);
    return file.ahead.memory + (size_t)place * CHUNK_SIZE;
}

/* Gives up the reserved slots, which do not belong to another trace. */
static void trace_file_leave_ahead(void)
{
    atomic_store(&file.ahead.count, 0);
    atomic_store(&file.ahead.state, AHEAD_NOT);
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
    struct trace_file_header *header = atomic_load(&file.header);
    const uint32_t first = *reserved;
    if (!header || atomic_load(&file.stopped))
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
    if (file.limit && end > freed && end - freed > file.limit) {
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
    if (atomic_load(&file.header) != header) {
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
    struct trace_file_header *header = atomic_load(&file.header);
    const uint64_t more = left_out(from) - left_out(to), at = (uint64_t)slot * CHUNK_SIZE;
    if (!header || atomic_load(&file.stopped))
        return false;
    if (file.limit) {
        const uint64_t slots = atomic_load((_Atomic uint32_t *)&header->next_slot);
        const uint64_t freed = atomic_load((_Atomic uint64_t *)&header->freed_bytes);
        if (TRACE_FILE_HEADER_SIZE + slots * CHUNK_SIZE + more > freed + file.limit)
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
    struct trace_file_header *header = atomic_load_explicit(&file.header, memory_order_relaxed);
    if (header)
        atomic_fetch_add_explicit((_Atomic uint64_t *)&header->dropped_events, events,
                                  memory_order_relaxed);
}

struct trace_file_header *trace_file_header(void)
{
    return atomic_load(&file.header);
}

bool trace_file_is_sealed(void)
{
    struct trace_file_header *header = atomic_load_explicit(&file.header, memory_order_relaxed);
    return header && atomic_load((_Atomic uint32_t *)&header->sealed) != 0;
}

/* How long the process waits for the observer at its end. */
#define ANSWER_NS 200000000u
#define BELL_OBSERVER 0x80000000u

void trace_file_ring(enum trace_resident_reason reason, bool waits)
{
    struct trace_file_header *header = atomic_load(&file.header);
    if (!header || !atomic_load((_Atomic uint32_t *)&header->attends) || os_is_confined())
        return;
    atomic_store((_Atomic uint32_t *)&header->bell_reason, reason);
    const uint32_t rings =
        (atomic_fetch_add((_Atomic uint32_t *)&header->bell, 1) + 1) & ~BELL_OBSERVER;
    os_call(SYS_futex, (long)&header->bell, FUTEX_WAKE, INT32_MAX, 0, 0, 0);
    const uint64_t end = clock_nanoseconds(CLOCK_MONOTONIC) + ANSWER_NS;
    for (uint64_t now = 0; waits && now < end; now = clock_nanoseconds(CLOCK_MONOTONIC)) {
        const uint32_t answered = atomic_load((_Atomic uint32_t *)&header->answered);
        if (answered == rings || !atomic_load((_Atomic uint32_t *)&header->attends))
            break;
        const struct timespec rest = {.tv_nsec = ANSWER_NS / 20};
        os_call(SYS_futex, (long)&header->answered, FUTEX_WAIT, answered, (long)&rest, 0, 0);
    }
}

bool trace_file_take_request(struct trace_asked *asked)
{
    struct trace_file_header *header = atomic_load(&file.header);
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
    struct trace_file_header *header = atomic_load(&file.header);
    if (!header)
        return;
    header->answer = answer;
    atomic_store((_Atomic uint32_t *)&header->control, TRACE_CONTROL_DONE);
}

void trace_file_set_paused(enum trace_paused paused)
{
    struct trace_file_header *header = atomic_load(&file.header);
    file.paused = paused;
    if (header)
        atomic_store((_Atomic uint32_t *)&header->paused, paused);
}

void trace_file_end(enum trace_state state, struct clock_pair end)
{
    struct trace_file_header *header = atomic_load(&file.header);
    if (!header || atomic_load(&file.stopped) || trace_file_is_sealed())
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
    struct trace_file_header *header = atomic_load(&file.header);
    trace_file_leave();
    if (header)
        os_unmap(header, TRACE_FILE_HEADER_SIZE);
}

#define EXCHANGE_NAMES 2u /* RENAME_EXCHANGE */

static struct {
    int descriptor;
    uint32_t named;  /* N of the last name that was given */
    uint32_t number; /* rotations so far */
    uint64_t id;
    struct trace_file_header *header;   /* of the next file, where it was mapped first */
    struct trace_file_header *previous; /* of the trace before, mapped once more */
    char path[TRACE_NAME_SIZE + 16];
} next;

static void name_next(uint32_t number)
{
    const char *text = OS_DECIMAL(number);
    const size_t length = strnlen(file.path, TRACE_NAME_SIZE - 1);
    memcpy(next.path, file.path, length);
    memcpy(next.path + length, ".r", 2);
    memcpy(next.path + length + 2, text, strlen(text) + 1);
}

static bool open_next(void)
{
    long opened = -EEXIST;
    for (unsigned attempt = 0; attempt < NAME_ATTEMPTS && opened == -EEXIST; attempt++) {
        name_next(++next.named);
        opened = os_call_retry(SYS_openat, AT_FDCWD, (long)next.path,
                               O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    }
    next.descriptor = (int)opened;
    return opened >= 0;
}

bool trace_rotation_begin(void)
{
    const struct trace_file_header *present = atomic_load(&file.header);
    void *memory;
    if (!present || present->state != TRACE_STATE_RECORDING || trace_file_is_stopped() ||
        trace_file_is_sealed() || !trace_file_is_own() || os_is_confined())
        return false;
    if (present->trace_id != next.id)
        next.named = next.number = 0; /* a forked child, or a restart */
    if (!open_next())
        return false;
    if (trace_storage_map_other(next.descriptor, TRACE_FILE_HEADER_SIZE, &memory) != 0) {
        os_close(next.descriptor);
        os_call_retry(SYS_unlink, (long)next.path, 0, 0, 0);
        next.named--;
        return false;
    }
    next.header = memory;
    return true;
}

static void fill_next(const struct trace_file_header *present)
{
    const uint64_t id = file.id;
    file.id = trace_file_new_id();
    trace_file_fill_header(next.header, present->flags);
    next.id = file.id;
    file.id = id;
    next.header->paused = present->paused;
    next.header->run = present->run;
    next.header->told = present->told;
}

static bool exchange_names(void)
{
    return os_call(SYS_renameat2, AT_FDCWD, (long)next.path, AT_FDCWD, (long)file.path,
                   EXCHANGE_NAMES, 0) == 0;
}

bool trace_rotation_take_name(void)
{
    void *again = NULL;
    /* The user may have moved the trace and put something else there. */
    if (!trace_storage_is_in_place() ||
        trace_storage_take(0, TRACE_FILE_HEADER_SIZE, TRACE_FILE_HEADER_SIZE, &again) != 0)
        return false;
    if (!exchange_names()) {
        os_unmap(again, TRACE_FILE_HEADER_SIZE);
        return false;
    }
    next.previous = again;
    return true;
}

void trace_rotation_cancel(void)
{
    if (next.previous) {
        exchange_names();
        os_unmap(next.previous, TRACE_FILE_HEADER_SIZE);
        next.previous = NULL;
    }
    os_unmap(next.header, TRACE_FILE_HEADER_SIZE);
    os_close(next.descriptor);
    os_call_retry(SYS_unlink, (long)next.path, 0, 0, 0);
    next.named--;
}

void trace_rotation_switch(void)
{
    struct trace_file_header *present = atomic_load(&file.header);
    fill_next(present);
    /* If the kernel does not move the page, the old one stays mapped, as threads may use it. */
    if (os_call(SYS_mremap, (long)next.header, TRACE_FILE_HEADER_SIZE, TRACE_FILE_HEADER_SIZE,
                MREMAP_MAYMOVE | MREMAP_FIXED, (long)present, 0) != (long)present)
        trace_file_set_header(next.header);
    next.previous->rotated = next.named;
    file.id = next.id;
    atomic_store(&file.disk_due, 0);
    trace_file_leave_ahead();
    trace_storage_end();
    trace_storage_begin(next.descriptor, file.path);
    next.number++;
}

uint64_t trace_rotation_before(void)
{
    return next.previous->trace_id;
}

uint32_t trace_rotation_number(void)
{
    return next.number + 1;
}

void trace_rotation_answer(void)
{
    next.previous->answer = TRACE_ANSWER_DONE;
    atomic_store((_Atomic uint32_t *)&next.previous->control, TRACE_CONTROL_DONE);
    os_unmap(next.previous, TRACE_FILE_HEADER_SIZE);
    next.previous = NULL;
}
