/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/accuracy/budget_account.h"

#include "lib/number/bits.h"
#include "lib/number/equilibrate.h"

#include <assert.h>
#include <math.h>

void account_init(struct account *x)
{
    for (int i = 0; i < STAGES; i++) mpz_init(x->stage[i]);
    for (int i = 0; i < BUDGET_PARTS; i++) mpz_init(x->part[i]);
    mpz_inits(x->value, x->error, NULL);
    x->extra = 0;
}

void account_clear(struct account *x)
{
    for (int i = 0; i < STAGES; i++) mpz_clear(x->stage[i]);
    for (int i = 0; i < BUDGET_PARTS; i++) mpz_clear(x->part[i]);
    mpz_clears(x->value, x->error, NULL);
}

double account_number(const struct account *x, const mpz_t value)
{
    return dyadic_value(value, x->extra);
}

char *account_text(const struct account *x, const mpz_t value)
{
    return dyadic_text(value, x->extra);
}

/* --- what was computed ------------------------------------------------------------ */

static void set_f32(const struct account *x, mpz_t to, uint32_t v)
{
    dyadic_set_f32(to, v);
    dyadic_shift(to, x->extra);
}

/* How much v is above the value and all parts. */
static void lack_of(mpz_t to, const struct account *x, const mpz_t v)
{
    mpz_sub(to, v, x->value);
    for (int i = 0; i < BUDGET_PARTS; i++) mpz_sub(to, to, x->part[i]);
}

/* v was computed: what it differs from the value and all parts belongs to this part. */
static void account_settle(struct account *x, enum budget_part part, uint32_t v)
{
    mpz_t lack;
    mpz_init(lack);
    set_f32(x, lack, v);
    lack_of(lack, x, lack);
    mpz_add(x->part[part], x->part[part], lack);
    mpz_clear(lack);
}

/* --- exact steps ------------------------------------------------------------------ */

static void multiply_and_add(struct account *x, const struct exact_step *step)
{
    for (int f = 0; f < step->factors; f++) {
        dyadic_multiply(x->value, step->factor[f]);
        for (int i = 0; i < BUDGET_PARTS; i++)
            dyadic_multiply(x->part[i], step->factor[f]);
    }
    if (!step->adds) return;
    mpz_t y;
    mpz_init(y);
    set_f32(x, y, step->addend[0]);
    dyadic_multiply(y, step->addend[1]);
    mpz_add(x->value, x->value, y);
    mpz_clear(y);
}

/* Limits as exact values. */
struct interval {
    mpz_t low, high;
    bool has_low, has_high;
};

static void limit(mpz_t to, const mpz_t from, const struct interval *x)
{
    if (x->has_low && mpz_cmp(from, x->low) < 0) mpz_set(to, x->low);
    else mpz_set(to, from);
    if (x->has_high && mpz_cmp(to, x->high) > 0) mpz_set(to, x->high);
}

static void limit_all(struct account *x, const struct exact_step *step)
{
    struct interval between = { .has_low = isfinite(value_of_float(step->low)),
                                .has_high = isfinite(value_of_float(step->high)) };
    mpz_t sum, before, after;
    mpz_inits(between.low, between.high, sum, before, after, NULL);
    set_f32(x, between.low, step->low);
    set_f32(x, between.high, step->high);
    mpz_set(sum, x->value);
    limit(x->value, sum, &between);
    mpz_set(before, x->value);
    for (int i = 0; i < BUDGET_PARTS; i++) {
        mpz_add(sum, sum, x->part[i]);
        limit(after, sum, &between);
        mpz_sub(x->part[i], after, before);
        mpz_swap(before, after);
    }
    mpz_clears(between.low, between.high, sum, before, after, NULL);
}

static void apply(struct account *x, const struct exact_step *step)
{
    multiply_and_add(x, step);
    if (step->limits) limit_all(x, step);
}

/* --- the account ------------------------------------------------------------------ */

/* The value, and the parts that are differences of stages. */
static void account_stages(struct account *x)
{
    static const enum budget_part of_stage[] = {
        [STAGE_GIVEN] = BUDGET_FACTORS,
        [STAGE_PARTS] = BUDGET_REPRESENTATION,
        [STAGE_SMALL] = BUDGET_UNDERFLOW,
        [STAGE_REAL] = BUDGET_SATURATION,
    };
    mpz_t y;
    mpz_init(y);
    for (int i = STAGE_GIVEN; i < STAGES; i++) {
        mpz_sub(y, x->stage[i], x->stage[i - 1]);
        mpz_add(x->part[of_stage[i]], x->part[of_stage[i]], y);
    }
    mpz_set(x->value, x->stage[STAGE_EXACT]);
    mpz_clear(y);
}

/* The sum over all slices, which the stages, the watcher's sums and the exact start explain
   without anything missing. */
