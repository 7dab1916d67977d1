/* SPDX-License-Identifier: BSD-3-Clause */
/* The times in starts.jsonl: GEMMs in a CUDA graph and on a stream, and what their starts
   take the host.

       cc -O2 -I../.. starts.c -lbitcut -lcudart && ./a.out BUILD > starts.jsonl

   Each GEMM starts STARTS times, in turn on up to COPIES copies of A and B with their own
   workspaces, of up to BYTES.  The host's time is of calls of bitcut_plan_start() and
   bitcut_gemm_start() on an empty stream. */
#define _POSIX_C_SOURCE 200809L
#include "lib/bitcut.h"

#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STARTS = 16, ROUNDS = 12, COPIES = 8, BURST = 50 };
static const size_t BYTES = 400 << 20;

#define CHECK(call)                                                                      \
    do {                                                                                 \
        const int status_ = (int)(call);                                                 \
        if (status_) {                                                                   \
            fprintf(stderr, "%s: %d, %s\n", #call, status_, why);                        \
            exit(1);                                                                     \
        }                                                                                \
    } while (0)

static const struct {
    size_t m, n, k;
    const char *layout, *recipe;
} shapes[] = {
    { 128, 128, 128, "NN", "ootomo" },    { 256, 256, 256, "NN", "ootomo" },
    { 512, 512, 512, "NN", "ootomo" },    { 768, 768, 768, "NN", "ootomo" },
    { 1024, 1024, 1024, "NN", "ootomo" }, { 1024, 1024, 1024, "NT", "ootomo" },
    { 1280, 1280, 1280, "NN", "ootomo" }, { 1536, 1536, 1536, "NN", "ootomo" },
    { 2048, 2048, 2048, "NN", "ootomo" }, { 3072, 3072, 3072, "NN", "ootomo" },
    { 4096, 4096, 4096, "NN", "ootomo" }, { 1000, 1001, 1003, "NN", "ootomo" },
    { 1001, 1003, 999, "NT", "ootomo" },  { 1501, 1499, 1497, "NN", "ootomo" },
    { 128, 4096, 1024, "NN", "ootomo" },  { 100, 1000, 5000, "NN", "ootomo" },
    { 1024, 1024, 1024, "NN", "legemm" }, { 1024, 1024, 1024, "NN", "bf16x3" },
    { 1024, 1024, 1024, "NN", "bf16x6" }, { 1024, 1024, 1024, "NN", "bf16x9" },
    { 1024, 1024, 1024, "NN", "plain" },  { 1024, 1024, 1024, "NN", "markidis" },
    { 1024, 1024, 1024, "NN", "tf32x3" },
};

static char why[BITCUT_TEXT_MAX];
static struct bitcut_device *device;
static cudaStream_t stream;

/* A GEMM on one copy of its operands. */
struct place {
    struct bitcut_gemm g;
    struct bitcut_plan *plan;
    float *a, *b, *d;
    void *workspace;
    size_t bytes;
};

static void start(const struct place *x)
{
    CHECK(bitcut_plan_start(x->plan, x->d, x->a, x->b, NULL, x->workspace, x->bytes,
                            stream, why));
}

static void start_gemm(const struct place *x)
{
    CHECK(bitcut_gemm_start(NULL, device, &x->g, x->workspace, x->bytes, stream, why));
}

static void *numbers(size_t count)
{
    float *const host = malloc(count * sizeof *host);
    void *at;
    uint64_t state = count;
    for (size_t i = 0; i < count; i++) {
        state = state * 6364136223846793005 + 1442695040888963407;
        host[i] = (float)(int32_t)(state >> 32) / 2147483648.0f;
    }
    CHECK(cudaMalloc(&at, count * sizeof *host));
    CHECK(cudaMemcpy(at, host, count * sizeof *host, cudaMemcpyHostToDevice));
    free(host);
    return at;
}

static void make(struct place *x, int i)
{
    const size_t m = shapes[i].m, n = shapes[i].n, k = shapes[i].k;
    bitcut_gemm_init(&x->g, sizeof x->g);
    x->g.m = m, x->g.n = n, x->g.k = k;
    x->a = numbers(m * k), x->b = numbers(k * n), x->d = numbers(m * n);
    x->g.a.at = x->a, x->g.b.at = x->b, x->g.d.to = x->d;
    if (shapes[i].layout[1] == 'T') x->g.b.layout = BITCUT_COLUMN_MAJOR;
    x->g.recipe = bitcut_recipe_find(shapes[i].recipe);
    CHECK(bitcut_gemm_workspace(&x->bytes, device, &x->g, why));
    CHECK(cudaMalloc(&x->workspace, x->bytes));
    CHECK(bitcut_plan_make(&x->plan, device, &x->g, why));
}

static void end(struct place *x)
{
    bitcut_plan_free(x->plan);
    cudaFree(x->a), cudaFree(x->b), cudaFree(x->d), cudaFree(x->workspace);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}
static double median(double *x, int count)
{
    qsort(x, (size_t)count, sizeof *x, compare);
    return x[count / 2];
}

/* Microseconds of a start on the device; the first round is not counted. */
static double on_device(const struct place *x, int copies, cudaGraphExec_t graph)
{
    cudaEvent_t from, to;
    double us[1 + ROUNDS];
    CHECK(cudaEventCreate(&from));
    CHECK(cudaEventCreate(&to));
    for (int i = 0; i <= ROUNDS; i++) {
        float ms;
        CHECK(cudaEventRecord(from, stream));
        if (graph) CHECK(cudaGraphLaunch(graph, stream));
        for (int j = 0; j < STARTS && !graph; j++) start(&x[j % copies]);
        CHECK(cudaEventRecord(to, stream));
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaEventElapsedTime(&ms, from, to));
        us[i] = 1e3 * (double)ms / STARTS;
    }
    cudaEventDestroy(from), cudaEventDestroy(to);
    return median(us + 1, ROUNDS);
}

