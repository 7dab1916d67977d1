/* SPDX-License-Identifier: BSD-3-Clause */
/* The engine compared with the independent definition of the units (tests/emu/spec.h):
   every row of the unit table on every class of inputs, bit for bit; and both compared
   with published and measured results. */
#include "analysis/evidence/field.h"
#include "analysis/evidence/sample.h"
#include "lib/number/bits.h"
#include "tests/emu/spec.h"
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

/* --- the comparison --------------------------------------------------------------- */

static uint64_t sample_spec(const struct bitcut_unit *u, const struct sample *s)
{
    return spec_dot(u, s->a, s->b, u->scale ? s->scale_a : NULL,
                    u->scale ? s->scale_b : NULL, s->c);
}

static void print_row(const char *name, const struct bitcut_format *f, const uint64_t *x,
                      int n)
{
    printf("# %s (%s):", name, f->name);
    for (int i = 0; i < n; i++) printf(" %0*" PRIx64, (f->bits + 3) / 4, x[i]);
    printf("\n");
}

static void print_result(const char *name, const struct bitcut_format *f, uint64_t x)
{
    printf("# %s %0*" PRIx64 " = %a\n", name, (f->bits + 3) / 4, x,
           format_to_double(f, x));
}

static void print_difference(const struct bitcut_unit *u, const struct sample *s,
                             uint64_t got, uint64_t want)
{
    print_row("a", u->a, s->a, u->k);
    print_row("b", u->b, s->b, u->k);
    if (u->scale) print_row("scales of a", u->scale, s->scale_a, sample_scales(u));
    if (u->scale) print_row("scales of b", u->scale, s->scale_b, sample_scales(u));
    print_result("c   ", u->c, s->c);
    print_result("got ", u->c, got);
    print_result("want", u->c, want);
}

/* About the same time for every row, whatever its k. */
static int sample_count(const struct bitcut_unit *u)
{
    const int products = test_cases(32000, 1250000);
    return products / (u->k + 4);
}

/* Compare a row on a class; returns how many outputs differ and prints the first. */
static int class_compare(const struct bitcut_unit *u, const struct sample_class *class,
                         uint64_t stream)
{
    const int count = class->scaled && !u->scale ? 0 : sample_count(u);
    struct rng rng = rng_start(test_seed(), stream);
    int differ = 0;
    for (int i = 0; i < count; i++) {
        struct sample s;
        class->fill(&s, u, &rng);
        const uint64_t got = sample_dot(u, &s), want = sample_spec(u, &s);
        if (got == want || differ++) continue;
        printf("# %s, class %s, index %d\n", u->name, class->name, i);
        print_difference(u, &s, got, want);
    }
    if (differ)
        printf("# %s, class %s: %d of %d differ\n", u->name, class->name, differ, count);
    fflush(stdout); /* a failed check ends the process without it */
    return differ;
}

START_TEST(engine_is_spec)
{
    uint64_t stream = 0;
    int differ = 0;
    for (const struct bitcut_unit *u = units; u->name; u++)
        for (const struct sample_class *class = sample_classes; class->name; class ++)
            differ += class_compare(u, class, stream++);
    ck_assert_int_eq(differ, 0);
}
END_TEST

/* --- rows beside the table's ------------------------------------------------------ */

enum { STEP_SAMPLES = 2 };

/* A row that differs from one of the table in one field, on a few samples of each class;
   false at the first difference, which is printed. */
static bool step_compare(const struct bitcut_unit *u, const struct field *f,
                         int64_t value, uint64_t stream)
{
    struct bitcut_unit changed = *u;
    struct rng rng = rng_start(test_seed(), stream);
    field_set(f, &changed, value);
    for (const struct sample_class *class = sample_classes; class->name; class ++)
        for (int i = 0; i < STEP_SAMPLES && (u->scale || !class->scaled); i++) {
            struct sample s;
            char text[64];
            class->fill(&s, u, &rng);
            const uint64_t got = sample_dot(&changed, &s), want = sample_spec(&changed, &s);
            if (got == want) continue;
            field_text(text, sizeof text, f, &changed, value);
            printf("# %s with %s %s, class %s\n", u->name, f->name, text, class->name);
            print_difference(&changed, &s, got, want);
            fflush(stdout);
            return false;
        }
    return true;
}

START_TEST(engine_is_spec_one_step_away)
{
    uint64_t stream = UINT64_C(1) << 32;
    int steps = 0, differ = 0;
    for (const struct bitcut_unit *u = units; u->name; u++) {
        ck_assert_msg(unit_sound(u), "%s is not sound", u->name);
        for (const struct field *f = fields; f->name; f++) {
            int64_t values[FIELD_VALUES_MAX];
            const int n = field_steps(values, f, u);
            steps += n;
            for (int i = 0; i < n; i += test_step(4))
                differ += !step_compare(u, f, values[i], stream++);
        }
    }
    printf("# %d steps\n", steps);
    ck_assert_int_eq(differ, 0);
}
END_TEST

