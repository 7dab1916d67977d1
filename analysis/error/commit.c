#include "analysis/error/commit.h"

#include "emu/summation.h"
#include "lib/bits.h"
#include "lib/equilibrate.h"
#include "lib/fma.h"
#include "lib/hostfp.h"
#include "lib/size.h"
#include "lib/threads.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#define U 0x1p-24


/* --- FP32 ------------------------------------------------------------------------- */

enum { ROWS = 8, COLUMNS = 128 }; /* of a tile, whose sums stay in cache */

/* The limit of an element from its exact sum and the sum of the squares of its partial
   sums. */
static double limit_of(const struct comparison *x, size_t at, double sum, double squares)
{
    const double alpha = value_of_float(x->alpha), product = alpha * sum;
    double all = alpha * alpha * squares;
    if (x->alpha != F32_ONE) all += product * product;
    if (x->beta << 1 != 0) {
        const double whole = product + value_of_float(x->beta) * value_of_float(x->c[at]);
        all += whole * whole;
    }
    return 4 * U * sqrt(all);
}

/* The exact sums of a tile and those of the squares of their partial sums. */
struct sums {
    double sum[ROWS][COLUMNS], squares[ROWS][COLUMNS];
};

/* Add a times a line of b; all COLUMNS, as loops of known length are made faster. */
static void sums_add(struct sums *s, size_t row, double a, const double b[COLUMNS])
{
    for (size_t c = 0; c < COLUMNS; c++) {
        const double sum = s->sum[row][c] + a * b[c];
        s->sum[row][c] = sum;
        s->squares[row][c] += sum * sum;
    }
}

/* The limits of rows x cols elements from (i, j). */
static void tile_fill(double *limit, const struct comparison *x, size_t i, size_t j,
                      size_t rows, size_t cols)
{
    struct sums s = { { { 0 } }, { { 0 } } };
    double b[COLUMNS] = { 0 };
    for (size_t p = 0; p < x->k; p++) {
        for (size_t c = 0; c < cols; c++) b[c] = value_of_float(x->b[p * x->n + j + c]);
        for (size_t r = 0; r < rows; r++)
            sums_add(&s, r, value_of_float(x->a[(i + r) * x->k + p]), b);
    }
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < cols; c++) {
            const size_t at = (i + r) * x->n + j + c;
            limit[at] = limit_of(x, at, s.sum[r][c], s.squares[r][c]);
        }
}

static void model(double *limit, const struct comparison *x, int threads)
{
    const size_t across = divide_up(x->n, COLUMNS);
    const size_t tiles = divide_up(x->m, ROWS) * across;
    (void)threads;
#pragma omp parallel for schedule(static) num_threads(threads_for(threads, tiles))
    for (size_t t = 0; t < tiles; t++) {
        const size_t i = t / across * ROWS, j = t % across * COLUMNS;
        struct hostfp mode;
        hostfp_enter(&mode);
        tile_fill(limit, x, i, j, smaller(ROWS, x->m - i), smaller(COLUMNS, x->n - j));
        hostfp_leave(&mode);
    }
}

/* Raise limits to the errors of `loop`, the recipe's result; what overflowed says
   nothing. */
static void raise_limits(double *limit, const struct comparison *x, const uint32_t *loop)
{
    struct comparison of_loop = *x;
    struct hostfp mode;
    of_loop.d = loop;
    hostfp_enter(&mode);
    for (size_t i = 0; i < x->m * x->n; i++) {
        const double error = fabs(metric_error(&of_loop, i));
        if (isfinite(error)) limit[i] = larger_double(limit[i], error);
    }
    hostfp_leave(&mode);
}

