/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/filter/sql_columns.h"

const struct sql_dialect sql_dialects[DIALECT_TOTAL] = {
    [DIALECT_DUCKDB] =
        {
            .wide = "HUGEINT",
            .text = "VARCHAR",
            .divide = "($1) // ($2)",
            .sum = "sum($1)",
            .number = "TRY_CAST($1 AS BIGINT)",
            .matches = "regexp_matches($1, $2)",
            .collate = "",
            .fraction = "CAST(CAST($1 - 1 AS HUGEINT) * 11400714819323198485 % "
                        "18446744073709551616 // 2048 AS DOUBLE)",
            .address = "CASE WHEN $1 < 0 THEN CAST($1 AS HUGEINT) + 18446744073709551616 ELSE "
                       "CAST($1 AS HUGEINT) END",
            .last_part = "regexp_replace($1, '^.*/', '')",
            .nullable = "$1",
            .color = "INTEGER",
            .no_color = "CAST(NULL AS INTEGER)",
            .path = "list(coalesce(w.name, '?') ORDER BY w.depth DESC)",
            .slice = "($1)[1:$2]",
            .joined = "array_to_string($1, ';')",
            .length = "len(coalesce($1, []))",
            .nodes_of_run = "(SELECT session, stack_id, depth, node_id, unnest(range(frames)) AS i "
                            "FROM stack_run)",
            .number_parameter = {"$", ""},
            .text_parameter = {"$", ""},
            .end = "",
        },
    [DIALECT_POSTGRESQL] =
        {
            .wide = "numeric",
            .text = "text",
            .divide = "div($1, $2)",
            .sum = "sum($1)",
            .number = "CAST($1 AS bigint)",
            .matches = "$1 ~ $2 COLLATE \"C\"",
            .collate = " COLLATE \"C\"",
            .fraction = "CAST(div(mod(CAST($1 - 1 AS numeric) * 11400714819323198485, "
                        "18446744073709551616), 2048) AS double precision)",
            .address = "CASE WHEN $1 < 0 THEN CAST($1 AS numeric) + 18446744073709551616 ELSE "
                       "CAST($1 AS numeric) END",
            .last_part = "regexp_replace($1, '^.*/', '')",
            .nullable = "$1",
            .color = "integer",
            .no_color = "CAST(NULL AS integer)",
            .path = "array_agg(coalesce(w.name, '?') ORDER BY w.depth DESC)",
            .slice = "($1)[1:$2]",
            .joined = "array_to_string($1, ';')",
            .length = "coalesce(cardinality($1), 0)",
            .nodes_of_run = "(SELECT session, stack_id, depth, node_id, generate_series(0, frames "
                            "- 1) AS i FROM stack_run)",
            .number_parameter = {":", ""},
            .text_parameter = {":'", "'"},
            .end = "",
            .regex_of_posix = true,
        },
    [DIALECT_CLICKHOUSE] =
        {
            .wide = "Int128",
            .text = "String",
            .divide = "intDiv($1, $2)",
            .sum = "sum(toInt128($1))",
            .number = "toInt64OrNull($1)",
            .matches = "match($1, $2)",
            .collate = "",
            .fraction = "toFloat64(bitShiftRight(toUInt64($1 - 1) * "
                        "toUInt64(11400714819323198485), 11))",
            .address = "if($1 < 0, toInt128($1) + toInt128('18446744073709551616'), toInt128($1))",
            .last_part = "replaceRegexpOne($1, '^.*/', '')",
            .nullable = "toNullable($1)",
            .color = "Nullable(Int32)",
            .no_color = "CAST(NULL AS Nullable(Int32))",
            .path =
                "arrayMap(x -> x.2, arrayReverseSort(groupArray((w.depth, ifNull(w.name, '?')))))",
            .slice = "arraySlice($1, 1, $2)",
            .joined = "arrayStringConcat($1, ';')",
            .length = "toInt64(length($1))",
            .nodes_of_run = "(SELECT session, stack_id, depth, node_id, arrayJoin(range(toUInt64("
                            "frames))) AS i FROM stack_run)",
            .number_parameter = {"{", ":UInt64}"},
            .text_parameter = {"{", ":String}"},
            .end = "\nSETTINGS join_use_nulls = 1, cast_keep_nullable = 1",
            .escapes = true,
        },
};

