/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/trace/import.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "ingest/base/array.h"
#include "ingest/trace/trace_writer.h"
#include "schemas/array.h"
#include "schemas/printable.h"

/* Reads the lines of a text file: plain, or compressed by gzip or zstd.
 *
 * Order of calls: lines_open(), lines_next() until it does not return LINES_LINE, lines_close(). */

/* A longer line is damage. */
#define LINES_LONGEST (1u << 20)

enum lines_next { LINES_LINE, LINES_END, LINES_FAILED };

enum { BUFFER = 1 << 17 };

/* Text that a packed file may have: so much, and so much for each of its bytes. */
#define UNPACKED_LEAST (UINT64_C(64) << 20)
#define UNPACKED_RATIO 100

struct lines {
    gzFile gzip; /* plain files, too; NULL: the file is packed by zstd */
    ZSTD_DStream *zstd;
    int descriptor; /* of a zstd file; -1: none */
    char *packed;   /* what was read of a zstd file, BUFFER bytes */
    ZSTD_inBuffer input;
    bool frame_open;    /* the zstd frame goes on */
    const char *damage; /* why no more can be read; NULL: nothing is wrong so far */
    /* The text from `at` to `end` is not given yet. There is room for a zero byte after it. */
    char *text;
    size_t at, end, capacity;
    uint64_t number;
    uint64_t left; /* bytes that may still come */
    uint64_t size; /* of the file */
    char path[512];
};

static const unsigned char zstd_magic[4] = {0x28, 0xb5, 0x2f, 0xfd};

static bool open_stream(struct lines *lines, int descriptor)
{
    unsigned char begin[4] = {0};
    if (pread(descriptor, begin, sizeof(begin), 0) == sizeof(begin) &&
        memcmp(begin, zstd_magic, sizeof(begin)) == 0) {
        lines->descriptor = descriptor;
        lines->packed = malloc(BUFFER);
        lines->zstd = ZSTD_createDStream();
        lines->input = (ZSTD_inBuffer){lines->packed, 0, 0};
        return lines->packed && lines->zstd;
    }
    lines->gzip = gzdopen(descriptor, "rb");
    if (!lines->gzip)
        close(descriptor);
    return lines->gzip != NULL;
}

static void lines_close(struct lines *lines)
{
    if (!lines)
        return;
    if (lines->gzip)
        gzclose(lines->gzip);
    ZSTD_freeDStream(lines->zstd);
    if (lines->descriptor >= 0)
        close(lines->descriptor);
    FREE_ALL(lines->packed, lines->text, lines);
}

/* Opens a regular file. NULL with `status` set. */
static struct lines *lines_open(const char *path, struct ingest_status *status)
{
    struct lines *lines = calloc(1, sizeof(*lines));
    struct stat about;
    if (!lines) {
        ingest_fail_memory(status, "the file to import");
        return NULL;
    }
    lines->descriptor = -1;
    printable_copy(lines->path, sizeof(lines->path), path);
    /* O_NONBLOCK: the open of a FIFO given by mistake must not wait for a writer. */
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0 || fstat(descriptor, &about) != 0 || !S_ISREG(about.st_mode)) {
        ingest_fail(status, INGEST_BAD_INPUT, "%s: cannot be opened: %s", lines->path,
                    descriptor < 0 ? strerror(errno) : "not a regular file");
        if (descriptor >= 0)
            close(descriptor);
        lines_close(lines);
        return NULL;
    }
    lines->left = UNPACKED_LEAST + UNPACKED_RATIO * (uint64_t)about.st_size;
    lines->size = (uint64_t)about.st_size;
    lines->capacity = BUFFER;
    lines->text = malloc(lines->capacity + 1);
    if (!open_stream(lines, descriptor) || !lines->text) {
        ingest_fail_memory(status, "the file to import");
        lines_close(lines);
        return NULL;
    }
    return lines;
}

static size_t read_gzip(struct lines *lines, char *text, size_t size)
{
    int code = Z_OK;
    const int count = gzread(lines->gzip, text, (unsigned)size);
    if (count > 0)
        return (size_t)count;
    gzerror(lines->gzip, &code);
    if (code == Z_BUF_ERROR)
        lines->damage = "the gzip data is cut";
    else if (count < 0)
        lines->damage = code == Z_ERRNO ? strerror(errno) : "the gzip data is damaged";
    return 0;
}

/* Reads more of a zstd file. False at its end. */
static bool refill(struct lines *lines)
{
    ssize_t count;
    do
        count = read(lines->descriptor, lines->packed, BUFFER);
    while (count < 0 && errno == EINTR);
    if (count < 0)
        lines->damage = strerror(errno);
    else if (count == 0 && lines->frame_open)
        lines->damage = "the zstd data is cut";
    lines->input = (ZSTD_inBuffer){lines->packed, count > 0 ? (size_t)count : 0, 0};
    return count > 0;
}

