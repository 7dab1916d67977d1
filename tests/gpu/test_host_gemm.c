/* SPDX-License-Identifier: BSD-3-Clause */
/* GEMMs of CPU memory on a device (gpu/module/host_gemm.c), which is simulated: memory of
   its own, and the emulator.  Panels are small, so that there are many. */
#define GPU_HIP
#define PANEL_OUTPUTS 64
#define PANEL_LINES   4
#define gemm_run      device_run
#include "gpu/module/host_gemm.c"
#undef gemm_run

#include "lib/number/fma.h"
#include "tests/test.h"

#include <string.h>

/* --- the device ------------------------------------------------------------------- */

/* Its memory, with what was copied there and back, and what is still to be freed. */
enum { BLOCKS = 16, WORKSPACE = 64 };

static struct {
    char *at[BLOCKS];
    size_t bytes[BLOCKS];
    int blocks, events, started;
    int fails_at; /* the call of the runtime that fails, from 1 on; 0: none */
    const struct gpu_work *work;
    size_t sent, received;
    int across; /* copies of parts of lines */
} device;

static rt_error done(void)
{
    return device.fails_at && --device.fails_at == 0 ? 77 : RT_SUCCESS;
}

rt_error rt_malloc(void **at, size_t bytes)
{
    const rt_error status = done();
    if (status != RT_SUCCESS) return status;
    ck_assert_int_lt(device.blocks, BLOCKS);
    *at = aligned_alloc(GPU_ALIGNMENT, divide_up(bytes, GPU_ALIGNMENT) * GPU_ALIGNMENT);
    memset(*at, 0x5a, bytes);
    device.at[device.blocks] = *at;
    device.bytes[device.blocks++] = bytes;
    return RT_SUCCESS;
}

rt_error rt_free(void *at)
{
    if (!at) return RT_SUCCESS;
    for (int i = 0; i < device.blocks; i++)
        if (device.at[i] == at) {
            device.at[i] = device.at[--device.blocks];
            device.bytes[i] = device.bytes[device.blocks];
            free(at);
            return RT_SUCCESS;
        }
    ck_abort_msg("what was not allocated is freed");
}

static void check_there(const void *at, size_t bytes)
{
    const char *const x = at;
    for (int i = 0; i < device.blocks; i++)
        if (x >= device.at[i] && x + bytes <= device.at[i] + device.bytes[i]) return;
    ck_abort_msg("%zu bytes are not of the device", bytes);
}

rt_error rt_copy(void *to, const void *from, size_t bytes, int kind)
{
    check_there(kind == RT_TO_DEVICE ? to : from, bytes);
    memcpy(to, from, bytes);
    return done();
}

rt_error copy_there(void *to, const void *from, size_t bytes)
{
    device.sent += bytes;
    return rt_copy(to, from, bytes, RT_TO_DEVICE);
}

rt_error copy_lines_there(void *to, const void *from, size_t count, size_t bytes,
                          size_t pitch)
{
    rt_error status = RT_SUCCESS;
    device.across++;
    for (size_t i = 0; i < count && status == RT_SUCCESS; i++)
        status =
            copy_there((char *)to + i * pitch, (const char *)from + i * pitch, bytes);
    return status;
}

rt_error copy_back(void *to, const void *from, size_t bytes)
{
    device.received += bytes;
    return rt_copy(to, from, bytes, RT_TO_HOST);
}

rt_error rt_fill(void *at, int byte, size_t bytes)
{
    check_there(at, bytes);
    memset(at, byte, bytes);
    return done();
}

rt_error rt_event_create(rt_event *event)
{
    const rt_error status = done();
    if (status != RT_SUCCESS) return status;
    device.events++;
    *event = &device;
    return status;
}

rt_error rt_event_record(rt_event event, rt_stream stream)
{
    ck_assert(event && !stream);
    return done();
}

rt_error rt_event_wait(rt_event event)
{
    ck_assert_ptr_nonnull(event);
    return done();
}

rt_error rt_event_end(rt_event event)
{
    ck_assert_ptr_nonnull(event);
    device.events--;
    return RT_SUCCESS;
}