/* ---- the tables that a block is joined with ---- */

enum join {
    JOIN_TYPE,
    JOIN_CANDIDATE,
    JOIN_STACK,
    JOIN_FUNCTION,
    JOIN_FRAME,
    JOIN_FILE,
    JOIN_MODULE,
    JOIN_USER_FRAME,
    JOIN_USER,
    JOIN_OWNER,
    JOIN_THREAD,
    JOIN_FREE_THREAD,
    JOIN_PROCESS,
    JOIN_ARENA,
    JOIN_KIND,
    JOIN_FREE_STACK,
    JOIN_RUNTIME,
    JOIN_EARLIER,
    JOIN_WEIGHT,
    JOIN_PADDING,
    JOINS
};
#define BIT(join) (1u << (join))

static const struct {
    unsigned needs; /* joins before it */
    const char *table, *alias, *key, *of;
} joins[JOINS] = {
    [JOIN_TYPE] = {0, "\"type\"", "ty", "id", "a.type_id"},
    [JOIN_CANDIDATE] = {0, "(SELECT DISTINCT session, stack_id, size FROM type_candidate)", "tc",
                        "stack_id", "a.stack_id AND tc.size = a.size"},
    [JOIN_STACK] = {0, "stack", "st", "id", "a.stack_id"},
    [JOIN_FUNCTION] = {BIT(JOIN_STACK), "\"function\"", "f", "id", "st.function_id"},
    [JOIN_FRAME] = {BIT(JOIN_STACK), "frame", "fr", "id", "st.call_site_frame_id"},
    [JOIN_FILE] = {BIT(JOIN_STACK) | BIT(JOIN_FRAME), "source_file", "sf", "id",
                   "fr.source_file_id"},
    [JOIN_MODULE] = {BIT(JOIN_STACK) | BIT(JOIN_FRAME), "module", "mo", "id", "fr.module_id"},
    [JOIN_USER_FRAME] = {BIT(JOIN_STACK), "frame", "uf", "id", "st.user_frame_id"},
    [JOIN_USER] = {BIT(JOIN_STACK) | BIT(JOIN_USER_FRAME), "\"function\"", "u", "id",
                   "uf.function_id"},
    [JOIN_OWNER] = {BIT(JOIN_STACK), "owner", "ow", "id", "st.owner_id"},
    [JOIN_THREAD] = {0, "thread", "th", "id", "a.thread_id"},
    [JOIN_FREE_THREAD] = {0, "thread", "ft", "id", "a.free_thread_id"},
    [JOIN_PROCESS] = {BIT(JOIN_THREAD), "\"process\"", "p", "id", "th.process_id"},
    [JOIN_ARENA] = {0, "arena", "ar", "id", "a.arena_id"},
    [JOIN_KIND] = {0, "kind", "k", "id", "a.kind"},
    [JOIN_FREE_STACK] = {0, "stack", "fs", "id", "a.free_stack_id"},
    [JOIN_RUNTIME] = {0, "runtime_stack", "rt", "stack_id", "a.stack_id"},
    [JOIN_EARLIER] = {0, "earlier_block", "eb", "allocation_id", "a.id"},
    [JOIN_WEIGHT] = {0, "sample_weight", "w", "size", "a.size"},
    [JOIN_PADDING] = {0, "padding_of_type", "pa", "type_id", "a.type_id"},
};

/* ---- columns ---- */

static const char no_text[] = "''", no_number[] = "-1";

/* A field of the filter; 0: none. */
#define OF(field) ((field) + 1)

