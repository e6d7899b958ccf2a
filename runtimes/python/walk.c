/* SPDX-License-Identifier: BSD-2-Clause */
#include "runtimes/python/walk.h"

#include <stdint.h>
#include <time.h>

#include "runtimes/common.h"

#define UNIT 2 /* bytes */

enum form { ONE_LINE_0 = 10, ONE_LINE_2 = 12, NO_COLUMNS = 13, LONG = 14, NONE = 15 };

/* The bytes that are being read. */
struct cursor {
    const unsigned char *table;
    size_t size, at;
};

/* Returns the next byte, or -1 at the end. */
static int peek(const struct cursor *cursor)
{
    return cursor->at < cursor->size ? cursor->table[cursor->at] : -1;
}

/* Reads a number: six bits in each byte, the smallest first, the sign in the lowest bit. */
static int read_signed(struct cursor *cursor)
{
    unsigned value = 0, shift = 0;
    int byte;
    do {
        byte = peek(cursor);
        if (byte < 0 || shift > 30)
            return 0;
        value |= ((unsigned)byte & 63u) << shift;
        shift += 6;
        cursor->at++;
    } while (byte & 64);
    return value & 1 ? -(int)(value >> 1) : (int)(value >> 1);
}

unsigned line_table_find(const unsigned char *table, size_t size, int first, ptrdiff_t offset)
{
    struct cursor cursor = {.table = table, .size = size};
    int64_t line = first;
    ptrdiff_t end = 0;
    int byte;
    if (offset < 0)
        return first > 0 ? (unsigned)first : 0;
    if (size == 0 || !memory_readable(table, size))
        return 0;
    while ((byte = peek(&cursor)) >= 0) {
        const int form = byte >> 3 & 15;
        cursor.at++;
        if (form >= ONE_LINE_0 && form <= ONE_LINE_2)
            line += form - ONE_LINE_0;
        else if (form == NO_COLUMNS || form == LONG)
            line += read_signed(&cursor);
        end += (ptrdiff_t)UNIT * ((byte & 7) + 1);
        if (offset < end)
            return form != NONE && line > 0 && line <= INT32_MAX ? (unsigned)line : 0;
        while ((byte = peek(&cursor)) >= 0 && byte < 128)
            cursor.at++;
    }
    return 0;
}

/* The end of the interpreter waits so often, 0.1 ms each time, for walks: a walk takes less, but
 * its thread may have to wait for a processor, or be stopped. */
#define WAITS_MAX 20000

_Atomic uint64_t walk_lines[WALK_LINES];

/* Walks of threads that do not hold the lock. */
static _Atomic uint32_t guarded;

/* Returns true if a state of which nobody says that it exists is one of the calling thread. */
static bool state_is_own(const struct walk *walk, const unsigned char *state)
{
    uint64_t thread;
    return memory_copy(state + walk->interpreter->layout->state_thread, &thread) &&
           thread == arch_thread_pointer() && walk->interpreter->current_state() == state;
}

/* Reads the innermost frame of the thread's own state while it does not hold the lock. An
 * interpreter that ends says so before it frees the state. */
static const unsigned char *begin_guarded(struct walk *walk)
{
    const struct python_interpreter *interpreter = walk->interpreter;
    const unsigned char *own;
    uint64_t innermost;
    walk->guarded = true;
    atomic_fetch_add(&guarded, 1);
    own = interpreter->is_initialized() ? interpreter->own_state() : NULL;
    return own && memory_copy(own + walk->interpreter->layout->state_frame, &innermost) &&
                   interpreter->is_initialized()
               ? (const unsigned char *)innermost
               : NULL;
}

const unsigned char *walk_begin(struct walk *walk, const struct python_interpreter *interpreter)
{
    const unsigned char *state = interpreter->own_state(), *current;
    walk->interpreter = interpreter;
    walk->guarded = false;
    if (!state)
        return NULL;
    current = interpreter->current_state();
    /* If not the first one, it is the state of a sub-interpreter. */
    if (current != state) {
        if (!current || (walk->interpreter->layout->has_entry_mark && !state_is_own(walk, current)))
            return begin_guarded(walk);
        state = current;
    }
    state += walk->interpreter->layout->state_frame;
    return memory_readable(state, sizeof(void *)) ? pointer_at(state, 0) : NULL;
}

void walk_end(struct walk *walk)
{
    if (walk->guarded)
        atomic_fetch_sub(&guarded, 1);
}

void python_wait(const struct python_interpreter *interpreter)
{
    const struct timespec pause = {.tv_nsec = 100000};
    if (interpreter->is_initialized())
        return;
    atomic_thread_fence(memory_order_seq_cst);
    for (int left = WAITS_MAX; left > 0 && atomic_load(&guarded) != 0; left--)
        common_call(SYS_nanosleep, (long)&pause, 0, 0, 0);
}

void python_after_fork(void)
{
    atomic_store(&guarded, 0);
}

unsigned walk_find_line(const struct walk *walk, const unsigned char *table, int first,
                        ptrdiff_t offset)
{
    const struct python_layout *layout = walk->interpreter->layout;
    const unsigned char *head = memory_at(table, layout->bytes_data);
    const size_t size = head ? word_at(head, layout->bytes_length) : 0;
    return size <= INT32_MAX ? line_table_find(table + layout->bytes_data, size, first, offset) : 0;
}

/* Writes a text of the interpreter as UTF-8, cut after a whole character. */
static void put_text(const struct walk *walk, const unsigned char *object, char *to, size_t room)
{
    struct python_text text;
    const unsigned char *head = memory_at(object, walk->interpreter->layout->text_size);
    size_t used = 0;
    if (head)
        walk->interpreter->layout->describe(head, &text);
    if (!head || text.data == 0 || (text.width != 1 && text.width != 2 && text.width != 4))
        return;
    for (size_t i = 0; i < text.length; i++) {
        uint32_t character = 0;
        char bytes[4];
        const unsigned char *from = memory_at(object + text.data + i * text.width, text.width);
        if (!from)
            break;
        memcpy(&character, from, text.width);
        const unsigned length = common_put_utf8(character, bytes);
        if (used + length >= room)
            break;
        memcpy(to + used, bytes, length);
        used += length;
    }
    to[used] = 0;
}

static void put_name(const struct walk *walk, const unsigned char *code,
                     struct mprof_frame_name *out)
{
    const struct python_layout *layout = walk->interpreter->layout;
    const void *function = pointer_at(code, layout->code_function),
               *file = pointer_at(code, layout->code_file);
    const int line = int_at(code, layout->code_line);
    put_text(walk, function, out->function, sizeof(out->function));
    put_text(walk, file, out->file, sizeof(out->file));
    out->line = line > 0 ? (unsigned)line : 0;
}

void python_name(void *data, const void *key, struct mprof_frame_name *out)
{
    struct walk walk;
    const struct python_layout *layout = ((const struct python_interpreter *)data)->layout;
    const unsigned char *code = walk_begin(&walk, data) ? memory_at(key, layout->code_size) : NULL;
    if (code && pointer_at(code, layout->object_type) == walk.interpreter->code_type)
        put_name(&walk, code, out);
    walk_end(&walk);
}
