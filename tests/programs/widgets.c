/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The producer and consumer of the 1988 profiler's paper, written again: red and blue widgets
 * are made at random, only the blue ones are consumed.
 */
#include <stdio.h>
#include <stdlib.h>

enum color { RED, BLUE };

struct widget {
    enum color color;
    int data[50];
};

struct widget *make_widget(enum color color);
struct widget *make_red_widget(void);
struct widget *make_blue_widget(void);
void consume_widget(struct widget *widget);

__attribute__((noinline)) struct widget *make_widget(enum color color)
{
    struct widget *widget = malloc(sizeof *widget);
    if (!widget)
        abort();
    widget->color = color;
    return widget;
}

__attribute__((noinline)) struct widget *make_red_widget(void)
{
    struct widget *widget = make_widget(RED);
    widget->data[0] = 1;
    return widget;
}

__attribute__((noinline)) struct widget *make_blue_widget(void)
{
    struct widget *widget = make_widget(BLUE);
    widget->data[0] = 2;
    return widget;
}

__attribute__((noinline)) void consume_widget(struct widget *widget)
{
    if (widget->color == BLUE)
        free(widget);
}

int main(void)
{
    srand(1988);
    for (int i = 0; i < 10000; i++)
        consume_widget(rand() & 64 ? make_red_widget() : make_blue_widget());
    return 0;
}
