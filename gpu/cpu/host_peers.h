/* SPDX-License-Identifier: BSD-3-Clause */
/* GEMMs of this machine's libraries (gpu/cpu/blas_library.h), to compare the processor's
   matrix units with. */
#ifndef BITCUT_GPU_CPU_HOST_PEERS_H
#define BITCUT_GPU_CPU_HOST_PEERS_H

#include "gpu/cpu/blas_library.h"
#include "gpu/module/module.h"

extern const struct gpu_peer host_peers[]; /* ended by a row without a name */

/* Whether the library of a peer is not here, or lacks the function.  One that is here
   stays open as long as the process lasts. */
bool host_peer_absent(const struct gpu_peer *peer);

struct host_matmul;

/* The libraries, open, and what one of them has made of the last shape, or NULL. */
struct host_libraries {
    void *handle[BLAS_LIBRARIES]; /* NULL: it is not here */
    struct host_matmul *matmul;
};

/* Open them, have them use so many threads, and say which there are, and are not.
   host_libraries_close() ends it, also of zeros. */
void host_libraries_open(struct host_libraries *x, struct gpu_library *library,
                         int threads);
void host_libraries_close(struct host_libraries *x);

/* D = A B of the work, or of its words where the peer has a split, one GEMM of a batch
   after the other.  Another number than 0 with a line in fault. */
int host_peer_run(struct host_libraries *x, const struct gpu_peer *peer,
                  const struct gpu_work *work, char *fault);

#endif
