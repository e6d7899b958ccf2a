/* SPDX-License-Identifier: BSD-2-Clause */
#include "runtimes/python/walk.h"

#include <pthread.h>

#include "runtimes/python/line_table.h"
#include "runtimes/python/walk_state.h"

_Atomic uint64_t walk_lines[WALK_LINES];

/* Tells whether a state of which nobody says that it exists is one of the calling thread. */
static bool state_is_own(struct walk *walk, const unsigned char *state)
{
    const unsigned offset = walk->layout->state_thread;
    const void *thread = memory_copy(&walk->codes, (uintptr_t)(state + offset), sizeof(uint64_t));
    return thread && word_at(thread, 0) == (uint64_t)pthread_self() &&
           walk->interpreter->current_state() == state;
}

const unsigned char *walk_begin(struct walk *walk, const struct python_interpreter *interpreter)
{
    const unsigned char *own = interpreter->own_state(), *current;
    walk->interpreter = interpreter;
    walk->layout = interpreter->layout;
    /* The windows stay as they are: they are large, and a walk with the lock does not use them. */
    walk->frames.copies = walk->codes.copies = false;
    walk->frames.size = walk->codes.size = 0;
    if (!own)
        return NULL;
    current = interpreter->current_state();
    if (current == own)
        return own;
    /* The state of a sub-interpreter. */
    if (current && (!walk->layout->has_entry_mark || state_is_own(walk, current)))
        return current;
    walk->frames.copies = walk->codes.copies = true;
    return interpreter->is_initialized() ? own : NULL;
}

unsigned walk_find_line(struct walk *walk, const unsigned char *table, int first, ptrdiff_t offset)
{
    const struct python_layout *layout = walk->layout;
    const unsigned char *head = memory_at(&walk->codes, table, layout->bytes_data);
    const size_t size = head ? word_at(head, layout->bytes_length) : 0;
    return size <= INT32_MAX
               ? line_table_find(&walk->codes, table + layout->bytes_data, size, first, offset)
               : 0;
}

/* Writes a character as UTF-8. Returns the bytes, at most 4. */
static unsigned put_character(uint32_t character, char *to)
{
    if (character < 0x80) {
        to[0] = (char)character;
        return 1;
    }
    if (character < 0x800) {
        to[0] = (char)(0xc0 | character >> 6);
        to[1] = (char)(0x80 | (character & 0x3f));
        return 2;
    }
    if (character < 0x10000) {
        to[0] = (char)(0xe0 | character >> 12);
        to[1] = (char)(0x80 | (character >> 6 & 0x3f));
        to[2] = (char)(0x80 | (character & 0x3f));
        return 3;
    }
    to[0] = (char)(0xf0 | (character >> 18 & 7));
    to[1] = (char)(0x80 | (character >> 12 & 0x3f));
    to[2] = (char)(0x80 | (character >> 6 & 0x3f));
    to[3] = (char)(0x80 | (character & 0x3f));
    return 4;
}

/* Writes a text of the interpreter as UTF-8, cut after a whole character. */
static void put_text(struct walk *walk, const unsigned char *object, char *to, size_t room)
{
    struct python_text text;
    const unsigned char *head = memory_at(&walk->codes, object, walk->layout->text_size);
    size_t used = 0;
    if (head)
        walk->layout->describe(head, &text);
    if (!head || text.data == 0 || (text.width != 1 && text.width != 2 && text.width != 4))
        return;
    for (size_t i = 0; i < text.length; i++) {
        uint32_t character = 0;
        char bytes[4];
        const unsigned char *from =
            memory_at(&walk->codes, object + text.data + i * text.width, text.width);
        if (!from)
            break;
        memcpy(&character, from, text.width);
        const unsigned length = put_character(character, bytes);
        if (used + length >= room)
            break;
        memcpy(to + used, bytes, length);
        used += length;
    }
    to[used] = 0;
}

void python_name(void *data, const void *key, struct mprof_frame_name *out)
{
    struct walk walk;
    const struct python_layout *layout = ((const struct python_interpreter *)data)->layout;
    const unsigned char *code =
        walk_begin(&walk, data) ? memory_at(&walk.codes, key, layout->code_size) : NULL;
    if (!code || pointer_at(code, layout->object_type) != walk.interpreter->code_type)
        return;
    const void *function = pointer_at(code, layout->code_function),
               *file = pointer_at(code, layout->code_file);
    const int line = int_at(code, layout->code_line);
    put_text(&walk, function, out->function, sizeof(out->function));
    put_text(&walk, file, out->file, sizeof(out->file));
    out->line = line > 0 ? (unsigned)line : 0;
}
