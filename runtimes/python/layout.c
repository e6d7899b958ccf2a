/* SPDX-License-Identifier: BSD-2-Clause */
/* Compiled for each version of CPython: PYTHON_LAYOUT is the name of the variable. */
#define Py_BUILD_CORE 1
#include <Python.h>
#include <internal/pycore_frame.h>

#include "runtimes/python/layout.h"
#include "runtimes/python/walk.h"

#if PY_VERSION_HEX < 0x030b0000 || PY_VERSION_HEX >= 0x030e0000
#error "the walk knows CPython 3.11 to 3.13"
#endif

_Static_assert(FRAME_OWNED_BY_GENERATOR == (int)PYTHON_OWNER_GENERATOR, "as in layout.h");
#if PY_VERSION_HEX >= 0x030c0000
_Static_assert(FRAME_OWNED_BY_CSTACK == (int)PYTHON_OWNER_C_STACK, "as in layout.h");
#endif
_Static_assert(sizeof(_Py_CODEUNIT) == 2, "as in walk.c");

/* The walk over the frames, for each event. It is compiled with each layout as a constant, so that
 * nothing is looked up in it. */

#define WALK_INLINE static inline __attribute__((always_inline))

/* Odd, with bits in no order. */
#define FACTOR_1 UINT64_C(0x9e3779b97f4a7c15)
#define FACTOR_2 UINT64_C(0xbf58476d1ce4e5b9)
#define FACTOR_3 UINT64_C(0x94d049bb133111eb)
#define FACTOR_4 UINT64_C(0xd6e8feb86659fd93)
#define LINE_BITS 22u
#define LINE_MASK ((UINT64_C(1) << LINE_BITS) - 1)

/* Frames without a function, which are skipped, are fewer than those with one. More of them mean
 * that a pointer leads nowhere. */
#define SKIPPED_MAX 4096u

struct frame {
    const unsigned char *code, *previous, *instruction;
    unsigned char owner, is_entry;
};

WALK_INLINE bool read_frame(const struct python_layout *layout, const unsigned char *at,
                            struct frame *frame)
{
    const unsigned char *from = memory_at(at, layout->frame_size);
    if (!from)
        return false;
    frame->code = pointer_at(from, layout->frame_code);
    frame->previous = pointer_at(from, layout->frame_previous);
    frame->instruction = pointer_at(from, layout->frame_instruction);
    frame->owner = from[layout->frame_owner];
    frame->is_entry = layout->has_entry_mark && from[layout->frame_entry];
    return true;
}

/* Returns a view of the code object's head. NULL: it is not one. */
WALK_INLINE const unsigned char *read_code(const struct python_layout *layout,
                                           const struct walk *walk, const unsigned char *at)
{
    const unsigned char *code = memory_at(at, layout->code_size);
    return code && pointer_at(code, layout->object_type) == walk->interpreter->code_type ? code
                                                                                         : NULL;
}

/* Returns a number that another code object in the same memory does not have. Since 3.12 a code
 * object has a version that no other one has, unless there have been too many. The products do not
 * wait for each other. */
WALK_INLINE uint64_t check_of(const struct python_layout *layout, const unsigned char *code)
{
    const uint32_t version =
        layout->code_version ? (uint32_t)int_at(code, layout->code_version) : 0;
    if (version != 0)
        return version * FACTOR_1;
    return (word_at(code, layout->code_function) * FACTOR_1) ^
           (word_at(code, layout->code_file) * FACTOR_2) ^
           (word_at(code, layout->code_lines) * FACTOR_3) ^
           (uint64_t)int_at(code, layout->code_line) * FACTOR_4;
}

/* Returns the line that the frame executes, from those that are known or from the table. */
WALK_INLINE unsigned line_of(const struct python_layout *layout, const struct walk *walk,
                             const struct frame *frame, const unsigned char *code, uint64_t check)
{
    const uint64_t sum =
        check ^ ((uint64_t)frame->code * FACTOR_2) ^ ((uint64_t)frame->instruction * FACTOR_3);
    const uint64_t hash = (sum ^ sum >> 32) * FACTOR_4;
    _Atomic uint64_t *slot = &walk_lines[(hash ^ hash >> 40) % WALK_LINES];
    const uint64_t known = atomic_load_explicit(slot, memory_order_relaxed);
    if (((known ^ hash) & ~LINE_MASK) == 0)
        return (unsigned)(known & LINE_MASK);
    const unsigned line =
        walk_find_line(walk, pointer_at(code, layout->code_lines), int_at(code, layout->code_line),
                       frame->instruction - (frame->code + layout->code_size));
    if (line <= LINE_MASK)
        atomic_store_explicit(slot, (hash & ~LINE_MASK) | line, memory_order_relaxed);
    return line;
}

