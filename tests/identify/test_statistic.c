/* SPDX-License-Identifier: BSD-3-Clause */
/* Published statistics (data/statistics) are what the GEMMs of their rows give. */
#include "analysis/evidence/mutant.h"
#include "analysis/identify/statistic.h"
#include "emu/gemm.h"
#include "lib/input/torch_draws.h"
#include "lib/input/torch_random.h"
#include "lib/io/json_lines.h"
#include "lib/number/bits.h"
#include "lib/number/hostfp.h"
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_MAX = 32, NAME_MAX = 80 };

/* A row of the file, with its tensors. */
static struct row {
    char name[NAME_MAX], gemm[NAME_MAX]; /* gemm "": no GEMM is known that gives the
                                            numbers */
    struct matrix a, b;
    size_t gemms, count;
    /* The order in which a kernel reads k, see k_at(). */
    size_t lanes, vector, tile, start, starts;
    uint32_t *exact;
    struct published published[STATISTICS];
    char text[STATISTICS][NAME_MAX];
} rows[ROWS_MAX];

static size_t row_count;

static const char *text_of(const json_t *row, const char *key)
{
    return json_string_value(json_object_get(row, key));
}

/* The binary64 products of torch.matmul, rounded to FP32.  Products of FP32 numbers are
   exact in binary64. */
static void make_exact(struct row *r)
{
    const struct matrix *const a = &r->a, *const b = &r->b;
    const size_t n = b->cols;
    double *const sum = malloc(n * sizeof *sum);
    for (size_t i = 0; i < r->gemms * a->rows; i++) {
        const uint32_t *const right = b->at + i / a->rows * b->rows * n;
        for (size_t j = 0; j < n; j++) sum[j] = 0;
        for (size_t k = 0; k < a->cols; k++)
            for (size_t j = 0; j < n; j++)
                sum[j] += (double)float_of_bits(a->at[i * a->cols + k]) *
                          (double)float_of_bits(right[k * n + j]);
        for (size_t j = 0; j < n; j++)
            r->exact[i * n + j] = bits_of_float((float)sum[j]);
    }
    free(sum);
}

/* The position of the kernel's p-th k for rows in tile `tile` of D.  In each block of
   lanes x vector k, a lane reads `vector` k at once, and an instruction takes one k of each
   lane.  The tile starts at k = `start` times its number modulo `starts` and wraps
   around. */
static size_t k_at(const struct row *r, size_t tile, size_t p)
{
    const size_t block = r->lanes * r->vector, k = r->a.cols;
    const size_t at = p % block, read = at % r->lanes * r->vector + at / r->lanes;
    return (p / block * block + read + tile % r->starts * r->start) % k;
}

static size_t item(const json_t *row, const char *key, size_t i, size_t otherwise)
{
    const json_t *const list = json_object_get(row, key);
    return list ? (size_t)json_integer_value(json_array_get(list, i)) : otherwise;
}

static enum bitcut_status take_row(void *context, json_t *from, struct fault *f)
{
    (void)context;
    struct row *const r = &rows[row_count++];
    ck_assert_uint_lt(row_count, ROWS_MAX);
    snprintf(r->name, sizeof r->name, "%s %s", text_of(from, "set"), text_of(from, "math"));
    if (text_of(from, "gemm"))
        snprintf(r->gemm, sizeof r->gemm, "%s", text_of(from, "gemm"));
    for (int s = 0; s < STATISTICS; s++) {
        snprintf(r->text[s], NAME_MAX, "%s", text_of(from, statistics[s].name));
        ck_assert_msg(published_read(&r->published[s], r->text[s]), "%s: %s", r->name,
                      r->text[s]);
    }
    const uint64_t seed = (uint64_t)json_integer_value(json_object_get(from, "seed"));
    if (*r->gemm) {
        const enum bitcut_status status =
            torch_draws(&r->a, &r->b, text_of(from, "draws"), seed, f);
        ck_assert_msg(status == BITCUT_OK, "%s: %s", r->name, f->text);
        r->gemms = matrix_count(&r->a);
        r->lanes = item(from, "interleave", 0, 1);
        r->vector = item(from, "interleave", 1, 1);
        r->tile = item(from, "stagger", 0, r->a.rows);
        r->start = item(from, "stagger", 1, 0);
        r->starts = item(from, "stagger", 2, 1);
        r->count = r->gemms * r->a.rows * r->b.cols;
        r->exact = malloc(r->count * sizeof *r->exact);
        make_exact(r);
    }
    json_decref(from);
    return BITCUT_OK;
}

