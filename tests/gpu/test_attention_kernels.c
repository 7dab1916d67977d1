/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels for attention on a device, compared with the emulator, bit for bit.  The device
   is tests/gpu/device.c, or, with DEVICE_MODULES set, the device of a module in that
   folder.  On the former every eleventh attention is tried; BITCUT_LONG=1 has ten times
   as many. */
#define _POSIX_C_SOURCE 200809L

#include "emu/attention/attention_run.h"
#include "gpu/api/attention.h"
#include "lib/number/rand.h"
#include "tests/gpu/any_device.h"

static bool is_long(void)
{
    const char *const text = getenv("BITCUT_LONG");
    return text && *text == '1';
}

/* --- attentions ------------------------------------------------------------------- */

/* Rows, and items that change them: kernels run mma.sync. */
#define BY_MMA "unit-qk=hopper/mma.m16n8k16.f32.f16,unit-pv=hopper/mma.m16n8k16.f32.f16"
static const struct row {
    const char *name, *vary;
} rows[] = { { "flash-attention-2", NULL },
             { "flash-attention-2-split", NULL },
             { "pytorch-flash", NULL },
             { "cudnn-sm90", BY_MMA } };

/* Sizes, and items that change the row further. */
static const struct shape {
    size_t heads, kv_heads, queries, keys, head_dim;
    bool causal;
    const char *vary;
} shapes[] = {
    { 1, 1, 1, 1, 64, false, NULL },
    { 2, 2, 17, 17, 128, true, NULL },
    { 3, 1, 130, 200, 64, true, NULL },
    { 2, 2, 65, 129, 128, false, "splits=1" },
    { 4, 2, 1, 700, 64, false, "splits=3" },
    { 2, 1, 70, 700, 128, true, "splits=6" },
    { 1, 1, 200, 90, 64, true, "splits=1" }, /* queries that see no key */
    { 1, 1, 40, 300, 32, true, "splits=1,block-m=16,block-n=16" },
    { 1, 1, 33, 513, 256, false, "splits=20,block-m=64,block-n=64" },
    { 1, 1, 50, 333, 96, true, "splits=40,block-m=32,block-n=48" },
};

/* An element of Q or K (0) and of V (1) in FP32, from random bits. */
typedef float element(uint64_t bits, int of);

static float uniform(uint64_t bits, int of)
{
    (void)of;
    return (float)(int32_t)(bits >> 32) * 0x1p-30f;
}

/* Scores from -100 to 100. */
static float peaks(uint64_t bits, int of) { return uniform(bits, of) * (of ? 1 : 4); }

/* Large V, and P that underflow. */
static float tiny(uint64_t bits, int of)
{
    return uniform(bits, of) * (of ? bits & 1 ? 0x1p13f : 1 : 8);
}

/* Infinities, NaN, zeros and subnormals, once in a while. */
static float special(uint64_t bits, int of)
{
    static const float all[] = { INFINITY, -INFINITY, NAN, 0, -0.0f, 0x1p-24f };
    const size_t i = bits & 4095;
    return i < 6 ? all[i] : uniform(bits, of);
}

static const struct {
    const char *name;
    element *of;
} families[] = {
    { "uniform", uniform }, { "peaks", peaks }, { "tiny", tiny }, { "special", special }
};

enum {
    ROWS = sizeof rows / sizeof rows[0],
    SHAPES = sizeof shapes / sizeof shapes[0],
    FAMILIES = sizeof families / sizeof families[0],
    ELEMENTS_MAX = 1 << 18, /* of a matrix of any shape */
    QUERIES_MAX = 1024
};

struct trial {
    struct bitcut_attention a;
    char vary[200];
    const char *family;
    uint16_t q[ELEMENTS_MAX], k[ELEMENTS_MAX], v[ELEMENTS_MAX];
    uint16_t want[ELEMENTS_MAX], got[ELEMENTS_MAX];
    uint32_t want_lse[QUERIES_MAX], got_lse[QUERIES_MAX];
};

static void fill(uint16_t *to, size_t count, const struct bitcut_format *format,
                 element *next, int of, struct rng *random)
{
    for (size_t i = 0; i < count; i++)
        to[i] = (uint16_t)bitcut_format_convert(
            format, &roundings[ROUND_RN], &formats[FORMAT_F32],
            bits_of_float(next(rng_bits(random), of)));
}

