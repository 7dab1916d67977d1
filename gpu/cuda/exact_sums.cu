/* Sums of products of FP32 values in binary64, with the errors of their additions, for
   exact references: what compute() of struct exact_sums says (lib/exact/exact.h).

   A block of 256 threads has a tile of 64 x 64 outputs, a thread 4 x 4 of them; of k
   16 are in shared memory at a time, as binary64, while the next are on their way in
   registers.  k ascends for every output.  Every operation is rounded to nearest, and
   FP64 units are what it waits for: 8 operations a product. */
#include "gpu/cuda/gemm.cuh"

namespace
{

constexpr int TILE = 64, DEPTH = 16, EACH = 4, ACROSS = TILE / EACH;
constexpr int SUM_THREADS = ACROSS * ACROSS, LOADS = TILE * DEPTH / SUM_THREADS;
constexpr int PITCH = TILE + 2; /* fewer rows of k begin in the same bank */

struct exact_product {
    double *high, *low, *size;
    const float *a, *b;
    size_t m, n, k, across; /* tiles in a row of them */
};

/* What a thread brings of the next k: element `load` of A and of B, +0 beyond the end. */
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

struct running_sum {
    double high, low, size;

    /* TwoSum of an exact product (lib/exact/dgemm.h). */
    __device__ __forceinline__ void add(double x, double y)
    {
        const double sum = __fma_rn(x, y, high), z = __dsub_rn(sum, high);
        const double error =
            __dadd_rn(__dsub_rn(high, __dsub_rn(sum, z)), __fma_rn(x, y, -z));
        high = sum;
        low = __dadd_rn(low, error);
        size = __fma_rn(fabs(x), fabs(y), size);
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

__global__ void __launch_bounds__(SUM_THREADS, 2) sums(const exact_product x)
{
    __shared__ __align__(16) double a[DEPTH][PITCH], b[DEPTH][PITCH];
    const size_t row = blockIdx.x / x.across * TILE;
    const size_t column = blockIdx.x % x.across * TILE;
    const int down = threadIdx.x / ACROSS * EACH, right = threadIdx.x % ACROSS * EACH;
    running_sum sum[EACH][EACH] = {};
    next_values next;
    next.load(x, row, column, 0);
    for (size_t k = 0; k < x.k; k += DEPTH) {
        __syncthreads();
        next.store(a, b);
        __syncthreads();
        next.load(x, row, column, k + DEPTH);
        for (int q = 0; q < DEPTH; q++) {
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
            if (r >= x.m || c >= x.n) continue;
            x.high[r * x.n + c] = sum[i][j].high;
            x.low[r * x.n + c] = sum[i][j].low;
            x.size[r * x.n + c] = sum[i][j].size;
        }
}

/* Memory of the device, until it ends. */
struct device_memory {
    void *at = NULL;
    rt_error status;

    explicit device_memory(size_t bytes) : status(rt_malloc(&at, bytes + 1)) {}
    ~device_memory() { rt_free(at); }
    device_memory(const device_memory &) = delete;
};

rt_error sums_run(double *const to[3], const uint32_t *a, const uint32_t *b, size_t m,
                  size_t n, size_t k)
{
    const size_t count = m * n, bytes = count * sizeof(double);
    const device_memory there_a(m * k * sizeof *a), there_b(k * n * sizeof *b);
    const device_memory there(3 * bytes);
    double *const high = (double *)there.at;
    const exact_product x = { high,
                              high + count,
                              high + 2 * count,
                              (const float *)there_a.at,
                              (const float *)there_b.at,
                              m,
                              n,
                              k,
                              divide_up(n, (size_t)TILE) };
    for (const device_memory *each : { &there_a, &there_b, &there })
        if (each->status != RT_SUCCESS) return each->status;
    if (!count) return RT_SUCCESS;
    rt_error status = copy_there(there_a.at, a, m * k * sizeof *a);
    if (status == RT_SUCCESS) status = copy_there(there_b.at, b, k * n * sizeof *b);
    if (status != RT_SUCCESS) return status;
    const size_t blocks = divide_up(m, (size_t)TILE) * x.across;
    if (blocks > INT_MAX) return cudaErrorInvalidValue;
    sums<<<(unsigned)blocks, SUM_THREADS>>>(x);
    status = rt_last_error();
    if (status == RT_SUCCESS) status = rt_device_wait();
    for (int i = 0; i < 3 && status == RT_SUCCESS; i++)
        status = copy_back(to[i], high + i * count, bytes);
    return status;
}

} // namespace

int exact_sums(double *high, double *low, double *size, size_t m, size_t n, size_t k,
               const uint32_t *a, const uint32_t *b, int device, char *fault)
{
    double *const to[] = { high, low, size };
    const on_device on(device);
    const rt_error status = on.status;
    return fault_of(fault, status == RT_SUCCESS ? sums_run(to, a, b, m, n, k) : status);
}
