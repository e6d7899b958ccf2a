/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/table/sums.h"

#include <stdlib.h>
#include <string.h>

#include "session/filter/pins.h"
#include "session/residency.h"
#include "session/stacks.h"
#include "session/store/error.h"
#include "session/store/estimate.h"
#include "session/store/session_state.h"
#include "session/store/summary.h"
#include "session/table/group_state.h"

/* Threads may have this much memory of their own together. */
#define THREAD_BYTES ((size_t)64 << 20)

/* Most sizes are small codes: their numbers are found without a hash. */
enum { SMALL = 4096 };

/* Many totals do not fit into a core's cache. Both words of a cell then first share one, bytes in
 * its upper bits and the number of rows in its lower ones. The words are emptied before they can
 * run over. */
enum { PACKED_CELLS_MIN = 4096, PACKED_COUNT_BITS = 24 };
enum { RECORDS_PER_LOOK = 1 << 16 };
#define PACKED_BYTES_MAX (UINT64_C(1) << (64 - PACKED_COUNT_BITS))

/* The words of SUMS_STEPS. The second half is about the rows before. */
enum {
    STEP_ROWS,
    STEP_CLIMBS,
    STEP_BYTES,
    STEP_REPLACED,
    STEP_SUMS,
    STEP_CHUNK = STEP_SUMS, /* from 1: the chunk of the row before */
    STEP_ROW,
    STEP_SIZE,
    STEP_BEGAN,
    STEP_END,
    STEP_END_BEFORE_THAT,
    STEP_WORDS
};
enum { VARIANCES = 6 };

/* The question, and what all threads need for it. */
struct plan {
    const struct sums_query *query;
    struct session *session;
    unsigned columns;      /* of all rows, without those of keys and moments */
    uint64_t *padding;     /* by type */
    struct pins *resident; /* of the blocks live at the peak; NULL: no pages were read */
    uint32_t peak_machine; /* 0: there is only one */
    struct sums layout;
};

struct summing {
    const struct plan *plan;
    struct sums sums;
    size_t capacity;                    /* of records */
    uint64_t *packed;                   /* by cell, NULL: not used */
    uint64_t packed_rows, packed_bytes; /* they hold at most so many */
    enum { SUMMING_GOOD, SUMMING_NO_MEMORY, SUMMING_TOO_MANY } state;
    const struct chunk_rows *chunk;
    unsigned parts, columns; /* those that matter for this chunk, without the moments */
    size_t from, to;         /* rows of the batch */
    uint32_t *chunk_numbers; /* by row of the chunk, for the moments; NULL: not known */
    struct group_key_views keys;
    struct kernel_rows rows;
    struct sums_rows values;
    uint32_t numbers[KERNEL_ROWS];
    struct code codes[KERNEL_ROWS];
    uint64_t live[ROW_SET_WORDS];
    uint32_t small[SMALL]; /* by code below SMALL: its number plus 1, 0: not known yet */
};

void sums_free(struct sums *sums)
{
    free(sums->words);
    code_map_free(&sums->codes);
    *sums = (struct sums){.count = 0};
}

/* Returns how many threads may each have `bytes` of their own. */
static size_t sums_threads(const struct session *session, size_t bytes)
{
    const size_t most = scan_threads(session);
    const size_t fit = THREAD_BYTES / (bytes + 1);
    return fit < 1 ? 1 : fit < most ? fit : most;
}

/* ---- the machine of the peak ------------------------------------------------------------ */

uint32_t group_machine_of(const struct session *session, uint64_t thread)
{
    return session->names.process_machine[session->names.thread_process[thread]];
}

/* Numbers the blocks of the process heap by their machine. */
static void number_machines(const void *context, const struct sums_rows *rows, struct code *codes)
{
    for (size_t i = 0; i < rows->count; i++)
        codes[i] = rows->value[COLUMN_ARENA][i] == 0
                       ? (struct code){group_machine_of(context, rows->value[COLUMN_THREAD][i]), 0}
                       : SUMS_NO_CODE;
}

bool group_peak_machine(struct session *session, uint32_t *machine, struct session_error *error)
{
    const struct names *names = &session->names;
    const struct sums_query query = {
        .parts = SUMS_BIT(SUMS_MOMENTS),
        .number = number_machines,
        .context = session,
        .cells = (size_t)names->machines + 1,
        .columns = COLUMN_BIT(COLUMN_THREAD) | COLUMN_BIT(COLUMN_ARENA),
        .moments = &session->peak_ns,
        .moment_count = 1,
    };
    struct row_set all = {.words = NULL};
    struct sums sums;
    *machine = 0;
    if (names->machines < 2)
        return true;
    if (session->processes.selected != 0) {
        *machine = names->process_machine[session->processes.selected];
        return true;
    }
    const bool good = row_set_start(&all, session->columns, true, error) &&
                      sums_find(session, &all, &query, &sums, error);
    for (uint32_t i = 1; good && i <= names->machines; i++)
        if (*machine == 0 ||
            *sums_of(&sums, i, SUMS_MOMENTS) > *sums_of(&sums, *machine, SUMS_MOMENTS))
            *machine = i;
    if (good)
        sums_free(&sums);
    row_set_free(&all);
    return good;
}

