/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/number/quantizer.h"

#include "lib/base/size.h"
#include "lib/base/table.h"
#include "lib/number/bits.h"
#include "lib/number/hostfp.h"
#include "lib/number/round.h"

#include <math.h>

#define OCP "OCP Microscaling Formats (MX) 1.0, section 6.3"

/* clang-format off */
const struct bitcut_quantizer quantizers[] = {
    { "fp8-tensor",  "e4m3 with one scale",
      &formats[FORMAT_E4M3], &formats[FORMAT_F32],   0,   0,   SCALE_DIVIDE,
      "Micikevicius et al. 2022, arXiv 2209.05433" },
    { "fp8-rows",    "e4m3 with a scale for each row of A or column of B",
      &formats[FORMAT_E4M3], &formats[FORMAT_F32],   1,   0,   SCALE_DIVIDE,
      "vLLM, dynamic fp8 scales per token" },
    { "fp8-1x128",   "e4m3 with a scale for each 128 k of a row",
      &formats[FORMAT_E4M3], &formats[FORMAT_F32],   1,   128, SCALE_DIVIDE,
      "DeepSeek-V3, arXiv 2412.19437, section 3.3: activations" },
    { "fp8-128x128", "e4m3 with a scale for each 128 lines and 128 k",
      &formats[FORMAT_E4M3], &formats[FORMAT_F32],   128, 128, SCALE_DIVIDE,
      "DeepSeek-V3, arXiv 2412.19437, section 3.3: weights" },
    { "fp8-1x128-ceil", "fp8-1x128 with powers of two",
      &formats[FORMAT_E4M3], &formats[FORMAT_F32],   1,   128, SCALE_CEIL,
      "DeepGEMM, scales as UE8M0" },
    { "mxfp8",       "e4m3 with a power of two for each 32 k",
      &formats[FORMAT_E4M3], &formats[FORMAT_UE8M0], 1,   32,  SCALE_FLOOR, OCP },
    { "mxfp8-e5m2",  "e5m2 with a power of two for each 32 k",
      &formats[FORMAT_E5M2], &formats[FORMAT_UE8M0], 1,   32,  SCALE_FLOOR, OCP },
    { "mxfp8-ceil",  "mxfp8 without saturation",
      &formats[FORMAT_E4M3], &formats[FORMAT_UE8M0], 1,   32,  SCALE_CEIL,
      "Mishra et al. 2025, arXiv 2506.08027" },
    { "mxfp6-e3m2",  "e3m2 with a power of two for each 32 k",
      &formats[FORMAT_E3M2], &formats[FORMAT_UE8M0], 1,   32,  SCALE_FLOOR, OCP },
    { "mxfp6-e2m3",  "e2m3 with a power of two for each 32 k",
      &formats[FORMAT_E2M3], &formats[FORMAT_UE8M0], 1,   32,  SCALE_FLOOR, OCP },
    { "mxfp4",       "e2m1 with a power of two for each 32 k",
      &formats[FORMAT_E2M1], &formats[FORMAT_UE8M0], 1,   32,  SCALE_FLOOR, OCP },
    { "mxfp4-even",  "mxfp4, amax rounded first",
      &formats[FORMAT_E2M1], &formats[FORMAT_UE8M0], 1,   32,  SCALE_EVEN,
      "PyTorch torchao, ScaleCalculationMode.EVEN" },
    { "nvfp4",       "e2m1 with an e4m3 scale for each 16 k and one for the matrix",
      &formats[FORMAT_E2M1], &formats[FORMAT_UE4M3], 1,   16,  SCALE_TWO_LEVEL,
      "NVIDIA 2025, arXiv 2509.25149" },
    { "int8-rows",   "s8 with a scale for each row of A or column of B",
      &formats[FORMAT_S8],   &formats[FORMAT_F32],   1,   0,   SCALE_DIVIDE,
      "Dettmers et al. 2022, arXiv 2208.07339" },
    { 0 }
};
/* clang-format on */

const struct bitcut_quantizer *bitcut_quantizer_find(const char *name)
{
    return table_find(TABLE(quantizers), name);
}

size_t quantizer_lines(const struct bitcut_quantizer *q, size_t lines)
{
    return block_count(lines, q->lines);
}

size_t quantizer_blocks(const struct bitcut_quantizer *q, size_t k)
{
    return block_count(k, q->depth);
}

void bitcut_quantizer_blocks(size_t *line_blocks, size_t *k_blocks,
                             const struct bitcut_quantizer *q, size_t lines, size_t k)
{
    *line_blocks = quantizer_lines(q, lines);
    *k_blocks = quantizer_blocks(q, k);
}

/* A value of a format: x to nearest, at most the largest, and at least the smallest above
   0 if x is above 0. */
static double value_in(const struct bitcut_format *format, double x)
{
    const struct bitcut_rounding *const rule = &roundings[ROUND_RN_SAT];
    const uint64_t near = bitcut_format_convert(format, rule, &formats[FORMAT_F64],
                                                bits_of_double(x));
    const double found = format_to_double(format, near);
    return found == 0 && x > 0 ? format_to_double(format, 1) : found;
}

