/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/command_line.h"

#include <getopt.h>
#include <stdarg.h>
#include <string.h>

#include "schemas/printable.h"

/* Columns of --help. */
enum { TEXT_COLUMN = 26, WIDTH = 80, HEAD_ROOM = 96 };
/* The value of getopt for the first option of a table; letters and '?' are smaller. */
enum { FIRST_VALUE = 256 };

/* Fills getopt's own tables. `letters` begins with '+' if the first operand ends the options, then
 * ':', as getopt's manual says. */
static void fill(const struct command_line *line, struct option *options, char *letters)
{
    if (line->program_follows)
        *letters++ = '+';
    *letters++ = ':';
    for (size_t i = 0; i < line->count && i < COMMAND_OPTIONS_MAX; i++) {
        const struct command_option *option = &line->options[i];
        options[i] = (struct option){option->name,
                                     !option->argument  ? no_argument
                                     : option->optional ? optional_argument
                                                        : required_argument,
                                     NULL, FIRST_VALUE + (int)i};
        if (!option->letter)
            continue;
        *letters++ = option->letter;
        for (int colons = option->argument ? 1 + option->optional : 0; colons > 0; colons--)
            *letters++ = ':';
    }
    *letters = 0;
}

/* Returns the position of an option in the table by its letter, or `count`. */
static size_t find_letter(const struct command_line *line, int letter)
{
    size_t i = 0;
    while (i < line->count && (!letter || line->options[i].letter != letter))
        i++;
    return i;
}

/* Says why getopt did not take a long option: no name begins with it, or more than one does. */
static void explain_name(const struct command_line *line, const char *written)
{
    const char *name = written + strspn(written, "-");
    const size_t length = strcspn(name, "=");
    const char *first = NULL, *second = NULL;
    for (size_t i = 0; i < line->count; i++)
        if (length > 0 && strncmp(line->options[i].name, name, length) == 0) {
            second = first;
            first = line->options[i].name;
        }
    if (second)
        command_line_wrong(line, "--%.*s can be --%s or --%s", (int)length, name, second, first);
    else
        command_line_wrong(line, "there is no option --%.*s", (int)length, name);
}

/* Says why getopt did not take what it has just read. */
static void explain(const struct command_line *line, int why, char *const argv[])
{
    const bool known = optopt >= FIRST_VALUE;
    const size_t place = known ? (size_t)(optopt - FIRST_VALUE) : find_letter(line, optopt);
    if (why == ':' && place < line->count) {
        const struct command_option *option = &line->options[place];
        command_line_wrong(line, "--%s needs an argument: %s", option->name, option->argument);
    } else if (known)
        command_line_wrong(line, "--%s takes no argument", line->options[place].name);
    else if (optopt)
        command_line_wrong(line, "there is no option -%c", optopt);
    else
        explain_name(line, argv[optind - 1]);
}

bool command_line_keep(const struct command_kept *kept, size_t count, int option,
                       const char *argument, void *arguments)
{
    for (size_t i = 0; i < count; i++)
        if (kept[i].option == option) {
            char *const at = (char *)arguments + kept[i].at;
            memcpy(at, argument ? (const void *)&argument : &(bool){true},
                   argument ? sizeof(argument) : sizeof(bool));
            return true;
        }
    return false;
}

int command_line_wrong(const struct command_line *line, const char *format, ...)
{
    char message[1024], text[PRINTABLE_BYTE_MAX * sizeof(message)];
    va_list values;
    va_start(values, format);
    vsnprintf(message, sizeof(message), format, values);
    va_end(values);
    printable_copy(text, sizeof(text), message);
    fprintf(stderr, "%s: %s; %s --help lists the options\n", line->program, text, line->program);
    return 2;
}

size_t command_option_head(const struct command_option *option, char *text, size_t size)
{
    char letter[8] = "    ";
    if (option->letter)
        snprintf(letter, sizeof(letter), "-%c, ", option->letter);
    const int length =
        !option->argument ? snprintf(text, size, "%s--%s", letter, option->name)
        : option->optional
            ? snprintf(text, size, "%s--%s[=%s]", letter, option->name, option->argument)
            : snprintf(text, size, "%s--%s=%s", letter, option->name, option->argument);
    return length < 0 ? 0 : (size_t)length < size ? (size_t)length : size - 1;
}

/* Returns the columns that the text takes: bytes that continue a UTF-8 character take none. */
static size_t columns(const char *text, size_t length)
{
    size_t count = 0;
    for (size_t i = 0; i < length; i++)
        count += ((unsigned char)text[i] & 0xC0) != 0x80;
    return count;
}

/* Prints `text` from TEXT_COLUMN on, broken between words. The cursor is at `column`. */
static void print_text(FILE *out, size_t column, const char *text)
{
    bool first = true;
    if (column + 2 > TEXT_COLUMN) {
        fputc('\n', out);
        column = 0;
    }
    for (size_t length; *text; text += length + (text[length] != 0)) {
        length = strcspn(text, " ");
        const size_t wide = columns(text, length);
        if (!first && column + 1 + wide > WIDTH) {
            fputc('\n', out);
            column = 0;
            first = true;
        }
        if (first)
            fprintf(out, "%*s", (int)(TEXT_COLUMN - column), "");
        else
            fputc(' ', out);
        column = (first ? TEXT_COLUMN : column + 1) + wide;
        fprintf(out, "%.*s", (int)length, text);
        first = false;
    }
    fputc('\n', out);
}

static void command_line_help(const struct command_line *line, FILE *out)
{
    fprintf(out, "usage: %s %s\n\n%s\n", line->program, line->synopsis, line->about);
    for (size_t i = 0; i < line->count; i++) {
        char head[HEAD_ROOM];
        const size_t length = command_option_head(&line->options[i], head, sizeof(head));
        if (line->options[i].group)
            fprintf(out, "%s%s:\n", i ? "\n" : "", line->options[i].group);
        fprintf(out, "  %s", head);
        print_text(out, 2 + length, line->options[i].help);
    }
    if (line->after)
        fprintf(out, "\n%s", line->after);
}

int command_line_read(const struct command_line *line, int argc, char *const argv[],
                      command_line_take *take, void *context)
{
    struct option options[COMMAND_OPTIONS_MAX + 1] = {{0}};
    char letters[3 * COMMAND_OPTIONS_MAX + 3];
    int value, status = -1;
    fill(line, options, letters);
    opterr = 0;
    while (status < 0 && (value = getopt_long(argc, argv, letters, options, NULL)) != -1) {
        if (value == '?' || value == ':') {
            explain(line, value, argv);
            return 2;
        }
        const int option =
            value >= FIRST_VALUE ? value - FIRST_VALUE : (int)find_letter(line, value);
        const char *name = line->options[option].name;
        if (strcmp(name, "help") == 0) {
            command_line_help(line, stdout);
            status = 0;
        } else if (strcmp(name, "version") == 0) {
            printf("%s %s\n", line->program, MPROF_VERSION);
            status = 0;
        } else
            status = take(context, option, optarg);
    }
    return status;
}
