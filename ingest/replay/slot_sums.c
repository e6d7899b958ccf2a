/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/replay/slot_sums.h"

#include <stdlib.h>
#include <string.h>

#include "ingest/base/array.h"
#include "schemas/array.h"

/* ---- a level of slots ------------------------------------------------------------------- */

struct slot_level_part {
    uint32_t number;
    size_t at, length; /* of its bytes */
};

/* Zero-initialized except for `of` and `most`, it is empty. */
struct slot_level {
    enum slot_key of;
    size_t most, useful; /* bytes; with more, the level is given up */
    bool given_up;
    uint8_t *bytes; /* of closed parts */
    size_t size, capacity;
    struct slot_level_part *parts;
    size_t part_count, part_capacity;
    /* The open part. */
    uint32_t part;
    uint32_t lengths[SLOT_PART];
    uint8_t *cells;
    size_t cells_size, cells_capacity;
    uint64_t next_key;
};

/* An allocation of a closed slot that has got another key. */
struct slot_change {
    uint64_t slot, size;
    uint32_t key, new_key;
};

static void slot_level_free(struct slot_level *level)
{
    FREE_ALL(level->bytes, level->parts, level->cells);
    *level = (struct slot_level){.of = level->of, .most = level->most, .useful = level->useful};
}

/* Leaves the level out and frees its memory. */
static void slot_level_give_up(struct slot_level *level)
{
    slot_level_free(level);
    level->given_up = true;
}

/* Closes the open part, after the last slot. False if memory is exhausted. */
static bool slot_level_close(struct slot_level *level)
{
    if (level->cells_size == 0)
        return true;
    const size_t longest = (size_t)SLOT_PART * SLOT_NUMBER_MOST + level->cells_size;
    if (level->size + longest > level->most) {
        slot_level_give_up(level);
        return true;
    }
    if (!array_reserve(&level->bytes, &level->capacity, level->size + longest, 1) ||
        !ARRAY_RESERVE(level->parts, level->part_count, level->part_capacity))
        return false;
    uint8_t *begin = level->bytes + level->size, *at = begin;
    for (unsigned i = 0; i < SLOT_PART; i++)
        at = slot_put_number(at, level->lengths[i]);
    memcpy(at, level->cells, level->cells_size);
    at += level->cells_size;
    level->parts[level->part_count++] =
        (struct slot_level_part){level->part, level->size, (size_t)(at - begin)};
    level->size += (size_t)(at - begin);
    level->cells_size = 0;
    memset(level->lengths, 0, sizeof(level->lengths));
    if (level->size > level->useful)
        slot_level_give_up(level);
    return true;
}

/* Adds a cell. Slots, and the keys of a slot, ascend. False if memory is exhausted. */
static bool slot_level_put(struct slot_level *level, uint64_t slot, const struct slot_cell *cell)
{
    if (level->given_up)
        return true;
    if (level->part != slot / SLOT_PART) {
        if (!slot_level_close(level))
            return false;
        level->part = (uint32_t)(slot / SLOT_PART);
    }
    if (level->given_up || !array_reserve(&level->cells, &level->cells_capacity,
                                          level->cells_size + SLOT_CELL_MOST, 1))
        return level->given_up;
    uint32_t *length = &level->lengths[slot % SLOT_PART];
    if (*length == 0)
        level->next_key = 0;
    uint8_t *begin = level->cells + level->cells_size;
    size_t bytes = (size_t)(slot_put_cell(begin, level->of, cell, &level->next_key) - begin);
    *length += (uint32_t)bytes;
    level->cells_size += bytes;
    return true;
}

/* ---- changes ---------------------------------------------------------------------------- */

struct cells {
    struct slot_cell *rows;
    size_t count, capacity;
};

static struct slot_cell *cell_of(struct cells *cells, uint32_t key)
{
    for (size_t i = 0; i < cells->count; i++)
        if (cells->rows[i].key == key)
            return &cells->rows[i];
    if (!ARRAY_RESERVE(cells->rows, cells->count, cells->capacity))
        return NULL;
    cells->rows[cells->count] = (struct slot_cell){.key = key};
    return &cells->rows[cells->count++];
}

