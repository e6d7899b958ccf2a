/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/write/insert.h"

#include "insert_process_sql.h"

static const char *const insert_sql[WRITER_TABLES] = {
    [WRITER_META] = "INSERT INTO meta VALUES (?,?)",
    [WRITER_MODULE] = "INSERT INTO module VALUES (?,?,?,?,?,?,?,?,?,?)",
    [WRITER_SOURCE_FILE] = "INSERT INTO source_file VALUES (?,?)",
    [WRITER_FUNCTION] = "INSERT INTO function VALUES (?,?,?,?,?,?,?,?)",
    [WRITER_FRAME] = "INSERT INTO frame VALUES (?,?,?,?,?,?,?,?)",
    [WRITER_STACK] = "INSERT INTO stack VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    [WRITER_OWNER] = "INSERT INTO owner VALUES (?,?,?)",
    [WRITER_RUNTIME_STACK] = "INSERT INTO runtime_stack VALUES (?,?,?)",
    [WRITER_STACK_NODE] = "INSERT INTO stack_node VALUES (?,?,?)",
    [WRITER_STACK_RUN] = "INSERT INTO stack_run VALUES (?,?,?,?)",
    [WRITER_PROCESS] = insert_process_sql,
    [WRITER_INHERITED_FREE] = "INSERT INTO inherited_free VALUES (?,1,?,?,?,?,?,?,NULL)",
    [WRITER_THREAD] = "INSERT INTO thread VALUES (?,?,?,?,?,?,?,?,1)",
    [WRITER_ARENA] = "INSERT INTO arena VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    [WRITER_COLLECTION] = "INSERT INTO collection VALUES (?,?,1,?,?,?,?)",
    [WRITER_MARK] = "INSERT INTO mark(id, ns, kind, name) VALUES (?,?,?,?)",
    [WRITER_RSS] = "INSERT INTO rss(ns, bytes) VALUES (?,?)",
    [WRITER_REGION] = "INSERT INTO region VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    [WRITER_FREE_CALL] = "INSERT INTO free_call VALUES (?,?)",
    [WRITER_MISMATCH] = "INSERT INTO mismatch VALUES (?,?,?,?,?,?)",
    [WRITER_WRONG_SIZE] = "INSERT INTO wrong_size VALUES (?,?,?,?,?)",
    [WRITER_EARLIER_BLOCK] = "INSERT INTO earlier_block VALUES (?,?)",
    [WRITER_PROBLEM] = "INSERT INTO problem VALUES (?,?,?,?,?,?,?)",
    [WRITER_TIMELINE] = "INSERT INTO timeline VALUES (?,?,?,?,?,?,?,?,?)",
    [WRITER_FUNCTION_TOTAL] = "INSERT INTO function_total VALUES (?,?,?,?,?,?,?,?,?,?)",
    [WRITER_TYPE] = "INSERT INTO type VALUES (?,?,?,?,?)",
    [WRITER_TYPE_TOTAL] = "INSERT INTO type_total VALUES (?,?,?,?,?,?,?,?)",
    [WRITER_TYPE_MEMBER] = "INSERT INTO type_member VALUES (?,?,?,?,?,?)",
    [WRITER_TYPE_CANDIDATE] = "INSERT INTO type_candidate VALUES (?,?,?,?)",
    [WRITER_SIZE_BIN] = "INSERT INTO size_bin VALUES (?,?,?,?,?)",
    [WRITER_SLOT_SUM] = "INSERT INTO slot_sum VALUES (?,?,?,?)",
    [WRITER_TILE] = "INSERT INTO tile VALUES (?,?,?)",
    [WRITER_BUNDLE] = "INSERT INTO bundle VALUES (?,?,?,?)",
    [WRITER_SQLAR] = "INSERT INTO sqlar VALUES (?,?,?,?,?)",
    [WRITER_SAMPLE_WEIGHT] = "INSERT INTO sample_weight VALUES (?,?)",
};

int writer_insert_prepare(sqlite3 *database, enum writer_table table, sqlite3_stmt **insert)
{
    return sqlite3_prepare_v3(database, insert_sql[table], -1, SQLITE_PREPARE_PERSISTENT, insert,
                              NULL);
}

int writer_insert_row(sqlite3_stmt *insert, const struct writer_value *values, size_t count)
{
    int result = SQLITE_OK;
    for (size_t i = 0; i < count && result == SQLITE_OK; i++) {
        int place = (int)i + 1;
        if (values[i].type == VALUE_NUMBER)
            result = sqlite3_bind_int64(insert, place, values[i].number);
        else if (values[i].type == VALUE_REAL)
            result = sqlite3_bind_double(insert, place, values[i].real);
        else if (values[i].type >= VALUE_TEXT && values[i].type <= VALUE_PRIVATE)
            result = sqlite3_bind_text(insert, place, values[i].text, -1, SQLITE_STATIC);
        else if (values[i].type == VALUE_BLOB)
            result = sqlite3_bind_blob64(insert, place, values[i].text,
                                         (sqlite3_uint64)values[i].number, SQLITE_STATIC);
        else
            result = sqlite3_bind_null(insert, place);
    }
    if (result == SQLITE_OK && sqlite3_step(insert) == SQLITE_DONE)
        result = SQLITE_OK;
    else if (result == SQLITE_OK)
        result = SQLITE_ERROR;
    sqlite3_reset(insert);
    return result;
}
