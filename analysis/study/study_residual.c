/* Figure 1 of Ootomo and Yokota: the relative residual of methods against k. */
#include "analysis/study/study.h"

#include "analysis/error/judge.h"
#include "lib/file/source.h"
#include "emu/gemm.h"

enum { SIDE = 16, FROM = 4, TO = 18 };

static const int methods[] = { RECIPE_PLAIN,  RECIPE_MARKIDIS, RECIPE_FENG,
                               RECIPE_OOTOMO, RECIPE_LEGEMM,   RECIPE_FP32 };

enum { METHODS = sizeof methods / sizeof methods[0] };

/* One recipe on one pair of matrices: its relative residual as a row. */
static enum bitcut_status run_method(struct study_run *run,
                                     const struct bitcut_recipe *recipe,
                                     const struct matrix *a, const struct matrix *b,
                                     struct judge *j, struct fault *f)
{
    const struct bitcut_format *input =
        recipe->split ? recipe->split->word[0].format : &formats[FORMAT_F16];
    uint32_t d[SIDE * SIDE];
    double values[METRICS];
    struct bitcut_gemm g = gemm_of(recipe, unit_find("a100", input));
    const struct progress quiet = { .stop = run->progress->stop };
    const struct gemm_options options = { .threads = run->threads, .progress = &quiet };
    gemm_set_dense(&g, d, a->rows, b->cols, a->cols, a->at, b->at, NULL);
    const enum bitcut_status status = gemm_run(&g, &options, f);
    if (status == BITCUT_OK) {
        j->comparison.d = d;
        metrics_run(values, &j->comparison);
        run->row(run->context,
                 json_pack("{s:s, s:I, s:f, s:f, s:f}", "recipe", recipe->name, "k",
                           (json_int_t)a->cols, "relres", values[METRIC_RELRES],
                           "max_error", values[METRIC_MAX_ERROR], "backward_max",
                           values[METRIC_BACKWARD_MAX]));
    }
    return status;
}

/* All recipes at one k. */
static enum bitcut_status run_column(struct study_run *run, size_t k, struct fault *f)
{
    const struct progress quiet = { .stop = run->progress->stop };
    struct input urand;
    struct matrix a = { 0 }, b = { 0 };
    struct judge j = { 0 };
    enum bitcut_status status = input_parse(&urand, "urand(-1,1)", f);
    if (status == BITCUT_OK)
        status =
            source_generate(&a, &urand, INPUT_A, SIDE, k, run->seed, run->threads, f);
    if (status == BITCUT_OK)
        status =
            source_generate(&b, &urand, INPUT_B, k, SIDE, run->seed, run->threads, f);
    if (status == BITCUT_OK)
        status = judge_init(&j, &references[0], &a, &b, NULL, run->threads, &quiet, f);
    for (int i = 0; status == BITCUT_OK && i < METHODS; i++) {
        if (progress_stopped(run->progress))
            status = fault_set(f, BITCUT_CANNOT, "stopped");
        else status = run_method(run, &recipes[methods[i]], &a, &b, &j, f);
    }
    judge_clear(&j);
    matrix_clear(&a);
    matrix_clear(&b);
    return status;
}

static enum bitcut_status run_figure1(struct study_run *run, struct fault *f)
{
    enum bitcut_status status = BITCUT_OK;
    for (int i = FROM; i <= TO && status == BITCUT_OK; i++) {
        /* the work doubles from one k to the next */
        progress_report(run->progress, (size_t)1 << i, (size_t)2 << TO);
        status = run_column(run, (size_t)1 << i, f);
    }
    return status;
}

const struct study study_figure1 = {
    /* clang-format off */
    .name = "figure1",
    .what = "relative residual of six methods against k (Ootomo and Yokota, Figure 1)",
    .title = "Relative residual against k",
    .text = "C = A B with A 16 x k and B k x 16, elements uniform in (-1, 1), emulated on "
            "the unit a100 (ampere/mma.m16n8k16.f32.f16; fp32 on fma/f32). The residual is "
            "||D - C||_F / ||C||_F against the exact product (Ootomo Eq. 7). As k grows, "
            "Markidis and Feng lose to the truncating accumulator what their words keep; "
            "Ootomo's promotion to FP32 registers after every instruction avoids it; "
            "LE-GEMM does not promote. fp32 adds one product after the other; SGEMM of "
            "libraries does so in several sums.",
    .run = run_figure1,
    .plot = { .x = "k", .y = "relres", .series = "recipe",
              .x_label = "k", .y_label = "relative residual",
              .x_log = true, .y_log = true },
    /* clang-format on */
};
