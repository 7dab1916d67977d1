/* SPDX-License-Identifier: BSD-3-Clause */
#include "emu/attention/attention_plan.h"

#include "lib/base/size.h"
#include "lib/base/text.h"
#include "lib/number/bits.h"
#include "lib/number/fma.h"
#include "lib/number/hostfp.h"

#include <math.h>
#include <string.h>

/* --- a caller's attention ----------------------------------------------------------- */

static const struct bitcut_attention open_attention = {
    .size = sizeof open_attention,
    .heads = 1,
    .kv_heads = 1,
    .window_left = BITCUT_UNSET,
    .window_right = BITCUT_UNSET,
};

void bitcut_attention_init(struct bitcut_attention *a, size_t size)
{
    memcpy(a, &open_attention, size < sizeof *a ? size : sizeof *a);
    a->size = size;
}

/* The FP32 encoding of 1 / sqrt(n), rounded from binary64 as kernels round it.  Volatile
   values stay between the calls that set the mode. */
static uint32_t default_scale(size_t n)
{
    struct hostfp saved;
    volatile float scale;
    hostfp_enter(&saved);
    const volatile double x = (double)n;
    scale = (float)(1 / sqrt(x));
    hostfp_leave(&saved);
    return bits_of_float(scale);
}

enum { SIZE_MOST = 1 << 30 };

static enum bitcut_status check_sizes(const struct bitcut_attention *a, struct fault *f)
{
    const size_t sizes[] = { a->heads, a->queries, a->keys, a->head_dim, a->value_dim };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i] > SIZE_MOST)
            return fault_set(f, BITCUT_BAD_ARGUMENT, "a size is above %d", SIZE_MOST);
    if (!a->kv_heads || a->heads % a->kv_heads)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "%zu heads of Q are not a multiple of %zu heads of K and V",
                         a->heads, a->kv_heads);
    if (!a->head_dim)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "head_dim must be above 0");
    if (a->window_left < BITCUT_UNSET || a->window_right < BITCUT_UNSET ||
        a->window_left > SIZE_MOST || a->window_right > SIZE_MOST)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "a window must be 0 to %d, or BITCUT_UNSET", SIZE_MOST);
    if (matrix_format(&a->q) != matrix_format(&a->k))
        return fault_set(f, BITCUT_BAD_ARGUMENT, "Q and K must have one format");
    if (!f32_is_finite(a->scale) || a->scale >> 31)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "the scale must be positive and finite");
    return BITCUT_OK;
}

enum bitcut_status attention_take(struct bitcut_attention *to,
                                  const struct bitcut_attention *from, struct fault *f)
{
    if (!from) return fault_set(f, BITCUT_BAD_ARGUMENT, "the attention must not be NULL");
    const enum bitcut_status status =
        struct_check("attention", from->size, sizeof *from, f);
    if (status != BITCUT_OK) return status;
    *to = *from;
    if (!to->value_dim) to->value_dim = to->head_dim;
    if (!to->scale && to->head_dim) to->scale = default_scale(to->head_dim);
    return check_sizes(to, f);
}

/* Whether `heads` matrices of rows x cols can be read or written. */
static enum bitcut_status check_matrix(const struct bitcut_matrix *x, const char *name,
                                       size_t heads, size_t rows, size_t cols,
                                       struct fault *f)
{
    const struct bitcut_format *const format = matrix_format(x);
    const size_t ld = matrix_ld(x, rows, cols), bytes = (size_t)format_bytes(format);
    const bool by_row = x->layout == BITCUT_ROW_MAJOR;
    if (!heads || !rows || !cols) return BITCUT_OK;
    if (!format_is_result(format))
        return fault_set(f, BITCUT_BAD_ARGUMENT, "%s cannot have the format %s", name,
                         format->name);
    if (x->layout > BITCUT_COLUMN_MAJOR || ld < (by_row ? cols : rows))
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "the leading dimension of %s is too small", name);
    for (size_t i = 0; i < heads; i++) {
        const void *const at = x->each ? x->each[i] : matrix_nth(x, i);
        if (!memory_holds(at, by_row ? rows : cols, by_row ? cols : rows, ld, bytes))
            return fault_set(f, BITCUT_BAD_ARGUMENT, "%s is missing or too large", name);
        if ((uintptr_t)at % bytes)
            return fault_set(f, BITCUT_BAD_ARGUMENT, "%s is misaligned", name);
    }
    return BITCUT_OK;
}

