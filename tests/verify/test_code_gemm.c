/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels of the user: the syntax of `arguments`, `grid` and `block`, and the arguments
   that a kernel receives.  Kernels are run in tests/hsaco.sh. */
#include "analysis/verify/code_gemm.h"
#include "tests/gfx9/gfx9_file.h"
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

enum { TEXT = 64 };

/* A kernel of 64 work-items that ends at once, of arguments that letters say: p an
   address, 4 and 8 so many bytes, s a structure. */
static struct gfx9_object *make_code(const char *arguments)
{
    const uint32_t s_endpgm = 0xbf810000;
    struct code_file x = {
        .target = &gfx9_targets[0], .code = &s_endpgm, .dwords = 1, .items_most = 64
    };
    uint32_t end = 0;
    for (; *arguments; arguments++) {
        const uint32_t bytes = *arguments == '4' ? 4 : *arguments == 's' ? 24 : 8;
        end = (end + bytes - 1) / 8 * 8;
        x.argument[x.arguments++] = (struct code_argument){
            .offset = end, .bytes = bytes, .address = *arguments == 'p'
        };
        end += bytes;
    }
    x.descriptor.arguments = end;
    size_t bytes;
    struct gfx9_object *o;
    struct fault f;
    uint8_t *file = code_file_make(&bytes, &x);
    ck_assert_msg(gfx9_load(&o, file, bytes, &f) == BITCUT_OK, "%s", f.text);
    free(file);
    return o;
}

/* The GEMM 3 x 5 x 4, with C or without. */
static enum bitcut_status call(const struct gfx9_object *x, const char *arguments,
                               const char *grid, const char *block, bool has_c,
                               struct fault *f)
{
    uint32_t elements[3][20];
    struct matrix m[3] = { { .rows = 3, .cols = 4, .at = elements[0] },
                           { .rows = 4, .cols = 5, .at = elements[1] },
                           { .rows = 3, .cols = 5 } };
    const uint32_t scalars[2] = { 0x3f800000, 0 };
    const struct code_call c = {
        .symbol = "k", .arguments = arguments, .grid = grid, .block = block, .threads = 1
    };
    struct code_result r = { 0 };
    memset(elements, 0x40, sizeof elements);
    if (has_c) m[2].at = elements[2];
    const enum bitcut_status status =
        code_gemm_run(&r, &m[0], &m[1], &m[2], scalars, x, &c, f);
    if (status != BITCUT_OK) return status;
    ck_assert_uint_eq(r.d.rows, 3);
    ck_assert_uint_eq(r.d.cols, 5);
    for (int i = 0; i < 15; i++) /* as it was: NaNs, or without d what C had */
        ck_assert((r.d.at[i] & 0x7fffffff) > 0x7f800000 || r.d.at[i] == elements[2][i]);
    matrix_clear(&r.d);
    return status;
}

static const struct {
    const char *kernel, *arguments, *grid, *block;
    bool has_c;
    const char *fault; /* NULL: it is right */
} calls[] = {
    { "ppp444", "a,b,d,m,n,k", "n/16,m/16", "64", false, NULL },
    { "ppp888", "a,bt,dt,lda,ldb,ldd", "m/64*n/64", "8,8", false, NULL },
    { "ppp4", "a:f16,b:bf16,d:f16,0", "1,2,3", "m*n", false, NULL },
    { "pppp48", "a,b,c,d,alpha,beta", "1", "64", true, NULL },
    { "ppp", "a,b,c", "1", "64", true, NULL },
    { "ppp", "a,b,c", "1", "64", false, NULL },
    { "pppp", "a,b,d,0", "4294967295/4294967295", "1", false, NULL },
    { "888p", "a,b,d,0", "1", "1", false, NULL },
    { "ppp", "a,b,d", "1", "65", false,
      "k: 65 work-items exceed the 64 that the kernel was compiled for" },
    { "ppp", "a,b,d", "65536,65536", "1", false,
      "k: the grid has more than 2^31 work-groups" },
    { "ppp", "a,b,d", "4294967295,4294967295,4294967295", "1", false,
      "k: the grid has more than 2^31 work-groups" },
    { "ppp", "a,b,d", "2147483648,2147483648,4", "1", false,
      "k: the grid has more than 2^31 work-groups" },
    { "ppp", "a,b,d", "2147483647", "64", false,
      "k: the grid has more than 2^32 work-items along one dimension" },
    { "ppp", "a,b,d", "1", "2147483648,2147483648,4", false,
      "k: a work-group must have 1 to 1024 work-items, found more than "
      "18446744073709551615" },
    { "ppp", "a,b,d", "1", "4294967295,4294967295,4294967295", false,
      "k: a work-group must have 1 to 1024 work-items, found more than "
      "18446744073709551615" },
    { "ppp", "a,b,d", "1", "0", false,
      "k: a work-group must have 1 to 1024 work-items, found 0" },
    { "ppp", "a,b,d,m", "1", "1", false,
      "--args has 4 arguments, but k takes 3: address, address, address" },
    { "ppp4", "", "1", "1", false,
      "--args has 0 arguments, but k takes 4: address, address, address, 4 bytes" },
    { "ppp4", "a,b,m,d", "1", "1", false,
      "m cannot be argument 3 of k, which takes address, address, address, 4 bytes" },
    { "ppp4", "a,b,d,c", "1", "1", false, "c cannot be argument 4" },
    { "pppp", "a,b,d,1", "1", "1", false, "1 cannot be argument 4" },
    { "ppps", "a,b,d,m", "1", "1", false,
      "m cannot be argument 4 of k, which takes address, "
      "address, address, 24 bytes" },
    { "ppp", "a,b,x", "1", "1", false, "unknown argument x; use a, b, c, d" },
    { "ppp", "a,b,", "1", "1", false, "unknown argument \"\"" },
    { "ppp", "a,b,d:f64", "1", "1", false,
      "d:f64: unknown format, or its values are not FP32 values" },
    { "ppp", "a,b,d:", "1", "1", false, "d:: unknown format" },
    { "ppp4", "a,b,d,m:f16", "1", "1", false, "m: only a matrix can have a format" },
    { "ppp", "a,a,d", "1", "1", false, "--args: duplicate argument a" },
    { "ppp", "a,at,d", "1", "1", false, "--args: duplicate argument at" },
    { "ppp", "b,c,d", "1", "1", false, "--args: missing argument a" },
    { "ppp", "a,c,d", "1", "1", false, "--args: missing argument b" },
    { "pp", "a,b", "1", "1", false, "--args: missing argument d" },
    { "ppp", "a,b,d", "1", "1", true, "--args: missing argument c, required by -c" },
    { "ppp", "a,b,d", "", "1", false, "--grid : expected 1 to 3 extents" },
    { "ppp", "a,b,d", "1,1,1,1", "1", false, "--grid 1,1,1,1: expected 1 to 3 extents" },
    { "ppp", "a,b,d", "m/0", "1", false, "--grid m/0: expected 1 to 3 extents" },
    { "ppp", "a,b,d", "m/", "1", false, "--grid m/: expected 1 to 3 extents" },
    { "ppp", "a,b,d", "m*", "1", false, "--grid m*: expected 1 to 3 extents" },
    { "ppp", "a,b,d", "1", "q", false, "--block q: expected 1 to 3 extents" },
    { "ppp", "a,b,d", "65536*65536", "1", false, "--grid 65536*65536: expected 1 to 3" },
    { "ppp", "a,b,d", "4294967296", "1", false, "--grid 4294967296: expected 1 to 3" },
};
enum { CALLS = sizeof calls / sizeof *calls };

