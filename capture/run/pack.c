/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/run/pack.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "capture/run/client_chunk.h"
#include "schemas/array.h"
#include "schemas/pack/trace_packed.h"

/* Chunks that are packed together. Packed, they must fit into one slot. */
#define GROUP_MAX 4u
/* Groups per step, which take some milliseconds. */
#define STEP_GROUPS 8u

struct run_pack {
    const struct client *client;
    struct trace_packer *packer;
    struct client_chunk container;
    uint32_t sequence; /* of the next container */
    unsigned group;    /* chunks per group: less than GROUP_MAX if that many did not fit */
    bool stopped;      /* no room, or the file system makes no holes */
    uint32_t known;    /* slots below are packed or in `waiting` */
    uint32_t *waiting; /* slots that are not packed yet */
    size_t waiting_count, waiting_capacity;
    uint8_t *chunk;
};

struct run_pack *run_pack_begin(const struct client *client)
{
    struct run_pack *pack = calloc(1, sizeof(*pack));
    if (!pack)
        return NULL;
    pack->client = client;
    pack->group = GROUP_MAX;
    pack->packer = trace_packer_new((size_t)GROUP_MAX * TRACE_CHUNK_SIZE_DEFAULT, TRACE_PACK_QUICK);
    pack->chunk = malloc(TRACE_CHUNK_SIZE_DEFAULT);
    if (pack->packer && pack->chunk)
        return pack;
    run_pack_end(pack);
    return NULL;
}

void run_pack_end(struct run_pack *pack)
{
    if (!pack)
        return;
    client_chunk_leave(&pack->container);
    trace_packer_free(pack->packer);
    free(pack->waiting);
    free(pack->chunk);
    free(pack);
}

static bool find_new(struct run_pack *pack)
{
    uint32_t count = atomic_load((_Atomic uint32_t *)&pack->client->header->chunk_count);
    for (; pack->known < count; pack->known++) {
        if (!array_grow(&pack->waiting, &pack->waiting_capacity, pack->waiting_count + 1,
                        sizeof(*pack->waiting)))
            return false;
        pack->waiting[pack->waiting_count++] = pack->known;
    }
    return true;
}

enum slot_state { SLOT_OPEN, SLOT_LEFT, SLOT_CONTAINER };

static enum slot_state slot_state_of(const struct run_pack *pack, uint32_t slot)
{
    struct trace_chunk_header header;
    if (pread(pack->client->descriptor, &header, sizeof(header),
              (off_t)client_slot_offset(pack->client, slot)) != (ssize_t)sizeof(header) ||
        header.magic != TRACE_CHUNK_MAGIC)
        return SLOT_OPEN;
    if (header.thread == TRACE_THREAD_PACKED)
        return SLOT_CONTAINER;
    return header.flags & TRACE_CHUNK_LEFT ? SLOT_LEFT : SLOT_OPEN;
}

/* Moves up to `most` slots that can be packed from the waiting slots to `ready`. */
static unsigned take_ready(struct run_pack *pack, uint32_t ready[GROUP_MAX], unsigned most)
{
    size_t kept = 0;
    unsigned count = 0;
    for (size_t i = 0; i < pack->waiting_count; i++) {
        uint32_t slot = pack->waiting[i];
        enum slot_state state = count < most ? slot_state_of(pack, slot) : SLOT_OPEN;
        if (state == SLOT_LEFT)
            ready[count++] = slot;
        else if (state == SLOT_OPEN)
            pack->waiting[kept++] = slot;
    }
    pack->waiting_count = kept;
    return count;
}

static void put_back(struct run_pack *pack, const uint32_t *slots, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        pack->waiting[pack->waiting_count++] = slots[i];
}

/* Returns the packed payload of these chunks, or NULL if they cannot be read. */
static const uint8_t *pack_chunks(struct run_pack *pack, const uint32_t *slots, unsigned count,
                                  size_t *length)
{
    for (unsigned i = 0; i < count; i++)
        if (pread(pack->client->descriptor, pack->chunk, TRACE_CHUNK_SIZE_DEFAULT,
                  (off_t)client_slot_offset(pack->client, slots[i])) != TRACE_CHUNK_SIZE_DEFAULT ||
            !trace_packer_add(pack->packer, pack->chunk, TRACE_CHUNK_SIZE_DEFAULT)) {
            trace_packer_end(pack->packer, length);
            return NULL;
        }
    return trace_packer_end(pack->packer, length);
}

static bool make_room(struct run_pack *pack, size_t length)
{
    if (client_chunk_reserve(&pack->container, pack->client, length))
        return true;
    client_chunk_leave(&pack->container);
    return client_chunk_begin(&pack->container, pack->client, TRACE_THREAD_PACKED,
                              pack->sequence++) &&
           client_chunk_reserve(&pack->container, pack->client, length);
}

static bool free_slot(const struct run_pack *pack, uint32_t slot)
{
    return client_free_space(pack->client, client_slot_offset(pack->client, slot),
                             TRACE_CHUNK_SIZE_DEFAULT);
}

/* Packs one group. Returns false if no group is ready or it could not be packed. */
static bool pack_group(struct run_pack *pack)
{
    uint32_t slots[GROUP_MAX];
    size_t length;
    unsigned count = take_ready(pack, slots, pack->group);
    if (count < pack->group) {
        put_back(pack, slots, count);
        return false;
    }
    const uint8_t *payload = pack_chunks(pack, slots, count, &length);
    if (!payload) {
        pack->stopped = true;
        return false;
    }
    if (length > TRACE_CHUNK_SIZE_DEFAULT - 2 * TRACE_CHUNK_HEADER_SIZE) {
        /* A chunk that does not fit even alone stays as it is. */
        if (count > 1) {
            pack->group = count / 2;
            put_back(pack, slots, count);
        }
        return true;
    }
    if (!make_room(pack, length)) {
        pack->stopped = true;
        return false;
    }
    client_chunk_put(&pack->container, TRACE_EXT_PACKED, payload, length);
    for (unsigned i = 0; i < count; i++)
        if (!free_slot(pack, slots[i]))
            pack->stopped = true;
    return !pack->stopped;
}

bool run_pack_step(struct run_pack *pack)
{
    if (!find_new(pack))
        pack->stopped = true;
    for (unsigned i = 0; i < STEP_GROUPS; i++)
        if (pack->stopped || !pack_group(pack))
            return false;
    return true;
}
