/* The library's GEMMs on a device, with tests/gpu/device.c as the device: what it computes
   word by word against the emulator's whole GEMM, nothing else written, and every
   refusal. Run in the build folder. */
#define _POSIX_C_SOURCE 200809L

#include "emu/gemm.h"
#include "lib/fma.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char models[] = "tests/.libs";

static struct bitcut_device *device;

static void device_open(void)
{
    char why[BITCUT_TEXT_MOST] = "";
    setenv("BITCUT_MODULES", models, 1);
    if (bitcut_device_open(&device, "cuda", why) != BITCUT_OK) ck_abort_msg("%s", why);
}

/* --- matrices in memory ----------------------------------------------------------- */

enum { COUNT_MOST = 6 };

/* Matrices of a batch, with what lies between and around them.  Elements have 2 or 4
   bytes. */
struct stored {
    unsigned char *memory, *copy;
    struct bitcut_matrix is;  /* at strides */
    size_t begin, elements;   /* of memory   */
    size_t place[COUNT_MOST]; /* of every matrix, elements from the first one in memory */
    const void *each[COUNT_MOST];
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
    for (size_t i = 0; i < COUNT_MOST; i++) x.place[i] = begin + i * x.is.stride;
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

/* --- device memory of a GEMM ------------------------------------------------------ */

/* Bytes aligned to 256 before a guard, which nobody may write. */
struct block {
    unsigned char *at;
    size_t bytes;
};

enum { GUARD = 64, FILL = 0xa5 };

static struct block block_make(size_t bytes)
{
    struct block x = { NULL, bytes };
    const size_t whole = (bytes + GUARD + 255) / 256 * 256;
    ck_assert((x.at = aligned_alloc(256, whole)) != NULL);
    memset(x.at, FILL, bytes + GUARD);
    return x;
}

static void block_end(const struct block *x)
{
    for (size_t i = 0; i < GUARD; i++) ck_assert_uint_eq(x->at[x->bytes + i], FILL);
    free(x->at);
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
    bool small; /* f16 matrices, also by pointers */
} rows[] = {
    /* clang-format off */
    { "ootomo",   NULL,       NULL,       NULL,              BITCUT_UNSET, 3, false },
    { "ootomo",   NULL,       NULL,       NULL,              4,            3, false },
    { "ootomo",   "markidis", "feng",     NULL,              BITCUT_UNSET, 3, false },
    { "ootomo",   "markidis", "markidis", NULL,              BITCUT_UNSET, 3, false },
    { NULL,       NULL,       NULL,       "vary.ootomo.f16", BITCUT_UNSET, 3, false },
    { "tf32x3",   NULL,       NULL,       NULL,              BITCUT_UNSET, 1, false },
    { "plain",    NULL,       NULL,       NULL,              BITCUT_UNSET, 1, false },
    { "plain",    "tf32",     "tf32",     NULL,              BITCUT_UNSET, 1, false },
    { "markidis", NULL,       NULL,       NULL,              BITCUT_UNSET, 1, false },
    { "plain",    NULL,       NULL,       "gemm.plain.f16",  BITCUT_UNSET, 1, false },
    { NULL,       NULL,       NULL,       "gemm.plain.tf32", BITCUT_UNSET, 1, false },
    { "plain",    NULL,       NULL,       NULL,              BITCUT_UNSET, 1, true  },
    { "plain",    NULL,       NULL,       NULL,              BITCUT_UNSET, 1, true  },
    { "fp32",     NULL,       NULL,       NULL,              BITCUT_UNSET, 1, true  },
    { NULL,       NULL,       NULL,       "batch.mma.64",    BITCUT_UNSET, 1, true  },
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
    const bool small = rows[row].small, down = below(state, 2);
    const struct bitcut_format *f = &formats[small ? FORMAT_F16 : FORMAT_F32];
    struct trial t = { .g = gemm_make(state, row) };
    struct bitcut_gemm *g = &t.g;
    g->count = below(state, 3) ? 1 : below(state, COUNT_MOST);
    const size_t held = g->count + 1;
    t.a = store(state, f, g->m, g->k, held, below(state, 2), below(state, ROOMS));
    t.b = store(state, f, g->k, g->n, held, below(state, 2), below(state, ROOMS));
    t.c = store(state, f, g->m, g->n, held, small ? down : below(state, 2),
                below(state, ROOMS));
    t.d = store(state, f, g->m, g->n, held, down, below(state, SAME));
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
    char why[BITCUT_TEXT_MOST] = "";
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
    ck_assert_int_eq(bitcut_gemm_words(&bytes, device, &g, which, NULL), BITCUT_OK);
    ck_assert_uint_eq(bytes % 256, 0);
    const size_t copies = to->stride && t->g.count ? t->g.count : 1;
    struct block x = block_make(copies * bytes);
    for (size_t e = 0; e < copies; e++) {
        struct bitcut_matrix *from = which == BITCUT_A ? &g.a : &g.b;
        from->at = (const uint32_t *)to->at + e * to->stride;
        from->words = device; /* not read */
        ck_assert_int_eq(
            bitcut_gemm_prepare(x.at + e * bytes, device, &g, which, NULL, NULL),
            BITCUT_OK);
    }
    *to = (struct bitcut_matrix){ .words = x.at, .words_stride = to->stride ? bytes : 0 };
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
    char why[BITCUT_TEXT_MOST] = "";
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
    ck_assert_ptr_eq(same.unit, ran->unit);
}

static void check_trial(struct trial *t, bool prepare_a, bool prepare_b, size_t at_a_time)
{
    char why[BITCUT_TEXT_MOST] = "";
    struct block a = block_make(0), b = block_make(0);
    struct bitcut_gemm chosen, ran;
    size_t bytes = 1;
    bitcut_gemm_init(&ran, sizeof ran);
    bitcut_gemm_init(&chosen, sizeof chosen);
    if (bitcut_gemm_choose(&chosen, device, &t->g, why)) ck_abort_msg("%s", why);
    expect(t, &chosen);
    const bool words = t->a.is.format == &formats[FORMAT_F32];
    if (prepare_a && words) free(a.at), a = prepare(t, BITCUT_A, &t->g.a);
    if (prepare_b && words) free(b.at), b = prepare(t, BITCUT_B, &t->g.b);
    ck_assert_int_eq(bitcut_gemm_workspace(&bytes, device, &t->g, NULL), BITCUT_OK);
    ck_assert(words || !bytes);
    bytes *= at_a_time;
    const struct block workspace = block_make(bytes);
    if (bitcut_gemm_start(&ran, device, &t->g, workspace.at, bytes, NULL, why))
        ck_abort_msg("%s", why);
    check_ran(&ran, &chosen);
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
                    1 + below(&state, 3));
        trial_end(&t);
    }
    bitcut_device_close(device);
}
END_TEST

