/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums of products that a device computes for exact references, compared with a plain
   loop, every bit, and references computed from them.  The device is tests/gpu/device.c,
   or, with DEVICE_MODULES set, the device of a module in that folder. */
#define _POSIX_C_SOURCE 200809L

#include "analysis/accuracy/judge.h"
#include "gpu/api/offload.h"
#include "lib/base/clock.h"
#include "lib/number/bits.h"
#include "tests/gpu/any_device.h"

#include <math.h>

/* --- values ------------------------------------------------------------------------- */

static uint32_t any_value(uint64_t bits) { return (uint32_t)(bits >> 32); }

static uint32_t finite_value(uint64_t bits)
{
    const uint32_t x = any_value(bits);
    return (x >> 23 & 0xff) == 0xff ? x ^ 0x40000000 : x;
}

static uint32_t near_one(uint64_t bits)
{
    return (any_value(bits) & 0x80ffffff) + 0x3f000000;
}

static uint32_t integer_value(uint64_t bits)
{
    return bits_of_float((float)(int)(bits >> 40 & 0xff) - 128);
}

static uint32_t zero_value(uint64_t bits) { return any_value(bits) & 0x80000000; }

static uint32_t (*const kinds[])(uint64_t bits) = { any_value, finite_value, near_one,
                                                    integer_value, zero_value };

enum { KINDS = sizeof kinds / sizeof kinds[0] };

enum { SUMS = 4 };

/* A product with its sums as they should be and as the device made them. */
struct product {
    size_t m, n, k;
    uint32_t *a, *b;
    double *want[SUMS], *got[SUMS];
};

static void *memory(size_t count, size_t size)
{
    void *const at = calloc(count + 1, size);
    ck_assert_ptr_nonnull(at);
    return at;
}

static void fill(uint32_t *to, size_t count, uint64_t *rng)
{
    uint32_t (*const kind)(uint64_t) = kinds[test_bits(rng) % KINDS];
    const uint64_t rare = test_bits(rng) % 4;
    for (size_t i = 0; i < count; i++) {
        const uint64_t bits = test_bits(rng);
        to[i] = rare == 0 && bits % 97 == 0 ? any_value(bits) : kind(bits);
    }
}

/* By Knuth's TwoSum of a product of its own. */
static void solve(struct product *p)
{
    for (size_t at = 0; at < p->m * p->n; at++) {
        double high = 0, low = 0, size = 0, squares = 0;
        for (size_t q = 0; q < p->k; q++) {
            const double x = value_of_float(p->a[at / p->n * p->k + q]);
            const double term = x * value_of_float(p->b[q * p->n + at % p->n]);
            const double sum = high + term, other = sum - high;
            low += (high - (sum - other)) + (term - other);
            high = sum;
            size += fabs(term);
            squares += sum * sum;
        }
        p->want[0][at] = high;
        p->want[1][at] = low;
        p->want[2][at] = size;
        p->want[3][at] = squares;
    }
}

static struct product pose(size_t m, size_t n, size_t k, uint64_t *rng)
{
    struct product p = {
        m,        n,       k, memory(m * k, sizeof *p.a), memory(k * n, sizeof *p.b),
        { NULL }, { NULL }
    };
    for (int i = 0; i < SUMS; i++) {
        p.want[i] = memory(m * n, sizeof(double));
        p.got[i] = memory(m * n, sizeof(double));
    }
    fill(p.a, m * k, rng);
    fill(p.b, k * n, rng);
    return p;
}

static void end(struct product *p)
{
    for (int i = 0; i < SUMS; i++) free(p->want[i]), free(p->got[i]);
    free(p->a);
    free(p->b);
}

/* --- the test ----------------------------------------------------------------------- */

/* Every NaN is one, and of a sum that is no number the errors mean nothing. */
static bool is_same(const struct product *p, int which, size_t at)
{
    const double got = p->got[which][at], want = p->want[which][at];
    if (which % 2 && !isfinite(p->want[0][at])) return true;
    return (isnan(got) && isnan(want)) || bits_of_double(got) == bits_of_double(want);
}

