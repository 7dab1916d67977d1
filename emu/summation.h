/* SPDX-License-Identifier: BSD-3-Clause */
/* The summations: how one block of products and the accumulator become one result.  Each
   summation is a row in its own file.  A row of the unit table names a summation and has
   the fields that it reads. */
#ifndef BITCUT_EMU_SUMMATION_H
#define BITCUT_EMU_SUMMATION_H

#include "emu/unit.h"

struct fast_rule;
struct unit_trace;

/* clang-format off */

/* The fields of a unit's row that only some summations read.  A field means the same in
   all summations.  Code that asks how a row rounds asks which fields it reads. */
enum unit_reads {
    READS_GROUP        = 1 << 0, /* groups of products are added exactly, and align by the
                                    exponent of their scales even if they are zero      */
    READS_FRACTION     = 1 << 1, /* terms are cut below a common exponent, unless
                                    `fraction` is FRACTION_EXACT                        */
    READS_ALIGN_MIN    = 1 << 2, /* the common exponent is never below align_min; products
                                    and c align together                                */
    READS_SUM_FRACTION = 1 << 3, /* products are added first; when c is added, their sum
                                    is floored to sum_fraction bits and c to `fraction`
                                    bits, which are not more                            */
    READS_KEEP         = 1 << 4, /* a sum is cut to this number of significant bits     */
    READS_KEEP_MIN     = 1 << 5, /* this sum is the last one: it is floored to `keep` bits
                                    below its leading bit, or below keep_min, before it is
                                    rounded                                             */
    READS_CARRIER      = 1 << 6,
    READS_PARITY       = 1 << 7,
    READS_NORMALISE    = 1 << 8,
    READS_FLOOR        = 1 << 9  /* terms are cut one by one                            */
};

/* clang-format on */

/* One step of the chain: n products and an accumulator. */
struct step {
    const struct number *a, *b;
    const struct number *scale_a, *scale_b; /* of the first product; NULL if the unit has
                                               no scales                          */
    int n;
    uint64_t c;      /* the accumulator as an encoding of unit->c     */
    struct number z; /* and as a number                               */
};

/* A bound on the error of a step, except the one rounding of its result: `products` times
   the sum of the magnitudes of its products, plus `sum` times the sum of the magnitudes
   of all its terms (products and accumulator), plus `cut`.  A subnormal operand counts
   here as the smallest normal number of its format, because it aligns by this number's
   exponent. */
struct step_error {
    double products, sum;
    double cut;    /* error of terms that are cut when no term is large: below the
                      smallest exponents                                                */
    int roundings; /* number of roundings to unit->result, including the last one; each
                      may underflow                                                     */
};

struct summation {
    const char *name, *what;
    unsigned reads;         /* the fields of enum unit_reads that a step reads,        */
    unsigned reads_exact;   /* and with fraction = FRACTION_EXACT; 0: this combination is
                               invalid                                                 */
    bool rounds_each;       /* every product and every sum is rounded to unit->result, so
                               the step also handles NaN and infinities                */
    bool products_overflow; /* a product of 2^(emax + 1) or more of the result format is
                               an infinity                                             */
    bool operand_nan;       /* with one product, or if each is rounded, the result may be
                               the NaN of an operand                                   */
    bool rival;             /* a deliberate mutant of every row: test vectors must
                               distinguish rows from it, so a further rival needs further
                               vectors                                                 */

    /* Whether the fields that the step reads are in range and fit the row's formats,
       block and scales.  unit_sound() checks the other fields of the row. */
    bool (*sound)(const struct bitcut_unit *unit);

    /* The step's result, an encoding of unit->c.  This is the definition.  Operands,
       scales and accumulator are finite, and products are below 2^(emax + 1) of the
       result if larger products overflow.  If the summation rounds each operation, they
       may have any value. */
    uint64_t (*step)(const struct bitcut_unit *unit, const struct step *step);

    /* The same result; the sums are added to the latest step of the trace.  A rounded sum
       is its `value`, or the retained bits of it, rounded by unit->rounding with the
       row's rule for zeros.  This rule does not apply if the summation rounds each
       operation and the sum has one term.  Analyses infer the results of other rows from
       these sums. */
    uint64_t (*step_traced)(const struct bitcut_unit *unit, const struct step *step,
                            struct unit_trace *trace);

    /* The error bound for operands of a GEMM, where an accumulator is the result of a
       step, or +0.  The calling thread is in the mode of hostfp_enter(). */
    struct step_error (*error)(const struct bitcut_unit *unit);

    /* Set the method and the numbers by which fast paths (emu/fast/fast.h) compute the
       row; false if they cannot.  NULL: there is no fast path. */
    bool (*fast)(struct fast_rule *rule, const struct bitcut_unit *unit);
};

/* All summations.  A new summation needs a name here, and a file that defines
   sum_NAME. */
#define SUMMATIONS(ROW)                                                                  \
    ROW(fused)                                                                           \
    ROW(grouped) ROW(pairs) ROW(two_stage) ROW(serial) ROW(chains) ROW(dot)              \
        ROW(complement) ROW(saturated)

#define SUMMATION(name) extern const struct summation sum_##name;
SUMMATIONS(SUMMATION)
#undef SUMMATION

extern const struct summation *const summations[]; /* ended by NULL */

/* The fields of enum unit_reads that change the results of the row. */
unsigned summation_reads(const struct bitcut_unit *unit);

/* Whether terms are aligned at an exponent and cut there.  If not, only the values of the
   operands matter. */
bool summation_aligns(const struct bitcut_unit *unit);

#endif