static void read_rows(void)
{
    const char *data = getenv("BITCUT_DATA");
    char path[4096];
    size_t line;
    struct fault f = { .text = "" };
    if (row_count) return;
    snprintf(path, sizeof path, "%s/statistics/mi300x.jsonl", data ? data : "data");
    ck_assert_msg(json_lines_read(&line, path, take_row, NULL, &f) == BITCUT_OK,
                  "%s:%zu: %s", path, line, f.text);
}

/* Compute the rows of D in one tile of GEMM i, with the k of A and B in the order of the
   kernel. */
static void run_tile(uint32_t *d, const struct row *r, const struct bitcut_gemm *gemm,
                     const struct gemm_plan *plan, size_t i, size_t tile)
{
    const size_t k = r->a.cols, n = r->b.cols, first = tile * r->tile;
    const size_t m = first + r->tile < r->a.rows ? r->tile : r->a.rows - first;
    const struct gemm_options options = { .threads = 1 };
    struct bitcut_gemm g = *gemm;
    struct fault f;
    uint32_t *const a = malloc(m * k * sizeof *a), *const b = malloc(k * n * sizeof *b);
    for (size_t p = 0; p < k; p++) {
        const size_t from = k_at(r, tile, p);
        for (size_t row = 0; row < m; row++)
            a[row * k + p] = r->a.at[(i * r->a.rows + first + row) * k + from];
        memcpy(b + p * n, r->b.at + (i * k + from) * n, n * sizeof *b);
    }
    gemm_set_dense(&g, d + (i * r->a.rows + first) * n, m, n, k, a, b, NULL);
    ck_assert_msg(gemm_run_plan(&g, plan, &options, &f) == BITCUT_OK, "%s", f.text);
    free(a);
    free(b);
}

/* Our statistics of a row, by its GEMM, or on `unit` if it is not NULL. */
static void ours(double value[STATISTICS], const struct row *r,
                 const struct bitcut_unit *unit)
{
    struct bitcut_gemm g;
    struct gemm_plan plan;
    struct fault f;
    char why[BITCUT_TEXT_MAX];
    uint32_t *const d = malloc(r->count * sizeof *d);
    bitcut_gemm_init(&g, sizeof g);
    ck_assert_msg(bitcut_gemm_read(&g, r->gemm, why) == BITCUT_OK, "%s: %s", r->name, why);
    if (unit) g.unit = unit;
    ck_assert(gemm_plan_on_unit(&plan, &g, &f) == BITCUT_OK);
    for (size_t i = 0; i < r->gemms; i++)
        for (size_t tile = 0; tile * r->tile < r->a.rows; tile++)
            run_tile(d, r, &g, &plan, i, tile);
    statistics_of(value, &(struct statistic_data){ d, r->exact, r->count });
    free(d);
}

/* A row that takes seconds on the definition, and whose sums may have another order than
   ours in PyTorch. */
static bool is_large(const struct row *r) { return r->count >= STATISTIC_ORDER_MAX; }

static bool agrees(const struct row *r, const double value[STATISTICS])
{
    bool all = true;
    for (int s = 0; s < STATISTICS; s++)
        all &= statistic_agrees(s, &r->published[s], value, r->count);
    return all;
}

START_TEST(every_printed_digit_is_given)
{
    size_t given = 0, open = 0;
    read_rows();
    for (size_t i = 0; i < row_count; i++) {
        const struct row *const r = &rows[i];
        double value[STATISTICS];
        open += !*r->gemm;
        if (!*r->gemm) continue;
        ours(value, r, NULL);
        for (int s = 0; s < STATISTICS; s++)
            if (!statistic_agrees(s, &r->published[s], value, r->count))
                ck_abort_msg("%s, %s: published %s, ours %.17g", r->name,
                             statistics[s].name, r->text[s], value[s]);
        given++;
    }
    ck_assert_uint_eq(given, 21);
    ck_assert_uint_eq(open, 1);
}
END_TEST

