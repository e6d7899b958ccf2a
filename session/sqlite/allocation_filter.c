/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/sqlite/allocation_filter.h"

#include <sqlite3ext.h>
#include <stdlib.h>
#include <string.h>

#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/scan/kernels.h"
#include "session/scan/scan.h"
#include "session/sqlite/allocation_rows.h"

SQLITE_EXTENSION_INIT3

enum { RANGES = 16 };

/* Numbers that a column of the rows themselves may have. */
struct row_range {
    int column;
    struct kernel_range range;
    bool live; /* ALLOCATION_FREE_NS: only blocks that were never freed, or only freed ones */
    bool freed;
};

struct allocation_filter {
    struct session *session;
    struct allocation_columns *columns;
    uint8_t *allowed[BY_TOTAL]; /* by id; NULL: all are */
    struct row_range ranges[RANGES];
    size_t count;
    uint64_t first_id, last_id;
};

struct allocation_filter *allocation_filter_new(struct session *session,
                                                struct allocation_columns *columns,
                                                struct session_error *error)
{
    struct allocation_filter *filter = calloc(1, sizeof(*filter));
    if (!filter) {
        session_fail_memory(error, "the conditions");
        return NULL;
    }
    filter->session = session;
    filter->columns = columns;
    filter->first_id = 1;
    filter->last_id = column_store_rows(session->columns);
    return filter;
}

void allocation_filter_free(struct allocation_filter *filter)
{
    if (!filter)
        return;
    for (int by = 0; by < BY_TOTAL; by++)
        free(filter->allowed[by]);
    free(filter);
}

/* ---- columns with shared ids ---- */

static bool passes_one(const struct allocation_test *test, const struct allocation_value *value,
                       const struct allocation_value *with)
{
    const int order = allocation_compare(value, with);
    switch (test->how) {
    case TEST_EQUAL:
        return order == 0;
    case TEST_LESS:
        return order < 0;
    case TEST_LESS_EQUAL:
        return order <= 0;
    case TEST_MORE:
        return order > 0;
    case TEST_MORE_EQUAL:
        return order >= 0;
    case TEST_LIKE:
        return sqlite3_strlike(with->text, value->text, 0) == 0;
    case TEST_GLOB:
        return sqlite3_strglob(with->text, value->text) == 0;
    default:
        return true;
    }
}

static bool passes(const struct allocation_test *test, const struct allocation_value *value)
{
    if (test->how == TEST_NULL || test->how == TEST_NOT_NULL)
        return (value->form == VALUE_NULL) == (test->how == TEST_NULL);
    if (value->form == VALUE_NULL)
        return false;
    for (size_t i = 0; i < test->count; i++) {
        if (passes_one(test, value, &test->values[i]))
            return true;
    }
    return false;
}

/* Returns true if all values have one form, in which they compare without conversion. */
static bool are(const struct allocation_test *test, enum allocation_form form)
{
    for (size_t i = 0; i < test->count; i++) {
        if (test->values[i].form != form)
            return false;
    }
    return true;
}

static bool is_ascii(const char *text)
{
    while (*text > 0)
        text++;
    return *text == '\0';
}

/* Returns true if a test of a column with shared ids is one that passes() answers as SQLite does.
 */
static bool is_known(const struct allocation_test *test, const struct allocation_value *values,
                     size_t ids)
{
    enum allocation_form form = VALUE_NULL;
    for (size_t i = 0; i < ids && form == VALUE_NULL; i++)
        form = values[i].form;
    if (test->how == TEST_NULL || test->how == TEST_NOT_NULL || form == VALUE_NULL)
        return true;
    if (!are(test, form))
        return false;
    /* SQLite's own LIKE folds the case of ASCII only. Another one may have taken its place. */
    return (test->how != TEST_LIKE && test->how != TEST_GLOB) ||
           (form == VALUE_TEXT && is_ascii(test->values[0].text));
}

