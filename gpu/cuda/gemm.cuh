/* What the files of GEMM kernels share: a GEMM whose operands are words. */
#ifndef BITCUT_GPU_CUDA_GEMM_CUH
#define BITCUT_GPU_CUDA_GEMM_CUH

#include "gpu/cuda/cuda.cuh"

/* The tables of kernels, one a file. */
extern const struct gpu_kernel batch_kernels[], gemm_sm80[], gemm_sm90[], gemm_wmma[];

/* Words of one operand in the device's memory, in the layout of gpu/module.h. */
struct words {
    const void *at;
    size_t lines, row_bytes; /* of a line */
    size_t stride;           /* bytes from one matrix to the next, 0: all have the same */
};

/* The largest finite magnitudes of the lines of both operands; NULL: they are not
   equilibrated. */
struct lines {
    const uint32_t *a, *b;
    size_t stride_a, stride_b; /* from one matrix to the next */
};

/* Where C or D is. */
struct elements {
    float *at; /* NULL: it is not read */
    size_t ld, stride;
    bool turned; /* column-major */
};

/* D = alpha A B + beta C of words, for a batch. */
struct gpu_product {
    size_t count, m, n, k;
    struct words a, b;
    struct lines lines;
    int scale; /* of the low words */
    float alpha, beta;
    struct elements c, d;
    int slices;
    void *workspace;
    rt_stream stream;
};

constexpr size_t divide_up(size_t a, size_t b) { return a / b + (a % b != 0); }

constexpr size_t word_bytes(int format) { return format == FORMAT_TF32 ? 4 : 2; }

/* Bytes of a line of one word. */
constexpr size_t words_row_bytes(int format, size_t k)
{
    return divide_up(k, GPU_WORDS_RUN) * GPU_WORDS_RUN * word_bytes(format);
}

/* Which of the formats of words, FORMAT_..., a row is: the rows are the program's. */
inline int format_of(const struct bitcut_format *row)
{
    if (row->exponent_bits == 5) return FORMAT_F16;
    return row->fraction_bits == 7 ? FORMAT_BF16 : FORMAT_TF32;
}

/* An operand as the split pass sees it: element p of line i is at[i ld + p], or, if it
   lies across, at[p ld + i]. */
struct operand {
    const struct bitcut_matrix *matrix;
    const struct bitcut_split *split;
    bool equilibrate, across;
    size_t lines, k;
};

inline struct operand operand_of(const struct gpu_work *w, enum bitcut_operand which)
{
    const struct bitcut_gemm *g = &w->gemm;
    return which == BITCUT_A ? operand{ &g->a,
                                        &w->plan.split_a,
                                        w->plan.equilibrate,
                                        g->a.layout == BITCUT_COLUMN_MAJOR,
                                        g->m,
                                        g->k }
                             : operand{ &g->b,
                                        &w->plan.split_b,
                                        w->plan.equilibrate,
                                        g->b.layout == BITCUT_ROW_MAJOR,
                                        g->n,
                                        g->k };
}

/* Bytes of an operand's words, without and with what follows them. */
inline size_t words_alone(const struct operand &x)
{
    return x.split->words * x.lines *
           words_row_bytes(format_of(x.split->word[0].format), x.k);
}
inline size_t words_bytes(const struct operand &x)
{
    return words_alone(x) + (x.equilibrate ? x.lines * sizeof(uint32_t) : 0);
}

/* From the words of one matrix to those of the next where the split pass puts them. */
inline size_t words_stride(const struct operand &x)
{
    return divide_up(words_bytes(x), GPU_ALIGNMENT) * GPU_ALIGNMENT;
}

/* Where the largest magnitudes of equilibrated lines are; NULL: they are not. */
inline const uint32_t *words_largest(const void *words, const struct operand &x)
{
    return x.equilibrate ? (const uint32_t *)((const char *)words + words_alone(x))
                         : NULL;
}

/* --- equilibration ---------------------------------------------------------------- */

/* t of lib/equilibrate.h for the formats of words that kernels have. */
constexpr int EQUILIBRATE_TARGET = 14;

