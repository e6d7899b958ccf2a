/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mprof_stop() and mprof_restart() in forked children, and an exec that fails after a stop.
 * Sizes of 1,000 to 2,000 are recorded, larger ones are not. Works in the current folder.
 */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/mprof.h"

static int in_child(void (*work)(void))
{
    int status = 1;
    pid_t child = fork();
    if (child == 0) {
        work();
        exit(0);
    }
    return waitpid(child, &status, 0) == child ? status : 1;
}

static void of_a_recording_parent(void)
{
    free(malloc(1222));
    mprof_restart("child1.bin");
    free(malloc(1333));
}

static void of_a_stopped_parent(void)
{
    free(malloc(2222));
    mprof_restart("child2.bin");
    free(malloc(1444));
}

static void failing_exec(void)
{
    free(malloc(2333));
    execl("/nonexistent", "nonexistent", (char *)NULL);
    free(malloc(2444));
}

int main(void)
{
    free(malloc(1111));
    int status = in_child(of_a_recording_parent);
    mprof_stop();
    status |= in_child(of_a_stopped_parent) | in_child(failing_exec);
    failing_exec();
    return status;
}
