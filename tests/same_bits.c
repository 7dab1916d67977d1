/* SPDX-License-Identifier: BSD-3-Clause */
/* Digests of the library's results, one line each: same_bits MODE THREADS [LOCALE].  MODE
   is the floating-point mode of the caller; no digest may depend on these arguments.
   Exit status 77: this machine does not have that mode or locale. */
#include "emu/attention/attention_row.h"
#include "emu/fp64/fp64_gemm.h"
#include "lib/gemm/recipe.h"
#include "lib/input/input.h"
#include "lib/io/decimal.h"
#include "lib/number/bits.h"

#include <fenv.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

enum { NOT_HERE = 77, VALUES = 4096, M = 19, N = 23, K = 37 };

static int threads;

/* The end of the program if something fails that cannot. */
static void require(bool good, const char *what)
{
    if (good) return;
    fprintf(stderr, "same_bits: %s\n", what);
    exit(1);
}

/* --- digests: 64-bit FNV-1a of little-endian 64-bit numbers ------------------------- */

static const uint64_t digest_empty = 0xcbf29ce484222325u;

static void digest_add(uint64_t *digest, uint64_t x)
{
    for (int i = 0; i < 8; i++)
        *digest = (*digest ^ (x >> 8 * i & 0xff)) * 0x100000001b3u;
}

static void digest_print(const char *kind, const char *name, uint64_t digest)
{
    printf("%s %s %016llx\n", kind, name, (unsigned long long)digest);
}

/* --- matrices ----------------------------------------------------------------------- */

static struct matrix matrix_make(const char *family, enum input_role role, size_t rows,
                                 size_t cols)
{
    struct input input;
    struct matrix m;
    require(input_parse(&input, family, NULL) == BITCUT_OK, family);
    require(matrix_init(&m, rows, cols, NULL) == BITCUT_OK, "no memory");
    require(input_fill(&m, &input, role, 1, threads, NULL) == BITCUT_OK, family);
    return m;
}

static void matrix_add(uint64_t *digest, const struct matrix *m)
{
    for (size_t i = 0; i < m->rows * m->cols; i++) digest_add(digest, m->at[i]);
}

/* --- what is computed --------------------------------------------------------------- */

static void inputs_digest(void)
{
    for (const struct input_family *f = inputs; f->name; f++) {
        uint64_t digest = digest_empty;
        for (int role = INPUT_A; role <= INPUT_B; role++) {
            struct matrix m = matrix_make(f->name, (enum input_role)role, N, N);
            matrix_add(&digest, &m);
            matrix_clear(&m);
        }
        digest_print("input", f->name, digest);
    }
}

static uint64_t conversions(const struct bitcut_format *to,
                            const struct bitcut_rounding *rounding,
                            const struct matrix *values)
{
    uint64_t digest = digest_empty;
    for (size_t i = 0; i < VALUES; i++)
        digest_add(&digest, bitcut_format_convert(to, rounding, &formats[FORMAT_F32],
                                                  values->at[i]));
    return digest;
}

static void formats_digest(const struct matrix *values)
{
    for (const struct bitcut_format *f = formats; f->name; f++)
        if (f->has_sign)
            digest_print("format", f->name, conversions(f, &roundings[ROUND_RN], values));
}

static void roundings_digest(const struct matrix *values)
{
    for (const struct bitcut_rounding *r = roundings; r->name; r++)
        digest_print("rounding", r->name, conversions(&formats[FORMAT_F16], r, values));
}

static void splits_digest(const struct matrix *values)
{
    for (const struct bitcut_split *s = splits; s->name; s++) {
        uint64_t digest = digest_empty, part[3];
        for (size_t i = 0; i < VALUES; i++) {
            const int parts = bitcut_split_apply(part, s, values->at[i]);
            for (int w = 0; w < parts; w++) digest_add(&digest, part[w]);
        }
        digest_print("split", s->name, digest);
    }
}

static void decimals_digest(const struct matrix *values)
{
    uint64_t digest = digest_empty;
    for (size_t i = 0; i < VALUES; i++) {
        char text[DECIMAL_MAX];
        uint32_t back;
        decimal_write(text, values->at[i]);
        require(decimal_read(&back, text), text);
        for (const char *c = text; *c; c++) digest_add(&digest, (unsigned char)*c);
        digest_add(&digest, back);
    }
    digest_print("decimal", "text", digest);
}

