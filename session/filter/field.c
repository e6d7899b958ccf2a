/* SPDX-License-Identifier: BSD-2-Clause */
/* The fields: their types, and which rows have them. */
#include <stdio.h>
#include <string.h>

#include "session/filter/parser.h"

const struct filter_field_description filter_fields[FIELD_TOTAL] = {
    [FIELD_SIZE] = {"size", TYPE_SIZE, SESSION_COLOR_SIZE},
    [FIELD_COUNT] = {"count", TYPE_NUMBER, -1},
    [FIELD_ADDRESS] = {"address", TYPE_NUMBER, -1},
    [FIELD_TYPE] = {"type", TYPE_TEXT, SESSION_COLOR_TYPE},
    [FIELD_CONFIDENCE] = {"confidence", TYPE_TEXT, -1},
    [FIELD_FUNCTION] = {"function", TYPE_TEXT, SESSION_COLOR_FUNCTION},
    [FIELD_CALLER] = {"caller", TYPE_TEXT, -1},
    [FIELD_STACK] = {"stack", TYPE_TEXT_OR_NUMBER, -1},
    [FIELD_FREE_STACK] = {"free_stack", TYPE_TEXT_OR_NUMBER, -1},
    [FIELD_FREE_THREAD] = {"free_thread", TYPE_TEXT_OR_NUMBER, -1},
    [FIELD_CROSSED] = {"crossed", TYPE_BOOLEAN, -1},
    [FIELD_FILE] = {"file", TYPE_TEXT, -1},
    [FIELD_LINE] = {"line", TYPE_NUMBER, -1},
    [FIELD_MODULE] = {"module", TYPE_TEXT, SESSION_COLOR_MODULE},
    [FIELD_THREAD] = {"thread", TYPE_TEXT_OR_NUMBER, SESSION_COLOR_THREAD},
    [FIELD_PROCESS] = {"process", TYPE_TEXT_OR_NUMBER, -1},
    [FIELD_ARENA] = {"arena", TYPE_TEXT_OR_NUMBER, -1},
    [FIELD_KIND] = {"kind", TYPE_TEXT, SESSION_COLOR_KIND},
    [FIELD_ALLOC_TIME] = {"alloc_time", TYPE_MOMENT, SESSION_COLOR_AGE},
    [FIELD_FREE_TIME] = {"free_time", TYPE_MOMENT, -1},
    [FIELD_LIFETIME] = {"lifetime", TYPE_DURATION, SESSION_COLOR_LIFETIME},
    [FIELD_FREED] = {"freed", TYPE_BOOLEAN, -1},
    [FIELD_COLLECTED] = {"collected", TYPE_BOOLEAN, -1},
    [FIELD_ID] = {"id", TYPE_NUMBER, -1},
    [FIELD_COLOR] = {"color", TYPE_COLOR, -1},
    [FIELD_USER] = {"user", TYPE_TEXT, SESSION_COLOR_USER},
    [FIELD_OWNER] = {"owner", TYPE_TEXT, SESSION_COLOR_OWNER},
    [FIELD_FRAME] = {"frame", TYPE_TEXT, -1},
    [FIELD_PINS] = {"pins", TYPE_SIZE, -1},
    [FIELD_PATH] = {"path", TYPE_TEXT, -1},
    [FIELD_ALLOCATIONS] = {"allocations", TYPE_NUMBER, -1},
    [FIELD_BYTES] = {"bytes", TYPE_SIZE, -1},
    [FIELD_OBJECTS] = {"objects", TYPE_NUMBER, -1},
    [FIELD_LIVE_BYTES] = {"live_bytes", TYPE_SIZE, -1},
    [FIELD_LIVE_COUNT] = {"live_count", TYPE_NUMBER, -1},
    [FIELD_AT_PEAK_BYTES] = {"at_peak_bytes", TYPE_SIZE, -1},
    [FIELD_PEAK_BYTES] = {"peak_bytes", TYPE_SIZE, -1},
    [FIELD_AVG_SIZE] = {"avg_size", TYPE_SIZE, -1},
    [FIELD_AVG_LIFETIME] = {"avg_lifetime", TYPE_DURATION, -1},
    [FIELD_MIN_SIZE] = {"min_size", TYPE_SIZE, -1},
    [FIELD_MAX_SIZE] = {"max_size", TYPE_SIZE, -1},
    [FIELD_MIN_LIFETIME] = {"min_lifetime", TYPE_DURATION, -1},
    [FIELD_MAX_LIFETIME] = {"max_lifetime", TYPE_DURATION, -1},
    [FIELD_FIRST_TIME] = {"first_time", TYPE_MOMENT, -1},
    [FIELD_LAST_TIME] = {"last_time", TYPE_MOMENT, -1},
    [FIELD_BORN_OVER] = {"born_over", TYPE_DURATION, -1},
    [FIELD_DIED_OVER] = {"died_over", TYPE_DURATION, -1},
    [FIELD_RISES] = {"rises", TYPE_NUMBER, -1},
    [FIELD_CLIMB] = {"climb", TYPE_NUMBER, -1},
    [FIELD_REPLACED] = {"replaced", TYPE_NUMBER, -1},
    [FIELD_TURNOVER] = {"turnover", TYPE_NUMBER, -1},
    [FIELD_WASTED] = {"wasted", TYPE_SIZE, -1},
    [FIELD_SHARE] = {"share", TYPE_NUMBER, -1},
};

