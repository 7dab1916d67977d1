/* SPDX-License-Identifier: BSD-3-Clause */
/* Statistics of the budgets of many outputs. */
#include "analysis/accuracy/budget.h"
#include "analysis/accuracy/short_result.h"
#include "lib/base/size.h"
#include "lib/base/threads.h"

#include <math.h>
#include <stdlib.h>

enum {
    CHUNK = BUDGET_PIECE_MAX,
    ELEMENTS_MAX = 1 << 24, /* elements of their lines */
    LEAST_EXPONENT = -149,
    FRACTION = 23
};

/* --- statistics ------------------------------------------------------------------- */

/* The distance of values of the format of D at x. */
static double ulp_at(const struct budget_output *out, double x)
{
    int exponent;
    if (out->is_f64) return format_ulp(&formats[FORMAT_F64], x);
    if (result_is_short(out->format)) return format_ulp(out->format, x);
    if (x == 0) return ldexp(1, LEAST_EXPONENT);
    frexp(x, &exponent);
    return ldexp(1, larger_int(exponent - 1 - FRACTION, LEAST_EXPONENT));
}

/* The unit of a part; for |A||B| = 0 there is no error. */
static double unit_of(const struct budget_output *x, enum budget_measure measure)
{
    const double unit = measure == BUDGET_U ? ldexp(x->size, budget_unit_exponent(x))
                                            : ulp_at(x, x->value);
    return unit > 0 ? unit : 1;
}

static void take_part(struct budget_statistics *to, double x)
{
    to->mean += x;
    to->rms += x * x;
    to->most = larger_double(to->most, fabs(x));
}

static void take_output(struct budget_summary *to, const struct budget_output *x,
                        size_t at, double *worst)
{
    to->outputs++;
    if (x->event.what) {
        if (!to->without++) to->first = at, to->event = x->event;
        return;
    }
    for (int measure = 0; measure < BUDGET_MEASURES; measure++) {
        const double unit = unit_of(x, (enum budget_measure)measure);
        for (int i = 0; i <= BUDGET_PARTS; i++)
            take_part(&to->part[i][measure],
                      (i < BUDGET_PARTS ? x->part[i] : x->error) / unit);
    }
    const double error = fabs(x->error) / unit_of(x, BUDGET_U);
    if (to->worst == to->total || error > *worst) to->worst = at, *worst = error;
}

static void finish(struct budget_summary *x, unsigned kinds)
{
    const double count = (double)(x->outputs - x->without);
    for (int i = 0; i <= BUDGET_PARTS; i++)
        for (int measure = 0; measure < BUDGET_MEASURES; measure++) {
            struct budget_statistics *const s = &x->part[i][measure];
            if (i < BUDGET_PARTS && !(budget_rows[i].kinds & kinds)) continue;
            s->mean /= count;
            s->rms = sqrt(s->rms / count);
            if (count == 0) s->most = (double)NAN;
        }
}

/* --- all -------------------------------------------------------------------------- */

/* The lines of the present outputs, and the budgets of these. */
struct prepared {
    const struct budget_work *w;
    void **line;  /* [m + n]: NULL if no output has it */
    bool *wanted; /* [m + n]                           */
    struct budget_output *out;
};

static bool prepare(struct prepared *p, const struct budget_work *w)
{
    const size_t lines = w->m + w->n;
    *p = (struct prepared){ .w = w,
                            .line = calloc(lines + 1, sizeof *p->line),
                            .wanted = calloc(lines + 1, sizeof *p->wanted),
                            .out = memory_allocate(CHUNK, sizeof *p->out) };
    return p->line && p->wanted && p->out;
}

static void prepared_clear(struct prepared *p)
{
    for (size_t i = 0; p->line && i < p->w->m + p->w->n; i++)
        if (p->line[i]) p->w->release(p->line[i]);
    free(p->line);
    free(p->wanted);
    free(p->out);
}

/* Want the lines of outputs from c->from on, and set c->to to their end: lines that take
   memory have at most ELEMENTS_MAX elements, unless there is one output. */
