/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/identify/attention_hypothesis.h"

#include "lib/base/text.h"

/* --- axes --------------------------------------------------------------------------- */

#define ITEMS(...)  ((const char *const[]){ __VA_ARGS__, NULL })
#define UNITS(name) "unit-qk=" name ",unit-pv=" name

/* The tiles of known kernels, and units whose sums differ.  Queries of a tile show only
   if a tile that is masked for a query meets an infinity or NaN. */
const struct attention_axis attention_axes[] = {
    { "block-n", "keys of a tile",
      ITEMS("block-n=16", "block-n=32", "block-n=64", "block-n=80", "block-n=96",
            "block-n=112", "block-n=128", "block-n=144", "block-n=160", "block-n=176",
            "block-n=192", "block-n=224", "block-n=256", "block-n=512", "block-n=0"),
      true },
    { "splits", "parts of the keys",
      ITEMS("splits=1", "splits=2", "splits=3", "splits=4", "splits=5", "splits=6",
            "splits=7", "splits=8", "splits=10", "splits=12", "splits=16", "splits=20",
            "splits=24", "splits=32", "splits=64", "splits=0,processors=78",
            "splits=0,processors=108", "splits=0,processors=128",
            "splits=0,processors=132", "splits=0,processors=142",
            "splits=0,processors=148", "splits=0,processors=170"),
      true },
    { "direction", "order of key tiles",
      ITEMS("direction=ascending", "direction=descending"), true },
    { "scaling", "where scores are scaled",
      ITEMS("scaling=fused", "scaling=apart", "scaling=scores", "scaling=queries",
            "scaling=operands"),
      true },
    { "exp", "exponential",
      ITEMS("exp=ex2.approx.ftz", "exp=ex2.approx", "exp=polynomial", "exp=exp2",
            "exp=expf,scaling=scores", "exp=exp,scaling=scores"),
      true },
    { "units", "units of both products",
      ITEMS(UNITS("ampere/mma.m16n8k16.f32.f16"), UNITS("ampere/mma.m16n8k8.f32.f16"),
            UNITS("ada/mma.m16n8k16.f32.f16"), UNITS("hopper/mma.m16n8k16.f32.f16"),
            UNITS("hopper/wgmma.m64n8k16.f32.f16"),
            UNITS("blackwell/tcgen05.m128n8k16.f32.f16"),
            UNITS("volta/mma.m8n8k4.f32.f16"), UNITS("fma/f32")),
      true },
    { "unit-pv", "unit of P V alone",
      ITEMS("unit-pv=ampere/mma.m16n8k16.f16.f16",
            "unit-pv=hopper/wgmma.m64n8k16.f16.f16", "unit-pv=fma/f32"),
      true },
    { "p-format", "format and scale of P",
      ITEMS("p-format=input", "p-format=f16", "p-format=bf16", "p-format=e4m3,offset=8",
            "p-format=e4m3,offset=8.807", "p-format=e5m2,offset=8",
            "p-format=f32,unit-pv=fma/f32"),
      true },
    { "from-zero", "accumulation of P V",
      ITEMS("from-zero=0", "from-zero=tile", "from-zero=16", "from-zero=32",
            "from-zero=64"),
      true },
    { "sum", "order of the sum of P",
      ITEMS("lanes=4,chunk=2,reduction=halves", "lanes=4,chunk=2,reduction=tree",
            "lanes=1,chunk=1", "lanes=2,chunk=2", "lanes=32,chunk=1,reduction=halves",
            "lanes=32,chunk=4,reduction=halves", "lanes=16,chunk=1,reduction=halves"),
      true },
    { "each-tile", "whether sums are reduced in each tile",
      ITEMS("each-tile=no", "each-tile=yes"), false },
    { "apart", "whether a tile of P is added apart", ITEMS("apart=no", "apart=yes"),
      false },
    { "fused", "whether a rescale is fused", ITEMS("fused=no", "fused=yes"), false },
    { "reciprocal", "division by the sum",
      ITEMS("reciprocal=rcp.approx.ftz", "reciprocal=reciprocal", "reciprocal=division"),
      false },
    { "flush", "subnormals", ITEMS("flush=no", "flush=yes"), false },
    { "threshold", "when the maximum rises", ITEMS("threshold=0", "threshold=8"), false },
    { "merge", "merge of splits", ITEMS("merge=cuda", "merge=cuda-fast"), false },
    { "quantization", "blocks of INT8",
      ITEMS("q-block=128,k-block=64", "q-block=128,k-block=128", "q-block=64,k-block=64",
            "q-block=32,k-block=64", "q-block=16,k-block=16", "smooth-k=no",
            "smooth-k=yes", "v-channels=no", "v-channels=yes"),
      false },
    { "block-m", "queries of a tile",
      ITEMS("block-m=16", "block-m=32", "block-m=64", "block-m=128", "block-m=192"),
      false },
    { 0 }
};

/* --- hypotheses --------------------------------------------------------------------- */

void attention_hypothesis_items(char *text, size_t size,
                                const struct attention_hypothesis *h)
{
    for (int i = 0; i < ATTENTION_AXES; i++)
        if (h->value[i])
            text_add(text, size, "%s%s", *text ? "," : "",
                     attention_axes[i].item[h->value[i] - 1]);
}

/* Whether the quantized operands that items ask for exist in the row. */
static bool quantizes(const struct attention_hypothesis *h)
{
    for (int i = 0; i < ATTENTION_AXES; i++)
        if (h->value[i] && !strcmp(attention_axes[i].name, "quantization"))
            return h->row->q_block;
    return true;
}

bool attention_hypothesis_plan(struct attention_plan *plan, struct attention_variant *v,
                               const struct attention_hypothesis *h,
                               const struct bitcut_attention *a)
{
    *v = (struct attention_variant){ .a = *a };
    if (a->vary) text_add(v->items, sizeof v->items, "%s", a->vary);
    attention_hypothesis_items(v->items, sizeof v->items, h);
    v->a.row = h->row;
    v->a.vary = v->items;
    return quantizes(h) && attention_fault_plan(plan, v, h->fault) &&
           plan->row.splits <= ATTENTION_SPLITS_MAX;
}
