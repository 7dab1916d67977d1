/* SPDX-License-Identifier: BSD-3-Clause */
/* SGEMM of OpenBLAS, from its drivers (driver/level3) and its kernels for x86
   (kernel/x86_64) of version 0.3.21, compared with results of Debian's library.

   The library computes column-major D' (m x n in this file) = A' B'.  A row-major D is the
   transpose of D', so that B is A' and A is B'.

   The driver cuts k into panels, computes the sum of a panel from zero, and adds it to D'.
   In a panel it calls a kernel for each block of rows and of columns.  Kernels that have two
   sums for some rows and columns of their block are described here; others have one. */
#include "analysis/predict/library.h"

#include "emu/gemm.h"
#include "lib/base/size.h"
#include "lib/number/fma.h"

/* A call in rows and columns of D'. */
struct call {
    struct prediction *x;
    const struct core *core;
    size_t m, n, k;
    bool trans_a, trans_b; /* whether A' and B' are stored by rows */
    size_t row_threads, col_threads; /* parts of the rows, and of the columns, that threads
                                        compute; 1 and 1: the driver for one thread     */
};

/* A block of D' for which the driver calls its kernel. */
struct block {
    size_t row, rows, col, cols;
};

/* A core type. */
struct core {
    const char *unit; /* that multiplies and adds                                      */
    bool adds_fused; /* whether alpha times the sum of a panel is rounded with the sum  */
    size_t panel;     /* the largest number of k of a panel                            */
    int step;         /* rows of a tile of the kernel: if two panels share their k, the
                         first one has a multiple                                      */
    size_t rows, cols; /* the largest number of rows of a block, and columns of a tile;
                          read only with a kernel                                      */
    /* Add the parts of a block that the kernel does not compute by one sum.  NULL: there
       are none. */
    enum bitcut_status (*kernel)(const struct call *c, struct block b, struct fault *f);
    /* Whether a kernel for small products computes the call, without panels. */
    bool (*is_small)(const struct call *c);
    enum bitcut_status (*small)(const struct call *c, struct fault *f);
};

static bool is_shared(const struct call *c) { return c->row_threads * c->col_threads > 1; }

/* --- orders of k ------------------------------------------------------------------ */

static struct bitcut_gemm gemm_in_order(const struct call *c, struct bitcut_order order)
{
    struct bitcut_gemm g =
        gemm_of(bitcut_recipe_find("fp32"), bitcut_unit_find(c->core->unit, NULL));
    g.order = order;
    return g;
}

static bool has_alpha(const struct call *c) { return c->x->call.alpha != F32_ONE; }
static bool has_beta(const struct call *c) { return c->x->call.beta << 1; }
static bool has_panels(const struct call *c) { return c->k > c->core->panel; }

/* The driver multiplies C by beta first, and a kernel adds alpha times the sum of a panel
   to it, rounded once if the unit has a multiply-add. */
static void set_update(struct bitcut_gemm *g, const struct call *c)
{
    if (has_panels(c)) g->start = has_beta(c) ? BITCUT_START_SLICE_C : BITCUT_START_ZERO;
    else if (has_alpha(c) && c->core->adds_fused) g->epilogue[0] = BITCUT_STEP_ALPHA_C;
    else if (has_beta(c)) {
        unsigned char *step = g->epilogue;
        if (has_alpha(c)) *step++ = BITCUT_STEP_ALPHA;
        *step = BITCUT_STEP_C_APART;
    }
}

/* The computation without panels.  A multiply-add has beta, as in FUSED, or
   `alpha_fused`: alpha. */
static int in_order(const struct call *c, struct bitcut_order order, bool alpha_fused)
{
    struct bitcut_gemm g = gemm_in_order(c, order);
    if (alpha_fused && (has_alpha(c) || has_beta(c))) g.epilogue[0] = BITCUT_STEP_ALPHA_C;
    return prediction_computation(c->x, &g);
}

/* The computation in panels, each in this order. */
static int in_panels(const struct call *c, struct bitcut_order order)
{
    if (has_panels(c)) {
        order.slices = (int)divide_up(c->k, c->core->panel);
        order.tile = (int)c->core->panel;
        order.balance_tail = is_shared(c) ? 1 : c->core->step;
        order.slices_ascending = order.reduction != BITCUT_ASCENDING;
    }
    struct bitcut_gemm g = gemm_in_order(c, order);
    set_update(&g, c);
    return prediction_computation(c->x, &g);
}