static size_t min_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* ---- numbers ---------------------------------------------------------------------------- */

/* Makes the records as many as the codes. */
static bool grow(struct summing *summing)
{
    struct sums *sums = &summing->sums;
    const size_t capacity = sums->codes.capacity, each = sums->width * sizeof(*sums->words);
    if (capacity <= summing->capacity)
        return true;
    uint64_t *words = realloc(sums->words, capacity * each);
    if (!words)
        return false;
    memset(words + summing->capacity * sums->width, 0, (capacity - summing->capacity) * each);
    sums->words = words;
    summing->capacity = capacity;
    return true;
}

/* Stores the number of a code, which is added if it is new. */
static bool number_of(struct summing *summing, struct code code, uint32_t *number)
{
    struct code_map *codes = &summing->sums.codes;
    uint32_t *small = code.high == 0 && code.low < SMALL ? &summing->small[code.low] : NULL;
    if (small && *small != 0) {
        *number = *small - 1;
        return true;
    }
    if (!code_map_add(codes, code, GROUPS_MAX, number)) {
        summing->state = codes->count < GROUPS_MAX ? SUMMING_NO_MEMORY : SUMMING_TOO_MANY;
        return false;
    }
    if (!grow(summing)) {
        summing->state = SUMMING_NO_MEMORY;
        return false;
    }
    if (small)
        *small = *number + 1;
    return true;
}

static bool number_codes(struct summing *summing)
{
    const struct code *codes = summing->codes;
    uint32_t *numbers = summing->numbers;
    for (size_t i = 0; i < summing->rows.count; i++)
        if (i > 0 && codes[i].low == codes[i - 1].low && codes[i].high == codes[i - 1].high)
            numbers[i] = numbers[i - 1];
        else if (codes[i].low == UINT64_MAX && codes[i].high == UINT64_MAX)
            numbers[i] = CODE_NONE;
        else if (!number_of(summing, codes[i], &numbers[i]))
            return false;
    return true;
}

static void take_values(struct summing *summing, unsigned columns)
{
    const struct chunk_rows *chunk = summing->chunk;
    struct sums_rows *values = &summing->values;
    values->count = summing->rows.count;
    values->first = chunk->first_row + summing->rows.first;
    values->row = summing->rows.row;
    for (unsigned column = 0; column < COLUMN_TOTAL; column++)
        if ((columns & COLUMN_BIT(column)) != 0)
            kernel_take(&chunk->views[column], &summing->rows, values->value[column]);
}

/* Drops the rows that have no number. Returns true if it dropped any. */
static bool drop_rows(struct summing *summing)
{
    struct kernel_rows *rows = &summing->rows;
    const size_t count = rows->count;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        rows->row[kept] = rows->row[i];
        summing->numbers[kept] = summing->numbers[i];
        kept += summing->numbers[i] != CODE_NONE;
    }
    rows->count = kept;
    return kept < count;
}

/* Returns true if the values of a column are the numbers. */
static bool by_column(const struct sums_query *query)
{
    return !query->set && !query->keys && !query->number;
}

/* Numbers the rows of a batch by the caller's codes. */
static bool number_by_caller(struct summing *summing, unsigned *taken)
{
    const struct sums_query *query = summing->plan->query;
    take_values(summing, query->columns);
    if (by_column(query)) {
        const uint64_t *values = summing->values.value[__builtin_ctz(query->columns)];
        for (size_t i = 0; i < summing->rows.count; i++)
            summing->numbers[i] = (uint32_t)values[i];
        *taken = query->columns;
        return true;
    }
    query->number(query->context, &summing->values, summing->codes);
    if (query->cells == 0 && !number_codes(summing))
        return false;
    for (size_t i = 0; query->cells > 0 && i < summing->rows.count; i++)
        summing->numbers[i] =
            summing->codes[i].low == UINT64_MAX ? CODE_NONE : (uint32_t)summing->codes[i].low;
    if (!drop_rows(summing))
        *taken = query->columns;
    return true;
}

/* Stores the numbers of the rows of a batch, and drops those that count nowhere. Stores in `*taken`
 * the columns that it has taken the values of. Returns false with the state set. */
static bool number_rows(struct summing *summing, unsigned *taken)
{
    const struct sums_query *query = summing->plan->query;
    *taken = 0;
    if (query->set) {
        group_of_batch(query->set, &summing->keys, &summing->rows, summing->numbers);
        group_keep_left(query->left, &summing->rows, summing->numbers);
        return true;
    }
    if (!query->keys)
        return number_by_caller(summing, taken);
    if (query->keys->cells > 0) {
        group_keys_cells(query->keys, &summing->keys, &summing->rows, summing->numbers);
        return true;
    }
    group_keys_codes(query->keys, &summing->keys, &summing->rows, summing->codes);
    return number_codes(summing);
}

