/* SPDX-License-Identifier: BSD-3-Clause */
/* The library's GEMMs on a GPU with memory, streams and graphs of a caller that uses the
   driver instead of the module's runtime.  Needs a GPU and the module; run in the build
   folder. */
#define _POSIX_C_SOURCE 200809L

#include "emu/gemm.h"
#include "gpu/api/gpu.h"
#include "lib/base/table.h"
#include "tests/test.h"

#include <dlfcn.h>
#include <fenv.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- the driver ------------------------------------------------------------------- */

/* What is used of it, with the ABI of CUDA 11.4 and later. */
typedef uint64_t address;
static struct {
    int (*init)(unsigned);
    int (*primary)(void **context, int device);
    int (*current)(void *context);
    int (*alloc)(address *to, size_t bytes);
    int (*release)(address);
    int (*to_device)(address to, const void *from, size_t bytes, void *stream);
    int (*to_host)(void *to, address from, size_t bytes, void *stream);
    int (*stream)(void **stream, unsigned flags);
    int (*finish)(void *stream);
    int (*call)(void *stream, void (*what)(void *), void *with);
    int (*capture)(void *stream, int mode);
    int (*captured)(void *stream, void **graph);
    int (*instantiate)(void **run, void *graph, unsigned long long flags);
    int (*run)(void *run, void *stream);
    int (*graph_end)(void *graph);
    int (*run_end)(void *run);
} driver;

static const struct {
    const char *name;
    void *to;
} symbols[] = {
    { "cuInit", &driver.init },
    { "cuDevicePrimaryCtxRetain", &driver.primary },
    { "cuCtxSetCurrent", &driver.current },
    { "cuMemAlloc_v2", &driver.alloc },
    { "cuMemFree_v2", &driver.release },
    { "cuMemcpyHtoDAsync_v2", &driver.to_device },
    { "cuMemcpyDtoHAsync_v2", &driver.to_host },
    { "cuStreamCreate", &driver.stream },
    { "cuStreamSynchronize", &driver.finish },
    { "cuLaunchHostFunc", &driver.call },
    { "cuStreamBeginCapture_v2", &driver.capture },
    { "cuStreamEndCapture", &driver.captured },
    { "cuGraphInstantiateWithFlags", &driver.instantiate },
    { "cuGraphLaunch", &driver.run },
    { "cuGraphDestroy", &driver.graph_end },
    { "cuGraphExecDestroy", &driver.run_end },
};

/* NULL, or why there is no device. */
static const char *driver_open(void)
{
    void *context, *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) return "no driver";
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        void *found = dlsym(library, symbols[i].name);
        if (!found) return "an old driver";
        memcpy(symbols[i].to, &found, sizeof found);
    }
    if (driver.init(0) || driver.primary(&context, 0) || driver.current(context))
        return "no device";
    return NULL;
}

#define GOOD(call) ck_assert_int_eq(call, 0)

/* A stream that waits for no other. */
static void *stream_make(void)
{
    void *stream;
    GOOD(driver.stream(&stream, 1));
    return stream;
}

/* --- GEMMs ------------------------------------------------------------------------ */

enum { M = 200, N = 136, K = 300, COUNT_MAX = 3 };

#define SMALLEST 1u /* 2^-149: with elements of C near 2^127 it counts */

/* `count` of them, at strides without gaps. */
struct trial {
    struct bitcut_gemm g;
    size_t count;
    struct bitcut_gemm model;
    address a, b, d, workspace;
    size_t bytes;
    uint32_t host_a[COUNT_MAX][M * K], host_b[COUNT_MAX][K * N];
    uint32_t host_c[COUNT_MAX][M * N]; /* where D comes, if beta is not zero */
    uint32_t got[COUNT_MAX][M * N], want[COUNT_MAX][M * N];
};

static struct bitcut_device *cuda;

static void *at(address x) { return (void *)(uintptr_t)x; }

static address allocate(size_t bytes)
{
    address x;
    GOOD(driver.alloc(&x, bytes ? bytes : 1));
    return x;
}

