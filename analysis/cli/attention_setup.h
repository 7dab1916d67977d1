/* SPDX-License-Identifier: BSD-3-Clause */
/* The options and the matrices of an attention. */
#ifndef BITCUT_ANALYSIS_CLI_ATTENTION_SETUP_H
#define BITCUT_ANALYSIS_CLI_ATTENTION_SETUP_H

#include "analysis/cli/command.h"
#include "lib/bitcut.h"
#include "lib/input/matrix_file.h"

/* The matrices. */
enum { Q, K, V, O, FILES };

/* What an attention is: the options that bitcut attention and bitcut report share. */
struct attention_setup_options {
    const char *row, *vary, *path[FILES], *format, *format_o;
    const char *explain; /* the file of O that is explained, or NULL */
    int window_left, window_right;
    bool causal, any_tiles;
    uint32_t scale;
    /* Q, K and V if there are no files. */
    const char *input;
    size_t heads, kv_heads, queries, keys, head_dim, value_dim;
};

#define ATTENTION_SETUP_DEFAULTS .window_left = BITCUT_UNSET, .window_right = BITCUT_UNSET

/* Their rows.  AT: the member of the command's options. */
#define ATTENTION_OPTIONS_ROW(COMMAND, AT)                                               \
    { "row", "algorithm (bitcut list attentions)", OPTION(COMMAND, AT.row, TEXT, "R") }, \
    {                                                                                    \
        "vary",                                                                          \
            "change fields of the algorithm, such as block-n=64,direction=ascending",    \
            OPTION(COMMAND, AT.vary, TEXT, "ITEMS")                                      \
    }

#define ATTENTION_OPTIONS_FILES(COMMAND, AT)                                             \
    { "q", "Q[heads][queries][head_dim] or Q[queries][head_dim], a file such as .npy",   \
      OPTION(COMMAND, AT.path[Q], TEXT, "FILE") },                                       \
        { "k", "K[kv_heads][keys][head_dim]",                                            \
          OPTION(COMMAND, AT.path[K], TEXT, "FILE") },                                   \
    {                                                                                    \
        "v", "V[kv_heads][keys][value_dim]", OPTION(COMMAND, AT.path[V], TEXT, "FILE")   \
    }

#define ATTENTION_OPTION_FORMAT_O(COMMAND, AT)                                           \
    {                                                                                    \
        "format-o",                                                                      \
            "format of O (default: that of Q if it has 16 bits or more, else bf16)",     \
            OPTION(COMMAND, AT.format_o, TEXT, "F")                                      \
    }

#define ATTENTION_OPTIONS_MASK(COMMAND, AT)                                              \
    { "causal",                                                                          \
      "a query sees the keys up to its own; the last query is aligned with the "         \
      "last key",                                                                        \
      OPTION(COMMAND, AT.causal, FLAG, NULL) },                                          \
        { "window-left", "keys before its own that a query sees (default: all)",         \
          OPTION(COMMAND, AT.window_left, INT, "N") },                                   \
    {                                                                                    \
        "window-right", "keys after its own that a query sees (default: all)",           \
            OPTION(COMMAND, AT.window_right, INT, "N")                                   \
    }

#define ATTENTION_OPTION_ANY_TILES(COMMAND, AT)                                          \
    {                                                                                    \
        "any-tiles",                                                                     \
            "limits for a test: the kernel may have other tiles and splits than the "    \
            "row",                                                                       \
            OPTION(COMMAND, AT.any_tiles, FLAG, NULL)                                    \
    }

/* The options of bitcut attention. */
struct attention_command_options {
    struct attention_setup_options setup;
    const char *reference;
    size_t seconds;
    uint32_t effort;
    bool bound, budget;
    const char *at;
    size_t samples;
    bool tolerance;
    const char *other, *other_vary, *other_format;
    size_t runs, power;
    uint32_t alarm;
};

/* The matrices of a command, and the attention that reads and writes them. */
struct attention_setup {
    const struct attention_setup_options *o;
    struct encoded_matrix of[FILES], other[V + 1]; /* other: of --other-format */
    struct bitcut_attention a;
};

/* Complain about masks that exclude each other or are negative.  Prints and returns an
   exit status, as do the functions below. */
int attention_check_mask(const struct attention_setup_options *o);

/* Set the format that an option names, unless name is NULL. */
int attention_format(const struct bitcut_format **to, const char *option,
                     const char *name);

/* Generate Q, K and V of --input in a format; NULL: f16. */
int attention_generate(struct encoded_matrix to[V + 1], const struct attention_setup *s,
                       const struct bitcut_format *format, const struct context *x);

/* All heads of a matrix. */
struct bitcut_matrix attention_heads(const struct encoded_matrix *m);

/* Read or generate Q, K and V, read O or allocate it, and set s->a with the row, if one
   was given. attention_setup_free() has to be called after any status. */
int attention_setup_make(struct attention_setup *s, const struct context *x);
void attention_setup_free(struct attention_setup *s);

#endif