static const struct {
    const char *name, *sql; /* sql: NULL: written by a function */
    const char *null;       /* as sql_column_null() */
    unsigned joins;
    unsigned of, names; /* the field that it has, and the one whose names it has */
} columns[SQL_COLUMNS + 1] = {
    [SQL_SIZE] = {"size", "a.size", .of = OF(FIELD_SIZE)},
    [SQL_COUNT] = {"\"count\"", "a.\"count\"", .of = OF(FIELD_COUNT)},
    [SQL_ADDRESS] = {"address", NULL, .of = OF(FIELD_ADDRESS)},
    [SQL_TYPE] = {"\"type\"", "ty.name", no_text, BIT(JOIN_TYPE), .of = OF(FIELD_TYPE)},
    [SQL_CONFIDENCE] = {"confidence", "coalesce(ty.confidence, 'unknown')", NULL, BIT(JOIN_TYPE),
                        .of = OF(FIELD_CONFIDENCE)},
    [SQL_CANDIDATE] = {"candidate", "coalesce(ty.confidence = 'candidate', tc.size IS NOT NULL)",
                       NULL, BIT(JOIN_TYPE) | BIT(JOIN_CANDIDATE)},
    [SQL_FUNCTION] = {"\"function\"", "f.name", no_text, BIT(JOIN_FUNCTION),
                      .of = OF(FIELD_FUNCTION)},
    [SQL_USER] = {"\"user\"", "u.name", no_text, BIT(JOIN_USER), .of = OF(FIELD_USER)},
    [SQL_OWNER] = {"owner", "ow.name", no_text, BIT(JOIN_OWNER), .of = OF(FIELD_OWNER)},
    [SQL_FILE] = {"file", "sf.path", no_text, BIT(JOIN_FILE), .of = OF(FIELD_FILE)},
    [SQL_LINE] = {"line", "nullif(fr.line, 0)", no_number, BIT(JOIN_FRAME), .of = OF(FIELD_LINE)},
    [SQL_MODULE] = {"module", "mo.name", no_text, BIT(JOIN_MODULE), .of = OF(FIELD_MODULE)},
    [SQL_STACK] = {"stack", "nullif(a.stack_id, 0)", no_number, .of = OF(FIELD_STACK)},
    [SQL_FREE_STACK] = {"free_stack", "nullif(a.free_stack_id, 0)", no_number,
                        .of = OF(FIELD_FREE_STACK)},
    [SQL_THREAD] = {"thread", "a.thread_id", .of = OF(FIELD_THREAD)},
    [SQL_THREAD_NAME] = {"thread_name", NULL, NULL, BIT(JOIN_THREAD), .names = OF(FIELD_THREAD)},
    [SQL_FREE_THREAD] = {"free_thread", "nullif(a.free_thread_id, 0)", no_number,
                         .of = OF(FIELD_FREE_THREAD)},
    [SQL_FREE_THREAD_NAME] = {"free_thread_name", NULL, no_text, BIT(JOIN_FREE_THREAD),
                              .names = OF(FIELD_FREE_THREAD)},
    [SQL_CROSSED] = {"crossed", "coalesce(nullif(a.free_thread_id, 0) <> a.thread_id, false)",
                     .of = OF(FIELD_CROSSED)},
    [SQL_PROCESS] = {"\"process\"", "nullif(th.process_id, 0)", no_number, BIT(JOIN_THREAD),
                     .of = OF(FIELD_PROCESS)},
    [SQL_PROCESS_NAME] = {"process_name", NULL, no_text, BIT(JOIN_PROCESS),
                          .names = OF(FIELD_PROCESS)},
    [SQL_PID] = {"pid", "p.pid", no_number, BIT(JOIN_PROCESS)},
    [SQL_ARENA] = {"arena", "nullif(a.arena_id, 0)", no_number, .of = OF(FIELD_ARENA)},
    [SQL_ARENA_NAME] = {"arena_name", "ar.name", no_text, BIT(JOIN_ARENA),
                        .names = OF(FIELD_ARENA)},
    [SQL_KIND] = {"kind", "k.name", NULL, BIT(JOIN_KIND), .of = OF(FIELD_KIND)},
    [SQL_ALLOC_TIME] = {"alloc_time", "a.alloc_ns", .of = OF(FIELD_ALLOC_TIME)},
    [SQL_FREE_TIME] = {"free_time", "a.free_ns", no_number, .of = OF(FIELD_FREE_TIME)},
    [SQL_LIFETIME] = {"lifetime", "greatest(0, coalesce(a.free_ns, r.end_ns) - a.alloc_ns)",
                      .of = OF(FIELD_LIFETIME)},
    [SQL_FREED] = {"freed", "a.free_ns IS NOT NULL", .of = OF(FIELD_FREED)},
    [SQL_COLLECTED] = {"collected", "coalesce(fs.state = 'collector', false)", NULL,
                       BIT(JOIN_FREE_STACK), .of = OF(FIELD_COLLECTED)},
    [SQL_REALLOC_OF] = {"realloc_of", "a.realloc_of", no_number},
    [SQL_RUNTIME] = {"of_runtime", "rt.stack_id IS NOT NULL", NULL, BIT(JOIN_RUNTIME)},
    [SQL_COLLECTING] = {"of_collector",
                        "coalesce(ar.collected > 0 OR ar.kept_ns IS NOT NULL, false)", NULL,
                        BIT(JOIN_ARENA)},
    [SQL_SURVIVES] = {"survives",
                      "coalesce(a.alloc_ns - coalesce(eb.before_ns, 0) <= ar.kept_ns, true)", NULL,
                      BIT(JOIN_ARENA) | BIT(JOIN_EARLIER)},
    [SQL_PADDING] = {"padding", "coalesce(pa.padding, 0)", NULL, BIT(JOIN_PADDING)},
    [SQL_UNIT] = {"unit", "r.unit"},
    [SQL_BLOCKS] = {"blocks", NULL, NULL, BIT(JOIN_WEIGHT)},
    [SQL_BYTES] = {"bytes",
                   "CASE WHEN r.sample_interval = 0 THEN a.size ELSE CAST(floor(w.weight * "
                   "a.size + 0.5) AS BIGINT) END",
                   NULL, BIT(JOIN_WEIGHT)},
    [SQL_COLOR] = {"color", NULL, no_number, .of = OF(FIELD_COLOR)},
    [SQL_ID] = {"id", NULL, .of = OF(FIELD_ID)},
};

