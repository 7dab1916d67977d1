/* SPDX-License-Identifier: BSD-3-Clause */
/* The algorithm that cuBLAS 13.1 chooses on an H200, from the sizes of a call, where
   millions of answers of its heuristic determine it (data/README.md, "libraries/plans").

   For layers of some models the answers for 1 to 2048 rows are stored.  For other sizes
   there are decision trees, learned by data/libraries/plan_learn.py.  A leaf has a rule
   for the algorithm if enough recorded calls are in it and the rule gives the algorithm
   of all of them, up to what the order of k does not depend on; otherwise it refuses.  A
   tree also refuses sizes between the nearest recorded ones of two branches, and calls
   for which it is known to be wrong.

   Batches of FP32 have a rule. */
#include "analysis/predict/cublas.h"

#include "lib/base/size.h"

#include <string.h>

enum { PROCESSORS = 132 };

/* How many slices a rule gives. */
enum count {
    FIXED,  /* .number                                                                  */
    FULL,   /* as many as have more than .number k                                      */
    MOST,   /* as many as there are blocks of .number k                                 */
    WAVES,  /* as many as let tiles of .rows x .columns fill all processors .number times
             */
    LENGTHS /* as many as have .number k                                                */
};

struct rule {
    unsigned char id, stages, scheme, custom, count;
    unsigned short number, rows, columns;
};

/* A tree in preorder, as characters: the 90 from # to ~ without ? and \, which are the
   digits 0 to 89.  A node is its feature, the largest value of the left branch, how much
   larger the smallest value of the right branch is, less 1, and the characters of the
   left branch, which follows.  Numbers have the base 45, the lowest digit first; 45 is
   added to a digit if another one follows.  A leaf that refuses is 30; 31 + i is
   rules[i], up to 28, and 60 + i and another digit j the rule 29 + 90 i + j. */
struct tree {
    const char *types, *layout; /* types: D in FP32 has the tree of D in 16 bits */
    bool is_batch, is_small; /* several GEMMs; a workspace of 1 MiB                   */
    bool has_bias;           /* only with a bias; others are of calls with and without */
    const char *nodes;
    const char
        *odd; /* calls for which the tree is wrong: m, n, k and the batch of each  */
};

#include "analysis/predict/cublas_layers.inc"
#include "analysis/predict/cublas_layers_1.inc"
#include "analysis/predict/cublas_trees.inc" /* rules[] and trees[] */

/* --- features --------------------------------------------------------------------- */

enum { TILES = 17, FEATURES = 13 + TILES };

/* The largest power of two that divides x, at most 128. */
static uint32_t divisor_of(uint64_t x)
{
    const uint64_t power = x & (~x + 1);
    return (uint32_t)(power < 128 ? power : 128);
}

static uint32_t limited(uint64_t x) { return x < UINT32_MAX ? (uint32_t)x : UINT32_MAX; }

static void features_make(uint32_t v[FEATURES], const struct bitcut_gemm *g)
{
    static const unsigned short tile[TILES][2] = {
        { 8, 64 },    { 16, 64 },   { 16, 16 },  { 32, 32 },   { 64, 64 },  { 128, 32 },
        { 32, 128 },  { 64, 128 },  { 128, 64 }, { 128, 128 }, { 256, 64 }, { 64, 256 },
        { 256, 128 }, { 128, 256 }, { 64, 32 },  { 32, 64 },   { 16, 128 }
    };
    const uint64_t m = g->m, n = g->n, k = g->k, batch = g->count,
                   outputs = m * n * batch;
    const uint32_t sizes[] = { (uint32_t)m,   (uint32_t)n,   (uint32_t)k,
                               divisor_of(k), divisor_of(n), divisor_of(m) },
                   products[] = { limited(outputs), limited(outputs * k >> 10),
                                  limited(n * k),   limited(m * k),
                                  (uint32_t)k % 64, (uint32_t)k % 128,
                                  (uint32_t)batch };
    memcpy(v, sizes, sizeof sizes);
    v += sizeof sizes / sizeof *sizes;
    for (int i = 0; i < TILES; i++)
        *v++ = (uint32_t)(divide_up(m, tile[i][0]) * divide_up(n, tile[i][1]) * batch);
    memcpy(v, products, sizeof products);
}

/* --- trees ------------------------------------------------------------------------ */

enum { BASE = 45, REFUSES = 30, FIRST_RULE, SHORT = 29, DIGITS = 2 * BASE };

static uint32_t digit_of(char c) { return (uint32_t)(c - '#') - (c > '?') - (c > '\\'); }

static uint32_t read_number(const char **at)
{
    uint32_t x = 0;
    for (uint32_t unit = 1;; unit *= BASE) {
        const uint32_t digit = digit_of(*(*at)++);
        x += digit % BASE * unit;
        if (digit < BASE) return x;
    }
}

static bool is_odd(const struct tree *t, const struct bitcut_gemm *g)
{
    for (const char *at = t->odd; *at;) {
        const uint32_t m = read_number(&at), n = read_number(&at), k = read_number(&at),
                       batch = read_number(&at);
        if (m == g->m && n == g->n && k == g->k && batch == g->count) return true;
    }
    return false;
}

