/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/run/trace_maker.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "capture/options/trace_name.h"
#include "capture/os/seccomp/seccomp.h"
#include "capture/run/client.h"
#include "cli/say.h"

#define QUEUE 128          /* processes that wait for an answer */
#define ANCESTORS_MAX 256u /* generations that are looked at */
#define NAMES_MAX 100000u  /* traces of one process */

void trace_maker_begin(struct trace_maker *maker)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    uint64_t number;
    *maker = (struct trace_maker){.listener = -1};
    if (geteuid() != 0 || seccomp_is_on())
        return;
    if (getrandom(&number, sizeof(number), 0) == (ssize_t)sizeof(number))
        maker->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    snprintf(maker->name, sizeof(maker->name), "%016" PRIx64, number);
    const int length = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "%s%s",
                                TRACE_FILES_SOCKET, maker->name);
    const socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
    if (maker->listener >= 0 && bind(maker->listener, (struct sockaddr *)&address, size) == 0 &&
        listen(maker->listener, QUEUE) == 0)
        return;
    say("mprof-run",
        "no socket can be made: %s; children of a program that drops its rights are not recorded",
        strerror(errno));
    trace_maker_end(maker);
}

void trace_maker_end(struct trace_maker *maker)
{
    if (maker->listener >= 0)
        close(maker->listener);
    maker->listener = -1;
    maker->name[0] = 0;
}

/* Returns the parent's number, or 0. */
static pid_t parent_of(pid_t process)
{
    char path[64], text[512];
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)process);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t length = file < 0 ? -1 : read(file, text, sizeof(text) - 1);
    if (file >= 0)
        close(file);
    text[length < 0 ? 0 : length] = 0;
    const char *end = strrchr(text, ')');
    return end && strlen(end) > 4 ? (pid_t)strtol(end + 4, NULL, 10) : 0;
}

/* Returns true if the trace is this user's, and the process records into it. */
static bool records_into(pid_t process, const char *trace)
{
    struct client client;
    struct stat status;
    if (client_open(&client, trace) != CLIENT_GOOD)
        return false;
    const bool records = fstat(client.descriptor, &status) == 0 && status.st_uid == geteuid() &&
                         (pid_t)client.header->pid == process &&
                         client_recorder(&client) == CLIENT_GOOD;
    client_close(&client);
    return records;
}

/* Returns true if the process records into a trace of the run. */
static bool is_recorded(pid_t process, const char *trace)
{
    char path[TRACE_NAME_SIZE];
    if (records_into(process, trace))
        return true;
    for (unsigned attempt = 1; attempt < NAMES_MAX; attempt++)
        if (!trace_name_attempt(trace, process, attempt, true, path) || access(path, F_OK) != 0)
            return false;
        else if (records_into(process, path))
            return true;
    return false;
}

static bool is_of_run(pid_t process, const char *trace)
{
    for (unsigned i = 0; i < ANCESTORS_MAX && process > 1; i++) {
        const pid_t parent = parent_of(process);
        if (parent == getpid() || is_recorded(process, trace))
            return true;
        process = parent;
    }
    return false;
}

/* Opens the folder of the traces, and makes it if it is missing. -1: there is none that only this
 * user may write into. */
static int open_folder(const char *trace)
{
    char folder[TRACE_NAME_SIZE];
    struct stat status;
    if (!trace_name_folder(trace, folder))
        return -1;
    mkdir(folder, 0700);
    const int opened = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (opened < 0)
        return -1;
    if (fstat(opened, &status) == 0 && status.st_uid == geteuid() &&
        (status.st_mode & (S_IWGRP | S_IWOTH)) == 0)
        return opened;
    close(opened);
    return -1;
}

/* Makes the file of the process's next trace and stores its path. Returns -1 if it cannot. */
static int make_file(pid_t process, const char *trace, char path[TRACE_NAME_SIZE])
{
    const int folder = open_folder(trace);
    int file = -1;
    for (unsigned attempt = 1; folder >= 0 && file < 0 && attempt < NAMES_MAX; attempt++) {
        if (!trace_name_attempt(trace, process, attempt, true, path))
            break;
        file = openat(folder, strrchr(path, '/') + 1, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (file < 0 && errno != EEXIST)
            break;
    }
    if (folder >= 0)
        close(folder);
    return file;
}

static void hand_over(int connection, int file, const char *path)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {.header = {.cmsg_len = CMSG_LEN(sizeof(int)),
                            .cmsg_level = SOL_SOCKET,
                            .cmsg_type = SCM_RIGHTS}};
    struct iovec text = {(void *)(uintptr_t)path, strlen(path)};
    const struct msghdr message = {.msg_iov = &text,
                                   .msg_iovlen = 1,
                                   .msg_control = &control,
                                   .msg_controllen = sizeof(control)};
    memcpy(CMSG_DATA(&control.header), &file, sizeof(file));
    if (sendmsg(connection, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        unlink(path);
}

void trace_maker_step(const struct trace_maker *maker, const char *trace)
{
    char path[TRACE_NAME_SIZE];
    int connection;
    while (maker->listener >= 0 &&
           (connection = accept4(maker->listener, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
        struct ucred peer = {.pid = 0};
        socklen_t size = sizeof(peer);
        if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
            is_of_run(peer.pid, trace)) {
            const int file = make_file(peer.pid, trace, path);
            if (file >= 0) {
                hand_over(connection, file, path);
                close(file);
            }
        }
        close(connection);
    }
}
