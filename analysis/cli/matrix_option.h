/* SPDX-License-Identifier: BSD-3-Clause */
/* Matrices from files: the options that say what formats and shapes they have, and the
   reading. */
#ifndef BITCUT_ANALYSIS_CLI_MATRIX_OPTION_H
#define BITCUT_ANALYSIS_CLI_MATRIX_OPTION_H

#include "analysis/cli/command.h"
#include "lib/input/matrix_file.h"

/* The matrices that have such options. */
enum { MATRIX_A, MATRIX_B, MATRIX_C, MATRIX_D, MATRICES };

/* The options, a member of the struct of a command. */
struct matrix_options {
    const char *format; /* of A and B */
    const char *format_of[MATRICES], *shape_of[MATRICES];
    bool batches; /* whether the command takes batches: arrays of three dimensions */
    const char *offsets;   /* file of the ends of groups of rows, or NULL */
    const char *offsets_k; /* the same of groups of k                     */
    bool sparse;         /* whether A is 2:4 sparse */
    const char *positions; /* file of the positions of its kept elements, or NULL; then A
                              is sparse in any case */
    size_t index; /* the only GEMM of a batch to look at; SIZE_MAX: all; read only with
                     `batches` */
};

/* Its initial value in a command that takes batches, and the row of `index`. */
#define MATRIX_BATCHES                                                                   \
    {                                                                                    \
        .batches = true, .index = SIZE_MAX                                               \
    }

#define MATRIX_OPTION_INDEX(COMMAND, FILES)                                              \
    {                                                                                    \
        "index", "take GEMM I of a batch alone, counted from 0 (default: all)",          \
            OPTION(COMMAND, FILES.index, COUNT, "I")                                     \
    }

/* The rows of A and B together, of each, of C, and of D.  FILES: the member. */
#define MATRIX_OPTION_BOTH(COMMAND, FILES)                                               \
    {                                                                                    \
        "format", "format of A and B in files (bitcut list formats)",                    \
            OPTION(COMMAND, FILES.format, TEXT, "F")                                     \
    }

#define MATRIX_OPTIONS_AB(COMMAND, FILES)                                                \
    { "format-a", "format of A in its file (bitcut list formats)",                       \
      OPTION(COMMAND, FILES.format_of[MATRIX_A], TEXT, "F") },                           \
        { "format-b", "format of B in its file",                                         \
          OPTION(COMMAND, FILES.format_of[MATRIX_B], TEXT, "F") },                       \
        { "shape-a",                                                                     \
          "rows and columns of a file of A that has only elements, as 64x256",           \
          OPTION(COMMAND, FILES.shape_of[MATRIX_A], TEXT, "MxK") },                      \
    {                                                                                    \
        "shape-b", "the same for B",                                                     \
            OPTION(COMMAND, FILES.shape_of[MATRIX_B], TEXT, "KxN")                       \
    }

#define MATRIX_OPTIONS_C(COMMAND, FILES)                                                 \
    { "format-c", "format of C in its file (bitcut list formats)",                       \
      OPTION(COMMAND, FILES.format_of[MATRIX_C], TEXT, "F") },                           \
    {                                                                                    \
        "shape-c", "as --shape-a, for C",                                                \
            OPTION(COMMAND, FILES.shape_of[MATRIX_C], TEXT, "MxN")                       \
    }

#define MATRIX_OPTIONS_D(COMMAND, FILES)                                                 \
    { "format-d",                                                                        \
      "format to which D is rounded, also if its file has f4 (bitcut list formats)",     \
      OPTION(COMMAND, FILES.format_of[MATRIX_D], TEXT, "F") },                           \
    {                                                                                    \
        "shape-d", "as --shape-a, for D",                                                \
            OPTION(COMMAND, FILES.shape_of[MATRIX_D], TEXT, "MxN")                       \
    }

#define MATRIX_OPTIONS_OFFSETS(COMMAND, FILES)                                           \
    { "offsets",                                                                         \
      "a file with the end of each group of rows of A and D, i4: B has a matrix for "    \
      "each group",                                                                      \
      OPTION(COMMAND, FILES.offsets, TEXT, "FILE") },                                    \
    {                                                                                    \
        "offsets-k",                                                                     \
            "a file with the end of each group of k, columns of A and rows of B, i4: D " \
            "has a matrix for each group",                                               \
            OPTION(COMMAND, FILES.offsets_k, TEXT, "FILE")                               \
    }

#define MATRIX_OPTIONS_SPARSE(COMMAND, FILES)                                            \
    { "sparse-a", "A is 2:4 sparse: two elements of each four of a row are multiplied",  \
      OPTION(COMMAND, FILES.sparse, FLAG, NULL) },                                       \
    {                                                                                    \
        "positions-a",                                                                   \
            "a file with the positions 0 to 3 of these elements, u1, M x K/2: A may "    \
            "then be M x K/2, these elements alone",                                     \
            OPTION(COMMAND, FILES.positions, TEXT, "FILE")                               \
    }

static inline bool matrix_is_sparse(const struct matrix_options *o)
{
    return o->sparse || o->positions;
}

/* The format of a matrix, MATRIX_A to MATRIX_D; NULL if no option names one.  Prints
   messages and returns an exit status. */
int matrix_option_format(const struct bitcut_format **format,
                         const struct matrix_options *o, int matrix);

/* Read the file of `option`, which is -a, -b, -c or -d, as its options say.  Prints
   messages and returns an exit status. */
int matrix_read(struct encoded_matrix *m, const char *option, const char *path,
                const struct matrix_options *o);

/* The number of GEMMs of the matrices of -a, -b, -c and -d.  A matrix that was not given
   has at = NULL.  Batches have the same number of matrices; a single matrix, and a batch
   of one, of A, B or C belongs to all GEMMs.  *is_batch: whether A, B or C is a batch; D
   has to be one then.  With `index`, batches are reduced to the matrices of this GEMM,
   and *is_batch is false.  Prints messages and returns an exit status. */
int matrix_batch(bool *is_batch, size_t *count, struct matrix *const of[MATRICES],
                 const struct matrix_options *o);

/* Whether there are groups, of rows or of k. */
static inline bool matrix_has_groups(const struct matrix_options *o)
{
    return o->offsets || o->offsets_k;
}

/* Read the file of --offsets or --offsets-k: *count ends of groups of the rows or of the
   columns of A, which the caller frees.  Prints messages and returns an exit status. */
int matrix_offsets(int32_t **offsets, size_t *count, const struct matrix *a,
                   const struct matrix_options *o);

/* Check the matrices of `count` groups, which are those of matrix_batch().  With `index`,
   they are reduced to the matrices of this group.  Prints messages and returns an exit
   status. */
int matrix_groups(struct matrix *const of[MATRICES], const int32_t *offsets, size_t count,
                  const struct matrix_options *o);

/* Read the positions of a sparse A, if they are in a file, find the kept elements of A,
   which multiplies a B of k rows, and expand A to k columns.  Prints messages and returns
   an exit status. */
int matrix_sparse(struct matrix *a, size_t k, const struct matrix_options *o);

/* Complain about options of a matrix that is not read from a file.  Returns an exit
   status. */
int matrix_unread(const char *option, const struct matrix_options *o);

#endif