const char *sql_column_name(enum sql_column column)
{
    return columns[column].name;
}

const char *sql_column_null(enum sql_column column)
{
    return columns[column].null;
}

enum sql_column sql_column_of(enum filter_field field, enum sql_column *name)
{
    enum sql_column column = SQL_NONE;
    *name = SQL_NONE;
    for (int i = 0; i <= SQL_COLUMNS; i++) {
        if (columns[i].of == OF(field))
            column = (enum sql_column)i;
        if (columns[i].names == OF(field))
            *name = (enum sql_column)i;
    }
    return column;
}

void sql_put_frame_name(FILE *out, const struct sql_frame *frame)
{
    if (frame->caller)
        fputs("caller", out);
    else
        fprintf(out, "frame_%u", (unsigned)frame->outward);
}

void sql_put_text(FILE *out, const struct sql_dialect *dialect, const char *text)
{
    fputc('\'', out);
    for (; *text; text++) {
        if (*text == '\'' || (*text == '\\' && dialect->escapes))
            fputc(*text, out);
        fputc(*text, out);
    }
    fputc('\'', out);
}

void sql_put_text_value(FILE *out, const struct sql_dialect *dialect,
                        const struct filter_value *value)
{
    if (value->parameter)
        fprintf(out, "%s%s%s", dialect->text_parameter.before, value->parameter,
                dialect->text_parameter.after);
    else
        sql_put_text(out, dialect, value->text);
}

void sql_put_form(FILE *out, const char *form, const char *first, const char *second)
{
    for (; *form; form++)
        if (*form == '$')
            fputs(*++form == '1' ? first : second, out);
        else
            fputc(*form, out);
}

bool sql_fill(char *to, size_t size, const char *form, const char *first, const char *second)
{
    FILE *out = fmemopen(to, size, "w");
    *to = '\0';
    if (!out)
        return false;
    sql_put_form(out, form, first, second);
    fclose(out);
    return true;
}

