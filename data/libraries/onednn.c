/* SPDX-License-Identifier: BSD-3-Clause */
/* A matrix product of oneDNN 2.x, for `bitcut explain --probe` and for record.sh: D = A B of
   the matrices that the environment names.

       cc -O2 -o onednn onednn.c -ldnnl
       onednn f32 | bf16 | f16 [f32 | bf16 | f16]

   The formats are those of the operands in memory and of the result, f32 unless named.  It
   reads A (m x k) from $BITCUT_A and B (k x n) from $BITCUT_B and writes D to $BITCUT_D:
   .npy files of float32, by rows, of $BITCUT_M, $BITCUT_N and $BITCUT_K; elements of A and B
   are converted by oneDNN's own reorder.  What oneDNN reads of the environment applies:
   DNNL_DEFAULT_FPMATH_MODE, DNNL_MAX_CPU_ISA, DNNL_VERBOSE, OMP_NUM_THREADS. */
#include <oneapi/dnnl/dnnl.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "onednn: %s: %s\n", what, why);
    exit(3);
}

static void check(dnnl_status_t status, const char *what)
{
    if (status != dnnl_success) fail(what, "failed");
}

static const char *environment(const char *name)
{
    const char *const text = getenv(name);
    if (!text || !*text) fail(name, "is not set");
    return text;
}

static dnnl_dim_t size_of(const char *name)
{
    const int size = atoi(environment(name));
    if (size < 1) fail(name, "is no size");
    return size;
}

static dnnl_data_type_t format_of(const char *name)
{
    if (!strcmp(name, "bf16")) return dnnl_bf16;
    if (!strcmp(name, "f16")) return dnnl_f16;
    if (strcmp(name, "f32") != 0) fail(name, "no format: f32, bf16 or f16");
    return dnnl_f32;
}

/* --- matrices --------------------------------------------------------------------- */

static dnnl_engine_t engine;
static dnnl_stream_t stream;

static dnnl_memory_t memory(dnnl_dim_t rows, dnnl_dim_t cols, dnnl_data_type_t format)
{
    const dnnl_dims_t size = { rows, cols };
    dnnl_memory_desc_t desc;
    dnnl_memory_t to;
    check(dnnl_memory_desc_init_by_tag(&desc, 2, size, format, dnnl_ab), "a matrix");
    check(dnnl_memory_create(&to, &desc, engine, DNNL_MEMORY_ALLOCATE), "a matrix");
    return to;
}

static const dnnl_memory_desc_t *desc_of(const_dnnl_memory_t x)
{
    const dnnl_memory_desc_t *desc;
    check(dnnl_memory_get_memory_desc(x, &desc), "a matrix");
    return desc;
}

static float *elements(const_dnnl_memory_t x)
{
    void *at;
    check(dnnl_memory_get_data_handle(x, &at), "a matrix");
    return at;
}

static void run(dnnl_primitive_desc_t desc, const dnnl_exec_arg_t *args, int count)
{
    dnnl_primitive_t primitive;
    check(dnnl_primitive_create(&primitive, desc), "a primitive");
    check(dnnl_primitive_execute(primitive, stream, count, args), "a primitive");
    check(dnnl_stream_wait(stream), "a primitive");
    dnnl_primitive_destroy(primitive);
    dnnl_primitive_desc_destroy(desc);
}

/* The same matrix in another format. */
static dnnl_memory_t converted(dnnl_memory_t from, dnnl_data_type_t format)
{
    const dnnl_memory_desc_t *const desc = desc_of(from);
    dnnl_primitive_desc_t reorder;
    if (desc->data_type == format) return from;
    dnnl_memory_t to = memory(desc->dims[0], desc->dims[1], format);
    check(dnnl_reorder_primitive_desc_create(&reorder, desc, engine, desc_of(to), engine,
                                             NULL),
          "a conversion");
    const dnnl_exec_arg_t args[] = { { DNNL_ARG_FROM, from }, { DNNL_ARG_TO, to } };
    run(reorder, args, 2);
    dnnl_memory_destroy(from);
    return to;
}

