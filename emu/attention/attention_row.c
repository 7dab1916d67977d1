/* SPDX-License-Identifier: BSD-3-Clause */
/* The algorithms of attention, and their fields by name. */
#include "emu/attention/attention_row.h"

#include "emu/unit.h"
#include "lib/base/text.h"
#include "lib/gemm/order.h"
#include "lib/io/decimal.h"
#include "lib/io/listing.h"
#include "lib/number/fma.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* --- rows ------------------------------------------------------------------------- */

#define F32  &formats[FORMAT_F32]
#define F16  &formats[FORMAT_F16]
#define E4M3 &formats[FORMAT_E4M3]
#define S8   &formats[FORMAT_S8]

#define PUBLISHED "published algorithm; never compared with a device here"

/* FlashAttention 2 on an H100: flash_fwd_launch_template.h.  A head dimension of 256 has
   64 queries, because two blocks of 128 do not fit the shared memory of an SM. */
#define FLASH2_TILES                                                                     \
    {                                                                                    \
        { 64, 128, 128, 0 }, { 224, 128, 64, 0 }, { 256, 64, 64, 0 },                    \
    }
#define FLASH2_SPLIT_TILES                                                               \
    {                                                                                    \
        { 64, 64, 256, 0 }, { 128, 64, 128, 0 }, { 256, 64, 64, 0 },                     \
    }

/* The sums of FlashAttention's threads: 2 columns of each 8 on 4 threads, added over the
   threads by distance 2, then 1. */
#define QUADS .lanes = 4, .chunk = 2, .reduction = BITCUT_HALVES

#define FLASH2                                                                           \
    .unit_qk = "hopper/mma.m16n8k16.f32.f16", .unit_pv = "hopper/mma.m16n8k16.f32.f16",  \
    .tile = FLASH2_TILES, .split_tile = FLASH2_SPLIT_TILES, .descending = true, QUADS,   \
    .fused = true
#define FLASH2_WHEEL                                                                     \
    FLASH2, .scaling = SCALED_FUSED, .exp = &attention_exps[EXP2_MUFU_FTZ],              \
            .flush = true, .reciprocal = &attention_reciprocals[RECIPROCAL_MUFU],        \
            .merge = &attention_merges[MERGE_FAST]
#define FLASH2_SOURCE                                                                    \
    "Dao, FlashAttention-2, arXiv 2307.08691; flash-attention 2.8, csrc/flash_attn/src"