/* A changed digit, unless the number is still the same in binary64. */
START_TEST(a_changed_digit_is_noticed)
{
    size_t changed = 0;
    read_rows();
    for (size_t i = 0; i < row_count; i++) {
        const struct row *const r = &rows[i];
        double value[STATISTICS];
        if (!*r->gemm || is_large(r)) continue;
        ours(value, r, NULL);
        for (int s = 0; s < STATISTICS; s++)
            for (size_t c = 0; r->text[s][c] && r->text[s][c] != 'e'; c++) {
                struct published p;
                char text[NAME_MAX];
                snprintf(text, sizeof text, "%s", r->text[s]);
                if (text[c] < '0' || text[c] > '9') continue;
                text[c] = text[c] == '9' ? '8' : (char)(text[c] + 1);
                ck_assert(published_read(&p, text));
                if (p.value == r->published[s].value) continue;
                changed++;
                ck_assert_msg(!statistic_agrees(s, &p, value, r->count),
                              "%s, %s: %s passes as %s", r->name, statistics[s].name,
                              r->text[s], text);
            }
    }
    ck_assert_uint_gt(changed, 500);
}
END_TEST

/* Other roundings of operands, the published explanation (toward minus infinity) among
   them, and other units miss the rms of every TF32 row with negative numbers. */
START_TEST(other_roundings_miss)
{
    static const char *const more[] = { ",high=rd", ",high=rn", ",high=ru" };
    read_rows();
    for (size_t i = 0; i < row_count; i++) {
        const struct row *const r = &rows[i];
        const bool positive = !strncmp(r->name, "compile_kernel", 14);
        if (!strstr(r->gemm, "xf32")) continue;
        for (size_t j = 0; j < sizeof more / sizeof *more; j++) {
            double value[STATISTICS];
            struct row other = *r;
            snprintf(other.gemm, sizeof other.gemm, "%.*s%s", (int)strcspn(r->gemm, ","),
                     r->gemm, more[j]);
            ours(value, &other, NULL);
            const double miss = statistic_miss(&r->published[STATISTIC_RMS],
                                               value[STATISTIC_RMS]);
            /* positive numbers: toward minus infinity is toward zero */
            if (positive && j == 0) ck_assert(agrees(r, value));
            else ck_assert_msg(miss > 0.02, "%s%s: %g", r->name, more[j], miss);
        }
    }
}
END_TEST

/* Whether a row of the file that names u has other numbers by the mutant. */
static bool is_noticed(const struct bitcut_unit *u, const struct mutant *m)
{
    bool noticed = false;
    for (size_t i = 0; i < row_count && !noticed; i++) {
        double value[STATISTICS];
        if (!strstr(rows[i].gemm, u->name) || is_large(&rows[i])) continue;
        ours(value, &rows[i], &m->unit);
        noticed = !agrees(&rows[i], value);
    }
    return noticed;
}

/* The fields of u with a mutant that no row notices. */
static void open_to(char *text, size_t size, const struct bitcut_unit *u)
{
    struct mutant list[MUTANTS_MAX];
    const int n = mutants_list(list, u);
    const struct field *last = NULL;
    text[0] = 0;
    for (int i = 0; i < n; i++) {
        if (list[i].proof || list[i].field == last || is_noticed(u, &list[i])) continue;
        last = list[i].field;
        snprintf(text + strlen(text), size - strlen(text), "%s%s", *text ? " " : "",
                 last->name);
    }
}

/* What the numbers leave open is what the unit table has; of the unit of xf32, whose own
   evidence is observations, what the manual has. */