static bool add_shared(struct allocation_filter *filter, const struct allocation_test *test,
                       struct session_error *error)
{
    const enum allocation_by by = allocation_column_by(test->column);
    const size_t ids = allocation_ids(filter->columns, by);
    if (!allocation_columns_use(filter->columns, UINT64_C(1) << test->column, error))
        return false;
    const struct allocation_value *values = allocation_values(filter->columns, test->column);
    if (!is_known(test, values, ids))
        return true;
    if (!filter->allowed[by]) {
        filter->allowed[by] = malloc(ids + 1);
        if (!filter->allowed[by])
            return session_fail_memory(error, "the conditions");
        memset(filter->allowed[by], 1, ids + 1);
    }
    /* Neighbours often share a name. */
    bool last = false;
    for (size_t id = 0; id < ids; id++) {
        if (id == 0 || values[id].form != VALUE_TEXT || values[id].text != values[id - 1].text)
            last = passes(test, &values[id]);
        filter->allowed[by][id] &= last;
    }
    return true;
}

/* ---- columns of the rows themselves ---- */

/* Stores the natural numbers that pass a test. Returns false if it is about other ones, too. */
static bool range_of(const struct allocation_test *test, struct kernel_range *range)
{
    int64_t low = INT64_MAX, high = 0;
    *range = (struct kernel_range){0, INT64_MAX, false};
    for (size_t i = 0; i < test->count; i++) {
        const int64_t value = test->values[i].number;
        low = value < low ? value : low;
        high = value > high ? value : high;
    }
    if (!are(test, VALUE_NUMBER) || test->count == 0 || low < 0 || high == INT64_MAX)
        return false;
    switch (test->how) {
    case TEST_EQUAL:
        range->low = (uint64_t)low;
        range->high = (uint64_t)high;
        return true;
    case TEST_LESS:
        range->high = (uint64_t)high - (high > 0);
        return true;
    case TEST_LESS_EQUAL:
        range->high = (uint64_t)high;
        return true;
    case TEST_MORE:
        range->low = (uint64_t)low + 1;
        return true;
    case TEST_MORE_EQUAL:
        range->low = (uint64_t)low;
        return true;
    default:
        return false;
    }
}

/* Returns true if all values of a column are natural numbers. Addresses may have their highest bit
 * set, which SQLite takes for a sign. */
static bool is_natural(int column)
{
    switch (column) {
    case ALLOCATION_ID:
    case ALLOCATION_SIZE:
    case ALLOCATION_COUNT:
    case ALLOCATION_ALIGNMENT:
    case ALLOCATION_ARENA_ID:
    case ALLOCATION_ALLOC_NS:
    case ALLOCATION_FREE_NS:
    case ALLOCATION_LIFETIME_NS:
        return true;
    default:
        return false;
    }
}

static bool add_range(struct allocation_filter *filter, const struct allocation_test *test)
{
    struct row_range added = {.column = test->column};
    const bool nulls = test->how == TEST_NULL || test->how == TEST_NOT_NULL;
    if (nulls && test->column == ALLOCATION_FREE_NS) {
        added.live = test->how == TEST_NULL;
        added.freed = !added.live;
    } else if (nulls || !range_of(test, &added.range) ||
               (!is_natural(test->column) &&
                (test->column != ALLOCATION_ADDRESS || test->how != TEST_EQUAL))) {
        return true;
    }
    if (test->column == ALLOCATION_ID) {
        const uint64_t low = added.range.low, high = added.range.high;
        filter->first_id = low > filter->first_id ? low : filter->first_id;
        filter->last_id = high < filter->last_id ? high : filter->last_id;
    } else if (filter->count < RANGES) {
        filter->ranges[filter->count++] = added;
    }
    return true;
}

bool allocation_filter_add(struct allocation_filter *filter, const struct allocation_test *test,
                           struct session_error *error)
{
    if (allocation_column_by(test->column) == BY_ROW)
        return add_range(filter, test);
    return add_shared(filter, test, error);
}

/* ---- chunks ---- */

uint32_t allocation_filter_first_chunk(const struct allocation_filter *filter)
{
    const uint64_t chunk = (filter->first_id - 1) / COLUMN_CHUNK_ROWS;
    const uint32_t chunks = column_store_chunks(filter->session->columns);
    return chunk < chunks ? (uint32_t)chunk : chunks;
}

uint32_t allocation_filter_behind_chunk(const struct allocation_filter *filter)
{
    const uint64_t chunk = (filter->last_id + COLUMN_CHUNK_ROWS - 1) / COLUMN_CHUNK_ROWS;
    const uint32_t chunks = column_store_chunks(filter->session->columns);
    return chunk < chunks ? (uint32_t)chunk : chunks;
}

