/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/stack/unwind_table.h"

#include "capture/stack/unwind_reader.h"

/* ---- the call frame instructions of one entry --------------------------------------------- */

/* The contents of a common information entry and one of its frame description entries. */
struct unwind_entry {
    uint64_t code_alignment;
    int64_t data_alignment;
    uint64_t pc_begin, pc_size;
    const uint8_t *initial, *initial_end; /* instructions of the common entry */
    const uint8_t *program, *program_end; /* instructions of the entry itself */
    uint8_t pointer_encoding;
    bool signal_frame;
};

/* How deep remember_state may nest; compilers nest it once or twice. */
#define REMEMBERED_STATES 4u

/* Instructions with their operand in the low six bits, and those without (DWARF 5, 7.24). */
enum {
    ADVANCE = 0x40,
    OFFSET = 0x80,
    RESTORE = 0xc0,
    NOP = 0x00,
    SET_LOC = 0x01,
    ADVANCE_1 = 0x02,
    ADVANCE_2 = 0x03,
    ADVANCE_4 = 0x04,
    OFFSET_EXTENDED = 0x05,
    RESTORE_EXTENDED = 0x06,
    UNDEFINED = 0x07,
    SAME_VALUE = 0x08,
    REGISTER = 0x09,
    REMEMBER_STATE = 0x0a,
    RESTORE_STATE = 0x0b,
    DEF_CFA = 0x0c,
    DEF_CFA_REGISTER = 0x0d,
    DEF_CFA_OFFSET = 0x0e,
    DEF_CFA_EXPRESSION = 0x0f,
    EXPRESSION = 0x10,
    OFFSET_EXTENDED_SF = 0x11,
    DEF_CFA_SF = 0x12,
    DEF_CFA_OFFSET_SF = 0x13,
    VAL_OFFSET = 0x14,
    VAL_OFFSET_SF = 0x15,
    VAL_EXPRESSION = 0x16,
    GNU_ARGS_SIZE = 0x2e,
    GNU_NEGATIVE_OFFSET = 0x2f
};

struct machine {
    const struct unwind_entry *entry;
    struct unwind_reader reader;
    struct unwind_row *row;
    struct unwind_row initial; /* after the common entry's program; RESTORE goes back to it */
    struct unwind_row remembered[REMEMBERED_STATES];
    unsigned depth;
    uint64_t pc;
};

/* Sets a register's location. Registers that are not followed (vector registers) are ignored. */
static void location_set(struct machine *machine, uint64_t number, enum unwind_how how,
                         int64_t offset)
{
    if (number < ARCH_REGISTERS)
        machine->row->registers[number] =
            (struct unwind_location){.offset = offset, .how = (uint8_t)how};
}

/* Reads the block after an expression instruction, within the entry's own bytes. */
static struct unwind_location expression_read(struct machine *machine, enum unwind_how how)
{
    uint64_t length = unwind_read_uleb(&machine->reader);
    struct unwind_location location = {
        .expression = machine->reader.at, .length = (uint32_t)length, .how = (uint8_t)how};
    unwind_skip(&machine->reader, length);
    return location;
}

static void location_set_expression(struct machine *machine, enum unwind_how how)
{
    uint64_t number = unwind_read_uleb(&machine->reader);
    struct unwind_location location = expression_read(machine, how);
    if (number < ARCH_REGISTERS)
        machine->row->registers[number] = location;
}

static void location_restore(struct machine *machine, uint64_t number)
{
    if (number < ARCH_REGISTERS)
        machine->row->registers[number] = machine->initial.registers[number];
}

static int64_t factored(struct machine *machine, uint64_t value)
{
    return (int64_t)(value * (uint64_t)machine->entry->data_alignment);
}

static void cfa_set(struct machine *machine, uint64_t number, int64_t offset)
{
    machine->row->cfa = (struct unwind_location){.offset = offset, .how = UNWIND_IS_OFFSET};
    machine->row->cfa_register = number < ARCH_REGISTERS ? (uint32_t)number : ARCH_REGISTERS;
}

static bool state_remember(struct machine *machine)
{
    if (machine->depth == REMEMBERED_STATES)
        return false;
    machine->remembered[machine->depth++] = *machine->row;
    return true;
}

static bool state_restore(struct machine *machine)
{
    if (!machine->depth)
        return false;
    *machine->row = machine->remembered[--machine->depth];
    return true;
}

static bool register_instruction(struct machine *machine, unsigned code)
{
    struct unwind_reader *reader = &machine->reader;
    uint64_t number = unwind_read_uleb(reader);
    switch (code) {
    case OFFSET_EXTENDED:
        location_set(machine, number, UNWIND_AT_OFFSET,
                     factored(machine, unwind_read_uleb(reader)));
        return true;
    case OFFSET_EXTENDED_SF:
        location_set(machine, number, UNWIND_AT_OFFSET,
                     factored(machine, (uint64_t)unwind_read_sleb(reader)));
        return true;
    case GNU_NEGATIVE_OFFSET:
        location_set(machine, number, UNWIND_AT_OFFSET,
                     factored(machine, -unwind_read_uleb(reader)));
        return true;
    case VAL_OFFSET:
        location_set(machine, number, UNWIND_IS_OFFSET,
                     factored(machine, unwind_read_uleb(reader)));
        return true;
    case VAL_OFFSET_SF:
        location_set(machine, number, UNWIND_IS_OFFSET,
                     factored(machine, (uint64_t)unwind_read_sleb(reader)));
        return true;
    case REGISTER:
        location_set(machine, number, UNWIND_REGISTER, (int64_t)unwind_read_uleb(reader));
        return true;
    case RESTORE_EXTENDED:
        location_restore(machine, number);
        return true;
    case UNDEFINED:
        location_set(machine, number, UNWIND_UNDEFINED, 0);
        return true;
    case SAME_VALUE:
        location_set(machine, number, UNWIND_SAME, 0);
        return true;
    default:
        return false;
    }
}

