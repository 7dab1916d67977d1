/* SPDX-License-Identifier: BSD-3-Clause */
/* Fast paths: tiles of a GEMM on vector instructions, to the same bits as the engine.

   A row is taken by its fields alone, and every path says what it needs of them:
   - fused sums truncated at the largest exponent.  In units of the last bit kept a
   product times a power of two, converted with truncation, is exactly the engine's
   aligned term; exponents that lie close together are compared eight bits at a time.
   - fused sums that drop nothing, in binary64 with the errors of all additions (TwoSum),
     rounded to odd and then once (Boldo and Melquiond 2008); chains by the processor's
   fma.
   - chains of even and odd products, by its fma or, where products are exact floats, its
     multiplications and additions.
   - trees of rounded products, by the processor's multiplications and additions; to odd,
     in binary64.
   - sums in two stages, whose integers of at most 39 bits are exact in binary64.
   - serial sums, in binary64 rounding toward zero. */
#ifndef BITCUT_EMU_FAST_FAST_H
#define BITCUT_EMU_FAST_FAST_H

#include "emu/unit.h"
#include "lib/number/split.h"

/* --- what the kernels know -------------------------------------------------------- */

enum {
    FAST_QUARTERS = 4, /* vectors of floats in a panel: one a byte of a lane */
    FAST_EIGHTHS = 8,  /* vectors of doubles                                 */
    /* Exponents lie in a window around 0 that leaves room for sums of two in a byte. */
    FAST_LOW = -31,
    FAST_HIGH = 32,
    FAST_ZERO = -128,  /* the exponent of a zero: below any other in a sum, too */
    FAST_NONE = -1000, /* the same where exponents are not bytes               */
    /* No alignment exponent is below this, so that scales are normal floats. */
    FAST_FLOOR = -96,
    FAST_F16_MIN = (127 - 14) << 23, /* field of the least exponent of f16 */
    FAST_PEAK = 12 /* enough to hide the latency of a multiplication */
};

/* What a kernel does to add a block of products to an accumulator. */
enum fast_method {
    /* clang-format off */
    FAST_FUSED_F32,        /* align and truncate; round toward zero                   */
    FAST_FUSED_F32_TWO,    /* _TWO: one 32-bit sum could overflow, two cannot         */
    FAST_FUSED_CUT,        /* round to fewer fraction bits                            */
    FAST_FUSED_F16,        /* round to nearest f16                                    */
    FAST_FUSED_F16_TWO,
    FAST_FUSED_WIDE,       /* as F32 and CUT, for exponents anywhere                  */
    FAST_CHAIN,            /* fma after fma                                           */
    FAST_CHAIN_FLUSH,      /* the same, where nothing is to be flushed                */
    FAST_CHAINS,           /* two chains from +0, added; then c: where likewise       */
    FAST_MULTIPLY_ADD,     /* a rounded product after the other, added and rounded    */
    FAST_EXACT,            /* add products and c exactly, round once                  */
    FAST_PAIRS,            /* round products, pairs of them, pairs of pairs, the sum  */
    FAST_PAIRS_FLUSH,      /* and flush what is subnormal                             */
    FAST_PAIRS_ODD,        /* two products, rounded to odd: where nothing is subnormal */
    FAST_DOT,              /* add products exactly, round; add c, round               */
    FAST_TWO_STAGE,
    FAST_TWO_STAGE_PARITY,
    FAST_TWO_STAGE_WIDE,   /* for exponents anywhere                                  */
    FAST_SERIAL_RN,        /* add c to nearest                                        */
    FAST_SERIAL_RZ,        /* toward zero                                             */
    FAST_CARRIED_RN,       /* the same with sums that are rounded to binary64         */
    FAST_CARRIED_RZ,
    FAST_METHODS
    /* clang-format on */
};

