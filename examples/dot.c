/* SPDX-License-Identifier: BSD-3-Clause */
/* One dot product on several units; then a GEMM by two recipes, and exactly. */
#include <bitcut.h>

#include <inttypes.h>
#include <stdio.h>

/* c + a b on the chip's f16 unit; operands are padded with +0 to its k. */
static int dot(const char *chip, size_t k)
{
    const struct bitcut_unit *unit = bitcut_unit_find(chip, bitcut_format_find("f16"));
    const uint64_t a[16] = { 0xf000, 0xb800, 0xb400, 0xb000 }; /* -2^13 -1/2 -1/4 -1/8 */
    const uint64_t b[16] = { 0x6400, 0x3c00, 0x3c00, 0x3c00 }; /*  2^10    1    1    1 */
    const uint64_t c = 0x4b000000;                             /*  2^23, an f32        */
    uint64_t d;
    if (!unit || bitcut_mma(&d, unit, 1, 1, 1, k, a, b, &c, 1) != BITCUT_OK) return 1;
    printf("%-28s 0x%08" PRIx64 "\n", bitcut_unit_name(unit), d);
    return 0;
}

/* A row of 64 times 0.1 by a column of 64 times 0.7. */
static int gemm(void)
{
    static const char *const recipes[] = { "legemm", "ootomo" };
    const struct bitcut_unit *unit = bitcut_unit_find("h100", bitcut_format_find("f16"));
    struct bitcut_gemm g;
    uint32_t a[64], b[64], d;
    for (int i = 0; i < 64; i++) a[i] = 0x3dcccccd, b[i] = 0x3f333333;
    bitcut_gemm_init(&g, sizeof g);
    g.unit = unit;
    g.m = g.n = 1, g.k = 64;
    g.a.at = a, g.b.at = b, g.d.to = &d;
    for (int i = 0; i < 2; i++) {
        g.recipe = bitcut_recipe_find(recipes[i]);
        if (bitcut_gemm(NULL, &g, 1, NULL) != BITCUT_OK) return 1;
        printf("%-28s 0x%08" PRIx32 "\n", recipes[i], d);
    }
    if (bitcut_exact_gemm(&d, NULL, 1, 1, 64, a, b, 1) != BITCUT_OK) return 1;
    printf("%-28s 0x%08" PRIx32 "\n", "exact", d);
    return 0;
}

int main(void) { return dot("v100", 4) || dot("a100", 16) || dot("h100", 16) || gemm(); }
