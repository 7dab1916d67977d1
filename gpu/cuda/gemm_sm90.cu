/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels for whole GEMMs on Hopper: their launch, and their rows. */
#include "gpu/cuda/gemm_sm90.cuh"
#include "gpu/cuda/start_sm90.cuh"

#include <chrono>
#include <cmath>

/* --- the parts -------------------------------------------------------------------- */

/* The parts of an operand that map `i` of struct sources describes. */
template <class R>
static struct lines_of_parts lines_of(const struct parts *w, int i, int box_lines)
{
    const char *const at = (const char *)w->at;
    if (i)
        return { R::low::tensor, at + w->lines * w->row_bytes,
                 w->lines,       w->low_row_bytes,
                 R::parts - 1,   R::low::bytes,
                 box_lines,      R::depth };
    return {
        R::format::tensor, at,        w->lines, w->row_bytes, is_mixed<R> ? 1 : R::parts,
        R::format::bytes,  box_lines, R::depth
    };
}

/* Make both maps for parts in k slices; a map that no slice needs reads nothing. */
static int maps_make(CUtensorMap (&to)[2], struct lines_of_parts w, const k_cut &cut,
                     size_t slice_k, size_t k, size_t matrices, size_t stride)
{
    const size_t body = cut.slices - 1, start = body * slice_k;
    const size_t slice_bytes = slice_k * w.bytes;
    if (matrices == 1) stride = w.row_bytes; /* 0 is not a valid stride */
    int status = cudaSuccess;
    if (body) status = parts_map(&to[0], w, slice_k, body, slice_bytes, matrices, stride);
    w.at += start * w.bytes;
    if (k && !status)
        status = parts_map(&to[1], w, k - start, 1, w.row_bytes, matrices, stride);
    return status;
}

template <class R>
static int sources_make(struct sources<R> *to, const struct parts *w, size_t count,
                        size_t k, const k_cut &cut, int box_lines)
{
    const size_t slice_k = cut.slice_bytes / R::format::bytes;
    int status = cudaSuccess;
    to->step = w->stride != 0;
    for (int i = 0; i < 1 + is_mixed<R> && !status; i++)
        status = maps_make(to->of[i], lines_of<R>(w, i, box_lines), cut, slice_k, k,
                           w->stride ? count : 1, w->stride);
    return status;
}

/* --- the launch ------------------------------------------------------------------- */

/* The cut of k, and whether clusters hold its slices and add them. */
template <class R> static k_cut cut_of(const struct gpu_product *p)
{
    return k_cut_of(p->k, p->slices, R::format::parts,
                    R::step_k * R::format::bytes);
}
static bool are_together(const struct gpu_product *p, const k_cut &cut)
{
    return !p->c.turned && !p->d.turned &&
           gpu_adds_slices(p->kernel, p->m, p->n, cut.slices);
}

/* Whether the kernel leaves sums. */
static bool leaves_sums(const struct gpu_product *p, const k_cut &cut)
{
    return makes_sums(p, cut) && !are_together(p, cut);
}

/* --- splitting in the launch ------------------------------------------------------- */

/* Whether the launch of a product of parts that do not exist yet has a gate in its
   workspace. */
template <class R> static bool has_gate(const struct gpu_product *p, const k_cut &cut)
{
    return can_split<R> && p->count == 1 && !makes_sums(p, cut);
}

/* Bytes of the workspace: sums, or a gate. */
template <class R> static size_t workspace_of(const struct gpu_product *p)
{
    const k_cut cut = cut_of<R>(p);
    if (leaves_sums(p, cut)) return sums_bytes(p, cut);
    return !p->a.at && !p->b.at && has_gate<R>(p, cut) ? sizeof(split_gate) : 0;
}

/* Whether kernels can make the parts of an operand. */
static bool is_usual(const struct operand &x)
{
    for (int i = 0; i < x.split->parts; i++) {
        const bitcut_rounding &r = *x.split->part[i].rounding;
        if (x.split->part[i].copy || r.direction != TO_NEAREST_EVEN ||
            r.overflow != OVERFLOW_IEEE || r.flush != FLUSH_NONE)
            return false;
    }
    return !x.equilibrate;
}

