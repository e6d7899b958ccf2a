/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/data/stack_frames.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "schemas/array.h"
#include "session/data/page_file.h"

/* Pages that are read at once. Ingest writes the leaves in their order. */
enum { RUN_PAGES = 64 };

bool stack_frames_begin(struct stack_frames *all, uint32_t stacks, uint32_t frame_count)
{
    *all = (struct stack_frames){.stacks = stacks, .frame_count = frame_count};
    all->first = calloc((size_t)stacks + 1, sizeof(*all->first));
    return all->first != NULL;
}

/* Begins a piece without frames. */
static bool begin_piece(struct stack_frames *all)
{
    if (all->piece_count > UINT32_MAX / 2 ||
        !array_grow(&all->pieces, &all->piece_capacity, all->piece_count + 1,
                    sizeof(*all->pieces)) ||
        !array_grow(&all->lengths, &all->length_capacity, all->piece_count + 1,
                    sizeof(*all->lengths)))
        return false;
    memset(all->pieces[all->piece_count], 0, sizeof(*all->pieces));
    all->lengths[all->piece_count++] = 0;
    return true;
}

static uint32_t known_frame(const struct stack_frames *all, int64_t frame)
{
    return frame > 0 && frame < all->frame_count ? (uint32_t)frame : 0;
}

bool stack_frames_add(struct stack_frames *all, int64_t piece, int64_t position, int64_t frame)
{
    if (position == 0) {
        if (piece != (int64_t)all->piece_count + 1 || !begin_piece(all))
            return false;
        all->stored = all->piece_count;
    }
    if (piece == 0 || piece != (int64_t)all->piece_count)
        return false;
    uint32_t *frames = all->pieces[piece - 1];
    const uint8_t length = all->lengths[piece - 1];
    if (position != length || position == SESSION_PIECE_FRAMES)
        return false;
    memmove(frames + SESSION_PIECE_FRAMES - 1 - length, frames + SESSION_PIECE_FRAMES - length,
            length * sizeof(*frames));
    frames[SESSION_PIECE_FRAMES - 1] = known_frame(all, frame);
    all->lengths[piece - 1]++;
    return true;
}

static bool add_place(struct stack_frames *all, size_t piece)
{
    if (all->count == UINT32_MAX ||
        !array_grow(&all->places, &all->capacity, all->count + 1, sizeof(*all->places)))
        return false;
    all->places[all->count++] = (uint32_t)piece;
    return true;
}

static bool add_loose(struct stack_frames *all, uint32_t frame)
{
    if (!array_grow(&all->loose, &all->loose_capacity, all->loose_count + 1, sizeof(*all->loose)))
        return false;
    all->loose[all->loose_count++] = frame;
    return true;
}

static bool add_loose_piece(struct stack_frames *all, size_t piece)
{
    bool good = true;
    for (unsigned i = SESSION_PIECE_FRAMES - all->lengths[piece]; good && i < SESSION_PIECE_FRAMES;
         i++)
        good = add_loose(all, all->pieces[piece][i]);
    return good;
}

/* Takes the pieces of the present stack apart. */
static bool loosen(struct stack_frames *all)
{
    const size_t first = all->first[all->next - 1];
    bool good = true;
    for (size_t place = first; good && place < all->count; place++)
        good = add_loose_piece(all, all->places[place]);
    all->count = first;
    return good;
}

/* Cuts the loose frames of the present stack, from the outermost on. */
static bool cut_loose(struct stack_frames *all)
{
    size_t length = all->loose_count % SESSION_PIECE_FRAMES; /* of the innermost piece */
    if (length == 0)
        length = SESSION_PIECE_FRAMES;
    for (size_t i = 0; i < all->loose_count; i += length, length = SESSION_PIECE_FRAMES) {
        if (!begin_piece(all) || !add_place(all, all->piece_count - 1))
            return false;
        memcpy(all->pieces[all->piece_count - 1] + SESSION_PIECE_FRAMES - length, all->loose + i,
               length * sizeof(*all->loose));
        all->lengths[all->piece_count - 1] = (uint8_t)length;
    }
    all->loose_count = 0;
    return true;
}

/* Goes to a stack. Returns false if it is before the present one, or is there and has not `depth`
 * frames yet. */
