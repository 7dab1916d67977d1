/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/sampling/power_fault.h"

#include "analysis/accuracy/bound.h"
#include "analysis/accuracy/short_result.h"
#include "lib/base/size.h"
#include "lib/number/fma.h"

#include <math.h>
#include <string.h>

/* --- another GEMM ----------------------------------------------------------------- */

/* Truncation in place of another rounding, or rounding to nearest in place of truncation.
 */
static const struct bitcut_rounding *other_rounding(const struct bitcut_rounding *r)
{
    return &roundings[r->direction == TO_ZERO ? ROUND_RN : ROUND_RZ];
}

static bool high_otherwise(struct bitcut_gemm *g, struct rng *r)
{
    struct gemm_plan plan;
    (void)r;
    if (gemm_plan_on_values(&plan, g, NULL) != BITCUT_OK) return false;
    g->high = other_rounding(plan.split_a.part[0].rounding);
    return plan.split_a.part[0].format != &formats[FORMAT_F32];
}

static bool low_otherwise(struct bitcut_gemm *g, struct rng *r)
{
    struct gemm_plan plan;
    (void)r;
    if (gemm_plan_on_values(&plan, g, NULL) != BITCUT_OK || plan.split_a.parts < 2)
        return false;
    g->low = other_rounding(split_low(&plan.split_a));
    return true;
}

static bool never_promoted(struct bitcut_gemm *g, struct rng *r)
{
    struct gemm_plan plan;
    (void)r;
    if (gemm_plan_on_values(&plan, g, NULL) != BITCUT_OK || !plan.promote) return false;
    g->promote = 0;
    return true;
}

/* The error bound of g on a unit, for this k. */
enum { K_COMPARED = 1024 };

static double error_on(const struct bitcut_gemm *g, const struct bitcut_unit *u)
{
    struct bitcut_gemm other = *g;
    struct bound_apriori b;
    other.unit = u;
    return bound_apriori(&b, &other, K_COMPARED, false, NULL) == BITCUT_OK ? b.relative
                                                                           : INFINITY;
}

/* The unit with these accumulators on which g has the next larger error, or NULL. */
static const struct bitcut_unit *weaker_unit(const struct bitcut_gemm *g,
                                             const struct bitcut_format *c)
{
    const double own = error_on(g, g->unit) * (1 + 0x1p-10);
    const struct bitcut_unit *best = NULL;
    double least = INFINITY;
    for (const struct bitcut_unit *u = units; u->name; u++) {
        if (u->a != g->unit->a || u->b != g->unit->b || u->c != c || u->scale) continue;
        const double error = error_on(g, u);
        if (error > own && error < least) best = u, least = error;
    }
    return best;
}

static bool on_weaker_unit(struct bitcut_gemm *g, struct rng *r)
{
    (void)r;
    g->unit = weaker_unit(g, g->unit->c);
    return g->unit != NULL;
}

static bool in_f16_accumulators(struct bitcut_gemm *g, struct rng *r)
{
    (void)r;
    if (g->unit->c == &formats[FORMAT_F16]) return false;
    g->unit = weaker_unit(g, &formats[FORMAT_F16]);
    return g->unit != NULL;
}

/* --- another element -------------------------------------------------------------- */

/* x->by: a row of A and a k in it, which is read in place of the next one. */
static struct spot next_element(const struct candidate *x, const struct extent *e,
                                size_t line, size_t k)
{
    const bool here = line == (size_t)x->by[0] && k == (size_t)x->by[1];
    return (struct spot){ line, here && e->k > 1 ? k ? k - 1 : 1 : k };
}

static void element_wrong(struct candidate *x, const struct block *b, struct rng *r)
{
    x->by[0] = (int)rand_below(rng_bits(r), b->rows);
    x->by[1] = (int)rand_below(rng_bits(r), b->k);
    x->spot[BITCUT_A] = next_element;
}

/* --- another output --------------------------------------------------------------- */

static size_t any_output(size_t m, size_t n, struct rng *r)
{
    return (size_t)rand_below(rng_bits(r), m * n);
}

static void output_zero(uint32_t *d, size_t m, size_t n, struct rng *r)
{
    d[any_output(m, n, r)] = 0;
}

