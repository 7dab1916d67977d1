/* SPDX-License-Identifier: BSD-3-Clause */
/* SGEMM of BLIS 0.9.0, from its blocks of k and its kernels, compared with results of
   Debian's library: a sum from zero in each block of k, which is added to D.  The last block
   takes a remainder that is not longer than the largest block allows.  Products by a vector
   have kernels of their own.  Threads share rows and columns, never k. */
#include "analysis/predict/library.h"

#include "emu/gemm.h"
#include "lib/base/size.h"

/* A configuration. */
struct configuration {
    const char *unit;    /* that multiplies and adds                                  */
    size_t block, most;  /* number of k of a block, and the largest number of the last one */
    bool fused_vectors;  /* whether products by a vector are those of the kernels for AVX2:
                            bli_axpyf_zen_int_8, bli_dotxf_zen_int_8                   */
};

static const struct configuration skx = { "fma/f32", 384, 480, true },
                                  sandybridge = { "mul-add/f32", 384, 384, false };

const struct library_chip blis_chips[] = {
    { "skx", "processors with AVX-512", &skx },
    { "sandybridge", "processors with AVX and without multiply-add", &sandybridge },
    { 0 }
};

static enum bitcut_status add(struct prediction *x, const char *unit, struct bitcut_order order,
                              size_t row, size_t rows, size_t cols, struct fault *f)
{
    struct bitcut_gemm g = gemm_of(bitcut_recipe_find("fp32"), bitcut_unit_find(unit, NULL));
    g.order = order;
    const struct predicted_part part = { row, rows, 0, cols, prediction_computation(x, &g) };
    return rows ? prediction_add(x, part, f) : BITCUT_OK;
}

static enum bitcut_status refuse(struct fault *f, const char *what)
{
    return fault_set(f, BITCUT_UNSUPPORTED, "%s", what);
}

/* The product of a matrix and a vector; of D with one row, the transposed product.  Eight rows
   at a time have a multiply-add, other rows have a product and a sum.  A matrix by columns is
   added column by column.  Of a matrix by rows, eight rows have eight sums each, to which a
   remainder of k is added by products and sums; other rows have sums that no order
   describes, unless k is short. */
static enum bitcut_status predict_vector(struct prediction *x, struct fault *f)
{
    enum { ROWS = 8, LANES = 8, LONG = 32 };
    const struct bitcut_order one = { .lanes = 0 },
                              eight = { .lanes = LANES,
                                        .chunk = 1,
                                        .unroll = LANES,
                                        .reduction = BITCUT_TREE };
    const struct configuration *const c = x->chip->kernels;
    const struct bitcut_gemm *const g = &x->call;
    const bool column = g->n == 1;
    const size_t rows = column ? g->m : g->n, full = rows / ROWS * ROWS, rest = rows - full;
    const bool by_rows = column ? g->a.layout == BITCUT_ROW_MAJOR
                                : g->b.layout == BITCUT_COLUMN_MAJOR;
    enum bitcut_status status;
    x->transposed = !column;
    if (rows == 1) return refuse(f, "products of two vectors are not predicted");
    if (by_rows && ((g->k >= LANES && g->k % LANES && full) || (g->k >= LONG && rest)))
        return refuse(f, "this product of rows by a vector has sums that no order describes");
    if (by_rows && g->k >= LANES) status = add(x, c->unit, eight, 0, full, 1, f);
    else status = add(x, by_rows ? "mul-add/f32" : c->unit, one, 0, full, 1, f);
    return status == BITCUT_OK ? add(x, "mul-add/f32", one, full, rest, 1, f) : status;
}

enum bitcut_status blis_predict(struct prediction *x, struct fault *f)
{
    const struct configuration *const c = x->chip->kernels;
    const struct bitcut_gemm *const g = &x->call;
    struct bitcut_order order = { .lanes = 0 };
    const enum bitcut_status status = prediction_check_product(x, f);
    if (status != BITCUT_OK) return status;
    if (g->m == 1 || g->n == 1) {
        if (c->fused_vectors) return predict_vector(x, f);
        return refuse(f, "products by a vector are not predicted for this configuration");
    }
    if (g->k > c->most) {
        const size_t last = g->k % c->block;
        if (last && last <= c->most - c->block)
            return fault_set(f, BITCUT_UNSUPPORTED,
                             "the last block of k would have %zu more than the others, which "
                             "no order describes",
                             last);
        order.slices = (int)divide_up(g->k, c->block);
        order.tile = (int)c->block;
    }
    return add(x, c->unit, order, 0, g->m, g->n, f);
}
