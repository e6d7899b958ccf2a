/* SPDX-License-Identifier: BSD-2-Clause */
/* The suppressions of leaks that the program carries: what its function
 * __lsan_default_suppressions() returns, which LeakSanitizer calls before the program's
 * constructors.
 *
 * The function is the program's: it may crash, allocate or never return. So a child process calls
 * it. The child has a copy of the program's memory and records nothing. If anything goes wrong
 * there, the program still goes on as it would alone.
 *
 * Order of calls: program_suppressions_ask() once, from the library's constructor;
 * program_suppressions_put() at the beginning of each trace. */
#include "capture/record/control.h"

#include <elf.h>
#include <link.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "capture/os/elf_symbols.h"
#include "capture/os/os.h"
#include "capture/record/gate.h"
#include "capture/record/thread_room.h"

#define FRAME __builtin_frame_address(0)
#define EXECUTABLE "/proc/self/exe"
#define NAME "__lsan_default_suppressions"
/* Bytes of the text in one record. */
#define PIECE 1900u
#define WAIT_NS INT64_C(2000000000)
#define NAP_NS INT64_C(50000)
#define NAP_MAX_NS INT64_C(5000000)

typedef const char *suppressions_function(void);

/* The function, if the dynamic or the static linker knows it: one of a shared library, or of a
 * program that exports it. */
extern const char *__lsan_default_suppressions(void) __attribute__((weak));

/* Memory that the child process shares. The child alone writes it, before it ends. */
struct answer {
    _Atomic bool whole;
    uint32_t length; /* of the function's text; one more than fits: it is longer */
    char text[TRACE_SUPPRESSIONS_MAX];
};

static struct {
    bool wanted;
    bool known;
    enum trace_suppressions outcome;
    struct answer *answer; /* NULL: there is no text */
} suppressions;

void program_suppressions_want(bool wanted)
{
    suppressions.wanted = wanted;
}

static void find_name(void *context, const char *name, uint64_t address, uint64_t size)
{
    if (strcmp(name, NAME) == 0)
        *(uint64_t *)context = address;
}

/* Finds the distance between the executable's addresses and those of its file. No program header
 * of a static-pie executable tells it. */
static bool executable_bias(uintptr_t *bias)
{
    ElfW(Ehdr) header;
    const int file = os_open_read(EXECUTABLE);
    if (file < 0)
        return false;
    const bool whole = os_read(file, &header, sizeof(header)) == (long)sizeof(header);
    os_close(file);
    *bias = getauxval(AT_ENTRY) - header.e_entry;
    return whole && *bias % getauxval(AT_PAGESZ) == 0;
}

/* The executable's own comes first, as for the dynamic linker; few programs export it. */
static suppressions_function *find_function(void)
{
    uint64_t address = 0;
    uintptr_t bias;
    elf_symbols_of(EXECUTABLE, find_name, &address);
    if (address && executable_bias(&bias))
        return (suppressions_function *)(bias + address); /* NOLINT(performance-*) */
    return __lsan_default_suppressions;
}

/* Returns true if a new process gets this process's own namespace. The first process of another
 * namespace is its init: after its end no process can be made there. */
static bool child_shares_namespace(void)
{
    char own[64], of_children[64];
    return os_read_link("/proc/self/ns/pid", own, sizeof(own)) > 0 &&
           os_read_link("/proc/self/ns/pid_for_children", of_children, sizeof(of_children)) > 0 &&
           strcmp(own, of_children) == 0;
}

static _Noreturn void end_process(void)
{
    for (;;)
        os_call(SYS_exit_group, 0, 0, 0, 0, 0, 0);
}

