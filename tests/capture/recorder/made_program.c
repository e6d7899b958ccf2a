#include "made_program.h"

#include <stddef.h>
#include <string.h>

#define BASE UINT64_C(0x400000)
#define OFFSET(member) offsetof(struct made_program, file.member)

void made_begin(struct made_program *program)
{
    static const char loader[] = "/lib64/ld-linux-x86-64.so.2";
    *program = (struct made_program){.strings = 1};
    Elf64_Ehdr *header = &program->file.header;
    memcpy(header->e_ident, ELFMAG, SELFMAG);
    header->e_ident[EI_CLASS] = ELFCLASS64;
    header->e_machine = EM_X86_64;
    header->e_phoff = OFFSET(segments);
    header->e_phentsize = sizeof *program->file.segments;
    header->e_phnum = 3;
    memcpy(program->file.loader, loader, sizeof loader);
    Elf64_Phdr *segments = program->file.segments;
    segments[0] =
        (Elf64_Phdr){.p_type = PT_LOAD, .p_vaddr = BASE, .p_filesz = sizeof program->file};
    segments[1] = (Elf64_Phdr){.p_type = PT_DYNAMIC,
                               .p_offset = OFFSET(entries),
                               .p_filesz = sizeof program->file.entries};
    segments[2] =
        (Elf64_Phdr){.p_type = PT_INTERP, .p_offset = OFFSET(loader), .p_filesz = sizeof loader};
}

void made_add(struct made_program *program, Elf64_Sxword tag, uint64_t value)
{
    program->file.entries[program->entries++] = (Elf64_Dyn){.d_tag = tag, .d_un.d_val = value};
}

void made_add_strings(struct made_program *program)
{
    made_add(program, DT_STRTAB, BASE + OFFSET(strings));
}

void made_add_name(struct made_program *program, Elf64_Sxword tag, const char *name)
{
    const size_t size = strlen(name) + 1;
    made_add(program, tag, program->strings);
    memcpy(program->file.strings + program->strings, name, size);
    program->strings += (unsigned)size;
}

void made_fill(struct made_program *program, unsigned count)
{
    while (program->entries < count)
        made_add(program, DT_DEBUG, 0);
}

void made_write(const struct made_program *program, FILE *file)
{
    fwrite(&program->file, sizeof program->file, 1, file);
    fflush(file);
}
