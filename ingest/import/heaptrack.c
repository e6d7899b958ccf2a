/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/import/heaptrack.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/base/array.h"
#include "ingest/import/modules.h"
#include "ingest/import/trace_writer.h"

enum { FILE_VERSION = 3, LINES_PER_LOOK = 65536 };

#define SIZE_MOST (UINT64_C(1) << 47)             /* of one block */
#define ADDRESS_MOST (UINT64_C(1) << 62)          /* of blocks whose addresses are made up */
#define MILLISECONDS_MOST UINT64_C(3000000000000) /* 95 years */
#define PAGE_SIZE_MOST (UINT64_C(1) << 30)

enum form { FORM_UNKNOWN, FORM_RAW, FORM_INTERPRETED };

/* Blocks of one size and stack, in interpreted data. */
struct equal_blocks {
    uint64_t size;
    uint32_t stack;
    uint32_t oldest, newest; /* live blocks; 0: none */
};

struct live_block {
    uint64_t address;
    uint32_t next; /* younger, or the next unused one; 0: none */
};

struct reader {
    struct lines *lines;
    struct trace_writer *writer;
    struct import_modules modules;
    struct import_names *names;
    char *command, *executable; /* NULL: not known */
    const char *why;            /* the fault of the line; NULL: memory or disk is full */
    const char *at;             /* the rest of the line */
    uint64_t milliseconds, ns;  /* of the last c line and of the last event */
    uint64_t page_size;
    uint64_t temporary, newest; /* `newest`: what was allocated last, plus 1; 0: freed already */
    uint32_t stacks;
    enum form form;
    struct equal_blocks *equals;
    size_t equal_count, equal_capacity;
    struct live_block *blocks; /* the first one is not used */
    size_t block_count, block_capacity;
    uint32_t unused;
    uint64_t next_address;
};

static bool wrong(struct reader *reader, const char *why)
{
    reader->why = why;
    return false;
}

static bool at_end(const struct reader *reader)
{
    return reader->at[strspn(reader->at, " ")] == '\0';
}

/* Takes a hexadecimal number of at most `most`. */
static bool take(struct reader *reader, uint64_t *number, uint64_t most)
{
    const char *at = reader->at + strspn(reader->at, " ");
    const size_t digits = strspn(at, "0123456789abcdefABCDEF");
    if (digits == 0 || (at[digits] != ' ' && at[digits] != '\0'))
        return wrong(reader, *at == '\0' ? "a number is missing" : "not a hexadecimal number");
    if (digits > 16 || (*number = strtoull(at, NULL, 16)) > most)
        return wrong(reader, "a number is too large");
    reader->at = at + digits;
    return true;
}

static bool take_id(struct reader *reader, uint32_t *id, uint64_t most)
{
    uint64_t number = 0;
    const bool good = take(reader, &number, most < UINT32_MAX ? most : UINT32_MAX);
    *id = (uint32_t)number;
    return good;
}

/* Takes a string, which has its length before it. */
static bool take_string(struct reader *reader, const char **text, size_t *length)
{
    uint64_t number;
    if (!take(reader, &number, LINES_LONGEST))
        return false;
    if (*reader->at != ' ' || strlen(reader->at + 1) < number)
        return wrong(reader, "a text is shorter than its length");
    *text = reader->at + 1;
    *length = (size_t)number;
    reader->at += 1 + number;
    return true;
}

static bool is_form(struct reader *reader, enum form form)
{
    if (reader->form == FORM_UNKNOWN)
        reader->form = form;
    return reader->form == form ||
           wrong(reader, "a line of raw data among interpreted data, or the other way round");
}

static bool keep(struct reader *reader, char **kept, const char *text, size_t length)
{
    free(*kept);
    *kept = strndup(text, length);
    return *kept || wrong(reader, NULL);
}

static bool read_version(struct reader *reader)
{
    uint64_t heaptrack, file;
    return take(reader, &heaptrack, UINT64_MAX) && take(reader, &file, UINT64_MAX) &&
           (file == FILE_VERSION ||
            wrong(reader, "not version 3 of heaptrack's files (heaptrack 1.4 and later)"));
}

