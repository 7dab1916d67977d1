/* STEPS: outputs by the definition, one a thread; all of a chain, or those of lines that
   another method does not take. */
#include "gpu/cuda/emulate.cuh"
#include "gpu/emulate/step.h"

namespace
{

__device__ uint32_t operand_at(const emulate_operand &x, size_t line, size_t p)
{
    return __float_as_uint(x.value[x.across ? p * x.padded + line : line * x.length + p]);
}

/* Outputs by the definition, all or those of wild lines. */
__global__ void steps(const __grid_constant__ emulate_chain x, bool all)
{
    const size_t i = blockIdx.y, j = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (j >= x.b.lines || (!all && !x.a.wild[i] && !x.b.wild[j])) return;
    uint32_t a[RULE_K_MOST], b[RULE_K_MOST];
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

} // namespace

rt_error steps_start(const emulate_chain &x, bool all, rt_stream stream)
{
    emulate_chain now = x;
    for (size_t i = 0; i < x.a.lines; i += GRID_Y_MOST) {
        const size_t rows = x.a.lines - i < GRID_Y_MOST ? x.a.lines - i : GRID_Y_MOST;
        const dim3 grid((unsigned)divide_up(x.b.lines, THREADS), (unsigned)rows);
        now.a.value = x.a.value + i * (x.a.across ? 1 : x.a.length);
        now.a.wild = x.a.wild + i;
        now.result = x.result + i * x.b.lines;
        steps<<<grid, THREADS, 0, stream>>>(now, all);
    }
    return rt_last_error();
}
