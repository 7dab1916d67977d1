/* SPDX-License-Identifier: BSD-3-Clause */
/* The product of an FP64 GEMM by slices on Hopper: wgmma on planes of s8 that TMA loads.

   Launch: as gpu/cuda/gemm_sm90.cuh, with clusters of two blocks that share the lines of
   B, and tiles of 128 x 256.  One launch computes all products.  A block follows the
   program (gpu/module/slice_program.h) for each of its tiles: a run adds the products of
   some planes to the s32 accumulators, which are registers, and then they are stored in a
   slot.  When all runs of a tile are stored, each thread reads its own elements of all
   slots, and adds them in FP64, in the order of the program.

   Lockstep.  Clusters that multiply neighbouring tiles read the same planes.  They stay
   near each other in k, so that planes are read from the L2 cache: before every few
   stages, a cluster waits for a limited time until all clusters have come as far as the
   stages before.

   Shares.  The last tiles, which are too few for all clusters, are divided: each cluster
   computes a share of the program.  The block that is last to store its share finishes
   the tile.

   Exactness.  Sums in s32 are exact modulo 2^32, and sums that the program adds in FP64
   fit s32.  Each FP64 operation is that of emu/fp64/cut.c, except for products by powers
   of two that are exact. */
#include "gpu/cuda/fp64_output_sm90.cuh"
#include "gpu/cuda/start_sm90.cuh"

namespace
{

/* --- the warpgroup that copies ---------------------------------------------------- */

__device__ void fill(const ring<R> &r, const planes_map &from, struct slice_product planes,
                     tile t, int k)
{
    const cluster_place<R> here;
    const int a_line = here.column * R::a_lines, b_line = here.row * R::b_lines;
    barrier_expect(r.full_now(), R::stage_bytes);
    copy<R::cluster_n>(r.stage() + a_line * R::row_bytes(0), &from.a, k, t.row + a_line,
                       planes.a, 0, 0, r.full_now(), here.same_a());
    copy<R::cluster_m>(r.stage() + R::a_bytes + b_line * R::row_bytes(0), &from.b, k,
                       t.column + b_line, planes.b, 0, 0, r.full_now(), here.same_b());
}

/* The steps of one cluster. */
struct lockstep {
    const fp64_output &o;
    unsigned step = 0;    /* steps to which this cluster has come                        */
    unsigned before = 0;  /* steps of all clusters when all have come to the step before */
    bool gives_up = false; /* a wait was in vain: not all clusters run at one time        */

