/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/study/crossing.h"

#include "lib/io/json_value.h"

/* Sizes n and seeds. */
static const struct {
    size_t n[3];
    int sizes, seeds;
} runs[] = {
    [STUDY_SMALL] = { { 64, 256 }, 2, 8 }, [STUDY_PAPER] = { { 256, 1024, 4096 }, 3, 8 }
};

static int sizes_of(const struct crossing *x, enum study_scale scale)
{
    int sizes = runs[scale].sizes;
    while (x->n_most && runs[scale].n[sizes - 1] > x->n_most) sizes--;
    return sizes;
}

size_t crossing_points(const struct study *study, enum study_scale scale)
{
    const struct crossing *x = study->about;
    return (size_t)(x->count * sizes_of(x, scale) * runs[scale].seeds);
}

static size_t crossing_n(const struct crossing *x, enum study_scale scale, size_t at)
{
    return runs[scale].n[at / (size_t)runs[scale].seeds % (size_t)sizes_of(x, scale)];
}

uint64_t crossing_work(const struct study *study, enum study_scale scale, size_t at)
{
    const uint64_t n = crossing_n(study->about, scale, at);
    return n * n * n;
}

/* The keys of its rows. */
static const unsigned crossing_told = 1u << METRIC_RELRES | 1u << METRIC_MRED |
                                      1u << METRIC_ULP_BIAS | 1u << METRIC_BACKWARD_MAX;

static void crossing_row(struct study_point *p, struct method_comparison *c,
                         const struct pair_of *pair, const struct entrant *e, size_t n,
                         int round)
{
    double values[METRICS];
    method_comparison_measure(values, c, REFERENCE_EXACT, crossing_told);
    const bool whole = e->recipe == RECIPE_FP32;
    const struct bitcut_split *split = e->split ? e->split : recipes[e->recipe].split;
    const char *parts = split ? split->name : entrant_unit(e)->a->name;
    study_row(p,
              json_pack("{s:o, s:s, s:s, s:s?, s:s?, s:s, s:s, s:I, s:i, s:o, s:o, s:o, "
                        "s:o}",
                        "series", json_sprintf("%s, %s", pair->name, e->name), "pair",
                        pair->name, "recipe", e->name, "unit", whole ? NULL : e->unit,
                        "split", whole ? NULL : parts, "a", pair->a, "b", pair->b, "n",
                        (json_int_t)n, "round", round, "relres",
                        json_number(values[METRIC_RELRES]), "mred",
                        json_number(values[METRIC_MRED]), "bias",
                        json_number(values[METRIC_ULP_BIAS]), "backward_max",
                        json_number(values[METRIC_BACKWARD_MAX])));
}

/* One pair, size and seed: every method. */
enum bitcut_status crossing_run(const struct study *study, struct study_point *p,
                                struct fault *f)
{
    const struct crossing *x = study->about;
    const int seeds = runs[p->scale].seeds, sizes = sizes_of(x, p->scale);
    const int round = (int)p->at % seeds;
    const struct pair_of *pair = &x->pairs[(int)p->at / seeds / sizes];
    const size_t n = crossing_n(x, p->scale, p->at);
    const struct comparison_problem of = { pair->a, pair->b, n, n, n };
    struct method_comparison c;
    enum bitcut_status status = method_comparison_init(&c, &of, BY_EXACT, p, f);
    for (const struct entrant *e = x->methods; status == BITCUT_OK && e->name; e++) {
        status = method_comparison_run(&c, e, f);
        if (status == BITCUT_OK) crossing_row(p, &c, pair, e, n, round);
    }
    method_comparison_clear(&c);
    return status;
}
