/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/stack/unwind_program.h"

#include "capture/stack/unwind_reader.h"

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

bool unwind_program_run(const struct unwind_entry *entry, uint64_t pc, struct unwind_row *row)
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
