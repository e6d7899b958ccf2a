/* SPDX-License-Identifier: BSD-2-Clause */
/* The sink of new modules and nodes, by which a walk hands them to its caller. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A module, and below a node, that stack_current() found for the first time. It must be written
 * before it is published. */
struct stack_module {
    uint32_t id;
    uint64_t load_bias, start, end;
    const char *path; /* not NULL; "" where unknown */
    const uint8_t *build_id;
    size_t build_id_length;
    size_t segment_count;
    struct stack_segment {
        uint64_t address, size;
        uint32_t flags;
    } segments[16];
};

struct stack_node {
    uint32_t id, parent, module;
    uint8_t frame; /* enum trace_node_frame */
    bool no_rule;  /* the first node of code that no unwind rule covers (stack_frame.no_rule) */
    uint64_t value;
};

/* The trace gets a runtime and each of its functions once, before the first stack with them. */
struct stack_runtime {
    uint32_t module;
    const char *name;
};

struct stack_runtime_name {
    uint32_t module, number;
    const char *function, *file; /* not NULL; "" where unknown */
    uint32_t line;
};

/* Takes what is new. It is called on the thread that found it, inside stack_current(), and writes
 * and commits the record. It returns false if the record could not be written, because recording
 * has stopped. The node is then not published. */
struct stack_sink {
    bool (*module)(void *context, const struct stack_module *module);
    bool (*node)(void *context, const struct stack_node *node);
    void (*module_end)(void *context, uint32_t module);
    bool (*runtime)(void *context, const struct stack_runtime *runtime);
    bool (*runtime_name)(void *context, const struct stack_runtime_name *name);
};
