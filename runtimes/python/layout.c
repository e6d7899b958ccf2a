/* SPDX-License-Identifier: BSD-2-Clause */
/* Compiled for each version of CPython: PYTHON_LAYOUT is the name of the variable. */
#define Py_BUILD_CORE 1
#include <Python.h>
#include <internal/pycore_frame.h>

#include "runtimes/python/layout.h"
#include "runtimes/python/walk_frames.h"

#if PY_VERSION_HEX < 0x030b0000 || PY_VERSION_HEX >= 0x030e0000
#error "the walk knows CPython 3.11 to 3.13"
#endif

_Static_assert(FRAME_OWNED_BY_GENERATOR == (int)PYTHON_OWNER_GENERATOR, "as in layout.h");
#if PY_VERSION_HEX >= 0x030c0000
_Static_assert(FRAME_OWNED_BY_CSTACK == (int)PYTHON_OWNER_C_STACK, "as in layout.h");
#endif
_Static_assert(sizeof(_Py_CODEUNIT) == 2, "as in line_table.h");

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