enum bitcut_status attention_check_matrices(const struct bitcut_attention *a,
                                            struct fault *f)
{
    enum bitcut_status status =
        check_matrix(&a->q, "Q", a->heads, a->queries, a->head_dim, f);
    if (status == BITCUT_OK)
        status = check_matrix(&a->k, "K", a->kv_heads, a->keys, a->head_dim, f);
    if (status == BITCUT_OK)
        status = check_matrix(&a->v, "V", a->kv_heads, a->keys, a->value_dim, f);
    if (status == BITCUT_OK)
        status = check_matrix(&a->o, "O", a->heads, a->queries, a->value_dim, f);
    return status;
}

void attention_keys_seen(size_t *from, size_t *to, const struct bitcut_attention *a,
                         int64_t query)
{
    const int64_t keys = (int64_t)a->keys;
    const int64_t at = query + keys - (int64_t)a->queries; /* of the diagonal */
    int64_t first = a->window_left < 0 ? 0 : at - a->window_left;
    int64_t end = a->window_right < 0 ? keys : at + a->window_right + 1;
    if (first < 0) first = 0;
    if (end > keys) end = keys;
    *from = (size_t)(first < end ? first : 0);
    *to = (size_t)(first < end ? end : 0);
}

/* --- tiles and splits --------------------------------------------------------------- */

/* The smallest number of splits whose last wave fills the processors nearly as well as
   the best one's. */
static size_t efficient_splits(size_t blocks_m, size_t processors, size_t tiles)
{
    enum { SPLITS_MAX = 128 };
    const size_t most = smaller(smaller(SPLITS_MAX, processors), tiles);
    float efficiency[SPLITS_MAX + 1] = { 0 }, best = 0;
    if ((float)blocks_m >= 0.8f * (float)processors) return 1;
    for (size_t s = 1; s <= most; s++) {
        if (s > 1 && divide_up(tiles, s) == divide_up(tiles, s - 1)) continue;
        const float waves = (float)(blocks_m * s) / (float)processors;
        efficiency[s] = waves / ceilf(waves);
        if (efficiency[s] > best) best = efficiency[s];
    }
    for (size_t s = 1; s <= most; s++)
        if (efficiency[s] > 0 && (double)efficiency[s] >= 0.85 * (double)best) return s;
    return 1;
}

size_t attention_splits(size_t blocks_m, size_t processors, size_t tiles)
{
    struct hostfp saved;
    volatile size_t count;
    hostfp_enter(&saved);
    const volatile size_t blocks = blocks_m;
    count = efficient_splits(blocks, processors, tiles);
    hostfp_leave(&saved);
    return count;
}

static const struct attention_tile *tile_for(const struct attention_tile *t, size_t dim)
{
    while (t->head_dim && (size_t)t->head_dim < dim) t++;
    return t->head_dim ? t : NULL;
}

/* The number of splits that the row chooses.  With one query, FlashAttention takes the
   heads that share K and V as queries. */
static size_t splits_of(const struct bitcut_attention_row *row,
                        const struct bitcut_attention *a)
{
    const struct attention_tile *const t = tile_for(row->split_tile, a->head_dim);
    const bool swaps = a->queries == 1 && a->heads > a->kv_heads;
    const size_t heads = swaps ? a->kv_heads : a->heads,
                 queries = swaps ? a->heads / a->kv_heads : a->queries;
    if (row->splits) return (size_t)row->splits;
    if (!row->processors || !t) return 1;
    return attention_splits(heads * divide_up(queries, (size_t)t->block_m),
                            2 * (size_t)row->processors,
                            divide_up(a->keys, (size_t)t->block_n));
}

