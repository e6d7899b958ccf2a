/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes the parts of other files that list a program's options from the table of these options.
 *
 * usage: option_documents PROGRAM names       its options, one a line: --NAME [LETTER|-] ARGUMENT
 *        option_documents PROGRAM bash|zsh|fish
 *                                            its completion file for this shell
 *        option_documents PROGRAM man <PAGE   the man page with the heads of its options made
 * again: the two lines after each `.\" --NAME`
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options.h"
#include "tests/docs/option_completion.h"

static const struct command_line *const lines[] = {&run_command_line,    &ctl_command_line,
                                                   &ingest_command_line, &tui_command_line,
                                                   &report_command_line, &export_command_line};

static void print_names(const struct command_line *line)
{
    for (size_t i = 0; i < line->count; i++) {
        const struct command_option *option = &line->options[i];
        printf("--%s %c %s\n", option->name, option->letter ? option->letter : '-',
               !option->argument  ? ""
               : option->optional ? "optional"
                                  : "needed");
    }
}

/* In man(7) text a hyphen is a minus sign where it is to be copied. */
static void print_dashed(const char *text)
{
    for (; *text; text++)
        printf(*text == '-' ? "\\-" : "%c", *text);
}

static void print_head(const struct command_option *option)
{
    if (option->group)
        printf(".SS %s\n", option->group);
    fputs(".TP\n\\fB", stdout);
    if (option->letter)
        printf("\\-%c\\fR, \\fB", option->letter);
    fputs("\\-\\-", stdout);
    print_dashed(option->name);
    if (option->argument)
        printf(option->optional ? "\\fR[=\\fI%s\\fR]\n" : "\\fR=\\fI%s\\fR\n", option->argument);
    else
        puts("\\fR");
}

/* Prints the head of the option `name`, and counts it. False, after a message, without one. */
static bool print_head_of(const struct command_line *line, const char *name, unsigned *seen)
{
    for (size_t i = 0; i < line->count; i++)
        if (strcmp(line->options[i].name, name) == 0) {
            seen[i]++;
            print_head(&line->options[i]);
            return true;
        }
    fprintf(stderr, "%s has no option --%s\n", line->program, name);
    return false;
}

/* False, after a message, where an option is missing, twice or none of the program. */
static bool print_page(const struct command_line *line)
{
    char text[4096], name[64];
    unsigned seen[COMMAND_OPTIONS_MAX] = {0};
    bool good = true, behind = false; /* after a head: the old lines go */
    while (fgets(text, sizeof(text), stdin)) {
        if (behind && (strncmp(text, ".SS", 3) == 0 || strncmp(text, ".TP", 3) == 0 ||
                       strncmp(text, "\\fB", 3) == 0)) {
            behind = text[0] == '.';
            continue;
        }
        behind = sscanf(text, ".\\\" --%63[a-z-]", name) == 1;
        fputs(text, stdout);
        if (behind)
            good = print_head_of(line, name, seen) && good;
    }
    for (size_t i = 0; i < line->count; i++)
        if (seen[i] != 1) {
            fprintf(stderr, "the page of %s explains --%s %u times\n", line->program,
                    line->options[i].name, seen[i]);
            good = false;
        }
    return good;
}

int main(int argc, char **argv)
{
    const struct command_line *line = NULL;
    for (size_t i = 0; argc == 3 && i < sizeof(lines) / sizeof(*lines); i++)
        if (strcmp(lines[i]->program, argv[1]) == 0)
            line = lines[i];
    if (!line) {
        fputs("usage: option_documents PROGRAM names|bash|zsh|fish|man\n", stderr);
        return 2;
    }
    if (strcmp(argv[2], "names") == 0)
        print_names(line);
    else if (strcmp(argv[2], "bash") == 0)
        print_bash_completion(line);
    else if (strcmp(argv[2], "zsh") == 0)
        print_zsh_completion(line);
    else if (strcmp(argv[2], "fish") == 0)
        print_fish_completion(line);
    else
        return print_page(line) ? 0 : 1;
    return 0;
}