static void output_nan(uint32_t *d, size_t m, size_t n, struct rng *r)
{
    d[any_output(m, n, r)] = F32_NAN;
}

static void output_off(uint32_t *d, size_t m, size_t n, struct rng *r)
{
    d[any_output(m, n, r)] ^= 1u << 12;
}

static void output_of_neighbour(uint32_t *d, size_t m, size_t n, struct rng *r)
{
    const size_t at = any_output(m, n, r);
    d[at] = d[at ? at - 1 : smaller(1, m * n - 1)];
}

enum { TILE_SIDE = 8 };

/* The tile to the left of another, or above it, replaces it. */
static void tile_twice(uint32_t *d, size_t m, size_t n, struct rng *r)
{
    const bool across = n > TILE_SIDE;
    const size_t from = across ? 1 : n, rows = smaller(TILE_SIDE, m),
                 cols = smaller(TILE_SIDE, n);
    (void)r;
    if (!across && m <= TILE_SIDE) return;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++) {
            const size_t to = across ? i * n + j + TILE_SIDE : (i + TILE_SIDE) * n + j;
            if (across ? j + TILE_SIDE < n : i + TILE_SIDE < m)
                d[to] = d[to - TILE_SIDE * from];
        }
}

/* --- another epilogue ------------------------------------------------------------- */

/* The factors of A or of B, drawn if there are both; NULL: there are none. */
static struct matrix *any_factors(struct gemm_data *p, struct rng *r)
{
    const bool of_b = p->scale_a.at && p->scale_b.at ? rand_below(rng_bits(r), 2)
                                                     : p->scale_b.at != NULL;
    struct matrix *const x = of_b ? &p->scale_b : &p->scale_a;
    return x->at ? x : NULL;
}

static bool scale_truncated(struct gemm_data *p, struct bitcut_gemm *g, struct rng *r)
{
    struct matrix *const x = any_factors(p, r);
    (void)g;
    for (size_t i = 0; x && i < x->rows * x->cols; i++) x->at[i] &= 0xff800000;
    return x;
}

/* Each line or column of a matrix is the next one; the last one stays. */
static void move_up(struct matrix *x, bool columns)
{
    for (size_t i = 0; i + !columns < x->rows; i++)
        for (size_t j = 0; j + columns < x->cols; j++)
            x->at[i * x->cols + j] =
                columns ? x->at[i * x->cols + j + 1] : x->at[(i + 1) * x->cols + j];
}

/* Of the next block of k; if all k have one, of the next row or column. */
static bool scale_of_neighbour(struct gemm_data *p, struct bitcut_gemm *g, struct rng *r)
{
    struct matrix *const x = any_factors(p, r);
    (void)g;
    if (!x) return false;
    const bool of_a = x == &p->scale_a, blocks = (of_a ? x->cols : x->rows) > 1;
    move_up(x, of_a == blocks);
    return true;
}

static bool scale_twice(struct gemm_data *p, struct bitcut_gemm *g, struct rng *r)
{
    struct matrix *const x = any_factors(p, r);
    (void)g;
    for (size_t i = 0; x && i < x->rows * x->cols; i++)
        x->at[i] = f32_multiply(x->at[i], x->at[i]);
    return x;
}

static bool bias_lost(struct gemm_data *p, struct bitcut_gemm *g, struct rng *r)
{
    (void)g, (void)r;
    for (size_t i = 0; p->bias.at && i < p->bias.cols; i++) p->bias.at[i] = 0;
    return p->bias.at;
}

static bool bias_of_neighbour(struct gemm_data *p, struct bitcut_gemm *g, struct rng *r)
{
    (void)g, (void)r;
    if (p->bias.at) move_up(&p->bias, true);
    return p->bias.at;
}

static bool bias_rounded(struct gemm_data *p, struct bitcut_gemm *g, struct rng *r)
{
    (void)r;
    if (!p->bias.at || !result_is_short(g->d.format)) return false;
    result_round(p->bias.at, p->bias.cols, g->d.format);
    return true;
}

static bool alpha_twice(struct gemm_data *p, struct bitcut_gemm *g, struct rng *r)
{
    (void)p, (void)r;
    g->alpha = f32_multiply(g->alpha, g->alpha);
    return true;
}