static struct bitcut_matrix heads_of(const void *at, const struct bitcut_format *format,
                                     size_t stride)
{
    return (struct bitcut_matrix){ .at = at, .format = format, .stride = stride };
}

static void make_trial(struct trial *t, const struct shape *s, const struct row *row,
                       size_t family, const struct bitcut_format *format,
                       struct rng *random)
{
    struct bitcut_attention *const a = &t->a;
    const size_t of_q = s->queries * s->head_dim, of_k = s->keys * s->head_dim;
    ck_assert_uint_le(s->heads * (of_q > of_k ? of_q : of_k), ELEMENTS_MAX);
    bitcut_attention_init(a, sizeof *a);
    a->row = bitcut_attention_find(row->name);
    snprintf(t->vary, sizeof t->vary, "%s%s%s", row->vary ? row->vary : "",
             row->vary && s->vary ? "," : "", s->vary ? s->vary : "");
    a->vary = row->vary || s->vary ? t->vary : NULL;
    a->heads = s->heads, a->kv_heads = s->kv_heads;
    a->queries = s->queries, a->keys = s->keys, a->head_dim = s->head_dim;
    if (s->causal) a->window_right = 0;
    a->q = heads_of(t->q, format, of_q);
    a->k = heads_of(t->k, format, of_k);
    a->v = heads_of(t->v, format, of_k);
    t->family = families[family].name;
    fill(t->q, s->heads * of_q, format, families[family].of, 0, random);
    fill(t->k, s->kv_heads * of_k, format, families[family].of, 0, random);
    fill(t->v, s->kv_heads * of_k, format, families[family].of, 1, random);
}

/* --- comparison ------------------------------------------------------------------- */

static void emulate(struct trial *t)
{
    const struct attention_options options = { .threads = 2 };
    char why[BITCUT_TEXT_MAX];
    t->a.o = heads_of(t->want, t->a.q.format, t->a.q.stride);
    t->a.lse = t->want_lse;
    ck_assert_msg(attention_call(&t->a, &options, why) == BITCUT_OK, "%s", why);
}

static void attend(struct trial *t, const struct gpu_attention_kernel *k)
{
    struct attention_plan plan;
    struct bitcut_attention a;
    struct gpu_attention call;
    struct fault f;
    t->a.o = heads_of(t->got, t->a.q.format, t->a.q.stride);
    t->a.lse = t->got_lse;
    if (attention_take(&a, &t->a, &f) != BITCUT_OK ||
        attention_plan_make(&plan, &a, &f) != BITCUT_OK ||
        gpu_attention_make(&call, &plan, k, &on, &f) != BITCUT_OK ||
        gpu_attention_run(&call, NULL, 0, &gpu, &on, &f) != BITCUT_OK)
        ck_abort_msg("%s", f.text);
}

/* The number of different elements; the first one is printed. */
static size_t differences(const struct trial *t, const char *kernel, const char *row)
{
    const struct bitcut_attention *const a = &t->a;
    const size_t queries = a->heads * a->queries;
    size_t count = 0;
    for (size_t i = 0; i < queries * (a->head_dim + 1); i++) {
        const size_t at = i % (a->head_dim + 1), query = i / (a->head_dim + 1);
        const bool of_lse = at == a->head_dim;
        const size_t o = query * a->head_dim + at;
        const uint32_t want = of_lse ? t->want_lse[query] : t->want[o];
        const uint32_t got = of_lse ? t->got_lse[query] : t->got[o];
        if (want != got && !count++)
            printf("# %s, %s%s%s, %zu x %zu x %zu, %s: query %zu, %s %zu: want 0x%x, got "
                   "0x%x\n",
                   kernel, row, a->vary ? "," : "", a->vary ? a->vary : "", a->queries,
                   a->keys, a->head_dim, t->family, query, of_lse ? "lse" : "column", at,
                   want, got);
    }
    return count;
}

/* A kernel whose name begins with "liar" does not compute its attention. */
static bool lies(const struct gpu_attention_kernel *k)
{
    return !strncmp(k->name, "liar", 4);
}

