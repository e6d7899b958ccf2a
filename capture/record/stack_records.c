/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/record/stack_records.h"

#include <string.h>

#include "capture/record/call_watch.h"
#include "capture/record/state.h"
#include "capture/record/thread_room.h"
#include "capture/record/unhooked_modules.h"

#define PATH_SHARE 1200u
#define BUILD_ID_SHARE 64u
#define NAME_SHARE 256u

/* Writes that no rule covers the node's code. */
static bool put_no_rule(struct thread *thread, const struct stack_node *node)
{
    uint8_t *p = thread_extended_begin(thread, 40);
    if (!p)
        return false;
    p = thread_put_when(thread, p);
    p = trace_put_varint(p, node->module);
    p = trace_put_varint(p, node->value - (node->frame == TRACE_FRAME_RETURN));
    thread_extended_end(thread, TRACE_EXT_BARE_CODE, p);
    return true;
}

static bool put_node(void *context, const struct stack_node *node)
{
    struct thread *thread = (struct thread *)context;
    struct chunk *chunk = &thread->chunk;
    if (!(chunk_has_room(chunk) && recorder_is_own()) &&
        !thread_make_room(thread, TRACE_RECORD_MAX))
        return false;
    chunk_commit(chunk,
                 trace_put_node(chunk->cursor, &chunk->coding, node->id, node->parent,
                                (enum trace_node_frame)node->frame, node->module, node->value));
    call_watch_node(thread, node);
    return !node->no_rule || put_no_rule(thread, node);
}

static bool put_module(void *context, const struct stack_module *module)
{
    struct thread *thread = (struct thread *)context;
    uint8_t *p = thread_extended_begin(thread, TRACE_EXTENDED_MAX);
    if (!p)
        return false;
    size_t build_id =
        module->build_id_length < BUILD_ID_SHARE ? module->build_id_length : BUILD_ID_SHARE;
    p = thread_put_when(thread, p);
    p = trace_put_varint(p, module->id);
    p = trace_put_varint(p, module->load_bias);
    p = trace_put_varint(p, module->start);
    p = trace_put_varint(p, module->end);
    p = trace_put_string(p, module->path, strnlen(module->path, PATH_SHARE));
    p = trace_put_string(p, build_id ? (const char *)module->build_id : "", build_id);
    p = trace_put_varint(p, module->segment_count);
    for (size_t i = 0; i < module->segment_count; i++) {
        p = trace_put_varint(p, module->segments[i].address);
        p = trace_put_varint(p, module->segments[i].size);
        p = trace_put_varint(p, module->segments[i].flags);
    }
    thread_extended_end(thread, TRACE_EXT_MODULE, p);
    call_watch_module(module);
    unhooked_modules_look_at(thread, module);
    return true;
}

static void put_module_end(void *context, uint32_t module)
{
    struct thread *thread = (struct thread *)context;
    thread_put_number(thread, TRACE_EXT_MODULE_END, module);
}

static bool put_runtime(void *context, const struct stack_runtime *runtime)
{
    struct thread *thread = (struct thread *)context;
    uint8_t *p = thread_extended_begin(thread, NAME_SHARE + 32);
    if (!p)
        return false;
    p = thread_put_when(thread, p);
    p = trace_put_varint(p, runtime->module);
    p = trace_put_string(p, runtime->name, strnlen(runtime->name, NAME_SHARE));
    thread_extended_end(thread, TRACE_EXT_RUNTIME, p);
    return true;
}

static bool put_runtime_name(void *context, const struct stack_runtime_name *name)
{
    struct thread *thread = (struct thread *)context;
    uint8_t *p = thread_extended_begin(thread, TRACE_EXTENDED_MAX);
    if (!p)
        return false;
    p = thread_put_when(thread, p);
    p = trace_put_varint(p, name->module);
    p = trace_put_varint(p, name->number);
    p = trace_put_string(p, name->function, strnlen(name->function, NAME_SHARE));
    p = trace_put_string(p, name->file, strnlen(name->file, PATH_SHARE));
    p = trace_put_varint(p, name->line);
    thread_extended_end(thread, TRACE_EXT_RUNTIME_NAME, p);
    return true;
}

const struct stack_sink stack_records = {
    .module = put_module,
    .node = put_node,
    .module_end = put_module_end,
    .runtime = put_runtime,
    .runtime_name = put_runtime_name,
};
