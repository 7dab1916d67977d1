/* SPDX-License-Identifier: BSD-3-Clause */
/* Code shared by the files that emulate other units: one chain of a GEMM on the device.

   A chain (gpu/emulate/chains.h) is a dot product of `products` values for every output.
   The values are gathered first, line after line, as FP32 or as parts for an instruction;
   other data that a method needs is derived from them.  The number of lines and their
   length are padded to whole tiles, with +0. */
#ifndef BITCUT_GPU_CUDA_EMULATE_CUH
#define BITCUT_GPU_CUDA_EMULATE_CUH

#include "gpu/cuda/gemm.cuh"
#include "gpu/emulate/chains.h"
#include "gpu/emulate/rule.h"

#include <cuda_fp16.h>

/* Lines of a tile, and the number of which their length is a multiple. */
constexpr size_t EMULATE_LINES = 128, EMULATE_RUN = 128;

constexpr size_t round_up(size_t x, size_t to) { return divide_up(x, to) * to; }

/* One operand of a chain.  Value p of line i is value[i * length + p], or value[p *
   padded + i] if it is transposed. */
struct emulate_operand {
    size_t lines, padded, length;
    bool across;
    float *value;
    void *parts; /* TENSOR, NATIVE: in the multiplier's format, i * length + p; NATIVE has
                    no values                                            */
    int16_t *exponent; /* CUT: exponents by which values align, in the same order; NONE
                          for a zero                                         */
    uint8_t *code; /* TENSOR, for f16: codes in the same order, one byte each           */
    uint16_t *power; /* TENSOR: see emulate_parts.cuh */
    uint32_t *wild;  /* for each line; not 0: only the definition computes it */
};

struct emulate_chain {
    struct emulate_operand a, b;
    uint32_t products;
    const struct chain_event *event;
    uint32_t events;
    bool promotes;   /* whether the result is the FP32 register, not the accumulator */
    int scale;       /* of the event                                         */
    uint32_t zeroed; /* of the event                                         */
    float *result;   /* [a.lines][b.lines]                                   */
    unsigned long long *repaired; /* NULL: not counted                       */
    struct unit_rule rule;
};

/* Blocks of a grid along y. */
constexpr size_t GRID_Y_MAX = 65535;

/* The exponents of nonzero values that a method accepts.  Lines with other exponents are
   wild, and so are lines with NaN and infinities if the method accepts none. */
struct emulate_window {
    int least, most;
    bool specials;
};

/* --- what happens between steps ----------------------------------------------------- */

/* The next event of a chain, which is loaded before it happens. */
struct emulate_events {
    const struct chain_event *next, *end;
    uint32_t at, what;

    __device__ explicit emulate_events(const emulate_chain &x)
        : next(x.event), end(x.event + x.events)
    {
        load();
    }
    __device__ uint32_t take()
    {
        const uint32_t now = what;
        next++;
        load();
        return now;
    }
    __device__ void load()
    {
        const bool is_there = next < end;
        at = is_there ? next->at : UINT32_MAX;
        what = is_there ? next->what : 0;
    }
};

/* Apply an event to accumulator c, an FP32 value, and its register. */
static __device__ __forceinline__ void event_apply(float &c, float &sum, uint32_t what,
                                                   const emulate_chain &x)
{
    if (what & CHAIN_PROMOTE) {
        sum = __fadd_rn(sum, c);
        c = 0;
    }
    if (what & CHAIN_SCALE) {
        c = __fmul_rn(c, __int_as_float((127 - x.scale) << 23));
        if (x.rule.c.bits == 16) c = __half2float(__float2half_rn(c));
        /* The next instruction would read c as zero; methods need not do so. */
        if (x.rule.flush_inputs && c != 0 && fabsf(c) < 0x1p-126f) c = 0;
    }
    if (what & CHAIN_ZERO && (__float_as_uint(c) & 0x7fffffff) >= x.zeroed) c = 0;
}

/* Apply an event to N accumulators.  Most events are promotions. */
template <int N>
static __device__ __forceinline__ void events_apply(float *c, float *sum, uint32_t what,
                                                    const emulate_chain &x)
{
    if (what == CHAIN_PROMOTE) {
#pragma unroll
        for (int i = 0; i < N; i++) sum[i] = __fadd_rn(sum[i], c[i]), c[i] = 0;
    } else {
#pragma unroll
        for (int i = 0; i < N; i++) event_apply(c[i], sum[i], what, x);
    }
}

/* The result of a chain, with the only NaN. */
static __device__ __forceinline__ float chain_result(float c, float sum,
                                                     const emulate_chain &x)
{
    const float v = x.promotes ? sum : c;
    return isnan(v) ? __uint_as_float(x.rule.nan) : v;
}

/* --- copies ------------------------------------------------------------------------- */

static __device__ __forceinline__ void copy16(void *to, const void *from)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)),
                 "l"(from));
}
static __device__ __forceinline__ void copy_commit()
{
    asm volatile("cp.async.commit_group;");
}
template <int N> static __device__ __forceinline__ void copy_wait()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(N));
}

/* Tiles are taken in bands of 8 rows, for the L2 cache. */
static __device__ __forceinline__ void tile_place(int *i, int *j, int rows, int columns)
{
    const int band = 8, per = band * columns, b = blockIdx.x / per, in = blockIdx.x % per;
    const int height = min(band, rows - b * band);
    *i = b * band + in % height;
    *j = in / height;
}

/* --- the methods -------------------------------------------------------------------- */

/* Start the derivation of the method's data from the values, and the computation of the
   chain for all lines that are not wild. */
rt_error tensor_start(const emulate_chain &x, rt_stream stream);
rt_error native_start(const emulate_chain &x, rt_stream stream);
rt_error simt_start(const emulate_chain &x, rt_stream stream);
rt_error cut_start(const emulate_chain &x, rt_stream stream);

/* The kernel of the current device that multiplies m x k by k x n parts as this rule of
   NATIVE, with k ascending; NULL: there is none. */
const struct gpu_kernel *native_kernel(size_t m, size_t n, const struct unit_rule &rule);

/* Start the definition, for all outputs or for the outputs of wild lines. */
rt_error steps_start(const emulate_chain &x, bool all, rt_stream stream);

/* --- what struct gpu_module declares ------------------------------------------------ */

enum {
    EMULATION_METHODS = 1 << CHAIN_STEPS | 1 << CHAIN_SIMT | 1 << CHAIN_CUT |
                        1 << CHAIN_TENSOR | 1 << CHAIN_NATIVE
};

extern const struct gpu_multiplier multipliers[];

int emulation_claim(int device, int multiplier, char *fault);
int emulation_counts(struct gpu_count to[GPU_COUNTS_MAX]);

#endif
