/* SPDX-License-Identifier: BSD-3-Clause */
/* Malicious code objects: the executor's errors for kernels with any operands and for
   damaged files.  Registers beyond the last are refused, for every operand of every row.
   Files are read in time and memory in proportion to their size. */
#include "tests/gfx9/gfx9_bench.h"
#include "tests/gfx9/gfx9_file.h"
#include "tests/gfx9/gfx9_hostile.h"
#include "tests/test.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* --- any bytes ---------------------------------------------------------------------- */

enum { BYTES = 256 };

START_TEST(test_any)
{
    uint64_t rng = test_seed();
    int good = 0;
    for (int n = test_cases(2500, 200000); n > 0; n--) {
        uint8_t bytes[BYTES];
        for (int i = 0; i < BYTES; i++) bytes[i] = (uint8_t)test_bits(&rng);
        good += hostile_run(bytes, (size_t)test_between(&rng, 0, BYTES));
    }
    ck_assert_int_gt(good, 0);
}
END_TEST

/* --- registers behind the last ------------------------------------------------------ */

/* Whether the fields are decoded as something that is executed. */
static bool accepted(const struct gfx9_target *t, const struct fields *f, char why[100])
{
    static struct bench b;
    static struct machine m;
    struct instruction i;
    uint32_t word[3] = { 0 };
    bench_prepare(&b, t, &m);
    fields_encode(word, f);
    memset(b.image, 0, sizeof b.image);
    memcpy(b.image, word, sizeof word);
    gfx9_decode(&i, &b.object, 0);
    ck_assert(i.opcode && !i.cannot);
    *why = 0;
    ck_assert_int_eq(operands_exist(why, 100, &i), !i.refused);
    return !i.refused;
}

/* Registers of a statement's letter. */
static unsigned width_of(char letter) { return letter == 'q' ? 2 : 1; }

/* An operand that has so many registers of a file: the last place where they fit is
   accepted, and the next is not. */
static void try_edge(const struct gfx9_target *t, const struct opcode *row,
                     const struct fields *from, unsigned *field, struct fields *f,
                     unsigned count, const char *what)
{
    *f = *from;
    const bool vector = *field >= 256;
    const unsigned last = (vector ? 256 + VGPRS : 108) - count;
    char why[100];
    *field = last;
    ck_assert_msg(accepted(t, f, why), "%s: %s: %s at %u: %s", t->name, row->name, what,
                  last, why);
    if (vector && count == 1) return; /* the field ends there */
    *field = last + 1;
    ck_assert_msg(!accepted(t, f, why), "%s: %s: %s of %u registers at %u", t->name,
                  row->name, what, count, last + 1);
    ck_assert_msg(strstr(why, vector ? "is v255" : "is s107"), "%s", why);
}

/* The fields at random until no operand is special. */
static void fields_plain(struct fields *f, const struct opcode *row,
                         const struct gfx9_target *t, uint64_t *rng)
{
    static struct machine m;
    do {
        fields_random(f, row, t, &m, rng, BENCH_MEMORY);
        f->accumulators = 0;
    } while (f->shape == IN_PARTS);
}

static void edge_scalar(const struct gfx9_target *t, const struct opcode *row,
                        const char *form, uint64_t *rng)
{
    struct fields from, f;
    fields_plain(&from, row, t, rng);
    if (row->encoding != SOPK) from.s[0] = from.s[1] = 0;
    if (form[0] != '=' && form[0] != 'c' && row->encoding != SOPK) {
        from.d = 0;
        try_edge(t, row, &from, &f.d, &f, width_of(form[0]), "the result");
    }
    const char *letters = strchr(form, '=') + 1;
    for (int n = 0; letters[n] && letters[n] != 'c' && row->encoding != SOPK; n++)
        try_edge(t, row, &from, &f.s[n], &f, width_of(letters[n]), "an operand");
}

