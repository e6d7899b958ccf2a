/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of one of our programs, as a table. The program reads its arguments and prints
 * --help by the table. tests/docs/option_documents.c makes the heads in the man page and the
 * completion file from it. So an option exists everywhere or nowhere. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct command_option {
    char letter;          /* 0: it has none */
    const char *name;     /* without the dashes */
    const char *argument; /* its name in the help; NULL: the option takes none */
    bool optional;        /* the argument may be left out */
    const char *choices;  /* values of the argument, for completion, with blanks; NULL: a file */
    const char *help;     /* one paragraph, not broken into lines */
    const char *group;    /* title of the options from here on; NULL: that of the one before */
};

/* The arguments that are not options, for completion. */
enum command_operands {
    COMMAND_FILES,    /* files; or one of `words` */
    COMMAND_PROGRAM,  /* a program and its arguments */
    COMMAND_RECORDING /* a file or the process id of an mprof-run, then one of `words` */
};

struct command_line {
    const char *program;
    const char *synopsis; /* the arguments after the program's name */
    const char *about;    /* text of --help before the options, whole lines */
    const char *after;    /* text of --help after the options, whole lines, or NULL */
    const struct command_option *options;
    size_t count;
    bool program_follows; /* the first argument that is not an option ends them */
    enum command_operands operands;
    const char *words; /* with blanks, or NULL */
};

/* The most options that a table may have. */
#define COMMAND_OPTIONS_MAX 48u

/* Takes the option at this position of the table. `argument` may be NULL. Returns -1 to go on,
 * otherwise the exit status. */
typedef int command_line_take(void *context, int option, const char *argument);

/* Reads the options of `argv`, as getopt_long() does. `take` gets each, but for --help and
 * --version, which are carried out here. Returns -1 to go on: `optind` is then the place of the
 * first argument that is not an option. Otherwise returns the exit status: that of `take`, 0, or 2
 * after one line on standard error that says what is wrong and how to get help. */
int command_line_read(const struct command_line *line, int argc, char *const argv[],
                      command_line_take *take, void *context);

/* An option whose argument is kept as it is, a `const char *`; or, without one, as a bool. */
struct command_kept {
    int option;
    size_t at; /* the offset of its member */
};
/* Keeps the argument of an option. Returns false if it is not in the list. */
bool command_line_keep(const struct command_kept *kept, size_t count, int option,
                       const char *argument, void *arguments);

/* Prints "PROGRAM: MESSAGE; PROGRAM --help …" on standard error. Returns 2, the exit status. */
__attribute__((format(printf, 2, 3))) int command_line_wrong(const struct command_line *line,
                                                             const char *format, ...);

/* Writes the option in the form "-o, --output=TRACE", cut to `size`. Returns its length. */
size_t command_option_head(const struct command_option *option, char *text, size_t size);
