/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/replay/frames.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/replay/scan.h"
#include "ingest/symbols/table.h"
#include "schemas/array.h"
#include "schemas/code/function_name.h"
#include "schemas/code/user_code.h"
#include "schemas/trace_layout.h"

/* ---- call site ----------------------------------------------------------------------------- */

/* Patterns of names of functions (function_name_matches()). */
static const char *const allocators[] = {
    /* The entry points themselves, for a program that defines its own or a frame that shows them */
    "malloc", "calloc", "realloc", "reallocarray", "free", "posix_memalign", "aligned_alloc",
    "memalign", "valloc", "pvalloc", "__libc_malloc", "__libc_calloc", "__libc_realloc",
    "__libc_memalign", "__libc_free",
    /* ECL and its collector */
    "ecl_alloc*", "alloc_pointerfull_memory", "ecl_cons", "ecl_list1", "GC_malloc*", "GC_realloc",
    "GC_free",
    /* C++ */
    "operator new", "operator new[]",
    "*::operator new", /* a class's own: the call site is in the class's user */
    "*::operator new[]", "operator delete", "operator delete[]", "*::operator delete",
    "*::operator delete[]", "std::allocator<*>::allocate", "std::allocator<*>::deallocate",
    "std::allocator_traits<*>::allocate", "std::allocator_traits<*>::deallocate",
    "std::__new_allocator<*>::allocate", "std::__new_allocator<*>::deallocate",
    "std::__allocate_guarded<*>", "std::__libcpp_allocate*", "std::__1::allocator<*>::allocate",
    "std::__1::allocator_traits<*>::allocate", "std::__1::__libcpp_allocate*",
    "std::__1::__allocate_at_least<*>", "std::pmr::*::allocate", "std::pmr::*::do_allocate",
    "__gnu_cxx::*allocator<*>::allocate", "__gnu_cxx::*allocator<*>::deallocate",
    "__gnu_cxx::__alloc_traits<*>::allocate", "std::*::_M_allocate", "std::*::_M_allocate_map",
    "std::*::_M_allocate_node", "std::*::_M_allocate_node<*>", "std::*::_M_allocate_buckets",
    "std::*::_M_allocate_and_copy<*>", "std::*::_M_create_storage", "std::*::_M_get_node",
    "std::*::_M_create_node<*>", "std::*::_S_allocate", "std::*::_Auto_node::_Auto_node<*>",
    "std::*::_Scoped_node::_Scoped_node<*>", "New_<*>" /* mprof_types.h */};

static const char *const wrappers[] = {
    /* Names from programs and libraries */
    "xmalloc", "xcalloc", "xrealloc", "xreallocarray", "xzalloc", "xnmalloc", "xnrealloc",
    "xmallocz", "xstrdup", "xstrndup", "xmemdup", "xmemdupz", "ximalloc", "xirealloc", "xpalloc",
    "x2realloc", "x2nrealloc", "xcharalloc", "do_xmalloc*", "safe_malloc", "safe_calloc",
    "safe_realloc", "emalloc", "ecalloc", "erealloc", "zmalloc", "zmalloc_usable", "zcalloc",
    "zcalloc_usable", "zcalloc_num", "zrealloc", "zrealloc_usable", "zstrdup", "ztrymalloc*",
    "ztrycalloc*", "ztryrealloc*", "zfree", "g_malloc*", "g_try_malloc*", "g_realloc*",
    "g_try_realloc*", "g_slice_alloc*", "g_strdup", "g_strndup", "g_memdup*", "g_free",
    "PyMem_*lloc", "PyObject_Malloc", "PyObject_Calloc", "PyObject_Realloc", "PyObject_Free",
    "_PyMem_*lloc", "_PyObject_Malloc", "_PyObject_Calloc", "_PyObject_Realloc",
    "Perl_safesysmalloc", "Perl_safesyscalloc", "Perl_safesysrealloc", "Perl_safesysfree",
    "sqlite3MemMalloc", "sqlite3MemRealloc", "sqlite3Malloc*", "sqlite3Realloc*", "sqlite3_malloc*",
    "sqlite3_realloc*", "sqlite3DbMalloc*", "sqlite3DbRealloc*", "sqlite3DbStrDup",
    "mallocWithAlarm", "dbMallocRawFinish", "CRYPTO_malloc", "CRYPTO_zalloc", "CRYPTO_realloc",
    "CRYPTO_strdup", "OPENSSL_malloc", "jv_mem_alloc*", "jv_mem_calloc*", "jv_mem_realloc*",
    "jv_mem_strdup*", "talloc_*", "_talloc_*", "libtalloc.so*", "apr_p*alloc*", "apr_p*dup*",
    "apr_allocator_alloc", "av_malloc*", "av_realloc*", "SDL_malloc", "SDL_calloc", "SDL_realloc",
    "llvm::safe_malloc", "llvm::safe_calloc", "llvm::safe_realloc", "llvm::allocate_buffer",
    /* Called by compiled code of Fortran, D, Ada, Objective-C, Go and Pascal */
    "_gfortran_*alloc*", "_d_new*", "_d_array*", "_d_alloc*", "_d_assocarray*", "_aaGet*",
    "gc_*alloc*", "rt.lifetime.*", "rt.aaA.*", "core.internal.gc.*",
    "core.internal.container.common.x*alloc", "core.memory.*", "__gnat_malloc", "__gnat_realloc",
    "system__memory__*", "system__pool_global__*", "system__storage_pools__subpools__*",
    "ada__strings__unbounded__*",
    "*__P*b.*", /* what GNAT makes for an allocator of a controlled type */
    "objc_malloc", "objc_calloc", "objc_realloc", "objc_atomic_malloc", "class_createInstance",
    "object_copy", "_cgo_*_Cfunc_*", "CMEM_$$_*", "SYSTEM_$$_*MEM*",
    "SYSTEM$_$TOBJECT_$_*NEWINSTANCE*", "SYSTEM_$$_NEW*STRING*", "fpc_*",
    /* libc functions that only make a new block for the caller */
    "strdup", "__strdup", "strndup", "__strndup", "wcsdup", "__wcsdup", "asprintf", "__asprintf",
    "___asprintf", "__asprintf_chk", "vasprintf", "__vasprintf_internal", "__vasprintf_chk"};

