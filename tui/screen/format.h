/* SPDX-License-Identifier: BSD-2-Clause */
/* Formats numbers for people. Each function writes into `out` (at least FORMAT_SIZE bytes) and
 * returns it, so that a call can be an argument. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "schemas/code/short_name.h"

#define FORMAT_SIZE 32

/* "812 B", "1.25 KiB", "48.2 MiB": three significant digits, units of 1024. */
char *format_size(char *out, uint64_t bytes);
/* The same in at most six columns, for tables and axes: "812", "1.25K", "48.2M". */
char *format_size_short(char *out, uint64_t bytes);
/* "3,104,220". */
char *format_count(char *out, uint64_t count);
/* "3,104", then "31.0k", "3.10M": at most six columns. */
char *format_count_short(char *out, uint64_t count);
/* "812 ns", "1.25 ms", "2.310 s", "3 min 05 s", "2 h 03 min". */
char *format_duration(char *out, uint64_t ns);
/* The same with more digits, for a moment: "14.77 ms", "2.310 s", "75.312 s". */
char *format_instant(char *out, uint64_t ns);
/* A moment, precise enough to tell steps of `step_ns` apart: "2.3 s", "2.310 s". */
char *format_moment(char *out, uint64_t ns, uint64_t step_ns);
/* Returns "s", "" for one: the end of a word behind a count. Writes nothing. */
const char *format_plural(uint64_t count);
/* "61%", "0.4%", "<0.1%", "" if the whole is 0. */
char *format_percent(char *out, uint64_t part, uint64_t whole);

/* A time as the filter language writes it ("2310us"), exact. */
char *format_filter_time(char *out, uint64_t ns);
/* Reads "2.5s", "300ms", "12us", "7ns" or a plain number of seconds. False for anything else. */
bool parse_time(const char *text, uint64_t *ns);
/* Reads a hexadecimal address with or without "0x". False for anything else. */
bool parse_address(const char *text, uint64_t *address);

/* Writes the short form of a name in at most `width` columns. The end of the name, which is the
 * function, stays as long as it fits. A name that is too long loses, in this order, until it fits:
 * the namespaces, the ends of the arguments of its class, these arguments and those of the
 * function, the end of its class, its class. A function that is still too long loses its middle.
 * Returns `out`. */
char *short_name_fit(char *out, size_t size, const char *name, int width);
/* Does the same for a name that is in its short form. */
char *short_name_fit_again(char *out, size_t size, const char *name, int width);
