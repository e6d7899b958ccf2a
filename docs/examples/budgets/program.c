/* SPDX-License-Identifier: BSD-2-Clause */
/* Keeps lines in a list, and frees them. */
#include <stdio.h>
#include <stdlib.h>

struct line {
    struct line *next;
    char text[100];
};

__attribute__((noinline)) static struct line *read_lines(int count)
{
    struct line *first = NULL;
    for (int i = 0; i < count; i++) {
        struct line *line = malloc(sizeof(*line));
        if (!line)
            break;
        snprintf(line->text, sizeof(line->text), "line %d", i);
        line->next = first;
        first = line;
    }
    return first;
}

int main(void)
{
    struct line *next;
    for (struct line *line = read_lines(500); line; line = next) {
        next = line->next;
        free(line);
    }
    return 0;
}