/* Writes the frame of a function. Returns false if it does not run yet. */
WALK_INLINE bool put_frame(const struct python_layout *layout, const struct walk *walk,
                           const struct frame *frame, const unsigned char *code,
                           struct mprof_frame *out)
{
    const ptrdiff_t first = 2 * (ptrdiff_t)int_at(code, layout->code_traceable);
    if (frame->owner != PYTHON_OWNER_GENERATOR &&
        frame->instruction < frame->code + layout->code_size + first)
        return false;
    const uint64_t check = check_of(layout, code);
    *out = (struct mprof_frame){
        .key = frame->code, .check = check, .line = line_of(layout, walk, frame, code, check)};
    return true;
}

WALK_INLINE void set_address(struct mprof_frame *from, struct mprof_frame *to, const void *address)
{
    for (; from < to; from++)
        from->address = address;
}

/* Goes from the innermost frame outward. `evaluator` is the object on the native stack of the
 * innermost evaluator, if this version has such. */
WALK_INLINE unsigned walk_frames(const struct python_layout *layout, const struct walk *walk,
                                 const unsigned char *at, const unsigned char *evaluator,
                                 struct mprof_frame *out, unsigned max)
{
    unsigned count = 0, here = 0, skipped = 0; /* `here`: the first frame of this evaluator */
    struct frame frame;
    while (at && skipped < SKIPPED_MAX && read_frame(layout, at, &frame)) {
        if (!layout->has_entry_mark && frame.owner == PYTHON_OWNER_C_STACK) {
            set_address(out + here, out + count, at);
            here = count;
            skipped++;
        } else if (count < max) {
            const unsigned char *code = read_code(layout, walk, frame.code);
            if (!code)
                break;
            if (put_frame(layout, walk, &frame, code, &out[count]))
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
                memory_at(evaluator + layout->evaluator_previous, sizeof(uint64_t));
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

/* As mprof_runtime_calls.frames, with this layout. */
WALK_INLINE unsigned walk_all(const struct python_layout *layout, void *data,
                              struct mprof_frame *out, unsigned max)
{
    struct walk walk;
    const unsigned char *at = walk_begin(&walk, data), *evaluator = NULL;
    if (at && layout->has_evaluator) {
        const unsigned char *from = memory_at(at + layout->evaluator_frame, sizeof(void *));
        evaluator = at;
        at = from ? pointer_at(from, 0) : NULL;
    }
    const unsigned count = at ? walk_frames(layout, &walk, at, evaluator, out, max) : 0;
    walk_end(&walk);
    return count;
}

static void describe(const void *object, struct python_text *text)
{
    const PyASCIIObject *head = object;
    text->length = (size_t)head->length;
    text->width = head->state.kind;
    text->data = !head->state.compact ? 0
                 : head->state.ascii  ? sizeof(PyASCIIObject)
                                      : sizeof(PyCompactUnicodeObject);
}

static unsigned frames(void *data, struct mprof_frame *out, unsigned max)
{
    return walk_all(&PYTHON_LAYOUT, data, out, max);
}

#define FRAME(member) offsetof(_PyInterpreterFrame, member)
#define CODE(member) offsetof(PyCodeObject, member)

const struct python_layout PYTHON_LAYOUT = {
    .frames = frames,
    .objects = PYTHON_OBJECTS,
    .version = PY_VERSION_HEX >> 16,
#if PY_VERSION_HEX < 0x030d0000
    .has_evaluator = true,
    .state_frame = offsetof(PyThreadState, cframe),
    .evaluator_frame = offsetof(_PyCFrame, current_frame),
    .evaluator_previous = offsetof(_PyCFrame, previous),
    .frame_code = FRAME(f_code),
    .frame_instruction = FRAME(prev_instr),
#else
    .state_frame = offsetof(PyThreadState, current_frame),
    .frame_code = FRAME(f_executable),
    .frame_instruction = FRAME(instr_ptr),
#endif
#if PY_VERSION_HEX < 0x030c0000
    .has_entry_mark = true,
    .frame_entry = FRAME(is_entry),
#else
    .code_version = CODE(co_version),
#endif
    .state_thread = offsetof(PyThreadState, thread_id),
    .frame_size = FRAME(localsplus),
    .frame_previous = FRAME(previous),
    .frame_owner = FRAME(owner),
    .object_type = offsetof(PyObject, ob_type),
    .type_size = offsetof(PyTypeObject, tp_basicsize),
    .frame_object_size = offsetof(PyFrameObject, _f_frame_data) + FRAME(localsplus),
    .code_size = CODE(co_code_adaptive),
    .code_function = CODE(co_qualname),
    .code_file = CODE(co_filename),
    .code_line = CODE(co_firstlineno),
    .code_lines = CODE(co_linetable),
    .code_traceable = CODE(_co_firsttraceable),
    .bytes_length = offsetof(PyVarObject, ob_size),
    .bytes_data = offsetof(PyBytesObject, ob_sval),
    .text_size = sizeof(PyASCIIObject),
    .describe = describe,
};
