/* SPDX-License-Identifier: BSD-3-Clause */
#include "emu/trace.h"

#include <assert.h>

void trace_step_add(struct unit_trace *trace, int first, int products, uint64_t c)
{
    assert(trace->steps < UNIT_K_MAX);
    trace->step[trace->steps++] = (struct trace_step){
        .first = first, .products = products, .first_sum = trace->sums, .c = c, .d = c
    };
}

void trace_sum_add(struct unit_trace *trace, struct trace_sum sum)
{
    struct trace_step *step = &trace->step[trace->steps - 1];
    assert(trace->sums < TRACE_SUMS_MAX);
    if (trace->sums) {
        const struct trace_sum *before = &trace->sum[trace->sums - 1];
        sum.first = before->first + before->terms;
    }
    sum.terms = trace->terms - sum.first;
    trace->sum[trace->sums++] = sum;
    step->sums++;
    if (sum.rounded) step->d = sum.d;
}