/* ---- packed totals ---------------------------------------------------------------------- */

static void add_packed(struct summing *summing)
{
    /* Fetches each word ahead of its turn. */
    const size_t ahead = 24, count = summing->rows.count;
    const uint32_t *numbers = summing->numbers;
    uint64_t *packed = summing->packed;
    for (size_t i = 0; i < count; i++) {
        if (i + ahead < count)
            __builtin_prefetch(&packed[numbers[i + ahead]], 1);
        packed[numbers[i]] += summing->values.bytes[i] << PACKED_COUNT_BITS | 1;
    }
}

static void empty_packed(struct summing *summing)
{
    for (size_t cell = 0; summing->packed && cell < summing->sums.count; cell++) {
        const uint64_t word = summing->packed[cell];
        uint64_t *total = sums_of(&summing->sums, cell, SUMS_TOTAL);
        if (word == 0)
            continue;
        total[0] += word & ((1 << PACKED_COUNT_BITS) - 1);
        total[1] += word >> PACKED_COUNT_BITS;
        summing->packed[cell] = 0;
    }
    summing->packed_rows = summing->packed_bytes = 0;
}

/* Returns true if the sums of a chunk fit into the words, which it empties if need be. */
static bool room_in_packed(struct summing *summing, const struct column_view *size)
{
    if (!summing->packed || size->max >= PACKED_BYTES_MAX / COLUMN_CHUNK_ROWS)
        return false;
    if (summing->packed_rows + size->rows >= UINT64_C(1) << PACKED_COUNT_BITS ||
        summing->packed_bytes + size->rows * size->max >= PACKED_BYTES_MAX)
        empty_packed(summing);
    summing->packed_rows += size->rows;
    summing->packed_bytes += size->rows * size->max;
    return true;
}

/* ---- parts ------------------------------------------------------------------------------ */

/* Runs the next statement for each row of the batch, with the words of a part of its group. */
#define EACH_ROW(of)                                                                               \
    const uint64_t *const counts = summing->values.counts, *const bytes = summing->values.bytes;   \
    const uint64_t *const began = summing->values.value[COLUMN_ALLOC_NS];                          \
    const uint64_t *const life = summing->values.value[COLUMN_LIFE_NS];                            \
    uint64_t *const first_ = sums_of(&summing->sums, 0, of), *words;                               \
    const size_t width_ = summing->sums.width, to_ = summing->to;                                  \
    (void)counts, (void)bytes, (void)began, (void)life;                                            \
    for (size_t i = summing->from;                                                                 \
         i < to_ && (words = first_ + summing->numbers[i] * width_, true); i++)

static bool is_at_peak(const struct summing *summing, size_t i)
{
    const struct sums_rows *values = &summing->values;
    return kernel_is_live(values->value[COLUMN_ALLOC_NS][i], values->value[COLUMN_LIFE_NS][i],
                          summing->plan->session->peak_ns) &&
           (summing->plan->peak_machine == 0 ||
            group_machine_of(summing->plan->session, values->value[COLUMN_THREAD][i]) ==
                summing->plan->peak_machine);
}

static inline void add_if(uint64_t *words, bool holds, uint64_t count, uint64_t bytes)
{
    words[0] += holds ? count : 0;
    words[1] += holds ? bytes : 0;
}

static inline void take_most(uint64_t *word, uint64_t value)
{
    *word = value > *word ? value : *word;
}

static void add_total(struct summing *summing)
{
    EACH_ROW(SUMS_TOTAL)
    add_if(words, true, counts[i], bytes[i]);
}

static void add_live(struct summing *summing)
{
    EACH_ROW(SUMS_LIVE)
    add_if(words, life[i] == 0, counts[i], bytes[i]);
}

static void add_at_peak(struct summing *summing)
{
    EACH_ROW(SUMS_AT_PEAK)
    add_if(words, is_at_peak(summing, i), counts[i], bytes[i]);
}

static void add_at(struct summing *summing)
{
    const uint64_t at_ns = summing->plan->query->at_ns;
    EACH_ROW(SUMS_AT)
    add_if(words, kernel_is_live(began[i], life[i], at_ns), counts[i], bytes[i]);
}

static void add_short(struct summing *summing)
{
    EACH_ROW(SUMS_SHORT)
    words[0] += life[i] - 1 < SESSION_SHORT_LIVED_NS ? counts[i] : 0;
}

static void add_objects(struct summing *summing)
{
    const uint64_t *objects = summing->values.value[COLUMN_COUNT_OF_OBJECTS];
    EACH_ROW(SUMS_OBJECTS)
    words[0] += objects[i] * counts[i];
}

static void add_padding(struct summing *summing)
{
    const uint64_t *objects = summing->values.value[COLUMN_COUNT_OF_OBJECTS];
    const uint64_t *type = summing->values.value[COLUMN_TYPE];
    EACH_ROW(SUMS_PADDING)
    words[0] += summing->plan->padding[type[i]] * objects[i] * counts[i];
}

