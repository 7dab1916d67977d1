#include "lib/exact.h"

#include "lib/bins.h"
#include "lib/bits.h"
#include "lib/fma.h"
#include "lib/hostfp.h"
#include "lib/lines.h"
#include "lib/oracle.h"
#include "lib/round.h"
#include "lib/size.h"
#include "lib/threads.h"
#include "lib/wide.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What one thread works with. */
struct worker {
    struct dgemm dgemm;
    struct bins bins;
    struct oracle oracle;  /* only if its layer is used                            */
    uint8_t pending[TILE]; /* what (i, j) lacks, bit 1 << target, rows as in dgemm */
    uint32_t *column;      /* a column of B without gaps                           */
    struct exact_counts counts;
};

struct job {
    uint32_t *c32;
    uint64_t *c64;
    double *magnitude;
    size_t m, n, k;
    const uint32_t *a, *b;
    unsigned layers;
    const struct dgemm_kernel *kernel;
    const struct progress *progress;
    const struct exact_update *update; /* or NULL */
    size_t tile_rows, tile_cols;

    size_t workers;
    struct worker *worker;       /* [workers]                                           */
    uint32_t *columns;           /* [workers][k]                                        */
    double *row_unit, *col_unit; /* [m] and [n]: a power of two divides each line       */
    double *row_norm, *col_norm; /* [m] and [n]: at least the 2-norm of each line       */
};

/* Rows [row, row + rows), columns [col, col + cols) of C, in the hands of one layer. */
struct exact_tile {
    const struct job *job;
    struct worker *worker;
    size_t row, col, rows, cols;
    size_t left; /* elements that lack something */
    int layer;
};

static bool uses(const struct job *job, int layer) { return job->layers >> layer & 1; }

/* Whether there are plain sums without those of the magnitudes. */
static bool sums_bare(const struct job *job)
{
    return !job->magnitude && job->c32 && uses(job, LAYER_DOUBLE);
}

/* --- rounding x + y, exactly given, once -------------------------------------------- */

/* a + b = sum + error, exactly. */
struct two_sum {
    double sum, error;
};

/* Knuth, TAOCP volume 2, section 4.2.2, theorem B. */
static struct two_sum two_sum(double a, double b)
{
    const double sum = a + b, z = sum - a;
    return (struct two_sum){ sum, (a - (sum - z)) + (b - z) };
}

/* By way of x + y rounded to odd, which has bits enough that rounding it again is
   rounding once: 53 >= 24 + 2 (Boldo and Melquiond 2008). */
static uint64_t round_to_32(double x, double y)
{
    const struct two_sum s = two_sum(x, y);
    uint64_t bits = bits_of_double(s.sum);
    if (s.error != 0 && (bits & 1) == 0)
        bits = (s.error > 0) == (s.sum > 0) ? bits + 1 : bits - 1;
    return bits_of_float((float)double_of_bits(bits));
}

static uint64_t round_to_64(double x, double y) { return bits_of_double(x + y); }

static const struct {
    const struct bitcut_format *format;
    uint64_t (*round)(double x, double y);
} targets[EXACT_TARGETS] = {
    [EXACT_F32] = { &formats[FORMAT_F32], round_to_32 },
    [EXACT_F64] = { &formats[FORMAT_F64], round_to_64 },
};

/* --- settling one element ----------------------------------------------------------- */

static uint8_t *pending(const struct exact_tile *t, size_t i, size_t j)
{
    return &t->worker->pending[i * TILE_COLS + j];
}

static bool lacks(const struct exact_tile *t, size_t i, size_t j, int target)
{
    return *pending(t, i, j) >> target & 1;
}

static inline void output(const struct exact_tile *t, size_t i, size_t j, int target,
                          uint64_t encoding)
{
    const size_t at = (t->row + i) * t->job->n + t->col + j;
    if (target == EXACT_F32) t->job->c32[at] = (uint32_t)encoding;
    else t->job->c64[at] = encoding;
}

static inline void settle(struct exact_tile *t, size_t i, size_t j, int target,
                          uint64_t encoding)
{
    output(t, i, j, target, encoding);
    t->worker->counts.settled[target][t->layer]++;
    *pending(t, i, j) &= (uint8_t)~(1u << target);
    t->left -= *pending(t, i, j) == 0;
}