static struct bitcut_gemm model_of(const struct bitcut_gemm *g)
{
    struct bitcut_gemm ran;
    bitcut_gemm_init(&ran, sizeof ran);
    ck_assert_int_eq(bitcut_gemm_choose(&ran, cuda, g, NULL), BITCUT_OK);
    ran.kernel = NULL;
    ran.count = 1;
    return ran;
}

static struct trial *trial_make(const char *recipe, int slices_wanted, size_t count,
                                uint32_t beta)
{
    struct trial *t = calloc(1, sizeof *t);
    ck_assert(t);
    t->count = count;
    t->a = allocate(sizeof t->host_a);
    t->b = allocate(sizeof t->host_b);
    t->d = allocate(sizeof t->got);
    bitcut_gemm_init(&t->g, sizeof t->g);
    t->g.recipe = bitcut_recipe_find(recipe);
    t->g.order.slices = slices_wanted;
    t->g.count = count;
    t->g.m = M;
    t->g.n = N;
    t->g.k = K;
    t->g.alpha = 0x40490fdb;
    t->g.beta = beta;
    t->g.a = (struct bitcut_matrix){ .at = at(t->a), .stride = M * K };
    t->g.b = (struct bitcut_matrix){ .at = at(t->b), .stride = K * N };
    t->g.c = (struct bitcut_matrix){ .at = at(t->d), .stride = M * N };
    t->g.d = (struct bitcut_matrix){ .at = at(t->d), .stride = M * N };
    t->model = model_of(&t->g);
    ck_assert_int_eq(bitcut_gemm_workspace(&t->bytes, cuda, &t->g, NULL), BITCUT_OK);
    t->bytes *= (count + 1) / 2; /* GEMMs at a time */
    t->workspace = allocate(t->bytes);
    return t;
}

static void trial_end(struct trial *t)
{
    GOOD(driver.release(t->workspace));
    GOOD(driver.release(t->d));
    GOOD(driver.release(t->b));
    GOOD(driver.release(t->a));
    free(t);
}

/* Other values of n elements. */
static void values_make(uint32_t *x, size_t n, uint64_t *state)
{
    for (size_t i = 0; i < n; i++)
        x[i] = (uint32_t)(test_bits(state) & 0x83ffffff) | 0x3c000000;
}

/* Other operands, by way of the stream, and what D should be with them. */
static void trial_fill(struct trial *t, uint64_t *state, void *stream)
{
    struct fault f;
    values_make(*t->host_a, t->count * (M * K), state);
    values_make(*t->host_b, t->count * (K * N), state);
    GOOD(driver.to_device(t->a, t->host_a, sizeof t->host_a, stream));
    GOOD(driver.to_device(t->b, t->host_b, sizeof t->host_b, stream));
    for (size_t i = 0; i < t->count * (M * N); i++)
        t->host_c[0][i] = (uint32_t)(test_bits(state) & 0x807fffff) | 0x7f000000;
    GOOD(driver.to_device(t->d, t->host_c, sizeof t->host_c, stream));
    for (size_t i = 0; i < t->count; i++) {
        gemm_set_dense(&t->model, t->want[i], M, N, K, t->host_a[i], t->host_b[i],
                       t->host_c[i]);
        ck_assert_int_eq(gemm_run(&t->model, &(struct gemm_options){ .threads = 1 }, &f),
                         BITCUT_OK);
    }
}

/* By a caller whose processor flushes subnormals, which beta may be. */
static void trial_start(struct trial *t, void *stream)
{
    char why[BITCUT_TEXT_MAX] = "";
    void *const workspace = at(t->workspace);
    fenv_t before;
    fegetenv(&before);
    test_host_mode(7);
    const enum bitcut_status status =
        bitcut_gemm_start(NULL, cuda, &t->g, workspace, t->bytes, stream, why);
    fesetenv(&before);
    if (status != BITCUT_OK) ck_abort_msg("%s", why);
}

