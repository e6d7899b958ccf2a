/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/trace/rotation.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "capture/os/os.h"
#include "capture/trace/file.h"
#include "capture/trace/file_parts.h"
#include "capture/trace/storage.h"

#define NAME_ATTEMPTS 100000u
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

static struct trace_file_parts *const file = &trace_file_parts;

static void name_next(uint32_t number)
{
    char digits[24];
    digits[sizeof(digits) - 1] = 0;
    const char *text = os_decimal(digits + sizeof(digits) - 1, number);
    const size_t length = strnlen(file->path, TRACE_NAME_SIZE - 1);
    memcpy(next.path, file->path, length);
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
    const struct trace_file_header *present = atomic_load(&file->header);
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
    const uint64_t id = file->id;
    file->id = trace_file_new_id();
    trace_file_fill_header(next.header, present->flags);
    next.id = file->id;
    file->id = id;
    next.header->paused = present->paused;
    next.header->run = present->run;
    next.header->told = present->told;
}

static bool exchange_names(void)
{
    return os_call(SYS_renameat2, AT_FDCWD, (long)next.path, AT_FDCWD, (long)file->path,
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
    struct trace_file_header *present = atomic_load(&file->header);
    fill_next(present);
    /* If the kernel does not move the page, the old one stays mapped, since threads may have its
     * address. */
    if (os_call(SYS_mremap, (long)next.header, TRACE_FILE_HEADER_SIZE, TRACE_FILE_HEADER_SIZE,
                MREMAP_MAYMOVE | MREMAP_FIXED, (long)present, 0) != (long)present)
        trace_file_set_header(next.header);
    next.previous->rotated = next.named;
    file->id = next.id;
    atomic_store(&file->disk_due, 0);
    trace_file_leave_ahead();
    trace_storage_end();
    trace_storage_begin(next.descriptor, file->path);
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
