/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Executes a program in one of the less usual ways. usage: executes HOW PROGRAM [ARGUMENT…]
 *
 * fexecve, place (fexecve of a descriptor that is not for reading), execveat, empty (execveat of a
 * descriptor), relative (to a folder), call-execve, call-execveat (by syscall()), vfork (execveat
 * in a child made so)
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int execute(const char *how, char *path, char **arguments)
{
    if (strcmp(how, "fexecve") == 0)
        return fexecve(open(path, O_RDONLY | O_CLOEXEC), arguments, environ);
    if (strcmp(how, "place") == 0)
        return fexecve(open(path, O_PATH | O_CLOEXEC), arguments, environ);
    if (strcmp(how, "execveat") == 0)
        return execveat(AT_FDCWD, path, arguments, environ, 0);
    if (strcmp(how, "empty") == 0)
        return execveat(open(path, O_PATH | O_CLOEXEC), "", arguments, environ, AT_EMPTY_PATH);
    if (strcmp(how, "call-execve") == 0)
        return (int)syscall(SYS_execve, path, arguments, environ);
    if (strcmp(how, "call-execveat") == 0)
        return (int)syscall(SYS_execveat, AT_FDCWD, path, arguments, environ, 0);
    char *slash = strrchr(path, '/');
    if (strcmp(how, "relative") != 0 || !slash)
        return 3;
    *slash = 0;
    int folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return execveat(folder, slash + 1, arguments, environ, AT_SYMLINK_NOFOLLOW);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    free(malloc(1234));
    if (strcmp(argv[1], "vfork") == 0) {
        int status = 1;
        pid_t child = vfork();
        if (child == 0) {
            execveat(AT_FDCWD, argv[2], argv + 2, environ, 0);
            _exit(127);
        }
        return child < 0 || waitpid(child, &status, 0) != child || status;
    }
    execute(argv[1], argv[2], argv + 2);
    return 1;
}
