/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes legends: the categories of a colouring, the bytes in each, and the position of every
 * allocation. A row has a code that leads to its category. The code is the value of a column
 * (thread, type, kind, or the stack for functions and modules), or a class of size, age or
 * lifetime. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schemas/array.h"
#include "schemas/slot_codec.h"
#include "session/store/error.h"
#include "session/store/kernels.h"
#include "session/store/session_state.h"
#include "session/store/summary.h"
#include "session/store/user.h"
#include "session/table/selection_state.h"

enum { NAMED = SESSION_COLORS - 1, SIZE_CLASSES = 65, AGES = 10, LIFETIMES = 10 };

/* The categories before they are ranked. `of_code` leads from a code to its category. */
struct categories {
    uint32_t codes, count, *of_code;
    uint64_t *bytes, *allocations; /* by category */
    uint64_t *at_peak_bytes;       /* live at the program's peak; ranks them */
    uint64_t peak_ns;
    const struct selection *selection;
    const struct color_map *map;
};

/* Returns the class of a lifetime: powers of ten from 1 us on. It is guessed from the number of
 * bits, then corrected by at most one. */
static unsigned lifetime_class(uint64_t life_ns)
{
    static const uint64_t bounds[LIFETIMES - 1] = {
        1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000, 10000000000, UINT64_MAX};
    if (life_ns == 0)
        return LIFETIMES - 1;
    uint64_t lifetime = life_ns - 1;
    unsigned bits = 63 - (unsigned)__builtin_clzll(lifetime | 1);
    unsigned digits = bits * 1233 >> 12; /* log10(2) is slightly more than 1233 / 4096 */
    unsigned class = digits < 2 ? 0 : digits - 2;
    class = class < LIFETIMES - 2 ? class : LIFETIMES - 2;
    return class + (lifetime >= bounds[class]);
}

uint64_t color_code(const struct color_map *map, uint64_t value, uint64_t size, uint64_t alloc_ns,
                    uint64_t life_ns, uint8_t color)
{
    uint64_t age;
    switch (map->by) {
    case SESSION_COLOR_NONE:
        return color;
    case SESSION_COLOR_SIZE:
        return slot_size_class(size);
    case SESSION_COLOR_AGE:
        age = alloc_ns / map->age_step_ns;
        return age < AGES ? age : AGES - 1;
    case SESSION_COLOR_LIFETIME:
        return lifetime_class(life_ns);
    default:
        return value;
    }
}

static const enum column color_columns[] = {
    [SESSION_COLOR_NONE] = COLUMN_SIZE,     [SESSION_COLOR_FUNCTION] = COLUMN_STACK,
    [SESSION_COLOR_THREAD] = COLUMN_THREAD, [SESSION_COLOR_SIZE] = COLUMN_SIZE,
    [SESSION_COLOR_AGE] = COLUMN_ALLOC_NS,  [SESSION_COLOR_TYPE] = COLUMN_TYPE,
    [SESSION_COLOR_MODULE] = COLUMN_STACK,  [SESSION_COLOR_USER] = COLUMN_STACK,
    [SESSION_COLOR_OWNER] = COLUMN_STACK,   [SESSION_COLOR_LIFETIME] = COLUMN_LIFE_NS,
    [SESSION_COLOR_KIND] = COLUMN_KIND};

unsigned color_map_columns(const struct color_map *map)
{
    return COLUMN_BIT(map->column);
}

static uint32_t code_count(const struct session *session, enum session_color_by by)
{
    switch (by) {
    case SESSION_COLOR_FUNCTION:
    case SESSION_COLOR_MODULE:
    case SESSION_COLOR_USER:
    case SESSION_COLOR_OWNER:
        return session->stacks.count;
    case SESSION_COLOR_THREAD:
        return session->names.thread.count;
    case SESSION_COLOR_TYPE:
        return session->names.type.count;
    case SESSION_COLOR_KIND:
        return session->names.kind.count;
    case SESSION_COLOR_SIZE:
        return SIZE_CLASSES;
    case SESSION_COLOR_AGE:
        return AGES;
    case SESSION_COLOR_LIFETIME:
        return LIFETIMES;
    case SESSION_COLOR_NONE:
        break;
    }
    return FILTER_COLOR_STEPS + 1;
}

