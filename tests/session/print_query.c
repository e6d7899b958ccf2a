/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * print_query DATABASE FILTER...: prints the query of each filter in the SQL of a database, after a
 * line "# query", or why there is none, after a line "# refused" with the column.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/translation.h"

int main(int argc, char **argv)
{
    int dialect = 0;
    while (dialect < DIALECT_TOTAL && argc > 1 &&
           strcmp(argv[1], session_dialect_name((enum session_dialect)dialect)) != 0)
        dialect++;
    if (argc < 3 || dialect == DIALECT_TOTAL) {
        fprintf(stderr, "usage: print_query DATABASE FILTER...\n");
        return 2;
    }
    for (int i = 2; i < argc; i++) {
        struct session_error error = {.message = ""};
        char *query = session_translate(NULL, argv[i], (enum session_dialect)dialect, NULL, &error);
        if (query)
            printf("# query\n%s", query);
        else
            printf("# refused %d\n%s\n", error.column, error.message);
        free(query);
    }
    return 0;
}
