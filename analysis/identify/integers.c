/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/identify/integers.h"

#include "analysis/identify/zero_points.h"
#include "lib/base/clock.h"
#include "lib/base/size.h"
#include "lib/base/text.h"
#include "lib/gemm/view.h"
#include "lib/number/bits.h"

#include <math.h>
#include <stdlib.h>

/* --- matrices --------------------------------------------------------------------- */

enum bitcut_status integer_matrix_take(struct integer_matrix *to,
                                       const struct bitcut_matrix *from, size_t rows,
                                       size_t cols, struct fault *f)
{
    const struct view v = view_of(from, 0, rows, cols, false);
    size_t count;
    int32_t *const at =
        size_multiply(&count, rows, cols) ? memory_allocate(count, sizeof *at) : NULL;
    if (!at) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the matrices");
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++)
            at[i * cols + j] = view_integer(&v, i, j);
    *to = (struct integer_matrix){ rows, cols, at, v.format };
    return BITCUT_OK;
}

enum bitcut_status integer_matrix_of(struct integer_matrix *to, const struct matrix *from,
                                     struct fault *f)
{
    const size_t count = from->rows * from->cols;
    int32_t *const at = memory_allocate(from->rows, from->cols * sizeof *at);
    if (!at) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the matrices");
    for (size_t i = 0; i < count; i++) at[i] = (int32_t)value_of_float(from->at[i]);
    *to = (struct integer_matrix){ from->rows, from->cols, at, from->format };
    return BITCUT_OK;
}

void integer_problem_clear(struct integer_problem *x)
{
    free(x->a.at);
    free(x->b.at);
    free(x->c.at);
    free(x->d.at);
    *x = (struct integer_problem){ .a = { .rows = 0 } };
}

static bool are_integers(const struct matrix *m, double low, double high)
{
    const size_t count = m->rows * m->cols;
    size_t i = 0;
    for (; m->at && i < count; i++) {
        const double v = value_of_float(m->at[i]);
        if (!(v >= low && v <= high) || v != floor(v)) break;
    }
    return !m->at || i == count;
}

/* The format of integers that has all values, of an operand or of C or D; or NULL. */
static const struct bitcut_format *integer_format_of(const struct matrix *m,
                                                     bool is_operand)
{
    if (!is_operand)
        return are_integers(m, INT32_MIN, INT32_MAX) ? &formats[FORMAT_S32] : NULL;
    return are_integers(m, INT8_MIN, INT8_MAX) ? &formats[FORMAT_S8]
           : are_integers(m, 0, UINT8_MAX)     ? &formats[FORMAT_U8]
                                               : NULL;
}

enum bitcut_status integers_of_values(struct integer_problem *to, const struct problem *q,
                                      struct fault *f)
{
    enum { MATRICES = 4, OPERANDS = 2 };
    const struct matrix *const from[MATRICES] = { &q->a, &q->b, &q->c, &q->d };
    struct integer_matrix *const into[MATRICES] = { &to->a, &to->b, &to->c, &to->d };
    const struct bitcut_format *format[MATRICES];
    enum bitcut_status status = BITCUT_OK;
    *to = (struct integer_problem){ .a = { .rows = 0 } };
    for (int i = 0; i < MATRICES; i++)
        if (!(format[i] = integer_format_of(from[i], i < OPERANDS))) return BITCUT_OK;
    for (int i = 0; i < MATRICES && status == BITCUT_OK; i++) {
        if (!from[i]->at) continue;
        status = integer_matrix_of(into[i], from[i], f);
        into[i]->format = format[i];
    }
    if (status != BITCUT_OK) integer_problem_clear(to);
    return status;
}

/* --- ranges ----------------------------------------------------------------------- */

static int64_t limited(int64_t v, int64_t low, int64_t high)
{
    return v < low ? low : v > high ? high : v;
}

/* v modulo 2^bits, from `low` on. */
static int64_t wrapped(int64_t v, int bits, int64_t low)
{
    const uint64_t mask = (UINT64_C(1) << bits) - 1;
    return (int64_t)(((uint64_t)v - (uint64_t)low) & mask) + low;
}

