/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/docs/option_completion.h"

#include <string.h>

static void print_bash_choices(const struct command_option *option)
{
    if (option->letter)
        printf("    -%c | ", option->letter);
    else
        printf("    ");
    printf("--%s) mapfile -t COMPREPLY < <(compgen ", option->name);
    if (option->choices)
        printf("-W '%s'", option->choices);
    else
        printf("-f");
    puts(" -- \"$word\") ;;");
}

static void print_bash_operands(const struct command_line *line)
{
    if (line->operands == COMMAND_PROGRAM)
        printf("compgen -c -- \"$word\"");
    else if (line->operands == COMMAND_RECORDING)
        printf("if [ \"$COMP_CWORD\" -eq 1 ]; then compgen -f -- \"$word\"; pgrep -x mprof-run; "
               "else compgen -W '%s' -- \"$word\"; fi",
               line->words);
    else if (line->words)
        printf("{ compgen -W '%s' -- \"$word\"; compgen -f -- \"$word\"; }", line->words);
    else
        printf("compgen -f -- \"$word\"");
}

void print_bash_completion(const struct command_line *line)
{
    const char *name = strchr(line->program, '-') + 1;
    printf("# bash completion for %s, made from the table of its options\n_mprof_%s()\n{\n",
           line->program, name);
    fputs("    local word=${COMP_WORDS[COMP_CWORD]} option=\n"
          "    [ \"$COMP_CWORD\" -eq 0 ] || option=${COMP_WORDS[COMP_CWORD - 1]}\n"
          "    # bash takes --name=value for three words.\n"
          "    [ \"$word\" != = ] || word=\n"
          "    [ \"$option\" != = ] || option=${COMP_WORDS[COMP_CWORD - 2]}\n"
          "    case $option in\n",
          stdout);
    for (size_t i = 0; i < line->count; i++)
        if (line->options[i].argument && !line->options[i].optional)
            print_bash_choices(&line->options[i]);
    fputs("    *)\n        case $word in\n        -*) mapfile -t COMPREPLY < <(compgen -W \"",
          stdout);
    for (size_t i = 0; i < line->count; i++)
        printf("%s--%s%s", i ? " " : "", line->options[i].name,
               line->options[i].argument && !line->options[i].optional ? "=" : "");
    fputs("\" -- \"$word\") ;;\n        *) mapfile -t COMPREPLY < <(", stdout);
    print_bash_operands(line);
    printf(") ;;\n        esac\n        ;;\n    esac\n"
           "    [[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace 2>/dev/null || true\n"
           "}\ncomplete -o filenames -F _mprof_%s %s\n",
           name, line->program);
}

/* Prints text for between single quotes: each character of `special` gets a backslash, and a
 * quote becomes `quote`. */
static void print_quoted(const char *text, const char *special, const char *quote)
{
    for (; *text; text++)
        if (*text == '\'')
            fputs(quote, stdout);
        else
            printf(strchr(special, *text) ? "\\%c" : "%c", *text);
}

/* Prints one specification of _arguments. */
static void print_zsh_option(const struct command_option *option)
{
    printf(" \\\n    ");
    if (option->letter)
        printf("'(-%c --%s)'{-%c%s,--%s%s}'", option->letter, option->name, option->letter,
               option->argument ? "+" : "", option->name, option->argument ? "=" : "");
    else
        printf("'--%s%s", option->name, option->optional ? "=-" : option->argument ? "=" : "");
    putchar('[');
    print_quoted(option->help, "[]\\", "'\\''");
    putchar(']');
    if (option->argument) {
        printf(option->optional ? "::%s:" : ":%s:", option->argument);
        if (!option->choices)
            printf("_files");
        else if (*option->choices) {
            putchar('(');
            print_quoted(option->choices, ":<>", "");
            putchar(')');
        } else
            putchar(' ');
    }
    putchar('\'');
}

void print_zsh_completion(const struct command_line *line)
{
    printf("#compdef %s\n# zsh completion for %s, made from the table of its options\n"
           "_arguments -s -S",
           line->program, line->program);
    for (size_t i = 0; i < line->count; i++)
        print_zsh_option(&line->options[i]);
    if (line->operands == COMMAND_PROGRAM)
        puts(" \\\n    '(-)1:PROGRAM:_command_names -e' '*::ARGUMENT:_normal'");
    else if (line->operands == COMMAND_RECORDING)
        printf(" \\\n    '1:PID or TRACE:{compadd -- $(pgrep -x mprof-run); _files}' "
               "'2:COMMAND:(%s)' '3:NAME: '\n",
               line->words);
    else if (line->words)
        printf(" \\\n    '*:SESSION:{compadd -- %s; _files}'\n", line->words);
    else
        puts(" \\\n    '*:FILE:_files'");
}

/* Prints the options of a program that a program follows only until that one begins. */
static void print_fish_option(const struct command_line *line, const struct command_option *option)
{
    printf("complete -c %s", line->program);
    if (line->program_follows)
        printf(" -n '__mprof_options_of_%s'", strchr(line->program, '-') + 1);
    if (option->letter)
        printf(" -s %c", option->letter);
    printf(" -l %s", option->name);
    if (option->argument && !option->optional)
        printf(option->choices ? " -x" : " -r -F");
    if (option->choices && *option->choices) {
        printf(" -a '");
        print_quoted(option->choices, "<>", "");
        putchar('\'');
    }
    printf(" -d '");
    print_quoted(option->help, "\\", "\\'");
    puts("'");
}

/* Prints a function that is true before the first argument that is not an option. */
static void print_fish_start(const struct command_line *line)
{
    printf("function __mprof_options_of_%s\n"
           "    set -l behind\n"
           "    for word in (commandline -opc)[2..-1]\n"
           "        if test -n \"$behind\"\n"
           "            set behind\n"
           "            continue\n"
           "        end\n"
           "        switch $word\n"
           "            case",
           strchr(line->program, '-') + 1);
    for (size_t i = 0; i < line->count; i++) {
        const struct command_option *option = &line->options[i];
        if (!option->argument || option->optional)
            continue;
        if (option->letter)
            printf(" -%c", option->letter);
        printf(" --%s", option->name);
    }
    puts("\n                set behind yes\n"
         "            case --\n"
         "                return 1\n"
         "            case '-*'\n"
         "            case '*'\n"
         "                return 1\n"
         "        end\n"
         "    end\n"
         "end");
}

void print_fish_completion(const struct command_line *line)
{
    printf("# fish completion for %s, made from the table of its options\n", line->program);
    if (line->program_follows)
        print_fish_start(line);
    for (size_t i = 0; i < line->count; i++)
        print_fish_option(line, &line->options[i]);
    if (line->operands == COMMAND_PROGRAM) {
        printf("complete -c %s -x -a '(__fish_complete_subcommand --", line->program);
        for (size_t i = 0; i < line->count; i++) {
            const struct command_option *option = &line->options[i];
            if (option->argument && !option->optional && option->letter)
                printf(" -%c", option->letter);
            if (option->argument && !option->optional)
                printf(" --%s", option->name);
        }
        puts(")'");
    } else if (line->operands == COMMAND_RECORDING) {
        printf("complete -c %s -n 'test (count (commandline -opc)) -eq 1' -a '(pgrep -x "
               "mprof-run)'\n"
               "complete -c %s -n 'test (count (commandline -opc)) -gt 1' -f -a '%s'\n",
               line->program, line->program, line->words);
    } else if (line->words) {
        printf("complete -c %s -a '%s'\n", line->program, line->words);
    }
}
