/* SPDX-License-Identifier: BSD-2-Clause */
/* The page about one allocation: both stacks, who freed it, its neighbours at its birth and at its
 * end, what held its address before and after it, its chain of reallocations, and its members. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schemas/array.h"
#include "schemas/code/short_name.h"
#include "session/block.h"
#include "session/user_code.h"
#include "tui/screen/format.h"
#include "tui/screen/theme.h"
#include "tui/view/common/offers.h"
#include "tui/view/common/table_view.h"

#define DETAIL_FRAMES 256
#define DETAIL_MEMBERS 256

struct detail_stack {
    struct session_frame frames[DETAIL_FRAMES];
    size_t count; /* of all its frames; those beyond DETAIL_FRAMES are not here */
    size_t call_site;
    const char *state; /* "complete", or why frames are missing */
};

/* The facts that are known at once. */
struct detail_facts {
    struct {
        uint64_t renewals, id;
    } request;
    bool found;
    struct session_allocation block;
    struct session_block_facts facts;
    struct detail_stack born, freed;
    size_t user;       /* the user's frame in `born`, SESSION_NO_FRAME: none */
    size_t freed_user; /* and in `freed` */
    struct session_member members[DETAIL_MEMBERS];
    size_t member_count;
    uint64_t type_size;
};

/* The facts that take a pass. */
struct detail_around {
    struct {
        uint64_t renewals, id;
    } request;
    struct session_surroundings around;
    struct session_allocation birth[2], end[2]; /* below and above; id 0: none */
    struct session_allocation before[SESSION_USES], after[SESSION_USES];
};

/* And another pass. */
struct detail_chain {
    struct {
        uint64_t renewals, id;
    } request;
    struct session_chain chain;
    struct session_allocation blocks[SESSION_CHAIN];
};

struct detail_line {
    uint64_t key;
    char label[64], value[200];
    const char *name;  /* in place of `value`, or NULL */
    const char *place; /* a path in the source, or NULL */
    uint32_t line;
    uint32_t function;   /* of a frame, 0: it is not a frame */
    bool frees;          /* the frame is of the stack of the free */
    uint64_t allocation; /* the block that Enter shows, 0: none */
    enum theme_role role;
};

#define DETAIL_TRAIL 32
struct detail {
    struct table_view view;
    struct load facts_load, around_load, chain_load;
    const struct detail_facts *facts; /* NULL: not known yet; so with the others */
    const struct detail_around *around;
    const struct detail_chain *chain;
    struct function_matchers matchers; /* of the block, and of the selected frame */
    uint64_t shown;                    /* id of the block */
    uint64_t renewals;                 /* the state of the session that the ids are of */
    uint64_t trail[DETAIL_TRAIL];
    size_t trail_length;
};

static void read_stack(struct session *session, uint32_t stack, struct detail_stack *read)
{
    read->state = session_stack_state(session, stack);
    if (stack == 0)
        return;
    read->count = session_stack(session, stack, read->frames, DETAIL_FRAMES);
    read->call_site = session_stack_call_site(session, stack);
}

static bool run_facts(struct session *session, struct selection *selection, void *data,
                      struct session_error *error)
{
    struct detail_facts *facts = data;
    struct session_allocation *block = &facts->block;
    if (!session_allocation(session, facts->request.id, block, error) ||
        !session_block_facts(session, block, &facts->facts, error))
        return false;
    facts->found = true;
    read_stack(session, block->stack, &facts->born);
    facts->user = session_stack_user(session, block->stack);
    facts->freed_user = SESSION_NO_FRAME;
    if (block->free_ns != SESSION_LIVE) {
        read_stack(session, block->free_stack, &facts->freed);
        facts->freed_user = session_stack_user(session, block->free_stack);
    }
    return block->type == 0 ||
           session_type_members(session, block->type, facts->members, DETAIL_MEMBERS,
                                &facts->member_count, &facts->type_size, error);
}

static bool read_block(struct session *session, uint64_t id, struct session_allocation *block,
                       struct session_error *error)
{
    return id == 0 || session_allocation(session, id, block, error);
}

