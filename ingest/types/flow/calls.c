/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/types/flow/calls.h"

#include <dwarf.h>
#include <string.h>

#include "ingest/symbols/dwarf.h"
#include "ingest/types/flow/decode.h"

void types_declared_function(Dwarf_Die *entry, Dwarf_Die *declared)
{
    static const unsigned links[] = {DW_AT_abstract_origin, DW_AT_specification};
    *declared = *entry;
    for (int i = 0; i < 4; i++)
        for (size_t k = 0; k < 2; k++) {
            Dwarf_Attribute attribute;
            Dwarf_Die next;
            if (dwarf_attr(declared, links[k], &attribute) && dwarf_formref_die(&attribute, &next))
                *declared = next;
        }
}

const struct types_unit *types_home_unit(const struct types_site *site, size_t frame)
{
    Dwarf_Die at = site->entries[frame], home = at, unit;
    Dwarf_Attribute attribute;
    for (int i = 0; i < 4 && dwarf_attr(&at, DW_AT_abstract_origin, &attribute) &&
                    dwarf_formref_die(&attribute, &at);
         i++)
        /* A partial unit, which dwz makes, has only the entries that several units share. */
        if (dwarf_cu_die(at.cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL) &&
            dwarf_tag(&unit) == DW_TAG_compile_unit)
            home = at;
    return types_index_unit(site->index, &home);
}

/* The functions of ISO C11, 7.24, the checking forms of the Linux Standard Base, and casts of C++
 * that are functions. */
