/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What kind of program an ELF file is, as far as it decides whether a library can be preloaded.
 */
#ifndef MPROF_CAPTURE_PROGRAM_IMAGE_H
#define MPROF_CAPTURE_PROGRAM_IMAGE_H

#include <stdbool.h>
#include <stddef.h>

enum program_kind {
    PROGRAM_DYNAMIC, /* glibc's loader brings it up, and preloads; also what is no ELF file */
    PROGRAM_STATIC,
    PROGRAM_FOREIGN, /* of another processor: the loader says that it preloads nothing */
    /* Needs the shared runtime of a sanitizer, which has its own malloc and ends the program where
     * another library comes before it. */
    PROGRAM_SANITIZED,
    PROGRAM_OTHER_LIBC /* its loader is not glibc's, and ends the program over the library */
};

/* Of the file behind `descriptor`, which need not be an ELF file. */
enum program_kind program_image_read(int descriptor);

/*
 * The interpreter of a script ("#! interpreter argument") into `size` bytes. False where the file
 * is no script, or the name is longer.
 */
bool program_image_interpreter(int descriptor, char *name, size_t size);

/* Interpreters that are scripts themselves: the kernel's own limit. */
#define PROGRAM_SCRIPTS_MAX 4

/* The loader that the file names, into `size` bytes, cut off there. False where it names none. */
bool program_image_loader(int descriptor, char *name, size_t size);

#endif
