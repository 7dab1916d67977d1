/* SPDX-License-Identifier: BSD-3-Clause */
/* The algorithm that cuBLAS 13.1 chooses on an H200, from the sizes of a call, where
   millions of answers of its heuristic determine it (data/README.md, "libraries/plans").

   For layers of some models the answers for 1 to 2048 rows are stored.  For other sizes
   there are decision trees.  A leaf has an algorithm if at least 500 recorded sizes are
   in it and all have this algorithm, up to what the order of k does not depend on;
   otherwise it refuses. A tree also refuses sizes between the nearest recorded ones of
   two branches, and sizes if it gives another algorithm for a neighbour.  There
   cublas_pair.c may know more.  Leaves that other recorded answers contradicted were
   emptied later (plan_empty.py): they refuse, and so do neighbours of their sizes.

   Batches of FP32 have a rule. */
#include "analysis/predict/cublas.h"

#include "lib/base/size.h"

#include <string.h>

/* What a leaf stands for: fields of an algorithm. */
struct leaf {
    uint16_t id, stages, splits, scheme, custom;
};
enum {
    FULL = 0,      /* .splits: as many as have more than 1280 k, or 2560 of FP8 */
    MOST = 0xffff, /* .splits: slices are as short as the kernel allows          */
    LEAF = 64,     /* in a tree: LEAF + i is leaf[i]; leaf[0] leaves it to a pair    */
    EMPTIED = 1000 /* and LEAF + EMPTIED refuses                                     */
};

#include "analysis/predict/cublas_f32_nn.inc"
#include "analysis/predict/cublas_f32_nn_1.inc"
#include "analysis/predict/cublas_f32_nt.inc"
#include "analysis/predict/cublas_f32_nt_1.inc"
#include "analysis/predict/cublas_f32_tn.inc"
#include "analysis/predict/cublas_f32_tt.inc"
#include "analysis/predict/cublas_fp8_nt.inc"
#include "analysis/predict/cublas_fp8_nt_1.inc"
#include "analysis/predict/cublas_half_nn.inc"
#include "analysis/predict/cublas_half_nn_1.inc"
#include "analysis/predict/cublas_half_nn_batch.inc"
#include "analysis/predict/cublas_half_nt.inc"
#include "analysis/predict/cublas_half_nt_1.inc"
#include "analysis/predict/cublas_half_nt_batch.inc"
#include "analysis/predict/cublas_half_tn.inc"
#include "analysis/predict/cublas_half_tn_batch.inc"
#include "analysis/predict/cublas_half_tt.inc"
#include "analysis/predict/cublas_layers.inc"
#include "analysis/predict/cublas_layers_1.inc"
#include "analysis/predict/cublas_tf32_nn.inc"
#include "analysis/predict/cublas_tf32_nn_1.inc"
#include "analysis/predict/cublas_tf32_nt.inc"
#include "analysis/predict/cublas_tf32_nt_1.inc"
#include "analysis/predict/cublas_tf32_tn.inc"
#include "analysis/predict/cublas_tf32_tt.inc"

/* A tree in preorder: LEAF + i, or a feature, the largest value of the left branch, the
   smallest value of the right branch, and the length of the left branch, which follows.
 */
static const struct tree {
    enum cublas_operands operands;
    const char *layout;
    bool is_batch, is_small; /* several GEMMs; a workspace of 1 MiB */
    const uint32_t *nodes;
    const struct leaf *leaf;
} trees[] = {
#define TREE(operands, layout, is_batch, is_small, name)                                 \
    {                                                                                    \
        CUBLAS_##operands, layout, is_batch, is_small, name, name##_leaves               \
    }
    TREE(HALF, "NT", false, false, half_nt),
    TREE(HALF, "NN", false, false, half_nn),
    TREE(HALF, "TN", false, false, half_tn),
    TREE(HALF, "TT", false, false, half_tt),
    TREE(HALF, "NT", true, false, half_nt_batch),
    TREE(HALF, "NN", true, false, half_nn_batch),
    TREE(HALF, "TN", true, false, half_tn_batch),
    TREE(HALF, "NT", false, true, half_nt_1),
    TREE(HALF, "NN", false, true, half_nn_1),
    TREE(FP8, "NT", false, false, fp8_nt),
    TREE(FP8, "NT", false, true, fp8_nt_1),
    TREE(TF32, "NT", false, false, tf32_nt),
    TREE(TF32, "NN", false, false, tf32_nn),
    TREE(TF32, "TN", false, false, tf32_tn),
    TREE(TF32, "TT", false, false, tf32_tt),
    TREE(TF32, "NT", false, true, tf32_nt_1),
    TREE(TF32, "NN", false, true, tf32_nn_1),
    TREE(FP32, "NT", false, false, f32_nt),
    TREE(FP32, "NN", false, false, f32_nn),
    TREE(FP32, "TN", false, false, f32_tn),
    TREE(FP32, "TT", false, false, f32_tt),
    TREE(FP32, "NT", false, true, f32_nt_1),
    TREE(FP32, "NN", false, true, f32_nn_1),
};

