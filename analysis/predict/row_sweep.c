/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/predict/row_sweep.h"

#include "emu/gemm_text.h"
#include "lib/base/size.h"
#include "lib/input/input.h"
#include "lib/number/bits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- computations ----------------------------------------------------------------- */

/* The position of a computation in the sweep, which is added if it is new. */
static int position_of(struct row_sweep *x, const struct bitcut_gemm *g)
{
    char line[CONFIGURATION_LINE_MAX], other[CONFIGURATION_LINE_MAX];
    configuration_line_write(line, g);
    for (int i = 0; i < x->computations; i++) {
        configuration_line_write(other, &x->computation[i]);
        if (!strcmp(line, other)) return i;
    }
    if (x->computations == SWEEP_COMPUTATIONS_MAX) return -1;
    x->computation[x->computations] = *g;
    return x->computations++;
}

/* A prediction for one m, and the positions of its computations. */
struct step {
    struct prediction p;
    int position[BITCUT_PREDICTED_MAX];
    char refused[BITCUT_TEXT_MAX]; /* or "" */
};

static enum bitcut_status step_make(struct step *s, struct row_sweep *x, size_t m,
                                    struct fault *f)
{
    struct bitcut_gemm g = x->call;
    *s = (struct step){ .refused = "" };
    s->p = *x->chosen;
    g.m = m;
    const enum bitcut_status status = predict_find(&s->p, &g, f);
    if (status == BITCUT_UNSUPPORTED) memcpy(s->refused, f->text, sizeof s->refused);
    else if (status != BITCUT_OK) return status;
    for (size_t i = 0; status == BITCUT_OK && i < s->p.computations; i++)
        if ((s->position[i] = position_of(x, &s->p.computation[i])) < 0)
            return fault_set(f, BITCUT_UNSUPPORTED, "more than %d computations",
                             SWEEP_COMPUTATIONS_MAX);
    return BITCUT_OK;
}

/* --- what changes ----------------------------------------------------------------- */

/* Outputs by their computation at one m, and at the next. */
struct changes {
    size_t outputs[SWEEP_COMPUTATIONS_MAX][SWEEP_COMPUTATIONS_MAX];
};

static size_t changes_count(const struct changes *c)
{
    size_t count = 0;
    for (int i = 0; i < SWEEP_COMPUTATIONS_MAX; i++)
        for (int j = 0; j < SWEEP_COMPUTATIONS_MAX; j++)
            if (i != j) count += c->outputs[i][j];
    return count;
}

/* Compare the rows that two predictions have in common; `row`: room for 2 n. */
static void changes_find(struct changes *c, const struct step *from, const struct step *to,
                         unsigned char *row)
{
    const size_t n = from->p.call.n, m = smaller(from->p.call.m, to->p.call.m);
    memset(c, 0, sizeof *c);
    for (size_t i = 0, next; i < m; i = next) {
        next = smaller(prediction_row(row, &from->p, i), prediction_row(row + n, &to->p, i));
        next = smaller(next, m);
        for (size_t j = 0; j < n; j++)
            c->outputs[from->position[row[j]]][to->position[row[n + j]]] += next - i;
    }
}

/* --- the difference --------------------------------------------------------------- */

enum { SAMPLE = 16 };

/* Operands of a sample of outputs, and their |A||B|. */
struct sample {
    struct matrix a, b;
    double size[SAMPLE][SAMPLE];
};

static enum bitcut_status sample_make(struct sample *s, size_t k, uint64_t seed,
                                      struct fault *f)
{
    struct input family;
    enum bitcut_status status = input_parse(&family, "urand(-1,1)", f);
    if (status == BITCUT_OK) status = matrix_init(&s->a, SAMPLE, k, f);
    if (status == BITCUT_OK) status = matrix_init(&s->b, k, SAMPLE, f);
    if (status == BITCUT_OK) status = input_fill(&s->a, &family, INPUT_A, seed, 1, f);
    if (status == BITCUT_OK) status = input_fill(&s->b, &family, INPUT_B, seed, 1, f);
    for (int i = 0; i < SAMPLE && status == BITCUT_OK; i++)
        for (int j = 0; j < SAMPLE; j++) {
            s->size[i][j] = 0;
            for (size_t p = 0; p < k; p++)
                s->size[i][j] += fabs(value_of_float(s->a.at[(size_t)i * k + p]) *
                                      value_of_float(s->b.at[p * SAMPLE + (size_t)j]));
        }
    return status;
}

static void sample_clear(struct sample *s)
{
    matrix_clear(&s->a);
    matrix_clear(&s->b);
}

static enum bitcut_status compute(uint32_t d[SAMPLE * SAMPLE], const struct sample *s,
                                  const struct bitcut_gemm *computation, struct fault *f)
{
    struct bitcut_gemm g = *computation;
    g.m = g.n = SAMPLE;
    g.epilogue[0] = BITCUT_STEP_END; /* without a bias */
    g.k = s->a.cols;
    g.a.at = s->a.at;
    g.b.at = s->b.at;
    g.d.to = d;
    return f->status = bitcut_gemm(NULL, &g, 1, f->text);
}