/* Runs in the child. The pointer may be wrong: reading the text ends the child at worst. */
static _Noreturn void answer_and_end(suppressions_function *function, struct answer *answer,
                                     int parent)
{
    const struct rlimit no_core = {0, 0};
    os_forked();
    recorder_sealed(); /* nothing of this process is recorded */
    os_call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0, 0);
    if (os_call(SYS_getppid, 0, 0, 0, 0, 0, 0) != parent)
        end_process(); /* the parent ended before the call above */
    /* A program that takes core files ignores the limit. */
    os_call(SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0, 0);
    os_call(SYS_prlimit64, 0, RLIMIT_CORE, (long)&no_core, 0, 0, 0);
    const char *text = function();
    const size_t length = text ? strnlen(text, TRACE_SUPPRESSIONS_MAX + 1) : 0;
    if (length)
        memcpy(answer->text, text, length < sizeof(answer->text) ? length : sizeof(answer->text));
    answer->length = (uint32_t)length;
    atomic_store(&answer->whole, true);
    end_process();
}

/* Returns false if the process did not end in time and was killed. */
static bool wait_for(long process)
{
    int64_t nap = NAP_NS;
    for (int64_t waited = 0; waited < WAIT_NS; waited += nap) {
        const struct timespec time = {.tv_nsec = nap};
        if (os_call(SYS_wait4, process, 0, WNOHANG | __WALL, 0, 0, 0) != 0)
            return true;
        os_call(SYS_nanosleep, (long)&time, 0, 0, 0, 0, 0);
        nap = nap < NAP_MAX_NS ? 2 * nap : nap;
    }
    os_call(SYS_kill, process, SIGKILL, 0, 0, 0, 0);
    os_call_retry(SYS_wait4, process, 0, __WALL, 0);
    return false;
}

/* The child sends no signal when it ends: the program's handlers and its wait() do not see it. */
static enum trace_suppressions ask(suppressions_function *function)
{
    const long memory = os_call(SYS_mmap, 0, sizeof(*suppressions.answer), PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory < 0 && memory > -4096)
        return TRACE_SUPPRESSIONS_NOT_ASKED;
    struct answer *answer = (struct answer *)memory; /* NOLINT(performance-no-int-to-ptr) */
    const int parent = os_process_id();
    const long process = os_call(SYS_clone, 0, 0, 0, 0, 0, 0);
    if (process == 0)
        answer_and_end(function, answer, parent);
    const bool ended = process > 0 && wait_for(process);
    if (ended && atomic_load(&answer->whole)) {
        suppressions.answer = answer;
        return TRACE_SUPPRESSIONS_TEXT;
    }
    os_unmap(answer, sizeof(*answer));
    return process < 0 ? TRACE_SUPPRESSIONS_NOT_ASKED
           : ended     ? TRACE_SUPPRESSIONS_CRASHED
                       : TRACE_SUPPRESSIONS_LATE;
}

static enum trace_suppressions ask_any(void)
{
    suppressions_function *function = find_function();
    if (!function)
        return TRACE_SUPPRESSIONS_NONE;
    /* A sandbox that punishes calls may also punish a new process. */
    return os_is_confined() || !child_shares_namespace() ? TRACE_SUPPRESSIONS_NOT_ASKED
                                                         : ask(function);
}

void program_suppressions_ask(void)
{
    if (!suppressions.wanted || suppressions.known)
        return;
    suppressions.outcome = ask_any();
    suppressions.known = true;
    struct thread *thread = recorder_enter(FRAME, RECORDER_NOTE);
    if (!thread)
        return;
    program_suppressions_put(thread);
    recorder_leave();
}

static bool put_piece(struct thread *thread, size_t total, size_t at, const char *piece,
                      size_t length)
{
    return thread_put_record(thread, TRACE_EXT_SUPPRESSIONS,
                             (const uint64_t[]){suppressions.outcome, total, at}, 3, piece, length);
}

void program_suppressions_put(struct thread *thread)
{
    const struct answer *answer = suppressions.answer;
    if (!suppressions.known)
        return;
    const size_t total = answer ? answer->length : 0;
    const size_t kept = total < TRACE_SUPPRESSIONS_MAX ? total : TRACE_SUPPRESSIONS_MAX;
    size_t at = 0;
    do {
        const size_t length = kept - at < PIECE ? kept - at : PIECE;
        if (!put_piece(thread, total, at, answer ? answer->text + at : "", length))
            return;
        at += length;
    } while (at < kept);
}