/* Settle what (i, j) lacks as a NaN, an infinity or a zero. */
static void settle_special(struct exact_tile *t, size_t i, size_t j,
                           enum number_class class, bool negative)
{
    for (int target = 0; target < EXACT_TARGETS; target++) {
        const struct bitcut_format *f = targets[target].format;
        const uint64_t encoding = class == NUMBER_NAN   ? format_nan(f)
                                  : class == NUMBER_INF ? format_infinity(f, negative)
                                                        : format_zero(f, negative);
        if (lacks(t, i, j, target)) settle(t, i, j, target, encoding);
    }
}

/* Whether a sum of zero is -0: only if every term is; the operands are finite. */
static bool is_negative_zero(const struct exact_tile *t, size_t i, size_t j)
{
    const struct job *job = t->job;
    const uint32_t *a = job->a + (t->row + i) * job->k, *b = job->b + t->col + j;
    bool negative = job->k > 0;
    for (size_t p = 0; negative && p < job->k; p++) {
        const uint32_t x = a[p], y = b[p * job->n];
        negative = (x << 1 == 0 || y << 1 == 0) && (x ^ y) >> 31;
    }
    return negative;
}

/* --- the update --------------------------------------------------------------------- */

static uint32_t c_at(const struct exact_tile *t, size_t i, size_t j)
{
    return t->job->update->c[(t->row + i) * t->job->n + t->col + j];
}

static bool adds_c(const struct job *job)
{
    return job->update && job->update->beta << 1 != 0;
}

/* beta c, exactly; 0 if it is not added. */
static double beta_c(const struct exact_tile *t, size_t i, size_t j)
{
    if (!adds_c(t->job)) return 0;
    return (double)float_of_bits(t->job->update->beta) *
           (double)float_of_bits(c_at(t, i, j));
}

/* --- proofs in binary64 ------------------------------------------------------------- */

/* How far the sum of k terms in binary64 may be from the exact one, with room for one
   more rounding of that sum; `size` is the sum, in binary64, of the magnitudes of the
   terms, or no less than their exact sum, and `unit` a power of two that divides them.

   Nothing is rounded while the size is below 2^53 units.  Else, with v = 2^-52, an
   addition errs by at most v times its result, in whichever direction it rounds, so
     |sum - exact sum| <= ((1 + v)^(k-1) - 1) (exact size),
     exact size        <= size / (1 - v)^(k-1)              (Higham 2002, section 4.2).
   For g = k v <= 1/16 the first line is below (k - 1) v (1 + 4 g) size, and |sum| is
   below (1 + 5 g) size; what 8 g leaves pays for the roundings of this expression, as
   k > 1: one term is below 2^48 units.  Rump 2012 needs half of it, but also rounding to
   nearest. */
static double error_bound(size_t k, double size, double unit)
{
    const double g = (double)k * 0x1p-52;
    return size < 0x1p53 * unit ? 0 : g * (1 + 8 * g) * size;
}

/* The sums of (i, j) and what is known of them. */
struct proof {
    double high, low, error; /* the exact sum is within `error` of high + low */
};

/* The proof of alpha S + beta c from that of S.  High times alpha is p + q, and p plus
   beta c is sum.sum + sum.error, all exactly.  The three small parts are added with two
   roundings, and alpha low has one: together less than 2^-50 of their magnitudes.  No
   product of three FP32 values leaves the range of binary64, nor does what its roundings
   lose. */
static struct proof proof_update(const struct exact_tile *t, size_t i, size_t j,
                                 struct proof s)
{
    const double alpha = (double)float_of_bits(t->job->update->alpha);
    const double p = alpha * s.high, q = fma(alpha, s.high, -p), low = alpha * s.low;
    const struct two_sum sum = two_sum(p, beta_c(t, i, j));
    const double small = fabs(sum.error) + fabs(q) + fabs(low);
    const double error = fabs(alpha) * s.error * (1 + 0x1p-50) + 0x1p-50 * small;
    return (struct proof){ sum.sum, sum.error + q + low, error };
}

