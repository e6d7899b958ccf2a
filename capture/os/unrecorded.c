/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes the trace of a program that runs without the recorder (trace-format.md, "Unrecorded
 * programs").
 *
 * All system calls are raw. It allocates nothing and writes only the caller's memory, so a child
 * that vfork made may call it, too. */
#include "capture/os/trace_name.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>

#include "capture/os/arch_x86_64.h"
#include "capture/os/clock.h"
#include "capture/os/os.h"
#include "schemas/trace_codec.h"

#define NAME_ATTEMPTS 100000u
#define FILE_SIZE (TRACE_FILE_HEADER_SIZE + TRACE_CHUNK_SIZE_DEFAULT)
/* The most bytes of a path. The arguments get what is left of the longest payload. */
#define PATH_SHARE 500u
#define BOOT_ID_LENGTH 36u
/* Two stamps, and the boot id with its length. */
#define BEHIND_MAX (BOOT_ID_LENGTH + 8u)
/* Kind, type and length of a record. */
#define RECORD_HEAD_MAX 16u

/* Opens the first free name. Returns the descriptor, or a negative errno. */
static int open_name(const struct unrecorded *program, char *name)
{
    bool made = false;
    for (unsigned attempt = program->first ? 0 : 1; attempt < NAME_ATTEMPTS;) {
        if (!trace_name_attempt(program->base, program->process, attempt, true, name))
            return -ENAMETOOLONG;
        const long result = os_call_retry(SYS_openat, AT_FDCWD, (long)name,
                                          O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (result == -EEXIST) {
            attempt++;
            continue;
        }
        if (result != -ENOENT || attempt == 0 || made || !trace_name_folder(program->base, name))
            return (int)result;
        os_call_retry(SYS_mkdir, (long)name, 0700, 0, 0);
        made = true;
    }
    return -EEXIST;
}

static uint8_t *put_text(uint8_t *p, const char *text, size_t limit)
{
    return trace_put_string(p, text, strnlen(text, limit));
}

static uint8_t *put_words(uint8_t *p, const uint8_t *end, const char *const *words)
{
    size_t count = 0, room = (size_t)(end - p) - 8;
    while (words && words[count]) {
        const size_t cost = strnlen(words[count], room) + 2;
        if (cost > room)
            break;
        room -= cost;
        count++;
    }
    p = trace_put_varint(p, words && words[count] ? 1 : 0);
    p = trace_put_varint(p, count);
    for (size_t i = 0; i < count; i++)
        p = put_text(p, words[i], TRACE_EXTENDED_MAX);
    return p;
}

static uint8_t *put_process(uint8_t *p, const struct unrecorded *program)
{
    const uint8_t *end = p + TRACE_EXTENDED_MAX - BEHIND_MAX;
    char text[PATH_SHARE];
    struct utsname names;
    memset(&names, 0, sizeof(names));
    os_call(SYS_uname, (long)&names, 0, 0, 0, 0, 0);
    p = trace_put_varint(p, (uint64_t)program->process);
    p = trace_put_varint(p, (uint64_t)program->parent);
    p = trace_put_varint(p, 0);
    p = put_text(p, program->path, PATH_SHARE);
    p = put_text(p, os_call(SYS_getcwd, (long)text, sizeof(text), 0, 0, 0, 0) > 0 ? text : "",
                 PATH_SHARE);
    p = put_text(p, names.nodename, sizeof(names.nodename));
    p = put_text(p, names.release, sizeof(names.release));
    p = put_words(p, end, program->words);
    p = trace_put_varint(p, 0);
    p = trace_put_varint(p, 0);
    const int descriptor = os_open_read("/proc/sys/kernel/random/boot_id");
    const long length = descriptor < 0 ? 0 : os_read(descriptor, text, BOOT_ID_LENGTH);
    if (descriptor >= 0)
        os_close(descriptor);
    return trace_put_string(p, text, length == BOOT_ID_LENGTH ? BOOT_ID_LENGTH : 0);
}

static bool write_at(int descriptor, const void *bytes, size_t size, uint64_t offset)
{
    return os_call_retry(SYS_pwrite64, descriptor, (long)bytes, (long)size, (long)offset) ==
           (long)size;
}

static bool write_header(int descriptor, const struct unrecorded *program,
                         struct trace_file_header *header)
{
    const uint64_t now = clock_nanoseconds(CLOCK_MONOTONIC);
    *header = (struct trace_file_header){.version = TRACE_VERSION,
                                         .header_size = TRACE_FILE_HEADER_SIZE,
                                         .chunk_size = TRACE_CHUNK_SIZE_DEFAULT,
                                         .clock = TRACE_CLOCK_NANOSECONDS,
                                         .architecture = EM_X86_64,
                                         .start_ticks = now,
                                         .start_monotonic_ns = now,
                                         .start_realtime_ns = clock_nanoseconds(CLOCK_REALTIME),
                                         .pid = (uint32_t)program->process,
                                         .page_size = ARCH_PAGE_SIZE,
                                         .state = TRACE_STATE_ENDED,
                                         .chunk_count = 1,
                                         .end_ticks = now,
                                         .end_monotonic_ns = now,
                                         .next_slot = 1,
                                         .unrecorded = program->reason};
    memcpy(header->magic, TRACE_MAGIC, sizeof(header->magic));
    os_call(SYS_getrandom, (long)&header->trace_id, sizeof(header->trace_id), GRND_NONBLOCK, 0, 0,
            0);
    header->trace_id |= 1; /* 0 means none */
    header->header_sum = trace_sum(header, offsetof(struct trace_file_header, header_sum));
    return write_at(descriptor, header, sizeof(*header), 0);
}

static bool write_chunk(int descriptor, const struct unrecorded *program,
                        const struct trace_file_header *file)
{
    uint8_t bytes[TRACE_CHUNK_HEADER_SIZE + RECORD_HEAD_MAX + TRACE_EXTENDED_MAX];
    uint8_t *const records = bytes + TRACE_CHUNK_HEADER_SIZE, *const payload =
                                                                  records + RECORD_HEAD_MAX;
    const size_t length = (size_t)(put_process(payload, program) - payload);
    uint8_t *end = records;
    *end++ = TRACE_EXTENDED;
    end = trace_put_varint(end, TRACE_EXT_PROCESS);
    end = trace_put_varint(end, length);
    memmove(end, payload, length);
    end += length;
    struct trace_chunk_header chunk = {.magic = TRACE_CHUNK_MAGIC,
                                       .thread = 1,
                                       .trace_id = file->trace_id,
                                       .base_ticks = file->start_ticks,
                                       .base_monotonic_ns = file->start_monotonic_ns,
                                       .commit = (uint32_t)(end - bytes),
                                       .flags = TRACE_CHUNK_SEALED | TRACE_CHUNK_LEFT,
                                       .sum = trace_sum(records, (size_t)(end - records))};
    chunk.header_sum = (uint32_t)trace_sum(&chunk, offsetof(struct trace_chunk_header, header_sum));
    memcpy(bytes, &chunk, sizeof(chunk));
    return write_at(descriptor, bytes, (size_t)(end - bytes), TRACE_FILE_HEADER_SIZE);
}

bool unrecorded_make(const struct unrecorded *program, char *name)
{
    struct trace_file_header header;
    struct rlimit limit;
    /* Beyond the limit the kernel would send SIGXFSZ. */
    if (os_call(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, (long)&limit, 0, 0) != 0 ||
        limit.rlim_cur < FILE_SIZE)
        return false;
    const int descriptor = open_name(program, name);
    if (descriptor < 0)
        return false;
    const bool good = os_call(SYS_ftruncate, descriptor, FILE_SIZE, 0, 0, 0, 0) == 0 &&
                      write_header(descriptor, program, &header) &&
                      write_chunk(descriptor, program, &header);
    os_close(descriptor);
    if (!good)
        os_call_retry(SYS_unlink, (long)name, 0, 0, 0);
    return good;
}
