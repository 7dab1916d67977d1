/* SPDX-License-Identifier: BSD-3-Clause */
/* The GEMM that a command line describes: recipe, unit, matrices and variations. */
#ifndef BITCUT_ANALYSIS_CLI_SETUP_H
#define BITCUT_ANALYSIS_CLI_SETUP_H

#include "analysis/cli/command.h"
#include "analysis/cli/epilogue_option.h"
#include "analysis/cli/matrix_option.h"
#include "analysis/cli/quantize_option.h"
#include "emu/gemm.h"
#include "emu/gemm_sentence.h"
#include "lib/gemm/matrix.h"
#include "lib/number/fma.h"

#include <limits.h>

/* The options that select a GEMM, `setup` in the struct of a command: recipe and unit,
   matrices, and variations. */
struct setup_options {
    const char *recipe, *unit, *a, *b, *c, *split, *split_a, *split_b, *high, *low,
        *sum_rounding, *order;
    struct option_number alpha, beta;
    int round_seed, scale, terms, promote, tile_k, slices;
    bool equilibrate;
    struct matrix_options files; /* what the files of A, B, C and D hold */
    struct epilogue_options epilogue;
};

enum { SETUP_UNSET = INT_MIN };
#define SETUP_BETA_UNSET 0x7fc0be7au /* a NaN that no decimal text gives */

#define SETUP_DEFAULTS_OF(...)                                                           \
    {                                                                                    \
        .alpha = { F32_ONE, 1 }, .beta = { SETUP_BETA_UNSET, 0 },                        \
        .round_seed = SETUP_UNSET, .scale = SETUP_UNSET, .terms = SETUP_UNSET,           \
        .promote = SETUP_UNSET, .tile_k = SETUP_UNSET, .slices = 1,                      \
        .epilogue = EPILOGUE_DEFAULTS, __VA_ARGS__                                       \
    }

#define SETUP_DEFAULTS       SETUP_DEFAULTS_OF(.files = { .format = NULL })
#define SETUP_BATCH_DEFAULTS SETUP_DEFAULTS_OF(.files = MATRIX_BATCHES)

/* The rows, which come first in the table of a command.  DEFAULT: the user's defaults
   apply to them. */
#define SETUP_CHOICE(COMMAND, DEFAULT)                                                   \
    { "recipe", "recipe of the GEMM (bitcut list recipes)",                              \
      OPTION(COMMAND, setup.recipe, TEXT, "R"), .has_default = DEFAULT },                \
    {                                                                                    \
        "unit", "matrix unit or chip (bitcut list units, chips)",                        \
            OPTION(COMMAND, setup.unit, TEXT, "U"), .has_default = DEFAULT               \
    }

#define SETUP_MATRICES(COMMAND)                                                          \
    { "a",                                                                               \
      "A from a file (.npy, .npz, .mtx, .safetensors, .pt; FILE:NAME for a member)",     \
      OPTION(COMMAND, setup.a, TEXT, "FILE") },                                          \
        { "b", "B from a file", OPTION(COMMAND, setup.b, TEXT, "FILE") },                \
        { "c", "C from a file; one row or column stands for all (default: no C)",        \
          OPTION(COMMAND, setup.c, TEXT, "FILE") },                                      \
        { "alpha", "factor of A B (default 1)",                                          \
          OPTION(COMMAND, setup.alpha, NUMBER, "X") },                                   \
        { "beta", "factor of C (default 0, or 1 with -c)",                               \
          OPTION(COMMAND, setup.beta, NUMBER, "X") },                                    \
        MATRIX_OPTION_BOTH(COMMAND, setup.files),                                        \
        MATRIX_OPTIONS_AB(COMMAND, setup.files), MATRIX_OPTIONS_C(COMMAND, setup.files)

