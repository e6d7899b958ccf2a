/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/types/flow/decode.h"

#include <Zydis/Zydis.h>
#include <gelf.h>

const uint8_t *types_code(const struct symbols_file *file, uint64_t address, size_t *size)
{
    for (Elf_Scn *section = NULL; (section = elf_nextscn(file->elf, section));) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header) || !(header.sh_flags & SHF_EXECINSTR) ||
            header.sh_type != SHT_PROGBITS || address < header.sh_addr ||
            address - header.sh_addr >= header.sh_size)
            continue;
        Elf_Data *data = elf_rawdata(section, NULL);
        uint64_t offset = address - header.sh_addr;
        if (!data || !data->d_buf || offset >= data->d_size)
            return NULL;
        *size = data->d_size - offset;
        return (const uint8_t *)data->d_buf + offset;
    }
    return NULL;
}

/* Returns the number of the general register that holds `part`, or REGISTER_RIP. */
static uint8_t register_number(ZydisRegister part)
{
    if (part == ZYDIS_REGISTER_RIP)
        return REGISTER_RIP;
    ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, part);
    if (whole < ZYDIS_REGISTER_RAX || whole > ZYDIS_REGISTER_R15)
        return REGISTER_NONE;
    return (uint8_t)(whole - ZYDIS_REGISTER_RAX);
}

static enum decode_operation operation_of(const ZydisDecodedInstruction *in)
{
    switch (in->mnemonic) {
    case ZYDIS_MNEMONIC_MOV:
        return DECODE_MOVE;
    case ZYDIS_MNEMONIC_LEA:
        return DECODE_LEA;
    case ZYDIS_MNEMONIC_ADD:
        return in->operand_width == 64 ? DECODE_ADD : DECODE_OTHER;
    case ZYDIS_MNEMONIC_SUB:
        return in->operand_width == 64 ? DECODE_SUBTRACT : DECODE_OTHER;
    case ZYDIS_MNEMONIC_IMUL:
    case ZYDIS_MNEMONIC_MUL:
    case ZYDIS_MNEMONIC_SHL:
        return DECODE_MULTIPLY;
    case ZYDIS_MNEMONIC_PUSH:
        return DECODE_PUSH;
    case ZYDIS_MNEMONIC_POP:
        return DECODE_POP;
    case ZYDIS_MNEMONIC_CALL:
        return DECODE_CALL;
    case ZYDIS_MNEMONIC_JMP:
        return DECODE_JUMP;
    case ZYDIS_MNEMONIC_RET:
        return DECODE_RETURN;
    case ZYDIS_MNEMONIC_HLT:
    case ZYDIS_MNEMONIC_INT3:
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2:
        return DECODE_STOP;
    default:
        return in->raw.imm[0].is_relative ? DECODE_BRANCH : DECODE_OTHER;
    }
}

static bool decode(ZydisDecoder *decoder, ZydisDecoderContext *context, const uint8_t *bytes,
                   size_t size, uint64_t address, ZydisDecodedInstruction *in,
                   struct decode_instruction *instruction)
{
    *instruction = (struct decode_instruction){.operation = DECODE_OTHER};
    if (ZYAN_FAILED(ZydisDecoderDecodeInstruction(decoder, context, bytes, size, in)))
        return false;
    instruction->operation = operation_of(in);
    instruction->length = in->length;
    if (in->raw.imm[0].is_relative)
        instruction->target = address + in->length + in->raw.imm[0].value.u;
    return true;
}

bool types_decode_branch(const uint8_t *bytes, size_t size, uint64_t address,
                         struct decode_instruction *instruction)
{
    ZydisDecoder decoder;
    ZydisDecodedInstruction in;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    ZydisDecoderEnableMode(&decoder, ZYDIS_DECODER_MODE_MINIMAL, ZYAN_TRUE);
    return decode(&decoder, NULL, bytes, size, address, &in, instruction);
}

