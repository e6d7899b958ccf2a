/* SPDX-License-Identifier: BSD-2-Clause */
/* Answers the questions of jobs by the blocking functions of session.h. */
#ifndef MPROF_SESSION_JOB_ANSWER_H
#define MPROF_SESSION_JOB_ANSWER_H

#include "session/jobs.h"

/* Computes the exact answer. Returns false with `error` set; the answer is then empty. The caller
 * answer_free()s it. */
bool answer_find(struct session *session, const struct session_question *question,
                 struct session_answer *answer, struct session_error *error);
/* Finds an estimate of the answer, if there is one that is found much sooner. */
bool answer_estimate(struct session *session, const struct session_question *question,
                     struct session_answer *answer);
void answer_free(struct session_answer *answer);

#endif
