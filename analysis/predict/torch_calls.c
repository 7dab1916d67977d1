/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of PyTorch 2.11 on CUDA: which function of cuBLAS each makes, and with which
   layouts.  From PyTorch's source (aten/src/ATen/native/cuda/Blas.cpp, ScaledBlas.cpp)
   and from its results for recorded shapes (data/libraries/plans, torch-*).

   cublasGemmEx stands for the functions that have no epilogue (cublasSgemm,
   cublasGemmStridedBatchedEx); its workspace has 32 MiB.  cublasLtMatmul adds a bias in
   its epilogue, and has a workspace of 1 MiB. */
#include "analysis/predict/cublas.h"
#include "analysis/predict/library.h"

#include "lib/gemm/epilogue.h"

enum {
    HALF = 1 << CUBLAS_HALF,
    FP8 = 1 << CUBLAS_FP8,
    TF32 = 1 << CUBLAS_TF32,
    FP32 = 1 << CUBLAS_FP32,
    INT8 = 1 << CUBLAS_INT8
};

struct torch_call {
    unsigned operands; /* types of the call                                      */
    bool has_wide;     /* whether D of f16 and bf16 may be FP32 (out_dtype)      */
    bool has_bias;     /* one number for each column                             */
    bool has_c;        /* a matrix, with alpha and beta                          */
    bool has_batches;
    bool is_light; /* whether it always calls cublasLtMatmul                 */
    bool has_scales;
    size_t m, n, k; /* m is at least this, n and k are multiples of these      */
};

static const struct torch_call
    mm = { .operands = HALF | TF32 | FP32, .has_wide = true },
    linear = { .operands = HALF | TF32 | FP32, .has_bias = true },
    addmm = { .operands = HALF | TF32 | FP32, .has_bias = true, .has_c = true },
    bmm = { .operands = HALF | TF32 | FP32, .has_batches = true },
    scaled_mm = { .operands = FP8,
                  .has_bias = true,
                  .is_light = true,
                  .has_scales = true,
                  .n = 16,
                  .k = 16 },
    int_mm = { .operands = INT8, .is_light = true, .m = 17, .n = 8, .k = 8 };

const struct library_call torch_calls[] = {
    { "mm", "torch.mm(A, B)", "bf16", NULL, &mm },
    { "linear", "torch.nn.functional.linear(A, W, bias), where B is the transpose of W",
      "bf16", "NT", &linear },
    { "addmm", "torch.addmm(C, A, B) of a matrix C, or of a bias for each column", "bf16",
      NULL, &addmm },
    { "bmm", "torch.bmm(A, B)", "bf16", NULL, &bmm },
    { "_scaled_mm", "torch._scaled_mm(A, B) with one scale for A and one for B",
      "e4m3.bf16", "NT", &scaled_mm },
    { "_int_mm", "torch._int_mm(A, B)", "s8.s32", NULL, &int_mm },
    { 0 }
};

/* --- checks ----------------------------------------------------------------------- */

static enum bitcut_status refuse(struct fault *f, const struct prediction *x,
                                 const char *what)
{
    return fault_set(f, BITCUT_UNSUPPORTED, "%s %s", x->made->name, what);
}

static enum bitcut_status check(const struct prediction *x,
                                const struct cublas_types *types, struct fault *f)
{
    enum { INT_K = 128 };
    const struct torch_call *const t = x->made->how;
    const struct bitcut_gemm *const g = &x->call;
    const bool has_c = g->c.at || g->beta << 1;
    if (!(t->operands & 1u << types->operands) ||
        (types->operands == CUBLAS_HALF && !types->is_short && !t->has_wide))
        return refuse(f, x, "is not predicted for these types");
    if (gemm_has_bias(g) && !t->has_bias) return refuse(f, x, "has no bias");
    if (has_c && !t->has_c) return refuse(f, x, "has no C");
    if (has_c && gemm_has_bias(g)) return refuse(f, x, "adds a C or a bias, not both");
    if (gemm_has_scales(g) && !t->has_scales) return refuse(f, x, "has no factors");
    if (g->count > 1 && !t->has_batches) return refuse(f, x, "has no batches");
    if (g->m < t->m || (t->n && g->n % t->n) || (t->k && g->k % t->k))
        return refuse(f, x, "is refused by PyTorch for these sizes");
    if (types->operands == CUBLAS_INT8 && g->k < INT_K && g->b.layout == BITCUT_ROW_MAJOR)
        return refuse(f, x, "is refused by cuBLAS for some B by rows with k below 128");
    return BITCUT_OK;
}

/* --- the call of cuBLAS ----------------------------------------------------------- */

/* PyTorch takes a matrix with one row or column as one by rows. */
static void take_vectors_by_rows(struct bitcut_gemm *g)
{
    struct bitcut_matrix *const side[] = { &g->a, &g->b };
    const size_t least[] = { g->m < g->k ? g->m : g->k, g->n < g->k ? g->n : g->k };
    for (int i = 0; i < 2; i++)
        if (least[i] == 1 && !side[i]->ld) side[i]->layout = BITCUT_ROW_MAJOR;
}

static enum bitcut_layout other(enum bitcut_layout x)
{
    return x == BITCUT_ROW_MAJOR ? BITCUT_COLUMN_MAJOR : BITCUT_ROW_MAJOR;
}

/* The transpose of D is B' A'. */
static void transpose(struct bitcut_gemm *g)
{
    const struct bitcut_matrix a = g->a;
    const size_t m = g->m;
    g->m = g->n, g->n = m;
    g->a = g->b, g->b = a;
    g->a.layout = other(g->a.layout), g->b.layout = other(g->b.layout);
}

enum bitcut_status torch_predict(struct prediction *x, struct fault *f)
{
    const struct torch_call *const t = x->made->how;
    const bool has_bias = gemm_has_bias(&x->call),
               is_light = t->is_light || (has_bias && x->call.n > 1 && x->call.k > 1);
    struct cublas_call call = { .g = x->call,
                                .is_small = is_light,
                                .adds_c = !is_light,
                                .bias_is_c = has_bias && !is_light };
    const enum bitcut_status status = check(x, cublas_types_of(x), f);
    if (status != BITCUT_OK) return status;
    if (call.g.count == 1) take_vectors_by_rows(&call.g);
    else if (call.g.n == 1) transpose(&call.g);
    x->function = is_light            ? "cublasLtMatmul with a workspace of 1 MiB"
                  : call.g.count == 1 ? "cublasGemmEx with a workspace of 32 MiB"
                                      : "cublasGemmStridedBatchedEx with a workspace of "
                                        "32 MiB";
    return cublas_predict_call(x, &call, f);
}
