/* SPDX-License-Identifier: BSD-3-Clause */
/* The claims about FP64 GEMMs by schemes; analysis/study/study_fp64.c has their rows. */
#ifndef BITCUT_ANALYSIS_STUDY_FP64_CLAIMS_H
#define BITCUT_ANALYSIS_STUDY_FP64_CLAIMS_H

#include "analysis/study/claim.h"

extern const struct claim fp64_claims[]; /* ended by {0} */

#endif
