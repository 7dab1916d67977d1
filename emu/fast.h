/* Fast paths: tiles of a GEMM on vector instructions, to the same bits as the engine.

   A row is taken by its fields alone: truncated fused sums (SUM_FUSED) whose products are
   exact floats and whose aligned sums fit 32-bit integers.  In units of the last bit kept
   a product times a power of two, converted with truncation, is exactly the engine's
   aligned term; the largest exponents are found eight bits at a time. */
#ifndef BITCUT_EMU_FAST_H
#define BITCUT_EMU_FAST_H

#include "emu/unit.h"
#include "lib/split.h"

/* --- what the kernels know -------------------------------------------------------- */

enum {
    FAST_QUARTERS = 4, /* vectors of floats in a vector of bytes */
    /* Exponents lie in a window around 0 that leaves room for sums of two in a byte. */
    FAST_LOW = -31,
    FAST_HIGH = 32,
    FAST_ZERO = -128, /* the exponent of a zero: below any other in a sum, too */
    /* No alignment exponent is below this, so that scales are normal floats. */
    FAST_FLOOR = -96,
    FAST_F16_LEAST = (127 - 14) << 23 /* field of the least exponent of f16 */
};

/* What a step's sum is rounded to. */
enum fast_result {
    FAST_F32,     /* toward zero                           */
    FAST_F32_CUT, /* toward zero, with fewer fraction bits */
    FAST_F16,     /* to nearest even                       */
    FAST_RESULTS
};

/* A row as the kernels see it. */
struct fast_rule {
    enum fast_result result;
    int block;     /* products of a step; a multiple of 4                             */
    int first;     /* of them in the first of two sums, or all: see `two`             */
    bool two;      /* one 32-bit sum could overflow; two cannot                       */
    int fraction;  /* bits kept below the alignment exponent                          */
    int32_t floor; /* the least alignment exponent, less 1, in each byte              */
    int32_t scale; /* minus the field of an exponent: that of 2^(fraction - exponent) */
    int32_t mask;  /* CUT: the bits of a float that are kept                          */
};

/* How to read encodings of an operand's format as floats. */
struct fast_format {
    int bytes;
    uint32_t magnitude; /* all bits but the sign                                      */
    int shift;          /* moves the fraction of an encoding to that of a float       */
    int sign_shift;     /* moves the sign                                             */
    int32_t rebias;     /* added to the bits of the float then: another bias          */
    int least;          /* the least exponent by which a value aligns                 */
};

/* How one word of a split is made of a float. */
struct fast_split {
    enum direction direction; /* TO_NEAREST_EVEN, TO_NEAREST_AWAY or TO_ZERO           */
    int drop;                 /* fraction bits that a normal word loses, at least 1    */
    int pad, sign;            /* of the format; where its sign is                      */
    int32_t least_normal;     /* floats: the least normal word, the largest finite one */
    int32_t most;
    int32_t rebias;           /* taken from the bits of a float: another bias          */
    float to_count, of_count; /* counts of the least subnormal word, and back          */
    int32_t least_count;      /* fewer of them are flushed to zero                     */
    uint32_t overflow, infinity, nan;        /* encodings of words too large, Inf, NaN */
    uint32_t overflow_value, infinity_value; /* and the floats that they stand for    */
    float step;                              /* what is left is multiplied by 2^scale */
};

/* Floats are split in runs of as many. */
enum { FAST_RUN = 64 };

/* The functions of one level.  c is [rows][columns]; a is [rows][2][block], the values
   and then their exponents, four times in 32 bits; b is [block][columns] and its
   exponents [block][columns], in an order of their own.  All are aligned to 64 bytes.  A
   row after the last one of a is read, too, whatever it holds. */
struct fast_kernels {
    int columns;
    /* FAST_RUN floats into words at index `at` of word[0] and so on.  least and most are
       lowered and raised to the magnitudes of the encodings other than zero, place by
       place; all fit 31 bits. */
    void (*split)(void *const *word, size_t at, uint32_t *least, uint32_t *most,
                  const uint32_t *x, const struct fast_split *s, int words, int bytes);
    /* c = step(block of products, c), [result][two].  Called rounding toward zero. */
    void (*block[FAST_RESULTS][2])(float *c, const float *a, const float *b,
                                   const int8_t *exponents, size_t rows,
                                   const struct fast_rule *r);
    /* `count` encodings of a line of A, rounded up to whole vectors. */
    void (*pack_a)(float *value, int32_t *exponent, const void *x, size_t count,
                   const struct fast_format *f);
    /* One k of all columns of a panel of B. */
    void (*pack_b)(float *value, int8_t *exponent, const void *x,
                   const struct fast_format *f);
    /* sum = sum + x rounded to nearest, x = +0; count is a multiple of `columns`. */
    void (*add[FAST_RESULTS])(float *sum, float *x, size_t count);
};

/* --- running ---------------------------------------------------------------------- */

struct job;

/* How to make the words of a split in one format, or false: that takes split_words(). */
bool fast_split_make(struct fast_split s[SPLIT_WORDS_MOST],
                     const struct bitcut_split *split);

/* Rows and columns of a tile. */
enum { FAST_ROWS = 256, FAST_COLUMNS = 256 };

/* Whether a fast path takes the unit. */
bool fast_takes(const struct bitcut_unit *u);

/* Bytes of scratch that one thread needs for a job; they must be aligned to 64. */
size_t fast_scratch_bytes(const struct job *job);

/* The outputs of the tile at (i0, j0).  False, and nothing is done, if its operands are
   out of the kernels' range.  Outputs of lines with NaN or Inf (words_special()) are not
   those of the unit: the engine is to compute them again.  The calling thread is in the
   mode of hostfp_enter(). */
bool fast_tile(const struct job *job, void *scratch, size_t i0, size_t j0);

#endif
