/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/fp64_command.h"

#include "analysis/fp64/scheme_budget.h"
#include "analysis/fp64/scheme_search.h"
#include "lib/base/clock.h"
#include "lib/input/matrix_file.h"
#include "lib/io/json_record.h"

#include <stdio.h>

static int write(const struct encoded_matrix *m, const char *path)
{
    struct fault f;
    if (!path || encoded_write(path, m, &f) == BITCUT_OK) return EXIT_GOOD;
    return fail(path, &f);
}

static int compute(struct fp64_answer *a, struct fp64_setup *s, const struct context *x)
{
    const struct gemm_options options = fp64_setup_options(s, x);
    const double start = seconds_now();
    struct fault f;
    if (fp64_gemm_run(NULL, &s->gemm, &options, &f) != BITCUT_OK)
        return fail_about("gemm", &f);
    a->seconds = seconds_now() - start;
    a->products_per_second = (double)a->products * (double)s->gemm.count * (double)a->m *
                             (double)a->n * (double)a->k / a->seconds;
    return EXIT_GOOD;
}

static int judge(struct fp64_answer *a, const struct fp64_setup *s, const char *reference,
                 const struct context *x)
{
    const struct gemm_options options = context_options(x);
    const struct reference *const by = table_find(TABLE(references), reference);
    struct fault f;
    if (!by || !s->gemm.count) return EXIT_GOOD;
    if (fp64_answer_judge(a, &s->gemm, by, &options, &f) == BITCUT_OK) return EXIT_GOOD;
    return fail("--reference", &f);
}

/* The budgets that options request, of the emulator's results. */
static int find_budgets(struct fp64_answer *a, struct fp64_setup *s,
                        const struct context *x)
{
    const struct gemm_options options = context_options(x);
    const struct budget_options *const o = s->r->budget;
    struct budget_problem *const q = &s->budget_problem;
    struct scheme_budgets *budgets;
    struct fault f;
    if (!o || !budget_is_asked(o)) return EXIT_GOOD;
    if (scheme_budgets_make(&budgets, &s->gemm, &s->by, &options, &f) != BITCUT_OK)
        return fail("--budget", &f);
    *q = budget_problem_of(o, &s->gemm, s->gemm.m, s->gemm.n);
    q->source = &scheme_budget_source;
    q->context = budgets;
    const int status = budget_run(&s->budget, q, x);
    scheme_budgets_free(budgets);
    a->budget = &s->budget;
    return status;
}

static int fail_interrupted(const struct worst_inputs *w)
{
    struct fault f;
    fault_set(&f, BITCUT_UNSUPPORTED, "stopped; %d changes were tried", w->tried);
    return fail("--worst-inputs", &f);
}

int fp64_gemm(struct context *x, const struct fp64_request *r)
{
    struct fp64_setup s = { .r = r };
    int status = fp64_setup_make(&s, x);
    struct fp64_answer a = { .scheme = NULL };
    const bool whole = !s.worst.interrupted; /* a stopped search gives A and B alone */
    if (status == EXIT_GOOD) a = fp64_setup_answer(&s, x);
    if (status == EXIT_GOOD && whole) status = compute(&a, &s, x);
    if (status == EXIT_GOOD && whole) status = judge(&a, &s, r->reference, x);
    if (status == EXIT_GOOD && whole) status = find_budgets(&a, &s, x);
    if (status == EXIT_GOOD) status = write(&s.a, r->save_a);
    if (status == EXIT_GOOD) status = write(&s.b, r->save_b);
    if (status == EXIT_GOOD && whole) status = write(&s.d, x->output);
    if (status == EXIT_GOOD) {
        json_t *const row = json_object();
        record_json(row, fp64_gemm_fields, &a);
        if (a.budget) budget_json(row, a.budget);
        emit_answer(&x->emitter, row, fp64_gemm_lines, &a);
        if (!whole) status = fail_interrupted(&s.worst);
    }
    fp64_setup_clear(&s);
    return status;
}

