/* SPDX-License-Identifier: BSD-3-Clause */
/* What computed an O: rows with and without changed fields are named, or others that give
   the same bits; planted faults are named; correct results of kernels that are no rows
   are not accused.  Faults are planted by other arguments of the emulator, and in a
   softmax in binary64.  The rates are printed. */
#include "analysis/identify/attention_search.h"
#include "emu/attention/attention_run.h"
#include "lib/base/size.h"
#include "lib/number/bits.h"
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { QUERIES_MAX = 64, KEYS_MAX = 300, DIM_MAX = 128, HEADS_MAX = 2 };
enum { ELEMENTS_MAX = HEADS_MAX * KEYS_MAX * DIM_MAX };

/* An attention with its matrices. */
struct planted_case {
    struct bitcut_attention a;
    uint16_t q[ELEMENTS_MAX], k[ELEMENTS_MAX], v[ELEMENTS_MAX], o[ELEMENTS_MAX];
    char vary[64];
};

static const struct bitcut_format *format_for(const struct bitcut_attention_row *row,
                                              uint64_t *rng)
{
    if (row->operand == &formats[FORMAT_E4M3]) return row->operand;
    return &formats[test_between(rng, 0, 1) ? FORMAT_F16 : FORMAT_BF16];
}

static void fill(uint16_t *to, struct bitcut_matrix *m, size_t rows, size_t cols,
                 const struct bitcut_format *format, uint64_t *rng)
{
    *m = (struct bitcut_matrix){ .at = to, .format = format, .stride = rows * cols };
    for (size_t i = 0; i < HEADS_MAX * rows * cols; i++) {
        double x = 0;
        for (int j = 0; j < 4; j++) x += test_between(rng, -1000, 1000) / 1200.0;
        encoding_put(to, format_bytes(format), i,
                     bitcut_format_convert(format, &roundings[ROUND_RN],
                                           &formats[FORMAT_F64], bits_of_double(x)));
    }
}

/* Draw sizes that have several tiles, and the mask that a fault needs. */
static void case_draw(struct planted_case *c, const struct bitcut_attention_row *row,
                      bool causal, uint64_t *rng)
{
    static const size_t dims[] = { 32, 64, 128 };
    struct bitcut_attention *const a = &c->a;
    const struct bitcut_format *const format = format_for(row, rng);
    bitcut_attention_init(a, sizeof *a);
    a->row = row;
    a->heads = (size_t)test_between(rng, 1, HEADS_MAX);
    a->queries = (size_t)test_between(rng, 20, QUERIES_MAX);
    a->keys = a->queries + (size_t)test_between(rng, 130, KEYS_MAX - QUERIES_MAX);
    a->keys -= a->keys % 64 == 0; /* a partial tile */
    a->head_dim = dims[test_between(rng, 0, 2)];
    a->value_dim = a->head_dim;
    if (causal) a->window_right = 0;
    fill(c->q, &a->q, a->queries, a->head_dim, format, rng);
    fill(c->k, &a->k, a->keys, a->head_dim, format, rng);
    fill(c->v, &a->v, a->keys, a->head_dim, format, rng);
    a->kv_heads = a->heads;
    a->o = (struct bitcut_matrix){ .to = c->o,
                                   .format =
                                       format->bits < 16 ? &formats[FORMAT_BF16] : format,
                                   .stride = a->queries * a->value_dim };
    *c->vary = 0;
    a->vary = c->vary;
    if (strcmp(row->name, "plain")) snprintf(c->vary, sizeof c->vary, "splits=1");
}

static void compute(const struct bitcut_attention *a)
{
    char why[BITCUT_TEXT_MAX] = "";
    ck_assert_msg(bitcut_attention(a, 2, why) == BITCUT_OK, "%s", why);
}

/* --- faults ------------------------------------------------------------------------- */

static void see_more(struct bitcut_attention *a) { a->window_right = 1; }
static void see_less(struct bitcut_attention *a) { a->window_right = 0; }
static void see_all(struct bitcut_attention *a) { a->window_right = BITCUT_UNSET; }
static void see_past(struct bitcut_attention *a) { a->window_right = 0; }
static void scale_by_one(struct bitcut_attention *a) { a->scale = 0x3f800000; }
static void scale_twice(struct bitcut_attention *a)
{
    const float x = (float)(1 / sqrt((double)a->head_dim));
    a->scale = bits_of_float(x * x);
}
static void lose_log2e(struct bitcut_attention *a)
{
    const float x = (float)(1 / sqrt((double)a->head_dim));
    a->scale = bits_of_float((float)((double)x * 0.693147180559945309));
}

