/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/types/flow/decode.h"

#include <string.h>

struct decoder {
    const uint8_t *bytes;
    size_t size, at;
    uint64_t address;
    bool wide, failed;   /* REX.W */
    bool operand_prefix; /* 66 */
    bool repeat;         /* F2, F3 */
    uint8_t rex;
    uint8_t register_field; /* of the ModRM byte, with REX.R */
    struct decode_operand operand;
};

#define BIT(number) (UINT32_C(1) << (number))

static uint8_t next_byte(struct decoder *decoder)
{
    if (decoder->at >= decoder->size || decoder->at >= 15) {
        decoder->failed = true;
        return 0;
    }
    return decoder->bytes[decoder->at++];
}

/* Reads a signed number of 1, 2, 4 or 8 bytes. No bytes give 0. */
static int64_t next_number(struct decoder *decoder, int bytes)
{
    uint64_t value = 0;
    if (bytes == 0)
        return 0;
    for (int i = 0; i < bytes; i++)
        value |= (uint64_t)next_byte(decoder) << (8 * i);
    if (bytes < 8 && (value >> (8 * bytes - 1)) & 1)
        value |= ~UINT64_C(0) << (8 * bytes);
    return (int64_t)value;
}

static int immediate_bytes(const struct decoder *decoder)
{
    return decoder->operand_prefix ? 2 : 4;
}

/* Reads the operand; `immediate` bytes follow it. An address relative to rip counts from the end of
 * these bytes. */
static void read_operand(struct decoder *decoder, int immediate)
{
    uint8_t byte = next_byte(decoder);
    uint8_t mode = byte >> 6, low = byte & 7;
    struct decode_operand *operand = &decoder->operand;
    decoder->register_field = (uint8_t)(((byte >> 3) & 7) | ((decoder->rex & 4) << 1));
    *operand = (struct decode_operand){.index = DECODE_NO_REGISTER, .scale = 1};
    if (mode == 3) {
        operand->kind = DECODE_REGISTER;
        operand->base = (uint8_t)(low | ((decoder->rex & 1) << 3));
        return;
    }
    operand->kind = DECODE_MEMORY;
    operand->base = (uint8_t)(low | ((decoder->rex & 1) << 3));
    if (low == 4) {
        uint8_t sib = next_byte(decoder);
        uint8_t index = (uint8_t)(((sib >> 3) & 7) | ((decoder->rex & 2) << 2));
        operand->scale = (uint8_t)(1 << (sib >> 6));
        if (index != DECODE_RSP)
            operand->index = index;
        operand->base = (uint8_t)((sib & 7) | ((decoder->rex & 1) << 3));
        if (mode == 0 && (sib & 7) == 5) {
            operand->base = DECODE_NO_REGISTER;
            operand->value = next_number(decoder, 4);
            return;
        }
    } else if (mode == 0 && low == 5) {
        operand->base = DECODE_RIP;
        operand->value = next_number(decoder, 4);
        operand->value += (int64_t)(decoder->address + decoder->at + (unsigned)immediate);
        return;
    }
    if (mode == 1)
        operand->value = next_number(decoder, 1);
    else if (mode == 2)
        operand->value = next_number(decoder, 4);
}

static struct decode_operand register_operand(unsigned number)
{
    return (struct decode_operand){
        .kind = DECODE_REGISTER, .base = (uint8_t)number, .index = DECODE_NO_REGISTER};
}

static uint32_t written(const struct decode_operand *operand)
{
    return operand->kind == DECODE_REGISTER && operand->base < 16 ? BIT(operand->base) : 0;
}

static uint8_t operand_width(const struct decoder *decoder)
{
    return decoder->wide ? 8 : decoder->operand_prefix ? 2 : 4;
}

/* ---- one-byte opcodes ------------------------------------------------------------------- */

static void decode_arithmetic(struct decoder *decoder, uint8_t opcode,
                              struct decode_instruction *out)
{
    uint8_t form = opcode & 7, group = opcode >> 3;
    bool compares = group == 7;
    if (form == 4 || form == 5) {
        next_number(decoder, form == 4 ? 1 : immediate_bytes(decoder));
        out->writes = compares ? 0 : BIT(DECODE_RAX);
        return;
    }
    read_operand(decoder, 0);
    struct decode_operand field = register_operand(decoder->register_field);
    bool to_field = form >= 2;
    out->to = to_field ? field : decoder->operand;
    out->from = to_field ? decoder->operand : field;
    out->writes = compares ? 0 : written(&out->to);
    if ((form & 1) && decoder->wide && group == 0)
        out->operation = DECODE_ADD;
}

