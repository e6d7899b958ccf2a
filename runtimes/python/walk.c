/* SPDX-License-Identifier: BSD-2-Clause */
#include "runtimes/python/walk.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "runtimes/python/line_table.h"
#include "runtimes/python/memory.h"

#define LINES 16384u
#define LINE_BITS 22u
#define LINE_MASK ((UINT64_C(1) << LINE_BITS) - 1)
/* Frames without a function, which are skipped, are fewer than those with one. More of them mean
 * that a pointer leads nowhere. */
#define SKIPPED_MAX 4096u

/* Lines of instructions that were looked up: a hash, and in its lowest bits the line. */
static _Atomic uint64_t lines[LINES];

/* One walk. */
struct walk {
    const struct python_interpreter *interpreter;
    const struct python_layout *layout;
    struct memory frames, codes;
};

/* A frame of the interpreter. */
struct frame {
    const unsigned char *code, *previous, *instruction;
    unsigned char owner, is_entry;
};

/* The windows stay as they are: they are large, and a walk with the lock does not use them. */
static void begin(struct walk *walk, const struct python_interpreter *interpreter)
{
    walk->interpreter = interpreter;
    walk->layout = interpreter->layout;
    walk->frames.copies = walk->codes.copies = false;
    walk->frames.size = walk->codes.size = 0;
}

static inline uint64_t word_at(const void *object, unsigned offset)
{
    uint64_t word;
    memcpy(&word, (const unsigned char *)object + offset, sizeof(word));
    return word;
}

static inline const void *pointer_at(const void *object, unsigned offset)
{
    const void *pointer;
    memcpy(&pointer, (const unsigned char *)object + offset, sizeof(pointer));
    return pointer;
}

static inline int int_at(const void *object, unsigned offset)
{
    int value;
    memcpy(&value, (const unsigned char *)object + offset, sizeof(value));
    return value;
}

static inline uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

/* Tells whether a state of which nobody says that it exists is one of the calling thread. */
static bool state_is_own(struct walk *walk, const unsigned char *state)
{
    const unsigned offset = walk->layout->state_thread;
    const void *thread = memory_copy(&walk->codes, (uintptr_t)(state + offset), sizeof(uint64_t));
    return thread && word_at(thread, 0) == (uint64_t)pthread_self() &&
           walk->interpreter->current_state() == state;
}

/*
 * Returns the thread state whose frames the thread runs, NULL if there is none. A thread without a
 * first state has no others. If the thread does not hold the lock, its frames stay as they are, but
 * the interpreter may end.
 */
