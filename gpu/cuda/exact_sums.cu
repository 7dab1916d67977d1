/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums of products of FP32 values in binary64, with the errors of their additions, for
   exact references: compute() of struct exact_sums (lib/exact/exact_sums.h).

   A block of 256 threads computes a tile of 64 x 64 outputs, a thread 4 x 4 of them.  16
   k at a time are in shared memory, as binary64, while the next k are being loaded into
   registers.  k ascends for every output.  Every operation is rounded to nearest.  The
   FP64 units limit the speed: for each product there is one operation for the sum, one
   for the sum of magnitudes, 6 for the errors, and 2 for the squares. */
#include "gpu/cuda/gemm.cuh"
#include "lib/exact/exact_sums.h"

namespace
{

constexpr int TILE = 64, DEPTH = 16, EACH = 4, ACROSS = TILE / EACH;
constexpr int SUM_THREADS = ACROSS * ACROSS, LOADS = TILE * DEPTH / SUM_THREADS;
constexpr int PITCH = TILE + 2; /* fewer rows of k begin in the same bank */

/* Sums that are wanted in addition to `high`, as a set. */
enum { LOW = 1, SIZE = 2, SQUARES = 4, SETS = 8 };

struct exact_product {
    struct exact_sums_to to;
    const float *a, *b;
    size_t m, n, k, across; /* number of tiles in a row of tiles */
};

/* The data that a thread loads for the next k: of A and of B, +0 beyond the end. */
struct next_values {
    float a[LOADS], b[LOADS];

    __device__ void load(const exact_product &x, size_t row, size_t column, size_t k)
    {
#pragma unroll
        for (int i = 0; i < LOADS; i++) {
            const int at = threadIdx.x + i * SUM_THREADS;
            const size_t r = row + at / DEPTH, ka = k + at % DEPTH;
            const size_t c = column + at % TILE, kb = k + at / TILE;
            a[i] = r < x.m && ka < x.k ? x.a[r * x.k + ka] : 0;
            b[i] = c < x.n && kb < x.k ? x.b[kb * x.n + c] : 0;
        }
    }

    __device__ void store(double (*to_a)[PITCH], double (*to_b)[PITCH]) const
    {
#pragma unroll
        for (int i = 0; i < LOADS; i++) {
            const int at = threadIdx.x + i * SUM_THREADS;
            to_a[at % DEPTH][at / DEPTH] = a[i];
            to_b[at / TILE][at % TILE] = b[i];
        }
    }
};

template <int SET> struct running_sum {
    double high, low, size, squares;

    /* TwoSum of an exact product (lib/exact/dgemm.h). */
    __device__ __forceinline__ void add(double x, double y)
    {
        const double sum = __fma_rn(x, y, high), z = __dsub_rn(sum, high);
        if (SET & LOW)
            low = __dadd_rn(
                low, __dadd_rn(__dsub_rn(high, __dsub_rn(sum, z)), __fma_rn(x, y, -z)));
        if (SET & SIZE) size = __fma_rn(fabs(x), fabs(y), size);
        if (SET & SQUARES) squares = __dadd_rn(squares, __dmul_rn(sum, sum));
        high = sum;
    }

    __device__ __forceinline__ void store(const exact_sums_to &to, size_t at) const
    {
        if (to.high) to.high[at] = high;
        if (SET & LOW) to.low[at] = low;
        if (SET & SIZE) to.size[at] = size;
        if (SET & SQUARES) to.squares[at] = squares;
    }
};

__device__ __forceinline__ void values_load(double (&to)[EACH], const double *from)
{
#pragma unroll
    for (int i = 0; i < EACH; i += 2) {
        const double2 x = *(const double2 *)(from + i);
        to[i] = x.x;
        to[i + 1] = x.y;
    }
}

template <int SET>
__global__ void __launch_bounds__(SUM_THREADS, 2) sums(const exact_product x)
{
    __shared__ __align__(16) double a[DEPTH][PITCH], b[DEPTH][PITCH];
    const size_t row = blockIdx.x / x.across * TILE;
    const size_t column = blockIdx.x % x.across * TILE;
    const int down = threadIdx.x / ACROSS * EACH, right = threadIdx.x % ACROSS * EACH;
    running_sum<SET> sum[EACH][EACH] = {};
    next_values next;
    next.load(x, row, column, 0);
    for (size_t k = 0; k < x.k; k += DEPTH) {
        __syncthreads();
        next.store(a, b);
        __syncthreads();
        next.load(x, row, column, k + DEPTH);
        for (int q = 0; q < DEPTH && k + q < x.k; q++) {
            double of_a[EACH], of_b[EACH];
            values_load(of_a, &a[q][down]);
            values_load(of_b, &b[q][right]);
#pragma unroll
            for (int i = 0; i < EACH; i++)
#pragma unroll
                for (int j = 0; j < EACH; j++) sum[i][j].add(of_a[i], of_b[j]);
        }
    }
#pragma unroll
    for (int i = 0; i < EACH; i++)
#pragma unroll
        for (int j = 0; j < EACH; j++) {
            const size_t r = row + down + i, c = column + right + j;
            if (r < x.m && c < x.n) sum[i][j].store(x.to, r * x.n + c);
        }
}

/* Device memory, freed at the end of its lifetime. */
struct device_memory {
    void *at = NULL;
    rt_error status;

