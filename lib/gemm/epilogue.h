/* SPDX-License-Identifier: BSD-3-Clause */
/* The epilogue of a GEMM: the steps from the sum of an output to D (lib/bitcut.h). */
#ifndef BITCUT_LIB_GEMM_EPILOGUE_H
#define BITCUT_LIB_GEMM_EPILOGUE_H

#include "lib/base/status.h"
#include "lib/base/table.h"

/* The rows of the steps, by enum bitcut_step; ended by a row whose name is NULL. */
extern const struct table_row epilogue_steps[];

/* The names of enum bitcut_scaling and enum bitcut_start, by value. */
extern const struct table_row scalings[], starts[];

/* A named list of steps. */
struct epilogue {
    const char *name, *what;
    unsigned char step[BITCUT_EPILOGUE_MAX];
    const char *source;
};

extern const struct epilogue epilogues[]; /* ended by a row whose name is NULL */

/* Room for every list of steps as text, with its 0. */
enum { EPILOGUE_TEXT_MAX = 160 };

/* Set the steps that a text names: a row of `epilogues`, or names of steps with "+"
   between.  False: a name is unknown, or there are too many steps. */
bool epilogue_read(unsigned char step[BITCUT_EPILOGUE_MAX], const char *text);

/* Write the text of a list: the name of a row if one has these steps; empty for no
   steps. */
void epilogue_write(char text[EPILOGUE_TEXT_MAX],
                    const unsigned char step[BITCUT_EPILOGUE_MAX]);

/* Room for the steps of any GEMM; "fused" stands for four of them at most. */
enum { EPILOGUE_STEPS_MAX = 4 * BITCUT_EPILOGUE_MAX };

/* The steps of a GEMM that gemm_take() accepted, with those for which "fused" stands. */
void epilogue_of(unsigned char to[EPILOGUE_STEPS_MAX], const struct bitcut_gemm *g);

/* Whether a GEMM has factors of A or of B, or a bias. */
bool gemm_has_scales(const struct bitcut_gemm *g);
bool gemm_has_bias(const struct bitcut_gemm *g);

/* Whether factors are applied at promotions. */
bool gemm_scales_promotions(const struct bitcut_gemm *g);

/* Whether a step reads C, or an accumulator starts from it, if beta is not zero. */
bool epilogue_reads_c(const struct bitcut_gemm *g);

/* Whether the GEMM does anything that is not D = alpha A B + beta C, rounded once to the
   format of D. */
bool gemm_is_extended(const struct bitcut_gemm *g);

/* Check that the values of steps, start and scaling are known. */
enum bitcut_status epilogue_check(const struct bitcut_gemm *g, struct fault *f);

/* Check that the GEMM has every operand that steps, start and scaling read, except C.
   BITCUT_BAD_ARGUMENT says what is missing. */
enum bitcut_status epilogue_check_operands(const struct bitcut_gemm *g, struct fault *f);

/* What the steps read.  Arrays hold FP32 encodings. */
struct epilogue_values {
    unsigned char step[EPILOGUE_STEPS_MAX];
    uint32_t alpha, beta, scale_d, clamp_low, clamp_high, nan;
    const struct bitcut_format *result; /* format of D; NULL: f32                       */
    const uint32_t *c;                  /* row-major, or NULL                           */
    size_t ldc;
    const uint32_t *bias; /* one for each column, or for each row, or NULL              */
    bool bias_rows;
    const uint32_t *scale_a, *scale_b; /* factors, or NULL                              */
    size_t lines_a, lines_b;           /* rows or columns that share a factor           */
    uint32_t *amax;                    /* of all outputs, updated by several threads    */
};

/* Apply the steps to outputs (i, j) to (i, j + count - 1), whose sums are in d.  The
   calling thread is in the mode of hostfp_enter(). */
void epilogue_run(const struct epilogue_values *x, uint32_t *d, size_t i, size_t j,
                  size_t count);

/* The addend of an output that accumulators start from: beta c, or the bias; +0 where
   they start from nothing. */
uint32_t epilogue_start(const struct epilogue_values *x, enum bitcut_start start,
                        size_t i, size_t j);

#endif