static void add_resident(struct summing *summing)
{
    const struct pins *resident = summing->plan->resident;
    const uint64_t first_row = summing->chunk->first_row + summing->rows.first;
    uint64_t value;
    if (!resident)
        return;
    EACH_ROW(SUMS_RESIDENT)
    if (pins_of(resident, first_row + summing->rows.row[i], &value))
        words[0] += value * counts[i];
}

static void add_sizes(struct summing *summing)
{
    const uint64_t *size = summing->values.value[COLUMN_SIZE];
    EACH_ROW(SUMS_SIZES)
    {
        take_most(&words[0], ~size[i]);
        take_most(&words[1], size[i]);
    }
}

static void add_wide(uint64_t *words, unsigned __int128 more)
{
    const unsigned __int128 sum = ((unsigned __int128)words[1] << 64 | words[0]) + more;
    words[0] = (uint64_t)sum;
    words[1] = (uint64_t)(sum >> 64);
}

static void add_lifetimes(struct summing *summing)
{
    const uint64_t end_ns = summing->plan->session->duration_ns;
    EACH_ROW(SUMS_LIFETIMES)
    {
        const uint64_t lifetime = life[i] != 0        ? life[i] - 1
                                  : end_ns > began[i] ? end_ns - began[i]
                                                      : 0;
        add_wide(words, (unsigned __int128)lifetime * counts[i]);
        take_most(&words[2], ~lifetime);
        take_most(&words[3], lifetime);
    }
}

/* Returns the end of a life: a block that was not freed ends with the run. */
static uint64_t end_of(const struct summing *summing, uint64_t began, uint64_t life)
{
    const uint64_t end_ns = summing->plan->session->duration_ns;
    return life != 0 ? began + life - 1 : end_ns > began ? end_ns : began;
}

static void add_times(struct summing *summing)
{
    EACH_ROW(SUMS_TIMES)
    {
        const uint64_t end = end_of(summing, began[i], life[i]);
        take_most(&words[0], ~began[i]);
        take_most(&words[1], began[i]);
        take_most(&words[2], ~end);
        take_most(&words[3], end);
    }
}

/* Adds rows to the steps by which sizes climb: a row is larger than the row before, and realloc()
 * made it of that one, or it was allocated while that one was live and after the one before that
 * was freed. So a buffer grows: at most two of its blocks are live at once. If frees have stacks,
 * realloc() frees the old block before it allocates the new one. */
static void add_steps(struct summing *summing)
{
    const uint64_t *size = summing->values.value[COLUMN_SIZE];
    const uint64_t *realloc_of = summing->values.value[COLUMN_REALLOC_OF];
    const uint64_t chunk = summing->chunk->chunk + UINT64_C(1);
    EACH_ROW(SUMS_STEPS)
    {
        const bool same_chunk = words[STEP_CHUNK] == chunk;
        const bool proven =
            realloc_of[i] != 0 && realloc_of[i] == summing->chunk->first_row + 1 + words[STEP_ROW];
        const bool inferred = words[STEP_BEGAN] <= began[i] && words[STEP_END] >= began[i] &&
                              words[STEP_END] != UINT64_MAX &&
                              words[STEP_END_BEFORE_THAT] <= began[i];
        if (same_chunk && size[i] > words[STEP_SIZE] && (proven || inferred)) {
            words[STEP_CLIMBS]++;
            words[STEP_REPLACED] += words[STEP_SIZE];
        }
        words[STEP_ROWS]++;
        words[STEP_BYTES] += size[i];
        words[STEP_END_BEFORE_THAT] = same_chunk ? words[STEP_END] : 0;
        words[STEP_CHUNK] = chunk;
        words[STEP_ROW] = summing->rows.first + summing->rows.row[i];
        words[STEP_SIZE] = size[i];
        words[STEP_BEGAN] = began[i];
        words[STEP_END] = life[i] != 0 ? end_of(summing, began[i], life[i]) : UINT64_MAX;
    }
}

static void add_born(struct summing *summing)
{
    const uint64_t from = summing->plan->query->from_ns,
                   length = summing->plan->query->to_ns - from;
    EACH_ROW(SUMS_BORN)
    {
        const uint64_t since = began[i] > from ? began[i] - from : 0;
        const unsigned __int128 tenth =
            length == 0 ? 0 : (unsigned __int128)since * SUMS_TENTHS / length;
        words[tenth < SUMS_TENTHS ? tenth : SUMS_TENTHS - 1] += counts[i];
    }
}

static void add_number(uint64_t *word, double number)
{
    double sum;
    memcpy(&sum, word, sizeof(sum));
    sum += number;
    memcpy(word, &sum, sizeof(sum));
}

