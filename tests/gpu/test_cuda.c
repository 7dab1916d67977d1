/* SPDX-License-Identifier: BSD-3-Clause */
/* The library's GEMMs on a device, with tests/gpu/device.c as the device: the results of
   its parts and terms compared with the emulator's whole GEMM, and nothing else written.
   Run in the build folder. */
#define _POSIX_C_SOURCE 200809L

#include "emu/gemm.h"
#include "gpu/api/gpu.h"
#include "tests/gpu/model_device.h"

/* --- matrices in memory ----------------------------------------------------------- */

enum { COUNT_MAX = 6 };

/* Matrices of a batch, with what lies between and around them.  Elements have 2 or 4
   bytes. */
struct stored {
    unsigned char *memory, *copy;
    struct bitcut_matrix is;  /* at strides */
    size_t begin, elements;   /* of memory   */
    size_t place[COUNT_MAX]; /* of every matrix, elements from the first one in memory */
    const void *each[COUNT_MAX];
};

static size_t below(uint64_t *state, size_t n) { return (size_t)(test_bits(state) % n); }

static size_t bytes_of(const struct stored *x) { return (size_t)x->is.format->bits / 8; }

static uint32_t element_get(const struct stored *x, const unsigned char *from, size_t i)
{
    uint32_t bits = 0;
    memcpy(&bits, from + i * bytes_of(x), bytes_of(x));
    return bits;
}

static void element_set(const struct stored *x, unsigned char *to, size_t i,
                        uint32_t bits)
{
    memcpy(to + i * bytes_of(x), &bits, bytes_of(x));
}

/* Values around 1; one in 64 is any encoding. */
static uint32_t some_value(uint64_t *state, const struct bitcut_format *format)
{
    const uint64_t bits = test_bits(state);
    if (bits % 64 == 0) return (uint32_t)(bits >> 32);
    return format->bits == 16
               ? (uint32_t)((bits >> 8 & 0x83ff) | (15 - 4 + bits % 9) << 10)
               : (uint32_t)((bits >> 8 & 0x807fffff) | (127 - 6 + bits % 13) << 23);
}

enum room { APART, SIDE_BY_SIDE, SAME, ROOMS };

static struct stored store(uint64_t *state, const struct bitcut_format *format,
                           size_t rows, size_t cols, size_t count, bool down,
                           enum room room)
{
    const size_t begin = below(state, 9), gap = below(state, 4);
    const size_t row = down ? rows : cols, height = down ? cols : rows;
    struct stored x = { .begin = begin };
    size_t ld = row + gap;
    if (room == SIDE_BY_SIDE) ld = count * row + gap, x.is.stride = row;
    if (room == APART) x.is.stride = height * ld + below(state, 5);
    x.is.format = format;
    x.is.layout = down ? BITCUT_COLUMN_MAJOR : BITCUT_ROW_MAJOR;
    x.is.ld = ld == row && below(state, 2) ? 0 : ld; /* none lie between */
    x.elements = begin + count * x.is.stride + height * ld + 1;
    x.memory = malloc(x.elements * bytes_of(&x));
    x.copy = malloc(x.elements * bytes_of(&x));
    ck_assert(x.memory && x.copy);
    for (size_t i = 0; i < x.elements; i++)
        element_set(&x, x.memory, i, some_value(state, format));
    memcpy(x.copy, x.memory, x.elements * bytes_of(&x));
    x.is.at = x.memory + begin * bytes_of(&x);
    for (size_t i = 0; i < COUNT_MAX; i++) x.place[i] = begin + i * x.is.stride;
    return x;
}

/* The same by pointers, in another order. */
static void turn_round(struct stored *x, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        x->place[i] = x->begin + (count - 1 - i) * x->is.stride;
        x->each[i] = x->memory + x->place[i] * bytes_of(x);
    }
}

static void discard(struct stored *x)
{
    free(x->copy);
    free(x->memory);
}

static size_t place(const struct stored *x, size_t matrix, size_t rows, size_t cols,
                    size_t i, size_t j)
{
    const bool down = x->is.layout == BITCUT_COLUMN_MAJOR;
    const size_t ld = x->is.ld ? x->is.ld : down ? rows : cols;
    return x->place[matrix] + (down ? j * ld + i : i * ld + j);
}

