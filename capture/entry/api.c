/* SPDX-License-Identifier: BSD-2-Clause */
/* Control from inside the program: the functions of mprof.h, and how programs find them. */
#include "capture/entry/startup.h"

#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <string.h>

#define MPROF_IMPLEMENTATION
#include "capture/entry/names.h"
#include "capture/mprof.h"
#include "capture/record/control.h"
#include "capture/record/recorder.h"

#define FRAME __builtin_frame_address(0)
#define NOTE_TYPE 1u

static const char note_name[] = "mprof";

ENTRY_POINT void mprof_mark(const char *name)
{
    marks_put(FRAME, name);
    references_await_mark(name);
}

ENTRY_POINT void mprof_snapshot(const char *name)
{
    marks_put_snapshot(FRAME, name);
}

ENTRY_POINT void mprof_on_snapshot(void (*callback)(void *data), void *data)
{
    marks_on_snapshot(callback, data);
}

ENTRY_POINT void mprof_pause(void)
{
    recorder_set_paused(FRAME, true);
}

ENTRY_POINT void mprof_resume(void)
{
    recorder_set_paused(FRAME, false);
}

ENTRY_POINT void set_mprof_autosave(unsigned long count)
{
    recorder_set_autosave(FRAME, count);
}

ENTRY_POINT void mprof_stop(void)
{
    recorder_stop(FRAME);
}

ENTRY_POINT void mprof_restart(const char *file)
{
    recorder_restart(FRAME, file);
}

static const struct mprof_api own_api = {
    .size = sizeof(struct mprof_api),
    .mark = mprof_mark,
    .snapshot = mprof_snapshot,
    .pause = mprof_pause,
    .resume = mprof_resume,
    .arena_create = mprof_arena_create,
    .arena_reset = mprof_arena_reset,
    .arena_destroy = mprof_arena_destroy,
    .arena_alloc = mprof_arena_alloc,
    .arena_free = mprof_arena_free,
    .arena_realloc = mprof_arena_realloc,
    .type = mprof_type,
    .autosave = set_mprof_autosave,
    .stop = mprof_stop,
    .restart = mprof_restart,
    .on_snapshot = mprof_on_snapshot,
    .runtime_create = mprof_runtime_create,
    .kind_create = mprof_kind_create,
    .arena_alloc_kind = mprof_arena_alloc_kind,
    .collected = mprof_collected,
    .collection = mprof_collection,
    .type_kind = mprof_type_kind,
    .arena_skips = mprof_arena_skips,
};
/* The name under which programs find it; they may have one of their own. */
extern const struct mprof_api mprof_api_1 __attribute__((alias("own_api"), visibility("default")));

/* Binds the notes between `at` and `end`. Each has a head of three words, then name and descriptor,
 * both rounded up to `alignment`. */
static void bind_notes(const uint8_t *at, const uint8_t *end, size_t alignment)
{
    while ((size_t)(end - at) >= sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) head;
        memcpy(&head, at, sizeof(head));
        const uint8_t *name = at + sizeof(head);
        const size_t name_size = (head.n_namesz + alignment - 1) & ~(alignment - 1);
        const size_t size = (head.n_descsz + alignment - 1) & ~(alignment - 1);
        if (name_size > (size_t)(end - name) || size > (size_t)(end - name) - name_size)
            return;
        const uint8_t *descriptor = name + name_size;
        int64_t distance;
        if (head.n_type == NOTE_TYPE && head.n_namesz == sizeof(note_name) &&
            memcmp(name, note_name, sizeof(note_name)) == 0 && head.n_descsz == sizeof(distance)) {
            memcpy(&distance, descriptor, sizeof(distance));
            *(const struct mprof_api **)((uintptr_t)descriptor + (uintptr_t)distance) = &own_api;
        }
        at = descriptor + size;
    }
}

static int bind_object(struct dl_phdr_info *object, size_t size, void *unused)
{
    for (unsigned i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        const uint8_t *at = (const uint8_t *)(object->dlpi_addr + segment->p_vaddr);
        if (segment->p_type == PT_NOTE && segment->p_memsz > 0)
            bind_notes(at, at + segment->p_memsz, segment->p_align == 8 ? 8 : 4);
    }
    return 0;
}

void api_bind(void)
{
    dl_iterate_phdr(bind_object, NULL);
}
