/* SPDX-License-Identifier: BSD-3-Clause */
/* Random fragments on a device, compared with the model. */
#ifndef BITCUT_ANALYSIS_EVIDENCE_TRIAL_H
#define BITCUT_ANALYSIS_EVIDENCE_TRIAL_H

#include "analysis/evidence/recorder.h"

#include <jansson.h>

/* The input of a trial. */
struct trial {
    const struct recorder *recorder;
    const struct bitcut_unit *unit; /* the model of the instruction */
    const struct gpu_instruction *instruction;
    const struct gpu_variant_row *variant;
    uint64_t seed;
    size_t outputs; /* rounded up to whole fragments */
    int threads;
};

/* The result of a trial. */
struct trial_result {
    size_t outputs, mismatches;
    uint64_t digest; /* digest of all encodings, see below */
    json_t *first;   /* difference_json() of the first mismatch, or null */
};

/* Fragment f has the size of the instruction.  It belongs to sample class f mod their
   number, and is drawn from stream f of the seed (analysis/evidence/sample.h).  The
   digest is the 64-bit FNV-1a of the fragments in order: A, B, C and the device's D of
   each, element by element, low byte first.  It does not depend on threads.  Returns
   BITCUT_UNSUPPORTED if the device failed, or if asked to stop; BITCUT_NO_MEMORY.
   *result is set only on success, and the caller owns its `first`. */
enum bitcut_status trial_run(struct trial_result *result, const struct trial *trial,
                             const struct progress *progress, struct fault *f);

#endif
