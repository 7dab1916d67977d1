/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of a GEMM for its bias, its factors of A and B, and its epilogue. */
#ifndef BITCUT_ANALYSIS_CLI_EPILOGUE_OPTION_H
#define BITCUT_ANALYSIS_CLI_EPILOGUE_OPTION_H

#include "analysis/cli/command.h"
#include "lib/input/matrix_file.h"

/* The options, `setup.epilogue` in the struct of a command. */
struct epilogue_options {
    const char *epilogue, *start, *scaling, *bias, *format_bias, *scale_a, *scale_b,
        *format_scale, *block_a, *block_b, *quantize_a, *quantize_b, *clamp, *zero_a,
        *zero_b, *zero_d;
    bool bias_rows;
    uint32_t scale_d;
};

#define EPILOGUE_DEFAULTS                                                                \
    {                                                                                    \
        .scale_d = F32_ONE                                                               \
    }

#define EPILOGUE_OPTIONS(COMMAND)                                                        \
    { "epilogue",                                                                        \
      "what follows the sum: a list of bitcut list epilogues, or steps of bitcut list "  \
      "steps, as round+bias+relu",                                                       \
      OPTION(COMMAND, setup.epilogue.epilogue, TEXT, "E") },                             \
        { "start", "what accumulators start from (bitcut list starts; default zero)",    \
          OPTION(COMMAND, setup.epilogue.start, TEXT, "S") },                            \
        { "bias", "a bias for each column of D, from a file",                            \
          OPTION(COMMAND, setup.epilogue.bias, TEXT, "FILE") },                          \
        { "bias-rows", "the bias has an element for each row of D instead",              \
          OPTION(COMMAND, setup.epilogue.bias_rows, FLAG, NULL) },                       \
        { "format-bias", "format of the bias in its file",                               \
          OPTION(COMMAND, setup.epilogue.format_bias, TEXT, "F") },                      \
        { "scale-a", "factors of A: a number, or a file with one for each row or block", \
          OPTION(COMMAND, setup.epilogue.scale_a, TEXT, "X") },                          \
        { "scale-b",                                                                     \
          "factors of B: a number, or a file with one for each column or "               \
          "block",                                                                       \
          OPTION(COMMAND, setup.epilogue.scale_b, TEXT, "X") },                          \
        { "format-scale", "format of the factors in their files",                        \
          OPTION(COMMAND, setup.epilogue.format_scale, TEXT, "F") },                     \
        { "block-a",                                                                     \
          "rows and k of A that share a factor, as 1x128 (0: all; default: by the "      \
          "shape of its file)",                                                          \
          OPTION(COMMAND, setup.epilogue.block_a, TEXT, "RxK") },                        \
        { "block-b", "columns and k of B that share a factor, as 128x128",               \
          OPTION(COMMAND, setup.epilogue.block_b, TEXT, "CxK") },                        \
        { "quantize-a", "quantize A first, by a row of bitcut list quantizers",          \
          OPTION(COMMAND, setup.epilogue.quantize_a, TEXT, "Q") },                       \
        { "quantize-b", "quantize B first",                                              \
          OPTION(COMMAND, setup.epilogue.quantize_b, TEXT, "Q") },                       \
        { "scaling",                                                                     \
          "where factors are applied (bitcut list scalings; default epilogue)",          \
          OPTION(COMMAND, setup.epilogue.scaling, TEXT, "S") },                          \
        { "scale-d", "factor of the step scale-d (default 1)",                           \
          OPTION(COMMAND, setup.epilogue.scale_d, F32, "X") },                           \
    {                                                                                    \
        "clamp", "limits of the step clamp, as 0,6",                                     \
            OPTION(COMMAND, setup.epilogue.clamp, TEXT, "LOW,HIGH")                      \
    }

/* The options of commands that take integers. */
#define ZERO_OPTIONS(COMMAND)                                                            \
    ZERO_OPTIONS_AB(COMMAND),                                                            \
    {                                                                                    \
        "zero-d", "zero point of D, for the step zero-d (default 0)",                    \
            OPTION(COMMAND, setup.epilogue.zero_d, TEXT, "X")                            \
    }

#define ZERO_OPTIONS_AB(COMMAND)                                                         \
    { "zero-a", "zero point of A, an integer: A stands for A - X (default 0)",           \
      OPTION(COMMAND, setup.epilogue.zero_a, TEXT, "X") },                               \
    {                                                                                    \
        "zero-b", "zero point of B", OPTION(COMMAND, setup.epilogue.zero_b, TEXT, "X")   \
    }

/* Set the zero points of g.  Prints messages and returns an exit status. */
int epilogue_zeros_apply(struct bitcut_gemm *g, const struct epilogue_options *o);

/* Whether any of EPILOGUE_OPTIONS was given. */
bool epilogue_options_given(const struct epilogue_options *o);

/* The same rows in a table of struct option_use. */
#define EPILOGUE_USES(USES, OTHERWISE)                                                   \
    { "epilogue", USES, OTHERWISE }, { "start", USES, OTHERWISE },                       \
        { "bias", USES, OTHERWISE }, { "bias-rows", USES, OTHERWISE },                   \
        { "format-bias", USES, OTHERWISE }, { "scale-a", USES, OTHERWISE },              \
        { "scale-b", USES, OTHERWISE }, { "format-scale", USES, OTHERWISE },             \
        { "block-a", USES, OTHERWISE }, { "block-b", USES, OTHERWISE },                  \
        { "quantize-a", USES, OTHERWISE }, { "quantize-b", USES, OTHERWISE },            \
        { "scaling", USES, OTHERWISE }, { "scale-d", USES, OTHERWISE },                  \
    {                                                                                    \
        "clamp", USES, OTHERWISE                                                         \
    }

/* The matrices of the options. */
struct epilogue_files {
    struct encoded_matrix bias, scale_a, scale_b;
};

void epilogue_files_clear(struct epilogue_files *x);

/* Set the bias, the factors and the numbers of g, a GEMM of m x n x k, and read their
   files into *to.  Prints messages and returns an exit status. */
int epilogue_options_apply(struct bitcut_gemm *g, struct epilogue_files *to,
                           const struct epilogue_options *o, size_t m, size_t n,
                           size_t k);

#endif