static enum bitcut_status choose_tiles(struct attention_plan *p, struct fault *f)
{
    const struct bitcut_attention *const a = &p->a;
    const size_t count = splits_of(&p->row, a);
    const bool own = count > 1 && p->row.split_tile[0].head_dim;
    const struct attention_tile *const t =
        tile_for(own ? p->row.split_tile : p->row.tile, a->head_dim);
    if (!t && !(p->row.block_m && p->row.block_n))
        return fault_set(
            f, BITCUT_BAD_ARGUMENT,
            "%s has no tiles for head dimension %zu; set block-m and block-n",
            p->row.name, a->head_dim);
    p->block_m = (size_t)(p->row.block_m ? p->row.block_m : t->block_m);
    p->block_n = (size_t)(p->row.block_n             ? p->row.block_n
                          : p->masked && t->masked_n ? t->masked_n
                                                     : t->block_n);
    if (!p->block_n) p->block_n = larger(1, a->keys);
    p->tiles = divide_up(a->keys, p->block_n);
    p->split_tiles = larger(1, divide_up(p->tiles, count));
    p->row.splits = (int)larger(1, count);
    return BITCUT_OK;
}

/* --- products ----------------------------------------------------------------------- */

/* The unit of a product: `own`, or that of the row's family for operands of a format. */
static const struct bitcut_unit *unit_for(const struct bitcut_unit *own, const char *name,
                                          const struct bitcut_format *format)
{
    const struct bitcut_unit *const unit = own ? own : unit_find(name, format);
    if (!unit || (unit->a == format && unit->b == format)) return unit;
    return own ? NULL : unit_beside(unit, format, format);
}

/* A product of FP32 values by the recipe plain. */
static enum bitcut_status plan_product(struct bitcut_gemm *g, struct gemm_plan *plan,
                                       const struct bitcut_unit *own, const char *name,
                                       const struct bitcut_format *format,
                                       const char *what, struct fault *f)
{
    const struct bitcut_unit *const unit = unit_for(own, name, format);
    if (!unit)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "%s: the unit %s does not multiply %s",
                         what, own ? own->name : name, format->name);
    *g = gemm_of(&recipes[RECIPE_PLAIN], unit);
    return gemm_plan_on_any(plan, g, f);
}

static enum bitcut_status plan_products(struct attention_plan *p, struct fault *f)
{
    const struct bitcut_attention *const a = &p->a;
    const struct bitcut_format *const q =
        p->row.operand ? p->row.operand : matrix_format(&a->q);
    const struct bitcut_format *const v = p->row.p ? p->row.p : matrix_format(&a->v);
    enum bitcut_status status =
        plan_product(&p->qk, &p->qk_plan, a->unit_qk, p->row.unit_qk, q, "Q K", f);
    if (status == BITCUT_OK) {
        status =
            plan_product(&p->pv, &p->pv_plan, a->unit_pv, p->row.unit_pv, v, "P V", f);
        if (!p->row.from_zero) {
            p->pv.start = BITCUT_START_C;
            p->pv.beta = F32_ONE;
            status =
                status == BITCUT_OK ? gemm_plan_on_any(&p->pv_plan, &p->pv, f) : status;
        }
    }
    if (status != BITCUT_OK) return status;
    p->row.unit_qk = p->qk.unit->name;
    p->row.unit_pv = p->pv.unit->name;
    return BITCUT_OK;
}

/* --- the row ------------------------------------------------------------------------ */

enum { LANES_MAX = 32, LOG2_E = 0x3fb8aa3b };

