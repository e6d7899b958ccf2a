/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes the page about one allocation as lines. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schemas/array.h"
#include "tui/screen/format.h"
#include "tui/screen/short_name.h"
#include "tui/view/detail/detail.h"

/* The parts of the page. A line's key is its part and its number in it, so that the same line stays
 * selected when more parts come. */
enum part {
    PART_BLOCK,
    PART_BORN,
    PART_FREED,
    PART_BIRTH,
    PART_END,
    PART_BEFORE,
    PART_AFTER,
    PART_CHAIN,
    PART_MEMBERS,
};

struct writing {
    struct detail *detail;
    const struct exploration *exploration;
    const struct session *session;
    enum part part;
    uint64_t number; /* of the next line in its part */
    struct detail_line unused;
};

/* Adds an empty line. If memory is exhausted, the page ends here. */
static struct detail_line *add(struct writing *writing, const char *label)
{
    struct detail *detail = writing->detail;
    if (!array_grow(&detail->lines, &detail->capacity, detail->count + 1, sizeof(*detail->lines)))
        return &writing->unused;
    struct detail_line *line = &detail->lines[detail->count++];
    *line = (struct detail_line){.key = (uint64_t)writing->part << 32 | writing->number++};
    snprintf(line->label, sizeof(line->label), "%s", label);
    return line;
}

__attribute__((format(printf, 3, 4))) static struct detail_line *
add_text(struct writing *writing, const char *label, const char *format, ...)
{
    struct detail_line *line = add(writing, label);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line->value, sizeof(line->value), format, arguments);
    va_end(arguments);
    return line;
}

static void begin(struct writing *writing, enum part part)
{
    writing->part = part;
    writing->number = 0;
}

/* Begins a part with an empty line and a heading. */
static struct detail_line *add_heading(struct writing *writing, enum part part, const char *label)
{
    begin(writing, part);
    add(writing, "");
    struct detail_line *line = add(writing, label);
    line->role = THEME_HEADING;
    return line;
}

/* ---- the block -------------------------------------------------------------------------- */

static void write_type(struct writing *writing, const struct detail_facts *facts)
{
    const struct session_allocation *block = &facts->block;
    if (block->type != 0) {
        struct detail_line *line = add(writing, "type");
        line->name = session_type_name(writing->session, block->type);
        line->role = THEME_GOOD;
        add_text(writing, "confidence", "%s", facts->facts.confidence);
        return;
    }
    add_text(writing, "type", SESSION_UNKNOWN_TYPE)->role = THEME_FAINT;
    for (size_t i = 0; i < facts->facts.candidates; i++)
        add_text(writing, i == 0 ? "could be" : "", "%s", facts->facts.candidate[i])->role =
            THEME_FAINT;
}

static void write_block(struct writing *writing, const struct detail_facts *facts)
{
    const struct session_allocation *block = &facts->block;
    char size[FORMAT_SIZE], id[FORMAT_SIZE], count[FORMAT_SIZE];
    begin(writing, PART_BLOCK);
    add_text(writing, "allocation", "%s", format_count(id, block->id))->role = THEME_STRONG;
    add_text(writing, "address", "%" PRIx64 " to %" PRIx64, block->address,
             block->address + block->size);
    if (block->count > 1)
        add_text(writing, "size", "%s bytes (%s): %s objects of %" PRIu64,
                 format_count(count, block->size), format_size(size, block->size),
                 format_count(id, block->count), block->size / block->count);
    else
        add_text(writing, "size", "%s bytes (%s)", format_count(count, block->size),
                 format_size(size, block->size));
    write_type(writing, facts);
    add_text(writing, "kind", "%s%s", session_kind_name(writing->session, block->kind),
             block->arena == 0 ? ", in the process heap" : "");
    if (block->alignment != 0)
        add_text(writing, "alignment", "%" PRIu64, block->alignment);
    if (block->arena != 0)
        add_text(writing, "arena", "%.180s", facts->facts.arena);
}

