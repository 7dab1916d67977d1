/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/number/sweep.h"

#include "lib/number/bits.h"

#include <stdlib.h>

enum { CHUNK = 1 << 18 };

static double magnitude_of(uint32_t x)
{
    return float_of_bits(x & 0x7fffffff);
}

static void tally_add(struct tally *t, uint32_t x, uint64_t got, uint64_t want)
{
    t->compared++;
    if (got == want) return;
    if (!t->different++) t->x = x, t->got = got, t->want = want;
}

static void tally_merge(struct tally *total, const struct tally *t)
{
    if (t->different && (!total->different || t->x < total->x))
        total->x = t->x, total->got = t->got, total->want = t->want;
    total->compared += t->compared;
    total->different += t->different;
}

/* --- against the ladders ----------------------------------------------------------- */

void sweep_init(struct sweep *s, const struct bitcut_rounding *rule, int rules)
{
    int rows = 0;
    while (formats[rows].name) rows++;
    *s = (struct sweep){ .rule = rule, .rules = rules };
    s->target = calloc((size_t)rows, sizeof s->target[0]);
    s->tally = calloc((size_t)(rows * rules), sizeof s->tally[0]);
    if (!s->target || !s->tally) abort();
    for (const struct bitcut_format *f = formats; f->name; f++) {
        if (!f->has_sign) continue;
        struct ladder *l = &s->target[s->targets++];
        l->format = f;
        if (f->exponent_bits + f->fraction_bits <= LADDER_BITS) ladder_init(l, f);
    }
}

void sweep_clear(struct sweep *s)
{
    for (int i = 0; i < s->targets; i++) ladder_clear(&s->target[i]);
    free(s->target);
    free(s->tally);
}

/* The place of x, looked for upward from `code`. */
static struct place place_of(const struct ladder *l, uint32_t x, uint64_t code)
{
    if (l->magnitude) return ladder_climb(l, magnitude_of(x), code);
    if (l->format->special == SPECIAL_INTEGER)
        return oracle_integer_place(l->format, magnitude_of(x));
    return (struct place){ .code = oracle_code(l->format, magnitude_of(x)),
                           .side = SIDE_ON };
}

/* One finite encoding by every rule; returns the code to climb from for the next. */
static uint64_t convert_finite(struct tally *tally, const struct sweep *s,
                               const struct ladder *l, uint32_t x, uint64_t code)
{
    const struct bitcut_format *f32 = &formats[FORMAT_F32], *to = l->format;
    struct place p = place_of(l, x, code);
    for (int i = 0; i < s->rules; i++) {
        const struct bitcut_rounding *r = &s->rule[i];
        p.bit = r->direction == BY_BIT && oracle_bit(f32, x, r->bit);
        const uint64_t want = oracle_choose(to, r, x >> 31, p);
        tally_add(&tally[i], x, bitcut_format_convert(to, r, f32, x), want);
    }
    return p.code;
}

/* Inf or NaN. */
static void convert_special(struct tally *tally, const struct sweep *s,
                            const struct bitcut_format *to, uint32_t x)
{
    const struct bitcut_format *f32 = &formats[FORMAT_F32];
    for (int i = 0; i < s->rules; i++) {
        const uint64_t want = oracle_special(to, &s->rule[i], oracle_value(f32, x));
        tally_add(&tally[i], x, bitcut_format_convert(to, &s->rule[i], f32, x), want);
    }
}

static bool is_finite(uint64_t x) { return (x & 0x7fffffff) < 0x7f800000; }

static uint64_t multiple_from(uint64_t begin, uint32_t step)
{
    return (begin + step - 1) / step * step;
}

static void convert_chunk(struct tally *tally, const struct sweep *s,
                          const struct ladder *l, uint64_t begin, uint64_t end,
                          uint32_t step)
{
    uint64_t x = multiple_from(begin, step), code = 0;
    if (x >= end) return;
    if (l->magnitude && is_finite(x))
        code = ladder_find(l, magnitude_of((uint32_t)x)).code;
    for (; x < end; x += step)
        if (is_finite(x)) code = convert_finite(tally, s, l, (uint32_t)x, code);
        else convert_special(tally, s, l->format, (uint32_t)x);
}

void sweep_range(struct sweep *s, uint64_t begin, uint64_t end, uint32_t step)
{
    const uint64_t first = begin / CHUNK, last = (end + CHUNK - 1) / CHUNK;
    const int chunks = (int)(last - first);
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < s->targets * chunks; i++) {
        const int target = i % s->targets;
        const uint64_t start = (first + (uint64_t)(i / s->targets)) * CHUNK;
        struct tally *own = calloc((size_t)s->rules, sizeof own[0]);
        if (!own) abort();
        convert_chunk(own, s, &s->target[target], start > begin ? start : begin,
                      start + CHUNK < end ? start + CHUNK : end, step);
#pragma omp critical
        for (int r = 0; r < s->rules; r++)
            tally_merge(&s->tally[target * s->rules + r], &own[r]);
        free(own);
    }
}

/* --- against F16C ------------------------------------------------------------------ */

const int f16c_rules[F16C_RULES] = { ROUND_RN, ROUND_RZ, ROUND_RU, ROUND_RD };

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#include <immintrin.h>

/* The processor has it, and the system keeps the registers of AVX that it uses. */
static bool f16c_available(void)
{
    unsigned eax, ebx, ecx, edx;
    return __builtin_cpu_supports("avx") && __get_cpuid(1, &eax, &ebx, &ecx, &edx) &&
           (ecx & bit_F16C) != 0;
}

/* x by the modes of f16c_rules[]. */
__attribute__((target("f16c"))) static void f16c_convert(uint16_t word[F16C_RULES],
                                                         uint32_t x)
{
    const float y = float_of_bits(x);
    word[0] = (uint16_t)_cvtss_sh(y, _MM_FROUND_TO_NEAREST_INT);
    word[1] = (uint16_t)_cvtss_sh(y, _MM_FROUND_TO_ZERO);
    word[2] = (uint16_t)_cvtss_sh(y, _MM_FROUND_TO_POS_INF);
    word[3] = (uint16_t)_cvtss_sh(y, _MM_FROUND_TO_NEG_INF);
}
#else
static bool f16c_available(void) { return false; }
static void f16c_convert(uint16_t word[F16C_RULES], uint32_t x) { (void)word, (void)x; }
#endif

static void f16c_one(struct tally tally[F16C_RULES], uint32_t x)
{
    uint16_t word[F16C_RULES];
    f16c_convert(word, x);
    for (int i = 0; i < F16C_RULES; i++) {
        const bool nan = (word[i] & 0x7fff) > 0x7c00;
        const uint64_t got = bitcut_format_convert(
            &formats[FORMAT_F16], &roundings[f16c_rules[i]], &formats[FORMAT_F32], x);
        tally_add(&tally[i], x, got, nan ? 0x7e00 : word[i]);
    }
}

bool sweep_f16c(struct tally tally[F16C_RULES], uint64_t begin, uint64_t end,
                uint32_t step)
{
    if (!f16c_available()) return false;
    const int chunks = (int)((end - begin + CHUNK - 1) / CHUNK);
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < chunks; i++) {
        const uint64_t start = begin + (uint64_t)i * CHUNK;
        const uint64_t stop = start + CHUNK < end ? start + CHUNK : end;
        struct tally own[F16C_RULES] = { 0 };
        for (uint64_t x = multiple_from(start, step); x < stop; x += step)
            f16c_one(own, (uint32_t)x);
#pragma omp critical
        for (int r = 0; r < F16C_RULES; r++) tally_merge(&tally[r], &own[r]);
    }
    return true;
}
