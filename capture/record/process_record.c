/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/record/process_record.h"

#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>

#include "capture/os/arch_x86_64.h"
#include "capture/os/os.h"
#include "capture/os/trace_name.h"
#include "schemas/trace_codec.h"

/* Limits that leave room for the fixed part; the arguments get the rest of the longest payload. */
#define PATH_SHARE 500u
#define TEXT_MAX 4096u
/* The bytes that follow the arguments: two stamps and the boot id. */
#define BEHIND_MAX 64u
#define BOOT_ID_LENGTH 36u

static struct process_origin process_origin;

/* The labels of the trace. The program may write over the text that they come in. */
static char labels[TRACE_LABELS_MOST][TRACE_LABEL_MOST];
static size_t label_lengths[TRACE_LABELS_MOST], label_count;

/* Not on the stack, because in a forked child that may be a coroutine's small one. Only one thread
 * at a time begins a trace. */
static char text[TEXT_MAX];

/* The arguments that the program was started with, read for its first trace. Programs write titles
 * over them later; its children and later traces still use the original ones. */
static char started[TEXT_MAX];
static size_t started_size;
static bool started_before; /* the program, before the recorder */

void process_record_set_origin(struct process_origin origin)
{
    process_origin = origin;
}

void process_record_comes_late(void)
{
    started_before = true;
}

static uint8_t *put_text(uint8_t *p, const char *string, size_t limit)
{
    return trace_put_string(p, string, strnlen(string, limit));
}

/* Returns how many of the NUL-terminated arguments fit in `room` bytes, each with its length before
 * it. Sets *cut if some do not fit. */
static size_t count_arguments(const char *arguments, size_t length, size_t room, bool *cut)
{
    size_t count = 0, used = 0;
    while (used < length) {
        size_t one = strnlen(arguments + used, length - used);
        size_t cost = one + 2;
        if (cost > room) {
            *cut = true;
            return count;
        }
        room -= cost;
        used += one + 1;
        count++;
    }
    return count;
}

/* Reads the arguments. A recorder that comes late may find a title there. The zeros behind it are
 * no arguments: they fill the place of the real ones. */
static void read_arguments(void)
{
    int descriptor = os_open_read("/proc/self/cmdline");
    long length = descriptor < 0 ? 0 : os_read(descriptor, started, sizeof(started));
    if (descriptor >= 0)
        os_close(descriptor);
    started_size = length > 0 ? (size_t)length : 0;
    const bool whole = started_size < sizeof(started);
    while (started_before && whole && started_size > 1 && started[started_size - 2] == 0)
        started_size--;
}

void process_record_words(const char **words, size_t most)
{
    size_t count = 0;
    read_arguments();
    for (size_t at = 0; at < started_size && count < most;
         at += strnlen(started + at, started_size - at) + 1)
        if (memchr(started + at, 0, started_size - at))
            words[count++] = started + at;
    words[count] = NULL;
}

static uint8_t *put_arguments(uint8_t *p, const uint8_t *end)
{
    bool cut = false;
    if (started_size == 0)
        read_arguments();
    const size_t size = started_size;
    if (size == sizeof(started)) /* the buffer is full: more may follow */
        cut = true;
    size_t count = count_arguments(started, size, (size_t)(end - p) - 8, &cut);
    p = trace_put_varint(p, cut ? 1 : 0);
    p = trace_put_varint(p, count);
    const char *argument = started;
    for (size_t i = 0; i < count; i++) {
        size_t one = strnlen(argument, (size_t)(started + size - argument));
        p = trace_put_string(p, argument, one);
        argument += one + 1;
    }
    return p;
}

static uint8_t *put_executable(uint8_t *p)
{
    executable_name(text, sizeof(text));
    return put_text(p, text, PATH_SHARE);
}

static uint8_t *put_folder(uint8_t *p)
{
    if (os_read_link("/proc/self/cwd", text, sizeof(text)) < 0 &&
        os_call(SYS_getcwd, (long)text, sizeof(text), 0, 0, 0, 0) < 0)
        text[0] = 0;
    return put_text(p, text, PATH_SHARE);
}

static uint8_t *put_boot_id(uint8_t *p)
{
    int descriptor = os_open_read("/proc/sys/kernel/random/boot_id");
    long length = descriptor < 0 ? 0 : os_read(descriptor, text, sizeof(text));
    if (descriptor >= 0)
        os_close(descriptor);
    return trace_put_string(p, text, length >= (long)BOOT_ID_LENGTH ? BOOT_ID_LENGTH : 0);
}

uint8_t *process_record_put(uint8_t *p)
{
    const uint8_t *end = p + TRACE_EXTENDED_MAX;
    struct utsname names;
    memset(&names, 0, sizeof(names));
    os_call(SYS_uname, (long)&names, 0, 0, 0, 0, 0);
    p = trace_put_varint(p, (uint64_t)os_process_id());
    p = trace_put_varint(p, (uint64_t)os_call(SYS_getppid, 0, 0, 0, 0, 0, 0));
    p = trace_put_varint(p, process_origin.trace_id);
    p = put_executable(p);
    p = put_folder(p);
    p = put_text(p, names.nodename, sizeof(names.nodename));
    p = put_text(p, names.release, sizeof(names.release));
    p = put_arguments(p, end - BEHIND_MAX);
    p = trace_put_varint(p, process_origin.before);
    p = trace_put_varint(p, process_origin.after);
    return put_boot_id(p);
}

void process_record_set_labels(const struct options_label *given, size_t count)
{
    label_count = count;
    for (size_t i = 0; i < count; i++) {
        label_lengths[i] = given[i].length;
        for (size_t k = 0; k < given[i].length; k++)
            labels[i][k] = given[i].text[k] == OPTIONS_COMMA ? ',' : given[i].text[k];
    }
}

const char *process_record_label(size_t index, size_t *length)
{
    if (index >= label_count)
        return NULL;
    *length = label_lengths[index];
    return labels[index];
}

uint64_t process_resident_bytes(void)
{
    char line[128];
    int descriptor = os_open_read("/proc/thread-self/statm");
    if (descriptor < 0)
        return 0;
    long length = os_read(descriptor, line, sizeof(line) - 1);
    os_close(descriptor);
    line[length > 0 ? length : 0] = 0;
    const char *at = line;
    while (*at && *at != ' ') /* skips the address space; the resident set comes second */
        at++;
    uint64_t pages = 0;
    for (at += *at == ' '; *at >= '0' && *at <= '9'; at++)
        pages = pages * 10 + (uint64_t)(*at - '0');
    return pages * ARCH_PAGE_SIZE;
}
