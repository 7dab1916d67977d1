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
        [BITCUT_DESCENDING] = "from the last to the first",
        [BITCUT_TREE] = "as a tree",
        [BITCUT_HALVES] = "by halves",
    };
    const size_t unit = o->cut ? (size_t)o->cut : o->tile ? (size_t)o->tile : 1;
    const size_t slice =
        o->slices > 1 ? divide_up(divide_up(k, unit), (size_t)o->slices) * unit : k;
    char multiple[40];
    snprintf(multiple, sizeof multiple, "the first a multiple of %d", o->balance_tail);
    text[0] = 0;
    if (o->partial_first && !o->cut)
        text_add(text, size, "the partial tile of %zu k (tiles have %d) comes first",
                 k % unit, o->tile);
    if (o->slices > 1 && slice == 1)
        text_add(text, size, "all products are added one by one");
    else if (o->slices > 1)
        text_add(text, size, "%sk is cut into slices of %zu", *text ? ", " : "", slice);
    if (o->slices > 1 && o->balance_tail)
        text_add(text, size,
                 "; the last two each have half of their common "
                 "length (%s)",
                 o->balance_tail > 1 ? multiple : "the longer first");
    if (o->partial_first && o->cut)
        text_add(text, size, "%sthe partial tile of fewer than %d k comes first%s",
                 *text ? ", in each of which " : "", o->tile, *text ? "" : " in k");
    if (o->lanes > 1 && o->chunk)
        text_add(text, size, "%sk goes to %d sums in turn, %d at a time",
                 *text ? ", " : "", o->lanes, o->chunk);
    else if (o->lanes > 1)
        text_add(text, size, "%sk-steps go to %d sums in turn", *text ? ", " : "",
                 o->lanes);
    if (o->lanes > 1 && o->unroll) text_add(text, size, ", in rounds of %d", o->unroll);
    if (o->slices > 1 || o->lanes > 1)
        text_add(text, size, ", which are added %s", ways[o->reduction]);
    if (o->slices > 1 && o->slices_ascending) text_add(text, size, " (slices in order)");
    for (int i = 0; i < o->lanes && order_lists_lanes(o); i++)
        text_add(text, size, "%s%d", i ? ", " : " (lanes ", o->lane_order[i]);
    if (order_lists_lanes(o)) text_add(text, size, ")");
    if (o->partial_format && (o->slices > 1 || o->lanes > 1))
        text_add(text, size, o->partial_store ? ", from a workspace in %s" : " in %s",
                 o->partial_format->name);
    if (o->lanes > 1 && o->unroll)
        text_add(text, size, "; the remaining k%s are added ",
                 o->slices > 1 ? " of each slice" : "");
    if (o->lanes > 1 && o->unroll && o->narrow)
        text_add(text, size,
                 o->narrow_apart
                     ? "by as many sums, half as many, and so on to %d, and then "
                     : "to %d sums of these in turn, and then ",
                 o->narrow);
    if (o->lanes > 1 && o->unroll)
        text_add(text, size, "to %s one after another",
                 o->remainder_in_lane ? "the first of them before that" : "their sum");
}

void order_options(char *text, size_t size, const struct bitcut_order *o)
{
    text_add(text, size, "slices=%d", o->slices);
    if (o->cut) text_add(text, size, ",cut=%d", o->cut);
    text_add(text, size, ",tile=%d", o->tile);
    if (o->balance_tail) text_add(text, size, ",balance-tail=%d", o->balance_tail);
    text_add(text, size, "%s,lanes=%d,chunk=%d,reduction=%s",
             o->partial_first ? ",partial-first" : "", o->lanes, o->chunk,
             reductions[o->reduction].name);
    if (o->unroll) text_add(text, size, ",unroll=%d", o->unroll);
    if (o->narrow) text_add(text, size, ",narrow=%d", o->narrow);
    if (o->narrow_apart) text_add(text, size, ",narrow-apart");
    if (o->remainder_in_lane) text_add(text, size, ",remainder-in-lane");
    if (o->slices_ascending) text_add(text, size, ",slices-ascending");
    for (int i = 0; i < o->lanes && order_lists_lanes(o); i++)
        text_add(text, size, "%s%d", i ? "." : ",lane-order=", o->lane_order[i]);
    if (o->partial_format)
        text_add(text, size, ",partial-format=%s%s", o->partial_format->name,
                 o->partial_store ? ",partial-store" : "");
}