/* ---- its life --------------------------------------------------------------------------- */

static void write_free(struct writing *writing, const struct detail_facts *facts)
{
    const struct session_allocation *block = &facts->block;
    const bool collected = session_stack_by_collector(writing->session, block->free_stack);
    const char *by = collected ? "" : facts->facts.freed_by;
    char time[FORMAT_SIZE], life[FORMAT_SIZE];
    if (block->free_ns == SESSION_LIVE) {
        const uint64_t end = session_duration_ns(writing->session);
        add_text(writing, "freed",
                 session_recording(writing->session) ? "not yet: %s old now"
                                                     : "never: %s old at the end",
                 format_duration(life, end > block->alloc_ns ? end - block->alloc_ns : 0));
        return;
    }
    add_text(writing, "freed", "by %s%.100s%s at %s after %s%s%s",
             collected ? "a garbage collector in " : "",
             session_thread_label(writing->session, block->free_thread),
             block->free_thread != block->thread ? " (another thread)" : "",
             format_instant(time, block->free_ns),
             format_duration(life, block->free_ns - block->alloc_ns), *by ? " with " : "", by);
}

/* Describes another block: what it is, who asked for it, when it lived. */
static void describe(const struct writing *writing, const struct session_allocation *block,
                     char *out, size_t size)
{
    char begin_time[FORMAT_SIZE], end_time[FORMAT_SIZE], type[56] = "type unknown",
                                                         function[72] = "?";
    if (block->type != 0)
        short_name_cut(type, sizeof(type), session_type_name(writing->session, block->type));
    if (block->function != 0)
        short_name_cut(function, sizeof(function),
                       session_function_name(writing->session, block->function));
    snprintf(out, size, "%s to %s  +%" PRIu64 "  %s  %s",
             format_instant(begin_time, block->alloc_ns),
             block->free_ns == SESSION_LIVE ? "the end" : format_instant(end_time, block->free_ns),
             block->size, type, function);
}

/* Says who was at the address before. Enter shows the last block. */
static void write_before(struct writing *writing, const struct detail_around *around)
{
    char text[PENDING_SIZE], last[200], count[FORMAT_SIZE];
    if (!around) {
        add_text(writing, "here before", "%s", exploration_pending(text, writing->exploration))
            ->role = THEME_FAINT;
    } else if (around->around.before_count == 0) {
        add_text(writing, "here before", "nothing")->role = THEME_FAINT;
    } else {
        describe(writing, &around->before[0], last, sizeof(last));
        add_text(writing, "here before", "%s block%s, last %s",
                 format_count(count, around->around.before_count),
                 around->around.before_count == 1 ? "" : "s", last)
            ->allocation = around->before[0].id;
    }
}

/* Says of what the line is a frame. */
static void put_frame(const struct writing *writing, struct detail_line *line,
                      const struct session_frame *frame, bool frees)
{
    line->name = session_function_name(writing->session, frame->function);
    line->function = frame->function;
    line->frees = frees;
    line->place = *frame->file ? frame->file : NULL;
    line->line = frame->line;
}

/* Names the function of the user's own code that freed the block or, without one, the call site. */
static void write_freed_by(struct writing *writing, const struct detail_facts *facts)
{
    const struct detail_stack *freed = &facts->freed;
    const size_t shown = freed->count < DETAIL_FRAMES ? freed->count : DETAIL_FRAMES;
    const size_t at = facts->freed_user < shown ? facts->freed_user : freed->call_site;
    if (at < shown)
        put_frame(writing, add(writing, "freed by"), &freed->frames[at], true);
}

/* Writes who allocated and freed the block, and what its address held before, before any stack:
 * these lines fit on every screen. */
static void write_life(struct writing *writing, const struct detail_facts *facts,
                       const struct detail_around *around)
{
    const struct session_allocation *block = &facts->block;
    char time[FORMAT_SIZE];
    add_text(writing, "allocated", "by %.100s at %s",
             session_thread_label(writing->session, block->thread),
             format_instant(time, block->alloc_ns));
    write_free(writing, facts);
    write_freed_by(writing, facts);
    write_before(writing, around);
}

