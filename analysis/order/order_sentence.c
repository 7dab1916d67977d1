/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/order/order_sentence.h"

#include "lib/base/size.h"
#include "lib/base/text.h"
#include "lib/gemm/order.h"
#include "lib/number/format.h"

#include <stdio.h>

void order_text(char *text, size_t size, const struct bitcut_order *o, size_t k)
{
    static const char *const ways[] = {
        [BITCUT_ASCENDING] = "in order",
        [BITCUT_DESCENDING] = "from the last one on",
        [BITCUT_TREE] = "as a tree",
    };
    const size_t unit = o->cut ? (size_t)o->cut : o->tile ? (size_t)o->tile : 1;
    const size_t slice =
        o->slices > 1 ? divide_up(divide_up(k, unit), (size_t)o->slices) * unit : k;
    char multiple[40];
    snprintf(multiple, sizeof multiple, "the first a multiple of %d", o->halve);
    text[0] = 0;
    if (o->rest_first && !o->cut)
        say_more(text, size, "the %zu k that fill no tile of %d come first", k % unit,
                 o->tile);
    if (o->slices > 1 && slice == 1) say_more(text, size, "all products are sums by themselves");
    else if (o->slices > 1)
        say_more(text, size, "%sk is cut into slices of %zu", *text ? ", " : "", slice);
    if (o->slices > 1 && o->halve)
        say_more(text, size, ", of which the last two are halves of what both have (%s)",
                 o->halve > 1 ? multiple : "the larger first");
    if (o->rest_first && o->cut)
        say_more(text, size, "%swhat fills no tile of %d comes first%s",
                 *text ? ", in each of which " : "", o->tile, *text ? "" : " in k");
    if (o->lanes > 1 && o->turn)
        say_more(text, size, "%sk goes to %d sums in turn, %d at a time",
                 *text ? ", " : "", o->lanes, o->turn);
    else if (o->lanes > 1)
        say_more(text, size, "%sk-steps go to %d sums in turn", *text ? ", " : "",
                 o->lanes);
    if (o->slices > 1 || o->lanes > 1)
        say_more(text, size, ", which are added %s%s%s", ways[o->reduction],
                 o->sums ? " in " : "", o->sums ? o->sums->name : "");
}

void order_options(char *text, size_t size, const struct bitcut_order *o)
{
    say_more(text, size, "slices=%d", o->slices);
    if (o->cut) say_more(text, size, ",cut=%d", o->cut);
    say_more(text, size, ",tile=%d", o->tile);
    if (o->halve) say_more(text, size, ",halve=%d", o->halve);
    say_more(text, size, "%s,lanes=%d,turn=%d,reduction=%s",
             o->rest_first ? ",rest-first" : "", o->lanes, o->turn,
             reductions[o->reduction].name);
    if (o->sums) say_more(text, size, ",sums=%s", o->sums->name);
}
