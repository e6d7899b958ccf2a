/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/trace/given_file.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>

#include "capture/options/options.h"
#include "capture/os/os.h"
#include "capture/os/seccomp/seccomp.h"

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

int given_file_ask(char path[TRACE_NAME_SIZE])
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
