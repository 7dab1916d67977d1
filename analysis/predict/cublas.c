/* SPDX-License-Identifier: BSD-3-Clause */
/* GEMMs of cuBLAS 13.1 on an H200, from the fields of the algorithm.  The rules were
   compared with results of the library (data/libraries/plans).  Names of kernels are
   those that it gives them: nvjet, CUTLASS, gemv.  How C and factors are added is in
   cublas_addend.c. */
#include "analysis/predict/cublas.h"

#include "analysis/predict/library.h"
#include "emu/gemm.h"
#include "lib/base/size.h"
#include "lib/number/fma.h"

#include <string.h>

const struct library_chip cublas_chips[] = {
    { "h200", "NVIDIA H200, compute capability 9.0", NULL }, { 0 }
};

/* --- a call ----------------------------------------------------------------------- */

/* The call and the algorithm, and the GEMM to which rules add. */
struct call {
    struct prediction *x;
    const struct cublas_types *types;
    const struct bitcut_gemm *of;
    struct cublas_fields fields;
    size_t k;
    bool has_bias; /* in the epilogue of cublasLtMatmul */
    struct bitcut_gemm g;
};

static void on(struct call *c, const char *recipe, const char *unit)
{
    c->g = gemm_of(bitcut_recipe_find(recipe), bitcut_unit_find(unit, NULL));
}

static void on_tensor_cores(struct call *c, const char *unit)
{
    on(c, c->types->recipe, unit);
    if (c->types->promote) c->g.promote = c->types->promote;
}

static void on_multiply_add(struct call *c)
{
    on(c, c->types->bytes == 4 ? "fp32" : "plain", "fma/f32");
}

static bool is_split(const struct call *c) { return c->fields.splits > 1; }

/* A kernel of its own adds the slices; it rounds to the format of D before it adds a
 * bias. */
static void add_slices_apart(struct call *c)
{
    if (!is_split(c) || !c->has_bias || !c->types->is_short) return;
    c->g.epilogue[0] = BITCUT_STEP_ROUND;
    c->g.epilogue[1] = BITCUT_STEP_BIAS;
    c->g.epilogue[2] = BITCUT_STEP_END;
}

/* k of a stage: enum cublasLtMatmulStages_t; 0: those of two stages, whose k is 32. */
static size_t stage_k(uint32_t stages)
{
    static const unsigned char other[] = {
        [25] = 32, [26] = 8,  [27] = 16, [28] = 8,  [31] = 8,
        [32] = 8,  [33] = 16, [34] = 32, [35] = 64, [36] = 128
    };
    if (!stages) return 32;
    if (stages <= 24) return (size_t)16 << (stages - 1) / 6;
    return stages < sizeof other ? other[stages] : 0;
}

/* --- rules ------------------------------------------------------------------------ */

static enum bitcut_status refuse(struct fault *f, const char *what)
{
    return fault_set(f, BITCUT_UNSUPPORTED, "%s", what);
}

/* nvjet: slices of whole stages.  The last k are in no slice if the other stages fill the
   slices, and the k that are left are fewer than slices: cuBLAS loses them. */
static enum bitcut_status nvjet(struct call *c, struct fault *f)
{
    const size_t stage = stage_k(c->fields.stages), slices = c->fields.splits;
    if (stage != (c->types->operands == CUBLAS_FP8 ? 128 : 64))
        return refuse(f, "the k of a stage is not 64, or 128 of FP8");
    const size_t rest = c->k % stage, whole = c->k / stage;
    on_tensor_cores(c, c->types->unit);
    if (slices <= 1) return BITCUT_OK;
    if (rest && rest < slices && whole && whole % slices == 0) c->x->lost = rest;
    const size_t k = c->k - c->x->lost,
                 length = divide_up(divide_up(k, stage), slices) * stage;
    c->g.order.slices = (int)divide_up(k, length);
    c->g.order.tile = (int)length;
    return BITCUT_OK;
}

/* The length of a slice is a multiple of this number of k: a line of the cache if A or B is
   stored along k and k fills lines, otherwise 16 bytes. */
static size_t slice_grain(const struct call *c)
{
    enum { LINE = 128, VECTOR = 16 };
    const bool along_k =
        c->of->a.layout == BITCUT_ROW_MAJOR || c->of->b.layout == BITCUT_COLUMN_MAJOR;
    const size_t bytes = c->types->bytes;
    return (along_k && c->k * bytes % LINE == 0 ? LINE : VECTOR) / bytes;
}

