#include "ingest/symbols_paths.h"

#include <dwarf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <elfutils/libdwelf.h>

#include "ingest/symbols_file.h"

static void write_build_id(char text[130], const uint8_t *bytes, size_t length)
{
    text[0] = '\0';
    for (size_t i = 0; i < length && i < 64; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
}

/* By name, which may be relative to the file that names it, or by its build-id. */
static void find_common(const struct symbols_file *file, struct symbols_paths *paths)
{
    const char *name, *from = paths->debug.path ? paths->debug.path : paths->module.path;
    const void *build_id;
    ssize_t length = file->dwarf ? dwelf_dwarf_gnu_debugaltlink(file->dwarf, &name, &build_id) : 0;
    if (length <= 1)
        return;
    write_build_id(paths->common.build_id, build_id, (size_t)length);
    const char *slash = name[0] == '/' ? NULL : strrchr(from, '/');
    snprintf(paths->common_path, sizeof paths->common_path, "%.*s%s",
             slash ? (int)(slash + 1 - from) : 0, from, name);
    if (access(paths->common_path, R_OK) != 0)
        snprintf(paths->common_path, sizeof paths->common_path,
                 "/usr/lib/debug/.build-id/%.2s/%s.debug", paths->common.build_id,
                 paths->common.build_id + 2);
    paths->common.path = paths->common_path;
}

static bool has_split_units(Dwarf *dwarf)
{
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    uint8_t type;
    return dwarf != NULL && dwarf_get_units(dwarf, NULL, &unit, NULL, &type, &die, NULL) == 0 &&
           (type == DW_UT_skeleton || dwarf_hasattr(&die, DW_AT_GNU_dwo_name));
}

bool symbols_paths(struct symbols *symbols, uint32_t id, struct symbols_paths *paths)
{
    const struct symbols_file *file = symbols_module_file(symbols, id);
    const uint8_t *bytes;
    GElf_Addr address;
    memset(paths, 0, sizeof *paths);
    if (file == NULL)
        return false;
    dwfl_module_info(file->module, NULL, NULL, NULL, NULL, NULL, &paths->module.path,
                     &paths->debug.path);
    if (paths->module.path == NULL || strncmp(paths->module.path, "/proc/", 6) == 0)
        return false;
    int length = dwfl_module_build_id(file->module, &bytes, &address);
    if (length > 0)
        write_build_id(paths->module.build_id, bytes, (size_t)length);
    memcpy(paths->debug.build_id, paths->module.build_id, sizeof paths->debug.build_id);
    find_common(file, paths);
    paths->split = has_split_units(file->dwarf);
    return true;
}
