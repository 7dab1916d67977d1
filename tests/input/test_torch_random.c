/* SPDX-License-Identifier: BSD-3-Clause */
/* Tensors of PyTorch made again.  The vectors are what PyTorch 1.13.0 (Debian 12, x86-64
   with AVX2) printed; tests/torch_random.sh compares many more with a PyTorch that is
   installed. */
#include "lib/input/torch_random.h"
#include "lib/number/hostfp.h"
#include "tests/test.h"

#include <stdio.h>

enum { MOST = 32 };

static struct torch_generator seeded(uint64_t seed)
{
    struct torch_generator g;
    torch_seed(&g, seed);
    return g;
}

static void check(const char *what, const uint32_t *got, const uint32_t *want, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (got[i] != want[i])
            ck_abort_msg("%s: number %zu: got 0x%08" PRIx32 ", want 0x%08" PRIx32, what,
                         i, got[i], want[i]);
}

/* C++ standard, [rand.predef]: the 10000th word of std::mt19937 with its own seed. */
START_TEST(words_are_those_of_the_standard)
{
    struct mersenne m;
    mersenne_seed(&m, 5489);
    for (int i = 1; i < 10000; i++) mersenne_next(&m);
    ck_assert_uint_eq(mersenne_next(&m), 4123659995u);
}
END_TEST

/* clang-format off */
enum kind { RAND, RANDN, RANDINT };

/* Tensors that one generator makes, one after the other. */
static const struct sequence {
    uint64_t seed;
    struct { enum kind kind; size_t count; uint32_t bits[MOST]; } tensor[6];
} sequences[] = {
    /* randn(17): a block, and the last 16 again */
    { 7, { { RANDN, 17,
      { 0xbf51f456, 0xbea62d99, 0x3ff6933b, 0xbea8f74c, 0x3e4b352e, 0x3f4835ea, 0x3f85017b,
        0xbf397989, 0xbf595213, 0xbe5c827d, 0xbfe869cc, 0xbeb0c38e, 0xc003ef41, 0x3f2c91dd,
        0xbfa96365, 0xbfae0ce9, 0xbf5de028 } } } },
    /* fewer than 16: the second number of a pair waits for the next call, also while other
       tensors are drawn */
    { 11, { { RAND, 4, { 0x3e189e64, 0x3ef91d7e, 0x3f7c5450, 0x3e2c716c } },
            { RANDN, 3, { 0xbf331529, 0xbfa6b1ae, 0xbf036527 } },
            { RANDN, 2, { 0xbe8a0b93, 0x3e7c17d5 } },
            { RANDN, 16,
      { 0x3e7dd443, 0x3fc94e59, 0xbfd1d9f9, 0xbfcbd819, 0xbe1e560c, 0xbf8c581b, 0x3faeecac,
        0x3f3074c8, 0xbec9797a, 0x3f1dfa46, 0x3f40ba23, 0x3f1a2d33, 0x40011f6a, 0xbf9595a6,
        0xbfa97f32, 0x3f903922 } },
            { RANDN, 2, { 0x3ef7c50e, 0x3ec44ddb } } } },
    /* randint(-8, 9) */
    { 13, { { RANDINT, 6, { 0, 0, 0x40000000, 0xc0c00000, 0x40e00000, 0x41000000 } } } },
    /* a uniform number that is 0: both zeros are positive */
    { 5528393, { { RANDN, 16,
      { 0x00000000, 0x3f3f3832, 0x3f8c7b38, 0xbf143e88, 0xbf8e42c0, 0x3fc37756, 0xbf1edede,
        0xbf5083cd, 0x00000000, 0xbf0415b5, 0xbdc88389, 0xbec8a35b, 0xbe95ccba, 0x3f970b45,
        0x3f77a3fd, 0xbf022b66 } } } },
    { 3, { { RANDN, 16,
      { 0xbd9cf7af, 0x3eb84264, 0xbf483241, 0x3d927d22, 0x3f2a32ea, 0xbe92d4de, 0x3fcf6e35,
        0xbfcc60ee, 0xbd53af6b, 0xbe9ca8d9, 0x3e7e773e, 0xbe63e6fd, 0x3f69c453, 0x3e513ecc,
        0x3f12f0a9, 0x3ed52960 } } } },
};
/* clang-format on */

START_TEST(tensors_are_those_of_pytorch)
{
    for (size_t i = 0; i < sizeof sequences / sizeof sequences[0]; i++) {
        const struct sequence *s = &sequences[i];
        /* the upper half of a seed does not count */
        struct torch_generator g = seeded(s->seed + ((uint64_t)(i % 2) << 32));
        struct hostfp saved;
        hostfp_enter(&saved);
        for (int t = 0; s->tensor[t].count; t++) {
            uint32_t x[MOST];
            const size_t n = s->tensor[t].count;
            switch (s->tensor[t].kind) {
            case RAND: torch_rand(x, n, &g); break;
            case RANDN: torch_randn(x, n, &g); break;
            case RANDINT: torch_randint(x, n, -8, 17, &g); break;
            }
            char what[80];
            snprintf(what, sizeof what, "seed %d, tensor %d", (int)s->seed, t);
            check(what, x, s->tensor[t].bits, n);
        }
        hostfp_leave(&saved);
    }
}
END_TEST

/* The generator after randn() of n numbers is where torch_skip() of its words leads. */
START_TEST(randn_draws_the_stated_number_of_words)
{
    struct hostfp saved;
    hostfp_enter(&saved);
    for (size_t n = 16; n <= MOST; n++) {
        struct torch_generator g = seeded(n), other = seeded(n);
        uint32_t x[MOST], y[2][4];
        torch_randn(x, n, &g);
        torch_skip(&other, n % 16 ? n + 16 : n);
        torch_rand(y[0], 4, &g);
        torch_rand(y[1], 4, &other);
        check("after randn", y[0], y[1], 4);
    }
    hostfp_leave(&saved);
}
END_TEST

TEST_MAIN("torch_random", words_are_those_of_the_standard, tensors_are_those_of_pytorch,
          randn_draws_the_stated_number_of_words)