/* --- features --------------------------------------------------------------------- */

struct sizes {
    size_t m, n, k, batch;
};

enum { TILES = 10, FEATURES = 11 + TILES };

/* The largest power of two that divides x, at most 128. */
static uint32_t divisor_of(size_t x)
{
    const size_t power = x & (~x + 1);
    return (uint32_t)(power < 128 ? power : 128);
}

/* `whole`: the sizes of the call; powers of two are those of its sizes. */
static void features_make(uint32_t v[FEATURES], struct sizes s, struct sizes whole,
                          const struct cublas_types *types, bool has_bias)
{
    static const unsigned short tile[TILES][2] = {
        { 8, 64 },   { 16, 64 },   { 32, 64 },   { 64, 64 },   { 128, 64 },
        { 64, 128 }, { 128, 128 }, { 256, 128 }, { 128, 256 }, { 16, 128 }
    };
    const uint64_t outputs = (uint64_t)s.m * s.n * s.batch,
                   products = outputs * s.k >> 10;
    const uint32_t first[] = { (uint32_t)s.m,       (uint32_t)s.n,
                               (uint32_t)s.k,       divisor_of(whole.k),
                               divisor_of(whole.n), divisor_of(whole.m) };
    memcpy(v, first, sizeof first);
    v += sizeof first / sizeof *first;
    for (int i = 0; i < TILES; i++)
        *v++ =
            (uint32_t)(divide_up(s.m, tile[i][0]) * divide_up(s.n, tile[i][1]) * s.batch);
    *v++ = (uint32_t)outputs;
    *v++ = products < UINT32_MAX ? (uint32_t)products : UINT32_MAX;
    *v++ = types->type;
    *v++ = has_bias;
    *v++ = (uint32_t)s.batch;
}

/* --- trees ------------------------------------------------------------------------ */

/* The leaf of features, or EMPTIED; 0: left to a pair. */
static uint32_t walk(const struct tree *t, const uint32_t v[FEATURES])
{
    enum { FEATURE, BELOW, ABOVE, LENGTH, NODE };
    const uint32_t *at = t->nodes;
    while (*at < LEAF) {
        const uint32_t x = v[at[FEATURE]];
        if (x > at[BELOW] && x < at[ABOVE]) return 0;
        at += x <= at[BELOW] ? NODE : NODE + at[LENGTH];
    }
    return *at - LEAF;
}

/* `x` and the next sizes above and below, at least by a 2^shift-th part; of a multiple of
   8, multiples of 8. */
static size_t neighbour(size_t x, int shift, int direction)
{
    const size_t grain = x % 8 ? 1 : 8, part = (x >> shift) / grain * grain,
                 step = part > grain ? part : grain;
    if (!direction) return x;
    if (direction > 0) return x + step;
    return x > step ? x - step : x;
}

/* As neighbour(), of a number of rows or of GEMMs. */
static size_t rows_neighbour(size_t x, int shift, int direction)
{
    const size_t step = (x >> shift) + !(x >> shift);
    if (!direction) return x;
    if (direction > 0) return x + step;
    return x > step ? x - step : x;
}

