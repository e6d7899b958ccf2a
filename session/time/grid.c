/* SPDX-License-Identifier: BSD-2-Clause */
/* Fills the memory grid: the blocks at their addresses, from the list of live blocks at a time. */
#include <stdlib.h>
#include <string.h>

#include "schemas/array.h"
#include "session/holes.h"
#include "session/store/error.h"
#include "session/store/kernels.h"
#include "session/store/mapped.h"
#include "session/store/processes.h"
#include "session/store/scan.h"
#include "session/store/session_state.h"
#include "session/table/selection_state.h"
#include "session/time/live_list.h"

#define REGION_GAP (UINT64_C(16) << 20)

bool session_regions(struct session *session, uint64_t ns, struct session_region **regions,
                     size_t *count, struct session_error *error)
{
    const struct live_list *list = live_list_at(session, ns, error);
    if (!list)
        return false;
    struct session_region *found = NULL;
    size_t used = 0, capacity = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct live_block block = live_list_block(list, i);
        if (used == 0 || (block.start > found[used - 1].end &&
                          block.start - found[used - 1].end >= REGION_GAP)) {
            if (!ARRAY_GROW(found, used, capacity)) {
                free(found);
                return session_fail_memory(error, "the regions");
            }
            found[used++] = (struct session_region){.start = block.start, .end = block.end};
        }
        struct session_region *region = &found[used - 1];
        region->end = block.end > region->end ? block.end : region->end;
        region->used_bytes += block.size;
        region->count++;
    }
    *regions = found;
    *count = used;
    return true;
}

/* The bytes of one colour in a cell, and the largest block of it. */
struct cell_group {
    uint64_t bytes, most;
    size_t block; /* position in the list + 1; 0: none */
};

/* The legend positions of blocks, by their place in the list of one moment. */
struct grid_colors {
    uint64_t ns;
    enum session_color_by by;
    size_t first, count;
    uint8_t of[];
};

struct placed_block {
    uint32_t block; /* of those to be coloured */
    uint16_t row;   /* of the chunk */
};

/* The blocks are coloured chunk after chunk: neighbours by address lie far apart in the columns. */
struct coloring {
    const struct selection *selection;
    const struct color_map *map;
    struct placed_block *blocks; /* by chunk */
    size_t *starts;              /* of each chunk in `blocks` */
    uint8_t *colors;
};

struct grid {
    struct selection *selection;
    const struct live_list *list;
    size_t first, blocks; /* those of the list that may lie in cells */
    uint64_t address, bytes_per_cell;
    size_t count;
    struct session_cell *cells;
    struct cell_group
        *groups;           /* SESSION_COLORS for each cell; of selected blocks if there is one */
    bool *selected;        /* by cell: there is one */
    const uint8_t *colors; /* by block */
};

static bool color_chunk(void *context, struct scan_worker *worker, uint32_t chunk,
                        struct session_error *error)
{
    const struct coloring *coloring = context;
    const uint8_t *steps = coloring->selection->set.colors;
    struct column_view view;
    if (coloring->starts[chunk] == coloring->starts[chunk + 1])
        return true;
    if (!scan_column(worker, chunk, coloring->map->column, &view, error))
        return false;
    for (size_t i = coloring->starts[chunk]; i < coloring->starts[chunk + 1]; i++) {
        const struct placed_block *block = &coloring->blocks[i];
        const uint8_t step = steps ? steps[(size_t)chunk * COLUMN_CHUNK_ROWS + block->row] : 0;
        coloring->colors[block->block] =
            (uint8_t)color_map_of(coloring->map, column_view_at(&view, block->row), step);
    }
    return true;
}