static bool run_around(struct session *session, struct selection *selection, void *data,
                       struct session_error *error)
{
    struct detail_around *read = data;
    struct session_surroundings *around = &read->around;
    struct session_allocation block;
    if (!session_allocation(session, read->request.id, &block, error) ||
        !session_surroundings(session, &block, around, error) ||
        !read_block(session, around->birth.below, &read->birth[0], error) ||
        !read_block(session, around->birth.above, &read->birth[1], error) ||
        !read_block(session, around->end.below, &read->end[0], error) ||
        !read_block(session, around->end.above, &read->end[1], error))
        return false;
    for (size_t i = 0; i < SESSION_USES; i++)
        if (!read_block(session, around->before[i], &read->before[i], error) ||
            !read_block(session, around->after[i], &read->after[i], error))
            return false;
    return true;
}

static bool run_chain(struct session *session, struct selection *selection, void *data,
                      struct session_error *error)
{
    struct detail_chain *read = data;
    struct session_allocation block;
    if (!session_allocation(session, read->request.id, &block, error) ||
        !session_chain(session, &block, &read->chain, error))
        return false;
    for (size_t i = 0; i < read->chain.count; i++)
        if (!session_allocation(session, read->chain.ids[i], &read->blocks[i], error))
            return false;
    return true;
}

/* Loads what the page shows of the block `shown`. */
static void detail_load(struct detail *detail, struct browse *browse)
{
    static const struct load_kind facts = LOAD_KIND(detail_facts, run_facts, NULL);
    static const struct load_kind around = LOAD_KIND(detail_around, run_around, NULL);
    static const struct load_kind chain = LOAD_KIND(detail_chain, run_chain, NULL);
    const uint64_t wanted[2] = {browse->renewals, detail->shown};
    detail->facts = NULL;
    detail->around = NULL;
    detail->chain = NULL;
    if (detail->shown == 0)
        return;
    detail->facts = browse_get(browse, &detail->facts_load, &facts, wanted);
    detail->around = browse_get(browse, &detail->around_load, &around, wanted);
    detail->chain = browse_get(browse, &detail->chain_load, &chain, wanted);
}

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
    struct list_data *lines;
    size_t capacity;
    const struct browse *browse;
    const struct session *session;
    enum part part;
    uint64_t number; /* of the next line in its part */
    struct detail_line unused;
};

