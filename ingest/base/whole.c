/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/base/whole.h"

#include <errno.h>
#include <unistd.h>

int write_whole(int descriptor, const void *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        const ssize_t count = write(descriptor, (const char *)bytes + done, size - done);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return count < 0 ? errno : EIO;
        done += (size_t)count;
    }
    return 0;
}

size_t read_whole(int descriptor, void *bytes, size_t size, uint64_t place)
{
    size_t done = 0;
    while (done < size) {
        const ssize_t count =
            pread(descriptor, (char *)bytes + done, size - done, (off_t)(place + done));
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return SIZE_MAX;
        if (count == 0)
            break;
        done += (size_t)count;
    }
    return done;
}