static void add_variance(struct summing *summing)
{
    const uint64_t *sizes = summing->values.value[COLUMN_SIZE];
    const uint64_t *objects = summing->values.value[COLUMN_COUNT_OF_OBJECTS];
    EACH_ROW(SUMS_VARIANCE)
    {
        const double weight = estimate_weight(summing->plan->session->estimate, sizes[i]);
        const double each = weight * (weight - 1), size = (double)sizes[i];
        const bool live = life[i] == 0;
        add_number(&words[0], each);
        add_number(&words[1], each * size * size);
        add_number(&words[2], each * (double)objects[i] * (double)objects[i]);
        add_number(&words[3], live ? each : 0);
        add_number(&words[4], live ? each * size * size : 0);
        add_number(&words[5], is_at_peak(summing, i) ? each * size * size : 0);
    }
}

#define SIZE COLUMN_BIT(COLUMN_SIZE)
#define BEGAN COLUMN_BIT(COLUMN_ALLOC_NS)
#define LIFE COLUMN_BIT(COLUMN_LIFE_NS)
#define OBJECTS COLUMN_BIT(COLUMN_COUNT_OF_OBJECTS)

/* In a sampled session counts need the size, too, which tells what a row represents. */
static const struct {
    unsigned words, columns;
    unsigned most; /* a bit for each word of which threads keep the most; others are added */
    void (*add)(struct summing *summing);
} parts[SUMS_PARTS] = {
    [SUMS_TOTAL] = {2, SIZE, 0, add_total},
    [SUMS_LIVE] = {2, SIZE | LIFE, 0, add_live},
    [SUMS_AT_PEAK] = {2, SIZE | BEGAN | LIFE, 0, add_at_peak},
    [SUMS_AT] = {2, SIZE | BEGAN | LIFE, 0, add_at},
    [SUMS_SHORT] = {1, LIFE, 0, add_short},
    [SUMS_OBJECTS] = {1, OBJECTS, 0, add_objects},
    [SUMS_PADDING] = {1, OBJECTS | COLUMN_BIT(COLUMN_TYPE), 0, add_padding},
    [SUMS_SIZES] = {2, SIZE, 3, add_sizes},
    [SUMS_LIFETIMES] = {4, BEGAN | LIFE, 12, add_lifetimes},
    [SUMS_TIMES] = {4, BEGAN | LIFE, 15, add_times},
    [SUMS_STEPS] = {STEP_WORDS, SIZE | BEGAN | LIFE | COLUMN_BIT(COLUMN_REALLOC_OF), 0, add_steps},
    [SUMS_BORN] = {SUMS_TENTHS, BEGAN, 0, add_born},
    [SUMS_RESIDENT] = {1, 0, 0, add_resident},
    [SUMS_VARIANCE] = {VARIANCES, SIZE | OBJECTS | BEGAN | LIFE, 0, add_variance},
};

/* Returns the keys that number the rows, NULL if the caller does. */
static const struct group_keys *keys_of(const struct sums_query *query)
{
    return query->set ? &query->set->keys : query->keys;
}

/* ---- chunks ----------------------------------------------------------------------------- */

/* The parts that sum up bytes. */
#define WITH_BYTES                                                                                 \
    (SUMS_BIT(SUMS_TOTAL) | SUMS_BIT(SUMS_LIVE) | SUMS_BIT(SUMS_AT_PEAK) | SUMS_BIT(SUMS_AT))

/* Rows whose records are fetched together while earlier ones are added, in the nearest cache. */
enum { ROWS_AT_ONCE = 32, LINE_WORDS = 8 };

/* Fetches the words of the parts that matter for this chunk. */
static void fetch_records(const struct summing *summing, size_t from)
{
    const struct sums *sums = &summing->sums;
    const size_t to = min_of(from + ROWS_AT_ONCE, summing->rows.count);
    const unsigned used = summing->parts;
    if (sums->count <= SMALL || used == 0)
        return;
    const unsigned first = sums->place[__builtin_ctz(used)],
                   last_part = 31 - (unsigned)__builtin_clz(used);
    const unsigned last = sums->place[last_part] + parts[last_part].words - 1;
    for (size_t i = from; i < to; i++) {
        const uint64_t *record = sums->words + summing->numbers[i] * sums->width;
        for (unsigned word = first; word < last; word += LINE_WORDS)
            __builtin_prefetch(record + word, 1);
        __builtin_prefetch(record + last, 1);
    }
}

static bool add_batch(struct summing *summing, bool packed)
{
    struct kernel_rows *rows = &summing->rows;
    unsigned taken;
    if (!number_rows(summing, &taken))
        return false;
    if ((summing->parts & WITH_BYTES) != 0)
        kernel_take(&summing->chunk->bytes, rows, summing->values.bytes);
    if (packed) {
        add_packed(summing);
        return true;
    }
    if (summing->plan->session->estimate)
        kernel_take(&summing->chunk->counts, rows, summing->values.counts);
    take_values(summing, summing->columns & ~taken);
    for (size_t i = 0; summing->chunk_numbers && i < rows->count; i++)
        summing->chunk_numbers[rows->first + rows->row[i]] = summing->numbers[i];
    fetch_records(summing, 0);
    for (summing->from = 0; summing->from < rows->count; summing->from = summing->to) {
        summing->to = min_of(summing->from + ROWS_AT_ONCE, rows->count);
        fetch_records(summing, summing->to);
        for (unsigned part = 0; part < SUMS_MOMENTS; part++)
            if ((summing->parts & SUMS_BIT(part)) != 0)
                parts[part].add(summing);
    }
    return true;
}

