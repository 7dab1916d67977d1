#include "analysis/advise/cost.h"

#include "emu/unit.h"
#include "lib/table.h"

#include <string.h>

/* Dense peak rates by the makers' data sheets, of the chips named: of V100 125 and 15.7
   TFLOPS, of T4 65 and 8.1, of A100 312, 156 and 19.5, of L40S 362, 183, 733 and 91.6, of
   H100 989, 495, 1979 and 67, of B200 2250, 1125, 4500 and 75, of RTX 5090 210, 105, 419
   and 105, with FP32 sums; of AMD's operations a clock of a compute unit: 1024, 512 and
   256 of CDNA1, 1024, 1024 and 256 of CDNA2, 2048, 2048, 1024, 4096 and 256 of CDNA3. */
const struct rate_row rates[] = {
    /* clang-format off */
    /* name             what                         bf16 tf32  fp8   f32 */
    { "volta",         "V100; FP32 on vector units",    0,   0,    0,   8 },
    { "turing",        "T4; FP32 on vector units",      0,   0,    0,   8 },
    { "ampere",        "A100; FP32 on vector units",    1,   2,    0,  16 },
    { "ada",           "L40S; FP32 on vector units",    1,   2,  0.5,   4 },
    { "hopper",        "H100; FP32 on vector units",    1,   2,  0.5,  15 },
    { "blackwell",     "B200; FP32 on vector units",    1,   2,  0.5,  30 },
    { "rtx-blackwell", "RTX 5090; FP32 on vector units", 1,  2,  0.5,   2 },
    { "cdna1",         "MI100",                         2,   0,    0,   4 },
    { "cdna2",         "MI210, MI250",                  1,   0,    0,   4 },
    { "cdna3",         "MI300X",                        1,   2,  0.5,   8 },
    { 0 }
    /* clang-format on */
};

/* Bytes of a word over those of f16. */
static double by_bytes(const struct bitcut_format *f)
{
    return f->bits <= 8 ? 0.5 : f->bits <= 16 ? 1 : 2;
}

static double product_cost(const struct rate_row *r, const struct bitcut_format *f)
{
    const double cost = f == &formats[FORMAT_BF16]   ? r->bf16
                        : f == &formats[FORMAT_TF32] ? r->tf32
                        : f == &formats[FORMAT_F32]  ? r->f32
                        : f->bits <= 8               ? r->fp8
                                                     : 1;
    return cost > 0 ? cost : by_bytes(f);
}

/* The row of a chip's architecture, or of a unit's, its name up to the '/'; or NULL. */
static const struct rate_row *rate_of(const char *place)
{
    const struct chip *chip = table_find(TABLE(chips), place);
    const char *const name = chip ? chip->architecture : place;
    const size_t length = strcspn(name, "/");
    for (const struct rate_row *row = rates; row->name; row++)
        if (!strncmp(row->name, name, length) && !row->name[length]) return row;
    return NULL;
}

double plan_cost(const struct gemm_plan *p, const char *place)
{
    const struct rate_row *row = rate_of(place);
    double sum = 0;
    for (int t = 0; t < p->terms; t++) {
        const struct bitcut_format *f = p->unit[t]->a;
        sum += row ? product_cost(row, f) : by_bytes(f);
    }
    return sum;
}