/* Find what computed D instead, of one GEMM. */
static int find(struct scheme_match *to, const struct fp64_setup *s,
                const struct context *x)
{
    const struct gemm_options options = context_options(x);
    struct fault f;
    if (scheme_search(to, &s->gemm, &options, &f) == BITCUT_OK) return EXIT_GOOD;
    return fail("explain", &f);
}

static int explain_difference(struct fp64_answer *a, const struct fp64_setup *s,
                              const struct context *x)
{
    struct scheme_match m;
    if (s->is_batch) return EXIT_GOOD;
    const int status = find(&m, s, x);
    if (status != EXIT_GOOD || !scheme_match_is_whole(&m)) return status;
    snprintf(a->explanation, sizeof a->explanation, "D has the bits of ");
    scheme_match_name(a->explanation, sizeof a->explanation, &m);
    return EXIT_GOOD;
}

bool fp64_is_result(const char *path, const struct matrix_options *files)
{
    struct matrix_request r = { .batch = true };
    struct encoded_matrix m;
    struct fault f;
    if (!path || files->format_of[MATRIX_D] || files->shape_of[MATRIX_D] ||
        matrix_file_read(&m, path, &r, &f) == BITCUT_OK) {
        if (path && !files->format_of[MATRIX_D] && !files->shape_of[MATRIX_D])
            encoded_clear(&m);
        return false;
    }
    r.format = &formats[FORMAT_F64];
    if (f.status != BITCUT_BAD_FILE || matrix_file_read(&m, path, &r, &f) != BITCUT_OK)
        return false;
    encoded_clear(&m);
    return true;
}

int fp64_explain(struct context *x, const struct fp64_request *r)
{
    struct fp64_setup s = { .r = r };
    struct scheme_explanation e = { .match = { .scheme = NULL } };
    int status = fp64_setup_make(&s, x);
    if (status == EXIT_GOOD && s.is_batch)
        status = complain("-d", "is a batch of FP64; give --index, one GEMM of it");
    if (status == EXIT_GOOD) status = find(&e.match, &s, x);
    if (status == EXIT_GOOD) {
        e.errors = fp64_setup_answer(&s, x);
        e.errors.seeded = false;
        status = judge(&e.errors, &s, "exact", x);
    }
    if (status == EXIT_GOOD) {
        json_t *const row = json_object();
        record_json(row, scheme_explain_fields, &e);
        emit_answer(&x->emitter, row, scheme_explain_lines, &e);
        status = scheme_match_is_whole(&e.match) ? EXIT_GOOD : EXIT_FOUND;
    }
    fp64_setup_clear(&s);
    return status;
}

int fp64_verify(struct context *x, const struct fp64_request *r)
{
    struct fp64_setup s = { .r = r };
    struct fp64_answer a = { .scheme = NULL };
    struct bitcut_difference found = { .size = sizeof found };
    char why[BITCUT_TEXT_MAX];
    if (!r->setup->a || !r->setup->b || !r->d)
        return complain("verify", "requires -a, -b and -d with --scheme");
    int status = fp64_setup_make(&s, x);
    if (status == EXIT_GOOD) {
        const struct gemm_options options = fp64_setup_options(&s, x);
        const enum bitcut_status called =
            gemm_verify_call(&found, NULL, &s.gemm, &options, why);
        struct fault f;
        if (called != BITCUT_OK) {
            fault_set(&f, called, "%s", why);
            status = fail("verify", &f);
        }
    }
    if (status == EXIT_GOOD) {
        a = fp64_setup_answer(&s, x);
        a.difference = found;
        a.seeded = false;
        if (found.differ) status = judge(&a, &s, "exact", x);
        if (found.differ && status == EXIT_GOOD) status = explain_difference(&a, &s, x);
        if (status == EXIT_GOOD) status = find_budgets(&a, &s, x);
    }
    if (status == EXIT_GOOD) {
        json_t *const row = json_object();
        record_json(row, fp64_verify_fields, &a);
        if (a.budget) budget_json(row, a.budget);
        emit_answer(&x->emitter, row, fp64_verify_lines, &a);
        status = found.differ ? EXIT_FOUND : EXIT_GOOD;
    }
    fp64_setup_clear(&s);
    return status;
}
