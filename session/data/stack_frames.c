/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/data/stack_frames.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "schemas/array.h"
#include "session/data/page_file.h"

/* Pages that are read at once. Ingest writes the leaves in their order. */
enum { RUN_PAGES = 64 };

bool stack_frames_begin(struct stack_frames *all, uint32_t frame_count)
{
    *all = (struct stack_frames){.frame_count = frame_count};
    if (!array_grow(&all->nodes, &all->capacity, 1, sizeof(*all->nodes)))
        return false;
    all->nodes[all->count++] = (struct stack_frames_node){0};
    return true;
}

bool stack_frames_add(struct stack_frames *all, int64_t id, int64_t parent, int64_t frame)
{
    if (all->count == 1)
        all->first_id = id;
    if (id < 1 || id > UINT32_MAX || id != all->first_id + all->count - 1 ||
        (parent != 0 && (parent <= id || parent > UINT32_MAX)) || all->count == UINT32_MAX)
        return false;
    if (all->count == all->capacity &&
        !array_grow(&all->nodes, &all->capacity, all->capacity + 1, sizeof(*all->nodes)))
        return false;
    struct stack_frames_node *node = &all->nodes[all->count++];
    node->parent = parent == 0 ? 0 : (uint32_t)(parent - all->first_id) + 1;
    node->frame = frame > 0 && frame < all->frame_count ? (uint32_t)frame : 0;
    return true;
}

/* Sets the depth and the top of each node. Returns false if one is not inwards of the node that
 * follows it, as far as it has a parent. */
static bool walk_down(struct stack_frames *all)
{
    struct stack_frames_node *nodes = all->nodes;
    for (uint32_t i = all->count, open = 0; i-- > 1; open = i) {
        struct stack_frames_node *node = &nodes[i];
        node->top = open != 0 && node->parent == open ? nodes[open].top : i;
        while (open != node->parent && open != 0)
            open = nodes[open].parent;
        if (open != node->parent)
            return false;
        node->depth = nodes[open].depth + 1;
    }
    return true;
}

/* Nodes that are neighbours are gone through in one step; a stack should have few rows of them. */
enum { ROWS_MAX = 255 };

/* Returns false if a stack leaves the row of neighbours very often. Their parents are higher. */
static bool has_long_rows(struct stack_frames *all)
{
    bool long_rows = true;
    for (uint32_t i = all->count; long_rows && i-- > 1;) {
        struct stack_frames_node *node = &all->nodes[i];
        node->top = node->parent == 0 ? 1 : all->nodes[node->parent].top + (node->parent != i + 1);
        long_rows = node->top <= ROWS_MAX;
    }
    return long_rows;
}

/* Stores the new numbers of the nodes by the old ones: from the highest down, a node and then those
 * inwards of it. `next` has the next child of the same parent, `first` the first one. */
static void order_nodes(struct stack_frames *all, const uint32_t *first, const uint32_t *next)
{
    uint32_t number = all->count, at = first[0];
    while (at != 0) {
        all->of_id[at] = --number;
        if (first[at] != 0) {
            at = first[at];
            continue;
        }
        while (at != 0 && next[at] == 0)
            at = all->nodes[at].parent;
        at = next[at];
    }
}

/* Links the children of each node. The one with the most nodes inwards of it comes first, so it
 * gets the number before its parent's, and from there a stack leaves the row of neighbours at most
 * as often as its number of nodes can be halved. `size` is zero, by node. */
static void link_children(const struct stack_frames *all, uint32_t *first, uint32_t *next,
                          uint32_t *size)
{
    for (uint32_t i = 1; i < all->count; i++) {
        const uint32_t parent = all->nodes[i].parent, largest = first[parent];
        size[i]++;
        size[parent] += size[i];
        if (largest == 0 || size[i] >= size[largest]) {
            next[i] = largest;
            first[parent] = i;
        } else {
            next[i] = next[largest];
            next[largest] = i;
        }
    }
}

/* Numbers the nodes again. A session that is still written has them in parts. */
static bool put_in_order(struct stack_frames *all)
{
    struct stack_frames_node *nodes = calloc(all->count, sizeof(*nodes));
    uint32_t *first = calloc(all->count, sizeof(*first));
    uint32_t *next = calloc(all->count, sizeof(*next));
    uint32_t *size = calloc(all->count, sizeof(*size));
    all->of_id = calloc(all->count, sizeof(*all->of_id));
    const bool good = nodes && first && next && size && all->of_id;
    if (good)
        link_children(all, first, next, size);
    free(size);
    if (good)
        order_nodes(all, first, next);
    for (uint32_t i = 1; good && i < all->count; i++)
        nodes[all->of_id[i]] = (struct stack_frames_node){
            .parent = all->of_id[all->nodes[i].parent], .frame = all->nodes[i].frame};
    free(first);
    free(next);
    free(good ? all->nodes : nodes);
    if (good)
        all->nodes = nodes;
    return good;
}