/* A matrix as it was stored, row-major FP32 without gaps. */
static uint32_t *original(const struct stored *x, size_t matrix, size_t rows, size_t cols)
{
    uint32_t *to = malloc((rows * cols + 1) * sizeof *to);
    ck_assert(to != NULL);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++)
            to[i * cols + j] = (uint32_t)bitcut_format_convert(
                &formats[FORMAT_F32], &roundings[ROUND_RN], x->is.format,
                element_get(x, x->copy, place(x, matrix, rows, cols, i, j)));
    return to;
}

/* An output of FP32 in the format of D. */
static uint32_t output_of(const struct stored *x, uint32_t v)
{
    if ((v & 0x7fffffff) > 0x7f800000) return bytes_of(x) == 2 ? 0x7fff : 0x7fffffff;
    return (uint32_t)bitcut_format_convert(x->is.format, &roundings[ROUND_RN],
                                           &formats[FORMAT_F32], v);
}

/* --- a GEMM and what it should be ------------------------------------------------- */

struct trial {
    struct bitcut_gemm g;
    struct stored a, b, c, d;
    bool in_place; /* D is C */
};

/* The GEMMs that the device has, a row each. */
static const struct {
    const char *recipe, *split_a, *split_b, *kernel;
    int promote, slices_most;
    int tile;   /* that slices may be cut at: no more than a k-step */
    bool small; /* f16 matrices, also by pointers */
} rows[] = {
    /* clang-format off */
    { "ootomo",   NULL,       NULL,       NULL,              BITCUT_UNSET, 3, 16, false },
    { "ootomo",   NULL,       NULL,       NULL,              4,            3, 16, false },
    { "ootomo",   "markidis", "feng",     NULL,              BITCUT_UNSET, 3, 16, false },
    { "ootomo",   "markidis", "markidis", NULL,              BITCUT_UNSET, 3, 16, false },
    { NULL,       NULL,       NULL,       "vary.ootomo.f16", BITCUT_UNSET, 3, 16, false },
    { "tf32x3",   NULL,       NULL,       NULL,              BITCUT_UNSET, 1, 0,  false },
    { "plain",    NULL,       NULL,       NULL,              BITCUT_UNSET, 1, 0,  false },
    { "plain",    "tf32",     "tf32",     NULL,              BITCUT_UNSET, 1, 0,  false },
    { "markidis", NULL,       NULL,       NULL,              BITCUT_UNSET, 1, 0,  false },
    { "plain",    NULL,       NULL,       "gemm.plain.f16",  BITCUT_UNSET, 1, 0,  false },
    { NULL,       NULL,       NULL,       "gemm.plain.tf32", BITCUT_UNSET, 1, 0,  false },
    { "half-fp8", NULL,       NULL,       NULL,              BITCUT_UNSET, 3, 32, false },
    { "half-fp8", "half-e4m3", NULL,      NULL,              4,            3, 32, false },
    { "half-int8", NULL,      NULL,       NULL,              BITCUT_UNSET, 3, 32, false },
    { "plain",    NULL,       NULL,       NULL,              BITCUT_UNSET, 1, 0,  true  },
    { "plain",    NULL,       NULL,       NULL,              BITCUT_UNSET, 1, 0,  true  },
    { "fp32",     NULL,       NULL,       NULL,              BITCUT_UNSET, 1, 0,  true  },
    { NULL,       NULL,       NULL,       "batch.mma.64",    BITCUT_UNSET, 1, 0,  true  },
    /* clang-format on */
};

static const size_t sizes[] = { 0, 1, 2, 3, 5, 15, 16, 17, 31, 33, 40, 64, 66 };
static const uint32_t scalars[] = { F32_ONE, 0, 0x80000000, 0x40490fdb, 0xbf99999a };

#define PICK(state, table) (table)[below(state, sizeof(table) / sizeof(table)[0])]

static void by_pointers(struct trial *t)
{
    for (struct stored *s = &t->a; s <= &t->d; s++) turn_round(s, t->g.count);
    t->g.a.each = t->a.each;
    t->g.b.each = t->b.each;
    t->g.c.each = t->in_place ? t->d.each : t->c.each;
    t->g.d.each = t->d.each;
}

