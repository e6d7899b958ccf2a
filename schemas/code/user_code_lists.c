/* SPDX-License-Identifier: BSD-2-Clause */
#include "schemas/code/user_code_lists.h"

#include <stdlib.h>
#include <string.h>

#include "schemas/code/user_code.h"
#include "schemas/text_hash.h"

static const char *const namespaces[] = {
    "std",        "__gnu_cxx", "__gnu_debug",    "__gnu_pbds", "__cxxabiv1",   "boost",
    "rust:alloc", "rust:core", "rust:hashbrown", "rust:std",   "rust:__rustc", NULL};

static const char *const modules[] = {
    /* C */
    "libc", "libm", "libmvec", "libdl", "librt", "libpthread", "libutil", "libresolv", "libnsl",
    "libcrypt", "libanl", "libnss_*", "libthread_db", "libc.musl*", "ld-linux*", "ld-musl*",
    "ld-2*",
    /* the kernel's own */
    "linux-vdso", "linux-gate", "[vdso]",
    /* compilers */
    "libgcc_s", "libatomic", "libgomp", "libomp", "libquadmath", "libgfortran", "libunwind*",
    "libasan", "liblsan", "libtsan", "libubsan", "libclang_rt*", "libstd-*",
    /* C++ */
    "libstdc++", "libsupc++", "libc++", "libc++abi", "libboost_*",
    /* allocators */
    "libmprof*", "libjemalloc", "libtcmalloc*", "libmimalloc*",
    /* what GLib adds to C */
    "libglib-2*", "libgobject-2*", "libgio-2*", "libgmodule-2*", "libgthread-2*", NULL};

/* Functions that begin programs and threads, and those that static linking puts into the program.
 */
static const char *const functions[] = {
    "_start", "call_init", "start_thread", "clone", "clone3", "__clone*", "__libc_*", "__pthread_*",
    "__GI_*", "_dl_*", "_IO_*", "_nl_*", "_nss_*", "__nss_*", "__cxa_*", "__gxx_*", "_Unwind_*",
    "execute_native_thread_routine", "_GLOBAL__sub_I_eh_*",
    /* Rust and Go */
    "__rust_*", "__rdl_*", "__rg_*", "_cgo_*", "x_cgo_*", "crosscall2", "runtime.*", "runtime/*",
    NULL};

static const char *const runtimes[] = {"libpython*", "python*", "libperl*", "perl", "perl5*",
                                       "libruby*", "ruby*", "libnode", "node", "nodejs", "libjvm",
                                       "libphp*", "php*", "libmono*", "libguile*", "guile*",
                                       "liblua*", "lua", "lua5*", "luajit*", "libecl", "ecl",
                                       /* modules in C that CPython brings along */
                                       "*/lib-dynload/*", NULL};

const char *const *const user_code_built_in_lists[USER_CODE_BUILT_IN_LISTS] = {
    [USER_CODE_NAMESPACES] = namespaces,
    [USER_CODE_MODULES] = modules,
    [USER_CODE_FUNCTIONS] = functions,
    [USER_CODE_RUNTIMES] = runtimes,
};

const char *user_code_built_in(size_t n)
{
    for (size_t list = 0; list < USER_CODE_BUILT_IN_LISTS; list++) {
        const char *const *words = user_code_built_in_lists[list];
        for (; *words; words++)
            if (n-- == 0)
                return *words;
    }
    return NULL;
}

/* The largest bit stays 0, so that the number fits a signed one. */
uint64_t user_code_version(void)
{
    uint64_t hash = TEXT_HASH_EMPTY;
    const char *word;
    for (size_t n = 0; (word = user_code_built_in(n)); n++)
        hash = text_hash_byte(text_hash_add(hash, word), 0);
    return hash >> 1;
}

static bool has(const struct user_code_words *words, const char *word)
{
    for (size_t i = 0; i < words->count; i++)
        if (strcmp(words->words[i], word) == 0)
            return true;
    return false;
}

bool user_code_add(struct user_code *code, enum user_code_list list, const char *word)
{
    struct user_code_words *words = &code->lists[list];
    if (*word == '\0' || strlen(word) > USER_CODE_WORD_MAX || words->count == USER_CODE_WORDS_MAX ||
        has(words, word))
        return true;
    if (!words->words && !(words->words = calloc(USER_CODE_WORDS_MAX, sizeof(*words->words))))
        return false;
    words->words[words->count] = strdup(word);
    return words->words[words->count] && ++words->count > 0;
}

bool user_code_copy(struct user_code *code, const struct user_code *from)
{
    *code = (struct user_code){0};
    for (size_t list = 0; list < USER_CODE_LISTS; list++)
        for (size_t i = 0; i < from->lists[list].count; i++)
            if (!user_code_add(code, (enum user_code_list)list, from->lists[list].words[i])) {
                user_code_free(code);
                return false;
            }
    return true;
}

void user_code_free(struct user_code *code)
{
    for (size_t list = 0; list < USER_CODE_LISTS; list++) {
        for (size_t i = 0; i < code->lists[list].count; i++)
            free(code->lists[list].words[i]);
        free(code->lists[list].words);
    }
    *code = (struct user_code){0};
}

bool user_code_is_default(const struct user_code *code)
{
    size_t words = 0;
    for (size_t list = 0; list < USER_CODE_LISTS; list++)
        words += code->lists[list].count;
    return words == 0;
}
