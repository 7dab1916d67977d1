/* SPDX-License-Identifier: BSD-3-Clause */
/* The computations of devices for units that they do not have (gpu/emulate/value.h and
   step.h), compared with the definitions of lib and of the engine, bit for bit.  An
   intermediate NaN can be any NaN; a NaN result is the unit's. */
#include "analysis/evidence/field.h"
#include "analysis/evidence/sample.h"
#include "emu/gemm.h"
#include "gpu/emulate/emulation.h"
#include "gpu/emulate/step.h"
#include "lib/gemm/view.h"
#include "lib/number/equilibrate.h"
#include "lib/number/fma.h"
#include "lib/number/hostfp.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>

static const struct bitcut_format *f32(void) { return &formats[FORMAT_F32]; }

static bool same(uint32_t x, uint32_t y)
{
    return x == y || (emulate_is_nan(x) && emulate_is_nan(y));
}

/* Whether elements of matrices and parts can be of a format: FP32 has all its values. */
static bool is_held(const struct bitcut_format *f) { return format_holds(f32(), f); }

/* Integers are elements of matrices, and neither parts nor results. */
static bool is_made(const struct bitcut_format *f)
{
    return is_held(f) && !format_is_integer(f);
}

static uint32_t value_of(const struct bitcut_format *f, uint64_t encoding)
{
    return (uint32_t)bitcut_format_convert(f32(), &roundings[ROUND_RN], f, encoding);
}

/* An FP32 encoding: of any bits, or about a format's ends, ties and subnormals. */
static uint32_t draw_x(const struct bitcut_format *f, uint64_t *rng)
{
    const uint64_t bits = test_bits(rng);
    const int e = test_between(rng, -3, 3);
    const uint32_t sign = (uint32_t)bits & 0x80000000,
                   fraction = (uint32_t)bits & 0x7fffff,
                   ends = fraction & -(UINT32_C(1) << (bits >> 32 & 31) % 24);
    const int low = format_least_exponent(f), high = format_emax(f);
    int exponent = 0;
    switch (bits >> 60) {
    case 0: return sign | (uint32_t)(bits >> 32 & 1 ? 0x7f800000 : 0);
    case 1: return sign | 0x7f800000 | fraction;
    case 2: return sign | fraction;
    case 3: exponent = high + e; break;
    case 4: exponent = low + e; break;
    case 5: exponent = format_emin(f) + e; break;
    case 6: return value_of(f, bits & ((UINT64_C(1) << f->bits) - 1)) + (uint32_t)e;
    case 7: exponent = test_between(rng, low, high); break;
    default: return (uint32_t)bits;
    }
    exponent = exponent < -126 ? -127 : exponent > 127 ? 127 : exponent;
    return sign | (uint32_t)(exponent + 127) << 23 | (bits >> 40 & 1 ? ends : fraction);
}

/* --- values and formats ----------------------------------------------------------- */

START_TEST(rounds_to_formats)
{
    uint64_t rng = test_seed();
    const int count = test_cases(2000, 200000);
    for (const struct bitcut_format *f = formats; f->name; f++)
        for (const struct bitcut_rounding *r = roundings; r->name && is_made(f); r++) {
            if (r->direction == STOCHASTIC) continue; /* devices refuse it */
            for (int i = 0; i < count; i++) {
                const uint32_t x = draw_x(f, &rng);
                const uint32_t want = value_of(f, bitcut_format_convert(f, r, f32(), x));
                const uint32_t got = emulate_round(f, r, x);
                ck_assert_msg(same(got, want),
                              "%08" PRIx32 " to %s by %s: got %08" PRIx32
                              ", want %08" PRIx32,
                              x, f->name, r->name, got, want);
            }
        }
}
END_TEST

/* All encodings of up to 16 bits, those of more at random. */
START_TEST(decodes_elements)
{
    uint64_t rng = test_seed();
    for (const struct bitcut_format *f = formats; f->name; f++) {
        if (!is_held(f)) continue;
        const bool all = f->bits <= 16;
        const uint32_t count =
            all ? UINT32_C(1) << f->bits : (uint32_t)test_cases(10000, 1000000);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t x = all ? i : draw_x(f, &rng);
            struct bitcut_matrix matrix = { .at = &x, .format = f };
            uint16_t two = (uint16_t)x;
            uint8_t one = (uint8_t)x;
            if (f->bits <= 16) matrix.at = &two;
            if (f->bits <= 8) matrix.at = &one;
            struct matrix to;
            ck_assert(view_matrix(&to, &matrix, 0, 1, 1, 1));
            const uint32_t got = emulate_decode(f, x);
            ck_assert_msg(got == to.at[0],
                          "%s %" PRIx32 ": got %08" PRIx32 ", want %08" PRIx32, f->name,
                          x, got, to.at[0]);
            free(to.at);
        }
    }
}
END_TEST

