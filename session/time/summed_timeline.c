/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/time/summed_timeline.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schemas/array.h"
#include "schemas/slot_codec.h"
#include "session/session.h"
#include "session/store/error.h"
#include "session/store/session_state.h"
#include "session/store/summary.h"
#include "session/table/sums.h"

/* ---- slots ------------------------------------------------------------------------------ */

/* Reads the sums by time (schemas/slots.md) of one kind of key. Times here are numbers of slots of
 * the finest level: SLOT_FINEST of them make the session. */

typedef void slots_visitor(void *context, const struct slot_cell *cell);

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

/* Returns the length of a slot of the finest level. 0: the session has no sums by time. */
static uint64_t slots_length_ns(const struct session *session)
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
    if (!(level->data[place] = malloc(length + 1)))
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

static void slots_close(struct slots *slots)
{
    if (!slots)
        return;
    for (unsigned i = 0; i < SLOT_LEVELS; i++) {
        struct level *level = &slots->levels[i];
        for (uint32_t k = 0; level->data && k < level->count; k++)
            free(level->data[k]);
        FREE_ALL(level->data, level->parts);
    }
    free(slots);
}

/* Opens the sums for questions about [0, to), of which [from, to) is asked in detail. Keys are
 * below `keys`. Returns NULL with `error` set. If the session has none for this kind, slots_width()
 * is 0. */
static struct slots *slots_open(struct session *session, enum slot_key key, uint64_t keys,
                                uint64_t from, uint64_t to, struct session_error *error)
{
    struct slots *slots = calloc(1, sizeof(*slots));
    if (!slots)
        return session_fail_memory_null(error, "the sums by time");
    slots->session = session;
    slots->key = key;
    slots->keys = keys;
    to = to < SLOT_FINEST ? to : SLOT_FINEST;
    if (slots_length_ns(session) == 0 || (from < to && load(slots, from, to, error)))
        return slots;
    slots_close(slots);
    return NULL;
}

/* Returns how many slots of SLOT_FINEST the shortest of this kind has: 1, 16 or 256. 0: none. */
static uint64_t slots_width(const struct slots *slots)
{
    uint64_t width = 0;
    for (unsigned level = 0; level < SLOT_LEVELS && slots->levels[level].present; level++)
        width = width_of(level);
    return width;
}

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

/* Calls `visit` for the cells of [from, to), multiples of slots_width(), in the order of time: by
 * slots that are as long as possible. Returns false with `error` set. */