static bool read_executable(struct reader *reader)
{
    const char *text;
    size_t length;
    return is_form(reader, FORM_RAW) && take_string(reader, &text, &length) &&
           keep(reader, &reader->executable, text, length);
}

static bool read_module(struct reader *reader)
{
    const char *text;
    char *path = NULL;
    size_t length;
    uint64_t bias, address, size;
    if (!is_form(reader, FORM_RAW) || !take_string(reader, &text, &length))
        return false;
    if (length == 1 && *text == '-') {
        import_modules_clear(&reader->modules);
        return true;
    }
    if (length > TRACE_WRITER_TEXT_MAX)
        return wrong(reader, "the path of a module is too long");
    if (!take(reader, &bias, UINT64_MAX))
        return false;
    const bool own = length == 1 && *text == 'x' && reader->executable;
    bool good = own ? keep(reader, &path, reader->executable, TRACE_WRITER_TEXT_MAX)
                    : keep(reader, &path, text, length);
    good = good &&
           (import_modules_add(&reader->modules, path, bias) || wrong(reader, "too many modules"));
    while (good && !at_end(reader))
        good = take(reader, &address, UINT64_MAX) && take(reader, &size, UINT64_MAX) &&
               (import_modules_range(&reader->modules, address, size) ||
                wrong(reader, "too many ranges of modules"));
    free(path);
    return good;
}

static bool read_string(struct reader *reader)
{
    const char *text;
    size_t length;
    return is_form(reader, FORM_INTERPRETED) && take_string(reader, &text, &length) &&
           (import_names_string(reader->names, text, length) || wrong(reader, NULL));
}

static bool read_address(struct reader *reader)
{
    struct import_frame frames[SYMBOLS_FRAMES_MAX];
    const size_t strings = import_names_strings(reader->names);
    uint64_t address;
    uint32_t module;
    size_t count = 0;
    if (!is_form(reader, FORM_INTERPRETED) || !take(reader, &address, UINT64_MAX) ||
        !take_id(reader, &module, strings))
        return false;
    while (!at_end(reader)) {
        struct import_frame frame = {0};
        if (!take_id(reader, &frame.function, strings) ||
            (!at_end(reader) &&
             (!take_id(reader, &frame.file, strings) || !take_id(reader, &frame.line, UINT32_MAX))))
            return false;
        if (count < SYMBOLS_FRAMES_MAX)
            frames[count++] = frame;
    }
    return import_names_address(reader->names, address, module, frames, count) ||
           wrong(reader, NULL);
}

static bool read_stack(struct reader *reader)
{
    const struct import_module *module = NULL;
    uint64_t address;
    uint32_t parent;
    if (!take(reader, &address, UINT64_MAX) || !take_id(reader, &parent, reader->stacks))
        return false;
    if (reader->stacks == UINT32_MAX - 1)
        return wrong(reader, "too many stacks");
    if (reader->form == FORM_INTERPRETED) {
        if (!import_names_find(reader->names, address, &address))
            return wrong(reader, "an address that was not defined before");
    } else {
        if (!import_modules_settle(&reader->modules, reader->writer))
            return wrong(reader, NULL);
        module = import_modules_find(&reader->modules, address);
    }
    return trace_writer_node(reader->writer, ++reader->stacks, parent, module ? module->id : 0,
                             address - (module ? module->bias : 0) + 1) ||
           wrong(reader, NULL);
}

/* Returns the time of the next event: that of the last c line, but later than the one before. */
static uint64_t next_ns(struct reader *reader)
{
    const uint64_t least = reader->milliseconds * 1000000;
    return reader->ns = reader->ns + 1 > least ? reader->ns + 1 : least;
}

static bool put_alloc(struct reader *reader, uint64_t address, uint64_t size, uint32_t stack)
{
    return trace_writer_alloc(reader->writer, next_ns(reader), address, size, stack) ||
           wrong(reader, NULL);
}

static bool put_free(struct reader *reader, uint64_t address, uint64_t freed)
{
    reader->temporary += reader->newest == freed + 1;
    reader->newest = 0;
    return trace_writer_free_block(reader->writer, next_ns(reader), address) || wrong(reader, NULL);
}