const struct bitcut_attention_row attention_rows[] = {
    { .name = "flash-attention-2",
      .what = "FlashAttention 2, as flash-attention is built: with -use_fast_math",
      FLASH2_WHEEL,
      .splits = 1,
      .evidence = PUBLISHED,
      .source = FLASH2_SOURCE },
    { .name = "flash-attention-2-split",
      .what = "the same with split keys (flash decoding): flash_attn_with_kvcache",
      FLASH2_WHEEL,
      .processors = 132,
      .evidence = PUBLISHED,
      .source = FLASH2_SOURCE },
    { .name = "pytorch-flash",
      .what = "FlashAttention 2 in PyTorch: scaled_dot_product_attention, flash backend",
      FLASH2,
      .scaling = SCALED_APART,
      .exp = &attention_exps[EXP2_MUFU],
      .reciprocal = &attention_reciprocals[RECIPROCAL_ROUNDED],
      .merge = &attention_merges[MERGE_CUDA],
      .processors = 132,
      .evidence = "recorded: NVIDIA H200, PyTorch 2.11",
      .source = "PyTorch 2.11, aten/src/ATen/native/transformers/cuda/flash_attn and "
                "third_party/flash-attention, built with UNFUSE_FMA" },
    { .name = "cudnn-sm90",
      .what = "cuDNN on Hopper: PyTorch's scaled_dot_product_attention on an H100, H200",
      .unit_qk = "hopper/wgmma.m64n8k16.f32.f16",
      .unit_pv = "hopper/wgmma.m64n8k16.f32.f16",
      .tile = { { 128, 64, 128, 0 } },
      .scaling = SCALED_SCORES,
      .exp = &attention_exps[EXP2_MUFU],
      .lanes = 4,
      .chunk = 2,
      .reduction = BITCUT_TREE,
      .apart = true,
      .fused = true,
      .reciprocal = &attention_reciprocals[RECIPROCAL_MUFU],
      .lse_nan = true,
      .merge = &attention_merges[MERGE_CUDA],
      .splits = 1,
      .evidence = "recorded: NVIDIA H200, cuDNN 9.19; not for one query",
      .source = "data/attention: orders of sums and roundings that its results show" },
    { .name = "flash-attention-3-fp8",
      .what = "FlashAttention 3 with e4m3: P times 2^8, products by wgmma",
      .unit_qk = "hopper/wgmma.m64n8k32.f32.e4m3",
      .unit_pv = "hopper/wgmma.m64n8k32.f32.e4m3",
      .operand = E4M3,
      .p = E4M3,
      .offset = 0x41000000, /* 8 */
      .tile = { { 64, 192, 160, 0 },
                { 96, 192, 128, 0 },
                { 128, 128, 224, 0 },
                { 192, 128, 160, 0 },
                { 256, 128, 128, 0 } },
      .descending = true,
      .scaling = SCALED_FUSED,
      .exp = &attention_exps[EXP2_MUFU_FTZ],
      .flush = true,
      QUADS,
      .fused = true,
      .reciprocal = &attention_reciprocals[RECIPROCAL_MUFU],
      .merge = &attention_merges[MERGE_FAST],
      .splits = 1,
      .evidence = PUBLISHED,
      .source = "Shah et al., FlashAttention-3, arXiv 2407.08608; flash-attention, "
                "hopper/softmax.h, hopper/tile_size.h" },
    { .name = "sage-attention-1",
      .what = "SageAttention 1: Q K by INT8 blocks, P V in f16 with f16 accumulators",
      .unit_qk = "ampere/mma.m16n8k32.s32.s8",
      .unit_pv = "ampere/mma.m16n8k16.f16.f16",
      .operand = S8,
      .p = F16,
      .tile = { { 256, 128, 64, 0 } },
      .scaling = SCALED_QUERIES,
      .exp = &attention_exps[EXP2_MUFU_FTZ],
      QUADS,
      .each_tile = true,
      .fused = true,
      .from_zero = BITCUT_UNSET,
      .reciprocal = &attention_reciprocals[RECIPROCAL_DIVIDE],
      .merge = &attention_merges[MERGE_FAST],
      .splits = 1,
      .q_block = 128,
      .k_block = 64,
      .smooth_k = true,
      .evidence = PUBLISHED,
      .source = "Zhang et al., SageAttention, arXiv 2410.02367; SageAttention, "
                "sageattention/triton/attn_qk_int8_per_block.py, quant_per_block.py" },
    { .name = "sage-attention-2",
      .what = "SageAttention 2: Q K by INT8 blocks, P V in e4m3, added in FP32 each tile",
      .unit_qk = "ada/mma.m16n8k32.s32.s8",
      .unit_pv = "ada/mma.m16n8k32.f32.e4m3",
      .operand = S8,
      .p = E4M3,
      .offset = 0x410ce979, /* 8.807, about log2(448) */
      .tile = { { 256, 128, 64, 0 } },
      .scaling = SCALED_FUSED,
      .exp = &attention_exps[EXP2_MUFU_FTZ],
      .flush = true,
      .lanes = 4,
      .chunk = 2,
      .reduction = BITCUT_TREE,
      .fused = true,
      .from_zero = BITCUT_UNSET,
      .reciprocal = &attention_reciprocals[RECIPROCAL_MUFU],
      .merge = &attention_merges[MERGE_FAST],
      .splits = 1,
      .q_block = 32,
      .k_block = 64,
      .smooth_k = true,
      .v_channels = true,
      .evidence = PUBLISHED,
      .source = "Zhang et al., SageAttention2, arXiv 2411.10958; SageAttention, "
                "csrc/qattn/qk_int_sv_f8_cuda_sm89.cuh, per-warp scales, fp32+fp32" },
    { .name = "plain",
      .what = "two GEMMs and an FP32 softmax between them: PyTorch's math backend",
      .unit_qk = "fma/f32",
      .unit_pv = "fma/f32",
      .operand = F32,
      .p = F32,
      .tile = { { INT16_MAX, 64, 0, 0 } },
      .scaling = SCALED_OPERANDS,
      .exp = &attention_exps[EXP_CUDA],
      .p_divided = true,
      .lanes = 32,
      .chunk = 1,
      .reduction = BITCUT_HALVES,
      .reciprocal = &attention_reciprocals[RECIPROCAL_DIVIDE],
      .merge = &attention_merges[MERGE_CUDA],
      .splits = 1,
      .evidence = PUBLISHED,
      .source = "PyTorch, aten/src/ATen/native/transformers/attention.cpp: "
                "_scaled_dot_product_attention_math; softmax: PersistentSoftmax.cuh" },
    { 0 }
};

