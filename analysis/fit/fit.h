/* SPDX-License-Identifier: BSD-3-Clause */
/* Recorded outputs that a row has to explain. */
#ifndef BITCUT_ANALYSIS_FIT_FIT_H
#define BITCUT_ANALYSIS_FIT_FIT_H

#include "analysis/fit/fit_output.h"

/* An output of an instruction, as it was recorded. */
struct recorded {
    struct sample sample;
    uint64_t d;
};

/* The outputs to explain, in the order in which rows are tested. */
struct fit {
    struct space space;
    struct observed *outputs;
    size_t count;
};

/* Whether all rows with the formats, k and block scales of `unit` can be tested on this
   number of outputs.  Returns BITCUT_BAD_ARGUMENT if k is larger than that of any
   instruction, or if there is no output. */
enum bitcut_status fit_check(const struct bitcut_unit *unit, size_t count,
                             struct fault *f);

/* Prepare tests on these outputs.  Returns BITCUT_BAD_ARGUMENT as fit_check() does; *fit
   is set only on success. */
enum bitcut_status fit_init(struct fit *fit, const struct bitcut_unit *unit,
                            const struct recorded *outputs, size_t count,
                            struct fault *f);
void fit_clear(struct fit *fit);

/* Output `at` of a batch of the unit, counted through D. */
void fit_take(struct recorded *to, const struct bitcut_unit *unit,
              const struct fragments *x, const struct array *d,
              struct fragment_shape shape, size_t at);

/* The index of output number i of `used`, spread evenly over `count`. */
size_t fit_place(size_t i, size_t used, size_t count);

/* Whether two rows have the same formats, k and block scales. */
bool fit_same_instruction(const struct bitcut_unit *x, const struct bitcut_unit *y);

/* Whether the row has the formats, k and block scales of the outputs. */
bool fit_is_for(const struct fit *fit, const struct bitcut_unit *row);

/* The number of outputs that the row gives before the first mismatch, or fit->count.
   fit_is_for() must hold. */
size_t fit_explains(const struct fit *fit, const struct bitcut_unit *row);

/* The number of outputs that the row does not give. */
size_t fit_misses(const struct fit *fit, const struct bitcut_unit *row);

#endif
