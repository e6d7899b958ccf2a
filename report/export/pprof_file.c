/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/export/pprof_file.h"

#include <stdlib.h>
#include <string.h>

#include "pprof.pb-c.h"
#include "report/export/gzip.h"
#include "report/export/ids.h"
#include "report/output/output.h"
#include "schemas/array.h"

enum { LABELS_MOST = 8, TYPES_MOST = 8 };
/* Marks the numbers of a base session. */
#define OF_BASE (UINT64_C(1) << 32)

struct pprof_file {
    struct gzip *gzip;
    struct text_ids *strings;
    struct pair_ids *functions, *locations;
    struct session_error *error;
    uint8_t *packed; /* the message that is written */
    size_t packed_size;
    Pprof__Location location;
    Pprof__Line *lines, **line_pointers;
    size_t line_capacity;
    bool failed;
};

static bool fail(struct pprof_file *file)
{
    file->failed = true;
    return report_fail_memory(file->error, "the profile");
}

/* Writes a profile that holds a part of the whole. */
static bool put(struct pprof_file *file, const Pprof__Profile *profile)
{
    const size_t size = pprof__profile__get_packed_size(profile);
    if (!array_grow(&file->packed, &file->packed_size, size, 1))
        return fail(file);
    gzip_write(file->gzip, file->packed, pprof__profile__pack(profile, file->packed));
    return true;
}

/* Returns the position of a text in the table of strings. A new one is written. */
static int64_t string(struct pprof_file *file, const char *text)
{
    Pprof__Profile profile = PPROF__PROFILE__INIT;
    char *strings[1] = {(char *)text}; /* protobuf-c only reads */
    uint32_t id;
    bool is_new;
    if (!text_ids_find(file->strings, text, &id, &is_new)) {
        fail(file);
        return 0;
    }
    if (is_new) {
        profile.n_string_table = 1;
        profile.string_table = strings;
        put(file, &profile);
    }
    return id;
}

struct pprof_file *pprof_file_begin(FILE *out, struct session_error *error)
{
    struct pprof_file *file = calloc(1, sizeof(*file));
    if (!file) {
        report_fail_memory(error, "the profile");
        return NULL;
    }
    *file = (struct pprof_file){.gzip = gzip_begin(out),
                                .strings = text_ids_new(),
                                .functions = pair_ids_new(),
                                .locations = pair_ids_new(),
                                .error = error};
    if (!file->gzip || !file->strings || !file->functions || !file->locations ||
        string(file, "") != 0 || file->failed) {
        fail(file);
        pprof_file_end(file);
        return NULL;
    }
    return file;
}

bool pprof_file_end(struct pprof_file *file)
{
    const bool good = !file->failed;
    gzip_end(file->gzip);
    text_ids_free(file->strings);
    pair_ids_free(file->functions);
    pair_ids_free(file->locations);
    free(file->packed);
    free(file->lines);
    free(file->line_pointers);
    free(file);
    return good;
}

/* ---- the profile ---- */

bool pprof_put_about(struct pprof_file *file, const struct pprof_about *about)
{
    Pprof__Profile profile = PPROF__PROFILE__INIT;
    Pprof__ValueType types[TYPES_MOST], period = PPROF__VALUE_TYPE__INIT, *pointers[TYPES_MOST];
    for (size_t i = 0; i < about->type_count && i < TYPES_MOST; i++) {
        types[i] = (Pprof__ValueType)PPROF__VALUE_TYPE__INIT;
        types[i].type = string(file, about->types[i].type);
        types[i].unit = string(file, about->types[i].unit);
        pointers[i] = &types[i];
    }
    period.type = string(file, "space");
    period.unit = string(file, "bytes");
    profile.n_sample_type = about->type_count;
    profile.sample_type = pointers;
    profile.time_nanos = about->start_ns;
    profile.duration_nanos = about->duration_ns;
    profile.period_type = &period;
    profile.period = 1;
    profile.default_sample_type = string(file, about->default_type);
    return put(file, &profile) && !file->failed;
}

bool pprof_put_mapping(struct pprof_file *file, const struct pprof_mapping *mapping)
{
    Pprof__Profile profile = PPROF__PROFILE__INIT;
    Pprof__Mapping message = PPROF__MAPPING__INIT, *pointer = &message;
    message.id = mapping->number;
    message.memory_start = mapping->start;
    message.memory_limit = mapping->end;
    message.filename = string(file, mapping->file);
    message.build_id = string(file, mapping->build_id);
    message.has_functions = message.has_filenames = true;
    message.has_line_numbers = message.has_inline_frames = true;
    profile.n_mapping = 1;
    profile.mapping = &pointer;
    return put(file, &profile) && !file->failed;
}