const struct bitcut_attention_row *bitcut_attention_find(const char *name)
{
    return table_find(TABLE(attention_rows), name);
}

/* --- fields ----------------------------------------------------------------------- */

/* How a field is read from a text, and written as a text. */
struct kind {
    bool (*set)(void *at, const char *text, struct table choices);
    void (*get)(char text[ATTENTION_TEXT_MAX], const void *at, struct table choices);
};

/* A field.  Its choices are rows, or texts of an enumeration as rows. */
struct attention_field {
    const char *name, *what, *key; /* key: the name in JSON */
    const struct kind *kind;
    size_t offset;
    struct table choices;
};

static const struct table_row
    directions[] = { { "ascending", "" }, { "descending", "" }, { 0 } },
    flags[] = { { "no", "" }, { "yes", "" }, { 0 } },
    scalings[] = {
        [SCALED_FUSED] = { "fused", "" },       [SCALED_APART] = { "apart", "" },
        [SCALED_SCORES] = { "scores", "" },     [SCALED_QUERIES] = { "queries", "" },
        [SCALED_OPERANDS] = { "operands", "" }, { 0 }
    };

/* The position of a name in its table, or -1. */
static int position(struct table t, const char *text)
{
    const struct table_row *const row = table_find(t, text);
    return row ? (int)(((const char *)row - (const char *)t.rows) / (long)t.row_size)
               : -1;
}

static const char *name_at(struct table t, int i)
{
    const char *const row = (const char *)t.rows + (size_t)i * t.row_size;
    return ((const struct table_row *)(const void *)row)->name;
}

static bool number_of(long *to, const char *text)
{
    char *end;
    *to = strtol(text, &end, 10);
    return *text && !*end && *to >= BITCUT_UNSET && *to <= INT32_MAX / 2;
}

static bool set_number(void *at, const char *text, struct table choices)
{
    long x;
    (void)choices;
    if (!strcmp(text, "tile")) x = BITCUT_UNSET;
    else if (!number_of(&x, text) || x < 0) return false;
    *(int *)at = (int)x;
    return true;
}

static void get_number(char text[ATTENTION_TEXT_MAX], const void *at,
                       struct table choices)
{
    (void)choices;
    const int x = *(const int *)at;
    if (x == BITCUT_UNSET) text_add(text, ATTENTION_TEXT_MAX, "tile");
    else text_add(text, ATTENTION_TEXT_MAX, "%d", x);
}

static bool set_flag(void *at, const char *text, struct table choices)
{
    const int x = position(choices, text);
    if (x >= 0) *(bool *)at = x;
    return x >= 0;
}

static void get_flag(char text[ATTENTION_TEXT_MAX], const void *at, struct table choices)
{
    text_add(text, ATTENTION_TEXT_MAX, "%s", name_at(choices, *(const bool *)at));
}

/* All enumerations have the size of an int. */
_Static_assert(sizeof(enum attention_scaling) == sizeof(int) &&
                   sizeof(enum bitcut_reduction) == sizeof(int),
               "choices are stored as int");

static bool set_choice(void *at, const char *text, struct table choices)
{
    const int x = position(choices, text);
    if (x >= 0) memcpy(at, &x, sizeof x);
    return x >= 0;
}