static bool matches_one_of(struct function_name bare, const char *const *patterns, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (function_name_matches(patterns[i], bare))
            return true;
    return false;
}

enum function_role call_site_role(const char *name, const char *linkage_name)
{
    const struct function_name bare = function_name_bare(name);
    if (matches_one_of(bare, allocators, sizeof(allocators) / sizeof(*allocators)))
        return ROLE_ALLOCATOR;
    if (matches_one_of(bare, wrappers, sizeof(wrappers) / sizeof(*wrappers)))
        return ROLE_WRAPPER;
    return rust_name_is_allocator(name, linkage_name) ? ROLE_ALLOCATOR : ROLE_NONE;
}

const char *call_site_role_name(enum function_role role)
{
    static const char *const names[] = {[ROLE_ALLOCATOR] = "allocator",
                                        [ROLE_WRAPPER] = "wrapper",
                                        [ROLE_RUNTIME] = "runtime",
                                        [ROLE_EVALUATOR] = "evaluator"};
    return names[role];
}

/* Returns true if the function is a call of mprof.h that reports a block of a custom allocator.
 * Such a call is not a frame of the program, and the function around it is that allocator. */
static bool call_site_is_report(const char *name)
{
    const struct function_name bare = function_name_bare(name);
    return function_name_matches("mprof_arena_alloc", bare) ||
           function_name_matches("mprof_arena_alloc_kind", bare) ||
           function_name_matches("mprof_arena_realloc", bare);
}

unsigned call_site_operator(const char *name)
{
    const struct function_name bare = function_name_bare(name);
    unsigned form = function_name_matches("operator new", bare)     ? OPERATOR_NEW
                    : function_name_matches("operator new[]", bare) ? OPERATOR_NEW_ARRAY
                                                                    : OPERATOR_OTHER;
    if (form != OPERATOR_OTHER && strstr(bare.end, "std::align_val_t"))
        form |= OPERATOR_ALIGNED;
    if (form != OPERATOR_OTHER && strstr(bare.end, "std::nothrow_t"))
        form |= OPERATOR_NOTHROW;
    return form;
}

unsigned call_site_operator_linkage(const char *linkage)
{
    static const struct {
        const char *name;
        unsigned form;
    } operators[] = {
        {"_Znwm", OPERATOR_NEW},
        {"_Znam", OPERATOR_NEW_ARRAY},
        {"_ZnwmRKSt9nothrow_t", OPERATOR_NEW | OPERATOR_NOTHROW},
        {"_ZnamRKSt9nothrow_t", OPERATOR_NEW_ARRAY | OPERATOR_NOTHROW},
        {"_ZnwmSt11align_val_t", OPERATOR_NEW | OPERATOR_ALIGNED},
        {"_ZnamSt11align_val_t", OPERATOR_NEW_ARRAY | OPERATOR_ALIGNED},
        {"_ZnwmSt11align_val_tRKSt9nothrow_t", OPERATOR_NEW | OPERATOR_ALIGNED | OPERATOR_NOTHROW},
        {"_ZnamSt11align_val_tRKSt9nothrow_t",
         OPERATOR_NEW_ARRAY | OPERATOR_ALIGNED | OPERATOR_NOTHROW},
    };
    /* A symbol's version follows an @. */
    const size_t length = strcspn(linkage, "@");
    for (size_t i = 0; i < sizeof(operators) / sizeof(*operators); i++)
        if (strlen(operators[i].name) == length && memcmp(operators[i].name, linkage, length) == 0)
            return operators[i].form;
    return OPERATOR_OTHER;
}