/* Between hostfp_enter() and hostfp_leave(): the quotient of FP32 values in FP32.  The
   quotient in binary64 rounds as the exact one. */
static double divided(double x, double y) { return (double)(float)(x / y); }

/* floor(log2 x) for x > 0. */
static int exponent_of(double x)
{
    int e;
    frexp(x, &e);
    return e - 1;
}

/* amax > 0 rounded to the significand of an element, to nearest even. */
static double rounded_amax(const struct bitcut_format *element, double amax)
{
    const int bits = element->fraction_bits - exponent_of(amax);
    return ldexp(nearbyint(ldexp(amax, bits)), -bits);
}

/* The scale of a block with this amax; t is the scale of the matrix. */
static double scale_of(const struct bitcut_quantizer *q, double amax, double t)
{
    const double largest = format_largest_value(q->element);
    const int top = exponent_of(largest);
    double power;
    if (amax == 0) return 1;
    switch (q->rule) {
    case SCALE_FLOOR: power = ldexp(1, exponent_of(amax) - top); break;
    case SCALE_EVEN:
        power = ldexp(1, exponent_of(rounded_amax(q->element, amax)) - top);
        break;
    case SCALE_CEIL:
        power = ldexp(1, exponent_of(amax) - top);
        if (amax > largest * power) power *= 2;
        break;
    case SCALE_TWO_LEVEL: return value_in(q->scale, divided(divided(amax, largest), t));
    default: return value_in(q->scale, divided(amax, largest));
    }
    return value_in(q->scale, power);
}

/* A block: lines [from, to) and k [at, end) of a matrix of rows of k elements. */
struct block {
    size_t from, to, at, end, k;
};

static double largest_in(const uint32_t *x, const struct block *b)
{
    double amax = 0;
    for (size_t i = b->from; i < b->to; i++)
        for (size_t p = b->at; p < b->end; p++)
            amax = fmax(amax, fabs(value_of_float(x[i * b->k + p])));
    return amax;
}

/* Sums over the elements of a matrix x. */
struct tally {
    double square, error; /* of x^2 and of (x - element x scales)^2                 */
    size_t values, bits;  /* elements of x other than 0, and the bits that they retain */
};

enum { BITS = 24, LEAST = -126 }; /* significand and least normal exponent of f32 */

/* The bits that a value other than 0 retains, as struct bitcut_quantization counts them.
 */
static int retained_bits(double value, double error)
{
    if (error == 0) return BITS;
    const int ulp = larger_int(exponent_of(fabs(value)), LEAST) - (BITS - 1);
    return larger_int(BITS - 1 - (exponent_of(fabs(error)) - ulp), 0);
}

/* Take an element of x that became `encoding` by that scale; it was `scaled` before it
   was rounded.  The error is exact in binary64: element times scale has at most 32 bits,
   and begins near the first bit of the value. */
static void tally_element(struct tally *sum, struct bitcut_quantization *kept,
                          const struct bitcut_format *format, double value, double scaled,
                          uint64_t encoding, double scale)
{
    const struct number element = format_decode(format, encoding);
    const double error = value - format_to_double(format, encoding) * scale;
    sum->square += value * value;
    sum->error += error * error;
    kept->saturated += fabs(scaled) > format_overflow(format);
    kept->subnormal += format_is_subnormal(format, element);
    if (value == 0) return;
    kept->zeros += element.kind == NUMBER_ZERO;
    kept->max_error = fmax(kept->max_error, fabs(error / value));
    sum->values++;
    sum->bits += (size_t)retained_bits(value, error);
}

/* The elements of a block with scales s and t. */
static void quantize_block(uint32_t *elements, struct tally *sum,
                           struct bitcut_quantization *kept,
                           const struct bitcut_quantizer *q, const uint32_t *x,
                           const struct block *b, double s, double t)
{
    const double both = fmax((double)(float)(s * t), 0x1p-149);
    for (size_t i = b->from; i < b->to; i++)
        for (size_t p = b->at; p < b->end; p++) {
            const double value = value_of_float(x[i * b->k + p]),
                         scaled = divided(value, both);
            const uint64_t e =
                bitcut_format_convert(q->element, &roundings[ROUND_RN_SAT],
                                      &formats[FORMAT_F64], bits_of_double(scaled));
            tally_element(sum, kept, q->element, value, scaled, e, s * t);
            if (elements)
                elements[i * b->k + p] =
                    bits_of_float((float)format_to_double(q->element, e));
        }
}

/* The scale of the matrix; 1 if the rule has none. */
static double matrix_scale_of(const struct bitcut_quantizer *q, const uint32_t *x,
                              const struct block *all)
{
    if (q->rule != SCALE_TWO_LEVEL) return 1;
    const double amax = largest_in(x, all),
                 t = divided(amax, format_largest_value(q->element) *
                                       format_largest_value(q->scale));
    return amax == 0 ? 1 : fmax(t, 0x1p-149);
}