static size_t size_of(uint64_t *state, bool small)
{
    const size_t size = PICK(state, sizes);
    return small && size > 64 ? 64 : size;
}

static struct bitcut_gemm gemm_make(uint64_t *state, size_t row)
{
    struct bitcut_gemm g;
    bitcut_gemm_init(&g, sizeof g);
    g.recipe = bitcut_recipe_find(rows[row].recipe);
    g.split_a = bitcut_split_find(rows[row].split_a);
    g.split_b = bitcut_split_find(rows[row].split_b);
    g.kernel = rows[row].kernel;
    g.promote = rows[row].promote;
    g.order.slices = (int)below(state, (size_t)rows[row].slices_most + 1);
    g.order.tile = (int)below(state, 2) * rows[row].tile;
    g.equilibrate = !rows[row].small && below(state, 2);
    g.m = size_of(state, rows[row].small);
    g.n = size_of(state, rows[row].small);
    g.k = size_of(state, rows[row].small);
    g.alpha = PICK(state, scalars);
    g.beta = PICK(state, scalars);
    return g;
}

static struct trial trial_make(uint64_t *state)
{
    const size_t row = below(state, sizeof rows / sizeof rows[0]);
    const bool small = rows[row].small;
    const struct bitcut_format *f = &formats[small ? FORMAT_F16 : FORMAT_F32];
    struct trial t = { .g = gemm_make(state, row) };
    struct bitcut_gemm *g = &t.g;
    g->count = below(state, 3) ? 1 : below(state, COUNT_MAX);
    const size_t held = g->count + 1;
    t.a = store(state, f, g->m, g->k, held, below(state, 2), below(state, ROOMS));
    t.b = store(state, f, g->k, g->n, held, below(state, 2), below(state, ROOMS));
    t.c = store(state, f, g->m, g->n, held, below(state, 2), below(state, ROOMS));
    t.d = store(state, f, g->m, g->n, held, below(state, 2), below(state, SAME));
    t.in_place = below(state, 2);
    g->a = t.a.is;
    g->b = t.b.is;
    g->c = t.in_place ? t.d.is : t.c.is;
    g->d = t.d.is;
    if (small && below(state, 2)) by_pointers(&t);
    if (g->beta & 0x7fffffff) return t;
    g->c.at = below(state, 2) ? t.a.memory + 1 : NULL; /* is not read */
    g->c.each = NULL;
    g->c.ld = 0;
    g->c.stride = SIZE_MAX;
    return t;
}

static void trial_end(struct trial *t)
{
    discard(&t->d);
    discard(&t->c);
    discard(&t->b);
    discard(&t->a);
}

/* Put what D should be, by what the device says that it runs, with C as stored, into
   t->d.copy: the emulator on FP32 matrices without gaps. */
static void expect(struct trial *t, const struct bitcut_gemm *ran)
{
    const size_t m = t->g.m, n = t->g.n, k = t->g.k;
    char why[BITCUT_TEXT_MAX] = "";
    struct bitcut_gemm g = *ran;
    g.kernel = NULL;
    g.count = 1;
    for (size_t e = 0; e < t->g.count; e++) {
        uint32_t *a = original(&t->a, e, m, k), *b = original(&t->b, e, k, n);
        uint32_t *c = original(t->in_place ? &t->d : &t->c, e, m, n);
        g.a = g.b = g.c = g.d = (struct bitcut_matrix){ .ld = 0 };
        g.a.at = a;
        g.b.at = b;
        g.c.at = g.d.at = c;
        if (bitcut_gemm(NULL, &g, 1, why) != BITCUT_OK) ck_abort_msg("%s", why);
        for (size_t i = 0; i < m * n; i++)
            element_set(&t->d, t->d.copy, place(&t->d, e, m, n, i / n, i % n),
                        output_of(&t->d, c[i]));
        free(c);
        free(b);
        free(a);
    }
}

