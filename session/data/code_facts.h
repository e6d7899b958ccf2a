/* SPDX-License-Identifier: BSD-2-Clause */
/* The facts about code that session/code_facts.h gives, read when they are first asked for. */
#ifndef MPROF_SESSION_DATA_CODE_FACTS_H
#define MPROF_SESSION_DATA_CODE_FACTS_H

struct code_facts;

/* NULL is allowed. */
void code_facts_free(struct code_facts *facts);

#endif