static bool zero_a_ignored(struct gemm_data *p, struct bitcut_gemm *g, struct rng *r)
{
    (void)p, (void)r;
    g->zero_a = 0;
    return true;
}

static bool zero_b_ignored(struct gemm_data *p, struct bitcut_gemm *g, struct rng *r)
{
    (void)p, (void)r;
    g->zero_b = 0;
    return true;
}

static bool zeros_exchanged(struct gemm_data *p, struct bitcut_gemm *g, struct rng *r)
{
    const int32_t a = g->zero_a;
    (void)p, (void)r;
    g->zero_a = g->zero_b;
    g->zero_b = a;
    return true;
}

static bool zeros_added(struct gemm_data *p, struct bitcut_gemm *g, struct rng *r)
{
    (void)p, (void)r;
    g->zero_a = -g->zero_a; /* at most 2^22 */
    g->zero_b = -g->zero_b;
    return true;
}

/* Saturates at the largest value of e4m3fnuz. */
static bool saturated_at_240(struct gemm_data *p, struct bitcut_gemm *g, struct rng *r)
{
    unsigned char *const at =
        memchr(g->epilogue, BITCUT_STEP_SATURATE, sizeof g->epilogue);
    (void)p, (void)r;
    if (!at || g->d.format != &formats[FORMAT_E4M3] ||
        memchr(g->epilogue, BITCUT_STEP_CLAMP, sizeof g->epilogue))
        return false;
    *at = BITCUT_STEP_CLAMP;
    g->clamp_low = 0xc3700000;
    g->clamp_high = 0x43700000;
    return true;
}

/* A matrix of A or B with more k, which repeat those before `from`. */
static bool pad(struct matrix *x, size_t more, size_t from, bool of_b)
{
    const size_t rows = x->rows + (of_b ? more : 0), cols = x->cols + (of_b ? 0 : more);
    struct matrix all;
    if (matrix_init(&all, rows, cols, NULL) != BITCUT_OK) return false;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++) {
            const size_t k = of_b ? i : j, end = of_b ? x->rows : x->cols,
                         at = k < end ? k : k - from;
            all.at[i * cols + j] =
                of_b ? x->at[at * x->cols + j] : x->at[i * x->cols + at];
        }
    matrix_clear(x);
    *x = all;
    return true;
}

/* The partial k-step, or block of factors, at the end is filled with what the one before
   it has there. */
static bool stale_padding(struct gemm_data *p, struct bitcut_gemm *g, struct rng *r)
{
    struct gemm_plan plan;
    (void)r;
    if (p->a.kept || gemm_plan_on_values(&plan, g, NULL) != BITCUT_OK) return false;
    const size_t k = p->a.cols, step = (size_t)plan.k_step,
                 more = (step - k % step) % step, after = k + more;
    return more && k > step &&
           factor_blocks(&g->scale_a, after) == factor_blocks(&g->scale_a, k) &&
           factor_blocks(&g->scale_b, after) == factor_blocks(&g->scale_b, k) && pad(&p->a, more, step, false) &&
           pad(&p->b, more, step, true);
}

/* --- the table -------------------------------------------------------------------- */

