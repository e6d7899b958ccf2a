/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/run/attach_threads.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "capture/run/client.h"
#include "capture/run/seize.h"

#define BREAKPOINTS 3u /* of the four that the processor has, on functions */
#define WAY_OUT 3u     /* the fourth one, where a thread returns to the program */
#define CALLERS 512u   /* words of a stack in which that place is searched */
#define OF_A_MODULE 4u /* functions that get one, in each allocator and in the recorder */
#define RED_ZONE 128u
#define TEXTS 12288u         /* for attach_threads_put() */
#define STACK_WANTED 131072u /* the loader and the recorder's start take about a tenth */
#define SCANNED 65536u       /* of the stack, for frames of signal handlers */
#define PAGE 4096u
#define AGAIN 0.05             /* seconds until all threads are looked at again */
#define RESUME_FLAG 0x10000ul  /* of EFLAGS: go past the breakpoint here */
#define DIRECTION_FLAG 0x400ul /* of EFLAGS: functions expect it to be clear */
#define CODE_64 0x33           /* the segment of 64-bit code */

/* The threads of the process, as far as they are traced. */
struct crowd {
    const struct attach_target *target;
    struct seized seized;
    /* All places for breakpoints, and the first one of those that are in use now. */
    uint64_t breakpoints[(ATTACH_ALLOCATORS_MAX + 1) * OF_A_MODULE];
    size_t breakpoint_count, first_breakpoint;
    unsigned round; /* of the looks at all threads */
};

static size_t debug_register(size_t number)
{
    return offsetof(struct user, u_debugreg) + number * sizeof(long);
}

/* Sets the breakpoints of a thread. `way_out`: where it returns to the program; 0: not known. */
static void set_breakpoints(const struct crowd *crowd, pid_t thread, bool on, uint64_t way_out)
{
    unsigned long control = 0;
    const size_t left = on ? crowd->breakpoint_count - crowd->first_breakpoint : 0;
    /* Those that are on may not be moved. */
    ptrace(PTRACE_POKEUSER, thread, debug_register(7), 0);
    for (size_t i = 0; i < left && i < BREAKPOINTS; i++) {
        ptrace(PTRACE_POKEUSER, thread, debug_register(i),
               crowd->breakpoints[crowd->first_breakpoint + i]);
        control |= 1ul << (2 * i);
    }
    if (way_out) {
        ptrace(PTRACE_POKEUSER, thread, debug_register(WAY_OUT), way_out);
        control |= 1ul << (2 * WAY_OUT);
    }
    ptrace(PTRACE_POKEUSER, thread, debug_register(7), control);
}

/* Chooses the next breakpoints. Each thread gets them when it stops. */
static void change_breakpoints(struct crowd *crowd)
{
    crowd->round++;
    crowd->first_breakpoint += BREAKPOINTS;
    if (crowd->first_breakpoint >= crowd->breakpoint_count)
        crowd->first_breakpoint = 0;
}

static bool is_breakpoint(const struct crowd *crowd, uint64_t address)
{
    for (size_t i = 0; i < crowd->breakpoint_count; i++)
        if (crowd->breakpoints[i] == address)
            return true;
    return false;
}

/* Returns true if the loader and the allocator never wait in the system call. */
static bool is_plain_wait(long number)
{
    switch (number) {
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
    case SYS_poll:
    case SYS_ppoll:
    case SYS_select:
    case SYS_pselect6:
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
    case SYS_accept:
    case SYS_accept4:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_wait4:
    case SYS_waitid:
    case SYS_rt_sigtimedwait:
    case SYS_rt_sigsuspend:
    case SYS_pause:
    case SYS_restart_syscall: /* a wait with an end that was interrupted: their locks have none */
        return true;
    default:
        return false;
    }
}

/* Reads the thread's stack from `stack` on, up to `count` words. Returns how many there are. */
static size_t read_stack(pid_t process, uint64_t stack, uint64_t *words, size_t count)
{
    size_t done = 0;
    while (done < count) {
        const size_t page = (PAGE - (stack + done * 8) % PAGE) / 8;
        const size_t size = page < count - done ? page : count - done;
        if (!attach_read(process, stack + done * 8, words + done, size * 8))
            break;
        done += size;
    }
    return done;
}