/* The magnitudes are summed for who asks for them.  Else the norms bound their sum: that
   of |a_i| |b_i| is at most the product of the 2-norms (Cauchy and Schwarz). */
static inline struct proof proof_of(const struct exact_tile *t, size_t i, size_t j,
                                    bool dot2)
{
    const struct job *job = t->job;
    const struct dgemm_sums *sums = &t->worker->dgemm.sums;
    const size_t at = i * TILE_COLS + j;
    const double size = dot2 || job->magnitude
                            ? sums->size[at]
                            : job->row_norm[t->row + i] * job->col_norm[t->col + j];
    const double unit = job->row_unit[t->row + i] * job->col_unit[t->col + j];
    return (struct proof){ .high = sums->high[at],
                           .low = dot2 ? sums->low[at] : 0,
                           .error = error_bound(job->k, size, unit) };
}

/* Settle what (i, j) lacks where both ends of the interval around the sum round alike:
   rounding is monotone.  Ends on two sides of a tie, or of zero, differ. */
static void certify(struct exact_tile *t, size_t i, size_t j, struct proof p)
{
    if (t->job->update) p = proof_update(t, i, j, p);
    const struct two_sum s = two_sum(p.high, p.low);
    if (t->job->update && (!isfinite(p.high) || s.sum == 0)) return; /* bins has rules */
    if (!isfinite(p.high)) {
        settle_special(t, i, j, isnan(p.high) ? NUMBER_NAN : NUMBER_INF, p.high < 0);
        return;
    }
    if (s.sum == 0 && p.error == 0) {
        settle_special(t, i, j, NUMBER_ZERO, is_negative_zero(t, i, j));
        return;
    }
    for (int target = 0; target < EXACT_TARGETS; target++) {
        if (!lacks(t, i, j, target)) continue;
        const uint64_t lower = targets[target].round(s.sum, s.error - p.error);
        const uint64_t upper = targets[target].round(s.sum, s.error + p.error);
        if (lower == upper) settle(t, i, j, target, lower);
    }
}

/* The same, faster, for FP32 and a sum in one part; binary64 only where that is exact. */
static void certify_double(struct exact_tile *t, size_t i, size_t j)
{
    const struct proof p = proof_of(t, i, j, false);
    const uint32_t lower = bits_of_float((float)(p.high - p.error));
    const uint32_t upper = bits_of_float((float)(p.high + p.error));
    if (t->job->update || !isfinite(p.high) ||
        (p.error == 0 && (p.high == 0 || lacks(t, i, j, EXACT_F64))))
        certify(t, i, j, p);
    else if (lower == upper) settle(t, i, j, EXACT_F32, lower);
}

static struct dgemm_operands operands(const struct exact_tile *t)
{
    return (struct dgemm_operands){ .rows = t->rows, .cols = t->cols, .k = t->job->k,
                                    .a = t->job->a + t->row * t->job->k, .lda = t->job->k,
                                    .b = t->job->b + t->col, .ldb = t->job->n };
}

/* tile_sum() left the sums. */
static void layer_double(struct exact_tile *t)
{
    for (size_t i = 0; t->job->c32 && i < t->rows; i++)
        for (size_t j = 0; j < t->cols; j++) certify_double(t, i, j);
}

static void layer_dot2(struct exact_tile *t)
{
    const struct dgemm_operands x = operands(t);
    dgemm_dot2(&t->worker->dgemm, t->job->kernel, &x, t->worker->pending);
    for (size_t i = 0; i < t->rows; i++)
        for (size_t j = 0; j < t->cols; j++)
            if (*pending(t, i, j)) certify(t, i, j, proof_of(t, i, j, true));
}

/* --- exact sums --------------------------------------------------------------------- */

