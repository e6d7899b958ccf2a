/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds out what kind of program a file is, as far as that decides whether a library can be
 * preloaded into it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct program_search {
    const char *name;
    const char *folders; /* the rest of PATH; NULL at the end */
};

/* A note in the ELF file of each program that is linked with libmprof.a: the lengths of its name
 * and its content, its type, its name. */
#define PROGRAM_NOTE_OF_RECORDER "\6\0\0\0\0\0\0\0\1\0\0\0mprof\0\0"

enum program_kind {
    PROGRAM_DYNAMIC, /* glibc's loader starts it and preloads; also any file that is not ELF */
    PROGRAM_CXX,     /* the same, and names the library of C++ as one that it needs */
    PROGRAM_STATIC,
    PROGRAM_LINKED,  /* static, with the recorder inside */
    PROGRAM_FOREIGN, /* for another processor: its loader complains of the library */
    /* Needs the shared runtime of a sanitizer. The runtime has its own malloc, and ends the program
     * if another library comes before it. */
    PROGRAM_SANITIZED,
    PROGRAM_OTHER_LIBC /* its loader is not one of glibc or musl, and ends the program because of
                          the library */
};

/* Returns the kind of the file behind `descriptor`, which need not be an ELF file. */
enum program_kind program_image_read(int descriptor);

/* Returns true if the program gets more rights than the process that executes it now. Its loader
 * then preloads nothing. */
bool program_image_raises_rights(int descriptor);

/* Copies the interpreter of a script ("#! interpreter argument") into `size` bytes. Returns false
 * if the file is not a script or the name does not fit. */
bool program_image_interpreter(int descriptor, char *name, size_t size);

/* How many interpreters in a row may be scripts themselves. This is the kernel's own limit. */
#define PROGRAM_SCRIPTS_MAX 4

/* Copies the path of the loader that the file names into `size` bytes, and cuts it off there.
 * Returns false if the file names none. */
bool program_image_loader(int descriptor, char *name, size_t size);

/* Finds the file of a program by its name, as execvp does. It allocates nothing, so children of
 * vfork can use it too. */

/* Begins a search. A `name` without a slash is searched for in PATH; any other is itself a path. */
void program_search_begin(struct program_search *search, const char *name);

/* Writes the next candidate, but skips those that do not fit. False: none. */
bool program_search_next(struct program_search *search, char *path, size_t size);