/* The squares of an operand, as gpu/cuda/fused_sm90.cuh calls them. */
static size_t squares_of(const struct operand &x)
{
    return divide_up(x.lines, SQUARE) * divide_up(x.k, SQUARE);
}

static struct split_from split_from_of(const struct to_split &t)
{
    const struct operand &x = t.operand;
    const struct bitcut_matrix &m = *x.matrix;
    const bool fours = m.ld % 4 == 0 && (x.across ? x.lines : x.k) % 4 == 0 &&
                       (uintptr_t)m.at % sizeof(float4) == 0;
    return { (const float *)m.at, (char *)t.parts,           (long long)m.ld,
             (unsigned)x.lines,   ldexpf(1, x.split->scale), x.across,
             fours };
}

/* Whether one launch is better than two, by measurements on an H200
   (data/h200/starts.jsonl).  It takes 4 us less of the host's time for each start.  The
   device needs 1 to 4 % more time for this number of squares, up to 15 % more for fewer.
   In a graph, the host's time does not matter. */
static bool is_better(const struct gpu_product *p)
{
    size_t squares = 0;
    for (const struct to_split &t : p->split) squares += squares_of(t.operand);
    return squares >= 1920 && squares <= 6144 && p->kernel->program.parts > 1 &&
           runs_now(p->stream);
}
static_assert(6144 <= SQUARES_MAX);

/* Whether a stream has the usual priority.  Blocks of two launches that wait for blocks of
   their own can keep each other from beginning only if one launch has a higher priority;
   then they would make all parts themselves, after a long wait.  A stream that captures is
   not queried: the graph may run on another one. */
static bool is_usual_stream(cudaStream_t stream)
{
    int priority = 1;
    if (!runs_now(stream)) return true;
    if (cudaStreamGetPriority(stream, &priority)) cudaGetLastError();
    return priority == 0;
}

/* Whether the launch makes the parts. */
template <class R> static bool product_splits(const struct gpu_product *p)
{
    return p->splits == 2 && p->k && has_gate<R>(p, cut_of<R>(p)) &&
           is_usual(p->split[0].operand) && is_usual(p->split[1].operand) &&
           is_better(p) && is_usual_stream(p->stream);
}

/* An open gate, with a token that no other launch has, and that memory does not have by
   chance: not 0. */
static split_gate gate_make()
{
    static const split_gate base =
        (split_gate)std::chrono::steady_clock::now().time_since_epoch().count() *
            0x9e3779b97f4a7c15 ^
        (uintptr_t)&base;
    static std::atomic<split_gate> count;
    return ((base + ++count) * 0xbf58476d1ce4e5b9 << 1 | 1) << 2 * GATE_BITS;
}

/* Clocks that a block waits for other blocks: about as long as it needs to make all parts
   itself, which is much longer than they split. */
#ifndef PATIENCE
enum { PATIENCE = 1 << 22 };
#endif

static struct split_first split_make(const struct gpu_product *p)
{
    struct split_first x = {};
    if (!p->splits) return x;
    for (int i = 0; i < 2; i++) x.of[i] = split_from_of(p->split[i]);
    x.k = (unsigned)p->k;
    x.runs = (unsigned)divide_up(p->k, SQUARE);
    x.second = (unsigned)squares_of(p->split[0].operand);
    x.squares = x.second + (unsigned)squares_of(p->split[1].operand);
    x.magic = ((1ull << 32) + x.runs - 1) / x.runs;
    x.gate = (split_gate *)p->workspace;
    x.open = gate_make();
    x.patience = PATIENCE;
    return x;
}

/* --- the arguments ---------------------------------------------------------------- */

