/* SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/cpu/host_peers.h"

#include "gpu/cpu/host_matmul.h"
#include "gpu/module/layout.h"
#include "lib/base/text.h"

#include <limits.h>
#include <stdio.h>

/* --- one GEMM --------------------------------------------------------------------- */

/* An operand, by lines that are `ld` elements apart: rows of A and of B, or columns of B
   if B is transposed. */
struct factor {
    const void *at;
    size_t ld;
};

/* D = A B, row-major; B is transposed if there are parts. */
struct product {
    size_t m, n, k;
    struct factor a, b;
    float *d;
    bool turned;
    struct host_libraries *libraries;
};

/* Run the product by a function of a library.  Returns 0, or the library's status. */
typedef int run_function(void (*function)(void), const struct product *x);

enum { ROW_MAJOR = 101, AS_IT_IS = 111, TURNED = 112 };

typedef void sgemm(int order, int turn_a, int turn_b, int m, int n, int k, float alpha,
                   const float *a, int lda, const float *b, int ldb, float beta, float *c,
                   int ldc);

static int run_cblas(void (*function)(void), const struct product *x)
{
    ((sgemm *)function)(ROW_MAJOR, AS_IT_IS, AS_IT_IS, (int)x->m, (int)x->n, (int)x->k, 1,
                        x->a.at, (int)x->a.ld, x->b.at, (int)x->b.ld, 0, x->d, (int)x->n);
    return 0;
}

/* FP32 sums of products of bf16 parts. */
typedef void bgemm(int order, int turn_a, int turn_b, int m, int n, int k, float alpha,
                   const uint16_t *a, int lda, const uint16_t *b, int ldb, float beta,
                   float *c, int ldc);

static int run_cblas_parts(void (*function)(void), const struct product *x)
{
    ((bgemm *)function)(ROW_MAJOR, AS_IT_IS, TURNED, (int)x->m, (int)x->n, (int)x->k, 1,
                        x->a.at, (int)x->a.ld, x->b.at, (int)x->b.ld, 0, x->d, (int)x->n);
    return 0;
}

/* oneDNN's function for any type of A and B; row-major. */
typedef int dnnl_gemm(char turn_a, char turn_b, int64_t m, int64_t n, int64_t k,
                      float alpha, const void *a, int64_t lda, const void *b, int64_t ldb,
                      float beta, float *c, int64_t ldc);

static int run_dnnl(void (*function)(void), const struct product *x)
{
    return ((dnnl_gemm *)function)(
        'N', x->turned ? 'T' : 'N', (int64_t)x->m, (int64_t)x->n, (int64_t)x->k, 1,
        x->a.at, (int64_t)x->a.ld, x->b.at, (int64_t)x->b.ld, 0, x->d, (int64_t)x->n);
}

/* The matmul of this shape is made at the first call. */
static int run_matmul(void (*function)(void), const struct product *x)
{
    struct host_matmul **const at = &x->libraries->matmul;
    int status = 0;
    (void)function;
    if (!*at || !host_matmul_is(*at, x->m, x->n, x->k)) {
        host_matmul_free(*at);
        *at = host_matmul_make(&status, x->libraries->handle[BLAS_ONEDNN], x->m, x->n,
                               x->k);
    }
    return *at ? host_matmul_run(*at, x->d, x->a.at, x->b.at) : status;
}

/* --- the table -------------------------------------------------------------------- */

/* How a peer is called. */
struct call {
    enum blas_name library;
    const char *function;
    run_function *run;
};

static const struct call openblas = { BLAS_OPENBLAS, "cblas_sgemm", run_cblas },
                         blis = { BLAS_BLIS, "cblas_sgemm", run_cblas },
                         mkl = { BLAS_MKL, "cblas_sgemm", run_cblas },
                         mkl_parts = { BLAS_MKL, "cblas_gemm_bf16bf16f32",
                                       run_cblas_parts },
                         onednn = { BLAS_ONEDNN, "dnnl_sgemm", run_dnnl },
                         onednn_fast = { BLAS_ONEDNN,
                                         "dnnl_primitive_attr_set_fpmath_mode",
                                         run_matmul },
                         onednn_parts = { BLAS_ONEDNN, "dnnl_gemm_bf16bf16f32",
                                          run_dnnl };

#define F32 FORMAT_F32, false

