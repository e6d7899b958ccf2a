/* SPDX-License-Identifier: BSD-2-Clause */
/* The view of leaks: what it does with actions. */
#include "tui/view/leaks/leaks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tui/screen/format.h"
#include "tui/view/common/list.h"
#include "tui/view/view.h"

static void *create(void)
{
    struct leaks *leaks = calloc(1, sizeof(*leaks));
    if (leaks) {
        leaks->groups.descending = true;
        leaks->frames.blurred = true;
    }
    return leaks;
}

static void destroy(void *view, struct exploration *exploration)
{
    struct leaks *leaks = view;
    load_clear(&exploration->loader, &leaks->leaks_load);
    load_clear(&exploration->loader, &leaks->stack_load);
    function_tests_clear(&leaks->tests, exploration);
    leaks_forget_pattern(&leaks->shown_pattern, exploration);
    leaks_forget_pattern(&leaks->written_pattern, exploration);
    free(leaks->order);
    free(leaks);
}

/* ---- filters of a group ----------------------------------------------------------------- */

/* The filter language allows a list of so many items. */
enum { ITEMS_MOST = 100000 };

static int compare_ids(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return a < b ? -1 : a > b;
}

/* Writes the stacks of a group as the items of a list. Returns their number. */
static size_t write_stacks(FILE *out, const struct session_leaks *leaks,
                           const struct session_leak *leak)
{
    uint32_t *ids = malloc((leak->stack_count + 1) * sizeof(*ids));
    size_t items = 0;
    if (!ids)
        return SIZE_MAX;
    for (size_t i = 0; i < leak->stack_count; i++)
        ids[i] = leaks->stacks[leak->first_stack + i].stack;
    qsort(ids, leak->stack_count, sizeof(*ids), compare_ids);
    for (size_t i = 0, last; i < leak->stack_count; i = last + 1, items++) {
        for (last = i; last + 1 < leak->stack_count && ids[last + 1] == ids[last] + 1;)
            last++;
        fprintf(out, last > i ? "%s%" PRIu32 "..%" PRIu32 : "%s%" PRIu32, items > 0 ? ", " : "",
                ids[i], ids[last]);
    }
    free(ids);
    return items;
}

/* Returns the step that selects exactly the blocks of a group, NULL if it would be too long. The
 * caller frees it. */
static char *group_step(const struct leaks *leaks, const struct session_leak *leak)
{
    char *step = NULL, *type = NULL;
    size_t size, items = 1;
    FILE *out = open_memstream(&step, &size);
    if (!out)
        return NULL;
    fputs("where freed == false and stack ", out);
    if (leak->stack == 0 && leak->stack_count == 1) {
        fputs("is null", out);
    } else if (leak->stack_count == 1) {
        fprintf(out, "== %" PRIu32, leak->stack);
    } else {
        fputs("in (", out);
        items = write_stacks(out, &leaks->data->leaks, leak);
        fputc(')', out);
    }
    if (leak->type == 0)
        fputs(" and type is null", out);
    else if ((type = filter_quoted(session_type_name(leaks->session, leak->type))))
        fprintf(out, " and type == %s", type);
    const bool whole = leak->type == 0 || type;
    free(type);
    if (fclose(out) == 0 && whole && items <= ITEMS_MOST)
        return step;
    free(step);
    return NULL;
}

static void list_group(struct leaks *leaks, struct exploration *exploration)
{
    const struct session_leak *leak = leaks_selected(leaks);
    char *step = leak ? group_step(leaks, leak) : NULL;
    if (step)
        exploration_list(exploration, step);
    else if (leak)
        exploration_complain(exploration,
                             "%zu stacks are too many for a filter: Tab, then Enter "
                             "lists the blocks of one of them",
                             leak->stack_count);
    free(step);
}

static void list_stack(struct leaks *leaks, struct exploration *exploration)
{
    const struct session_leak *leak = leaks_selected(leaks);
    char step[64];
    if (!leak || !leaks->stack)
        return;
    snprintf(step, sizeof(step), "where freed == false and stack == %" PRIu32, leaks->stack->stack);
    exploration_list(exploration,
                     leaks->stack->stack == 0 ? "where freed == false and stack is null" : step);
}

static size_t offer_type(const char *type, struct view_offer *out)
{
    char *quoted = filter_quoted(type);
    if (!quoted || asprintf(&out->long_step, "where type == %s", quoted) < 0)
        out->long_step = NULL;
    free(quoted);
    snprintf(out->label, sizeof(out->label), "this type: %.100s", type);
    return out->long_step != NULL;
}