/* Returns the number of categories, which for stacks are fewer than their codes. */
static uint32_t category_count(const struct session *session, enum session_color_by by)
{
    switch (by) {
    case SESSION_COLOR_FUNCTION:
    case SESSION_COLOR_USER:
        return session->names.function_count;
    case SESSION_COLOR_MODULE:
        return session->names.module.count;
    case SESSION_COLOR_OWNER:
        return session->names.owner.count;
    default:
        return code_count(session, by);
    }
}

/* Returns the category of a code. `known` has the user's frames or the owners of stacks. */
static uint32_t category_of(const struct session *session, enum session_color_by by,
                            const uint32_t *known, uint32_t code)
{
    const struct stacks *stacks = &session->stacks;
    switch (by) {
    case SESSION_COLOR_FUNCTION:
        return stacks->function[code];
    case SESSION_COLOR_MODULE:
        return session->names.module_first[stacks_call_site(stacks, code)->module];
    case SESSION_COLOR_USER:
        return !known ? 0 : stacks->frame_table[known[code]].function;
    case SESSION_COLOR_OWNER:
        return !known ? 0 : known[code];
    case SESSION_COLOR_TYPE:
        return session->names.type_first[code];
    default:
        return code;
    }
}

/* Stores the category of each code, for the caller to free. */
static uint32_t *find_categories(struct session *session, enum session_color_by by,
                                 struct session_error *error)
{
    const uint32_t *known = NULL;
    const uint32_t codes = code_count(session, by);
    if ((by == SESSION_COLOR_USER && !user_frames(session, &known, error)) ||
        (by == SESSION_COLOR_OWNER && !user_owners(session, &known, error)))
        return NULL;
    uint32_t *of_code = malloc(((size_t)codes + 1) * sizeof(*of_code));
    if (!of_code)
        session_fail_memory(error, "a legend");
    for (uint32_t code = 0; of_code && code < codes; code++)
        of_code[code] = category_of(session, by, known, code);
    return of_code;
}

bool color_categories_of_stacks(struct session *session, enum session_color_by by,
                                uint32_t **of_stack, uint32_t *categories,
                                struct session_error *error)
{
    *of_stack = find_categories(session, by, error);
    *categories = category_count(session, by);
    return *of_stack != NULL;
}

static bool categories_open(struct categories *categories, struct session *session,
                            enum session_color_by by, struct session_error *error)
{
    categories->of_code = find_categories(session, by, error);
    if (!categories->of_code)
        return false;
    /* Owners have names since their categories are known. */
    categories->codes = code_count(session, by);
    categories->count = category_count(session, by);
    const size_t count = (size_t)categories->count + 1;
    categories->bytes = calloc(count, sizeof(*categories->bytes));
    categories->allocations = calloc(count, sizeof(*categories->allocations));
    categories->at_peak_bytes = calloc(count, sizeof(*categories->at_peak_bytes));
    categories->peak_ns = session_peak_ns(session);
    return (categories->bytes && categories->allocations && categories->at_peak_bytes) ||
           session_fail_memory(error, "a legend");
}

/* The sums of one thread, by category: bytes, allocations, bytes at the peak. */
struct part {
    const struct categories *categories;
    uint64_t sums[][3];
};

static void add_rows(void *context, const struct chunk_rows *rows)
{
    struct part *part = context;
    const struct categories *categories = part->categories;
    const struct color_map *map = categories->map;
    struct kernel_rows batch;
    uint64_t code[KERNEL_ROWS], bytes[KERNEL_ROWS], counts[KERNEL_ROWS];
    uint64_t began[KERNEL_ROWS], life[KERNEL_ROWS];
    KERNEL_EACH_BATCH(rows->words, &batch)
    {
        kernel_take(&rows->views[map->column], &batch, code);
        kernel_take(&rows->bytes, &batch, bytes);
        kernel_take(&rows->counts, &batch, counts);
        kernel_take(&rows->views[COLUMN_ALLOC_NS], &batch, began);
        kernel_take(&rows->views[COLUMN_LIFE_NS], &batch, life);
        for (size_t i = 0; i < batch.count; i++) {
            const uint8_t color = !rows->colors ? 0 : rows->colors[batch.first + batch.row[i]];
            uint64_t *sums = part->sums[categories->of_code[color_code(map, code[i], code[i],
                                                                       code[i], code[i], color)]];
            const bool at_peak = kernel_is_live(began[i], life[i], categories->peak_ns);
            sums[0] += bytes[i];
            sums[1] += counts[i];
            sums[2] += at_peak ? bytes[i] : 0;
        }
    }
}

