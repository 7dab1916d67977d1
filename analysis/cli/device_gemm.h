/* SPDX-License-Identifier: BSD-3-Clause */
/* `gemm` on a device, by a kernel or by one of the device's units; or the emulation of a
   kernel. */
#ifndef BITCUT_ANALYSIS_CLI_DEVICE_GEMM_H
#define BITCUT_ANALYSIS_CLI_DEVICE_GEMM_H

#include "analysis/cli/setup.h"
#include "analysis/evidence/recorder.h"
#include "gpu/api/offload.h"

/* Must be all zeros before it is opened. */
struct device_gemm {
    struct recorder recorder; /* for the emulator: a stand-in for a device of the kernel's
                                 architecture, with enough memory */
    const struct gpu_kernel *kernel; /* the kernel that was named, or NULL */
    struct gpu_work work;            /* the selected computation */
    struct gpu_offload offload;      /* for the reference: the device as an offload */
    bool on_device;                  /* false: the emulator */
};

/* Open the device of --device and find the kernel with that name.  For the emulator: find
   the module that has the kernel, and its first architecture that supports `unit`.
   Prints messages and returns an exit status; device_gemm_close() has to be called after
   any status. */
int device_gemm_open(struct device_gemm *x, const char *device, const char *kernel,
                     const char *unit);
void device_gemm_close(struct device_gemm *x);

/* Choose the computation of D with the sizes of s, as bitcut_gemm_choose() does.  For the
   emulator s->gemm and s->plan are set to it.  Prints messages and returns an exit
   status: EXIT_USAGE if the device has no kernel for the requested unit and does not
   emulate it. */
int device_gemm_choose(struct device_gemm *x, struct setup *s);

/* Allocate *d and fill it on the device.  Prints and returns an exit
   status. */
int device_gemm_run(struct matrix *d, const struct device_gemm *x, const struct setup *s);

/* How a device that emulates a unit computes the products: one method, or a list with the
   method of each term.  The caller owns the result. */
json_t *device_gemm_methods(const struct gpu_work *work);

#endif