/* --- rules of sums ---------------------------------------------------------------- */

static int64_t product(const int32_t *x, const int32_t *y, size_t p, size_t k)
{
    return p < k ? (int64_t)x[p] * y[p] : 0;
}

static int64_t pair(const int32_t *x, const int32_t *y, size_t p, size_t k)
{
    return product(x, y, p, k) + product(x, y, p + 1, k);
}

static int64_t exact_sum(const int32_t *x, const int32_t *y, size_t k)
{
    int64_t sum = 0;
    for (size_t p = 0; p < k; p++) sum += (int64_t)x[p] * y[p];
    return sum;
}

static int64_t pairs_limited(const int32_t *x, const int32_t *y, size_t k)
{
    int64_t sum = 0;
    for (size_t p = 0; p < k; p += 2) sum += limited(pair(x, y, p, k), INT16_MIN, INT16_MAX);
    return sum;
}

static int64_t pairs_wrapped(const int32_t *x, const int32_t *y, size_t k)
{
    int64_t sum = 0;
    for (size_t p = 0; p < k; p += 2) sum += wrapped(pair(x, y, p, k), 16, INT16_MIN);
    return sum;
}

static int64_t all_limited_to_16(const int32_t *x, const int32_t *y, size_t k)
{
    int64_t sum = 0;
    for (size_t p = 0; p < k; p += 2)
        sum = limited(sum + limited(pair(x, y, p, k), INT16_MIN, INT16_MAX), INT16_MIN,
                      INT16_MAX);
    return sum;
}

static int64_t all_limited_to_32(const int32_t *x, const int32_t *y, size_t k)
{
    int64_t sum = 0;
    for (size_t p = 0; p < k; p += 4)
        sum = limited(sum + pair(x, y, p, k) + pair(x, y, p + 2, k), INT32_MIN, INT32_MAX);
    return sum;
}

static const struct sum_rule {
    const char *what;
    int64_t (*sum)(const int32_t *x, const int32_t *y, size_t k);
} sum_rules[] = {
    { "the exact product", exact_sum },
    { "the sum of pairs of products that saturate at 16 bits before they are added "
      "(VPMADDUBSW, without VNNI)",
      pairs_limited },
    { "the sum of pairs of products that are taken modulo 2^16 before they are added",
      pairs_wrapped },
    { "a sum of pairs of products in which pairs and sums saturate at 16 bits "
      "(VPMADDUBSW and VPADDSW)",
      all_limited_to_16 },
    { "a sum that saturates at 32 bits after every four products (VPDPBUSDS)",
      all_limited_to_32 },
};

/* --- rules of results ------------------------------------------------------------- */

/* The range of a result: [low, low + 2^bits), which is left modulo 2^bits or limited. */
static const struct result_rule {
    const char *what;
    int bits; /* 0: any integer */
    int64_t low;
    bool limits;
    const char *fault;
} result_rules[] = {
    { "", 0, 0, false, NULL },
    { " modulo 2^32 (s32)", 32, INT32_MIN, false, "wrapped" },
    { ", saturated at 32 bits (s32)", 32, INT32_MIN, true, "saturated" },
    { " modulo 2^16 (s16)", 16, INT16_MIN, false, "wrapped" },
    { " modulo 2^16 (unsigned)", 16, 0, false, "wrapped" },
    { ", saturated at 16 bits (s16)", 16, INT16_MIN, true, "saturated" },
    { ", saturated at 16 bits (unsigned)", 16, 0, true, "saturated" },
    { " modulo 2^8 (s8)", 8, INT8_MIN, false, "wrapped" },
    { " modulo 2^8 (u8)", 8, 0, false, "wrapped" },
    { ", saturated at 8 bits (s8)", 8, INT8_MIN, true, "saturated" },
    { ", saturated at 8 bits (u8)", 8, 0, true, "saturated" },
};

static int64_t range_high(const struct result_rule *r)
{
    return r->low + (INT64_C(1) << r->bits) - 1;
}

