/* SPDX-License-Identifier: BSD-3-Clause */
/* Records the approximate functions of PTX (ex2, rcp, rsqrt, sqrt, lg2, tanh, sin, cos)
   on an NVIDIA GPU.

   Build:  nvcc -O3 -arch=sm_90 -o mufu mufu.cu
   Run:    ./mufu FOLDER [all]

   Two files are written to FOLDER:

   digests.tsv   one line for each function and block of 2^24 arguments (2^16 for functions
                 of 16 bits): name, first argument (hex), number of arguments, digest (hex)
   samples.npy   results (u4) [function][2^12] of the functions of 2^32 arguments, in the
                 order of digests.tsv; argument k is k << 20 | mix(k) >> 44

   With "all", FOLDER also receives NAME.FIRST.bin: the 2^23 results (u4, little-endian) of
   the arguments from FIRST (hex) on, for the binades from which the coefficients of a
   function can be solved.

   The digest of a block is the sum, modulo 2^64, of mix(x << 32 | f(x)) over its arguments
   x, in any order; mix is the output function of SplitMix64.  The argument and the result of
   a function of f64 are upper halves; the lower half of the argument is 0.  Those of a
   function with x2 are pairs. */

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK(call)                                                                     \
    do {                                                                                \
        cudaError_t error = (call);                                                     \
        if (error != cudaSuccess) {                                                     \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));              \
            exit(3);                                                                    \
        }                                                                               \
    } while (0)

enum { DIGEST_BITS = 8, SAMPLE_BITS = 12, SHORT = 1 << 16, BINADE = 1 << 23 };

#define F32(name, instruction)                                                          \
    struct name {                                                                       \
        static __device__ uint32_t f(uint32_t x)                                        \
        {                                                                               \
            float y;                                                                    \
            asm volatile(instruction " %0, %1;" : "=f"(y) : "f"(__uint_as_float(x)));   \
            return __float_as_uint(y);                                                  \
        }                                                                               \
    };
#define F64(name, instruction)                                                          \
    struct name {                                                                       \
        static __device__ uint32_t f(uint32_t x)                                        \
        {                                                                               \
            double y;                                                                   \
            asm volatile(instruction " %0, %1;"                                         \
                         : "=d"(y)                                                      \
                         : "d"(__hiloint2double((int)x, 0)));                           \
            return (uint32_t)__double2hiint(y);                                         \
        }                                                                               \
    };
#define B32(name, instruction)                                                          \
    struct name {                                                                       \
        static __device__ uint32_t f(uint32_t x)                                        \
        {                                                                               \
            uint32_t y;                                                                 \
            asm volatile(instruction " %0, %1;" : "=r"(y) : "r"(x));                    \
            return y;                                                                   \
        }                                                                               \
    };
#define B16(name, instruction)                                                          \
    struct name {                                                                       \
        static __device__ uint32_t f(uint32_t x)                                        \
        {                                                                               \
            uint16_t y;                                                                 \
            asm volatile(instruction " %0, %1;" : "=h"(y) : "h"((uint16_t)x));          \
            return y;                                                                   \
        }                                                                               \
    };

