/* SPDX-License-Identifier: BSD-3-Clause */
#include "emu/fragment.h"

#include "emu/engine.h"
#include "lib/base/threads.h"

#include <assert.h>

/* --- checking --------------------------------------------------------------------- */

/* Dimension `at` (0: count, 1, 2) of an array that may omit the first one. */
static size_t dim(const struct array *x, int at)
{
    if (x->dims == 3) return x->dim[at];
    return at == 0 ? 1 : x->dim[at - 1];
}

static enum bitcut_status check_shape(const char *name, const struct array *x,
                                      size_t count, size_t rows, size_t cols,
                                      struct fault *f)
{
    if (x->dims != 2 && x->dims != 3)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "%s: expected a 3-D array, found %d-D",
                         name, x->dims);
    if (dim(x, 0) == count && dim(x, 1) == rows && dim(x, 2) == cols) return BITCUT_OK;
    return fault_set(f, BITCUT_BAD_ARGUMENT,
                     "%s has shape %zu x %zu x %zu; expected %zu x %zu x %zu", name,
                     dim(x, 0), dim(x, 1), dim(x, 2), count, rows, cols);
}

static enum bitcut_status check_bits(const char *name, const struct array *x,
                                     const struct bitcut_format *format, struct fault *f)
{
    for (size_t i = 0; format->bits < 8 * x->bytes && i < x->count; i++)
        if (array_get(x, i) >> format->bits)
            return fault_set(
                f, BITCUT_BAD_ARGUMENT, "%s: element %zu is 0x%llx, but %s has %d bits",
                name, i, (unsigned long long)array_get(x, i), format->name, format->bits);
    return BITCUT_OK;
}

static enum bitcut_status check_encodings(const char *name, const struct array *x,
                                          const struct bitcut_format *format,
                                          struct fault *f)
{
    const int bytes = (format->bits + 7) / 8;
    if (x->bytes != bytes)
        return fault_set(
            f, BITCUT_BAD_ARGUMENT,
            "%s has elements of %d bytes; an encoding of %s has %d (NumPy: u%d)", name,
            x->bytes, format->name, bytes, bytes);
    return check_bits(name, x, format, f);
}

static enum bitcut_status check_array(const char *name, const struct array *x,
                                      const struct bitcut_format *format, size_t count,
                                      size_t rows, size_t cols, struct fault *f)
{
    const enum bitcut_status status = check_shape(name, x, count, rows, cols, f);
    return status == BITCUT_OK ? check_encodings(name, x, format, f) : status;
}

static enum bitcut_status check_scales(const struct bitcut_unit *u,
                                       const struct fragments *x, struct fragment_shape s,
                                       struct fault *f)
{
    if (!u->scale && (x->scale_a || x->scale_b))
        return fault_set(f, BITCUT_BAD_ARGUMENT, "%s takes no block scales", u->name);
    if (!u->scale) return BITCUT_OK;
    if (!x->scale_a || !x->scale_b)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "%s requires block scales for A and B",
                         u->name);
    const size_t blocks = s.k / (size_t)u->scale_block;
    const enum bitcut_status status =
        check_array("the scale of A", x->scale_a, u->scale, s.count, s.m, blocks, f);
    if (status != BITCUT_OK) return status;
    return check_array("the scale of B", x->scale_b, u->scale, s.count, blocks, s.n, f);
}

enum bitcut_status fragments_check(struct fragment_shape *shape,
                                   const struct bitcut_unit *u, const struct fragments *x,
                                   struct fault *f)
{
    if (x->a->dims < 2 || x->b->dims < 2)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "A and B must be 3-D arrays");
    const struct fragment_shape s = { dim(x->a, 0), dim(x->a, 1), dim(x->b, 2),
                                      (size_t)u->k };
    enum bitcut_status status = check_array("A", x->a, u->a, s.count, s.m, s.k, f);
    if (status == BITCUT_OK) status = check_array("B", x->b, u->b, s.count, s.k, s.n, f);
    if (status == BITCUT_OK) status = check_array("C", x->c, u->c, s.count, s.m, s.n, f);
    if (status == BITCUT_OK) status = check_scales(u, x, s, f);
    if (status == BITCUT_OK) *shape = s;
    return status;
}

/* --- running ---------------------------------------------------------------------- */

/* Read `count` elements from `first` on, `stride` apart, as the unit does. */
static void read_run(struct number *to, const struct bitcut_unit *u,
                     const struct bitcut_format *format, const struct array *from,
                     size_t first, size_t stride, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] = format == u->scale
                    ? format_decode(format, array_get(from, first + i * stride))
                    : unit_read(u, format, array_get(from, first + i * stride));
}

