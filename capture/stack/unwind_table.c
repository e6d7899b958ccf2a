/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/stack/unwind_table.h"

#include "capture/stack/unwind_reader.h"

static struct unwind_reader reader_at(const struct unwind_image *image, uint64_t address)
{
    bool inside = address >= (uint64_t)image->start && address < (uint64_t)image->end;
    struct unwind_reader reader = {inside ? (const uint8_t *)address : image->end, image->end,
                                   !inside};
    return reader;
}

/*
 * Opens the entry at `address`. `reader` is then limited to the entry and has read its length.
 * *next is the start of the following entry. Returns false at the terminator and on damage.
 */
static bool entry_open(const struct unwind_image *image, uint64_t address,
                       struct unwind_reader *reader, uint64_t *next)
{
    *reader = reader_at(image, address);
    uint64_t length = unwind_read(reader, 4);
    if (length == UINT32_MAX)
        length = unwind_read(reader, 8);
    if (reader->failed || !length || length > (uint64_t)(reader->end - reader->at))
        return false;
    reader->end = reader->at + length;
    *next = (uint64_t)reader->end;
    return true;
}

/* Reads the augmentation data. The augmentation string is at most "zPLRSB" in some order. */
static bool augmentation_read(struct unwind_reader *reader, const char *letters, uint64_t length,
                              struct unwind_entry *entry)
{
    struct unwind_reader data = *reader;
    unwind_skip(reader, length);
    if (reader->failed)
        return false;
    data.end = reader->at;
    for (const char *letter = letters + 1; *letter; letter++) {
        switch (*letter) {
        case 'R':
            entry->pointer_encoding = (uint8_t)unwind_read(&data, 1);
            break;
        case 'L':
            unwind_skip(&data, 1);
            break;
        case 'P': {
            uint8_t encoding = (uint8_t)unwind_read(&data, 1);
            unwind_read_encoded(&data, encoding & 0x0f, 0);
            break;
        }
        case 'S':
            entry->signal_frame = true;
            break;
        case 'B':
            break;
        default:
            return false;
        }
    }
    return !data.failed;
}

static bool common_entry_read(const struct unwind_image *image, uint64_t address,
                              struct unwind_entry *entry, bool *augmented)
{
    struct unwind_reader reader;
    uint64_t next;
    if (!entry_open(image, address, &reader, &next) || unwind_read(&reader, 4) != 0)
        return false;
    uint64_t version = unwind_read(&reader, 1);
    const char *letters = (const char *)reader.at;
    while (unwind_read(&reader, 1))
        ;
    if (reader.failed || (version != 1 && version != 3))
        return false;
    entry->pointer_encoding = UNWIND_ENCODING_ABSOLUTE;
    entry->signal_frame = false;
    entry->code_alignment = unwind_read_uleb(&reader);
    entry->data_alignment = unwind_read_sleb(&reader);
    uint64_t column = version == 1 ? unwind_read(&reader, 1) : unwind_read_uleb(&reader);
    if (column != ARCH_RA)
        return false;
    *augmented = letters[0] == 'z';
    if (*augmented) {
        uint64_t length = unwind_read_uleb(&reader);
        if (!augmentation_read(&reader, letters, length, entry))
            return false;
    } else if (letters[0])
        return false;
    entry->initial = reader.at;
    entry->initial_end = reader.end;
    return !reader.failed;
}

/* Reads the frame description entry at `address`. Returns false if it is missing or damaged. */
static bool description_read(const struct unwind_image *image, uint64_t address,
                             struct unwind_entry *entry)
{
    struct unwind_reader reader;
    uint64_t next;
    bool augmented;
    if (!entry_open(image, address, &reader, &next))
        return false;
    uint64_t field = (uint64_t)reader.at, distance = unwind_read(&reader, 4);
    if (reader.failed || !distance ||
        !common_entry_read(image, field - distance, entry, &augmented))
        return false;
    entry->pc_begin = unwind_read_encoded(&reader, entry->pointer_encoding, 0);
    entry->pc_size = unwind_read_encoded(&reader, entry->pointer_encoding & 0x0f, 0);
    if (augmented)
        unwind_skip(&reader, unwind_read_uleb(&reader));
    entry->program = reader.at;
    entry->program_end = reader.end;
    return !reader.failed;
}

/* Searches all entries in order, if there is no search table. Slow, but done once for each pc. */
static enum unwind_found search_in_order(const struct unwind_image *image, uint64_t section,
                                         uint64_t pc, struct unwind_entry *entry)
{
    struct unwind_reader reader;
    uint64_t at = section, next;
    while (entry_open(image, at, &reader, &next)) {
        if (unwind_read(&reader, 4) && description_read(image, at, entry) &&
            pc - entry->pc_begin < entry->pc_size)
            return UNWIND_FOUND;
        at = next;
    }
    return UNWIND_NO_ENTRY;
}

struct search_table {
    const uint8_t *entries;
    uint64_t count;
};

static int64_t table_word(const struct search_table *table, uint64_t index, unsigned word)
{
    int32_t value;
    memcpy(&value, table->entries + index * 8 + (uint64_t)word * 4, sizeof(value));
    return value;
}

/* Finds the last entry that begins at or before pc. Returns false if there is none. */
static bool table_search(const struct search_table *table, int64_t pc, int64_t *description)
{
    uint64_t low = 0, high = table->count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (table_word(table, middle, 0) <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low)
        return false;
    *description = table_word(table, low - 1, 1);
    return true;
}

static enum unwind_found entry_find(const struct unwind_image *image, uint64_t pc,
                                    struct unwind_entry *entry)
{
    uint64_t base = (uint64_t)image->header;
    struct unwind_reader reader = reader_at(image, base);
    uint64_t version = unwind_read(&reader, 1);
    uint8_t section_encoding = (uint8_t)unwind_read(&reader, 1);
    uint8_t count_encoding = (uint8_t)unwind_read(&reader, 1);
    uint8_t table_encoding = (uint8_t)unwind_read(&reader, 1);
    if (reader.failed || version != 1)
        return UNWIND_BAD;
    uint64_t section = unwind_read_encoded(&reader, section_encoding, base);
    if (reader.failed)
        return UNWIND_BAD;
    if (count_encoding == UNWIND_ENCODING_OMIT ||
        table_encoding != (UNWIND_ENCODING_DATA_RELATIVE | UNWIND_ENCODING_SDATA4))
        return search_in_order(image, section, pc, entry);
    uint64_t count = unwind_read_encoded(&reader, count_encoding, base);
    if (reader.failed || count > (uint64_t)(reader.end - reader.at) / 8)
        return UNWIND_BAD;
    struct search_table table = {reader.at, count};
    int64_t description;
    if (!table_search(&table, (int64_t)(pc - base), &description))
        return UNWIND_NO_ENTRY;
    if (!description_read(image, base + (uint64_t)description, entry))
        return UNWIND_BAD;
    return pc - entry->pc_begin < entry->pc_size ? UNWIND_FOUND : UNWIND_NO_ENTRY;
}

enum unwind_found unwind_table_find(const struct unwind_image *image, uint64_t pc,
                                    struct unwind_row *row)
{
    struct unwind_entry entry;
    enum unwind_found found = entry_find(image, pc, &entry);
    if (found != UNWIND_FOUND)
        return found;
    return unwind_program_run(&entry, pc, row) ? UNWIND_FOUND : UNWIND_BAD;
}
