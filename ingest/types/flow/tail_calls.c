/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/types/flow/tail_calls.h"

#include <string.h>

#include "ingest/types/flow/decode.h"

/* Beyond these limits a function has more than one way to end. */
enum { TAIL_CALLS_MAX = 16, DEPTH_MAX = 3 };
/* The most bytes of code that are examined for one call, as a limit for made-up files. */
enum { CODE_BYTES_MAX = 65536 };
/* Not a form: it may jump to some other function. */
#define FORM_OPEN UINT32_MAX

struct tail_calls {
    uint64_t targets[TAIL_CALLS_MAX];
    size_t count;
};

/* One question, and the bytes that may still be read for it. */
struct tail_search {
    const struct types_site *site;
    unsigned (*form_of)(const char *linkage);
    uint64_t bytes_left;
};

/* True for a part that a compiler moved out of a function. It ends in jumps back into it. */
static bool is_part(const char *name)
{
    const char *suffix = strstr(name, ".cold");
    return suffix && (suffix[5] == '\0' || suffix[5] == '.');
}

/* Reads the targets to which the function at `start` jumps outside its own code. Returns false if
 * they are not known. */
static bool read_tail_calls(struct tail_search *search, const struct symbols_place *place,
                            struct tail_calls *calls)
{
    size_t size;
    const uint8_t *code = types_code(search->site->file, place->start, &size);
    if (!code || place->end <= place->start || size < place->end - place->start ||
        place->end - place->start > search->bytes_left)
        return false;
    search->bytes_left -= place->end - place->start;
    for (uint64_t at = place->start; at < place->end;) {
        struct decode_instruction in;
        if (!types_decode_branch(code + (at - place->start), place->end - at, at, &in))
            return false;
        at += in.length;
        if (in.operation != DECODE_JUMP && in.operation != DECODE_BRANCH)
            continue;
        if (in.target == 0)
            return false;
        if (in.target >= place->start && in.target < place->end)
            continue;
        if (calls->count == TAIL_CALLS_MAX)
            return false;
        calls->targets[calls->count++] = in.target;
    }
    return true;
}

static unsigned form_at(struct tail_search *search, uint64_t target, unsigned depth)
{
    const struct types_site *site = search->site;
    struct symbols_place place;
    if (!symbols_place(site->symbols, site->module, target, &place))
        return FORM_OPEN;
    if (place.name) {
        const unsigned form = search->form_of(place.name);
        if (form != 0)
            return form;
        /* Another module's function: if it freed the block, it would have a frame of its own. */
        if (strstr(place.name, "@plt") || is_part(place.name))
            return 0;
    }
    struct tail_calls calls = {.count = 0};
    if (depth == 0 || target != place.start || !read_tail_calls(search, &place, &calls))
        return FORM_OPEN;
    unsigned only = 0;
    for (size_t i = 0; i < calls.count; i++) {
        const unsigned form = form_at(search, calls.targets[i], depth - 1);
        if (form == FORM_OPEN || (form != 0 && only != 0 && form != only))
            return FORM_OPEN;
        if (form != 0)
            only = form;
    }
    return only;
}

unsigned types_call_form(const struct types_site *site, unsigned (*form_of)(const char *linkage))
{
    /* call rel32 */
    size_t size;
    int32_t offset;
    const uint8_t *code =
        !site->file ? NULL : types_code(site->file, site->return_address - 5, &size);
    if (!code || size < 5 || code[0] != 0xe8)
        return 0;
    memcpy(&offset, code + 1, sizeof(offset));
    const uint64_t target = site->return_address + (uint64_t)(int64_t)offset;
    struct tail_search search = {site, form_of, CODE_BYTES_MAX};
    const unsigned form = form_at(&search, target, DEPTH_MAX);
    return form == FORM_OPEN ? 0 : form;
}
