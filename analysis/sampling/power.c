/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/sampling/power.h"

#include "analysis/accuracy/short_result.h"
#include "analysis/sampling/order_set.h"
#include "analysis/sampling/power_fault.h"
#include "analysis/sampling/sampling.h"
#include "lib/base/size.h"
#include "lib/base/stats.h"
#include "lib/number/bits.h"
#include "lib/number/hostfp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define POWER(member, key, unit, what)                                                   \
    RECORD_INNER(struct power_row, member, key, unit, what)
#define REJECTED(at, key) POWER(rejected[at], key, "", "runs that the test rejects")

const struct record_field power_fields[] = {
    POWER(name, "kernel", "", "a correct kernel, or a fault"),
    POWER(correct, "correct", "", "whether it is correct"),
    POWER(runs, "runs", "", "runs in which the fault is possible and changes D"),
    POWER(error, "error", "u |A||B|", "median over the runs of the largest error"),
    REJECTED(CRITERION_BOUND, "bound"),
    REJECTED(CRITERION_OBSERVED, "limit"),
    REJECTED(CRITERION_NORM, "norm"),
    REJECTED(CRITERION_BOTH, "both"),
    REJECTED(CRITERION_ALLCLOSE, "allclose"),
    REJECTED(CRITERION_TORCH, "torch"),
    REJECTED(CRITERION_NUMPY, "numpy"),
    POWER(what, "what", "", "the fault in words"),
    { 0 }
};

enum {
    PRODUCTS = 1 << 16, /* of a run                                               */
    CORRECT = 2,        /* rows of correct kernels: unchanged, and in another order */
    DRAWS = 4           /* tries to find a variant that changes D */
};

/* The result of one row in one run. */
struct power_trial {
    bool ran, accepted[CRITERIA];
    double error;
};

/* What all runs share. */
struct power_study {
    const struct tolerance_problem *q;
    const struct tolerance *t;
    struct power_trial *trial; /* row i in run n is at i * runs + n */
    struct bitcut_order order[ORDERS_MAX];
    size_t orders, rows, cols, runs;
    size_t faults;
    uint64_t seed;
};

/* One run, with its matrices in the form of explain's candidates, and the result of the
   unchanged GEMM. */
struct power_run {
    struct sample_run r;
    struct problem problem;
    struct block block;
    struct space space;
    struct k_range range[RANGES_MAX];
    struct bitcut_gemm extra; /* with the bias and the factors of the run */
    uint32_t *d;
};

/* --- one row ---------------------------------------------------------------------- */

/* Apply the tests to the present result. */
static void judge_trial(struct power_trial *to, const struct power_study *s,
                        const struct power_run *run)
{
    struct hostfp mode;
    hostfp_enter(&mode);
    criteria_run(to->accepted, &run->r, &s->t->limits);
    for (size_t i = 0; i < run->r.x.m * run->r.x.n; i++)
        to->error = larger_double(to->error, unrounded_at(&run->r.x, i));
    hostfp_leave(&mode);
    to->ran = true;
}

/* D of the run's GEMM with other data, or another epilogue. */
static enum bitcut_status compute_misled(const struct power_study *s,
                                         const struct power_fault *fault,
                                         struct power_run *run, struct rng *r,
                                         struct fault *f)
{
    struct gemm_data data;
    struct bitcut_gemm g = *s->q->gemm;
    enum bitcut_status status = gemm_data_copy(&data, &run->r.data, f);
    if (status != BITCUT_OK) return status;
    struct hostfp mode;
    hostfp_enter(&mode);
    const bool changes = fault->mislead(&data, &g, r);
    hostfp_leave(&mode);
    status = changes ? gemm_data_run(run->r.d, &data, &g, f)
                     : fault_set(f, BITCUT_BAD_ARGUMENT, "the fault changes nothing");
    gemm_data_clear(&data);
    return status;
}

static enum bitcut_status compute_faulty(const struct power_study *s,
                                         const struct power_fault *fault,
                                         const struct candidate *x, struct power_run *run,
                                         struct rng *r, struct fault *f)
{
    const struct gemm_options options = { .threads = 1 };
    const size_t count = run->block.rows * run->block.cols;
    enum bitcut_status status = BITCUT_OK;
    if (fault->mislead) return compute_misled(s, fault, run, r, f);
    if (fault->spoil) memcpy(run->r.d, run->d, count * sizeof *run->d);
    else status = candidate_run(run->r.d, x, &run->space, &run->block, &options, f);
    if (fault->spoil) fault->spoil(run->r.d, run->block.rows, run->block.cols, r);
    result_round(run->r.d, count, s->q->gemm->d.format);
    return status;
}

/* The stream of a run for a fault, or for something else that is drawn.  It depends on
   the name alone (FNV-1a), so that a new fault changes no draw of others. */