static bool go_to_stack(struct stack_frames *all, int64_t stack, int64_t depth)
{
    if (all->next > 0 && stack == (int64_t)all->next - 1)
        return (uint64_t)depth == all->depth;
    if (stack < (int64_t)all->next || stack >= all->stacks || depth != 0 || !cut_loose(all))
        return false;
    while (all->next <= (uint32_t)stack)
        all->first[all->next++] = (uint32_t)all->count;
    all->depth = 0;
    return true;
}

bool stack_frames_add_piece(struct stack_frames *all, int64_t stack, int64_t depth, int64_t piece)
{
    if (!go_to_stack(all, stack, depth) || piece < 1 || (uint64_t)piece > all->stored)
        return false;
    const uint8_t length = all->lengths[piece - 1];
    const bool fits = depth == 0 || length == SESSION_PIECE_FRAMES;
    all->depth += length;
    if (fits && all->loose_count == 0)
        return add_place(all, (size_t)piece - 1);
    return (all->loose_count > 0 || loosen(all)) && add_loose_piece(all, (size_t)piece - 1);
}

bool stack_frames_add_frame(struct stack_frames *all, int64_t stack, int64_t depth, int64_t frame)
{
    if (!go_to_stack(all, stack, depth))
        return false;
    all->depth++;
    return add_loose(all, known_frame(all, frame));
}

bool stack_frames_end(struct stack_frames *all)
{
    if (!cut_loose(all))
        return false;
    while (all->next <= all->stacks) {
        all->first[all->next] = (uint32_t)all->count;
        if (all->next++ == UINT32_MAX)
            break;
    }
    free(all->loose);
    all->loose = NULL;
    return true;
}

void stack_frames_free(struct stack_frames *all)
{
    free(all->pieces);
    free(all->lengths);
    free(all->places);
    free(all->first);
    free(all->loose);
    *all = (struct stack_frames){.first = NULL};
}

/* ---- from the file ---- */

/* Adds a row of the table that is read. */
typedef bool add_function(struct stack_frames *all, int64_t first, int64_t second, int64_t third);

/* A walk through a tree in the order of its keys. */
struct walk {
    struct page_file file;
    struct stack_frames *all;
    add_function *add;
    uint8_t *run; /* pages from `run_first` on */
    uint32_t run_first, run_pages;
    uint32_t visited;
    bool (*stop)(const void *context);
    const void *context;
};

/* Returns a page, NULL if it is not in the file. It is valid until the next call. */
static const uint8_t *get_page(struct walk *walk, uint32_t number)
{
    if (number == 0 || number > walk->file.pages || ++walk->visited > walk->file.pages)
        return NULL;
    if (number < walk->run_first || number >= walk->run_first + walk->run_pages) {
        if (walk->stop(walk->context))
            return NULL;
        const uint32_t rest = walk->file.pages - number + 1;
        walk->run_first = number;
        walk->run_pages = rest < RUN_PAGES ? rest : RUN_PAGES;
        if (!page_file_read(&walk->file, number, walk->run_pages, walk->run)) {
            walk->run_pages = 0;
            return NULL;
        }
    }
    return walk->run + (size_t)(number - walk->run_first) * walk->file.page_size;
}

/* Bytes of the longest key: its length, its header, three numbers; and room to read eight bytes at
 * the last one. */
enum { KEY_HEADER = 4, KEY_MOST = 1 + KEY_HEADER + 3 * 8 + 8 };

static inline uint64_t load(const uint8_t *at)
{
    uint64_t bytes;
    memcpy(&bytes, at, sizeof(bytes));
    return bytes;
}

/* Reads a number of `size` bytes by a load of eight. A record holds 0 and 1 without bytes. */
static inline int64_t fast_number(const uint8_t *at, unsigned type, int size)
{
    return size == 0 ? type == 9 : (int64_t)be64toh(load(at)) >> (64 - 8 * size);
}

/* Does the same as add_key() for a key that is not near the end of its page, and whose lengths take
 * one byte each: nearly all. Stores in `*good` if it was added. */
