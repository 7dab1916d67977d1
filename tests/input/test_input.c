/* SPDX-License-Identifier: BSD-3-Clause */
/* Input families: common properties of all families, and recorded digests. */
#include "tests/input/input_matrix.h"
#include "tests/test.h"

#include <fenv.h>
#include <math.h>
#include <string.h>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

/* The top left corner of `big` is `m`. */
static void check_corner(const char *text, const char *how, const struct matrix *m,
                         const struct matrix *big)
{
    for (size_t i = 0; i < m->rows; i++)
        for (size_t j = 0; j < m->cols; j++) {
            const uint32_t want = m->at[i * m->cols + j];
            const uint32_t got = big->at[i * big->cols + j];
            if (got != want)
                ck_abort_msg("%s %s: (%zu, %zu): got 0x%08" PRIx32
                             " (%a), want 0x%08" PRIx32 " (%a)",
                             text, how, i, j, got, f32_value(got), want, f32_value(want));
        }
}

static bool same(const struct matrix *a, const struct matrix *b)
{
    return !memcmp(a->at, b->at, a->rows * a->cols * sizeof *a->at);
}

/* --- what every family must do ------------------------------------------------------ */

enum { ROWS = 12, COLS = 13 };

typedef void family_check(const char *name, enum input_role role, const struct matrix *m);

/* Call `check` with a ROWS x COLS matrix of every family, as A and as B. */
static void every_family(family_check *check)
{
    for (const struct input_family *p = inputs; p->name; p++)
        for (int role = INPUT_A; role <= INPUT_B; role++) {
            struct matrix m =
                input_filled(p->name, (enum input_role)role, 5, ROWS, COLS, 1);
            check(p->name, (enum input_role)role, &m);
            matrix_clear(&m);
        }
}

static void threads_check(const char *name, enum input_role role, const struct matrix *m)
{
    for (int threads = 0; threads <= 7; threads++) {
        struct matrix other = input_filled(name, role, 5, ROWS, COLS, threads);
        check_corner(name, "with other threads", m, &other);
        matrix_clear(&other);
    }
}

START_TEST(threads_do_not_matter) { every_family(threads_check); }
END_TEST

/* 0x8040: flush results to zero and take subnormal operands as zero. */
static void flush_set(bool flush)
{
#if defined(__SSE2__)
    _mm_setcsr(flush ? _mm_getcsr() | 0x8040 : _mm_getcsr() & ~0x8040u);
#else
    (void)flush;
#endif
}

static bool flush_is_set(void)
{
#if defined(__SSE2__)
    return (_mm_getcsr() & 0x8040) == 0x8040;
#else
    return true;
#endif
}

/* Set the mode of the thread that OpenMP will use beside this one, and of this one: some
   runtimes put back the mode of the calling thread when a parallel region ends. */
static void mode_set(int rounding, bool flush)
{
#pragma omp parallel num_threads(2)
    {
        fesetround(rounding);
        flush_set(flush);
    }
    fesetround(rounding);
    flush_set(flush);
}

static void modes_check(const char *name, enum input_role role, const struct matrix *m)
{
    static const int mode[] = { FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO };
    for (int i = 0; i < 4; i++) {
        mode_set(mode[i], true);
        struct matrix other = input_filled(name, role, 5, ROWS, COLS, 2);
        const bool kept = fegetround() == mode[i] && flush_is_set();
        mode_set(FE_TONEAREST, false);
        check_corner(name, "in another mode", m, &other);
        ck_assert_msg(kept, "%s: the caller's mode was changed", name);
        matrix_clear(&other);
    }
}

START_TEST(the_callers_mode_does_not_matter) { every_family(modes_check); }
END_TEST

/* The families of lib/input/torch_random.h, with tests of their own. */
static bool is_torch(const char *name) { return !strncmp(name, "torch_", 6); }

