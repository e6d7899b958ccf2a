/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/filter/warning.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "schemas/printable.h"
#include "session/data/session_state.h"
#include "session/filter/field_names.h"
#include "session/filter/suggest.h"

void filter_warn(struct filter_warnings *warnings, int column, const char *format, ...)
{
    struct session_warning warning = {.column = column};
    char message[sizeof(warning.message)];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    printable_copy(warning.message, sizeof(warning.message), message);
    for (size_t i = 0; i < warnings->count; i++) {
        if (warnings->list[i].column == column &&
            strcmp(warnings->list[i].message, warning.message) == 0)
            return;
    }
    if (warnings->count < FILTER_WARNINGS_MAX)
        warnings->list[warnings->count++] = warning;
}

static bool of_frames(enum filter_field field)
{
    return field == FIELD_STACK || field == FIELD_FREE_STACK;
}

/* Offers the names that allocations have in the field. */
static void offer_names(struct session *session, const struct filter_test *test,
                        struct suggestion *like)
{
    const struct names *all = &session->names;
    struct field_names names;
    if (of_frames(test->field)) {
        for (uint32_t id = 1; id < all->function_count; id++)
            suggest_offer(like, all->function[id].name);
        return;
    }
    if (!field_names_open(session, test->field, test->frame, &names, NULL))
        return;
    for (uint32_t value = 0; value < names.count; value++) {
        const char *name = names.name[field_names_id(&names, value)];
        const bool path = test->field == FIELD_FILE && name && !strchr(test->low.text, '/');
        suggest_offer(like, path ? path_last(name) : name);
    }
    field_names_close(&names);
}

/* Returns true if the test names a function of the session that is on stacks, but not at the frame
 * that is tested. */
static bool has_outer_frame(const struct session *session, const struct filter_test *test)
{
    const struct names *names = &session->names;
    if (test->field != FIELD_FUNCTION && test->field != FIELD_USER)
        return false;
    for (uint32_t id = 1; id < names->function_count; id++)
        if (names->function[id].name && strcmp(names->function[id].name, test->low.text) == 0)
            return true;
    return false;
}

static void warn_of_name(struct session *session, const struct filter_test *test,
                         struct filter_warnings *warnings)
{
    const char *field =
        of_frames(test->field) ? "function on its stack" : filter_fields[test->field].name;
    const int column = test->low.column;
    struct suggestion like;
    char text[SUGGEST_TEXT];
    if (test->low.is_number) {
        filter_warn(warnings, column, "no allocation has the %s %llu", field,
                    (unsigned long long)test->low.number);
        return;
    }
    if (test->operator_ == OPERATOR_MATCH) {
        filter_warn(warnings, column, "no allocation has a %s that matches \"%.80s\"", field,
                    test->low.text);
        return;
    }
    suggest_start(&like, test->low.text, strlen(test->low.text));
    if (has_outer_frame(session, test)) {
        filter_warn(warnings, column,
                    "no allocation has the %s \"%.80s\": it called others that did, so write "
                    "stack has \"%.80s\"",
                    field, test->low.text, test->low.text);
        return;
    }
    offer_names(session, test, &like);
    filter_warn(warnings, column, "no allocation has the %s \"%.80s\"%s", field, test->low.text,
                suggest_text(&like, text));
}

void filter_warn_of_names(struct session *session, const struct filter_program *program,
                          struct filter_warnings *warnings)
{
    if (!program)
        return;
    filter_warn_of_names(session, program->left, warnings);
    filter_warn_of_names(session, program->right, warnings);
    if (program->unknown)
        warn_of_name(session, program->unknown, warnings);
}

void filter_place_warnings(const struct filter_origin *origin, size_t from,
                           struct filter_warnings *warnings)
{
    for (size_t i = from; i < warnings->count; i++) {
        struct session_warning *warning = &warnings->list[i];
        struct session_error error = {.column = warning->column};
        snprintf(error.message, sizeof(error.message), "%s", warning->message);
        filter_place_error(origin, &error);
        warning->column = error.column;
        printable_copy(warning->message, sizeof(warning->message), error.message);
    }
}
