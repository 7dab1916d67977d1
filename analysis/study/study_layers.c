/* SPDX-License-Identifier: BSD-3-Clause */
/* Figure 16 of LE-GEMM: errors in the layers of applications, against k. */
#include "analysis/study/compare.h"
#include "analysis/study/method_comparison.h"

#include "lib/io/json_value.h"

/* n x n outputs of each layer. */
static const size_t sides[] = { [STUDY_SMALL] = 32, [STUDY_PAPER] = 512 };

/* The paper gives no sizes, and averages 10 experiments.  Errors where outputs may be
   near 0 have heavy tails and need more seeds.  These k are those of `bitcut list
   shapes`: features of K-means, the layers of BERT-large, and the layers of LLaMA 7B.
   The paper gives the range of values only for the last. */
static const struct {
    const char *name, *input;
    size_t k[2];
    int seeds[2]; /* by scale */
} layers[] = { { "kmeans", "urand(-1,1)", { 64, 256 }, { 64, 8 } },
               { "bert", "urand(-1,1)", { 1024, 4096 }, { 64, 8 } },
               { "llm", "llm", { 4096, 11008 }, { 10, 8 } } };

enum { LAYER_ROWS = sizeof layers / sizeof layers[0] };

#define METHODS(UNIT)                                                                    \
    { .name = "legemm", .recipe = RECIPE_LEGEMM, .unit = UNIT },                         \
    {                                                                                    \
        .name = "ootomo", .recipe = RECIPE_OOTOMO, .unit = UNIT                          \
    }

static const struct entrant methods[] = {
    METHODS("mi210"),
    METHODS("a800"),
    { .name = "fp32", .recipe = RECIPE_FP32, .unit = "a800" },
    { 0 }
};

static size_t layer_points(const struct study *study, enum study_scale scale)
{
    int seeds = 0;
    (void)study;
    for (int i = 0; i < LAYER_ROWS; i++) seeds += layers[i].seeds[scale];
    return (size_t)(2 * seeds);
}

/* The layer and k of a point, and the number of its seed. */
struct layer_at {
    int layer, round;
    size_t k;
};

static struct layer_at layer_at(enum study_scale scale, size_t point)
{
    int layer = 0, at = (int)point;
    while (at >= 2 * layers[layer].seeds[scale]) at -= 2 * layers[layer++].seeds[scale];
    const int seeds = layers[layer].seeds[scale];
    return (struct layer_at){ layer, at % seeds, layers[layer].k[at / seeds] };
}

static uint64_t layer_work(const struct study *study, enum study_scale scale, size_t at)
{
    (void)study;
    return layer_at(scale, at).k;
}

/* The keys of its rows. */
static const unsigned layer_told =
    1u << METRIC_MAX_ERROR | 1u << METRIC_MRED | 1u << METRIC_RELRES;

static void layer_row(struct study_point *p, struct method_comparison *c, int layer,
                      const struct entrant *e, int round)
{
    double values[METRICS];
    method_comparison_measure(values, c, REFERENCE_EXACT, layer_told);
    study_row(p, json_pack("{s:o, s:s, s:s?, s:s, s:I, s:i, s:o, s:o, s:o}", "series",
                           json_sprintf("%s, %s", layers[layer].name, e->name), "layer",
                           layers[layer].name, "unit",
                           e->recipe == RECIPE_FP32 ? NULL : e->unit, "recipe", e->name,
                           "k", (json_int_t)c->a.cols, "round", round, "max_error",
                           json_number(values[METRIC_MAX_ERROR]), "mred",
                           json_number(values[METRIC_MRED]), "relres",
                           json_number(values[METRIC_RELRES])));
}