/* The root mean square of |D - D'| of two computations of the sample, u |A||B|. */
static enum bitcut_status difference_of(double *to, const struct sample *s,
                                        const struct bitcut_gemm *first,
                                        const struct bitcut_gemm *second, struct fault *f)
{
    uint32_t d[2][SAMPLE * SAMPLE];
    double sum = 0;
    enum bitcut_status status = compute(d[0], s, first, f);
    if (status == BITCUT_OK) status = compute(d[1], s, second, f);
    for (int i = 0; i < SAMPLE * SAMPLE && status == BITCUT_OK; i++) {
        const double x = (value_of_float(d[0][i]) - value_of_float(d[1][i])) * 0x1p24 /
                         s->size[i / SAMPLE][i % SAMPLE];
        sum += x * x;
    }
    *to = sqrt(sum / (SAMPLE * SAMPLE));
    return status;
}

/* The difference that most of the changed outputs have. */
static enum bitcut_status typical_difference(double *to, const struct row_sweep *x,
                                             const struct changes *c,
                                             const struct sample *s, struct fault *f)
{
    int from = 0, into = 0;
    size_t most = 0;
    for (int i = 0; i < SWEEP_COMPUTATIONS_MAX; i++)
        for (int j = 0; j < SWEEP_COMPUTATIONS_MAX; j++)
            if (i != j && c->outputs[i][j] > most) most = c->outputs[i][j], from = i, into = j;
    return difference_of(to, s, &x->computation[from], &x->computation[into], f);
}

/* --- ranges ----------------------------------------------------------------------- */

static enum bitcut_status add_range(struct row_sweep *x, const struct step *s, size_t m,
                                    struct fault *f)
{
    if (x->ranges == x->room) {
        const size_t room = x->room ? 2 * x->room : 16;
        struct sweep_range *const more = memory_allocate(room, sizeof *more);
        if (!more) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
        if (x->ranges) memcpy(more, x->range, x->ranges * sizeof *more);
        free(x->range);
        x->range = more;
        x->room = room;
    }
    struct sweep_range *const r = &x->range[x->ranges++];
    *r = (struct sweep_range){ .first = m,
                                .last = m,
                                .of = x,
                                .n = x->call.n,
                                .k = x->call.k,
                                .difference = NAN };
    r->computations = *s->refused ? 0 : s->p.computations;
    memcpy(r->computation, s->position, sizeof r->computation);
    memcpy(r->refused, s->refused, sizeof r->refused);
    return BITCUT_OK;
}

/* What a search needs in addition: the changes, and the rows of two predictions. */
struct work {
    struct changes changes;
    struct sample sample;
    unsigned char *row;
    struct step step[2]; /* for even and for odd m */
};

/* Extend the last range by m, or begin another one. */
static enum bitcut_status add_step(struct row_sweep *x, const struct step *before,
                                   const struct step *s, size_t m, struct work *w,
                                   struct fault *f)
{
    const bool follows = before && !*before->refused && !*s->refused;
    if (follows) changes_find(&w->changes, before, s, w->row);
    const size_t outputs = follows ? changes_count(&w->changes) : 0;
    if ((follows && !outputs) ||
        (before && *s->refused && !strcmp(s->refused, before->refused))) {
        x->range[x->ranges - 1].last = m;
        return BITCUT_OK;
    }
    const enum bitcut_status status = add_range(x, s, m, f);
    if (status != BITCUT_OK || !follows) return status;
    struct sweep_range *const r = &x->range[x->ranges - 1];
    r->outputs = outputs;
    return typical_difference(&r->difference, x, &w->changes, &w->sample, f);
}

static enum bitcut_status find(struct row_sweep *x, struct work *w,
                               const struct progress *progress, struct fault *f)
{
    enum bitcut_status status = BITCUT_OK;
    for (size_t m = x->first; m <= x->last && status == BITCUT_OK; m++) {
        struct step *const s = &w->step[m % 2], *const before = &w->step[1 - m % 2];
        if (progress_stopped(progress)) status = fault_set(f, BITCUT_UNSUPPORTED, "stopped");
        if (status == BITCUT_OK) status = step_make(s, x, m, f);
        if (status == BITCUT_OK)
            status = add_step(x, m > x->first ? before : NULL, s, m, w, f);
        if (m > x->first) prediction_clear(&before->p);
        if (m == x->last || status != BITCUT_OK) prediction_clear(&s->p);
        progress_report(progress, m - x->first + 1, x->last - x->first + 1);
    }
    return status;
}

enum bitcut_status row_sweep_find(struct row_sweep *to, const struct prediction *chosen,
                              const struct bitcut_gemm *g, size_t first, size_t last,
                              uint64_t seed, const struct progress *progress,
                              struct fault *f)
{
    struct work *const w = calloc(1, sizeof *w);
    *to = (struct row_sweep){ .chosen = chosen, .call = *g, .first = first, .last = last };
    to->computation = memory_allocate(SWEEP_COMPUTATIONS_MAX, sizeof *to->computation);
    if (w) w->row = memory_allocate(2, g->n);
    enum bitcut_status status =
        w && w->row && to->computation ? sample_make(&w->sample, g->k, seed, f)
                    : fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
    if (status == BITCUT_OK) status = find(to, w, progress, f);
    if (w) {
        sample_clear(&w->sample);
        free(w->row);
    }
    free(w);
    return status;
}

void row_sweep_clear(struct row_sweep *x)
{
    free(x->range);
    free(x->computation);
    *x = (struct row_sweep){ .ranges = 0 };
}