static size_t offers(void *view, struct exploration *exploration, struct view_offer *out,
                     size_t capacity)
{
    static const struct function_words words = {"made below this function",
                                                "made below each function of this name", false};
    const struct leaks *leaks = view;
    const struct session_leak *leak = leaks_selected(leaks);
    size_t count = 0;
    (void)exploration;
    if (!leak)
        return 0;
    char *step = group_step(leaks, leak);
    if (step && count < capacity) {
        snprintf(out[count].label, sizeof(out->label), "the blocks of this group");
        out[count++].long_step = step; /* the browser frees it */
        step = NULL;
    }
    free(step);
    count +=
        function_tests_offer(&leaks->tests, leaks->session, SESSION_ANYWHERE,
                             leaks_selected_function(leaks), &words, out + count, capacity - count);
    if (leak->type != 0 && count < capacity)
        count += offer_type(session_type_name(leaks->session, leak->type), &out[count]);
    if (count < capacity) {
        snprintf(out[count].label, sizeof(out->label), "never freed");
        snprintf(out[count++].step, sizeof(out->step), "where freed == false");
    }
    return count;
}

/* ---- suppressions ----------------------------------------------------------------------- */

/* Returns true if the file beside the session has the pattern. */
static bool is_own(const struct leaks *leaks, const char *pattern)
{
    const struct suppressions *all = leaks->data->suppressions;
    for (size_t i = 0; all && i < suppressions_count(all); i++)
        if (strcmp(suppressions_pattern(all, i), pattern) == 0)
            return true;
    return false;
}

static void unsuppress(struct leaks *leaks, struct exploration *exploration,
                       const struct session_leak *leak)
{
    char path[SUPP_PATH_SIZE], error[SUPP_ERROR_SIZE];
    supp_file_path(path, sizeof(path), session_path(leaks->session));
    if (!is_own(leaks, leak->why)) {
        exploration_complain(exploration, "%.100s comes from mprof-ingest: it is not in %.150s",
                             leak->why, path);
    } else if (!supp_file_remove(path, leak->why, error)) {
        exploration_complain(exploration, "%s", error);
    } else {
        exploration_say(exploration, "no longer suppressed: leak:%.100s is taken out of %.150s",
                        leak->why, path);
        leaks->writes++;
    }
}

/* Says what was suppressed. */
static void say_suppressed(struct exploration *exploration, const struct leak_pattern *pattern,
                           const char *path)
{
    char bytes[FORMAT_SIZE], groups[FORMAT_SIZE];
    if (strcmp(pattern->text, "^main$") == 0)
        exploration_complain(
            exploration,
            "suppressed this group and all that main() leaks: leak:%s is added to %.120s",
            pattern->text, path);
    else if (pattern->groups == 0)
        exploration_say(exploration, "suppressed this group alone: leak:%.120s is added to %.120s",
                        pattern->text, path);
    else
        exploration_complain(
            exploration, "suppressed this group and %s other%s, %s: leak:%.120s is added to %.120s",
            format_count(groups, pattern->groups), pattern->groups == 1 ? "" : "s",
            format_size(bytes, pattern->bytes), pattern->text, path);
}

/* Writes the suppression that the user has asked for as soon as its pattern is known. */
static void write_pattern(struct leaks *leaks, struct exploration *exploration)
{
    struct leak_question *question = &leaks->written_pattern;
    char path[SUPP_PATH_SIZE], error[SUPP_ERROR_SIZE], about[200];
    char bytes[FORMAT_SIZE], blocks[FORMAT_SIZE];
    const bool asked = question->of != NULL;
    const struct leak_pattern *pattern = leaks_pattern(question, exploration);
    if (!pattern) {
        if (asked && question->of)
            exploration_say(exploration, "finding what else the suppression takes …");
        return;
    }
    const struct session_leak *leak = &question->of->leaks.leaks[question->group];
    supp_file_path(path, sizeof(path), session_path(leaks->session));
    snprintf(about, sizeof(about), "%s in %s block%s", format_size(bytes, leak->bytes),
             format_count(blocks, leak->blocks), format_plural(leak->blocks));
    if (pattern->text[0] == 0) {
        exploration_complain(exploration, "no frame of the stack has a name to suppress");
    } else if (!supp_file_add(path, pattern->text, about, error)) {
        exploration_complain(exploration, "%s", error);
    } else {
        leaks->writes++;
        say_suppressed(exploration, pattern, path);
    }
    leaks_forget_pattern(question, exploration);
}

