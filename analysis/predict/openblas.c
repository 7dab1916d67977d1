/* SPDX-License-Identifier: BSD-3-Clause */
/* SGEMM of OpenBLAS, from its driver and its kernels for x86: driver/level3/level3.c and
   kernel/x86_64 of version 0.3.21, compared with results of Debian's library.

   The library computes column-major D' (m' x n') = A' B'.  A row-major D is the transpose of
   D', so that B is A' and A is B'.

   The driver cuts k into panels of `panel` k, and adds the sum of a panel to D'.  The last
   two panels share their k (balance_tail).  In a panel a kernel multiplies a block of rows of
   A' and a block of columns of B'. */
#include "analysis/predict/library.h"

#include "emu/gemm.h"
#include "lib/base/size.h"

#include <assert.h>

/* A call in rows and columns of D', and what its rules choose. */
struct call {
    struct prediction *x;
    const struct core *core;
    size_t m, n, k;
    bool trans_a, trans_b; /* whether A' and B' are stored by rows */
};

/* A core type. */
struct core {
    const char *unit; /* that multiplies and adds                                      */
    int panel;        /* the largest number of k of a panel                            */
    int step;         /* rows of the kernel, of which the first of two panels that share
                         their k has a multiple                                        */
};

static const struct core skylakex = { "fma/f32", 448, 16 },
                         sandybridge = { "mul-add/f32", 384, 16 };

const struct library_chip openblas_chips[] = {
    { "skylakex", "processors with AVX-512", &skylakex },
    { "sandybridge", "processors with AVX and without multiply-add", &sandybridge },
    { 0 }
};

/* --- orders of k ------------------------------------------------------------------ */

/* The computation by panels, each in the order `within`. */
static int by_panels(const struct call *c, struct bitcut_order within)
{
    struct bitcut_gemm g =
        gemm_of(bitcut_recipe_find("fp32"), bitcut_unit_find(c->core->unit, NULL));
    g.order = within;
    if (c->k > (size_t)c->core->panel) {
        g.order.slices = (int)divide_up(c->k, (size_t)c->core->panel);
        g.order.tile = c->core->panel;
        g.order.balance_tail = c->core->step;
        g.order.slices_ascending = within.reduction != BITCUT_ASCENDING;
    }
    return prediction_computation(c->x, &g);
}

enum bitcut_status openblas_predict(struct prediction *x, struct fault *f)
{
    const struct bitcut_gemm *const g = &x->call;
    const bool by_rows = g->d.layout == BITCUT_ROW_MAJOR;
    const struct call c = { .x = x,
                            .core = x->chip->kernels,
                            .m = by_rows ? g->n : g->m,
                            .n = by_rows ? g->m : g->n,
                            .k = g->k,
                            .trans_a = by_rows ? g->b.layout != BITCUT_ROW_MAJOR
                                               : g->a.layout == BITCUT_ROW_MAJOR,
                            .trans_b = by_rows ? g->a.layout != BITCUT_ROW_MAJOR
                                               : g->b.layout == BITCUT_ROW_MAJOR };
    x->transposed = by_rows;
    if (g->alpha != 0x3f800000 || g->beta << 1)
        return fault_set(f, BITCUT_UNSUPPORTED, "alpha other than 1 and beta other than 0 are "
                                                "not predicted");
    const int order = by_panels(&c, (struct bitcut_order){ .lanes = 0 });
    return prediction_add(x, (struct predicted_part){ 0, c.m, 0, c.n, order }, f);
}
