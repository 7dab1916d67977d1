/* Timing batches: host code that works on one stream of the device. */
#include "gpu/batch.cuh"
#include "gpu/stopwatch.cuh"

struct gpu_batched_session {
    size_t count;
    int m, n, k;
    void *a, *b, *d;                             /* matrices, one after the other */
    const uint16_t **each_a, **each_b, **each_d; /* where each is             */
    struct stopwatch watch;
};

namespace
{

constexpr uint32_t f32_one = 0x3f800000;

/* --- a session -------------------------------------------------------------------- */

/* `count` matrices of `each` elements: those at `from`, over and over; or none yet. */
cudaError_t matrices_init(void **to, size_t count, size_t each, const uint16_t *from,
                          size_t distinct)
{
    const size_t bytes = count * each * sizeof *from;
    size_t done = distinct < count ? distinct * each * sizeof *from : bytes;
    cudaError_t status = cudaMalloc(to, bytes);
    if (status != cudaSuccess || !from) return status;
    status = cudaMemcpy(*to, from, done, cudaMemcpyHostToDevice);
    while (done < bytes && status == cudaSuccess) {
        const size_t more = done < bytes - done ? done : bytes - done;
        status = cudaMemcpy((char *)*to + done, *to, more, cudaMemcpyDeviceToDevice);
        done += more;
    }
    return status;
}

cudaError_t pointers_init(const uint16_t ***to, const void *matrices, size_t count,
                          size_t each)
{
    const size_t bytes = count * sizeof **to;
    const uint16_t **const from = new const uint16_t *[count];
    for (size_t i = 0; i < count; i++) from[i] = (const uint16_t *)matrices + i * each;
    cudaError_t status = cudaMalloc((void **)to, bytes);
    if (status == cudaSuccess)
        status = cudaMemcpy(*to, from, bytes, cudaMemcpyHostToDevice);
    delete[] from;
    return status;
}

cudaError_t session_init(struct gpu_batched_session *s, const uint16_t *a,
                         const uint16_t *b, size_t distinct)
{
    const size_t m = (size_t)s->m, n = (size_t)s->n, k = (size_t)s->k;
    cudaError_t status = stopwatch_begin(&s->watch);
    if (status == cudaSuccess)
        status = matrices_init(&s->a, s->count, m * k, a, distinct);
    if (status == cudaSuccess)
        status = matrices_init(&s->b, s->count, k * n, b, distinct);
    if (status == cudaSuccess) status = matrices_init(&s->d, s->count, m * n, NULL, 0);
    if (status == cudaSuccess) status = pointers_init(&s->each_a, s->a, s->count, m * k);
    if (status == cudaSuccess) status = pointers_init(&s->each_b, s->b, s->count, k * n);
    if (status == cudaSuccess) status = pointers_init(&s->each_d, s->d, s->count, m * n);
    if (status == cudaSuccess)
        status = cudaDeviceSynchronize(); /* the copies are there */
    return status;
}

void session_end(struct gpu_batched_session *s)
{
    stopwatch_end(&s->watch);
    for (void *at :
         { (void *)s->each_a, (void *)s->each_b, (void *)s->each_d, s->a, s->b, s->d })
        cudaFree(at);
    delete s;
}

int session_begin(struct gpu_batched_session **session, struct gpu_library *library,
                  size_t count, int m, int n, int k, const uint16_t *a, const uint16_t *b,
                  size_t distinct, char *fault)
{
    struct gpu_batched_session *const s = new struct gpu_batched_session();
    s->count = count;
    s->m = m;
    s->n = n;
    s->k = k;
    const int status = fault_of(fault, session_init(s, a, b, distinct));
    if (status) {
        session_end(s);
        return status;
    }
    stopwatch_open(&s->watch, library);
    *session = s;
    return 0;
}

/* --- timing ----------------------------------------------------------------------- */

struct gpu_batched_operand operand_of(const void *at, const uint16_t *const *each,
                                      bool pointers, size_t rows, size_t columns)
{
    return { pointers ? NULL : (const uint16_t *)at, rows * columns,
             pointers ? each : NULL, columns, 0 };
}

struct gpu_batched batched_of(const struct gpu_batched_session *s, bool pointers)
{
    const size_t m = (size_t)s->m, n = (size_t)s->n, k = (size_t)s->k;
    return { s->count,
             s->m,
             s->n,
             s->k,
             f32_one,
             0,
             operand_of(s->a, s->each_a, pointers, m, k),
             operand_of(s->b, s->each_b, pointers, k, n),
             {},
             operand_of(s->d, s->each_d, pointers, m, n) };
}

int entrant_start(const struct gpu_batched_session *s,
                  const struct gpu_batched_entrant *e, char *fault)
{
    const struct gpu_batched g =
        batched_of(s, e->kernel ? e->pointers : e->peer->pointers);
    return e->kernel ? batched_start(&g, e->kernel, s->watch.stream, fault)
                     : cublas_start_batched(s->watch.library, e->peer, &g, fault);
}

int session_run(struct gpu_measurement *measurement, struct gpu_batched_session *s,
                const struct gpu_batched_entrant *e, int repeats, char *fault)
{
    const size_t bytes = s->count * (size_t)s->m * (size_t)s->n * sizeof(uint16_t);
    const int status =
        fault_of(fault, cudaMemsetAsync(s->d, 0xff, bytes, s->watch.stream));
    const auto start = [&] { return entrant_start(s, e, fault); };
    return status ? status : stopwatch_run(measurement, &s->watch, repeats, start, fault);
}

int session_read(uint16_t *d, struct gpu_batched_session *s, size_t i, char *fault)
{
    const size_t each = (size_t)s->m * (size_t)s->n;
    return fault_of(fault, cudaMemcpy(d, (const uint16_t *)s->d + i * each,
                                      each * sizeof *d, cudaMemcpyDeviceToHost));
}

} // namespace

const struct gpu_batched_timer batched_timer = { batched_peers, session_begin,
                                                 session_run, session_read, session_end };