static bool read_sizes(struct reader *reader)
{
    struct equal_blocks blocks = {0};
    if (!is_form(reader, FORM_INTERPRETED) || !take(reader, &blocks.size, SIZE_MOST) ||
        !take_id(reader, &blocks.stack, reader->stacks))
        return false;
    if (reader->equal_count == UINT32_MAX ||
        !array_reserve(&reader->equals, &reader->equal_capacity, reader->equal_count + 1,
                       sizeof(*reader->equals)))
        return wrong(reader, NULL);
    reader->equals[reader->equal_count++] = blocks;
    return true;
}

/* Returns the number of a block that is not used. 0: memory is exhausted, or there are too many. */
static uint32_t new_block(struct reader *reader)
{
    const uint32_t unused = reader->unused;
    if (unused != 0) {
        reader->unused = reader->blocks[unused].next;
        return unused;
    }
    if (reader->block_count == 0)
        reader->block_count = 1;
    if (reader->block_count >= UINT32_MAX ||
        !array_reserve(&reader->blocks, &reader->block_capacity, reader->block_count + 1,
                       sizeof(*reader->blocks)))
        return 0;
    return (uint32_t)reader->block_count++;
}

/* Allocates a block of interpreted data, after all others. */
static bool alloc_equal(struct reader *reader)
{
    uint32_t number, block;
    if (reader->equal_count == 0)
        return wrong(reader, "an allocation that was not defined before");
    if (!take_id(reader, &number, reader->equal_count - 1))
        return false;
    struct equal_blocks *equals = &reader->equals[number];
    if (reader->next_address > ADDRESS_MOST)
        return wrong(reader, "the sizes of all blocks are too large");
    if ((block = new_block(reader)) == 0)
        return wrong(reader, NULL);
    reader->blocks[block] = (struct live_block){reader->next_address, 0};
    reader->next_address += (equals->size + 31) & ~UINT64_C(15);
    if (equals->newest != 0)
        reader->blocks[equals->newest].next = block;
    else
        equals->oldest = block;
    equals->newest = block;
    reader->newest = number + UINT64_C(1);
    return put_alloc(reader, reader->blocks[block].address, equals->size, equals->stack);
}

static bool free_equal(struct reader *reader)
{
    uint32_t number;
    if (reader->equal_count == 0)
        return wrong(reader, "a free of what was not allocated before");
    if (!take_id(reader, &number, reader->equal_count - 1))
        return false;
    struct equal_blocks *equals = &reader->equals[number];
    const uint32_t block = equals->oldest;
    if (block == 0)
        return wrong(reader, "a free of what is not live");
    equals->oldest = reader->blocks[block].next;
    if (equals->oldest == 0)
        equals->newest = 0;
    reader->blocks[block].next = reader->unused;
    reader->unused = block;
    return put_free(reader, reader->blocks[block].address, number);
}

static bool read_alloc(struct reader *reader)
{
    uint64_t size, address;
    uint32_t stack;
    if (reader->form == FORM_INTERPRETED)
        return alloc_equal(reader);
    if (!is_form(reader, FORM_RAW) || !take(reader, &size, SIZE_MOST) ||
        !take_id(reader, &stack, reader->stacks) || !take(reader, &address, UINT64_MAX - 1))
        return false;
    reader->newest = address + 1;
    return put_alloc(reader, address, size, stack);
}

static bool read_free(struct reader *reader)
{
    uint64_t address;
    if (reader->form == FORM_INTERPRETED)
        return free_equal(reader);
    return is_form(reader, FORM_RAW) && take(reader, &address, UINT64_MAX - 1) &&
           put_free(reader, address, address);
}

static bool read_time(struct reader *reader)
{
    uint64_t milliseconds;
    if (!take(reader, &milliseconds, MILLISECONDS_MOST))
        return false;
    if (milliseconds > reader->milliseconds)
        reader->milliseconds = milliseconds;
    return true;
}

static bool read_resident(struct reader *reader)
{
    uint64_t pages;
    return take(reader, &pages, SIZE_MOST / PAGE_SIZE_MOST * 4096) &&
           (trace_writer_resident(reader->writer, next_ns(reader), pages * reader->page_size) ||
            wrong(reader, NULL));
}

