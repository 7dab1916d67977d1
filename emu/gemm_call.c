/* SPDX-License-Identifier: BSD-3-Clause */
/* The public calls that compute a GEMM, FP32 or FP64 (lib/bitcut.h). */
#include "emu/fp64/fp64_gemm.h"

/* Check that a caller's GEMM can be emulated. */
static enum bitcut_status check_public(const struct bitcut_gemm *g, int threads,
                                       struct fault *f)
{
    if (g->kernel)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "a kernel requires a device; set the unit instead");
    if (g->a.prepared || g->b.prepared)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "prepared operands are accepted by device calls only");
    if (threads < 0)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "counts must not be negative");
    return BITCUT_OK;
}

const struct bitcut_unit *bitcut_gemm_unit(const struct bitcut_gemm *gemm, size_t index)
{
    struct bitcut_gemm g;
    struct gemm_plan plan;
    if (gemm_take(&g, gemm, NULL) != BITCUT_OK ||
        gemm_plan_on_any(&plan, &g, NULL) != BITCUT_OK)
        return NULL;
    return index < (size_t)plan.terms ? plan.unit[index] : NULL;
}

enum bitcut_status gemm_call(struct bitcut_gemm *ran, const struct bitcut_gemm *gemm,
                             const struct gemm_options *options, char *why)
{
    struct bitcut_gemm g;
    struct gemm_plan plan;
    struct fp64_choice by;
    struct fault f;
    enum bitcut_status status = gemm_check_place(ran, &f);
    if (status == BITCUT_OK) status = gemm_take_any(&g, gemm, &f);
    if (status == BITCUT_OK) status = check_public(&g, options->threads, &f);
    if (status == BITCUT_OK)
        status =
            g.scheme ? fp64_gemm_run(&by, &g, options, &f) : gemm_run(&g, options, &f);
    if (status != BITCUT_OK) return fault_write(why, status, &f);
    if (g.scheme) g.parts = by.parts;
    else if (gemm_plan_on_any(&plan, &g, NULL) == BITCUT_OK) gemm_settle(&g, &plan);
    gemm_give(ran, &g);
    return status;
}

enum bitcut_status bitcut_gemm(struct bitcut_gemm *ran, const struct bitcut_gemm *gemm,
                               int threads, char *why)
{
    return gemm_call(
        ran, gemm,
        &(struct gemm_options){ .threads = threads, .progress = progress_of_thread() },
        why);
}