/* One unit of each way to sum, vendor and operand size. */
static const char *const unit_names[] = { "ideal/rn25",
                                          "ideal/rz25",
                                          "ootomo/mma_rn",
                                          "ootomo/mma_rz",
                                          "fma/f32",
                                          "fma/f64",
                                          "volta/mma.m8n8k4.f16.f16",
                                          "ampere/mma.m16n8k16.f32.f16",
                                          "ampere/mma.m16n8k8.f32.tf32",
                                          "ada/mma.m16n8k32.f32.e4m3",
                                          "hopper/mma.m16n8k16.f32.bf16",
                                          "hopper/mma.m16n8k32.f16.e5m2",
                                          "hopper/wgmma.m64n8k32.f32.e4m3",
                                          "cdna1/mfma.32x32x8.f32.f16",
                                          "cdna2/mfma.32x32x8.f32.f16",
                                          "cdna3/mfma.32x32x8.f32.f16",
                                          "cdna3/mfma.16x16x16.f32.bf16",
                                          "cdna3/mfma.16x16x32.f32.fp8.bf8",
                                          NULL };

/* count encodings: the first half ordinary values, the rest any bits. */
static uint64_t *encodings_make(const struct bitcut_format *format, size_t count,
                                enum input_role role)
{
    const struct bitcut_format *f32 = &formats[FORMAT_F32];
    const struct bitcut_rounding *rn = &roundings[ROUND_RN];
    struct matrix ordinary = matrix_make("exp_rand(-6,6)", role, 1, count);
    struct matrix any = matrix_make("anybits", role, 2, count);
    uint64_t *x = memory_allocate(count, sizeof *x);
    require(x != NULL, "no memory");
    for (size_t i = 0; i < count; i++) {
        const uint64_t bits = (uint64_t)any.at[i] << 32 | any.at[count + i];
        x[i] = 2 * i < count ? bitcut_format_convert(format, rn, f32, ordinary.at[i])
                             : bits >> (64 - format->bits);
    }
    matrix_clear(&ordinary);
    matrix_clear(&any);
    return x;
}

/* Eight fragments of 4 x 5. */
static void unit_digest(const struct bitcut_unit *u)
{
    enum { COUNT = 8, ROWS = 4, COLS = 5 };
    const size_t k = (size_t)u->k;
    uint64_t digest = digest_empty, d[COUNT * ROWS * COLS];
    uint64_t *a = encodings_make(u->a, COUNT * ROWS * k, INPUT_A);
    uint64_t *b = encodings_make(u->b, COUNT * COLS * k, INPUT_B);
    uint64_t *c = encodings_make(u->c, COUNT * ROWS * COLS, INPUT_A);
    require(bitcut_mma(d, u, COUNT, ROWS, COLS, k, a, b, c, threads) == BITCUT_OK,
            u->name);
    for (int i = 0; i < COUNT * ROWS * COLS; i++) digest_add(&digest, d[i]);
    digest_print("unit", u->name, digest);
    free(a);
    free(b);
    free(c);
}

static void units_digest(void)
{
    for (const char *const *name = unit_names; *name; name++) {
        const struct bitcut_unit *u = bitcut_unit_find(*name, NULL);
        require(u != NULL, *name);
        unit_digest(u);
    }
}

/* Every recipe on an A100, of mixed parts on an H100: 1.5 A B - 0.25 C, values of any
   size. */
static void recipes_digest(void)
{
    const uint32_t alpha = 0x3fc00000, beta = 0xbe800000;
    struct matrix a = matrix_make("exp_rand(-20,10)", INPUT_A, M, K);
    struct matrix b = matrix_make("nrand", INPUT_B, K, N);
    struct matrix c = matrix_make("nrand", INPUT_A, M, N);
    struct matrix d = matrix_make("zeros", INPUT_A, M, N);
    for (const struct bitcut_recipe *r = recipes; r->name; r++) {
        const struct bitcut_format *input = &formats[FORMAT_F16];
        if (r->split) input = r->split->part[0].format;
        const bool mixed = r->split && !split_is_uniform(r->split);
        const struct bitcut_unit *u = bitcut_unit_find(mixed ? "h100" : "a100", input);
        require(u != NULL, r->name);
        struct bitcut_gemm g = gemm_of(r, u);
        gemm_set_dense(&g, d.at, M, N, K, a.at, b.at, c.at);
        g.alpha = alpha;
        g.beta = beta;
        require(bitcut_gemm(NULL, &g, threads, NULL) == BITCUT_OK, r->name);
        uint64_t digest = digest_empty;
        matrix_add(&digest, &d);
        digest_print("gemm", r->name, digest);
    }
    matrix_clear(&a);
    matrix_clear(&b);
    matrix_clear(&c);
    matrix_clear(&d);
}