/* The operands of one output, as the unit reads them. */
struct operands {
    struct number a[UNIT_K_MAX], b[UNIT_K_MAX], sa[UNIT_K_MAX], sb[UNIT_K_MAX];
    uint64_t c;
};

static void read_operands(struct operands *to, const struct bitcut_unit *u,
                          const struct fragments *x, struct fragment_shape s, size_t at,
                          size_t i, size_t j)
{
    assert(s.k <= UNIT_K_MAX);
    read_run(to->a, u, u->a, x->a, (at * s.m + i) * s.k, 1, s.k);
    read_run(to->b, u, u->b, x->b, at * s.k * s.n + j, s.n, s.k);
    if (u->scale) {
        const size_t blocks = s.k / (size_t)u->scale_block;
        read_run(to->sa, u, u->scale, x->scale_a, (at * s.m + i) * blocks, 1, blocks);
        read_run(to->sb, u, u->scale, x->scale_b, at * blocks * s.n + j, s.n, blocks);
    }
    to->c = array_get(x->c, (at * s.m + i) * s.n + j);
}

uint64_t fragments_dot(const struct bitcut_unit *u, const struct fragments *x,
                       struct fragment_shape s, size_t at, size_t i, size_t j)
{
    struct operands o;
    read_operands(&o, u, x, s, at, i, j);
    return unit_dot(u, (struct lane){ o.a, o.sa }, (struct lane){ o.b, o.sb }, o.c);
}

uint64_t fragments_trace(struct unit_trace *trace, const struct bitcut_unit *u,
                         const struct fragments *x, struct fragment_shape s, size_t at,
                         size_t i, size_t j)
{
    struct operands o;
    read_operands(&o, u, x, s, at, i, j);
    return unit_trace(trace, u, (struct lane){ o.a, o.sa }, (struct lane){ o.b, o.sb },
                      o.c);
}

enum bitcut_status fragments_run(struct array *d, const struct bitcut_unit *u,
                                 const struct fragments *x, struct fragment_shape s,
                                 int threads, const struct progress *progress,
                                 struct fault *f)
{
    size_t done = 0;
    (void)threads;
    if (s.m == 0 || s.n == 0) s.count = 0; /* then the other size may be any number */
#pragma omp parallel for schedule(static) num_threads(threads_for(threads, s.count))
    for (size_t at = 0; at < s.count; at++) {
        if (progress_stopped(progress)) continue;
        for (size_t i = 0; i < s.m; i++)
            for (size_t j = 0; j < s.n; j++)
                array_set(d, (at * s.m + i) * s.n + j, fragments_dot(u, x, s, at, i, j));
        size_t now;
#pragma omp atomic capture
        now = ++done;
        if (threads_first()) progress_report(progress, now, s.count);
    }
    if (progress_stopped(progress)) return fault_set(f, BITCUT_UNSUPPORTED, "stopped");
    return BITCUT_OK;
}

/* --- arrays of callers ------------------------------------------------------------ */

enum bitcut_status fragments_take(struct array *to, const char *name,
                                  const uint64_t *data,
                                  const struct bitcut_format *format, size_t count,
                                  size_t rows, size_t cols, struct fault *f)
{
    size_t elements;
    if (!size_multiply(&elements, rows, cols) ||
        !memory_holds(data, count, elements, elements, sizeof *data))
        return fault_set(f, BITCUT_BAD_ARGUMENT,
                         "%s must not be NULL or exceed the address space", name);
    *to = (struct array){ .dims = 3,
                          .dim = { count, rows, cols },
                          .count = count * elements,
                          .bytes = sizeof *data,
                          .data = (void *)(uintptr_t)data };
    return format ? check_bits(name, to, format, f) : BITCUT_OK;
}

enum bitcut_status bitcut_mma(uint64_t *d, const struct bitcut_unit *u, size_t count,
                              size_t m, size_t n, size_t k, const uint64_t *a,
                              const uint64_t *b, const uint64_t *c, int threads)
{
    struct array va, vb, vc, vd;
    if (!u || k != (size_t)u->k || u->scale || threads < 0 ||
        fragments_take(&va, "A", a, u->a, count, m, k, NULL) != BITCUT_OK ||
        fragments_take(&vb, "B", b, u->b, count, k, n, NULL) != BITCUT_OK ||
        fragments_take(&vc, "C", c, u->c, count, m, n, NULL) != BITCUT_OK ||
        fragments_take(&vd, "D", d, NULL, count, m, n, NULL) != BITCUT_OK)
        return BITCUT_BAD_ARGUMENT;
    const struct fragments x = { &va, &vb, &vc, NULL, NULL };
    return fragments_run(&vd, u, &x, (struct fragment_shape){ count, m, n, k }, threads,
                         progress_of_thread(), NULL);
}
