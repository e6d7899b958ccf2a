/* SPDX-License-Identifier: BSD-2-Clause */
/* Chooses the pattern that suppresses a group of leaks, and finds what else it takes. */
#include <string.h>

#include "schemas/code/suppressions.h"
#include "tui/view/leaks/leaks.h"

/* Tells whether a pattern names a frame of a group. The view looks at functions and modules: the
 * patterns that it writes name no source files. */
static bool takes(const struct leaks *leaks, const char *pattern, const struct leak_names *names)
{
    const uint32_t *frames = leaks->data->frames + names->first_frame;
    for (size_t i = 0; i < names->frame_count; i++)
        if (suppression_matches(pattern, session_function_name(leaks->session, frames[i])) ||
            suppression_matches(pattern, session_function_module(leaks->session, frames[i])))
            return true;
    return false;
}

/* Sums up the groups besides `group` that a pattern would take from the leaks. */
static void add_others(const struct leaks *leaks, size_t group, struct leak_pattern *pattern)
{
    const struct session_leaks *all = &leaks->data->leaks;
    pattern->groups = pattern->bytes = 0;
    for (size_t i = 0; i < all->count; i++)
        if (i != group && all->leaks[i].kind <= SESSION_LEAK_START_UP &&
            takes(leaks, pattern->text, &leaks->data->names[i])) {
            pattern->groups++;
            pattern->bytes += all->leaks[i].bytes;
        }
}

bool leaks_pattern(const struct leaks *leaks, size_t group, struct leak_pattern *best)
{
    const struct leak_names *names = &leaks->data->names[group];
    const uint32_t *frames = leaks->data->frames + names->first_frame;
    struct leak_pattern tried;
    best->text[0] = 0;
    for (size_t i = names->user_frame; i < names->frame_count; i++) {
        if (!session_leak_frame_pattern(leaks->session, frames[i], tried.text,
                                        sizeof(tried.text)) ||
            (best->text[0] && tried.text[0] != '^'))
            continue;
        add_others(leaks, group, &tried);
        if (!best->text[0] || tried.bytes < best->bytes)
            *best = tried;
        if (best->groups == 0)
            break;
    }
    return best->text[0] != 0;
}