static uint32_t leaf_of(const struct tree *t, struct sizes s,
                        const struct cublas_types *types, bool has_bias)
{
    static const int shifts[] = { 7, 5 };
    uint32_t v[FEATURES];
    features_make(v, s, s, types, has_bias);
    uint32_t found = walk(t, v);
    const int sizes = s.batch > 1 ? 4 : 3;
    for (int i = 0; i < 4 * sizes && found && found != EMPTIED; i++) {
        const int shift = shifts[i / (2 * sizes)], direction = i % 2 ? 1 : -1,
                  which = i / 2 % sizes;
        const struct sizes near = {
            rows_neighbour(s.m, shift, which == 0 ? direction : 0),
            neighbour(s.n, shift, which == 1 ? direction : 0),
            neighbour(s.k, shift, which == 2 ? direction : 0),
            rows_neighbour(s.batch, shift, which == 3 ? direction : 0),
        };
        features_make(v, near, s, types, has_bias);
        const uint32_t other = walk(t, v);
        if (other != found) found = other == EMPTIED ? EMPTIED : 0;
    }
    return found;
}

/* --- layers ----------------------------------------------------------------------- */

/* Whether a layer is stored for this call, and its number of slices. */
static bool find_layer(uint32_t *splits, const struct cublas_call *c,
                       const struct cublas_types *types)
{
    enum { ROWS = 2048 };
    const struct bitcut_gemm *const g = &c->g;
    if (g->m > ROWS || g->count > 1) return false;
    for (const uint16_t *at = c->is_small ? layers_1 : layers; *at; at += 5 + 2 * at[4]) {
        const size_t n = (size_t)at[2] * 8, k = (size_t)at[3] * 8;
        if (at[0] != 1 + (uint16_t)types->operands ||
            at[1] != 2 * types->type + cublas_has_bias(c) || n != g->n || k != g->k)
            continue;
        for (size_t i = 0; i < at[4]; i++)
            if (at[5 + 2 * i] <= g->m) *splits = at[6 + 2 * i];
        return true;
    }
    return false;
}

/* --- batches ---------------------------------------------------------------------- */

/* Whether a call is a batch of FP32 whose kernels have one sum: cuBLAS cuts no k of such
   a batch into slices.  Kernels for one column or for few rows have lanes, and from 144
   GEMMs on some batches have algorithm 16.  None of 1.3 million recorded batches of up to
   128 GEMMs is an exception. */
static bool is_batch_of_one_sum(const struct cublas_call *c,
                                const struct cublas_types *types)
{
    enum {
        FEW = 16,
        BATCH = 128
    }; /* FEW: rows that algorithm 11 has at most, with A by rows */
    const struct bitcut_gemm *const g = &c->g;
    const size_t others = g->a.layout == BITCUT_ROW_MAJOR ? FEW : 1;
    return types->operands == CUBLAS_FP32 && g->count > 1 && g->count <= BATCH &&
           g->m > others && g->n > 1 && !c->is_small && !cublas_has_bias(c);
}

/* --- the choice ------------------------------------------------------------------- */

static uint32_t splits_of(const struct leaf *l, size_t k, enum cublas_operands operands)
{
    enum { HALF_SLICE = 1280, FP8_SLICE = 2560 };
    const size_t slice = operands == CUBLAS_FP8 ? FP8_SLICE : HALF_SLICE,
                 full = (k - 1) / slice;
    if (l->splits == FULL) return (uint32_t)(full ? full : 1);
    if (l->splits != MOST) return l->splits;
    return (uint32_t)(l->id == 55 ? divide_up(k, 8) : k);
}

/* Whether a rows x cols matrix has gaps. */
static bool has_gaps(const struct bitcut_matrix *x, size_t rows, size_t cols,
                     size_t count)
{
    return (x->ld && x->ld != (x->layout == BITCUT_ROW_MAJOR ? cols : rows)) ||
           (count > 1 && x->stride != rows * cols) || x->each;
}

static bool call_has_gaps(const struct bitcut_gemm *g)
{
    return has_gaps(&g->a, g->m, g->k, g->count) ||
           has_gaps(&g->b, g->k, g->n, g->count) || has_gaps(&g->d, g->m, g->n, g->count);
}