static bool change_cells(struct cells *cells, const struct slot_change *change)
{
    struct slot_cell *cell = cell_of(cells, change->key);
    if (!cell)
        return false;
    cell->allocated_count--;
    cell->allocated_bytes -= change->size;
    cell = cell_of(cells, change->new_key);
    if (!cell)
        return false;
    cell->allocated_count++;
    cell->allocated_bytes += change->size;
    return true;
}

ARRAY_ORDER(compare_keys, struct slot_cell, ORDER(a->key, b->key))

static bool read_cells(struct cells *cells, enum slot_key of, struct slot_bytes bytes)
{
    struct slot_cell cell;
    uint64_t next_key = 0;
    cells->count = 0;
    while (slot_get_cell(&bytes, of, &cell, &next_key)) {
        if (!ARRAY_RESERVE(cells->rows, cells->count, cells->capacity))
            return false;
        cells->rows[cells->count++] = cell;
    }
    return true;
}

/* Copies a part into `to`. *changes are those not before it; those of the part are applied. */
static bool copy_part(struct slot_level *to, struct cells *cells, const struct slot_level *from,
                      const struct slot_level_part *part, const struct slot_change **changes,
                      const struct slot_change *end)
{
    struct slot_part slots;
    if (!slot_part_open(&slots, from->bytes + part->at, part->length))
        return false; /* it was made here: never */
    for (unsigned i = 0; i < SLOT_PART; i++) {
        const uint64_t slot = (uint64_t)part->number * SLOT_PART + i;
        if (!read_cells(cells, from->of, slot_part_cells(&slots, i)))
            return false;
        for (; *changes < end && (*changes)->slot == slot; ++*changes)
            if (!change_cells(cells, *changes))
                return false;
        if (cells->count > 1)
            qsort(cells->rows, cells->count, sizeof(*cells->rows), compare_keys);
        for (size_t k = 0; k < cells->count; k++)
            if ((cells->rows[k].allocated_count != 0 || cells->rows[k].freed_count != 0) &&
                !slot_level_put(to, slot, &cells->rows[k]))
                return false;
    }
    return true;
}

/* Applies changes, sorted by slot, to a closed level. False if memory is exhausted. */
static bool slot_level_change(struct slot_level *level, const struct slot_change *changes,
                              size_t count)
{
    struct slot_level changed = {.of = level->of, .most = level->most, .useful = level->useful};
    struct cells cells = {0};
    const struct slot_change *end = changes + count;
    bool good = true;
    for (size_t i = 0; good && i < level->part_count; i++)
        good = copy_part(&changed, &cells, level, &level->parts[i], &changes, end);
    good = good && slot_level_close(&changed);
    free(cells.rows);
    if (!good) {
        slot_level_free(&changed);
        return false;
    }
    slot_level_free(level);
    *level = changed;
    return true;
}

/* The fewest allocations for any sums, and for the finest level. */
enum { FEWEST = SLOT_FEWEST, FEWEST_FOR_FINEST = 16 * SLOT_FINEST };
/* The most late names that are kept; with more, the slots of types are given up. */
enum { CHANGES_MOST = 1 << 20 };
enum { RECENT_TILES = 1024 };

struct sum {
    uint64_t allocated_count, allocated_bytes, freed_count, freed_bytes;
};

/* The open slot of one level, by key. */
struct open_slot {
    struct sum *sums;
    uint64_t *touched; /* a bit for each key */
    size_t capacity, touched_capacity;
};

struct keyed {
    unsigned finest; /* level that events are added to: a finer one was given up */
    struct open_slot open[SLOT_LEVELS];
    struct slot_level coded[SLOT_LEVELS];
};

struct late_change {
    unsigned level;
    struct slot_change change;
};

struct slot_sums {
    unsigned finest;
    uint64_t slot_ns;                  /* of SLOT_FINEST slots */
    uint64_t width_ns, slot, slot_end; /* of the finest level in use */
    struct keyed keys[SLOT_KEYS];
    uint64_t live_bytes;
    uint64_t before[SLOT_LEVELS], peak[SLOT_LEVELS]; /* of the open slots: live bytes */
    struct late_change *changes;
    size_t change_count, change_capacity;
    struct slot_sums_tile *tiles;
    size_t tile_count, tile_capacity;
    struct index_map by_tile;
    uint32_t recent[RECENT_TILES]; /* ids by the low bits of a tile's number, 0: none */
};

/* Returns how many bytes of a level are less work to read than the rows. */
static size_t useful_bytes(unsigned level, uint64_t allocations)
{
    return (size_t)(level == 0 ? allocations : allocations / 2);
}