/* --- known answers ---------------------------------------------------------------- */

static bool name_matches(const char *name, const char *begin, const char *end)
{
    const size_t n = strlen(name), m = strlen(end);
    return !strncmp(name, begin, strlen(begin)) && n >= m && !strcmp(name + n - m, end);
}

static void unit_scales(struct sample *s, const struct bitcut_unit *u)
{
    for (int i = 0; i < sample_scales(u); i++)
        s->scale_a[i] = s->scale_b[i] = (uint64_t)u->scale->bias << u->scale->fraction_bits;
}

/* The sum a b + c of the example; exactly -0.875 (MMA-Sim, arXiv 2511.10909). */
static const double example_a[4] = { -0x1p13, -0.5, -0.25, -0.125 };
static const double example_b[4] = { 0x1p10, 1, 1, 1 };
static const double example_c = 0x1p23;

/* Published results; bf16 on Hopper and Blackwell, which is not published, sums as f16,
   and Blackwell's mma of e5m2 as Hopper's.  Of two lines for a unit the first counts. */
static const struct {
    const char *begin, *end; /* of the unit's name */
    double d;
} example_answers[] = {
    { "volta/", ".f16", 0 },
    { "turing/", ".f16", -0.5 },
    { "ampere/", ".f16", -0.5 },
    { "ampere/", ".bf16", -0.5 },
    { "ampere/", ".tf32", -0.5 },
    { "ada/", ".f16", -0.5 },
    { "ada/", ".bf16", -0.5 },
    { "ada/", ".tf32", -0.5 },
    { "ada/", ".e5m2", 0 },
    { "hopper/", ".f16", -0.75 },
    { "hopper/", ".bf16", -0.75 },
    { "hopper/", ".tf32", -0.75 },
    { "hopper/", ".e5m2", 0 },
    { "blackwell/mma.", ".e5m2", 0 },
    { "blackwell/", ".f16", -0.75 },
    { "blackwell/", ".bf16", -0.75 },
    { "blackwell/", ".tf32", -0.75 },
    { "blackwell/", ".e5m2", -0.75 },
    { "rtx-blackwell/", ".f16", -0.75 },
    { "rtx-blackwell/", ".bf16", -0.75 },
    { "rtx-blackwell/", ".tf32", -0.75 },
    { "rtx-blackwell/", ".e5m2", -0.75 },
    { "cdna1/", ".f16", -0.875 },
    { "cdna1/", ".bf16", -0.875 },
    { "cdna2/", ".f16", 0 },
    { "cdna2/", ".bf16_1k", 0 },
    { "cdna2/", ".bf16", -0.375 },
    { "cdna3/", ".f16", -0.5 },
    { "cdna3/", ".bf16", -0.5 },
    { "cdna3/", ".bf8.bf8", -1.0 },
    { "", ".f64", -0.875 },
};

enum { EXAMPLE_ANSWERS = sizeof example_answers / sizeof example_answers[0] };

/* Encode x; false if the format does not have it. */
static bool encode_exactly(uint64_t *encoding, const struct bitcut_format *f, double x)
{
    *encoding = bitcut_format_convert(f, &roundings[ROUND_RN], &formats[FORMAT_F64],
                                      bits_of_double(x));
    return format_to_double(f, *encoding) == x;
}

/* The example from product `first` on, padded with zeros; false if not encodable. */
static bool example_fill(struct sample *s, const struct bitcut_unit *u, int first)
{
    memset(s, 0, sizeof *s);
    unit_scales(s, u);
    for (int k = 0; k < u->k && first + k < 4; k++)
        if (!encode_exactly(&s->a[k], u->a, example_a[first + k]) ||
            !encode_exactly(&s->b[k], u->b, example_b[first + k]))
            return false;
    return true;
}

typedef uint64_t dot(const struct bitcut_unit *u, const struct sample *s);

/* The example through as many instructions as four products need; false as above. */
static bool example_dot(uint64_t *d, const struct bitcut_unit *u, dot *f)
{
    if (!encode_exactly(d, u->c, example_c)) return false;
    for (int first = 0; first < 4; first += u->k) {
        struct sample s;
        if (!example_fill(&s, u, first)) return false;
        s.c = *d;
        *d = f(u, &s);
    }
    return true;
}

static int example_answer(const char *name)
{
    int i = 0;
    while (i < EXAMPLE_ANSWERS &&
           !name_matches(name, example_answers[i].begin, example_answers[i].end))
        i++;
    return i;
}