static int64_t result_of(const struct result_rule *r, int64_t v)
{
    return !r->bits    ? v
           : r->limits ? limited(v, r->low, range_high(r))
                       : wrapped(v, r->bits, r->low);
}

/* --- readings of an operand ------------------------------------------------------- */

/* How elements of 8 bits are read: plus `add` where they are at least `from`. */
static const struct reading {
    const char *what; /* after the name of the matrix */
    int format;       /* of the elements; -1: any     */
    int32_t from, below, add;
} readings[] = {
    { "", -1, 0, 0, 0 },
    { ", u8, read as s8", FORMAT_U8, 128, 256, -256 },
    { ", s8, read as u8", FORMAT_S8, -128, 0, 256 },
    { " less 128", FORMAT_U8, 0, 256, -128 },
    { " plus 128 (the compensation is lost)", FORMAT_S8, -128, 128, 128 },
};

enum {
    SUMS = sizeof sum_rules / sizeof *sum_rules,
    RESULTS = sizeof result_rules / sizeof *result_rules,
    READINGS = sizeof readings / sizeof *readings,
    WAYS = 8,      /* matrices that are read transposed         */
    SAMPLE = 256,  /* outputs on which rules are tried          */
    EVIDENCE = 32, /* bits of D that a rule must give, at least */
    END_BITS = 1,  /* of an output at the end of a range        */
    RESULT_BITS = 8
};

static int32_t read_as(const struct reading *r, int32_t x)
{
    return x >= r->from && x < r->below ? x + r->add : x;
}

static bool reads(const struct reading *r, const struct integer_matrix *m)
{
    return r->format < 0 || m->format == &formats[r->format];
}

/* --- hypotheses ------------------------------------------------------------------- */

struct hypothesis_of_integers {
    const struct sum_rule *sum;
    const struct result_rule *result;
    const struct reading *a, *b;
    struct zero_terms zeros;
    bool transposed[3]; /* A, B, D */
    size_t matched;
};

struct search_of_integers {
    const struct integer_problem *x;
    int64_t alpha, beta;
    size_t m, n, k;
    size_t place[SAMPLE], sampled;
    int32_t *row, *col; /* k elements each */
    struct zero_terms zeros[ZERO_TERMS_MAX]; /* of the zero points, and of faults */
    size_t zero_count;
    size_t tried;
    struct hypothesis_of_integers best;
};

static int32_t element(const struct integer_matrix *m, bool transposed, size_t i, size_t j)
{
    return m->at[transposed ? j * m->cols + i : i * m->cols + j];
}

/* Set the sizes; false if they do not match. */
static bool sizes_of(struct search_of_integers *s, const bool transposed[3])
{
    const struct integer_matrix *const a = &s->x->a, *const b = &s->x->b, *const c = &s->x->c,
                                      *const d = &s->x->d;
    s->m = transposed[0] ? a->cols : a->rows;
    s->k = transposed[0] ? a->rows : a->cols;
    s->n = transposed[1] ? b->rows : b->cols;
    const bool fits = (transposed[1] ? b->cols : b->rows) == s->k &&
                      (transposed[2] ? d->cols : d->rows) == s->m &&
                      (transposed[2] ? d->rows : d->cols) == s->n;
    return fits && (!c->at || (c->rows == d->rows && c->cols == d->cols));
}

static int64_t sum_of(const int32_t *x, size_t k)
{
    int64_t sum = 0;
    for (size_t p = 0; p < k; p++) sum += x[p];
    return sum;
}

/* What zero points add to the sum of the row and the column. */
static int64_t zeros_of(const struct search_of_integers *s, const struct zero_terms *x)
{
    if (!x->rows && !x->cols && !x->constant) return 0;
    return (int64_t)(x->rows * (uint64_t)sum_of(s->row, s->k) +
                     x->cols * (uint64_t)sum_of(s->col, s->k) + x->constant);
}