/* --- batches ---------------------------------------------------------------------- */

/* `count` GEMMs of one element each, 1 x 1 into d[]. */
static struct bitcut_gemm ones(size_t count, const uint32_t *one, uint32_t *d)
{
    struct bitcut_gemm g;
    bitcut_gemm_init(&g, sizeof g);
    g.recipe = bitcut_recipe_find("ootomo");
    g.count = count;
    g.m = g.n = g.k = 1;
    g.a.at = g.b.at = one;
    g.d = (struct bitcut_matrix){ .to = d, .stride = 1 };
    return g;
}

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

/* --- which kernel ----------------------------------------------------------------- */

static const struct {
    const char *device, *recipe, *split, *on;
    int promote, low_low;
    bool any_promotion;
    int slices;
    size_t m;
    bool small;
    const char *kernel, *unit; /* kernel: NULL: none, and unit is why */
} choices[] = {
#define OPEN -1, -1, false
#define MMA  "mma.m16n8k16.f32.f16"
    /* clang-format off */
    { "",       "ootomo", NULL,       NULL, OPEN,         0, 8,   false, "gemm.ootomo.f16",  "hopper/" MMA },
    { "",       "ootomo", "halfhalf", NULL, OPEN,         3, 8,   false, "gemm.ootomo.f16",  "hopper/" MMA },
    { "",       "ootomo", NULL,       NULL, 4, -1, false, 0, 8,   false, "vary.ootomo.f16",  "hopper/" MMA },
    { "",       "ootomo", NULL,       NULL, 1, 0, false,  0, 8,   false, "gemm.ootomo.f16",  "hopper/" MMA },
    { "",       "ootomo", NULL,       NULL, -1, -1, true, 0, 8,   false, "vary.ootomo.f16",  "hopper/" MMA },
    { "",       "ootomo", NULL,       NULL, 2, -1, false, 0, 8,   false, NULL, "gemm.ootomo.f16 promotes after 1 instructions (0: never), not 2" },
    { "",       "ootomo", NULL,       NULL, -1, 1, false, 0, 8,   false, NULL, "gemm.ootomo.f16 has 3 terms and no tiles of k" },
    { "",       "plain",  NULL,       NULL, OPEN,         0, 32,  false, "small.plain.f16",  "hopper/wgmma.m64n8k16.f32.f16" },
    { "",       "plain",  NULL,       "hopper/" MMA, OPEN, 0, 32, false, "gemm.plain.f16",   "hopper/" MMA },
    { "",       "plain",  NULL,       "ampere/" MMA, OPEN, 0, 32, false, NULL, "gemm.plain.tf32 runs on hopper/mma.m16n8k8.f32.tf32, not ampere/" MMA },
    { "",       "plain",  NULL,       NULL, OPEN,         0, 33,  false, "gemm.plain.f16",   "hopper/" MMA },
    { "",       "plain",  "half",     NULL, OPEN,         1, 8,   false, "small.plain.f16",  "hopper/wgmma.m64n8k16.f32.f16" },
    { "",       "plain",  "tf32",     NULL, OPEN,         1, 8,   false, "gemm.plain.tf32",  "hopper/mma.m16n8k8.f32.tf32" },
    { "ampere", "plain",  NULL,       NULL, OPEN,         0, 8,   false, "gemm.plain.f16",   "ampere/" MMA },
    { "ampere", "plain",  NULL,       NULL, OPEN,         0, 512, false, "old.plain.f16",    "ampere/" MMA },
    { "ampere", "tf32x3", NULL,       NULL, OPEN,         0, 8,   false, "gemm.tf32x3.tf32", "ampere/mma.m16n8k8.f32.tf32" },
    { "",       "plain",  NULL,       NULL, OPEN,         0, 3,   true,  "batch.mma.16",     "hopper/" MMA },
    { "",       "plain",  NULL,       NULL, OPEN,         0, 17,  true,  "batch.mma.64",     "hopper/" MMA },
    { "ampere", "plain",  NULL,       NULL, OPEN,         0, 17,  true,  "batch.old.64",     "ampere/" MMA },
    { "",       "plain",  NULL,       NULL, OPEN,         0, 65,  true,  NULL, "batch.mma.64 takes m, n and k up to 64" },
    { "",       "fp32",   NULL,       NULL, OPEN,         0, 8,   true,  "batch.fma.64",     "fma/f32" },
    { "",       "fp32",   NULL,       NULL, OPEN,         0, 8,   false, NULL, "there is no kernel for recipe fp32 and matrices of f32; they take f32, or small ones of f16" },
    /* clang-format on */
};

