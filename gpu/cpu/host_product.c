/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L /* sysconf() */

#include "gpu/cpu/host_product.h"

#include "gpu/cpu/host_areas.h"
#include "gpu/cpu/host_memory.h"
#include "gpu/cpu/host_recipes.h"
#include "gpu/cpu/host_units.h"
#include "gpu/cpu/host_parts.h"
#include "lib/base/size.h"
#include "lib/base/threads.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* --- the rows --------------------------------------------------------------------- */

enum { SLICES_MAX = 65535 };

/* Limit of m, n and k, so that the bytes of a workspace can be counted. */
#define DIMENSION_MAX ((size_t)1 << 31)

#define TERM(A, B, ACCUMULATOR) { A, B, ACCUMULATOR, false },
#define COUNT(...)              +1

#define KERNEL(FAMILY, WHAT, INSTRUCTION, UNIT, RECIPE, PARTS)                           \
    { .name = FAMILY "." #RECIPE ".bf16",                                                \
      .what = WHAT,                                                                      \
      .recipe = #RECIPE,                                                                 \
      .instruction = INSTRUCTION,                                                        \
      .matrices = FORMAT_F32,                                                            \
      .format = FORMAT_BF16,                                                             \
      .program = { PARTS,                                                                \
                   0 HOST_TERMS_##RECIPE(COUNT),                                         \
                   { HOST_TERMS_##RECIPE(TERM) },                                        \
                   0 },                                                                  \
      .cluster_m = 1,                                                                    \
      .cluster_n = 1,                                                                    \
      .slices_most = SLICES_MAX,                                                         \
      .size_most = DIMENSION_MAX,                                                        \
      .architectures = UNIT },

#define AMX_KERNEL(RECIPE, PARTS, ACCUMULATORS)                                          \
    KERNEL("amx", "TDPBF16PS, blocks of 16 x 16", "tdpbf16ps.m16n16k32.f32.bf16",        \
           ON_AMX_BF16, RECIPE, PARTS)
#define AVX512_KERNEL(RECIPE, PARTS, ACCUMULATORS)                                       \
    KERNEL("avx512", "VDPBF16PS, blocks of 16 x 16", "vdpbf16ps.m1n16k2.f32.bf16",       \
           ON_AVX512_BF16, RECIPE, PARTS)

/* If a recipe has several kernels, the first one that the processor can run is the faster
   one. */
const struct gpu_kernel host_kernels[] = { HOST_RECIPES(AMX_KERNEL)
                                               HOST_RECIPES(AVX512_KERNEL){ 0 } };

#if HOST_HAS_CODE

/* --- a batch ---------------------------------------------------------------------- */

/* The code of each row, in the order of the rows. */
#define AMX_CODE(RECIPE, PARTS, ACCUMULATORS)                                            \
    (ACCUMULATORS) == 1 ? &host_amx_one : &host_amx_bf16x9,
#define AVX512_CODE(...) &host_avx512_any,

static const struct host_code *code_of(const struct gpu_work *w)
{
    static const struct host_code *const codes[] = { HOST_RECIPES(AMX_CODE)
                                                         HOST_RECIPES(AVX512_CODE) };
    return codes[w->kernel - host_kernels];
}

static size_t aligned(size_t bytes)
{
    return divide_up(bytes, GPU_ALIGNMENT) * GPU_ALIGNMENT;
}

/* The number of threads that have room for sums: as many as the machine could ever use,
   because the size of a workspace is fixed before the number of threads is known. */
static int rooms(void)
{
    const long processors = sysconf(_SC_NPROCESSORS_CONF);
    return processors < 1              ? 1
           : processors < THREADS_MAX ? (int)processors
                                       : THREADS_MAX;
}

/* The parts of a workspace, one after the other, in bytes. */
struct areas {
    size_t tiles[2], largest[2], rooms; /* of one matrix; magnitudes, unless the parts are
                                           prepared; of all threads   */
};

static struct areas areas_of(const struct host_areas *p)
{
    struct areas areas = { .rooms = (size_t)rooms() * p->room };
    for (int i = 0; i < 2; i++) {
        const struct host_tiles *const x = i ? &p->b.tiles : &p->a.tiles;
        const size_t lines = x->operand.equilibrate ? x->operand.lines : 0;
        areas.tiles[i] = aligned(host_tiles_bytes(x));
        areas.largest[i] = aligned(lines * sizeof(uint32_t));
    }
    return areas;
}

/* Add the work to make the tiles of an operand of GEMM `one`, unless they equal the tiles
   of the GEMM before. */
static void half_add(struct host_tiles_work *work, int *count, struct host_half *x,
                     size_t one, char *tiles, char *largest)
{
    const struct operand *const o = &x->tiles.operand;
    const struct bitcut_matrix *const m = o->matrix;
    const char *parts = (const char *)m->prepared;
    if (one && !(parts ? m->prepared_stride : m->stride)) return;
    if (parts) parts += one * m->prepared_stride;
    x->at = (uint32_t *)tiles;
    x->largest = parts            ? parts_largest(parts, o)
                 : o->equilibrate ? (uint32_t *)largest
                                  : NULL;
    if (x->largest && !parts) host_parts_largest((uint32_t *)largest, o, one);
    work[(*count)++] = (struct host_tiles_work){ .to = (uint32_t *)tiles,
                                                 .tiles = &x->tiles,
                                                 .matrix = one,
                                                 .largest = x->largest,
                                                 .parts = parts };
}

static void batch_run(const struct gpu_work *w, char *workspace)
{
    struct host_areas p;
    host_areas_set(&p, w, code_of(w));
    const struct areas areas = areas_of(&p);
    char *const b_tiles = workspace + areas.tiles[0];
    char *const threads = b_tiles + areas.tiles[1], *const largest =
                                                        threads + areas.rooms;
    for (size_t i = 0; i < w->gemm.count; i++) {
        p.gemm = gemm_nth(&w->gemm, i);
        struct host_tiles_work work[HOST_TILES_WORK_MAX];
        int count = 0;
        half_add(work, &count, &p.a, i, workspace, largest);
        half_add(work, &count, &p.b, i, b_tiles, largest + areas.largest[0]);
        host_tiles_make(work, count);
        host_areas_run(&p, threads, rooms());
    }
}

#endif

size_t host_workspace(const struct gpu_work *w)
{
#if HOST_HAS_CODE
    struct host_areas p;
    host_areas_set(&p, w, code_of(w));
    const struct areas x = areas_of(&p);
    return x.rooms + x.tiles[0] + x.tiles[1] + x.largest[0] + x.largest[1];
#else
    (void)w;
    return 0;
#endif
}

int host_start(const struct gpu_work *w, void *workspace, int device, void *stream,
               char *fault)
{
    (void)device;
    (void)stream;
    (void)fault;
#if HOST_HAS_CODE
    if (w->gemm.m && w->gemm.n) batch_run(w, workspace);
#else
    (void)w;
    (void)workspace;
#endif
    return 0;
}

/* The matrices are read where they are. */
int host_gemm(const struct gpu_work *w, const struct gpu_memory memory[4], int device,
              char *fault)
{
    const size_t bytes = host_workspace(w);
    void *const workspace = host_reserve(bytes);
    (void)memory;
    snprintf(fault, GPU_FAULT_MAX, "not enough memory for a workspace of %zu bytes",
             bytes);
    const int status = workspace ? host_start(w, workspace, device, NULL, fault) : 1;
    free(workspace);
    return status;
}

/* --- parts ------------------------------------------------------------------------ */

size_t host_parts(const struct gpu_work *w, enum bitcut_operand which)
{
    const struct operand x = operand_of(w, which);
    return parts_bytes(&x);
}

int host_prepare(void *parts, const struct gpu_work *w, enum bitcut_operand which,
                 int device, void *stream, char *fault)
{
    const struct operand x = operand_of(w, which);
    (void)device;
    (void)stream;
    (void)fault;
    host_parts_make(parts, &x, 0);
    return 0;
}

int host_split(void *parts, const struct gpu_work *w, enum bitcut_operand which,
               int device, char *fault)
{
    return host_prepare(parts, w, which, device, NULL, fault);
}
