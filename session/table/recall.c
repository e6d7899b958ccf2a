/* SPDX-License-Identifier: BSD-2-Clause */
/* Remembers which rows pipelines gave, under the text of these. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schemas/array.h"
#include "session/store/session_state.h"
#include "session/table/recall.h"
#include "session/table/run_state.h"

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

static void add_pipeline(struct pipeline_text *text, const struct filter_pipeline *pipeline);

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
    if (step->pipeline) {
        add(text, "(");
        add_pipeline(text, step->pipeline);
        add(text, ")");
    }
    if (step->kind == STEP_GROWTH) {
        add_value(text, &step->from);
        add_value(text, &step->to);
    }
}

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

size_t recall_bytes_most = (size_t)64 << 20;

/* The rows of a pipeline. Chunks without rows take no memory. */
struct recalled_set {
    struct recalled_set *next; /* the one that was used last comes first */
    char *text;
    size_t text_length, bytes;
    struct row_set set; /* its words are those of the chunks with rows, one after another */
    uint8_t *filled;    /* by chunk: it has rows */
    bool leaks_unknown, summed;
    struct row_totals totals;
};

static void set_free(struct recalled_set *recalled)
{
    if (!recalled)
        return;
    row_set_free(&recalled->set);
    FREE_ALL(recalled->filled, recalled->text, recalled);
}

void recall_free(struct session *session)
{
    while (session->recalled) {
        struct recalled_set *next = session->recalled->next;
        set_free(session->recalled);
        session->recalled = next;
    }
}

size_t recall_count(const struct session *session)
{
    size_t count = 0;
    for (const struct recalled_set *at = session->recalled; at; at = at->next)
        count++;
    return count;
}

/* ---- finding ---- */

/* Returns the set of a text, or NULL. */
static struct recalled_set *find(const struct run *run, const struct pipeline_text *text)
{
    struct recalled_set *at = run->session->recalled;
    while (at &&
           (at->text_length != text->length || memcmp(at->text, text->bytes, text->length) != 0))
        at = at->next;
    return at;
}

/* Puts a set before the others. */
static void use(struct session *session, struct recalled_set *used)
{
    struct recalled_set **at = &session->recalled;
    while (*at != used)
        at = &(*at)->next;
    *at = used->next;
    used->next = session->recalled;
    session->recalled = used;
}

static bool copy_out(const struct run *run, const struct recalled_set *found, struct row_set *set)
{
    if (!row_set_start(set, run->session->columns, false, NULL))
        return false;
    uint64_t *made = set->words;
    *set = found->set;
    set->words = made;
    const uint64_t *words = found->set.words;
    for (uint32_t chunk = 0; chunk < set->chunks; chunk++) {
        if (!found->filled[chunk])
            continue;
        memcpy(row_set_chunk(set, chunk), words, ROW_SET_WORDS * sizeof(*words));
        words += ROW_SET_WORDS;
    }
    return true;
}

const struct filter_step *recall_find(struct run *run, const struct filter_pipeline *pipeline,
                                      struct run_rows *rows, struct pipeline_text *text,
                                      const struct filter_step **keep)
{
    const struct filter_step *last = NULL;
    struct recalled_set *found = NULL;
    size_t length = 0;
    bool groups = false, complete = false, whole = false;
    *keep = NULL;
    pipeline_text_begin(text, run->session, run->arenas + 2u * run->processes, pipeline->set);
    for (const struct filter_step *step = pipeline->steps; step; step = step->next) {
        pipeline_text_add(text, step);
        complete |= step == run->last;
        groups = step->kind == STEP_JOIN || step->kind == STEP_FOLD ||
                 (groups && step->kind != STEP_UNGROUP);
        if (!text->usable || filter_step_measures(step->kind))
            break;
        if (groups)
            continue;
        struct recalled_set *known = find(run, text);
        if (known) {
            found = known;
            last = step;
            whole = complete;
        }
        *keep = step;
        length = text->length;
    }
    text->length = length;
    if (!found || !copy_out(run, found, &rows->set))
        return NULL;
    use(run->session, found);
    run->leaks_unknown |= found->leaks_unknown;
    if (whole && found->summed) {
        run->summed = true;
        run->totals = found->totals;
    }
    if (last == *keep)
        *keep = NULL;
    return last;
}

/* ---- keeping ---- */

/* Frees the sets that were used longest ago and take too much memory with the others. */
static void trim(struct session *session)
{
    size_t bytes = 0;
    for (struct recalled_set **at = &session->recalled; *at;) {
        struct recalled_set *recalled = *at;
        bytes += recalled->bytes;
        if (bytes <= recall_bytes_most) {
            at = &recalled->next;
            continue;
        }
        *at = recalled->next;
        set_free(recalled);
    }
}

static bool copy_set(struct recalled_set *recalled, const struct row_set *set)
{
    size_t filled = 0;
    recalled->filled = malloc((size_t)set->chunks + 1);
    for (uint32_t chunk = 0; recalled->filled && chunk < set->chunks; chunk++) {
        recalled->filled[chunk] = !row_set_chunk_empty(set, chunk);
        filled += recalled->filled[chunk];
    }
    const size_t size = ROW_SET_WORDS * sizeof(*set->words);
    recalled->set = *set;
    recalled->bytes = sizeof(*recalled) + recalled->text_length + set->chunks + filled * size;
    recalled->set.words = recalled->bytes <= recall_bytes_most ? malloc(filled * size + 1) : NULL;
    if (!recalled->filled || !recalled->set.words)
        return false;
    uint64_t *words = recalled->set.words;
    for (uint32_t chunk = 0; chunk < set->chunks; chunk++) {
        if (!recalled->filled[chunk])
            continue;
        memcpy(words, row_set_chunk(set, chunk), size);
        words += ROW_SET_WORDS;
    }
    return true;
}

void recall_keep(struct run *run, const struct pipeline_text *text, const struct run_rows *rows,
                 bool leaks_unknown)
{
    struct session *session = run->session;
    if (rows->kind != KIND_ALLOCATIONS || rows->groups || rows->sides || rows->set.colors ||
        run->warnings.count > 0)
        return;
    struct recalled_set *recalled = calloc(1, sizeof(*recalled));
    if (!recalled)
        return;
    recalled->text_length = text->length;
    recalled->text = malloc(text->length + 1);
    if (!recalled->text || !copy_set(recalled, &rows->set)) {
        set_free(recalled);
        return;
    }
    memcpy(recalled->text, text->bytes, text->length);
    recalled->leaks_unknown = leaks_unknown;
    recalled->summed = run->summed;
    recalled->totals = run->totals;
    recalled->next = session->recalled;
    session->recalled = recalled;
    trim(session);
}
