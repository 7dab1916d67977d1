/* SPDX-License-Identifier: BSD-3-Clause */
/* Hypotheses in executable form: their operands, and their computation. */
#include "analysis/identify/hypothesis.h"

#include "lib/number/bits.h"
#include "lib/number/fma.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool candidate_uniform(const struct candidate *x)
{
    bool same = true;
    for (int t = 0; t < x->plan.terms; t++) same &= x->plan.unit[t] == x->gemm.unit;
    return same;
}

/* The bias and the factors of a GEMM. */
static void set_extra(struct bitcut_gemm *g, const struct bitcut_gemm *from)
{
    g->bias = from->bias;
    g->bias_rows = from->bias_rows;
    g->scale_a = from->scale_a;
    g->scale_b = from->scale_b;
}

/* Everything that was given; k is that of the factors' blocks. */
static void set_told(struct bitcut_gemm *g, const struct space *s)
{
    set_extra(g, s->told);
    memcpy(g->epilogue, s->told->epilogue, sizeof g->epilogue);
    g->start = s->told->start;
    g->scaling = s->told->scaling;
    g->scale_d = s->told->scale_d;
    g->clamp_low = s->told->clamp_low;
    g->clamp_high = s->told->clamp_high;
    g->k = s->k;
}

void candidate_clean(struct candidate *x, const struct space *s)
{
    memset(x, 0, sizeof *x);
    bitcut_gemm_init(&x->gemm, sizeof x->gemm);
    x->gemm.alpha = s->alpha;
    x->gemm.beta = s->beta;
    if (s->told) set_told(&x->gemm, s);
    x->store = x->through_by = &roundings[ROUND_RN];
}

/* --- operands --------------------------------------------------------------------- */

/* The position in the block of element p of a row or column; SIZE_MAX: it is zero. */
size_t candidate_k_at(const struct candidate *x, size_t p, size_t k)
{
    const size_t lost = x->lost.end - x->lost.first,
                 twice = x->twice.end - x->twice.first;
    if (x->k_at) return x->k_at(x, p, k);
    if (lost && x->lost_are_zero)
        return p >= x->lost.first && p < x->lost.end ? SIZE_MAX : p;
    if (lost && p >= x->lost.first) return p + lost;
    if (!twice || p < x->twice.end) return p;
    return p < x->twice.end + x->gap ? SIZE_MAX : p - twice - x->gap;
}

size_t candidate_places(const struct candidate *x, size_t k)
{
    if (x->places) return x->places(x, k);
    return k + x->gap + (x->twice.end - x->twice.first) -
           (x->lost_are_zero ? 0 : x->lost.end - x->lost.first);
}

static struct spot spot_of(const struct candidate *x, const struct problem *q,
                           enum bitcut_operand operand, size_t line, size_t k)
{
    const struct extent e = { operand == BITCUT_A ? problem_m(q) : problem_n(q),
                              problem_k(q) };
    return x->spot[operand] ? x->spot[operand](x, &e, line, k) : (struct spot){ line, k };
}

static uint32_t flushed(const struct candidate *x, uint32_t value)
{
    const bool subnormal = (value & 0x7f800000) == 0;
    return x->flushed && subnormal ? value & 0x80000000 : value;
}

uint32_t candidate_element(const struct candidate *x, const struct problem *q,
                           enum bitcut_operand operand, size_t line, size_t k)
{
    const struct spot at = spot_of(x, q, operand, line, k);
    if (k == SIZE_MAX || at.k >= problem_k(q)) return 0;
    return flushed(x, problem_element(q, operand, at.line, at.k));
}

uint32_t candidate_c(const struct candidate *x, const struct problem *q, size_t i,
                     size_t j)
{
    const size_t n = problem_n(q), m = problem_m(q);
    if (!q->c.at) return 0;
    if (x->c_by_columns) return problem_c(q, (j * m + i) / n, (j * m + i) % n);
    if (x->moves_c) {
        i = spot_of(x, q, BITCUT_A, i, 0).line;
        j = spot_of(x, q, BITCUT_B, j, 0).line;
    }
    return problem_c(q, i, j);
}

uint32_t candidate_finish(const struct candidate *x, uint32_t product, uint32_t c)
{
    const uint32_t alpha = x->gemm.alpha;
    if (x->finish) return x->finish(x, product, c);
    const uint32_t t = alpha == F32_ONE ? product : f32_multiply(alpha, product);
    return gemm_reads_c(&x->gemm) ? f32_fma(x->gemm.beta, c, t) : t;
}

