#include "analysis/study/claim.h"

#include "analysis/study/distinct.h"
#include "analysis/study/results.h"

#include <stdlib.h>

/* --- the table -------------------------------------------------------------------- */

static const char *const hows[] = { [MEAN] = "mean", [MAXIMUM] = "maximum" };

static const char legemm6[] = "LE-GEMM, Table 6", legemm15[] = "LE-GEMM, section 5.5",
                  legemm17[] = "LE-GEMM, text of Fig. 17",
                  ootomo14[] = "Ootomo and Yokota, text of Fig. 14",
                  ootomo16[] = "Ootomo and Yokota, text of Fig. 16",
                  huang2[] = "Huang et al., section 3.2",
                  huang4[] = "Huang et al., section 3.5";

const struct claim claims[] = {
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

/* All results, by the kernel and device of each, by its label; and by what it has in
   common with those that it is compared with. */
struct runs {
    json_t *bench;
    struct distinct kernels, cases;
};

/* What a claim counts of the results of one kernel and device. */
struct count {
    double sum, most;
    int points;
    json_t *first; /* NULL: there are none */
};

/* The first result of each case that others are compared with. */
static void find_rivals(json_t **rival, const struct runs *r, const struct claim *c)
{
    for (size_t i = r->cases.rows; i-- > 0;) {
        json_t *row = json_array_get(r->bench, i);
        if (c->over && is_of(row, c, c->over)) rival[r->cases.group[i]] = row;
    }
}

/* What the claim counts of this row; 0: nothing. */
static double value_of(const json_t *row, const json_t *rival, const struct claim *c)
{
    if (!c->over) return result_number(row, c->column);
    return rival ? result_number(rival, "ms") / result_number(row, "ms") : 0;
}

static void count_runs(struct count *count, json_t *const *rival, const struct runs *r,
                       const struct claim *c)
{
    for (size_t i = 0; i < r->kernels.rows; i++) {
        json_t *row = json_array_get(r->bench, i);
        struct count *of = &count[r->kernels.group[i]];
        if (!is_of(row, c, c->who)) continue;
        const double value = value_of(row, rival[r->cases.group[i]], c);
        if (!of->first) of->first = row;
        of->sum += value;
        of->points += value > 0;
        if (value > of->most) of->most = value;
    }
}

/* The claim beside all results of one kernel and device. */
static json_t *claim_row(const struct claim *c, const struct count *x)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:f, s:O, s:f, s:O, s:s, s:i}", "claim",
                     c->what, "how", hows[c->how], "shapes", c->shapes, "source",
                     c->source, "gpu", c->gpu, "printed", c->printed, "device",
                     json_object_get(x->first, "device"), "here",
                     c->how == MEAN ? x->sum / x->points : x->most, "kernel",
                     json_object_get(x->first, "label"), "over", c->over ? c->over : "",
                     "points", x->points);
}

/* In the order of the first result of each kernel that counts. */
static void add(json_t *rows, const struct runs *r, const struct claim *c)
{
    json_t **rival = distinct_array(r->cases.groups, sizeof(json_t *));
    struct count *count = distinct_array(r->kernels.groups, sizeof *count);
    find_rivals(rival, r, c);
    count_runs(count, rival, r, c);
    for (size_t i = 0; i < r->kernels.rows; i++) {
        const struct count *x = &count[r->kernels.group[i]];
        if (x->points && x->first == json_array_get(r->bench, i))
            json_array_append_new(rows, claim_row(c, x));
    }
    free(count);
    free(rival);
}

json_t *claim_rows(json_t *bench)
{
    static const char *const kernel[] = { "label", "device", NULL };
    static const char *const same[] = { "device", "input", "m", "n", "k", NULL };
    json_t *rows = json_array();
    struct runs r = { .bench = bench };
    distinct_init(&r.kernels, bench, kernel);
    distinct_init(&r.cases, bench, same);
    for (const struct claim *c = claims; c->what; c++) add(rows, &r, c);
    distinct_clear(&r.cases);
    distinct_clear(&r.kernels);
    return rows;
}