/* The functions of 2^32 arguments, of pairs, and of 2^16 arguments. */
#define WIDE(X)                                                                         \
    X(F32, ex2_approx_ftz_f32, "ex2.approx.ftz.f32")                                    \
    X(F32, ex2_approx_f32, "ex2.approx.f32")                                            \
    X(F32, rcp_approx_ftz_f32, "rcp.approx.ftz.f32")                                    \
    X(F32, rcp_approx_f32, "rcp.approx.f32")                                            \
    X(F32, rsqrt_approx_ftz_f32, "rsqrt.approx.ftz.f32")                                \
    X(F32, rsqrt_approx_f32, "rsqrt.approx.f32")                                        \
    X(F32, sqrt_approx_ftz_f32, "sqrt.approx.ftz.f32")                                  \
    X(F32, sqrt_approx_f32, "sqrt.approx.f32")                                          \
    X(F32, lg2_approx_ftz_f32, "lg2.approx.ftz.f32")                                    \
    X(F32, lg2_approx_f32, "lg2.approx.f32")                                            \
    X(F32, tanh_approx_f32, "tanh.approx.f32")                                          \
    X(F32, sin_approx_ftz_f32, "sin.approx.ftz.f32")                                    \
    X(F32, sin_approx_f32, "sin.approx.f32")                                            \
    X(F32, cos_approx_ftz_f32, "cos.approx.ftz.f32")                                    \
    X(F32, cos_approx_f32, "cos.approx.f32")                                            \
    X(F64, rcp_approx_ftz_f64, "rcp.approx.ftz.f64")                                    \
    X(F64, rsqrt_approx_ftz_f64, "rsqrt.approx.ftz.f64")
#define PAIRS(X)                                                                        \
    X(B32, ex2_approx_f16x2, "ex2.approx.f16x2")                                        \
    X(B32, ex2_approx_ftz_bf16x2, "ex2.approx.ftz.bf16x2")                              \
    X(B32, tanh_approx_f16x2, "tanh.approx.f16x2")                                      \
    X(B32, tanh_approx_bf16x2, "tanh.approx.bf16x2")
#define HALF(X)                                                                         \
    X(B16, ex2_approx_f16, "ex2.approx.f16")                                            \
    X(B16, ex2_approx_ftz_bf16, "ex2.approx.ftz.bf16")                                  \
    X(B16, tanh_approx_f16, "tanh.approx.f16")                                          \
    X(B16, tanh_approx_bf16, "tanh.approx.bf16")

#define DEFINE(type, name, instruction) type(name, instruction)
WIDE(DEFINE)
PAIRS(DEFINE)
HALF(DEFINE)

static __host__ __device__ uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* The digest of `count` arguments from blockIdx.y * count on. */
template <class F> static __global__ void digest(uint64_t *digests, uint32_t count)
{
    const uint32_t first = blockIdx.y * count;
    uint64_t sum = 0;
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += gridDim.x * blockDim.x) {
        const uint32_t x = first + i;
        sum += mix((uint64_t)x << 32 | F::f(x));
    }
    atomicAdd((unsigned long long *)&digests[blockIdx.y], (unsigned long long)sum);
}

template <class F> static __global__ void results(uint32_t *y, uint32_t first)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = F::f(first + i);
}

template <class F> static __global__ void sample(uint32_t *y)
{
    const uint32_t k = blockIdx.x * blockDim.x + threadIdx.x;
    y[k] = F::f(k << (32 - SAMPLE_BITS) | (uint32_t)(mix(k) >> (32 + SAMPLE_BITS)));
}

static FILE *open_file(const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    if (!file) {
        perror(path);
        exit(3);
    }
    return file;
}

static void close_file(FILE *file)
{
    if (ferror(file) || fclose(file)) {
        perror("write");
        exit(3);
    }
}

static uint64_t *digests;
static uint32_t *buffer;

static void write_buffer(FILE *file, size_t count)
{
    std::vector<uint32_t> host(count);
    CHECK(cudaMemcpy(host.data(), buffer, count * sizeof host[0], cudaMemcpyDeviceToHost));
    fwrite(host.data(), sizeof host[0], count, file);
}

/* The digests of so many blocks of so many arguments. */
template <class F>
static void record_digests(FILE *file, const char *name, int blocks, uint32_t count)
{
    uint64_t host[1 << DIGEST_BITS];
    CHECK(cudaMemset(digests, 0, sizeof host));
    digest<F><<<dim3(256, blocks), 256>>>(digests, count);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(host, digests, sizeof host, cudaMemcpyDeviceToHost));
    for (int j = 0; j < blocks; j++)
        fprintf(file, "%s\t%08x\t%u\t%016llx\n", name, j * count, count,
                (unsigned long long)host[j]);
}