/* If the kernel leaves sums, they are the D of its launch. */
template <class R>
static struct output output_make(const struct gpu_product *p, const k_cut &cut)
{
    struct output o = {};
    const size_t last = cut.bytes - (cut.slices - 1) * cut.slice_bytes;
    const bool partial = leaves_sums(p, cut);
    o.d = partial ? (float *)p->workspace : p->d.at;
    o.ldd = (long long)(partial ? p->n : p->d.ld);
    o.slice_stride = (long long)(p->m * p->n);
    o.stride_d = partial ? cut.slices * o.slice_stride : (long long)p->d.stride;
    o.c = partial ? NULL : p->c.at;
    o.ldc = (long long)p->c.ld;
    o.stride_c = (long long)p->c.stride;
    o.m = (int)p->m;
    o.n = (int)p->n;
    o.slices = cut.slices;
    o.in_turn = are_together(p, cut) ? 1 : cut.slices;
    o.count = (int)p->count;
    o.blocks[0] = (int)divide_up(cut.slice_bytes, R::row_bytes(0));
    o.blocks[1] = (int)divide_up(last, R::row_bytes(0));
    o.clusters_m = (int)divide_up(p->m, R::cluster_m * TILE_M);
    o.clusters_n = (int)divide_up(p->n, R::cluster_n * R::n);
    o.alpha = partial ? 1 : p->alpha;
    o.beta = p->beta;
    o.fold = ldexpf(1, -p->scale);
    o.lines = partial ? lines{} : p->lines;
    o.pairs = o.ldd % 2 == 0 && (o.count == 1 || o.stride_d % 2 == 0) &&
              (uintptr_t)o.d % sizeof(float2) == 0;
    return o;
}

template <class R>
static int kernel_start(const sources<R> &a, const sources<R> &b, struct output o,
                        const struct gpu_product *p)
{
    int most = 0;
    const struct split_first x = split_make(p);
    const int tiles = o.count * o.in_turn * o.clusters_m * o.clusters_n;
    const unsigned together = (unsigned)(o.slices / o.in_turn);
    const int status = kernel_set<R, gemm_kernel<R>>(&most);
    if (status) return status;
    if (x.squares && most * R::cluster > (int)GATE_MOST) most = GATE_MOST / R::cluster;
    const bool all = !x.squares && (tiles < most || together > 1); /* tiles at one time */
    const unsigned clusters = (unsigned)(all ? tiles : most);
    o.band = band_of<R>(most / (int)together);
    return launch_kernel(gemm_kernel<R>,
                         { dim3(clusters * R::cluster, together), GROUPS * GROUP,
                           R::shared_bytes, dim3(R::cluster, together), p->stream,
                           p->behind_split },
                         a, b, o, x);
}

template <class R> static int product_launch(const struct gpu_product *p)
{
    sources<R> a = {}, b = {};
    const k_cut cut = cut_of<R>(p);
    int status = sources_make<R>(&a, &p->a, p->count, p->k, cut, R::a_lines);
    if (!status) status = sources_make<R>(&b, &p->b, p->count, p->k, cut, R::b_lines);
    if (!status) status = kernel_start<R>(a, b, output_make<R>(p, cut), p);
    return status || !leaves_sums(p, cut) ? status : sums_add(p, cut.slices);
}

/* --- the rows --------------------------------------------------------------------- */

/* The instruction for the format of the parts. */
static constexpr const char *instruction_f16 = "wgmma.m64n8k16.f32.f16";
static constexpr const char *instruction_bf16 = "wgmma.m64n8k16.f32.bf16";
static constexpr const char *instruction_tf32 = "wgmma.m64n8k8.f32.tf32";

template <class R>
static constexpr struct gpu_kernel row_of(const char *name, const char *recipe,
                                          const char *instruction)
{
    struct gpu_kernel k = {};
    k.name = name;
    k.what = R::cluster == 4   ? "wgmma, TMA, clusters of 2 x 2"
             : R::cluster == 2 ? "wgmma, TMA, clusters of 2"
                               : "wgmma, TMA";
    k.recipe = recipe;
    k.instruction = instruction;
    k.matrices = FORMAT_F32;
    k.format = R::format::parts;
    k.low_format = is_mixed<R> ? R::low::parts : 0;
    k.program = R::recipe::row;
    k.tile_m = TILE_M;
    k.tile_n = R::n;
    k.tile_k = R::depth;
    k.stages = R::stages;
    k.threads = GROUPS * GROUP;
    k.shared_bytes = R::shared_bytes;
    k.registers = START_REGISTERS;
    k.cluster_m = R::cluster_m;
    k.cluster_n = R::cluster_n;
    k.load_bytes = R::load_bytes;
    k.read_bytes = R::read_bytes;
    k.slices_most = SLICES_MAX;
    k.slices_together = R::slices_together;
    k.size_most = DIMENSION_MAX;
    k.architectures = sm(90);
    k.workspace = workspace_of<R>;
    k.splits = product_splits<R>;
    k.launch = product_launch<R>;
    return k;
}