bool candidate_takes_products(const struct candidate *x)
{
    return x->finish || x->c_by_columns || x->moves_c;
}

/* --- running ---------------------------------------------------------------------- */

/* The operands of a candidate that differ from those of the block. */
struct operands {
    uint32_t *a, *b;
    size_t k;
    uint32_t *own_a, *own_b;
    uint8_t *kept; /* positions of the kept elements of a sparse A */
};

uint32_t candidate_block_element(const struct candidate *x, const struct block *b,
                                 enum bitcut_operand operand, size_t line, size_t from)
{
    const bool is_a = operand == BITCUT_A;
    if (x->spot[operand])
        return candidate_element(x, b->q, operand, is_a ? b->row[line] : b->col[line],
                                 from);
    if (from >= b->k) return 0;
    return flushed(x, is_a ? b->a[line * b->k + from] : b->b[from * b->cols + line]);
}

static void rearrange(struct operands *o, const struct candidate *x,
                      const struct block *b)
{
    for (size_t p = 0; p < o->k; p++) {
        const size_t from = candidate_k_at(x, p, b->k);
        for (size_t i = 0; i < b->rows; i++)
            o->own_a[i * o->k + p] = candidate_block_element(x, b, BITCUT_A, i, from);
        for (size_t j = 0; j < b->cols; j++)
            o->own_b[p * b->cols + j] = candidate_block_element(x, b, BITCUT_B, j, from);
    }
    o->a = o->own_a;
    o->b = o->own_b;
}

static void add_zero(uint32_t *to, const uint32_t *from, size_t count, int32_t zero)
{
    for (size_t i = 0; i < count; i++)
        to[i] = bits_of_float((float)(value_of_float(from[i]) + (double)zero));
}

static bool has_zeros(const struct candidate *x) { return x->zero[0] || x->zero[1]; }

static bool operands_make(struct operands *o, const struct candidate *x,
                          const struct block *b)
{
    *o = (struct operands){ .a = b->a, .b = b->b, .k = candidate_places(x, b->k) };
    if (o->k == b->k && !x->lost.end && !x->flushed && !x->k_at && !x->spot[0] &&
        !x->spot[1] && !has_zeros(x))
        return true;
    o->own_a = memory_allocate(b->rows, o->k * sizeof *o->own_a);
    o->own_b = memory_allocate(b->cols, o->k * sizeof *o->own_b);
    if (!o->own_a || !o->own_b) return false;
    if (has_zeros(x)) { /* on a unit of integers, without other changes */
        add_zero(o->a = o->own_a, b->a, b->rows * b->k, x->zero[0]);
        add_zero(o->b = o->own_b, b->b, b->cols * b->k, x->zero[1]);
    } else rearrange(o, x, b);
    return true;
}

/* The positions in a four of k of a row of the block, which must come from one four of a
   row of A; the first two if it is zero.  False: they do not. */
static bool take_positions(uint8_t to[2], const struct candidate *x,
                           const struct block *b, size_t row, size_t four)
{
    const struct problem *const q = b->q;
    struct spot at[4];
    bool zero = false;
    to[0] = 0, to[1] = 1;
    for (size_t e = 0; e < 4; e++) {
        const size_t k = candidate_k_at(x, 4 * four + e, b->k);
        at[e] = spot_of(x, q, BITCUT_A, row, k);
        if (k == SIZE_MAX) at[e].k = SIZE_MAX;
        zero |= at[e].k == SIZE_MAX;
        if (zero ? at[e].k != SIZE_MAX || at[0].k != SIZE_MAX
                 : at[e].k >= b->k || at[e].k % 4 != e || at[e].k - e != at[0].k ||
                       at[e].line != at[0].line)
            return false;
    }
    if (!zero) memcpy(to, problem_kept(q, at[0].line) + at[0].k / 2, 2);
    return true;
}

/* The positions of the kept elements.  BITCUT_BAD_ARGUMENT: fours of k are torn apart,
   which the instructions cannot compute. */