START_TEST(kernels_chosen)
{
    for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++) {
        const struct bitcut_format *f =
            &formats[choices[i].small ? FORMAT_F16 : FORMAT_F32];
        char why[BITCUT_TEXT_MOST] = "";
        struct bitcut_gemm g;
        bitcut_gemm_init(&g, sizeof g);
        g.recipe = bitcut_recipe_find(choices[i].recipe);
        g.split_a = g.split_b = bitcut_split_find(choices[i].split);
        g.unit = choices[i].on ? bitcut_unit_find(choices[i].on, NULL) : NULL;
        g.promote = choices[i].promote;
        g.low_low = choices[i].low_low;
        g.any_promotion = choices[i].any_promotion;
        g.order.slices = choices[i].slices;
        g.m = choices[i].m;
        g.n = g.k = 8;
        g.a.format = g.b.format = g.c.format = g.d.format = f;
        setenv("DEVICE_FAULT", choices[i].device, 1);
        device_open();
        ck_assert_str_eq(bitcut_device_name(device), "Models");
        const enum bitcut_status status = bitcut_gemm_choose(&g, device, &g, why);
        if (!choices[i].kernel) {
            ck_assert_int_ne(status, BITCUT_OK);
            ck_assert_str_eq(why, choices[i].unit);
        } else {
            if (status != BITCUT_OK) ck_abort_msg("row %zu: %s", i, why);
            ck_assert_str_eq(g.kernel, choices[i].kernel);
            ck_assert_str_eq(bitcut_unit_name(g.unit), choices[i].unit);
        }
        bitcut_device_close(device);
    }
}
END_TEST

/* --- refusals --------------------------------------------------------------------- */

/* A call that is good before it is spoiled. */
struct call {
    struct bitcut_gemm g;
    char *workspace;
    size_t bytes;
};

static const size_t huge = (size_t)1 << 62; /* bytes of so many elements do not fit */
static const void *const pointers[3];

#define SPOIL(name, what)                                                                \
    static void name(struct call *x) { what; }

/* Small GEMMs of f16 matrices. */
static void make_small(struct call *x, const char *kernel)
{
    static const struct bitcut_format *const f16 = &formats[FORMAT_F16];
    x->g.recipe = NULL;
    x->g.kernel = kernel;
    x->g.a.format = x->g.b.format = x->g.c.format = x->g.d.format = f16;
}

SPOIL(no_recipe, x->g.recipe = NULL)
SPOIL(old_struct, x->g.size = 8)
SPOIL(new_struct, x->g.size++)
SPOIL(no_kernel_row, x->g.recipe = bitcut_recipe_find("feng"))
SPOIL(unknown_kernel, x->g.kernel = "gemm.ootomo")
SPOIL(other_recipe, x->g.kernel = "gemm.plain.f16")
SPOIL(kernel_and_unit, (x->g.kernel = "gemm.ootomo.f16",
                        x->g.unit = bitcut_unit_find("hopper/" MMA, NULL)))
SPOIL(old_kernel, (x->g.recipe = NULL, x->g.kernel = "old.plain.f16"))
SPOIL(big_kernel, (x->g.recipe = NULL, x->g.kernel = "big.plain.f16"))
SPOIL(liar, (x->g.recipe = NULL, x->g.kernel = "liar.legemm.f16"))
SPOIL(low_liar, (x->g.recipe = NULL, x->g.kernel = "liar.markidis.f16"))
SPOIL(no_row, (x->g.recipe = NULL, x->g.kernel = "liar.noname.f16"))
SPOIL(small_kernel, (x->g.recipe = NULL, x->g.kernel = "small.plain.f16", x->g.k = 33))
SPOIL(one_word, x->g.split_a = x->g.split_b = bitcut_split_find("half"))
SPOIL(one_word_of_b, x->g.split_b = bitcut_split_find("half"))
SPOIL(other_words, x->g.split_a = x->g.split_b = bitcut_split_find("tf32tf32"))
SPOIL(no_words, (x->g.recipe = bitcut_recipe_find("plain"),
                 x->g.split_a = x->g.split_b = bitcut_split_find("f32")))