void sql_put_columns(FILE *out, const struct sql_use *use, const char *table)
{
    for (int i = 0; i < SQL_COLOR; i++)
        if (use->column[i])
            fprintf(out, ", %s.%s", table, columns[i].name);
    for (size_t i = 0; i < use->frame_count; i++) {
        fprintf(out, ", %s.", table);
        sql_put_frame_name(out, &use->frames[i]);
    }
    for (size_t i = 0; i < use->reading_count; i++)
        fprintf(out, ", %s.resident_%zu", table, i + 1);
}

/* ---- the expressions up to `block` ---- */

/* Writes the keys of --by in each row of a table, and in front of them its `unit`. */
static void put_keys_of(FILE *out, const struct sql_use *use, const char *table)
{
    if (use->by_count > 0)
        fprintf(out, ", %s.unit AS unit", table);
    for (size_t i = 0; i < use->by_count; i++)
        fprintf(out, ", %s.by_%zu AS by_%zu", table, i + 1, i + 1);
}

/* Writes the number of the group that a session belongs to: equal keys have equal numbers. */
static void put_unit(FILE *out, const struct sql_use *use, const struct sql_dialect *dialect)
{
    for (size_t i = 0; i < use->by_count; i++)
        fprintf(out, ",\n    m.by_%zu AS by_%zu", i + 1, i + 1);
    for (size_t i = 0; i < use->by_count; i++)
        fprintf(out, "%sm.by_%zu IS NULL, m.by_%zu%s",
                i == 0 ? ",\n    dense_rank() OVER (ORDER BY " : ", ", i + 1, i + 1,
                dialect->collate);
    if (use->by_count > 0)
        fputs(") AS unit", out);
}

static void put_run(FILE *out, const struct sql_use *use, const struct sql_dialect *dialect)
{
    static const char *const numbers[] = {"duration_ns", "peak_ns", "selected_process", "machines",
                                          "sample_interval"};
    const char *run = use->mark_count > 0 ? "whole_run" : "run";
    fprintf(out,
            "-- The sessions: a condition on session before this GROUP BY chooses some.\n"
            "%s AS (\n  SELECT m.session AS session, coalesce(p.start_ns, 0) AS start_ns,\n"
            "    coalesce(p.end_ns, m.duration_ns, 0) AS end_ns,\n"
            "    coalesce(p.peak_ns, m.peak_ns, 0) AS peak_ns,\n"
            "    coalesce(m.selected_process, 0) AS selected_process,\n"
            "    p.first_allocation_id, p.last_allocation_id,\n"
            "    coalesce(m.machines, 1) AS machines,\n"
            "    coalesce(m.sample_interval, 0) AS sample_interval",
            run);
    put_unit(out, use, dialect);
    fputs("\n  FROM (SELECT session", out);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
        fprintf(out, ",\n      max(CASE WHEN \"key\" = '%s' THEN ", numbers[i]);
        sql_put_form(out, dialect->number, "value", "");
        fprintf(out, " END) AS %s", numbers[i]);
    }
    for (size_t i = 0; i < use->by_count; i++)
        fprintf(
            out,
            ",\n      coalesce(max(CASE WHEN \"key\" = 'label.%.*s' THEN value END), max(CASE WHEN "
            "\"key\" = '%.*s' THEN value END)) AS by_%zu",
            use->by[i].length, use->by[i].key, use->by[i].length, use->by[i].key, i + 1);
    fputs("\n    FROM meta GROUP BY session) m\n"
          "  LEFT JOIN \"process\" p ON p.session = m.session AND p.id = m.selected_process",
          out);
    if (use->reading_count > 0)
        fputs("\n  -- A session without a reading of the selected process is left out.\n"
              "  JOIN (SELECT session, process_id FROM residency UNION DISTINCT\n"
              "    SELECT session, 0 FROM residency) d ON d.session = m.session AND d.process_id = "
              "coalesce(m.selected_process, 0)",
              out);
    /* sample_weight has the sizes of the process heap alone. */
    if (use->arenas && (use->column[SQL_BLOCKS] || use->column[SQL_BYTES]))
        fputs("\n  -- What the sampled blocks of arenas stand for is in no table.\n"
              "  WHERE coalesce(m.sample_interval, 0) = 0 OR m.session NOT IN (SELECT session FROM "
              "arena)",
              out);
    fputc(')', out);
    if (use->mark_count == 0)
        return;
    fputs(",\n-- The first marks of these names. A session that lacks one is left out.\n"
          "run AS (\n  SELECT r.session, r.start_ns, r.end_ns, r.peak_ns, r.selected_process,\n"
          "    r.first_allocation_id, r.last_allocation_id, r.machines, r.sample_interval",
          out);
    for (size_t i = 0; i < use->mark_count; i++)
        fprintf(out, ", m%zu.ns AS mark_%zu", i + 1, i + 1);
    put_keys_of(out, use, "r");
    fputs("\n  FROM whole_run r", out);
    for (size_t i = 0; i < use->mark_count; i++) {
        fputs("\n  JOIN (SELECT o.session AS session, min(m.ns) AS ns FROM whole_run o JOIN mark m "
              "ON m.session = o.session\n    WHERE (o.selected_process = 0 OR m.process_id = "
              "o.selected_process) AND m.name = ",
              out);
        sql_put_text(out, dialect, use->marks[i]);
        fprintf(out, "\n    GROUP BY o.session) m%zu ON m%zu.session = r.session", i + 1, i + 1);
    }
    fputc(')', out);
}

