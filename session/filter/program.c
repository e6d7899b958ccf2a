/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes programs: resolves the names and numbers of a predicate for one session. */
#include "session/filter/program.h"

#include <stdlib.h>
#include <string.h>

#include "schemas/array.h"
#include "session/filter/field_names.h"
#include "session/filter/pins.h"
#include "session/filter/references.h"
#include "session/filter/warning.h"
#include "session/store/database.h"
#include "session/store/error.h"
#include "session/store/scan.h"
#include "session/store/session_state.h"
#include "session/time.h"

/* ---- candidates ---- */

struct place {
    uint64_t stack, size;
};

struct candidates {
    struct place *places; /* by stack and size */
    size_t count, capacity;
};

static bool add_place(void *context, const struct database_row *row, struct session_error *error)
{
    struct candidates *candidates = context;
    if (!ARRAY_GROW(candidates->places, candidates->count, candidates->capacity))
        return session_fail_memory(error, "the candidates of types");
    candidates->places[candidates->count++] =
        (struct place){(uint64_t)database_number(row, 0), (uint64_t)database_number(row, 1)};
    return true;
}

ARRAY_ORDER(compare_places, struct place, ORDER(a->stack, b->stack) ?: ORDER(a->size, b->size))

static void candidates_free(struct candidates *candidates)
{
    if (!candidates)
        return;
    FREE_ALL(candidates->places, candidates);
}

/* Reads the table. Returns NULL with `error` set. */
static struct candidates *candidates_load(struct database *database, struct session_error *error)
{
    struct candidates *candidates = calloc(1, sizeof(*candidates));
    if (!candidates)
        return session_fail_memory_null(error, "the candidates of types");
    if (!database_each(database, "SELECT DISTINCT stack_id, size FROM type_candidate", add_place,
                       candidates, error)) {
        candidates_free(candidates);
        return NULL;
    }
    if (candidates->count > 0)
        qsort(candidates->places, candidates->count, sizeof(*candidates->places), compare_places);
    return candidates;
}

bool candidates_have(const struct candidates *candidates, uint64_t stack, uint64_t size)
{
    const struct place place = {stack, size};
    return candidates->count > 0 &&
           bsearch(&place, candidates->places, candidates->count, sizeof(place), compare_places);
}

/* ---- number list ---- */

ARRAY_ORDER(compare, struct number_range, ORDER(a->low, b->low))

/* Makes a list, which the caller frees by free(). Returns NULL if memory is exhausted. */
static struct number_list *number_list_new(const struct filter_item *items)
{
    size_t count = 0, kept = 0;
    for (const struct filter_item *item = items; item; item = item->next)
        count++;
    struct number_list *list = malloc(sizeof(*list) + count * sizeof(list->ranges[0]));
    if (!list)
        return NULL;
    struct number_range *ranges = list->ranges;
    count = 0;
    for (const struct filter_item *item = items; item; item = item->next)
        if (item->low <= item->high)
            ranges[count++] = (struct number_range){item->low, item->high};
    qsort(ranges, count, sizeof(*ranges), compare);
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 &&
            (ranges[kept - 1].high == UINT64_MAX || ranges[i].low <= ranges[kept - 1].high + 1)) {
            if (ranges[i].high > ranges[kept - 1].high)
                ranges[kept - 1].high = ranges[i].high;
        } else {
            ranges[kept++] = ranges[i];
        }
    }
    list->count = kept;
    return list;
}

size_t number_list_from(const struct number_list *list, uint64_t number)
{
    size_t low = 0;
    ARRAY_BISECT(low, list->count, list->ranges[middle].high < number);
    return low;
}

bool number_list_has(const struct number_list *list, uint64_t number)
{
    const size_t i = number_list_from(list, number);
    return i < list->count && list->ranges[i].low <= number;
}

/* ---- regex ---- */

/* The time of regcomp() grows faster than the number of atoms if some may match nothing: ()+ eleven
 * times around a*b*, 6000 atoms, takes seconds. */
enum { LENGTH_MAX = 512, COST_MAX = 10000, COST_MAX_EMPTY = 1000 };