static bool read_line(struct reader *reader, const char *line)
{
    reader->at = line + (*line != '\0');
    switch (*line) {
    case 'v':
        return read_version(reader);
    case 'x':
        return read_executable(reader);
    case 'X':
        reader->at += *reader->at == ' ';
        return keep(reader, &reader->command, reader->at, strlen(reader->at));
    case 'I':
        return take(reader, &reader->page_size, PAGE_SIZE_MOST);
    case 'm':
        return read_module(reader);
    case 's':
        return read_string(reader);
    case 'i':
        return read_address(reader);
    case 't':
        return read_stack(reader);
    case 'a':
        return read_sizes(reader);
    case '+':
        return read_alloc(reader);
    case '-':
        return read_free(reader);
    case 'c':
        return read_time(reader);
    case 'R':
        return read_resident(reader);
    case 'A':
    case 'S':
    case '#':
    case '\0':
        return true;
    default:
        return wrong(reader, "no such line is known");
    }
}

static bool read_lines(struct reader *reader, const volatile sig_atomic_t *interrupted,
                       struct ingest_status *status)
{
    enum lines_next next;
    char *line;
    size_t length;
    while ((next = lines_next(reader->lines, &line, &length, status)) == LINES_LINE) {
        if (lines_number(reader->lines) % LINES_PER_LOOK == 0) {
            if (ingest_is_interrupted(interrupted))
                return ingest_fail(status, INGEST_INTERRUPTED, "interrupted");
            if (!ingest_check_live(reader->block_count, lines_size(reader->lines),
                                   lines_path(reader->lines), status))
                return false;
        }
        reader->why = NULL;
        if (strlen(line) != length ? wrong(reader, "a zero byte") : read_line(reader, line))
            continue;
        return ingest_fail(status, INGEST_BAD_INPUT, "%s: line %" PRIu64 ": %s",
                           lines_path(reader->lines), lines_number(reader->lines),
                           reader->why ? reader->why
                                       : "out of memory, or of room on the disk of the session");
    }
    return next == LINES_END;
}

static bool finish(struct reader *reader, struct imported *imported, struct ingest_status *status)
{
    const uint64_t least = reader->milliseconds * 1000000;
    import_modules_settle(&reader->modules, reader->writer);
    trace_writer_process(reader->writer, reader->command ? reader->command : "",
                         reader->executable ? reader->executable : "");
    imported->descriptor =
        trace_writer_finish(reader->writer, reader->ns > least ? reader->ns : least,
                            (uint32_t)reader->page_size, status);
    imported->temporary = reader->temporary;
    imported->made_up_addresses = reader->form == FORM_INTERPRETED;
    imported->what =
        reader->form == FORM_INTERPRETED
            ? "heaptrack's interpreted data: addresses, modules, threads, kinds of allocations, "
              "alignments and build-ids are missing; times are steps of 10 ms; a free ends the "
              "oldest block of its size and stack"
            : "heaptrack's raw data: threads, kinds of allocations, alignments and build-ids are "
              "missing; times are steps of 10 ms";
    if (imported->descriptor >= 0 && reader->form == FORM_INTERPRETED) {
        imported->names = reader->names;
        reader->names = NULL;
    }
    return imported->descriptor >= 0;
}

bool heaptrack_is(const char *text, size_t length)
{
    size_t i = 2;
    if (length < 5 || memcmp(text, "v ", 2) != 0)
        return false;
    while (i < length && strchr("0123456789abcdef", text[i]) && text[i] != '\0')
        i++;
    return i > 2 && i < length && (text[i] == ' ' || text[i] == '\n');
}

bool heaptrack_read(struct lines *lines, const char *session,
                    const volatile sig_atomic_t *interrupted, struct imported *imported,
                    struct ingest_status *status)
{
    struct reader reader = {.lines = lines, .page_size = 4096, .next_address = 4096};
    reader.names = import_names_new();
    bool good = reader.names != NULL || ingest_fail_memory(status, "the imported names");
    good = good && (reader.writer = trace_writer_new(session, status)) &&
           read_lines(&reader, interrupted, status) && finish(&reader, imported, status);
    trace_writer_free(reader.writer);
    import_modules_free(&reader.modules);
    import_names_free(reader.names);
    free(reader.command);
    free(reader.executable);
    free(reader.equals);
    free(reader.blocks);
    return good;
}
