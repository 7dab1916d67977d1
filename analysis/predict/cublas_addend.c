/* SPDX-License-Identifier: BSD-3-Clause */
/* How cuBLAS 13.1 on an H200 adds C, a bias and factors to the product: rules that were
   compared with results of PyTorch 2.11 (data/libraries/plans, torch-*). */
#include "analysis/predict/cublas.h"

#include "lib/base/size.h"
#include "lib/gemm/epilogue.h"
#include "lib/number/fma.h"

#include <string.h>

static enum bitcut_status refuse(struct fault *f, const char *what)
{
    return fault_set(f, BITCUT_UNSUPPORTED, "%s", what);
}

bool cublas_has_bias(const struct cublas_call *c) { return gemm_has_bias(&c->g); }

bool cublas_has_c(const struct cublas_call *c) { return c->g.beta << 1 || c->g.c.at; }

/* --- C ---------------------------------------------------------------------------- */

/* How the kernels of an algorithm add C.  ONLY_ONES: recorded for alpha = beta = 1 alone, for
   which the other ways are the same.  APART: alpha times the sum is rounded to FP32 first. */
enum addend { NONE, ONLY_ONES, TOGETHER, APART };

/* For D in FP32: algorithms with one sum, and with slices. */
static const struct way {
    uint32_t id;
    enum addend one, slices;
} ways[] = {
    { 11, ONLY_ONES, NONE },    { 13, ONLY_ONES, NONE }, { 20, APART, APART },
    { 21, TOGETHER, APART },    { 23, APART, APART },    { 43, TOGETHER, NONE },
    { 55, TOGETHER, TOGETHER }, { 63, TOGETHER, NONE },
};

/* Variants of gemv for which a C was recorded. */
static const unsigned char vectors[] = { 10, 48, 74, 75, 94, 102 };

static enum addend way_of(const struct cublas_fields *x, bool is_short)
{
    const bool is_split = x->splits > 1;
    if (is_split && x->scheme == CUBLAS_IN_PLACE) return NONE;
    if (x->id == 13 && !memchr(vectors, (int)x->custom, sizeof vectors)) return NONE;
    if (is_short && x->id == 24) return ONLY_ONES;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (ways[i].id == x->id) {
            const enum addend way = is_split ? ways[i].slices : ways[i].one;
            return is_short && way ? ONLY_ONES : way;
        }
    return NONE;
}

static void set_steps(struct bitcut_gemm *g, enum bitcut_step a, enum bitcut_step b,
                      enum bitcut_step c)
{
    const unsigned char steps[] = { (unsigned char)a, (unsigned char)b, (unsigned char)c,
                                    BITCUT_STEP_END };
    memcpy(g->epilogue, steps, sizeof steps);
}

/* Whether nvjet computes every product of these sizes and rows of A. */
static bool is_aligned(const struct bitcut_gemm *g)
{
    return g->n % 8 == 0 && g->k % 8 == 0 && g->a.layout == BITCUT_ROW_MAJOR;
}

/* nvjet rounds alpha times the sum to D and adds C, if beta is 1 and k has no slices. */
static void add_by_nvjet(struct bitcut_gemm *g, bool is_split, bool is_one, bool is_bias)
{
    const enum bitcut_step last = is_bias ? BITCUT_STEP_BIAS : BITCUT_STEP_C;
    if (is_one && !is_split) set_steps(g, BITCUT_STEP_ALPHA, BITCUT_STEP_ROUND, last);
    else if (is_bias) set_steps(g, BITCUT_STEP_BIAS, BITCUT_STEP_END, BITCUT_STEP_END);
    else if (is_split) set_steps(g, BITCUT_STEP_ALPHA, BITCUT_STEP_C, BITCUT_STEP_END);
    else set_steps(g, BITCUT_STEP_ALPHA_C, BITCUT_STEP_END, BITCUT_STEP_END);
}

/* C of cublasGemmEx, or a bias that it takes as C.  Sizes determine the algorithm up to
   what the sum does not depend on: if k has no slices, several algorithms add C
   differently. */
