/* SPDX-License-Identifier: BSD-3-Clause */
/* Fast paths: tiles of a GEMM on vector instructions, with the same bits as the engine.
   A path is chosen only by the fields of a row.  Each path has its requirements:
   - Fused sums truncated at the largest exponent.  In units of the last retained bit, a
     product times a power of two, converted with truncation, is exactly the engine's
     aligned term.  Exponents in a narrow range are compared eight bits at a time.
   - Fused sums that drop nothing: in binary64 with the errors of all additions (TwoSum),
     rounded to odd and then once more (Boldo and Melquiond 2008); chains by the
     processor's fma.
   - Chains of even and odd products: by the processor's fma or, where products are exact
     floats, by its multiplications and additions.
   - Trees of rounded products: by the processor's multiplications and additions; with
     rounding to odd, in binary64.
   - Sums rounded to f16 or bf16: by the same, rounded again.  A sum of two is then
   rounded as once, because 24 bits are more than twice those of the format (Figueroa
   1995); a sum of more is rounded to odd in f32 first.
   - Sums in two stages, whose integers of at most 39 bits are exact in binary64.
   - Serial sums: in binary64 rounding toward zero. */
#ifndef BITCUT_EMU_FAST_FAST_H
#define BITCUT_EMU_FAST_FAST_H

#include "emu/unit.h"
#include "lib/number/split.h"

/* --- what the kernels know -------------------------------------------------------- */

enum {
    FAST_QUARTERS = 4, /* vectors of floats in a panel: one for each byte of a lane */
    FAST_EIGHTHS = 8,  /* vectors of doubles                                 */
    /* Exponents lie in a window around 0, so that the sum of two fits a byte. */
    FAST_LOW = -31,
    FAST_HIGH = 32,
    FAST_ZERO = -128,  /* exponent of a zero: below any other, also in a sum    */
    FAST_NONE = -1000, /* the same if exponents are not bytes                  */
    /* No alignment exponent is below this value, so that scales are normal floats. */
    FAST_FLOOR = -96,
    FAST_F16_MIN = (127 - 14) << 23, /* field of the smallest exponent of f16 */
    FAST_PEAK = 12                   /* enough to hide the latency of a multiplication */
};

/* How a kernel adds a block of products to an accumulator. */
enum fast_method {
    /* clang-format off */
    FAST_FUSED_F32,        /* align and truncate; round toward zero                   */
    FAST_FUSED_F32_TWO,    /* _TWO: two 32-bit sums, where one could overflow         */
    FAST_FUSED_CUT,        /* round to fewer fraction bits                            */
    FAST_FUSED_F16,        /* round to nearest f16                                    */
    FAST_FUSED_F16_TWO,
    FAST_FUSED_WIDE,       /* as F32 and CUT, for any exponents                       */
    FAST_CHAIN,            /* fma after fma                                           */
    FAST_CHAIN_FLUSH,      /* the same, where no result is flushed                    */
    FAST_CHAINS,           /* two chains from +0, added; then c is added              */
    FAST_MULTIPLY_ADD,     /* one rounded product after the other, added and rounded  */
    FAST_EXACT,            /* add products and c exactly, round once                  */
    FAST_PAIRS,            /* round products, sums of two, sums of these, the final sum */
    FAST_PAIRS_FLUSH,      /* the same, with subnormal results flushed                */
    FAST_PAIRS_ODD,        /* two products, rounded to odd, where nothing is subnormal */
    FAST_DOT,              /* add products exactly, round; add c, round               */
    FAST_TWO_STAGE,
    FAST_TWO_STAGE_PARITY,
    FAST_TWO_STAGE_WIDE,   /* the same for any exponents                              */
    FAST_SERIAL_RN,        /* add c to nearest                                        */
    FAST_SERIAL_RZ,        /* the same toward zero                                    */
    FAST_CARRIED_RN,       /* the same with sums rounded to binary64                  */
    FAST_CARRIED_RZ,
    FAST_EXACT_F16,        /* as EXACT and MULTIPLY_ADD, rounded to nearest f16 or bf16 */
    FAST_EXACT_BF16,
    FAST_MULTIPLY_ADD_F16,
    FAST_MULTIPLY_ADD_BF16,
    FAST_METHODS
    /* clang-format on */
};

