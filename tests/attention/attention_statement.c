/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/attention/attention_statement.h"

#include "lib/gemm/view.h"
#include "lib/number/bits.h"
#include "tests/emu/spec.h"

#include <assert.h>
#include <math.h>
#include <mpfr.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 256, LANES = 32, SLOTS = 1024 };

struct statement_seen *statement_seen;

static const struct attention_plan *plan;
static const struct bitcut_attention_row *row;

/* --- FP32 -----------------------------------------------------------------------------
 */

static float ftz(float x)
{
    return row->flush && fpclassify(x) == FP_SUBNORMAL ? copysignf(0, x) : x;
}

static float times(float x, float y) { return ftz(ftz(x) * ftz(y)); }
static float plus(float x, float y) { return ftz(ftz(x) + ftz(y)); }
static float fma1(float x, float y, float z) { return ftz(fmaf(ftz(x), ftz(y), ftz(z))); }

static float then(float x, float y, float z)
{
    return row->fused ? fma1(x, y, z) : plus(times(x, y), z);
}

static float f32(uint32_t x) { return float_of_bits(x); }

/* A function of MUFU. */
static float gpu(const char *name, float x)
{
    uint32_t y, u = bits_of_float(x);
    assert(bitcut_function_apply(&y, bitcut_function_find(name), &u, 1) == BITCUT_OK);
    return f32(y);
}

static float by_mpfr(int (*function)(mpfr_t, const mpfr_t, mpfr_rnd_t), float x)
{
    const mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
    mpfr_t y, z;
    mpfr_inits2(24, y, z, (mpfr_ptr)0);
    mpfr_set_flt(z, x, MPFR_RNDN);
    mpfr_set_emin(-148), mpfr_set_emax(128);
    const int ternary = mpfr_check_range(y, function(y, z, MPFR_RNDN), MPFR_RNDN);
    mpfr_subnormalize(y, ternary, MPFR_RNDN);
    const float result = mpfr_get_flt(y, MPFR_RNDN);
    mpfr_set_emin(emin), mpfr_set_emax(emax);
    mpfr_clears(y, z, (mpfr_ptr)0);
    return result;
}

static float polynomial(float x)
{
    if (!(x > -127)) x = -127;
    const float n = floorf(x), f = x - n;
    const float y =
        fmaf(fmaf(fmaf(f32(0x3d9df09d), f, f32(0x3e6906a4)), f, f32(0x3f31f519)), f, 1);
    return f32(bits_of_float(y) + (uint32_t)(int32_t)n * (1u << 23));
}

/* expf and logf of CUDA without fast math. */
static float cuda_exp(float x)
{
    float t = fmaf(x, f32(0x3bbb989d), 0.5f);
    t = t > 0 ? t < 1 ? t : 1 : 0;
    const int whole = (int)floor((double)t * 252 + 1); /* 0x1.8p23 + 1 + this is exact */
    const float y = fmaf(x, f32(0x3fb8aa3b), -(float)(whole - 127));
    return gpu("ex2.approx.ftz.f32", fmaf(x, f32(0x32a57060), y)) *
           f32((uint32_t)whole << 23);
}

static float cuda_log(float x)
{
    static const uint32_t c[] = { 0xbe055027, 0x3e1039f6, 0xbdf8cdcc,
                                  0x3e0f2955, 0xbe2ad8b9, 0x3e4ced0b,
                                  0xbe7fff22, 0x3eaaaa78, 0xbf000000 };
    int e;
    float m = frexpf(x, &e) * 2, p = f32(c[0]); /* 1 <= m < 2 */
    e--;
    if (m >= f32(0x3faaaaab)) m /= 2, e++; /* below 4/3 */
    m -= 1;
    for (int i = 1; i < 9; i++) p = fmaf(p, m, f32(c[i]));
    return fmaf((float)e, f32(0x3f317218), fmaf(m * p, m, m));
}