static bool returns_first(const char *name)
{
    static const char *const names[] = {
        "memcpy",       "memmove",       "memset",       "strcpy",        "strncpy",
        "strcat",       "strncat",       "__memcpy_chk", "__memmove_chk", "__memset_chk",
        "__strcpy_chk", "__strncpy_chk", "__strcat_chk", "__strncat_chk",
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return strncmp(name, "_ZSt4moveI", 10) == 0 || strncmp(name, "_ZSt7forwardI", 13) == 0;
}

/* In the C library, the Itanium C++ ABI and libstdc++, beside its std::__throw_…. */
static bool is_without_return(const char *name)
{
    static const char *const names[] = {
        "abort",
        "exit",
        "_exit",
        "__assert_fail",
        "__cxa_throw",
        "__cxa_rethrow",
        "_Unwind_Resume",
        "__stack_chk_fail",
        "_ZSt9terminatev",
        "__clang_call_terminate",
        "__cxa_throw_bad_array_new_length",
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return strncmp(name, "_ZSt", 4) == 0 && strstr(name, "__throw_");
}

/* Returns true if it is a function with only the statement "return first;". Programs hide a pointer
 * from the compiler that way. */
static bool only_returns_first(const struct types_site *site, uint64_t target)
{
    bool copied = false;
    for (int i = 0; i < 4; i++) {
        struct decode_instruction in;
        size_t size;
        const uint8_t *code = types_code(site->file, target, &size);
        if (!code || !types_decode(code, size, target, &in))
            return false;
        if (in.operation == DECODE_RETURN)
            return copied;
        if (in.operation == DECODE_MOVE && in.to.kind == DECODE_REGISTER &&
            in.to.base == REGISTER_RAX && in.from.kind == DECODE_REGISTER &&
            in.from.base == REGISTER_RDI && in.width == 8)
            copied = true;
        else if (in.operation != DECODE_OTHER || in.writes != 0) /* endbr64, nop */
            return false;
        target += in.length;
    }
    return false;
}

/* Itanium C++ ABI, 5.1.4.3: C1 complete, C2 base object constructor. */
static bool is_constructor_linkage(const char *linkage)
{
    const char *parameters;
    if (strncmp(linkage, "_ZN", 3) != 0)
        return false;
    for (parameters = linkage; (parameters = strchr(parameters, 'C')); parameters++)
        if ((parameters[1] == '1' || parameters[1] == '2') && parameters[2] == 'E')
            return true;
    return false;
}

bool types_is_constructor(struct types_index *index, Dwarf_Die *function)
{
    Dwarf_Die declared;
    types_declared_function(function, &declared);
    const struct types_unit *unit = types_index_unit(index, &declared);
    const struct types_entry *entry = !unit ? NULL : types_index_entry(unit, &declared);
    if (!entry || !entry->name || entry->parent == TYPES_NO_PARENT)
        return false;
    const struct types_entry *class = &unit->entries[entry->parent];
    if ((class->tag != DW_TAG_class_type && class->tag != DW_TAG_structure_type) || !class->name)
        return false;
    size_t length = strcspn(class->name, "<");
    return strcspn(entry->name, "<") == length && memcmp(entry->name, class->name, length) == 0;
}

void types_call_target(const struct types_site *site, uint64_t target, struct types_call *call)
{
    Dwarf_Die entries[SYMBOLS_FRAMES_MAX];
    struct symbols_place place;
    *call = (struct types_call){.returns_first = false};
    if (target == 0)
        return;
    call->returns_first = only_returns_first(site, target);
    size_t count = !site->dwarf ? 0 : symbols_dwarf_entries(site->dwarf, target, entries);
    if (count > 0 && dwarf_tag(&entries[count - 1]) == DW_TAG_subprogram) {
        call->function = entries[count - 1];
        call->described = true;
        call->constructor = types_is_constructor(site->index, &call->function);
    }
    if (!symbols_place(site->symbols, site->module, target, &place) || !place.name)
        return;
    char name[512];
    size_t length = strcspn(place.name, "@");
    if (length >= sizeof(name))
        return;
    memcpy(name, place.name, length);
    name[length] = '\0';
    call->linkage = symbols_keep(site->symbols, name);
    call->returns_first = call->returns_first || returns_first(call->linkage);
    call->no_return = is_without_return(call->linkage);
    call->returns_second =
        strcmp(call->linkage, "_ZnwmPv") == 0 || strcmp(call->linkage, "_ZnamPv") == 0;
    if (!call->described)
        call->constructor = is_constructor_linkage(call->linkage);
}

/* Returns the target of the "call rel32" before the site's return address. 0: it is another
 * instruction, or the code is not known. */
static uint64_t direct_target(const struct types_site *site)
{
    size_t size;
    const uint8_t *code =
        !site->file ? NULL : types_code(site->file, site->return_address - 5, &size);
    int32_t offset;
    if (!code || size < 5 || code[0] != 0xe8)
        return 0;
    memcpy(&offset, code + 1, sizeof(offset));
    return site->return_address + (uint64_t)(int64_t)offset;
}

void types_called(const struct types_site *site, struct types_call *call)
{
    if (!site->called->known)
        types_call_target(site, direct_target(site), &site->called->call);
    site->called->known = true;
    *call = site->called->call;
}

/* The numbers in DWARF of the registers that carry arguments: System V ABI, 3.6.2. */
static const uint8_t argument_numbers[] = {5, 4, 1, 2, 8, 9};

/* The register in which a parameter is when the function begins. */
enum entry_place {
    ENTRY_UNKNOWN, /* in memory later, or nowhere */
    ENTRY_HERE,
    ENTRY_ELSEWHERE
};

static enum entry_place entry_place(Dwarf_Die *parameter, uint64_t entry, unsigned number)
{
    Dwarf_Attribute location;
    Dwarf_Op *operations;
    size_t count;
    if (number >= sizeof(argument_numbers) || !dwarf_attr(parameter, DW_AT_location, &location) ||
        dwarf_getlocation_addr(&location, entry, &operations, &count, 1) != 1 || count != 1 ||
        operations[0].atom < DW_OP_reg0 || operations[0].atom > DW_OP_reg31)
        return ENTRY_UNKNOWN;
    return operations[0].atom - DW_OP_reg0 == argument_numbers[number] ? ENTRY_HERE
                                                                       : ENTRY_ELSEWHERE;
}

/* Finds the parameter that is in that register when the function begins. A compiler may leave out
 * arguments of a function that only it can call, so those after them move. */
static bool located_parameter(const struct types_site *site, Dwarf_Die *function, uint64_t entry,
                              unsigned number, Dwarf_Die *parameter)
{
    if (dwarf_child(function, parameter) != 0)
        return false;
    do {
        if (dwarf_tag(parameter) == DW_TAG_formal_parameter &&
            entry_place(parameter, entry, number) == ENTRY_HERE)
            return true;
    } while (types_index_sibling(site->index, parameter));
    return false;
}

/* Returns true if it takes a register of the whole numbers. `*skipped`: it takes one of the others.
 */
static bool takes_register(const struct types_site *site, Dwarf_Die *parameter,
                           struct types_type *type, bool *skipped)
{
    Dwarf_Die die, stripped;
    Dwarf_Attribute attribute;
    Dwarf_Word encoding = 0;
    *skipped = false;
    if (!types_of(site->index, parameter, type) && !type->die.addr)
        return false;
    die = type->die;
    if (!die.addr || !types_strip(&die, &stripped))
        return false;
    switch (dwarf_tag(&stripped)) {
    case DW_TAG_base_type:
        if (dwarf_attr(&stripped, DW_AT_encoding, &attribute))
            dwarf_formudata(&attribute, &encoding);
        *skipped = encoding == DW_ATE_float;
        return !*skipped && type->size <= 8;
    case DW_TAG_enumeration_type:
    case DW_TAG_pointer_type:
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
        return true;
    default:
        return false; /* records may take any number of registers */
    }
}

bool types_call_parameter(const struct types_site *site, const struct types_call *call,
                          unsigned number, struct types_type *type)
{
    Dwarf_Die function = call->function, parameter;
    Dwarf_Addr entry;
    bool skipped;
    if (!call->described)
        return false;
    const bool located = dwarf_entrypc(&function, &entry) == 0;
    if (located && located_parameter(site, &function, entry, number, &parameter))
        return takes_register(site, &parameter, type, &skipped);
    /* A clone with fewer arguments has a suffix: ".isra.0". */
    if ((call->linkage && strchr(call->linkage, '.')) || dwarf_child(&function, &parameter) != 0)
        return false;
    unsigned at = 0;
    do {
        if (dwarf_tag(&parameter) != DW_TAG_formal_parameter)
            continue;
        if (!takes_register(site, &parameter, type, &skipped)) {
            if (skipped)
                continue;
            return false;
        }
        if (at++ == number)
            return !located || entry_place(&parameter, entry, number) != ENTRY_ELSEWHERE;
    } while (types_index_sibling(site->index, &parameter));
    return false;
}

bool types_call_takes_object(const struct types_site *site, const struct types_call *call)
{
    Dwarf_Die function = call->function, parameter;
    Dwarf_Addr entry;
    return !call->described || dwarf_entrypc(&function, &entry) != 0 ||
           !located_parameter(site, &function, entry, 0, &parameter) ||
           dwarf_hasattr_integrate(&parameter, DW_AT_artificial);
}

/* ---- calls that end in jumps ------------------------------------------------------------ */

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

/* Returns true if it is a part moved out of a function, which ends in jumps back. */
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
    const uint64_t target = direct_target(site);
    if (target == 0)
        return 0;
    struct tail_search search = {site, form_of, CODE_BYTES_MAX};
    const unsigned form = form_at(&search, target, DEPTH_MAX);
    return form == FORM_OPEN ? 0 : form;
}

bool types_is_resuming(const char *linkage)
{
    const size_t length = strlen(linkage);
    return length > 7 && strcmp(linkage + length - 7, ".resume") == 0;
}

/* ---- operator new -------------------------------------------------------------------------- */

/* Returns true if `rest`, the text after "operator new", ends the operator's name. */
static bool ends_operator(const char *rest)
{
    return *rest == '(' || *rest == '[' || *rest == '\0';
}

static const char operator_new[] = "operator new";

bool types_is_operator_new(const char *function)
{
    const size_t length = sizeof(operator_new) - 1;
    return strncmp(function, operator_new, length) == 0 && ends_operator(function + length);
}

/* Returns the position after "Class::operator new", or NULL for other functions. */
static const char *after_class_operator(const char *function)
{
    int depth = 0;
    for (const char *at = function; *at != '\0' && !(depth == 0 && *at == '('); at++) {
        depth += *at == '<';
        depth -= *at == '>';
        if (depth != 0 || strncmp(at, "::operator new", 2 + sizeof(operator_new) - 1) != 0)
            continue;
        at += 2 + sizeof(operator_new) - 1;
        return at > function && ends_operator(at) ? at : NULL;
    }
    return NULL;
}

bool types_is_class_operator_new(const char *function)
{
    return after_class_operator(function) != NULL;
}

bool types_is_class_operator_new_larger(const char *function)
{
    static const char *const numbers[] = {"(unsigned long, unsigned long)", "(unsigned long, long)",
                                          "(unsigned long, unsigned int)", "(unsigned long, int)"};
    const char *rest = after_class_operator(function);
    for (size_t i = 0; rest && i < sizeof(numbers) / sizeof(*numbers); i++)
        if (strcmp(rest, numbers[i]) == 0)
            return true;
    return false;
}

bool types_is_operator_new_array(const char *function)
{
    const char *rest = types_is_operator_new(function) ? function + sizeof(operator_new) - 1
                                                       : after_class_operator(function);
    return rest && *rest == '[';
}