static void trial_check(struct trial *t, void *stream)
{
    memset(t->got, 0xff, sizeof t->got);
    GOOD(driver.to_host(t->got, t->d, sizeof t->got, stream));
    GOOD(driver.finish(stream));
    for (size_t g = 0; g < t->count; g++)
        for (int i = 0; i < M * N; i++)
            if (t->got[g][i] != t->want[g][i])
                ck_abort_msg("%s, %d slices, GEMM %zu, D[%d] %08" PRIx32
                             ", not %08" PRIx32,
                             t->g.recipe->name, t->g.order.slices, g, i, t->got[g][i],
                             t->want[g][i]);
}

static const char *const tried[] = { "plain", "ootomo", "legemm", "tf32x3", "bf16x9" };
enum { RECIPES = sizeof tried / sizeof tried[0] };
static const int slices[] = { 1, 3 };

/* Call f for a trial of every recipe, whole and in slices. */
static void each_trial(void (*f)(struct trial *, uint64_t *), size_t count, uint32_t beta)
{
    uint64_t state = test_seed();
    for (int i = 0; i < RECIPES; i++)
        for (int s = 0; s < 2; s++) {
            struct trial *t = trial_make(tried[i], slices[s], count, beta);
            f(t, &state);
            trial_end(t);
        }
}

/* --- small GEMMs ------------------------------------------------------------------ */

enum { SIDE = 24, SIZE = SIDE * SIDE, SMALL_GEMMS = 100 };

/* A, B and D of a batch, and where its matrices are. */
struct small {
    address at, each;
    uint16_t host[SMALL_GEMMS][SIZE];
    address places[SMALL_GEMMS];
};

static void small_make(struct small *x)
{
    x->at = allocate(sizeof x->host);
    x->each = allocate(sizeof x->places);
    for (size_t i = 0; i < SMALL_GEMMS; i++) x->places[i] = x->at + i * sizeof *x->host;
}

static void small_end(struct small *x)
{
    GOOD(driver.release(x->each));
    GOOD(driver.release(x->at));
}

static void small_send(struct small *x, void *stream)
{
    GOOD(driver.to_device(x->at, x->host, sizeof x->host, stream));
    GOOD(driver.to_device(x->each, x->places, sizeof x->places, stream));
}

/* Other f16 values from 1/8 to 4. */
static void small_fill(struct small *x, uint64_t *state, void *stream)
{
    for (size_t i = 0; i < SMALL_GEMMS; i++)
        for (size_t j = 0; j < SIZE; j++) {
            const uint64_t bits = test_bits(state);
            x->host[i][j] = (uint16_t)((bits & 0x83ff) | (12 + (bits >> 16) % 5) << 10);
        }
    small_send(x, stream);
}

static struct bitcut_matrix small_matrix(const struct small *x)
{
    return (struct bitcut_matrix){ .each = at(x->each),
                                   .format = bitcut_format_find("f16") };
}

static void small_start(const struct bitcut_gemm *g, void *stream)
{
    char why[BITCUT_TEXT_MAX] = "";
    if (bitcut_gemm_start(NULL, cuda, g, NULL, 0, stream, why)) ck_abort_msg("%s", why);
}

static void small_get(struct small *x, void *stream)
{
    GOOD(driver.to_host(x->host, x->at, sizeof x->host, stream));
    GOOD(driver.finish(stream));
}

/* --- tests ------------------------------------------------------------------------ */

/* What a stream waits for. */
struct gate {
    pthread_mutex_t mutex;
    pthread_cond_t opened;
    bool open;
};

static void gate_pass(void *with)
{
    struct gate *g = with;
    pthread_mutex_lock(&g->mutex);
    while (!g->open) pthread_cond_wait(&g->opened, &g->mutex);
    pthread_mutex_unlock(&g->mutex);
}

static void gate_open(struct gate *g)
{
    pthread_mutex_lock(&g->mutex);
    g->open = true;
    pthread_cond_signal(&g->opened);
    pthread_mutex_unlock(&g->mutex);
}