static float exponential(float x)
{
    switch (row->exp - attention_exps) {
    case EXP2_MUFU_FTZ: return gpu("ex2.approx.ftz.f32", x);
    case EXP2_MUFU: return gpu("ex2.approx.f32", x);
    case EXP2_POLYNOMIAL: return polynomial(x);
    case EXP2_EXACT: return by_mpfr(mpfr_exp2, x);
    case EXP_CUDA: return cuda_exp(x);
    default: return by_mpfr(mpfr_exp, x);
    }
}

/* --- products -------------------------------------------------------------------------
 */

static uint64_t as(const struct bitcut_format *to, float x)
{
    if (format_is_integer(to)) return (uint64_t)(int64_t)x & 0xff;
    return bitcut_format_convert(to, bitcut_rounding_find("rn"), &formats[FORMAT_F32],
                                 bits_of_float(x));
}

/* c plus the products of `count` values, k ascending, in whole instructions. */
static float chain(const struct bitcut_unit *u, const float *a, const float *b,
                   size_t count, float c)
{
    const bool integer = format_is_integer(u->c);
    uint64_t x[SPEC_K_MAX], y[SPEC_K_MAX], sum = integer ? 0 : as(u->c, c);
    int64_t total = 0;
    for (size_t k = 0; k < count; k += (size_t)u->k) {
        for (size_t p = 0; p < (size_t)u->k; p++) {
            x[p] = as(u->a, k + p < count ? a[k + p] : 0);
            y[p] = as(u->b, k + p < count ? b[k + p] : 0);
            if (integer && k + p < count) total += (int64_t)a[k + p] * (int64_t)b[k + p];
        }
        if (!integer) sum = spec_dot(u, x, y, NULL, NULL, sum);
    }
    return integer ? (float)total
                   : f32((uint32_t)bitcut_format_convert(
                         &formats[FORMAT_F32], bitcut_rounding_find("rn"), u->c, sum));
}

/* --- operands -------------------------------------------------------------------------
 */

struct head {
    float *q, *k, *v; /* [query][head_dim], [key][head_dim], [key][value_dim] */
    float *q_factor, *k_factor, *v_factor;
};

static float *values_of(const struct bitcut_matrix *x, size_t i, size_t rows, size_t cols)
{
    const struct view v = view_of(x, i, rows, cols, false);
    float *const to = malloc((rows * cols + 1) * sizeof *to);
    for (size_t at = 0; at < rows * cols; at++)
        to[at] = f32(view_get(&v, at / cols, at % cols));
    return to;
}

static float through(const struct bitcut_format *format, float x)
{
    return (float)format_to_double(format, as(format, x));
}

static void quantize(float *x, float *factor, size_t rows, size_t dim, size_t block)
{
    for (size_t i = 0; i < rows; i++) {
        const size_t from = i / block * block,
                     to = from + block < rows ? from + block : rows;
        float most = 0;
        if (i > from) {
            factor[i] = factor[from];
            continue;
        }
        for (size_t at = from * dim; at < to * dim; at++)
            most = fmaxf(most, fabsf(x[at]));
        factor[i] = most / 127;
        for (size_t at = from * dim; at < to * dim; at++) {
            const float y = x[at] / factor[i];
            x[at] = most > 0 && !isnan(y) ? (float)(int)(y + (y >= 0 ? 0.5f : -0.5f)) : 0;
        }
    }
}