/* Every scheme: 1.5 A B - 0.25 C in FP64, values of any size. */
static void schemes_digest(void)
{
    static double x[4][K * (M + N)], d[M * N];
    static const char *const families[] = { "exp_rand(-20,10)", "nrand", "phi", "graded" };
    const struct bitcut_format *const f64 = &formats[FORMAT_F64];
    for (int i = 0; i < 4; i++) {
        struct input in;
        require(input_parse(&in, families[i], NULL) == BITCUT_OK, families[i]);
        require(input_fill_f64(x[i], i % 2 ? K : M, i % 2 ? N : K, &in,
                               i % 2 ? INPUT_B : INPUT_A, 1, threads, NULL) == BITCUT_OK,
                families[i]);
    }
    for (const struct bitcut_scheme *s = schemes; s->name; s++) {
        struct bitcut_gemm g = gemm_of(NULL, fp64_unit_find(s, "b200"));
        uint64_t digest = digest_empty;
        if (!g.unit) g.unit = fp64_unit_find(s, "h100");
        require(g.unit != NULL, s->name);
        g.scheme = s;
        g.m = M, g.n = N, g.k = K;
        g.alpha_f64 = 1.5, g.beta_f64 = -0.25;
        g.c = (struct bitcut_matrix){ .at = x[1], .format = f64 };
        g.d = (struct bitcut_matrix){ .to = d, .format = f64 };
        for (int i = 0; i < 4; i += 2) {
            g.a = (struct bitcut_matrix){ .at = x[i], .format = f64 };
            g.b = (struct bitcut_matrix){ .at = x[i + 1], .format = f64 };
            require(bitcut_gemm(NULL, &g, threads, NULL) == BITCUT_OK, s->name);
            for (int p = 0; p < M * N; p++) digest_add(&digest, bits_of_double(d[p]));
        }
        digest_print("scheme", s->name, digest);
    }
}

enum { HEADS = 2, QUERIES = 37, KEYS = 150, DIM = 64 };

/* Attention by every row, in f16 with a causal mask: O and log-sum-exps. */
static void attentions_digest(void)
{
    static uint16_t x[3][HEADS * KEYS * DIM], o[HEADS * QUERIES * DIM];
    static uint32_t lse[HEADS * QUERIES];
    const struct bitcut_format *const f16 = &formats[FORMAT_F16];
    for (int i = 0; i < 3; i++) {
        struct matrix m =
            matrix_make("nrand", i == 1 ? INPUT_B : INPUT_A, HEADS * KEYS, DIM);
        for (size_t p = 0; p < m.rows * m.cols; p++)
            x[i][p] = (uint16_t)bitcut_format_convert(f16, &roundings[ROUND_RN],
                                                      &formats[FORMAT_F32], m.at[p]);
        matrix_clear(&m);
    }
    for (const struct bitcut_attention_row *r = attention_rows; r->name; r++) {
        struct bitcut_attention a;
        uint64_t digest = digest_empty;
        bitcut_attention_init(&a, sizeof a);
        a.row = r;
        a.heads = a.kv_heads = HEADS;
        a.queries = QUERIES, a.keys = KEYS, a.head_dim = DIM;
        a.window_right = 0;
        a.q = (struct bitcut_matrix){ .at = x[0], .format = f16 };
        a.k = (struct bitcut_matrix){ .at = x[1], .format = f16 };
        a.v = (struct bitcut_matrix){ .at = x[2], .format = f16 };
        a.o = (struct bitcut_matrix){ .to = o, .format = f16 };
        a.lse = lse;
        require(bitcut_attention(&a, threads, NULL) == BITCUT_OK, r->name);
        for (size_t i = 0; i < sizeof o / sizeof *o; i++) digest_add(&digest, o[i]);
        for (size_t i = 0; i < sizeof lse / sizeof *lse; i++) digest_add(&digest, lse[i]);
        digest_print("attention", r->name, digest);
    }
}