/* A sum with a term that is NaN or infinite, by rule. */
static double infinite_sum(size_t k, const uint32_t *a, const uint32_t *b)
{
    bool nan = false, infinite[2] = { false, false };
    for (size_t p = 0; p < k; p++) {
        const struct number x = format_decode(&formats[FORMAT_F32], a[p]);
        const struct number y = format_decode(&formats[FORMAT_F32], b[p]);
        const bool either = x.kind == NUMBER_INF || y.kind == NUMBER_INF;
        nan |= x.kind == NUMBER_NAN || y.kind == NUMBER_NAN;
        nan |= either && (x.kind == NUMBER_ZERO || y.kind == NUMBER_ZERO);
        infinite[x.negative != y.negative] |= either;
    }
    if (nan || (infinite[0] && infinite[1])) return (double)NAN;
    return infinite[1] ? -(double)INFINITY : (double)INFINITY;
}

/* What can be multiplied exactly: alpha, or 1 with its sign if it is zero or not finite,
   when rules need the sign of the sum. */
static uint32_t factor_of(const struct job *job)
{
    const uint32_t alpha = job->update ? job->update->alpha : F32_ONE;
    const double x = (double)float_of_bits(alpha);
    return x != 0 && isfinite(x) ? alpha : F32_ONE | (alpha & 0x80000000u);
}

/* The sum of row a and column b, in the bins times factor_of(): NaN, an infinity, a zero,
   or 1 with its sign. */
static double class_of_sum(const struct exact_tile *t, size_t i, size_t j,
                           const uint32_t *a, const uint32_t *b)
{
    struct bins *bins = &t->worker->bins;
    const uint32_t factor = factor_of(t->job);
    if (!bins_dot(bins, factor, t->job->k, a, b)) return infinite_sum(t->job->k, a, b);
    const struct unrounded sum = bins_value(bins);
    const bool zero = sum.significand == 0;
    const bool negative = zero ? is_negative_zero(t, i, j) : sum.negative != factor >> 31;
    return copysign(zero ? 0 : 1, negative ? -1 : 1);
}

/* Likewise of what is made of such a sum; 1 stands for any finite number but zeros. */
static double class_of_update(const struct exact_tile *t, size_t i, size_t j, double sum)
{
    if (!t->job->update) return sum;
    const double product = (double)float_of_bits(t->job->update->alpha) * sum;
    return adds_c(t->job) ? product + beta_c(t, i, j) : product;
}

static void settle_bins(struct exact_tile *t, size_t i, size_t j, const uint32_t *a,
                        const uint32_t *b)
{
    const struct job *job = t->job;
    struct bins *bins = &t->worker->bins;
    const double sum = class_of_sum(t, i, j, a, b), class = class_of_update(t, i, j, sum);
    if (!isfinite(class)) {
        settle_special(t, i, j, isnan(class) ? NUMBER_NAN : NUMBER_INF, class < 0);
        return;
    }
    const bool none = job->update && job->update->alpha << 1 == 0;
    if (none) bins_dot(bins, F32_ONE, 0, NULL, NULL);
    if (adds_c(job)) bins_add_product(bins, job->update->beta, c_at(t, i, j));
    const struct unrounded value = bins_value(bins);
    if (value.significand == 0) {
        /* zeros added, but what cancels is +0 */
        settle_special(t, i, j, NUMBER_ZERO, (none || sum == 0) && signbit(class));
        return;
    }
    for (int target = 0; target < EXACT_TARGETS; target++)
        if (lacks(t, i, j, target))
            settle(t, i, j, target,
                   round_pack(targets[target].format, &roundings[ROUND_RN], value));
}

static uint64_t oracle_of(const struct exact_tile *t, size_t i, size_t j,
                          const struct bitcut_format *f, const uint32_t *a,
                          const uint32_t *b)
{
    const struct job *job = t->job;
    struct oracle *o = &t->worker->oracle;
    if (!job->update) return oracle_dot(o, f, job->k, a, b);
    return oracle_update(o, f, job->k, a, b, job->update->alpha, job->update->beta,
                         adds_c(job) ? c_at(t, i, j) : 0);
}

static void settle_mpfr(struct exact_tile *t, size_t i, size_t j, const uint32_t *a,
                        const uint32_t *b)
{
    for (int target = 0; target < EXACT_TARGETS; target++)
        if (lacks(t, i, j, target))
            settle(t, i, j, target, oracle_of(t, i, j, targets[target].format, a, b));
}

