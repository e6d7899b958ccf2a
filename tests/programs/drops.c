/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Drops root's rights, as a server does, and then has a child. usage: drops fork | exec | chroot
 * FOLDER | daemon [late]. The child allocates five times 1111 bytes. A daemon's parent has ended
 * when it drops them; `late`: so have all ancestors.
 */
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void rest(long milliseconds)
{
    nanosleep(&(struct timespec){milliseconds / 1000, milliseconds % 1000 * 1000000}, NULL);
}

static void allocate(size_t size)
{
    for (int i = 0; i < 5; i++)
        free(malloc(size));
}

/* Drops the rights, with the folder as its root if there is one. */
static void drop(const char *folder)
{
    if ((folder && (chroot(folder) != 0 || chdir("/") != 0)) || setgroups(0, NULL) != 0 ||
        setgid(65534) != 0 || setuid(65534) != 0)
        _exit(9);
    allocate(2222);
}

static int have_child(char *program)
{
    int status = 0;
    const pid_t child = fork();
    if (child == 0 && program)
        execl(program, program, "child", (char *)NULL);
    if (child == 0) {
        allocate(1111);
        exit(0);
    }
    return waitpid(child, &status, 0) == child ? status : 8;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "child") == 0) {
        allocate(1111);
        return 0;
    }
    if (strcmp(what, "daemon") == 0) {
        allocate(3333);
        const pid_t first = fork();
        if (first == 0) {
            if (fork() != 0)
                _exit(0);
            rest(100);
            allocate(4444);
            drop(NULL);
            if (argc > 2)
                rest(300);
            _exit(have_child(NULL));
        }
        waitpid(first, NULL, 0);
        rest(argc > 2 ? 200 : 500);
        return 0;
    }
    drop(argc > 2 ? argv[2] : NULL);
    return have_child(strcmp(what, "exec") == 0 ? argv[0] : NULL);
}