static void head_open(struct head *h, size_t head)
{
    const struct bitcut_attention *const a = &plan->a;
    const size_t kv = head / (a->heads / a->kv_heads), dim = a->head_dim,
                 vd = a->value_dim;
    const float root = (float)sqrt((double)plan->t);
    h->q = values_of(&a->q, head, a->queries, dim);
    h->k = values_of(&a->k, kv, a->keys, dim);
    h->v = values_of(&a->v, kv, a->keys, vd);
    h->q_factor = calloc(a->queries + 1, sizeof(float));
    h->k_factor = calloc(a->keys + 1, sizeof(float));
    h->v_factor = calloc(vd + 1, sizeof(float));
    for (size_t p = 0; p < dim && row->smooth_k; p++) {
        float sum = 0;
        for (size_t j = 0; j < a->keys; j++) sum += h->k[j * dim + p];
        const float mean = through(matrix_format(&a->k), sum / (float)a->keys);
        for (size_t j = 0; j < a->keys; j++)
            h->k[j * dim + p] = through(matrix_format(&a->k), h->k[j * dim + p] - mean);
    }
    for (size_t i = 0; i < a->queries * dim; i++)
        h->q[i] *= row->scaling == SCALED_QUERIES    ? plan->t
                   : row->scaling == SCALED_OPERANDS ? root
                                                     : 1;
    for (size_t i = 0; i < a->keys * dim; i++)
        h->k[i] *= row->scaling == SCALED_OPERANDS ? root : 1;
    if (row->q_block) quantize(h->q, h->q_factor, a->queries, dim, (size_t)row->q_block);
    if (row->q_block) quantize(h->k, h->k_factor, a->keys, dim, (size_t)row->k_block);
    for (size_t p = 0; p < vd && row->v_channels; p++) {
        float most = 0;
        for (size_t j = 0; j < a->keys; j++) most = fmaxf(most, fabsf(h->v[j * vd + p]));
        h->v_factor[p] = most / (float)format_largest_value(plan->pv.unit->b);
        for (size_t j = 0; j < a->keys && most > 0; j++)
            h->v[j * vd + p] /= h->v_factor[p];
    }
}

static void head_close(struct head *h)
{
    free(h->q), free(h->k), free(h->v);
    free(h->q_factor), free(h->k_factor), free(h->v_factor);
}

/* --- a query --------------------------------------------------------------------------
 */

static bool sees(size_t query, size_t key)
{
    const struct bitcut_attention *const a = &plan->a;
    const long at = (long)query + (long)a->keys - (long)a->queries +
                    (long)plan->slips.diagonal,
               j = (long)key;
    if (plan->slips.whole_tiles) return key < a->keys;
    return key < a->keys && (a->window_left < 0 || j >= at - a->window_left) &&
           (a->window_right < 0 || j <= at + a->window_right);
}

static float reduced(const float *x)
{
    float now[LANES], next[LANES];
    memcpy(now, x, sizeof now);
    for (int done = 1; done < row->lanes; done *= 2) {
        const int distance =
            row->reduction == BITCUT_TREE ? done : row->lanes / (2 * done);
        for (int i = 0; i < row->lanes; i++) next[i] = plus(now[i], now[i ^ distance]);
        memcpy(now, next, sizeof now);
    }
    return now[0];
}

/* What a score is multiplied by, in the exponent or before. */
static float t_of(const struct head *h, size_t query, size_t key)
{
    const float both = row->q_block ? h->q_factor[query] * h->k_factor[key] : 1;
    return row->scaling == SCALED_FUSED ? plan->t * both : both;
}

static void see_product(struct statement_seen *t, size_t column, float c, float d,
                        size_t split, size_t step)
{
    if (t && column == t->column)
        t->product[t->products++] = (struct seen_product){ c, d, split, step };
}

/* One split of a query: O before the division in `o`, the sum and the maximum.  True: the
   split has tiles. */