static bool slots_each(struct slots *slots, uint64_t from, uint64_t to, slots_visitor *visit,
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

/* With fewer of ingest's slots in each one, the rows are read: the borders would be too coarse. */
enum { SLOTS_LEAST = 8 };

/* The two readers of a timeline. */
struct sources {
    struct slots *all, *colored;
    uint64_t length_ns; /* of a slot of the finest level */
    uint64_t width;     /* such slots in the shortest that both have; 0: they cannot answer */
};

/* Finds the kind of key of a colouring. False if ingest does not sum it up. */
static bool key_of(enum session_color_by by, enum slot_key *key)
{
    switch (by) {
    case SESSION_COLOR_NONE:
        *key = SLOT_KEY_ALL;
        return true;
    case SESSION_COLOR_FUNCTION:
        *key = SLOT_KEY_FUNCTION;
        return true;
    case SESSION_COLOR_TYPE:
        *key = SLOT_KEY_TYPE;
        return true;
    case SESSION_COLOR_SIZE:
        *key = SLOT_KEY_SIZE;
        return true;
    default:
        return false;
    }
}

static void sources_close(struct sources *sources)
{
    slots_close(sources->all);
    slots_close(sources->colored);
}

static bool sources_open(struct sources *sources, struct selection *selection,
                         const struct color_map *map, uint64_t from_ns, uint64_t to_ns,
                         struct session_error *error)
{
    struct session *session = selection->session;
    enum slot_key key;
    *sources = (struct sources){.length_ns = slots_length_ns(session)};
    if (!selection->everything || sources->length_ns == 0 || !summary_answers(session) ||
        !key_of(map->by, &key))
        return true;
    const uint64_t from = from_ns / sources->length_ns, to = to_ns / sources->length_ns + 1;
    sources->all = slots_open(session, SLOT_KEY_ALL, 1, from, to, error);
    sources->colored =
        sources->all ? slots_open(session, key, map->categories, from, to, error) : NULL;
    if (!sources->colored) {
        sources_close(sources);
        return false;
    }
    const uint64_t all = slots_width(sources->all), colored = slots_width(sources->colored);
    if (all != 0 && colored != 0)
        sources->width = all > colored ? all : colored;
    return true;
}

struct slot_totals {
    const struct color_map *map;
    struct session_slot *slot; /* NULL: only what is live */
    uint64_t live_bytes, live_count, live_colors[SESSION_COLORS];
};

static void add_all(void *context, const struct slot_cell *cell)
{
    struct slot_totals *sums = context;
    struct session_slot *slot = sums->slot;
    const uint64_t peak = sums->live_bytes + cell->rise;
    sums->live_bytes += cell->allocated_bytes - cell->freed_bytes;
    sums->live_count += cell->allocated_count - cell->freed_count;
    if (!slot)
        return;
    slot->peak_bytes = peak > slot->peak_bytes ? peak : slot->peak_bytes;
    slot->allocated_bytes += cell->allocated_bytes;
    slot->allocated_count += cell->allocated_count;
    slot->freed_bytes += cell->freed_bytes;
    slot->freed_count += cell->freed_count;
}

static void add_colored(void *context, const struct slot_cell *cell)
{
    struct slot_totals *sums = context;
    sums->live_colors[sums->map->of_category[cell->key]] +=
        cell->allocated_bytes - cell->freed_bytes;
}

static bool add(struct sources *sources, uint64_t from, uint64_t to, struct slot_totals *sums,
                struct session_error *error)
{
    return slots_each(sources->all, from, to, add_all, sums, error) &&
           slots_each(sources->colored, from, to, add_colored, sums, error);
}

/* Returns the border nearest to a time. */
static uint64_t border(const struct sources *sources, uint64_t ns)
{
    const uint64_t width_ns = sources->length_ns * sources->width;
    return (ns / width_ns + (ns % width_ns >= width_ns / 2 + width_ns % 2)) * sources->width;
}

static bool fill(struct sources *sources, const struct color_map *map, uint64_t from_ns,
                 uint64_t to_ns, size_t count, struct session_slot *slots,
                 struct session_error *error)
{
    struct slot_totals sums = {.map = map};
    uint64_t at = border(sources, from_ns);
    bool good = add(sources, 0, at, &sums, error);
    for (size_t i = 0; good && i < count; i++) {
        const uint64_t end_ns =
            from_ns + (uint64_t)((unsigned __int128)(to_ns - from_ns) * (i + 1) / count);
        const uint64_t end = border(sources, end_ns);
        struct session_slot *slot = &slots[i];
        *slot = (struct session_slot){.peak_bytes = sums.live_bytes};
        sums.slot = slot;
        good = add(sources, at, end, &sums, error);
        slot->live_bytes = sums.live_bytes;
        slot->live_count = sums.live_count;
        for (size_t color = 0; color < SESSION_COLORS; color++)
            slot->color_bytes[color] = sums.live_colors[color];
        at = end;
    }
    return good;
}

bool summed_timeline(struct selection *selection, const struct color_map *map, uint64_t from_ns,
                     uint64_t to_ns, size_t count, struct session_slot *slots, bool *done,
                     struct session_error *error)
{
    struct sources sources;
    *done = false;
    if (!sources_open(&sources, selection, map, from_ns, to_ns, error))
        return false;
    *done = sources.width != 0 &&
            (to_ns - from_ns) / count / SLOTS_LEAST >= sources.length_ns * sources.width;
    const bool good = !*done || fill(&sources, map, from_ns, to_ns, count, slots, error);
    sources_close(&sources);
    return good;
}

bool summed_start(struct selection *selection, const struct color_map *map, uint64_t from_ns,
                  struct timeline_start *start, struct session_error *error)
{
    struct sources sources;
    struct slot_totals sums = {.map = map};
    *start = (struct timeline_start){.ns = 0};
    if (!sources_open(&sources, selection, map, from_ns, from_ns, error))
        return false;
    bool good = true;
    if (sources.width != 0) {
        const uint64_t at = from_ns / (sources.length_ns * sources.width) * sources.width;
        good = add(&sources, 0, at, &sums, error);
        start->ns = at * sources.length_ns;
        start->live_bytes = sums.live_bytes;
        start->live_count = sums.live_count;
        for (size_t color = 0; color < SESSION_COLORS; color++)
            start->live_colors[color] = sums.live_colors[color];
    }
    sources_close(&sources);
    return good;
}

static void add_share(void *context, const struct slot_cell *cell)
{
    struct session_share *shares = context;
    shares[cell->key].bytes += cell->allocated_bytes;
    shares[cell->key].count += cell->allocated_count;
}

/* Adds up what functions allocated in a span by the sums of ingest, by id. *done is false if these
 * do not tell it. Returns false with `error` set. */
static bool summed_functions(struct selection *selection, uint64_t from_ns, uint64_t to_ns,
                             struct session_share *shares, bool *done, struct session_error *error)
{
    struct session *session = selection->session;
    struct sources sources = {.length_ns = slots_length_ns(session)};
    *done = false;
    if (!selection->everything || sources.length_ns == 0 || !summary_answers(session) ||
        to_ns <= from_ns)
        return true;
    sources.all = slots_open(session, SLOT_KEY_FUNCTION, session->names.function_count,
                             from_ns / sources.length_ns, to_ns / sources.length_ns + 1, error);
    if (!sources.all)
        return false;
    sources.width = slots_width(sources.all);
    *done =
        sources.width != 0 && (to_ns - from_ns) / SLOTS_LEAST >= sources.length_ns * sources.width;
    const bool good = !*done || slots_each(sources.all, border(&sources, from_ns),
                                           border(&sources, to_ns), add_share, shares, error);
    slots_close(sources.all);
    return good;
}

/* ---- functions of a span of time -------------------------------------------------------- */

static int compare_shares(const void *left, const void *right)
{
    const struct session_share *a = left, *b = right;
    return ORDER(b->bytes, a->bytes) ?: ORDER(b->count, a->count) ?: ORDER(a->function, b->function);
}

/* Moves the functions that occur to the beginning. Returns their number. */
static size_t pack_shares(struct session_share *shares, uint32_t functions)
{
    size_t count = 0;
    for (uint32_t id = 0; id < functions; id++) {
        const struct session_share share = {id, shares[id].bytes, shares[id].count};
        if (share.count > 0)
            shares[count++] = share;
    }
    return count;
}

static void by_function(const void *context, const struct sums_rows *rows, struct code *codes)
{
    const struct stacks *stacks = context;
    for (size_t i = 0; i < rows->count; i++)
        codes[i] = (struct code){stacks->function[rows->value[COLUMN_STACK][i]], 0};
}

/* Sums up the blocks that were allocated in the span, by function. */
static bool share_rows(struct selection *selection, uint64_t from_ns, uint64_t to_ns,
                       struct session_share *shares)
{
    struct session *session = selection->session;
    const struct sums_query query = {.parts = SUMS_BIT(SUMS_TOTAL),
                                     .number = by_function,
                                     .context = &session->stacks,
                                     .cells = session->names.function_count,
                                     .columns = COLUMN_BIT(COLUMN_STACK),
                                     .among = SUMS_OF_BORN,
                                     .from_ns = from_ns,
                                     .to_ns = to_ns};
    struct sums sums;
    if (!sums_find(session, &selection->set, &query, &sums, NULL))
        return false;
    for (size_t id = 0; id < sums.count; id++) {
        shares[id].count = sums_of(&sums, id, SUMS_TOTAL)[0];
        shares[id].bytes = sums_of(&sums, id, SUMS_TOTAL)[1];
    }
    sums_free(&sums);
    return true;
}

size_t selection_top_functions(struct selection *selection, uint64_t from_ns, uint64_t to_ns,
                               struct session_share *shares, size_t capacity)
{
    const uint32_t functions = selection->session->names.function_count;
    struct session_share *all = calloc(functions, sizeof(*all));
    bool summed = false;
    size_t count = 0;
    if (all && ((summed_functions(selection, from_ns, to_ns, all, &summed, NULL) && summed) ||
                share_rows(selection, from_ns, to_ns, all))) {
        const size_t found = pack_shares(all, functions);
        qsort(all, found, sizeof(*all), compare_shares);
        count = found < capacity ? found : capacity;
        memcpy(shares, all, count * sizeof(*shares));
    }
    free(all);
    return count;
}
