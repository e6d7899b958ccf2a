/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes the table `type` and those that belong to it, from the results of replay.
 */
#include "ingest/write/session_tables.h"

#include "ingest/base/status.h"

struct member_row {
    const struct table_sink *sink;
    uint64_t type, position;
};

static bool put(const struct table_sink *sink, enum writer_table table,
                const struct writer_value *values, size_t size)
{
    return sink->put(sink->context, table, values, size / sizeof(*values));
}

static bool put_member(void *context, const struct types_member *member)
{
    struct member_row *row = context;
    const struct writer_value values[] = {value_number(row->type),    value_number(row->position++),
                                          value_text(member->name),   value_number(member->offset),
                                          value_number(member->size), value_text(member->type)};
    return put(row->sink, WRITER_TYPE_MEMBER, values, sizeof(values));
}

static bool put_type(const struct table_sink *sink, const struct type_table *table, size_t id)
{
    const struct type_row *row = &table->rows[id];
    struct member_row members = {sink, id, 0};
    const struct writer_value values[] = {
        value_number(id), value_text(row->name), row->size ? value_number(row->size) : value_null(),
        value_text(type_table_confidence_name(row->confidence)), value_text(row->element)};
    return put(sink, WRITER_TYPE, values, sizeof(values)) &&
           types_members(table->types, row->name, row->size, put_member, &members);
}

static bool put_total(const struct table_sink *sink, const struct type_usages *usages, size_t id)
{
    const struct type_usage usage = type_usages_of(usages, id);
    const struct writer_value values[] = {value_number(id),
                                          value_number(usage.allocations),
                                          value_number(usage.bytes),
                                          value_number(usage.live_count),
                                          value_number(usage.live_bytes),
                                          value_number(usage.at_peak_count),
                                          value_number(usage.at_peak_bytes),
                                          usage.peak_unknown ? value_null()
                                                             : value_number(usage.peak_bytes)};
    return usage.allocations == 0 || put(sink, WRITER_TYPE_TOTAL, values, sizeof(values));
}

static bool put_candidates(const struct table_sink *sink, struct type_table *table,
                           const struct unknown_block *block)
{
    const char *names[TYPE_TABLE_CANDIDATES];
    size_t count = type_table_candidates(table, block, names);
    bool good = true;
    for (size_t i = 0; good && i < count; i++) {
        const struct writer_value values[] = {value_number(block->stack), value_number(block->size),
                                              value_number(i), value_text(names[i])};
        good = put(sink, WRITER_TYPE_CANDIDATE, values, sizeof(values));
    }
    return good;
}

bool session_type_totals_put(const struct table_sink *sink, const struct type_usages *usages)
{
    bool good = true;
    for (size_t i = 0; good && i < usages->capacity; i++)
        good = put_total(sink, usages, i);
    return good;
}

bool session_types_put(const struct table_sink *sink, const struct session_facts *facts)
{
    struct type_table *table = facts->replay->types;
    bool good = true;
    for (size_t i = 0; good && i < table->count; i++)
        good = i == 0 || i < facts->known.types || put_type(sink, table, i);
    good = good && session_type_totals_put(sink, &facts->totals->types);
    for (size_t i = facts->known.unknown_blocks; good && i < table->unknown_count; i++)
        good = !ingest_is_interrupted(facts->interrupted) &&
               put_candidates(sink, table, &table->unknown[i]);
    return good;
}