static void get_choice(char text[ATTENTION_TEXT_MAX], const void *at,
                       struct table choices)
{
    int x;
    memcpy(&x, at, sizeof x);
    text_add(text, ATTENTION_TEXT_MAX, "%s", name_at(choices, x));
}

/* A pointer to a row; "input" is NULL. */
static bool set_row(void *at, const char *text, struct table choices)
{
    const void *const row = table_find(choices, text);
    if (!row && strcmp(text, "input")) return false;
    memcpy(at, &row, sizeof row);
    return true;
}

static void get_row(char text[ATTENTION_TEXT_MAX], const void *at, struct table choices)
{
    const struct table_row *row;
    (void)choices;
    memcpy(&row, at, sizeof row);
    text_add(text, ATTENTION_TEXT_MAX, "%s", row ? row->name : "input");
}

/* The name of a unit. */
static bool set_unit(void *at, const char *text, struct table choices)
{
    const struct bitcut_unit *const unit = table_find(choices, text);
    if (unit) memcpy(at, &unit->name, sizeof unit->name);
    return unit;
}

static void get_unit(char text[ATTENTION_TEXT_MAX], const void *at, struct table choices)
{
    const char *name;
    (void)choices;
    memcpy(&name, at, sizeof name);
    text_add(text, ATTENTION_TEXT_MAX, "%s", name);
}

/* A real number, which becomes FP32. */
static bool set_real(void *at, const char *text, struct table choices)
{
    enum { LARGEST = 0x447a0000 }; /* 1000 */
    uint32_t x;
    (void)choices;
    if (!decimal_read(&x, text) || (x & 0x7fffffff) > LARGEST) return false;
    *(uint32_t *)at = x;
    return true;
}

static void get_real(char text[ATTENTION_TEXT_MAX], const void *at, struct table choices)
{
    (void)choices;
    decimal_write(text, *(const uint32_t *)at);
}

static const struct kind numbers = { set_number, get_number },
                         truths = { set_flag, get_flag },
                         choices = { set_choice, get_choice },
                         rows = { set_row, get_row }, names = { set_unit, get_unit },
                         reals = { set_real, get_real };

#define FIELD(item, json, member, kind_of, choices_of, line)                             \
    {                                                                                    \
        item, line, json, &kind_of, offsetof(struct bitcut_attention_row, member),       \
            choices_of                                                                   \
    }
#define NONE                                                                             \
    {                                                                                    \
        NULL, 0                                                                          \
    }

