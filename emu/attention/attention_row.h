/* SPDX-License-Identifier: BSD-3-Clause */
/* Algorithms of attention: a row of fields that determines every bit of
   O = softmax(scale Q K^T) V on given units. */
#ifndef BITCUT_EMU_ATTENTION_ATTENTION_ROW_H
#define BITCUT_EMU_ATTENTION_ATTENTION_ROW_H

#include "emu/attention/approximation.h"
#include "lib/base/status.h"

/* Where scores are multiplied by the scale.  t stands for the scale in the base of the
   exponential: scale log2(e) for base 2, scale for base e. */
enum attention_scaling {
    SCALED_FUSED,   /* 2^(s t - m t): one fused multiply-add, m t rounded before        */
    SCALED_APART,   /* the same with s t rounded before the subtraction                 */
    SCALED_SCORES,  /* s t is rounded, and m is the maximum of these; exponent s t - m  */
    SCALED_QUERIES, /* Q is multiplied by t, and rounded to FP32, before it is quantized
                     */
    SCALED_OPERANDS /* Q and K are multiplied by sqrt(t), rounded to FP32; exponent s - m
                     */
};

/* The heads of a table of tile sizes: the row with the first head dimension that is large
   enough. */
enum { ATTENTION_TILES = 7 };

struct attention_tile {
    int head_dim;         /* largest head dimension; 0 ends the table                   */
    int block_m, block_n; /* queries and keys of a tile; block_n 0: all keys            */
    int masked_n;         /* block_n with a mask, if it is another one; 0: the same     */
};

struct bitcut_attention_row {
    const char *name, *what;
    const char *unit_qk, *unit_pv; /* units; those of the same architecture and family for
                                      the operands at hand are used                     */
    const struct bitcut_format *operand; /* format of Q and K in the product; NULL: their
                                            own                                         */
    struct attention_tile tile[ATTENTION_TILES]; /* without splits                     */
    struct attention_tile split_tile[ATTENTION_TILES]; /* with splits; none: the same   */
    int block_m, block_n; /* if not 0: instead of those of the tables                   */
    bool descending;      /* whether key tiles are taken from the last to the first     */
    enum attention_scaling scaling;
    const struct attention_exp *exp;
    bool flush;         /* whether FP32 operations flush subnormals (.ftz)           */
    uint32_t offset;    /* FP32: P is multiplied by 2^offset, in the exponent        */
    uint32_t threshold; /* FP32: the maximum stays unless 2^threshold is exceeded; 0: it
                           always rises                                              */
    const struct bitcut_format *p; /* format of P; NULL: that of V                      */
    bool p_divided;   /* whether P is divided by the sum before the product with V */
    int lanes, chunk; /* threads that add a row of P, and columns that each takes in
                         turn                                                      */
    enum bitcut_reduction
        reduction;  /* of the threads' sums: BITCUT_HALVES, BITCUT_TREE */
    bool each_tile; /* whether the threads' sums are reduced in each tile, not once
                       at the end                                                */
    bool apart;     /* whether a thread adds a tile of P before it adds its sum so far */
    bool fused;     /* whether the rescale of a sum is fused with the addition that
                       follows it                                                */
    int from_zero;  /* keys after which a product with V is added to O in FP32;
                       0: it accumulates in O; BITCUT_UNSET: after each tile     */
    const struct attention_reciprocal *reciprocal; /* how O is divided by the sum       */
    bool lse_nan;   /* whether the log-sum-exp is NaN if the sum is; false: +Inf     */
    int splits;     /* parts of the keys that are computed apart; 0: by `processors` */
    int processors; /* multiprocessors of the GPU, for which splits are chosen; 0:
                       one split                                                 */
    const struct attention_merge *merge; /* how parts are merged                        */
    int q_block, k_block; /* rows of Q, of K, that share a scale of INT8; 0: not
                             quantized                                                 */
    bool smooth_k;        /* whether the mean of K over the keys is subtracted first   */
    bool v_channels;      /* whether columns of V are scaled to the largest value of the
                             format of P and rounded to it                             */
    const char *evidence, *source;
};

extern const struct bitcut_attention_row attention_rows[]; /* ended by a NULL name */

/* Change a row by items such as "block-n=64,direction=ascending" (bitcut_attention()).
   BITCUT_BAD_ARGUMENT names the item; *row may be changed in part. */
enum bitcut_status attention_vary(struct bitcut_attention_row *row, const char *items,
                                  struct fault *f);

/* The text of a field of a row, by position; false from the position after the last one
   on.  A field without a value has an empty text. */
enum { ATTENTION_TEXT_MAX = 128 };
bool attention_field(const char **name, const char **what, char text[ATTENTION_TEXT_MAX],
                     const struct bitcut_attention_row *row, size_t index);

/* The name of the field at this position as a key of JSON. */
const char *attention_key(size_t index);

#endif