/* The size of an expression with its repetitions written out, as regcomp() compiles it: a+ is aa*,
 * a{3} is aaa, and (a+)+ or a++ doubles twice. Counts the atoms of the open groups on a stack,
 * innermost last. */
struct cost {
    unsigned long total[LENGTH_MAX + 1]; /* of a group without its last atom */
    unsigned long last[LENGTH_MAX + 1];  /* the last atom, which a repetition would repeat */
    size_t depth;
};

static void cost_atom(struct cost *cost, unsigned long atom)
{
    cost->total[cost->depth] += cost->last[cost->depth];
    cost->last[cost->depth] = atom;
}

/* Returns the end of the bracket expression that begins at `at`. A "]" that comes first, and
 * [:classes:], belong to it. */
static const char *skip_bracket(const char *at)
{
    at += at[1] == '^' ? 2 : 1;
    at += *at == ']' ? 1 : 0;
    while (*at != '\0' && *at != ']') {
        if (*at == '[' && at[1] != '\0' && strchr(":.=", at[1])) {
            const char close[] = {at[1], ']', '\0'};
            const char *end = strstr(at + 2, close);
            at = end ? end + 1 : at;
        }
        at++;
    }
    return *at == '\0' ? at - 1 : at;
}

/* Counts the repetition at `at`, "+" or "{". Returns its end. */
static const char *cost_repeat(struct cost *cost, const char *at)
{
    unsigned long repeat = 2;
    if (*at == '{') {
        char *end;
        unsigned long low = strtoul(at + 1, &end, 10);
        unsigned long high = *end == ',' ? strtoul(end + 1, &end, 10) : low;
        repeat = high > low ? high : low;
        repeat = repeat > COST_MAX ? COST_MAX : repeat + 1;
        at = *end == '}' ? end : at;
    }
    unsigned long last = cost->last[cost->depth];
    last = last * repeat;
    cost->last[cost->depth] = last > COST_MAX ? COST_MAX + 1 : last;
    return at;
}

static const char *regex_refusal(const char *text)
{
    struct cost cost = {.depth = 0};
    bool may_be_empty = strpbrk(text, "*?{|") || strstr(text, "()");
    unsigned long most = may_be_empty ? COST_MAX_EMPTY : COST_MAX;
    if (strlen(text) > LENGTH_MAX)
        return "longer than 512 bytes";
    for (const char *at = text; *at != '\0'; at++) {
        if (*at == '\\' && at[1] != '\0') {
            at++;
            if (*at >= '0' && *at <= '9')
                return "a back reference, which extended expressions do not have";
            cost_atom(&cost, 1);
        } else if (*at == '(') {
            cost.depth++;
            cost.total[cost.depth] = 1;
            cost.last[cost.depth] = 0;
        } else if (*at == ')' && cost.depth > 0) {
            unsigned long group = cost.total[cost.depth] + cost.last[cost.depth];
            cost.depth--;
            cost_atom(&cost, group);
        } else if (*at == '+' || *at == '{') {
            at = cost_repeat(&cost, at);
        } else if (*at != '*' && *at != '?') {
            if (*at == '[')
                at = skip_bracket(at);
            cost_atom(&cost, 1);
        }
        if (cost.total[cost.depth] + cost.last[cost.depth] > most)
            return may_be_empty ? "repetitions that multiply to more than 1000"
                                : "repetitions that multiply to more than 10000";
    }
    return NULL;
}

bool filter_regex_compile(regex_t *regex, const char *text, int column, struct session_error *error)
{
    const char *refusal = regex_refusal(text);
    if (refusal)
        return session_fail(error, column, "bad regular expression: %s", refusal);
    int status = regcomp(regex, text, REG_EXTENDED | REG_NOSUB);
    if (status == 0)
        return true;
    char reason[128];
    regerror(status, regex, reason, sizeof(reason));
    return session_fail(error, column, "bad regular expression: %s", reason);
}

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
    *text = (struct text_test){.test = test, .has_regex = is_regex(test)};
    if (text->has_regex)
        return filter_regex_compile(&text->regex, test->low.text, test->low.column, error);
    text->by_path = test->field == FIELD_FILE && test->low.text && !strchr(test->low.text, '/');
    return true;
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
        equal = strcmp(text->by_path ? basename(name) : name, test->low.text) == 0;
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
    for (size_t i = 0; i < 4 && test->field == FIELD_CONFIDENCE; i++)
        if (test->operator_ != OPERATOR_MATCH && strcmp(test->low.text, words[i]) == 0)
            return true;
    for (uint32_t value = 0; value < names->count; value++)
        if (table[value] == !differs && names->name[field_names_id(names, value)])
            return true;
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
    FREE_ALL(of_node, truth);
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