static void put_stacks(FILE *out, const struct sql_use *use, const struct sql_dialect *dialect)
{
    if (!use->stacks && !use->sites && use->frame_count == 0)
        return;
    fprintf(out,
            ",\n-- The functions of the stacks; depth 0 is innermost.\n"
            "frames_of_stack AS (\n  SELECT e.session AS session, e.stack_id AS stack_id, e.depth "
            "+ e.i AS depth,\n    n.frame_id AS frame_id, f.name AS name\n  FROM %s e\n"
            "  JOIN stack_node n ON n.session = e.session AND n.id = e.node_id + e.i\n"
            "  JOIN frame fr ON fr.session = n.session AND fr.id = n.frame_id\n"
            "  LEFT JOIN \"function\" f ON f.session = fr.session AND f.id = fr.function_id)",
            dialect->nodes_of_run);
    if (use->sites || use->frame_count > 0)
        fputs(
            ",\ncall_site AS (\n  SELECT s.session AS session, s.id AS stack_id, min(w.depth) AS "
            "depth\n  FROM stack s JOIN frames_of_stack w ON w.session = s.session AND w.stack_id "
            "= s.id\n    AND w.frame_id = s.call_site_frame_id\n  GROUP BY s.session, s.id)",
            out);
    for (size_t i = 0; i < use->frame_count; i++)
        fprintf(
            out,
            ",\noutward_%zu AS (\n  SELECT c.session AS session, c.stack_id AS stack_id, w.name "
            "AS name\n  FROM call_site c JOIN frames_of_stack w ON w.session = c.session AND "
            "w.stack_id = c.stack_id\n    AND w.depth = c.depth + %u)",
            i + 1, (unsigned)use->frames[i].outward);
}

/* Writes the bytes of each type that no member covers: members may cover the same bytes. */
static void put_padding(FILE *out, const struct sql_use *use)
{
    if (!use->column[SQL_PADDING])
        return;
    fputs(",\n-- The bytes of each type that no member covers.\npadding_of_type AS (\n  SELECT "
          "g.session AS session, g.type_id AS type_id, g.size\n      - sum(greatest(0, g.beyond - "
          "greatest(g.first, coalesce(g.reached, 0)))) AS padding\n  FROM (SELECT m.session AS "
          "session,",
          out);
    fputs(" m.type_id AS type_id, t.size AS size, m.\"offset\" AS "
          "first,\n      m.\"offset\" + m.size AS beyond, max(m.\"offset\" + m.size) OVER "
          "(PARTITION BY m.session, m.type_id\n        ORDER BY m.\"offset\", m.position ROWS "
          "BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS reached",
          out);
    fputs("\n    FROM type_member m JOIN \"type\" t ON t.session = m.session AND t.id = "
          "m.type_id\n    WHERE m.size > 0 AND m.\"offset\" >= 0 AND m.\"offset\" + m.size <= "
          "t.size) g\n  GROUP BY g.session, g.type_id, g.size)",
          out);
}

