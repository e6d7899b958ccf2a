/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/keys/action_names.h"

#include <stddef.h>
#include <string.h>

static const char *const names[] = {
    [ACTION_NONE] = "none",
    [ACTION_LEFT] = "left",
    [ACTION_RIGHT] = "right",
    [ACTION_UP] = "up",
    [ACTION_DOWN] = "down",
    [ACTION_PAGE_UP] = "page-up",
    [ACTION_PAGE_DOWN] = "page-down",
    [ACTION_HOME] = "home",
    [ACTION_END] = "end",
    [ACTION_FOLLOW] = "deeper",
    [ACTION_BACK] = "back",
    [ACTION_NEXT_PANE] = "next-pane",
    [ACTION_PREVIOUS_PANE] = "previous-pane",
    [ACTION_ZOOM_IN] = "zoom-in",
    [ACTION_ZOOM_OUT] = "zoom-out",
    [ACTION_ZOOM_ALL] = "zoom-all",
    [ACTION_PAN_LEFT] = "pan-left",
    [ACTION_PAN_RIGHT] = "pan-right",
    [ACTION_STEP_BACK] = "step-back",
    [ACTION_STEP_FORWARD] = "step-forward",
    [ACTION_PLAY] = "play",
    [ACTION_SLOWER] = "slower",
    [ACTION_FASTER] = "faster",
    [ACTION_RANGE] = "range",
    [ACTION_DIFF] = "diff",
    [ACTION_STACK_BY] = "stack",
    [ACTION_COMPRESS] = "compress",
    [ACTION_SECTION_BACK] = "section-back",
    [ACTION_SECTION_FORWARD] = "section-forward",
    [ACTION_PEAK] = "peak",
    [ACTION_MODE] = "mode",
    [ACTION_HOLES] = "holes",
    [ACTION_OVER_TIME] = "over-time",
    [ACTION_ALTERNATE] = "alternate",
    [ACTION_MEMBERS] = "members",
    [ACTION_SORT] = "sort",
    [ACTION_SORT_LEFT] = "sort-left",
    [ACTION_SORT_RIGHT] = "sort-right",
    [ACTION_SORT_REVERSE] = "sort-reverse",
    [ACTION_EXPAND_HOTTEST] = "hottest",
    [ACTION_FOCUS] = "focus",
    [ACTION_DIRECTION] = "direction",
    [ACTION_FLAME] = "flame",
    [ACTION_LIBRARIES] = "libraries",
    [ACTION_WRAPPER] = "wrapper",
    [ACTION_SUPPRESS] = "suppress",
    [ACTION_OPEN] = "open",
    [ACTION_TO_MEMORY] = "to-memory",
    [ACTION_ADD] = "add",
    [ACTION_REMOVE] = "remove",
    [ACTION_DISABLE] = "disable",
    [ACTION_PAINT] = "paint",
    [ACTION_SWAP] = "swap",
    [ACTION_WIRE] = "wire",
    [ACTION_SAVE] = "save",
    [ACTION_LIST] = "list",
    [ACTION_NEXT] = "next",
    [ACTION_PREVIOUS] = "previous",
    [ACTION_GOTO] = "go-to",
    [ACTION_SEARCH] = "search",
    [ACTION_NARROW] = "narrow",
    [ACTION_EXCLUDE] = "exclude",
    [ACTION_COLOR_BY] = "colour",
    [ACTION_COPY] = "copy",
    [ACTION_UNDO] = "undo",
    [ACTION_REDO] = "redo",
    [ACTION_PAUSE] = "pause",
    [ACTION_FILTER] = "filter",
    [ACTION_COMMAND] = "command",
    [ACTION_HELP] = "help",
    [ACTION_QUIT] = "quit",
    [ACTION_VIEW_1] = "view-1",
    [ACTION_VIEW_1 + 1] = "view-2",
    [ACTION_VIEW_1 + 2] = "view-3",
    [ACTION_VIEW_1 + 3] = "view-4",
    [ACTION_VIEW_1 + 4] = "view-5",
    [ACTION_VIEW_1 + 5] = "view-6",
    [ACTION_VIEW_1 + 6] = "view-7",
    [ACTION_VIEW_1 + 7] = "view-8",
    [ACTION_VIEW_1 + 8] = "view-9",
    [ACTION_VIEW_NEXT] = "view-next",
    [ACTION_VIEW_PREVIOUS] = "view-previous",
    [ACTION_REDRAW] = "redraw",
};
#define NAMES (sizeof(names) / sizeof(names[0]))

const char *action_name(enum action action)
{
    return (size_t)action < NAMES ? names[action] : NULL;
}

bool action_from_name(const char *name, enum action *action)
{
    for (size_t i = 0; i < NAMES; i++) {
        if (names[i] && strcmp(names[i], name) == 0) {
            *action = (enum action)i;
            return true;
        }
    }
    return false;
}
