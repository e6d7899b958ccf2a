/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/record/requests.h"

#include <errno.h>

#include "capture/record/marks.h"
#include "capture/record/recorder.h"
#include "capture/record/toggle.h"
#include "capture/trace/file.h"

#define FRAME __builtin_frame_address(0)

static enum trace_answer requests_answer(bool done)
{
    return done ? TRACE_ANSWER_DONE : TRACE_ANSWER_NOT_DONE;
}

static enum trace_answer requests_do(const struct trace_asked *asked)
{
    switch (asked->request) {
    case TRACE_REQUEST_PAUSE:
        return recorder_set_paused(FRAME, true) ? TRACE_ANSWER_DONE : TRACE_ANSWER_ALREADY;
    case TRACE_REQUEST_RESUME:
        return recorder_set_paused(FRAME, false) ? TRACE_ANSWER_DONE : TRACE_ANSWER_ALREADY;
    case TRACE_REQUEST_MARK:
        return requests_answer(marks_put(FRAME, asked->name));
    case TRACE_REQUEST_SNAPSHOT:
        return requests_answer(marks_put_snapshot(FRAME, asked->name));
    case TRACE_REQUEST_STOP:
        recorder_stop(FRAME);
        return TRACE_ANSWER_DONE;
    default:
        return TRACE_ANSWER_NOT_DONE;
    }
}

void requests_serve(void)
{
    int error = errno;
    struct trace_asked asked;
    toggle_serve();
    if (trace_file_take_request(&asked))
        trace_file_answer(requests_do(&asked));
    errno = error;
}
