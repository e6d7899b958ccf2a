/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/write/members.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layouts_sql.h"

/* Records inside of records that are followed. */
#define DEPTH_MAX 16
/* Bytes of a name; a longer one counts as not known. */
#define NAME_MAX_BYTES 512
/* Bytes before the elements of new T[] if T has a destructor: the Itanium C++ ABI, 2.7. */
#define COOKIE 8

struct reading {
    struct members *members;
    struct writer_database *database;
};

static bool fail_memory(struct reading *reading)
{
    return ingest_fail_memory(reading->database->status, "the layouts of types");
}

static char *text_of(sqlite3_stmt *query, int column)
{
    const char *text = (const char *)sqlite3_column_text(query, column);
    return text ? strdup(text) : NULL;
}

static uint64_t id_hash(int64_t id)
{
    return hash_combine(hash_seed(), (uint64_t)id);
}

static uint64_t name_hash(const char *name, size_t length)
{
    return hash_combine(hash_seed(), hash_characters(name, length));
}

static bool read_type(void *context, sqlite3_stmt *query)
{
    struct reading *reading = context;
    struct members *members = reading->members;
    if (!array_reserve(&members->types, &members->type_capacity, members->type_count + 1,
                       sizeof(*members->types)))
        return fail_memory(reading);
    const uint32_t index = (uint32_t)members->type_count;
    struct member_type *type = &members->types[members->type_count++];
    *type = (struct member_type){.id = sqlite3_column_int64(query, 0),
                                 .name = text_of(query, 1),
                                 .size = (uint64_t)sqlite3_column_int64(query, 2)};
    return (type->name && index_map_insert(&members->type_by_id, id_hash(type->id), index) &&
            index_map_insert(&members->type_by_name, name_hash(type->name, strlen(type->name)),
                             index)) ||
           fail_memory(reading);
}

static const struct member_type *type_of_id(const struct members *members, int64_t id)
{
    const uint64_t hash = id_hash(id);
    size_t probe = index_map_begin(&members->type_by_id, hash);
    uint32_t index;
    while ((index = index_map_next(&members->type_by_id, hash, &probe)) != INDEX_NONE)
        if (members->types[index].id == id)
            return &members->types[index];
    return NULL;
}

/* Returns the type of that name whose members are known, or NULL if there is none. */
static const struct member_type *type_of_name(const struct members *members, const char *name,
                                              size_t length)
{
    const uint64_t hash = name_hash(name, length);
    size_t probe = index_map_begin(&members->type_by_name, hash);
    uint32_t index;
    while ((index = index_map_next(&members->type_by_name, hash, &probe)) != INDEX_NONE) {
        const struct member_type *type = &members->types[index];
        if (type->count != 0 && strncmp(type->name, name, length) == 0 && type->name[length] == 0)
            return type;
    }
    return NULL;
}

static bool read_member(void *context, sqlite3_stmt *query)
{
    struct reading *reading = context;
    struct members *members = reading->members;
    struct member_type *type =
        (struct member_type *)type_of_id(members, sqlite3_column_int64(query, 0));
    if (!type)
        return true;
    if (!array_reserve(&members->rows, &members->row_capacity, members->row_count + 1,
                       sizeof(*members->rows)))
        return fail_memory(reading);
    if (type->count++ == 0)
        type->first = members->row_count;
    struct member_row *row = &members->rows[members->row_count++];
    *row = (struct member_row){.name = text_of(query, 1),
                               .type = text_of(query, 2),
                               .offset = (uint64_t)sqlite3_column_int64(query, 3),
                               .size = (uint64_t)sqlite3_column_int64(query, 4)};
    return row->type || fail_memory(reading);
}

bool members_read(struct members *members, struct writer_database *database)
{
    struct reading reading = {members, database};
    return writer_database_each(database, "SELECT id, name, ifnull(size, 0) FROM type", read_type,
                                &reading) &&
           writer_database_each(database, layouts_sql, read_member, &reading);
}