/* A row, and the operands of a tile, as the kernels read them. */
struct fast_rule {
    enum fast_method method;
    bool half;        /* accumulators are f16, not f32                                 */
    int block;        /* products in a step                                            */
    int first;        /* _TWO: products in the first sum, which begins with c          */
    int fraction;     /* bits retained below the alignment exponent                    */
    int sum_fraction; /* TWO_STAGE: the same for the sum of products                   */
    int least;        /* FUSED_WIDE: the smallest alignment exponent                   */
    int last;         /* TWO_STAGE_WIDE: bits of the sum below this exponent are cut   */
    int lowered;      /* accumulators may be scaled by 2^-lowered between instructions */
    int32_t floor;    /* FUSED: the smallest alignment exponent, less 1, in each byte  */
    int32_t scale;    /* negated exponent field of 2^(fraction - exponent)             */
    int32_t mask;     /* FUSED: mask of the retained bits of a float                   */
    int64_t dropped;  /* TWO_STAGE, SERIAL: mask of the dropped bits of a double       */
};

/* Data of an element of packed A and B beyond its value. */
enum fast_packing {
    FAST_BYTES,  /* A: the exponent four times in 32 bits; B: one byte each */
    FAST_INTS,   /* 32-bit exponents                                      */
    FAST_DOUBLES /* none; A: the value is a double                        */
};

union fast_element {
    struct {
        float value;
        int32_t exponent;
    };
    double wide;
};

/* How to read encodings of an operand's format as floats. */
struct fast_format {
    int bytes;
    uint32_t magnitude; /* all bits but the sign                                      */
    int shift;          /* shift that moves the fraction of an encoding to its place in a
                           float                                                      */
    int sign_shift;     /* shift that moves the sign                                  */
    int32_t rebias;     /* then added to the bits of the float: difference of biases  */
    int32_t flushed;    /* smaller magnitudes, as floats before rebias, become +0; 0:
                           none                                                       */
    int least;          /* smallest exponent by which a value aligns                  */
    enum fast_packing packing;
};

/* How one part of a split is made from a float. */
struct fast_split {
    enum direction direction; /* TO_NEAREST_EVEN, TO_NEAREST_AWAY or TO_ZERO           */
    int drop;                 /* fraction bits dropped from a normal part              */
    int pad, sign;            /* padding bits of the format; position of its sign      */
    int32_t least_normal;     /* floats: smallest normal part, largest finite part     */
    int32_t most;
    int32_t rebias;           /* subtracted from the bits of a float: difference of
                                 biases                                                */
    float to_count, of_count; /* factors to counts of the smallest subnormal part, and
                                 back                                                  */
    int32_t zero_sign;        /* -1: the format has -0; 0: zeros have no sign          */
    int32_t least_count;      /* smaller counts are flushed to zero; INT32_MAX: all     */
    uint32_t overflow, infinity, nan;        /* encodings of overflow, Inf, NaN        */
    uint32_t overflow_value, infinity_value; /* and the floats that they represent    */
    float step;                              /* the residual is multiplied by step,
                                                2^scale                               */
};

/* Floats are split in runs of this length. */
enum { FAST_RUN = 64 };

/* How one part of a split is made from the residual of the parts before it.  All numbers
   are integers in ulps of the value's binade; values are below 2^24. */
struct fast_part {
    enum direction direction;
    int bit;              /* for BY_BIT, see struct bitcut_rounding                     */
    int32_t bit_least;    /* and the smallest exponent that it counts from              */
    int fraction_bits;    /* of a normal part                                           */
    int32_t least_drop;   /* 0 to 26: parts are multiples of 2^least_drop               */
    int32_t least_normal; /* at most 2^30                                               */
    int32_t least_kept;   /* smaller parts are flushed to zero                          */
    int32_t least_taken;  /* smaller values are flushed before they are rounded         */
    int32_t least_read;   /* smaller parts are made, but read as zeros                  */
    int32_t most;         /* larger parts become this value,                            */
    bool infinite;        /* or are not finite                                          */
    bool copy;            /* copy of the value, not of the residual                     */
};

/* Values are counted in blocks of at most FAST_BLOCK, whose sums fit 32 bits in a lane.
   The length of a block is a multiple of FAST_LANES, so that it has whole vectors. */
enum { FAST_BLOCK = 512, FAST_LANES = 16 };

/* The sums over a block of values, as in struct retention (analysis/split). */
struct fast_kept {
    uint64_t exact, bits, ulps, subnormal, zero, flushed, overflow;
    int32_t most, most_low; /* of the residuals, and of the second parts */
};

/* A method on one level. */
struct fast_kernel {
    /* c = step(block of products, c).  c is [rows][columns]; a is [rows][block]; b is
       [block][columns] and its exponents [block][columns], bytes in their own order.  All
       arrays are aligned to 64 bytes.  The row after the last row of a is read too; its
       contents do not matter. */
    void (*block)(float *c, const union fast_element *a, const float *b,
                  const void *exponents, size_t rows, const struct fast_rule *r);
    enum fast_packing packing;
    bool toward_zero; /* the mode in which it is called; otherwise to nearest */
};

