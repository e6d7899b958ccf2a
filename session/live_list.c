#include "session/live_list.h"

#include <stdlib.h>

#include "session/error.h"
#include "session/filter_program.h"
#include "session/model.h"
#include "session/sort_order.h"

struct gathering {
    struct session *session;
    struct filter_program live;
    struct live_block *blocks;
    size_t count, capacity;
};

static bool gather_chunk(struct gathering *gathering, uint32_t chunk, struct session_error *error)
{
    uint64_t words[ROW_SET_WORDS];
    struct column_view address;
    struct column_view size;
    struct column_store *columns = gathering->session->columns;
    if (column_store_min(columns, chunk, COLUMN_ALLOC_NS) > gathering->live.low)
        return true;
    if (!filter_program_run(gathering->session, &gathering->live, chunk, NULL, words, error) ||
        !column_store_get(columns, chunk, COLUMN_ADDRESS, &address, error) ||
        !column_store_get(columns, chunk, COLUMN_SIZE, &size, error))
        return false;
    if (gathering->capacity - gathering->count < COLUMN_CHUNK_ROWS) {
        size_t capacity = gathering->capacity * 2 + COLUMN_CHUNK_ROWS;
        struct live_block *blocks = realloc(gathering->blocks, capacity * sizeof *blocks);
        if (blocks == NULL)
            return session_fail_memory(error, "what is live");
        gathering->blocks = blocks;
        gathering->capacity = capacity;
    }
    uint64_t first_id = (uint64_t)chunk * COLUMN_CHUNK_ROWS + 1;
    ROW_SET_EACH(words, row)
    {
        struct live_block *block = &gathering->blocks[gathering->count++];
        block->start = column_view_at(&address, row);
        block->size = column_view_at(&size, row);
        uint64_t held = block->size > 0 ? block->size : 1;
        block->end = held > UINT64_MAX - block->start ? UINT64_MAX : block->start + held;
        block->id = first_id + row;
    }
    return true;
}

/* Sorts by address through small entries, then puts the blocks into that order. */
static bool sort_blocks(struct gathering *gathering, struct live_list *list)
{
    size_t count = gathering->count;
    struct sort_entry *entries = malloc((count + 1) * sizeof *entries);
    list->blocks = malloc((count + 1) * sizeof *list->blocks);
    bool good = entries != NULL && list->blocks != NULL;
    if (good) {
        for (size_t i = 0; i < count; i++)
            entries[i] = (struct sort_entry){gathering->blocks[i].start, i};
        good = sort_entries(entries, count);
    }
    if (good) {
        uint64_t reach = 0;
        for (size_t i = 0; i < count; i++) {
            list->blocks[i] = gathering->blocks[entries[i].row];
            reach = list->blocks[i].end > reach ? list->blocks[i].end : reach;
            list->blocks[i].reach = reach;
        }
        list->count = count;
    }
    free(entries);
    return good;
}

const struct live_list *live_list_at(struct session *session, uint64_t ns,
                                     struct session_error *error)
{
    if (session->live != NULL && session->live->ns == ns)
        return session->live;
    struct gathering gathering = {
        .session = session, .live = {.kind = PREDICATE_TEST, .leaf = LEAF_LIVE_AT, .low = ns}};
    struct live_list *list = calloc(1, sizeof *list);
    bool good = list != NULL || session_fail_memory(error, "what is live");
    for (uint32_t chunk = 0; good && chunk < column_store_chunks(session->columns); chunk++)
        good = gather_chunk(&gathering, chunk, error);
    if (good && !sort_blocks(&gathering, list))
        good = session_fail_memory(error, "what is live");
    free(gathering.blocks);
    if (!good) {
        live_list_free(list);
        return NULL;
    }
    list->ns = ns;
    live_list_free(session->live);
    session->live = list;
    return list;
}

void live_list_free(struct live_list *list)
{
    if (list != NULL)
        free(list->blocks);
    free(list);
}

size_t live_list_find(const struct live_list *list, uint64_t address)
{
    size_t low = 0;
    size_t high = list->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (list->blocks[middle].reach > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}
