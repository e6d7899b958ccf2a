/* SPDX-License-Identifier: BSD-2-Clause */
/* Trace format 1: writes and reads the records of a snapshot of references (trace-format.md,
 * "References"). trace_codec.h wraps the payloads into records.
 *
 * Each trace_put_references…() writes a payload of at most TRACE_EXTENDED_MAX bytes at `p` and
 * returns its end; it cuts texts that are too long. Each trace_get_references…() begins at the
 * payload's beginning and returns false if it ends early. Its texts lie in the payload. */
#pragma once

#include "schemas/trace_codec.h"

/* REFERENCES. */
struct trace_references {
    uint64_t number;
    uint64_t reason;                      /* enum trace_references_reason */
    uint64_t flags;                       /* enum trace_references_flag */
    uint64_t read;                        /* enum trace_references_read */
    uint64_t swapped, shared, unreadable; /* bytes that were left out */
    const char *name;
    size_t name_length;
};

/* REFERENCES_MAPPING. */
struct trace_references_mapping {
    uint64_t number;
    uint64_t start, end;
    uint64_t protection; /* PROT_* */
    uint64_t kind;       /* enum trace_references_kind */
    uint64_t offset;     /* in the file */
    const char *path;
    size_t path_length;
};

/* The most registers of a thread: 16 general ones, and two halves of 16 vectors. */
#define TRACE_REFERENCES_REGISTERS 48u

/* REFERENCES_THREAD. */
struct trace_references_thread {
    uint64_t number;
    uint64_t tid, stack_pointer, thread_pointer, instruction;
    uint64_t count;
    struct {
        uint64_t number, value; /* by its DWARF number */
    } registers[TRACE_REFERENCES_REGISTERS];
};

/* REFERENCES_END. */
struct trace_references_end {
    uint64_t number;
    uint64_t words, bytes;
    uint64_t stopped_ns;
    uint64_t outcome; /* enum trace_references_outcome */
    uint64_t threads;
};

static inline uint8_t *trace_put_numbers(uint8_t *p, const uint64_t *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        p = trace_put_varint(p, numbers[i]);
    return p;
}

static inline bool trace_get_numbers(const uint8_t **p, const uint8_t *end,
                                     uint64_t *const *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!trace_get_varint(p, end, numbers[i]))
            return false;
    return true;
}

/* The numbers beside a text take less than this. */
#define TRACE_REFERENCES_NUMBERS 128u

static inline uint8_t *trace_put_references_text(uint8_t *p, const char *text, size_t length)
{
    const size_t most = TRACE_EXTENDED_MAX - TRACE_REFERENCES_NUMBERS;
    return trace_put_string(p, text, length < most ? length : most);
}

static inline uint8_t *trace_put_references(uint8_t *p, const struct trace_references *snapshot)
{
    p = trace_put_numbers(p, (const uint64_t[]){0, snapshot->number, snapshot->reason}, 3);
    p = trace_put_references_text(p, snapshot->name, snapshot->name_length);
    return trace_put_numbers(p,
                             (const uint64_t[]){snapshot->flags, snapshot->read, snapshot->swapped,
                                                snapshot->shared, snapshot->unreadable},
                             5);
}

static inline bool trace_get_references(const uint8_t *p, const uint8_t *end,
                                        struct trace_references *snapshot)
{
    uint64_t when;
    return trace_get_numbers(&p, end, (uint64_t *[]){&when, &snapshot->number, &snapshot->reason},
                             3) &&
           trace_get_string(&p, end, &snapshot->name, &snapshot->name_length) &&
           trace_get_numbers(&p, end,
                             (uint64_t *[]){&snapshot->flags, &snapshot->read, &snapshot->swapped,
                                            &snapshot->shared, &snapshot->unreadable},
                             5);
}

static inline uint8_t *trace_put_references_mapping(uint8_t *p,
                                                    const struct trace_references_mapping *mapping)
{
    p = trace_put_numbers(p,
                          (const uint64_t[]){0, mapping->number, mapping->start, mapping->end,
                                             mapping->protection, mapping->kind, mapping->offset},
                          7);
    return trace_put_references_text(p, mapping->path, mapping->path_length);
}

static inline bool trace_get_references_mapping(const uint8_t *p, const uint8_t *end,
                                                struct trace_references_mapping *mapping)
{
    uint64_t when;
    return trace_get_numbers(&p, end,
                             (uint64_t *[]){&when, &mapping->number, &mapping->start, &mapping->end,
                                            &mapping->protection, &mapping->kind, &mapping->offset},
                             7) &&
           trace_get_string(&p, end, &mapping->path, &mapping->path_length);
}

