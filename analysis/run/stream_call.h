/* SPDX-License-Identifier: BSD-3-Clause */
/* A call whose matrices are in a device's memory, and are there in the order of a stream:
   what is computed goes into that stream, and what is looked at is copied in its order.
 */
#ifndef BITCUT_ANALYSIS_RUN_STREAM_CALL_H
#define BITCUT_ANALYSIS_RUN_STREAM_CALL_H

#include "analysis/run/blas_product.h"
#include "analysis/run/call_log.h"
#include "analysis/run/run_gpu.h"

struct stream_call {
    /* What the routine says: all zeros but for these. */
    void *stream;
    void *workspace; /* of the device, for this call alone, or NULL */
    size_t workspace_bytes;
    const void *line; /* of the device: C, which is D, has it in every line to begin with;
                         NULL: D has it there                                           */

    /* Why it is left, where a function of these says that it is, and in words. */
    enum left_reason left;
    struct fault fault;

    /* Found out by stream_call_open(). */
    const struct run_gpu *gpu; /* NULL: not yet, or it could not */
    uint64_t capture; /* the graph that the stream captures, or 0 */
    struct product product; /* with batches by pointers at strides, or by pointers that
                               the host can read                                       */
    const void **pointers;  /* of these, or NULL                                       */

    bool repeated; /* the line is there */

    struct gpu_work work; /* of stream_call_choose(): of the whole batch, or of one GEMM
                             of those by pointers                                      */

    struct product seen; /* of stream_call_see(): in the host's memory */
    uint32_t *memory;    /* of that, or NULL                           */
};

/* Find the device and what its stream is, and read pointers of a batch, which waits for
   the stream.  False: it is left. */
bool stream_call_open(struct stream_call *c, const struct product *p);

/* Choose what computes it.  False: it is left. */
bool stream_call_choose(struct stream_call *c, const struct run_configuration *way);

/* Start it in the stream, in the caller's workspace or a room of the stream.
   BITCUT_UNSUPPORTED: the device failed, and c->fault says how; BITCUT_BAD_ARGUMENT:
   nothing was started, and it is left. */
enum bitcut_status stream_call_start(struct stream_call *c,
                                     const struct run_configuration *way);

/* The product in the host's memory: A and B, and C where it is read, as they are in the
   stream now, and D, which is C's memory if it is so in the product.  NULL: it cannot be
   copied, and c->fault says why.  This waits for the stream, as the next ones do. */
const struct product *stream_call_see(struct stream_call *c);

/* Copy D of stream_call_see() from the device, or to it.  False: c->fault says why not.
 */
bool stream_call_fetch(struct stream_call *c);
bool stream_call_give(struct stream_call *c);

void stream_call_close(struct stream_call *c);

#endif
