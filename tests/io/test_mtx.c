/* SPDX-License-Identifier: BSD-3-Clause */
/* Matrix Market files: valid ones, round trips, and invalid ones. */
#define _XOPEN_SOURCE 700

#include "lib/io/mtx.h"
#include "tests/scratch.h"

#include <errno.h>
#include <fenv.h>
#include <locale.h>
#include <sys/stat.h>

#define MM "%%MatrixMarket matrix "

/* FP32 encodings. */
enum { ONE = 0x3f800000, TWO = 0x40000000, THREE = 0x40400000, FOUR = 0x40800000 };
#define MINUS(x) ((uint32_t)(x) | 0x80000000)

static void matrix_check(const struct matrix *m, size_t rows, size_t cols,
                         const uint32_t *want, const char *what)
{
    ck_assert_msg(m->rows == rows && m->cols == cols, "%s: %zu x %zu, want %zu x %zu",
                  what, m->rows, m->cols, rows, cols);
    for (size_t i = 0; i < rows * cols; i++)
        ck_assert_msg(m->at[i] == want[i],
                      "%s\nelement (%zu, %zu): got %08" PRIx32 ", want %08" PRIx32, what,
                      i / cols, i % cols, m->at[i], want[i]);
}

START_TEST(good_files)
{
    static const struct {
        const char *text;
        size_t rows, cols;
        uint32_t value[9];
    } files[] = {
        { MM "array real general\n2 3\n1\n-1\n2\n-2\n3\n-3\n", 2, 3,
          { ONE, TWO, THREE, MINUS(ONE), MINUS(TWO), MINUS(THREE) } },
        { MM "array integer general\n2 2\n1\n-2\n+3\n16777217\n", 2, 2,
          { ONE, THREE, MINUS(TWO), 0x4b800000 } },
        { MM "array real general\n1 4\ninf\n-Infinity\nNaN\n-0", 1, 4,
          { 0x7f800000, 0xff800000, 0x7fc00000, 0x80000000 } },
        { MM "array real symmetric\n3 3\n1\n2\n3\n4\n-1\n-2\n", 3, 3,
          { ONE, TWO, THREE, TWO, FOUR, MINUS(ONE), THREE, MINUS(ONE), MINUS(TWO) } },
        { MM "array real skew-symmetric\n3 3\n1\n-2\n0\n", 3, 3,
          { 0, MINUS(ONE), TWO, ONE, 0, MINUS(0), MINUS(TWO), 0, 0 } },
        { MM "array integer skew-symmetric\n1 1\n", 1, 1, { 0 } },
        { MM "array real skew-symmetric\n0 0\n", 0, 0, { 0 } },
        { MM "array real general\n0 7\n", 0, 7, { 0 } },
        { MM "array real general\n268435456 0\n", 268435456, 0, { 0 } },
        { MM "coordinate real general\n2 3 3\n2 3 1\n1 1 -2\n2 1 3e0\n", 2, 3,
          { MINUS(TWO), 0, 0, THREE, 0, ONE } },
        { MM "coordinate integer general\n1 2 1\n1 2 4\n", 1, 2, { 0, FOUR } },
        { MM "coordinate pattern general\n2 2 2\n1 2\n2 1\n", 2, 2, { 0, ONE, ONE, 0 } },
        { MM "coordinate pattern symmetric\n2 2 2\n1 1\n2 1\n", 2, 2,
          { ONE, ONE, ONE, 0 } },
        { MM "coordinate real symmetric\n3 3 2\n3 1 1\n2 2 2\n", 3, 3,
          { 0, 0, ONE, 0, TWO, 0, ONE, 0, 0 } },
        { MM "coordinate real skew-symmetric\n3 3 2\n3 1 1\n3 2 nan\n", 3, 3,
          { 0, 0, MINUS(ONE), 0, 0, 0xffc00000, ONE, 0x7fc00000, 0 } },
        { MM "coordinate real general\n3 3 0\n", 3, 3, { 0 } },
        { MM "coordinate real general\n0 3 0\n", 0, 3, { 0 } },
        { MM "coordinate real general\n1 1 1\n1 1 -0\n", 1, 1, { MINUS(0) } },
        /* letters in either case, blanks, comments, other line ends */
        { "%%matrixmarket MATRIX Array\tREAL  General \n1 1\n1\n", 1, 1, { ONE } },
        { MM "array real general\r\n% note\r\n\r\n 1\t 2 \r\n1\r\n\r\n2\r\n", 1, 2,
          { ONE, TWO } },
        { MM "array real general\n%\n%1 1\n\n1 2\n1\n% between\n   \n2\n\n%end", 1, 2,
          { ONE, TWO } },
        { MM "array real general\n001 1\n0001.0\n", 1, 1, { ONE } },
    };
    const struct scratch s = scratch_make();
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        const char *text = files[i].text;
        scratch_write(s.path, text, strlen(text));
        for (int file = 0; file < 2; file++) {
            struct matrix m;
            struct fault f = { .status = BITCUT_OK, .text = "" };
            const enum bitcut_status status =
                file ? mtx_read(&m, s.path, &f)
                     : mtx_read_memory(&m, text, strlen(text), &f);
            ck_assert_msg(!status, "%s%s", text, f.text);
            matrix_check(&m, files[i].rows, files[i].cols, files[i].value, text);
            matrix_clear(&m);
        }
    }
    scratch_remove(&s);
}
END_TEST