static inline uint8_t *trace_put_references_thread(uint8_t *p,
                                                   const struct trace_references_thread *thread)
{
    p = trace_put_numbers(p,
                          (const uint64_t[]){0, thread->number, thread->tid, thread->stack_pointer,
                                             thread->thread_pointer, thread->instruction,
                                             thread->count},
                          7);
    for (size_t i = 0; i < thread->count; i++)
        p = trace_put_varint(trace_put_varint(p, thread->registers[i].number),
                             thread->registers[i].value);
    return p;
}

static inline bool trace_get_references_thread(const uint8_t *p, const uint8_t *end,
                                               struct trace_references_thread *thread)
{
    uint64_t when;
    if (!trace_get_numbers(&p, end,
                           (uint64_t *[]){&when, &thread->number, &thread->tid,
                                          &thread->stack_pointer, &thread->thread_pointer,
                                          &thread->instruction, &thread->count},
                           7) ||
        thread->count > TRACE_REFERENCES_REGISTERS)
        return false;
    for (size_t i = 0; i < thread->count; i++)
        if (!trace_get_varint(&p, end, &thread->registers[i].number) ||
            !trace_get_varint(&p, end, &thread->registers[i].value))
            return false;
    return true;
}

static inline uint8_t *trace_put_references_end(uint8_t *p, const struct trace_references_end *last)
{
    return trace_put_numbers(p,
                             (const uint64_t[]){0, last->number, last->words, last->bytes,
                                                last->stopped_ns, last->outcome, last->threads},
                             7);
}

static inline bool trace_get_references_end(const uint8_t *p, const uint8_t *end,
                                            struct trace_references_end *last)
{
    uint64_t when;
    return trace_get_numbers(&p, end,
                             (uint64_t *[]){&when, &last->number, &last->words, &last->bytes,
                                            &last->stopped_ns, &last->outcome, &last->threads},
                             7);
}

/* A word of memory that holds an address. */
struct trace_references_word {
    uint64_t where; /* multiple of 8 */
    uint64_t to;    /* below 2^48 */
    bool tagged;    /* the word has other bits above those */
};

/* The pairs of one REFERENCES_WORDS. Begins with zeros. */
struct trace_references_words {
    struct trace_references_word last;
    uint64_t count;
    size_t used;
    uint8_t pairs[TRACE_EXTENDED_MAX - TRACE_REFERENCES_NUMBERS];
};

/* Adds a word, which lies above the last one. Returns false if there is no room for it. */
static inline bool trace_references_add(struct trace_references_words *words,
                                        struct trace_references_word word)
{
    const int64_t step = (int64_t)(word.to - words->last.to);
    if (words->used + 20 > sizeof(words->pairs))
        return false;
    uint8_t *p = words->pairs + words->used;
    p = trace_put_varint(p, (word.where - words->last.where) / 4 | word.tagged);
    p = trace_put_varint(p, step % 16 == 0 ? trace_zigzag(step / 16) << 1
                                           : trace_zigzag(step) << 1 | 1);
    words->used = (size_t)(p - words->pairs);
    words->last = word;
    words->count++;
    return true;
}

static inline uint8_t *trace_put_references_words(uint8_t *p, uint64_t number,
                                                  const struct trace_references_words *words)
{
    p = trace_put_numbers(p, (const uint64_t[]){0, number, words->count}, 3);
    memcpy(p, words->pairs, words->used);
    return p + words->used;
}

/* Begins to read REFERENCES_WORDS at *p. Clears *word, which trace_references_next() then takes
 * from one to the next, `count` times. */
static inline bool trace_get_references_words(const uint8_t **p, const uint8_t *end,
                                              uint64_t *number, uint64_t *count,
                                              struct trace_references_word *word)
{
    uint64_t when;
    memset(word, 0, sizeof(*word));
    return trace_get_numbers(p, end, (uint64_t *[]){&when, number, count}, 3);
}

static inline bool trace_references_next(const uint8_t **p, const uint8_t *end,
                                         struct trace_references_word *word)
{
    uint64_t gap, step;
    if (!trace_get_varint(p, end, &gap) || !trace_get_varint(p, end, &step))
        return false;
    const uint64_t distance = (uint64_t)trace_unzigzag(step >> 1);
    word->where += (gap & ~UINT64_C(1)) * 4;
    word->to += step & 1 ? distance : distance * 16;
    word->tagged = gap & 1;
    return true;
}