static void cut(struct call *c, size_t grain)
{
    if (!is_split(c)) return;
    const size_t length = divide_up(divide_up(c->k, c->fields.splits), grain) * grain;
    c->g.order.slices = (int)divide_up(c->k, length);
    c->g.order.cut = (int)grain;
}

/* CUTLASS: the partial tile of each slice is its first.  A workspace holds the sums of
   slices, in FP32 or in the format of D. */
static enum bitcut_status tiled(struct call *c, struct fault *f)
{
    enum { IN_FORMAT_OF_D = 4 };
    const struct cublas_types *const t = c->types;
    const size_t stage = stage_k(c->fields.stages);
    if (!stage) return refuse(f, "the k of this number of stages is not known");
    if (is_split(c) && c->fields.scheme == CUBLAS_IN_PLACE && t->is_short)
        return refuse(f, "slices that are added in D, rounded, have no order");
    if (t->operands == CUBLAS_FP32 || c->fields.id == 20) on_multiply_add(c);
    else on_tensor_cores(c, c->fields.stages || !t->unit_8 ? t->unit : t->unit_8);
    if (t->operands != CUBLAS_FP32) {
        c->g.order.tile = (int)stage;
        c->g.order.partial_first = true;
    }
    cut(c, slice_grain(c));
    if (is_split(c) && c->fields.scheme == CUBLAS_IN_PLACE && c->has_bias)
        c->g.start = BITCUT_START_SLICE_BIAS;
    if (is_split(c) && c->fields.scheme == IN_FORMAT_OF_D && t->is_short) {
        c->g.order.partial_format = c->x->call.d.format;
        c->g.order.partial_store = true;
    }
    add_slices_apart(c);
    return BITCUT_OK;
}

static enum bitcut_status one_sum(struct call *c, struct fault *f)
{
    if (is_split(c)) return refuse(f, "no rule for slices of this algorithm");
    if (c->fields.id == 16) on_multiply_add(c);
    else on_tensor_cores(c, c->types->unit);
    return BITCUT_OK;
}

/* Slices of floor(k / slices), rounded up to a multiple of 8, which are added in D; there
   may be one more of them. */
static enum bitcut_status in_place(struct call *c, struct fault *f)
{
    if (is_split(c) && c->fields.scheme != CUBLAS_IN_PLACE)
        return refuse(f, "no rule for slices of this scheme");
    if (!is_split(c) && c->k % 8)
        return refuse(f, "the order of algorithm 10 is known for multiples of 8 k alone");
    on_multiply_add(c);
    if (is_split(c)) {
        const size_t length = divide_up(c->k / c->fields.splits, 8) * 8;
        if (!length) return refuse(f, "more slices than k");
        c->g.order.slices = (int)divide_up(c->k, length);
        c->g.order.tile = (int)length;
    }
    return BITCUT_OK;
}

/* The order in which custom option 1 adds its slices: with h half of them, rounded up, 0,
   h, the last one, and then i and i + h for each i from 1 to h - 1.  Such pairs are no
   order of lanes, so that it is refused unless no pair has two slices with k. */
static enum bitcut_status folded(struct call *c, size_t stage, struct fault *f)
{
    static const unsigned char orders[][5] = {
        [2] = { 0, 1 }, [3] = { 0, 2, 1 }, [4] = { 0, 2, 3, 1 }, [5] = { 0, 3, 4, 1, 2 }
    };
    const size_t slices = c->fields.splits, with_k = divide_up(c->k, stage);
    if (with_k <= divide_up(slices, 2)) c->g.order.lanes = (int)with_k;
    else if (c->fields.id == 55 && slices < sizeof orders / sizeof *orders)
        memcpy(c->g.order.lane_order, orders[slices], sizeof *orders);
    else return refuse(f, "no order describes how this kernel adds its slices");
    return BITCUT_OK;
}