/* --- writing ------------------------------------------------------------------------ */

static struct matrix matrix_draw(size_t rows, size_t cols, uint64_t *state)
{
    struct matrix m;
    ck_assert_int_eq(matrix_init(&m, rows, cols, NULL), BITCUT_OK);
    for (size_t i = 0; i < rows * cols; i++) {
        m.at[i] = (uint32_t)test_bits(state);
        if (i % 7 == 0) m.at[i] &= 0x807fffff; /* subnormal */
        if (i % 11 == 0) m.at[i] = (m.at[i] & 0x80000000) | 0x7f800000;
        if ((m.at[i] & 0x7fffffff) > 0x7f800000) /* NaNs keep only their sign */
            m.at[i] = (m.at[i] & 0x80000000) | 0x7fc00000;
    }
    return m;
}

/* Write and read `m`. */
static void round_trip(const struct matrix *m, const char *path, const char *what)
{
    struct matrix back;
    struct fault f = { .status = BITCUT_OK, .text = "" };
    ck_assert_int_eq(mtx_write(path, m, NULL), BITCUT_OK);
    ck_assert_msg(!mtx_read(&back, path, &f), "%s: %s", what, f.text);
    matrix_check(&back, m->rows, m->cols, m->at, what);
    matrix_clear(&back);
}

START_TEST(round_trips)
{
    static const size_t sizes[][2] = { { 0, 0 }, { 0, 3 }, { 1, 1 }, { 1, 9 },
                                       { 9, 1 }, { 3, 5 }, { 120, 45 } };
    const struct scratch s = scratch_make();
    uint64_t state = test_seed();
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct matrix m = matrix_draw(sizes[i][0], sizes[i][1], &state);
        round_trip(&m, s.path, "round trip");
        ck_assert_int_eq(scratch_files(&s, 0), 1);
        matrix_clear(&m);
    }
    scratch_remove(&s);
}
END_TEST

START_TEST(written_text)
{
    static const char want[] = MM "array real general\n2 3\n0.100000001\n-0\n1e+10\ninf\n"
                                  "1.40129846e-45\n-nan\n";
    uint32_t at[] = { 0x3dcccccd, 0x501502f9, 1, 0x80000000, 0x7f800000, 0xffc12345 };
    const struct matrix m = { .rows = 2, .cols = 3, .at = at };
    const struct scratch s = scratch_make();
    size_t size;
    ck_assert_int_eq(mtx_write(s.path, &m, NULL), BITCUT_OK);
    unsigned char *text = scratch_read(s.path, &size);
    ck_assert_str_eq((const char *)text, want);
    free(text);
    scratch_remove(&s);
}
END_TEST

/* The caller's rounding mode and a locale with a decimal comma, if there is one here,
   change neither the text nor the numbers. */