static void decode_immediate_group(struct decoder *decoder, uint8_t opcode,
                                   struct decode_instruction *out)
{
    int bytes = opcode == 0x81 ? immediate_bytes(decoder) : 1;
    read_operand(decoder, bytes);
    uint8_t group = decoder->register_field & 7;
    out->to = decoder->operand;
    out->from = (struct decode_operand){.kind = DECODE_IMMEDIATE};
    out->from.value = next_number(decoder, bytes);
    out->writes = group == 7 ? 0 : written(&out->to);
    if (opcode != 0x80 && decoder->wide && group == 0)
        out->operation = DECODE_ADD;
    if (opcode != 0x80 && decoder->wide && group == 5)
        out->operation = DECODE_SUBTRACT;
}

static void decode_move(struct decoder *decoder, uint8_t opcode, struct decode_instruction *out)
{
    read_operand(decoder, 0);
    struct decode_operand field = register_operand(decoder->register_field);
    bool to_field = opcode & 2;
    out->to = to_field ? field : decoder->operand;
    out->from = to_field ? decoder->operand : field;
    out->writes = written(&out->to);
    out->width = opcode & 1 ? operand_width(decoder) : 1;
    out->operation = DECODE_MOVE;
}

static void decode_group_5(struct decoder *decoder, struct decode_instruction *out)
{
    read_operand(decoder, 0);
    switch (decoder->register_field & 7) {
    case 0:
    case 1:
        out->writes = written(&decoder->operand);
        break;
    case 2:
    case 3:
        out->operation = DECODE_CALL;
        break;
    case 4:
    case 5:
        out->operation = DECODE_JUMP;
        break;
    default:
        out->operation = DECODE_PUSH;
        out->from = decoder->operand;
    }
}

static void decode_relative(struct decoder *decoder, int bytes, enum decode_operation operation,
                            struct decode_instruction *out)
{
    int64_t offset = next_number(decoder, bytes);
    out->operation = operation;
    out->target = decoder->address + decoder->at + (uint64_t)offset;
}

static void decode_register_opcode(struct decoder *decoder, uint8_t opcode,
                                   struct decode_instruction *out)
{
    struct decode_operand operand =
        register_operand((unsigned)((opcode & 7) | ((decoder->rex & 1) << 3)));
    if (opcode < 0x58) {
        out->operation = DECODE_PUSH;
        out->from = operand;
    } else if (opcode < 0x60) {
        out->operation = DECODE_POP;
        out->to = operand;
        out->writes = written(&operand);
    } else if (opcode < 0x98) {
        out->writes = opcode == 0x90 && decoder->rex == 0 ? 0 : BIT(DECODE_RAX) | written(&operand);
    } else if (opcode < 0xb8) {
        next_number(decoder, 1);
        out->writes = BIT(operand.base & 3) | written(&operand);
    } else {
        out->operation = DECODE_MOVE;
        out->to = operand;
        out->writes = written(&operand);
        out->width = operand_width(decoder);
        out->from.kind = DECODE_IMMEDIATE;
        out->from.value = next_number(decoder, decoder->wide ? 8 : immediate_bytes(decoder));
    }
}

/* Decodes an instruction that writes its ModRM operand but not the register field. */
static void decode_writes_operand(struct decoder *decoder, int immediate,
                                  struct decode_instruction *out)
{
    read_operand(decoder, immediate);
    next_number(decoder, immediate);
    out->writes = written(&decoder->operand);
}

static void decode_unary_group(struct decoder *decoder, uint8_t opcode,
                               struct decode_instruction *out)
{
    read_operand(decoder, 0);
    uint8_t group = decoder->register_field & 7;
    if (group < 2)
        next_number(decoder, opcode == 0xf6 ? 1 : immediate_bytes(decoder));
    else if (group < 4)
        out->writes = written(&decoder->operand);
    else
        out->writes = BIT(DECODE_RAX) | BIT(DECODE_RDX);
}

static void decode_lea(struct decoder *decoder, struct decode_instruction *out)
{
    read_operand(decoder, 0);
    out->to = register_operand(decoder->register_field);
    out->from = decoder->operand;
    out->writes = written(&out->to);
    out->width = operand_width(decoder);
    out->operation = DECODE_LEA;
}

