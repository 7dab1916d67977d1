/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/sampling/advise_operand.h"

#include <stdlib.h>
#include <string.h>

/* A matrix by lines: rows of A, or columns of B. */
struct by_lines {
    const struct bitcut_quantizer *q;
    uint32_t *element, *scale; /* [line][k], [block of lines][block of k] */
    size_t lines, k, height, blocks;
    bool is_b;
};

/* The lines of one sample, in its order; a matrix of B has them as columns. */
static enum bitcut_status pick(struct matrix *to, const uint32_t *from, size_t width,
                               size_t height, const size_t *line, size_t lines, bool is_b,
                               struct fault *f)
{
    const enum bitcut_status status =
        is_b ? matrix_init(to, width, lines, f) : matrix_init(to, lines, width, f);
    for (size_t i = 0; status == BITCUT_OK && i < lines; i++)
        for (size_t p = 0; p < width; p++)
            to->at[is_b ? p * lines + i : i * width + p] =
                from[line[i] / height * width + p];
    return status;
}

static enum bitcut_status pick_sample(struct advise_operand *to, const struct by_lines *x,
                                      const struct norm_sample *sample, int i,
                                      struct fault *f)
{
    const size_t *const line = x->is_b ? sample->col : sample->row;
    const size_t lines = x->is_b ? sample->data.b.cols : sample->data.a.rows;
    const enum bitcut_status status =
        pick(&to->element[i], x->element, x->k, 1, line, lines, x->is_b, f);
    return status == BITCUT_OK ? pick(&to->factor[i], x->scale, x->blocks, x->height, line,
                                      lines, x->is_b, f)
                               : status;
}

enum bitcut_status advise_operand_make(struct advise_operand *to,
                                       const struct bitcut_quantizer *q,
                                       const struct matrix *x, bool is_b,
                                       const struct norm_sample *sample[2],
                                       struct fault *f)
{
    const size_t lines = is_b ? x->cols : x->rows, k = is_b ? x->rows : x->cols;
    struct by_lines all = { .q = q,
                            .lines = lines,
                            .k = k,
                            .height = q->lines ? q->lines : lines,
                            .blocks = quantizer_blocks(q, k),
                            .is_b = is_b };
    struct advise_operand made = { .made = true };
    struct quantized found;
    if (to->made) return BITCUT_OK;
    all.element = memory_allocate(lines, k * sizeof *all.element);
    all.scale = memory_allocate(quantizer_lines(q, lines), all.blocks * sizeof *all.scale);
    enum bitcut_status status = BITCUT_OK;
    if (!all.element || !all.scale)
        status = fault_set(f, BITCUT_NO_MEMORY, "not enough memory for quantized matrices");
    if (status == BITCUT_OK) {
        if (is_b) matrix_transpose(all.element, x->at, k, lines);
        else memcpy(all.element, x->at, lines * k * sizeof *x->at);
        status = quantize(all.element, all.scale, &made.matrix_scale, &found, q,
                          all.element, lines, k, f);
    }
    for (int i = 0; i < 2 && status == BITCUT_OK; i++)
        status = pick_sample(&made, &all, sample[i], i, f);
    free(all.element);
    free(all.scale);
    if (status == BITCUT_OK) *to = made;
    else advise_operand_clear(&made);
    return status;
}

void advise_operand_clear(struct advise_operand *x)
{
    for (int i = 0; i < 2; i++) {
        matrix_clear(&x->element[i]);
        matrix_clear(&x->factor[i]);
    }
    *x = (struct advise_operand){ .made = false };
}
