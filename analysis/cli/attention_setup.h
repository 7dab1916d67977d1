/* SPDX-License-Identifier: BSD-3-Clause */
/* The options and the matrices of bitcut attention. */
#ifndef BITCUT_ANALYSIS_CLI_ATTENTION_SETUP_H
#define BITCUT_ANALYSIS_CLI_ATTENTION_SETUP_H

#include "analysis/cli/command.h"
#include "lib/bitcut.h"
#include "lib/input/matrix_file.h"

/* The matrices. */
enum { Q, K, V, O, FILES };

struct attention_command_options {
    const char *row, *vary, *path[FILES], *format, *format_o, *input, *reference;
    const char *explain; /* the file of O that is explained, or NULL */
    size_t seconds;
    uint32_t effort;
    size_t heads, kv_heads, queries, keys, head_dim, value_dim;
    int window_left, window_right;
    bool causal, bound, budget;
    const char *at;
    size_t samples;
    bool tolerance, any_tiles;
    const char *other, *other_vary, *other_format;
    size_t runs, power;
    uint32_t alarm;
    uint32_t scale;
};

/* The matrices of a command, and the attention that reads and writes them. */
struct attention_setup {
    const struct attention_command_options *o;
    struct encoded_matrix of[FILES], other[V + 1]; /* other: of --other-format */
    struct bitcut_attention a;
};

/* Set the format that an option names, unless name is NULL.  Prints and returns an exit
   status, as do the functions below. */
int attention_format(const struct bitcut_format **to, const char *option,
                     const char *name);

/* Generate Q, K and V of --input in a format; NULL: f16. */
int attention_generate(struct encoded_matrix to[V + 1], const struct attention_setup *s,
                       const struct bitcut_format *format, const struct context *x);

/* All heads of a matrix. */
struct bitcut_matrix attention_heads(const struct encoded_matrix *m);

/* Read or generate Q, K and V, read O or allocate it, and set s->a, whose row is set.
   attention_setup_free() has to be called after any status. */
int attention_setup_make(struct attention_setup *s, const struct context *x);
void attention_setup_free(struct attention_setup *s);

#endif