static uint64_t stream_of(const char *name, uint64_t number)
{
    uint32_t hash = 2166136261u;
    for (; *name; name++) hash = (hash ^ (unsigned char)*name) * 16777619u;
    return (uint64_t)hash << 32 | number;
}

/* A variant of the fault that changes D, if one is drawn. */
static enum bitcut_status try_fault(struct power_trial *to, const struct power_study *s,
                                    struct power_run *run, size_t index, uint64_t number,
                                    struct fault *f)
{
    const size_t bytes = run->block.rows * run->block.cols * sizeof *run->d;
    struct power_fault fault;
    struct candidate x;
    power_fault_nth(&fault, index);
    struct rng r = rng_start(s->seed, stream_of(fault.name, number));
    if (fault.mislead && !gemm_is_extended(s->q->gemm)) return BITCUT_OK;
    for (int draw = 0; draw < DRAWS; draw++) {
        if (!power_fault_make(&x, &fault, s->q->gemm, &run->space, &run->block, &r))
            return BITCUT_OK;
        const enum bitcut_status status = compute_faulty(s, &fault, &x, run, &r, f);
        if (status == BITCUT_BAD_ARGUMENT) return BITCUT_OK; /* the GEMM is invalid */
        if (status != BITCUT_OK) return status;
        if (!memcmp(run->r.d, run->d, bytes)) continue;
        judge_trial(to, s, run);
        return BITCUT_OK;
    }
    return BITCUT_OK;
}

/* Unchanged, and in another order. */
static enum bitcut_status try_correct(struct power_trial *to, const struct power_study *s,
                                      struct power_run *run, uint64_t number,
                                      struct fault *f)
{
    struct bitcut_gemm g = *s->q->gemm;
    judge_trial(&to[0], s, run);
    if (s->orders < 2) return BITCUT_OK;
    g.order = s->order[1 + number % (s->orders - 1)];
    const enum bitcut_status status = sample_run_compute(&run->r, &g, f);
    if (status == BITCUT_OK) judge_trial(&to[s->runs], s, run);
    return status;
}

/* --- one run ---------------------------------------------------------------------- */

/* Some k that may be missing or added twice: one, a whole step, half of all, the
   remainder after the last whole step.  Of a sparse A they are whole fours, two kept
   elements each. */
static void draw_ranges(struct power_run *run, const struct power_study *s,
                        uint64_t number)
{
    const size_t each = run->problem.a.kept ? 4 : 1, k = run->block.k / each,
                 unit = (size_t)s->q->gemm->unit->k,
                 step = smaller(each > 1 && unit > 1 ? unit / 2 : unit, k);
    struct rng r = rng_start(s->seed, stream_of("ranges of k", number));
    const size_t one = (size_t)rand_below(rng_bits(&r), k),
                 from = (size_t)rand_below(rng_bits(&r), k / step) * step;
    run->range[0] = (struct k_range){ one, one + 1 };
    run->range[1] = (struct k_range){ from, from + step };
    run->range[2] = (struct k_range){ 0, divide_up(k, 2) };
    run->range[3] = (struct k_range){ (k - 1) / step * step, k };
    for (int i = 0; i < RANGES_MAX; i++)
        run->range[i].first *= each, run->range[i].end *= each;
}

/* The whole problem as a block of a problem. */
static enum bitcut_status make_block(struct power_run *run, const struct power_study *s,
                                     uint64_t number, struct fault *f)
{
    const struct gemm_data *const p = &run->r.data;
    const size_t rows = p->a.rows, cols = p->b.cols, lines = rows > cols ? rows : cols;
    size_t *const line = memory_allocate(lines, sizeof *line);
    if (!line) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for a run");
    for (size_t i = 0; i < lines; i++) line[i] = i;
    run->problem = (struct problem){ .a = p->a,
                                     .b = p->b,
                                     .c = p->c,
                                     .d = { .rows = rows, .cols = cols, .at = run->d },
                                     .format = matrix_format(&s->q->gemm->d),
                                     .alpha = s->q->gemm->alpha,
                                     .beta = s->q->gemm->beta };
    run->block = (struct block){ .rows = rows,
                                 .cols = cols,
                                 .k = p->a.cols,
                                 .row = line,
                                 .col = line,
                                 .a = p->a.at,
                                 .b = p->b.at,
                                 .c = p->c.at,
                                 .d = run->d,
                                 .q = &run->problem };
    if (gemm_is_extended(s->q->gemm)) {
        run->extra = *s->q->gemm;
        gemm_data_set(&run->extra, p, run->d);
        run->block.extra = &run->extra;
    }
    draw_ranges(run, s, number);
    run->space = (struct space){ .range = run->range,
                                 .ranges = RANGES_MAX,
                                 .k = p->a.cols,
                                 .products = p->a.kept ? p->a.cols / 2 : p->a.cols,
                                 .start = run->d[0],
                                 .format = matrix_format(&s->q->gemm->d),
                                 .recipe = s->q->gemm->recipe,
                                 .alpha = s->q->gemm->alpha,
                                 .beta = s->q->gemm->beta,
                                 .reads_c = p->c.at != NULL };
    return BITCUT_OK;
}