/* Adds an empty line. If memory is exhausted, the page ends here. */
static struct detail_line *add(struct writing *writing, const char *label)
{
    struct list_data *lines = writing->lines;
    if (!array_grow(&lines->rows, &writing->capacity, lines->count + 1, sizeof(struct detail_line)))
        return &writing->unused;
    struct detail_line *line = (struct detail_line *)lines->rows + lines->count++;
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
        add_text(writing, "here before", "%s", browse_pending(text, writing->browse))->role =
            THEME_FAINT;
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
        snprintf(line->value, sizeof(line->value), "%s", browse_pending(text, writing->browse));
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

/* The lines are those of what is known, and of what the user waits for. */
static bool ask(const void *view, const struct browse *browse, struct list_request *request)
{
    const struct detail *detail = view;
    char pending[PENDING_SIZE];
    request->of[1] = detail->shown;
    request->of[2] = (uint64_t)(uintptr_t)detail->facts;
    request->of[3] = (uint64_t)(uintptr_t)detail->around;
    request->of[4] = (uint64_t)(uintptr_t)detail->chain;
    snprintf(request->text, sizeof(request->text), "%" PRIu64 " %s", browse->renewals,
             browse_pending(pending, browse));
    return true;
}

static bool make(const void *view, struct list_data *data)
{
    const struct detail *detail = view;
    const struct detail_facts *facts = detail->facts;
    struct writing writing = {
        .lines = data, .browse = detail->view.browse, .session = detail->view.session};
    if (!facts || !facts->found)
        return facts || (detail->shown == 0 && detail->view.browse->sought.ns == 0);
    write_block(&writing, facts);
    write_life(&writing, facts, detail->around);
    write_stacks(&writing, facts);
    write_around(&writing, facts, detail->around);
    write_chain(&writing, detail->chain);
    write_members(&writing, facts);
    return true;
}

enum { COLUMN_LABEL, COLUMN_VALUE, COLUMN_PLACE, COLUMNS };

static const struct table_column columns[COLUMNS] = {
    [COLUMN_LABEL] = {"about", 22, .text = true, .keep = true, .unsorted = true},
    [COLUMN_VALUE] = {"what", .text = true, .keep = true, .unsorted = true, .cut = TABLE_CUT_NAME},
    [COLUMN_PLACE] = {"where", 28, 76, .text = true, .unsorted = true},
};

static void close_view(void *view, struct browse *browse)
{
    struct detail *detail = view;
    LOADS_CLEAR(&browse->loader, &detail->facts_load, &detail->around_load, &detail->chain_load);
    function_matchers_clear(&detail->matchers, browse);
}

/* ---- the table -------------------------------------------------------------------------- */

static void cell(const void *view, const void *row, size_t column, struct table_cell *out)
{
    const struct detail_line *line = row;
    out->styled = true;
    out->style = theme_style(column == COLUMN_LABEL && line->role != THEME_HEADING ? THEME_FAINT
                                                                                   : line->role);
    if (column == COLUMN_LABEL) {
        snprintf(out->text, sizeof(out->text), "%s", line->label);
    } else if (column == COLUMN_VALUE) {
        snprintf(out->text, sizeof(out->text), "%s", line->value);
        out->name = line->name;
        out->sentence = !line->name;
    } else if (line->place) {
        snprintf(out->text, sizeof(out->text), "%.200s:%" PRIu32, basename(line->place),
                 line->line);
    }
}

static const struct list_kind lines = {LIST_OF(struct detail_line), .ascending = true, .make = make,
                                       .ask = ask, .cell = cell};

static const struct detail_line *selected_line(const struct detail *detail)
{
    return list_selected(&detail->view.list);
}

static const char *none(const void *view)
{
    return ((const struct detail *)view)->shown == 0
               ? "no allocation is selected: choose one in the list (8) and press Enter"
               : "this allocation is not known here: choose one in the list (8) and press Enter";
}

/* ---- actions ---------------------------------------------------------------------------- */

static void show(struct detail *detail, struct browse *browse, uint64_t id)
{
    detail->shown = browse->allocation = id;
    detail->view.list.table.selected = detail->view.list.table.first = 0;
    detail->view.list.table.has_key = false;
}

/* Shows another block. Esc comes back to this one. */
static void go_to(struct detail *detail, struct browse *browse, uint64_t id)
{
    if (id == detail->shown)
        return;
    if (detail->trail_length == DETAIL_TRAIL) {
        memmove(detail->trail, detail->trail + 1, sizeof(detail->trail) - sizeof(*detail->trail));
        detail->trail_length--;
    }
    detail->trail[detail->trail_length++] = detail->shown;
    show(detail, browse, id);
}

/* Opens the line of the selected frame; elsewhere the innermost one of the user's own code that
 * allocated the block. */
static void open_source(const struct detail *detail, struct browse *browse)
{
    const struct detail_line *line = selected_line(detail);
    const struct detail_facts *facts = detail->facts;
    if (line && line->place)
        browse_open_source(browse, line->place, line->line);
    else if (facts && facts->user < facts->born.count && facts->user < DETAIL_FRAMES &&
             facts->born.frames[facts->user].line != 0)
        browse_open_source(browse, facts->born.frames[facts->user].file,
                           facts->born.frames[facts->user].line);
    else
        browse_say(browse, "no place in the source on this line: choose a frame");
}

static void follow(struct detail *detail, struct browse *browse)
{
    const struct detail_line *line = selected_line(detail);
    if (line && line->allocation != 0)
        go_to(detail, browse, line->allocation);
    else
        open_source(detail, browse);
}

static bool act(void *view, struct browse *browse, const struct view_input *input)
{
    struct detail *detail = view;
    switch (input->action) {
    case ACTION_FOLLOW:
        follow(detail, browse);
        return true;
    case ACTION_OPEN:
        open_source(detail, browse);
        return true;
    case ACTION_TO_MEMORY:
        if (detail->facts)
            block_to_memory(browse, &detail->facts->block);
        return true;
    case ACTION_OVER_TIME:
        if (detail->facts)
            block_to_timeline(browse, &detail->facts->block);
        return true;
    case ACTION_VIEW_1 + VIEW_RETAINED:
        if (detail->facts)
            browse_show_holders(browse, detail->facts->block.id);
        return detail->facts != NULL;
    case ACTION_BACK:
        if (detail->trail_length == 0)
            return false;
        show(detail, browse, detail->trail[--detail->trail_length]);
        return true;
    default:
        return false;
    }
}

/* Takes the block that another view has selected. */
static void take_request(struct detail *detail, struct browse *browse)
{
    if (detail->renewals != browse->renewals && browse->sought.ns == 0) {
        /* The same block in a newer state, under another id. The ids of the trail are gone. */
        detail->renewals = browse->renewals;
        detail->shown = browse->allocation;
        detail->trail_length = 0;
    }
    if (browse->allocation == detail->shown)
        return;
    detail->trail_length = 0;
    show(detail, browse, browse->allocation);
}

/* Returns the function of the user's frame, 0: none. */
static uint32_t detail_user(const struct detail_facts *facts)
{
    return facts->user < DETAIL_FRAMES ? facts->born.frames[facts->user].function : 0;
}

static void load_matchers(void *view, struct browse *browse)
{
    struct detail *detail = view;
    const struct detail_facts *facts = detail->facts;
    const struct detail_line *line = selected_line(detail);
    if (facts)
        block_matchers_load(&detail->matchers, browse, &facts->block, detail_user(facts),
                            line ? line->function : 0);
}

static void prepare(void *view, struct browse *browse)
{
    take_request(view, browse);
    detail_load(view, browse);
}

/* ---- offers ----------------------------------------------------------------------------- */

static size_t offers(void *view, struct browse *browse, struct view_offer *out, size_t capacity)
{
    static const struct function_words allocated = {
        "allocated under this function", "allocated under each function of this name", false};
    static const struct function_words freed = {"freed under this function",
                                                "freed under each function of this name", true};
    const struct detail *detail = view;
    const struct detail_facts *facts = detail->facts;
    const struct detail_line *line = selected_line(detail);
    if (!facts)
        return 0;
    const size_t count = function_matchers_offer(
        &detail->matchers, browse->session, SESSION_ANYWHERE, line ? line->function : 0,
        line && line->frees ? &freed : &allocated, out, capacity);
    /* Its function is awaited: `l` is not for the block in its place. */
    if (line && line->function != 0 && count == 0)
        return 0;
    return count + offer_block(&detail->matchers, browse->session, &facts->block,
                               detail_user(facts), out + count, capacity - count);
}

/* Copies the whole page. */
static bool copy(void *view, struct browse *browse, FILE *out)
{
    const struct detail *detail = view;
    for (size_t i = 0; i < detail->view.list.count; i++) {
        const struct detail_line *line = list_row(&detail->view.list, i);
        fprintf(out, "%-24s%s", line->label, line->name ? line->name : line->value);
        if (line->place)
            fprintf(out, "  %s:%" PRIu32, line->place, line->line);
        fputc('\n', out);
    }
    return detail->view.list.count > 0;
}

static const struct key_binding keys[] = {
    {ACTION_FOLLOW, "the block of the line, or the source of the frame", .keys = {KEYCODE_ENTER},
     .footer = "follow"},
    {ACTION_TO_MEMORY, "the block in memory", .keys = {'i'}, .footer = "in memory"},
    {ACTION_OVER_TIME, "the moment of its allocation in the timeline", .keys = {'t'},
     .footer = "timeline"},
    {ACTION_VIEW_1 + VIEW_RETAINED, "who keeps this block alive, and what it refers to",
     .keys = {'K'}},
    {ACTION_OPEN, "its source", .keys = {'o'}, .footer = "source"},
};

static const struct table_view_kind kind = {.size = sizeof(struct detail),
                                            .list = &lines,
                                            .none = none,
                                            .prepare = prepare,
                                            .act = act,
                                            .side_loaded = load_matchers,
                                            .close = close_view};

const struct view_ops detail_view = {
    .name = "detail",
    .title = "Detail",
    .help = "All that is known about one allocation: who allocated and freed it, what lay beside "
            "it, and what its address held before and after it.",
    .keys = KEY_TABLE(keys),
    .rows = &kind,
    .destroy = table_view_destroy,
    .update = table_view_update,
    .render = table_view_render,
    .offers = offers,
    .copy = copy,
    .table = table_view_write,
};
