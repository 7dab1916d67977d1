/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/order/probe_units.h"

#include "emu/gemm.h"
#include "emu/unit_field.h"
#include "lib/base/size.h"
#include "lib/number/rand.h"

#include <stdlib.h>

/* --- random data ------------------------------------------------------------------ */

enum { STREAM_DATA = 42, EXPONENTS = 4, PRODUCTS_MAX = 1 << 24, SCREEN_ROWS = 2 };

/* Numbers of either sign, 2^-4 to 1, with as many bits as the format has. */
static void fill_random(struct matrix *x, const struct bitcut_format *format,
                        struct rng *rng)
{
    const int dropped = 23 - smaller_int(23, format->fraction_bits);
    for (size_t i = 0; i < x->rows * x->cols; i++) {
        const uint64_t bits = rng_bits(rng);
        const uint32_t fraction = (uint32_t)bits & 0x7fffff,
                       sign = (uint32_t)(bits >> 63),
                       exponent = 126 - (uint32_t)(bits >> 32) % EXPONENTS;
        x->at[i] = sign << 31 | exponent << 23 | fraction >> dropped << dropped;
    }
}

enum bitcut_status probe_data_make(struct probe_data *x, const struct probe *p,
                                   struct fault *f)
{
    struct rng rng = rng_start(p->seed, STREAM_DATA);
    *x = (struct probe_data){ 0 };
    enum bitcut_status status = matrix_init(&x->a, p->m, p->k, f);
    if (status == BITCUT_OK) status = matrix_init(&x->b, p->k, p->n, f);
    if (status == BITCUT_OK) {
        fill_random(&x->a, p->input->format, &rng);
        fill_random(&x->b, p->input->format, &rng);
        status = p->run(&x->d, p->context, &x->a, &x->b, f);
    }
    if (status != BITCUT_OK) probe_data_clear(x);
    return status;
}

void probe_data_clear(struct probe_data *x)
{
    matrix_clear(&x->a);
    matrix_clear(&x->b);
    matrix_clear(&x->d);
}

/* --- units ------------------------------------------------------------------------ */

/* The GEMM of the order by a recipe with one product.  Returns false if there is none on
   the unit. */
static bool make_gemm(struct bitcut_gemm *g, const struct probe_guess *guess,
                      const struct bitcut_recipe *recipe, const struct bitcut_unit *u,
                      int promote, const struct bitcut_format *input)
{
    struct gemm_plan plan;
    const struct bitcut_order *o = &guess->order;
    if (recipe->terms != 1 || u->a != input || u->b != input || u->scale ||
        u->c != &formats[FORMAT_F32] || field_repeats(u))
        return false;
    if (o->tile % u->k || o->chunk % u->k) return false;
    if (!recipe->split && input == &formats[FORMAT_F32]) return false;
    *g = gemm_of(recipe, u);
    g->order = *o;
    g->promote = promote;
    return gemm_plan_on_unit(&plan, g, NULL) == BITCUT_OK &&
           plan.split_a.part[0].format == input;
}

/* The number of outputs of the first rows that differ. */
static enum bitcut_status count_mismatches(size_t *mismatches, struct bitcut_gemm g,
                                           const struct probe_data *x, size_t rows,
                                           const struct probe *p, struct fault *f)
{
    const struct gemm_options options = { .threads = p->threads,
                                          .progress = p->progress };
    uint32_t *const d = memory_allocate(rows, p->n * sizeof *d);
    if (!d) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the emulator");
    gemm_set_dense(&g, d, rows, p->n, p->k, x->a.at, x->b.at, NULL);
    const enum bitcut_status status = gemm_run(&g, &options, f);
    *mismatches = 0;
    for (size_t i = 0; i < rows * p->n && status == BITCUT_OK; i++)
        *mismatches += d[i] != x->d.at[i];
    free(d);
    return status;
}

/* Keep the units that fit, recorded ones first; or else the nearest one. */
static void add_unit(struct probe_fit *fit, const struct bitcut_gemm *g,
                     size_t mismatches)
{
    const bool recorded = g->unit->evidence == EVIDENCE_RECORDED;
    if (mismatches && (fit->units || (fit->recipe && mismatches >= fit->mismatches)))
        return;
    const bool first = !fit->recipe || mismatches < fit->mismatches ||
                       (recorded && fit->unit[0]->evidence != EVIDENCE_RECORDED);
    if (!mismatches && fit->units == PROBE_UNITS_MAX) return;
    const size_t at = mismatches ? 0 : fit->units++;
    fit->unit[at] = g->unit;
    fit->mismatches = mismatches;
    if (!first) return;
    fit->unit[at] = fit->unit[0];
    fit->unit[0] = g->unit;
    fit->recipe = g->recipe;
}

/* On a few rows first. */
static enum bitcut_status try_unit(struct probe_fit *fit, const struct bitcut_gemm *g,
                                   const struct probe_data *x, const struct probe *p,
                                   struct fault *f)
{
    const size_t all = 1 + PRODUCTS_MAX / (p->n * p->k), rows = smaller(p->m, all);
    size_t mismatches = 0;
    enum bitcut_status status =
        count_mismatches(&mismatches, *g, x, smaller(rows, SCREEN_ROWS), p, f);
    if (status == BITCUT_OK && mismatches && fit->units) return BITCUT_OK;
    if (status == BITCUT_OK) status = count_mismatches(&mismatches, *g, x, rows, p, f);
    fit->compared = rows * p->n;
    if (status == BITCUT_OK) add_unit(fit, g, mismatches);
    return status;
}

enum bitcut_status probe_fit_units(struct probe_fit *fit, const struct probe_guess *guess,
                                   const struct probe_data *x, const struct probe *p,
                                   struct fault *f)
{
    enum bitcut_status status = BITCUT_OK;
    *fit = (struct probe_fit){ 0 };
    for (const struct bitcut_recipe *r = recipes; r->name; r++)
        for (const struct bitcut_unit *u = units; u->name && status == BITCUT_OK; u++) {
            struct bitcut_gemm g;
            const size_t k = (size_t)u->k;
            if (fit->units && r != fit->recipe) break;
            if (guess->promote % k == 0 &&
                make_gemm(&g, guess, r, u, (int)(guess->promote / k), p->input->format))
                status = try_unit(fit, &g, x, p, f);
        }
    return status;
}
