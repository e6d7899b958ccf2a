/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes JSON (RFC 8259) to a stream, piece by piece, and reads small texts of it. The only door to
 * yajl. Order of calls: json_begin(), values, json_end(). Errors of writing stay in the stream. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct json;

/* Begins a document, indented for people if `pretty`. Returns NULL if memory is exhausted. */
struct json *json_begin(FILE *out, bool pretty);
/* Ends the document with a line end and frees `json`. Returns false if memory was exhausted or the
 * values did not form one document. NULL is ignored and gives false. */
bool json_end(struct json *json);

/* Write a value. Text may hold any bytes: what is not UTF-8 becomes U+FFFD, and what could steer a
 * terminal is escaped. NULL is null. */
void json_text(struct json *json, const char *text);
void json_number(struct json *json, uint64_t number);
void json_signed(struct json *json, int64_t number);
/* A number that JSON does not have becomes null. */
void json_real(struct json *json, double number);
/* The same with 15 digits: a time of days to the nanosecond. */
void json_precise(struct json *json, double number);
void json_truth(struct json *json, bool truth);
void json_null(struct json *json);

/* Writes any part of a document after a form of it, such as "{name: %s, sizes: [%lu, %lu". Names
 * and texts stand there without quotes, as one word. Conversions: %s a text, as json_text(); %u,
 * %zu, %lu, %ld numbers; %g json_real(); %i a truth. All
 * arguments are made before the first is written: no two of them may share a buffer. */
__attribute__((format(printf, 2, 3))) void json_put(struct json *json, const char *form, ...);

/* ---- reading ---------------------------------------------------------------------------- */

struct json_value;

/* Reads a text that is one value. Returns NULL if it is not JSON, or memory is exhausted. */
struct json_value *json_parse(const char *text);
void json_value_free(struct json_value *value);
/* Return a member of an object, and an item of an array, NULL if there is none. NULL gives NULL. */
const struct json_value *json_value_member(const struct json_value *value, const char *key);
size_t json_value_items(const struct json_value *value); /* 0 if it is not an array */
const struct json_value *json_value_item(const struct json_value *value, size_t item);
/* Returns the text of a string, NULL if it is something else. */
const char *json_value_text(const struct json_value *value);
/* Stores a whole number. Returns false if it is something else. */
bool json_value_number(const struct json_value *value, int64_t *number);
