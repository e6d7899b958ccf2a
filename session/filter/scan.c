/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs programs, one chunk at a time. Chunks that the directory decides are not read. */
#include <string.h>

#include "session/filter/pins.h"
#include "session/filter/program.h"
#include "session/store/kernels.h"
#include "session/store/processes.h"
#include "session/store/session_state.h"

/* The input of a leaf. */
struct scanning {
    const struct session *session;
    struct column_reader *reader;
    uint32_t chunk, rows;
    const uint8_t *colors;
    uint64_t *words;
};

/* Sets the bits after the chunk's last row to 0. */
static void trim(uint64_t *words, uint32_t rows)
{
    if (rows % 64 != 0)
        words[rows / 64] &= (UINT64_C(1) << (rows % 64)) - 1;
    size_t first = (rows + 63) / 64;
    memset(words + first, 0, (ROW_SET_WORDS - first) * sizeof(*words));
}

static bool fill(const struct scanning *scanning, bool value)
{
    memset(scanning->words, value ? 0xff : 0, ROW_SET_WORDS * sizeof(*scanning->words));
    trim(scanning->words, scanning->rows);
    return true;
}

static struct kernel_range range_of(const struct filter_program *leaf)
{
    return (struct kernel_range){leaf->low, leaf->high, leaf->outside};
}

/* Decides a chunk whose values all lie within [min, max], if that is enough. */
static bool decided(const struct scanning *scanning, const struct filter_program *leaf,
                    uint64_t min, uint64_t max)
{
    const bool inside = min >= leaf->low && max <= leaf->high;
    if (!inside && max >= leaf->low && min <= leaf->high)
        return false;
    return fill(scanning, inside != leaf->outside);
}

static bool scan_range(const struct scanning *scanning, const struct filter_program *leaf,
                       struct session_error *error)
{
    const struct column_store *store = scanning->session->columns;
    const struct kernel_range range = range_of(leaf);
    struct column_view view;
    if (decided(scanning, leaf, column_store_min(store, scanning->chunk, leaf->column),
                column_store_max(store, scanning->chunk, leaf->column)))
        return true;
    if (!column_reader_get(scanning->reader, scanning->chunk, leaf->column, &view, error))
        return false;
    kernel_in_range(&view, &range, scanning->words);
    return true;
}

static bool read_lives(const struct scanning *scanning, struct column_view *begin,
                       struct column_view *life, struct session_error *error)
{
    return column_reader_get(scanning->reader, scanning->chunk, COLUMN_ALLOC_NS, begin, error) &&
           column_reader_get(scanning->reader, scanning->chunk, COLUMN_LIFE_NS, life, error);
}

static bool scan_free_time(const struct scanning *scanning, const struct filter_program *leaf,
                           struct session_error *error)
{
    const struct column_store *store = scanning->session->columns;
    const struct kernel_range range = range_of(leaf);
    const uint64_t last = column_store_last_free(store, scanning->chunk);
    struct column_view begin, life;
    if (column_store_max(store, scanning->chunk, COLUMN_LIFE_NS) == 0)
        return fill(scanning, false);
    /* Only a chunk whose blocks were all freed has a last free, and no null. */
    if (last != UINT64_MAX &&
        decided(scanning, leaf, column_store_first_free(store, scanning->chunk), last))
        return true;
    if (!read_lives(scanning, &begin, &life, error))
        return false;
    kernel_freed_in_range(&begin, &life, &range, scanning->words);
    return true;
}

static bool scan_lifetime(const struct scanning *scanning, const struct filter_program *leaf,
                          struct session_error *error)
{
    const struct column_store *store = scanning->session->columns;
    const struct kernel_range range = range_of(leaf);
    const uint64_t least = column_store_min(store, scanning->chunk, COLUMN_LIFE_NS);
    struct column_view begin = {.rows = 0}, life;
    if (least > 0 && decided(scanning, leaf, least - 1,
                             column_store_max(store, scanning->chunk, COLUMN_LIFE_NS) - 1))
        return true;
    if (!column_reader_get(scanning->reader, scanning->chunk, COLUMN_LIFE_NS, &life, error) ||
        (least == 0 &&
         !column_reader_get(scanning->reader, scanning->chunk, COLUMN_ALLOC_NS, &begin, error)))
        return false;
    kernel_lifetime_in_range(&begin, &life, scanning->session->duration_ns, &range,
                             scanning->words);
    return true;
}

