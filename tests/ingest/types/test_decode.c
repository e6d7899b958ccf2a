/* SPDX-License-Identifier: BSD-2-Clause */
/* Single instructions, as the flow of pointers sees them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "ingest/types/flow/decode.h"

#define ADDRESS 0x401000u
#define BIT(number) (UINT32_C(1) << (number))

/* Decodes the bytes in both ways, checks that they agree, and that no shorter input is decoded. */
static struct decode_instruction decode(const char *bytes, size_t size)
{
    struct decode_instruction instruction, branch;
    const uint8_t *code = (const uint8_t *)bytes;
    assert_true(types_decode(code, size, ADDRESS, &instruction));
    assert_true(types_decode_branch(code, size, ADDRESS, &branch));
    assert_int_equal(instruction.length, size);
    assert_int_equal(branch.length, size);
    assert_int_equal(branch.target, instruction.target);
    assert_int_equal(branch.operation == DECODE_JUMP, instruction.operation == DECODE_JUMP);
    assert_int_equal(branch.operation == DECODE_BRANCH, instruction.operation == DECODE_BRANCH);
    assert_false(types_decode(code, size - 1, ADDRESS, &branch));
    assert_false(types_decode_branch(code, size - 1, ADDRESS, &branch));
    return instruction;
}

#define DECODE(bytes) decode(bytes, sizeof(bytes) - 1)

static void check_register(const struct decode_operand *operand, unsigned number)
{
    assert_int_equal(operand->kind, DECODE_REGISTER);
    assert_int_equal(operand->base, number);
}

static void check_memory(const struct decode_operand *operand, unsigned base, unsigned index,
                         int64_t value)
{
    assert_int_equal(operand->kind, DECODE_MEMORY);
    assert_int_equal(operand->base, base);
    assert_int_equal(operand->index, index);
    assert_int_equal(operand->value, value);
}

static void check_writes(struct decode_instruction instruction, uint32_t writes)
{
    assert_int_equal(instruction.operation, DECODE_OTHER);
    assert_int_equal(instruction.writes, writes);
}

static void test_moves(void **state)
{
    struct decode_instruction in = DECODE("\x49\x89\xc4"); /* mov %rax, %r12 */
    assert_int_equal(in.operation, DECODE_MOVE);
    assert_int_equal(in.width, 8);
    check_register(&in.to, 12);
    check_register(&in.from, REGISTER_RAX);
    in = DECODE("\x48\x89\x44\x24\xf8"); /* mov %rax, -8(%rsp) */
    assert_int_equal(in.operation, DECODE_MOVE);
    check_memory(&in.to, REGISTER_RSP, REGISTER_NONE, -8);
    in = DECODE("\x8b\x44\x8b\x10"); /* mov 16(%rbx,%rcx,4), %eax */
    assert_int_equal(in.width, 4);
    check_register(&in.to, REGISTER_RAX);
    check_memory(&in.from, REGISTER_RBX, REGISTER_RCX, 16);
    assert_int_equal(in.from.scale, 4);
    in = DECODE("\x48\x8b\x05\x10\x00\x00\x00"); /* mov 16(%rip), %rax */
    check_memory(&in.from, REGISTER_RIP, REGISTER_NONE, ADDRESS + 7 + 16);
    in = DECODE("\x48\xc7\x05\x10\x00\x00\x00\x00\x20\x40\x00"); /* movq $0x402000, 16(%rip) */
    check_memory(&in.to, REGISTER_RIP, REGISTER_NONE, ADDRESS + 11 + 16);
    assert_int_equal(in.from.kind, DECODE_IMMEDIATE);
    assert_int_equal(in.from.value, 0x402000);
    in = DECODE("\x48\x8d\x14\xf5\x00\x10\x00\x00"); /* lea 4096(,%rsi,8), %rdx */
    assert_int_equal(in.operation, DECODE_LEA);
    check_register(&in.to, REGISTER_RDX);
    check_memory(&in.from, REGISTER_NONE, REGISTER_RSI, 4096);
    assert_int_equal(in.from.scale, 8);
    in = DECODE("\x0f\x20\xc0"); /* mov %cr0, %rax: not a general register */
    assert_int_equal(in.operation, DECODE_MOVE);
    assert_int_equal(in.from.kind, DECODE_NOTHING);
}

static void test_sums_and_stack(void **state)
{
    struct decode_instruction in = DECODE("\x48\x83\xc0\xf0"); /* add $-16, %rax */
    assert_int_equal(in.operation, DECODE_ADD);
    check_register(&in.to, REGISTER_RAX);
    assert_int_equal(in.from.value, -16);
    in = DECODE("\x48\x05\x00\x02\x00\x00"); /* add $512, %rax, in its short form */
    assert_int_equal(in.operation, DECODE_ADD);
    assert_int_equal(in.from.value, 512);
    in = DECODE("\x48\x81\xef\x00\x01\x00\x00"); /* sub $256, %rdi */
    assert_int_equal(in.operation, DECODE_SUBTRACT);
    check_register(&in.to, REGISTER_RDI);
    assert_int_equal(in.from.value, 256);
    check_writes(DECODE("\x83\xc0\x10"), BIT(REGISTER_RAX)); /* add $16, %eax */
    in = DECODE("\x41\x57");                                 /* push %r15 */
    assert_int_equal(in.operation, DECODE_PUSH);
    check_register(&in.from, REGISTER_R15);
    in = DECODE("\x5b"); /* pop %rbx */
    assert_int_equal(in.operation, DECODE_POP);
    check_register(&in.to, REGISTER_RBX);
}

