/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of lib/bitcut.h for GEMMs on a device. */
#define _GNU_SOURCE /* secure_getenv() */

#include "gpu/api/task.h"
#include "lib/base/size.h"

#include <stdlib.h>

static enum bitcut_status check_there(bool there, struct fault *f)
{
    if (there) return BITCUT_OK;
    return fault_set(f, BITCUT_BAD_ARGUMENT, "device, name and result must not be NULL");
}

/* --- the device ------------------------------------------------------------------- */

static void device_free(struct bitcut_device *x)
{
    if (x) gpu_chosen_free(x->chosen);
    free(x);
}

enum bitcut_status bitcut_device_open(struct bitcut_device **device, const char *name,
                                      char *why)
{
    struct fault f;
    enum bitcut_status status = check_there(device && name, &f);
    if (status != BITCUT_OK) return fault_write(why, status, &f);
    struct bitcut_device *x = calloc(1, sizeof *x);
    if (x) x->chosen = gpu_chosen_make();
    status = x && x->chosen ? gpu_open_device(&x->gpu, &x->is, name,
                                              secure_getenv("BITCUT_MODULES"), &f)
                            : fault_set(&f, BITCUT_NO_MEMORY, "not enough memory");
    if (status == BITCUT_OK) *device = x;
    else device_free(x);
    return fault_write(why, status, &f);
}

void bitcut_device_close(struct bitcut_device *x)
{
    if (x) gpu_close(&x->gpu);
    device_free(x);
}

const char *bitcut_device_name(const struct bitcut_device *x) { return x->is.name; }

/* --- what runs --------------------------------------------------------------------- */

enum bitcut_status bitcut_gemm_choose(struct bitcut_gemm *ran,
                                      const struct bitcut_device *x,
                                      const struct bitcut_gemm *gemm, char *why)
{
    struct gpu_task t;
    struct fault f;
    enum bitcut_status status = check_there(ran, &f);
    if (status == BITCUT_OK) status = gemm_check_place(ran, &f);
    if (status == BITCUT_OK) status = gpu_task_choose(&t, x, gemm, &f);
    if (status == BITCUT_OK) gpu_task_settle(ran, &t);
    return fault_write(why, status, &f);
}

const char *bitcut_gemm_method(const struct bitcut_device *x,
                               const struct bitcut_gemm *gemm, size_t index)
{
    struct gpu_task t;
    struct fault f;
    return gpu_task_choose(&t, x, gemm, &f) == BITCUT_OK ? gpu_task_method(&t, index)
                                                         : NULL;
}

enum bitcut_status bitcut_gemm_workspace(size_t *bytes, const struct bitcut_device *x,
                                         const struct bitcut_gemm *gemm, char *why)
{
    struct gpu_task t;
    struct fault f;
    enum bitcut_status status = check_there(bytes, &f);
    if (status == BITCUT_OK) status = gpu_task_choose(&t, x, gemm, &f);
    if (status == BITCUT_OK) *bytes = gpu_task_workspace(&t, x);
    return fault_write(why, status, &f);
}

/* --- starting --------------------------------------------------------------------- */

enum bitcut_status bitcut_gemm_start(struct bitcut_gemm *ran,
                                     const struct bitcut_device *x,
                                     const struct bitcut_gemm *gemm, void *workspace,
                                     size_t bytes, void *stream, char *why)
{
    const struct gpu_room room = { .workspace = workspace,
                                   .bytes = bytes,
                                   .stream = stream };
    struct gpu_task t;
    struct fault f;
    enum bitcut_status status = gemm_check_place(ran, &f);
    if (status == BITCUT_OK) status = gpu_task_choose(&t, x, gemm, &f);
    if (status == BITCUT_OK) status = gpu_task_start(&t, x, &room, &f);
    if (status == BITCUT_OK) gpu_task_settle(ran, &t);
    return fault_write(why, status, &f);
}

/* --- plans ------------------------------------------------------------------------ */

struct bitcut_plan {
    const struct bitcut_device *device;
    struct gpu_task task;
};

enum bitcut_status bitcut_plan_make(struct bitcut_plan **plan,
                                    const struct bitcut_device *x,
                                    const struct bitcut_gemm *gemm, char *why)
{
    struct fault f;
    struct bitcut_plan *p = NULL;
    enum bitcut_status status = check_there(plan, &f);
    if (status == BITCUT_OK && !(p = malloc(sizeof *p)))
        status = fault_set(&f, BITCUT_NO_MEMORY, "not enough memory");
    if (status == BITCUT_OK) status = gpu_task_choose(&p->task, x, gemm, &f);
    if (status != BITCUT_OK) {
        free(p);
        return fault_write(why, status, &f);
    }
    p->device = x;
    gpu_task_gemm(&p->task)->kernel = NULL; /* the caller's string */
    *plan = p;
    return BITCUT_OK;
}

void bitcut_plan_free(struct bitcut_plan *plan) { free(plan); }

/* Put a matrix at another address, if it has one. */
static void move(struct bitcut_matrix *x, const void *at)
{
    if (x->prepared) x->prepared = at;
    else if (x->each) x->each = (const void *const *)at;
    else x->at = at;
}

