/* SPDX-License-Identifier: BSD-2-Clause */
/* Notes the sizes that C++ operators delete state, and warns of allocators whose operators do not
 * call malloc.
 *
 * tcmalloc, jemalloc and mimalloc bring their own operators new and delete, which take memory
 * directly. If the recorder is preloaded before such a library, it sees malloc and free but not
 * these, unless the operators of cxx_operators.c come between. */
#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>

#include "capture/entry/names.h"
#include "capture/entry/startup.h"
#include "capture/os/c_library.h"
#include "capture/os/message.h"
#include "capture/record/event_filter.h"
#include "capture/record/events.h"
#include "capture/record/gate.h"
#include "capture/record/real.h"

struct search {
    const void *allocator; /* an address in the object that has malloc and operator new */
    bool found;
};

static bool needs_cxx_library(const struct dl_phdr_info *object, const ElfW(Dyn) * dynamic)
{
    const char *strings = NULL;
    for (const ElfW(Dyn) *entry = dynamic; entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_STRTAB)
            strings = (const char *)entry->d_un.d_ptr;
    /* The loader has added the base address, except for some objects (the vdso). */
    if (!strings || (uintptr_t)strings < object->dlpi_addr)
        return false;
    for (const ElfW(Dyn) *entry = dynamic; entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_NEEDED && (strstr(strings + entry->d_un.d_val, "libstdc++") ||
                                          strstr(strings + entry->d_un.d_val, "libc++")))
            return true;
    return false;
}

/* Finds an object of C++ code. The allocator itself is one, and does not count. */
static int search_object(struct dl_phdr_info *object, size_t size, void *argument)
{
    struct search *search = (struct search *)argument;
    const ElfW(Dyn) *dynamic = NULL;
    bool allocator = false;
    for (unsigned i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        const uintptr_t start = object->dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_DYNAMIC)
            dynamic = (const ElfW(Dyn) *)start;
        if (segment->p_type == PT_LOAD && (uintptr_t)search->allocator - start < segment->p_memsz)
            allocator = true;
    }
    search->found = dynamic && !allocator && needs_cxx_library(object, dynamic);
    return search->found;
}

void operator_new_warn(void)
{
    Dl_info library, allocator, operators;
    /* The usual case first: if a question has no answer, the loader allocates a message. */
    if (!dladdr((void *)real.malloc, &allocator) || !dladdr(c_library_find("malloc"), &library) ||
        allocator.dli_fbase == library.dli_fbase)
        return;
    void *operator_new = c_library_dlsym(RTLD_DEFAULT, "_Znwm");
    if (!operator_new || !dladdr(operator_new, &operators) ||
        allocator.dli_fbase != operators.dli_fbase)
        return;
    struct search search = {.allocator = (void *)real.malloc};
    dl_iterate_phdr(search_object, &search);
    if (search.found)
        message_line(allocator.dli_fname, " has its own operator new, which does not call malloc: ",
                     "allocations by C++ new are not recorded, those by malloc are. ",
                     "Preload libmprof_operators.so after libmprof.so, as mprof-run does.", NULL);
}

/* Returns true if the block can be one of the trace. */
static bool is_of_trace(const void *block)
{
    const uint32_t state = atomic_load_explicit(&recorder_page.state, memory_order_relaxed);
    return (state == RECORDER_RECORDING || state == RECORDER_PAUSED) &&
           (sample_mean == 0 || event_filter_knows(block));
}

ENTRY_POINT void mprof_sized_delete(const void *frame, const void *block, size_t size,
                                    size_t alignment)
{
    struct thread *thread = is_of_trace(block) ? recorder_enter(frame, RECORDER_NOTE) : NULL;
    if (!thread)
        return;
    /* The stack's nodes are records, too: they come first. */
    const uint32_t stack = events_stack(thread, frame);
    thread_put_numbers(thread, TRACE_EXT_SIZED_DELETE, (uintptr_t)block, size, alignment, stack);
    recorder_leave();
}