/* Returns true if the thread may be inside a signal handler, which may have interrupted malloc. The
 * kernel puts a frame on the stack for it, which begins with the address of the code that ends
 * handlers. The registers follow, as a ucontext_t. That address alone says nothing: sigaction()
 * leaves copies of it on the stack. */
static bool may_handle_signal(const struct attach_target *target, uint64_t stack)
{
    static uint64_t words[SCANNED / 8];
    const size_t code = 1 + offsetof(ucontext_t, uc_mcontext.gregs[REG_CSGSFS]) / 8;
    const size_t most = sizeof(words) / sizeof(*words);
    if (target->restorer == 0)
        return true;
    const size_t count = read_stack(target->process, stack, words, most);
    for (size_t i = 0; i < count; i++)
        if (words[i] == target->restorer &&
            (i + code < count ? (uint16_t)words[i + code] == CODE_64 : count == most))
            return true;
    return false;
}

/* Returns true if a call ends just before the address. */
static bool follows_call(const struct attach_target *target, uint64_t address)
{
    uint8_t code[7];
    return attach_read(target->process, address - sizeof(code), code, sizeof(code)) &&
           (code[2] == 0xe8 || code[5] == 0xff || code[4] == 0xff || code[3] == 0xff ||
            code[1] == 0xff || code[0] == 0xff);
}

/* Returns where the thread, which is not in the program's code, seems to return to it: an address
 * behind a call in that code, on the stack. Old ones may lie there too, so each round takes another
 * one. Such a place is safe whoever comes there. 0: none. */
static uint64_t way_out_of(const struct crowd *crowd, uint64_t stack)
{
    uint64_t words[CALLERS], found[4];
    size_t count = 0;
    const size_t size = read_stack(crowd->target->process, stack, words, CALLERS);
    for (size_t i = 0; i < size && count < sizeof(found) / sizeof(*found); i++)
        if (attach_target_is_program(crowd->target, words[i]) &&
            follows_call(crowd->target, words[i]))
            found[count++] = words[i];
    return count ? found[crowd->round % count] : 0;
}

static bool is_safe(const struct crowd *crowd, pid_t thread, struct user_regs_struct *registers)
{
    const struct attach_target *target = crowd->target;
    uint64_t caller;
    if (ptrace(PTRACE_GETREGS, thread, NULL, registers) != 0 || registers->cs != CODE_64)
        return false;
    if (is_breakpoint(crowd, registers->rip)) {
        if (!attach_read(target->process, registers->rsp, &caller, sizeof(caller)))
            return false;
        const struct attach_module *module = attach_target_at(target, caller);
        if (module && (module->is_libc || module->is_loader || module->malloc))
            return false;
    } else if (!attach_target_is_program(target, registers->rip)) {
        const struct attach_module *module = attach_target_at(target, registers->rip);
        if (!is_plain_wait((long)registers->orig_rax) || (module && module->is_loader))
            return false;
    }
    return attach_stack_room(target->process, registers->rsp, STACK_WANTED) == STACK_WANTED &&
           !may_handle_signal(target, registers->rsp);
}

/* Waits for one thread. False if it has ended. */
static bool wait_for(pid_t thread, int *status)
{
    enum seized_waited waited;
    do {
        waited = seized_wait(thread, status, SEIZED_LONG_ROUNDS, false);
    } while (waited == SEIZED_LONG);
    return waited == SEIZED_STOPPED;
}

static bool is_at_breakpoint(const struct crowd *crowd, pid_t thread)
{
    struct user_regs_struct registers;
    return ptrace(PTRACE_GETREGS, thread, NULL, &registers) == 0 &&
           (is_breakpoint(crowd, registers.rip) ||
            registers.rip ==
                (uint64_t)ptrace(PTRACE_PEEKUSER, thread, debug_register(WAY_OUT), NULL));
}

/* Returns true if a thread that stopped with `status` was stopped by one of our breakpoints. */
static bool stopped_at_breakpoint(const struct crowd *crowd, pid_t thread, int status)
{
    return status >> 16 == 0 && WSTOPSIG(status) == SIGTRAP && is_at_breakpoint(crowd, thread);
}

