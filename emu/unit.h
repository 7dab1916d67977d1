/* The matrix unit: a row of numbers that says how one instruction rounds, to the bit. */
#ifndef BITCUT_EMU_UNIT_H
#define BITCUT_EMU_UNIT_H

#include "lib/format.h"
#include "lib/round.h"

/* How one block of products and the accumulator are summed.  The engine has one function
   for each; every field it reads is in the row. */
enum summation {
    /* All terms (products, and c) at once: aligned at the largest exponent among the
       nonzero terms, but never below align_min; each magnitude truncated to `fraction`
       bits below that exponent; added exactly; rounded once to `result`.  A product's
       exponent is the sum of its operands' (but see `normalise`).  fraction =
       FRACTION_EXACT drops nothing; with block = 1 that is an FMA chain. */
    SUM_FUSED,

    /* As FUSED, but first `group` products are added exactly and multiplied by their block
       scales.  The group's exponent is that of its scales, whatever its own size and even
       if it is zero; but a group with a zero scale takes no part. */
    SUM_GROUPED,

    /* Each product rounded to `result`, then added as a balanced tree of rounded
       additions, then one rounded addition to c. */
    SUM_PAIRS,

    /* Products as in FUSED, without c and without align_min; their sum floored to
       `sum_fraction` bits and c floored to `fraction` bits below the larger of the
       products' and c's exponents (that of a zero c is its format's emin); added exactly;
       floored to `keep` bits below the leading one, or below keep_min if that is higher;
       rounded to `result`.  Products of 2^(emax + 1) or more of the result format are
       infinities.  With `parity`, products
       of even and of odd k are summed apart, each floored to `fraction` bits at the larger
       of the two exponents and added; and c is left out if its exponent is more than
       fraction + 1 below. */
    SUM_TWO_STAGE,

    /* Products added one by one, each exact sum truncated to `keep` significant bits,
       starting from zero; then one rounded addition to c.  With a `carrier` every one of
       these sums is rounded to that format first, to nearest even. */
    SUM_SERIAL
};

enum { FRACTION_EXACT = 0x7fff };

/* No instruction takes more products. */
enum { UNIT_K_MOST = 64 };

/* In which order k enters the blocks.  K_BIT0 and so on: all k with that bit clear,
   ascending, then those with it set. */
enum k_order { K_ASCENDING, K_DESCENDING, K_BIT0, K_BIT1, K_BIT2 };

/* The sign of a zero result. */
enum zero_sign {
    ZERO_POSITIVE,     /* always +0, also when a nonzero sum underflows          */
    ZERO_SUM_POSITIVE, /* +0 for a zero sum; an underflow keeps its sign         */
    ZERO_IEEE          /* -0 if all terms are -0; else the same.  Not for GROUPED */
};

/* Which NaN a NaN result is. */
enum nan_rule {
    NAN_FIXED,  /* `nan`, whatever the cause */
    NAN_OPERAND /* each step (block 1): b if it is a NaN, else the accumulator, else a, made
                   quiet with sign and payload kept; `nan` for an invalid operation */
};

/* How far a row is proven. */
enum evidence {
    EVIDENCE_RECORDED,   /* our recordings on the device are reproduced to the bit     */
    EVIDENCE_PUBLISHED,  /* somebody's published recordings are reproduced to the bit  */
    EVIDENCE_OBSERVED,   /* so are single results that others made hardware give       */
    EVIDENCE_CONSISTENT, /* published models; recordings agree, but would also with a
                            correctly rounded dot product                              */
    EVIDENCE_MODELS,     /* published models only; never compared with hardware here   */
    EVIDENCE_DEFINITION, /* not hardware: exact by its definition                      */
    EVIDENCE_COUNT
};

/* A row of the unit table.  One instruction computes D[m][n] = A[m][k] B[k][n] + C[m][n];
   each output is the chain c = step(block of products, c) over k in `order`. */
struct bitcut_unit {
    const char *name, *what;
    int m, n, k;                       /* shape of the instruction                     */
    const struct bitcut_format *a, *b; /* operands                                     */
    const struct bitcut_format *c;     /* accumulator in and out                       */
    const struct bitcut_format *scale; /* block scales of A and B, NULL if none        */
    int scale_block;                   /* products that share one scale                */
    const struct bitcut_format *via;   /* what operands are converted to first, or NULL */
    enum summation summation;
    enum k_order order;
    int block;                           /* products a step sums                       */
    int group;                           /* GROUPED: products added before scaling     */
    int fraction;                        /* bits kept below the alignment exponent     */
    int align_min;                       /* the alignment exponent is never below this */
    int sum_fraction, keep;              /* TWO_STAGE, SERIAL                          */
    int keep_min;                        /* TWO_STAGE: `keep` never counts from below  */
    const struct bitcut_format *carrier; /* SERIAL: what sums are held in, NULL: exact */
    bool parity;                         /* TWO_STAGE: even and odd k apart            */
    bool normalise;                      /* FUSED, TWO_STAGE: a product's exponent is that
                                            of its leading one, not the sum of two      */
    bool floor;                          /* FUSED, GROUPED, TWO_STAGE: bits are dropped by
                                            flooring the signed term, not its magnitude */
    bool c_last;                         /* start from +0; C is added at the end, RN to
                                            its format; zeros as IEEE 754 has them     */
    bool flush_inputs;                   /* subnormal a, b and C are read as +0        */
    const struct bitcut_format *result;  /* a step's result is rounded to this ...     */
    struct bitcut_rounding rounding;     /* ... by this rule                           */
    enum zero_sign zero;
    enum nan_rule nan_rule;
    uint64_t nan;                        /* an encoding of c                           */
    enum evidence evidence;
    const char *source;
    const char *open; /* published vectors and observations: the fields (of `bitcut list
                         units`) of which some step fits them as well, separated by
                         blanks; so those are the models' alone                         */
};

extern const struct bitcut_unit units[]; /* ended by a row whose name is NULL */

/* Whether the engine can run the row: its blocks divide k and each other, its sums fit
   the integers, its formats hold each other, and its rules go together (FUSED takes
   scales that are powers of two, GROUPED operands whose emin is not below 0).  Every row of
   the table is sound; rows made from others need not be. */
bool unit_sound(const struct bitcut_unit *u);

/* A chip is a name for the instructions of its architecture. */
struct chip {
    const char *name, *what;
    const char *architecture; /* the part of a unit's name before the '/' */
};

extern const struct chip chips[]; /* ended by a row whose name is NULL */

/* The unit that `name` means for operands of `input`: the row of that name; or, if `name`
   is a chip, the first row of its architecture with those operands, an f32 accumulator
   and no block scales; for f32 operands on a chip without such a row, fma/f32 (its vector
   units).  NULL if there is none. */
const struct bitcut_unit *unit_find(const char *name, const struct bitcut_format *input);

/* Who makes the hardware of the unit's architecture: "NVIDIA"; NULL: nobody. */
const char *unit_vendor(const struct bitcut_unit *u);

/* How far the row is proven, in words: "recorded", "published models only".  Of a vendor
   whose hardware nothing was run on by us they say that. */
const char *unit_evidence(const struct bitcut_unit *u);

#endif