rt_error rt_device_wait(void) { return RT_SUCCESS; }

rt_error device_enter(int *before, int number)
{
    *before = number;
    return done();
}
void device_leave(int before) { ck_assert_int_eq(before, 3); }

int fault_of(char *fault, rt_error status)
{
    if (status != RT_SUCCESS) strcpy(fault, "it failed");
    return status;
}

size_t gemm_workspace(const struct gpu_work *w) { return w->gemm.m ? WORKSPACE : 0; }

static void emulate(const struct bitcut_gemm *g)
{
    char why[BITCUT_TEXT_MAX];
    if (bitcut_gemm(NULL, g, 1, why) != BITCUT_OK) ck_abort_msg("%s", why);
}

/* The GEMM as it is on the device; its workspace is of ones at first. */
rt_error work_start(const struct gpu_work *w, void *workspace, rt_stream stream)
{
    static char ones[WORKSPACE];
    ck_assert_ptr_null(stream);
    memset(ones, 0xff, sizeof ones);
    if (!device.started++ && workspace) ck_assert_mem_eq(workspace, ones, sizeof ones);
    emulate(&w->gemm);
    return done();
}

/* What only parts on the host need. */
size_t gemm_parts(const struct gpu_work *w, enum bitcut_operand which)
{
    ck_abort_msg("parts of %p, %d", (const void *)w, (int)which);
}
rt_error split_launch(const struct to_split *of, int count, rt_stream stream)
{
    return of && count && stream;
}

/* --- GEMMs ------------------------------------------------------------------------ */

enum { COUNT = 3, ELEMENTS = COUNT * 64 * 64 };

static uint32_t a[ELEMENTS], b[ELEMENTS], c[ELEMENTS], d[ELEMENTS], before[2][ELEMENTS];

static void fill(uint32_t *to, uint64_t *state)
{
    for (size_t i = 0; i < ELEMENTS; i++)
        to[i] = ((uint32_t)test_bits(state) & 0x83ffffff) | 0x3c000000;
}

/* A matrix from some element on, of f32 or of bf16. */
static struct bitcut_matrix matrix_at(uint32_t *at, size_t rows, size_t cols,
                                      uint64_t *state)
{
    const bool down = test_between(state, 0, 1), half = !test_between(state, 0, 3);
    struct bitcut_matrix x = { .layout = down ? BITCUT_COLUMN_MAJOR : BITCUT_ROW_MAJOR };
    x.format = half ? &formats[FORMAT_BF16] : &formats[FORMAT_F32];
    x.at = (char *)at + test_between(state, 0, 5) * (half ? 2 : 4);
    x.ld = (down ? rows : cols) +
           (size_t)(test_between(state, 0, 1) * test_between(state, 0, 3));
    x.stride = (down ? cols : rows) * x.ld + (size_t)test_between(state, 0, 5);
    return x;
}

static struct bitcut_gemm some_gemm(uint64_t *state)
{
    struct bitcut_gemm g;
    bitcut_gemm_init(&g, sizeof g);
    g.recipe = bitcut_recipe_find("plain");
    g.unit = bitcut_unit_find("fma/f32", NULL);
    g.count = test_between(state, 0, 4) ? 1 : COUNT;
    g.m = (size_t)test_between(state, 0, 60);
    g.n = (size_t)test_between(state, 0, 60);
    g.k = (size_t)test_between(state, 0, 5);
    g.beta = test_between(state, 0, 1) ? 0 : F32_ONE;
    g.a = matrix_at(a, g.m, g.k, state);
    g.b = matrix_at(b, g.k, g.n, state);
    g.d = matrix_at(d, g.m, g.n, state);
    g.c = g.d;
    if (test_between(state, 0, 1)) g.c = matrix_at(c, g.m, g.n, state);
    return g;
}

/* Where matrices are: of all that a test has. */
static void all_memory(struct gpu_memory memory[4], const struct bitcut_gemm *g)
{
    uint32_t *const at[] = { a, b, g->c.at && g->c.at == g->d.at ? d : c, d };
    for (int i = 0; i < 4; i++) memory[i] = (struct gpu_memory){ at[i], sizeof a };
    if (!gemm_reads_c(g)) memory[2] = (struct gpu_memory){ NULL, 0 };
    if (!g->m || !g->n) memory[3] = (struct gpu_memory){ NULL, 0 };
}