void members_free(struct members *members)
{
    for (size_t i = 0; i < members->type_count; i++)
        free(members->types[i].name);
    for (size_t i = 0; i < members->row_count; i++) {
        free(members->rows[i].name);
        free(members->rows[i].type);
    }
    for (size_t i = 0; i < members->name_count; i++)
        free(members->names[i]);
    free(members->types);
    free(members->rows);
    free(members->places);
    free(members->names);
    index_map_free(&members->type_by_id);
    index_map_free(&members->type_by_name);
    index_map_free(&members->by_place);
    index_map_free(&members->by_name);
    *members = (struct members){.types = NULL};
}

/* ---- places ------------------------------------------------------------------------------ */

/* Takes qualifiers and keywords off the front of a type's name, and blanks off its end. */
static const char *bare_name(const char *name, size_t *length)
{
    static const char *const words[] = {"const ", "volatile ", "struct ",
                                        "class ", "union ",    "enum "};
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        const size_t size = strlen(words[i]);
        if (*length > size && strncmp(name, words[i], size) == 0) {
            name += size;
            *length -= size;
            i = (size_t)-1;
        }
    }
    while (*length > 0 && name[*length - 1] == ' ')
        --*length;
    return name;
}

/* Returns the length of an array's element type in its name, or 0 if it is not an array. */
static size_t array_element(const char *name, size_t length)
{
    const char *bracket = memchr(name, '[', length);
    return bracket && length > 0 && name[length - 1] == ']' ? (size_t)(bracket - name) : 0;
}

static const struct member_type *record_of(const struct members *members, const char *name,
                                           size_t length)
{
    name = bare_name(name, &length);
    return type_of_name(members, name, length);
}

/* The way to a place: the name so far. */
struct way {
    char text[NAME_MAX_BYTES];
    size_t length;
    bool whole; /* it has not been cut */
    bool named; /* a member's name is in it */
};

static void way_add(struct way *way, const char *text, size_t length)
{
    if (way->length + length >= sizeof(way->text)) {
        way->whole = false;
        return;
    }
    memcpy(way->text + way->length, text, length);
    way->length += length;
    way->text[way->length] = 0;
}

/* Returns the member in which the offset lies: of a union the first one that is a pointer. */
static const struct member_row *member_at(const struct members *members,
                                          const struct member_type *type, uint64_t offset,
                                          uint64_t size)
{
    const struct member_row *found = NULL;
    for (size_t i = type->first; i < type->first + type->count; i++) {
        const struct member_row *row = &members->rows[i];
        const bool flexible = row->size == 0 && i + 1 == type->first + type->count &&
                              offset >= row->offset && offset < size;
        if (!flexible && (offset < row->offset || offset - row->offset >= row->size))
            continue;
        const bool pointer = row->type[0] != 0 && row->type[strlen(row->type) - 1] == '*';
        if (!found || pointer)
            found = row;
        if (pointer)
            break;
    }
    return found;
}

/* Goes from a record to the place at `offset`. Returns the index + 1 of the type to which a pointer
 * there leads, or 0. `way` is not whole if the place has no name. */
static uint32_t follow(const struct members *members, const struct member_type *type,
                       uint64_t offset, uint64_t size, struct way *way)
{
    for (int depth = 0; depth < DEPTH_MAX; depth++) {
        const struct member_row *row = member_at(members, type, offset, size);
        if (!row)
            break;
        if (row->name) {
            way_add(way, way->named ? "." : "::", way->named ? 1 : 2);
            way_add(way, row->name, strlen(row->name));
            way->named = true;
        }
        offset -= row->offset;
        size -= row->offset < size ? row->offset : size;
        size_t length = strlen(row->type);
        const char *name = row->type;
        if (length > 0 && name[length - 1] == '*') {
            const struct member_type *target = record_of(members, name, length - 1);
            if (offset != 0)
                break;
            return target ? (uint32_t)(target - members->types) + 1 : 0;
        }
        const size_t element = array_element(name, length);
        if (element != 0) {
            way_add(way, "[]", 2);
            length = element;
            while (length > 0 && name[length - 1] == ' ')
                length--;
            if (length > 0 && name[length - 1] == '*') {
                way->whole = way->whole && offset % 8 == 0;
                return 0;
            }
        }
        const struct member_type *next = record_of(members, name, length);
        if (!next) /* a record whose members are not known, or a number that holds an address */
            return 0;
        if (element != 0 && next->size != 0)
            offset %= next->size;
        type = next;
    }
    way->whole = false;
    return 0;
}

