/* SPDX-License-Identifier: BSD-2-Clause */
/* The mailbox at which mprof-run speaks to a recorder in a process that runs already.
 *
 * The recorder exports it as `mprof_attach_1`. mprof-run loads the recorder into the process, or
 * finds it there, fills in the request and the texts, and lets a thread of the process call `call`
 * at a point where a program may call dlopen. Then it reads the answer. Nothing else is passed: all
 * memory belongs to the recorder. */
#pragma once

#include <stdint.h>

#define ATTACH_MAILBOX "mprof_attach_1"
#define ATTACH_TEXT 4096u

enum attach_request {
    ATTACH_BEGIN = 1, /* begin to record into `output` */
    ATTACH_END = 2,   /* end the trace, and leave the program's calls as they were before */
};

enum attach_answer {
    ATTACH_NOT_ANSWERED = 0,
    ATTACH_DONE = 1,
    ATTACH_ALREADY = 2, /* the recorder writes a trace: `output` holds its name */
    ATTACH_FAILED = 3,  /* `message` says why */
};

struct attach_mailbox {
    uint32_t size; /* of this structure */
    uint32_t request;
    uint32_t answer;
    uint64_t before_bytes; /* live bytes of the allocator at the beginning; UINT64_MAX: not known */
    uint32_t left;         /* number of modules that still call another allocator */
    void (*call)(void);
    char options[ATTACH_TEXT]; /* as MPROF_OPTIONS */
    char output[ATTACH_TEXT];  /* the trace, an absolute path */
    char message[1024];        /* what the recorder would print */
};