static size_t read_zstd(struct lines *lines, char *text, size_t size)
{
    ZSTD_outBuffer output = {text, size, 0};
    while (output.pos == 0) {
        const size_t before = lines->input.pos;
        const bool more = before < lines->input.size;
        /* A frame may hold back text when all its input is taken. */
        if (!more && !lines->frame_open && !refill(lines))
            break;
        const size_t left = ZSTD_decompressStream(lines->zstd, &output, &lines->input);
        if (ZSTD_isError(left)) {
            lines->damage = "the zstd data is damaged";
            break;
        }
        lines->frame_open = left != 0;
        if (output.pos == 0 && lines->input.pos == lines->input.size && lines->frame_open &&
            !refill(lines))
            break;
    }
    return output.pos;
}

/* Reads more text after what is there. False at the end, or if memory is exhausted. */
static bool read_more(struct lines *lines)
{
    if (lines->damage)
        return false;
    if (lines->at > 0) {
        memmove(lines->text, lines->text + lines->at, lines->end - lines->at);
        lines->end -= lines->at;
        lines->at = 0;
    }
    if (lines->end == lines->capacity) {
        char *text = realloc(lines->text, lines->capacity * 2 + 1);
        if (!text) {
            lines->damage = "out of memory";
            return false;
        }
        lines->text = text;
        lines->capacity *= 2;
    }
    char *room = lines->text + lines->end;
    const size_t size = lines->capacity - lines->end;
    const size_t count = lines->gzip ? read_gzip(lines, room, size) : read_zstd(lines, room, size);
    lines->end += count;
    if (count > lines->left)
        lines->damage = "more than 64 MiB and 100 times the size of the file come out of it; if it "
                        "can be trusted, unpack it first";
    lines->left -= count <= lines->left ? count : lines->left;
    return count > 0 && !lines->damage;
}

/* Gives up to `size` first bytes of the text, without reading past them. Call it before
 * lines_next(). Returns how many there are; bytes that cannot be unpacked are missing. */
static size_t lines_peek(struct lines *lines, const char **text, size_t size)
{
    while (lines->end - lines->at < size && read_more(lines))
        ;
    *text = lines->text + lines->at;
    return lines->end - lines->at < size ? lines->end - lines->at : size;
}

static enum lines_next fail(const struct lines *lines, const char *why,
                            struct ingest_status *status)
{
    ingest_fail(status, INGEST_BAD_INPUT, "%s: line %" PRIu64 ": %s%s", lines->path,
                lines->number + 1, why, strchr(why, ';') ? "" : "; record it again");
    return LINES_FAILED;
}

/* Gives the next line, ended by a zero byte in place of its newline. It is valid until the next
 * call. LINES_FAILED with `status` set: the file is cut or damaged here. */
static enum lines_next lines_next(struct lines *lines, char **line, size_t *length,
                                  struct ingest_status *status)
{
    size_t looked = 0;
    char *end;
    while (
        !(end = memchr(lines->text + lines->at + looked, '\n', lines->end - lines->at - looked))) {
        looked = lines->end - lines->at;
        if (looked > LINES_LONGEST)
            return fail(lines, "longer than a megabyte", status);
        if (!read_more(lines))
            break;
    }
    if (!end && lines->damage)
        return fail(lines, lines->damage, status);
    if (!end && looked > 0)
        return fail(lines, "the file is cut within this line", status);
    if (!end)
        return LINES_END;
    *end = '\0';
    *line = lines->text + lines->at;
    *length = (size_t)(end - *line);
    lines->at = (size_t)(end + 1 - lines->text);
    lines->number++;
    return LINES_LINE;
}

/* Returns the number of the line that was given last, from 1. */
static uint64_t lines_number(const struct lines *lines)
{
    return lines->number;
}

static uint64_t lines_size(const struct lines *lines)
{
    return lines->size;
}

/* Returns the file's path in printable form. */
static const char *lines_path(const struct lines *lines)
{
    return lines->path;
}

/* Reads heaptrack's files, version 3: the raw data of its library, and what heaptrack_interpret
 * makes of them. All numbers are hexadecimal. A line is a letter and its fields:
 *
 *     v  version of heaptrack, version of the file    X  command line
 *     x  executable (raw)                             I  page size, pages of the machine
 *     m  module: path, load address, ranges (raw); "-": the list begins again; "x": the executable
 *     s  string (interpreted)
 *     i  address, module, then function, file, line for each frame, innermost first (interpreted)
 *     t  address (interpreted: number of an i), parent: a stack, numbered from 1
 *     a  size, stack: numbered from 0 (interpreted)
 *     +  size, stack, pointer (raw); number of an a (interpreted)
 *     -  pointer (raw); number of an a (interpreted)
 *     c  milliseconds since the start    R  resident pages    A  attached    S  suppression
 *
 * Strings have their length before them. Addresses of stacks are return addresses minus 1. */

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

