/* SPDX-License-Identifier: BSD-3-Clause */
/* The product of an FP64 GEMM by slices on Hopper: wgmma on planes of s8 that TMA loads.

   Launch: as gpu/cuda/gemm_sm90.cuh, with clusters of two blocks that share the lines of
   B, and tiles of 128 x 256.  One launch computes all products.  A block follows the
   program (gpu/module/slice_program.h) for each of its tiles: a run adds the products of
   some planes to the s32 accumulators, which stay in registers, and then the accumulators
   go to a slot.  When all runs of a tile are done, each thread reads its elements of all
   slots, and adds them in FP64 in the order of the program.  Slots belong to the block,
   not to the tile, and only the thread that wrote an element reads it.

   Exactness.  Sums in s32 are exact modulo 2^32, and sums that the program adds in FP64
   fit s32.  Each FP64 operation is that of emu/fp64/cut.c, except for products by powers
   of two that are exact. */
#include "gpu/cuda/fp64_sm90.cuh"
#include "gpu/cuda/gemm_sm90.cuh"
#include "gpu/cuda/start_sm90.cuh"

namespace
{

using R = row<format_s8, format_s8, one, 256, 128, 4, 2, 1>;

/* Registers of a tile in a thread, in fours, and the threads that have them. */
enum { FOURS = R::registers / 4, OWNERS = CONSUMERS * GROUP };

constexpr size_t slot_elements = (size_t)FOURS * OWNERS;

/* The arguments of the kernel, except the planes. */
struct fp64_output {
    struct output tiles;
    fp64_elements<double> d;
    fp64_elements<const double> c;
    double alpha, beta;
    const uint64_t *largest_a, *largest_b;
    int4 *slots;
    int blocks; /* stages of a product */
    bool nearest, pairs;
};

struct planes_map {
    CUtensorMap a, b;
};

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

/* Executed by one thread. */
__device__ void produce_planes(ring<R> r, const planes_map &from,
                               const slice_program &program, const fp64_output &o)
{
    each_tile<R>(o.tiles, [&](tile t) {
        for (int i = 0; i < program.products; i++)
            for (int block = 0; block < o.blocks; block++) {
                barrier_wait(r.empty_now(), r.parity ^ 1);
                fill(r, from, program.product[i], t, block * R::depth);
                r.advance();
            }
    });
}

/* --- the warpgroups that multiply ------------------------------------------------- */

/* A thread's elements of a slot of this block. */
struct slot {
    int4 *at;

    __device__ slot(const fp64_output &o, int slots, int i)
        : at(o.slots + ((size_t)blockIdx.x * slots + i) * slot_elements + threadIdx.x -
             GROUP)
    {
    }
    __device__ int4 &four(int i) const { return at[i * OWNERS]; }
};

/* Load a slot if `loads` is not 0.  A predicate, because the accumulators of wgmma must
   not differ between branches. */
__device__ __forceinline__ void slot_load(int (&to)[R::registers], const slot &from,
                                          int loads)
{
#pragma unroll
    for (int i = 0; i < FOURS; i++)
        asm volatile("{\n"
                     ".reg .pred p;\n"
                     "setp.ne.b32 p, %5, 0;\n"
                     "@p ld.global.v4.s32 {%0, %1, %2, %3}, [%4];\n"
                     "}\n"
                     : "+r"(to[4 * i]), "+r"(to[4 * i + 1]), "+r"(to[4 * i + 2]),
                       "+r"(to[4 * i + 3])
                     : "l"(&from.four(i)), "r"(loads)
                     : "memory");
}

__device__ __forceinline__ void slot_store(const slot &to, const int (&from)[R::registers])
{
#pragma unroll
    for (int i = 0; i < FOURS; i++)
        to.four(i) =
            make_int4(from[4 * i], from[4 * i + 1], from[4 * i + 2], from[4 * i + 3]);
}

/* Add `stages` stages to the accumulators. */
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

/* --- sums in FP64 ----------------------------------------------------------------- */

/* x as a double: 2^52 + 2^31 + x, whose encoding is known, less 2^52 + 2^31. */
__device__ __forceinline__ double double_of(int x)
{
    return __dsub_rn(__hiloint2double(0x43300000, x ^ (int)0x80000000), 0x1.000008p52);
}

/* The scales of a thread's elements: of two rows and two columns, in the order of a
   four. */
struct scales {
    double row[2], column[2];
};

/* The weight of a level: of the truncated cut, times the 2^44 by which `end` divides
   again; of the other cut. */
__device__ __forceinline__ double weight_of(int level, int width, bool nearest)
{
    const int exponent = nearest ? 0 : 32 + 2 * (7 - width);
    return fp64_of_field(1023 + exponent - width * level);
}

/* A weighted sum is added: product by a power of two, exact for the truncated cut. */
template <bool NEAREST>
__device__ __forceinline__ double add(double sum, int x, double weight, double a, double b)
{
    double product = double_of(x);
    if (NEAREST) product = __dmul_rn(__dmul_rn(product, a), b);
    return __fma_rn(product, weight, sum);
}

template <bool NEAREST>
__device__ __forceinline__ void add_four(double (&sum)[4], int4 x, double weight,
                                         const scales &s)
{
    sum[0] = add<NEAREST>(sum[0], x.x, weight, s.row[0], s.column[0]);
    sum[1] = add<NEAREST>(sum[1], x.y, weight, s.row[0], s.column[1]);
    sum[2] = add<NEAREST>(sum[2], x.z, weight, s.row[1], s.column[0]);
    sum[3] = add<NEAREST>(sum[3], x.w, weight, s.row[1], s.column[1]);
}

/* The number of slots that are read at a time. */
enum { AT_ONCE = 8 };

template <bool NEAREST>
__device__ __forceinline__ void sums_add(double (&sum)[4], const fp64_output &o,
                                         const slice_program &program, int four,
                                         const scales &s)
{
    for (int first = 0; first < program.sums; first += AT_ONCE) {
        int4 x[AT_ONCE];
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++)
            if (first + i < program.sums)
                x[i] = slot(o, program.slots, program.sum[first + i].slot).four(four);
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++)
            if (first + i < program.sums)
                add_four<NEAREST>(
                    sum, x[i],
                    weight_of(program.sum[first + i].level, program.width, NEAREST), s);
    }
}

