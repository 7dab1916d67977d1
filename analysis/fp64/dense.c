/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/fp64/dense.h"

#include <stdlib.h>

void dense_clear(struct dense *x)
{
    free(x->a);
    free(x->b);
    free(x->b_lines);
    free(x->c);
    free(x->d);
}

bool dense_make(struct dense *x, const struct bitcut_gemm *g, int threads)
{
    const bool reads_c = gemm_reads_c(g);
    const struct fp64_range k = { 0, g->k }, n = { 0, g->n };
    *x = (struct dense){ .a = fp64_lines(&g->a, g->m, g->k, false, k, threads),
                         .b = fp64_lines(&g->b, g->k, g->n, false, n, threads),
                         .b_lines = fp64_lines(&g->b, g->k, g->n, true, k, threads),
                         .d = fp64_lines(&g->d, g->m, g->n, false, n, threads) };
    if (reads_c) x->c = fp64_lines(&g->c, g->m, g->n, false, n, threads);
    return x->a && x->b && x->b_lines && (!reads_c || x->c) && x->d;
}

enum bitcut_status dense_judge(struct judge *j, const struct dense *x,
                               const struct bitcut_gemm *g,
                               const struct reference *reference,
                               const struct gemm_options *options, struct fault *f)
{
    const struct matrices64 matrices = { g->m, g->n, g->k,         x->a,       x->b,
                                         x->c, x->d, g->alpha_f64, g->beta_f64 };
    return judge64_init(j, reference, &matrices, options, f);
}