struct slot_sums *slot_sums_new(uint64_t duration_ns, uint64_t events)
{
    struct slot_sums *sums = calloc(1, sizeof(*sums));
    if (!sums)
        return NULL;
    /* Clearly more than slot_sums_finish() lets pass. */
    const uint64_t most = 2 * events < SLOT_SUMS_MOST ? 2 * events : SLOT_SUMS_MOST;
    sums->finest = events >= FEWEST_FOR_FINEST ? 2 : 1;
    sums->slot_ns = slot_length_ns(duration_ns);
    sums->width_ns = sums->slot_end =
        sums->slot_ns * (SLOT_FINEST / slot_level_slots(sums->finest));
    for (unsigned key = 0; key < SLOT_KEYS; key++) {
        struct keyed *keyed = &sums->keys[key];
        keyed->finest = key == SLOT_KEY_TILE ? 1 : sums->finest;
        for (unsigned level = 0; level < SLOT_LEVELS; level++) {
            keyed->coded[level].of = (enum slot_key)key;
            keyed->coded[level].most = (size_t)most;
            keyed->coded[level].useful = useful_bytes(level, events);
        }
    }
    return sums;
}

void slot_sums_delete(struct slot_sums *sums)
{
    if (!sums)
        return;
    for (unsigned key = 0; key < SLOT_KEYS; key++)
        for (unsigned level = 0; level < SLOT_LEVELS; level++) {
            FREE_ALL(sums->keys[key].open[level].sums, sums->keys[key].open[level].touched);
            slot_level_free(&sums->keys[key].coded[level]);
        }
    FREE_ALL(sums->changes, sums->tiles);
    index_map_free(&sums->by_tile);
    free(sums);
}

static inline struct sum *sum_of(struct open_slot *open, size_t key)
{
    if (key >= open->capacity && (!ARRAY_RESERVE(open->sums, key, open->capacity) ||
                                  !array_reserve(&open->touched, &open->touched_capacity,
                                                 open->capacity / 64 + 1, sizeof(*open->touched))))
        return NULL;
    open->touched[key / 64] |= UINT64_C(1) << (key % 64);
    return &open->sums[key];
}

/* ---- closing slots ---------------------------------------------------------------------- */

/* Codes one key of an open slot, adds it to the slot of the level above, and empties it. */
static bool close_key(struct slot_sums *sums, struct keyed *keyed, unsigned level, uint64_t slot,
                      size_t key)
{
    struct sum *sum = &keyed->open[level].sums[key];
    const struct slot_cell cell = {
        .key = key,
        .allocated_count = sum->allocated_count,
        .allocated_bytes = sum->allocated_bytes,
        .freed_count = sum->freed_count,
        .freed_bytes = sum->freed_bytes,
        .rise = sums->peak[level] - sums->before[level],
    };
    *sum = (struct sum){0};
    if (cell.allocated_count == 0 && cell.freed_count == 0)
        return true;
    if (level > 0) {
        struct sum *above = sum_of(&keyed->open[level - 1], key);
        if (!above)
            return false;
        above->allocated_count += cell.allocated_count;
        above->allocated_bytes += cell.allocated_bytes;
        above->freed_count += cell.freed_count;
        above->freed_bytes += cell.freed_bytes;
    }
    return slot_level_put(&keyed->coded[level], slot, &cell);
}

static bool close_slot(struct slot_sums *sums, unsigned level, uint64_t slot)
{
    for (unsigned key = 0; key < SLOT_KEYS; key++) {
        struct keyed *keyed = &sums->keys[key];
        struct open_slot *open = &keyed->open[level];
        for (size_t word = 0; word < open->touched_capacity; word++) {
            for (uint64_t bits = open->touched[word]; bits != 0; bits &= bits - 1)
                if (!close_key(sums, keyed, level, slot, word * 64 + (size_t)__builtin_ctzll(bits)))
                    return false;
            open->touched[word] = 0;
        }
        if (level > 0 && level == keyed->finest && keyed->coded[level].given_up) {
            keyed->finest--;
            FREE_ALL(open->sums, open->touched);
            *open = (struct open_slot){0};
        }
    }
    if (level > 0 && sums->peak[level] > sums->peak[level - 1])
        sums->peak[level - 1] = sums->peak[level];
    sums->before[level] = sums->peak[level] = sums->live_bytes;
    return true;
}

