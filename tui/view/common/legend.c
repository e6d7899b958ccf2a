/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/view/common/legend.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "session/stacks.h"

/* The fields whose legends have names, and the label of what has none; NULL: all have one. */
static const struct {
    const char *field, *none;
} fields[] = {
    {"function", "no call site"},
    {"user", "no own code"},
    {"type", SESSION_UNKNOWN_TYPE},
    {"module", "no module"},
    {"thread", NULL},
    {"owner", "unknown owner"},
    {"kind", NULL},
};

/* Returns the number of the thread that a label tells by it, as those of one name do; 0: the label
 * is a name. */
static uint32_t thread_number(const struct session *session, const char *label)
{
    const uint32_t thread = label[0] == '#' ? (uint32_t)strtoul(label + 1, NULL, 10) : 0;
    const bool told = strcmp(session_thread_label(session, thread), label) == 0 &&
                      strcmp(session_thread_name(session, thread), label) != 0;
    return told ? thread : 0;
}

/* Writes the test for a label, malloc()ed. NULL: there is none, or no memory. */
static char *make_test(const struct session *session, const char *field, const char *none,
                       const char *label)
{
    char *text = NULL;
    if (none && strcmp(label, none) == 0)
        return asprintf(&text, "where %s is null", field) < 0 ? NULL : text;
    const uint32_t thread = strcmp(field, "thread") == 0 ? thread_number(session, label) : 0;
    if (thread != 0)
        return asprintf(&text, "where thread == %" PRIu32, thread) < 0 ? NULL : text;
    char *quoted = filter_quoted(label);
    if (quoted && asprintf(&text, "where %s == %s", field, quoted) < 0)
        text = NULL;
    free(quoted);
    return text;
}

void legend_follow(struct exploration *exploration, const struct session_legend *legend,
                   const char *field, size_t entry)
{
    if (entry >= legend->count)
        return;
    const uint32_t function = legend->entry[entry].function;
    /* A label has no room for the longest names. */
    const char *label = function != 0 ? session_function_name(exploration->session, function)
                                      : legend->entry[entry].label;
    if (entry == SESSION_COLORS - 1) {
        exploration_say(exploration, "the rest has no name to filter by");
        return;
    }
    if (function != 0 && !session_function_is_alone(exploration->session, function)) {
        exploration_say(exploration,
                        "several functions have this name; w in the functions takes one");
        return;
    }
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        if (strcmp(fields[i].field, field) != 0)
            continue;
        char *step =
            make_test(exploration->session, field, function != 0 ? NULL : fields[i].none, label);
        if (step)
            exploration_narrow(exploration, step);
        free(step);
        return;
    }
    exploration_say(exploration, "no filter is made of this legend; f types one");
}