#define ROW(RECIPE, TERMS, FORMAT, N, K, STAGES, MORE)                                   \
    MIXED(RECIPE, TERMS, FORMAT, FORMAT, N, K, STAGES, MORE)
#define MIXED(RECIPE, TERMS, FORMAT, LOW, N, K, STAGES, MORE)                            \
    ANY(RECIPE, TERMS, FORMAT, LOW, N, K, STAGES, 2, 1, MORE)
#define SQUARE(RECIPE, TERMS, FORMAT, LOW, N, K, STAGES, MORE)                           \
    ANY(RECIPE, TERMS, FORMAT, LOW, N, K, STAGES, 2, 2, MORE)
#define ALONE(RECIPE, TERMS, FORMAT, N, K, STAGES, MORE)                                 \
    ANY(RECIPE, TERMS, FORMAT, FORMAT, N, K, STAGES, 1, 1, MORE)
#define ANY(RECIPE, TERMS, FORMAT, LOW, N, K, STAGES, M, CLUSTER_N, MORE)                \
    row_of<row<format_##FORMAT, format_##LOW, TERMS, N, K, STAGES, M, CLUSTER_N>>(       \
        "sm90." RECIPE "." #FORMAT ".128x" #N "x" #K "." #STAGES MORE, RECIPE,           \
        instruction_##FORMAT)