/* Returns true if a stopped thread has run into a breakpoint but was not stopped for it yet. */
static bool has_trap(pid_t thread)
{
    struct __ptrace_peeksiginfo_args one = {.off = 0, .flags = 0, .nr = 1};
    siginfo_t signal;
    for (; ptrace(PTRACE_PEEKSIGINFO, thread, &one, &signal) == 1; one.off++)
        if (signal.si_signo == SIGTRAP && signal.si_code == TRAP_HWBKPT)
            return true;
    return false;
}

/* Returns the signal that a thread gets when it goes on. */
static long signal_of(const struct crowd *crowd, pid_t thread, int status)
{
    return status >> 16 || stopped_at_breakpoint(crowd, thread, status) ? 0 : WSTOPSIG(status);
}

/* Lets a stopped thread go on until no signal of a breakpoint is left, which nobody would catch
 * later. False if the thread has ended. */
static bool take_traps(const struct crowd *crowd, pid_t thread, int *status)
{
    while (has_trap(thread))
        if (ptrace(PTRACE_CONT, thread, NULL, signal_of(crowd, thread, *status)) != 0 ||
            !wait_for(thread, status))
            return false;
    return true;
}

/* Lets a stopped thread that is not at a safe point go on. */
static void pass(const struct crowd *crowd, pid_t thread, int status)
{
    struct user_regs_struct registers;
    long number = status >> 16 ? 0 : WSTOPSIG(status);
    if (status >> 16 && WSTOPSIG(status) != SIGTRAP) { /* somebody stops the whole process */
        ptrace(PTRACE_LISTEN, thread, NULL, NULL);
        return;
    }
    if (stopped_at_breakpoint(crowd, thread, status)) {
        ptrace(PTRACE_GETREGS, thread, NULL, &registers);
        registers.eflags |= RESUME_FLAG;
        ptrace(PTRACE_SETREGS, thread, NULL, &registers);
        number = 0;
    }
    uint64_t way_out = 0;
    if (ptrace(PTRACE_GETREGS, thread, NULL, &registers) == 0)
        way_out = way_out_of(crowd, registers.rsp);
    set_breakpoints(crowd, thread, true, way_out);
    ptrace(PTRACE_CONT, thread, NULL, number);
}

/* Takes one stop of any thread. Returns the thread if it is at a safe point, 0 if it is not, -1 if
 * none has stopped. */
static pid_t take_stop(struct crowd *crowd, struct user_regs_struct *registers)
{
    int status;
    const pid_t thread = waitpid(-1, &status, __WALL | WNOHANG);
    if (thread <= 0)
        return -1;
    if (!WIFSTOPPED(status)) {
        seized_remove(&crowd->seized, thread);
        return 0;
    }
    /* A thread that was interrupted just where a breakpoint lies still has its signal to come. */
    const bool ours = status >> 16 == PTRACE_EVENT_STOP
                          ? WSTOPSIG(status) == SIGTRAP && !is_at_breakpoint(crowd, thread)
                          : stopped_at_breakpoint(crowd, thread, status);
    if (ours && is_safe(crowd, thread, registers))
        return thread;
    pass(crowd, thread, status);
    return 0;
}

/* Returns true if all threads have ended, also those of which the kernel has not told it yet. */
static bool crowd_has_ended(const struct crowd *crowd)
{
    size_t ended = 0;
    for (size_t i = 0; i < crowd->seized.count; i++)
        ended += seized_has_ended(crowd->target->process, crowd->seized.threads[i]);
    return ended == crowd->seized.count;
}

/* Searches a thread at a safe point. Returns 0 if there is none in time. */
static pid_t search(struct crowd *crowd, double seconds, struct user_regs_struct *registers)
{
    const double end = run_steer_now() + seconds;
    double again = 0;
    while (run_steer_now() < end) {
        if (crowd->seized.count == 0 || run_steer_now() >= again) {
            again = run_steer_now() + AGAIN;
            change_breakpoints(crowd);
            seized_add_new(&crowd->seized); /* those that this misses are there the next time */
            if (crowd->seized.count == 0)
                return 0;
            for (size_t i = 0; i < crowd->seized.count; i++)
                ptrace(PTRACE_INTERRUPT, crowd->seized.threads[i], NULL, NULL);
        }
        const pid_t found = take_stop(crowd, registers);
        if (found > 0)
            return found;
        if (found < 0)
            nanosleep(&(struct timespec){0, 200000}, NULL);
    }
    return 0;
}

