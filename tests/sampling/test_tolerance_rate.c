/* SPDX-License-Identifier: BSD-3-Clause */
/* How often correct results exceed the limits of bitcut tolerance: on families of data
   for which the probability is difficult to meet, and in orders of k from which limits
   are not found.  In check-long 10^4 new results of each family by each recipe on a unit,
   and a table as TAP comments with the largest rate of all recipes for each family.
   Results that are not finite are left out. */
#include "analysis/sampling/arrangement.h"
#include "analysis/sampling/criterion.h"
#include "analysis/sampling/order_set.h"
#include "lib/input/source.h"
#include "lib/number/bits.h"
#include "lib/number/hostfp.h"
#include "lib/number/rand.h"
#include "tests/sampling/named_gemm.h"
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIZE = 16 };

/* --- data ------------------------------------------------------------------------- */

/* A number, of the random number x that the input has at place p of k of a row of A or a
   column of B. */
struct place {
    double x, p, k;
    struct rng *r;
    bool of_a;
};

static double as_it_is(const struct place *at) { return at->x; }

static double decaying(const struct place *at)
{
    return at->x * exp2(-12 * at->p / at->k);
}

static double rectified(const struct place *at)
{
    return at->of_a && at->x < 0 ? 0 : at->x;
}

static double sparse(const struct place *at)
{
    return rand_open(rng_bits(at->r)) < 0.1 ? at->x : 0;
}

static double lognormal(const struct place *at)
{
    return copysign(exp(2 * at->x), rand_open(rng_bits(at->r)) - 0.5);
}

static double cauchy(const struct place *at)
{
    return tan(1.57 * at->x) / 16;
}

static double exponential(const struct place *at)
{
    return at->of_a ? exp(3 * at->x - 8) : at->x;
}

/* What is done to rows of A and columns of B. */
enum line { PLAIN, SORTED, SCALED, DOMINATED };

static const struct family {
    const char *name, *input;
    double (*number)(const struct place *at);
    enum line line;
} families[] = {
    { "positive", "positive", as_it_is, PLAIN },
    { "decaying 2^(-12 p/k)", "positive", decaying, PLAIN },
    { "sorted", "positive", as_it_is, SORTED },
    { "softmax", "nrand", exponential, PLAIN },
    { "sparse, 10 %", "urand(-1,1)", sparse, PLAIN },
    { "lognormal", "nrand", lognormal, PLAIN },
    { "Cauchy", "urand(-1,1)", cauchy, PLAIN },
    { "relu", "nrand", rectified, PLAIN },
    { "rows of 2^-20 to 2^15", "urand(-1,1)", as_it_is, SCALED },
    { "exp_rand(-24,0)", "exp_rand(-24,0)", as_it_is, PLAIN },
    { "exp_rand(-40,-15)", "exp_rand(-40,-15)", as_it_is, PLAIN },
    { "one dominating term", "positive", as_it_is, DOMINATED },
};

enum { FAMILIES = sizeof families / sizeof *families };

static int descending(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;
    return (a < b) - (a > b);
}

/* One row or column, in `line`. */
static void change_line(double *line, size_t k, enum line how, struct rng *r)
{
    const double scale = exp2(35 * rand_open(rng_bits(r)) - 20);
    if (how == SORTED) qsort(line, k, sizeof *line, descending);
    for (size_t p = 0; p < k && how == SCALED; p++) line[p] *= scale;
    for (size_t p = 0; p < k && how == DOMINATED; p++) line[p] *= 0x1p-10;
    if (how == DOMINATED) line[rand_below(rng_bits(r), k)] = 1;
}

static void change(struct matrix *to, const struct family *y, size_t lines, size_t k,
                   size_t across, size_t along, bool of_a, uint64_t seed)
{
    double *const line = malloc(k * sizeof *line);
    struct rng r = rng_start(seed, of_a ? 100 : 101);
    for (size_t i = 0; i < lines; i++) {
        for (size_t p = 0; p < k; p++)
            line[p] = y->number(
                &(struct place){ value_of_float(to->at[i * across + p * along]),
                                 (double)p, (double)k, &r, of_a });
        change_line(line, k, y->line, &r);
        for (size_t p = 0; p < k; p++)
            to->at[i * across + p * along] = bits_of_float((float)line[p]);
    }
    free(line);
}

struct draws {
    const struct family *family;
    size_t k;
    uint64_t seed;
};

static enum bitcut_status draw(struct gemm_data *to, const void *context, size_t rows,
                               size_t cols, uint64_t run, struct fault *f)
{
    const struct draws *const x = context;
    const uint64_t seed = x->seed + run;
    struct input in;
    *to = (struct gemm_data){ 0 };
    ck_assert_int_eq(input_parse(&in, x->family->input, f), BITCUT_OK);
    ck_assert_int_eq(source_generate(&to->a, &in, INPUT_A, rows, x->k, seed, 1, f),
                     BITCUT_OK);
    ck_assert_int_eq(source_generate(&to->b, &in, INPUT_B, x->k, cols, seed, 1, f),
                     BITCUT_OK);
    change(&to->a, x->family, rows, x->k, x->k, 1, true, seed);
    change(&to->b, x->family, cols, x->k, 1, cols, false, seed);
    return BITCUT_OK;
}

/* --- GEMMs ------------------------------------------------------------------------ */

static const struct {
    const char *recipe, *unit;
    bool any;
} setups[] = {
    { "plain", "h100", false },
    { "ootomo", "h100", false },
    { "legemm", "a100", false },
    { "ootomo", "mi210", false },
    { "bf16x9", "h100", false },
    { "fp32", "fma/f32", true },
    { "plain", "hopper/mma.m16n8k16.f16.f16", true },
    { "legemm", "a100", true },
};

