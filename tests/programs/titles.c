/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program that writes a title over its arguments, as nginx, postgres and redis do, and then forks
 * a child that writes another. usage: titles ARGUMENT…
 */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* All arguments lie one after another. */
static void set_title(char **argv, int count, const char *title)
{
    size_t room = (size_t)(argv[count - 1] + strlen(argv[count - 1]) - argv[0]);
    memset(argv[0], 0, room);
    memcpy(argv[0], title, strlen(title) < room ? strlen(title) : room);
}

int main(int argc, char **argv)
{
    set_title(argv, argc, "titles: master");
    free(malloc(100));
    if (fork() == 0) {
        set_title(argv, argc, "titles: worker");
        void *kept = malloc(200);
        _exit(kept == NULL);
    }
    while (wait(NULL) > 0)
        continue;
    return 0;
}
