/* SPDX-License-Identifier: BSD-3-Clause */
/* A benchmark: kernels and their peers on a device, verified, then timed in turn, on
   every shape in batches of every count. */
#ifndef BITCUT_ANALYSIS_BENCH_BENCHMARK_H
#define BITCUT_ANALYSIS_BENCH_BENCHMARK_H

#include "analysis/bench/benchmark_plan.h"
#include "lib/base/progress.h"

#include <jansson.h>

enum {
    BENCHMARK_ROUNDS_MAX = 99,
    BENCHMARK_BURST_MS = 30, /* of a timing in a round, about                        */
    BENCHMARK_HEAT_PERCENT =
        5, /* by which figures differ where the board's workload counts */
    BENCHMARK_ORDER_STREAM = 1000 /* of the seed: the orders of workload i, from 0, are of
                                stream BENCHMARK_ORDER_STREAM + i */
};

/* One shape of a benchmark. */
struct workload {
    struct kernel_shape shape;
    const char *input; /* family of A and B */
};

/* A benchmark; the recorder's module has a timer. */
struct benchmark {
    const struct recorder *recorder;
    const struct bench_study *study;
    struct bench_filter filter;
    bool equilibrate; /* what kernels, not peers, multiply */
    const struct workload *workload;
    size_t workloads;
    const size_t *count; /* of GEMMs at a time, 1 and more; of f32 to GPU_COUNT_MAX */
    size_t counts;
    uint64_t seed;
    int threads;
    size_t rounds; /* timings of each, 1 to BENCHMARK_ROUNDS_MAX         */
    size_t sustained_milliseconds; /* of the loop under load, 0: none                */
    const struct progress *progress;

    /* What is told: which workload begins, and every row. */
    void (*begins)(void *listener, const struct workload *workload, size_t count);
    void (*row)(void *listener, json_t *row); /* takes it over */
    void *listener;
};

/* What came of it. */
struct benchmark_result {
    size_t mismatches;  /* outputs of kernels that are not their model's           */
    const char *failed; /* a kernel that did not run, of which the fault is; or NULL */
};

/* Race the kernels that are wanted beside all peers, every workload in batches of the
   first count, then of the next.

   D of each is looked at first: whole if the GEMM has at most 2^22 products, else 32 rows
   by 128 columns, the first and the last among them; of a batch that of as many GEMMs as
   have 2^22 products together, but of 3 to 256, or of f16 always 256, the first and the
   last among them.  A kernel must give the model's bits, or it is not timed.  A peer
   falls back if its bits are those of the one in FP32.  Then, in every round, each is
   timed once, for about BENCHMARK_BURST_MS: a burst.  Last, each but the split passes
   runs in a longer loop under load, of which the first three tenths only warm the board
   up: speed, power, the median clock and what limits it are of the rest.  Rounds, and
   those loops, have them in random orders, which depend on the seed, on which heat of the
   benchmark it is and on how many take part, and on nothing else.  What the device cannot
   run, or whose library is not here, has a fault and no times.  Of kernels it is measured
   besides what their calls take the host (analysis/bench/benchmark_host.h).

   A peer that is absent takes no part.  Where the timer measures peaks, the rows of f32
   say what the unit of a kernel, or of a peer in FP32, can do, and on how many threads.

   Of f32 GEMM i has operands of seed + i, and each kernel, and peer with words, is timed
   in parts; relres is the largest of the GEMMs looked at.  Of f16 there are up to 256
   different operands, rounded from those of one seed, each kernel is timed by strides and
   by pointers, and relres is that of all outputs looked at together.

   One row for each and each of these ways, when its workload is finished.  Of f16, after
   all workloads of a count, for each addressing the mean over shapes of up to 32, on
   which it was timed, of how much faster the first kernel of a shape is than each peer;
   null for a peer that was not timed on one of them.

   BITCUT_UNSUPPORTED: no kernel is for the device or a shape, no memory on the device,
   asked to stop, or, with `failed` set and the rows of its workload before, a kernel that
   did not run; BITCUT_BAD_ARGUMENT: an input; BITCUT_NO_MEMORY.  *result is set always.
 */
enum bitcut_status benchmark_run(struct benchmark_result *result,
                                 const struct benchmark *benchmark, struct fault *f);

#endif