static bool scan_live_at(const struct scanning *scanning, uint64_t ns, struct session_error *error)
{
    const struct column_store *store = scanning->session->columns;
    const uint64_t last = column_store_last_free(store, scanning->chunk);
    struct column_view begin, life;
    if (column_store_min(store, scanning->chunk, COLUMN_ALLOC_NS) > ns ||
        (last != UINT64_MAX && last <= ns))
        return fill(scanning, false);
    if (column_store_max(store, scanning->chunk, COLUMN_ALLOC_NS) <= ns &&
        column_store_first_free(store, scanning->chunk) > ns)
        return fill(scanning, true);
    if (column_store_first_free(store, scanning->chunk) > ns) {
        const struct kernel_range begun = {.low = 0, .high = ns};
        if (!column_reader_get(scanning->reader, scanning->chunk, COLUMN_ALLOC_NS, &begin, error))
            return false;
        kernel_in_range(&begin, &begun, scanning->words);
        return true;
    }
    if (!read_lives(scanning, &begin, &life, error))
        return false;
    kernel_live_at(&begin, &life, ns, scanning->words);
    return true;
}

static bool scan_table(const struct scanning *scanning, const struct filter_program *leaf,
                       struct session_error *error)
{
    struct column_view view;
    if (!column_reader_get(scanning->reader, scanning->chunk, leaf->column, &view, error))
        return false;
    if (view.width == 0)
        return fill(scanning, leaf->table[view.min] != 0);
    kernel_in_table(&view, leaf->table, scanning->words);
    return true;
}

/* Tests ids, which follow from the place of a row. */
static bool scan_id(const struct scanning *scanning, const struct filter_program *leaf)
{
    const uint64_t first_id = (uint64_t)scanning->chunk * COLUMN_CHUNK_ROWS + 1;
    if (decided(scanning, leaf, first_id, first_id + scanning->rows - 1))
        return true;
    for (uint32_t row = 0; row < scanning->rows; row += 64) {
        uint64_t bits = 0;
        for (uint32_t bit = 0; bit < 64; bit++)
            bits |= (uint64_t)((first_id + row + bit - leaf->low <= leaf->high - leaf->low) !=
                               leaf->outside)
                    << bit;
        scanning->words[row / 64] = bits;
    }
    trim(scanning->words, scanning->rows);
    return true;
}

/* Sets the bits of the ids that a list names. */
static bool scan_list_of_ids(const struct scanning *scanning, const struct number_list *list)
{
    const uint64_t first = (uint64_t)scanning->chunk * COLUMN_CHUNK_ROWS + 1;
    const uint64_t last = first + scanning->rows - 1;
    fill(scanning, false);
    for (size_t i = number_list_from(list, first); i < list->count && list->ranges[i].low <= last;
         i++) {
        const uint64_t low = list->ranges[i].low > first ? list->ranges[i].low : first;
        const uint64_t high = list->ranges[i].high < last ? list->ranges[i].high : last;
        for (uint64_t id = low; id <= high; id++)
            scanning->words[(id - first) / 64] |= UINT64_C(1) << ((id - first) % 64);
    }
    return true;
}

static bool scan_list(const struct scanning *scanning, const struct filter_program *leaf,
                      struct session_error *error)
{
    const struct column_store *store = scanning->session->columns;
    const uint64_t least = column_store_min(store, scanning->chunk, leaf->column);
    const uint64_t most = column_store_max(store, scanning->chunk, leaf->column);
    const size_t first = number_list_from(leaf->list, least);
    struct column_view view;
    fill(scanning, false);
    if (first == leaf->list->count || leaf->list->ranges[first].low > most)
        return true;
    if (!column_reader_get(scanning->reader, scanning->chunk, leaf->column, &view, error))
        return false;
    for (uint32_t row = 0; row < scanning->rows; row++)
        scanning->words[row / 64] |=
            (uint64_t)number_list_has(leaf->list, column_view_at(&view, row)) << (row % 64);
    return true;
}

