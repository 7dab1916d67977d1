/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/device_gemm.h"

#include "analysis/cli/device_option.h"
#include "analysis/cli/install_path.h"
#include "gpu/api/choose.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* --- the kernel and where it runs ------------------------------------------------- */

static const struct gpu_kernel *find_kernel(const struct gpu *g, const char *name)
{
    const struct gpu_kernel *k = NULL;
    while ((k = gpu_kernel_next(g, k)))
        if (!strcmp(k->name, name)) break;
    return k;
}

/* Open the first module that has the kernel.  If none has it, and only the program's own
   module is available, report why the first one is not. */
static int find_module(struct device_gemm *x, const char *name)
{
    char folder[PLACE_MAX];
    struct fault f, first;
    bool found = false;
    for (const struct gpu_backend *b = gpu_backends; b->name; b++) {
        if (gpu_open(&x->recorder.gpu, b, place_module(folder), &f) != BITCUT_OK) {
            if (b == gpu_backends) first = f;
            continue;
        }
        x->kernel = find_kernel(&x->recorder.gpu, name);
        found |= x->kernel || b->module;
        if (x->kernel) break;
        gpu_close(&x->recorder.gpu);
    }
    return found ? EXIT_GOOD : fail("--kernel", &first);
}

/* Whether --unit, a unit or a chip, belongs to the architecture, or was not given. */
static bool has_unit(const struct gpu_architecture *a, const char *name)
{
    const struct chip *chip = name ? table_find(TABLE(chips), name) : NULL;
    const size_t length = strlen(a->units);
    if (chip) return !strcmp(chip->architecture, a->units);
    return !name || (!strncmp(name, a->units, length) && name[length] == '/');
}

/* A suitable device of the kernel's first architecture. */
static int imagine_device(struct device_gemm *x, const char *unit)
{
    const struct gpu_architecture *a = NULL;
    struct gpu_device *const d = &x->recorder.device;
    while ((a = gpu_architecture_next(&x->recorder.gpu, a))) {
        *d = (struct gpu_device){ .architecture = a,
                                  .architectures = a->bit,
                                  .shared_bytes = INT_MAX };
        snprintf(d->name, sizeof d->name, "%s", a->name);
        if (!gpu_kernel_fits(d, x->kernel) || !gpu_kernel_unit(x->kernel, d)) continue;
        if (!x->kernel->instruction || has_unit(a, unit)) return EXIT_GOOD;
    }
    return complain(
        "--unit",
        "is not available on any architecture of the kernel; see bitcut list kernels");
}

int device_gemm_open(struct device_gemm *x, const char *device, const char *kernel,
                     const char *unit)
{
    x->on_device = !device_is_emulator(device);
    int status = x->on_device ? device_open(&x->recorder, device, "gemm")
                              : find_module(x, kernel);
    if (status != EXIT_GOOD) return status;
    if (kernel && x->on_device) x->kernel = find_kernel(&x->recorder.gpu, kernel);
    if (kernel && !x->kernel)
        return complain("--kernel", "names no known kernel; see bitcut list kernels");
    if (!x->on_device) return imagine_device(x, unit);
    gpu_offload_init(&x->offload, &x->recorder.gpu, &x->recorder.device);
    return EXIT_GOOD;
}

void device_gemm_close(struct device_gemm *x) { gpu_close(&x->recorder.gpu); }

/* --- choosing --------------------------------------------------------------------- */

/* Whether any kernel of the device runs on the unit, or the device emulates it. */
static bool runs_on(const struct recorder *r, const struct bitcut_unit *unit)
{
    const struct gpu_kernel *k = NULL;
    if (gpu_emulates(&r->gpu)) return true;
    while ((k = gpu_kernel_next(&r->gpu, k)))
        if (gpu_kernel_fits(&r->device, k) && gpu_kernel_unit(k, &r->device) == unit)
            return true;
    return false;
}

