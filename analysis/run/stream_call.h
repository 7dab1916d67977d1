/* SPDX-License-Identifier: BSD-3-Clause */
/* A call whose matrices are in device memory, valid in the order of a stream.  It is
   computed in that stream, and copies for inspection are made in the same order. */
#ifndef BITCUT_ANALYSIS_RUN_STREAM_CALL_H
#define BITCUT_ANALYSIS_RUN_STREAM_CALL_H

#include "analysis/run/blas_product.h"
#include "analysis/run/call_log.h"
#include "analysis/run/run_gpu.h"

struct stream_call {
    /* The arguments of the routine.  All other members must be zeros. */
    void *stream;
    void *workspace; /* device workspace for this call alone, or NULL */
    size_t workspace_bytes;
    const void *line; /* in device memory: a column that every column of C, which is D,
                         holds initially; NULL: D already holds its C */

    /* Why the call is left to the library, if a function below requests it, and the
       reason in words. */
    enum left_reason left;
    struct fault fault;

    /* Set by stream_call_open(). */
    const struct run_gpu *gpu; /* NULL: not yet, or it failed */
    uint64_t capture; /* the graph that the stream captures, or 0 */
    struct product product; /* batches by pointers are converted to strides where
                               possible, or to pointers in CPU memory */
    const void **pointers;  /* the pointers, or NULL */

    bool repeated; /* the column has been repeated */

    struct gpu_work work; /* set by stream_call_choose(): for the whole batch, or for one
                             GEMM of a batch by pointers */

    struct product seen; /* set by stream_call_see(): a copy in CPU memory */
    uint32_t *memory;    /* its memory, or NULL */
};

/* Find the device and the state of its stream, and read the pointers of a batch, which
   waits for the stream.  Returns false if the call is left to the library. */
bool stream_call_open(struct stream_call *c, const struct product *p);

/* Choose the computation.  Returns false if the call is left to the library. */
bool stream_call_choose(struct stream_call *c,
                        const struct run_configuration *configuration);

/* Start the computation in the stream, with the caller's workspace or memory of the
   stream.  Returns BITCUT_UNSUPPORTED if the device failed, with the reason in c->fault;
   BITCUT_BAD_ARGUMENT if nothing was started and the call is left to the library. */
enum bitcut_status stream_call_start(struct stream_call *c,
                                     const struct run_configuration *configuration);

/* The product in CPU memory: A, B, and C if it is read, as they are in the stream now,
   and D, which shares C's memory if it does in the product.  Returns NULL if they cannot
   be copied, with the reason in c->fault.  This function and the next ones wait for the
   stream. */
const struct product *stream_call_see(struct stream_call *c);

/* Copy the D of stream_call_see() from the device, or to it.  Returns false with the
   reason in c->fault. */
bool stream_call_fetch(struct stream_call *c);
bool stream_call_give(struct stream_call *c);

void stream_call_close(struct stream_call *c);

#endif