/* One element of D. */
template <bool NEAREST>
__device__ __forceinline__ double element_of(const fp64_output &o, double sum, double a,
                                             double b, size_t row, size_t column)
{
    if (!NEAREST) sum = __dmul_rn(__dmul_rn(__dmul_rn(sum, 0x1p-44), a), b);
    sum = __dmul_rn(o.alpha, sum);
    if (!o.c.at) return sum;
    return __fma_rn(o.beta, o.c.at[row * o.c.row_stride + column * o.c.column_stride],
                    sum);
}

template <bool NEAREST>
__device__ __forceinline__ void store_row(const fp64_output &o, const double *sum,
                                          double a, const double (&b)[2], int row,
                                          int column)
{
    if (row >= o.tiles.m || column >= o.tiles.n) return;
    double *const to = o.d.at + row * o.d.row_stride + column * o.d.column_stride;
    const double first = element_of<NEAREST>(o, sum[0], a, b[0], row, column);
    if (column + 1 >= o.tiles.n) {
        *to = first;
        return;
    }
    const double second = element_of<NEAREST>(o, sum[1], a, b[1], row, column + 1);
    if (o.pairs) *(double2 *)to = make_double2(first, second);
    else *to = first, to[o.d.column_stride] = second;
}

/* D of this thread's elements of a tile, from the slots. */
template <bool NEAREST>
__device__ __forceinline__ void finish(const fp64_output &o, const slice_program &program,
                                       tile t)
{
    const auto scale = [&](const uint64_t *largest, int line, int count) {
        return line < count ? fp64_line_scale(largest[line], NEAREST, program.width) : 0;
    };
    scales s;
    s.row[0] = scale(o.largest_a, t.row, o.tiles.m);
    s.row[1] = scale(o.largest_a, t.row + 8, o.tiles.m);
#pragma unroll 2
    for (int i = 0; i < FOURS; i++) {
        const int column = t.column + 8 * i;
        double sum[4] = {};
        s.column[0] = scale(o.largest_b, column, o.tiles.n);
        s.column[1] = scale(o.largest_b, column + 1, o.tiles.n);
        sums_add<NEAREST>(sum, o, program, i, s);
        store_row<NEAREST>(o, sum, s.row[0], s.column, t.row, column);
        store_row<NEAREST>(o, sum + 2, s.row[1], s.column, t.row + 8, column);
    }
}

