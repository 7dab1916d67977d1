/* SPDX-License-Identifier: BSD-3-Clause */
/* The matrix unit: a row of numbers that determines how one instruction rounds, bit for
   bit. */
#ifndef BITCUT_EMU_UNIT_H
#define BITCUT_EMU_UNIT_H

#include "lib/number/format.h"
#include "lib/number/round.h"

struct summation;

/* `fraction` of a sum that drops no bits. */
enum { FRACTION_EXACT = 0x7fff };

/* Largest number of products of an instruction. */
enum { UNIT_K_MAX = 64 };

/* The order in which k enters the blocks.  K_BIT0 and so on: all k with this bit clear,
   ascending, then all k with this bit set. */
enum k_order { K_ASCENDING, K_DESCENDING, K_BIT0, K_BIT1, K_BIT2 };

/* The sign of a zero result. */
enum zero_sign {
    ZERO_POSITIVE,     /* always +0, also when a nonzero sum underflows          */
    ZERO_SUM_POSITIVE, /* +0 for a zero sum; a sum that underflows keeps its sign */
    ZERO_IEEE          /* -0 if all terms are -0; otherwise as ZERO_SUM_POSITIVE */
};

/* How subnormal a, b and C are read. */
enum input_flush {
    INPUT_RECORDED, /* unchanged                                         */
    INPUT_POSITIVE, /* +0                                                */
    INPUT_SIGNED,   /* as a zero with their sign                         */
    INPUT_C         /* C as a zero with its sign, a and b unchanged; only if each product
                       and sum is rounded                                */
};

/* The NaN of a NaN result.  A NaN operand is made quiet, with sign and payload preserved;
   an invalid operation gives `nan`.  Each multiply-add has its own NaN.  If each sum is
   rounded, the result is the first of the terms that is a NaN. */
enum nan_rule {
    NAN_FIXED,   /* `nan`, for any cause                          */
    NAN_OPERAND, /* b if it is a NaN, else the accumulator, else a */
    NAN_FIRST    /* a if it is a NaN, else b, else the accumulator; only for operands with
                    fewer bits                                    */
};

/* The evidence for a row. */
enum evidence {
    EVIDENCE_RECORDED,   /* our recordings on the device are reproduced bit for bit    */
    EVIDENCE_PUBLISHED,  /* published recordings by others are reproduced bit for bit  */
    EVIDENCE_OBSERVED,   /* as EVIDENCE_PUBLISHED, for single results that others observed
                            on hardware                                                */
    EVIDENCE_STATISTICS, /* published statistics of whole GEMMs are reproduced to every
                            printed digit                                              */
    EVIDENCE_CONSISTENT, /* published models; recordings agree, but a correctly rounded
                            dot product would agree too                                */
    EVIDENCE_MODELS,     /* only published models; never compared with hardware here   */
    EVIDENCE_EMULATED,   /* the maker's documents; QEMU gives the same bits            */
    EVIDENCE_DOCUMENTED, /* the maker's documents; never compared with hardware here   */
    EVIDENCE_DEFINITION, /* exact by definition: not hardware, or integers on hardware */
    EVIDENCE_COUNT
};

/* A row of the unit table.  One instruction computes D[m][n] = A[m][k] B[k][n] + C[m][n].
   Each output is the chain c = step(block of products, c) over k in `order`. */
struct bitcut_unit {
    const char *name, *what;
    int m, n, k;                       /* shape of the instruction                     */
    const struct bitcut_format *a, *b; /* operands                                     */
    const struct bitcut_format *c;     /* accumulator before and after                 */
    const struct bitcut_format *scale; /* block scales of A and B, NULL if none        */
    int scale_block;                   /* products that share one scale                */
    const struct bitcut_format *via;   /* format to which operands are converted first, or
                                          NULL                                          */
    const struct summation *summation; /* how a block and c are added, and which of the
                                          fields below this reads: emu/summation.h     */
    enum k_order order;
    int block;                           /* number of products that a step adds        */
    int group;                           /* number of products added before scaling    */
    int fraction;                        /* bits retained below the alignment exponent */
    int align_min;                       /* the alignment exponent is never below this */
    int sum_fraction;                    /* as `fraction`, for a sum to which c is
                                            added                                      */
    int keep;                            /* significant bits of a sum                  */
    int keep_min;                        /* lower limit of the exponent from which `keep`
                                            counts                                     */
    const struct bitcut_format *carrier; /* format of sums; NULL: exact                */
    bool parity;                         /* even and odd k are summed separately       */
    bool normalise;                      /* the exponent of a product is the exponent of
                                            its leading bit, not the sum of two
                                            exponents                                  */
    bool floor;                          /* bits are dropped by flooring the signed term,
                                            not its magnitude                          */
    bool c_last;                         /* start from +0; C is added at the end, RN to
                                            its format; zeros follow IEEE 754          */
    enum input_flush flush_inputs;
    const struct bitcut_format *result; /* format to which the result of a step is
                                           rounded,                                   */
    struct bitcut_rounding rounding;    /* and the rounding rule                      */
    enum zero_sign zero;
    enum nan_rule nan_rule;
    uint64_t nan;                        /* an encoding of c                           */
    enum evidence evidence;
    const char *source;
    const char *open; /* for published vectors and observations: the fields (of `bitcut
                         list units`) that fit them with another value as well, separated
                         by blanks; only the models determine these fields              */
};