/* The sum of an output before the rule of its result. */
static int64_t value_of(struct search_of_integers *s, const struct hypothesis_of_integers *h,
                        size_t i, size_t j)
{
    for (size_t p = 0; p < s->k; p++) {
        s->row[p] = read_as(h->a, element(&s->x->a, h->transposed[0], i, p));
        s->col[p] = read_as(h->b, element(&s->x->b, h->transposed[1], p, j));
    }
    const int64_t c =
        s->x->c.at ? s->beta * element(&s->x->c, h->transposed[2], i, j) : 0;
    const uint64_t sum =
        (uint64_t)h->sum->sum(s->row, s->col, s->k) + (uint64_t)zeros_of(s, &h->zeros);
    return (int64_t)((uint64_t)s->alpha * sum + (uint64_t)c);
}

/* Try every rule of results on the sums of the sample. */
static void try_results(struct search_of_integers *s, struct hypothesis_of_integers h,
                        const int64_t value[SAMPLE])
{
    for (int r = 0; r < RESULTS && s->best.matched < s->sampled; r++) {
        size_t bits = 0;
        h.result = &result_rules[r];
        h.matched = 0;
        for (size_t o = 0; o < s->sampled; o++) {
            const int64_t v = result_of(h.result, value[o]);
            const bool ends = h.result->limits &&
                              (v == h.result->low || v == range_high(h.result));
            if (v != element(&s->x->d, h.transposed[2], s->place[o] / s->n,
                             s->place[o] % s->n))
                continue;
            h.matched++;
            bits += ends ? END_BITS : RESULT_BITS;
        }
        const bool plain = h.sum == sum_rules && !r && h.a == readings &&
                           h.b == readings && !h.zeros.fault && !h.zeros.fitted;
        s->tried++;
        if (h.matched == s->sampled && bits < EVIDENCE && !plain) h.matched = 0;
        if (h.matched > s->best.matched) s->best = h;
    }
}

static void try_one(struct search_of_integers *s, const struct hypothesis_of_integers *h)
{
    int64_t value[SAMPLE];
    for (size_t o = 0; o < s->sampled; o++)
        value[o] = value_of(s, h, s->place[o] / s->n, s->place[o] % s->n);
    try_results(s, *h, value);
}

/* The exact product, for matrices read in one way. */
static struct hypothesis_of_integers exact_product(const bool transposed[3])
{
    return (struct hypothesis_of_integers){ .sum = sum_rules,
                                            .a = readings,
                                            .b = readings,
                                            .transposed = { transposed[0], transposed[1],
                                                            transposed[2] } };
}

/* Try the zero points and every fault of them. */
static void try_zeros(struct search_of_integers *s, const bool transposed[3])
{
    struct hypothesis_of_integers h = exact_product(transposed);
    s->zero_count = zero_terms_of(s->zeros, s->x->zero_a, s->x->zero_b, s->k);
    for (size_t z = 0; z < s->zero_count && s->best.matched < s->sampled; z++) {
        h.zeros = s->zeros[z];
        try_one(s, &h);
    }
}

/* The two lines of a matrix with the smallest and the largest sum. */
static void extreme_lines(size_t line[2], int64_t sum[2], const struct integer_matrix *m,
                          bool transposed, bool columns, size_t lines, size_t k)
{
    for (size_t i = 0; i < lines; i++) {
        int64_t all = 0;
        for (size_t p = 0; p < k; p++)
            all += element(m, transposed, columns ? p : i, columns ? i : p);
        if (!i || all < sum[0]) line[0] = i, sum[0] = all;
        if (!i || all > sum[1]) line[1] = i, sum[1] = all;
    }
}

/* Try the zero points for which three outputs of D are what they are. */
static void try_fitted(struct search_of_integers *s, const bool transposed[3])
{
    enum { LEAST = 6 }; /* outputs: the terms are three numbers */
    struct hypothesis_of_integers h = exact_product(transposed);
    struct zero_outputs x;
    size_t row[2], col[2];
    if (!s->x->as_given || s->sampled < LEAST || !s->alpha) return;
    extreme_lines(row, x.row_sum, &s->x->a, transposed[0], false, s->m, s->k);
    extreme_lines(col, x.col_sum, &s->x->b, transposed[1], true, s->n, s->k);
    for (int o = 0; o < 3; o++) {
        const size_t i = row[o == 1], j = col[o == 2];
        const int64_t excess =
            wrapped_less(element(&s->x->d, transposed[2], i, j), value_of(s, &h, i, j));
        if (s->alpha != -1 && excess % s->alpha) return;
        x.excess[o] = wrapped_quotient(excess, s->alpha);
    }
    zero_terms_fit(&h.zeros, &x, s->k);
    try_one(s, &h);
}