START_TEST(any_mode_and_locale)
{
    static const char *const locales[] = { "C", "de_DE.UTF-8", "fr_FR.UTF-8" };
    static const int modes[] = { FE_TONEAREST, FE_TOWARDZERO, FE_UPWARD, FE_DOWNWARD };
    const struct scratch s = scratch_make();
    uint64_t state = test_seed();
    struct matrix m = matrix_draw(40, 30, &state);
    size_t size, plain_size;
    round_trip(&m, s.path, "plain");
    unsigned char *plain = scratch_read(s.path, &plain_size);
    for (int l = 0; l < 3; l++) {
        if (!setlocale(LC_ALL, locales[l])) continue;
        for (int i = 0; i < 4; i++) {
            ck_assert_int_eq(fesetround(modes[i]), 0);
            round_trip(&m, s.path, locales[l]);
            unsigned char *text = scratch_read(s.path, &size);
            ck_assert(size == plain_size && !memcmp(text, plain, size));
            free(text);
        }
        fesetround(FE_TONEAREST);
        setlocale(LC_ALL, "C");
    }
    free(plain);
    matrix_clear(&m);
    scratch_remove(&s);
}
END_TEST

/* --- broken files ------------------------------------------------------------------- */

/* Reading the text, from memory and from a file, fails with BITCUT_BAD_FILE and one line
   that holds `fragment`; the matrix is left alone. */
static void refused(const char *text, size_t size, const char *fragment)
{
    const struct scratch s = scratch_make();
    scratch_write(s.path, text, size);
    for (int file = 0; file < 2; file++) {
        struct matrix m = { .rows = 7, .cols = 8 };
        struct fault f = { .status = BITCUT_OK, .text = "" };
        const enum bitcut_status status =
            file ? mtx_read(&m, s.path, &f) : mtx_read_memory(&m, text, size, &f);
        ck_assert_msg(status == BITCUT_BAD_FILE && f.status == status,
                      "%s: status %d, %s", text, status, f.text);
        ck_assert_msg(strstr(f.text, fragment) && !strpbrk(f.text, "\n\r\t\033"),
                      "%s: got '%s', want '%s'", text, f.text, fragment);
        ck_assert(m.rows == 7 && m.cols == 8 && !m.at);
    }
    scratch_remove(&s);
}

#define ARRAY MM "array real general\n"
#define COORDINATE MM "coordinate real general\n"

