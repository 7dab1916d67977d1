/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole GEMMs on the device of tests/gpu/device.c: by the emulator, or from prepared
   parts by the terms of the kernel, one instruction after the other. */
#define _POSIX_C_SOURCE 200809L

#include "tests/gpu/device_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* One of a batch: its parts, and m x n sums in each accumulator. */
struct one {
    const struct gpu_work *work;
    const struct bitcut_unit *unit[RECIPE_TERMS_MAX]; /* of each term, ...            */
    size_t k_of[RECIPE_TERMS_MAX];                    /* ... and k of its instruction */
    struct operand x[2];
    const void *parts[2];
    size_t matrix, step; /* step: the largest of these k */
    size_t unpromoted;   /* instructions of accumulator 0 since it was promoted */
    uint64_t *sum[RECIPE_ACCUMULATORS_MAX], *fragment[2];
    float *promoted, *total;
};

static const struct bitcut_unit *unit_of(const struct gpu_kernel *kernel)
{
    char name[64];
    snprintf(name, sizeof name, "%s%s", kernel->instruction ? "hopper/" : "fma/f32",
             kernel->instruction ? kernel->instruction : "");
    return bitcut_unit_find(name, NULL);
}

/* What the term's instructions are on: parts of a second format have one of their own. */
static const struct bitcut_unit *unit_of_term(const struct gpu_kernel *kernel,
                                              struct recipe_term term)
{
    const bool integers = kernel->low_format == FORMAT_S8;
    return kernel->low_format && (term.a || term.b)
               ? bitcut_unit_find(integers ? "hopper/" S8 : "hopper/" E4M3, NULL)
               : unit_of(kernel);
}

/* Element i of accumulator c. */
static float sum_of(const struct one *o, int c, size_t i)
{
    const bool integer = o->work->kernel->low_format == FORMAT_S8 && c > 0;
    return integer ? (float)(int32_t)o->sum[c][i] : model_f32(o->sum[c][i]);
}

/* `count` elements from p on of part `part`, of all lines. */
static void load_fragment(struct one *o, int which, size_t part, size_t p, size_t count)
{
    const struct operand *x = &o->x[which];
    for (size_t i = 0; i < x->lines; i++)
        for (size_t e = 0; e < count; e++) {
            uint64_t bits = 0;
            if (p + e < x->k)
                memcpy(&bits, model_part(o->parts[which], x, part, i, p + e),
                       model_part_bytes(x, part));
            o->fragment[which][which ? e * x->lines + i : i * count + e] = bits;
        }
}

static void promote(struct one *o)
{
    const size_t outputs = o->x[0].lines * o->x[1].lines;
    for (size_t i = 0; i < outputs; i++) o->promoted[i] += model_f32(o->sum[0][i]);
    memset(o->sum[0], 0, outputs * sizeof *o->sum[0]);
    o->unpromoted = 0;
}

/* One instruction of a term. */
static void do_instruction(struct one *o, int t, size_t p)
{
    const struct gpu_program *const program = &o->work->kernel->program;
    const struct recipe_term term = program->term[t];
    uint64_t *const d = o->sum[term.accumulator];
    load_fragment(o, 0, (size_t)term.a, p, o->k_of[t]);
    load_fragment(o, 1, (size_t)term.b, p, o->k_of[t]);
    const enum bitcut_status status =
        bitcut_mma(d, o->unit[t], 1, o->x[0].lines, o->x[1].lines, o->k_of[t],
                   o->fragment[0], o->fragment[1], d, 1);
    if (status != BITCUT_OK) abort();
    if (term.accumulator == 0 && program->promote &&
        ++o->unpromoted == (size_t)program->promote)
        promote(o);
}

static void do_step(struct one *o, size_t p)
{
    for (int t = 0; t < o->work->kernel->program.terms; t++)
        for (size_t done = 0; done < o->step; done += o->k_of[t])
            do_instruction(o, t, p + done);
}

/* k-steps [from, to), folded and added to the slices before. */
static void do_slice(struct one *o, size_t from, size_t to, bool first)
{
    const bool promotes = o->work->kernel->program.promote;
    const size_t outputs = o->x[0].lines * o->x[1].lines;
    for (int c = 0; c < RECIPE_ACCUMULATORS_MAX; c++)
        memset(o->sum[c], 0, outputs * sizeof *o->sum[c]);
    memset(o->promoted, 0, outputs * sizeof *o->promoted);
    o->unpromoted = 0;
    for (size_t s = from; s < to; s++) do_step(o, s * o->step);
    if (o->unpromoted) promote(o);
    for (size_t i = 0; i < outputs; i++) {
        float v = 0;
        for (int c = RECIPE_ACCUMULATORS_MAX - 1; c >= 0; c--)
            v = fmaf(v, ldexpf(1, -o->work->plan.scale),
                     c == 0 && promotes ? o->promoted[i] : sum_of(o, c, i));
        o->total[i] = first ? v : o->total[i] + v;
    }
}

