/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/record/unhooked_modules.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "capture/os/arch_x86_64.h"
#include "capture/os/c_library.h"
#include "capture/os/message.h"
#include "capture/os/os.h"
#include "capture/record/allocators.h"
#include "capture/record/gate.h"
#include "capture/record/got_patch.h"
#include "capture/record/real.h"
#include "capture/record/thread_room.h"
#include "schemas/trace_layout.h"

/* ---- the report ------------------------------------------------------------------------- */

/* Reports the modules that bypassed the recorder for a while or still do so, in the trace and in
 * the line at the end. Any thread may add one. */

#define REPORTS_MAX 256u
#define PATH_SHARE 1024u
#define FUNCTION_SHARE 64u
#define LINE_SHARE 800u

/* EMPTY → FILLING → READY; the fields are written in FILLING only. */
enum { EMPTY, FILLING, READY };

struct report {
    _Atomic uint32_t filled;
    _Atomic bool written;
    enum trace_bypass state;
    char path[PATH_SHARE], function[FUNCTION_SHARE];
};

static struct {
    _Atomic(void *) reports; /* struct report, mapped at the first one */
    _Atomic uint32_t more;   /* reports that found no room */
} all;

static bool report_is(const struct report *report, const char *path, enum trace_bypass state,
                      const char *function)
{
    return report->state == state && strncmp(report->path, path, sizeof(report->path) - 1) == 0 &&
           strncmp(report->function, function, sizeof(report->function) - 1) == 0;
}

/* Notes a module, once for each state and function. `function` is "", except for
 * TRACE_BYPASS_FUNCTION. */
static void unhooked_report_add(const char *path, enum trace_bypass state, const char *function)
{
    struct report *reports = os_map_once(&all.reports, REPORTS_MAX * sizeof(struct report));
    for (unsigned i = 0; reports && i < REPORTS_MAX; i++) {
        uint32_t filled = EMPTY;
        if (atomic_compare_exchange_strong(&reports[i].filled, &filled, FILLING)) {
            reports[i].state = state;
            memcpy(reports[i].path, path, strnlen(path, sizeof(reports[i].path) - 1));
            memcpy(reports[i].function, function,
                   strnlen(function, sizeof(reports[i].function) - 1));
            atomic_store(&reports[i].filled, READY);
            return;
        }
        if (filled == READY && report_is(&reports[i], path, state, function)) {
            /* It was loaded again: the trace tells up to when its calls are missing. */
            if (state == TRACE_BYPASS_LATE)
                atomic_store(&reports[i].written, false);
            return;
        }
    }
    atomic_fetch_add(&all.more, 1);
}

static bool unhooked_report_is_due(void)
{
    const struct report *reports = atomic_load(&all.reports);
    for (unsigned i = 0; reports && i < REPORTS_MAX; i++)
        if (atomic_load(&reports[i].filled) == READY && !atomic_load(&reports[i].written))
            return true;
    return false;
}

/* Writes the records that are not in the trace yet. Needs the guard held. */
static void unhooked_report_put(struct thread *thread)
{
    struct report *reports = atomic_load(&all.reports);
    for (unsigned i = 0; reports && i < REPORTS_MAX; i++) {
        struct report *report = &reports[i];
        if (atomic_load(&report->filled) != READY || atomic_exchange(&report->written, true))
            continue;
        uint8_t *p = thread_extended_begin(thread, PATH_SHARE + FUNCTION_SHARE + 32);
        if (!p)
            return;
        p = thread_put_when(thread, p);
        p = trace_put_varint(p, report->state);
        p = trace_put_string(p, report->path, strlen(report->path));
        if (report->state == TRACE_BYPASS_FUNCTION)
            p = trace_put_string(p, report->function, strlen(report->function));
        thread_extended_end(thread, TRACE_EXT_BYPASS, p);
    }
}

/* Prepares a new trace: notes about modules that are not recorded are due again, those about
 * modules that were only late are not. */
static void unhooked_report_new_trace(void)
{
    struct report *reports = atomic_load(&all.reports);
    for (unsigned i = 0; reports && i < REPORTS_MAX; i++)
        if (atomic_load(&reports[i].filled) == READY)
            atomic_store(&reports[i].written, reports[i].state == TRACE_BYPASS_LATE);
}