static enum bitcut_status add(const struct call *c, struct block b, int computation,
                              struct fault *f)
{
    const struct predicted_part part = { b.row, b.rows, b.col, b.cols, computation };
    return b.rows && b.cols ? prediction_add(c->x, part, f) : BITCUT_OK;
}

/* --- kernels ---------------------------------------------------------------------- */

/* sgemm_kernel_8x4_haswell_2.c: tiles of 8 rows by 12, 8, 4, 2 and 1 columns.  Single tiles
   of 8 x 6 and of 8 x 4 have two sums, of even and of odd k, in rounds of 8 k.  Groups of 12
   columns in at least 16 rows consist of tiles of 16 x 6.  The left six columns begin with a
   single tile of 8 rows, the right six do not; either ends with one if 8 rows remain. */
static enum bitcut_status haswell_kernel(const struct call *c, struct block b,
                                         struct fault *f)
{
    const struct bitcut_order halves = {
        .lanes = 2, .chunk = 1, .unroll = 8, .remainder_in_lane = true
    };
    const size_t tiles = b.rows / 8, last = b.row + 8 * (tiles - 1);
    const size_t groups = tiles > 1 ? b.cols / 12 : 0;
    const size_t rest = b.cols % 12, four = b.col + b.cols - rest;
    enum bitcut_status status = BITCUT_OK;
    if (!tiles || c->k < 8) return status;
    const int two = in_panels(c, halves);
    for (size_t i = 0; i < groups && status == BITCUT_OK; i++) {
        const size_t col = b.col + 12 * i;
        status = add(c, (struct block){ b.row, 8, col, 6 }, two, f);
        if (status == BITCUT_OK)
            status = add(c, (struct block){ last, 8, col + (tiles % 2 ? 6 : 0), 6 }, two, f);
    }
    if (status != BITCUT_OK || rest < 4 || rest > 7) return status;
    return add(c, (struct block){ b.row, 8 * tiles, four, 4 }, two, f);
}

/* sgemm_small_kernel_permit_skylakex.c */
static bool is_small_for_avx512(const struct call *c)
{
    const double products = (double)c->m * (double)c->n * (double)c->k;
    if (products > 1e6) return false;
    return !c->trans_a || c->trans_b || (c->m * c->n <= 1200 && c->k >= 32);
}

/* Kernels for small products: 16 sums, of the k of each lane of a vector, are added as a
   tree where four outputs are added at a time, and by halves where one is.  If A' is
   stored by columns, only the last rows are computed so: 1 to 8 of them, if B' is stored
   by columns and k is at least 32.  Others have one sum.  If both are stored by rows, a
   loop in C that a compiler vectorized has one sum, and another multiply-add for k
   below 4. */
static enum bitcut_status small_for_avx512(const struct call *c, struct fault *f)
{
    const bool lanes = !c->trans_b && (c->trans_a || (c->m % 16 && c->m % 16 <= 8 && c->k >= 32));
    const struct bitcut_order one = { .lanes = 0 },
                              order = { .lanes = 16,
                                        .chunk = 1,
                                        .reduction = BITCUT_TREE },
                              single = { .lanes = 16,
                                         .chunk = 1,
                                         .reduction = BITCUT_HALVES };
    const size_t from = c->trans_a ? 0 : c->m - c->m % 16, four = c->m / 4 * 4;
    const struct block all = { 0, c->m, 0, c->n }, last = { from, c->m - from, 0, c->n },
                       corner = { four, c->m - four, c->n / 4 * 4, c->n % 4 };
    enum bitcut_status status = BITCUT_OK;
    if (!lanes || from)
        status = add(c, all, in_order(c, one, c->trans_a && c->trans_b && c->k < 4), f);
    if (!lanes || status != BITCUT_OK) return status;
    status = add(c, last, in_order(c, order, false), f);
    if (status != BITCUT_OK || !corner.rows || !corner.cols) return status;
    return add(c, corner, in_order(c, single, true), f);
}

