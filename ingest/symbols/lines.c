/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/symbols/lines.h"

#include <elfutils/libdw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *symbols_lines_path(struct symbols_strings *strings, Dwarf_Files *files, size_t index)
{
    const char *name = dwarf_filesrc(files, index, NULL, NULL);
    const char *const *folders;
    size_t count;
    char path[4096];
    /* libdw's name for the number that means "no file" */
    if (!name || strcmp(name, "???") == 0)
        return NULL;
    if (name[0] == '/' || dwarf_getsrcdirs(files, &folders, &count) != 0 || count == 0 ||
        !folders[0] || folders[0][0] != '/')
        return symbols_strings_keep(strings, name);
    while (name[0] == '.' && name[1] == '/')
        name += 2;
    int length = snprintf(path, sizeof(path), "%s/%s", folders[0], name);
    return symbols_strings_keep(strings, length < (int)sizeof(path) ? path : name);
}

static bool keep_files(struct symbols_lines *lines, struct symbols_strings *strings,
                       Dwarf_Files *files, size_t count)
{
    lines->files = calloc(count + 1, sizeof(*lines->files));
    if (!lines->files)
        return false;
    lines->file_count = count;
    for (size_t i = 0; i < count; i++)
        lines->files[i] = symbols_lines_path(strings, files, i);
    return true;
}

/* Reads one row. Returns false if the row is of no use: unreadable, or a discarded function's. */
static bool read_line(const struct symbols_file *file, Dwarf_Line *row, struct symbols_line *line)
{
    Dwarf_Addr address;
    bool ends;
    int number = 0;
    size_t index = 0;
    Dwarf_Files *files;
    if (dwarf_lineaddr(row, &address) != 0 || dwarf_lineendsequence(row, &ends) != 0)
        return false;
    line->start = address + file->bias;
    line->file = UINT32_MAX;
    line->line = 0;
    if (ends)
        return true;
    if (!symbols_file_code(file, line->start))
        return false;
    if (dwarf_lineno(row, &number) == 0 && number > 0)
        line->line = (uint32_t)number;
    if (dwarf_line_file(row, &files, &index) == 0 && index < UINT32_MAX)
        line->file = (uint32_t)index;
    return true;
}

bool symbols_lines_build(struct symbols_lines *lines, const struct symbols_file *file,
                         struct symbols_strings *strings, Dwarf_Die *unit,
                         struct symbols_budget *budget)
{
    Dwarf_Lines *rows;
    Dwarf_Files *files;
    size_t count, file_count;
    if (dwarf_getsrclines(unit, &rows, &count) != 0 ||
        dwarf_getsrcfiles(unit, &files, &file_count) != 0)
        return true;
    lines->lines = calloc(count + 1, sizeof(*lines->lines));
    if (!lines->lines || !keep_files(lines, strings, files, file_count))
        return false;
    struct symbols_line last = {0, UINT32_MAX, 0};
    for (size_t i = 0; i < count; i++) {
        struct symbols_line line;
        if (!symbols_budget_take(budget))
            return false;
        Dwarf_Line *row = dwarf_onesrcline(rows, i);
        if (!row || !read_line(file, row, &line))
            continue;
        if (lines->count > 0 && last.start == line.start)
            lines->count--;
        else if (lines->count > 0 && last.file == line.file && last.line == line.line)
            continue;
        lines->lines[lines->count++] = last = line;
    }
    return true;
}

void symbols_lines_free(struct symbols_lines *lines)
{
    free(lines->lines);
    free(lines->files);
    memset(lines, 0, sizeof(*lines));
}

void symbols_lines_find(const struct symbols_lines *lines, uint64_t address, const char **file,
                        uint32_t *line)
{
    size_t low = 0, high = lines->count;
    *file = NULL;
    *line = 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (lines->lines[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || lines->lines[low - 1].file >= lines->file_count)
        return;
    *file = lines->files[lines->lines[low - 1].file];
    *line = lines->lines[low - 1].line;
}