static void want_lines(struct prepared *p, struct budget_piece *c)
{
    const struct budget_work *const w = p->w;
    const size_t end = smaller(c->from + CHUNK, c->sample.count);
    size_t lines = 0;
    for (size_t i = 0; i < w->m + w->n; i++) p->wanted[i] = false;
    for (c->to = c->from; c->to < end; c->to++) {
        bool *const row = &p->wanted[budget_row(c, c->to)],
                    *const column = &p->wanted[budget_column(c, c->to)];
        const size_t more = !*column + (w->copies_rows && !*row);
        if (more && lines && (lines + more) * w->k > ELEMENTS_MAX) return;
        lines += more;
        *row = *column = true;
    }
}

/* Make line i if it is wanted, and release it if not. */
static bool take_line(struct prepared *p, size_t i)
{
    if (!p->wanted[i]) {
        if (p->line[i]) p->w->release(p->line[i]);
        p->line[i] = NULL;
    } else if (!p->line[i]) p->line[i] = p->w->line(p->w->context, i);
    return !p->wanted[i] || p->line[i];
}

static bool take_lines(struct prepared *p, int threads)
{
    const size_t lines = p->w->m + p->w->n;
    bool enough = true;
    (void)threads;
#pragma omp parallel for schedule(dynamic) num_threads(threads_for(threads, lines))
    for (size_t i = 0; i < lines; i++) {
        if (take_line(p, i)) continue;
#pragma omp atomic write
        enough = false;
    }
    return enough;
}

/* Compute the budgets of the outputs of a piece, and report progress. */
static enum bitcut_status run_piece(struct prepared *p, struct budget_piece *c,
                                    int threads, const struct progress *progress,
                                    struct fault *f)
{
    const struct budget_work *const w = p->w;
    enum bitcut_status worst = BITCUT_OK;
    size_t done = c->from;
    want_lines(p, c);
    c->line = p->line;
    if (!take_lines(p, threads) ||
        (w->start && !w->start(w->context, c, threads, progress)))
        return fault_set(f, BITCUT_NO_MEMORY,
                         "not enough memory for the budgets of outputs");
#pragma omp parallel for schedule(dynamic)                                               \
    num_threads(threads_for(threads, c->to - c->from))
    for (size_t t = c->from; t < c->to; t++) {
        struct fault own;
        size_t now;
        if (progress_stopped(progress)) continue;
        const enum bitcut_status status =
            w->output(&p->out[t - c->from], w->context, c, t, &own);
#pragma omp atomic capture
        now = ++done;
        if (threads_number() == 0) progress_report(progress, now, c->sample.count);
        if (status == BITCUT_OK) continue;
#pragma omp critical(bitcut_budget)
        {
            worst = status;
            if (f) *f = own;
        }
    }
    return worst;
}

enum bitcut_status budget_summarize(struct budget_summary *to,
                                    const struct budget_work *w, int threads,
                                    const struct progress *progress, struct fault *f)
{
    const size_t total = w->m * w->n;
    struct budget_piece c = { .m = w->m,
                              .n = w->n,
                              .sample = spread_evenly(
                                  total, 0x1p27 / larger_double(1, (double)w->k)) };
    struct prepared p;
    double worst = 0;
    enum bitcut_status status =
        prepare(&p, w) ? BITCUT_OK
                       : fault_set(f, BITCUT_NO_MEMORY,
                                   "not enough memory for the budgets of outputs");
    *to = (struct budget_summary){
        .total = total, .first = total, .worst = total, .is_f64 = w->is_f64
    };
    for (; c.from < c.sample.count && status == BITCUT_OK; c.from = c.to) {
        status = run_piece(&p, &c, threads, progress, f);
        if (progress_stopped(progress)) break;
        for (size_t t = c.from; t < c.to && status == BITCUT_OK; t++)
            take_output(to, &p.out[t - c.from], spread_place(&c.sample, t), &worst);
    }
    prepared_clear(&p);
    finish(to, w->kinds);
    return status;
}
