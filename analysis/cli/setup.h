/* SPDX-License-Identifier: BSD-3-Clause */
/* What `gemm` and `verify` are asked to do: recipe, unit, matrices, from the command
 * line. */
#ifndef BITCUT_ANALYSIS_CLI_SETUP_H
#define BITCUT_ANALYSIS_CLI_SETUP_H

#include "analysis/cli/command.h"
#include "emu/gemm.h"
#include "emu/gemm_say.h"
#include "lib/matrix.h"

#include <limits.h>

/* A GEMM with its matrices: D (m x n) = alpha A B + beta C. */
struct setup {
    struct bitcut_gemm gemm;       /* all but sizes and matrices */
    struct gemm_plan plan;         /* of gemm                    */
    struct matrix a, b, c;         /* c.at is NULL unless -c was given */
    const char *input_a, *input_b; /* where A and B came from: a family or a file */
};

/* The options that choose a GEMM; commands put them first in their own table: recipe and
   unit, matrices, and what is varied. */
#define SETUP_CHOICE                                                                     \
    { "recipe", "how the GEMM is put together (bitcut list recipes)", OPTION_TEXT,       \
      &setup_options.recipe, "R" },                                                      \
    {                                                                                    \
        "unit", "matrix unit or chip (bitcut list units, chips)", OPTION_TEXT,           \
            &setup_options.unit, "U"                                                     \
    }

#define SETUP_MATRICES                                                                   \
    { "a", "A from a file, .npy or .mtx", OPTION_TEXT, &setup_options.a, "FILE" },       \
        { "b", "B from a file", OPTION_TEXT, &setup_options.b, "FILE" },                 \
        { "c", "C from a file (default: no C)", OPTION_TEXT, &setup_options.c, "FILE" }, \
        { "alpha", "default 1", OPTION_F32, &setup_options.alpha, "X" },                 \
    {                                                                                    \
        "beta", "default 0, or 1 if -c is given", OPTION_F32, &setup_options.beta, "X"   \
    }

#define SETUP_VARIATIONS                                                                 \
    { "split", "use this split's words (bitcut list splits)", OPTION_TEXT,               \
      &setup_options.split, "S" },                                                       \
        { "split-a", "the same of A alone", OPTION_TEXT, &setup_options.split_a, "S" },  \
        { "split-b", "the same of B alone", OPTION_TEXT, &setup_options.split_b, "S" },  \
        { "high", "rounding of the high word (bitcut list roundings)", OPTION_TEXT,      \
          &setup_options.high, "RULE" },                                                 \
        { "low", "rounding of the low words", OPTION_TEXT, &setup_options.low, "RULE" }, \
        { "scale", "low words times 2^S", OPTION_INT, &setup_options.scale, "S" },       \
        { "equilibrate", "scale rows of A and columns of B by powers of two first",      \
          OPTION_FLAG, &setup_options.equilibrate, NULL },                               \
        { "terms", "of the recipe, or one more with low*low", OPTION_INT,                \
          &setup_options.terms, "N" },                                                   \
        { "promote", "instructions of accumulator 0 between promotions, 0: none",        \
          OPTION_INT, &setup_options.promote, "N" },                                     \
        { "tile-k", "k of a tile, which a term runs through before the next, 0: none",   \
          OPTION_INT, &setup_options.tile_k, "K" },                                      \
        { "split-k", "slices of k added at the end (default 1)", OPTION_INT,             \
          &setup_options.slices, "N" },                                                  \
    {                                                                                    \
        "order",                                                                         \
            "of k: slices=N, tile=K, rest-first, cut=K, halve=K, lanes=N, turn=K, "      \
            "reduction=R, sums=FORMAT",                                                  \
            OPTION_TEXT, &setup_options.order, "LIST"                                    \
    }

#define SETUP_OPTIONS SETUP_CHOICE, SETUP_MATRICES, SETUP_VARIATIONS

/* What those options said. */
struct setup_options {
    const char *recipe, *unit, *a, *b, *c, *split, *split_a, *split_b, *high, *low,
        *order;
    uint32_t alpha, beta;
    int scale, terms, promote, tile_k, slices;
    bool equilibrate;
};

enum { SETUP_UNSET = INT_MIN };
#define SETUP_BETA_UNSET 0x7fc0be7au /* a NaN nobody can ask for by its decimal text */

extern struct setup_options setup_options;

/* A split by name with its roundings and scale replaced where given (NULL, SETUP_UNSET:
   as in the row).  Prints what is wrong and returns the exit status; EXIT_GOOD sets
   *split. */
int setup_split(struct bitcut_split *split, const char *name, const char *high,
                const char *low, int scale);

/* The unit that --unit names for words of that format, of the recipe or split `whose`.
   Prints what is wrong and returns the exit status; EXIT_GOOD sets *unit. */
int setup_unit(const struct bitcut_unit **unit, const char *name,
               const struct bitcut_format *words, const char *whose);

/* The recipe, unit and variations into s->gemm and s->plan.  Prints and returns an exit
   status. */
int setup_gemm(struct setup *s);

/* The same for what decides the rest, a device: the recipe is of that name, s->gemm.unit
   NULL unless --unit was given, and there is no plan. */
int setup_open_gemm(struct setup *s, const char *recipe);

/* Complain of A and B that have no product; with a hint, which depends on whether A is from
   a file; and of one without an element or a product.  Print and return an exit status. */
int setup_check_inner(const struct setup *s, bool has_a);
int setup_check_pair(const struct matrix *a, const struct matrix *b);

/* Read -c if it was given and check the shapes of all three.  Prints and returns an exit
   status.  s->a and s->b are set already. */
int setup_finish(struct setup *s);

/* Complain of a matrix, called `name`, that has another shape.  Prints and returns an
   exit status. */
int setup_check_shape(const char *name, const struct matrix *m, size_t rows, size_t cols);

/* Read one matrix file.  Prints and returns an exit status. */
int setup_read(struct matrix *m, const char *option, const char *path);

/* Emulate: allocate *d and fill it with the result.  Prints and returns an exit status.
 */
int setup_run(struct matrix *d, const struct setup *s, const struct context *x);

/* Add to a row what is computed: recipe, unit and its evidence, the splits as they are,
   and every variation. */
void setup_describe(json_t *row, const struct bitcut_gemm *gemm,
                    const struct gemm_plan *plan);

/* The same for sentences, on the emulator, with the sizes and names of s; `seeded`: families
   are drawn by the seed of x. */
struct gemm_told setup_told(const struct setup *s, const struct context *x, bool seeded);

/* Free the matrices. */
void setup_clear(struct setup *s);

#endif