static bool color_blocks(const struct selection *selection, const struct color_map *map,
                         const struct live_list *list, struct grid_colors *colors,
                         struct session_error *error)
{
    const uint32_t chunks = column_store_chunks(selection->session->columns);
    struct coloring coloring = {.selection = selection, .map = map, .colors = colors->of};
    coloring.blocks = malloc((colors->count + 1) * sizeof(*coloring.blocks));
    coloring.starts = calloc((size_t)chunks + 3, sizeof(*coloring.starts));
    bool good = (coloring.blocks && coloring.starts && colors->count <= UINT32_MAX) ||
                session_fail_memory(error, "the grid");
    /* Each start counts one place further on, and moves to its own place as blocks are put there.
     */
    for (size_t i = 0; good && i < colors->count; i++)
        coloring.starts[live_list_row(list, colors->first + i) / COLUMN_CHUNK_ROWS + 2]++;
    for (uint32_t chunk = 2; good && chunk <= chunks; chunk++)
        coloring.starts[chunk] += coloring.starts[chunk - 1];
    for (size_t i = 0; good && i < colors->count; i++) {
        const uint64_t row = live_list_row(list, colors->first + i);
        coloring.blocks[coloring.starts[row / COLUMN_CHUNK_ROWS + 1]++] =
            (struct placed_block){(uint32_t)i, (uint16_t)(row % COLUMN_CHUNK_ROWS)};
    }
    good = good && scan_chunks_shared(selection->session, chunks, color_chunk, &coloring, error);
    FREE_ALL(coloring.blocks, coloring.starts);
    return good;
}

/* Returns the colours of blocks of the list from `first` on. The selection keeps them: a key that
 * scrolls or zooms in finds them there. NULL with `error` set. */
static const uint8_t *colors_of(struct selection *selection, const struct live_list *list,
                                enum session_color_by by, size_t first, size_t count,
                                struct session_error *error)
{
    struct grid_colors *kept = selection->grid_colors;
    const struct color_map *map = selection_color_map(selection, by, error);
    if (!map)
        return NULL;
    if (!kept || kept->ns != list->ns || kept->by != by || first < kept->first ||
        first + count > kept->first + kept->count) {
        /* The regions on a screen are asked for one after the other: takes in what is kept. */
        size_t from = first, to = first + count;
        if (kept && kept->ns == list->ns && kept->by == by) {
            from = kept->first < from ? kept->first : from;
            to = kept->first + kept->count > to ? kept->first + kept->count : to;
        }
        free(kept);
        selection->grid_colors = NULL;
        if (!(kept = malloc(sizeof(*kept) + (to - from) + 1)))
            return session_fail_memory_null(error, "the grid");
        *kept = (struct grid_colors){list->ns, by, from, to - from};
        if (!color_blocks(selection, map, list, kept, error)) {
            free(kept);
            return NULL;
        }
        selection->grid_colors = kept;
    }
    return kept->of + (first - kept->first);
}

static void add_block(struct grid *grid, size_t at)
{
    const struct live_block block = live_list_block(grid->list, grid->first + at);
    if (block.end <= grid->address)
        return;
    const bool selected = selection_contains(grid->selection, block.id);
    const uint64_t offset = block.start > grid->address ? block.start - grid->address : 0;
    for (uint64_t i = offset / grid->bytes_per_cell; i < grid->count; i++) {
        const uint64_t cell_start = grid->address + i * grid->bytes_per_cell;
        if (cell_start >= block.end)
            break;
        const uint64_t left = block.end - cell_start;
        uint64_t in_cell = left < grid->bytes_per_cell ? left : grid->bytes_per_cell;
        if (block.start > cell_start)
            in_cell -= block.start - cell_start;
        const uint64_t bytes = block.size > 0 ? in_cell : 0;
        struct session_cell *cell = &grid->cells[i];
        struct cell_group *groups = grid->groups + i * SESSION_COLORS;
        *(selected ? &cell->used : &cell->filtered) += bytes;
        cell->starts |= block.start >= cell_start;
        if (selected && !grid->selected[i]) {
            grid->selected[i] = true;
            memset(groups, 0, SESSION_COLORS * sizeof(*groups));
        } else if (!selected && grid->selected[i]) {
            continue;
        }
        struct cell_group *group = &groups[grid->colors[at]];
        group->bytes += bytes;
        if (group->block == 0 || bytes > group->most) {
            group->most = bytes;
            group->block = at + 1;
        }
    }
}