SPOIL(mixed_scales, (x->g.recipe = bitcut_recipe_find("tf32x3"),
                     x->g.split_a = x->g.split_b = bitcut_split_find("halfhalf")))
SPOIL(negative_slices, x->g.order.slices = -1)
SPOIL(many_slices, x->g.order.slices = 4)
SPOIL(tiles, x->g.tile_k = 32)
SPOIL(lanes, x->g.order.lanes = 2)
SPOIL(rest_first, x->g.order.rest_first = true)
SPOIL(long_tiles, (x->g.order.slices = 2, x->g.order.tile = 32))
SPOIL(tree, (x->g.order.slices = 2, x->g.order.reduction = BITCUT_TREE))
SPOIL(short_a, x->g.a.ld--)
SPOIL(short_a_turned, (x->g.a.layout = BITCUT_COLUMN_MAJOR, x->g.m = 13, x->g.a.ld = 12))
SPOIL(short_b, x->g.b.ld--)
SPOIL(short_c, x->g.c.ld--)
SPOIL(short_d, x->g.d.ld--)
SPOIL(huge_a, (x->g.m = huge))
SPOIL(huge_b, (x->g.m = 0, x->g.n = huge))
SPOIL(huge_slices, (x->g.m = x->g.n = (size_t)1 << 30, x->g.order.slices = 3))
SPOIL(huge_lda, x->g.a.ld = huge)
SPOIL(largest_lda, (x->g.m = 2, x->g.a.ld = SIZE_MAX))
SPOIL(huge_ldd, x->g.d.ld = huge)
SPOIL(no_a, x->g.a.at = NULL)
SPOIL(no_b, x->g.b.at = NULL)
SPOIL(no_c, x->g.c.at = NULL)
SPOIL(no_d, x->g.d.at = NULL)
SPOIL(odd_b, x->g.b.at = (const char *)x->g.b.at + 2)
SPOIL(other_format, x->g.b.format = &formats[FORMAT_F16])
SPOIL(all_bf16, x->g.a.format = x->g.b.format = x->g.c.format = x->g.d.format =
                    &formats[FORMAT_BF16])
SPOIL(by_pointers_too, x->g.a.each = pointers)
SPOIL(wide_c, (x->g.c.at = x->g.d.at, x->g.c.ld++))
SPOIL(turned_c,
      (x->g.c.at = x->g.d.at, x->g.c.layout = BITCUT_COLUMN_MAJOR, x->g.c.ld = x->g.m))
SPOIL(odd_words, x->g.a.words = x->workspace + 128)
SPOIL(odd_words_stride, (x->g.a.words = x->workspace, x->g.a.words_stride = 128))
SPOIL(huge_stride_a, (x->g.count = 9, x->g.a.stride = huge))
SPOIL(huge_stride_b, (x->g.count = 9, x->g.b.stride = huge))
SPOIL(huge_stride_c, (x->g.count = 9, x->g.c.stride = huge))
SPOIL(huge_stride_d, (x->g.count = 9, x->g.d.stride = huge))
SPOIL(huge_stride_words,
      (x->g.count = 9, x->g.a.words = x->workspace, x->g.a.words_stride = huge))
SPOIL(one_d, (x->g.count = 2, x->g.d.stride = 0))
SPOIL(overlapping_d, (x->g.count = 2, x->g.d.stride--))
SPOIL(crossing_d, (x->g.count = 3, x->g.d.stride = x->g.n, x->g.d.ld = 3 * x->g.n - 1))
SPOIL(other_stride_c, (x->g.count = 2, x->g.c.at = x->g.d.at, x->g.c.stride++))
SPOIL(small_workspace, x->bytes--)
SPOIL(no_workspace, x->workspace = NULL)
SPOIL(odd_workspace, x->workspace += 128)
SPOIL(old_batch, make_small(x, "batch.old.64"))
SPOIL(big_batch, make_small(x, "batch.big.64"))
SPOIL(small_batch, (make_small(x, "batch.mma.16"), x->g.k = 17))
SPOIL(large_m, (make_small(x, "batch.fma.64"), x->g.m = 65))
SPOIL(huge_n, (make_small(x, "batch.fma.64"), x->g.n = SIZE_MAX))
SPOIL(sliced_batch, (make_small(x, "batch.mma.64"), x->g.order.slices = 2))
SPOIL(scaled_batch, (make_small(x, "batch.mma.64"), x->g.equilibrate = true))
SPOIL(flushed_batch,
      (make_small(x, "batch.mma.64"), x->g.high = bitcut_rounding_find("rn-ftz")))
SPOIL(prepared_batch, (make_small(x, "batch.mma.64"), x->g.a.words = x->workspace))
SPOIL(mixed_batch, (make_small(x, "batch.mma.64"), x->g.c.layout = BITCUT_COLUMN_MAJOR,
                    x->g.c.ld = x->g.m))
