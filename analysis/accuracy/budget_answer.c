/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/accuracy/budget_answer.h"

#include "analysis/accuracy/short_result.h"
#include "lib/base/size.h"
#include "lib/base/text.h"
#include "lib/number/bits.h"
#include "lib/number/hostfp.h"

#include <math.h>
#include <stdlib.h>

/* --- computing -------------------------------------------------------------------- */

/* An output of a result with an error. */
struct bad_output {
    size_t at; /* i n + j                                                   */
    double u;  /* |D - C| / |A||B|, in u of the format; infinite if one is not finite */
};

/* Select the `most` largest of `count` errors, the largest first, and among equal ones
   the first.  Returns the number of outputs with an error, at most `most`. */
static size_t find_bad(struct bad_output *worst, size_t most, const double *u,
                       size_t count)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        const struct bad_output o = { i, u[i] };
        if (!(o.u > 0) || (found == most && !(o.u > worst[most - 1].u))) continue;
        size_t to = found < most ? found++ : most - 1;
        for (; to && o.u > worst[to - 1].u; to--) worst[to] = worst[to - 1];
        worst[to] = o;
    }
    return found;
}

/* --- FP32 GEMMs --- */

static struct budget_matrices matrices_of(const struct budget_problem *q)
{
    const struct gemm_data *const x = q->data;
    return (struct budget_matrices){ x->a.at,   x->b.at,   x->c.at, x->a.rows,
                                     x->b.cols, x->a.cols, x,       x->a.kept };
}

static enum bitcut_status fp32_all(struct budget_summary *to,
                                   const struct budget_problem *q,
                                   const struct gemm_options *options, struct fault *f)
{
    const struct budget_matrices x = matrices_of(q);
    return budget_gemm(to, q->gemm, q->plan, &x, options->threads, options->progress, f);
}

static enum bitcut_status fp32_at(struct budget_place *to, const struct budget_problem *q,
                                  size_t i, size_t j, struct fault *f)
{
    const struct budget_matrices x = matrices_of(q);
    to->given = q->d->at[i * x.n + j];
    return budget_at(&to->budget, q->gemm, q->plan, &x, i, j, f);
}

static enum bitcut_status fp32_errors(double *u, const struct budget_problem *q,
                                      const struct gemm_options *options, struct fault *f)
{
    struct judge j;
    struct hostfp mode;
    const enum bitcut_status status = gemm_data_judge(&j, q->data, q->gemm, options, f);
    if (status != BITCUT_OK) return status;
    j.comparison.d = q->d->at;
    hostfp_enter(&mode);
    for (size_t i = 0; i < q->m * q->n; i++) u[i] = backward_at(&j.comparison, i);
    hostfp_leave(&mode);
    judge_clear(&j);
    return BITCUT_OK;
}

static const struct budget_source *source_of(const struct budget_problem *q)
{
    static const struct budget_source fp32 = { fp32_all, fp32_at, fp32_errors };
    return q->source ? q->source : &fp32;
}

/* --- all GEMMs --- */

bool budget_place_is_same(const struct budget_place *p)
{
    const struct budget_output *const b = &p->budget;
    return b->is_f64 ? bits_of_double(p->given64) == bits_of_double(b->d64)
                     : p->given == b->d;
}

static enum bitcut_status find_place(struct budget_place *to,
                                     const struct budget_problem *q, size_t i, size_t j,
                                     double u, struct fault *f)
{
    *to = (struct budget_place){ .i = i, .j = j, .u = u };
    return source_of(q)->at(to, q, i, j, f);
}

static enum bitcut_status find_worst(struct budget_answer *to,
                                     const struct gemm_options *options, struct fault *f)
{
    const struct budget_problem *const q = to->problem;
    const size_t n = q->n, most = smaller(q->worst, q->m * n);
    struct bad_output *const bad = memory_allocate(most, sizeof *bad);
    double *const u = memory_allocate(q->m, n * sizeof *u);
    to->worst = memory_allocate(most, sizeof *to->worst);
    enum bitcut_status status =
        bad && u && to->worst
            ? source_of(q)->errors(u, q, options, f)
            : fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the worst outputs");
    const size_t found = status == BITCUT_OK ? find_bad(bad, most, u, q->m * n) : 0;
    for (size_t i = 0; i < found && status == BITCUT_OK; i++)
        status = find_place(&to->worst[to->worst_count++], q, bad[i].at / n,
                            bad[i].at % n, bad[i].u, f);
    free(bad);
    free(u);
    return status;
}

enum bitcut_status budget_find(struct budget_answer *to, const struct budget_problem *q,
                               const struct gemm_options *options, const char **option,
                               struct fault *f)
{
    enum bitcut_status status = BITCUT_OK;
    *to = (struct budget_answer){ .problem = q };
    *option = "budget";
    if (q->all) status = source_of(q)->all(&to->all, q, options, f);
    if (status == BITCUT_OK && q->one) {
        *option = "at";
        status = find_place(&to->one, q, q->i, q->j, 0, f);
    }
    if (status == BITCUT_OK && q->worst) {
        *option = "worst";
        status = find_worst(to, options, f);
    }
    return status;
}

void budget_answer_clear(struct budget_answer *x)
{
    budget_clear(&x->one.budget);
    for (size_t i = 0; i < x->worst_count; i++) budget_clear(&x->worst[i].budget);
    free(x->worst);
    *x = (struct budget_answer){ .worst = NULL };
}

/* --- sentences -------------------------------------------------------------------- */

