/* SPDX-License-Identifier: BSD-3-Clause */
/* The faults of the device in tests/gpu/device.c, selected by the environment. */
#define _POSIX_C_SOURCE 200809L

#include "tests/gpu/device_parts.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Change the lowest bit of the last element of the batch. */
static void flip_last(struct gpu_batch *batch, const struct gpu_instruction *i)
{
    const size_t outputs = batch->count * (size_t)i->m * (size_t)i->n;
    ((unsigned char *)batch->d)[(outputs - 1) * (size_t)i->c_bytes] ^= 1;
}

/* The same, but in no first batch. */
static void flip_later(struct gpu_batch *batch, const struct gpu_instruction *i)
{
    static int batches_run;
    if (++batches_run > 1) flip_last(batch, i);
}

/* Be interrupted while the second batch runs. */
void model_interrupt(struct gpu_batch *batch, const struct gpu_instruction *i)
{
    static int batches_run;
    (void)batch;
    (void)i;
    if (++batches_run == 2) raise(SIGTERM);
}

size_t model_bytes(const struct bitcut_matrix *x) { return (size_t)x->format->bits / 8; }

/* Matrix i. */
static char *matrix_of(const struct bitcut_matrix *x, size_t i)
{
    return x->each ? (char *)(uintptr_t)x->each[i]
                   : (char *)(uintptr_t)x->at + i * x->stride * model_bytes(x);
}

char *model_element(const struct bitcut_matrix *x, size_t matrix, size_t i, size_t j)
{
    const size_t at = x->layout == BITCUT_COLUMN_MAJOR ? j * x->ld + i : i * x->ld + j;
    return matrix_of(x, matrix) + at * model_bytes(x);
}

/* The lowest bit of the last output of a batch is wrong. */
void model_flip_output(const struct bitcut_gemm *g)
{
    if (g->m && g->n) *model_element(&g->d, g->count - 1, g->m - 1, g->n - 1) ^= 1;
}

/* It is from the third k-step of 16 on. */
static void flip_from_step(const struct bitcut_gemm *g)
{
    if (g->k > 32) model_flip_output(g);
}

static void flip_transposed(const struct bitcut_gemm *g)
{
    if (g->b.layout == BITCUT_COLUMN_MAJOR) model_flip_output(g);
}

static void flip_down(const struct bitcut_gemm *g)
{
    if (g->d.layout == BITCUT_COLUMN_MAJOR) model_flip_output(g);
}

static void flip_crossed(const struct bitcut_gemm *g)
{
    if ((g->beta & 0x7fffffff) && g->c.layout != g->d.layout) model_flip_output(g);
}

static void flip_in_batch(const struct bitcut_gemm *g)
{
    if (g->count > 1) model_flip_output(g);
}

static void flip_in_place(const struct bitcut_gemm *g)
{
    if (g->c.at == g->d.at) model_flip_output(g);
}

static void flip_by_pointers(const struct bitcut_gemm *g)
{
    if (g->d.each) model_flip_output(g);
}

static void flip_large(const struct bitcut_gemm *g)
{
    if (g->n > 8) model_flip_output(g);
}

/* The last row of each GEMM is not computed. */
static void forget_row(const struct bitcut_gemm *g)
{
    for (size_t e = 0; e < g->count && g->m; e++)
        for (size_t j = 0; j < g->n; j++)
            memset(model_element(&g->d, e, g->m - 1, j), 0, model_bytes(&g->d));
}

static void put_zero(const struct bitcut_gemm *g, size_t element)
{
    memset(matrix_of(&g->d, g->count - 1) + element * model_bytes(&g->d), 0,
           model_bytes(&g->d));
}

/* Lines of a matrix of D in memory, and their length. */
static size_t lines_of(const struct bitcut_gemm *g)
{
    return g->d.layout == BITCUT_COLUMN_MAJOR ? g->n : g->m;
}

static size_t length_of(const struct bitcut_gemm *g)
{
    return g->d.layout == BITCUT_COLUMN_MAJOR ? g->m : g->n;
}