/* The elements of a file; the header is of version 1, and what it says is not read. */
static dnnl_memory_t read_matrix(const char *name, dnnl_dim_t rows, dnnl_dim_t cols)
{
    const size_t count = (size_t)rows * (size_t)cols;
    unsigned char head[10];
    dnnl_memory_t to = memory(rows, cols, dnnl_f32);
    FILE *const f = fopen(environment(name), "rb");
    if (!f || fread(head, 1, sizeof head, f) != sizeof head ||
        memcmp(head, "\x93NUMPY\1", 7) != 0)
        fail(name, "no .npy file of version 1");
    if (fseek(f, head[8] + 256 * head[9], SEEK_CUR) ||
        fread(elements(to), sizeof(float), count, f) != count || fgetc(f) != EOF)
        fail(name, "not the float32 elements of its size");
    fclose(f);
    return to;
}

static void write_matrix(const char *name, dnnl_memory_t from)
{
    enum { TEXT = 118 }; /* with the 10 bytes before it a multiple of 64, as .npy asks */
    char text[TEXT + 1];
    const int rows = (int)desc_of(from)->dims[0], cols = (int)desc_of(from)->dims[1];
    const size_t count = (size_t)rows * (size_t)cols;
    const int length = snprintf(
        text, sizeof text,
        "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }", rows, cols);
    memset(text + length, ' ', (size_t)(TEXT - length));
    text[TEXT - 1] = '\n';
    FILE *const f = fopen(environment(name), "wb");
    if (!f || fwrite("\x93NUMPY\1\0\x76\0", 1, 10, f) != 10 ||
        fwrite(text, 1, TEXT, f) != TEXT ||
        fwrite(elements(from), sizeof(float), count, f) != count || fclose(f))
        fail(name, "cannot be written");
}

static dnnl_memory_t product(dnnl_memory_t a, dnnl_memory_t b, dnnl_data_type_t format)
{
    dnnl_memory_t d = memory(desc_of(a)->dims[0], desc_of(b)->dims[1], format);
    dnnl_matmul_desc_t matmul;
    dnnl_primitive_desc_t desc;
    check(dnnl_matmul_desc_init(&matmul, desc_of(a), desc_of(b), NULL, desc_of(d)),
          "the product");
    check(dnnl_primitive_desc_create(&desc, &matmul, NULL, engine, NULL), "the product");
    const dnnl_exec_arg_t args[] = { { DNNL_ARG_SRC, a },
                                     { DNNL_ARG_WEIGHTS, b },
                                     { DNNL_ARG_DST, d } };
    run(desc, args, 3);
    return d;
}

int main(int count, char **word)
{
    if (count < 2 || count > 3) fail("usage", "onednn FORMAT [FORMAT]");
    const dnnl_dim_t m = size_of("BITCUT_M"), n = size_of("BITCUT_N"),
                     k = size_of("BITCUT_K");
    const dnnl_data_type_t operand = format_of(word[1]),
                           result = format_of(count > 2 ? word[2] : "f32");
    check(dnnl_engine_create(&engine, dnnl_cpu, 0), "the processor");
    check(dnnl_stream_create(&stream, engine, dnnl_stream_default_flags), "a stream");
    dnnl_memory_t a = converted(read_matrix("BITCUT_A", m, k), operand),
                  b = converted(read_matrix("BITCUT_B", k, n), operand),
                  d = converted(product(a, b, result), dnnl_f32);
    write_matrix("BITCUT_D", d);
    dnnl_memory_destroy(a);
    dnnl_memory_destroy(b);
    dnnl_memory_destroy(d);
    dnnl_stream_destroy(stream);
    dnnl_engine_destroy(engine);
    return 0;
}