    explicit device_memory(size_t bytes) : status(rt_malloc(&at, bytes + 1)) {}
    ~device_memory() { rt_free(at); }
    device_memory(const device_memory &) = delete;
};

rt_error copy_inputs(const exact_product &x, const uint32_t *a, const uint32_t *b)
{
    rt_error status = copy_there((void *)x.a, a, x.m * x.k * sizeof *a);
    if (status == RT_SUCCESS) status = copy_there((void *)x.b, b, x.k * x.n * sizeof *b);
    return status;
}

template <int SET = 0> rt_error launch(const exact_product &x, int set)
{
    if constexpr (SET < SETS) {
        if (set != SET) return launch<SET + 1>(x, set);
        const size_t blocks = divide_up(x.m, (size_t)TILE) * x.across;
        if (blocks > INT_MAX) return cudaErrorInvalidValue;
        sums<SET><<<(unsigned)blocks, SUM_THREADS>>>(x);
    }
    const rt_error status = rt_last_error();
    return status == RT_SUCCESS ? rt_device_wait() : status;
}

rt_error sums_run(const exact_sums_to *to, const uint32_t *a, const uint32_t *b, size_t m,
                  size_t n, size_t k)
{
    double *const here[] = { to->high, to->low, to->size, to->squares };
    const size_t bytes = m * n * sizeof(double);
    const device_memory there_a(m * k * sizeof *a), there_b(k * n * sizeof *b);
    const device_memory high(to->high ? bytes : 0), low(to->low ? bytes : 0),
        size(to->size ? bytes : 0), squares(to->squares ? bytes : 0);
    const device_memory *const there[] = { &high, &low, &size, &squares };
    for (const device_memory *each : { &there_a, &there_b, &high, &low, &size, &squares })
        if (each->status != RT_SUCCESS) return each->status;
    if (!bytes) return RT_SUCCESS;
    const exact_product x = { { to->high ? (double *)high.at : NULL, (double *)low.at,
                                (double *)size.at, (double *)squares.at },
                              (const float *)there_a.at,
                              (const float *)there_b.at,
                              m,
                              n,
                              k,
                              divide_up(n, (size_t)TILE) };
    rt_error status = copy_inputs(x, a, b);
    if (status == RT_SUCCESS)
        status = launch(x, (to->low ? LOW : 0) | (to->size ? SIZE : 0) |
                               (to->squares ? SQUARES : 0));
    for (int i = 0; i < 4 && status == RT_SUCCESS; i++)
        if (here[i]) status = copy_back(here[i], there[i]->at, bytes);
    return status;
}

} // namespace

int exact_sums(const exact_sums_to *to, size_t m, size_t n, size_t k, const uint32_t *a,
               const uint32_t *b, int device, char *fault)
{
    const on_device on(device);
    const rt_error status = on.status;
    return fault_of(fault, status == RT_SUCCESS ? sums_run(to, a, b, m, n, k) : status);
}
