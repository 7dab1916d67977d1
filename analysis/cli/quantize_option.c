/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/quantize_option.h"

#include "analysis/cli/option.h"
#include "emu/unit.h"
#include "lib/base/size.h"
#include "lib/io/json_record.h"
#include "lib/number/bits.h"
#include "lib/number/fma.h"
#include "lib/number/round.h"

#include <stdlib.h>

static int find(struct quantized *to, const char *option, const char *name,
                const char *scales, const char *block)
{
    *to = (struct quantized){ .quantizer = bitcut_quantizer_find(name) };
    if (name && !to->quantizer) return fail_unknown(option, name, TABLE(quantizers));
    if (name && (scales || block))
        return complain(option, "cannot be combined with factors of the same operand");
    return EXIT_GOOD;
}

int quantize_values(struct quantized *to, const char *option, const char *name,
                    const struct matrix *x, bool as_b)
{
    struct matrix turned = { .at = NULL };
    struct fault f;
    enum bitcut_status status = BITCUT_OK;
    if (find(to, option, name, NULL, NULL) != EXIT_GOOD) return EXIT_USAGE;
    if (as_b) status = matrix_init(&turned, x->cols, x->rows, &f);
    if (status == BITCUT_OK && as_b) matrix_transpose(turned.at, x->at, x->rows, x->cols);
    if (status == BITCUT_OK)
        status = quantize(NULL, NULL, NULL, to, to->quantizer, as_b ? turned.at : x->at,
                          as_b ? x->cols : x->rows, as_b ? x->rows : x->cols, &f);
    matrix_clear(&turned);
    return status == BITCUT_OK ? EXIT_GOOD : fail(option, &f);
}

int quantize_options_read(struct quantized found[2], struct bitcut_gemm *g,
                          const struct epilogue_options *o)
{
    int status = find(&found[0], "--quantize-a", o->quantize_a, o->scale_a, o->block_a);
    if (status == EXIT_GOOD)
        status = find(&found[1], "--quantize-b", o->quantize_b, o->scale_b, o->block_b);
    for (int i = 0; status == EXIT_GOOD && i < 2 && g->unit && !o->scaling; i++)
        if (found[i].quantizer) {
            const enum bitcut_scaling own = unit_scaling(g->unit, found[i].quantizer);
            if (own > g->scaling) g->scaling = own;
        }
    return status;
}

/* The factors as a matrix in the format of the quantizer's scales. */
static enum bitcut_status write_factors(struct encoded_matrix *to,
                                        const struct bitcut_quantizer *q,
                                        const uint32_t *scale, size_t across, size_t along,
                                        bool by_columns, struct fault *f)
{
    const size_t rows = by_columns ? along : across, cols = by_columns ? across : along;
    const enum bitcut_status status = encoded_init(to, rows, cols, q->scale, f);
    for (size_t i = 0; status == BITCUT_OK && i < across; i++)
        for (size_t p = 0; p < along; p++) {
            const uint64_t e = bitcut_format_convert(q->scale, &roundings[ROUND_RN],
                                                     &formats[FORMAT_F32],
                                                     scale[i * along + p]);
            const size_t at = by_columns ? p * across + i : i * along + p;
            if (q->scale->bits == 32) ((uint32_t *)to->at)[at] = (uint32_t)e;
            else ((uint8_t *)to->at)[at] = (uint8_t)e;
        }
    return status;
}

/* Quantize one operand: `lines` lines of k. */
static int apply(struct quantized *found, struct bitcut_gemm *g, struct bitcut_scales *to,
                 struct encoded_matrix *factors, struct matrix *x, size_t lines, size_t k,
                 bool by_columns)
{
    const struct bitcut_quantizer *const q = found->quantizer;
    const char *const option = by_columns ? "--quantize-b" : "--quantize-a";
    const size_t across = quantizer_lines(q, lines), along = quantizer_blocks(q, k);
    uint32_t *const scale = memory_allocate(across * along, sizeof *scale);
    uint32_t *const own = by_columns ? memory_allocate(lines * k, sizeof *own) : x->at;
    uint32_t whole = F32_ONE;
    struct fault f;
    enum bitcut_status status = BITCUT_OK;
    if (!scale || !own)
        status = fault_set(&f, BITCUT_NO_MEMORY, "not enough memory for the factors");
    if (status == BITCUT_OK && by_columns) matrix_transpose(own, x->at, k, lines);
    if (status == BITCUT_OK)
        status = quantize(own, scale, &whole, found, q, own, lines, k, &f);
    if (status == BITCUT_OK && by_columns) matrix_transpose(x->at, own, lines, k);
    if (status == BITCUT_OK)
        status = write_factors(factors, q, scale, across, along, by_columns, &f);
    if (by_columns) free(own);
    free(scale);
    if (status != BITCUT_OK) return fail(option, &f);
    x->format = q->element;
    *to = (struct bitcut_scales){ encoded_view(factors), q->lines, q->depth };
    if (whole != F32_ONE) g->alpha = f32_fma(g->alpha, whole, 0x80000000u);
    return EXIT_GOOD;
}

int quantize_options_apply(struct quantized found[2], struct bitcut_gemm *g,
                           struct epilogue_files *to, struct matrix *a, struct matrix *b)
{
    int status = EXIT_GOOD;
    if (found[0].quantizer)
        status = apply(&found[0], g, &g->scale_a, &to->scale_a, a, a->rows, a->cols, false);
    if (status == EXIT_GOOD && found[1].quantizer)
        status = apply(&found[1], g, &g->scale_b, &to->scale_b, b, b->cols, b->rows, true);
    return status;
}

void quantized_set_json(json_t *row, const struct quantized *x)
{
    record_json(row, quantizer_name_fields, x);
    record_json(row, quantizer_kept_fields, &x->kept);
}

void quantized_json(json_t *row, const struct quantized found[2])
{
    for (int i = 0; i < 2; i++) {
        if (!found[i].quantizer) continue;
        json_t *const one = json_object();
        quantized_set_json(one, &found[i]);
        json_object_set_new(row, i ? "quantization_b" : "quantization_a", one);
    }
}