START_TEST(broken_files)
{
    static const struct {
        const char *text, *fragment;
    } rows[] = {
        /* the banner */
        { "", "does not start with %%MatrixMarket" },
        { "\n" ARRAY "1 1\n1\n", "does not start with %%MatrixMarket" },
        { "%MatrixMarket matrix array real general\n1 1\n1\n", "does not start" },
        { "%%MatrixMarkets matrix array real general\n1 1\n1\n", "does not start" },
        { "% %MatrixMarket matrix array real general\n", "does not start" },
        { "\x93NUMPY\x01", "does not start" },
        { "%%MatrixMarket", "line 1: expected 5 words in the banner" },
        { "%%MatrixMarket matrix array real\n1 1\n1\n",
          "line 1: expected 5 words in the banner" },
        { MM "array real general x\n1 1\n1\n", "line 1: expected 5 words in the banner" },
        { "%%MatrixMarket vector array real general\n",
          "line 1: unsupported object 'vector'; expected matrix" },
        { "%%MatrixMarket Mature array real general\n", "unsupported object 'Mature'" },
        { MM "dense real general\n1 1\n1\n",
          "line 1: unsupported format 'dense'; expected array coordinate" },
        { MM "array complex general\n1 1\n1 0\n",
          "line 1: unsupported field 'complex'; expected real integer pattern" },
        { MM "array double general\n1 1\n1\n", "unsupported field 'double'" },
        { MM "array real hermitian\n1 1\n1\n",
          "line 1: unsupported symmetry 'hermitian'; expected general symmetric skew-" },
        { MM "array real skew\n1 1\n1\n", "unsupported symmetry 'skew'" },
        { MM "array pattern general\n1 1\n1\n", "line 1: a pattern requires coordinate" },
        { MM "coordinate pattern skew-symmetric\n1 1 0\n",
          "line 1: a pattern requires coordinate" },
        { MM "array \033[2Jreal general\n", "field '?[2Jreal'" },
        /* the size */
        { ARRAY, "missing size line" },
        { ARRAY "% only a comment\n\n", "missing size line" },
        { ARRAY "\n%\n1\n1\n",
          "line 4: the size line of the array format must have 2 num" },
        { ARRAY "1 1 1\n1\n",
          "line 2: the size line of the array format must have 2 num" },
        { COORDINATE "1 1\n1 1 1\n", "of the coordinate format must have 3 numbers" },
        { ARRAY "-1 1\n1\n", "line 2: expected a number of rows from 0 to "
                             "18446744073709551615, found '-1'" },
        { ARRAY "1 +1\n1\n",
          "expected a number of columns from 0 to 18446744073709551615, found '+1'" },
        { ARRAY "1 1.0\n1\n",
          "expected a number of columns from 0 to 18446744073709551615, found '1.0'" },
        { ARRAY "0x1 1\n1\n",
          "expected a number of rows from 0 to 18446744073709551615, found '0x1'" },
        { COORDINATE "1 1 -1\n",
          "expected a number of entries from 0 to 18446744073709551615, found '-1'" },
        { ARRAY "18446744073709551616 1\n1\n", "found '18446744073709551616'" },
        { ARRAY "99999999999999999999999 1\n1\n", "found '99999999999999999999999'" },
        { ARRAY "18446744073709551615 1\n1\n", " elements is too large" },
        { ARRAY "0 4294967297\n",
          "line 2: a matrix of 0 x 4294967297 elements is too large" },
        { COORDINATE "4294967297 0 0\n",
          "a matrix of 4294967297 x 0 elements is too large" },
        { ARRAY "4294967296 4294967296\n1\n", " elements is too large" },
        { ARRAY "18446744073709551615 2\n1\n", " elements is too large" },
        { ARRAY "1000000 1000000\n1\n", "a matrix of 1000000 x 1000000 elements is" },
        { ARRAY "65536 65536\n1\n", "line 2: 4294967296 entries do not fit" },
        { ARRAY "100 1\n1\n", "line 2: 100 entries do not fit in a file" },
        { MM "array real symmetric\n65536 65536\n1\n", "2147516416 entries do not fit" },
        { MM "array real symmetric\n100 100\n1\n", "5050 entries do not fit" },
        { MM "array real skew-symmetric\n100 100\n1\n", "4950 entries do not fit" },
        { COORDINATE "1000000 1000000 1\n1 1 1\n",
          "line 2: a matrix of 1000000 x 1000000 elements is too large" },
        { COORDINATE "65536 65537 1\n1 1 1\n", " elements is too large" },
        { COORDINATE "65536 65536 1\n1 1 1", " elements is too large" },
        { COORDINATE "16384 16385 16777215\n1 1 1\n", " elements is too large" },
        { COORDINATE "16384 16385 16778240\n1 1 1\n", "entries do not fit" },
        { ARRAY "268435457 0\n", "a matrix of 268435457 x 0 elements is too large" },
        { COORDINATE "4294967296 4294967296 1\n1 1 1\n", " elements is too large" },
        { COORDINATE "3 3 18446744073709551615\n1 1 1\n", "entries do not fit" },
        { COORDINATE "3 3 20\n1 1 1\n", "20 entries do not fit in a file" },
        { MM "coordinate pattern general\n3 3 30\n1 1\n", "30 entries do not fit" },
        { MM "array real symmetric\n2 3\n", "line 2: a symmetric matrix must be square" },
        { MM "coordinate real skew-symmetric\n2 3 0\n",
          "skew-symmetric matrix must be sq" },
        /* the entries */
        { ARRAY "2 2\n1\n2\n3\n", "ends after 3 of 4 entries" },
        { ARRAY "2 1\n1\n2\n3\n", "line 5: more than the 2 entries of the size line" },
        { ARRAY "0 0\n%\n1\n", "line 4: more than the 0 entries of the size line" },
        { ARRAY "2 1\n1 2\n", "line 3: expected 1 numbers in an entry" },
        { ARRAY "2 1\n1\n2 0\n", "line 4: expected 1 numbers in an entry" },
        { ARRAY "2 1\n1\n2 %\n", "line 4: expected 1 numbers in an entry" },
        { ARRAY "1 1\nx\n", "line 3: 'x' is not a real number" },
        { ARRAY "1 1\n1,5\n", "line 3: '1,5' is not a real number" },
        { ARRAY "1 1\n0x1p3\n", "line 3: '0x1p3' is not a real number" },
        { ARRAY "1 1\n1.2.3\n", "line 3: '1.2.3' is not a real number" },
        { ARRAY "1 1\n\001\n", "line 3: '?' is not a real number" },
        { MM "array integer general\n1 1\n1.5\n", "line 3: '1.5' is not an integer" },
        { MM "array integer general\n1 1\n1e5\n", "line 3: '1e5' is not an integer" },
        { MM "array integer general\n1 1\ninf\n", "line 3: 'inf' is not an integer" },
        { MM "array integer general\n1 1\n-\n", "line 3: '-' is not an integer" },
        { COORDINATE "2 2 2\n1 1 1\n", "ends after 1 of 2 entries" },
        { COORDINATE "2 2 1\n1 1 1\n2 2 2\n",
          "line 4: more than the 1 entries of the size line" },
        { COORDINATE "2 2 1\n1 1\n", "line 3: expected 3 numbers in an entry" },
        { COORDINATE "2 2 1\n1 1 1 0\n", "line 3: expected 3 numbers in an entry" },
        { COORDINATE "2 2 1\n1 1 1 2 3 4 5 6 7 8\n", "line 3: expected 3 numbers" },
        { MM "coordinate pattern general\n2 2 1\n1 1 1\n", "expected 2 numb" },
        { COORDINATE "2 3 1\n0 1 1\n", ", found '0'" },
        { COORDINATE "2 3 1\n3 1 1\n", "expected a row from 1 to 2, found '3'" },
        { COORDINATE "2 3 1\n1 0 1\n", "expected a column from 1 to 3, found '0'" },
        { COORDINATE "2 3 1\n1 4 1\n", "expected a column from 1 to 3, found '4'" },
        { COORDINATE "2 3 1\n1 18446744073709551617 1\n",
          "found '18446744073709551617'" },
        { COORDINATE "2 3 1\n-1 1 1\n", ", found '-1'" },
        { COORDINATE "2 3 1\n1 1.0 1\n", ", found '1.0'" },
        { COORDINATE "0 3 1\n1 1 1\n", "expected a row from 1 to 0, found '1'" },
        { COORDINATE "2 2 1\n1 1 y\n", "line 3: 'y' is not a real number" },
        { MM "coordinate integer general\n2 2 1\n1 1 .5\n", "'.5' is not an integer" },
        { COORDINATE "2 2 2\n1 2 1\n1 2 1\n", "line 4: row 1 column 2 occurs twice" },
        { COORDINATE "2 2 2\n2 2 0\n2 2 0\n", "line 4: row 2 column 2 occurs twice" },
        { MM "coordinate pattern general\n9 9 2\n9 9\n9 9\n", "row 9 column 9 occurs" },
        { MM "coordinate real symmetric\n2 2 1\n1 2 1\n",
          "line 3: row 1 column 2 is outside the triangle that a symmetric "
          "matrix stores" },
        { MM "coordinate real symmetric\n2 2 2\n2 1 1\n1 2 1\n", "outside the triangle" },
        { MM "coordinate real skew-symmetric\n2 2 1\n2 2 1\n",
          "row 2 column 2 is outside the triangle that a skew-symmetric "
          "matrix stores" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        refused(rows[i].text, strlen(rows[i].text), rows[i].fragment);
}
END_TEST

START_TEST(zero_bytes)
{
    static const char banner[] = MM "array real general\0\n1 1\n1\n";
    static const char number[] = ARRAY "1 1\n1\0002\n";
    static const char after[] = ARRAY "1 1\n1\n\0";
    refused(banner, sizeof banner - 1, "line 1: contains a zero byte");
    refused(number, sizeof number - 1, "line 3: contains a zero byte");
    refused(after, sizeof after, "line 4: contains a zero byte");
}
END_TEST

/* A line far longer than any good one is refused or read like the others. */
START_TEST(long_lines)
{
    const size_t digits = (1 << 16) - 2; /* of a line of 2^16 characters */
    char *text = malloc(digits + 100);
    ck_assert_ptr_nonnull(text);
    size_t n = (size_t)sprintf(text, "%s1 1\n1.", ARRAY);
    memset(text + n, '0', digits);
    n += digits;
    struct matrix m;
    ck_assert_int_eq(mtx_read_memory(&m, text, n, NULL), BITCUT_OK);
    ck_assert_uint_eq(m.at[0], ONE);
    matrix_clear(&m);
    text[n - 1] = 'x';
    refused(text, n, "line 3: '1.0000000000000000000000000000' is not a real number");
    text[n - 1] = '0';
    text[n] = '0';
    refused(text, n + 1, "line 3: longer than 2^16 characters");
    free(text);
}
END_TEST

/* A good file cut after any character is refused, except where only digits or the line
   end are lost. */
START_TEST(cut_files)
{
    static const char text[] = COORDINATE "2 2 2\n1 1 1\n2 2 25\n";
    const size_t whole = sizeof text - 1;
    struct matrix m;
    for (size_t size = 0; size < whole; size++) {
        const enum bitcut_status status = mtx_read_memory(&m, text, size, NULL);
        const bool readable = size + 2 >= whole;
        ck_assert_msg(status == (readable ? BITCUT_OK : BITCUT_BAD_FILE),
                      "%zu of %zu bytes: status %d", size, whole, status);
        if (!status) matrix_clear(&m);
    }
}
END_TEST

/* --- memory ------------------------------------------------------------------------- */

static const char big_file[] = COORDINATE "16384 16384 2\n1 1 1\n16384 16384 2\n";

/* A dense matrix of 1 GiB with two entries takes little memory. */
START_TEST(absent_is_untouched)
{
    struct rusage before, after;
    struct matrix m;
    getrusage(RUSAGE_SELF, &before);
    ck_assert_int_eq(mtx_read_memory(&m, big_file, strlen(big_file), NULL), BITCUT_OK);
    getrusage(RUSAGE_SELF, &after);
    ck_assert(m.at[0] == ONE && m.at[16384 * (size_t)16384 - 1] == TWO);
    ck_assert_uint_eq(m.at[12345678], 0);
    ck_assert_int_lt(after.ru_maxrss - before.ru_maxrss, 256 * 1024); /* KiB */
    matrix_clear(&m);
}
END_TEST

/* Under AddressSanitizer too, an allocation that is too large is to fail. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "allocator_may_return_null=1"; }

/* The address space this process has, in bytes; 0 if that is not known. */
static rlim_t address_space(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file) return 0;
    if (fscanf(file, "%lu", &pages) != 1) pages = 0;
    fclose(file);
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

START_TEST(no_memory)
{
    const rlim_t now = address_space();
    if (!now) return;
    struct matrix m = { .rows = 7, .cols = 8 };
    struct fault f;
    struct rlimit limit;
    ck_assert_int_eq(getrlimit(RLIMIT_AS, &limit), 0);
    limit.rlim_cur = now + (512 << 20);
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &limit), 0);
    const enum bitcut_status status = mtx_read_memory(&m, big_file, strlen(big_file), &f);
    limit.rlim_cur = limit.rlim_max;
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &limit), 0);
    ck_assert_int_eq(status, BITCUT_NO_MEMORY);
    ck_assert_str_eq(f.text, "not enough memory for 16384 x 16384 elements");
    ck_assert(m.rows == 7 && m.cols == 8 && !m.at);
}
END_TEST