/* Whether sizes are in the range of the recorded ones. */
static bool is_recorded(const struct bitcut_gemm *g)
{
    enum {
        ROWS = 8191,
        COLUMNS = 8192,
        LEAST_K = 8,
        K = 16384,
        BATCH = 1023,
        SMALLER = 4
    };
    const size_t part = g->count > 1 ? SMALLER : 1;
    return g->m <= ROWS / part && g->n <= COLUMNS / part && g->k >= LEAST_K &&
           g->k <= K / part && g->count <= BATCH;
}

/* Whether a leaf of one sum may stand for algorithm 10, which was seen for 2 to 8 rows of
   single GEMMs.  If k is no multiple of 8, its order is another one, which is not known.
 */
static bool may_be_algorithm_10(const struct cublas_fields *x,
                                const struct cublas_types *types,
                                const struct bitcut_gemm *g)
{
    enum { ROWS = 8, GRAIN = 8 };
    return types->operands == CUBLAS_FP32 && x->id == 55 && x->splits == 1 &&
           g->count == 1 && g->m <= ROWS && g->k % GRAIN;
}

/* The leaf of a batch, or of the tree for a call, or NULL; one with id 0 refuses. */
static const struct leaf *find_leaf(const struct cublas_call *c,
                                    const struct cublas_types *types, const char *layout)
{
    const struct bitcut_gemm *const g = &c->g;
    if (types->is_other && (g->n % 8 || g->k % 8)) return NULL;
    static const struct leaf one_sum = { 55, 31, 1, 0, 0 }, emptied = { .id = 0 };
    if (is_batch_of_one_sum(c, types)) return &one_sum;
    for (size_t i = 0; i < sizeof trees / sizeof *trees; i++) {
        const struct tree *const t = &trees[i];
        if (t->operands != types->operands || strcmp(t->layout, layout) ||
            t->is_batch != (g->count > 1) || t->is_small != c->is_small)
            continue;
        const uint32_t leaf = leaf_of(t, (struct sizes){ g->m, g->n, g->k, g->count },
                                      types, cublas_has_bias(c) && !c->bias_is_c);
        if (leaf == EMPTIED) return &emptied;
        return leaf ? &t->leaf[leaf] : NULL;
    }
    return NULL;
}

enum bitcut_status cublas_choose(struct cublas_fields *to,
                                 const struct cublas_types *types,
                                 const struct cublas_call *call, struct fault *f)
{
    const struct bitcut_gemm *const g = &call->g;
    const bool is_fp8 = types->operands == CUBLAS_FP8;
    const char layout[] = { g->a.layout == BITCUT_COLUMN_MAJOR ? 'T' : 'N',
                            g->b.layout == BITCUT_COLUMN_MAJOR ? 'T' : 'N', 0 };
    uint32_t splits = 1;
    if (is_fp8 && (g->n % 16 || g->k % 16))
        return fault_set(f, BITCUT_UNSUPPORTED,
                         "cuBLAS has no FP8 product of these sizes");
    if (call_has_gaps(g))
        return fault_set(f, BITCUT_UNSUPPORTED,
                         "no algorithms were recorded for matrices with gaps; give the "
                         "fields of the algorithm (--fields)");
    if (!strcmp(layout, "NT") && !types->is_other && find_layer(&splits, call, types)) {
        *to = (struct cublas_fields){ .id = 66,
                                      .stages = is_fp8 ? 36 : 35,
                                      .splits = splits,
                                      .scheme = splits > 1 ? 2 : 0 };
        return BITCUT_OK;
    }
    const bool is_known = is_recorded(g);
    const struct leaf *const l = is_known ? find_leaf(call, types, layout) : NULL;
    if (l)
        *to = (struct cublas_fields){ .id = l->id,
                                      .stages = l->stages,
                                      .splits = splits_of(l, g->k, types->operands),
                                      .scheme = l->scheme,
                                      .custom = l->custom };
    if ((l ? l->id > 0 : is_known && cublas_pair_find(to, types, call, layout)) &&
        !may_be_algorithm_10(to, types, g))
        return BITCUT_OK;
    return fault_set(
        f, BITCUT_UNSUPPORTED,
        "the recorded algorithms do not determine that for these sizes; give "
        "the fields of the algorithm that cublasLtMatmulAlgoGetHeuristic "
        "returns (--fields)");
}