enum bitcut_status commit_fp32(double *limit, const struct comparison *x, int threads,
                               const struct progress *progress, struct fault *f)
{
    struct bitcut_gemm g =
        gemm_of(&recipes[RECIPE_FP32], unit_find("fma/f32", &formats[FORMAT_F32]));
    const struct gemm_options options = { .threads = threads, .progress = progress };
    g.alpha = x->alpha;
    g.beta = x->beta;
    uint32_t *loop = memory_allocate(x->m * x->n, sizeof *loop);
    if (!loop) return fault_set(f, BITCUT_NO_MEMORY, "out of memory for the limits");
    gemm_set_dense(&g, loop, x->m, x->n, x->k, x->a, x->b, x->c);
    const enum bitcut_status status = gemm_run(&g, &options, f);
    if (status == BITCUT_OK) {
        model(limit, x, threads);
        raise_limits(limit, x, loop);
    }
    free(loop);
    return status;
}

/* --- words ------------------------------------------------------------------------ */

/* What words make of a line in one norm, against the norm of the line; of several lines
   the worst. */
struct kept {
    double rest;                   /* what all words leave that are not copies        */
    double word[SPLIT_WORDS_MOST]; /* word w times 2^-(s level)                       */
    double left[SPLIT_WORDS_MOST]; /* what word w leaves if it is a copy              */
};

/* The same in several norms; `aligned` is 2-norms with subnormal words as the least normal
   number, by whose exponent they align, and has no rest. */
struct norms {
    struct kept one, two, aligned;
    size_t underflow, overflow; /* elements, as struct commit_error says */
};

/* The rows of A or the columns of B, their split, and what reads its words. */
struct side {
    const struct bitcut_split *split;
    const struct bitcut_format *operand[SPLIT_WORDS_MOST]; /* as each word is read ... */
    bool flush[SPLIT_WORDS_MOST]; /* ... and whether subnormal ones are read as 0   */
    bool equilibrate;
    const uint32_t *at;
    size_t lines, k, line_stride, stride;
};

/* The value of a word as its unit reads it. */
static double word_value(const struct side *s, int w, uint64_t encoding)
{
    const double v = format_to_double(s->split->word[w].format, encoding);
    return s->flush[w] && fabs(v) < ldexp(1, format_emin(s->operand[w])) ? 0 : v;
}

static void add_word(struct norms *sum, int w, double value, double least)
{
    const double size = fabs(value), aligned = size == 0 ? 0 : larger_double(size, least);
    sum->one.word[w] += size;
    sum->two.word[w] += size * size;
    sum->aligned.word[w] += aligned * aligned;
}

/* Add one element: `size` has the sums of magnitudes and of squares. */
static void add_element(struct norms *sum, double size[2], const struct side *s,
                        uint32_t x)
{
    uint64_t word[SPLIT_WORDS_MOST];
    split_words(word, s->split, x);
    const double whole = value_of_float(x);
    double rest = whole;
    bool small = false, large = false;
    size[0] += fabs(whole);
    size[1] += whole * whole;
    for (int w = 0; w < s->split->words; w++) {
        const double back = ldexp(1, -s->split->scale * s->split->word[w].level);
        const double value = back * word_value(s, w, word[w]), left = whole - value;
        large |= !isfinite(value);
        if (!s->split->word[w].copy) {
            const int emin = format_emin(s->split->word[w].format);
            small |= rest != 0 && fabs(value) < ldexp(back, emin);
            rest -= value;
        }
        sum->one.left[w] += fabs(left);
        sum->two.left[w] += left * left;
        add_word(sum, w, value, ldexp(back, format_emin(s->operand[w])));
    }
    sum->one.rest += fabs(rest);
    sum->two.rest += rest * rest;
    sum->underflow += small;
    sum->overflow += large;
}

static int line_exponent(const struct side *s, size_t line)
{
    uint32_t largest = 0;
    if (!s->equilibrate) return 0;
    for (size_t p = 0; p < s->k; p++)
        largest =
            equilibrate_larger(largest, s->at[line * s->line_stride + p * s->stride]);
    return equilibrate_exponent(s->split, largest);
}

/* NaN, as of Inf - Inf or Inf 0, is as bad as infinite. */
static double known(double x) { return isnan(x) ? (double)INFINITY : x; }