static enum bitcut_status add_c(struct bitcut_gemm *g, const struct cublas_call *c,
                                const struct cublas_types *types,
                                const struct cublas_fields *fields, const char *told,
                                struct fault *f)
{
    const uint32_t beta = c->bias_is_c ? F32_ONE : c->g.beta;
    const bool ones = c->g.alpha == F32_ONE && beta == F32_ONE,
               is_row = c->g.a.layout == BITCUT_ROW_MAJOR,
               is_known = told || fields->splits > 1;
    if (types->operands == CUBLAS_HALF && !types->is_short)
        return refuse(f, "C in FP32 of f16 or bf16 products is not predicted");
    if (!told && types->is_short && (!is_row || c->g.n == 1))
        return refuse(f, "the sizes do not tell how C is added; give the fields");
    if (fields->id == 66 && (told || is_aligned(&c->g))) {
        if (c->bias_is_c && !ones && fields->splits > 1)
            return refuse(f, "alpha other than 1 with a bias is not predicted here");
        add_by_nvjet(g, fields->splits > 1, beta == F32_ONE, c->bias_is_c);
        return BITCUT_OK;
    }
    const enum addend way = fields->id == 66 ? ONLY_ONES : way_of(fields, types->is_short);
    if (way == NONE) return refuse(f, "no rule for C with this algorithm");
    if (!ones && (way == ONLY_ONES || c->bias_is_c || !is_known))
        return refuse(f, "alpha and beta other than 1 are not predicted for this algorithm, "
                         "or need its fields");
    if (c->bias_is_c) set_steps(g, BITCUT_STEP_BIAS, BITCUT_STEP_END, BITCUT_STEP_END);
    else if (way == APART) set_steps(g, BITCUT_STEP_ALPHA, BITCUT_STEP_C, BITCUT_STEP_END);
    else set_steps(g, BITCUT_STEP_ALPHA_C, BITCUT_STEP_END, BITCUT_STEP_END);
    return BITCUT_OK;
}

/* --- factors ---------------------------------------------------------------------- */

static bool is_one_factor(const struct bitcut_scales *s)
{
    return !s->lines && !s->depth;
}

/* A factor for all of A and one for all of B. */
static enum bitcut_status scale(struct bitcut_gemm *g, const struct cublas_call *c,
                                const struct cublas_types *types, struct fault *f)
{
    if (types->operands != CUBLAS_FP8 || !is_one_factor(&c->g.scale_a) ||
        !is_one_factor(&c->g.scale_b))
        return refuse(f, "of factors only one for all of A and one for all of B are "
                         "predicted, of FP8");
    if (cublas_has_bias(c)) return refuse(f, "factors with a bias are not predicted");
    set_steps(g, BITCUT_STEP_SCALES_C, BITCUT_STEP_END, BITCUT_STEP_END);
    return BITCUT_OK;
}

/* --- alpha ------------------------------------------------------------------------ */

/* alpha with the bias of cublasLtMatmul. */
static enum bitcut_status multiply(struct bitcut_gemm *g, const struct cublas_call *c,
                                   const struct cublas_fields *fields, const char *told,
                                   struct fault *f)
{
    if (!c->is_small || !cublas_has_bias(c))
        return refuse(f, "alpha other than 1 is predicted with a C or a bias alone");
    if (fields->id != 66 || !(told || is_aligned(&c->g)))
        return refuse(f, "alpha other than 1 with a bias is predicted for nvjet alone");
    set_steps(g, BITCUT_STEP_ALPHA_C, BITCUT_STEP_BIAS, BITCUT_STEP_END);
    return BITCUT_OK;
}

enum bitcut_status cublas_add(struct bitcut_gemm *g, const struct cublas_call *c,
                              const struct cublas_types *types,
                              const struct cublas_fields *fields, const char *told,
                              struct fault *f)
{
    const bool has_c = cublas_has_c(c);
    if (has_c && !c->adds_c) return refuse(f, "a C is not predicted for this call");
    if (gemm_has_scales(&c->g)) return scale(g, c, types, f);
    if (types->operands == CUBLAS_INT8)
        return has_c || cublas_has_bias(c) || c->g.alpha != F32_ONE
                   ? refuse(f, "of integers only the product is predicted")
                   : BITCUT_OK;
    if (has_c || c->bias_is_c) return add_c(g, c, types, fields, told, f);
    return c->g.alpha == F32_ONE ? BITCUT_OK : multiply(g, c, fields, told, f);
}
