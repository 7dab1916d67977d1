/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether this device adds as TENSOR assumes.  At the first use of each instruction on
   each device, its sums of test chains are compared with the definition, bit for bit. */
#include "gpu/cuda/emulate.cuh"

#include <atomic>
#include <cstdlib>

namespace
{

/* Number of outputs, and number of products of each. */
enum { SIDE = EMULATE_LINES, PRODUCTS = 512, VALUES = SIDE * PRODUCTS };

uint64_t next_bits(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15; /* SplitMix64 */
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

/* The values of a line have their own range of exponents, from a single exponent to most
   of f16's exponents.  Many have few bits, so that sums cancel, and some are zeros or
   subnormal. */
uint32_t some_part(uint64_t *state, int line, int fraction_bits, int least)
{
    const uint64_t bits = next_bits(state);
    const int spread = 1 + line % 24,
              e = 5 - (int)((bits >> 32) % (unsigned)spread) - line % 7;
    const uint32_t kept = bits & 1 ? 0x7fffffu << (23 - fraction_bits) : 0x700000;
    if ((bits >> 8) % (line % 5 ? 16 : 2) == 0) return 0;
    const uint32_t sign = (uint32_t)(bits >> 63) << 31;
    if (e < least) return sign | (uint32_t)(least - 3 + 127) << 23; /* subnormal there */
    return sign | (uint32_t)(e + 127) << 23 | ((uint32_t)(bits >> 9) & kept & 0x7fffff);
}

struct bitcut_format format_with(int exponent_bits, int fraction_bits, int bits, int pad)
{
    struct bitcut_format f = {};
    f.bits = bits;
    f.pad = pad;
    f.exponent_bits = exponent_bits;
    f.fraction_bits = fraction_bits;
    f.bias = (1 << (exponent_bits - 1)) - 1;
    f.has_sign = true;
    f.special = SPECIAL_IEEE;
    f.nan = 1;
    return f;
}

/* Sums of blocks of `block` products, truncated to `fraction` bits. */
struct unit_rule rule_of(const struct bitcut_format &operand, int block, int fraction)
{
    struct unit_rule r = {};
    r.sum = RULE_FUSED;
    r.k = r.block = block;
    r.fraction = fraction;
    r.align_min = -132;
    r.operand[0] = r.operand[1] = operand;
    r.c = r.result = format_with(8, 23, 32, 0);
    r.rounding.direction = TO_ZERO;
    r.rounding.overflow = OVERFLOW_INF;
    r.zero = RULE_ZERO_POSITIVE;
    r.nan = 0x7fffffff;
    return r;
}

/* Device memory for both sides. */
struct memory {
    char *at = NULL;
    size_t used = 0;

    template <class T> T *take(size_t count)
    {
        T *const x = (T *)(at + used);
        used += round_up(count * sizeof(T), GPU_ALIGNMENT);
        return x;
    }
};

void operand_place(emulate_operand *x, memory *m)
{
    *x = {};
    x->lines = x->padded = SIDE;
    x->length = PRODUCTS;
    x->value = m->take<float>(VALUES);
    x->parts = m->take<uint32_t>(VALUES);
    x->code = m->take<uint8_t>(VALUES);
    x->power = m->take<uint16_t>(VALUES / 4);
    x->wild = m->take<uint32_t>(SIDE);
}

rt_error operand_fill(const emulate_operand &x, uint64_t *state, const unit_rule &r,
                      float *host, rt_stream stream)
{
    for (int i = 0; i < VALUES; i++) {
        const uint32_t v = some_part(state, i / PRODUCTS, r.operand[0].fraction_bits,
                                     1 - r.operand[0].bias);
        memcpy(&host[i], &v, sizeof v);
    }
    rt_error status = rt_fill_start(x.wild, 0, SIDE * sizeof *x.wild, stream);
    if (status == RT_SUCCESS)
        status = cudaMemcpyAsync(x.value, host, VALUES * sizeof *host, cudaMemcpyDefault,
                                 stream);
    return status == RT_SUCCESS ? rt_stream_wait(stream) : status;
}

/* Compute both sides of a chain; *same: they have the same bits. */
rt_error compare(bool *same, const unit_rule &r, memory m, float *host, rt_stream stream)
{
    enum { OUTPUTS = SIDE * SIDE };
    uint64_t state = (uint64_t)r.block;
    emulate_chain x = {};
    operand_place(&x.a, &m);
    operand_place(&x.b, &m);
    x.products = PRODUCTS;
    x.rule = r;
    float *const result[2] = { m.take<float>(OUTPUTS), m.take<float>(OUTPUTS) };
    rt_error status = operand_fill(x.a, &state, r, host, stream);
    if (status == RT_SUCCESS) status = operand_fill(x.b, &state, r, host, stream);
    for (int i = 0; i < 2 && status == RT_SUCCESS; i++) {
        x.result = result[i];
        status = i ? steps_start(x, true, stream) : tensor_start(x, stream);
        if (status == RT_SUCCESS)
            status = cudaMemcpyAsync(host + i * OUTPUTS, x.result, OUTPUTS * sizeof *host,
                                     cudaMemcpyDefault, stream);
    }
    if (status == RT_SUCCESS) status = rt_stream_wait(stream);
    *same = !memcmp(host, host + OUTPUTS, OUTPUTS * sizeof *host);
    return status;
}

/* What TENSOR computes by a multiplier: products of values in this format, in at most two
   forms. */
struct claim {
    struct bitcut_format operand;
    int block[2], fraction[2];
};

rt_error check(bool *good, const claim &c, rt_stream stream)
{
    constexpr size_t bytes = 2 * VALUES * 12 + (1 << 20);
    memory m;
    float *const host = (float *)malloc(VALUES * sizeof *host);
    rt_error status = host ? rt_malloc((void **)&m.at, bytes) : RT_NO_MEMORY;
    *good = true;
    for (int i = 0; i < 2 && c.block[i] && status == RT_SUCCESS; i++) {
        bool same = false;
        status = compare(&same, rule_of(c.operand, c.block[i], c.fraction[i]), m, host,
                         stream);
        *good &= same;
    }
    const rt_error end = rt_free(m.at);
    free(host);
    return status == RT_SUCCESS ? end : status;
}

/* Check on the current device, also while the thread captures a graph. */
rt_error check_apart(bool *good, const claim &c)
{
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    rt_stream stream;
    rt_error status = cudaThreadExchangeStreamCaptureMode(&mode);
    if (status != RT_SUCCESS) return status;
    status = rt_stream_create(&stream, RT_NON_BLOCKING);
    if (status == RT_SUCCESS) {
        status = check(good, c, stream);
        const rt_error end = rt_stream_end(stream);
        if (status == RT_SUCCESS) status = end;
    }
    cudaThreadExchangeStreamCaptureMode(&mode);
    return status;
}

} // namespace

const struct gpu_multiplier multipliers[] = { { "mma.m16n8k16.f32.f16", sm_from(80) },
                                              { "mma.m16n8k16.f32.bf16", sm_from(80) },
                                              { "mma.m16n8k8.f32.tf32", sm_from(80) },
                                              { "mma.m16n8k8.f32.f16", sm_from(80) },
                                              { "mma.m16n8k8.f32.bf16", sm_from(80) },
                                              { "mma.m16n8k4.f32.tf32", sm_from(80) },
                                              {} };

int emulation_claim(int device, int multiplier, char *fault)
{
    enum { UNKNOWN, GOOD, BAD, CLAIMS = 3 };
    static std::atomic<int> found[DEVICES_MAX][CLAIMS];
    const claim claims[CLAIMS] = { { format_with(5, 10, 16, 0), { 8, 4 }, { 24, 23 } },
                                   { format_with(8, 7, 16, 0), { 8, 0 }, { 24, 0 } },
                                   { format_with(8, 10, 32, 13), { 4, 0 }, { 24, 0 } } };
    const bool kept = device < DEVICES_MAX;
    int now =
        kept && multiplier < CLAIMS ? found[device][multiplier].load() : (int)UNKNOWN;
    if (multiplier < CLAIMS && now == UNKNOWN) {
        bool good = false;
        const on_device on(device);
        const rt_error status =
            on.status == RT_SUCCESS ? check_apart(&good, claims[multiplier]) : on.status;
        if (status != RT_SUCCESS) return fault_of(fault, status);
        now = good ? GOOD : BAD;
        if (kept) found[device][multiplier] = now;
    }
    snprintf(fault, GPU_FAULT_MAX, "%s adds otherwise",
             multipliers[multiplier].instruction);
    return now != GOOD;
}