/* Appends to a line of LINE_SHARE bytes. False if the text does not fit. */
static bool line_add(char *line, const char *text)
{
    const size_t used = strlen(line), length = strlen(text);
    if (used + length >= LINE_SHARE)
        return false;
    memcpy(line + used, text, length + 1);
    return true;
}

static const char *const said[] = {
    [TRACE_BYPASS_LATE] = "recorded only from some time after they were loaded: ",
    [TRACE_BYPASS_NAMESPACE] = "not recorded, in a namespace of dlmopen with its own heap: ",
    [TRACE_BYPASS_OTHER] = "not recorded, bound to another allocator: ",
    [TRACE_BYPASS_REFUSED] = "not recorded, because memory cannot be made writable: ",
    [TRACE_BYPASS_MISSED] = "not recorded, found only at the end: ",
    [TRACE_BYPASS_FUNCTION] =
        "not recorded, unless they call malloc, functions of another allocator: ",
};

/* Appends the modules of one state. Returns how many did not fit. */
static unsigned line_add_state(char *line, const struct report *reports, enum trace_bypass state)
{
    unsigned left_out = 0;
    bool first = true;
    for (unsigned i = 0; i < REPORTS_MAX; i++) {
        if (atomic_load(&reports[i].filled) != READY || reports[i].state != state)
            continue;
        const char *before = !first ? ", " : line[0] ? "; " : "";
        const size_t used = strlen(line);
        if (line_add(line, before) && (!first || line_add(line, said[state])) &&
            (!reports[i].function[0] ||
             (line_add(line, reports[i].function) && line_add(line, " by "))) &&
            line_add(line, reports[i].path)) {
            first = false;
            continue;
        }
        line[used] = 0;
        left_out++;
    }
    return left_out;
}

static void unhooked_report_say(void)
{
    const struct report *reports = atomic_load(&all.reports);
    char line[LINE_SHARE] = "";
    unsigned left_out = atomic_load(&all.more);
    if (!reports)
        return;
    for (unsigned state = 0; state < sizeof(said) / sizeof(*said); state++)
        if (said[state])
            left_out += line_add_state(line, reports, (enum trace_bypass)state);
    if (left_out)
        message_line(line, "; and ", OS_DECIMAL(left_out), " more", NULL);
    else if (line[0])
        message_line(line, NULL);
}

#define FRAME __builtin_frame_address(0)
#define NAMES_MAX 64u
#define KNOWN_MAX 8192u
#define TURNS_MAX 100000u
#define NEVER_LOOKED UINT64_MAX /* no loader counts so far; that of musl begins at 0 */

/* An object that was looked at. All zero: a free entry. */
struct known {
    uint64_t bias;
    const void *headers;
};

/* Bits of unhooked_modules_expected: what may be loaded. */
enum {
    EXPECT_BYPASS = 1,    /* modules that bypass the recorder */
    EXPECT_LIBRARIES = 2, /* modules that call other allocators */
};
_Atomic uint32_t unhooked_modules_expected;

static struct {
    _Atomic bool ready; /* the names of the heap functions are known */
    _Atomic bool all_names;
    bool apart;               /* unhooked_modules_take() was called */
    _Atomic uint32_t at_work; /* one thread changes slots */
    bool forked;
    struct got_object self;
    struct got_function names[NAMES_MAX];
    _Atomic unsigned name_count;
    /* Changed under the loader's lock, which dl_iterate_phdr() holds. */
    struct known *known;
    uint64_t adds, subs; /* the loader's counts at the last look */
    bool settled;        /* the last look found no open slot */
} unhooked = {.adds = NEVER_LOOKED};

static bool self_find(const struct dl_phdr_info *info)
{
    struct got_object object = got_object_of(info);
    if (!got_object_measure(&object) || !got_object_holds(&object, &unhooked))
        return false;
    unhooked.self = object;
    return true;
}

static int self_look(struct dl_phdr_info *info, size_t size, void *unused)
{
    return self_find(info);
}

static void name_add(const char *name, void *next, bool heap)
{
    void *own = got_object_defines(&unhooked.self, name);
    if (!own || !next || unhooked.name_count == NAMES_MAX)
        return;
    void *first = c_library_dlsym(RTLD_DEFAULT, name);
    unhooked.names[unhooked.name_count] =
        unhooked.apart ? (struct got_function){name, own, next, own, first, heap, false}
                       : (struct got_function){name, own, next, first, NULL, heap, false};
    atomic_fetch_add(&unhooked.name_count,
                     1); /* other threads may be reading the names before it */
}

