#include "analysis/tolerance/sample_run.h"

#include <math.h>
#include <stdlib.h>

enum bitcut_status shuffled_make(struct gemm_data *to, const void *context, size_t rows,
                                 size_t cols, uint64_t run, struct fault *f)
{
    const struct shuffled_source *const s = context;
    return gemm_data_shuffle(to, s->data, rows, cols, s->seed, run, f);
}

void sample_run_clear(struct sample_run *r)
{
    judge_clear(&r->j);
    gemm_data_clear(&r->data);
    free(r->other32);
    free(r->other64);
    free(r->allowance);
    free(r->d);
}

/* Where words may overflow there is no bound, and so no part of it. */
enum bitcut_status sample_run_allow(struct sample_run *r, const struct bitcut_gemm *g,
                                    const struct bound_apriori *b, struct fault *f)
{
    const struct comparison *const x = &r->j.comparison;
    struct bound_apriori rest = *b;
    rest.relative = 0;
    const enum bitcut_status status =
        bound_apriori_limits(r->allowance, &rest, gemm_equilibrates(g), x, f);
    r->bounded = status == BITCUT_OK;
    for (size_t i = 0; i < x->m * x->n && r->bounded; i++)
        r->bounded = isfinite(r->allowance[i]);
    for (size_t i = 0; i < x->m * x->n && !r->bounded; i++) r->allowance[i] = 0;
    return status;
}

enum bitcut_status sample_run_make(struct sample_run *to, const struct run_source *source,
                                   const struct bitcut_gemm *g,
                                   const struct bound_apriori *b, size_t rows,
                                   size_t cols, uint64_t run, struct fault *f)
{
    struct sample_run r = { .allowance =
                                memory_allocate(rows * cols, sizeof *r.allowance),
                            .d = memory_allocate(rows * cols, sizeof *r.d) };
    enum bitcut_status status =
        r.allowance && r.d
            ? source->make(&r.data, source->context, rows, cols, run, f)
            : fault_set(f, BITCUT_NO_MEMORY, "out of memory for the results");
    if (status == BITCUT_OK) status = gemm_data_judge(&r.j, &r.data, g, f);
    if (status == BITCUT_OK) status = sample_run_allow(&r, g, b, f);
    r.x = r.j.comparison;
    r.x.d = r.d;
    if (status == BITCUT_OK) status = sample_run_compute(&r, g, f);
    if (status == BITCUT_OK) *to = r;
    else sample_run_clear(&r);
    return status;
}

enum bitcut_status sample_run_compute(struct sample_run *r, const struct bitcut_gemm *g,
                                      struct fault *f)
{
    return gemm_data_run(r->d, &r->data, g, f);
}

enum bitcut_status sample_run_against_d(struct sample_run *r, struct fault *f)
{
    const size_t count = r->x.m * r->x.n;
    r->other32 = memory_allocate(count, sizeof *r->other32);
    r->other64 = memory_allocate(count, sizeof *r->other64);
    if (!r->other32 || !r->other64)
        return fault_set(f, BITCUT_NO_MEMORY, "out of memory for the results");
    for (size_t i = 0; i < count; i++) {
        r->other32[i] = r->d[i];
        r->other64[i] = bitcut_format_convert(&formats[FORMAT_F64], &roundings[ROUND_RN],
                                              &formats[FORMAT_F32], r->d[i]);
        r->allowance[i] *= 2;
    }
    r->x.reference32 = r->other32;
    r->x.reference64 = r->other64;
    return BITCUT_OK;
}
