/* SPDX-License-Identifier: BSD-3-Clause */
/* A GEMM in sentences: what computed it, and of what. */
#ifndef BITCUT_EMU_GEMM_SENTENCE_H
#define BITCUT_EMU_GEMM_SENTENCE_H

#include "lib/base/record.h"
#include "lib/gemm/plan.h"

/* A GEMM on a unit, its plan, and where it ran. */
struct gemm_description {
    const struct bitcut_gemm *gemm; /* unit, alpha and beta count */
    const struct gemm_plan *plan;
    const char *device, *kernel;          /* NULL: the emulator, and none          */
    const char *method[RECIPE_TERMS_MAX]; /* how a device emulates each product; ended by
                                              NULL; one if all are alike               */
    size_t m, n, k;
    const char *input_a, *input_b; /* files or families; NULL: not known */
    bool seeded; /* A or B was drawn by `seed`                         */
    uint64_t seed;
};

/* Sentences of record_line (lib/base/record.h) on an answer that begins with a struct
   gemm_description: recipe, unit and its evidence, kernel and device; what words an
   element becomes; how the products are added; and sizes, scalars and inputs. */
void gemm_describe_what_ran(char *text, size_t size, const void *answer);
void gemm_describe_words(char *text, size_t size, const void *answer);
void gemm_describe_sum(char *text, size_t size, const void *answer);
void gemm_describe_matrices(char *text, size_t size, const void *answer);

/* A number to so many digits, a NaN of either sign as "nan". */
enum { NUMBER_SAID_MAX = 32 };
const char *number_said(char text[NUMBER_SAID_MAX], double x, int digits);

/* The lines of the first three. */
#define GEMM_LINES                                                                       \
    { "recipe", gemm_describe_what_ran, RECORD_ALWAYS, NULL },                           \
        { "words", gemm_describe_words, RECORD_ALWAYS, NULL },                           \
    {                                                                                    \
        "sum over k", gemm_describe_sum, RECORD_ALWAYS, NULL                             \
    }

#endif