static void names_begin(void)
{
    dl_iterate_phdr(self_look, NULL);
    if (!unhooked.self.dynamic)
        return;
    name_add("malloc", (void *)real.malloc, true);
    name_add("free", (void *)real.free, true);
    name_add("calloc", (void *)real.calloc, true);
    name_add("realloc", (void *)real.realloc, true);
    name_add("posix_memalign", (void *)real.posix_memalign, true);
    name_add("aligned_alloc", (void *)real.aligned_alloc, true);
    name_add("memalign", (void *)real.memalign, true);
    name_add("valloc", (void *)real.valloc, true);
    name_add("pvalloc", (void *)real.pvalloc, true);
    atomic_store(&unhooked.ready, unhooked.name_count > 0);
}

/* Adds the other functions that modules call. For modules that bypass the recorder, or soon may. */
static void names_complete(void)
{
    static const char *const maps[] = {"mmap", "mmap64", "munmap", "mremap", "mprotect"};
    static const char *const others[] = {"dlopen",
                                         "dlmopen",
                                         "dlsym",
                                         "dlclose",
                                         "close",
                                         "close_range",
                                         "closefrom",
                                         "dup2",
                                         "dup3",
                                         "mlockall",
                                         "munlockall",
                                         "prctl",
                                         "syscall",
                                         "posix_spawn",
                                         "posix_spawnp",
                                         "_exit",
                                         "_Exit",
                                         "execve",
                                         "execv",
                                         "execvp",
                                         "execvpe",
                                         "execl",
                                         "execlp",
                                         "execle",
                                         "fexecve",
                                         "execveat",
                                         "pthread_setname_np",
                                         "__cyg_profile_func_enter",
                                         "__cyg_profile_func_exit"};
    static _Atomic bool asked;
    if (atomic_exchange(&asked, true))
        return;
    name_add("reallocarray", real_find("reallocarray"), true);
    for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); i++)
        name_add(maps[i], real_find(maps[i]), recorder_inherited.mappings);
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        name_add(others[i], real_find(others[i]), false);
    atomic_store(&unhooked.all_names, true);
}

/* Lets one thread at a time change slots: two would close each other's pages. False if another
 * thread is at work. With `wait` it waits for that thread first. A thread that takes the loader's
 * lock, too, takes that first. */
static bool work_begin(bool wait)
{
    for (unsigned turn = 0; atomic_exchange(&unhooked.at_work, 1); turn++) {
        if (!wait || turn == TURNS_MAX)
            return false;
        os_yield();
    }
    return true;
}

static void work_end(void)
{
    atomic_store(&unhooked.at_work, 0);
}

/* Returns the object's entry, or the free one where it belongs. NULL: no room. */
static struct known *known_find(const struct got_object *object)
{
    const uint64_t hash = (object->bias ^ (uint64_t)object->headers) * UINT64_C(0x9e3779b97f4a7c15);
    for (unsigned probe = 0; unhooked.known && probe < KNOWN_MAX; probe++) {
        struct known *known = &unhooked.known[((hash >> 40) + probe) % KNOWN_MAX];
        if (!known->headers || (known->bias == object->bias && known->headers == object->headers))
            return known;
    }
    return NULL;
}

/* Returns what to report of a module after a look. 0: nothing. */
static enum trace_bypass look_says(const struct got_patch *look, bool last)
{
    if (last && look->late + look->refused + look->open)
        return TRACE_BYPASS_MISSED;
    if (look->refused)
        return TRACE_BYPASS_REFUSED;
    if (look->left)
        return TRACE_BYPASS_OTHER;
    return look->late ? TRACE_BYPASS_LATE : (enum trace_bypass)0;
}

static void object_report(const char *path, const struct got_patch *look, bool last)
{
    const enum trace_bypass state = look_says(look, last);
    if (!path[0])
        path = "(the program)";
    if (state)
        unhooked_report_add(path, state, "");
    for (unsigned i = 0; i < look->missing_count; i++)
        unhooked_report_add(path, TRACE_BYPASS_FUNCTION, look->missing[i]);
}