static enum bitcut_status run_layer(const struct study *study, struct study_point *p,
                                    struct fault *f)
{
    (void)study;
    const size_t n = sides[p->scale];
    const struct layer_at x = layer_at(p->scale, p->at);
    const struct comparison_problem of = { layers[x.layer].input, layers[x.layer].input,
                                           n, n, x.k };
    struct method_comparison c;
    enum bitcut_status status = method_comparison_init(&c, &of, BY_EXACT, p, f);
    for (const struct entrant *e = methods; status == BITCUT_OK && e->name; e++) {
        status = method_comparison_run(&c, e, f);
        if (status == BITCUT_OK) layer_row(p, &c, x.layer, e, x.round);
    }
    method_comparison_clear(&c);
    return status;
}

/* Intervals of Max_error, the largest of quotients with heavy tails, are too narrow. */
#define HEAVY_TAILS 2

#define GROWS(UNIT, KEY, LAYERS_OF, FALLS)                                               \
    &(const struct claim_growth)                                                         \
    {                                                                                    \
        .key = KEY, .where = "recipe=legemm unit=" UNIT " layer=" LAYERS_OF, .x = "k",   \
        .cases = "unit", .least = 1, .falls = FALLS                                      \
    }

#define WITH_K(NAME, UNIT, KEY, DOUBT, LAYERS_OF, OF)                                    \
    {                                                                                    \
        .name = NAME, .printed = "As the K-dimension increases", .unit = UNIT,           \
        .criterion = CRITERION_ORDER, .doubt = DOUBT,                                    \
        .what = "on " UNIT " the " KEY " of LE-GEMM grows with k in " OF,                \
        .paper = "LE-GEMM, section 5.5", .judge = claim_judge_growth,                    \
        .about = GROWS(UNIT, KEY, LAYERS_OF, false),                                     \
        .other = GROWS(UNIT, KEY, LAYERS_OF, true), .otherwise = "falling k"             \
    }

#define KMEANS_BERT "K-means and BERT"

static const struct claim layer_claims[] = {
    /* clang-format off */
    WITH_K("layers-mi210-max",     "mi210", "max_error", HEAVY_TAILS, "kmeans|bert", KMEANS_BERT),
    WITH_K("layers-mi210-mred",    "mi210", "mred",      0,           "kmeans|bert", KMEANS_BERT),
    WITH_K("layers-mi210-llm-max", "mi210", "max_error", 0,           "llm",         "linear layers"),
    WITH_K("layers-mi210-llm",     "mi210", "mred",      0,           "llm",         "linear layers"),
    WITH_K("layers-a800-max",      "a800",  "max_error", HEAVY_TAILS, "kmeans|bert", KMEANS_BERT),
    WITH_K("layers-a800-mred",     "a800",  "mred",      0,           "kmeans|bert", KMEANS_BERT),
    WITH_K("layers-a800-llm-max",  "a800",  "max_error", 0,           "llm",         "linear layers"),
    WITH_K("layers-a800-llm",      "a800",  "mred",      0,           "llm",         "linear layers"),
    { 0 }
    /* clang-format on */
};

const struct study study_layers = {
    /* clang-format off */
    .name = "layers",
    .chapter = CHAPTER_USES,
    .what = "errors in K-means, BERT and linear layers against k (LE-GEMM, Figure 16)",
    .title = "Layers of applications",
    .text = "Some outputs of the layers of three applications: distances of K-means, the "
            "feed-forward layers of BERT-large, and linear layers of LLaMA 7B with "
            "values of [0.5, 2.5]. LE-GEMM gives no sizes; bitcut's own shapes are used. "
            "Ootomo and Yokota's method and FP32 are added for comparison.",
    .claims = layer_claims, .points = layer_points, .work = layer_work, .run = run_layer,
    .plot = { .x = "k", .y = "mred", .series = "recipe", .x_label = "k",
              .y_label = "MRED", .x_log = true, .y_log = true, .panels = "layer unit",
              .spread = "round", .below = "max_error", .below_label = "Max_error",
              .below_log = true,
              .sees = "On A800, whose sums truncate, errors of LE-GEMM grow steeply with "
                      "k; on MI210 they hardly grow." },
    /* clang-format on */
};