/* ---- stacks ----------------------------------------------------------------------------- */

static void write_stack(struct writing *writing, const struct detail_stack *stack, size_t user,
                        bool frees)
{
    const size_t shown = stack->count < DETAIL_FRAMES ? stack->count : DETAIL_FRAMES;
    for (size_t i = 0; i < shown; i++) {
        const struct session_frame *frame = &stack->frames[i];
        char label[64];
        snprintf(label, sizeof(label), "%s%3zu%s%s", i == stack->call_site ? "▸" : " ", i,
                 frame->inlined ? " inlined" : "", i == user ? " mine" : "");
        struct detail_line *line = add(writing, label);
        put_frame(writing, line, frame, frees);
        line->role = i == stack->call_site || i == user ? THEME_STRONG : THEME_PLAIN;
    }
    if (shown < stack->count)
        add_text(writing, "", "and %zu frames more", stack->count - shown)->role = THEME_FAINT;
    if (strcmp(stack->state, "complete") != 0)
        add_text(writing, "", "the stack is not complete: %s", stack->state)->role = THEME_WARNING;
}

static void write_stacks(struct writing *writing, const struct detail_facts *facts)
{
    const struct session_allocation *block = &facts->block;
    add_heading(writing, PART_BORN, "allocated in");
    write_stack(writing, &facts->born, facts->user, false);
    if (block->free_ns == SESSION_LIVE)
        return;
    struct detail_line *line = add_heading(writing, PART_FREED, "freed in");
    if (session_stack_by_collector(writing->session, block->free_stack))
        snprintf(line->value, sizeof(line->value), "no function: a garbage collector took it");
    else if (block->free_stack != 0)
        write_stack(writing, &facts->freed, facts->freed_user, true);
    else
        snprintf(line->value, sizeof(line->value),
                 "no stack of the free: mprof-run --free-stacks records them");
}

/* ---- other blocks ----------------------------------------------------------------------- */

/* Writes a line about another block, which Enter shows. */
static struct detail_line *write_other(struct writing *writing, const char *label,
                                       const struct session_allocation *block)
{
    struct detail_line *line = add(writing, label);
    describe(writing, block, line->value, sizeof(line->value));
    line->allocation = block->id;
    return line;
}

static void write_side(struct writing *writing, const struct session_allocation *of,
                       const struct session_allocation *other, bool above)
{
    char label[64], bytes[FORMAT_SIZE];
    if (other->id == 0) {
        add_text(writing, above ? "above" : "below", "nothing")->role = THEME_FAINT;
        return;
    }
    const struct session_allocation *low = above ? of : other, *high = above ? other : of;
    const uint64_t end = low->address + (low->size > 0 ? low->size : 1);
    const uint64_t gap = high->address > end ? high->address - end : 0;
    /* From this size on it is the space between two mappings (session/holes.h). */
    if (gap >= UINT64_C(16) << 20)
        snprintf(label, sizeof(label), "%s, far away", above ? "above" : "below");
    else
        snprintf(label, sizeof(label), "%s, gap %s B", above ? "above" : "below",
                 format_count(bytes, gap));
    write_other(writing, label, other);
}

static void write_uses(struct writing *writing, enum part part, const char *label, uint64_t count,
                       const struct session_allocation *blocks)
{
    char number[FORMAT_SIZE];
    struct detail_line *line = add_heading(writing, part, label);
    snprintf(line->value, sizeof(line->value),
             count == 0   ? "nothing"
             : count == 1 ? "one allocation held it"
                          : "%s allocations held it",
             format_count(number, count));
    const size_t shown = count < SESSION_USES ? (size_t)count : SESSION_USES;
    for (size_t i = 0; i < shown; i++)
        write_other(writing, i == 0 ? "nearest in time" : "", &blocks[i]);
    if (shown < count)
        add_text(writing, "", "and %s more", format_count(number, count - shown))->role =
            THEME_FAINT;
}

