/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes programs: resolves the names and numbers of a predicate for one session. */
#include "session/filter/program.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/filter/candidates.h"
#include "session/filter/field_names.h"
#include "session/filter/number_list.h"
#include "session/filter/pins.h"
#include "session/filter/regex.h"
#include "session/scan/scan.h"

/* A test of a text: the operator, and the compiled expression for ~ and !~. */
struct text_test {
    const struct filter_test *test;
    bool by_path; /* == compares the last component if the value names no folder */
    bool has_regex;
    regex_t regex;
};

static bool is_regex(const struct filter_test *test)
{
    return test->operator_ == OPERATOR_MATCH || test->operator_ == OPERATOR_NOT_MATCH;
}

static bool text_test_open(struct text_test *text, const struct filter_test *test,
                           struct session_error *error)
{
    *text = (struct text_test){.test = test};
    text->by_path = test->field == FIELD_FILE && test->low.text && !strchr(test->low.text, '/');
    text->has_regex = is_regex(test);
    return !text->has_regex ||
           filter_regex_compile(&text->regex, test->low.text, test->low.column, error);
}

static void text_test_close(struct text_test *text)
{
    if (text->has_regex)
        regfree(&text->regex);
}

/* Returns true if the test holds for a name, NULL for null. Numbers are compared with `id`. */
static bool text_test_holds(const struct text_test *text, const char *name, uint64_t id)
{
    const struct filter_test *test = text->test;
    if (test->operator_ == OPERATOR_IS_NULL || test->operator_ == OPERATOR_IS_NOT_NULL)
        return (!name) == (test->operator_ == OPERATOR_IS_NULL);
    if (!name)
        return false;
    bool equal;
    if (text->has_regex)
        equal = regexec(&text->regex, name, 0, NULL, 0) == 0;
    else if (test->low.is_number)
        equal = id == test->low.number;
    else
        equal = strcmp(text->by_path ? path_last(name) : name, test->low.text) == 0;
    bool negative = test->operator_ == OPERATOR_NOT_EQUAL || test->operator_ == OPERATOR_NOT_MATCH;
    return equal != negative;
}

static bool leaf_table(struct filter_program *leaf, enum column column, uint32_t count,
                       struct session_error *error)
{
    leaf->leaf = LEAF_TABLE;
    leaf->column = column;
    leaf->table = calloc(count, 1);
    return leaf->table || session_fail_memory(error, "the filter");
}

/* Returns true if any value has the name of the test. `table` has the test's truth by value. */
static bool has_name(const struct filter_test *test, const struct field_names *names,
                     const uint8_t *table)
{
    static const char *const words[] = {"exact", "inferred", "candidate", "unknown"};
    const bool differs = test->operator_ == OPERATOR_NOT_EQUAL;
    if (test->operator_ != OPERATOR_EQUAL && test->operator_ != OPERATOR_MATCH && !differs)
        return true;
    for (size_t i = 0; i < 4 && test->field == FIELD_CONFIDENCE; i++) {
        if (test->operator_ != OPERATOR_MATCH && strcmp(test->low.text, words[i]) == 0)
            return true;
    }
    for (uint32_t value = 0; value < names->count; value++) {
        if (table[value] == !differs && names->name[field_names_id(names, value)])
            return true;
    }
    return false;
}

static bool compile_text(struct session *session, const struct filter_test *test,
                         struct filter_program *leaf, struct session_error *error)
{
    struct field_names names;
    struct text_test text;
    if (!text_test_open(&text, test, error))
        return false;
    uint8_t *truth = NULL;
    bool good = field_names_open(session, test->field, test->frame, &names, error);
    if (good) {
        truth = calloc(names.name_count, 1);
        good = truth || session_fail_memory(error, "the filter");
    }
    good = good && leaf_table(leaf, names.column, names.count, error);
    if (good && truth) {
        for (uint32_t id = 0; id < names.name_count; id++)
            truth[id] =
                text_test_holds(&text, names.name[id], names.number ? names.number[id] : id);
        for (uint32_t value = 0; value < names.count; value++)
            leaf->table[value] = truth[field_names_id(&names, value)];
    }
    if (good && !has_name(test, &names, leaf->table))
        leaf->unknown = test;
    free(truth);
    field_names_close(&names);
    text_test_close(&text);
    return good;
}