static bool column_pending(const struct exact_tile *t, size_t j)
{
    bool any = false;
    for (size_t i = 0; i < t->rows; i++) any |= *pending(t, i, j) != 0;
    return any;
}

/* Settle every element that lacks something, given its row of A and column of B, until
   the work is stopped: a tile of this can take minutes. */
static void settle_each(struct exact_tile *t,
                        void (*settle_one)(struct exact_tile *, size_t i, size_t j,
                                           const uint32_t *a, const uint32_t *b))
{
    const struct job *job = t->job;
    uint32_t *column = t->worker->column;
    for (size_t j = 0; j < t->cols; j++) {
        if (!column_pending(t, j)) continue;
        for (size_t p = 0; p < job->k; p++) column[p] = job->b[p * job->n + t->col + j];
        for (size_t i = 0; i < t->rows; i++) {
            if (progress_stopped(job->progress)) return;
            if (*pending(t, i, j))
                settle_one(t, i, j, job->a + (t->row + i) * job->k, column);
        }
    }
}

static void layer_bins(struct exact_tile *t) { settle_each(t, settle_bins); }

static void layer_mpfr(struct exact_tile *t) { settle_each(t, settle_mpfr); }

const struct exact_layer exact_layers[] = {
    [LAYER_DOUBLE] = { "double", "a sum in binary64 and its error bound", layer_double },
    [LAYER_DOT2] = { "dot2", "a compensated sum and its error bound", layer_dot2 },
    [LAYER_BINS] = { "bins", "an exact integer for each exponent", layer_bins },
    [LAYER_MPFR] = { "mpfr", "mpfr_sum of exact products", layer_mpfr },
    { 0 }
};

/* --- tiles -------------------------------------------------------------------------- */

static void tile_mark(struct exact_tile *t)
{
    const struct job *job = t->job;
    const int all = (job->c32 != NULL) << EXACT_F32 | (job->c64 != NULL) << EXACT_F64;
    memset(t->worker->pending, 0, sizeof t->worker->pending);
    for (size_t i = 0; i < t->rows; i++) memset(pending(t, i, 0), all, t->cols);
    t->left = all ? t->rows * t->cols : 0;
}

static double magnitude_at(const struct exact_tile *t, size_t i, size_t j)
{
    const double size = t->worker->dgemm.sums.size[i * TILE_COLS + j];
    if (!t->job->update) return size;
    const double product = fabs((double)float_of_bits(t->job->update->alpha)) * size;
    return adds_c(t->job) ? product + fabs(beta_c(t, i, j)) : product;
}

/* What layer_double() certifies, and the magnitudes. */
static void tile_sum(struct exact_tile *t)
{
    const struct job *job = t->job;
    const struct dgemm_operands x = operands(t);
    if (!job->magnitude) {
        if (sums_bare(job)) dgemm_sum(&t->worker->dgemm, job->kernel, &x);
        return;
    }
    dgemm_plain_sum(&t->worker->dgemm, job->kernel, &x);
    for (size_t i = 0; i < t->rows; i++)
        for (size_t j = 0; j < t->cols; j++)
            job->magnitude[(t->row + i) * job->n + t->col + j] = magnitude_at(t, i, j);
}

/* What no layer settled becomes NaN. */
static void tile_give_up(struct exact_tile *t)
{
    for (size_t i = 0; i < t->rows; i++)
        for (size_t j = 0; j < t->cols; j++)
            for (int target = 0; target < EXACT_TARGETS; target++) {
                if (!lacks(t, i, j, target)) continue;
                output(t, i, j, target, format_nan(targets[target].format));
                t->worker->counts.unsettled[target]++;
            }
}

static void tile_run(const struct job *job, struct worker *w, size_t row, size_t col)
{
    struct exact_tile t = { .job = job, .worker = w, .row = row, .col = col,
                            .rows = smaller(job->tile_rows, job->m - row),
                            .cols = smaller(job->tile_cols, job->n - col) };
    tile_mark(&t);
    tile_sum(&t);
    for (t.layer = 0; t.layer < LAYERS; t.layer++)
        if (t.left && uses(job, t.layer)) exact_layers[t.layer].settle(&t);
    if (t.left) tile_give_up(&t);
}