static void corner_check(const char *name, enum input_role role, const struct matrix *m)
{
    if (!strcmp(name, "spatial") || !strcmp(name, "gendot")) return; /* see their rows */
    if (is_torch(name)) return; /* one sequence in row-major order */
    struct matrix big = input_filled(name, role, 5, ROWS + 9, COLS + 30, 2);
    check_corner(name, "in a larger matrix", m, &big);
    matrix_clear(&big);
}

START_TEST(a_matrix_is_the_corner_of_a_larger_one) { every_family(corner_check); }
END_TEST

static bool is_random(const char *name)
{
    return strcmp(name, "const") && strcmp(name, "zeros") && strcmp(name, "cauchy") &&
           strcmp(name, "max_digits");
}

static void differs_check(const char *name, enum input_role role, const struct matrix *m)
{
    struct matrix seed = input_filled(name, role, 6, ROWS, COLS, 1);
    struct matrix far = input_filled(name, role, 5 + (UINT64_C(1) << 40), ROWS, COLS, 1);
    struct matrix other =
        input_filled(name, role == INPUT_A ? INPUT_B : INPUT_A, 5, ROWS, COLS, 1);
    ck_assert_msg(same(m, &seed) != is_random(name), "%s: seed", name);
    const bool by_role = is_random(name) && !is_torch(name);
    ck_assert_msg(same(m, &far) != by_role, "%s: upper half of the seed", name);
    ck_assert_msg(same(m, &other) != by_role, "%s: role", name);
    matrix_clear(&seed);
    matrix_clear(&far);
    matrix_clear(&other);
}

START_TEST(seed_and_role_matter) { every_family(differs_check); }
END_TEST

START_TEST(empty_matrices_are_filled)
{
    for (const struct input_family *p = inputs; p->name; p++) {
        struct matrix tall = input_filled(p->name, INPUT_A, 1, 5, 0, 0);
        struct matrix wide = input_filled(p->name, INPUT_B, 1, 0, 5, 0);
        matrix_clear(&tall);
        matrix_clear(&wide);
    }
}
END_TEST

/* --- recorded digests --------------------------------------------------------------- */

/* FNV-1a of the encodings, lowest byte first. */
static uint64_t digest_of(uint64_t digest, const struct matrix *m)
{
    for (size_t i = 0; i < m->rows * m->cols; i++)
        for (int byte = 0; byte < 4; byte++)
            digest = (digest ^ (m->at[i] >> 8 * byte & 0xff)) * 0x100000001b3;
    return digest;
}

/* Digests of a 24 x 25 A and a 25 x 24 B for seed 20260101. */
/* clang-format off */
static const struct {
    const char *text;
    uint64_t digest;
} recorded[] = {
    { "urand", 0xee0ce3b125537b25 },
    { "urand(0.1,0.7)", 0x70c1cd29f7500fa0 },
    { "nrand", 0x863c2d0a5589a72c },
    { "nrand(3,0.25)", 0xce965170ccc8b151 },
    { "exp_rand", 0x694b934ea5c9fc4f },
    { "phi", 0x1f52039ab2448552 },
    { "exp_rand(-100,-35)", 0x00056e736f9c93ed },
    { "positive", 0x655da61915b5536a },
    { "llm", 0xac2686a286765eab },
    { "alternating", 0xa5db0705a6dd1c6a },
    { "const", 0xc9e8e85c192f0aa5 },
    { "zeros", 0xd0549f149dd63a25 },
    { "integers", 0x8b9a0ace715d9d32 },
    { "ties", 0x19b9a009309bc68e },
    { "rz_worst", 0x66824bb3df91053e },
    { "subnormal", 0x054b091e325da606 },
    { "specials", 0x675da921524c4a8d },
    { "specials(3)", 0x187d79dab9cb2c1d },
    { "anybits", 0x18d856f30b72e4b4 },
    { "cauchy", 0xac7c5f7ad00e0ea9 },
    { "cauchy(0.5)", 0xa0e6f45fd6030498 },
    { "spatial", 0xbad450feefcbc674 },
    { "spatial(0.01)", 0xb87626bac8f2a3bd },
    { "randtlr", 0xa10f9eb595c4c15f },
    { "randtlr(7,0.7,2)", 0x9675573318fbc517 },
    { "gendot", 0x7138abff510b95e1 },
    { "gendot(1e30)", 0x961a70c02ab8e429 },
    { "graded", 0xc98493c7a01a402d },
    { "opposite", 0xb75f9f8ecddb68d9 },
    { "line_scaled", 0x63682a1cffdaf7b7 },
    { "all_ones", 0xec458094b0450f88 },
    { "cancelling", 0x8f7c8aed20e85fe9 },
    { "near_subnormal", 0x2134cff8a2b3c725 },
    { "max_digits", 0x626bba215e23fd65 },
    { "torch_rand", 0xcb27479fe8e8f271 },
    { "torch_randn", 0x6bfa1b50743863bd },
    { "torch_randint", 0x64559d8d8f8ec045 },
};
/* clang-format on */
enum { RECORDED = sizeof recorded / sizeof recorded[0] };