static void do_outputs(const struct one *o)
{
    const struct bitcut_gemm *g = &o->work->gemm;
    for (size_t i = 0; i < g->m; i++)
        for (size_t j = 0; j < g->n; j++) {
            float v = ldexpf(o->total[i * g->n + j],
                             -model_exponent(&o->x[0], o->parts[0], i) -
                                 model_exponent(&o->x[1], o->parts[1], j));
            v *= model_f32(g->alpha);
            if (g->beta & 0x7fffffff)
                v = fmaf(model_f32(g->beta),
                         model_f32(model_load(&g->c, o->matrix, i, j)), v);
            model_store(&g->d, o->matrix, i, j, v);
        }
}

static void compute_one(struct one *o)
{
    const size_t steps = (o->x[0].k + o->step - 1) / o->step;
    const size_t slices = (size_t)o->work->plan.order.slices;
    const size_t each = (steps + slices - 1) / slices;
    do_slice(o, 0, each < steps ? each : steps, true);
    for (size_t s = each; s < steps; s += each)
        do_slice(o, s, s + each < steps ? s + each : steps, false);
    do_outputs(o);
}

void *model_zeros(size_t count, size_t bytes) { return calloc(count + 1, bytes); }

/* The units of the terms, and the k-step. */
static bool find_units(struct one *o, const struct gpu_kernel *kernel)
{
    int m, n, k;
    for (int t = 0; t < kernel->program.terms; t++) {
        o->unit[t] = unit_of_term(kernel, kernel->program.term[t]);
        if (!o->unit[t]) return false;
        bitcut_unit_shape(&m, &n, &k, o->unit[t]);
        o->k_of[t] = (size_t)k;
        if (o->step < o->k_of[t]) o->step = o->k_of[t];
    }
    return true;
}

/* Room for the sums of a GEMM. */
static bool one_init(struct one *o, const struct gpu_work *w)
{
    const size_t outputs = w->gemm.m * w->gemm.n;
    *o = (struct one){ .work = w,
                       .x = { model_operand(w, BITCUT_A), model_operand(w, BITCUT_B) } };
    if (!find_units(o, w->kernel)) return false;
    for (int c = 0; c < RECIPE_ACCUMULATORS_MAX; c++)
        o->sum[c] = model_zeros(outputs, sizeof *o->sum[c]);
    for (int i = 0; i < 2; i++)
        o->fragment[i] = model_zeros(o->x[i].lines * o->step, sizeof *o->fragment[i]);
    o->promoted = model_zeros(outputs, sizeof *o->promoted);
    o->total = model_zeros(outputs, sizeof *o->total);
    return true;
}

static void one_clear(struct one *o)
{
    free(o->total);
    free(o->promoted);
    for (int i = 0; i < 2; i++) free(o->fragment[i]);
    for (int c = 0; c < RECIPE_ACCUMULATORS_MAX; c++) free(o->sum[c]);
}

/* Parts of A and of B, unless prepared; and slices, to have something there. */
struct areas {
    size_t parts[2], slices; /* of a GEMM */
};

static struct areas areas_of(const struct gpu_work *w)
{
    const struct bitcut_gemm *g = &w->gemm;
    const size_t slices = (size_t)w->plan.order.slices;
    return (struct areas){ { g->a.prepared ? 0 : model_parts(w, BITCUT_A),
                             g->b.prepared ? 0 : model_parts(w, BITCUT_B) },
                           slices > 1 ? slices * g->m * g->n * sizeof(float) : 0 };
}

static size_t bytes_for(const struct gpu_work *w)
{
    const struct areas areas = areas_of(w);
    return w->gemm.count * (areas.parts[0] + areas.parts[1] + areas.slices);
}

enum { EMULATION_BYTES = 320 }; /* of one GEMM; nothing is read there */

/* Kernels that read matrices as they are need nothing there. */
size_t model_workspace(const struct gpu_work *w)
{
    if (gpu_work_emulates(w)) return EMULATION_BYTES;
    return w->kernel->matrices == FORMAT_F32 && !w->kernel->side_most ? bytes_for(w) : 0;
}

/* GEMMs of a batch work side by side. */
static void compute_all(struct one *o, char *at)
{
    const struct gpu_work *w = o->work;
    const struct areas areas = areas_of(w);
    for (o->matrix = 0; o->matrix < w->gemm.count; o->matrix++) {
        for (int i = 0; i < 2; at += areas.parts[i++]) {
            const struct bitcut_matrix *m = o->x[i].matrix;
            if (!m->prepared) model_make_parts(at, &o->x[i], o->matrix);
            o->parts[i] =
                m->prepared ? (const char *)m->prepared + o->matrix * m->prepared_stride : at;
        }
        if (areas.slices) memset(at, 0xff, areas.slices);
        at += areas.slices;
        compute_one(o);
    }
}

