/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel and seccomp_evaluate() run the same filters and give the same answers. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "capture/os/seccomp/seccomp.h"

#define STEPS 24u
#define HEAD 2u
#define FILTERS 400
#define NUMBER SYS_getpgid
#define ERROR_MASK 0xfffu /* the kernel truncates larger errors */

static const uint64_t arguments[6] = {0, UINT64_C(0x123456789abcdef0), 7, UINT64_MAX, 31, 1};

static uint32_t random_state = 7;

static uint32_t draw(uint32_t below)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % below;
}

static uint32_t draw_number(void)
{
    static const uint32_t numbers[] = {0, 1, 31, 32, 255, 0x80000000u, UINT32_MAX};
    return draw(3) ? numbers[draw(7)] : draw(1u << 24) * 251u;
}

static struct sock_filter draw_step(uint32_t left)
{
    static const uint16_t calculations[] = {BPF_ADD, BPF_SUB, BPF_MUL, BPF_DIV, BPF_AND,
                                            BPF_OR,  BPF_XOR, BPF_LSH, BPF_RSH, BPF_NEG};
    static const uint16_t comparisons[] = {BPF_JEQ, BPF_JGT, BPF_JGE, BPF_JSET};
    const uint16_t source = draw(2) ? BPF_X : BPF_K;
    const uint16_t calculation = calculations[draw(10)];
    uint32_t number = draw_number();
    switch (draw(8)) {
    case 0:
        /* All of the data except the place of the call. */
        number = 4 * (draw(2) ? draw(2) : 4 + draw(12));
        return (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, number);
    case 1:
        return (struct sock_filter)BPF_STMT((uint16_t)((draw(2) ? BPF_LD : BPF_LDX) | BPF_IMM),
                                            number);
    case 2:
        return (struct sock_filter)BPF_STMT((uint16_t)(draw(2) ? BPF_ST : BPF_STX),
                                            draw(BPF_MEMWORDS));
    case 3:
        return (struct sock_filter)BPF_STMT((uint16_t)(BPF_MISC | (draw(2) ? BPF_TAX : BPF_TXA)),
                                            0);
    case 4:
        return (struct sock_filter)BPF_JUMP((uint16_t)(BPF_JMP | comparisons[draw(4)] | source),
                                            number, (uint8_t)draw(left), (uint8_t)draw(left));
    case 5:
        return (struct sock_filter)BPF_STMT(
            (uint16_t)(draw(2) ? BPF_LD | BPF_W : BPF_LDX | BPF_W) | BPF_LEN, 0);
    default:
        /* The kernel refuses constants that shift by all bits or divide by zero. */
        if (source == BPF_K && (calculation == BPF_LSH || calculation == BPF_RSH))
            number %= 32;
        if (source == BPF_K && calculation == BPF_DIV && number == 0)
            number = 3;
        return (struct sock_filter)BPF_STMT(
            (uint16_t)(BPF_ALU | calculation | (calculation == BPF_NEG ? BPF_K : source)), number);
    }
}

/* Draws random steps for one call, which ends with the error A. Every other call is allowed. */
static uint32_t draw_filter(struct sock_filter *code)
{
    uint32_t count = 0;
    code[count++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0);
    code[count++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NUMBER, 0, 0);
    /* The kernel refuses to load a word that was not stored on every path. */
    for (uint32_t i = 0; i < BPF_MEMWORDS; i++)
        code[count++] = (struct sock_filter)BPF_STMT(BPF_ST, i);
    for (uint32_t i = 0; i < STEPS; i++)
        code[count++] = draw_step(STEPS - i);
    code[count++] = (struct sock_filter)BPF_STMT(BPF_MISC | BPF_TAX, 0);
    code[count++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_MEM, draw(BPF_MEMWORDS));
    code[count++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_XOR | BPF_X, 0);
    code[count++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, ERROR_MASK);
    code[count++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_OR | BPF_K, SECCOMP_RET_ERRNO);
    code[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_A, 0);
    code[count] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    code[1].jf = (uint8_t)(count - HEAD);
    return count + 1;
}

/* Returns the error that the call ends with under the filter, -1 if the kernel kills it, -2 if the
 * kernel refuses the filter. */
static int ask_kernel(const struct sock_filter *code, uint32_t count)
{
    struct sock_fprog program = {.len = (unsigned short)count,
                                 .filter = (struct sock_filter *)code};
    int results[2], error = -1;
    assert_int_equal(pipe(results), 0);
    pid_t child = fork();
    if (child == 0) {
        error = -2;
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
            prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0) {
            errno = 0;
            error = syscall(NUMBER, arguments[0], arguments[1], arguments[2], arguments[3],
                            arguments[4], arguments[5]) == 0
                        ? 0
                        : errno;
        }
        (void)!write(results[1], &error, sizeof(error));
        _exit(0);
    }
    close(results[1]);
    (void)!read(results[0], &error, sizeof(error));
    close(results[0]);
    waitpid(child, NULL, 0);
    return error;
}