/* Compiles stack == 5. Ids count from 1: null is never equal and never different. */
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
        leaf->table[stack] = session_stack_by_collector(session, stack) == wanted;
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

/* Compiles a test that `pins` are known, or that they are not. */
static bool compile_known(const struct filter_test *test, struct pins *pins,
                          struct filter_program *leaf, struct session_error *error)
{
    const struct filter_program known = {
        .kind = PREDICATE_TEST, .leaf = LEAF_PINS, .high = UINT64_MAX, .pins = pins};
    *leaf = known;
    if (test->operator_ == OPERATOR_IS_NOT_NULL)
        return true;
    *leaf = (struct filter_program){.kind = PREDICATE_NOT, .left = malloc(sizeof(known))};
    if (!leaf->left) {
        pins_free(pins);
        return session_fail_memory(error, "the filter");
    }
    *leaf->left = known;
    return true;
}

/* Compiles a test of the words of a block's reachability. A block that a root refers to has two. */
static bool compile_words(const struct filter_test *test, struct pins *pins,
                          struct filter_program *leaf, struct session_error *error)
{
    const bool negative =
        test->operator_ == OPERATOR_NOT_EQUAL || test->operator_ == OPERATOR_NOT_MATCH;
    struct text_test text;
    bool known = is_regex(test);
    leaf->leaf = LEAF_PINS;
    leaf->pins = pins;
    if (!(leaf->table = calloc(REACHABILITY_WORDS, 1)))
        return session_fail_memory(error, "the filter");
    if (!text_test_open(&text, test, error))
        return false;
    for (size_t i = 0; i < REACHABILITY_WORDS; i++) {
        leaf->table[i] = text_test_holds(&text, reachability_words[i], i);
        known |= strcmp(reachability_words[i], test->low.text) == 0;
    }
    const uint8_t root = leaf->table[REACHABILITY_ROOT], held = leaf->table[REACHABILITY_REACHABLE];
    leaf->table[REACHABILITY_ROOT] = negative ? root && held : root || held;
    if (!known)
        leaf->unknown = test;
    text_test_close(&text);
    return true;
}

/* Compiles a test of a field whose values pins_find() finds. */
static bool compile_pins(struct session *session, const struct filter_test *test,
                         struct filter_program *leaf, struct session_error *error)
{
    struct filter_live live;
    leaf->leaf = LEAF_PINS;
    const bool null =
        test->operator_ == OPERATOR_IS_NULL || test->operator_ == OPERATOR_IS_NOT_NULL;
    const bool words = test->field == FIELD_REACHABILITY;
    if (!null && !words && !compile_range(session, test, leaf, error))
        return false;
    if (leaf->leaf != LEAF_PINS && !filter_field_of_snapshot(test->field))
        return true;
    if (!filter_live_time(session, test->moment, &live, error))
        return false;
    struct pins *pins = pins_find(session, test->field, test->column, &live, error);
    if (pins && null)
        return compile_known(test, pins, leaf, error);
    if (pins && words)
        return compile_words(test, pins, leaf, error);
    leaf->pins = pins;
    return pins != NULL;
}

/* Compiles a test of the confidence for which the word "candidate" holds: of a type with such a
 * word, or of unknown type (0) with candidates. A block of that kind has both words. */
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
    case FIELD_RESIDENT:
    case FIELD_REACHABILITY:
    case FIELD_RETAINED:
    case FIELD_REFERENCES:
    case FIELD_DOMINATOR:
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
    if (!program)
        return session_fail_memory_null(error, "the filter");
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
    FREE_ALL(program->list, program);
}

/* ---- computes the times of a filter for one session ---- */

