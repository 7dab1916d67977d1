#include "analysis/advise/cost.h"

#include "emu/unit.h"
#include "lib/table.h"

#include <string.h>

/* Dense peak rates with FP32 sums; of f16 none where the source has that of another chip,
   or no frequency.  Data sheets since the H100's print twice these, of
   sparse operands.  Ratios are to the nearest of 0.5, 1, 2, 3, ... */
const struct rate_row rates[] = {
    /* clang-format off */
    /* name             what                            f16 bf16 tf32  fp8  f32  source */
    { "volta",         "V100; FP32 on vector units",         125, 0,   0,   0,   8,
      "NVIDIA A100 white paper, V100: TFLOPS of f16 125, f32 15.7" },
    { "turing",        "T4; FP32 on vector units",            65, 0,   0,   0,   8,
      "NVIDIA T4 data sheet: TFLOPS of f16 65, f32 8.1" },
    { "ampere",        "A100, A800; FP32 on vector units",   312, 1,   2,   0,  16,
      "NVIDIA A100 white paper: TFLOPS of f16 and bf16 312, tf32 156, f32 19.5" },
    { "a2",            "A2; FP32 on vector units",             0, 1,   2,   0,   4,
      "NVIDIA A40 data sheet, also sm_86: TFLOPS of f16 and bf16 149.7, tf32 74.8, f32 "
      "37.4; not checked with the A2's own" },
    { "ada",           "L40S; FP32 on vector units",         362, 1,   2, 0.5,   4,
      "NVIDIA L40S data sheet: TFLOPS of f16 and bf16 362, tf32 183, fp8 733, f32 91.6" },
    { "hopper",        "H100, H200; FP32 on vector units",   989, 1,   2, 0.5,  15,
      "NVIDIA H100 data sheet, SXM: TFLOPS of f16 and bf16 989, tf32 495, fp8 1979, f32 "
      "67" },
    { "blackwell",     "B200; FP32 on vector units",        2250, 1,   2, 0.5,  30,
      "NVIDIA Blackwell data sheet, HGX B200: TFLOPS of f16 and bf16 2250, tf32 1100, "
      "fp8 4500, f32 75" },
    { "rtx-blackwell", "RTX 5090; FP32 on vector units",   209.5, 1,   2, 0.5,   2,
      "NVIDIA RTX Blackwell white paper, appendix A: TFLOPS of f16 and bf16 209.5 (f16 "
      "with f16 sums 419), tf32 104.8, fp8 419, f32 104.8" },
    { "cdna1",         "MI100",                                0, 2,   0,   0,   4,
      "AMD lab notes, matrix cores: operations a clock of a CU of f16 1024, bf16 512, "
      "f32 256" },
    { "cdna2",         "MI210, MI250",                         0, 1,   0,   0,   4,
      "AMD lab notes, matrix cores: operations a clock of a CU of f16 and bf16 1024, f32 "
      "256" },
    { "cdna3",         "MI300X",                               0, 1,   2, 0.5,   8,
      "ROCm documentation, MI300 microarchitecture: operations a clock of a CU of f16 "
      "and bf16 2048, tf32 1024, fp8 4096, f32 256" },
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

/* The row of that name, up to its end or a '/'; or NULL. */
static const struct rate_row *rate_named(const char *name)
{
    const size_t length = strcspn(name, "/");
    for (const struct rate_row *row = rates; row->name; row++)
        if (!strncmp(row->name, name, length) && !row->name[length]) return row;
    return NULL;
}

/* The row of a chip, or else of its architecture, or of a unit's; or NULL. */
static const struct rate_row *rate_of(const char *place)
{
    const struct rate_row *row = rate_named(place);
    const struct chip *chip = row ? NULL : table_find(TABLE(chips), place);
    return chip ? rate_named(chip->architecture) : row;
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

double plan_tflops(const struct gemm_plan *p, const char *place)
{
    const struct rate_row *row = rate_of(place);
    return row ? row->f16 / plan_cost(p, place) : 0;
}