/* Adds the blocks that are live at a moment. Few are: a kernel finds them. */
static bool add_moment(struct summing *summing, size_t moment)
{
    const struct sums_query *query = summing->plan->query;
    const struct chunk_rows *chunk = summing->chunk;
    unsigned taken;
    memset(summing->live, 0, sizeof(summing->live));
    kernel_live_at(&chunk->views[COLUMN_ALLOC_NS], &chunk->views[COLUMN_LIFE_NS],
                   query->moments[moment], summing->live);
    row_set_keep(summing->live, chunk->words);
    if (summing->chunk_numbers || by_column(query)) {
        const struct column_view *column =
            by_column(query) ? &chunk->views[__builtin_ctz(query->columns)] : NULL;
        ROW_SET_EACH(summing->live, row)
        {
            const uint32_t number =
                column ? (uint32_t)column_view_at(column, row) : summing->chunk_numbers[row];
            if (number != CODE_NONE)
                sums_of(&summing->sums, number, SUMS_MOMENTS)[moment] +=
                    column_view_at(&chunk->bytes, row);
        }
        return true;
    }
    KERNEL_EACH_BATCH(summing->live, &summing->rows)
    {
        if (!number_rows(summing, &taken))
            return false;
        kernel_take(&chunk->bytes, &summing->rows, summing->values.bytes);
        for (size_t i = 0; i < summing->rows.count; i++)
            sums_of(&summing->sums, summing->numbers[i], SUMS_MOMENTS)[moment] +=
                summing->values.bytes[i];
    }
    return true;
}

static bool may_be_live(const struct column_store *store, uint32_t chunk, uint64_t ns)
{
    return column_store_min(store, chunk, COLUMN_ALLOC_NS) <= ns &&
           column_store_last_free(store, chunk) > ns;
}

/* Finds the parts to which a chunk can add anything, and their columns. */
static void look_at_chunk(struct summing *summing)
{
    const struct plan *plan = summing->plan;
    const struct column_store *store = plan->session->columns;
    const uint32_t chunk = summing->chunk->chunk;
    const uint64_t life = column_store_min(store, chunk, COLUMN_LIFE_NS);
    unsigned none = SUMS_BIT(SUMS_MOMENTS);
    if (life > 0)
        none |= SUMS_BIT(SUMS_LIVE);
    if (!may_be_live(store, chunk, plan->session->peak_ns))
        none |= SUMS_BIT(SUMS_AT_PEAK);
    if (!may_be_live(store, chunk, plan->query->at_ns))
        none |= SUMS_BIT(SUMS_AT);
    if (life > SESSION_SHORT_LIVED_NS)
        none |= SUMS_BIT(SUMS_SHORT);
    summing->parts = plan->query->parts & ~none;
    summing->columns = 0;
    for (unsigned part = 0; part < SUMS_MOMENTS; part++)
        if ((summing->parts & SUMS_BIT(part)) != 0)
            summing->columns |= parts[part].columns;
    /* Others take the bytes of rows, which need the column but not its values. */
    if ((summing->parts &
         (SUMS_BIT(SUMS_SIZES) | SUMS_BIT(SUMS_STEPS) | SUMS_BIT(SUMS_VARIANCE))) == 0)
        summing->columns &= ~SIZE;
    if (plan->peak_machine != 0 &&
        (summing->parts & (SUMS_BIT(SUMS_AT_PEAK) | SUMS_BIT(SUMS_VARIANCE))) != 0)
        summing->columns |= COLUMN_BIT(COLUMN_THREAD);
}

static bool is_wanted(const void *context, const struct column_store *store, uint32_t chunk)
{
    const struct sums_query *query = ((const struct summing *)context)->plan->query;
    bool wanted = query->parts != SUMS_BIT(SUMS_MOMENTS);
    for (size_t i = 0; !wanted && i < query->moment_count; i++)
        wanted = may_be_live(store, chunk, query->moments[i]);
    if (query->parts == SUMS_BIT(SUMS_SHORT))
        wanted = column_store_min(store, chunk, COLUMN_LIFE_NS) <= SESSION_SHORT_LIVED_NS;
    if (query->among == SUMS_OF_LIVE)
        wanted = wanted && column_store_min(store, chunk, COLUMN_LIFE_NS) == 0;
    if (query->among == SUMS_OF_BORN)
        wanted = wanted && column_store_min(store, chunk, COLUMN_ALLOC_NS) < query->to_ns &&
                 column_store_max(store, chunk, COLUMN_ALLOC_NS) >= query->from_ns;
    return wanted;
}

