/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/write/members.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schemas/array.h"
#include "layouts_sql.h"

/* Bytes of a name; a longer one counts as not known. */
#define NAME_MAX_BYTES 512
/* Bytes before the elements of new T[] if T has a destructor: the Itanium C++ ABI, 2.7. */
#define COOKIE 8
/* Bytes of a pointer. */
#define WORD 8u

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
    if (!ARRAY_RESERVE(members->types, members->type_count, members->type_capacity))
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
    INDEX_MAP_EACH(&members->type_by_id, hash, index)
        if (members->types[index].id == id)
            return &members->types[index];
    return NULL;
}

/* Returns the type of that name whose members are known, or NULL if there is none. */
static const struct member_type *type_of_name(const struct members *members, const char *name,
                                              size_t length)
{
    const uint64_t hash = name_hash(name, length);
    INDEX_MAP_EACH(&members->type_by_name, hash, index) {
        const struct member_type *type = &members->types[index];
        if (type->count != 0 && strncmp(type->name, name, length) == 0 && type->name[length] == 0)
            return type;
    }
    return NULL;
}

static bool read_field(void *context, sqlite3_stmt *query)
{
    struct reading *reading = context;
    struct members *members = reading->members;
    struct member_type *type =
        (struct member_type *)type_of_id(members, sqlite3_column_int64(query, 0));
    const uint64_t parent = (uint64_t)sqlite3_column_int64(query, 1);
    if (!type || parent > type->count)
        return true;
    if (!ARRAY_RESERVE(members->rows, members->row_count, members->row_capacity))
        return fail_memory(reading);
    if (type->count++ == 0)
        type->first = members->row_count;
    struct member_row *row = &members->rows[members->row_count++];
    *row = (struct member_row){.name = text_of(query, 2),
                               .type = text_of(query, 3),
                               .offset = (uint64_t)sqlite3_column_int64(query, 4),
                               .size = (uint64_t)sqlite3_column_int64(query, 5),
                               .element = (uint64_t)sqlite3_column_int64(query, 6),
                               .parent = (uint32_t)parent,
                               .end = members->row_count};
    for (uint64_t above = parent; above != 0;) {
        struct member_row *outer = &members->rows[type->first + above - 1];
        outer->end = members->row_count;
        above = outer->parent;
    }
    if (!row->type)
        return fail_memory(reading);
    /* Records without a name have no name either, and so have the objects in pieces of memory. */
    const char *around = parent ? members->rows[type->first + parent - 1].type : "";
    row->is_base =
        !row->name && row->type[0] != '(' && strncmp(around, "__gnu_cxx::__aligned_", 21) != 0;
    return true;
}

bool members_read(struct members *members, struct writer_database *database)
{
    struct reading reading = {members, database};
    return writer_database_each(database, "SELECT id, name, ifnull(size, 0) FROM type", read_type,
                                &reading) &&
           writer_database_each(database, layouts_sql, read_field, &reading);
}

