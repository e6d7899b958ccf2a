/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/filter/number_list.h"

#include <stdlib.h>

static int compare(const void *left, const void *right)
{
    const struct number_range *a = left, *b = right;
    return a->low < b->low ? -1 : a->low > b->low;
}

struct number_list *number_list_new(const struct filter_item *items)
{
    size_t count = 0, kept = 0;
    for (const struct filter_item *item = items; item; item = item->next)
        count++;
    struct number_list *list = malloc(sizeof(*list) + count * sizeof(list->ranges[0]));
    if (!list)
        return NULL;
    struct number_range *ranges = list->ranges;
    count = 0;
    for (const struct filter_item *item = items; item; item = item->next)
        if (item->low <= item->high)
            ranges[count++] = (struct number_range){item->low, item->high};
    qsort(ranges, count, sizeof(*ranges), compare);
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 &&
            (ranges[kept - 1].high == UINT64_MAX || ranges[i].low <= ranges[kept - 1].high + 1)) {
            if (ranges[i].high > ranges[kept - 1].high)
                ranges[kept - 1].high = ranges[i].high;
        } else {
            ranges[kept++] = ranges[i];
        }
    }
    list->count = kept;
    return list;
}

size_t number_list_from(const struct number_list *list, uint64_t number)
{
    size_t low = 0, high = list->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (list->ranges[middle].high < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool number_list_has(const struct number_list *list, uint64_t number)
{
    const size_t i = number_list_from(list, number);
    return i < list->count && list->ranges[i].low <= number;
}