static double in_graph(const struct place *x, int copies)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < STARTS; i++) start(&x[i % copies]);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    const double us = on_device(x, copies, exec);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    return us;
}

/* Microseconds of a call on the host. */
static double on_host(const struct place *x, void (*call)(const struct place *))
{
    double us[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        struct timespec from, to;
        clock_gettime(CLOCK_MONOTONIC, &from);
        for (int j = 0; j < BURST; j++) call(x);
        clock_gettime(CLOCK_MONOTONIC, &to);
        us[i] = 1e6 * (double)(to.tv_sec - from.tv_sec) +
                1e-3 * (double)(to.tv_nsec - from.tv_nsec);
        us[i] /= BURST;
        CHECK(cudaStreamSynchronize(stream));
    }
    return median(us, ROUNDS);
}

static void print_shape(int i, const char *build)
{
    struct place x[COPIES];
    struct bitcut_gemm ran;
    int copies = 0;
    const size_t bytes = (shapes[i].m + shapes[i].n) * shapes[i].k * sizeof(float);
    do make(&x[copies++], i);
    while (copies < COPIES && (size_t)(copies + 1) * bytes <= BYTES);
    bitcut_gemm_init(&ran, sizeof ran);
    CHECK(bitcut_gemm_choose(&ran, device, &x->g, why));
    printf("{\"build\":\"%s\",\"m\":%zu,\"n\":%zu,\"k\":%zu,\"layout\":\"%s\",\"recipe\":"
           "\"%s\",\"kernel\":\"%s\",\"graph_us\":%.2f,\"stream_us\":%.2f,\"plan_us\":"
           "%.2f,\"start_us\":%.2f}\n",
           build, shapes[i].m, shapes[i].n, shapes[i].k, shapes[i].layout,
           shapes[i].recipe, ran.kernel, in_graph(x, copies), on_device(x, copies, NULL),
           on_host(x, start), on_host(x, start_gemm));
    fflush(stdout);
    while (copies) end(&x[--copies]);
}

int main(int count, char **word)
{
    CHECK(bitcut_device_open(&device, "cuda", why));
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        print_shape((int)i, count > 1 ? word[1] : "");
    bitcut_device_close(device);
    return 0;
}