/* Gives each cell the colour with the most bytes, the first of the legend if several have them. */
static void take_groups(struct grid *grid)
{
    for (size_t i = 0; i < grid->count; i++) {
        const struct cell_group *groups = grid->groups + i * SESSION_COLORS, *most = NULL;
        for (size_t color = 0; color < SESSION_COLORS; color++)
            if (groups[color].block != 0 && (!most || groups[color].bytes > most->bytes))
                most = &groups[color];
        if (!most)
            continue;
        const size_t position = grid->first + most->block - 1;
        grid->cells[i].id = live_list_block(grid->list, position).id;
        grid->cells[i].color = (uint8_t)(most - groups);
        grid->cells[i].alternate = position % 2 != 0;
    }
}

bool selection_grid(struct selection *selection, uint64_t ns, uint64_t address,
                    uint64_t bytes_per_cell, size_t count, enum session_color_by by,
                    struct session_cell *cells, struct session_error *error)
{
    if (bytes_per_cell == 0 || count == 0)
        return session_fail(error, 0, "a grid needs cells with at least one byte each");
    const struct live_list *list = live_list_at(selection->session, ns, error);
    if (!list)
        return false;
    /* Cells beyond the end of the address space stay empty. */
    const uint64_t room = (UINT64_MAX - address) / bytes_per_cell;
    struct grid grid = {.selection = selection,
                        .list = list,
                        .first = live_list_find(list, address),
                        .address = address,
                        .bytes_per_cell = bytes_per_cell,
                        .count = count < room ? count : (size_t)room,
                        .cells = cells,
                        .groups = calloc(count * SESSION_COLORS, sizeof(*grid.groups)),
                        .selected = calloc(count, sizeof(*grid.selected))};
    memset(cells, 0, count * sizeof(*cells));
    const uint64_t end = address + grid.count * bytes_per_cell;
    while (grid.first + grid.blocks < list->count &&
           list->entries[grid.first + grid.blocks].key < end)
        grid.blocks++;
    bool good = (grid.groups && grid.selected) || session_fail_memory(error, "the grid");
    grid.colors = good ? colors_of(selection, list, by, grid.first, grid.blocks, error) : NULL;
    good = grid.colors != NULL;
    for (size_t i = 0; good && i < grid.blocks; i++)
        add_block(&grid, i);
    if (good)
        take_groups(&grid);
    FREE_ALL(grid.groups, grid.selected);
    return good;
}

uint64_t session_allocation_at(struct session *session, uint64_t ns, uint64_t address)
{
    const struct live_list *list = live_list_at(session, ns, NULL);
    uint64_t id = 0;
    if (!list)
        return 0;
    /* The innermost block is the one that starts last. */
    for (size_t i = live_list_find(list, address);
         i < list->count && list->entries[i].key <= address; i++) {
        const struct live_block block = live_list_block(list, i);
        if (block.end > address)
            id = block.id;
    }
    return id;
}

void session_neighbours(struct session *session, uint64_t ns, uint64_t address, uint64_t *below,
                        uint64_t *above)
{
    const struct live_list *list = live_list_at(session, ns, NULL);
    *below = 0;
    *above = 0;
    if (!list)
        return;
    size_t i = live_list_find(list, address);
    uint64_t nearest = 0;
    /* All blocks before `i` end at or below the address. Some after it may, too, in an arena. */
    for (size_t k = i; k-- > 0 && live_list_reach(list, k) > nearest;) {
        const struct live_block block = live_list_block(list, k);
        if (block.end > nearest) {
            nearest = block.end;
            *below = block.id;
        }
    }
    for (; i < list->count && list->entries[i].key <= address; i++) {
        const struct live_block block = live_list_block(list, i);
        if (block.end <= address && block.end > nearest) {
            nearest = block.end;
            *below = block.id;
        }
    }
    if (i < list->count)
        *above = live_list_block(list, i).id;
}

/* Results of one thread about an address. */
struct history {
    uint64_t ns, address, count, last;
};

