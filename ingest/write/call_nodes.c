/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/write/call_nodes.h"

#include <stdlib.h>

#include "ingest/write/btree.h"
#include "ingest/write/record.h"

#include "tree_nodes_sql.h"

/* The columns of call_node: id, parent_id, function_id, then the sums. */
enum { NAMES = 3, COLUMNS = NAMES + 2 * CALL_TREE_SUMS };

/* ---- into pages ---- */

struct paging {
    struct writer_btree table, index;
};

/*
 * A record may end before the last column: the rest has the default value, which is 0
 * (https://sqlite.org/fileformat2.html, "Record Format"). Most nodes are inner ones, whose own sums
 * are 0.
 */
static bool put_row(struct paging *paging, const struct call_tree_row *row)
{
    uint8_t record[1 + COLUMNS + (COLUMNS + 1) * 8], types[COLUMNS], data[(COLUMNS + 1) * 8];
    uint8_t *end = data, *used;
    size_t count = NAMES;
    types[0] = types[1] = SERIAL_NULL; /* the id is the row's own number */
    if (row->parent != 0)
        end = writer_put_number(&types[1], end, row->parent);
    end = used = writer_put_number(&types[2], end, row->function);
    for (size_t i = 0; i < (size_t)2 * CALL_TREE_SUMS; i++) {
        const uint64_t sum = i < CALL_TREE_SUMS ? row->total[i] : row->self[i - CALL_TREE_SUMS];
        end = writer_put_number(&types[NAMES + i], end, (int64_t)sum);
        if (sum != 0) {
            count = NAMES + i + 1;
            used = end;
        }
    }
    record[0] = (uint8_t)(count + 1);
    memcpy(record + 1, types, count);
    memcpy(record + 1 + count, data, (size_t)(used - data));
    return writer_btree_put_row(&paging->table, row->id, record, 1 + count + (size_t)(used - data));
}

static bool put_key(struct paging *paging, const struct call_tree_row *row)
{
    uint8_t record[3 + 3 * 8], *end = record + 3;
    record[0] = 3;
    record[1] = SERIAL_NULL;
    if (row->parent != 0)
        end = writer_put_number(record + 1, end, row->parent);
    end = writer_put_number(record + 2, end, row->id);
    return writer_btree_put_key(&paging->index, record, (size_t)(end - record));
}

static bool put_node(void *context, const struct call_tree_row *row)
{
    return put_row(context, row) && put_key(context, row);
}

bool writer_call_nodes_pages(const struct call_tree *tree, struct writer_pages *pages,
                             uint32_t table_root, uint32_t index_root)
{
    struct paging paging;
    writer_btree_open(&paging.table, pages, table_root, WRITER_BTREE_TABLE);
    writer_btree_open(&paging.index, pages, index_root, WRITER_BTREE_INDEX);
    const bool good = call_tree_each(tree, put_node, &paging) &&
                      writer_btree_finish(&paging.table) && writer_btree_finish(&paging.index);
    writer_btree_close(&paging.table);
    writer_btree_close(&paging.index);
    return good;
}

/* ---- from the tables ---- */

static int read_nodes(sqlite3 *database, struct call_tree *tree, const struct stack_usages *stacks)
{
    struct call_tree_path path = {.count = 0};
    sqlite3_stmt *query = NULL;
    int result = sqlite3_prepare_v2(database, tree_nodes_sql, -1, &query, NULL);
    while (result == SQLITE_OK && (result = sqlite3_step(query)) == SQLITE_ROW) {
        const struct call_tree_step step = {.node = (uint32_t)sqlite3_column_int64(query, 0),
                                            .frame = (uint32_t)sqlite3_column_int64(query, 2),
                                            .function = (uint32_t)sqlite3_column_int64(query, 3)};
        const bool ends = sqlite3_column_type(query, 4) != SQLITE_NULL;
        const struct stack_usage usage =
            stack_usages_of(stacks, ends ? (size_t)sqlite3_column_int64(query, 4) : SIZE_MAX);
        result = call_tree_enter(&path, &step, (uint32_t)sqlite3_column_int64(query, 1)) &&
                         (usage.allocations == 0 ||
                          call_tree_add_path(tree, &path, (uint32_t)sqlite3_column_int64(query, 5),
                                             &usage))
                     ? SQLITE_OK
                     : SQLITE_NOMEM;
    }
    sqlite3_finalize(query);
    free(path.steps);
    return result == SQLITE_DONE ? SQLITE_OK : result;
}

/* Adds the stacks that have no frames. */
static int read_bare_stacks(sqlite3 *database, struct call_tree *tree,
                            const struct stack_usages *stacks)
{
    sqlite3_stmt *query = NULL;
    int result = sqlite3_prepare_v2(
        database, "SELECT id FROM stack WHERE node_id IS NULL ORDER BY id", -1, &query, NULL);
    while (result == SQLITE_OK && (result = sqlite3_step(query)) == SQLITE_ROW) {
        const struct stack_usage usage =
            stack_usages_of(stacks, (size_t)sqlite3_column_int64(query, 0));
        result = call_tree_add_bare(tree, &usage) ? SQLITE_OK : SQLITE_NOMEM;
    }
    sqlite3_finalize(query);
    return result == SQLITE_DONE ? SQLITE_OK : result;
}

struct inserting {
    sqlite3_stmt *insert;
    int result;
};

static bool insert_node(void *context, const struct call_tree_row *row)
{
    struct inserting *inserting = context;
    sqlite3_stmt *insert = inserting->insert;
    sqlite3_bind_int64(insert, 1, row->id);
    if (row->parent != 0)
        sqlite3_bind_int64(insert, 2, row->parent);
    else
        sqlite3_bind_null(insert, 2);
    sqlite3_bind_int64(insert, 3, row->function);
    for (int i = 0; i < CALL_TREE_SUMS; i++) {
        sqlite3_bind_int64(insert, NAMES + 1 + i, (int64_t)row->total[i]);
        sqlite3_bind_int64(insert, NAMES + 1 + CALL_TREE_SUMS + i, (int64_t)row->self[i]);
    }
    sqlite3_step(insert);
    inserting->result = sqlite3_reset(insert);
    return inserting->result == SQLITE_OK;
}

int writer_call_nodes_derive(sqlite3 *database, const struct stack_usages *stacks)
{
    struct call_tree tree = {.count = 0};
    struct inserting inserting = {.insert = NULL};
    int result = read_nodes(database, &tree, stacks);
    if (result == SQLITE_OK)
        result = read_bare_stacks(database, &tree, stacks);
    if (result == SQLITE_OK && !call_tree_finish(&tree))
        result = SQLITE_NOMEM;
    if (result == SQLITE_OK)
        result = sqlite3_prepare_v2(database,
                                    "INSERT INTO call_node VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
                                    -1, &inserting.insert, NULL);
    if (result == SQLITE_OK) {
        call_tree_each(&tree, insert_node, &inserting);
        result = inserting.result;
    }
    sqlite3_finalize(inserting.insert);
    call_tree_free(&tree);
    return result;
}
