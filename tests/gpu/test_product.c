/* SPDX-License-Identifier: BSD-3-Clause */
/* The positions of parts and workspaces of a GEMM (gpu/module/product.c), and the
   arguments of the split pass and the kernel, which are simulated, like the runtime:
   nothing is computed.  The layout is computed here row by row, as described in
   gpu/module/module.h. */
#define GPU_HIP
#include "gpu/module/product.c"

#include "lib/base/size.h"
#include "lib/number/equilibrate.h"
#include "tests/test.h"

#include <stdio.h>

/* --- what is said of a case ------------------------------------------------------- */

static char now[200];

static void same(size_t got, size_t want, const char *what)
{
    ck_assert_msg(got == want, "%s: %s is %zu, not %zu", now, what, got, want);
}

static void same_place(const void *got, const void *want, const char *what)
{
    ck_assert_msg(got == want, "%s: %s is elsewhere", now, what);
}

/* --- stand-ins -------------------------------------------------------------------- */

enum { HERE = 3, THERE = 1, FAULT = 77 };

static struct {
    struct to_split of[2];
    int splits, operands, launches, emulations, device;
    struct gpu_product product;
    rt_stream stream;
    bool split_fails, launch_fails;
} seen;

rt_error rt_device_get(int *device)
{
    *device = seen.device;
    return RT_SUCCESS;
}

rt_error rt_device_set(int device)
{
    seen.device = device;
    return RT_SUCCESS;
}

int fault_of(char *fault, rt_error status)
{
    if (status != RT_SUCCESS) strcpy(fault, "it failed");
    return status;
}

/* Of no operand nothing starts. */
rt_error split_launch(const struct to_split *of, int count, rt_stream stream)
{
    ck_assert_int_le(count, 2);
    ck_assert_int_eq(seen.device, THERE);
    seen.splits++;
    seen.operands = count;
    seen.stream = stream;
    for (int i = 0; i < count; i++) seen.of[i] = of[i];
    return seen.split_fails ? FAULT : RT_SUCCESS;
}

static int launch(const struct gpu_product *p)
{
    ck_assert_int_eq(seen.device, THERE);
    seen.launches++;
    seen.product = *p;
    return seen.launch_fails ? FAULT : RT_SUCCESS;
}

/* Of the kernel: an odd number of bytes, for what it knows of a product before any place
   is known. */
static size_t own_bytes(size_t m, size_t n, size_t k, int slices)
{
    return 4 * (size_t)slices * m * n + k + 1;
}

static size_t workspace_of(const struct gpu_product *p)
{
    return own_bytes(p->m, p->n, p->k, p->slices);
}

/* Whether the kernel makes the parts that do not exist yet. */
static bool makes_parts;

static bool splits_of(const struct gpu_product *p)
{
    return makes_parts && p->kernel != NULL;
}

static const struct gpu_kernel kernel = { .name = "some",
                                          .recipe = "some",
                                          .workspace = workspace_of,
                                          .splits = splits_of,
                                          .launch = launch };

/* Bytes of an emulated GEMM, and whether the kernel above computes it. */
static size_t more_bytes = 5;
static bool has_kernel;

static size_t emulation_bytes(const struct gpu_work *w) { return w->gemm.m + more_bytes; }

static rt_error emulation_start(const struct gpu_work *w, void *workspace,
                                rt_stream stream)
{
    seen.emulations++;
    return w && workspace && !stream ? RT_SUCCESS : FAULT;
}

static bool emulation_by_kernel(struct gpu_work *to, const struct gpu_work *w)
{
    *to = *w;
    to->kernel = &kernel;
    return has_kernel;
}

const struct emulation_code emulation_code = { emulation_bytes, emulation_start,
                                               emulation_by_kernel };

/* --- parts ------------------------------------------------------------------------ */

