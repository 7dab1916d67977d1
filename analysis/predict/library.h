/* SPDX-License-Identifier: BSD-3-Clause */
/* Libraries whose GEMMs are predicted: how each computes a call, by rules that were
   compared with its results to the bit. */
#ifndef BITCUT_ANALYSIS_PREDICT_LIBRARY_H
#define BITCUT_ANALYSIS_PREDICT_LIBRARY_H

#include "analysis/predict/prediction.h"

enum { LIBRARY_TYPES_MAX = 12 };

/* A chip, or a core type of processors, that a library has kernels for. */
struct library_chip {
    const char *name, *what;
    const void *kernels; /* what the rule of the library reads; its own type */
};

/* Types of a call: the formats of A and B, and of D.  Two rows may have the same formats and
   differ in the arithmetic that the call asks for. */
struct library_types {
    const char *name, *what;
    int operands, result; /* positions in formats[] */
};

/* A call of a program that uses the library, such as torch.mm of PyTorch. */
struct library_call {
    const char *name, *what;
    const char *types;  /* the types of the program's options by default */
    const char *layout; /* of A and B, such as "NT", if the call decides it; NULL: any */
    const void *how;    /* what the rule of the library reads; its own type */
};

/* A row: a version of a library. */
struct library {
    const char *name, *what;
    const char *function;             /* the call that is predicted                    */
    const struct library_chip *chips; /* ended by a row whose name is NULL            */
    const struct library_call *calls; /* of a program, ended by a row whose name is NULL;
                                         the first is the default; NULL: the function
                                         itself is called                             */
    bool has_batches;                 /* whether several GEMMs of a size are covered  */
    struct library_types types[LIBRARY_TYPES_MAX]; /* ended by a row without a name     */
    bool has_fields;                  /* whether options may tell the algorithm        */
    const char *settings; /* how a program selects the chip                            */

    /* Predict x->call, which has x->types, on x->chip by x->threads threads: add
       computations and parts to x, so that every output has a part.  The call is a GEMM
       of a dense A, or a batch, with sizes above 0.  BITCUT_UNSUPPORTED: the rules do not
       cover the call, and the fault says why.  BITCUT_NO_MEMORY.  x->function may be
       replaced. */
    enum bitcut_status (*predict)(struct prediction *x, struct fault *f);
    const char *source;
};

extern const struct library libraries[]; /* ended by a row whose name is NULL */

/* The rules of the rows. */
extern const struct library_chip openblas_chips[], blis_chips[], cublas_chips[];
extern const struct library_call torch_calls[], torch_cpu_calls[];
enum bitcut_status openblas_predict(struct prediction *x, struct fault *f);
enum bitcut_status blis_predict(struct prediction *x, struct fault *f);
enum bitcut_status cublas_predict(struct prediction *x, struct fault *f);
enum bitcut_status torch_predict(struct prediction *x, struct fault *f);
enum bitcut_status torch_cpu_predict(struct prediction *x, struct fault *f);

#endif
