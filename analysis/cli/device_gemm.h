/* SPDX-License-Identifier: BSD-3-Clause */
/* `gemm` on a device, by a kernel or one of its units; or as the emulator computes what a
   kernel does. */
#ifndef BITCUT_ANALYSIS_CLI_DEVICE_GEMM_H
#define BITCUT_ANALYSIS_CLI_DEVICE_GEMM_H

#include "analysis/cli/setup.h"
#include "analysis/evidence/recorder.h"
#include "gpu/api/offload.h"

/* Zero before it is opened. */
struct device_gemm {
    struct recorder recorder; /* where the emulator runs, a device that is not there: of
                                 an architecture of the kernel, with memory enough */
    const struct gpu_kernel *kernel; /* the one named, or NULL */
    struct gpu_work work;            /* what was chosen        */
    struct gpu_offload offload;      /* of a device, for the reference */
    bool on_device;                  /* not by the emulator            */
};

/* Open the device that --device says and find the kernel of that name; or for the
   emulator the module that has it, and its first architecture that fits `unit`.  Prints
   and returns an exit status; device_gemm_close() ends it, whatever that is. */
int device_gemm_open(struct device_gemm *x, const char *device, const char *kernel,
                     const char *unit);
void device_gemm_close(struct device_gemm *x);

/* Choose what computes D, of the sizes that s has, as bitcut_gemm_choose() does; s->gemm
   and s->plan become that, for the emulator.  Prints and returns an exit status:
   EXIT_USAGE if the device has no kernel on the unit asked for and does not emulate it.
 */
int device_gemm_choose(struct device_gemm *x, struct setup *s);

/* Allocate *d and fill it on the device.  Prints and returns an exit
   status. */
int device_gemm_run(struct matrix *d, const struct device_gemm *x, const struct setup *s);

/* How a device that emulates a unit computes the products: one method, or a list with that
   of each term.  The caller owns it. */
json_t *device_gemm_methods(const struct gpu_work *work);

#endif