START_TEST(open_fields_are_counted)
{
    static const char *const xf32 = "cdna3/mfma.16x16x8.f32.xf32";
    size_t units_seen = 0;
    read_rows();
    for (const struct bitcut_unit *u = units; u->name; u++) {
        const bool is_xf32 = !strcmp(u->name, xf32);
        char open[400];
        if (u->evidence != EVIDENCE_STATISTICS && !is_xf32) continue;
        const char *const wanted =
            is_xf32 ? "sum_fraction keep keep_min flush_inputs overflow flush zero nan"
                    : u->open;
        open_to(open, sizeof open, u);
        ck_assert_msg(!strcmp(open, wanted), "%s: %s, counted %s", u->name, wanted, open);
        units_seen++;
    }
    ck_assert_uint_eq(units_seen, 2);
}
END_TEST

/* What PyTorch 1.13.0 (Debian 12, x86-64 with AVX2) printed of randn(n) - rand(n) after
   manual_seed(n), in the order of `statistics`. */
/* clang-format off */
static const struct {
    size_t n;
    double value[STATISTICS];
} printed[] = {
    { 1, { 0.6320706009864807, 0.6320706009864807, 0.6320706009864807, 0.6613521575927734 } },
    { 5, { 0.992504754082069, 1.273102045059204, -0.8371201753616333, 0.6675242781639099 } },
    { 31, { 1.250383835222724, 3.1297671794891357, -0.5461685657501221, 2.1827335357666016 } },
    { 33, { 0.93596444846312, 1.850955605506897, -0.47908639907836914, 1.5146373510360718 } },
    { 100, { 1.2117381324665875, 3.3775908946990967, -0.6073713898658752, 3.189648389816284 } },
    { 1000, { 1.148198473447673, 3.9685239791870117, -0.47606390714645386, 3.9949018955230713 } },
    { 8229, { 1.1653264841595896, 4.713643550872803, -0.5084693431854248, 4.018075466156006 } },
    { 32767, { 1.1582796954986558, 4.83391809463501, -0.5061822533607483, 4.3135528564453125 } },
};
/* clang-format on */

START_TEST(sums_have_the_order_of_pytorch)
{
    for (size_t i = 0; i < sizeof printed / sizeof *printed; i++) {
        const size_t n = printed[i].n;
        uint32_t *const d = malloc(2 * n * sizeof *d);
        double value[STATISTICS];
        struct torch_generator g;
        struct hostfp saved;
        hostfp_enter(&saved);
        torch_seed(&g, n);
        torch_randn(d, n, &g);
        torch_rand(d + n, n, &g);
        hostfp_leave(&saved);
        statistics_of(value, &(struct statistic_data){ d, d + n, n });
        for (int s = 0; s < STATISTICS; s++)
            ck_assert_msg(value[s] == printed[i].value[s], "%s of %zu: %.17g, not %.17g",
                          statistics[s].name, n, value[s], printed[i].value[s]);
        d[n / 2] = 0x7fc00000;
        statistics_of(value, &(struct statistic_data){ d, d + n, n });
        for (int s = 0; s < STATISTICS; s++) ck_assert(isnan(value[s]));
        free(d);
    }
}
END_TEST

START_TEST(numbers_that_are_read)
{
    static const char *const wrong[] = { "", "-", ".", "1e", "1e+", "0x1", "nan", "1 ",
                                         " 1", "inf", "1e99999", "1e999", "1.2.3", "--1" };
    struct published p;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ck_assert_msg(!published_read(&p, wrong[i]), "%s", wrong[i]);
    ck_assert(published_read(&p, "-1.50e-3") && p.value == -1.5e-3 && p.half == 5e-6);
    ck_assert(published_read(&p, "12") && p.value == 12 && p.half == 0.5);
    ck_assert(published_read(&p, ".5") && p.value == 0.5 && p.half == 0.05);
    const double value[STATISTICS] = { (double)NAN, 1, 0, 0 };
    ck_assert(!statistic_agrees(STATISTIC_RMS, &p, value, 1));
    ck_assert(isinf(statistic_miss(&p, (double)NAN)));
}
END_TEST

TEST_MAIN("statistic", every_printed_digit_is_given, a_changed_digit_is_noticed,
          other_roundings_miss, open_fields_are_counted,
          sums_have_the_order_of_pytorch, numbers_that_are_read)
