/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/run/signal.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool is_taken(int number)
{
    static const int others[] = {SIGKILL, SIGSTOP, SIGCHLD, SIGSEGV, SIGBUS,
                                 SIGFPE,  SIGILL,  SIGTRAP, SIGABRT, SIGSYS};
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        if (number == others[i])
            return true;
    /* The C library keeps the numbers in between for itself. */
    return number < 1 || number > SIGRTMAX || (number > SIGSYS && number < SIGRTMIN);
}

/* Reads a text that is one number and nothing else. */
static bool read_number(const char *text, int *number)
{
    char *end;
    const long value = strtol(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end || value > SIGRTMAX)
        return false;
    *number = (int)value;
    return true;
}

int run_signal_number(const char *text)
{
    static const char real_time[] = "RTMIN+";
    int number = 0;
    if (strncasecmp(text, "SIG", 3) == 0)
        text += 3;
    if (strncasecmp(text, real_time, sizeof(real_time) - 1) == 0) {
        if (!read_number(text + sizeof(real_time) - 1, &number))
            return 0;
        number += SIGRTMIN;
    } else if (!read_number(text, &number)) {
        for (int i = 1; i <= SIGSYS && number == 0; i++)
            if (sigabbrev_np(i) && strcasecmp(sigabbrev_np(i), text) == 0)
                number = i;
    }
    return is_taken(number) ? 0 : number;
}