SPOIL(odd_pointers, (make_small(x, "batch.mma.64"),
                     x->g.a.each = (const void *const *)((const char *)pointers + 2)))
SPOIL(odd_f16, (make_small(x, "batch.mma.64"), x->g.b.at = (const char *)x->g.b.at + 1))
SPOIL(wide_each_c,
      (make_small(x, "batch.mma.64"), x->g.c.each = x->g.d.each = pointers, x->g.c.ld++))
SPOIL(overlapping_f16, (make_small(x, "batch.mma.64"), x->g.count = 2, x->g.d.stride--))

#define WORDS_STRIDE "A: the stride of words is no multiple of 256 below 2^64"
#define D_IS_C       "D is C with another leading dimension, stride, layout or format"
#define OVERLAP      "matrices of D overlap by their stride"
#define K_ASCENDING  "gemm.ootomo.f16 takes k ascending, in slices of whole k-steps"

static const struct refusal {
    void (*spoil)(struct call *x);
    enum bitcut_status status;
    const char *why;
} refusals[] = {
    /* clang-format off */
    { no_recipe,         BITCUT_BAD_ARGUMENT, "neither recipe nor kernel" },
    { old_struct,        BITCUT_BAD_ARGUMENT, "a GEMM of 8 bytes is not one of this library: bitcut_gemm_init() sets the size" },
    { new_struct,        BITCUT_BAD_ARGUMENT, NULL },
    { no_kernel_row,     BITCUT_CANNOT,       "there is no kernel for recipe feng and matrices of f32; they take f32, or small ones of f16" },
    { unknown_kernel,    BITCUT_BAD_ARGUMENT, "there is no kernel gemm.ootomo" },
    { other_recipe,      BITCUT_BAD_ARGUMENT, "gemm.plain.f16 computes recipe plain, not ootomo" },
    { kernel_and_unit,   BITCUT_BAD_ARGUMENT, "a unit or a kernel, not both" },
    { old_kernel,        BITCUT_CANNOT,       "old.plain.f16 does not run on Models" },
    { big_kernel,        BITCUT_CANNOT,       "big.plain.f16 does not run on Models" },
    { liar,              BITCUT_CANNOT,       "liar.legemm.f16 has not the terms of recipe legemm" },
    { low_liar,          BITCUT_CANNOT,       "liar.markidis.f16 has not the terms of recipe markidis" },
    { no_row,            BITCUT_CANNOT,       "liar.noname.f16 names a recipe that there is not: noname" },
    { small_kernel,      BITCUT_BAD_ARGUMENT, "small.plain.f16 takes m, n and k up to 32" },
    { one_word,          BITCUT_BAD_ARGUMENT, "recipe ootomo needs more words than half has" },
    { one_word_of_b,     BITCUT_BAD_ARGUMENT, "recipe ootomo needs more words than half has" },
    { other_words,       BITCUT_BAD_ARGUMENT, "gemm.ootomo.f16 takes 2 words of f16, not 2 of tf32" },
    { no_words,          BITCUT_BAD_ARGUMENT, "gemm.plain.tf32 takes 1 words of tf32, not 1 of f32" },
    { mixed_scales,      BITCUT_BAD_ARGUMENT, "recipe tf32x3 adds words of different scale; use a split with s = 0" },
    { negative_slices,   BITCUT_BAD_ARGUMENT, "counts cannot be negative" },
    { many_slices,       BITCUT_BAD_ARGUMENT, "gemm.ootomo.f16 takes 1 to 3 slices of k" },
    { tiles,             BITCUT_BAD_ARGUMENT, "gemm.ootomo.f16 has 3 terms and no tiles of k" },
    { lanes,             BITCUT_CANNOT,       K_ASCENDING },
    { rest_first,        BITCUT_CANNOT,       K_ASCENDING },
    { long_tiles,        BITCUT_CANNOT,       K_ASCENDING },
    { tree,              BITCUT_CANNOT,       K_ASCENDING },
    { short_a,           BITCUT_BAD_ARGUMENT, "A: leading dimension 10 is below the row length, 11" },
    { short_a_turned,    BITCUT_BAD_ARGUMENT, "A: leading dimension 12 is below the column length, 13" },
    { short_b,           BITCUT_BAD_ARGUMENT, "B: leading dimension 4 is below the row length, 5" },
    { short_c,           BITCUT_BAD_ARGUMENT, "C: leading dimension 4 is below the row length, 5" },
    { short_d,           BITCUT_BAD_ARGUMENT, "D: leading dimension 4 is below the row length, 5" },
    { huge_a,            BITCUT_BAD_ARGUMENT, "the workspace does not fit any memory" },
    { huge_b,            BITCUT_BAD_ARGUMENT, "the workspace does not fit any memory" },
    { huge_slices,       BITCUT_BAD_ARGUMENT, "the workspace does not fit any memory" },
    { largest_lda,       BITCUT_BAD_ARGUMENT, "A does not fit any memory" },
    { huge_lda,          BITCUT_BAD_ARGUMENT, "A does not fit any memory" },
    { huge_ldd,          BITCUT_BAD_ARGUMENT, "D does not fit any memory" },
    { no_a,              BITCUT_BAD_ARGUMENT, "A is missing" },
    { no_b,              BITCUT_BAD_ARGUMENT, "B is missing" },
    { no_c,              BITCUT_BAD_ARGUMENT, "C is missing" },
    { no_d,              BITCUT_BAD_ARGUMENT, "D is missing" },
    { odd_b,             BITCUT_BAD_ARGUMENT, "B is not aligned to 4 bytes" },
    { other_format,      BITCUT_BAD_ARGUMENT, "gemm.ootomo.f16 takes A, B, C and D of f32; B is of f16" },
    { all_bf16,          BITCUT_CANNOT,       "there is no kernel for recipe ootomo and matrices of bf16; they take f32, or small ones of f16" },
    { by_pointers_too,   BITCUT_BAD_ARGUMENT, "gemm.ootomo.f16 takes no pointers to matrices" },
    { wide_c,            BITCUT_BAD_ARGUMENT, D_IS_C },
    { turned_c,          BITCUT_BAD_ARGUMENT, D_IS_C },
    { odd_words,         BITCUT_BAD_ARGUMENT, "A: not aligned to 256 bytes" },
    { odd_words_stride,  BITCUT_BAD_ARGUMENT, WORDS_STRIDE },
    { huge_stride_a,     BITCUT_BAD_ARGUMENT, "A does not fit any memory" },
    { huge_stride_b,     BITCUT_BAD_ARGUMENT, "B does not fit any memory" },
    { huge_stride_c,     BITCUT_BAD_ARGUMENT, "C does not fit any memory" },
    { huge_stride_d,     BITCUT_BAD_ARGUMENT, "D does not fit any memory" },
    { huge_stride_words, BITCUT_BAD_ARGUMENT, WORDS_STRIDE },
    { one_d,             BITCUT_BAD_ARGUMENT, OVERLAP },
    { overlapping_d,     BITCUT_BAD_ARGUMENT, OVERLAP },
    { crossing_d,        BITCUT_BAD_ARGUMENT, OVERLAP },
    { other_stride_c,    BITCUT_BAD_ARGUMENT, D_IS_C },
    { small_workspace,   BITCUT_BAD_ARGUMENT, "a workspace of 2815 bytes, not of 2816" },
    { no_workspace,      BITCUT_BAD_ARGUMENT, "workspace: missing" },
    { odd_workspace,     BITCUT_BAD_ARGUMENT, "workspace: not aligned to 256 bytes" },
    { old_batch,         BITCUT_CANNOT,       "batch.old.64 does not run on Models" },
    { big_batch,         BITCUT_CANNOT,       "batch.big.64 does not run on Models" },
    { small_batch,       BITCUT_BAD_ARGUMENT, "batch.mma.16 takes m, n and k up to 16" },
    { large_m,           BITCUT_BAD_ARGUMENT, "batch.fma.64 takes m, n and k up to 64" },
    { huge_n,            BITCUT_BAD_ARGUMENT, "batch.fma.64 takes m, n and k up to 64" },
    { sliced_batch,      BITCUT_BAD_ARGUMENT, "batch.mma.64 takes 1 to 1 slices of k" },
    { scaled_batch,      BITCUT_BAD_ARGUMENT, "batch.mma.64 does not equilibrate" },
    { flushed_batch,     BITCUT_BAD_ARGUMENT, "batch.mma.64 reads all values as they are" },
    { prepared_batch,    BITCUT_BAD_ARGUMENT, "batch.mma.64 takes no words" },
    { mixed_batch,       BITCUT_BAD_ARGUMENT, "batch.mma.64 takes C and D of one layout" },
    { odd_pointers,      BITCUT_BAD_ARGUMENT, "A is not aligned to 8 bytes" },
    { odd_f16,           BITCUT_BAD_ARGUMENT, "B is not aligned to 2 bytes" },
    { wide_each_c,       BITCUT_BAD_ARGUMENT, D_IS_C },
    { overlapping_f16,   BITCUT_BAD_ARGUMENT, OVERLAP },
    /* clang-format on */
};