static enum bitcut_status operands_keep(struct operands *o, const struct candidate *x,
                                        const struct block *b, struct fault *f)
{
    bool fits = o->k % 4 == 0 && !x->respell;
    if (!b->q->a.kept) return BITCUT_OK;
    o->kept = memory_allocate(b->rows, o->k / 2);
    if (!o->kept)
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the operands");
    for (size_t i = 0; i < b->rows && fits; i++)
        for (size_t four = 0; four < o->k / 4 && fits; four++)
            fits = take_positions(o->kept + i * (o->k / 2) + 2 * four, x, b, b->row[i],
                                  four);
    return fits ? BITCUT_OK
                : fault_set(f, BITCUT_BAD_ARGUMENT, "this fault does not fit a sparse A");
}

static void operands_clear(struct operands *o)
{
    free(o->own_a);
    free(o->own_b);
    free(o->kept);
}

/* The function that changes parts, and its matrices. */
struct respelling {
    const struct candidate *x;
    const struct operands *o;
    const struct block *b;
};

static uint32_t operand_at(const struct respelling *r, enum bitcut_operand operand,
                           size_t line, size_t k)
{
    return operand == BITCUT_A ? r->o->a[line * r->o->k + k]
                               : r->o->b[k * r->b->cols + line];
}

/* The row or column with the same number in the other operand may not be in the block. */
static void respell(uint32_t *part, const void *context, enum bitcut_operand operand,
                    size_t line, size_t k)
{
    const struct respelling *const r = context;
    const struct problem *const q = r->b->q;
    const bool is_a = operand == BITCUT_A;
    const size_t at = is_a ? r->b->row[line] : r->b->col[line];
    struct spelling s = { .part = part,
                          .operand = operand,
                          .element = operand_at(r, operand, line, k),
                          .has_other = at < (is_a ? problem_n(q) : problem_m(q)),
                          .split = is_a ? &r->x->plan.split_a : &r->x->plan.split_b,
                          .other_split = is_a ? &r->x->plan.split_b : &r->x->plan.split_a,
                          .x = r->x };
    if (s.has_other)
        s.other = candidate_element(r->x, q, is_a ? BITCUT_B : BITCUT_A, at, k);
    r->x->respell(&s);
}

/* Compute D from the products, if the epilogue is changed. */
static void finish_all(uint32_t *d, const struct candidate *x, const struct space *s,
                       const struct block *b, bool products)
{
    for (size_t i = 0; i < b->rows * b->cols; i++) {
        const size_t row = b->row[i / b->cols], col = b->col[i % b->cols];
        if (products) d[i] = candidate_finish(x, d[i], candidate_c(x, b->q, row, col));
        if (x->through) d[i] = f32_through(x->through, x->through_by, d[i]);
        if (x->clipped && d[i] >> 31 && !f32_is_nan(d[i])) d[i] = 0;
        d[i] = f32_through(s->format, x->store, d[i]);
    }
}

/* Whether a column of outputs is computed as a row, D^T = B^T A^T: outputs of a row share
   vector registers.  Operands have to be alike, and rows and columns. */
static bool computes_row(const struct candidate *x, const struct bitcut_gemm *g,
                         const struct gemm_plan *plan)
{
    return g->n == 1 && g->m > 1 && x->unit.a == x->unit.b && !plan->faults &&
           !g->sparsity && !plan->sum_rounding && !gemm_is_extended(g) &&
           candidate_uniform(x);
}

static void transpose(struct bitcut_gemm *g, struct gemm_plan *plan)
{
    const struct bitcut_gemm from = *g;
    const struct gemm_plan own = *plan;
    g->m = 1, g->n = from.m;
    g->a = from.b, g->b = from.a; /* one column is stored as one row is */
    g->b.layout = BITCUT_COLUMN_MAJOR;
    plan->split_a = own.split_b, plan->split_b = own.split_a;
    for (int t = 0; t < own.terms; t++) {
        plan->term[t].a = own.term[t].b;
        plan->term[t].b = own.term[t].a;
    }
}