enum bitcut_status bitcut_plan_start(const struct bitcut_plan *plan, void *d,
                                     const void *a, const void *b, const void *c,
                                     void *workspace, size_t bytes, void *stream,
                                     char *why)
{
    const struct gpu_room room = { workspace, bytes, stream, .reached = true };
    struct fault f;
    struct gpu_task t = plan->task;
    struct bitcut_gemm *const g = gpu_task_gemm(&t);
    move(&g->a, a);
    move(&g->b, b);
    move(&g->c, c);
    move(&g->d, d);
    return fault_write(why, gpu_task_start(&t, plan->device, &room, &f), &f);
}

/* --- parts ------------------------------------------------------------------------ */

/* Choose how the parts of an operand are made.  Only the operand is described, because no
   parts exist yet.  The kernel is one that accepts parts, if there is one. */
static enum bitcut_status choose_parts(struct gpu_work *to, const struct bitcut_device *x,
                                       const struct bitcut_gemm *gemm,
                                       enum bitcut_operand which, struct fault *f)
{
    enum bitcut_status status = check_there(x, f);
    if (status == BITCUT_OK)
        status = gpu_work_recall(to, x->chosen, &x->gpu, &x->is, gemm, f);
    if (status != BITCUT_OK) return status;
    struct bitcut_gemm *g = &to->gemm;
    struct bitcut_matrix *m = which == BITCUT_A ? &g->a : &g->b;
    if (which != BITCUT_A && which != BITCUT_B)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "the operand must be A or B");
    if (to->kernel->side_most && !g->kernel) {
        const struct bitcut_matrix own = *m;
        struct bitcut_gemm again = *g;
        (which == BITCUT_A ? &again.a : &again.b)->prepared = g;
        status = gpu_work_choose(to, &x->gpu, &x->is, &again, f);
        if (status != BITCUT_OK) return status;
        *m = own;
    }
    if (!gpu_kernel_splits(to->kernel))
        return fault_set(f, BITCUT_BAD_ARGUMENT, "%s accepts no prepared operands",
                         to->kernel->name);
    m->prepared = NULL;
    m->ld = which == BITCUT_A ? matrix_ld(m, g->m, g->k) : matrix_ld(m, g->k, g->n);
    return BITCUT_OK;
}

static size_t parts_bytes(const struct bitcut_device *x, const struct gpu_work *w,
                          enum bitcut_operand which)
{
    return divide_up(x->gpu.module->parts(w, which), GPU_ALIGNMENT) * GPU_ALIGNMENT;
}

enum bitcut_status bitcut_gemm_prepared_size(size_t *bytes, const struct bitcut_device *x,
                                     const struct bitcut_gemm *gemm,
                                     enum bitcut_operand which, char *why)
{
    struct gpu_work w;
    struct fault f;
    enum bitcut_status status = check_there(bytes, &f);
    if (status == BITCUT_OK) status = choose_parts(&w, x, gemm, which, &f);
    if (status == BITCUT_OK) *bytes = parts_bytes(x, &w, which);
    return fault_write(why, status, &f);
}

/* Check one operand, as in a GEMM whose other operand has one line. */
static enum bitcut_status check_operand(const struct gpu_work *w,
                                        enum bitcut_operand which,
                                        const struct bitcut_device *x, struct fault *f)
{
    static const char any[GPU_ALIGNMENT] __attribute__((aligned(GPU_ALIGNMENT)));
    struct bitcut_gemm g = w->gemm;
    struct bitcut_matrix *m = which == BITCUT_A ? &g.a : &g.b;
    struct bitcut_matrix *other = which == BITCUT_A ? &g.b : &g.a;
    const size_t elements = which == BITCUT_A ? g.m : g.n;
    *(which == BITCUT_A ? &g.n : &g.m) = 1;
    g.count = 1;
    g.beta = 0;
    other->prepared = any;
    g.d = (struct bitcut_matrix){ .at = any };
    const enum bitcut_status status = gemm_check_matrices(&g, false, f);
    if (status != BITCUT_OK) return status;
    return gpu_matrix_check(which == BITCUT_A ? "A" : "B", m, elements && g.k, &x->gpu,
                            &x->is, f);
}

static enum bitcut_status prepare(void *parts, const struct bitcut_device *x,
                                  const struct gpu_work *w, enum bitcut_operand which,
                                  void *stream, struct fault *f)
{
    char why[GPU_FAULT_MAX];
    enum bitcut_status status = check_operand(w, which, x, f);
    if (status == BITCUT_OK)
        status = gpu_memory_check("parts", parts, parts_bytes(x, w, which), &x->gpu,
                                  &x->is, f);
    if (status != BITCUT_OK) return status;
    if (x->gpu.module->prepare(parts, w, which, x->is.number, stream, why))
        return fault_set(f, BITCUT_UNSUPPORTED, "%s", why);
    return BITCUT_OK;
}

enum bitcut_status bitcut_gemm_prepare(void *parts, const struct bitcut_device *x,
                                       const struct bitcut_gemm *gemm,
                                       enum bitcut_operand which, void *stream, char *why)
{
    struct gpu_work w;
    struct fault f;
    enum bitcut_status status = choose_parts(&w, x, gemm, which, &f);
    if (status == BITCUT_OK) status = prepare(parts, x, &w, which, stream, &f);
    return fault_write(why, status, &f);
}
