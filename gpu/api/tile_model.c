/* SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/api/tile.h"

#include "lib/base/size.h"

#include <math.h>

#define COUNT(key, field)                                                                \
    {                                                                                    \
        key, offsetof(struct tile_choice, field), true                                   \
    }
#define NUMBER(key, field)                                                               \
    {                                                                                    \
        key, offsetof(struct tile_choice, field), false                                  \
    }

/* --- clocks ----------------------------------------------------------------------- */

/* The clocks that a unit needs.

   LE-GEMM's score, busy times useful times ratio, has no scale: twice the operations for
   a loaded byte counts as much as twice the busy multiprocessors, although loads are
   hidden behind multiplications.  Timed on an H200, this score chooses tiles that are up
   to 19 % slower than the best.  This model replaces the ratio by a rate of at most 1,
   computed from the clocks that a unit needs (rates from the device, bytes from the
   kernel):

   a. A step of T_K multiplies for terms T_M T_N T_K / products clocks, and twice as long
      for parts of 32 bits.  At the same time it loads for bytes / cache_rate clocks;
      blocks of a cluster share their loads of B, and of A.
   b. Transfers to and from shared memory add bytes / shared_rate clocks to the
      multiplications of (a).  The hardware does both at the same time, but at a cost: if
      the power of the card is the limit, a moved byte replaces a product.  A sum with 5/2
      of the bandwidth fits the timings of an H200 (data/h200/tiles.jsonl) best.  The
      longer of the two, with the bandwidth itself, has as large an error as LE-GEMM's
      score.
   c. So a step takes the longer of two times: the multiplications with (b), and the
      loads.  With one stage, which means no asynchronous copy, it takes their sum.
   d. The end of a tile, the write of its outputs, takes 4 T_M T_N / cache_rate.  Other
      blocks on the same unit hide it.  If a cluster adds S slices of k, each block writes
      1/S of the outputs, after it has read the outputs of the S - 1 other slices from
      neighbouring units, 8 bytes per clock, and has waited 3500 clocks for their end.
      These are upper limits from timings of an H100 (data/h100/cluster.jsonl).
   e. The busiest unit has L = ceil(g / U) tiles, R of them at a time.  g includes slices
      of k that no cluster adds, and the GEMMs of a batch.  A cluster counts as one tile
      with all its outputs, on as many units.  The GEMM takes L steps step + ceil(L / R)
      end.
   f. busy = g / (U L); useful is the share of the work that is not padding; rate is the
      time of the multiplications alone, divided by (e).  score = busy useful rate is the
      share of the rate of all units that the GEMM reaches, so the best score means the
      shortest time.  Equal scores: the earlier kernel. */
static void judge_clocks(struct tile_choice *c, const struct tile_task *x)
{
    enum { BESIDE_RATE = 8, SLICES_WAIT = 3500 };
    const struct tile *t = &c->tile;
    const double outputs = (double)tile_outputs(t), load = (double)c->costs.load;
    const double own =
        (double)t->m / c->costs.cluster_n + (double)t->n / c->costs.cluster_m;
    const double L = (double)c->busiest;
    c->products_clocks =
        t->k * x->method.terms * outputs * (x->method.part_bytes / 2.0) / x->gpu.products;
    c->shared_clocks = t->k * (load + (double)c->costs.read) / x->gpu.shared_rate;
    c->cache_clocks = t->k * (load * own / (t->m + t->n)) / x->gpu.cache_rate;
    const double multiply = c->products_clocks + c->shared_clocks;
    const double step =
        t->stages > 1 ? fmax(multiply, c->cache_clocks) : multiply + c->cache_clocks;
    const double bytes = sizeof(float) * outputs, slices = c->costs.slices;
    const double wait =
        slices > 1 ? bytes * (slices - 1) / slices / BESIDE_RATE + SLICES_WAIT : 0;
    const double end = bytes / slices / x->gpu.cache_rate + wait;
    const double all = L * (double)c->steps * step + ceil(L / (double)c->resident) * end;
    c->factor[TILE_RATE] = L * (double)c->steps * c->products_clocks / all;
}

static const struct tile_detail clocks_details[] = {
    COUNT("tiles", groups),
    COUNT("busiest", busiest),
    COUNT("resident", resident),
    COUNT("steps", steps),
    NUMBER("products", products_clocks),
    NUMBER("shared", shared_clocks),
    NUMBER("cache", cache_clocks),
    { 0 },
};

/* --- LE-GEMM ---------------------------------------------------------------------- */

