#include "analysis/claim.h"

#include "analysis/results.h"

/* --- the table -------------------------------------------------------------------- */

enum claim_how { MEAN, MAXIMUM };

static const char *const hows[] = { [MEAN] = "mean", [MAXIMUM] = "maximum" };

/* `who` and `over` are recipes or names of peers.  With `over` it is the time of that one
   over the time of `who`, else the column of `who`. */
struct claim {
    const char *what, *source, *gpu;
    double printed;
    const char *study, *shapes, *who, *over, *column;
    enum claim_how how;
};

static const char legemm6[] = "LE-GEMM, Table 6", legemm15[] = "LE-GEMM, section 5.5",
                  legemm17[] = "LE-GEMM, text of Fig. 17",
                  ootomo14[] = "Ootomo and Yokota, text of Fig. 14",
                  ootomo16[] = "Ootomo and Yokota, text of Fig. 16",
                  huang2[] = "Huang et al., section 3.2",
                  huang4[] = "Huang et al., section 3.5";

static const struct claim claims[] = {
/* clang-format off */
#define TIMES_FASTER(source, gpu, printed, shapes, who, over)                            \
    { who " over " over, source, gpu, printed, "recipes", shapes, who, over, NULL, MEAN }
    TIMES_FASTER(legemm6,  "A800", 1.37, "square", "legemm", "sgemm"),
    TIMES_FASTER(legemm6,  "A800", 1.40, "square", "legemm", "plain"),
    TIMES_FASTER(legemm6,  "A800", 2.77, "square", "legemm", "markidis"),
    TIMES_FASTER(legemm6,  "A800", 2.74, "square", "legemm", "ootomo"),
    TIMES_FASTER(legemm6,  "A800", 1.40, "wide",   "legemm", "sgemm"),
    TIMES_FASTER(legemm6,  "A800", 1.43, "wide",   "legemm", "plain"),
    TIMES_FASTER(legemm6,  "A800", 2.84, "wide",   "legemm", "markidis"),
    TIMES_FASTER(legemm6,  "A800", 2.80, "wide",   "legemm", "ootomo"),
    TIMES_FASTER(legemm6,  "A800", 1.36, "deep",   "legemm", "sgemm"),
    TIMES_FASTER(legemm6,  "A800", 1.81, "deep",   "legemm", "plain"),
    TIMES_FASTER(legemm6,  "A800", 4.67, "deep",   "legemm", "markidis"),
    TIMES_FASTER(legemm6,  "A800", 3.76, "deep",   "legemm", "ootomo"),
    TIMES_FASTER(legemm15, "A800", 1.33, "kmeans", "legemm", "sgemm"),
    TIMES_FASTER(legemm15, "A800", 1.18, "bert",   "legemm", "sgemm"),
    TIMES_FASTER(legemm15, "A800", 1.34, "llm",    "legemm", "sgemm"),
    TIMES_FASTER(huang2,   "A100", 1.98, "square", "sgemm-tf32", "sgemm"),
    { "legemm with its pipeline over without", legemm17, "A800", 2.72,
      "pipeline", "square", "legemm", NULL, "speedup", MEAN },
    { "with asynchronous copies over without", huang4, "A100", 1.195,
      "stages", "square", "ootomo", NULL, "speedup", MEAN },
#define HIGHEST(what, source, printed, who, column)                                      \
    { what " of " who, source, "A100", printed, "recipes", "square", who, NULL, column,  \
      MAXIMUM }
    HIGHEST("TFLOPS",      ootomo14, 51,   "ootomo",      "tflops"),
    HIGHEST("TFLOPS",      ootomo14, 33,   "ootomo-tf32", "tflops"),
    HIGHEST("GFlop/s/W",   ootomo16, 121,  "ootomo",      "gflops_per_watt"),
    HIGHEST("GFlop/s/W",   ootomo16, 80.9, "ootomo-tf32", "gflops_per_watt"),
    HIGHEST("GFlop/s/W",   ootomo16, 67.0, "sgemm",       "gflops_per_watt"),
    { 0 }
    /* clang-format on */
};

/* --- results of a claim ----------------------------------------------------------- */

/* Whether the row, timed whole, is of the claim's runs and of that recipe or peer: single
   GEMMs of operands as they are, as in the papers. */
static bool is_of(const json_t *row, const struct claim *c, const char *who)
{
    return result_says(row, "study", c->study) && result_says(row, "shapes", c->shapes) &&
           result_says(row, "part", "whole") && result_number(row, "ms") > 0 &&
           !result_is_equilibrated(row) && result_gemms(row) == 1 &&
           (result_says(row, "recipe", who) ||
            (result_says(row, "name", who) &&
             json_is_null(json_object_get(row, "recipe"))));
}

/* The result that this one is compared with, or NULL. */
static const json_t *rival(json_t *bench, const json_t *row, const struct claim *c)
{
    for (size_t i = 0; i < json_array_size(bench); i++) {
        const json_t *x = json_array_get(bench, i);
        if (is_of(x, c, c->over) && result_same(x, row, "device") &&
            result_same(x, row, "input") && result_same(x, row, "m") &&
            result_same(x, row, "n") && result_same(x, row, "k"))
            return x;
    }
    return NULL;
}

/* What the claim counts of this row; 0: nothing. */
static double value_of(json_t *bench, const json_t *row, const struct claim *c)
{
    if (!c->over) return result_number(row, c->column);
    const json_t *other = rival(bench, row, c);
    return other ? result_number(other, "ms") / result_number(row, "ms") : 0;
}

/* Whether an earlier result is of the same kernel, by its label, and device. */
static bool seen(json_t *bench, size_t at, const struct claim *c)
{
    const json_t *row = json_array_get(bench, at);
    for (size_t i = 0; i < at; i++) {
        const json_t *x = json_array_get(bench, i);
        if (is_of(x, c, c->who) && result_same(x, row, "label") &&
            result_same(x, row, "device"))
            return true;
    }
    return false;
}

/* The claim beside all results of one kernel and device, the first of which is `row`. */
static void add(json_t *rows, json_t *bench, json_t *row, const struct claim *c)
{
    double sum = 0, most = 0;
    int points = 0;
    for (size_t i = 0; i < json_array_size(bench); i++) {
        const json_t *x = json_array_get(bench, i);
        if (!is_of(x, c, c->who) || !result_same(x, row, "label") ||
            !result_same(x, row, "device"))
            continue;
        const double value = value_of(bench, x, c);
        sum += value;
        points += value > 0;
        if (value > most) most = value;
    }
    if (!points) return;
    json_array_append_new(
        rows, json_pack("{s:s, s:s, s:s, s:s, s:s, s:f, s:O, s:f, s:O, s:s, s:i}",
                        "claim", c->what, "how", hows[c->how], "shapes", c->shapes,
                        "source", c->source, "gpu", c->gpu, "printed", c->printed,
                        "device", json_object_get(row, "device"), "here",
                        c->how == MEAN ? sum / points : most, "kernel",
                        json_object_get(row, "label"), "over", c->over ? c->over : "",
                        "points", points));
}

json_t *claim_rows(json_t *bench)
{
    json_t *rows = json_array();
    for (const struct claim *c = claims; c->what; c++)
        for (size_t i = 0; i < json_array_size(bench); i++) {
            json_t *row = json_array_get(bench, i);
            if (is_of(row, c, c->who) && !seen(bench, i, c)) add(rows, bench, row, c);
        }
    return rows;
}
