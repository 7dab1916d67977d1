/* SPDX-License-Identifier: BSD-3-Clause */
/* In which order the algorithm that cuBLASLt chooses adds; row-major D = A B.

       nvcc -O2 -arch=sm_90 -o plan_trees plan_trees.cu -lcublas -lcublasLt
       plan_trees < shapes

   It multiplies a matrix of ones and one that has M at place i of k, -M at j and small
   numbers elsewhere, for pairs (i, j).  The number of small numbers in the output tells how
   many are added before M and -M meet.  A line has the shape, the fields, `all` if the pairs
   are all with i < j, or `some` if they are (0, j), (1, j), (j - 1, j) and (j, k - 1) for j
   from 1, and these counts, with `x n` for n repetitions of a step to the count before. */
#include "plans.cuh"

struct pair {
    int i, j;
};

/* rows x columns elements as in fill(): row r has `big` at pairs[r].i, -big at pairs[r].j,
   and `small` elsewhere; all `one` without pairs */
static __global__ void mask(void *to, int bytes, size_t rows, size_t columns, int turned,
                            const struct pair *pairs, uint32_t big, uint32_t small)
{
    const size_t count = rows * columns, step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
        const size_t row = i / columns, column = i % columns,
                     at = turned ? column * rows + row : i;
        uint32_t x = small;
        if (pairs && (int)column == pairs[row].i) x = big;
        if (pairs && (int)column == pairs[row].j) x = big | 1u << (8 * bytes - 1);
        if (bytes == 2) ((uint16_t *)to)[at] = (uint16_t)x;
        if (bytes == 4) ((uint32_t *)to)[at] = x;
    }
}

enum { ALL_PAIRS = 256 };

static std::vector<struct pair> pairs_of(int k)
{
    std::vector<struct pair> p;
    if (k <= ALL_PAIRS) {
        for (int i = 0; i < k; i++)
            for (int j = i + 1; j < k; j++) p.push_back({ i, j });
        return p;
    }
    for (int j = 1; j < k; j++) {
        p.push_back({ 0, j });
        p.push_back({ j == 1 ? 0 : 1, j });
        p.push_back({ j - 1, j });
        p.push_back({ j == k - 1 ? 0 : j, k - 1 });
    }
    return p;
}

/* One, a large and a small number, for which large + k small = large */
static void numbers_of(const struct format *f, uint32_t *one, uint32_t *big, uint32_t *small)
{
    *one = f->type == CUDA_R_16F ? 0x3c00 : f->type == CUDA_R_16BF ? 0x3f80 : 0x3f800000;
    *big = f->type == CUDA_R_16F ? 0x7800 : f->type == CUDA_R_16BF ? 0x5f80 : 0x5f800000;
    *small = f->type == CUDA_R_16F ? 1 : *one;
}

static double value_of(const struct format *f, uint32_t x)
{
    if (f->type == CUDA_R_32F || f->type == CUDA_R_16BF) {
        const uint32_t wide = f->bytes == 2 ? x << 16 : x;
        float y;
        memcpy(&y, &wide, sizeof y);
        return y;
    }
    const int exponent = (int)(x >> 10 & 31);
    const double fraction = (double)(x & 1023) + (exponent ? 1024 : 0);
    return (x >> 15 ? -1 : 1) * fraction * (double)(1 << (exponent ? exponent - 1 : 0)) / 16777216;
}

static void print_counts(const std::vector<int> &counts)
{
    for (size_t i = 0; i < counts.size();) {
        const int step = i ? counts[i] - counts[i - 1] : 0;
        size_t n = 1;
        while (i && i + n < counts.size() && counts[i + n] - counts[i + n - 1] == step) n++;
        if (n > 2) printf(" %dx%zu", step, n);
        else n = 1, printf(" %d", counts[i]);
        i += n;
    }
}

static void tree_of(const struct device *x, const struct shape *s, const char *line)
{
    const struct type *const t = s->type;
    const std::vector<struct pair> pairs = pairs_of(s->k);
    const int columns = s->n >= s->m, wide = columns ? s->n : s->m;
    uint32_t one, big, small;
    struct call c = describe(s, x->bias);
    cublasLtMatmulAlgo_t algorithm;
    struct pair *on_device;
    std::vector<int> counts;
    const size_t out = t->out.bytes;
    std::vector<char> d(wide * out);
    numbers_of(&t->in, &one, &big, &small);
    if (!choose(&algorithm, x->light, &c, x->limits)) return;
    MUST(cudaMalloc(&on_device, wide * sizeof *on_device));
    mask<<<256, 256>>>(columns ? x->a : x->b, t->in.bytes, columns ? s->m : s->n, s->k, 0, NULL,
                       0, one);
    for (size_t first = 0; first < pairs.size(); first += wide) {
        std::vector<struct pair> now(wide, { 0, 1 });
        for (int i = 0; i < wide && first + i < pairs.size(); i++) now[i] = pairs[first + i];
        MUST(cudaMemcpy(on_device, now.data(), wide * sizeof now[0], cudaMemcpyHostToDevice));
        mask<<<256, 256>>>(columns ? x->b : x->a, t->in.bytes, wide, s->k,
                           columns ? !s->tb : s->ta, on_device, big, small);
        MUST(cublasLtMatmul(x->light, c.how, scalar(t, 1), x->b, c.b, x->a, c.a, scalar(t, 0),
                            x->d, c.d, x->d, c.d, &algorithm, x->workspace, WORKSPACE, 0));
        /* the first row of D, or the first column */
        MUST(cudaMemcpy2D(d.data(), out, x->d, columns ? out : out * s->n, out, wide,
                          cudaMemcpyDeviceToHost));
        for (int i = 0; i < wide && first + i < pairs.size(); i++) {
            uint32_t word = 0;
            memcpy(&word, &d[i * out], out);
            counts.push_back((int)(value_of(&t->out, word) *
                                   (t->in.type == CUDA_R_16F ? 16777216 : 1)));
        }
    }
    const fields f = fields_of(&algorithm);
    printf("%s\t", line);
    for (int i = 0; i < FIELDS; i++) printf("%s%u", i ? "," : "", f[i]);
    printf("\t%s", s->k <= ALL_PAIRS ? "all" : "some");
    print_counts(counts);
    putchar('\n');
    fflush(stdout);
    MUST(cudaFree(on_device));
    forget(&c);
}

int main(void)
{
    struct device x;
    struct shape s;
    char line[256];
    open_device(&x);
    header();
    while (next_shape(&s, line)) tree_of(&x, &s, line);
    return 0;
}