static void keep_o(struct attention_slips *s) { s->keeps_o = true; }
static void keep_sum(struct attention_slips *s) { s->keeps_sum = true; }
static void keep_both(struct attention_slips *s) { s->keeps_o = s->keeps_sum = true; }
static void multiply(struct attention_slips *s) { s->factor = 0x43800000; } /* 2^8 */
static void whole(struct attention_slips *s) { s->whole_tiles = true; }

/* A fault that is planted: by a change of the attention that is computed, by slips, or by
   items. */
struct plant {
    const char *name;
    bool causal;
    int told; /* window_right of the attention that is told; -1: by `causal` */
    void (*change)(struct bitcut_attention *a);
    void (*slip)(struct attention_slips *s);
    const char *items, *row; /* row: only this one */
    bool extends;            /* K and V have zeros up to a whole tile */
};

static const struct plant plants[] = {
    { "mask off by one", true, -1, see_more, NULL, NULL, NULL, false },
    { "mask off by one", true, 1, see_less, NULL, NULL, NULL, false },
    { "mask lost", true, -1, see_all, NULL, NULL, NULL, false },
    { "mask not given", false, -1, see_past, NULL, NULL, NULL, false },
    { "last tile not masked", false, -1, NULL, NULL, NULL, NULL, true },
    { "last tile not masked", true, -1, NULL, whole, NULL, NULL, false },
    { "scale missing", false, -1, scale_by_one, NULL, NULL, NULL, false },
    { "scale twice", true, -1, scale_twice, NULL, NULL, NULL, false },
    { "log2(e) missing", false, -1, lose_log2e, NULL, NULL, NULL, false },
    { "stale maximum", false, -1, NULL, keep_o, NULL, NULL, false },
    { "stale maximum", true, -1, NULL, keep_sum, NULL, NULL, false },
    { "stale maximum", false, -1, NULL, keep_both, NULL, NULL, false },
    { "P scale lost", false, -1, NULL, NULL, "offset=0", "flash-attention-3-fp8", false },
    { "P scale lost", true, -1, NULL, multiply, NULL, "flash-attention-3-fp8", false },
    { NULL, false, 0, NULL, NULL, NULL, NULL, false },
};

/* Compute O with slips. */
static void compute_slips(const struct bitcut_attention *a,
                          void (*slip)(struct attention_slips *s))
{
    struct attention_plan plan;
    struct bitcut_attention taken;
    struct fault f = { .text = "" };
    ck_assert_msg(attention_take(&taken, a, &f) == BITCUT_OK &&
                      attention_plan_make(&plan, &taken, &f) == BITCUT_OK,
                  "%s", f.text);
    slip(&plan.slips);
    ck_assert_msg(attention_run(&plan, &(struct attention_options){ .threads = 2 }, &f) ==
                      BITCUT_OK,
                  "%s", f.text);
}

/* The keys of a whole tile, with zeros, in place of the last ones. */
static void extend(struct bitcut_attention *a, uint16_t *k, uint16_t *v, size_t tile)
{
    const size_t keys = divide_up(a->keys, tile) * tile,
                 bytes = (size_t)format_bytes(a->k.format) * a->head_dim;
    for (size_t h = 0; h < a->heads; h++) {
        memcpy((char *)k + h * keys * bytes, (const char *)a->k.at + h * a->keys * bytes,
               a->keys * bytes);
        memcpy((char *)v + h * keys * bytes, (const char *)a->v.at + h * a->keys * bytes,
               a->keys * bytes);
    }
    a->keys = keys;
    a->k.at = k, a->v.at = v;
    a->k.stride = a->v.stride = keys * a->head_dim;
}

