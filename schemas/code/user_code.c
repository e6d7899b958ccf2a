/* SPDX-License-Identifier: BSD-2-Clause */
#include "schemas/code/user_code.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schemas/code/function_name.h"
#include "schemas/hash.h"

/* ---- lists ------------------------------------------------------------------------------ */

enum user_code_built_in_list {
    USER_CODE_NAMESPACES,
    USER_CODE_MODULES,
    USER_CODE_FUNCTIONS,
    USER_CODE_RUNTIMES, /* modules */
    USER_CODE_CRATES,
    USER_CODE_SOURCES,
    USER_CODE_GENERIC_SOURCES,
    USER_CODE_D_MODULES,
    USER_CODE_BUILT_IN_LISTS,
};

static const char *const namespaces[] = {"std",        "__gnu_cxx", "__gnu_debug", "__gnu_pbds",
                                         "__cxxabiv1", "boost",     NULL};

/* Crates of Rust: the standard library, what it consists of, and the harness of its tests. */
static const char *const crates[] = {
    "alloc",       "core",       "hashbrown",         "std",  "__rustc", "panic_unwind",
    "panic_abort", "std_detect", "compiler_builtins", "test", NULL};

/* The paths of sources that are not the user's, as compilers write them: Rust's library, by rustup
 * and by distributions, and packages that cargo fetched. */
static const char *const sources[] = {"/rustc/*",
                                      "*/rustc-*/library/*",
                                      "*/rustc-*/vendor/*",
                                      "*/rustlib/src/*",
                                      "*/.cargo/registry/*",
                                      "*/.cargo/git/checkouts/*",
                                      "*/cargo/registry/src/*",
                                      "*/cargo/git/checkouts/*",
                                      "/usr/share/cargo/registry/*",
                                      NULL};

/* Those of libraries whose generic code is compiled with the program, and works for it: GNAT's, the
 * two D compilers' and Nim's. */
static const char *const generic_sources[] = {
    "*/adainclude/*", "*/gcc/*/include/d/*", "*/ldc/*/include/d/*", "/usr/include/d/*",
    "/usr/lib/nim/*", "*/nim/lib/*",         "*/nim-*/lib/*",       NULL};

/* Modules and packages of the libraries of D, if D's compiler made the linker's name. */
static const char *const d_modules[] = {"core.*",   "rt.*",  "gcc.*", "ldc.*",
                                        "object.*", "std.*", "_d_*",  NULL};

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
    /* Ada, D, Objective-C, Go by gcc */
    "libgnat-*", "libgnarl-*", "libgphobos", "libgdruntime", "libdruntime-ldc-*",
    "libphobos2-ldc-*", "libphobos2", "libobjc", "libgo",
    /* C++ */
    "libstdc++", "libsupc++", "libc++", "libc++abi", "libboost_*",
    /* allocators */
    "libmprof*", "libjemalloc", "libtcmalloc*", "libmimalloc*",
    /* what GLib, talloc and APR add to C */
    "libglib-2*", "libgobject-2*", "libgio-2*", "libgmodule-2*", "libgthread-2*", "libtalloc",
    "libapr-1", "libaprutil-1", NULL};

/* Functions that begin programs and threads, and those that static linking puts into the program.
 */
static const char *const functions[] = {
    "_start", "call_init", "start_thread", "clone", "clone3", "__clone*", "__libc_*", "__pthread_*",
    "__GI_*", "_dl_*", "_IO_*", "_nl_*", "_nss_*", "__nss_*", "__cxa_*", "__gxx_*", "_Unwind_*",
    "execute_native_thread_routine", "_GLOBAL__sub_I_eh_*",
    /* Rust and Go */
    "__rust_*", "__rdl_*", "__rg_*", "_cgo_*", "x_cgo_*", "crosscall2", "runtime.*", "runtime/*",
    /* D, Ada, Fortran, Nim, Objective-C */
    "_d_*", "gc_*alloc*", "_aaGet*", "__gnat_*", "system__*", "ada__*", "gnat__*", "_gfortran_*",
    "*__system_?*", "*__stdZ*", "*__pureZ*", "NimMain", "NimMainInner", "nimNewObj*", "objc_*",
    "__objc_*",
    /* Free Pascal */
    "fpc_*", "FPC_*", "SYSTEM_$*", "SYSTEM$_$*", "OBJPAS_$*", "CMEM_$*", "SYSUTILS_$*",
    "SYSUTILS$_$*", "CLASSES_$*", "CLASSES$_$*", "MATH_$*", "STRUTILS_$*", "TYPINFO_$*",
    "VARIANTS_$*", "RTLCONSTS_$*", "CONTNRS_$*", "CONTNRS$_$*", NULL};

