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

/* Open the device that is called so, whose module may be in `folder`: gpu_open_device().
   *r is set only on success. */
enum bitcut_status recorder_open(struct recorder *r, const char *name, const char *folder,
                                 struct fault *f);
void recorder_close(struct recorder *r);

/* The instruction that the unit called `unit`, architecture/instruction, is on this
   device.  BITCUT_UNSUPPORTED: the device is of another architecture, or the module does
   not have the instruction for it. */
enum bitcut_status recorder_find(const struct gpu_instruction **instruction,
                                 const struct recorder *r, const char *unit,
                                 struct fault *f);

/* Whether the instruction has the variant; BITCUT_BAD_ARGUMENT says which it has. */
enum bitcut_status recorder_accepts(const struct gpu_instruction *instruction,
                                    const struct gpu_variant_row *variant,
                                    struct fault *f);

/* D of the batch x of `shape` as the device computes it, into d (allocated, count * m * n
   elements).  A fragment smaller than the instruction is repeated: row i takes row i mod
   m, column j takes column j mod n.  *repeats_differ counts outputs that are not the same
   bits as the one they repeat.  BITCUT_BAD_ARGUMENT: k, the size of an element, or a
   larger m or n do not fit the instruction; BITCUT_UNSUPPORTED: the device failed, or
   asked to stop; BITCUT_NO_MEMORY. */
enum bitcut_status recorder_run(struct array *d, size_t *repeats_differ,
                                const struct recorder *r,
                                const struct gpu_instruction *instruction,
                                const struct gpu_variant_row *variant,
                                const struct fragments *x, struct fragment_shape shape,
                                const struct progress *progress, struct fault *f);

#endif