static void exact_digest(const char *family)
{
    static uint32_t c32[M * N];
    static uint64_t c64[M * N];
    uint64_t digest = digest_empty;
    struct matrix a = matrix_make(family, INPUT_A, M, K);
    struct matrix b = matrix_make(family, INPUT_B, K, N);
    require(bitcut_exact_gemm(c32, c64, M, N, K, a.at, b.at, threads) == BITCUT_OK,
            family);
    for (int i = 0; i < M * N; i++) {
        digest_add(&digest, c32[i]);
        digest_add(&digest, c64[i]);
    }
    digest_print("exact", family, digest);
    matrix_clear(&a);
    matrix_clear(&b);
}

static void all_digest(void)
{
    struct matrix values = matrix_make("anybits", INPUT_A, 1, VALUES);
    struct matrix ties = matrix_make("ties", INPUT_A, 1, VALUES / 2);
    memcpy(values.at, ties.at, VALUES / 2 * sizeof *values.at);
    formats_digest(&values);
    roundings_digest(&values);
    splits_digest(&values);
    decimals_digest(&values);
    inputs_digest();
    units_digest();
    recipes_digest();
    schemes_digest();
    attentions_digest();
    exact_digest("urand(-1,1)");
    exact_digest("exp_rand(-120,120)");
    exact_digest("exp_rand(-75,-60)");
    exact_digest("gendot(1e+12)");
    exact_digest("subnormal");
    exact_digest("specials(100)");
    exact_digest("anybits");
    matrix_clear(&values);
    matrix_clear(&ties);
}

/* --- floating-point modes ----------------------------------------------------------- */

struct mode {
    const char *name;
    int rounding;
    unsigned set, clear; /* bits of MXCSR, on x86 */
};

enum { FLUSH = 0x8040, MASKS = 0x1f80, FLAGS = 0x3f };

static const struct mode modes[] = { { "nearest", FE_TONEAREST, 0, 0 },
                                     { "up", FE_UPWARD, 0, 0 },
                                     { "down", FE_DOWNWARD, 0, 0 },
                                     { "zero", FE_TOWARDZERO, 0, 0 },
                                     { "flush", FE_TONEAREST, FLUSH, 0 },
                                     { "traps", FE_TONEAREST, 0, MASKS },
                                     { NULL, 0, 0, 0 } };

#if defined(__SSE2__)
enum { HAS_CONTROL = 1 };
static unsigned control_get(void) { return _mm_getcsr() & ~(unsigned)FLAGS; }
static void control_set(unsigned control) { _mm_setcsr(control); }
#else
enum { HAS_CONTROL = 0 };
static unsigned control_get(void) { return 0; }
static void control_set(unsigned control) { (void)control; }
#endif

/* Whether the host has the mode, in which the thread then is. */
static bool mode_enter(const char *name)
{
    const struct mode *m = modes;
    while (m->name && strcmp(m->name, name) != 0) m++;
    require(m->name != NULL, "no such mode");
    if (fesetround(m->rounding) || (!HAS_CONTROL && (m->set | m->clear))) return false;
    control_set((control_get() | m->set) & ~m->clear);
    return true;
}

/* Whether the locale is there and writes 0.5 with a comma. */
static bool locale_enter(const char *name)
{
    return setlocale(LC_ALL, name) && *localeconv()->decimal_point == ',';
}

int main(int argc, char **argv)
{
    require(argc == 3 || argc == 4, "usage: same_bits MODE THREADS [LOCALE]");
    if (argc == 4 && !locale_enter(argv[3])) return NOT_HERE;
    if (!mode_enter(argv[1])) return NOT_HERE;
    threads = atoi(argv[2]);
    const int rounding = fegetround();
    const unsigned control = control_get();
    all_digest();
    require(fegetround() == rounding && control_get() == control, "the mode has changed");
    return 0;
}