/* A call that waited for its stream would wait for ever: the stream waits for what comes
   after the call. */
static void try_behind_gate(struct trial *t, uint64_t *state)
{
    struct gate gate = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false };
    void *stream = stream_make();
    trial_fill(t, state, stream);
    trial_start(t, stream); /* the first loads its kernels, which may wait */
    GOOD(driver.finish(stream));
    GOOD(driver.call(stream, gate_pass, &gate));
    trial_start(t, stream);
    gate_open(&gate);
    trial_check(t, stream);
}

START_TEST(nothing_waits)
{
    alarm(120);
    each_trial(try_behind_gate, 1, 0);
    alarm(0);
}
END_TEST

static void try_graph(struct trial *t, uint64_t *state)
{
    void *graph, *run, *stream = stream_make();
    GOOD(driver.capture(stream, 0));
    trial_start(t, stream);
    GOOD(driver.captured(stream, &graph));
    GOOD(driver.instantiate(&run, graph, 0));
    for (int i = 0; i < 3; i++) {
        trial_fill(t, state, stream);
        GOOD(driver.run(run, stream));
        trial_check(t, stream);
    }
}

START_TEST(graphs_run_again) { each_trial(try_graph, 1, SMALLEST); }
END_TEST

START_TEST(graphs_of_batches_run_again) { each_trial(try_graph, COUNT_MAX, SMALLEST); }
END_TEST

/* A graph has the bits of the call that it was captured from, for operands and pointers
   of the time when it runs. */
START_TEST(graphs_of_small_gemms_run_again)
{
    enum { A, B, WANT, GOT, OPERANDS };
    static struct small x[OPERANDS];
    uint64_t state = test_seed();
    void *graph, *run, *stream = stream_make();
    for (int i = 0; i < OPERANDS; i++) small_make(&x[i]);
    struct bitcut_gemm g;
    bitcut_gemm_init(&g, sizeof g);
    g.recipe = bitcut_recipe_find("plain");
    g.count = SMALL_GEMMS;
    g.m = g.n = g.k = SIDE;
    g.a = small_matrix(&x[A]);
    g.b = small_matrix(&x[B]);
    g.d = small_matrix(&x[WANT]);
    GOOD(driver.capture(stream, 0));
    small_start(&g, stream);
    GOOD(driver.captured(stream, &graph));
    GOOD(driver.instantiate(&run, graph, 0));
    for (int i = 0; i < 3; i++) {
        small_fill(&x[A], &state, stream);
        small_fill(&x[B], &state, stream);
        small_send(&x[WANT], stream);
        small_start(&g, stream);
        memset(x[GOT].host, 0xff, sizeof x[GOT].host);
        small_send(&x[GOT], stream);
        GOOD(driver.to_device(x[WANT].each, x[GOT].places, sizeof x[GOT].places, stream));
        GOOD(driver.run(run, stream));
        small_get(&x[WANT], stream);
        small_get(&x[GOT], stream);
        ck_assert(!memcmp(x[GOT].host, x[WANT].host, sizeof x[GOT].host));
    }
    for (int i = 0; i < OPERANDS; i++) small_end(&x[i]);
}
END_TEST

/* As many GEMMs at a time as there are recipes, each on its stream. */
START_TEST(streams_side_by_side)
{
    uint64_t state = test_seed();
    struct trial *t[RECIPES];
    void *stream[RECIPES];
    for (int i = 0; i < RECIPES; i++) {
        t[i] = trial_make(tried[i], slices[i % 2], 1, 0);
        stream[i] = stream_make();
        trial_fill(t[i], &state, stream[i]);
    }
    for (int round = 0; round < 20; round++)
        for (int i = 0; i < RECIPES; i++) trial_start(t[i], stream[i]);
    for (int i = 0; i < RECIPES; i++) {
        trial_check(t[i], stream[i]);
        trial_end(t[i]);
    }
}
END_TEST

