/* SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/api/attention.h"

#include "lib/number/bits.h"

#include <stdio.h>
#include <string.h>

const struct gpu_attention_kernel *
gpu_attention_next(const struct gpu *g, const struct gpu_attention_kernel *at)
{
    const struct gpu_attention_kernel *const next =
        at ? at + 1 : g->module->attention_kernels;
    return next && next->name ? next : NULL;
}

/* --- the algorithm ---------------------------------------------------------------- */

/* The values of fields of a row that kernels compute; of fields that are not here, all.
 */
static const struct {
    const char *field, *values[4];
} computed[] = {
    { "operand", { "input" } },  { "scaling", { "fused", "apart", "scores" } },
    { "offset", { "0" } },       { "threshold", { "0" } },
    { "p-format", { "input" } }, { "p-divided", { "no" } },
    { "lanes", { "4" } },        { "chunk", { "2" } },
    { "each-tile", { "no" } },   { "fused", { "yes" } },
    { "from-zero", { "0" } },    { "q-block", { "0" } },
    { "k-block", { "0" } },      { "smooth-k", { "no" } },
    { "v-channels", { "no" } },
};

static bool is_computed(const char *field, const char *value)
{
    for (size_t i = 0; i < sizeof computed / sizeof *computed; i++) {
        const char *const *v = computed[i].values;
        if (strcmp(computed[i].field, field)) continue;
        while (*v && strcmp(*v, value)) v++;
        return *v;
    }
    return true;
}

/* Whether subnormals are flushed everywhere and splits merged by approximate functions,
   or neither. */
static bool is_fast(const struct bitcut_attention_row *r)
{
    return r->flush && r->exp == &attention_exps[EXP2_MUFU_FTZ] &&
           r->merge == &attention_merges[MERGE_FAST];
}

static bool is_accurate(const struct bitcut_attention_row *r)
{
    return !r->flush && r->exp == &attention_exps[EXP2_MUFU] &&
           r->merge == &attention_merges[MERGE_CUDA];
}

static enum bitcut_status check_row(const struct attention_plan *p,
                                    const struct gpu_attention_kernel *k, struct fault *f)
{
    const struct bitcut_attention_row *const r = &p->row;
    char value[ATTENTION_TEXT_MAX];
    const char *field, *what;
    for (size_t i = 0; attention_field(&field, &what, value, r, i); i++)
        if (!is_computed(field, value))
            return fault_set(f, BITCUT_UNSUPPORTED, "%s does not compute %s=%.40s",
                             k->name, field, value);
    if (!is_fast(r) && !is_accurate(r))
        return fault_set(f, BITCUT_UNSUPPORTED,
                         "%s does not compute exp=%.40s with flush=%s and merge=%.40s",
                         k->name, r->exp->name, r->flush ? "yes" : "no", r->merge->name);
    if (r->reciprocal == &attention_reciprocals[RECIPROCAL_MUFU] ||
        r->reciprocal == &attention_reciprocals[RECIPROCAL_ROUNDED])
        return BITCUT_OK;
    return fault_set(f, BITCUT_UNSUPPORTED, "%s does not compute reciprocal=%.40s",
                     k->name, r->reciprocal->name);
}

static enum bitcut_status check_units(const struct attention_plan *p,
                                      const struct gpu_attention_kernel *k,
                                      const struct gpu_device *device, struct fault *f)
{
    const struct gpu_architecture *const a =
        gpu_architecture_for(device, k->architectures);
    char own[GPU_TEXT_MAX];
    if (!a)
        return fault_set(f, BITCUT_UNSUPPORTED, "%s does not run on %.60s", k->name,
                         device->name);
    snprintf(own, sizeof own, "%s/%s", a->units, k->instruction);
    if (!strcmp(own, p->qk.unit->name) && !strcmp(own, p->pv.unit->name))
        return BITCUT_OK;
    return fault_set(f, BITCUT_UNSUPPORTED, "%s runs on %.70s, not on %.70s and %.70s",
                     k->name, own, p->qk.unit->name, p->pv.unit->name);
}

/* --- the matrices ----------------------------------------------------------------- */

/* Whether the matrices lie one after the other without gaps. */
static bool is_dense(const struct bitcut_matrix *x, size_t rows, size_t columns,
                     size_t count)
{
    return !x->each && x->layout == BITCUT_ROW_MAJOR && (!x->ld || x->ld == columns) &&
           (count == 1 || x->stride == rows * columns);
}

