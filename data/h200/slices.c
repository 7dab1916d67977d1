/* SPDX-License-Identifier: BSD-3-Clause */
/* The times in slices.jsonl: GEMMs with a narrow or a short D, beside cublasSgemm.

       cc -O2 -I../.. slices.c -lbitcut -lcublas -lcudart && ./a.out > slices.jsonl

   Each GEMM starts STARTS times in a CUDA graph, in turn on up to COPIES copies of A and
   B of up to BYTES, and the graph is launched 1 + LAUNCHES times.  Rows of D are compared
   with bitcut_gemm(). */
#include "lib/bitcut.h"

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STARTS = 16, LAUNCHES = 7, COPIES = 8, WORKSPACE = 32 << 20 };
static const size_t BYTES = 400 << 20, PRODUCTS_COMPARED = 100 << 20;

#define CHECK(call)                                                                      \
    do {                                                                                 \
        const int status_ = (int)(call);                                                 \
        if (status_) {                                                                   \
            fprintf(stderr, "%s: %d, %s\n", #call, status_, why);                        \
            exit(1);                                                                     \
        }                                                                                \
    } while (0)

static char why[BITCUT_TEXT_MAX];
static struct bitcut_device *device;
static cublasHandle_t cublas;
static cudaStream_t stream;
static char about[200]; /* device, driver and date */

/* A GEMM to time, with its matrices on the device. */
struct matrices {
    size_t m, n, k, copies;
    const char *layout;
    float *host_a, *host_b, *host_d, *a[COPIES], *b[COPIES], *d;
    void *workspace;
    size_t bytes;
};

/* What the caller leaves to the device. */
struct wish {
    const char *recipe, *text, *kernel, *unit;
    bool any_slices, any_promotion;
    int slices;
};

struct study {
    const char *name;
    size_t m, n, k;
    const char *layout;
    const char *recipes; /* separated by spaces                */
    const char *slices;  /* given numbers, separated by spaces */
};

static const struct study studies[] = {
    /* clang-format off */
    { "narrow", 1, 4096, 4096, "NN", "ootomo bf16x3 bf16x6 bf16x9", "2 4 8 16 32" },
    { "narrow", 1, 4096, 4096, "NT", "ootomo bf16x3 bf16x6 bf16x9", "" },
    { "narrow", 8, 4096, 4096, "NN", "ootomo", "2 4 8 16" },
    { "narrow", 8, 4096, 4096, "NT", "ootomo", "" },
    { "narrow", 2, 4096, 4096, "NN", "ootomo", "2 4 8 16" },
    { "narrow", 1, 1024, 4096, "NN", "ootomo", "2 4 8 12 16" },
    { "narrow", 1, 1024, 4096, "NT", "ootomo", "" },
    { "narrow", 1, 11008, 4096, "NT", "ootomo", "" },
    { "narrow", 1, 11008, 4096, "NN", "ootomo", "" },
    { "narrow", 1, 4096, 11008, "NT", "ootomo", "" },
    { "narrow", 4096, 1, 4096, "NN", "ootomo", "2 4 8 16" },
    { "narrow", 4096, 8, 4096, "NN", "ootomo", "2 4 8 16" },
    { "narrow", 8, 8, 65536, "NN", "ootomo", "2 4 8 16 32 64" },
    { "narrow", 1, 256, 256, "NN", "ootomo", "" },
    { "narrow", 4, 1000, 1000, "NN", "ootomo", "" },
    { "narrow", 1, 4095, 4097, "NN", "ootomo", "" },
    { "narrow", 1, 32000, 4096, "NT", "ootomo", "" },
    { "narrow", 1, 32000, 4096, "NN", "ootomo", "" },
    { "narrow", 1, 64, 20000, "NN", "ootomo", "" },
    { "narrow", 1, 2048, 2048, "NT", "ootomo", "" },
    { "narrow", 3, 777, 3333, "NN", "ootomo", "" },
    { "narrow", 8, 512, 512, "NN", "ootomo", "" },
    { "narrow", 8, 11008, 4096, "NT", "ootomo", "" },
    { "narrow", 8, 1000, 3001, "NN", "bf16x3 bf16x6 bf16x9", "" },
    { "narrow", 8, 1000, 3001, "NT", "bf16x3 bf16x6 bf16x9", "" },
    { "slices", 16, 4096, 4096, "NN", "ootomo", "" },
    { "slices", 32, 4096, 4096, "NT", "ootomo", "" },
    { "slices", 64, 4096, 4096, "NT", "ootomo", "" },
    { "slices", 32, 1024, 1024, "NN", "ootomo", "2 4 8" },
    { "slices", 16, 1024, 1024, "NN", "ootomo", "" },
    { "slices", 64, 64, 65536, "NN", "ootomo", "" },
    { "slices", 24, 24, 65536, "NN", "ootomo", "" },
    { "slices", 128, 128, 65536, "NN", "ootomo", "" },
    { "slices", 256, 256, 32768, "NN", "ootomo", "" },
    { "slices", 512, 512, 60000, "NN", "ootomo", "" },
    { "slices", 512, 512, 8192, "NN", "ootomo", "" },
    { "slices", 1024, 1024, 1024, "NN", "ootomo", "2 4 8" },
    { "slices", 2048, 128, 8192, "NT", "ootomo", "" },
    { "slices", 100, 1000, 5000, "NN", "ootomo", "" },
    { "slices", 256, 256, 256, "NN", "ootomo", "2 4" },
    { "slices", 512, 512, 512, "NN", "ootomo", "2 4 8" },
    { "slices", 1024, 1024, 4096, "NN", "ootomo", "" },
    { "slices", 128, 4096, 1024, "NT", "ootomo", "2 4 8" },
    { "chip", 1024, 1024, 1024, "NN", "ootomo", "" },
    { "chip", 2048, 2048, 2048, "NN", "ootomo", "" },
    { "chip", 4096, 4096, 4096, "NN", "ootomo", "" },
    { "chip", 8192, 8192, 8192, "NN", "ootomo", "" },
    { 0 }
    /* clang-format on */
};

/* --- matrices --------------------------------------------------------------------- */

/* Normal numbers, by the method of Box and Muller. */
static void fill(float *x, size_t count, uint64_t seed)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t z = (seed + i) * 0x9e3779b97f4a7c15;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
        z = (z ^ z >> 27) * 0x94d049bb133111eb;
        const double u = (double)((z >> 40) + 1) / 16777217;
        x[i] = (float)(sqrt(-2 * log(u)) *
                       cos(6.283185307179586 * (double)(z & 0xffff) / 65536));
    }
}

