/* SPDX-License-Identifier: BSD-3-Clause */
/* Queries of one head on one thread: their tiles, splits and outputs. */
#ifndef BITCUT_EMU_ATTENTION_ATTENTION_BLOCK_H
#define BITCUT_EMU_ATTENTION_ATTENTION_BLOCK_H

#include "emu/attention/attention_run.h"
#include "emu/gemm.h"
#include "lib/gemm/view.h"

struct softmax_row;

/* An attention while it runs. */
struct attention_job {
    const struct attention_plan *plan;
    const struct attention_operands *x;
    const struct attention_options *options;
    const struct attention_watch *watch; /* or NULL; blocks have one query then */
    size_t block;                        /* queries of a block */
    size_t blocks;                       /* of a head          */
    size_t ahead;                        /* tiles whose scores are computed at a time */
};

/* The memory of a thread, and the block that it computes. */
struct attention_block {
    const struct attention_job *job;
    struct gemm_scratch scratch;
    size_t head, first, rows; /* the block: its head, first query and queries          */
    size_t block_m_first;     /* the first and the last query of the kernel's block, to */
    size_t block_m_last;      /* which masks of tiles refer                             */
    float *s;                 /* [row][ahead block_n]: scores                           */
    float *p;                 /* [row][block_n]                                         */
    float *exponent;          /* [block_n], for an observer; else NULL                  */
    float *o;                 /* [row][value_dim]                                       */
    float *product;           /* the same: a product of P and V                         */
    struct softmax_row *row;  /* [row]                                                  */
    float *split_o;           /* [split][row][value_dim]; NULL: one split               */
    float *lse;               /* [split][row]                                           */
};

/* Tiles whose scores are computed at a time, for a job. */
size_t attention_tiles_ahead(const struct attention_plan *plan);

/* Memory for blocks of a job.  False: not enough.  attention_block_clear() frees it in
   both cases. */
bool attention_block_make(struct attention_block *w, const struct attention_job *job);
void attention_block_clear(struct attention_block *w);

/* Let queries [first, first + rows) of a head be the block; rows is at most job->block.
 */
void attention_block_set(struct attention_block *w, size_t head, size_t first,
                         size_t rows);

/* Compute O of the block in w->o, and the log-sum-exps in w->lse.  Callers are in the
   mode of hostfp_enter(). */
enum bitcut_status attention_block_run(struct attention_block *w, struct fault *f);

/* Write O and the log-sum-exps of the block to the attention's matrices; or O of query i
   of the block to row `at` of o.  Both apply the factors of the columns of V. */
void attention_block_store(const struct attention_block *w);
void attention_block_store_row(const struct view *o, size_t at,
                               const struct attention_block *w, size_t i);

#endif
