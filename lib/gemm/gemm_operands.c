/* SPDX-License-Identifier: BSD-3-Clause */
/* The matrices of a GEMM (lib/gemm/plan.h): where their elements are, GEMM i of a batch
   or of groups, and the checks of sizes, strides and pointers. */
#include "lib/gemm/epilogue.h"
#include "lib/gemm/plan.h"
#include "lib/gemm/sparsity.h"

#include <inttypes.h>

void gemm_set_dense(struct bitcut_gemm *g, uint32_t *d, size_t m, size_t n, size_t k,
                    const uint32_t *a, const uint32_t *b, const uint32_t *c)
{
    g->m = m;
    g->n = n;
    g->k = k;
    g->a = (struct bitcut_matrix){ .at = a };
    g->b = (struct bitcut_matrix){ .at = b };
    g->c = (struct bitcut_matrix){ .at = c };
    g->d = (struct bitcut_matrix){ .to = d };
}

bool format_is_result(const struct bitcut_format *format)
{
    return format_holds(&formats[FORMAT_F32], format) && format->has_sign && format->nan;
}

/* The lines of a matrix of rows x cols in memory, and their length. */
struct lines {
    size_t count, length;
};

static struct lines lines_of(const struct bitcut_matrix *x, size_t rows, size_t cols)
{
    return x->layout == BITCUT_ROW_MAJOR ? (struct lines){ rows, cols }
                                         : (struct lines){ cols, rows };
}

static void pick(struct bitcut_matrix *x, size_t i)
{
    if (!x->at && !x->each) return; /* no matrix, or C that is not read */
    x->at = matrix_nth(x, i);
    x->each = NULL;
}

/* The row or the k at which group i begins. */
static size_t group_start(const struct bitcut_gemm *g, size_t i)
{
    return i ? (size_t)g->offsets[i - 1] : 0;
}

size_t gemm_first_row(const struct bitcut_gemm *g, size_t i)
{
    return gemm_groups_rows(g) ? group_start(g, i) : i * g->m;
}

/* Let a matrix of rows x cols begin at row `from`, or at column `from`. */
static void begin_at(struct bitcut_matrix *x, size_t rows, size_t cols, size_t from,
                     bool of_columns)
{
    if (!x->at) return;
    x->ld = matrix_ld(x, rows, cols);
    const bool apart = of_columns == (x->layout == BITCUT_COLUMN_MAJOR);
    x->at = (const char *)x->at +
            from * (apart ? x->ld : 1) * (size_t)format_bytes(matrix_format(x));
}

void gemm_take_rows(struct bitcut_gemm *one, const struct bitcut_gemm *g, size_t first,
                    size_t rows)
{
    begin_at(&one->a, g->m, gemm_columns_of_a(g), first, false);
    begin_at(&one->positions, g->m, gemm_products(g), first, false);
    begin_at(&one->c, g->m, g->n, first, false);
    begin_at(&one->d, g->m, g->n, first, false);
    if (g->bias_rows) begin_at(&one->bias, 1, g->m, first, true);
    if (g->scale_a.lines)
        begin_at(&one->scale_a.at, factor_lines(&g->scale_a, g->m),
                 factor_blocks(&g->scale_a, g->k), first / g->scale_a.lines, false);
    one->m = rows;
}

/* The rows of group i; matrices that belong to groups are picked. */
static void pick_rows(struct bitcut_gemm *one, const struct bitcut_gemm *g, size_t i)
{
    const size_t first = gemm_first_row(g, i);
    gemm_take_rows(one, g, first, gemm_first_row(g, i + 1) - first);
}

/* Let factors of blocks of k begin with the block of this k. */
static void begin_factors(struct bitcut_scales *x, size_t lines, size_t k, size_t from,
                          bool of_columns)
{
    const size_t depth = factor_depth(x), across = factor_lines(x, lines),
                 along = factor_blocks(x, k);
    if (depth)
        begin_at(&x->at, of_columns ? across : along, of_columns ? along : across,
                 from / depth, of_columns);
}

/* The k of group i, likewise. */
static void pick_k(struct bitcut_gemm *one, const struct bitcut_gemm *g, size_t i)
{
    const size_t first = group_start(g, i);
    begin_at(&one->a, g->m, g->k, first, true);
    begin_at(&one->b, g->k, g->n, first, false);
    begin_factors(&one->scale_a, g->m, g->k, first, true);
    begin_factors(&one->scale_b, g->n, g->k, first, false);
    one->k = group_start(g, i + 1) - first;
}

