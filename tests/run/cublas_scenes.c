/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs that call cuBLAS, selected by the name on the command line: calls left to the
   library, captured graphs, workspaces, streams, threads; and products to compare. */
#define _POSIX_C_SOURCE 200809L

#include "lib/bitcut.h"
#include "tests/run/cublas_call.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { SIDE = 24, ELEMENTS = SIDE * SIDE, POINTERS = 64 };

static struct model_stream stream;
static struct stub_handle handle = { .stream = &stream };
static float *a, *b, *c, *twice;
static const float one = 1, half = 0.5f;
static int wrong;

#define CHECK(x)                                                                         \
    if (!(x)) printf("line %d: %s\n", __LINE__, #x), wrong = 1

static float value(int i)
{
    return (float)((uint32_t)i * 2654435761u >> 8) / 12345677 - 0.7f;
}

static void begin(void)
{
    float x[ELEMENTS];
    stream = stream_make(1 << 20);
    a = stream_take(&stream, sizeof x);
    b = stream_take(&stream, sizeof x);
    c = stream_take(&stream, 2 * sizeof x);
    twice = stream_take(&stream, POINTERS * sizeof(void *));
    for (int i = 0; i < ELEMENTS; i++) x[i] = value(i);
    stream_put(&stream, a, x, sizeof x);
    for (int i = 0; i < ELEMENTS; i++) x[i] = value(3 * i + 1);
    stream_put(&stream, b, x, sizeof x);
    stream_put(&stream, c, x, sizeof x);
}

static struct call square(void)
{
    return (struct call){ .handle = &handle,
                          .m = SIDE,
                          .n = SIDE,
                          .k = SIDE,
                          .lda = SIDE,
                          .ldb = SIDE,
                          .ldc = SIDE,
                          .ldd = SIDE,
                          .sc = ELEMENTS,
                          .sd = ELEMENTS,
                          .count = 1,
                          .alpha = &one,
                          .beta = &half,
                          .a = a,
                          .b = b,
                          .c = c,
                          .d = c,
                          .compute = 68 };
}

/* The library's own routine: the one behind what is preloaded. */
static void call_library(const char *name, const struct call *x)
{
    const long before = stub_calls(name), starts = stream.starts;
    CHECK(call_gemm(name, x) == handle.status);
    CHECK(stub_calls(name) == before + 1);
    CHECK(stream.starts == starts);
}

static void call_device(const char *name, const struct call *x)
{
    const long before = stub_calls(NULL), starts = stream.starts;
    CHECK(call_gemm(name, x) == 0);
    CHECK(stub_calls(NULL) == before);
    CHECK(stream.starts > starts);
}

/* --- what is left ------------------------------------------------------------------- */

/* With each reason but those of other scenes, so many calls. */
static void left(void)
{
    static const int modes[] = { 1, 2, 3, 4, 16 | 3 };
    static const struct {
        int which;
        int64_t value;
    } others[] = { { 7, 2 },   { 7, 32 },  { 7, 36 }, { 17, 64 }, { 21, 64 },
                   { 36, 64 }, { 38, 64 }, { 5, 1 },  { 6, 0 } };
    struct call x = square();
    handle.pointer_mode = 1;
    for (const char *const *name = gemm_names; *name; name++) call_library(*name, &x);
    handle.pointer_mode = 0;
    for (int i = 0; i < 5; i++) {
        handle.math_mode = modes[i];
        call_library("cublasSgemm_v2", &x);
        call_library("cublasGemmStridedBatchedEx_64", &x);
    }
    handle.math_mode = 16 | 8;
    call_device("cublasSgemm_v2", &x);
    handle.math_mode = 0;
    x.compute = 77;
    call_library("cublasGemmEx", &x);
    call_library("cublasLtMatmul", &x);
    x.compute = 0;
    call_device("cublasGemmEx", &x);
    x.compute = 68, x.type = 2;
    call_library("cublasGemmEx_64", &x);
    call_library("cublasLtMatmul", &x);
    x.type = 0, x.scale = 1;
    call_library("cublasLtMatmul", &x);
    x.scale = 0;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        x.other.which = others[i].which, x.other.value = others[i].value;
        call_library("cublasLtMatmul", &x);
    }
    x.other.which = 0, x.rows_a = 2;
    call_library("cublasLtMatmul", &x);
}

