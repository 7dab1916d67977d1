/* SPDX-License-Identifier: BSD-3-Clause */
/* Input families: named and seeded ways to fill a matrix with FP32 values.

   An element depends only on its family, the family's parameters, the role, the seed, its
   row and its column.  So any number of threads, any host, and any rounding mode and
   flush-to-zero setting of the caller give the same bits.  A matrix is the corner of
   every larger matrix, except for spatial (one set of points for the shape) and gendot
   (made for one k).

   Exceptions are the families of PyTorch's random tensors (lib/input/torch_random.h).
   Such a matrix is one sequence in row-major order, the same for A and B, and depends on
   the lower 32 bits of the seed alone.

   Element (i, j) is drawn from words 0 to 3 of block 2^32 i + j (lib/number/rand.h) of
   stream 0 for A and 1 for B.  Data shared by elements comes from stream 2 for A, 3 for B
   and 4 for both.  Values are exact, or computed in binary64 by lib/number/elementary.h
   and then rounded once to FP32, to nearest even. */
#ifndef BITCUT_LIB_INPUT_INPUT_H
#define BITCUT_LIB_INPUT_INPUT_H

#include "lib/gemm/matrix.h"

enum { INPUT_PARAMETERS_MAX = 3 };

/* The operand of A B that a matrix is.  The inner index k is the column of A and the row
   of B.  A and B of one family and seed are independent.  Exception: A and B of gendot
   belong together if they have the same condition number and seed. */
enum input_role { INPUT_A, INPUT_B };

/* The values that a parameter may have. */
struct input_domain {
    const char *text; /* ends "must be ..." */
    double lowest, highest;
    bool integer;
};

struct input_parameter {
    const char *name;
    const struct input_domain *domain;
    double standard; /* its value if the text has none      */
};

struct draw;    /* one fill under way */
struct element; /* one element of it */

/* A row of the table of families.  It has `element`, `real` or `fill`; with `element`, it may
   also have `real`. */
struct input_family {
    const char *name, *what;
    int parameters; /* largest number of parameters in a text; the others are constants */
    bool ordered;   /* the first two are the ends of a range                    */
    struct input_parameter parameter[INPUT_PARAMETERS_MAX];

    /* The encoding of one element. */
    uint32_t (*element)(const struct draw *d, const struct element *e);
    /* The value of one element, in FP64; without `element`, rounded once to FP32. */
    double (*real)(const struct draw *d, const struct element *e);
    /* Or: fill all of *m, for families whose elements share data that is computed
       first. */
    enum bitcut_status (*fill)(struct matrix *m, const struct draw *d, struct fault *f);
};

extern const struct input_family inputs[]; /* ended by a row whose name is NULL */

/* A family with its parameters, as in a text such as "urand(-1,1)". */
struct input {
    const struct input_family *family;
    double parameter[INPUT_PARAMETERS_MAX];
};

/* Read `text`: the name of a family, then nothing (default parameters) or its parameters
   in parentheses, separated by commas; blanks are ignored.  Numbers have the syntax of
   lib/io/decimal.h, with at most 63 characters, and are rounded to FP32.
   BITCUT_BAD_ARGUMENT for anything else, with a sentence that says what is wrong; *in is
   set only on success. */
enum bitcut_status input_parse(struct input *in, const char *text, struct fault *f);

/* Fill m, which has a shape but no values yet, as operand `role`.  threads = 0 uses all
   processors.  BITCUT_BAD_ARGUMENT: a dimension is above 2^32 - 1, or the inner dimension
   is too short for gendot's condition number.  BITCUT_NO_MEMORY.  Nothing is written
   unless the result is BITCUT_OK. */
enum bitcut_status input_fill(struct matrix *m, const struct input *in,
                              enum input_role role, uint64_t seed, int threads,
                              struct fault *f);

/* The same in FP64: rows x cols values, row-major.  A family whose row has `real` has more
   bits than in FP32; other families have their FP32 values. */
enum bitcut_status input_fill_f64(double *to, size_t rows, size_t cols,
                                  const struct input *in, enum input_role role,
                                  uint64_t seed, int threads, struct fault *f);

/* A row of the table of pairs: texts of inputs of A and B that belong together. */
struct input_pair {
    const char *name, *what;
    const char *a, *b;
};

extern const struct input_pair input_pairs[]; /* ended by a row whose name is NULL */

/* Read both inputs of the pair called `name`.  BITCUT_BAD_ARGUMENT if no pair has this
   name; *a and *b are set only on success. */
enum bitcut_status input_pair_parse(struct input *a, struct input *b, const char *name,
                                    struct fault *f);

#endif