const struct gpu_peer host_peers[] = {
    /* clang-format off */
    { "openblas",    "OpenBLAS, FP32",                           F32, NULL,   GPU_PEER_SINGLE, &openblas     },
    { "blis",        "BLIS, FP32",                               F32, NULL,   GPU_PEER_SINGLE, &blis         },
    { "mkl",         "MKL, FP32",                                F32, NULL,   GPU_PEER_SINGLE, &mkl          },
    { "onednn",      "oneDNN, FP32",                             F32, NULL,   GPU_PEER_SINGLE, &onednn       },
    { "onednn-fast", "oneDNN, FP32 in and out, a matmul of fpmath mode bf16", F32, NULL, GPU_PEER, &onednn_fast },
    { "mkl-bf16",    "MKL, bf16 in, FP32 accumulated and out",   F32, "bf16", GPU_PEER_HALF,   &mkl_parts    },
    { "onednn-bf16", "oneDNN, bf16 in, FP32 accumulated and out", F32, "bf16", GPU_PEER_HALF,  &onednn_parts },
    { 0 }
    /* clang-format on */
};

/* --- the libraries ---------------------------------------------------------------- */

/* NULL: the library does not have the function, or is not installed. */
typedef void library_function(void);

static library_function *function_of(const struct call *call, void *handle)
{
    library_function *function;
    blas_library_find(&function, handle, call->function);
    return function;
}

bool host_peer_absent(const struct gpu_peer *peer)
{
    const struct call *const call = peer->own;
    void *const handle = blas_library_open(&blas_libraries[call->library]);
    return !function_of(call, handle) ||
           (call->run == run_matmul && !host_matmul_here(handle));
}

/* A text such as "OpenBLAS 0.3.21 Cooperlake, oneDNN 2.6.3 avx512_core_bf16; no BLIS,
   MKL". */
void host_libraries_open(struct host_libraries *x, struct gpu_library *to, int threads)
{
    char here[GPU_TEXT_MAX] = "", lost[GPU_TEXT_MAX] = "", text[100];
    x->matmul = NULL;
    for (int i = 0; i < BLAS_LIBRARIES; i++) {
        const struct blas_library *const row = &blas_libraries[i];
        x->handle[i] = blas_library_open(row);
        if (x->handle[i]) {
            blas_library_thread(row, x->handle[i], threads);
            blas_library_describe(text, sizeof text, row, x->handle[i], threads);
        }
        text_append(x->handle[i] ? here : lost, GPU_TEXT_MAX,
                    x->handle[i] ? text : row->name);
    }
    to->here = *here != 0;
    snprintf(to->text, sizeof to->text, "%.200s%s%.50s", *here ? here : "none",
             *lost ? "; no " : "", lost);
}

void host_libraries_close(struct host_libraries *x) { host_matmul_free(x->matmul); }

/* --- running ---------------------------------------------------------------------- */

/* An operand of GEMM i. */
static struct factor factor_of(const struct gpu_work *w, const struct gpu_peer *peer,
                               enum bitcut_operand which, size_t i)
{
    const struct operand x = operand_of(w, which);
    const struct bitcut_matrix *const m = x.matrix;
    if (!peer->split) return (struct factor){ matrix_nth(m, i), m->ld };
    return (struct factor){ (const char *)m->prepared + i * m->prepared_stride,
                            parts_line_bytes(&x) / sizeof(uint16_t) };
}

int host_peer_run(struct host_libraries *libraries, const struct gpu_peer *peer,
                  const struct gpu_work *w, char *fault)
{
    const struct bitcut_gemm *const g = &w->gemm;
    const struct call *const call = peer->own;
    library_function *const function =
        function_of(call, libraries->handle[call->library]);
    int status = 0;
    snprintf(fault, GPU_FAULT_MAX, "%s: unsupported size", call->function);
    if (g->m > INT_MAX || g->n > INT_MAX || g->k > INT_MAX - GPU_PARTS_RUN) return 1;
    for (size_t i = 0; i < g->count && !status; i++) {
        const struct product x = { .m = g->m,
                                   .n = g->n,
                                   .k = g->k,
                                   .a = factor_of(w, peer, BITCUT_A, i),
                                   .b = factor_of(w, peer, BITCUT_B, i),
                                   .d = (float *)g->d.to + i * g->d.stride,
                                   .turned = peer->split,
                                   .libraries = libraries };
        status = call->run(function, &x);
    }
    snprintf(fault, GPU_FAULT_MAX, "%s failed with status %d", call->function, status);
    return status;
}