/* Returns the bits of the rows of a chunk that the query is about. */
static const uint64_t *rows_of(struct summing *summing)
{
    const struct sums_query *query = summing->plan->query;
    const struct chunk_rows *chunk = summing->chunk;
    struct kernel_range range = {.low = 0, .high = 0}; /* life 0: never freed */
    if (query->among == SUMS_OF_BORN)
        range = (struct kernel_range){.low = query->from_ns, .high = query->to_ns - 1};
    else if (query->parts == SUMS_BIT(SUMS_SHORT))
        range = (struct kernel_range){.low = 1, .high = SESSION_SHORT_LIVED_NS};
    else if (query->among != SUMS_OF_LIVE)
        return chunk->words;
    memset(summing->live, 0, sizeof(summing->live));
    kernel_in_range(&chunk->views[query->among == SUMS_OF_BORN ? COLUMN_ALLOC_NS : COLUMN_LIFE_NS],
                    &range, summing->live);
    row_set_keep(summing->live, chunk->words);
    return summing->live;
}

static void add_chunk(void *context, const struct chunk_rows *chunk)
{
    struct summing *summing = context;
    const struct sums_query *query = summing->plan->query;
    const struct group_keys *keys = keys_of(query);
    if (summing->state != SUMMING_GOOD)
        return;
    summing->chunk = chunk;
    look_at_chunk(summing);
    if (keys)
        group_keys_take(keys, chunk, &summing->keys);
    if (summing->chunk_numbers && (query->left || query->number))
        memset(summing->chunk_numbers, 0xff, COLUMN_CHUNK_ROWS * sizeof(uint32_t));
    const bool packed = room_in_packed(summing, &chunk->views[COLUMN_SIZE]);
    const uint64_t *rows = rows_of(summing);
    if (query->parts != SUMS_BIT(SUMS_MOMENTS))
        KERNEL_EACH_BATCH(rows, &summing->rows)
        {
            if (!add_batch(summing, packed))
                return;
        }
    for (size_t i = 0; i < query->moment_count; i++)
        if (may_be_live(summing->plan->session->columns, chunk->chunk, query->moments[i]) &&
            !add_moment(summing, i))
            return;
}

/* ---- threads ---------------------------------------------------------------------------- */

static void merge_record(const struct sums *sums, uint64_t *to, const uint64_t *from)
{
    for (unsigned part = 0; part < SUMS_PARTS; part++) {
        if ((sums->parts & SUMS_BIT(part)) == 0)
            continue;
        const size_t place = sums->place[part];
        const size_t words = part == SUMS_MOMENTS ? sums->width - place
                             : part == SUMS_STEPS ? STEP_SUMS
                                                  : parts[part].words;
        for (size_t i = place; i < place + words; i++) {
            double number;
            if (part == SUMS_VARIANCE) {
                memcpy(&number, &from[i], sizeof(number));
                add_number(&to[i], number);
            } else if (part == SUMS_LIFETIMES && i < place + 2) {
                if (i == place)
                    add_wide(&to[i], (unsigned __int128)from[i + 1] << 64 | from[i]);
            } else if (part != SUMS_MOMENTS && (parts[part].most >> (i - place) & 1) != 0) {
                take_most(&to[i], from[i]);
            } else {
                to[i] += from[i];
            }
        }
    }
}

/* Adds the sums of another thread. */
static bool merge(struct summing *to, const struct summing *from, struct session_error *error)
{
    const struct sums *part = &from->sums;
    const bool codes = part->codes.count > 0;
    const size_t count = codes ? part->codes.count : part->count;
    for (size_t i = 0; i < count; i++) {
        uint32_t number = (uint32_t)i;
        if (i % RECORDS_PER_LOOK == 0 && !scan_go_on(to->plan->session, error))
            return false;
        if (codes && !number_of(to, part->codes.codes[i], &number))
            return true; /* the state tells it */
        merge_record(part, to->sums.words + number * part->width, part->words + i * part->width);
    }
    return true;
}

static bool fail(const struct summing *summing, struct session_error *error)
{
    if (summing->state == SUMMING_TOO_MANY)
        return session_fail(error, 0, "more than %zu groups: join by fewer fields, or filter first",
                            GROUPS_MAX);
    return session_fail_memory(error, "the groups");
}

void sums_lay_out(const struct sums_query *query, struct sums *sums)
{
    sums->parts = query->parts;
    for (unsigned part = 0; part < SUMS_PARTS; part++) {
        sums->place[part] = (unsigned)sums->width;
        if ((query->parts & SUMS_BIT(part)) != 0)
            sums->width += part == SUMS_MOMENTS ? query->moment_count : parts[part].words;
    }
    sums->count = query->set    ? query->set->made
                  : query->keys ? (size_t)query->keys->cells
                                : query->cells;
}

static bool plan_resident(struct plan *plan, struct session_error *error)
{
    const uint64_t *ns = plan->query->resident_ns;
    const struct filter_live live = {.time = {.ns = ns ? *ns : plan->session->peak_ns}};
    bool known;
    if (!session_reads_residency(plan->session, &known, error))
        return false;
    if (known)
        plan->resident = pins_find(plan->session, FIELD_RESIDENT, 0, &live, error);
    return !known || plan->resident;
}

