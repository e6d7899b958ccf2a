/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/replay/runtime_blocks.h"

#include <stdlib.h>
#include <string.h>

/* The most frames of a stack that are looked at, from the innermost. */
#define FRAMES_MAX 24

/* The part of the runtime to which a function belongs, by its name or its module. */
enum says {
    SAYS_NOTHING,
    SAYS_POOL,   /* it makes the emergency pool */
    SAYS_STDIO,  /* it makes a stream's buffer */
    SAYS_LOADER, /* it is the dynamic linker's */
    SAYS_LOCALE, /* it and the libc functions that it calls allocate data of the locale */
    SAYS_START,  /* it calls the initialization of a module */
    SAYS_LIBRARY /* it is in libstdc++, and no more is known */
};

struct runtime_blocks {
    const struct stacks *stacks;
    uint8_t *says; /* of each function */
};

static const struct {
    const char *name;
    enum says says;
    bool libc; /* holds only in the C library, because the name is not reserved */
} known[] = {
    {"_GLOBAL__sub_I_eh_alloc.cc", SAYS_POOL, false},
    {"(anonymous namespace)::pool::pool()", SAYS_POOL, false},
    {"_IO_file_doallocate", SAYS_STDIO, false},
    {"__GI__IO_file_doallocate", SAYS_STDIO, false},
    {"_IO_wfile_doallocate", SAYS_STDIO, false},
    {"_IO_doallocbuf", SAYS_STDIO, false},
    {"_IO_wdoallocbuf", SAYS_STDIO, false},
    {"_dl_new_object", SAYS_LOADER, false},
    {"_dl_allocate_tls", SAYS_LOADER, false},
    {"allocate_dtv", SAYS_LOADER, true},
    {"_nl_find_locale", SAYS_LOCALE, false},
    {"_nl_load_locale", SAYS_LOCALE, false},
    {"_nl_expand_alias", SAYS_LOCALE, false},
    {"_nl_find_domain", SAYS_LOCALE, false},
    {"_nl_load_domain", SAYS_LOCALE, false},
    {"setlocale", SAYS_LOCALE, true},
    {"bindtextdomain", SAYS_LOCALE, true},
    {"textdomain", SAYS_LOCALE, true},
    {"call_init", SAYS_START, true},
    {"__libc_csu_init", SAYS_START, false},
};

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Returns the last component of the path of a function's module, or "" if it is not known. */
static const char *module_name(const struct stacks *stacks, const struct function_row *function)
{
    const struct module_row *module =
        function->module ? trace_scan_module(stacks->scan, function->module) : NULL;
    return !module ? "" : basename(module->path);
}

static enum says look(const struct stacks *stacks, const struct function_row *function)
{
    const char *module = module_name(stacks, function);
    const bool loader =
        (begins(module, "ld-") || begins(module, "ld.") || begins(module, "ld64.")) &&
        strstr(module, ".so");
    const bool libc = begins(module, "libc.") || begins(module, "libc-");
    if (loader)
        return strcmp(function->name, "call_init") == 0 || strcmp(function->name, "_dl_init") == 0
                   ? SAYS_START
                   : SAYS_LOADER;
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if ((libc || !known[i].libc) && strcmp(known[i].name, function->name) == 0)
            return known[i].says;
    return begins(module, "libstdc++.so") ? SAYS_LIBRARY : SAYS_NOTHING;
}

struct runtime_blocks *runtime_blocks_new(const struct stacks *stacks)
{
    const struct frames *frames = &stacks->frames;
    struct runtime_blocks *blocks = calloc(1, sizeof(*blocks));
    if (!blocks)
        return NULL;
    blocks->stacks = stacks;
    blocks->says = calloc(frames->function_count + 1, sizeof(*blocks->says));
    if (!blocks->says) {
        free(blocks);
        return NULL;
    }
    for (size_t i = 0; i < frames->function_count; i++)
        blocks->says[i] = (uint8_t)look(stacks, &frames->functions[i]);
    return blocks;
}

void runtime_blocks_free(struct runtime_blocks *blocks)
{
    if (blocks)
        free(blocks->says);
    free(blocks);
}

static const char *const words[] = {
    [SAYS_POOL] = "C++ exceptions",
    [SAYS_STDIO] = "stdio",
    [SAYS_LOADER] = "loader",
    [SAYS_LOCALE] = "locale",
};

/*
 * Looks from the innermost frame outward, as long as the frames are in one module. So a function of
 * the program that the runtime calls does not count as runtime. If the loader called the
 * initialization of libstdc++, and that allocated once, the block is the pool: the initialization
 * allocates nothing else. So the pool is recognized even if the library has no names. Without debug
 * information the loader has none either. It calls nothing else of libstdc++ that allocates.
 */
const char *runtime_blocks_of(const struct runtime_blocks *blocks, size_t stack,
                              uint64_t allocations)
{
    const struct stacks *stacks = blocks->stacks;
    const struct stack_row *row = &stacks->rows[stack];
    struct stack_walk walk = stacks_walk(row);
    bool library = true;
    uint32_t frame, module = 0;
    for (size_t i = 0; i < FRAMES_MAX && (frame = stacks_walk_next(stacks, &walk)) != FRAMES_NONE;
         i++) {
        const struct frame_row *at = &stacks->frames.rows[frame];
        const enum says says = (enum says)blocks->says[at->function];
        if (stacks->frames.functions[at->function].role == ROLE_ALLOCATOR)
            continue;
        if (says == SAYS_START || (says == SAYS_LOADER && module != 0 && library))
            return module != 0 && library && allocations == 1 ? words[SAYS_POOL] : NULL;
        if (module != 0 && module != at->module)
            return NULL;
        if (says != SAYS_NOTHING && says != SAYS_LIBRARY)
            return words[says];
        module = at->module;
        library = library && says == SAYS_LIBRARY;
    }
    return NULL;
}