static const unsigned char *find_state(struct walk *walk)
{
    const struct python_interpreter *interpreter = walk->interpreter;
    const unsigned char *own = interpreter->own_state(), *current;
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

static inline bool read_frame(struct walk *walk, const unsigned char *at, struct frame *frame)
{
    const struct python_layout *layout = walk->layout;
    const unsigned char *from = memory_at(&walk->frames, at, layout->frame_size);
    if (!from)
        return false;
    frame->code = pointer_at(from, layout->frame_code);
    frame->previous = pointer_at(from, layout->frame_previous);
    frame->instruction = pointer_at(from, layout->frame_instruction);
    frame->owner = from[layout->frame_owner];
    frame->is_entry = layout->has_entry_mark && from[layout->frame_entry];
    return true;
}

/* Returns a view of the code object's head. NULL: it is none. */
static inline const unsigned char *read_code(struct walk *walk, const unsigned char *at)
{
    const unsigned char *code = memory_at(&walk->codes, at, walk->layout->code_size);
    return code && pointer_at(code, walk->layout->object_type) == walk->interpreter->code_type
               ? code
               : NULL;
}

/* Returns a number that another code object in the same memory does not have. Since 3.12 a code
 * object has a version that no other one has. */
static inline uint64_t check_of(const struct python_layout *layout, const unsigned char *code)
{
    uint64_t check = layout->code_version ? (uint32_t)int_at(code, layout->code_version) : 0;
    check = mix(check, word_at(code, layout->code_name));
    check = mix(check, word_at(code, layout->code_function));
    check = mix(check, word_at(code, layout->code_file));
    check = mix(check, word_at(code, layout->code_lines));
    return mix(check, (uint32_t)int_at(code, layout->code_line));
}

/* Looks the line up in the code object's table. */
static unsigned find_line(struct walk *walk, const unsigned char *table, int first,
                          ptrdiff_t offset)
{
    const struct python_layout *layout = walk->layout;
    const unsigned char *head = memory_at(&walk->codes, table, layout->bytes_data);
    const size_t size = head ? word_at(head, layout->bytes_length) : 0;
    return size <= INT32_MAX
               ? line_table_find(&walk->codes, table + layout->bytes_data, size, first, offset)
               : 0;
}

/* Returns the line that the frame executes, from those that are known or from the table. */
static inline unsigned line_of(struct walk *walk, const struct frame *frame,
                               const unsigned char *code, uint64_t check)
{
    const struct python_layout *layout = walk->layout;
    const uint64_t hash = mix(mix(check, (uint64_t)frame->code), (uint64_t)frame->instruction);
    _Atomic uint64_t *slot = &lines[hash % LINES];
    const uint64_t known = atomic_load_explicit(slot, memory_order_relaxed);
    if (((known ^ hash) & ~LINE_MASK) == 0)
        return (unsigned)(known & LINE_MASK);
    const unsigned line =
        find_line(walk, pointer_at(code, layout->code_lines), int_at(code, layout->code_line),
                  frame->instruction - (frame->code + layout->code_size));
    if (line <= LINE_MASK)
        atomic_store_explicit(slot, (hash & ~LINE_MASK) | line, memory_order_relaxed);
    return line;
}

/* Writes the frame of a function. Returns false if it does not run yet. */
static inline bool put(struct walk *walk, const struct frame *frame, const unsigned char *code,
                       struct mprof_frame *out)
{
    const struct python_layout *layout = walk->layout;
    const ptrdiff_t first = 2 * (ptrdiff_t)int_at(code, layout->code_traceable);
    if (frame->owner != PYTHON_OWNER_GENERATOR &&
        frame->instruction < frame->code + layout->code_size + first)
        return false;
    const uint64_t check = check_of(layout, code);
    *out = (struct mprof_frame){
        .key = frame->code, .check = check, .line = line_of(walk, frame, code, check)};
    return true;
}

static void set_address(struct mprof_frame *from, struct mprof_frame *to, const void *address)
{
    for (; from < to; from++)
        from->address = address;
}

/*
 * Goes from the innermost frame outward. `evaluator` is the object on the native stack of the
 * innermost evaluator, if this version has such.
 */
static unsigned walk_frames(struct walk *walk, const unsigned char *at,
                            const unsigned char *evaluator, struct mprof_frame *out, unsigned max)
{
    const struct python_layout *layout = walk->layout;
    unsigned count = 0, here = 0, skipped = 0; /* `here`: the first frame of this evaluator */
    struct frame frame;
    while (at && skipped < SKIPPED_MAX && read_frame(walk, at, &frame)) {
        if (!layout->has_entry_mark && frame.owner == PYTHON_OWNER_C_STACK) {
            set_address(out + here, out + count, at);
            here = count;
            skipped++;
        } else if (count < max) {
            const unsigned char *code = read_code(walk, frame.code);
            if (!code)
                break;
            if (put(walk, &frame, code, &out[count]))
                count++;
            else
                skipped++;
        } else {
            skipped++; /* only the address of the last ones is missing */
        }
        if (frame.is_entry) {
            set_address(out + here, out + count, evaluator);
            here = count;
            const unsigned char *from =
                memory_at(&walk->frames, evaluator + layout->evaluator_previous, sizeof(uint64_t));
            if (!from)
                break;
            evaluator = pointer_at(from, 0);
        }
        if (here == max)
            break;
        at = frame.previous;
    }
    if (layout->has_entry_mark)
        set_address(out + here, out + count, evaluator);
    return count;
}

unsigned python_frames(void *data, struct mprof_frame *out, unsigned max)
{
    struct walk walk;
    const unsigned char *state, *from, *evaluator = NULL;
    begin(&walk, data);
    state = find_state(&walk);
    from =
        state ? memory_at(&walk.frames, state + walk.layout->state_frame, sizeof(uint64_t)) : NULL;
    const unsigned char *at = from ? pointer_at(from, 0) : NULL;
    if (at && walk.layout->has_evaluator) {
        evaluator = at;
        from = memory_at(&walk.frames, at + walk.layout->evaluator_frame, sizeof(uint64_t));
        at = from ? pointer_at(from, 0) : NULL;
    }
    return at ? walk_frames(&walk, at, evaluator, out, max) : 0;
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
    begin(&walk, data);
    const unsigned char *code = find_state(&walk) ? read_code(&walk, key) : NULL;
    if (!code)
        return;
    const struct python_layout *layout = walk.layout;
    const void *function = pointer_at(code, layout->code_function),
               *file = pointer_at(code, layout->code_file);
    const int line = int_at(code, layout->code_line);
    put_text(&walk, function, out->function, sizeof(out->function));
    put_text(&walk, file, out->file, sizeof(out->file));
    out->line = line > 0 ? (unsigned)line : 0;
}