extern const struct bitcut_unit units[]; /* ended by a row whose name is NULL */

/* Whether the engine can run the row: its blocks divide k and each other; its sums fit
   the integers; its formats hold each other; its rules are compatible; and the conditions
   of its summation hold (emu/summation.h).  Every row of the table is valid; rows made
   from others need not be. */
bool unit_sound(const struct bitcut_unit *u);

/* Whether subnormal a and b are read as zeros. */
static inline bool unit_flushes_operands(const struct bitcut_unit *u)
{
    return u->flush_inputs == INPUT_POSITIVE || u->flush_inputs == INPUT_SIGNED;
}

/* Bytes of one operand in memory. */
static inline int unit_part_bytes(const struct bitcut_unit *u)
{
    return u->a->bits <= 8 ? 1 : u->a->bits <= 16 ? 2 : 4;
}

enum { CHIP_ALSO_MAX = 2 };

/* A chip is a name for the instructions of its architecture, and of other architectures
   for operands that its own does not have.  Architectures are the parts of the names of
   units before the '/'. */
struct chip {
    const char *name, *what;
    const char *architecture;
    const char *also[CHIP_ALSO_MAX]; /* other architectures in the order in which they are
                                        searched; then NULL                      */
    const char *source;              /* source that says which units it has      */
    const char *rates; /* the row of emu/rate.h with its peaks; NULL: unknown       */
    bool ratios;       /* the peaks of this row are another chip's: only the ratios
                          hold                                                      */
};

extern const struct chip chips[]; /* ended by a row whose name is NULL */

/* Whether the unit of this name belongs to an architecture of the chip. */
bool chip_has(const struct chip *chip, const char *unit);

/* The unit that `name` means for operands of format `input`.

   It is the row of this name.  If `name` is a chip, it is the first row of its
   architecture, or else of its other architectures, with these operands, an f32
   accumulator (for integers s32) and no block scales; for f32 operands on a chip without
   such a row, fma/f32 (its vector units).  NULL if there is none. */
const struct bitcut_unit *unit_find(const char *name, const struct bitcut_format *input);

/* The same with block scales of the format `scale`, one for each `block` k; the row of
   this name only if it has these operands. */
const struct bitcut_unit *unit_find_scaled(const char *name,
                                           const struct bitcut_format *input,
                                           const struct bitcut_format *scale,
                                           size_t block);

struct bitcut_quantizer;

/* Where the factors of a quantizer are applied on a unit: by the unit if it has block
   scales, otherwise at promotions if they belong to blocks of k, otherwise by steps. */
enum bitcut_scaling unit_scaling(const struct bitcut_unit *u,
                                 const struct bitcut_quantizer *q);

/* The first row for operands in the formats `a` and `b` that belongs to the architecture
   and family of u (the name up to the first '.': "hopper/mma"), with its accumulator
   format, or for integers an integer accumulator, and no block scales.  NULL if there is
   none.  Units of one architecture and family read operands of one format in the same
   way: flush_inputs and `via` are equal. */
const struct bitcut_unit *unit_beside(const struct bitcut_unit *u,
                                      const struct bitcut_format *a,
                                      const struct bitcut_format *b);

/* The maker of the hardware of the unit's architecture, such as "NVIDIA"; NULL: none. */
const char *unit_vendor(const struct bitcut_unit *u);

/* The evidence for the row in words: "recorded", "published models only".  For a vendor
   on whose hardware we ran nothing, the text says so. */
const char *unit_evidence(const struct bitcut_unit *u);

#endif