/* Compute O with the fault.  False: the row does not have it. */
static bool plant(struct planted_case *c, const struct plant *p,
                  const struct bitcut_attention_row *row, uint64_t *rng)
{
    static uint16_t k[ELEMENTS_MAX + 512 * DIM_MAX], v[ELEMENTS_MAX + 512 * DIM_MAX];
    if (p->row ? strcmp(p->row, row->name) : row->operand == &formats[FORMAT_E4M3])
        return false;
    if (p->slip && (!strcmp(row->name, "plain"))) return false;
    if (p->extends && (row->q_block || !strcmp(row->name, "plain"))) return false;
    case_draw(c, row, p->causal, rng);
    struct bitcut_attention a = c->a;
    char items[128];
    snprintf(items, sizeof items, "%s%s%s", c->vary, p->items ? "," : "",
             p->items ? p->items : "");
    a.vary = items;
    if (p->told >= 0) c->a.window_right = p->told;
    if (p->change) p->change(&a);
    if (p->extends) {
        memset(k, 0, sizeof k), memset(v, 0, sizeof v);
        snprintf(c->vary, sizeof c->vary, "splits=1,block-n=64");
        a.vary = c->vary;
        extend(&a, k, v, 64);
    }
    if (p->slip) compute_slips(&a, p->slip);
    else compute(&a);
    return true;
}

/* --- kernels that are no rows ---------------------------------------------------------
 */

enum own_fault { OWN_NONE, OWN_MORE, OWN_SCALE, OWN_STALE, OWN_FAULTS };
static const char *const own_names[] = { NULL, "mask off by one", "scale missing",
                                         "stale maximum" };

static double element(const struct bitcut_matrix *m, size_t at)
{
    return format_to_double(m->format, encoding_get(m->at, format_bytes(m->format), at));
}

/* Scores of a tile of a query; their maximum. */
static double own_scores(double *s, const struct planted_case *c, size_t head, size_t i,
                         size_t from, size_t to, double scale)
{
    const struct bitcut_attention *const a = &c->a;
    const size_t dim = a->head_dim;
    double max = -INFINITY;
    for (size_t j = from; j < to; j++) {
        s[j - from] = 0;
        for (size_t p = 0; p < dim; p++)
            s[j - from] += element(&a->q, (head * a->queries + i) * dim + p) *
                           element(&a->k, (head * a->keys + j) * dim + p);
        s[j - from] *= scale;
        max = fmax(max, s[j - from]);
    }
    return max;
}

/* O of a query by a softmax in binary64, in tiles of 64 keys. */
static void own_query(const struct planted_case *c, size_t head, size_t i,
                      enum own_fault fault)
{
    enum { TILE = 64 };
    const struct bitcut_attention *const a = &c->a;
    const size_t dim = a->head_dim;
    const double scale = fault == OWN_SCALE ? 1 : 1 / sqrt((double)dim);
    const size_t last = a->window_right < 0 ? a->keys : i + a->keys - a->queries + 1,
                 end = smaller(a->keys, last + (fault == OWN_MORE));
    double o[DIM_MAX] = { 0 }, s[TILE], sum = 0, max = -INFINITY;
    for (size_t from = 0; from < end; from += TILE) {
        const size_t to = smaller(end, from + TILE);
        const double now = fmax(max, own_scores(s, c, head, i, from, to, scale));
        const double rescale = exp(max - now);
        for (size_t p = 0; p < dim; p++) o[p] *= fault == OWN_STALE ? 1 : rescale;
        sum *= rescale;
        max = now;
        for (size_t j = from; j < to; j++) {
            const double w = exp(s[j - from] - max);
            sum += w;
            for (size_t p = 0; p < dim; p++)
                o[p] += w * element(&a->v, (head * a->keys + j) * dim + p);
        }
    }
    for (size_t p = 0; p < dim; p++)
        encoding_put(
            (void *)c->o, format_bytes(a->o.format), (head * a->queries + i) * dim + p,
            bitcut_format_convert(a->o.format, &roundings[ROUND_RN], &formats[FORMAT_F64],
                                  bits_of_double(o[p] / sum)));
}

/* --- explaining --------------------------------------------------------------------- */

static double effort = 1;

static void explain(struct bitcut_attention_explanation *e,
                    const struct bitcut_attention *of, uint64_t seed)
{
    struct bitcut_attention a = *of;
    const struct bitcut_explain_options o = { .size = sizeof o,
                                              .seed = seed,
                                              .effort = effort };
    char why[BITCUT_TEXT_MAX] = "";
    a.row = NULL;
    a.vary = NULL;
    e->size = sizeof *e;
    ck_assert_msg(bitcut_attention_explain(e, &a, &o, 2, why) == BITCUT_OK, "%s", why);
}

static void print_case(const char *what, const struct bitcut_attention *a,
                       const struct bitcut_attention_explanation *e)
{
    printf("# %s: %s %s (%s), %zu heads, %zu queries, %zu keys, dim %zu, right %d: %s "
           "[%zu tried, complete %d]\n",
           what, a->row->name, a->q.format->name, a->vary, a->heads, a->queries, a->keys,
           a->head_dim, (int)a->window_right, e->text, e->tried, e->complete);
    fflush(stdout);
}