static void test_the_kernel_agrees(void **state)
{
    struct seccomp_data call = {.nr = NUMBER, .arch = AUDIT_ARCH_X86_64};
    uint32_t data[sizeof(call) / 4];
    int compared = 0;
    memcpy(call.args, arguments, sizeof(call.args));
    memcpy(data, &call, sizeof(data));
    for (int i = 0; i < FILTERS; i++) {
        struct sock_filter code[HEAD + BPF_MEMWORDS + STEPS + 7];
        uint32_t count = draw_filter(code);
        int kernel = ask_kernel(code, count);
        if (kernel == -2)
            continue;
        uint32_t own = seccomp_evaluate(code, count, data);
        if (kernel == -1)
            assert_int_equal(own, SECCOMP_RET_KILL_THREAD);
        else {
            assert_int_equal(own & SECCOMP_RET_ACTION_FULL, SECCOMP_RET_ERRNO);
            /* Errors above 4095 are truncated. 0 is not an error, but the call is not made. */
            assert_int_equal(own & ERROR_MASK, kernel);
        }
        compared++;
    }
    if (compared == 0)
        skip(); /* no seccomp here */
    assert_true(compared > FILTERS * 3 / 4);
}

static void test_what_is_kept(void **state)
{
    static const uint64_t none[6] = {0};
    static struct sock_filter forbid[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    static struct sock_filter by_place[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, instruction_pointer)),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = 4, .filter = forbid};
    assert_true(seccomp_filters_allow(SYS_openat, none));
    uint32_t first = seccomp_filters_add(&program);
    assert_false(seccomp_filters_allow(SYS_openat, none));
    assert_true(seccomp_filters_allow(SYS_close, none));
    /* The program may overwrite its filter afterwards. */
    forbid[1].k = SYS_close;
    assert_true(seccomp_filters_allow(SYS_close, none));
    seccomp_filters_remove(first);
    assert_true(seccomp_filters_allow(SYS_openat, none));

    uint32_t placed = seccomp_filters_add(&(struct sock_fprog){.len = 2, .filter = by_place});
    assert_false(seccomp_filters_allow(SYS_close, none));
    seccomp_filters_remove(placed);
    /* The kernel refuses these. A program may find out in this way whether there is seccomp, any
     * number of times. */
    for (int i = 0; i < 100; i++) {
        assert_int_equal(seccomp_filters_add((const struct sock_fprog *)8), SECCOMP_FILTERS_NONE);
        seccomp_filters_remove(seccomp_filters_add(&program));
    }
    assert_true(seccomp_filters_allow(SYS_close, none));
    uint32_t strict = seccomp_filters_add_strict();
    assert_true(seccomp_filters_allow(SYS_write, none));
    assert_false(seccomp_filters_allow(SYS_close, none));
    seccomp_filters_remove(strict);
    assert_true(seccomp_filters_allow(SYS_close, none));

    /* There is no room for so many, so nothing is allowed. */
    for (int i = 0; i < 20; i++)
        seccomp_filters_add(&program);
    assert_false(seccomp_filters_allow(SYS_write, none));
}

/* Returns the answer for a status with this text. */
static bool mode_of(const char *before, size_t groups, const char *after)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    fputs(before, file);
    for (size_t i = 0; i < groups; i++)
        fprintf(file, "%zu ", i);
    fputs(after, file);
    rewind(file);
    const bool set = seccomp_is_on_by(fileno(file));
    fclose(file);
    return set;
}

static void test_filters_from_before(void **state)
{
    const char *const none = " \nThreads:\t1\nSeccomp:\t0\nSeccomp_filters:\t0\n";
    const char *const filter = " \nThreads:\t1\nSeccomp:\t2\nSeccomp_filters:\t1\n";
    /* The line may lie anywhere in the part that is read at once, and far into the file. */
    for (size_t groups = 0; groups < 300; groups++) {
        assert_false(mode_of("Name:\tSeccomp:\t2\nGroups:\t", groups, none));
        assert_true(mode_of("Name:\tSeccomp:\t0\nGroups:\t", groups, filter));
    }
    assert_true(mode_of("Groups:\t", 65536, filter));
    assert_true(mode_of("Name:\tx\n\nSeccomp:\t1\n", 0, ""));
    /* A kernel without seccomp has no such line. A line that is cut off tells nothing. */
    assert_false(mode_of("Name:\tx\nThreads:\t1\n", 0, ""));
    assert_true(mode_of("Name:\tx\nSeccomp:\t", 0, ""));
    assert_true(seccomp_is_on_by(-1));
}

static void test_filter_of_this_process(void **state)
{
    static struct sock_filter allow[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const struct sock_fprog program = {.len = 1, .filter = allow};
    int status;
    pid_t process = fork();
    if (process == 0) {
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
            prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
            _exit(77);
        _exit(!seccomp_is_on());
    }
    assert_int_equal(waitpid(process, &status, 0), process);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        skip();
    assert_int_equal(status, 0);
    assert_int_equal(seccomp_is_on(), prctl(PR_GET_SECCOMP) != 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_kernel_agrees),
        cmocka_unit_test(test_what_is_kept),
        cmocka_unit_test(test_filters_from_before),
        cmocka_unit_test(test_filter_of_this_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