static void *on_device(size_t bytes)
{
    void *at;
    CHECK(cudaMalloc(&at, bytes ? bytes : 1));
    return at;
}

static struct matrices make(const struct study *s)
{
    struct matrices x = { s->m, s->n, s->k, 1, s->layout };
    const size_t a = s->m * s->k, b = s->k * s->n, d = s->m * s->n;
    while (x.copies < COPIES && (x.copies + 1) * (a + b) * sizeof(float) <= BYTES)
        x.copies++;
    x.host_a = malloc(a * sizeof(float));
    x.host_b = malloc(b * sizeof(float));
    x.host_d = malloc(d * sizeof(float));
    fill(x.host_a, a, 1);
    fill(x.host_b, b, (uint64_t)1 << 40);
    for (size_t i = 0; i < x.copies; i++) {
        x.a[i] = on_device(a * sizeof(float));
        x.b[i] = on_device(b * sizeof(float));
        CHECK(cudaMemcpy(x.a[i], x.host_a, a * sizeof(float), cudaMemcpyHostToDevice));
        CHECK(cudaMemcpy(x.b[i], x.host_b, b * sizeof(float), cudaMemcpyHostToDevice));
    }
    x.d = on_device(d * sizeof(float));
    return x;
}

static void clear(struct matrices *x)
{
    for (size_t i = 0; i < x->copies; i++) cudaFree(x->a[i]), cudaFree(x->b[i]);
    cudaFree(x->d);
    free(x->host_a), free(x->host_b), free(x->host_d);
}

