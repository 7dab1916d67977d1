/* SPDX-License-Identifier: BSD-3-Clause */
/* GEMMs of this machine's libraries (gpu/cpu/blas_library.h), with which the processor's
   matrix units are compared. */
#ifndef BITCUT_GPU_CPU_HOST_PEERS_H
#define BITCUT_GPU_CPU_HOST_PEERS_H

#include "gpu/cpu/blas_library.h"
#include "gpu/module/module.h"

extern const struct gpu_peer host_peers[]; /* ended by a row without a name */

/* Whether the library of a peer is not installed, or lacks the function.  An installed
   library stays open until the process ends. */
bool host_peer_absent(const struct gpu_peer *peer);

struct host_matmul;

/* The open libraries, and the object that one of them has made for the last shape, or
   NULL. */
struct host_libraries {
    void *handle[BLAS_LIBRARIES]; /* NULL: not installed  */
    struct host_matmul *matmul;
};

/* Open the libraries, set their number of threads, and report which are installed and
   which are not.  host_libraries_close() ends it, also for a struct of zeros. */
void host_libraries_open(struct host_libraries *x, struct gpu_library *library,
                         int threads);
void host_libraries_close(struct host_libraries *x);

/* Compute D = A B of the work, or from its parts if the peer has a split, one GEMM of a
   batch after the other.  Returns a number other than 0 with a line in fault on
   failure. */
int host_peer_run(struct host_libraries *x, const struct gpu_peer *peer,
                  const struct gpu_work *work, char *fault);

#endif
