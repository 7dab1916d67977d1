/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/fp64_tolerance.h"

#include "analysis/cli/tolerance_rows.h"
#include "lib/input/input.h"
#include "lib/io/json_record.h"

/* Runs with matrices of families. */
struct families64 {
    struct input a, b;
    size_t k;
    uint64_t seed; /* of run 0; each run adds 1 */
};

static enum bitcut_status families_make(struct dense *to, const void *context,
                                        size_t rows, size_t cols, uint64_t run,
                                        struct fault *f)
{
    const struct families64 *const x = context;
    const uint64_t seed = x->seed + run;
    if (!dense_init(to, rows, cols, x->k, false))
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for a run");
    enum bitcut_status status =
        input_fill_f64(to->a, rows, x->k, &x->a, INPUT_A, seed, 1, f);
    if (status == BITCUT_OK)
        status = input_fill_f64(to->b, x->k, cols, &x->b, INPUT_B, seed, 1, f);
    if (status == BITCUT_OK) dense_set_lines(to);
    return status;
}

/* A problem, and the source of its runs. */
struct work {
    struct fp64_setup s;
    struct families64 families;
    struct dense data;
    struct shuffled_source64 shuffled;
    struct tolerance_problem q;
};

/* Matrices from files are shuffled; families get other seeds. */
static int make_source(struct work *w, const struct fp64_tolerance *o,
                       const struct context *x)
{
    const struct setup_options *const from = o->request.setup;
    struct setup names = { .options = from };
    if (!from->a && !from->b && !from->c) {
        w->families.seed = x->seed;
        w->families.k = w->q.k;
        w->q.source =
            (struct run_source){ .make64 = families_make, .context = &w->families };
        return operands_parse(&w->families.a, &w->families.b, &names,
                              o->request.operands);
    }
    struct fault f;
    w->shuffled = (struct shuffled_source64){ &w->data, x->seed };
    w->q.source = shuffled_runs64(&w->shuffled);
    if (dense_make(&w->data, &w->s.gemm, x->threads)) return EXIT_GOOD;
    fault_set(&f, BITCUT_NO_MEMORY, "not enough memory for the matrices");
    return fail("tolerance", &f);
}

static int make(struct work *w, const struct fp64_tolerance *o, const struct context *x)
{
    struct fault f;
    w->s.r = &o->request;
    int status = fp64_setup_make(&w->s, x);
    struct bitcut_gemm *const g = &w->s.gemm;
    if (status == EXIT_GOOD && w->s.is_batch)
        status = complain("-a, -b", "are a batch; give --index, one GEMM of it");
    if (status != EXIT_GOOD) return status;
    w->q = (struct tolerance_problem){ .gemm = g,
                                       .m = g->m,
                                       .n = g->n,
                                       .k = g->k,
                                       .any_order = o->any_order,
                                       .runs = o->runs,
                                       .alarm = o->false_alarm };
    if (!g->m || !g->n || !g->k) return complain("-m, -n, -k", "must be at least 1");
    if (runs_plan64(g, o->any_order, x->threads, &f) != BITCUT_OK)
        return fail("--scheme", &f);
    return make_source(w, o, x);
}

static int find(struct work *w, const struct fp64_tolerance *o, struct context *x)
{
    const struct tolerance_problem *const q = &w->q;
    struct tolerance t;
    struct tolerance_given given;
    struct fault f;
    enum bitcut_status status = tolerance_find(&t, q, x->threads, &x->progress, &f);
    if (status == BITCUT_OK && o->request.d)
        status =
            tolerance_judge64(&given, &t.limits, q->gemm, x->threads, &x->progress, &f);
    if (status != BITCUT_OK) return fail("tolerance", &f);
    struct fp64_answer computed = fp64_setup_answer(&w->s, x);
    const bool shuffled = runs_are_shuffled(&q->source);
    computed.seeded = false;
    const struct tolerance_answer a = { .gemm = { .gemm = q->gemm },
                                        .found = &t,
                                        .problem = q,
                                        .fp64 = &computed,
                                        .shuffled = shuffled,
                                        .given = o->request.d ? &given : NULL };
    json_t *const row = json_object();
    record_json(row, fp64_setup_fields, &computed);
    json_object_update_new(row, json_pack("{s:o, s:b}", "seed", json_seed(x->seed),
                                          "shuffled", (int)shuffled));
    tolerance_rows(row, &a, false);
    emit_answer(&x->emitter, row, tolerance_scheme_lines, &a);
    return o->request.d && !given.verdict.accepted ? EXIT_FOUND : EXIT_GOOD;
}

int fp64_tolerance(struct context *x, const struct fp64_tolerance *o)
{
    struct work w = { .data = { .a = NULL } };
    int status = make(&w, o, x);
    if (status == EXIT_GOOD) status = find(&w, o, x);
    dense_clear(&w.data);
    fp64_setup_clear(&w.s);
    return status;
}