static bool find_history(void *context, struct scan_worker *worker, uint32_t chunk,
                         struct session_error *error)
{
    struct history *history = context;
    const struct column_store *store = scan_session(worker)->columns;
    const struct kernel_range range = {history->address, history->address, false};
    struct column_view address, begin, life;
    uint64_t words[ROW_SET_WORDS];
    if (column_store_min(store, chunk, COLUMN_ADDRESS) > history->address ||
        column_store_max(store, chunk, COLUMN_ADDRESS) < history->address ||
        column_store_first_free(store, chunk) > history->ns)
        return true;
    if (!scan_column(worker, chunk, COLUMN_ADDRESS, &address, error))
        return false;
    kernel_in_range(&address, &range, words);
    if (kernel_count(words, ROW_SET_WORDS) == 0)
        return true;
    if (!scan_column(worker, chunk, COLUMN_ALLOC_NS, &begin, error) ||
        !scan_column(worker, chunk, COLUMN_LIFE_NS, &life, error))
        return false;
    ROW_SET_EACH(words, row)
    {
        const uint64_t life_ns = column_view_at(&life, row);
        const uint64_t freed = column_view_at(&begin, row) + life_ns - 1;
        if (life_ns == 0 || freed > history->ns)
            continue;
        history->count++;
        history->last = freed > history->last ? freed : history->last;
    }
    return true;
}

uint64_t session_address_history(struct session *session, uint64_t ns, uint64_t address,
                                 uint64_t *last_free_ns)
{
    struct scan_contexts contexts;
    uint64_t count = 0, last = 0;
    if (last_free_ns)
        *last_free_ns = 0;
    if (!scan_contexts_open(session, &contexts, sizeof(struct history), SIZE_MAX, NULL))
        return 0;
    for (size_t i = 0; i < contexts.threads; i++)
        *(struct history *)contexts.each[i] = (struct history){.ns = ns, .address = address};
    const bool good = scan_chunks(session, column_store_chunks(session->columns), find_history,
                                  contexts.each, contexts.threads, NULL);
    for (size_t i = 0; good && i < contexts.threads; i++) {
        const struct history *history = contexts.each[i];
        count += history->count;
        last = history->last > last ? history->last : last;
    }
    scan_contexts_close(&contexts);
    if (last_free_ns)
        *last_free_ns = last;
    return count;
}

/* ---- holes ---- */

/* Finds the gaps between live blocks from the list of live blocks at a time: one walk by address,
 * which remembers how far the blocks before it reach. A pass over all allocations then finds for
 * each hole the last block that was freed in it. */

#define CONTEXTS_MOST ((size_t)256 << 20)

/* ---- use -------------------------------------------------------------------------------- */

static void add_gap(struct session_use *use, uint64_t start, uint64_t bytes, uint64_t least)
{
    if (bytes >= least) {
        use->hole_bytes += bytes;
        use->hole_count++;
        if (bytes > use->largest) {
            use->largest = bytes;
            use->largest_at = start;
        }
    } else if (bytes <= SESSION_OVERHEAD_MOST) {
        use->overhead_bytes += bytes;
    } else {
        use->small_bytes += bytes;
    }
}

/* Returns the place of the block that reaches to the gap before block `i`. */
static size_t place_below(const struct live_list *list, size_t i)
{
    const uint64_t reach = live_list_reach(list, i - 1);
    size_t at = i - 1;
    while (at > 0 && live_list_block(list, at).end != reach)
        at--;
    return at;
}

static bool may_be_alone(const struct live_list *list, size_t i)
{
    const struct live_block block = live_list_block(list, i);
    uint64_t above = UINT64_MAX;
    if (!mapped_address(block.start, block.end - block.start, list->mapped))
        return false;
    for (size_t next = i + 1; next < list->count && above == UINT64_MAX; next++)
        if (list->entries[next].key >= block.end)
            above = list->entries[next].key;
    return mapped_alone(block.start, block.end - block.start,
                        i > 0 ? live_list_reach(list, i - 1) : 0, above, list->mapped);
}

/* Returns true if nobody knows what lies in the gap before block `i`. */
static bool is_unknown(const struct live_list *list, size_t i)
{
    return may_be_alone(list, i) || may_be_alone(list, place_below(list, i)) ||
           mapped_heaps_meet(live_list_reach(list, i - 1), list->entries[i].key);
}