enum { M = 6, N = 5, K = 11 };

static struct bitcut_gemm good_gemm(const uint32_t *a, const uint32_t *b,
                                    const uint32_t *c, uint32_t *d)
{
    struct bitcut_gemm g;
    bitcut_gemm_init(&g, sizeof g);
    g.recipe = bitcut_recipe_find("ootomo");
    g.m = M;
    g.n = N;
    g.k = K;
    g.beta = F32_ONE;
    g.a = (struct bitcut_matrix){ .at = a, .ld = K };
    g.b = (struct bitcut_matrix){ .at = b, .ld = N };
    g.c = (struct bitcut_matrix){ .at = c, .ld = N, .stride = M * N };
    g.d = (struct bitcut_matrix){ .to = d, .ld = N, .stride = M * N };
    return g;
}

START_TEST(calls_refused)
{
    static const uint32_t a[M * K], b[K * N], c[M * N];
    uint32_t d[M * N];
    char why[BITCUT_TEXT_MOST];
    const struct block workspace = block_make(4096);
    device_open();
    memset(d, FILL, sizeof d);
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        struct call x = { good_gemm(a, b, c, d), (char *)workspace.at, 0 };
        snprintf(why, sizeof why, "%s", "");
        ck_assert_int_eq(bitcut_gemm_workspace(&x.bytes, device, &x.g, why), BITCUT_OK);
        ck_assert_str_eq(why, "");
        refusals[i].spoil(&x);
        const enum bitcut_status status =
            bitcut_gemm_start(NULL, device, &x.g, x.workspace, x.bytes, NULL, why);
        if (status != refusals[i].status)
            ck_abort_msg("row %zu: %s: %s", i, bitcut_status_text(status), why);
        if (refusals[i].why) ck_assert_str_eq(why, refusals[i].why);
        ck_assert_int_eq(
            bitcut_gemm_start(NULL, device, &x.g, x.workspace, x.bytes, NULL, NULL),
            refusals[i].status);
        for (size_t e = 0; e < M * N; e++) ck_assert_uint_eq(d[e], 0xa5a5a5a5);
        for (size_t e = 0; e < 4096; e++) ck_assert_uint_eq(workspace.at[e], FILL);
    }
    block_end(&workspace);
    bitcut_device_close(device);
}
END_TEST