/* The thread parallelism model of LE-GEMM (Zhang et al., Journal of Systems Architecture
   160, 2025, 103336, section 4.2).

   A wave has T_thread_num threads, a group W T_thread_num = Work_num.  The equations of
   the paper, in its letters, for its recipe (two f16 parts for each operand, three
   products):

   (12) T_TLP = phi(M N / (T_M T_N)) T_thread_num          threads of the whole GEMM
   (13) T_memory = 2 2 (T_M T_K + T_K T_N)                 bytes loaded in a step
   (14) T_flops = 3 2 (T_M T_N T_K)                        operations of a step
   (15) T_flops/memory = 3 T_M T_N / (2 (T_M + T_N))       (14) / (13)
   (16) Work_DL = (T_M T_N + T_M T_K + T_K T_N) / Work_num elements a thread holds
   (17) Work_CP = T_M T_N / Work_num                       outputs a thread computes

   phi turns groups into waves: phi(g) = g W.  The paper maximises (12) and (15) within
   the registers and the shared memory.  As printed, this does not determine a tile: (12)
   alone takes the smallest tile, (15) the largest, and no capacity is stated.  The
   following reading, the same for every GPU, gives the paper's Table 2:

   a. "The number of activated threads is also limited by the supported number by the GPU
      hardware": (12) counts as the share of the matrix cores that are busy, with C matrix
      cores in a unit: busy = g / (U L) min(C, min(L, R) W) / C.
   b. Tiles at the edge are computed completely: useful = M N K / (g T_M T_N ceil(K/T_K)
      T_K).
   c. score = busy useful T_flops/memory.  Equal scores: the smaller Work_DL, which also
      determines T_K; then the earlier candidate.
   d. (13) describes one buffer, and the pipeline of section 4.3 has two: `stages` times
      T_memory must fit into the shared memory of a group.
   e. A thread's elements of (16) are in registers.  An element of C is one register of 32
      bits.  An element of A or B with its residual is two f16 parts, which is one
      register as well.  Their number is below the number of the thread's registers,
      because no equation counts an address.  (16) is bounded, not (17): (17), which the
      text calls the "number of registers loaded by each thread", would let a 256 x 256
      tile fill all registers of an A800.
   f. (16) and (17) count one register for each output, but Algorithm 1 has two
      accumulators.  With both, 128 x 256 outputs take all 65536 registers of an A800.
      Table 2 needs the equations as they are printed, accumulators = 1.
   g. A pipeline loads one fragment from shared memory while it multiplies another, so
      with two or more stages T_K is at least two fragments.  Section 4.3 also names
      T_K = 16 for 128 x 256 tiles "on the AMD platform".  This fits an MI210, and its
      T_K = 32 does not (98304 bytes of 65536); Table 2 has 128 x 128 x 32 there.
   h. Candidates and W are not in the paper; tile_grid() and tile_waves() define them.
      Sides other than powers of two would be better: 192 x 192 x 32 on an A800. */
const struct tile_method tile_legemm = { 3, 2, 2, 1, false };

/* The number of matrix cores of the busiest unit that have a wave. */
static uint64_t cores_at_work(const struct tile_choice *c, const struct tile_gpu *gpu)
{
    const uint64_t waves = smaller(c->busiest, c->resident) * (uint64_t)c->tile.waves;
    return smaller((uint64_t)gpu->matrix_cores, waves);
}

static void judge_legemm(struct tile_choice *c, const struct tile_task *x)
{
    c->factor[TILE_BUSY] *= (double)cores_at_work(c, &x->gpu) / x->gpu.matrix_cores;
    c->factor[TILE_RATE] = (double)c->flops / (double)c->memory;
}

/* The sign of a/b - c/d. */
static int compare_fractions(uint64_t a, bitcut_uint128 b, uint64_t c, bitcut_uint128 d)
{
    const bitcut_uint128 left = a * d, right = c * b;
    return (left > right) - (left < right);
}

/* The divisor of the score, except for constants of the ranking: T_M T_N cancels. */
static bitcut_uint128 score_divisor(const struct tile_choice *c)
{
    const uint64_t depth = smaller(c->steps * (uint64_t)c->tile.k, 2 * TILE_PROBLEM_MAX);
    return (bitcut_uint128)c->busiest * depth * c->costs.load;
}

static int compare_legemm(const struct tile_choice *a, const struct tile_choice *b,
                          const struct tile_task *x)
{
    return compare_fractions(cores_at_work(a, &x->gpu), score_divisor(a),
                             cores_at_work(b, &x->gpu), score_divisor(b));
}

/* The smaller Work_DL is better. */
static int compare_work_dl(const struct tile_choice *a, const struct tile_choice *b)
{
    return compare_fractions(
        tile_outputs(&b->tile) + tile_elements(&b->tile), (bitcut_uint128)b->tile.waves,
        tile_outputs(&a->tile) + tile_elements(&a->tile), (bitcut_uint128)a->tile.waves);
}

static const struct tile_detail legemm_details[] = {
    COUNT("groups", groups),
    COUNT("busiest", busiest),
    COUNT("resident", resident),
    NUMBER("tlp", tlp),
    COUNT("memory", memory),
    COUNT("flops", flops),
    NUMBER("work_dl", work_dl),
    NUMBER("work_cp", work_cp),
    COUNT("shared", costs.shared),
    COUNT("registers", costs.registers),
    { 0 },
};

/* --- the table -------------------------------------------------------------------- */

const struct tile_model tile_models[] = {
    [TILE_MODEL_CLOCKS] = {
        .name = "clocks",
        .what = "the share of the rate of all units, from the clocks that one needs",
        .factor = { { "busy", "the share of units at work" },
                    { "useful", "the share of work that is no padding" },
                    { "rate", "the share of time that a busy unit multiplies" } },
        .details = clocks_details,
        .rates = true,
        .clusters = true,
        .judge = judge_clocks,
    },
    [TILE_MODEL_LEGEMM] = {
        .name = "legemm",
        .what = "LE-GEMM's thread parallelism: cores at work times operations a byte",
        .factor = { { "busy", "the share of matrix cores at work (Eq. 12)" },
                    { "useful", "the share of work that is no padding" },
                    { "ratio", "operations for a byte loaded (Eq. 15)" } },
        .details = legemm_details,
        .judge = judge_legemm,
        .compare_scores = compare_legemm,
        .compare_loads = compare_work_dl,
    },
    { 0 }
};

const struct tile_model *tile_model_of(const struct tile_gpu *gpu)
{
    const struct tile_model *model = tile_models;
    while (model->rates && !gpu->products) model++;
    return model;
}