/* Whether the requested --unit is the kernel's unit, if the kernel runs there; a chip
   stands for its architecture. */
static bool is_own_unit(const struct setup *s, const struct device_gemm *x)
{
    const struct gpu_device *d = &x->recorder.device;
    const struct bitcut_unit *own = gpu_kernel_unit(x->kernel, d);
    if (!own || !gpu_kernel_fits(d, x->kernel))
        return true; /* choosing reports the reason */
    if (table_find(TABLE(chips), s->options->unit))
        return has_unit(d->architecture, s->options->unit);
    return own == s->gemm.unit;
}

/* Whether the requested unit, if any, is available. */
static int check_unit(const struct setup *s, const struct device_gemm *x)
{
    const struct bitcut_unit *const unit = s->gemm.unit;
    const struct gpu_device *d = &x->recorder.device;
    struct fault f;
    if (!unit || (x->kernel ? is_own_unit(s, x) : runs_on(&x->recorder, unit)))
        return EXIT_GOOD;
    if (x->kernel)
        fault_set(&f, BITCUT_BAD_ARGUMENT, "%s runs on %s", x->kernel->name,
                  bitcut_unit_name(gpu_kernel_unit(x->kernel, d)));
    else
        fault_set(
            &f, BITCUT_BAD_ARGUMENT,
            "no kernel of %.60s runs on this unit, and the module does not emulate units",
            d->name);
    return fail(unit->name, &f);
}

int device_gemm_choose(struct device_gemm *x, struct setup *s)
{
    const struct recorder *const r = &x->recorder;
    struct bitcut_gemm *const g = &s->gemm;
    struct fault f;
    if (check_unit(s, x) != EXIT_GOOD) return EXIT_USAGE;
    if (x->kernel) g->kernel = x->kernel->name, g->unit = NULL;
    gemm_set_dense(g, NULL, s->a.rows, s->b.cols, s->a.cols, NULL, NULL, NULL);
    if (gpu_work_choose(&x->work, &r->gpu, &r->device, g, &f) != BITCUT_OK)
        return fail("gemm", &f);
    *g = x->work.gemm;
    s->plan = x->work.plan;
    gemm_settle(g, &s->plan);
    g->kernel = NULL;
    return EXIT_GOOD;
}

/* --- running ---------------------------------------------------------------------- */

static struct gpu_memory memory_of(const struct matrix *m)
{
    return (struct gpu_memory){ m->at, m->at ? m->rows * m->cols * sizeof *m->at : 0 };
}

int device_gemm_run(struct matrix *d, const struct device_gemm *x, const struct setup *s)
{
    struct fault f;
    struct gpu_work w = x->work;
    if (matrix_init(d, s->a.rows, s->b.cols, &f) != BITCUT_OK) return fail("D", &f);
    w.gemm.a.at = s->a.at;
    w.gemm.b.at = s->b.at;
    w.gemm.c.at = s->c.at;
    w.gemm.d.to = d->at;
    const struct gpu_memory memory[4] = { memory_of(&s->a), memory_of(&s->b),
                                          memory_of(&s->c), memory_of(d) };
    enum bitcut_status status = gpu_work_check(&w, &f);
    if (status == BITCUT_OK)
        status = gpu_work_run(&w, memory, &x->recorder.gpu, &x->recorder.device, &f);
    return status == BITCUT_OK ? EXIT_GOOD : fail(w.kernel->name, &f);
}

/* --- output ----------------------------------------------------------------------- */

json_t *device_gemm_methods(const struct gpu_work *w)
{
    const char *const first = gpu_work_method(w, 0), *name;
    bool same = true;
    json_t *names = json_array();
    for (size_t i = 0; (name = gpu_work_method(w, i)); i++) {
        same &= !strcmp(name, first);
        json_array_append_new(names, json_string(name));
    }
    if (!same) return names;
    json_decref(names);
    return json_string(first);
}