static void run_clear(struct power_run *run)
{
    sample_run_clear(&run->r);
    free(run->block.row);
    free(run->d);
}

/* For two results, the other one is in the last of all orders. */
static enum bitcut_status find_other(struct power_run *run, const struct power_study *s,
                                     struct fault *f)
{
    struct bitcut_gemm g = *s->q->gemm;
    if (!s->q->two) return BITCUT_OK;
    g.order = s->order[s->orders - 1];
    enum bitcut_status status = sample_run_compute(&run->r, &g, f);
    if (status == BITCUT_OK) status = sample_run_against_d(&run->r, f);
    if (status == BITCUT_OK) status = sample_run_compute(&run->r, s->q->gemm, f);
    return status;
}

static enum bitcut_status run_make(struct power_run *run, const struct power_study *s,
                                   uint64_t number, struct fault *f)
{
    const struct tolerance_problem *const q = s->q;
    const size_t count = s->rows * s->cols;
    *run = (struct power_run){ .d = memory_allocate(count, sizeof *run->d) };
    if (!run->d)
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the results");
    enum bitcut_status status =
        sample_run_make(&run->r, &q->source, q->gemm, &s->t->bound, s->rows, s->cols,
                        q->runs + number, f);
    if (status != BITCUT_OK) {
        free(run->d);
        return status;
    }
    memcpy(run->d, run->r.d, count * sizeof *run->d);
    status = find_other(run, s, f);
    if (status == BITCUT_OK) status = make_block(run, s, number, f);
    if (status != BITCUT_OK) run_clear(run);
    return status;
}

/* All rows. */
static enum bitcut_status run_one(void *context, size_t number, struct fault *f)
{
    const struct power_study *const s = context;
    struct power_trial *const trial = &s->trial[number];
    struct power_run run;
    enum bitcut_status status = run_make(&run, s, number, f);
    if (status != BITCUT_OK) return status;
    status = try_correct(trial, s, &run, number, f);
    for (size_t i = 0; i < s->faults && status == BITCUT_OK; i++)
        status = try_fault(&trial[(CORRECT + i) * s->runs], s, &run, i, number, f);
    run_clear(&run);
    return status;
}

/* --- the whole -------------------------------------------------------------------- */

static void count_row(struct power_row *to, const struct power_trial *trial, size_t runs,
                      double *room)
{
    for (size_t i = 0; i < runs; i++) {
        if (!trial[i].ran) continue;
        room[to->runs++] = trial[i].error;
        for (int c = 0; c < CRITERIA; c++) to->rejected[c] += !trial[i].accepted[c];
    }
    to->error = doubles_median(room, doubles_finite(room, to->runs));
}

static void name_row(struct power_row *to, size_t i)
{
    static const struct power_row correct[CORRECT] = {
        { .name = "as it is", .what = "the GEMM without a fault", .correct = true },
        { .name = "another order",
          .what = "the same GEMM in other orders of k",
          .correct = true },
    };
    struct power_fault fault;
    if (i < CORRECT) *to = correct[i];
    else if (power_fault_nth(&fault, i - CORRECT))
        *to = (struct power_row){ .name = fault.name, .what = fault.what };
}

enum bitcut_status power_measure(struct power *to, const struct tolerance_problem *q,
                                 const struct tolerance *t, size_t runs, uint64_t seed,
                                 int threads, const struct progress *progress,
                                 struct fault *f)
{
    struct power_study s = { .q = q, .t = t, .runs = runs, .seed = seed };
    struct power_fault fault;
    for (; power_fault_nth(&fault, s.faults); s.faults++) continue;
    s.orders = order_set(s.order, q->gemm, q->k);
    gemm_data_block(&s.rows, &s.cols, q->m, q->n, q->k, PRODUCTS);
    const size_t rows = CORRECT + s.faults;
    struct power_row *const row = calloc(rows, sizeof *row);
    s.trial = calloc(rows * runs, sizeof *s.trial);
    double *const room = memory_allocate(runs, sizeof *room);
    enum bitcut_status status =
        row && s.trial && room && s.orders
            ? runs_do(runs, run_one, &s, threads, progress, f)
            : fault_set(f, BITCUT_NO_MEMORY, "not enough memory for faults");
    for (size_t i = 0; i < rows && status == BITCUT_OK; i++) {
        name_row(&row[i], i);
        count_row(&row[i], &s.trial[i * runs], runs, room);
    }
    if (status == BITCUT_OK) *to = (struct power){ row, rows };
    else free(row);
    free(s.trial);
    free(room);
    return status;
}

void power_clear(struct power *p)
{
    free(p->row);
    *p = (struct power){ 0 };
}
