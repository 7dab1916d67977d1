#include "analysis/tolerance/allowance.h"

#include "lib/bits.h"
#include "lib/hostfp.h"
#include "lib/size.h"
#include "lib/status.h"

#include <math.h>
#include <stdlib.h>

/* The magnitudes of a line: their sum, the largest, the least but 0. */
struct line_sizes {
    double sum, most, least;
};

static struct line_sizes sizes_of(const uint32_t *line, size_t k, size_t stride)
{
    struct line_sizes s = { .least = INFINITY };
    for (size_t p = 0; p < k; p++) {
        const double size = fabs(value_of_float(line[p * stride]));
        if (!isfinite(size)) continue;
        s.sum += size;
        s.most = larger_double(s.most, size);
        if (size > 0 && size < s.least) s.least = size;
    }
    s.sum *= 1 + (double)k * 0x1p-52;
    return s;
}

/* Whether all lines are in the range in which no word underflows. */
static bool in_range(const struct line_sizes *s, size_t lines,
                     const struct bound_apriori *b, bool equilibrate)
{
    bool in = true;
    for (size_t i = 0; i < lines; i++)
        in &= s[i].least >= b->from * (equilibrate ? s[i].most : 1);
    return in;
}

static double output_of(const struct line_sizes *row, const struct line_sizes *col,
                        const struct bound_apriori *b, const struct bitcut_gemm *g,
                        double k, bool small)
{
    const double alpha = fabs(value_of_float(g->alpha)),
                 a = g->equilibrate ? row->most : 1,
                 b_most = g->equilibrate ? col->most : 1;
    double all = b->lines * a * b_most;
    if (row->most > b->most || col->most > b->most) return INFINITY;
    if (small)
        all += alpha * (b->of_a * row->sum * b_most + b->of_b * col->sum * a +
                        k * b->each * a * b_most);
    return (b->least + all) * (1 + 0x1p-40);
}

enum bitcut_status allowance_fill(double *to, const struct bound_apriori *b,
                                  const struct bitcut_gemm *g, const struct comparison *x,
                                  struct fault *f)
{
    struct line_sizes *const row = memory_allocate(x->m, sizeof *row),
                             *const col = memory_allocate(x->n, sizeof *col);
    struct hostfp mode;
    const bool room = row && col;
    hostfp_enter(&mode);
    for (size_t i = 0; room && i < x->m; i++) row[i] = sizes_of(x->a + i * x->k, x->k, 1);
    for (size_t j = 0; room && j < x->n; j++) col[j] = sizes_of(x->b + j, x->k, x->n);
    const bool small = room && !(in_range(row, x->m, b, g->equilibrate) &&
                                 in_range(col, x->n, b, g->equilibrate));
    for (size_t i = 0; room && i < x->m; i++)
        for (size_t j = 0; j < x->n; j++)
            to[i * x->n + j] = output_of(&row[i], &col[j], b, g, (double)x->k, small);
    hostfp_leave(&mode);
    free(row);
    free(col);
    return room ? BITCUT_OK : fault_set(f, BITCUT_NO_MEMORY, "out of memory for a limit");
}