/* Closes the slots that end at or before `ns`, coarser ones with the last finer one in them. */
static bool close_until(struct slot_sums *sums, uint64_t ns)
{
    const uint64_t next = ns / sums->width_ns;
    uint64_t old_slot = sums->slot, new_slot = next;
    for (unsigned level = sums->finest;; level--) {
        if (old_slot == new_slot)
            break;
        if (!close_slot(sums, level, old_slot))
            return false;
        if (level == 0)
            break;
        old_slot /= SLOT_LEVEL_RATIO;
        new_slot /= SLOT_LEVEL_RATIO;
    }
    sums->slot = next;
    sums->slot_end = (next + 1) * sums->width_ns;
    return true;
}

/* ---- events ----------------------------------------------------------------------------- */

/* Returns the tile's id, 0 if memory is exhausted. */
static uint32_t find_tile(struct slot_sums *sums, uint64_t number)
{
    uint32_t *recent = &sums->recent[number % RECENT_TILES];
    if (*recent != 0 && sums->tiles[*recent - 1].number == number)
        return *recent;
    const uint64_t hash = hash_combine(hash_seed(), number);
    INDEX_MAP_EACH(&sums->by_tile, hash, index)
        if (sums->tiles[index].number == number)
            return *recent = index + 1;
    if (sums->tile_count >= INDEX_NONE - 1 ||
        !ARRAY_RESERVE(sums->tiles, sums->tile_count, sums->tile_capacity) ||
        !index_map_insert(&sums->by_tile, hash, (uint32_t)sums->tile_count))
        return 0;
    sums->tiles[sums->tile_count] = (struct slot_sums_tile){.number = number};
    return *recent = (uint32_t)++sums->tile_count;
}

/* Finds the sums that an event changes, after it has closed the slots before it. */
static inline bool find_sums(struct slot_sums *sums, const struct slot_event *event,
                             struct sum *found[SLOT_KEYS])
{
    if (event->ns >= sums->slot_end && !close_until(sums, event->ns))
        return false;
    const uint32_t tile = find_tile(sums, event->address >> SLOT_TILE_SHIFT);
    if (tile == 0)
        return false;
    const size_t keys[SLOT_KEYS] = {0, event->function, event->type, slot_size_class(event->size),
                                    tile};
    for (unsigned key = 0; key < SLOT_KEYS; key++) {
        found[key] = sum_of(&sums->keys[key].open[sums->keys[key].finest], keys[key]);
        if (!found[key])
            return false;
    }
    if (event->size > sums->tiles[tile - 1].largest)
        sums->tiles[tile - 1].largest = event->size;
    return true;
}

bool slot_sums_allocate(struct slot_sums *sums, const struct slot_event *event)
{
    struct sum *found[SLOT_KEYS];
    if (!find_sums(sums, event, found))
        return false;
    for (unsigned key = 0; key < SLOT_KEYS; key++) {
        found[key]->allocated_count++;
        found[key]->allocated_bytes += event->size;
    }
    sums->live_bytes = event->live_bytes;
    if (event->live_bytes > sums->peak[sums->finest])
        sums->peak[sums->finest] = event->live_bytes;
    return true;
}

bool slot_sums_free(struct slot_sums *sums, const struct slot_event *event)
{
    struct sum *found[SLOT_KEYS];
    if (!find_sums(sums, event, found))
        return false;
    for (unsigned key = 0; key < SLOT_KEYS; key++) {
        found[key]->freed_count++;
        found[key]->freed_bytes += event->size;
    }
    sums->live_bytes = event->live_bytes;
    return true;
}

/* ---- late names ------------------------------------------------------------------------- */

static bool move_open(struct open_slot *open, uint32_t type, uint32_t new_type, uint64_t size)
{
    struct sum *sum = sum_of(open, type);
    if (!sum)
        return false;
    sum->allocated_count--;
    sum->allocated_bytes -= size;
    sum = sum_of(open, new_type);
    if (!sum)
        return false;
    sum->allocated_count++;
    sum->allocated_bytes += size;
    return true;
}