/* Returns true if the field is one of the groups' keys. */
static bool is_key(const struct filter_pipeline *rows, const struct filter_field_use *use)
{
    for (size_t i = 0; i < rows->key_count; i++) {
        if (rows->keys[i].field == use->field && rows->keys[i].frame == use->frame)
            return true;
    }
    return false;
}

static bool has_field(const struct filter_pipeline *rows, const struct filter_field_use *use)
{
    if (rows->kind == KIND_GROUPS)
        return filter_field_of_groups(use->field) || use->field == FIELD_COLOR || is_key(rows, use);
    if (use->field == FIELD_PINS)
        return rows->moment != NULL;
    return rows->kind == KIND_ALLOCATIONS && !filter_field_of_groups(use->field) &&
           use->field != FIELD_PATH;
}

bool filter_check_field(struct filter_parser *parser, const struct filter_field_use *use)
{
    const struct filter_pipeline *rows = parser->rows;
    const char *name = filter_fields[use->field].name;
    if (has_field(rows, use))
        return true;
    if (use->field == FIELD_PATH)
        return filter_fail(parser, use->column, "path is a field of the groups that fold makes");
    if (rows->kind != KIND_GROUPS && use->field == FIELD_PINS)
        return filter_fail(parser, use->column,
                           "pins needs the time at which the blocks were live: begin with "
                           "\"live at …\"");
    if (rows->kind != KIND_GROUPS)
        return filter_fail(parser, use->column, "%s is a field of groups, which only a join makes",
                           name);
    return filter_fail(parser, use->column,
                       "%s is a field of allocations, and these are groups: join %s, too, or use "
                       "a field of groups (allocations, bytes, live_bytes, …)",
                       name, name);
}

bool filter_parse_field(struct filter_parser *parser, struct filter_field_use *use)
{
    *use = (struct filter_field_use){.column = parser->token.column};
    struct suggestion names;
    filter_suggest(parser, &names);
    for (int i = 0; i < FIELD_TOTAL; i++) {
        use->field = (enum filter_field)i;
        if (token_is(&parser->token, filter_fields[i].name)) {
            filter_advance(parser);
            uint64_t frame = 0;
            int column = parser->token.column;
            if (i == FIELD_FRAME && !filter_parse_count(parser, &frame))
                return false;
            if (frame > UINT32_MAX)
                return filter_fail(parser, column, "no stack has so many frames");
            use->frame = (uint32_t)frame;
            return filter_check_field(parser, use);
        }
        if (has_field(parser->rows, use))
            suggest_offer(&names, filter_fields[i].name);
    }
    bool groups = parser->rows->kind == KIND_GROUPS;
    return filter_expected_name(parser,
                                groups ? "a field of groups (allocations, bytes, live_bytes, …)"
                                       : "a field (size, function, thread, lifetime, …)",
                                &names);
}
