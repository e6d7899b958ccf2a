/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command line of one of our programs, as a table. The program reads its arguments by the
 * table, prints --help from it, and tests/docs/option_documents.c makes the heads in the man page
 * and the completion file from it. So an option exists everywhere or nowhere.
 */
#ifndef MPROF_CLI_COMMAND_LINE_H
#define MPROF_CLI_COMMAND_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct command_option {
    char letter;          /* 0: it has none */
    const char *name;     /* without the dashes */
    const char *argument; /* as it is shown; NULL: the option takes none */
    bool optional;        /* the argument may be left out */
    const char *choices;  /* the argument's values for completion, blanks between; NULL: a file */
    const char *help;     /* one paragraph, not broken into lines */
};

struct command_line {
    const char *program;
    const char *synopsis; /* what stands behind the program's name */
    const char *about;    /* text of --help before the options and behind them, of whole lines */
    const char *after;    /* NULL: nothing */
    const struct command_option *options;
    size_t count;
    bool program_follows; /* the first argument that is no option ends them */
    const char *operands; /* a command of bash that completes what is no option */
};

/* Room for what getopt is told: that many options at most. */
#define COMMAND_OPTIONS_MAX 48u

/* What command_line_next() returns instead of the position of an option in the table. */
enum { COMMAND_LINE_END = -1, COMMAND_LINE_WRONG = -2 };

/*
 * Reads the next option of `argv`, as getopt_long() does, and sets its `argument` (NULL: none).
 * COMMAND_LINE_END: `optind` is the place of the first argument that is no option.
 * COMMAND_LINE_WRONG: one line on standard error says what is wrong and where help is.
 */
int command_line_next(const struct command_line *line, int argc, char *const argv[],
                      const char **argument);

/* Prints "PROGRAM: MESSAGE; PROGRAM --help …" on standard error. Returns 2, the exit status. */
__attribute__((format(printf, 2, 3))) int command_line_wrong(const struct command_line *line,
                                                             const char *format, ...);

/* Prints what --help and --version print. */
void command_line_help(const struct command_line *line, FILE *out);
void command_line_version(const struct command_line *line, FILE *out);

/* Writes the option as in "-o, --output=TRACE", cut to `size`. Returns its length. */
size_t command_option_head(const struct command_option *option, char *text, size_t size);

#endif