/* Compiles `has`, ~ and !~ on stacks: tests the functions of all frames. Stack 0 is null. */
static bool compile_frames(struct session *session, const struct filter_test *test,
                           struct filter_program *leaf, struct session_error *error)
{
    const struct stacks *stacks = &session->stacks;
    const struct names *names = &session->names;
    struct filter_test any = *test;
    bool negative = test->operator_ == OPERATOR_NOT_MATCH;
    any.operator_ = test->operator_ == OPERATOR_HAS ? OPERATOR_EQUAL : OPERATOR_MATCH;
    struct text_test text;
    if (!stacks_frames(&session->stacks, error) || !text_test_open(&text, &any, error))
        return false;
    uint8_t *truth = malloc(names->function_count);
    bool good = truth || session_fail_memory(error, "the filter");
    good = good && leaf_table(leaf, test->field == FIELD_STACK ? COLUMN_STACK : COLUMN_FREE_STACK,
                              stacks->count, error);
    for (uint32_t id = 0; good && id < names->function_count; id++)
        truth[id] = id > 0 && text_test_holds(&text, names->function[id].name, id);
    uint8_t *of_node = good ? stacks_with(stacks, truth, error) : NULL;
    good = of_node != NULL;
    bool some = false;
    for (uint32_t stack = 1; good && stack < stacks->count; stack++) {
        const bool found = of_node[stacks_node(stacks, stack)] != 0;
        good = stack % 4096 != 0 || scan_go_on(session, error);
        leaf->table[stack] = found != negative;
        some |= found;
    }
    if (good && !some && !negative)
        leaf->unknown = test;
    free(of_node);
    free(truth);
    text_test_close(&text);
    return good;
}

/* Sets the range of an operator on `value` (and `last` for `in`). Returns false if it is empty. */
static bool range_of(enum filter_operator operator_, uint64_t value, uint64_t last,
                     struct filter_program *leaf)
{
    switch (operator_) {
    case OPERATOR_EQUAL:
    case OPERATOR_NOT_EQUAL:
        leaf->low = leaf->high = value;
        leaf->outside = operator_ == OPERATOR_NOT_EQUAL;
        return true;
    case OPERATOR_LESS:
        leaf->high = value - 1;
        return value != 0;
    case OPERATOR_LESS_EQUAL:
        leaf->high = value;
        return true;
    case OPERATOR_GREATER:
        leaf->low = value + 1;
        return value != UINT64_MAX;
    case OPERATOR_GREATER_EQUAL:
        leaf->low = value;
        return true;
    default:
        leaf->low = value;
        leaf->high = last;
        return value <= last;
    }
}

/* Does the same for a time before the start, as in `alloc_time > start - 1s`. Every time of the
 * session is later. */
static bool range_of_before(enum filter_operator operator_, const struct filter_ns *last,
                            struct filter_program *leaf)
{
    if (operator_ == OPERATOR_IN) {
        leaf->high = last->ns;
        return !last->before;
    }
    return operator_ != OPERATOR_EQUAL && operator_ != OPERATOR_LESS &&
           operator_ != OPERATOR_LESS_EQUAL;
}

/* Turns an operator on a number into the range [low, high], or all values outside it. */
static bool compile_range(const struct session *session, const struct filter_test *test,
                          struct filter_program *leaf, struct session_error *error)
{
    enum filter_type type = filter_fields[test->field].type;
    struct filter_ns value = {.ns = test->low.number};
    struct filter_ns last = {.ns = test->high.number};
    if (type == TYPE_MOMENT || type == TYPE_DURATION) {
        if (!filter_moment_ns(session, &test->low, &value, error))
            return false;
        if (test->operator_ == OPERATOR_IN && !filter_moment_ns(session, &test->high, &last, error))
            return false;
    }
    leaf->low = 0;
    leaf->high = UINT64_MAX;
    bool some = !last.before && (value.before ? range_of_before(test->operator_, &last, leaf)
                                              : range_of(test->operator_, value.ns, last.ns, leaf));
    if (!some) {
        leaf->leaf = LEAF_CONSTANT;
        leaf->low = 0;
    }
    return true;
}

