/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/os/options.h"

#include <string.h>

struct option_word {
    const char *text; /* not terminated */
    size_t length;
};

static bool option_is(struct option_word word, const char *name)
{
    return word.length == strlen(name) && memcmp(word.text, name, word.length) == 0;
}

static bool option_begins(struct option_word word, const char *beginning)
{
    const size_t length = strlen(beginning);
    return word.length >= length && memcmp(word.text, beginning, length) == 0;
}

/* Reads a number. strtoul would follow the locale, which the program may be changing now. */
static bool option_number(struct option_word word, uint32_t *number)
{
    uint64_t value = 0;
    if (word.length == 0 || word.length > 10)
        return false;
    for (size_t i = 0; i < word.length; i++) {
        if (word.text[i] < '0' || word.text[i] > '9')
            return false;
        value = value * 10 + (uint64_t)(word.text[i] - '0');
    }
    if (value > UINT32_MAX)
        return false;
    *number = (uint32_t)value;
    return true;
}

static bool option_size(struct option_word word, uint64_t *size, uint64_t least, uint64_t most)
{
    const char unit = word.length ? word.text[word.length - 1] : '0';
    unsigned shift = unit == 'K' ? 10 : unit == 'M' ? 20 : unit == 'G' ? 30 : 0;
    uint32_t number;
    word.length -= shift != 0;
    if (!option_number(word, &number))
        return false;
    *size = (uint64_t)number << shift;
    return *size >= least && *size <= most;
}

/* Reads SIZE, or N% of the disk. */
static bool option_min_free(struct option_word value, struct disk_space_limit *limit)
{
    *limit = (struct disk_space_limit){.bytes = UINT64_MAX, .percent = 100};
    if (value.length == 0 || value.text[value.length - 1] != '%')
        return option_size(value, &limit->bytes, 0, UINT64_MAX);
    value.length--;
    return option_number(value, &limit->percent) && limit->percent <= 100;
}

/* Reads live>SIZE or allocs>N. */
static bool option_limit(struct option_word value, struct options_limit *limit)
{
    const size_t prefix = option_begins(value, "live>")     ? strlen("live>")
                          : option_begins(value, "allocs>") ? strlen("allocs>")
                                                            : 0;
    const struct option_word number = {value.text + prefix, value.length - prefix};
    if (prefix == 0)
        return false;
    return option_size(number, value.text[0] == 'l' ? &limit->live : &limit->allocations, 1,
                       INT64_MAX);
}

/* Reads mark:NAME or call:SYMBOL. `kind` is the text before the name, which gets `most` bytes. */
static bool option_name(struct option_word value, const char *kind, char *name, size_t most)
{
    const size_t prefix = strlen(kind);
    if (!option_begins(value, kind) || value.length == prefix || value.length - prefix >= most)
        return false;
    memcpy(name, value.text + prefix, value.length - prefix);
    name[value.length - prefix] = 0;
    return true;
}

static bool option_follow(struct option_word value, struct options *options)
{
    bool all = option_is(value, "all"), fork = option_is(value, "fork");
    bool exec = option_is(value, "exec");
    if (!all && !fork && !exec && !option_is(value, "none"))
        return false;
    options->follow_fork = all || fork;
    options->follow_exec = all || exec;
    return true;
}

static bool option_unwind(struct option_word value, enum stack_unwind *unwind)
{
    static const char *const names[] = {
        [STACK_UNWIND_AUTO] = "auto", [STACK_UNWIND_FRAME_POINTERS] = "fp",
        [STACK_UNWIND_EH] = "eh",     [STACK_UNWIND_INSTRUMENT] = "instrument",
        [STACK_UNWIND_OFF] = "off",
    };
    for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (option_is(value, names[i])) {
            *unwind = (enum stack_unwind)i;
            return true;
        }
    return false;
}

/* Reads one of two words, and sets *is_second. */
static bool option_either(struct option_word value, const char *first, const char *second,
                          bool *is_second)
{
    *is_second = option_is(value, second);
    return *is_second || option_is(value, first);
}