static bool cfa_instruction(struct machine *machine, unsigned code)
{
    struct unwind_reader *reader = &machine->reader;
    struct unwind_row *row = machine->row;
    uint64_t number;
    switch (code) {
    case DEF_CFA:
        number = unwind_read_uleb(reader);
        cfa_set(machine, number, (int64_t)unwind_read_uleb(reader));
        return true;
    case DEF_CFA_SF:
        number = unwind_read_uleb(reader);
        cfa_set(machine, number, factored(machine, (uint64_t)unwind_read_sleb(reader)));
        return true;
    case DEF_CFA_REGISTER:
        if (row->cfa.how != UNWIND_IS_OFFSET)
            return false;
        cfa_set(machine, unwind_read_uleb(reader), row->cfa.offset);
        return true;
    case DEF_CFA_OFFSET:
        row->cfa.offset = (int64_t)unwind_read_uleb(reader);
        return row->cfa.how == UNWIND_IS_OFFSET;
    case DEF_CFA_OFFSET_SF:
        row->cfa.offset = factored(machine, (uint64_t)unwind_read_sleb(reader));
        return row->cfa.how == UNWIND_IS_OFFSET;
    case DEF_CFA_EXPRESSION:
        row->cfa = expression_read(machine, UNWIND_IS_EXPRESSION);
        return true;
    default:
        return false;
    }
}

static bool instruction(struct machine *machine, unsigned code)
{
    switch (code) {
    case NOP:
        return true;
    case REMEMBER_STATE:
        return state_remember(machine);
    case RESTORE_STATE:
        return state_restore(machine);
    case EXPRESSION:
        location_set_expression(machine, UNWIND_AT_EXPRESSION);
        return true;
    case VAL_EXPRESSION:
        location_set_expression(machine, UNWIND_IS_EXPRESSION);
        return true;
    case GNU_ARGS_SIZE:
        unwind_read_uleb(&machine->reader);
        return true;
    case DEF_CFA:
    case DEF_CFA_SF:
    case DEF_CFA_REGISTER:
    case DEF_CFA_OFFSET:
    case DEF_CFA_OFFSET_SF:
    case DEF_CFA_EXPRESSION:
        return cfa_instruction(machine, code);
    default:
        return register_instruction(machine, code);
    }
}

/* Executes an instruction that moves the location. Returns false for any other instruction. */
static bool location_advance(struct machine *machine, unsigned code, uint64_t *location)
{
    uint64_t delta;
    switch (code) {
    case SET_LOC:
        *location = unwind_read_encoded(&machine->reader, machine->entry->pointer_encoding, 0);
        return true;
    case ADVANCE_1:
        delta = unwind_read(&machine->reader, 1);
        break;
    case ADVANCE_2:
        delta = unwind_read(&machine->reader, 2);
        break;
    case ADVANCE_4:
        delta = unwind_read(&machine->reader, 4);
        break;
    default:
        if ((code & 0xc0) != ADVANCE)
            return false;
        delta = code & 0x3f;
    }
    *location += delta * machine->entry->code_alignment;
    return true;
}

/* Runs the program until it ends or its location has passed `pc`. */
static bool program_run(struct machine *machine, const uint8_t *begin, const uint8_t *end)
{
    uint64_t location = machine->entry->pc_begin;
    machine->reader = (struct unwind_reader){begin, end, false};
    while (machine->reader.at < end && !machine->reader.failed) {
        unsigned code = (unsigned)unwind_read(&machine->reader, 1);
        if (location_advance(machine, code, &location)) {
            if (location > machine->pc)
                break;
        } else if ((code & 0xc0) == OFFSET)
            location_set(machine, code & 0x3f, UNWIND_AT_OFFSET,
                         factored(machine, unwind_read_uleb(&machine->reader)));
        else if ((code & 0xc0) == RESTORE)
            location_restore(machine, code & 0x3f);
        else if (!instruction(machine, code))
            return false;
    }
    return !machine->reader.failed;
}

/* Runs both programs up to `pc`. Returns false if they are damaged; `row` is then invalid. */
static bool unwind_program_run(const struct unwind_entry *entry, uint64_t pc,
                               struct unwind_row *row)
{
    struct machine machine;
    machine.entry = entry;
    machine.row = row;
    machine.depth = 0;
    machine.pc = pc;
    *row = (struct unwind_row){.cfa = {.how = UNWIND_IS_OFFSET},
                               .cfa_register = ARCH_REGISTERS,
                               .function = entry->pc_begin,
                               .signal_frame = entry->signal_frame};
    machine.initial = *row;
    if (!program_run(&machine, entry->initial, entry->initial_end))
        return false;
    machine.initial = *row;
    return program_run(&machine, entry->program, entry->program_end);
}

static struct unwind_reader reader_at(const struct unwind_image *image, uint64_t address)
{
    bool inside = address >= (uint64_t)image->start && address < (uint64_t)image->end;
    struct unwind_reader reader = {inside ? (const uint8_t *)address : image->end, image->end,
                                   !inside};
    return reader;
}

/* Opens the entry at `address`. `reader` is then limited to the entry and has read its length.
 * *next is the start of the following entry. Returns false at the terminator and on damage. */
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