void members_free(struct members *members)
{
    for (size_t i = 0; i < members->type_count; i++)
        free(members->types[i].name);
    for (size_t i = 0; i < members->row_count; i++)
        FREE_ALL(members->rows[i].name, members->rows[i].type);
    for (size_t i = 0; i < members->name_count; i++)
        free(members->names[i]);
    FREE_ALL(members->types, members->rows, members->places, members->names);
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

/* Returns the type whose members are known and to which a pointer of that type leads, or NULL. */
static const struct member_type *pointed(const struct members *members, const char *pointer)
{
    size_t length = strlen(pointer);
    if (length == 0 || pointer[length - 1] != '*')
        return NULL;
    length--;
    pointer = bare_name(pointer, &length);
    return type_of_name(members, pointer, length);
}

static bool is_pointer(const char *type)
{
    const size_t length = strlen(type);
    return length > 0 && type[length - 1] == '*';
}

/* A name, as far as it is made. */
struct way {
    char text[NAME_MAX_BYTES];
    size_t length;
    bool cut;   /* it is too long */
    bool named; /* a member's name is in it */
};

static void way_add(struct way *way, const char *text)
{
    const size_t length = strlen(text);
    if (way->length + length >= sizeof(way->text)) {
        way->cut = true;
        return;
    }
    memcpy(way->text + way->length, text, length + 1);
    way->length += length;
}

/* How well a place explains a pointer. */
enum fit {
    FIT_NONE,
    FIT_AROUND,  /* a record in which nothing is known to lie there */
    FIT_OTHER,   /* numbers, characters, or a record of unknown members */
    FIT_POINTER, /* also one to the type of another member of a union */
    FIT_EXACT    /* a pointer to the type of the block to which it leads */
};

struct search {
    const struct members *members;
    const struct member_type *to; /* of the block to which the pointer leads, or NULL */
    struct way way, found;
    enum fit fit;
    size_t base;     /* characters of the type's name */
    uint32_t target; /* index of the type to which the pointer there leads + 1; 0: not known */
};

static bool ends_member(char after)
{
    return after == 0 || after == '.' || after == '[';
}

/* Takes what all names of places that fit equally well have in common, up to a whole member. */
static void take_common(struct search *search)
{
    struct way *found = &search->found;
    size_t same = 0;
    while (same < found->length && found->text[same] == search->way.text[same])
        same++;
    if (same == found->length && same == search->way.length)
        return;
    search->target = 0;
    /* A member ends there in both. */
    while (same > search->base &&
           !(ends_member(found->text[same]) && ends_member(search->way.text[same])))
        same--;
    found->named = same > search->base;
    found->length = same;
    found->text[same] = 0;
}

static void offer(struct search *search, enum fit fit, const struct member_type *target)
{
    if (fit < search->fit || !search->way.named)
        return;
    if (fit == search->fit) {
        take_common(search);
        return;
    }
    search->fit = fit;
    search->found = search->way;
    search->target = target ? (uint32_t)(target - search->members->types) + 1 : 0;
}

/* Returns true if a member's name tells nothing to a user of the standard library. */
static bool is_inner(const char *record, const char *name)
{
    return name[0] == '_' &&
           (strncmp(record, "std::", 5) == 0 || strncmp(record, "__gnu_cxx::", 11) == 0);
}

static void find_inside(struct search *search, const char *record, size_t first, size_t end,
                        uint64_t offset, uint64_t size);

/* Searches one field that holds the place. */
static void find_in(struct search *search, const char *record, size_t index, uint64_t offset,
                    uint64_t size)
{
    const struct members *members = search->members;
    const struct member_row *row = &members->rows[index];
    struct way *way = &search->way;
    const size_t length = way->length;
    const bool named = way->named, cut = way->cut;
    if (row->name && !(named && is_inner(record, row->name))) {
        way_add(way, named ? "." : "::");
        way_add(way, row->name);
        way->named = true;
    }
    if (row->element != 0) {
        way_add(way, "[]");
        offset %= row->element;
        size = row->element;
    }
    if (is_pointer(row->type)) {
        const struct member_type *target = pointed(members, row->type);
        if (offset == 0)
            offer(search, target && target == search->to ? FIT_EXACT : FIT_POINTER, target);
    } else if (row->end > index + 1) {
        const enum fit before = search->fit;
        /* A record without a name belongs to the one around it. */
        find_inside(search, row->type[0] == '(' ? record : row->type, index + 1, row->end, offset,
                    size);
        if (row->name && search->fit == before && offset + WORD <= size)
            offer(search, FIT_AROUND, NULL);
    } else if (row->element != 0 || offset + WORD <= size) {
        offer(search, FIT_OTHER, NULL);
    }
    way->length = length;
    way->text[length] = 0;
    way->named = named;
    way->cut = cut;
}

/* Searches the fields of a record, or of a base class: several of them may hold the place. */
static void find_inside(struct search *search, const char *record, size_t first, size_t end,
                        uint64_t offset, uint64_t size)
{
    const struct member_row *rows = search->members->rows;
    for (size_t i = first; i < end; i = rows[i].end) {
        const bool flexible = rows[i].element != 0 && rows[i].size <= rows[i].element &&
                              rows[i].end == end && offset < size;
        if (offset >= rows[i].offset && (flexible || offset - rows[i].offset < rows[i].size))
            find_in(search, record, i, offset - rows[i].offset,
                    flexible ? size - rows[i].offset : rows[i].size);
    }
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
    if (!copy || !ARRAY_RESERVE(members->names, members->name_count, members->name_capacity) ||
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

/* Finds the place in a block of the type. A block of pointers is an array of them. */
static void find_place(struct search *search, const struct member_type *type, uint64_t size,
                       uint64_t offset)
{
    way_add(&search->way, type->name);
    search->base = search->way.length;
    if (is_pointer(type->name)) {
        search->way.named = true;
        way_add(&search->way, "[]");
        offer(search, FIT_POINTER, pointed(search->members, type->name));
        return;
    }
    find_inside(search, type->name, type->first, type->first + type->count, offset, size);
}

/* Returns true if the type ends in an array of so many elements. */
static bool is_open(const struct members *members, const struct member_type *type, uint64_t count)
{
    const size_t end = type->first + type->count;
    for (size_t i = type->first; i < end; i++) {
        const struct member_row *row = &members->rows[i];
        if (row->end == end && row->element != 0 && row->size == count * row->element)
            return true;
    }
    return false;
}

/* Returns the bytes before the elements of new T[]. */
static uint64_t cookie_of(const struct member_type *type, uint64_t size, bool is_array)
{
    return is_array && type->size != 0 && size > COOKIE && size % type->size != 0 &&
                   (size - COOKIE) % type->size == 0
               ? COOKIE
               : 0;
}

const struct member_place *members_at(struct members *members, const struct member_block *block,
                                      uint64_t offset, int64_t to)
{
    static const struct member_place unknown = {.name = 0}, text = {.is_text = true};
    const struct member_type *type = block->type ? type_of_id(members, block->type) : NULL;
    const struct member_type *target = to ? type_of_id(members, to) : NULL;
    if (type && is_text(type->name))
        return &text;
    if (!type || offset % WORD != 0 || (type->count == 0 && !is_pointer(type->name)))
        return &unknown;
    const uint64_t cookie = cookie_of(type, block->size, block->is_array);
    if (offset < cookie)
        return &unknown;
    uint64_t size = block->size - cookie;
    offset -= cookie;
    /* Several of them lie behind each other, or the last member goes on to the end of the block. */
    if (type->size != 0 && offset >= type->size && size % type->size == 0 &&
        !is_open(members, type, 0)) {
        if (is_open(members, type, 1))
            return &unknown; /* an array of one element at its end may stand for more */
        offset %= type->size;
        size = type->size;
    }
    const uint32_t index = (uint32_t)(type - members->types);
    const uint32_t leads = target ? (uint32_t)(target - members->types) + 1 : 0;
    const uint64_t hash = hash_combine(hash_combine(id_hash(index), offset), leads);
    size_t probe = index_map_begin(&members->by_place, hash);
    uint32_t at;
    while ((at = index_map_next(&members->by_place, hash, &probe)) != INDEX_NONE) {
        const struct member_place *place = &members->places[at];
        if (place->type == index && place->offset == offset && place->to == leads)
            return place;
    }
    struct search search = {.members = members, .to = target};
    find_place(&search, type, size, offset);
    struct member_place place = {
        .type = index, .offset = offset, .to = leads, .target = search.target};
    if (search.fit != FIT_NONE && search.found.named && !search.found.cut)
        place.name = name_index(members, search.found.text);
    at = (uint32_t)members->place_count;
    if (place.name == INDEX_NONE ||
        !ARRAY_RESERVE(members->places, members->place_count, members->place_capacity) ||
        !index_map_insert(&members->by_place, hash, at))
        return NULL;
    members->places[members->place_count++] = place;
    return &members->places[at];
}

/* Returns true if a base class, or a member of the type `target` (NULL: none), begins there. */
static bool begins_inside(const struct members *members, const char *target, size_t first,
                          size_t end, uint64_t offset)
{
    for (size_t i = first; i < end; i = members->rows[i].end) {
        const struct member_row *row = &members->rows[i];
        if (offset < row->offset || (offset - row->offset >= row->size && row->element == 0))
            continue;
        const uint64_t inside =
            row->element ? (offset - row->offset) % row->element : offset - row->offset;
        if (inside == 0 && (row->is_base || (target && strcmp(row->type, target) == 0)))
            return true;
        if (begins_inside(members, target, i + 1, row->end, inside))
            return true;
    }
    return false;
}

bool members_explain(const struct members *members, const struct member_block *block,
                     uint64_t offset, const struct member_place *from)
{
    const struct member_type *type = block->type ? type_of_id(members, block->type) : NULL;
    if (!type || type->size == 0)
        return false;
    const uint64_t cookie = cookie_of(type, block->size, block->is_array);
    if (cookie != 0 && offset == cookie)
        return true;
    if (offset < cookie)
        return false;
    offset -= cookie;
    const struct member_type *target =
        from && from->target ? &members->types[from->target - 1] : NULL;
    if ((block->size - cookie) % type->size == 0) {
        offset %= type->size;
        if (offset == 0 && target && strcmp(target->name, type->name) == 0)
            return true; /* one of several */
    }
    return begins_inside(members, target ? target->name : NULL, type->first,
                         type->first + type->count, offset);
}
