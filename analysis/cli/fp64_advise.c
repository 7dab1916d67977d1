/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/fp64_advise.h"

#include "analysis/cli/setup.h"
#include "analysis/fp64/scheme_advice.h"
#include "emu/fp64/fp64_gemm.h"
#include "lib/gemm/view.h"
#include "lib/io/json_record.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The matrices, and the problem that points to them. */
struct work {
    struct encoded_matrix a, b;
    double *of_a, *of_b;
    const char *target[SCHEME_TARGETS_MAX];
    struct scheme_problem problem;
};

static void clear(struct work *w)
{
    encoded_clear(&w->a);
    encoded_clear(&w->b);
    free(w->of_a);
    free(w->of_b);
}

/* Complain about the first given option that does not apply. */
static int check_options(const struct context *x)
{
    static const char *const taken[] = { "fp64",     "a",       "b",       "want",
                                         "metric",   "unit",    "format",  "format-a",
                                         "format-b", "shape-a", "shape-b", "verbose",
                                         "json",     "seed",    "threads", NULL };
    for (size_t i = 0; x->options[i].name; i++) {
        const char *const *name = taken;
        while (*name && strcmp(*name, x->options[i].name)) name++;
        if (!x->given[i] || *name) continue;
        struct fault f;
        char option[80];
        fault_set(&f, BITCUT_BAD_ARGUMENT,
                  "belongs to FP32 GEMMs; it cannot be combined with --fp64");
        snprintf(option, sizeof option, strlen(x->options[i].name) > 1 ? "--%s" : "-%s",
                 x->options[i].name);
        return fail(option, &f);
    }
    return EXIT_GOOD;
}

/* The elements as FP64 values, row-major. */
static int gather(double **to, const struct encoded_matrix *m, bool transposed,
                  const char *option)
{
    const struct bitcut_matrix all = encoded_view(m);
    const struct view v = view_of(&all, 0, m->rows, m->cols, transposed);
    const size_t lines = transposed ? m->cols : m->rows,
                 length = transposed ? m->rows : m->cols;
    struct fault f;
    size_t count;
    if (!lines || !length) return complain(option, "must have rows and columns");
    *to =
        size_multiply(&count, lines, length) ? memory_allocate(count, sizeof **to) : NULL;
    if (!*to) {
        fault_set(&f, BITCUT_NO_MEMORY, "not enough memory for the matrix");
        return fail(option, &f);
    }
    for (size_t i = 0; i < lines; i++)
        for (size_t p = 0; p < length; p++) {
            const double value = view_f64(&v, i, p);
            if (!isfinite(value))
                return complain(option, "has elements that are not finite");
            (*to)[i * length + p] = value;
        }
    return EXIT_GOOD;
}

static int read(struct encoded_matrix *to, const char *option, const char *path,
                const struct matrix_options *from)
{
    struct matrix_options files = *from;
    if (!files.format) files.format = "f64";
    const int status = matrix_read(to, option, path, &files);
    if (status == EXIT_GOOD && to->is_batch)
        return complain(option, "must be one matrix with --fp64");
    return status;
}

static int read_both(struct work *w, const struct fp64_advise *o)
{
    struct scheme_problem *const p = &w->problem;
    if (!o->a) return complain("-a", "is required");
    int status = read(&w->a, "-a", o->a, o->files);
    if (status == EXIT_GOOD && o->b) status = read(&w->b, "-b", o->b, o->files);
    if (status == EXIT_GOOD && o->b && w->a.cols != w->b.rows)
        return complain("-b", "must have as many rows as A has columns");
    if (status == EXIT_GOOD) status = gather(&w->of_a, &w->a, false, "-a");
    if (status == EXIT_GOOD)
        status = o->b ? gather(&w->of_b, &w->b, false, "-b")
                      : gather(&w->of_b, &w->a, true, "-a");
    p->a = w->of_a;
    p->b = w->of_b;
    p->m = w->a.rows;
    p->k = w->a.cols;
    p->n = o->b ? w->b.cols : w->a.rows;
    p->input_a = o->a;
    p->input_b = o->b;
    return status;
}

/* The named chips or units; otherwise h100. */
static int take_targets(struct work *w, const struct option_texts *units_asked)
{
    for (int i = 0; i < units_asked->count && i < SCHEME_TARGETS_MAX; i++) {
        const char *const name = units_asked->text[i];
        if (!table_find(TABLE(chips), name) && !table_find(TABLE(units), name))
            return fail_unit(name, true);
        w->target[w->problem.targets++] = name;
    }
    if (!units_asked->count) w->target[w->problem.targets++] = "h100";
    w->problem.target = w->target;
    return EXIT_GOOD;
}

static int take(struct work *w, const struct fp64_advise *o, const struct context *x)
{
    static const int known[] = { METRIC_RELRES, METRIC_BACKWARD_MAX };
    struct scheme_problem *const p = &w->problem;
    p->metric = -1;
    for (int i = 0; i < 2; i++)
        if (!strcmp(o->metric, metrics[known[i]].name)) p->metric = known[i];
    if (p->metric < 0) return complain("--metric", "must be relres or backward_max");
    p->want = o->want;
    p->seed = x->seed;
    p->threads = x->threads;
    p->progress = &x->progress;
    if (!isnan(p->want) && !(p->want > 0))
        return complain("--want", "must be greater than 0");
    const int status = take_targets(w, o->units);
    return status == EXIT_GOOD ? read_both(w, o) : status;
}

/* Prints messages and returns an exit status. */
static int find(const struct work *w, struct context *x)
{
    struct scheme_advice *const found = malloc(sizeof *found);
    struct fault f;
    int status = EXIT_GOOD;
    if (!found) {
        fault_set(&f, BITCUT_NO_MEMORY, "not enough memory");
        status = fail("advise", &f);
    } else if (scheme_advice_find(found, &w->problem, &f) != BITCUT_OK)
        status = fail("advise", &f);
    else {
        json_t *const row = json_object();
        record_json(row, scheme_advice_fields, found);
        emit_answer(&x->emitter, row, scheme_advice_lines, found);
        status = found->choice || found->f32_suffices ? EXIT_GOOD : EXIT_FOUND;
    }
    free(found);
    return status;
}

int fp64_advise(struct context *x, const struct fp64_advise *o)
{
    struct work w = { .of_a = NULL };
    int status = check_options(x);
    if (status == EXIT_GOOD) status = take(&w, o, x);
    if (status == EXIT_GOOD) status = find(&w, x);
    clear(&w);
    return status;
}
