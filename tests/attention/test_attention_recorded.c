/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of PyTorch's attention, compared with what it computed on an NVIDIA H200, bit
   for bit, and found as what computed it: data/attention.  BITCUT_DATA names the data
   folder.  Every fifth case is compared, from one that the seed chooses on; with
   BITCUT_LONG=1 all are. */
#include "emu/attention/attention_run.h"
#include "lib/base/size.h"
#include "lib/base/text.h"
#include "lib/io/npy.h"
#include "lib/number/bits.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- cases ------------------------------------------------------------------------ */

/* A line of h200.tsv, as data/attention/record_sdpa.py describes it. */
struct recorded {
    char backend[12], type[8], mask[8], data[12];
    size_t batch, heads, kv_heads, queries, keys, head_dim;
    float scale;
};

static bool read_case(struct recorded *c, FILE *file)
{
    char line[2048];
    if (!fgets(line, sizeof line, file)) return false;
    ck_assert_msg(sscanf(line, "%11s %7s %zu %zu %zu %zu %zu %zu %7s %11s %f", c->backend,
                         c->type, &c->batch, &c->heads, &c->kv_heads, &c->queries,
                         &c->keys, &c->head_dim, c->mask, c->data, &c->scale) == 11,
                  "%s", line);
    return true;
}

static bool is_long(void)
{
    const char *const text = getenv("BITCUT_LONG");
    return text && *text == '1';
}

static bool is(const char *text, const char *name) { return !strcmp(text, name); }

/* --- inputs, as operands() of record_sdpa.py makes them --------------------------- */

static const struct bitcut_format *format_of(const struct recorded *c)
{
    return bitcut_format_find(c->type);
}

static uint32_t mixed(uint32_t x)
{
    x = (x ^ x >> 16) * 0x7feb352d;
    x = (x ^ x >> 15) * 0x846ca68b;
    return x ^ x >> 16;
}

/* The binades by which elements of a row of Q, K and V (1, 2, 3) are larger. */
static uint32_t binades_of(const struct recorded *c, int which, size_t row)
{
    const uint32_t drift = (uint32_t)(5 * row / c->keys);
    if (which == 3) return is(c->data, "tiny") ? row % 2 * 124 : 0;
    if (which == 2)
        return is(c->data, "up") ? drift : is(c->data, "down") ? 5 - drift : 0;
    return is(c->data, "plain")                          ? 0
           : is(c->data, "wide4")                        ? 4
           : is(c->data, "wide6") || is(c->data, "tiny") ? 6
                                                         : 2;
}

/* The special encoding of element `j` of a row of Q, K and V; 0: none. */
static uint32_t special_of(const struct recorded *c, int which, size_t row, size_t j)
{
    const uint32_t infinity = (uint32_t)format_infinity(format_of(c), false);
    if (is(c->data, "special") && which == 1)
        return row == 3 && j == 1 ? infinity : row == 7 && j == 2 ? infinity | 1 : 0;
    if (is(c->data, "special") && which == 3)
        return row == c->keys - 1 && j == 4 ? infinity
               : row == 5 && j == 2         ? infinity | 0x8000
               : row == 6 && j == 3         ? infinity | 1
                                            : 0;
    if (is(c->data, "infinite") && which == 2) return row == 11 && j == 0 ? infinity : 0;
    if (is(c->data, "walls") && which == 2)
        return row >= c->keys / 2 && j == 0 ? infinity | 0x8000 : 0;
    return 0;
}

/* Matrix `head` of all heads of Q, K and V (1, 2, 3). */
static uint16_t *operand_of(const struct recorded *c, int which, size_t head)
{
    const bool f16 = is(c->type, "f16");
    const size_t rows = which == 1 ? c->queries : c->keys, d = c->head_dim;
    const uint32_t bits = f16 ? 10 : 7, exponent = f16 ? 12 : 124;
    uint16_t *const to = malloc(rows * d * sizeof *to);
    ck_assert_ptr_nonnull(to);
    for (size_t i = 0; i < rows * d; i++) {
        const uint32_t index = (uint32_t)(head * rows * d + i);
        const uint32_t x = mixed(index + 0x9e3779b9 * (uint32_t)which);
        const uint32_t e = exponent + (x >> 24) % 4 + binades_of(c, which, i / d);
        const uint32_t special = special_of(c, which, i / d, i % d);
        const uint32_t plain = x >> 31 << 15 | e << bits | (x & ((1u << bits) - 1));
        to[i] = (uint16_t)(special ? special : plain);
    }
    return to;
}

/* --- comparison ------------------------------------------------------------------- */

/* sampled_rows() of record_sdpa.py. */
static bool is_sampled(size_t row, size_t rows)
{
    const size_t edges[] = { 0, 64, 128, rows };
    bool sampled = row % 61 == 0;
    for (int i = 0; i < 4; i++)
        sampled |= row + 1 == edges[i] || row == edges[i] || row == edges[i] + 9;
    return sampled;
}

