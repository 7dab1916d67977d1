/* SPDX-License-Identifier: BSD-3-Clause */
/* Results of GEMMs of integers: the exact reference is the integer itself. */
#ifndef BITCUT_ANALYSIS_ACCURACY_INTEGER_ANSWER_H
#define BITCUT_ANALYSIS_ACCURACY_INTEGER_ANSWER_H

#include "emu/gemm.h"
#include "emu/gemm_sentence.h"
#include "lib/base/record.h"

struct integer_answer {
    struct gemm_description gemm; /* must be first */
    size_t total;                 /* outputs of D                                       */
    size_t exact, overflow; /* outputs that are the exact integer, and others      */
    bool compared;                /* whether D was compared with these integers         */
    size_t differ;                /* outputs that differ from a given D                 */
    size_t row, column;           /* the first of them                                  */
    int64_t given, expected;      /* its integers, or its encodings                     */
};

/* Outputs by what they are of the exact integer alpha (A - zero_a) (B - zero_b) + beta C.
   An output has the first of these kinds that fits. */
enum integer_kind {
    INTEGER_EXACT,   /* that integer                                    */
    INTEGER_WRAPPED, /* that integer modulo 2^bits of the format of D   */
    INTEGER_LIMITED, /* that integer limited to the range of the format */
    INTEGER_OTHER,
    INTEGER_KINDS
};

enum { INTEGER_TEXT_MAX = 48 };

struct integer_outputs {
    size_t total, of[INTEGER_KINDS];
    struct integer_output {
        size_t row, column;
        int64_t given;
        char exact[INTEGER_TEXT_MAX]; /* the exact integer in decimal digits */
    } first[INTEGER_KINDS];           /* the first output of each kind that there is */
};

/* Count the outputs of D of g, a matrix of integers, by their kinds.  A, B and C have
   integers; steps, factors, a bias and a start are not read.  The exact integers have up
   to 126 bits, which suffice for every k below 2^27.  BITCUT_NO_MEMORY. */
enum bitcut_status integer_outputs_count(struct integer_outputs *to,
                                         const struct bitcut_gemm *g, struct fault *f);

/* Compare D of g, integers that were computed, with alpha (A - zero_a) (B - zero_b) +
   beta C.  Nothing is compared if the GEMM has other steps, factors or a bias, or if D
   has no integers.  BITCUT_NO_MEMORY. */
enum bitcut_status integer_answer_compare(struct integer_answer *to,
                                          const struct bitcut_gemm *g, struct fault *f);

/* Compare D of g with the D that was given in the same format, element by element. */
void integer_answer_verify(struct integer_answer *to, const struct bitcut_gemm *g,
                           const struct bitcut_matrix *given);

extern const struct record_field integer_gemm_fields[], integer_verify_fields[];
extern const struct record_line integer_gemm_lines[], integer_verify_lines[];

#endif