static bool run_split(float *o, float *sum, float *max, const struct head *h,
                      size_t query, size_t split, struct statement_seen *t)
{
    const struct bitcut_attention *const a = &plan->a;
    const size_t n = plan->block_n, first_query = query / plan->block_m * plan->block_m;
    const float offset = f32(row->offset), threshold = f32(row->threshold);
    const bool quantized = row->q_block && row->scaling == SCALED_FUSED;
    const bool scaled = quantized || row->scaling >= SCALED_SCORES;
    float lane[LANES] = { 0 }, s[LINE], p[LINE], column[LINE];
    bool any = false;
    size_t taken = 0; /* tiles */
    *max = -INFINITY, *sum = 0;
    memset(o, 0, a->value_dim * sizeof *o);
    for (size_t step = 0; step < plan->split_tiles; step++) {
        const size_t tile = split * plan->split_tiles +
                            (row->descending ? plan->split_tiles - 1 - step : step);
        bool seen = !plan->masked; /* by any query of the kernel's block, as it counts */
        for (size_t i = 0; i < plan->block_m && plan->masked; i++) {
            const long at = (long)(first_query + i) + (long)a->keys - (long)a->queries +
                            (long)plan->slips.diagonal;
            const long low = (long)(tile * n), high = low + (long)n - 1;
            seen |= (a->window_right < 0 || low <= at + a->window_right) &&
                    (a->window_left < 0 || high >= at - a->window_left);
        }
        if (tile >= plan->tiles || !seen) continue;
        float before = *max, now = *max, scale = 1;
        for (size_t j = 0; j < n; j++) {
            const size_t key = tile * n + j;
            s[j] = key < a->keys ? chain(plan->qk.unit, h->q + query * a->head_dim,
                                         h->k + key * a->head_dim, a->head_dim, 0)
                                 : 0;
            float y = s[j];
            if (t && sees(query, key)) t->key[key].s = y;
            if (quantized && sees(query, key)) y = fma1(y, t_of(h, query, key), -offset);
            else if (row->scaling == SCALED_SCORES && !row->q_block)
                y = times(y, plan->t);
            else if (row->q_block && sees(query, key))
                y = times(times(y, h->q_factor[query]), h->k_factor[key]);
            if (!quantized) s[j] = y;
            if (sees(query, key)) now = y > now || isnan(now) ? y : now;
        }
        if (any) {
            const float zero = now == -INFINITY && taken < plan->guarded ? 0 : now;
            float x = plus(before, -zero);
            if (!scaled) x = times(x, plan->t);
            if (threshold > 0 && x >= -threshold) now = before;
            else scale = exponential(x);
        }
        *max = now;
        float shift = now == -INFINITY ? (quantized ? 0 : 0 - offset)
                      : quantized      ? now
                      : scaled         ? (offset != 0 ? plus(now, -offset) : now)
                      : offset != 0    ? then(now, plan->t, -offset)
                                       : times(now, plan->t);
        for (size_t j = 0; j < n; j++) {
            const size_t key = tile * n + j;
            p[j] = 0;
            if (!sees(query, key)) continue;
            const float x =
                row->scaling == SCALED_FUSED   ? fma1(s[j], t_of(h, query, key), -shift)
                : row->scaling == SCALED_APART ? plus(times(s[j], plan->t), -shift)
                                               : plus(s[j], -shift);
            p[j] = exponential(x);
            if (!t) continue;
            struct seen_key *const to = &t->key[key];
            to->seen = true, to->x = x, to->p = p[j];
            to->split = split, to->step = taken;
        }
        if (t) {
            t->split[split].scale[taken] = any ? scale : 1;
            t->split[split].shift[taken] = shift;
            t->split[split].steps = taken + 1;
        }
        float own[LANES] = { 0 };
        const float of_sum = plan->slips.keeps_sum ? 1 : scale;
        const bool rescales = !plan->slips.keeps_o;
        for (size_t j = 0; j < n; j++) {
            const size_t l = j / (size_t)row->chunk % (size_t)row->lanes;
            const bool begins =
                j < (size_t)(row->lanes * row->chunk) && j % (size_t)row->chunk == 0;
            own[l] = begins ? ftz(p[j]) : plus(own[l], p[j]);
            if (row->apart) continue;
            if (!begins) lane[l] = plus(lane[l], p[j]);
            else lane[l] = any ? then(lane[l], of_sum, p[j]) : ftz(p[j]);
        }
        for (int l = 0; l < row->lanes && row->apart; l++)
            lane[l] = any ? then(lane[l], of_sum, own[l]) : own[l];
        if (row->each_tile) *sum = any ? then(*sum, of_sum, reduced(own)) : reduced(own);
        else *sum = reduced(lane);
        for (size_t j = 0; j < n && row->p_divided; j++)
            p[j] = *sum == 0 || isnan(*sum) ? p[j] : p[j] / *sum;
        for (size_t j = 0; j < n && t; j++)
            if (sees(query, tile * n + j)) t->key[tile * n + j].given = p[j];
        for (size_t c = 0; c < a->value_dim; c++) {
            const size_t group = row->from_zero > 0 ? (size_t)row->from_zero : n;
            for (size_t j = 0; j < n; j++)
                column[j] =
                    tile * n + j < a->keys ? h->v[(tile * n + j) * a->value_dim + c] : 0;
            if (!row->from_zero) {
                if (any && rescales && (scale != 1 || row->flush))
                    o[c] = times(o[c], scale);
                const float start = o[c];
                o[c] = chain(plan->pv.unit, p, column, n, o[c]);
                see_product(t, c, start, o[c], split, taken);
                continue;
            }
            for (size_t g = 0; g < n; g += group) {
                const float y = chain(plan->pv.unit, p + g, column + g, group, 0);
                see_product(t, c, 0, y, split, taken);
                o[c] = any && !g && rescales ? then(o[c], scale, y) : plus(o[c], y);
            }
        }
        any = true;
        taken++;
    }
    return any;
}

