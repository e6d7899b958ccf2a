/* SPDX-License-Identifier: BSD-2-Clause */
/* The state of the source view, shared by the files of this folder. */
#ifndef MPROF_TUI_VIEW_SOURCE_SOURCE_H
#define MPROF_TUI_VIEW_SOURCE_SOURCE_H

#include <time.h>

#include "session/source.h"
#include "tui/explore/explore.h"
#include "tui/view/view.h"

#define SOURCE_PATH_MOST 1000
#define SOURCE_NOTE_SIZE 300

/* A source file as it lies on this machine. */
struct source_file {
    struct {
        uint64_t renewals;
        char path[SOURCE_PATH_MOST]; /* as the session names it, zeros after it */
    } request;
    char found[SOURCE_PATH_MOST + 300]; /* where it lies here; "": it was not found */
    char note[SOURCE_NOTE_SIZE];        /* what may be wrong with it; "": nothing */
    bool warns;                         /* the note is a warning */
    char *text;                         /* NUL after each line */
    size_t *lines;                      /* where each line begins */
    size_t count;
};

/* Finds and reads the file of the request. It is missing if `found` is "". */
bool source_file_run(struct session *session, struct selection *selection, void *data,
                     struct session_error *error);
void source_file_clear(void *data);
/* Writes a line, "" if the file has none of the number. */
void source_file_line(const struct source_file *file, uint32_t line, char *out, size_t size);

/* stacks.c: stores a test for the stacks that a line counts, or with line 0 the file; NULL: there
 * is none, as for too many stacks. Returns false while that is not known. */
bool source_stacks(struct exploration *exploration, struct load *load, const char *path,
                   uint32_t line, const char **test);
/* Offers such a test, if there is one, and the call sites of the line or file. */
size_t source_offers(const char *path, uint32_t line, const char *test, struct view_offer *out,
                     size_t capacity);

#endif
