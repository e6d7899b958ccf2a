/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes the sums by time: slot_sum, tile and a key of meta. */
#include "ingest/write/session_tables.h"

static bool put(const struct table_sink *sink, enum writer_table table,
                const struct writer_value *values, size_t size)
{
    return sink->put(sink->context, table, values, size / sizeof(*values));
}

static bool put_key(const struct table_sink *sink, const struct slot_sums *sums, enum slot_key key)
{
    struct slot_sums_part part;
    size_t next = 0;
    bool good = true;
    while (good && slot_sums_next(sums, key, &next, &part)) {
        const struct writer_value values[] = {
            value_text(slot_sums_key_name(key)), value_number(slot_level_slots(part.level)),
            value_number(part.number), value_blob(part.data, part.length)};
        good = put(sink, WRITER_SLOT_SUM, values, sizeof(values));
    }
    return good;
}

bool session_slots_put(const struct table_sink *sink, const struct slot_sums *sums)
{
    const struct slot_sums_tile *tiles;
    struct slot_sums_part part;
    size_t first = 0;
    if (!sums || !slot_sums_next(sums, SLOT_KEY_ALL, &first, &part))
        return true;
    const struct writer_value length[] = {value_text("slot_ns"),
                                          value_number(slot_sums_slot_ns(sums))};
    bool good = put(sink, WRITER_META, length, sizeof(length));
    for (unsigned key = 0; good && key < SLOT_KEYS; key++)
        good = put_key(sink, sums, (enum slot_key)key);
    const size_t count = slot_sums_tiles(sums, &tiles);
    for (size_t i = 0; good && i < count; i++) {
        const struct writer_value values[] = {value_number(i + 1),
                                              value_number(tiles[i].number << SLOT_TILE_SHIFT),
                                              value_number(tiles[i].largest)};
        good = put(sink, WRITER_TILE, values, sizeof(values));
    }
    return good;
}