#define SETUP_VARIATIONS(COMMAND)                                                        \
    { "split", "split of A and B (bitcut list splits)",                                  \
      OPTION(COMMAND, setup.split, TEXT, "S") },                                         \
        { "split-a", "split of A alone", OPTION(COMMAND, setup.split_a, TEXT, "S") },    \
        { "split-b", "split of B alone", OPTION(COMMAND, setup.split_b, TEXT, "S") },    \
        { "high", "rounding of the high part (bitcut list roundings)",                   \
          OPTION(COMMAND, setup.high, TEXT, "RULE") },                                   \
        { "low", "rounding of the low parts",                                            \
          OPTION(COMMAND, setup.low, TEXT, "RULE") },                                    \
        { "sum-rounding", "rounding of the sums in the unit (default: the unit's own)",  \
          OPTION(COMMAND, setup.sum_rounding, TEXT, "RULE") },                           \
        { "round-seed", "seed of the rounding rule sr (default 0)",                      \
          OPTION(COMMAND, setup.round_seed, INT, "N") },                                 \
        { "scale", "multiply low parts by 2^S",                                          \
          OPTION(COMMAND, setup.scale, INT, "S") },                                      \
        { "equilibrate", "scale rows of A and columns of B by powers of two first",      \
          OPTION(COMMAND, setup.equilibrate, FLAG, NULL) },                              \
        { "terms", "number of terms: those of the recipe, or one more with low*low",     \
          OPTION(COMMAND, setup.terms, INT, "N") },                                      \
        { "promote", "promote accumulator 0 every N instructions (0: never)",            \
          OPTION(COMMAND, setup.promote, INT, "N") },                                    \
        { "tile-k",                                                                      \
          "length of a tile along k; a term is summed over a tile before the next term " \
          "(0: no tiles)",                                                               \
          OPTION(COMMAND, setup.tile_k, INT, "K") },                                     \
        { "split-k", "number of slices of k, added at the end (default 1)",              \
          OPTION(COMMAND, setup.slices, INT, "N") },                                     \
    {                                                                                    \
        "order",                                                                         \
            "order of summation over k: slices=N, tile=K, partial-first, cut=K, "        \
            "balance-tail=K, "                                                           \
            "lanes=N, chunk=K, unroll=K, narrow=N, remainder-in-lane, "                  \
            "narrow-apart, slices-ascending, "                                           \
            "lane-order=0.2.1, reduction=R, partial-format=FORMAT, partial-store",       \
            OPTION(COMMAND, setup.order, TEXT, "LIST")                                   \
    }

#define SETUP_OPTIONS(COMMAND)                                                           \
    SETUP_CHOICE(COMMAND, true), SETUP_MATRICES(COMMAND), SETUP_VARIATIONS(COMMAND)

/* A GEMM with its matrices: D (m x n) = alpha A B + beta C. */
struct setup {
    /* the options to build it from; NULL: it is built otherwise */
    const struct setup_options *options;
    const struct matrix_options *files; /* without options: of the files; or NULL */
    struct bitcut_gemm gemm; /* everything except sizes and matrices; d.format is that of
                                D, NULL: f32 */
    struct gemm_plan plan;               /* of gemm                          */
    struct matrix a, b, c;               /* c.at is NULL unless -c was given */
    struct matrix *d;                    /* the D that was read, or NULL */
    const struct prediction *predicted; /* what a library will compute
                                           (analysis/cli/library_option.h), or NULL */
    bool is_batch; /* whether there are `count` GEMMs; after setup_finish() */
    size_t count;  /* 1 if it is no batch */
    int32_t *offsets;                    /* ends of `count` groups of rows, or NULL */
    const char *input_a, *input_b;       /* origin of A and B: a family or a file */
    struct epilogue_files extra;         /* bias and factors of gemm */
    struct quantized quantized[2];       /* what quantization did to A and B */
    bool takes_integers;                 /* whether the command takes units of integers */
    struct encoded_matrix integer_c;     /* C of a GEMM of integers, instead of c       */
    bool drawn; /* whether A or B is from a family, drawn by a seed */
};

/* A split by name, with roundings and scale replaced where given (NULL, SETUP_UNSET: as
   in the row).  Prints what is wrong and returns the exit status; EXIT_GOOD sets split.
 */
int setup_split(struct bitcut_split *split, const char *name, const char *high,
                const char *low, int scale);

/* The unit that --unit names for parts of that format, which belongs to the recipe or
   split `whose`.  Prints what is wrong and returns the exit status; EXIT_GOOD sets *unit.
 */