static inline bool add_fast(const struct walk *walk, const uint8_t *at, bool *good)
{
    const unsigned a = at[2], b = at[3], c = at[4];
    if (at[1] != KEY_HEADER || a > 9 || b > 9 || c > 9)
        return false;
    const int first = page_number_size(a), second = page_number_size(b);
    const int third = page_number_size(c);
    if (first < 0 || second < 0 || third < 0 || at[0] != KEY_HEADER + first + second + third)
        return false;
    const uint8_t *value = at + 1 + KEY_HEADER;
    *good =
        walk->add(walk->all, fast_number(value, a, first), fast_number(value + first, b, second),
                  fast_number(value + first + second, c, third));
    return true;
}

/* Adds the row of a key: a record of three numbers, which is too short for overflow pages. */
static inline bool add_key(const struct walk *walk, const uint8_t *at, const uint8_t *page_end)
{
    uint64_t length, header, type;
    bool good;
    if (page_end - at >= KEY_MOST && add_fast(walk, at, &good))
        return good;
    int64_t numbers[3];
    if (!(at = page_varint(at, page_end, &length)) || length > (size_t)(page_end - at) ||
        length > 32)
        return false;
    const uint8_t *end = at + length, *types = page_varint(at, end, &header);
    if (!types || header > length)
        return false;
    const uint8_t *value = at + header;
    for (int i = 0; i < 3; i++) {
        types = types ? page_varint(types, end, &type) : NULL;
        const int size = types ? page_number_size(type) : -1;
        if (size < 0 || size > end - value)
            return false;
        numbers[i] = page_number(value, type, size);
        value += size;
    }
    return walk->add(walk->all, numbers[0], numbers[1], numbers[2]);
}

static bool read_leaf(struct walk *walk, const uint8_t *page)
{
    const uint32_t cells = page_get16(page + PAGE_CELLS);
    const uint8_t *end = page + walk->file.usable;
    for (uint32_t i = 0; i < cells; i++) {
        const uint8_t *cell = page_cell(&walk->file, page, PAGE_LEAF_HEADER, i);
        if (!cell || !add_key(walk, cell, end))
            return false;
    }
    return true;
}

static bool read_tree(struct walk *walk, uint32_t number, int level);

/* Reads the subtree of each cell, and the cell's own key after it. */
static bool read_interior(struct walk *walk, const uint8_t *page, int level)
{
    const uint32_t cells = page_get16(page + PAGE_CELLS);
    for (uint32_t i = 0; i < cells; i++) {
        const uint8_t *cell = page_cell(&walk->file, page, PAGE_INTERIOR_HEADER, i);
        if (!cell || cell + 4 >= page + walk->file.usable ||
            !read_tree(walk, page_get32(cell), level + 1) ||
            !add_key(walk, cell + 4, page + walk->file.usable))
            return false;
    }
    return read_tree(walk, page_get32(page + PAGE_RIGHT_CHILD), level + 1);
}

static bool read_tree(struct walk *walk, uint32_t number, int level)
{
    const uint8_t *page = get_page(walk, number);
    if (!page || level == PAGE_LEVELS_MAX)
        return false;
    if (page[0] == PAGE_KEY_LEAF)
        return read_leaf(walk, page);
    if (page[0] != PAGE_KEY_INTERIOR)
        return false;
    /* Reading the children replaces the pages of the run. */
    uint8_t *own = malloc(walk->file.page_size);
    if (own)
        memcpy(own, page, walk->file.page_size);
    const bool good = own && read_interior(walk, own, level);
    free(own);
    return good;
}

static bool read_table(struct walk *walk, uint32_t root, add_function *add)
{
    walk->add = add;
    walk->visited = 0;
    return root >= 2 && read_tree(walk, root, 0);
}

bool stack_frames_read(struct stack_frames *all, const char *path, struct stack_frames_roots roots,
                       bool (*stop)(const void *context), const void *context)
{
    struct walk walk = {.all = all, .stop = stop, .context = context};
    if (!page_file_open(&walk.file, path))
        return false;
    walk.run = malloc((size_t)RUN_PAGES * walk.file.page_size);
    const bool good = walk.run && read_table(&walk, roots.piece_frame, stack_frames_add) &&
                      read_table(&walk, roots.stack_piece, stack_frames_add_piece);
    free(walk.run);
    page_file_close(&walk.file);
    return good;
}