/* Converts an operand. An address relative to rip counts from `end`, the end of the instruction. */
static struct decode_operand operand_of(const ZydisDecodedOperand *from, uint64_t end)
{
    struct decode_operand operand = {.kind = DECODE_NOTHING, .index = REGISTER_NONE};
    switch (from->type) {
    case ZYDIS_OPERAND_TYPE_REGISTER:
        operand.base = register_number(from->reg.value);
        if (operand.base != REGISTER_NONE)
            operand.kind = DECODE_REGISTER;
        break;
    case ZYDIS_OPERAND_TYPE_MEMORY:
        operand.kind = DECODE_MEMORY;
        operand.base = register_number(from->mem.base);
        operand.index = register_number(from->mem.index);
        operand.scale = from->mem.scale;
        operand.thread = from->mem.segment == ZYDIS_REGISTER_FS;
        operand.value = from->mem.disp.value;
        if (operand.base == REGISTER_RIP)
            operand.value = (int64_t)(end + (uint64_t)operand.value);
        break;
    case ZYDIS_OPERAND_TYPE_IMMEDIATE:
        operand.kind = DECODE_IMMEDIATE;
        operand.value = from->imm.value.s;
        break;
    default:
        break;
    }
    return operand;
}

/* Returns a mask of the general registers that the instruction may write. */
static uint32_t written_registers(const ZydisDecodedInstruction *in,
                                  const ZydisDecodedOperand *operands, size_t count)
{
    uint32_t writes = 0;
    for (size_t i = 0; i < count; i++) {
        if (operands[i].type != ZYDIS_OPERAND_TYPE_REGISTER ||
            !(operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
            continue;
        uint8_t number = register_number(operands[i].reg.value);
        if (number <= REGISTER_R15)
            writes |= UINT32_C(1) << number;
    }
    /* The kernel's result. */
    if (in->mnemonic == ZYDIS_MNEMONIC_SYSCALL || in->mnemonic == ZYDIS_MNEMONIC_INT)
        writes |= UINT32_C(1) << REGISTER_RAX;
    return writes;
}

/* Reads a multiplication of a register by a constant. */
static void read_factor(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *operands,
                        struct decode_instruction *instruction)
{
    const bool shift = in->mnemonic == ZYDIS_MNEMONIC_SHL;
    const ZydisDecodedOperand *from = &operands[shift ? 0 : 1], *by = &operands[shift ? 1 : 2];
    if (in->operand_count_visible != (shift ? 2 : 3) || by->type != ZYDIS_OPERAND_TYPE_IMMEDIATE ||
        operands[0].type != ZYDIS_OPERAND_TYPE_REGISTER ||
        from->type != ZYDIS_OPERAND_TYPE_REGISTER)
        return;
    instruction->to = operand_of(&operands[0], 0);
    instruction->from = operand_of(from, 0);
    instruction->factor =
        shift ? (int64_t)(UINT64_C(1) << (by->imm.value.u & 63)) : by->imm.value.s;
}

bool types_decode(const uint8_t *bytes, size_t size, uint64_t address,
                  struct decode_instruction *instruction)
{
    ZydisDecoder decoder;
    ZydisDecoderContext context;
    ZydisDecodedInstruction in;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    if (!decode(&decoder, &context, bytes, size, address, &in, instruction))
        return false;
    const enum decode_operation operation = instruction->operation;
    if (operation == DECODE_CALL || operation == DECODE_JUMP || operation == DECODE_RETURN ||
        operation == DECODE_STOP)
        return true;
    const bool other =
        operation == DECODE_OTHER || operation == DECODE_MULTIPLY || operation == DECODE_BRANCH;
    const uint8_t count = other ? in.operand_count : in.operand_count_visible;
    if (ZYAN_FAILED(ZydisDecoderDecodeOperands(&decoder, &context, &in, operands, count)))
        return false;
    if (other) {
        if (operation == DECODE_MULTIPLY && in.operand_width == 64)
            read_factor(&in, operands, instruction);
        const bool nop = in.mnemonic == ZYDIS_MNEMONIC_XCHG && in.length == 2 && bytes[1] == 0x90;
        instruction->writes = nop ? 0 : written_registers(&in, operands, count);
        return true;
    }
    const uint64_t end = address + in.length;
    instruction->width = (uint8_t)(operands[0].size / 8);
    if (operation == DECODE_PUSH) {
        instruction->from = operand_of(&operands[0], end);
        return true;
    }
    instruction->to = operand_of(&operands[0], end);
    if (count > 1)
        instruction->from = operand_of(&operands[1], end);
    if (operation == DECODE_MOVE && operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
        instruction->width < 4) { /* the rest of the register stays */
        instruction->operation = DECODE_OTHER;
        instruction->writes = written_registers(&in, operands, count);
    }
    return true;
}
