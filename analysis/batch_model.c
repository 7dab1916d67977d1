#include "analysis/batch_model.h"

#include "lib/table.h"

enum bitcut_status batch_model_gemm(struct bitcut_gemm *gemm, const struct recorder *r,
                                    const struct gpu_batched_kernel *k, struct fault *f)
{
    char name[256];
    gpu_batched_unit(name, sizeof name, r->architecture, k);
    const struct bitcut_unit *unit = table_find(TABLE(units), name);
    if (!gpu_batched_fits(&r->device, k))
        return fault_set(f, BITCUT_CANNOT, "%.100s cannot run it", r->device.name);
    if (!unit) return fault_set(f, BITCUT_CANNOT, "there is no unit %.120s", name);
    struct gemm_plan plan;
    *gemm = gemm_of(gpu_batched_recipe(k), unit);
    return gemm_plan_on_unit(&plan, gemm, f);
}

enum bitcut_status batch_model_run(uint16_t *d, const struct bitcut_gemm *gemm,
                                   size_t count, size_t m, size_t n, size_t k,
                                   const uint16_t *a, const uint16_t *b,
                                   const uint16_t *c, int threads, struct fault *f)
{
    const struct bitcut_format *f16 = &formats[FORMAT_F16];
    struct bitcut_gemm g = *gemm;
    g.count = count;
    g.m = m;
    g.n = n;
    g.k = k;
    g.a = (struct bitcut_matrix){ .at = a, .format = f16, .stride = m * k };
    g.b = (struct bitcut_matrix){ .at = b, .format = f16, .stride = k * n };
    g.c = (struct bitcut_matrix){ .at = c, .format = f16, .stride = m * n };
    g.d = (struct bitcut_matrix){ .to = d, .format = f16, .stride = m * n };
    return gemm_run(&g, &(struct gemm_options){ .threads = threads }, f);
}