static bool add_by_rows(struct categories *categories, struct selection *selection,
                        struct session_error *error)
{
    struct scan_contexts contexts;
    const size_t size = sizeof(struct part) + (size_t)categories->count * 3 * sizeof(uint64_t);
    if (!scan_contexts_open(selection->session, &contexts, size, (size_t)64 << 20, error))
        return false;
    for (size_t i = 0; i < contexts.threads; i++)
        ((struct part *)contexts.each[i])->categories = categories;
    const bool good = scan_each_chunk(selection->session, &selection->set,
                                      color_map_columns(categories->map) | COLUMN_BIT(COLUMN_SIZE) |
                                          COLUMN_BIT(COLUMN_ALLOC_NS) | COLUMN_BIT(COLUMN_LIFE_NS),
                                      add_rows, contexts.each, contexts.threads, error);
    for (size_t i = 0; i < contexts.threads; i++) {
        const struct part *part = contexts.each[i];
        for (uint32_t category = 0; category < categories->count; category++) {
            categories->bytes[category] += part->sums[category][0];
            categories->allocations[category] += part->sums[category][1];
            categories->at_peak_bytes[category] += part->sums[category][2];
        }
    }
    scan_contexts_close(&contexts);
    return good;
}

/* Returns the category that a type shares with those of the same name; others have their own. */
static uint32_t one_of_its_name(const struct categories *categories, uint32_t category)
{
    return categories->map->by == SESSION_COLOR_TYPE ? categories->of_code[category] : category;
}

/* Takes the sums that ingest has made. *known is false if it has not made them. */
static bool add_summed(struct categories *categories, struct selection *selection, bool *known,
                       struct session_error *error)
{
    *known = false;
    if (!selection->everything || !summary_answers(selection->session))
        return true;
    struct summary_sum *sums = calloc(categories->count, sizeof(*sums));
    if (!sums)
        return session_fail_memory(error, "a legend");
    const bool good = summary_categories(selection->session, categories->map->by, sums,
                                         categories->count, known, error);
    for (uint32_t i = 0; good && i < categories->count; i++) {
        const uint32_t category = one_of_its_name(categories, i);
        categories->bytes[category] += sums[i].bytes;
        categories->allocations[category] += sums[i].allocations;
        categories->at_peak_bytes[category] += sums[i].at_peak_bytes;
    }
    free(sums);
    return good;
}

/* Sums up the categories. Colours by stack use the sums by stack, as other views do. */
static bool add_all(struct categories *categories, struct selection *selection,
                    struct session_error *error)
{
    enum session_color_by by = categories->map->by;
    bool known;
    if (!add_summed(categories, selection, &known, error))
        return false;
    if (known)
        return true;
    if (by == SESSION_COLOR_NONE && !selection->set.colors) {
        categories->bytes[0] = selection->bytes;
        categories->allocations[0] = selection->allocations;
        return true;
    }
    if (by != SESSION_COLOR_FUNCTION && by != SESSION_COLOR_MODULE && by != SESSION_COLOR_USER &&
        by != SESSION_COLOR_OWNER)
        return add_by_rows(categories, selection, error);
    const struct stack_sum *sums = selection_stack_sums(selection, error);
    if (!sums)
        return false;
    for (uint32_t stack = 0; stack < categories->codes; stack++) {
        categories->bytes[categories->of_code[stack]] += sums[stack].bytes;
        categories->at_peak_bytes[categories->of_code[stack]] += sums[stack].at_peak_bytes;
        categories->allocations[categories->of_code[stack]] += sums[stack].count;
    }
    return true;
}