/* --- core types ------------------------------------------------------------------- */

static const struct core skylakex = { .unit = "fma/f32",
                                      .adds_fused = true,
                                      .panel = 448,
                                      .step = 16,
                                      .is_small = is_small_for_avx512,
                                      .small = small_for_avx512 },
                         cooperlake = { .unit = "fma/f32",
                                        .adds_fused = true,
                                        .panel = 320,
                                        .step = 16,
                                        .is_small = is_small_for_avx512,
                                        .small = small_for_avx512 },
                         haswell = { .unit = "fma/f32",
                                     .adds_fused = true,
                                     .panel = 320,
                                     .step = 8,
                                     .rows = 320,
                                     .cols = 4,
                                     .kernel = haswell_kernel },
                         sandybridge = { .unit = "mul-add/f32",
                                         .panel = 384,
                                         .step = 16 };

const struct library_chip openblas_chips[] = {
    { "cooperlake", "processors with AVX512-BF16", &cooperlake },
    { "skylakex", "processors with AVX-512", &skylakex },
    { "zen", "AMD processors with AVX2", &haswell },
    { "haswell", "processors with AVX2", &haswell },
    { "sandybridge", "processors with AVX and without multiply-add", &sandybridge },
    { 0 }
};

/* --- the drivers ------------------------------------------------------------------ */

/* The rows of the next block of `rows` that remain, the first one or a later one: level3.c,
   and level3_thread.c, which rounds the half of an odd number up. */
static size_t block_rows(const struct call *c, size_t rows, bool later)
{
    const size_t step = (size_t)c->core->step, most = c->core->rows;
    if (rows >= 2 * most) return most;
    return rows > most ? divide_up((rows + (later && is_shared(c))) / 2, step) * step : rows;
}

/* The kernel's calls for rows whose columns are copied meanwhile: three tiles of columns at a
   time, or one. */
static enum bitcut_status add_copied(const struct call *c, struct block b, struct fault *f)
{
    const size_t tile = c->core->cols, end = b.col + b.cols;
    enum bitcut_status status = BITCUT_OK;
    for (; b.col < end && status == BITCUT_OK; b.col += b.cols) {
        const size_t remain = end - b.col;
        b.cols = remain >= 3 * tile ? 3 * tile : smaller(remain, tile);
        status = c->core->kernel(c, b, f);
    }
    return status;
}

/* The driver for one thread, level3.c. */
static enum bitcut_status add_blocks(const struct call *c, struct fault *f)
{
    struct block b = { 0, block_rows(c, c->m, false), 0, c->n };
    enum bitcut_status status = add_copied(c, b, f);
    while ((b.row += b.rows) < c->m && status == BITCUT_OK) {
        b.rows = block_rows(c, c->m - b.row, true);
        status = c->core->kernel(c, b, f);
    }
    return status;
}

/* --- several threads: level3_thread.c --------------------------------------------- */

enum { THREADS_MAX = 256 };

/* Part i of `count` parts of a length, which take what remains in equal parts. */
static size_t share(size_t *remain, size_t i, size_t count)
{
    const size_t length = divide_up(*remain, count - i);
    *remain -= length;
    return length;
}

/* The columns whose copies thread i of a column part makes: [first[i], first[i + 1]). */
static void share_columns(size_t first[THREADS_MAX + 1], const struct call *c, size_t part)
{
    size_t remain = c->n, cols = 0;
    first[0] = 0;
    for (size_t j = 0; j <= part; j++) {
        first[0] += cols;
        cols = share(&remain, j, c->col_threads);
    }
    for (size_t i = 0; i < c->row_threads; i++)
        first[i + 1] = first[i] + share(&cols, i, c->row_threads);
}

/* The kernel's calls for a block of rows and the columns [from, to), in two halves.  `copies`:
   the thread copies them meanwhile. */
static enum bitcut_status add_halves(const struct call *c, struct block b, size_t from,
                                     size_t to, bool copies, struct fault *f)
{
    const size_t half = divide_up(to - from, 2);
    enum bitcut_status status = BITCUT_OK;
    for (b.col = from; b.col < to && status == BITCUT_OK; b.col += half) {
        b.cols = smaller(half, to - b.col);
        status = copies ? add_copied(c, b, f) : c->core->kernel(c, b, f);
    }
    return status;
}

