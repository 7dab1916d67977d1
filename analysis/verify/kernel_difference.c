/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/verify/kernel_difference.h"

#include "lib/number/bits.h"

#include <string.h>

/* The position of an output, or of an element of D's memory that is no output. */
struct output {
    size_t element, matrix, i, j;
    bool is;
};

static struct output find_output(const struct kernel_case *x, size_t element)
{
    struct output o = { .element = element };
    for (o.matrix = 0; o.matrix < x->now.count; o.matrix++)
        for (o.i = 0; o.i < x->now.shape.m; o.i++)
            for (o.j = 0; o.j < x->now.shape.n; o.j++) {
                o.is = case_element(x, o.matrix, o.i, o.j) == element;
                if (o.is) return o;
            }
    return o;
}

/* Whether the output differs after the first `steps` k-steps. */
static enum bitcut_status differs(bool *yes, struct kernel_case *x, struct output at,
                                  size_t steps, struct fault *f)
{
    const size_t all = x->now.shape.k, k = steps * (size_t)x->trial->gemm.unit->k;
    const size_t first = k < all ? k : all;
    enum bitcut_status status = case_run(x, first, f);
    if (status != BITCUT_OK) return status;
    status = case_run_model_at(x, at.i, at.j, first, f);
    *yes = stored_get(&x->d, at.element) != stored_get(&x->want, at.element);
    return status;
}

/* The step after which an output that differs at the end begins to differ. */
static enum bitcut_status find_step(size_t *step, struct kernel_case *x, struct output at,
                                    struct fault *f)
{
    const size_t each = (size_t)x->trial->gemm.unit->k;
    size_t same = 0, other = (x->now.shape.k + each - 1) / each;
    bool yes = false;
    enum bitcut_status status = differs(&yes, x, at, 0, f);
    if (yes) other = 0;
    while (status == BITCUT_OK && other > same + 1) {
        const size_t middle = same + (other - same) / 2;
        status = differs(&yes, x, at, middle, f);
        if (yes) other = middle;
        else same = middle;
    }
    *step = other;
    return status;
}

static void letters(char text[3], bool first, bool second)
{
    text[0] = first ? 't' : 'n';
    text[1] = second ? 't' : 'n';
    text[2] = 0;
}

static struct kernel_mismatch describe(const struct kernel_case *x, struct output at)
{
    const struct bitcut_format *f32 = &formats[FORMAT_F32];
    const struct configuration *c = &x->now;
    struct kernel_mismatch first = {
        .shape = c->shape,
        .room = c->room->name,
        .input = c->values->name,
        .in_place = case_is_in_place(x),
        .alpha = format_to_double(f32, c->scalars.alpha),
        .beta = format_to_double(f32, c->scalars.beta),
        .count = c->count,
        .gemm = at.matrix,
        .at = { at.i, at.j },
        .is_output = at.is,
        .bits = apart_of(x->d.is.format, stored_get(&x->want, at.element),
                         stored_get(&x->d, at.element)),
        .has_step = at.is && x->trial->gemm.order.slices <= 1
    };
    letters(first.transposes, c->down_a, c->down_b);
    letters(first.outputs, c->down_c, c->down_d);
    return first;
}

void kernel_failure_clear(struct kernel_failure *x)
{
    matrix_clear(&x->a);
    matrix_clear(&x->b);
    matrix_clear(&x->c);
    matrix_clear(&x->d);
}

/* The matrices of an output that differs. */
static enum bitcut_status keep(struct kernel_failure *to, const struct kernel_case *x,
                               size_t matrix, struct fault *f)
{
    struct kernel_failure now = { .alpha = x->now.scalars.alpha,
                                  .beta = x->now.scalars.beta,
                                  .format = x->d.is.format };
    enum bitcut_status status = stored_read(&now.a, &x->a, matrix, f);
    if (status == BITCUT_OK) status = stored_read(&now.b, &x->b, matrix, f);
    if (status == BITCUT_OK && !f32_is_zero(now.beta))
        status = stored_read(&now.c, &x->c, matrix, f);
    if (status == BITCUT_OK) status = stored_read(&now.d, &x->d, matrix, f);
    if (status == BITCUT_OK) *to = now;
    else kernel_failure_clear(&now);
    return status;
}

/* Describe a mismatch and trace it, which runs the kernel again: x->d is overwritten, and
   x->want is restored for the following kernels. */
static enum bitcut_status found(struct kernel_result *r, struct kernel_case *x,
                                size_t element, struct fault *f)
{
    const struct output at = find_output(x, element);
    enum bitcut_status status = BITCUT_OK;
    r->first = describe(x, at);
    if (at.is) status = keep(&r->failure, x, at.matrix, f);
    if (r->first.has_step && status == BITCUT_OK)
        status = find_step(&r->first.step, x, at, f);
    return status == BITCUT_OK ? case_run_models(x, f) : status;
}

static void count_compared(struct kernel_result *r, const struct kernel_case *x)
{
    for (size_t e = 0; e < x->now.count; e++)
        for (size_t i = 0; i < x->now.shape.m; i++)
            for (size_t j = 0; j < x->now.shape.n; j++)
                r->compared += x->known[case_element(x, e, i, j)];
}

enum bitcut_status kernel_difference_add(struct kernel_result *r, struct kernel_case *x,
                                         struct fault *f)
{
    size_t mismatches = 0, first = 0;
    for (size_t i = 0; i < x->d.elements; i++)
        if (x->known[i] &&
            memcmp(x->d.memory + i * x->d.bytes, x->want.memory + i * x->d.bytes,
                   x->d.bytes) &&
            !mismatches++)
            first = i;
    count_compared(r, x);
    r->configurations++;
    const bool is_first = mismatches && !r->mismatches;
    r->mismatches += mismatches;
    return is_first ? found(r, x, first, f) : BITCUT_OK;
}