/* ---- labels ---- */

static void time_text(char *text, size_t size, uint64_t ns)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    double value = (double)ns;
    int unit = 0;
    for (; unit < 3 && value >= 1000; unit++)
        value /= 1000;
    snprintf(text, size, "%.4g %s", value, units[unit]);
}

static void label_class(char *label, size_t size, const struct color_map *map, uint32_t category)
{
    static const char *const size_units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    char low[32], high[32];
    if (map->by == SESSION_COLOR_SIZE) {
        /* 2^64, the last class, would not fit the shift: 2^60 is 1 EiB. */
        snprintf(label, size, "to %u %s", 1u << (category % 10), size_units[category / 10]);
    } else if (map->by == SESSION_COLOR_AGE) {
        time_text(low, sizeof(low), map->age_step_ns * category);
        time_text(high, sizeof(high), map->age_step_ns * (category + 1));
        snprintf(label, size, "%s to %s", low, high);
    } else {
        static const char *const lifetimes[LIFETIMES] = {
            "under 1 us",   "under 10 us", "under 100 us", "under 1 ms",    "under 10 ms",
            "under 100 ms", "under 1 s",   "under 10 s",   "10 s and more", "not freed"};
        snprintf(label, size, "%s", lifetimes[category]);
    }
}

static void label_category(char *label, size_t size, const struct categories *categories,
                           uint32_t category)
{
    const struct session *session = categories->selection->session;
    const struct filter_colors *colors = &categories->selection->colors;
    const char *name;
    switch (categories->map->by) {
    case SESSION_COLOR_FUNCTION:
        name = category == 0 ? "no call site" : session_function_name(session, category);
        break;
    case SESSION_COLOR_USER:
        name = category == 0 ? "no own code" : session_function_name(session, category);
        break;
    case SESSION_COLOR_OWNER:
        name = category == 0 ? "unknown owner" : name_table_get(&session->names.owner, category);
        break;
    case SESSION_COLOR_MODULE:
        name = category == 0 ? "no module" : name_table_get(&session->names.module, category);
        break;
    case SESSION_COLOR_THREAD:
        name = session_thread_label(session, category);
        break;
    case SESSION_COLOR_TYPE:
        name = session_type_name(session, category);
        break;
    case SESSION_COLOR_KIND:
        name = session_kind_name(session, category);
        break;
    case SESSION_COLOR_NONE:
        name = category > 0         ? colors->step[category].label
               : colors->count == 0 ? "selected"
                                    : "no colour";
        break;
    default:
        label_class(label, size, categories->map, category);
        return;
    }
    snprintf(label, size, "%s", name);
}

/* ---- ranking ---- */

static int compare_categories(const void *left, const void *right, void *context)
{
    const struct categories *ranking = context;
    uint32_t a = *(const uint32_t *)left;
    uint32_t b = *(const uint32_t *)right;
    return ORDER(ranking->at_peak_bytes[b], ranking->at_peak_bytes[a]) ?:
           ORDER(ranking->bytes[b], ranking->bytes[a]) ?:
           ORDER(ranking->allocations[b], ranking->allocations[a]) ?: ORDER(a, b);
}

/* Lists the categories that occur, largest first. Those of a scale keep the scale's order. */
static uint32_t rank_categories(struct categories *categories, uint32_t *ranked)
{
    uint32_t count = 0;
    for (uint32_t category = 0; category < categories->count; category++)
        if (categories->allocations[category] > 0)
            ranked[count++] = category;
    qsort_r(ranked, count, sizeof(*ranked), compare_categories, categories);
    enum session_color_by by = categories->map->by;
    if (by == SESSION_COLOR_SIZE || by == SESSION_COLOR_AGE || by == SESSION_COLOR_LIFETIME)
        qsort(ranked, count < NAMED ? count : NAMED, sizeof(*ranked), array_order32);
    return count;
}

