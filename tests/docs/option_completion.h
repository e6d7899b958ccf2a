/* SPDX-License-Identifier: BSD-2-Clause */
/* Completion files of three shells, made from the table of a program's options. */
#ifndef MPROF_TESTS_OPTION_COMPLETION_H
#define MPROF_TESTS_OPTION_COMPLETION_H

#include "cli/command_line.h"

/* Each prints the whole file on standard output. */
void print_bash_completion(const struct command_line *line);
void print_zsh_completion(const struct command_line *line);
void print_fish_completion(const struct command_line *line);

#endif