static enum bitcut_status check_row(const struct bitcut_attention_row *r, struct fault *f)
{
    if (r->lanes < 1 || r->lanes > LANES_MAX || r->lanes & (r->lanes - 1) || r->chunk < 1)
        return fault_option(f, "vary",
                            "lanes must be a power of two, at most %d, and chunk "
                            "must be above 0",
                            LANES_MAX);
    if (r->reduction != BITCUT_HALVES && r->reduction != BITCUT_TREE)
        return fault_option(f, "vary", "reduction must be halves or tree");
    if (!r->exp || !r->reciprocal || !r->merge)
        return fault_option(f, "vary", "exp, reciprocal and merge must name a row");
    if (r->exp->natural && r->scaling < SCALED_SCORES)
        return fault_option(f, "vary", "scaling %s requires an exponential of base 2",
                            r->scaling == SCALED_FUSED ? "fused" : "apart");
    if (r->q_block && (!r->k_block || r->scaling == SCALED_OPERANDS || !r->operand))
        return fault_option(f, "vary",
                            "q-block requires k-block, operand=s8 and another "
                            "scaling than operands");
    if (r->p_divided && r->splits != 1)
        return fault_option(f, "vary", "p-divided requires splits=1");
    return BITCUT_OK;
}

/* A tile of all keys is required where P is divided before its product with V. */
static enum bitcut_status check_tiles(const struct attention_plan *p, struct fault *f)
{
    if (p->row.p_divided && p->tiles > 1)
        return fault_option(f, "vary",
                            "p-divided requires block-n=0: all keys in a tile");
    if (p->row.from_zero > 0 && p->block_n % (size_t)p->row.from_zero)
        return fault_option(f, "vary", "from-zero must divide block-n");
    return BITCUT_OK;
}

/* The scale in the base of the exponential: a double constant log2(e), rounded once. */
static void set_scales(struct attention_plan *p)
{
    struct hostfp saved;
    hostfp_enter(&saved);
    p->scale = float_of_bits(p->a.scale);
    p->t =
        p->row.exp->natural ? p->scale : (float)((double)p->scale * 0x1.71547652b82fep+0);
    hostfp_leave(&saved);
}

/* The masking steps of FlashAttention 2 (flash_fwd_kernel.h): with a causal mask, the
   tiles that the diagonal of a block may cross; with another window, all tiles. */
static size_t guarded_tiles(const struct attention_plan *p)
{
    const struct bitcut_attention *const a = &p->a;
    const bool uneven = a->keys % p->block_n || a->queries % p->block_m;
    if (!p->masked) return 0;
    if (a->window_left >= 0 || a->window_right != 0) return SIZE_MAX;
    return divide_up(p->block_m, p->block_n) + uneven;
}

enum bitcut_status attention_plan_make(struct attention_plan *p,
                                       const struct bitcut_attention *a, struct fault *f)
{
    if (!a->row)
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "the row must be set; see bitcut list attentions");
    *p = (struct attention_plan){ .a = *a, .row = *a->row };
    /* A causal mask hides nothing from a single query; kernels drop it then. */
    p->masked = a->window_left >= 0 || (a->window_right >= 0 && a->queries > 1);
    enum bitcut_status status = attention_vary(&p->row, a->vary, f);
    if (status == BITCUT_OK) status = check_row(&p->row, f);
    if (status == BITCUT_OK) status = choose_tiles(p, f);
    if (status == BITCUT_OK) status = check_tiles(p, f);
    if (status == BITCUT_OK) status = plan_products(p, f);
    if (status != BITCUT_OK) return status;
    p->guarded = guarded_tiles(p);
    set_scales(p);
    return BITCUT_OK;
}

void attention_plan_write(char line[BITCUT_ATTENTION_MAX], const struct attention_plan *p)
{
    struct bitcut_attention_row row = p->row;
    const char *name, *what;
    char text[ATTENTION_TEXT_MAX];
    row.block_m = (int)p->block_m;
    row.block_n = (int)p->block_n;
    *line = 0;
    for (size_t i = 0; attention_field(&name, &what, text, &row, i); i++)
        text_add(line, BITCUT_ATTENTION_MAX, "%s%s=%s", i ? "," : "", name, text);
}