static void decode_one_byte_rest(struct decoder *decoder, uint8_t opcode,
                                 struct decode_instruction *out)
{
    switch (opcode) {
    case 0x63: /* movsxd */
    case 0x69: /* imul */
    case 0x6b:
        read_operand(decoder, opcode == 0x6b ? 1 : opcode == 0x69 ? immediate_bytes(decoder) : 0);
        next_number(decoder, opcode == 0x6b ? 1 : opcode == 0x69 ? immediate_bytes(decoder) : 0);
        out->writes = BIT(decoder->register_field);
        break;
    case 0x68:
        next_number(decoder, immediate_bytes(decoder));
        out->operation = DECODE_PUSH;
        out->from.kind = DECODE_IMMEDIATE;
        break;
    case 0x6a:
        next_number(decoder, 1);
        out->operation = DECODE_PUSH;
        out->from.kind = DECODE_IMMEDIATE;
        break;
    case 0x84: /* test */
    case 0x85:
        read_operand(decoder, 0);
        break;
    case 0x86: /* xchg */
    case 0x87:
        read_operand(decoder, 0);
        out->writes = written(&decoder->operand) | BIT(decoder->register_field);
        break;
    case 0x8f:
        read_operand(decoder, 0);
        out->operation = DECODE_POP;
        out->to = decoder->operand;
        out->writes = written(&decoder->operand);
        break;
    case 0x8c:
        decode_writes_operand(decoder, 0, out);
        break;
    case 0x8e:
        read_operand(decoder, 0);
        break;
    case 0x98:
        out->writes = BIT(DECODE_RAX);
        break;
    case 0x99:
        out->writes = BIT(DECODE_RDX);
        break;
    case 0xa0:
    case 0xa1:
    case 0xa2:
    case 0xa3:
        next_number(decoder, 8);
        out->writes = BIT(DECODE_RAX);
        break;
    case 0xa8:
        next_number(decoder, 1);
        break;
    case 0xa9:
        next_number(decoder, immediate_bytes(decoder));
        break;
    case 0xa4: /* string instructions */
    case 0xa5:
    case 0xa6:
    case 0xa7:
    case 0xaa:
    case 0xab:
    case 0xac:
    case 0xad:
    case 0xae:
    case 0xaf:
        out->writes = BIT(DECODE_RSI) | BIT(DECODE_RDI) | BIT(DECODE_RCX) |
                      ((opcode & 0xfe) == 0xac ? BIT(DECODE_RAX) : 0);
        break;
    case 0xc0:
    case 0xc1:
        decode_writes_operand(decoder, 1, out);
        break;
    case 0xd0:
    case 0xd1:
    case 0xd2:
    case 0xd3:
    case 0xfe:
        decode_writes_operand(decoder, 0, out);
        break;
    case 0xc6:
    case 0xc7:
        read_operand(decoder, opcode == 0xc6 ? 1 : immediate_bytes(decoder));
        out->to = decoder->operand;
        out->from.kind = DECODE_IMMEDIATE;
        out->from.value = next_number(decoder, opcode == 0xc6 ? 1 : immediate_bytes(decoder));
        out->writes = written(&out->to);
        out->width = opcode == 0xc6 ? 1 : operand_width(decoder);
        out->operation = DECODE_MOVE;
        break;
    case 0xc2:
        next_number(decoder, 2);
        out->operation = DECODE_RETURN;
        break;
    case 0xc3:
        out->operation = DECODE_RETURN;
        break;
    case 0xc8:
        next_number(decoder, 3);
        out->writes = BIT(DECODE_RSP) | BIT(DECODE_RBP);
        break;
    case 0xc9:
        out->writes = BIT(DECODE_RSP) | BIT(DECODE_RBP);
        break;
    case 0xcc:
    case 0xf4:
        out->operation = DECODE_STOP;
        break;
    case 0xcd:
    case 0xe4:
    case 0xe5:
    case 0xe6:
    case 0xe7:
        next_number(decoder, 1);
        out->writes = BIT(DECODE_RAX);
        break;
    case 0xe8:
        decode_relative(decoder, 4, DECODE_CALL, out);
        break;
    case 0xe9:
        decode_relative(decoder, 4, DECODE_JUMP, out);
        break;
    case 0xeb:
        decode_relative(decoder, 1, DECODE_JUMP, out);
        break;
    case 0xe0:
    case 0xe1:
    case 0xe2:
    case 0xe3:
        decode_relative(decoder, 1, DECODE_BRANCH, out);
        out->writes = BIT(DECODE_RCX);
        break;
    case 0xf6:
    case 0xf7:
        decode_unary_group(decoder, opcode, out);
        break;
    case 0xff:
        decode_group_5(decoder, out);
        break;
    case 0x9b:
    case 0x9c:
    case 0x9d:
    case 0x9e:
    case 0x9f:
    case 0xec:
    case 0xed:
    case 0xee:
    case 0xef:
    case 0xf5:
    case 0xf8:
    case 0xf9:
    case 0xfa:
    case 0xfb:
    case 0xfc:
    case 0xfd:
        out->writes = BIT(DECODE_RAX);
        break;
    default:
        if (opcode >= 0xd8 && opcode <= 0xdf) { /* x87; fnstsw writes ax */
            read_operand(decoder, 0);
            out->writes = BIT(DECODE_RAX);
        } else {
            decoder->failed = true;
        }
    }
}