/* Slices take stages in turn. */
static enum bitcut_status turns(struct call *c, struct fault *f)
{
    const size_t stage = stage_k(c->fields.stages);
    if (!stage) return refuse(f, "the k of this number of stages is not known");
    if (c->fields.id == 55) on_multiply_add(c);
    else on_tensor_cores(c, c->types->unit);
    if (is_split(c)) {
        c->g.order.lanes = (int)c->fields.splits;
        c->g.order.chunk = (int)stage;
    }
    return is_split(c) && c->fields.custom == 1 ? folded(c, stage, f) : BITCUT_OK;
}

/* Kernels for few rows or columns. */
static enum bitcut_status few(struct call *c, struct fault *f)
{
    const bool a_along = c->of->a.layout == BITCUT_ROW_MAJOR,
               b_along = c->of->b.layout == BITCUT_COLUMN_MAJOR;
    const uint32_t custom = c->fields.custom;
    on_multiply_add(c);
    if (is_split(c) || !a_along || custom > 1 || (custom && b_along))
        return refuse(f, "no rule for this variant of algorithm 11");
    if (b_along) {
        c->g.order.lanes = 16, c->g.order.chunk = 1;
        c->g.promote = 16;
    } else {
        c->g.order.slices = custom ? 4 : 2, c->g.order.cut = 1;
        c->g.promote = custom ? 128 : 256;
    }
    return BITCUT_OK;
}

/* gemv, for one row or column.  ROUND: lanes take a k in turn, each with a new sum for
   each `promote` of its k, and are added in order.  BLOCKS: lanes take blocks of k, at
   most 64, and THREADS: one k, or four, in turn; both are added by halves. */
enum lanes { ONE, ROUND, BLOCKS, THREADS, FOURS };
static const struct vector_kernel {
    uint32_t custom;
    enum lanes kind;
    int lanes, promote;
} vector_kernels[] = {
    { 0, ONE, 1, 512 },      { 1, BLOCKS, 2, 0 },    { 7, ONE, 1, 0 },
    { 10, FOURS, 32, 0 },    { 11, ROUND, 16, 32 },  { 12, ROUND, 16, 16 },
    { 14, ROUND, 16, 16 },   { 48, BLOCKS, 2, 0 },   { 56, BLOCKS, 2, 0 },
    { 58, BLOCKS, 4, 0 },    { 72, BLOCKS, 16, 0 },  { 73, THREADS, 16, 0 },
    { 74, BLOCKS, 32, 0 },   { 75, THREADS, 32, 0 }, { 77, THREADS, 4, 0 },
    { 78, BLOCKS, 8, 0 },    { 81, THREADS, 16, 0 }, { 83, THREADS, 32, 0 },
    { 92, BLOCKS, 32, 0 },   { 93, THREADS, 32, 0 }, { 94, BLOCKS, 2, 0 },
    { 96, BLOCKS, 4, 0 },    { 97, THREADS, 4, 0 },  { 100, BLOCKS, 16, 0 },
    { 101, THREADS, 16, 0 }, { 102, BLOCKS, 2, 0 },  { 106, BLOCKS, 8, 0 },
    { 110, BLOCKS, 4, 0 },   { 111, THREADS, 4, 0 },
};

static enum bitcut_status vector(struct call *c, struct fault *f)
{
    enum { BLOCK = 64, NARROW = 128, WIDE = 154 };
    const size_t wide = c->of->m > c->of->n ? c->of->m : c->of->n;
    const size_t length = divide_up(c->k, c->fields.splits);
    const struct vector_kernel *v = NULL;
    struct bitcut_order *const o = &c->g.order;
    for (size_t i = 0; i < sizeof vector_kernels / sizeof *vector_kernels; i++)
        if (vector_kernels[i].custom == c->fields.custom) v = &vector_kernels[i];
    if (!v) return refuse(f, "no rule for this variant of algorithm 13");
    on_multiply_add(c);
    cut(c, 1);
    if (v->promote) c->g.promote = v->promote;
    if (v->kind != ONE) o->lanes = v->lanes, o->chunk = v->kind == FOURS ? 4 : 1;
    if (v->kind == BLOCKS) {
        const size_t block = divide_up(length, (size_t)v->lanes);
        o->chunk = (int)(block < BLOCK ? block : BLOCK);
    }
    if (v->kind > ROUND) o->reduction = BITCUT_HALVES;
    if (v->kind == FOURS && c->types->bytes == 4 && wide > NARROW) {
        if (wide < WIDE)
            return refuse(f, "the lanes for 129 to 153 columns are not known");
        o->lanes = 24;
    }
    o->slices_ascending = is_split(c) && v->kind > ROUND;
    add_slices_apart(c);
    return BITCUT_OK;
}

