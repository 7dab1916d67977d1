/* SPDX-License-Identifier: BSD-3-Clause */
/* SGEMM of any library with the Fortran interface of the BLAS, for `bitcut explain
   --probe` and for record.sh: D = A B of the matrices that the environment names.

       cc -O2 -o sgemm sgemm.c -ldl
       sgemm LIBRARY [NN | NT | TN | TT]

   LIBRARY is a shared library, as dlopen() takes it.  It reads A (m x k) from $BITCUT_A
   and B (k x n) from $BITCUT_B and writes D to $BITCUT_D: .npy files of float32, by rows,
   of $BITCUT_M, $BITCUT_N and $BITCUT_K.  The call is that of cblas_sgemm() with matrices
   by rows: the Fortran one computes the transposed product.  T: A, or B, is stored
   transposed. It uses nothing of the project, so it may stand beside another library's
   headers. */
#include <dlfcn.h>
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
    fprintf(stderr, "sgemm: %s: %s\n", what, why);
    exit(3);
}

static const char *environment(const char *name)
{
    const char *const text = getenv(name);
    if (!text || !*text) fail(name, "is not set");
    return text;
}

static int size_of(const char *name)
{
    const int size = atoi(environment(name));
    if (size < 1) fail(name, "is no size");
    return size;
}

static float *allocate(int rows, int cols)
{
    float *const at = calloc((size_t)rows * (size_t)cols, sizeof *at);
    if (!at) fail("a matrix", "out of memory");
    return at;
}

/* The elements of a matrix; the header is of version 1, and what it says is not read. */
static float *read_matrix(const char *name, int rows, int cols)
{
    const size_t count = (size_t)rows * (size_t)cols;
    unsigned char head[10];
    float *const at = allocate(rows, cols);
    FILE *const f = fopen(environment(name), "rb");
    if (!f || fread(head, 1, sizeof head, f) != sizeof head ||
        memcmp(head, "\x93NUMPY\1", 7) != 0)
        fail(name, "no .npy file of version 1");
    if (fseek(f, head[8] + 256 * head[9], SEEK_CUR) ||
        fread(at, sizeof *at, count, f) != count || fgetc(f) != EOF)
        fail(name, "not the float32 elements of its size");
    fclose(f);
    return at;
}

static void write_matrix(const char *name, const float *at, int rows, int cols)
{
    enum { TEXT = 118 }; /* with the 10 bytes before it a multiple of 64, as .npy asks */
    char text[TEXT + 1];
    const size_t count = (size_t)rows * (size_t)cols;
    const int length = snprintf(
        text, sizeof text,
        "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }", rows, cols);
    memset(text + length, ' ', (size_t)(TEXT - length));
    text[TEXT - 1] = '\n';
    FILE *const f = fopen(environment(name), "wb");
    if (!f || fwrite("\x93NUMPY\1\0\x76\0", 1, 10, f) != 10 ||
        fwrite(text, 1, TEXT, f) != TEXT || fwrite(at, sizeof *at, count, f) != count ||
        fclose(f))
        fail(name, "cannot be written");
}

/* As it is stored: rows x cols, or transposed. */
static float *store(float *at, int rows, int cols, char trans)
{
    if (trans == 'N') return at;
    float *const to = allocate(rows, cols);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++) to[j * rows + i] = at[i * cols + j];
    free(at);
    return to;
}

static sgemm_function *open_library(const char *name)
{
    sgemm_function *call;
    void *const library = dlopen(name, RTLD_NOW);
    if (!library) fail(name, dlerror());
    *(void **)&call = dlsym(library, "sgemm_");
    if (!call) fail(name, "has no sgemm_");
    return call;
}

int main(int count, char **word)
{
    const char *const trans = count > 2 ? word[2] : "NN";
    if (count < 2 || count > 3 || strlen(trans) != 2 || strspn(trans, "NT") != 2)
        fail("usage", "sgemm LIBRARY [NN | NT | TN | TT]");
    const int m = size_of("BITCUT_M"), n = size_of("BITCUT_N"), k = size_of("BITCUT_K");
    const float alpha = 1, beta = 0;
    float *const a = store(read_matrix("BITCUT_A", m, k), m, k, trans[0]);
    float *const b = store(read_matrix("BITCUT_B", k, n), k, n, trans[1]);
    float *const d = allocate(m, n);
    open_library(word[1])(&trans[1], &trans[0], &n, &m, &k, &alpha, b,
                          trans[1] == 'N' ? &n : &k, a, trans[0] == 'N' ? &k : &m, &beta,
                          d, &n);
    write_matrix("BITCUT_D", d, m, n);
    free(a);
    free(b);
    free(d);
    return 0;
}