static void fill_legend(struct session_legend *legend, const struct categories *categories,
                        const uint32_t *ranked, uint32_t count, uint8_t *position_of)
{
    const struct filter_colors *colors = &categories->selection->colors;
    legend->count = count <= NAMED ? count : SESSION_COLORS;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t category = ranked[i];
        size_t position = i < NAMED ? i : NAMED;
        position_of[category] = (uint8_t)position;
        legend->entry[position].bytes += categories->bytes[category];
        legend->entry[position].allocations += categories->allocations[category];
        legend->entry[position].color = -1;
        if (i < NAMED)
            label_category(legend->entry[position].label, sizeof(legend->entry[0].label),
                           categories, category);
        else
            snprintf(legend->entry[position].label, sizeof(legend->entry[0].label), "rest");
        if (i < NAMED && (categories->map->by == SESSION_COLOR_FUNCTION ||
                          categories->map->by == SESSION_COLOR_USER))
            legend->entry[position].function = category;
        if (i < NAMED && categories->map->by == SESSION_COLOR_NONE && category > 0)
            legend->entry[position].color = colors->step[category].number;
    }
}

static bool rank_map(struct color_map *map, struct categories *categories,
                     struct session_error *error)
{
    uint32_t *ranked = malloc(categories->count * sizeof(*ranked));
    uint8_t *position_of = calloc(categories->count, 1);
    map->position = calloc(categories->codes, 1);
    map->of_category = position_of;
    map->categories = categories->count;
    bool good = ranked && position_of && map->position;
    if (good) {
        uint32_t count = rank_categories(categories, ranked);
        /* A category that does not occur in the selection is "rest". */
        memset(position_of, NAMED, categories->count);
        fill_legend(&map->legend, categories, ranked, count, position_of);
        for (uint32_t category = 0; category < categories->count; category++)
            position_of[category] = position_of[one_of_its_name(categories, category)];
        for (uint32_t code = 0; code < categories->codes; code++)
            map->position[code] = position_of[categories->of_code[code]];
    }
    free(ranked);
    return good || session_fail_memory(error, "a legend");
}

const struct color_map *selection_color_map(struct selection *selection, enum session_color_by by,
                                            struct session_error *error)
{
    if (selection->maps[by])
        return selection->maps[by];
    struct color_map *map = calloc(1, sizeof(*map));
    if (!map)
        return session_fail_memory_null(error, "a legend");
    map->by = by;
    map->column = color_columns[by];
    map->age_step_ns = selection->session->duration_ns / AGES + 1;
    struct categories categories = {.selection = selection, .map = map};
    bool good = categories_open(&categories, selection->session, by, error) &&
                add_all(&categories, selection, error) && rank_map(map, &categories, error);
    FREE_ALL(categories.of_code, categories.bytes, categories.allocations,
             categories.at_peak_bytes);
    /* The pass that has found the sums may have made the map, too. */
    if (!good || selection->maps[by]) {
        color_map_free(map);
        return good ? selection->maps[by] : NULL;
    }
    selection->maps[by] = map;
    return map;
}

void color_map_free(struct color_map *map)
{
    if (map)
        FREE_ALL(map->position, map->of_category);
    free(map);
}

void selection_legend(struct selection *selection, enum session_color_by by,
                      struct session_legend *legend)
{
    const struct color_map *map = selection_color_map(selection, by, NULL);
    if (map)
        *legend = map->legend;
    else
        *legend = (struct session_legend){.count = 0};
}

size_t selection_color(struct selection *selection, enum session_color_by by,
                       const struct session_allocation *allocation)
{
    const struct color_map *map = selection_color_map(selection, by, NULL);
    if (!map)
        return 0;
    const uint64_t value_of[COLUMN_TOTAL] = {[COLUMN_STACK] = allocation->stack,
                                             [COLUMN_THREAD] = allocation->thread,
                                             [COLUMN_TYPE] = allocation->type,
                                             [COLUMN_KIND] = allocation->kind};
    uint64_t life =
        allocation->free_ns == SESSION_LIVE ? 0 : allocation->free_ns - allocation->alloc_ns + 1;
    uint8_t color = !selection->set.colors ? 0 : selection->set.colors[allocation->id - 1];
    return map->position[color_code(map, value_of[map->column], allocation->size,
                                    allocation->alloc_ns, life, color)];
}