/* Stores a bit for each row of the chunk whose id is in the range of ids. */
static void start_words(const struct allocation_filter *filter, uint32_t chunk, uint64_t *words)
{
    const uint64_t before = (uint64_t)chunk * COLUMN_CHUNK_ROWS;
    const uint64_t rows = column_store_chunk_rows(filter->session->columns, chunk);
    const uint64_t first = filter->first_id > before + 1 ? filter->first_id - before - 1 : 0;
    const uint64_t last = filter->last_id < before + rows ? filter->last_id - before : rows;
    for (size_t word = 0; word < ROW_SET_WORDS; word++) {
        const uint64_t from = word * 64;
        uint64_t bits = UINT64_MAX;
        if (filter->last_id <= before || last <= from || first >= from + 64)
            bits = 0;
        else {
            bits &= first > from ? UINT64_MAX << (first - from) : UINT64_MAX;
            bits &= last < from + 64 ? (UINT64_C(1) << (last - from)) - 1 : UINT64_MAX;
        }
        words[word] = bits;
    }
}

static bool test_range(const struct allocation_filter *filter, struct column_reader *reader,
                       uint32_t chunk, const struct row_range *range, uint64_t *words,
                       struct session_error *error)
{
    static const struct kernel_range zero = {0, 0, false}, others = {0, 0, true};
    const bool times =
        range->column == ALLOCATION_FREE_NS || range->column == ALLOCATION_LIFETIME_NS;
    const bool only_life = range->live || range->freed;
    const enum column column = (enum column)__builtin_ctz(allocation_column_needs(range->column));
    struct column_view view, life;
    if (!only_life && !column_reader_get(reader, chunk, column, &view, error))
        return false;
    if (!times) {
        kernel_in_range(&view, &range->range, words);
        return true;
    }
    if (!column_reader_get(reader, chunk, COLUMN_LIFE_NS, &life, error))
        return false;
    if (only_life)
        kernel_in_range(&life, range->live ? &zero : &others, words);
    else if (range->column == ALLOCATION_FREE_NS)
        kernel_freed_in_range(&view, &life, &range->range, words);
    else
        kernel_lifetime_in_range(&view, &life, (uint64_t)allocation_end_ns(filter->columns),
                                 &range->range, words);
    return true;
}

static bool test_ids(const struct allocation_filter *filter, struct column_reader *reader,
                     uint32_t chunk, enum allocation_by by, uint64_t *words,
                     struct session_error *error)
{
    struct column_view view;
    if (!column_reader_get(reader, chunk, allocation_by_column(by), &view, error))
        return false;
    kernel_in_table(&view, filter->allowed[by], words);
    return true;
}

/* Stores a bit for each row of a chunk that passes, and whether there is one. */
static bool test_chunk(const struct allocation_filter *filter, struct column_reader *reader,
                       uint32_t chunk, uint64_t *words, bool *any, struct session_error *error)
{
    uint64_t with[ROW_SET_WORDS];
    start_words(filter, chunk, words);
    *any = true;
    for (int by = BY_ROW + 1; *any && by < BY_TOTAL; by++) {
        if (!filter->allowed[by])
            continue;
        if (!test_ids(filter, reader, chunk, (enum allocation_by)by, with, error))
            return false;
        *any = row_set_keep(words, with);
    }
    for (size_t i = 0; *any && i < filter->count; i++) {
        if (!test_range(filter, reader, chunk, &filter->ranges[i], with, error))
            return false;
        *any = row_set_keep(words, with);
    }
    return true;
}

bool allocation_filter_open(const struct allocation_filter *filter, struct column_reader *reader,
                            uint32_t chunk, unsigned needs, struct allocation_chunk *opened,
                            struct session_error *error)
{
    bool any;
    if (!scan_go_on(filter->session, error) ||
        !test_chunk(filter, reader, chunk, opened->words, &any, error))
        return false;
    /* Lifetimes come after times: that is the order in which a reader keeps them. */
    for (int column = 0; any && column < COLUMN_TOTAL; column++) {
        if ((needs >> column & 1) != 0 &&
            !column_reader_get(reader, chunk, (enum column)column, &opened->views[column], error))
            return false;
    }
    return true;
}
