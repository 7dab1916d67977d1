/* SPDX-License-Identifier: BSD-3-Clause */
/* SGEMM of BLIS 0.9.0, from its blocks of k and its kernels, compared with results of
   Debian's library: a sum from zero in each block of k, which is added to D.  The last
   block takes a remainder that is not longer than the largest block allows.  Products by
   a vector have kernels of their own, and in most configurations products with a short m,
   n or k have, too.  Threads share rows and columns, never k. */
#include "analysis/predict/library.h"

#include "emu/gemm.h"
#include "lib/base/size.h"

/* A configuration. */
struct configuration {
    const char *unit; /* that multiplies and adds                                       */
    size_t block;     /* number of k of a block, without short m, n or k                */
    size_t most;      /* the largest number of k of the last block                      */
    size_t fused;     /* columns that the kernel for a matrix by columns times a vector
                         adds at a time: bli_saxpyf_zen_int_8 or _5; 0: products by a
                         vector are not predicted                                       */
    /* m, n or k below these is short.  Its kernels read matrices that are not packed, by
       blocks of at most `short_block` k.  0: there are no such kernels. */
    size_t short_m, short_n, short_k, short_block;
};

static const struct configuration
    skx = { "fma/f32", 384, 480, 8, 0, 0, 0, 0 },
    haswell = { "fma/f32", 256, 256, 8, 201, 201, 201, 256 },
    zen = { "fma/f32", 256, 256, 8, 512, 512, 440, 256 },
    zen2 = { "fma/f32", 256, 256, 5, 500, 500, 500, 256 },
    zen3 = { "fma/f32", 256, 256, 5, 512, 200, 240, 512 },
    sandybridge = { "mul-add/f32", 384, 384, 0, 0, 0, 0, 0 };

const struct library_chip blis_chips[] = {
    { "skx", "processors with AVX-512", &skx },
    { "haswell", "processors with AVX2", &haswell },
    { "zen3", "AMD processors, Zen 3 and Zen 4", &zen3 },
    { "zen2", "AMD processors, Zen 2", &zen2 },
    { "zen", "AMD processors, Zen", &zen },
    { "sandybridge", "processors with AVX and without multiply-add", &sandybridge },
    { 0 }
};

/* A call as the library computes it: D, or the transpose of D. */
struct product {
    struct prediction *x;
    const struct configuration *c;
    size_t m, n, k;
    bool a_by_rows, b_by_rows, d_by_rows; /* how the matrices are stored               */
};

static enum bitcut_status refuse(struct fault *f, const char *what)
{
    return fault_set(f, BITCUT_UNSUPPORTED, "%s", what);
}

static enum bitcut_status add(const struct product *p, const char *unit,
                              struct bitcut_order order, struct predicted_part part,
                              struct fault *f)
{
    struct bitcut_gemm g = gemm_of(bitcut_recipe_find("fp32"), bitcut_unit_find(unit, NULL));
    g.order = order;
    if (!part.rows || !part.cols) return BITCUT_OK;
    part.computation = prediction_computation(p->x, &g);
    return prediction_add(p->x, part, f);
}

/* --- orders of k ------------------------------------------------------------------ */

enum { VECTOR = 8 }; /* numbers of a vector */

static const struct bitcut_order one = { .lanes = 0 },
                                 eight = { .lanes = VECTOR,
                                           .chunk = 1,
                                           .unroll = VECTOR,
                                           .reduction = BITCUT_TREE },
                                 eight_in_lane = { .lanes = VECTOR,
                                                   .chunk = 1,
                                                   .unroll = VECTOR,
                                                   .remainder_in_lane = true,
                                                   .reduction = BITCUT_TREE };

/* An order in each block of k. */
static struct bitcut_order in_blocks(struct bitcut_order order, size_t k, size_t block)
{
    if (k <= block) return order;
    order.slices = (int)divide_up(k, block);
    order.tile = (int)block;
    order.slices_ascending = order.reduction != BITCUT_ASCENDING;
    return order;
}

