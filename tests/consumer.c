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
    if (!opens()) return puts("consumer: neither a device nor a reason"), 1;
    return 0;
}
