/* SPDX-License-Identifier: BSD-3-Clause */
/* Quantizers: how a matrix of FP32 values becomes elements of a short format and scales of
   blocks.  An element is approximately x / (scale of its block x scale of the matrix). */
#ifndef BITCUT_LIB_NUMBER_QUANTIZER_H
#define BITCUT_LIB_NUMBER_QUANTIZER_H

#include "lib/base/record.h"
#include "lib/base/status.h"
#include "lib/number/format.h"

/* How the scale of a block follows from its largest magnitude, amax.  M is the largest
   value of the element format, 2^E the largest power of two in it.  Every operation rounds
   to FP32, to nearest even, unless its result is a power of two. */
enum scale_rule {
    SCALE_DIVIDE,   /* amax / M                                                       */
    SCALE_FLOOR,    /* 2^(floor(log2 amax) - E)                                       */
    SCALE_CEIL,     /* the smallest power of two s with amax <= M s                   */
    SCALE_EVEN,     /* as FLOOR, after amax is rounded to the element's fraction bits */
    SCALE_TWO_LEVEL /* (amax / M) / t rounded to the scale's format, t the scale of the
                       matrix: its amax / (M times the largest scale)                 */
};

struct bitcut_quantizer {
    const char *name, *what;
    const struct bitcut_format *element, *scale;
    size_t lines, depth; /* of a block: rows of A or columns of B, and k; 0: all */
    enum scale_rule rule;
    const char *source;
};

extern const struct bitcut_quantizer quantizers[]; /* ended by a row whose name is NULL */

/* The number of blocks along lines and along k. */
size_t quantizer_lines(const struct bitcut_quantizer *q, size_t lines);
size_t quantizer_blocks(const struct bitcut_quantizer *q, size_t k);

/* What quantization did to an operand; `quantizer` is NULL if it was not quantized. */
struct quantized {
    const struct bitcut_quantizer *quantizer;
    struct bitcut_quantization kept;
    const char *input; /* the file of the operand, or NULL */
};

/* The fields of the members (lib/base/record.h). */
extern const struct record_field quantizer_name_fields[], quantizer_kept_fields[],
    quantizer_input_fields[];

/* Quantize x, lines x k elements: the contract of bitcut_quantize().  `found` has the
   numbers of bitcut_quantization, and is written only on success. */
enum bitcut_status quantize(uint32_t *elements, uint32_t *scales, uint32_t *matrix_scale,
                            struct quantized *found, const struct bitcut_quantizer *q,
                            const uint32_t *x, size_t lines, size_t k, struct fault *f);

#endif