/* The rule of features, or NULL. */
static const struct rule *walk(const char *at, const uint32_t v[FEATURES])
{
    uint32_t first = digit_of(*at++);
    while (first < FEATURES) {
        const uint32_t x = v[first], below = read_number(&at),
                       above = below + 1 + read_number(&at), length = read_number(&at);
        if (x > below && x < above) return NULL;
        if (x > below) at += length;
        first = digit_of(*at++);
    }
    if (first == REFUSES) return NULL;
    first -= FIRST_RULE;
    return &rules[first < SHORT ? first
                                : SHORT + (first - SHORT) * DIGITS + digit_of(*at)];
}

static uint32_t slices_of(const struct rule *r, const struct bitcut_gemm *g)
{
    const size_t k = g->k, number = r->number;
    size_t slices = number;
    if (r->count == FULL) slices = (k - 1) / number;
    if (r->count == MOST) slices = divide_up(k, number);
    if (r->count == LENGTHS) slices = k / number;
    if (r->count == WAVES)
        slices = PROCESSORS * number /
                 (divide_up(g->m, r->rows) * divide_up(g->n, r->columns) * g->count);
    return (uint32_t)(slices ? slices : 1);
}

static bool has_types(const struct tree *t, const struct cublas_types *types)
{
    const size_t length = strlen(t->types);
    return types->is_other
               ? !strncmp(t->types, types->name, length) && types->name[length] == '.'
               : !strcmp(t->types, types->name);
}

/* Whether a tree has the answers for a call.  cuBLAS chooses the same with and without a
   bias, except for one column. */
static bool is_tree_of(const struct tree *t, const struct cublas_types *types,
                       const struct cublas_call *call, const char *layout, bool is_small)
{
    const bool has_bias = cublas_has_bias(call) && !call->bias_is_c;
    return has_types(t, types) && !strcmp(t->layout, layout) &&
           t->is_batch == (call->g.count > 1) && t->is_small == is_small &&
           (t->has_bias ? has_bias : !has_bias || call->g.n > 1);
}

/* Whether the workspace holds the slices in FP32; for 1 MiB that was not recorded. */
static bool have_room(uint32_t slices, const struct cublas_call *call)
{
    enum { WORKSPACE = 32 << 20 };
    const struct bitcut_gemm *const g = &call->g;
    return !call->is_small && slices * g->m * g->n * g->count * sizeof(float) < WORKSPACE;
}

/* Find the algorithm of a call in its tree.  Trees were recorded for D in 16 bits: slices
   in the format of D (scheme 4) are slices in FP32 (2) for D in FP32, if the workspace
   has room for them. */
static bool find_in_tree(struct cublas_fields *to, const struct cublas_types *types,
                         const struct cublas_call *call, const char *layout,
                         bool is_small)
{
    enum { IN_FP32 = 2, IN_FORMAT_OF_D = 4 };
    const struct tree *t = trees, *const end = trees + sizeof trees / sizeof *trees;
    uint32_t v[FEATURES];
    while (t < end && !is_tree_of(t, types, call, layout, is_small)) t++;
    if (t == end || is_odd(t, &call->g)) return false;
    features_make(v, &call->g);
    const struct rule *const r = walk(t->nodes, v);
    if (!r) return false;
    const uint32_t slices = slices_of(r, &call->g);
    const bool is_wide = r->scheme == IN_FORMAT_OF_D && !types->is_short;
    if (is_wide && !have_room(slices, call)) return false;
    *to = (struct cublas_fields){ .id = r->id,
                                  .stages = r->stages,
                                  .splits = slices,
                                  .scheme = slices <= 1 ? 0
                                            : is_wide   ? IN_FP32
                                                        : r->scheme,
                                  .custom = r->custom,
                                  .learned = true };
    return true;
}

/* nvjet without slices needs no workspace: cuBLAS chooses it with 1 MiB if it does with
   32 MiB.  None of 177,000 recorded calls is an exception.  It computes all calls with
   rows of A and multiples of 8 columns and k. */
static bool find_rule(struct cublas_fields *to, const struct cublas_types *types,
                      const struct cublas_call *call, const char *layout)
{
    enum { GRAIN = 8 };
    const bool is_nvjet =
        (types->operands == CUBLAS_HALF || types->operands == CUBLAS_FP8) &&
        *layout == 'N' && call->g.n % GRAIN == 0 && call->g.k % GRAIN == 0;
    return (call->is_small && is_nvjet && find_in_tree(to, types, call, layout, false) &&
            to->splits <= 1) ||
           find_in_tree(to, types, call, layout, call->is_small);
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

/* Whether a rule of one sum may stand for algorithm 10, which was seen for 2 to 8 rows of
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
    if (is_known && is_batch_of_one_sum(call, types)) {
        *to = (struct cublas_fields){ .id = 55, .stages = 31, .splits = 1 };
        return BITCUT_OK;
    }
    if (is_known && find_rule(to, types, call, layout) &&
        !may_be_algorithm_10(to, types, g))
        return BITCUT_OK;
    return fault_set(
        f, BITCUT_UNSUPPORTED,
        "the recorded algorithms do not determine that for these sizes; give "
        "the fields of the algorithm that cublasLtMatmulAlgoGetHeuristic "
        "returns (--fields)");
}
