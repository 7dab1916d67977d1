/* SPDX-License-Identifier: BSD-3-Clause */
/* The model's result for an instruction that was issued as a variant. */
#ifndef BITCUT_ANALYSIS_EVIDENCE_VARIANT_H
#define BITCUT_ANALYSIS_EVIDENCE_VARIANT_H

#include "analysis/evidence/set.h"
#include "gpu/api/gpu.h"

/* How a set was recorded: the variant named by "variant" in its meta.json; plain without
   that key.  Returns BITCUT_BAD_FILE for an unknown name. */
enum bitcut_status variant_of(const struct gpu_variant_row **variant, const struct set *s,
                              struct fault *f);

/* The operands of a batch as the unit reads them, with the signs and the C of a variant.
 */
struct variant_operands {
    struct fragments x;
    struct array a, b,
        c; /* the arrays that differ from the batch; the others are empty */
};

/* BITCUT_NO_MEMORY is the only failure, and leaves nothing to clear.  *t uses the arrays
   of *x until variant_operands_clear(). */
enum bitcut_status variant_operands_make(struct variant_operands *t,
                                         const struct bitcut_unit *unit,
                                         const struct gpu_variant_row *variant,
                                         const struct fragments *x, struct fault *f);
void variant_operands_clear(struct variant_operands *t);

#endif