struct bitcut_gemm gemm_nth(const struct bitcut_gemm *g, size_t i)
{
    struct bitcut_gemm one = *g;
    if (g->offsets) (g->offsets_of_k ? pick_k : pick_rows)(&one, g, i);
    one.offsets = NULL;
    one.offsets_of_k = false;
    pick(&one.a, i);
    pick(&one.b, i);
    pick(&one.c, i);
    pick(&one.d, i);
    pick(&one.bias, i);
    pick(&one.scale_a.at, i);
    pick(&one.scale_b.at, i);
    pick(&one.positions, i);
    if (one.amax) one.amax += i;
    one.count = 1;
    return one;
}

size_t gemm_fewest_rows(const struct bitcut_gemm *g)
{
    size_t least = 0;
    if (!gemm_groups_rows(g)) return g->count ? g->m : 0;
    for (size_t i = 0; i < g->count; i++) {
        const size_t rows = gemm_first_row(g, i + 1) - gemm_first_row(g, i);
        if (rows && (!least || rows < least)) least = rows;
    }
    return least;
}

size_t gemm_largest_k(const struct bitcut_gemm *g)
{
    size_t most = 0;
    if (!gemm_groups_k(g)) return g->count ? g->k : 0;
    for (size_t i = 0; i < g->count; i++) {
        const size_t k = group_start(g, i + 1) - group_start(g, i);
        if (k > most) most = k;
    }
    return most;
}

/* Of several groups that begin at the same row, all but the last are empty. */
size_t gemm_of_row(const struct bitcut_gemm *g, size_t row)
{
    size_t low = 0, high = g->count;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (gemm_first_row(g, middle) <= row) low = middle;
        else high = middle;
    }
    return low;
}

/* A matrix to check. */
struct checked {
    const char *name;
    const struct bitcut_matrix *x;
    size_t count, rows, cols;
    bool written;
    bool is_f64; /* whether the GEMM is an FP64 GEMM */
};

/* Set the number of elements from the first to the last one of a matrix.  False if it is
   too large to count. */
static bool extent(size_t *elements, const struct checked *m)
{
    const struct lines lines = lines_of(m->x, m->rows, m->cols);
    *elements = 0;
    return !m->rows || !m->cols ||
           (size_multiply(elements, lines.count - 1, matrix_ld(m->x, m->rows, m->cols)) &&
            !__builtin_add_overflow(*elements, lines.length, elements));
}

static bool batch_fits(const struct checked *m, size_t each)
{
    size_t elements, bytes;
    return m->x->each ||
           (size_multiply(&elements, m->count - 1, m->x->stride) &&
            !__builtin_add_overflow(elements, each, &elements) &&
            size_multiply(&bytes, elements, (size_t)format_bytes(matrix_format(m->x))));
}

static enum bitcut_status check_place(const char *name, const void *at, int bytes,
                                      struct fault *f)
{
    if (!at) return fault_set(f, BITCUT_BAD_ARGUMENT, "%s must not be NULL", name);
    if ((uintptr_t)at % (unsigned)bytes)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "%s is not aligned to %d bytes", name,
                         bytes);
    return BITCUT_OK;
}

/* Check the addresses of a matrix that has elements. */
static enum bitcut_status check_places(const struct checked *m, bool pointers,
                                       struct fault *f)
{
    const int bytes = format_bytes(matrix_format(m->x));
    enum bitcut_status status =
        m->x->each ? check_place(m->name, m->x->each, sizeof *m->x->each, f)
                   : check_place(m->name, m->x->at, bytes, f);
    for (size_t i = 0; m->x->each && pointers && i < m->count && status == BITCUT_OK; i++)
        status = check_place(m->name, m->x->each[i], bytes, f);
    return status;
}

/* Whether f32 can represent the values of an operand, or whether an f32 can be rounded to
   the format of D; or whether it has integers, which the plan checks.  In an FP64 GEMM,
   whether f64 can represent an operand, and is the format of D. */
static bool takes_format(const struct checked *m)
{
    const struct bitcut_format *format = matrix_format(m->x);
    if (m->is_f64)
        return m->written ? format == &formats[FORMAT_F64]
                          : format_holds(&formats[FORMAT_F64], format);
    return format_is_integer(format) ||
           (m->written ? format_is_result(format)
                       : format_holds(&formats[FORMAT_F32], format));
}

static enum bitcut_status check_matrix(const struct checked *m, bool pointers,
                                       struct fault *f)
{
    const size_t length = lines_of(m->x, m->rows, m->cols).length;
    size_t each;
    if (m->x->prepared) return BITCUT_OK;
    if (!takes_format(m))
        return fault_set(f, BITCUT_BAD_ARGUMENT, "%s cannot have the format %s", m->name,
                         matrix_format(m->x)->name);
    if (m->x->ld && m->x->ld < length)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "%s: leading dimension %zu is less than the %s length %zu",
                         m->name, m->x->ld,
                         m->x->layout == BITCUT_ROW_MAJOR ? "row" : "column", length);
    if (!m->count) return BITCUT_OK;
    if (!extent(&each, m) || !batch_fits(m, each))
        return fault_set(f, BITCUT_BAD_ARGUMENT, "%s exceeds the address space", m->name);
    return each ? check_places(m, pointers, f) : BITCUT_OK;
}

