/* SPDX-License-Identifier: BSD-3-Clause */
/* One attention, struct bitcut_attention (lib/bitcut.h), with everything decided. */
#ifndef BITCUT_EMU_ATTENTION_ATTENTION_PLAN_H
#define BITCUT_EMU_ATTENTION_ATTENTION_PLAN_H

#include "emu/attention/attention_row.h"
#include "emu/gemm.h"

/* Faults of a kernel, for explain; all zero: none. */
struct attention_slips {
    int64_t diagonal; /* keys by which the window of every query is moved          */
    bool keeps_o, keeps_sum; /* O, the sum of P, is not multiplied for a new maximum */
    bool whole_tiles; /* no key of a tile that is visited is masked                     */
    uint32_t factor;  /* FP32: O is multiplied by it at the end; 0: by nothing     */
};

/* Splits that can be merged. */
enum { ATTENTION_SPLITS_MAX = 1 << 10 };

struct attention_plan {
    struct bitcut_attention a;       /* the caller's, with sizes and scale set          */
    struct bitcut_attention_row row; /* with its variations, block_m, block_n, splits   */
    struct bitcut_gemm qk, pv;       /* Q K^T and P V of a tile, without sizes          */
    struct gemm_plan qk_plan, pv_plan;
    size_t block_m, block_n; /* of a tile                                              */
    size_t tiles, split_tiles; /* key tiles of all keys, and of a split                 */
    bool masked; /* whether there is a window                              */
    size_t guarded; /* key tiles of a split, from the first one taken, in which a maximum
                       of -Inf counts as 0 in the rescale; in later ones it gives NaN   */
    float scale; /* of the scores, base e                                  */
    float t;     /* the same in the base of the exponential                */
    struct attention_slips slips; /* attention_plan_make() sets none        */
};

/* Copy a caller's attention, with value_dim and scale set.  BITCUT_BAD_ARGUMENT: it is
   NULL, its size is unknown, or sizes do not fit together.  The row may be missing. */
enum bitcut_status attention_take(struct bitcut_attention *to,
                                  const struct bitcut_attention *from, struct fault *f);

/* Check the matrices that are read, and O unless it is not written. */
enum bitcut_status attention_check_matrices(const struct bitcut_attention *a,
                                            struct fault *f);

/* Decide everything for an attention that attention_take() accepted. */
enum bitcut_status attention_plan_make(struct attention_plan *p,
                                       const struct bitcut_attention *a, struct fault *f);

/* The line of bitcut_attention_write(). */
void attention_plan_write(char line[BITCUT_ATTENTION_MAX],
                          const struct attention_plan *p);

/* The keys [*from, *to) that a query sees; the same number if none.  A query before the
   first or after the last one sees what its window would be there. */
void attention_keys_seen(size_t *from, size_t *to, const struct bitcut_attention *a,
                         int64_t query);

/* The number of splits of FlashAttention: num_splits_heuristic() of flash_api.cpp. */
size_t attention_splits(size_t blocks_m, size_t processors, size_t tiles);

#endif
