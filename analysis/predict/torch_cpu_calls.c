/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of PyTorch 1.13 on a processor, with OpenBLAS: which call of SGEMM each makes.  From
   PyTorch's source (aten/src/ATen/native/LinearAlgebra.cpp) and from its results, with which
   python/tests/test_predict.py compares. */
#include "analysis/predict/library.h"

#include "lib/gemm/epilogue.h"
#include "lib/number/fma.h"

struct cpu_call {
    bool has_bias, has_c;
};

static const struct cpu_call mm = { false, false }, linear = { true, false },
                             addmm = { true, true };

const struct library_call torch_cpu_calls[] = {
    { "mm", "torch.mm(A, B)", "f32", NULL, &mm },
    { "linear", "torch.nn.functional.linear(A, W, bias), where B is the transpose of W",
      "f32", "NT", &linear },
    { "addmm", "torch.addmm(C, A, B) of a matrix C, or of a bias for each column", "f32",
      NULL, &addmm },
    { 0 }
};

/* Steps that add C, which has the bias in each row, add the bias. */
static void take_bias(struct bitcut_gemm *g)
{
    if (g->start == BITCUT_START_SLICE_C) g->start = BITCUT_START_SLICE_BIAS;
    for (unsigned char *step = g->epilogue; *step; step++)
        if (*step == BITCUT_STEP_ALPHA_C || *step == BITCUT_STEP_C_APART)
            *step = BITCUT_STEP_BIAS;
}

enum bitcut_status torch_cpu_predict(struct prediction *x, struct fault *f)
{
    const struct cpu_call *const t = x->made->how;
    struct bitcut_gemm *const g = &x->call;
    const bool has_bias = gemm_has_bias(g), has_c = g->c.at || g->beta << 1;
    if ((has_bias && !t->has_bias) || (has_c && !t->has_c) || (has_bias && has_c))
        return fault_set(f, BITCUT_UNSUPPORTED, "%s has no such C or bias", x->made->name);
    if (g->alpha != F32_ONE && (has_bias || !has_c))
        return fault_set(f, BITCUT_UNSUPPORTED, "alpha other than 1 is predicted with a C "
                                                "alone");
    if (g->n == 1)
        return fault_set(f, BITCUT_UNSUPPORTED, "a D with one column is not predicted");
    if (has_bias) {
        g->bias = (struct bitcut_matrix){ .at = NULL };
        g->beta = F32_ONE;
    }
    x->function = "sgemm_ of OpenBLAS 0.3.21";
    const enum bitcut_status status = openblas_predict(x, f);
    for (size_t i = 0; has_bias && status == BITCUT_OK && i < x->computations; i++)
        take_bias(&x->computation[i]);
    return status;
}
