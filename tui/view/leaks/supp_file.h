/* SPDX-License-Identifier: BSD-2-Clause */
/* The file of suppressions that the view of leaks writes: beside the session, with ".supp" in place
 * of ".db". It has LeakSanitizer's syntax, so mprof-ingest --suppressions and LeakSanitizer read
 * it, too. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "schemas/code/suppressions.h"

#define SUPP_PATH_SIZE 1100
#define SUPP_ERROR_SIZE 256

/* Writes the path of the file of a session. Returns `out`. */
char *supp_file_path(char *out, size_t size, const char *session);
/* Reads the file. One that does not exist has no patterns; lines that are not suppressions of leaks
 * are left out, and the first of these is named in `note` ("": none). Returns NULL with the reason
 * in `note` if the file cannot be read. Free it by suppressions_free(). */
struct suppressions *supp_file_read(const char *path, char note[SUPP_ERROR_SIZE]);
/* Adds a line, after one that begins with '#' and has `about`. Makes the file if need be. Returns
 * false with the reason in `error`. */
bool supp_file_add(const char *path, const char *pattern, const char *about,
                   char error[SUPP_ERROR_SIZE]);
/* Takes the lines of a pattern out. Returns false with the reason in `error`. */
bool supp_file_remove(const char *path, const char *pattern, char error[SUPP_ERROR_SIZE]);