/* Compiles a test of the call site's line, which belongs to the stack. */
static bool compile_line(struct session *session, const struct filter_test *test,
                         struct filter_program *leaf, struct session_error *error)
{
    const struct stacks *stacks = &session->stacks;
    struct filter_program range = {.leaf = LEAF_RANGE};
    bool null = test->operator_ == OPERATOR_IS_NULL;
    if (!null && test->operator_ != OPERATOR_IS_NOT_NULL &&
        !compile_range(session, test, &range, error))
        return false;
    if (test->operator_ == OPERATOR_IS_NOT_NULL)
        range.high = UINT64_MAX;
    if (!leaf_table(leaf, COLUMN_STACK, stacks->count, error))
        return false;
    for (uint32_t stack = 0; stack < stacks->count; stack++) {
        uint32_t line = stacks_call_site(stacks, stack)->line;
        bool inside = range.leaf == LEAF_RANGE && line >= range.low && line <= range.high;
        bool holds = range.leaf == LEAF_RANGE && inside != range.outside;
        leaf->table[stack] = null ? line == 0 : line != 0 && holds;
    }
    return true;
}

static bool compile_number(const struct session *session, const struct filter_test *test,
                           struct filter_program *leaf, struct session_error *error)
{
    static const struct {
        enum filter_field field;
        enum leaf_kind leaf;
        enum column column;
    } sources[] = {
        {FIELD_SIZE, LEAF_RANGE, COLUMN_SIZE},
        {FIELD_COUNT, LEAF_RANGE, COLUMN_COUNT_OF_OBJECTS},
        {FIELD_ADDRESS, LEAF_RANGE, COLUMN_ADDRESS},
        {FIELD_ALLOC_TIME, LEAF_RANGE, COLUMN_ALLOC_NS},
        {FIELD_STACK, LEAF_RANGE, COLUMN_STACK},
        {FIELD_FREE_STACK, LEAF_RANGE, COLUMN_FREE_STACK},
        {FIELD_FREE_TIME, LEAF_FREE_TIME, COLUMN_LIFE_NS},
        {FIELD_LIFETIME, LEAF_LIFETIME, COLUMN_LIFE_NS},
        {FIELD_ID, LEAF_ID, COLUMN_ADDRESS},
    };
    size_t i = 0;
    while (sources[i].field != test->field)
        i++;
    leaf->leaf = sources[i].leaf;
    leaf->column = sources[i].column;
    bool nullable = test->field == FIELD_FREE_TIME || test->field == FIELD_STACK ||
                    test->field == FIELD_FREE_STACK;
    if (test->operator_ == OPERATOR_IS_NULL || test->operator_ == OPERATOR_IS_NOT_NULL) {
        /* Null is 0 in the columns of lives and stacks. */
        leaf->outside = test->operator_ == OPERATOR_IS_NOT_NULL;
        leaf->leaf = nullable ? LEAF_RANGE : LEAF_CONSTANT;
        leaf->low = nullable ? 0 : leaf->outside;
        leaf->high = 0;
        return true;
    }
    return compile_range(session, test, leaf, error);
}

/* Compiles a test of a stack, as in stack == 5. Ids count from 1: null is never equal and never
 * different. */
static bool compile_stack(struct session *session, const struct filter_test *test,
                          struct filter_program *leaf, struct session_error *error)
{
    bool null = test->operator_ == OPERATOR_IS_NULL || test->operator_ == OPERATOR_IS_NOT_NULL;
    if (null)
        return compile_number(session, test, leaf, error);
    if (!test->low.is_number &&
        (test->operator_ == OPERATOR_EQUAL || test->operator_ == OPERATOR_NOT_EQUAL))
        return session_fail(error, test->low.column,
                            "a stack has no name: compare its number, or use \"has\" or ~");
    if (!test->low.is_number)
        return compile_frames(session, test, leaf, error);
    if (!leaf_table(leaf, test->field == FIELD_STACK ? COLUMN_STACK : COLUMN_FREE_STACK,
                    session->stacks.count, error))
        return false;
    for (uint32_t stack = 1; stack < session->stacks.count; stack++)
        leaf->table[stack] = (stack == test->low.number) == (test->operator_ == OPERATOR_EQUAL);
    return true;
}

