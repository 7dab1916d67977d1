/* SPDX-License-Identifier: BSD-3-Clause */
/* NATIVE: rows whose sums equal the sums of an instruction of this device.  The
   instruction is issued; or a kernel for such parts runs, if there is one and no event
   happens between the steps.

   Launch: 512 threads for 128 x 128 outputs (gpu/cuda/emulate_parts.cuh), three stages,
   two in flight. */
#include "gpu/cuda/emulate_parts.cuh"

namespace
{

/* --- by the instruction ------------------------------------------------------------- */

/* An instruction takes TIMES 16 bytes of k. */
template <int FORMAT, int TIMES>
__global__ void __launch_bounds__(TILE_THREADS, 1)
    native(const __grid_constant__ emulate_chain x)
{
    using type = typename part<FORMAT>::type;
    constexpr int each = 16 / sizeof(type), stage = stage_of<FORMAT>;
    extern __shared__ __align__(1024) char memory[];
    auto *const m = (stage_of_parts *)memory;
    const place p = place_of();
    int ti, tj;
    tile_place(&ti, &tj, (int)(x.a.padded / TILE), (int)(x.b.padded / TILE));
    const size_t i0 = (size_t)ti * TILE, j0 = (size_t)tj * TILE;
    emulate_events events(x);
    float c[32], sum[32];
#pragma unroll
    for (int r = 0; r < 32; r++) c[r] = sum[r] = 0;
    const auto happen = [&](uint32_t what) { events_apply<32>(c, sum, what, x); };
    parts_load<FORMAT>(&m[0], x, i0, j0, 0);
    copy_commit();
    parts_load<FORMAT>(&m[1], x, i0, j0, stage < x.a.length ? stage : 0);
    copy_commit();
    for (uint32_t k = 0, turn = 0; k < x.products;
         k += stage, turn = turn == 2 ? 0 : turn + 1) {
        copy_wait<1>();
        __syncthreads();
        const uint32_t later = k + 2 * stage, to = turn == 0 ? 2 : turn - 1;
        if (later < x.products) parts_load<FORMAT>(&m[to], x, i0, j0, later);
        copy_commit();
        const auto load = [&](fragments &f, int chunk) {
            fragments_load(f, m[turn], p, chunk + (TIMES == 2) * (p.lane >> 4),
                           chunk + (TIMES == 2) * (p.lane >> 3 & 1));
        };
        const int chunks = (int)min((x.products - k + each - 1) / each, (uint32_t)CHUNKS);
        fragments f, next;
        load(f, 0);
#pragma unroll 1
        for (int chunk = 0; chunk < chunks; chunk += TIMES) {
            load(next, (chunk + TIMES) % CHUNKS); /* after the last one, any */
            if (k + chunk * each == events.at) happen(events.take());
            fragments_multiply<FORMAT, TIMES>(c, f);
            f = next;
        }
    }
    while (events.at != UINT32_MAX) happen(events.take());
    outputs_store(x, p, i0, j0, c, sum, 1);
}

/* --- by a kernel for parts ---------------------------------------------------------- */

/* The architecture of the current device; *processors is its number of
   multiprocessors. */
unsigned architecture_now(int *processors)
{
    int device = 0, major = 0, minor = 0;
    *processors = 0;
    if (rt_device_get(&device) ||
        rt_device_ask(&major, cudaDevAttrComputeCapabilityMajor, device) ||
        rt_device_ask(&minor, cudaDevAttrComputeCapabilityMinor, device) ||
        rt_device_ask(processors, cudaDevAttrMultiProcessorCount, device))
        return 0;
    return sm(10 * major + minor);
}

#ifdef HOPPER
/* The kernel that multiplies such parts on this device: the kernel with the largest tile
   such that there are at least as many tiles as multiprocessors; otherwise the kernel
   with the smallest tile; NULL: there is none. */
const struct gpu_kernel *plain_kernel(size_t m, size_t n, int format)
{
    const struct gpu_kernel *found = NULL;
    int processors;
    const unsigned here = architecture_now(&processors);
    for (const struct gpu_kernel *k = gemm_sm90; k->name; k++) {
        if (!(k->architectures & here) || k->format != format ||
            strcmp(k->recipe, "plain") != 0 || k->program.promote)
            continue;
        found = k;
        if (divide_up(m, k->tile_m) * divide_up(n, k->tile_n) >= (size_t)processors)
            break;
    }
    return found;
}
#else
const struct gpu_kernel *plain_kernel(size_t, size_t, int) { return NULL; }
#endif

struct parts parts_of(const emulate_operand &x, int format)
{
    const size_t row_bytes = x.length * part_bytes(format);
    return { x.parts, x.lines, row_bytes, row_bytes, 0 };
}

/* Start the chain, which has no events, as the product of its parts. */
rt_error native_by_kernel(const emulate_chain &x, const struct gpu_kernel *kernel,
                          rt_stream stream)
{
    struct gpu_product p = {};
    p.kernel = kernel;
    p.count = 1;
    p.m = x.a.lines;
    p.n = x.b.lines;
    p.k = x.products;
    p.a = parts_of(x.a, kernel->format);
    p.b = parts_of(x.b, kernel->format);
    p.alpha = 1;
    p.d.at = x.result;
    p.d.ld = x.b.lines;
    p.slices = 1;
    p.stream = stream;
    return (rt_error)kernel->launch(&p);
}

/* --- starting ----------------------------------------------------------------------- */

template <int FORMAT, int TIMES>
rt_error native_with(const emulate_chain &x, rt_stream stream)
{
    constexpr int bytes = 3 * sizeof(stage_of_parts);
    const struct gpu_kernel *const kernel =
        TIMES == 2 && !x.events ? plain_kernel(x.a.lines, x.b.lines, FORMAT) : NULL;
    const rt_error status =
        rt_function_set(native<FORMAT, TIMES>, RT_SHARED_BYTES, bytes);
    if (status != RT_SUCCESS) return status;
    if (kernel) return native_by_kernel(x, kernel, stream);
    native<FORMAT, TIMES><<<tiles_of(x), TILE_THREADS, bytes, stream>>>(x);
    return rt_last_error();
}

/* The code for each format, and for each multiple of 16 bytes that an instruction
   takes. */
constexpr struct {
    int format, times;
    rt_error (*start)(const emulate_chain &x, rt_stream stream);
} natives[] = {
    { FORMAT_F16, 2, native_with<FORMAT_F16, 2> },
    { FORMAT_F16, 1, native_with<FORMAT_F16, 1> },
    { FORMAT_BF16, 2, native_with<FORMAT_BF16, 2> },
    { FORMAT_BF16, 1, native_with<FORMAT_BF16, 1> },
    { FORMAT_TF32, 2, native_with<FORMAT_TF32, 2> },
    { FORMAT_TF32, 1, native_with<FORMAT_TF32, 1> },
};

/* The number of times 16 bytes of k that an instruction takes. */
int times_of(const struct unit_rule &r, int format)
{
    return r.block * (int)part_bytes(format) / 16;
}

} // namespace

const struct gpu_kernel *native_kernel(size_t m, size_t n, const struct unit_rule &rule)
{
    const int format = format_of(rule.operand);
    return times_of(rule, format) == 2 ? plain_kernel(m, n, format) : NULL;
}

rt_error native_start(const emulate_chain &x, rt_stream stream)
{
    const int format = format_of(x.rule.operand), times = times_of(x.rule, format);
    for (const auto &code : natives)
        if (code.format == format && code.times == times) return code.start(x, stream);
    return RT_NO_FUNCTION;
}
