#include "gpu/host/host_peers.h"

#include "gpu/blas_library.h"
#include "gpu/layout.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* --- one GEMM --------------------------------------------------------------------- */

/* An operand, by lines of so many elements: of A rows, of B rows, or of `turned` B
   columns. */
struct factor {
    const void *at;
    size_t ld;
};

/* D = A B, row-major; B is turned where there are words. */
struct product {
    size_t m, n, k;
    struct factor a, b;
    float *d;
    bool turned;
};

/* Run it by a function of a library: 0, or its status. */
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

/* Sums in FP32 of bf16 words. */
typedef void bgemm(int order, int turn_a, int turn_b, int m, int n, int k, float alpha,
                   const uint16_t *a, int lda, const uint16_t *b, int ldb, float beta,
                   float *c, int ldc);

static int run_cblas_words(void (*function)(void), const struct product *x)
{
    ((bgemm *)function)(ROW_MAJOR, AS_IT_IS, TURNED, (int)x->m, (int)x->n, (int)x->k, 1,
                        x->a.at, (int)x->a.ld, x->b.at, (int)x->b.ld, 0, x->d, (int)x->n);
    return 0;
}

/* oneDNN's, of any type of A and B; row-major. */
typedef int dnnl_gemm(char turn_a, char turn_b, int64_t m, int64_t n, int64_t k,
                      float alpha, const void *a, int64_t lda, const void *b, int64_t ldb,
                      float beta, float *c, int64_t ldc);

static int run_dnnl(void (*function)(void), const struct product *x)
{
    return ((dnnl_gemm *)function)(
        'N', x->turned ? 'T' : 'N', (int64_t)x->m, (int64_t)x->n, (int64_t)x->k, 1,
        x->a.at, (int64_t)x->a.ld, x->b.at, (int64_t)x->b.ld, 0, x->d, (int64_t)x->n);
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
                         mkl_words = { BLAS_MKL, "cblas_gemm_bf16bf16f32",
                                       run_cblas_words },
                         onednn = { BLAS_ONEDNN, "dnnl_sgemm", run_dnnl },
                         onednn_words = { BLAS_ONEDNN, "dnnl_gemm_bf16bf16f32",
                                          run_dnnl };

#define F32 FORMAT_F32, false

const struct gpu_peer host_peers[] = {
    /* clang-format off */
    { "openblas",    "OpenBLAS, FP32",                           F32, NULL,   GPU_PEER_SINGLE, &openblas     },
    { "blis",        "BLIS, FP32",                               F32, NULL,   GPU_PEER_SINGLE, &blis         },
    { "mkl",         "MKL, FP32",                                F32, NULL,   GPU_PEER_SINGLE, &mkl          },
    { "onednn",      "oneDNN, FP32",                             F32, NULL,   GPU_PEER_SINGLE, &onednn       },
    { "mkl-bf16",    "MKL, bf16 in, FP32 accumulated and out",   F32, "bf16", GPU_PEER_HALF,   &mkl_words    },
    { "onednn-bf16", "oneDNN, bf16 in, FP32 accumulated and out", F32, "bf16", GPU_PEER_HALF,  &onednn_words },
    { 0 }
    /* clang-format on */
};

/* --- the libraries ---------------------------------------------------------------- */

/* Of each, open or not here. */
static struct {
    void *handle;
    bool opened;
} libraries[BLAS_LIBRARIES];

static void *handle_of(enum blas_name name)
{
    if (!libraries[name].opened)
        libraries[name].handle = blas_library_open(&blas_libraries[name]);
    libraries[name].opened = true;
    return libraries[name].handle;
}

/* NULL: it is not there. */
static void (*function_of(const struct call *call))(void)
{
    void (*function)(void);
    blas_library_find(&function, handle_of(call->library), call->function);
    return function;
}

bool host_peer_absent(const struct gpu_peer *peer) { return !function_of(peer->own); }

/* "OpenBLAS 0.3.21 Cooperlake, oneDNN 2.6.3 AVX512_CORE_BF16; no BLIS, MKL" */
void host_peers_begin(struct gpu_library *to, int threads)
{
    char here[GPU_TEXT_MOST] = "", lost[80] = "";
    for (int i = 0; i < BLAS_LIBRARIES; i++) {
        const struct blas_library *const row = &blas_libraries[i];
        void *const handle = handle_of((enum blas_name)i);
        char *const at = handle ? here + strlen(here) : lost + strlen(lost);
        const size_t left =
            (size_t)((handle ? here + sizeof here : lost + sizeof lost) - at);
        char text[100];
        if (handle) blas_library_thread(row, handle, threads);
        if (handle) blas_library_say(text, sizeof text, row, handle, threads);
        else snprintf(text, sizeof text, "%s", row->name);
        snprintf(at, left, "%s%s", at == here || at == lost ? "" : ", ", text);
    }
    to->here = *here != 0;
    snprintf(to->text, sizeof to->text, "%s%s%s", *here ? here : "none",
             *lost ? "; no " : "", lost);
}

/* --- running ---------------------------------------------------------------------- */

/* An operand of GEMM i. */
static struct factor factor_of(const struct gpu_work *w, const struct gpu_peer *peer,
                               enum bitcut_operand which, size_t i)
{
    const struct operand x = operand_of(w, which);
    const struct bitcut_matrix *const m = x.matrix;
    if (!peer->split) return (struct factor){ matrix_nth(m, i), m->ld };
    return (struct factor){ (const char *)m->words + i * m->words_stride,
                            words_line_bytes(&x) / sizeof(uint16_t) };
}

int host_peer_run(const struct gpu_peer *peer, const struct gpu_work *w, char *fault)
{
    const struct bitcut_gemm *const g = &w->gemm;
    const struct call *const call = peer->own;
    int status = 0;
    snprintf(fault, GPU_FAULT_MOST, "no %s", blas_libraries[call->library].name);
    if (host_peer_absent(peer)) return 1;
    snprintf(fault, GPU_FAULT_MOST, "%s: not of such a size", call->function);
    if (g->m > INT_MAX || g->n > INT_MAX || g->k > INT_MAX - GPU_WORDS_RUN) return 1;
    for (size_t i = 0; i < g->count && !status; i++) {
        const struct product x = { .m = g->m,
                                   .n = g->n,
                                   .k = g->k,
                                   .a = factor_of(w, peer, BITCUT_A, i),
                                   .b = factor_of(w, peer, BITCUT_B, i),
                                   .d = (float *)g->d.to + i * g->d.stride,
                                   .turned = peer->split };
        status = call->run(function_of(call), &x);
    }
    snprintf(fault, GPU_FAULT_MOST, "%s gives status %d", call->function, status);
    return status;
}