/* Whether the answer gives the bits that the row gives. */
START_TEST(rows)
{
    static struct planted_case c;
    static const char *const items[] = { "",
                                         "block-n=32",
                                         "direction=ascending",
                                         "exp=exp2",
                                         "fused=no",
                                         "block-n=96,scaling=scores",
                                         "reciprocal=division,block-n=64",
                                         "from-zero=32" };
    uint64_t rng = test_seed();
    size_t found = 0, all = 0, accused = 0, tried = 0;
    for (const struct bitcut_attention_row *r = attention_rows; r->name; r++)
        for (int i = test_cases(1, 30); i; i--) {
            struct bitcut_attention_explanation e;
            const char *const item = items[test_between(&rng, 0, 7)];
            case_draw(&c, r, test_between(&rng, 0, 1), &rng);
            if (*item && !r->operand)
                snprintf(c.vary, sizeof c.vary, "splits=%d,%s", test_between(&rng, 1, 4),
                         item);
            compute(&c.a);
            explain(&e, &c.a, test_seed());
            all++, found += e.found, accused += e.fault != NULL, tried += e.tried;
            if (!e.found || e.fault) print_case("not found", &c.a, &e);
        }
    printf("# rows: %zu of %zu found, %zu accused, %zu hypotheses each\n", found, all,
           accused, tried / all);
    ck_assert_uint_eq(found, all);
    ck_assert_uint_eq(accused, 0);
}
END_TEST

START_TEST(faults)
{
    static struct planted_case c;
    uint64_t rng = test_seed() + 1;
    size_t named = 0, exact = 0, all = 0, tried = 0;
    int count = 0, at;
    while (plants[count].name) count++;
    for (int i = test_cases(20, 400); i; i--) {
        struct bitcut_attention_explanation e;
        const struct bitcut_attention_row *r;
        do {
            at = test_between(&rng, 0, count - 1);
            r = &attention_rows[test_between(&rng, 0, 7)];
        } while (!plant(&c, &plants[at], r, &rng));
        explain(&e, &c.a, test_seed());
        /* Tiles that a single block visits are all keys. */
        const bool good =
            e.fault &&
            (!strcmp(e.fault, plants[at].name) ||
             (plants[at].slip == whole && e.found && !strcmp(e.fault, "mask lost")));
        all++, named += good, exact += good && e.found, tried += e.tried;
        if (!good) print_case(plants[at].name, &c.a, &e);
    }
    printf("# faults: %zu of %zu named, %zu with every bit, %zu hypotheses each\n", named,
           all, exact, tried / all);
    ck_assert_uint_eq(named, all);
}
END_TEST

START_TEST(other_kernels)
{
    static struct planted_case c;
    uint64_t rng = test_seed() + 2;
    size_t named = 0, all = 0, correct = 0, accused = 0;
    effort = 0.1; /* no hypothesis gives every bit */
    for (int i = test_cases(12, 100); i; i--) {
        struct bitcut_attention_explanation e;
        const enum own_fault f = (enum own_fault)(((size_t)i + test_seed()) % OWN_FAULTS);
        case_draw(&c, &attention_rows[0], f == OWN_MORE || test_between(&rng, 0, 1),
                  &rng);
        for (size_t h = 0; h < c.a.heads; h++)
            for (size_t q = 0; q < c.a.queries; q++) own_query(&c, h, q, f);
        explain(&e, &c.a, test_seed());
        const bool good = f ? e.fault && !strcmp(e.fault, own_names[f]) : !e.fault;
        all += f != OWN_NONE, correct += f == OWN_NONE;
        named += f != OWN_NONE && good, accused += f == OWN_NONE && e.fault;
        if (!good || (!f && strcmp(e.diagnosis, "rounding")))
            print_case(f ? own_names[f] : "correct", &c.a, &e);
        ck_assert(f || !strcmp(e.diagnosis, "rounding") || e.found);
    }
    printf("# other kernels: %zu of %zu faults named, %zu of %zu correct ones accused\n",
           named, all, accused, correct);
    ck_assert_uint_eq(named, all);
    ck_assert_uint_eq(accused, 0);
}
END_TEST

TEST_MAIN("attention explained", rows, faults, other_kernels)