/* Splits, and the bytes of their parts: of the first, and of each other. */
static const struct known {
    int split;
    size_t parts, first, other;
} known[] = {
    { SPLIT_HALF_E4M3, 3, 2, 1 }, { SPLIT_HALF_E5M2, 3, 2, 1 },
    { SPLIT_HALF_S8, 3, 2, 1 },   { SPLIT_HALFHALF, 2, 2, 2 },
    { SPLIT_TF32TF32, 2, 4, 4 },  { SPLIT_BF16X3, 3, 2, 2 },
    { SPLIT_HALF, 1, 2, 2 },      { SPLIT_TF32, 1, 4, 4 },
};

static const size_t depths[] = { 0, 1, 63, 64, 65 };

enum {
    KNOWN = sizeof known / sizeof known[0],
    DEPTHS = sizeof depths / sizeof depths[0],
    LINES = 5,
    SLICES = 2
};

/* m and n are 1 to LINES. */
static struct gpu_work work_of(const struct known *s, size_t m, size_t k,
                               bool equilibrate)
{
    struct gpu_work w = { .kernel = &kernel };
    bitcut_gemm_init(&w.gemm, sizeof w.gemm);
    w.gemm.m = m;
    w.gemm.n = LINES + 1 - m;
    w.gemm.k = k;
    w.plan.split_a = w.plan.split_b = splits[s->split];
    w.plan.equilibrate = equilibrate;
    w.plan.target = equilibrate_target(&w.plan.split_a);
    w.plan.scale = w.plan.split_a.scale;
    w.plan.order.slices = SLICES;
    snprintf(now, sizeof now, "%s, m %zu n %zu k %zu%s", splits[s->split].name, m,
             w.gemm.n, k, equilibrate ? ", equilibrated" : "");
    return w;
}

static size_t run_of(size_t k)
{
    size_t run = 0;
    while (run < k) run += GPU_PARTS_RUN;
    return run;
}

/* Bytes of all parts. */
static size_t end_of(const struct known *s, size_t lines, size_t k)
{
    size_t bytes = 0;
    for (size_t part = 0; part < s->parts; part++)
        for (size_t line = 0; line < lines; line++)
            bytes += run_of(k) * (part ? s->other : s->first);
    return bytes;
}

static void check_operand(const struct gpu_work *w, enum bitcut_operand which,
                          const struct known *s)
{
    static const uint32_t here[1];
    const struct operand x = operand_of(w, which);
    const size_t lines = which == BITCUT_A ? w->gemm.m : w->gemm.n;
    const size_t end = end_of(s, lines, w->gemm.k);
    const size_t all = end + (w->plan.equilibrate ? 4 * lines : 0);
    const char *const largest = (const char *)parts_largest(here, &x);
    same(x.lines, lines, "lines");
    same(x.k, w->gemm.k, "k");
    same(gemm_parts(w, which), all, "bytes");
    same(prepared_stride(&x) % GPU_ALIGNMENT, 0, "stride's rest");
    ck_assert_msg(prepared_stride(&x) >= all && prepared_stride(&x) < all + GPU_ALIGNMENT,
                  "%s: stride %zu of %zu bytes", now, prepared_stride(&x), all);
    if (!w->plan.equilibrate) {
        same_place(largest, NULL, "the largest");
        return;
    }
    same((size_t)(largest - (const char *)here), end, "where the largest are");
    same((size_t)(largest - (const char *)here) % sizeof(uint32_t), 0,
         "the rest of that");
}

/* Every split, k, number of lines, equilibrated or not. */
static void each_work(void (*check)(struct gpu_work *w, const struct known *s))
{
    for (size_t i = 0; i < KNOWN; i++)
        for (size_t j = 0; j < DEPTHS; j++)
            for (size_t m = 1; m <= LINES; m++)
                for (int e = 0; e < 2; e++) {
                    struct gpu_work w = work_of(&known[i], m, depths[j], e);
                    check(&w, &known[i]);
                }
}