static size_t tiles_count(const struct job *job)
{
    return divide_up(job->m, job->tile_rows) * divide_up(job->n, job->tile_cols);
}

/* Tiles as large as leaves each of several threads a few; no more threads than tiles. */
static void tiles_choose(struct job *job, size_t threads)
{
    job->tile_rows = TILE_ROWS;
    job->tile_cols = TILE_COLS;
    const size_t enough = threads > 1 ? 4 * threads : 1;
    while (tiles_count(job) < enough && job->tile_rows > TILE_ROWS / 8) {
        if (job->tile_cols > job->tile_rows) job->tile_cols /= 2;
        else job->tile_rows /= 2;
    }
    job->workers = smaller(threads, tiles_count(job));
    if (job->workers == 0) job->workers = 1;
}

/* --- lines -------------------------------------------------------------------------- */

enum { NORM_ROWS = 8 }; /* at a time: sums that do not wait for each other */

/* `count` rows of A from the first, and columns of B. */
static struct lines rows_of(const struct job *job, size_t first, size_t count)
{
    return (struct lines){ job->a + first * job->k, count, job->k, job->k, 1 };
}

static struct lines cols_of(const struct job *job, size_t first, size_t count)
{
    return (struct lines){ job->b + first, count, 1, job->k, job->n };
}

/* What is known of at most LINES_MOST rows and columns from the first. */
static void rows_fill(const struct job *job, size_t first)
{
    const size_t end = smaller(first + LINES_MOST, job->m);
    for (size_t i = first; i < end; i += NORM_ROWS) {
        const struct lines rows = rows_of(job, i, smaller(NORM_ROWS, end - i));
        lines_units(job->row_unit + i, &rows);
        if (sums_bare(job)) lines_norms(job->row_norm + i, &rows);
    }
}

static void cols_fill(const struct job *job, size_t first)
{
    const struct lines cols = cols_of(job, first, smaller(LINES_MOST, job->n - first));
    lines_units(job->col_unit + first, &cols);
    if (sums_bare(job)) lines_norms(job->col_norm + first, &cols);
}

/* fill() for every LINES_MOST of `count` lines, under a known mode. */
static void lines_fill(const struct job *job, size_t count,
                       void (*fill)(const struct job *job, size_t first))
{
    const bool worth = job->k * (job->m + job->n) > 1 << 16;
    const int threads = worth ? (int)job->workers : 1;
    (void)threads;
#pragma omp parallel for schedule(static) num_threads(threads)
    for (size_t i = 0; i < count; i += LINES_MOST) {
        struct hostfp found;
        hostfp_enter(&found);
        fill(job, i);
        hostfp_leave(&found);
    }
}

/* --- threads ------------------------------------------------------------------------ */

/* Every tile whose number leaves the remainder `first`. */
static void worker_run(const struct job *job, size_t first)
{
    struct hostfp found;
    hostfp_enter(&found);
    const size_t tiles = tiles_count(job), across = divide_up(job->n, job->tile_cols);
    for (size_t i = first; i < tiles; i += job->workers) {
        if (progress_stopped(job->progress)) break;
        tile_run(job, &job->worker[first], i / across * job->tile_rows,
                 i % across * job->tile_cols);
        if (first == 0)
            progress_report(job->progress, smaller(i + job->workers, tiles), tiles);
    }
    hostfp_leave(&found);
}

/* Of lines that meet no others nothing need be known. */
static void job_run(const struct job *job)
{
    if (!job->m || !job->n) return;
    lines_fill(job, job->m, rows_fill);
    lines_fill(job, job->n, cols_fill);
#pragma omp parallel for schedule(static, 1) num_threads((int)job->workers)
    for (size_t i = 0; i < job->workers; i++) worker_run(job, i);
}

static void memory_free(struct job *job)
{
    free(job->worker);
    free(job->columns);
    free(job->row_unit);
}

