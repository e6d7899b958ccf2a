/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/replay/user_frames.h"

#include <stdlib.h>
#include <string.h>

void user_frames_free(struct user_frames *user)
{
    free(user->classes);
    *user = (struct user_frames){0};
}

bool user_frames_extend(struct user_frames *user, const struct frames *frames)
{
    const size_t had = user->capacity;
    if (frames->function_count <= had)
        return true;
    if (!array_reserve(&user->classes, &user->capacity, frames->function_count,
                       sizeof(*user->classes)))
        return false;
    memset(user->classes + had, 0, user->capacity - had);
    return true;
}

enum user_code_class user_frames_class(struct user_frames *user, const struct frames *frames,
                                       const struct trace_scan *scan, uint32_t function)
{
    const struct function_row *row = &frames->functions[function];
    if (row->role != ROLE_NONE && row->role != ROLE_RUNTIME)
        return USER_CODE_HIDDEN;
    if (user->classes[function] == 0) {
        static const struct user_code built_in;
        const struct module_row *module = trace_scan_module(scan, row->module);
        const struct user_code_module about =
            user_code_module(&built_in, module ? module->path : "");
        user->classes[function] =
            (uint8_t)(1 + user_code_function(&built_in, &about, row->name, row->linkage_name));
    }
    return (enum user_code_class)(user->classes[function] - 1);
}
