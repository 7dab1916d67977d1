/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/sampling/order_set.h"

#include "emu/fp64/fp64_gemm.h"

/* Split-K, stages that share a tile, trees, panels as in CPU libraries, and partial tiles
   first or last.  The format of partial sums stays that of the GEMM. */
static const struct bitcut_order orders[] = {
    { .slices = 2 },
    { .slices = 3, .tile = 32 },
    { .slices = 4, .tile = 64, .reduction = BITCUT_DESCENDING },
    { .slices = 8, .reduction = BITCUT_TREE },
    { .slices = 3, .cut = 8, .tile = 32, .partial_first = true },
    { .slices = 4, .tile = 48, .balance_tail = 16 },
    { .tile = 32, .partial_first = true },
    { .lanes = 2 },
    { .lanes = 4, .chunk = 8 },
    { .lanes = 8, .chunk = 4, .reduction = BITCUT_TREE },
};

enum { ORDERS = sizeof orders / sizeof *orders };

_Static_assert((int)ORDERS < (int)ORDERS_MAX, "room for one more order");

/* Slices of k of an FP64 GEMM by a scheme, as many as have a block of 128 k. */
static size_t scheme_orders(struct bitcut_order order[ORDERS_MAX],
                            const struct bitcut_gemm *g, size_t k)
{
    static const int slices[] = { 2, 3, 4, 8, 16, 32 };
    enum { BLOCK = 128 };
    size_t count = 1;
    order[0] = g->order;
    for (size_t i = 0; i < sizeof slices / sizeof *slices; i++) {
        if (g->scheme->backward || k < (size_t)slices[i] * BLOCK) continue;
        order[count] = g->order;
        order[count++].slices = slices[i];
    }
    return count;
}

size_t order_set(struct bitcut_order order[ORDERS_MAX], const struct bitcut_gemm *g,
                 size_t k)
{
    struct bitcut_gemm other = *g;
    struct gemm_plan plan;
    size_t count = 1;
    if (g->scheme) return scheme_orders(order, g, k);
    struct bitcut_gemm sized = *g;
    order[0] = g->order;
    sized.k = k;
    for (size_t i = 0; i < ORDERS; i++) {
        other.order = orders[i];
        other.order.partial_format = g->order.partial_format;
        other.order.partial_store = g->order.partial_store;
        if (gemm_plan_on_values(&plan, &other, NULL) != BITCUT_OK) continue;
        const enum bitcut_status status = gemm_check_order(&sized, &plan, NULL);
        if (status == BITCUT_NO_MEMORY) return 0;
        if (status == BITCUT_OK) order[count++] = other.order;
    }
    return count;
}