static bool compile_color(const struct filter_test *test, const struct filter_colors *colors,
                          struct filter_program *leaf, struct session_error *error)
{
    if (!leaf_table(leaf, COLUMN_SIZE, FILTER_COLOR_STEPS + 1, error))
        return false;
    leaf->leaf = LEAF_COLOR;
    for (size_t step = 0; step <= colors->count; step++) {
        bool equal = step > 0 && (uint64_t)colors->step[step].number == test->low.number;
        switch (test->operator_) {
        case OPERATOR_IS_NULL:
            leaf->table[step] = step == 0;
            break;
        case OPERATOR_IS_NOT_NULL:
            leaf->table[step] = step > 0;
            break;
        case OPERATOR_EQUAL:
            leaf->table[step] = equal;
            break;
        default:
            leaf->table[step] = step > 0 && !equal;
            break;
        }
    }
    return true;
}

static bool compile_freed(const struct filter_test *test, struct filter_program *leaf)
{
    leaf->leaf = LEAF_RANGE;
    leaf->column = COLUMN_LIFE_NS;
    leaf->outside = (test->low.number != 0) == (test->operator_ == OPERATOR_EQUAL);
    if (test->operator_ == OPERATOR_IS_NULL || test->operator_ == OPERATOR_IS_NOT_NULL) {
        leaf->leaf = LEAF_CONSTANT;
        leaf->low = test->operator_ == OPERATOR_IS_NOT_NULL;
    }
    return true;
}

/* The stacks of such frees are those of this state. */
static bool compile_collected(const struct session *session, const struct filter_test *test,
                              struct filter_program *leaf, struct session_error *error)
{
    const bool wanted = (test->low.number != 0) == (test->operator_ == OPERATOR_EQUAL);
    if (test->operator_ == OPERATOR_IS_NULL || test->operator_ == OPERATOR_IS_NOT_NULL) {
        leaf->leaf = LEAF_CONSTANT;
        leaf->low = test->operator_ == OPERATOR_IS_NOT_NULL;
        return true;
    }
    if (!leaf_table(leaf, COLUMN_FREE_STACK, session->stacks.count, error))
        return false;
    for (uint32_t stack = 0; stack < session->stacks.count; stack++)
        leaf->table[stack] = stacks_by_collector(&session->stacks, stack) == wanted;
    return true;
}

static bool compile_crossed(const struct filter_test *test, struct filter_program *leaf)
{
    leaf->leaf = LEAF_CROSSED;
    leaf->outside = (test->low.number != 0) != (test->operator_ == OPERATOR_EQUAL);
    if (test->operator_ == OPERATOR_IS_NULL || test->operator_ == OPERATOR_IS_NOT_NULL) {
        leaf->leaf = LEAF_CONSTANT;
        leaf->low = test->operator_ == OPERATOR_IS_NOT_NULL;
    }
    return true;
}

/* Compiles a test of pins. The parser made sure that there is a time. */
static bool compile_pins(struct session *session, const struct filter_test *test,
                         struct filter_program *leaf, struct session_error *error)
{
    struct filter_live live;
    leaf->leaf = LEAF_PINS;
    if (test->operator_ == OPERATOR_IS_NULL || test->operator_ == OPERATOR_IS_NOT_NULL) {
        leaf->leaf = LEAF_CONSTANT;
        leaf->low = test->operator_ == OPERATOR_IS_NOT_NULL;
        return true;
    }
    if (!compile_range(session, test, leaf, error))
        return false;
    if (leaf->leaf != LEAF_PINS)
        return true;
    return filter_live_time(session, test->moment, &live, error) &&
           (leaf->pins = pins_find(session, &live, error)) != NULL;
}

/*
 * Compiles a test of the confidence for which the word "candidate" holds: of a type with such a
 * word, or of unknown type (0) with candidates. A block of that kind has both words.
 */
static bool compile_candidate(struct session *session, const struct filter_test *test,
                              struct filter_program *leaf, struct session_error *error)
{
    const struct names *names = &session->names;
    struct filter_test positive = *test;
    struct text_test text;
    positive.operator_ = is_regex(test) ? OPERATOR_MATCH : OPERATOR_EQUAL;
    if (!text_test_open(&text, &positive, error))
        return false;
    const bool good = leaf_table(leaf, COLUMN_TYPE, names->type.count, error);
    for (uint32_t type = 0; good && type < names->type.count; type++)
        leaf->table[type] = text_test_holds(&text, names->confidence[type], type);
    text_test_close(&text);
    leaf->leaf = LEAF_CANDIDATE;
    leaf->outside = test->operator_ != positive.operator_;
    leaf->candidates = good ? candidates_load(session->database, error) : NULL;
    return leaf->candidates != NULL;
}

