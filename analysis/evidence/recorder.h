/* SPDX-License-Identifier: BSD-3-Clause */
/* A device that computes fragments. */
#ifndef BITCUT_ANALYSIS_EVIDENCE_RECORDER_H
#define BITCUT_ANALYSIS_EVIDENCE_RECORDER_H

#include "emu/fragment.h"
#include "gpu/api/gpu.h"

struct recorder {
    struct gpu gpu;
    struct gpu_device device;
};

/* Open the device with that name, whose module may be in `folder`, as gpu_open_device()
   does. r is set only on success. */
enum bitcut_status recorder_open(struct recorder *r, const char *name, const char *folder,
                                 struct fault *f);
void recorder_close(struct recorder *r);

/* The instruction of this device for the unit named `unit`, architecture/instruction.
   Returns BITCUT_UNSUPPORTED if the device has another architecture, or the module does
   not have the instruction for it. */
enum bitcut_status recorder_find(const struct gpu_instruction **instruction,
                                 const struct recorder *r, const char *unit,
                                 struct fault *f);

/* Whether the instruction has the variant.  BITCUT_BAD_ARGUMENT lists the variants that
   it has. */
enum bitcut_status recorder_accepts(const struct gpu_instruction *instruction,
                                    const struct gpu_variant_row *variant,
                                    struct fault *f);

/* Compute D of the batch x of `shape` on the device, into d (allocated, count * m * n
   elements).  A fragment smaller than the instruction is repeated: row i takes row i mod
   m, column j takes column j mod n.  *repeats_differ counts outputs whose bits differ
   from the output that they repeat.  Returns
   - BITCUT_BAD_ARGUMENT: k, the size of an element, or a larger m or n do not fit the
     instruction;
   - BITCUT_UNSUPPORTED: the device failed, or asked to stop;
   - BITCUT_NO_MEMORY. */
enum bitcut_status recorder_run(struct array *d, size_t *repeats_differ,
                                const struct recorder *r,
                                const struct gpu_instruction *instruction,
                                const struct gpu_variant_row *variant,
                                const struct fragments *x, struct fragment_shape shape,
                                const struct progress *progress, struct fault *f);

#endif