template <class F> static void record_samples(FILE *file)
{
    sample<F><<<(1 << SAMPLE_BITS) / 256, 256>>>(buffer);
    CHECK(cudaGetLastError());
    write_buffer(file, 1 << SAMPLE_BITS);
}

static void write_npy_header(FILE *file, int rows, int columns)
{
    char text[128];
    snprintf(text, sizeof text, "{'descr': '<u4', 'fortran_order': False, 'shape': (%d, %d), }",
             rows, columns);
    fwrite("\x93NUMPY\x01\x00\x76\x00", 1, 10, file);
    fprintf(file, "%-117s\n", text);
}

/* The binades whose arguments have the exponents low to high and the sign. */
template <class F>
static void record_binades(const char *folder, const char *name, int low, int high,
                           uint32_t sign)
{
    for (int e = low; e <= high; e++) {
        const uint32_t first = sign << 31 | (uint32_t)(e + 127) << 23;
        results<F><<<BINADE / 256, 256>>>(buffer, first);
        CHECK(cudaGetLastError());
        char file_name[256];
        snprintf(file_name, sizeof file_name, "%s.%08x.bin", name, first);
        FILE *file = open_file(folder, file_name);
        write_buffer(file, BINADE);
        close_file(file);
    }
}

static void record_all_binades(const char *folder)
{
    record_binades<ex2_approx_ftz_f32>(folder, "ex2", -12, 2, 0);
    record_binades<ex2_approx_ftz_f32>(folder, "ex2", -12, 2, 1);
    record_binades<rcp_approx_ftz_f32>(folder, "rcp", 0, 0, 0);
    record_binades<rsqrt_approx_ftz_f32>(folder, "rsqrt", 0, 1, 0);
    record_binades<sqrt_approx_ftz_f32>(folder, "sqrt", 0, 1, 0);
    record_binades<lg2_approx_ftz_f32>(folder, "lg2", -1, 0, 0);
    record_binades<tanh_approx_f32>(folder, "tanh", -9, 3, 0);
    record_binades<sin_approx_ftz_f32>(folder, "sin", -3, 2, 0);
    record_binades<cos_approx_ftz_f32>(folder, "cos", -3, 2, 0);
}

#define ONE(type, name, instruction)     +1
#define DIGESTS(type, name, instruction) \
    record_digests<name>(file, instruction, 1 << DIGEST_BITS, 1u << (32 - DIGEST_BITS));
#define SHORT_DIGEST(type, name, instruction) record_digests<name>(file, instruction, 1, SHORT);
#define SAMPLES(type, name, instruction)      record_samples<name>(file);

int main(int argc, char **argv)
{
    const bool all = argc == 3 && !strcmp(argv[2], "all");
    if (argc != 2 && !all) {
        fprintf(stderr, "usage: mufu FOLDER [all]\n");
        return 2;
    }
    const char *folder = argv[1];
    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));
    CHECK(cudaMalloc(&digests, sizeof(uint64_t) << DIGEST_BITS));
    CHECK(cudaMalloc(&buffer, sizeof(uint32_t) * BINADE));

    FILE *file = open_file(folder, "digests.tsv");
    fprintf(file, "# %s, sm_%d%d, CUDA %d.%d\n", device.name, device.major, device.minor,
            __CUDACC_VER_MAJOR__, __CUDACC_VER_MINOR__);
    fprintf(file, "# function\tfirst\targuments\tdigest\n");
    WIDE(DIGESTS)
    PAIRS(DIGESTS)
    HALF(SHORT_DIGEST)
    close_file(file);

    file = open_file(folder, "samples.npy");
    write_npy_header(file, 0 WIDE(ONE), 1 << SAMPLE_BITS);
    WIDE(SAMPLES)
    close_file(file);

    if (all) record_all_binades(folder);
    CHECK(cudaFree(digests));
    CHECK(cudaFree(buffer));
    return 0;
}