static double share(double sum, double size, bool squares)
{
    const double x = known(sum / size);
    return squares ? sqrt(x) : x;
}

static struct kept kept_of(const struct kept *sum, double size, bool squares)
{
    struct kept x = { .rest = share(sum->rest, size, squares) };
    for (int w = 0; w < SPLIT_WORDS_MOST; w++) {
        x.word[w] = share(sum->word[w], size, squares);
        x.left[w] = share(sum->left[w], size, squares);
    }
    return x;
}

/* Values that are not finite count as 0: those show in the elements. */
static struct norms line_norms_of(const struct side *s, size_t line)
{
    const int exponent = line_exponent(s, line);
    struct norms sum = { 0 };
    double size[2] = { 0, 0 };
    for (size_t p = 0; p < s->k; p++) {
        const uint32_t x = s->at[line * s->line_stride + p * s->stride];
        if (!isfinite(value_of_float(x))) continue;
        add_element(&sum, size, s, exponent ? equilibrate_scale(x, exponent) : x);
    }
    if (size[0] == 0) return (struct norms){ 0 };
    return (struct norms){ kept_of(&sum.one, size[0], false),
                           kept_of(&sum.two, size[1], true),
                           kept_of(&sum.aligned, size[1], true), sum.underflow,
                           sum.overflow };
}

static void keep_worst(struct kept *worst, const struct kept *x)
{
    worst->rest = larger_double(worst->rest, x->rest);
    for (int w = 0; w < SPLIT_WORDS_MOST; w++) {
        worst->word[w] = larger_double(worst->word[w], x->word[w]);
        worst->left[w] = larger_double(worst->left[w], x->left[w]);
    }
}

static struct norms worst_of(const struct side *s, int threads)
{
    struct norms worst = { 0 };
    (void)threads;
#pragma omp parallel for schedule(static) num_threads(threads_for(threads, s->lines))
    for (size_t i = 0; i < s->lines; i++) {
        struct hostfp mode;
        hostfp_enter(&mode);
        const struct norms x = line_norms_of(s, i);
        hostfp_leave(&mode);
#pragma omp critical
        {
            keep_worst(&worst.one, &x.one);
            keep_worst(&worst.two, &x.two);
            keep_worst(&worst.aligned, &x.aligned);
            worst.underflow += x.underflow;
            worst.overflow += x.overflow;
        }
    }
    return worst;
}

/* --- steps of a unit -------------------------------------------------------------- */

static double step_error(const struct bitcut_unit *u)
{
    const double last = u->c_last ? round_error(u->c, TO_NEAREST_EVEN) : 0;
    return round_error(u->result, u->rounding.direction) + u->summation->error(u) + last;
}

/* --- chains ----------------------------------------------------------------------- */

static double gamma_of(double x) { return x < 1 ? x / (1 - x) : (double)INFINITY; }

/* What errs. */
struct subject {
    struct gemm_plan plan;
    uint32_t alpha, beta;
};

/* What a lane of a slice of k does. */
struct course {
    double k_steps;
    double promotions; /* of accumulator 0 */
};

/* The most of `steps` that one of `parts` has, which take `each` of them at a time. */
static size_t share_of(size_t steps, int parts, size_t each)
{
    return smaller(steps, divide_up(divide_up(steps, each), (size_t)parts) * each);
}

static size_t steps_of(int k, const struct gemm_plan *p)
{
    return k ? divide_up((size_t)k, (size_t)p->k_step) : 1;
}

/* Steps of the longest slice; halves are no longer. */
static size_t slice_steps(const struct gemm_plan *p, size_t k)
{
    const struct bitcut_order *o = &p->order;
    const size_t step = (size_t)p->k_step;
    if (o->cut) return divide_up(share_of(k, o->slices, (size_t)o->cut), step);
    return share_of(divide_up(k, step), o->slices, steps_of(o->tile, p));
}

