/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/sampling/typical_range.h"

#include "analysis/sampling/sampling.h"
#include "lib/base/size.h"
#include "lib/base/text.h"
#include "lib/base/threads.h"
#include "lib/number/hostfp.h"

#include <math.h>

enum {
    PRODUCTS = 1 << 22, /* of A and B in all runs together, */
    SHARE = 8,          /* or this share of the GEMM's products, if that is larger */
    K_MAX = 1 << 17,
    RUNS_MIN = 2,
    RUNS_MAX = 16,
    GROUPS_MAX = 48
};

/* Runs with equal numbers of outputs, in groups of equal size, one after the other; the
   last group of a run may be larger. */
struct sampling_plan {
    size_t runs, rows, cols, groups; /* groups: of a run */
};

static struct sampling_plan sampling_plan_of(size_t m, size_t n, size_t k)
{
    struct sampling_plan c = { 0 };
    if (!m || !n || k > K_MAX) return c;
    const double all = (double)m * (double)n * (double)k,
                 products = larger_double(PRODUCTS, all / SHARE);
    gemm_data_block(&c.rows, &c.cols, m, n, k, products / RUNS_MAX);
    const size_t outputs = c.rows * c.cols,
                 most = (size_t)(products / ((double)outputs * (double)k + 1));
    c.runs = most < RUNS_MIN ? RUNS_MIN : smaller(most, RUNS_MAX);
    c.groups = smaller(outputs, divide_up(GROUPS_MAX, c.runs));
    return c;
}

/* What all runs share. */
struct shared {
    double *square;
    const struct bitcut_gemm *g;
    struct run_source source;
    struct sampling_plan course;
};

static enum bitcut_status run_one(void *context, size_t number, struct fault *f)
{
    const struct shared *const s = context;
    const struct sampling_plan *const c = &s->course;
    struct sample_run run;
    struct hostfp mode;
    const enum bitcut_status status =
        sample_run_make(&run, &s->source, s->g, NULL, c->rows, c->cols, number, f);
    if (status != BITCUT_OK) return status;
    hostfp_enter(&mode); /* in a thread of its own */
    group_maxima(s->square + number * c->groups, c->groups, &run.x, false);
    hostfp_leave(&mode);
    sample_run_clear(&run);
    return status;
}

/* The range of the largest of m n outputs, from the squares of groups. */
static void find_range(struct typical_range *to, double *square,
                       const struct sampling_plan *c, double outputs)
{
    struct tail t;
    const double groups =
        outputs * (double)c->groups / ((double)c->rows * (double)c->cols);
    tail_fit(&t, square, c->runs * c->groups);
    to->low = sqrt(tail_guess(&t, share_above(groups, 0.01)));
    to->high = sqrt(tail_limit(&t, share_above(groups, 0.99)));
    to->outputs = c->runs * c->rows * c->cols;
}

enum bitcut_status typical_range_find(struct typical_range *to,
                                      const struct bitcut_gemm *g,
                                      const struct gemm_data *p, uint64_t seed,
                                      int threads, const struct progress *progress,
                                      struct fault *f)
{
    const size_t m = p->a.rows, n = p->b.cols;
    double square[2 * GROUPS_MAX];
    struct hostfp mode;
    hostfp_enter(&mode);
    const struct shuffled_source from = { .data = p, .seed = seed };
    struct shared s = { square, g, shuffled_runs(&from),
                        sampling_plan_of(m, n, p->a.cols) };
    const int team = threads_for_work(threads, s.course.runs,
                                      2 * s.course.rows * s.course.cols * p->a.cols);
    const enum bitcut_status status =
        runs_do(s.course.runs, run_one, &s, team, progress, f);
    *to = (struct typical_range){ 0 };
    if (status == BITCUT_OK && s.course.runs)
        find_range(to, square, &s.course, (double)m * (double)n);
    hostfp_leave(&mode);
    return status;
}

void describe_typical(char *text, size_t size, const struct typical_range *usual,
                      double error)
{
    if (usual->outputs && isfinite(usual->high))
        text_add(text, size, "%.3g to %.3g u |A||B|; the largest error of D is %.3g",
                 usual->low, usual->high, error);
}

const struct grade grades[] = {
    [GRADE_BEYOND] = { "beyond", "the error exceeds the worst-case bound: this recipe "
                                 "on this unit did not compute D" },
    [GRADE_ABOVE] = { "above-typical", "the error is larger than is typical of this "
                                       "recipe on this unit" },
    [GRADE_TYPICAL] = { "typical", "the error is typical of this recipe on this unit" },
    [GRADE_BELOW] = { "below-typical", "the error is smaller than is typical of this "
                                       "recipe on this unit" },
    [GRADE_WITHIN] = { "within", "the error is within the worst-case bound" },
    { 0 }
};

int grade_of(const struct typical_range *usual, double backward_max, size_t beyond)
{
    if (beyond) return GRADE_BEYOND;
    if (!usual->outputs || !isfinite(usual->high)) return GRADE_WITHIN;
    if (!(backward_max <= usual->high)) return GRADE_ABOVE; /* NaN as well */
    return backward_max < usual->low ? GRADE_BELOW : GRADE_TYPICAL;
}