static void plan_close(struct plan *plan)
{
    free(plan->padding);
    pins_free(plan->resident);
}

static bool plan_open(struct plan *plan, struct session_error *error)
{
    const struct sums_query *query = plan->query;
    const unsigned at_peak = SUMS_BIT(SUMS_AT_PEAK) | SUMS_BIT(SUMS_VARIANCE);
    sums_lay_out(query, &plan->layout);
    plan->columns = keys_of(query) ? 0 : query->columns;
    for (unsigned part = 0; part < SUMS_PARTS; part++)
        if ((query->parts & SUMS_BIT(part)) != 0)
            plan->columns |= parts[part].columns;
    if ((query->parts & at_peak) != 0 &&
        !group_peak_machine(plan->session, &plan->peak_machine, error))
        return false;
    if ((query->parts & SUMS_BIT(SUMS_RESIDENT)) != 0 && !plan_resident(plan, error))
        return false;
    if (plan->session->estimate)
        plan->columns |= SIZE;
    if (plan->peak_machine != 0)
        plan->columns |= COLUMN_BIT(COLUMN_THREAD);
    if ((query->parts & SUMS_BIT(SUMS_PADDING)) != 0)
        plan->padding = type_padding_read(plan->session, error);
    return plan->padding || (query->parts & SUMS_BIT(SUMS_PADDING)) == 0;
}

static bool start(struct summing *summing, const struct plan *plan)
{
    struct sums *sums = &summing->sums;
    *sums = plan->layout;
    summing->plan = plan;
    summing->capacity = sums->count;
    for (size_t i = 0; i < KERNEL_ROWS; i++)
        summing->values.counts[i] = 1;
    sums->words = large_zeroed((sums->count * sums->width + 1) * sizeof(*sums->words));
    const bool packed = sums->parts == SUMS_BIT(SUMS_TOTAL) && !plan->query->set &&
                        !plan->session->estimate && sums->count >= PACKED_CELLS_MIN;
    if (packed)
        summing->packed = large_zeroed(sums->count * sizeof(*summing->packed));
    const bool numbers =
        (sums->parts & SUMS_BIT(SUMS_MOMENTS)) != 0 && sums->parts != SUMS_BIT(SUMS_MOMENTS);
    if (numbers)
        summing->chunk_numbers = malloc(COLUMN_CHUNK_ROWS * sizeof(*summing->chunk_numbers));
    return sums->words && (summing->packed || !packed) && (summing->chunk_numbers || !numbers);
}

/* Lets all threads sum up, and adds their sums to those of the first. */
static bool sum_up(struct scan_contexts *contexts, const struct plan *plan,
                   const struct row_set *rows, struct session_error *error)
{
    const struct sums_query *query = plan->query;
    const unsigned columns =
        plan->columns | (keys_of(query) ? group_keys_columns(keys_of(query)) : 0) |
        (query->among == SUMS_OF_LIVE ? LIFE : 0) | (query->among == SUMS_OF_BORN ? BEGAN : 0) |
        (query->moment_count > 0 ? SIZE | BEGAN | LIFE : 0);
    bool good = true;
    for (size_t i = 0; good && i < contexts->threads; i++)
        good = start(contexts->each[i], plan) || session_fail_memory(error, "the groups");
    good = good && scan_wanted_chunks(plan->session, rows, columns, is_wanted, add_chunk,
                                      contexts->each, contexts->threads, error);
    for (size_t i = 0; good && i < contexts->threads; i++) {
        struct summing *summing = contexts->each[i], *first = contexts->each[0];
        empty_packed(summing);
        good = scan_go_on(plan->session, error) && (i == 0 || merge(first, summing, error)) &&
               (summing->state == SUMMING_GOOD || fail(summing, error)) &&
               (first->state == SUMMING_GOOD || fail(first, error));
    }
    return good;
}

bool sums_find(struct session *session, const struct row_set *rows, const struct sums_query *query,
               struct sums *sums, struct session_error *error)
{
    struct plan plan = {.query = query, .session = session};
    struct scan_contexts contexts;
    *sums = (struct sums){.count = 0};
    bool good = plan_open(&plan, error);
    const size_t bytes = plan.layout.count * plan.layout.width * sizeof(*sums->words);
    if (!good ||
        !scan_contexts_open(session, &contexts, sizeof(struct summing),
                            sums_threads(session, bytes) * sizeof(struct summing), error)) {
        plan_close(&plan);
        return false;
    }
    good = sum_up(&contexts, &plan, rows, error);
    struct summing *first = contexts.each[0];
    if (good) {
        *sums = first->sums;
        first->sums = (struct sums){.count = 0};
        sums->count = sums->codes.count > 0 ? sums->codes.count : sums->count;
    }
    for (size_t i = 0; i < contexts.threads; i++) {
        struct summing *summing = contexts.each[i];
        sums_free(&summing->sums);
        free(summing->packed);
        free(summing->chunk_numbers);
    }
    scan_contexts_close(&contexts);
    plan_close(&plan);
    return good;
}
