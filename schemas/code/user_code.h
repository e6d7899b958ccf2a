/* SPDX-License-Identifier: BSD-2-Clause */
/* Tells the user's own code from libraries, by the names of functions and modules.
 *
 * The user's frame of a stack is its innermost frame that is the user's own code. Hidden frames
 * are not: a list that is built in names standard libraries, and the user's settings add words to
 * it or take some out. Frames of a runtime (an interpreter) count only if no frame of the stack is
 * the user's own. A stack that has neither has no user's frame.
 *
 * All-zero settings are the default. Order of calls: user_code_add() for each word, then
 * user_code_module() and user_code_function(), which only read, and user_code_free(). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The words of the user. A word of the first two lists means all of these; '*' in it matches any
 * characters, at any place:
 * - a namespace or class: `boost` means boost::asio::post, `Q*` means QString::append;
 * - a crate of Rust: `rust:core` means core::ptr::drop_in_place, if Rust's compiler made the name;
 * - a module, by its file name up to the version: `libc` means libc.so.6 and libc-2.31.so. A word
 *   with a slash is compared with the whole path, as in `/opt/vendor*`;
 * - a function, with or without its parameters. */
enum user_code_list {
    USER_CODE_HIDE,    /* not the user's own code */
    USER_CODE_SHOW,    /* the user's own code, although the built-in list hides it */
    USER_CODE_WRAPPER, /* functions only: hidden, and their frames are not call sites either */
    USER_CODE_LISTS,
};

struct user_code {
    struct user_code_words {
        char **words; /* none twice, none empty */
        size_t count;
    } lists[USER_CODE_LISTS];
};

/* The most bytes of a word, and words of a list. */
enum { USER_CODE_WORD_MAX = 1024, USER_CODE_WORDS_MAX = 1024 };

/* Adds a copy of a word. It ignores words that are there, are empty or too long, or are too many.
 * False if memory is exhausted. */
bool user_code_add(struct user_code *code, enum user_code_list list, const char *word);
bool user_code_copy(struct user_code *code, const struct user_code *from);
void user_code_free(struct user_code *code);
/* Returns true if the user's lists are empty. */
bool user_code_is_default(const struct user_code *code);

/* Returns the n-th word of the built-in list, NULL after the last. */
const char *user_code_built_in(size_t n);
/* Returns a number that changes with the built-in list, by which other results were computed. */
uint64_t user_code_version(void);

enum user_code_class { USER_CODE_OWN, USER_CODE_RUNTIME, USER_CODE_HIDDEN };

/* The verdict of the settings about a module. */
struct user_code_module {
    bool hide, show;               /* by the user's words */
    enum user_code_class built_in; /* by the built-in list */
};

/* Looks at a module's path; "" or NULL: not in a module, such as code made at run time. */
struct user_code_module user_code_module(const struct user_code *code, const char *path);

/* Returns the class of a function of that module: `name` as it is shown (demangled), `linkage_name`
 * as the linker knows it or NULL, `file` where the source declares it or NULL. Allocators and
 * wrappers that ingest found by their names are hidden whatever the lists say: the caller knows
 * their roles. */
enum user_code_class user_code_function(const struct user_code *code,
                                        const struct user_code_module *module, const char *name,
                                        const char *linkage_name, const char *file);

/* Returns true if the file belongs to a library of Ada, D or Nim whose generic code, such as
 * containers, is compiled with the program and gets memory for it. NULL: no file. */
bool user_code_is_generic_source(const char *file);

/* Returns true if the user marked the function as a wrapper. */
bool user_code_is_wrapper(const struct user_code *code, const char *name);