/* Lets all threads except `held` go on, untraced. */
static void release(struct crowd *crowd, pid_t held)
{
    int status;
    for (size_t i = 0; i < crowd->seized.count; i++) {
        const pid_t thread = crowd->seized.threads[i];
        if (thread == held)
            continue;
        if (ptrace(PTRACE_INTERRUPT, thread, NULL, NULL) != 0 || !wait_for(thread, &status))
            continue;
        set_breakpoints(crowd, thread, false, 0);
        if (take_traps(crowd, thread, &status))
            ptrace(PTRACE_DETACH, thread, NULL, signal_of(crowd, thread, status));
    }
}

/* Adds the functions of a module. A program may allocate by realloc alone, as Lua does: the C
 * library calls malloc then. */
static void add_breakpoints(struct crowd *crowd, const struct attach_module *module)
{
    const uint64_t functions[OF_A_MODULE] = {module->malloc, module->free, module->realloc,
                                             module->calloc};
    for (size_t i = 0; module->malloc && module->free && i < OF_A_MODULE; i++)
        if (functions[i])
            crowd->breakpoints[crowd->breakpoint_count++] = functions[i];
}

/* The recorder's functions come first, since the process may call those, then the allocators'. The
 * C library's come last: with another allocator the program does not call them. */
static void choose_breakpoints(struct crowd *crowd)
{
    const struct attach_target *target = crowd->target;
    if (target->recorder)
        add_breakpoints(crowd, target->recorder);
    for (size_t i = 0; i < target->allocator_count; i++)
        if (!target->allocators[i]->is_libc)
            add_breakpoints(crowd, target->allocators[i]);
    for (size_t i = 0; i < target->allocator_count; i++)
        if (target->allocators[i]->is_libc)
            add_breakpoints(crowd, target->allocators[i]);
    crowd->first_breakpoint = crowd->breakpoint_count; /* the search begins by a change */
}

/* Saves what the calls change, and blocks the thread's signals except those of its own errors. */
static bool prepare(struct attach_thread *held)
{
    const uint64_t blocked =
        ~(UINT64_C(1) << (SIGTRAP - 1) | UINT64_C(1) << (SIGSEGV - 1) |
          UINT64_C(1) << (SIGBUS - 1) | UINT64_C(1) << (SIGILL - 1) | UINT64_C(1) << (SIGFPE - 1));
    struct iovec state = {held->xstate, sizeof(held->xstate)};
    uint64_t place;
    if (ptrace(PTRACE_GETREGSET, held->thread, NT_X86_XSTATE, &state) != 0 ||
        ptrace(PTRACE_GETSIGMASK, held->thread, sizeof(held->signals), &held->signals) != 0 ||
        ptrace(PTRACE_SETSIGMASK, held->thread, sizeof(blocked), &blocked) != 0)
        return false;
    held->xstate_size = state.iov_len;
    held->top = (held->registers.rsp - RED_ZONE) & ~UINT64_C(15);
    if (!attach_threads_call(held, held->target->errno_location, (uint64_t[3]){0}, &place) ||
        !attach_read(held->target->process, place, &held->error, sizeof(held->error)))
        return false;
    held->errno_place = place;
    return true;
}

bool attach_threads_stop(struct attach_thread *held, const struct attach_target *target,
                         double seconds, char *why, size_t size)
{
    struct crowd crowd = {.target = target, .seized = {.process = target->process}};
    memset(held, 0, sizeof(*held));
    held->target = target;
    choose_breakpoints(&crowd);
    int added = seized_add_new(&crowd.seized);
    if (added <= 0) {
        seized_explain(target->process, added == 0 ? ESRCH : errno, why, size);
        release(&crowd, 0);
        seized_free(&crowd.seized);
        return false;
    }
    held->thread = search(&crowd, seconds, &held->registers);
    held->ended = held->thread == 0 && crowd_has_ended(&crowd);
    release(&crowd, held->thread);
    seized_free(&crowd.seized);
    if (held->ended) {
        snprintf(why, size, "it has ended");
        return false;
    }
    if (held->thread == 0) {
        snprintf(why, size,
                 "none of its threads came to a point where a library can be loaded within %.0f "
                 "seconds; try again when it waits or allocates",
                 seconds);
        return false;
    }
    set_breakpoints(&crowd, held->thread, false, 0);
    if (!attach_target_is_same(target)) {
        snprintf(why, size, "it has executed another program");
        attach_threads_go(held);
        return false;
    }
    if (prepare(held))
        return true;
    snprintf(why, size, "its thread %d cannot be held: %s", (int)held->thread,
             held->ended ? "it has ended" : strerror(errno));
    attach_threads_go(held);
    return false;
}

