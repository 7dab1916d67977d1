/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/sampling/attention_tolerance.h"

#include "analysis/sampling/sampling.h"
#include "emu/attention/attention_run.h"
#include "lib/base/size.h"
#include "lib/base/text.h"
#include "lib/gemm/view.h"
#include "lib/number/hostfp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 100 };
static const double ALARM = 1e-6, MARGIN = 1.25;

/* --- what is asked ---------------------------------------------------------------- */

/* The attentions, checked, and the options with their defaults. */
struct problem {
    struct bitcut_attention a, b;
    struct attention_test_sample sample;
    size_t runs;
    double alarm;
};

static enum bitcut_status take_one(struct bitcut_attention *to,
                                   const struct bitcut_attention *from, struct fault *f)
{
    struct attention_plan plan;
    enum bitcut_status status = attention_take(to, from, f);
    if (status == BITCUT_OK) status = attention_check_matrices(to, f);
    if (status == BITCUT_OK) status = attention_plan_make(&plan, to, f);
    return status;
}

static enum bitcut_status check_pair(const struct problem *p, struct fault *f)
{
    const struct bitcut_attention *const a = &p->a, *const b = &p->b;
    if (!a->heads || !a->queries || !a->keys || !a->value_dim)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "the attention has no outputs");
    if (p->sample.other &&
        (a->heads != b->heads || a->kv_heads != b->kv_heads || a->queries != b->queries ||
         a->keys != b->keys || a->head_dim != b->head_dim ||
         a->value_dim != b->value_dim || a->window_left != b->window_left ||
         a->window_right != b->window_right))
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "both attentions must have the same sizes and masks");
    return BITCUT_OK;
}

static enum bitcut_status take(struct problem *p, const struct bitcut_attention *a,
                               const struct bitcut_attention *other,
                               const struct bitcut_attention_options *options,
                               int threads, struct fault *f)
{
    struct bitcut_attention_options o = { .size = sizeof o };
    enum bitcut_status status = BITCUT_OK;
    if (options) status = struct_check("options", options->size, sizeof o, f);
    if (options && status == BITCUT_OK) o = *options;
    *p = (struct problem){ .runs = o.runs ? o.runs : RUNS,
                           .alarm = o.false_alarm > 0 ? o.false_alarm : ALARM,
                           .sample = { .a = &p->a,
                                       .other = other ? &p->b : NULL,
                                       .seed = o.seed,
                                       .any_tiles = o.any_tiles,
                                       .threads = threads } };
    if (status == BITCUT_OK && (threads < 0 || !(p->alarm < 1)))
        status =
            fault_set(f, BITCUT_BAD_ARGUMENT,
                      "counts must not be negative, and false_alarm must be below 1");
    if (status == BITCUT_OK) status = take_one(&p->a, a, f);
    if (status == BITCUT_OK && other) status = take_one(&p->b, other, f);
    return status == BITCUT_OK ? check_pair(p, f) : status;
}

/* --- limits ----------------------------------------------------------------------- */

/* The errors of all runs. */
struct errors {
    double *component, *norm;
    size_t count;
};

static enum bitcut_status run_all(struct bitcut_attention_tolerances *to,
                                  struct errors *e, const struct problem *p,
                                  const struct progress *progress, struct fault *f)
{
    for (size_t i = 0; i < p->runs && !progress_stopped(progress); i++) {
        struct attention_run r;
        const enum bitcut_status status = attention_run_make(&r, &p->sample, i, f);
        if (status == BITCUT_OK) {
            const struct attention_pair pair = attention_run_pair(&r);
            const struct attention_measure m = attention_measure(&pair, 0, false);
            e->component[i] = m.component;
            e->norm[i] = m.norm;
            e->count++;
            to->wrong = larger(to->wrong, m.wrong);
        }
        attention_run_clear(&r);
        if (status != BITCUT_OK) return status;
        progress_report(progress, i + 1, p->runs);
    }
    return progress_end(BITCUT_OK, progress, f);
}

static void set_limit(double *limit, bool *known, double *max, double *x, size_t count,
                      double p)
{
    struct tail t;
    tail_fit(&t, x, count);
    *max = t.x[t.count - 1];
    *known = tail_is_light(&t) && isfinite(tail_limit(&t, p));
    *limit = *known ? larger_double(tail_limit(&t, p), MARGIN * *max) : 2 * *max;
}

/* In how many of the runs that were made a result of zeros is within both limits. */
static enum bitcut_status count_zeros(struct bitcut_attention_tolerances *to,
                                      const struct problem *p, struct fault *f)
{
    enum { FEW = 8 };
    for (size_t i = 0; i < smaller(FEW, p->runs); i++) {
        struct attention_run r;
        const enum bitcut_status status = attention_run_make(&r, &p->sample, i, f);
        if (status == BITCUT_OK) {
            const struct attention_pair pair = attention_run_pair(&r);
            const struct attention_measure m = attention_measure(&pair, to->limit, true);
            to->zeros += m.component <= to->limit && m.norm <= to->norm_limit;
        }
        attention_run_clear(&r);
        if (status != BITCUT_OK) return status;
    }
    return BITCUT_OK;
}