static void edge_vector(const struct gfx9_target *t, const struct opcode *row,
                        const char *form, uint64_t *rng)
{
    struct fields from, f;
    do fields_plain(&from, row, t, rng);
    while (from.shape != IN_TWO && row->encoding != VOP2);
    const char *letters = strchr(form, '=') + 1;
    if (from.d >= 256 && form[0] != '=' && form[0] != 'c' && from.s[2] != from.d) {
        from.d = 256;
        try_edge(t, row, &from, &f.d, &f, width_of(form[0]), "the result");
    }
    for (int n = 0; letters[n] && letters[n] != 'c'; n++) {
        if (from.shape != IN_TWO || from.s[n] == from.d) continue;
        from.s[n] = 256;
        try_edge(t, row, &from, &f.s[n], &f, width_of(letters[n]), "an operand");
        from.s[n] = 0;
        try_edge(t, row, &from, &f.s[n], &f, width_of(letters[n]), "an operand");
    }
}

/* Fields of memory instructions have no 256 in them. */
static void try_data(const struct gfx9_target *t, const struct opcode *row,
                     const struct fields *from, unsigned *field, struct fields *f,
                     unsigned count)
{
    char why[100];
    *f = *from;
    *field = VGPRS - count;
    ck_assert_msg(accepted(t, f, why), "%s: %s: %s", t->name, row->name, why);
    if (count == 1) return;
    *field = VGPRS - count + 1;
    ck_assert_msg(!accepted(t, f, why), "%s: %s: %u registers at %u", t->name, row->name,
                  count, VGPRS - count + 1);
    ck_assert_msg(strstr(why, "is v255"), "%s", why);
}

static void edge_memory(const struct gfx9_target *t, const struct opcode *row,
                        uint64_t *rng)
{
    struct access a;
    struct fields from, f;
    if (!access_read(&a, row->name)) return;
    fields_plain(&from, row, t, rng);
    const unsigned dwords = (a.bytes + 3) / 4;
    if (a.scalar) {
        from.address = 0, from.has_offset = true, from.has_base = false, from.d = 0;
        try_edge(t, row, &from, &f.d, &f, dwords, "the result");
        from.has_base = true;
        try_edge(t, row, &from, &f.base, &f, 1, "the offset");
        return;
    }
    if (a.reads) try_data(t, row, &from, &f.d, &f, a.twice ? 2 * dwords : dwords);
    if (!a.reads) try_data(t, row, &from, &f.data[0], &f, dwords);
    if (!a.reads && a.twice) try_data(t, row, &from, &f.data[1], &f, dwords);
    if (from.encoding == DS) return;
    from.base = 127;
    try_data(t, row, &from, &f.address, &f, 2);
    if (from.encoding == FLAT) return;
    from.base = 0;
    try_edge(t, row, &from, &f.base, &f, 2, "the base");
}

/* A, B, C and D of a matrix instruction: where they fit, and behind that; a scalar one.
 */
static void edge_matrix(const struct gfx9_target *t, const struct opcode *row)
{
    char name[128], why[100];
    snprintf(name, sizeof name, "%s/%s", t->units, row->unit);
    const struct bitcut_unit *u = unit_find(name, NULL);
    if (!u) return;
    const struct fields from = {
        .encoding = VOP3P, .number = row->number, .d = 256, .s = { 256, 256, 256 }
    };
    for (int n = 0; n < 2; n++) {
        struct fields f = from;
        f.s[n] = 0;
        ck_assert_msg(!accepted(t, &f, why), "%s: a scalar operand", row->name);
        f.s[n] = 128;
        ck_assert_msg(!accepted(t, &f, why), "%s: a constant operand", row->name);
    }
    struct fields f = from;
    f.s[2] = 4;
    ck_assert_msg(!accepted(t, &f, why), "%s: a scalar C", row->name);
    int side = 0;
    sscanf(row->name, "v_mfma_f%*d_%dx", &side);
    f = from, f.d = 256 + VGPRS - 1;
    ck_assert_msg(!accepted(t, &f, why), "%s: D in v255", row->name);
    f.d = 256 + VGPRS - (side == 32 ? 16 : strstr(row->name, "f64_4x4x4") ? 2 : 4) + 1;
    ck_assert_msg(!accepted(t, &f, why), "%s: D in v%u", row->name, f.d - 256);
}

