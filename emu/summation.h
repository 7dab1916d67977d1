/* SPDX-License-Identifier: BSD-3-Clause */
/* The summations: how one block of products and the accumulator become one result.  Each
   is a row in a file of its own; a unit's row names one and holds the fields it reads. */
#ifndef BITCUT_EMU_SUMMATION_H
#define BITCUT_EMU_SUMMATION_H

#include "emu/unit.h"

struct fast_rule;
struct unit_trace;

/* clang-format off */

/* The fields of a unit's row that only some summations read.  What a field means is the
   same in all of them; those who ask how a row rounds ask which fields it reads. */
enum unit_reads {
    READS_GROUP        = 1 << 0, /* groups of products are added exactly, and align by the
                                    exponent of their scales even if they are zero      */
    READS_FRACTION     = 1 << 1, /* terms are cut below a common exponent, unless it is
                                    FRACTION_EXACT                                      */
    READS_ALIGN_MIN    = 1 << 2, /* ... which is never below this; products and c align
                                    together                                            */
    READS_SUM_FRACTION = 1 << 3, /* products are added first; when c joins, their sum is
                                    floored to sum_fraction bits and c to `fraction`,
                                    which is not above                                  */
    READS_KEEP         = 1 << 4, /* a sum is cut to so many significant bits            */
    READS_KEEP_MIN     = 1 << 5, /* it is the last one: floored to `keep` bits below its
                                    leading one, or below keep_min, before it is
                                    rounded                                             */
    READS_CARRIER      = 1 << 6,
    READS_PARITY       = 1 << 7,
    READS_NORMALISE    = 1 << 8,
    READS_FLOOR        = 1 << 9  /* terms are cut, one by one                           */
};

/* clang-format on */

/* One step of the chain: n products and an accumulator. */
struct step {
    const struct number *a, *b;
    const struct number *scale_a, *scale_b; /* of the first product; NULL if none */
    int n;
    uint64_t c;      /* the accumulator as an encoding of unit->c ... */
    struct number z; /* ... and as a number                           */
};

/* A bound on what a step errs by, beside the one rounding of its result: `products` times
   the sum of the magnitudes of its products, `sum` times that of all its terms, products
   and accumulator, and `cut`.  A subnormal operand counts there as its format's least
   normal number, by whose exponent it aligns. */
struct step_error {
    double products, sum;
    double cut;    /* of terms where none is large: beneath the least exponents         */
    int roundings; /* to unit->result, that one included: of each, what underflows      */
};

struct summation {
    const char *name, *what;
    unsigned reads;         /* the fields of enum unit_reads that a step reads ...     */
    unsigned reads_exact;   /* ... with fraction = FRACTION_EXACT; 0: that is unsound  */
    bool rounds_each;       /* every product and sum is rounded to unit->result by itself,
                               so that the step decides NaN and infinities, too        */
    bool products_overflow; /* a product of 2^(emax + 1) or more of the result format is
                               an infinity                                             */
    bool operand_nan;       /* of one product, or rounding each, it may give operands'
                               NaNs                                                    */
    bool rival;             /* a mutant of every row: vectors must tell rows from those
                               with it, so that one more asks for other vectors        */

    /* Whether the fields that the step reads are in their ranges and fit the row's
       formats, block and scales.  The row is sound otherwise, as unit_sound() says. */
    bool (*sound)(const struct bitcut_unit *unit);

    /* The step's result, an encoding of unit->c: the definition.  Operands, scales and
       accumulator are finite, and products below 2^(emax + 1) of the result if larger
       ones overflow; unless the summation rounds each: then they may be anything. */
    uint64_t (*step)(const struct bitcut_unit *unit, const struct step *step);

    /* The same result, with its sums added to the latest step of the trace.  One that is
       rounded is its `value`, or what is kept of that, rounded by unit->rounding and with
       the row's rule for zeros; without that rule if the summation rounds each and it has
       one term.  Analyses conclude from this what other rows give. */
    uint64_t (*step_traced)(const struct bitcut_unit *unit, const struct step *step,
                            struct unit_trace *trace);

    /* The operands are those of a GEMM: an accumulator is what a step gave, or +0.  The
       calling thread is in the mode of hostfp_enter(). */
    struct step_error (*error)(const struct bitcut_unit *unit);

    /* Fill in the method and numbers by which fast paths (emu/fast/fast.h) compute the
       row, or false if they cannot.  NULL: there is none. */
    bool (*fast)(struct fast_rule *rule, const struct bitcut_unit *unit);
};

/* All of them: a new one is a word here, and a file that defines sum_NAME. */
#define SUMMATIONS(ROW)                                                                  \
    ROW(fused) ROW(grouped) ROW(pairs) ROW(two_stage) ROW(serial) ROW(chains) ROW(dot)   \
    ROW(complement)

#define SUMMATION(name) extern const struct summation sum_##name;
SUMMATIONS(SUMMATION)
#undef SUMMATION

extern const struct summation *const summations[]; /* ended by NULL */

/* Which fields of enum unit_reads change what the row computes. */
unsigned summation_reads(const struct bitcut_unit *unit);

/* Whether terms are aligned at an exponent and cut there; if not, only the values of the
   operands matter. */
bool summation_aligns(const struct bitcut_unit *unit);

#endif