static void suppress(struct leaks *leaks, struct exploration *exploration)
{
    const struct session_leak *leak = leaks_selected(leaks);
    if (!leak)
        return;
    if (session_recording(leaks->session))
        exploration_complain(exploration, "nothing is known of leaks while the program runs");
    else if (leak->kind == SESSION_LEAK_SUPPRESSED || leak->kind == SESSION_LEAK_SUPPRESSED_HERE)
        unsuppress(leaks, exploration, leak);
    else
        leaks_ask_pattern(&leaks->written_pattern, exploration, leaks->data,
                          leaks_selected_group(leaks));
}

/* ---- update ----------------------------------------------------------------------------- */

static void focus(struct leaks *leaks, bool in_stack)
{
    leaks->in_stack = in_stack && leaks->stack && leaks->stack->count > 0;
    leaks->groups.blurred = leaks->in_stack;
    leaks->frames.blurred = !leaks->in_stack;
}

/* Shows another stack of the group. */
static void turn(struct leaks *leaks, bool forwards)
{
    const struct session_leak *leak = leaks_selected(leaks);
    if (leak)
        leaks->nth = (leaks->nth + (forwards ? 1 : leak->stack_count - 1)) % leak->stack_count;
}

static void take_frame(struct leaks *leaks, struct exploration *exploration)
{
    const size_t row = leaks->frames.selected;
    if (leaks->stack && row < leaks->stack->count && row < LEAK_FRAMES) {
        exploration->function = leaks->stack->frames[row].function;
        exploration->has_function = true;
    }
}

/* Opens the line of the selected frame or, in the groups, of the frame that they name. */
static void open_source(const struct leaks *leaks, struct exploration *exploration)
{
    const struct leak_stack_data *stack = leaks->stack;
    const size_t named = stack && stack->user < stack->count ? stack->user
                         : stack                             ? stack->site
                                                             : 0;
    const size_t at = leaks->in_stack ? leaks->frames.selected : named;
    if (!stack || at >= stack->count || at >= LEAK_FRAMES || stack->frames[at].line == 0)
        exploration_complain(exploration, "the source of this frame is not known");
    else
        exploration_open_source(exploration, stack->frames[at].file, stack->frames[at].line);
}

static bool act_on_table(struct leaks *leaks, struct exploration *exploration,
                         const struct view_input *input)
{
    const struct panes panes = panes_lay_out(input->width, input->height, 1, leaks_rows(leaks));
    struct table_place place = panes_side_table(&panes);
    place.y += 2;
    place.height -= 2;
    const bool mouse = input->action == ACTION_CLICK || input->action == ACTION_WHEEL_UP ||
                       input->action == ACTION_WHEEL_DOWN;
    if (mouse && panes.side.height > 0)
        focus(leaks, panes.beside ? input->x >= panes.side.x : input->y >= panes.side.y);
    if (leaks->in_stack) {
        const struct table_source frames = leaks_frames_source(leaks);
        const enum table_answer answer =
            list_update(exploration, &leaks->frames, &frames, input, &place);
        take_frame(leaks, exploration);
        if (answer == TABLE_FOLLOW)
            list_stack(leaks, exploration);
        return answer != TABLE_IGNORED;
    }
    const struct table_source groups = leaks_groups_source(leaks);
    const enum table_answer answer =
        list_update(exploration, &leaks->groups, &groups, input, &panes.main);
    if (answer == TABLE_SORTED) {
        leaks_sort(leaks);
        table_settle(&leaks->groups, &groups, &panes.main);
    } else if (answer == TABLE_FOLLOW) {
        list_group(leaks, exploration);
    }
    return answer != TABLE_IGNORED;
}

static bool act(struct leaks *leaks, struct exploration *exploration,
                const struct view_input *input)
{
    switch (input->action) {
    case ACTION_NEXT_PANE:
    case ACTION_PREVIOUS_PANE:
        focus(leaks, !leaks->in_stack);
        return true;
    case ACTION_BACK:
        if (!leaks->in_stack)
            return false;
        focus(leaks, false);
        return true;
    case ACTION_LEFT:
    case ACTION_RIGHT:
        turn(leaks, input->action == ACTION_RIGHT);
        return true;
    case ACTION_OPEN:
        open_source(leaks, exploration);
        return true;
    case ACTION_SUPPRESS:
        suppress(leaks, exploration);
        return true;
    case ACTION_FOLLOW:
        if (leaks->in_stack)
            list_stack(leaks, exploration);
        else
            list_group(leaks, exploration);
        return true;
    default:
        return act_on_table(leaks, exploration, input);
    }
}