/* The exponent of a line whose largest finite magnitude is this, an FP32 encoding. */
inline __device__ int line_exponent(uint32_t largest)
{
    const int field = (int)(largest >> 23);
    const int exponent = field ? field - 127 : -118 - __clz(largest);
    return largest ? EQUILIBRATE_TARGET - exponent : 0;
}

/* RN(2^exponent x) in two FP32 products, as if rounded once.  Upward, by 2^254 at most, a
   product is exact or infinite.  Downward it is inexact only below 2^-126, and if that is
   the first one, the second makes a zero of it, by 2^-126, as it should be.  Below -252
   an exponent is taken for that: no sum of equilibrated lines is large enough to tell. */
inline __device__ float scale_once(float x, int exponent)
{
    const int second = exponent < 0 ? max(exponent, -126) : max(exponent - 127, 0);
    const int first = max(exponent - second, -126);
    x = __fmul_rn(x, __int_as_float((first + 127) << 23));
    return __fmul_rn(x, __int_as_float((second + 127) << 23));
}

/* The lines of one matrix. */
inline __device__ struct lines lines_of(const struct lines &x, size_t matrix)
{
    return x.a ? lines{ x.a + matrix * x.stride_a, x.b + matrix * x.stride_b, 0, 0 } : x;
}

/* An output in the scale of its row and column. */
inline __device__ float lines_restore(float v, const struct lines &x, size_t i, size_t j)
{
    return x.a ? scale_once(v, -line_exponent(x.a[i]) - line_exponent(x.b[j])) : v;
}

/* --- split-K ---------------------------------------------------------------------- */

enum { SLICES_MOST = 65535 };

/* k in steps of an instruction, which have 32 bytes of a line. */
constexpr int STEP_BYTES = 32;

/* How k is cut, in bytes of a line: slices of slice_bytes, the last one of what is left.
   As many as are not empty, but one at least. */
struct k_cut {
    size_t bytes, slice_bytes;
    int slices;
};

inline k_cut cut_of(const struct gpu_product *p, int format)
{
    const size_t steps = divide_up(p->k * word_bytes(format), STEP_BYTES);
    const size_t each = divide_up(steps, p->slices);
    return { steps * STEP_BYTES, each * STEP_BYTES,
             steps ? (int)divide_up(steps, each) : 1 };
}

/* Whether a kernel leaves sums in the workspace, [matrix][slice][m][n], of which D is
   made afterwards: of several slices, or where C or D is column-major. */
inline bool makes_sums(const struct gpu_product *p, const k_cut &cut)
{
    return cut.slices > 1 || p->c.turned || p->d.turned;
}

template <int FORMAT> size_t sums_bytes(const struct gpu_product *p)
{
    const k_cut cut = cut_of(p, FORMAT);
    return makes_sums(p, cut) ? p->count * cut.slices * p->m * p->n * sizeof(float) : 0;
}

/* Start what makes D of the sums. */
rt_error sums_add(const struct gpu_product *product, int slices);

/* alpha `total` + beta C as lib/recipe.h says, the element of C being c[at].  c may be
   NULL. */
inline __device__ float output_of(float alpha, float total, float beta, const float *c,
                                  size_t at)
{
    const float v = __fmul_rn(alpha, total);
    return c ? __fmaf_rn(beta, c[at], v) : v;
}

/* --- the module's functions ------------------------------------------------------- */

/* Start the split pass over `count` matrices on a stream. */
rt_error split_launch(void *words, const struct operand &operand, size_t count,
                      rt_stream stream);

/* What struct gpu_module declares, in gpu/cuda/gemm.cu. */
size_t gemm_words(const struct gpu_work *work, enum bitcut_operand which);
int gemm_split(void *words, const struct gpu_work *work, enum bitcut_operand which,
               int device, char *fault);
int gemm_run(const struct gpu_work *work, const struct gpu_memory memory[4], int device,
             char *fault);
int gemm_prepare(void *words, const struct gpu_work *work, enum bitcut_operand which,
                 int device, void *stream, char *fault);
size_t gemm_workspace(const struct gpu_work *work);
int gemm_start(const struct gpu_work *work, void *workspace, int device, void *stream,
               char *fault);
int gemm_reaches(const void *at, int device, char *fault);

/* gemm_start() on the current device. */
rt_error work_start(const struct gpu_work *work, void *workspace, rt_stream stream);

#endif