const struct gpu_kernel gemm_sm90[] = {
    /* clang-format off */
    /* recipe, terms, format, tile n, k, stages, promotion if it differs from the recipe.
       In a recipe, the program that bench gpu uses comes first. */
    ROW("plain",       one,           f16,  256, 64, 4, ""),
    ROW("plain",       one,           f16,  192, 64, 5, ""),
    ROW("plain",       one,           f16,  128, 64, 6, ""),
    ROW("plain",       one,           f16,   64, 64, 8, ""),
    ROW("plain",       one,           bf16, 256, 64, 4, ""),
    ROW("plain",       one,           bf16, 192, 64, 5, ""),
    ROW("plain",       one,           bf16, 128, 64, 6, ""),
    ROW("plain",       one,           bf16,  64, 64, 8, ""),
    ROW("plain",       one,           tf32, 256, 32, 4, ""),
    ROW("plain",       one,           tf32, 128, 32, 6, ""),
    ROW("plain",       one,           tf32,  64, 32, 8, ""),
    ROW("markidis",    four,          f16,  256, 32, 4, ""),
    ROW("markidis",    four,          f16,  192, 32, 5, ""),
    ROW("markidis",    four,          f16,  128, 64, 3, ""),
    ROW("markidis",    four,          f16,   64, 64, 4, ""),
    ROW("feng",        four,          f16,  256, 32, 4, ""),
    ROW("feng",        four,          f16,  192, 32, 5, ""),
    ROW("feng",        four,          f16,  128, 64, 3, ""),
    ROW("feng",        four,          f16,   64, 64, 4, ""),
    ROW("ootomo",      main_last<4>,  f16,  128, 64, 3, ".promote4"),
    ROW("ootomo",      main_last<4>,  f16,   96, 64, 4, ".promote4"),
    ROW("ootomo",      main_last<4>,  f16,   64, 64, 4, ".promote4"),
    ALONE("ootomo",    main_last<4>,  f16,  128, 64, 3, ".1x1.promote4"),
    ALONE("ootomo",    main_last<4>,  f16,   64, 64, 4, ".1x1.promote4"),
    ROW("ootomo",      main_last<1>,  f16,  128, 64, 3, ""),
    ROW("ootomo",      main_last<1>,  f16,   96, 64, 4, ""),
    ROW("ootomo",      main_last<1>,  f16,   64, 64, 4, ""),
    ALONE("ootomo",    main_last<1>,  f16,  128, 64, 3, ".1x1"),
    ALONE("ootomo",    main_last<1>,  f16,   64, 64, 4, ".1x1"),
    ROW("ootomo",      main_last<0>,  f16,  192, 32, 5, ".promote0"),
    ROW("ootomo",      main_last<0>,  f16,  128, 64, 3, ".promote0"),
    ROW("ootomo",      main_last<0>,  f16,   64, 64, 4, ".promote0"),
    ROW("ootomo-tf32", main_last<4>,  tf32, 128, 32, 3, ".promote4"),
    ROW("ootomo-tf32", main_last<4>,  tf32,  64, 32, 4, ".promote4"),
    ROW("ootomo-tf32", main_last<1>,  tf32, 128, 32, 3, ""),
    ROW("ootomo-tf32", main_last<1>,  tf32,  64, 32, 4, ""),
    ROW("legemm",      main_first<0>, f16,  192, 32, 5, ""),
    ROW("legemm",      main_first<0>, f16,  128, 64, 3, ""),
    ROW("legemm",      main_first<0>, f16,   64, 64, 4, ""),
    ROW("legemm",      main_first<4>, f16,  128, 64, 3, ".promote4"),
    ROW("legemm",      main_first<4>, f16,   64, 64, 4, ".promote4"),
    ROW("tf32x3",      three<0>,      tf32, 256, 16, 4, ""),
    ROW("tf32x3",      three<0>,      tf32, 128, 32, 3, ""),
    ROW("tf32x3",      three<0>,      tf32,  64, 32, 4, ""),
    ROW("tf32x3",      three<12>,     tf32, 128, 32, 3, ".promote12"),
    ROW("tf32x3",      three<12>,     tf32,  64, 32, 4, ".promote12"),
    ROW("bf16x3",      three<0>,      bf16, 256, 32, 4, ""),
    ROW("bf16x3",      three<0>,      bf16, 192, 32, 5, ""),
    ROW("bf16x3",      three<0>,      bf16, 128, 64, 3, ""),
    ROW("bf16x3",      three<0>,      bf16,  64, 64, 4, ""),
    ROW("bf16x3",      three<12>,     bf16, 128, 64, 3, ".promote12"),
    ROW("bf16x3",      three<12>,     bf16,  64, 64, 4, ".promote12"),
    ROW("bf16x6",      six<0>,        bf16, 256, 32, 3, ""),
    ROW("bf16x6",      six<0>,        bf16, 192, 32, 3, ""),
    ROW("bf16x6",      six<0>,        bf16, 128, 32, 4, ""),
    ROW("bf16x6",      six<0>,        bf16,  64, 64, 3, ""),
    ROW("bf16x6",      six<12>,       bf16, 192, 32, 3, ".promote12"),
    ROW("bf16x6",      six<12>,       bf16, 128, 32, 4, ".promote12"),
    ROW("bf16x6",      six<12>,       bf16,  64, 64, 3, ".promote12"),
    ROW("bf16x9",      nine<0>,       bf16,  80, 32, 5, ""),
    ROW("bf16x9",      nine<0>,       bf16,  64, 64, 3, ""),
    ROW("bf16x9",      nine<4>,       bf16,  64, 64, 3, ".promote4"),
    ROW("bf16x9",      nine<1>,       bf16,  64, 64, 3, ".promote1"),
    MIXED("half-fp8",  copies_last<4>, f16, e4m3, 128, 64, 3, ".promote4"),
    MIXED("half-fp8",  copies_last<4>, f16, e4m3,  96, 64, 4, ".promote4"),
    MIXED("half-fp8",  copies_last<4>, f16, e4m3,  64, 64, 4, ".promote4"),
    SQUARE("half-fp8", copies_last<4>, f16, e4m3, 128, 64, 3, ".2x2.promote4"),
    MIXED("half-int8", copies_last<4>, f16, s8,   128, 64, 3, ".promote4"),
    MIXED("half-int8", copies_last<4>, f16, s8,    96, 64, 4, ".promote4"),
    MIXED("half-int8", copies_last<4>, f16, s8,    64, 64, 4, ".promote4"),
    SQUARE("half-int8", copies_last<4>, f16, s8,  128, 64, 3, ".2x2.promote4"),
    {}
    /* clang-format on */
};