/* The first and last head of the first and last batch. */
enum { HEADS_MAX = 4 };

static size_t sampled_heads(size_t to[HEADS_MAX], const struct recorded *c)
{
    const size_t last_batch = (c->batch - 1) * c->heads, last = c->heads - 1;
    const size_t all[HEADS_MAX] = { 0, last, last_batch, last_batch + last };
    size_t count = 0;
    for (int i = 0; i < HEADS_MAX; i++)
        if ((c->batch > 1 || i < 2) && (c->heads > 1 || i % 2 == 0)) to[count++] = all[i];
    return count;
}

static void set_attention(struct bitcut_attention *a, const struct recorded *c)
{
    bitcut_attention_init(a, sizeof *a);
    a->row =
        bitcut_attention_find(is(c->backend, "cudnn") ? "cudnn-sm90" : "pytorch-flash");
    a->heads = c->batch * c->heads, a->kv_heads = c->batch * c->kv_heads;
    a->queries = c->queries, a->keys = c->keys, a->head_dim = c->head_dim;
    if (is(c->mask, "causal")) a->window_right = 0;
    a->scale = bits_of_float(c->scale);
    a->q.format = a->k.format = a->v.format = a->o.format = format_of(c);
}

/* The number of splits that the row chooses for all heads. */
static int splits_of(const struct recorded *c)
{
    struct bitcut_attention a, taken;
    struct attention_plan plan;
    struct fault f;
    set_attention(&a, c);
    ck_assert_msg(attention_take(&taken, &a, &f) == BITCUT_OK &&
                      attention_plan_make(&plan, &taken, &f) == BITCUT_OK,
                  "%s", f.text);
    return plan.row.splits;
}

struct result {
    size_t heads;
    uint16_t *o[HEADS_MAX];
    uint32_t *lse;
};

/* Compute the sampled heads, each with its own K and V. */
static void attend(struct result *to, const struct recorded *c)
{
    const void *q[HEADS_MAX], *k[HEADS_MAX], *v[HEADS_MAX];
    size_t heads[HEADS_MAX];
    struct bitcut_attention a;
    char vary[32], why[BITCUT_TEXT_MAX];
    set_attention(&a, c);
    snprintf(vary, sizeof vary, "splits=%d", splits_of(c));
    a.vary = vary;
    a.heads = a.kv_heads = to->heads = sampled_heads(heads, c);
    to->lse = malloc(a.heads * c->queries * sizeof *to->lse);
    for (size_t i = 0; i < a.heads; i++) {
        const size_t kv = heads[i] / (c->heads / c->kv_heads);
        q[i] = operand_of(c, 1, heads[i]);
        k[i] = operand_of(c, 2, kv), v[i] = operand_of(c, 3, kv);
        to->o[i] = malloc(c->queries * c->head_dim * sizeof **to->o);
    }
    a.q.each = q, a.k.each = k, a.v.each = v, a.o.each_to = (void **)to->o;
    a.lse = to->lse;
    ck_assert_msg(bitcut_attention(&a, 2, why) == BITCUT_OK, "%s", why);
    for (size_t i = 0; i < a.heads; i++)
        free((void *)q[i]), free((void *)k[i]), free((void *)v[i]);
}

/* Recorded results and how many of them were read. */
struct recording {
    struct array o, lse;
    size_t o_read, lse_read, compared, differ;
};

static void skip(struct recording *r, const struct recorded *c)
{
    size_t heads[HEADS_MAX];
    const size_t count = sampled_heads(heads, c);
    for (size_t i = 0; i < c->queries; i++) {
        if (!is_sampled(i, c->queries)) continue;
        r->o_read += count * c->head_dim, r->lse_read += count;
    }
}

static void compare(struct recording *r, const struct result *x, const struct recorded *c)
{
    const size_t before = r->differ;
    for (size_t h = 0; h < x->heads; h++)
        for (size_t i = 0; i < c->queries; i++) {
            if (!is_sampled(i, c->queries)) continue;
            r->compared += c->head_dim;
            for (size_t j = 0; j < c->head_dim; j++)
                r->differ +=
                    array_get(&r->o, r->o_read++) != x->o[h][i * c->head_dim + j];
            r->differ += array_get(&r->lse, r->lse_read++) != x->lse[h * c->queries + i];
        }
    if (r->differ > before)
        printf("# %s %s %zu %zu %zu %zu %zu %zu %s %s %g: %zu differ\n", c->backend,
               c->type, c->batch, c->heads, c->kv_heads, c->queries, c->keys, c->head_dim,
               c->mask, c->data, (double)c->scale, r->differ - before);
}

static void read_array(struct array *to, const char *name)
{
    char path[4096];
    struct fault f;
    snprintf(path, sizeof path, "%s/attention/%s", getenv("BITCUT_DATA"), name);
    ck_assert_msg(npy_read(to, path, &f) == BITCUT_OK, "%s", f.text);
}