/* Those that were wanted are there, and the others nobody wrote. */
static void check_sums(const struct product *p, unsigned wanted)
{
    static const char *const names[] = { "high", "low", "size", "squares" };
    for (size_t at = 0; at < SUMS * p->m * p->n; at++) {
        const int which = (int)(at % SUMS);
        const size_t i = at / SUMS;
        if (wanted >> which & 1 ? !is_same(p, which, i) : p->got[which][i] != 0)
            ck_abort_msg("%zu x %zu x %zu, sums %u, element (%zu, %zu), %s: got %a, "
                         "want %a",
                         p->m, p->n, p->k, wanted, i / p->n, i % p->n, names[which],
                         p->got[which][i], p->want[which][i]);
    }
}

/* What is compared with is that of this processor: references, magnitudes, and the limits
   of FP32. */
static void check_judge(const struct product *p, const struct gpu_offload *by)
{
    const struct matrix a = { .rows = p->m, .cols = p->k, .at = p->a },
                        b = { .rows = p->k, .cols = p->n, .at = p->b };
    const struct bitcut_gemm g =
        gemm_of(&recipes[RECIPE_FP32], unit_find("fma/f32", &formats[FORMAT_F32]));
    struct exact_sums sums = by->sums;
    struct gemm_offload offload = by->offload;
    offload.sums = &sums;
    sums.least = 0;
    struct judge judge[2];
    for (int i = 0; i < 2; i++) {
        const struct gemm_options options = { .threads = 1 + i,
                                              .offload = i ? &offload : NULL };
        struct error_bound error;
        struct fault f;
        if (judge_init(&judge[i], references, &a, &b, NULL, &options, &f) != BITCUT_OK ||
            judge_grade(&judge[i], &error, &g, &options, &f) != BITCUT_OK)
            ck_abort_msg("%s", f.text);
    }
    const struct comparison *const x = &judge[0].comparison, *const y =
                                                                 &judge[1].comparison;
    for (size_t at = 0; at < p->m * p->n; at++) {
        const bool finite = isfinite(double_of_bits(x->reference64[at]));
        ck_assert_uint_eq(y->reference32[at], x->reference32[at]);
        ck_assert_uint_eq(y->reference64[at], x->reference64[at]);
        if (!finite) continue;
        if (bits_of_double(y->magnitude[at]) != bits_of_double(x->magnitude[at]) ||
            bits_of_double(y->limit[at]) != bits_of_double(x->limit[at]))
            ck_abort_msg(
                "%zu x %zu x %zu, element %zu: magnitude %a, limit %a, not %a, %a", p->m,
                p->n, p->k, at, y->magnitude[at], y->limit[at], x->magnitude[at],
                x->limit[at]);
    }
    judge_clear(&judge[0]);
    judge_clear(&judge[1]);
}

START_TEST(sums_to_the_bit)
{
    const bool real = getenv("DEVICE_MODULES");
    const double last = seconds_now() + seconds_most();
    uint64_t rng = test_seed(), outputs = 0;
    struct gpu_offload offload;
    open_device();
    gpu_offload_init(&offload, &gpu, &on);
    ck_assert_ptr_eq(offload.offload.sums, &offload.sums);
    for (int i = 0; i < test_cases(60, real ? INT32_MAX : 2000); i++) {
        if (seconds_now() > last) break;
        const size_t most = i % 8 ? 70 : 300;
        struct product p = pose(test_bits(&rng) % most, test_bits(&rng) % most,
                                test_bits(&rng) % most, &rng);
        struct fault f;
        solve(&p);
        const unsigned wanted = (unsigned)test_bits(&rng) % (1 << SUMS);
        const struct exact_sums_to to = { wanted & 1 ? p.got[0] : NULL,
                                          wanted & 2 ? p.got[1] : NULL,
                                          wanted & 4 ? p.got[2] : NULL,
                                          wanted & 8 ? p.got[3] : NULL };
        if (offload.sums.compute(&to, p.m, p.n, p.k, p.a, p.b, offload.sums.context,
                                 &f) != BITCUT_OK)
            ck_abort_msg("%s", f.text);
        check_sums(&p, wanted);
        check_judge(&p, &offload);
        outputs += p.m * p.n;
        end(&p);
    }
    printf("# %" PRIu64 " outputs\n", outputs);
    gpu_close(&gpu);
}
END_TEST

int main(void)
{
    const TTest *const list[] = { sums_to_the_bit, NULL };
    if (!getenv("DEVICE_MODULES") && access("tests/.libs/bitcut-cuda.so", F_OK)) {
        puts("1..0 # SKIP needs the shared library: configure without --disable-shared");
        return 0;
    }
    return test_run("exact sums on a device", list);
}
