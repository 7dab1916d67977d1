/* SPDX-License-Identifier: BSD-3-Clause */
/* Recommending a recipe for a caller's GEMM, as declared in lib/bitcut.h. */
#include "analysis/sampling/advise.h"
#include "lib/base/table.h"
#include "lib/gemm/view.h"

#include <stddef.h>
#include <string.h>

static enum bitcut_status take_options(struct advise_problem *q, const char **chip,
                                       const struct bitcut_advice_options *from,
                                       int threads, struct fault *f)
{
    struct bitcut_advice_options o = { .size = sizeof o };
    if (from) {
        static const size_t older[3] = { offsetof(struct bitcut_advice_options,
                                                  quantize_a),
                                         offsetof(struct bitcut_advice_options, chip) };
        const enum bitcut_status status =
            struct_check_since("options", from->size, sizeof o, older, f);
        if (status != BITCUT_OK) return status;
        memcpy(&o, from, from->size);
    }
    q->metric = table_find(TABLE(norm_sample_metrics),
                           o.metric ? o.metric : norm_sample_metrics[0].name);
    if (!q->metric || threads < 0 || !(o.want >= 0))
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "unknown metric, or invalid thread count or `want`");
    q->want = o.want > 0 ? o.want : q->metric->want;
    q->seed = o.seed;
    q->quantizer[0] = o.quantize_a;
    q->quantizer[1] = o.quantize_b;
    q->quantizers = o.quantizers;
    if (o.quantizers && (o.quantize_a || o.quantize_b))
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "`quantizers` cannot be combined with a quantizer");
    if (o.chip && !table_find(TABLE(chips), o.chip))
        return fault_set(f, BITCUT_BAD_ARGUMENT, "unknown chip");
    *chip = o.chip;
    return BITCUT_OK;
}

static enum bitcut_status check_gemm(const struct bitcut_gemm *g, const char *chip,
                                     struct fault *f)
{
    if (chip && g->unit)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "a GEMM with a unit has no chip");
    if (g->a.prepared || g->b.prepared)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "prepared operands are accepted by device calls only");
    if (g->d.format && !format_is_result(g->d.format))
        return fault_set(f, BITCUT_BAD_ARGUMENT, "D cannot have the format %s",
                         g->d.format->name);
    return gemm_check_operands(g, f);
}

/* The start, the steps and the operands of a caller's GEMM, and nothing else of it. */
static struct bitcut_gemm asked_of(const struct bitcut_gemm *g)
{
    struct bitcut_gemm to = gemm_of(NULL, NULL);
    to.alpha = g->alpha, to.beta = g->beta;
    to.c = g->c, to.d.format = g->d.format;
    memcpy(to.epilogue, g->epilogue, sizeof to.epilogue);
    to.start = g->start, to.scaling = g->scaling;
    to.bias = g->bias, to.bias_rows = g->bias_rows;
    to.scale_a = g->scale_a, to.scale_b = g->scale_b;
    to.scale_d = g->scale_d;
    to.clamp_low = g->clamp_low, to.clamp_high = g->clamp_high;
    to.zero_a = g->zero_a, to.zero_b = g->zero_b, to.zero_d = g->zero_d;
    to.sparsity = g->sparsity ? BITCUT_SPARSE_A : BITCUT_DENSE; /* A has the positions */
    epilogue_leave_amax(&to);
    return to;
}

/* Check that every operand is read and that no quantized operand has factors. */
static enum bitcut_status check_asked(const struct bitcut_gemm *g,
                                      const struct advise_problem *q, struct fault *f)
{
    const bool quantized = q->quantizer[0] || q->quantizer[1] || q->quantizers;
    if (!quantized) return epilogue_check_operands(g, f);
    if (!gemm_has_scales(g)) return BITCUT_OK;
    return fault_set(f, BITCUT_BAD_ARGUMENT,
                     "quantizers cannot be combined with factors of A or B");
}