/* Returns the bytes of the gap before block `i`, 0 if there is none. */
static uint64_t gap_before(const struct live_list *list, size_t i)
{
    const uint64_t reach = i == 0 ? 0 : live_list_reach(list, i - 1);
    const uint64_t start = list->entries[i].key;
    return i > 0 && start > reach && start - reach < REGION_GAP ? start - reach : 0;
}

static void sum_use(const struct selection *selection, const struct live_list *list, uint64_t from,
                    uint64_t to, uint64_t least, struct session_use *use)
{
    *use = (struct session_use){.selected_bytes = 0};
    for (size_t i = live_list_find(list, from); i < list->count; i++) {
        const struct live_block block = live_list_block(list, i);
        const uint64_t bytes = gap_before(list, i), start = block.start - bytes;
        if (bytes >= least && start >= from && start < to && is_unknown(list, i)) {
            use->unknown_bytes += bytes;
            use->unknown_count++;
        } else if (bytes > 0 && start >= from && start < to) {
            add_gap(use, start, bytes, least);
        }
        if (block.start >= to)
            break;
        if (block.start < from)
            continue;
        const bool selected = selection_contains(selection, block.id);
        *(selected ? &use->selected_bytes : &use->filtered_bytes) += block.size;
        *(selected ? &use->selected_count : &use->filtered_count) += 1;
    }
}

bool selection_use(struct selection *selection, uint64_t ns, uint64_t from, uint64_t to,
                   uint64_t least, struct session_use *use, struct session_error *error)
{
    const struct live_list *list = live_list_at(selection->session, ns, error);
    if (!list)
        return false;
    sum_use(selection, list, from, to, least, use);
    return true;
}

bool selection_use_over_time(struct selection *selection, uint64_t ns, uint64_t from, uint64_t to,
                             uint64_t least, struct session_use *use, struct session_error *error)
{
    const struct live_list *list = live_list_passing(selection->session, ns, error);
    if (!list)
        return false;
    sum_use(selection, list, from, to, least, use);
    return true;
}

void selection_use_over_time_end(struct selection *selection)
{
    live_list_passed(selection->session);
}

/* ---- holes ------------------------------------------------------------------------------ */

static bool gather_holes(const struct live_list *list, uint64_t from, uint64_t to, uint64_t least,
                         struct session_hole **holes, size_t *count, struct session_error *error)
{
    struct session_hole *found = NULL;
    size_t used = 0, capacity = 0;
    for (size_t i = live_list_find(list, from); i < list->count; i++) {
        const struct live_block above = live_list_block(list, i);
        const uint64_t bytes = gap_before(list, i), start = above.start - bytes;
        if (bytes < least || bytes == 0 || start < from)
            continue;
        if (start >= to)
            break;
        if (is_unknown(list, i))
            continue;
        if (!ARRAY_GROW(found, used, capacity)) {
            free(found);
            return session_fail_memory(error, "the holes");
        }
        found[used++] =
            (struct session_hole){.start = start,
                                  .end = above.start,
                                  .below = live_list_block(list, place_below(list, i)).id,
                                  .above = above.id,
                                  .since_ns = SESSION_NEVER};
    }
    *holes = found;
    *count = used;
    return true;
}

bool session_gap_is_unknown(struct session *session, uint64_t ns, uint64_t address)
{
    const struct live_list *list = live_list_at(session, ns, NULL);
    const size_t i = list ? live_list_find(list, address) : 0;
    return list && i > 0 && i < list->count && list->entries[i].key > address &&
           gap_before(list, i) > 0 && is_unknown(list, i);
}

/* The frees in the holes that one thread knows. */
struct freed {
    const struct session_hole *holes; /* by address */
    size_t count;
    uint64_t ns;
    uint64_t last[]; /* by hole: the last free and 1; 0: none */
};

/* Notes the free of a block in all holes that it reached into. */
static void note(struct freed *freed, uint64_t start, uint64_t end, uint64_t free_ns)
{
    size_t low = 0;
    ARRAY_BISECT(low, freed->count, freed->holes[middle].end <= start);
    for (; low < freed->count && freed->holes[low].start < end; low++)
        if (free_ns >= freed->last[low])
            freed->last[low] = free_ns + 1;
}

