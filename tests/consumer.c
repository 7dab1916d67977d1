/* A program that knows nothing but the installed header, in C and in C++. */
#include <bitcut.h>

#include <stdio.h>
#include <string.h>

/* 1 + 2^-11 is halfway between two f16 numbers: to even is 1. */
static int converts(void)
{
    const struct bitcut_format *f32 = bitcut_format_find("f32");
    const struct bitcut_format *f16 = bitcut_format_find("f16");
    const struct bitcut_rounding *rn = bitcut_rounding_find("rn");
    return f32 && f16 && rn && bitcut_format_convert(f16, rn, f32, 0x3f801000) == 0x3c00;
}

/* [1 2] [3 4]^T = 11. */
static int multiplies(void)
{
    const uint32_t a[2] = { 0x3f800000, 0x40000000 };
    const uint32_t b[2] = { 0x40400000, 0x40800000 };
    uint32_t c = 0;
    return bitcut_exact_gemm(&c, NULL, 1, 1, 2, a, b, 1) == BITCUT_OK && c == 0x41300000;
}

/* An array of no elements may be NULL; what a call can see to be wrong is refused, and the
   output is as it was. */
static int refuses(void)
{
    const enum bitcut_status bad = BITCUT_BAD_ARGUMENT;
    const struct bitcut_recipe *fp32 = bitcut_recipe_find("fp32");
    const struct bitcut_unit *fma = bitcut_unit_find("fma/f32", NULL);
    const uint32_t x[4] = { 0x3f800000, 0, 0, 0 }, one = 0x3f800000;
    const uint64_t w[1] = { 0 };
    const size_t all = SIZE_MAX, most = SIZE_MAX / 4;
    uint32_t d[4] = { 5, 5, 5, 5 };
    uint64_t e[1] = { 5 };
    char why[BITCUT_TEXT_MOST] = "";
    return bitcut_recipe_find(NULL) == NULL && bitcut_unit_find(NULL, NULL) == NULL &&
           bitcut_gemm(d, 1, NULL, fma, 1, 1, 1, one, x, 1, x, 1, 0, NULL, 0, 1) == bad &&
           bitcut_gemm(d, 1, fp32, NULL, 1, 1, 1, one, x, 1, x, 1, 0, NULL, 0, 1) == bad &&
           bitcut_gemm(d, 1, fp32, fma, 1, 1, 1, one, NULL, 1, x, 1, 0, NULL, 0, 1) == bad &&
           bitcut_gemm(d, 1, fp32, fma, 1, 1, 1, one, x, 1, NULL, 1, 0, NULL, 0, 1) == bad &&
           bitcut_gemm(d, 1, fp32, fma, 1, 1, 1, one, x, 1, x, 1, one, NULL, 1, 1) == bad &&
           bitcut_gemm(NULL, 1, fp32, fma, 1, 1, 1, one, x, 1, x, 1, 0, NULL, 0, 1) == bad &&
           bitcut_gemm(d, 1, fp32, fma, 1, 1, all, one, x, all, x, 1, 0, NULL, 0, 1) == bad &&
           bitcut_gemm(d, 1, fp32, fma, all, 1, 1, one, x, 1, x, 1, 0, NULL, 0, 1) == bad &&
           bitcut_gemm(d, all, fp32, fma, 3, 1, 1, one, x, 1, x, 1, 0, NULL, 0, 1) == bad &&
           bitcut_gemm(d, all, fp32, fma, 1, all, 1, one, x, 1, x, all, 0, NULL, 0, 1) == bad &&
           bitcut_gemm(NULL, all, fp32, fma, 0, all, all, one, NULL, all, NULL, all, 0, NULL,
                       0, 1) == BITCUT_OK &&
           bitcut_gemm_equilibrated(NULL, 1, fp32, fma, 1, 1, 1, one, x, 1, x, 1, 0, NULL, 0,
                                    1) == bad &&
           bitcut_exact_gemm(d, NULL, 1, 1, 1, NULL, x, 1) == bad &&
           bitcut_exact_gemm(d, NULL, 1, 1, 1, x, NULL, 1) == bad &&
           bitcut_exact_gemm(d, e, all, 1, 1, x, x, 1) == bad &&
           bitcut_exact_gemm(d, e, 1, 1, most, x, x, 1) == bad &&
           bitcut_exact_gemm(d, e, most / 2 + 1, 2, 0, NULL, NULL, 1) == bad &&
           bitcut_exact_gemm(NULL, NULL, all, 0, all, NULL, NULL, 1) == BITCUT_OK &&
           bitcut_mma(e, NULL, 1, 1, 1, 1, w, w, w, 1) == bad &&
           bitcut_mma(NULL, fma, 1, 1, 1, 1, w, w, w, 1) == bad &&
           bitcut_mma(e, fma, 1, 1, 1, 1, NULL, w, w, 1) == bad &&
           bitcut_mma(e, fma, 1, 1, 1, 1, w, NULL, w, 1) == bad &&
           bitcut_mma(e, fma, 1, 1, 1, 1, w, w, NULL, 1) == bad &&
           bitcut_mma(e, fma, all, 1, 1, 1, w, w, w, 1) == bad &&
           bitcut_mma(e, fma, 2, all / 2, 1, 1, w, w, w, 1) == bad &&
           bitcut_mma(NULL, fma, all, 0, 0, 1, NULL, NULL, NULL, 1) == BITCUT_OK &&
           bitcut_cuda_open(NULL, why) == bad && strlen(why) &&
           bitcut_gemm_cuda(NULL, NULL, NULL, 0, NULL, NULL) == bad &&
           bitcut_gemm_cuda_workspace(NULL, NULL, NULL, NULL) == bad &&
           bitcut_hgemm_cuda_batch(NULL, NULL, 1, NULL, NULL) == bad && d[0] == 5 &&
           e[0] == 5;
}

/* A device, or a reason why there is none. */
static int opens(void)
{
    char why[BITCUT_TEXT_MOST] = "";
    struct bitcut_cuda *cuda = NULL;
    const enum bitcut_status status = bitcut_cuda_open(&cuda, why);
    if (status != BITCUT_OK) return status == BITCUT_CANNOT && !cuda && strlen(why);
    const int named = strlen(bitcut_cuda_device(cuda)) != 0;
    bitcut_cuda_close(cuda);
    return named;
}

int main(void)
{
    if (!strlen(bitcut_version())) return puts("consumer: no version"), 1;
    if (!converts()) return puts("consumer: wrong conversion"), 1;
    if (!multiplies()) return puts("consumer: wrong product"), 1;
    if (!refuses()) return puts("consumer: bad arguments are not refused"), 1;
    if (!opens()) return puts("consumer: neither a device nor a reason"), 1;
    return 0;
}