static void account_sum(struct account *x, const struct watcher *w, int exponents,
                        const struct exact_step *start)
{
    static const enum budget_part of_sum[] = {
        [BUDGET_SUM_PRODUCTS] = BUDGET_DROPPED,
        [BUDGET_SUM_ALIGNED] = BUDGET_ALIGNMENT,
        [BUDGET_SUM_ACCUMULATED] = BUDGET_ACCUMULATION,
        [BUDGET_SUM_PROMOTED] = BUDGET_PROMOTION,
        [BUDGET_SUM_SLICED] = BUDGET_SLICES,
        [BUDGET_SUM_FACTORS] = BUDGET_FACTORS,
        [BUDGET_SUM_START] = BUDGET_START,
    };
    mpz_t y;
    mpz_init(y);
    account_stages(x);
    for (int i = 0; i < BUDGET_SUM_ENTRIES; i++) {
        dyadic_sum_get(y, &w->sum[0].entry[i], w->unit);
        mpz_add(x->part[of_sum[i]], x->part[of_sum[i]], y);
    }
    mpz_sub(x->part[BUDGET_DROPPED], x->part[BUDGET_DROPPED], x->stage[STAGE_REAL]);
    dyadic_shift(x->value, x->extra - exponents);
    for (int i = 0; i < BUDGET_PARTS; i++)
        if (mpz_sgn(x->part[i])) dyadic_shift(x->part[i], x->extra - exponents);
    mpz_set(y, x->value);
    multiply_and_add(x, start);
    mpz_sub(y, y, x->value);
    mpz_add(x->part[BUDGET_START], x->part[BUDGET_START], y);
    dyadic_set_f32(y, w->total);
    if (mpz_sgn(y)) dyadic_shift(y, x->extra - exponents);
    lack_of(y, x, y);
    assert(mpz_sgn(y) == 0);
    mpz_clear(y);
}

static bool is_finite(uint32_t v) { return format_is_finite(&formats[FORMAT_F32], v); }

/* One step.  The result is the v after it. */
static uint32_t account_step(struct account *x, const struct epilogue_values *steps,
                             enum bitcut_step s, uint32_t v)
{
    const struct epilogue_step *const step = &epilogue_steps[s];
    const uint32_t after = step->run(steps, v, 0, 0);
    if (step->exact) {
        const struct exact_step exact = step->exact(steps, 0, 0);
        apply(x, &exact);
    }
    if (is_finite(after))
        account_settle(x, s == BITCUT_STEP_ROUND ? BUDGET_RESULT : BUDGET_EPILOGUE, after);
    return after;
}

/* The room that the factors of steps need. */
static long extra_of(const struct epilogue_values *steps)
{
    long extra = 0;
    for (const unsigned char *s = steps->step; *s; s++)
        if (epilogue_steps[*s].exact)
            extra += 149L * epilogue_steps[*s].exact(steps, 0, 0).factors;
    return extra;
}

/* The steps from `s` on, of the FP32 value v, and the last rounding to d. */
static const char *account_end(struct account *x, const struct epilogue_values *steps,
                               const unsigned char *s, uint32_t v, bool extended,
                               uint32_t d)
{
    for (; *s && is_finite(v); s++) v = account_step(x, steps, (enum bitcut_step) * s, v);
    if (!is_finite(v)) return "a step of the epilogue overflows";
    account_settle(x, extended ? BUDGET_RESULT : BUDGET_EPILOGUE, d);
    set_f32(x, x->error, d);
    mpz_sub(x->error, x->error, x->value);
    return NULL;
}

const char *account_fill_integers(struct account *x, uint32_t v,
                                  const struct epilogue_values *steps, bool extended,
                                  uint32_t d)
{
    const unsigned char *s = steps->step;
    mpz_t sum;
    for (; *s != BITCUT_STEP_FLOAT; s++) v = epilogue_steps[*s].integer(steps, v, 0, 0);
    x->extra = extra_of(steps);
    account_stages(x);
    mpz_init_set_si(sum, (int32_t)v);
    mpz_mul_2exp(sum, sum, DYADIC_UNIT);
    mpz_sub(sum, sum, x->stage[STAGE_REAL]);
    mpz_add(x->part[BUDGET_SATURATION], x->part[BUDGET_SATURATION], sum);
    mpz_clear(sum);
    dyadic_shift(x->value, x->extra);
    for (int i = 0; i < BUDGET_PARTS; i++)
        if (mpz_sgn(x->part[i])) dyadic_shift(x->part[i], x->extra);
    v = epilogue_steps[BITCUT_STEP_FLOAT].integer(steps, v, 0, 0);
    account_settle(x, BUDGET_EPILOGUE, v);
    return account_end(x, steps, s + 1, v, extended, d);
}

const char *account_fill(struct account *x, const struct watcher *w,
                         const struct epilogue_values *steps, bool extended,
                         int exponents, uint32_t d)
{
    const struct exact_step start = epilogue_exact_start(steps, 0, 0);
    uint32_t v =
        w->plan->equilibrate ? equilibrate_scale(w->total, -exponents) : w->total;
    x->extra = extra_of(steps);
    account_sum(x, w, exponents, &start);
    if (is_finite(v)) account_settle(x, BUDGET_EPILOGUE, v);
    return account_end(x, steps, steps->step, v, extended, d);
}