static const struct power_fault more_faults[] = {
    { .name = "high parts rounded otherwise",
      .what = "high parts are truncated instead of rounded, or the reverse",
      .vary = high_otherwise },
    { .name = "low parts rounded otherwise",
      .what = "low parts are truncated instead of rounded, or the reverse",
      .vary = low_otherwise },
    { .name = "never promoted",
      .what = "sums stay in the accumulators of the unit",
      .vary = never_promoted },
    { .name = "weaker unit",
      .what = "the unit with the next less accurate accumulator is used",
      .vary = on_weaker_unit },
    { .name = "f16 accumulators",
      .what = "a unit with f16 accumulators is used",
      .vary = in_f16_accumulators },
    { .name = "one element wrong",
      .what = "the preceding element of A is read in place of one element",
      .alter = element_wrong },
    { .name = "one output zero",
      .what = "an output is not stored",
      .spoil = output_zero },
    { .name = "one output NaN", .what = "an output is NaN", .spoil = output_nan },
    { .name = "one bit flipped",
      .what = "bit 12 of an output is flipped, 2^-11 to 2^-10 of its value",
      .spoil = output_off },
    { .name = "one output twice",
      .what = "an output is replaced by its neighbour",
      .spoil = output_of_neighbour },
    { .name = "one tile twice",
      .what = "8 x 8 outputs are replaced by their neighbours",
      .spoil = tile_twice },
    { .name = "scale truncated",
      .what = "factors of A or B are truncated to powers of two",
      .mislead = scale_truncated },
    { .name = "scale of neighbour",
      .what = "factors of A or B are those of the next block, row or column",
      .mislead = scale_of_neighbour },
    { .name = "scale applied twice",
      .what = "factors of A or B are applied twice",
      .mislead = scale_twice },
    { .name = "bias lost", .what = "the bias is not added", .mislead = bias_lost },
    { .name = "bias of neighbour",
      .what = "the bias is that of the next column or row",
      .mislead = bias_of_neighbour },
    { .name = "bias rounded first",
      .what = "the bias is rounded to the format of D before it is added",
      .mislead = bias_rounded },
    { .name = "alpha applied twice",
      .what = "alpha is applied twice",
      .mislead = alpha_twice },
    { .name = "zero point of A ignored",
      .what = "the zero point of A is ignored",
      .mislead = zero_a_ignored },
    { .name = "zero point of B ignored",
      .what = "the zero point of B is ignored",
      .mislead = zero_b_ignored },
    { .name = "zero points exchanged",
      .what = "the zero points of A and B are exchanged",
      .mislead = zeros_exchanged },
    { .name = "zero points added",
      .what = "the zero points of A and B are added instead of subtracted",
      .mislead = zeros_added },
    { .name = "saturated at 240",
      .what = "a D in e4m3 saturates at 240, the largest value of e4m3fnuz, not at 448",
      .mislead = saturated_at_240 },
    { .name = "stale padding",
      .what =
          "the partial k-step at the end is filled with elements of the one before it",
      .mislead = stale_padding },
    { 0 }
};

bool power_fault_nth(struct power_fault *to, size_t i)
{
    const struct kernel_fault *d = kernel_fault_next(NULL);
    for (; d && (i || d->of_residual); d = kernel_fault_next(d)) i -= !d->of_residual;
    if (d) *to = (struct power_fault){ .name = d->name, .what = d->what, .defect = d };
    else if (i < sizeof more_faults / sizeof *more_faults) *to = more_faults[i];
    else return false;
    return to->name != NULL;
}

/* --- making ----------------------------------------------------------------------- */

static bool make_plan(struct candidate *x, const struct bitcut_gemm *g,
                      const struct space *s)
{
    candidate_clean(x, s);
    x->gemm = *g;
    x->unit = *g->unit;
    return gemm_plan_on_values(&x->plan, &x->gemm, NULL) == BITCUT_OK;
}

/* A fault of this kind. */
static bool make_kind(struct candidate *x, const struct kernel_fault *d, int kind,
                      const struct bitcut_gemm *g, const struct space *s)
{
    candidate_clean(x, s);
    x->gemm = *g;
    x->unit = *g->unit;
    return (!d->vary || d->vary(x, s, kind)) &&
           gemm_plan_on_values(&x->plan, &x->gemm, NULL) == BITCUT_OK &&
           (!d->alter || d->alter(x, s, kind));
}

bool power_fault_make(struct candidate *x, const struct power_fault *fault,
                      const struct bitcut_gemm *g, const struct space *s,
                      const struct block *b, struct rng *r)
{
    const struct kernel_fault *const d = fault->defect;
    if (d) {
        const size_t kinds = d->kinds ? d->kinds(s) : 1;
        const size_t first = kinds ? (size_t)rand_below(rng_bits(r), kinds) : 0;
        for (size_t i = 0; i < kinds; i++)
            if (make_kind(x, d, (int)((first + i) % kinds), g, s)) return true;
        return false;
    }
    struct bitcut_gemm own = *g;
    if (fault->vary && !fault->vary(&own, r)) return false;
    if (!make_plan(x, &own, s)) return false;
    if (fault->alter) fault->alter(x, b, r);
    return true;
}