static bool option_start(struct option_word value, struct options *options)
{
    options->start_of_run = option_is(value, "run");
    options->start_waits = options->start_of_run || option_is(value, "wait") ||
                           option_limit(value, &options->start) ||
                           option_name(value, "mark:", options->start_mark, OPTIONS_MARK) ||
                           option_name(value, "call:", options->start_call, OPTIONS_SYMBOL);
    return options->start_waits;
}

static bool option_without(struct option_word value, struct options *options)
{
    for (size_t at = 0, length; at <= value.length; at += length + 1) {
        const char *end = memchr(value.text + at, ':', value.length - at);
        length = end ? (size_t)(end - value.text) - at : value.length - at;
        if (options->without_count >= OPTIONS_WITHOUT ||
            !option_number((struct option_word){value.text + at, length},
                           &options->without[options->without_count]))
            return false;
        options->without_count++;
    }
    return true;
}

static bool option_label(struct option_word value, struct options *options)
{
    if (options->label_count == TRACE_LABELS_MOST || value.length == 0 ||
        value.length > TRACE_LABEL_MOST)
        return false;
    options->labels[options->label_count++] = (struct options_label){value.text, value.length};
    return true;
}

static bool option_set(struct options *options, struct option_word key, struct option_word value)
{
    if (option_is(key, "unwind"))
        return option_unwind(value, &options->stack.unwind);
    if (option_is(key, "depth"))
        return option_number(value, &options->stack.depth_limit);
    if (option_is(key, "root"))
        return option_number(value, &options->root);
    if (option_is(key, "references"))
        return option_number(value, &options->references);
    if (option_is(key, "references-end") && value.length == 0)
        return options->references_end = true;
    if (option_is(key, "references-mark"))
        return option_name(value, "", options->references_mark, OPTIONS_MARK);
    if (option_is(key, "files"))
        return option_name(value, "", options->files, OPTIONS_FILES);
    if (option_is(key, "clock"))
        return option_either(value, "exact", "fast", &options->fast_clock);
    if (option_is(key, "free-stacks") && value.length == 0)
        return options->free_stacks = true;
    if (option_is(key, "start"))
        return option_start(value, options);
    if (option_is(key, "stop"))
        return option_limit(value, &options->stop) ||
               option_name(value, "mark:", options->stop_mark, OPTIONS_MARK) ||
               option_name(value, "call:", options->stop_call, OPTIONS_SYMBOL);
    if (option_is(key, "mmap") && (value.length == 0 || option_is(value, "1")))
        return options->mmap = true;
    if (option_is(key, "compress") && value.length == 0)
        return options->compress = true;
    if (option_is(key, "suppressions") && value.length == 0)
        return options->suppressions = true;
    if (option_is(key, "max-size"))
        return option_size(value, &options->max_size,
                           TRACE_FILE_HEADER_SIZE + TRACE_CHUNK_SIZE_DEFAULT, UINT64_MAX);
    if (option_is(key, "min-free"))
        return option_min_free(value, &options->min_free);
    if (option_is(key, "sample"))
        return option_size(value, &options->sample, 1, OPTIONS_SAMPLE_MAX);
    if (option_is(key, "toggle"))
        return option_number(value, &options->toggle) && options->toggle >= 1 &&
               options->toggle <= 64;
    if (option_is(key, "label"))
        return option_label(value, options);
    if (option_is(key, "without"))
        return option_without(value, options);
    return option_is(key, "follow") && option_follow(value, options);
}

bool options_parse(const char *text, struct options *options, char *bad, unsigned bad_size)
{
    *options = (struct options){
        .follow_fork = true, .follow_exec = true, .min_free = DISK_SPACE_LIMIT_DEFAULT};
    while (text && *text) {
        struct option_word word = {text, strcspn(text, ",")};
        struct option_word key = {text, strcspn(text, ",=")};
        struct option_word value = {text + key.length, 0};
        if (key.length < word.length) {
            value.text++;
            value.length = word.length - key.length - 1;
        }
        if (word.length > 0 && !option_set(options, key, value)) {
            size_t length = word.length < bad_size ? word.length : bad_size - 1;
            memcpy(bad, text, length);
            bad[length] = 0;
            return false;
        }
        text += word.length;
        text += *text == ',';
    }
    return true;
}
