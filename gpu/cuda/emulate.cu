/* SPDX-License-Identifier: BSD-3-Clause */
/* GEMMs on units that the device does not have: everything before, between and after the
   chains (gpu/emulate/chains.h); a method computes each chain.

   For each sequence of k and each accumulator, the values of a chain are gathered in the
   order in which they are added.  So the methods do not depend on splits, layouts, orders
   of k, terms or equilibration.  Then accumulators are folded, sequences are added, and D
   is computed, as lib/gemm/recipe.h and lib/bitcut.h define.

   A GEMM with one part for each operand and one chain, by the method NATIVE, runs as an
   ordinary GEMM kernel. */
#include "gpu/cuda/emulate_gather.cuh"

#include <algorithm>
#include <cstdlib>

namespace
{

enum { EMULATE_THREADS = 256 };

unsigned blocks_for(size_t count)
{
    const size_t blocks = divide_up(count, EMULATE_THREADS);
    return (unsigned)(blocks < BLOCKS_MAX ? blocks : BLOCKS_MAX);
}

/* A grid of x columns, with as many rows of blocks, at most y, as keep a device busy.
   Each block loops, so that the cost of its start counts less. */
dim3 grid_of(size_t x, size_t y)
{
    constexpr size_t busy = 4096;
    const size_t rows = std::min({ y, GRID_Y_MAX, divide_up(busy, x) });
    return dim3((unsigned)x, (unsigned)rows);
}

/* The number of this thread, and the number of threads. */
__device__ size_t thread_first() { return blockIdx.x * (size_t)blockDim.x + threadIdx.x; }
__device__ size_t thread_count() { return (size_t)gridDim.x * blockDim.x; }

/* --- what the host knows ------------------------------------------------------------ */

/* The data is passed as arguments of kernels, which a graph stores. */
struct upload_piece {
    uint32_t part[960];
};

__global__ void upload(uint32_t *to, const __grid_constant__ upload_piece x,
                       unsigned count)
{
    for (unsigned i = threadIdx.x; i < count; i += blockDim.x) to[i] = x.part[i];
}

rt_error upload_start(void *to, const void *from, size_t bytes, rt_stream stream)
{
    upload_piece x;
    for (size_t at = 0; at < bytes; at += sizeof x) {
        const size_t now = bytes - at < sizeof x ? bytes - at : sizeof x;
        memcpy(&x, (const char *)from + at, now);
        upload<<<1, EMULATE_THREADS, 0, stream>>>((uint32_t *)((char *)to + at), x,
                                                  (unsigned)(now / sizeof *x.part));
    }
    return rt_last_error();
}

rt_error steps_all(const emulate_chain &x, rt_stream stream)
{
    return steps_start(x, true, stream);
}

/* --- the methods -------------------------------------------------------------------- */

/* By enum chain_method: bytes of each value, and bytes that are derived from it.  If
   there are no values, parts in the format of A are gathered instead. */
constexpr struct {
    rt_error (*start)(const emulate_chain &x, rt_stream stream);
    bool b_across;
    size_t values, parts, exponents, codes;
    bool powers;
} methods[CHAIN_METHODS] = {
    { steps_all, true, 4, 0, 0, 0, false },     { simt_start, true, 4, 0, 0, 0, false },
    { cut_start, false, 4, 0, 2, 0, false },    { tensor_start, false, 4, 4, 0, 1, true },
    { native_start, false, 0, 4, 0, 0, false },
};

/* Products of two values with exponents in this window, and sums of any number of such
   products that memory can hold, stay in the range of normal FP32 numbers, with all bits
   that a sum retains. */
enum { WINDOW = 45 };

/* The exponents of the unit's values that the method accepts. */
emulate_window window_of(enum chain_method method, const struct unit_rule &r)
{
    const emulate_window any = { -149, 127, true }, some = { -WINDOW, WINDOW, false };
    switch (method) {
    case CHAIN_CUT:
    case CHAIN_TENSOR: return some;
    case CHAIN_SIMT:
        if (r.sum == RULE_PAIRS && r.block > 1) return { -WINDOW, WINDOW, true };
        return any;
    default: return any;
    }
}

/* --- after the chains --------------------------------------------------------------- */

/* Sums of sequences, and the format to which they are rounded. */
struct folding {
    const float *result[RECIPE_ACCUMULATORS_MAX];
    int accumulators, scale;
    uint32_t nan;
    bool rounds;
    struct bitcut_format sums;
    struct bitcut_rounding nearest; /* made in the kernel, it would be in local memory */
};

__device__ uint32_t sum_rounded(const folding &x, uint32_t v)
{
    return x.rounds && !emulate_is_nan(v) ? emulate_round(&x.sums, &x.nearest, v) : v;
}

/* Fold the accumulators of a sequence into one, and add the last `adds` of the sums
   retained before.  The result replaces the first of these. */
__global__ void fold(float *kept, int adds, size_t count,
                     const __grid_constant__ folding x)
{
    for (size_t at = thread_first(); at < count; at += thread_count()) {
        uint32_t v = __float_as_uint(x.result[x.accumulators - 1][at]);
        for (int i = x.accumulators - 2; i >= 0; i--)
            v = emulate_fma(x.nan, v, emulate_power(-x.scale),
                            __float_as_uint(x.result[i][at]));
        v = sum_rounded(x, v);
        for (int n = 1; n <= adds; n++)
            v = sum_rounded(x, emulate_fma(x.nan,
                                           __float_as_uint(kept[(adds - n) * count + at]),
                                           emulate_power(0), v));
        kept[at] = __uint_as_float(v);
    }
}

/* The data from which D is computed. */
struct finishing {
    const float *sum;
    size_t m, n;
    const uint32_t *largest_a, *largest_b; /* NULL: no equilibration         */
    int target_a, target_b;
    uint32_t alpha, beta, nan;
    bool reads_c;
    view c, d;
};

__global__ void finish(const __grid_constant__ finishing x)
{
    const size_t j = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
#pragma unroll 4
    for (size_t i = blockIdx.y; i < x.m && j < x.n; i += gridDim.y) {
        uint32_t v = __float_as_uint(x.sum[i * x.n + j]);
        if (x.largest_a)
            v = emulate_scale(v, -emulate_exponent(x.target_a, x.largest_a[i]) -
                                     emulate_exponent(x.target_b, x.largest_b[j]));
        if (emulate_is_nan(v)) v = x.nan;
        if (x.alpha != emulate_power(0))
            v = emulate_fma(x.nan, x.alpha, v, (x.alpha ^ v) & EMULATE_SIGN);
        if (x.reads_c) v = emulate_fma(x.nan, x.beta, view_get(x.c, i, j), v);
        view_set(x.d, i, j, v);
    }
}

/* --- where everything is ------------------------------------------------------------ */

/* Areas of a workspace, in bytes from its start. */
struct layout {
    size_t a[5], b[5]; /* values, parts, exponents, codes, powers */
    size_t wild_a, wild_b, largest_a, largest_b;
    size_t runs, events, elements, results, kept, end;
};

/* Sizes of the largest chain. */
struct sizes {
    size_t products, entries;
};

/* An operand of a chain whose lines have this number of products. */
emulate_operand operand_of(size_t lines, size_t products)
{
    emulate_operand x = {};
    x.lines = lines;
    x.padded = round_up(lines, EMULATE_LINES);
    x.length = round_up(products ? products : 1, EMULATE_RUN);
    return x;
}

int terms_of(const struct gemm_plan *p, int accumulator)
{
    int terms = 0;
    for (int t = 0; t < p->terms; t++) terms += p->term[t].accumulator == accumulator;
    return terms;
}

struct sizes sizes_of(const struct gpu_work *w, const struct k_parts *parts)
{
    struct sizes x = { 0, 1 };
    for (int a = 0; a < w->plan.accumulators; a++)
        for (size_t s = 0; s < parts->count; s++) {
            const size_t steps = parts->first[s + 1] - parts->first[s],
                         k = (size_t)w->emulation.k_step,
                         terms = (size_t)terms_of(&w->plan, a);
            const size_t products = steps * terms * k,
                         each = products / (size_t)w->emulation.rule[a].k + 2;
            if (products > x.products) x.products = products;
            if (each > x.entries) x.entries = each;
        }
    return x;
}

/* Take `bytes` from the workspace. */
size_t part(size_t *end, size_t bytes)
{
    const size_t at = *end;
    *end += round_up(bytes, GPU_ALIGNMENT);
    return at;
}

void parts_of_operand(size_t to[5], size_t *end, size_t lines, size_t products,
                      const struct gpu_work *w)
{
    const emulate_operand x = operand_of(lines, products);
    const size_t count = x.padded * x.length;
    size_t values = 0, parts = 0, exponents = 0, codes = 0, powers = 0;
    for (int a = 0; a < w->plan.accumulators; a++) {
        const auto &m = methods[w->emulation.method[a]];
        if (m.values > values) values = m.values;
        if (m.parts > parts) parts = m.parts;
        if (m.exponents > exponents) exponents = m.exponents;
        if (m.codes > codes) codes = m.codes;
        if (m.powers) powers = sizeof(uint16_t);
    }
    to[0] = part(end, count * values);
    to[1] = part(end, count * parts);
    to[2] = part(end, count * exponents);
    to[3] = part(end, count * codes);
    to[4] = part(end, count / 4 * powers); /* of blocks of 4 or more */
}

struct layout layout_of(const struct gpu_work *w, const struct k_parts *parts)
{
    const struct bitcut_gemm *g = &w->gemm;
    const struct sizes sizes = sizes_of(w, parts);
    const size_t outputs = g->m * g->n * sizeof(float);
    struct layout x = {};
    parts_of_operand(x.a, &x.end, g->m, sizes.products, w);
    parts_of_operand(x.b, &x.end, g->n, sizes.products, w);
    x.wild_a = part(&x.end, round_up(g->m, EMULATE_LINES) * sizeof(uint32_t));
    x.wild_b = part(&x.end, round_up(g->n, EMULATE_LINES) * sizeof(uint32_t));
    x.largest_a = part(&x.end, w->plan.equilibrate ? g->m * sizeof(uint32_t) : 0);
    x.largest_b = part(&x.end, w->plan.equilibrate ? g->n * sizeof(uint32_t) : 0);
    x.runs = part(&x.end, sizes.entries * sizeof(struct chain_run));
    x.events = part(&x.end, sizes.entries * sizeof(struct chain_event));
    x.elements =
        part(&x.end, parts->element
                         ? parts->steps * (size_t)w->emulation.k_step * sizeof(uint32_t)
                         : 0);
    x.results = part(&x.end, (size_t)w->plan.accumulators * outputs);
    x.kept = part(&x.end, (size_t)(parts->kept > 0 ? parts->kept : 1) * outputs);
    return x;
}

/* --- one GEMM ----------------------------------------------------------------------- */

/* A GEMM during its computation.  All data is in its workspace. */
struct emulated {
    const struct gpu_work *work;
    const struct k_parts *parts;
    struct layout at;
    char *memory;
    size_t matrix; /* in the batch */
    rt_stream stream;
    unsigned long long *repaired;
};

template <class T> T *place(const struct emulated &e, size_t at)
{
    return (T *)(e.memory + at);
}

const uint32_t *largest_of(const struct emulated &e, bool is_b)
{
    if (!e.work->plan.equilibrate) return NULL;
    return place<uint32_t>(e, is_b ? e.at.largest_b : e.at.largest_a);
}

view operand_view(const struct emulated &e, bool is_b)
{
    const struct bitcut_gemm *g = &e.work->gemm;
    return view_of(is_b ? &g->b : &g->a, e.matrix, is_b);
}

rt_error elements_upload(const struct emulated &e)
{
    const size_t count = e.parts->steps * (size_t)e.work->emulation.k_step;
    if (!e.parts->element) return RT_SUCCESS;
    uint32_t *const narrow = (uint32_t *)malloc(count * sizeof *narrow + 1);
    if (!narrow) return RT_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        narrow[i] =
            e.parts->element[i] > UINT32_MAX ? UINT32_MAX : (uint32_t)e.parts->element[i];
    const rt_error status = upload_start(place<void>(e, e.at.elements), narrow,
                                         count * sizeof *narrow, e.stream);
    free(narrow);
    return status;
}

void place_operand(emulate_operand *x, const struct emulated &e, const size_t at[5],
                   size_t wild)
{
    x->value = place<float>(e, at[0]);
    x->parts = place<void>(e, at[1]);
    x->exponent = place<int16_t>(e, at[2]);
    x->code = place<uint8_t>(e, at[3]);
    x->power = place<uint16_t>(e, at[4]);
    x->wild = place<uint32_t>(e, wild);
}

bool is_f32(const struct bitcut_format &x)
{
    return x.exponent_bits == 8 && x.fraction_bits == 23;
}

/* No value is typical if the rounding depends on other bits, or the format is special. */
typical_part typical_part_of(const struct split_rule &s, int part)
{
    const struct bitcut_format &f = s.part[part].format;
    const enum direction by = s.part[part].rounding.direction;
    const int drop = 23 - f.fraction_bits, emin = 1 - f.bias,
              emax = (1 << f.exponent_bits) - 2 - f.bias;
    typical_part x = { 0, 0, 0, 0, drop };
    if (part >= s.parts || s.part[part].copy || s.part[part].level != part || drop < 1 ||
        !f.fraction_bits || !f.has_sign || f.special != SPECIAL_IEEE || emin < -126 ||
        emax > 127 || (by != TO_NEAREST_EVEN && by != TO_NEAREST_AWAY && by != TO_ZERO))
        return x;
    x.least = (uint32_t)(emin + 127) << 23;
    x.range = ((uint32_t)(emax + 127) << 23) - x.least;
    x.even = by == TO_NEAREST_EVEN;
    x.add = by == TO_ZERO ? 0 : (1u << (drop - 1)) - x.even;
    return x;
}

rt_error gather_start(const struct emulated &e, const emulate_chain &x,
                      const struct chain &c, int accumulator, bool is_b)
{
    const struct gpu_emulation *const em = &e.work->emulation;
    const emulate_operand &to = is_b ? x.b : x.a;
    const enum chain_method method = em->method[accumulator];
    source s = {};
    s.matrix = operand_view(e, is_b);
    s.k = e.work->gemm.k;
    s.is_b = is_b;
    s.largest = largest_of(e, is_b);
    s.split = is_b ? em->b : em->a;
    for (int i = 0; i < 2; i++) s.typical[i] = typical_part_of(s.split, i);
    s.scale = ldexpf(1, s.split.scale);
    s.run = place<struct chain_run>(e, e.at.runs);
    s.runs = (uint32_t)c.runs;
    s.products = c.products;
    s.element = e.parts->element ? place<uint32_t>(e, e.at.elements) : NULL;
    s.window = window_of(method, x.rule);
    s.parts = methods[method].values ? (int)FORMAT_F32 : format_of(x.rule.operand);
    const rt_error status =
        rt_fill_start(to.wild, 0, to.padded * sizeof *to.wild, e.stream);
    const dim3 grid = grid_of(to.length / GATHER_TILE, to.padded / GATHER_TILE),
               threads(GATHER_TILE, GATHER_ROWS);
    if (status != RT_SUCCESS) return status;
    const auto code = is_f32(s.matrix.format) ? gather<true> : gather<false>;
    code<<<grid, threads, 0, e.stream>>>(s, x.rule, to);
    return rt_last_error();
}

emulate_chain chain_of(const struct emulated &e, const struct chain &c, int accumulator,
                       float *result)
{
    const struct gpu_work *const w = e.work;
    emulate_chain x = {};
    x.a = operand_of(w->gemm.m, c.products);
    x.b = operand_of(w->gemm.n, c.products);
    x.b.across = methods[w->emulation.method[accumulator]].b_across;
    place_operand(&x.a, e, e.at.a, e.at.wild_a);
    place_operand(&x.b, e, e.at.b, e.at.wild_b);
    x.products = c.products;
    x.event = place<struct chain_event>(e, e.at.events);
    x.events = (uint32_t)c.events;
    x.promotes = accumulator == 0 && w->emulation.promotes;
    x.scale = w->plan.scale;
    x.zeroed = w->emulation.zeroed;
    x.result = result;
    x.repaired = e.repaired;
    x.rule = w->emulation.rule[accumulator];
    return x;
}

rt_error chain_start(const struct emulated &e, const struct chain &c, int accumulator,
                     float *result)
{
    const enum chain_method method = e.work->emulation.method[accumulator];
    const emulate_chain x = chain_of(e, c, accumulator, result);
    rt_error status =
        upload_start(place<void>(e, e.at.runs), c.run, c.runs * sizeof *c.run, e.stream);
    if (status == RT_SUCCESS)
        status = upload_start(place<void>(e, e.at.events), c.event,
                              c.events * sizeof *c.event, e.stream);
    if (status == RT_SUCCESS) status = gather_start(e, x, c, accumulator, false);
    if (status == RT_SUCCESS) status = gather_start(e, x, c, accumulator, true);
    if (status == RT_SUCCESS) status = methods[method].start(x, e.stream);
    return status == RT_SUCCESS && is_limited(window_of(method, x.rule))
               ? steps_start(x, false, e.stream)
               : status;
}

/* Start one sequence of k; its sum is stored at `kept`, after adding the retained sums
   before it. */
rt_error sequence_start(const struct emulated &e, size_t sequence, int kept)
{
    const struct gpu_work *const w = e.work;
    const size_t count = w->gemm.m * w->gemm.n;
    const int adds = e.parts->adds[sequence];
    float *const sums = place<float>(e, e.at.kept) + (size_t)(kept - adds) * count;
    const bool folds = w->plan.accumulators > 1 || adds || w->plan.order.partial_format;
    float *const results = folds ? place<float>(e, e.at.results) : sums;
    folding f = {};
    rt_error status = RT_SUCCESS;
    for (int a = 0; a < w->plan.accumulators && status == RT_SUCCESS; a++) {
        struct chain c;
        if (chain_make(&c, &w->emulation, &w->plan, e.parts, sequence, a) != BITCUT_OK)
            return RT_NO_MEMORY;
        status = chain_start(e, c, a, results + (size_t)a * count);
        chain_clear(&c);
        f.result[a] = results + (size_t)a * count;
    }
    f.accumulators = w->plan.accumulators;
    f.scale = w->plan.scale;
    f.nan = w->emulation.nan;
    f.rounds = w->plan.order.partial_format != NULL;
    if (f.rounds) f.sums = *w->plan.order.partial_format;
    f.nearest.direction = TO_NEAREST_EVEN;
    f.nearest.overflow = OVERFLOW_IEEE;
    if (status != RT_SUCCESS || !folds) return status;
    fold<<<blocks_for(count), EMULATE_THREADS, 0, e.stream>>>(sums, adds, count, f);
    return rt_last_error();
}

rt_error finish_start(const struct emulated &e)
{
    const struct gpu_work *const w = e.work;
    const struct bitcut_gemm *const g = &w->gemm;
    finishing x = {};
    x.sum = place<float>(e, e.at.kept);
    x.m = g->m;
    x.n = g->n;
    x.largest_a = largest_of(e, false);
    x.largest_b = largest_of(e, true);
    x.target_a = w->emulation.a.target;
    x.target_b = w->emulation.b.target;
    x.alpha = g->alpha;
    x.beta = g->beta;
    x.nan = w->emulation.nan;
    x.reads_c = gemm_reads_c(g);
    if (x.reads_c) x.c = view_of(&g->c, e.matrix, false);
    x.d = view_of(&g->d, e.matrix, false);
    finish<<<grid_of(divide_up(g->n, (size_t)EMULATE_THREADS), g->m), EMULATE_THREADS, 0,
             e.stream>>>(x);
    return rt_last_error();
}

rt_error largest_start(const struct emulated &e)
{
    const struct bitcut_gemm *const g = &e.work->gemm;
    if (!e.work->plan.equilibrate) return RT_SUCCESS;
    largest<<<(unsigned)g->m, EMULATE_THREADS, 0, e.stream>>>(
        place<uint32_t>(e, e.at.largest_a), operand_view(e, false), g->k);
    largest<<<(unsigned)g->n, EMULATE_THREADS, 0, e.stream>>>(
        place<uint32_t>(e, e.at.largest_b), operand_view(e, true), g->k);
    return rt_last_error();
}

rt_error gemm_emulate(const struct emulated &e)
{
    const size_t outputs = e.work->gemm.m * e.work->gemm.n * sizeof(float);
    int kept = 0;
    rt_error status = largest_start(e);
    if (status == RT_SUCCESS && !e.parts->count)
        status = rt_fill_start(place<void>(e, e.at.kept), 0, outputs, e.stream);
    for (size_t s = 0; s < e.parts->count && status == RT_SUCCESS; s++) {
        status = sequence_start(e, s, kept);
        kept += 1 - e.parts->adds[s];
    }
    return status == RT_SUCCESS ? finish_start(e) : status;
}

/* --- by a kernel of whole GEMMs ----------------------------------------------------- */

bool is_f32_matrix(const struct bitcut_matrix &x) { return is_f32(*x.format) && !x.each; }

/* Whether an operand has one part, in the format in which the unit reads it. */
bool has_one_part(const struct split_rule &s, const struct bitcut_format &read)
{
    const struct bitcut_format &f = s.part[0].format;
    return s.parts == 1 && f.exponent_bits == read.exponent_bits &&
           f.fraction_bits == read.fraction_bits;
}

/* Whether the products of an instruction are added in the order of k. */
bool adds_in_order(const struct unit_rule &r)
{
    int i = 0;
    while (i < r.k && r.order[i] == i) i++;
    return i == r.k;
}

/* Whether the GEMM is one chain that NATIVE computes, of single parts of FP32 elements,
   in the order of k, without events. */
bool is_native_product(const struct gpu_work *w, const struct k_parts *parts)
{
    const struct bitcut_gemm *const g = &w->gemm;
    const struct gemm_plan *const p = &w->plan;
    const struct gpu_emulation *const e = &w->emulation;
    const struct unit_rule &rule = e->rule[0];
    const bool one = p->terms == 1 && has_one_part(e->a, rule.operand[0]) &&
                     has_one_part(e->b, rule.operand[1]) && !p->equilibrate &&
                     parts->count == 1 && !parts->element && adds_in_order(rule);
    const bool plain = !p->promote && !e->promotes && !p->tile_k && !p->term[0].scaled &&
                       !p->recipe->zeroed && !p->order.partial_format;
    return e->method[0] == CHAIN_NATIVE && one && plain && e->nan == rule.nan &&
           is_f32_matrix(g->a) && is_f32_matrix(g->b) && is_f32_matrix(g->d) &&
           (!gemm_reads_c(g) || is_f32_matrix(g->c));
}

/* Number of outputs that TENSOR has computed one by one since the last query. */
__device__ unsigned long long repaired_outputs;

enum bitcut_status parts_of(struct k_parts *parts, const struct gpu_work *w)
{
    return k_parts_make(parts, &w->plan.order, w->gemm.k, (size_t)w->emulation.k_step);
}

size_t emulation_workspace(const struct gpu_work *w)
{
    struct k_parts parts;
    if (parts_of(&parts, w) != BITCUT_OK) return SIZE_MAX;
    const size_t bytes = layout_of(w, &parts).end;
    k_parts_clear(&parts);
    return bytes;
}

rt_error emulation_start(const struct gpu_work *w, void *workspace, rt_stream stream)
{
    struct k_parts parts;
    struct emulated e = {};
    if (parts_of(&parts, w) != BITCUT_OK) return RT_NO_MEMORY;
    e.work = w;
    e.parts = &parts;
    e.at = layout_of(w, &parts);
    e.memory = (char *)workspace;
    e.stream = stream;
    rt_error status = cudaGetSymbolAddress((void **)&e.repaired, repaired_outputs);
    if (status == RT_SUCCESS) status = elements_upload(e);
    for (; e.matrix < w->gemm.count && status == RT_SUCCESS; e.matrix++)
        status = gemm_emulate(e);
    k_parts_clear(&parts);
    return status;
}

/* It makes the parts in one pass, and writes D. */
bool emulation_by_kernel(struct gpu_work *to, const struct gpu_work *w)
{
    struct k_parts parts;
    if (parts_of(&parts, w) != BITCUT_OK) return false;
    const bool is_product = is_native_product(w, &parts);
    k_parts_clear(&parts);
    if (!is_product) return false;
    *to = *w;
    to->plan.order.slices = 1;
    to->kernel = native_kernel(w->gemm.m, w->gemm.n, w->emulation.rule[0]);
    return to->kernel;
}

} // namespace

extern const struct emulation_code emulation_code = { emulation_workspace,
                                                      emulation_start,
                                                      emulation_by_kernel };

int emulation_counts(struct gpu_count to[GPU_COUNTS_MAX])
{
    const unsigned long long none = 0;
    unsigned long long repaired = 0;
    if (cudaMemcpyFromSymbol(&repaired, repaired_outputs, sizeof repaired) !=
            RT_SUCCESS ||
        cudaMemcpyToSymbol(repaired_outputs, &none, sizeof none) != RT_SUCCESS)
        return 0;
    to[0] = { "repaired outputs", repaired };
    return repaired != 0; /* other GEMMs do not use it               */
}
