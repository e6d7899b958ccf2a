/*
 * Whether a program needs the shared runtime of a sanitizer. Such a runtime brings its own malloc
 * and must come first among the libraries, so it cannot be had beside a preloaded recorder.
 */
#ifndef MPROF_CAPTURE_RUN_SANITIZER_H
#define MPROF_CAPTURE_RUN_SANITIZER_H

#include <elf.h>
#include <stdbool.h>

/* `header` is that of the ELF file behind `descriptor`. False where the file does not tell. */
bool run_sanitizer_is_needed(int descriptor, const Elf64_Ehdr *header);

#endif
