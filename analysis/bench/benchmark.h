/* SPDX-License-Identifier: BSD-3-Clause */
/* A benchmark: kernels and their peers on a device, verified, then timed, on every shape
   and in batches of every size. */
#ifndef BITCUT_ANALYSIS_BENCH_BENCHMARK_H
#define BITCUT_ANALYSIS_BENCH_BENCHMARK_H

#include "analysis/bench/benchmark_plan.h"
#include "lib/base/progress.h"

#include <jansson.h>

enum {
    BENCHMARK_ROUNDS_MAX = 99,
    BENCHMARK_BURST_MS = 30, /* approximate length of a timing in a round */
    BENCHMARK_HEAT_PERCENT =
        5, /* from this difference on, figures depend on the temperature of the board */
    BENCHMARK_UNSTEADY_PERCENT =
        10,                       /* from this spread on, a peer's times are no measure */
    BENCHMARK_ATTEMPTS = 3,       /* at rounds in which no peer is unsteady */
    BENCHMARK_ORDER_STREAM = 1000 /* stream of the seed for the order of workload 0;
                                     workload i has stream BENCHMARK_ORDER_STREAM + i */
};

/* One shape of a benchmark. */
struct workload {
    struct kernel_shape shape;
    const char *input; /* family of A and B */
};

/* A benchmark.  The recorder's module must have a timer. */
struct benchmark {
    const struct recorder *recorder;
    const struct bench_study *study;
    struct bench_filter filter;
    bool equilibrate; /* for kernels only; peers multiply the matrices as they are */
    const struct workload *workload;
    size_t workloads;
    const size_t *count; /* batch sizes, at least 1; for f32 at most GPU_COUNT_MAX */
    size_t counts;
    uint64_t seed;
    int threads;
    size_t rounds; /* timings of each kernel and peer, 1 to BENCHMARK_ROUNDS_MAX */
    size_t sustained_milliseconds; /* length of the loop under load; 0: no loop */
    const struct progress *progress;

    /* Called when a workload begins, and for every row. */
    void (*begins)(void *listener, const struct workload *workload, size_t count);
    void (*row)(void *listener, json_t *row); /* takes over the row */
    void *listener;
};

/* The result of a benchmark. */
struct benchmark_result {
    size_t mismatches; /* outputs of kernels that differ from the model */
    /* the kernel that did not run, whose fault is reported; or NULL */
    const char *failed;
};

/* Time the selected kernels and all peers, for every workload in batches of the first
   size, then of the next size.

   Verification comes first.  D is compared as a whole if the GEMM has at most 2^22
   products, otherwise in 32 rows by 128 columns, including the first and the last ones.
   In a batch, as many GEMMs are compared as have 2^22 products together, but at least 3
   and at most 256, and always 256 for f16, including the first and the last one.  A
   kernel must give the model's bits; otherwise it is not timed.  A peer is marked as a
   fallback if its bits are those of the FP32 peer.

   In every round, each kernel and peer is then timed once, in a burst of about
   BENCHMARK_BURST_MS.  If the spread of a peer is above BENCHMARK_UNSTEADY_PERCENT, all
   rounds are repeated, in at most BENCHMARK_ATTEMPTS; the last attempt counts.  Finally,
   each except the split passes runs in a longer loop under load.  The first three tenths
   of the loop only warm the board up; speed, power, median clock and the limiting factor
   are measured in the remaining time.  Rounds and loops run in random orders, which
   depend only on the seed, on the index of the workload and on the number of
   participants.  Kernels and peers that the device cannot run, or whose library is
   missing, have a fault and no times.  For kernels, the processor time of their calls is
   measured as well (analysis/bench/benchmark_host.h).

   A missing peer takes no part.  Where the timer measures peaks, the rows of f32 have the
   peak rate of the unit of a kernel, or of an FP32 peer, and the number of threads.

   For f32, GEMM i has operands from seed + i.  Each kernel, and each peer with parts, is
   timed part by part. relres is the largest of the GEMMs compared.  For f16, there are up
   to 256 different operands, rounded from those of one seed.  Each kernel is timed by
   strides and by pointers, and relres is computed from all compared outputs together.

   There is one row for each kernel or peer and each part or addressing, when its workload
   is finished.  For f16, after all workloads of a batch size, there is one more row for
   each addressing: the mean, over the shapes up to 32 on which it was timed, of the speed
   of the first kernel relative to each peer; null for a peer that was not timed on one of
   the shapes.

   Returns BITCUT_UNSUPPORTED if no kernel supports the device or a shape, if the device
   has no memory, if asked to stop, or if a kernel did not run; then `failed` is set, and
   the rows of its workload were reported before.  BITCUT_BAD_ARGUMENT: an input is
   invalid.  BITCUT_NO_MEMORY.  *result is always set. */
enum bitcut_status benchmark_run(struct benchmark_result *result,
                                 const struct benchmark *benchmark, struct fault *f);

#endif