/* Writes how many bytes of each block were in memory in the readings nearest to the moments. */
static void put_readings(FILE *out, struct sql_use *use, const struct sql_dialect *dialect)
{
    for (size_t i = 0; i < use->reading_count; i++) {
        const struct filter_value *moment = use->readings[i];
        const size_t n = i + 1;
        bool of_run = false;
        fputs(",\n-- The readings of pages nearest to live at ", out);
        sql_put_moment_text(out, moment);
        fprintf(out,
                ", one of each process.\nreading_%zu AS (\n  SELECT q.session AS session, q.id AS "
                "id, q.process_id AS process_id, q.ns AS ns\n  FROM (SELECT m.session AS session, "
                "m.id AS id, m.process_id AS process_id, m.ns AS ns,\n      row_number() OVER "
                "(PARTITION BY m.session, m.process_id ORDER BY abs(m.ns - ",
                n);
        sql_put_moment(out, use, dialect, moment, &of_run, NULL);
        fprintf(
            out,
            "), m.ns DESC, m.id DESC) AS place\n    FROM residency m JOIN run r ON r.session = "
            "m.session) q\n  WHERE q.place = 1),\n-- By address: a run of pages adds its "
            "bytes; a block begins and ends.\nspot_%zu AS (\n  SELECT q.session AS session, "
            "q.id AS reading, 0 AS block, 0 AS sign, g.address AS address, g.size AS size\n"
            "  FROM reading_%zu q JOIN residency_page g ON g.session = q.session AND "
            "g.residency_id = q.id\n  WHERE g.state IN ('present', 'huge')\n  UNION ALL SELECT "
            "a.session, q.id, a.id, e.sign, CASE WHEN e.sign < 0 OR a.address < 0\n    THEN "
            "a.address ELSE a.address + least(a.size, 9223372036854775807 - a.address) END, 0\n",
            n, n);
        fprintf(
            out,
            "  FROM allocation a JOIN thread t ON t.session = a.session AND t.id = a.thread_id\n"
            "  JOIN reading_%zu q ON q.session = a.session AND q.process_id = t.process_id\n"
            "  CROSS JOIN (SELECT -1 AS sign UNION ALL SELECT 1) e\n"
            "  WHERE a.alloc_ns <= q.ns AND (a.free_ns IS NULL OR a.free_ns > q.ns)),\n"
            "resident_%zu AS (\n  SELECT b.session AS session, b.block AS id, CAST(sum(b.sign "
            "* (b.below - greatest(0,\n    coalesce(b.beyond, b.address) - b.address))) AS "
            "BIGINT) AS bytes\n  FROM (SELECT s.session AS session, s.block AS block, s.sign AS "
            "sign, s.address AS address,\n      sum(s.size) OVER w AS below,\n      max(CASE "
            "WHEN s.block = 0 THEN s.address + s.size END) OVER w AS beyond\n    FROM spot_%zu "
            "s\n    WINDOW w AS (PARTITION BY s.session, s.reading ORDER BY s.address, s.block\n"
            "      ROWS UNBOUNDED PRECEDING)) b\n  WHERE b.block > 0 GROUP BY b.session, "
            "b.block)",
            n, n, n);
    }
}