struct round {
    bool names; /* also at the functions that this library defines */
    bool lazy;  /* new objects may have been loaded with RTLD_DEEPBIND */
    bool first; /* no code of the objects has run, or what it did counts as before the recording */
    bool last;
    bool begun;
    uint32_t *left; /* not NULL: the first look of a recorder that is apart, which counts them */
};

static void object_look(const struct got_object *object, const char *path, struct round *round)
{
    struct got_patch look = {.names = unhooked.names,
                             .name_count = round->names ? unhooked.name_count : 0,
                             .find = allocators_are_loaded() ? allocators_find : NULL,
                             .lazy = round->lazy && !unhooked.apart,
                             .lazy_alike = unhooked.apart,
                             .own_too = unhooked.apart};
    if (!look.find && !look.name_count)
        return;
    if (!unhooked.known)
        unhooked.known = os_map(KNOWN_MAX * sizeof(*unhooked.known));
    struct known *known = known_find(object);
    if (known && known->headers && !round->last)
        return;
    if (!work_begin(true)) {
        unhooked.settled = false;
        return;
    }
    got_patch_object(object, &look);
    work_end();
    if (round->left)
        *round->left += look.left;
    if (round->first)
        look.late = 0;
    object_report(path, &look, round->last);
    if (look.open || look.unbound) /* the loader may be binding one of these slots now */
        unhooked.settled = false;
    else if (known)
        *known = (struct known){object->bias, object->headers};
}

#if __GLIBC_PREREQ(2, 35)
/* Fills in the object from the header of a file that is mapped from its beginning. */
static bool object_at(const struct link_map *map, struct got_object *object)
{
    ElfW(Ehdr) head;
    if (os_copy_memory(map->l_addr, &head, sizeof(head)) != sizeof(head) ||
        memcmp(head.e_ident, ELFMAG, SELFMAG) != 0)
        return false;
    *object = (struct got_object){.bias = map->l_addr,
                                  .headers = (const void *)(map->l_addr + head.e_phoff),
                                  .header_count = head.e_phnum};
    return got_object_measure(object);
}

/* Returns the structure that the loader keeps for debuggers; the program's dynamic section says
 * where. From version 2 on it leads to the lists of all namespaces. */
static const struct r_debug_extended *spaces_of(const struct got_object *program)
{
    for (const ElfW(Dyn) *entry = program->dynamic; entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_DEBUG)
            return (const struct r_debug_extended *)entry->d_un.d_ptr;
    return NULL;
}

/* Looks at the other namespaces. dl_iterate_phdr() shows only its caller's, but its lock protects
 * the lists of all. */
static void namespaces_look(const struct got_object *program)
{
    const struct r_debug_extended *space = spaces_of(program);
    if (!space || space->base.r_version < 2)
        return;
    while ((space = space->r_next))
        for (const struct link_map *map = space->base.r_map; map; map = map->l_next) {
            struct got_object object;
            struct got_patch look = {.names = unhooked.names, .name_count = unhooked.name_count};
            if (!object_at(map, &object) || got_object_defines(&object, "malloc"))
                continue;
            got_patch_object(&object, &look);
            if (look.heap)
                unhooked_report_add(map->l_name, TRACE_BYPASS_NAMESPACE, "");
        }
}
#else
static void namespaces_look(const struct got_object *program)
{
}
#endif

static int definitions_count(struct dl_phdr_info *info, size_t size, void *count)
{
    struct got_object object = got_object_of(info);
    if (got_object_measure(&object) && object.start != unhooked.self.start)
        *(unsigned *)count += got_object_defines(&object, "malloc") != NULL;
    return 0;
}

/* Returns true if only one other object defines malloc. A slot that is not bound yet can then only
 * lead here or to the function that is called from here. */
static bool is_only_allocator(void)
{
    unsigned count = 0;
    dl_iterate_phdr(definitions_count, &count);
    return count == 1;
}