/* The functions for one level. */
enum { FAST_INTEGER_ROWS = 2, FAST_INTEGER_COLUMNS = 4 };

struct fast_kernels {
    int columns;
    /* Split `count` floats into parts at index `at` of part[0] and so on.  The other
       floats of the FAST_RUN floats there are zeros; some of them may be split as well.
       least and most are lowered and raised, position by position, to the magnitudes of
       the encodings other than zero; all magnitudes fit 31 bits. */
    void (*split)(void *const *part, size_t at, uint32_t *least, uint32_t *most,
                  const uint32_t *x, const struct fast_split *s, int count, int parts,
                  int bytes);
    /* Split `count` values in ulps, of any sign and below 2^24, into parts.  The residual
       of each value, and its second part, are 0 where a part is not finite.  Arrays are
       aligned to 64 bytes. */
    void (*keep)(struct fast_kept *kept, int32_t *rest, int32_t *low, const int32_t *x,
                 size_t count, const struct fast_part *w, int parts);
    struct fast_kernel method[FAST_METHODS];
    /* Pack `count` encodings of a row of A, rounded up to whole vectors. */
    void (*pack_a)(union fast_element *to, const void *x, size_t count,
                   const struct fast_format *f);
    /* Pack one k of all columns of a panel of B. */
    void (*pack_b)(float *value, void *exponent, const void *x,
                   const struct fast_format *f);
    /* sum = sum + x, rounded to nearest, and x = +0; count is a multiple of `columns`. */
    void (*add_f32)(float *sum, float *x, size_t count);
    void (*add_f16)(float *sum, float *x, size_t count);
    /* The sums of products of FAST_INTEGER_ROWS rows of A and FAST_INTEGER_COLUMNS
       columns of B, integers of 16 bits, modulo 2^32: sum[row][column].  Lines have k
       elements, one after the other. */
    void (*integer_sums)(uint32_t sum[FAST_INTEGER_ROWS][FAST_INTEGER_COLUMNS],
                         const int16_t *a, const int16_t *b, size_t k);
    /* FAST_PEAK vector instructions per round, half of them multiplications of floats and
       half additions of integers, as the kernels mix them: the peak rate of the
       processor, with which rates are compared.  A processor whose multipliers are some
       of its units does not reach this rate with multiplications alone.  x[FAST_PEAK]
       is 1. */
    void (*peak)(float *x, size_t rounds);
};

/* --- what rows and tiles need ------------------------------------------------------ */

/* The range of the exponents of nonzero operands. */
struct fast_range {
    int low, high;
};

/* The exponents of all finite operands of a unit. */
struct fast_range fast_format_range(const struct bitcut_unit *u);

/* Whether all exponents can be compared as bytes without an offset. */
bool fast_range_fits(struct fast_range r);

/* Make the kernels' view of a row; false if the kernels cannot compute it. */
bool fast_rule_make(struct fast_rule *r, const struct bitcut_unit *u);

/* The parts of this that depend on the summation: for rows with the fields that `fused`,
   `pairs`, `dot`, `chains`, `two-stage` and `serial` read. */
bool fast_fused(struct fast_rule *r, const struct bitcut_unit *u);
bool fast_pairs(struct fast_rule *r, const struct bitcut_unit *u);
bool fast_dot(struct fast_rule *r, const struct bitcut_unit *u);
bool fast_chains(struct fast_rule *r, const struct bitcut_unit *u);
bool fast_two_stage(struct fast_rule *r, const struct bitcut_unit *u);
bool fast_serial(struct fast_rule *r, const struct bitcut_unit *u);

/* Choose the method for operands whose exponents lie in the ranges a and b, and their
   units 2^*base_a and 2^*base_b.  False if there is none. */
bool fast_rule_fit(struct fast_rule *r, int *base_a, int *base_b,
                   const struct bitcut_unit *u, struct fast_range a, struct fast_range b);

/* How to read operands. */
struct fast_format fast_format_make(const struct bitcut_unit *u, int base,
                                    enum fast_packing packing);

/* How to make the parts of a split in one format.  False: only split_apply() can make
   them. */
bool fast_split_make(struct fast_split s[SPLIT_PARTS_MAX],
                     const struct bitcut_split *split);

/* Whether a fast path takes the unit. */
bool fast_takes(const struct bitcut_unit *u);

/* The number of vector instructions with arithmetic that the unit's kernel executes for
   each product of a vector of f32 outputs, counted in the AVX-512 code of GCC 12 for
   operands whose exponents lie close together.  No kernel can be faster than the
   processor executes them.  A fast path must take the unit. */
double fast_instructions(const struct bitcut_unit *u);

#endif
