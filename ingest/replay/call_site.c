/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The names are compared without parameter lists and return types (schemas/code/function_name.h).
 *
 * The table contains, for these reasons:
 * - C++: operator new in all forms; std::allocator, its traits, and the containers' internal
 *   functions whose only work is to call them (_M_allocate, _M_create_storage, …). It leaves out
 *   the functions that decide to allocate, such as std::string::_M_create or vector::reserve.
 *   Inlined or not, the frame outside them is the program's, and the container's own name tells
 *   what happened.
 * - C: the names that programs and libraries commonly give to malloc with a check or a counter
 *   around it.
 * - libc functions whose result is a new block that the caller must free, and that do nothing else
 *   of note (strdup, asprintf). The user's call site is the place that calls them. Functions that
 *   allocate for purposes of their own (fopen, getline, opendir, setlocale, qsort) are call sites.
 */
#include "ingest/replay/call_site.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "schemas/code/function_name.h"

struct pattern {
    const char *text;
    enum function_role role;
};

static const struct pattern patterns[] = {
    /* The entry points themselves, for a program that defines its own or a frame that shows them */
    {"malloc", ROLE_ALLOCATOR},
    {"calloc", ROLE_ALLOCATOR},
    {"realloc", ROLE_ALLOCATOR},
    {"reallocarray", ROLE_ALLOCATOR},
    {"free", ROLE_ALLOCATOR},
    {"posix_memalign", ROLE_ALLOCATOR},
    {"aligned_alloc", ROLE_ALLOCATOR},
    {"memalign", ROLE_ALLOCATOR},
    {"valloc", ROLE_ALLOCATOR},
    {"pvalloc", ROLE_ALLOCATOR},
    {"__libc_malloc", ROLE_ALLOCATOR},
    {"__libc_calloc", ROLE_ALLOCATOR},
    {"__libc_realloc", ROLE_ALLOCATOR},
    {"__libc_memalign", ROLE_ALLOCATOR},
    {"__libc_free", ROLE_ALLOCATOR},
    /* ECL and its collector */
    {"ecl_alloc*", ROLE_ALLOCATOR},
    {"alloc_pointerfull_memory", ROLE_ALLOCATOR},
    {"ecl_cons", ROLE_ALLOCATOR},
    {"ecl_list1", ROLE_ALLOCATOR},
    {"GC_malloc*", ROLE_ALLOCATOR},
    {"GC_realloc", ROLE_ALLOCATOR},
    {"GC_free", ROLE_ALLOCATOR},
    /* C++ */
    {"operator new", ROLE_ALLOCATOR},
    {"operator new[]", ROLE_ALLOCATOR},
    {"*::operator new", ROLE_ALLOCATOR}, /* a class's own: the call site is in the class's user */
    {"*::operator new[]", ROLE_ALLOCATOR},
    {"operator delete", ROLE_ALLOCATOR},
    {"operator delete[]", ROLE_ALLOCATOR},
    {"*::operator delete", ROLE_ALLOCATOR},
    {"*::operator delete[]", ROLE_ALLOCATOR},
    {"std::allocator<*>::allocate", ROLE_ALLOCATOR},
    {"std::allocator<*>::deallocate", ROLE_ALLOCATOR},
    {"std::allocator_traits<*>::allocate", ROLE_ALLOCATOR},
    {"std::allocator_traits<*>::deallocate", ROLE_ALLOCATOR},
    {"std::__new_allocator<*>::allocate", ROLE_ALLOCATOR},
    {"std::__new_allocator<*>::deallocate", ROLE_ALLOCATOR},
    {"std::__allocate_guarded<*>", ROLE_ALLOCATOR},
    {"std::__libcpp_allocate*", ROLE_ALLOCATOR},
    {"std::__1::allocator<*>::allocate", ROLE_ALLOCATOR},
    {"std::__1::allocator_traits<*>::allocate", ROLE_ALLOCATOR},
    {"std::__1::__libcpp_allocate*", ROLE_ALLOCATOR},
    {"std::__1::__allocate_at_least<*>", ROLE_ALLOCATOR},
    {"std::pmr::*::allocate", ROLE_ALLOCATOR},
    {"std::pmr::*::do_allocate", ROLE_ALLOCATOR},
    {"__gnu_cxx::*allocator<*>::allocate", ROLE_ALLOCATOR},
    {"__gnu_cxx::*allocator<*>::deallocate", ROLE_ALLOCATOR},
    {"__gnu_cxx::__alloc_traits<*>::allocate", ROLE_ALLOCATOR},
    {"std::*::_M_allocate", ROLE_ALLOCATOR},
    {"std::*::_M_allocate_map", ROLE_ALLOCATOR},
    {"std::*::_M_allocate_node", ROLE_ALLOCATOR},
    {"std::*::_M_allocate_node<*>", ROLE_ALLOCATOR},
    {"std::*::_M_allocate_buckets", ROLE_ALLOCATOR},
    {"std::*::_M_allocate_and_copy<*>", ROLE_ALLOCATOR},
    {"std::*::_M_create_storage", ROLE_ALLOCATOR},
    {"std::*::_M_get_node", ROLE_ALLOCATOR},
    {"std::*::_M_create_node<*>", ROLE_ALLOCATOR},
    {"std::*::_S_allocate", ROLE_ALLOCATOR},
    {"std::*::_Auto_node::_Auto_node<*>", ROLE_ALLOCATOR},
    {"std::*::_Scoped_node::_Scoped_node<*>", ROLE_ALLOCATOR},
    {"New_<*>", ROLE_ALLOCATOR}, /* mprof_types.h */
    /* Names from programs and libraries */
    {"xmalloc", ROLE_WRAPPER},
    {"xcalloc", ROLE_WRAPPER},
    {"xrealloc", ROLE_WRAPPER},
    {"xreallocarray", ROLE_WRAPPER},
    {"xzalloc", ROLE_WRAPPER},
    {"xnmalloc", ROLE_WRAPPER},
    {"xnrealloc", ROLE_WRAPPER},
    {"xmallocz", ROLE_WRAPPER},
    {"xstrdup", ROLE_WRAPPER},
    {"xstrndup", ROLE_WRAPPER},
    {"xmemdup", ROLE_WRAPPER},
    {"xmemdupz", ROLE_WRAPPER},
    {"ximalloc", ROLE_WRAPPER},
    {"xirealloc", ROLE_WRAPPER},
    {"xpalloc", ROLE_WRAPPER},
    {"x2realloc", ROLE_WRAPPER},
    {"x2nrealloc", ROLE_WRAPPER},
    {"xcharalloc", ROLE_WRAPPER},
    {"do_xmalloc*", ROLE_WRAPPER},
    {"safe_malloc", ROLE_WRAPPER},
    {"safe_calloc", ROLE_WRAPPER},
    {"safe_realloc", ROLE_WRAPPER},
    {"emalloc", ROLE_WRAPPER},
    {"ecalloc", ROLE_WRAPPER},
    {"erealloc", ROLE_WRAPPER},
    {"zmalloc", ROLE_WRAPPER},
    {"zmalloc_usable", ROLE_WRAPPER},
    {"zcalloc", ROLE_WRAPPER},
    {"zcalloc_usable", ROLE_WRAPPER},
    {"zcalloc_num", ROLE_WRAPPER},
    {"zrealloc", ROLE_WRAPPER},
    {"zrealloc_usable", ROLE_WRAPPER},
    {"zstrdup", ROLE_WRAPPER},
    {"ztrymalloc*", ROLE_WRAPPER},
    {"ztrycalloc*", ROLE_WRAPPER},
    {"ztryrealloc*", ROLE_WRAPPER},
    {"zfree", ROLE_WRAPPER},
    {"g_malloc*", ROLE_WRAPPER},
    {"g_try_malloc*", ROLE_WRAPPER},
    {"g_realloc*", ROLE_WRAPPER},
    {"g_try_realloc*", ROLE_WRAPPER},
    {"g_slice_alloc*", ROLE_WRAPPER},
    {"g_strdup", ROLE_WRAPPER},
    {"g_strndup", ROLE_WRAPPER},
    {"g_memdup*", ROLE_WRAPPER},
    {"g_free", ROLE_WRAPPER},
    {"PyMem_*lloc", ROLE_WRAPPER},
    {"PyObject_Malloc", ROLE_WRAPPER},
    {"PyObject_Calloc", ROLE_WRAPPER},
    {"PyObject_Realloc", ROLE_WRAPPER},
    {"PyObject_Free", ROLE_WRAPPER},
    {"_PyMem_*lloc", ROLE_WRAPPER},
    {"_PyObject_Malloc", ROLE_WRAPPER},
    {"_PyObject_Calloc", ROLE_WRAPPER},
    {"_PyObject_Realloc", ROLE_WRAPPER},
    {"Perl_safesysmalloc", ROLE_WRAPPER},
    {"Perl_safesyscalloc", ROLE_WRAPPER},
    {"Perl_safesysrealloc", ROLE_WRAPPER},
    {"Perl_safesysfree", ROLE_WRAPPER},
    {"sqlite3MemMalloc", ROLE_WRAPPER},
    {"sqlite3MemRealloc", ROLE_WRAPPER},
    {"sqlite3Malloc*", ROLE_WRAPPER},
    {"sqlite3Realloc*", ROLE_WRAPPER},
    {"sqlite3_malloc*", ROLE_WRAPPER},
    {"sqlite3_realloc*", ROLE_WRAPPER},
    {"sqlite3DbMalloc*", ROLE_WRAPPER},
    {"sqlite3DbRealloc*", ROLE_WRAPPER},
    {"sqlite3DbStrDup", ROLE_WRAPPER},
    {"mallocWithAlarm", ROLE_WRAPPER},
    {"dbMallocRawFinish", ROLE_WRAPPER},
    {"CRYPTO_malloc", ROLE_WRAPPER},
    {"CRYPTO_zalloc", ROLE_WRAPPER},
    {"CRYPTO_realloc", ROLE_WRAPPER},
    {"CRYPTO_strdup", ROLE_WRAPPER},
    {"OPENSSL_malloc", ROLE_WRAPPER},
    {"jv_mem_alloc*", ROLE_WRAPPER},
    {"jv_mem_calloc*", ROLE_WRAPPER},
    {"jv_mem_realloc*", ROLE_WRAPPER},
    {"jv_mem_strdup*", ROLE_WRAPPER},
    {"talloc_*alloc*", ROLE_WRAPPER},
    {"apr_palloc*", ROLE_WRAPPER},
    {"av_malloc*", ROLE_WRAPPER},
    {"av_realloc*", ROLE_WRAPPER},
    {"SDL_malloc", ROLE_WRAPPER},
    {"SDL_calloc", ROLE_WRAPPER},
    {"SDL_realloc", ROLE_WRAPPER},
    {"llvm::safe_malloc", ROLE_WRAPPER},
    {"llvm::safe_calloc", ROLE_WRAPPER},
    {"llvm::safe_realloc", ROLE_WRAPPER},
    {"llvm::allocate_buffer", ROLE_WRAPPER},
    /* libc functions that only make a new block for the caller */
    {"strdup", ROLE_WRAPPER},
    {"__strdup", ROLE_WRAPPER},
    {"strndup", ROLE_WRAPPER},
    {"__strndup", ROLE_WRAPPER},
    {"wcsdup", ROLE_WRAPPER},
    {"__wcsdup", ROLE_WRAPPER},
    {"asprintf", ROLE_WRAPPER},
    {"__asprintf", ROLE_WRAPPER},
    {"___asprintf", ROLE_WRAPPER},
    {"__asprintf_chk", ROLE_WRAPPER},
    {"vasprintf", ROLE_WRAPPER},
    {"__vasprintf_internal", ROLE_WRAPPER},
    {"__vasprintf_chk", ROLE_WRAPPER},
};

enum function_role call_site_role(const char *name)
{
    const struct function_name bare = function_name_bare(name);
    for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++)
        if (function_name_matches(patterns[i].text, bare))
            return patterns[i].role;
    return ROLE_NONE;
}

const char *call_site_role_name(enum function_role role)
{
    static const char *const names[] = {[ROLE_ALLOCATOR] = "allocator",
                                        [ROLE_WRAPPER] = "wrapper",
                                        [ROLE_RUNTIME] = "runtime",
                                        [ROLE_EVALUATOR] = "evaluator"};
    return names[role];
}

bool call_site_is_report(const char *name)
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