START_TEST(published_example)
{
    bool used[EXAMPLE_ANSWERS] = { false };
    for (const struct bitcut_unit *u = units; u->name; u++) {
        const int answer = example_answer(u->name);
        uint64_t want, spec, got;
        if (answer == EXAMPLE_ANSWERS || !example_dot(&spec, u, sample_spec)) continue;
        ck_assert(example_dot(&got, u, sample_dot));
        ck_assert(encode_exactly(&want, u->c, example_answers[answer].d));
        ck_assert_msg(spec == want, "%s: spec %" PRIx64 ", published %" PRIx64, u->name,
                      spec, want);
        ck_assert_msg(got == want, "%s: engine %" PRIx64 ", published %" PRIx64, u->name,
                      got, want);
        used[answer] = true;
    }
    for (int i = 0; i < EXAMPLE_ANSWERS; i++)
        ck_assert_msg(used[i], "no unit %s*%s", example_answers[i].begin,
                      example_answers[i].end);
}
END_TEST

/* Measured on an H200 with mma.sync and wgmma: every product is a b. */
static const struct {
    const char *begin, *end; /* of the unit's name */
    uint64_t a, b, c, d;
} measured[] = {
    /* carries do not wrap */
    { "hopper/", "k16.f32.f16", 0x3fff, 0x3fff, 0x3fffffff, 0x4283e001 },
    /* sums of negative zeros, and a negative sum that underflows */
    { "hopper/", ".f32.f16", 0x8000, 0x3c00, 0x80000000, 0 },
    { "hopper/", ".f16.f16", 0x8001, 0x0001, 0, 0 },
    /* NaN */
    { "hopper/", ".f32.f16", 0x7c01, 0x3c00, 0, 0x7fffffff },
    { "hopper/", ".f32.f16", 0x7c00, 0, 0, 0x7fffffff },
    { "hopper/", ".f16.f16", 0x7c01, 0x3c00, 0, 0x7fff },
    /* the low 13 bits of tf32 are not read: infinity, NaN */
    { "hopper/", ".f32.tf32", 0x7f800001, 0x3f800000, 0, 0x7f800000 },
    { "hopper/", ".f32.tf32", 0x7f802000, 0x3f800000, 0, 0x7fffffff },
};

START_TEST(measured_answers)
{
    for (size_t i = 0; i < sizeof measured / sizeof measured[0]; i++) {
        int found = 0;
        for (const struct bitcut_unit *u = units; u->name; u++) {
            if (!name_matches(u->name, measured[i].begin, measured[i].end)) continue;
            struct sample s = { .c = measured[i].c };
            for (int k = 0; k < u->k; k++) s.a[k] = measured[i].a, s.b[k] = measured[i].b;
            ck_assert_uint_eq(sample_spec(u, &s), measured[i].d);
            ck_assert_uint_eq(sample_dot(u, &s), measured[i].d);
            found++;
        }
        ck_assert_int_gt(found, 0);
    }
}
END_TEST

/* Sums of zeros: c and each product are +0 or -0, product 0 or all others differ. */
static void zeros_compare(const struct bitcut_unit *u)
{
    const uint64_t sign_a = (uint64_t)1 << (u->a->bits - 1),
                   sign_c = (uint64_t)1 << (u->c->bits - 1);
    for (int signs = 0; signs < 8; signs++) {
        struct sample s;
        memset(&s, 0, sizeof s);
        unit_scales(&s, u);
        for (int k = 0; k < u->k; k++)
            s.a[k] = (k ? signs & 1 : signs & 2) ? sign_a : 0;
        s.c = signs & 4 ? sign_c : 0;
        const uint64_t want = sample_spec(u, &s), got = sample_dot(u, &s);
        ck_assert_msg(got == want,
                      "%s, zero %d, c %d, product 0 %d, others %d: %" PRIx64
                      ", not %" PRIx64,
                      u->name, (int)u->zero, signs >> 2, signs >> 1 & 1, signs & 1, got,
                      want);
    }
}

/* Every unit with every rule for the sign of a zero sum. */
START_TEST(signed_zeros)
{
    for (const struct bitcut_unit *u = units; u->name; u++) {
        if (!u->a->has_sign || u->a->special == SPECIAL_INTEGER) continue;
        for (int zero = ZERO_POSITIVE; zero <= ZERO_IEEE; zero++) {
            struct bitcut_unit changed = *u;
            changed.zero = (enum zero_sign)zero;
            if (unit_sound(&changed)) zeros_compare(&changed);
        }
    }
}
END_TEST

TEST_MAIN("engine", engine_is_spec, engine_is_spec_one_step_away, published_example, measured_answers,
          signed_zeros)