/* B prepared on the stream, for GEMMs with another B each. */
static void try_prepared(struct trial *t, uint64_t *state)
{
    size_t bytes;
    void *stream = stream_make();
    ck_assert_int_eq(bitcut_gemm_prepared_size(&bytes, cuda, &t->g, BITCUT_B, NULL),
                     BITCUT_OK);
    const address parts = allocate(t->count * bytes);
    struct bitcut_gemm g = t->g;
    trial_fill(t, state, stream);
    for (size_t i = 0; i < t->count; i++) {
        g.b.at = at(t->b + i * sizeof *t->host_b);
        ck_assert_int_eq(
            bitcut_gemm_prepare(at(parts + i * bytes), cuda, &g, BITCUT_B, stream, NULL),
            BITCUT_OK);
    }
    t->g.b.prepared = at(parts);
    t->g.b.prepared_stride = bytes;
    for (int i = 0; i < 2; i++) trial_start(t, stream);
    trial_check(t, stream);
    GOOD(driver.release(parts));
}

START_TEST(parts_prepared)
{
    each_trial(try_prepared, 1, 0);
    each_trial(try_prepared, COUNT_MAX, 0);
}
END_TEST

/* --- kernels that make parts ------------------------------------------------------ */

/* A GEMM of odd sizes, for which kernels of recipes with parts of 16 bits rounded to
   nearest make the parts themselves (gpu/cuda/gemm_sm90.cu). */
enum { LONG_M = 33, LONG_N = 65, LONG_K = 19233 };

struct long_trial {
    address a, b, d, workspace;
    size_t bytes;
    struct bitcut_gemm g, model;
    uint32_t host_a[LONG_M * LONG_K], host_b[LONG_K * LONG_N];
    uint32_t want[LONG_M * LONG_N], got[LONG_M * LONG_N];
};

static struct long_trial *long_make(const char *recipe)
{
    struct long_trial *const t = calloc(1, sizeof *t);
    ck_assert(t);
    t->a = allocate(sizeof t->host_a);
    t->b = allocate(sizeof t->host_b);
    t->d = allocate(sizeof t->got);
    bitcut_gemm_init(&t->g, sizeof t->g);
    t->g.recipe = bitcut_recipe_find(recipe);
    t->g.m = LONG_M, t->g.n = LONG_N, t->g.k = LONG_K;
    t->g.a.at = at(t->a), t->g.b.at = at(t->b), t->g.d.at = at(t->d);
    t->model = model_of(&t->g);
    ck_assert_int_eq(bitcut_gemm_workspace(&t->bytes, cuda, &t->g, NULL), BITCUT_OK);
    t->workspace = allocate(t->bytes);
    return t;
}

static void long_end(struct long_trial *t)
{
    const address all[] = { t->a, t->b, t->d, t->workspace };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) GOOD(driver.release(all[i]));
    free(t);
}

/* Other operands, and what D should be with them. */
static void long_fill(struct long_trial *t, uint64_t *state, void *stream)
{
    struct fault f;
    values_make(t->host_a, LONG_M * LONG_K, state);
    values_make(t->host_b, LONG_K * LONG_N, state);
    GOOD(driver.to_device(t->a, t->host_a, sizeof t->host_a, stream));
    GOOD(driver.to_device(t->b, t->host_b, sizeof t->host_b, stream));
    gemm_set_dense(&t->model, t->want, LONG_M, LONG_N, LONG_K, t->host_a, t->host_b,
                   NULL);
    ck_assert_int_eq(gemm_run(&t->model, &(struct gemm_options){ .threads = 0 }, &f),
                     BITCUT_OK);
}

static void long_start(const struct long_trial *t, void *stream)
{
    char why[BITCUT_TEXT_MAX] = "";
    if (bitcut_gemm_start(NULL, cuda, &t->g, at(t->workspace), t->bytes, stream, why))
        ck_abort_msg("%s", why);
}