static void test_branches(void **state)
{
    struct decode_instruction in = DECODE("\xe8\xfb\xff\xff\xff"); /* call to itself */
    assert_int_equal(in.operation, DECODE_CALL);
    assert_int_equal(in.target, ADDRESS);
    in = DECODE("\xff\x50\x18"); /* call *24(%rax) */
    assert_int_equal(in.operation, DECODE_CALL);
    assert_int_equal(in.target, 0);
    in = DECODE("\xeb\x10"); /* jmp */
    assert_int_equal(in.operation, DECODE_JUMP);
    assert_int_equal(in.target, ADDRESS + 2 + 16);
    in = DECODE("\x3e\xff\xe0"); /* notrack jmp *%rax */
    assert_int_equal(in.operation, DECODE_JUMP);
    assert_int_equal(in.target, 0);
    in = DECODE("\x0f\x84\x00\x01\x00\x00"); /* je */
    assert_int_equal(in.operation, DECODE_BRANCH);
    assert_int_equal(in.target, ADDRESS + 6 + 256);
    in = DECODE("\xe2\xfe"); /* loop to itself */
    assert_int_equal(in.operation, DECODE_BRANCH);
    assert_int_equal(in.target, ADDRESS);
    assert_int_equal(in.writes & BIT(REGISTER_RCX), BIT(REGISTER_RCX));
    assert_int_equal(DECODE("\xc3").operation, DECODE_RETURN);
    assert_int_equal(DECODE("\xc2\x08\x00").operation, DECODE_RETURN);
    assert_int_equal(DECODE("\x0f\x0b").operation, DECODE_STOP);             /* ud2 */
    assert_int_equal(DECODE("\x67\x0f\xb9\x40\x12").operation, DECODE_STOP); /* ud1, of clang */
    assert_int_equal(DECODE("\xcc").operation, DECODE_STOP);
    assert_int_equal(DECODE("\xf4").operation, DECODE_STOP);
}

static void test_writes(void **state)
{
    check_writes(DECODE("\xf3\x0f\x1e\xfa"), 0);                 /* endbr64 */
    check_writes(DECODE("\x48\x85\xc0"), 0);                     /* test %rax, %rax */
    check_writes(DECODE("\xf2\x0f\x11\x00"), 0);                 /* movsd %xmm0, (%rax) */
    check_writes(DECODE("\x80\xe4\xcf"), BIT(REGISTER_RAX));     /* and $0xcf, %ah */
    check_writes(DECODE("\xb1\x01"), BIT(REGISTER_RCX));         /* mov $1, %cl */
    check_writes(DECODE("\x49\x0f\x44\xc8"), BIT(REGISTER_RCX)); /* cmove %r8, %rcx */
    check_writes(DECODE("\x48\x91"), BIT(REGISTER_RAX) | BIT(REGISTER_RCX)); /* xchg */
    check_writes(DECODE("\xf0\x48\x0f\xb1\x0a"), BIT(REGISTER_RAX)); /* cmpxchg %rcx, (%rdx) */
    check_writes(DECODE("\xf7\xf1"), BIT(REGISTER_RAX) | BIT(REGISTER_RDX));     /* div %ecx */
    check_writes(DECODE("\xf3\x48\xab"), BIT(REGISTER_RDI) | BIT(REGISTER_RCX)); /* rep stosq */
    check_writes(DECODE("\x0f\x05"), BIT(REGISTER_RAX) | BIT(REGISTER_RCX) | BIT(REGISTER_R11));
    check_writes(DECODE("\xc4\xe2\xe8\xf3\xc9"), BIT(REGISTER_RDX)); /* blsr %rcx, %rdx */
    check_writes(DECODE("\x66\x48\x0f\x7e\xc0"), BIT(REGISTER_RAX)); /* movq %xmm0, %rax */
    check_writes(DECODE("\x0f\xa2"),
                 BIT(REGISTER_RAX) | BIT(REGISTER_RBX) | BIT(REGISTER_RCX) | BIT(REGISTER_RDX));
}

static void test_no_instructions(void **state)
{
    static const uint8_t bad[] = {0x06, 0x90, 0x90};
    struct decode_instruction in;
    assert_false(types_decode(bad, sizeof(bad), ADDRESS, &in));
    assert_false(types_decode_branch(bad, sizeof(bad), ADDRESS, &in));
    assert_false(types_decode(bad, 0, ADDRESS, &in));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moves),           cmocka_unit_test(test_sums_and_stack),
        cmocka_unit_test(test_branches),        cmocka_unit_test(test_writes),
        cmocka_unit_test(test_no_instructions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