static void check_parts(struct gpu_work *w, const struct known *s)
{
    check_operand(w, BITCUT_A, s);
    check_operand(w, BITCUT_B, s);
}

START_TEST(parts) { each_work(check_parts); }
END_TEST

/* --- products --------------------------------------------------------------------- */

enum { SHARED, STRIDED, PREPARED, PREPARED_ONCE, KINDS };

static _Alignas(GPU_ALIGNMENT) char workspace[1 << 17], prepared[2][GPU_ALIGNMENT];

/* Its elements or parts: one for all, or one for each. */
static struct bitcut_matrix matrix_of(int kind, int operand, enum bitcut_layout layout)
{
    static const float elements[2];
    struct bitcut_matrix x = { .at = &elements[operand], .layout = layout, .ld = 70 };
    if (kind == STRIDED || kind == PREPARED_ONCE) x.stride = 1000;
    if (kind == PREPARED || kind == PREPARED_ONCE) x.prepared = prepared[operand];
    if (kind == PREPARED) x.prepared_stride = 512;
    return x;
}

/* Where the parts of an operand should be, and how many matrices are to be made. */
struct place {
    const char *at;
    size_t lines, end, own; /* own: bytes from those of a matrix to the next */
    size_t made, stride;
};

static struct place place_of(const struct gpu_work *w, enum bitcut_operand which,
                             const struct known *s, const char *at)
{
    const struct bitcut_matrix *const x = which == BITCUT_A ? &w->gemm.a : &w->gemm.b;
    struct place to = { .at = x->prepared ? x->prepared : at,
                        .lines = which == BITCUT_A ? w->gemm.m : w->gemm.n };
    to.end = end_of(s, to.lines, w->gemm.k);
    while (to.own < to.end + (w->plan.equilibrate ? 4 * to.lines : 0))
        to.own += GPU_ALIGNMENT;
    to.made = x->prepared ? 0 : x->stride ? w->gemm.count : 1;
    to.stride = x->prepared ? x->prepared_stride : x->stride ? to.own : 0;
    return to;
}

/* What the split pass was given. */
static void check_split(const struct to_split *of, const struct place *want,
                        const struct gpu_work *w, bool is_a)
{
    const struct operand *const x = &of->operand;
    same_place(of->parts, want->at, "the parts made");
    same(of->count, want->made, "how many are made");
    same_place(x->matrix, is_a ? &w->gemm.a : &w->gemm.b, "the matrix");
    same_place(x->split, is_a ? &w->plan.split_a : &w->plan.split_b, "the split");
    same(x->lines, want->lines, "lines");
    same(x->k, w->gemm.k, "k");
    same(x->equilibrate, w->plan.equilibrate, "whether lines are equilibrated");
    same((size_t)(x->target + 100), (size_t)(w->plan.target + 100), "100 + the target");
    same(x->across, x->matrix->layout == (is_a ? BITCUT_COLUMN_MAJOR : BITCUT_ROW_MAJOR),
         "whether it lies across");
}

static void check_parts_given(const struct parts *x, const uint32_t *largest,
                              size_t stride, const struct place *want,
                              const struct gpu_work *w, const struct known *s)
{
    const bool equilibrate = w->plan.equilibrate;
    same_place(x->at, want->at, "the parts");
    same(x->lines, want->lines, "lines");
    same(x->row_bytes, run_of(w->gemm.k) * s->first, "bytes of a line");
    same(x->low_row_bytes, run_of(w->gemm.k) * s->other, "bytes of a low line");
    same(x->stride, want->stride, "stride");
    same_place(largest, equilibrate ? want->at + want->end : NULL, "the largest");
    same(stride * sizeof *largest, want->stride, "the stride of the largest");
}

