/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes what a pipeline selects as a text, which is the same for the same blocks. */
#include "session/run/pipeline_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "session/data/session_state.h"

/* Appends to the text. After a text that is too long nothing more is written. */
__attribute__((format(printf, 2, 3))) static void add(struct pipeline_text *text,
                                                      const char *format, ...)
{
    va_list arguments;
    if (!text->usable)
        return;
    va_start(arguments, format);
    const size_t room = sizeof(text->bytes) - text->length;
    const int length = vsnprintf(text->bytes + text->length, room, format, arguments);
    va_end(arguments);
    text->usable = length >= 0 && (size_t)length < room;
    if (text->usable)
        text->length += (size_t)length;
}

/* Adds the length of a text before it: so no text can look like what comes after it. */
static void add_text(struct pipeline_text *text, const char *value)
{
    if (value)
        add(text, "%zu:%s ", strlen(value), value);
}

/* The parser limits the depth of all that follows. */
/* NOLINTBEGIN(misc-no-recursion) */

static void add_value(struct pipeline_text *text, const struct filter_value *value)
{
    add(text, "%d,%d,%" PRIu64 " ", value->is_number, (int)value->moment, value->number);
    add_text(text, value->text);
    if (value->moment != MOMENT_SUM)
        return;
    for (const struct filter_time_term *term = value->terms; term && text->usable;
         term = term->next) {
        add(text, "%c", term->negative ? '-' : '+');
        add_value(text, &term->value);
    }
}

static void add_test(struct pipeline_text *text, const struct filter_test *test)
{
    if (test->field == FIELD_COLOR)
        text->usable = false;
    add(text, "t%d,%" PRIu32 ",%d ", (int)test->field, test->frame, (int)test->operator_);
    add_value(text, &test->low);
    add_value(text, &test->high);
    for (const struct filter_item *item = test->items; item && text->usable; item = item->next)
        add(text, "%" PRIu64 "-%" PRIu64 " ", item->low, item->high);
    if (test->moment)
        add_value(text, test->moment);
}

static void add_predicate(struct pipeline_text *text, const struct filter_predicate *predicate)
{
    if (!predicate || !text->usable)
        return;
    add(text, "p%d(", (int)predicate->kind);
    if (predicate->kind == PREDICATE_TEST)
        add_test(text, &predicate->test);
    add_predicate(text, predicate->left);
    add_predicate(text, predicate->right);
    add(text, ")");
}

/* Colours are part of the rows, and a file must be written each time: such steps are not told. */
static void add_step(struct pipeline_text *text, const struct filter_step *step)
{
    if (step->kind == STEP_COLOR || step->kind == STEP_COLOR_BY || step->kind == STEP_WRITE)
        text->usable = false;
    add(text, "|%d,%d,%" PRIu32 ",%d,%" PRIu64 " ", (int)step->kind, (int)step->field, step->frame,
        step->descending, step->limit);
    add_predicate(text, step->predicate);
    for (size_t i = 0; i < step->key_count; i++)
        add(text, "k%d,%" PRIu32 " ", (int)step->keys[i].field, step->keys[i].frame);
    if (step->moment)
        add_value(text, step->moment);
    if (step->kind == STEP_GROWTH) {
        add_value(text, &step->from);
        add_value(text, &step->to);
    }
}

static void add_pipeline(struct pipeline_text *text, const struct filter_pipeline *pipeline);

/* Rows of other sessions are not told. */
static void add_set(struct pipeline_text *text, const struct filter_set *set)
{
    if (set->kind == SET_SESSION)
        text->usable = false;
    if (!text->usable)
        return;
    add(text, "s%d(", (int)set->kind);
    if (set->kind == SET_PIPELINE) {
        add_pipeline(text, set->pipeline);
    } else if (set->kind == SET_PLUS || set->kind == SET_MINUS || set->kind == SET_BOTH) {
        add_set(text, set->left);
        add_set(text, set->right);
    } else {
        add_value(text, &set->moment);
    }
    add(text, ")");
}

static void add_pipeline(struct pipeline_text *text, const struct filter_pipeline *pipeline)
{
    add_set(text, pipeline->set);
    for (const struct filter_step *step = pipeline->steps; step && text->usable; step = step->next)
        add_step(text, step);
}

/* NOLINTEND(misc-no-recursion) */

void pipeline_text_begin(struct pipeline_text *text, const struct session *session, unsigned scope,
                         const struct filter_set *set)
{
    text->usable = true;
    text->length = 0;
    add(text, "%u,%" PRIu32 ",%u ", scope, session->processes.selected, session->user_code_changes);
    add_set(text, set);
}

void pipeline_text_add(struct pipeline_text *text, const struct filter_step *step)
{
    add_step(text, step);
}