static struct bitcut_gemm gemm_of(const struct matrices *x, const struct wish *w)
{
    struct bitcut_gemm g;
    bitcut_gemm_init(&g, sizeof g);
    g.m = x->m, g.n = x->n, g.k = x->k;
    if (x->layout[0] == 'T') g.a.layout = BITCUT_COLUMN_MAJOR;
    if (x->layout[1] == 'T') g.b.layout = BITCUT_COLUMN_MAJOR;
    g.a.at = x->a[0], g.b.at = x->b[0], g.d.to = x->d;
    g.recipe = bitcut_recipe_find(w->recipe);
    g.any_slices = w->any_slices;
    g.any_promotion = w->any_promotion;
    if (w->slices) g.order.slices = w->slices;
    if (w->unit) g.unit = bitcut_unit_find(w->unit, NULL);
    g.kernel = w->kernel;
    return g;
}

/* --- starting and timing ---------------------------------------------------------- */

static void start(struct matrices *x, const struct bitcut_gemm *gemm, size_t copy)
{
    const float one = 1, zero = 0;
    if (gemm) {
        struct bitcut_gemm g = *gemm;
        g.a.at = x->a[copy], g.b.at = x->b[copy];
        CHECK(bitcut_gemm_start(NULL, device, &g, x->workspace, x->bytes, stream, why));
    } else {
        const bool ta = x->layout[0] == 'T', tb = x->layout[1] == 'T';
        CHECK(cublasSgemm(cublas, tb ? CUBLAS_OP_T : CUBLAS_OP_N,
                          ta ? CUBLAS_OP_T : CUBLAS_OP_N, (int)x->n, (int)x->m, (int)x->k,
                          &one, x->b[copy], (int)(tb ? x->k : x->n), x->a[copy],
                          (int)(ta ? x->m : x->k), &zero, x->d, (int)x->n));
    }
}

static int compare(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Microseconds of a start: median, least and most of all launches but the first. */
static void print_times(struct matrices *x, const struct bitcut_gemm *gemm)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaEvent_t from, to;
    float ms[1 + LAUNCHES];
    CHECK(cudaEventCreate(&from));
    CHECK(cudaEventCreate(&to));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (size_t i = 0; i < STARTS; i++) start(x, gemm, i % x->copies);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i <= LAUNCHES; i++) {
        CHECK(cudaEventRecord(from, stream));
        CHECK(cudaGraphLaunch(exec, stream));
        CHECK(cudaEventRecord(to, stream));
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaEventElapsedTime(&ms[i], from, to));
    }
    qsort(ms + 1, LAUNCHES, sizeof *ms, compare);
    printf("\"us\":%.2f,\"us_min\":%.2f,\"us_max\":%.2f,",
           1e3 / STARTS * ms[1 + LAUNCHES / 2], 1e3 / STARTS * ms[1],
           1e3 / STARTS * ms[LAUNCHES]);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaEventDestroy(from));
    CHECK(cudaEventDestroy(to));
}

/* Compare the first rows of D, at least one, with the emulator's. */
static void print_mismatches(struct matrices *x, const struct bitcut_gemm *gemm,
                             const struct bitcut_gemm *ran)
{
    struct bitcut_gemm g = *ran;
    size_t rows = PRODUCTS_COMPARED / (x->n * x->k), mismatches = 0;
    rows = rows < 1 ? 1 : rows < x->m ? rows : x->m;
    const size_t count = rows * x->n;
    uint32_t *const expected = malloc(count * sizeof *expected);
    CHECK(cudaMemset(x->d, 0xff, x->m * x->n * sizeof(float)));
    start(x, gemm, 0);
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(x->host_d, x->d, count * sizeof(float), cudaMemcpyDeviceToHost));
    g.m = rows;
    g.kernel = NULL;
    g.a.at = x->host_a, g.b.at = x->host_b, g.d.to = expected;
    CHECK(bitcut_gemm(NULL, &g, 0, why));
    for (size_t i = 0; i < count; i++)
        mismatches += expected[i] != ((const uint32_t *)x->host_d)[i];
    printf("\"compared\":%zu,\"mismatches\":%zu,", count, mismatches);
    free(expected);
}