    /* Called before every stage of the cluster's first block; `active`: clusters that
       have the stage as well. */
    __device__ void stage(int block, int active)
    {
        if (block % LOCKSTEP_STAGES) return;
        atomicAdd(o.come, 1u);
        for (int i = 0; i < LOOKS && !gives_up; i++) {
            if (*(const volatile unsigned *)o.come >= before) break;
            gives_up = i == LOOKS - 1;
        }
        before += active;
    }
};

/* Bring the slot with which a run starts to the L2 cache.  It was stored before the run
   before. */
__device__ void slot_foresee(const fp64_output &o, const slice_program &program,
                             const item &x, int run)
{
    constexpr int pieces = 8, bytes = (int)(slot_elements * sizeof(int4) / pieces);
    if (run >= program.runs || program.run[run].start >= SLICE_KEEP) return;
    const int4 *const at =
        slots(o, program, x).at + program.run[run].start * slot_elements;
    for (int i = 0; i < pieces; i++) cache_foresee((const char *)at + i * bytes, bytes);
}

/* Executed by one thread. */
__device__ void produce_planes(ring<R> r, const planes_map &from, const programs &all,
                               const fp64_output &o)
{
    const int clusters = gridDim.x / R::cluster;
    const bool leads = blockIdx.x % R::cluster == 0;
    lockstep steps{ o };
    each_item(o, [&](const item &x) {
        const slice_program &program = program_of(all, x);
        const int active = min(clusters, o.items - x.sequence * clusters);
        each_run(program, x, [&](int run, int first) {
            slot_foresee(o, program, x, run + 1);
            for (int i = 0; i < program.run[run].products; i++)
                for (int block = 0; block < o.blocks; block++) {
                    if (leads && x.share < 0) steps.stage(block, active);
                    barrier_wait(r.empty_now(), r.parity ^ 1);
                    fill(r, from, program.product[first + i], x.t, block * R::depth);
                    r.advance();
                }
        });
    });
}

/* --- the warpgroups that multiply ------------------------------------------------- */

/* Add `stages` stages to the accumulators, or if `counts` is 0 to zero.  Accumulators of
   wgmma are written by no other instruction. */
__device__ __forceinline__ void stages_add(int (&sum)[R::registers], ring<R> &r,
                                           int stages, int consumer, int counts)
{
    uint32_t before = 0;
    for (int i = 0; i < stages; i++) {
        const part_of_a<R> a(r.stage(), consumer * INSTRUCTION_M);
        const part_of_b<R> b(r.stage() + R::a_bytes, 0);
        barrier_wait(r.full_now(), r.parity);
        wgmma_fence();
        repeat<R::steps>([&](auto step) {
            constexpr int k = step.value * INSTRUCTION_K_BYTES;
            part_wgmma<R, 0>::issue(sum, a.template at<0>(k), b.template at<0>(k),
                                    step.value ? 1 : counts);
        });
        counts = 1;
        wgmma_commit();
        wgmma_wait<1>();
        if (before) stage_free<R>(before);
        before = r.empty_now();
        r.advance();
    }
    wgmma_wait<0>();
    pin(sum);
    if (before) stage_free<R>(before);
}

/* --- shares ----------------------------------------------------------------------- */

/* Whether this block is the last one to store its share of a tile.  Then the counter is
   zero again, for the next launch. */
__device__ bool is_last_share(const fp64_output &o, const item &x, int *is_last)
{
    __threadfence();
    multipliers_sync(OWNERS);
    if (threadIdx.x == GROUP) {
        *is_last = atomicAdd(&o.arrived[x.divided], 1) == (unsigned)o.shares - 1;
        if (*is_last) o.arrived[x.divided] = 0;
    }
    multipliers_sync(OWNERS);
    const bool is = *(volatile int *)is_last;
    __threadfence();
    multipliers_sync(OWNERS); /* all have read it */
    return is;
}

/* Load a slot if `loads` is not 0.  A predicate, because accumulators of wgmma must not
   differ between branches. */
__device__ __forceinline__ void slot_load(int (&to)[R::registers], const slots &from,
                                          int slot, int loads)
{
#pragma unroll
    for (int i = 0; i < FOURS; i++)
        asm volatile("{\n"
                     ".reg .pred p;\n"
                     "setp.ne.b32 p, %5, 0;\n"
                     "@p ld.global.cs.v4.s32 {%0, %1, %2, %3}, [%4];\n"
                     "}\n"
                     : "+r"(to[4 * i]), "+r"(to[4 * i + 1]), "+r"(to[4 * i + 2]),
                       "+r"(to[4 * i + 3])
                     : "l"(&from.four(slot, i)), "r"(loads)
                     : "memory");
}

__device__ __forceinline__ void slot_store(const slots &to, int slot,
                                           const int (&from)[R::registers])
{
#pragma unroll
    for (int i = 0; i < FOURS; i++)
        __stcs(&to.four(slot, i),
               make_int4(from[4 * i], from[4 * i + 1], from[4 * i + 2], from[4 * i + 3]));
}

__device__ void consume_planes(ring<R> r, const programs &all, const fp64_output &o,
                               int *is_last, int consumer)
{
    each_item(o, [&](const item &x) {
        const slice_program &program = program_of(all, x);
        const slots to(o, program, x);
        int sum[R::registers] = {};
        each_run(program, x, [&](int i, int) {
            const struct slice_run run = program.run[i];
            slot_load(sum, to, run.start, run.start < SLICE_KEEP);
            stages_add(sum, r, run.products * o.blocks, consumer,
                       run.start != SLICE_ZERO);
            if (run.slot != SLICE_NO_SLOT) slot_store(to, run.slot, sum);
        });
        if (x.share >= 0 && !is_last_share(o, x, is_last)) return;
        tile t = x.t;
        t.row += consumer * INSTRUCTION_M;
        t = thread_tile(t);
        if (o.nearest) finish<true, false>(o, program, to, t);
        else if (x.share < 0) finish<false, false>(o, program, to, t);
        else finish<false, true>(o, program, to, t);
    });
}

/* --- the kernel ------------------------------------------------------------------- */

__global__ void __launch_bounds__(GROUPS *GROUP, 1)
    planes_kernel(const __grid_constant__ planes_map from,
                  const __grid_constant__ programs all,
                  const __grid_constant__ fp64_output o)
{
    extern __shared__ unsigned char shared[];
    const ring<R> r(shared_address(shared));
    __shared__ int is_last;
    const int group = threadIdx.x / GROUP;
    if (threadIdx.x == 0 && o.blocks) parts_foresee(&from.a), parts_foresee(&from.b);
    ring_init(r);
    if (group == 0) {
        registers_give<COPIER_REGISTERS>();
        if (threadIdx.x == 0) produce_planes(r, from, all, o);
    } else {
        registers_take<OWNER_REGISTERS>();
        consume_planes(r, all, o, &is_last, group - 1);
    }
    /* No block may exit while others may still write to it or arrive at its barriers. */
    cluster_sync();
}

/* --- the launch ------------------------------------------------------------------- */

struct fp64_planes planes_at(size_t *at, char *workspace, size_t lines, size_t row_bytes,
                             int planes)
{
    const struct fp64_planes p = { (uint8_t *)workspace + *at, NULL, row_bytes };
    *at += divide_up(lines * row_bytes * planes, GPU_ALIGNMENT) * GPU_ALIGNMENT;
    return p;
}

/* How the tiles are divided among clusters. */
struct schedule {
    int clusters, whole, shares, items;
};

/* The last tiles are divided into the number of shares that takes the least time. */
struct schedule schedule_of(int tiles, int most)
{
    const int rest = tiles % most;
    struct schedule best = { tiles < most ? tiles : most, tiles, 1, tiles };
    double least = rest > 0;
    for (int shares = 2; shares <= SLICE_SHARES_MAX; shares++) {
        const int items = rest * shares;
        const double time = (double)divide_up(items, most) / shares;
        if (!(time < least)) continue;
        least = time;
        best = { tiles < most && items < most ? items : most, tiles - rest, shares,
                 tiles - rest + items };
    }
    return best;
}

int schedule_make(struct schedule *to, const struct fp64_product *p)
{
    int most = 0;
    int status = kernel_set<R, planes_kernel>(&most);
    const size_t tiles =
        divide_up(p->m, R::cluster_m * TILE_M) * divide_up(p->n, R::cluster_n * R::n);
    if (!status && tiles >= DIMENSION_MAX) status = cudaErrorInvalidValue;
    if (!status) *to = schedule_of((int)tiles, most);
    return status;
}

/* What a launch computes with: a schedule, and programs. */
struct plan {
    struct schedule schedule;
    struct programs programs;
};

/* If all tiles are divided, there are no differences: sums of two slots take longer than
   their products save. */
int plan_make(struct plan *to, const struct fp64_product *p)
{
    const int status = schedule_make(&to->schedule, p);
    if (status) return status;
    const bool differences = !p->nearest && to->schedule.whole;
    slice_program_make(&to->programs.whole, p->parts, p->k, p->groups, differences, 1);
    slice_program_make(&to->programs.divided, p->parts, p->k, p->groups, differences,
                       to->schedule.shares);
    return status;
}

/* Blocks that have divided tiles, and elements of the slots of whole tiles and of all. */
int divided_blocks(const struct schedule *s)
{
    return s->shares > 1 ? (s->items - s->whole) / s->shares * R::cluster : 0;
}
size_t whole_elements(const struct plan *p)
{
    const struct schedule *const s = &p->schedule;
    return s->whole ? (size_t)s->clusters * R::cluster * p->programs.whole.slots * slot_elements
                    : 0;
}
size_t all_elements(const struct plan *p)
{
    return whole_elements(p) +
           divided_blocks(&p->schedule) * p->programs.divided.slots * slot_elements;
}

struct fp64_areas areas_of(const struct fp64_product *p, char *workspace,
                           const struct plan *plan)
{
    const size_t row_bytes = fp64_row_bytes(p->k), lines = p->m + p->n;
    const int planes = plan->programs.whole.planes;
    struct fp64_areas x;
    x.zeroed = lines * sizeof(uint64_t) +
               (1 + divided_blocks(&plan->schedule)) * sizeof(unsigned);
    x.bytes = divide_up(x.zeroed, GPU_ALIGNMENT) * GPU_ALIGNMENT;
    x.a = planes_at(&x.bytes, workspace, p->m, row_bytes, planes);
    x.b = planes_at(&x.bytes, workspace, p->n, row_bytes, planes);
    x.a.largest = (uint64_t *)workspace;
    x.b.largest = x.a.largest + p->m;
    x.progress = (unsigned *)(x.a.largest + lines);
    x.slots = (int4 *)(workspace + x.bytes);
    x.bytes += all_elements(plan) * sizeof(int4);
    return x;
}

int map_of(CUtensorMap *map, const struct fp64_planes *planes, size_t lines, int count,
           int box_lines)
{
    const struct lines_of_parts w = { R::format::tensor,
                                      (const char *)planes->at,
                                      lines,
                                      planes->row_bytes,
                                      (size_t)count,
                                      R::format::bytes,
                                      box_lines,
                                      R::depth };
    return parts_map(map, w, planes->row_bytes, 1, planes->row_bytes, 1,
                     planes->row_bytes);
}

struct fp64_output output_of(const struct fp64_product *p, const struct fp64_areas *areas,
                             const struct plan *plan)
{
    struct fp64_output o = {};
    o.tiles.m = (int)p->m;
    o.tiles.n = (int)p->n;
    o.tiles.slices = o.tiles.count = o.tiles.in_turn = 1;
    o.tiles.clusters_m = (int)divide_up(p->m, R::cluster_m * TILE_M);
    o.tiles.clusters_n = (int)divide_up(p->n, R::cluster_n * R::n);
    o.d = p->d;
    o.c = p->c;
    o.alpha = p->alpha;
    o.beta = p->beta;
    o.largest_a = areas->a.largest;
    o.largest_b = areas->b.largest;
    o.whole = plan->schedule.whole;
    o.shares = plan->schedule.shares;
    o.items = plan->schedule.items;
    o.come = areas->progress;
    o.arrived = areas->progress + 1;
    o.slots = areas->slots;
    o.slots_of_shares = o.slots + whole_elements(plan);
    o.blocks = (int)divide_up(p->k, R::depth);
    o.nearest = p->nearest;
    o.pairs = p->d.column_stride == 1 && p->d.row_stride % 2 == 0 &&
              (uintptr_t)p->d.at % sizeof(double2) == 0;
    return o;
}

int planes_start(const struct fp64_product *p, const struct fp64_areas *areas,
                 const struct plan *plan, cudaStream_t stream)
{
    const int clusters = plan->schedule.clusters, planes = plan->programs.whole.planes;
    planes_map from = {};
    struct fp64_output o = output_of(p, areas, plan);
    int status = cudaSuccess;
    if (p->k) {
        status = map_of(&from.a, &areas->a, p->m, planes, R::a_lines);
        if (!status) status = map_of(&from.b, &areas->b, p->n, planes, R::b_lines);
    }
    if (status) return status;
    o.tiles.band = band_of<R>(clusters);
    return launch_kernel(planes_kernel,
                         { dim3((unsigned)clusters * R::cluster), GROUPS * GROUP,
                           R::shared_bytes, dim3(R::cluster), stream, false },
                         from, plan->programs, o);
}

} // namespace

size_t fp64_workspace(const struct fp64_product *p)
{
    struct plan plan;
    return plan_make(&plan, p) ? 0 : areas_of(p, NULL, &plan).bytes;
}

int fp64_start(const struct fp64_product *p, void *workspace, cudaStream_t stream)
{
    struct plan plan;
    if (!p->m || !p->n) return cudaSuccess;
    int status = plan_make(&plan, p);
    if (status) return status;
    const struct fp64_areas areas = areas_of(p, (char *)workspace, &plan);
    status = cudaMemsetAsync(workspace, 0, areas.zeroed, stream);
    if (!status) status = fp64_cut(p, &plan.programs.whole, &areas, stream);
    return status ? status : planes_start(p, &areas, &plan, stream);
}