/* Tells by the directory whether blocks of a chunk may have been freed in a hole. */
static bool may_matter(const struct freed *freed, const struct column_store *store, uint32_t chunk)
{
    const uint64_t most = column_store_max(store, chunk, COLUMN_ADDRESS);
    const uint64_t size = column_store_max(store, chunk, COLUMN_SIZE);
    const uint64_t reach = size > UINT64_MAX - most - 1 ? UINT64_MAX : most + size + 1;
    return column_store_first_free(store, chunk) <= freed->ns &&
           column_store_min(store, chunk, COLUMN_ADDRESS) < freed->holes[freed->count - 1].end &&
           reach > freed->holes[0].start;
}

static bool find_freed(void *context, struct scan_worker *worker, uint32_t chunk,
                       struct session_error *error)
{
    struct freed *freed = context;
    const struct session *session = scan_session(worker);
    const struct kernel_range range = {0, freed->ns, false};
    struct column_view address, size, begin, life;
    uint64_t words[ROW_SET_WORDS];
    if (!may_matter(freed, session->columns, chunk))
        return true;
    if (!scan_column(worker, chunk, COLUMN_ADDRESS, &address, error) ||
        !scan_column(worker, chunk, COLUMN_SIZE, &size, error) ||
        !scan_column(worker, chunk, COLUMN_ALLOC_NS, &begin, error) ||
        !scan_column(worker, chunk, COLUMN_LIFE_NS, &life, error))
        return false;
    kernel_freed_in_range(&begin, &life, &range, words);
    processes_mask(session, chunk, words);
    ROW_SET_EACH(words, row)
    {
        const uint64_t start = column_view_at(&address, row);
        const uint64_t bytes = column_view_at(&size, row);
        const uint64_t held = bytes > 0 ? bytes : 1;
        note(freed, start, held > UINT64_MAX - start ? UINT64_MAX : start + held,
             column_view_at(&begin, row) + column_view_at(&life, row) - 1);
    }
    return true;
}

/* Finds since when the holes, which lie by address, are unused. */
static bool find_since(struct session *session, uint64_t ns, struct session_hole *holes,
                       size_t count, struct session_error *error)
{
    struct scan_contexts contexts;
    if (count == 0)
        return true;
    if (!scan_contexts_open(session, &contexts, sizeof(struct freed) + count * sizeof(uint64_t),
                            CONTEXTS_MOST, error))
        return false;
    for (size_t i = 0; i < contexts.threads; i++) {
        struct freed *freed = contexts.each[i];
        freed->holes = holes;
        freed->count = count;
        freed->ns = ns;
    }
    const bool good = scan_chunks(session, column_store_chunks(session->columns), find_freed,
                                  contexts.each, contexts.threads, error);
    for (size_t hole = 0; good && hole < count; hole++) {
        uint64_t last = 0;
        for (size_t i = 0; i < contexts.threads; i++) {
            const struct freed *freed = contexts.each[i];
            last = freed->last[hole] > last ? freed->last[hole] : last;
        }
        holes[hole].since_ns = last - 1; /* 0 becomes SESSION_NEVER */
    }
    scan_contexts_close(&contexts);
    return good;
}

static int by_size(const void *left, const void *right)
{
    const struct session_hole *a = left, *b = right;
    const uint64_t bytes_a = a->end - a->start, bytes_b = b->end - b->start;
    return ORDER(bytes_b, bytes_a) ?: ORDER(a->start, b->start);
}

bool session_holes(struct session *session, uint64_t ns, uint64_t from, uint64_t to, uint64_t least,
                   bool since, struct session_hole **holes, size_t *count,
                   struct session_error *error)
{
    const struct live_list *list = live_list_at(session, ns, error);
    *holes = NULL;
    *count = 0;
    if (!list || !gather_holes(list, from, to, least, holes, count, error))
        return false;
    if (since && !find_since(session, ns, *holes, *count, error)) {
        free(*holes);
        *holes = NULL;
        *count = 0;
        return false;
    }
    if (*count > 0)
        qsort(*holes, *count, sizeof(**holes), by_size);
    return true;
}