/* ---- frames -------------------------------------------------------------------------------- */

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Returns the row of `path`, or FRAMES_NONE for NULL. Clears *good if memory is exhausted. */
static uint32_t find_source_file(struct frames *frames, const char *path, bool *good)
{
    uint64_t hash = hash_text(path);
    size_t probe = index_map_begin(&frames->by_source_file, hash);
    uint32_t index;
    if (!path || *path == '\0')
        return FRAMES_NONE;
    while ((index = index_map_next(&frames->by_source_file, hash, &probe)) != INDEX_NONE)
        if (strcmp(frames->source_files[index], path) == 0)
            return index;
    if (!ARRAY_RESERVE(frames->source_files, frames->source_file_count,
                       frames->source_file_capacity) ||
        !index_map_insert(&frames->by_source_file, hash, (uint32_t)frames->source_file_count)) {
        *good = false;
        return FRAMES_NONE;
    }
    frames->source_files[frames->source_file_count] = path;
    return (uint32_t)frames->source_file_count++;
}

/* Returns the role of a function by its name, or by the file of its source. */
static enum function_role role_of(const struct symbols_frame *symbol)
{
    const enum function_role role = call_site_role(symbol->function, symbol->linkage_name);
    /* GNAT does not say where it declares parts of a generic package. */
    const char *file = symbol->decl_file ? symbol->decl_file : symbol->file;
    return role == ROLE_NONE && user_code_is_generic_source(file) ? ROLE_WRAPPER : role;
}

/* Returns the row of a function. Functions of a module are the same if names and the place of
 * declaration agree. So static functions of one name in two files are two, and all inlined copies
 * of a function are one. */
static uint32_t find_function(struct frames *frames, uint32_t module,
                              const struct symbols_frame *symbol, bool *good)
{
    uint32_t file = find_source_file(frames, symbol->decl_file, good);
    uint64_t hash = hash_combine(hash_text(symbol->function), (uint64_t)module << 32 | file);
    hash = hash_combine(hash ^ hash_text(symbol->linkage_name), symbol->decl_line);
    INDEX_MAP_EACH(&frames->by_function, hash, index) {
        const struct function_row *known = &frames->functions[index];
        if (known->module == module && known->source_file == file &&
            known->line == symbol->decl_line && same_text(known->name, symbol->function) &&
            same_text(known->linkage_name, symbol->linkage_name))
            return index;
    }
    if (!*good ||
        !ARRAY_RESERVE(frames->functions, frames->function_count, frames->function_capacity) ||
        !index_map_insert(&frames->by_function, hash, (uint32_t)frames->function_count)) {
        *good = false;
        return FRAMES_NONE;
    }
    frames->functions[frames->function_count] =
        (struct function_row){.name = symbol->function,
                              .linkage_name = symbol->linkage_name,
                              .module = module,
                              .source_file = file,
                              .line = symbol->decl_line,
                              .role = role_of(symbol),
                              .operator_new = call_site_operator(symbol->function)};
    return (uint32_t)frames->function_count++;
}

/* Notes where the code of the function begins that is not inlined into another one. */
static void note_start(struct function_row *function, const struct symbols_frame *symbol)
{
    const uint64_t start = symbol->inlined ? symbol->alone : symbol->start;
    if (start != 0 && (function->start == 0 || start < function->start))
        function->start = start;
}

static void make_wrapper(struct function_row *function)
{
    if (function->role == ROLE_NONE && !same_text(function->name, "main"))
        function->role = ROLE_WRAPPER;
}

static void name_of_runtime(struct frames *frames, const struct runtime_name *name, uint64_t pc,
                            struct symbols_frame *symbol)
{
    const bool known = name && name->function[0];
    const uint32_t line = (uint32_t)(pc & TRACE_RUNTIME_LINE_MAX);
    const char *file = name && name->file ? symbols_keep(frames->symbols, name->file) : NULL;
    *symbol = (struct symbols_frame){
        .function = symbols_keep(frames->symbols, known ? name->function : "(unnamed)"),
        .file = file,
        .line = line,
        .decl_file = file,
        .decl_line = name ? name->line : 0,
    };
}