/* --- explaining --------------------------------------------------------------------- */

/* What computed the recorded queries of a case without a mask, whose queries do not
   depend on each other.  The number of splits is told, because it depends on all heads.
 */
static void explain_recorded(size_t *named, const struct recorded *c,
                             const struct recording *r)
{
    struct bitcut_attention_explanation e = { .size = sizeof e };
    const struct bitcut_explain_options o = { .size = sizeof o, .effort = 0.5 };
    const void *q[HEADS_MAX], *k[HEADS_MAX], *v[HEADS_MAX], *out[HEADS_MAX];
    size_t heads[HEADS_MAX], at = r->o_read;
    struct bitcut_attention a;
    char vary[32], why[BITCUT_TEXT_MAX], expected[64] = "row=";
    const size_t dim = c->head_dim;
    set_attention(&a, c);
    text_add(expected, sizeof expected, "%s", a.row->name);
    snprintf(vary, sizeof vary, "splits=%d", splits_of(c));
    a.row = NULL, a.vary = vary;
    a.heads = a.kv_heads = sampled_heads(heads, c);
    for (size_t h = 0; h < a.heads; h++) {
        const size_t kv = heads[h] / (c->heads / c->kv_heads);
        uint16_t *const all = operand_of(c, 1, heads[h]), *const x =
                                                              malloc(c->queries * dim *
                                                                     sizeof *x);
        a.queries = 0;
        for (size_t i = 0; i < c->queries; i++) {
            if (!is_sampled(i, c->queries)) continue;
            memmove(all + a.queries * dim, all + i * dim, dim * sizeof *all);
            for (size_t j = 0; j < dim; j++)
                x[a.queries * dim + j] = (uint16_t)array_get(&r->o, at++);
            a.queries++;
        }
        q[h] = all, k[h] = operand_of(c, 2, kv), v[h] = operand_of(c, 3, kv), out[h] = x;
    }
    a.q.each = q, a.k.each = k, a.v.each = v, a.o.each = out;
    ck_assert_msg(bitcut_attention_explain(&e, &a, &o, 2, why) == BITCUT_OK, "%s", why);
    const bool good =
        e.found && !e.fault && (!strcmp(e.row, expected + 4) || strstr(e.same, expected));
    if (!good)
        printf("# %s %s %zu %zu %zu %zu %zu %s: %s; same: %s\n", c->backend, c->type,
               c->batch, c->heads, c->queries, c->keys, dim, c->data, e.text, e.same);
    *named += good;
    for (size_t h = 0; h < a.heads; h++)
        free((void *)q[h]), free((void *)k[h]), free((void *)v[h]), free((void *)out[h]);
}

START_TEST(explained)
{
    char path[4096];
    struct recording r = { 0 };
    struct recorded c;
    size_t all = 0, named = 0;
    snprintf(path, sizeof path, "%s/attention/h200.tsv", getenv("BITCUT_DATA"));
    FILE *const file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    read_array(&r.o, "h200_o.npy");
    for (uint64_t i = test_seed(); read_case(&c, file); i++) {
        const bool plain = is(c.data, "plain") || is(c.data, "wide2");
        if (is(c.mask, "none") && plain &&
            (i % (uint64_t)(20 * test_step(3)) == 0 || is_long())) {
            all++;
            explain_recorded(&named, &c, &r);
        }
        skip(&r, &c);
    }
    printf("# %zu of %zu recorded O are explained by their row\n", named, all);
    fflush(stdout);
    ck_assert_uint_eq(named, all);
    array_clear(&r.o);
    fclose(file);
}
END_TEST

START_TEST(h200)
{
    char path[4096];
    struct recording r = { 0 };
    struct recorded c;
    ck_assert(getenv("BITCUT_DATA"));
    snprintf(path, sizeof path, "%s/attention/h200.tsv", getenv("BITCUT_DATA"));
    FILE *const file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    read_array(&r.o, "h200_o.npy");
    read_array(&r.lse, "h200_lse.npy");
    for (uint64_t i = test_seed(); read_case(&c, file); i++) {
        struct result x;
        if (i % (uint64_t)(5 * test_step(4)) && !is_long()) {
            skip(&r, &c);
            continue;
        }
        attend(&x, &c);
        compare(&r, &x, &c);
        for (size_t h = 0; h < x.heads; h++) free(x.o[h]);
        free(x.lse);
    }
    printf("# %zu of %zu outputs, %zu differ\n", r.compared, r.o_read, r.differ);
    fflush(stdout); /* a failed check ends the process */
    ck_assert_uint_eq(r.o_read, r.o.count);
    ck_assert_uint_eq(r.lse_read, r.lse.count);
    ck_assert_uint_eq(r.differ, 0);
    array_clear(&r.o);
    array_clear(&r.lse);
    fclose(file);
}
END_TEST

int main(void)
{
    const TTest *const list[] = { h200, explained, NULL };
    return test_run("attention as recorded", list);
}
