/* SPDX-License-Identifier: BSD-3-Clause */
/* Attention on the device of tests/gpu/device.c, by the emulator. */
#include "tests/gpu/device_parts.h"

#include "lib/number/bits.h"

#include <stdio.h>
#include <string.h>

enum { NEW_BIT = 1u << 1 };

#define KERNEL(NAME, FORMAT, TYPE)                                                       \
    {                                                                                    \
        NAME, "", FORMAT, "mma.m16n8k16.f32." TYPE, 16, 256, 256, 1 << 15, NEW_BIT, NULL \
    }

/* The liar takes the tiles of keys in the opposite order. */
const struct gpu_attention_kernel model_attention_kernels[] = {
    KERNEL("model.flash2.f16", FORMAT_F16, "f16"),
#ifndef HONEST
    KERNEL("liar.flash2.bf16", FORMAT_BF16, "bf16"),
#endif
    { 0 }
};

static struct bitcut_matrix heads_of(const void *at, const char *format, size_t elements)
{
    return (struct bitcut_matrix){ .at = at,
                                   .format = bitcut_format_find(format),
                                   .stride = elements };
}

/* The call as an attention.  Rows are those of this copy of the tables. */
static void as_attention(struct bitcut_attention *a, char *vary, size_t size,
                         const struct gpu_attention *x)
{
    const bool lies = !strncmp(x->kernel->name, "liar", 4);
    const char *const format = lies ? "bf16" : "f16";
    const size_t of_q = (size_t)x->queries * (size_t)x->head_dim;
    const size_t of_k = (size_t)x->keys * (size_t)x->head_dim;
    bitcut_attention_init(a, sizeof *a);
    a->row = bitcut_attention_find(x->fast ? "flash-attention-2" : "pytorch-flash");
    snprintf(vary, size,
             "block-m=%d,block-n=%d,splits=%d,scaling=%s,reciprocal=%s,direction=%s,"
             "apart=%s,reduction=%s,lse-nan=%s",
             x->tile_rows, x->tile_keys, x->splits,
             x->scales  ? "scores"
             : x->fuses ? "fused"
                        : "apart",
             x->approximates ? "rcp.approx.ftz" : "reciprocal",
             x->ascending != lies ? "ascending" : "descending", x->apart ? "yes" : "no",
             x->neighbours ? "tree" : "halves", x->lse_nan ? "yes" : "no");
    a->vary = vary;
    a->heads = (size_t)x->heads, a->kv_heads = (size_t)x->kv_heads;
    a->queries = (size_t)x->queries, a->keys = (size_t)x->keys;
    a->head_dim = (size_t)x->head_dim;
    a->scale = bits_of_float(x->scale);
    if (x->causal) a->window_right = 0;
    a->q = heads_of(x->q, format, of_q), a->o = heads_of(x->o, format, of_q);
    a->k = heads_of(x->k, format, of_k), a->v = heads_of(x->v, format, of_k);
    a->lse = (uint32_t *)(void *)x->lse;
}

int model_attention(const struct gpu_attention *x, double *milliseconds, int repeats,
                    int device, char *fault)
{
    struct bitcut_attention a;
    char vary[200], why[BITCUT_TEXT_MAX];
    (void)device;
    if (model_refuse(fault)) return 1;
    as_attention(&a, vary, sizeof vary, x);
    for (int i = 0; i < repeats; i++) milliseconds[i] = 1;
    if (bitcut_attention(&a, 1, why) == BITCUT_OK) return 0;
    snprintf(fault, GPU_FAULT_MAX, "%.190s", why);
    return 1;
}
