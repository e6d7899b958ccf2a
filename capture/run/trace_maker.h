/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes the files of traces for processes of the run that have dropped the right to make them, and
 * hands them over as descriptors; given_file.h is the other side. Only root needs this: others
 * cannot drop rights.
 *
 * A process gets a file if it is a descendant of this one, or of a process that records into a
 * trace of the run which this user owns: a daemon's parent has ended. The kernel tells who asks,
 * and the request has no content. The folder and the files stay closed to others.
 */
#ifndef MPROF_CAPTURE_RUN_TRACE_MAKER_H
#define MPROF_CAPTURE_RUN_TRACE_MAKER_H

#include "capture/options/options.h"

struct trace_maker {
    int listener;             /* -1: none */
    char name[OPTIONS_FILES]; /* for the option `files` of the recorder */
};

/* Begins to listen, if this process is root's. Says so if it cannot. */
void trace_maker_begin(struct trace_maker *maker);
/* Answers all who ask now. `trace`: the absolute path of the run's first trace. Never waits. */
void trace_maker_step(const struct trace_maker *maker, const char *trace);
void trace_maker_end(struct trace_maker *maker);

#endif