static enum bitcut_status check_finite(const uint32_t *x, size_t lines, size_t k,
                                       struct fault *f)
{
    for (size_t i = 0; i < lines * k; i++)
        if (!isfinite(value_of_float(x[i])))
            return fault_set(f, BITCUT_BAD_ARGUMENT,
                             "element (%zu, %zu) is not finite: it cannot be quantized",
                             i / k, i % k);
    return BITCUT_OK;
}

static void finish(struct bitcut_quantization *kept, const struct tally *sum)
{
    kept->error = sum->square > 0 ? sqrt(sum->error / sum->square) : 0;
    kept->bits = -log2(kept->error);
    kept->retained = sum->values ? (double)sum->bits / (double)sum->values : (double)NAN;
}

enum bitcut_status quantize(uint32_t *elements, uint32_t *scales, uint32_t *matrix_scale,
                            struct quantized *found, const struct bitcut_quantizer *q,
                            const uint32_t *x, size_t lines, size_t k, struct fault *f)
{
    const enum bitcut_status status = check_finite(x, lines, k, f);
    if (status != BITCUT_OK) return status;
    const size_t across = quantizer_lines(q, lines), along = quantizer_blocks(q, k),
                 height = q->lines ? q->lines : lines, depth = q->depth ? q->depth : k;
    const struct block all = { 0, lines, 0, k, k };
    struct bitcut_quantization kept = { .size = sizeof kept,
                                        .elements = lines * k,
                                        .scale_min = (double)NAN,
                                        .scale_max = (double)NAN };
    struct tally sum = { 0 };
    struct hostfp saved;
    hostfp_enter(&saved);
    const double t = matrix_scale_of(q, x, &all);
    kept.matrix_scale = t;
    if (matrix_scale) *matrix_scale = bits_of_float((float)t);
    for (size_t i = 0; i < across; i++)
        for (size_t p = 0; p < along; p++) {
            const struct block b = { i * height, smaller((i + 1) * height, lines),
                                     p * depth, smaller((p + 1) * depth, k), k };
            const double s = scale_of(q, largest_in(x, &b), t);
            if (scales) scales[i * along + p] = bits_of_float((float)s);
            kept.scale_min = fmin(kept.scale_min, s);
            kept.scale_max = fmax(kept.scale_max, s);
            quantize_block(elements, &sum, &kept, q, x, &b, s, t);
        }
    finish(&kept, &sum);
    *found = (struct quantized){ .quantizer = q, .kept = kept };
    hostfp_leave(&saved);
    return BITCUT_OK;
}

/* --- fields ---------------------------------------------------------------------------
 */

#define KEPT(member, unit, what)                                                         \
    RECORD_FIELD(struct bitcut_quantization, member, #member, unit, what)
#define MAYBE(member, unit, what)                                                        \
    RECORD_MAYBE_MEMBER(struct bitcut_quantization, member, #member, #member, unit, what)

/* clang-format off */
const struct record_field quantizer_kept_fields[] = {
    KEPT(error,     "", "relative error in the Frobenius norm, ||x - x'|| / ||x||, with x' the "
                        "elements times their scales"),
    KEPT(bits,      "bits", "-log2 of error"),
    KEPT(zeros,     "", "elements that became zero and were not zero"),
    KEPT(saturated, "", "elements that were too large for the format"),
    KEPT(elements,  "", "elements of the matrix"),
    MAYBE(retained, "bits", "mean of the retained bits of elements other than zero, of 24: the "
                            "implicit bit is counted; null without such elements"),
    KEPT(max_error, "", "largest relative error of an element, |x - x'| / |x|"),
    KEPT(subnormal, "", "elements that became subnormal numbers of the format"),
    MAYBE(scale_min, "", "smallest scale of a block; null without blocks"),
    MAYBE(scale_max, "", "largest scale of a block; null without blocks"),
    KEPT(matrix_scale, "", "scale of the matrix; 1 if the quantizer has none"),
    { 0 }
};

const struct record_field quantizer_name_fields[] = {
    RECORD_INNER(struct quantized, quantizer, "quantizer", "", "the row of bitcut list quantizers"),
    { 0 }
};

const struct record_field quantizer_input_fields[] = {
    RECORD_INNER(struct quantized, input, "input", "", "where the values come from"),
    { 0 }
};
/* clang-format on */

enum bitcut_status bitcut_quantize(uint32_t *elements, uint32_t *scales,
                                   uint32_t *matrix_scale,
                                   struct bitcut_quantization *kept,
                                   const struct bitcut_quantizer *q, const uint32_t *x,
                                   size_t lines, size_t k, char why[BITCUT_TEXT_MAX])
{
    struct quantized found;
    struct fault f;
    enum bitcut_status status =
        kept ? struct_check("quantization", kept->size, sizeof *kept, &f) : BITCUT_OK;
    if (status == BITCUT_OK)
        status = quantize(elements, scales, matrix_scale, &found, q, x, lines, k, &f);
    if (status == BITCUT_OK && kept) *kept = found.kept;
    return fault_write(why, status, &f);
}