/* --- a column of D, by kernels for a product by a vector ---------------------------- */

static const char in_binary64[] =
    "some outputs have sums in binary64 that are rounded every "
    "five k, which no order describes";

/* Whether the kernel adds rows in binary64 that are not eight at a time. */
static bool adds_in_binary64(const struct product *p)
{
    return p->c->fused < VECTOR && p->k >= p->c->fused;
}

/* A by columns: they are added one after the other.  Eight rows at a time have a
   multiply-add, other rows have a product and a sum. */
static enum bitcut_status add_by_columns(const struct product *p, struct fault *f)
{
    const size_t full = p->m / VECTOR * VECTOR;
    if (p->m > full && adds_in_binary64(p)) return refuse(f, in_binary64);
    const enum bitcut_status status =
        add(p, p->c->unit, one, (struct predicted_part){ 0, full, 0, 1, 0 }, f);
    if (status != BITCUT_OK) return status;
    return add(p, "mul-add/f32", one,
               (struct predicted_part){ full, p->m - full, 0, 1, 0 }, f);
}

/* Column `col` of A by rows, in blocks of k: eight rows at a time have eight sums each,
   to which a remainder of k is added by products and sums.  Other rows have sums that no
   order describes, unless k is short. */
static enum bitcut_status add_by_rows(const struct product *p, size_t col, size_t block,
                                      struct fault *f)
{
    enum { LONG = 32 };
    const size_t full = p->m / VECTOR * VECTOR, rest = p->m - full;
    const bool lanes = p->k >= VECTOR;
    if ((lanes && p->k % VECTOR && full) || (p->k >= LONG && rest))
        return refuse(f, "this product of rows by a vector has sums that no order describes");
    const enum bitcut_status status =
        add(p, lanes ? p->c->unit : "mul-add/f32",
            lanes ? in_blocks(eight, p->k, block) : one,
            (struct predicted_part){ 0, full, col, 1, 0 }, f);
    if (status != BITCUT_OK) return status;
    return add(p, "mul-add/f32", one, (struct predicted_part){ full, rest, col, 1, 0 },
               f);
}

/* Whether the numbers of a vector, which is a column or a row, are not adjacent. */
static bool has_stride(const struct bitcut_matrix *x, bool is_column)
{
    return x->ld > 1 && is_column == (x->layout == BITCUT_ROW_MAJOR);
}

static enum bitcut_status predict_vector(const struct product *p, struct fault *f)
{
    const struct bitcut_gemm *const g = &p->x->call;
    const bool is_column = g->n == 1;
    if (!p->c->fused)
        return refuse(f, "products by a vector are not predicted for this configuration");
    if (p->m == 1) return refuse(f, "products of two vectors are not predicted");
    if (has_stride(is_column ? &g->b : &g->a, is_column) || has_stride(&g->d, is_column))
        return refuse(f, "products by a vector are predicted for adjacent numbers alone");
    return p->a_by_rows ? add_by_rows(p, 0, p->k, f) : add_by_columns(p, f);
}

/* --- kernels that read packed matrices --------------------------------------------- */

static enum bitcut_status predict_blocks(const struct product *p, struct fault *f)
{
    const struct configuration *const c = p->c;
    const size_t block = p->k > c->most ? c->block : p->k, last = p->k % block;
    if (last && last <= c->most - block)
        return fault_set(f, BITCUT_UNSUPPORTED,
                         "the last block of k would have %zu more than the others, which "
                         "no order describes",
                         last);
    return add(p, c->unit, in_blocks(one, p->k, block),
               (struct predicted_part){ 0, p->m, 0, p->n, 0 }, f);
}

/* --- kernels for a short m, n or k -------------------------------------------------- */

/* Kernels compute up to ROWS x COLS outputs.  They loop over the rows if there are at
   least as many blocks of rows as blocks of columns; otherwise over the columns. */
enum { ROWS = 6, COLS = 16 };

