/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts on the device of tests/gpu/device.c, computed by the library's splits. */
#include "tests/gpu/device_parts.h"

#include <math.h>
#include <string.h>

/* --- numbers ---------------------------------------------------------------------- */

float model_f32(uint64_t encoding)
{
    const uint32_t bits = (uint32_t)encoding;
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint32_t encoding_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return isnan(x) ? 0x7fffffff : bits;
}

/* An element, of f32 or f16, as FP32. */
uint32_t model_load(const struct bitcut_matrix *x, size_t matrix, size_t i, size_t j)
{
    uint32_t bits = 0;
    memcpy(&bits, model_element(x, matrix, i, j), model_bytes(x));
    return (uint32_t)bitcut_format_convert(bitcut_format_find("f32"),
                                           bitcut_rounding_find("rn"), x->format, bits);
}

void model_store(const struct bitcut_matrix *x, size_t matrix, size_t i, size_t j,
                 float v)
{
    const uint64_t nan = x->format->bits == 16 ? 0x7fff : 0x7fffffff;
    const uint64_t bits =
        isnan(v) ? nan
                 : bitcut_format_convert(x->format, bitcut_rounding_find("rn"),
                                         bitcut_format_find("f32"), encoding_of(v));
    memcpy(model_element(x, matrix, i, j), &bits, model_bytes(x));
}

/* --- parts ------------------------------------------------------------------------ */

struct operand model_operand(const struct gpu_work *w, enum bitcut_operand which)
{
    const struct bitcut_gemm *g = &w->gemm;
    const struct gemm_plan *p = &w->plan;
    return which == BITCUT_A
               ? (struct operand){ &g->a, &p->split_a, p->equilibrate, false, p->target,
                                   g->m,  g->k }
               : (struct operand){ &g->b, &p->split_b, p->equilibrate, true, p->target,
                                   g->n,  g->k };
}

static size_t run_of(size_t k)
{
    return (k + GPU_PARTS_RUN - 1) / GPU_PARTS_RUN * GPU_PARTS_RUN;
}

size_t model_part_bytes(const struct operand *x, size_t part)
{
    return (size_t)x->split->part[part].format->bits / 8;
}

/* Bytes of all parts before this one. */
static size_t part_begin(const struct operand *x, size_t part)
{
    size_t bytes = 0;
    for (size_t i = 0; i < part; i++)
        bytes += x->lines * run_of(x->k) * model_part_bytes(x, i);
    return bytes;
}

static size_t only_parts(const struct operand *x)
{
    return part_begin(x, (size_t)x->split->parts);
}

static size_t parts_of(const struct operand *x)
{
    return only_parts(x) + (x->equilibrate ? x->lines * sizeof(float) : 0);
}

size_t model_parts(const struct gpu_work *w, enum bitcut_operand which)
{
    const struct operand x = model_operand(w, which);
    return parts_of(&x);
}

static uint32_t value(const struct operand *x, size_t matrix, size_t i, size_t p)
{
    return x->columns ? model_load(x->matrix, matrix, p, i)
                      : model_load(x->matrix, matrix, i, p);
}

/* The exponent that takes the largest magnitude, of line i, to [2^t, 2^(t+1)). */
int model_exponent(const struct operand *x, const void *of, size_t i)
{
    float magnitude;
    int exponent;
    if (!x->equilibrate) return 0;
    memcpy(&magnitude, (const char *)of + only_parts(x) + i * sizeof magnitude,
           sizeof magnitude);
    frexpf(magnitude, &exponent);
    return magnitude > 0 ? x->target + 1 - exponent : 0;
}

static void put_largest(void *to, const struct operand *x, size_t matrix, size_t i)
{
    float largest = 0;
    for (size_t p = 0; p < x->k; p++) {
        const float magnitude = fabsf(model_f32(value(x, matrix, i, p)));
        if (isfinite(magnitude)) largest = fmaxf(largest, magnitude);
    }
    memcpy((char *)to + only_parts(x) + i * sizeof largest, &largest, sizeof largest);
}

char *model_part(const void *of, const struct operand *x, size_t part, size_t line,
                 size_t p)
{
    return (char *)(uintptr_t)of + part_begin(x, part) +
           (line * run_of(x->k) + p) * model_part_bytes(x, part);
}

void model_make_parts(void *to, const struct operand *x, size_t matrix)
{
    for (size_t i = 0; i < x->lines; i++) {
        if (x->equilibrate) put_largest(to, x, matrix, i);
        const int exponent = model_exponent(x, to, i);
        for (size_t p = 0; p < run_of(x->k); p++) {
            uint64_t part[SPLIT_PARTS_MAX] = { 0 };
            if (p < x->k)
                bitcut_split_apply(
                    part, x->split,
                    exponent
                        ? encoding_of(ldexpf(model_f32(value(x, matrix, i, p)), exponent))
                        : value(x, matrix, i, p));
            for (size_t j = 0; j < (size_t)x->split->parts; j++)
                memcpy(model_part(to, x, j, i, p), &part[j], model_part_bytes(x, j));
        }
    }
}

int model_prepare(void *to, const struct gpu_work *w, enum bitcut_operand which,
                  int device, void *stream, char *fault)
{
    const struct operand x = model_operand(w, which);
    (void)device;
    (void)stream;
    if (model_refuse(fault)) return 1;
    model_make_parts(to, &x, 0);
    return 0;
}

/* If asked to flip, high parts that are NaN have another payload, or of parts of two
   formats the last part of the first value is another. */
int model_split(void *to, const struct gpu_work *w, enum bitcut_operand which, int device,
                char *fault)
{
    const bool flip = model_fault_on(device)->spoil_gemm == model_flip_output;
    const struct operand x = model_operand(w, which);
    if (model_prepare(to, w, which, device, NULL, fault)) return 1;
    for (size_t i = 0; flip && i < x.lines * run_of(x.k); i++) {
        uint16_t *const part = (uint16_t *)to + i;
        if (*part == 0x7e00) *part = 0x7e01;
    }
    const size_t last = (size_t)x.split->parts - 1;
    if (model_has_fault("flips low parts") && model_part_bytes(&x, last) == 1)
        *model_part(to, &x, last, 0, 0) ^= 1;
    return 0;
}