/* Whether what is emulated comes with all that a device is told of it, one GEMM. */
static bool is_told(const struct gpu_work *w)
{
    const struct gpu_emulation *e = &w->emulation;
    return w->gemm.count == 1 && e->k_step == w->plan.k_step && e->rule[0].k > 0 &&
           e->a.parts == w->plan.split_a.parts && e->b.parts == w->plan.split_b.parts &&
           (w->gemm.a.ld || !w->gemm.k) && w->gemm.b.ld && w->gemm.d.ld &&
           w->gemm.a.format && w->gemm.b.format && w->gemm.d.format;
}

/* Rows of the program are not those of the library that this module calls. */
static struct bitcut_split own_split(const struct bitcut_split *s)
{
    struct bitcut_split to = *s;
    for (int i = 0; i < s->parts; i++)
        to.part[i].format = bitcut_format_find(s->part[i].format->name);
    return to;
}

static struct bitcut_matrix own_matrix(const struct bitcut_matrix *x)
{
    struct bitcut_matrix to = *x;
    if (x->format) to.format = bitcut_format_find(x->format->name);
    return to;
}

/* By the emulator. */
enum bitcut_status model_emulate(const struct gpu_work *w)
{
    const struct gpu_kernel *k = w->kernel;
    const bool kernel = !gpu_work_emulates(w);
    const struct bitcut_split split_a = own_split(&w->plan.split_a),
                              split_b = own_split(&w->plan.split_b);
    struct bitcut_gemm g;
    bitcut_gemm_init(&g, sizeof g);
    g.recipe = bitcut_recipe_find(kernel ? k->recipe : w->plan.recipe->name);
    g.unit = kernel ? unit_of(k) : bitcut_unit_find(bitcut_unit_name(w->gemm.unit), NULL);
    if (!g.recipe || (!kernel && !is_told(w))) return BITCUT_UNSUPPORTED;
    g.split_a = &split_a;
    g.split_b = &split_b;
    g.dropped_term = kernel ? k->program.terms > g.recipe->terms : w->plan.dropped_term;
    g.promote = kernel ? k->program.promote : w->plan.promote;
    if (!kernel) g.tile_k = w->plan.tile_k;
    g.equilibrate = w->plan.equilibrate;
    g.order = w->plan.order;
    if (g.order.partial_format) g.order.partial_format = bitcut_format_find(g.order.partial_format->name);
    g.count = w->gemm.count;
    g.m = w->gemm.m;
    g.n = w->gemm.n;
    g.k = w->gemm.k;
    g.alpha = w->gemm.alpha;
    g.beta = w->gemm.beta;
    g.a = own_matrix(&w->gemm.a);
    g.b = own_matrix(&w->gemm.b);
    g.c = own_matrix(&w->gemm.c);
    g.d = own_matrix(&w->gemm.d);
    return bitcut_gemm(NULL, &g, 1, NULL);
}

/* Part by part. */
static bool compute(const struct gpu_work *w, void *at)
{
    struct one o;
    if (!one_init(&o, w)) return false;
    compute_all(&o, at);
    one_clear(&o);
    return true;
}

/* NULL: the stream is a small number, as of a test that needs none. */
static struct model_stream *model_of(void *stream)
{
    return (uintptr_t)stream < 4096 ? NULL : stream;
}

/* A start of which nothing is computed. */
static int enqueue(struct model_stream *s, char *fault)
{
    const struct timespec slow = { 0, 1000L * SLOW_MICROSECONDS };
    snprintf(fault, GPU_FAULT_MAX, "the queue is full");
    if (model_has_fault("starts slowly")) nanosleep(&slow, NULL);
    return ++s->starts > QUEUE;
}

int model_start(const struct gpu_work *w, void *at, int device, void *stream, char *fault)
{
    const size_t slices = (size_t)w->plan.order.slices;
    const bool by_parts = w->gemm.a.prepared || w->gemm.b.prepared || w->kernel->low_format;
    const struct device_fault *wanted = model_fault_on(device);
    struct model_stream *const s = model_of(stream);
    if (model_refuse(fault)) return 1;
    if (model_workspace(w) && w->gemm.count > GPU_COUNT_MAX / slices) return 1;
    if (!w->gemm.count || !w->gemm.m || !w->gemm.n) return 0;
    if (s && s->idle) return enqueue(s, fault);
    model_unlock(s);
    if (s) s->starts++, memset(at, 0xa5, model_workspace(w));
    const bool good = by_parts ? compute(w, at) : model_emulate(w) == BITCUT_OK;
    if (good && wanted->spoil_gemm && model_is_faulty(w->kernel->name))
        wanted->spoil_gemm(&w->gemm);
    model_lock(s);
    return !good;
}

/* On the host's memory. */
int model_gemm(const struct gpu_work *w, const struct gpu_memory memory[4], int device,
               char *fault)
{
    void *at = model_zeros(model_workspace(w), 1);
    (void)memory;
    const int status = model_start(w, at, device, NULL, fault);
    free(at);
    return status;
}