/* The arguments that arrive, and the status that comes back. */
static void passed(void)
{
    struct call x = square();
    int count;
    x.ta = 1, x.tb = 2, x.m = 20, x.n = 21, x.k = 22, x.sa = 5, x.sb = 6, x.count = 1;
    x.type = 2, handle.status = 13;
    call_library("cublasGemmStridedBatchedEx", &x);
    const int64_t wanted[] = { 1,
                               2,
                               20,
                               21,
                               22,
                               (intptr_t)x.alpha,
                               (intptr_t)x.a,
                               2,
                               x.lda,
                               5,
                               (intptr_t)x.b,
                               2,
                               x.ldb,
                               6,
                               (intptr_t)x.beta,
                               (intptr_t)x.c,
                               2,
                               x.ldc,
                               x.sc,
                               1,
                               68,
                               -1 };
    const int64_t *const v = stub_arguments(&count);
    CHECK(count == 22 && !memcmp(v, wanted, sizeof wanted));
}

/* Routines that are never taken, by what the loader finds for them: all of their
   arguments arrive, whatever their types, in those with integers of 64 bits. */
static void counted(void)
{
    typedef intptr_t word;
    typedef int any(void *, word, word, word, word, word, word, word, word, word, word,
                    word, word, word, word, word, word, word, word, word);
    static const struct {
        const char *name;
        int arguments;
    } routines[] = {
#define INDEX(type, i) i
#define ROW(parameters, name)                                                            \
    { #name, sizeof(int[]){ OTHER_##parameters(INDEX) } / sizeof(int) },
        OTHER_ROUTINES(ROW)
#undef ROW
#undef INDEX
    };
    handle.status = 14;
    for (size_t i = 0; i < sizeof routines / sizeof routines[0]; i++)
        for (int large = 0; large < 1 + (sizeof(word) == 8); large++) {
            char name[64];
            any *f;
            int count;
            snprintf(name, sizeof name, "%s%s", routines[i].name, large ? "_64" : "");
            void *const symbol = dlsym(RTLD_DEFAULT, name);
            memcpy(&f, &symbol, sizeof f);
            CHECK(f(&handle, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17,
                    18, 19) == 14);
            const int64_t *const v = stub_arguments(&count);
            CHECK(count == routines[i].arguments && stub_calls(name) == 1);
            for (int at = 0; at < count; at++) CHECK(v[at] == at + 1);
        }
}

/* --- workspaces and graphs ---------------------------------------------------------- */

typedef int set_workspace(void *, void *, size_t);
typedef int set_stream(void *, void *);

static void *routine(const char *name) { return dlsym(RTLD_DEFAULT, name); }

static void give(void *at, size_t bytes)
{
    set_workspace *f;
    void *const symbol = routine("cublasSetWorkspace_v2");
    memcpy(&f, &symbol, sizeof f);
    CHECK(f(&handle, at, bytes) == 0);
    CHECK(stub_workspace() == at);
}

static void change_stream(struct model_stream *to)
{
    set_stream *f;
    void *const symbol = routine("cublasSetStream_v2");
    memcpy(&f, &symbol, sizeof f);
    CHECK(f(&handle, to) == 0 && handle.stream == to);
}

/* The program's, if it is large enough; else memory for this call. */
static void workspaces(void)
{
    struct call x = square();
    void *const room = stream_take(&stream, 1 << 16);
    x.beta = &one;
    give(room, 1 << 16);
    call_device("cublasSgemm_v2", &x);
    CHECK(stream.reserved == 0);
    x.workspace = room, x.workspace_bytes = 1 << 16;
    change_stream(&stream); /* takes it from the handle, but not from the call */
    call_device("cublasLtMatmul", &x);
    CHECK(stream.reserved == 0 && stream.released == 0);
    call_device("cublasSgemm_v2", &x);
    CHECK(stream.reserved == 1 && stream.released == 1);
    give(room, 64);
    x.k = 16;
    call_device("cublasSgemm_v2", &x);
    CHECK(stream.reserved == 2 && stream.released == 2);
    x = square();
    x.count = 2;
    call_device("cublasSgemmStridedBatched", &x);
    CHECK(stream.reserved == 3 && stream.released == 3);
    stream.full = true;
    x.count = 200, x.sc = 1, x.m = x.n = 1;
    x.lda = x.ldb = x.k = 24;
    call_library("cublasSgemmStridedBatched", &x);
    stream.full = false;
    CHECK(stream.given == 0);
}

/* The calls of a graph on one stream share memory, which grows.  Another stream in the same
   graph and another graph have their own, and none needs an earlier call. */
static void graphs(void)
{
    struct call x = square();
    stream.capture = 11;
    call_device("cublasSgemm_v2", &x);
    CHECK(stream.given == 1);
    call_device("cublasSgemm_v2", &x);
    call_device("cublasLtMatmul", &x);
    CHECK(stream.given == 1);
    x.count = 2;
    call_device("cublasSgemmStridedBatched", &x);
    CHECK(stream.given == 2);
    x.count = 1;
    call_device("cublasSgemm_v2", &x);
    CHECK(stream.given == 2);
    struct model_stream side = stream; /* of the same memory */
    change_stream(&side);
    CHECK(call_gemm("cublasSgemm_v2", &x) == 0);
    CHECK(side.starts == stream.starts + 1 && side.given == 3);
    stream.used = side.used;
    change_stream(&stream);
    for (uint64_t graph = 12; graph < 15; graph++) { /* updates */
        stream.capture = graph;
        call_device("cublasSgemm_v2", &x);
    }
    CHECK(stream.given == 5 && stream.reserved == 0);
    give(stream_take(&stream, 1 << 16), 1 << 16);
    stream.capture = 15;
    call_device("cublasSgemm_v2", &x);
    CHECK(stream.given == 5);
    stream_put(&stream, twice, (void *[]){ a, b, c }, 3 * sizeof(void *));
    x.each_a = (const float **)twice, x.each_b = x.each_a + 1;
    x.each_c = (float **)twice + 2;
    call_library("cublasSgemmBatched", &x); /* its pointers cannot be read */
}

/* What one graph has left to the library for want of memory all graphs leave, since one may
   be the other's update; and what runs does not. */
static void updates(void)
{
    struct call x = square();
    stream.capture = 21, stream.full = true;
    call_library("cublasSgemm_v2", &x);
    stream.full = false;
    call_library("cublasSgemm_v2", &x);
    stream.capture = 22;
    call_library("cublasSgemm_v2", &x);
    x.ta = 1;
    call_device("cublasSgemm_v2", &x);
    x.n = 20;
    call_device("cublasSgemm_v2", &x);
    x = square();
    call_library("cublasSgemm_v2", &x);
    stream.capture = 0;
    call_device("cublasSgemm_v2", &x);
    stream.capture = 23;
    call_library("cublasSgemm_v2", &x);
}

/* What a unit is emulated by is found out in a capture, too. */
static void first(void)
{
    const struct call x = square();
    for (stream.capture = 1; stream.capture < 3; stream.capture++)
        call_device("cublasSgemm_v2", &x);
    stream.capture = 0;
    call_device("cublasSgemm_v2", &x);
}

/* --- a bias ------------------------------------------------------------------------- */

/* Of a D of 20 x 24: as a C that has it in every column. */
static void bias(void)
{
    static const float zero = -0.0f;
    float c_of_bias[ELEMENTS], x[ELEMENTS], got[2][ELEMENTS];
    struct call y = square();
    for (int i = 0; i < ELEMENTS; i++)
        c_of_bias[i] = value(i % SIDE + 5), x[i] = value(i);
    float *const there = stream_take(&stream, sizeof x), *const line = there;
    stream_put(&stream, there, c_of_bias, sizeof x);
    stream_put(&stream, c, x, sizeof x);
    y.m = 20, y.ta = 1, y.c = there, y.beta = &one, y.alpha = &half;
    call_device("cublasLtMatmul", &y);
    stream_get(&stream, got[0], c, sizeof x);
    stream_put(&stream, c, x, sizeof x);
    y.c = c, y.beta = &zero, y.bias = line;
    call_device("cublasLtMatmul", &y);
    stream_get(&stream, got[1], c, sizeof x);
    CHECK(!memcmp(got[0], got[1], sizeof x) && memcmp(got[0], x, sizeof x));
    stream.capture = 3;
    call_device("cublasLtMatmul", &y);
    stream.capture = 0;
    y.other.which = 26, y.other.value = 0;
    call_device("cublasLtMatmul", &y);
    y.other.value = 2; /* a bias of f16 */
    call_library("cublasLtMatmul", &y);
    y.other.which = 7, y.other.value = 6; /* and max(0, x) */
    call_library("cublasLtMatmul", &y);
    y.other.which = 0, y.beta = &half;
    call_library("cublasLtMatmul", &y);
    y.beta = &zero, y.rows_c = y.rows_d = 1;
    call_library("cublasLtMatmul", &y);
}

/* --- streams and threads ------------------------------------------------------------ */

/* Each stream gets memory in its own order, and gives it back. */
static void streams(void)
{
    enum { STREAMS = 100 };
    static struct model_stream all[STREAMS];
    struct call x = square();
    for (int i = 0; i < STREAMS; i++) {
        all[i] = stream;
        change_stream(&all[i]);
        CHECK(call_gemm("cublasSgemm_v2", &x) == 0);
        CHECK(all[i].starts == 1 && all[i].reserved == 1 && all[i].released == 1);
    }
}

enum { THREADS = 8, CALLS = 200 };

/* A stream, a handle and memory for D a thread. */
static void *work(void *number)
{
    const int id = *(int *)number;
    static unsigned char memory[THREADS][1 << 17] __attribute__((aligned(256)));
    struct model_stream own = { .bytes = 1 << 17, .open = true };
    struct stub_handle h = { .stream = &own };
    struct call x = square();
    float *const d = (float *)(void *)memory[id];
    own.memory = memory[id];
    own.used = ELEMENTS * sizeof *d;
    const float zero = 0;
    x.handle = &h, x.beta = &zero, x.c = d;
    for (int i = 0; i < CALLS; i++) CHECK(call_gemm("cublasSgemm_v2", &x) == 0);
    return NULL;
}

static void threads(void)
{
    pthread_t thread[THREADS];
    int id[THREADS];
    model_unlock(&stream);
    for (int i = 0; i < THREADS; i++) {
        id[i] = i;
        CHECK(!pthread_create(&thread[i], NULL, work, &id[i]));
    }
    for (int i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
}

/* --- products ----------------------------------------------------------------------- */

/* Its outputs, as encodings, of any number of GEMMs that follow each other. */
static void print(const float *from, int count)
{
    uint32_t x[2 * ELEMENTS];
    stream_get(&stream, x, from, (size_t)count * sizeof *x);
    for (int i = 0; i < count; i++) printf("%08x\n", (unsigned)x[i]);
}

static void product(void)
{
    struct call x = square();
    CHECK(call_gemm("cublasSgemm_v2", &x) == 0);
    print(c, ELEMENTS);
}

/* By rows and columns, C elsewhere; one with a bias; then two by pointers that are
 * unevenly apart. */
static void products(void)
{
    struct call x = square();
    x.rows_a = 1, x.tb = 1, x.c = b, x.rows_d = 1;
    CHECK(call_gemm("cublasLtMatmul", &x) == 0);
    print(c, ELEMENTS);
    const float zero = 0;
    x = square();
    x.beta = &zero, x.bias = b;
    CHECK(call_gemm("cublasLtMatmul", &x) == 0);
    print(c, ELEMENTS);
    const void *const all[] = { b, a, a, b, c + ELEMENTS, c };
    stream_put(&stream, twice, all, sizeof all);
    x = square();
    x.count = 2, x.each_a = (const float **)twice, x.each_b = x.each_a + 2;
    x.each_c = (float **)twice + 4, x.beta = &one, x.alpha = &half;
    CHECK(call_gemm("cublasGemmBatchedEx_64", &x) == 0);
    print(c, 2 * ELEMENTS);
}

/* The same with a graph captured, of which nothing can be looked at. */
static void captured(void)
{
    struct call x = square();
    CHECK(call_gemm("cublasSgemm_v2", &x) == 0);
    stream.capture = 5;
    CHECK(call_gemm("cublasSgemm_v2", &x) == 0);
}

/* --- all of them -------------------------------------------------------------------- */

static const struct {
    const char *name;
    void (*run)(void);
} scenes[] = {
    { "left", left },         { "passed", passed },
    { "counted", counted },   { "workspaces", workspaces },
    { "graphs", graphs },     { "streams", streams },
    { "threads", threads },   { "product", product },
    { "products", products }, { "captured", captured },
    { "bias", bias },         { "first", first },
    { "updates", updates },
};

int main(int argc, char **argv)
{
    begin();
    for (size_t i = 0; argc > 1 && i < sizeof scenes / sizeof scenes[0]; i++)
        if (!strcmp(scenes[i].name, argv[1])) return scenes[i].run(), wrong;
    return 2;
}
