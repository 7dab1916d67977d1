/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/accuracy/budget_integer.h"

#include "lib/gemm/sparsity.h"
#include "lib/number/bits.h"

#include <math.h>

/* An element: its FP32 value, and the value rounded to an integer and limited. */
struct element {
    float value, whole, read;
};

static struct element element_of(const struct split_part *part, uint32_t x)
{
    struct element e = { .value = value_of_float(x) };
    e.whole = e.read = value_of_float(f32_through(part->format, part->rounding, x));
    if (fabs((double)e.value - (double)e.read) >= 1) /* it is outside the range */
        e.whole = fabs((double)e.value) < 0x1p23
                      ? value_of_float(f32_through(&formats[FORMAT_S32],
                                                   &roundings[ROUND_RN], x))
                      : e.value;
    return e;
}

/* x less a zero point. */
static void set_less(mpz_t to, float x, int32_t zero)
{
    mpz_t z;
    dyadic_set_f32(to, bits_of_float(x));
    mpz_init_set_si(z, zero);
    mpz_mul_2exp(z, z, DYADIC_UNIT);
    mpz_sub(to, to, z);
    mpz_clear(z);
}

static void add_product(mpz_t to, float a, float b, const struct bitcut_gemm *g)
{
    mpz_t x, y;
    mpz_inits(x, y, NULL);
    set_less(x, a, g->zero_a);
    set_less(y, b, g->zero_b);
    mpz_mul(x, x, y);
    dyadic_shift(x, -(long)DYADIC_UNIT);
    mpz_add(to, to, x);
    mpz_clears(x, y, NULL);
}

/* Add integers to every stage. */
static void add_integer(mpz_t to[STAGES], int64_t x)
{
    mpz_t y;
    mpz_init_set_si(y, (long)(x >> 32));
    mpz_mul_2exp(y, y, 32);
    mpz_add_ui(y, y, (unsigned long)(x & 0xffffffff));
    mpz_mul_2exp(y, y, DYADIC_UNIT);
    for (int i = 0; i < STAGES; i++) mpz_add(to[i], to[i], y);
    mpz_clear(y);
}

void budget_integer_sums(mpz_t to[STAGES], const struct gemm_plan *plan,
                         const struct bitcut_gemm *g, const struct budget_lines *x)
{
    enum { BATCH = 1 << 16 }; /* products below 2^46 */
    const size_t products = x->kept ? x->k / 2 : x->k;
    int64_t sum = 0;
    for (int i = 0; i < STAGES; i++) mpz_set_ui(to[i], 0);
    for (size_t p = 0; p < products; p++) {
        const size_t k = x->kept ? kept_k(x->kept, p) : p;
        const struct element a = element_of(&plan->split_a.part[0], x->a[k]),
                             b = element_of(&plan->split_b.part[0], x->b[k]);
        if (a.value == a.read && b.value == b.read) {
            sum += ((int64_t)a.read - g->zero_a) * ((int64_t)b.read - g->zero_b);
        } else {
            for (int i = STAGE_EXACT; i < STAGE_PARTS; i++)
                add_product(to[i], a.value, b.value, g);
            for (int i = STAGE_PARTS; i < STAGE_REAL; i++)
                add_product(to[i], a.whole, b.whole, g);
            add_product(to[STAGE_REAL], a.read, b.read, g);
        }
        if (p % BATCH == BATCH - 1) add_integer(to, sum), sum = 0;
    }
    add_integer(to, sum);
}