static enum bitcut_status find(struct bitcut_attention_tolerances *to,
                               const struct problem *p, const struct progress *progress,
                               struct fault *f)
{
    struct bitcut_attention_tolerances found = { .size = sizeof found,
                                                 .runs = p->runs,
                                                 .false_alarm = p->alarm };
    struct errors e = { memory_allocate(p->runs, sizeof *e.component),
                        memory_allocate(p->runs, sizeof *e.norm), 0 };
    enum bitcut_status status =
        e.component && e.norm
            ? run_all(&found, &e, p, progress, f)
            : fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the runs");
    if (status == BITCUT_OK) {
        struct hostfp saved;
        hostfp_enter(&saved);
        const double all =
            (double)p->a.heads * (double)p->a.queries * (double)p->a.value_dim;
        found.outputs = attention_run_outputs(&p->a);
        const double each = p->alarm / larger_double(1, all / (double)found.outputs);
        set_limit(&found.limit, &found.known, &found.max, e.component, e.count, each);
        set_limit(&found.norm_limit, &found.norm_known, &found.norm_max, e.norm, e.count,
                  each);
        hostfp_leave(&saved);
        status = count_zeros(&found, p, f);
    }
    free(e.component);
    free(e.norm);
    if (status == BITCUT_OK) *to = found;
    return status;
}

enum bitcut_status attention_tolerance(struct bitcut_attention_tolerances *to,
                                       const struct bitcut_attention *a,
                                       const struct bitcut_attention *other,
                                       const struct bitcut_attention_options *options,
                                       int threads, const struct progress *progress,
                                       struct fault *f)
{
    struct problem p;
    enum bitcut_status status = struct_check("limits", to ? to->size : 0, sizeof *to, f);
    if (status == BITCUT_OK) status = take(&p, a, other, options, threads, f);
    return status == BITCUT_OK ? find(to, &p, progress, f) : status;
}

/* --- a verdict -------------------------------------------------------------------- */

size_t attention_wrong_limit(const struct bitcut_attention_tolerances *limits,
                             size_t outputs)
{
    return limits->wrong * divide_up(outputs, larger(1, limits->outputs));
}

void attention_verdict(struct bitcut_attention_verdict *to,
                       const struct bitcut_attention_tolerances *limits,
                       const struct attention_pair *x)
{
    const struct attention_measure m = attention_measure(x, limits->limit, false),
                                   zero = attention_measure(x, limits->limit, true);
    const size_t per = x->queries * x->value_dim;
    *to = (struct bitcut_attention_verdict){
        .size = sizeof *to,
        .component = m.component,
        .norm = m.norm,
        .above = m.above,
        .wrong = m.wrong,
        .numbers = m.numbers,
        .accepted = m.component <= limits->limit && m.norm <= limits->norm_limit &&
                    m.wrong <= attention_wrong_limit(limits, x->heads * per),
        .zeros_accepted =
            zero.component <= limits->limit && zero.norm <= limits->norm_limit,
        .head = m.worst / per,
        .row = m.worst % per / x->value_dim,
        .column = m.worst % x->value_dim,
    };
}

enum bitcut_status attention_tolerance_judge(
    struct bitcut_attention_verdict *to, const struct bitcut_attention_tolerances *limits,
    const struct bitcut_attention *a, const struct bitcut_attention *other, int threads,
    const struct progress *progress, struct fault *f)
{
    struct problem p;
    enum bitcut_status status = struct_check("verdict", to ? to->size : 0, sizeof *to, f);
    if (status == BITCUT_OK)
        status = struct_check("limits", limits ? limits->size : 0, sizeof *limits, f);
    if (status == BITCUT_OK) status = take(&p, a, other, NULL, threads, f);
    if (status != BITCUT_OK) return status;
    const size_t count = p.a.heads * p.a.queries * p.a.value_dim;
    double *const exact = memory_allocate(count, sizeof *exact), *const size =
                                                                     memory_allocate(
                                                                         count,
                                                                         sizeof *size);
    status = exact && size
                 ? attention_sizes(size, other ? NULL : exact, &p.a, threads, progress, f)
                 : fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the verdict");
    if (status == BITCUT_OK) {
        const struct attention_pair pair = { .o = &p.a.o,
                                             .other = other ? &p.b.o : NULL,
                                             .exact = exact,
                                             .size = size,
                                             .heads = p.a.heads,
                                             .queries = p.a.queries,
                                             .value_dim = p.a.value_dim };
        attention_verdict(to, limits, &pair);
    }
    free(exact);
    free(size);
    return status;
}

