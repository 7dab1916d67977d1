/* SPDX-License-Identifier: BSD-3-Clause */
/* Results of a library's SGEMM for many shapes, as digests: the files of the folder shapes,
   which tests/predict.sh compares with `bitcut predict`.

       cc -O2 -o shapes shapes.c -ldl -lm
       shapes LIBRARY FIRST LAST [THREADS [update]]
       shapes LIBRARY version

   LIBRARY is a shared library, as dlopen() takes it.  Shape i of FIRST to LAST is a function
   of i alone: m and n are 1 to 2048 and k is 1 to 8192, log-uniform, drawn again while m n k
   is above 2^24; A and B are stored as the layout says (T: transposed), row-major.  Elements
   are multiples of 2^-23 in [-1, 1).  The call is that of cblas_sgemm() with matrices by rows.
   It prints a line for each shape: i, the layout, m, n, k, and the digest of D, 64 bits of
   FNV-1a over its encodings by rows, from the lowest byte of each.  THREADS is set where the
   library has a call for that.  With `update` D is alpha A B + beta C; alpha, beta and then C
   are drawn after B. */
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void sgemm_function(const char *trans_a, const char *trans_b, const int *m,
                            const int *n, const int *k, const float *alpha,
                            const float *a, const int *lda, const float *b,
                            const int *ldb, const float *beta, float *c, const int *ldc);

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "shapes: %s: %s\n", what, why);
    exit(3);
}

/* splitmix64 (Steele, Lea and Flood 2014). */
static uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static int draw_size(uint64_t *state, double most)
{
    return (int)exp(log(most + 1) * ((double)(draw(state) >> 11) * 0x1p-53));
}

/* Element after element as it is stored. */
static float *draw_matrix(uint64_t *state, int rows, int cols)
{
    const size_t count = (size_t)rows * (size_t)cols;
    float *const at = malloc(count * sizeof *at);
    if (!at) fail("a matrix", "out of memory");
    for (size_t i = 0; i < count; i++)
        at[i] = (float)((int64_t)(draw(state) >> 40) - (1 << 23)) * 0x1p-23f;
    return at;
}

static uint64_t digest(const float *d, size_t count)
{
    uint64_t sum = 0xcbf29ce484222325u;
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, d + i, sizeof bits);
        for (int byte = 0; byte < 4; byte++)
            sum = (sum ^ (bits >> 8 * byte & 255)) * 0x100000001b3u;
    }
    return sum;
}

/* What the library says of its version. */
static void print_version(void *library)
{
    static const char *const names[] = { "openblas_get_config", "bli_info_get_version_str" };
    for (int i = 0; i < 2; i++) {
        char *(*version)(void);
        *(void **)&version = dlsym(library, names[i]);
        if (version) puts(version());
    }
}

static void run(sgemm_function *call, int shape, int update)
{
    static const float alphas[] = { 1, -1, 0.7f, 2.5f }, betas[] = { 1, -1, 0.3f, 0.5f };
    static const char *const layouts[] = { "NN", "NT", "TN", "TT" };
    uint64_t state = (uint64_t)shape;
    const char *const trans = layouts[draw(&state) >> 62];
    float alpha = 1, beta = 0;
    int m, n, k;
    do {
        m = draw_size(&state, 2048);
        n = draw_size(&state, 2048);
        k = draw_size(&state, 8192);
    } while ((double)m * n * k > 0x1p24);
    float *const a = draw_matrix(&state, m, k), *const b = draw_matrix(&state, k, n);
    if (update) {
        alpha = alphas[draw(&state) >> 62];
        beta = betas[draw(&state) >> 62];
    }
    float *const d = draw_matrix(&state, m, n);
    call(&trans[1], &trans[0], &n, &m, &k, &alpha, b, trans[1] == 'N' ? &n : &k, a,
         trans[0] == 'N' ? &k : &m, &beta, d, &n);
    printf("%d %s %d %d %d %016llx\n", shape, trans, m, n, k,
           (unsigned long long)digest(d, (size_t)m * (size_t)n));
    free(a);
    free(b);
    free(d);
}

int main(int count, char **word)
{
    sgemm_function *call;
    void (*threads)(int);
    const int wants_version = count == 3 && !strcmp(word[2], "version");
    if (!wants_version && (count < 4 || count > 6))
        fail("usage", "shapes LIBRARY FIRST LAST [THREADS [update]]");
    void *const library = dlopen(word[1], RTLD_NOW);
    if (!library) fail(word[1], dlerror());
    if (wants_version) {
        print_version(library);
        return 0;
    }
    *(void **)&call = dlsym(library, "sgemm_");
    *(void **)&threads = dlsym(library, "openblas_set_num_threads");
    if (!call) fail(word[1], "has no sgemm_");
    if (count > 4 && threads) threads(atoi(word[4]));
    for (int i = atoi(word[2]); i <= atoi(word[3]); i++) run(call, i, count > 5);
    return 0;
}