/* --- algorithms ------------------------------------------------------------------- */

enum {
    HALF = 1 << CUBLAS_HALF,
    FP8 = 1 << CUBLAS_FP8,
    TF32 = 1 << CUBLAS_TF32,
    FP32 = 1 << CUBLAS_FP32
};
static const struct family {
    uint32_t id;
    unsigned operands;
    enum bitcut_status (*rule)(struct call *c, struct fault *f);
} families[] = {
    { 10, FP32, in_place },
    { 11, HALF | TF32 | FP32, few },
    { 13, HALF | TF32 | FP32, vector },
    { 16, HALF, one_sum },
    { 20, TF32 | FP32, tiled },
    { 21, TF32, tiled },
    { 23, HALF | TF32, tiled },
    { 24, HALF, tiled },
    { 42, HALF, one_sum },
    { 43, TF32, one_sum },
    { 55, TF32 | FP32, turns },
    { 63, TF32, turns },
    { 66, HALF | FP8, nvjet },
};

static enum bitcut_status compute(struct call *c, struct fault *f)
{
    if (c->fields.splits == CUBLAS_STREAM_K && c->fields.id == 11) c->fields.splits = 1;
    if (c->fields.splits == CUBLAS_STREAM_K)
        return refuse(f, "stream-K has another order in each tile");
    if (!c->fields.splits) c->fields.splits = 1;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (families[i].id == c->fields.id &&
            families[i].operands & 1u << c->types->operands)
            return families[i].rule(c, f);
    return fault_set(f, BITCUT_UNSUPPORTED, "no rule for algorithm %u of these types",
                     c->fields.id);
}

/* Sums of integers are exact in any order, if none can be limited to the range of s32. */
static enum bitcut_status integers(struct call *c, struct fault *f)
{
    enum { K = 131071 };
    if (c->k > K) return refuse(f, "sums of more than 131071 products may be limited");
    on(c, c->types->recipe, c->types->unit);
    return BITCUT_OK;
}

/* What the recorded calls have in common. */
static enum bitcut_status check_call(const struct call *c, struct fault *f)
{
    const struct bitcut_gemm *const g = c->of;
    if (g->epilogue[0] > BITCUT_STEP_FUSED || g->bias_rows || g->start)
        return refuse(f, "of epilogues only a bias of columns is predicted");
    if (c->has_bias && c->types->operands == CUBLAS_FP8 && !c->types->is_short)
        return refuse(f, "a bias of an FP8 product in FP32 is not predicted");
    if (g->d.layout != BITCUT_ROW_MAJOR)
        return refuse(f, "a D by columns is not predicted; predict its transpose");
    return BITCUT_OK;
}

/* The algorithm, and what it computes without C and factors. */
static enum bitcut_status product(struct call *c, const struct cublas_call *call,
                                  struct fault *f)
{
    if (c->types->operands == CUBLAS_INT8) return integers(c, f);
    const enum bitcut_status status =
        c->x->fields ? cublas_fields_read(&c->fields, c->x->fields, f)
                     : cublas_choose(&c->fields, c->types, call, f);
    return status == BITCUT_OK ? compute(c, f) : status;
}

enum bitcut_status cublas_predict_call(struct prediction *x,
                                       const struct cublas_call *call, struct fault *f)
{
    struct call c = { .x = x,
                      .types = cublas_types_of(x),
                      .of = &call->g,
                      .k = call->g.k,
                      .has_bias = cublas_has_bias(call) && !call->bias_is_c };
    enum bitcut_status status = check_call(&c, f);
    if (status == BITCUT_OK) status = product(&c, call, f);
    if (status == BITCUT_OK)
        status = cublas_add(&c.g, call, c.types, &c.fields, x->fields, f);
    if (status != BITCUT_OK) return status;
    x->learned = c.fields.learned;
    const struct predicted_part all = { 0, x->call.m, 0, x->call.n,
                                        prediction_computation(x, &c.g) };
    return prediction_add(x, all, f);
}

enum bitcut_status cublas_predict(struct prediction *x, struct fault *f)
{
    const struct cublas_call call = { .g = x->call };
    return cublas_predict_call(x, &call, f);
}