static size_t try_kernel(size_t *compared, const struct gpu_attention_kernel *k)
{
    static struct trial t;
    const size_t rounds = is_long() ? 10 : 1, each = getenv("DEVICE_MODULES") ? 1 : 11;
    struct rng random = rng_start(test_seed(), (uint64_t)k->format);
    size_t wrong = 0;
    for (size_t i = 0; i < rounds * ROWS * SHAPES * FAMILIES; i += each) {
        const struct shape *const s = &shapes[i % SHAPES];
        const struct row *const row = &rows[i / SHAPES % ROWS];
        make_trial(&t, s, row, i / SHAPES / ROWS % FAMILIES, &formats[k->format],
                   &random);
        emulate(&t);
        attend(&t, k);
        wrong += differences(&t, k->name, row->name);
        *compared += s->heads * s->queries * (s->head_dim + 1);
    }
    return wrong;
}

START_TEST(all_kernels)
{
    const struct gpu_attention_kernel *k = NULL;
    int tried = 0;
    open_device();
    while ((k = gpu_attention_next(&gpu, k))) {
        size_t compared = 0;
        const size_t wrong = try_kernel(&compared, k);
        printf("# %s: %zu outputs, %zu differ\n", k->name, compared, wrong);
        fflush(stdout); /* a failed check ends the process */
        ck_assert(lies(k) ? wrong > 0 : wrong == 0);
        tried++;
    }
    ck_assert_int_gt(tried, 1);
    gpu_close(&gpu);
}
END_TEST

/* --- what a kernel refuses -------------------------------------------------------- */

static const struct {
    const char *vary, *row;
    size_t head_dim;
    enum bitcut_status status;
    const char *text; /* part of the message */
} refused[] = {
    { NULL, "flash-attention-2", 64, BITCUT_OK, NULL },
    { "from-zero=16", "flash-attention-2", 64, BITCUT_UNSUPPORTED, "from-zero" },
    { "scaling=operands", "flash-attention-2", 64, BITCUT_UNSUPPORTED, "scaling" },
    { "exp=exp2", "flash-attention-2", 64, BITCUT_UNSUPPORTED, "exp" },
    { "lanes=8", "pytorch-flash", 64, BITCUT_UNSUPPORTED, "lanes" },
    { "unit-qk=ampere/mma.m16n8k16.f32.f16", "pytorch-flash", 64, BITCUT_UNSUPPORTED,
      "runs on" },
    { NULL, "pytorch-flash", 72, BITCUT_BAD_ARGUMENT, "head_dim" },
    { "block-n=24", "pytorch-flash", 64, BITCUT_BAD_ARGUMENT, "tiles" },
    { "block-n=512", "pytorch-flash", 64, BITCUT_BAD_ARGUMENT, "tiles" },
};

START_TEST(refusals)
{
    static struct trial t;
    open_device();
    const struct gpu_attention_kernel *const k = gpu_attention_next(&gpu, NULL);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        const struct shape s = {
            1, 1, 4, 20, refused[i].head_dim, false, refused[i].vary
        };
        struct rng random = rng_start(1, i);
        struct attention_plan plan;
        struct bitcut_attention a;
        struct gpu_attention call;
        struct fault f;
        const struct row row = { refused[i].row, NULL };
        make_trial(&t, &s, &row, 0, &formats[k->format], &random);
        t.a.o = heads_of(t.got, t.a.q.format, t.a.q.stride);
        ck_assert_int_eq(attention_take(&a, &t.a, &f), BITCUT_OK);
        ck_assert_msg(attention_plan_make(&plan, &a, &f) == BITCUT_OK, "%s", f.text);
        ck_assert_int_eq(gpu_attention_make(&call, &plan, k, &on, &f), refused[i].status);
        ck_assert_msg(!refused[i].text || strstr(f.text, refused[i].text), "%s", f.text);
    }
    gpu_close(&gpu);
}
END_TEST

int main(void)
{
    const TTest *const list[] = { all_kernels, refusals, NULL };
    if (!getenv("DEVICE_MODULES") && access("tests/.libs/bitcut-cuda.so", F_OK)) {
        puts("1..0 # SKIP needs the shared library: configure without --disable-shared");
        return 0;
    }
    return test_run("attention on a device", list);
}
