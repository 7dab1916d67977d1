/* SPDX-License-Identifier: BSD-3-Clause */
/* The matrix unit: a row of numbers that says how one instruction rounds, to the bit. */
#ifndef BITCUT_EMU_UNIT_H
#define BITCUT_EMU_UNIT_H

#include "lib/number/format.h"
#include "lib/number/round.h"

struct summation;

/* `fraction` of a sum that drops nothing. */
enum { FRACTION_EXACT = 0x7fff };

/* No instruction takes more products. */
enum { UNIT_K_MAX = 64 };

/* In which order k enters the blocks.  K_BIT0 and so on: all k with that bit clear,
   ascending, then those with it set. */
enum k_order { K_ASCENDING, K_DESCENDING, K_BIT0, K_BIT1, K_BIT2 };

/* The sign of a zero result. */
enum zero_sign {
    ZERO_POSITIVE,     /* always +0, also when a nonzero sum underflows          */
    ZERO_SUM_POSITIVE, /* +0 for a zero sum; an underflow keeps its sign         */
    ZERO_IEEE          /* -0 if all terms are -0; else the same                 */
};

/* What subnormal a, b and C are read as. */
enum input_flush {
    INPUT_RECORDED, /* as they are                                       */
    INPUT_POSITIVE, /* +0                                                */
    INPUT_SIGNED,   /* a zero of their sign                              */
    INPUT_C         /* C a zero of its sign, a and b as they are; only
                       where each product and sum is rounded             */
};

/* Which NaN a NaN result is.  Operands' NaNs are made quiet with sign and payload kept,
   and an invalid operation gives `nan`; each multiply-add has its own, and where sums are
   rounded each they give the first of their terms that is one. */
enum nan_rule {
    NAN_FIXED,   /* `nan`, whatever the cause                     */
    NAN_OPERAND, /* b if it is a NaN, else the accumulator, else a */
    NAN_FIRST    /* a if it is a NaN, else b, else the accumulator; only of operands
                    with fewer bits                               */
};

/* How far a row is proven. */
enum evidence {
    EVIDENCE_RECORDED,   /* our recordings on the device are reproduced to the bit     */
    EVIDENCE_PUBLISHED,  /* somebody's published recordings are reproduced to the bit  */
    EVIDENCE_OBSERVED,   /* so are single results that others made hardware give       */
    EVIDENCE_CONSISTENT, /* published models; recordings agree, but would also with a
                            correctly rounded dot product                              */
    EVIDENCE_MODELS,     /* published models only; never compared with hardware here   */
    EVIDENCE_EMULATED,   /* the maker's documents; QEMU gives these bits, too          */
    EVIDENCE_DOCUMENTED, /* the maker's documents; never compared with hardware here   */
    EVIDENCE_DEFINITION, /* exact by its definition: not hardware, or integers on it   */
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
    const struct summation *summation; /* how a block and c are added, and which of the
                                          fields below that reads: emu/summation.h     */
    enum k_order order;
    int block;                           /* products a step sums                       */
    int group;                           /* products added before scaling              */
    int fraction;                        /* bits kept below the alignment exponent     */
    int align_min;                       /* the alignment exponent is never below this */
    int sum_fraction;                    /* the same of a sum that c joins             */
    int keep;                            /* significant bits of a sum                  */
    int keep_min;                        /* `keep` never counts from below             */
    const struct bitcut_format *carrier; /* what sums are held in, NULL: exact         */
    bool parity;                         /* even and odd k apart                       */
    bool normalise;                      /* a product's exponent is that of its leading
                                            one, not the sum of two                    */
    bool floor;                          /* bits are dropped by flooring the signed term,
                                            not its magnitude                          */
    bool c_last;                         /* start from +0; C is added at the end, RN to
                                            its format; zeros as IEEE 754 has them     */
    enum input_flush flush_inputs;
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
   the integers, its formats hold each other, and its rules go together; and what its
   summation says (emu/summation.h).  Every row of the table is sound; rows made from
   others need not be. */
bool unit_sound(const struct bitcut_unit *u);

/* Whether subnormal a and b are read as zeros. */
static inline bool unit_flushes_operands(const struct bitcut_unit *u)
{
    return u->flush_inputs == INPUT_POSITIVE || u->flush_inputs == INPUT_SIGNED;
}

/* Bytes of one operand in memory. */
static inline int unit_word_bytes(const struct bitcut_unit *u)
{
    return u->a->bits <= 8 ? 1 : u->a->bits <= 16 ? 2 : 4;
}

enum { CHIP_ALSO_MAX = 2 };

/* A chip is a name for the instructions of its architecture, and of others for what that
   has not.  Architectures are the parts of units' names before the '/'. */
struct chip {
    const char *name, *what;
    const char *architecture;
    const char *also[CHIP_ALSO_MAX]; /* others, the first asked first; then NULL */
    const char *source;               /* of which units it has                    */
    const char *rates; /* the row of emu/rate.h with its peaks; NULL: not known     */
    bool ratios;       /* peaks of that row are another chip's: ratios alone hold   */
};

extern const struct chip chips[]; /* ended by a row whose name is NULL */

/* The unit that `name` means for operands of `input`: the row of that name; or, if `name`
   is a chip, the first row of its architecture, or else of one that it has also, with
   those operands, an f32 accumulator and no block scales; for f32 operands on a chip
   without such a row, fma/f32 (its vector units).  NULL if there is none. */
const struct bitcut_unit *unit_find(const char *name, const struct bitcut_format *input);

/* The first row for operands of `a` and `b` beside u: of its architecture and family (the
   name up to the first '.': "hopper/mma"), with its accumulator format, or of integers
   theirs, and no block scales.  NULL if there is none.  Units of one architecture and
   family read operands of one format alike: flush_inputs and `via` are the same. */
const struct bitcut_unit *unit_beside(const struct bitcut_unit *u,
                                      const struct bitcut_format *a,
                                      const struct bitcut_format *b);

/* Who makes the hardware of the unit's architecture: "NVIDIA"; NULL: nobody. */
const char *unit_vendor(const struct bitcut_unit *u);

/* How far the row is proven, in words: "recorded", "published models only".  Of a vendor
   whose hardware nothing was run on by us they say that. */
const char *unit_evidence(const struct bitcut_unit *u);

#endif
