/* Timing GEMMs: host code that works on one stream of the device. */
#include "gpu/stopwatch.cuh"

namespace
{

/* Bytes in the device's memory that grow when they are asked to. */
struct buffer {
    void *at;
    size_t bytes;
};

} // namespace

struct gpu_session {
    size_t count, m, n, k;
    struct buffer a, b, d, words_a, words_b, workspace;
    struct stopwatch watch;
};

namespace
{

constexpr uint32_t f32_one = 0x3f800000;

/* --- a session -------------------------------------------------------------------- */

cudaError_t buffer_reserve(struct buffer *x, size_t bytes)
{
    if (x->at && bytes <= x->bytes) return cudaSuccess;
    const cudaError_t status = cudaFree(x->at);
    *x = {};
    if (status != cudaSuccess) return status;
    x->bytes = bytes;
    return cudaMalloc(&x->at, bytes ? bytes : 1);
}

cudaError_t buffer_fill(struct buffer *x, size_t count, const uint32_t *from)
{
    const size_t bytes = count * sizeof *from;
    const cudaError_t status = buffer_reserve(x, bytes);
    return status == cudaSuccess ? cudaMemcpy(x->at, from, bytes, cudaMemcpyHostToDevice)
                                 : status;
}

cudaError_t session_init(struct gpu_session *s, const uint32_t *a, const uint32_t *b)
{
    cudaError_t status = stopwatch_begin(&s->watch);
    if (status == cudaSuccess) status = buffer_fill(&s->a, s->count * s->m * s->k, a);
    if (status == cudaSuccess) status = buffer_fill(&s->b, s->count * s->k * s->n, b);
    if (status == cudaSuccess)
        status = buffer_reserve(&s->d, s->count * s->m * s->n * sizeof(float));
    if (status == cudaSuccess)
        status = cudaDeviceSynchronize(); /* the copies are there */
    return status;
}

void session_end(struct gpu_session *s)
{
    stopwatch_end(&s->watch);
    for (struct buffer *x :
         { &s->a, &s->b, &s->d, &s->words_a, &s->words_b, &s->workspace })
        cudaFree(x->at);
    delete s;
}

int session_begin(struct gpu_session **session, struct gpu_library *library, size_t count,
                  size_t m, size_t n, size_t k, const uint32_t *a, const uint32_t *b,
                  char *fault)
{
    struct gpu_session *const s = new struct gpu_session();
    s->count = count;
    s->m = m;
    s->n = n;
    s->k = k;
    const int status = fault_of(fault, session_init(s, a, b));
    if (status) {
        session_end(s);
        return status;
    }
    stopwatch_open(&s->watch, library);
    *session = s;
    return 0;
}

/* --- one start of an entrant ------------------------------------------------------ */

bool has_words(const struct gpu_entrant *e) { return e->kernel || e->peer->split; }

/* The GEMMs of a kernel, from words that are made before unless all of it is timed. */
struct gpu_gemm gemm_of(const struct gpu_session *s, const struct gpu_entrant *e)
{
    const bool whole = e->part == GPU_WHOLE;
    struct gpu_gemm g = {};
    g.count = s->count;
    g.m = s->m;
    g.n = s->n;
    g.k = s->k;
    g.alpha = f32_one;
    g.a = {
        (const uint32_t *)s->a.at,    s->k,        0,
        whole ? NULL : s->words_a.at, s->m * s->k, words_stride(&e->split, s->m, s->k)
    };
    g.b = {
        (const uint32_t *)s->b.at,    s->n,        1,
        whole ? NULL : s->words_b.at, s->k * s->n, words_stride(&e->split, s->n, s->k)
    };
    g.d = (uint32_t *)s->d.at;
    g.ldd = s->n;
    g.stride_d = s->m * s->n;
    g.split = e->split;
    g.slices = e->slices;
    return g;
}

int words_start(const struct gpu_session *s, const struct gpu_entrant *e, char *fault)
{
    const struct gpu_gemm g = gemm_of(s, e);
    cudaError_t status = split_launch(s->words_a.at, &g.split, &g.a, s->count, s->m, s->k,
                                      s->watch.stream);
    if (status == cudaSuccess)
        status = split_launch(s->words_b.at, &g.split, &g.b, s->count, s->n, s->k,
                              s->watch.stream);
    return fault_of(fault, status);
}

int peer_start(const struct gpu_session *s, const struct gpu_entrant *e, char *fault)
{
    const bool words = has_words(e);
    const struct gpu_gemm g = gemm_of(s, e);
    const size_t bytes = format_bytes(e->split.format);
    const struct peer_product p = { s->count,
                                    s->m,
                                    s->n,
                                    s->k,
                                    words ? s->words_a.at : s->a.at,
                                    words ? s->words_b.at : s->b.at,
                                    words ? g.a.words_stride / bytes : g.a.stride,
                                    words ? g.b.words_stride / bytes : g.b.stride,
                                    e->split.scale,
                                    (float *)s->d.at };
    const int status =
        words && e->part == GPU_WHOLE ? words_start(s, e, fault) : cudaSuccess;
    return status ? status : cublas_start(s->watch.library, e->peer, &p, fault);
}

int entrant_start(const struct gpu_session *s, const struct gpu_entrant *e, char *fault)
{
    if (e->part == GPU_SPLIT) return words_start(s, e, fault);
    if (!e->kernel) return peer_start(s, e, fault);
    const struct gpu_gemm g = gemm_of(s, e);
    return gemm_start(&g, e->kernel, s->workspace.at, s->watch.stream, fault);
}

/* --- timing ----------------------------------------------------------------------- */

/* All that the entrant needs before it is timed; D is NaNs. */
int entrant_prepare(struct gpu_session *s, const struct gpu_entrant *e, char *fault)
{
    cudaError_t status = cudaMemsetAsync(s->d.at, 0xff, s->d.bytes, s->watch.stream);
    if (has_words(e)) {
        if (status == cudaSuccess)
            status = buffer_reserve(&s->words_a,
                                    s->count * words_stride(&e->split, s->m, s->k));
        if (status == cudaSuccess)
            status = buffer_reserve(&s->words_b,
                                    s->count * words_stride(&e->split, s->n, s->k));
    }
    if (e->kernel && status == cudaSuccess) {
        const struct gpu_gemm g = gemm_of(s, e);
        status = buffer_reserve(&s->workspace, gemm_workspace(&g, e->kernel));
    }
    if (status != cudaSuccess) return fault_of(fault, status);
    return has_words(e) && e->part == GPU_PRODUCT ? words_start(s, e, fault)
                                                  : cudaSuccess;
}

int session_run(struct gpu_measurement *measurement, struct gpu_session *s,
                const struct gpu_entrant *e, int repeats, char *fault)
{
    const int status = entrant_prepare(s, e, fault);
    const auto start = [&] { return entrant_start(s, e, fault); };
    return status ? status : stopwatch_run(measurement, &s->watch, repeats, start, fault);
}

int session_read(uint32_t *row, struct gpu_session *s, size_t i, char *fault)
{
    return fault_of(fault, cudaMemcpy(row, (const uint32_t *)s->d.at + i * s->n,
                                      s->n * sizeof *row, cudaMemcpyDeviceToHost));
}

} // namespace

const struct gpu_timer timer = { peers, session_begin, session_run, session_read,
                                 session_end };