static void write_around(struct writing *writing, const struct detail_facts *facts,
                         const struct detail_around *around)
{
    const struct session_allocation *block = &facts->block;
    const char *end = block->free_ns != SESSION_LIVE        ? "beside it at its free"
                      : session_recording(writing->session) ? "beside it now"
                                                            : "beside it at the end";
    struct detail_line *line = add_heading(writing, PART_BIRTH, "beside it at its birth");
    if (!around) {
        char text[PENDING_SIZE];
        snprintf(line->value, sizeof(line->value), "%s",
                 exploration_pending(text, writing->exploration));
        return;
    }
    write_side(writing, block, &around->birth[1], true);
    write_side(writing, block, &around->birth[0], false);
    add_heading(writing, PART_END, end);
    write_side(writing, block, &around->end[1], true);
    write_side(writing, block, &around->end[0], false);
    write_uses(writing, PART_BEFORE, "this address before", around->around.before_count,
               around->before);
    write_uses(writing, PART_AFTER, "this address after", around->around.after_count,
               around->after);
}

static void write_chain(struct writing *writing, const struct detail_chain *chain)
{
    if (!chain || (chain->chain.count < 2 && !chain->chain.older && !chain->chain.newer))
        return;
    struct detail_line *line = add_heading(writing, PART_CHAIN, "reallocations");
    snprintf(line->value, sizeof(line->value), "number %zu of %s%zu in this chain%s",
             chain->chain.place + 1, chain->chain.newer ? "more than " : "", chain->chain.count,
             chain->chain.older ? ", which began earlier" : "");
    for (size_t i = 0; i < chain->chain.count; i++)
        write_other(writing, i == chain->chain.place ? "▸ this one" : "", &chain->blocks[i])->role =
            i == chain->chain.place ? THEME_STRONG : THEME_PLAIN;
}

/* ---- members ---------------------------------------------------------------------------- */

static void write_padding(struct writing *writing, uint64_t from, uint64_t to)
{
    char label[64];
    if (to <= from)
        return;
    snprintf(label, sizeof(label), "%6" PRIu64 " +%" PRIu64, from, to - from);
    add_text(writing, label, "padding")->role = THEME_WARNING;
}

static void write_members(struct writing *writing, const struct detail_facts *facts)
{
    const size_t shown =
        facts->member_count < DETAIL_MEMBERS ? facts->member_count : DETAIL_MEMBERS;
    char size[FORMAT_SIZE];
    uint64_t end = 0;
    if (facts->member_count == 0)
        return;
    struct detail_line *line = add_heading(writing, PART_MEMBERS, "members");
    snprintf(line->value, sizeof(line->value), "of an object of %s, by offset",
             format_size(size, facts->type_size));
    for (size_t i = 0; i < shown; i++) {
        const struct session_member *member = &facts->members[i];
        char label[64];
        write_padding(writing, end, member->offset);
        snprintf(label, sizeof(label), "%6" PRIu64 " +%" PRIu64, member->offset, member->size);
        add_text(writing, label, "%s%s%s", member->name, *member->name ? ": " : "", member->type);
        if (member->offset + member->size > end)
            end = member->offset + member->size;
    }
    if (shown < facts->member_count)
        add_text(writing, "", "and %zu more", facts->member_count - shown)->role = THEME_FAINT;
    else
        write_padding(writing, end, facts->type_size);
}

void detail_write_lines(struct detail *detail, const struct exploration *exploration)
{
    struct writing writing = {
        .detail = detail, .exploration = exploration, .session = exploration->session};
    const struct detail_facts *facts = detail->facts;
    detail->count = 0;
    if (!facts || !facts->found)
        return;
    write_block(&writing, facts);
    write_life(&writing, facts, detail->around);
    write_stacks(&writing, facts);
    write_around(&writing, facts, detail->around);
    write_chain(&writing, detail->chain);
    write_members(&writing, facts);
}