/* Returns true if a block's candidates matter for a test: the word or the expression fits them. */
static bool is_candidate(const struct filter_test *test)
{
    const bool equal = test->operator_ == OPERATOR_EQUAL || test->operator_ == OPERATOR_NOT_EQUAL;
    regex_t regex;
    struct session_error ignored;
    if (test->field != FIELD_CONFIDENCE || (!equal && !is_regex(test)))
        return false;
    if (equal)
        return strcmp(test->low.text, "candidate") == 0;
    if (!filter_regex_compile(&regex, test->low.text, test->low.column, &ignored))
        return false; /* the compiler of the test says so */
    const bool matches = regexec(&regex, "candidate", 0, NULL, 0) == 0;
    regfree(&regex);
    return matches;
}

/* Compiles `field in (…)`. Stacks are few: a table has the truth of each. */
static bool compile_list(const struct session *session, const struct filter_test *test,
                         struct filter_program *leaf, struct session_error *error)
{
    struct number_list *list = number_list_new(test->items);
    leaf->list = list;
    if (!list)
        return session_fail_memory(error, "the filter");
    leaf->leaf = test->field == FIELD_ID ? LEAF_LIST_ID : LEAF_LIST;
    leaf->column = test->field == FIELD_ADDRESS ? COLUMN_ADDRESS
                   : test->field == FIELD_COUNT ? COLUMN_COUNT_OF_OBJECTS
                                                : COLUMN_SIZE;
    if (test->field != FIELD_STACK && test->field != FIELD_FREE_STACK)
        return true;
    if (!leaf_table(leaf, test->field == FIELD_STACK ? COLUMN_STACK : COLUMN_FREE_STACK,
                    session->stacks.count, error))
        return false;
    for (uint32_t stack = 1; stack < session->stacks.count; stack++)
        leaf->table[stack] = number_list_has(list, stack);
    return true;
}

static bool compile_test(struct session *session, const struct filter_test *test,
                         const struct filter_colors *colors, struct filter_program *leaf,
                         struct session_error *error)
{
    if (is_candidate(test))
        return compile_candidate(session, test, leaf, error);
    if (test->operator_ == OPERATOR_IN_LIST)
        return compile_list(session, test, leaf, error);
    switch (test->field) {
    case FIELD_PINS:
        return compile_pins(session, test, leaf, error);
    case FIELD_STACK:
    case FIELD_FREE_STACK:
        return compile_stack(session, test, leaf, error);
    case FIELD_LINE:
        return compile_line(session, test, leaf, error);
    case FIELD_FREED:
        return compile_freed(test, leaf);
    case FIELD_COLLECTED:
        return compile_collected(session, test, leaf, error);
    case FIELD_CROSSED:
        return compile_crossed(test, leaf);
    case FIELD_COLOR:
        return compile_color(test, colors, leaf, error);
    case FIELD_SIZE:
    case FIELD_COUNT:
    case FIELD_ADDRESS:
    case FIELD_ALLOC_TIME:
    case FIELD_FREE_TIME:
    case FIELD_LIFETIME:
    case FIELD_ID:
        return compile_number(session, test, leaf, error);
    default:
        return compile_text(session, test, leaf, error);
    }
}

struct filter_program *filter_program_new(struct session *session,
                                          const struct filter_predicate *predicate,
                                          const struct filter_colors *colors,
                                          struct session_error *error)
{
    struct filter_program *program = calloc(1, sizeof(*program));
    if (!program) {
        session_fail_memory(error, "the filter");
        return NULL;
    }
    program->kind = predicate->kind;
    bool good = true;
    if (predicate->kind == PREDICATE_TEST) {
        good = compile_test(session, &predicate->test, colors, program, error);
    } else {
        program->left = filter_program_new(session, predicate->left, colors, error);
        good = program->left != NULL;
        if (good && predicate->kind != PREDICATE_NOT) {
            program->right = filter_program_new(session, predicate->right, colors, error);
            good = program->right != NULL;
        }
    }
    if (!good) {
        filter_program_free(program);
        return NULL;
    }
    return program;
}

void filter_program_free(struct filter_program *program)
{
    if (!program)
        return;
    filter_program_free(program->left);
    filter_program_free(program->right);
    free(program->table);
    pins_free(program->pins);
    candidates_free(program->candidates);
    free(program->list);
    free(program);
}