/* The thread of a free is 0 for blocks that were not freed. */
static bool scan_crossed(const struct scanning *scanning, const struct filter_program *leaf,
                         struct session_error *error)
{
    const struct column_store *store = scanning->session->columns;
    const uint64_t least = column_store_min(store, scanning->chunk, COLUMN_FREE_THREAD);
    const uint64_t most = column_store_max(store, scanning->chunk, COLUMN_FREE_THREAD);
    struct column_view thread, free_thread;
    if (most == 0 || (least >= 1 && least == most &&
                      column_store_min(store, scanning->chunk, COLUMN_THREAD) == most &&
                      column_store_max(store, scanning->chunk, COLUMN_THREAD) == most))
        return fill(scanning, leaf->outside);
    if (!column_reader_get(scanning->reader, scanning->chunk, COLUMN_THREAD, &thread, error) ||
        !column_reader_get(scanning->reader, scanning->chunk, COLUMN_FREE_THREAD, &free_thread,
                           error))
        return false;
    memset(scanning->words, 0, ROW_SET_WORDS * sizeof(*scanning->words));
    for (uint32_t row = 0; row < scanning->rows; row++) {
        const uint64_t freed_by = column_view_at(&free_thread, row);
        const bool crossed = freed_by != 0 && freed_by != column_view_at(&thread, row);
        scanning->words[row / 64] |= (uint64_t)(crossed != leaf->outside) << (row % 64);
    }
    return true;
}

static bool scan_kept(const struct scanning *scanning, const struct filter_program *leaf,
                      struct session_error *error)
{
    struct column_view arena, alloc;
    if (!column_reader_get(scanning->reader, scanning->chunk, COLUMN_ARENA, &arena, error) ||
        !column_reader_get(scanning->reader, scanning->chunk, COLUMN_ALLOC_NS, &alloc, error))
        return false;
    memset(scanning->words, 0, ROW_SET_WORDS * sizeof(*scanning->words));
    for (uint32_t row = 0; row < scanning->rows; row++) {
        const bool kept =
            column_view_at(&alloc, row) < leaf->kept->kept_before[column_view_at(&arena, row)];
        scanning->words[row / 64] |= (uint64_t)kept << (row % 64);
    }
    const uint64_t first = (uint64_t)scanning->chunk * COLUMN_CHUNK_ROWS + 1;
    for (size_t i = collected_arenas_next_earlier(leaf->kept, first);
         i < leaf->kept->earlier_count && leaf->kept->earlier[i] - first < scanning->rows; i++) {
        const uint64_t row = leaf->kept->earlier[i] - first;
        scanning->words[row / 64] |= UINT64_C(1) << (row % 64);
    }
    return true;
}

static bool scan_color(const struct scanning *scanning, const struct filter_program *leaf)
{
    if (!scanning->colors)
        return fill(scanning, leaf->table[0] != 0);
    const struct column_view of_row = {.data = scanning->colors +
                                               (size_t)scanning->chunk * COLUMN_CHUNK_ROWS,
                                       .max = UINT8_MAX,
                                       .mask = UINT8_MAX,
                                       .width = 1,
                                       .rows = scanning->rows};
    kernel_in_table(&of_row, leaf->table, scanning->words);
    return true;
}

/* Tests values that were found. Only blocks that were live then have one. */
static bool scan_pins(const struct scanning *scanning, const struct filter_program *leaf)
{
    const uint64_t first = (uint64_t)scanning->chunk * COLUMN_CHUNK_ROWS;
    const struct pins *pins = leaf->pins;
    memset(scanning->words, 0, ROW_SET_WORDS * sizeof(*scanning->words));
    for (size_t i = pins_from(pins, first);
         i < pins->count && pins->pins[i].row - first < scanning->rows; i++) {
        const uint64_t row = pins->pins[i].row - first, value = pins->pins[i].bytes;
        const bool inside =
            leaf->table ? leaf->table[value] != 0 : value >= leaf->low && value <= leaf->high;
        scanning->words[row / 64] |= (uint64_t)(inside != leaf->outside) << (row % 64);
    }
    return true;
}