/* ---- functions and places ---- */

/* Numbers of pprof begin at 1. */
static bool number_of(struct pprof_file *file, struct pair_ids *ids, uint64_t first,
                      uint64_t second, uint64_t *number, bool *is_new)
{
    uint32_t id;
    if (!pair_ids_find(ids, first, second, &id, is_new))
        return fail(file);
    *number = (uint64_t)id + 1;
    return true;
}

bool pprof_function_number(struct pprof_file *file, bool of_base, uint32_t id, uint64_t *number,
                           bool *is_new)
{
    return number_of(file, file->functions, id, of_base, number, is_new);
}

bool pprof_put_function(struct pprof_file *file, const struct pprof_function *function)
{
    Pprof__Profile profile = PPROF__PROFILE__INIT;
    Pprof__Function message = PPROF__FUNCTION__INIT, *pointer = &message;
    message.id = function->number;
    message.name = string(file, function->name);
    message.system_name = string(file, function->system_name);
    message.filename = string(file, function->file);
    message.start_line = function->line;
    profile.n_function = 1;
    profile.function = &pointer;
    return put(file, &profile) && !file->failed;
}

bool pprof_location_number(struct pprof_file *file, bool of_base, uint32_t frame, size_t frames,
                           uint64_t *number, bool *is_new)
{
    return number_of(file, file->locations, frame | (of_base ? OF_BASE : 0), frames, number,
                     is_new);
}

static bool make_room(struct pprof_file *file, size_t lines)
{
    if (lines <= file->line_capacity)
        return true;
    free(file->lines);
    free(file->line_pointers);
    file->lines = malloc(lines * 2 * sizeof(*file->lines));
    file->line_pointers = calloc(lines * 2, sizeof(void *));
    file->line_capacity = file->lines && file->line_pointers ? lines * 2 : 0;
    return file->line_capacity > 0 || fail(file);
}

bool pprof_location_begin(struct pprof_file *file, const struct pprof_location *location,
                          size_t lines)
{
    if (!make_room(file, lines))
        return false;
    file->location = (Pprof__Location)PPROF__LOCATION__INIT;
    file->location.id = location->number;
    file->location.mapping_id = location->mapping;
    file->location.address = location->address;
    file->location.line = file->line_pointers;
    return true;
}

void pprof_location_line(struct pprof_file *file, uint64_t function, uint32_t line)
{
    const size_t place = file->location.n_line++;
    file->lines[place] = (Pprof__Line)PPROF__LINE__INIT;
    file->lines[place].function_id = function;
    file->lines[place].line = line;
    file->line_pointers[place] = &file->lines[place];
}

bool pprof_location_end(struct pprof_file *file)
{
    Pprof__Profile profile = PPROF__PROFILE__INIT;
    Pprof__Location *pointer = &file->location;
    profile.n_location = 1;
    profile.location = &pointer;
    return put(file, &profile) && !file->failed;
}

/* ---- samples ---- */

bool pprof_put_sample(struct pprof_file *file, const uint64_t *locations, size_t location_count,
                      const int64_t *values, size_t value_count, const struct pprof_label *labels,
                      size_t label_count)
{
    Pprof__Profile profile = PPROF__PROFILE__INIT;
    Pprof__Sample sample = PPROF__SAMPLE__INIT, *pointer = &sample;
    Pprof__Label messages[LABELS_MOST], *pointers[LABELS_MOST];
    for (size_t i = 0; i < label_count && i < LABELS_MOST; i++) {
        messages[i] = (Pprof__Label)PPROF__LABEL__INIT;
        messages[i].key = string(file, labels[i].key);
        if (labels[i].text) {
            messages[i].str = string(file, labels[i].text);
        } else {
            messages[i].num = (int64_t)labels[i].number;
            messages[i].num_unit = string(file, "bytes");
        }
        pointers[i] = &messages[i];
    }
    sample.n_location_id = location_count;
    sample.location_id = (uint64_t *)locations; /* protobuf-c only reads */
    sample.n_value = value_count;
    sample.value = (int64_t *)values;
    sample.n_label = label_count;
    sample.label = pointers;
    profile.n_sample = 1;
    profile.sample = &pointer;
    return put(file, &profile) && !file->failed;
}