static float lse_of(float sum, float max)
{
    const bool scaled =
        row->scaling >= SCALED_SCORES || (row->q_block && row->scaling == SCALED_FUSED);
    const float ln2 = f32(0x3f317218);
    const float unit = !scaled ? plan->scale : row->exp->natural ? 1 : ln2;
    const bool fast = row->merge == &attention_merges[MERGE_FAST];
    if (isnan(sum) && row->lse_nan) return sum;
    if (sum == 0 || isnan(sum)) return row->splits > 1 ? -INFINITY : INFINITY;
    if (row->offset) sum = times(sum, by_mpfr(mpfr_exp2, -f32(row->offset)));
    const float log = gpu(fast ? "lg2.approx.ftz.f32" : "lg2.approx.f32", sum);
    return fma1(max, unit, times(log, ln2));
}

static void divide(float *o, float sum)
{
    for (size_t c = 0; c < plan->a.value_dim && !row->p_divided; c++) {
        if (sum == 0 || isnan(sum)) o[c] = times(o[c], 1);
        else if (row->reciprocal == &attention_reciprocals[RECIPROCAL_DIVIDE])
            o[c] = ftz(o[c] / sum);
        else if (row->reciprocal == &attention_reciprocals[RECIPROCAL_MUFU])
            o[c] = times(o[c], gpu("rcp.approx.ftz.f32", sum));
        else o[c] = times(o[c], 1 / sum);
    }
}

static float weight(float x)
{
    return row->merge == &attention_merges[MERGE_FAST]
               ? gpu("ex2.approx.ftz.f32", x * f32(0x3fb8aa3b))
               : cuda_exp(x);
}

