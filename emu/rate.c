/* SPDX-License-Identifier: BSD-3-Clause */
#include "emu/rate.h"

#include "lib/base/table.h"

#include <math.h>
#include <string.h>

/* Data sheets since the H100's print twice these rates, for sparse operands. */
const struct rate_row rates[] = {
    /* clang-format off */
    /* name             what                               f16    bf16   tf32   fp8    s8     f32 */
    { "volta",         "V100; FP32 on vector units",    {  125,     0,     0,    0,    0,  15.7 },
      .source = "NVIDIA A100 white paper, V100: TFLOPS of f16 125, f32 15.7",
      .device = { "V100-SXM2" } },
    { "turing",        "T4; FP32 on vector units",      {   65,     0,     0,    0,    0,   8.1 },
      .source = "NVIDIA T4 data sheet: TFLOPS of f16 65, f32 8.1",
      .device = { "Tesla T4" } },
    { "ampere",        "A100, A800; FP32 on vector units",
                                                        {  312,   312,   156,    0,  624,  19.5 },
      .source = "NVIDIA A100 white paper: TFLOPS of f16 and bf16 312, tf32 156, f32 "
                "19.5; TOPS of s8 624",
      .device = { "A100", "A800" } },
    { "a40",           "A40; FP32 on vector units",     { 149.7, 149.7, 74.8,    0, 299.3, 37.4 },
      .source = "NVIDIA A40 data sheet: TFLOPS of f16 and bf16 149.7, tf32 74.8, f32 "
                "37.4; TOPS of s8 299.3",
      .device = { "NVIDIA A40" } },
    { "rtx3090",       "RTX 3090; FP32 on vector units",
                                                        {   71,    71,  35.6,    0,  284,  35.6 },
      .source = "NVIDIA GA102 white paper, RTX 3090: TFLOPS of f16 and bf16 71 (f16 with "
                "f16 sums 142), tf32 35.6, f32 35.6; TOPS of s8 284",
      .device = { "RTX 3090" } },
    { "ada",           "L40S; FP32 on vector units",    {  362,   362,   183,  733,  733,  91.6 },
      .source = "NVIDIA L40S data sheet: TFLOPS of f16 and bf16 362, tf32 183, fp8 733, "
                "f32 91.6; TOPS of s8 733",
      .device = { "L40S" } },
    { "rtx4090",       "RTX 4090; FP32 on vector units",
                                                        { 165.2, 165.2, 82.6, 330.3, 660.6, 82.6 },
      .source = "NVIDIA Ada white paper, appendix A, RTX 4090: TFLOPS of f16 and bf16 "
                "165.2 (f16 with f16 sums 330.3), tf32 82.6, fp8 330.3, f32 82.6; TOPS of "
                "s8 660.6",
      .device = { "RTX 4090" } },
    { "hopper",        "H100, H200; FP32 on vector units",
                                                        {  989,   989,   495, 1979, 1979,    67 },
      .source = "NVIDIA H100 data sheet, SXM: TFLOPS of f16 and bf16 989, tf32 495, fp8 "
                "1979, f32 67; TOPS of s8 1979",
      .device = { "H100 80GB HBM3", "H200" } },
    { "blackwell",     "B200; FP32 on vector units",    { 2250,  2250,  1100, 4500,    0,    75 },
      .source = "NVIDIA Blackwell data sheet, HGX B200: TFLOPS of f16 and bf16 2250, tf32 "
                "1100, fp8 4500, f32 75",
      .device = { "NVIDIA B200" } },
    { "rtx-blackwell", "RTX 5090; FP32 on vector units",
                                                        { 209.5, 209.5, 104.8, 419,    0, 104.8 },
      .source = "NVIDIA RTX Blackwell white paper, appendix A: TFLOPS of f16 and bf16 "
                "209.5 (f16 with f16 sums 419), tf32 104.8, fp8 419, f32 104.8",
      .device = { "RTX 5090" } },
    { "cdna1",         "MI100",                         { 1024,   512,     0,    0,    0,   256 },
      .clocked = true,
      .source = "AMD lab notes, matrix cores: operations a clock of a CU of f16 1024, bf16 "
                "512, f32 256" },
    { "cdna2",         "MI210, MI250",                  { 1024,  1024,     0,    0,    0,   256 },
      .clocked = true,
      .source = "AMD lab notes, matrix cores: operations a clock of a CU of f16 and bf16 "
                "1024, f32 256" },
    { "cdna3",         "MI300X",                        { 2048,  2048,  1024, 4096,    0,   256 },
      .clocked = true,
      .source = "ROCm documentation, MI300 microarchitecture: operations a clock of a CU "
                "of f16 and bf16 2048, tf32 1024, fp8 4096, f32 256" },
    { 0 }
    /* clang-format on */
};

enum rate_format rate_format_of(const struct bitcut_format *f)
{
    static const struct {
        int format;
        enum rate_format rate;
    } own[] = { { FORMAT_BF16, RATE_BF16 },
                { FORMAT_TF32, RATE_TF32 },
                { FORMAT_F32, RATE_F32 } };
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (f == &formats[own[i].format]) return own[i].rate;
    if (format_is_integer(f)) return RATE_S8;
    return f->bits <= 8 ? RATE_FP8 : RATE_F16;
}

double rate_cost(const struct rate_row *r, enum rate_format format)
{
    if (!(r->peak[format] > 0)) return 0;
    const double cost = r->peak[RATE_F16] / r->peak[format];
    return cost < 0.75 ? 0.5 : round(cost);
}

/* The row with this name, which ends at a '/' or at the end of the text; or NULL. */
static const struct rate_row *rate_named(const char *name)
{
    const size_t length = strcspn(name, "/");
    for (const struct rate_row *row = rates; row->name; row++)
        if (!strncmp(row->name, name, length) && !row->name[length]) return row;
    return NULL;
}

const struct rate_row *rate_find(const char *place)
{
    const struct chip *const chip = table_find(TABLE(chips), place);
    if (!chip) return rate_named(place);
    return chip->rates ? rate_named(chip->rates) : NULL;
}

double rate_tflops_of(const char *place)
{
    const struct rate_row *const row = rate_find(place);
    const struct chip *const chip = table_find(TABLE(chips), place);
    return row && !(chip && chip->ratios) ? rate_tflops(row) : 0;
}

const struct rate_row *rate_of_device(const char *device)
{
    for (const struct rate_row *row = rates; row->name; row++)
        for (int i = 0; i < RATE_DEVICES_MAX && row->device[i]; i++)
            if (strstr(device, row->device[i])) return row;
    return NULL;
}

double rate_tflops(const struct rate_row *row)
{
    return row->clocked ? 0 : row->peak[RATE_F16];
}