START_TEST(encodes_results)
{
    uint64_t rng = test_seed();
    for (const struct bitcut_format *f = formats; f->name; f++)
        for (int i = 0; is_made(f) && i < test_cases(10000, 1000000); i++) {
            const uint32_t x = draw_x(f, &rng);
            union {
                uint8_t one;
                uint16_t two;
                uint32_t four;
            } at;
            const struct view v = { (const char *)&at, f, 1, 1 };
            view_set(&v, 0, 0, x);
            const uint32_t want = f->bits <= 8    ? at.one
                                  : f->bits <= 16 ? at.two
                                                  : at.four;
            const uint64_t got = emulate_encode(f, x);
            ck_assert_msg(got == want,
                          "%08" PRIx32 " in %s: got %" PRIx64 ", want %" PRIx32, x,
                          f->name, got, want);
        }
}
END_TEST

/* --- arithmetic ------------------------------------------------------------------- */

START_TEST(adds_and_multiplies)
{
    uint64_t rng = test_seed();
    for (int i = 0; i < test_cases(100000, 10000000); i++) {
        const uint32_t a = draw_x(f32(), &rng), b = draw_x(f32(), &rng),
                       nan = 0x7f800001 | (uint32_t)test_bits(&rng);
        uint32_t c = draw_x(f32(), &rng);
        if (i % 4 == 0) c = f32_multiply(a, b) ^ 0x80000000; /* cancels */
        ck_assert_uint_eq(emulate_fma(nan, a, b, c),
                          (uint32_t)fma_round(f32(), &roundings[ROUND_RN], nan, a, b, c));
        ck_assert(same(emulate_add(a, c), f32_add(a, c)));
        ck_assert(same(emulate_multiply(a, b), f32_multiply(a, b)));
    }
}
END_TEST

START_TEST(equilibrates)
{
    uint64_t rng = test_seed();
    struct hostfp saved;
    hostfp_enter(&saved);
    for (int i = 0; i < test_cases(100000, 10000000); i++) {
        const uint32_t x = draw_x(f32(), &rng);
        const int exponent = test_between(&rng, -512, 512);
        const struct bitcut_split *s = &splits[test_between(&rng, 0, SPLIT_HALF_E5M2)];
        const uint32_t want = equilibrate_scale(x, exponent),
                       got = emulate_scale(x, exponent);
        ck_assert_msg(same(got, want), "%08" PRIx32 " 2^%d: got %08" PRIx32, x, exponent,
                      got);
        const uint32_t largest = equilibrate_larger(0, x);
        ck_assert_int_eq(emulate_exponent(equilibrate_target(s), largest),
                         equilibrate_exponent(s, largest));
    }
    hostfp_leave(&saved);
}
END_TEST

/* --- parts ------------------------------------------------------------------------ */

static void check_parts(const struct bitcut_split *s, uint64_t *rng, int count)
{
    struct split_rule r;
    split_rule_make(&r, s);
    for (int i = 0; i < count; i++) {
        const uint32_t x =
            draw_x(s->part[test_between(rng, 0, s->parts - 1)].format, rng);
        uint64_t part[SPLIT_PARTS_MAX];
        split_apply(part, s, x);
        for (int w = 0; w < s->parts; w++) {
            const uint32_t want = value_of(s->part[w].format, part[w]),
                           got = emulate_part(&r, x, w);
            ck_assert_msg(same(got, want),
                          "%s, scale %d, %08" PRIx32 ", part %d: got %08" PRIx32
                          ", want %08" PRIx32,
                          s->name, s->scale, x, w, got, want);
        }
    }
}

/* Rows, and rows with another scale and other roundings, as callers may ask for; and with
   a copy between two parts. */
START_TEST(makes_parts)
{
    uint64_t rng = test_seed();
    for (const struct bitcut_split *s = splits; s->name; s++) {
        if (split_is_fixed(s)) continue;
        check_parts(s, &rng, test_cases(10000, 1000000));
        for (int i = 0; i < test_cases(20, 1000); i++) {
            struct bitcut_split changed = *s;
            changed.scale = test_between(&rng, 0, GEMM_SCALE_MAX);
            if (s->part[s->parts - 1].copy && i % 2) {
                changed.part[1] = s->part[2];
                changed.part[2] = s->part[1];
            }
            for (int w = 0; w < s->parts; w++)
                changed.part[w].rounding =
                    &roundings[test_between(&rng, 0, ROUND_FENG22)];
            check_parts(&changed, &rng, 500);
        }
    }
}
END_TEST

/* --- units ------------------------------------------------------------------------ */

/* Whether a device adds by it: GEMMs run on it, or terms of one do. */
static bool is_taken(const struct bitcut_unit *u)
{
    return !u->scale && (u->c == f32() || u->c == &formats[FORMAT_F16] ||
                         u->c == &formats[FORMAT_BF16]);
}

/* Whether devices are told of the row; not of what only ordinary processors do. */
static bool is_told(const struct bitcut_unit *u)
{
    return u->summation != &sum_chains && u->summation != &sum_dot &&
           u->summation != &sum_complement && u->flush_inputs <= INPUT_POSITIVE &&
           u->rounding.flush != FLUSH_TINY;
}

