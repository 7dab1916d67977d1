/* SPDX-License-Identifier: BSD-3-Clause */
/* GEMMs on the same A and B, one after the other, each compared with the same references.
 */
#ifndef BITCUT_ANALYSIS_STUDY_METHOD_COMPARISON_H
#define BITCUT_ANALYSIS_STUDY_METHOD_COMPARISON_H

#include "analysis/accuracy/judge.h"
#include "analysis/study/study.h"
#include "emu/gemm.h"

/* The problem of a comparison: D = A B, m x k times k x n, with these input families. */
struct comparison_problem {
    const char *a, *b;
    size_t m, n, k;
};

/* The instruction of Ootomo and Yokota's f16 kernels (section 3.5), which promote after
   each instruction. */
#define OOTOMO_UNIT "ampere/mma.m16n8k8.f32.f16"

/* A GEMM in the comparison.  `unit` is a unit, or a chip, from which the instruction for
   the parts is taken. */
struct entrant {
    const char *name; /* name in its rows */
    int recipe;       /* index in `recipes` */
    const char *unit;
    const struct bitcut_split *split; /* NULL: the recipe's */
    const struct bitcut_order *order; /* NULL: k ascending                      */
    int promote; /* 0: as in the recipe; PROMOTE_NEVER; otherwise as in struct bitcut_gemm
                  */
    int terms;   /* 0: as in the recipe; one more than it has: with low*low */
    int cut;     /* number of last bits of A and B that are cleared first */
    bool equilibrate; /* rows of A and columns of B are scaled by powers of two     */
    /* A and B are multiplied by 2^shift first, and D by 2^(-2 shift) afterwards; no
       element or output underflows or overflows by it, only parts do */
    int shift;
};

enum { PROMOTE_NEVER = -1 };

/* The references for results. */
enum { REFERENCE_EXACT, REFERENCE_FP32, REFERENCES_TOLD };

/* A comparison in progress.  All zeros may be cleared. */
struct method_comparison {
    const struct study_point *point;
    struct matrix a, b, d;
    struct judge judge[REFERENCES_TOLD]; /* the references that were requested */
    bool judged[REFERENCES_TOLD];
    struct gemm_parts parts;
};

/* The names of the references, by number. */
extern const char *const method_comparison_references[];

enum { BY_EXACT = 1 << REFERENCE_EXACT, BY_FP32 = 1 << REFERENCE_FP32 };

/* Make A and B from the point's seed, and their references: the exact product, an FP32
   loop, or both.  After a failure method_comparison_clear() has to be called, too. */
enum bitcut_status method_comparison_init(struct method_comparison *c,
                                          const struct comparison_problem *of,
                                          unsigned by, const struct study_point *p,
                                          struct fault *f);
void method_comparison_clear(struct method_comparison *c);

/* The unit on which a method runs. */
const struct bitcut_unit *entrant_unit(const struct entrant *e);

/* Compute D into c->d. */
enum bitcut_status method_comparison_run(struct method_comparison *c,
                                         const struct entrant *e, struct fault *f);

/* The last result compared with a reference. */
const struct comparison *method_comparison_comparison(struct method_comparison *c,
                                                      int reference);

/* Compare c->d with a reference by the metrics in `wanted`, as metrics_find() does. */
void method_comparison_measure(double values[METRICS], struct method_comparison *c,
                               int reference, unsigned wanted);

#endif