static const char *after_spaces(const char *at)
{
    while (*at == ' ')
        at++;
    return at;
}

static bool at_end(const struct reader *reader)
{
    return *after_spaces(reader->at) == '\0';
}

/* Returns the value of a hexadecimal digit, 16 of another character. */
static unsigned digit_of(char character)
{
    const unsigned decimal = (unsigned char)character - (unsigned)'0';
    const unsigned letter = ((unsigned char)character | 0x20u) - (unsigned)'a';
    return decimal < 10 ? decimal : letter < 6 ? letter + 10 : 16;
}

/* Takes a hexadecimal number of at most `most`. */
static bool take(struct reader *reader, uint64_t *number, uint64_t most)
{
    const char *first = after_spaces(reader->at), *at = first;
    unsigned digit;
    *number = 0;
    for (; (digit = digit_of(*at)) < 16; at++)
        *number = *number << 4 | digit;
    if (at == first || (*at != ' ' && *at != '\0'))
        return wrong(reader, *first == '\0' ? "a number is missing" : "not a hexadecimal number");
    if (at - first > 16 || *number > most)
        return wrong(reader, "a number is too large");
    reader->at = at;
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
        !ARRAY_RESERVE(reader->equals, reader->equal_count, reader->equal_capacity))
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
        !ARRAY_RESERVE(reader->blocks, reader->block_count, reader->block_capacity))
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
            if (!ingest_check_live(reader->block_count, reader->block_count * INGEST_LIVE_BYTES,
                                   lines_size(reader->lines), lines_path(reader->lines), status))
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

/* Returns true if a text begins like a file of heaptrack. */
static bool heaptrack_is(const char *text, size_t length)
{
    size_t i = 2;
    if (length < 5 || memcmp(text, "v ", 2) != 0)
        return false;
    while (i < length && strchr("0123456789abcdef", text[i]) && text[i] != '\0')
        i++;
    return i > 2 && i < length && (text[i] == ' ' || text[i] == '\n');
}

/* Reads the file; import_file() says the rest. */
static bool heaptrack_read(struct lines *lines, const char *session,
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
    FREE_ALL(reader.command, reader.executable, reader.equals, reader.blocks);
    return good;
}

/* Returns true if the text is a heap profile: sums of stacks, without events. */
static bool is_profile(const char *text, size_t length)
{
    static const char *const begins[] = {"heap profile:", "heap_v2/", "--- symbol", "--- heap",
                                         "--- profile"};
    const unsigned char *bytes = (const unsigned char *)text;
    for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++)
        if (length >= strlen(begins[i]) && memcmp(text, begins[i], strlen(begins[i])) == 0)
            return true;
    /* pprof's message begins with sample_type (field 1, a short message with the numbers of two
     * strings, of which the first is field 1 or 2) or with string_table (field 6, first ""). */
    if (length >= 4 && bytes[0] == 0x32 && bytes[1] == 0)
        return true;
    return length >= 4 && bytes[0] == 0x0a && bytes[1] >= 2 && bytes[1] <= 22 &&
           (bytes[2] == 0x08 || bytes[2] == 0x10);
}

bool import_file(const char *path, const char *session, const volatile sig_atomic_t *interrupted,
                 struct imported *imported, struct ingest_status *status)
{
    struct ingest_status unreadable = {INGEST_OK, ""};
    struct lines *lines = lines_open(path, &unreadable);
    const char *text;
    char *line;
    size_t line_length;
    bool good = true;
    *imported = (struct imported){.descriptor = -1};
    if (!lines)
        return true;
    const size_t length = lines_peek(lines, &text, 32);
    if (length == 0)
        good = lines_next(lines, &line, &line_length, status) != LINES_FAILED;
    else if (heaptrack_is(text, length))
        good = heaptrack_read(lines, session, interrupted, imported, status);
    else if (is_profile(text, length))
        good = ingest_fail(status, INGEST_BAD_INPUT,
                           "%s: a heap profile has sums of stacks and no events, so no session can "
                           "be made of it; look at it with go tool pprof or jeprof",
                           lines_path(lines));
    lines_close(lines);
    if (!good)
        imported_free(imported);
    return good;
}

void imported_free(struct imported *imported)
{
    if (imported->descriptor >= 0)
        close(imported->descriptor);
    imported->descriptor = -1;
    import_names_free(imported->names);
    imported->names = NULL;
}