uint64_t attach_threads_put(struct attach_thread *held, const char *text)
{
    const uint64_t size = strlen(text) + 1;
    const uint64_t first = (held->registers.rsp - RED_ZONE) & ~UINT64_C(15);
    if (first - held->top + size > TEXTS)
        return 0;
    held->top = (held->top - size) & ~UINT64_C(15);
    return attach_write(held->target->process, held->top, text, size) ? held->top : 0;
}

/* Waits until the call has returned to the trap. A thread that is alone and waits for a lock waits
 * for ever: a thread that only its parent has holds that lock. It is interrupted to see that. */
static bool wait_for_return(struct attach_thread *held, struct user_regs_struct *registers)
{
    bool interrupted = false;
    int status;
    for (;;) {
        const enum seized_waited waited =
            seized_wait(held->thread, &status, SEIZED_LONG_ROUNDS, false);
        if (waited == SEIZED_ENDED) {
            held->ended = true;
            return false;
        }
        if (waited == SEIZED_LONG) {
            if (!interrupted && attach_thread_count(held->target->process) == 1)
                interrupted = ptrace(PTRACE_INTERRUPT, held->thread, NULL, NULL) == 0;
            continue;
        }
        const int number = status >> 16 ? 0 : WSTOPSIG(status);
        if (ptrace(PTRACE_GETREGS, held->thread, NULL, registers) != 0)
            return false;
        if (number == SIGTRAP && registers->rip == held->target->trap + 1)
            return true;
        if (interrupted && status >> 16 == PTRACE_EVENT_STOP && registers->orig_rax == SYS_futex)
            return false;
        interrupted = interrupted && status >> 16 != PTRACE_EVENT_STOP;
        /* An error in the called code: the thread goes back to where it was, without it. */
        if (number == SIGSEGV || number == SIGBUS || number == SIGILL || number == SIGFPE)
            return false;
        /* Its other signals are blocked. */
        ptrace(PTRACE_CONT, held->thread, NULL, number == SIGTRAP ? 0L : (long)number);
    }
}

bool attach_threads_call(struct attach_thread *held, uint64_t function, const uint64_t arguments[3],
                         uint64_t *result)
{
    struct user_regs_struct registers = held->registers;
    const uint64_t stack = held->top - 16 - 8; /* as after the push of a return address */
    if (!attach_write(held->target->process, stack, &held->target->trap, sizeof(uint64_t)))
        return false;
    registers.rip = function;
    registers.rdi = arguments[0];
    registers.rsi = arguments[1];
    registers.rdx = arguments[2];
    registers.rax = 0;
    registers.rsp = stack;
    registers.orig_rax = (unsigned long)-1; /* no system call is restarted here */
    registers.eflags &= ~DIRECTION_FLAG;
    if (ptrace(PTRACE_SETREGS, held->thread, NULL, &registers) != 0 ||
        ptrace(PTRACE_CONT, held->thread, NULL, 0) != 0 || !wait_for_return(held, &registers))
        return false;
    *result = registers.rax;
    return true;
}

void attach_threads_go(struct attach_thread *held)
{
    struct iovec state = {held->xstate, held->xstate_size};
    if (held->ended)
        return;
    if (held->errno_place)
        attach_write(held->target->process, held->errno_place, &held->error, sizeof(held->error));
    if (held->xstate_size)
        ptrace(PTRACE_SETREGSET, held->thread, NT_X86_XSTATE, &state);
    ptrace(PTRACE_SETREGS, held->thread, NULL, &held->registers);
    ptrace(PTRACE_SETSIGMASK, held->thread, sizeof(held->signals), &held->signals);
    ptrace(PTRACE_DETACH, held->thread, NULL, 0);
}