enum { SETUPS = sizeof setups / sizeof *setups };

static const double alarms[] = { 1e-2, 1e-3, 1e-6 };

enum { ALARMS = 3 };

/* Results, and those above limits at each alarm: componentwise, normwise. */
struct counts {
    size_t results, above[ALARMS][2], by_size;
};

/* The order of k of arrange(), or a random one. */
static void order_of(size_t *at, const struct gemm_data *p, uint64_t turn)
{
    const enum arrangement which = turn % (ARRANGEMENTS + 1);
    const size_t k = p->a.cols;
    struct rng r = rng_start(turn, 102);
    arrange(at, p, which < ARRANGEMENTS ? which : AS_IS, NULL);
    for (size_t i = 0; i < k && which == ARRANGEMENTS; i++) {
        const size_t other = i + (size_t)rand_below(rng_bits(&r), k - i), kept = at[i];
        at[i] = at[other];
        at[other] = kept;
    }
}

/* One result; `turn` chooses its order, of any. */
static bool compute(struct sample_run *r, const struct bitcut_gemm *g, bool any,
                    uint64_t turn)
{
    struct bitcut_order order[ORDERS_MAX];
    struct bitcut_gemm own = *g;
    const size_t orders = order_set(order, g, r->data.a.cols);
    if (any) {
        struct gemm_data other;
        size_t *const at = malloc(r->data.a.cols * sizeof *at);
        own.order = order[turn % orders];
        order_of(at, &r->data, turn / orders);
        ck_assert_int_eq(gemm_data_order(&other, &r->data, at, NULL), BITCUT_OK);
        gemm_data_clear(&r->data);
        r->data = other;
        r->x.a = other.a.at, r->x.b = other.b.at;
        free(at);
    }
    ck_assert_int_eq(sample_run_compute(r, &own, NULL), BITCUT_OK);
    return metrics[METRIC_WRONG].value(&r->x, 1) == 0;
}

static void count(struct counts *to, struct sample_run *r, const struct tolerance *t)
{
    bool accepted[CRITERIA];
    to->results++;
    for (int p = test_long() ? 0 : ALARMS - 1; p < ALARMS; p++) {
        criteria_run(accepted, r, &t[p].limits);
        to->above[p][0] += !accepted[CRITERION_OBSERVED];
        to->above[p][1] += !accepted[CRITERION_NORM];
    }
}

/* New draws of a family by limits of other draws. */
static void drawn_anew(struct counts *to, const struct family *y, int s, size_t k,
                       uint64_t seed, size_t results)
{
    const struct bitcut_gemm g = gemm_named(setups[s].recipe, setups[s].unit);
    const struct draws x = { y, k, seed };
    struct tolerance t[ALARMS];
    struct tolerance_problem q = { .gemm = &g,
                                   .source = { .make = draw, .context = &x },
                                   .m = SIZE,
                                   .n = SIZE,
                                   .k = k,
                                   .any_order = setups[s].any,
                                   .runs = 100 };
    for (int p = test_long() ? 0 : ALARMS - 1; p < ALARMS; p++) {
        q.alarm = alarms[p];
        ck_assert_int_eq(tolerance_find(&t[p], &q, 0, NULL, NULL), BITCUT_OK);
    }
    to->by_size += t[2].limits.known;
    for (size_t i = 0; i < results; i++) {
        struct sample_run r;
        struct hostfp mode;
        ck_assert_int_eq(sample_run_prepare(&r, &q.source, &g, &t[ALARMS - 1].bound, SIZE, SIZE,
                                            q.runs + i, NULL),
                         BITCUT_OK);
        hostfp_enter(&mode);
        if (compute(&r, &g, q.any_order, i)) count(to, &r, t);
        hostfp_leave(&mode);
        sample_run_clear(&r);
    }
}

/* --- tests ------------------------------------------------------------------------ */

/* More than so many of `results` are above if it is no more than p in truth: p and five
   standard deviations of a count. */
static bool too_many(size_t above, size_t results, double p)
{
    const double mean = p * (double)results;
    return (double)above > mean + 5 * sqrt(mean) + 1;
}

START_TEST(of_families)
{
    const size_t each = (size_t)test_cases(8, 313), seeds = (size_t)test_cases(1, 2);
    size_t results = 0, above = 0, wrong = 0;
    for (int y = 0; y < FAMILIES; y++)
        for (int s = 0; s < SETUPS; s++) {
            struct counts c = { 0 };
            if (!test_long() && (y + s) % (4 * test_step(4))) continue;
            for (size_t i = 0; i < 2 * seeds; i++)
                drawn_anew(&c, &families[y], s, i % 2 ? 80 : 16,
                           test_seed() * 1000003 + i * 20000, each);
            printf("# %s, %s %s%s, %zu: %zu %zu %zu; norm %zu %zu %zu; by size %zu\n",
                   families[y].name, setups[s].recipe, setups[s].unit,
                   setups[s].any ? " any" : "", c.results, c.above[0][0], c.above[1][0],
                   c.above[2][0], c.above[0][1], c.above[1][1], c.above[2][1], c.by_size);
            fflush(stdout);
            for (int p = 0; p < ALARMS - 1; p++)
                for (int i = 0; i < 2; i++)
                    wrong += too_many(c.above[p][i], c.results, alarms[p]);
            results += c.results;
            above += c.above[ALARMS - 1][0] + c.above[ALARMS - 1][1];
        }
    ck_assert_msg(!wrong, "%zu rates are larger than stated", wrong);
    ck_assert_msg(!too_many(above, results, 2e-6), "%zu of %zu above limits at 1e-6", above,
                  results);
}
END_TEST

TEST_MAIN("tolerance_rate", of_families)
