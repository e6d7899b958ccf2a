/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/os/once_per_run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "capture/os/os.h"
#include "schemas/trace_layout.h"

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

bool once_per_run(const char *base, uint32_t root)
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