static bool note_change(struct slot_sums *sums, unsigned level, const struct slot_change *change)
{
    struct keyed *types = &sums->keys[SLOT_KEY_TYPE];
    if (types->coded[level].given_up)
        return true;
    if (sums->change_count == CHANGES_MOST) {
        for (unsigned i = 0; i < SLOT_LEVELS; i++)
            slot_level_give_up(&types->coded[i]);
        return true;
    }
    if (!ARRAY_RESERVE(sums->changes, sums->change_count, sums->change_capacity))
        return false;
    sums->changes[sums->change_count++] = (struct late_change){level, *change};
    return true;
}

bool slot_sums_rename(struct slot_sums *sums, uint32_t type, uint32_t new_type, uint64_t size,
                      uint64_t alloc_ns)
{
    struct keyed *types = &sums->keys[SLOT_KEY_TYPE];
    uint64_t slot = alloc_ns / sums->width_ns, open = sums->slot;
    for (unsigned level = sums->finest;; level--) {
        /* The coarser levels get it from this one when it is closed. */
        if (slot == open && level <= types->finest)
            return move_open(&types->open[level], type, new_type, size);
        const struct slot_change change = {slot, size, type, new_type};
        if (!note_change(sums, level, &change))
            return false;
        if (level == 0)
            return true;
        slot /= SLOT_LEVEL_RATIO;
        open /= SLOT_LEVEL_RATIO;
    }
}

ARRAY_ORDER(compare_changes, struct late_change,
            ORDER(a->level, b->level) ?: ORDER(a->change.slot, b->change.slot))

static bool apply_changes(struct slot_sums *sums)
{
    struct slot_change *changes = malloc((sums->change_count + 1) * sizeof(*changes));
    bool good = changes != NULL;
    if (good && sums->change_count != 0)
        qsort(sums->changes, sums->change_count, sizeof(*sums->changes), compare_changes);
    for (size_t i = 0; good && i < sums->change_count;) {
        const unsigned level = sums->changes[i].level;
        size_t count = 0;
        for (; i < sums->change_count && sums->changes[i].level == level; i++)
            changes[count++] = sums->changes[i].change;
        struct slot_level *coded = &sums->keys[SLOT_KEY_TYPE].coded[level];
        good = coded->given_up || slot_level_change(coded, changes, count);
    }
    free(changes);
    return good;
}

/* ---- results ---------------------------------------------------------------------------- */

bool slot_sums_finish(struct slot_sums *sums, uint64_t allocations)
{
    uint64_t slot = sums->slot;
    for (unsigned level = sums->finest + 1; level-- > 0; slot /= SLOT_LEVEL_RATIO)
        if (!close_slot(sums, level, slot))
            return false;
    for (unsigned key = 0; key < SLOT_KEYS; key++)
        for (unsigned level = 0; level < SLOT_LEVELS; level++)
            if (!slot_level_close(&sums->keys[key].coded[level]))
                return false;
    if (!apply_changes(sums))
        return false;
    for (unsigned key = 0; key < SLOT_KEYS; key++)
        for (unsigned level = 0; level < SLOT_LEVELS; level++) {
            struct slot_level *coded = &sums->keys[key].coded[level];
            if (allocations < FEWEST || (level == 2 && allocations < FEWEST_FOR_FINEST) ||
                coded->size > useful_bytes(level, allocations))
                slot_level_give_up(coded);
        }
    return true;
}

uint64_t slot_sums_slot_ns(const struct slot_sums *sums)
{
    return sums->slot_ns;
}

bool slot_sums_next(const struct slot_sums *sums, enum slot_key key, size_t *next,
                    struct slot_sums_part *part)
{
    size_t skip = *next;
    for (unsigned level = 0; level < SLOT_LEVELS; level++) {
        const struct slot_level *coded = &sums->keys[key].coded[level];
        if (skip < coded->part_count) {
            const struct slot_level_part *found = &coded->parts[skip];
            *part = (struct slot_sums_part){level, found->number, coded->bytes + found->at,
                                            found->length};
            ++*next;
            return true;
        }
        skip -= coded->part_count;
    }
    return false;
}

size_t slot_sums_tiles(const struct slot_sums *sums, const struct slot_sums_tile **tiles)
{
    const struct slot_level *coded = sums->keys[SLOT_KEY_TILE].coded;
    *tiles = sums->tiles;
    return coded[0].part_count != 0 ? sums->tile_count : 0;
}

const char *slot_sums_key_name(enum slot_key key)
{
    static const char *const names[SLOT_KEYS] = {"all", "function", "type", "size", "tile"};
    return names[key];
}
