/* ELF files for tests: with a dynamic section as it is wanted, and nothing that could be run. */
#ifndef MPROF_TESTS_MADE_PROGRAM_H
#define MPROF_TESTS_MADE_PROGRAM_H

#include <elf.h>
#include <stdint.h>
#include <stdio.h>

#define MADE_ENTRIES 100u

struct made_program {
    struct {
        Elf64_Ehdr header;
        Elf64_Phdr segments[3]; /* all of it, the dynamic section, the loader */
        Elf64_Dyn entries[MADE_ENTRIES];
        char loader[32], strings[1024];
    } file;
    unsigned entries, strings; /* used */
};

/* Without entries. */
void made_begin(struct made_program *program);
void made_add(struct made_program *program, Elf64_Sxword tag, uint64_t value);
/* Where the names are. */
void made_add_strings(struct made_program *program);
/* An entry with a name. */
void made_add_name(struct made_program *program, Elf64_Sxword tag, const char *name);
/* Entries that say nothing, until there are `count`. */
void made_fill(struct made_program *program, unsigned count);
void made_write(const struct made_program *program, FILE *file);

#endif