static bool mark_ns(const struct session *session, const struct filter_value *value, uint64_t *ns,
                    struct session_error *error)
{
    const struct names *names = &session->names;
    struct suggestion like;
    char text[SUGGEST_TEXT];
    suggest_words(&like, value->text, strlen(value->text));
    suggest_offer(&like, "start");
    suggest_offer(&like, "peak");
    suggest_offer(&like, "end");
    for (size_t i = 0; i < names->mark_count; i++) {
        if (strcmp(names->marks[i].name, value->text) == 0) {
            *ns = names->marks[i].ns;
            return true;
        }
        suggest_offer(&like, names->marks[i].name);
    }
    return session_fail(error, value->column, "this session has no mark named \"%.60s\"%s",
                        value->text, suggest_text(&like, text));
}

/* Returns how long the selected process ran, or all of them. */
static uint64_t run_ns(const struct session *session)
{
    const uint64_t start = session_start_ns(session);
    return session->duration_ns > start ? session->duration_ns - start : 0;
}

static bool term_ns(const struct session *session, const struct filter_value *value, uint64_t *ns,
                    struct session_error *error)
{
    switch (value->moment) {
    case MOMENT_START:
        *ns = session_start_ns(session);
        return true;
    case MOMENT_PEAK:
        *ns = session->peak_ns;
        return true;
    case MOMENT_END:
        *ns = session->duration_ns;
        return true;
    case MOMENT_PERCENT: {
        const unsigned __int128 part =
            (unsigned __int128)run_ns(session) * value->number / 1000000000;
        *ns = part > UINT64_MAX ? UINT64_MAX : (uint64_t)part;
        return true;
    }
    case MOMENT_MARK:
        return mark_ns(session, value, ns, error);
    default:
        *ns = value->number;
        return true;
    }
}

bool filter_moment_ns(const struct session *session, const struct filter_value *value,
                      struct filter_ns *time, struct session_error *error)
{
    *time = (struct filter_ns){.ns = 0};
    if (value->moment != MOMENT_SUM)
        return term_ns(session, value, &time->ns, error);
    __int128 sum = 0;
    for (const struct filter_time_term *term = value->terms; term; term = term->next) {
        uint64_t ns = 0;
        if (!term_ns(session, &term->value, &ns, error))
            return false;
        sum += term->negative ? -(__int128)ns : (__int128)ns;
    }
    time->before = sum < 0;
    if (sum > 0)
        time->ns = sum > UINT64_MAX ? UINT64_MAX : (uint64_t)sum;
    return true;
}

bool filter_live_time(const struct session *session, const struct filter_value *value,
                      struct filter_live *live, struct session_error *error)
{
    live->end = !value || value->moment == MOMENT_END;
    live->time = (struct filter_ns){.ns = session->duration_ns};
    return !value || filter_moment_ns(session, value, &live->time, error);
}

struct filter_program filter_live_program(const struct filter_live *live)
{
    if (live->end)
        return (struct filter_program){
            .kind = PREDICATE_TEST, .leaf = LEAF_RANGE, .column = COLUMN_LIFE_NS};
    if (live->time.before) /* a constant 0 */
        return (struct filter_program){.kind = PREDICATE_TEST, .leaf = LEAF_CONSTANT};
    return (struct filter_program){
        .kind = PREDICATE_TEST, .leaf = LEAF_LIVE_AT, .low = live->time.ns};
}

/* Computes a time or a duration that is not below 0; `below` is the message if it is. */
static bool text_ns(const struct session *session, const char *text, enum filter_type type,
                    const char *below, uint64_t *ns, struct session_error *error)
{
    struct filter_value value;
    struct filter_ns time = {.ns = 0};
    struct filter_graph *graph = filter_parse_time(text, type, &value, error);
    bool good = graph && filter_moment_ns(session, &value, &time, error);
    if (good && time.before)
        good = session_fail(error, 1, "%s", below);
    filter_graph_free(graph);
    *ns = time.ns;
    return good;
}

bool session_moment(const struct session *session, const char *text, uint64_t *ns,
                    struct session_error *error)
{
    return text_ns(session, text, TYPE_MOMENT, "this time lies before the start", ns, error);
}

bool session_duration(const struct session *session, const char *text, uint64_t *ns,
                      struct session_error *error)
{
    return text_ns(session, text, TYPE_DURATION, "this duration is below 0", ns, error);
}
