/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/evidence/sample.h"

#include "emu/engine.h"

#include <assert.h>

int sample_scales(const struct bitcut_unit *u)
{
    return u->scale ? u->k / u->scale_block : 0;
}

/* A sample as the unit reads it. */
struct numbers {
    struct number a[UNIT_K_MAX], b[UNIT_K_MAX];
    struct number scale_a[UNIT_K_MAX], scale_b[UNIT_K_MAX];
};

static void sample_read(struct numbers *to, const struct bitcut_unit *u,
                        const struct sample *s)
{
    for (int k = 0; k < u->k; k++) {
        to->a[k] = unit_read(u, u->a, s->a[k]);
        to->b[k] = unit_read(u, u->b, s->b[k]);
    }
    for (int i = 0; i < sample_scales(u); i++) {
        to->scale_a[i] = format_decode(u->scale, s->scale_a[i]);
        to->scale_b[i] = format_decode(u->scale, s->scale_b[i]);
    }
}

uint64_t sample_dot(const struct bitcut_unit *u, const struct sample *s)
{
    struct numbers x;
    sample_read(&x, u, s);
    return unit_dot(u, (struct lane){ x.a, u->scale ? x.scale_a : NULL },
                    (struct lane){ x.b, u->scale ? x.scale_b : NULL }, s->c);
}

uint64_t sample_trace(struct unit_trace *trace, const struct bitcut_unit *u,
                      const struct sample *s)
{
    struct numbers x;
    sample_read(&x, u, s);
    return unit_trace(trace, u, (struct lane){ x.a, u->scale ? x.scale_a : NULL },
                      (struct lane){ x.b, u->scale ? x.scale_b : NULL }, s->c);
}

/* --- samples in arrays ------------------------------------------------------------ */

static void store_row(const struct sample_arrays *to, const struct bitcut_unit *u,
                      struct fragment_shape shape, size_t row, const struct sample *s)
{
    const size_t scales = (size_t)sample_scales(u);
    for (size_t k = 0; k < shape.k; k++) array_set(to->a, row * shape.k + k, s->a[k]);
    for (size_t k = 0; k < scales; k++)
        array_set(to->scale_a, row * scales + k, s->scale_a[k]);
}

static void store_column(const struct sample_arrays *to, const struct bitcut_unit *u,
                         struct fragment_shape shape, size_t at, size_t j,
                         const struct sample *s)
{
    const size_t scales = (size_t)sample_scales(u);
    for (size_t k = 0; k < shape.k; k++)
        array_set(to->b, (at * shape.k + k) * shape.n + j, s->b[k]);
    for (size_t k = 0; k < scales; k++)
        array_set(to->scale_b, (at * scales + k) * shape.n + j, s->scale_b[k]);
}

void sample_store(const struct sample_arrays *to, const struct bitcut_unit *u, size_t at,
                  const struct sample *s)
{
    const struct fragment_shape shape = { .m = 1, .n = 1, .k = (size_t)u->k };
    store_row(to, u, shape, at, s);
    store_column(to, u, shape, at, 0, s);
    array_set(to->c, at, s->c);
}

void sample_fragment(const struct sample_arrays *to, const struct bitcut_unit *u,
                     struct fragment_shape shape, size_t at,
                     const struct sample_class *class, struct rng *rng)
{
    const size_t count = shape.m > shape.n ? shape.m : shape.n;
    uint64_t c[SAMPLE_ROWS_MAX];
    assert(count <= SAMPLE_ROWS_MAX);
    for (size_t i = 0; i < count; i++) {
        struct sample s;
        class->fill(&s, u, rng);
        if (i < shape.m) store_row(to, u, shape, at * shape.m + i, &s);
        if (i < shape.n) store_column(to, u, shape, at, i, &s);
        c[i] = s.c;
    }
    for (size_t i = 0; i < shape.m; i++)
        for (size_t j = 0; j < shape.n; j++)
            array_set(to->c, (at * shape.m + i) * shape.n + j,
                      c[i == j ? i : (i + j) % count]);
}