/* A row, and a tile's operands, as the kernels see them. */
struct fast_rule {
    enum fast_method method;
    bool half;        /* accumulators are f16, not f32                                 */
    int block;        /* products of a step                                            */
    int first;        /* _TWO: those of them in the first sum, which begins with c     */
    int fraction;     /* bits kept below the alignment exponent                        */
    int sum_fraction; /* TWO_STAGE: likewise of the sum of products                    */
    int least;        /* FUSED_WIDE: the least alignment exponent                      */
    int last;         /* TWO_STAGE_WIDE: bits of the sum below this exponent are cut   */
    int lowered;      /* accumulators may be scaled by 2^-lowered between instructions */
    int32_t floor;    /* FUSED: the least alignment exponent, less 1, in each byte     */
    int32_t scale;    /* minus an exponent's field: that of 2^(fraction - exponent)    */
    int32_t mask;     /* FUSED: the bits of a float that are kept                      */
    int64_t dropped;  /* TWO_STAGE, SERIAL: the bits of a double that are not          */
};

/* What an element of packed A and B is besides its value. */
enum fast_packing {
    FAST_BYTES,  /* A: the exponent four times in 32 bits; B: a byte each */
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
    int shift;          /* moves the fraction of an encoding to that of a float       */
    int sign_shift;     /* moves the sign                                             */
    int32_t rebias;     /* added to the bits of the float then: another bias          */
    int32_t flushed;    /* magnitudes below, as floats before that, are +0; 0: none   */
    int least;          /* the least exponent by which a value aligns                 */
    enum fast_packing packing;
};

/* How one word of a split is made of a float. */
struct fast_split {
    enum direction direction; /* TO_NEAREST_EVEN, TO_NEAREST_AWAY or TO_ZERO           */
    int drop;                 /* fraction bits that a normal word loses                */
    int pad, sign;            /* of the format; where its sign is                      */
    int32_t least_normal;     /* floats: the least normal word, the largest finite one */
    int32_t most;
    int32_t rebias;           /* taken from the bits of a float: another bias          */
    float to_count, of_count; /* counts of the least subnormal word, and back          */
    int32_t zero_sign;        /* -1: there is a -0; 0: zeros have no sign              */
    int32_t least_count;      /* fewer of them are flushed to zero; INT32_MAX: all      */
    uint32_t overflow, infinity, nan;        /* encodings of words too large, Inf, NaN */
    uint32_t overflow_value, infinity_value; /* and the floats that they stand for    */
    float step;                              /* what is left is multiplied by 2^scale */
};

/* Floats are split in runs of as many. */
enum { FAST_RUN = 64 };

/* How one word of a split is made of what those before it leave of a value, all in ulps
   of the value's binade: integers, of which values are below 2^24. */
struct fast_word {
    enum direction direction;
    int bit;              /* BY_BIT, see struct bitcut_rounding ...                     */
    int32_t bit_least;    /* ... the least exponent that it counts from                 */
    int fraction_bits;    /* of a normal word                                           */
    int32_t least_drop;   /* 0 to 26: words are multiples of 2^least_drop               */
    int32_t least_normal; /* 2^30 at most                                               */
    int32_t least_kept;   /* smaller words are flushed to zero                          */
    int32_t least_taken;  /* smaller values are, before they are rounded                */
    int32_t least_read;   /* smaller ones are made, but read as zeros                   */
    int32_t most;         /* what is larger becomes this ...                            */
    bool infinite;        /* ... or not finite                                          */
    bool copy;            /* of the value, not of what is left                          */
};

/* Values are counted in blocks of as many at most, which sums of 32 bits a lane hold, and
   of a multiple of so many, which whole vectors hold. */
enum { FAST_BLOCK = 512, FAST_LANES = 16 };

/* What a block of values adds up to, as struct retention says (analysis/split). */
struct fast_kept {
    uint64_t exact, bits, ulps, subnormal, zero, flushed, overflow;
    int32_t most, most_low; /* of what is left, and of the second words */
};

/* A method at one level. */
struct fast_kernel {
    /* c = step(block of products, c).  c is [rows][columns]; a is [rows][block]; b is
       [block][columns] and its exponents [block][columns], bytes in an order of their
       own. All are aligned to 64 bytes.  A row after the last one of a is read, too,
       whatever it holds. */
    void (*block)(float *c, const union fast_element *a, const float *b,
                  const void *exponents, size_t rows, const struct fast_rule *r);
    enum fast_packing packing;
    bool toward_zero; /* the mode that it is called in; else to nearest */
};