/* Try every rule of sums and every reading of the operands, for matrices read in one
   way.  Plain readings come first. */
static void try_way(struct search_of_integers *s, const bool transposed[3])
{
    try_zeros(s, transposed);
    for (int both = 0; both < READINGS * READINGS; both++)
        for (int r = 0; r < SUMS && s->best.matched < s->sampled; r++) {
            const struct hypothesis_of_integers h = {
                .sum = &sum_rules[r],
                .a = &readings[both % READINGS],
                .b = &readings[both / READINGS],
                .zeros = s->zeros[0],
                .transposed = { transposed[0], transposed[1], transposed[2] }
            };
            if (!both && !r) continue; /* tried with every fault of zero points */
            if (!reads(h.a, &s->x->a) || !reads(h.b, &s->x->b)) continue;
            try_one(s, &h);
        }
    if (s->best.matched < s->sampled) try_fitted(s, transposed);
}

/* All outputs, or some at a distance that is odd; fewer for more products. */
static void draw_sample(struct search_of_integers *s)
{
    enum { PRODUCTS = 1 << 18, LEAST = 32 };
    const size_t all = s->m * s->n,
                 most = smaller(SAMPLE, PRODUCTS / s->k > LEAST ? PRODUCTS / s->k : LEAST);
    s->sampled = smaller(most, all);
    for (size_t o = 0; o < s->sampled; o++)
        s->place[o] = all <= most ? o : o * (all / most | 1) % all;
}

static enum bitcut_status try_all(struct search_of_integers *s, struct fault *f)
{
    bool fits = false;
    for (int way = 0; way < WAYS && (!fits || s->best.matched < s->sampled); way++) {
        const bool transposed[3] = { way & 1, way & 2, way & 4 };
        if (!sizes_of(s, transposed)) continue;
        fits = true;
        draw_sample(s);
        try_way(s, transposed);
    }
    if (fits) return BITCUT_OK;
    return fault_set(f, BITCUT_BAD_ARGUMENT,
                     "A is %zu x %zu, B is %zu x %zu, D is %zu x %zu: the shapes do not match "
                     "for any transposition",
                     s->x->a.rows, s->x->a.cols, s->x->b.rows, s->x->b.cols, s->x->d.rows,
                     s->x->d.cols);
}

/* Compare the best hypothesis with D, row after row, within the
   effort. */
static void compare_all(struct explanation *e, struct search_of_integers *s,
                        struct effort effort, const struct explain_options *o)
{
    const struct hypothesis_of_integers *const h = &s->best;
    sizes_of(s, h->transposed);
    for (size_t i = 0;
         i < s->m && !progress_stopped(o->progress) && (!i || !effort_is_spent(&effort));
         i++) {
        effort.spent += (double)s->n * (double)s->k;
        for (size_t j = 0; j < s->n; j++) {
            e->answer.differ += result_of(h->result, value_of(s, h, i, j)) !=
                                element(&s->x->d, h->transposed[2], i, j);
            e->answer.compared++;
        }
    }
}

/* --- the answer ------------------------------------------------------------------- */

static void describe_matrices(char *text, size_t size, const struct search_of_integers *s)
{
    const struct hypothesis_of_integers *const h = &s->best;
    const struct reading *const reading[] = { h->a, h->b };
    for (int i = 0; i < 2; i++)
        if (*reading[i]->what)
            text_add(text, size, ", with %c%s", "AB"[i], reading[i]->what);
    for (int i = 0; i < 3; i++)
        if (h->transposed[i]) text_add(text, size, ", with %c transposed", "ABD"[i]);
}