/* Whether no two matrices of D have an element in common: they lie one after the other,
   or side by side. */
static bool are_apart(const struct checked *d)
{
    const struct lines lines = lines_of(d->x, d->rows, d->cols);
    const size_t ld = matrix_ld(d->x, d->rows, d->cols), stride = d->x->stride;
    if (d->count < 2 || !d->rows || !d->cols || d->x->each) return true;
    return stride >= (lines.count - 1) * ld + lines.length ||
           (stride >= lines.length && (ld - lines.length) / stride >= d->count - 1);
}

/* Whether D equals C element for element, if it begins where C does. */
static bool agree(const struct bitcut_matrix *c, const struct bitcut_matrix *d,
                  const struct checked *m)
{
    const bool same = c->each || d->each ? c->each == d->each : c->at == d->at;
    return !same || (c->layout == d->layout && matrix_format(c) == matrix_format(d) &&
                     (c->each || m->count < 2 || c->stride == d->stride) &&
                     matrix_ld(c, m->rows, m->cols) == matrix_ld(d, m->rows, m->cols));
}

/* Check that matrices which the groups cut are one matrix each. */
static enum bitcut_status check_cut(const struct bitcut_gemm *g, struct fault *f)
{
    const bool of_k = g->offsets_of_k;
    const struct {
        const char *name;
        const struct bitcut_matrix *x;
        bool cut;
    } all[] = { { "A", &g->a, true },
                { "B", &g->b, of_k },
                { "C", &g->c, !of_k },
                { "D", &g->d, !of_k },
                { "positions", &g->positions, !of_k },
                { "the bias", &g->bias, !of_k && g->bias_rows },
                { "factors of A", &g->scale_a.at,
                  of_k ? factor_depth(&g->scale_a) : g->scale_a.lines },
                { "factors of B", &g->scale_b.at, of_k && factor_depth(&g->scale_b) } };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].cut && (all[i].x->stride || all[i].x->each))
            return fault_set(f, BITCUT_BAD_ARGUMENT,
                             "%s: groups are %s of one matrix, without a stride or "
                             "pointers",
                             all[i].name, of_k ? "ranges of k" : "rows");
    return BITCUT_OK;
}

/* Check that a group that begins at this row or k begins with a block of factors. */
static enum bitcut_status check_group_start(const struct bitcut_gemm *g, size_t i,
                                            size_t start, struct fault *f)
{
    const bool of_k = g->offsets_of_k, has_a = g->scale_a.at.at || g->scale_a.at.each;
    const size_t block[] = { of_k    ? factor_depth(&g->scale_a)
                             : has_a ? g->scale_a.lines
                                     : 0,
                             of_k ? factor_depth(&g->scale_b) : 0 };
    for (int x = 0; x < 2; x++)
        if (block[x] && start % block[x])
            return fault_set(f, BITCUT_BAD_ARGUMENT,
                             "group %zu does not begin with a block of factors of %c", i,
                             "AB"[x]);
    return BITCUT_OK;
}

/* Check the groups of rows, or of k. */
static enum bitcut_status check_groups(const struct bitcut_gemm *g, struct fault *f)
{
    const bool of_k = g->offsets_of_k;
    int64_t before = 0;
    if (!g->offsets) return BITCUT_OK;
    if (of_k && g->sparsity)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "groups of k and a sparse A cannot be combined");
    enum bitcut_status status = check_cut(g, f);
    for (size_t i = 0; i < g->count && status == BITCUT_OK; before = g->offsets[i++]) {
        if (g->offsets[i] < before)
            return fault_set(f, BITCUT_BAD_ARGUMENT,
                             "offsets must ascend; offset %zu is %d after %" PRId64, i,
                             (int)g->offsets[i], before);
        status = check_group_start(g, i, (size_t)before, f);
    }
    if (status != BITCUT_OK || (uint64_t)before == (of_k ? g->k : g->m)) return status;
    return of_k ? fault_set(f, BITCUT_BAD_ARGUMENT,
                            "offsets end with %" PRId64 ", but k is %zu", before, g->k)
                : fault_set(f, BITCUT_BAD_ARGUMENT,
                            "offsets end with %" PRId64 ", but A has %zu rows", before,
                            g->m);
}

