/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/bound_scheme.h"

#include "analysis/fp64/bound_check.h"
#include "lib/io/json_record.h"

#include <stdlib.h>
#include <string.h>

/* Columns of the text output; --json has all keys. */
static const struct emit_column columns[] = { { "input_a", "A", 0, NULL },
                                              { "input_b", "B", 0, NULL },
                                              { "worst_error", "error", 3, NULL },
                                              { "worst_limit", "limit", 3, NULL },
                                              { "ratio", "ratio", 3, NULL },
                                              { "tightness", "limit/error", 3, NULL },
                                              { "verdict", "u |A||B|, u = 2^-53", 0,
                                                NULL },
                                              { 0 } };

/* Pairs of matrices that are compared. */
enum { PAIRS_MAX = 40, RANGE = 40 };

struct work {
    struct bound_check check[PAIRS_MAX];
    char name[PAIRS_MAX][2][WORST_NAME_MAX];
    size_t count;
};

/* Compare one pair, and print its row. */
static int check_pair(struct work *w, const struct fp64_request *r, struct context *x)
{
    const struct gemm_options options = context_options(x);
    struct bound_check *const to = &w->check[w->count];
    struct fp64_setup s = { .r = r };
    struct fault f;
    int status = fp64_setup_make(&s, x);
    if (status == EXIT_GOOD && s.is_batch)
        status = complain("-a, -b", "are a batch; give --index, one GEMM of it");
    if (status == EXIT_GOOD && !r->d &&
        fp64_gemm_run(NULL, &s.gemm, &options, &f) != BITCUT_OK)
        status = fail("bound", &f);
    if (status == EXIT_GOOD &&
        bound_check_find(to, &s.gemm, &s.by, &options, &f) != BITCUT_OK)
        status = fail("bound", &f);
    if (status == EXIT_GOOD) {
        const struct fp64_answer a = fp64_setup_answer(&s, x);
        json_t *const row = json_object();
        to->input_a = a.input_a;
        to->input_b = a.input_b;
        record_json(row, fp64_setup_fields, &a);
        record_json(row, bound_check_fields, to);
        json_object_update_new(row, json_pack("{s:o, s:o}", "seed", json_seed(x->seed),
                                              "d", r->d ? json_text(r->d) : json_null()));
        emit_row(&x->emitter, row);
        to->input_a = w->name[w->count][0];
        to->input_b = w->name[w->count][1];
        snprintf(w->name[w->count][0], WORST_NAME_MAX, "%s", a.input_a);
        snprintf(w->name[w->count][1], WORST_NAME_MAX, "%s", a.input_b);
        w->count++;
    }
    fp64_setup_clear(&s);
    return status;
}

/* All pairs of families from which the search for the worst inputs starts. */
static int check_families(struct work *w, const struct fp64_request *r, struct context *x)
{
    char a[WORST_NAME_MAX], b[WORST_NAME_MAX];
    int status = EXIT_GOOD;
    for (int i = 0;
         status == EXIT_GOOD && i < PAIRS_MAX && worst_start_name(a, b, i, RANGE); i++) {
        struct operand_options operands = *r->operands;
        struct fp64_request one = *r;
        operands.input_a = a;
        operands.input_b = b;
        one.operands = &operands;
        status = check_pair(w, &one, x);
    }
    return status;
}

int fp64_bound(struct context *x, const struct fp64_request *r)
{
    const struct operand_options *const o = r->operands;
    const bool given = r->setup->a || r->setup->b || r->setup->c || r->d || o->input_a ||
                       o->input_b || o->pair;
    struct work *const w = calloc(1, sizeof *w);
    if (!w) return complain("bound", "not enough memory for the bounds");
    x->emitter.columns = columns;
    int status = given ? check_pair(w, r, x) : check_families(w, r, x);
    const struct bound_checks all = { w->check, w->count };
    if (status == EXIT_GOOD) {
        emit_summary(&x->emitter, bound_checks_lines, &all);
        status = bound_checks_broken(&all) ? EXIT_FOUND : EXIT_GOOD;
    }
    free(w);
    return status;
}