/* Begins the round at the program. False if nothing has changed since the last look. */
static bool round_begin(struct round *round, const struct dl_phdr_info *info,
                        struct got_object *program)
{
    round->begun = true;
    const bool same = unhooked.adds == info->dlpi_adds && unhooked.subs == info->dlpi_subs;
    if (same && unhooked.settled && !round->last)
        return false;
    /* A known object may be gone, and another one may lie in its place. Or one that is known may
     * call an allocator that is new. */
    const bool gone = unhooked.subs != info->dlpi_subs;
    const bool others = (!same || round->last) && allocators_look(&unhooked.self);
    if ((gone || others) && unhooked.known)
        os_discard(unhooked.known, KNOWN_MAX * sizeof(*unhooked.known));
    unhooked.adds = info->dlpi_adds;
    unhooked.subs = info->dlpi_subs;
    unhooked.settled = true;
    if (round->lazy && !is_only_allocator())
        round->lazy = false;
    if ((!same || round->last) && got_object_measure(program))
        namespaces_look(program);
    return true;
}

static int round_look(struct dl_phdr_info *info, size_t size, void *argument)
{
    struct round *round = (struct round *)argument;
    struct got_object object = got_object_of(info);
    if (!round->begun && !round_begin(round, info, &object))
        return 1;
    if (got_object_measure(&object) && object.start != unhooked.self.start)
        object_look(&object, info->dlpi_name, round);
    return 0;
}

static void round_look_at_all(struct round round)
{
    /* If a handler left by longjmp, pages would stay open. */
    const uint64_t signals = os_block_signals();
    dl_iterate_phdr(round_look, &round);
    os_restore_signals(signals);
}

static void round_run(struct round round)
{
    round_look_at_all(round);
    if (!unhooked_report_is_due())
        return;
    struct thread *thread = recorder_enter(FRAME, RECORDER_NOTE);
    if (!thread)
        return;
    unhooked_report_put(thread);
    recorder_leave();
}

static uint32_t take_all(void)
{
    uint32_t left = 0;
    unhooked.adds = NEVER_LOOKED;
    if (unhooked.known)
        os_discard(unhooked.known, KNOWN_MAX * sizeof(*unhooked.known));
    round_run((struct round){.names = true, .lazy = true, .first = true, .left = &left});
    return left;
}

/* Takes the look that comes before the first call of other allocators' functions. */
static void first_look(void)
{
    round_look_at_all((struct round){.first = true});
    if (allocators_are_loaded())
        atomic_fetch_or(&unhooked_modules_expected, EXPECT_LIBRARIES);
}

void unhooked_modules_begin(struct allocator_function *functions, unsigned count)
{
    allocators_init(functions, count);
    dl_iterate_phdr(self_look, NULL);
    if (unhooked.self.dynamic && real_comes_first())
        first_look();
}

/* Reports an allocator that is linked into the program. */
static void inside_report(void)
{
    const char *function = allocators_in_program();
    if (function)
        unhooked_report_add("(the program)", TRACE_BYPASS_FUNCTION, function);
}

void unhooked_modules_init(void)
{
    names_begin();
    if (!unhooked.ready)
        return;
    first_look(); /* at the program, which the loader had not relocated before */
    inside_report();
    struct thread *thread = unhooked_report_is_due() ? recorder_enter(FRAME, RECORDER_NOTE) : NULL;
    if (!thread)
        return;
    unhooked_report_put(thread);
    recorder_leave();
}

/* Returns true if no object has come or gone since the last look at all, which left nothing open.
 */
static int change_look(struct dl_phdr_info *info, size_t size, void *unused)
{
    return unhooked.settled && unhooked.adds == info->dlpi_adds && unhooked.subs == info->dlpi_subs
               ? 1
               : 2;
}

/* Returns true if this thread may look now. It does not wait for another thread that is finding the
 * names. It does not take the loader's lock under the guard, since the allocator below may call
 * dlsym while it is called from here. */
static bool may_look(void)
{
    return atomic_load(&unhooked.ready) && !thread_self.guard && recorder_can_record();
}

/* The same for a look at the functions that this library defines. */
static bool may_look_at_names(void)
{
    if (!may_look())
        return false;
    names_complete();
    return atomic_load(&unhooked.all_names);
}

void unhooked_modules_expect(void)
{
    if (!may_look_at_names())
        return;
    const bool before = atomic_load(&unhooked_modules_expected) & EXPECT_BYPASS;
    round_run((struct round){.names = true, .lazy = before});
    atomic_fetch_or(&unhooked_modules_expected, EXPECT_BYPASS);
}

void unhooked_modules_expect_library(void)
{
    if (atomic_load(&unhooked.ready))
        atomic_fetch_or(&unhooked_modules_expected, EXPECT_LIBRARIES);
}