/* There is a line too many. */
static void write_behind(const struct bitcut_gemm *g)
{
    if (g->d.stride > lines_of(g) * g->d.ld) put_zero(g, lines_of(g) * g->d.ld);
}

/* A line is one element too long. */
static void write_gap(const struct bitcut_gemm *g)
{
    if (lines_of(g) > 1 && g->d.ld > length_of(g)) put_zero(g, length_of(g));
}

#define NEWER &model_architectures[1]

static const struct device_fault faults[] = {
    { "", NEWER, NULL, NULL, NULL, NULL },
    { "absent", NEWER, "nobody is there", NULL, NULL, NULL },
    { "ampere", &model_architectures[0], NULL, NULL, NULL, NULL },
    { "future", NULL, NULL, NULL, NULL, NULL },
    { "hot", NEWER, NULL, NULL, NULL, NULL },
    { "capped", NEWER, NULL, NULL, NULL, NULL },
    { "full", NEWER, NULL, NULL, NULL, NULL },
    { "no board", NEWER, NULL, NULL, NULL, NULL },
    { "settles", NEWER, NULL, NULL, NULL, NULL },
    { "breaks", NEWER, NULL, "it broke", NULL, NULL },
    { "flips", NEWER, NULL, NULL, flip_last, model_flip_output },
    { "second flips", NEWER, NULL, NULL, flip_last, model_flip_output },
    { "flips later", NEWER, NULL, NULL, flip_later, flip_from_step },
    { "flips transposed", NEWER, NULL, NULL, NULL, flip_transposed },
    { "flips down", NEWER, NULL, NULL, NULL, flip_down },
    { "flips crossed", NEWER, NULL, NULL, NULL, flip_crossed },
    { "flips batches", NEWER, NULL, NULL, NULL, flip_in_batch },
    { "flips in place", NEWER, NULL, NULL, NULL, flip_in_place },
    { "flips by pointers", NEWER, NULL, NULL, NULL, flip_by_pointers },
    { "flips large", NEWER, NULL, NULL, NULL, flip_large },
    { "flips low parts", NEWER, NULL, NULL, NULL, NULL },
    { "forgets a row", NEWER, NULL, NULL, NULL, forget_row },
    { "writes behind", NEWER, NULL, NULL, NULL, write_behind },
    { "writes gap", NEWER, NULL, NULL, NULL, write_gap },
    { "interrupts", NEWER, NULL, NULL, model_interrupt, NULL },
    { "no library", NEWER, NULL, NULL, NULL, NULL },
    { "large is fast", NEWER, NULL, NULL, NULL, NULL },
    { "peer is small", NEWER, NULL, NULL, NULL, NULL },
    { "peer tires", NEWER, NULL, NULL, NULL, NULL },
    { "far memory", NEWER, NULL, NULL, NULL, NULL },
    { "adds otherwise", NEWER, NULL, NULL, NULL, NULL },
    { "starts slowly", NEWER, NULL, NULL, NULL, NULL },
    { "launches nothing", NEWER, NULL, NULL, NULL, NULL },
};

const struct device_fault *model_fault(void)
{
    const char *name = getenv("DEVICE_FAULT");
    for (size_t i = 0; name && i < sizeof faults / sizeof faults[0]; i++)
        if (!strcmp(faults[i].name, name)) return &faults[i];
    return &faults[0];
}

/* What is wrong with one of the devices: "second ..." spares the first. */
const struct device_fault *model_fault_on(int device)
{
    const struct device_fault *wanted = model_fault();
    return device == 0 && !strncmp(wanted->name, "second", 6) ? &faults[0] : wanted;
}

bool model_has_fault(const char *name) { return !strcmp(model_fault()->name, name); }

/* Whether the faults of GEMMs are the kernel's: DEVICE_FAULTY names it, or nothing. */
bool model_is_faulty(const char *kernel)
{
    const char *const name = getenv("DEVICE_FAULTY");
    return !name || (kernel && !strcmp(kernel, name));
}

/* Why nothing can be run; 0: it can. */
int model_refuse(char *fault)
{
    const char *why = model_fault()->no_run;
    snprintf(fault, GPU_FAULT_MAX, "%s", why ? why : "impossible");
    return why != NULL;
}