/* Run the GEMM of x; `products`: without alpha and C. */
static enum bitcut_status run_operands(uint32_t *d, const struct candidate *x,
                                       const struct space *s, const struct block *b,
                                       const struct operands *o, bool products,
                                       const struct gemm_options *options,
                                       struct fault *f)
{
    const struct respelling spelling = { x, o, b };
    struct bitcut_gemm g = x->gemm;
    struct gemm_plan plan = x->plan;
    struct gemm_options own = *options;
    struct gemm_faults faults = x->faults;
    if (products) g.alpha = F32_ONE, g.beta = 0;
    if (x->respell) faults.respell = respell, faults.context = &spelling;
    if (x->respell || x->slipped) plan.faults = &faults;
    if (x->respell || o->own_a || o->kept) own.parts = NULL; /* of changed operands */
    g.unit = &x->unit;
    for (int t = 0; t < RECIPE_TERMS_MAX && candidate_uniform(x); t++)
        plan.unit[t] = &x->unit;
    gemm_set_dense(&g, d, b->rows, b->cols, o->k, o->a, o->b, b->c);
    if (o->kept) {
        g.sparsity = BITCUT_SPARSE_A;
        g.positions =
            (struct bitcut_matrix){ .at = o->kept, .format = &formats[FORMAT_U8] };
    }
    if (b->extra) set_extra(&g, b->extra);
    if (gemm_is_extended(&g)) {
        if (products || (o->k != b->k && gemm_has_scales(&g)))
            return fault_set(f, BITCUT_BAD_ARGUMENT, "this fault does not fit the steps");
        g.d.format = s->format; /* steps may round to it */
        own.unrounded = true;
    }
    if (computes_row(x, &g, &plan)) transpose(&g, &plan);
    return gemm_run_plan(&g, &plan, &own, f);
}

enum bitcut_status candidate_run(uint32_t *d, const struct candidate *x,
                                 const struct space *s, const struct block *b,
                                 const struct gemm_options *options, struct fault *f)
{
    const bool products = candidate_takes_products(x);
    struct operands o;
    enum bitcut_status status =
        operands_make(&o, x, b)
            ? BITCUT_OK
            : fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the operands");
    if (status == BITCUT_OK) status = operands_keep(&o, x, b, f);
    if (status == BITCUT_OK) status = run_operands(d, x, s, b, &o, products, options, f);
    if (status == BITCUT_OK) finish_all(d, x, s, b, products);
    if (status == BITCUT_NO_MEMORY && s->failed) *s->failed = true;
    operands_clear(&o);
    return status;
}

/* --- comparing -------------------------------------------------------------------- */

double candidate_work(const struct candidate *x, size_t outputs, size_t k)
{
    /* Operands of an instruction are packed for more outputs than a few; only the
       definition runs faulty instructions. */
    enum { EACH = 1 << 16, PACKED = 16, SLOW = 16 };
    const double products = (double)(outputs + PACKED) * (double)k * x->plan.terms;
    return EACH + products * (x->slipped ? SLOW : 1);
}

/* About 4 log2(1 + x), in integers. */
static uint64_t log_of(uint64_t x)
{
    const uint64_t y = 4 * (x + 1);
    const int bits = 63 - __builtin_clzll(y);
    return 4 * (uint64_t)(bits - 2) + (y >> (bits - 2) & 3);
}

static int compare_parts(const void *x, const void *y)
{
    const uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
    return (a > b) - (a < b);
}

void candidate_forget(struct candidate_memory *m)
{
    gemm_parts_clear(&m->parts);
    free(m->scratch.at);
    *m = (struct candidate_memory){ 0 };
}

struct nearness candidate_match(const struct candidate *x, const struct space *s,
                                const struct block *b, uint32_t *scratch,
                                struct candidate_memory *memory)
{
    const struct gemm_options one = { .threads = 1,
                                      .parts = memory ? &memory->parts : NULL,
                                      .scratch = memory ? &memory->scratch : NULL };
    const struct bitcut_format *const f32 = &formats[FORMAT_F32];
    const size_t count = b->rows * b->cols;
    struct nearness near = { 0, INFINITY, candidate_work(x, count, b->k), UINT64_MAX };
    if (candidate_run(scratch, x, s, b, &one, NULL) != BITCUT_OK) return near;
    near.misfit = 0;
    for (size_t i = 0; i < count; i++) {
        const int64_t apart =
            format_along_line(f32, scratch[i]) - format_along_line(f32, b->d[i]);
        near.matched += scratch[i] == b->d[i];
        scratch[i] = (uint32_t)(apart < 0 ? -apart : apart);
        near.misfit += log_of(scratch[i]);
    }
    qsort(scratch, count, sizeof *scratch, compare_parts);
    near.distance = scratch[count / 2];
    return near;
}
