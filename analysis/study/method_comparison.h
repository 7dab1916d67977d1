/* SPDX-License-Identifier: BSD-3-Clause */
/* GEMMs on the same A and B, one after the other, each judged by the same references. */
#ifndef BITCUT_ANALYSIS_STUDY_METHOD_COMPARISON_H
#define BITCUT_ANALYSIS_STUDY_METHOD_COMPARISON_H

#include "analysis/accuracy/judge.h"
#include "analysis/study/study.h"
#include "emu/gemm.h"

/* What a contest is about: D = A B, m x k times k x n, of these input families. */
struct comparison_problem {
    const char *a, *b;
    size_t m, n, k;
};

/* The instruction of Ootomo and Yokota's f16 kernels (section 3.5), which promote after
   each one. */
#define OOTOMO_UNIT "ampere/mma.m16n8k8.f32.f16"

/* A GEMM that takes part.  `unit` is a unit or a chip, whose instruction for the words is
   meant. */
struct entrant {
    const char *name; /* of its rows */
    int recipe;       /* of `recipes` */
    const char *unit;
    const struct bitcut_split *split; /* NULL: the recipe's                     */
    const struct bitcut_order *order; /* NULL: k ascending                      */
    int promote; /* 0: as the recipe; PROMOTE_NEVER; else as in struct bitcut_gemm   */
    int terms;   /* 0: as the recipe; one more than it has: with low*low             */
    int cut;     /* so many of the last bits of A and B are cleared before           */
    bool equilibrate; /* rows of A and columns of B are scaled by powers of two     */
    int shift;        /* A and B times 2^shift before, D times 2^(-2 shift) afterwards; as
                         no element or output underflows or overflows by it, only words do  */
};

enum { PROMOTE_NEVER = -1 };

/* What results are compared with. */
enum { REFERENCE_EXACT, REFERENCE_FP32, REFERENCES_TOLD };

/* A contest under way.  All zeros may be cleared. */
struct method_comparison {
    const struct study_point *point;
    struct matrix a, b, d;
    struct judge judge[REFERENCES_TOLD]; /* those that were asked for */
    bool judged[REFERENCES_TOLD];
    struct gemm_words words;
};

/* The names of the references by those numbers. */
extern const char *const method_comparison_references[];

enum { BY_EXACT = 1 << REFERENCE_EXACT, BY_FP32 = 1 << REFERENCE_FP32 };

/* Make A and B by the point's seed, and what they are judged by: the exact product, an
   FP32 loop, or both.  A failure leaves what method_comparison_clear() ends. */
enum bitcut_status method_comparison_init(struct method_comparison *c,
                                          const struct comparison_problem *of,
                                          unsigned by, const struct study_point *p,
                                          struct fault *f);
void method_comparison_clear(struct method_comparison *c);

/* The unit that an entrant runs on. */
const struct bitcut_unit *entrant_unit(const struct entrant *e);

/* Compute D into c->d. */
enum bitcut_status method_comparison_run(struct method_comparison *c,
                                         const struct entrant *e, struct fault *f);

/* The last result beside a reference. */
const struct comparison *method_comparison_comparison(struct method_comparison *c,
                                                      int reference);

/* Measure c->d against a reference, by the metrics in `wanted`, as metrics_find(). */
void method_comparison_measure(double values[METRICS], struct method_comparison *c,
                               int reference, unsigned wanted);

#endif