/* The functions of one level. */
struct fast_kernels {
    int columns;
    /* `count` floats into words at index `at` of word[0] and so on.  Of FAST_RUN floats
       there the others are zeros; some of them may be split as well.  least and most are
       lowered and raised to the magnitudes of the encodings other than zero, place by
       place; all fit 31 bits. */
    void (*split)(void *const *word, size_t at, uint32_t *least, uint32_t *most,
                  const uint32_t *x, const struct fast_split *s, int count, int words,
                  int bytes);
    /* `count` values in ulps, of any sign and below 2^24, by the words of a split.
       What is left of each, and its second word, are 0 where a word is not finite. Arrays
       are aligned to 64 bytes. */
    void (*keep)(struct fast_kept *kept, int32_t *rest, int32_t *low, const int32_t *x,
                 size_t count, const struct fast_word *w, int words);
    struct fast_kernel method[FAST_METHODS];
    /* `count` encodings of a line of A, rounded up to whole vectors. */
    void (*pack_a)(union fast_element *to, const void *x, size_t count,
                   const struct fast_format *f);
    /* One k of all columns of a panel of B. */
    void (*pack_b)(float *value, void *exponent, const void *x,
                   const struct fast_format *f);
    /* sum = sum + x rounded to nearest, x = +0; count is a multiple of `columns`. */
    void (*add_f32)(float *sum, float *x, size_t count);
    void (*add_f16)(float *sum, float *x, size_t count);
    /* FAST_PEAK independent multiplications of vectors of floats a round: as many as the
       processor can, to set rates beside.  x[FAST_PEAK] is 1. */
    void (*peak)(float *x, size_t rounds);
};

/* --- what rows and tiles need ------------------------------------------------------ */

/* Where the exponents of nonzero operands lie. */
struct fast_range {
    int low, high;
};

/* The exponents of all finite operands of a unit. */
struct fast_range fast_format_range(const struct bitcut_unit *u);

/* Whether all of them can be compared as bytes as they are. */
bool fast_range_fits(struct fast_range r);

/* The kernels' view of a row, or false if they cannot compute it. */
bool fast_rule_make(struct fast_rule *r, const struct bitcut_unit *u);

/* The same as far as it is a matter of the summation: of rows with fields as `fused`,
   `pairs`, `dot`, `chains`, `two-stage` and `serial` read them. */
bool fast_fused(struct fast_rule *r, const struct bitcut_unit *u);
bool fast_pairs(struct fast_rule *r, const struct bitcut_unit *u);
bool fast_dot(struct fast_rule *r, const struct bitcut_unit *u);
bool fast_chains(struct fast_rule *r, const struct bitcut_unit *u);
bool fast_two_stage(struct fast_rule *r, const struct bitcut_unit *u);
bool fast_serial(struct fast_rule *r, const struct bitcut_unit *u);

/* Choose the method for operands whose exponents lie in a and b, and the units they are
   counted in, 2^*base_a and 2^*base_b; or false if there is none. */
bool fast_rule_fit(struct fast_rule *r, int *base_a, int *base_b,
                   const struct bitcut_unit *u, struct fast_range a, struct fast_range b);

/* How operands are read. */
struct fast_format fast_format_make(const struct bitcut_unit *u, int base,
                                    enum fast_packing packing);

/* How to make the words of a split in one format, or false: that takes split_words(). */
bool fast_split_make(struct fast_split s[SPLIT_WORDS_MAX],
                     const struct bitcut_split *split);

/* Whether a fast path takes the unit. */
bool fast_takes(const struct bitcut_unit *u);

/* How many vector instructions with arithmetic in them the unit's kernel executes for
   each product of a vector of f32 outputs, counted in the AVX-512 code of GCC 12 for
   operands whose exponents lie close together: no kernel can be faster than the processor
   executes them.  The unit is one that a fast path takes. */
double fast_instructions(const struct bitcut_unit *u);

#endif