/* --- power ------------------------------------------------------------------------ */

/* Compute O with a fault.  *planted: the attention can have the fault. */
static enum bitcut_status plant(bool *planted, struct attention_run *r,
                                const struct attention_fault *fault, int threads,
                                struct fault *f)
{
    const struct bitcut_attention *const a = &r->of.a;
    struct attention_variant v = { .a = *a };
    struct attention_plan plan;
    struct attention_operands x;
    if (a->vary) text_add(v.items, sizeof v.items, "%s", a->vary);
    v.a.vary = v.items;
    *planted = attention_fault_plan(&plan, &v, fault);
    if (!*planted) return BITCUT_OK;
    if (fault->spoil_operands) fault->spoil_operands(a, r->of.k, r->of.v);
    if (attention_fault_operands(&x, &plan, &v, threads) != BITCUT_OK)
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for a fault");
    const struct attention_options options = { .threads = threads, .operands = &x };
    const enum bitcut_status status = attention_run(&plan, &options, f);
    attention_operands_clear(&x);
    if (status == BITCUT_OK && fault->spoil_result) fault->spoil_result(a, r->of.o);
    return status;
}

static void count_rejections(struct attention_power *to,
                             const struct bitcut_attention_tolerances *limits,
                             const struct attention_run *r)
{
    const struct attention_pair pair = attention_run_pair(r);
    const struct attention_measure m = attention_measure(&pair, limits->limit, false);
    const bool component = !(m.component <= limits->limit) || m.wrong > limits->wrong,
               norm = !(m.norm <= limits->norm_limit);
    to->runs++;
    to->component += component;
    to->norm += norm;
    to->either += component || norm;
}

/* What the test says of a run with a fault that changes O; of any run without a fault. */
static enum bitcut_status try_fault(struct attention_power *to,
                                    const struct bitcut_attention_tolerances *limits,
                                    const struct problem *p, size_t i, struct fault *f)
{
    struct attention_run r;
    enum bitcut_status status = attention_run_make(&r, &p->sample, i, f);
    const size_t bytes = r.outputs * (size_t)format_bytes(matrix_format(&p->a.o));
    void *const correct = status == BITCUT_OK ? memory_allocate(bytes, 1) : NULL;
    bool planted = false;
    if (status == BITCUT_OK && !correct)
        status = fault_set(f, BITCUT_NO_MEMORY, "not enough memory for a run");
    if (status == BITCUT_OK) {
        memcpy(correct, r.of.o, bytes);
        status = plant(&planted, &r, to->fault, p->sample.threads, f);
    }
    if (status == BITCUT_OK && planted &&
        (to->fault == attention_faults || memcmp(correct, r.of.o, bytes)))
        count_rejections(to, limits, &r);
    free(correct);
    attention_run_clear(&r);
    return status;
}

enum bitcut_status
attention_power(struct attention_power row[ATTENTION_POWER_MAX], size_t *count,
                const struct bitcut_attention_tolerances *limits,
                const struct bitcut_attention *a, const struct bitcut_attention *other,
                const struct bitcut_attention_options *options, size_t runs, int threads,
                const struct progress *progress, struct fault *f)
{
    struct problem p;
    enum bitcut_status status = take(&p, a, other, options, threads, f);
    size_t faults = 0;
    while (attention_faults[faults].key) faults++;
    *count = status == BITCUT_OK ? faults : 0;
    for (size_t i = 0; i < *count; i++)
        row[i] = (struct attention_power){ .fault = &attention_faults[i] };
    for (size_t i = 0; i < *count * runs && status == BITCUT_OK; i++) {
        if (progress_stopped(progress)) break;
        status = try_fault(&row[i / runs], limits, &p, p.runs + 1 + i % runs, f);
        progress_report(progress, i + 1, *count * runs);
    }
    return progress_end(status, progress, f);
}

/* --- calls ------------------------------------------------------------------------ */

enum bitcut_status bitcut_attention_tolerance(
    struct bitcut_attention_tolerances *to, const struct bitcut_attention *attention,
    const struct bitcut_attention *other, const struct bitcut_attention_options *options,
    int threads, char *why)
{
    struct fault f;
    return fault_write(why,
                       attention_tolerance(to, attention, other, options, threads,
                                           progress_of_thread(), &f),
                       &f);
}

enum bitcut_status bitcut_attention_tolerance_judge(
    struct bitcut_attention_verdict *to, const struct bitcut_attention_tolerances *limits,
    const struct bitcut_attention *attention, const struct bitcut_attention *other,
    int threads, char *why)
{
    struct fault f;
    return fault_write(why,
                       attention_tolerance_judge(to, limits, attention, other, threads,
                                                 progress_of_thread(), &f),
                       &f);
}