static void edge_row(const struct gfx9_target *t, const struct opcode *row, uint64_t *rng)
{
    char room[8];
    const struct statement *s = statement_find(row->name);
    const char *form = s                                     ? s->form
                       : statement_compares(room, row->name) ? room
                       : strstr(row->name, "saveexec")       ? "q=q"
                       : strstr(row->name, "getpc")          ? "q="
                                                             : NULL;
    if (row->unit) edge_matrix(t, row);
    else if (row->encoding >= SMEM && (row->encoding > VOP3P || row->encoding == SMEM))
        edge_memory(t, row, rng);
    else if (form && row->encoding < SMEM) edge_scalar(t, row, form, rng);
    else if (form) edge_vector(t, row, form, rng);
}

START_TEST(test_edges)
{
    static const struct opcode *const tables[] = { gfx9_scalar, gfx9_memory_scalar,
                                                   gfx9_vector, gfx9_lds,
                                                   gfx9_global, gfx9_matrix };
    uint64_t rng = test_seed();
    for (const struct gfx9_target *t = gfx9_targets; t->name; t++)
        for (size_t n = 0; n < sizeof tables / sizeof *tables; n++)
            for (const struct opcode *row = tables[n]; row->name; row++)
                if (!row->targets || row->targets & t->bit) edge_row(t, row, &rng);
}
END_TEST

/* --- files that are too much -------------------------------------------------------- */

static const uint32_t s_endpgm = 0xbf810000;

#define MUCH(...)                                                                        \
    {                                                                                    \
        .target = &gfx9_targets[0], .code = &s_endpgm, .dwords = 1, .items_most = 64,    \
        __VA_ARGS__                                                                      \
    }

/* Each about a megabyte where that is possible; `fault`: what is said, NULL: nothing. */
static const struct {
    const char *what;
    struct code_file file;
    const char *fault;
} much[] = {
    { "zeros", MUCH(.zeros = (1 << 28) - 0x2000), NULL },
    { "code of zeros", MUCH(.zeros = (1 << 28) - 0x2000, .code_zeros = 1 << 20),
      "outside the file" },
    { "code behind the segment", MUCH(.zeros = 1 << 20, .code_zeros = 64),
      "has no bytes" },
    { "sections over each other", MUCH(.more_sections = 16000), "sections overlap" },
    { "sections elsewhere", MUCH(.more_sections = 16000, .apart = true), "overlap" },
    { "segments over each other", MUCH(.more_segments = 18000), "segments overlap" },
    { "segments elsewhere", MUCH(.more_segments = 18000, .apart = true), "overlap" },
    { "notes over each other", MUCH(.more_notes = 18000), "notes overlap" },
    { "tables of symbols", MUCH(.more_tables = 200, .more_kernels = 1500), "overlap" },
    { "kernels", MUCH(.more_kernels = 16000), NULL },
    { "kernels of one name", MUCH(.more_kernels = 60000, .same_names = true),
      "two kernels have the name k" },
    { "symbols of long names", MUCH(.more_symbols = 30000, .name_bytes = 300000), NULL },
    { "symbols", MUCH(.more_symbols = 25000, .more_kernels = 4000), NULL },
    { "lists in lists", MUCH(.nested = 1000000), "malformed" },
    { "keys again", MUCH(.repeated = 1), "malformed" },
    { "entries that are not there", MUCH(.claimed = UINT32_MAX - 8), "malformed" },
};

static double cpu_seconds(void)
{
    struct rusage x;
    getrusage(RUSAGE_SELF, &x);
    return (double)x.ru_utime.tv_sec + (double)x.ru_utime.tv_usec / 1e6 +
           (double)x.ru_stime.tv_sec + (double)x.ru_stime.tv_usec / 1e6;
}

/* The largest that this process has been, in bytes. */
static double peak(void)
{
    struct rusage x;
    getrusage(RUSAGE_SELF, &x);
    return 1024.0 * (double)x.ru_maxrss;
}

START_TEST(test_much)
{
    for (size_t n = 0; n < sizeof much / sizeof *much; n++) {
        size_t bytes;
        struct gfx9_object *o = NULL;
        struct fault f = { .text = "" };
        uint8_t *file = code_file_make(&bytes, &much[n].file);
        const double seconds = cpu_seconds(), was = peak();
        const enum bitcut_status status = gfx9_load(&o, file, bytes, &f);
        const double took = cpu_seconds() - seconds, grew = peak() - was;
        printf("# %s: %zu bytes, %.3f s, %.1f MB\n", much[n].what, bytes, took,
               grew / 1e6);
        if (status == BITCUT_OK) gfx9_unload(o);
        free(file);
        ck_assert_msg(much[n].fault ? status != BITCUT_OK && strstr(f.text, much[n].fault)
                                    : status == BITCUT_OK,
                      "%s: %s", much[n].what, f.text);
        ck_assert_msg(took < 2, "%s: %g seconds", much[n].what, took);
        ck_assert_msg(grew < 64.0 * (double)bytes + 8e6, "%s: %g bytes of %zu",
                      much[n].what, grew, bytes);
    }
}
END_TEST