static struct course course_of(const struct gemm_plan *p, size_t k)
{
    const struct bitcut_order *o = &p->order;
    const size_t slice = slice_steps(p, k),
                 lane = share_of(slice, o->lanes, steps_of(o->turn, p));
    size_t instructions = 0; /* of accumulator 0 */
    for (int t = 0; t < p->terms; t++)
        if (p->term[t].accumulator == 0)
            instructions += lane * (size_t)(p->k_step / p->unit[t]->k);
    return (struct course){
        .k_steps = (double)lane,
        .promotions =
            p->promote ? (double)divide_up(instructions, (size_t)p->promote) : 0
    };
}

/* Steps of its unit that term t runs in a chain: in a lane, or between promotions. */
static double chain_steps(const struct gemm_plan *p, const struct course *c, int t)
{
    const struct bitcut_unit *u = p->unit[t];
    const double lane = c->k_steps * (p->k_step / u->k), most = p->promote;
    const bool cut = p->promote && p->term[t].accumulator == 0 && lane > most;
    return (cut ? most : lane) * (u->k / u->block);
}

/* How many terms have the product of two words; a copy stands for all words. */
static int terms_with(const struct gemm_plan *p, int i, int j)
{
    int count = 0;
    for (int t = 0; t < p->terms; t++) {
        const int a = p->term[t].a, b = p->term[t].b;
        count +=
            (a == i || p->split_a.word[a].copy) && (b == j || p->split_b.word[b].copy);
    }
    return count;
}

/* What copies in a term leave. */
static double copies_error(const struct gemm_plan *p, struct recipe_term t,
                           const struct kept *a, const struct kept *b)
{
    const bool copy_a = p->split_a.word[t.a].copy, copy_b = p->split_b.word[t.b].copy;
    const double left_a = copy_a ? a->left[t.a] : 0, left_b = copy_b ? b->left[t.b] : 0;
    return left_a * (copy_b ? 1 : b->word[t.b]) + left_b * (copy_a ? 1 : a->word[t.a]) +
           left_a * left_b;
}

/* What the words leave of the operands, and products that no term has, or several. */
static double words_error(const struct gemm_plan *p, const struct kept *a,
                          const struct kept *b)
{
    double sum = a->rest + b->rest + a->rest * b->rest;
    for (int i = 0; i < p->split_a.words; i++)
        for (int j = 0; j < p->split_b.words; j++) {
            if (p->split_a.word[i].copy || p->split_b.word[j].copy) continue;
            sum += abs(terms_with(p, i, j) - 1) * a->word[i] * b->word[j];
        }
    for (int t = 0; t < p->terms; t++) sum += copies_error(p, p->term[t], a, b);
    return sum;
}

/* What accumulator i errs by. */
static double accumulator_error(const struct subject *s, const struct course *c, int i,
                                const struct kept *a, const struct kept *b)
{
    const struct gemm_plan *p = &s->plan;
    double size = 0, errors = 0;
    for (int t = 0; t < p->terms; t++)
        if (p->term[t].accumulator == i) {
            size += a->word[p->term[t].a] * b->word[p->term[t].b];
            errors += chain_steps(p, c, t) * step_error(p->unit[t]);
        }
    if (size == 0) return 0;
    const double chain = gamma_of(errors);
    const double adds = i == 0 ? gamma_of(c->promotions * U) : 0;
    return size * (chain + adds + chain * adds);
}

/* Roundings after the accumulators. */
static double roundings_after(const struct subject *s)
{
    const struct gemm_plan *p = &s->plan;
    return p->accumulators - 1 + (p->order.slices - 1) + (p->order.lanes - 1) +
           p->equilibrate + (s->alpha != F32_ONE) + (s->beta << 1 != 0);
}

/* What is cut in a step where nothing is large: below align_min. */
static double least_cut(const struct bitcut_unit *u)
{
    const bool least = summation_reads(u) & READS_ALIGN_MIN;
    return least ? u->block * ldexp(1, u->align_min - u->fraction) : 0;
}