static const char *const runtimes[] = {"libpython*", "python*", "libperl*", "perl", "perl5*",
                                       "libruby*", "ruby*", "libnode", "node", "nodejs", "libjvm",
                                       "libphp*", "php*", "libmono*", "libguile*", "guile*",
                                       "liblua*", "lua", "lua5*", "luajit*", "libecl", "ecl",
                                       /* modules in C that CPython brings along */
                                       "*/lib-dynload/*",
                                       /* and those of packages */
                                       "*/site-packages/*", "*/dist-packages/*", NULL};

/* The words of each list; NULL ends a list. */
static const char *const *const user_code_built_in_lists[USER_CODE_BUILT_IN_LISTS] = {
    [USER_CODE_NAMESPACES] = namespaces,
    [USER_CODE_MODULES] = modules,
    [USER_CODE_FUNCTIONS] = functions,
    [USER_CODE_RUNTIMES] = runtimes,
    [USER_CODE_CRATES] = crates,
    [USER_CODE_SOURCES] = sources,
    [USER_CODE_GENERIC_SOURCES] = generic_sources,
    [USER_CODE_D_MODULES] = d_modules,
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

static struct function_name whole(const char *text)
{
    return (struct function_name){text, text + strlen(text)};
}

/* Returns the end of a module's name before its version: libc.so.6, libc-2.31.so, libssl3.so. */
static const char *before_version(const char *name)
{
    const char *end = strstr(name, ".so");
    if (!end || (end[3] != '\0' && end[3] != '.'))
        return name + strlen(name);
    const char *digits = end;
    while (digits > name && (isdigit((unsigned char)digits[-1]) || digits[-1] == '.'))
        digits--;
    return digits > name && digits < end && digits[-1] == '-' ? digits - 1 : end;
}

/* Compares a word with a module's file name, with and without its version. */
static bool is_module(const char *word, const char *path)
{
    const char *name = basename(path);
    if (strchr(word, '/'))
        return function_name_matches(word, whole(path));
    const char *end = strstr(name, ".so");
    const struct function_name file = {name, end ? end : name + strlen(name)};
    return function_name_matches(word, whole(name)) || function_name_matches(word, file) ||
           function_name_matches(word, (struct function_name){name, before_version(name)});
}

static bool words_have_module(const struct user_code_words *words, const char *path)
{
    for (size_t i = 0; i < words->count; i++)
        if (is_module(words->words[i], path))
            return true;
    return false;
}

static bool built_in_module(enum user_code_built_in_list list, const char *path)
{
    for (const char *const *word = user_code_built_in_lists[list]; *word; word++)
        if (is_module(*word, path))
            return true;
    return false;
}

struct user_code_module user_code_module(const struct user_code *code, const char *path)
{
    if (!path || *path == '\0')
        return (struct user_code_module){.built_in = USER_CODE_OWN};
    return (struct user_code_module){
        .hide = words_have_module(&code->lists[USER_CODE_HIDE], path),
        .show = words_have_module(&code->lists[USER_CODE_SHOW], path),
        .built_in = built_in_module(USER_CODE_MODULES, path)    ? USER_CODE_HIDDEN
                    : built_in_module(USER_CODE_RUNTIMES, path) ? USER_CODE_RUNTIME
                                                                : USER_CODE_OWN,
    };
}

/* Returns true if `name` lies in the namespace `word`, which a '*' turns into a pattern. */
static bool is_inside(const char *word, struct function_name name)
{
    const size_t length = strlen(word), room = (size_t)(name.end - name.begin);
    if (!strchr(word, '*'))
        return room > length + 2 && strncmp(name.begin, word, length) == 0 &&
               strncmp(name.begin + length, "::", 2) == 0;
    char pattern[USER_CODE_WORD_MAX + 4];
    snprintf(pattern, sizeof(pattern), "%s::*", word);
    return function_name_matches(pattern, name);
}

struct forms {
    struct function_name whole, bare; /* bare: without return type and parameters */
    struct function_name path;        /* from its outermost namespace on */
    struct rust_paths rust;           /* count 0: not of Rust */
};

static struct forms forms_of(const char *name, const char *linkage_name)
{
    struct forms forms = {.whole = whole(name), .bare = function_name_bare(name)};
    forms.path = forms.bare;
    if (rust_name_is(linkage_name)) {
        forms.rust = rust_name_paths(forms.bare, linkage_name);
        forms.path = forms.rust.paths[0];
    }
    return forms;
}

static bool in_namespace(const char *word, const struct forms *forms)
{
    static const char crate[] = "rust:";
    const size_t length = sizeof(crate) - 1;
    if (strncmp(word, crate, length) == 0)
        return forms->rust.count > 0 && is_inside(word + length, forms->path);
    return is_inside(word, forms->path);
}

static bool is_function(const char *word, const struct forms *forms)
{
    return strcmp(word, forms->whole.begin) == 0 || function_name_matches(word, forms->bare) ||
           function_name_matches(word, forms->whole);
}

static bool words_have_function(const struct user_code_words *words, const struct forms *forms)
{
    for (size_t i = 0; i < words->count; i++)
        if (in_namespace(words->words[i], forms) || is_function(words->words[i], forms))
            return true;
    return false;
}

/* Returns true if a pattern of the list fits the text. */
static bool is_any_of(const char *const *words, struct function_name text)
{
    for (; *words; words++)
        if (function_name_matches(*words, text))
            return true;
    return false;
}

bool user_code_is_generic_source(const char *file)
{
    return file && is_any_of(generic_sources, whole(file));
}

/* Returns true if D's compiler made the name. */
static bool is_of_d(const char *linkage_name)
{
    return linkage_name && strncmp(linkage_name, "_D", 2) == 0;
}

static bool built_in_function(const struct forms *forms, const char *linkage_name, const char *file)
{
    if (user_code_is_generic_source(file) ||
        (is_of_d(linkage_name) && is_any_of(d_modules, forms->bare)))
        return true;
    if (forms->rust.count > 0 &&
        (rust_paths_are_in(&forms->rust, crates) || (file && is_any_of(sources, whole(file)))))
        return true;
    for (const char *const *word = user_code_built_in_lists[USER_CODE_NAMESPACES]; *word; word++)
        if (in_namespace(*word, forms))
            return true;
    return is_any_of(functions, forms->bare);
}

enum user_code_class user_code_function(const struct user_code *code,
                                        const struct user_code_module *module, const char *name,
                                        const char *linkage_name, const char *file)
{
    const struct forms forms = forms_of(name, linkage_name);
    /* A frame of which nothing is known is named by its address. */
    if (name[0] == '\0' || strcmp(name, "?") == 0 || strncmp(name, "?+", 2) == 0 ||
        user_code_is_wrapper(code, name) || module->hide ||
        words_have_function(&code->lists[USER_CODE_HIDE], &forms))
        return USER_CODE_HIDDEN;
    if (module->show || words_have_function(&code->lists[USER_CODE_SHOW], &forms))
        return USER_CODE_OWN;
    return built_in_function(&forms, linkage_name, file) ? USER_CODE_HIDDEN : module->built_in;
}

bool user_code_is_wrapper(const struct user_code *code, const char *name)
{
    const struct user_code_words *words = &code->lists[USER_CODE_WRAPPER];
    if (words->count == 0)
        return false;
    const struct forms forms = forms_of(name, NULL);
    for (size_t i = 0; i < words->count; i++)
        if (is_function(words->words[i], &forms))
            return true;
    return false;
}
