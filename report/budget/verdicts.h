/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes the verdicts on budgets as the servers that build and review code read them. */
#pragma once

#include <stdio.h>

#include "report/budget/check.h"

/* The XML that CI servers read as results of JUnit. `name` names the session. */
void verdicts_junit(const struct budget_check *check, const char *name, FILE *out);
/* Annotations of GitHub's workflow commands: a line for each budget that is not kept. */
void verdicts_github(const struct budget_check *check, FILE *out);
/* SARIF 2.1.0. Returns false if memory was exhausted. */
bool verdicts_sarif(const struct budget_check *check, FILE *out);
/* A comment on a change: the verdicts in a table, and what explains those that are exceeded. */
void verdicts_markdown(const struct budget_check *check, FILE *out);