/* The sample's output as devices compute it. */
static uint32_t rule_dot(const struct unit_rule *r, const struct bitcut_unit *u,
                         const struct sample *s)
{
    uint32_t a[RULE_K_MAX], b[RULE_K_MAX];
    const uint32_t c = value_of(u->c, s->c);
    for (int k = 0; k < r->k; k++) {
        a[k] = emulate_read(r, false, value_of(u->a, s->a[r->order[k]]));
        b[k] = emulate_read(r, true, value_of(u->b, s->b[r->order[k]]));
    }
    return step_instruction(r, a, b, emulate_is_nan(c) ? r->nan : c);
}

/* As the engine does. */
static uint32_t unit_value(const struct unit_rule *r, const struct bitcut_unit *u,
                           const struct sample *s)
{
    const uint32_t d = value_of(u->c, sample_dot(u, s));
    return emulate_is_nan(d) ? r->nan : d;
}

static void print_values(const char *name, const struct bitcut_format *f,
                         const uint64_t *x, int n)
{
    printf("# %s:", name);
    for (int i = 0; i < n; i++) printf(" %08" PRIx32, value_of(f, x[i]));
    printf("\n");
}

static bool check_sample(const struct unit_rule *r, const struct bitcut_unit *u,
                         const struct sample *s, const char *change, const char *class)
{
    const uint32_t got = rule_dot(r, u, s), want = unit_value(r, u, s);
    if (got == want) return true;
    printf("# %s %s, class %s: got %08" PRIx32 ", want %08" PRIx32 "\n", u->name, change,
           class, got, want);
    print_values("a", u->a, s->a, u->k);
    print_values("b", u->b, s->b, u->k);
    print_values("c", u->c, &s->c, 1);
    fflush(stdout);
    return false;
}

START_TEST(adds_as_units)
{
    uint64_t stream = 0;
    int differ = 0, taken = 0;
    for (const struct bitcut_unit *u = units; u->name; u++) {
        const struct bitcut_gemm g = gemm_of(&recipes[RECIPE_PLAIN], u);
        struct gemm_plan plan;
        struct unit_rule r;
        if (gemm_plan_on_unit(&plan, &g, NULL) == BITCUT_OK) ck_assert(is_taken(u));
        if (!is_taken(u)) continue;
        ck_assert_msg(unit_rule_make(&r, u) == is_told(u), "%s", u->name);
        if (!is_told(u)) continue;
        taken++;
        for (const struct sample_class *c = sample_classes; c->name; c++) {
            struct rng rng = rng_start(test_seed(), stream++);
            bool all = !c->scaled;
            for (int i = test_cases(8000, 300000) / (u->k + 4); all && i > 0; i--) {
                struct sample s;
                c->fill(&s, u, &rng);
                all = check_sample(&r, u, &s, "", c->name);
            }
            differ += !all && !c->scaled;
        }
    }
    printf("# %d units\n", taken);
    ck_assert_int_eq(differ, 0);
}
END_TEST

/* Whether step.h has a row that differs from the table's in one field. */
static bool is_defined(const struct bitcut_unit *u)
{
    const bool exact = u->summation == &sum_fused && u->fraction == FRACTION_EXACT;
    return unit_sound(u) && is_taken(u) && u->nan_rule == NAN_FIXED &&
           !(u->via && u->flush_inputs) && (!exact || u->block <= STEP_EXACT_MAX) &&
           (u->summation != &sum_serial || u->keep <= STEP_KEEP_MAX);
}

START_TEST(adds_as_units_one_step_away)
{
    uint64_t stream = UINT64_C(1) << 32;
    int rows = 0, differ = 0;
    for (const struct bitcut_unit *u = units; u->name; u++)
        for (const struct field *f = fields; f->name && is_taken(u); f++) {
            int64_t values[FIELD_VALUES_MAX];
            const int n = field_steps(values, f, u);
            for (int i = 0; i < n; i++) {
                struct rng rng = rng_start(test_seed(), stream++);
                struct bitcut_unit changed = *u;
                struct unit_rule r;
                char text[64];
                bool all = true;
                field_set(f, &changed, values[i]);
                if (!is_defined(&changed) || !unit_rule_make(&r, &changed)) continue;
                field_text(text, sizeof text, f, &changed, values[i]);
                rows++;
                for (const struct sample_class *c = sample_classes; c->name; c++)
                    for (int j = test_cases(2, 40); all && !c->scaled && j > 0; j--) {
                        struct sample s;
                        c->fill(&s, u, &rng);
                        all = check_sample(&r, &changed, &s, f->name, text);
                    }
                differ += !all;
            }
        }
    printf("# %d rows\n", rows);
    ck_assert_int_eq(differ, 0);
}
END_TEST

TEST_MAIN("step", rounds_to_formats, decodes_elements, encodes_results,
          adds_and_multiplies, equilibrates, makes_parts, adds_as_units,
          adds_as_units_one_step_away)
