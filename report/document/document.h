/* SPDX-License-Identifier: BSD-2-Clause */
/* The content of a report before it has a format: facts, and tables with typed columns.
 *
 * Order of calls: document_new(), facts and tables in any order, document_write(), document_free().
 * A row is written value by value; the last column ends it. Names are copied. If memory is
 * exhausted, document_write() says so. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/output/output.h"
#include "session/session.h"

#define DOCUMENT_COLUMNS_MOST 32

/* GITHUB and SARIF are for budgets (report/budget/check.h), HTML is a page. */
enum document_format {
    FORMAT_TEXT,
    FORMAT_CSV,
    FORMAT_JSON,
    FORMAT_MARKDOWN,
    FORMAT_HTML,
    FORMAT_GITHUB,
    FORMAT_SARIF
};
/* Finds a format by its name. */
bool document_format(const char *name, enum document_format *format);

/* A kind tells the unit and the look of a value. Moments are ns since the trace began. */
enum value_kind {
    VALUE_TEXT,
    VALUE_NAME, /* of a function or a type: people see its short form (schemas/code/short_name.h) */
    VALUE_LINE, /* of a source file: a number that is shown with the names */
    VALUE_FRAMES, /* functions of a stack */
    VALUE_NUMBER,
    VALUE_BYTES,
    VALUE_DURATION, /* ns */
    VALUE_MOMENT,   /* ns */
    VALUE_SHARE,    /* a part of a whole, as a fraction */
    VALUE_ADDRESS,
    VALUE_TRUTH,
};

struct document_value {
    enum value_kind kind;
    bool is_null, negative, estimated;
    uint64_t number;
    double standard_error; /* if estimated; below 0: not known */
    double share;
    char *text; /* of a TEXT or NAME */
    /* The stack of FRAMES. They are read when they are written: all frames of all stacks are far
     * more than the session. */
    const struct document *document;
    struct session *session;
    uint32_t stack;
};

struct document_column {
    const char *name;  /* for programs: "live_bytes"; as long as the document */
    const char *title; /* for people; NULL: the name with blanks */
    enum value_kind kind;
    const char *none; /* how people see a null text; NULL: "(unknown)" */
};

struct document_table {
    const char *name, *title; /* as long as the document */
    struct document_column *columns;
    size_t column_count;
    uint64_t all_rows; /* the table shows the first of so many */
    struct document_value *values;
    size_t count, capacity; /* values */
};

struct document_fact {
    const char *name, *title;
    struct document_value value;
};

struct document {
    const char *report;
    bool estimated;   /* the session is sampled: sums are estimates */
    bool failed;      /* memory was exhausted */
    bool facts_first; /* the facts are what the report is about: CSV has them */
    struct document_fact *facts;
    size_t fact_count, fact_capacity;
    struct document_table *tables;
    size_t table_count, table_capacity;
    const char *also; /* the table whose rows JSON has as a member of its own, too, or NULL */
    struct session_frame *frames; /* room for those of any one stack */
    size_t frame_capacity;
};

/* `report` lives as long as the document. Returns NULL if memory is exhausted. */
struct document *document_new(const char *report, bool estimated);
void document_free(struct document *document);

/* Add a fact. `name` and `title` live as long as the document. */
void document_fact_text(struct document *document, const char *name, const char *title,
                        const char *text);
void document_fact_number(struct document *document, const char *name, const char *title,
                          enum value_kind kind, uint64_t number);
/* Adds a fact that is an estimate if the session is sampled. */
void document_fact_sum(struct document *document, const char *name, const char *title,
                       enum value_kind kind, uint64_t number, double standard_error);

/* Begins a table. The names and titles live as long as the document. At most
 * DOCUMENT_COLUMNS_MOST columns. */
void document_table(struct document *document, const char *name, const char *title,
                    const struct document_column *columns, size_t column_count);
/* States how many rows there are, if the table has only the first ones. */
void document_rows(struct document *document, uint64_t all_rows);

/* Add the next value of the table's row. Each has the kind of its column. */
void document_text(struct document *document, const char *text); /* NULL is null */
void document_number(struct document *document, uint64_t number);
/* An estimate if the session is sampled; its error is below 0 if it is not known. */
void document_sum(struct document *document, uint64_t sum, double standard_error);
void document_sum_change(struct document *document, uint64_t before, uint64_t now,
                         double standard_error);
void document_share(struct document *document, uint64_t part, uint64_t whole);
void document_truth(struct document *document, bool truth);
void document_null(struct document *document);
/* Adds a number of any kind, which may differ from that of its column. */
void document_value(struct document *document, struct document_value value);
/* Adds a stack's frames from the call site outward. The session outlives the document. */
void document_frames(struct document *document, struct session *session, uint32_t stack);

/* The state of things that every report names in JSON. */
struct document_about {
    const char *session, *filter, *at, *base; /* or NULL */
};

/* Writes the document. Errors of writing stay in the output. Returns false with `error` set if
 * memory was exhausted. */
bool document_write(const struct document *document, enum document_format format,
                    const struct document_about *about, struct output *output,
                    struct session_error *error);

/* Returns, in `room`, what people see of a value: "~1,234", "2.5 ms". Not for text and frames. */
const char *value_format(const struct document_value *value, char room[64]);
/* Does the same with a unit that is easy to read: "1.2 MiB", "2.5 ms", "1,234". */
const char *value_human(const struct document_value *value, char room[64]);

/* The short form of the names of one column, in which names that differ look different. */
struct short_names {
    char **texts; /* NULL where the name is */
    size_t count;
};
/* Makes them. Returns false if memory is exhausted. short_names_free() in any case. */
bool short_names_make(struct short_names *names, const char *const *whole, size_t count);
void short_names_free(struct short_names *names);
