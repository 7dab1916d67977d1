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
    size_t exact, overflow;       /* outputs that are alpha A B + beta C, and others    */
    bool compared;                /* whether D was compared with these integers         */
    size_t differ;                /* outputs that differ from a given D                 */
    size_t row, column;           /* the first of them                                  */
    int64_t given, expected;      /* its integers, or its encodings                     */
};

/* Compare D of g, integers that were computed, with alpha A B + beta C.  Nothing is
   compared if the GEMM has other steps, factors or a bias, or if D has no integers.
   BITCUT_NO_MEMORY. */
enum bitcut_status integer_answer_compare(struct integer_answer *to,
                                          const struct bitcut_gemm *g, struct fault *f);

/* Compare D of g with the D that was given in the same format, element by element. */
void integer_answer_verify(struct integer_answer *to, const struct bitcut_gemm *g,
                           const struct bitcut_matrix *given);

extern const struct record_field integer_gemm_fields[], integer_verify_fields[];
extern const struct record_line integer_gemm_lines[], integer_verify_lines[];

#endif