/* --- rows ------------------------------------------------------------------------- */

static void print_shape(const struct study *s)
{
    printf("{\"study\":\"%s\",\"m\":%zu,\"n\":%zu,\"k\":%zu,\"layout\":\"%s\",", s->name,
           s->m, s->n, s->k, s->layout);
}

static void print_peer(const struct study *s, struct matrices *x)
{
    print_shape(s);
    printf("\"peer\":\"cublasSgemm\",");
    print_times(x, NULL);
    printf("%s}\n", about);
}

static void print_gemm(const struct study *s, struct matrices *x, const struct wish *w)
{
    const struct bitcut_gemm g = gemm_of(x, w);
    struct bitcut_gemm ran;
    bitcut_gemm_init(&ran, sizeof ran);
    if (bitcut_gemm_choose(&ran, device, &g, why) != BITCUT_OK) {
        fprintf(stderr, "%s\n", why);
        return;
    }
    CHECK(bitcut_gemm_workspace(&x->bytes, device, &g, why));
    x->workspace = on_device(x->bytes);
    print_shape(s);
    printf("\"recipe\":\"%s\",\"asked\":\"%s\",\"kernel\":\"%s\",\"slices\":%d,"
           "\"workspace_bytes\":%zu,",
           w->recipe, w->text, ran.kernel, ran.order.slices, x->bytes);
    print_times(x, &g);
    print_mismatches(x, &g, &ran);
    printf("%s}\n", about);
    fflush(stdout);
    cudaFree(x->workspace);
}

static void print_study(const struct study *s)
{
    static const char unit[] = "hopper/mma.m16n8k16.f32.f16";
    const bool chip = !strcmp(s->name, "chip");
    struct matrices x = make(s);
    char recipes[100];
    snprintf(recipes, sizeof recipes, "%s", s->recipes);
    print_peer(s, &x);
    for (char *r = strtok(recipes, " "); r; r = strtok(NULL, " ")) {
        const bool ootomo = !strcmp(r, "ootomo");
        print_gemm(s, &x, &(struct wish){ .recipe = r, .text = "default" });
        if (chip) {
            print_gemm(s, &x,
                       &(struct wish){ .recipe = r,
                                       .text = "unit hopper/mma.m16n8k16.f32.f16",
                                       .unit = unit });
            continue;
        }
        print_gemm(
            s, &x,
            &(struct wish){ .recipe = r, .text = "any_slices", .any_slices = true });
        if (ootomo)
            print_gemm(s, &x,
                       &(struct wish){ .recipe = r,
                                       .text = "any_slices, any_promotion",
                                       .any_slices = true,
                                       .any_promotion = true });
        const char *left = ootomo ? s->slices : "";
        for (char *end; *left; left = end) {
            const int slices = (int)strtol(left, &end, 10);
            print_gemm(s, &x,
                       &(struct wish){ .recipe = r, .text = "slices", .slices = slices });
        }
    }
    clear(&x);
}

int main(void)
{
    struct cudaDeviceProp is;
    char driver[40] = "unknown";
    const time_t now = time(NULL);
    FILE *const f =
        popen("nvidia-smi --query-gpu=driver_version --format=csv,noheader", "r");
    if (f && fscanf(f, "%39s", driver) != 1) strcpy(driver, "unknown");
    if (f) pclose(f);
    CHECK(cudaGetDeviceProperties(&is, 0));
    snprintf(about, sizeof about, "\"device\":\"%.60s\",\"driver\":\"%s\",\"date\":\"",
             is.name, driver);
    strftime(about + strlen(about), 20, "%Y-%m-%d\"", gmtime(&now));
    CHECK(bitcut_device_open(&device, "cuda", why));
    CHECK(cudaStreamCreate(&stream));
    CHECK(cublasCreate(&cublas));
    CHECK(cublasSetStream(cublas, stream));
    CHECK(cublasSetWorkspace(cublas, on_device(WORKSPACE), WORKSPACE));
    for (const struct study *s = studies; s->name; s++) print_study(s);
    bitcut_device_close(device);
    return 0;
}