static int run_there(const struct bitcut_gemm *g, char *fault)
{
    const struct gpu_work w = { .gemm = *g };
    struct gpu_memory memory[4];
    all_memory(memory, g);
    device.started = 0;
    device.sent = device.received = 0;
    device.across = 0;
    const int status = device_run(&w, memory, 3, fault);
    ck_assert_int_eq(device.blocks, 0);
    ck_assert_int_eq(device.events, 0);
    return status;
}

START_TEST(like_the_emulator)
{
    uint64_t state = test_seed();
    int cut = 0, whole = 0, less = 0, pieces = 0, across = 0;
    for (int i = 0; i < test_cases(2000, 20000); i++) {
        const uint64_t seed = state;
        char why[GPU_FAULT_MAX];
        struct bitcut_gemm g = some_gemm(&state);
        fill(a, &state), fill(b, &state), fill(c, &state), fill(d, &state);
        memcpy(before[0], d, sizeof d), memcpy(before[1], c, sizeof c);
        ck_assert_int_eq(run_there(&g, why), 0);
        cut += device.started > 1, whole += device.started == 1;
        less += device.received < sizeof d;
        pieces += device.started > PANELS_MAX, across += device.across > 0;
        ck_assert_int_le(device.started, PANELS_MAX + PIECES_MAX - 1);
        uint32_t *const got = memcpy(malloc(sizeof d), d, sizeof d);
        memcpy(d, before[0], sizeof d);
        emulate(&g);
        ck_assert_msg(!memcmp(got, d, sizeof d), "state %" PRIu64, seed);
        ck_assert_mem_eq(before[1], c, sizeof c);
        free(got);
    }
    ck_assert_int_gt(cut, whole / 4);
    ck_assert_int_gt(less, cut / 2);
    ck_assert_int_gt(pieces, cut / 8);
    ck_assert_int_gt(across, pieces / 8);
}
END_TEST

/* Pointers go there as they are, to the same memory. */
START_TEST(pointers)
{
    uint64_t state = test_seed();
    char why[GPU_FAULT_MAX];
    for (int i = 0; i < test_cases(200, 2000); i++) {
        const void *each[4][COUNT];
        struct bitcut_gemm g;
        do g = some_gemm(&state);
        while (g.count == 1 || !g.m || !g.n || g.c.at == g.d.at);
        struct bitcut_matrix *const m[] = { &g.a, &g.b, &g.c, &g.d };
        fill(a, &state), fill(b, &state), fill(c, &state), fill(d, &state);
        memcpy(before[0], d, sizeof d);
        for (int j = 0; j < 4; j++) {
            for (size_t n = 0; n < COUNT; n++)
                each[j][n] = matrix_nth(m[j], COUNT - 1 - n);
            m[j]->each = each[j];
            m[j]->at = NULL;
        }
        ck_assert_int_eq(run_there(&g, why), 0);
        ck_assert_int_eq(device.started, 1);
        uint32_t *const got = memcpy(malloc(sizeof d), d, sizeof d);
        memcpy(d, before[0], sizeof d);
        emulate(&g);
        ck_assert_mem_eq(got, d, sizeof d);
        free(got);
    }
}
END_TEST

/* Of a device that fails, sooner or later, nothing is left, and it is said. */
START_TEST(failures)
{
    uint64_t state = test_seed();
    struct bitcut_gemm g;
    do g = some_gemm(&state);
    while (!g.m || !g.n || !g.k);
    int calls = 1, status;
    do {
        char why[GPU_FAULT_MAX] = "";
        device.fails_at = calls++;
        status = run_there(&g, why);
        ck_assert_str_eq(why, status ? "it failed" : "");
    } while (status);
    ck_assert_int_gt(calls, 10);
    device.fails_at = 0;
}
END_TEST

TEST_MAIN("host_gemm", like_the_emulator, pointers, failures)
