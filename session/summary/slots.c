/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/summary/slots.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/data/error.h"
#include "session/data/session_state.h"

/* The parts of one level that are loaded. */
struct level {
    bool present;            /* the session has it */
    uint32_t first, count;   /* numbers of the parts that may be asked for */
    struct slot_part *parts; /* `cells` NULL: nothing happened */
    uint8_t **data;
};

struct slots {
    struct session *session;
    enum slot_key key;
    uint64_t keys;
    struct level levels[SLOT_LEVELS];
};

static const char *key_name(enum slot_key key)
{
    static const char *const names[SLOT_KEYS] = {"all", "function", "type", "size", "tile"};
    return names[key];
}

/* Returns the slots of SLOT_FINEST in one of the level. */
static uint64_t width_of(unsigned level)
{
    return SLOT_FINEST / slot_level_slots(level);
}

uint64_t slots_length_ns(const struct session *session)
{
    const int64_t length = session_meta_number(session, "slot_ns");
    return length > 0 ? (uint64_t)length : 0;
}

static bool fail_part(const struct slots *slots, uint64_t level_slots, uint64_t part,
                      struct session_error *error)
{
    return session_fail(
        error, 0,
        "%s: slot_sum '%s', %" PRIu64 ", %" PRIu64 " is damaged; run mprof-ingest --rebuild",
        database_path(slots->session->database), key_name(slots->key), level_slots, part);
}

struct loading {
    struct slots *slots;
    unsigned level;
};

static bool read_level(void *context, const struct database_row *row, struct session_error *error)
{
    struct slots *slots = context;
    (void)error;
    for (unsigned level = 0; level < SLOT_LEVELS; level++)
        if (database_number(row, 0) == (int64_t)slot_level_slots(level))
            slots->levels[level].present = true;
    return true;
}

static bool read_part(void *context, const struct database_row *row, struct session_error *error)
{
    const struct loading *loading = context;
    struct level *level = &loading->slots->levels[loading->level];
    const uint64_t number = (uint64_t)database_number(row, 0);
    const uint64_t place = number - level->first; /* of the range: the query says so */
    size_t length;
    const void *data = database_bytes(row, 1, &length);
    if (place >= level->count || level->data[place])
        return fail_part(loading->slots, slot_level_slots(loading->level), number, error);
    level->data[place] = malloc(length + 1);
    if (!level->data[place])
        return session_fail_memory(error, "the sums by time");
    memcpy(level->data[place], data, length);
    if (!slot_part_open(&level->parts[place], level->data[place], length))
        return fail_part(loading->slots, slot_level_slots(loading->level), number, error);
    return true;
}

/* Loads the parts of a level that hold [from, to), wider by a slot of the level above. */
static bool load_level(struct slots *slots, unsigned number, uint64_t from, uint64_t to,
                       struct session_error *error)
{
    struct level *level = &slots->levels[number];
    struct loading loading = {slots, number};
    const uint64_t margin = SLOT_LEVEL_RATIO * width_of(number);
    const uint64_t per_part = SLOT_PART * width_of(number);
    char sql[200];
    to = to + margin < SLOT_FINEST ? to + margin : SLOT_FINEST;
    level->first = (uint32_t)((from > margin ? from - margin : 0) / per_part);
    level->count = (uint32_t)((to - 1) / per_part + 1) - level->first;
    level->parts = calloc(level->count, sizeof(*level->parts));
    level->data = calloc(level->count, sizeof(*level->data));
    if (!level->parts || !level->data)
        return session_fail_memory(error, "the sums by time");
    snprintf(sql, sizeof(sql),
             "SELECT part, data FROM slot_sum WHERE key = '%s' AND slots = %" PRIu64
             " AND part BETWEEN %" PRIu32 " AND %" PRIu32,
             key_name(slots->key), slot_level_slots(number), level->first,
             level->first + level->count - 1);
    return database_each(slots->session->database, sql, read_part, &loading, error);
}

static bool load(struct slots *slots, uint64_t from, uint64_t to, struct session_error *error)
{
    char sql[100];
    snprintf(sql, sizeof(sql), "SELECT DISTINCT slots FROM slot_sum WHERE key = '%s'",
             key_name(slots->key));
    if (!database_each(slots->session->database, sql, read_level, slots, error))
        return false;
    for (unsigned level = 1; level < SLOT_LEVELS; level++)
        slots->levels[level].present =
            slots->levels[level].present && slots->levels[level - 1].present;
    for (unsigned level = 0; level < SLOT_LEVELS && slots->levels[level].present; level++)
        if (!load_level(slots, level, level == 0 ? 0 : from, to, error))
            return false;
    return true;
}

struct slots *slots_open(struct session *session, enum slot_key key, uint64_t keys, uint64_t from,
                         uint64_t to, struct session_error *error)
{
    struct slots *slots = calloc(1, sizeof(*slots));
    if (!slots) {
        session_fail_memory(error, "the sums by time");
        return NULL;
    }
    slots->session = session;
    slots->key = key;
    slots->keys = keys;
    to = to < SLOT_FINEST ? to : SLOT_FINEST;
    if (slots_length_ns(session) == 0 || (from < to && load(slots, from, to, error)))
        return slots;
    slots_close(slots);
    return NULL;
}

void slots_close(struct slots *slots)
{
    if (!slots)
        return;
    for (unsigned i = 0; i < SLOT_LEVELS; i++) {
        struct level *level = &slots->levels[i];
        for (uint32_t k = 0; level->data && k < level->count; k++)
            free(level->data[k]);
        free(level->data);
        free(level->parts);
    }
    free(slots);
}

uint64_t slots_width(const struct slots *slots)
{
    uint64_t width = 0;
    for (unsigned level = 0; level < SLOT_LEVELS && slots->levels[level].present; level++)
        width = width_of(level);
    return width;
}

/* Visits the cells of one slot of a level. */
static bool visit_slot(const struct slots *slots, unsigned number, uint64_t slot,
                       slots_visitor *visit, void *context, struct session_error *error)
{
    const struct level *level = &slots->levels[number];
    const uint64_t place = slot / SLOT_PART - level->first;
    struct slot_cell cell;
    uint64_t next_key = 0;
    if (place >= level->count || !level->parts[place].cells)
        return true;
    struct slot_bytes bytes = slot_part_cells(&level->parts[place], (unsigned)(slot % SLOT_PART));
    while (slot_get_cell(&bytes, slots->key, &cell, &next_key)) {
        if (cell.key >= slots->keys)
            return fail_part(slots, slot_level_slots(number), slot / SLOT_PART, error);
        visit(context, &cell);
    }
    return !bytes.failed || fail_part(slots, slot_level_slots(number), slot / SLOT_PART, error);
}

bool slots_each(struct slots *slots, uint64_t from, uint64_t to, slots_visitor *visit,
                void *context, struct session_error *error)
{
    to = to < SLOT_FINEST ? to : SLOT_FINEST;
    for (uint64_t at = from; at < to;) {
        unsigned level = 0;
        while (level + 1 < SLOT_LEVELS && slots->levels[level + 1].present &&
               (at % width_of(level) != 0 || at + width_of(level) > to))
            level++;
        const uint64_t width = width_of(level);
        if (!visit_slot(slots, level, at / width, visit, context, error))
            return false;
        at += width;
    }
    return true;
}