START_TEST(called)
{
    struct fault f;
    for (int i = 0; i < CALLS; i++) {
        struct gfx9_object *x = make_code(calls[i].kernel);
        const enum bitcut_status status = call(x, calls[i].arguments, calls[i].grid,
                                               calls[i].block, calls[i].has_c, &f);
        gfx9_unload(x);
        if (!calls[i].fault)
            ck_assert_msg(status == BITCUT_OK, "%s: %s", calls[i].arguments, f.text);
        else {
            ck_assert_int_eq(status, BITCUT_BAD_ARGUMENT);
            ck_assert_msg(strstr(f.text, calls[i].fault), "%s: %s", calls[i].arguments,
                          f.text);
        }
    }
}
END_TEST

/* Bytes changed, taken out and put in: an answer, and nothing else. */
static void edit(char text[TEXT], uint64_t *rng)
{
    static const char some[] = "abcdt,:/*mnkl0123456789f ";
    const int length = (int)strlen(text), at = test_between(rng, 0, length);
    const char byte = some[test_between(rng, 0, (int)sizeof some - 2)];
    switch (test_between(rng, 0, 2)) {
    case 0:
        if (at < length) text[at] = byte;
        break;
    case 1:
        if (at < length) memmove(text + at, text + at + 1, (size_t)(length - at));
        break;
    default:
        if (length + 1 < TEXT)
            memmove(text + at + 1, text + at, (size_t)(length - at + 1));
        if (length + 1 < TEXT) text[at] = byte;
    }
}

START_TEST(fuzzed)
{
    uint64_t rng = test_seed();
    struct gfx9_object *code[CALLS];
    struct fault f;
    int good = 0;
    for (int i = 0; i < CALLS; i++) code[i] = make_code(calls[i].kernel);
    for (int n = test_cases(40000, 2000000); n > 0; n--) {
        char text[3][TEXT];
        const int i = test_between(&rng, 0, CALLS - 1);
        const char *const from[] = { calls[i].arguments, calls[i].grid, calls[i].block };
        for (int t = 0; t < 3; t++) strcpy(text[t], from[t]);
        for (int e = test_between(&rng, 1, 3); e > 0; e--)
            edit(text[test_between(&rng, 0, 2)], &rng);
        /* No grid of many work-groups, which would be right and long. */
        if (strlen(text[1]) > 3) text[1][3] = 0;
        const enum bitcut_status status =
            call(code[i], text[0], text[1], text[2], calls[i].has_c, &f);
        ck_assert(status == BITCUT_OK || status == BITCUT_BAD_ARGUMENT);
        if (status == BITCUT_BAD_ARGUMENT) ck_assert_uint_gt(strlen(f.text), 10);
        good += status == BITCUT_OK;
    }
    ck_assert_int_gt(good, 0);
    for (int i = 0; i < CALLS; i++) gfx9_unload(code[i]);
}
END_TEST

TEST_MAIN("code_gemm", called, fuzzed)