/* --- files that cannot be used ------------------------------------------------------ */

START_TEST(unusable)
{
    const struct scratch s = scratch_make();
    uint32_t at[1] = { ONE };
    struct matrix m = { .rows = 1, .cols = 1, .at = at };
    struct fault f;
    ck_assert_int_eq(mtx_read(&m, s.path, &f), BITCUT_UNSUPPORTED);
    ck_assert_str_eq(f.text, strerror(ENOENT));
    ck_assert_int_eq(mtx_read(&m, s.folder, &f), BITCUT_UNSUPPORTED);
    ck_assert_str_eq(f.text, "not a regular file");
    ck_assert_int_eq(mtx_write("no-such-folder/file", &m, &f), BITCUT_UNSUPPORTED);
    ck_assert_str_eq(f.text, strerror(ENOENT));
    scratch_limit(40);
    ck_assert_int_eq(mtx_write(s.path, &m, &f), BITCUT_UNSUPPORTED);
    scratch_limit(RLIM_INFINITY);
    ck_assert_str_eq(f.text, strerror(EFBIG));
    ck_assert(m.rows == 1 && m.cols == 1 && m.at == at);
    ck_assert_int_eq(scratch_files(&s, 0), 0);
    scratch_remove(&s);
}
END_TEST

TEST_MAIN("mtx", good_files, round_trips, written_text, any_mode_and_locale, broken_files,
          zero_bytes, long_lines, cut_files, absent_is_untouched, no_memory, unusable)