static uint32_t name_index(struct members *members, const char *name)
{
    const uint64_t hash = name_hash(name, strlen(name));
    size_t probe = index_map_begin(&members->by_name, hash);
    uint32_t index;
    while ((index = index_map_next(&members->by_name, hash, &probe)) != INDEX_NONE)
        if (strcmp(members->names[index], name) == 0)
            return index + 1;
    char *copy = strdup(name);
    index = (uint32_t)members->name_count;
    if (!copy ||
        !array_reserve(&members->names, &members->name_capacity, members->name_count + 1,
                       sizeof(*members->names)) ||
        !index_map_insert(&members->by_name, hash, index)) {
        free(copy);
        return INDEX_NONE;
    }
    members->names[members->name_count++] = copy;
    return index + 1;
}

/* Returns true if the name is that of characters, or of a string's buffer. */
static bool is_text(const char *name)
{
    static const char *const names[] = {"char",     "signed char", "unsigned char",
                                        "wchar_t",  "char8_t",     "char16_t",
                                        "char32_t", "uint8_t",     "int8_t"};
    static const char ending[] = "string buffer";
    size_t length = strlen(name);
    if (length >= sizeof(ending) - 1 && strcmp(name + length - (sizeof(ending) - 1), ending) == 0)
        return true;
    const size_t element = array_element(name, length);
    length = element ? element : length;
    name = bare_name(name, &length);
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strlen(names[i]) == length && strncmp(names[i], name, length) == 0)
            return true;
    return false;
}

const struct member_place *members_at(struct members *members, int64_t id, uint64_t size,
                                      uint64_t offset)
{
    static const struct member_place unknown = {.name = 0}, text = {.is_text = true};
    const struct member_type *type = id ? type_of_id(members, id) : NULL;
    if (type && is_text(type->name))
        return &text;
    if (!type || type->size == 0 || type->count == 0)
        return &unknown;
    /* Several of them lie behind each other, or the last member goes on to the end of the block. */
    if (offset >= type->size && size % type->size == 0)
        offset %= type->size;
    const uint32_t index = (uint32_t)(type - members->types);
    const uint64_t hash = hash_combine(id_hash(index), offset);
    size_t probe = index_map_begin(&members->by_place, hash);
    uint32_t at;
    while ((at = index_map_next(&members->by_place, hash, &probe)) != INDEX_NONE)
        if (members->places[at].type == index && members->places[at].offset == offset)
            return &members->places[at];
    struct way way = {.whole = true};
    struct member_place place = {.type = index, .offset = offset};
    way_add(&way, type->name, strlen(type->name));
    place.target = follow(members, type, offset, size, &way);
    if (way.whole && way.named)
        place.name = name_index(members, way.text);
    at = (uint32_t)members->place_count;
    if (place.name == INDEX_NONE ||
        !array_reserve(&members->places, &members->place_capacity, members->place_count + 1,
                       sizeof(*members->places)) ||
        !index_map_insert(&members->by_place, hash, at))
        return NULL;
    members->places[members->place_count++] = place;
    return &members->places[at];
}

bool members_explain(const struct members *members, int64_t id, uint64_t size, uint64_t offset,
                     bool is_array, const struct member_place *from)
{
    const struct member_type *type = id ? type_of_id(members, id) : NULL;
    if (!type || type->size == 0)
        return false;
    if (is_array && offset == COOKIE && size > COOKIE && (size - COOKIE) % type->size == 0 &&
        size % type->size != 0)
        return true;
    const struct member_type *target =
        from && from->target ? &members->types[from->target - 1] : NULL;
    for (int depth = 0; depth < DEPTH_MAX && type; depth++) {
        const struct member_type *next = NULL;
        for (size_t i = type->first; i < type->first + type->count; i++) {
            const struct member_row *row = &members->rows[i];
            const struct member_type *record = record_of(members, row->type, strlen(row->type));
            if (offset == row->offset && (!row->name || (target && record == target)))
                return true;
            if (offset > row->offset && offset - row->offset < row->size && record)
                next = record, offset -= row->offset, i = type->first + type->count;
        }
        type = next;
    }
    return false;
}