static void long_check(struct long_trial *t, void *stream)
{
    memset(t->got, 0xff, sizeof t->got);
    GOOD(driver.to_host(t->got, t->d, sizeof t->got, stream));
    GOOD(driver.finish(stream));
    for (int i = 0; i < LONG_M * LONG_N; i++)
        if (t->got[i] != t->want[i])
            ck_abort_msg("%s, D[%d] %08" PRIx32 ", not %08" PRIx32, t->g.recipe->name, i,
                         t->got[i], t->want[i]);
}

/* Several starts in one workspace, and a graph that runs again. */
START_TEST(kernels_make_parts)
{
    static const char *const used[] = { "ootomo", "bf16x9" };
    uint64_t state = test_seed();
    void *graph, *run, *stream = stream_make();
    for (int r = 0; r < 2; r++) {
        struct long_trial *const t = long_make(used[r]);
        long_fill(t, &state, stream);
        for (int i = 0; i < 20; i++) long_start(t, stream);
        long_check(t, stream);
        GOOD(driver.capture(stream, 0));
        long_start(t, stream);
        GOOD(driver.captured(stream, &graph));
        GOOD(driver.instantiate(&run, graph, 0));
        for (int i = 0; i < 2; i++) {
            long_fill(t, &state, stream);
            for (int j = 0; j < 20; j++) GOOD(driver.run(run, stream));
            long_check(t, stream);
        }
        GOOD(driver.run_end(run));
        GOOD(driver.graph_end(graph));
        long_end(t);
    }
}
END_TEST

/* --- streams of a caller ---------------------------------------------------------- */

static const struct gpu_streams *streams_open(void)
{
    struct gpu g;
    struct fault f;
    ck_assert_int_eq(gpu_open(&g, table_find(TABLE(gpu_backends), "cuda"), ".", &f),
                     BITCUT_OK);
    ck_assert(g.module->streams != NULL);
    return g.module->streams;
}

/* A stream that runs has none. */
START_TEST(graphs_have_numbers)
{
    const struct gpu_streams *const s = streams_open();
    char why[GPU_FAULT_MAX];
    uint64_t none = 1, first, second;
    void *const stream = stream_make(), *graph;
    int device = -1;
    GOOD(s->device(&device, why));
    ck_assert_int_eq(device, 0);
    GOOD(s->ask(&none, stream, why));
    ck_assert_uint_eq(none, 0);
    GOOD(driver.capture(stream, 0));
    GOOD(s->ask(&first, stream, why));
    GOOD(driver.captured(stream, &graph));
    GOOD(driver.capture(stream, 0));
    GOOD(s->ask(&second, stream, why));
    GOOD(driver.captured(stream, &graph));
    ck_assert(first && second && first != second);
}
END_TEST

/* Lines of memory that was reserved: copied there with gaps, one to all others, too while
   a graph is captured, and back. */
START_TEST(lines_are_copied)
{
    enum { LINES = 11, LENGTH = 5, GAP = 3, PITCH = (LENGTH + GAP) * 4 };
    const struct gpu_streams *const s = streams_open();
    char why[GPU_FAULT_MAX];
    uint32_t from[LINES][LENGTH], got[LINES][LENGTH];
    void *const stream = stream_make(), *room, *graph, *run;
    for (int i = 0; i < LINES; i++)
        for (int j = 0; j < LENGTH; j++) from[i][j] = (uint32_t)(i * LENGTH + j + 1);
    GOOD(s->reserve(&room, LINES * PITCH, stream, why));
    const struct gpu_copy in = { room, from, PITCH, LENGTH * 4, LENGTH * 4, LINES },
                          out = { got, room, LENGTH * 4, PITCH, LENGTH * 4, LINES },
                          all = { room, (char *)room + 3 * PITCH, PITCH, 0, LENGTH * 4,
                                  LINES };
    GOOD(s->copy(&in, 0, stream, why));
    GOOD(s->copy(&out, 1, stream, why));
    ck_assert_int_eq(memcmp(got, from, sizeof got), 0);
    GOOD(driver.capture(stream, 0));
    GOOD(s->repeat(&all, stream, why));
    GOOD(driver.captured(stream, &graph));
    GOOD(driver.instantiate(&run, graph, 0));
    GOOD(driver.run(run, stream));
    GOOD(s->copy(&out, 1, stream, why));
    for (int i = 0; i < LINES; i++)
        ck_assert_int_eq(memcmp(got[i], from[3], sizeof got[i]), 0);
    GOOD(s->release(room, stream, why));
    GOOD(driver.finish(stream));
}
END_TEST