static uint64_t text_digest(const char *text)
{
    struct matrix a = input_filled(text, INPUT_A, 20260101, 24, 25, 0);
    struct matrix b = input_filled(text, INPUT_B, 20260101, 25, 24, 0);
    const uint64_t digest = digest_of(digest_of(0xcbf29ce484222325, &a), &b);
    matrix_clear(&a);
    matrix_clear(&b);
    return digest;
}

/* A changed bit on any host, compiler or library shows here. */
START_TEST(every_family_has_the_recorded_bits)
{
    for (int i = 0; i < RECORDED; i++) {
        const uint64_t digest = text_digest(recorded[i].text);
        if (digest != recorded[i].digest)
            ck_abort_msg("%s: digest 0x%016" PRIx64 ", recorded 0x%016" PRIx64,
                         recorded[i].text, digest, recorded[i].digest);
    }
    for (const struct input_family *p = inputs; p->name; p++) {
        bool found = false;
        for (int i = 0; i < RECORDED; i++) found |= !strcmp(recorded[i].text, p->name);
        if (!found)
            ck_abort_msg("record { \"%s\", 0x%016" PRIx64 " }", p->name,
                         text_digest(p->name));
    }
}
END_TEST

/* --- gendot: the vectors themselves are in test_gendot.c ---------------------------- */

/* |a|^T |b| / |a^T b| of row i of A and column j of B; binary64 is enough for 1 %. */
static double condition_of(const struct matrix *a, const struct matrix *b, size_t i,
                           size_t j)
{
    double sum = 0, size = 0;
    for (size_t k = 0; k < a->cols; k++) {
        const double product =
            f32_value(a->at[i * a->cols + k]) * f32_value(b->at[k * b->cols + j]);
        sum += product;
        size += fabs(product);
    }
    return size / fabs(sum);
}

/* Every element has the condition; rows of A are one vector but for signs and powers
   of two, columns of B are vectors of their own. */
START_TEST(gendot_fills_pairs)
{
    enum { M = 8, K = 40, N = 9 };
    struct matrix a = input_filled("gendot(1e6)", INPUT_A, 3, M, K, 0);
    struct matrix b = input_filled("gendot(1e6)", INPUT_B, 3, K, N, 0);
    for (size_t e = 0; e < M * N; e++) {
        const double condition = condition_of(&a, &b, e / N, e % N);
        if (!(fabs(condition / 1e6 - 1) < 0.01))
            ck_abort_msg("(%zu, %zu) has condition %g", e / N, e % N, condition);
    }
    bool scaled[2] = { false, false };
    for (size_t e = K; e < M * K; e++) {
        const double ratio = f32_value(a.at[e / K * K]) / f32_value(a.at[0]);
        scaled[ratio < 0] = true;
        check_element(f32_value(a.at[e]) == ratio * f32_value(a.at[e % K]), "gendot", &a,
                      e);
    }
    ck_assert(scaled[0] && scaled[1]);
    size_t alike = 0;
    for (size_t e = 0; e < K * N; e++)
        alike += e % N && (b.at[e] & 0x7fffff) == (b.at[e / N * N] & 0x7fffff);
    ck_assert_msg(alike < 5, "%zu significands of B are alike", alike);
    matrix_clear(&a);
    matrix_clear(&b);
}
END_TEST