static void put_value(FILE *out, enum sql_column column, const struct sql_dialect *dialect)
{
    switch (column) {
    case SQL_ADDRESS:
        sql_put_form(out, dialect->address, "a.address", "");
        break;
    case SQL_THREAD_NAME:
        fprintf(out, "coalesce(nullif(th.name, ''), 'thread ' || CAST(a.thread_id AS %s))",
                dialect->text);
        break;
    case SQL_FREE_THREAD_NAME:
        fprintf(out,
                "CASE WHEN a.free_thread_id <> 0 THEN coalesce(nullif(ft.name, ''), 'thread ' || "
                "CAST(a.free_thread_id AS %s)) END",
                dialect->text);
        break;
    case SQL_PROCESS_NAME:
        sql_put_form(out, dialect->last_part, "p.program", "");
        break;
    case SQL_BLOCKS:
        fputs("CASE WHEN r.sample_interval = 0 THEN 1 ELSE CAST(floor(w.weight + ", out);
        sql_put_form(out, dialect->fraction, "a.id", "");
        fputs(" / 9007199254740992) AS BIGINT) END", out);
        break;
    default:
        fputs(columns[column].sql, out);
        break;
    }
}

static void put_joins(FILE *out, unsigned wanted)
{
    for (int i = JOINS; i-- > 0;)
        if ((wanted & BIT(i)) != 0)
            wanted |= joins[i].needs;
    for (int i = 0; i < JOINS; i++) {
        if ((wanted & BIT(i)) != 0)
            fprintf(out, "\n  LEFT JOIN %s %s ON %s.session = a.session AND %s.%s = %s",
                    joins[i].table, joins[i].alias, joins[i].alias, joins[i].alias, joins[i].key,
                    joins[i].of);
    }
}

void sql_put_block(FILE *out, struct sql_use *use, const struct sql_dialect *dialect)
{
    unsigned wanted = 0;
    const char *where = "\n  WHERE ";
    put_run(out, use, dialect);
    if (use->by_count > 0) {
        fputs(",\n-- The groups of sessions.\nunit AS (\n  SELECT count(*) AS sessions", out);
        put_keys_of(out, use, "r");
        fputs("\n  FROM run r GROUP BY r.unit", out);
        for (size_t i = 0; i < use->by_count; i++)
            fprintf(out, ", r.by_%zu", i + 1);
        fputc(')', out);
    }
    put_stacks(out, use, dialect);
    put_padding(out, use);
    put_readings(out, use, dialect);
    fputs(
        ",\n-- The blocks that the filter may select.\nblock AS (\n  SELECT a.session AS session, "
        "a.id AS id",
        out);
    for (int i = 0; i < SQL_COLOR; i++) {
        if (!use->column[i])
            continue;
        fputs(",\n    ", out);
        put_value(out, (enum sql_column)i, dialect);
        fprintf(out, " AS %s", columns[i].name);
        wanted |= columns[i].joins;
    }
    for (size_t i = 0; i < use->frame_count; i++) {
        fprintf(out, ",\n    o%zu.name AS ", i + 1);
        sql_put_frame_name(out, &use->frames[i]);
    }
    for (size_t i = 1; i <= use->reading_count; i++)
        fprintf(out, ",\n    v%zu.bytes AS resident_%zu", i, i);
    if (use->column[SQL_COLOR])
        fprintf(out, ",\n    %s AS color", dialect->no_color);
    fputs("\n  FROM allocation a\n  JOIN run r ON r.session = a.session", out);
    put_joins(out, wanted);
    for (size_t i = 0; i < use->frame_count; i++)
        fprintf(out,
                "\n  LEFT JOIN outward_%zu o%zu ON o%zu.session = a.session AND o%zu.stack_id = "
                "a.stack_id",
                i + 1, i + 1, i + 1, i + 1);
    for (size_t i = 1; i <= use->reading_count; i++)
        fprintf(out,
                "\n  LEFT JOIN resident_%zu v%zu ON v%zu.session = a.session AND v%zu.id = a.id", i,
                i, i, i);
    if (!use->arenas) {
        fprintf(out, "%sa.arena_id = 0", where);
        where = " AND ";
    }
    if (!use->processes)
        fprintf(out,
                "%s(r.selected_process = 0\n    OR a.id BETWEEN r.first_allocation_id AND "
                "r.last_allocation_id)",
                where);
    fputc(')', out);
}
