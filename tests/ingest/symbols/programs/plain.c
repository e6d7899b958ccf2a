/* SPDX-License-Identifier: BSD-2-Clause */
/* C: static functions inlined into one another, a cold part, aliases, an IFUNC. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct list {
    struct list *next;
    char name[24];
};

static struct list *make(const char *name)
{
    struct list *list = calloc(1, sizeof(*list));
    if (!list) {
        fprintf(stderr, "no memory\n");
        abort();
    }
    strncpy(list->name, name, sizeof(list->name) - 1);
    return list;
}

static struct list *push(struct list *rest, const char *name)
{
    struct list *list = make(name);
    list->next = rest;
    return list;
}

__attribute__((noinline)) int visible_length(const struct list *list)
{
    int length = 0;
    for (; list; list = list->next)
        length++;
    return length;
}

int _alias_length(const struct list *list) __attribute__((alias("visible_length")));
int a_weak_length(const struct list *list) __attribute__((weak, alias("visible_length")));

static int plain_add(int a, int b)
{
    return a + b;
}

static int (*choose_add(void))(int, int)
{
    return plain_add;
}

int chosen_add(int a, int b) __attribute__((ifunc("choose_add")));

int main(int argc, char **argv)
{
    struct list *list = NULL;
    for (int i = 0; i < argc; i++)
        list = push(list, argv[i]);
    printf("%d\n", chosen_add(visible_length(list), argc));
    while (list) {
        struct list *next = list->next;
        free(list);
        list = next;
    }
    return 0;
}