bool stack_frames_end(struct stack_frames *all)
{
    for (uint32_t i = 1; i < all->count; i++)
        if (all->nodes[i].parent >= all->count)
            return false;
    if (has_long_rows(all) && walk_down(all))
        return true;
    return put_in_order(all) && walk_down(all);
}

void stack_frames_free(struct stack_frames *all)
{
    free(all->nodes);
    free(all->of_id);
    *all = (struct stack_frames){.nodes = NULL};
}

/* ---- from the file ---- */

/* A walk through the table in the order of its ids. */
struct walk {
    struct page_file file;
    struct stack_frames *all;
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

/* The header of a record: its own length, no bytes for the id, two numbers. */
enum { HEADER = 4, MOST = HEADER + 2 * 8 + 8 };

/* Adds the row of a cell, whose record is too short for overflow pages. */
static inline bool add_row(const struct walk *walk, const uint8_t *at, const uint8_t *end)
{
    uint64_t length, id;
    if (!(at = page_varint(at, end, &length)) || !(at = page_varint(at, end, &id)) ||
        length > (size_t)(end - at) || length < HEADER || at[0] != HEADER || at[1] != 0 ||
        at[2] > 9 || at[3] > 9)
        return false;
    const int parent = page_number_size(at[2]), frame = page_number_size(at[3]);
    const uint8_t *value = at + HEADER;
    if (parent < 0 || frame < 0 || length != (uint64_t)HEADER + (uint64_t)parent + (uint64_t)frame)
        return false;
    if (end - at >= MOST)
        return stack_frames_add(walk->all, (int64_t)id, fast_number(value, at[2], parent),
                                fast_number(value + parent, at[3], frame));
    return stack_frames_add(walk->all, (int64_t)id, page_number(value, at[2], parent),
                            page_number(value + parent, at[3], frame));
}

static bool read_leaf(struct walk *walk, const uint8_t *page)
{
    const uint32_t cells = page_get16(page + PAGE_CELLS);
    const uint8_t *end = page + walk->file.usable;
    for (uint32_t i = 0; i < cells; i++) {
        const uint8_t *cell = page_cell(&walk->file, page, PAGE_LEAF_HEADER, i);
        if (!cell || !add_row(walk, cell, end))
            return false;
    }
    return true;
}

static bool read_tree(struct walk *walk, uint32_t number, int level);

/* Reads the subtree of each cell. */
static bool read_interior(struct walk *walk, const uint8_t *page, int level)
{
    const uint32_t cells = page_get16(page + PAGE_CELLS);
    for (uint32_t i = 0; i < cells; i++) {
        const uint8_t *cell = page_cell(&walk->file, page, PAGE_INTERIOR_HEADER, i);
        if (!cell || cell + 4 > page + walk->file.usable ||
            !read_tree(walk, page_get32(cell), level + 1))
            return false;
    }
    return read_tree(walk, page_get32(page + PAGE_RIGHT_CHILD), level + 1);
}

static bool read_tree(struct walk *walk, uint32_t number, int level)
{
    const uint8_t *page = get_page(walk, number);
    if (!page || level == PAGE_LEVELS_MAX)
        return false;
    if (page[0] == PAGE_TABLE_LEAF)
        return read_leaf(walk, page);
    if (page[0] != PAGE_TABLE_INTERIOR)
        return false;
    /* Reading the children replaces the pages of the run. */
    uint8_t *own = malloc(walk->file.page_size);
    if (own)
        memcpy(own, page, walk->file.page_size);
    const bool good = own && read_interior(walk, own, level);
    free(own);
    return good;
}

bool stack_frames_read(struct stack_frames *all, const char *path, uint32_t root,
                       bool (*stop)(const void *context), const void *context)
{
    struct walk walk = {.all = all, .stop = stop, .context = context};
    if (!page_file_open(&walk.file, path))
        return false;
    walk.run = malloc((size_t)RUN_PAGES * walk.file.page_size);
    const bool good = walk.run && root >= 2 && read_tree(&walk, root, 0);
    free(walk.run);
    page_file_close(&walk.file);
    return good;
}