/* False if there is not enough memory. */
static bool job_init(struct job *job)
{
    job->worker = aligned_alloc(DGEMM_ALIGNMENT, job->workers * sizeof *job->worker);
    job->columns = memory_allocate(job->k, job->workers * sizeof *job->columns);
    job->row_unit = memory_allocate(job->m + job->n, 2 * sizeof *job->row_unit);
    if (!job->worker || !job->columns || !job->row_unit) {
        memory_free(job);
        return false;
    }
    job->col_unit = job->row_unit + job->m;
    job->row_norm = job->col_unit + job->n;
    job->col_norm = job->row_norm + job->m;
    for (size_t i = 0; i < job->workers; i++) {
        job->worker[i].column = job->columns + i * job->k;
        job->worker[i].counts = (struct exact_counts){ 0 };
        if (uses(job, LAYER_MPFR)) oracle_init(&job->worker[i].oracle);
    }
    return true;
}

static void job_clear(struct job *job)
{
    for (size_t i = 0; uses(job, LAYER_MPFR) && i < job->workers; i++)
        oracle_clear(&job->worker[i].oracle);
    memory_free(job);
}

static struct exact_counts job_counts(const struct job *job)
{
    struct exact_counts sum = { 0 };
    for (size_t i = 0; i < job->workers; i++)
        for (int target = 0; target < EXACT_TARGETS; target++) {
            const struct exact_counts *x = &job->worker[i].counts;
            sum.unsettled[target] += x->unsettled[target];
            for (int layer = 0; layer < LAYERS; layer++)
                sum.settled[target][layer] += x->settled[target][layer];
        }
    return sum;
}

/* --- the whole ---------------------------------------------------------------------- */

enum { ALL_BUT_MPFR = 1 << LAYER_DOUBLE | 1 << LAYER_DOT2 | 1 << LAYER_BINS };

static const struct exact_options defaults;

/* NULL if the update is A B itself. */
static const struct exact_update *update_of(const struct exact_options *o)
{
    const struct exact_update *u = o->update;
    return u && u->alpha == F32_ONE && u->beta << 1 == 0 ? NULL : u;
}

enum bitcut_status exact_gemm(uint32_t *c32, uint64_t *c64, double *magnitude,
                              struct exact_counts *counts,
                              const struct exact_options *options, size_t m, size_t n,
                              size_t k, const uint32_t *a, const uint32_t *b,
                              struct fault *f)
{
    const struct exact_options *o = options ? options : &defaults;
    struct job job = { .c32 = c32, .c64 = c64, .magnitude = magnitude,
                       .m = m, .n = n, .k = k, .a = a, .b = b,
                       .layers = o->layers ? o->layers : ALL_BUT_MPFR,
                       .kernel = o->kernel ? o->kernel : dgemm_best(),
                       .progress = o->progress,
                       .update = update_of(o) };
    if (m == 0 || n == 0) { /* of the other there may be any number */
        if (counts) *counts = (struct exact_counts){ .unsettled = { 0 } };
        return BITCUT_OK;
    }
    const bool serial = uses(&job, LAYER_MPFR) && !mpfr_buildopt_tls_p();
    tiles_choose(&job, serial ? 1 : (size_t)threads_for(o->threads, SIZE_MAX));
    if (!job_init(&job))
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for %zu threads",
                         job.workers);
    job_run(&job);
    if (counts) *counts = job_counts(&job);
    job_clear(&job);
    return progress_stopped(o->progress) ? fault_set(f, BITCUT_CANNOT, "stopped")
                                         : BITCUT_OK;
}

enum bitcut_status bitcut_exact_gemm(uint32_t *c32, uint64_t *c64, size_t m, size_t n,
                                     size_t k, const uint32_t *a, const uint32_t *b,
                                     int threads)
{
    const struct exact_options options = { .threads = threads };
    const size_t k_most = (size_t)1 << 46;
    if (m && n &&
        (k > k_most || !memory_holds(a, m, k, k, sizeof *a) ||
         !memory_holds(b, k, n, n, sizeof *b) ||
         (c32 && !memory_holds(c32, m, n, n, sizeof *c32)) ||
         (c64 && !memory_holds(c64, m, n, n, sizeof *c64))))
        return BITCUT_BAD_ARGUMENT;
    return exact_gemm(c32, c64, NULL, NULL, &options, m, n, k, a, b, NULL);
}
