/* SPDX-License-Identifier: BSD-3-Clause */
/* STEPS: outputs by the definition, one in each thread; all outputs of a chain, or the
   outputs of lines that another method does not accept. */
#include "gpu/cuda/emulate.cuh"
#include "gpu/emulate/step.h"

namespace
{

__device__ uint32_t operand_at(const emulate_operand &x, size_t line, size_t p)
{
    return __float_as_uint(x.value[x.across ? p * x.padded + line : line * x.length + p]);
}

__device__ void output(const emulate_chain &x, size_t i, size_t j)
{
    uint32_t a[RULE_K_MAX], b[RULE_K_MAX];
    emulate_events events(x);
    float c = 0, sum = 0;
    for (uint32_t k = 0; k < x.products; k += x.rule.k) {
        if (k == events.at) event_apply(c, sum, events.take(), x);
        for (int q = 0; q < x.rule.k; q++) {
            a[q] = operand_at(x.a, i, k + q);
            b[q] = operand_at(x.b, j, k + q);
        }
        c = __uint_as_float(step_instruction(&x.rule, a, b, __float_as_uint(c)));
    }
    while (events.at != UINT32_MAX) event_apply(c, sum, events.take(), x);
    x.result[i * x.b.lines + j] = chain_result(c, sum, x);
}

/* Rows of a block: few if every output is computed, more if few outputs are. */
enum { ROWS_ALL = 1, ROWS_WILD = 8 };

/* Compute outputs by the definition, all or those in wild lines. */
template <int ROWS, bool ALL>
__global__ void steps(const __grid_constant__ emulate_chain x)
{
    const size_t j = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (j >= x.b.lines) return;
    const bool every = ALL || x.b.wild[j];
    for (size_t i0 = blockIdx.y * (size_t)ROWS; i0 < x.a.lines;
         i0 += gridDim.y * (size_t)ROWS)
        for (size_t i = i0; i < i0 + ROWS && i < x.a.lines; i++)
            if (every || x.a.wild[i]) output(x, i, j);
}

template <int ROWS, bool ALL>
rt_error steps_with(const emulate_chain &x, rt_stream stream)
{
    const size_t rows = divide_up(x.a.lines, (size_t)ROWS);
    const dim3 grid((unsigned)divide_up(x.b.lines, THREADS),
                    (unsigned)(rows < GRID_Y_MAX ? rows : GRID_Y_MAX));
    steps<ROWS, ALL><<<grid, THREADS, 0, stream>>>(x);
    return rt_last_error();
}

} // namespace

rt_error steps_start(const emulate_chain &x, bool all, rt_stream stream)
{
    return all ? steps_with<ROWS_ALL, true>(x, stream)
               : steps_with<ROWS_WILD, false>(x, stream);
}