/* What underflows in a step of the unit: in each operation as much as its result's least
   number, and what is cut. */
static double step_underflow(const struct bitcut_unit *u)
{
    const int quantum = format_least_exponent(u->result);
    const double least = ldexp(1, u->rounding.flush ? format_emin(u->result) : quantum);
    return 2 * u->block * least + least_cut(u);
}

/* What underflows in all steps, and in FP32. */
static double underflow(const struct subject *s, const struct course *c)
{
    const struct gemm_plan *p = &s->plan;
    const double parts = (double)p->order.slices * p->order.lanes;
    double all = (c->promotions * parts + roundings_after(s) + 1) * 0x1p-149;
    for (int t = 0; t < p->terms; t++)
        all += c->k_steps * (p->k_step / p->unit[t]->block) * parts *
               step_underflow(p->unit[t]);
    return larger_double(1, fabs(value_of_float(s->alpha))) * all;
}

/* The rows of A or the columns of B of x; sizes without elements may be huge. */
static struct side side_of(const struct gemm_plan *p, const struct comparison *x,
                           enum bitcut_operand which)
{
    const bool of_a = which == BITCUT_A, empty = x->m == 0 || x->n == 0;
    struct side s = { .split = of_a ? &p->split_a : &p->split_b,
                      .equilibrate = p->equilibrate,
                      .at = of_a ? x->a : x->b,
                      .lines = empty ? 0 : of_a ? x->m : x->n,
                      .k = x->k,
                      .line_stride = of_a ? x->k : 1,
                      .stride = of_a ? 1 : x->n };
    for (int w = 0; w < s.split->words; w++) {
        const struct bitcut_unit *u = gemm_plan_reader(p, which, w);
        s.operand[w] = !u ? s.split->word[w].format : of_a ? u->a : u->b;
        s.flush[w] = u && u->flush_inputs;
    }
    return s;
}

void commit_recipe(struct commit_error *e, const struct bitcut_gemm *g,
                   const struct comparison *x, int threads)
{
    struct subject s = { .alpha = g->alpha, .beta = g->beta };
    const enum bitcut_status status = gemm_plan_on_unit(&s.plan, g, NULL);
    assert(status == BITCUT_OK);
    (void)status;
    const struct side rows = side_of(&s.plan, x, BITCUT_A),
                      columns = side_of(&s.plan, x, BITCUT_B);
    const struct norms a = worst_of(&rows, threads), b = worst_of(&columns, threads);
    const struct course c = course_of(&s.plan, x->k);
    struct hostfp mode;
    hostfp_enter(&mode);
    double all = words_error(&s.plan, &a.two, &b.two);
    for (int i = 0; i < RECIPE_ACCUMULATORS_MOST; i++)
        all += accumulator_error(&s, &c, i, &a.aligned, &b.aligned);
    all += (1 + all) * gamma_of(roundings_after(&s) * U);
    const double least = underflow(&s, &c);
    if (s.plan.equilibrate) all += least * 0x1p-28; /* beside lines of 2^14 at least each */
    *e = (struct commit_error){ .words = known(words_error(&s.plan, &a.one, &b.one)) / U,
                                .all = known(all) / U,
                                .least = least,
                                .underflow = { a.underflow, b.underflow },
                                .overflow = { a.overflow, b.overflow } };
    hostfp_leave(&mode);
}

double commit_share(const struct comparison *x, const struct commit_error *e)
{
    double most = 0;
    struct hostfp mode;
    hostfp_enter(&mode);
    for (size_t i = 0; x->n && i < x->m; i++)
        for (size_t j = 0; j < x->n; j++) {
            const double error = fabs(metric_error(x, i * x->n + j));
            const double allowed = e->all * U * lines_at(x, i, j) + e->least;
            if (error > 0) most = larger_double(most, error / allowed);
        }
    hostfp_leave(&mode);
    return most;
}