static void describe(struct explanation *e, const struct search_of_integers *s)
{
    struct bitcut_explanation *const a = &e->answer;
    const struct hypothesis_of_integers *const h = &s->best;
    if (!h->matched) {
        text_add(a->text, sizeof a->text,
                 "no hypothesis gives D: not an exact or saturating sum of integers");
        return;
    }
    const bool same = a->differ == 0;
    text_add(a->text, sizeof a->text, "%s %s%s", same ? "D is" : "no hypothesis gives D; the nearest is",
             h->sum->what, h->result->what);
    zero_terms_describe(a->text, sizeof a->text, &h->zeros, s->k);
    describe_matrices(a->text, sizeof a->text, s);
    text_add(a->text, sizeof a->text, ": %zu of %zu outputs agree", a->compared - a->differ,
             a->compared);
}

static void conclude(struct explanation *e, const struct search_of_integers *s)
{
    struct bitcut_explanation *const a = &e->answer;
    const struct hypothesis_of_integers *const h = &s->best;
    a->size = sizeof *a;
    a->total = s->x->d.rows * s->x->d.cols;
    a->tried = s->tried;
    a->complete = true;
    a->sampled = s->sampled;
    a->matched = h->matched;
    a->found = h->matched == s->sampled && a->compared && !a->differ;
    a->gemms = 1;
    a->explained = a->gemm = a->found;
    if (h->matched)
        a->fault = h->zeros.fault                         ? h->zeros.fault
                   : h->zeros.fitted && s->zero_count > 1 ? "other zero points"
                   : *h->a->what || *h->b->what           ? "sign or zero point lost"
                   : h->sum != sum_rules                  ? "saturated sums"
                                                          : h->result->fault;
    describe(e, s);
}

static bool is_integer(int64_t *to, uint32_t x)
{
    const double v = value_of_float(x);
    if (!(fabs(v) <= INT32_MAX) || v != floor(v)) return false;
    *to = (int64_t)v;
    return true;
}

static bool is_narrow(const struct integer_matrix *m)
{
    bool narrow = true;
    for (size_t i = 0; i < m->rows * m->cols; i++)
        narrow &= m->at[i] >= -UINT16_MAX && m->at[i] <= UINT16_MAX;
    return narrow;
}

static enum bitcut_status check(struct search_of_integers *s, const struct problem *q,
                                struct fault *f)
{
    const struct integer_problem *const x = s->x;
    if (q->recipe || q->unit || q->chip)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "a result of integers is explained without a recipe and a unit");
    if (!is_integer(&s->alpha, q->alpha) || !is_integer(&s->beta, q->beta))
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "alpha and beta of a product of integers must be integers");
    if (!x->d.rows || !x->d.cols) return fault_set(f, BITCUT_BAD_ARGUMENT, "D is empty");
    if (!x->a.rows || !x->a.cols)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "A and B have no products: k is 0");
    if (!is_narrow(&x->a) || !is_narrow(&x->b))
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "elements of A and B must have at most 16 bits");
    return BITCUT_OK;
}

bool integers_are_changed(const struct explanation *e)
{
    return e->of_integers && e->answer.found && e->answer.fault;
}

enum bitcut_status explain_integers(struct explanation *e, const struct integer_problem *x,
                                    const struct explain_options *o, struct fault *f)
{
    struct search_of_integers s = { .x = x };
    const struct effort effort = explain_effort(o, WORK_COMPARE);
    const size_t most = s.x->a.rows > s.x->a.cols ? s.x->a.rows : s.x->a.cols;
    enum bitcut_status status = check(&s, &e->q, f);
    if (status != BITCUT_OK) return status;
    s.row = memory_allocate(most, sizeof *s.row);
    s.col = memory_allocate(most, sizeof *s.col);
    if (!s.row || !s.col) status = fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
    if (status == BITCUT_OK) status = try_all(&s, f);
    if (status == BITCUT_OK) {
        if (s.best.matched) compare_all(e, &s, effort, o);
        conclude(e, &s);
        e->of_integers = true;
        e->error = NAN;
        for (size_t r = 0; r < RECIPES_MAX; r++) e->distance[r] = INFINITY;
    }
    free(s.row);
    free(s.col);
    return status;
}
