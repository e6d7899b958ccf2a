/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/symbols/paths.h"

#include <dwarf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <elfutils/libdwelf.h>

#include "ingest/symbols/file.h"

/* Finds the file of common debug information (dwz). Its name may be relative to the file that names
 * it. Otherwise its build-id tells where it is. */
static void find_common(const struct symbols_file *file, struct symbols_paths *paths)
{
    const char *name, *from = paths->debug.path ? paths->debug.path : paths->module.path;
    const void *build_id;
    ssize_t length = file->dwarf ? dwelf_dwarf_gnu_debugaltlink(file->dwarf, &name, &build_id) : 0;
    if (length <= 1)
        return;
    symbols_hexadecimal(paths->common.build_id, sizeof(paths->common.build_id), build_id,
                        (size_t)length);
    const char *slash = name[0] == '/' ? NULL : strrchr(from, '/');
    snprintf(paths->common_path, sizeof(paths->common_path), "%.*s%s",
             slash ? (int)(slash + 1 - from) : 0, from, name);
    if (access(paths->common_path, R_OK) != 0)
        snprintf(paths->common_path, sizeof(paths->common_path),
                 "/usr/lib/debug/.build-id/%.2s/%s.debug", paths->common.build_id,
                 paths->common.build_id + 2);
    paths->common.path = paths->common_path;
}

bool symbols_paths(struct symbols *symbols, uint32_t id, struct symbols_paths *paths)
{
    const struct symbols_file *file = symbols_module_file(symbols, id);
    const uint8_t *bytes;
    GElf_Addr address;
    memset(paths, 0, sizeof(*paths));
    if (!file)
        return false;
    dwfl_module_info(file->module, NULL, NULL, NULL, NULL, NULL, &paths->module.path,
                     &paths->debug.path);
    if (!paths->module.path || strncmp(paths->module.path, "/proc/", 6) == 0)
        return false;
    int length = dwfl_module_build_id(file->module, &bytes, &address);
    if (length > 0)
        symbols_hexadecimal(paths->module.build_id, sizeof(paths->module.build_id), bytes,
                            (size_t)length);
    memcpy(paths->debug.build_id, paths->module.build_id, sizeof(paths->debug.build_id));
    find_common(file, paths);
    return true;
}

static const char *text_of(Dwarf_Die *die, unsigned name, unsigned older_name)
{
    Dwarf_Attribute attribute;
    return dwarf_attr(die, name, &attribute) || dwarf_attr(die, older_name, &attribute)
               ? dwarf_formstring(&attribute)
               : NULL;
}

/* Tries the places in libdw's order. `from` is the file that names the split file. */
static void find_split(const char *from, const char *folder, struct symbols_split *split)
{
    const char *slash = strrchr(from, '/');
    int from_length = !slash ? 0 : (int)(slash + 1 - from);
    const char *name = split->name;
    bool below = folder && folder[0] != '/';
    if (name[0] == '/') {
        snprintf(split->path, sizeof(split->path), "%s", name);
        return;
    }
    snprintf(split->path, sizeof(split->path), "%.*s%s", from_length, from, name);
    if (access(split->path, R_OK) != 0)
        snprintf(split->path, sizeof(split->path), "%.*s%s/%s", below ? from_length : 0, from,
                 !folder ? "." : folder, name);
}

void symbols_paths_split(struct symbols *symbols, uint32_t id,
                         void (*found)(void *context, const struct symbols_split *split),
                         void *context)
{
    const struct symbols_file *file = symbols_module_file(symbols, id);
    const char *module = NULL, *debug = NULL;
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    uint8_t type;
    struct symbols_split split;
    if (!file || !file->dwarf)
        return;
    dwfl_module_info(file->module, NULL, NULL, NULL, NULL, NULL, &module, &debug);
    const char *from = debug ? debug : module;
    while (from && dwarf_get_units(file->dwarf, unit, &unit, NULL, &type, &die, NULL) == 0) {
        split.name =
            type == DW_UT_skeleton ? text_of(&die, DW_AT_dwo_name, DW_AT_GNU_dwo_name) : NULL;
        if (!split.name || *split.name == '\0')
            continue;
        find_split(from, text_of(&die, DW_AT_comp_dir, DW_AT_comp_dir), &split);
        found(context, &split);
    }
}
