/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/types/flow/code.h"

#include <gelf.h>

const uint8_t *types_code(const struct symbols_file *file, uint64_t address, size_t *size)
{
    for (Elf_Scn *section = NULL; (section = elf_nextscn(file->elf, section));) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header) || !(header.sh_flags & SHF_EXECINSTR) ||
            header.sh_type != SHT_PROGBITS || address < header.sh_addr ||
            address - header.sh_addr >= header.sh_size)
            continue;
        Elf_Data *data = elf_rawdata(section, NULL);
        uint64_t offset = address - header.sh_addr;
        if (!data || !data->d_buf || offset >= data->d_size)
            return NULL;
        *size = data->d_size - offset;
        return (const uint8_t *)data->d_buf + offset;
    }
    return NULL;
}