/* The arguments of the kernel other than the parts. */
static void check_given(const struct gpu_work *w, const void *own)
{
    const struct gpu_product *const p = &seen.product;
    const struct bitcut_gemm *const g = &w->gemm;
    same_place(p->kernel, &kernel, "the kernel");
    same_place(p->workspace, own, "the kernel's workspace");
    same_place(p->stream, &seen, "the stream");
    if (!makes_parts) same_place(seen.stream, &seen, "the stream of the split pass");
    same(p->count, g->count, "count");
    same(p->m, g->m, "m");
    same(p->n, g->n, "n");
    same(p->k, g->k, "k");
    same((size_t)p->slices, SLICES, "slices");
    same((size_t)p->scale, (size_t)w->plan.scale, "scale");
    same((size_t)(p->lines.target + 100), (size_t)(w->plan.target + 100),
         "100 + the target");
    ck_assert(p->alpha == 2 && p->beta == (gemm_reads_c(g) ? 1 : 0));
    same_place(p->c.at, gemm_reads_c(g) ? g->c.to : NULL, "C");
    same_place(p->d.at, g->d.to, "D");
    same(p->d.stride, g->d.stride, "the stride of D");
    same(p->d.turned, g->d.layout == BITCUT_COLUMN_MAJOR, "whether D is turned");
}

static void check_start(const struct gpu_work *w, const struct known *s)
{
    char why[GPU_FAULT_MAX];
    const struct bitcut_gemm *const g = &w->gemm;
    const struct place a = place_of(w, BITCUT_A, s, workspace);
    char *const behind_a = workspace + a.made * a.own;
    const struct place b = place_of(w, BITCUT_B, s, behind_a);
    char *const own = behind_a + b.made * b.own;
    const int made = !g->a.prepared + !g->b.prepared;
    seen.splits = seen.operands = seen.launches = 0;
    same(gemm_workspace(w),
         (size_t)(own - workspace) + own_bytes(g->m, g->n, g->k, SLICES), "workspace");
    ck_assert_int_eq(gemm_start(w, workspace, THERE, &seen, why), 0);
    ck_assert_int_eq(seen.device, HERE);
    ck_assert_int_eq(seen.launches, 1);
    const struct gpu_product *const p = &seen.product;
    const struct to_split *const of = makes_parts ? p->split : seen.of;
    same((size_t)seen.splits, !makes_parts, "split passes");
    same((size_t)seen.operands, makes_parts ? 0 : (size_t)made, "operands that are made");
    same((size_t)p->splits, makes_parts ? (size_t)made : 0, "operands to be made");
    if (!g->a.prepared) check_split(&of[0], &a, w, true);
    if (!g->b.prepared) check_split(&of[made - 1], &b, w, false);
    check_parts_given(&p->a, p->lines.a, p->lines.stride_a, &a, w, s);
    check_parts_given(&p->b, p->lines.b, p->lines.stride_b, &b, w, s);
    same(p->behind_split, !makes_parts && made && g->k, "whether a split pass is before");
    check_given(w, own);
}

/* Every kind of A and B, in both layouts, for one GEMM and for three. */
static void check_starts(struct gpu_work *w, const struct known *s)
{
    static float c[1], d[1];
    const size_t said = strlen(now);
    struct bitcut_gemm *const g = &w->gemm;
    g->alpha = 0x40000000;
    for (int i = 0; i < 2 * KINDS * KINDS; i++) {
        const int kind_a = i / KINDS % KINDS, kind_b = i % KINDS;
        const bool three = i / KINDS / KINDS;
        g->count = three ? 3 : 1;
        g->a = matrix_of(kind_a, 0, kind_b & 1 ? BITCUT_COLUMN_MAJOR : BITCUT_ROW_MAJOR);
        g->b = matrix_of(kind_b, 1, kind_a & 1 ? BITCUT_COLUMN_MAJOR : BITCUT_ROW_MAJOR);
        g->beta = three ? 0x3f800000 : 0x80000000;
        g->c = (struct bitcut_matrix){ .to = c, .ld = 80, .stride = 2000 };
        g->d = (struct bitcut_matrix){ .to = d, .ld = 90, .stride = 3000 };
        g->d.layout = three ? BITCUT_COLUMN_MAJOR : BITCUT_ROW_MAJOR;
        snprintf(now + said, sizeof now - said, ", %zu of kinds %d, %d", g->count, kind_a,
                 kind_b);
        check_start(w, s);
    }
}

