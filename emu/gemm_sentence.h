/* SPDX-License-Identifier: BSD-3-Clause */
/* A GEMM in sentences: how it was computed, and from what. */
#ifndef BITCUT_EMU_GEMM_SENTENCE_H
#define BITCUT_EMU_GEMM_SENTENCE_H

#include "lib/base/record.h"
#include "lib/gemm/plan.h"
#include "lib/number/quantizer.h"

/* A GEMM on a unit, its plan, and the device that ran it. */
struct gemm_description {
    const struct bitcut_gemm *gemm; /* its unit, alpha and beta are used */
    const struct gemm_plan *plan;
    const char *device, *kernel;          /* NULL: the emulator, without a kernel  */
    const char *method[RECIPE_TERMS_MAX]; /* how a device emulates each product; ended by
                                             NULL; one if all are the same             */
    size_t m, n, k;
    bool is_batch; /* whether there are `count` GEMMs of these sizes */
    size_t count;
    const char *input_a, *input_b; /* files or families; NULL: unknown   */
    const struct quantized *quantized; /* A and B; NULL: neither was quantized */
    bool seeded; /* whether A or B was drawn with `seed`               */
    uint64_t seed;
};

/* Sentences for record_line (lib/base/record.h) about an answer that begins with a struct
   gemm_description: recipe, unit and its evidence, kernel and device; the parts of an
   element; how the products are added; start, factors and epilogue, empty for a GEMM
   without them; and sizes, scalars and inputs. */
void gemm_describe_what_ran(char *text, size_t size, const void *answer);
void gemm_describe_parts(char *text, size_t size, const void *answer);
void gemm_describe_sum(char *text, size_t size, const void *answer);
void gemm_describe_epilogue(char *text, size_t size, const void *answer);
void gemm_describe_matrices(char *text, size_t size, const void *answer);

/* The update of a GEMM, such as "D = 2 A B + 0.5 C + bias". */
void gemm_describe_update(char *text, size_t size, const struct bitcut_gemm *g);

/* What quantization retains of A and of B; empty without it. */
void gemm_describe_quantization(char *text, size_t size, const void *answer);

/* The format to which D is rounded; empty for f32. */
void gemm_describe_result(char *text, size_t size, const void *answer);

/* Write a number with `digits` digits, a NaN of either sign as "nan". */
enum { NUMBER_SAID_MAX = 32 };
const char *number_said(char text[NUMBER_SAID_MAX], double x, int digits);

/* The lines of the first four sentences, and of the format of D. */
#define GEMM_LINES                                                                       \
    { "recipe", gemm_describe_what_ran, RECORD_ALWAYS, NULL },                           \
        { "quantization", gemm_describe_quantization, RECORD_ALWAYS, NULL },             \
        { "parts", gemm_describe_parts, RECORD_ALWAYS, NULL },                           \
        { "sum over k", gemm_describe_sum, RECORD_ALWAYS, NULL },                        \
        { "epilogue", gemm_describe_epilogue, RECORD_ALWAYS, NULL },                     \
    {                                                                                    \
        "result", gemm_describe_result, RECORD_ALWAYS, NULL                              \
    }

#endif