static void decode_one_byte(struct decoder *decoder, uint8_t opcode, struct decode_instruction *out)
{
    if (opcode < 0x40 && (opcode & 7) < 6)
        decode_arithmetic(decoder, opcode, out);
    else if ((opcode >= 0x50 && opcode < 0x60) || (opcode >= 0x90 && opcode < 0x98) ||
             (opcode >= 0xb0 && opcode < 0xc0))
        decode_register_opcode(decoder, opcode, out);
    else if (opcode >= 0x70 && opcode < 0x80)
        decode_relative(decoder, 1, DECODE_BRANCH, out);
    else if (opcode == 0x80 || opcode == 0x81 || opcode == 0x83)
        decode_immediate_group(decoder, opcode, out);
    else if (opcode >= 0x88 && opcode <= 0x8b)
        decode_move(decoder, opcode, out);
    else if (opcode == 0x8d)
        decode_lea(decoder, out);
    else
        decode_one_byte_rest(decoder, opcode, out);
}

/* ---- two-byte and three-byte opcodes, vector prefixes ----------------------------------- */

static bool writes_field(uint8_t opcode)
{
    return (opcode >= 0x40 && opcode < 0x50) || opcode == 0x02 || opcode == 0x03 ||
           opcode == 0x2c || opcode == 0x2d || opcode == 0x50 || opcode == 0xaf ||
           (opcode >= 0xb2 && opcode <= 0xb8 && opcode != 0xb3) ||
           (opcode >= 0xbc && opcode <= 0xbf) || opcode == 0xc5 || opcode == 0xd7;
}

static bool writes_operand(uint8_t opcode)
{
    return (opcode >= 0x90 && opcode < 0xa0) || opcode == 0xa4 || opcode == 0xa5 ||
           opcode == 0xab || opcode == 0xac || opcode == 0xad || opcode == 0xb3 || opcode == 0xba ||
           opcode == 0xbb || opcode == 0x7e || opcode == 0x00 || opcode == 0x01;
}

static bool has_byte_behind(uint8_t opcode)
{
    return (opcode >= 0x70 && opcode <= 0x73) || opcode == 0xa4 || opcode == 0xac ||
           opcode == 0xba || opcode == 0xc2 || opcode == 0xc4 || opcode == 0xc5 || opcode == 0xc6;
}

static bool has_no_operand(uint8_t opcode)
{
    static const uint8_t opcodes[] = {0x05, 0x06, 0x07, 0x08, 0x09, 0x0b, 0x30, 0x31, 0x32, 0x33,
                                      0x34, 0x35, 0x37, 0x77, 0xa0, 0xa1, 0xa2, 0xa8, 0xa9, 0xaa};
    return memchr(opcodes, opcode, sizeof(opcodes)) || (opcode >= 0xc8 && opcode <= 0xcf);
}