int setup_unit(const struct bitcut_unit **unit, const char *name,
               const struct bitcut_format *parts, const char *whose);

/* Set s->gemm and s->plan from recipe, unit and variations.  Prints messages and returns
   an exit status. */
int setup_gemm(struct setup *s);

/* Make s->plan of s->gemm again.  Prints messages and returns an exit status. */
int setup_plan(struct setup *s);

/* The same if a device determines the rest: the recipe has that name, s->gemm.unit is
   NULL unless --unit was given, and there is no plan. */
int setup_open_gemm(struct setup *s, const char *recipe);

/* Complain about A and B whose shapes do not match, with a hint that depends on whether A
   is from a file; and about a product without elements.  Prints messages and returns an
   exit status. */
int setup_check_inner(const struct setup *s, bool has_a);
int setup_check_pair(const struct matrix *a, const struct matrix *b);

/* On a unit of integers, check that the files of A and B have integers of its operands;
   elements of families are rounded to them.  Prints messages and returns an exit status.
 */
int setup_check_integers(struct setup *s, const struct setup_options *o);

/* On a unit of integers, check that its sums become FP32 first, and that there is no C,
   for a bound or tolerance.  Prints messages and returns an exit status. */
int setup_values(struct setup *s);

/* Read -c if it was given, and check the shapes of all matrices, and their numbers in a
   batch.  s->a and s->b must be set; D if it is read.  Prints messages and returns an
   exit status. */
int setup_finish(struct setup *s);

/* Apply the options of bias, factors and epilogue for a GEMM of m x n x k, and plan it
   with them, as setup_finish() does.  Prints messages and returns an exit status. */
int setup_extend(struct setup *s, size_t m, size_t n, size_t k);

/* Read -c if it was given, and check that it is where s->gemm reads C.  s->a and s->b
   must be set.  Prints messages and returns an exit status. */
int setup_read_c(struct setup *s);

/* Set the alpha, the beta, the bias, the factors and the epilogue of s->gemm, whose
   recipe and unit are open, from the options; --unit is not read.  s->a and s->b must be
   set; they are quantized if the options say so.  Prints messages and returns an exit
   status. */
int setup_tell(struct setup *s);

/* Repeat a C of one row or one column for all rows or columns, and check its shape.
   Prints messages and returns an exit status. */
int setup_expand_c(struct matrix *c, size_t rows, size_t cols);

/* The GEMM, or the batch, with its matrices, and D in FP32 without gaps. */
struct bitcut_gemm setup_gemms(const struct setup *s, uint32_t *d);

/* Complain about a matrix, called `name`, that has another shape.  Prints a message and
   returns an exit status. */
int setup_check_shape(const char *name, const struct matrix *m, size_t rows, size_t cols);

/* Read one matrix file, that of `option` (-a, -b, -c or -d), as `files` say.  Prints and
   returns an exit status. */
int setup_read(struct matrix *m, const char *option, const char *path,
               const struct matrix_options *files);

/* The same for -d, the D of s->gemm, which takes the format of the file.  It is decided
   here alone; call it after setup_gemm().  setup_finish() checks its shape if it is
   called later.  Prints and returns an exit status. */
int setup_read_result(struct setup *s, struct matrix *d, const char *path);
void setup_take_result(struct setup *s, struct matrix *d); /* that was read */

/* Emulate: allocate *d and fill it with the result, in the format of s->gemm.d.  Prints
   and returns an exit status. */
int setup_run(struct matrix *d, const struct setup *s, const struct context *x);

/* The same as encodings, with the NaN of the format as bitcut_gemm() gives it. */
int setup_run_encoded(struct encoded_matrix *d, const struct setup *s,
                      const struct context *x);

/* Add the computed GEMM to a row: recipe, unit and its evidence, the actual splits, and
   every variation. */
void setup_describe(json_t *row, const struct bitcut_gemm *gemm,
                    const struct gemm_plan *plan);

/* The same as input for sentences, on the emulator, with the sizes and names of s.
   `seeded`: families are drawn by the seed of x. */
struct gemm_description setup_description(const struct setup *s, const struct context *x,
                                          bool seeded);

/* Free the matrices. */
void setup_clear(struct setup *s);

#endif