START_TEST(products)
{
    seen.device = HERE;
    for (int i = 0; i < 2; i++) {
        makes_parts = i;
        each_work(check_starts);
    }
}
END_TEST

/* Parts that are made once, for later. */
static void check_prepare(struct gpu_work *w, const struct known *s)
{
    char why[GPU_FAULT_MAX];
    w->gemm.count = 3;
    w->gemm.a = matrix_of(STRIDED, 0, BITCUT_COLUMN_MAJOR);
    w->gemm.b = matrix_of(PREPARED, 1, BITCUT_COLUMN_MAJOR);
    for (int is_a = 0; is_a < 2; is_a++) {
        const enum bitcut_operand which = is_a ? BITCUT_A : BITCUT_B;
        struct place want = place_of(w, which, s, NULL);
        want.at = workspace;
        want.made = 1;
        seen.splits = seen.launches = 0;
        ck_assert_int_eq(gemm_prepare(workspace, w, which, THERE, &seen, why), 0);
        ck_assert_int_eq(seen.device, HERE);
        same((size_t)seen.splits, 1, "split passes");
        same((size_t)seen.operands, 1, "operands");
        same((size_t)seen.launches, 0, "products");
        check_split(&seen.of[0], &want, w, is_a);
    }
}

START_TEST(prepares)
{
    seen.device = HERE;
    each_work(check_prepare);
}
END_TEST

/* --- what else a GEMM can be ------------------------------------------------------ */

/* Without outputs nothing starts. */
START_TEST(nothing)
{
    char why[GPU_FAULT_MAX];
    seen.device = HERE;
    for (int i = 0; i < 3; i++) {
        struct gpu_work w = work_of(&known[0], 2, 64, true);
        *(i == 0 ? &w.gemm.count : i == 1 ? &w.gemm.m : &w.gemm.n) = 0;
        ck_assert_int_eq(gemm_start(&w, workspace, THERE, &seen, why), 0);
    }
    ck_assert(!seen.splits && !seen.launches && seen.device == HERE);
}
END_TEST

/* Kernels that read matrices as they are have no parts and no workspace; what is emulated
   has its own. */
static int start_small(const struct gpu_work *w, void *stream)
{
    seen.emulations += 10;
    return w->gemm.m == 2 && stream == &seen ? RT_SUCCESS : FAULT;
}

START_TEST(without_parts)
{
    static const struct gpu_kernel small = { .recipe = "small", .start = start_small },
                                   none = { .name = "emulated" };
    char why[GPU_FAULT_MAX];
    struct gpu_work w = work_of(&known[0], 2, 64, false);
    seen.device = HERE;
    w.kernel = &small;
    ck_assert_uint_eq(gemm_workspace(&w), 0);
    ck_assert_int_eq(gemm_start(&w, NULL, THERE, &seen, why), 0);
    ck_assert_int_eq(seen.emulations, 10);
    w.kernel = &none;
    ck_assert_uint_eq(gemm_workspace(&w), 2 + 5);
    ck_assert_int_eq(gemm_start(&w, workspace, THERE, NULL, why), 0);
    ck_assert_int_eq(seen.emulations, 11);
    ck_assert(!seen.splits && !seen.launches);
}
END_TEST

/* An emulated GEMM that a kernel computes is started as the kernel's, if its workspace is
   large enough. */