/* Merge the splits: FlashAttention 2, combine_attn_seqk_parallel(). */
static float merge(float *o, const float *part, const float *lse, size_t count)
{
    const size_t dim = plan->a.value_dim, hd = plan->a.head_dim;
    size_t slots = 2, threads = hd % 128 == 0 ? 32 : hd % 64 == 0 ? 16 : 8;
    while (slots < count) slots *= 2;
    if (threads > slots) threads = slots;
    float max = -INFINITY, x[SLOTS], sum[SLOTS] = { 0 }, next[SLOTS];
    for (size_t i = 0; i < slots; i++) {
        x[i] = i < count ? lse[i] : -INFINITY;
        max = x[i] > max ? x[i] : max;
    }
    if (max == -INFINITY) max = 0;
    for (size_t i = 0; i < slots; i++) {
        if (i < threads) sum[i] = weight(x[i] - max);
        else sum[i % threads] += weight(x[i] - max);
    }
    for (size_t d = threads / 2; d; d /= 2) {
        for (size_t i = 0; i < threads; i++) next[i] = sum[i] + sum[i ^ d];
        memcpy(sum, next, sizeof sum);
    }
    const float log = row->merge == &attention_merges[MERGE_FAST]
                          ? gpu("lg2.approx.ftz.f32", sum[0]) * f32(0x3f317218)
                          : cuda_log(sum[0]);
    const float all = sum[0] == 0 || isnan(sum[0]) ? INFINITY : log + max;
    for (size_t c = 0; c < dim; c++) {
        o[c] = 0;
        for (size_t i = 0; i < count; i++)
            o[c] = fmaf(weight(x[i] - all), part[i * dim + c], o[c]);
    }
    return all;
}

static float rounded(const struct bitcut_format *format, float x)
{
    return format_is_integer(format) ? x : through(format, x);
}

static void see_operands(struct statement_seen *t, const struct head *h)
{
    const struct bitcut_attention *const a = &plan->a;
    for (size_t p = 0; p < a->head_dim; p++)
        t->q[p] = rounded(plan->qk.unit->a, h->q[t->query * a->head_dim + p]);
    for (size_t j = 0; j < a->keys; j++) {
        for (size_t p = 0; p < a->head_dim; p++)
            t->k[j][p] = rounded(plan->qk.unit->b, h->k[j * a->head_dim + p]);
        t->v[j] = rounded(plan->pv.unit->b, h->v[j * a->value_dim + t->column]);
        t->k_factor[j] = row->q_block ? h->k_factor[j] : 1;
    }
    t->q_factor = row->q_block ? h->q_factor[t->query] : 1;
    t->v_factor = row->v_channels ? h->v_factor[t->column] : 1;
}

void attention_statement(float *o, float *lse, const struct attention_plan *of)
{
    const struct bitcut_attention *const a = &of->a;
    const size_t dim = a->value_dim, count = (size_t)of->row.splits;
    float *const part = malloc((count * dim + 1) * sizeof *part), each[SLOTS];
    plan = of, row = &of->row;
    for (size_t head = 0; head < a->heads; head++) {
        struct head h;
        head_open(&h, head);
        for (size_t i = 0; i < a->queries; i++, o += dim, lse++) {
            for (size_t s = 0; s < count; s++) {
                float sum, max;
                struct statement_seen *const t = statement_seen &&
                                                         statement_seen->head == head &&
                                                         statement_seen->query == i
                                                     ? statement_seen
                                                     : NULL;
                run_split(part + s * dim, &sum, &max, &h, i, s, t);
                const float undivided = t ? part[s * dim + t->column] : 0;
                divide(part + s * dim, sum);
                if (t) {
                    t->split[s].sum = sum, t->split[s].undivided = undivided;
                    t->split[s].o = part[s * dim + t->column];
                    see_operands(t, &h);
                }
                each[s] = lse_of(sum, max);
            }
            *lse = count > 1 ? merge(o, part, each, count) : each[0];
            if (count == 1) memcpy(o, part, dim * sizeof *o);
            if (statement_seen && statement_seen->head == head &&
                statement_seen->query == i)
                statement_seen->merged = o[statement_seen->column];
            for (size_t c = 0; c < dim && row->v_channels; c++) o[c] *= h.v_factor[c];
            for (size_t c = 0; c < dim && of->slips.factor; c++)
                o[c] *= f32(of->slips.factor);
        }
        head_close(&h);
    }
    free(part);
}