static bool loops_over_rows(const struct product *p)
{
    return p->m / ROWS >= p->n / COLS;
}

/* Whether a kernel computes dot products with vectors along k. */
static bool is_dot(const struct product *p) { return p->a_by_rows && !p->b_by_rows; }

/* The number of k of a block: shorter for more outputs, unless A or B is read along its
   rows. */
static size_t short_block(const struct product *p)
{
    enum { PARTS = 5 };
    const size_t most = p->c->short_block;
    size_t parts = 1;
    if (is_dot(p) || (p->a_by_rows && p->d_by_rows && loops_over_rows(p))) return most;
    while (parts < PARTS && (p->m > parts * ROWS || p->n > parts * COLS)) parts++;
    return most / parts / 4 * 4;
}

/* The last of an odd number of columns. */
static enum bitcut_status add_last_column(const struct product *p, size_t block,
                                          struct fault *f)
{
    const struct predicted_part last = { 0, p->m, p->n - 1, 1, 0 };
    const bool by_vector = loops_over_rows(p);
    if (is_dot(p) && !by_vector) return BITCUT_OK;
    if (is_dot(p)) {
        if (p->x->threads > 1 && p->k >= VECTOR)
            return refuse(f, "the last of an odd number of columns is not predicted for "
                             "several threads");
        return add_by_rows(p, p->n - 1, block, f);
    }
    if (p->a_by_rows || !by_vector)
        return add(p, "mul-add/f32", in_blocks(one, p->k, block), last, f);
    if (adds_in_binary64(p)) return refuse(f, in_binary64);
    return add(p, "mul-add/f32", one, last, f);
}

static enum bitcut_status predict_short(const struct product *p, struct fault *f)
{
    const size_t block = short_block(p);
    const enum bitcut_status status =
        add(p, p->c->unit, in_blocks(is_dot(p) ? eight_in_lane : one, p->k, block),
            (struct predicted_part){ 0, p->m, 0, p->n, 0 }, f);
    return status == BITCUT_OK && p->n % 2 ? add_last_column(p, block, f) : status;
}

/* --- the call --------------------------------------------------------------------- */

/* Compute the transpose of D instead. */
static struct product transposed(const struct product *p)
{
    struct product q = *p;
    q.m = p->n, q.n = p->m;
    q.a_by_rows = !p->b_by_rows, q.b_by_rows = !p->a_by_rows, q.d_by_rows = !p->d_by_rows;
    q.x->transposed = !p->x->transposed;
    return q;
}

/* A vector is B.  Kernels for a short m, n or k compute D by rows, unless A and B are by
   columns then. */
static struct product product_of(struct prediction *x)
{
    const struct bitcut_gemm *const g = &x->call;
    struct product p = { x,
                         x->chip->kernels,
                         g->m,
                         g->n,
                         g->k,
                         g->a.layout == BITCUT_ROW_MAJOR,
                         g->b.layout == BITCUT_ROW_MAJOR,
                         g->d.layout == BITCUT_ROW_MAJOR };
    x->transposed = false;
    if (p.n == 1 || p.m == 1) return p.n == 1 ? p : transposed(&p);
    if (!p.d_by_rows) p = transposed(&p);
    return p.a_by_rows || p.b_by_rows ? p : transposed(&p);
}

static bool is_short(const struct product *p)
{
    const struct configuration *const c = p->c;
    const size_t m = p->d_by_rows ? p->m : p->n, n = p->d_by_rows ? p->n : p->m;
    return m < c->short_m || n < c->short_n || p->k < c->short_k;
}

enum bitcut_status blis_predict(struct prediction *x, struct fault *f)
{
    const enum bitcut_status status = prediction_check_product(x, f);
    const struct product p = product_of(x);
    if (status != BITCUT_OK) return status;
    if (p.n == 1) return predict_vector(&p, f);
    if (is_short(&p)) return predict_short(&p, f);
    return predict_blocks(&p, f);
}
