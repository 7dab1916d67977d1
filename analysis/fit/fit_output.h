/* SPDX-License-Identifier: BSD-3-Clause */
/* A recorded output, decoded once for all rows of a space. */
#ifndef BITCUT_ANALYSIS_FIT_FIT_OUTPUT_H
#define BITCUT_ANALYSIS_FIT_FIT_OUTPUT_H

#include "analysis/evidence/sample.h"
#include "analysis/fit/fit_space.h"

/* How operands can be read: converted to each of three formats (`via`), subnormals kept
   or flushed in each way. */
enum { FLUSHES = INPUT_C + 1, READINGS = FLUSHES * 3 };

/* One recorded output, ready for every row of a space. */
struct observed {
    struct number *numbers;                   /* all of the below, one allocation     */
    struct number *a[READINGS], *b[READINGS]; /* NULL: no row reads them so         */
    struct number *scale_a, *scale_b;         /* NULL for a unit without block scales */
    uint8_t alias[READINGS]; /* the first reading that gives the same numbers */
    bool c_subnormal;        /* so that flushing changes it                   */
    bool nan;                /* a NaN, or Inf times 0: any row gives a NaN    */
    uint64_t c, d;           /* encodings of unit->c; d is the recorded one   */
    int rank;                /* the lower, the more rows it settles at once,  */
    size_t index;            /* and which it was of all: in struct fit        */
};

/* Decode the operands of `sample` in all ways that the space has.  False if there is no
   memory. */
bool observed_init(struct observed *o, const struct space *s, const struct sample *sample,
                   uint64_t d);
void observed_clear(struct observed *o);

/* Which reading is the row's: FLUSHES * (position of `via` in the space) + flush_inputs.
 */
int observed_reading(const struct space *s, const struct bitcut_unit *row);

/* The operands in that reading. */
struct lane observed_a(const struct observed *o, int reading);
struct lane observed_b(const struct observed *o, int reading);

/* The output of a row of the space. */
uint64_t observed_dot(const struct observed *o, const struct space *s,
                      const struct bitcut_unit *row);

#endif