static const struct attention_field fields[] = {
    FIELD("unit-qk", "unit_qk", unit_qk, names, ROWS(units), "unit of Q K^T"),
    FIELD("unit-pv", "unit_pv", unit_pv, names, ROWS(units), "unit of P V"),
    FIELD("operand", "operand", operand, rows, ROWS(formats),
          "format of Q and K in the product"),
    FIELD("block-m", "block_m", block_m, numbers, NONE,
          "queries of a tile; 0: by head dimension"),
    FIELD("block-n", "block_n", block_n, numbers, NONE,
          "keys of a tile; 0: by head dimension"),
    FIELD("direction", "direction", descending, truths, ROWS(directions),
          "order of key tiles"),
    FIELD("scaling", "scaling", scaling, choices, ROWS(scalings),
          "where scores are scaled"),
    FIELD("exp", "exp", exp, rows, ROWS(attention_exps), "exponential"),
    FIELD("flush", "flush", flush, truths, ROWS(flags),
          "whether FP32 subnormals are flushed"),
    FIELD("offset", "offset", offset, reals, NONE, "P is multiplied by 2^offset"),
    FIELD("threshold", "threshold", threshold, reals, NONE,
          "the maximum stays unless 2^threshold is exceeded; 0: it always rises"),
    FIELD("p-format", "p_format", p, rows, ROWS(formats), "format of P in the product"),
    FIELD("p-divided", "p_divided", p_divided, truths, ROWS(flags),
          "whether P V has P / sum"),
    FIELD("lanes", "lanes", lanes, numbers, NONE, "threads that add a row of P"),
    FIELD("chunk", "chunk", chunk, numbers, NONE, "columns that each takes in turn"),
    FIELD("reduction", "reduction", reduction, choices, ROWS(reductions),
          "order of the threads' sums"),
    FIELD("each-tile", "each_tile", each_tile, truths, ROWS(flags),
          "whether the threads' sums are reduced in each tile"),
    FIELD("apart", "apart", apart, truths, ROWS(flags),
          "whether a thread adds a tile of P before it adds its sum so far"),
    FIELD("fused", "fused", fused, truths, ROWS(flags),
          "whether a rescale is fused with the addition after it"),
    FIELD("from-zero", "from_zero", from_zero, numbers, NONE,
          "keys of a product with V that is added to O in FP32; 0: it accumulates in O"),
    FIELD("reciprocal", "reciprocal", reciprocal, rows, ROWS(attention_reciprocals),
          "how O is divided by the sum"),
    FIELD("lse-nan", "lse_nan", lse_nan, truths, ROWS(flags),
          "whether the log-sum-exp is NaN if the sum is; no: +Inf"),
    FIELD("splits", "splits", splits, numbers, NONE,
          "parts of the keys; 0: by `processors`"),
    FIELD("processors", "processors", processors, numbers, NONE,
          "multiprocessors for which splits are chosen; 0: one split"),
    FIELD("merge", "merge", merge, rows, ROWS(attention_merges), "how splits are merged"),
    FIELD("q-block", "q_block", q_block, numbers, NONE,
          "rows of Q that share a scale of INT8"),
    FIELD("k-block", "k_block", k_block, numbers, NONE,
          "rows of K that share a scale of INT8"),
    FIELD("smooth-k", "smooth_k", smooth_k, truths, ROWS(flags),
          "whether the mean of K is subtracted"),
    FIELD("v-channels", "v_channels", v_channels, truths, ROWS(flags),
          "whether columns of V are scaled to the format of P"),
    { 0 }
};

bool attention_field(const char **name, const char **what, char text[ATTENTION_TEXT_MAX],
                     const struct bitcut_attention_row *row, size_t index)
{
    const struct attention_field *const f = &fields[index];
    if (index >= sizeof fields / sizeof *fields - 1) return false;
    *name = f->name;
    *what = f->what;
    *text = 0;
    f->kind->get(text, (const char *)row + f->offset, f->choices);
    return true;
}

const char *attention_key(size_t index) { return fields[index].key; }

/* --- variations ------------------------------------------------------------------- */

/* Set one field from "name=value". */
static enum bitcut_status vary_one(struct bitcut_attention_row *row, char *item,
                                   struct fault *f)
{
    char *const value = strchr(item, '=');
    if (value) *value = 0;
    const struct attention_field *const field = table_find(TABLE(fields), item);
    char hint[TABLE_HINT_MAX];
    if (!field) {
        table_hint(hint, TABLE(fields), item);
        return fault_option(f, "vary", "unknown field \"%.40s\"%s", item, hint);
    }
    if (!value) return fault_option(f, "vary", "%s requires a value: %s=...", item, item);
    if (field->kind->set((char *)row + field->offset, value + 1, field->choices))
        return BITCUT_OK;
    *hint = 0;
    if (field->choices.rows) table_hint(hint, field->choices, value + 1);
    return fault_option(f, "vary", "%s cannot be \"%.40s\"%s", item, value + 1, hint);
}

enum bitcut_status attention_vary(struct bitcut_attention_row *row, const char *items,
                                  struct fault *f)
{
    enum { ITEM_MAX = 128 };
    char item[ITEM_MAX];
    while (items && *items) {
        const size_t length = strcspn(items, ",");
        if (length >= sizeof item)
            return fault_option(f, "vary", "an item has more than %d characters",
                                ITEM_MAX - 1);
        memcpy(item, items, length);
        item[length] = 0;
        const enum bitcut_status status = vary_one(row, item, f);
        if (status != BITCUT_OK) return status;
        items += length + (items[length] == ',');
    }
    return BITCUT_OK;
}