/* Prepare an operand for the whole batch. */
static struct block prepare(const struct trial *t, enum bitcut_operand which,
                            struct bitcut_matrix *to)
{
    size_t bytes = 1;
    struct bitcut_gemm g = t->g;
    ck_assert_int_eq(bitcut_gemm_prepared_size(&bytes, device, &g, which, NULL),
                     BITCUT_OK);
    ck_assert_uint_eq(bytes % 256, 0);
    const size_t copies = to->stride && t->g.count ? t->g.count : 1;
    struct block x = block_make(copies * bytes);
    for (size_t e = 0; e < copies; e++) {
        struct bitcut_matrix *from = which == BITCUT_A ? &g.a : &g.b;
        from->at = (const uint32_t *)to->at + e * to->stride;
        from->prepared = device; /* not read */
        ck_assert_int_eq(
            bitcut_gemm_prepare(x.at + e * bytes, device, &g, which, NULL, NULL),
            BITCUT_OK);
    }
    *to = (struct bitcut_matrix){ .prepared = x.at,
                                  .prepared_stride = to->stride ? bytes : 0 };
    return x;
}

static void check_same(const struct stored *x, const struct trial *t, const char *name)
{
    for (size_t i = 0; i < x->elements; i++)
        if (element_get(x, x->memory, i) != element_get(x, x->copy, i))
            ck_abort_msg("%s[%zu] %08" PRIx32 ", not %08" PRIx32
                         ": m %zu n %zu k %zu count %zu slices %d ld %zu stride %zu",
                         name, i, element_get(x, x->memory, i),
                         element_get(x, x->copy, i), t->g.m, t->g.n, t->g.k, t->g.count,
                         t->g.order.slices, x->is.ld, x->is.stride);
}

/* What is said before, and after, is the same, and what runs again. */
static void check_ran(const struct bitcut_gemm *ran, const struct bitcut_gemm *chosen)
{
    struct bitcut_gemm again = *ran, same;
    char why[BITCUT_TEXT_MAX] = "";
    bitcut_gemm_init(&same, sizeof same);
    ck_assert_mem_eq(&ran->recipe, &chosen->recipe,
                     offsetof(struct bitcut_gemm, count) -
                         offsetof(struct bitcut_gemm, recipe));
    again.unit = NULL;
    if (bitcut_gemm_choose(&same, device, &again, why) != BITCUT_OK)
        ck_abort_msg("%s", why);
    ck_assert_str_eq(same.kernel, ran->kernel);
    again = *ran;
    again.kernel = NULL;
    if (bitcut_gemm_choose(&same, device, &again, why) != BITCUT_OK)
        ck_abort_msg("%s", why);
    ck_assert(gpu_units_agree(same.unit, ran->unit));
}

/* The address of a matrix, which is at another one in the plan. */
static void *moved(struct bitcut_matrix *x)
{
    static uint32_t elsewhere[64] __attribute__((aligned(256)));
    const void *const at = x->prepared ? x->prepared
                           : x->each   ? (const void *)x->each
                                       : x->at;
    if (x->prepared) x->prepared = elsewhere;
    else if (x->each) x->each = (const void *const *)elsewhere;
    else x->to = at ? elsewhere : NULL;
    return (void *)(uintptr_t)at;
}

/* Start by a plan that was made of other addresses. */
static void start_planned(const struct bitcut_gemm *gemm, void *workspace, size_t bytes)
{
    char why[BITCUT_TEXT_MAX] = "";
    struct bitcut_plan *plan = NULL;
    struct bitcut_gemm g = *gemm;
    char kernel[64] = "";
    void *const d = moved(&g.d), *const a = moved(&g.a), *const b = moved(&g.b),
                *const c = moved(&g.c);
    if (g.kernel) g.kernel = strcpy(kernel, g.kernel);
    if (bitcut_plan_make(&plan, device, &g, why)) ck_abort_msg("%s", why);
    memset(kernel, 'x', sizeof kernel); /* the plan has no string of the caller */
    memset(&g, FILL, sizeof g);
    if (bitcut_plan_start(plan, d, a, b, c, workspace, bytes, NULL, why))
        ck_abort_msg("%s", why);
    bitcut_plan_free(plan);
}