static bool update(void *view, struct exploration *exploration, const struct view_input *input)
{
    struct leaks *leaks = view;
    const uint64_t writes = leaks->writes;
    /* Moves in the table need no stack; other actions may, and a burst of keys has not loaded it.
     */
    const bool moves =
        !leaks->in_stack && (input->action == ACTION_UP || input->action == ACTION_DOWN ||
                             input->action == ACTION_PAGE_UP || input->action == ACTION_PAGE_DOWN);
    leaks_load(leaks, exploration, !moves && !input->more);
    const struct panes panes = panes_lay_out(input->width, input->height, 1, leaks_rows(leaks));
    const struct table_source source = leaks_groups_source(leaks);
    table_settle(&leaks->groups, &source, &panes.main);
    if (!moves)
        leaks_load(leaks, exploration, true);
    bool used = input->action == ACTION_REFRESH;
    if (!used && leaks->data)
        used = act(leaks, exploration, input);
    else if (!used)
        used = input->action != ACTION_BACK;
    write_pattern(leaks, exploration);
    leaks_load(leaks, exploration, !input->more);
    if (leaks->writes != writes) {
        const struct table_source renewed = leaks_groups_source(leaks);
        table_settle(&leaks->groups, &renewed, &panes.main);
        leaks_load(leaks, exploration, !input->more);
    }
    if (leaks->data && leaks->data->note[0] && !leaks->data->noted) {
        leaks->data->noted = true;
        exploration_complain(exploration, "%s", leaks->data->note);
    }
    if (leaks->in_stack && !input->more && (!leaks->stack || leaks->stack->count == 0))
        focus(leaks, false);
    return used;
}

/* ---- text ------------------------------------------------------------------------------- */

static bool copy(void *view, struct exploration *exploration, FILE *out)
{
    const struct leaks *leaks = view;
    const struct session_leak *leak = leaks_selected(leaks);
    char type[1100], bytes[FORMAT_SIZE], size[LEAK_SIZE_TEXT], when[LEAK_SIZE_TEXT];
    (void)exploration;
    if (!leak || !leaks->stack)
        return false;
    fprintf(out, "%s: %s in %" PRIu64 " block%s of %s B, %s, allocated %s\n",
            leaks_kind_name(leaks, leak->kind), format_size(bytes, leak->bytes), leak->blocks,
            format_plural(leak->blocks), leaks_size_text(size, leak),
            leaks_type_text(type, sizeof(type), leaks, leak), leaks_when_text(when, leak));
    for (size_t i = 0; i < leaks->stack->count && i < LEAK_FRAMES; i++) {
        const struct session_frame *frame = &leaks->stack->frames[i];
        fprintf(out, "  %s", session_function_name(leaks->session, frame->function));
        if (frame->line != 0)
            fprintf(out, "  %s:%" PRIu32, frame->file, frame->line);
        fputc('\n', out);
    }
    return true;
}

static bool write_table(void *view, struct exploration *exploration, FILE *out,
                        enum table_format format)
{
    const struct leaks *leaks = view;
    const struct table_source source = leaks_groups_source(leaks);
    (void)exploration;
    if (!leaks->data)
        return false;
    table_write(&source, out, format);
    return true;
}

static const struct key_binding keys[] = {
    {.keys = {KEYCODE_ENTER},
     .action = ACTION_FOLLOW,
     .footer = "list",
     .description = "list the blocks of the group; in the stack: those of this stack"},
    {.keys = {KEYCODE_TAB},
     .action = ACTION_NEXT_PANE,
     .footer = "stack",
     .description = "into the stack, and back"},
    {.keys = {KEYCODE_LEFT},
     .action = ACTION_LEFT,
     .description = "the previous stack of the group"},
    {.keys = {KEYCODE_RIGHT},
     .action = ACTION_RIGHT,
     .footer_keys = "←→",
     .footer = "stacks",
     .description = "the next stack of the group"},
    {.keys = {'X'},
     .action = ACTION_SUPPRESS,
     .footer = "suppress",
     .description = "write a suppression of the group beside the session; again: take it out"},
    {.keys = {'o'}, .action = ACTION_OPEN, .description = "the source of the frame"},
};

const struct view_ops leaks_view = {
    .name = "leaks",
    .title = "Leaks",
    .help = "Blocks that were never freed, by the path that allocated them and by type; all depths "
            "of a recursion are one path. Leaks whose group was complete after the first tenth of "
            "the run are early. Blocks of the runtime and suppressed ones are not leaks.",
    .keys = KEY_TABLE(keys),
    .create = create,
    .destroy = destroy,
    .update = update,
    .render = leaks_render,
    .offers = offers,
    .copy = copy,
    .order = leaks_keep_order,
    .table = write_table,
};