static void decode_two_byte(struct decoder *decoder, struct decode_instruction *out)
{
    uint8_t opcode = next_byte(decoder);
    if (opcode >= 0x80 && opcode < 0x90) {
        decode_relative(decoder, 4, DECODE_BRANCH, out);
    } else if (opcode == 0x0b) {
        out->operation = DECODE_STOP;
    } else if (has_no_operand(opcode)) {
        out->writes = BIT(DECODE_RAX) | BIT(DECODE_RCX) | BIT(DECODE_RDX) | BIT(DECODE_R11);
        if (opcode == 0xa2)
            out->writes |= BIT(DECODE_RBX);
        if (opcode >= 0xc8 && opcode <= 0xcf)
            out->writes = BIT((opcode & 7) | ((decoder->rex & 1) << 3));
    } else if (opcode == 0x38 || opcode == 0x3a) {
        next_byte(decoder);
        read_operand(decoder, opcode == 0x3a);
        next_number(decoder, opcode == 0x3a);
        out->writes = BIT(decoder->register_field) | written(&decoder->operand);
    } else {
        bool byte = has_byte_behind(opcode);
        read_operand(decoder, byte);
        next_number(decoder, byte);
        if (writes_field(opcode))
            out->writes |= BIT(decoder->register_field);
        if (writes_operand(opcode))
            out->writes |= written(&decoder->operand);
        if (opcode == 0xb0 || opcode == 0xb1) /* cmpxchg */
            out->writes |= BIT(DECODE_RAX) | written(&decoder->operand);
        if (opcode == 0xc0 || opcode == 0xc1) /* xadd */
            out->writes |= BIT(decoder->register_field) | written(&decoder->operand);
        if (opcode == 0xc7) /* cmpxchg16b, rdrand */
            out->writes |= BIT(DECODE_RAX) | BIT(DECODE_RDX) | written(&decoder->operand);
        if (opcode == 0xae)
            out->writes |= written(&decoder->operand);
    }
}

/* Decodes a vector instruction. Only a few write a general register; these are assumed to write all
 * of theirs. */
static void decode_vector(struct decoder *decoder, uint8_t prefix, struct decode_instruction *out)
{
    uint8_t map = 1, other = 0;
    uint8_t first = next_byte(decoder);
    decoder->rex = (uint8_t)(first & 0x80 ? 0 : 4);
    if (prefix != 0xc5) {
        decoder->rex = (uint8_t)((~first >> 5) & 7);
        map = prefix == 0xc4 ? first & 31 : first & 7;
        other = next_byte(decoder);
        if (prefix == 0x62)
            next_byte(decoder);
    } else {
        other = first;
    }
    uint8_t opcode = next_byte(decoder);
    if (map == 1 && opcode == 0x77)
        return;
    bool byte = map == 3 || (map == 1 && (has_byte_behind(opcode) && opcode != 0xa4 &&
                                          opcode != 0xac && opcode != 0xba));
    read_operand(decoder, byte);
    next_number(decoder, byte);
    bool general = (map == 2 && opcode >= 0xf0 && opcode <= 0xf7) || (map == 3 && opcode == 0xf0);
    if (general)
        out->writes =
            BIT(decoder->register_field) | BIT((~other >> 3) & 15) | written(&decoder->operand);
    else if (map == 1 && writes_field(opcode))
        out->writes = BIT(decoder->register_field);
    else if ((map == 1 && opcode == 0x7e) || (map == 3 && opcode >= 0x14 && opcode <= 0x17))
        out->writes = written(&decoder->operand);
}

static uint8_t skip_prefixes(struct decoder *decoder)
{
    for (;;) {
        uint8_t byte = next_byte(decoder);
        if (byte == 0x66)
            decoder->operand_prefix = true;
        else if (byte == 0xf2 || byte == 0xf3)
            decoder->repeat = true;
        else if (byte != 0x2e && byte != 0x36 && byte != 0x3e && byte != 0x26 && byte != 0x64 &&
                 byte != 0x65 && byte != 0x67 && byte != 0xf0)
            return byte;
        if (decoder->failed)
            return 0;
    }
}

bool types_decode(const uint8_t *bytes, size_t size, uint64_t address,
                  struct decode_instruction *instruction)
{
    struct decoder decoder = {.bytes = bytes, .size = size, .address = address};
    *instruction = (struct decode_instruction){.operation = DECODE_OTHER};
    uint8_t opcode = skip_prefixes(&decoder);
    if (opcode == 0xc4 || opcode == 0xc5 || opcode == 0x62) {
        decode_vector(&decoder, opcode, instruction);
    } else {
        if ((opcode & 0xf0) == 0x40) {
            decoder.rex = opcode & 15;
            decoder.wide = decoder.rex & 8;
            opcode = next_byte(&decoder);
        }
        if (opcode == 0x0f)
            decode_two_byte(&decoder, instruction);
        else
            decode_one_byte(&decoder, opcode, instruction);
    }
    instruction->length = (uint8_t)decoder.at;
    return !decoder.failed;
}