/* Tests for blocks whose type is a candidate, or unknown (0) with candidates. */
static bool scan_candidate(const struct scanning *scanning, const struct filter_program *leaf,
                           struct session_error *error)
{
    struct column_view type, stack, size;
    if (!column_reader_get(scanning->reader, scanning->chunk, COLUMN_TYPE, &type, error) ||
        !column_reader_get(scanning->reader, scanning->chunk, COLUMN_STACK, &stack, error) ||
        !column_reader_get(scanning->reader, scanning->chunk, COLUMN_SIZE, &size, error))
        return false;
    memset(scanning->words, 0, ROW_SET_WORDS * sizeof(*scanning->words));
    for (uint32_t row = 0; row < scanning->rows; row++) {
        const uint64_t id = column_view_at(&type, row);
        const bool has = id != 0
                             ? leaf->table[id] != 0
                             : leaf->table[0] != 0 ||
                                   candidates_have(leaf->candidates, column_view_at(&stack, row),
                                                   column_view_at(&size, row));
        scanning->words[row / 64] |= (uint64_t)(has != leaf->outside) << (row % 64);
    }
    return true;
}

static bool scan_leaf(const struct scanning *scanning, const struct filter_program *leaf,
                      struct session_error *error)
{
    switch (leaf->leaf) {
    case LEAF_CONSTANT:
        return fill(scanning, leaf->low != 0);
    case LEAF_RANGE:
        return scan_range(scanning, leaf, error);
    case LEAF_FREE_TIME:
        return scan_free_time(scanning, leaf, error);
    case LEAF_LIFETIME:
        return scan_lifetime(scanning, leaf, error);
    case LEAF_ID:
        return scan_id(scanning, leaf);
    case LEAF_LIVE_AT:
        return scan_live_at(scanning, leaf->low, error);
    case LEAF_TABLE:
        return scan_table(scanning, leaf, error);
    case LEAF_COLOR:
        return scan_color(scanning, leaf);
    case LEAF_PINS:
        return scan_pins(scanning, leaf);
    case LEAF_CANDIDATE:
        return scan_candidate(scanning, leaf, error);
    case LEAF_CROSSED:
        return scan_crossed(scanning, leaf, error);
    case LEAF_KEPT:
        return scan_kept(scanning, leaf, error);
    case LEAF_LIST:
        return scan_list(scanning, leaf, error);
    case LEAF_LIST_ID:
        return scan_list_of_ids(scanning, leaf->list);
    }
    return true;
}

static bool any(const uint64_t *words)
{
    uint64_t all = 0;
    for (size_t i = 0; i < ROW_SET_WORDS; i++)
        all |= words[i];
    return all != 0;
}

static bool run(const struct scanning *scanning, const struct filter_program *program,
                struct session_error *error);

/* Joins the right operand of AND and OR to the left one. A function of its own: the room for the
 * right one lies on the stack only while it is needed. */
static __attribute__((noinline)) bool join_right(const struct scanning *scanning,
                                                 const struct filter_program *program,
                                                 struct session_error *error)
{
    uint64_t right[ROW_SET_WORDS];
    struct scanning of_right = *scanning;
    of_right.words = right;
    if (!run(&of_right, program->right, error))
        return false;
    for (size_t i = 0; i < ROW_SET_WORDS; i++)
        if (program->kind == PREDICATE_AND)
            scanning->words[i] &= right[i];
        else
            scanning->words[i] |= right[i];
    return true;
}

static bool run(const struct scanning *scanning, const struct filter_program *program,
                struct session_error *error)
{
    if (program->kind == PREDICATE_TEST)
        return scan_leaf(scanning, program, error);
    if (!run(scanning, program->left, error))
        return false;
    if (program->kind == PREDICATE_NOT) {
        for (size_t i = 0; i < ROW_SET_WORDS; i++)
            scanning->words[i] = ~scanning->words[i];
        trim(scanning->words, scanning->rows);
        return true;
    }
    return (program->kind == PREDICATE_AND && !any(scanning->words)) ||
           join_right(scanning, program, error);
}

bool filter_program_run(const struct session *session, struct column_reader *reader,
                        const struct filter_program *program, uint32_t chunk, const uint8_t *colors,
                        uint64_t *words, struct session_error *error)
{
    const struct scanning scanning = {.session = session,
                                      .reader = reader,
                                      .chunk = chunk,
                                      .rows = column_store_chunk_rows(session->columns, chunk),
                                      .colors = colors,
                                      .words = words};
    return run(&scanning, program, error);
}