/* A place for what ran is of a size that a library had; it is written as far as that. */
START_TEST(places_refused)
{
    static const uint32_t a[M * K], b[K * N], c[M * N];
    uint32_t d[M * N];
    char why[BITCUT_TEXT_MOST];
    const struct bitcut_gemm g = good_gemm(a, b, c, d);
    struct bitcut_gemm ran = { .size = 0 };
    device_open();
    ck_assert_int_eq(bitcut_gemm_choose(&ran, device, &g, why), BITCUT_BAD_ARGUMENT);
    ck_assert_int_eq(bitcut_gemm_choose(NULL, device, &g, why), BITCUT_BAD_ARGUMENT);
    ck_assert_int_eq(bitcut_gemm_choose(&ran, NULL, &g, why), BITCUT_BAD_ARGUMENT);
    ck_assert_int_eq(bitcut_gemm_workspace(NULL, device, &g, why), BITCUT_BAD_ARGUMENT);
    ck_assert_ptr_null(ran.kernel);
    bitcut_device_close(device);
}
END_TEST

/* The device does not reach the memory. */
START_TEST(memory_refused)
{
    static const uint32_t a[M * K], b[K * N], c[M * N];
    uint32_t d[M * N];
    char why[BITCUT_TEXT_MOST];
    const struct block workspace = block_make(4096);
    struct bitcut_gemm g = good_gemm(a, b, c, d);
    setenv("DEVICE_FAULT", "far memory", 1);
    device_open();
    ck_assert_int_eq(bitcut_gemm_start(NULL, device, &g, workspace.at, 4096, NULL, why),
                     BITCUT_BAD_ARGUMENT);
    ck_assert_str_eq(why, "A is far away");
    ck_assert_int_eq(bitcut_gemm_prepare(workspace.at, device, &g, BITCUT_B, NULL, why),
                     BITCUT_BAD_ARGUMENT);
    ck_assert_str_eq(why, "B is far away");
    g.k = 0;
    g.beta = 0;
    ck_assert_int_eq(bitcut_gemm_start(NULL, device, &g, workspace.at, 4096, NULL, why),
                     BITCUT_BAD_ARGUMENT);
    ck_assert_str_eq(why, "D is far away");
    g.m = 0;
    ck_assert_int_eq(bitcut_gemm_start(NULL, device, &g, NULL, 0, NULL, why), BITCUT_OK);
    bitcut_device_close(device);
    unsetenv("DEVICE_FAULT");
    block_end(&workspace);
}
END_TEST

/* Matrices of D as near as they may be, and what is empty, wherever it is. */
START_TEST(calls_taken)
{
    enum { ROWS = 2, COLUMNS = 3, BATCH = 3 };
    const uint32_t one[COLUMNS] = { F32_ONE, F32_ONE, F32_ONE };
    uint32_t d[BATCH * ROWS * COLUMNS];
    char why[BITCUT_TEXT_MOST] = "";
    struct bitcut_gemm g = ones(BATCH, one, d);
    const struct block workspace = block_make(4096);
    g.m = ROWS;
    g.n = COLUMNS;
    g.d.ld = BATCH * COLUMNS;
    g.d.stride = COLUMNS;
    device_open();
    memset(d, FILL, sizeof d);
    if (bitcut_gemm_start(NULL, device, &g, workspace.at, 4096, NULL, why))
        ck_abort_msg("%s", why);
    for (int i = 0; i < BATCH * ROWS * COLUMNS; i++) ck_assert_uint_eq(d[i], F32_ONE);
    g.m = 0;
    g.beta = F32_ONE;
    g.d.at = NULL;
    if (bitcut_gemm_start(NULL, device, &g, workspace.at, 4096, NULL, why))
        ck_abort_msg("%s", why);
    bitcut_device_close(device);
    block_end(&workspace);
}
END_TEST

