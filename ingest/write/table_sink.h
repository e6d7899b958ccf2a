/* SPDX-License-Identifier: BSD-2-Clause */
/* Passes rows to the writer, of all tables of a session except `allocation` and `column_chunk`. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The tables. A row's columns are those of schemas/session.sql, in order. */
enum writer_table {
    WRITER_META,
    WRITER_MODULE,
    WRITER_SOURCE_FILE,
    WRITER_FUNCTION,
    WRITER_FRAME,
    WRITER_STACK,
    WRITER_OWNER,
    WRITER_RUNTIME_STACK,
    WRITER_STACK_NODE,
    WRITER_STACK_RUN,
    WRITER_PROCESS,
    WRITER_INHERITED_FREE,
    WRITER_THREAD,
    WRITER_ARENA,
    WRITER_COLLECTION,
    WRITER_MARK,
    WRITER_RSS,
    WRITER_HEAP_SNAPSHOT,
    WRITER_HEAP_RANGE,
    WRITER_HEAP_THREAD,
    WRITER_HEAP_REGISTER,
    WRITER_HEAP_VARIABLE,
    WRITER_HEAP_WORDS,
    WRITER_REGION,
    WRITER_RESIDENCY,
    WRITER_RESIDENCY_CLASS,
    WRITER_RESIDENCY_STACK,
    WRITER_RESIDENCY_RUN,
    WRITER_RESIDENCY_MISSING,
    WRITER_FREE_CALL,
    WRITER_MISMATCH,
    WRITER_WRONG_SIZE,
    WRITER_EARLIER_BLOCK,
    WRITER_PROBLEM,
    WRITER_TIMELINE,
    WRITER_FUNCTION_TOTAL,
    WRITER_TYPE,
    WRITER_TYPE_TOTAL,
    WRITER_TYPE_MEMBER,
    WRITER_TYPE_FIELD,
    WRITER_TYPE_CANDIDATE,
    WRITER_SIZE_BIN,
    WRITER_SLOT_SUM,
    WRITER_TILE,
    WRITER_BUNDLE,
    WRITER_SQLAR,
    WRITER_SAMPLE_WEIGHT,
    WRITER_TABLES
};

/* A value of a row. With NULL text it is NULL. Paths and private text are changed when they are
 * written if the session is made for other people (redact.h). */
struct writer_value {
    enum {
        VALUE_NULL,
        VALUE_NUMBER,
        VALUE_TEXT,
        VALUE_PATH,
        VALUE_PATHS,
        VALUE_PRIVATE,
        VALUE_REAL,
        VALUE_BLOB
    } type;
    int64_t number; /* of VALUE_BLOB: bytes */
    const char *text;
    double real;
};

static inline struct writer_value value_number(uint64_t number)
{
    return (struct writer_value){VALUE_NUMBER, (int64_t)number, NULL, 0};
}

static inline struct writer_value value_text(const char *text)
{
    return (struct writer_value){text ? VALUE_TEXT : VALUE_NULL, 0, text, 0};
}

/* Makes a value of one file's path. */
static inline struct writer_value value_path(const char *path)
{
    return (struct writer_value){path ? VALUE_PATH : VALUE_NULL, 0, path, 0};
}

/* Makes a value of lines that each begin with a path. Text without a slash may follow the path. */
static inline struct writer_value value_paths(const char *paths)
{
    return (struct writer_value){paths ? VALUE_PATHS : VALUE_NULL, 0, paths, 0};
}

/* Makes a value of text about the user or the machine: arguments, host, boot, working directory. */
static inline struct writer_value value_private(const char *text)
{
    return (struct writer_value){text ? VALUE_PRIVATE : VALUE_NULL, 0, text, 0};
}

static inline struct writer_value value_blob(const void *bytes, uint64_t length)
{
    return (struct writer_value){VALUE_BLOB, (int64_t)length, bytes, 0};
}

static inline struct writer_value value_null(void)
{
    return (struct writer_value){VALUE_NULL, 0, NULL, 0};
}

static inline struct writer_value value_real(double real)
{
    return (struct writer_value){VALUE_REAL, 0, NULL, real};
}

/* The receiver of rows. put() returns false with the writer's status set. */
struct table_sink {
    void *context;
    bool (*put)(void *context, enum writer_table table, const struct writer_value *values,
                size_t count);
};
