/* SPDX-License-Identifier: BSD-2-Clause */
/* The layout of the objects of one version of CPython that the walk reads: thread states, frames,
 * code objects and texts. layout.c is compiled once for each version, with the internal headers of
 * that version. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtimes/python/objects.h"

struct mprof_frame;

/* The owners of a frame's memory, in all versions. */
enum python_frame_owner { PYTHON_OWNER_GENERATOR = 1, PYTHON_OWNER_C_STACK = 3 };

/* The places of a text's characters. */
struct python_text {
    size_t length;  /* characters */
    size_t data;    /* offset of the first one in the object; 0: the text is not in one piece */
    unsigned width; /* bytes for a character: 1, 2 or 4 */
};

/* Offsets in bytes. */
struct python_layout {
    unsigned version; /* 0x030b: 3.11 */
    /* As mprof_runtime_calls.frames, with this layout: `data` is the struct python_interpreter. */
    unsigned (*frames)(void *data, struct mprof_frame *out, unsigned max);
    python_objects *objects;
    /* The frames of a thread. In 3.11 and 3.12 the thread state points to an object on the native
     * stack of the evaluator (`evaluator_*`), which points to the innermost frame. In 3.11 the
     * outermost frame of each evaluator is marked as its entry. Later, a frame on the native stack
     * of the evaluator follows, which stands for no function. */
    bool has_evaluator, has_entry_mark;
    uint16_t state_frame; /* the innermost frame, or the evaluator's object */
    uint16_t state_thread;
    uint16_t evaluator_frame, evaluator_previous;
    uint16_t frame_size; /* of what is read */
    uint16_t frame_code, frame_previous, frame_instruction, frame_owner, frame_entry;
    uint16_t object_type;
    uint16_t type_size;         /* the size of a type's objects without their variable part */
    uint16_t frame_object_size; /* that of PyFrame_Type; that of PyCode_Type is `code_size` */
    uint16_t code_size;         /* of what is read: up to the first instruction */
    uint16_t code_function, code_file, code_line, code_lines, code_traceable;
    uint16_t code_version; /* 0: there is none */
    uint16_t bytes_length, bytes_data;
    uint16_t text_size;                                             /* of what describe() reads */
    void (*describe)(const void *object, struct python_text *text); /* `object`: a copy */
};

extern const struct python_layout python_layout_3_11, python_layout_3_12, python_layout_3_13;