/* Words that cannot be prepared. */
START_TEST(words_refused)
{
    static const uint32_t a[M * K];
    struct bitcut_gemm g = good_gemm(a, NULL, NULL, NULL);
    char why[BITCUT_TEXT_MOST];
    const struct block words = block_make(4096);
    static const struct {
        size_t offset, ld;
        bool there;
        const char *why;
    } refused[] = {
        { 0, 10, true, "A: leading dimension 10 is below the row length, 11" },
        { 0, 11, false, "A is missing" },
        { 64, 11, true, "words: not aligned to 256 bytes" },
    };
    g.a.words = a;
    device_open();
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        g.a.at = refused[i].there ? a : NULL;
        g.a.ld = refused[i].ld;
        ck_assert_int_eq(bitcut_gemm_prepare(words.at + refused[i].offset, device, &g,
                                             BITCUT_A, NULL, why),
                         BITCUT_BAD_ARGUMENT);
        ck_assert_str_eq(why, refused[i].why);
    }
    g.a.at = a;
    ck_assert_int_eq(bitcut_gemm_prepare(NULL, device, &g, BITCUT_A, NULL, why),
                     BITCUT_BAD_ARGUMENT);
    ck_assert_str_eq(why, "words: missing");
    ck_assert_uint_eq(words.at[64], FILL);
    block_end(&words);
    bitcut_device_close(device);
}
END_TEST

/* --- devices ---------------------------------------------------------------------- */

START_TEST(devices_refused)
{
    static const struct {
        const char *name, *modules, *fault;
        enum bitcut_status status;
        const char *why;
    } refused[] = {
        { "cuda", "nowhere", "", BITCUT_CANNOT,
          "no GPU backend: bitcut-cuda.so is not in nowhere (built only "
          "where nvcc is found; BITCUT_MODULES names another folder)" },
        { "cuda", models, "absent", BITCUT_CANNOT, "no device: nobody is there" },
        { "cuda:2", models, "", BITCUT_CANNOT, "no device: there are two" },
        { "cuda", models, "future", BITCUT_CANNOT,
          "Models has compute capability 99.0, of no architecture known" },
        { "hip", models, "", BITCUT_CANNOT, "hip: not built in" },
        { "host", models, "", BITCUT_CANNOT, "host: not built in" },
        { "gpu", models, "", BITCUT_BAD_ARGUMENT,
          "gpu: no device is called so, but cuda, cuda:1, ..." },
        { "cuda:", models, "", BITCUT_BAD_ARGUMENT,
          "cuda:: no device is called so, but cuda, cuda:1, ..." },
        { "cuda:1x", models, "", BITCUT_BAD_ARGUMENT,
          "cuda:1x: no device is called so, but cuda, cuda:1, ..." },
    };
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        char why[BITCUT_TEXT_MOST];
        setenv("BITCUT_MODULES", refused[i].modules, 1);
        setenv("DEVICE_FAULT", refused[i].fault, 1);
        device = NULL;
        ck_assert_int_eq(bitcut_device_open(&device, refused[i].name, why),
                         refused[i].status);
        ck_assert_str_eq(why, refused[i].why);
        ck_assert_int_eq(bitcut_device_open(&device, refused[i].name, NULL),
                         refused[i].status);
        ck_assert_ptr_null(device);
    }
    bitcut_device_close(NULL);
}
END_TEST

START_TEST(devices_numbered)
{
    setenv("BITCUT_MODULES", models, 1);
    ck_assert_int_eq(bitcut_device_open(&device, "cuda:1", NULL), BITCUT_OK);
    ck_assert_str_eq(bitcut_device_name(device), "More models");
    bitcut_device_close(device);
}
END_TEST

START_TEST(device_fails)
{
    uint32_t one = F32_ONE, d;
    char why[BITCUT_TEXT_MOST];
    struct bitcut_gemm g = ones(1, &one, &d);
    const struct block workspace = block_make(256);
    setenv("DEVICE_FAULT", "breaks", 1);
    device_open();
    g.recipe = bitcut_recipe_find("plain");
    ck_assert_int_eq(bitcut_gemm_start(NULL, device, &g, workspace.at, 256, NULL, why),
                     BITCUT_CANNOT);
    ck_assert_str_eq(why, "small.plain.f16: it broke");
    g.a.format = g.b.format = g.d.format = &formats[FORMAT_F16];
    ck_assert_int_eq(bitcut_gemm_start(NULL, device, &g, NULL, 0, NULL, why),
                     BITCUT_CANNOT);
    ck_assert_str_eq(why, "batch.tiny.3: it broke");
    block_end(&workspace);
    bitcut_device_close(device);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = { agrees_with_emulator,
                                   batches_go_together,
                                   batches_are_parted,
                                   kernels_chosen,
                                   calls_refused,
                                   places_refused,
                                   memory_refused,
                                   calls_taken,
                                   words_refused,
                                   devices_refused,
                                   devices_numbered,
                                   device_fails,
                                   NULL };
    if (access("tests/.libs/bitcut-cuda.so", F_OK) == 0) return test_run("cuda", tests);
    puts("1..0 # SKIP no shared library");
    return 0;
}
