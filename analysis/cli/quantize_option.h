/* SPDX-License-Identifier: BSD-3-Clause */
/* The options --quantize-a and --quantize-b: operands become short elements and factors
   before the GEMM. */
#ifndef BITCUT_ANALYSIS_CLI_QUANTIZE_OPTION_H
#define BITCUT_ANALYSIS_CLI_QUANTIZE_OPTION_H

#include "analysis/cli/epilogue_option.h"
#include "lib/gemm/matrix.h"
#include "lib/number/quantizer.h"

/* Find the quantizers of the options and, unless --scaling was given, set where their
   factors are applied on g->unit.  Prints what is wrong and returns the exit status. */
int quantize_options_read(struct quantized found[2], struct bitcut_gemm *g,
                          const struct epilogue_options *o);

/* Quantize A and B in place; the factors go to *to and g.  Prints what is wrong and returns
   the exit status. */
int quantize_options_apply(struct quantized found[2], struct bitcut_gemm *g,
                           struct epilogue_files *to, struct matrix *a, struct matrix *b);

/* What the quantizer of that name keeps of a matrix, as A or, with `as_b`, as B.  Prints
   what is wrong and returns the exit status. */
int quantize_values(struct quantized *to, const char *option, const char *name,
                    const struct matrix *x, bool as_b);

/* Add the keys of an operand that was quantized. */
void quantized_set_json(json_t *row, const struct quantized *x);

/* Add the keys of operands that were quantized, each as an object. */
void quantized_json(json_t *row, const struct quantized found[2]);

#endif