/* The trial as the caller's GEMM, with all defaults filled in. */
static struct bitcut_gemm gemm_found(const struct advise_trial *t,
                                     const struct bitcut_gemm *g)
{
    static const struct bitcut_scales none = { .lines = 0 };
    struct bitcut_gemm found = t->gemm;
    found.count = g->count;
    found.m = g->m;
    found.n = g->n;
    found.k = g->k;
    found.offsets = g->offsets;
    found.offsets_of_k = g->offsets_of_k;
    found.sparsity = g->sparsity;
    found.positions = g->positions;
    found.alpha = g->alpha;
    found.beta = g->beta;
    found.a = g->a;
    found.b = g->b;
    found.c = g->c;
    found.d = g->d;
    found.bias = g->bias;
    found.scale_a = t->quantizer[0] ? none : g->scale_a;
    found.scale_b = t->quantizer[1] ? none : g->scale_b;
    found.amax = g->amax;
    memcpy(found.epilogue, g->epilogue, sizeof found.epilogue);
    gemm_settle(&found, &t->plan);
    return found;
}

static enum bitcut_status find(struct bitcut_advice *to, struct bitcut_gemm *found,
                               const struct bitcut_gemm *g,
                               const struct advise_problem *q, int threads,
                               struct fault *f)
{
    const struct progress *const progress = progress_of_thread();
    struct advise a = { .trials = 0 };
    const enum bitcut_status status =
        progress_end(advise_find(&a, q, threads, progress, f), progress, f);
    const struct advise_trial *const t = status == BITCUT_OK ? advise_best(&a) : NULL;
    if (t && to) {
        struct bitcut_advice advice = t->advice;
        advice.size = to->size;
        memcpy(to, &advice, to->size);
    }
    if (t && found) {
        const struct bitcut_gemm settled = gemm_found(t, g);
        gemm_give(found, &settled);
    }
    const bool none = status == BITCUT_OK && !t;
    advise_clear(&a);
    return none
               ? fault_set(f, BITCUT_BAD_ARGUMENT, "the recipe does not run on this unit")
               : status;
}

/* The same with the caller's matrices as they are read. */
static enum bitcut_status read_and_find(struct bitcut_advice *to,
                                        struct bitcut_gemm *found,
                                        const struct bitcut_gemm *g,
                                        struct advise_problem *q, const char *chip,
                                        int threads, struct fault *f)
{
    const char *target[ADVISE_TARGETS_MAX] = { g->unit ? g->unit->name : chip };
    const struct bitcut_gemm asked = asked_of(g);
    const int32_t zero[] = { g->zero_a, g->zero_b };
    struct gemm_data *of;
    enum bitcut_status status = check_asked(&asked, q, f);
    if (status == BITCUT_OK) status = advise_take_operands(&of, &q->pairs, g, threads, f);
    if (status != BITCUT_OK) return status;
    q->of = of;
    for (size_t i = 0; i < q->pairs && status == BITCUT_OK; i++)
        status = matrix_subtract_both(&of[i].a, &of[i].b, zero, f);
    q->gemm = &asked;
    q->recipe = g->recipe;
    q->format_d = g->d.format;
    q->target = target;
    q->targets = *target ? 1 : advise_targets(target);
    if (status == BITCUT_OK) status = find(to, found, g, q, threads, f);
    advise_clear_operands(of, q->pairs);
    return status;
}

enum bitcut_status bitcut_advise(struct bitcut_advice *to, struct bitcut_gemm *found,
                                 const struct bitcut_gemm *gemm,
                                 const struct bitcut_advice_options *options, int threads,
                                 char *why)
{
    struct advise_problem q = { .targets = 0 };
    const char *chip = NULL;
    struct bitcut_gemm g;
    struct fault f;
    static const size_t older[2] = { offsetof(struct bitcut_advice, quantize_a) };
    enum bitcut_status status =
        to ? struct_check_since("advice", to->size, sizeof *to, older, &f) : BITCUT_OK;
    if (status == BITCUT_OK) status = gemm_check_place(found, &f);
    if (status == BITCUT_OK) status = take_options(&q, &chip, options, threads, &f);
    if (status == BITCUT_OK) status = gemm_take(&g, gemm, &f);
    if (status == BITCUT_OK) status = check_gemm(&g, chip, &f);
    if (status == BITCUT_OK) status = read_and_find(to, found, &g, &q, chip, threads, &f);
    return fault_write(why, status, &f);
}