/* The blocks of thread i of a part of the columns: rows `row` to `end`. */
static enum bitcut_status add_thread(const struct call *c, size_t i, size_t row, size_t end,
                                     const size_t *first, struct fault *f)
{
    struct block b = { .row = row };
    enum bitcut_status status = BITCUT_OK;
    for (; b.row < end && status == BITCUT_OK; b.row += b.rows) {
        b.rows = block_rows(c, end - b.row, b.row > row);
        for (size_t j = 0; j < c->row_threads && status == BITCUT_OK; j++)
            status = add_halves(c, b, first[j], first[j + 1], j == i && b.row == row, f);
    }
    return status;
}

static enum bitcut_status add_threads(const struct call *c, struct fault *f)
{
    size_t first[THREADS_MAX + 1];
    enum bitcut_status status = BITCUT_OK;
    for (size_t part = 0; part < c->col_threads; part++) {
        size_t remain = c->m, row = 0;
        share_columns(first, c, part);
        for (size_t i = 0; i < c->row_threads && status == BITCUT_OK; i++) {
            const size_t rows = share(&remain, i, c->row_threads);
            status = add_thread(c, i, row, row + rows, first, f);
            row += rows;
        }
    }
    return status;
}

/* How many parts of rows and of columns the threads compute. */
static void share_threads(struct call *c, size_t threads)
{
    enum { LEAST = 2 }; /* rows, and columns, that a thread has at least */
    const double products = (double)c->m * (double)c->n * (double)c->k;
    c->row_threads = c->col_threads = 1;
    if (products <= 4 * 65536.0 || threads < 2) return;
    if (c->m >= 2 * LEAST)
        for (c->row_threads = threads; c->m < c->row_threads * LEAST;)
            c->row_threads /= 2;
    if (c->n < LEAST * c->row_threads) return;
    c->col_threads = divide_up(c->n, LEAST * c->row_threads);
    if (c->row_threads * c->col_threads > threads) c->col_threads = threads / c->row_threads;
}

static struct call call_of(struct prediction *x)
{
    const struct bitcut_gemm *const g = &x->call;
    const bool a_by_rows = g->a.layout == BITCUT_ROW_MAJOR,
               b_by_rows = g->b.layout == BITCUT_ROW_MAJOR;
    x->transposed = g->d.layout == BITCUT_ROW_MAJOR;
    if (x->transposed)
        return (struct call){ .x = x,
                              .core = x->chip->kernels,
                              .m = g->n,
                              .n = g->m,
                              .k = g->k,
                              .trans_a = !b_by_rows,
                              .trans_b = !a_by_rows };
    return (struct call){ .x = x,
                          .core = x->chip->kernels,
                          .m = g->m,
                          .n = g->n,
                          .k = g->k,
                          .trans_a = a_by_rows,
                          .trans_b = b_by_rows };
}

enum bitcut_status openblas_predict(struct prediction *x, struct fault *f)
{
    struct call c = call_of(x);
    enum bitcut_status status = prediction_check_update(x, f);
    if (status != BITCUT_OK) return status;
    if (x->threads > THREADS_MAX)
        return fault_set(f, BITCUT_UNSUPPORTED, "more than %d threads are not predicted",
                         THREADS_MAX);
    if (c.core->is_small && c.core->is_small(&c)) return c.core->small(&c, f);
    if (has_panels(&c) && (has_alpha(&c) || (has_beta(&c) && c.core->kernel)))
        return fault_set(f, BITCUT_UNSUPPORTED,
                         "k above %zu with %s is not predicted for %s", c.core->panel,
                         has_alpha(&c) ? "alpha other than 1" : "beta other than 0",
                         x->chip->name);
    share_threads(&c, (size_t)x->threads);
    const int one = in_panels(&c, (struct bitcut_order){ .lanes = 0 });
    status = add(&c, (struct block){ 0, c.m, 0, c.n }, one, f);
    if (status != BITCUT_OK || !c.core->kernel) return status;
    return is_shared(&c) ? add_threads(&c, f) : add_blocks(&c, f);
}