__device__ void consume_planes(ring<R> r, const slice_program &program,
                               const fp64_output &o, int consumer)
{
    each_tile<R>(o.tiles, [&](tile t) {
        int sum[R::registers] = {};
        for (int i = 0; i < program.runs; i++) {
            const struct slice_run run = program.run[i];
            slot_load(sum, slot(o, program.slots, run.start), run.start < SLICE_KEEP);
            stages_add(sum, r, run.products * o.blocks, consumer, run.start != SLICE_ZERO);
            if (run.slot != SLICE_NO_SLOT)
                slot_store(slot(o, program.slots, run.slot), sum);
        }
        t.row += consumer * INSTRUCTION_M;
        t = thread_tile(t);
        if (o.nearest) finish<true>(o, program, t);
        else finish<false>(o, program, t);
    });
}

/* --- the kernel ------------------------------------------------------------------- */

__global__ void __launch_bounds__(GROUPS *GROUP, 1)
    planes_kernel(const __grid_constant__ planes_map from,
                  const __grid_constant__ slice_program program,
                  const __grid_constant__ fp64_output o)
{
    extern __shared__ unsigned char shared[];
    const ring<R> r(shared_address(shared));
    const int group = threadIdx.x / GROUP;
    if (threadIdx.x == 0 && o.blocks) parts_foresee(&from.a), parts_foresee(&from.b);
    ring_init(r);
    if (group == 0) {
        registers_give<PRODUCER_REGISTERS>();
        if (threadIdx.x == 0) produce_planes(r, from, program, o);
    } else {
        registers_take<CONSUMER_REGISTERS>();
        consume_planes(r, program, o, group - 1);
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

/* Blocks of the launch, in clusters. */
int blocks_of(int *blocks, const struct fp64_product *p)
{
    int most = 0;
    const int status = clusters_most<R, planes_kernel>(&most);
    const size_t tiles =
        divide_up(p->m, R::cluster_m * TILE_M) * divide_up(p->n, R::cluster_n * R::n);
    *blocks = (int)(tiles < (size_t)most ? tiles : most) * R::cluster;
    return status;
}

struct fp64_areas areas_of(const struct fp64_product *p, char *workspace, int blocks)
{
    const size_t row_bytes = fp64_row_bytes(p->k), largest = (p->m + p->n) * 8;
    struct fp64_areas x;
    x.bytes = divide_up(largest, GPU_ALIGNMENT) * GPU_ALIGNMENT;
    x.a = planes_at(&x.bytes, workspace, p->m, row_bytes, p->program.planes);
    x.b = planes_at(&x.bytes, workspace, p->n, row_bytes, p->program.planes);
    x.a.largest = (uint64_t *)workspace;
    x.b.largest = x.a.largest + p->m;
    x.slots = (int4 *)(workspace + x.bytes);
    x.bytes += blocks * p->program.slots * slot_elements * sizeof(int4);
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

struct fp64_output output_of(const struct fp64_product *p, const struct fp64_areas *areas)
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
    o.slots = areas->slots;
    o.blocks = (int)divide_up(p->k, R::depth);
    o.nearest = p->nearest;
    o.pairs = p->d.column_stride == 1 && p->d.row_stride % 2 == 0 &&
              (uintptr_t)p->d.at % sizeof(double2) == 0;
    return o;
}

int planes_start(const struct fp64_product *p, const struct fp64_areas *areas, int blocks,
                 cudaStream_t stream)
{
    planes_map from = {};
    struct fp64_output o = output_of(p, areas);
    int status = cudaSuccess;
    if (p->k) {
        status = map_of(&from.a, &areas->a, p->m, p->program.planes, R::a_lines);
        if (!status)
            status = map_of(&from.b, &areas->b, p->n, p->program.planes, R::b_lines);
    }
    if (!status)
        status = cudaFuncSetAttribute(
            planes_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, R::shared_bytes);
    if (status) return status;
    o.tiles.band = band_of<R>(blocks / R::cluster);
    return launch_kernel(planes_kernel,
                         { dim3((unsigned)blocks), GROUPS * GROUP, R::shared_bytes,
                           dim3(R::cluster), stream, false },
                         from, p->program, o);
}

} // namespace

size_t fp64_workspace(const struct fp64_product *p)
{
    int blocks = 0;
    if (blocks_of(&blocks, p)) return 0;
    return areas_of(p, NULL, blocks).bytes;
}

int fp64_start(const struct fp64_product *p, void *workspace, cudaStream_t stream)
{
    int blocks = 0;
    int status = blocks_of(&blocks, p);
    if (status || !p->m || !p->n) return status;
    const struct fp64_areas areas = areas_of(p, (char *)workspace, blocks);
    status = fp64_cut(p, &areas, stream);
    return status ? status : planes_start(p, &areas, blocks, stream);
}