START_TEST(emulated_by_kernel)
{
    static const struct gpu_kernel none = { .name = "emulated" };
    char why[GPU_FAULT_MAX];
    struct gpu_work w = work_of(&known[0], 2, 64, false);
    const size_t needs = gemm_workspace(&w);
    seen.device = HERE;
    w.kernel = &none;
    has_kernel = true;
    more_bytes = needs - w.gemm.m - 1;
    ck_assert_int_eq(gemm_start(&w, workspace, THERE, NULL, why), 0);
    ck_assert(seen.emulations == 1 && !seen.launches);
    more_bytes++;
    ck_assert_int_eq(gemm_start(&w, workspace, THERE, NULL, why), 0);
    ck_assert(seen.emulations == 1 && seen.launches == 1 && seen.splits == 1);
    same_place(seen.product.kernel, &kernel, "the kernel");
    has_kernel = false;
    ck_assert_int_eq(gemm_start(&w, workspace, THERE, NULL, why), 0);
    ck_assert(seen.emulations == 2 && seen.launches == 1);
}
END_TEST

/* A split pass that does not start is behind no product; both are told. */
START_TEST(failures)
{
    char why[GPU_FAULT_MAX] = "";
    struct gpu_work w = work_of(&known[0], 2, 64, true);
    seen.device = HERE;
    seen.split_fails = true;
    ck_assert_int_eq(gemm_start(&w, workspace, THERE, &seen, why), FAULT);
    ck_assert_str_eq(why, "it failed");
    ck_assert(seen.splits == 1 && !seen.launches && seen.device == HERE);
    ck_assert_int_eq(gemm_prepare(workspace, &w, BITCUT_A, THERE, &seen, why), FAULT);
    ck_assert_int_eq(seen.device, HERE);
    seen.split_fails = false;
    seen.launch_fails = true;
    ck_assert_int_eq(gemm_start(&w, workspace, THERE, &seen, why), FAULT);
    ck_assert(seen.launches == 1 && seen.device == HERE);
}
END_TEST

/* --- split-K ---------------------------------------------------------------------- */

/* Slices of whole steps, as few as that many slices allow, follow each other; none is
   empty, and they cover k and no step more. */
static void check_cut(struct k_cut cut, size_t bytes, size_t step, int slices)
{
    size_t at = 0, least = 0;
    while (least * (size_t)slices < cut.bytes) least += step;
    same(cut.bytes % step, 0, "what is no whole step");
    ck_assert_msg(cut.bytes >= bytes && cut.bytes < bytes + step, "%s: %zu bytes for %zu",
                  now, cut.bytes, bytes);
    ck_assert_msg(cut.slices >= 1 && cut.slices <= slices, "%s: %d slices", now,
                  cut.slices);
    same(cut.slice_bytes, least, "bytes of a slice");
    for (int i = 0; i < cut.slices; i++) {
        const size_t from = (size_t)i * cut.slice_bytes;
        same(from, at, "where a slice begins");
        ck_assert_msg(from < cut.bytes || !bytes, "%s: slice %d is empty", now, i);
        at = smaller(from + cut.slice_bytes, cut.bytes);
    }
    same(at, cut.bytes, "the end of all slices");
}

START_TEST(slices)
{
    static const struct {
        int format;
        size_t bytes;
    } formats_known[] = {
        { FORMAT_TF32, 4 }, { FORMAT_F16, 2 }, { FORMAT_BF16, 2 }, { FORMAT_E4M3, 1 },
        { FORMAT_S8, 1 }
    };
    for (size_t f = 0; f < sizeof formats_known / sizeof formats_known[0]; f++)
        for (size_t step = 32; step <= 64; step += 32)
            for (size_t k = 0; k <= 300; k++)
                for (int n = 1; n <= 9; n++) {
                    snprintf(now, sizeof now, "%s, k %zu, %d slices of %zu bytes",
                             formats[formats_known[f].format].name, k, n, step);
                    check_cut(k_cut_of(k, n, formats_known[f].format, step),
                              k * formats_known[f].bytes, step, n);
                }
}
END_TEST

TEST_MAIN("product", parts, products, prepares, nothing, without_parts,
          emulated_by_kernel, failures, slices)
