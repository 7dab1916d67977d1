/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/fit/fit_box.h"

#include <stdlib.h>

int box_lowest(const struct box *box, int field)
{
    return __builtin_ctzll(box->set[field]);
}

int box_highest(const struct box *box, int field)
{
    return 63 - __builtin_clzll(box->set[field]);
}

bool box_holds(const struct box *x, const struct box *y)
{
    uint64_t beside = 0;
    for (int f = 0; f < FIELD_COUNT; f++) beside |= y->set[f] & ~x->set[f];
    return beside == 0;
}

struct box box_first(const struct box *box)
{
    struct box one;
    for (int f = 0; f < FIELD_COUNT; f++) one.set[f] = box->set[f] & -box->set[f];
    return one;
}

bool box_next(struct box *one, const struct box *box)
{
    for (int f = 0; f < FIELD_COUNT; f++) {
        const uint64_t above = box->set[f] & ~(one->set[f] | (one->set[f] - 1));
        one->set[f] = above ? above & -above : box->set[f] & -box->set[f];
        if (above) return true;
    }
    return false;
}

bool box_subtract(struct box_list *to, const struct box *x, const struct box *hole)
{
    struct box rest = *x;
    for (int f = 0; f < FIELD_COUNT; f++) {
        struct box part = rest;
        part.set[f] &= ~hole->set[f];
        rest.set[f] &= hole->set[f];
        if (part.set[f] && !box_list_add(to, &part)) return false;
        if (!rest.set[f]) break;
    }
    return true;
}

/* --- lists ------------------------------------------------------------------------ */

bool box_list_add(struct box_list *list, const struct box *box)
{
    if (list->count == list->room) {
        const size_t room = list->room ? 2 * list->room : 16;
        struct box *at = realloc(list->at, room * sizeof *at);
        if (!at) return false;
        list->at = at;
        list->room = room;
    }
    list->at[list->count++] = *box;
    return true;
}

void box_list_clear(struct box_list *list)
{
    free(list->at);
    *list = (struct box_list){ 0 };
}

/* Whether `field` is the only one in which the boxes differ. */
static bool differ_in(int field, const struct box *x, const struct box *y)
{
    for (int f = 0; f < FIELD_COUNT; f++)
        if (f != field && x->set[f] != y->set[f]) return false;
    return true;
}

/* Join each box with all boxes that differ from it in this field alone. */
static bool join_in(struct box_list *list, int field)
{
    bool joined = false;
    for (size_t i = 0; i < list->count; i++)
        for (size_t j = list->count - 1; j > i; j--) {
            if (!differ_in(field, &list->at[i], &list->at[j])) continue;
            list->at[i].set[field] |= list->at[j].set[field];
            list->at[j] = list->at[--list->count];
            joined = true;
        }
    return joined;
}

void box_list_join(struct box_list *list)
{
    bool joined = true;
    while (joined) {
        joined = false;
        for (int f = FIELD_SUM + 1; f < FIELD_COUNT; f++) joined |= join_in(list, f);
    }
}