START_TEST(gendot_says_when_k_is_too_small)
{
    const struct input in = input_parsed("gendot(1e30)");
    for (int role = INPUT_A; role <= INPUT_B; role++) {
        struct matrix m;
        struct fault f;
        matrix_init(&m, role == INPUT_A ? 50 : 10, role == INPUT_A ? 10 : 50, &f);
        ck_assert_int_eq(input_fill(&m, &in, (enum input_role)role, 1, 0, &f),
                         BITCUT_BAD_ARGUMENT);
        ck_assert_str_eq(f.text, "gendot: this condition number requires k of at least 11, "
                                 "found 10");
        matrix_clear(&m);
    }
}
END_TEST

START_TEST(dimensions_have_a_limit)
{
    const struct input in = input_parsed("urand");
    struct matrix m = { .rows = 0, .cols = (size_t)UINT32_MAX + 1 };
    struct fault f;
    if (m.cols == 0) return; /* size_t has 32 bits: no matrix is too large */
    ck_assert_int_eq(input_fill(&m, &in, INPUT_A, 1, 0, &f), BITCUT_BAD_ARGUMENT);
    ck_assert_str_eq(f.text, "inputs have at most 4294967295 rows and columns, found 0 x "
                             "4294967296");
}
END_TEST

/* Families of real numbers round to their FP32 values, and have more bits; other families
   have their FP32 values.  Any number of threads gives the same. */
START_TEST(f64_values_round_to_f32_values)
{
    enum { ROWS = 37, COLS = 23 };
    for (const struct input_family *family = inputs; family->name; family++) {
        static double x[ROWS * COLS], y[ROWS * COLS];
        struct input in = { .family = family };
        struct matrix m;
        struct fault f;
        size_t wide = 0;
        if (!strcmp(family->name, "gendot")) continue; /* needs a longer k */
        ck_assert_int_eq(input_parse(&in, family->name, &f), BITCUT_OK);
        ck_assert_int_eq(matrix_init(&m, ROWS, COLS, &f), BITCUT_OK);
        ck_assert_int_eq(input_fill(&m, &in, INPUT_B, 5, 1, &f), BITCUT_OK);
        ck_assert_int_eq(input_fill_f64(x, ROWS, COLS, &in, INPUT_B, 5, 1, &f), BITCUT_OK);
        ck_assert_int_eq(input_fill_f64(y, ROWS, COLS, &in, INPUT_B, 5, 3, &f), BITCUT_OK);
        ck_assert(!memcmp(x, y, sizeof x));
        for (int i = 0; i < ROWS * COLS; i++) {
            float narrow = (float)x[i];
            uint32_t bits;
            memcpy(&bits, &narrow, sizeof bits);
            if (strcmp(family->name, "exp_rand")) /* cut to FP32 there, not rounded */
                ck_assert_msg(bits == m.at[i] || x[i] != x[i], "%s: element %d: %a",
                              family->name, i, x[i]);
            wide += (double)narrow != x[i] && x[i] == x[i];
        }
        if (family->real && family->parameters && strcmp(family->name, "const"))
            ck_assert_msg(wide > ROWS * COLS / 2, "%s: %zu values of FP64", family->name,
                          wide);
        matrix_clear(&m);
    }
}
END_TEST

TEST_MAIN("input", f64_values_round_to_f32_values, threads_do_not_matter, the_callers_mode_does_not_matter,
          a_matrix_is_the_corner_of_a_larger_one, seed_and_role_matter,
          empty_matrices_are_filled, every_family_has_the_recorded_bits,
          gendot_fills_pairs, gendot_says_when_k_is_too_small, dimensions_have_a_limit)