static enum bitcut_status check_matrices(const struct bitcut_attention *a,
                                         const struct gpu_attention_kernel *k,
                                         struct fault *f)
{
    const struct {
        const char *name;
        const struct bitcut_matrix *x;
        size_t rows, heads;
    } all[] = { { "Q", &a->q, a->queries, a->heads },
                { "K", &a->k, a->keys, a->kv_heads },
                { "V", &a->v, a->keys, a->kv_heads },
                { "O", &a->o, a->queries, a->heads } };
    for (int i = 0; i < 4; i++) {
        if (matrix_format(all[i].x) != &formats[k->format])
            return fault_set(f, BITCUT_BAD_ARGUMENT, "%s takes %s in %s, not in %s",
                             k->name, all[i].name, formats[k->format].name,
                             matrix_format(all[i].x)->name);
        if (!is_dense(all[i].x, all[i].rows, a->head_dim, all[i].heads))
            return fault_set(f, BITCUT_BAD_ARGUMENT,
                             "%s takes the heads of %s row-major and without gaps",
                             k->name, all[i].name);
    }
    return BITCUT_OK;
}

static bool fits(size_t size, int grain, int most)
{
    return size && size % (size_t)grain == 0 && size <= (size_t)most;
}

enum { TILE_ROWS_MOST = 512, SPLITS_MOST = 128, SIZE_MOST = 1 << 30 };

static enum bitcut_status check_sizes(const struct attention_plan *p,
                                      const struct gpu_attention_kernel *k,
                                      struct fault *f)
{
    const struct bitcut_attention *const a = &p->a;
    if (!fits(a->head_dim, k->grain, k->head_dim_most) || a->value_dim != a->head_dim)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "%s takes head_dim = value_dim, a multiple of %d up to %d",
                         k->name, k->grain, k->head_dim_most);
    if (!fits(p->block_m, k->grain, TILE_ROWS_MOST) ||
        !fits(p->block_n, k->grain, k->tile_keys_most) ||
        p->block_n * a->head_dim > (size_t)k->tile_most)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "%s takes no tiles of %zu queries and %zu keys of %zu", k->name,
                         p->block_m, p->block_n, a->head_dim);
    if (!fits(a->queries, 1, SIZE_MOST) || !fits(a->keys, 1, SIZE_MOST) ||
        !fits(a->heads, 1, GPU_COUNT_MAX) || p->row.splits > SPLITS_MOST)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "%s takes 1 to %d queries and keys, 1 to %d heads and up to %d "
                         "splits",
                         k->name, SIZE_MOST, GPU_COUNT_MAX, SPLITS_MOST);
    return BITCUT_OK;
}

/* --- the call --------------------------------------------------------------------- */

enum bitcut_status gpu_attention_make(struct gpu_attention *to,
                                      const struct attention_plan *p,
                                      const struct gpu_attention_kernel *k,
                                      const struct gpu_device *device, struct fault *f)
{
    const struct bitcut_attention *const a = &p->a;
    enum bitcut_status status = check_matrices(a, k, f);
    if (status == BITCUT_OK) status = check_units(p, k, device, f);
    if (status == BITCUT_OK) status = check_row(p, k, f);
    if (status == BITCUT_OK) status = check_sizes(p, k, f);
    if (status != BITCUT_OK) return status;
    if (p->masked && (a->window_left != BITCUT_UNSET || a->window_right))
        return fault_set(f, BITCUT_UNSUPPORTED, "%s has no window but the causal mask",
                         k->name);
    *to = (struct gpu_attention){
        .kernel = k,
        .o = a->o.to,
        .lse = (float *)(void *)a->lse,
        .q = a->q.at,
        .k = a->k.at,
        .v = a->v.at,
        .batch = 1,
        .heads = (int)a->heads,
        .kv_heads = (int)a->kv_heads,
        .queries = (int)a->queries,
        .keys = (int)a->keys,
        .head_dim = (int)a->head_dim,
        .tile_rows = (int)p->block_m,
        .tile_keys = (int)p->block_n,
        .splits = p->row.splits,
        .causal = p->masked,
        .scale = p->scale,
        .scale_log2 = p->t,
        .ascending = !p->row.descending,
        .scales = p->row.scaling == SCALED_SCORES,
        .fuses = p->row.scaling == SCALED_FUSED,
        .fast = p->row.flush,
        .apart = p->row.apart,
        .neighbours = p->row.reduction == BITCUT_TREE,
        .lse_nan = p->row.lse_nan,
        .approximates = p->row.reciprocal == &attention_reciprocals[RECIPROCAL_MUFU],
        .guarded = (int)p->guarded,
    };
    return BITCUT_OK;
}

enum bitcut_status gpu_attention_run(const struct gpu_attention *call,
                                     double *milliseconds, int repeats,
                                     const struct gpu *g, const struct gpu_device *device,
                                     struct fault *f)
{
    char why[GPU_FAULT_MAX];
    if (g->module->attention(call, milliseconds, repeats, device->number, why))
        return fault_set(f, BITCUT_UNSUPPORTED, "%s: %s", call->kernel->name, why);
    return BITCUT_OK;
}