/* The number of matrices A, or B, or C and D: groups cut one matrix. */
static size_t matrices_a(const struct bitcut_gemm *g)
{
    return g->offsets && g->count ? 1 : g->count;
}

static size_t matrices_b(const struct bitcut_gemm *g)
{
    return gemm_groups_k(g) ? matrices_a(g) : g->count;
}

static size_t matrices_d(const struct bitcut_gemm *g)
{
    return gemm_groups_k(g) ? g->count : matrices_a(g);
}

/* Check the bias and the factors. */
static enum bitcut_status check_epilogue(const struct bitcut_gemm *g, bool pointers,
                                         struct fault *f)
{
    const size_t count = g->m && g->n ? g->count : 0;
    const struct checked all[] = {
        { "the bias", &g->bias, count, 1, g->bias_rows ? g->m : g->n, false, false },
        { "factors of A", &g->scale_a.at, count, factor_lines(&g->scale_a, g->m),
          factor_blocks(&g->scale_a, g->k), false, false },
        { "factors of B", &g->scale_b.at, count, factor_blocks(&g->scale_b, g->k),
          factor_lines(&g->scale_b, g->n), false, false },
    };
    enum bitcut_status status = epilogue_check_operands(g, f);
    for (size_t i = 0; i < sizeof all / sizeof *all && status == BITCUT_OK; i++)
        if (all[i].x->at || all[i].x->each) status = check_matrix(&all[i], pointers, f);
    return status;
}

/* Check positions, and the elements of a sparse A, if `pointers`. */
static enum bitcut_status check_sparsity(const struct bitcut_gemm *g, bool pointers,
                                         struct fault *f)
{
    const size_t count = g->m && g->n ? matrices_a(g) : 0;
    const size_t kept = gemm_products(g);
    const struct checked m = {
        "positions", &g->positions, count, g->m, kept, false, false
    };
    enum bitcut_status status = sparsity_check(g, f);
    if (status == BITCUT_OK && sparsity_has_positions(g))
        status = check_matrix(&m, pointers, f);
    for (size_t i = 0; g->sparsity && pointers && i < count && status == BITCUT_OK; i++)
        if (!i || !sparsity_is_shared(g)) status = sparsity_check_elements(g, i, f);
    return status;
}

enum bitcut_status gemm_check_operands(const struct bitcut_gemm *g, struct fault *f)
{
    const bool empty = !g->m || !g->n, f64 = g->scheme != NULL;
    const size_t columns = gemm_columns_of_a(g);
    const struct checked a = { "A",   &g->a, empty ? 0 : matrices_a(g), g->m, columns,
                               false, f64 },
                         b = { "B",   &g->b, empty ? 0 : matrices_b(g), g->k, g->n,
                               false, f64 },
                         c = { "C", &g->c, matrices_d(g), g->m, g->n, false, f64 };
    enum bitcut_status status = check_groups(g, f);
    if (status == BITCUT_OK) status = check_matrix(&a, true, f);
    if (status == BITCUT_OK) status = check_matrix(&b, true, f);
    if (status == BITCUT_OK) status = check_sparsity(g, true, f);
    if (status == BITCUT_OK) status = check_epilogue(g, true, f);
    return status == BITCUT_OK && gemm_reads_c(g) ? check_matrix(&c, true, f) : status;
}

enum bitcut_status gemm_check_matrices(const struct bitcut_gemm *g, bool pointers,
                                       struct fault *f)
{
    const bool reads_c = gemm_reads_c(g), empty = !g->m || !g->n || !g->count,
               f64 = g->scheme != NULL;
    const struct checked all[] = {
        { "A", &g->a, empty ? 0 : matrices_a(g), g->m, gemm_columns_of_a(g), false, f64 },
        { "B", &g->b, empty ? 0 : matrices_b(g), g->k, g->n, false, f64 },
        { "D", &g->d, matrices_d(g), g->m, g->n, true, f64 },
        { "C", &g->c, matrices_d(g), g->m, g->n, false, f64 },
    };
    const struct checked *const d = &all[2];
    enum bitcut_status status = check_groups(g, f);
    for (int i = 0; i < 3 + reads_c && status == BITCUT_OK; i++)
        status = check_matrix(&all[i], pointers, f);
    if (status == BITCUT_OK) status = check_sparsity(g, pointers, f);
    if (status == BITCUT_OK) status = check_epilogue(g, pointers, f);
    if (status != BITCUT_OK || empty) return status;
    if (!are_apart(d))
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "the stride of D is too small: its matrices overlap");
    if (reads_c && !agree(&g->c, &g->d, d))
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "D and C share memory but differ in leading dimension, stride, "
                         "layout or format");
    return BITCUT_OK;
}
