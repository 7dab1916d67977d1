#include "analysis/error/bound.h"

#include "analysis/error/kept.h"
#include "analysis/error/path.h"
#include "lib/bits.h"
#include "lib/equilibrate.h"
#include "lib/hostfp.h"
#include "lib/size.h"

#include <math.h>

#define U 0x1p-24

/* --- before A and B are known ----------------------------------------------------- */

/* What the products of operands that keep that err by. */
static double product_error(const struct gemm_plan *p, const struct path_error *way,
                            const struct kept *a, const struct kept *b)
{
    double sum = kept_lost(p, a, b);
    for (int t = 0; t < p->terms; t++) {
        const double size =
            a->at[KEPT_WORD + p->term[t].a] * b->at[KEPT_WORD + p->term[t].b];
        if (size > 0) sum += size * way->term[t];
    }
    return sum;
}

/* A few hundred operations in binary64 on numbers that are not negative. */
static double upward(double x) { return x * (1 + 0x1p-40); }

/* Elements beside the largest of their line, which is scaled to 2^target at least. */
static void relate_to_lines(struct bound_apriori *x, const struct gemm_plan *p,
                            double before)
{
    const double a = ldexp(1, -equilibrate_target(&p->split_a)),
                 b = ldexp(1, -equilibrate_target(&p->split_b));
    x->of_a *= b;
    x->of_b *= a;
    x->each *= a * b;
    x->from *= larger_double(a, b);
    x->most = (double)INFINITY;
    x->lines = before * a * b;
}

static struct bound_apriori apriori_of(const struct bitcut_gemm *g,
                                       const struct gemm_plan *p,
                                       const struct path_error *way)
{
    const struct kept_reader of_a = kept_reader_of(p, BITCUT_A),
                             of_b = kept_reader_of(p, BITCUT_B);
    struct kept_most a = kept_most_of(&of_a), b = kept_most_of(&of_b);
    const double alpha = fabs(value_of_float(g->alpha));
    if (p->equilibrate) { /* scaled elements are FP32, too */
        a.beside.at[KEPT_REST] += 0x1p-150;
        b.beside.at[KEPT_REST] += 0x1p-150;
    }
    const double relative =
        larger_double(product_error(p, way, &a.times, &b.times), way->update);
    struct bound_apriori x = {
        .relative = upward(relative / U),
        .least = upward(way->after + (p->equilibrate ? 0 : alpha * way->before)),
        .from = larger_double(a.from, b.from),
        .most = fmin(a.most, b.most),
        .of_a = upward(product_error(p, way, &a.times, &b.beside)),
        .of_b = upward(product_error(p, way, &a.beside, &b.times)),
        .each = upward(product_error(p, way, &a.beside, &b.beside))
    };
    if (p->equilibrate) relate_to_lines(&x, p, upward(alpha * way->before));
    return x;
}

enum bitcut_status bound_apriori(struct bound_apriori *to, const struct bitcut_gemm *g,
                                 size_t k, bool any_order, struct fault *f)
{
    struct gemm_plan p;
    struct path path = { 0 };
    struct hostfp mode;
    enum bitcut_status status = gemm_plan_on_unit(&p, g, f);
    if (status == BITCUT_OK && !any_order) {
        status = path_of(&path, &p, k);
        if (status != BITCUT_OK) fault_set(f, status, "out of memory for the bound");
    }
    if (status != BITCUT_OK) return status;
    hostfp_enter(&mode);
    const struct path_error way = any_order ? path_error_any(&p, k, g->alpha, g->beta)
                                            : path_error_of(&p, &path, g->alpha, g->beta);
    *to = apriori_of(g, &p, &way);
    hostfp_leave(&mode);
    return BITCUT_OK;
}