void unhooked_modules_check(void)
{
    const uint32_t expected = atomic_load(&unhooked_modules_expected);
    if (expected & EXPECT_BYPASS) {
        if (may_look_at_names())
            round_run((struct round){.names = true, .lazy = true});
    } else if (expected && may_look() && dl_iterate_phdr(change_look, NULL) == 2) {
        round_run((struct round){0});
    }
}

/* Looks at one module. If it finds anything, the next look at all objects is a closer one. */
void unhooked_modules_look_at(struct thread *thread, const struct stack_module *module)
{
    ElfW(Ehdr) head;
    struct got_patch look = {.names = unhooked.names,
                             .name_count = unhooked.name_count,
                             .find = allocators_are_loaded() ? allocators_find : NULL};
    if (!atomic_load(&unhooked.ready) || unhooked.forked ||
        os_copy_memory(module->start, &head, sizeof(head)) != sizeof(head) ||
        memcmp(head.e_ident, ELFMAG, SELFMAG) != 0)
        return;
    struct got_object object = {.bias = module->load_bias,
                                .headers = (const void *)(module->start + head.e_phoff),
                                .header_count = head.e_phnum};
    if (!got_object_measure(&object) || object.start == unhooked.self.start)
        return;
    /* As in a round: if a handler left by longjmp, the work would stay begun forever. */
    const uint64_t signals = os_block_signals();
    const bool mine = work_begin(false);
    if (mine) {
        got_patch_object(&object, &look);
        work_end();
    }
    os_restore_signals(signals);
    if (!mine)
        return;
    if (look.left + look.refused + look.late + look.open)
        atomic_fetch_or(&unhooked_modules_expected, EXPECT_BYPASS);
    if (look.late)
        unhooked_report_add(module->path, TRACE_BYPASS_LATE, "");
    unhooked_report_put(thread);
}

void unhooked_modules_put_known(struct thread *thread)
{
    unhooked_report_new_trace();
    unhooked_report_put(thread);
}

void unhooked_modules_after_fork(void)
{
    unhooked.forked = true;
    atomic_store(&unhooked.at_work, 0);
    atomic_store(&unhooked_modules_expected, 0);
}

/* Takes the last look. In a forked child another thread of the parent may have held the loader's
 * lock, so the child takes it only if it has loaded something itself. */
void unhooked_modules_end(void)
{
    const bool expected = atomic_load(&unhooked_modules_expected);
    if (!atomic_load(&unhooked.ready) || !recorder_can_record() || (unhooked.forked && !expected))
        return;
    if (atomic_load(&unhooked_modules_expected) & EXPECT_BYPASS)
        names_complete();
    round_run((struct round){.names = true, .last = true});
    if (!unhooked.apart) /* the process does not know of the recorder; mprof-ingest tells */
        unhooked_report_say();
}

uint32_t unhooked_modules_take(void)
{
    unhooked.apart = true;
    if (!atomic_load(&unhooked.ready))
        names_begin();
    if (!may_look_at_names())
        return 0;
    atomic_store(&unhooked_modules_expected, EXPECT_BYPASS);
    inside_report();
    return take_all();
}

/* It may wait for another thread that is at work: that one never waits for the loader's lock. */
static int give_back_look(struct dl_phdr_info *info, size_t size, void *argument)
{
    struct got_patch *look = (struct got_patch *)argument;
    struct got_object object = got_object_of(info);
    if (got_object_measure(&object) && object.start != unhooked.self.start && work_begin(true)) {
        got_patch_object(&object, look);
        work_end();
    }
    return 0;
}

void unhooked_modules_give_back(void)
{
    static struct got_function names[NAMES_MAX];
    struct got_patch look = {.names = names,
                             .name_count = unhooked.name_count,
                             .find = allocators_find_back,
                             .own_too = true};
    if (!unhooked.apart)
        return;
    for (unsigned i = 0; i < unhooked.name_count; i++) {
        const struct got_function *name = &unhooked.names[i];
        names[i] = (struct got_function){name->name, name->real, name->own, name->real,
                                         NULL,       name->heap, false};
    }
    atomic_store(&unhooked_modules_expected, 0);
    const uint64_t signals = os_block_signals();
    dl_iterate_phdr(give_back_look, &look);
    os_restore_signals(signals);
}