/* The largest parts, at most this many, the largest first.  Zeros are left out. */
static void describe_parts(char *text, size_t size, const double part[BUDGET_PARTS],
                           double unit, int most_parts)
{
    bool said[BUDGET_PARTS] = { false };
    for (int n = 0; n < most_parts; n++) {
        int most = BUDGET_PARTS;
        for (int i = 0; i < BUDGET_PARTS; i++)
            if (!said[i] && fabs(part[i]) > 0 &&
                (most == BUDGET_PARTS || fabs(part[i]) > fabs(part[most])))
                most = i;
        if (most == BUDGET_PARTS) return;
        said[most] = true;
        text_add(text, size, "%s%s %.3g", n ? ", " : "", budget_rows[most].name,
                 part[most] / unit);
    }
}

/* u |A||B| of the format of D. */
static double unit_of(const struct budget_output *x)
{
    return ldexp(x->size, budget_unit_exponent(x));
}

/* What u is, unless it is that of FP32. */
static void describe_unit(char *text, size_t size, bool is_f64,
                          const struct bitcut_format *format)
{
    if (is_f64) text_add(text, size, ", u = 2^-53");
    else if (result_is_short(format))
        text_add(text, size, ", u = 2^%d of %s", result_unit_exponent(format),
                 result_name(format));
}

void budget_answer_describe_all(char *text, size_t size, const void *answer)
{
    const struct budget_answer *const a = answer;
    double rms[BUDGET_PARTS];
    if (!a->problem->all) return;
    const struct budget_summary *const b = &a->all;
    const struct budget_statistics *const all = &b->part[BUDGET_PARTS][BUDGET_U];
    if (!b->outputs) return;
    if (b->without == b->outputs) {
        text_add(text, size, "all %zu outputs have none: %s", b->outputs, b->event.what);
        return;
    }
    for (int i = 0; i < BUDGET_PARTS; i++) rms[i] = b->part[i][BUDGET_U].rms;
    describe_parts(text, size, rms, 1, BUDGET_PARTS);
    text_add(text, size, "%s%.3g u |A||B| in all (RMS; mean %.3g, most %.3g)",
             *text ? "; " : "", all->rms, all->mean, all->most);
    describe_unit(text, size, b->is_f64, a->problem->gemm->d.format);
    if (b->outputs < b->total)
        text_add(text, size, ", of %zu of %zu outputs", b->outputs, b->total);
    if (b->without)
        text_add(text, size, "; %zu have none: %s", b->without, b->event.what);
}

/* The emulator's result where the given one differs. */
static void describe_other(char *text, size_t size, const struct budget_place *p,
                           double unit)
{
    const struct budget_output *const b = &p->budget;
    const double error = (b->event.what ? (double)INFINITY : fabs(b->error)) / unit;
    if (b->is_f64)
        text_add(text, size, " (the scheme by %.3g; it gives %a, and D has %a)", error,
                 b->d64, p->given64);
    else
        text_add(text, size, " (the recipe by %.3g; it gives 0x%08x, and D has 0x%08x)",
                 error, b->d, p->given);
}

/* Each output with its largest parts. */
void budget_answer_describe_worst(char *text, size_t size, const void *answer)
{
    enum { SAID = 4 };
    const struct budget_answer *const a = answer;
    for (size_t n = 0; n < smaller(a->worst_count, SAID); n++) {
        const struct budget_place *const p = &a->worst[n];
        const struct budget_output *const b = &p->budget;
        const double unit = unit_of(b);
        text_add(text, size, "%s(%zu, %zu) ", n ? "; " : "", p->i, p->j);
        if (isinf(p->u)) {
            text_add(text, size, "is NaN or infinite where C is not");
            continue;
        }
        text_add(text, size, "errs by %.3g u |A||B|", p->u);
        if (!budget_place_is_same(p)) describe_other(text, size, p, unit);
        else if (!b->event.what) {
            text_add(text, size, ": ");
            describe_parts(text, size, b->part, unit > 0 ? unit : 1, 2);
        }
    }
}

void budget_answer_describe_one(char *text, size_t size, const void *answer)
{
    const struct budget_answer *const a = answer;
    char parts[400] = "";
    if (!a->problem->one) return;
    const struct budget_place *const p = &a->one;
    const struct budget_output *const b = &p->budget;
    const double unit = unit_of(b);
    text_add(text, size, "(%zu, %zu) ", p->i, p->j);
    if (b->event.what) {
        text_add(text, size, "has no sum: %s", b->event.what);
        if (!b->is_f64) text_add(text, size, ", after %zu instructions", b->event.at);
        return;
    }
    text_add(text, size, "errs by %.3g u |A||B|", b->error / unit);
    describe_unit(text, size, b->is_f64, b->format);
    text_add(text, size, ": ");
    describe_parts(parts, sizeof parts, b->part, unit > 0 ? unit : 1, BUDGET_PARTS);
    text_add(text, size, "%s", *parts ? parts : "it is exact");
}

#define OF_GEMM(name)                                                                    \
    void budget_##name(char *text, size_t size, const void *answer)                      \
    {                                                                                    \
        const struct gemm_answer *const a = answer;                                      \
        if (a->budget) budget_answer_##name(text, size, a->budget);                      \
    }
OF_GEMM(describe_all)
OF_GEMM(describe_worst)
OF_GEMM(describe_one)

void gemm_describe_library(char *text, size_t size, const void *answer)
{
    const char *const library = ((const struct gemm_answer *)answer)->library;
    if (library) text_add(text, size, "%s", library);
}