/* Memory that is reserved in a capture is the graph's: nobody else has it while the graph
   or what was made from it lasts, and then it is free again: these graphs together take
   more than a device has. */
START_TEST(graphs_have_memory)
{
    enum { GRAPHS = 200, PART = 4 };
    const size_t bytes = (size_t)1 << 30;
    const struct gpu_streams *const s = streams_open();
    char why[GPU_FAULT_MAX];
    void *const stream = stream_make(), *at, *other, *graph, *run;
    for (uint32_t i = 0; i < GRAPHS; i++) {
        uint32_t got[2] = { 0 };
        GOOD(driver.capture(stream, 0));
        GOOD(s->reserve(&at, bytes, stream, why));
        char *const far = (char *)at + bytes / 2;
        const struct gpu_copy in = { at, &i, PART, PART, PART, 1 },
                              out = { got, far, PART, PART, PART, 2 },
                              all = { far, at, PART, 0, PART, 2 };
        GOOD(s->repeat(&all, stream, why));
        GOOD(s->release(at, stream, why));
        GOOD(driver.captured(stream, &graph));
        GOOD(s->copy(&in, 0, stream, why));
        GOOD(driver.instantiate(&run, graph, 0));
        GOOD(driver.graph_end(graph));
        GOOD(s->reserve(&other, bytes, stream, why));
        ck_assert_ptr_ne(at, other);
        GOOD(s->release(other, stream, why));
        GOOD(driver.run(run, stream));
        GOOD(s->copy(&out, 1, stream, why));
        ck_assert(got[0] == i && got[1] == i);
        GOOD(driver.run_end(run));
    }
}
END_TEST

/* Memory of the host is refused, unless the device reads it as well; a stream that
   captures a graph does not mind. */
START_TEST(host_memory_refused)
{
    static uint32_t here[M * K];
    uint64_t state = test_seed();
    char why[BITCUT_TEXT_MAX] = "";
    void *graph, *stream = stream_make();
    struct trial *t = trial_make("plain", 1, 1, 0);
    trial_fill(t, &state, stream);
    GOOD(driver.capture(stream, 0));
    t->g.a.at = here;
    const enum bitcut_status status =
        bitcut_gemm_start(NULL, cuda, &t->g, at(t->workspace), t->bytes, stream, why);
    if (status != BITCUT_OK) ck_assert_str_eq(why, "A is in host memory");
    t->g.a.at = at(t->a);
    trial_start(t, stream);
    GOOD(driver.captured(stream, &graph));
    trial_end(t);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = { nothing_waits,
                                   graphs_run_again,
                                   graphs_of_batches_run_again,
                                   graphs_of_small_gemms_run_again,
                                   streams_side_by_side,
                                   kernels_make_parts,
                                   parts_prepared,
                                   host_memory_refused,
                                   graphs_have_numbers,
                                   lines_are_copied,
                                   graphs_have_memory,
                                   NULL };
    const char *why = driver_open();
    char text[BITCUT_TEXT_MAX];
    setenv("BITCUT_MODULES", ".", 0);
    setenv("CK_FORK", "no", 1); /* a device does not survive it */
    if (!why && bitcut_device_open(&cuda, "cuda", text) != BITCUT_OK) why = text;
    if (why) {
        printf("1..0 # SKIP %s\n", why);
        return 0;
    }
    const int status = test_run("graph", tests);
    bitcut_device_close(cuda);
    return status;
}