/* Gives the function that ECL's compiler has made its Lisp name. Returns whether it is one. */
static bool name_of_lisp(struct frames *frames, uint32_t module, struct symbols_frame *symbol)
{
    char name[512];
    if (!symbols_lisp_is_candidate(symbol->function))
        return false;
    if (frames->last_lisp.module != module ||
        !same_text(frames->last_lisp.function, symbol->function)) {
        const struct symbols_file *file = symbols_module_file(frames->symbols, module);
        const bool known = file && symbols_lisp_name(file, symbol->function, name, sizeof(name));
        frames->last_lisp.module = module;
        frames->last_lisp.function = symbol->function;
        frames->last_lisp.name = known ? symbols_keep(frames->symbols, name) : NULL;
    }
    if (!frames->last_lisp.name)
        return false;
    symbol->linkage_name = symbol->function;
    symbol->function = frames->last_lisp.name;
    return true;
}

static bool add_range(struct frames *frames, uint64_t hash, uint32_t module,
                      uint32_t function_module, uint64_t pc, const struct runtime_name *name,
                      bool runtime)
{
    struct symbols_frame symbols[SYMBOLS_FRAMES_MAX];
    size_t count = 1;
    if (runtime)
        name_of_runtime(frames, name, pc, symbols);
    else
        count = symbols_lookup(frames->symbols, module, pc, symbols);
    const bool lisp = !runtime && name_of_lisp(frames, module, &symbols[count - 1]);
    /* Calls of mprof.h are inlined. They are not frames, as malloc's own are not, and their caller
     * is an allocator. */
    size_t entry = count > 1 && symbols[0].inlined && call_site_is_report(symbols[0].function);
    bool good = ARRAY_RESERVE(frames->ranges, frames->range_count, frames->range_capacity) &&
                array_reserve(&frames->rows, &frames->row_capacity, frames->row_count + count,
                              sizeof(*frames->rows)) &&
                index_map_insert(&frames->by_pc, hash, (uint32_t)frames->range_count);
    if (!good)
        return false;
    frames->ranges[frames->range_count++] =
        (struct frame_range){(uint32_t)frames->row_count, (uint32_t)(count - entry)};
    for (size_t i = entry; i < count; i++) {
        struct frame_row *row = &frames->rows[frames->row_count++];
        row->pc = pc;
        row->module = module;
        row->line = symbols[i].line;
        row->inlined = symbols[i].inlined;
        row->source_file = find_source_file(frames, symbols[i].file, &good);
        row->function = find_function(frames, function_module, &symbols[i], &good);
        if (!good)
            break;
        note_start(&frames->functions[row->function], &symbols[i]);
        if (runtime || (lisp && i == count - 1))
            frames->functions[row->function].role = ROLE_RUNTIME;
        if (entry == 1 && i == 1)
            make_wrapper(&frames->functions[row->function]);
    }
    return good;
}

static struct frame_range find_range(struct frames *frames, uint32_t module,
                                     uint32_t function_module, uint64_t pc,
                                     const struct runtime_name *name, bool runtime)
{
    uint64_t hash = hash_combine(hash_combine(hash_seed(), pc), module);
    INDEX_MAP_EACH(&frames->by_pc, hash, index) {
        const struct frame_row *row = &frames->rows[frames->ranges[index].first];
        if (row->pc == pc && row->module == module)
            return frames->ranges[index];
    }
    if (!add_range(frames, hash, module, function_module, pc, name, runtime))
        return (struct frame_range){0, 0};
    return frames->ranges[frames->range_count - 1];
}

struct frame_range frames_at(struct frames *frames, uint32_t module, uint32_t function_module,
                             uint64_t pc)
{
    return find_range(frames, module, function_module, pc, NULL, false);
}

struct frame_range frames_of_runtime(struct frames *frames, uint32_t module,
                                     uint32_t function_module, uint64_t pc,
                                     const struct runtime_name *name)
{
    return find_range(frames, module, function_module, pc, name, true);
}

void frames_free(struct frames *frames)
{
    FREE_ALL(frames->rows, frames->functions, frames->source_files, frames->ranges);
    index_map_free(&frames->by_pc);
    index_map_free(&frames->by_function);
    index_map_free(&frames->by_source_file);
    *frames = (struct frames){.symbols = frames->symbols};
}
