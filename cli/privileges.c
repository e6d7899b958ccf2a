/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/privileges.h"

#include <sys/prctl.h>

void privileges_give_up(void)
{
    prctl(PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L);
    prctl(PR_CAP_AMBIENT, (long)PR_CAP_AMBIENT_CLEAR_ALL, 0L, 0L, 0L);
}