static void check_trial(struct trial *t, bool prepare_a, bool prepare_b, size_t at_a_time,
                        bool planned)
{
    char why[BITCUT_TEXT_MAX] = "";
    struct block a = block_make(0), b = block_make(0);
    struct bitcut_gemm chosen, ran;
    size_t bytes = 1;
    bitcut_gemm_init(&ran, sizeof ran);
    bitcut_gemm_init(&chosen, sizeof chosen);
    if (bitcut_gemm_choose(&chosen, device, &t->g, why)) ck_abort_msg("%s", why);
    expect(t, &chosen);
    const bool parts = t->a.is.format == &formats[FORMAT_F32];
    if (prepare_a && parts) free(a.at), a = prepare(t, BITCUT_A, &t->g.a);
    if (prepare_b && parts) free(b.at), b = prepare(t, BITCUT_B, &t->g.b);
    ck_assert_int_eq(bitcut_gemm_workspace(&bytes, device, &t->g, NULL), BITCUT_OK);
    ck_assert(parts || !bytes);
    bytes *= at_a_time;
    const struct block workspace = block_make(bytes);
    if (planned) start_planned(&t->g, workspace.at, bytes);
    else if (bitcut_gemm_start(&ran, device, &t->g, workspace.at, bytes, NULL, why))
        ck_abort_msg("%s", why);
    else check_ran(&ran, &chosen);
    block_end(&workspace);
    block_end(&b);
    block_end(&a);
    check_same(&t->a, t, "A");
    check_same(&t->b, t, "B");
    check_same(&t->c, t, "C");
    check_same(&t->d, t, "D");
}

START_TEST(agrees_with_emulator)
{
    uint64_t state = test_seed();
    device_open();
    for (int i = 0; i < test_cases(400, 6000); i++) {
        struct trial t = trial_make(&state);
        check_trial(&t, below(&state, 3) == 0, below(&state, 3) == 0,
                    1 + below(&state, 3), below(&state, 2));
        trial_end(&t);
    }
    bitcut_device_close(device);
}
END_TEST

/* --- batches ---------------------------------------------------------------------- */

/* The device spoils the last output of all that is started at a time. */
START_TEST(batches_go_together)
{
    enum { BATCH = 5 };
    const uint32_t one = F32_ONE;
    uint32_t d[BATCH];
    const struct bitcut_gemm g = ones(BATCH, &one, d);
    size_t bytes = 0;
    setenv("DEVICE_FAULT", "flips", 1);
    device_open();
    ck_assert_int_eq(bitcut_gemm_workspace(&bytes, device, &g, NULL), BITCUT_OK);
    for (size_t room = 1; room <= BATCH + 1; room++) {
        const struct block workspace = block_make(room * bytes);
        ck_assert_int_eq(
            bitcut_gemm_start(NULL, device, &g, workspace.at, room * bytes, NULL, NULL),
            BITCUT_OK);
        for (size_t i = 0; i < BATCH; i++)
            ck_assert_uint_eq(d[i] != F32_ONE, (i + 1) % room == 0 || i + 1 == BATCH);
        block_end(&workspace);
    }
    bitcut_device_close(device);
    unsetenv("DEVICE_FAULT");
}
END_TEST

/* More than a device takes at a time, by one GEMM and by slices. */
START_TEST(batches_are_parted)
{
    enum { BATCH = 66000 };
    static uint32_t d[BATCH];
    const uint32_t one = F32_ONE;
    if (test_cases(8, 8) < 8) return; /* each GEMM takes and gives memory back */
    for (int slices = 1; slices <= 3; slices += 2) {
        const size_t count = BATCH / (size_t)slices;
        struct bitcut_gemm g = ones(count, &one, d);
        size_t bytes = 0;
        g.order.slices = slices;
        device_open();
        ck_assert_int_eq(bitcut_gemm_workspace(&bytes, device, &g, NULL), BITCUT_OK);
        const struct block workspace = block_make(count * bytes);
        memset(d, 0xff, sizeof d);
        ck_assert_int_eq(
            bitcut_gemm_start(NULL, device, &g, workspace.at, count * bytes, NULL, NULL),
            BITCUT_OK);
        for (size_t i = 0; i < BATCH; i++)
            ck_assert_uint_eq(d[i], i < count ? F32_ONE : UINT32_MAX);
        block_end(&workspace);
        bitcut_device_close(device);
    }
}
END_TEST

DEVICE_TEST_MAIN("cuda", agrees_with_emulator, batches_go_together, batches_are_parted)