/* --- time --------------------------------------------------------------------------- */

/* A kernel without an end ends with the launch's time, a work-group's or many. */
START_TEST(test_endless)
{
    static const uint32_t endless[] = { 0xbf82ffff }, short_[] = { 0xbf810000 };
    for (int n = 0; n < 2; n++) {
        size_t bytes;
        struct gfx9_object *o;
        struct fault f;
        const struct code_file x = { .target = &gfx9_targets[1],
                                     .code = n ? short_ : endless,
                                     .dwords = 1,
                                     .items_most = 64 };
        uint8_t *file = code_file_make(&bytes, &x);
        ck_assert_msg(gfx9_load(&o, file, bytes, &f) == BITCUT_OK, "%s", f.text);
        const struct gfx9_launch launch = { .object = o,
                                            .kernel = gfx9_kernel_find(o, "k"),
                                            .groups = { n ? 1u << 30 : 1, 1, 1 },
                                            .items = { 1, 1, 1 },
                                            .threads = 2,
                                            .seconds = 0.1 };
        const double seconds = cpu_seconds();
        ck_assert_int_eq(gfx9_run(NULL, &launch, &f), BITCUT_UNSUPPORTED);
        ck_assert_msg(strstr(f.text, "did not end within 0.1 s"), "%s", f.text);
        ck_assert_double_lt(cpu_seconds() - seconds, 5);
        gfx9_unload(o);
        free(file);
    }
}
END_TEST

/* --- small stacks ------------------------------------------------------------------- */

enum { STACK = 64 << 10 };

/* Matrix instructions of the most registers, of finite elements and of NaN, which take
   other ways. */
static const uint32_t multiplies[] = {
    0x7e0002f2,             /* v_mov_b32 v0, 1.0 */
    0x7e0202ff, 0x7fc00000, /* v_mov_b32 v1, NaN */
    0xd3c00010, 0x02020100, /* v_mfma_f32_32x32x1f32 a[16:47], v0, v0, 0 */
    0xd3c00040, 0x02020301, /* v_mfma_f32_32x32x1f32 a[64:95], v1, v1, 0 */
    0xbf810000,
};

static void *run_on_stack(void *to)
{
    size_t bytes;
    struct gfx9_object *o;
    const struct code_file x = { .target = &gfx9_targets[0],
                                 .code = multiplies,
                                 .dwords = sizeof multiplies / sizeof *multiplies,
                                 .items_most = 64 };
    uint8_t *file = code_file_make(&bytes, &x);
    if (gfx9_load(&o, file, bytes, to) == BITCUT_OK) {
        const struct gfx9_launch launch = { .object = o,
                                            .kernel = gfx9_kernel_find(o, "k"),
                                            .groups = { 1, 1, 1 },
                                            .items = { 64, 1, 1 },
                                            .threads = 1 };
        gfx9_run(NULL, &launch, to);
        gfx9_unload(o);
    }
    free(file);
    return NULL;
}

START_TEST(test_stack)
{
#ifndef __SANITIZE_ADDRESS__ /* whose frames are larger */
    pthread_t thread;
    pthread_attr_t attributes;
    struct fault f = { .status = BITCUT_OK, .text = "" };
    ck_assert(!pthread_attr_init(&attributes));
    ck_assert(!pthread_attr_setstacksize(&attributes, STACK));
    ck_assert(!pthread_create(&thread, &attributes, run_on_stack, &f));
    ck_assert(!pthread_join(thread, NULL));
    ck_assert_str_eq(f.text, "");
    pthread_attr_destroy(&attributes);
#endif
}
END_TEST

TEST_MAIN("gfx9_hostile", test_any, test_edges, test_much, test_endless, test_stack)
